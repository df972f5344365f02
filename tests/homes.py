"""What tests of whole homes share: the scenario they build, what is in a home, and a model at a local endpoint."""

import hashlib
from pathlib import Path
from typing import Any

import yaml

from tests.builders_rollouts import KEY

SCENARIO = "conflicting_constraints"
KEY_VARIABLE = "STUB_KEY"


def digests(home: Path, *folders: str) -> dict[str, str]:
    """Digests of all files that readers see in some folders of a home."""
    files = (path for folder in folders for path in (home / folder).rglob("*") if path.is_file() and ".tmp" not in path.parts)
    return {str(path.relative_to(home)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def models(folder: Path, *names: str, url: str, **fields: Any) -> dict[str, str]:
    """A folder with models on a local endpoint (`stub/model` by default), and the variables that make it known."""
    folder.mkdir(exist_ok=True)
    prices = {"input_per_million": 1000.0, "output_per_million": 1000.0, "date": "2026-01-01"}
    for name in names or ("stub/model",):
        spec = {"name": name, "harness": "chat_completions", "provider": "stub", "model": name.partition("/")[2], "base_url": url}
        text = yaml.safe_dump({**spec, "api_key_env": KEY_VARIABLE, "prices": prices, **fields})
        (folder / f"{name.replace('/', '-')}.yaml").write_text(text, encoding="utf-8")
    return {"ABSTAIN_MODELS": str(folder), KEY_VARIABLE: KEY}
