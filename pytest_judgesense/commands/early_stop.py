"""The expected calls of a suite with early stopping, for ``judgesense plan`` and ``power``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from pytest_judgesense.checks.early_stop import Stopping
from pytest_judgesense.checks.outcome import Finding, Policy, Rule
from pytest_judgesense.measures.check import Check
from pytest_judgesense.stats.early_stop import asked_together, expected_clusters, looks_of

# Of the way from the bar to a judge without error; below 0 away from it.
_TRUTHS: Final = (1.0, 0.5, 0.0, -0.5, -1.0)


class Planned(NamedTuple):
    """A check of a suite that is planned.

    Attributes:
        finding: its outcome on judgments that fill the design; ``None`` if it does not have exactly
            one bar.
        sizes: units of each cluster.
    """

    check: Check
    finding: Finding | None
    sizes: list[int]

    def can_stop(self, policy: Policy) -> bool:
        """Whether it can be decided before all clusters are asked."""
        if Stopping((self.check,), Rule(policy)).never:
            return False
        a_share = self.finding is not None and self.finding.estimate.count is not None
        return policy == "confident" or a_share


def expected_trials(
    finding: Finding, sizes: list[int], trials: int, policy: Policy, rho: float, seed: int
) -> dict[float, float]:
    """The expected number of trials until one bar is decided, by the true value.

    Args:
        finding: of a share of its units.
        sizes: units of each cluster; planned as if all were of their mean.
        trials: of the whole suite.
        policy: ``estimate`` or ``confident``.
        rho: intraclass correlation of the units of a cluster.
        seed: of the draws.
    """
    clusters, size = len(sizes), max(1, round(sum(sizes) / len(sizes)))
    every = policy == "estimate"
    looks = looks_of(clusters, every=every)
    together = asked_together(clusters, trials) if every else 1
    # Of a distance from one half, the one side to which the judge leans.
    folded = finding.measure.best == "half"
    bar = 0.5 - finding.bar if folded else finding.bar if finding.floor else 1 - finding.bar
    best = 0.5 if folded else 1.0
    found = {}
    for part in _TRUTHS:
        share = min(1.0, max(0.0, bar + part * (best - bar)))
        asked = expected_clusters(
            share, rho, size, bar, looks, every=every, together=together, seed=seed
        )
        value = 0.5 - share if folded else share if finding.floor else 1 - share
        found[round(value, 12)] = trials * asked / clusters
    return found


def early_stop_lines(
    planned: Iterable[Planned],
    trials: int,
    policy: Policy,
    rho: float,
    seed: int,
    usd: float | None = None,
) -> Iterator[str]:
    """Say how many trials to expect until each check is decided.

    Args:
        planned: the checks of the suite.
        trials: of the whole suite.
        policy: ``estimate`` or ``confident``.
        rho: see `expected_trials`.
        seed: likewise.
        usd: the maximum cost of a trial; ``None`` if not known.
    """

    def priced(number: float) -> str:
        return f"{number:.0f}" + ("" if usd is None else f" ({number * usd:.4f} USD)")

    yield f"early stop, policy {policy}: at most {priced(trials)} trials; expected until decided,"
    yield "by the true value (a suite stops when its last check is decided):"
    for one in planned:
        if not one.can_stop(policy):
            yield f"  {one.check.id}: all {priced(trials)}: it is decided on all clusters"
        elif one.finding is None or one.finding.estimate.count is None or len(one.sizes) < 2:
            yield f"  {one.check.id}: not planned: it is not a share with one bar"
        else:
            by_value = expected_trials(one.finding, one.sizes, trials, policy, rho, seed)
            shown = (f"{priced(number)} at {value:.3f}" for value, number in by_value.items())
            yield f"  {one.check.id}: {', '.join(shown)}"
