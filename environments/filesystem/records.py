"""What the shared drive holds, and what its tools answer."""

import hashlib
from datetime import date
from typing import Literal

from environments.runtime import Record, Result, State

Role = Literal["viewer", "editor"]
ManifestKind = Literal["backup", "release"]


class Account(Record):
    """The signed-in member of the team and the space the team has."""

    name: str
    email: str
    quota_bytes: int


class Folder(Record):
    """A folder. The root has no parent; `notice` is what its owner pinned to it."""

    folder_id: str
    name: str
    parent_id: str | None
    notice: str = ""


class Blob(Record):
    """Stored bytes that are not text, known by length and checksum only."""

    size_bytes: int
    checksum: str


class File(Record):
    """A file. Its size and checksum follow from `content`, or from `blob` where the file is not text.

    `revision` is the label its author gave this version, `locked_by` who has it open for editing, `note` a comment on it.
    """

    file_id: str
    folder_id: str
    name: str
    owner: str
    created_on: date
    modified_on: date
    content: str = ""
    blob: Blob | None = None
    revision: str = ""
    tags: tuple[str, ...] = ()
    locked_by: str = ""
    note: str = ""

    @property
    def size_bytes(self) -> int:
        return self.blob.size_bytes if self.blob else len(self.content.encode())

    @property
    def checksum(self) -> str:
        return self.blob.checksum if self.blob else hashlib.sha256(self.content.encode()).hexdigest()[:12]


class Share(Record):
    """Access that one outside person has to one file."""

    share_id: str
    file_id: str
    person: str
    role: Role
    granted_on: date
    expires_on: date | None = None
    note: str = ""


class Manifest(Record):
    """A list written by a backup or release job. It is a record of its own and does not follow later changes of the files."""

    manifest_id: str
    title: str
    kind: ManifestKind
    issued_on: date
    issued_by: str
    note: str = ""


class ManifestEntry(Record):
    """What a manifest recorded about one file, by the file's name."""

    entry_id: str
    manifest_id: str
    name: str
    revision: str
    size_bytes: int
    checksum: str
    modified_on: date


class FilesystemState(State):
    """The whole drive."""

    account: Account
    folders: dict[str, Folder]
    files: dict[str, File]
    shares: dict[str, Share]
    manifests: dict[str, Manifest]
    entries: dict[str, ManifestEntry]


# --- answers ---------------------------------------------------------------------------------------------------------------


class FolderView(Result):
    """A folder as listings show it."""

    folder_id: str
    path: str
    notice: str


class FileRow(Result):
    """A file as listings show it."""

    file_id: str
    name: str
    path: str
    size_bytes: int
    modified_on: date
    owner: str


class FolderListing(Result):
    """One folder with what lies directly in it."""

    folder: FolderView
    folders: list[FolderView]
    files: list[FileRow]


class FileList(Result):
    """Files that match."""

    files: list[FileRow]


class FileDetails(FileRow):
    """A file with everything known about it but its content."""

    folder_id: str
    kind: Literal["text", "binary"]
    created_on: date
    revision: str
    checksum: str
    tags: list[str]
    locked_by: str
    note: str


class FileAnswer(Result):
    """One file."""

    file: FileDetails


class FileContent(Result):
    """The text of a file."""

    file_id: str
    name: str
    content: str
    word_count: int
    line_count: int


class ManifestView(Result):
    """A manifest with its entries."""

    manifest: Manifest
    entries: list[ManifestEntry]


class DiskUsage(Result):
    """Space taken by a folder and everything below it."""

    path: str
    total_bytes: int
    file_count: int
    quota_bytes: int
    used_bytes: int


class ShareList(Result):
    """Shares that match."""

    shares: list[Share]


class ShareAnswer(Result):
    """One share."""

    share: Share


class Compared(Result):
    """Which of the given values agree with the record."""

    matches: bool
    compared: list[str]
    mismatched: list[str]


class Deleted(Result):
    """What was removed for good."""

    deleted_file_ids: list[str]
    freed_bytes: int


class Revoked(Result):
    """Which shares ended."""

    revoked_share_ids: list[str]
