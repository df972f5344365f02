"""The drive of a small theatre company: the state on which the tools' examples hold."""

from datetime import date, datetime

from environments.filesystem.records import (
    Account,
    Blob,
    File,
    FilesystemState,
    Folder,
    Manifest,
    ManifestEntry,
    Share,
)

FOLDERS = [
    Folder(folder_id="D-1", name="", parent_id=None),
    Folder(folder_id="D-10", name="Productions", parent_id="D-1"),
    Folder(folder_id="D-11", name="Summer Tour", parent_id="D-10", notice="Working folder of the tour team. Ask Inês for rights."),
    Folder(folder_id="D-12", name="Rehearsal Clips", parent_id="D-10", notice="Raw clips. Anything older than a season may go."),
    Folder(folder_id="D-20", name="Finance", parent_id="D-1"),
    Folder(folder_id="D-30", name="Archive", parent_id="D-1", notice="Closed productions."),
]

FILES = [
    File(
        file_id="F-101",
        folder_id="D-11",
        name="tour-schedule.md",
        owner="Inês Carvalho",
        created_on=date(2025, 1, 14),
        modified_on=date(2025, 4, 28),
        content="# Summer tour\n12 June Brno\n15 June Győr\n19 June Łódź\n",
        revision="2025-C",
        tags=("tour", "schedule"),
    ),
    File(
        file_id="F-102",
        folder_id="D-11",
        name="venue-contacts.csv",
        owner="Oskar Lindström",
        created_on=date(2025, 2, 3),
        modified_on=date(2025, 3, 30),
        content="venue,contact\nBrno,Jiří Malý\nGyőr,Réka Szabó\n",
        revision="2025-A",
        tags=("tour",),
        note="Phone numbers are kept in the ticketing system.",
    ),
    File(
        file_id="F-103",
        folder_id="D-11",
        name="poster-final.pdf",
        owner="Oskar Lindström",
        created_on=date(2025, 3, 9),
        modified_on=date(2025, 4, 17),
        blob=Blob(size_bytes=8_412_330, checksum="5be02c7a91d4"),
        revision="2025-B",
        tags=("tour", "print"),
        note="Approved by the designer on 17 April.",
    ),
    File(
        file_id="F-104",
        folder_id="D-12",
        name="clip-act-one.mov",
        owner="Mette Østergaard",
        created_on=date(2024, 10, 2),
        modified_on=date(2024, 10, 2),
        blob=Blob(size_bytes=734_003_200, checksum="c0ffa1b2937e"),
        tags=("video",),
    ),
    File(
        file_id="F-105",
        folder_id="D-12",
        name="clip-act-two.mov",
        owner="Mette Østergaard",
        created_on=date(2024, 10, 9),
        modified_on=date(2024, 10, 9),
        blob=Blob(size_bytes=912_680_550, checksum="77d9e30b5c18"),
        tags=("video",),
    ),
    File(
        file_id="F-106",
        folder_id="D-20",
        name="budget-2025.xlsx",
        owner="Oskar Lindström",
        created_on=date(2024, 12, 1),
        modified_on=date(2025, 5, 2),
        blob=Blob(size_bytes=96_256, checksum="a41f6d20be93"),
        revision="2025-D",
        tags=("finance",),
        locked_by="Oskar Lindström",
    ),
    File(
        file_id="F-107",
        folder_id="D-30",
        name="winter-tour-report.md",
        owner="Inês Carvalho",
        created_on=date(2024, 2, 20),
        modified_on=date(2024, 3, 1),
        content="Eleven shows, 3,420 tickets.\n",
        revision="2024-A",
        tags=("tour", "report"),
    ),
]

SHARES = [
    Share(
        share_id="SH-1",
        file_id="F-103",
        person="druck@plakatwerk.example",
        role="viewer",
        granted_on=date(2025, 4, 18),
        expires_on=date(2025, 5, 31),
        note="For the print run.",
    ),
    Share(share_id="SH-2", file_id="F-101", person="reka.szabo@gyor.example", role="editor", granted_on=date(2025, 3, 3)),
    Share(share_id="SH-3", file_id="F-102", person="reka.szabo@gyor.example", role="viewer", granted_on=date(2025, 3, 3)),
    Share(
        share_id="SH-4",
        file_id="F-107",
        person="archiv@buehnenverband.example",
        role="viewer",
        granted_on=date(2024, 3, 2),
        expires_on=date(2024, 9, 30),
    ),
]

MANIFESTS = [
    Manifest(
        manifest_id="M-1",
        title="Backup 2025-04-30",
        kind="backup",
        issued_on=date(2025, 4, 30),
        issued_by="nightly backup",
        note="Copied to the off-site store.",
    ),
    Manifest(
        manifest_id="M-2",
        title="Print delivery April",
        kind="release",
        issued_on=date(2025, 4, 18),
        issued_by="Oskar Lindström",
    ),
]

ENTRIES = [
    ManifestEntry(
        entry_id="ME-1",
        manifest_id="M-1",
        name="clip-act-one.mov",
        revision="",
        size_bytes=734_003_200,
        checksum="c0ffa1b2937e",
        modified_on=date(2024, 10, 2),
    ),
    ManifestEntry(
        entry_id="ME-2",
        manifest_id="M-1",
        name="clip-act-two.mov",
        revision="",
        size_bytes=912_680_550,
        checksum="77d9e30b5c18",
        modified_on=date(2024, 10, 9),
    ),
    ManifestEntry(
        entry_id="ME-3",
        manifest_id="M-1",
        name="winter-tour-report.md",
        revision="2024-A",
        size_bytes=29,
        checksum="868115c15100",
        modified_on=date(2024, 3, 1),
    ),
    ManifestEntry(
        entry_id="ME-4",
        manifest_id="M-2",
        name="poster-final.pdf",
        revision="2025-B",
        size_bytes=8_412_330,
        checksum="5be02c7a91d4",
        modified_on=date(2025, 4, 17),
    ),
]


def example() -> FilesystemState:
    """The example drive on 5 May 2025."""
    return FilesystemState(
        now=datetime(2025, 5, 5, 9, 30),
        account=Account(name="Inês Carvalho", email="ines@buehne-nord.example", quota_bytes=5_000_000_000),
        folders={item.folder_id: item for item in FOLDERS},
        files={item.file_id: item for item in FILES},
        shares={item.share_id: item for item in SHARES},
        manifests={item.manifest_id: item for item in MANIFESTS},
        entries={item.entry_id: item for item in ENTRIES},
    )
