r"""Tables beside the measures of a temperature sweep: plain values, as in datasheets.

``temperature_table``: mean and standard deviation by temperature, judge type and prompt style, and
by the margins of these (``all``), by model, by data set and by source of the gold label where there
are several:
of agreement and error rate over the replicates (the rate of each replicate over the questions), of
consistency over the questions. Standard deviations divide by n - 1; one value has none.

``temperature_correlations``: Pearson's r of temperature, agreement, consistency and error rate:
over the means of the temperatures (``means``, by model as well), and over the series (``rows``).

``temperature_effects``: what a temperature at or above the threshold changes in each outcome,
overall and by level of each factor, by three methods: ``aipw`` (see `causal`), ``paired`` (the mean
difference within a question, prompt and model), and ``pair``, the same between any two
temperatures. The sweep is a full factorial, so the three estimate one thing; ``aipw`` is
right also where a log is not. Intervals are clustered by question.

``temperature_moderation``: for each factor, the differences between the effects of its levels, and
a test of them (see `effects`).

``temperature_attributions`` and ``temperature_attribution_points``: SHAP values of an outcome model
by feature (see `causal`), and a sample of them to be drawn; ``temperature_importances``: the same
summed by factor.

``temperature_majority``: agreement of a vote of k at each temperature, and its calls;
``temperature_votes``: such a vote against one call at the lowest temperature (see `votes`).
``temperature_errors``: replies without a verdict, calls without a reply and replies that do not
keep the prescribed form, by reason.
``temperature_replies``: by temperature, judge type and prompt style the mean length of replies and
of the reasons in them, in words, their tokens where the endpoint counts them, and the share of
verdicts that are ties.

A value that cannot be computed is ``unavailable``, with the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from operator import itemgetter
from typing import Final

import numpy as np

from pytest_judgesense.datasheets import sections
from pytest_judgesense.estimate import Estimate, number_text
from pytest_judgesense.instruments.temperature.effects import (
    ALL,
    PAPER,
    Row,
    Rows,
    attribution_tables,
    effect_tables,
    outcomes_in,
)
from pytest_judgesense.instruments.temperature.estimators import calls_of, vote_contrasts
from pytest_judgesense.instruments.temperature.measures import MAJORITY_AGREEMENT, RESTATED
from pytest_judgesense.instruments.temperature.stimuli import deviations, reason_count, word_count
from pytest_judgesense.instruments.temperature.sweep import (
    FACTORS,
    FAILED,
    OUT,
    SOURCES,
    UNPARSED,
    VERDICT,
    Flags,
    Floats,
    PooledSeries,
    Series,
    Sweep,
    Value,
    means_of,
    series_of,
    sweep_of,
)
from pytest_judgesense.measures.cell import Cell, once_a_cell
from pytest_judgesense.stats.inputs import compact_codes
from pytest_judgesense.text.shown_change import ShownChange, ends_text
from pytest_judgesense.trial import TIE, grouped

_REASONS: Final = 20  # of a temperature; the rest is summed up
_COLUMNS: Final = {
    "agreement": "agreement",
    "agreement_parsed": "of the parsed",
    "consistency": "consistency",
    "error_rate": "error rate",
}
_LEVEL: Final = 0.05
_FEATURES: Final = 3  # of an attribution that are named


def rows(name: str, cell: Cell, estimates: Sequence[Estimate], _: object) -> Rows | None:
    """The table of that name; ``None`` where no temperature is known."""
    sweep = sweep_of(cell)
    if "temperature" not in sweep.levels:
        return None
    return list(_TABLES[name](sweep, series_of(cell), estimates))


@once_a_cell
def _effects(cell: Cell) -> tuple[Rows, Rows]:
    return effect_tables(series_of(cell))


@once_a_cell
def _attributions(cell: Cell) -> tuple[Rows, Rows, Rows]:
    return attribution_tables(series_of(cell))


def _table(sweep: Sweep, series: Series) -> Iterator[Row]:
    """Rows by the three factors, then margins, then the same by each source."""
    kinds = [key for key in FACTORS if key in sweep.levels and key != "temperature"]
    several = [key for key in SOURCES if key in sweep.levels and len(sweep.levels[key][0]) > 1]
    for source in ((), *((key,) for key in several)):
        for size in range(len(kinds), -1, -1):
            for chosen in combinations(kinds, size):
                for keys in ((*chosen, "temperature"), chosen):
                    yield from _spreads(sweep, series, (*keys, *source))


def _spreads(sweep: Sweep, series: Series, keys: Sequence[str]) -> Iterator[Row]:
    codes, conditions = sweep.codes(keys)
    replicates, replicate = compact_codes(sweep.replicate)
    shape = len(conditions), replicates.size
    place = codes * replicates.size + replicate

    def sums(of: Flags) -> Floats:
        return np.bincount(place[of], minlength=shape[0] * shape[1]).reshape(shape).astype(float)

    parsed, unparsed = sweep.state == VERDICT, sweep.state == UNPARSED
    labelled = sweep.gold >= 0
    right = parsed & labelled & (sweep.content == sweep.gold)
    rates = {
        "agreement": (sums(right), sums((parsed | unparsed) & labelled)),
        "agreement_parsed": (sums(right), sums(parsed & labelled)),
        "error_rate": (sums(unparsed), sums(parsed | unparsed)),
    }
    formed = (sweep.form >= 0) & (sweep.state != OUT)
    if formed.any():
        rates["format_error_rate"] = sums(formed & (sweep.form == 1)), sums(formed)
    of_series = codes[series.first]
    counted = np.bincount(codes[sweep.state != OUT], minlength=len(conditions))
    for code, condition in enumerate(conditions):
        row: Row = {key: condition.get(key, ALL) for key in FACTORS}
        row |= {key: condition[key] for key in SOURCES if key in condition}
        row["n"] = int(counted[code])
        for name, (ones, all_) in rates.items():
            some = all_[code] > 0
            row |= _spread(name, ones[code][some] / all_[code][some])
        values = series.values["consistency"][of_series == code]
        row |= _spread("consistency", values[np.isfinite(values)])
        yield row


def _spread(name: str, values: Floats) -> dict[str, float | None]:
    return {
        f"{name}_mean": float(values.mean()) if values.size else None,
        f"{name}_sd": float(values.std(ddof=1)) if values.size > 1 else None,
    }


def correlation_rows(series: PooledSeries) -> Iterator[Row]:
    """Pearson's r of the temperature and the outcomes, two at a time.

    Over the means of the temperatures, over the series, and over the means of each model.
    """
    outcomes = {name: series.values[name] for name in outcomes_in(series)}
    columns = {"temperature": series.temperature} | outcomes
    temperatures, level = np.unique(series.temperature, return_inverse=True)

    def of(level: str, table: Mapping[str, Floats], **condition: Value) -> Iterator[Row]:
        for x, y in combinations(table, 2):
            both = np.isfinite(table[x]) & np.isfinite(table[y])
            r = _pearson(table[x][both], table[y][both])
            yield {"level": level, **condition, "x": x, "y": y, "r": r, "n": int(both.sum())}

    def means(within: Flags) -> dict[str, Floats]:
        return {
            name: means_of(v[within], level[within], temperatures.size)
            for name, v in columns.items()
        }

    yield from of("means", means(np.ones(level.size, dtype=bool)))
    yield from of("rows", columns)
    for _, model, within in series.several("model"):
        yield from of("means", means(within), model=model)


def _pearson(x: Floats, y: Floats) -> float | None:
    """Pearson's r; ``None`` for fewer than three pairs, or where one does not vary."""
    if x.size < 3 or np.ptp(x) < 1e-12 or np.ptp(y) < 1e-12:
        return None
    return float(np.corrcoef(x, y)[0, 1])


