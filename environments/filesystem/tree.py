"""Paths, listings and lookups by name over the drive's records."""

from environments.filesystem.records import File, FileDetails, FileRow, FilesystemState, Folder, FolderView, Manifest
from environments.runtime import ToolError


def folder_path(state: FilesystemState, folder_id: str) -> str:
    """The path of a folder, `/` for the root."""
    names: list[str] = []
    folder = state.folders[folder_id]
    while folder.parent_id is not None:
        names.append(folder.name)
        folder = state.folders[folder.parent_id]
    return "/" + "/".join(reversed(names))


def file_path(state: FilesystemState, file: File) -> str:
    """The path of a file."""
    return f"{folder_path(state, file.folder_id).rstrip('/')}/{file.name}"


def folder_at(state: FilesystemState, path: str) -> Folder:
    """The folder at a path. Upper and lower case and a final slash make no difference.

    Raises:
        ToolError: there is no such folder.
    """
    wanted = "/" + path.strip().strip("/").casefold()
    for folder in state.folders.values():
        if folder_path(state, folder.folder_id).casefold() == wanted:
            return folder
    raise ToolError("not_found", f"There is no folder {path}.")


def folder(state: FilesystemState, folder_id: str) -> Folder:
    """The folder of an id. Raises ToolError if there is none."""
    if folder_id not in state.folders:
        raise ToolError("not_found", f"There is no folder {folder_id}.")
    return state.folders[folder_id]


def file(state: FilesystemState, file_id: str) -> File:
    """The file of an id. Raises ToolError if there is none."""
    if file_id not in state.files:
        raise ToolError("not_found", f"There is no file {file_id}.")
    return state.files[file_id]


def below(state: FilesystemState, folder_id: str) -> set[str]:
    """Ids of a folder and all folders below it."""
    found = {folder_id}
    while True:
        more = {item.folder_id for item in state.folders.values() if item.parent_id in found} - found
        if not more:
            return found
        found |= more


def files_below(state: FilesystemState, folder_id: str) -> list[File]:
    """Files in a folder and all folders below it, by id."""
    inside = below(state, folder_id)
    return [item for _, item in sorted(state.files.items()) if item.folder_id in inside]


def writable(state: FilesystemState, item: File) -> None:
    """Refuse files that somebody else has open. Raises ToolError."""
    if item.locked_by and item.locked_by != state.account.name:
        raise ToolError("precondition_failed", "A file is open for editing by someone else.")


def name_free(state: FilesystemState, folder_id: str, name: str) -> None:
    """Refuse names that cannot be used or are taken in a folder. Raises ToolError."""
    if not name.strip() or "/" in name:
        raise ToolError("invalid_arguments", "A file name must not be empty or contain a slash.")
    if any(item.folder_id == folder_id and item.name.casefold() == name.casefold() for item in state.files.values()):
        raise ToolError("already_exists", f"The folder already has a file called {name}.")


def space_for(state: FilesystemState, more_bytes: int) -> None:
    """Refuse what the quota has no room for. Raises ToolError."""
    if used_bytes(state) + more_bytes > state.account.quota_bytes:
        raise ToolError("quota_exceeded", "There is not enough free space.")


def used_bytes(state: FilesystemState) -> int:
    """Space taken by all files."""
    return sum(item.size_bytes for item in state.files.values())


def manifest_called(state: FilesystemState, title: str) -> Manifest:
    """The manifest of a title, whatever the case. Raises ToolError if there is none."""
    for _, item in sorted(state.manifests.items()):
        if item.title.casefold() == title.strip().casefold():
            return item
    raise ToolError("not_found", f"There is no manifest called {title}.")


def folder_view(state: FilesystemState, item: Folder) -> FolderView:
    """A folder as listings show it."""
    return FolderView(folder_id=item.folder_id, path=folder_path(state, item.folder_id), notice=item.notice)


def file_row(state: FilesystemState, item: File) -> FileRow:
    """A file as listings show it."""
    return FileRow(
        file_id=item.file_id,
        name=item.name,
        path=file_path(state, item),
        size_bytes=item.size_bytes,
        modified_on=item.modified_on,
        owner=item.owner,
    )


def file_details(state: FilesystemState, item: File) -> FileDetails:
    """A file with everything known about it but its content."""
    return FileDetails(
        **file_row(state, item).model_dump(),
        folder_id=item.folder_id,
        kind="binary" if item.blob else "text",
        created_on=item.created_on,
        revision=item.revision,
        checksum=item.checksum,
        tags=list(item.tags),
        locked_by=item.locked_by,
        note=item.note,
    )
