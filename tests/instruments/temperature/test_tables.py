"""The tables of a temperature sweep: against pandas and scipy, and without the extra."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import pearsonr

from pytest_judgesense.instruments.temperature import causal
from pytest_judgesense.instruments.temperature.instrument import REPORT
from pytest_judgesense.measures.cell import Cell

from .sweeps import replicates, softmax_cell, swept, tables_of

KINDS, STYLES, GRID = ("pairwise", "single"), ("direct", "reasoned"), (0.5, 1.5, 3.0)


def grid_cell(*, models: tuple[str, ...] = (), seed: int = 3) -> Cell:
    """Twelve questions under every configuration, three replicates, some of them lost."""
    draw = np.random.default_rng(seed)
    own = [{"model": model} for model in models] or [{}]
    return swept(
        *(
            replicates(
                f"q{q:02}",
                "".join(draw.choice(list("112t?"), size=3)),
                gold="12t"[q % 3].replace("t", "tie"),
                temperature=temperature,
                judge_type=kind,
                prompt_style=style,
                source=("human", "judge:strong")[q % 4 == 0],
                **model,
            )
            for q, kind, style, temperature, model in product(range(12), KINDS, STYLES, GRID, own)
        )
    )


@pytest.fixture
def without_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(causal, "installed", lambda _: False)


def tables(cell: Cell) -> dict[str, list[Mapping[str, Any]]]:
    found = tables_of(cell)
    # What datasheets hold: no NaN, no numpy.
    json.dumps(found, allow_nan=False)
    return found


def _frame(cell: Cell) -> Any:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        {
            **judgment.trial.condition,
            "question": judgment.trial.item,
            "replicate": judgment.trial.replicate,
            "parsed": judgment.verdict is not None,
            "said": judgment.chosen,
            "right": float(judgment.correct is True),
        }
        for judgment in cell.judgments
    )
    return frame.assign(
        right_parsed=frame["right"].where(frame["parsed"]), lost=(~frame["parsed"]).astype(float)
    )


@pytest.mark.usefixtures("without_extra")
def test_the_table_of_the_paper_against_pandas() -> None:
    cell = grid_cell()
    frame, rows = _frame(cell), tables(cell)["temperature_table"]
    wanted = {
        "agreement": "right",
        "agreement_parsed": "right_parsed",
        "error_rate": "lost",
    }
    seen = 0
    for row in rows:
        part = frame
        for key in ("judge_type", "prompt_style", "temperature", "gold"):
            if row.get(key, "all") != "all":
                part = part[part[key] == row[key]]
        assert row["n"] == len(part)
        for name, column in wanted.items():
            by_replicate = part.groupby("replicate")[column].mean()
            assert row[f"{name}_mean"] == pytest.approx(by_replicate.mean())
            assert row[f"{name}_sd"] == pytest.approx(by_replicate.std())
        values = []
        for _, series in part[part["parsed"]].groupby(
            ["question", "judge_type", "prompt_style", "temperature"]
        ):
            said = series.sort_values("replicate")["said"]
            if len(said) > 1:
                values.append(1 - (said != said.shift())[1:].mean())
        assert row["consistency_mean"] == pytest.approx(np.mean(values))
        spread = pytest.approx(np.std(values, ddof=1)) if len(values) > 1 else None
        assert row["consistency_sd"] == spread
        seen += 1
    # 2 x 2 x 3 cells and the same over temperatures: (12 + 4), margins (6 + 2) + (6 + 2) + (3 + 1);
    # these 36 rows once for all, and once for each of two sources.
    assert seen == 36 * 3


@pytest.mark.usefixtures("without_extra")
def test_correlations_over_means_and_rows_against_scipy() -> None:
    cell = grid_cell(models=("m1", "m2"))
    frame, rows = _frame(cell), tables(cell)["temperature_correlations"]
    means = frame.groupby("temperature")[["right", "lost"]].mean().reset_index()
    found = {(row["level"], row.get("model"), row["x"], row["y"]): row for row in rows}
    one = found["means", None, "temperature", "agreement"]
    # Every question has three replies, so the mean over questions is that over replies.
    assert one["r"] == pytest.approx(pearsonr(means["temperature"], means["right"]).statistic)
    assert one["n"] == 3
    of_model = frame[frame["model"] == "m2"].groupby("temperature")[["right", "lost"]].mean()
    two = found["means", "m2", "agreement", "error_rate"]
    assert two["r"] == pytest.approx(pearsonr(of_model["right"], of_model["lost"]).statistic)
    keys = ["question", "judge_type", "prompt_style", "model", "temperature"]
    series = frame.groupby(keys)[["right", "lost"]].mean().reset_index()
    three = found["rows", None, "temperature", "error_rate"]
    assert three["r"] == pytest.approx(pearsonr(series["temperature"], series["lost"]).statistic)
    assert three["n"] == 12 * 2 * 2 * 3 * 2
    # Ten pairs of five, over the means of all and of two models, and over the rows.
    assert len(rows) == 10 * 4
    parsed = frame[frame["parsed"]].groupby(keys)["right"].mean().reset_index()
    four = found["rows", None, "temperature", "agreement_parsed"]
    assert four["r"] == pytest.approx(pearsonr(parsed["temperature"], parsed["right"]).statistic)
    assert four["n"] == len(parsed)


@pytest.mark.usefixtures("without_extra")
def test_effects_of_pairs_and_of_the_threshold_within_questions() -> None:
    cell = swept(
        *(
            replicates(f"q{q}", said, temperature=temperature, prompt_style=style)
            for q in range(4)
            for style, words in (("direct", ("11", "11", "12")), ("reasoned", ("11", "12", "22")))
            for temperature, said in zip(GRID, words, strict=True)
        )
    )
    rows = tables(cell)["temperature_effects"]
    of = {
        (row["method"], row["group"], row["level"], row["low"], row["high"]): row
        for row in rows
        if row["outcome"] == "agreement"
    }
    # Direct 1, 1, 1/2; reasoned 1, 1/2, 0. From 1.5 on: 3/4 - 1 and 1/4 - 1.
    assert of["paired", "prompt_style", "direct", "< 1.5", ">= 1.5"]["value"] == -0.25
    assert of["paired", "prompt_style", "reasoned", "< 1.5", ">= 1.5"]["value"] == -0.75
    overall = of["paired", "overall", "all", "< 1.5", ">= 1.5"]
    assert (overall["value"], overall["n"], overall["questions"]) == (-0.5, 8, 4)
    assert overall["lower"] < -0.5 < overall["upper"]
    assert of["pair", "prompt_style", "reasoned", 0.5, 3.0]["value"] == -1
    assert of["pair", "overall", "all", 1.5, 3.0]["value"] == -0.5
    assert all("n" in row for row in rows)
    missing = [row for row in rows if row["method"] == "aipw"]
    outcomes = ["agreement", "agreement_parsed", "consistency", "error_rate"]
    assert [row["outcome"] for row in missing] == outcomes
    install = "lightgbm is not installed: pip install 'pytest-judgesense[causal]'"
    assert all(row["value"] is None and row["unavailable"] == install for row in missing)


@pytest.mark.usefixtures("without_extra")
def test_attributions_without_the_extra_say_how_to_install_it() -> None:
    found = tables(softmax_cell(0, temperatures=(0.5, 2.0)))
    assert found["temperature_attribution_points"] == []
    assert {row["unavailable"] for row in found["temperature_attributions"]} == {
        "lightgbm is not installed: pip install 'pytest-judgesense[causal]'"
    }


def test_a_package_that_the_system_cannot_load_is_a_reason_and_no_crash(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As lightgbm is on images without libgomp: found, and OSError where it is imported."""
    (tmp_path / "lightgbm.py").write_text('raise OSError("libgomp.so.1: cannot open")\n')
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "lightgbm", raising=False)
    found = tables(softmax_cell(0, temperatures=(0.5, 2.0)))
    reasons = {row["unavailable"] for row in found["temperature_attributions"]}
    reasons |= {
        row["unavailable"] for row in found["temperature_effects"] if row["method"] == "aipw"
    }
    (reason,) = reasons
    assert "lightgbm is installed and cannot be loaded (libgomp.so.1: cannot open)" in reason
    assert "apt-get install libgomp1" in reason