def _majority(sweep: Sweep, series: Series, estimates: Sequence[Estimate]) -> Iterator[Row]:
    each = calls_of(sweep, series)
    for estimate in estimates:
        if estimate.measure != MAJORITY_AGREEMENT.name or "temperature" not in estimate.condition:
            continue
        temperature, k = estimate.condition["temperature"], int(estimate.condition["k"])
        yield {
            "temperature": temperature,
            "k": k,
            "agreement": estimate.value,
            "lower": estimate.clustered and estimate.clustered.lower,
            "upper": estimate.clustered and estimate.clustered.upper,
            "n": estimate.n,
            "calls": float(k * each[series.temperature == temperature].mean()),
            **({"unavailable": estimate.unavailable} if estimate.value is None else {}),
        }


def _errors(sweep: Sweep) -> Iterator[Row]:
    values, codes = sweep.levels["temperature"]
    words = {UNPARSED: "unparsed", FAILED: "failed", OUT: "refused"}
    for code, temperature in enumerate(values):
        for state, word in words.items():
            reasons_given = sweep.reason[(codes == code) & (sweep.state == state)]
            counts = np.bincount(reasons_given, minlength=len(sweep.reasons)).tolist()
            with_counts = zip(sweep.reasons, counts, strict=True)
            ranked = sorted(
                ((reason, n) for reason, n in with_counts if n), key=lambda r: (-r[1], r[0])
            )
            shown, rest = ranked[:_REASONS], ranked[_REASONS:]
            if rest:
                shown.append((f"{len(rest)} other reasons", sum(n for _, n in rest)))
            for reason, n in shown:
                yield {"temperature": temperature, "outcome": word, "reason": reason, "n": n}
        deviation, deviates = deviations(sweep.cell)
        inside = (codes == code) & (sweep.state != OUT)
        for place, reason in enumerate(deviates):
            if n := int((inside & (deviation == place)).sum()):
                yield {"temperature": temperature, "outcome": "form", "reason": reason, "n": n}


