"""Content keys of rollouts: equal fingerprints are the same work and are never paid for twice."""

from abstain_assets.pairs.deltas import variant
from abstain_assets.records import Pair, digest
from abstain_assets.taxonomy import Side
from environments.runtime import RUNTIME_VERSION, registry
from environments.runtime.records import JsonObject
from resources.harness.base import AnyHarness
from resources.models import ModelSpec


def fingerprint(pair: Pair, side: Side, spec: ModelSpec, harness: AnyHarness, *, epoch: int, seed: int) -> str:
    """Digest of everything a run depends on.

    That is the variant as the agent sees it, the sources of the mounted environments and the runtime's version, the harness and its
    version, the model and its settings, epoch and seed. Privileged policies see the whole pair, so for them it counts as well.
    Prices, labels and time limits do not change what a model does.

    Raises:
        DeltaError: the pair's delta does not fit its act task.
        MountError: an environment does not exist.
    """
    task = variant(pair, side)
    parts: JsonObject = {
        "pair": pair.id,
        "task": task.model_dump(mode="json"),
        "runtime": RUNTIME_VERSION,
        "environments": {name: registry.digest(name) for name in task.mount.environments},
        "harness": [harness.name, harness.version],
        "model": spec.model_dump(mode="json", include={"name", "model", "base_url", "settings", "max_turns"}),
        "epoch": epoch,
        "seed": seed,
    }
    if harness.privileged:
        parts["pair"] = pair.model_dump(mode="json")
    return digest(parts)
