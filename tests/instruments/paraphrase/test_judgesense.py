"""JudgeSense's pair files become suites that ask the very prompts of the file."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_judgesense.errors import LogError, UsageError
from pytest_judgesense.importers import read_rows
from pytest_judgesense.instruments.paraphrase.judgesense import PairFile, clusters_of, read_pairs
from pytest_judgesense.suites.planning import plan_trials
from pytest_judgesense.suites.prompt_template import fill
from pytest_judgesense.suites.suite import Suite
from tests.checks.known import lint_suite
from tests.foreign import pair_rows, write_rows
from tests.suites.known import load_suite


def read(path: Path) -> PairFile:
    return read_pairs(list(read_rows(path)), path)


def suite_of(folder: Path, rows: list[dict[str, object]], name: str = "own") -> Suite:
    pairs = read(write_rows(folder / f"{name}.jsonl", rows))
    for path, text in pairs.files(folder / f"{name}.suite.toml").items():
        path.write_text(text, encoding="utf-8", newline="\n")
    return load_suite(folder / f"{name}.suite.toml")


def asked(suite: Suite) -> list[tuple[str, str]]:
    """The two prompts of every item, as they are sent."""
    items = {item.id: item for item in suite.items}
    texts = {template.id: template.text for template in suite.templates}
    sent = {
        (t.item, t.template): fill(texts[t.template], items[t.item].texts(t.order))
        for t in plan_trials(suite)
    }
    return [(sent[item, "a"], sent[item, "b"]) for item in items]


@pytest.mark.parametrize("task", ["factuality", "coherence", "preference"])
@pytest.mark.parametrize("swapped", [False, True])
def test_the_suite_asks_the_prompts_of_the_file_to_the_letter(
    tmp_path: Path, task: str, swapped: bool
) -> None:
    rows = pair_rows(task, swapped=swapped)
    assert asked(suite_of(tmp_path, rows)) == [(r["prompt_a"], r["prompt_b"]) for r in rows]


def test_prompts_that_do_not_show_the_response_are_kept_whole(tmp_path: Path) -> None:
    rows = pair_rows("preference")
    rows[3]["response_being_judged"] = "A: Good reply 0 | B: Another."
    pairs = read(write_rows(tmp_path / "own.jsonl", rows))
    assert "1 rows do not show what they judge" in pairs.notices[0]
    assert f"{tmp_path / 'own.jsonl'}:4" in pairs.notices[0]
    suite = suite_of(tmp_path, rows)
    assert not suite.space.pairwise
    assert asked(suite) == [(r["prompt_a"], r["prompt_b"]) for r in rows]


@pytest.mark.parametrize(
    ("task", "labels", "first"),
    [
        ("factuality", ("YES", "NO"), "YES"),  # accurate
        ("coherence", ("1", "2", "3", "4", "5"), "1"),  # score_1
        ("preference", ("A", "B"), "1"),  # A: the first option
    ],
)
def test_gold_labels_are_put_in_the_words_of_the_decision_space(
    tmp_path: Path, task: str, labels: tuple[str, ...], first: str
) -> None:
    suite = suite_of(tmp_path, pair_rows(task))
    assert suite.space.labels == labels
    assert suite.items[0].label == first


# 125 rows: five responses with a ring of five pairs each stand five times over, 5 x 5 distinct; of
# 25 responses every one stands under each of the five pairs once.
@pytest.mark.parametrize(("responses", "distinct"), [(5, 25), (25, 125)])
def test_repeated_pairs_are_kept_and_lint_counts_the_distinct_ones(
    tmp_path: Path, responses: int, distinct: int
) -> None:
    suite = suite_of(tmp_path, pair_rows("coherence", responses=responses))
    assert len(suite.items) == 125
    assert len({item.cluster for item in suite.items}) == responses
    found = {finding.rule: finding.found for finding in lint_suite(suite)}
    expected = None if distinct == 125 else f"125 pairs, {distinct} distinct, in 5 clusters"
    assert found.get("duplicates") == expected


def test_a_file_whose_answer_is_always_a_is_told_and_a_balanced_one_is_not(tmp_path: Path) -> None:
    plain = {f.rule for f in lint_suite(suite_of(tmp_path, pair_rows("preference"), "plain"))}
    rows = pair_rows("preference", swapped=True)
    balanced = suite_of(tmp_path, rows, "balanced")
    assert "label-balance" in plain
    assert "label-balance" not in {finding.rule for finding in lint_suite(balanced)}
    # The same two options are one response in either order.
    assert len({item.cluster for item in balanced.items}) == 5


def test_options_shown_in_the_other_order_than_they_are_listed_keep_their_label(
    tmp_path: Path,
) -> None:
    (row,) = pair_rows("preference")[:1]
    row["prompt_a"] = "A or B?\nA: Bad reply 0.\nB: Good reply 0."
    row["prompt_b"] = "B or A?\nA: Bad reply 0.\nB: Good reply 0."
    (item,) = suite_of(tmp_path, [row]).items
    assert item.contents == ("Bad reply 0.", "Good reply 0.")
    assert item.label == "2"  # A is the good reply, which stands second


def test_an_inverted_prompt_is_declared_and_told(tmp_path: Path) -> None:
    rows = pair_rows("factuality")
    pairs = read(write_rows(tmp_path / "own.jsonl", rows))
    # One of five wordings is inverted and stands in two of the five pairs: 2/5 of 125 rows.
    assert any("50 of 125 rows" in notice for notice in pairs.notices)
    suite = suite_of(tmp_path, rows)
    turned = {(t.item, t.template) for t in plan_trials(suite) if t.condition.get("polarity")}
    assert turned == {
        (row["pair_id"], side)
        for row in rows
        for side in ("a", "b")
        if "contain errors" in row[f"prompt_{side}"]
    }
    polarity = next(f for f in lint_suite(suite) if f.rule == "polarity")
    assert (polarity.severity, polarity.found) == ("warning", "50 of 250 wordings are inverted")


def test_several_tasks_are_several_suites(tmp_path: Path) -> None:
    rows = [*pair_rows("factuality"), *pair_rows("coherence")]
    pairs = read(write_rows(tmp_path / "both.jsonl", rows))
    names = [path.name for path in pairs.files(tmp_path / "both.suite.toml")]
    assert names[::2] == ["both-factuality.suite.toml", "both-coherence.suite.toml"]
    folder = pairs.files(tmp_path / "suites")
    assert tmp_path / "suites" / "judgesense-coherence.suite.toml" in folder


def test_a_pair_file_cannot_become_a_log(tmp_path: Path) -> None:
    pairs = read(write_rows(tmp_path / "own.jsonl", pair_rows("coherence")))
    with pytest.raises(UsageError, match=r"NAME\.suite\.toml"):
        pairs.files(tmp_path / "log.jsonl")


@pytest.mark.parametrize(
    ("field", "value", "word"),
    [
        ("prompt_b", None, "malformed"),
        ("prompt_b", ..., "missing"),
        ("ground_truth_label", "perhaps", "malformed"),
        ("ground_truth_label", "A", "malformed"),  # a slot among grades
        ("semantic_equivalence_score", 2, "malformed"),
        ("ab_swapped", "yes", "malformed"),
        ("pair_id", "a b", "malformed"),
    ],
)
def test_a_wrong_field_is_named_with_file_and_line(
    tmp_path: Path, field: str, value: object, word: str
) -> None:
    rows = pair_rows("coherence")
    rows[6][field] = value
    if value is ...:
        del rows[6][field]
    path = write_rows(tmp_path / "own.jsonl", rows)
    with pytest.raises(LogError) as caught:
        read(path)
    assert f"{path}:7: field {field!r} is {word}" in str(caught.value)
    assert "expected:" in str(caught.value)


def test_unknown_fields_are_kept_out_with_one_notice(tmp_path: Path) -> None:
    rows = [row | {"extra": 1, "more": n} for n, row in enumerate(pair_rows("coherence"))]
    assert read(write_rows(tmp_path / "own.jsonl", rows)).notices == (
        "fields kept out: extra, more",
    )


def test_a_pair_that_stands_twice_is_an_error_that_names_both_places(tmp_path: Path) -> None:
    rows = pair_rows("coherence")
    rows[4]["pair_id"] = rows[1]["pair_id"]
    path = write_rows(tmp_path / "own.jsonl", rows)
    with pytest.raises(LogError, match=":5 repeats a trial") as caught:
        read(path)
    assert f"{path}:2" in str(caught.value)


def test_pairs_on_one_response_share_a_cluster(tmp_path: Path) -> None:
    clusters = clusters_of(write_rows(tmp_path / "own.jsonl", pair_rows("coherence")))
    assert clusters["cohe_001"] == clusters["cohe_025"] != clusters["cohe_026"]
