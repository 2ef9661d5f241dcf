"""``judgesense import``: results and benchmark files of others as a judgment log or a suite."""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from operator import itemgetter
from pathlib import Path
from typing import Any, Final, NamedTuple

from pytest_judgesense.commands.lint import lint_report
from pytest_judgesense.commands.options import (
    FILE,
    FLAG,
    MANY,
    OUTPUT,
    assignment,
    by_criterion,
    naming,
    number,
    registry_of,
)
from pytest_judgesense.errors import LogError, UsageError, listed, unknown_name
from pytest_judgesense.files.foreign_results import Imported, short_named
from pytest_judgesense.files.output import write_text
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.registry import Registry
from pytest_judgesense.report.log import log_line
from pytest_judgesense.trial import ABSTAIN, LONGEST_NAME, MOST, TEMPERATURE, TIE, Design, grouped

_MOST_STEPS: Final = 100


_TOOLS: Final = "inspect, promptfoo, deepeval"
_ROWS: Final = f"table, {_TOOLS}"
_NUMBERS: Final = f"{_TOOLS}, with numbers as grades"
# Fields that an option gives to all rows: beside a column of them rows repeat a trial.
_OF_ALL_ROWS: Final = frozenset({"judge", "suite", "replicate"})


class _Option(NamedTuple):
    """An option of some forms.

    Attributes:
        needs: the forms, and what their files must hold.
        does: what it does to them.
        arguments: of `argparse`.
    """

    needs: str
    does: str
    arguments: Mapping[str, Any]


def _options() -> Mapping[str, _Option]:
    """Options by name."""
    column, name = {"metavar": "COLUMN"}, {"metavar": "NAME"}
    by_column = "the column of the {}; of a table --map {}=COLUMN"
    label = by_column.format("grade that a person gave", "label")
    order = by_column.format("order of two candidates, ab or ba", "order")
    value_help = "what a verdict or label is called here, or nothing; may be repeated"
    names = "whether a verdict, a label or a text (a of field.a) of two candidates that changed "
    names += "places names the slot as the judge saw it, or the content; may be repeated"
    labels = "the possible verdicts, to be read from the replies; with tie and abstain where these "
    mapped = "the column that holds a field of a judgment, a.b for field b of objects in column a; "
    steps = {"type": number("number of steps", int, _MOST_STEPS), "metavar": "N"}
    least = {"type": number("threshold", float), "metavar": "T"}
    columns = {**MANY, "type": assignment, "metavar": "FIELD=COLUMN"}
    meant = {**MANY, "type": _translation, "metavar": "SAID=MEANT"}
    graded = {"action": "extend", "default": [], "type": by_criterion}
    of_judge = graded | {"metavar": "CRITERION=COLUMN,..."}
    of_people = graded | {"metavar": "CRITERION=COLUMN+...,..."}
    named = {**MANY, "type": naming, "metavar": "FIELD=slot|content"}
    which = {"type": number("replicate", int, MOST, least=1), "metavar": "N"}
    members = (
        "a column that holds a list: each member is a row, with its place, from 1, in columns "
    )
    members += "of these names, one for each depth of lists in lists; may be repeated"
    places = {**MANY, "type": assignment, "metavar": "COLUMN=NAME,..."}
    more = "a file with more columns of the rows, such as people's labels, and the column of both "
    more += "that tells them"
    one_of = "only this scorer, metric or type of assertion; may be repeated"
    variant = "only this variant of the prompt; may be repeated"
    again = "parse recorded completions again; ignore recorded verdicts"
    pairs = "the file of its pairs, which has their templates, polarity, clusters and gold labels"
    without = "leave out the pairs with this template, such as t4; may be repeated"
    reviews = "a file of reviews of its pairs, which become those of the templates; may be repeated"
    return {
        "--reparse": _Option("llmbar, judgebench", again, FLAG),
        "--variant": _Option("llmbar", variant, MANY | name),
        "--pairs": _Option("judgesense, with a decision log", pairs, FILE),
        "--leave-out": _Option("judgesense, with the pairs", without, {**MANY, "metavar": "ID"}),
        "--validation": _Option("judgesense, with a pair file", reviews, MANY | FILE),
        "--map": _Option(_ROWS, f"{mapped}may be repeated", columns),
        "--value": _Option(_ROWS, value_help, meant),
        "--names": _Option(_ROWS, names, named),
        "--labels": _Option(
            "table, without a column of verdicts",
            f"{labels}are permitted",
            {"type": _labels, "metavar": "A,B,..."},
        ),
        "--grades": _Option("table", "the judge's grades, a column a criterion", of_judge),
        "--people": _Option(
            "table, with --grades",
            "people's grades, of each criterion a column a person",
            of_people,
        ),
        "--pass-mark": _Option(
            "table, with --grades", "the grade from which an output passes", {"metavar": "GRADE"}
        ),
        "--lists": _Option("table", members, places),
        "--join": _Option("table", more, {"type": _file_and_column, "metavar": "FILE=COLUMN"}),
        "--replicate": _Option("table", "the replicate of all rows", which),
        "--judge": _Option(_ROWS, "the judge of all rows", name),
        "--suite": _Option(f"games, {_ROWS}", "the suite of all rows", name),
        "--cluster": _Option(_TOOLS, by_column.format("cluster", "cluster"), column),
        "--order": _Option(_TOOLS, order, column),
        "--label": _Option(_TOOLS, label, column),
        "--scorer": _Option(_TOOLS, one_of, MANY | name),
        "--scale": _Option(_NUMBERS, "read scores as steps, 0 to N, from 0 to 1", steps),
        "--threshold": _Option(_NUMBERS, "read scores as pass, from T on, and fail", least),
    }


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("kind", metavar="KIND", help=", ".join(BUILT_IN.importers))
    parser.add_argument("path", type=Path, metavar="PATH", help="file or folder of the results")
    parser.add_argument("-o", "--output", required=True, help=OUTPUT, **FILE)
    either = parser.add_mutually_exclusive_group()
    for name, option in _options().items():
        group = either if option.needs == _NUMBERS else parser
        group.add_argument(name, help=f"{option.needs}: {option.does}", **option.arguments)


