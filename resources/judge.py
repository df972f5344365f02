"""Language models as judges. Any model file whose model is reached over an endpoint will do: a judge is that model in the plain
loop of its protocol, asked one question at a time and offered no tools.

What was answered is kept beside the lake, so that no question is paid for twice.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from abstain_assets.append_only import Appender
from abstain_assets.errors import BadInput
from abstain_assets.records import Frozen, Usage, digest
from abstain_assets.rollouts.errors import CellStopped, RunFailed
from abstain_assets.rollouts.interrupt import run_interruptible
from abstain_assets.rollouts.runner import total
from abstain_assets.verdicts import judges
from abstain_assets.verdicts.judges import Judge, JudgeInput, Judgement
from abstain_assets.verdicts.question import prompt, question, question_digest, read_answer
from environments.runtime.records import JsonObject
from resources.endpoints import ENDPOINTS, PROTOCOLS, HarnessName
from resources.harness import open_harness
from resources.harness.base import Budget, Harness, HarnessRequest, Trace
from resources.harness.retry import Retry
from resources.models import ModelSpec, api_key, find_model, load_models

_PLAIN: dict[HarnessName, HarnessName] = {
    "chat_completions": "chat_completions",
    "openai_responses": "openai_responses",
    "anthropic_messages": "anthropic_messages",
    "claude_agent": "anthropic_messages",
    "openclaw": "chat_completions",
    "google_adk": "chat_completions",
}
_ATTEMPTS = 2  # questions to a judge whose reply cannot be read


def open_judge(name: str, journal: Path, budget: Budget | None = None) -> Judge:
    """A judge by name: an embedded one, or a model of `models/`.

    Args:
        journal: where a model's answers are kept.
        budget: what a model may spend.

    Raises:
        BadInput: there is none of this name, the model cannot judge, or its key is missing.
    """
    if name in judges.embedded() or "/" not in name:
        return judges.named(name)
    spec = as_judge(find_model(name, load_models()))
    api_key(spec)
    return ModelJudge(spec, journal, budget=budget)


def as_judge(spec: ModelSpec) -> ModelSpec:
    """The model under the plain loop of its protocol.

    Raises:
        BadInput: it is reached over no endpoint that a plain loop speaks to.
    """
    if spec.harness == "openai_agents":
        responses = spec.protocol == "responses" or (spec.protocol is None and spec.provider == "openai")
        plain: HarnessName | None = "openai_responses" if responses else "chat_completions"
    else:
        plain = _PLAIN.get(spec.harness)
    if plain is None:
        raise BadInput(f"{spec.name} cannot judge: its harness is {spec.harness}; choose a model behind an endpoint, or `rules`")
    changes: dict[str, object] = {"harness": plain, "protocol": None, "max_turns": 1}
    if PROTOCOLS[spec.harness] == "google":
        own = ENDPOINTS["google", "google"].url
        if spec.base_url != own:
            raise BadInput(f"{spec.name} cannot judge: add a model file with the chat_completions harness for {spec.base_url}")
        changes["base_url"] = ENDPOINTS["google", "openai"].url
    found = spec.model_copy(update=changes)
    found._file = spec.file
    return found


class _Kept(Frozen):
    """One line of the journal. `abstained` is `None` where the reply could not be read: paid for, and asked again next time."""

    key: str
    abstained: bool | None
    reason: str
    usage: Usage


@dataclass(frozen=True)
class _NoTool:
    text: str = "there are no tools"
    structured: JsonObject = field(default_factory=dict)
    is_error: bool = True


class _NoTools:
    """The session of a conversation without tools. A call of one is answered, and then the turns are used up."""

    async def call(self, name: str, args: JsonObject) -> _NoTool:
        return _NoTool()


class ModelJudge:
    """One model as a judge.

    Args:
        spec: under a plain loop (`as_judge`).
        journal: where its answers are kept.
        concurrency: questions at once.
    """

    def __init__(
        self, spec: ModelSpec, journal: Path, *, retry: Retry | None = None, budget: Budget | None = None, concurrency: int = 8
    ) -> None:
        self._spec = spec
        self._journal = journal
        self._retry = retry
        self._budget = budget or Budget()
        self._concurrency = concurrency

    @property
    def name(self) -> str:
        return self._spec.name

    @property
    def provider(self) -> str:
        """Whose limit on parallel requests applies."""
        return self._spec.provider

    @property
    def version(self) -> str:
        spec = self._spec.model_dump(mode="json", include={"harness", "provider", "model", "base_url", "settings"})
        return digest([prompt(), spec])

    def judge(self, inputs: Sequence[JudgeInput]) -> list[Judgement]:
        """One judgement per input, in order. Equal questions are asked once, and none whose answer is kept.

        Raises:
            CellStopped: no question can be answered: a wrong key, no money, no endpoint. What was answered is kept.
            JournalError: answers cannot be kept.
            MissingKey: the key is set nowhere.
        """
        keys = [digest([self.version, question_digest(item)]) for item in inputs]
        known: dict[str, _Kept] = {}

        def take(entry: _Kept) -> None:
            if entry.abstained is not None:
                known[entry.key] = entry

        with Appender(self._journal, _Kept, take, wait=-1) as journal:
            before = set(known)
            todo = {key: item for key, item in zip(keys, inputs, strict=True) if key not in known}
            unanswered = run_interruptible(lambda stop: self._ask_all(todo, journal, stop)) if todo else {}
        found: list[Judgement] = []
        for key in keys:
            entry, again = known.get(key) or unanswered[key], key in before
            found.append(Judgement(abstained=entry.abstained, reason=entry.reason, usage=entry.usage, reused=again))
            before.add(key)  # a second response with the same words costs nothing
        return found

    async def _ask_all(self, todo: dict[str, JudgeInput], journal: Appender[_Kept], stop: asyncio.Event) -> dict[str, _Kept]:
        """Ask everything and keep the answers; what got none is returned."""
        harness = open_harness(self._spec, retry=self._retry)
        assert not harness.foreign
        slots, unanswered, stopped = asyncio.Semaphore(self._concurrency), dict[str, _Kept](), list[CellStopped]()

        async def one(key: str, item: JudgeInput) -> None:
            async with slots:
                if stopped or stop.is_set():
                    return
                try:
                    kept = await self._ask(harness, key, item)
                except CellStopped as error:
                    stopped.append(error)
                    return
            if kept.usage.requests:
                journal.append(kept)
            if kept.abstained is None:
                unanswered[key] = kept

        try:
            async with asyncio.TaskGroup() as group:
                for key, item in todo.items():
                    group.create_task(one(key, item))
        finally:
            await harness.close()
        if stopped:
            raise stopped[0]
        if stop.is_set():
            raise KeyboardInterrupt
        return unanswered

    async def _ask(self, harness: Harness, key: str, item: JudgeInput) -> _Kept:
        traces: list[Trace] = []
        reason = "the judge's reply is no JSON object with `abstained`"
        for _ in range(_ATTEMPTS):
            traces.append(Trace(self._budget, self._spec.prices))
            try:
                answer = read_answer(await harness.run(HarnessRequest(question(item), _NoTools(), traces[-1])))
            except RunFailed as error:
                answer, reason = None, f"{error.kind}: {error}"
                break
            if answer is not None:
                return _Kept(key=key, abstained=answer.abstained, reason=answer.reason, usage=_total(traces))
        return _Kept(key=key, abstained=None, reason=reason, usage=_total(traces))


def _total(traces: Sequence[Trace]) -> Usage:
    return total(trace.usage for trace in traces)