def _replies(sweep: Sweep) -> Iterator[Row]:
    """Lengths of replies and undecided verdicts, by the three factors and their margins."""
    judgments = sweep.cell.judgments
    received = (sweep.state == VERDICT) | (sweep.state == UNPARSED)
    words = np.array([word_count(judgment.reply) for judgment in judgments])
    reasons = np.array([reason_count(judgment.reply) for judgment in judgments])
    tokens = np.array(
        [np.nan if (n := judgment.usage.completion_tokens) is None else n for judgment in judgments]
    )
    ties = np.array([judgment.chosen == TIE for judgment in judgments])
    kinds = [key for key in FACTORS if key in sweep.levels and key != "temperature"]
    for size in (0, len(kinds)):
        for keys in ((*kinds[:size], "temperature"), kinds[:size]):
            codes, conditions = sweep.codes(keys)
            for code, condition in enumerate(conditions):
                of = codes == code
                replies, verdicts = of & received, of & (sweep.state == VERDICT)
                row: Row = {key: condition.get(key, ALL) for key in FACTORS}
                row["n"] = int(replies.sum())
                for name, values in (("words", words), ("reason_words", reasons)):
                    row |= _spread(name, values[replies & np.isfinite(values)])
                row |= _spread("completion_tokens", tokens[replies & np.isfinite(tokens)])
                row["ties"], row["verdicts"] = int((ties & verdicts).sum()), int(verdicts.sum())
                row["tie_rate"] = row["ties"] / row["verdicts"] if row["verdicts"] else None
                yield row


