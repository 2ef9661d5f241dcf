"""What ``judgesense init`` writes for labels: yes and no in any words, and labels that are rare."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from pytest_judgesense.files.synonyms import no_and_yes
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.judges.functions import said_by
from pytest_judgesense.judges.spec import JudgeSpec
from pytest_judgesense.replies import parse_reply
from pytest_judgesense.report.logged_cells import cells_of_logs, datasheet_of_cells
from pytest_judgesense.suites.loading import load_suite
from pytest_judgesense.suites.space import DecisionSpace
from pytest_judgesense.trial import Verdict
from tests import processes
from tests.commands.within import judgesense, measured

# It says what stands at the end of the text, as its caller has it.
JUDGE = "import json\ndef judge(text): return {answer}\n"
_YES = "text.endswith('yes')"


def begin(folder: Path, answer: str, labels: Sequence[Any], truth: Sequence[bool]) -> Path:
    """The suite that init writes for a function, and items with these labels."""
    (folder / "own.py").write_text(JUDGE.format(answer=answer))
    rows = [
        {"text": f"text {n}: {'yes' if right else 'no'}", "gold": label}
        for n, (label, right) in enumerate(zip(labels, truth, strict=True))
    ]
    (folder / "x.json").write_text(json.dumps(rows))
    done = judgesense("init", "--callable", "own:judge", "--items", "x.json", cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "suites" / "x" / "x.suite.toml"


def checks_of(file: Path) -> dict[str, Any]:
    return dict(tomllib.loads(file.read_text())["checks"])


@pytest.mark.parametrize(
    ("no", "yes", "answer"),
    [
        (0, 1, _YES),
        (False, True, f"'Yes.' if {_YES} else 'No.'"),
        ("FAIL", "PASS", f"json.dumps({{'verdict': {_YES}}})"),
    ],
)
def test_yes_and_no_are_read_in_the_words_of_the_function_and_of_the_column(
    tmp_path: Path, no: Any, yes: Any, answer: str
) -> None:
    truth = [n % 2 == 1 for n in range(6)]
    file = begin(tmp_path, answer, [yes if right else no for right in truth], truth)
    suite = load_suite(file, None, BUILT_IN.forms)
    assert len(suite.space.labels) == 2
    assert not suite.space.ordinal
    sheet = measured(tmp_path, "judge", str(file), mode="record")
    agreement = next(one for one in sheet.estimates if one.measure == "agreement")
    assert (agreement.count, agreement.n) == (18, 18)  # six items, three times


@pytest.mark.parametrize(
    "labels",
    [
        ("no", "yes"),
        ("NO", "YES"),
        ("0", "1"),
        ("false", "true"),
        ("FAIL", "PASS"),
        ("bad", "good"),
        ("incorrect", "correct"),
        ("non", "oui"),
    ],
)
@pytest.mark.parametrize(
    "returned",
    [
        (False, True),
        (0, 1),
        ("no", "yes"),
        ("No.", "Yes."),
        ("NO", "YES"),
        ("false", "true"),
        ("FAIL", "PASS"),
        ({"verdict": False}, {"verdict": True}),
        ({"label": "no"}, {"label": "yes"}),
        ("**No**", "**Yes**"),
    ],
)
def test_what_a_function_returns_for_no_and_yes_is_the_label(
    labels: tuple[str, str], returned: tuple[Any, Any]
) -> None:
    space = DecisionSpace(labels, names=no_and_yes(labels))
    judge = JudgeSpec("own", "callable", "own:judge")
    said = tuple(parse_reply(said_by(value, judge, space), space) for value in returned)
    assert said == tuple(map(Verdict, labels))


@pytest.mark.parametrize(
    ("counts", "of_recall"),
    [
        ({"no": 138, "yes": 12}, ["no", "yes"]),
        ({"no": 17, "yes": 8}, ["no", "yes"]),
        ({"a": 30, "b": 12, "c": 9}, ["a", "b", "c"]),
        (dict.fromkeys("abcdef", 12) | {"g": 8}, list("abcdefg")),
    ],
)
def test_a_suite_of_rare_labels_gates_and_compares_each_of_them(
    tmp_path: Path, counts: dict[str, int], of_recall: list[str]
) -> None:
    labels = [label for label, count in counts.items() for _ in range(count)]
    file = begin(tmp_path, "'yes'", labels, [label == "yes" for label in labels])
    checks = checks_of(file)
    assert [table["label"] for table in checks["recall_floor"]] == of_recall
    for table in [*checks["recall_floor"], checks["informedness_floor"]]:
        assert 0 < table["limit"] < table["bar"] <= 0.8
    compared = [(entry["measure"], entry.get("label")) for entry in checks["no_regression"]]
    assert compared == [
        ("agreement", None),
        ("repeat_flip_rate", None),
        *(("recall", label) for label in of_recall),
        ("informedness", None),
    ]
    text = file.read_text()
    assert f"Holm over {len(compared)}." in text
    for label in of_recall:
        assert f"# {label}: " in " ".join(text.split())
        assert f"(on {counts[label]} items)" in text


def test_labels_that_are_not_rare_or_too_few_have_no_such_checks(tmp_path: Path) -> None:
    even = checks_of(begin(tmp_path, "'yes'", ["yes", "no"] * 15, [True, False] * 15))
    assert "recall_floor" not in even
    few = tmp_path / "few"
    few.mkdir()
    file = begin(few, "'yes'", ["yes"] * 2 + ["no"] * 7, [True] * 2 + [False] * 7)
    assert "recall_floor" not in checks_of(file)
    text = file.read_text()
    assert "A check of recall takes 8 items of a label: none of no (7), yes (2)." in text
    assert "nothing here sees whether a rare label is lost" in text


def test_a_judge_that_never_says_the_rare_label_fails_what_init_wrote(tmp_path: Path) -> None:
    truth = [n % 12 == 5 for n in range(144)] + [False] * 6
    assert sum(truth) == 12
    labels = ["yes" if right else "no" for right in truth]
    file = begin(tmp_path, "False", labels, truth)
    sheet = measured(tmp_path, "judge", str(file), mode="record", cassettes=tmp_path / "cassettes")
    failing = [check.check for check in sheet.checks if check.outcome == "fail"]
    assert len(failing) == 2
    # Replayed in a session: 138 of 150 labels are right, and none of the twelve.
    done = processes.run("pytest", "suites", cwd=tmp_path, merged=True)
    assert done.returncode == 1, done.stdout
    for name in failing:
        assert f"judge::{name}" in done.stdout
    assert "recall_floor" in failing[0] + failing[1]
    assert "informedness_floor" in failing[0] + failing[1]
    assert "of what is labelled yes, the judge misses 36 of 36" in done.stdout


# Four questions that are answered, and how: the judge says what people say.
BINARY = """id,question,answer,gold,said
1,Is it open?,It opens at nine.,1,1
2,Is it dear?,Ask a seal.,0,0
3,Is it far?,The moon sings.,0,0
4,Is it new?,It was built in May.,1,1
"""


def test_zero_and_one_are_labels_of_a_log_its_report_and_its_suite(tmp_path: Path) -> None:
    (tmp_path / "binary.csv").write_text(BINARY)
    mapped = [f"--map={field}" for field in ("verdict=said", "label=gold", "field.q=question")]
    mapped += ["--map=field.answer=answer"]
    given = ("import", "binary.csv", *mapped, "-o", "log.jsonl")
    done = judgesense(*given, cwd=tmp_path, merged=True)
    assert "verdicts of suite binary are read as labels: 0 (no), 1 (yes);" in done.stdout
    # By hand: 4 of 4 agree, 2 of 2 of each label are found; there is no step within which to agree.
    (sheet,) = datasheet_of_cells(cells_of_logs([tmp_path / "log.jsonl"])).judges
    counts = {
        (one.measure, one.condition.get("label")): (one.count, one.n) for one in sheet.estimates
    }
    assert counts["agreement", None] == (4, 4)
    assert counts["recall", "0"] == counts["recall", "1"] == (2, 2)
    assert not [name for name, _ in counts if "within_one" in name or "quadratic" in name]
    (tmp_path / "t.txt").write_text("{{q}} {{answer}} Reply 0 or 1.")
    done = judgesense("init", "--from-log", "log.jsonl", "--template", "t.txt", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    suite = load_suite(tmp_path / "suites/binary/binary.suite.toml", None, BUILT_IN.forms)
    assert suite.space.labels == ("0", "1")
    assert not suite.space.ordinal
    assert suite.space.names == {"0": ("no", "false", "fail"), "1": ("yes", "true", "pass")}
    assert "within_one_agreement_floor" not in {check.name for check in suite.checks}
