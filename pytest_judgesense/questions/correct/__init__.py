"""``judgesense correct``: from a judge's verdicts to the rates that people would give."""
