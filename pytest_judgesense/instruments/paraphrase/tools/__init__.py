"""Logs of tools that grade with a model: inspect_ai, promptfoo and deepeval, each a reader.

A reader returns one `graded.Graded` for each grade; `graded` makes judgments of them in the same
way for all tools. Information that the tool does not store is given by an option, or the row is
left out with the reason.
"""
