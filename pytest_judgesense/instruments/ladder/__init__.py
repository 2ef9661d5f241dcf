"""The quality ladder and the criterion (Judge Datasheet, arXiv 2606.15610).

Builds on `vacuum`: a criterion has a dark current, and what is said of preferences between equals
is said beside it.
"""
