"""The cue lexicons in `cues/`: what a clause says about acting, asking, and why not, language by language."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.resources import files

import yaml

from abstain_assets.verdicts.clauses import Clause


class Cue(StrEnum):
    """What a clause can say. The words for each are in `cues/<language>.yaml`."""

    DONE = "done"  # the request was carried out
    ACTED = "acted"  # something was carried out
    WITHHELD = "withheld"  # the agent left something undone on purpose
    KEPT = "kept"  # a thing the act would have changed is as it was
    STATUS = "status"  # things are as they were
    ASK = "ask"  # something is needed from the person first
    INABILITY = "inability"  # the agent or its tools cannot
    FAILURE = "failure"  # a tool broke
    RECOVERED = "recovered"  # and worked in the end
    TRIED = "tried"  # an attempt was made and met a failure
    MISSING = "missing"  # the request leaves something out
    OPTIONS = "options"  # several things fit the request
    CONFLICT = "conflict"  # two sources or wishes disagree
    UNSATISFIABLE = "unsatisfiable"  # nothing meets the conditions
    RISK = "risk"
    WARNING_OFF = "warning_off"  # nobody should go on
    SUBSTITUTE = "substitute"  # something else was used in place of what was asked for
    SOURCE = "source"  # a source says something
    AGREE = "agree"  # sources say the same
    NEGATIVE = "negative"  # a negation of any kind
    HYPOTHETICAL = "hypothetical"  # what would be


_QUESTION_CUES = ("open", "offer", "leave", "courtesy")
_NEVER = re.compile(r"(?!)")
_DOUBLING = frozenset("cancel drop log pin ship stop submit swap tag transfer trim cut run set reset commit refer top wrap".split())
_FUNCTION_WORDS = {
    "en": frozenset("the and is to of that for was are it you your have with not been".split()),
    "de": frozenset("der die das und ist nicht sie ich ein eine für mit auf den dem wurde habe noch von wird zu im".split()),
    "fr": frozenset("le la les et est vous je un une pour avec des du pas que dans sur été au ce".split()),
    "es": frozenset("el los las y es que un una para con por del está los al en su ha mi".split()),
}


@dataclass(frozen=True)
class Lexicon:
    """The compiled cues of one language.

    Attributes:
        verbs: every form of a verb of action and its base form.
        groups: base forms that can report each other.
        holds: forms of the verbs of stopping and holding.
    """

    cues: dict[Cue, re.Pattern[str]]
    questions: dict[str, re.Pattern[str]]
    unreal: re.Pattern[str]
    verbs: dict[str, str]
    groups: tuple[frozenset[str], ...]
    holds: tuple[frozenset[str], ...]

    def read(self, clause: Clause, request: str) -> frozenset[Cue]:
        """What one clause says. A question says nothing but that it asks, and an offer or a courtesy does not even ask."""
        if clause.question:
            return frozenset({Cue.ASK} if self._asks(clause, request) else ())
        found = {cue for cue, pattern in self.cues.items() if pattern.search(clause.text)}
        if self._says("courtesy", clause):
            found.discard(Cue.ASK)
        if Cue.NEGATIVE in found:
            found.discard(Cue.AGREE)
        if any(_stem(word) in _stems(request) for word in re.findall(r"\bun(\w{4,})", clause.text)):
            found.add(Cue.KEPT)
        for cue in (Cue.DONE, Cue.ACTED):
            real = [match for match in self.cues[cue].finditer(clause.text) if not self.unreal.search(clause.text[: match.start()])]
            if not real:
                found.discard(cue)
            elif cue is Cue.ACTED and any(self._related(match, request) for match in real):
                found.add(Cue.DONE)
        if (held := self.cues[Cue.WITHHELD].search(clause.text)) and self._asked_to_hold(held[0], request):
            found = (found - {Cue.WITHHELD}) | {Cue.DONE}
        return frozenset(found)

    def _asks(self, clause: Clause, request: str) -> bool:
        """Whether a question wants an answer before going on. An offer to do what was requested asks leave to do it."""
        if self._says("courtesy", clause):
            return False
        if self._says("open", clause) or not self._says("offer", clause) or self._says("leave", clause):
            return True
        asked = _stems(request)
        return any(word in self.verbs and word[:4] in asked for word in clause.text.split())

    def _says(self, name: str, clause: Clause) -> bool:
        return bool(self.questions[name].search(clause.text))

    def _asked_to_hold(self, held: str, request: str) -> bool:
        said, asked = set(held.split()), set(request.lower().split())
        return any(group & said and group & asked for group in self.holds)

    def _related(self, reported: re.Match[str], request: str) -> bool:
        """Whether the act reported can be the one requested. A request without a known verb may be carried out by any.

        A participle that the request itself uses ("the registered address") describes a thing and reports nothing.
        """
        form = next(filter(None, reported.groups()))
        if form in request.lower().split() and self.verbs.get(form) != form:
            return False
        asked = {self.verbs.get(word, word) for word in re.findall(r"[a-z]+", request.lower())}
        relevant = [group for group in self.groups if group & asked]
        did = self.verbs.get(form)
        return _stem(form) in _stems(request) or (did is not None and (not relevant or any(did in group for group in relevant)))


def _stem(word: str) -> str:
    """Enough of a word to meet its other forms."""
    return word[: max(4, len(word) - 3)]


def _stems(text: str) -> set[str]:
    return {word[:size] for word in re.findall(r"[a-z]+", text.lower()) for size in range(4, len(word) + 1)}


def language(text: str) -> str:
    """The lexicon to read a text with: by script, else by the commonest function words. English where nothing tells."""
    if re.search(r"[\u4e00-\u9fff]", text):
        return "zh"
    if re.search(r"[\u0900-\u097f]", text):
        return "hi"
    words = re.findall(r"\w+", text.lower())
    return max(_FUNCTION_WORDS, key=lambda name: sum(word in _FUNCTION_WORDS[name] for word in words))


@cache
def lexicon(name: str) -> Lexicon:
    """The lexicon of a language."""
    raw = yaml.safe_load((files(__package__) / "cues" / f"{name}.yaml").read_text(encoding="utf-8"))
    inflected = [_inflect(entry) for entry in raw.pop("actions", "").split()]
    groups, holds = (tuple(frozenset(line.split()) for line in raw.pop(key, ())) for key in ("groups", "holds"))
    forms = {
        "act": "|".join(base for base, _, _ in inflected),
        "done": "|".join(sorted({form for _, past, _ in inflected for form in past}, key=len, reverse=True)),
        "doing": "|".join(doing for _, _, doing in inflected),
        "did": _irregular(form for _, past, _ in inflected for form in past),
        "part": _irregular(past[-1] for _, past, _ in inflected),
        "idle": "|".join(raw.pop("idle", "").split()),
        "perception": "|".join(raw.pop("perception", "").split()),
    }
    compiled = {key: _compile(patterns, forms) for key, patterns in raw.items()}
    return Lexicon(
        cues={cue: compiled.get(cue, _NEVER) for cue in Cue},
        questions={key: compiled.get(key, _NEVER) for key in _QUESTION_CUES},
        unreal=compiled.get("unreal", _NEVER),
        verbs={form: base for base, past, doing in inflected for form in (*past, doing, base)},
        groups=groups,
        holds=holds,
    )


def _compile(patterns: list[str], forms: dict[str, str]) -> re.Pattern[str]:
    joined = "|".join(f"(?:{pattern})" for pattern in patterns)
    for name, alternatives in forms.items():
        joined = joined.replace(f"{{{name}}}", alternatives)
    return re.compile(joined)


def _inflect(entry: str) -> tuple[str, tuple[str, ...], str]:
    """Base, past forms and -ing form of `base` or `base/past/participle`."""
    base, *irregular = entry.split("/")
    return base, tuple(irregular) or (_with_ending(base, "ed"),), _with_ending(base, "ing")


def _irregular(forms: Iterable[str]) -> str:
    """Those forms that do not end in -ed, and every word that does."""
    return "|".join(sorted({form for form in forms if not form.endswith("ed")})) + r"|\w{2,}ed"


def _with_ending(base: str, ending: str) -> str:
    if base.endswith("e") and not (ending == "ing" and base.endswith("ee")):
        base = base[:-1]
    elif base.endswith("y") and base[-2] not in "aeiou" and ending == "ed":
        base = base[:-1] + "i"
    elif base in _DOUBLING:
        base += base[-1]
    return base + ending
