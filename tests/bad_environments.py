"""Ways to spoil the library, each with the gate that must notice and what it must say."""

from dataclasses import dataclass

Edit = tuple[str, str]


@dataclass(frozen=True)
class Bad:
    """A spoiled library: `edits` are replacements in its source."""

    name: str
    gate: str
    says: str
    edits: tuple[Edit, ...]


def bad(name: str, gate: str, says: str, *edits: Edit) -> Bad:
    return Bad(name, gate, says, edits)


def before(anchor: str, added: str) -> Edit:
    """Put lines in front of an anchor, in the same function."""
    return anchor, f"{added}\n{anchor}"


LATER_DAY = "if due_on <= self.today:"
EXPORT = "found = [notice for notice in self.state.notices.values() if notice.member_id == member_id]"
REMOVE = "        del self.state.books[book_id]\n"
CHECK_BOOK = "        self.book(book_id)\n        if any("
FOUND_BOOKS = "        return BookList(books=sorted(found, key=lambda book: book.book_id))"
SIGN = "        return DeskSign(is_open=self.state.desk.is_open, message=self.state.desk.message)"
NEW_DESK = "        self.state.desk = Desk("
MOVING = "        book = self.book(book_id)\n"

CONFIG_IMPORT = ("from datetime import date\n", "from datetime import date\n\nfrom pydantic import ConfigDict\n")
ANY_IMPORT = ("from typing import Literal", "from typing import Any, Literal")
MUTABLE_TAGS = ("    tags: tuple[str, ...] = ()", "    tags: list[str] = []")
MODULE_LIST = ("class Book(Record):", "_SEEN: list[int] = []\n\n\nclass Book(Record):")
NEXT_YEAR = "        self.state.now = self.state.now.replace(year=2027)"
WORDS = '        words = {"open", "from", "nine", "to", "five", "on", "all", "days", "but", "Sunday"}\n'

