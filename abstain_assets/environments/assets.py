"""The assets of the environments stage."""

import dagster as dg

from abstain_assets.catalog.assets import capabilities
from abstain_assets.environments.gates import run_gates
from abstain_assets.metadata import column_schema, small_table, written
from abstain_assets.partitions import environment_partitions
from abstain_assets.records import Check
from abstain_assets.rows import check_rows, environment_row, tool_rows
from resources.lake import Lake


@dg.asset(
    partitions_def=environment_partitions,
    deps=[capabilities],
    group_name="environments",
    kinds={"python", "parquet"},
    metadata=column_schema("environments"),
)
def environments(context: dg.AssetExecutionContext, lake: dg.ResourceParam[Lake]) -> dg.MaterializeResult[None]:
    """A sandbox environment with its typed state and tools, after all gates were run on it."""
    name = context.partition_key
    gates = run_gates(name)
    checks = [Check(name=gate.gate, ok=gate.ok, detail=gate.detail) for gate in gates]
    failed = [check for check in checks if not check.ok]
    tools = [] if failed else tool_rows(name)  # an environment that fails a gate is not in the tables
    parts = [
        lake.write("tools", name, tools),
        lake.write("checks", name, check_rows("environments", name, checks)),
        # Last: a build takes an environment whose row is there for finished.
        lake.write("environments", name, [] if failed else [environment_row(name)]),
    ]
    lake.changed()
    summary = written(*parts)
    return dg.MaterializeResult(
        metadata={
            **summary,
            "tools": small_table({"tool": tool["name"], "kind": tool["kind"], "effects": tool["effects"]} for tool in tools),
        },
        data_version=dg.DataVersion(summary["digest"]),
    )
