"""Reading what benchmarks publish inside wheels, and saying exactly where a file is not what its parser knows."""

import gzip
import json
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from abstain_assets.errors import AbstainError


class SourceError(AbstainError):
    """A source cannot be read. The message names the wheel, the member and the field."""


class Archive:
    """A wheel as a zip archive. Nothing in it is ever imported or run.

    Args:
        path: the wheel.

    Raises:
        SourceError: it is no complete zip archive.
    """

    def __init__(self, path: Path) -> None:
        self.name = path.name
        try:
            self._zip = zipfile.ZipFile(path)
        except (zipfile.BadZipFile, OSError) as error:
            raise SourceError(f"{self.name} is no complete zip archive: {error}") from error

    def has(self, member: str) -> bool:
        """Whether there is such a member."""
        return member in self._zip.NameToInfo

    def text(self, member: str) -> str:
        """A member's text; one that ends in `.gz` is unpacked.

        Raises:
            SourceError: it is missing, damaged or not UTF-8.
        """
        try:
            content = self._zip.read(member)
            return (gzip.decompress(content) if member.endswith(".gz") else content).decode("utf-8")
        except KeyError as error:
            raise SourceError(f"{self.name}: {member} is missing") from error
        except (zipfile.BadZipFile, zlib.error, OSError, EOFError, RuntimeError, UnicodeDecodeError) as error:
            raise SourceError(f"{self.name}: {member} cannot be read: {error}") from error

    def json(self, member: str) -> "Node":
        """A member that is one JSON document.

        Raises:
            SourceError: it is missing or is none.
        """
        return self._parsed(self.text(member), member, "")

    def json_lines(self, member: str) -> "Iterator[Node]":
        """A member with one JSON document per line.

        Raises:
            SourceError: it is missing, or a line is none.
        """
        for number, line in enumerate(self.text(member).splitlines(), 1):
            if line.strip():
                yield self._parsed(line, member, f"line {number}")

    def _parsed(self, text: str, member: str, field: str) -> "Node":
        try:
            return Node(json.loads(text), f"{self.name}: {member}", field)
        except ValueError as error:
            raise SourceError(f"{self.name}: {member}{f', {field}' if field else ''} is no JSON: {error}") from error


@dataclass(frozen=True)
class Node:
    """A JSON value that knows where it stands.

    Attributes:
        value: the value.
        file: the wheel and the member.
        field: the way from the top of the member to here.
    """

    value: Any
    file: str
    field: str

    def __getitem__(self, key: str) -> "Node":
        """The value of a key.

        Raises:
            SourceError: this is no object, or has no such key.
        """
        if not isinstance(self.value, dict):
            raise self._expected("an object")
        if key not in self.value:
            raise self._step(key)._expected("a value")
        return self._step(key)

    def get(self, key: str) -> "Node | None":
        """The value of a key, if there is one that is not null.

        Raises:
            SourceError: this is no object.
        """
        if not isinstance(self.value, dict):
            raise self._expected("an object")
        return None if self.value.get(key) is None else self._step(key)

    def keys(self) -> tuple[str, ...]:
        """The keys in their order.

        Raises:
            SourceError: this is no object.
        """
        if not isinstance(self.value, dict):
            raise self._expected("an object")
        return tuple(self.value)

    def items(self) -> "tuple[Node, ...]":
        """The values of a list.

        Raises:
            SourceError: this is none.
        """
        if not isinstance(self.value, list):
            raise self._expected("a list")
        return tuple(Node(item, self.file, f"{self.field}[{index}]") for index, item in enumerate(self.value))

    def text(self) -> str:
        """The value as text.

        Raises:
            SourceError: it is none.
        """
        if not isinstance(self.value, str):
            raise self._expected("text")
        return self.value

    def name(self) -> str:
        """Text, or a whole number as text: some sources number their tasks.

        Raises:
            SourceError: it is neither.
        """
        if isinstance(self.value, int) and not isinstance(self.value, bool):
            return str(self.value)
        return self.text()

    def is_text(self) -> bool:
        """Whether it is text."""
        return isinstance(self.value, str)

    def _step(self, key: str) -> "Node":
        return Node(self.value.get(key), self.file, f"{self.field}.{key}" if self.field else key)

    def _expected(self, what: str) -> SourceError:
        found = "nothing" if self.value is None else type(self.value).__name__
        return SourceError(f"{self.file}, field {self.field or 'top'}: expected {what}, found {found}")


def tidy(text: str) -> str:
    """Text with single spaces and without quotes around the whole of it."""
    text = " ".join(text.split())
    while len(text) > 1 and text[0] == text[-1] == '"' and '"' not in text[1:-1]:
        text = text[1:-1].strip()
    return text
