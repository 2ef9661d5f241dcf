"""What users ask: one folder a question, asked alike from the shell, from pytest and from Python.

A question is a frozen value with its arguments. `plan` says what it would ask of models and for
what price; `answer` gives a frozen result with its words (`lines`) and values (`to_dict`).
"""
