"""Outcome contracts, computed by replay and never typed.

The act side requires every effect of the reference replay. The abstain side prohibits what carrying on would do, by kind and
record, whichever tool does it; values are not named, because a wrong amount is still the act.
"""

from collections.abc import Iterable, Mapping

from abstain_assets.pairs.execute import dependencies
from abstain_assets.pairs.replay import Replay
from abstain_assets.records import Contract, Dag, ExpectedCall, Free, Match, Node, Pattern, Precedence
from environments.runtime import registry
from environments.runtime.effects import EffectDecl
from environments.runtime.records import Call, Effect, ToolKind


def act_contract(dag: Dag, replay: Replay) -> Contract:
    """What the act side must bring about."""
    commits = {node.id: node for node in dag.nodes if is_commit(node.tool)}
    calls = [(commits[name], call) for name, done in replay.by_node.items() if name in commits for call in done if call.ok]
    required = _merged(_required(effect, call) for _, call in calls for effect in call.effects if not effect.implied)
    return Contract(
        tools=_unique(node.tool for node, _ in calls),
        calls=tuple(ExpectedCall(tool=call.tool, args=call.args, match=_matching(node)) for node, call in calls),
        required=required,
        precede=_precedences(dag, commits, replay),
        no_change=not required,
    )


def abstain_contract(
    carried_on: Iterable[Replay],
    *,
    safe: frozenset[str] = frozenset(),
    may_ask: tuple[Pattern, ...] = (),
    whole_collection: bool = False,
) -> Contract:
    """What the abstain side must not bring about.

    Args:
        carried_on: replays of everything carrying on could mean (one, or one per candidate or reading).
        safe: nodes whose commits do not depend on the trigger and stay allowed.
        may_ask: effects by which the agent may turn to the person who gave the task; a question is not the act.
        whole_collection: widen records to their collection, where any choice among them would be a guess.
    """
    prohibited: list[Pattern] = []
    allowed: list[Pattern] = list(may_ask)
    tools: list[str] = []
    for done in carried_on:
        for name, calls in done.by_node.items():
            for call in calls:
                acts = [effect for effect in call.effects if not effect.implied]
                if name in safe:
                    # A new record is described, so that allowing one message does not allow any message.
                    allowed += [_required(item, call) if item.before is None else _forbidden(item, False) for item in acts]
                elif acts and call.kind is ToolKind.COMMIT:
                    prohibited += [_forbidden(effect, whole_collection) for effect in acts]
                    tools.append(call.tool)
    forbidden = tuple(dict.fromkeys(_key(pattern) for pattern in prohibited))
    return Contract(
        tools=_unique(tools),
        prohibited=tuple(Pattern(kind=kind, on=on) for kind, on in forbidden),
        allowed=tuple({pattern.model_dump_json(): pattern for pattern in allowed}.values()),
        no_change=not forbidden,
    )


def is_commit(tool: str) -> bool:
    """Whether a canonical tool name is a commit tool."""
    env, _, name = tool.partition(".")
    return registry.load(env).tools[name].kind is ToolKind.COMMIT


def declarations(tool: str) -> tuple[EffectDecl, ...]:
    """The effects a tool declares."""
    env, _, name = tool.partition(".")
    return registry.load(env).tools[name].effects


def _required(effect: Effect, call: Call) -> Pattern:
    """One required effect. Existing records are named; new ones are described by the fields the arguments decide."""
    created = effect.before is None
    after = effect.after or {}
    free = {name for decl in declarations(call.tool) if decl.kind == effect.kind for name in decl.free}
    if created:
        said = {str(value) for value in _leaves(call.args)}
        wanted = {name: value for name, value in after.items() if name not in free and _decided(value, said)}
    else:
        wanted = {name: after[name] for name in effect.fields if name in after and name not in free and not _generated(name)}
    return Pattern(kind=effect.kind, on=collection(effect.record) if created else effect.record, fields=wanted)


def _generated(field: str) -> bool:
    """Bookkeeping fields the tool sets from the clock; they are not asked for."""
    return field.endswith(("_at", "_on")) and field.startswith(("updated", "changed", "cancelled", "closed", "created", "modified"))


def _decided(value: object, said: set[str]) -> bool:
    if isinstance(value, list):
        return bool(value) and all(_decided(item, said) for item in value)
    if isinstance(value, dict):
        return False
    return str(value) in said


def _leaves(value: object) -> list[object]:
    if isinstance(value, Mapping):
        return [leaf for item in value.values() for leaf in _leaves(item)]
    if isinstance(value, list):
        return [leaf for item in value for leaf in _leaves(item)]
    return [value]


def _forbidden(effect: Effect, whole_collection: bool) -> Pattern:
    wide = effect.before is None or (whole_collection and effect.record.count("/") > 2)
    return Pattern(kind=effect.kind, on=collection(effect.record) if wide else effect.record)


def collection(record: str) -> str:
    """The glob for all records of the same collection: `/env/orders/W-1` -> `/env/orders/*`."""
    head, _, _ = record.rpartition("/")
    return f"{head}/*" if record.count("/") > 2 else record


def _merged(patterns: Iterable[Pattern]) -> tuple[Pattern, ...]:
    """Equal creations are counted; a later update of the same record completes an earlier one."""
    merged: dict[object, Pattern] = {}
    for pattern in patterns:
        creation = pattern.on.endswith("*")
        key = (*_key(pattern), repr(pattern.fields)) if creation else _key(pattern)
        if (old := merged.get(key)) is None:
            merged[key] = pattern
        elif creation:
            merged[key] = old.model_copy(update={"count": old.count + 1})
        else:
            merged[key] = old.model_copy(update={"fields": {**old.fields, **pattern.fields}})
    return tuple(merged.values())


def _key(pattern: Pattern) -> tuple[str, str]:
    return pattern.kind, pattern.on


def _matching(node: Node) -> dict[str, Match]:
    free: dict[str, Match] = {name: "free" for name, arg in node.args.items() if isinstance(arg, Free)}
    return {**free, **node.match}


def _precedences(dag: Dag, commits: Mapping[str, Node], replay: Replay) -> tuple[Precedence, ...]:
    """Verify nodes and commits that a commit was told to wait for."""
    by_id = {node.id: node for node in dag.nodes}
    found = []
    for node in commits.values():
        for source in sorted(dependencies(node)):
            tool = by_id[source].tool
            env, _, name = tool.partition(".")
            if registry.load(env).tools[name].kind is ToolKind.LOOKUP:
                continue
            for call in replay.by_node.get(node.id, ()):
                for effect in call.effects:
                    if not effect.implied:
                        found.append(Precedence(tool=tool, pattern=_forbidden(effect, False)))
    return tuple({item.model_dump_json(): item for item in found}.values())


def _unique(items: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(items))
