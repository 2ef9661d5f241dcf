"""What makes a verdict so: the change of a prompt that turns it, or what each sentence does."""
