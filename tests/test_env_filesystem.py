"""The behaviours of the drive that tasks rely on."""

from collections.abc import Callable
from typing import Any

import pytest

from environments.filesystem.environment import Filesystem
from environments.runtime.records import Call, Mount
from environments.runtime.sandbox import Sandbox

NAME = "filesystem"
CallTool = Callable[..., Call]


@pytest.fixture
def drive() -> Sandbox:
    return Sandbox(Mount(environments=(NAME,)), {NAME: Filesystem.example_state().dump()})


@pytest.fixture
def call(drive: Sandbox) -> CallTool:
    return lambda tool, **args: drive.call(f"{NAME}.{tool}", args)


def _effects(done: Call) -> set[tuple[str, str, bool]]:
    return {(effect.kind, effect.record.removeprefix(f"/{NAME}"), effect.implied) for effect in done.effects}


def _code(done: Call) -> str:
    assert done.error is not None
    return done.error.code


def _ids(found: Any) -> list[str]:
    return [row["file_id"] for row in found["files"]]


def test_deleting_is_for_good_ends_shares_and_is_all_or_nothing(drive: Sandbox, call: CallTool) -> None:
    before = drive.state()
    assert _code(call("delete_files", file_ids=["F-101", "F-106"])) == "precondition_failed"
    assert drive.state() == before
    done = call("delete_files", file_ids=["F-101", "F-101"])
    assert _effects(done) == {("file.delete", "/files/F-101", False), ("permission.revoke", "/shares/SH-2", True)}
    assert _ids(call("list_folder", path="/Productions/Summer Tour").content) == ["F-102", "F-103"]
    assert _code(call("read_file", file_id="F-101")) == "not_found"


def test_purging_takes_subfolders_and_only_those(drive: Sandbox, call: CallTool) -> None:
    done = call("purge_folder", folder_id="D-10")
    assert {record for kind, record, _ in _effects(done) if kind == "file.delete"} == {f"/files/F-10{n}" for n in range(1, 6)}
    assert {record for kind, record, _ in _effects(done) if kind == "record.delete"} == {"/folders/D-11", "/folders/D-12"}
    assert set(drive.state()[NAME]["files"]) == {"F-106", "F-107"}
    assert call("list_folder", path="/Productions").content["folders"] == []


def test_a_locked_file_stops_a_purge_of_everything_above_it(drive: Sandbox, call: CallTool) -> None:
    before = drive.state()
    refused = call("purge_folder", folder_id="D-20")
    assert _code(refused) == "precondition_failed"
    assert [intent.record for intent in refused.intents] == [f"/{NAME}/files/*"]
    assert drive.state() == before


def test_moving_keeps_shares_and_copying_does_not(call: CallTool) -> None:
    assert _effects(call("move_file", file_id="F-101", folder_id="D-30")) == {("file.move", "/files/F-101", False)}
    copy = call("copy_file", file_id="F-101", folder_id="D-11")
    assert [kind for kind, _, _ in _effects(copy)] == ["file.copy"]
    new = copy.content["file"]
    assert (new["path"], new["checksum"]) == ("/Productions/Summer Tour/tour-schedule.md", _info(call, "F-101")["checksum"])
    assert len(call("list_shares", file_id="F-101").content["shares"]) == 1
    assert call("list_shares", file_id=new["file_id"]).content["shares"] == []


def _info(call: CallTool, file_id: str) -> Any:
    return call("get_file_info", file_id=file_id).content["file"]


def test_a_name_is_taken_whatever_its_case(call: CallTool) -> None:
    taken = {"folder_id": "D-11", "content": "x"}
    assert _code(call("write_file", action="create", name="Tour-Schedule.MD", **taken)) == "already_exists"
    assert _code(call("move_file", file_id="F-107", folder_id="D-11", new_name="poster-FINAL.pdf")) == "already_exists"
    assert call("move_file", file_id="F-101", folder_id="D-11", new_name="TOUR-schedule.md").ok


