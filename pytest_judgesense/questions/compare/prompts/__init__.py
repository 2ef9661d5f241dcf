"""``judgesense compare SUITE --prompts``: prompts of one judge, each against the first."""
