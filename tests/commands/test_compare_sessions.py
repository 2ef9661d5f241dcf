"""``judgesense compare --anchors``: judges and outputs with planted moves, of a real endpoint.

The judge passes an output that says it is good. Of a stricter judge every third such output fails,
by its number: of anchors as of fresh outputs.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_judgesense import measure
from pytest_judgesense.commands.main import main
from tests.plugin.project import ChatServer

N = 120
_SUITE = """schema = "judgesense/suite/1"
name = "{name}"
kind = "paraphrase"
[space]
labels = ["PASS", "FAIL"]
[stimuli]
file = "{name}.jsonl"
[[templates]]
id = "t1"
text = "{{{{text}}}} PASS or FAIL?"
"""


def usual(prompt: str) -> str:
    return "PASS" if "good" in prompt else "FAIL"


def strict(prompt: str) -> str:
    (number,) = re.findall(r"number (\d+)", prompt)
    return "FAIL" if int(number) % 3 == 0 else usual(prompt)


def text_of(day: str, number: int, good: int) -> str:
    return f"{day} number {number} is {'good' if number % 10 < good else 'poor'}."


@pytest.fixture
def server() -> Iterator[ChatServer]:
    served = ChatServer()
    served.reply = usual
    yield served
    served.close()


@pytest.fixture
def folder(tmp_path: Path, server: ChatServer, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-own-0123456789abcdef")
    (tmp_path / "pyproject.toml").write_text(
        '[tool.judgesense.judges.prod]\nprovider = "openai"\nmodel = "m-1"\n'
        f'base_url = "{server.base_url}"\nmax_tokens = 5\n'
        "prices = { prompt = 1, completion = 2 }\n",
        encoding="utf-8",
    )
    return tmp_path


def log(day: str, good: int = 8, judge: Any = usual, count: int = N) -> str:
    """The log of a day on which so many of ten outputs were good."""
    table = Path(f"{day}.csv")
    with table.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["nr", "prompt", "said"])
        for number in range(count):
            prompt = f"{text_of(day, number, good)} PASS or FAIL?"
            writer.writerow([number, prompt, judge(prompt)])
    maps = ("item=nr", "verdict=said", "prompt=prompt")
    options = [word for each in maps for word in ("--map", each)]
    assert main(["import", str(table), "-o", f"{day}.jsonl", "--judge", "prod", *options]) == 0
    return f"{day}.jsonl"


def suite(day: str, good: int = 8, count: int = N, label: str | None = None) -> str:
    items = (
        {"id": f"n{n}", "text": text_of(day, n, good)} | ({"label": label} if label else {})
        for n in range(count)
    )
    Path(f"{day}.jsonl").write_text("".join(f"{json.dumps(item)}\n" for item in items), "utf-8")
    Path(f"{day}.suite.toml").write_text(_SUITE.format(name=day), encoding="utf-8")
    return f"{day}.suite.toml"


def frozen(day: str, sample: int = 60) -> str:
    assert main(["init", "--from-log", f"{day}.jsonl", "--sample", str(sample)]) == 0
    return day


def moved(*arguments: str) -> int:
    return main(["compare", *arguments, "--passes", "PASS"])


def words(capsys: pytest.CaptureFixture[str]) -> str:
    return " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    ("good", "judge", "code", "sentence"),
    [
        pytest.param(
            8,
            usual,
            0,
            "neither is seen to have moved: on 60 frozen anchors it passes 0 points more",
            marks=pytest.mark.long,
        ),
        (8, strict, 1, "the judge moved: on 60 frozen anchors it passes 17 points less"),
        (
            4,
            usual,
            1,
            "the outputs, or what was asked, moved; the judge is not seen to have: on 60 frozen",
        ),
        pytest.param(
            2,
            strict,
            1,
            "the judge moved, and so did the outputs, or what was asked: on 60 frozen anchors",
            marks=pytest.mark.long,
        ),
    ],
)
def test_outputs_frozen_from_the_log_of_then_are_asked_again(
    folder: Path,
    server: ChatServer,
    capsys: pytest.CaptureFixture[str],
    good: int,
    judge: Any,
    code: int,
    sentence: str,
) -> None:
    then = log("monday")
    anchors = frozen("monday")
    now = log("friday", good, judge)
    server.reply = judge
    capsys.readouterr()
    named = (then, now, "--anchors", anchors)
    assert moved(*named, "--plan") == 0
    plan = words(capsys)
    assert "60 items: 180 calls, 180 to be made; cost: 0.0" in plan
    assert server.asked == []
    assert moved(*named, "--judge-mode", "record", "-o", "first.json") == code
    shown = capsys.readouterr().out
    assert sentence in " ".join(shown.split())
    assert max(map(len, shown.splitlines())) <= 100
    assert len(server.asked) == 180
    value = json.loads((folder / "first.json").read_text(encoding="utf-8"))
    verdicts = {"neither": "none", "the outputs": "system", "the judge moved:": "judge"}
    meant = next((v for k, v in verdicts.items() if sentence.startswith(k)), "both")
    assert (value["verdict"], value["worse"], value["alarm"]) == (meant, bool(code), 40)
    assert (value["anchors"]["steps"], value["fresh"]["clusters"]) == (60, N)
    assert (value["then"], value["now"]) == (then, now)
    called = value["anchors"]["lost_at"] is not None
    assert called == (meant in ("judge", "both"))
    assert called == (value["anchors"]["interval"]["upper"] <= 0)
    # Another day of the reference need not hold the anchors: 48 of its 120 outputs pass.
    assert moved(log("tuesday", 4), *named, "-o", "more.json") in (0, 1)
    more = json.loads((folder / "more.json").read_text(encoding="utf-8"))
    assert more["anchors"] == value["anchors"]
    assert more["fresh"]["then"] == pytest.approx((48 + 0.8 * 60) / 180, abs=0.01)
    capsys.readouterr()
    # What is recorded beside the log is replayed, without an endpoint, to the same lines.
    server.close()
    assert moved(*named, "-o", "again.json") == code
    assert capsys.readouterr().out.replace("again.json", "first.json") == shown
    assert (folder / "again.json").read_bytes() == (folder / "first.json").read_bytes()


def test_each_log_of_now_has_answers_of_its_own(
    folder: Path, server: ChatServer, capsys: pytest.CaptureFixture[str]
) -> None:
    """The same file name, another week: the anchors are asked again, and not taken from before."""
    named = (log("monday"), log("now"), "--anchors", frozen("monday"), "--judge-mode", "record")
    assert moved(*named) == 0
    server.reply = strict
    log("now", 7, strict)
    capsys.readouterr()
    assert moved(*named, "--judge-max-calls", "100") == 3
    assert moved(*named) == 1
    assert "the judge moved:" in words(capsys)
    assert len(server.asked) == 360
    assert len([*(folder / "cassettes/prod").iterdir()]) == 2


def test_anchors_of_a_suite_are_recorded_on_the_day_of_a_log(
    folder: Path, server: ChatServer, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is asked today is no answer of then: a reference without anchors is refused."""
    golden = suite("golden", 10, 30, label="PASS")
    then, now = log("monday"), log("friday", 8, strict)
    named = ("--anchors", golden)
    assert moved(then, now, *named, "--judge-mode", "record") == 3
    error = " ".join(capsys.readouterr().err.split())
    assert "monday.jsonl does not hold the anchors, and today's answers are none of then" in error
    command = "judgesense compare monday.jsonl --anchors golden.suite.toml --passes PASS"
    assert f"{command} --judge-mode record" in error
    assert moved(then, now, *named, "--replicates", "5", "--judge-mode", "record") == 3
    error = " ".join(capsys.readouterr().err.split())
    assert f"{command} --replicates 5 --judge-mode record" in error
    assert moved(then, *named) == 2
    assert "there is one session, and nothing to hold it against" in capsys.readouterr().err
    assert moved(then, *named, "--plan") == 0
    assert server.asked == []
    assert moved(then, *named, "--judge-mode", "record") == 0
    assert "90 answers to the anchors are recorded beside monday.jsonl" in words(capsys)
    server.reply = strict
    assert moved(then, now, *named, "--judge-mode", "record", "-o", "x.json") == 1
    shown = words(capsys)
    # Of the numbers 0 to 29 a third.
    assert "the judge moved: on 30 frozen anchors it passes 33 points less" in shown
    assert "and agrees with people in 33 points less" in shown
    value = json.loads((folder / "x.json").read_text(encoding="utf-8"))
    assert (value["agreement"]["then"], value["agreement"]["now"]) == (1, pytest.approx(2 / 3))
    assert len(server.asked) == 180


