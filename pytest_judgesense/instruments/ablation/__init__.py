"""What each part of a judge's prompt does: one at a time is left out."""