def test_each_way_of_writing_has_its_own_effect(call: CallTool) -> None:
    made = call("write_file", action="create", folder_id="D-30", name="list.txt", content="one")
    file_id = made.content["file"]["file_id"]
    assert _effects(made) == {("file.create", f"/files/{file_id}", False)}
    assert _effects(call("write_file", action="append", file_id=file_id, content="two")) == {
        ("file.update", f"/files/{file_id}", False)
    }
    assert call("read_file", file_id=file_id).content["content"] == "one\ntwo"
    call("write_file", action="replace", file_id=file_id, content="three")
    assert call("read_file", file_id=file_id).content["content"] == "three"
    assert _code(call("write_file", action="append", content="four")) == "invalid_arguments"


def test_size_and_checksum_follow_the_content_while_the_manifest_does_not(call: CallTool) -> None:
    entry = next(
        item
        for item in call("read_manifest", title="Backup 2025-04-30").content["entries"]
        if item["name"] == "winter-tour-report.md"
    )
    recorded = {"file_id": "F-107", "checksum": entry["checksum"], "size_bytes": entry["size_bytes"]}
    assert call("verify_checksum", **recorded).content["matches"] is True
    call("write_file", action="append", file_id="F-107", content="Corrected.")
    assert call("verify_checksum", **recorded).content == {
        "matches": False,
        "compared": ["checksum", "size_bytes"],
        "mismatched": ["checksum", "size_bytes"],
    }
    info = _info(call, "F-107")
    assert (
        call("verify_checksum", file_id="F-107", checksum=info["checksum"], size_bytes=info["size_bytes"]).content["matches"]
        is True
    )
    assert call("get_disk_usage", path="/Archive").content["total_bytes"] == info["size_bytes"]


def test_the_quota_is_enforced(drive: Sandbox) -> None:
    state = drive.state()[NAME]
    state["account"]["quota_bytes"] = sum(file["blob"]["size_bytes"] for file in state["files"].values() if file["blob"]) + 400
    tight = Sandbox(Mount(environments=(NAME,)), {NAME: state})
    copy = {"file_id": "F-103", "folder_id": "D-30"}
    refused = tight.call(f"{NAME}.copy_file", copy)
    assert refused.error is not None and refused.error.code == "quota_exceeded"
    tight.call(f"{NAME}.delete_files", {"file_ids": ["F-105"]})
    assert tight.call(f"{NAME}.copy_file", copy).ok


def test_permission_is_verified_by_person_role_and_day(call: CallTool) -> None:
    ask = {"file_id": "F-103", "person": "druck@plakatwerk.example", "role": "viewer"}
    assert call("verify_permission", **ask).content["matches"] is True
    assert call("verify_permission", **ask, on="2025-06-01").content["mismatched"] == ["period"]
    assert call("verify_permission", **ask, on="2025-04-17").content["mismatched"] == ["period"]
    assert call("verify_permission", **{**ask, "person": "other@plakatwerk.example"}).content["matches"] is False
    call("revoke_shares", share_ids=["SH-1"])
    assert call("verify_permission", **ask).content["matches"] is False


def test_every_filter_narrows_the_search(call: CallTool) -> None:
    everything = _ids(call("find_files").content)
    assert len(everything) == 7
    filters: list[tuple[dict[str, Any], list[str]]] = [
        ({"name": "CLIP"}, ["F-104", "F-105"]),
        ({"folder": "/productions"}, ["F-101", "F-102", "F-103", "F-104", "F-105"]),
        ({"owner": "inês carvalho"}, ["F-101", "F-107"]),
        ({"tag": "Print"}, ["F-103"]),
        ({"modified_from": "2025-04-28"}, ["F-101", "F-106"]),
        ({"modified_to": "2024-10-02"}, ["F-104", "F-107"]),
        ({"min_bytes": 734_003_200}, ["F-104", "F-105"]),
        ({"tag": "tour", "owner": "Oskar Lindström"}, ["F-102", "F-103"]),
    ]
    for given, expected in filters:
        assert _ids(call("find_files", **given).content) == expected
