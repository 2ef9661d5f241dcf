"""``judgesense compare``: two measurements side by side, or the judges of one."""

from __future__ import annotations

import argparse
import shlex
import textwrap
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from pytest_judgesense.asking.inquiry import Asking
from pytest_judgesense.checks import regression
from pytest_judgesense.checks.explanation import flip_lines
from pytest_judgesense.checks.reference import Reference
from pytest_judgesense.checks.regression import Adjustment, Comparison, Side
from pytest_judgesense.commands import compare_judges, compare_prompts
from pytest_judgesense.commands.live_calls import add_outputs, add_terms
from pytest_judgesense.commands.options import (
    BAR_FAILED,
    FLAG,
    add_judge,
    number,
    place_of,
    registry_of,
    seed,
    show,
)
from pytest_judgesense.datasheets import sections
from pytest_judgesense.datasheets.datasheet import Datasheet, setting_notices
from pytest_judgesense.datasheets.sections import ComparedJudge
from pytest_judgesense.earlier.baseline import Measured, changes, read_measured
from pytest_judgesense.earlier.past import ExchangesByTrial, NotCompared, PastReader, measured_now
from pytest_judgesense.errors import UsageError, listed
from pytest_judgesense.estimate import number_text
from pytest_judgesense.judges.calls import identity_of
from pytest_judgesense.judges.loop import AskingLoop
from pytest_judgesense.judges.prompts import suite_for_judge
from pytest_judgesense.judges.remembered import recorded_trials
from pytest_judgesense.judges.spec import JudgeSpec
from pytest_judgesense.judges.trust import Trust
from pytest_judgesense.measurement import measure as measure_suite
from pytest_judgesense.questions.place import find_code_of_project
from pytest_judgesense.registry import Registry
from pytest_judgesense.report.logged_cells import cells_of_logs
from pytest_judgesense.report.terminal import notice_lines
from pytest_judgesense.report.view import view_of
from pytest_judgesense.revisions.revision import REVISION, NoParent, Revision
from pytest_judgesense.suites.builtin import cassettes_in
from pytest_judgesense.suites.suite import Suite
from pytest_judgesense.text.layout import WIDTH
from pytest_judgesense.text.shown_change import ends_text

