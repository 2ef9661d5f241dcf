"""Reviews of template pairs, and the cut of a scale, as suite files state them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pytest_judgesense.errors import SuiteError
from tests.suites.known import builtin_suites, load_suite, presets_of

from .files import CONTENT, ITEMS, write_suite

REVIEWED = """
[[equivalence]]
pair = ["t2", "t1"]
reviews = { ann = "%s", bob = "%s", cem = "%s" }
"""


@pytest.mark.parametrize(
    ("said", "excluded", "unsure"),
    [
        (("YES", "YES", "YES"), False, False),
        (("NO", "NO", "YES"), True, False),  # a majority says NO
        (("NO", "YES", "YES"), False, True),  # not of one mind
        (("UNSURE", "YES", "YES"), False, True),
        (("NO", "UNSURE", "YES"), False, True),
    ],
)
def test_reviews_decide_which_pairs_are_compared(
    tmp_path: Path, said: tuple[str, str, str], excluded: bool, unsure: bool
) -> None:
    design = load_suite(write_suite(tmp_path, CONTENT + REVIEWED % said, ITEMS)).design
    pair = (("t1", "t2"),)
    assert design.pairs == pair
    assert design.excluded == (pair if excluded else ())
    assert design.unsure == (pair if unsure else ())


def test_reviews_do_not_hold_for_other_wordings_of_the_same_ids(tmp_path: Path) -> None:
    suite = load_suite(write_suite(tmp_path, CONTENT + REVIEWED % ("NO", "NO", "NO"), ITEMS))
    first, second = suite.templates
    other = suite.with_templates((first, replace(second, text="Is it so? {{text}}")), None)
    assert other.design.excluded == ()
    assert suite.with_templates(suite.templates, None).design.excluded == (("t1", "t2"),)


def test_the_digest_of_a_suite_changes_with_what_reviews_exclude_and_not_else(
    tmp_path: Path,
) -> None:
    def digest(name: str, rows: str) -> str:
        folder = tmp_path / name
        folder.mkdir()
        return load_suite(write_suite(folder, CONTENT + rows, ITEMS)).digest

    without = digest("without", "")
    assert digest("agreed", REVIEWED % ("YES", "YES", "YES")) == without
    assert digest("doubted", REVIEWED % ("YES", "UNSURE", "YES")) == without
    assert digest("excluded", REVIEWED % ("NO", "NO", "YES")) != without


@pytest.mark.parametrize(
    "rows",
    [
        '[[equivalence]]\npair = ["t1", "t9"]\nreviews = { ann = "YES" }\n',
        '[[equivalence]]\npair = ["t1", "t1"]\nreviews = { ann = "YES" }\n',
        '[[equivalence]]\npair = ["t1", "t2"]\nreviews = { ann = "maybe" }\n',
        '[[equivalence]]\npair = ["t1", "t2"]\nreviews = {}\n',
        REVIEWED % ("YES", "YES", "YES") + '[[equivalence]]\npair = ["t1", "t2"]\n'
        'reviews = { ann = "YES" }\n',
    ],
    ids=["unknown template", "one template", "no such verdict", "no reviewer", "twice"],
)
def test_reviews_that_say_nothing_of_a_pair_are_refused(tmp_path: Path, rows: str) -> None:
    with pytest.raises(SuiteError, match="equivalence"):
        load_suite(write_suite(tmp_path, CONTENT + rows, ITEMS))


@pytest.mark.parametrize("cut", ['"YES"', '"NO"'])
def test_only_a_scale_has_a_cut(tmp_path: Path, cut: str) -> None:
    toml = CONTENT.replace("[stimuli]", f"cut = {cut}\n[stimuli]")
    with pytest.raises(SuiteError, match="cut names a label of an ordinal space"):
        load_suite(write_suite(tmp_path, toml, ITEMS))


def test_the_cut_of_a_scale_reaches_the_design() -> None:
    assert load_suite(builtin_suites()["coherence"]).design.cut == "4"


def test_every_template_pair_of_the_shipped_paraphrase_suites_is_reviewed() -> None:
    for path in builtin_suites().values():
        for preset in (None, *presets_of(path)):
            suite = load_suite(path, preset)
            if suite.kind != "paraphrase":
                continue
            reviewed = {frozenset(review.pair) for review in suite.reviews}
            assert {frozenset(pair) for pair in suite.compared_pairs} <= reviewed, suite.name
            assert suite.design.excluded == ()


READERS = 'reviewers = { ann = "human", bob = "model", cem = "model" }\n'
LABELLED = "[label_review]\nitems = 2\nagreed = { ann = 2, bob = 1 }\nkappa = 0.5\n"


def test_reviewers_are_what_the_file_says(tmp_path: Path) -> None:
    said = REVIEWED % ("YES", "YES", "YES") + LABELLED
    suite = load_suite(write_suite(tmp_path, READERS + CONTENT + said, ITEMS))
    assert suite.reviewers == {"ann": "human", "bob": "model", "cem": "model"}
    # Who has read changes nothing of what is asked.
    (tmp_path / "other").mkdir()
    assert load_suite(write_suite(tmp_path / "other", CONTENT, ITEMS)).digest == suite.digest


@pytest.mark.parametrize(
    ("head", "more", "words"),
    [
        (READERS.replace(', cem = "model"', ""), REVIEWED, "cem is missing"),
        (READERS.replace('"human"', '"expert"'), "", "reviewers"),
        ("", LABELLED.replace("ann = 2", "ann = 3"), "nobody agrees on more items"),
        ("", LABELLED.replace("kappa = 0.5", "kappa = 2"), "kappa"),
    ],
)
def test_a_reading_that_cannot_be_is_an_error(
    tmp_path: Path, head: str, more: str, words: str
) -> None:
    said = more if "%" not in more else more % ("YES", "YES", "YES")
    with pytest.raises(SuiteError, match=words):
        load_suite(write_suite(tmp_path, head + CONTENT + said, ITEMS))
