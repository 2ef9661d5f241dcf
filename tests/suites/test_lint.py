"""Each rule of lint: on a suite that breaks it, and silent on one that does not."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_judgesense.suites.builtin import builtin_suites
from pytest_judgesense.suites.consistency import LintFinding
from pytest_judgesense.suites.lint import lint_items
from pytest_judgesense.suites.loading import _load, load_suite
from pytest_judgesense.suites.schema import LadderTask
from tests.suites.files import write_suite

HEAD = 'schema = "judgesense/suite/1"\nname = "tiny"\nkind = "{kind}"\n'
YES_NO = '[space]\nlabels = ["YES", "NO"]\n[stimuli]\nfile = "items.jsonl"\n'
SLOTS = '[space]\nlabels = ["A", "B"]\npairwise = true\n{more}[stimuli]\nfile = "items.jsonl"\n'
ASKED = ("Is this right? YES or NO. {{text}}", "Say YES if it is right, else NO. {{text}}")
COMPARED = ("Better: A or B? {{task}} {{a}} {{b}}", "Prefer A or B? {{task}} {{a}} {{b}}")
BALANCED = [
    {"id": f"i{n}", "text": f"Statement {n}.", "label": ("YES", "NO")[n % 2]} for n in range(10)
]


def templates(*texts: str, more: str = "") -> str:
    return "".join(
        f'[[templates]]\nid = "t{i}"\ntext = {json.dumps(text)}\n{more}'
        for i, text in enumerate(texts, start=1)
    )


def pairs(count: int = 10, label: str | None = None) -> list[dict[str, Any]]:
    return [
        {"id": f"p{n}", "task": f"Task {n}.", "texts": [f"One {n}.", f"Two {n}."]}
        | {"label": label or ("1", "2")[n % 2]}
        for n in range(count)
    ]


def found(
    folder: Path, toml: str, rows: list[dict[str, Any]], kind: str = "paraphrase"
) -> dict[str, LintFinding]:
    """The findings by rule."""
    _load.cache_clear()  # a test may write its suite twice
    suite = load_suite(write_suite(folder, HEAD.format(kind=kind) + toml, rows))
    return {finding.rule: finding for finding in lint_items(suite)}


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


@pytest.mark.parametrize(
    ("kind", "rule"), [("paraphrase", "identical-sides"), ("vacuum", "no-vacuum")]
)
def test_sides_are_identical_in_a_vacuum_and_only_there(
    tmp_path: Path, kind: str, rule: str
) -> None:
    toml = SLOTS.format(more="tie = true\n") + templates(
        "Better: A, B or tie? {{task}} {{a}} {{b}}"
    )
    same = {"id": "s", "task": "T.", "texts": ["x ", " x"]}
    rows = [*pairs(4), same] if kind == "paraphrase" else [pairs(1)[0] | {"label": None}, same]
    finding = found(tmp_path, toml, rows, kind)[rule]
    assert finding.severity == "error"
    assert finding.found == ("1 of 5 items" if kind == "paraphrase" else "1 of 2 items")


def test_two_templates_with_the_same_words_are_no_pair(tmp_path: Path) -> None:
    finding = found(tmp_path, YES_NO + templates(ASKED[0], ASKED[0]), BALANCED)["identical-sides"]
    assert finding.severity == "error"
    assert finding.found == "10 prompt pairs whose sides are identical"


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


def test_an_unlabelled_pairwise_suite_in_one_order_confounds_slot_and_content(
    tmp_path: Path,
) -> None:
    rows = [{k: v for k, v in row.items() if k != "label"} for row in pairs()]
    toml = SLOTS.format(more="") + templates(*COMPARED)
    assert "option-order" in found(tmp_path, toml + '[design]\norders = "ab"\n', rows)
    assert "option-order" not in found(tmp_path, toml, rows)


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


def _ladder(**changes: Any) -> dict[str, Any]:
    """A task of six levels in five sentences each: level q holds the first q elements."""
    plain = [f"Plain sentence {n} here." for n in range(1, 6)]
    own = [f"Holds element {n} here." for n in range(1, 6)]
    words = [f"Another plain {n} now." for n in range(1, 6)]
    said = [f"Says element {n} now." for n in range(1, 6)]
    task = {
        "id": "task",
        "task": "Write.",
        "elements": [f"element {n}" for n in range(1, 6)],
        "levels": [" ".join(own[:q] + plain[q:]) for q in range(6)],
        "rewordings": [" ".join(said[:q] + words[q:]) for q in range(6)],
        "alternatives": [{"elements": [3], "text": " ".join([*plain[1:], own[2]])}],
        "fillers": [{"level": 2, "text": " ".join(own[:2] + words[2:])}],
    }
    return task | changes


LADDER = SLOTS.format(more="tie = true\n") + templates("Better: A, B or tie? {{task}} {{a}} {{b}}")


def test_a_ladder_whose_chain_holds_has_no_findings(tmp_path: Path) -> None:
    assert found(tmp_path, LADDER, [_ladder()], "ladder") == {}


def lint_of(tmp_path: Path, **changes: Any) -> dict[str, LintFinding]:
    """What lint says of a sound ladder suite that was changed after it was loaded.

    Loading refuses such suites by itself; a suite may be made otherwise.
    """
    _load.cache_clear()
    suite = load_suite(write_suite(tmp_path, HEAD.format(kind="ladder") + LADDER, [_ladder()]))
    return {finding.rule: finding for finding in lint_items(replace(suite, **changes))}


def test_a_level_that_drops_what_a_lower_one_holds_breaks_the_chain(tmp_path: Path) -> None:
    task = _ladder()
    task["levels"][4] = task["levels"][4].replace("Holds element 2 here.", "Plain sentence 2 here.")
    finding = lint_of(tmp_path, tasks=(LadderTask(**task),))["prefix-chain"]
    assert (finding.severity, finding.where) == ("error", "tasks task")


def test_an_alternative_with_the_elements_of_a_level_is_none(tmp_path: Path) -> None:
    task = _ladder(alternatives=[{"elements": [2, 1], "text": "x " * 20}])
    assert "alternative [2, 1]" in found(tmp_path, LADDER, [task], "ladder")["prefix-chain"].where


def test_lengths_within_a_task_differ_by_a_tenth_at_most(tmp_path: Path) -> None:
    task = _ladder()
    # 20 words and 22 are within 10%, 23 are 15% more.
    task["fillers"][0]["text"] = "word " * 22
    assert "length" not in lint_of(tmp_path, tasks=(LadderTask(**task),))
    task["fillers"][0]["text"] = "word " * 23
    assert lint_of(tmp_path, tasks=(LadderTask(**task),))["length"].severity == "error"


def test_a_ladder_in_one_order_is_an_error(tmp_path: Path) -> None:
    assert lint_of(tmp_path, orders="ab")["option-order"].severity == "error"


@pytest.mark.parametrize("name", sorted(builtin_suites()))
def test_the_built_in_suites_have_no_findings(name: str) -> None:
    assert lint_items(load_suite(builtin_suites()[name])) == ()


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
