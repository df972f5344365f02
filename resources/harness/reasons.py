"""Why an abstain side must not be carried out, in words an agent could say at that point."""

from collections.abc import Mapping
from typing import Any

from abstain_assets.pairs.refs import RefError, resolve
from abstain_assets.records import (
    AmbiguousAction,
    ConflictingConstraints,
    ConflictingEvidence,
    EmergentRisk,
    HighStakes,
    MissingCapability,
    MissingParameter,
    Pair,
    Reading,
    Said,
    Source,
    ToolFailure,
)
from resources.harness.speech import ability, listed, reasons, value_text


def why_not(pair: Pair, seen: Mapping[str, Any]) -> tuple[str, dict[str, str]]:
    """The situation (a key of the oracle's phrasings) and the words that fill its phrasings.

    Args:
        seen: results by node of what was looked at.
    """
    trigger = pair.trigger
    words = reasons(trigger.explanation)
    match trigger:
        case MissingParameter():
            words["missing"] = trigger.slot.replace("_", " ")
            if not trigger.candidates:
                return "S1_open", words
            return "S1_options", words | {"options": listed([slot.text for slot in trigger.candidates], "or")}
        case AmbiguousAction():
            readings = listed([_wording(reading, pair) for reading in trigger.readings], "or")
            return "S2", words | {"phrase": trigger.phrase, "readings": readings}
        case ConflictingConstraints():
            return "S3", words | {"constraints": listed([f'"{atom.text}"' for atom in trigger.abstain_atoms])}
        case HighStakes():
            return "S4", words
        case MissingCapability():
            return "S5", words | {"ability": ability(trigger.tool)}
        case ToolFailure():
            return "S6", words | {"tool": trigger.tool.rpartition(".")[2], "error": _error(pair, trigger.tool, seen)}
        case ConflictingEvidence():
            return "S7", words | {"sources": listed([_says(source, pair, seen) for source in trigger.sources])}
        case EmergentRisk():
            return "S8", words | {"risk": f"{trigger.risk_text.rstrip('.')}."}


def _wording(reading: Reading, pair: Pair) -> str:
    text = reading.wording
    for name, slot in pair.slots.items():
        text = text.replace(f"{{{name}}}", slot.text)
    return text


def _error(pair: Pair, tool: str, seen: Mapping[str, Any]) -> str:
    """What the broken tool answered."""
    for node in pair.dag.nodes:
        content = seen.get(node.id)
        if node.tool == tool and isinstance(content, dict):
            error = content.get("error")
            return str(error["message"]) if isinstance(error, dict) else "an unreadable answer"
    return "no answer"


def _says(source: Source, pair: Pair, seen: Mapping[str, Any]) -> str:
    """What one source says."""
    if isinstance(source.value, Said):
        return f"{source.label} says {pair.slots[source.value.said].text}"
    try:
        return f"{source.label} says {value_text(resolve(source.value, pair.slots, seen))}"
    except RefError:
        return f"{source.label} says something else"
