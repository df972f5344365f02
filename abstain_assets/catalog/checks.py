"""Asset checks of the catalog stage."""

from collections.abc import Iterator

import dagster as dg

from abstain_assets.catalog.assets import routes
from abstain_assets.catalog.routing import publish_gate
from abstain_assets.metadata import small_table
from abstain_assets.partitions import scenario_partitions
from abstain_assets.rows import augmented_from, capabilities_from, routes_from
from environments.runtime import registry
from resources.lake import ALL, Lake

HIGHEST_UNASSIGNED_SHARE = 0.5


@dg.multi_asset_check(
    name="published_routes",
    specs=[
        dg.AssetCheckSpec(
            "publish_gate",
            asset=routes,
            description="Every routed seed finds all it asks for in few environments; every capability is that of a shipped tool.",
            blocking=True,
            partitions_def=scenario_partitions,
        ),
        dg.AssetCheckSpec(
            "unassigned_seeds",
            asset=routes,
            description=f"At most {HIGHEST_UNASSIGNED_SHARE:.0%} of the feasible seeds ask for what no shipped environment has.",
            partitions_def=scenario_partitions,
        ),
    ],
)
def published_routes(context: dg.AssetCheckExecutionContext, lake: dg.ResourceParam[Lake]) -> Iterator[dg.AssetCheckResult]:
    """What is published is a cover, and what was left out is known."""
    key = context.partition_key
    routed = routes_from(lake.read("routes", [key]))
    shipped = {f"{name}.{tool}" for name in registry.names() for tool in registry.load(name).tools}
    rows = capabilities_from(lake.read("capabilities", [ALL]))
    findings = publish_gate(augmented_from(lake.read("augmented_seeds", [key])), routed, rows, shipped)
    yield dg.AssetCheckResult(
        check_name="publish_gate",
        passed=not findings,
        description="; ".join(f"{item.subject} {item.reason}" for item in findings) or "all covered",
        metadata={"routes": len(routed), "findings": small_table(vars(item) for item in findings)},
    )
    unassigned = sum(not item.environments for item in routed)
    share = unassigned / max(1, len(routed))
    yield dg.AssetCheckResult(
        check_name="unassigned_seeds",
        passed=share <= HIGHEST_UNASSIGNED_SHARE,
        severity=dg.AssetCheckSeverity.WARN,
        description=f"{unassigned} of {len(routed)} feasible seeds are unassigned",
        metadata={"share": share, "unassigned": unassigned, "routes": len(routed)},
    )
