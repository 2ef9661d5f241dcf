"""JudgeSense's files (arXiv 2604.23478): prompt pairs to a suite, decision logs to judgments.

A row of a pair file is a prompt pair: both prompts, the response that they judge, its gold label. A
row becomes one item; rows on one response share a cluster, and nothing is left out, so that the
pairs, and their n, are those of the benchmark. A prompt is split around the text that it judges
(around both options of a pairwise row, in the order in which it shows them), and around a request
that both prompts quote. What is left is a wording: the wordings of a task are its templates ``t1``,
``t2``, ..., counted as the file has them, which is how the paper counts them. Filled in again, each
is exactly the prompt of the row. Where that cannot be, each row has its own prompts, whole, as
templates ``a`` and ``b``.

Labels: ``accurate``, ``inaccurate`` are YES and NO; ``score_1`` to ``score_5`` are 1 to 5; ``A``,
``B`` name the options of ``response_being_judged``.

A row of a decision log is a prompt pair in one run. A row with an error has no reply: it is in no
rate, and neither is a decision that is not a label (``UNCLEAR``); both are counted. ``ab_swapped``
is the presentation order, ``timestamp`` when both replies were there. A log does not hold its
prompts: with the file of the pairs its decisions have templates, polarity, clusters and gold
labels. The key ``judgesense`` is not the benchmark's: an export has what it knows besides there.

A row of a validation file is a verdict on whether both prompts of a pair ask the same:
``validation_decision`` of a model, ``manual_label`` of a ``reviewer``. A reviewer's verdict on two
templates is that on all rows with them, and UNSURE where these differ.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from types import NoneType
from typing import Any, Final, NamedTuple

from pytest_judgesense.errors import (
    LogError,
    UsageError,
    listed,
    unknown_name,
)
from pytest_judgesense.files.first_sight import FirstSight
from pytest_judgesense.files.foreign_results import Imported, left_out, moment_of, once, slug
from pytest_judgesense.files.import_options import ImportOptions
from pytest_judgesense.files.own_fields import KEY, LINE, design_of, own_of, with_own_fields
from pytest_judgesense.files.rows import Row
from pytest_judgesense.files.tables import read_rows
from pytest_judgesense.instruments.paraphrase.results import all_rows, placed
from pytest_judgesense.suites.prompt_template import fill
from pytest_judgesense.suites.space import DecisionSpace
from pytest_judgesense.suites.wordings import reads_as
from pytest_judgesense.trial import (
    Condition,
    Design,
    Failed,
    Judgment,
    JudgmentOutcome,
    Order,
    Trial,
    Unparsed,
    Verdict,
    content_of_slot,
    grouped,
)

PAIR_FIELDS: Final = (
    "pair_id", "task_type", "source_benchmark", "prompt_a", "prompt_b", "response_being_judged",
    "ground_truth_label", "semantic_equivalence_score",
)  # fmt: skip
LOG_FIELDS: Final = (
    "pair_id", "task_type", "model", "run", "prompt_a_decision", "prompt_b_decision",
    "normalized_a", "normalized_b", "flipped", "prompt_a_raw", "prompt_b_raw", "timestamp", "error",
)  # fmt: skip
SWAPPED: Final = "ab_swapped"
# By which a file of pairs, and one of decisions, are told from any other.
_OWN_FIELDS: Final = (
    ("pair_id", "prompt_a", "prompt_b", "response_being_judged"),
    ("pair_id", "prompt_a_decision", "prompt_b_decision"),
)
# The placeholders of one judged text, and of two.
_CONTENTS: Final = {1: ("response",), 2: ("a", "b")}

# Verdicts of a model, and of a person, on whether a pair asks the same.
_BY_MODEL, _BY_PERSON = "validation_decision", "manual_label"
# More are not wordings of one task: each row then phrases its own.
_MOST_WORDINGS: Final = 12
# A request is looked for between quotation marks, as many of a kind.
_MARKS: Final = "'\""
_MOST_MARKS: Final = 12
# What the benchmark sends beside the prompts; its system prompt in words of our own.
_SYSTEM: Final = "Give only the answer that is asked for, without any explanation."
_DESIGN: Final = "replicates = 3\ntemperature = 0\nmost_tokens = 20\n"

_YES_NO: Final = DecisionSpace(("YES", "NO"))
_SCORES: Final = DecisionSpace(("1", "2", "3", "4", "5"), ordinal=True)
_NOT_DECIDED: Final = frozenset({"", "unclear", "unparsed", "unknown", "none", "null", "n/a"})
_SLOTS: Final = DecisionSpace(("A", "B"), pairwise=True)
_WORDS: Final[Mapping[str, tuple[DecisionSpace, str]]] = {
    **dict.fromkeys(("accurate", "yes"), (_YES_NO, "YES")),
    **dict.fromkeys(("inaccurate", "no"), (_YES_NO, "NO")),
    **{w: (_SCORES, n) for n in _SCORES.labels for w in (n, f"score_{n}")},
    **{w.lower(): (_SLOTS, w) for w in _SLOTS.labels},
}
SPACES: Final = (_YES_NO, _SCORES, _SLOTS)
_TASKS: Final = {
    "factuality": _YES_NO, "coherence": _SCORES, "relevance": _SLOTS, "preference": _SLOTS,
}  # fmt: skip
_LABELS: Final = "accurate or inaccurate, score_1 to score_5, A or B, the same kind in one task"


@dataclass(frozen=True, slots=True)
class PairFile:
    """The suites of a pair file.

    ``tasks`` has for each task its suite's TOML without name and file, and its items.
    """

    tasks: Mapping[str, tuple[str, tuple[Mapping[str, Any], ...]]]
    notices: tuple[str, ...]

    def files(self, output: Path) -> dict[Path, str]:
        """The text of each file: suites at ``output``, ``NAME.suite.toml`` or a folder.

        Several tasks are one suite each, ``NAME-TASK.suite.toml``.

        Raises:
            UsageError: ``output`` is neither.
        """
        stem = output.name.removesuffix(".suite.toml")
        if stem == output.name and output.suffix:
            raise UsageError(
                "a pair file becomes a suite, which is called NAME.suite.toml",
                found=str(output),
                expected="-o NAME.suite.toml, or a folder",
            )
        texts = {}
        for task, (toml, items) in self.tasks.items():
            folder, name = output.parent, slug(stem)
            if stem == output.name:
                folder, name = output, slug(f"judgesense-{task}")
            elif len(self.tasks) > 1:
                name = slug(f"{stem}-{task}")
            head = f'schema = "judgesense/suite/1"\nname = "{name}"\n'
            file = f"{name}.items.jsonl"
            texts[folder / f"{name}.suite.toml"] = f"{head}{toml.replace('@ITEMS@', file)}"
            lines = (json.dumps(item, ensure_ascii=False) + "\n" for item in items)
            texts[folder / file] = "".join(lines)
        return texts


def complete(rows: Iterable[Row], fields: Sequence[str]) -> None:
    """Raise a `LogError` if a row lacks one of the ``fields``."""
    for row in rows:
        for name in fields:
            if name not in row.value:
                raise row.wrong(name, f"the fields {', '.join(fields)}")
        if not isinstance(row.value.get(SWAPPED, False), bool):
            raise row.wrong(SWAPPED, "true or false")


def spaces_of(rows: Iterable[Row], fields: Sequence[str]) -> dict[str, DecisionSpace]:
    """The decision space of each task: the one whose words occur in ``fields``."""
    spaces: dict[str, DecisionSpace] = {}
    tasks = {}
    for row in rows:
        tasks[row.text("task_type")] = row
        for name in fields:
            word = str(row.value[name]).strip().lower()
            if word in _WORDS:
                spaces.setdefault(row.text("task_type"), _WORDS[word][0])
    for task, row in tasks.items():
        if task not in spaces and task not in _TASKS:
            raise row.wrong(fields[0], _LABELS)
    return {task: spaces.get(task) or _TASKS[task] for task in tasks}


def label_of(row: Row, name: str, space: DecisionSpace) -> str:
    """The label of ``space`` that a field names in the benchmark's words; a `LogError` if none."""
    space_of_word, label = _WORDS.get(str(row.value[name]).strip().lower(), (None, ""))
    if space_of_word is not space:
        raise row.wrong(name, _LABELS)
    return label


