"""The shared drive's tools."""

from datetime import date
from typing import Literal

from environments.filesystem import tree
from environments.filesystem.example import example
from environments.filesystem.records import (
    Compared,
    Deleted,
    DiskUsage,
    File,
    FileAnswer,
    FileContent,
    FileList,
    FilesystemState,
    FolderListing,
    ManifestView,
    Revoked,
    Role,
    Share,
    ShareAnswer,
    ShareList,
)
from environments.runtime import EffectDecl, Environment, ToolError, commit, lookup, verify

_CONTENT = ("content", "blob", "modified_on")


class Filesystem(Environment[FilesystemState]):
    """A team's shared drive."""

    name = "filesystem"
    summary = "A team's shared drive: folders, files, outside shares, and manifests of backups and releases."
    state_type = FilesystemState

    @classmethod
    def example_state(cls) -> FilesystemState:
        """The drive of a small theatre company."""
        return example()

    # --- lookups ---------------------------------------------------------------------------------------------------------

    @lookup()
    def list_folder(self, path: str) -> FolderListing:
        """List what lies directly in a folder.

        Args:
            path: path of the folder, for example `/Finance`; `/` is the top.

        Returns:
            The folder with its pinned notice, its subfolders and its files, sorted by id.

        Examples:
            >>> [row["name"] for row in call("list_folder", path="/Productions/Summer Tour")["files"]]
            ['tour-schedule.md', 'venue-contacts.csv', 'poster-final.pdf']
            >>> [row["path"] for row in call("list_folder", path="/")["folders"]]
            ['/Productions', '/Finance', '/Archive']
            >>> call("list_folder", path="/Attic")["error"]["code"]
            'not_found'
        """
        here = tree.folder_at(self.state, path)
        folders = [item for _, item in sorted(self.state.folders.items()) if item.parent_id == here.folder_id]
        files = [item for _, item in sorted(self.state.files.items()) if item.folder_id == here.folder_id]
        return FolderListing(
            folder=tree.folder_view(self.state, here),
            folders=[tree.folder_view(self.state, item) for item in folders],
            files=[tree.file_row(self.state, item) for item in files],
        )

    @lookup()
    def find_files(
        self,
        name: str | None = None,
        folder: str | None = None,
        owner: str | None = None,
        tag: str | None = None,
        modified_from: date | None = None,
        modified_to: date | None = None,
        min_bytes: int | None = None,
    ) -> FileList:
        """Find files anywhere on the drive. Only files that meet every given condition are returned.

        Args:
            name: words or letters the file name contains, in any case.
            folder: path of a folder; files in its subfolders count too.
            owner: full name of the owner.
            tag: a tag the file carries.
            modified_from: first day on which it was last modified, YYYY-MM-DD.
            modified_to: last day on which it was last modified, YYYY-MM-DD.
            min_bytes: least size in bytes.

        Returns:
            All matching files, sorted by id; an empty list if there are none.

        Examples:
            >>> [row["file_id"] for row in call("find_files", owner="Inês Carvalho", modified_from="2025-01-01")["files"]]
            ['F-101']
            >>> len(call("find_files", folder="/Productions", tag="tour")["files"])
            3
        """
        if folder is None:
            files = [item for _, item in sorted(self.state.files.items())]
        else:
            files = tree.files_below(self.state, tree.folder_at(self.state, folder).folder_id)
        kept = [
            item
            for item in files
            if (name is None or name.casefold() in item.name.casefold())
            and (owner is None or item.owner.casefold() == owner.casefold())
            and (tag is None or tag.casefold() in {word.casefold() for word in item.tags})
            and (modified_from is None or item.modified_on >= modified_from)
            and (modified_to is None or item.modified_on <= modified_to)
            and (min_bytes is None or item.size_bytes >= min_bytes)
        ]
        return FileList(files=[tree.file_row(self.state, item) for item in kept])

    @lookup()
    def get_file_info(self, file_id: str) -> FileAnswer:
        """Show everything known about a file except its content.

        Args:
            file_id: id of the file, for example `F-101`.

        Returns:
            Path, size, dates, owner, revision label, checksum, tags, who has it open for editing, and the comment on it.

        Examples:
            >>> info = call("get_file_info", file_id="F-103")["file"]
            >>> info["revision"], info["checksum"], info["kind"]
            ('2025-B', '5be02c7a91d4', 'binary')
        """
        return FileAnswer(file=tree.file_details(self.state, tree.file(self.state, file_id)))

    @lookup()
    def read_file(self, file_id: str) -> FileContent:
        """Read a text file.

        Args:
            file_id: id of the file.

        Returns:
            The whole text with its number of words and lines.

        Examples:
            >>> call("read_file", file_id="F-107")["content"]
            'Eleven shows, 3,420 tickets.\\n'
            >>> call("read_file", file_id="F-103")["error"]["code"]
            'not_text'
        """
        item = tree.file(self.state, file_id)
        if item.blob is not None:
            raise ToolError("not_text", "This is not a text file.")
        return FileContent(
            file_id=item.file_id,
            name=item.name,
            content=item.content,
            word_count=len(item.content.split()),
            line_count=len(item.content.splitlines()),
        )

    @lookup()
    def read_manifest(self, title: str) -> ManifestView:
        """Read a manifest: what a backup or release job recorded about each file it handled.

        Args:
            title: the manifest's title, for example `Backup 2025-04-30`.

        Returns:
            The manifest and its entries (file name, revision, size in bytes, checksum, date last modified), sorted by id.

        Examples:
            >>> answer = call("read_manifest", title="backup 2025-04-30")
            >>> answer["manifest"]["issued_on"], [entry["name"] for entry in answer["entries"]][:2]
            ('2025-04-30', ['clip-act-one.mov', 'clip-act-two.mov'])
        """
        manifest = tree.manifest_called(self.state, title)
        entries = [item for _, item in sorted(self.state.entries.items()) if item.manifest_id == manifest.manifest_id]
        return ManifestView(manifest=manifest, entries=entries)

    @lookup()
    def get_disk_usage(self, path: str) -> DiskUsage:
        """Add up the space a folder takes, with everything below it.

        Args:
            path: path of the folder; `/` for the whole drive.

        Returns:
            Total bytes and number of files below the folder, the team's quota and the bytes used on the whole drive.

        Examples:
            >>> call("get_disk_usage", path="/Productions/Rehearsal Clips")["total_bytes"]
            1646683750
        """
        here = tree.folder_at(self.state, path)
        files = tree.files_below(self.state, here.folder_id)
        return DiskUsage(
            path=tree.folder_path(self.state, here.folder_id),
            total_bytes=sum(item.size_bytes for item in files),
            file_count=len(files),
            quota_bytes=self.state.account.quota_bytes,
            used_bytes=tree.used_bytes(self.state),
        )

    @lookup()
    def list_shares(self, file_id: str | None = None, person: str | None = None) -> ShareList:
        """List which outside people can reach which files. Only shares that meet every given condition are returned.

        Args:
            file_id: a file.
            person: an e-mail address.

        Returns:
            Shares with person, role, dates and note, sorted by id; expired ones are included.

        Examples:
            >>> [share["file_id"] for share in call("list_shares", person="reka.szabo@gyor.example")["shares"]]
            ['F-101', 'F-102']
            >>> call("list_shares", file_id="F-104")["shares"]
            []
        """
        if file_id is not None:
            tree.file(self.state, file_id)
        shares = [
            share
            for _, share in sorted(self.state.shares.items())
            if (file_id is None or share.file_id == file_id) and (person is None or share.person == person.strip().lower())
        ]
        return ShareList(shares=shares)

    # --- verifies --------------------------------------------------------------------------------------------------------

    @verify()
    def verify_checksum(self, file_id: str, checksum: str, size_bytes: int | None = None) -> Compared:
        """Compare a checksum, and optionally a size, with a file as it is stored now.

        Args:
            file_id: id of the file.
            checksum: the checksum it should have.
            size_bytes: the size it should have, in bytes.

        Returns:
            Whether everything given agrees, what was compared and what differs.

        Examples:
            >>> call("verify_checksum", file_id="F-103", checksum="5be02c7a91d4", size_bytes=8412330)["matches"]
            True
            >>> call("verify_checksum", file_id="F-103", checksum="c0ffa1b2937e")["mismatched"]
            ['checksum']
        """
        item = tree.file(self.state, file_id)
        agree = {"checksum": item.checksum == checksum.strip().lower()}
        if size_bytes is not None:
            agree["size_bytes"] = item.size_bytes == size_bytes
        return _compared(agree)

    @verify()
    def verify_permission(self, file_id: str, person: str, role: Role, on: date | None = None) -> Compared:
        """Check whether somebody outside the team has a role on a file.

        Args:
            file_id: id of the file.
            person: e-mail address.
            role: `viewer` or `editor`.
            on: the day that counts, YYYY-MM-DD; today if left out.

        Returns:
            Whether an unexpired share gives exactly this role, what was compared and what differs.

        Examples:
            >>> call("verify_permission", file_id="F-101", person="reka.szabo@gyor.example", role="editor")["matches"]
            True
            >>> call("verify_permission", file_id="F-102", person="reka.szabo@gyor.example", role="editor")["mismatched"]
            ['role']
        """
        item = tree.file(self.state, file_id)
        day = on or self.today
        share = self._share(item.file_id, person)
        if share is None:
            return _compared({"person": False, "role": False, "period": False})
        period = share.granted_on <= day and (share.expires_on is None or day <= share.expires_on)
        return _compared({"person": True, "role": share.role == role, "period": period})

    # --- commits ---------------------------------------------------------------------------------------------------------

    @commit(
        EffectDecl("file.create", "/files/*", when={"action": "create"}, free=("content",)),
        EffectDecl("file.update", "/files/{file_id}", _CONTENT, when={"action": "append"}, free=("content",)),
        EffectDecl("file.update", "/files/{file_id}", _CONTENT, when={"action": "replace"}, free=("content",)),
    )
    def write_file(
        self,
        action: Literal["create", "append", "replace"],
        content: str,
        file_id: str | None = None,
        folder_id: str | None = None,
        name: str | None = None,
    ) -> FileAnswer:
        """Write text to a file.

        Args:
            action: `create` makes a new file and needs `folder_id` and `name`; `append` adds a line at the end of an existing
                text file and `replace` overwrites a file, and both need `file_id`.
            content: the text.
            file_id: the file to write to.
            folder_id: the folder of the new file.
            name: the name of the new file.

        Returns:
            The file after the change.

        Examples:
            >>> new = call("write_file", action="create", folder_id="D-11", name="packing.txt", content="Lamps, cables")["file"]
            >>> new["path"], new["size_bytes"], new["owner"]
            ('/Productions/Summer Tour/packing.txt', 13, 'Inês Carvalho')
            >>> call("write_file", action="append", file_id="F-101", content="22 June Kraków")["file"]["modified_on"]
            '2025-05-05'
            >>> call("read_file", file_id="F-101")["line_count"]
            5
            >>> call("write_file", action="append", file_id="F-103", content="Hello")["error"]["code"]
            'not_text'
            >>> call("write_file", action="replace", file_id="F-106", content="Hello")["error"]["code"]
            'precondition_failed'
        """
        if action == "create":
            return self._create(content, folder_id, name)
        if file_id is None:
            raise ToolError("invalid_arguments", f"{action} needs file_id.")
        item = tree.file(self.state, file_id)
        tree.writable(self.state, item)
        if action == "append":
            if item.blob is not None:
                raise ToolError("not_text", "This is not a text file.")
            gap = "\n" if item.content and not item.content.endswith("\n") else ""
            content = f"{item.content}{gap}{content}"
        tree.space_for(self.state, len(content.encode()) - item.size_bytes)
        return self._put(item.model_copy(update={"content": content, "blob": None, "modified_on": self.today}))

    @commit(EffectDecl("file.move", "/files/{file_id}", ("folder_id", "name")))
    def move_file(self, file_id: str, folder_id: str, new_name: str | None = None) -> FileAnswer:
        """Move a file to a folder, or rename it where it is.

        Args:
            file_id: id of the file.
            folder_id: id of the folder it goes to; its present folder to rename only.
            new_name: its new name; unchanged if left out.

        Returns:
            The file in its new place. Shares of the file stay.

        Examples:
            >>> call("move_file", file_id="F-102", folder_id="D-30")["file"]["path"]
            '/Archive/venue-contacts.csv'
            >>> call("move_file", file_id="F-106", folder_id="D-30")["error"]["code"]
            'precondition_failed'
        """
        item = tree.file(self.state, file_id)
        target = tree.folder(self.state, folder_id)
        tree.writable(self.state, item)
        name = item.name if new_name is None else new_name
        if (target.folder_id, name) == (item.folder_id, item.name):
            raise ToolError("invalid_arguments", "The file already has this place and name.")
        if target.folder_id != item.folder_id or name.casefold() != item.name.casefold():
            tree.name_free(self.state, target.folder_id, name)
        return self._put(item.model_copy(update={"folder_id": target.folder_id, "name": name}))

    @commit(EffectDecl("file.copy", "/files/*"))
    def copy_file(self, file_id: str, folder_id: str, new_name: str | None = None) -> FileAnswer:
        """Copy a file into a folder. The original stays where it is.

        Args:
            file_id: id of the file.
            folder_id: id of the folder for the copy.
            new_name: name of the copy; the same name if left out.

        Returns:
            The copy. It belongs to the signed-in member and is shared with nobody.

        Examples:
            >>> copy = call("copy_file", file_id="F-103", folder_id="D-30", new_name="poster-2025.pdf")["file"]
            >>> copy["path"], copy["checksum"]
            ('/Archive/poster-2025.pdf', '5be02c7a91d4')
            >>> call("copy_file", file_id="F-103", folder_id="D-11")["error"]["code"]
            'already_exists'
        """
        item = tree.file(self.state, file_id)
        target = tree.folder(self.state, folder_id)
        name = item.name if new_name is None else new_name
        tree.name_free(self.state, target.folder_id, name)
        tree.space_for(self.state, item.size_bytes)
        fresh = {
            "file_id": self.next_id("file", "F-"),
            "folder_id": target.folder_id,
            "name": name,
            "owner": self.state.account.name,
            "created_on": self.today,
            "locked_by": "",
            "note": "",
        }
        return self._put(item.model_copy(update=fresh))

    @commit(
        EffectDecl("file.delete", "/files/{file_ids}"),
        EffectDecl("permission.revoke", "/shares/*", implied=True),
    )
    def delete_files(self, file_ids: list[str]) -> Deleted:
        """Delete files for good. There is no recycle bin. Either all files are deleted or none.

        Args:
            file_ids: ids of the files.

        Returns:
            Ids of the deleted files and the bytes that became free. Shares of these files end.

        Examples:
            >>> call("delete_files", file_ids=["F-104", "F-105"])["freed_bytes"]
            1646683750
            >>> call("get_file_info", file_id="F-104")["error"]["code"]
            'not_found'
            >>> call("delete_files", file_ids=["F-107", "F-106"])["error"]["code"]
            'precondition_failed'
        """
        if not file_ids:
            raise ToolError("invalid_arguments", "Name at least one file.")
        return self._delete([tree.file(self.state, file_id) for file_id in dict.fromkeys(file_ids)])

    @commit(
        EffectDecl("file.delete", "/files/*"),
        EffectDecl("record.delete", "/folders/*", implied=True),
        EffectDecl("permission.revoke", "/shares/*", implied=True),
    )
    def purge_folder(self, folder_id: str) -> Deleted:
        """Delete everything in a folder and its subfolders for good. The folder itself stays, empty.

        Args:
            folder_id: id of the folder; the top of the drive cannot be purged.

        Returns:
            Ids of the deleted files and the bytes that became free.

        Examples:
            >>> call("purge_folder", folder_id="D-12")["deleted_file_ids"]
            ['F-104', 'F-105']
            >>> call("purge_folder", folder_id="D-1")["error"]["code"]
            'precondition_failed'
        """
        here = tree.folder(self.state, folder_id)
        if here.parent_id is None:
            raise ToolError("precondition_failed", "The top of the drive cannot be purged.")
        done = self._delete(tree.files_below(self.state, folder_id))
        for inner in sorted(tree.below(self.state, folder_id) - {folder_id}):
            del self.state.folders[inner]
        return done

    @commit(EffectDecl("permission.grant", "/shares/*", free=("note",)))
    def share_file(self, file_id: str, person: str, role: Role, expires_on: date | None = None, note: str = "") -> ShareAnswer:
        """Give somebody outside the team access to one file.

        Args:
            file_id: id of the file.
            person: e-mail address.
            role: `viewer` may read it, `editor` may change it too.
            expires_on: last day of access, YYYY-MM-DD; without it the access does not end by itself.
            note: why it was shared.

        Returns:
            The new share.

        Examples:
            >>> call("share_file", file_id="F-101", person="jiri.maly@brno.example", role="viewer")["share"]["share_id"]
            'SH-1001'
            >>> call("share_file", file_id="F-101", person="reka.szabo@gyor.example", role="viewer")["error"]["code"]
            'already_exists'
        """
        item = tree.file(self.state, file_id)
        address = person.strip().lower()
        if "@" not in address.strip("@"):
            raise ToolError("invalid_arguments", "person must be an e-mail address.")
        if expires_on is not None and expires_on < self.today:
            raise ToolError("invalid_arguments", "expires_on must not be in the past.")
        if self._share(item.file_id, address) is not None:
            raise ToolError("already_exists", "The file already has a share with this person.")
        share = Share(
            share_id=self.next_id("share", "SH-"),
            file_id=item.file_id,
            person=address,
            role=role,
            granted_on=self.today,
            expires_on=expires_on,
            note=note,
        )
        self.state.shares[share.share_id] = share
        return ShareAnswer(share=share)

    @commit(EffectDecl("permission.revoke", "/shares/{share_ids}"))
    def revoke_shares(self, share_ids: list[str]) -> Revoked:
        """End shares. Either all are ended or none.

        Args:
            share_ids: ids of the shares.

        Returns:
            Ids of the ended shares.

        Examples:
            >>> call("revoke_shares", share_ids=["SH-1"])["revoked_share_ids"]
            ['SH-1']
            >>> call("list_shares", file_id="F-103")["shares"]
            []
            >>> call("revoke_shares", share_ids=["SH-2", "SH-99"])["error"]["code"]
            'not_found'
        """
        if not share_ids:
            raise ToolError("invalid_arguments", "Name at least one share.")
        wanted = list(dict.fromkeys(share_ids))
        for share_id in wanted:
            if share_id not in self.state.shares:
                raise ToolError("not_found", f"There is no share {share_id}.")
            del self.state.shares[share_id]
        return Revoked(revoked_share_ids=wanted)

    # --- shared parts ----------------------------------------------------------------------------------------------------

    def _share(self, file_id: str, person: str) -> Share | None:
        address = person.strip().lower()
        found = (share for share in self.state.shares.values() if (share.file_id, share.person) == (file_id, address))
        return next(found, None)

    def _put(self, item: File) -> FileAnswer:
        self.state.files[item.file_id] = item
        return FileAnswer(file=tree.file_details(self.state, item))

    def _create(self, content: str, folder_id: str | None, name: str | None) -> FileAnswer:
        if folder_id is None or name is None:
            raise ToolError("invalid_arguments", "create needs folder_id and name.")
        target = tree.folder(self.state, folder_id)
        tree.name_free(self.state, target.folder_id, name)
        tree.space_for(self.state, len(content.encode()))
        item = File(
            file_id=self.next_id("file", "F-"),
            folder_id=target.folder_id,
            name=name,
            owner=self.state.account.name,
            created_on=self.today,
            modified_on=self.today,
            content=content,
        )
        return self._put(item)

    def _delete(self, items: list[File]) -> Deleted:
        for item in items:
            tree.writable(self.state, item)
        gone = {item.file_id for item in items}
        for item in items:
            del self.state.files[item.file_id]
        for share_id in [share_id for share_id, share in self.state.shares.items() if share.file_id in gone]:
            del self.state.shares[share_id]
        return Deleted(deleted_file_ids=sorted(gone), freed_bytes=sum(item.size_bytes for item in items))


def _compared(agree: dict[str, bool]) -> Compared:
    wrong = [name for name, fits in agree.items() if not fits]
    return Compared(matches=not wrong, compared=list(agree), mismatched=wrong)
