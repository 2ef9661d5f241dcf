"""``judgesense power``: how often checks stop a judge that has not changed, and what they catch.

With recordings the judge's own totals speak; with a plan alone, assumed shares. The statistics
stand in `stats.power` and `stats.variance`; units are found by estimating each cluster, and each
replicate of it, alone: whatever a measure counts, its units here are those that its check counts.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Final, TypeAlias, TypeVar

from pytest_judgesense.checks.declaration import declare_check
from pytest_judgesense.checks.outcome import Finding, Policy, judge_check
from pytest_judgesense.commands.options import (
    MANY,
    add_cassettes,
    judge_and_suite,
    number,
    registry_of,
    seed,
)
from pytest_judgesense.commands.options import suite as suite_of
from pytest_judgesense.errors import MissingRecording, UsageError, unknown_name
from pytest_judgesense.estimate import Estimate, find_estimate, number_text
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.judges.loop import AskingLoop
from pytest_judgesense.judges.prompts import suite_for_judge
from pytest_judgesense.judges.spec import JudgeSpec
from pytest_judgesense.measurement import cell_of, measure
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.measures.estimation import estimate_all
from pytest_judgesense.registry import Registry, SuiteKind
from pytest_judgesense.stats import power
from pytest_judgesense.stats.variance import (
    REPLICATE,
    balanced_array,
    cheapest_split,
    variance_components,
)
from pytest_judgesense.suites.builtin import builtin_cassette
from pytest_judgesense.suites.planning import plan_trials
from pytest_judgesense.suites.suite import Suite
from pytest_judgesense.trial import Failed, Judgment, Trial, Verdict, content_of_slot

_Chance: TypeAlias = float | str  # a reason where there is none
_Key = TypeVar("_Key", bound=Hashable)
_Call: TypeAlias = tuple[str, str, str, str, int]  # cluster, item, template, order, replicate

_STABILITY: Final = ("jss", "flip_rate", "kappa")
_MOST: Final = 10  # templates, and replicates, of a design that is sought


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked of a suite.

    Attributes:
        drop: a change for the worse that is to be stopped, above 0; ``None`` for none.
        half_width: of the 95% interval that a design is sought for, above 0.
        shares: for the plan alone, the assumed value of measures; any other is taken half-way
            between its bar and no error.
        correlation: for the plan alone, the intraclass correlation of the units of a cluster.
    """

    policy: Policy = "estimate"
    seed: int = 0
    drop: float | None = None
    half_width: float = 0.05
    shares: Mapping[str, float] = field(default_factory=dict)
    correlation: float = 0.3
    registry: Registry = BUILT_IN

    def __post_init__(self) -> None:
        for measure_name in self.shares:
            if measure_name not in (known := self.registry.measures):
                raise unknown_name("measure", measure_name, known)
        if self.drop == 0 or self.half_width == 0:
            raise UsageError("a drop and a half-width are above 0", found="0")


@dataclass(frozen=True, slots=True)
class CheckPower:
    """The error rates of one check, or of one bar of a composite check.

    Attributes:
        name: the check's id, with the name of the bar behind it if it has several.
        value: estimated or assumed.
        clusters: 0 where nothing was measured.
        again: chance that it does not pass on this very judge, asked the same items again.
        anew: the same on as many new items.
        drop: smallest change for the worse that it stops with 80% power.
        needed: clusters with which it passes today (95%) and stops the stated drop (80%);
            ``None`` where no drop was stated.
    """

    name: str
    value: float | None
    clusters: int
    again: _Chance
    anew: _Chance
    drop: _Chance
    needed: int | str | None = None


def add_arguments(parser: argparse.ArgumentParser, *, judge_required: bool = False) -> None:
    """Add the suite, the judge, and what is supposed of it."""
    option, share = parser.add_argument, number("share", float, 1)
    option("judge_suite", metavar="SUITE", help="a suite by name, NAME@PRESET, or its file")
    option("--judge-name", required=judge_required, metavar="NAME")
    add_cassettes(parser)
    option("--judge-policy", choices=["estimate", "confident"], default="estimate")
    option("--judge-seed", type=seed, default=0, metavar="N")

    def assumption(text: str) -> tuple[str, float]:
        name, _, value = text.partition("=")
        return name, share(value)

    option("--assume", type=assumption, metavar="MEASURE=SHARE", **MANY)
    option("--correlation", type=share, default=0.3, metavar="RHO")
    option("--drop", type=share, metavar="D", help="a change for the worse to be stopped")
    option("--precision", type=share, default=0.05, metavar="H", help="half-width wanted")