def _options(row: Row) -> tuple[str, str] | None:
    """The options A and B of ``A: one | B: other``, if both occur in both prompts."""
    response = row.text("response_being_judged")
    for middle in re.finditer(r"(?<!\s)\s*\|\s*B: ", response):
        options = response[3 : middle.start()], response[middle.end() :]
        if response.startswith("A: ") and all(
            option.strip() and option in row.text(prompt)
            for option in options
            for prompt in ("prompt_a", "prompt_b")
        ):
            return options
    return None


def _clusters(rows: Iterable[Row]) -> list[str]:
    """The cluster of each row: rows on the same texts, in any order, share one."""
    names: dict[frozenset[str], str] = {}
    judged = (_options(row) or (row.text("response_being_judged"),) for row in rows)
    return [names.setdefault(frozenset(texts), f"response-{len(names) + 1}") for texts in judged]


def _around(prompt: str, texts: Sequence[str]) -> list[str] | None:
    """The text before, between and after ``texts``, which follow one another in ``prompt``."""
    parts: list[str] = []
    for text in reversed(texts):
        prompt, separator, after = prompt.rpartition(text)
        if not separator:
            return None
        parts.append(after)
    return [prompt, *reversed(parts)]


class _Parts(NamedTuple):
    """The judged texts of a row, as its prompts show them, and by prompt the text around them."""

    texts: tuple[str, ...]
    around: Mapping[str, Sequence[str]]


