"""Judges that grade one output on a rubric: several grades in one reply, or one overall score."""