def test_sessions_may_be_suites_with_their_recordings(
    folder: Path, server: ChatServer, capsys: pytest.CaptureFixture[str]
) -> None:
    golden = suite("golden", 10, 30)
    named = (suite("monday"), suite("friday", 3), "--anchors", golden)
    assert moved(*named, "--judge-mode", "record") == 3  # Monday is not recorded
    capsys.readouterr()
    assert server.asked == []
    assert moved(named[0], *named[2:], "--judge-mode", "record") == 0
    assert len(server.asked) == N + 90
    assert moved(*named, "--plan") == 0
    plan = words(capsys)
    assert f"friday, judge prod, {N} items: {N} calls, {N} to be made" in plan
    assert "30 items: 90 calls, 90 to be made" in plan
    assert moved(*named, "--judge-mode", "record") == 1
    shown = words(capsys)
    assert "the outputs, or what was asked, moved; the judge is not seen to have" in shown
    assert "notice: what was asked is not known: with a column of it (--strata COLUMN" in shown
    assert len(server.asked) == 2 * (N + 90)
    server.close()
    assert moved(*named) == 1


def test_a_limit_holds_for_outputs_and_anchors_together(
    folder: Path, server: ChatServer, capsys: pytest.CaptureFixture[str]
) -> None:
    named = (suite("monday"), "--anchors", suite("golden", 10, 30), "--judge-mode", "record")
    # All outputs, and ten of the 90 answers to the anchors.
    assert moved(*named, "--judge-max-calls", str(N + 10)) == 3
    assert "80 of 90 trials" in capsys.readouterr().err
    assert len(server.asked) == N + 10
    assert moved(*named) == 0
    assert len(server.asked) == N + 90


