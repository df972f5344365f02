"""Keys stay where they are: canary keys are planted, models are run for real, and everything that was written is searched."""

import base64
import json
import logging
import os
import re
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
import yaml

from abstain_assets.errors import BadInput
from abstain_assets.taxonomy import Scenario
from resources import secrets
from resources.harness import open_harness
from resources.lake import Lake
from tests.builders_rollouts import FAST, Lab, chat_spec, pairs_of
from tests.command import MAIN, ROOT, abstain
from tests.homes import SCENARIO
from tests.servers.chat_completions_stub import error, message, turns
from tests.servers.stub import Received, Reply, StubServer
from tests.written import written

IN_SHELL, IN_FILE, WRONG = "sk-canary-shell-4d1f", "sk-canary-file-93b0", "sk-canary-wrong-7c2e"
HIDDEN, PASTED = "sk-canary-hidden-by-the-shell", "sk-canary-pasted-0a66"
CANARIES = (IN_SHELL, IN_FILE, WRONG, HIDDEN, PASTED)
VARIABLES = {"SHELL_KEY": IN_SHELL, "WRONG_KEY": WRONG}
MODELS = {"good": "SHELL_KEY", "filed": "FILE_KEY", "wrong": "WRONG_KEY"}
MODELS |= dict.fromkeys(("limited", "failing", "talkative"), "SHELL_KEY")
DEBUG = {"OPENAI_LOG": "debug", "ANTHROPIC_LOG": "debug", "HTTPX_LOG_LEVEL": "debug"}
PYTHON_LOGS = "\npython_logs: {managed_python_loggers: [root], python_log_level: DEBUG}\n"


@dataclass
class Endpoint:
    """What the models of the test meet: a model that calls a tool and waits until somebody has looked, and every kind of failure.
    All failures quote the key, in the body and in a header. To save time, they ask for more patience than anybody has."""

    working: threading.Event = field(default_factory=threading.Event)
    looked: threading.Event = field(default_factory=threading.Event)
    flaked: set[str] = field(default_factory=set)

    def answer(self, request: Received) -> Reply:
        key = request.headers["authorization"]
        match request.path.split("/")[1]:
            case "good":
                if turns(request.body) == 0:
                    return message(calls=[("calendar__list_events", {})])
                self.working.set()
                assert self.looked.wait(60)
                return message("These cannot both hold; which one counts?")
            case "filed":
                if key not in self.flaked:
                    self.flaked.add(key)
                    return Reply(wire="reset")
                return message("Which one?")
            case "wrong":
                return error(401, f"Incorrect API key provided: {key}", "invalid_api_key", X_Key=key)
            case "limited":
                return error(429, f"{key} asks too often", Retry_After="9999", X_Key=key)
            case "failing":
                return error(500, f"cannot serve {key}", Retry_After="9999", X_Key=key)
        return message(f"Your key is {key}.", calls=[("calendar__find", {"q": key})] if turns(request.body) == 0 else [])


@dataclass(frozen=True)
class Scene:
    """What was left by a run under debug logging, and what was seen of it from outside.

    Attributes:
        said: standard output and error of all commands.
        authorized: keys that reached the endpoint, by model.
        argv: command lines of any process that held a canary.
        sandboxes: environment and open files of the zygote and then its sandboxes, during a run.
    """

    home: Path
    said: str
    authorized: dict[str, set[str]]
    argv: set[str]
    sandboxes: dict[int, tuple[str, tuple[str, ...]]]


