"""Values found in states and results, kept so that values which belong together can be found together."""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache
from typing import Any

from environments.runtime.records import JsonObject

DATE = re.compile(r"\d{4}-\d{2}-\d{2}$")
DATETIME = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})?$")
TIME = re.compile(r"([01]\d|2[0-3]):[0-5]\d$")


@dataclass(frozen=True, eq=False)
class Pools:
    """Values found in documents.

    Attributes:
        rows: one flat object per record, with the fields of the records it lies in and refers to; values that fit together.
        values: distinct scalar values by field name, in order of appearance.
        dates, datetimes, times: everything that looks like one; dates also some days after each document's `now`.
    """

    rows: tuple[JsonObject, ...]
    values: dict[str, tuple[Any, ...]]
    dates: tuple[str, ...]
    datetimes: tuple[str, ...]
    times: tuple[str, ...]


def value_pools(documents: Iterable[Any]) -> Pools:
    """Collect the values of JSON documents: states, results, arguments of calls."""
    collector = _Collector()
    for document in documents:
        collector.visit(document, {}, "")
    return collector.pools()


@cache
def tokens(name: str) -> tuple[str, ...]:
    """The words of a name in the singular: `order_ids` and `order_id` are one."""
    words = []
    for word in name.lower().split("_"):
        if word.endswith("ies"):
            word = word[:-3] + "y"
        elif word.endswith("s") and not word.endswith("ss"):
            word = word[:-1]
        words.append(word)
    return tuple(words)


def key_of(value: Any) -> str:
    """Text by which equal JSON values are found to be equal."""
    return json.dumps(value, sort_keys=True)


class _Collector:
    def __init__(self) -> None:
        self.rows: list[JsonObject] = []
        self.values: dict[str, dict[str, Any]] = {}
        self.dates: dict[str, None] = {}
        self.datetimes: dict[str, None] = {}
        self.times: dict[str, None] = {}
        self.records: dict[tuple[str, Any], JsonObject] = {}

    def visit(self, node: Any, inherited: JsonObject, where: str) -> None:
        """Walk a document. `where` is the key under which the node lies."""
        if isinstance(node, list):
            for item in node:
                self.visit(item, inherited, where)
        elif isinstance(node, dict) and node and all(isinstance(item, dict) for item in node.values()) and where:
            for key, item in node.items():
                self._record(key, item, where)
                self.visit(item, inherited, where)
        elif isinstance(node, dict):
            own = {name: value for name, value in node.items() if _is_plain(value)}
            if "id" in own and where:
                own[f"{'_'.join(tokens(where))}_id"] = own["id"]
            for name, value in own.items():
                self._value(name, value)
            row = {**inherited, **own}
            if own:
                self.rows.append(row)
            for name, value in node.items():
                # Counters are bookkeeping of the environment: no call takes one as an argument.
                if isinstance(value, (dict, list)) and name not in own and name != "counters":
                    self.visit(value, row if where else inherited, name)

    def pools(self) -> Pools:
        rows = {key_of(joined): joined for joined in map(self._joined, self.rows)}
        return Pools(
            rows=tuple(rows.values()),
            values={name: tuple(found.values()) for name, found in self.values.items()},
            dates=tuple(self.dates),
            datetimes=tuple(self.datetimes),
            times=tuple(self.times),
        )

    def _record(self, key: str, record: JsonObject, where: str) -> None:
        for name, value in record.items():
            if value == key:
                own = {field: item for part in (*_parts(record), record) for field, item in part.items() if _is_plain(item)}
                self.records[f"{'_'.join(tokens(where))}_id" if name == "id" else name, key] = own
                return

    def _joined(self, row: JsonObject) -> JsonObject:
        """The row with the fields of the records it refers to; its own fields win."""
        referred: JsonObject = {}
        for name, value in row.items():
            if not isinstance(value, str):
                continue
            for start in range(name.count("_") + 1):
                target = self.records.get(("_".join(name.split("_")[start:]), value))
                if target is not None:
                    referred = {**target, **referred}
                    break
        return {**referred, **row}

    def _value(self, name: str, value: Any) -> None:
        if isinstance(value, list):
            for item in value:
                self._value(name, item)
            return
        if value is None:
            return
        self.values.setdefault(name, {}).setdefault(key_of(value), value)
        if not isinstance(value, str):
            return
        if DATETIME.match(value):
            self.datetimes.setdefault(value)
            self.times.setdefault(value[11:16])
            self.dates.setdefault(value[:10])
            if name == "now":
                today = date.fromisoformat(value[:10])
                self.dates |= dict.fromkeys((today + timedelta(days=days)).isoformat() for days in (1, 7, 30))
        elif DATE.match(value):
            self.dates.setdefault(value)
        elif TIME.match(value):
            self.times.setdefault(value)


def _parts(record: JsonObject) -> list[JsonObject]:
    """Records inside a record, such as its address."""
    return [item for item in record.values() if isinstance(item, dict)]


def _is_plain(value: Any) -> bool:
    """Scalars and lists of scalars."""
    return all(not isinstance(item, (dict, list)) for item in value) if isinstance(value, list) else not isinstance(value, dict)
