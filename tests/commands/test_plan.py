"""``judgesense plan``: its words and how it exits."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from tests import processes
from tests.commands.within import judgesense as run
from tests.commands.within import measured


def test_power_of_a_recorded_judge(tmp_path: Path) -> None:
    named = ("coherence", "--judge-name", "embedded:mixed")
    done = processes.run("judgesense", "plan", *named, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "judge mixed, 200 judgments" in done.stdout
    assert "variance of agreement: item" in done.stdout


def test_a_plan_before_a_cent_is_spent_needs_no_key(tmp_path: Path) -> None:
    done = run(
        *("plan", "coherence@published", "--judge-name", "openai:some-model"),
        *("--assume", "jss=0.95", "--drop", "0.2", "--judge-policy", "confident"),
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert "calls to be made: 125 (0 are recorded)" in done.stdout
    assert "coherence@published, policy confident: the plan alone" in done.stdout
    assert "for 0.2" in done.stdout
    # What a night asks, whatever is recorded, and how soon it finds the drop: shares of 25 items.
    assert "125 calls a night, 3,750 in 30 nights" in done.stdout
    assert "a loss of 20 points after 30 nights is found in night so many" in done.stdout
    assert re.search(r"^    jss: \d+, \d+ where days are alike; \d+, ", done.stdout, re.MULTILINE)
    assert list(tmp_path.iterdir()) == []


def test_judges_that_are_declared_need_no_name(tmp_path: Path) -> None:
    table = '[tool.judgesense.judges.{}]\nprovider = "openai"\nmodel = "m"\n'
    (tmp_path / "pyproject.toml").write_text(table.format("mine"))
    done = run("plan", "coherence@published", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("coherence@published, judge mine\n")
    (tmp_path / "pyproject.toml").write_text(table.format("one") + table.format("two"))
    several = run("plan", "coherence@published", cwd=tmp_path)
    assert several.returncode == 0, several.stderr
    assert "coherence@published, judge one\n" in several.stdout
    assert "coherence@published, judge two\n" in several.stdout
    assert several.stdout.splitlines()[-1].startswith("together: 250 calls, cost: unknown; ")


def test_without_a_judge_there_are_chances_and_no_price(tmp_path: Path) -> None:
    done = run("plan", "coherence", "vacuum", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    for name in ("coherence", "vacuum"):
        assert f"{name}, without a judge\n" in done.stdout
        assert f"{name}, policy estimate: the plan alone\n" in done.stdout
    assert "  calls, cost: those of a judge: --judge-name NAME" in done.stdout
    assert "nightly" not in done.stdout
    assert "together" not in done.stdout


def test_lint_states_no_chances(tmp_path: Path) -> None:
    done = run("plan", "coherence", "--lint", "--drop", "0", cwd=tmp_path)
    assert done.returncode == 2
    assert "--lint states no chances" in done.stderr
    assert "found:    --drop\n" in done.stderr


def test_suites_of_the_project_stand_among_those_that_may_be_named(tmp_path: Path) -> None:
    (tmp_path / "suites" / "own").mkdir(parents=True)
    (tmp_path / "suites" / "own" / "own.suite.toml").touch()
    done = run("plan", "owm", cwd=tmp_path)
    assert done.returncode == 2
    assert "ladder-fine, own, preference" in done.stderr
    assert "did you mean 'own'?" in done.stderr


def test_a_plan_says_what_early_stopping_asks(tmp_path: Path) -> None:
    """Forty items; a judge without error is decided sooner than one close to the limit."""
    (tmp_path / "pyproject.toml").write_text(
        '[tool.judgesense.judges.mine]\nprovider = "openai"\nmodel = "m"\n'
        "prices = { prompt = 1.0, completion = 1.0 }\n"
    )
    done = run("plan", "coherence", "--judge-name", "mine", "--early-stop", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    most = re.search(r"cost: \S+ to (\S+) USD", done.stdout)
    said = re.search(r"policy estimate: at most 200 \((\S+) USD\) trials", done.stdout)
    assert most
    assert said
    # The prompts' tokens are rounded up once for all of them.
    assert float(said[1]) == pytest.approx(float(most[1]), abs=0.0002)
    night = re.search(r"cost: (\S+) to (\S+) USD a night, (\S+) to (\S+) USD in 30", done.stdout)
    assert night
    # Nothing is recorded, so that a night costs what a recording would.
    assert night[2] == most[1]
    assert float(night[4]) == pytest.approx(30 * float(night[2]), abs=0.002)
    (line,) = [one for one in done.stdout.splitlines() if "jss_floor[0.9]: " in one]
    trials = {
        float(value): int(number)
        for number, value in re.findall(r"(\d+) \(\S+ USD\) at (\d\.\d+)", line)
    }
    # From a judge without error to as far beyond the limit of 0.8. Without error every run stops at
    # the third of four looks, 30 of 40 clusters: of 20 that agree the bound does not clear it yet.
    # At the limit nearly all is asked.
    assert sorted(trials) == [0.6, 0.7, 0.8, 0.9, 1.0]
    assert trials[1.0] == 150
    assert trials[1.0] < trials[0.9] <= trials[0.8] <= 200
    assert trials[0.6] < trials[0.7] < trials[0.8]


@pytest.mark.parametrize(
    "arguments",
    [
        ("plan", "cohrence"),
        ("plan", "coherence", "--assume", "jos=0.9"),
        ("plan", "coherence", "--assume", "jss=2"),
        ("plan", "coherence", "--drop", "0"),
        ("plan", "coherence", "--early-stop", "--judge-policy", "refuted"),
    ],
)
def test_a_wrong_command_is_exit_code_2(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    done = run(*arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


# What a recording would ask now, after a change: compared with the requests that are recorded.

_SUITE = """
schema = "judgesense/suite/1"
name = "even"
kind = "paraphrase"
[space]
labels = ["YES", "NO"]
[stimuli]
file = "even.jsonl"
[[templates]]
id = "t1"
text = "Is {{number}} even?"
[[templates]]
id = "t2"
text = "Can {{number}} be halved?"
[checks]
jss_floor = 0.5
"""


@pytest.fixture(scope="module")
def recorded_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with a suite of 5 x 2 trials and a judge of the embedded kind, recorded."""
    folder = tmp_path_factory.mktemp("even")
    lines = [f'{{"id": "n{n}", "number": "{n}", "label": "YES"}}\n' for n in range(5)]
    (folder / "even.jsonl").write_text("".join(lines))
    (folder / "even.suite.toml").write_text(_SUITE)
    _declare(folder, "")
    measured(folder, "mine", "even.suite.toml", mode="record")
    assert (folder / "cassettes" / "mine" / "even.jsonl").is_file()
    return folder


