"""What people say of the items that a judge is asked about: agreement, and rates corrected by it.

Its measures join those of suites of every kind, where items carry labels of people.

Builds on `rubric`: people grade criteria too.
"""