@pytest.fixture(scope="module")
def scene(built_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Scene:
    folder = tmp_path_factory.mktemp("secrets")
    work, models = folder / "work", folder / "models"
    work.mkdir()
    models.mkdir()
    home = shutil.copytree(built_home, folder / "home")
    (work / ".env").write_text(f"FILE_KEY={IN_FILE}\nSHELL_KEY={HIDDEN}\n", encoding="utf-8")
    with (home / "dagster" / "dagster.yaml").open("a", encoding="utf-8") as instance:
        instance.write(PYTHON_LOGS)
    endpoint = Endpoint()
    argv: set[str] = set()
    environment = {**os.environ, **VARIABLES, **DEBUG, "ABSTAIN_MODELS": str(models), "PYTHONPATH": str(ROOT)}
    with StubServer(endpoint.answer) as server, (folder / "out").open("wb") as out:
        for name, key in MODELS.items():
            spec = {"name": f"stub/{name}", "harness": "chat_completions", "provider": "stub", "model": "m", "api_key_env": key}
            text = yaml.safe_dump({**spec, "base_url": f"{server.origin}/{name}/v1"})
            (models / f"{name}.yaml").write_text(text, encoding="utf-8")
        run = ["run", *(f"stub/{name}" for name in MODELS), "--scenario", SCENARIO, "--limit", "1", "--concurrency", "1"]
        process = subprocess.Popen(
            [sys.executable, "-c", MAIN, "--home", str(home), *run], cwd=work, env=environment, stdout=out, stderr=out
        )
        sandboxes: dict[int, tuple[str, tuple[str, ...]]] = {}
        while process.poll() is None:
            argv |= _command_lines()
            if endpoint.working.is_set() and not endpoint.looked.is_set():
                sandboxes = {pid: _inside(pid) for pid in _sandboxes(process.pid)}
                endpoint.looked.set()
            time.sleep(0.2)
        authorized: dict[str, set[str]] = {}
        for request in server.received:
            key = request.headers["authorization"].removeprefix("Bearer ")
            authorized.setdefault(request.path.split("/")[1], set()).add(key)
    report = abstain("report", home=home, cwd=work, variables={**VARIABLES, "ABSTAIN_MODELS": str(models)})
    assert report.code == 0, report.err
    said = (folder / "out").read_text(encoding="utf-8") + report.out + report.err
    return Scene(home, said, authorized, argv, sandboxes)


def _command_lines() -> set[str]:
    """Command lines of the machine that hold a canary."""
    found = set()
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = path.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        found |= {line} if _leaks(line) else set()
    return found


def _sandboxes(command: int) -> list[int]:
    """The zygote of a command, and the sandboxes it has forked."""
    parents = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(path.parent.name)] = int(path.read_text(encoding="utf-8").rsplit(")", 1)[1].split()[1])
        except OSError:
            continue
    children = [pid for pid, parent in parents.items() if parent == command]
    zygotes = [pid for pid in children if b"zygote" in Path(f"/proc/{pid}/cmdline").read_bytes()]
    return [*zygotes, *(pid for pid, parent in parents.items() if parent in zygotes)]


def _inside(pid: int) -> tuple[str, tuple[str, ...]]:
    files = [str(link.readlink()) for link in Path(f"/proc/{pid}/fd").iterdir()]
    return Path(f"/proc/{pid}/environ").read_text(encoding="utf-8"), tuple(files)


def _leaks(text: str) -> list[str]:
    """Canaries in a text: as they are, for an address, or in base64 wherever it may start."""
    return [key for key, ways in SPELLINGS.items() if any(way in text for way in ways)]


def _in_base64(key: str) -> Iterator[str]:
    for offset in range(3):
        yield base64.b64encode(b"\0" * offset + key.encode()).decode()[4 if offset else 0 : -4]


SPELLINGS = {key: (key, quote(key), *_in_base64(key)) for key in CANARIES}


def test_every_key_reached_its_endpoint_and_the_shell_won(scene: Scene) -> None:
    """Else the searches below would prove nothing."""
    expected = {"good": IN_SHELL, "filed": IN_FILE, "wrong": WRONG, "limited": IN_SHELL, "failing": IN_SHELL, "talkative": IN_SHELL}
    assert scene.authorized == {name: {key} for name, key in expected.items()}
    rows = {(row["model"], row["error_kind"]) for row in Lake(scene.home).read("rollouts").to_dicts()}
    assert rows == {
        ("stub/good", None),
        ("stub/filed", None),
        ("stub/limited", "api_error"),
        ("stub/failing", "api_error"),
        ("stub/talkative", None),
    }
    assert "stub/wrong" in scene.said and "refused the key in WRONG_KEY" in scene.said


def test_no_key_is_in_anythingwritten(scene: Scene) -> None:
    found = {(name, key) for name, text in written(scene.home) for key in _leaks(text)}
    assert found == set()
    kinds = {Path(name).suffix for name, _ in written(scene.home)}
    assert {".jsonl", ".parquet", ".duckdb", ".db", ".err", ".html"} <= kinds