@pytest.mark.usefixtures("without_extra")
def test_majorities_and_errors_by_temperature() -> None:
    words = "refused: HTTP 400: seed is not supported"
    cell = swept(
        replicates("q1", "11?", temperature=0.5),
        replicates("q1", "112", temperature=0.5, judge_type="single"),
        replicates("q2", "1!1", temperature=1.0),
        replicates("q2", "!!!", temperature=3.0, failed=words),
    )
    found = tables(cell)
    votes = {(row["temperature"], row["k"]): row for row in found["temperature_majority"]}
    # A pairwise trial is one call, a single-answer trial two: 1.5 in the mean, three times.
    assert votes[0.5, 3]["calls"] == 4.5
    assert votes[0.5, 3]["agreement"] == 1
    assert votes[3.0, 1]["unavailable"] == words
    assert found["temperature_errors"] == [
        {"temperature": 0.5, "outcome": "unparsed", "reason": "no JSON object", "n": 1},
        {"temperature": 1.0, "outcome": "failed", "reason": "timeout", "n": 1},
        {"temperature": 3.0, "outcome": "refused", "reason": words, "n": 3},
    ]


@pytest.mark.usefixtures("without_extra")
def test_only_the_most_frequent_reasons_are_listed() -> None:
    cell = swept(*(replicates(f"q{i}", "!", failed=f"fault {i % 25:02}") for i in range(30)))
    rows = tables(cell)["temperature_errors"]
    # Twenty of the 25 reasons; the first five of them twice, five left over once each.
    assert [row["n"] for row in rows] == [2] * 5 + [1] * 15 + [5]
    assert rows[-1]["reason"] == "5 other reasons"


def test_other_kinds_have_none() -> None:
    cell = swept(replicates("q1", "11"))
    other = Cell("j", "s", type(cell.design)(kind="ladder", labels=("A", "B")), cell.judgments)
    assert {section.analysis(other, (), None) for section in REPORT.sections} == {None}
