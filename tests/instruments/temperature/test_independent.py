"""A log of 1,728 calls, measured by the package and by pandas and statsmodels alone.

Twelve questions, three judge types, two styles, six temperatures, three replicates: 1,296 trials,
of which those of single answers take two calls.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy.stats import ttest_rel

from pytest_judgesense.instruments.temperature import causal
from pytest_judgesense.instruments.temperature.effects import PAPER
from pytest_judgesense.instruments.temperature.sweep import series_of
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.measures.cell_estimates import estimate_all
from pytest_judgesense.report.log import log_lines
from pytest_judgesense.report.logged_cells import cells_of_logs
from pytest_judgesense.trial import Judgment

from .sweeps import SWEEP, replicates, tables_of

TEMPERATURES = (0.01, 0.5, 1.0, 1.5, 2.0, 3.0)
TYPES = ("single", "pairwise", "reference")
STYLES = ("direct", "reasoned")
UNIT = ["question", "judge_type", "prompt_style", "temperature"]
EXACT: dict[str, Any] = {"rel": 0, "abs": 1e-9}


def _drawn() -> Iterator[Judgment]:
    draw = np.random.default_rng(7)
    for question in range(12):
        gold = "12t"[question % 3]
        others = [letter for letter in "12t" if letter != gold]
        for kind in TYPES:
            for style in STYLES:
                for at in TEMPERATURES:
                    lost, wrong = 0.04 * at, 0.1 + 0.12 * at + 0.05 * (kind == "pairwise")
                    shares = [1 - lost - wrong, wrong / 2, wrong / 2, lost]
                    said = "".join(draw.choice([gold, *others, "?"], size=3, p=shares))
                    yield from replicates(
                        f"q{question:02}",
                        said,
                        gold={"t": "tie"}.get(gold, gold),
                        temperature=at,
                        judge_type=kind,
                        prompt_style=style,
                    )


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("log") / "sweep.jsonl"
    path.write_text("".join(f"{line}\n" for line in log_lines(_drawn(), SWEEP)), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def frame(log: Path) -> pd.DataFrame:
    """The log as pandas reads it."""
    lines = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    return pd.DataFrame(
        {
            **{key: line["condition"][key] for key in UNIT[1:]},
            "question": line["item"],
            "replicate": line["replicate"],
            "said": line.get("chosen"),
            "parsed": "verdict" in line,
            "right": float(line.get("chosen") == line["label"]),
        }
        for line in lines
    )


@pytest.fixture(scope="module")
def cell(log: Path) -> Cell:
    (found,) = cells_of_logs([log])
    return found


@pytest.fixture(scope="module")
def tables(cell: Cell) -> dict[str, Any]:
    return tables_of(cell)


def test_the_log_holds_1728_calls(frame: pd.DataFrame) -> None:
    assert int((1 + (frame["judge_type"] == "single")).sum()) == 1728
    assert 0 < (~frame["parsed"]).sum() < len(frame)


def test_agreement_over_parsed_replies(
    cell: Cell, frame: pd.DataFrame, tables: dict[str, Any]
) -> None:
    parsed = frame[frame["parsed"]]
    (pooled,) = [
        one for one in estimate_all(cell) if one.measure == "agreement_parsed" and not one.condition
    ]
    assert (pooled.count, pooled.n) == (parsed["right"].sum(), len(parsed))
    rows = {
        tuple(row[key] for key in UNIT[1:]): row
        for row in tables["temperature_table"]
        if "all" not in [row[key] for key in UNIT[1:]]
    }
    wanted = parsed.groupby([*UNIT[1:], "replicate"])["right"].mean().groupby(level=[0, 1, 2])
    assert len(rows) == 36
    for key, of in wanted:
        assert rows[key]["agreement_parsed_mean"] == pytest.approx(of.mean(), **EXACT)
        assert rows[key]["agreement_parsed_sd"] == pytest.approx(of.std(ddof=1), **EXACT)


def units(frame: pd.DataFrame) -> pd.DataFrame:
    """A row for each question under a prompt at a temperature, with its outcomes."""
    found = frame.groupby(UNIT)[["right", "parsed"]].mean()
    found["agreement"] = found["right"]
    found["agreement_parsed"] = frame[frame["parsed"]].groupby(UNIT)["right"].mean()
    found["error_rate"] = 1 - found["parsed"]

    def unchanged(of: pd.DataFrame) -> float:
        said = of[of["parsed"]].sort_values("replicate")["said"].to_numpy()
        return np.nan if said.size < 2 else float((said[1:] == said[:-1]).mean())

    found["consistency"] = frame.groupby(UNIT)[["said", "parsed", "replicate"]].apply(unchanged)
    return found.reset_index()


OUTCOMES = ("agreement", "agreement_parsed", "consistency", "error_rate")


def test_paired_effects_and_correlations(frame: pd.DataFrame, tables: dict[str, Any]) -> None:
    of = units(frame)
    of["high"] = of["temperature"] >= 1.5
    effects = {
        (row["outcome"], row["group"], row["level"]): row
        for row in tables["temperature_effects"]
        if row["method"] == "paired"
    }
    correlations = {
        (row["level"], row["x"], row["y"]): row["r"] for row in tables["temperature_correlations"]
    }
    for outcome in OUTCOMES:
        sides = of.pivot_table(outcome, UNIT[:3], "high")
        differences = (sides[True] - sides[False]).dropna()
        row = effects[outcome, "overall", "all"]
        assert row["value"] == pytest.approx(differences.mean(), **EXACT)
        assert row["n"] == len(differences)
        for kind in TYPES:
            part = differences.xs(kind, level="judge_type").mean()
            assert effects[outcome, "judge_type", kind]["value"] == pytest.approx(part, **EXACT)
        known = of[["temperature", outcome]].dropna()
        r = np.corrcoef(known["temperature"], known[outcome])[0, 1]
        assert correlations["rows", "temperature", outcome] == pytest.approx(r, **EXACT)
        means = known.groupby("temperature")[outcome].mean()
        r = np.corrcoef(means.index.to_numpy(), means)[0, 1]
        assert correlations["means", "temperature", outcome] == pytest.approx(r, **EXACT)


def test_moderation_by_style_is_the_paired_t_test(
    frame: pd.DataFrame, tables: dict[str, Any]
) -> None:
    of = units(frame)
    of["high"] = of["temperature"] >= 1.5
    rows = {
        row["outcome"]: row
        for row in tables["temperature_moderation"]
        if (row["method"], row["factor"]) == ("paired", "prompt_style")
    }
    for outcome in ("agreement", "error_rate"):  # which every unit has
        sides = of.pivot_table(outcome, UNIT[:3], "high")
        lost = (sides[True] - sides[False]).groupby(["prompt_style", "question"]).mean()
        test = ttest_rel(lost["direct"], lost["reasoned"])
        assert rows[outcome]["F"] == pytest.approx(test.statistic**2, **EXACT)
        assert rows[outcome]["p"] == pytest.approx(test.pvalue, **EXACT)


def _ols(psi: np.ndarray, questions: np.ndarray) -> tuple[Any, Any]:
    """The mean of scores by least squares on a constant: plain, and clustered by question."""
    model = sm.OLS(psi, np.ones(psi.size))
    clustered = model.fit(cov_type="cluster", cov_kwds={"groups": questions}, use_t=True)
    return model.fit(), clustered


@pytest.mark.usefixtures("with_extra")
@pytest.mark.parametrize("outcome", ["agreement_parsed", "consistency"])
def test_intervals_of_the_causal_effect(cell: Cell, tables: dict[str, Any], outcome: str) -> None:
    series = series_of(cell)
    columns = np.column_stack(
        [of for *_, of in series.several("judge_type", "prompt_style")]
    ).astype(float)
    rows = {
        row["method"]: row
        for row in tables["temperature_effects"]
        if (row["outcome"], row["group"]) == (outcome, "overall")
    }
    values = {outcome: series.values[outcome]}  # noqa: PD011 - no frame
    for method, clusters in (("aipw", series.question), (PAPER, np.arange(series.question.size))):
        scores = causal.effect_scores(columns, series.high, values, clusters, cell.seed)
        assert not isinstance(scores, str)
        of = scores[outcome]
        assert not isinstance(of, str)
        known = np.isfinite(of.psi)
        plain, clustered = _ols(of.psi[known], series.question[known])
        row = rows[method]
        assert row["n"] == known.sum()
        assert row["value"] == pytest.approx(plain.params[0], **EXACT)
        low, high = clustered.conf_int()[0]
        ends = ("lower", "upper") if method == "aipw" else ("clustered_lower", "clustered_upper")
        assert [row[end] for end in ends] == pytest.approx([low, high], **EXACT)
        if method == PAPER:
            # 1.96 standard errors of a mean of independent scores, s with n - 1.
            half = 1.96 * plain.bse[0]
            assert row["lower"] == pytest.approx(row["value"] - half, **EXACT)
            assert row["upper"] == pytest.approx(row["value"] + half, **EXACT)
            assert row["interval"] == "1.96 s / sqrt N"


@pytest.mark.usefixtures("with_extra")
def test_the_paper_fits_each_subgroup_anew(cell: Cell, tables: dict[str, Any]) -> None:
    series = series_of(cell)
    (kind,) = [of for _, value, of in series.several("judge_type") if value == "pairwise"]
    columns = np.column_stack(
        [of for *_, of in series.several("judge_type", "prompt_style")]
    ).astype(float)
    outcome = "agreement_parsed"
    scores = causal.effect_scores(
        columns[kind],
        series.high[kind],
        {outcome: series.values[outcome][kind]},  # noqa: PD011 - no frame
        np.arange(kind.sum()),
        cell.seed,
    )
    assert not isinstance(scores, str)
    psi = scores[outcome].psi  # type: ignore[union-attr]
    (row,) = [
        row
        for row in tables["temperature_effects"]
        if (row["method"], row["outcome"], row["level"]) == (PAPER, outcome, "pairwise")
    ]
    assert row["value"] == pytest.approx(np.nanmean(psi), **EXACT)
    # Another value than that of the pooled fit restricted to the group.
    (pooled,) = [
        row
        for row in tables["temperature_effects"]
        if (row["method"], row["outcome"], row["level"]) == ("aipw", outcome, "pairwise")
    ]
    assert row["value"] != pooled["value"]