def run(options: argparse.Namespace) -> Iterator[str]:
    """Say how often checks stop an unchanged judge, and what they catch."""
    asked = Asked(
        options.judge_policy,
        options.judge_seed,
        options.drop,
        options.precision,
        dict(options.assume),
        options.correlation,
        registry_of(options),
    )
    if options.judge_name is None or options.assume:
        return power_lines(suite_of(options), asked)
    judge, suite = judge_and_suite(options)
    return power_lines(suite, asked, judge, options.judge_cassettes)


def cassettes_of(judge: JudgeSpec, suite: Suite, cassettes: Path) -> dict[str, Path]:
    """The cassettes of the suite by recording, as pytest would find them."""
    names = suite_for_judge(suite, judge).recordings
    files = {name: Path(judge.slug) / f"{name}.jsonl" for name in names}
    return {
        name: path if (path := cassettes / file).exists() else builtin_cassette(file) or path
        for name, file in files.items()
    }


def powers(suite: Suite, asked: Asked, cell: Cell | None = None) -> list[CheckPower]:
    """The error rates of every check of ``suite``; without a ``cell``, by the plan alone."""
    known = cell or _imagined(suite, asked)
    estimates, parts, rows = estimate_all(known), _Parts(known), []
    for one in suite.checks:
        check = declare_check(one.name, (), dict(one.arguments), asked.registry)
        findings = judge_check(check, suite.name, estimates, asked.policy).findings
        for finding in findings:
            of = finding.estimate
            narrowed = ",".join(f"{k}={v}" for k, v in of.condition.items() if k != "arm")
            bar = f"{check.name}: {of.measure}" + (f"[{narrowed}]" if narrowed else "")
            name = check.id if len(findings) == 1 else bar
            rows.append(_row(name, finding, parts, asked, plan_alone=cell is None))
    return rows


def _imagined(suite: Suite, asked: Asked) -> Cell:
    """Judgments that fill the design: only the number of their units is used."""
    label, pairwise = suite.space.labels[0], suite.space.pairwise
    judgments = [
        Judgment(t, "", Verdict(label), content_of_slot(label, t.order) if pairwise else None)
        for t in plan_trials(suite)
    ]
    return cell_of("", suite, judgments, asked.seed, asked.registry)


@dataclass(frozen=True)
class _Parts:
    """The estimates of each cluster, and of each replicate of each cluster, made once."""

    cell: Cell

    @cached_property
    def whole(self) -> dict[str, tuple[Estimate, ...]]:
        return self._by(lambda trial: trial.cluster)

    @cached_property
    def apart(self) -> dict[tuple[str, int], tuple[Estimate, ...]]:
        return self._by(lambda trial: (trial.cluster, trial.replicate))

    def _by(self, key: Callable[[Trial], _Key]) -> dict[_Key, tuple[Estimate, ...]]:
        groups: dict[_Key, list[Judgment]] = defaultdict(list)
        for judgment in self.cell.judgments:
            groups[key(judgment.trial)].append(judgment)
        return {
            key: estimate_all(replace(self.cell, judgments=tuple(group)))
            for key, group in groups.items()
        }


def _units(estimates: tuple[Estimate, ...], like: Estimate) -> tuple[float, int]:
    """Sum and number of units of the estimate that is like this one."""
    found = find_estimate(estimates, like.measure, dict(like.condition))
    return (0.0, 0) if found is None or found.count is None else (found.count, found.n)