def test_the_logs_of_sessions_hold_both(
    folder: Path, server: ChatServer, capsys: pytest.CaptureFixture[str]
) -> None:
    """They hold no texts: anchors are told by the suite; several sessions are one reference."""
    files = (suite("golden", 10, 30), suite("product"))
    logs = []
    for day, judge in (("monday", usual), ("tuesday", usual), ("friday", strict)):
        server.reply = judge
        logs.append(f"{day}-log.jsonl")
        measure("prod", files, mode="live").write(logs[-1])
    server.close()
    named = ("--anchors", "golden.suite.toml", "-o", "x.json")
    assert moved(*logs, *named) == 1
    shown = words(capsys)
    assert "the judge moved: on 30 frozen anchors it passes 33 points less" in shown
    assert "then: monday-log.jsonl, tuesday-log.jsonl; now: friday-log.jsonl" in shown
    assert moved(*logs[:2], *named) == 0
    assert moved(*logs, *named, "--plan") == 0
    assert "no call: friday-log.jsonl holds the anchors" in words(capsys)
    assert moved(logs[0], *named, "--judge-mode", "record") == 0
    assert "holds 30 of 30 anchors: nothing is to be recorded" in words(capsys)


def test_a_day_on_which_everything_fails_is_scored_like_the_others(
    folder: Path, server: ChatServer, capsys: pytest.CaptureFixture[str]
) -> None:
    """The log of that day shows one label alone."""
    named = (log("monday"), log("friday", 0), "--anchors", frozen("monday"))
    assert moved(*named, "--judge-mode", "record") == 1
    shown = words(capsys)
    assert "the outputs, or what was asked, moved" in shown
    assert "fresh outputs 0.8" in shown


