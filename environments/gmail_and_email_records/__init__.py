"""A mailbox: messages with their attachments, drafts, labels and contacts of one person."""