def _row(
    name: str, finding: Finding, parts: _Parts, asked: Asked, *, plan_alone: bool
) -> CheckPower:
    estimate, folded = finding.estimate, finding.estimate.measure == "side_bias"
    if estimate.value is None:
        reason = str(estimate.unavailable)
        return CheckPower(name, None, 0, reason, reason, reason)
    missing = 0.0 if plan_alone else estimate.missing.share
    confident = asked.policy == "confident"
    bar = power.Bar(finding.bar, finding.floor, confident, folded, missing)
    if estimate.count is None:
        return _number_row(name, estimate, bar, plan_alone=plan_alone)
    found = [units for part in parts.whole.values() if (units := _units(part, estimate))[1]]
    totals, sizes = [s for s, _ in found], [n for _, n in found]
    # Errors are counted: a floor and the ceiling of its complement then draw alike.
    # Which of the two slots is favoured does not matter.
    if bar.floor or (folded and 2 * sum(totals) < sum(sizes)):
        totals = [n - s for s, n in found]
    ceiling = replace(bar, value=1 - bar.value, floor=False) if bar.floor else bar
    value = estimate.value
    if plan_alone:
        value = asked.shares.get(estimate.measure, (bar.value + bar.floor) / 2)
    elif "degenerate" in estimate.flags and estimate.measure in _STABILITY:
        return CheckPower(name, value, len(sizes), 1.0, 1.0, "a degenerate judge never passes")
    errors = 1 - value if bar.floor else value
    if plan_alone:
        known = power.known(0.5 + errors if folded else errors, asked.correlation)
    else:
        known = power.posterior(totals, sizes)
    again = "a plan alone has no replies" if plan_alone else _again(estimate, parts, bar)
    anew = power.chance_on_new_items(known, sizes, ceiling, asked.seed)
    smallest = power.smallest_drop(known, errors, sizes, ceiling, asked.seed)
    shown = "nothing is bad enough" if smallest is None else smallest
    needed = None if asked.drop is None else _needed(known, errors, sizes, ceiling, asked)
    return CheckPower(name, value, len(sizes), again, anew, shown, needed)


def _needed(
    known: power.Posterior, start: float, sizes: Sequence[int], bar: power.Bar, asked: Asked
) -> int | str:
    assert asked.drop is not None
    if power.allowed(start + bar.worse * asked.drop, bar):
        return "after such a drop the judge is still within the bar"
    size = sum(sizes) / len(sizes)
    fewest = power.clusters_for_drop(known, start, size, bar, asked.drop, asked.seed)
    return fewest or f"{power.MOST_CLUSTERS} clusters are not enough: it is too close to the bar"


def _number_row(name: str, estimate: Estimate, bar: power.Bar, *, plan_alone: bool) -> CheckPower:
    """A measure that is no share of its units: kappa, d', a threshold."""
    reason = f"{estimate.measure} is no share of its units"
    anew: _Chance = 1.0 if "degenerate" in estimate.flags else reason
    found, value = estimate.clustered, None if plan_alone else estimate.value
    if estimate.measure != "detection_threshold" and found and value is not None and anew != 1.0:
        bound = found.lower_bound if bar.floor else found.upper_bound
        anew = power.chance_of_number(value, bound, found.clusters, bar)
    return CheckPower(name, value, found.clusters if found else 0, reason, anew, reason)


def _again(estimate: Estimate, parts: _Parts, bar: power.Bar) -> _Chance:
    clusters, replicates = map(dict.fromkeys, zip(*parts.apart, strict=True))
    if len(replicates) < 2:
        return "needs two or more replicates; set replicates in [design]"
    if estimate.measure == "repeat_flip_rate" or estimate.unit == "question":
        return "its units are made of all replicates"
    units = {key: _units(part, estimate) for key, part in parts.apart.items()}
    table = [
        [units.get((cluster, r), (0.0, 0)) for r in sorted(replicates)] for cluster in clusters
    ]
    table = [row for row in table if any(n for _, n in row)]
    return power.chance_asked_again(
        [[s for s, _ in row] for row in table], [[n for _, n in row] for row in table], bar
    )