def _labels(text: str) -> tuple[str, ...]:
    """Two verdicts or more, separated by commas."""
    labels = tuple(label.strip() for label in text.split(","))
    if len({*labels}) < len(labels) or not all(labels) or len({*labels} - {TIE, ABSTAIN}) < 2:
        raise argparse.ArgumentTypeError(f"{text!r} names no two verdicts, such as YES,NO")
    return labels


def _file_and_column(text: str) -> tuple[Path, str]:
    """``FILE=COLUMN``; a file may have ``=`` in its name."""
    file, _, column = text.rpartition("=")
    if not file or not column:
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form FILE=COLUMN")
    return Path(file), column


def _translation(text: str) -> tuple[str, str]:
    """``SAID=MEANT``, or ``SAID=`` for what states nothing."""
    word, equals, meant = text.partition("=")
    return (word, meant) if word and equals and not meant else assignment(text)


def _noting(options: argparse.Namespace) -> tuple[argparse.Namespace, set[str]]:
    """The options, and the names of those that have been read, which grow with every look at one.

    Who looks at all at once has read all.
    """
    read_names: set[str] = set()

    class Noting(argparse.Namespace):
        def __getattribute__(self, name: str) -> Any:
            read_names.add(name)
            return super().__getattribute__(name)

    return Noting(**vars(options)), read_names


def _refuse_unused(options: argparse.Namespace, read_names: Collection[str], form: str) -> None:
    """Raise a `UsageError` for an option that was given and that the importer has not read."""
    if "__dict__" in read_names:
        return
    for name, option in _options().items():
        field = name.removeprefix("--").replace("-", "_")
        value = getattr(options, field)
        if field in read_names or value is None or value is False or value == []:
            continue
        raise UsageError(
            f"{name} is not used: {options.path} was read as {form} of the form {options.kind}",
            found=name if value is True else f"{name} {_as_given(value)}",
            expected=f"{option.needs}: {option.does}",
            remedy=f"leave out {name}, or import a file that it is for",
        )


def _refuse_several_columns(options: argparse.Namespace) -> None:
    for column, lists in grouped(options.lists, itemgetter(0)).items():
        if len(lists) > 1:
            raise UsageError(
                f"--lists names column {column} more than once",
                found=listed(names for _, names in lists),
                expected="each column once, with a name for each depth of lists in lists",
                remedy=f"--lists {column}={','.join(names for _, names in lists)}",
            )
    for name, pairs in grouped(options.map, itemgetter(0)).items():
        named = [column for _, column in pairs]
        if len(named) > 1:  # the last one would hide the others
            raise UsageError(
                f"--map names several columns for the {name}",
                found=listed(named),
                expected="one column for each field",
                remedy="import once for each column, named by --judge, and join the logs by "
                "judgesense recordings join",
            )


