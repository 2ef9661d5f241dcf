"""A function and a file of items, both as they are, understood for ``judgesense init``.

The two are connected by the signature and the column names. Nothing that affects the measurement is
guessed: a parameter without a column of its name is asked for.
"""

from __future__ import annotations

import argparse
import json
import re
import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, Literal, TypeAlias, get_args

from pytest_judgesense.checks.linting import lint_suite
from pytest_judgesense.checks.reach import can_clear, default_limit
from pytest_judgesense.errors import SuiteError, UsageError
from pytest_judgesense.files import read_bytes, read_text
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.judges.functions import MESSAGES, TEMPLATE, TEMPLATE_ID, parameters_of
from pytest_judgesense.measures.measure import Measure
from pytest_judgesense.measures.shared import (
    AGREEMENT,
    ORDER_POSITIONAL,
    REPEAT_FLIP_RATE,
    UNPARSED_RATE,
)
from pytest_judgesense.suites.loading import form_of, load_suite
from pytest_judgesense.suites.stimuli import Stimuli, place_of, rows_of, text_of
from pytest_judgesense.trial import as_whole

Kind: TypeAlias = Literal["pairwise", "labels", "score"]

# Of columns with the grades of people, one for each criterion.
_HUMAN: Final = "human."

# Further roles of a column, and usual names of the label column.
_BESIDE: Final = ("label", "id", "cluster", "category")
_LABELS: Final = (
    "label better winner preferred preference gold expected correct truth ground_truth human "
    "human_label verdict choice chosen answer_key score rating grade"
).split()
_OF_SUITES: Final = frozenset({TEMPLATE, TEMPLATE_ID, MESSAGES})
# The two names of a pair differ in one of these words.
_SIDES: Final = (
    ("a", "b"),
    ("1", "2"),
    ("first", "second"),
    ("left", "right"),
    ("one", "two"),
    ("x", "y"),
    ("chosen", "rejected"),
)
_TIES: Final = ("tie", "tied", "draw", "equal", "same", "both", "neither", "none")
_WORDS: Final = re.compile(r"[a-z]+|[0-9]+")
_RANGE: Final = re.compile(
    r"(-?\d{1,18})(?:\s*,\s*-?\d+)*\s*(?:,\s*)?(?:-|–|:|\.\.+|…|to)\s*(?:,\s*)?(-?\d{1,18})"
)
_PLACEHOLDER: Final = re.compile(r"[a-z][a-z0-9_]*", re.IGNORECASE)
# The labels of a pair: which content is better.
_SLOTS: Final = ("1", "2", "tie")
_MOST_LABELS: Final = 12
_LONGEST_SHOWN: Final = 80
_WIDEST: Final = 100
_LITERAL: Final = re.compile(r"[^\x00-\x08\x0b-\x1f\x7f]*[^\x00-\x08\x0b-\x1f\x7f']")
_FLOORS: Final = (0.8, 0.75, 0.7, 0.6, 0.5, 0.4)
_CEILINGS: Final = (0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5)


@dataclass(frozen=True)
class Items:
    """A file of items: its rows with their lines, and the columns that any of them has."""

    file: Path
    rows: Sequence[tuple[int, Mapping[Any, Any]]]

    @property
    def columns(self) -> list[str]:
        return list(dict.fromkeys(name for _, row in self.rows for name in row))

    def values(self, column: str | None) -> list[str]:
        """The texts in a column, without empty cells; none without a column."""
        found = (text_of(row.get(column)) for _, row in self.rows)
        return [text.strip() for text in found if text and text.strip()]


@dataclass(frozen=True)
class Understood:
    """The mapping between a function and its items.

    Attributes:
        arguments: by parameter its field, where the two are called otherwise.
        columns: the column of each field.
        values: the meaning of values in the label column, if not obvious.
        fields: those that the function takes.
        names: how the function may call a label.
        counts: how many items have each label.
    """

    kind: Kind
    arguments: Mapping[str, str]
    columns: Mapping[str, str]
    values: Mapping[str, str]
    labels: Sequence[str]
    fields: Sequence[str]
    names: Mapping[str, Sequence[str]] = field(default_factory=dict)
    label: str | None = None
    counts: Mapping[str, int] = field(default_factory=dict)
    sizes: Sequence[int] = ()


