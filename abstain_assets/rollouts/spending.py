"""What a model has cost so far, over all its cells and runs."""

from pathlib import Path

from abstain_assets.records import Usage
from abstain_assets.rollouts.journal import read_journal
from resources.models import ModelSpec


def spent_on(spec: ModelSpec, journals: Path) -> float:
    """US dollars paid for a model: every attempt in its journals, whatever became of it.

    Attempts made before the model had prices count at the prices it has now.

    Raises:
        JournalError: a journal cannot be read.
    """
    return sum(_cost(usage, spec) for path in sorted(journals.glob(f"{spec.slug}__*.jsonl")) for usage in read_journal(path).usages)


def _cost(usage: Usage, spec: ModelSpec) -> float:
    if usage.cost_usd is not None:
        return usage.cost_usd
    return spec.prices.cost(usage.input_tokens, usage.output_tokens) if spec.prices else 0.0
