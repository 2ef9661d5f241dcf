"""Where a judge stands: its tier, the template that flips most, reviews, and the leaderboard. Pure.

Analyses are plain values, ``{"analysis", "suite", "rows"}``, as datasheets hold them.

Tiers (JudgeSense, arXiv 2604.23478)::

    high      JSS >= 0.9 and kappa >= 0.8       fit for pipelines whose prompts vary
    moderate  0.8 <= JSS < 0.9                  only with one fixed prompt
    low       JSS < 0.8                         a noise source wherever wording varies

JSS >= 0.9 with kappa below 0.8 is moderate, and says why. A degenerate judge has no tier and no
place in a leaderboard: one answer for everything is not stability. On pairwise suites its
first-slot rate over both orders tells a slot from a content.

A template's flips are those of all pairs that it belongs to, so one bad wording in a ring of five
stands out with twice the flips of its neighbours.

Reviewers' kappa is Cohen's over YES, NO and UNSURE, on the pairs that both have reviewed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, Final, TypeAlias

from pytest_judgesense.datasheet.sweeping import sweep_lines
from pytest_judgesense.estimate import Estimate, find_estimate
from pytest_judgesense.instruments.paraphrase.estimators import meaning, paraphrase_pairs
from pytest_judgesense.instruments.temperature.checks import recommendations
from pytest_judgesense.instruments.temperature.tables import temperature_analyses
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.stats.agreement import cohen_kappa
from pytest_judgesense.suites.suite import Review, Suite, template_pairs
from pytest_judgesense.trial import Failed, Unparsed

__all__ = [
    "LEADERBOARD",
    "Analysis",
    "analyses_of",
    "analysis_lines",
    "leaderboards",
    "setting_notices",
    "tier_of",
    "wording_analyses",
]

Analysis: TypeAlias = Mapping[str, Any]

# The one analysis that is no judge's own: it is drawn up anew when datasheets are joined.
LEADERBOARD: Final = "leaderboard"

_HIGH_JSS: Final = 0.9
_HIGH_KAPPA: Final = 0.8
_MODERATE_JSS: Final = 0.8
# Settings that change what a judge can say, beside its prompts and its temperature.
_BUDGETS: Final = ("max_tokens", "reasoning")


def tier_of(jss: float, kappa: float) -> tuple[str, str | None]:
    """The tier of a judge that is not degenerate, and what flags it, if anything does."""
    if jss < _MODERATE_JSS:
        return "low", None
    if jss < _HIGH_JSS:
        return "moderate", None
    if kappa < _HIGH_KAPPA:
        return "moderate", f"kappa {kappa:.3f} is below {_HIGH_KAPPA:g}"
    return "high", None


def analyses_of(
    cell: Cell, estimates: tuple[Estimate, ...], suite: Suite | None = None
) -> tuple[Analysis, ...]:
    """All tables of a cell, of whatever kind; ``suite``: where it is known, not only its log."""
    return (
        *wording_analyses(cell, estimates, suite.reviews if suite else ()),
        *temperature_analyses(cell, estimates),
        *recommendations(suite.checks if suite else (), cell.suite, estimates),
    )


def wording_analyses(
    cell: Cell, estimates: tuple[Estimate, ...], reviews: Sequence[Review] = ()
) -> tuple[Analysis, ...]:
    """The tier of a cell, the table of its templates, and what reviewers say of their pairs.

    Nothing where wording does not vary; no reviews where there are none.
    """
    jss = find_estimate(estimates, "jss")
    if jss is None or len(cell.templates) < 2:
        return ()
    tables = {"tier": [_tier_row(jss, estimates)], "templates": _template_rows(cell)}
    if reviews:
        tables["equivalence"] = _review_rows(cell, reviews)
    return tuple(
        {"analysis": name, "suite": cell.suite, "rows": rows} for name, rows in tables.items()
    )


def _tier_row(jss: Estimate, estimates: tuple[Estimate, ...]) -> dict[str, Any]:
    kappa = find_estimate(estimates, "kappa")
    value = None if kappa is None else kappa.value
    degenerate = "degenerate" in jss.flags
    tier, note = None, None
    if degenerate:
        note = _what_is_constant(find_estimate(estimates, "first_slot_rate"))
    elif jss.value is None or kappa is None or value is None:
        note = jss.unavailable or (None if kappa is None else kappa.unavailable)
    else:
        tier, note = tier_of(jss.value, value)
        if value < 0:
            note = f"kappa {value:.3f} is negative: two wordings pull apart"
    return {
        "tier": tier,
        "jss": jss.value,
        "n": jss.n,
        "lower": jss.clustered and jss.clustered.lower,
        "upper": jss.clustered and jss.clustered.upper,
        "kappa": value,
        "degenerate": degenerate,
        "note": note,
    }


def _what_is_constant(first_slot: Estimate | None) -> str:
    if first_slot is None:
        return "degenerate: one label throughout"
    if first_slot.value is None:
        return f"degenerate: {first_slot.unavailable}"
    slot = {0.0: "B", 1.0: "A"}.get(first_slot.value, "one slot")
    if "one presentation order only" in first_slot.flags:
        return f"degenerate: always {slot}, in one order: slot or content, both orders would tell"
    return f"degenerate: the slot, {slot} in both orders"


def _template_rows(cell: Cell) -> list[dict[str, Any]]:
    """A row a template, the one that flips most first."""
    rows: dict[str, dict[str, Any]] = {
        name: dict.fromkeys(("pairs", "flips", "calls", "unparsed", "failed"), 0)
        for name in cell.templates
    }
    for judgment in cell.judgments:
        row = rows[judgment.trial.template]
        row["calls"] += 1
        row["unparsed"] += isinstance(judgment.outcome, Unparsed)
        row["failed"] += isinstance(judgment.outcome, Failed)
    for pair in paraphrase_pairs(cell):
        first, second = (meaning(cell, judgment) for judgment in pair)
        if first is not None and second is not None:
            for judgment in pair:
                rows[judgment.trial.template]["pairs"] += 1
                rows[judgment.trial.template]["flips"] += first != second
    for row in rows.values():
        received = row["calls"] - row["failed"]
        row["flip_rate"] = row["flips"] / row["pairs"] if row["pairs"] else None
        row["unparsed_rate"] = row["unparsed"] / received if received else None
        row["failed_rate"] = row["failed"] / row["calls"]
    ranked = sorted(rows, key=lambda name: -(rows[name]["flip_rate"] or 0.0))
    return [{"template": name, **rows[name]} for name in ranked]


def _review_rows(cell: Cell, reviews: Sequence[Review]) -> list[dict[str, Any]]:
    """A row for each compared pair, and one for each two reviewers."""
    known = {frozenset(review.pair): review for review in reviews}
    rows: list[dict[str, Any]] = []
    for a, b in template_pairs(cell.templates, cell.design.pairs):
        review = known.get(frozenset((a, b)))
        rows.append(
            {
                "template_pair": f"{a}~{b}",
                "verdict": review and review.verdict,
                "reviews": dict(review.verdicts) if review else {},
            }
        )
    names = sorted({name for review in reviews for name in review.verdicts})
    for one, other in combinations(names, 2):
        both = [r.verdicts for r in reviews if one in r.verdicts and other in r.verdicts]
        kappa = cohen_kappa([said[one] for said in both], [said[other] for said in both])
        rows.append({"reviewers": [one, other], "kappa": kappa, "n": len(both)})
    return rows


def leaderboards(judges: Iterable[tuple[str, Iterable[Analysis]]]) -> list[Analysis]:
    """For each suite on which several judges have a tier, the judges by their JSS.

    Judges of equal JSS share a rank. Judges without a tier stand last, without a rank, and say why.

    Args:
        judges: name and analyses of each judge.
    """
    of_suite: dict[str, list[dict[str, Any]]] = {}
    for name, analyses in judges:
        for analysis in analyses:
            if analysis["analysis"] == "tier":
                (row,) = analysis["rows"]
                of_suite.setdefault(analysis["suite"], []).append({"judge": name, **row})
    return [
        {"analysis": LEADERBOARD, "suite": suite, "rows": _ranked(rows)}
        for suite, rows in sorted(of_suite.items())
        if len(rows) > 1
    ]


def _ranked(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    has_tier = [row for row in rows if row["tier"] is not None]
    placed = sorted(has_tier, key=lambda row: (-row["jss"], row["judge"]))
    values = [row["jss"] for row in placed]
    ranked = [{"rank": values.index(row["jss"]) + 1, **row} for row in placed]
    left_out = sorted((row for row in rows if row["tier"] is None), key=lambda row: row["judge"])
    return [*ranked, *({"rank": None, **row} for row in left_out)]


def setting_notices(identities: Iterable[Mapping[str, Any]]) -> list[str]:
    """That judges of one run differ in a budget: what sets them apart may be that alone.

    Callables, whose budgets are their own, and judges of logs, which do not say, are left out.
    """
    known = [one for one in identities if one.get("provider") not in ("callable", "log")]
    notices = []
    for setting in _BUDGETS:
        by_value: dict[str, list[str]] = {}
        for identity in known:
            value = identity.get(setting)
            shown = "none" if value is None else str(value)
            by_value.setdefault(shown, []).append(str(identity.get("name")))
        if len(by_value) > 1:
            values = sorted(by_value, key=lambda one: (len(one), one))
            groups = "; ".join(f"{one}: {', '.join(by_value[one])}" for one in values)
            notices.append(
                f"the judges compared differ in {setting} ({groups}): it belongs to what a judge "
                "is, and may be all that sets them apart"
            )
    return notices


def analysis_lines(analysis: Analysis) -> Iterator[str]:
    """An analysis of one judge in words, a line or a few."""
    rows = analysis["rows"]
    match analysis["analysis"]:
        case "tier":
            note = rows[0]["note"]
            words = f"{rows[0]['tier'] or 'none'}{f', {note}' if note else ''}"
            yield f"tier: {words}"
        case "templates":
            yield from _template_lines(rows)
        case "equivalence":
            yield f"equivalence: {_reviewed(rows)}"
        case _:  # a section of a plugin, which has put it into words
            yield from sweep_lines(analysis["analysis"], rows)
            yield from analysis.get("lines", ())


def _template_lines(rows: list[Mapping[str, Any]]) -> Iterator[str]:
    """The template that flips most, and those that lack replies."""
    worst = [row for row in rows if row["flips"] and row["flip_rate"] == rows[0]["flip_rate"]]
    if worst:
        shown = ", ".join(f"{row['template']} in {row['flips']}/{row['pairs']}" for row in worst)
        yield f"flips most: {shown} of its pairs"
    missing = [
        f"{row['template']} {row['unparsed']} unparsed, {row['failed']} failed of {row['calls']}"
        for row in sorted(rows, key=lambda row: str(row["template"]))
        if row["unparsed"] or row["failed"]
    ]
    if missing:
        yield f"missing by template: {'; '.join(missing)}"


def _reviewed(rows: list[Mapping[str, Any]]) -> str:
    pairs = [row for row in rows if "template_pair" in row]
    words = ["YES", "UNSURE", "NO", None]
    counted = [(sum(row["verdict"] == word for row in pairs), word) for word in words]
    parts = [f"{count} {word or 'not reviewed'}" for count, word in counted if count]
    reviewers = dict.fromkeys(name for row in pairs for name in row["reviews"])
    parts.append(f"by {', '.join(reviewers)}" if reviewers else "by nobody")
    parts += [
        f"kappa of {' and '.join(row['reviewers'])} "
        + ("undefined" if row["kappa"] is None else f"{row['kappa']:.3f}")
        + f" on {row['n']} pairs"
        for row in rows
        if "reviewers" in row
    ]
    return "template pairs " + ", ".join(parts)
