"""Lint of a suite with its checks and bars, before any call. Pure.

A judge without error reaches a bound on the clusters of a suite. Bounds are monotone
(`stats.dirichlet`), so no judge clears a bar or a limit that this one does not. A limit that it
clears only without a single error fails judges by chance. The default limit is therefore what it
still clears after it has lost one cluster whole, the largest one, rounded away from the bar to a
multiple of 0.05: of 20, 30, 40 and 60 clusters of one unit 0.75, 0.85, 0.85 and 0.90. Where that is
not short of the bar itself, the default lies a tenth short of it: a limit at the bar would leave no
room for a judge that is exactly as good as is wanted.
"""

from __future__ import annotations

import math
import shlex
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import cycle, islice
from typing import Final

from pytest_judgesense.checks.declaration import declare_check_on
from pytest_judgesense.errors import SuiteError, UsageError
from pytest_judgesense.measures.bar import Check
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.measures.cell_estimates import estimate_all
from pytest_judgesense.measures.definition import Measure
from pytest_judgesense.registry import Registry
from pytest_judgesense.stats.agreement import clustered_kappa
from pytest_judgesense.stats.settle import best_case, fewest_clusters
from pytest_judgesense.suites.finding import LintFinding
from pytest_judgesense.suites.planning import filled, plan_trials
from pytest_judgesense.suites.rules import lint_items, lint_prompts
from pytest_judgesense.suites.suite import Suite
from pytest_judgesense.trial import Trial

_STEP: Final = 0.05  # of default limits
_ROOM: Final = 0.1  # between a bar and its default limit, where the clusters would allow more
_TINY: Final = 1e-9  # of rounding: 0.85 is 17 steps


def error_free_bound(measure: Measure, sizes: Sequence[float], lost: int = 0) -> float | None:
    """The one-sided 95% bound of a judge without error: the lower one of a floor, else the upper.

    Args:
        measure: its ``best`` says what such a judge gives.
        sizes: units of each cluster, above 0; their mean matters from 1 to 1.5 only.
        lost: so many of the largest clusters count against the judge with all of their units.

    Returns:
        ``None`` with fewer than two clusters (a single one bounds nothing), and for a measure whose
        bound does not follow from the sizes, such as kappa.
    """
    if measure.best not in ("units", "half") or len(sizes) < 2:
        return None
    if measure.best == "half":
        # Without bias every cluster names both slots equally often, a lost one a single slot.
        scale = max(1.0, 2 * len(sizes) / sum(sizes))
        low, high = best_case([size * scale for size in sizes], 0.5, lost, 1.0)
        return max(0.5 - low, high - 0.5)
    low, _ = best_case(sizes, 1.0, lost)
    return low if measure.floor else 1 - low


def can_clear(measure: Measure, bar: float, sizes: Sequence[float]) -> bool:
    """Whether a judge without error clears ``bar`` with confidence; see `error_free_bound`."""
    bound = error_free_bound(measure, sizes)
    return bound is not None and (bound >= bar if measure.floor else bound <= bar)


def default_limit(measure: Measure, bar: float, sizes: Sequence[float]) -> float | None:
    """The limit that a new suite declares beside ``bar``; see the module.

    Args:
        measure: what is gated.
        bar: what is wanted of it.
        sizes: units of each cluster of the suite.

    Returns:
        ``None`` where so few clusters exclude nothing, and where `error_free_bound` knows none.
    """
    bound = error_free_bound(measure, sizes, lost=1)
    if bound is None:
        return None
    if measure.floor:
        limit = math.floor(bound / _STEP + _TINY) * _STEP
        limit = bar - _ROOM if limit > bar - _TINY else limit
    else:
        limit = math.ceil(bound / _STEP - _TINY) * _STEP
        limit = bar + _ROOM if limit < bar + _TINY else limit
    low, high = measure.bounds
    limit = round(limit, 4)
    return limit if low < limit < high else None


def lint_suite(suite: Suite, registry: Registry, *, texts: bool = True) -> tuple[LintFinding, ...]:
    """The findings of all rules in ``suite``, including its checks and bars; errors first.

    Without ``texts``, those that lie in the texts of the items alone are left out.
    """
    of_items = lint_items(suite) if texts else lint_prompts(suite)
    findings = (*of_items, *_checks_and_bars(suite, registry))
    return tuple(sorted(findings, key=lambda finding: finding.severity))


def lint_notices(suite: Suite, registry: Registry) -> tuple[str, ...]:
    """What lint finds in ``suite`` that stops no run, one sentence each.

    Raises:
        SuiteError: lint finds errors, so the measures would not mean what they say.
    """
    # No text of a built-in suite has a finding: tests see to it, and reading all takes long.
    findings = lint_suite(suite, registry, texts=suite.items is not suite.built_in)
    errors = [finding for finding in findings if finding.is_fatal]
    if errors:
        first, *rest = errors
        more = [f"{finding.rule}: {finding.where}: {finding.what}" for finding in rest]
        all_findings = f"judgesense plan --lint {shlex.quote(str(suite.path))}"
        raise SuiteError(
            f"lint {first.rule}: suite {suite.name}, {first.where}: {first.what}",
            found="; ".join([first.found, *more]),
            expected=first.expected,
            remedy=f"{first.remedy}; all findings: {all_findings}",
        )
    return tuple(finding.line for finding in findings)


