"""The instruments: one folder each, given through the hooks that plugins use."""
