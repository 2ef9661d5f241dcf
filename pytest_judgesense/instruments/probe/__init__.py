"""What moves a judge: edits that say nothing, each beside a placebo and a control."""
