"""The asset of the catalog stage."""

from collections import Counter

import dagster as dg

from abstain_assets.catalog.capabilities import capabilities as shipped_capabilities
from abstain_assets.metadata import column_schema, small_table, written
from abstain_assets.rows import capability_rows
from resources.lake import ALL, Lake


@dg.asset(
    group_name="catalog",
    kinds={"python", "parquet"},
    metadata=column_schema("capabilities"),
)
def capabilities(lake: dg.ResourceParam[Lake]) -> dg.MaterializeResult[None]:
    """What the shipped environments can do, of the five kinds seeds are routed by: read, search, verify, write, delete."""
    rows = shipped_capabilities()
    done = lake.write("capabilities", ALL, capability_rows(rows))
    lake.changed()
    kinds: dict[str, Counter[str]] = {}
    for row in rows:
        kinds.setdefault(row.environment, Counter())[row.kind] += 1
    table = small_table({"environment": name, **{kind: found[kind] for kind in _KINDS}} for name, found in kinds.items())
    return dg.MaterializeResult(metadata={**written(done), "kinds": table}, data_version=dg.DataVersion(done.digest))


_KINDS = ("read", "search", "verify", "write", "delete")
