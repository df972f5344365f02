"""A backfill of one model over all scenarios, as the UI starts it: through GraphQL, the daemon and a real instance."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from abstain_assets.pairs.sampling import stratified
from abstain_assets.partitions import Cell
from abstain_assets.rounds import scenarios_of
from resources.lake import Lake
from resources.models import slug
from tests.command import MAIN, ROOT

MODEL = "mine/careful"
SOME = 8


@dataclass(frozen=True)
class Served:
    """A running `abstain dev` and the home it serves."""

    home: Path
    port: int

    def ask(self, query: str, **variables: Any) -> Any:
        """The data of one GraphQL answer."""
        body = json.dumps({"query": query, "variables": variables}).encode()
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}/graphql", body, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=60) as response:
            answer = json.load(response)
        assert "errors" not in answer, answer
        return answer["data"]


@pytest.fixture(scope="module")
def served(demo_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """`abstain dev` on a copy of the demo's home, with one more model registered."""
    folder = tmp_path_factory.mktemp("served")
    home = shutil.copytree(demo_home, folder / "home")
    models = folder / "models"
    models.mkdir()
    spec = {"name": MODEL, "harness": "scripted", "provider": "scripted", "model": "oracle"}
    (models / "careful.yaml").write_text(yaml.safe_dump(spec), encoding="utf-8")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "ABSTAIN_MODELS": str(models)}
    command = [sys.executable, "-c", MAIN, "dev", "--home", str(home), "--port", str(port)]
    with (folder / "log").open("w", encoding="utf-8") as log:
        process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=log, start_new_session=True)
        try:
            _wait_until_it_answers(port, process, folder / "log")
            yield Served(home, port)
        finally:
            os.killpg(process.pid, signal.SIGINT)
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)


def _wait_until_it_answers(port: int, process: "subprocess.Popen[bytes]", log: Path) -> None:
    for _ in range(360):
        assert process.poll() is None, log.read_text(encoding="utf-8")
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/server_info", timeout=5).close()
        except (urllib.error.URLError, OSError):
            time.sleep(0.5)
        else:
            return
    raise AssertionError(log.read_text(encoding="utf-8"))


def test_it_is_served_on_this_machine_only(served: Served) -> None:
    """Nobody outside can reach it: every listening socket of the port is on the loopback address."""
    listening = [line.split() for line in Path("/proc/net/tcp").read_text(encoding="utf-8").splitlines()[1:]]
    addresses = [row[1] for row in listening if row[3] == "0A" and row[1].endswith(f":{served.port:04X}")]
    assert addresses == [f"0100007F:{served.port:04X}"]


def test_lineage_of_the_commands_is_there(served: Served) -> None:
    """What `abstain demo` materialized on the same instance is what the UI shows, with the checks."""
    checks = "assetChecksOrError { ... on AssetChecks { checks { name } } }"
    query = f"{{ assetNodes {{ assetKey {{ path }} assetMaterializations(limit: 1) {{ runId }} {checks} }} }}"
    nodes = {"/".join(node["assetKey"]["path"]): node for node in served.ask(query)["assetNodes"]}
    assert {"capabilities", "environments", "pairs", "rollouts", "verdicts", "metrics", "leaderboard", "report"} <= set(nodes)
    assert all(node["assetMaterializations"] for node in nodes.values())
    found = {check["name"] for check in nodes["pairs"]["assetChecksOrError"]["checks"]}
    assert found == {"verified_again", "counts", "quarantine_rate"}


@pytest.mark.timeout(600)
def test_one_model_over_all_scenarios(served: Served) -> None:
    lake = Lake(served.home)
    chosen = stratified(lake.read("pairs").select("id", "scenario", "action_type").iter_rows(), SOME)
    cells = [Cell(slug(MODEL), item) for item in scenarios_of("v1")]
    launch = """mutation ($params: LaunchBackfillParams!) { launchPartitionBackfill(backfillParams: $params) {
        __typename ... on LaunchBackfillSuccess { backfillId } ... on PythonError { message } } }"""
    params = {
        "assetSelection": [{"path": [name]} for name in ("rollouts", "verdicts", "metrics")],
        "partitionNames": [cell.key for cell in cells],
        "runConfigData": {"ops": {"rollouts": {"config": {"pairs": chosen}}}},
    }
    launched = served.ask(launch, params=params)["launchPartitionBackfill"]
    assert launched["__typename"] == "LaunchBackfillSuccess", launched
    look = """query ($id: String!) { partitionBackfillOrError(backfillId: $id) { ... on PartitionBackfill {
        status error { message } assetBackfillData { assetBackfillStatuses { ... on AssetPartitionsStatusCounts {
        assetKey { path } numPartitionsMaterialized numPartitionsFailed } } } } } }"""
    end = time.monotonic() + 500
    status: dict[str, Any] = {"status": "REQUESTED"}
    while status["status"] in ("REQUESTED", "COMPLETING") and time.monotonic() < end:
        time.sleep(1)
        status = served.ask(look, id=launched["backfillId"])["partitionBackfillOrError"]
    assert status["status"] == "COMPLETED_SUCCESS", status
    counts = {item["assetKey"]["path"][0]: item for item in status["assetBackfillData"]["assetBackfillStatuses"]}
    assert {name: item["numPartitionsMaterialized"] for name, item in counts.items()} == dict.fromkeys(
        ("rollouts", "verdicts", "metrics"), 8
    )
    rows = lake.query(f"SELECT pair_id, side, passed FROM verdicts WHERE model = '{MODEL}'").rows
    assert {row[0] for row in rows} == set(chosen)
    assert len(rows) == 2 * SOME
    assert all(row[2] for row in rows)
    runs = served.ask("{runsOrError(limit: 1){... on Runs{results{tags{key value}}}}}")["runsOrError"]["results"]
    assert {tag["key"] for run in runs for tag in run["tags"]} >= {"dagster/asset_partition_range_start", "dagster/backfill"}
