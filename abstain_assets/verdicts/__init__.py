"""Verdicts: pure functions of a pair and its rollouts. Importing the package makes the embedded judge available."""

from abstain_assets.verdicts.judges import register
from abstain_assets.verdicts.rules import RulesJudge

register("rules", RulesJudge)
