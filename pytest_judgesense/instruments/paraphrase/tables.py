"""Stability under rewording in tables and words: tier, templates, reviews, the leaderboard.

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
from typing import Any, Final

from pytest_judgesense.errors import printable
from pytest_judgesense.estimate import Estimate, find_estimate, number_text
from pytest_judgesense.instruments.paraphrase.estimators import meaning, paraphrase_pairs
from pytest_judgesense.layout import indented, row
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.sections import (
    Beside,
    Board,
    Digits,
    Entrant,
    Estimates,
    Rows,
)
from pytest_judgesense.stats.agreement import cohen_kappa
from pytest_judgesense.suites.suite import Review, Suite, template_pairs
from pytest_judgesense.trial import Failed, Judgment, Unparsed

_HIGH_JSS: Final = 0.9
_HIGH_KAPPA: Final = 0.8
_MODERATE_JSS: Final = 0.8


def tier_of(jss: float, kappa: float) -> tuple[str, str | None]:
    """The tier of a judge that is not degenerate, and what flags it, if anything does."""
    if jss < _MODERATE_JSS:
        return "low", None
    if jss < _HIGH_JSS:
        return "moderate", None
    if kappa < _HIGH_KAPPA:
        return "moderate", f"kappa {kappa:.3f} is below {_HIGH_KAPPA:g}"
    return "high", None


def _jss_of_wordings(cell: Cell, estimates: Estimates) -> Estimate | None:
    """The JSS, where wording varies."""
    return find_estimate(estimates, "jss") if len(cell.templates) > 1 else None


def tier(cell: Cell, estimates: Estimates, _suite: Suite | None) -> Rows | None:
    """The tier of a judge, where wording varies."""
    jss = _jss_of_wordings(cell, estimates)
    return None if jss is None else [_tier_row(jss, estimates)]


def templates(cell: Cell, estimates: Estimates, _suite: Suite | None) -> Rows | None:
    """Flips and missing replies of each template."""
    return _template_rows(cell) if _jss_of_wordings(cell, estimates) else None


def equivalence(cell: Cell, estimates: Estimates, suite: Suite | None) -> Rows | None:
    """What reviewers say of the pairs of templates, where they have said anything."""
    if suite is None or not suite.reviews or _jss_of_wordings(cell, estimates) is None:
        return None
    return _review_rows(cell, suite.reviews)


def _tier_row(jss: Estimate, estimates: Estimates) -> dict[str, Any]:
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


def tier_lines(rows: Rows) -> Iterator[str]:
    """The tier, and what flags it."""
    note = rows[0]["note"]
    yield f"tier: {rows[0]['tier'] or 'none'}{f', {note}' if note else ''}"


def template_lines(rows: Rows) -> Iterator[str]:
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


def equivalence_lines(rows: Rows) -> Iterator[str]:
    """Verdicts on pairs, and how far reviewers agree."""
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
    yield f"equivalence: template pairs {', '.join(parts)}"


def by_pair(estimates: Iterable[Estimate]) -> Iterator[Beside]:
    """JSS with kappa by template pair, unless none of them flips; flip rates are the rest to 1."""
    pairs: dict[object, dict[str, Estimate]] = {}
    for estimate in estimates:
        if pair := estimate.condition.get("template_pair"):
            pairs.setdefault(pair, {})[estimate.measure] = estimate
    flips = any(of["jss"].value != 1 or of["jss"].missing.words for of in pairs.values())
    for of in pairs.values():
        kappa = of["kappa"]
        text = "N/A" if kappa.value is None else number_text(kappa.value, kappa.flags)
        yield Beside(of["jss"], f"kappa {text}", only_gated=len(pairs) < 2 or not flips)


def flips(cell: Cell) -> Iterator[tuple[Judgment, Judgment, str]]:
    """Judgments of one item that contradict one another under two wordings."""
    for a, b in paraphrase_pairs(cell):
        one, other = meaning(cell, a), meaning(cell, b)
        if one is not None and other is not None and one != other:
            yield a, b, "wording"


def leaderboard(
    suite: str, entrants: Sequence[Entrant], _seed: int = 0, _secondary: bool = False
) -> Mapping[str, Rows]:
    """The judges that have a tier on a suite by their JSS, where there are several.

    Judges of equal JSS share a rank. Judges without a tier stand last, without a rank, and say why.
    """
    rows = [
        {"judge": one.name, **table["rows"][0]}
        for one in entrants
        for table in one.analyses
        if (table["analysis"], table["suite"]) == ("tier", suite)
    ]
    return {"leaderboard": _ranked(rows)} if len(rows) > 1 else {}


def _ranked(rows: Rows) -> list[dict[str, Any]]:
    has_tier = [row for row in rows if row["tier"] is not None]
    placed = sorted(has_tier, key=lambda row: (-row["jss"], row["judge"]))
    jss = [row["jss"] for row in placed]
    left_out = sorted((row for row in rows if row["tier"] is None), key=lambda row: row["judge"])
    return [
        *({"rank": jss.index(row["jss"]) + 1, **row} for row in placed),
        *({"rank": None, **row} for row in left_out),
    ]


def _ends(of: Mapping[str, Any]) -> str:
    if of["lower"] is None:
        return ""
    return f"[{number_text(of['lower'])}, {number_text(of['upper'])}]"


def _cells(of: Mapping[str, Any]) -> tuple[str, ...]:
    kappa = number_text(of["kappa"])
    return str(of["n"]), number_text(of["jss"]), _ends(of), kappa, str(of["tier"])


def board(_suite: str, tables: Mapping[str, Rows]) -> Board:
    """The leaderboard for Markdown."""
    return Board(
        "By JSS on",
        ("rank", "judge", "n", "JSS", "95% clustered", "kappa", "tier"),
        tuple(
            ("", of["judge"], "", "", "", "", f"left out: {of['note']}")
            if of["rank"] is None
            else (Digits(of["rank"]), of["judge"], *map(Digits, _cells(of)))
            for of in tables["leaderboard"]
        ),
    )


def board_lines(suite: str, tables: Mapping[str, Rows]) -> Iterator[str]:
    """The leaderboard on a terminal."""
    yield from indented(f"{suite}, by JSS", width=2)
    for of in tables["leaderboard"]:
        if of["rank"] is None:
            yield from indented(f"left out: {of['judge']}, {of['note']}", width=4)
        else:
            yield from row(
                printable(f"    {of['rank']}  {of['judge']}"),
                f"n {of['n']}",
                number_text(of["jss"]),
                f"kappa {number_text(of['kappa'])}",
                _ends(of),
                of["tier"],
            )
