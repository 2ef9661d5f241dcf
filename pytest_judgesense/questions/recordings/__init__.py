"""Recordings looked after: searched for secrets, joined, made and taken in by batch files."""
