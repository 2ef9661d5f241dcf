"""Git, and files as they stood at a revision."""