@pytest.fixture
def even(tmp_path: Path, recorded_once: Path) -> Path:
    shutil.copytree(recorded_once, tmp_path, dirs_exist_ok=True)
    return tmp_path


def _declare(folder: Path, more: str) -> None:
    (folder / "pyproject.toml").write_text(
        '[tool.judgesense.judges.mine]\nprovider = "embedded"\nmodel = "clean"\n' + more
    )


def test_a_recorded_suite_costs_no_call(even: Path) -> None:
    done = run("plan", "even.suite.toml", cwd=even)
    assert done.returncode == 0, done.stderr
    assert "  calls to be made: 0 (10 are recorded)\n" in done.stdout
    assert "  cost: none\n" in done.stdout


@pytest.mark.parametrize(
    ("setting", "calls", "changed"),
    [
        ("max_tokens = 300", 10, 10),
        ('system = "Judge."', 10, 10),
        # One of two wordings: its five trials.
        (
            'prompts.paraphrases = { even = ["Is {{number}} even?", "Halve {{number}}?"] }',
            5,
            5,
        ),
    ],
)
def test_a_change_of_what_is_sent_is_counted(
    even: Path, setting: str, calls: int, changed: int
) -> None:
    _declare(even, setting)
    done = run("plan", "even.suite.toml", cwd=even)
    assert done.returncode == 0, done.stderr
    assert (
        f"  calls to be made: {calls} ({10 - calls} are recorded; {changed} are recorded with "
        "another request, and are asked again)\n"
    ) in done.stdout
    # And that is what a recording asks.
    before = (even / "cassettes" / "mine" / "even.jsonl").read_text().splitlines()
    measured(even, "mine", "even.suite.toml", mode="record")
    after = (even / "cassettes" / "mine" / "even.jsonl").read_text().splitlines()
    assert len({*after} - {*before}) == calls


def test_the_price_is_that_of_the_calls_to_be_made(tmp_path: Path) -> None:
    """5 x 2 trials at 100 tokens of replies each, for 1 USD a token: 1000 USD at the most."""
    lines = [f'{{"id": "n{n}", "number": "{n}", "label": "YES"}}\n' for n in range(5)]
    (tmp_path / "even.jsonl").write_text("".join(lines))
    (tmp_path / "even.suite.toml").write_text(_SUITE)
    (tmp_path / "pyproject.toml").write_text(
        '[tool.judgesense.judges.mine]\nprovider = "openai"\nmodel = "m"\nmax_tokens = 100\n'
        "prices = { prompt = 0, completion = 1e6 }\n"
    )
    done = run("plan", "even.suite.toml", cwd=tmp_path)
    assert "  cost: 0.0000 to 1000.0000 USD\n" in done.stdout


def test_a_plan_of_a_function_says_that_its_requests_are_not_known(tmp_path: Path) -> None:
    lines = [f'{{"id": "n{n}", "number": "{n}", "label": "YES"}}\n' for n in range(5)]
    (tmp_path / "even.jsonl").write_text("".join(lines))
    (tmp_path / "even.suite.toml").write_text(_SUITE)
    (tmp_path / "app.py").write_text("def judge(messages):\n    return 'YES'\n")
    (tmp_path / "pyproject.toml").write_text(
        '[tool.judgesense.judges.mine]\nprovider = "callable"\nmodel = "app:judge"\n'
        "prices = { prompt = 1, completion = 1 }\n"
    )
    before = run("plan", "even.suite.toml", cwd=tmp_path)
    several = "more where app:judge sends several requests in a trial that is not recorded"
    assert f"  calls to be made: 10 (0 are recorded), {several}\n" in before.stdout
    assert "as many as" not in before.stdout
    assert "even, policy estimate: the plan alone\n" in before.stdout
    measured(tmp_path, "mine", "even.suite.toml", mode="record")
    after = run("plan", "even.suite.toml", cwd=tmp_path)
    assert after.returncode == 0, after.stderr
    assert "  calls to be made: 0 (10 are recorded)\n" in after.stdout
    assert "  as many as 10 calls, if the requests of app:judge changed: " in after.stdout
    assert re.search(r"  cost: 0\.0000 to 0\.\d*[1-9]\d* USD\n", after.stdout)
    # What it returned is in the recording: its verdicts need no code.
    assert "even, policy estimate: judge mine, 10 judgments\n" in after.stdout
