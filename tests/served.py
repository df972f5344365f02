"""A running `abstain dev`, spoken to as the UI speaks to it: over GraphQL."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.command import MAIN, ROOT

REPOSITORY = {"repositoryLocationName": "abstain", "repositoryName": "__repository__"}
SENSOR = {**REPOSITORY, "sensorName": "models_to_evaluate"}
_OVER = ("SUCCESS", "FAILURE", "CANCELED")


@dataclass(frozen=True)
class Served:
    """The server, the home it serves and its folder of models."""

    home: Path
    models: Path
    port: int
    log: Path

    def ask(self, query: str, **variables: Any) -> Any:
        """The data of one GraphQL answer."""
        body = json.dumps({"query": query, "variables": variables}).encode()
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}/graphql", body, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=60) as response:
            answer = json.load(response)
        assert "errors" not in answer, answer
        return answer["data"]

    def backfill(self, assets: Sequence[str], partitions: Sequence[str], config: Mapping[str, Any] | None = None) -> str:
        """Launch what the dialog of the asset graph launches over several partitions; the id."""
        selection = [{"path": [name]} for name in assets]
        params = {"assetSelection": selection, "partitionNames": list(partitions), "runConfigData": _ops(config)}
        return self._launch_backfill(params)

    def backfill_job(self, job: str, partitions: Sequence[str]) -> str:
        """Launch what the dialog on the page of a job launches over several partitions; the id."""
        selector = {"partitionSetName": f"{job}_partition_set", "repositorySelector": REPOSITORY}
        return self._launch_backfill({"selector": selector, "partitionNames": list(partitions)})

    def _launch_backfill(self, params: Mapping[str, Any]) -> str:
        launch = """mutation ($params: LaunchBackfillParams!) { launchPartitionBackfill(backfillParams: $params) {
            __typename ... on LaunchBackfillSuccess { backfillId } ... on PythonError { message } } }"""
        answer = self.ask(launch, params=params)["launchPartitionBackfill"]
        assert answer["__typename"] == "LaunchBackfillSuccess", answer
        return str(answer["backfillId"])

    def launch(self, job: str, tags: Mapping[str, str], config: Mapping[str, Any] | None = None, assets: Sequence[str] = ()) -> str:
        """Launch a run of a job; the id."""
        launch = """mutation ($params: ExecutionParams!) { launchRun(executionParams: $params) {
            __typename ... on LaunchRunSuccess { run { runId } } ... on PythonError { message }
            ... on RunConfigValidationInvalid { errors { message } } } }"""
        params = {
            "selector": {**REPOSITORY, "jobName": job, "assetSelection": [{"path": [name]} for name in assets] or None},
            "runConfigData": _ops(config),
            "executionMetadata": {"tags": [{"key": key, "value": value} for key, value in tags.items()]},
        }
        answer = self.ask(launch, params=params)["launchRun"]
        assert answer["__typename"] == "LaunchRunSuccess", answer
        return str(answer["run"]["runId"])

    def finish(self, *names: str, within: float = 200) -> dict[str, Any]:
        """Wait for runs and backfills, which must succeed; per backfill, the partitions that were materialized by asset."""
        look_run = "query ($id: ID!) { runOrError(runId: $id) { ... on Run { status } } }"
        look_backfill = """query ($id: String!) { partitionBackfillOrError(backfillId: $id) { ... on PartitionBackfill {
            status error { message } assetBackfillData { assetBackfillStatuses { ... on AssetPartitionsStatusCounts {
            assetKey { path } numPartitionsMaterialized numPartitionsFailed } } } } } }"""
        counts: dict[str, Any] = {}
        left, end = list(names), time.monotonic() + within
        while left:
            assert time.monotonic() < end, (left, self.log.read_text(encoding="utf-8")[-3000:])
            name = left[0]
            if len(name) > 10:
                status = self.ask(look_run, id=name)["runOrError"]["status"]
                over, good = status in _OVER, status == "SUCCESS"
            else:
                found = self.ask(look_backfill, id=name)["partitionBackfillOrError"]
                status = found["status"]
                over, good = status not in ("REQUESTED", "COMPLETING"), status == "COMPLETED_SUCCESS"
                data = (found["assetBackfillData"] or {}).get("assetBackfillStatuses", [])
                counts[name] = {item["assetKey"]["path"][0]: item["numPartitionsMaterialized"] for item in data}
            assert good or not over, (name, status, self.log.read_text(encoding="utf-8")[-3000:])
            if over:
                left.pop(0)
            else:
                time.sleep(0.5)
        return counts

    def runs(self) -> list[dict[str, Any]]:
        """All runs, newest first."""
        query = "{ runsOrError { ... on Runs { results { runId jobName status runConfigYaml tags { key value } } } } }"
        found = self.ask(query)["runsOrError"]["results"]
        return [{**run, "tags": {tag["key"]: tag["value"] for tag in run["tags"]}} for run in found]

    def ticks(self) -> list[dict[str, Any]]:
        """What the sensor on models did, newest first."""
        query = """query ($selector: SensorSelector!) { sensorOrError(sensorSelector: $selector) { ... on Sensor {
            sensorState { status ticks(limit: 50) { timestamp status skipReason runIds error { message } } } } } }"""
        state = self.ask(query, selector=SENSOR)["sensorOrError"]["sensorState"]
        assert state["status"] == "RUNNING"
        ticks: list[dict[str, Any]] = state["ticks"]
        return ticks

    def next_ticks(self, count: int = 1, within: float = 120) -> list[dict[str, Any]]:
        """Ticks that begin from now on, newest first; waits until so many are over."""
        start, end = time.time(), time.monotonic() + within
        while time.monotonic() < end:
            found = [tick for tick in self.ticks() if tick["timestamp"] > start and tick["status"] != "STARTED"]
            if len(found) >= count:
                return found
            time.sleep(0.5)
        raise AssertionError(self.log.read_text(encoding="utf-8")[-3000:])


def _ops(config: Mapping[str, Any] | None) -> dict[str, Any]:
    return {"ops": {name: {"config": values} for name, values in config.items()}} if config else {}


@contextlib.contextmanager
def serving(home: Path, models: Path, variables: Mapping[str, str]) -> Iterator[Served]:
    """`abstain dev` on a home, in a process group of its own."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    log = home.parent / "dev.log"
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "ABSTAIN_MODELS": str(models), **variables}
    command = [sys.executable, "-c", MAIN, "dev", "--home", str(home), "--port", str(port)]
    with log.open("w", encoding="utf-8") as stream:
        process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=stream, stderr=stream, start_new_session=True)
        try:
            _wait_until_it_answers(port, process, log)
            yield Served(home, models, port, log)
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
