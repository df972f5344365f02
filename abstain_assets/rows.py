"""Between records and rows: how each record becomes a row of its table, and how rows become records again.

Most columns are a field of the record by the same name; what is renamed, flattened or computed is written out here.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

import polars as pl
from pydantic import BaseModel

from abstain_assets.metrics.records import LeaderboardRow, MetricRow
from abstain_assets.pairs.deltas import variant
from abstain_assets.pairs.execute import graph
from abstain_assets.records import CapabilityRow, Check, Pair, Rejection, Rollout, Timing, Verdict, canonical, digest
from abstain_assets.seeds.records import AugmentedSeed, CollectedSeed, Grounding, Route, SampledSeed, Seed, SeedSource
from abstain_assets.tables import TABLES, Kind, Table
from abstain_assets.taxonomy import Side
from environments.runtime import RUNTIME_VERSION, registry
from environments.runtime.effects import EffectDecl
from environments.runtime.records import Call, ToolKind
from environments.runtime.wire import wire_name

Row = dict[str, Any]


def frame(name: str, rows: Iterable[Mapping[str, Any]]) -> pl.DataFrame:
    """Rows as a typed table, sorted by its key.

    Raises:
        polars.exceptions.PolarsError: a row does not fit the schema.
    """
    table = TABLES[name]
    content = pl.DataFrame([dict(row) for row in rows], schema=table.schema, strict=True, orient="row")
    return content.sort(table.key, nulls_last=True)


def _plain(table: Table, item: BaseModel, /, **extra: Any) -> Row:
    """A row whose columns are the item's fields, with `extra` in place of fields or beside them."""
    values = {**item.model_dump(mode="json"), **extra}
    return {column.name: _cell(column.kind, values[column.name]) for column in table.columns}


def _cell(kind: Kind, value: Any) -> Any:
    return canonical(value) if kind is Kind.JSON and value is not None else value


# --- seeds ----------------------------------------------------------------------------------------------------------------


def seed_rows(collected: Iterable[CollectedSeed]) -> list[Row]:
    """Rows of `seeds`."""
    return [_plain(TABLES["seeds"], item, **item.raw.model_dump(mode="json")) for item in collected]


def sample_rows(drawn: Iterable[SampledSeed]) -> list[Row]:
    """Rows of `seed_samples`."""
    rows = []
    for item in drawn:
        record = item.seed.model_dump(mode="json")
        rows.append(_plain(TABLES["seed_samples"], item, **record | {"seed": item.seed.id, "record": record}))
    return rows


def source_rows(sources: Iterable[SeedSource]) -> list[Row]:
    """Rows of `seed_sources`."""
    return [_plain(TABLES["seed_sources"], item) for item in sources]


def kept_seeds_from(table: pl.DataFrame) -> tuple[Seed, ...]:
    """The seeds of the rows of `seeds` that were kept.

    Raises:
        pydantic.ValidationError: a row was written by another version.
    """
    rows = table.filter(pl.col("fate") == "kept").select(list(Seed.model_fields)).iter_rows(named=True)
    return tuple(Seed.model_validate(unpacked(TABLES["seeds"], row)) for row in rows)


def sampled_seeds_from(table: pl.DataFrame) -> tuple[Seed, ...]:
    """The seeds of rows of `seed_samples`.

    Raises:
        pydantic.ValidationError: a record was written by another version.
    """
    return tuple(Seed.model_validate_json(text) for text in table["record"])


def sources_from(table: pl.DataFrame) -> tuple[SeedSource, ...]:
    """The sources of rows of `seed_sources`.

    Raises:
        pydantic.ValidationError: a row was written by another version.
    """
    return tuple(SeedSource.model_validate(row) for row in table.iter_rows(named=True))


# --- catalog and environments ---------------------------------------------------------------------------------------------


def capability_rows(capabilities: Iterable[CapabilityRow]) -> list[Row]:
    """Rows of `capabilities`."""
    return [_plain(TABLES["capabilities"], item) for item in capabilities]


def capabilities_from(table: pl.DataFrame) -> tuple[CapabilityRow, ...]:
    """The capabilities of rows of `capabilities`.

    Raises:
        pydantic.ValidationError: a row was written by another version.
    """
    return tuple(CapabilityRow.model_validate(unpacked(TABLES["capabilities"], row)) for row in table.iter_rows(named=True))


