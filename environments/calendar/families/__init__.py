"""Task families of the calendar, some of them together with a mailbox."""

from abstain_assets.pairs.family import Family
from environments.calendar.families.answer_invitation import AnswerInvitation
from environments.calendar.families.cancel_meeting import CancelMeeting
from environments.calendar.families.enter_due_day import EnterDueDay
from environments.calendar.families.free_slot import FreeSlot
from environments.calendar.families.invitation_facts import InvitationFacts
from environments.calendar.families.mail_organizer import MailOrganizer
from environments.calendar.families.move_event import MoveEvent
from environments.calendar.families.reach_organizer import ReachOrganizer
from environments.calendar.families.room_of_event import RoomOfEvent
from environments.calendar.families.schedule_meeting import ScheduleMeeting
from environments.calendar.families.share_dates import ShareDates

FAMILIES: tuple[Family, ...] = (
    AnswerInvitation(),
    CancelMeeting(),
    EnterDueDay(),
    FreeSlot(),
    InvitationFacts(),
    MailOrganizer(),
    MoveEvent(),
    ReachOrganizer(),
    RoomOfEvent(),
    ScheduleMeeting(),
    ShareDates(),
)
