"""The static check: each ban bites with file, line and reason; what good environments use passes."""

from pathlib import Path

import pytest

from abstain_assets.environments.static_check import Violation, check_folder, check_source
from environments.runtime import registry
from environments.runtime.errors import EnvironmentBug
from tests.toy import LIBRARY

PACKAGE = "environments.library"

BAD = {
    # the host clock
    "import time": "reads the host clock",
    "from time import monotonic": "reads the host clock",
    "from zoneinfo import ZoneInfo": "time zones",
    "from datetime import datetime\nx = datetime.now()": "datetime.now reads the host clock",
    "from datetime import datetime\nx = datetime.utcnow()": "datetime.utcnow reads the host clock",
    "from datetime import date\nx = date.today()": "date.today reads the host clock",
    "import datetime\nx = datetime.datetime.now()": "datetime.datetime.now reads the host clock",
    "import datetime as dt\nx = dt.date.today()": "dt.date.today reads the host clock",
    "from datetime import datetime as D\nx = D.now()": "D.now reads the host clock",
    "from datetime import datetime\nclock = datetime.now": "datetime.now reads the host clock",
    "from datetime import datetime\nD = datetime\nE = D\nclock = E.now": "E.now reads the host clock",
    "def f(self):\n    return self.now()": "self.now() reads the host clock",
    "from datetime import datetime\nx = datetime.fromtimestamp(0)": "host's time zone",
    "def f(moment):\n    return moment.timestamp()": "host's time zone",
    "def f(moment):\n    return moment.astimezone()": "without a time zone",
    # randomness
    "import uuid": "is random",
    "from uuid import uuid4": "is random",
    "import random": "is random",
    "from random import Random": "is random",
    "import secrets": "is random",
    "x = hash('a')": "hash is salted",
    "x = id([])": "id gives a memory address",
    # files, processes, network
    "import io": "reaches files",
    "import os.path": "reaches files",
    "from pathlib import Path": "reaches files",
    "x = open('a')": "open reaches files",
    "def f(open=open):\n    pass": "open reaches files",
    "import subprocess": "reaches processes",
    "import ctypes": "reaches processes",
    "import socket": "reaches the network",
    "import urllib.request": "reaches the network",
    "from http import client": "reaches the network",
    "import requests": "reaches the network",
    "import httpx": "reaches the network",
    "print(1)": "print writes to the stream",
    "x = input()": "input reads from the stream",
    "from posixpath import exists": "from posixpath only",
    "import posixpath": "from posixpath only",
    # code
    "import importlib": "loads or inspects code",
    "import sys": "loads or inspects code",
    "x = eval('1')": "eval runs computed code",
    "exec('1')": "exec runs computed code",
    "x = compile('1', 'f', 'eval')": "compile runs computed code",
    "x = __import__('os')": "__import__ imports",
    "f = __builtins__": "__builtins__ reaches",
    "f = [eval][0]": "eval runs computed code",
    "x = globals()": "globals reaches",
    "def f(x: \"__import__('os').getcwd()\") -> None:\n    pass": "__import__ imports",
    "class A:\n    x: \"open('a')\"": "open reaches files",
    "def f() -> \"list[open('a')]\":\n    pass": "open reaches files",
    "x = ().__class__.__subclasses__()": "reaches into the interpreter",
    "def f():\n    return f.__globals__": "reaches into the interpreter",
    "x = '{0.__class__}'.format(1)": "names what only the interpreter uses",
    "import operator\nf = operator.attrgetter('__globals__')": "names what only the interpreter uses",
    "import enum\nx = enum.sys": "enum.sys reaches a module through another",
    "from enum import sys": "cannot be checked",
    "from math import *": "cannot be checked",
    "from environments.runtime.registry import load": "not on the list",
    "from collections import _sys": "is private to another module",
    "import collections\nx = collections._sys": "is private to another module",
    "from pydantic import ImportString": "from pydantic only",
    "import pydantic": "from pydantic only",
    # getattr tricks
    "x = getattr(1, '__class__')": "getattr of __class__",
    "x = getattr(1, 'eval')": "getattr of eval",
    "x = getattr(1, 'e' + 'val')": "composed name",
    "x = getattr(1, f'{1}')": "composed name",
    "import math\nx = getattr(math, 'sqrt')": "on the imported math",
    # at the same time, beside the state
    "import threading": "runs things at the same time",
    "import asyncio": "runs things at the same time",
    "async def f():\n    pass": "runs things at the same time",
    "_N = 0\ndef f():\n    global _N\n    _N = 1": "keeps state outside the state",
    # other packages
    "import yaml": "not on the list",
    "import dagster": "not on the list",
    "from abstain_assets.records import Pair": "not on the list",
    "from environments.calendar.environment import Calendar": "not on the list",
    "from .families import draw": "not on the list",
    "from environments.library.families.lending import draw": "not on the list",
    "from ..calendar import records": "not on the list",
    "x = (": "is not valid Python",
}