def augmented_rows(seeds: Iterable[AugmentedSeed], round_name: str) -> list[Row]:
    """Rows of `augmented_seeds`."""
    return [_plain(TABLES["augmented_seeds"], item, round=round_name) for item in seeds]


def augmented_from(table: pl.DataFrame) -> tuple[AugmentedSeed, ...]:
    """The seeds of rows of `augmented_seeds`.

    Raises:
        pydantic.ValidationError: a row was written by another version.
    """
    rows = table.select(list(AugmentedSeed.model_fields)).iter_rows(named=True)
    return tuple(AugmentedSeed.model_validate(unpacked(TABLES["augmented_seeds"], row)) for row in rows)


def route_rows(routes: Iterable[Route], seeds: Iterable[AugmentedSeed], round_name: str) -> list[Row]:
    """Rows of `routes`.

    Args:
        seeds: those that were routed, and possibly others.
    """
    by_id = {item.seed: item for item in seeds}
    return [
        _plain(
            TABLES["routes"],
            item,
            round=round_name,
            scenario=by_id[item.seed].scenario.value,
            action_type=by_id[item.seed].action_type.value,
        )
        for item in routes
    ]


def routes_from(table: pl.DataFrame) -> tuple[Route, ...]:
    """The routes of rows of `routes`.

    Raises:
        pydantic.ValidationError: a row was written by another version.
    """
    rows = table.select(list(Route.model_fields)).iter_rows(named=True)
    return tuple(Route.model_validate(unpacked(TABLES["routes"], row)) for row in rows)


def grounding_rows(groundings: Iterable[Grounding]) -> list[Row]:
    """Rows of `groundings`."""
    return [_plain(TABLES["groundings"], item) for item in groundings]


def environment_row(name: str) -> Row:
    """The row of `environments` for one environment.

    Raises:
        MountError: there is no such environment.
    """
    env = registry.load(name)
    kinds = [tool.kind for tool in env.tools.values()]
    return {
        "name": name,
        "summary": env.summary,
        "digest": registry.digest(name),
        "runtime_version": RUNTIME_VERSION,
        "tools": len(kinds),
        **{kind.value: kinds.count(kind) for kind in ToolKind},
        "effects": canonical(sorted({decl.kind for tool in env.tools.values() for decl in tool.effects})),
        "state_schema": canonical(env.state_type.model_json_schema()),
    }


def tool_rows(name: str) -> list[Row]:
    """Rows of `tools` for one environment."""
    return [
        {
            "environment": name,
            "name": f"{name}.{tool.name}",
            "wire_name": wire_name(f"{name}.{tool.name}"),
            "kind": tool.kind.value,
            "description": tool.signature.description,
            "input_schema": canonical(tool.signature.input_schema),
            "output_schema": canonical(tool.signature.output_schema),
            "effects": canonical([_declared(decl) for decl in tool.effects]),
        }
        for tool in registry.load(name).tools.values()
    ]


def _declared(decl: EffectDecl) -> Row:
    return {"kind": decl.kind, "on": decl.on, "writes": list(decl.writes), "when": dict(decl.when), "implied": decl.implied}


# --- pairs ----------------------------------------------------------------------------------------------------------------


def pair_rows(pairs: Iterable[Pair]) -> list[Row]:
    """Rows of `pairs`."""
    return [_pair_row(pair) for pair in pairs]


def _pair_row(pair: Pair) -> Row:
    record = pair.model_dump(mode="json")
    dag = graph(pair.dag)
    return _plain(
        TABLES["pairs"],
        pair,
        delta_kind=pair.delta.kind,
        environments=list(pair.environments),
        system_prompt=pair.act.system_prompt,
        act_instruction=pair.act.instruction,
        abstain_instruction=variant(pair, Side.ABSTAIN).instruction,
        explanation=pair.trigger.explanation,
        nodes=dag.number_of_nodes(),
        edges=dag.number_of_edges(),
        digest=digest(record),
        record=record,
    )


def pairs_from(table: pl.DataFrame) -> tuple[Pair, ...]:
    """The pairs of rows of `pairs`.

    Raises:
        pydantic.ValidationError: a record was written by another version.
    """
    return tuple(Pair.model_validate_json(text) for text in table["record"])


def check_rows(stage: str, subject: str, checks: Iterable[Check], *, round_name: str = "", scenario: str = "") -> list[Row]:
    """Rows of `checks` for one environment or pair."""
    return [_plain(TABLES["checks"], check, stage=stage, subject=subject, round=round_name, scenario=scenario) for check in checks]


