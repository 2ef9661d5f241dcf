from __future__ import annotations

from pathlib import Path

from tests.suites.linting import ASKED, BALANCED, COMPARED, SLOTS, YES_NO, found, pairs, templates


def test_two_templates_with_the_same_words_are_no_pair(tmp_path: Path) -> None:
    finding = found(tmp_path, YES_NO + templates(ASKED[0], ASKED[0]), BALANCED)["identical-sides"]
    assert finding.severity == "error"
    assert finding.found == "10 prompt pairs whose sides are identical"


def test_an_unlabelled_pairwise_suite_in_one_order_confounds_slot_and_content(
    tmp_path: Path,
) -> None:
    rows = [{k: v for k, v in row.items() if k != "label"} for row in pairs()]
    toml = SLOTS.format(more="") + templates(*COMPARED)
    assert "option-order" in found(tmp_path, toml + '[design]\norders = "ab"\n', rows)
    assert "option-order" not in found(tmp_path, toml, rows)
