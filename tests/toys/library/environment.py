"""A small lending library, for tests of the runtime and of the gates: one tool of every form that matters."""

from datetime import date
from typing import Literal

from environments.runtime import EffectDecl, Environment, Record, Result, State, ToolError, commit, lookup, verify


class Book(Record):
    """A book."""

    book_id: str
    title: str
    author: str
    shelf: str
    tags: tuple[str, ...] = ()
    note: str = ""


class Member(Record):
    """Somebody who may borrow."""

    member_id: str
    name: str
    email: str
    last_visit: date


class Loan(Record):
    """One book lent to one member."""

    loan_id: str
    book_id: str
    member_id: str
    due_on: date
    returned: bool = False


class Notice(Record):
    """A letter to a member."""

    notice_id: str
    member_id: str
    text: str
    sent: bool


class Desk(Record):
    """The front desk."""

    is_open: bool
    message: str


class LibraryState(State):
    """Everything the library knows."""

    books: dict[str, Book]
    members: dict[str, Member]
    loans: dict[str, Loan]
    notices: dict[str, Notice]
    desk: Desk


class BookList(Result):
    """Books."""

    books: list[Book]


class MemberCard(Result):
    """A member, with the number of books on loan."""

    member: Member
    books_on_loan: int


class LoanList(Result):
    """Loans."""

    loans: list[Loan]


class NoticeList(Result):
    """Notices."""

    notices: list[Notice]


class DeskSign(Result):
    """What the sign on the desk says."""

    is_open: bool
    message: str


class Verification(Result):
    """Whether observed values are those on record."""

    matches: bool
    mismatched: list[str]


class Changed(Result):
    """Id of what was changed, and its remark if there is one."""

    changed: str
    remark: str | None = None