def items_of(path: Path) -> Items:
    """The items of a file.

    Raises:
        UsageError: it cannot be read, or holds none.
    """
    with UsageError.instead_of(
        (OSError, UnicodeDecodeError),
        f"the items in {path} cannot be read",
        expected="a file in UTF-8: .csv, .tsv, .json or .jsonl",
    ):
        text = read_text(path).removeprefix("\ufeff")
    try:
        rows = list(rows_of(path, text))
    except SuiteError as error:
        raise _usage(error, error.remedy) from error
    items = Items(path, rows)
    for number, row in rows:
        if not isinstance(row, dict):
            raise UsageError(
                f"{place_of(items.file, number)} is no item",
                found=json.dumps(row, ensure_ascii=False)[:_LONGEST_SHOWN],
                expected='an object with a key for each column, such as {"question": "..."}',
                remedy="fix it, or leave it out",
            )
    if not rows:
        raise UsageError(f"{path} holds no items", expected="a row for every item")
    return items


def understood(
    function: Callable[..., Any], items: Items, options: argparse.Namespace
) -> Understood:
    """The mapping between ``function`` and ``items``, with what the user says about both.

    Raises:
        UsageError: a parameter has no column, labels are not known, or items are wrong; it shows
            both sides and the command that helps.
    """
    _refuse_criteria(items, options)
    given = dict(options.map)
    taken = _columns_taken(function, items, given, options)
    _refuse_gaps(items, taken)
    beside = {name: column for name, column in given.items() if name not in taken}
    known = {*taken.values(), *beside.values()}
    free = {_plain(column): column for column in items.columns if column not in known}
    label = beside.get("label") or next((free[name] for name in _LABELS if name in free), None)
    if label:
        beside["label"] = label
    labels = split_labels(options.labels)
    _refuse_labels(labels, options)
    values = _values_found(items, label, dict(options.value), options)
    said = items.values(label)
    sides, meant = _sides(taken), [values.get(one, as_whole(one)) for one in said]
    kind: Kind = options.kind or ("pairwise" if sides else _kind_of_labels(labels or meant))
    _refuse_meanings(values, _SLOTS if kind == "pairwise" else labels)
    if kind == "pairwise":
        found = _pairs(items, taken, sides, label, options.function)
    else:
        found = _contents(items, taken, kind, label, labels or _labels(meant, kind), options)
    columns = {**found.columns, **beside}
    named = {name: column for name, column in columns.items() if name != column}
    found = replace(found, columns=named, values={**found.values, **values}, label=label)
    return _counted(found, items, options)


def split_labels(text: str | None) -> list[str]:
    """The labels that an option names, separated by commas."""
    return [one.strip() for one in (text or "").split(",") if one.strip()]


def _range_in(text: str) -> list[str]:
    """The whole numbers that ``0,...,10``, ``1-5``, ``1..5`` or ``1 to 5`` means; else none."""
    found = _RANGE.fullmatch(text.strip())
    if found is None:
        return []
    least, most = int(found[1]), int(found[2])
    return [str(grade) for grade in range(least, most + 1)] if most - least < _WIDEST + 1 else ["?"]


def _command(options: argparse.Namespace) -> str:
    """The user's command, to be repeated with more options."""
    words = ["judgesense", "init", "--callable", options.function, "--items", str(options.items)]
    words += ["--kind", options.kind] if options.kind else []
    words += ["--labels", options.labels] if options.labels else []
    for option, pairs in (("--map", options.map), ("--value", options.value)):
        words += [word for one, other in pairs for word in (option, f"{one}={other}")]
    words += [str(options.folder)] if options.folder != Path() else []
    return shlex.join(words)


