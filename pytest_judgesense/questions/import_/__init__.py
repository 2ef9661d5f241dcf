"""Results and benchmark files of others as a judgment log or a suite."""
