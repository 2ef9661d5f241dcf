"""Suites: stimuli, templates, decision spaces and designs."""
