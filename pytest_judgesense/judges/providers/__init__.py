"""What is asked over a known wire format: one file a provider.

`base` says what a provider is, for those of plugins too; `openai` and `anthropic` are the built-in
ones, and `builtin` is the list of them.
"""
