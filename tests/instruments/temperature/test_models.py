"""The judges of a run pooled: the model as a factor of the effects."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from pytest_judgesense.instruments.temperature import causal
from pytest_judgesense.instruments.temperature.models import material_of, pooled
from pytest_judgesense.instruments.temperature.sweep import series_of
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.report.assembly import datasheet_text
from pytest_judgesense.report.joining import joined_datasheets
from pytest_judgesense.report.logged_cells import datasheet_of_cells
from pytest_judgesense.report.markdown import markdown
from pytest_judgesense.report.terminal import datasheet_lines
from pytest_judgesense.report.view import view_of
from pytest_judgesense.text.layout import WIDTH

from .sweeps import replicates, rows_of, softmax_cell, swept


@pytest.fixture
def without_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(causal, "installed", lambda _: False)


def judged(judge: str, cell: Cell) -> Cell:
    judgments = tuple(replace(one, judge=judge) for one in cell.judgments)
    return Cell(judge, cell.suite, cell.design, judgments, cell.seed, cell.measures)


def answers(cold: tuple[str, ...], hot: tuple[str, ...], **more: str) -> Cell:
    return swept(
        *(
            replicates(f"q{q}", said, temperature=at, **more)
            for at, of in ((0.5, cold), (2.0, hot))
            for q, said in enumerate(of)
        )
    )


RIGHT = ("11",) * 4
# Heat costs the one judge nothing, the other 1/2, 1/2, 1 and 1.
CALM = judged("calm", answers(RIGHT, RIGHT))
WILD = judged("wild", answers(RIGHT, ("12", "12", "22", "22")))


def tables(*cells: Cell, secondary: bool = False) -> dict[str, list[Mapping[str, Any]]]:
    sheet = datasheet_of_cells(cells, secondary=secondary)
    return {one["analysis"]: one["rows"] for one in sheet.analyses}


@pytest.mark.usefixtures("without_extra")
def test_the_effect_is_pooled_and_the_model_moderates_it() -> None:
    found = tables(CALM, WILD)
    effects = {
        (row["group"], row["level"]): row
        for row in found["model_effects"]
        if (row["method"], row["outcome"]) == ("paired", "agreement")
    }
    # Of eight differences four are 0, two 1/2 and two 1; four questions, whoever was asked.
    overall = effects["overall", "all"]
    assert (overall["value"], overall["n"], overall["questions"]) == (-3 / 8, 8, 4)
    assert effects["model", "calm"]["value"] == 0
    assert effects["model", "wild"]["value"] == -0.75
    (row,) = [
        row
        for row in found["model_moderation"]
        if (row["outcome"], row["method"]) == ("agreement", "paired")
    ]
    # Differences 1/2, 1/2, 1, 1: mean 3/4, s^2 = 1/12, t^2 = (9/16) / (1/48) = 27.
    assert row["F"] == pytest.approx(27)
    # t = sqrt(27) with 3 degrees of freedom: two-sided p 0.01384 (tables of Student's t).
    assert row["p"] == pytest.approx(0.01384, abs=1e-4)


@pytest.mark.usefixtures("without_extra")
def test_agreement_by_model_stands_at_each_temperature_with_its_interval() -> None:
    rows = {
        (row["model"], row["temperature"]): row for row in tables(CALM, WILD)["temperature_models"]
    }
    assert set(rows) == {(m, at) for m in ("calm", "wild") for at in ("all", 0.5, 2.0)}
    hot = rows["wild", 2.0]
    assert (hot["n"], hot["agreement"], hot["error_rate"]) == (4, 0.25, 0)
    # Of the pairs 12, 12, 22, 22 two change.
    assert hot["consistency"] == 0.5
    assert hot["agreement_lower"] < 0.25 < hot["agreement_upper"]
    assert rows["wild", "all"]["agreement"] == (1 + 0.25) / 2


@pytest.mark.usefixtures("without_extra")
def test_one_judge_is_not_pooled_and_its_models_are() -> None:
    assert "temperature_models" not in tables(CALM)
    several = swept(
        *(
            replicates(f"q{q}", said, temperature=at, model=model)
            for model, hot in (("big", "11"), ("small", "22"))
            for q in range(4)
            for at, said in ((0.5, "11"), (2.0, hot))
        )
    )
    found = tables(judged("log", several))
    assert {row["model"] for row in found["temperature_models"]} == {"log: big", "log: small"}
    found = tables(judged("log", several), CALM)
    assert {row["model"] for row in found["temperature_models"]} == {
        "log: big",
        "log: small",
        "calm",
    }


def test_what_a_judge_gives_is_enough_for_its_own_numbers() -> None:
    cell = softmax_cell(3, questions=8, count=4, temperatures=(0.5, 2.0), lost=0.15)
    series, found = series_of(cell), material_of(cell)
    assert found is not None
    pool = pooled({"j": json.loads(json.dumps(found))}, 0)
    for outcome in ("agreement", "consistency", "error_rate"):
        np.testing.assert_allclose(pool.values[outcome], series.values[outcome])
    assert (pool.temperature == series.temperature).all()
    assert (pool.question == series.question).all()
    assert pool.threshold == series.threshold == 1.5


@pytest.mark.usefixtures("without_extra")
def test_series_that_a_provider_refuses_are_left_out_of_the_pool() -> None:
    refused = answers(RIGHT, ("!!",) * 4)
    cell = judged(
        "shy",
        swept(
            *(replicates(f"q{q}", "11", temperature=0.5) for q in range(4)),
            *(
                replicates(f"q{q}", "!!", temperature=2.0, failed="refused: too hot")
                for q in range(4)
            ),
        ),
    )
    rows = tables(cell, WILD)["temperature_models"]
    assert {row["temperature"] for row in rows if row["model"] == "shy"} == {"all", 0.5}
    # Calls that failed otherwise have been asked, and have no outcome.
    rows = tables(judged("down", refused), WILD)["temperature_models"]
    (hot,) = [r for r in rows if r["model"] == "down" and r["temperature"] == 2.0]
    assert (hot["n"], hot["agreement"]) == (4, None)


@pytest.mark.usefixtures("without_extra")
def test_the_terminal_and_markdown_tell_the_models_apart() -> None:
    view = view_of(datasheet_of_cells([CALM, WILD]))
    lines = list(datasheet_lines(view))
    assert max(map(len, lines)) <= WIDTH
    text = " ".join(" ".join(lines).split())
    assert "temperature, 2 models pooled calm: agreement 1.000 [" in text
    assert "effect of >= 1.5 on agreement by model, paired: calm +0.000, wild -0.750" in text
    assert (
        "the effect on agreement depends on model, paired: -0.750 (wild) to +0.000 (calm)" in text
    )
    page = markdown(view)
    assert "Models at each temperature on" in page
    assert "the effect on agreement depends on model" in page


@pytest.mark.usefixtures("without_extra")
def test_datasheets_of_single_judges_are_joined_to_the_pool_of_all() -> None:
    def sheet(*cells: Cell) -> str:
        return datasheet_text(".json", view_of(datasheet_of_cells(cells)))

    apart = [(cell.judge, json.loads(sheet(cell))) for cell in (CALM, WILD)]
    joined, together = json.loads(joined_datasheets(apart)), json.loads(sheet(CALM, WILD))
    for one, other in zip(joined["judges"], together["judges"], strict=True):
        assert one["analyses"] == other["analyses"]


@pytest.mark.usefixtures("with_extra")
def test_the_model_is_a_covariate_of_aipw_and_a_feature_of_its_own() -> None:
    cells = [
        judged(name, softmax_cell(seed, questions=12, temperatures=(0.5, 2.0), evidence=(e,)))
        for seed, (name, e) in enumerate((("strong", 3.0), ("weak", 0.2)))
    ]
    found = tables(*cells, secondary=True)
    aipw = {
        row["level"]: row["value"]
        for row in found["model_effects"]
        if (row["method"], row["outcome"]) == ("aipw", "agreement")
    }
    paired = {
        row["level"]: row["value"]
        for row in found["model_effects"]
        if (row["method"], row["outcome"]) == ("paired", "agreement")
    }
    # Every question has been asked of every model on both sides: the two estimate one thing.
    assert set(aipw) == {"all", "strong", "weak"}
    for level, value in aipw.items():
        assert value == pytest.approx(paired[level], abs=1e-3)
    factors = [r["factor"] for r in found["model_importances"] if r["outcome"] == "agreement"]
    assert factors == ["temperature", "model"]
    features = {r.get("feature") for r in found["model_attributions"]}
    assert {"model=strong", "model=weak"} <= features


def test_the_tables_of_each_judge_are_what_they_are_without_the_others() -> None:
    alone = rows_of(WILD, "temperature_effects")
    sheet = datasheet_of_cells([CALM, WILD])
    wild = next(judge for judge in sheet.judges if judge.name == "wild")
    assert next(a["rows"] for a in wild.analyses if a["analysis"] == "temperature_effects") == alone
