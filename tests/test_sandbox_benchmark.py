"""The sandbox benchmark measures what it says."""

from benchmarks import sandbox


def test_measurement_has_both_arms_and_a_ratio() -> None:
    measured = sandbox.measure(runs=2)
    assert list(measured) == ["warm", "spawn", "ratio_p50"]
    for arm in ("warm", "spawn"):
        assert list(measured[arm]) == ["p50_ms", "p95_ms"] and 0 < measured[arm]["p50_ms"] <= measured[arm]["p95_ms"]
    # On an idle machine about fifty; a busy one must not fail the build.
    assert measured["ratio_p50"] > 5


def test_percentiles() -> None:
    assert sandbox._summary([0.001 * number for number in range(1, 21)]) == {"p50_ms": 10.5, "p95_ms": 19.0}
    assert sandbox._summary([0.002]) == {"p50_ms": 2.0, "p95_ms": 2.0}
