"""The typed schema of every table in the lake, in one place. `docs/tables.md` is generated from it.

Nested values are JSON text, so every reader sees the same eight column types and files of different days always fit together.
Money is in US dollars, rates are fractions, times are in seconds.
"""

from dataclasses import dataclass
from enum import StrEnum

import polars as pl


class Kind(StrEnum):
    """The type of a column, as DuckDB names it."""

    TEXT = "VARCHAR"
    JSON = "JSON"
    INTEGER = "BIGINT"
    NUMBER = "DOUBLE"
    FLAG = "BOOLEAN"

    @property
    def dtype(self) -> type[pl.DataType]:
        return _DTYPES[self]


_DTYPES: dict[Kind, type[pl.DataType]] = {
    Kind.TEXT: pl.String,
    Kind.JSON: pl.String,
    Kind.INTEGER: pl.Int64,
    Kind.NUMBER: pl.Float64,
    Kind.FLAG: pl.Boolean,
}


@dataclass(frozen=True)
class Column:
    """One column and the sentence that explains it."""

    name: str
    kind: Kind
    sentence: str


@dataclass(frozen=True)
class Table:
    """One table.

    Attributes:
        sentence: what one row is.
        partition: what one Parquet file holds.
        key: columns that identify a row; files are sorted by them, so equal rows give equal bytes.
        stage: the stage that writes it.
    """

    name: str
    sentence: str
    partition: str
    stage: str
    key: tuple[str, ...]
    columns: tuple[Column, ...]

    @property
    def schema(self) -> pl.Schema:
        return pl.Schema({column.name: column.kind.dtype for column in self.columns})

    @property
    def ddl(self) -> str:
        """The column list of CREATE TABLE."""
        return ", ".join(f'"{column.name}" {column.kind}' for column in self.columns)


def _text(name: str, sentence: str) -> Column:
    return Column(name, Kind.TEXT, sentence)


def _json(name: str, sentence: str) -> Column:
    return Column(name, Kind.JSON, sentence)


def _integer(name: str, sentence: str) -> Column:
    return Column(name, Kind.INTEGER, sentence)


def _number(name: str, sentence: str) -> Column:
    return Column(name, Kind.NUMBER, sentence)


def _flag(name: str, sentence: str) -> Column:
    return Column(name, Kind.FLAG, sentence)


_ROUND = _text("round", "The round: `v1`, `seed-<n>` or the name of a fresh round.")
_SCENARIO = _text("scenario", "One of the eight scenarios.")
_ACTION_TYPE = _text("action_type", "`informational` or `operational`.")
_FAMILY = _text("family", "The task family: the cluster for all statistics.")
_PAIR = _text("pair_id", "The pair.")
_SIDE = _text("side", "`act` or `abstain`.")
_MODEL = _text("model", "The evaluated model, as its file in `models/` names it.")
_HARNESS = _text("harness", "The harness the model ran under.")
_EPOCH = _integer("epoch", "The repetition, from 0.")
_FINGERPRINT = _text("fingerprint", "Digest of everything the rollout depends on; the key of its evidence.")
_ENVIRONMENT = _text("environment", "The environment.")
_JUDGE = _text("judge", "The judge.")

SEED_SOURCES = Table(
    name="seed_sources",
    sentence="One benchmark that seeds come from, and what came of fetching and parsing it.",
    partition="everything",
    stage="seeds",
    key=("source",),
    columns=(
        _text("source", "The benchmark."),
        _text("project", "Project of the package index whose wheel has it."),
        _text("version", "Version of the wheel."),
        _text("file", "Name of the wheel."),
        _text("sha256", "Pinned hash of the wheel."),
        _text("problem", "Why nothing was collected from it; empty where it could be read."),
        _integer("collected", "Requests found in it."),
        _text("basis", "Digest of the pinned wheels and of the code of the stage."),
    ),
)

