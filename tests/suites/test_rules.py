"""Each rule of lint: on a suite that breaks it, and silent on one that does not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_judgesense.suites.loading import presets_of
from pytest_judgesense.suites.rules import lint_items, lint_prompts

from .files import write_suite
from .known import KINDS, builtin_suites, load_suite
from .linting import ASKED, BALANCED, COMPARED, HEAD, SLOTS, YES_NO, found, pairs, templates


def test_a_sound_suite_has_no_findings(tmp_path: Path) -> None:
    assert found(tmp_path, YES_NO + templates(*ASKED), BALANCED) == {}


def test_a_sound_pairwise_suite_has_no_findings(tmp_path: Path) -> None:
    assert found(tmp_path, SLOTS.format(more="") + templates(*COMPARED), pairs()) == {}


def test_repeated_items_are_counted_with_the_distinct_ones(tmp_path: Path) -> None:
    rows = [{**row, "id": f"{row['id']}-{n}"} for row in BALANCED for n in range(3)]
    finding = found(tmp_path, YES_NO + templates(*ASKED), rows)["duplicates"]
    # 30 items with one template pair each, of 10 statements.
    assert finding.severity == "warning"
    assert finding.found == "30 pairs, 10 distinct, in 30 clusters"
    assert "one cluster" in finding.remedy


def test_repetitions_within_a_cluster_leave_clustered_intervals_alone(tmp_path: Path) -> None:
    rows = [
        {**row, "id": f"{row['id']}-{n}", "cluster": row["id"]} for row in BALANCED for n in (1, 2)
    ]
    finding = found(tmp_path, YES_NO + templates(*ASKED), rows)["duplicates"]
    assert finding.found == "20 pairs, 10 distinct, in 10 clusters"
    assert "clustered intervals hold" in finding.remedy


def test_the_same_pair_the_other_way_round_is_the_same_when_both_orders_are_asked(
    tmp_path: Path,
) -> None:
    one = {"id": "p", "task": "T.", "texts": ["x.", "y."], "label": "1"}
    other = one | {"id": "q", "texts": ["y.", "x."], "label": "2"}
    toml = SLOTS.format(more="") + templates(*COMPARED)
    # Two items in two orders show 4 prompt pairs, of which 2 differ.
    assert found(tmp_path, toml, [one, other])["duplicates"].found.startswith("4 pairs, 2 distinct")
    assert "duplicates" not in found(tmp_path, toml + '[design]\norders = "ab"\n', [one, other])


def test_two_candidates_with_nothing_between_them_are_told_unless_accepted(tmp_path: Path) -> None:
    toml = SLOTS.format(more="tie = true\n") + templates(
        "Better: A, B or tie? {{task}} {{a}} {{b}}"
    )
    same = {"id": "s", "task": "T.", "texts": ["x ", " x"]}
    finding = found(tmp_path, toml, [*pairs(4), same])["identical-sides"]
    assert (finding.severity, finding.found) == ("warning", "1 of 5 items")
    assert 'accepted = ["identical-sides"] in [stimuli]' in finding.remedy
    accepted = toml.replace("[stimuli]", '[stimuli]\naccepted = ["identical-sides"]')
    assert "identical-sides" not in found(tmp_path, accepted, [*pairs(4), same])


def test_one_label_for_almost_everything_is_told(tmp_path: Path) -> None:
    rows = [{**row, "label": "YES" if n else "NO"} for n, row in enumerate(BALANCED)]
    finding = found(tmp_path, YES_NO + templates(*ASKED), rows)["label-balance"]
    assert finding.severity == "warning"
    # 9 of 10 items, each under two templates.
    assert finding.found == "YES 18, NO 2 of 20 trials"


def test_always_a_is_right_only_where_one_order_is_asked(tmp_path: Path) -> None:
    toml = SLOTS.format(more="") + templates(*COMPARED)
    rows = pairs(label="1")
    assert "label-balance" not in found(tmp_path, toml, rows)
    balanced = found(tmp_path, toml + '[design]\norders = "balanced"\n', rows)
    assert "label-balance" not in balanced
    finding = found(tmp_path, toml + '[design]\norders = "ab"\n', rows)["label-balance"]
    assert "always answers A" in finding.what


def test_whole_prompts_are_not_advised_to_be_asked_in_both_orders(tmp_path: Path) -> None:
    """Items that bring their prompts as they were asked: these have their orders."""
    # As `judgesense import` writes them, taken apart around the candidates.
    rows = [{**row, "fields": {"before": "Better, A or B? "}} for row in pairs(label="1")]
    fixed = SLOTS.format(more="") + templates("{{before}}{{a}}{{b}}") + '[design]\norders = "ab"\n'
    finding = found(tmp_path, fixed, rows)["label-balance"]
    assert finding.remedy == "balance the labels"
    filled = SLOTS.format(more="") + templates(*COMPARED) + '[design]\norders = "ab"\n'
    assert 'orders = "both"' in found(tmp_path, filled, rows)["label-balance"].remedy
    unlabelled = [{key: value for key, value in row.items() if key != "label"} for row in rows]
    finding = found(tmp_path, fixed, unlabelled)["option-order"]
    assert finding.expected == "labels that say which candidate is better"


INVERTED = "Reply NO (accurate) or YES (has errors). {{text}}"
STRAIGHT = "Reply YES (correct) or NO (incorrect). {{text}}"


def test_contradicting_explanations_are_an_error_until_they_are_declared(tmp_path: Path) -> None:
    toml = YES_NO + templates(STRAIGHT, ASKED[1], INVERTED)
    finding = found(tmp_path, toml, BALANCED)["polarity"]
    assert (finding.severity, finding.where) == ("error", "templates t3")
    declared = found(tmp_path, toml + 'polarity = "inverted"\n', BALANCED)["polarity"]
    assert (declared.severity, declared.where) == ("warning", "templates t3")
    assert "as is declared" in declared.what


def test_a_question_put_the_other_way_round_is_a_warning(tmp_path: Path) -> None:
    toml = YES_NO + templates(
        "Is it accurate? YES or NO. {{text}}", "Does it contain an error? YES or NO. {{text}}"
    )
    assert found(tmp_path, toml, BALANCED)["polarity"].severity == "warning"


def test_labels_explained_both_ways_are_ambiguous(tmp_path: Path) -> None:
    toml = YES_NO + templates(ASKED[0], "YES (correct) or NO (accurate)? {{text}}")
    assert "cannot be told" in found(tmp_path, toml, BALANCED)["polarity"].what


def test_templates_that_ask_for_other_labels_are_an_error(tmp_path: Path) -> None:
    other = "Rate it: Accurate (all correct) or Inaccurate (has errors). {{text}}"
    finding = found(tmp_path, YES_NO + templates(ASKED[0], other), BALANCED)["template-labels"]
    assert finding.severity == "error"
    assert "t2 (Accurate or Inaccurate)" in finding.where


def test_templates_that_name_no_labels_are_told_unless_the_system_prompt_does(
    tmp_path: Path,
) -> None:
    toml = YES_NO + templates(ASKED[0], "Right or not? {{text}}")
    assert found(tmp_path, toml, BALANCED)["template-labels"].severity == "warning"
    told = 'system = "Answer YES or NO."\n' + toml
    assert "template-labels" not in found(tmp_path, told, BALANCED)


def test_labels_may_stand_in_items_that_are_whole_prompts(tmp_path: Path) -> None:
    toml = YES_NO + templates("{{text}}", "Read it first. {{text}}")
    asked = [{**row, "text": f"{row['text']} YES or NO?"} for row in BALANCED]
    assert "template-labels" not in found(tmp_path, toml, asked)
    assert found(tmp_path, toml, BALANCED)["template-labels"].severity == "warning"


def test_another_scale_is_another_set_of_labels(tmp_path: Path) -> None:
    space = '[space]\nlabels = ["1", "2", "3"]\nordinal = true\n[stimuli]\nfile = "items.jsonl"\n'
    rows = [{**row, "label": str(n % 3 + 1)} for n, row in enumerate(BALANCED[:9])]
    toml = space + templates("Grade it from 1 to 3. {{text}}", "Grade it from 0 to 10. {{text}}")
    finding = found(tmp_path, toml, rows)["template-labels"]
    assert (finding.severity, finding.where) == ("error", "templates t2 (0 or 10)")


@pytest.mark.parametrize(
    "leak", ["Label: {label}. Well.", "It is so (ground truth: {label})", "{label}"]
)
def test_a_label_in_the_text_is_an_error(tmp_path: Path, leak: str) -> None:
    rows = [{**row, "text": leak.format(label=row["label"])} for row in BALANCED]
    finding = found(tmp_path, YES_NO + templates(*ASKED), rows)["label-visible"]
    assert (finding.severity, finding.found) == ("error", "10 of 10 items")


def test_a_rank_before_a_candidate_is_an_error(tmp_path: Path) -> None:
    rows = [*pairs(), {"id": "x", "task": "T.", "texts": ["[better] Hi.", "Ho."], "label": "1"}]
    assert (
        "x"
        in found(tmp_path, SLOTS.format(more="") + templates(*COMPARED), rows)[
            "label-visible"
        ].where
    )


def test_what_an_answer_says_about_its_own_subject_is_a_warning_that_can_be_accepted(
    tmp_path: Path,
) -> None:
    sums = {
        "id": "sum",
        "task": "How far is it from 2 to 3 on the number line?",
        "texts": ["Distance = 1", "The correct answer is 2."],
        "label": "2",
    }
    findings = found(tmp_path, SLOTS.format(more="") + templates(*COMPARED), [*pairs(), sums])
    assert findings["label-visible"].severity == "warning"
    assert 'accepted = ["label-visible"] in [stimuli]' in findings["label-visible"].remedy


@pytest.mark.parametrize("name", sorted(builtin_suites()))
def test_the_built_in_suites_have_no_findings(name: str) -> None:
    assert lint_items(load_suite(builtin_suites()[name])) == ()


@pytest.mark.parametrize("name", sorted(builtin_suites()))
def test_no_text_of_a_built_in_suite_has_a_finding_in_any_preset(name: str) -> None:
    """So a session need not read all of them to lint it."""
    path = builtin_suites()[name]
    for preset in (None, *presets_of(path, KINDS)):
        suite = load_suite(path, preset)
        assert lint_items(suite) == lint_prompts(suite), preset


def test_without_the_rules_of_texts_the_others_are_applied(tmp_path: Path) -> None:
    same = {"id": "x", "task": "T.", "texts": ["Hi.", "Hi."], "label": "1"}
    rows = [*pairs(4), same, {**same, "id": "y"}]
    toml = HEAD.format(kind="paraphrase") + SLOTS.format(more="") + templates(*COMPARED)
    path = write_suite(tmp_path, toml, rows)
    all_found, of_prompts = (
        {finding.rule for finding in lint(load_suite(path))} for lint in (lint_items, lint_prompts)
    )
    # Two items of one prompt, which a judge's own prompts may change; their sides are of the items.
    assert {"identical-sides", "duplicates"} <= all_found
    assert "duplicates" in of_prompts
    assert "identical-sides" not in of_prompts


def test_of_the_presets_the_inverted_one_is_told(tmp_path: Path) -> None:
    (finding,) = lint_items(load_suite(builtin_suites()["factuality"], "inverted"))
    assert (finding.severity, finding.rule, finding.where) == (
        "warning",
        "polarity",
        "templates t6",
    )


@given(st.permutations(BALANCED))
def test_findings_do_not_depend_on_the_order_of_the_items(
    tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, Any]]
) -> None:
    folder = tmp_path_factory.mktemp("order")
    assert found(folder, YES_NO + templates(*ASKED), rows) == {}
