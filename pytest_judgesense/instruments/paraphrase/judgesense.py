"""JudgeSense's files (arXiv 2604.23478): prompt pairs to a suite, decision logs to judgments.

A row of a pair file is a prompt pair: both prompts, the response that they judge, its gold label. A
row becomes one item, its prompts the templates ``a`` and ``b``; rows on one response share a
cluster, and nothing is left out, so that the pairs, and their n, are those of the benchmark. A
prompt is split around the text that it judges (around both options of a pairwise row, in the order
in which it shows them); joined again, it is exactly the prompt of the row.

Labels: ``accurate``, ``inaccurate`` are YES and NO; ``score_1`` to ``score_5`` are 1 to 5; ``A``,
``B`` name the options of ``response_being_judged``.

A row of a decision log is a prompt pair in one run. A row with an error has no reply: it is in no
rate, and neither is a decision that is not a label (``UNCLEAR``); both are counted. ``ab_swapped``
is the presentation order.
"""

from __future__ import annotations

import json
import re
from argparse import Namespace
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import NoneType
from typing import Any, Final, TypeAlias

from pytest_judgesense.errors import LogError, UsageError
from pytest_judgesense.grouping import grouped
from pytest_judgesense.importers import Imported, Row, left_out, once, read_rows, slug
from pytest_judgesense.instruments.paraphrase.results import all_rows, placed
from pytest_judgesense.suites.space import DecisionSpace
from pytest_judgesense.suites.wordings import reads_as
from pytest_judgesense.trial import (
    Design,
    Failed,
    Judgment,
    Order,
    Outcome,
    Trial,
    Unparsed,
    Verdict,
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
# The text around one judged text, and around two.
_NAMES: Final = {1: ("before", "after"), 2: ("before", "between", "after")}

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
    found: dict[str, DecisionSpace] = {}
    tasks = {}
    for row in rows:
        tasks[row.text("task_type")] = row
        for name in fields:
            word = str(row.value[name]).strip().lower()
            if word in _WORDS:
                found.setdefault(row.text("task_type"), _WORDS[word][0])
    for task, row in tasks.items():
        if task not in found and task not in _TASKS:
            raise row.wrong(fields[0], _LABELS)
    return {task: found.get(task) or _TASKS[task] for task in tasks}


def label_of(row: Row, name: str, space: DecisionSpace) -> str:
    """The label of ``space`` that a field names in the benchmark's words; a `LogError` if none."""
    known, label = _WORDS.get(str(row.value[name]).strip().lower(), (None, ""))
    if known is not space:
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
    return [names.setdefault(frozenset(one), f"response-{len(names) + 1}") for one in judged]


def _around(prompt: str, texts: Sequence[str]) -> list[str] | None:
    """The text before, between and after ``texts``, which follow one another in ``prompt``."""
    parts: list[str] = []
    for text in reversed(texts):
        prompt, found, after = prompt.rpartition(text)
        if not found:
            return None
        parts.append(after)
    return [prompt, *reversed(parts)]


def read_pairs(rows: Sequence[Row], path: Path) -> PairFile:
    """The suites of the rows of a pair file, one a task.

    Raises:
        LogError: a field is missing or malformed; it names file, line and field.
    """
    complete(rows, PAIR_FIELDS)
    for row in rows:
        score = row.value["semantic_equivalence_score"]
        if isinstance(score, bool) or not isinstance(score, int | float) or not 0 <= score <= 1:
            raise row.wrong("semantic_equivalence_score", "a number from 0 to 1")
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}", row.text("pair_id")):
            raise row.wrong("pair_id", "letters, digits, '.', '_' and '-', at most 80")
    spaces = spaces_of(rows, ("ground_truth_label",))
    known: dict[tuple[str, str], str] = {}
    for row in rows:
        once(known, ("of the file", row.text("pair_id")), row)
    by_task = grouped(rows, lambda row: row.text("task_type"))
    notices = [*left_out(rows, (*PAIR_FIELDS, SWAPPED))]
    if below := sum(row.value["semantic_equivalence_score"] < 1 for row in rows):
        notices.append(f"{below} rows have a semantic_equivalence_score below 1; it is not kept")
    if swapped := sum(row.value.get(SWAPPED, False) for row in rows):
        notices.append(
            f"{swapped} of {len(rows)} rows show their options exchanged ({SWAPPED}): each row "
            "keeps the order that its prompts have"
        )
    tasks = {task: _suite(task, of, spaces[task], path, notices) for task, of in by_task.items()}
    return PairFile(tasks, tuple(notices))