_SHOWN_FLIPS: Final = 10
# What the two measurements are called: of one judge, and of two judges.
_NAMES: Final = ("old measurement", "new measurement")
_NAMES_OF_TWO: Final = ("first judge", "second judge")
_HEAD: Final = ("measure", "old", "new", "change", "95% bounds", "no loss p", "verdict")
_HEAD_OF_TWO: Final = ("measure", "first", "second", *_HEAD[3:])
# The verdicts on two judges, by the verdicts on one judge that was measured twice.
_OF_TWO: Final = {
    "regressed": "differ: first better",
    "improved": "differ: second better",
    "unchanged": "alike",
    "inconclusive": "no clear difference",
}
# What is compared where no option asks for another way: files.
WAYS: Final = (compare_prompts, compare_judges)
_UNKNOWN: Final = "not known here; the plugin that adds it is loaded by: judgesense -p MODULE"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the two measurements, and the margins."""
    help_text = "measured before, or several judges to be ranked: .json or .jsonl; or git:REF, the "
    help_text += "recordings as they stood at a revision of the repository"
    parser.add_argument("names", metavar="NAME", nargs="*", help=help_text)
    for way in WAYS:
        way.add_arguments(parser)
    add_judge(parser)
    add_terms(parser, live=True)
    add_outputs(parser)
    help_text = "acceptable loss, for every measure (default: that of each measure)"
    parser.add_argument("--margin", type=number("margin", float), help=help_text)
    parser.add_argument("--seed", type=seed, default=0, help="seed of every random draw")
    text = "beside git:REF: run no code of judges, and read what their functions had returned"
    parser.add_argument("--no-code", help=text, **FLAG)


def run(options: argparse.Namespace) -> int:
    """Print two measurements side by side, or the ranks of the judges of one."""
    for way in WAYS:
        if way.is_meant(options):
            code: int = way.run(options)
            return code
    options.old, *rest = options.names
    options.new = Path(rest[0]) if rest else None
    registry = registry_of(options)
    if options.old.startswith(REVISION):
        return _with_revision(options, registry)
    old = _measured(Path(options.old), options.seed, registry)
    if options.new is None:
        if not (ranks := list(_ranked(old, options.seed, registry))):
            raise UsageError(
                "there are no judges to rank",
                found=_named(old),
                expected="two judges or more on one suite, with a measure that ranks judges",
                remedy="name a second file: judgesense compare OLD NEW",
            )
        return show(ranks)
    new = _measured(options.new, options.seed, registry)
    lines, regressed = _comparison_lines(old, new, options.margin, registry)
    show(lines)
    if not {measured.judge for measured in old} & {measured.judge for measured in new}:
        show(_ranked([*old, *new], options.seed, registry))
    return BAR_FAILED if regressed else 0


def _with_revision(options: argparse.Namespace, registry: Registry) -> int:
    """Print the recordings beside those at a revision."""
    old, new, at_revision = [], [], {}
    with TemporaryDirectory(prefix="judgesense-revision-") as folder:
        root, name = Path.cwd(), options.old.removeprefix(REVISION)
        try:
            revision = Revision.read(name, root)
        except NoParent as error:
            return show([f"{error.what}: not compared"])
        cassettes = root / options.judge_cassettes
        reader = PastReader(revision, root, cassettes, Path(folder), options.seed, registry)
        name = str(options.new) if options.new else None
        for judge, suite in place_of(options).recorded(name):
            paths = cassettes_in(cassettes, judge.slug, suite.recordings).values()
            try:
                past = reader.past(judge, suite)
            except NotCompared as error:
                show([f"{error.what}: not compared"])
                continue
            if options.no_code:
                now, exchanges = measured_now(judge, suite, paths, options.seed, registry)
            else:
                now, exchanges = _replayed(judge, suite, cassettes, options.seed, registry)
            old.append(past.measured)
            new.append(now)
            own_suite = suite_for_judge(suite, judge)
            at_revision[judge.name, suite.name] = _AtRevision(
                past.changes(exchanges).lines, past.reference(own_suite, exchanges)
            )
    if not old:
        return show(["nothing is compared"])
    lines, regressed = _comparison_lines(old, new, options.margin, registry, at_revision)
    if options.no_code:
        lines.append("no code was run: the verdicts of functions are those that they had returned")
    show(lines)
    return BAR_FAILED if regressed else 0


class _AtRevision(NamedTuple):
    """A judge on a suite at a revision.

    Attributes:
        changes: what differs in what was sent, in the code and in the items, in lines.
        reference: it, as checks compare with it.
    """

    changes: tuple[str, ...]
    reference: Reference


def _replayed(
    judge: JudgeSpec, suite: Suite, cassettes: Path, seed: int, registry: Registry
) -> tuple[Measured, ExchangesByTrial]:
    """A judge on a suite as pytest replays it: the code of functions is run, and asks nobody."""
    if judge.provider == "callable":
        find_code_of_project()
    own_suite = suite_for_judge(suite, judge)
    asking = Asking(
        trust=Trust.here(suite.path),
        how_to_record=f"record it: pytest {shlex.quote(str(suite.path))} --judge-mode record",
        registry=registry,
    )
    paths = cassettes_in(cassettes, judge.slug, own_suite.recordings)
    with closing(AskingLoop()) as loop:
        measurement = measure_suite(judge, suite, paths, loop, seed=seed, asking=asking)
    side = Side(measurement.sound().estimates, measurement.cell)
    measured = Measured(judge.name, suite.name, identity_of(judge, own_suite), side)
    return measured, recorded_trials(paths.values())


def _ranked(measured: Sequence[Measured], seed: int, registry: Registry) -> Iterator[str]:
    """The judges that were asked the same suites, by rank, and every two of them.

    Nothing where no measure ranks them.
    """
    with_tables = []
    for saved in measured:
        tables, material = saved.analyses, saved.material
        if (cell := saved.side.cell) is not None:
            tables = registry.analyses(cell, saved.side.estimates)
            material = registry.material(cell)
        with_tables.append((saved.suite, ComparedJudge(saved.judge, saved.judge, material, tables)))
    compared = sections.compare(registry.comparisons, with_tables, seed)
    if not compared:
        return
    for ranks in view_of(Datasheet(seed, "report", {}, (), compared), registry).comparisons:
        yield from ranks.comparison.lines(*ranks.shown)
    judges = {saved.judge: saved.identity for saved in measured}
    budgets = [{m.suite: m.max_tokens for m in measured if m.judge == name} for name in judges]
    yield from notice_lines(setting_notices(judges.values(), budgets))


def _measured(path: Path, seed: int, registry: Registry) -> list[Measured]:
    """The content of a baseline, a datasheet (both ``.json``) or a judgment log (``.jsonl``)."""
    if path.suffix != ".jsonl":
        return read_measured(path, seed, registry)
    return [
        Measured(cell.judge, cell.suite, {"name": cell.judge}, Side.of(cell))
        for cell in cells_of_logs([path], seed, registry)
    ]


def _comparison_lines(
    old: Sequence[Measured],
    new: Sequence[Measured],
    margin: float | None,
    registry: Registry,
    at_revision: Mapping[tuple[str, str], _AtRevision] = MappingProxyType({}),
) -> tuple[list[str], bool]:
    """The output, and whether anything regressed.

    ``margin`` is the loss that is tolerated; ``None`` for the default of each measure.
    ``at_revision``: by judge and suite, the old measurements that are those of a revision.
    """
    pairs = _pairs(old, new)
    if not pairs:
        raise UsageError(
            "there is nothing to compare: no judge and suite is in both",
            found=f"{_named(old)} against {_named(new)}",
            expected="a suite of one name in both, of one judge, or of the only judge of each",
            remedy="give logs that you import one name: judgesense import ... --suite NAME",
        )
    rows = []
    for pair, (then, now) in enumerate(pairs):
        called = _NAMES if then.judge == now.judge else _NAMES_OF_TWO
        earlier = at_revision.get((now.judge, now.suite))
        for measure, condition in _rows(then, now, registry):
            of = registry.named(measure)
            comparison = (
                earlier.reference.compare(now.side, of, condition, names=called)
                if earlier
                else regression.compare(then.side, now.side, of, condition, names=called)
            )
            if then.judge != now.judge:
                comparison = comparison.of_two_judges
            rows.append((pair, comparison))
    # Holm's family: the measures with a direction.
    judged = [i for i, (_, comparison) in enumerate(rows) if comparison.judged]
    adjusted = dict(zip(judged, regression.adjust([rows[i] for i in judged]), strict=True))
    lines, regressed = [], False
    for pair, (then, now) in enumerate(pairs):
        apart = then.judge != now.judge
        names = f"judges {then.judge} and {now.judge}" if apart else f"judge {then.judge}"
        lines += [f"{names}, suite {now.suite}"]
        changed = changes(then, now).lines
        earlier = at_revision.get((now.judge, now.suite))
        shown = (earlier and earlier.changes) or changed or [_nothing_else(then, now)]
        lines += [f"  {line}" for line in shown]
        lines.append(_row(*(_HEAD_OF_TWO if apart else _HEAD)))
        for index, (whose, comparison) in enumerate(rows):
            if whose == pair:
                verdict = _verdict(comparison, adjusted.get(index), margin)
                if apart:  # and the outcomes are no identity either
                    verdict = _OF_TWO.get(verdict, verdict)
                regressed = regressed or verdict == "regressed"
                lines += _row_lines(comparison, adjusted.get(index), verdict)
        lines += _notes(
            [
                comparison
                for place, comparison in rows
                if place == pair and _measured_at_all(comparison)
            ]
        )
        lines += [f"  {line}" for line in _flips(then.side, now.side)]
        if not (apart or changed or then.side.by_id == now.side.by_id):
            lines.append(f"  {regression.SESSIONS}")
        lines.append("")
    used = [id(measured) for pair in pairs for measured in pair]
    left = [measured for measured in (*old, *new) if id(measured) not in used]
    lines += [f"in only one of the two: {_named(left)}"] if left else []
    return lines, regressed


def _nothing_else(then: Measured, now: Measured) -> str:
    """What is said where no other difference is seen: a log does not hold all that may differ."""
    if then.prompts and now.prompts:
        return "nothing else is known to differ"
    both = "both logs hold" if not (then.prompts or now.prompts) else "a log holds"
    return f"prompts and settings are not compared: {both} none"


def _pairs(old: Sequence[Measured], new: Sequence[Measured]) -> list[tuple[Measured, Measured]]:
    """The same judge in both, or the only judge of each, on the same suite."""
    alone = len({m.judge for m in old}) == len({m.judge for m in new}) == 1
    then = {("" if alone else m.judge, m.suite): m for m in old}
    keyed = [(("" if alone else m.judge, m.suite), m) for m in new]
    return [(then[key], now) for key, now in keyed if key in then]


def _named(of: Sequence[Measured]) -> str:
    return listed(f"{m.judge} on {m.suite}" for m in of) or "nothing"


def _rows(old: Measured, new: Measured, registry: Registry) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each measure under its widest conditions: narrower ones would only enlarge Holm's family, and
    so would a quiet measure without anything to report.
    """
    conditions_of: dict[str, list[dict[str, Any]]] = defaultdict(list)
    every = (*new.side.estimates, *old.side.estimates)
    telling = {
        estimate.measure
        for estimate in every
        if estimate.value or not registry.named(estimate.measure).quiet
    }
    for estimate in every:
        condition = dict(estimate.condition)
        if estimate.measure in telling and condition not in conditions_of[estimate.measure]:
            conditions_of[estimate.measure].append(condition)
    for measure, conditions in conditions_of.items():
        fewest = min(map(len, conditions))
        yield from ((measure, condition) for condition in conditions if len(condition) == fewest)


