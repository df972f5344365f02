"""The filter passes: what is no usable request, and the name of the reason. The first pass that objects decides.

Counted in a funnel, so every pass has one reason. The passes look at the request alone, never at its label or its plan.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

FEWEST_CHARACTERS = 20
FEWEST_WORDS = 4
MOST_CHARACTERS = 1500
LONGEST_KEY = 24

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_URL = re.compile(r"(?:https?://|www\.)\S+")
_PLACEHOLDER = re.compile(
    r"\{\{?[\w .-]*\}?\}|<[a-z][\w -]*>|\[(?:redacted|name|date|city|insert[^\]]*|your [^\]]*|[a-z]+_[a-z_]+)\]|\bx{4,}\b|"
    r"lorem ipsum",
    re.IGNORECASE,
)
_ROLE_PLAY = re.compile(
    r"\b(?:you are playing|role of an? customer|your character\b|pretend (?:to be|you)|"
    r"imagine (?:that )?you(?:'re| are) (?:an? |playing)|"
    r"act as an?\b|you are an? (?:[\w-]+ ){0,3}(?:assistant|bot|expert|model|chatbot|agent)\b|you(?:'re| are) (?:chatgpt|gpt)|"
    r"(?:ignore|disregard|forget) (?:all |the |your |any )?(?:previous|prior|above)|system prompt)",
    re.IGNORECASE,
)
_SOURCE_REMARK = re.compile(
    r"\b(?:the user (?:did not|didn't|has not|provided|is asking|wants|query)|user query|no query|test (?:query|message|prompt)|"
    r"hint: for|(?:function|tool)[- ]call(?:s|ing)?\b|call the (?:function|tool|api)|using the (?:function|tool)\b|json schema|"
    r"output (?:format|only)|respond (?:only )?(?:with|in) json|return (?:only )?(?:a |the )?json)",
    re.IGNORECASE,
)
_CODE = re.compile(
    r"```|=>|\);|\bdef \w+\(|\bfunction\s*\w*\([^)]*\)\s*\{|\bimport \w+ from\b|\bSELECT\s+.+\s+FROM\b|\bconsole\.log\b|"
    r"[\w)]\s*===?\s*[\w(]|\{\s*['\"]\w+['\"]\s*:|</\w+>|\\n.*\\n",
)
_IDENTIFIER = re.compile(r"`[^`]+`|\b[a-z]+(?:[A-Z][a-z0-9]+)+\b")
_KEY_NAME = re.compile(r"\bapi[ _-]?(?:key|token)s?\b|\bbearer\b", re.IGNORECASE)
_LONG_TOKEN = re.compile(rf"\b(?=[\w-]*\d)(?=[\w-]*[A-Za-z])[\w-]{{{LONGEST_KEY},}}\b")
_GREETING = (
    r"(?:hi|hey|hello|yo|good (?:morning|evening|afternoon)|thanks?(?: you)?|ok(?:ay)?|sure|great|bye)\b[\s,.!?]*"
    r"(?:there\b[\s,.!?]*)?"
)
_CHIT_CHAT = re.compile(
    rf"(?:{_GREETING}\w*\W*)+|"
    rf"(?:{_GREETING})?(?:\w+ )?(?:how are you|who are you|what(?:'s| is) your (?:name|favou?rite)|"
    r"are you (?:an? )?(?:ai|human|real|bot)|what can you do|what do you (?:do|think|like)|"
    r"(?:do|can) you (?:speak|remember me|feel)|tell me (?:a |another )?(?:joke|story|poem)|sing (?:me )?a|"
    r"write (?:me )?(?:a|an) (?:poem|story|essay|song|haiku|joke|limerick)|i love you|what is the meaning of life)\b.{0,60}",
    re.IGNORECASE,
)
_FOREIGN = frozenset(
    "el la los las una un de del que por para quiero puedes dime cual hola clima como es en mi le les des est quel quelle je tu "
    "météo bonjour qual você uma em olá o os tempo ich der die das und ist wie mir wetter il che di saya yang yg kak ada dong lagi "
    "nya warna apakah ini satu berapa apa untuk tidak cari tìm cho tôi".split()
)
_ENGLISH = frozenset(
    "the a an to of in for is are and what how me my i you please with on can could do does find get show tell give need want "
    "from at who when where which it this that would like help have has will be add set check all by about as your we us let "
    "make".split()
)


@dataclass(frozen=True)
class FilterPass:
    """One pass: its reason, what it means, and whether a request fails it."""

    reason: str
    meaning: str
    fails: Callable[[str], bool]


def _words(text: str) -> list[str]:
    return _WORD.findall(text)


def _too_short(text: str) -> bool:
    return len(text) < FEWEST_CHARACTERS or len(_words(text)) < FEWEST_WORDS


def _not_english(text: str) -> bool:
    letters = [letter for letter in text if letter.isalpha()]
    foreign = sum(not letter.isascii() for letter in letters)
    words = [word.lower() for word in _words(text)]
    english, other = (sum(word in known for word in words) for known in (_ENGLISH, _FOREIGN))
    return foreign > 0.1 * len(letters) or other > max(1, english)


def _link_only(text: str) -> bool:
    return _URL.search(text) is not None and len(_words(_URL.sub(" ", text))) < FEWEST_WORDS


def _program_text(text: str) -> bool:
    return _CODE.search(text) is not None or len(set(_IDENTIFIER.findall(text))) > 1


def _carries_key(text: str) -> bool:
    return _KEY_NAME.search(text) is not None or _LONG_TOKEN.search(_URL.sub(" ", text)) is not None


FILTERS = (
    FilterPass("empty", "No letter in it.", lambda text: not any(letter.isalpha() for letter in text)),
    FilterPass("too_short", f"Under {FEWEST_CHARACTERS} characters or {FEWEST_WORDS} words.", _too_short),
    FilterPass("too_long", f"Over {MOST_CHARACTERS} characters.", lambda text: len(text) > MOST_CHARACTERS),
    FilterPass("not_english", "Written in another language.", _not_english),
    FilterPass("placeholder", "A template's gap was never filled.", lambda text: _PLACEHOLDER.search(text) is not None),
    FilterPass("link_only", "A link and next to nothing else.", _link_only),
    FilterPass("role_play", "Tells a simulated person or a model who to be.", lambda text: _ROLE_PLAY.search(text) is not None),
    FilterPass("source_remark", "Speaks about the benchmark, not to it.", lambda text: _SOURCE_REMARK.search(text) is not None),
    FilterPass("program_text", "Code, or names of program variables nobody outside the program knows.", _program_text),
    FilterPass("carries_key", "Holds what looks like somebody's key.", _carries_key),
    FilterPass("chit_chat", "Asks for no tool: greetings, jokes.", lambda text: _CHIT_CHAT.fullmatch(text) is not None),
)


def objection(instruction: str) -> str | None:
    """The reason of the first pass a request fails, or None."""
    return next((item.reason for item in FILTERS if item.fails(instruction)), None)
