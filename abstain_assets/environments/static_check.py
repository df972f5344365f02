"""A static check of an environment's source: what would make it depend on the host is refused before any of it runs.

It is a net for honest mistakes and plain tricks, and gives file, line and reason. The wall against hostile code is the sandbox
process, not this check.
"""

import ast
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from environments.runtime.errors import EnvironmentBug

Names = frozenset[str] | None


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Pure parts of the standard library and of pydantic. `None` allows the whole module, a set only these names of it.
_MODULES: dict[str, Names] = {
    **dict.fromkeys(_names("__future__ abc bisect calendar collections collections.abc copy dataclasses datetime decimal difflib")),
    **dict.fromkeys(_names("enum fnmatch fractions functools hashlib heapq itertools json math operator re statistics string")),
    **dict.fromkeys(_names("textwrap typing unicodedata")),
    "posixpath": _names("basename commonpath dirname isabs join normpath split splitext"),
    "pydantic": _names(
        "AfterValidator BaseModel BeforeValidator ConfigDict Field JsonValue NonNegativeInt PositiveInt StringConstraints "
        "TypeAdapter ValidationError computed_field field_serializer field_validator model_serializer model_validator"
    ),
    **dict.fromkeys(f"environments.runtime{part}" for part in ("", ".contract", ".effects", ".errors", ".records", ".vocabulary")),
}
_FAMILY_MODULES: dict[str, Names] = {"random": _names("Random")}
_FAMILY_PACKAGES = ("abstain_assets.pairs", "abstain_assets.records", "abstain_assets.taxonomy", "environments")

_WHY_NOT = {
    "reads the host clock or time zones": "time sched zoneinfo",
    "is random: ids come from self.next_id": "random secrets uuid numpy",
    "reaches files": "io os pathlib shutil tempfile glob sqlite3 pickle shelve mmap fileinput",
    "reaches the network": "socket ssl urllib http requests httpx aiohttp ftplib smtplib mcp",
    "reaches processes": "subprocess multiprocessing signal pty resource ctypes platform getpass",
    "loads or inspects code": "importlib builtins runpy pkgutil inspect sys gc types code marshal",
    "runs things at the same time": "threading asyncio concurrent queue anyio trio _thread contextvars",
}
_BANNED_MODULES = {module: reason for reason, modules in _WHY_NOT.items() for module in modules.split()}

_BANNED_NAMES = {
    "open": "reaches files",
    "print": "writes to the stream that carries the protocol",
    "input": "reads from the stream that carries the protocol",
    "eval": "runs computed code",
    "exec": "runs computed code",
    "compile": "runs computed code",
    "__import__": "imports by a computed name",
    "__builtins__": "reaches built-in functions by name",
    "__loader__": "loads code",
    "__spec__": "loads code",
    "globals": "reaches module variables by name",
    "locals": "reaches variables by name",
    "vars": "reaches attributes by name",
    "breakpoint": "stops for a debugger",
    "exit": "ends the process",
    "quit": "ends the process",
    "id": "gives a memory address, which differs between processes",
    "hash": "is salted, so it differs between processes",
    "memoryview": "reaches memory",
}
# Harmless words that parameters and fields may be called; then the name is no longer the built-in function.
_MAY_BE_REBOUND = {"id", "hash", "input", "exit", "quit"}
_CLOCK = {"now", "today", "utcnow"}
_HOST_TIME = {
    "fromtimestamp": "uses the host's time zone",
    "utcfromtimestamp": "hides which time zone is meant",
    "timestamp": "uses the host's time zone",
}
_PLAIN_DUNDERS = {"__init__", "__name__", "__doc__", "__post_init__", "__init_subclass__", "__members__"}
_DUNDER_TEXT = re.compile(r"__[a-z]+__")
_GETTERS = {"getattr", "setattr", "delattr", "hasattr"}


@dataclass(frozen=True)
class Violation:
    """One thing an environment's source must not do."""

    file: str
    line: int
    reason: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.reason}"


