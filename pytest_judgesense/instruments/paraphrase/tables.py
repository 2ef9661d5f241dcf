"""Stability under rewording in tables and words: tier, templates, reviews.

Tiers (JudgeSense, arXiv 2604.23478)::

    high      JSS >= 0.9 and kappa >= 0.8       fit for pipelines whose prompts vary
    moderate  0.8 <= JSS < 0.9                  only with one fixed prompt
    low       JSS < 0.8                         a noise source wherever wording varies

JSS >= 0.9 with kappa below 0.8 is moderate, with a note. The paper's tier is that of the two
estimates. The tiers shown are all those from the lower to the upper ends of their intervals: a
single one if the intervals lie within it. They speak of wordings that nobody ran, so that of the
JSS is its interval for new wordings joined with its clustered one; that of kappa is clustered. Two
wordings say nothing of a third, and have no tier. A degenerate judge has no tier and no rank:
the same answer to everything is not stability. On pairwise suites its first-slot rate over both
orders distinguishes a slot from a content.

A template's flips are those of all its pairs, so one bad wording in a ring of five has twice the
flips of its neighbours.

Reviewers' kappa is Cohen's over YES, NO and UNSURE, on the pairs that both have reviewed.

JSS by judge and task: as intervals, and as a map.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from pytest_judgesense.datasheets import figures as fig
from pytest_judgesense.datasheets.datasheet import Datasheet
from pytest_judgesense.datasheets.sections import Beside, Estimates, TableRows, tables_named
from pytest_judgesense.estimate import Clustered, Estimate, Interval, find_estimate, number_text
from pytest_judgesense.instruments.paraphrase.estimators import VerdictCodes, pair_positions
from pytest_judgesense.instruments.paraphrase.estimators import flips as contradictions
from pytest_judgesense.measures.cell import FAILED, UNPARSED, Cell
from pytest_judgesense.stats.agreement import cohen_kappa
from pytest_judgesense.suites.suite import Suite, template_pairs
from pytest_judgesense.text.layout import as_title
from pytest_judgesense.text.shown_change import ShownChange, farthest
from pytest_judgesense.trial import Judgment


def tier_of(jss: float, kappa: float) -> tuple[str, str | None]:
    """The tier of a judge that is not degenerate, with its note, if any."""
    if jss < 0.8:
        return "low", None
    if jss < 0.9:
        return "moderate", None
    if kappa < 0.8:
        return "moderate", f"kappa {kappa:.3f} is below 0.8"
    return "high", None


def _jss_of_wordings(cell: Cell, estimates: Estimates) -> Estimate | None:
    """The JSS, where wording varies."""
    return find_estimate(estimates, "jss") if len(cell.templates) > 1 else None


def tier(cell: Cell, estimates: Estimates, _suite: Suite | None) -> TableRows | None:
    """The tier of a judge, where wording varies."""
    jss, kappa = _jss_of_wordings(cell, estimates), find_estimate(estimates, "kappa")
    if jss is None:
        return None
    return [
        {
            **_tiers(estimates),
            "jss": jss.value,
            "n": jss.n,
            "lower": jss.clustered and jss.clustered.lower,
            "upper": jss.clustered and jss.clustered.upper,
            "kappa": kappa and kappa.value,
            "degenerate": "degenerate" in jss.flags,
        }
    ]


def _tiers(estimates: Estimates) -> dict[str, str | None]:
    """The tiers within the intervals, that of the paper, and their note."""
    jss, kappa = find_estimate(estimates, "jss"), find_estimate(estimates, "kappa")
    reached = published = None
    if jss and "degenerate" in jss.flags:
        note: str | None = _what_is_constant(find_estimate(estimates, "first_slot_rate"))
    elif jss is None or kappa is None or jss.value is None or kappa.value is None:
        note = next(
            (
                estimate.unavailable
                for estimate in (jss, kappa)
                if estimate and estimate.unavailable
            ),
            None,
        )
    else:
        published, note = tier_of(jss.value, kappa.value)
        if kappa.value < 0:
            systematic = kappa.clustered is not None and kappa.clustered.upper < 0
            sentence = "disagree systematically" if systematic else "agree no more than by chance"
            note = f"kappa {kappa.value:.3f} is negative: two wordings {sentence}"
        if not (jss.clustered and kappa.clustered):
            note = note or "too few clusters to say more than the paper's tier"
        else:
            of_jss, of_kappa, new = jss.clustered, kappa.clustered, jss.new_wordings
            alone = _span(of_jss, of_kappa)
            if new is None:
                sentence = "too few wordings to speak of another one"
            else:
                reached = _span(_Ends.around(of_jss, new), of_kappa)
                sentence = f"{new.wordings} wordings are few to speak of another one"
            if reached != alone:
                note = "; ".join(filter(None, [note, f"{sentence}; of these alone: {alone}"]))
    return {"tier": reached, "paper_tier": published, "note": note}


class _Ends(NamedTuple):
    lower: float
    upper: float

    @classmethod
    def around(cls, *intervals: Clustered | Interval) -> _Ends:
        """The least and the greatest end."""
        return cls(
            min(interval.lower for interval in intervals),
            max(interval.upper for interval in intervals),
        )


def _span(jss: Clustered | _Ends, kappa: Clustered) -> str:
    """The tiers from the lower to the upper ends of two intervals."""
    low, _ = tier_of(jss.lower, kappa.lower)
    high, _ = tier_of(jss.upper, kappa.upper)
    word = "or" if "moderate" in (low, high) else "to"
    return low if low == high else f"{low} {word} {high}"


def beside_the_rank(estimates: Estimates) -> dict[str, Any]:
    """Kappa and the tiers of a judge, or why it has no rank."""
    kappa, tiers = find_estimate(estimates, "kappa"), _tiers(estimates)
    if tiers["paper_tier"] is None:
        return {"left_out": tiers["note"]}
    return {
        "kappa": kappa and kappa.value,
        "tier": tiers["tier"],
        "tier in the paper": tiers["paper_tier"],
    }


def _what_is_constant(first_slot: Estimate | None) -> str:
    if first_slot is None:
        return "degenerate: one label throughout"
    if first_slot.value is None:
        return f"degenerate: {first_slot.unavailable}"
    slot = {0.0: "B", 1.0: "A"}.get(first_slot.value, "one slot")
    if "one presentation order only" in first_slot.flags:
        return f"degenerate: always {slot}, in one order: only both orders tell slot from content"
    return f"degenerate: the slot, {slot} in both orders"


def templates(cell: Cell, estimates: Estimates, _suite: Suite | None) -> TableRows | None:
    """Flips and missing replies of each template, of the one that flips most first."""
    if _jss_of_wordings(cell, estimates) is None:
        return None
    pairs, meant = pair_positions(cell)[0], VerdictCodes.meant(cell).codes
    pairs = pairs[(meant[pairs] >= 0).all(axis=1)]
    differ = meant[pairs[:, 0]] != meant[pairs[:, 1]]
    codes, names = cell.coded("template")
    rows = []
    for name in cell.templates:
        of_template = codes == names.index(name)
        counts = np.bincount(cell.outcomes[of_template], minlength=3).tolist()
        unparsed, failed, calls = counts[UNPARSED], counts[FAILED], sum(counts)
        of_pairs = of_template[pairs].any(axis=1)
        compared, flips = int(of_pairs.sum()), int(differ[of_pairs].sum())
        received = calls - failed
        rows.append(
            {
                "template": name,
                "pairs": compared,
                "flips": flips,
                "calls": calls,
                "unparsed": unparsed,
                "failed": failed,
                "flip_rate": flips / compared if compared else None,
                "unparsed_rate": unparsed / received if received else None,
                "failed_rate": failed / calls,
            }
        )
    return sorted(rows, key=lambda row: -(row["flip_rate"] or 0.0))


def equivalence(cell: Cell, estimates: Estimates, suite: Suite | None) -> TableRows | None:
    """The reviews, if there are any: a row for each compared pair of templates, and one for each
    pair of reviewers.
    """
    if suite is None or not suite.reviews or _jss_of_wordings(cell, estimates) is None:
        return None
    review_of_pair = {frozenset(review.pair): review for review in suite.reviews}
    kinds = suite.reviewers

    def called(name: str) -> str:
        return f"{name} ({kinds[name]})" if name in kinds else name

    rows: list[dict[str, Any]] = []
    for pair in template_pairs(cell.templates, cell.design.pairs):
        review = review_of_pair.get(frozenset(pair))
        verdicts = review.verdicts.items() if review else ()
        verdict, reviews = (
            review and review.verdict,
            {called(name): word for name, word in verdicts},
        )
        rows.append({"template_pair": "~".join(pair), "verdict": verdict, "reviews": reviews})
    names = sorted({name for review in suite.reviews for name in review.verdicts})
    for reviewer, other in combinations(names, 2):
        both = [r.verdicts for r in suite.reviews if {reviewer, other} <= set(r.verdicts)]
        if not both:
            continue  # they have read nothing in common
        kappa = cohen_kappa(
            [verdicts[reviewer] for verdicts in both], [verdicts[other] for verdicts in both]
        )
        rows.append(
            {"reviewers": [called(reviewer), called(other)], "kappa": kappa, "n": len(both)}
        )
    return rows


def tier_brief(rows: TableRows) -> str:
    """The tier in a word or two; empty if there is none."""
    tier = rows[0]["tier"] if rows else None
    return f"tier {tier}" if tier else ""


def tier_lines(rows: TableRows) -> Iterator[str]:
    """The tiers within the intervals, that of the paper if it differs, and the note."""
    tier, published, note = (rows[0][key] for key in ("tier", "paper_tier", "note"))
    other = f" (in the paper: {published})" if published != tier else ""
    yield ", ".join([f"tier: {tier or 'none'}{other}", *filter(None, [note])])


def template_lines(rows: TableRows) -> Iterator[str]:
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


def equivalence_lines(rows: TableRows) -> Iterator[str]:
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
    """Judgments of one item that contradict each other under two wordings."""
    return ((a, b, "wording") for a, b in contradictions(cell, {}))


def _tasks(sheet: Datasheet) -> list[str]:
    """The suites with a JSS, those with most ordinal labels first, as leaderboards have them."""
    suites = {e.suite for j in sheet.judges for e in j.estimates if e.measure == "jss"}
    tables = tables_named(sheet, "standing")
    scale = {suite: rows[0].get("labels", 0) for _, suite, rows in tables}
    return sorted(suites, key=lambda suite: (-scale.get(suite, 0), suite))


def wording_figures(sheet: Datasheet) -> Iterator[fig.Found]:
    """The figures of stability under rewording."""
    head = fig.Head("wording", "6", "JSS by judge and task")
    suites = _tasks(sheet)
    # A judge may be degenerate on some tasks alone: there its marks are.
    names = [
        fig.name_of(judge, *suites)
        if all(fig.is_degenerate(judge, suite) for suite in suites)
        else fig.name_of(judge)
        for judge in sheet.judges
    ]
    estimates = {
        (who, where): estimate
        for who, judge in enumerate(sheet.judges)
        for where, suite in enumerate(suites)
        if (estimate := fig.find(judge, suite, "jss")) is not None
    }
    if not estimates:
        yield fig.Absent(head, "It needs a suite of several wordings: --judge-suite coherence.")
        return

    flat = {
        (who, where)
        for who, where in estimates
        if fig.is_degenerate(sheet.judges[who], suites[where])
    }

    def draw_intervals(axes: Any) -> None:
        axes.grid(visible=True, axis="x")
        axes.set_axisbelow(True)
        step = 0.7 / len(names)
        for (who, where), e in estimates.items():
            y = where + step * (who - (len(names) - 1) / 2)
            hollow: dict[str, Any] = {"fillstyle": "none"} if (who, where) in flat else {}
            ends = fig.ends_of(e.clustered)
            fig.point(axes, who, e.value, y, across=ends, name=names[who], **hollow)
            if hollow:
                fig.beside(axes, who, e.value, y, "degenerate")
        fig.ticks(axes, "y", suites)
        fig.labels(axes, "JSS (share of template pairs)", "", "by task")

    def draw_map(axes: Any) -> None:
        texts = {
            (where, who): (0.0, "degenerate") if place in flat else (e.value, fig.shown(e.value))
            for place, e in estimates.items()
            for who, where in [place]
        }
        fig.heat(axes, suites, names, texts)
        fig.labels(axes, "task", "judge", "judge by task")

    each = max(0.42, 0.17 * len({who for who, _ in estimates}))
    yield fig.Figure(
        head,
        _finding(estimates, flat, names, suites),
        "JSS: the share of pairs of wordings under which the verdict is the same. Bars are 95% "
        "clustered intervals, their units are items. A hollow mark is of a judge that gives one "
        "answer to everything (degenerate), which is no stability.",
        (
            fig.Panel(draw_intervals, fig.height_of_rows(len(suites), each)),
            fig.Panel(draw_map, fig.height_of_rows(len(names), names=suites)),
        ),
        ("judge", "task", *fig.named("JSS"), "flags"),
        tuple(
            (names[who], suites[where], *fig.cells(e), "; ".join(e.flags))
            for (who, where), e in estimates.items()
        ),
    )
    yield from _polarity_figure(sheet)


def _polarity_figure(sheet: Datasheet) -> Iterator[fig.Found]:
    """JSS as the labels stand against that with inverted ones remapped, where there are any."""
    rows: list[tuple[fig.Value, ...]] = []
    marks: list[tuple[str, Any, Any]] = []
    for judge in sheet.judges:
        for part in judge.parts:
            raw = fig.find(judge, part.suite, "jss", polarity="raw")
            corrected = fig.find(judge, part.suite, "jss", polarity="remapped")
            if raw is not None and corrected is not None:
                marks.append((f"{fig.name_of(judge, part.suite)}, {part.suite}", raw, corrected))
                name = fig.name_of(judge, part.suite)
                rows.append((name, part.suite, *fig.cells(raw), *fig.cells(corrected)))
    if not marks:
        return

    def draw(axes: Any) -> None:
        axes.grid(visible=True, axis="x")
        axes.set_axisbelow(True)
        for line, (_, raw, corrected) in enumerate(marks):
            axes.plot([raw.value, corrected.value], [line, line], color=fig.INK, linewidth=0.8)
            fig.point(axes, 1, raw.value, line, name="raw" if not line else "", fillstyle="none")
            fig.point(axes, 0, corrected.value, line, name="corrected" if not line else "")
        fig.ticks(axes, "y", [name for name, _, _ in marks])
        axes.set_xlim(-0.03, 1.03)
        fig.labels(axes, "JSS (share of template pairs)", "", "by judge and suite")

    gain, most = farthest([(ShownChange.between(raw, fixed), name) for name, raw, fixed in marks])
    yield fig.Figure(
        fig.Head("polarity", "6b", "JSS raw against corrected"),
        gain.sentence(
            above=f"Corrected for inverted labels, the JSS of {most} is higher",
            below=f"Corrected for inverted labels, the JSS of {most} is lower",
            neither=f"Correcting inverted labels does not visibly change the JSS of {most}",
        ),
        "Hollow: JSS with the labels as they stand. Filled: with the labels of inverted wordings "
        "remapped to what they mean.",
        (fig.Panel(draw, fig.height_of_rows(len(marks))),),
        ("judge", "suite", *fig.named("raw"), *fig.named("corrected")),
        tuple(rows),
    )


def _finding(
    estimates: Mapping[tuple[int, int], Any],
    flat: AbstractSet[tuple[int, int]],
    names: Sequence[str],
    suites: Sequence[str],
) -> str:
    """The lowest JSS of judges that give several answers, and those that are degenerate."""

    def on(place: tuple[int, int]) -> str:
        return f"{names[place[0]].removesuffix(f' {fig.MARK}')} on {suites[place[1]]}"

    varied = {place: estimate for place, estimate in estimates.items() if place not in flat}
    degenerate = f"one answer to everything: {', '.join(map(on, sorted(flat)))}" if flat else ""
    if not varied:
        return as_title(degenerate)
    place, least = min(varied.items(), key=lambda placed: (placed[1].value, placed[0]))
    finding = "No verdict changed under another wording of the prompt"
    if least.value < 1:
        finding = f"The lowest JSS is that of {on(place)}: {ShownChange.of(least).numbers()}"
    return "; ".join(filter(None, [finding, degenerate]))