def _parts(row: Row, space: DecisionSpace) -> _Parts | None:
    """The parts of a row; ``None`` if it does not show what it judges word for word."""
    options = _options(row) if space.pairwise else (row.text("response_being_judged"),)
    for texts in (options, options[::-1]) if options else ():
        around = {side: _around(row.text(f"prompt_{side}"), texts) for side in "ab"}
        complete_sides = {side: parts for side, parts in around.items() if parts is not None}
        if len(complete_sides) == len(around):
            return _Parts(texts, complete_sides)
    return None


class _Wordings(NamedTuple):
    """The wordings of the rows of a task.

    Attributes:
        texts: by the ids of templates.
        inverted: ids of those whose labels mean the opposite.
        of_rows: for each row the ids of its prompts, and the request that they quote.
    """

    texts: Mapping[str, str]
    inverted: frozenset[str]
    of_rows: tuple[tuple[tuple[str, str], str], ...]


def _wordings(rows: Sequence[Row], space: DecisionSpace) -> _Wordings | None:
    """The wordings that the rows of a task share; ``None`` if they share none."""
    ids: dict[str, str] = {}
    of_rows = []
    for row in rows:
        parts = _parts(row, space)
        if parts is None:
            return None
        prompts = [row.text(f"prompt_{side}") for side in "ab"]
        request = _request(parts) if space.pairwise else ""
        texts = [_wording(parts, side, request) for side in "ab"]
        contents = dict(zip(_CONTENTS[len(parts.texts)], parts.texts, strict=True))
        if [fill(text.strip(), {**contents, "task": request}) for text in texts] != prompts:
            return None
        first, second = (ids.setdefault(text, f"t{len(ids) + 1}") for text in texts)
        if first == second:
            return None
        of_rows.append(((first, second), request))
    if len(ids) > _MOST_WORDINGS:
        return None
    inverted = frozenset(name for text, name in ids.items() if _reads_inverted(text, space))
    return _Wordings({name: text for text, name in ids.items()}, inverted, tuple(of_rows))


def _reads_inverted(wording: str, space: DecisionSpace) -> bool:
    """Whether a wording reads as if its labels meant the opposite of the gold labels."""
    normal = -1 if space.ordinal else 1  # the first score is the worst, YES is the best
    return not space.pairwise and reads_as(wording, space)[0] == -normal


def _wording(parts: _Parts, side: str, request: str) -> str:
    """A prompt of a row with placeholders for what it judges, and for the ``request`` in it."""
    around = parts.around[side]
    for mark in _MARKS if request else "":
        quoted = f"{mark}{request}{mark}"
        around = [part.replace(quoted, f"{mark}{{{{task}}}}{mark}") for part in around]
    holes = [f"{{{{{name}}}}}" for name in _CONTENTS[len(parts.texts)]]
    return "".join(part + hole for part, hole in zip(around, [*holes, ""], strict=True))


def _request(parts: _Parts) -> str:
    """The longest text in quotation marks around what both prompts judge; empty without one."""
    first, second = ("\n".join(parts.around[side]) for side in "ab")
    longest = ""
    for mark in _MARKS:
        marks = [place for place, letter in enumerate(first) if letter == mark][:_MOST_MARKS]
        for start, end in combinations(marks, 2):
            quoted = first[start + 1 : end]
            if len(quoted) > len(longest) and f"{mark}{quoted}{mark}" in second:
                longest = quoted
    return longest


