"""Sequences of tool calls, as hypothesis draws them."""

from random import Random

from hypothesis import strategies as st

from abstain_assets.environments.calls import corrupt_arguments, enumerate_calls, value_pools
from environments.runtime.records import JsonObject
from environments.runtime.sandbox import Sandbox


@st.composite
def sequences(draw: st.DrawFn, sandbox: Sandbox) -> list[tuple[str, JsonObject]]:
    """Calls of any tools of a sandbox, plausible or with a mistake."""
    pools = value_pools(sandbox.state().values())
    calls = []
    for spec in draw(st.lists(st.sampled_from(sandbox.tools), min_size=1, max_size=12)):
        args = draw(st.sampled_from(enumerate_calls(spec, pools, 60)))
        if draw(st.integers(0, 3)) == 0:
            args = corrupt_arguments(spec, args, Random(draw(st.integers(0, 1000))))
        calls.append((spec.name, args))
    return calls
