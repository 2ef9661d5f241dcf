"""``judgesense explain NAME``: the meaning of a measure, and what to do when its check fails."""