def _columns_taken(
    function: Callable[..., Any],
    items: Items,
    given: Mapping[str, str],
    options: argparse.Namespace,
) -> dict[str, str]:
    parameters = parameters_of(function) or []
    names = [one.name for one in parameters]
    shown = f"{options.function.rpartition(':')[2]}({', '.join(names)})"
    columns = items.columns
    both = f"parameters: {', '.join(names) or 'none'}; columns: {', '.join(columns)}"
    for name, column in given.items():
        if column in columns and (name in names or name in _BESIDE):
            continue
        turned = column in names and name in columns
        raise UsageError(
            f"--map {name}={column} matches nothing",
            found=both,
            expected=f"PARAMETER=COLUMN; or one of {', '.join(_BESIDE)} in place of a parameter",
            remedy=f"write --map {shlex.quote(f'{column}={name}')}" if turned else "fix the name",
        )
    plain = {_plain(column): column for column in columns}
    taken: dict[str, str] = {}
    missing = []
    for one in parameters:
        if found := given.get(one.name) or plain.get(_plain(one.name)):
            taken[one.name] = found
        elif one.name not in _OF_SUITES and one.default is one.empty:
            missing.append(one.name)
    if missing:
        free = [column for column in columns if column not in {*taken.values(), *given.values()}]
        raise UsageError(
            f"{shown} asks for what {items.file.name} does not have",
            found=f"no column for {', '.join(missing)}",
            expected=f"a column for each parameter; {items.file.name} has {', '.join(columns)}",
            remedy=f"say which: {_command(options)} {_guessed(missing, free)}",
        )
    if not taken:
        raise UsageError(
            f"{shown} takes nothing of {items.file.name}",
            found=both,
            expected="a parameter for each text that is judged",
            remedy="name the column of a parameter: --map PARAMETER=COLUMN",
        )
    return taken


def _refuse_gaps(items: Items, taken: Mapping[str, str]) -> None:
    """Refuse a row that lacks the text of a parameter; an empty text is one."""
    gaps = [
        (line, name, column)
        for line, row in items.rows
        for name, column in taken.items()
        if row.get(column) is None
    ]
    if gaps:
        line, name, column = gaps[0]
        others = f", and {len(gaps) - 1} more like it" if len(gaps) > 1 else ""
        raise UsageError(
            f"{place_of(items.file, line)} has no {column}, which the function takes as "
            f"{name}{others}",
            found="null, or no such field",
            expected="a text for each parameter, in every row",
            remedy='fill it in ("" is an empty text), or leave the row out',
        )


def _plain(name: str) -> str:
    return "_".join(_WORDS.findall(re.sub(r"([a-z])([A-Z])", r"\1_\2", name).lower()))


def _guessed(names: Sequence[str], free: Sequence[str]) -> str:
    """Options that map the most similar names, ``COLUMN`` if none is similar."""
    left, options = list(free), []
    sides, pairs = _sides(names), _sides(left)
    for name in names:
        if sides and pairs and name in sides:
            likely = [pairs[sides.index(name)]]
        else:
            others = [column for column in left if column not in (pairs or ())]
            likely = get_close_matches(name, others, n=1, cutoff=0.5)
            if not likely and name == names[0] and not sides and len(others) == 1:
                likely = others
        left = [column for column in left if column not in likely]
        options.append(shlex.quote(f"{name}={likely[0]}") if likely else f"{name}=COLUMN")
    return " ".join(f"--map {one}" for one in options)


def _sides(names: Iterable[str]) -> tuple[str, str] | None:
    """The two names that are the same but for a word of `_SIDES`; ``None`` without such a pair."""
    words = {name: _WORDS.findall(_plain(name)) for name in names}
    for one, first in words.items():
        for other, second in words.items():
            if len(first) != len(second) or one == other:
                continue
            differing = [pair for pair in zip(first, second, strict=True) if pair[0] != pair[1]]
            if len(differing) == 1 and differing[0] in _SIDES:
                return one, other
    return None


def _refuse_criteria(items: Items, options: argparse.Namespace) -> None:
    """Refuse grades of several criteria, of which this makes no suite."""
    people = [column for column in items.columns if str(column).startswith(_HUMAN)]
    if options.kind in get_args(Kind) or (options.kind is None and len(people) < 2):
        return
    raise UsageError(
        f"init writes no suite of the kind {options.kind}"
        if options.kind
        else "init writes no suite of grades by several criteria",
        found=f"--kind {options.kind}" if options.kind else f"columns {', '.join(people)}",
        expected=f"one verdict a call, --kind {', '.join(get_args(Kind))}",
        remedy=f"for one criterion, --kind score; for several, write the suite by hand, with "
        f"criteria in [space] and {items.file.name} as its file: judgesense explain rubric-suites "
        "shows a whole one",
    )


