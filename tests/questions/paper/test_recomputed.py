"""The papers' tables of two judges, recomputed from their logs with pandas, scipy and statsmodels.

One judge is embedded, the other answers on 127.0.0.1, in the form that each prompt asks for, and
sometimes in none. Counts, rates, kappa and Wilson's intervals are exact; effects are those of least
squares on the units, within one standard error.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
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
from statsmodels.stats.proportion import proportion_confint

from pytest_judgesense import paper
from pytest_judgesense.instruments.temperature.causal import unusable
from pytest_judgesense.questions.paper.answer import PaperAnswer
from tests.judges.endpoint import endpoint, says

pytestmark = pytest.mark.long

JUDGES = ("embedded:noisy", "loopback")
EXACT = {"rel": 0, "abs": 1e-9}
CATEGORIES = ("argument_quality", "evidence", "clash", "weighing")
SIDES = ("PRO", "CON")
TASKS = ("factuality", "coherence", "relevance", "preference")


# --- the judge on 127.0.0.1 -----------------------------------------------------------------------


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
    if CATEGORIES[0] in text:
        scores = {
            name: {side: round(2 + 7 * share(name, side, call)) for side in SIDES}
            for name in CATEGORIES
        }
        judged = {"winner": "PRO" if drawn < 0.6 else "CON", "scores": scores}
        return json.dumps({**judged, "confidence": round(drawn, 2), "short_reason": "so"})
    if "judge_result" in text:
        verdict: Any = "ABC"[int(3 * drawn)]
        if "a whole number from 1" in text:
            verdict = 1 + int(10 * drawn)
        reason = {"judge_reason": "so it is"} if "judge_reason" in text else {}
        reply = json.dumps({**reason, "judge_result": verdict})
        return f"Here: {reply}" if share("form", call) < 0.03 * (1 + temperature) else reply
    if "verdict" in text:
        return json.dumps({"verdict": ("A", "B", "tie")[int(3 * drawn)]})
    if "YES" in text:
        return "YES" if drawn < 0.5 else "NO"
    if "1 to 5" in text:
        return str(1 + int(5 * drawn))
    return "AB"[int(2 * drawn)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A project that declares the judge, which answers as long as the tests run."""
    folder = tmp_path_factory.mktemp("papers")
    with endpoint(says(Answers())) as served, pytest.MonkeyPatch.context() as here:
        (folder / "pyproject.toml").write_text(
            '[tool.judgesense.judges.loopback]\nprovider = "openai"\nmodel = "m"\n'
            f'base_url = "{served.url}"\n',
            encoding="utf-8",
        )
        here.chdir(folder)
        here.setenv("OPENAI_API_KEY", "none")
        yield folder


def asked(name: str, *, concurrency: int = 1) -> tuple[PaperAnswer, pd.DataFrame]:
    """The tables of both judges, and their log as pandas reads it."""
    answer = paper(name, JUDGES, quick=True, mode="record", concurrency=concurrency)
    ((_, text),) = answer.files(Path("x.jsonl"))
    frame = pd.DataFrame(map(json.loads, text().splitlines()))
    conditions = pd.json_normalize(frame["condition"].tolist()).add_prefix("c_")
    frame = pd.concat([frame, conditions], axis=1)
    for column in ("verdict", "chosen", "c_arm"):
        frame[column] = frame.get(column, None)
    return answer, frame


def rows(answer: PaperAnswer, name: str) -> list[dict[str, Any]]:
    (table,) = (one for one in answer.tables if one.name == name)
    return table.records()


def wilson(count: int, n: int) -> Any:
    return pytest.approx(proportion_confint(count, n, method="wilson"), **EXACT)


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


# --- debates --------------------------------------------------------------------------------------


def instability(calls: pd.DataFrame) -> dict[str, float]:
    parsed = calls[calls["verdict"].notna()]
    flips, score, confidence = [], [], []
    for _, runs in parsed.groupby("item"):
        if len(runs) < 2:
            continue
        flips.append(len({*runs["verdict"]}) > 1)
        spreads = [
            np.var([scores[name][side] for scores in runs["scores"]])
            for name, side in product(CATEGORIES, SIDES)
        ]
        score.append(np.mean(spreads))
        confidence.append(np.var(runs["confidence"].astype(float)))
    bias = abs((parsed["verdict"] == "PRO").mean() - 0.5)
    parts = {
        "flip rate": float(np.mean(flips)),
        "score variance": float(np.mean(score)),
        "confidence variance": float(np.mean(confidence)),
        "side bias": float(bias),
    }
    weighted = zip((3.0, 1.0, 0.5, 2.0), parts.values(), strict=True)
    return {**parts, "instability": sum(weight * part for weight, part in weighted)}


@pytest.mark.usefixtures("folder")
def test_tables_of_debates() -> None:
    answer, log = asked("debates")
    log["configuration"] = log["judge"] + ":" + log["template"]
    printed = rows(answer, "configurations")
    expected = {name: instability(calls) for name, calls in log.groupby("configuration")}
    assert {row["configuration"] for row in printed} == {*expected}
    for row in printed:
        for head, value in expected[row["configuration"]].items():
            assert row[head] == pytest.approx(value, **EXACT), (row["configuration"], head)
    order = sorted(expected, key=lambda name: expected[name]["instability"])
    assert [row["configuration"] for row in sorted(printed, key=lambda row: row["rank"])] == order
    for row in rows(answer, "prompts"):
        own = log[(log["judge"] == row["judge"]) & log["verdict"].notna()]
        winners = {}
        for (template, item), runs in own.groupby(["template", "item"]):
            counts = runs["verdict"].value_counts()
            if len(counts) == 1 or counts.iloc[0] > counts.iloc[1]:
                winners[template, item] = counts.index[0]
        first, second = row["prompts"].split("-")
        items = [
            item for item in own["item"].unique() if {(first, item), (second, item)} <= {*winners}
        ]
        differing = sum(winners[first, item] != winners[second, item] for item in items)
        assert row["n"] == len(items)
        assert row["disagreement"] == pytest.approx(differing / len(items), **EXACT)
        assert row["95% interval"] == wilson(differing, len(items))
    by_topic: dict[str, dict[str, float]] = defaultdict(dict)
    for (name, topic), calls in log.groupby(["configuration", "cluster"]):
        value = instability(calls)
        by_topic[name][topic] = value["instability"] - 2 * value["side bias"]
    pairs = rows(answer, "pairs")
    for row in pairs:
        first, second = by_topic[row["first"]], by_topic[row["second"]]
        differences = [first[topic] - second[topic] for topic in first]
        test = stats.ttest_1samp(differences, 0)
        assert row["difference"] == pytest.approx(np.mean(differences), **EXACT)
        assert row["t"] == pytest.approx(test.statistic, rel=1e-7)
        corrected = min(1.0, test.pvalue * len(pairs))
        assert row["p (Bonferroni)"] == pytest.approx(corrected, rel=1e-7)


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
