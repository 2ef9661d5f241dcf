"""What changed: two measurements side by side, or a judge and its outputs over several sessions."""