def _refuse_labels(labels: Sequence[str], options: argparse.Namespace) -> None:
    """Refuse ``labels`` that are too few or too many, not different, or a range in short."""
    if scale := _range_in(options.labels or ""):
        kind = "" if options.kind else " --kind score"
        equals = "=" if scale[0].startswith("-") else " "  # or it would be an option
        whole = f"--labels{equals}{','.join(scale)}" if len(scale) <= _MOST_LABELS else ""
        raise UsageError(
            f"--labels {options.labels} is a range in short, and names no answers",
            found=options.labels,
            expected=f"every answer, 2 to {_MOST_LABELS} of them",
            remedy=f"write {whole}{kind}" if whole else "cut the scale into fewer steps",
        )
    if labels and not 2 <= len({*labels}) == len(labels) <= _MOST_LABELS:
        raise UsageError(
            "--labels does not name the possible answers",
            found=",".join(labels),
            expected=f"2 to {_MOST_LABELS} labels, each once, such as YES,NO",
        )


def _values_found(
    items: Items, label: str | None, values: Mapping[str, str], options: argparse.Namespace
) -> dict[str, str]:
    """``values`` by the words of the label's column, which differ at most in case.

    Raises:
        UsageError: there is no such column, or it has no such word.
    """
    if values and label is None:
        name, meant = next(iter(values.items()))
        raise UsageError(
            f"--value {name}={meant} is about labels, and {items.file.name} has no known column "
            "of them",
            found=f"columns: {', '.join(items.columns)}",
            expected=f"a column whose values it translates, called {', '.join(_LABELS[:4])}, ...",
            remedy=f"name it: {_command(options)} --map label=COLUMN",
        )
    words = dict.fromkeys(items.values(label))
    found: dict[str, str] = {}
    for name, meant in values.items():
        same = {word: meant for word in words if word.casefold() == name.strip().casefold()}
        if not same:
            turned = meant.casefold() in map(str.casefold, words)
            more = ", ..." if len(words) > _MOST_LABELS else ""
            raise UsageError(
                f"--value {name}={meant} matches nothing in column {label}",
                found=f"{', '.join(list(words)[:_MOST_LABELS])}{more}",
                expected="FOUND=LABEL: a value of the column, and the label that it means",
                remedy=f"write --value {shlex.quote(f'{meant}={name}')}"
                if turned
                else "fix the value, or name another column: "
                f"{_command(options)} --map label=COLUMN",
            )
        found |= same
    return found


def _refuse_meanings(values: Mapping[str, str], labels: Sequence[str]) -> None:
    """Refuse a value that means none of the ``labels``, if these are known."""
    for name, meant in values.items():
        if labels and meant not in labels:
            raise UsageError(
                f"--value {name}={meant} means no label",
                found=meant,
                expected=f"one of {', '.join(labels)}",
                remedy="fix it, or add the label to --labels"
                if labels is not _SLOTS
                else "say which candidate is better: 1, 2 or tie",
            )


def _kind_of_labels(values: Sequence[str]) -> Kind:
    if {*values} == {"0", "1"}:
        return "labels"  # no and yes
    return "score" if values and all(re.fullmatch(r"-?\d+", one) for one in values) else "labels"


def _pairs(
    items: Items,
    taken: Mapping[str, str],
    sides: tuple[str, str] | None,
    label: str | None,
    called: str,
) -> Understood:
    if sides is None:
        raise UsageError(
            f"{called} compares two answers, and no two of its parameters are called alike",
            found=", ".join(taken),
            expected="two that differ in one word, such as answer_a and answer_b",
            remedy="name them so, or judge one answer at a time: --kind labels",
        )
    fields = {sides[0]: "a", sides[1]: "b"}
    others = [name for name in taken if name not in sides]
    if others:
        fields[others[0]] = "task"  # the first text beside the two is the task
    arguments = {name: fields.get(name, name) for name in taken}
    means = dict.fromkeys(_TIES, "tie")
    for first, second in (map(str.casefold, sides), *_SIDES):
        means |= {first: "1", second: "2"}
    for usual in ("1", "2", "tie", "a", "b", *(taken[side].casefold() for side in sides)):
        means.pop(usual, None)
    said = {value: means.get(value.casefold()) for value in sorted(set(items.values(label)))}
    return Understood(
        kind="pairwise",
        arguments={name: one for name, one in arguments.items() if name != one},
        columns={arguments[name]: column for name, column in taken.items()},
        values={value: meaning for value, meaning in said.items() if meaning},
        labels=("A", "B"),
        fields=list(arguments.values()),
        names={"A": [sides[0], "1", "first"], "B": [sides[1], "2", "second"]},
    )


