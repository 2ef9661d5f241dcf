"""``judgesense report --panel``: three judges with planted errors on 60 items that people labelled.

``first`` errs on items 0 to 5, ``copy`` is the same, ``third`` errs on 6 to 11. So correlations are
1 and, twice, (0 - .1 * .1) / (.1 * .9) = -1/9; their mean is 7/27, and 3 / (1 + 14/27) = 81/41.
All three agree on 48 items, rightly; two of them decide all, 6 wrongly.
"""

from __future__ import annotations

import csv
import json
import shutil
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pytest_judgesense.questions.report.panel.question import later_labels
from pytest_judgesense.report.log import log_lines
from pytest_judgesense.suites.people import SKIPPED, PersonLabel, labelled_text, people_file
from pytest_judgesense.trial import Design, Judgment, Trial, Usage, Verdict
from tests.commands.recordings import told
from tests.suites.known import load_suite

YES_NO = Design("paraphrase", ("YES", "NO"), labelled="random")
ERRORS = {"first": range(6), "copy": range(6), "third": range(6, 12)}
N = 60
OTHER = {"YES": "NO", "NO": "YES"}
PRICES = """
[tool.judgesense.judges.first]
provider = "openai"
model = "m-1"
prices = { prompt = 1, completion = 2 }
"""


def judged(
    judge: str, wrong: Iterable[int], *, items: int = N, suite: str = "answers", labels: bool = True
) -> list[Judgment]:
    errors = {*wrong}
    judgments = []
    for number in range(items):
        label = ("YES", "NO")[number % 2]
        trial = Trial(
            *(f"{suite}/i{number:02d}/t1/ab/r1", suite, f"i{number:02d}", f"i{number:02d}", "t1"),
            condition={"category": ("easy", "hard")[number % 2]},
            label=label if labels else None,
            people={"label": {"anna": label}} if labels else {},
        )
        verdict = Verdict(OTHER[label] if number in errors else label)
        judgments.append(Judgment(trial, judge, verdict, usage=Usage(100, 10)))
    return judgments


def write(path: str, judgments: Iterable[Judgment], design: Design = YES_NO) -> str:
    text = "".join(f"{line}\n" for line in log_lines([*judgments], design))
    Path(path).write_text(text, encoding="utf-8")
    return path


@pytest.fixture
def logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.chdir(tmp_path)
    Path("pyproject.toml").write_text(PRICES, encoding="utf-8")
    return [write(f"{judge}.jsonl", judged(judge, wrong)) for judge, wrong in ERRORS.items()]


@pytest.fixture
def run(capsys: Any) -> Callable[..., tuple[int, str, str]]:
    def run(*arguments: object) -> tuple[int, str, str]:
        code, out, err = told(capsys, "report", *arguments, "--panel")
        return code, " ".join(out.split()), err

    return run


Run = Callable[..., tuple[int, str, str]]


def test_what_the_panel_is_worth_decides_and_costs(logs: list[str], run: Run) -> None:
    code, shown, _ = run(*logs, "-o", "x.json")
    assert code == 0
    assert (
        "3 judges on answers: 60 items that all were asked (60 trials each), 60 with people's"
        in shown
    )
    assert (
        "effective votes: not known: not enough errors: a judge errs in 6 of 60 clusters, and each "
        "has to in at least 12" in shown
    )
    assert (
        "at an error of at most 0.1 (95% confidence, people's labels): 3 of 3 votes decide 48 "
        "of 60 items (80%), 0 of 48 with a label wrongly; 12 go to people" in shown
    )
    value = json.loads(Path("x.json").read_text(encoding="utf-8"))
    worth = value["effective_votes"]
    assert worth["value"] is None
    tables = value["tables"]
    assert [row["right"] for row in tables["judges"]] == pytest.approx([0.9] * 3)
    # 100 tokens at 1 and 10 at 2 USD a million: 0.12 USD a thousand items; of others unknown.
    assert [row["USD"] for row in tables["judges"]] == [pytest.approx(0.12), None, None]
    assert [row["tokens"] for row in tables["sizes"]] == [110, 220, 330]
    assert tables["sizes"][2]["panel"] == "first+copy+third"
    needed = [(row["decided"], row["wrong"], row["at most 0.1"]) for row in tables["votes-needed"]]
    assert needed == [(pytest.approx(0.8), 0, "yes"), (1.0, 6, "no")]
    categories = [(row["category"], row["disagree"], row["items"]) for row in tables["categories"]]
    assert categories == [("easy", 6, 30), ("hard", 6, 30)]
    disagree = {row["item"]: row for row in tables["disagreements"]}
    assert {*disagree} == {f"i{number:02d}" for number in range(12)}
    assert (disagree["i00"]["votes"], disagree["i00"]["against most"]) == (
        "NO (2), YES (1)",
        "third",
    )
    assert disagree["i07"]["against most"] == "third"


