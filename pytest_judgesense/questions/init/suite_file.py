"""A suite file as ``judgesense init`` writes it: its table, its bars, and its text.

A bar is the strictest of a few round numbers that an error-free judge clears with confidence.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, TypeAlias

from pytest_judgesense.checks.suite_faults import can_clear, default_limit
from pytest_judgesense.files.output import toml_key, toml_text
from pytest_judgesense.files.row_options import Assignments, RowOptions
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.measures.bar import NO_REGRESSION
from pytest_judgesense.measures.definition import Measure
from pytest_judgesense.measures.shared import AGREEMENT, REPEAT_FLIP_RATE, SIDE_BIAS
from pytest_judgesense.registry import FirstCheck, LabelChecks
from pytest_judgesense.stats.losses import ASSUMED_CORRELATION, ASSUMED_RATE, PlannedGate
from pytest_judgesense.trial import grouped

# Of finding each of some losses: scattered, and on whole clusters.
_Chances: TypeAlias = list[list[float | None]]


@dataclass(frozen=True)
class FunctionOptions(RowOptions):
    """A function that judges, and its items.

    Of `RowOptions` ``map`` has the column of each parameter, and of what else an item has;
    ``names`` is about these parameters, and about the label.

    Attributes:
        function: MODULE:FUNCTION.
        items: their file, as `files.tables` reads it.
        kind: what it returns; ``None``: inferred from its parameters, the labels and the grades.
        grades: the criteria by which it grades, each with the columns of people's grades.
        labels: the possible answers, where no column holds them.
        pass_mark: the score from which a text passes, as it is written; ``None`` for none.
        folder: of the project, named in commands that a remedy shows.
    """

    function: str
    items: Path
    kind: str | None = None
    grades: Assignments = ()
    labels: tuple[str, ...] = ()
    pass_mark: str | None = None
    folder: Path = Path()


@dataclass(frozen=True)
class LogOptions(RowOptions):
    """A judgment log whose outputs become suites.

    `RowOptions` are those of a foreign file; of a log ``names`` says by a text of two
    candidates whether it is a ``slot`` or a ``content``.

    Attributes:
        log: its file; or a foreign file of rows, each a judgment.
        sample: number of outputs of each suite, drawn in proportion to the verdicts; ``None``: all.
        seed: of that draw.
        labels: the possible answers, where the log does not hold them.
        template: a file with the first wording; ``None`` for the judge's own.
    """

    log: Path
    sample: int | None = None
    seed: int = 0
    labels: tuple[str, ...] = ()
    template: Path | None = None


_NO_LABEL_CHECKS: Final = LabelChecks()
_FLOORS: Final = (0.8, 0.75, 0.7, 0.6, 0.5, 0.4)
_REPLICATES: Final = 3
_MOST_CALLS: Final = 1000
# Fewer clusters exclude nothing: a limit would fail every judge.
_FEWEST_FOR_LIMIT: Final = 20
_LOSSES: Final = (0.1, 0.2)
_CEILINGS: Final = (0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5)
_LITERAL: Final = re.compile(r"[^\x00-\x08\x0b-\x1f\x7f]*[^\x00-\x08\x0b-\x1f\x7f']")


def suite_table(
    name: str,
    space: Mapping[str, Any],
    stimuli: Mapping[str, Any],
    wordings: Mapping[str, str],
    gated: Iterable[Measure],
    sizes: Sequence[int],
    of_kind: Sequence[FirstCheck] = (),
    kind: str = "",
    of_labels: Sequence[FirstCheck] = (),
) -> dict[str, Any]:
    """A suite of the kind for items of any form, with one content or two, as a table.

    Every question is asked three times (a pair in both orders each time), or twice where that
    would be more than a thousand calls: repeats tell a change from chance. Each gated measure has
    the strictest bar that an error-free judge clears with confidence, and a limit that it clears
    although it has lost an item (`default_limit`); and `no_regression` holds what changes with a
    prompt against the version before (`compared_measures`).

    Args:
        name: of the suite.
        space: its possible answers.
        stimuli: where its items are.
        wordings: texts of its templates, by their ids.
        gated: what its checks are about.
        sizes: items of each cluster.
        kind: of the suite, if it is not that of verdicts.
        of_kind: checks with bars and margins of their own, which those of ``gated`` join.
        of_labels: checks of labels of which one is rare, likewise.
    """
    checks: dict[str, Any] = {}
    gated = [*gated, *(check.measure for check in of_kind if check.bar is None)]
    orders = 2 if space.get("pairwise") else 1
    asked_once = sum(sizes) * orders * len(wordings)
    replicates = _REPLICATES if asked_once * _REPLICATES <= _MOST_CALLS else _REPLICATES - 1
    # A call is a unit, or the two orders of a pair are, or all that is asked about an item.
    calls = replicates * orders * len(wordings)
    units_by_name = {"call": calls, "item": len(wordings)}
    for measure in gated:
        units = units_by_name.get(measure.unit, calls // orders)
        is_scale = measure is AGREEMENT and bool(space.get("ordinal"))
        checks[str(measure.check)] = _chosen_bars(measure, sizes, units, is_scale=is_scale)
    checks |= _checks_of_labels(of_labels, len(sizes), calls)
    checks |= {str(check.measure.check): _bars(check, len(sizes)) for check in of_kind if check.bar}
    margins = [(check.measure, check.margin) for check in of_kind if check.margin is not None]
    checks[NO_REGRESSION.name] = [
        {"measure": measure.name, "margin": margin}
        for measure, margin in margins or compared_measures(gated, orders)
    ]
    checks[NO_REGRESSION.name] += [
        {"measure": check.measure.name, **check.condition, "margin": check.margin}
        for check in of_labels
    ]
    return {
        "schema": "judgesense/suite/1",
        "name": name,
        "kind": kind or next(form.name for form in BUILT_IN.forms.values() if form.wordings),
        "space": space,
        "stimuli": stimuli,
        "design": ({"orders": "both"} if orders == 2 else {}) | {"replicates": replicates},
        "templates": [{"id": id_, "text": text} for id_, text in wordings.items()],
        "checks": checks,
    }


def _chosen_bars(
    measure: Measure, sizes: Sequence[int], units: int, *, is_scale: bool = False
) -> Any:
    """The strictest bar that an error-free judge clears, with the limit beside it.

    Args:
        measure: what is gated.
        sizes: items of each cluster that it is about.
        units: of each item.
        is_scale: whether one step from the label is no gross error.
    """
    bars: Sequence[float] = _FLOORS if measure.floor else _CEILINGS
    bars = _FLOORS[3:] if is_scale else bars
    bar = next((bar for bar in bars if can_clear(measure, bar, _single(sizes))), bars[-1])
    limit = default_limit(measure, bar, [units * size for size in sizes])
    return bar if limit is None else {"bar": bar, "limit": limit}


def _checks_of_labels(of_labels: Sequence[FirstCheck], clusters: int, units: int) -> dict[str, Any]:
    """Checks of labels by name: a table where a name has one of all labels, else a list of them."""
    checks: dict[str, Any] = {}
    for name, of_name in grouped(of_labels, lambda check: str(check.measure.check)).items():
        tables = []
        for check in of_name:
            bars = _bars(check, clusters)
            if check.bar is None:
                bars = _chosen_bars(check.measure, check.sizes, units)
            tables.append(
                {**check.condition, **(bars if isinstance(bars, dict) else {"bar": bars})}
            )
        checks[name] = tables if any(check.condition for check in of_name) else tables[0]
    return checks


def _bars(check: FirstCheck, clusters: int) -> Any:
    """The bar of a check, with its limit where there are clusters enough."""
    if check.limit is None or clusters < _FEWEST_FOR_LIMIT:
        return check.bar
    return {"bar": check.bar, "limit": check.limit}


def compared_measures(gated: Sequence[Measure], orders: int) -> list[tuple[Measure, float]]:
    """What a changed prompt may make worse, each with the loss that does not matter."""
    compared = [(SIDE_BIAS, 0.1)] if orders == 2 else []
    compared += [(AGREEMENT, 0.15)] if AGREEMENT in gated else []
    return [*compared, (REPEAT_FLIP_RATE, 0.15)]


def asked_words(table: Mapping[str, Any], items: int) -> str:
    """What a recording of a suite with so many items asks, and how often."""
    wordings, replicates = len(table["templates"]), table["design"]["replicates"]
    calls = items * replicates * wordings
    what = "each item"
    if "orders" in table["design"]:
        what, calls = "each pair in both orders", 2 * calls
    what += f", under each of {wordings} wordings" * (wordings > 1)
    times = "three times" if replicates == _REPLICATES else "twice"
    return f"{what}, {times}: {calls:,} calls. What they cost: judgesense plan {table['name']}"


def compared_words(
    table: Mapping[str, Any],
    sizes: Sequence[int],
    labelled: int,
    of_labels: LabelChecks = _NO_LABEL_CHECKS,
) -> Iterator[str]:
    """What the checks of `no_regression` are about, and what losses they find, in lines.

    For a judge of which nothing is known but `ASSUMED_RATE`, by `PlannedGate`.

    Args:
        table: of the suite.
        sizes: items of each cluster.
        labelled: number of items with a label, or with grades of people that a check is about.
        of_labels: what the suite holds about single labels.
    """
    yield "Compared with the version before by --judge-baseline git:REF, and skipped without one."
    if not labelled:
        yield "Without labels no check here sees whether the judge is right."
    compared = table["checks"][NO_REGRESSION.name]
    margins = {entry["measure"]: entry["margin"] for entry in compared}
    whole = "items" if max(sizes) == 1 else "clusters"
    lines = list(_losses_found(table, sizes, labelled, margins, f"on whole {whole}"))
    if lines:
        yield f"Of losses of 10 and of 20 points so many are found, scattered and on whole {whole}"
        yield "(one within the margin may pass):"
        yield from lines
        yield (
            f"if {ASSUMED_RATE:.0%} of the verdicts are right, with a correlation of "
            f"{ASSUMED_CORRELATION:g} within {'an item' if whole == 'items' else 'a cluster'}; "
            f"Holm over {len(compared)}."
        )
    yield from of_labels.notes
    yield from of_labels.losses(table["design"]["replicates"], len(compared))
    yield f"For your own judge, once it is recorded: judgesense plan {table['name']}"


def _losses_found(
    table: Mapping[str, Any],
    sizes: Sequence[int],
    labelled: int,
    margins: Mapping[str, float],
    on_whole: str,
) -> Iterator[str]:
    """The chances of finding each of `_LOSSES`, a line for each measure that loses."""
    gate = PlannedGate(
        tuple(sizes),
        labelled,
        wordings=len(table["templates"]),
        replicates=table["design"]["replicates"],
        pairs="orders" in table["design"],
        bias=margins.get(SIDE_BIAS.name),
        agreement=margins.get(AGREEMENT.name),
        repeats=margins.get(REPEAT_FLIP_RATE.name),
        tests=len(table["checks"][NO_REGRESSION.name]),
    )
    of_slots, of_wrong = _chances_of(gate)
    if of_slots:
        about = f"the first slot wins more often, on {sum(sizes)} pairs"
        yield from _chances_line(SIDE_BIAS.name, of_slots, on_whole, about)
    if of_wrong:
        yield from _chances_line(AGREEMENT.name, of_wrong, on_whole, f"on {labelled} labels")


@lru_cache(maxsize=64)  # the suites of a log ask about the same items
def _chances_of(gate: PlannedGate) -> tuple[_Chances, _Chances]:
    """The chances of `_LOSSES` to the first slot, and of right verdicts; empty if not compared."""
    kinds = (False, True)
    of_slots: _Chances = []
    of_wrong: _Chances = []
    if gate.bias is not None:
        of_slots = [[gate.first_slot(loss, whole=of).bias for loss in _LOSSES] for of in kinds]
    if gate.agreement is not None:
        of_wrong = [[gate.wrong(loss, whole=of).agreement for loss in _LOSSES] for of in kinds]
    return of_slots, of_wrong


def _chances_line(name: str, chances: _Chances, on_whole: str, about: str) -> Iterator[str]:
    """The chances of scattered losses and of those on whole items; none where they are not known"""
    scattered, whole = (
        " and ".join(f"{chance:.0%}" for chance in of if chance is not None) for of in chances
    )
    if scattered:
        yield f"  {name}: {scattered}, {on_whole} {whole} ({about})"


def _single(sizes: Sequence[int]) -> list[float]:
    """The sizes of clusters as if their mean were one unit, of which bounds are widest."""
    return [size * len(sizes) / sum(sizes) for size in sizes]


def stimuli_table(
    file: str,
    fields: Sequence[str],
    columns: Mapping[str, str],
    values: Mapping[str, str],
    messages: Sequence[str] = (),
) -> dict[str, Any]:
    """``[stimuli]`` of a user's own file.

    Args:
        file: as the suite file calls it.
        fields: those that the function takes.
        columns: the column of each field, where it is called otherwise.
        values: what words in the column of the labels mean.
        messages: the fields that hold conversations.
    """
    stimuli: dict[str, Any] = {"file": file}
    # JSON Lines are read as a user's own if the suite file names columns.
    is_own = file.endswith((".csv", ".tsv", ".json"))
    if stated := columns or ({} if is_own else {name: name for name in fields}):
        stimuli["columns"] = dict(stated)
    if values:
        stimuli["values"] = dict(values)
    if messages:
        stimuli["messages"] = list(messages)
    return stimuli


def shown_texts(names: Iterable[str], question: str) -> str:
    """A wording with the texts of these names, and the question about them."""
    # The candidates of a pair are marked as the embedded judge knows them.
    marks = {name: f"response_{name}" if name in ("a", "b") else name for name in names}
    texts = (f"<{mark}>\n{{{{{name}}}}}\n</{mark}>" for name, mark in marks.items())
    return "\n".join([*texts, question])


def written_suite(
    table: Mapping[str, Any],
    comments: Mapping[str, str],
    counted: Mapping[str | None, str],
    compared_lines: Iterable[str],
) -> str:
    """A suite file: its table, with comments on its parts and what each check counts."""
    texts = {name: value for name, value in table.items() if isinstance(value, str)}
    lines = [f"# {comments['head']}", _lines_of(texts)]
    for part in ("space", "stimuli", "design"):
        lines += ["", *([f"# {comments[part]}"] if part in comments else [])]
        lines += [f"[{part}]", _lines_of(table[part])]
    lines += ["", f"# {comments['templates']}"]
    lines += [f"[[templates]]\n{_lines_of(template)}\n" for template in table["templates"]]
    compared = table["checks"][NO_REGRESSION.name]
    bars_by_check = {k: v for k, v in table["checks"].items() if k != NO_REGRESSION.name}
    checks = bars_by_check.items()
    remark = "The bar is what is wanted, the limit what cannot be\n# accepted: the 95% bound must "
    remark += "clear it, as it does for a judge that loses one item."
    if not all(isinstance(bars, dict | list) for _, bars in checks):
        remark = "So few items (thirty are a suite) are not\n# enough to exclude anything: a bar "
        remark += "alone is held against the result as it is."
    lines += [f"# Each line is a test. {remark}", "[checks]"]
    lines += [_check_line(name, bars, counted[name]) for name, bars in checks]
    lines += ["", *(f"# {line}" for line in compared_lines), f"{NO_REGRESSION.name} = ["]
    lines += [f"    {toml_text(entry)}," for entry in compared]
    return "\n".join([*lines, "]", ""])


def _check_line(name: str, bars: Any, counts: str) -> str:
    """A check with what it counts; of several ones of a name each in a line."""
    if not isinstance(bars, list):
        return f"{toml_key(name)} = {toml_text(bars)}  # {counts}"
    entries = "\n".join(f"    {toml_text(entry)}," for entry in bars)
    return f"{toml_key(name)} = [  # {counts}\n{entries}\n]"


def _lines_of(table: Mapping[str, Any]) -> str:
    return "\n".join(f"{toml_key(name)} = {_long(value)}" for name, value in table.items())


def _long(value: Any) -> str:
    """A text of several lines as TOML, to the letter; anything else in one line."""
    long = isinstance(value, str) and "\n" in value and "'''" not in value
    return f"'''\n{value}'''" if long and _LITERAL.fullmatch(value) else toml_text(value)


def judge_table(name: str, comments: Sequence[str], settings: Mapping[str, Any]) -> str:
    """The table of a judge."""
    lines = [*(f"# {line}" for line in comments), f"[tool.judgesense.judges.{toml_key(name)}]"]
    return "\n".join([*lines, _lines_of(settings)]) + "\n"
