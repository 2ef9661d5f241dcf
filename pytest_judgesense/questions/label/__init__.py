"""``judgesense label SUITE``: labels of items, and whether wordings ask the same."""
