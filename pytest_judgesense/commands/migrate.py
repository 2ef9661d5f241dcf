"""``judgesense migrate OLD NEW SUITE``: what moving a judge to another model changes.

Both judges are measured on the same suite, from their recordings; ``--judge-mode record`` asks what
is missing, after its price. Of a judge that nobody can ask any more its judgment log does as well.
The command exits with 1 if something is not kept: a measure is worse beyond chance, or no mark of
the new judge keeps the old pass rate, and that beyond chance.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

from pytest_judgesense.api import MeasuredDatasheet
from pytest_judgesense.checks.variants import against_the_first
from pytest_judgesense.commands.live_calls import add_terms, terms_of
from pytest_judgesense.commands.options import (
    BAR_FAILED,
    FILE,
    add_suite,
    number,
    place_of,
    registry_of,
    show,
    tell_of_outputs,
)
from pytest_judgesense.errors import UsageError, listed
from pytest_judgesense.estimate import Estimate
from pytest_judgesense.files.output import Outputs
from pytest_judgesense.judges.local.models import JUDGES as LOCAL_JUDGES
from pytest_judgesense.judges.resolving import declared_judges
from pytest_judgesense.judges.spec import JudgeSpec
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.measures.cell_estimates import estimate_all
from pytest_judgesense.questions.pricing import call_plan, how_to_record
from pytest_judgesense.questions.terms import measured
from pytest_judgesense.registry import Registry
from pytest_judgesense.report.logged_cells import cells_of_logs
from pytest_judgesense.report.model_change import Migration, sentences, tables, to_plain
from pytest_judgesense.report.terminal import tables_lines
from pytest_judgesense.suites.space import position
from pytest_judgesense.suites.suite import Suite
from pytest_judgesense.text.layout import indented

_LOG: Final = ".jsonl"
_MOST_LINES: Final = 10  # of a table on the screen
_WITHIN: Final = 0.02

# The judgments of a judge, and its estimates.
_Measured = tuple[Cell, Sequence[Estimate]]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the judges, the suite, the mark, the limits, and the file."""
    text = "the judge that is replaced: a name that pyproject.toml declares, provider:model, or a "
    text += "judgment log of it (.jsonl)"
    parser.add_argument("old", metavar="OLD", help=text)
    parser.add_argument("new", metavar="NEW", help="the judge that replaces it, likewise")
    add_suite(parser)
    text = "the old judge's pass mark: a grade of the scale or between two, or a share of it up to "
    text += "1 (default: the suite's)"
    parser.add_argument("--mark", help=text)
    text = f"how far from the old pass rate a rate is that keeps it (default: {_WITHIN})"
    share = number("share", float, 1)
    parser.add_argument("--within", type=share, default=_WITHIN, metavar="SHARE", help=text)
    add_terms(parser)
    parser.add_argument("-o", "--output", help="write all of it as JSON", **FILE)


def run(options: argparse.Namespace) -> int:
    """Print what moves; 1 if something is not kept."""
    if options.output is not None and options.output.suffix != ".json":
        raise UsageError(
            "what moves cannot be written in this form",
            found=str(options.output),
            expected="a file that ends in .json",
        )
    registry = registry_of(options)
    suite = replace(place_of(options).suite(options.judge_suite, labelled=False), checks=())
    mark = _mark(options.mark, suite)
    names = [name for name in (options.old, options.new) if not name.endswith(_LOG)]
    _refuse_undeclared(options, names, registry)
    judges = place_of(options).judges_to_ask(names) if names else []
    specs = {spec.called or spec.name: spec for spec in judges} | {
        spec.name: spec for spec in judges
    }
    if options.old == options.new or len({spec.slug for spec in specs.values()}) < len(names):
        raise UsageError(
            "a judge is not moved to itself",
            found=f"{options.old} and {options.new}",
            expected="two judges",
            remedy="how much a judge differs by itself: judgesense explain repeat_flip_rate",
        )
    terms, asked = terms_of(options), [specs[name] for name in names]
    plan = call_plan("", ((spec.name, spec, suite) for spec in asked), options.judge_cassettes)
    if names and (options.plan or terms.asks):
        show(plan.lines())
    if options.plan:
        return 0
    words = ["judgesense", "migrate", options.old, options.new, options.judge_suite]
    how = how_to_record(words, options.judge_cassettes, plan)
    measured_by = partial(measured, place_of(options), terms, how_to_record=how)
    old, new = _both(options, specs, suite, registry, measured_by)
    _refuse_apart(old[0], new[0])
    (old, new), left_out = _of_common(old, new)
    called = old[0].judge, new[0].judge
    if called[0] == called[1]:  # two logs of one judge
        called = options.old, options.new
    (change,) = against_the_first({called[0]: old, called[1]: new})
    score = registry.kinds[suite.kind].score
    of = Migration(
        replace(old[0], judge=called[0]),
        replace(new[0], judge=called[1]),
        change,
        score,
        mark,
        options.within,
        left_out,
    )
    show(line for sentence in sentences(of) for line in indented(sentence, width=0))
    every = [table for table in tables(of) if table.rows]
    show(tables_lines(table.first(_MOST_LINES) for table in every))
    outputs = Outputs(verbose=False)
    if options.output is not None:
        outputs.write("migration", options.output, lambda: _json(of))
    return tell_of_outputs(outputs) or (BAR_FAILED if of.worse or of.rate_lost else 0)


