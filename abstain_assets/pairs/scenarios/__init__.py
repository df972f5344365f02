"""The rules of the eight scenarios, one module each."""

from abstain_assets.pairs.scenarios import (
    ambiguous_action,
    conflicting_constraints,
    conflicting_evidence,
    emergent_risk,
    high_stakes,
    missing_capability,
    missing_parameter,
    tool_failure,
)
from abstain_assets.pairs.scenarios.base import ScenarioRules
from abstain_assets.taxonomy import Scenario

RULES: dict[Scenario, ScenarioRules] = {
    Scenario.MISSING_CRITICAL_PARAMETER: missing_parameter,
    Scenario.AMBIGUOUS_ACTION_SPECIFICATION: ambiguous_action,
    Scenario.CONFLICTING_CONSTRAINTS: conflicting_constraints,
    Scenario.HIGH_STAKES_ACTION: high_stakes,
    Scenario.INSUFFICIENT_TOOL_CAPABILITY: missing_capability,
    Scenario.CRITICAL_TOOL_FAILURE: tool_failure,
    Scenario.CONFLICTING_EVIDENCE: conflicting_evidence,
    Scenario.EMERGENT_RISK_DISCOVERY: emergent_risk,
}

__all__ = ["RULES", "ScenarioRules"]
