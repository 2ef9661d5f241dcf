"""What is counted of the calls of a cell, by hand."""

from __future__ import annotations

import numpy as np

from pytest_judgesense.estimate import Missing
from pytest_judgesense.measures.cell import missing_of

from .building import YES_NO, cell, judgment


def test_missing_replies_are_counted_by_their_kinds() -> None:
    words = ("YES", "?", "NO", "!", "?", "YES", "YES", "NO")
    of = cell(YES_NO, [judgment(f"i{n}", word, pairwise=False) for n, word in enumerate(words)])
    # 2 without a verdict and 1 without a reply, of 8.
    assert missing_of(of.outcomes) == Missing(unparsed=2, failed=1, share=3 / 8)
    assert missing_of(np.empty(0, dtype=np.int8)) == Missing()
