"""The tools of a customer's bank."""

from datetime import date, timedelta
from typing import Literal

from environments.consumer_banking import ledger
from environments.consumer_banking.example import example
from environments.consumer_banking.records import (
    Account,
    AccountAnswer,
    AccountList,
    BankingState,
    CardAnswer,
    CardList,
    Compared,
    Dispute,
    DisputeAnswer,
    DisputeReason,
    Entry,
    EntryAnswer,
    EntryKind,
    EntryList,
    PaperKind,
    PaperList,
    Payee,
    PayeeAnswer,
    PayeeList,
    Rhythm,
    ScheduledAnswer,
    ScheduledList,
    ScheduledPayment,
    StatementAnswer,
)
from environments.runtime import EffectDecl, Environment, ToolError, commit, lookup, verify

DISPUTE_DAYS = 120


class ConsumerBanking(Environment[BankingState]):
    """One customer's bank."""

    name = "consumer_banking"
    summary = (
        "One customer's bank: accounts and ledgers, payees, cards, scheduled payments, statements, kept receipts and invoices."
    )
    state_type = BankingState

    @classmethod
    def example_state(cls) -> BankingState:
        """The bank of one household."""
        return example()

    # --- lookups ---------------------------------------------------------------------------------------------------------

    @lookup()
    def list_accounts(self) -> AccountList:
        """List the customer's accounts.

        Returns:
            The customer's name and all accounts with id, name, kind, IBAN and status, sorted by id.

        Examples:
            >>> [row["name"] for row in call("list_accounts")["accounts"] if row["status"] == "open"]
            ['Everyday', 'Rainy Day', 'House Share']
        """
        rows = [ledger.account_row(item) for _, item in sorted(self.state.accounts.items())]
        return AccountList(customer=self.state.profile.name, accounts=rows)

    @lookup()
    def get_account(self, account_id: str) -> AccountAnswer:
        """Show one account with its balance.

        Args:
            account_id: id of the account, for example `A-100`.

        Returns:
            The account with balance, overdraft, what is available (balance plus overdraft), what may still be transferred
            today, and the note on it. Money is in cents.

        Examples:
            >>> account = call("get_account", account_id="A-100")["account"]
            >>> account["balance_cents"], account["available_cents"], account["transferable_today_cents"]
            (353885, 403885, 250000)
            >>> call("get_account", account_id="A-999")["error"]["code"]
            'not_found'
        """
        item = ledger.account(self.state, account_id)
        return AccountAnswer(account=ledger.account_details(self.state, item, self.today))

    @lookup()
    def list_transactions(
        self,
        account_id: str | None = None,
        from_date: date | None = None,
        to_date: date | None = None,
        counterparty: str | None = None,
        kind: EntryKind | None = None,
        direction: Literal["in", "out"] | None = None,
        min_cents: int | None = None,
        card_last4: str | None = None,
    ) -> EntryList:
        """List ledger entries. Only entries that meet every given condition are returned.

        Args:
            account_id: an account; all accounts if left out.
            from_date: first booking day, YYYY-MM-DD.
            to_date: last booking day, YYYY-MM-DD.
            counterparty: part of the other side's name, in any case.
            kind: `transfer`, `card`, `direct_debit`, `salary`, `interest` or `fee`.
            direction: `in` for money received, `out` for money spent.
            min_cents: least amount, in cents.
            card_last4: last four digits of the card used.

        Returns:
            Matching entries with amounts in cents and any dispute about them, sorted by id, and the sums in and out.

        Examples:
            >>> found = call("list_transactions", counterparty="żuraw", from_date="2025-04-01", to_date="2025-04-30")
            >>> [entry["entry_id"] for entry in found["entries"]], found["total_out_cents"]
            (['E-503'], 8465)
            >>> call("list_transactions", account_id="A-300", direction="in")["entries"]
            []
        """
        if account_id is not None:
            ledger.account(self.state, account_id)
        kept = [
            item
            for _, item in sorted(self.state.entries.items())
            if (account_id is None or item.account_id == account_id)
            and (from_date is None or item.booked_on >= from_date)
            and (to_date is None or item.booked_on <= to_date)
            and (counterparty is None or counterparty.casefold() in item.counterparty.casefold())
            and (kind is None or item.kind == kind)
            and (direction is None or item.direction == direction)
            and (min_cents is None or item.amount_cents >= min_cents)
            and (card_last4 is None or item.card_last4 == card_last4)
        ]
        return EntryList(
            entries=[ledger.entry_view(self.state, item) for item in kept],
            total_in_cents=ledger.total(kept, "in"),
            total_out_cents=ledger.total(kept, "out"),
        )

    @lookup()
    def get_statement(self, account_id: str, month: str) -> StatementAnswer:
        """Show the statement printed for one account and month.

        Args:
            account_id: id of the account.
            month: the month, YYYY-MM.

        Returns:
            Opening and closing balance and the sums in and out, in cents, as printed on the day of issue.

        Examples:
            >>> call("get_statement", account_id="A-100", month="2025-04")["statement"]["total_out_cents"]
            145455
            >>> call("get_statement", account_id="A-100", month="2025-05")["error"]["code"]
            'not_found'
        """
        item = ledger.account(self.state, account_id)
        for _, statement in sorted(self.state.statements.items()):
            if (statement.account_id, statement.month) == (item.account_id, month.strip()):
                return StatementAnswer(statement=statement)
        raise ToolError("not_found", "There is no statement of this account for that month.")

    @lookup()
    def find_payees(self, name: str | None = None) -> PayeeList:
        """Find saved payees.

        Args:
            name: part of the name, in any case; all payees if left out.

        Returns:
            Matching payees with IBAN, the day they were added and the note on them, sorted by id.

        Examples:
            >>> [payee["payee_id"] for payee in call("find_payees", name="o'neill")["payees"]]
            ['P-12']
            >>> len(call("find_payees")["payees"])
            4
        """
        found = [item for _, item in sorted(self.state.payees.items()) if name is None or name.casefold() in item.name.casefold()]
        return PayeeList(payees=found)

    @lookup()
    def list_scheduled_payments(
        self,
        payee: str | None = None,
        account_id: str | None = None,
        status: Literal["active", "cancelled"] | None = None,
    ) -> ScheduledList:
        """List scheduled payments. Only those that meet every given condition are returned.

        Args:
            payee: part of the payee's name, in any case.
            account_id: the account that pays.
            status: `active` or `cancelled`.

        Returns:
            Matching payments with payee, amount in cents, next date, rhythm, status and note, sorted by id.

        Examples:
            >>> found = call("list_scheduled_payments", account_id="A-100", status="active")["payments"]
            >>> [payment["scheduled_id"] for payment in found]
            ['SP-1', 'SP-3']
            >>> call("list_scheduled_payments", payee="krüger")["payments"][0]["amount_cents"]
            112000
        """
        rows = [ledger.scheduled_row(self.state, item) for _, item in sorted(self.state.scheduled.items())]
        kept = [
            row
            for row in rows
            if (payee is None or payee.casefold() in row.payee_name.casefold())
            and (account_id is None or row.account_id == account_id)
            and (status is None or row.status == status)
        ]
        return ScheduledList(payments=kept)

    @lookup()
    def find_cards(self, last4: str | None = None, label: str | None = None, account_id: str | None = None) -> CardList:
        """Find cards. Only cards that meet every given condition are returned.

        Args:
            last4: the last four digits.
            label: part of the card's label, in any case.
            account_id: the account the card belongs to.

        Returns:
            Matching cards with status, limits and spending this month in cents, and the note on them, sorted by id.

        Examples:
            >>> card = call("find_cards", last4="4471")["cards"][0]
            >>> card["status"], card["spent_this_month_cents"]
            ('active', 3290)
        """
        kept = [
            item
            for _, item in sorted(self.state.cards.items())
            if (last4 is None or item.last4 == last4.strip())
            and (label is None or label.casefold() in item.label.casefold())
            and (account_id is None or item.account_id == account_id)
        ]
        return CardList(cards=[ledger.card_view(self.state, item, self.today) for item in kept])

    @lookup()
    def find_papers(
        self,
        issuer: str | None = None,
        number: str | None = None,
        kind: PaperKind | None = None,
        issued_from: date | None = None,
        issued_to: date | None = None,
    ) -> PaperList:
        """Find receipts and invoices the customer keeps. Only those that meet every given condition are returned.

        Args:
            issuer: part of the shop's or supplier's name, in any case.
            number: the receipt or invoice number.
            kind: `receipt` or `invoice`.
            issued_from: first day of issue, YYYY-MM-DD.
            issued_to: last day of issue, YYYY-MM-DD.

        Returns:
            Matching papers with issuer, number, date, total in cents and, for invoices, due date and IBAN, sorted by id.

        Examples:
            >>> paper = call("find_papers", issuer="şahin", kind="invoice")["papers"][0]
            >>> paper["total_cents"], paper["due_on"]
            (87450, '2025-05-19')
            >>> call("find_papers", issued_to="2025-04-01")["papers"]
            []
        """
        kept = [
            item
            for _, item in sorted(self.state.papers.items())
            if (issuer is None or issuer.casefold() in item.issuer.casefold())
            and (number is None or item.number.casefold() == number.strip().casefold())
            and (kind is None or item.kind == kind)
            and (issued_from is None or item.issued_on >= issued_from)
            and (issued_to is None or item.issued_on <= issued_to)
        ]
        return PaperList(papers=kept)

    # --- verifies --------------------------------------------------------------------------------------------------------

    @verify()
    def verify_payee(self, payee_id: str, name: str, iban: str) -> Compared:
        """Compare a name and an IBAN with a saved payee.

        Args:
            payee_id: id of the payee.
            name: the name it should have.
            iban: the IBAN it should have; spaces do not matter.

        Returns:
            Whether both agree, what was compared and what differs.

        Examples:
            >>> payee = call("find_payees", name="Şahin")["payees"][0]
            >>> call("verify_payee", payee_id="P-13", name="Malerbetrieb Şahin", iban=payee["iban"])["matches"]
            True
            >>> call("verify_payee", payee_id="P-13", name="Malerbetrieb Sahin GmbH", iban="DE99")["mismatched"]
            ['name', 'iban']
        """
        saved = ledger.payee(self.state, payee_id)
        same_iban = saved.iban == "".join(iban.split()).upper()
        return _compared({"name": saved.name.casefold() == name.strip().casefold(), "iban": same_iban})

    @verify()
    def verify_balance(self, account_id: str, balance_cents: int | None = None, covers_cents: int | None = None) -> Compared:
        """Compare an account with a balance, or check that it covers an amount. At least one of the two is needed.

        Args:
            account_id: id of the account.
            balance_cents: the balance it should have, in cents.
            covers_cents: an amount, in cents, that balance plus overdraft should cover.

        Returns:
            Whether everything given holds, what was compared and what differs.

        Examples:
            >>> call("verify_balance", account_id="A-100", covers_cents=87450)["matches"]
            True
            >>> call("verify_balance", account_id="A-100", balance_cents=1, covers_cents=100)["mismatched"]
            ['balance_cents']
        """
        item = ledger.account(self.state, account_id)
        details = ledger.account_details(self.state, item, self.today)
        agree = {}
        if balance_cents is not None:
            agree["balance_cents"] = details.balance_cents == balance_cents
        if covers_cents is not None:
            agree["covers_cents"] = details.available_cents >= covers_cents
        if not agree:
            raise ToolError("invalid_arguments", "Give balance_cents, covers_cents or both.")
        return _compared(agree)

    @verify()
    def verify_transaction(
        self, entry_id: str, amount_cents: int, counterparty: str | None = None, booked_on: date | None = None
    ) -> Compared:
        """Compare observed values with a ledger entry.

        Args:
            entry_id: id of the entry.
            amount_cents: the amount it should have, in cents.
            counterparty: the full name the other side should have.
            booked_on: the booking day it should have, YYYY-MM-DD.

        Returns:
            Whether everything given agrees, what was compared and what differs.

        Examples:
            >>> call("verify_transaction", entry_id="E-504", amount_cents=24990, counterparty="Radhaus Peña")["matches"]
            True
            >>> call("verify_transaction", entry_id="E-504", amount_cents=24990, booked_on="2025-04-21")["mismatched"]
            ['booked_on']
        """
        item = ledger.entry(self.state, entry_id)
        agree = {"amount_cents": item.amount_cents == amount_cents}
        if counterparty is not None:
            agree["counterparty"] = item.counterparty.casefold() == counterparty.strip().casefold()
        if booked_on is not None:
            agree["booked_on"] = item.booked_on == booked_on
        return _compared(agree)

    # --- commits ---------------------------------------------------------------------------------------------------------

    @commit(EffectDecl("payment.transfer", "/entries/*", free=("reference",)))
    def transfer_money(
        self,
        from_account_id: str,
        amount_cents: int,
        payee_id: str | None = None,
        to_account_id: str | None = None,
        reference: str = "",
    ) -> EntryAnswer:
        """Send money today, to a saved payee or to another account of the customer. A sent transfer cannot be called back.

        Args:
            from_account_id: the account that pays.
            amount_cents: the amount in cents, above 0.
            payee_id: the payee; give this or `to_account_id`.
            to_account_id: the customer's own account; give this or `payee_id`.
            reference: text for the recipient.

        Returns:
            The ledger entry on the paying account.

        Examples:
            >>> sent = call("transfer_money", from_account_id="A-100", payee_id="P-13", amount_cents=87450, reference="2025-0318")
            >>> sent["entry"]["counterparty"], sent["entry"]["amount_cents"]
            ('Malerbetrieb Şahin', 87450)
            >>> call("get_account", account_id="A-100")["account"]["balance_cents"]
            266435
            >>> call("transfer_money", from_account_id="A-100", to_account_id="A-200", amount_cents=900000)["error"]["code"]
            'insufficient_funds'
            >>> call("transfer_money", from_account_id="A-200", payee_id="P-13", amount_cents=260000)["error"]["code"]
            'limit_exceeded'
        """
        if (payee_id is None) == (to_account_id is None):
            raise ToolError("invalid_arguments", "Give either payee_id or to_account_id.")
        if amount_cents <= 0:
            raise ToolError("invalid_arguments", "The amount must be above 0.")
        source = ledger.open_account(self.state, from_account_id)
        details = ledger.account_details(self.state, source, self.today)
        if details.available_cents < amount_cents:
            raise ToolError("insufficient_funds", "The account does not cover this amount.")
        if payee_id is not None:
            receiver = ledger.payee(self.state, payee_id)
            if details.transferable_today_cents < amount_cents:
                raise ToolError("limit_exceeded", "The amount is above what may still be transferred today.")
            return self._answer(self._book(source, "out", amount_cents, receiver.name, receiver.iban, reference))
        target = ledger.open_account(self.state, to_account_id or "")
        if target.account_id == source.account_id:
            raise ToolError("invalid_arguments", "The two accounts must differ.")
        return self._answer(self._move(source, target, amount_cents, reference))

    @commit(EffectDecl("payment.schedule", "/scheduled/*", free=("reference",)))
    def schedule_payment(
        self,
        from_account_id: str,
        payee_id: str,
        amount_cents: int,
        first_on: date,
        rhythm: Rhythm = "once",
        reference: str = "",
    ) -> ScheduledAnswer:
        """Have the bank pay a saved payee on a later day, once or regularly.

        Args:
            from_account_id: the account that pays.
            payee_id: the payee.
            amount_cents: the amount in cents, above 0.
            first_on: day of the (first) payment, after today, YYYY-MM-DD.
            rhythm: `once`, `weekly`, `monthly` or `quarterly`.
            reference: text for the recipient.

        Returns:
            The scheduled payment.

        Examples:
            >>> made = call("schedule_payment", from_account_id="A-100", payee_id="P-12", amount_cents=2500, first_on="2025-05-20")
            >>> made["payment"]["scheduled_id"], made["payment"]["rhythm"]
            ('SP-1001', 'once')
            >>> late = {"from_account_id": "A-100", "payee_id": "P-12", "amount_cents": 2500, "first_on": "2025-05-05"}
            >>> call("schedule_payment", **late)["error"]["code"]
            'invalid_arguments'
        """
        if amount_cents <= 0:
            raise ToolError("invalid_arguments", "The amount must be above 0.")
        if first_on <= self.today:
            raise ToolError("invalid_arguments", "first_on must be after today.")
        source = ledger.open_account(self.state, from_account_id)
        receiver = ledger.payee(self.state, payee_id)
        payment = ScheduledPayment(
            scheduled_id=self.next_id("scheduled", "SP-"),
            account_id=source.account_id,
            payee_id=receiver.payee_id,
            amount_cents=amount_cents,
            next_on=first_on,
            rhythm=rhythm,
            reference=reference,
        )
        self.state.scheduled[payment.scheduled_id] = payment
        return ScheduledAnswer(payment=ledger.scheduled_row(self.state, payment))

    @commit(EffectDecl("payment.cancel", "/scheduled/{scheduled_ids}", ("status",)))
    def cancel_scheduled_payments(self, scheduled_ids: list[str]) -> ScheduledList:
        """Cancel scheduled payments for good. Either all are cancelled or none.

        Args:
            scheduled_ids: ids of the scheduled payments.

        Returns:
            The cancelled payments.

        Examples:
            >>> call("cancel_scheduled_payments", scheduled_ids=["SP-1"])["payments"][0]["status"]
            'cancelled'
            >>> call("cancel_scheduled_payments", scheduled_ids=["SP-3", "SP-4"])["error"]["code"]
            'precondition_failed'
        """
        if not scheduled_ids:
            raise ToolError("invalid_arguments", "Name at least one scheduled payment.")
        wanted = list(dict.fromkeys(scheduled_ids))
        for scheduled_id in wanted:
            if scheduled_id not in self.state.scheduled:
                raise ToolError("not_found", f"There is no scheduled payment {scheduled_id}.")
            if self.state.scheduled[scheduled_id].status != "active":
                raise ToolError("precondition_failed", f"{scheduled_id} is not active.")
        return ScheduledList(payments=[ledger.scheduled_row(self.state, self._cancel(scheduled_id)) for scheduled_id in wanted])

    @commit(EffectDecl("payee.create", "/payees/*", free=("note",)))
    def add_payee(self, name: str, iban: str, note: str = "") -> PayeeAnswer:
        """Save somebody to whom money can be sent.

        Args:
            name: name of the person or company.
            iban: their IBAN; spaces do not matter, the check digits must be right.
            note: a remark for the customer.

        Returns:
            The new payee.

        Examples:
            >>> call("add_payee", name="Zoë Brandt", iban="GB82 WEST 1234 5698 7654 32")["payee"]["iban"]
            'GB82WEST12345698765432'
            >>> call("add_payee", name="Zoë Brandt", iban="GB83 WEST 1234 5698 7654 32")["error"]["code"]
            'invalid_arguments'
        """
        if not name.strip():
            raise ToolError("invalid_arguments", "The name must not be empty.")
        plain = ledger.plain_iban(iban)
        if any(item.iban == plain for item in self.state.payees.values()):
            raise ToolError("already_exists", "A payee with this IBAN is already saved.")
        payee = Payee(payee_id=self.next_id("payee", "P-"), name=name.strip(), iban=plain, added_on=self.today, note=note)
        self.state.payees[payee.payee_id] = payee
        return PayeeAnswer(payee=payee)

    @commit(
        EffectDecl("card.freeze", "/cards/{card_id}", ("status",), when={"action": "freeze"}),
        EffectDecl("card.unfreeze", "/cards/{card_id}", ("status",), when={"action": "unfreeze"}),
    )
    def freeze_card(self, card_id: str, action: Literal["freeze", "unfreeze"]) -> CardAnswer:
        """Freeze a card so that it cannot be used, or lift the freeze.

        Args:
            card_id: id of the card.
            action: `freeze` or `unfreeze`.

        Returns:
            The card after the change.

        Examples:
            >>> call("freeze_card", card_id="K-1", action="freeze")["card"]["status"]
            'frozen'
            >>> call("freeze_card", card_id="K-2", action="freeze")["error"]["code"]
            'precondition_failed'
        """
        item = ledger.card(self.state, card_id)
        status: Literal["active", "frozen"] = "frozen" if action == "freeze" else "active"
        if item.status == status:
            raise ToolError("precondition_failed", f"The card is already {status}.")
        if status == "active" and item.expires_on < self.today:
            raise ToolError("precondition_failed", "The card has expired.")
        changed = item.model_copy(update={"status": status})
        self.state.cards[card_id] = changed
        return CardAnswer(card=ledger.card_view(self.state, changed, self.today))

    @commit(
        EffectDecl("account.close", "/accounts/{account_id}", ("status", "paid_out_to")),
        EffectDecl("record.create", "/entries/*", implied=True),
        EffectDecl("payment.cancel", "/scheduled/*", ("status",), implied=True),
        EffectDecl("card.freeze", "/cards/*", ("status",), implied=True),
    )
    def close_account(self, account_id: str, payout_account_id: str | None = None) -> AccountAnswer:
        """Close an account for good. Its cards stop working and its scheduled payments end.

        Args:
            account_id: id of the account.
            payout_account_id: the customer's own account that receives what is left; needed unless the balance is 0.

        Returns:
            The closed account.

        Examples:
            >>> call("close_account", account_id="A-200", payout_account_id="A-100")["account"]["status"]
            'closed'
            >>> call("get_account", account_id="A-100")["account"]["balance_cents"]
            993885
            >>> call("close_account", account_id="A-300")["error"]["code"]
            'precondition_failed'
        """
        item = ledger.open_account(self.state, account_id)
        left = ledger.balance(self.state, item)
        if left < 0:
            raise ToolError("precondition_failed", "An overdrawn account cannot be closed.")
        if left > 0:
            if payout_account_id is None:
                raise ToolError("precondition_failed", "The account is not empty; name the account that receives the rest.")
            if payout_account_id == account_id:
                raise ToolError("invalid_arguments", "The rest must go to another account.")
            self._move(item, ledger.open_account(self.state, payout_account_id), left, "Account closed")
        for payment in [*self.state.scheduled.values()]:
            if payment.account_id == account_id and payment.status == "active":
                self._cancel(payment.scheduled_id)
        for card in [*self.state.cards.values()]:
            if card.account_id == account_id and card.status == "active":
                self.state.cards[card.card_id] = card.model_copy(update={"status": "frozen"})
        closed = item.model_copy(update={"status": "closed", "paid_out_to": payout_account_id if left > 0 else ""})
        self.state.accounts[account_id] = closed
        return AccountAnswer(account=ledger.account_details(self.state, closed, self.today))

    @commit(EffectDecl("dispute.open", "/disputes/*", free=("details",)))
    def open_dispute(
        self, entry_id: str, reason: DisputeReason, amount_cents: int | None = None, details: str = ""
    ) -> DisputeAnswer:
        """Contest a card payment or direct debit of the last 120 days. The other side is informed at once.

        Args:
            entry_id: id of the ledger entry.
            reason: `unauthorised`, `duplicate`, `wrong_amount` or `not_received`.
            amount_cents: the contested amount in cents; the whole entry if left out.
            details: what happened, in the customer's words.

        Returns:
            The dispute, which list_transactions shows with the entry.

        Examples:
            >>> call("open_dispute", entry_id="E-504", reason="not_received")["dispute"]["amount_cents"]
            24990
            >>> call("list_transactions", counterparty="Peña")["entries"][0]["dispute"]["status"]
            'open'
            >>> call("open_dispute", entry_id="E-503", reason="duplicate")["error"]["code"]
            'already_exists'
            >>> call("open_dispute", entry_id="E-501", reason="wrong_amount")["error"]["code"]
            'precondition_failed'
        """
        item = ledger.entry(self.state, entry_id)
        if item.kind not in ("card", "direct_debit") or item.direction != "out":
            raise ToolError("precondition_failed", "Only card payments and direct debits can be disputed.")
        if item.booked_on < self.today - timedelta(days=DISPUTE_DAYS):
            raise ToolError("precondition_failed", f"Entries can be disputed for {DISPUTE_DAYS} days.")
        if ledger.dispute_about(self.state, entry_id) is not None:
            raise ToolError("already_exists", "There is already a dispute about this entry.")
        amount = item.amount_cents if amount_cents is None else amount_cents
        if not 0 < amount <= item.amount_cents:
            raise ToolError("invalid_arguments", "The contested amount must be above 0 and at most the amount of the entry.")
        dispute = Dispute(
            dispute_id=self.next_id("dispute", "DS-"),
            entry_id=entry_id,
            reason=reason,
            amount_cents=amount,
            opened_on=self.today,
            details=details,
        )
        self.state.disputes[dispute.dispute_id] = dispute
        return DisputeAnswer(dispute=dispute)

    # --- shared parts ----------------------------------------------------------------------------------------------------

    def _book(self, item: Account, direction: Literal["in", "out"], cents: int, other: str, iban: str, reference: str) -> Entry:
        booked = Entry(
            entry_id=self.next_id("entry", "E-"),
            account_id=item.account_id,
            booked_on=self.today,
            direction=direction,
            amount_cents=cents,
            counterparty=other,
            kind="transfer",
            iban=iban,
            reference=reference,
        )
        self.state.entries[booked.entry_id] = booked
        return booked

    def _move(self, source: Account, target: Account, cents: int, reference: str) -> Entry:
        sent = self._book(source, "out", cents, target.name, target.iban, reference)
        self._book(target, "in", cents, source.name, source.iban, reference)
        return sent

    def _cancel(self, scheduled_id: str) -> ScheduledPayment:
        cancelled = self.state.scheduled[scheduled_id].model_copy(update={"status": "cancelled"})
        self.state.scheduled[scheduled_id] = cancelled
        return cancelled

    def _answer(self, item: Entry) -> EntryAnswer:
        return EntryAnswer(entry=ledger.entry_view(self.state, item))


def _compared(agree: dict[str, bool]) -> Compared:
    wrong = [name for name, fits in agree.items() if not fits]
    return Compared(matches=not wrong, compared=list(agree), mismatched=wrong)