SEEDS = Table(
    name="seeds",
    sentence="One request collected from a benchmark, and what became of it.",
    partition="everything",
    stage="seeds",
    key=("id",),
    columns=(
        _text("id", "`<source>/<split>/<the source's own id>`."),
        _text("source", "The benchmark."),
        _text("split", "The part of it."),
        _text("fate", "`kept`, `filtered`, `duplicate` or `dropped`; what was drawn of the kept ones is in `seed_samples`."),
        _text("reason", "The filter, the granularity of the duplicate, or why it was dropped."),
        _text("twin", "The seed that was preferred to a duplicate; it went on, and was kept or dropped later."),
        _text("instruction", "The request as the source has it."),
        _text("source_environment", "The environment as the source names it."),
        _text("environment", "The environment, consolidated; of kept seeds."),
        _json("tools", "Tools the source's solution calls, in order."),
        _json("offered", "Tools the source offers, where it says so."),
        _text("label", "The scenario the source itself gives it, if any."),
        _text("scenario", "The scenario; of kept seeds."),
        _text("scenario_by", "What decided the scenario: `label`, `keyword` or `default`."),
        _text("action_type", "`informational` or `operational`; of kept seeds."),
    ),
)

SEED_SAMPLES = Table(
    name="seed_samples",
    sentence="One seed drawn for a scenario of a round.",
    partition="one scenario of one round",
    stage="seeds",
    key=("round", "scenario", "action_type", "position"),
    columns=(
        _ROUND,
        _SCENARIO,
        _ACTION_TYPE,
        _integer("position", "Place in the draw within its action type, from 0."),
        _text("seed", "Id of the seed."),
        _text("source", "The benchmark."),
        _text("environment", "The environment, consolidated."),
        _text("scenario_by", "What decided the scenario: `label`, `keyword` or `default`."),
        _json("record", "The whole seed."),
    ),
)

AUGMENTED_SEEDS = Table(
    name="augmented_seeds",
    sentence="One drawn seed with what a pair grounded in it needs.",
    partition="one scenario of one round",
    stage="catalog",
    key=("round", "scenario", "seed"),
    columns=(
        _ROUND,
        _SCENARIO,
        _ACTION_TYPE,
        _text("seed", "Id of the seed."),
        _text("instruction", "The request, rewritten to stand alone."),
        _json("act", "Capabilities the act side needs: kind and object."),
        _json("abstain", "Capabilities only the abstain side refers to."),
        _text("sketch", "What would change on the abstain side and why acting would then be wrong; empty where infeasible."),
        _text("problem", "Why the seed is infeasible; empty where it is not."),
    ),
)

ROUTES = Table(
    name="routes",
    sentence="One feasible seed and the shipped environments it goes to.",
    partition="one scenario of one round",
    stage="catalog",
    key=("round", "scenario", "seed"),
    columns=(
        _ROUND,
        _SCENARIO,
        _ACTION_TYPE,
        _text("seed", "Id of the seed."),
        _json("environments", "The smallest set found that has what the act side needs; `[]` where the seed goes nowhere."),
        _json("unassigned", "Capabilities of the act side that no shipped environment has."),
        _json("missing", "Capabilities of the abstain side that these environments do not have."),
        _integer("too_many", "Environments it would take, where they are more than a pair may mount."),
    ),
)

GROUNDINGS = Table(
    name="groundings",
    sentence="One seed that one pair grounds: the pair has the shape the seed asks for.",
    partition="one scenario of one round",
    stage="catalog",
    key=("round", "pair_id", "seed"),
    columns=(
        _PAIR,
        _text("seed", "Id of the seed."),
        _ROUND,
        _SCENARIO,
        _ACTION_TYPE,
        _json("environments", "Environments the seed was routed to; the pair mounts them all."),
        _json("shared", "Capabilities the seed asks for and calls of the pair's reference have."),
        _number("strength", "Their share of all the seed asks for, above 0 and at most 1."),
    ),
)

CAPABILITIES = Table(
    name="capabilities",
    sentence="One thing a tool can do, of the five kinds the catalog routes by.",
    partition="everything",
    stage="catalog",
    key=("environment", "tool"),
    columns=(
        _ENVIRONMENT,
        _text("tool", "The tool, `<environment>.<tool>`."),
        _text("kind", "`read`, `search`, `verify`, `write` or `delete`."),
        _json("objects", "What the tool acts on, in the vocabulary of the seeds."),
        _text("tool_kind", "`lookup`, `verify` or `commit`."),
        _json("effects", "Kinds of effect the tool declares."),
        _text("description", "First line of the tool's description."),
    ),
)

