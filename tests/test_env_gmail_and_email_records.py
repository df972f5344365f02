"""The behaviours of the mailbox that tasks rely on."""

from collections.abc import Callable

import pytest
from pydantic import ValidationError

from environments.gmail_and_email_records.environment import GmailAndEmailRecords
from environments.runtime.records import Call, Mount
from environments.runtime.sandbox import Sandbox

NAME = "gmail_and_email_records"


@pytest.fixture
def mailbox() -> Sandbox:
    return Sandbox(Mount(environments=(NAME,)), {NAME: GmailAndEmailRecords.example_state().dump()})


@pytest.fixture
def call(mailbox: Sandbox) -> Callable[..., Call]:
    return lambda tool, **args: mailbox.call(f"{NAME}.{tool}", args)


def _effects(done: Call) -> set[tuple[str, str, bool]]:
    return {(effect.kind, effect.record.removeprefix(f"/{NAME}"), effect.implied) for effect in done.effects}


def _found(done: Call) -> list[str]:
    return [row["message_id"] for row in done.content["messages"]]


def test_every_search_filter_narrows_the_result(call: Callable[..., Call]) -> None:
    assert len(_found(call("search_messages"))) == 10
    assert _found(call("search_messages", sender="ŚLIWA")) == ["M-1004", "M-1009"]
    assert _found(call("search_messages", recipient="daria.renard")) == ["M-1004"]
    assert _found(call("search_messages", thread_id="T-301", folder="inbox")) == ["M-1001", "M-1003"]
    assert _found(call("search_messages", sent_from="2026-03-04", sent_to="2026-03-05")) == ["M-1005", "M-1009", "M-1010"]
    assert _found(call("search_messages", label="suppliers", has_attachment=True)) == ["M-1001", "M-1003"]


def test_texts_and_amounts_are_only_where_they_are_opened(call: Callable[..., Call]) -> None:
    row = call("search_messages", subject="Invoice for oak")
    assert "body" not in row.content["messages"][0]
    message = call("read_message", message_id="M-1003").content["message"]
    assert set(message["attachments"][0]) == {"attachment_id", "filename", "kind"}


def test_saving_a_draft_and_sending_are_different_effects(call: Callable[..., Call]) -> None:
    text = {"to": ["tomas@quinones-books.example"], "subject": "Gate", "body": "Open at nine."}
    assert _effects(call("compose", action="save_draft", **text)) == {("message.draft", "/drafts/D-503", False)}
    assert _effects(call("compose", action="send", **text)) == {("message.send", "/messages/M-1011", False)}
    assert call("list_drafts", recipient="tomas").content["drafts"][0]["subject"] == "Gate"


def test_sending_a_draft_moves_it_out_of_the_drafts(call: Callable[..., Call]) -> None:
    done = call("send_draft", draft_id="D-501")
    assert _effects(done) == {("message.send", "/messages/M-1011", False), ("message.delete", "/drafts/D-501", True)}
    assert done.content["message"]["origin_id"] == "D-501"
    assert [draft["draft_id"] for draft in call("list_drafts").content["drafts"]] == ["D-502"]


def test_reply_all_writes_to_everyone_but_the_owner(call: Callable[..., Call]) -> None:
    sent = call("reply", message_id="M-1004", body="Yes.", reply_all=True).content["message"]
    assert (sent["to"], sent["cc"]) == (["p.sliwa@sliwa-transport.example"], ["daria.renard@brightwell.example"])
    assert sent["thread_id"] == "T-302" and sent["subject"] == "Re: Delivery on Thursday"


def test_a_forwarded_message_carries_text_and_attachments(call: Callable[..., Call]) -> None:
    done = call("forward_message", message_id="M-1003", to=["tomas@quinones-books.example"], note="For the books.")
    assert {kind for kind, _, _ in _effects(done)} == {"message.forward"}
    sent = done.content["message"]
    assert sent["body"].startswith("For the books.") and "here is the invoice for the boards" in sent["body"]
    assert [item["attachment_id"] for item in sent["attachments"]] == ["A-202"]