def power_lines(
    suite: Suite, asked: Asked, judge: JudgeSpec | None = None, cassettes: Path = Path("cassettes")
) -> Iterator[str]:
    """The error rates as a table, the reasons for its gaps, and the cheapest design.

    Without a judge, or where a trial of it is not recorded, by the plan alone.
    """
    cell = _recorded(judge, suite, cassettes, asked) if judge else None
    whose = f"judge {cell.judge}, {len(cell.judgments)} judgments" if cell else "the plan alone"
    yield f"{suite.name}, policy {asked.policy}: {whose}"
    if judge and not cell:
        yield f"  not all trials of judge {judge.name} are recorded"
    yield "chance not to pass on the same judge; smallest drop that is stopped in 80% of runs"
    head = ["check", "now", "same items", "new items", "drop", "clusters"]
    table = [head + ([f"for {asked.drop:g}"] if asked.drop else [])]
    notes: dict[str, None] = {}

    def shown(value: float | str | None) -> str:
        if isinstance(value, str):
            notes[value] = None
            return f"({list(notes).index(value) + 1})"
        if isinstance(value, int):
            return str(value)
        return "-" if value is None else number_text(value)

    for row in powers(suite, asked, cell):
        values = (row.value, row.again, row.anew, row.drop, row.clusters, row.needed)
        table.append([row.name, *map(shown, values[: len(table[0]) - 1])])
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for line in table:
        yield ("  " + "  ".join(map(str.ljust, line, widths))).rstrip()
    yield from (f"  ({i}) {note}" for i, note in enumerate(notes, start=1))
    if cell:
        yield from split_lines(cell, asked.half_width, asked.registry)


def _recorded(judge: JudgeSpec, suite: Suite, cassettes: Path, asked: Asked) -> Cell | None:
    """The judge's recorded judgments; ``None`` if any is missing."""
    files, registry = cassettes_of(judge, suite, cassettes), asked.registry
    with closing(AskingLoop()) as loop, suppress(MissingRecording):
        return measure(judge, suite, files, loop, seed=asked.seed, registry=registry).cell
    return None


def split_lines(cell: Cell, half_width: float, registry: Registry = BUILT_IN) -> Iterator[str]:
    """The variance components of the call-level share, and the cheapest design for a precision."""
    name, scores = _scores(cell, registry.kinds[cell.design.kind])
    array = balanced_array(scores) if scores else None
    if not array or not (parts := variance_components(*array, {"item": "cluster"})):
        reason = "no item with a label and all of its calls" if not array else "nothing is varied"
        yield f"variance components: unavailable ({reason})"
        return
    factors = array[1]
    rest = "rest" if parts.confounded else REPLICATE
    shown = [" x ".join(f for f in factors if f in names) or rest for names in parts.variances]
    variances = zip(shown, parts.variances.values(), strict=True)
    yield f"variance of {name}: " + ", ".join(f"{what} {v:.4f}" for what, v in variances)
    upto = range(1, _MOST + 1)
    choices = {"template": upto, REPLICATE: (1,) if parts.confounded else upto}
    fixed = {f: n for f, n in parts.levels.items() if f in factors[1:] and f != "template"}
    split = cheapest_split(parts, half_width, choices, scaled=factors[0], fixed=fixed)
    wanted = f"for a 95% interval of +/-{half_width:g}"
    if split is None:
        yield f"{wanted}: not within {_MOST} templates, {_MOST} replicates"
        return
    levels = [f"{split.levels[f]} {f}s" for f in (*factors, REPLICATE) if f in split.levels]
    yield f"{wanted}: {' x '.join(levels)} = {split.calls} calls (+/-{split.half_width:.3f})"


def _scores(cell: Cell, kind: SuiteKind) -> tuple[str, dict[_Call, float]]:
    """The call-level share of the suite, and the score of every call received."""
    scores: dict[_Call, float] = {}
    for judgment in cell.judgments:
        trial, score = judgment.trial, kind.call_score(judgment)
        counts = trial.condition.get("arm") in (None, "baseline")
        if score is not None and counts and not isinstance(judgment.outcome, Failed):
            template = f"{trial.template}{trial.condition.get('temperature', '')}"
            scores[trial.cluster, trial.item, template, trial.order, trial.replicate] = score
    return kind.call_measure, scores
