"""``judgesense paper NAME``: plan, price, recording, replay, and the files of the paper."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from pytest_judgesense.commands.main import main
from pytest_judgesense.instruments.temperature import causal


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
    # Every request had what the paper asks for, not the 256 tokens that judges have by default.
    settings = [*csv.DictReader((here / "a-settings.csv").read_text("utf-8").splitlines())]
    sent = [(row["temperature"], row["max tokens"], row["runs"]) for row in settings]
    assert sent == [("0.0", "20", "3")] * 4
    identity = json.loads((here / "a.json").read_text("utf-8"))["judges"][0]
    assert {part["max_tokens"] for part in identity["parts"]} == {20}
    assert "`embedded:mixed, temperature 0, max_tokens 20, " in (here / "a.md").read_text("utf-8")
    # Of five wordings one is inverted: two of the ring's five pairs flip as they stand.
    (polarity,) = csv.DictReader((here / "a-polarity.csv").read_text("utf-8").splitlines())
    assert (float(polarity["raw"]), float(polarity["corrected"])) == (0.6, 1.0)
    assert float(polarity["without inverted"]) == 1.0
    tex = (here / "a.tex").read_text(encoding="utf-8")
    assert r"\label{tab:jss-table-1}" in tex
    assert tex.count(r"\begin{table}") == tex.count(r"\end{table}") == 4
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


def test_a_missing_extra_is_said_before_the_first_call(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(causal, "installed", lambda _: False)
    asked = ["paper", "temperature", "--quick", "--judge-name", "embedded:mixed"]
    assert main([*asked, "--judge-mode", "record", "--judge-max-calls", "0"]) != 0
    told = capsys.readouterr()
    assert "notice: tables 2 and 3" in told.out
    assert "pip install 'pytest-judgesense[causal]'" in told.out
    assert not (here / "cassettes").exists()
    assert main(["paper", "jss", "--quick", "--judge-name", "embedded:mixed", "--plan"]) == 0
    assert "notice" not in capsys.readouterr().out


def test_a_paper_that_is_not_there_is_an_error(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["paper", "jsss"]) == 2
    assert "did you mean 'jss'?" in capsys.readouterr().err