class _Task(NamedTuple):
    """The rows of a task, without those that are left out.

    Attributes:
        wordings: those of all its rows; ``None`` if each row has its own prompts.
        positions: of the rows that stay.
        clusters: of all rows.
    """

    rows: Sequence[Row]
    space: DecisionSpace
    wordings: _Wordings | None
    positions: tuple[int, ...]
    clusters: Sequence[str]

    @classmethod
    def of(
        cls, task: str, rows: Sequence[Row], space: DecisionSpace, leave_out: Sequence[str]
    ) -> _Task:
        """The task; a `UsageError` if it has no template that is to be left out."""
        wordings = _wordings(rows, space)
        names = wordings.texts if wordings else ()
        for name in leave_out:
            if name not in names:
                raise unknown_name(f"template of task {task}", name, names)
        positions = tuple(
            place
            for place in range(len(rows))
            if not wordings or {*leave_out}.isdisjoint(wordings.of_rows[place][0])
        )
        return cls(rows, space, wordings, positions, _clusters(rows))

    def templates(self, place: int) -> tuple[str, str]:
        """The ids of both templates of a row."""
        return self.wordings.of_rows[place][0] if self.wordings else ("a", "b")

    def inverted(self, place: int) -> list[str]:
        """Those of them whose labels mean the opposite."""
        if self.wordings:
            return [name for name in self.templates(place) if name in self.wordings.inverted]
        prompts = {side: self.rows[place].text(f"prompt_{side}") for side in "ab"}
        return [side for side, text in prompts.items() if _reads_inverted(text, self.space)]

    def label(self, place: int) -> str:
        """The gold label of a row: of its decision space, or the slot of the better option."""
        row = self.rows[place]
        label = label_of(row, "ground_truth_label", self.space)
        parts = _parts(row, self.space) if self.space.pairwise else None
        if parts is None:
            return label
        better = (_options(row) or parts.texts)[0 if label == "A" else 1]
        return "A" if parts.texts[0] == better else "B"

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """The pairs of templates that its rows compare, in the order of the file."""
        return tuple(dict.fromkeys(map(self.templates, self.positions)))

    def left_out(self, task: str, leave_out: Sequence[str]) -> Iterator[str]:
        """The notice of rows that are left out, if there are any."""
        if gone := len(self.rows) - len(self.positions):
            names = ", ".join(leave_out)
            yield f"task {task}: {gone} of {len(self.rows)} pairs are left out, those with {names}"


def read_pairs(
    rows: Sequence[Row],
    path: Path,
    leave_out: Sequence[str] = (),
    validation: Iterable[Path] = (),
) -> PairFile:
    """The suites of the rows of a pair file, one a task.

    Args:
        rows: the rows of the file.
        path: the file.
        leave_out: templates whose pairs are left out.
        validation: files of reviews of its pairs.

    Raises:
        LogError: a field is missing or malformed; it names file, line and field.
        UsageError: a template that is to be left out is not there.
    """
    complete(rows, PAIR_FIELDS)
    for row in rows:
        score = row.value["semantic_equivalence_score"]
        if isinstance(score, bool) or not isinstance(score, int | float) or not 0 <= score <= 1:
            raise row.wrong("semantic_equivalence_score", "a number from 0 to 1")
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}", row.text("pair_id")):
            raise row.wrong("pair_id", "letters, digits, '.', '_' and '-', at most 80")
    spaces = spaces_of(rows, ("ground_truth_label",))
    places: dict[tuple[str, str], str] = {}
    for row in rows:
        once(places, ("of the file", row.text("pair_id")), row)
    by_task = grouped(rows, lambda row: row.text("task_type"))
    notices = [*left_out(rows, (*PAIR_FIELDS, SWAPPED))]
    if below := sum(row.value["semantic_equivalence_score"] < 1 for row in rows):
        notices.append(f"{below} rows have a semantic_equivalence_score below 1; it is not kept")
    if swapped := sum(row.value.get(SWAPPED, False) for row in rows):
        notices.append(
            f"{swapped} of {len(rows)} rows show their options exchanged ({SWAPPED}): each row "
            "keeps the order that its prompts have"
        )
    reviews = _reviews(validation)
    suites = {}
    for name, of_task in by_task.items():
        task = _Task.of(name, of_task, spaces[name], leave_out)
        notices += task.left_out(name, leave_out)
        suites[name] = _suite(name, task, path, notices, reviews)
    return PairFile(suites, tuple(notices))