# Each is made by itself: some take seconds, and a summary shows few of them.
_TABLES: Final[Mapping[str, Callable[[Sweep, Series, Sequence[Estimate]], Iterable[Row]]]] = {
    "temperature_table": lambda sweep, series, _: _table(sweep, series),
    "temperature_correlations": lambda _, series, __: correlation_rows(series),
    "temperature_effects": lambda sweep, *_: _effects(sweep.cell)[0],
    "temperature_moderation": lambda sweep, *_: _effects(sweep.cell)[1],
    "temperature_attributions": lambda sweep, *_: _attributions(sweep.cell)[0],
    "temperature_importances": lambda sweep, *_: _attributions(sweep.cell)[1],
    "temperature_attribution_points": lambda sweep, *_: _attributions(sweep.cell)[2],
    "temperature_majority": _majority,
    "temperature_votes": lambda sweep, series, _: vote_contrasts(sweep, series),
    "temperature_errors": lambda sweep, *_: _errors(sweep),
    "temperature_replies": lambda sweep, *_: _replies(sweep),
}


# --- in words -------------------------------------------------------------------------------------


def table_lines(rows: sections.TableRows) -> Iterator[str]:
    """By temperature; by judge type and prompt style over all of them."""
    named: list[tuple[str, sections.TableRow]] = []
    by_prompt: list[tuple[str, sections.TableRow]] = []
    for row in rows:
        kind, temperature = [str(row["judge_type"]), str(row["prompt_style"])], row["temperature"]
        if not {*SOURCES}.isdisjoint(row):
            continue
        if temperature == ALL and ALL not in kind:
            by_prompt.append((", ".join(kind), row))
        elif temperature != ALL and kind == [ALL, ALL]:
            named.append((f"temperature {temperature:g}", row))
    named += by_prompt
    head = "".join(f"{word:<16}" for word in _COLUMNS.values())
    yield f"{'mean (standard deviation)':<26}{'n':>6}  {head}".rstrip()
    for name, row in named:
        cells = "".join(f"{_mean_text(row, column):<16}" for column in _COLUMNS)
        yield f"{name:<26}{row['n']:>6}  {cells}".rstrip()
    by = "".join(f", by {key}" for key in SOURCES if any(key in row for row in rows))
    rest = len(rows) - len(named)
    yield f"{rest} further rows by temperature, judge type and prompt style{by}: in the files"


def _mean_text(row: sections.TableRow, column: str) -> str:
    mean, sd = row[f"{column}_mean"], row[f"{column}_sd"]
    if mean is None:
        return "N/A"
    return number_text(mean) + ("" if sd is None else f" ({number_text(sd)})")


def majority_lines(rows: sections.TableRows) -> Iterator[str]:
    """The agreement of a vote of several calls, and its cost."""
    with_agreement = (row for row in rows if row["agreement"] is not None)
    for temperature, some in grouped(with_agreement, itemgetter("temperature")).items():
        votes = [
            f"k {row['k']} {number_text(row['agreement'])} "
            f"({row['calls']:.3g} call{'s' * (row['calls'] != 1)})"
            for row in some
        ]
        yield f"agreement of a vote of k at temperature {temperature:g}: {', '.join(votes)}"


def votes_lines(rows: sections.TableRows) -> Iterator[str]:
    """For each temperature the largest vote that differs from one call at the lowest one."""
    apart = {row["temperature"]: row for row in rows if row["k"] > 1 and row["p_holm"] <= _LEVEL}
    for temperature, row in apart.items():
        vote = f"a vote of {row['k']} at temperature {temperature:g}"
        beside = f"often than one call at {row['cold']:g}"
        ends = None if row["lower"] is None else (row["lower"], row["upper"])
        sentence = ShownChange(row["value"], ends).sentence(
            above=f"{vote} agrees more {beside}",
            below=f"{vote} agrees less {beside}",
            neither=f"{vote} agrees neither visibly more nor less {beside}",
            text_of="{:+.3f}".format,
        )
        yield (
            f"{sentence}, p {row['p_holm']:.3g} after Holm, {row['calls']:.3g} calls for "
            f"{row['calls_cold']:.3g}"
        )


