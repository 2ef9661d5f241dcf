"""``--judge-max-unparsed`` and its ini twin: nobody pays for 200 replies that nobody can read."""

from __future__ import annotations

import itertools
import os
import subprocess
from pathlib import Path

import pytest

from pytest_judgesense.plugin.settings import resolve
from tests import processes

from .project import SPREAD_AT_NIGHT, Project, no_traceback, parity_suite

N = 200


@pytest.fixture
def mute(project: Project) -> Project:
    """A judge that states nothing on 200 items in one wording."""
    path = parity_suite(
        project.path, checks="unparsed_rate_ceiling = 0.5", wordings=("{{number}}?",)
    )
    items = "".join(f'{{"id": "p{n}", "number": "{n}", "label": "YES"}}\n' for n in range(N))
    path.with_suffix("").with_suffix(".jsonl").write_text(items)
    project.server.reply = lambda prompt: f"Hm, {prompt.split('?')[0]} is an interesting number."
    return project


RECORD = ("parity.suite.toml", "--judge-mode", "record")


@pytest.mark.parametrize(
    "workers",
    [
        pytest.param((), id="plain", marks=pytest.mark.long),
        pytest.param(("-n", "0"), id="n0", marks=pytest.mark.long),
        pytest.param(("-n", "2"), id="n2"),
    ],
)
def test_it_stops_after_twenty_and_shows_three_with_their_reasons(
    mute: Project, workers: tuple[str, ...]
) -> None:
    result = mute.run(*RECORD, *workers)
    result.assert_outcomes(failed=1)
    assert len(mute.server.asked) == 20
    result.stdout.fnmatch_lines(
        [
            # What is wrong comes first: the short summary has room for a few words.
            "none of the first 20 replies states a verdict (--judge-max-unparsed 20): 180 of 200 *",
            "*found: *parity/p0/t1/ab/r1: no verdict: Hm, 0 is an interesting number.*",
            "*parity/p1/t1/ab/r1: no verdict: Hm, 1 is*",
            "*parity/p2/t1/ab/r1: no verdict: Hm, 2 is*",
            "*expected: a verdict (YES, NO) in at least one of them*",
            "*remedy: *--judge-max-unparsed 0 turns this limit off*",
        ]
    )
    no_traceback(result)


@SPREAD_AT_NIGHT
def test_nothing_is_lost_and_nothing_is_asked_twice(
    mute: Project, workers: tuple[str, ...]
) -> None:
    mute.run(*RECORD)
    assert len(mute.lines()) == 20
    # Again: what is recorded is all that there is to be known.
    mute.run(*RECORD, *workers).assert_outcomes(failed=1)
    assert len(mute.server.asked) == 20
    mute.run(*RECORD, *workers, "--judge-max-unparsed", "0").assert_outcomes(failed=1)
    assert len(mute.server.asked) == N


@SPREAD_AT_NIGHT
def test_it_takes_another_number(mute: Project, workers: tuple[str, ...]) -> None:
    result = mute.run(*RECORD, "--judge-max-unparsed", "3", *workers)
    assert len(mute.server.asked) == 3
    result.stdout.fnmatch_lines(
        ["*none of the first 3 replies states a verdict (--judge-max-unparsed 3): 197 of 200*"]
    )


@pytest.mark.long
@pytest.mark.parametrize("how", ["", "-q", "-n 2", "-n 2 -q"])
def test_one_that_can_be_read_is_enough_and_three_others_are_shown_at_the_end(
    mute: Project, how: str
) -> None:
    mute.server.reply = lambda prompt: {"19?": "YES", "5?\n": "Hm, 5."}.get(prompt[:3], "Hm.")
    result = mute.run(*RECORD, *how.split())
    assert len(mute.server.asked) == N
    # All but one: the suite ends, they are counted, and three are shown, those that differ first.
    lines = result.outlines
    start = lines.index("judge mine on parity: 199 of 200 replies state no verdict, for instance")
    assert lines[start + 1 : start + 4] == [
        "  parity/p0/t1/ab/r1: no verdict: Hm.",
        "  parity/p5/t1/ab/r1: no verdict: Hm, 5.",
        "  parity/p1/t1/ab/r1: no verdict: Hm.",
    ]
    # By one of the workers, and not again where a recording answers.
    assert len([line for line in lines if "state no verdict, for instance" in line]) == 1
    again = mute.run("parity.suite.toml", *how.split()).stdout.str()
    assert "state no verdict, for instance" not in again