_Apart: TypeAlias = tuple[tuple[str, ...], dict[str, str]]


def _suite(
    task: str, rows: Sequence[Row], space: DecisionSpace, path: Path, notices: list[str]
) -> tuple[str, tuple[Mapping[str, Any], ...]]:
    """Its TOML and its items; adds ``notices``."""
    apart = [_apart(row, space) for row in rows]
    whole = [row.where for row, parts in zip(rows, apart, strict=True) if parts is None]
    if whole:
        slots_too = ", and slots are labels like others" if space.pairwise else ""
        notices.append(
            f"task {task}: {len(whole)} rows do not show what they judge word for word, the first "
            f"is {whole[0]}: prompts are kept whole{slots_too}"
        )
    items = tuple(
        {
            "id": row.text("pair_id"),
            "cluster": cluster,
            **_item(row, space, None if whole else parts),
        }
        for row, cluster, parts in zip(rows, _clusters(rows), apart, strict=True)
    )
    if turned := sum("inverted" in item for item in items):
        notices.append(
            f"task {task}: {turned} of {len(items)} rows have a prompt whose labels read as the "
            "opposite; it is declared inverted, so JSS compares what is meant, and the raw one "
            "stands beside it"
        )
    sources = ", ".join(sorted({str(row.value["source_benchmark"]) for row in rows}))
    text = f"JudgeSense, {task}: {len(rows)} prompt pairs ({sources}) of {path.name}"
    return _toml(text, space, whole=bool(whole)), items


def _apart(row: Row, space: DecisionSpace) -> _Apart | None:
    """The judged text of a row, as its prompts show it, and the fields with the text around it."""
    options = _options(row) if space.pairwise else (row.text("response_being_judged"),)
    for texts in (options, options and options[::-1]):
        around = [texts and _around(row.text(f"prompt_{side}"), texts) for side in "ab"]
        if texts and all(around):
            return texts, {
                f"{side}_{name}": part
                for side, parts in zip("ab", around, strict=True)
                for name, part in zip(_NAMES[len(texts)], parts or (), strict=True)
            }
    return None


def _item(row: Row, space: DecisionSpace, apart: _Apart | None) -> dict[str, Any]:
    """An item's label, texts and fields."""
    label = label_of(row, "ground_truth_label", space)
    texts, fields = apart or ((), {f"prompt_{s}": row.text(f"prompt_{s}") for s in "ab"})
    if space.pairwise and len(texts) == 2:
        better = (_options(row) or texts)[0 if label == "A" else 1]
        place = "1" if texts[0] == better else "2"
        return {"task": "", "texts": texts, "fields": fields, "label": place}
    inverted = [] if space.pairwise else [s for s in "ab" if _inverted(fields, s, space)]
    return {
        **fields,
        **({"response": texts[0]} if texts else {}),
        "label": label,
        **({"inverted": inverted} if inverted else {}),
    }


def _inverted(fields: Mapping[str, str], side: str, space: DecisionSpace) -> bool:
    """Whether a prompt reads as if its labels meant the opposite of the gold labels."""
    wording = "\n".join(text for name, text in fields.items() if side in name.split("_"))
    normal = -1 if space.ordinal else 1  # the first score is the worst, YES is the best
    return reads_as(wording, space)[0] == -normal


_TOML: Final = """kind = "paraphrase"
description = {description}

[space]
labels = {labels}
{more}
[stimuli]
file = "@ITEMS@"

[design]
pairs = [["a", "b"]]
orders = "ab"

[[templates]]
id = "a"
text = "{a}"

[[templates]]
id = "b"
text = "{b}"

[checks]
jss_floor = 0.8
"""


def _toml(description: str, space: DecisionSpace, *, whole: bool) -> str:
    pairwise = space.pairwise and not whole

    def text(side: str) -> str:
        middle = ["a", f"{side}_between", "b"] if pairwise else ["response"]
        names = [f"prompt_{side}"] if whole else [f"{side}_before", *middle, f"{side}_after"]
        return "".join(f"{{{{{name}}}}}" for name in names)

    flags = {"ordinal": space.ordinal, "pairwise": pairwise}
    return _TOML.format(
        description=json.dumps(description),
        labels=json.dumps(list(space.labels)),
        more="".join(f"{name} = true\n" for name, holds in flags.items() if holds),
        a=text("a"),
        b=text("b"),
    )


