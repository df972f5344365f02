"""The drives of the filesystem families: one team, two projects, an archive, outside partners and one manifest."""

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from random import Random

from abstain_assets.pairs.entities import Person, moment, numbers, people
from abstain_assets.pairs.family import neutral_prompt
from environments.filesystem.records import (
    Account,
    Blob,
    File,
    FilesystemState,
    Folder,
    Manifest,
    ManifestEntry,
    ManifestKind,
    Share,
)

_PROJECTS = ("Harbour Bridge", "Aurora", "Old Mill", "Linden School", "Station Square", "Kestrel", "Riverside Clinic", "Fjord Line")
_BLOBS = (
    "site-survey.pdf tender-draft.docx floor-plan.dwg cost-estimate.xlsx safety-report.pdf press-kit.zip test-results.xlsx "
    "photo-series.zip contract-annex.pdf interview-cuts.mp4 wiring-diagram.pdf tile-samples.png lighting-study.pdf "
    "soil-samples.xlsx"
).split()
_TEXTS = ("open-points.txt", "glossary.md", "minutes.md", "packing-list.txt")
_LINES = (
    "Doors on the north side stick.",
    "Ask the mason about lime mortar.",
    "Second coat is dry.",
    "Keys are at the porter's desk.",
)
_NOTES = ("", "", "Printed for the site office.", "Replaces the spring issue.", "Colours checked on paper.")


@dataclass(frozen=True)
class World:
    """A drawn drive. `files` lie directly in the main project's folder and are not text; `manifest` lists them all."""

    state: FilesystemState
    me: Person
    partners: list[Person]
    project: str
    files: list[File]
    manifest: Manifest

    @property
    def now(self) -> datetime:
        return self.state.now

    @property
    def prompt(self) -> str:
        return neutral_prompt(f"the assistant of {self.me.name}, who looks after the team's shared drive", self.now)

    @property
    def archives(self) -> list[str]:
        return ["/Archive/2024", "/Archive/2025", "/Archive/Closed"]

    def entry(self, file: File) -> ManifestEntry:
        """What the manifest says about a file."""
        return next(
            item for item in self.state.entries.values() if (item.manifest_id, item.name) == (self.manifest.manifest_id, file.name)
        )

    def note(self, file: File, text: str) -> str:
        """Write a note on a file; returns the pointer of the note."""
        self.state.files[file.file_id] = file.model_copy(update={"note": text})
        return f"/filesystem/files/{file.file_id}/note"

    def notice(self, folder_id: str, text: str) -> str:
        """Pin a notice to a folder; returns its pointer."""
        self.state.folders[folder_id] = self.state.folders[folder_id].model_copy(update={"notice": text})
        return f"/filesystem/folders/{folder_id}/notice"

    def within(self, first: str, last: str) -> list[File]:
        """Files of the main project, drafts included, that were last modified in a period (ISO dates)."""
        below = ("D-21", "D-22")
        return [
            item for item in self.state.files.values() if item.folder_id in below and first <= item.modified_on.isoformat() <= last
        ]

    def unused_day(self, rng: Random, near: date) -> date:
        """A day within two months before `near` on which nothing else happened."""
        taken = {day for file in self.state.files.values() for day in (file.created_on, file.modified_on)}
        taken |= {share.granted_on for share in self.state.shares.values()} | {self.manifest.issued_on}
        return rng.choice([day for back in range(3, 60) if (day := near - timedelta(days=back)) not in taken])

    def spoil_other_entry(self, rng: Random, file: File) -> None:
        """Let the manifest differ about another file: a harmless look-alike of a disagreement."""
        other = self.entry(rng.choice([item for item in self.files if item.file_id != file.file_id]))
        changed = other.model_copy(update={"size_bytes": other.size_bytes + 4096, "checksum": _checksum(rng), "revision": "R099"})
        self.state.entries[other.entry_id] = changed