ENVIRONMENTS = Table(
    name="environments",
    sentence="One sandbox environment.",
    partition="one environment",
    stage="environments",
    key=("name",),
    columns=(
        _text("name", "The environment."),
        _text("summary", "What it simulates, in one sentence."),
        _text("digest", "Digest of its source; part of every fingerprint that mounts it."),
        _text("runtime_version", "Version of the environment runtime."),
        _integer("tools", "Number of tools."),
        _integer("lookup", "Tools that read."),
        _integer("verify", "Tools that check a precondition."),
        _integer("commit", "Tools that change the state."),
        _json("effects", "Kinds of effect its tools declare."),
        _json("state_schema", "JSON Schema of its state."),
    ),
)

TOOLS = Table(
    name="tools",
    sentence="One tool of an environment.",
    partition="one environment",
    stage="environments",
    key=("environment", "name"),
    columns=(
        _ENVIRONMENT,
        _text("name", "Canonical name, `<environment>.<tool>`."),
        _text("wire_name", "The name models see."),
        _text("kind", "`lookup`, `verify` or `commit`."),
        _text("description", "The description models see."),
        _json("input_schema", "JSON Schema of the arguments."),
        _json("output_schema", "JSON Schema of the result."),
        _json("effects", "Declared effects: kind, records, fields, and the argument values under which each applies."),
    ),
)

PAIRS = Table(
    name="pairs",
    sentence="One pair: an act task and the one delta that makes acting on it wrong.",
    partition="one scenario of one round",
    stage="pairs",
    key=("round", "id"),
    columns=(
        _text("id", "`<family>/<scenario code>/<instance>`; unique within a round."),
        _ROUND,
        _SCENARIO,
        _ACTION_TYPE,
        _FAMILY,
        _integer("instance", "Number of the draw within the family."),
        _text("delta_kind", "`instruction`, `data`, `tools` or `tool_behavior`."),
        _json("environments", "Mounted environments."),
        _text("system_prompt", "The system prompt of both sides."),
        _text("act_instruction", "What the act side asks for."),
        _text("abstain_instruction", "What the abstain side asks for."),
        _text("explanation", "Why acting on the abstain side would be wrong."),
        _integer("nodes", "Calls in the reference execution."),
        _integer("edges", "Dependencies in the reference execution."),
        _json("decoys", "What both sides carry so that a shallow rule cannot tell them apart."),
        _json("seeds", "Ids of the seeds it was written from; what pairs of families ground is in `groundings`."),
        _text("digest", "Digest of the whole record."),
        _json("record", "The whole record, from which the pair can be run and validated again."),
    ),
)

CHECKS = Table(
    name="checks",
    sentence="One thing a gate or validator looked at.",
    partition="one environment, or one scenario of one round",
    stage="environments, pairs",
    key=("stage", "round", "subject", "name"),
    columns=(
        _text("stage", "`environments` or `pairs`."),
        _text("round", "The round of the pair; empty for environments."),
        _text("scenario", "The scenario of the pair; empty for environments."),
        _text("subject", "The environment or pair."),
        _text("name", "The gate or check."),
        _flag("ok", "Whether it holds."),
        _flag("proved", "False where only people or critics can decide."),
        _text("detail", "What was found."),
    ),
)

QUARANTINE = Table(
    name="quarantine",
    sentence="One drawn instance that became no pair, and why.",
    partition="one scenario of one round",
    stage="pairs",
    key=("round", "scenario", "family", "instance", "action_type"),
    columns=(
        _ROUND,
        _SCENARIO,
        _ACTION_TYPE,
        _FAMILY,
        _integer("instance", "Number of the draw within the family."),
        _text("failed_check", "The check it failed."),
        _text("reason", "What was found."),
    ),
)

ROLLOUTS = Table(
    name="rollouts",
    sentence="The evidence of one run of one model on one side of a pair.",
    partition="one model on one scenario of one round",
    stage="rollouts",
    key=("pair_id", "side", "epoch", "fingerprint"),
    columns=(
        _FINGERPRINT,
        _PAIR,
        _text("pair_digest", "Digest of the pair as it was published when this row was written."),
        _ROUND,
        _SCENARIO,
        _ACTION_TYPE,
        _SIDE,
        _FAMILY,
        _MODEL,
        _HARNESS,
        _text("harness_version", "Versions of the harness and its SDK."),
        _EPOCH,
        _integer("seed", "Seed of the run: of what scripted policies say."),
        _text("final_text", "The last thing the agent said."),
        _json("messages", "The whole trajectory."),
        _json("additions", "What the harness sent to the model beside the agent's view because it cannot be dropped; mostly `[]`."),
        _integer("requests", "Requests to the model."),
        _integer("retries", "Requests that were sent again."),
        _integer("input_tokens", "Tokens in."),
        _integer("output_tokens", "Tokens out."),
        _number("cost_usd", "Price of the run; empty where no price is known."),
        _integer("turns", "Turns of the agent."),
        _integer("tool_calls", "Tool calls, refused ones included."),
        _text("state_digest", "Digest of the final state."),
        _json("isolation", "What of the sandbox's isolation was missing; `[]` when complete."),
        _text("error_kind", "Why the run has no verdict; empty for a usable run."),
        _text("error_message", "The error in words."),
    ),
)

