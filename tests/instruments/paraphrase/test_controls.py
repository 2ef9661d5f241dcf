"""Wrong answers as controls: how they are read, what they measure, and that nothing else does."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pytest_judgesense.errors import SuiteError
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.instruments.paraphrase.controls import leniency_of
from pytest_judgesense.instruments.paraphrase.instrument import REPORT
from pytest_judgesense.instruments.paraphrase.simulated import pass_what_is_vague
from pytest_judgesense.judges.simulated.named_observers import observer_named
from pytest_judgesense.judges.simulated.observer import Observer
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.measures.cell_estimates import estimate_all
from pytest_judgesense.questions.label.label_sample import drawn_at_random
from pytest_judgesense.report.log import log_lines
from pytest_judgesense.report.logged_cells import cells_of_logs
from pytest_judgesense.suites.planning import plan_trials
from pytest_judgesense.suites.rules import lint_items
from pytest_judgesense.suites.suite import Suite
from pytest_judgesense.trial import Judgment
from tests.measures.building import YES_NO, estimate, judgment, worded
from tests.suites.files import CONTENT, PAIRWISE, write_suite
from tests.suites.known import builtin_suites, load_suite

BALANCED = [
    {"id": f"i{n}", "text": f"Statement {n}.", "label": ("YES", "NO")[n % 2]} for n in range(10)
]


def controls_of(questions: int) -> list[dict[str, Any]]:
    return [
        {
            "id": f"i{n}.{kind}",
            "cluster": f"i{n}",
            "control": kind,
            "label": "NO",
            "text": f"A {kind} statement {n}.",
        }
        for n in range(questions)
        for kind in ("vague", "specific")
    ]


def suite_with(
    folder: Path, controls: Sequence[dict[str, Any]], toml: str = CONTENT, where: str = "[stimuli]"
) -> Suite:
    (folder / "controls.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in controls))
    named = toml.replace(where, f'{where}\ncontrols = "controls.jsonl"')
    return load_suite(write_suite(folder, named, BALANCED))


def answered(passes: Sequence[tuple[str, str]], *, label: str = "NO") -> Iterator[Judgment]:
    """Controls by what is said of the vague and of the specific answer to each question."""
    for number, words in enumerate(passes):
        for kind, word in zip(("vague", "specific"), words, strict=True):
            yield judgment(
                f"q{number}.{kind}",
                word,
                cluster=f"q{number}",
                condition={"control": kind},
                label=label,
                pairwise=False,
            )


def cell_with(controls: Iterator[Judgment], items: Sequence[Judgment] = ()) -> Cell:
    measures = BUILT_IN.measures_on(YES_NO.kind)
    return Cell.with_controls_apart("j", "s", YES_NO, (*items, *controls), 0, measures)


ITEMS = [
    *worded({f"i{n}": ["YES", "YES"] for n in range(6)}, label="YES"),
    *worded({f"k{n}": ["NO", "NO"] for n in range(6)}, label="NO"),
]


# --- the suite ------------------------------------------------------------------------------------


def test_controls_are_asked_beside_the_items_and_told_by_their_condition(tmp_path: Path) -> None:
    suite = suite_with(tmp_path, controls_of(4))
    controls = [item for item in suite.items if item.is_control]
    assert [(item.id, item.cluster, item.condition["control"]) for item in controls[:2]] == [
        ("i0.vague", "i0", "vague"),
        ("i0.specific", "i0", "specific"),
    ]
    # Ten items and eight controls under two wordings, the controls last.
    trials = plan_trials(suite)
    assert len(trials) == 36
    assert ["control" in trial.condition for trial in trials] == [False] * 20 + [True] * 16
    # The labels of the items alone are balanced, and people are shown these alone.
    assert "label-balance" not in {finding.rule for finding in lint_items(suite)}
    assert {item.id for item in drawn_at_random(suite, 0).items} == {r["id"] for r in BALANCED}
    (tmp_path / "without").mkdir()
    assert load_suite(write_suite(tmp_path / "without", CONTENT, BALANCED)).digest != suite.digest


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"control": "wrong"}, r"controls\.jsonl:1, key control"),
        ({"cluster": "i9"}, r"controls of question i9 .* are no pair\n.*1 vague, 0 specific"),
        ({"label": None}, r"key label: null"),
    ],
)
def test_a_control_that_is_none_is_refused(
    tmp_path: Path, change: dict[str, Any], error: str
) -> None:
    first, *others = controls_of(3)
    with pytest.raises(SuiteError, match=error):
        suite_with(tmp_path, [{**first, **change}, *others])


def test_a_control_that_equals_an_item_has_an_id_of_its_own(tmp_path: Path) -> None:
    def without_ids(lines: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        return [{key: line[key] for key in line if key != "id"} for line in lines]

    controls = without_ids(controls_of(2))
    controls[1]["text"] = BALANCED[0]["text"]
    (tmp_path / "controls.jsonl").write_text("".join(f"{json.dumps(c)}\n" for c in controls))
    named = CONTENT.replace("[stimuli]", '[stimuli]\ncontrols = "controls.jsonl"')
    suite = load_suite(write_suite(tmp_path, named, without_ids(BALANCED)))
    assert suite.items[11].id == f"{suite.items[0].id}.2"
    trials = [trial.id for trial in plan_trials(suite)]
    # Ten items and four controls under two wordings.
    assert len({*trials}) == len(trials) == 28


def test_a_control_that_states_the_id_of_an_item_is_refused(tmp_path: Path) -> None:
    first, second, *others = controls_of(2)
    with pytest.raises(SuiteError, match=r"controls\.jsonl:2, key id: 'i4', which an item has"):
        suite_with(tmp_path, [first, {**second, "id": "i4"}, *others])


def test_pairs_and_grades_have_no_controls(tmp_path: Path) -> None:
    grades = CONTENT.replace('["YES", "NO"]', '["1", "2"]\nordinal = true')
    for toml in (PAIRWISE, grades):
        with pytest.raises(SuiteError, match="controls are wrong answers that pass or do not"):
            suite_with(tmp_path, controls_of(2), toml)


def test_a_check_without_controls_is_a_finding_of_lint(tmp_path: Path) -> None:
    toml = f"{CONTENT}[checks]\nleniency_ceiling = 0.1\n"
    suite = load_suite(write_suite(tmp_path, toml, BALANCED))
    assert "no-controls" in [finding.rule for finding in lint_items(suite)]
    (tmp_path / "with").mkdir()
    suite = suite_with(tmp_path / "with", controls_of(2), toml)
    assert "no-controls" not in [finding.rule for finding in lint_items(suite)]


def test_the_built_in_preset_has_forty_pairs_of_wrong_answers() -> None:
    suite = load_suite(builtin_suites()["factuality"], "leniency")
    by_question = {item.id: item.fields["question"] for item in suite.items if not item.is_control}
    controls = [item for item in suite.items if item.is_control]
    assert (len(by_question), len(controls)) == (40, 80)
    assert all(item.fields["question"] == by_question[item.cluster] for item in controls)
    assert {item.label for item in controls} == {"NO"}
    assert len({item.fields["answer"] for item in suite.items}) == 120
    assert not any(item.is_control for item in load_suite(builtin_suites()["factuality"]).items)


# --- the measure ----------------------------------------------------------------------------------


def test_vague_answers_that_pass_oftener_are_leniency() -> None:
    # Of 12 questions six pass vaguely alone, one specifically as well, and five not at all: 6/12.
    of = cell_with(answered([("YES", "NO")] * 6 + [("YES", "YES")] + [("NO", "NO")] * 5), ITEMS)
    leniency = estimate(of, "leniency")
    assert (leniency.value, leniency.n) == (0.5, 12)
    # By swaps all six fall this way with (1/2)^6; the result seen counts half.
    effect = leniency_of(of).effect
    assert effect is not None
    assert effect.p == pytest.approx(1 / 128)
    assert leniency.clustered is not None
    assert 0 < leniency.clustered.lower < 0.5 < leniency.clustered.upper
    assert "lenient (p <= .05)" in leniency.flags
    measure = next(m for m in of.measures if m.name == "leniency")
    assert measure.said_of(leniency) == (
        "vague wrong answers pass 50 points oftener than specific ones"
    )
    assert measure.evidence is not None
    assert measure.evidence.find is not None
    against = measure.evidence.find(of, {})
    assert [[call.trial.item for call in group] for group in against] == [
        [f"q{number}.specific", f"q{number}.vague"] for number in range(6)
    ]
    section = next(s for s in REPORT.sections if s.name == "controls")
    rows = section.rows(of, (), None)
    assert rows is not None
    assert [(row["control"], row["share"]) for row in rows] == [
        ("vague", 7 / 12),
        ("specific", 1 / 12),
        ("difference", 0.5),
    ]
    (line,) = section.lines(rows)
    assert line.startswith(
        "wrong answers that pass: vague 7 of 12, specific 1 of 12; leniency 0.50"
    )


def test_a_judge_that_errs_as_often_on_both_is_not_lenient() -> None:
    of = cell_with(answered([("YES", "NO"), ("NO", "YES")] * 6 + [("YES", "YES")] * 4), ITEMS)
    leniency = estimate(of, "leniency")
    assert (leniency.value, leniency.flags) == (0.0, ())
    assert not leniency_of(of).is_lenient


def test_no_other_number_counts_controls() -> None:
    with_controls = cell_with(answered([("YES", "NO")] * 8 + [("?", "!")] * 2), ITEMS)
    without = cell_with(iter(()), ITEMS)
    about_replies = {"leniency", "unparsed_rate", "refusal_rate", "failed_rate"}

    def numbers(of: Cell) -> list[Any]:
        every = (each for each in estimate_all(of) if each.measure not in about_replies)
        return [(each.measure, each.condition, each.value, each.n, each.missing) for each in every]

    assert numbers(with_controls) == numbers(without)
    assert "leniency" not in {each.measure for each in estimate_all(without)}
    # Of 24 calls on items and 20 on controls two get no reply, and two one without a verdict.
    unparsed, failed = (estimate(with_controls, f"{word}_rate") for word in ("unparsed", "failed"))
    assert (unparsed.count, unparsed.n) == (2, 42)
    assert (failed.count, failed.n) == (2, 44)


def test_what_is_missing_is_counted_with_its_worst_cases() -> None:
    # Four pairs of verdicts, two of which pass vaguely; one vague answer without a verdict.
    of = cell_with(answered([("YES", "NO")] * 2 + [("NO", "NO")] * 2 + [("?", "NO")]), ITEMS)
    leniency = estimate(of, "leniency")
    assert (leniency.value, leniency.n, leniency.missing.unparsed) == (0.5, 4, 1)
    # Of five questions it passes, or it does not.
    assert (leniency.missing.lower_bound, leniency.missing.upper_bound) == (2 / 5, 3 / 5)
    nothing = estimate(cell_with(answered([("?", "NO")] * 3), ITEMS), "leniency")
    assert "fewer than two questions" in str(nothing.unavailable)


def test_a_judge_that_always_says_no_passes_nothing_and_is_flagged() -> None:
    never = worded({f"i{n}": ["NO", "NO"] for n in range(6)}, label="YES")
    leniency = estimate(cell_with(answered([("NO", "NO")] * 12), never), "leniency")
    assert (leniency.value, leniency.flags) == (0.0, ("degenerate",))


def test_parts_of_a_cell_hold_the_controls_that_are_among_them() -> None:
    of = cell_with(answered([("YES", "NO")] * 4), ITEMS)
    assert [j.trial.item for j in of.all_judgments[-2:]] == ["q3.vague", "q3.specific"]
    rest = of.of(j for j in of.all_judgments if j.trial.cluster != "q0")
    assert (len(rest.judgments), len(rest.controls)) == (24, 6)
    assert of.of(of.judgments).controls == ()


def test_a_log_holds_controls_and_gives_the_same(tmp_path: Path) -> None:
    of = cell_with(answered([("YES", "NO")] * 8 + [("NO", "NO")] * 4), ITEMS)
    log = tmp_path / "log.jsonl"
    log.write_text("\n".join(log_lines(of.all_judgments, of.design)) + "\n", encoding="utf-8")
    (logged,) = cells_of_logs([log])
    assert len(logged.controls) == 24
    assert estimate(logged, "leniency").value == estimate(of, "leniency").value == 8 / 12


# --- the embedded judge ---------------------------------------------------------------------------


def test_the_embedded_judge_passes_the_vague_answers_that_it_should() -> None:
    suite = load_suite(builtin_suites()["factuality"], "leniency")
    prompt = suite.templates[0].text
    controls = [item for item in suite.items if item.is_control]

    def passed(observer: Observer, kind: str, text: str = prompt, word: str = "YES") -> int:
        observer = replace(observer, skills=(pass_what_is_vague,))
        answers = (item for item in controls if item.condition["control"] == kind)
        prompts = (
            text.replace("{{question}}", item.fields["question"]).replace(
                "{{answer}}", item.fields["answer"]
            )
            for item in answers
        )
        return [observer.reply(each) for each in prompts].count(word)

    lenient = Observer("mine", vague_leniency=1.0)
    assert (passed(lenient, "vague"), passed(lenient, "specific")) == (40, 0)
    assert (passed(Observer("mine"), "vague"), passed(Observer("mine"), "specific")) == (0, 0)
    # Where YES means an error, an answer that passes has none.
    inverted = load_suite(builtin_suites()["factuality"], "inverted").templates[-1].text
    assert passed(lenient, "vague", inverted, "NO") == 40
    # Of 40 with .3 each twelve pass, with a deviation of 2.9.
    assert 3 <= passed(Observer("mine", vague_leniency=0.3), "vague") <= 21
    assert (observer_named("mixed").vague_leniency, observer_named("clean").vague_leniency) == (
        0.3,
        0.0,
    )
