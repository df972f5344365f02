"""Measurements that back the project's statements about speed; each compares two ways in one run."""
