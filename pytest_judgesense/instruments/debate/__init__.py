"""JudgeBench for debates (Which judge configuration is the most stable?)."""
