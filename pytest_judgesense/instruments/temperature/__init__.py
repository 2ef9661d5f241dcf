"""Temperature in LLM-as-a-judge (arXiv 2603.28304)."""
