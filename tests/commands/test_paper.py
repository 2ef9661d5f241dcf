"""``judgesense paper NAME``: plan, price, recording, replay, and the tables of the paper."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from pytest_judgesense.commands.main import main
from pytest_judgesense.datasheets.published_design import Table, cell_text
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.judges.calls import first_calls
from pytest_judgesense.judges.prompts import judge_for_suite, suite_for_judge
from pytest_judgesense.judges.resolving import judge_from_name
from pytest_judgesense.report.csv_tables import table_text
from pytest_judgesense.suites.planning import plan_trials
from tests.suites.known import builtin_suites, load_suite

JUDGE = judge_from_name("openai:gpt")


def planned(name: str) -> tuple[int, int]:
    """Trials and calls of a suite, by the name of its preset."""
    base, _, preset = name.partition("@")
    suite = suite_for_judge(load_suite(builtin_suites()[base], preset), JUDGE)
    trials, calls_of = plan_trials(suite), first_calls(suite, judge_for_suite(JUDGE, suite))
    return len(trials), sum(len(calls_of(trial)) for trial in trials)


@pytest.mark.parametrize("name", sorted(BUILT_IN.papers))
def test_the_arms_of_a_paper_are_what_its_suites_plan(name: str) -> None:
    paper = BUILT_IN.papers[name]
    assert paper.name == name
    for suite in paper.suites():
        arms = [arm for arm in paper.arms if arm.suite == suite]
        assert planned(suite) == (sum(a.trials for a in arms), sum(a.calls for a in arms))


@pytest.mark.parametrize("name", sorted(BUILT_IN.papers))
def test_quick_is_about_a_fifth_of_a_paper(name: str) -> None:
    paper = BUILT_IN.papers[name]
    whole = sum(planned(suite)[1] for suite in paper.suites())
    quick = sum(planned(suite)[1] for suite in paper.suites(quick=True))
    assert 0.1 <= quick / whole <= 0.35


def run(*arguments: str) -> int:
    return main(["paper", "jss", *arguments])


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_it_records_resumes_and_replays_to_the_same_bytes(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ("--judge-name", "embedded:mixed", "--quick")
    recording = (*asked, "--judge-mode", "record")
    # A limit stops it; what was answered is kept.
    assert run(*recording, "--judge-max-calls", "80") == 3
    assert "--judge-max-calls 80 is reached" in capsys.readouterr().err
    assert run(*recording) == 0
    shown = capsys.readouterr().out
    # 75 + 75 + 75 + 90 calls; 80 of them are recorded.
    assert "together: 315 calls, 235 to be made; cost: none" in shown
    files = [f"--judge-datasheet={name}" for name in ("a.json", "a.csv", "a.tex", "a.md")]
    assert run(*asked, *files) == 0
    shown = capsys.readouterr().out
    assert "together: 315 calls, 0 to be made; cost: none" in shown
    assert run(*asked, "--judge-datasheet", "b.json") == 0
    assert (here / "a.json").read_bytes() == (here / "b.json").read_bytes()
    rows = list(csv.DictReader((here / "a.csv").read_text(encoding="utf-8").splitlines()))
    assert [row["task"] for row in rows] == ["factuality", "coherence", "relevance", "preference"]
    assert {row["judge"] for row in rows} == {"mixed"}
    assert rows[0]["seconds"].isdigit()  # wall-clock, from the recording
    # Of five wordings one is inverted: two of the ring's five pairs flip as they stand.
    (polarity,) = csv.DictReader((here / "a-polarity.csv").read_text("utf-8").splitlines())
    assert (float(polarity["raw"]), float(polarity["corrected"])) == (0.6, 1.0)
    assert float(polarity["without inverted"]) == 1.0
    tex = (here / "a.tex").read_text(encoding="utf-8")
    assert r"\label{tab:jss-table-1}" in tex
    assert tex.count(r"\begin{table}") == tex.count(r"\end{table}") == 3
    assert "`table-1`" in (here / "a.md").read_text(encoding="utf-8")


@pytest.mark.long
def test_the_page_begins_with_the_tables_and_figures_of_the_paper(here: Path) -> None:
    assert run("--judge-name", "embedded:mixed", "--quick", "--judge-datasheet", "a.html") == 0
    page = (here / "a.html").read_text(encoding="utf-8")
    assert '<table class="labelled" id="paper-table-1">' in page
    assert 'id="figure-polarity"' in page
    assert page.index('id="paper"') < page.index('id="figures"')


def test_without_a_recording_it_says_the_price_and_how_to_record(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "pyproject.toml").write_text(
        '[tool.judgesense.judges.mine]\nprovider = "openai"\nmodel = "m"\n'
        "prices = { prompt = 1, completion = 2 }\n",
        encoding="utf-8",
    )
    assert run("--quick") == 3
    told = capsys.readouterr()
    # At most 20 tokens for each of 315 replies, at 2 USD a million: 0.0126 USD beside the prompts.
    assert "mine on factuality@paper-quick: 75 calls, 75 to be made" in told.out
    assert "315 to be made; cost: 0.0" in told.out
    assert "judgesense paper jss --quick --judge-mode record" in told.err
    assert run("--quick", "--judge-cassettes", "an other") == 3
    remedy = "judgesense paper jss --quick --judge-cassettes 'an other' --judge-mode record (315"
    assert remedy in " ".join(capsys.readouterr().err.split())


def test_a_paper_that_is_not_there_is_an_error(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["paper", "jsss"]) == 2
    assert "did you mean 'jss'?" in capsys.readouterr().err


# --- its tables -------------------------------------------------------------------------------


def test_a_cell_has_the_digits_of_its_table_and_no_negative_zero() -> None:
    assert cell_text(0.91466) == "0.915"
    assert cell_text((0.8, 1.0), 2) == "[0.80, 1.00]"
    assert cell_text(-0.0001) == "0.000"
    assert (cell_text(None), cell_text(7)) == ("N/A", "7")


def test_a_table_as_csv_is_unrounded_and_an_interval_takes_two_columns() -> None:
    rows = (("m", 1 / 3, (0.25, 0.5)), ("=x", None, None))
    table = Table("t", "c", ("judge", "rate", "95%"), rows)
    assert table_text(table).splitlines() == [
        'judge,rate,"95%, lower","95%, upper"',
        "m,0.3333333333333333,0.25,0.5",
        "'=x,,,",
    ]