def _suite(
    name: str,
    task: _Task,
    path: Path,
    notices: list[str],
    reviews: Mapping[str, Mapping[str, str]],
) -> tuple[str, tuple[Mapping[str, Any], ...]]:
    """Its TOML and its items; adds ``notices``."""
    rows = [task.rows[place] for place in task.positions]
    if task.wordings is None:
        slots_too = ", and slots are labels like others" if task.space.pairwise else ""
        notices.append(
            f"task {name}: its rows share no wordings that show what they judge word for word: "
            f"prompts are kept whole{slots_too}"
        )
    items = tuple(
        {"id": row.text("pair_id"), "cluster": task.clusters[place], **_item(task, place)}
        for row, place in zip(rows, task.positions, strict=True)
    )
    if turned := sum(bool(task.inverted(place)) for place in task.positions):
        notices.append(
            f"task {name}: {turned} of {len(items)} rows have a prompt whose labels read as the "
            "opposite; it is declared inverted, so JSS compares what is meant, and the raw one "
            "stands beside it"
        )
    reviewed = "".join(_equivalence(name, task, reviews, notices))
    sources = ", ".join(sorted({str(row.value["source_benchmark"]) for row in rows}))
    text = f"JudgeSense, {name}: {len(rows)} prompt pairs ({sources}) of {path.name}"
    space = replace(task.space, pairwise=task.space.pairwise and task.wordings is not None)
    toml = _head(text, space, task.pairs, reviewed)
    return toml + "".join(_templates(task)) + _CHECKS, items


def _item(task: _Task, place: int) -> dict[str, Any]:
    """An item's label, texts and fields, and the templates that ask about it."""
    row, label = task.rows[place], task.label(place)
    parts = _parts(row, task.space)
    if task.wordings is None or parts is None:
        # Templates say themselves that they are inverted; prompts of a row's own do not.
        inverted = task.inverted(place)
        return {
            **{f"prompt_{side}": row.text(f"prompt_{side}") for side in "ab"},
            "label": label,
            **({"inverted": inverted} if inverted else {}),
        }
    templates, request = task.wordings.of_rows[place]
    if task.space.pairwise:
        better = "1" if label == "A" else "2"
        texts = {"task": request, "texts": parts.texts, "fields": {}, "label": better}
        return {**texts, "asked_in": templates}
    return {"response": parts.texts[0], "label": label, "asked_in": templates}


_CHECKS: Final = "[checks]\njss_floor = 0.8\n"


