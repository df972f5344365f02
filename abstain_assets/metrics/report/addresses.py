"""Where each page is, relative to the first page of its round. Names come from outside and are checked first."""

import re
from dataclasses import dataclass

from abstain_assets.records import digest
from abstain_assets.taxonomy import Scenario
from resources.models import slug

_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*(\.[A-Za-z0-9_-]+)*")


@dataclass(frozen=True)
class Place:
    """How a page reaches the others: `top` leads to the site's folder, `root` to its round's."""

    top: str
    root: str


def place(round_path: str, path: str) -> Place:
    """The place of the page `path` of the round in `round_path` (empty, or a folder with a slash at its end)."""
    return Place(top="../" * (round_path + path).count("/"), root="../" * path.count("/"))


def pair_page(pair_id: str) -> str:
    """The page of a pair.

    >>> pair_page("retail_orders.cancel_order/S1/0")
    'pairs/retail_orders.cancel_order.S1.0.html'
    """
    name = pair_id.replace("/", ".")
    return f"pairs/{name if _PLAIN.fullmatch(name) and len(name) < 120 else digest(pair_id)}.html"


def scenario_page(scenario: Scenario) -> str:
    """The page of a scenario."""
    return f"scenarios/{scenario.value}.html"


def model_page(model: str) -> str:
    """The page of a model.

    >>> model_page("scripted/oracle")
    'models/scripted~oracle.html'
    """
    return f"models/{slug(model)}.html"


def anchor(model: str) -> str:
    """The id of a model's part of a page."""
    return f"model-{slug(model)}"
