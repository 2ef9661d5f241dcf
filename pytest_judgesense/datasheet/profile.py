"""A one-line sketch of a judge, from named rules. Descriptions, not classes. Pure.

================================  ==================================================================
words                             rule (on the pooled estimates of the suites that were run)
================================  ==================================================================
degenerate on SUITE               a JSS is flagged degenerate
presentation-conflicted           dark current >= 0.2 and PFP more than half of RFP0
mixed stable-positional           RFP0 >= 0.1, and SCS and PFP each at least a quarter of RFP0
positional                        PFP more than half of RFP0, RFP0 >= 0.1
vacuum-clean                      dark current <= 0.05
sensitive, insensitive            target sensitivity at distance 1: >= 0.75, < 0.75
stable, moderately stable,        smallest JSS: >= 0.9 and every kappa >= 0.8; >= 0.8; below
wording-sensitive
one-sided                         a side bias above 0.1
unreliable in form                an unparsed rate above 0.02
================================  ==================================================================
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pytest_judgesense.stats.estimate import Estimate

__all__ = ["profile_sketch"]


def profile_sketch(estimates: Iterable[Estimate]) -> str:
    """The sketch; empty where nothing that the rules name was measured."""
    return ", ".join(dict.fromkeys(_words(list(estimates))))


def _pooled(estimates: list[Estimate], measure: str, **condition: object) -> list[Estimate]:
    return [
        estimate
        for estimate in estimates
        if estimate.measure == measure
        and dict(estimate.condition) == condition
        and estimate.value is not None
    ]


def _first(estimates: list[Estimate], measure: str, **condition: object) -> float | None:
    found = _pooled(estimates, measure, **condition)
    return found[0].value if found else None


def _words(estimates: list[Estimate]) -> Iterator[str]:
    for estimate in _pooled(estimates, "jss"):
        if "degenerate" in estimate.flags:
            yield f"degenerate on {estimate.suite}"
    yield from _instrument_words(estimates)
    yield from _stability_words(estimates)
    if any((e.value or 0) > 0.1 for e in _pooled(estimates, "side_bias")):
        yield "one-sided"
    if any((e.value or 0) > 0.02 for e in _pooled(estimates, "unparsed_rate")):
        yield "unreliable in form"


def _instrument_words(estimates: list[Estimate]) -> Iterator[str]:
    dark = _first(estimates, "dark_current")
    raw = _first(estimates, "raw_false_preference")
    stable = _first(estimates, "stable_cross_sensitivity")
    positional = _first(estimates, "positional_false_preference")
    if raw is not None and stable is not None and positional is not None:
        mostly_positional = raw >= 0.1 and positional > raw / 2
        if mostly_positional and dark is not None and dark >= 0.2:
            yield "presentation-conflicted"
        elif raw >= 0.1 and min(stable, positional) >= raw / 4:
            yield "mixed stable-positional"
        elif mostly_positional:
            yield "positional"
    if dark is not None and dark <= 0.05:
        yield "vacuum-clean"
    sensitivity = _first(estimates, "target_sensitivity", distance=1)
    if sensitivity is not None:
        yield "sensitive" if sensitivity >= 0.75 else "insensitive"


def _stability_words(estimates: list[Estimate]) -> Iterator[str]:
    jss = [e.value or 0.0 for e in _pooled(estimates, "jss") if "degenerate" not in e.flags]
    if not jss:
        return
    kappas = [e.value or 0.0 for e in _pooled(estimates, "kappa")]
    if min(jss) >= 0.9 and all(kappa >= 0.8 for kappa in kappas):
        yield "stable"
    else:
        yield "moderately stable" if min(jss) >= 0.8 else "wording-sensitive"
