"""Walking a reference DAG: which call comes next, given the results so far.

Replay, the validators and the scripted policies all drive the same walker; they differ in where the answers come from.
"""

from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import Any

import networkx as nx

from abstain_assets.pairs.refs import RefError, mentioned, resolve
from abstain_assets.records import Dag, Node, Slot
from environments.runtime.records import JsonObject


class DagError(Exception):
    """A DAG is not well formed: duplicate ids, unknown nodes or slots, or a cycle."""


@dataclass(frozen=True)
class Step:
    """The next call: the node it belongs to and its resolved arguments."""

    node: Node
    args: JsonObject


Walk = Generator[Step, JsonObject, dict[str, Any]]


def graph(dag: Dag) -> "nx.DiGraph[Any]":
    """The DAG as a graph: an edge for every reference and every explicit order.

    Raises:
        DagError: it is not a DAG over its own nodes.
    """
    ids = [node.id for node in dag.nodes]
    if len(set(ids)) != len(ids):
        raise DagError(f"duplicate node ids in {ids}")
    result: nx.DiGraph[Any] = nx.DiGraph()
    result.add_nodes_from(ids)
    for node in dag.nodes:
        for source in dependencies(node):
            if source not in result:
                raise DagError(f"node {node.id} depends on unknown node {source!r}")
            result.add_edge(source, node.id)
    if not nx.is_directed_acyclic_graph(result):
        raise DagError(f"the references form a cycle: {nx.find_cycle(result)}")
    return result


def dependencies(node: Node) -> set[str]:
    """Nodes that must come before this one."""
    found = set(node.after)
    for arg in (*node.args.values(), *((node.for_each,) if node.for_each else ())):
        found |= mentioned(arg)[1]
    return found - {"each"}


def said_slots(node: Node) -> set[str]:
    """Slots this node's arguments take from the instruction."""
    found: set[str] = set()
    for arg in (*node.args.values(), *((node.for_each,) if node.for_each else ())):
        found |= mentioned(arg)[0]
    return found


def ordered(dag: Dag) -> list[Node]:
    """Nodes in a stable topological order: as written, as far as dependencies allow."""
    position = {node.id: index for index, node in enumerate(dag.nodes)}
    by_id = {node.id: node for node in dag.nodes}
    return [by_id[name] for name in nx.lexicographical_topological_sort(graph(dag), key=position.__getitem__)]


def walk(dag: Dag, slots: Mapping[str, Slot], *, lenient: bool = False) -> Walk:
    """Yield one step after another and take each call's content (`Call.content`) in return.

    Args:
        lenient: leave out nodes whose arguments cannot be resolved, instead of raising: what an agent does that goes on regardless.

    Returns:
        The results per node: the content, or a list of contents for a `for_each` node.

    Raises:
        RefError: an argument cannot be resolved.
        DagError: the DAG is not well formed.
    """
    results: dict[str, Any] = {}
    for node in ordered(dag):
        try:
            if node.for_each is None:
                results[node.id] = yield Step(node, arguments(node, slots, results))
                continue
            contents = []
            for item in resolve(node.for_each, slots, results):
                contents.append((yield Step(node, arguments(node, slots, {**results, "each": item}))))
            results[node.id] = contents
        except RefError:
            if not lenient:
                raise
    return results


def arguments(node: Node, slots: Mapping[str, Slot], results: Mapping[str, Any]) -> JsonObject:
    """The resolved arguments of a node."""
    return {name: resolve(arg, slots, results) for name, arg in node.args.items()}