def test_what_cannot_be_attributed_is_an_error(
    folder: Path, server: ChatServer, capsys: pytest.CaptureFixture[str]
) -> None:
    then, now = log("monday"), log("friday", count=10)
    named = ("--anchors", frozen("monday"))

    def problem(*arguments: str, code: int = 2) -> str:
        capsys.readouterr()
        assert main(["compare", *arguments, "--judge-mode", "record"]) == code
        return " ".join(capsys.readouterr().err.split())

    assert "nothing says which verdict is the better one" in problem(then, now, *named)
    passes = ("--passes", "PASS")
    assert "too few clusters of fresh outputs of now" in problem(then, now, *named, *passes)
    assert server.asked == []
    assert "no.jsonl cannot be read" in problem(then, "no.jsonl", *named, *passes)
    error = problem(then, now, *named, *passes, "--suite", "other")
    assert "monday.jsonl holds no fresh outputs" in error
    assert "by another --suite, or leave --suite out" in error
    assert "a session is named twice" in problem(then, f"./{then}", *named, *passes)
    Path("empty.jsonl").write_text("", encoding="utf-8")
    assert "empty.jsonl holds no judgment" in problem(then, "empty.jsonl", *named, *passes)
    frozen_whole = Path("monday.jsonl").read_text(encoding="utf-8")
    assert main(["init", "--from-log", then, "whole"]) == 0
    whole = "whole/suites/monday/monday.suite.toml"
    assert "freeze some of its outputs only" in problem(then, now, "--anchors", whole, *passes)
    second = frozen_whole.replace('"judge":"prod"', '"judge":"other"')
    Path("two.jsonl").write_text(frozen_whole + second, encoding="utf-8")
    assert "the judge is not known whose verdicts of two.jsonl are meant" in problem(
        "two.jsonl", now, *named, *passes
    )


