"""Suites of scores: verdicts that are numbers within a range, and no labels of a list.

Builds on `paraphrase`.
"""