def _contents(
    items: Items,
    taken: Mapping[str, str],
    kind: Kind,
    label: str | None,
    said: Sequence[str],
    options: argparse.Namespace,
) -> Understood:
    called, command = options.function, _command(options)
    if not said and kind == "score":
        said = ["1", "2", "3", "4", "5"]
    if not 2 <= len(said) <= _MOST_LABELS:
        remedy = f"name them: {command} --labels YES,NO; or --map {_likely_label(items, taken)}"
        if kind == "score" and label:
            remedy = (
                f"cut the scale into such steps, in column {label} and in what {called} returns"
            )
        raise UsageError(
            f"the possible answers of {called} are not known",
            found=f"{len(said)} labels in column {label}" if label else "no column with labels",
            expected=f"2 to {_MOST_LABELS} labels",
            remedy=remedy,
        )
    if clash := [name for name in taken if name in _BESIDE]:
        raise UsageError(
            f"{called} takes {clash[0]}, which judges never see",
            expected=f"parameters other than {', '.join(_BESIDE)}",
            remedy="rename the parameter",
        )
    if kind == "score" and (wrong := [one for one in said if not re.fullmatch(r"-?\d{1,18}", one)]):
        raise UsageError(
            f"the grades of {items.file.name} are not all whole numbers",
            found=f"{label or 'labels'}: {', '.join(wrong[:3])}",
            expected="the steps of a scale, such as 1 to 5",
            remedy="write them as whole numbers, or as labels without an order: "
            f"{command.replace(' --kind score', '')} --kind labels",
        )
    return Understood(kind, {}, taken, {}, said, list(taken))


def _likely_label(items: Items, taken: Mapping[str, str]) -> str:
    """The option that maps a column of a few values that repeat; ``COLUMN`` if there is none."""
    for column in items.columns:
        values = items.values(column)
        if column not in taken.values() and 2 <= len({*values}) <= min(
            _MOST_LABELS, len(values) // 2
        ):
            return shlex.quote(f"label={column}")
    return "label=COLUMN"


def _labels(values: Sequence[str], kind: Kind) -> list[str]:
    """The labels in a column; for a scale all from the smallest to the largest."""
    distinct = list(dict.fromkeys(values))
    if kind == "score" and (scale := scale_of(distinct)) is not None:
        return scale
    folded = {one.casefold(): one for one in reversed(distinct)}
    order = {word: at for at, word in enumerate(("yes", "true", "pass", "good", "correct"))}
    return sorted(folded.values(), key=lambda one: (order.get(one.casefold(), 9), one))


def scale_of(values: Sequence[str]) -> list[str] | None:
    """All grades from the least to the greatest of ``values``; of a usual scale, the whole one.

    Empty where there are too many; ``None`` where not all are whole numbers.
    """
    if not all(re.fullmatch(r"-?\d{1,18}", one) for one in values):
        return None
    least, most = min(map(int, values)), max(map(int, values))
    if least >= 1 and most <= 5:
        least, most = 1, 5  # some grade of the usual scale may be given to none
    elif least >= 1 and most <= 10:
        least, most = 1, 10
    return [str(one) for one in range(least, most + 1)] if most - least <= _WIDEST else []


def _counted(found: Understood, items: Items, options: argparse.Namespace) -> Understood:
    """``found`` with the count of each label, once every item has been read."""
    table = table_of(found, "items", items.file.name)
    try:
        form = form_of(table, BUILT_IN.forms, f"what {items.file.name} makes")
        read = BUILT_IN.forms[form.kind].read(
            Stimuli(form, items.file, items.rows, user_names=True)
        )
    except SuiteError as error:
        remedy = error.remedy
        if "values = {" in remedy:  # it is about a label
            said = "fix the lines, or say what a value means"
            remedy = f"{said}: {_command(options)} --value FOUND=LABEL"
        raise _usage(error, remedy) from error
    counts = Counter(item.label for item in read if item.label is not None)
    sizes = tuple(Counter(item.cluster for item in read).values())
    return replace(found, counts=dict(sorted(counts.items())), sizes=sizes)


def _usage(error: SuiteError, remedy: str) -> UsageError:
    return UsageError(error.what, found=error.found, expected=error.expected, remedy=remedy)


