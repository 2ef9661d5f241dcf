"""The tables of the temperature paper of two judges, recomputed with pandas and statsmodels.

One judge is embedded, the other answers on 127.0.0.1, sometimes out of the form that is prescribed,
and sometimes with no verdict. Counts and rates are exact; effects are those of least squares on the
units, within one standard error.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm

from pytest_judgesense import paper
from pytest_judgesense.instruments.temperature.causal import unusable
from pytest_judgesense.questions.paper.answer import PaperAnswer
from tests.judges.endpoint import endpoint, says
from tests.questions.paper.printed_papers import table as rows

pytestmark = pytest.mark.long

JUDGES: Final = ("embedded:noisy", "loopback")
EXACT: Final[dict[str, Any]] = {"rel": 0, "abs": 1e-9}


class Answers:
    """Answers drawn by the digest of what is asked; a repeated request gets another draw."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()

    def __call__(self, body: dict[str, Any]) -> str:
        text = "\n".join(str(message["content"]) for message in body["messages"])
        request = json.dumps([text, body.get("seed"), body.get("temperature")])
        self.asked[request] += 1
        call = f"{request}{self.asked[request]}"
        temperature = float(body.get("temperature") or 0)
        # The same text mostly gets the same answer, a hotter call less often.
        drawn = share(call if share("noise", call) < 0.1 + 0.15 * temperature else text, "answer")
        if share("lost", call) < 0.04 + 0.02 * temperature:
            return "I cannot say."
        return in_form(text, drawn, call, temperature)


def share(*parts: str) -> float:
    """A number from 0 to 1, the same for the same texts."""
    digest = hashlib.sha256("|".join(parts).encode()).digest()
    return int.from_bytes(digest[:8], "big") / 2**64


def in_form(text: str, drawn: float, call: str, temperature: float) -> str:
    """What was drawn, in the form that a prompt asks for, or sometimes with words around it."""
    verdict: Any = "ABC"[int(3 * drawn)]
    if "a whole number from 1" in text:
        verdict = 1 + int(10 * drawn)
    reason = {"judge_reason": "so it is"} if "judge_reason" in text else {}
    reply = json.dumps({**reason, "judge_result": verdict})
    return f"Here: {reply}" if share("form", call) < 0.03 * (1 + temperature) else reply


@contextmanager
def second_judge(folder: Path) -> Iterator[Path]:
    """A project in a folder that declares the judge, which answers as long as it is asked there."""
    with endpoint(says(Answers())) as served, pytest.MonkeyPatch.context() as here:
        (folder / "pyproject.toml").write_text(
            '[tool.judgesense.judges.loopback]\nprovider = "openai"\nmodel = "m"\n'
            f'base_url = "{served.url}"\n',
            encoding="utf-8",
        )
        here.chdir(folder)
        here.setenv("OPENAI_API_KEY", "none")
        yield folder


def asked() -> tuple[PaperAnswer, pd.DataFrame]:
    """The tables of both judges, and their log as pandas reads it."""
    answer = paper("temperature", JUDGES, quick=True, mode="record", concurrency=8)
    ((_, text),) = answer.files(Path("x.jsonl"))
    frame = pd.DataFrame(map(json.loads, text().splitlines()))
    conditions = pd.json_normalize(frame["condition"].tolist()).add_prefix("c_")
    frame = pd.concat([frame, conditions], axis=1)
    return answer, frame


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
def swept(
    tmp_path_factory: pytest.TempPathFactory,
) -> tuple[PaperAnswer, pd.DataFrame, pd.DataFrame]:
    """The tables, the calls with what is counted of them, and the units with their outcomes."""
    with second_judge(tmp_path_factory.mktemp("papers")):
        answer, log = asked()
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
