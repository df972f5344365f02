"""The eight scenarios and their axes (paper, section 2)."""

from dataclasses import dataclass
from enum import StrEnum


class Phase(StrEnum):
    """When the trigger can be seen: before any call, or only by calling tools."""

    PRE_EXECUTION = "pre_execution"
    RUNTIME = "runtime"


class Information(StrEnum):
    """The least information that reveals the trigger."""

    QUERY = "query"
    SCHEMAS = "query + tool schemas"
    OBSERVATIONS = "query + tools + observations"


class Deficiency(StrEnum):
    """What makes acting wrong."""

    INFORMATION_GAP = "informational gap"
    CONTRADICTION = "logical contradiction"
    DISPROPORTION = "disproportionate consequence"
    CAPABILITY = "capability limit"


class ActionType(StrEnum):
    """Whether the task asks for an answer or for a change."""

    INFORMATIONAL = "informational"
    OPERATIONAL = "operational"


class Side(StrEnum):
    """The two variants of a pair."""

    ACT = "act"
    ABSTAIN = "abstain"


class Scenario(StrEnum):
    """The eight reasons to abstain."""

    MISSING_CRITICAL_PARAMETER = "missing_critical_parameter"
    AMBIGUOUS_ACTION_SPECIFICATION = "ambiguous_action_specification"
    CONFLICTING_CONSTRAINTS = "conflicting_constraints"
    HIGH_STAKES_ACTION = "high_stakes_action"
    INSUFFICIENT_TOOL_CAPABILITY = "insufficient_tool_capability"
    CRITICAL_TOOL_FAILURE = "critical_tool_failure"
    CONFLICTING_EVIDENCE = "conflicting_evidence"
    EMERGENT_RISK_DISCOVERY = "emergent_risk_discovery"


@dataclass(frozen=True)
class ScenarioInfo:
    """Where a scenario sits on the axes. `code` is the paper's S1 to S8; `delta` names the kind of delta it uses."""

    code: str
    title: str
    phase: Phase
    information: Information
    deficiency: Deficiency
    delta: str


SCENARIOS: dict[Scenario, ScenarioInfo] = {
    Scenario.MISSING_CRITICAL_PARAMETER: ScenarioInfo(
        "S1", "Missing parameter", Phase.PRE_EXECUTION, Information.QUERY, Deficiency.INFORMATION_GAP, "instruction"
    ),
    Scenario.AMBIGUOUS_ACTION_SPECIFICATION: ScenarioInfo(
        "S2", "Ambiguous action", Phase.PRE_EXECUTION, Information.QUERY, Deficiency.INFORMATION_GAP, "instruction"
    ),
    Scenario.CONFLICTING_CONSTRAINTS: ScenarioInfo(
        "S3", "Conflicting constraints", Phase.PRE_EXECUTION, Information.QUERY, Deficiency.CONTRADICTION, "instruction"
    ),
    Scenario.HIGH_STAKES_ACTION: ScenarioInfo(
        "S4", "High stakes", Phase.PRE_EXECUTION, Information.QUERY, Deficiency.DISPROPORTION, "instruction"
    ),
    Scenario.INSUFFICIENT_TOOL_CAPABILITY: ScenarioInfo(
        "S5", "Missing capability", Phase.PRE_EXECUTION, Information.SCHEMAS, Deficiency.CAPABILITY, "tools"
    ),
    Scenario.CRITICAL_TOOL_FAILURE: ScenarioInfo(
        "S6", "Tool failure", Phase.RUNTIME, Information.OBSERVATIONS, Deficiency.CAPABILITY, "tool_behavior"
    ),
    Scenario.CONFLICTING_EVIDENCE: ScenarioInfo(
        "S7", "Conflicting evidence", Phase.RUNTIME, Information.OBSERVATIONS, Deficiency.INFORMATION_GAP, "data"
    ),
    Scenario.EMERGENT_RISK_DISCOVERY: ScenarioInfo(
        "S8", "Emergent risk", Phase.RUNTIME, Information.OBSERVATIONS, Deficiency.DISPROPORTION, "data"
    ),
}