def _checks_and_bars(suite: Suite, registry: Registry) -> Iterator[LintFinding]:
    """Checks that cannot be declared, and bars that no judge could clear on these clusters."""
    trials = plan_trials(suite)
    all_asked = Counter(trial.cluster for trial in trials)
    for declaration in suite.checks:
        arguments = dict(declaration.arguments)
        try:
            check = declare_check_on(suite, declaration.name, arguments, registry)
        except UsageError as error:
            shown = ", ".join(f"{name} = {value!r}" for name, value in arguments.items())
            yield LintFinding(
                "error",
                "check",
                f"{declaration.name} of suite {suite.name}, line {declaration.line}",
                error.what,
                error.found or shown,
                error.expected,
                error.remedy or f"fix the check in {suite.path}",
            )
            continue
        for measure, key, condition in _bars_of(check):
            part, by_cluster = trials, all_asked
            if condition:
                part = tuple(t for t in trials if condition.items() <= t.condition.items())
                by_cluster = Counter(trial.cluster for trial in part)
            clusters = len(by_cluster)
            if measure.best is None or not clusters:
                continue
            # A limit decides where there is one.
            word = "limit" if key in check.limits else "bar"
            bar = check.limits.get(key, check.bars[key])
            needed = _needed(measure, bar, part, _in_proportion(by_cluster, 1.0))
            if needed is None or needed > clusters:
                # Clusters of one unit need the most; few bars are close enough to be computed.
                sizes = _planned_sizes(measure, suite, part, by_cluster)
                needed = _needed(measure, bar, part, sizes)
            if needed is not None and needed <= clusters:
                continue
            # A bar alone is an aim; of a limit the sizes are worth a word.
            uneven = " of unlike sizes" * (word == "limit" and len(set(by_cluster.values())) > 1)
            yield LintFinding(
                "warning",
                f"undecidable-{word}",
                f"{check.id} of suite {suite.name}",
                f"so few clusters cannot clear the {word} with confidence",
                f"{clusters} clusters{uneven}",
                f"at least {needed} clusters"
                if needed
                else f"a {word} short of perfection: no number of items is enough for it",
                f"add items until there are {needed} clusters, or set a {word} that fewer can clear"
                if needed
                else f"set a {word} that a judge without error can clear",
            )


def _bars_of(check: Check) -> Iterator[tuple[Measure, str, dict[str, str | int | float]]]:
    """Measure and name of each bar of a check, and the condition of the trials behind it."""
    if not check.kind.gates:
        yield from check.kind.bars(check) if check.kind.bars else ()
        return
    assert check.of is not None, "a gate gates a measure"
    within = check.of.evidence.within if check.of.evidence else {}
    beside = ("polarity", "k", "prompt_pair")
    condition = {k: v for k, v in check.condition.items() if k not in beside}
    yield check.of, "bar", {**within, **condition}


def _planned_sizes(
    measure: Measure, suite: Suite, trials: Sequence[Trial], by_cluster: Mapping[str, int]
) -> list[float]:
    """The units of each cluster that the design gives a measure, if every reply is read.

    If they depend on the answers, twice the numbers of trials in proportion, ``by_cluster``: a bar
    needs the fewest clusters of two units each.
    """
    cell = Cell.with_controls_apart(
        "", suite.name, suite.design, filled(suite.design, trials), 0, (measure,)
    )
    estimate = next((each for each in estimate_all(cell) if each.measure == measure.name), None)
    if estimate is None or estimate.clustered is None:
        return _in_proportion(by_cluster, 2.0)
    count = estimate.clustered.clusters
    each = estimate.clustered.each or estimate.n / count  # replicates add no weight
    if estimate.anew is None:
        return [each] * count
    units = Counter(estimate.anew().clusters).values()
    return [number * each * count / estimate.n for number in units]


def _in_proportion(by_cluster: Mapping[str, int], mean: float) -> list[float]:
    """Sizes of clusters of this mean, in proportion to the trials of each, ``by_cluster``."""
    scale = mean * len(by_cluster) / sum(by_cluster.values())
    return [number * scale for number in by_cluster.values()]


def _needed(
    measure: Measure, bar: float, trials: Sequence[Trial], sizes: Sequence[float]
) -> int | None:
    """Fewest clusters of these sizes on which an error-free judge clears it with confidence.

    Beyond the suite's clusters their sizes are repeated in order, and for kappa, which depends on
    how often each label is right, their labels.
    """
    if bar == float(measure.floor):
        return None
    if measure.best != "kappa":
        return fewest_clusters(
            lambda count: can_clear(measure, bar, [*islice(cycle(sizes), count)])
        )
    return _needed_for_kappa(bar, _right_verdicts(trials))


# A session lints its suites at collection and again for the datasheet.
@lru_cache(maxsize=64)
def _needed_for_kappa(bar: float, right: tuple[tuple[str, ...], ...]) -> int | None:
    """For clusters with these right verdicts, which are repeated in order beyond them."""

    def clears(clusters: int) -> bool:
        every = range(clusters)
        words, of = zip(
            *((word, place) for place in every for word in right[place % len(right)]), strict=True
        )
        interval = clustered_kappa(words, words, of)
        # A few clusters may all have the same label.
        return interval is not None and interval.lower_bound >= bar

    return fewest_clusters(clears)


def _right_verdicts(trials: Sequence[Trial]) -> tuple[tuple[str, ...], ...]:
    """The verdicts of an error-free judge under one wording, by cluster; slots for pairs."""
    by_cluster: dict[str, list[str]] = defaultdict(list)
    turned = {"1": "2", "2": "1"}
    for trial in trials:
        if trial.template == trials[0].template and trial.label is not None:
            word = trial.label if trial.order != "ba" else turned.get(trial.label, trial.label)
            by_cluster[trial.cluster].append(word)
    return tuple(map(tuple, by_cluster.values())) or (("0",), ("1",))
