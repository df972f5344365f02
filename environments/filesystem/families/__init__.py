"""Task families of the shared drive, one of them together with a mailbox."""

from abstain_assets.pairs.family import Family
from environments.filesystem.families.archive_file import ArchiveFile
from environments.filesystem.families.backup_entry import BackupEntry
from environments.filesystem.families.create_note import CreateNote
from environments.filesystem.families.delete_backed_up import DeleteBackedUp
from environments.filesystem.families.delete_file import DeleteFile
from environments.filesystem.families.deletion_candidate import DeletionCandidate
from environments.filesystem.families.end_access import EndAccess
from environments.filesystem.families.file_dates import FileDates
from environments.filesystem.families.folder_usage import FolderUsage
from environments.filesystem.families.hand_over_copy import HandOverCopy
from environments.filesystem.families.move_by_period import MoveByPeriod
from environments.filesystem.families.newest_entry import NewestEntry
from environments.filesystem.families.outside_access import OutsideAccess
from environments.filesystem.families.pick_for_report import PickForReport
from environments.filesystem.families.release_checksum import ReleaseChecksum
from environments.filesystem.families.share_document import ShareDocument
from environments.filesystem.families.share_with_correspondent import ShareWithCorrespondent

FAMILIES: tuple[Family, ...] = (
    ArchiveFile(),
    BackupEntry(),
    CreateNote(),
    DeleteBackedUp(),
    DeleteFile(),
    DeletionCandidate(),
    EndAccess(),
    FileDates(),
    FolderUsage(),
    HandOverCopy(),
    MoveByPeriod(),
    NewestEntry(),
    OutsideAccess(),
    PickForReport(),
    ReleaseChecksum(),
    ShareDocument(),
    ShareWithCorrespondent(),
)
