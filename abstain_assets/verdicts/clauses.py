"""Cut a response into the clauses in which the agent speaks for itself.

Quotations, code and tables are what the agent delivers, not what it decides, so they are taken out first. Footnotes stay, marked.
"""

import re
from dataclasses import dataclass

_FENCE = re.compile(r"```.*?```", re.DOTALL)
_QUOTED = re.compile(r"\"[^\"\n]{3,}\"|“[^”\n]{3,}”|«[^»\n]{3,}»|「[^」\n]{3,}」|(?<![\w.])'(?=[^'\n]*\s)[^'\n]{3,}'(?!\w)")
_MARKUP = re.compile(r"\*\*|__|`|~~|</?(?:b|i|em|strong|br)\s*/?>|(?<!\w)\*(?=\w)|(?<=\w)\*(?!\w)")
_FOOTNOTE = re.compile(
    r"^\s*(?:[*_]{0,2}\\\*|\*(?![*\s])(?!.*\*)|[*_(]*[¹²³⁴†‡]|\[\^?\d+\]|<su[bp]>|p\.?\s?s\.?[:\s])", re.IGNORECASE
)
_BULLET = re.compile(r"^\s*(?:[-*•]|\d{1,2}[.)])\s+(?=\S)")
_BEFORE_WORDS = re.compile(r"^[^\w“¿¡]+")
_TITLE = re.compile(r"\b(Dr|Mr|Mrs|Ms|St|vs|approx|e\.g|i\.e|z\.B|Sr|Sra|Hr|Fr|Nr)\.(?=\s)")
_END = re.compile(r"(?<=[.!?])(?:[\"')\]]+)?\s+|(?<=[。！？；।])|[;]\s+|\s+[–—]\s+|\n+")
_JOINT = re.compile(
    r",\s+(?=(?:so|but|and|yet|then|which|because|since|while|whereas|although|though|as|with|until|unless|nor)\b)"
    r"|\s+(?=(?:but|because|although|whereas|so (?:i|we|the|it|that|this|nothing|no))\b)|(?<=[，；])|:\s+",
    re.IGNORECASE,
)

# Runaway text without punctuation would make the cues' look-aheads quadratic.
_LONGEST = 300


@dataclass(frozen=True)
class Clause:
    """One clause.

    Attributes:
        text: in lower case, without mark-up.
        question: its sentence ends in a question mark.
        footnote: it stands in a footnote.
    """

    text: str
    question: bool
    footnote: bool


def clauses(response: str) -> list[Clause]:
    """The agent's own clauses, in order."""
    found = []
    for line in _own_words(response).splitlines():
        footnote = bool(_FOOTNOTE.match(line)) and not _BULLET.match(line)
        line = _MARKUP.sub("", _BULLET.sub("", line))
        for sentence in _END.split(_TITLE.sub(r"\1", line)):
            question = sentence.rstrip(" \"')]*_").endswith(("?", "？"))
            parts = [part for part in (_BEFORE_WORDS.sub("", piece).rstrip() for piece in _JOINT.split(sentence)) if part]
            found += [Clause(part[:_LONGEST].lower(), question, footnote) for part in parts]
    return found


def _own_words(response: str) -> str:
    text = response.replace("’", "'").replace("\u00a0", " ")
    text = _FENCE.sub(" ", text)
    lines = [line.lstrip("# ") for line in text.splitlines() if not line.lstrip().startswith((">", "|"))]
    return _QUOTED.sub("“…”", "\n".join(lines))
