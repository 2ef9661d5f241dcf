"""Logs of tools that grade with a model: inspect_ai, promptfoo and deepeval, each a reader.

A reader gives one `graded.Graded` for each grade; `graded` makes judgments of them, the same for
all: what the tool does not say is asked for by an option, or left out with the reason.
"""
