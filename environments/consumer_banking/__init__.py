"""One customer's bank: accounts with their ledger, payees, cards, scheduled payments, statements and kept papers."""
