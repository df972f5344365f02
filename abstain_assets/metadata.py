"""What an asset says about itself in the Dagster UI: columns, row counts and small tables."""

from collections.abc import Iterable, Mapping
from typing import Any

import dagster as dg

from abstain_assets.records import digest
from abstain_assets.tables import TABLES
from resources.lake import Written

_SHOWN = 24


def column_schema(table: str) -> dict[str, Any]:
    """Definition metadata of an asset whose main table this is."""
    columns = [dg.TableColumn(column.name, type=column.kind.value, description=column.sentence) for column in TABLES[table].columns]
    return {"dagster/column_schema": dg.TableSchema(columns=columns), "dagster/table_name": table}


def written(*parts: Written) -> dict[str, Any]:
    """Row count of the main table, and the digest of everything one partition wrote."""
    return {"dagster/row_count": parts[0].rows, "digest": combined(part.digest for part in parts)}


def combined(digests: Iterable[str]) -> str:
    """One digest for several, in the order given."""
    return digest(list(digests))


def small_table(rows: Iterable[Mapping[str, Any]]) -> dg.TableMetadataValue | dg.TextMetadataValue:
    """The first rows as a table. Cells are shown as text where they are neither numbers nor flags."""
    shown = [{name: _cell(value) for name, value in row.items()} for row, _ in zip(rows, range(_SHOWN), strict=False)]
    if not shown:
        return dg.MetadataValue.text("no rows")
    schema = dg.TableSchema(columns=[dg.TableColumn(name, type=_type(value)) for name, value in shown[0].items()])
    return dg.MetadataValue.table([dg.TableRecord(row) for row in shown], schema=schema)


def _cell(value: Any) -> str | int | float | bool | None:
    return value if value is None or isinstance(value, (int, float, bool)) else str(value)


def _type(value: Any) -> str:
    return {bool: "bool", int: "int", float: "float"}.get(type(value), "string")
