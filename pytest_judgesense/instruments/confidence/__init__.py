"""How sure a judge says that it is, against how often it is right.

Its measures join those of suites of every kind, where items have labels.
"""