BAD = (
    bad("host clock", "static_check", "date.today reads the host clock", (LATER_DAY, "if due_on <= date.today():")),
    bad(
        "network",
        "static_check",
        "reaches the network",
        ("from datetime import date\n", "import socket\nfrom datetime import date\n"),
    ),
    # --- what it declares
    bad("syntax error", "import", "SyntaxError", (LATER_DAY, "if due_on <= :")),
    bad(
        "commit without effects",
        "import",
        "without declared effects",
        ('@commit(EffectDecl("record.delete", "/books/{book_id}"))', "@commit()"),
    ),
    bad("example state of the wrong type", "import", "ValidationError", ('"is_open": True', '"is_open": "perhaps"')),
    bad("mutable field", "state_types", "Book.tags: list[str] is mutable", MUTABLE_TAGS),
    bad(
        "record that can be written to",
        "state_types",
        "Desk must be frozen",
        ('    """The front desk."""\n', '    """The front desk."""\n\n    model_config = ConfigDict(frozen=False)\n'),
        CONFIG_IMPORT,
    ),
    bad(
        "state that is no map of records",
        "state_types",
        "LibraryState.log: list[str] is neither",
        ("    desk: Desk\n", "    desk: Desk\n    log: list[str] = []\n"),
    ),
    bad("record under another key", "state_types", "notices: no field", ('"N-1": {', '"N-7": {')),
    bad(
        "unknown keys accepted",
        "round_trip",
        "/no_such_field: an unknown key is accepted",
        ('"""Everything the library knows."""\n', '"""Everything."""\n\n    model_config = ConfigDict(extra="ignore")\n'),
        CONFIG_IMPORT,
    ),
    bad(
        "untyped field",
        "round_trip",
        "/desk/message: a value of the wrong type is accepted",
        ('desk."""\n\n    is_open: bool\n    message: str', 'desk."""\n\n    is_open: bool\n    message: Any'),
        ANY_IMPORT,
    ),
    bad(
        "example state that changes",
        "round_trip",
        "another state the second time",
        ('"message": "Welcome."', '"message": f"Visitor {len(_SEEN)}."'),
        before("        return LibraryState.model_validate(", "        _SEEN.append(1)"),
        MODULE_LIST,
    ),
    bad("endless description", "portable_schemas", "at most 1024", ('"""Find books.\n', f'"""Find books {"and more " * 120}.\n')),
    bad(
        "name that is not portable",
        "portable_schemas",
        "$.Overdue is not a portable name",
        ("overdue_only: bool = False", "Overdue: bool = False"),
        ("overdue_only: only", "Overdue: only"),
        ("not overdue_only", "not Overdue"),
    ),
    bad("no verify tool", "tool_list", "no verify tool", ("@verify()", "@lookup()")),
    bad(
        "effect on nothing",
        "effects",
        "names no records of the state",
        ('"record.create", "/loans/*"', '"record.create", "/lendings/*"'),
    ),
    bad(
        "effect on an unknown field",
        "effects",
        "came_back, which Loan does not have",
        ('writes=("returned",)', 'writes=("returned", "came_back")'),
    ),
    bad(
        "effect that cannot happen",
        "effects",
        "which is never the case",
        ('sent=action == "send"', "sent=True"),
        ('when={"action": "send"}', 'when={"action": "shout"}'),
    ),
    bad(
        "effect that never happens",
        "effects",
        "return_books: effect record.delete on /books/* never happened",
        (
            'EffectDecl("record.update", "/loans/{loan_ids}", writes=("returned",))',
            'EffectDecl("record.update", "/loans/{loan_ids}", writes=("returned",)), EffectDecl("record.delete", "/books/*")',
        ),
    ),
    bad(
        "field declared and never written",
        "effects",
        "never wrote due_on",
        ('writes=("returned",)', 'writes=("returned", "due_on")'),
    ),
    # --- docstrings and the wire
    bad(
        "example that is not true",
        "examples",
        "gave ['Solaris'], not ['Momo']",
        ("            ['Solaris']", "            ['Momo']"),
    ),
    bad("example that raises", "examples", "raised KeyError", ('["member"]["name"]', '["member"]["nickname"]')),
    bad(
        "commit without a refused example",
        "examples",
        "remove_book: no example of a refused call",
        ('            >>> call("remove_book", book_id="B-1")["error"]["code"]\n            \'precondition_failed\'\n', ""),
    ),
    bad(
        "example that finds nothing", "examples", "export_notices: no example finds anything", (EXPORT, "found: list[Notice] = []")
    ),
    bad(
        "result that breaks its schema",
        "end_to_end",
        "remove_book was never called with success",
        ("        return Changed(changed=book_id)\n", "        return Changed.model_construct(changed=[book_id])\n"),
    ),
    bad(
        "answer that counts its readers",
        "end_to_end",
        "read_desk() answers otherwise through MCP",
        (SIGN, "        _SEEN.append(1)\n" + SIGN.replace("self.state.desk.message", "str(len(_SEEN))")),
        MODULE_LIST,
    ),
    # --- conduct
    bad("lookup that writes", "purity", "read_desk is a lookup tool but changed the state", before(SIGN, NEXT_YEAR)),
    bad(
        "lookup that writes inside a record",
        "purity",
        "find_books() changed the state",
        before(FOUND_BOOKS, '        for book in found:\n            book.tags.append("seen")'),
        MUTABLE_TAGS,
    ),
    bad(
        "lookup that remembers",
        "purity",
        "find_books keeps ['last'] beside the state",
        before(FOUND_BOOKS, "        self.last = found"),
    ),
    bad("KeyError instead of a refusal", "atomicity", "remove_book raised KeyError", (CHECK_BOOK, "        if any(")),
    bad(
        "undeclared change",
        "atomicity",
        "(note) without declaring it",
        ('writes=("shelf", "note"), free=("note",)', 'writes=("shelf",)'),
    ),
    bad("commit that moves the clock", "atomicity", "does not give the state after it: /now", before(NEW_DESK, NEXT_YEAR)),
    bad(
        "commit that writes the wrong type",
        "atomicity",
        "lend_book raised PydanticSerializationError",
        ("due_on=due_on)\n", 'due_on=due_on).model_copy(update={"returned": "maybe"})\n'),
    ),
    bad(
        "refused call that leaves a change",
        "atomicity",
        "was refused and changed the state",
        (MOVING, f'{MOVING}        book.tags.append("moved")\n        self.member("M-9")\n'),
        MUTABLE_TAGS,
    ),
    bad(
        "order of a set",
        "determinism",
        "differs in another process",
        (SIGN, WORDS + SIGN.replace("self.state.desk.message", '" ".join(words)')),
    ),
    bad(
        "state in the module",
        "determinism",
        "differs the second time in one process",
        (SIGN, "        _SEEN.append(1)\n" + SIGN.replace("self.state.desk.message", "str(len(_SEEN))")),
        MODULE_LIST,
    ),
    # --- meaning
    bad("draft that cannot be read", "read_after_write", "what write_notice", (EXPORT, EXPORT.replace("]", " and notice.sent]"))),
    bad("commit that does nothing", "read_after_write", "remove_book: no call was found that changes anything", (REMOVE, "")),
    bad(
        "ignored filter",
        "filters",
        "list_loans: overdue_only is ignored",
        ("(not overdue_only or (loan.due_on < self.today and not loan.returned))", "(overdue_only is not None)"),
    ),
    bad(
        "ignored filter that is echoed",
        "filters",
        "find_books: title is ignored",
        ("(title is None or title.casefold() in book.title.casefold())", "(title is None or bool(title))"),
        (FOUND_BOOKS, FOUND_BOOKS.removesuffix(")") + ", title=title)"),
        ("    books: list[Book]\n", "    books: list[Book]\n    title: str | None = None\n"),
    ),
    bad("lookup that finds nothing", "filters", "export_notices", (EXPORT, "found: list[Notice] = []")),
    bad(
        "lost value",
        "stored_arguments",
        "lend_book: due_on is lost",
        ("member_id=member_id, due_on=due_on)", "member_id=member_id, due_on=date(2026, 4, 1))"),
    ),
    bad(
        "change to every record",
        "stored_arguments",
        "move_book: book_id is lost",
        (
            "        self.state.books[book_id] = moved\n",
            "        for key, item in self.state.books.items():\n"
            '            self.state.books[key] = item.model_copy(update={"shelf": shelf})\n',
        ),
        ('"/books/{book_id}", writes=("shelf"', '"/books/*", writes=("shelf"'),
    ),
    bad("verify that always says yes", "verify_verifies", "never false", ("matches=not mismatched", "matches=True")),
    bad("verify that never says yes", "verify_verifies", "never true", ("matches=not mismatched", "matches=False")),
    bad(
        "verify that ignores a value",
        "verify_verifies",
        "title never turned the answer",
        ('{"title": (title, self.state.books[loan.book_id].title), ', "{"),
    ),
    bad(
        "verify without an answer",
        "verify_verifies",
        "no single boolean field",
        ("    matches: bool\n", "    matches: str\n"),
        ("matches=not mismatched", 'matches="no" if mismatched else "yes"'),
    ),
    bad(
        "commit on what does not exist",
        "refusals",
        "remove_book(book_id='no-such-record') succeeds",
        (CHECK_BOOK, "        if any("),
        (REMOVE, "        self.state.books.pop(book_id, None)\n"),
    ),
    bad(
        "error that leaks",
        "refusals",
        "leaks ana@example.org",
        ('f"Book {book_id} cannot be lent now."', 'f"It is lent, ask {list(self.state.members.values())[0].email}."'),
    ),
    bad(
        "error code that is prose",
        "refusals",
        "is not snake_case",
        ('"not_found", f"There is no loan', '"Not found!", f"There is no loan'),
    ),
)