def clusters_of(pairs: Path) -> dict[str, str]:
    """The cluster of each pair of a pair file: pairs that judge the same response share one."""
    rows = list(read_rows(pairs))
    complete(rows, PAIR_FIELDS)
    names = [row.text("pair_id") for row in rows]
    return dict(zip(names, _clusters(rows), strict=True))


def imported_pairs(options: Namespace) -> Imported | PairFile:
    """The judgments that ``judgesense import judgesense`` reads: a decision log, or a pair file."""
    rows = all_rows(options.path)
    fields = set(rows[0].value) if rows else set[str]()
    if fields & (set(LOG_FIELDS) - set(PAIR_FIELDS)):
        return read_decisions(rows, options.pairs)
    if fields & (set(PAIR_FIELDS) - set(LOG_FIELDS)):
        return read_pairs(rows, options.path)
    raise LogError(
        f"{options.path} is not a file of JudgeSense",
        found=", ".join(sorted(fields)) or "no rows",
        expected=f"pairs ({', '.join(PAIR_FIELDS)}) or decisions ({', '.join(LOG_FIELDS)})",
    )


def _typed(row: Row, name: str, kind: type, expected: str) -> Any:
    """A field of that type, or null."""
    found = row.value.get(name, ...)
    if not isinstance(found, (kind, NoneType)):
        raise row.wrong(name, f"{expected}, or null")
    return found


def read_decisions(rows: Sequence[Row], pairs: Path | None = None) -> Imported:
    """The judgments of a JudgeSense decision log.

    Args:
        rows: the rows of one or more logs.
        pairs: the pair file, which shows the pairs on the same response.

    Raises:
        LogError: a field is missing or malformed, or a judge has answered a pair twice in a run.
    """
    complete(rows, LOG_FIELDS)
    spaces = spaces_of(rows, ("normalized_a", "normalized_b"))
    clusters = {} if pairs is None else clusters_of(pairs)
    known: dict[tuple[str, str], str] = {}
    judgments = []
    contradicted = []
    for row in rows:
        space = spaces[row.text("task_type")]
        design = Design("paraphrase", space.labels, space.ordinal, space.pairwise, (("a", "b"),))
        two = [_decision(row, side, space, clusters) for side in "ab"]
        once(known, (two[0].judge, two[0].trial.id), row)
        judgments += [(one, design) for one in two]
        said = [one.verdict for one in two]
        flipped = _typed(row, "flipped", bool, "true or false")
        if None not in (*said, flipped) and flipped != (said[0] != said[1]):
            contradicted.append(row.where)
    notices = list(left_out(rows, (*LOG_FIELDS, SWAPPED)))
    if contradicted:
        notices.append(
            f"{len(contradicted)} rows say of their decisions that they flip, or do not, against "
            f"what the decisions are, the first is {contradicted[0]}: the decisions are kept"
        )
    if pairs is None:
        notices.append(
            "a log does not say which pairs judge the same response: every pair counts as a "
            "cluster of its own; --pairs FILE names the file of the pairs, which does"
        )
    return Imported(tuple(judgments), tuple(notices))


def _decision(row: Row, side: str, space: DecisionSpace, clusters: Mapping[str, str]) -> Judgment:
    suite, pair = slug(f"judgesense-{row.text('task_type')}"), row.text("pair_id")
    if clusters and pair not in clusters:
        raise row.wrong("pair_id", "a pair of the file that --pairs names")
    run = row.number("run")
    order: Order = "ba" if row.value.get(SWAPPED) else "ab"
    name = f"{suite}/{pair}/{side}/{order}/r{run}"
    trial = Trial(name, suite, pair, clusters.get(pair, pair), side, order, run)
    outcome = _outcome(row, side, space)
    raw = _typed(row, f"prompt_{side}_raw", str, "the text of the reply")
    reply = None if isinstance(outcome, Failed) else raw
    judgment = Judgment(trial, row.text("model"), outcome, reply=reply)
    return placed(judgment) if space.pairwise else judgment


def _outcome(row: Row, side: str, space: DecisionSpace) -> Outcome:
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
