"""The LLMBar importer: on small files of its format, and on the benchmark's own statistics."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict

import pytest

from pytest_judgesense.errors import LogError, UsageError
from pytest_judgesense.estimate import find_estimate
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.instruments.paraphrase.results import DESIGN, read_llmbar
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.measures.cell_estimates import estimate_all
from pytest_judgesense.stats.agreement import cohen_kappa
from pytest_judgesense.trial import Judgment, Unparsed, Verdict
from tests.shared_data import LLMBAR, needs_llmbar


def _game(text: str, winner: str | None) -> dict[str, object]:
    return {"completion": [text, ""], "winner": winner}


def _record(label: int, plain: dict[str, object], swapped: dict[str, object]) -> dict[str, object]:
    first_stage = {"swap = False": _game("ignored", "1"), "swap = True": _game("ignored", "1")}
    last_stage = {"swap = False": plain, "swap = True": swapped}
    return {
        "input": "Name a colour.",
        "output_1": "Red.",
        "output_2": "Seven.",
        "label": label,
        "results": [first_stage, last_stage],
    }


RECORDS = [
    # The same content in both orders: Output (a) shows content 1 unless exchanged.
    _record(1, _game("Output (a)", "1"), _game("Output (b)", "1")),
    # The same slot in both orders.
    _record(2, _game("Output (a)", "1"), _game("Output (a)", "2")),
    # No winner recorded, though the text states one.
    _record(2, _game("I choose Output (b).", None), _game("Output (a)", "2")),
]


@pytest.fixture
def results(tmp_path):
    folder = tmp_path / "Toy" / "JudgeX" / "Plain"
    folder.mkdir(parents=True)
    (folder / "result.json").write_text(json.dumps(RECORDS), encoding="utf-8")
    return tmp_path


def test_games_become_judgments_in_both_orders(results):
    judgments = list(read_llmbar(results))

    assert [j.trial.id for j in judgments][:2] == [
        "llmbar-Toy/0001/Plain/ab/r1",
        "llmbar-Toy/0001/Plain/ba/r1",
    ]
    assert {j.judge for j in judgments} == {"JudgeX"}
    assert [j.trial.label for j in judgments] == ["1", "1", "2", "2", "2", "2"]
    # Slots: content 1 is A in order ab and B in order ba.
    assert [j.verdict for j in judgments] == ["A", "B", "A", "A", None, "A"]
    assert [j.chosen for j in judgments] == ["1", "1", "1", "2", None, "2"]


def test_a_missing_winner_is_unparsed_and_reparse_reads_the_text(results):
    recorded = list(read_llmbar(results))[4]
    reparsed = list(read_llmbar(results, reparse=True))[4]

    assert recorded.outcome == Unparsed("no winner recorded")
    assert reparsed.outcome == Verdict("B")
    assert reparsed.chosen == "2"


@pytest.mark.parametrize("below", ["", "Toy", "Toy/JudgeX", "Toy/JudgeX/Plain"])
def test_any_level_of_the_tree_can_be_named(results, below):
    judgments = list(read_llmbar(results / below))

    assert {j.trial.suite for j in judgments} == {"llmbar-Toy"}
    assert {j.trial.template for j in judgments} == {"Plain"}


def test_a_nested_subset_keeps_its_whole_name(tmp_path):
    folder = tmp_path / "Adversarial" / "Toy" / "JudgeX" / "Plain"
    folder.mkdir(parents=True)
    (folder / "result.json").write_text(json.dumps(RECORDS), encoding="utf-8")

    assert {j.trial.suite for j in read_llmbar(tmp_path)} == {"llmbar-Adversarial-Toy"}


@pytest.mark.parametrize("below", ["", "Set", "Set/Toy", "Set/Toy/evaluators/JudgeX"])
def test_the_folder_of_judges_in_the_repository_names_nothing(tmp_path, below):
    folder = tmp_path / "Set" / "Toy" / "evaluators" / "JudgeX" / "Plain"
    folder.mkdir(parents=True)
    (folder / "result.json").write_text(json.dumps(RECORDS), encoding="utf-8")

    judgments = list(read_llmbar(tmp_path / below))
    assert {j.judge for j in judgments} == {"JudgeX"}
    assert {j.trial.suite for j in judgments} == {"llmbar-Set-Toy" if not below else "llmbar-Toy"}


def test_a_winner_of_two_ratings_has_no_completion_and_cannot_be_parsed_again(results):
    records = [_record(1, {"winner": "1"}, {"winner": None})]
    file = results / "Toy" / "JudgeX" / "Plain" / "result.json"
    file.write_text(json.dumps(records), encoding="utf-8")

    judgments = list(read_llmbar(results))
    assert [(j.verdict, j.reply) for j in judgments] == [("A", None), (None, None)]
    with pytest.raises(LogError, match="completion"):
        list(read_llmbar(results, reparse=True))


def test_variants_of_the_prompt_can_be_chosen(results):
    other = results / "Toy" / "JudgeX" / "Rating"
    other.mkdir()
    (other / "result.json").write_text(json.dumps(RECORDS), encoding="utf-8")

    assert len(list(read_llmbar(results))) == 2 * 2 * len(RECORDS)
    chosen = list(read_llmbar(results, variants=["Rating"]))
    assert {j.trial.template for j in chosen} == {"Rating"}
    with pytest.raises(UsageError, match="no variant of the prompt named 'rating'"):
        list(read_llmbar(results, variants=["rating"]))


@pytest.mark.parametrize(
    ("spoil", "named"),
    [
        (lambda records: records[1].pop("label"), "label"),
        (lambda records: records[1].update(label=3), "label"),
        (lambda records: records[1].update(results=[]), "results"),
        (lambda records: records[1]["results"][-1].pop("swap = True"), "swap = True"),
        (lambda records: records[1]["results"][-1]["swap = True"].pop("winner"), "winner"),
        (lambda records: records[1]["results"][-1]["swap = True"].update(winner="x"), "winner"),
        (
            lambda records: records[1]["results"][-1]["swap = True"].update(completion=7),
            "completion",
        ),
    ],
)
def test_a_malformed_field_is_named_with_file_and_record(results, spoil, named):
    records = json.loads(json.dumps(RECORDS))
    spoil(records)
    file = results / "Toy" / "JudgeX" / "Plain" / "result.json"
    file.write_text(json.dumps(records), encoding="utf-8")

    with pytest.raises(LogError) as raised:
        list(read_llmbar(results))

    assert str(file) in str(raised.value)
    assert "record 2" in str(raised.value)
    assert named in str(raised.value)


@pytest.mark.parametrize("text", ["", "{", '{"a": 1}'])
def test_a_file_that_is_no_list_of_records_is_named(results, text):
    file = results / "Toy" / "JudgeX" / "Plain" / "result.json"
    file.write_text(text, encoding="utf-8")

    with pytest.raises(LogError, match=re.escape(str(file))):
        list(read_llmbar(results))


def test_a_folder_without_results_is_an_error(tmp_path):
    with pytest.raises(LogError, match=r"no result\.json"):
        list(read_llmbar(tmp_path))


def _by_place(judgments) -> dict[tuple[str, str, str], list[Judgment]]:
    found = defaultdict(list)
    for judgment in judgments:
        trial = judgment.trial
        found[trial.suite, judgment.judge, trial.template].append(judgment)
    return found


def _statistics(judgments: list[Judgment]) -> dict[str, object]:
    """The recorded statistics from judgments alone, as LLMBar defines them.

    F and T are the winners without and with exchanged sides. An unparsed winner is not equal and
    not correct; in ``kappa_agreement`` alone it counts as content 2, an accident of how the
    benchmark computed it.
    """
    labels = [j.trial.label for j in judgments if j.trial.order == "ab"]
    plain = [j.chosen for j in judgments if j.trial.order == "ab"]
    swapped = [j.chosen for j in judgments if j.trial.order == "ba"]
    n = len(labels)

    def share(count: int) -> str:
        return f"{count} / {n} = {count / n * 100}%"

    right = [
        sum(w == label for w, label in zip(winners, labels, strict=True))
        for winners in (plain, swapped)
    ]
    equal = sum(f is not None and f == t for f, t in zip(plain, swapped, strict=True))
    both = sum(f == label == t for f, t, label in zip(plain, swapped, labels, strict=True))
    return {
        "correct_False": share(right[0]),
        "correct_True": share(right[1]),
        "correct_average": f"{sum(right) / 2 / n * 100}%",
        "correct_both": share(both),
        "equal": share(equal),
        "kappa_agreement": _kappa([w or "2" for w in plain], [w or "2" for w in swapped]),
    }


def _kappa(first: list[str], second: list[str]) -> float:
    """Cohen's kappa in the order of floating-point steps that gives the recorded last digits.

    1 - observed / expected disagreement, the expected one summed cell by cell: the same number as
    the product's up to one unit in the last place, which the test asserts as well.
    """
    rows, columns = Counter(first), Counter(second)
    labels = sorted(rows | columns)
    observed = sum(a != b for a, b in zip(first, second, strict=True))
    expected = sum(rows[a] * columns[b] / len(first) for a in labels for b in labels if a != b)
    kappa = 1 - observed / expected
    assert cohen_kappa(first, second) == pytest.approx(kappa, rel=1e-14)
    return kappa


@needs_llmbar
def test_the_recorded_statistics_come_out_digit_for_digit():
    places = _by_place(read_llmbar(LLMBAR))
    compared = 0
    for file in sorted(LLMBAR.rglob("statistics.json")):
        *subset, judge, variant = file.parent.relative_to(LLMBAR).parts
        recorded = json.loads(file.read_text(encoding="utf-8"))
        found = _statistics(places["llmbar-" + "-".join(subset), judge, variant])
        assert found == {name: recorded[name] for name in found}, file
        # The last digits depend on the order of floating-point additions.
        compared += 1
    assert compared == len(list(LLMBAR.rglob("result.json")))
    assert compared > 0


@needs_llmbar
def test_measures_of_the_imported_log_agree_with_the_recorded_statistics():
    """`equal` is direction stability, and `correct_average` the agreement with the label."""
    for (suite, judge, variant), judgments in _by_place(read_llmbar(LLMBAR)).items():
        subset = suite.removeprefix("llmbar-").replace("Adversarial-", "Adversarial/")
        file = LLMBAR / subset / judge / variant / "statistics.json"
        recorded = json.loads(file.read_text(encoding="utf-8"))
        cell = Cell(
            judge, suite, DESIGN, tuple(judgments), measures=BUILT_IN.kinds["paraphrase"].measures
        )
        estimates = estimate_all(cell)

        agreement = find_estimate(estimates, "agreement")
        average = float(recorded["correct_average"].removesuffix("%"))
        assert 100 * agreement.value == pytest.approx(average, rel=1e-12), file
        stable = find_estimate(estimates, "order_stable")
        # `equal` is over all records; a pair with a missing winner is not equal there.
        assert int(stable.count) == int(recorded["equal"].split(" / ")[0]), file