@pytest.mark.parametrize(
    "how",
    ["", *(pytest.param(how, marks=pytest.mark.long) for how in ("-q", "-n 2"))],
)
def test_long_replies_that_are_shown_keep_to_the_width_of_the_screen(
    mute: Project, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    long = "I would rather not say, " * 4
    mute.server.reply = lambda prompt: "YES" if prompt.startswith("19?") else long
    lines = mute.run(*RECORD, *how.split()).outlines
    start = next(n for n, line in enumerate(lines) if "199 of 200 replies state" in line)
    shown = lines[start : start + 9]
    assert max(map(len, shown)) <= 60, shown
    assert sum(line.startswith("  parity/p") for line in shown) == 3


def test_a_call_that_fails_counts_for_neither(mute: Project) -> None:
    numbers = itertools.count()
    mute.server.status = lambda _: 400 if next(numbers) < 30 else 200
    mute.run(*RECORD)
    assert len(mute.server.asked) == 30 + 20


@SPREAD_AT_NIGHT
def test_calls_that_all_fail_are_not_made_for_all_trials(
    mute: Project, workers: tuple[str, ...]
) -> None:
    """Failed calls are made again by the next recording, for they may pass; but each time a few."""
    mute.server.status = lambda _: 400
    options = (*RECORD, *workers, "--judge-max-unparsed", "3")
    result = mute.run(*options)
    assert len(mute.server.asked) == 15
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "15 calls failed, and none before gave a verdict (--judge-max-unparsed 3): 185 *",
            "*found: *parity/p0/t1/ab/r1: HTTP 400: *",
            "*remedy: *failed calls are made again; --judge-max-unparsed 0 turns this limit off*",
        ]
    )
    no_traceback(result)
    mute.server.status = lambda _: 200
    mute.server.reply = lambda prompt: "YES"
    mute.run(*options)
    assert len(mute.server.asked) == 15 + N


def test_one_verdict_lets_all_others_fail(mute: Project) -> None:
    mute.server.status = lambda prompt: 200 if prompt.startswith("1?") else 400
    mute.server.reply = lambda prompt: "YES"
    mute.run(*RECORD, "--judge-max-unparsed", "3")
    assert len(mute.server.asked) == N


def test_a_function_that_raises_each_time_is_not_called_for_all_trials(mute: Project) -> None:
    (mute.path / "pyproject.toml").write_text(
        '[tool.judgesense.judges.mine]\nprovider = "callable"\nmodel = "rules:judge"\n'
    )
    (mute.path / "rules.py").write_text(
        "def judge(prompt):\n"
        "    with open('calls', 'a') as file:\n"
        "        file.write('.')\n"
        "    raise KeyError('verdict')\n"
    )
    result = processes.run("pytest", *RECORD, cwd=mute.path)
    assert "100 calls failed, and none before gave a verdict" in result.stdout, result.stdout
    assert "KeyError: 'verdict'" in result.stdout
    assert len((mute.path / "calls").read_text()) == 100


@pytest.mark.long
def test_a_function_that_was_repaired_is_told_how_to_ask_again(
    mute: Project, workers: tuple[str, ...]
) -> None:
    """It makes no request, so what it returned is recorded, and it does not run for that again."""
    (mute.path / "pyproject.toml").write_text(
        '[tool.judgesense.judges.mine]\nprovider = "callable"\nmodel = "rules:judge"\n'
    )
    # Its code stays as it is: that is watched, and another would be asked anew.
    (mute.path / "rules.py").write_text(
        "import os\ndef judge(prompt):\n    return os.environ['REPLY']\n"
    )

    def recorded(reply: str) -> subprocess.CompletedProcess[str]:
        environment = os.environ | {"REPLY": reply}
        return processes.run("pytest", *RECORD, *workers, cwd=mute.path, environment=environment)

    assert "are from before" not in recorded("Hm.").stdout
    result = recorded("Perhaps.")
    told = " ".join(result.stdout.split())
    remedy = f"20 of these are from before: to ask for all again, rm {mute.cassette}; "
    assert remedy in told, result.stdout
    mute.cassette.unlink()
    recorded("NO")
    assert len(mute.lines()) == N


def test_a_replay_stops_at_nothing(mute: Project) -> None:
    mute.run(*RECORD, "--judge-max-unparsed", "0")
    result = mute.run("parity.suite.toml")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*unparsed_rate_ceiling*"])
    assert "none of the first" not in result.stdout.str()


def test_a_number_that_is_none_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(pytest.UsageError, match="-1 is wrong; expected a whole number, at least 0"):
        resolve({"judge-max-unparsed": "-1"}, tmp_path, tmp_path)
