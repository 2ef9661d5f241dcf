"""Judges that grade one output on a rubric: several grades in one reply, or one overall score.

Builds on `paraphrase`: grades are as stable under another wording as verdicts are, by the same
measures.
"""