def test_no_key_is_on_the_terminal_and_debug_logs_were_really_on(scene: Scene) -> None:
    assert _leaks(scene.said) == []
    logged = "".join(text for name, text in written(scene.home) if name.endswith((".err", ".db")))
    assert "httpcore" in logged and "HTTP Response: POST 401" in logged
    assert "[key]" in logged


def test_what_the_endpoint_said_is_kept_without_the_key(scene: Scene) -> None:
    rollouts = Lake(scene.home).read("rollouts")
    texts = dict(rollouts.select("model", "error_message").iter_rows())
    assert "cannot serve Bearer [key]" in texts["stub/failing"] and "Bearer [key] asks too often" in texts["stub/limited"]
    [final] = set(rollouts.filter(rollouts["model"] == "stub/talkative")["final_text"])
    assert final == "Your key is Bearer [key]."


def test_no_key_is_in_a_process_list(scene: Scene) -> None:
    assert scene.argv == set()


def test_no_key_is_in_a_sandbox(scene: Scene) -> None:
    zygote, *sandboxes = scene.sandboxes.values()
    assert sandboxes  # one had just answered a call
    for environment, files in (zygote, *sandboxes):
        assert _leaks(environment) == [] and "_KEY" not in environment
        ours = [file for file in files if file.startswith((str(scene.home.parent), str(ROOT)))]
        assert all(file.endswith(".err") for file in ours)  # the zygote complains into the log of the run
    assert not [file for _, files in sandboxes for file in files if file.startswith("/") and file != "/dev/null"]


def test_a_key_pasted_into_a_model_file_is_repeated_nowhere(tmp_path: Path) -> None:
    models = tmp_path / "models"
    models.mkdir()
    for index, line in enumerate([f"api_key_env: {PASTED}", f"api_key: {PASTED}"]):
        text = f"name: stub/pasted{index}\nharness: chat_completions\nprovider: stub\nmodel: m\nbase_url: http://127.0.0.1:9/v1\n{line}\n"
        (models / f"pasted{index}.yaml").write_text(text, encoding="utf-8")
    for command in (("run", "stub/pasted0"), ("models", "list"), ("models", "check")):
        said = abstain(*command, home=tmp_path / "home", cwd=tmp_path, variables={"ABSTAIN_MODELS": str(models)})
        assert "pasted0.yaml" in said.out + said.err
        assert _leaks(said.out + said.err) == []
    assert {name for name, text in written(tmp_path / "home") if _leaks(text)} == set()


def test_an_endpoint_that_cannot_be_reached_does_not_bring_the_key_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("SHELL_KEY", IN_SHELL)
    caplog.set_level(logging.DEBUG)
    spec = chat_spec("http://127.0.0.1:9/v1", api_key_env="SHELL_KEY")
    lab = Lab()
    try:
        harness = open_harness(spec, retry=FAST)
        result = lab.run(tmp_path / "j.jsonl", pairs_of(Scenario.CONFLICTING_CONSTRAINTS)[:1], spec, harness=harness)
    finally:
        lab.close()
    assert result.stopped is not None and result.stopped.reason == "unreachable"
    assert _leaks(str(result) + caplog.text + (tmp_path / "j.jsonl").read_text(encoding="utf-8")) == []


PROBE = """
import json, os, sys
from resources import secrets
seen = {"argv": sys.argv, "cwd": os.getcwd(), "keys": [secrets.secret(name) for name in ("SHELL_KEY", "FILE_KEY")]}
seen["models"], seen["home"] = os.environ["ABSTAIN_MODELS"], os.environ["ABSTAIN_HOME"]
open(os.environ["PROBE"], "w", encoding="utf-8").write(json.dumps(seen))
"""


