"""JudgeSense's pair files become suites that ask the very prompts of the file."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_judgesense.errors import LogError, UsageError
from pytest_judgesense.files.tables import read_rows
from pytest_judgesense.instruments.paraphrase.judgesense import PairFile, pairs_of, read_pairs
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
    """The two prompts of every item, as they are sent, in the order of a compared pair."""
    texts = {template.id: template.text for template in suite.templates}
    sent: dict[str, dict[str, str]] = {}
    items = {item.id: item for item in suite.items}
    for trial in plan_trials(suite):
        text = fill(texts[trial.template], items[trial.item].texts(trial.order))
        sent.setdefault(trial.item, {})[trial.template] = text
    pairs = [
        next((by[a], by[b]) for a, b in suite.compared_pairs if {a, b} == {*by})
        for by in sent.values()
    ]
    assert len(pairs) == len(items)
    return pairs


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
    assert "prompts are kept whole, and slots are labels like others" in pairs.notices[0]
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
        (row["pair_id"], "t4")
        for row in rows
        if "contain errors" in f"{row['prompt_a']} {row['prompt_b']}"
    }
    assert [t.id for t in suite.templates if t.polarity == "inverted"] == ["t4"]
    polarity = next(f for f in lint_suite(suite) if f.rule == "polarity")
    assert (polarity.severity, polarity.found) == ("warning", "1 of 5 wordings are inverted")


# Row 1 of a task asks by its wordings 1 and 2, row 2 by 3 and 4, row 3 by 5 and 1, and so on.
RING = (("t1", "t2"), ("t3", "t4"), ("t5", "t1"), ("t2", "t3"), ("t4", "t5"))


@pytest.mark.parametrize("task", ["factuality", "coherence", "preference"])
def test_templates_are_counted_as_the_paper_counts_them(tmp_path: Path, task: str) -> None:
    suite = suite_of(tmp_path, pair_rows(task))
    assert [template.id for template in suite.templates] == ["t1", "t2", "t3", "t4", "t5"]
    assert suite.compared_pairs == RING
    assert [item.asked_in for item in suite.items[:5]] == list(RING)
    # A request that both prompts quote is a text of the item, not of the wording.
    first = suite.templates[0].text
    assert (
        first
        == {
            "factuality": "Is this right? Answer YES or NO only.\n\nResponse: {{response}}",
            "coherence": "Rate coherence 1-5. One number only.\n\nText: {{response}}",
            "preference": "Better reply to '{{task}}'? A or B only.\nA: {{a}}\nB: {{b}}",
        }[task]
    )


def test_the_suite_has_the_runs_the_budget_and_a_system_prompt_of_the_benchmark(
    tmp_path: Path,
) -> None:
    suite = suite_of(tmp_path, pair_rows("coherence"))
    assert (suite.replicates, suite.temperature, suite.most_tokens) == (3, 0, 20)
    assert "without any explanation" in suite.system
    # 125 rows, two prompts each, three runs.
    assert len(plan_trials(suite)) == 125 * 2 * 3


def test_rows_that_each_phrase_their_own_prompts_keep_them_as_a_and_b(tmp_path: Path) -> None:
    rows = pair_rows("coherence")[:7]
    for number, row in enumerate(rows):
        row["prompt_a"] = f"Wording {number}. {row['prompt_a']}"
        row["prompt_b"] = f"Wording {number}. {row['prompt_b']}"
    suite = suite_of(tmp_path, rows)
    assert [template.id for template in suite.templates] == ["a", "b"]
    assert asked(suite) == [(row["prompt_a"], row["prompt_b"]) for row in rows]


def test_pairs_with_a_template_are_left_out(tmp_path: Path) -> None:
    path = write_rows(tmp_path / "own.jsonl", pair_rows("factuality"))
    pairs = read_pairs(list(read_rows(path)), path, leave_out=["t4"])
    # Of the ring's five pairs two have t4: 2/5 of 125.
    assert pairs.notices == ("task factuality: 50 of 125 pairs are left out, those with t4",)
    (toml, items), *_ = pairs.tasks.values()
    assert len(items) == 75
    assert "t4" not in toml
    with pytest.raises(UsageError, match="template of task factuality named 't9'"):
        read_pairs(list(read_rows(path)), path, leave_out=["t9"])


def test_reviews_of_rows_become_those_of_their_templates(tmp_path: Path) -> None:
    rows = pair_rows("factuality")
    path = write_rows(tmp_path / "own.jsonl", rows)
    by_person, by_model = [], []
    for place, row in enumerate(rows):
        pair = RING[place % 5]
        by_person.append(
            {
                "pair_id": row["pair_id"],
                "manual_label": "NO" if "t4" in pair else "YES",
                "reviewer": "Anna",
            }
        )
        said = "NO" if pair == ("t4", "t5") and place < 30 else "YES"
        by_model.append({"pair_id": row["pair_id"], "validation_decision": said, "error": None})
    files = [
        write_rows(tmp_path / "manual.jsonl", by_person),
        write_rows(tmp_path / "model.jsonl", by_model),
    ]
    pairs = read_pairs(list(read_rows(path)), path, validation=files)
    for file, text in pairs.files(tmp_path / "own.suite.toml").items():
        file.write_text(text, encoding="utf-8", newline="\n")
    suite = load_suite(tmp_path / "own.suite.toml")
    assert dict(suite.reviewers) == {"Anna": "human", "model": "model"}
    # Rows 5, 10, ..., 30 of 125 are t4~t5 with NO of the model: 6 of its 25, so it is not sure.
    assert {review.pair: dict(review.verdicts) for review in suite.reviews} == {
        pair: {
            "Anna": "NO" if "t4" in pair else "YES",
            "model": "UNSURE" if pair == ("t4", "t5") else "YES",
        }
        for pair in RING
    }
    # Reviewers who differ leave a pair in doubt; it is left out where all say NO.
    assert suite.design.unsure == (("t3", "t4"), ("t4", "t5"))
    (toml, _), *_ = read_pairs(list(read_rows(path)), path, validation=files[:1]).tasks.values()
    assert '{ pair = ["t3", "t4"], reviews = { Anna = "NO" } }' in toml
    assert any("t3~t4 was reviewed with its labels as they stand" in n for n in pairs.notices)
    assert any("YES of 19 rows, NO of 6 rows" in notice for notice in pairs.notices)
    by_person[3]["manual_label"] = "maybe"
    wrong = write_rows(tmp_path / "wrong.jsonl", by_person)
    with pytest.raises(LogError, match=r"wrong\.jsonl:4: field 'manual_label' is malformed"):
        read_pairs(list(read_rows(path)), path, validation=[wrong])


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
    pairs = pairs_of([write_rows(tmp_path / "own.jsonl", pair_rows("coherence"))]).by_id
    assert pairs["cohe_001"].cluster == pairs["cohe_025"].cluster != pairs["cohe_026"].cluster
