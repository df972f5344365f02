"""A small lending library, for tests of the runtime and of the gates."""
