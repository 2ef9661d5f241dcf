"""Dark current on true-vacuum inputs (Judge Datasheet, arXiv 2606.15610)."""
