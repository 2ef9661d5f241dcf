"""Recordings of judges' requests and answers; docs/architecture.md has a map."""
