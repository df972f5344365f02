"""`docs/tables.md` says what the schemas say. Write it again with `python -m abstain_assets.tables > docs/tables.md`."""

from pathlib import Path

import pytest
from pydantic import BaseModel

from abstain_assets.records import CapabilityRow, Rejection, Rollout, Timing, Verdict
from abstain_assets.seeds.records import AugmentedSeed, Grounding, Route
from abstain_assets.tables import TABLES, describe
from environments.runtime.records import Call

DOCS = Path(__file__).parent.parent / "docs" / "tables.md"


def test_the_page_is_what_the_schemas_say() -> None:
    assert DOCS.read_text(encoding="utf-8") == describe()


def test_every_table_and_column_is_explained() -> None:
    for table in TABLES.values():
        assert table.sentence.endswith(".")
        assert set(table.key) <= set(table.schema)
        for column in table.columns:
            assert column.sentence.endswith("."), f"{table.name}.{column.name}"


@pytest.mark.parametrize(
    ("record", "table", "stored_otherwise"),
    [
        (CapabilityRow, "capabilities", set()),
        (AugmentedSeed, "augmented_seeds", set()),
        (Route, "routes", set()),
        (Grounding, "groundings", set()),
        (Rejection, "quarantine", {"check"}),
        (Rollout, "rollouts", {"calls", "usage"}),
        (Call, "calls", {"error"}),
        (Timing, "timings", set()),
        (Verdict, "verdicts", set()),
    ],
)
def test_no_field_of_a_record_is_lost(record: type[BaseModel], table: str, stored_otherwise: set[str]) -> None:
    assert set(record.model_fields) - stored_otherwise <= set(TABLES[table].schema)