def test_ten_lines_on_the_screen_and_all_in_the_files(logs: list[str], run: Run) -> None:
    _, shown, _ = run(*logs, "-o", "x.csv")
    assert "2 more lines: -o FILE" in shown
    rows = list(csv.DictReader(Path("x.csv").read_text(encoding="utf-8").splitlines()))
    assert len(rows) == 12
    assert {path.name for path in Path().glob("x*.csv")} == {
        *("x.csv", "x-judges.csv", "x-sizes.csv", "x-votes-needed.csv", "x-categories.csv"),
    }
    run(*logs, "-o", "x.md")
    page = Path("x.md").read_text(encoding="utf-8")
    assert page.startswith("## Panel of judges\n")
    assert all(f"`i{number:02d}`" in page for number in range(12))


def test_the_same_logs_give_the_same_bytes(logs: list[str], run: Run) -> None:
    texts = []
    for _ in range(2):
        run(*logs, "--judge-seed", 3, "-o", "x.json")
        texts.append(Path("x.json").read_bytes())
    run(*reversed(logs), "--judge-seed", 3, "-o", "x.json")
    assert texts[0] == texts[1]
    assert (
        json.loads(Path("x.json").read_bytes())["effective_votes"]["value"]
        == (json.loads(texts[0])["effective_votes"]["value"])
    )


def test_a_copy_of_a_judge_adds_no_vote(logs: list[str], run: Run) -> None:
    # Each is wrong on 12 of 60; the third on 12 others: the correlation is (0 - .04) / .16 = -1/4.
    wrong = {"first": range(12), "copy": range(12), "third": range(12, 24)}
    logs = [write(f"{judge}.jsonl", judged(judge, errors)) for judge, errors in wrong.items()]
    _, shown, _ = run(*logs[:2])
    assert "effective votes: 1.00 [1.00, 1.00] of 2 (correlation of errors 1.00" in shown
    _, both, _ = run(logs[0], logs[2], "--judge-name", "first", "--judge-name", "third")
    assert "effective votes: 2.67 " in both  # 2 / (1 - 1/4)
    run(*logs, "-o", "x.json")
    worth = json.loads(Path("x.json").read_text(encoding="utf-8"))["effective_votes"]
    # Correlations 1, -1/4, -1/4 have the mean 1/6, and 3 / (1 + 2/6) = 9/4.
    assert worth["value"] == pytest.approx(9 / 4)
    assert worth["correlation"] == pytest.approx(1 / 6)
    assert worth["interval"]["lower"] < 9 / 4 < worth["interval"]["upper"]
    assert {tuple(pair["judges"]): pair["correlation"] for pair in worth["pairs"]} == {
        ("first", "copy"): pytest.approx(1),
        ("first", "third"): pytest.approx(-1 / 4),
        ("copy", "third"): pytest.approx(-1 / 4),
    }


def test_without_labels_verdicts_are_correlated_and_it_says_so(logs: list[str], run: Run) -> None:
    plain = replace(YES_NO, labelled=None)
    paths = [
        write(f"{judge}.jsonl", judged(judge, wrong, labels=False), plain)
        for judge, wrong in ERRORS.items()
    ]
    code, shown, _ = run(*paths)
    assert code == 0
    assert "none with a label" in shown
    assert "correlation of verdicts" in shown
    assert "without labels verdicts are correlated" in shown
    assert "go to people" not in shown
    assert "disagreements" in shown