def check_folder(folder: Path) -> list[Violation]:
    """Check every Python file of one environment's folder.

    Raises:
        EnvironmentBug: the folder holds no Python file at all.
    """
    files = sorted(folder.rglob("*.py"))
    if not files:
        raise EnvironmentBug(f"there is no Python file in {folder.name}")
    found = []
    for path in files:
        name = path.relative_to(folder).as_posix()
        found += check_source(path.read_text(encoding="utf-8"), name, f"environments.{folder.name}")
    return found


def check_source(text: str, file: str, package: str) -> list[Violation]:
    """Check one source text.

    Args:
        file: path inside the environment's folder; `families*` may import more.
        package: the environment's own package, which it may import from.
    """
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError) as error:
        return [Violation(file, getattr(error, "lineno", None) or 1, f"is not valid Python: {error}")]
    checker = _Checker(tree, file, package)
    return [Violation(file, line, reason) for line, reason in sorted(set(checker.violations()))]


class _Checker:
    def __init__(self, tree: ast.Module, file: str, package: str) -> None:
        self.tree = tree
        self.package = package
        self.subpackage = ".".join((package, *Path(file).parent.parts))
        self.families = file.startswith("families")
        self.imported = {name for node in ast.walk(tree) for name in _bound_by_import(node)}
        self.rebound = _rebound_names(tree)
        self.clocks = _clock_names(tree)
        self.docstrings = _docstrings(tree)

    def violations(self) -> Iterator[tuple[int, str]]:
        for node in ast.walk(self.tree):
            line = getattr(node, "lineno", 1)
            for reason in self._reasons(node):
                yield line, reason
            # Annotations in quotes are run when the type hints are read.
            for expression in _quoted_annotations(node):
                for inner in ast.walk(expression):
                    for reason in self._reasons(inner):
                        yield line, reason

    def _reasons(self, node: ast.AST) -> Iterator[str]:
        match node:
            case ast.Import():
                for alias in node.names:
                    yield from self._import(alias.name, None)
            case ast.ImportFrom():
                module = self._absolute(node)
                for alias in node.names:
                    yield from self._import(module, alias.name)
            case ast.Name(ctx=ast.Load()):
                if node.id in _BANNED_NAMES and node.id not in self.rebound:
                    yield f"{node.id} {_BANNED_NAMES[node.id]}"
            case ast.Attribute():
                yield from self._attribute(node)
            case ast.Call():
                yield from self._call(node)
            case ast.Constant(value=str(text)):
                if _DUNDER_TEXT.search(text) and node not in self.docstrings:
                    yield f"{text!r} names what only the interpreter uses"
            case ast.AsyncFunctionDef() | ast.AsyncFor() | ast.AsyncWith() | ast.Await():
                yield "async code runs things at the same time"
            case ast.Global():
                yield f"global {', '.join(node.names)} keeps state outside the state"

    def _absolute(self, node: ast.ImportFrom) -> str:
        if not node.level:
            return node.module or ""
        parts = self.subpackage.split(".")
        return ".".join([*parts[: len(parts) - node.level + 1], *(node.module.split(".") if node.module else ())])

    def _import(self, module: str, name: str | None) -> Iterator[str]:
        if name is not None and (module, name) != ("datetime", "time") and (name in _BANNED_MODULES or name == "*"):
            yield f"from {module} import {name} brings in what cannot be checked"
            return
        full = f"{module}.{name}" if name else module
        if self._is_own(module, full):
            return
        allowed = _MODULES | _FAMILY_MODULES if self.families else _MODULES
        if full in allowed and allowed[full] is None:
            return
        if module not in allowed:
            reason = _BANNED_MODULES.get(module.split(".")[0], "is not on the list of modules an environment may use")
            yield f"import of {full} {reason}"
            return
        names = allowed[module]
        if names is not None and name not in names:
            yield f"from {module} only {', '.join(sorted(names))} may be imported"
        elif name is not None and name.startswith("_"):
            yield f"{full} is private to another module"

    def _is_own(self, module: str, full: str) -> bool:
        """The environment's own package and, for families, the records of pairs and other environments."""
        if self.families:
            return any(_inside(module, package) or _inside(full, package) for package in _FAMILY_PACKAGES)
        # What a sandbox runs must not pull in families, which import the orchestrator's records.
        return _inside(module, self.package) and not full.removeprefix(self.package).startswith(".families")

    def _attribute(self, node: ast.Attribute) -> Iterator[str]:
        name, text = node.attr, ast.unparse(node)
        on_import = isinstance(node.value, ast.Name) and node.value.id in self.imported
        if name in _CLOCK and _terminal(node.value) in self.clocks:
            yield f"{text} reads the host clock: use self.state.now or self.today"
        elif name.startswith("__") and name.endswith("__") and name not in _PLAIN_DUNDERS:
            yield f"{text} reaches into the interpreter"
        elif on_import and name in _BANNED_MODULES and text != "datetime.time":
            yield f"{text} reaches a module through another"
        elif on_import and name.startswith("_") and name not in _PLAIN_DUNDERS:
            yield f"{text} is private to another module"

    def _call(self, node: ast.Call) -> Iterator[str]:
        function = node.func
        if isinstance(function, ast.Attribute):
            text = ast.unparse(function)
            if function.attr in _HOST_TIME:
                yield f"{text}() {_HOST_TIME[function.attr]}"
            elif function.attr in _CLOCK and _terminal(function.value) not in self.clocks:
                yield f"{text}() reads the host clock: self.state.now and self.today are values, not calls"
            elif function.attr == "astimezone" and not node.args and not node.keywords:
                yield f"{text}() without a time zone uses the host's"
        elif isinstance(function, ast.Name):
            if function.id in _GETTERS:
                yield from self._getter(node, function.id)
            elif function.id == "Random":
                yield "Random(...) makes a generator of its own: use the one that is passed in"

    def _getter(self, node: ast.Call, getter: str) -> Iterator[str]:
        if len(node.args) < 2:
            return
        target, name = node.args[0], node.args[1]
        if isinstance(name, ast.Constant):
            if isinstance(name.value, str) and (name.value.startswith("_") or name.value in _BANNED_MODULES | _BANNED_NAMES):
                yield f"{getter} of {name.value} reaches what may not be used"
        elif not isinstance(name, (ast.Name, ast.Attribute, ast.Subscript)):
            yield f"{getter} with a composed name hides what is used"
        if isinstance(target, ast.Name) and target.id in self.imported:
            yield f"{getter} on the imported {target.id} hides what is used"