def recognised(found: Understood) -> Iterator[str]:
    """What was recognised, in lines, so that a wrong guess is visible before any cost."""
    parameters = {field: name for name, field in found.arguments.items()}
    for name in found.fields:
        yield f"{parameters.get(name, name)} is column {found.columns.get(name, name)}"
    if found.label:
        # The two contents of a pair by the names of their parameters.
        sides = {"1": found.names["A"][0], "2": found.names["B"][0]} if found.names else {}
        counted = (f"{sides.get(label, label)} {n}" for label, n in found.counts.items())
        counts = ", ".join(counted) or "none"
        yield f"labels are in column {found.label}: {counts}"
        if found.kind == "score" and len(found.labels) > len(found.counts):
            scale = f"{found.labels[0]} to {found.labels[-1]}"
            yield f"answers are whole numbers from {scale}; --labels names others"
    else:
        yield "no column with labels: agreement is not gated; --map label=COLUMN names one"


# --- the suite ------------------------------------------------------------------------------------


def table_of(found: Understood, name: str, file: str) -> dict[str, Any]:
    """The suite file as a table."""
    space: dict[str, Any] = {"labels": list(found.labels)}
    if found.kind == "pairwise":
        names = {label: list(names) for label, names in found.names.items()}
        space |= {"pairwise": True, "tie": True, "names": names}
    if found.kind == "score":
        space |= {"ordinal": True}
    stimuli: dict[str, Any] = {"file": file}
    # JSON Lines are read as a user's own if the suite file names columns.
    columns = found.columns or (file.endswith(".jsonl") and {one: one for one in found.fields})
    if columns:
        stimuli["columns"] = dict(columns)
    if found.values:
        stimuli["values"] = dict(found.values)
    gated = [ORDER_POSITIONAL if found.kind == "pairwise" else REPEAT_FLIP_RATE]
    gated += [AGREEMENT, UNPARSED_RATE] if found.counts else [UNPARSED_RATE]
    return suite_table(name, space, stimuli, {"t1": _text(found)}, gated, found.sizes)


def suite_table(
    name: str,
    space: Mapping[str, Any],
    stimuli: Mapping[str, Any],
    wordings: Mapping[str, str],
    gated: Iterable[Measure],
    sizes: Sequence[int],
) -> dict[str, Any]:
    """A suite of the kind for items of any form, with one content or two, as a table.

    Every question is asked twice: a pair in both orders, any other item in two replicates. Each
    gated measure has the strictest bar that an error-free judge clears with confidence, and a limit
    that it clears although it has lost an item (`default_limit`).

    Args:
        name: of the suite.
        space: its possible answers.
        stimuli: where its items are.
        wordings: texts of its templates, by their ids.
        gated: what its checks are about.
        sizes: items of each cluster.
    """
    checks: dict[str, Any] = {}
    for one in gated:
        bars: Sequence[float] = _FLOORS if one.floor else _CEILINGS
        if one is AGREEMENT and space.get("ordinal"):
            bars = _FLOORS[3:]  # on a scale, one step from the label is no gross error
        bar = next((bar for bar in bars if can_clear(one, bar, _single(sizes))), bars[-1])
        # A call is a unit, or two calls are.
        units = 2 * len(wordings) if one.unit == "call" else len(wordings)
        limit = default_limit(one, bar, [units * size for size in sizes])
        checks[str(one.check)] = bar if limit is None else {"bar": bar, "limit": limit}
    return {
        "schema": "judgesense/suite/1",
        "name": name,
        "kind": next(kind.name for kind in BUILT_IN.forms.values() if kind.wordings),
        "space": space,
        "stimuli": stimuli,
        "design": {"orders": "both"} if space.get("pairwise") else {"replicates": 2},
        "templates": [{"id": id_, "text": text} for id_, text in wordings.items()],
        "checks": checks,
    }


def _single(sizes: Sequence[int]) -> list[float]:
    """The sizes of clusters as if their mean were one unit, of which bounds are widest."""
    return [size * len(sizes) / sum(sizes) for size in sizes]


def _text(found: Understood) -> str:
    """The wording by which reports show an item; it names the labels that may be answered."""
    if found.kind == "pairwise":
        asked = "Which is better? Answer A, B or tie."
    else:
        asked = f"Answer with one of: {', '.join(found.labels)}."
    shown = [one for one in found.fields if _PLACEHOLDER.fullmatch(one)]
    return showing(sorted(shown, key=lambda name: name in ("a", "b")), asked) + "\n"


