"""Language models on this machine: which are known, where their files are, and who serves them."""