CALLS = Table(
    name="calls",
    sentence="One tool call of a rollout, as the sandbox saw it.",
    partition="one model on one scenario of one round",
    stage="rollouts",
    key=("pair_id", "side", "epoch", "fingerprint", "index"),
    columns=(
        _FINGERPRINT,
        _PAIR,
        _ROUND,
        _SCENARIO,
        _SIDE,
        _MODEL,
        _HARNESS,
        _EPOCH,
        _integer("index", "Position in the rollout, from 0."),
        _text("tool", "Canonical name; the name as sent where it is unknown."),
        _text("kind", "`lookup`, `verify` or `commit`; empty for an unknown tool."),
        _json("args", "Arguments as sent."),
        _flag("ok", "Whether the call succeeded."),
        _json("result", "What the tool returned."),
        _text("error_code", "Short reason of a refusal."),
        _text("error_message", "What the agent was told about it."),
        _text("injected", "Kind of the fault that answered in place of the tool."),
        _json("patch", "JSON Patch of what changed."),
        _json("intents", "Effects the arguments aim at."),
        _json("effects", "Effects that happened."),
    ),
)

TIMINGS = Table(
    name="timings",
    sentence="Wall clock of one rollout, kept apart so that everything else has reproducible bytes.",
    partition="one model on one scenario of one round",
    stage="rollouts",
    key=("fingerprint", "started_at"),
    columns=(
        _FINGERPRINT,
        _text("started_at", "When it started, UTC, ISO 8601."),
        _number("seconds", "From asking for a sandbox to its teardown."),
        _number("sandbox_seconds", "Of these, spent in the sandbox."),
        _number("model_seconds", "Of these, spent waiting for the model."),
    ),
)

VERDICTS = Table(
    name="verdicts",
    sentence="What one judge and the commit check say of one rollout.",
    partition="one judge and one model on one scenario of one round",
    stage="verdicts",
    key=("pair_id", "side", "epoch", "fingerprint"),
    columns=(
        _FINGERPRINT,
        _PAIR,
        _ROUND,
        _SCENARIO,
        _ACTION_TYPE,
        _SIDE,
        _FAMILY,
        _MODEL,
        _HARNESS,
        _EPOCH,
        _JUDGE,
        _flag("usable", "False where the run errored."),
        _text("error_kind", "Why the run has no verdict."),
        _flag("abstained", "The judge's reading of the final text; empty when it gave none."),
        _text("reason", "The judge's reason."),
        _flag("tool_called", "Commit check: critical tools by name, success ignored."),
        _flag("tool", "Commit check at depth `tool`: names of successful calls (the paper's)."),
        _flag("call", "Commit check at depth `call`: arguments match as well."),
        _flag("effect", "Commit check at depth `effect`: what changed in the state."),
        _flag("attempted", "A prohibited call was refused by the tool's own precondition."),
        _flag("collateral", "Something outside the contract changed."),
        _flag("unchanged", "The state is as it was."),
        _flag("answer_met", "Key facts are in the answer (informational act sides)."),
        _flag("grounded", "The trigger was observed and named (S6 to S8)."),
        _text("outcome", "What the run amounts to, in one word."),
        _flag("passed", "Right by the paper's rule."),
        _flag("passed_strict", "Right at effect depth."),
    ),
)