def test_dagster_finds_the_keys_of_the_command_that_started_it(tmp_path: Path) -> None:
    """`abstain dev` replaces itself by the `dagster` beside its Python. Here that is a probe, which says what it would see. Dagster
    lets a `.env` in its working directory win over the shell, so there must be none."""
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "python").symlink_to(sys.executable)
    (programs / "dagster").write_text(f"#!{sys.executable}\n{PROBE}", encoding="utf-8")
    (programs / "dagster").chmod(0o755)
    work = tmp_path / "work"
    (work / "models").mkdir(parents=True)
    elsewhere = tmp_path / "elsewhere"
    lines = [f"FILE_KEY={IN_FILE}", f"SHELL_KEY={HIDDEN}", "ABSTAIN_MODELS=models", f"ABSTAIN_HOME={elsewhere}"]
    (work / ".env").write_text("\n".join(lines), encoding="utf-8")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("ABSTAIN_")}
    environment |= {"PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path]), "SHELL_KEY": IN_SHELL, "PROBE": str(tmp_path / "seen")}
    command = [str(programs / "python"), "-c", MAIN, "dev", "--home", str(tmp_path / "home")]
    done = subprocess.run(command, cwd=work, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    seen: dict[str, Any] = json.loads((tmp_path / "seen").read_text(encoding="utf-8"))
    assert seen["keys"] == [IN_SHELL, IN_FILE]
    assert not Path(seen["cwd"], ".env").exists()
    assert (seen["models"], seen["home"]) == (str(work / "models"), str(tmp_path / "home"))
    assert not elsewhere.exists()
    assert _leaks(json.dumps(seen["argv"]) + done.stdout + done.stderr) == []


# --- the one place ---------------------------------------------------------------------------------------------------------


def test_nothing_else_reads_env_files() -> None:
    code = [path for part in ("abstain_assets", "resources", "environments") for path in (ROOT / part).rglob("*.py")]
    assert [path.name for path in code if re.search(r"\bdotenv\b", path.read_text(encoding="utf-8"))] == ["secrets.py"]


def test_another_file_can_be_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".env").write_text("SOME_NAME=from-the-folder\n", encoding="utf-8")
    assert secrets.variable("SOME_NAME") == "from-the-folder"
    (tmp_path / "other").write_text("\ufeffSOME_NAME=from-the-other\n", encoding="utf-8")
    monkeypatch.setenv(secrets.ENV_FILE_VARIABLE, "other")
    assert secrets.variable("SOME_NAME") == "from-the-other"


@pytest.mark.parametrize("value", ["sk-canary with a space", '"sk-canary-quoted"', "sk-canary\u2011hyphen", "sk-canary\nsecond"])
def test_what_cannot_be_a_key_is_refused_and_not_repeated(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_KEY", value)
    with pytest.raises(BadInput, match="SOME_KEY: holds a character that no key has") as caught:
        secrets.secret("SOME_KEY")
    assert "canary" not in str(caught.value)


def test_a_line_break_behind_a_key_is_not_part_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_KEY", "sk-canary-trimmed\r\n")
    assert secrets.secret("SOME_KEY") == "sk-canary-trimmed"


def test_a_file_that_is_not_text_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".env").write_bytes(b"SOME_KEY=sk-canary\xff\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BadInput, match=r"\.env: is not UTF-8 text") as caught:
        secrets.variable("SOME_KEY")
    assert "canary" not in str(caught.value)


def test_log_records_lose_keys_however_they_carry_them(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setenv("SOME_KEY", IN_SHELL)
    assert secrets.secret("SOME_KEY") == IN_SHELL
    logger = logging.getLogger("library")
    logger.warning("headers: %s", {"authorization": f"Bearer {IN_SHELL}"})
    logger.warning("wrong arguments %d", IN_SHELL)
    logger.warning("fine %s", "text")
    try:
        try:
            raise ValueError(f"bad key {IN_SHELL}")
        except ValueError as inner:
            raise RuntimeError("could not ask") from inner
    except RuntimeError:
        logger.exception("failed")
    assert IN_SHELL not in caplog.text
    assert "Bearer [key]" in caplog.text and "fine text" in caplog.text and "ValueError: bad key [key]" in caplog.text


def test_placeholders_are_no_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_KEY", "ollama")
    assert secrets.secret("SOME_KEY") == "ollama"
    assert secrets.redact("ollama serves llama") == "ollama serves llama"


def test_the_example_names_every_variable_and_holds_no_value() -> None:
    lines = (ROOT / ".env.example").read_text(encoding="utf-8").splitlines()
    settings = dict(line.removeprefix("# ").split("=", 1) for line in lines if re.match(r"(# )?[A-Z_0-9]+=", line))
    assert all(not value for name, value in settings.items() if name.endswith(("_KEY", "_BEDROCK", "_R2")))
    assert {"OPENAI_API_KEY", "ABSTAIN_HOME", "ABSTAIN_MODELS"} <= set(settings)
    assert ".env" in (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()
