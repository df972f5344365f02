"""Which unfinished runs are dead: those of commands and servers that were killed before they could say so."""

import json
import secrets
from pathlib import Path

import dagster as dg
from dagster._core.errors import DagsterUserCodeUnreachableError
from dagster._core.storage.tags import GRPC_INFO_TAG
from dagster._grpc.client import DagsterGrpcClient
from dagster._grpc.types import CanCancelExecutionRequest, CanCancelExecutionResult
from dagster._serdes import deserialize_value
from filelock import FileLock, Timeout

ALIVE_TAG = "abstain/alive"


class Alive:
    """A lock that lives as long as this process. Runs carry its name, so a later command can tell which ones died with theirs.

    Args:
        home: folder of the Dagster instance.
    """

    def __init__(self, home: Path) -> None:
        self.token = secrets.token_hex(8)
        self._folder = home / "alive"
        self._folder.mkdir(exist_ok=True)
        self._lock = FileLock(self._file(self.token))
        self._lock.acquire()

    def bury_dead(self, instance: dg.DagsterInstance) -> None:
        """Mark runs of killed commands and servers as failed, and free the pool slots they hold."""
        open_states = [dg.DagsterRunStatus.STARTING, dg.DagsterRunStatus.STARTED]
        for run in instance.get_runs(filters=dg.RunsFilter(statuses=open_states)):
            token = run.tags.get(ALIVE_TAG)
            if (token != self.token and self._is_dead(token)) if token else _is_orphaned(run):
                instance.report_run_failed(run, "the process of this run was killed")
                instance.event_log_storage.free_concurrency_slots_for_run(run.run_id)
        for file in self._folder.glob("*.lock"):
            if file.stem != self.token and self._is_dead(file.stem):
                file.unlink()

    def _is_dead(self, token: str) -> bool:
        lock = FileLock(self._file(token), blocking=False)
        try:
            lock.acquire()
        except Timeout:
            return False
        lock.release()
        return True

    def _file(self, token: str) -> Path:
        return self._folder / f"{token}.lock"


def _is_orphaned(run: dg.DagsterRun) -> bool:
    """Whether the server that ran it is gone or does not know it. Dagster's monitoring does not see that for local processes."""
    where = run.tags.get(GRPC_INFO_TAG)
    if where is None or run.status is not dg.DagsterRunStatus.STARTED:
        return False
    try:
        answer = DagsterGrpcClient(**json.loads(where)).can_cancel_execution(
            CanCancelExecutionRequest(run_id=run.run_id), timeout=20
        )
    except DagsterUserCodeUnreachableError as error:
        code = getattr(error.__cause__, "code", None)
        return code is not None and code().name == "UNAVAILABLE"  # nobody listens; a server that is only slow is alive
    return not deserialize_value(answer, CanCancelExecutionResult).can_cancel
