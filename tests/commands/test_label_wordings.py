"""``judgesense label --wordings``: asked at a real endpoint, recorded, replayed, pasted back."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_judgesense.commands.main import main
from pytest_judgesense.questions.label.wordings import WordingsQuestion
from pytest_judgesense.suites.schema import EquivalenceForm
from tests.plugin.project import WORDINGS, ChatServer, parity_suite

REVIEWS = """
[[equivalence]]
pair = ["t2", "t1"]
reviews = { ann = "YES" }
"""


def doubts_halves(prompt: str) -> str:
    """YES, but no verdict on the third wording against the first, and UNSURE against the second."""
    if "Does {{number}} leave" not in prompt:
        return "YES"
    return "UNSURE" if "Tell whether" in prompt else "That is a long story."


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatServer]:
    chat = ChatServer()
    chat.reply = doubts_halves
    parity_suite(tmp_path, extra=REVIEWS)
    (tmp_path / "pyproject.toml").write_text(
        '[tool.judgesense.judges."m.1"]\nprovider = "openai"\nmodel = "m-1"\n'
        f'base_url = "{chat.base_url}"\nsystem = "Answer YES or NO."\n'
    )
    monkeypatch.chdir(tmp_path)
    yield chat
    chat.close()


ASKED = ["label", "parity.suite.toml", "--wordings", "--judge-name", "m.1"]


def test_a_judge_screens_the_compared_pairs_and_its_rows_are_valid_toml(
    server: ChatServer, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*ASKED, "--judge-mode", "record"]) == 0
    printed = capsys.readouterr().out
    assert len(server.asked) == 3  # the ring of three templates
    assert "# judge m.1 on 3 template pairs of parity: 1 UNSURE, 1 YES, 1 no verdict" in printed
    assert "# t3~t1: no verdict, " in printed
    rows = [EquivalenceForm.model_validate(row) for row in tomllib.loads(printed)["equivalence"]]
    # What reviewers have said is kept, so that the rows replace those of the suite file.
    assert [(row.pair, row.reviews) for row in rows] == [
        (("t2", "t1"), {"ann": "YES", "m.1": "YES"}),
        (("t2", "t3"), {"m.1": "UNSURE"}),
    ]


@pytest.mark.long
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_keeps_what_is_under_way_and_says_how_to_go_on(
    server: ChatServer, capsys: pytest.CaptureFixture[str], how: signal.Signals
) -> None:
    def slow(prompt: str) -> str:
        time.sleep(1)
        return "YES"

    server.reply = slow
    command = [sys.executable, "-m", "pytest_judgesense.commands", *ASKED]
    with subprocess.Popen(
        [*command, "--judge-mode", "record"], stderr=subprocess.PIPE, text=True
    ) as process:
        while not server.asked:
            time.sleep(0.005)
        process.send_signal(how)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert err == (
        "judgesense: interrupted; run the same command again: answers that it recorded are kept\n"
    )
    # What was asked came to its end, and is asked no more.
    under_way = len(server.asked)
    assert main([*ASKED, "--judge-mode", "record"]) == 0
    assert len(server.asked) == 3 >= under_way
    assert "3 YES" in capsys.readouterr().out


def test_it_is_asked_without_the_judges_own_system_prompt(server: ChatServer) -> None:
    main([*ASKED, "--judge-mode", "record"])
    systems = {body["messages"][0]["content"] for body in server.asked}
    assert systems == {"You compare instructions. Answer with one word."}


def test_it_is_recorded_and_replayed_without_a_call(
    server: ChatServer, capsys: pytest.CaptureFixture[str]
) -> None:
    main([*ASKED, "--judge-mode", "record"])
    first = capsys.readouterr().out
    server.forget()
    assert main(ASKED) == 0
    assert capsys.readouterr().out == first
    assert server.asked == []


def test_what_is_not_recorded_is_an_error_with_the_command_that_records_it(
    server: ChatServer, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(ASKED) == 3
    told = capsys.readouterr().err
    command = "judgesense label parity.suite.toml --wordings --judge-name m.1 --judge-mode record"
    assert f"{command} (3 calls, cost: unknown" in " ".join(told.split())
    assert server.asked == []


def test_a_suite_without_a_pair_of_templates_is_a_wrong_command(
    server: ChatServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    parity_suite(tmp_path, wordings=WORDINGS[:1])
    assert main(ASKED) == 2
    said = capsys.readouterr().err
    assert "suite parity compares no two templates" in said
    assert "found:    templates: t1" in said
    assert not server.asked


def test_a_plan_asks_nothing_and_says_the_calls(
    server: ChatServer, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*ASKED, "--judge-mode", "record", "--plan"]) == 0
    plan = "m.1 on equivalence-parity: 3 calls, 3 to be made; cost: unknown"
    assert plan in " ".join(capsys.readouterr().out.split())
    assert server.asked == []


def test_a_limit_of_calls_ends_the_asking_and_what_was_answered_is_kept(
    server: ChatServer, capsys: pytest.CaptureFixture[str]
) -> None:
    limited = ["--judge-mode", "record", "--judge-concurrency", "1", "--judge-max-calls", "1"]
    assert main([*ASKED, *limited]) != 0
    assert "--judge-max-calls" in capsys.readouterr().err
    assert len(server.asked) == 1
    assert main([*ASKED, "--judge-mode", "record"]) == 0
    assert len(server.asked) == 3


def test_the_rows_are_written_as_they_are_printed(
    server: ChatServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*ASKED, "--judge-mode", "record", "-o", "rows.toml"]) == 0
    assert (tmp_path / "rows.toml").read_text() == capsys.readouterr().out


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        (["--judge-name", "other"], "wordings are compared by one judge"),
        (["--person", "anna"], "--person is an option of a person, who labels items"),
        (["--draw", "3"], "--draw is an option of a person, who labels items"),
    ],
)
def test_one_judge_compares_and_nobody_else(
    server: ChatServer, capsys: pytest.CaptureFixture[str], more: list[str], problem: str
) -> None:
    assert main([*ASKED, *more]) == 2
    assert problem in capsys.readouterr().err
    assert not server.asked


def test_python_gives_what_the_command_prints(
    server: ChatServer, capsys: pytest.CaptureFixture[str]
) -> None:
    main([*ASKED, "--judge-mode", "record"])
    printed = capsys.readouterr().out
    server.forget()
    answer = WordingsQuestion("parity.suite.toml").answer()  # of the one declared judge
    assert f"{answer}\n" == printed
    values = answer.to_dict()
    assert [verdict["verdict"] for verdict in values["verdicts"]] == ["YES", "UNSURE", None]
    assert values["equivalence"] == tomllib.loads(printed)["equivalence"]
    assert server.asked == []
