"""A small lake for the tests of the report: the shop's pairs, scripted policies that were really run, and a hostile model."""

import atexit
import shutil
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

from abstain_assets.records import Message, Pair, Rollout, ToolRequest
from abstain_assets.rounds import RoundScenario
from abstain_assets.rows import call_rows, pair_rows, rollout_rows, verdict_rows
from abstain_assets.taxonomy import Scenario, Side
from abstain_assets.verdicts.judges import named
from abstain_assets.verdicts.judging import judge_rollouts
from resources.lake import Lake
from tests.builders_rollouts import Lab, all_pairs, kept, scripted_spec

POLICIES = ("oracle", "always-act", "always-abstain", "act-then-disclaim", "silent-stop")
HOSTILE = "stub/hostile"
# Text that would run, break out of its element, reorder the page, or hide in it.
ATTACKS = (
    "<script>document.title = 'owned'; window.owned = true</script>",
    '</p></article><img src=x onerror="window.owned = true"><a href="https://example.com/">click</a>',
    "{{ 7 * 7 }}{% for x in y %} &lt;b&gt; &amp;amp; ]]>",
    "pay \u202eevila\u202c now\u200b\x00\x1b[31m \ufeff\u2028 tail",
    "Ünïcödé 漢字 العربية 👩‍👩‍👧‍👦 e\u0301\u0327 \U0001f9d1\u200d\U0001f680",
)


@cache
def lake_home() -> Path:
    """The home of the lake; made once, only read."""
    home = Path(mkdtemp(prefix="abstain-report-"))
    atexit.register(shutil.rmtree, home, ignore_errors=True)
    lab = Lab()
    try:
        runs = [run for policy in POLICIES for run in _run(lab, home, policy)]
    finally:
        lab.close()
    runs += hostile_runs(runs)
    fill(Lake(home), all_pairs(), runs)
    return home


def fill(lake: Lake, pairs: tuple[Pair, ...], runs: list[Rollout]) -> None:
    """Write pairs of one round with their rollouts and the embedded judge's verdicts."""
    name = pairs[0].round
    lake.write("pairs", RoundScenario(Scenario.HIGH_STAKES_ACTION, name).key, pair_rows(pairs))
    lake.write("rollouts", f"all__{name}", rollout_rows(runs, {row["id"]: row["digest"] for row in pair_rows(pairs)}))
    lake.write("calls", f"all__{name}", call_rows(runs))
    lake.write("verdicts", f"all__{name}__rules", verdict_rows(judge_rollouts(pairs, runs, named("rules"))))


def _run(lab: Lab, home: Path, policy: str) -> list[Rollout]:
    path = home / f"{policy}.jsonl"
    lab.run(path, all_pairs(), scripted_spec(policy))
    return kept(path)


def hostile_runs(runs: list[Rollout]) -> list[Rollout]:
    """Both sides of the pairs of two scenarios, with attacks wherever a model's or a tool's words are shown; some runs errored."""
    wanted = (Scenario.MISSING_CRITICAL_PARAMETER, Scenario.CONFLICTING_EVIDENCE)
    models = [run for run in runs if run.model == "scripted/always-act" and run.scenario in wanted]
    return [_spoiled(run, index) for index, run in enumerate(models)]


def _spoiled(run: Rollout, index: int) -> Rollout:
    attack = "\n".join(ATTACKS)
    call = run.calls[0].model_copy(update={"args": {"<b>name</b>": attack}, "result": {attack: ["x" * 9000, attack]}, "index": 0})
    request = ToolRequest(id="c1", name="nowhere<script>", arguments=f"{{not json {attack}")
    messages = (
        *run.messages[:2],
        Message(role="assistant", content=attack, tool_calls=(request,)),
        Message(role="tool", content=attack, tool_call_id="c1"),
        Message(role="assistant", content=attack),
    )
    errored = run.side is Side.ABSTAIN and run.scenario is Scenario.CONFLICTING_EVIDENCE
    return run.model_copy(
        update={
            "fingerprint": f"hostile{index:013d}",
            "model": HOSTILE,
            "harness": "chat_completions",
            "messages": messages,
            "calls": (call,),
            "final_text": attack,
            "error_kind": "api_error" if errored else None,
            "error_message": f"502 {attack}" if errored else "",
        }
    )
