"""A written page as tests ask about it: its text, the rows of its tables, its links, ids and tags."""

from collections import Counter
from html.parser import HTMLParser
from pathlib import Path

_VOID = {"meta", "link", "br", "img", "hr"}


class Page(HTMLParser):
    """One page, read as strictly as it was written: every element must be closed in its turn.

    Attributes:
        rows: cells of every table row, with single spaces.
        links: what `href` and `src` attributes say.
        attributes: names of all attributes.
    """

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path
        self.text = ""
        self.rows: list[list[str]] = []
        self.links: list[str] = []
        self.ids: list[str] = []
        self.tags: Counter[str] = Counter()
        self.attributes: set[str] = set()
        self._open: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))
        assert not self._open, f"{path}: <{self._open[-1]}> is never closed"
        self.rows = [[" ".join(cell.split()) for cell in row] for row in self.rows]

    def row(self, name: str, cells: int) -> list[str]:
        """The first row of so many cells that is named `name` in one of its first two."""
        return next(row for row in self.rows if len(row) == cells and name in row[:2])

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._start(tag, attrs)
        if tag not in _VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._start(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        assert self._open and self._open.pop() == tag, f"{self.path}: </{tag}> at {self.getpos()} closes nothing"

    def handle_data(self, data: str) -> None:
        self.text += data
        if self.rows and self.rows[-1] and {"td", "th"} & set(self._open):
            self.rows[-1][-1] += data

    def _start(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        for name, value in attrs:
            self.attributes.add(name)
            if name in ("href", "src"):
                self.links.append(value or "")
            if name == "id":
                self.ids.append(value or "")
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")
        elif self.rows and self.rows[-1]:
            self.rows[-1][-1] += " "