def quarantine_rows(rejections: Iterable[Rejection]) -> list[Row]:
    """Rows of `quarantine`."""
    return [_plain(TABLES["quarantine"], item, failed_check=item.check) for item in rejections]


# --- rollouts and verdicts ------------------------------------------------------------------------------------------------


def rollout_rows(rollouts: Iterable[Rollout], pair_digests: Mapping[str, str]) -> list[Row]:
    """Rows of `rollouts`.

    Args:
        pair_digests: by pair, the digest of what is published; the rollouts must be true of it.
    """
    return [
        _plain(
            TABLES["rollouts"],
            item,
            **item.usage.model_dump(mode="json"),
            pair_digest=pair_digests[item.pair_id],
            tool_calls=len(item.calls),
        )
        for item in rollouts
    ]


def call_rows(rollouts: Iterable[Rollout]) -> list[Row]:
    """Rows of `calls`."""
    rows = []
    for rollout in rollouts:
        keys = rollout.model_dump(
            mode="json", include={"fingerprint", "pair_id", "round", "scenario", "side", "model", "harness", "epoch"}
        )
        for call in rollout.calls:
            error = call.error
            rows.append(
                _plain(
                    TABLES["calls"],
                    call,
                    **keys,
                    error_code=error.code if error else None,
                    error_message=error.message if error else None,
                )
            )
    return rows


def rollouts_from(rollouts: pl.DataFrame, calls: pl.DataFrame) -> tuple[Rollout, ...]:
    """The rollouts of rows of `rollouts` with their rows of `calls`, in the order of the former.

    Raises:
        pydantic.ValidationError: a row was written by another version.
    """
    by_rollout: dict[str, list[Call]] = defaultdict(list)
    for row in calls.sort("fingerprint", "index").iter_rows(named=True):
        by_rollout[row["fingerprint"]].append(_call(row))
    return tuple(_rollout(row, by_rollout[row["fingerprint"]]) for row in rollouts.iter_rows(named=True))


def _rollout(row: Row, calls: list[Call]) -> Rollout:
    values = unpacked(TABLES["rollouts"], row)
    usage = {name: values.pop(name) for name in ("requests", "retries", "input_tokens", "output_tokens", "cost_usd")}
    del values["pair_digest"], values["tool_calls"]
    return Rollout.model_validate({**values, "usage": usage, "calls": calls})


def _call(row: Row) -> Call:
    values = unpacked(TABLES["calls"], row)
    code, message = values.pop("error_code"), values.pop("error_message")
    error = None if code is None else {"code": code, "message": message}
    return Call.model_validate({**{name: values[name] for name in Call.model_fields if name in values}, "error": error})


def timing_rows(timings: Iterable[Timing]) -> list[Row]:
    """Rows of `timings`."""
    return [_plain(TABLES["timings"], item) for item in timings]


def verdict_rows(verdicts: Iterable[Verdict]) -> list[Row]:
    """Rows of `verdicts`."""
    return [_plain(TABLES["verdicts"], item) for item in verdicts]


def verdicts_from(table: pl.DataFrame) -> tuple[Verdict, ...]:
    """The verdicts of rows of `verdicts`.

    Raises:
        pydantic.ValidationError: a row was written by another version.
    """
    return tuple(Verdict.model_validate(row) for row in table.iter_rows(named=True))


# --- metrics --------------------------------------------------------------------------------------------------------------


def metric_table_rows(metrics: Iterable[MetricRow]) -> list[Row]:
    """Rows of `metrics`."""
    return [_plain(TABLES["metrics"], item) for item in metrics]


def leaderboard_table_rows(lines: Iterable[LeaderboardRow]) -> list[Row]:
    """Rows of `leaderboard`."""
    return [_plain(TABLES["leaderboard"], item) for item in lines]


def leaderboard_from(table: pl.DataFrame) -> tuple[LeaderboardRow, ...]:
    """The lines of rows of `leaderboard`, in their order.

    Raises:
        pydantic.ValidationError: a row was written by another version.
    """
    return tuple(LeaderboardRow.model_validate(unpacked(TABLES["leaderboard"], row)) for row in table.iter_rows(named=True))


def unpacked(table: Table, row: Row) -> Row:
    """A row with its JSON columns as the values they hold."""
    nested = {column.name for column in table.columns if column.kind is Kind.JSON}
    return {name: json.loads(value) if name in nested and value is not None else value for name, value in row.items()}
