"""Recordings of what judges were asked and what they answered; docs/architecture.md has a map."""
