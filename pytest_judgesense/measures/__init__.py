"""From judgments to estimates, one file a family."""