GOOD = '''
"""Docstring that may mention __import__ and open()."""

import json
import re
from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from posixpath import join, normpath
from typing import Literal

from pydantic import Field

from environments.library.records import Book
from environments.runtime import Environment, Record, State, commit
from environments.runtime.errors import ToolError

from . import views
from .views import book_view

Status = Literal["open", "eval", "print"]
NOON = time(12, 0)


class Event(Record):
    id: str
    status: Status = "open"
    now: datetime = Field(description="x")
    label: "str" = ""


class Desk(Environment[State]):
    def __init__(self, state: State) -> None:
        super().__init__(state)

    def tool(self, id: str, hash: str, fields: list[str]) -> list[object]:
        """Check `__init__`."""
        event = self.state.events[id]
        if event.now > self.state.now or self.today < event.now.date():
            raise ToolError("not_found", hash)
        start = datetime.combine(self.today, NOON) + timedelta(days=1)
        return [getattr(event, field) for field in fields] + [start.isoformat(), start.astimezone(self.zone), type(self).__name__]
'''

FAMILY = """
from random import Random

from abstain_assets import records
from abstain_assets.pairs.family import Family
from abstain_assets.taxonomy import Scenario
from environments.calendar.environment import Calendar
from environments.library.environment import Library
from environments.runtime.records import Fault


def draw(rng: Random) -> int:
    return rng.randint(1, 3)
"""


@pytest.mark.parametrize(("code", "reason"), BAD.items(), ids=BAD.keys())
def test_a_ban_bites(code: str, reason: str) -> None:
    found = check_source(f"'''Docstring.'''\n\n{code}\n", "environment.py", PACKAGE)
    assert any(reason in violation.reason for violation in found), found
    assert all(violation.file == "environment.py" for violation in found)


def test_a_violation_says_where() -> None:
    found = check_source("import json\nimport os\n\nx = open('a')\n", "views.py", PACKAGE)
    assert [str(violation) for violation in found] == ["views.py:2: import of os reaches files", "views.py:4: open reaches files"]


def test_good_code_passes() -> None:
    assert check_source(GOOD, "environment.py", PACKAGE) == []


@pytest.mark.parametrize("file", ["families.py", "families_loans.py", "families/loans.py"])
def test_families_may_import_records_of_pairs_and_take_a_generator(file: str) -> None:
    assert check_source(FAMILY, file, PACKAGE) == []
    assert check_source(FAMILY, "environment.py", PACKAGE) != []


@pytest.mark.parametrize(
    ("code", "reason"),
    {
        "import random": "from random only Random",
        "from random import choice": "from random only Random",
        "from random import Random\nx = Random(3)": "generator of its own",
        "from datetime import date\nx = date.today()": "reads the host clock",
        "from abstain_assets.rollouts import runner": "not on the list",
        "from pathlib import Path": "reaches files",
    }.items(),
)
def test_families_are_checked_too(code: str, reason: str) -> None:
    assert any(reason in violation.reason for violation in check_source(code, "families.py", PACKAGE))


def test_relative_imports_stay_in_their_package() -> None:
    assert check_source("from ..records import Book", "views/books.py", PACKAGE) == []
    assert check_source("from ...calendar.records import Event", "views/books.py", PACKAGE) != []


def test_a_folder_is_checked_with_everything_in_it(tmp_path: Path) -> None:
    folder = tmp_path / "library"
    (folder / "families").mkdir(parents=True)
    (folder / "environment.py").write_text("import os\n", encoding="utf-8")
    (folder / "families" / "loans.py").write_text("from random import Random\nimport socket\n", encoding="utf-8")
    assert check_folder(folder) == [
        Violation("environment.py", 1, "import of os reaches files"),
        Violation("families/loans.py", 2, "import of socket reaches the network"),
    ]


def test_a_folder_without_code_is_no_environment(tmp_path: Path) -> None:
    with pytest.raises(EnvironmentBug, match="no Python file"):
        check_folder(tmp_path)


@pytest.mark.parametrize("folder", [LIBRARY, *(registry.ROOT / name for name in registry.names())], ids=lambda path: path.name)
def test_shipped_environments_pass(folder: Path) -> None:
    assert check_folder(folder) == []
