"""The papers' tables of two judges, recomputed from their logs with pandas, scipy and statsmodels.

One judge is embedded, the other answers on 127.0.0.1, in the form that each prompt asks for, and
sometimes in none. Counts, rates, kappa and Wilson's intervals are exact; effects are those of least
squares on the units, within one standard error.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy import stats
from statsmodels.stats.inter_rater import cohens_kappa

from pytest_judgesense.instruments.temperature.causal import unusable
from pytest_judgesense.questions.paper.answer import PaperAnswer
from tests.questions.paper.printed_papers import table as rows
from tests.questions.paper.second_judge import EXACT, asked, second_judge, wilson

pytestmark = pytest.mark.long

TASKS = ("factuality", "coherence", "relevance", "preference")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with second_judge(tmp_path_factory.mktemp("papers")) as project:
        yield project


# --- JudgeSense -----------------------------------------------------------------------------------


def two_decisions(calls: pd.DataFrame, *, remapped: bool) -> pd.DataFrame:
    """The decisions of each pair with two of them, what an inverted wording says meant or left."""
    inverted = {
        template
        for template, condition in zip(calls["template"], calls["condition"], strict=True)
        if condition.get("polarity") == "inverted"
    }
    meaning = {"YES": "NO", "NO": "YES"}
    by_call = calls.set_index(["item", "order", "replicate", "template"])["verdict"]
    pairs = []
    for place in calls[["item", "order", "replicate"]].drop_duplicates().itertuples(index=False):
        for first, second in calls["design"].iloc[0]["pairs"]:
            if not remapped and inverted & {first, second}:
                continue
            said = [by_call.get((*place, name)) for name in (first, second)]
            if all(isinstance(word, str) for word in said):
                pairs.append(
                    [
                        meaning[word] if remapped and name in inverted else word
                        for name, word in zip((first, second), said, strict=True)
                    ]
                )
    return pd.DataFrame(pairs, columns=["a", "b"])


@pytest.mark.usefixtures("folder")
def test_table_1_of_judgesense() -> None:
    answer, log = asked("jss")
    printed = rows(answer, "table-1")
    assert [(row["judge"], row["task"]) for row in printed] == [
        *product(("loopback", "noisy"), TASKS)
    ]
    for row in printed:
        calls = log[(log["judge"] == row["judge"]) & log["suite"].str.startswith(row["task"])]
        pairs = two_decisions(calls, remapped=False)
        flips = int((pairs["a"] != pairs["b"]).sum())
        assert (row["n"], row["flips"]) == (len(pairs), flips)
        assert row["JSS"] == pytest.approx(1 - flips / len(pairs), **EXACT)
        labels = sorted({*pairs["a"], *pairs["b"]})
        both = pd.crosstab(pairs["a"], pairs["b"]).reindex(labels, axis=0).reindex(labels, axis=1)
        kappa = cohens_kappa(both.fillna(0).to_numpy()).kappa
        assert row["kappa"] == pytest.approx(kappa, **EXACT)
        assert row["unparsed"] == pytest.approx(calls["verdict"].isna().mean(), **EXACT)
        # Percentiles of 1,000 resamples lie within two pairs of those of the binomial.
        ends = stats.binom.ppf([0.025, 0.975], len(pairs), row["JSS"]) / len(pairs)
        if flips:
            assert row["95% interval"] == pytest.approx(ends, abs=2.01 / len(pairs))
        else:
            assert row["95% interval"] == wilson(len(pairs), len(pairs))
        if row["task"] == "factuality":
            meant = two_decisions(calls, remapped=True)
            assert row["JSS remapped"] == pytest.approx((meant["a"] == meant["b"]).mean(), **EXACT)


# --- the datasheet --------------------------------------------------------------------------------


def content(row: Any) -> str | None:
    """What the slot that a judge named held; a tie and an abstention are no preference."""
    if not isinstance(row.verdict, str):
        return None
    slots = {"A": "1", "B": "2"} if row.order == "ab" else {"A": "2", "B": "1"}
    return slots.get(row.verdict, "tie")


def of_pairs(calls: pd.DataFrame) -> dict[str, int]:
    """The counts behind the decomposition, over pairs with two parsed replies."""
    counted = Counter(n=0, RFP=0, SCS=0, PFP=0)
    for _, two in calls.groupby("item"):
        contents, slots = two["content"].tolist(), two["verdict"].tolist()
        if two["content"].isna().any() or len(contents) < 2:
            continue
        preferred = [one for one in contents if one != "tie"]
        counted["n"] += 1
        counted["RFP"] += len(preferred)
        if len(preferred) == 2:
            counted["SCS" if contents[0] == contents[1] else "PFP"] += 1
            assert (contents[0] == contents[1]) == (slots[0] != slots[1])
    return counted


@pytest.mark.usefixtures("folder")
def test_tables_of_the_datasheet() -> None:
    answer, log = asked("datasheet")
    log["content"] = [content(row) for row in log.itertuples()]
    # A number under the strict prompt is called so; those of the baseline come first.
    table_6 = {(row["judge"], row["measure"]): row for row in reversed(rows(answer, "table-6"))}

    def counted(judge: str, measure: str, count: int, n: int) -> None:
        row = table_6[judge, measure]
        assert (row["count"], row["n"]) == (count, n), (judge, measure)
        assert row["estimate"] == pytest.approx(count / n, **EXACT)
        assert row["95% interval"] == wilson(count, n)

    for row in rows(answer, "table-3"):
        judge = row["judge"]
        own = log[log["judge"] == judge]
        suite = own["suite"].str.partition("@")[0]
        vacuum = own[(suite == "vacuum") & own["content"].notna()]
        counted(judge, "DC", int((vacuum["content"] != "tie").sum()), len(vacuum))
        ladder = own[suite == "ladder"]
        equal = ladder[(ladder["c_distance"] == 0) & (ladder["c_subset"] == "same")]
        decomposed = of_pairs(equal)
        counted(judge, "RFP", decomposed["RFP"], 2 * decomposed["n"])
        counted(judge, "SCS", decomposed["SCS"], decomposed["n"])
        counted(judge, "PFP", decomposed["PFP"], decomposed["n"])
        for distance in (1, 5):
            at = ladder[(ladder["c_distance"] == distance) & ladder["content"].notna()]
            at = at[at["c_subset"] != "filler"]
            counted(judge, f"delta {distance}", int((at["content"] == at["label"]).sum()), len(at))
        parsed = equal[equal["content"].notna()]
        counted(judge, "tie rate at 0", int((parsed["content"] == "tie").sum()), len(parsed))
        for head in ("DC", "RFP", "SCS", "PFP", "delta 1", "delta 5"):
            assert row[head] == table_6[judge, head]["estimate"]
    for row in rows(answer, "table-4"):
        if row["prompt"] == "difference":
            continue
        own = log[(log["judge"] == row["judge"]) & log["suite"].str.startswith("criterion")]
        own = own[own["c_arm"] == row["prompt"]]
        decomposed = of_pairs(own[own["c_distance"] == 0])
        assert row["RFP"] == pytest.approx(decomposed["RFP"] / 2 / decomposed["n"], **EXACT)
        near = own[(own["c_distance"] == 1) & own["content"].notna()]
        right, tied = near["content"] == near["label"], near["content"] == "tie"
        for head, share_of in (
            ("delta 1", right),
            ("missed by tie at 1", tied),
            ("wrong at 1", ~right & ~tied),
        ):
            assert row[head] == pytest.approx(share_of.mean(), **EXACT)


# --- temperature ----------------------------------------------------------------------------------


PROMPT = ["judge", "c_judge_type", "c_prompt_style", "c_temperature"]
UNIT = [*PROMPT, "item"]
KEYS = {"direct": ["judge_result"], "reasoned": ["judge_reason", "judge_result"]}


def keeps_form(row: Any) -> bool:
    """Whether a reply is the objects that its prompt demands, and nothing else."""
    if not isinstance(row.reply, str):
        return False
    rest, read = row.reply.strip(), []
    while rest:
        try:
            value, end = json.JSONDecoder().raw_decode(rest)
        except ValueError:
            return False
        read.append(value)
        rest = rest[end:].strip()
    is_single = row.c_judge_type == "single"
    permitted = [*range(1, 11)] if is_single else ["A", "B", "C"]
    return len(read) == 1 + is_single and all(
        isinstance(value, dict)
        and sorted(value) == KEYS[row.c_prompt_style]
        and value["judge_result"] in permitted
        for value in read
    )


def consistency(runs: pd.DataFrame) -> float:
    said = runs.sort_values("replicate")["chosen"].dropna().tolist()
    pairs = list(pairwise(said))
    return 1 - float(np.mean([one != other for one, other in pairs])) if pairs else np.nan


@pytest.fixture(scope="module")
def swept(folder: Path) -> tuple[PaperAnswer, pd.DataFrame, pd.DataFrame]:
    """The tables, the calls with what is counted of them, and the units with their outcomes."""
    assert folder.is_dir()
    answer, log = asked("temperature", concurrency=8)
    log["parsed"] = log["verdict"].notna()
    log["right"] = (log["chosen"] == log["label"]).astype(float)
    log["ERR form"] = [float(not keeps_form(row)) for row in log.itertuples()]
    log["ERR verdict"] = (~log["parsed"]).astype(float)
    log["AGR"] = log["right"].where(log["parsed"])
    by_unit = log.groupby(UNIT)
    units = by_unit[["AGR", "ERR form", "ERR verdict"]].mean().reset_index()
    units["CON"] = [consistency(runs) for _, runs in by_unit]
    return answer, log, units


def selected(frame: pd.DataFrame, key: tuple[Any, ...]) -> pd.Series:
    """The rows of a judge under a prompt at a temperature."""
    of_each = (frame[column] == value for column, value in zip(PROMPT, key, strict=True))
    return pd.concat([*of_each], axis=1).all(axis=1)


def test_table_1_of_the_temperature(swept: Any) -> None:
    answer, log, units = swept
    printed = rows(answer, "table-1")
    assert len(printed) == 2 * 3 * 2 * 6
    for row in printed:
        key = row["judge"], row["judge type"], row["prompt"], float(row["T"])
        calls, own = (of[selected(of, key)] for of in (log, units))
        by_run = calls.groupby("replicate")
        assert row["n"] == len(calls)
        for head in ("AGR", "ERR form", "ERR verdict"):
            rates = by_run[head].mean().dropna()
            assert row[head] == pytest.approx(rates.mean(), **EXACT), (key, head)
            assert row[f"{head} sd"] == pytest.approx(rates.std(), **EXACT), (key, head)
        assert row["CON"] == pytest.approx(own["CON"].mean(), **EXACT)
        assert row["CON sd"] == pytest.approx(own["CON"].std(), **EXACT)
        right = by_run["right"].mean()
        assert row["AGR all"] == pytest.approx(right.mean(), **EXACT)
    by_data_set = rows(answer, "table-1-by-data-set")
    assert sum(row["n"] for row in by_data_set) == len(log)
    for row in by_data_set:
        key = row["judge"], row["judge type"], row["prompt"], float(row["T"])
        calls = log[selected(log, key) & (log["c_dataset"] == row["data set"])]
        rates = calls.groupby("replicate")["ERR verdict"].mean()
        assert row["ERR verdict"] == pytest.approx(rates.mean(), **EXACT)


def least_squares(units: pd.DataFrame, outcome: str) -> tuple[float, int]:
    """The effect of a temperature of 1.5 or more beside the covariates, and its units."""
    units = units[units[outcome].notna()]
    covariates = pd.get_dummies(
        units[["c_judge_type", "c_prompt_style", "judge"]], drop_first=True, dtype=float
    )
    hot = (units["c_temperature"] >= 1.5).astype(float).rename("hot")
    fitted = sm.OLS(units[outcome], sm.add_constant(pd.concat([hot, covariates], axis=1))).fit()
    return float(fitted.params["hot"]), len(units)


def test_effects_of_the_temperature(swept: Any) -> None:
    answer, _, units = swept
    if reason := unusable("lightgbm"):
        pytest.skip(reason)
    judged = {"prompt_style": "c_prompt_style", "model": "judge"}
    of_table_2 = [
        (units[units["c_judge_type"] == row["judge type"]], row["subgroup"], row)
        for row in rows(answer, "table-2")
    ]
    of_table_3 = [
        (units, "all" if row["prompt"] == "all" else f"prompt_style: {row['prompt']}", row)
        for row in rows(answer, "table-3")
    ]
    # Three judge types with all, two prompts and two models; all and two prompts; four outcomes.
    assert (len(of_table_2), len(of_table_3)) == (3 * 5 * 4, 3 * 4)
    for of, subgroup, row in (*of_table_2, *of_table_3):
        own = of
        if subgroup != "all":
            factor, _, level = subgroup.partition(": ")
            own = of[of[judged[factor]] == level]
        effect, n = least_squares(own, row["outcome"])
        assert row["N"] == n, (subgroup, row, [table.notes for table in answer.tables])
        lower, upper = row["95% interval"]
        error = (upper - lower) / (2 * 1.96)
        assert abs(row["ATE"] - effect) <= error + 1e-9, (subgroup, row)
