"""Tables of foreign judgments at several temperatures, imported as sweeps."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_judgesense.commands.main import main

MAPPED = ("item=q", "replicate=run", "verdict=winner", "label=gold")
# Three replicates at each of two temperatures.
ROWS = [
    f"{question},{at},{run},{said},A"
    for question in ("q1", "q2")
    for at, verdicts in (("0.01", "AAA"), ("2", "ABA"))
    for run, said in enumerate(verdicts)
]


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("sweep.csv").write_text("\n".join(["q,temp,run,winner,gold", *ROWS]), encoding="utf-8")


def imported(*mapped: str) -> int:
    options = [part for one in (*MAPPED, *mapped) for part in ("--map", one)]
    return main(["import", "sweep.csv", "-o", "log.jsonl", "--judge", "j", *options])


def test_a_table_of_temperatures_is_a_sweep(capsys: pytest.CaptureFixture[str]) -> None:
    assert imported("temperature=temp") == 0
    assert "suite sweep is a sweep of temperatures: 0.01, 2" in capsys.readouterr().out
    lines = [json.loads(line) for line in Path("log.jsonl").read_text("utf-8").splitlines()]
    assert lines[0]["trial"] == "sweep/q1/t1/ab/t0.01/r1"
    assert lines[0]["condition"] == {"temperature": 0.01}
    assert {line["design"]["kind"] for line in lines} == {"temperature"}
    assert main(["report", "log.jsonl", "-vv"]) == 0
    words = " ".join(capsys.readouterr().out.split())
    # At 2 the second replicate of both questions is wrong: rates 1, 0, 1 with a deviation of
    # 1 / sqrt(3); both neighbours differ, so that consistency is 0.
    assert "temperature 2 6 0.667 (0.577) 0.667 (0.577) 0.000 (0.000)" in words
    assert "jss" not in words


def test_without_its_temperatures_the_table_repeats_trials_and_says_what_to_name(
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = Path("sweep.csv").read_text(encoding="utf-8")
    Path("sweep.csv").write_text(text.replace("temp", "warmth", 1), encoding="utf-8")
    assert imported() == 3
    assert "--map temperature=COLUMN" in " ".join(capsys.readouterr().err.split())


def test_a_temperature_that_is_no_number_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    text = Path("sweep.csv").read_text(encoding="utf-8").replace(",2,0,", ",hot,0,")
    Path("sweep.csv").write_text(text, encoding="utf-8")
    assert imported("temperature=temp") == 3
    assert "a temperature: a number from 0" in capsys.readouterr().err


def test_a_judge_type_and_a_style_are_a_prompt(capsys: pytest.CaptureFixture[str]) -> None:
    head, *rows = Path("sweep.csv").read_text(encoding="utf-8").splitlines()
    both = [f"{row},{kind},direct" for row in rows for kind in ("pairwise", "single")]
    Path("sweep.csv").write_text("\n".join([f"{head},kind,style", *both]), encoding="utf-8")
    assert imported("temperature=temp", "judge_type=kind", "prompt_style=style") == 0
    assert capsys.readouterr().out
    line = json.loads(Path("log.jsonl").read_text("utf-8").splitlines()[0])
    assert line["trial"] == "sweep/q1/pairwise-direct/ab/t0.01/r1"
    assert line["condition"]["judge_type"] == "pairwise"
