"""The assets of the seeds stage: the pool of all benchmarks, and what is drawn from it for one scenario of a round."""

from collections import Counter

import dagster as dg

from abstain_assets.metadata import column_schema, small_table, written
from abstain_assets.partitions import scenario_partitions
from abstain_assets.rounds import RoundScenario
from abstain_assets.rows import kept_seeds_from, sample_rows, source_rows
from abstain_assets.seeds.figures import pool_figures
from abstain_assets.seeds.sampling import sample, shortfall
from abstain_assets.seeds.sources import basis
from abstain_assets.seeds.stored import pool_for
from resources.lake import ALL, Lake
from resources.settings import Settings


@dg.asset(
    group_name="seeds",
    kinds={"python", "parquet"},
    metadata=column_schema("seeds"),
    code_version=basis(),
)
def seed_pool(lake: dg.ResourceParam[Lake], settings: dg.ResourceParam[Settings]) -> dg.MaterializeResult[None]:
    """Requests of public agent benchmarks: fetched, parsed, filtered, freed of duplicates, brought to few environments, classified.

    What cannot be fetched or read gives no seeds and is named; nothing fails for it.
    """
    made = pool_for(settings.cache)
    pool = lake.write("seeds", ALL, made.seeds.iter_rows(named=True))
    sources = lake.write("seed_sources", ALL, source_rows(made.sources))  # last: it says that the pool is whole
    lake.changed()
    figures = pool_figures(made.seeds)
    summary = written(pool, sources)
    return dg.MaterializeResult(
        metadata={
            **summary,
            "collected": figures["collected"],
            "kept": figures["kept"],
            "environments": len(figures["environments"]),
            "sources": small_table(
                {"source": item.source, "version": item.version, "collected": item.collected, "problem": item.problem}
                for item in made.sources
            ),
            "fates": small_table({"source": name, **counts} for name, counts in figures["by_source"].items()),
            "filtered": small_table({"reason": name, "seeds": count} for name, count in figures["filtered"].items()),
            "duplicates": small_table({"granularity": name, "seeds": count} for name, count in figures["duplicates"].items()),
            "dropped": small_table({"reason": name, "seeds": count} for name, count in figures["dropped"].items()),
            "supply": small_table({"scenario": name, **counts} for name, counts in figures["supply"].items()),
        },
        data_version=dg.DataVersion(summary["digest"]),
    )


@dg.asset(
    partitions_def=scenario_partitions,
    deps=[seed_pool],
    group_name="seeds",
    kinds={"python", "parquet"},
    metadata=column_schema("seed_samples"),
)
def seeds(
    context: dg.AssetExecutionContext, lake: dg.ResourceParam[Lake], settings: dg.ResourceParam[Settings]
) -> dg.MaterializeResult[None]:
    """Up to a hundred seeds of one scenario in one round, half informational and half operational."""
    where = RoundScenario.parse(context.partition_key)
    pool = lake.read("seeds", [ALL])
    drawn = sample(
        kept_seeds_from(pool.filter(pool["scenario"] == where.scenario)), where.scenario, where.round, settings.seed_of(where.round)
    )
    done = lake.write("seed_samples", where.key, sample_rows(drawn))
    lake.changed()
    summary = written(done)
    by_source = Counter(item.seed.source for item in drawn)
    return dg.MaterializeResult(
        metadata={
            **summary,
            "sources": small_table({"source": name, "seeds": count} for name, count in sorted(by_source.items())),
            "environments": len({item.seed.environment for item in drawn}),
            "shortfall": {action_type.value: missing for action_type, missing in shortfall(drawn).items()},
            "seeds": small_table(
                {
                    "seed": item.seed.id,
                    "type": item.seed.action_type.value,
                    "environment": item.seed.environment,
                    "instruction": item.seed.instruction,
                }
                for item in drawn
            ),
        },
        data_version=dg.DataVersion(summary["digest"]),
    )
