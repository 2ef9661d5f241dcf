"""What changed: two measurements, a judge and its outputs over sessions, prompts, or judges."""