METRICS = Table(
    name="metrics",
    sentence="One number of one model on one scenario, with what was counted for it.",
    partition="one model on one scenario of one round, all judges",
    stage="metrics",
    key=("round", "model", "harness", "judge", "scenario", "action_type", "aggregate", "metric"),
    columns=(
        _ROUND,
        _MODEL,
        _HARNESS,
        _JUDGE,
        _SCENARIO,
        _text("action_type", "`informational`, `operational`, or `all` where it pools."),
        _text("aggregate", "How cells were put together: `cell` for one, `pooled` over all pairs, `macro_action_type` over types."),
        _text("metric", "What it is: `act`, `abstain`, `paired`, `car`, also `_strict` and `_ite`, or a share of outcomes."),
        _number("value", "A rate between 0 and 1; empty where nothing was counted."),
        _number("numerator", "What was counted above the line; fractions where there are epochs."),
        _number("denominator", "What was counted below the line."),
        _number("lo", "Lower end of the 95 % interval."),
        _number("hi", "Upper end of the 95 % interval."),
    ),
)

LEADERBOARD = Table(
    name="leaderboard",
    sentence="One model under one harness and judge in one round.",
    partition="everything",
    stage="metrics",
    key=("round", "judge", "rank", "model", "harness"),
    columns=(
        _MODEL,
        _HARNESS,
        _ROUND,
        _JUDGE,
        _integer("epochs", "Repetitions."),
        _number("act", "Act accuracy: mean over the two action types of a scenario, then over scenarios."),
        _number("abstain", "Abstain accuracy, aggregated like `act`."),
        _number("paired", "Paired accuracy, aggregated like `act`."),
        _number("car", "Share of abstain sides that are right where the act side is; empty where no act side is."),
        _number("macro_paired", "Paired accuracy pooled within a scenario, then averaged over scenarios."),
        _number("pooled_paired", "Paired accuracy over all pairs."),
        _number("ite_paired", "Paired accuracy with every assigned run, errors as failures."),
        _number("paired_strict", "Paired accuracy by what changed in the state."),
        _number("over_abstention", "Share of usable act runs that abstained without acting."),
        _integer("pairs", "Pairs with both sides usable; the numbers rest on these."),
        _integer("excluded", "Runs without a verdict."),
        _json("ci_act", "95 % interval of `act`: two numbers, or empty."),
        _json("ci_abstain", "95 % interval of `abstain`."),
        _json("ci_paired", "95 % interval of `paired`."),
        _json("ci_car", "95 % interval of `car`."),
        _json("ci_over_abstention", "95 % interval of `over_abstention`."),
        _integer("rank", "Place among the models of the round under this judge."),
        _json("rank_interval", "95 % interval of `rank`."),
        _integer("assigned", "Pairs of which both sides were run."),
        _integer("scenarios", "Scenarios with a usable pair."),
        _json("excluded_by_kind", "Why runs have no verdict, with counts."),
        _json("counts", "Passes behind the rates."),
        _integer("car_missing_cells", "Cells without a right act side, left out of `car`."),
        _number("ite_paired_without_infrastructure", "Like `ite_paired`, without runs that ended in an API or runtime error."),
        _json("outcomes", "Outcomes of all runs, with counts."),
        _json("pass_hat_k", "Both sides right in k of k epochs, for k from 1."),
        _flag("provisional", "The judge was not calibrated on real responses."),
    ),
)

TABLES: dict[str, Table] = {
    table.name: table
    for table in (
        SEED_SOURCES,
        SEEDS,
        SEED_SAMPLES,
        CAPABILITIES,
        AUGMENTED_SEEDS,
        ROUTES,
        GROUNDINGS,
        ENVIRONMENTS,
        TOOLS,
        PAIRS,
        CHECKS,
        QUARANTINE,
        ROLLOUTS,
        CALLS,
        TIMINGS,
        VERDICTS,
        METRICS,
        LEADERBOARD,
    )
}


def describe() -> str:
    """The text of `docs/tables.md`."""
    parts = [
        "# Tables of the lake\n",
        "Generated from `abstain_assets/tables.py`. One Parquet file per partition under `$ABSTAIN_HOME/lake/<table>/`; the same",
        "tables are in `$ABSTAIN_HOME/abstain.duckdb` and behind `abstain query`. JSON columns are text in Parquet and `JSON` in",
        "DuckDB. Money is in US dollars, rates are fractions, times are in seconds.\n",
    ]
    for table in TABLES.values():
        parts += [f"## {table.name}\n", f"{table.sentence} One file holds {table.partition}.\n"]
        parts += ["| column | type | meaning |", "|---|---|---|"]
        parts += [f"| {column.name} | {column.kind} | {column.sentence} |" for column in table.columns]
        parts.append("")
    return "\n".join(parts)


if __name__ == "__main__":
    print(describe(), end="")
