"""Suites of scores."""
