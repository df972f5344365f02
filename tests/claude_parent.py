"""One rollout under the Claude Agent SDK, to be killed in the middle: `python -m tests.claude_parent URL FOLDER`."""

import sys
from pathlib import Path

from abstain_assets.taxonomy import Scenario
from resources.harness import open_harness
from resources.models import ModelSpec
from tests.builders_rollouts import Lab, pairs_of


def main(url: str, folder: Path) -> None:
    """Run it to its end."""
    fields = {"name": "stub/m", "harness": "claude_agent", "provider": "stub", "model": "m", "base_url": url}
    spec = ModelSpec.model_validate(fields)
    lab = Lab()
    lab.run(folder / "j.jsonl", pairs_of(Scenario.CRITICAL_TOOL_FAILURE)[:1], spec, harness=open_harness(spec), concurrency=1)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
