"""The journal: durable, repaired, locked, and never half-written."""

import json
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from abstain_assets.append_only import JournalError
from abstain_assets.records import Rollout, Timing, Usage
from abstain_assets.rollouts.errors import CellBusy
from abstain_assets.rollouts.journal import Journal, read_journal


def rollout(fingerprint: str, text: str = "Fertig: Zürich → 東京 \u2028") -> Rollout:
    return Rollout(
        fingerprint=fingerprint,
        pair_id="p",
        round="v1",
        scenario="missing_critical_parameter",
        action_type="operational",
        side="act",
        family="f",
        model="a/b",
        harness="h",
        harness_version="1",
        epoch=0,
        final_text=text,
        messages=(),
        calls=(),
        usage=Usage(requests=1, cost_usd=0.25),
        turns=1,
        state_digest="",
    )


def timing(fingerprint: str) -> Timing:
    return Timing(
        fingerprint=fingerprint, started_at="2026-01-01T00:00:00+00:00", seconds=1, sandbox_seconds=0.5, model_seconds=0.5
    )


def fill(path: Path, *names: str) -> None:
    with Journal(path) as journal:
        for name in names:
            journal.append(rollout(name), timing(name))


def test_what_was_appended_is_read_back(tmp_path: Path) -> None:
    path = tmp_path / "cell" / "journal.jsonl"
    fill(path, "a", "b")
    contents = read_journal(path)
    assert contents.rollouts == {"a": rollout("a"), "b": rollout("b")}
    assert contents.timings == [timing("a"), timing("b")]
    assert path.read_text(encoding="utf-8").count("\n") == 2


def test_a_later_attempt_replaces_and_is_still_paid_for(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    with Journal(path) as journal:
        journal.append(rollout("a", "first"), timing("a"))
        journal.broken_off("a", Usage(requests=2, cost_usd=0.5))
        journal.append(rollout("a", "second"), timing("a"))
    contents = read_journal(path)
    assert contents.rollouts["a"].final_text == "second"
    assert [usage.cost_usd for usage in contents.usages] == [0.25, 0.5, 0.25]


def test_no_journal_is_an_empty_one(tmp_path: Path) -> None:
    assert read_journal(tmp_path / "none.jsonl").rollouts == {}


def test_every_cut_of_the_last_line_is_repaired(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    fill(path, "a", "b")
    whole = path.read_bytes()
    end_of_first = whole.index(b"\n") + 1
    for cut in [*range(end_of_first, len(whole), 37), len(whole) - 1]:
        path.write_bytes(whole[:cut])
        assert set(read_journal(path).rollouts) == {"a"}
        fill(path, "c")
        assert set(read_journal(path).rollouts) == {"a", "c"}
        assert path.read_bytes().startswith(whole[:end_of_first])


def test_a_torn_block_at_the_end_is_repaired(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    fill(path, "a")
    with path.open("ab") as file:
        file.write(b"\0" * 100 + b"\n")
    fill(path, "b")
    assert set(read_journal(path).rollouts) == {"a", "b"}


def test_damage_in_the_middle_is_an_error_with_the_command_that_takes_it_out(tmp_path: Path) -> None:
    path = tmp_path / "a folder" / "j.jsonl"
    fill(path, "a", "b", "c", "d")
    a, b, c, d = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(a[:50] + b"\n" + b + b"\xff\r\0\n\n" + c + b"{}x\n" + d)
    before = path.read_bytes()
    with pytest.raises(JournalError, match=r"j\.jsonl: 4 lines from line 1 on cannot be read") as caught:
        read_journal(path)
    with pytest.raises(JournalError, match="4 lines from line 1"), Journal(path):
        pass
    assert path.read_bytes() == before
    subprocess.run(str(caught.value).split("`")[1], shell=True, check=True)  # noqa: S602 - what the message says, as a person would
    assert path.read_bytes() == b + c + d
    assert set(read_journal(path).rollouts) == {"b", "c", "d"}


def test_a_rollout_of_another_version_is_never_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    fill(path, "a")
    line = json.loads(path.read_text(encoding="utf-8"))
    line["rollout"]["new_field"] = 1
    path.write_text(json.dumps(line) + "\n", encoding="utf-8")
    with pytest.raises(JournalError, match="move the file away"):
        read_journal(path)


def test_a_second_process_does_not_get_in(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    code = "import pathlib, sys; from abstain_assets.rollouts.journal import Journal as J; J(pathlib.Path(sys.argv[1])).__enter__()"
    with Journal(path):
        other = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=False)
        assert other.returncode == 1 and "CellBusy" in other.stderr and "another process is working on this cell" in other.stderr
        with pytest.raises(CellBusy), Journal(path):
            pass
    with Journal(path):
        pass


def test_a_full_disk_leaves_nothing_half_written(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    fill(path, "a")
    before = path.read_bytes()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    with Journal(path) as journal:
        resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 200, hard))
        try:
            with pytest.raises(JournalError, match="make room"):
                journal.append(rollout("b"), timing("b"))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        assert path.read_bytes() == before and "b" not in journal.contents.rollouts
        journal.append(rollout("c"), timing("c"))
    assert set(read_journal(path).rollouts) == {"a", "c"}


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(JournalError, match="cannot be opened"), Journal(tmp_path / "file" / "j.jsonl"):
        pass