def _refuse_named_twice(options: argparse.Namespace, names: Collection[str] | None = None) -> None:
    for name, column in options.map:
        if names is not None and name not in names:
            continue
        if (option := vars(options).get(name)) is not None:
            raise UsageError(
                f"the {name} is given twice",
                found=f"--{name} {option} and --map {name}={column}",
                expected="one of the two",
            )


def _as_given(value: Any) -> str:
    values = value if isinstance(value, list) else [value]
    parts = (part if isinstance(part, tuple) else (part,) for part in values)
    return ", ".join("=".join(map(str, part)) for part in parts)


def _as_sweeps(read: Imported, registry: Registry) -> tuple[Imported, list[str]]:
    """The judgments, with the design of a sweep where each holds its temperature; and notices."""
    kind = next((kind for kind in registry.forms.values() if kind.sweeps), None)
    temperatures: dict[str, set[Any]] = defaultdict(set)
    for judgment, _ in read.judgments:
        trial = judgment.trial
        temperatures[trial.suite].add(trial.condition.get(TEMPERATURE))
    swept = {
        suite: sorted(steps)
        for suite, steps in temperatures.items()
        if all(isinstance(step, float) for step in steps)
    }
    if kind is None or not swept:
        return read, []
    designs: dict[Design, Design] = {}
    judgments = []
    for judgment, read_design in read.judgments:
        design = read_design
        if judgment.trial.suite in swept:
            sweep = replace(design, kind=kind.name, others=True, pairs=())
            design = designs.setdefault(read_design, sweep)
        judgments.append((judgment, design))
    notices = [
        f"notice: suite {suite} is a sweep of temperatures: "
        f"{', '.join(f'{step:g}' for step in steps)}"
        for suite, steps in swept.items()
    ]
    return replace(read, judgments=tuple(judgments)), notices


def run(options: argparse.Namespace) -> Iterator[str]:
    """Turn foreign files into a judgment log or a suite."""
    registry = registry_of(options)
    importers = registry.importers
    if options.kind not in importers:
        raise unknown_name("form of foreign files", options.kind, importers)
    if not options.path.exists():
        raise UsageError(
            f"there is nothing to import at {options.path}",
            found="no such file or folder",
            expected=f"what `judgesense import {options.kind}` reads",
        )
    _refuse_several_columns(options)
    _refuse_named_twice(options, _OF_ALL_ROWS)
    watched, read_options = _noting(options)
    variants = (other for other in registry.variants if other.name == options.kind)
    chosen = (other for other in variants if getattr(options, other.option))
    read = next(chosen, importers[options.kind]).read(watched)
    _refuse_unused(options, read_options, "judgments" if isinstance(read, Imported) else "a suite")
    _refuse_named_twice(options)
    yield from (f"notice: {notice}" for notice in read.notices)
    if not isinstance(read, Imported):
        files = read.files(options.output)
        for path, text in files.items():
            write_text(path, text)
            yield f"written: {path}"
        yield from lint_report([path for path in files if path.name.endswith(".suite.toml")])[0]
        return
    if not read.judgments:
        raise LogError(
            f"{options.path} holds no judgment", found="no record", expected="at least one"
        )
    if read.objections:
        raise read.objections[0]
    read, sweeps = _as_sweeps(read, registry)
    yield from sweeps
    shortened = [(short_named(judgment), design) for judgment, design in read.judgments]
    write_text(options.output, "".join(f"{log_line(*line)}\n" for line in shortened))
    judgments = [judgment for judgment, _ in shortened]
    if changed := sum(a is not b for a, (b, _) in zip(judgments, read.judgments, strict=True)):
        yield (
            f"notice: names of more than {LONGEST_NAME} characters (items, clusters and such) are "
            f"cut to their beginning and a digest; judgments with such names: {changed}"
        )
    judges = sorted({judgment.judge for judgment in judgments})
    suites = sorted({judgment.trial.suite for judgment in judgments})
    unparsed = sum(judgment.verdict is None for judgment in judgments)
    count = f"{len(judgments)} judgment{'s' * (len(judgments) != 1)}"
    summary = f"{count} of {', '.join(judges)} on {', '.join(suites)}"
    yield f"{summary}; {unparsed} state no verdict"
    yield from map(str, read.totals)
    yield f"written: {options.output}"