def draw_world(rng: Random, kind: ManifestKind = "backup") -> World:
    """Draw a drive. All sizes, checksums, revisions and dates differ from each other."""
    now = moment(rng)
    me, *partners = people(rng, 7)
    colleagues, partners = partners[:2], partners[2:]
    project, other = rng.sample(_PROJECTS, 2)
    folders = _folders(rng, project, other)
    days = [now.date() - timedelta(days=back) for back in rng.sample(range(12, 520), 60)]
    draw = _Draw(rng, [me, *colleagues], sorted(days))
    blobs = rng.sample(_BLOBS, 12)
    placed = ["D-21"] * 5 + ["D-22"] * 3 + ["D-31"] * 2 + ["D-41", "D-42"]
    files = [draw.blob(name, folder_id) for name, folder_id in zip(blobs, placed, strict=True)]
    texts = [draw.text(name, "D-21") for name in rng.sample(_TEXTS, 2)]
    own = files[:5]
    manifest, entries = draw.manifest(kind, project, own)
    shares = draw.shares(own[:3], [person.email for person in partners], now.date())
    everything = sorted([*files, *texts], key=lambda item: item.file_id)
    state = FilesystemState(
        now=now,
        account=Account(name=me.name, email=me.email, quota_bytes=20_000_000_000),
        folders={item.folder_id: item for item in folders},
        files={item.file_id: item for item in everything},
        shares={item.share_id: item for item in shares},
        manifests={manifest.manifest_id: manifest},
        entries={item.entry_id: item for item in entries},
    )
    return World(state, me, partners, f"/Projects/{project}", own, manifest)


def _folders(rng: Random, project: str, other: str) -> list[Folder]:
    told = ("", "Ask the team lead for rights.", "Tidied in spring.")
    rows = (
        ("D-1", "", None),
        ("D-20", "Projects", "D-1"),
        ("D-21", project, "D-20"),
        ("D-22", "Drafts", "D-21"),
        ("D-31", other, "D-20"),
        ("D-40", "Archive", "D-1"),
        ("D-41", "2024", "D-40"),
        ("D-42", "2025", "D-40"),
        ("D-43", "Closed", "D-40"),
        ("D-50", "Handover", "D-1"),
    )
    return [Folder(folder_id=key, name=name, parent_id=parent, notice=rng.choice(told)) for key, name, parent in rows]


class _Draw:
    """Values that are used up as they are drawn."""

    def __init__(self, rng: Random, owners: list[Person], days: list[date]) -> None:
        self.rng = rng
        self.owners = owners
        self.created, self.modified = days[:24], days[24:]
        rng.shuffle(self.created)
        rng.shuffle(self.modified)
        self.sizes = numbers(rng, 20, 60_000, 90_000_000)
        self.ids = iter(numbers(rng, 60, 100, 990))
        self.revisions = iter(numbers(rng, 20, 100, 990))

    def blob(self, name: str, folder_id: str) -> File:
        return self._file(name, folder_id, blob=Blob(size_bytes=self.sizes.pop(), checksum=_checksum(self.rng)))

    def text(self, name: str, folder_id: str) -> File:
        return self._file(name, folder_id, content="\n".join(self.rng.sample(_LINES, 3)) + "\n")

    def _file(self, name: str, folder_id: str, content: str = "", blob: Blob | None = None) -> File:
        return File(
            file_id=f"F-{next(self.ids)}",
            folder_id=folder_id,
            name=name,
            owner=self.rng.choice(self.owners).name,
            created_on=self.created.pop(),
            modified_on=self.modified.pop(),
            content=content,
            blob=blob,
            revision=f"R{next(self.revisions)}",
            tags=tuple(sorted(self.rng.sample(("site", "print", "client", "draft"), 2))),
            note=self.rng.choice(_NOTES),
        )

    def manifest(self, kind: ManifestKind, project: str, files: list[File]) -> tuple[Manifest, list[ManifestEntry]]:
        issued = self.modified.pop()
        title = f"Backup {issued.isoformat()}" if kind == "backup" else f"{project} delivery {next(self.ids)}"
        by = "nightly backup" if kind == "backup" else self.rng.choice(self.owners).name
        manifest = Manifest(manifest_id=f"M-{next(self.ids)}", title=title, kind=kind, issued_on=issued, issued_by=by)
        entries = [
            ManifestEntry(
                entry_id=f"ME-{next(self.ids)}",
                manifest_id=manifest.manifest_id,
                name=file.name,
                revision=file.revision,
                size_bytes=file.size_bytes,
                checksum=file.checksum,
                modified_on=file.modified_on,
            )
            for file in files
        ]
        return manifest, sorted(entries, key=lambda item: item.entry_id)

    def shares(self, files: list[File], persons: list[str], today: date) -> list[Share]:
        ends = iter([today + timedelta(days=ahead) for ahead in self.rng.sample(range(15, 200), 12)])
        made = []
        for file in files:
            for person in self.rng.sample(persons[:3], 3):
                made.append(
                    Share(
                        share_id=f"SH-{next(self.ids)}",
                        file_id=file.file_id,
                        person=person,
                        role=self.rng.choice(("viewer", "editor")),
                        granted_on=self.modified.pop(),
                        expires_on=next(ends),
                    )
                )
        return sorted(made, key=lambda item: item.share_id)


def _checksum(rng: Random) -> str:
    return f"{rng.getrandbits(44):011x}{rng.choice('abcdef')}"
