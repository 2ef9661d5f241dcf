"""Providers: `base` defines what a provider is, `builtin` has the built-in ones."""