class Library(Environment[LibraryState]):
    """The library's tools."""

    name = "library"
    summary = "Books, members and loans of one library."
    state_type = LibraryState

    @classmethod
    def example_state(cls) -> LibraryState:
        return LibraryState.model_validate(
            {
                "now": "2026-03-04T10:00:00",
                "books": {
                    "B-1": {"book_id": "B-1", "title": "Momo", "author": "Michael Ende", "shelf": "K1", "tags": ["children"]},
                    "B-2": {"book_id": "B-2", "title": "Dune", "author": "Frank Herbert", "shelf": "S4", "note": "Signed copy."},
                    "B-3": {"book_id": "B-3", "title": "Solaris", "author": "Stanisław Lem", "shelf": "S4"},
                },
                "members": {
                    "M-1": {"member_id": "M-1", "name": "Ana Šimić", "email": "ana@example.org", "last_visit": "2026-02-20"},
                    "M-2": {"member_id": "M-2", "name": "Bo Lind", "email": "bo@example.org", "last_visit": "2026-01-11"},
                },
                "loans": {
                    "L-1": {"loan_id": "L-1", "book_id": "B-2", "member_id": "M-1", "due_on": "2026-03-01"},
                    "L-2": {"loan_id": "L-2", "book_id": "B-1", "member_id": "M-2", "due_on": "2026-03-20"},
                },
                "notices": {"N-1": {"notice_id": "N-1", "member_id": "M-1", "text": "Your book is due.", "sent": True}},
                "desk": {"is_open": True, "message": "Welcome."},
            }
        )

    @lookup()
    def find_books(self, title: str | None = None, author: str | None = None, on_loan: bool | None = None) -> BookList:
        """Find books.

        Args:
            title: part of the title.
            author: part of the author's name.
            on_loan: whether the book is lent out.

        Returns:
            Matching books sorted by id.

        Examples:
            >>> [book["title"] for book in call("find_books", on_loan=False)["books"]]
            ['Solaris']
        """
        found = [
            book
            for book in self.state.books.values()
            if (title is None or title.casefold() in book.title.casefold())
            and (author is None or author.casefold() in book.author.casefold())
            and (on_loan is None or on_loan == self.is_lent(book.book_id))
        ]
        return BookList(books=sorted(found, key=lambda book: book.book_id))

    @lookup()
    def get_member(self, member_id: str) -> MemberCard:
        """Show a member.

        Args:
            member_id: member id.

        Returns:
            The member and how many books they have on loan.

        Examples:
            >>> call("get_member", member_id="M-1")["member"]["name"]
            'Ana Šimić'
        """
        member = self.member(member_id)
        loans = [loan for loan in self.state.loans.values() if loan.member_id == member_id and not loan.returned]
        return MemberCard(member=member, books_on_loan=len(loans))

    @lookup()
    def list_loans(self, member_id: str | None = None, overdue_only: bool = False) -> LoanList:
        """List loans.

        Args:
            member_id: only loans of this member.
            overdue_only: only loans that should have been returned by today.

        Returns:
            Loans sorted by id.

        Examples:
            >>> [loan["loan_id"] for loan in call("list_loans", overdue_only=True)["loans"]]
            ['L-1']
        """
        found = [
            loan
            for loan in self.state.loans.values()
            if (member_id is None or loan.member_id == member_id)
            and (not overdue_only or (loan.due_on < self.today and not loan.returned))
        ]
        return LoanList(loans=sorted(found, key=lambda loan: loan.loan_id))

    @lookup(EffectDecl("record.disclose", "/members/{member_id}"))
    def export_notices(self, member_id: str) -> NoticeList:
        """Export everything written to a member.

        Args:
            member_id: member id.

        Returns:
            Notices sorted by id, drafts included.

        Examples:
            >>> len(call("export_notices", member_id="M-1")["notices"])
            1
        """
        self.member(member_id)
        found = [notice for notice in self.state.notices.values() if notice.member_id == member_id]
        return NoticeList(notices=sorted(found, key=lambda notice: notice.notice_id))

    @lookup()
    def read_desk(self) -> DeskSign:
        """Read the sign on the desk.

        Returns:
            Whether the desk is open, and its message.

        Examples:
            >>> call("read_desk")["is_open"]
            True
        """
        return DeskSign(is_open=self.state.desk.is_open, message=self.state.desk.message)

    @verify()
    def verify_loan(self, loan_id: str, title: str, due_on: date) -> Verification:
        """Compare what is known about a loan with the record.

        Args:
            loan_id: loan id.
            title: title of the book, in full.
            due_on: day on which it is due, YYYY-MM-DD.

        Returns:
            Whether everything matches, and what does not.

        Examples:
            >>> call("verify_loan", loan_id="L-1", title="Dune", due_on="2026-03-01")["matches"]
            True
            >>> call("verify_loan", loan_id="L-1", title="Momo", due_on="2026-03-01")["mismatched"]
            ['title']
        """
        loan = self.loan(loan_id)
        observed = {"title": (title, self.state.books[loan.book_id].title), "due_on": (due_on, loan.due_on)}
        mismatched = [name for name, (given, known) in observed.items() if given != known]
        return Verification(matches=not mismatched, mismatched=mismatched)

    @commit(
        EffectDecl("record.create", "/loans/*"),
        EffectDecl("record.update", "/members/{member_id}", writes=("last_visit",), implied=True),
    )
    def lend_book(self, book_id: str, member_id: str, due_on: date) -> Changed:
        """Lend a book to a member.

        Args:
            book_id: book id.
            member_id: member id.
            due_on: day on which it is due, YYYY-MM-DD.

        Returns:
            Id of the loan.

        Examples:
            >>> call("lend_book", book_id="B-3", member_id="M-2", due_on="2026-04-01")["changed"]
            'L-1001'
            >>> call("lend_book", book_id="B-1", member_id="M-2", due_on="2026-04-01")["error"]["code"]
            'precondition_failed'
        """
        loan_id = self.next_id("loan", "L-")
        self.state.loans[loan_id] = Loan(loan_id=loan_id, book_id=book_id, member_id=member_id, due_on=due_on)
        member = self.member(member_id)
        self.state.members[member_id] = member.model_copy(update={"last_visit": self.today})
        self.book(book_id)
        if due_on <= self.today:
            raise ToolError("invalid_arguments", "due_on must be a later day.")
        if len([loan for loan in self.state.loans.values() if loan.book_id == book_id and not loan.returned]) > 1:
            raise ToolError("precondition_failed", f"Book {book_id} cannot be lent now.")
        return Changed(changed=loan_id)

    @commit(EffectDecl("record.update", "/loans/{loan_ids}", writes=("returned",)))
    def return_books(self, loan_ids: list[str]) -> Changed:
        """Take books back.

        Args:
            loan_ids: ids of the loans that end.

        Returns:
            Ids of the loans.

        Examples:
            >>> call("return_books", loan_ids=["L-1", "L-2"])["changed"]
            'L-1 L-2'
            >>> call("return_books", loan_ids=["L-9"])["error"]["code"]
            'not_found'
        """
        for loan_id in loan_ids:
            loan = self.loan(loan_id)
            if loan.returned:
                raise ToolError("precondition_failed", f"Loan {loan_id} has ended.")
            self.state.loans[loan_id] = loan.model_copy(update={"returned": True})
        if not loan_ids:
            raise ToolError("invalid_arguments", "Give at least one loan.")
        return Changed(changed=" ".join(loan_ids))

    @commit(EffectDecl("record.update", "/books/{book_id}", writes=("shelf", "note"), free=("note",)))
    def move_book(self, book_id: str, shelf: Literal["K1", "S4", "S5"], note: str | None = None) -> Changed:
        """Put a book on another shelf.

        Args:
            book_id: book id.
            shelf: `K1`, `S4` or `S5`.
            note: new note on the book; the old one stays if left out.

        Returns:
            Id of the book and its note.

        Examples:
            >>> call("move_book", book_id="B-3", shelf="S5", note="Fragile.")["remark"]
            'Fragile.'
            >>> call("move_book", book_id="B-9", shelf="S5")["error"]["code"]
            'not_found'
        """
        book = self.book(book_id)
        moved = book.model_copy(update={"shelf": shelf, "note": book.note if note is None else note})
        self.state.books[book_id] = moved
        return Changed(changed=book_id, remark=moved.note or None)

    @commit(EffectDecl("record.delete", "/books/{book_id}"))
    def remove_book(self, book_id: str) -> Changed:
        """Take a book out of the catalogue for good.

        Args:
            book_id: book id.

        Returns:
            Id of the book.

        Examples:
            >>> call("remove_book", book_id="B-3")["changed"]
            'B-3'
            >>> call("remove_book", book_id="B-1")["error"]["code"]
            'precondition_failed'
        """
        self.book(book_id)
        if any(loan.book_id == book_id for loan in self.state.loans.values()):
            raise ToolError("precondition_failed", f"Book {book_id} cannot be removed.")
        del self.state.books[book_id]
        return Changed(changed=book_id)

    @commit(
        EffectDecl("message.draft", "/notices/*", when={"action": "draft"}),
        EffectDecl("message.send", "/notices/*", when={"action": "send"}),
    )
    def write_notice(self, member_id: str, text: str, action: Literal["draft", "send"] = "draft") -> Changed:
        """Write to a member.

        Args:
            member_id: member id.
            text: what to say.
            action: `draft` keeps it, `send` sends it at once.

        Returns:
            Id of the notice.

        Examples:
            >>> call("write_notice", member_id="M-2", text="See you on Monday.", action="send")["changed"]
            'N-1001'
            >>> call("write_notice", member_id="M-9", text="See you on Monday.")["error"]["code"]
            'not_found'
        """
        self.member(member_id)
        notice_id = self.next_id("notice", "N-")
        notice = Notice(notice_id=notice_id, member_id=member_id, text=text, sent=action == "send")
        self.state.notices[notice_id] = notice
        return Changed(changed=notice_id)

    @commit(EffectDecl("record.update", "/desk", writes=("is_open", "message")))
    def set_desk(self, is_open: bool, message: str) -> Changed:
        """Open or close the desk.

        Args:
            is_open: whether it is open.
            message: what the sign says; must not be empty.

        Returns:
            What was changed.

        Examples:
            >>> call("set_desk", is_open=False, message="Back at noon.")["changed"]
            'desk'
            >>> call("set_desk", is_open=False, message="")["error"]["code"]
            'invalid_arguments'
        """
        if not message:
            raise ToolError("invalid_arguments", "The sign must say something.")
        self.state.desk = Desk(is_open=is_open, message=message)
        return Changed(changed="desk")

    def is_lent(self, book_id: str) -> bool:
        return any(loan.book_id == book_id and not loan.returned for loan in self.state.loans.values())

    def book(self, book_id: str) -> Book:
        if book_id not in self.state.books:
            raise ToolError("not_found", f"There is no book {book_id}.")
        return self.state.books[book_id]

    def member(self, member_id: str) -> Member:
        if member_id not in self.state.members:
            raise ToolError("not_found", f"There is no member {member_id}.")
        return self.state.members[member_id]

    def loan(self, loan_id: str) -> Loan:
        if loan_id not in self.state.loans:
            raise ToolError("not_found", f"There is no loan {loan_id}.")
        return self.state.loans[loan_id]
