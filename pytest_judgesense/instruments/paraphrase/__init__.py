"""Stability under paraphrased prompts (JudgeSense, arXiv 2604.23478)."""
