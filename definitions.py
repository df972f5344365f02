"""What Dagster loads: see `abstain_assets/project.py`."""

import dagster as dg

from abstain_assets.project import definitions
from resources.settings import Settings


@dg.definitions
def defs() -> dg.Definitions:
    """The project on the home that `ABSTAIN_HOME` names."""
    return definitions(Settings.resolve())
