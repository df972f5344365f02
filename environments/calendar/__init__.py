"""A work calendar: events with attendees and rooms, invitations, people's working hours and busy times, and calendar sharing."""
