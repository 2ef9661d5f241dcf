"""Judges: how they are declared, asked and understood."""
