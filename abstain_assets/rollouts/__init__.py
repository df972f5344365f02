"""Rollouts: a model runs both sides of a pair in a sandbox of its own, and everything that happened is kept as evidence."""