@pytest.mark.parametrize(
    ("drawn", "words"),
    [
        ("chosen", "somebody chose"),
        ("stratified", "by strata"),
        (None, "nobody says"),
        ("random", ""),
    ],
)
def test_labels_that_chance_did_not_draw_bound_no_other_item(
    drawn: Any, words: str, logs: list[str], run: Run
) -> None:
    for judge, wrong in ERRORS.items():
        some = judged(judge, wrong)
        some[-1] = replace(some[-1], trial=replace(some[-1].trial, label=None, people={}))
        write(f"{judge}.jsonl", some, replace(YES_NO, labelled=drawn))
    _, shown, _ = run(*logs)
    assert "59 with people's labels" in shown
    assert ("not bounded" in shown) == bool(words)
    assert words in shown


def test_recordings_are_read_and_no_call_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run
) -> None:
    monkeypatch.chdir(tmp_path)
    names = [f"--judge-name=embedded:{name}" for name in ("clean", "noisy", "positional")]
    code, shown, _ = run("factuality", *names)
    assert code == 0
    assert "3 judges on factuality: " in shown
    assert not list(tmp_path.iterdir())
    code, _, err = run("factuality", *names, "--judge-name", "openai:m-1")
    assert code == 2
    assert "judge openai:m-1 is not there" in err


def test_labels_that_came_after_the_first_vote_are_counted() -> None:
    def label(item: str, at: str, said: str = "YES") -> PersonLabel:
        return PersonLabel(item, "anna", said, "", "", "random", at, "0" * 16)

    votes = ["2026-02-01T00:00:00Z", None, "2026-02-03T00:00:00Z"]
    before, after = "2026-01-31T23:59:59Z", "2026-02-02T00:00:00Z"
    assert later_labels([label("a", before), label("b", after)], votes) == 1
    # An answer that was withdrawn or skipped is none; of one item the last one counts.
    withdrawn = [label("b", after), label("b", after, ""), label("c", after, SKIPPED)]
    assert later_labels(withdrawn, votes) == 0
    assert later_labels([label("a", after), label("a", before)], votes) == 0
    # Votes of an imported log have no time.
    assert later_labels([label("a", after)], [None]) == 0


def test_the_notice_of_later_labels_stands_where_recordings_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run
) -> None:
    """The shipped recordings of a suite, with labels of before and after them beside its file."""
    monkeypatch.chdir(tmp_path)
    shipped = Path(__file__).parents[2] / "suites" / "factuality"
    shutil.copytree(shipped, tmp_path / "mine")
    suite = load_suite(tmp_path / "mine" / "factuality.suite.toml")
    lines = ["item,person,label,criterion,note,drawn,labelled_at,text"]
    for number, item in enumerate(suite.items):
        when = "2099-01-01T00:00:00Z" if number < 7 else "2001-01-01T00:00:00Z"
        lines.append(f"{item.id},anna,{item.label},,,random,{when},{labelled_text(item)}")
    # Of a text that no item shows.
    lines.append(f"gone,anna,YES,,,random,2099-01-01T00:00:00Z,{'0' * 16}")
    people_file(suite.path).write_text("\n".join(lines) + "\n", encoding="utf-8")
    names = [f"--judge-name=embedded:{name}" for name in ("clean", "noisy", "positional")]
    code, shown, _ = run("mine/factuality.suite.toml", *names)
    assert code == 0
    assert "7 labels came after the first vote" in shown


def test_of_two_judges_that_differ_neither_is_against_most(logs: list[str], run: Run) -> None:
    code, _, _ = run(logs[0], logs[2], "-o", "x.csv")
    assert code == 0
    with Path("x.csv").open(encoding="utf-8", newline="") as file:
        against = [row["against most"] for row in csv.DictReader(file)]
    assert against == ["no majority"] * 12


