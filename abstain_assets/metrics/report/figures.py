"""The two figures, as SVG inside a page: text stays text, colours follow the page's theme, equal data gives equal bytes."""

import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup
from matplotlib import colormaps, rc_context
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

# A colour that no figure uses otherwise: it is replaced by the page's text colour, so one file suits light and dark.
_TEXT = "#010203"
_GREY = "#808890"
_POINT = "#2f7fc1"
_CENTRED: dict[str, Any] = {"ha": "center", "va": "center"}
_UNUSED_ID = re.compile(r'(<g) id="[^"]*"')
# It would apply to the whole page; the page's own style says the same of figures.
_STYLE_SHEET = re.compile(r"<style.*?</style>", re.DOTALL)
_STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "text.color": _TEXT,
    "axes.edgecolor": _GREY,
    "axes.labelcolor": _TEXT,
    "xtick.color": _TEXT,
    "ytick.color": _TEXT,
    "text.parse_math": False,
}


@dataclass(frozen=True)
class HeatCell:
    """A rate and the number of pairs behind it; no rate where there is nothing to divide by."""

    rate: float | None
    pairs: int


@dataclass(frozen=True)
class Point:
    """One entry in the scatter plot, with 95 % intervals where there are any."""

    label: str
    act: float
    abstain: float


def heat_map(rows: Sequence[str], columns: Sequence[str], cells: Sequence[Sequence[HeatCell]], label: str) -> Markup:
    """Rates by row and column, each with its count; what is missing is hatched and says so.

    Args:
        label: what the figure shows, for readers who do not see it.
    """
    with rc_context({**_STYLE, "svg.hashsalt": "heat"}):
        figure, axes = _blank(1.9 + 0.78 * len(columns), 0.75 + 0.44 * len(rows))
        axes.set_xlim(0, len(columns))
        axes.set_ylim(len(rows), 0)
        colours = colormaps["cividis"]
        for y, line in enumerate(cells):
            for x, cell in enumerate(line):
                _cell(axes, x, y, cell, colours(cell.rate) if cell.rate is not None else None)
        axes.set_xticks([x + 0.5 for x in range(len(columns))], columns)
        axes.set_yticks([y + 0.5 for y in range(len(rows))], rows)
        axes.xaxis.tick_top()
        axes.tick_params(length=0, pad=5)
        axes.spines[:].set_visible(False)
        return _svg(figure, label)


def _cell(axes: Axes, x: int, y: int, cell: HeatCell, colour: tuple[float, float, float, float] | None) -> None:
    if colour is None or cell.rate is None:
        axes.add_patch(Rectangle((x + 0.02, y + 0.03), 0.96, 0.94, facecolor="none", edgecolor=_GREY, hatch="////", linewidth=0.6))
        paper = {"facecolor": "#ffffff", "edgecolor": "none", "pad": 1.5}
        axes.text(x + 0.5, y + 0.52, "none", **_CENTRED, fontsize=8, color="#444444", bbox=paper)
        return
    axes.add_patch(Rectangle((x + 0.02, y + 0.03), 0.96, 0.94, facecolor=colour, edgecolor="none"))
    ink = "#ffffff" if _luminance(colour) < 0.4 else "#101418"
    axes.text(x + 0.5, y + 0.4, f"{100 * cell.rate:.0f}", **_CENTRED, color=ink, fontsize=10, fontweight="bold")
    axes.text(x + 0.5, y + 0.75, f"n={cell.pairs}", **_CENTRED, color=ink, fontsize=7)


def _luminance(colour: tuple[float, float, float, float]) -> float:
    red, green, blue, _ = colour
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def scatter(points: Sequence[Point], label: str) -> Markup:
    """Act against abstain accuracy: a policy that only ever does one thing sits in a corner, a good one at the top right."""
    with rc_context({**_STYLE, "svg.hashsalt": "scatter"}):
        figure, axes = _blank(6.6, 4.6)
        axes.set_xlim(-4, 104)
        axes.set_ylim(-4, 104)
        axes.set_xlabel("Act accuracy, %")
        axes.set_ylabel("Abstain accuracy, %")
        axes.grid(color=_GREY, alpha=0.25, linewidth=0.6)
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
        across, up = [100 * point.act for point in points], [100 * point.abstain for point in points]
        axes.scatter(across, up, s=50, color=_POINT, edgecolors="#ffffff", linewidths=0.8, clip_on=False, zorder=3)
        for x, y, text in _labels(points):
            side, aim = (1, "left") if x < 60 else (-1, "right")
            axes.annotate(
                text, (x, y), xytext=(8 * side, 0), textcoords="offset points", ha=aim, va="center", annotation_clip=False
            )
        return _svg(figure, label)


def _labels(points: Sequence[Point]) -> list[tuple[float, float, str]]:
    """Where labels go: beside their points, moved up as far as needed to stay clear of labels on the same side."""
    gap = 5.0
    placed: list[tuple[float, float, str]] = []
    for point in sorted(points, key=lambda item: (item.abstain, item.act, item.label)):
        x, y = 100 * point.act, 100 * point.abstain
        near = [other for other_x, other, _ in placed if abs(other_x - x) < 30 and other > y - gap]
        placed.append((x, max([y, *(other + gap for other in near)]), point.label))
    return placed


def _blank(width: float, height: float) -> tuple[Figure, Axes]:
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasSVG(figure)
    figure.patch.set_visible(False)
    axes = figure.add_subplot()
    axes.patch.set_visible(False)
    return figure, axes


def _svg(figure: Figure, label: str) -> Markup:
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    drawing = buffer.getvalue()
    drawing = _STYLE_SHEET.sub("", _UNUSED_ID.sub(r"\1", drawing[drawing.index("<svg") :]))
    drawing = drawing.replace(_TEXT, "currentColor")
    return Markup(drawing.replace("<svg", Markup('<svg role="img" aria-label="{}"').format(label), 1))
