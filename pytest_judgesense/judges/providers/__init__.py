"""What is asked over a wire format: `base` says what a provider is, `builtin` has ours."""
