"""The jobs, so that runs have names that people recognise, whoever launched them."""

from collections.abc import Sequence

import dagster as dg

from abstain_assets.catalog.assets import capabilities, groundings, routes
from abstain_assets.environments.assets import environments
from abstain_assets.metrics.assets import leaderboard, metrics, report
from abstain_assets.pairs.assets import pairs
from abstain_assets.rollouts.assets import rollouts
from abstain_assets.seeds.assets import seed_pool, seeds
from abstain_assets.verdicts.assets import verdicts

_CONTENTS = {
    "collect_seeds": ((seed_pool,), "Fetches the benchmarks and makes the pool of seeds."),
    "check_environments": ((capabilities, environments), "The capabilities, and every gate on one environment."),
    "build_round": (
        (seeds, routes, pairs, groundings),
        "Draws and routes seeds; draws, replays, validates and checks the pairs of one scenario of a round; ties the two.",
    ),
    "judge": ((verdicts, metrics), "Judges rollouts that are there. Runs no agent."),
    "evaluate": ((rollouts, verdicts, metrics), "Runs what is missing of a model on a scenario, judges and measures it."),
    "rank": ((leaderboard, report), "Ranks everything that was judged, and writes the report."),
}

JOBS = {
    name: dg.define_asset_job(name, dg.AssetSelection.assets(*assets), description=text)
    for name, (assets, text) in _CONTENTS.items()
}


def name_of(assets: Sequence[dg.AssetsDefinition]) -> str:
    """The smallest job that holds these assets."""
    wanted = {asset.key for asset in assets}
    holding = {name: held for name, (held, _) in _CONTENTS.items() if wanted <= {asset.key for asset in held}}
    return min(holding, key=lambda name: len(holding[name]))
