"""Environments as a stage: the gates every environment passes, whoever wrote it."""