def _verdict(comparison: Comparison, adjusted: Adjustment | None, margin: float | None) -> str:
    if adjusted is None:
        return "not judged"
    if comparison.old.value is None or comparison.new.value is None:
        return "inconclusive"
    return comparison.verdict(comparison.of.margin if margin is None else margin, adjusted)


def _measured_at_all(comparison: Comparison) -> bool:
    """Whether either side has a value: what neither has is no difference."""
    return comparison.old.value is not None or comparison.new.value is not None


def _row(name: str, old: str, new: str, change: str, interval: str, p: str, verdict: str) -> str:
    return f"  {name:<33}{old:>8}{new:>8}{change:>8}  {interval:<17}{p:>9}  {verdict}".rstrip()


def _row_lines(comparison: Comparison, adjusted: Adjustment | None, verdict: str) -> Iterator[str]:
    old, new, difference = comparison.old, comparison.new, comparison.difference
    if not _measured_at_all(comparison):
        return
    name = new.measure
    if new.condition:
        name += f" ({', '.join(str(value) for value in new.condition.values())})"
    if len(name) > 33:
        yield f"  {name}"
        name = ""
    then, now = (
        "N/A" if value is None else number_text(value, estimate.flags)
        for value, estimate in zip(comparison.values, (old, new), strict=True)
    )
    ends = comparison.interval(adjusted)
    # Plus 0.0: no difference has no sign.
    change = comparison.sign * difference.value + 0.0 if difference else None
    moved = "" if change is None else f"{change:+.3f}"
    within = ends_text(ends, "{:+.3f}".format) if ends else ""
    p = f"{adjusted.loss.p:.3g}" if difference and adjusted else ""
    yield _row(name, then, now, moved, within, p, verdict)


