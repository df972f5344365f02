"""Sandbox environments: one folder each, plus the `runtime` they all run on."""
