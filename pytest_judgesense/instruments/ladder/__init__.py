"""The quality ladder and the criterion (Judge Datasheet, arXiv 2606.15610)."""
