"""From estimates and bars to outcomes."""
