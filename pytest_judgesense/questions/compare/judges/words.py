"""What moving a judge to another model changes, in sentences. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_judgesense.questions.compare.judges.model_change import ModelChange, ScoredTrials
from pytest_judgesense.stats.inputs import NotEstimable
from pytest_judgesense.stats.kept_mark import KeptMark


def sentences(model_change: ModelChange) -> Iterator[str]:
    """What a reader is told first."""
    old, new, both = model_change.old, model_change.new, model_change.both
    items = len({trial.old.trial.item for trial in both})
    undecided = len(both) - len(model_change.decided)
    yield (
        f"{old.judge} -> {new.judge} on {old.suite}: {len(both):,} trials of {items:,} "
        f"items, {undecided:,} without a verdict of both"
    )
    if model_change.left_out:
        yield f"left out: {model_change.left_out:,} trials that only one of them was asked"
    if model_change.same:
        yield _agreement_words(model_change)
    clusters = {trial.old.trial.cluster for trial in both}
    yield model_change.measures.sentence("items" if len(clusters) == items else "clusters")
    yield from _mark_words(model_change)


def _agreement_words(model_change: ModelChange) -> str:
    """How often both say the same."""
    same, count = sum(model_change.same), len(model_change.same)
    interval, kappa = model_change.agreement, model_change.kappa
    ends = f" [{interval.lower:.3f}, {interval.upper:.3f}]" if interval else ""
    beyond_chance = "" if kappa is None else f", kappa {kappa:.2f}"
    return f"the same verdict: {same:,} of {count:,}, {same / count:.3f}{ends}{beyond_chance}"


def _mark_words(model_change: ModelChange) -> Iterator[str]:
    matched, scale = model_change.matched, model_change.scale
    if matched is None or scale is None:
        yield "no pass mark: verdicts have no score (no order, no grades, no probabilities of two)"
        return
    if isinstance(matched, NotEstimable):
        yield f"{scale.name}: not known: {matched.reason}"
        return
    old, new, nearest = model_change.old.judge, model_change.new.judge, matched.nearest
    unit = f"{matched.old_rate:.3f} pass at {scale.old_mark}"
    yield f"{scale.name}: of {len(scale.trials):,} trials {unit} of {old}"
    rate = f"{scale.word(nearest.mark)} keeps it best, with {nearest.rate:.3f}"
    if matched.lowest is None or matched.highest is None:
        yield f"of {new} {rate}; every mark is told from the old rate"
    else:
        lowest, highest = scale.word(matched.lowest), scale.word(matched.highest)
        ends = f"{lowest} alone" if lowest == highest else f"{lowest} to {highest}"
        yield f"of {new} {rate}; not told from the old rate: {ends} (95% over clusters)"
    if (now := matched.at_old) is not None:
        yield (
            f"at {scale.old_mark} of {new} {now.rate:.3f} pass now: {now.change:+.3f} "
            f"[{now.ends[0]:+.3f}, {now.ends[1]:+.3f}]"
        )
    yield _answer_words(model_change, matched, scale)
    lost = int(matched.not_kept.sum())
    moved = matched.fewest.lost + matched.fewest.gained
    whose = "no mark in that range" if matched.lowest is not None else "that mark does not"
    yield (
        f"cannot be kept: the side of {lost:,} trials, which {whose} keeps; at any mark {moved:,} "
        f"or more change sides (fewest at {scale.word(matched.fewest.mark)})"
    )


def _answer_words(model_change: ModelChange, matched: KeptMark, scale: ScoredTrials) -> str:
    """Whether the rate is kept, and what would decide it."""
    within = model_change.within
    if matched.answer == "kept":
        (low, high), mark = matched.nearest.ends, scale.word(matched.nearest.mark)
        return f"kept: at {mark} the rate moves by {low:+.3f} to {high:+.3f}"
    if matched.answer == "not kept":
        return f"cannot be kept: every mark is more than {within:g} from the old rate (95%)"
    needed = matched.clusters_to_decide(within)
    items = {both.old.trial.item for both in scale.trials}
    unit = "items" if len(items) == matched.clusters else "clusters"
    would = "" if needed is None else f"; about {needed:,} {unit} like these would settle it"
    return (
        f"undecided: a fit, plus or minus {matched.nearest.half_width:.3f}, where {within:g} is "
        f"asked for{would}"
    )
