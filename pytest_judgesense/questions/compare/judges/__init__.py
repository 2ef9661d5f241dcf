"""``judgesense compare SUITE --judges``: what moving a judge to another model changes."""
