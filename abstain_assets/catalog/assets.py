"""The assets of the catalog stage: what the shipped environments can do, which seeds go where, and which pairs ground them."""

from collections import Counter

import dagster as dg

from abstain_assets.catalog.capabilities import capabilities as shipped_capabilities
from abstain_assets.catalog.capabilities import offers
from abstain_assets.catalog.figures import routing_figures
from abstain_assets.catalog.routing import route
from abstain_assets.metadata import column_schema, small_table, written
from abstain_assets.partitions import scenario_partitions
from abstain_assets.rounds import RoundScenario
from abstain_assets.rows import (
    augmented_from,
    augmented_rows,
    capabilities_from,
    capability_rows,
    grounding_rows,
    pairs_from,
    route_rows,
    routes_from,
    sampled_seeds_from,
)
from abstain_assets.seeds.assets import seeds
from abstain_assets.seeds.augment import augment
from abstain_assets.seeds.grounding import ground
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


@dg.asset(
    partitions_def=scenario_partitions,
    deps=[seeds, capabilities],
    group_name="catalog",
    kinds={"python", "parquet"},
    metadata=column_schema("routes"),
)
def routes(context: dg.AssetExecutionContext, lake: dg.ResourceParam[Lake]) -> dg.MaterializeResult[None]:
    """The drawn seeds of one scenario, rewritten and described by what they need, each routed to the environments that have it."""
    where = RoundScenario.parse(context.partition_key)
    offered = offers(capabilities_from(lake.read("capabilities", [ALL])))
    augmented = [augment(seed) for seed in sampled_seeds_from(lake.read("seed_samples", [where.key]))]
    routed = [route(item, offered) for item in augmented if item.problem is None]
    parts = (
        lake.write("routes", where.key, route_rows(routed, augmented, where.round)),
        lake.write("augmented_seeds", where.key, augmented_rows(augmented, where.round)),
    )
    lake.changed()
    summary = written(*parts)
    figures = routing_figures(augmented, routed)
    return dg.MaterializeResult(
        metadata={
            **summary,
            "augmented": figures["augmentation"]["augmented"],
            "infeasible": small_table(
                {"reason": name, "seeds": count} for name, count in figures["augmentation"]["infeasible"].items()
            ),
            "routed": figures["routing"]["routed"],
            "environments": small_table(
                {"environment": name, "seeds": count} for name, count in figures["routing"]["by_environment"].items()
            ),
            "unassigned": small_table(
                {"capability": name, "seeds": count} for name, count in figures["routing"]["unassigned_capabilities"].items()
            ),
            "seeds": small_table(
                {"seed": item.seed, "needs": ", ".join(map(str, item.act)), "sketch": item.sketch or item.problem}
                for item in augmented
            ),
        },
        data_version=dg.DataVersion(summary["digest"]),
    )


@dg.asset(
    partitions_def=scenario_partitions,
    deps=[routes, dg.AssetKey("pairs")],  # by its key: the stage of the pairs stands on this one
    group_name="pairs",
    kinds={"python", "parquet"},
    metadata=column_schema("groundings"),
)
def groundings(context: dg.AssetExecutionContext, lake: dg.ResourceParam[Lake]) -> dg.MaterializeResult[None]:
    """Which seeds the pairs of one scenario ground. Pairs are drawn without the seeds, so this changes none of them."""
    key = context.partition_key
    found = ground(
        pairs_from(lake.read("pairs", [key])),
        augmented_from(lake.read("augmented_seeds", [key])),
        routes_from(lake.read("routes", [key])),
        capabilities_from(lake.read("capabilities", [ALL])),
    )
    done = lake.write("groundings", key, grounding_rows(found))
    lake.changed()
    return dg.MaterializeResult(
        metadata={
            **written(done),
            "pairs": len({item.pair_id for item in found}),
            "seeds": len({item.seed for item in found}),
            "groundings": small_table(
                {"pair": item.pair_id, "seed": item.seed, "shared": ", ".join(map(str, item.shared)), "strength": item.strength}
                for item in found
            ),
        },
        data_version=dg.DataVersion(done.digest),
    )
