"""What a judge was measured to be earlier: baselines, revisions, and who came after whom."""
