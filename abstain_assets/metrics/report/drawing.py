"""Where the boxes and arrows of a reference DAG go: one row per step of depth, so every arrow points down."""

from dataclasses import dataclass

import networkx as nx

from abstain_assets.pairs.execute import graph
from abstain_assets.records import Dag

_CHARACTER, _PADDING, _GAP, _HEIGHT, _DROP = 7.0, 12.0, 16.0, 40.0, 28.0


@dataclass(frozen=True)
class Box:
    """One node. Pixels from the top left corner."""

    x: float
    y: float
    width: float
    id: str
    tool: str
    environment: str


@dataclass(frozen=True)
class Drawing:
    """A DAG laid out. Edges run from the bottom of one box to the top of another: x and y of both ends."""

    width: float
    height: float
    box_height: float
    boxes: tuple[Box, ...]
    edges: tuple[tuple[float, float, float, float], ...]


def draw(dag: Dag) -> Drawing:
    """Lay out a reference DAG.

    Raises:
        DagError: it is not well formed.
    """
    nodes = {node.id: node for node in dag.nodes}
    position = {name: index for index, name in enumerate(nodes)}
    flow = graph(dag)
    rows = [sorted(names, key=position.__getitem__) for names in nx.topological_generations(flow)]
    widths = {name: _width(node.tool) for name, node in nodes.items()}
    total = max((sum(widths[name] for name in row) + _GAP * (len(row) - 1) for row in rows), default=0.0)
    boxes: dict[str, Box] = {}
    for depth, row in enumerate(rows):
        x = (total - sum(widths[name] for name in row) - _GAP * (len(row) - 1)) / 2
        for name in row:
            environment, _, tool = nodes[name].tool.partition(".")
            boxes[name] = Box(x + 1, depth * (_HEIGHT + _DROP) + 1, widths[name], name, tool, environment)
            x += widths[name] + _GAP
    edges = tuple(_edge(boxes[source], boxes[target]) for source, target in flow.edges)
    height = len(rows) * _HEIGHT + max(len(rows) - 1, 0) * _DROP
    return Drawing(total + 2, height + 2, _HEIGHT, tuple(boxes[name] for name in nodes), edges)


def _width(tool: str) -> float:
    return max(map(len, tool.split("."))) * _CHARACTER + 2 * _PADDING


def _edge(source: Box, target: Box) -> tuple[float, float, float, float]:
    return source.x + source.width / 2, source.y + _HEIGHT, target.x + target.width / 2, target.y