def _refuse_undeclared(
    options: argparse.Namespace, names: Sequence[str], registry: Registry
) -> None:
    """Raise a `UsageError` if a judge has recordings, and nothing says any more what it is."""
    declared = declared_judges(Path.cwd(), registry.providers)
    for name in names:
        is_name = name not in declared and name not in LOCAL_JUDGES and Path(name).name == name
        if is_name and ":" not in name and (options.judge_cassettes / name).is_dir():
            raise UsageError(
                f"judge {name} is recorded, and not declared",
                found=f"{options.judge_cassettes / name}; declared here: "
                f"{listed(declared) or 'none'}",
                expected=f"the table that it had, [tool.judgesense.judges.{name}]",
                remedy="declare it again, or name its judgment log (.jsonl) in its place",
            )


def _refuse_apart(old: Cell, new: Cell) -> None:
    """Raise a `UsageError` if no trial has a verdict of both judges."""
    verdicts = [
        {j.trial.id for j in cell.judgments if j.verdict is not None} for cell in (old, new)
    ]
    if verdicts[0].isdisjoint(verdicts[1]):
        raise UsageError(
            f"there is no trial of {old.suite} with a verdict of both judges",
            found=f"verdicts of {len(verdicts[0])} of {len(old.judgments)} trials of {old.judge}, "
            f"of {len(verdicts[1])} of {len(new.judgments)} of {new.judge}",
            expected="the same items, templates, orders and replicates, by the ids of the trials",
        )


def _of_common(old: _Measured, new: _Measured) -> tuple[list[_Measured], int]:
    """Both judges on the trials that both were asked, and how many others there are."""
    ids = [{judgment.trial.id for judgment in cell.judgments} for cell, _ in (old, new)]
    left_out = len(ids[0] ^ ids[1])
    if not left_out:
        return [old, new], 0
    common = ids[0] & ids[1]
    cells = (
        replace(cell, judgments=[j for j in cell.judgments if j.trial.id in common])
        for cell, _ in (old, new)
    )
    return [(cell, estimate_all(cell)) for cell in cells], left_out


def _json(of: Migration) -> str:
    return json.dumps(to_plain(of), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _mark(text: str | None, suite: Suite) -> float | None:
    """The old mark as a share of the scale."""
    if text is None:
        return None
    design = suite.design
    labels = design.scale
    ordered = design.ordinal or bool(design.criteria)
    # As in a suite file: what is a grade is one, else a number up to 1 is a share of the scale.
    share = position(text, labels) / (len(labels) - 1)
    if math.isnan(share):
        share = _up_to_one(text)
    if not ordered or not share > 0:
        raise UsageError(
            f"--mark {text} is no mark of {suite.name}",
            found=f"labels {listed(labels)}" + ("" if ordered else ", which have no order"),
            expected=f"a grade above the lowest: {listed(labels[1:])}; a number between two; or "
            "a share of the scale, above 0 and up to 1"
            if ordered
            else "a suite of grades, or of labels in order",
        )
    return share


def _up_to_one(text: str) -> float:
    """The number that a text is, from 0 to 1; NaN for another one or none."""
    try:
        number_stated = float(text)
    except ValueError:
        return math.nan
    return number_stated if 0 <= number_stated <= 1 else math.nan


# --- the two judges -------------------------------------------------------------------------------


def _both(
    options: argparse.Namespace,
    specs: Mapping[str, JudgeSpec],
    suite: Suite,
    registry: Registry,
    measured_by: Callable[[Sequence[JudgeSpec], Sequence[Suite]], MeasuredDatasheet],
) -> list[_Measured]:
    """What the two judges said, from their recordings or their logs."""
    names = [name for name in (options.old, options.new) if name in specs]
    of_name: dict[str, _Measured] = {}
    if names:
        specs_asked = [specs[name] for name in names]
        sheet = measured_by(specs_asked, [suite])
        estimates = {judge_sheet.judge: judge_sheet.estimates for judge_sheet in sheet.judges}
        for name, cell in zip(names, sheet.cells, strict=True):
            of_name[name] = cell, estimates[specs[name].slug]
    return [
        of_name[name] if name in of_name else _of_log(Path(name), suite, options, registry)
        for name in (options.old, options.new)
    ]


def _of_log(path: Path, suite: Suite, options: argparse.Namespace, registry: Registry) -> _Measured:
    cells = cells_of_logs([path], options.judge_seed, registry)
    of_suite = [cell for cell in cells if cell.suite == suite.name]
    if len(of_suite) != 1:
        raise UsageError(
            f"{path} is no log of one judge on {suite.name}",
            found=listed(f"{cell.judge} on {cell.suite}" for cell in cells) or "no judgments",
            expected="one judge on this suite",
            remedy="write it: pytest --judge-suite SUITE --judge-name NAME --judge-datasheet "
            f"{path}",
        )
    return of_suite[0], estimate_all(of_suite[0])