def _quoted(text: str) -> str:
    """A text as TOML has it."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _head(
    description: str, space: DecisionSpace, pairs: Iterable[tuple[str, str]], reviewed: str
) -> str:
    """The file of a suite up to its templates."""
    flags = {"ordinal": space.ordinal, "pairwise": space.pairwise}
    more = "".join(f"{name} = true\n" for name, holds in flags.items() if holds)
    compared = json.dumps([list(pair) for pair in pairs])
    return (
        f'kind = "paraphrase"\ndescription = {_quoted(description)}\nsystem = "{_SYSTEM}"\n\n'
        f"{reviewed}[space]\nlabels = {json.dumps(list(space.labels))}\n{more}\n"
        '[stimuli]\nfile = "@ITEMS@"\n\n'
        f'[design]\npairs = {compared}\norders = "ab"\n{_DESIGN}\n'
    )


def _templates(task: _Task) -> Iterator[str]:
    """The templates of a suite: the wordings of its rows, or the places of their own prompts."""
    inverted: frozenset[str] = frozenset()
    texts = {side: f"{{{{prompt_{side}}}}}" for side in "ab"}
    if task.wordings is not None:
        used = {name for pair in task.pairs for name in pair}
        texts = {name: text for name, text in task.wordings.texts.items() if name in used}
        inverted = task.wordings.inverted
    for name, text in texts.items():
        polarity = 'polarity = "inverted"\n' * (name in inverted)
        yield f'[[templates]]\nid = "{name}"\n{polarity}text = {_quoted(text)}\n\n'


def _reviews(files: Iterable[Path]) -> dict[str, dict[str, str]]:
    """The verdict on each pair, by its id, of each reviewer."""
    reviews: dict[str, dict[str, str]] = {}
    for row in (row for file in files for row in all_rows(file)):
        field = _BY_PERSON if _BY_PERSON in row.value else _BY_MODEL
        verdict = str(row.value.get(field)).strip().upper()
        if verdict not in ("YES", "NO", "UNSURE"):
            raise row.wrong(field, "YES, NO or UNSURE")
        reviewer = "model" if field == _BY_MODEL else slug(row.text("reviewer"))
        reviews.setdefault(reviewer, {})[row.text("pair_id")] = verdict
    return reviews


def _equivalence(
    name: str, task: _Task, reviews: Mapping[str, Mapping[str, str]], notices: list[str]
) -> Iterator[str]:
    """The reviews of its template pairs as a suite file has them; adds ``notices``."""
    if not reviews:
        return
    if task.wordings is None:
        notices.append(f"task {name}: reviews are kept out, for its rows share no wordings")
        return
    kinds = {reviewer: "model" if reviewer == "model" else "human" for reviewer in reviews}
    named = ", ".join(f'{reviewer} = "{kind}"' for reviewer, kind in kinds.items())
    yield f"reviewers = {{ {named} }}\n"
    yield "equivalence = [\n"
    for pair in task.pairs:
        verdicts = {}
        for reviewer, by_id in reviews.items():
            ids = (
                task.rows[p].text("pair_id") for p in task.positions if task.templates(p) == pair
            )
            verdict_counts = Counter(by_id[id_] for id_ in ids if id_ in by_id)
            if verdict_counts:
                verdicts[reviewer] = (
                    "UNSURE" if len(verdict_counts) > 1 else next(iter(verdict_counts))
                )
            if len(verdict_counts) > 1:
                counts = ", ".join(
                    f"{word} of {count} rows" for word, count in verdict_counts.most_common()
                )
                notices.append(f"task {name}: {reviewer} says of {'~'.join(pair)} {counts}: UNSURE")
        if not verdicts:
            continue
        if "NO" in verdicts.values() and not task.wordings.inverted.isdisjoint(pair):
            left = "left out of" if {*verdicts.values()} == {"NO"} else "doubtful in"
            notices.append(
                f"task {name}: {'~'.join(pair)} was reviewed with its labels as they stand, and is "
                f"{left} the comparison, which exchanges them; delete that entry to trust it"
            )
        given_words = ", ".join(f'{reviewer} = "{word}"' for reviewer, word in verdicts.items())
        yield f"    {{ pair = {json.dumps(list(pair))}, reviews = {{ {given_words} }} }},\n"
    yield "]\n\n"


class StatedPair(NamedTuple):
    """What a decision log does not say of a pair; ``label`` as `_Task.label` gives it."""

    cluster: str
    templates: tuple[str, str] = ("a", "b")
    inverted: tuple[str, ...] = ()
    label: str | None = None


class _Pairs(NamedTuple):
    """What the file of the pairs says, by the id of a pair and by task; without those left out."""

    by_id: Mapping[str, StatedPair]
    compared: Mapping[str, tuple[tuple[str, str], ...]]
    inverted: Mapping[str, tuple[str, ...]]
    gone: frozenset[str]
    notices: Mapping[str, tuple[str, ...]]


def pairs_of(paths: Sequence[Path], leave_out: Sequence[str] = ()) -> _Pairs:
    """The pairs of pair files: pairs that judge the same response share a cluster."""
    rows = list(read_rows(*paths))
    complete(rows, PAIR_FIELDS)
    spaces = spaces_of(rows, ("ground_truth_label",))
    by_id, compared, inverted = {}, {}, {}
    gone, notices = set[str](), {}
    for name, of_task in grouped(rows, lambda row: row.text("task_type")).items():
        task = _Task.of(name, of_task, spaces[name], leave_out)
        compared[name] = task.pairs
        turned = {template for place in task.positions for template in task.inverted(place)}
        inverted[name] = tuple(sorted(turned))
        notices[name] = tuple(task.left_out(name, leave_out))
        gone |= {row.text("pair_id") for row in of_task}
        for place in task.positions:
            id_ = of_task[place].text("pair_id")
            gone.discard(id_)
            by_id[id_] = StatedPair(
                task.clusters[place],
                task.templates(place),
                tuple(task.inverted(place)),
                task.label(place),
            )
    return _Pairs(by_id, compared, inverted, frozenset(gone), notices)


def is_of_judgesense(sight: FirstSight) -> bool:
    """Whether a file, or the first of a folder, holds pairs or decisions of JudgeSense."""
    return any(sight.columns.issuperset(own) for own in _OWN_FIELDS)


def holds_decisions(columns: Collection[str]) -> bool:
    """Whether these are columns of a decision log."""
    return bool({*columns} & ({*LOG_FIELDS} - {*PAIR_FIELDS}))


def holds_pairs(columns: Collection[str]) -> bool:
    """Whether these are columns of a pair file, and not of a decision log."""
    return not holds_decisions(columns) and bool({*columns} & ({*PAIR_FIELDS} - {*LOG_FIELDS}))


def imported_pairs(options: ImportOptions) -> Imported | PairFile:
    """The judgments of ``judgesense import --format judgesense``: decisions, or a pair file."""
    rows = all_rows(options.path)
    fields = set(rows[0].value) if rows else set[str]()
    if holds_decisions(fields):
        if options.pairs is None and options.leave_out:
            raise UsageError(
                "--leave-out needs the file of the pairs, for a log does not name its templates",
                found=f"--leave-out {options.leave_out[0]}",
                expected="--pairs FILE beside it",
            )
        pairs = () if options.pairs is None else (options.pairs,)
        return read_decisions(rows, pairs, options.leave_out)
    if holds_pairs(fields):
        return read_pairs(rows, options.path, options.leave_out, options.validation)
    raise LogError(
        f"{options.path} is not a file of JudgeSense",
        found=listed(sorted(fields)) or "no rows",
        expected=f"pairs ({listed(PAIR_FIELDS)}) or decisions ({listed(LOG_FIELDS)})",
    )


def _typed(row: Row, name: str, kind: type, expected: str) -> Any:
    """A field of that type, or null."""
    value = row.value.get(name, ...)
    if not isinstance(value, (kind, NoneType)):
        raise row.wrong(name, f"{expected}, or null")
    return value


def read_decisions(
    rows: Sequence[Row],
    pairs: Sequence[Path] = (),
    leave_out: Sequence[str] = (),
    named: str = "--pairs FILE",
) -> Imported:
    """The judgments of a JudgeSense decision log.

    Args:
        rows: the rows of one or more logs.
        pairs: the pair files, which say what the log does not: see `StatedPair`.
        leave_out: templates whose pairs are left out.
        named: how a user names the file of the pairs.

    Raises:
        LogError: a field is missing or malformed, or a judge has answered a pair twice in a run.
        UsageError: a template that is to be left out is not there.
    """
    complete(rows, LOG_FIELDS)
    spaces = spaces_of(rows, ("normalized_a", "normalized_b"))
    stated = pairs_of(pairs, leave_out) if pairs else None
    places: dict[tuple[str, str], str] = {}
    designs = _own_designs(rows)
    judgments: dict[tuple[str, str, str], tuple[Judgment, Design]] = {}
    lines: dict[tuple[str, str, str], int] = {}
    contradicted = []
    for row in rows:
        task, id_ = row.text("task_type"), row.text("pair_id")
        if stated is not None and id_ in stated.gone:
            continue
        if stated is not None and id_ not in stated.by_id:
            raise row.wrong("pair_id", "a pair of the file that --pairs names")
        pair = StatedPair(id_) if stated is None else stated.by_id[id_]
        compared = (("a", "b"),) if stated is None else stated.compared[task]
        space = spaces[task]
        design = Design("paraphrase", space.labels, space.ordinal, space.pairwise, compared)
        design = designs.get(task, design)
        two = [decision_of(row, side, space, pair) for side in "ab"]
        own = own_of(row)
        if not own:
            once(places, (two[0].judge, two[0].trial.id), row)
        for side, read in zip("ab", two, strict=True):
            judgment = with_own_fields(read, own.get(side) or {}, row)
            key = judgment.judge, judgment.trial.suite, judgment.trial.id
            if judgments.setdefault(key, (judgment, design))[0] != judgment:
                raise row.wrong(KEY, f"one judgment of {judgment.trial.id}, in all its pairs")
            lines.setdefault(key, _line(own, side, len(lines)))
        verdicts = [judgment.verdict for judgment in two]
        flipped = _typed(row, "flipped", bool, "true or false")
        if None not in (*verdicts, flipped) and flipped != (verdicts[0] != verdicts[1]):
            contradicted.append(row.where)
    notices = [*_notices_of_rows(rows, contradicted)]
    if stated is not None:
        notices += _notices_of_pairs(stated, spaces)
    elif not designs:
        notices += _notices_without_pairs(spaces, named)
    ordered = sorted(judgments, key=lines.__getitem__)
    return Imported(tuple(judgments[key] for key in ordered), tuple(notices))


def _notices_of_rows(rows: Sequence[Row], contradicted: Sequence[str]) -> Iterator[str]:
    """What of the rows is kept out; ``contradicted``: those whose flip is not what they say."""
    yield from left_out(rows, (*LOG_FIELDS, SWAPPED, KEY))
    if timeless := [row for row in rows if row.value["timestamp"] and _moment(row) is None]:
        yield f"timestamps of {len(timeless)} rows are no times, and are kept out"
    if contradicted:
        yield (
            f"{len(contradicted)} rows say of their decisions that they flip, or do not, against "
            f"what the decisions are, the first is {contradicted[0]}: the decisions are kept"
        )


def _notices_of_pairs(stated: _Pairs, tasks: Iterable[str]) -> Iterator[str]:
    """What the file of the pairs says of the tasks."""
    tasks = [*tasks]
    for task in tasks:
        yield from stated.notices[task]
    for task in tasks:
        if turned := stated.inverted[task]:
            yield (
                f"task {task}: labels of {', '.join(turned)} mean the opposite: JSS compares what "
                "is meant (corrected), and the raw one stands beside it"
            )


def _notices_without_pairs(spaces: Mapping[str, DecisionSpace], named: str) -> Iterator[str]:
    """What is not known without the file of the pairs, which a user names as ``named`` says."""
    yield (
        "a log does not say which pairs judge the same response: every pair counts as a "
        f"cluster of its own; {named} names the file of the pairs, which does"
    )
    if unknown := [task for task, space in spaces.items() if not space.pairwise]:
        yield (
            f"the polarity of the wordings of {', '.join(unknown)} is not known, for a log "
            "holds no prompts: where YES of one means an error, its decisions count as flips; "
            f"{named} remaps them"
        )


def _own_designs(rows: Iterable[Row]) -> dict[str, Design]:
    """By task the design that an export states in one of its rows."""
    stated = ((row.text("task_type"), design_of(row)) for row in rows)
    return {task: design for task, design in stated if design is not None}


def _line(own: Mapping[str, Any], side: str, place: int) -> int:
    """The line that a judgment had in the log that was exported, or its ``place`` here."""
    line = (own.get(side) or {}).get(LINE)
    return line if type(line) is int else place


def decisions_at(paths: Sequence[Path]) -> Imported:
    """The judgments of decision logs, of which pair files among the paths say what they do not.

    Raises:
        LogError: a file is malformed, or there are pairs alone.
    """
    rows, pairs = [], []
    for path in paths:
        of_file = all_rows(path)
        if holds_pairs(of_file[0].value):
            pairs.append(path)
        else:
            rows += of_file
    if not rows:
        raise LogError(
            f"{listed(map(str, pairs))} holds pairs, and no judgment",
            expected="a decision log beside it",
            remedy="judgesense import makes a suite of pairs",
        )
    return read_decisions(rows, pairs, named="one more --log FILE")


def may_be_of_judgesense(sight: FirstSight) -> bool:
    """Whether a file, or the first of a folder, holds decisions or pairs.

    Whatever else of their columns is missing: where nothing else is expected, that is said.
    """
    return any({f"{name}_a", f"{name}_b"} <= sight.columns for name in ("normalized", "prompt"))


def decision_of(row: Row, side: str, space: DecisionSpace, pair: StatedPair) -> Judgment:
    """The judgment of one side of a row, ``a`` or ``b``; a `LogError` if a field is malformed."""
    suite, id_ = slug(f"judgesense-{row.text('task_type')}"), row.text("pair_id")
    run = row.number_in("run")
    order: Order = "ba" if row.value.get(SWAPPED) else "ab"
    template = pair.templates["ab".index(side)]
    condition: Condition = {"polarity": "inverted"} if template in pair.inverted else {}
    label = pair.label
    if label is not None and space.pairwise:
        label = content_of_slot(label, order)
    name = f"{suite}/{id_}/{template}/{order}/r{run}"
    trial = Trial(name, suite, id_, pair.cluster, template, order, run, condition, label)
    outcome = _outcome(row, side, space)
    raw = _typed(row, f"prompt_{side}_raw", str, "the text of the reply")
    reply = None if isinstance(outcome, Failed) else raw
    moment = _moment(row)
    judgment = Judgment(trial, row.text("model"), outcome, reply=reply, recorded_at=moment)
    if space.pairwise:
        return placed(judgment)
    if condition and isinstance(outcome, Verdict):
        labels = space.labels
        return replace(judgment, chosen=labels[-1 - labels.index(outcome.value)])
    return judgment


def _moment(row: Row) -> str | None:
    """When the replies of a row were there; ``None`` if it does not say it as a time."""
    with suppress(ValueError):
        return moment_of(row.value["timestamp"])
    return None


def _outcome(row: Row, side: str, space: DecisionSpace) -> JudgmentOutcome:
    error = _typed(row, "error", str, "the text of the error")
    if error is not None:
        broken = [s for s in "ab" if str(row.value[f"prompt_{s}_raw"] or "").startswith("ERROR")]
        # Where neither side is marked, it is not known which call ended: neither is taken.
        if side in broken or not broken:
            return Failed(error or "an error without a text")
    word = row.value[f"normalized_{side}"]
    if str(word if word is not None else "").strip().lower() in _NOT_DECIDED:
        return Unparsed(f"recorded as {word}")
    return Verdict(label_of(row, f"normalized_{side}", space))
