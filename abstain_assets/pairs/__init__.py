"""Pairs: families draw act tasks with one typed delta; validators prove the delta by replay, which also writes the contract."""