def log_of_kinds(day: str, easy: int, good: tuple[int, int] = (9, 4), column: str = "kind") -> str:
    """A log of which so many of ten questions are easy; of these and of the others so many of ten
    outputs are good.
    """
    with Path(f"{day}.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["nr", "kind", "prompt", "said"])
        for number in range(200):
            is_hard = number % 10 >= easy
            # 7 and 10 have no divisor in common: every ten of one kind have each last digit once.
            is_good = number // 10 * 7 % 10 < good[is_hard]
            prompt = f"{day} {number} is {'good' if is_good else 'poor'}. PASS or FAIL?"
            writer.writerow([number, ("easy", "hard")[is_hard], prompt, usual(prompt)])
    maps = ("item=nr", "verdict=said", "prompt=prompt", f"condition.{column}=kind")
    options = [word for each in maps for word in ("--map", each)]
    name = f"{day}.jsonl"
    table = ("import", f"{day}.csv", "-o", name, "--judge", "prod", "--suite", day)
    assert main([*table, *options]) == 0
    return name


def test_within_strata_another_mix_of_questions_is_not_the_outputs(
    folder: Path, server: ChatServer, capsys: pytest.CaptureFixture[str]
) -> None:
    """Easy questions fall from 8 of 10 to 3; of these 90% are good, of hard ones 40%."""
    named = (log_of_kinds("monday", 8), log_of_kinds("friday", 3), "--anchors", frozen("monday"))
    capsys.readouterr()
    assert moved(*named, "--judge-mode", "record") == 1
    shown = words(capsys)
    assert shown.startswith("the outputs, or what was asked, moved; the judge is not seen to have")
    assert moved(*named, "--strata", "kind", "-o", "x.json") == 0
    shown = words(capsys)
    assert shown.startswith("neither is seen to have moved: on 60 frozen anchors")
    assert "of the outputs, within 2 strata of kind they pass" in shown
    value = json.loads((folder / "x.json").read_text(encoding="utf-8"))
    within = value["within"]
    assert (within["column"], within["strata"], within["decides"]) == ("kind", 2, True)
    # Of each kind the lesser number: 60 easy ones of now, and what is left of 40 hard ones of then.
    assert 60 < within["pairs"] <= 100
    assert within["alone"] == {"then": 0, "now": 0}
    assert abs(within["change"]) < 0.05 < abs(value["fresh"]["change"])
    # The same mix, and outputs that are worse of both kinds.
    worse = log_of_kinds("friday", 3, (5, 0))
    capsys.readouterr()
    assert moved(named[0], worse, *named[2:], "--strata", "kind", "--judge-mode", "record") == 1
    assert words(capsys).startswith("the outputs moved; the judge is not seen to have")


def test_strata_that_sessions_do_not_share_are_told(
    folder: Path, server: ChatServer, capsys: pytest.CaptureFixture[str]
) -> None:
    named = (log_of_kinds("monday", 8), log_of_kinds("friday", 0, (0, 0)))
    named += ("--anchors", frozen("monday"))
    capsys.readouterr()
    assert moved(*named, "--strata", "sort", "--judge-mode", "record") == 2
    error = " ".join(capsys.readouterr().err.split())
    assert "monday.jsonl has no column 'sort' of its outputs" in error
    assert "found: kind" in error
    assert server.asked == []  # before anything is asked
    assert moved(*named, "--strata", "kind", "--judge-mode", "record", "-o", "x.json") == 1
    shown = words(capsys)
    value = json.loads((folder / "x.json").read_text(encoding="utf-8"))["within"]
    assert f"fresh outputs, then: {value['alone']['then']} of 140 clusters have no" in shown
    assert value["alone"]["now"] == 0
    hard, easy = log_of_kinds("tuesday", 0), log_of_kinds("sunday", 10, (0, 0))
    session = (hard, easy, "--anchors", suite("golden", 10, 30), "--strata", "kind")
    assert moved(hard, *session[2:], "--judge-mode", "record") == 0
    capsys.readouterr()
    assert moved(*session, "--judge-mode", "record") == 1
    shown = words(capsys)
    assert shown.startswith("the outputs, or what was asked, moved")
    assert "too few pairs within strata of kind to tell the outputs from what was asked: 0" in shown


_OF_QUESTIONS = _SUITE.replace("{{{{text}}}}", "{{{{question}}}} {{{{answer}}}}")


def suite_of_questions(day: str, questions: range, good: int) -> str:
    """Answers to questions of these numbers, of which so many of ten are good."""
    items = (
        {
            "question": f"What is number {number}?",
            "answer": f"{day} says {number} is {'good' if number * 7 % 10 < good else 'poor'}.",
        }
        for number in questions
    )
    Path(f"{day}.jsonl").write_text("".join(f"{json.dumps(item)}\n" for item in items), "utf-8")
    Path(f"{day}.suite.toml").write_text(_OF_QUESTIONS.format(name=day), encoding="utf-8")
    return f"{day}.suite.toml"


@pytest.mark.parametrize(
    ("questions", "sentence", "notice"),
    [
        (range(80), "the outputs moved; the judge is not seen to have", "of question they pass"),
        # Twenty that are shared would do, but they are less than half of all.
        pytest.param(
            range(60, 140),
            "the outputs, or what was asked, moved; the judge is not seen to have",
            "to tell the outputs from what was asked: 20, and 40 are needed",
            marks=pytest.mark.long,
        ),
    ],
)
def test_questions_that_both_sessions_ask_are_strata(
    folder: Path,
    server: ChatServer,
    capsys: pytest.CaptureFixture[str],
    questions: range,
    sentence: str,
    notice: str,
) -> None:
    """Told by their texts: items have no id. Half of the good answers are lost."""
    then = suite_of_questions("monday", range(80), 8)
    named = (then, suite_of_questions("friday", questions, 3), "--anchors", suite("golden", 8, 60))
    assert moved(then, *named[2:], "--judge-mode", "record") == 0
    capsys.readouterr()
    assert moved(*named, "--judge-mode", "record") == 1
    shown = words(capsys)
    assert shown.startswith(sentence)
    assert notice in shown
    # Of equal answers the judge says the same, whatever became of the others.
    assert moved(*named, "--strata", "answer") == 2
    assert "column 'answer' holds the outputs" in " ".join(capsys.readouterr().err.split())


def test_what_is_not_recorded_has_its_command_and_price_and_live_answers_are_not_kept(
    folder: Path, server: ChatServer, capsys: pytest.CaptureFixture[str]
) -> None:
    named = (log("monday"), log("friday"), "--anchors", frozen("monday", 20))
    capsys.readouterr()
    assert moved(*named) == 3
    error = " ".join(capsys.readouterr().err.split())
    command = "judgesense compare monday.jsonl friday.jsonl --anchors monday --passes PASS"
    assert f"record it: {command} --judge-mode record (60 calls, cost: 0.0" in error
    assert server.asked == []
    assert moved(*named, "--judge-mode", "live") == 0
    assert words(capsys).startswith("neither is seen to have moved: on 20 frozen anchors")
    assert len(server.asked) == 60
    assert not (folder / "cassettes").exists()
    assert moved(*named, "-o", "x.csv") == 2