def test_deleting_spares_attachments_that_something_else_carries(call: Callable[..., Call]) -> None:
    assert call("delete_messages", message_ids=["M-1009"]).content["deleted_attachment_ids"] == []
    done = call("delete_messages", message_ids=["M-1010"])
    assert _effects(done) == {("message.delete", "/messages/M-1010", False), ("record.delete", "/attachments/A-205", True)}
    assert call("get_attachment", attachment_id="A-205").content["error"]["code"] == "not_found"


def test_an_unknown_message_leaves_all_others_in_place(mailbox: Sandbox, call: Callable[..., Call]) -> None:
    before = mailbox.state()
    for tool in ("delete_messages", "archive_messages"):
        refused = call(tool, message_ids=["M-1001", "M-4711"])
        assert refused.error is not None and refused.error.code == "not_found"
        assert len(refused.intents) == 2
    assert mailbox.state() == before


def test_emptying_a_label_reaches_every_folder(call: Callable[..., Call]) -> None:
    call("archive_messages", message_ids=["M-1001"])
    assert call("empty_label", label="Suppliers").content["deleted_message_ids"] == ["M-1001", "M-1002", "M-1003"]
    assert call("list_labels", name="Suppliers").content["labels"][0]["message_count"] == 0
    assert call("empty_label", label="Suppliers").content["error"]["code"] == "precondition_failed"


def test_labelling_twice_changes_nothing(call: Callable[..., Call]) -> None:
    first = call("label_messages", message_ids=["M-1004", "M-1001"], label="Suppliers")
    assert {record for _, record, _ in _effects(first)} == {"/messages/M-1004"}
    assert call("label_messages", message_ids=["M-1004"], label="Suppliers").effects == ()
    taken_off = call("label_messages", message_ids=["M-1004"], label="Suppliers", action="remove")
    assert taken_off.content["messages"][0]["labels"] == []


def test_the_sender_check_looks_behind_what_a_message_shows() -> None:
    state = GmailAndEmailRecords.example_state().dump()
    state["messages"]["M-1003"]["envelope_address"] = "zoe@nordholz-billing.example"
    forged = Sandbox(Mount(environments=(NAME,)), {NAME: state})
    shown = forged.call(f"{NAME}.read_message", {"message_id": "M-1003"}).content["message"]["sender_address"]
    answer = forged.call(f"{NAME}.verify_sender", {"message_id": "M-1003", "sender_address": shown}).content
    assert answer == {"matches": False, "compared": ["sender_address"], "mismatched": ["sender_address"]}


@pytest.mark.parametrize(
    ("name", "address", "mismatched"),
    [
        ("Zoë Lindqvist", "ZOE.LINDQVIST@nordholz.example", []),
        ("Zoë Lindqvist", "z.hartmann@lackwerk.example", ["address"]),
        ("Zoë", "zoe.lindqvist@nordholz.example", ["name", "address"]),
    ],
)
def test_the_recipient_check_compares_name_and_address(
    call: Callable[..., Call], name: str, address: str, mismatched: list[str]
) -> None:
    assert call("verify_recipient", name=name, address=address).content["mismatched"] == mismatched


def test_the_paper_check_compares_each_value(call: Callable[..., Call]) -> None:
    wrong = {"document_number": "NH-2094", "issuer": "Nordholz", "total_cents": 184_000, "due_on": "2026-04-12"}
    answer = call("verify_attachment", attachment_id="A-202", **wrong).content
    assert answer["mismatched"] == list(wrong)
    # A contract has no total, so no total agrees with it.
    assert call("verify_attachment", attachment_id="A-203", total_cents=0).content["matches"] is False


def test_two_contacts_never_share_an_address(call: Callable[..., Call]) -> None:
    refused = call("update_contact", contact_id="C-104", address="z.hartmann@lackwerk.example")
    assert refused.content["error"]["code"] == "precondition_failed"
    assert call("update_contact", contact_id="C-104", address="nonsense").content["error"]["code"] == "invalid_arguments"
    call("update_contact", contact_id="C-104", note="Retired.")
    assert call("find_contacts", name="tomás").content["contacts"][0]["note"] == "Retired."


def test_a_state_whose_records_name_nothing_is_refused() -> None:
    state = GmailAndEmailRecords.example_state().dump()
    state["messages"]["M-1001"]["attachment_ids"] = ["A-999"]
    with pytest.raises(ValidationError, match="A-999"):
        GmailAndEmailRecords.load(state)