def showing(names: Iterable[str], asked: str) -> str:
    """A wording with the texts of these names, and what is asked about them."""
    # The candidates of a pair are marked as the embedded judge knows them.
    marks = {name: f"response_{name}" if name in ("a", "b") else name for name in names}
    texts = (f"<{mark}>\n{{{{{name}}}}}\n</{mark}>" for name, mark in marks.items())
    return "\n".join([*texts, asked])


def suite_text(found: Understood, name: str, file: str, called: str) -> str:
    """The suite file, as somebody would write it by hand."""
    design = "each pair in both orders" if found.kind == "pairwise" else "each item twice"
    return written_suite(
        table_of(found, name, file),
        {
            "head": f"{called} on the items of {Path(file).name}, each as it is.",
            "space": "The possible answers of the function.",
            "stimuli": "Fields by column, and what a label means.",
            "design": f"Asked: {design}.",
            "templates": "How reports show an item; the function builds its own prompt.",
        },
        {
            ORDER_POSITIONAL.check: "pairs in which the same slot wins in both orders",
            REPEAT_FLIP_RATE.check: "items on which the two replicates disagree",
            AGREEMENT.check: "the verdict is the label",
            UNPARSED_RATE.check: "return values without a verdict",
        },
    )


def written_suite(
    table: Mapping[str, Any],
    comments: Mapping[str, str],
    meant: Mapping[str | None, str],
) -> str:
    """A suite file: its table, with comments on its parts and what each check counts."""
    texts = {name: value for name, value in table.items() if isinstance(value, str)}
    lines = [f"# {comments['head']}", _pairs_of(texts)]
    for part in ("space", "stimuli", "design"):
        lines += ["", *([f"# {comments[part]}"] if part in comments else [])]
        lines += [f"[{part}]", _pairs_of(table[part])]
    lines += ["", f"# {comments['templates']}"]
    lines += [f"[[templates]]\n{_pairs_of(one)}\n" for one in table["templates"]]
    checks = table["checks"].items()
    said = "The bar is what is wanted, the limit what cannot be\n# accepted: the 95% bound must "
    said += "clear it, as it does for a judge that loses one item."
    if not all(isinstance(bars, dict) for _, bars in checks):
        said = "So few items (thirty are a suite) are not\n# enough to exclude anything: a bar "
        said += "alone is held against the result as it is."
    lines += [f"# Each line is a test. {said}", "[checks]"]
    lines += [f"{toml_key(name)} = {toml_text(bars)}  # {meant[name]}" for name, bars in checks]
    return "\n".join([*lines, ""])


def refuse_faults(found: Understood, items: Items, name: str, called: str) -> None:
    """Raise a `UsageError` if the suite would be refused when it is asked."""
    with TemporaryDirectory() as folder:
        copy = Path(folder, items.file.name)
        copy.write_bytes(read_bytes(items.file))
        path = Path(folder, f"{name}.suite.toml")
        path.write_text(suite_text(found, name, copy.name, called), encoding="utf-8")
        suite = load_suite(path, None, BUILT_IN.forms)
        one = next((one for one in lint_suite(suite, BUILT_IN) if one.severity == "error"), None)
    if one is not None:
        raise UsageError(
            f"{items.file}, {one.where}: {one.what}",
            found=one.found,
            expected=one.expected,
            remedy=f"{one.remedy}; then run judgesense init again",
        )


def _pairs_of(table: Mapping[str, Any]) -> str:
    return "\n".join(f"{toml_key(name)} = {_long(value)}" for name, value in table.items())


def _long(value: Any) -> str:
    """A text of several lines as TOML, to the letter; anything else in one line."""
    long = isinstance(value, str) and "\n" in value and "'''" not in value
    return f"'''\n{value}'''" if long and _LITERAL.fullmatch(value) else toml_text(value)


def toml_text(value: Any) -> str:
    """A text, a number, a list or a table as TOML writes it in one line."""
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{toml_key(k)} = {toml_text(v)}" for k, v in value.items()) + " }"
    if isinstance(value, list):
        return f"[{', '.join(map(toml_text, value))}]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def toml_key(name: str) -> str:
    """A key as TOML writes it."""
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else toml_text(name)


def judge_table(name: str, comments: Sequence[str], settings: Mapping[str, Any]) -> str:
    """The table of a judge."""
    lines = [*(f"# {line}" for line in comments), f"[tool.judgesense.judges.{toml_key(name)}]"]
    return "\n".join([*lines, _pairs_of(settings)]) + "\n"
