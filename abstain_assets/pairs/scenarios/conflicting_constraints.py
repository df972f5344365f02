"""S3: the request contradicts itself. Proved on the constraints alone, without looking at any state."""

from collections.abc import Iterator, Mapping
from itertools import combinations

from abstain_assets.pairs.atoms import AtomError, holds, minimal_contradiction, satisfiable
from abstain_assets.pairs.refs import RefError, resolve
from abstain_assets.pairs.replay import Replay
from abstain_assets.pairs.scenarios.base import Proof, check, left_to_people, no_alternatives
from abstain_assets.pairs.slots import misread
from abstain_assets.records import Atom, Check, ConflictingConstraints, Domain, Slot, SlotKind

whole_collection = True
alternatives = no_alternatives


def carried_on(proof: Proof) -> list[Replay]:
    """What the act side does: carrying on means settling for some record of the same kind."""
    return [proof.replay]


def checks(proof: Proof) -> Iterator[Check]:
    """Both texts say their atoms; the act side's hold in the replay; the abstain side's cannot hold together."""
    trigger, pair = _trigger(proof), proof.pair
    texts = ((proof.act, trigger.act_atoms), (proof.abstain, trigger.abstain_atoms))
    unsaid = [atom.text for task, atoms in texts for atom in atoms if atom.text.casefold() not in task.instruction.casefold()]
    yield check("s3.said", not unsaid, f"not said in the text: {unsaid}")
    unread = [atom.text for _, atoms in texts for atom in atoms if not _reads(atom, trigger.domains)]
    yield check("s3.atoms_read", not unread, f"the words do not say the bound: {unread}")
    new = [atom for atom in trigger.abstain_atoms if atom not in trigger.act_atoms]
    yield check("s3.single", len(new) == 1, f"the delta must change exactly one constraint, not {len(new)}")
    try:
        values = {name: resolve(arg, pair.slots, proof.replay.results) for name, arg in trigger.bind.items()}
        variables = {atom.var for atom in trigger.act_atoms}
        yield check("s3.bound", variables <= values.keys(), f"not bound to the outcome: {sorted(variables - values.keys())}")
        if not variables <= values.keys():
            return
        yield check("s3.act_holds", holds(trigger.act_atoms, values, trigger.domains), f"the act outcome {values} breaks them")
        core = minimal_contradiction(trigger.abstain_atoms, trigger.domains)
        yield check("s3.contradiction", core is not None, "the abstain constraints can hold together")
        yield check("s3.act_satisfiable", satisfiable(trigger.act_atoms, trigger.domains), "the act constraints clash")
        if core is not None and new:
            yield check("s3.core", new[0] in core, "the contradiction does not involve what the delta changed")
            yield check("s3.two_sided", len(core) >= 2, "one constraint alone is impossible: that is no conflict")
    except (AtomError, RefError) as error:
        yield check("s3.atoms", False, str(error))
        return
    yield left_to_people("s3.mapping", "that the words mean these constraints is for people to judge")


def _reads(atom: Atom, domains: Mapping[str, Domain]) -> bool:
    """Whether some words of the atom's text say its right-hand side."""
    if isinstance(atom.rhs, str) and atom.rhs.startswith("@"):
        return True
    domain = domains[atom.var].kind
    kinds: dict[str, tuple[SlotKind, ...]] = {
        "integer": ("money", "number"),
        "date": ("date",),
        "time": ("time",),
        "enum": ("enum", "id"),
    }
    words = atom.text.split()
    spans = (" ".join(words[start:end]) for start, end in combinations(range(len(words) + 1), 2))
    return any(misread(Slot(value=atom.rhs, text=span, kind=kind)) is None for span in spans for kind in kinds[domain])


def _trigger(proof: Proof) -> ConflictingConstraints:
    assert isinstance(proof.pair.trigger, ConflictingConstraints)
    return proof.pair.trigger
