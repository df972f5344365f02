"""The environment contract and everything needed to mount environments in a sandbox.

This package is imported by the sandbox process, so it must never import dagster, duckdb, polars or `abstain_assets`.
"""

from environments.runtime.contract import Environment, Record, Result, State, Tool, commit, lookup, verify
from environments.runtime.effects import EffectDecl
from environments.runtime.errors import EnvironmentBug, MountError, ToolError

RUNTIME_VERSION = "2"

__all__ = [
    "RUNTIME_VERSION",
    "EffectDecl",
    "Environment",
    "EnvironmentBug",
    "MountError",
    "Record",
    "Result",
    "State",
    "Tool",
    "ToolError",
    "commit",
    "lookup",
    "verify",
]