def moderation_lines(rows: sections.TableRows) -> Iterator[str]:
    """The factors whose levels differ in their effects."""
    for row in rows:
        if row["outcome"] in RESTATED:
            continue
        if row["p_holm"] is not None and row["p_holm"] <= _LEVEL:
            yield (
                f"the effect on {row['outcome']} depends on {row['factor']}, {row['method']}: "
                f"{row['least']:+.3f} ({row['least_at']}) to {row['most']:+.3f} "
                f"({row['most_at']}), p {row['p_holm']:.3g} after Holm"
            )


def correlations_lines(rows: sections.TableRows) -> Iterator[str]:
    """Correlations over the means of temperatures."""
    pairs = [
        f"{row['x']} and {row['y']} {number_text(row['r'])}"
        for row in rows
        if row["level"] == "means"
        and "model" not in row
        and row["r"] is not None
        # An outcome that restates another is almost the same row.
        and RESTATED.keys().isdisjoint((row["x"], row["y"]))
    ]
    if pairs:
        yield f"correlation of the means of temperatures: {', '.join(pairs)}"


def effects_lines(rows: sections.TableRows) -> Iterator[str]:
    """The two effects of the threshold on each outcome; a shared reason is printed once."""
    reasons: dict[str, None] = {}
    overall = {(r["method"], r["outcome"]): r for r in rows if r["group"] == "overall"}
    for (method, outcome), row in overall.items():
        if method in ("pair", PAPER) or _restates(overall, method, outcome):
            continue
        if row["value"] is None:
            why = f"effect of a high temperature, {row['method']}: N/A, {row['unavailable']}"
            reasons[why] = None
            continue
        text = f"effect of {row['high']} on {row['outcome']}, {row['method']}: {row['value']:+.3f}"
        if row["lower"] is not None:
            text += f" {ends_text((row['lower'], row['upper']), '{:+.3f}'.format)}"
        paper = overall.get((PAPER, outcome)) if method == "aipw" else None
        if paper and paper["lower"] is not None:
            text += f", as in the paper {paper['value']:+.3f} "
            text += f"[{paper['lower']:+.3f}, {paper['upper']:+.3f}]"
        text += f", n {row['n']} of {row['questions']} questions"
        if "propensity_min" in row:
            low, high = row["propensity_min"], row["propensity_max"]
            text += f", propensities {low:.2f} to {high:.2f}, {row['clipped']} clipped"
        yield text
    yield from reasons


def _restates(
    overall: Mapping[tuple[str, str], sections.TableRow], method: str, outcome: str
) -> bool:
    """Whether an outcome has the very effect of the one that it restates."""
    other = overall.get((method, RESTATED.get(outcome, "")))
    own = overall[method, outcome]["value"]
    return other is not None and (own is None or own == other["value"])


def replies_lines(rows: sections.TableRows) -> Iterator[str]:
    """Length of reasons and share of ties by temperature."""
    texts = [
        f"at {row['temperature']:g} {row['reason_words_mean']:.3g} words, "
        f"{row['tie_rate']:.1%} ties"
        for row in rows
        if row["temperature"] != ALL
        and {row["judge_type"], row["prompt_style"]} == {ALL}
        and row["reason_words_mean"] is not None
        and row["tie_rate"] is not None
    ]
    if texts:
        yield f"reasons and undecided verdicts: {'; '.join(texts)}"


def attributions_lines(rows: sections.TableRows) -> Iterator[str]:
    """The features that affect each outcome most; a missing package is named with the effects."""
    moved = (r for r in rows if r.get("value", 0) > 0 and r["outcome"] not in RESTATED)
    of = grouped(moved, itemgetter("outcome"))
    for outcome, features in of.items():
        moving = [
            f"{row['feature']} {number_text(row['value'])} (se {number_text(row['se'])}, "
            f"{'up' if row['direction'] > 0 else 'down'})"
            for row in sorted(features, key=lambda row: -row["value"])[:_FEATURES]
        ]
        yield f"the fitted model of {outcome} uses (mean |SHAP|): {', '.join(moving)}"