def test_a_log_and_a_recording_are_one_panel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run, capsys: Any
) -> None:
    from pytest_judgesense import measure

    monkeypatch.chdir(tmp_path)
    measure("embedded:noisy", "factuality").write("noisy.jsonl")
    code, shown, _ = run("noisy.jsonl", "factuality")
    assert code == 0
    assert "2 judges on factuality" in shown


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("first.jsonl",), "there is no panel"),
        (("first.jsonl", "other.jsonl"), "there is no panel"),
        (("first.jsonl", "copy.jsonl", "other.jsonl", "another.jsonl"), "panels on several suites"),
        (("first.jsonl", "copy.jsonl", "--judge-name", "none"), "judge none is not there"),
        (("first.jsonl", "copy.jsonl", "--judge-name", "copy"), "there is no panel"),
        (("first.jsonl", "copy.jsonl", "-o", "x.html"), "cannot be written in this form"),
        (("first.jsonl", "sheet.json"), "sheet.json has no judgments"),
        (("first.jsonl", "base.json"), "a judge is there twice"),
    ],
)
def test_what_is_no_panel_is_a_wrong_command(
    arguments: tuple[str, ...], words: str, logs: list[str], run: Run
) -> None:
    from pytest_judgesense import datasheet_of

    write("other.jsonl", judged("first", (1, 2), suite="others"))
    write("another.jsonl", judged("copy", (1, 2), suite="others"))
    sheet = datasheet_of("first.jsonl")
    sheet.write("sheet.json")
    _baseline("base.json")
    code, _, err = run(*arguments)
    assert code == 2
    assert words in err


def _baseline(path: str) -> None:
    """A baseline of ``first``, written by hand from its log."""
    lines = Path("first.jsonl").read_text(encoding="utf-8").splitlines()
    judgments = [json.loads(line) for line in lines]
    suite = {
        "suite": "answers",
        "digest": "0",
        "design": judgments[0]["design"],
        "prompts": {"system": None, "templates": {}},
        "recorded": None,
        "judgments": [{k: v for k, v in of.items() if k != "design"} for of in judgments],
    }
    value = {
        "schema": "judgesense/baseline/1",
        "seed": 0,
        "versions": {},
        "judges": [{"identity": {"name": "first"}, "suites": [suite]}],
    }
    Path(path).write_text(json.dumps(value), encoding="utf-8")


@pytest.mark.parametrize("alpha", ["0", "1"])
def test_an_alpha_that_allows_nothing_or_all_is_a_wrong_command(
    alpha: str, logs: list[str], run: Run
) -> None:
    code, _, err = run(*logs, "--alpha", alpha)
    assert code == 2
    assert "a number above 0 and below 1" in err


@pytest.mark.parametrize("alpha", ["2", "x"])
def test_an_alpha_that_is_none_is_a_wrong_command(alpha: str, logs: list[str], run: Run) -> None:
    with pytest.raises(SystemExit) as stop:
        run(*logs, "--alpha", alpha)
    assert stop.value.code == 2


def test_options_of_other_forms_are_refused(logs: list[str], run: Run) -> None:
    code, _, err = run(*logs, "--ranking")
    assert code == 2
    assert "--ranking says nothing of --panel" in err
    code, _, err = run(*logs, "--sessions", "vary")
    assert code == 2
    assert "expected: --sessions with --history" in err


def test_names_and_categories_are_no_formulas_and_no_escapes(logs: list[str], run: Run) -> None:
    paths = []
    for name, wrong in (("=cmd()", range(6)), ("x\x1b[31m", range(3, 9))):
        judgments = [
            replace(j, trial=replace(j.trial, condition={"category": "=1+1"}))
            for j in judged(name, wrong)
        ]
        paths.append(write(f"{len(paths)}.jsonl", judgments))
    code, shown, _ = run(*paths, "-o", "x.csv")
    assert code == 0
    assert "\x1b" not in shown
    assert "'=cmd()" in Path("x-judges.csv").read_text(encoding="utf-8")


def test_one_suite_of_several_is_named(logs: list[str], run: Run) -> None:
    more = [
        write(f"o{judge}.jsonl", judged(judge, wrong, suite="others"))
        for judge, wrong in ERRORS.items()
    ]
    code, shown, _ = run(*logs, *more, "--judge-suite", "others")
    assert code == 0
    assert "3 judges on others" in shown