def _rebound_names(tree: ast.Module) -> set[str]:
    stored = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    parameters = {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    return (stored | parameters) & _MAY_BE_REBOUND


def _clock_names(tree: ast.Module) -> set[str]:
    """Names that stand for the datetime module or its classes, followed through imports and plain assignments."""
    names = {"datetime", "date"}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.asname or alias.name for alias in node.names if alias.name == "datetime"}
        elif isinstance(node, ast.ImportFrom) and node.module == "datetime":
            names |= {alias.asname or alias.name for alias in node.names if alias.name in names}
    while True:
        more = {
            target.id
            for node in ast.walk(tree)
            if isinstance(node, ast.Assign) and _terminal(node.value) in names
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        if more <= names:
            return names
        names |= more


def _docstrings(tree: ast.Module) -> set[ast.expr]:
    """Strings that stand alone as statements: nothing can use them."""
    return {node.value for node in ast.walk(tree) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)}


def _quoted_annotations(node: ast.AST) -> Iterator[ast.Expression]:
    match node:
        case ast.AnnAssign() | ast.arg():
            annotation = node.annotation
        case ast.FunctionDef():
            annotation = node.returns
        case _:
            return
    for part in _outside_literals(annotation) if annotation is not None else ():
        if isinstance(part, ast.Constant) and isinstance(part.value, str):
            # What is no expression cannot be run either.
            with suppress(SyntaxError):
                yield ast.parse(part.value, mode="eval")


def _outside_literals(node: ast.AST) -> Iterator[ast.AST]:
    """Parts of an annotation, without what lies in `Literal[...]`: those strings are values."""
    yield node
    if not (isinstance(node, ast.Subscript) and _terminal(node.value) == "Literal"):
        for child in ast.iter_child_nodes(node):
            yield from _outside_literals(child)


def _bound_by_import(node: ast.AST) -> set[str]:
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return {(alias.asname or alias.name).split(".")[0] for alias in node.names}
    return set()


def _inside(module: str, package: str) -> bool:
    return module == package or module.startswith(f"{package}.")


def _terminal(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