def _notes(comparisons: Sequence[Comparison]) -> Iterator[str]:
    """How measures were compared where it was not unit by unit, or why they were not."""
    by_note: dict[str, list[str]] = defaultdict(list)
    for comparison in comparisons:
        unknown = None if comparison.of.unit else _UNKNOWN
        unseen = (
            ""
            if comparison.difference or comparison.blocked or not comparison.identical
            else comparison.excluded()
        )
        for note in (*comparison.notes, *filter(None, [comparison.blocked, unknown, unseen])):
            by_note[note].append(comparison.new.measure)
    for note, measures in by_note.items():
        of = "" if len(measures) == len(comparisons) else f" ({', '.join(dict.fromkeys(measures))})"
        text = f"note: {note}{of}"
        yield from textwrap.wrap(text, WIDTH, initial_indent="  ", subsequent_indent="    ")


def _flips(old: Side, new: Side) -> Iterator[str]:
    both = [trial for trial in new.by_id if trial in old.by_id]
    flips = [(trial,) for trial in both if regression.differs(old.by_id[trial], new.by_id[trial])]
    if flips:
        title = f"changed verdicts (of {len(both)} trials in both)"
        yield from flip_lines(flips, title, old, new, shown=_SHOWN_FLIPS)
    elif both:
        yield f"all {len(both)} trials in both have the same verdicts"
