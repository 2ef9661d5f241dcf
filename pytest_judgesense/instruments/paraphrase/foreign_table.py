"""A table of judgments, a row each: which column holds which field is said, or is its name.

What else a column of items and the words of two candidates may be called stands in `synonyms`; the
rest is asked for. What the judge was shown (``prompt``, ``field.NAME``) and a number that it gave
(``score``) are read where they are mapped. Logs of other tools (`tools`) are such rows once they
are read. What the words of two candidates name where these changed places is said as well:
`candidates`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple

from pytest_judgesense.errors import JudgesenseError, LogError, UsageError, listed, unknown_name
from pytest_judgesense.files.assignments import option_words
from pytest_judgesense.files.candidate_texts import (
    CONTENT,
    SLOT,
    TextNaming,
    TextsOfRow,
    difference,
    naming_of_texts,
)
from pytest_judgesense.files.foreign_results import Imported, left_out, slug, without_common_value
from pytest_judgesense.files.import_options import ImportOptions
from pytest_judgesense.files.judgment_fields import FIELDS, PLACES, of_one_order
from pytest_judgesense.files.reshaping import PEOPLE
from pytest_judgesense.files.row_options import RenamedWords, RowOptions, read_as_told
from pytest_judgesense.files.rows import Row, field_of
from pytest_judgesense.files.synonyms import candidates_among, column_of, no_and_yes
from pytest_judgesense.files.tables import RowTable, own_name
from pytest_judgesense.instruments.paraphrase.candidate_naming import Naming, naming_of
from pytest_judgesense.instruments.paraphrase.judgment_reader import (
    ORDERS,
    SWEPT,
    JudgmentReader,
    confidence_in,
    refuse_fields,
)
from pytest_judgesense.instruments.paraphrase.results import DESIGN, SPACE, each_once, placed
from pytest_judgesense.replies.confidence import CONFIDENCE
from pytest_judgesense.replies.stated_answers import meaning_of_step
from pytest_judgesense.suites.answer_kinds import (
    InferredAnswers,
    as_steps,
    in_order,
    inferred_answers,
    is_whole,
)
from pytest_judgesense.suites.planning import trial_order
from pytest_judgesense.suites.space import DecisionSpace, number_of, space_of_labels
from pytest_judgesense.trial import (
    ABSTAIN,
    TIE,
    Design,
    Judgment,
    ScoreRange,
    Verdict,
    as_whole,
    content_of_slot,
    grouped,
    is_number,
    slot_of_content,
)

_MOST_SHOWN: Final = 12
# A verdict is short or returns; what is neither is a text in which one may be stated.
_MOST_WORDS: Final = 8
_NEARLY_ALL: Final = 0.9
_MOST_LABELS: Final = 200
# What ``--names`` may be about besides the texts of candidates.
_ANSWERS: Final = ("verdict", "label")


def imported_table(options: ImportOptions) -> Imported:
    """The judgments of a table, as ``judgesense import`` reads it."""
    return read_table(
        options.path,
        dict(options.map),
        judge=options.judge,
        suite=options.suite,
        values=dict(options.value),
        names=dict(options.names),
        labels=options.labels or (),
        ends=options.ends,
        replicate=options.replicate,
        lists=dict(options.lists),
        joins=options.join,
        more=options.more,
        looked_at=options.looked_at,
    )


def read_table(
    path: Path,
    mapping: Mapping[str, str],
    *,
    judge: str | None = None,
    suite: str | None = None,
    values: Mapping[str, str] | None = None,
    names: Mapping[str, str] | None = None,
    labels: Sequence[str] = (),
    ends: ScoreRange | None = None,
    replicate: int | None = None,
    lists: Mapping[str, str] | None = None,
    joins: Sequence[tuple[Path, str]] = (),
    more: Sequence[Path] = (),
    looked_at: RowTable | None = None,
) -> Imported:
    """The judgments of a table, a row each.

    Verdicts that are all ``A``, ``B``, ``tie`` or ``abstain`` are of a pair; where candidates
    changed places they must be, or be two words for a first and a second candidate. What such words
    name there is told by ``names``; beside ``A`` and ``B`` a label ``1`` or ``2`` is a content. An
    empty verdict is an unparsed reply. Numbers make an ordinal space.

    A ``temperature`` is a number and part of the trial, so that a question may be asked at several;
    it and the other conditions of sweeps may be mapped by their names alone.

    A row may hold both orders of a pair: columns of ``verdict.ab`` and ``verdict.ba``, and of other
    fields of a reply by the same endings. A label ``A`` or ``B`` is then a slot of order ``ab``,
    and so is a text of a candidate.

    Texts of two candidates (``field.a`` and ``field.b``) are taken in the item's own order. Where
    rows of one item in both orders show whether they are slots or contents, nobody has to say it.

    Columns of candidates shown ``first`` and ``second`` tell the order (``ab`` in that of the
    alphabet) and pairs of an item, which are one cluster. ``people.NAME`` is what a person said,
    and the label that of most, if no column holds it.

    Args:
        path: a table, as `files.tables` reads it.
        mapping: from a field of a judgment log to the column that holds it, or to several with
            commas between them, whose values are joined: ``{"item": "question_id,turn"}``. A column
            ``a.b`` is the field b of the objects in column a. A field with an empty column is in
            none, whatever columns are called.
        judge: the judge of all rows, where no column names it; the file's name by default.
        suite: the suite of all rows, where no column names it.
        values: from the words in the columns (verdict, label, order, template and conditions) to
            the suite's.
        names: whether ``verdict``, ``label`` and texts of candidates (``a`` of ``field.a``) name
            slots or contents, where candidates changed places.
        labels: the answers that a verdict may have, with ``tie`` and ``abstain`` where they are
            permitted: verdicts are read from the replies, which may say what ``values`` renames.
        ends: of the scale of verdicts and labels, where these are numbers and the user states them.
        replicate: that of all rows.
        lists: the columns that hold lists, and patterns of columns; see `files.reshaping`.
        joins: files with more columns of the rows, and the column of both.
        more: more files, whose rows follow.
        looked_at: the rows, where they were read already; then no column is taken by its name.

    Raises:
        UsageError: the mapping names no field of a judgment, or a column that no row has.
        LogError: a field is missing or malformed, a number lies outside of ``ends``, or a trial
            appears twice.
    """
    refuse_fields(mapping)
    row_options = RowOptions(lists=tuple((lists or {}).items()), join=tuple(joins))
    table = looked_at or read_as_told(row_options, path, *more)
    names_found = dict.fromkeys(table.columns)
    mapping, nowhere = with_columns(mapping)
    used = refuse_columns(table.rows, mapping, names_found)
    by_name = () if looked_at else _taken_by_name(table.rows, names_found, nowhere)
    columns, notices = _columns(mapping, names_found, labels, by_name)
    named = {"judge": judge, "suite": suite, "replicate": str(replicate) if replicate else None}
    fixed, of_file = fixed_fields(path, named, columns)
    columns = {name: column for name, column in columns.items() if not named.get(name)}
    unused = left_out(table.rows, {*columns.values(), *used})
    space, names = space_of_labels(labels, values or {}), names or {}
    read = judgments_of(
        table.rows, columns, fixed, values or {}, names=names, space=space, ends=ends
    )
    return replace(read, notices=(*table.notes, *unused, *notices, *of_file, *read.notices))


def _taken_by_name(
    rows: Sequence[Row], names: Collection[str], nowhere: Collection[str]
) -> list[str]:
    """The columns that are taken for the field that they are called after."""
    aside = {*nowhere}
    if CONFIDENCE in names and not _are_confidences(rows):
        aside.add(CONFIDENCE)
    return [name for name in names if name not in aside]


def _are_confidences(rows: Sequence[Row]) -> bool:
    """Whether the column of that name holds probabilities alone: some write words, or per cents."""
    try:
        stated = [confidence_in(row, CONFIDENCE) for row in rows]
    except LogError:
        return False
    return any(confidence is not None for confidence in stated)


def fixed_fields(
    path: Path, named: Mapping[str, str | None], columns: Collection[str]
) -> tuple[dict[str, str], list[str]]:
    """The fields that all rows share, and a notice of each that only the file's name gives.

    Args:
        path: of the table.
        named: what the user says of all rows, by field; nothing where nothing is said.
        columns: the fields that have a column.
    """
    stem = slug(own_name(path))
    fixed = {"judge": stem, "suite": stem} | {name: text for name, text in named.items() if text}
    notices = [
        f"no column holds the {name}: all rows are of {name} {stem!r}"
        for name in ("judge", "suite")
        if name not in columns and named[name] is None
    ]
    return fixed, notices


def with_columns(mapping: Mapping[str, str]) -> tuple[dict[str, str], set[str]]:
    """The fields that a column holds, and those of which it is said that none does.

    Conditions of sweeps, which are mapped by their names alone, have their whole names.
    """
    in_columns = {
        f"condition.{name}" if name in SWEPT else name: column
        for name, column in mapping.items()
        if column
    }
    return in_columns, {name for name, column in mapping.items() if not column}


def refuse_columns(
    rows: Sequence[Row], mapping: Mapping[str, str], names_found: Mapping[str, None]
) -> set[str]:
    """Raise a `UsageError` for a column that no row has; the columns of rows that are used."""
    used = set()
    for name, mapped in mapping.items():
        for column in [mapped] if mapped in names_found else mapped.split(","):
            if column not in names_found and all(
                field_of(row.value, column) is ... for row in rows
            ):
                nearest = unknown_name("column", column, names_found)
                raise UsageError(
                    f"no row has a column {column!r}, which is mapped to the {name}",
                    expected=nearest.expected,
                    remedy=nearest.remedy,
                )
            used |= {column} if column in names_found else {column.partition(".")[0]}
    return used


def _columns(
    mapping: Mapping[str, str],
    names_found: Mapping[str, None],
    labels: Sequence[str],
    by_name: Collection[str],
) -> tuple[dict[str, str], list[str]]:
    """The column of each field, and a notice of one that is called otherwise.

    Args:
        mapping: as the user says.
        names_found: of all columns.
        labels: the answers that replies may state.
        by_name: the columns that are taken by their names.

    Raises:
        UsageError: no column holds the verdict, the item, or a reply to be read.
    """
    of_people = [name for name in by_name if name.startswith(PEOPLE) and name != PEOPLE]
    columns = {name: name for name in (*FIELDS, *of_people) if name in by_name} | dict(mapping)
    notices = []
    if "item" not in columns and (column := column_of("item", by_name)):
        columns["item"] = column
        notices.append(f"the item is column {column}; --map item=COLUMN names another")
    needed = ["reply" if labels else "verdict", "item"]
    if PLACES[0] in mapping:
        columns.pop("order", None)
    if any(map(of_one_order, mapping)):
        needed = [*(f"{needed[0]}.{order}" for order in ORDERS), "item"]
        columns = {name: of for name, of in columns.items() if name not in ("order", "verdict")}
    if missing := [name for name in needed if name not in columns]:
        raise UsageError(
            f"no column holds the {missing[0]}",
            found="columns " + listed(names_found),
            expected=f"--map {missing[0]}=COLUMN",
            remedy="if only the replies are there, name their column and the possible verdicts: "
            "--map reply=COLUMN --labels A,B,tie"
            if missing[0] == "verdict"
            else "",
        )
    if labels and (stated := [of for name, of in columns.items() if name[:7] == "verdict"]):
        raise UsageError(
            "--labels is not used: a column holds the verdicts",
            found=f"{listed(stated)}, and --labels {','.join(labels)}",
            expected="--labels, to read verdicts from the replies, or a column of verdicts",
            remedy="leave out --labels, or the column",
        )
    return columns, notices


def judgments_of(
    rows: Sequence[Row],
    columns: Mapping[str, str],
    fixed: Mapping[str, str],
    values: Mapping[str, str],
    designs: Mapping[str, Design] | None = None,
    *,
    names: Mapping[str, str],
    space: DecisionSpace | None = None,
    ends: ScoreRange | None = None,
) -> Imported:
    """The judgments of rows.

    Args:
        rows: a judgment each.
        columns: the column of each field; ``source`` may name one with the source of the row.
        fixed: fields that no column holds.
        values: from the words in the columns to the suite's, as for `read_table`.
        designs: by suite, if known; otherwise derived from verdicts and labels.
        names: as for `read_table`.
        space: the answers that replies are read for; ``None`` where a column holds the verdicts.
        ends: as for `read_table`.
    """
    notices: list[str] = []
    objections: list[JudgesenseError] = []
    words, designs = RenamedWords(values), dict(designs or {})
    if (column := columns.get("replicate")) is not None:
        rows = numbered_replicates(rows, column, notices)
    labels = () if space is None else space.labels
    if space is not None and space.pairwise:  # replies state slots
        names = {"verdict": SLOT, **names}
    read = _read(rows, columns, fixed, words, space)
    if ends is not None:
        _refuse_outside(read, ends)
    places = grouped(read, lambda placed: placed[1].trial.suite)
    by_suite = {
        suite: _spelt_alike([judgment for _, judgment in part]) for suite, part in places.items()
    }
    of_pairs: list[_ReadPairs] = []
    is_wide = any(map(of_one_order, columns))
    for name, part in by_suite.items():
        if name in designs:
            continue
        candidates = _candidates(part)
        if candidates is None:
            if space is None:
                _refuse_texts(name, part, columns)
            wrong = list(_not_comparable(name, part, {*values.values(), *labels}, ends))
            objections += wrong
            notices += [] if wrong else [_read_as(name, part, ends)]
            continue
        pairs = _read_pairs(name, places[name], part, candidates, names, is_wide=is_wide)
        of_pairs.append(pairs)
        notices += pairs.notices
        objections += pairs.objections
        by_suite[name] = pairs.judgments
    if names and not of_pairs:
        objections.append(_no_candidates(names, (w for p in by_suite.values() for w in _words(p))))
    fields = dict.fromkeys(field for pairs in of_pairs for field in sorted(pairs.fields))
    if of_pairs and (unknown := [name for name in names if name not in {*_ANSWERS, *fields}]):
        objections.append(_no_text(unknown[0], names[unknown[0]], fields))
    named = {label for design in designs.values() for label in design.labels}
    notices += words.unused(named | ({*space.names} if space else set()))
    designs = {suite: _design(part, labels) for suite, part in by_suite.items()} | designs
    judged = [(judgment, designs[suite]) for suite, part in by_suite.items() for judgment in part]
    return Imported(
        tuple(
            (placed(judgment) if design.pairwise else judgment, design)
            for judgment, design in judged
        ),
        tuple(notices),
        objections=tuple(objections),
    )


class _ReadPairs(NamedTuple):
    """The judgments of a suite of pairs, with verdicts as slots, labels and texts as contents.

    Attributes:
        fields: of the texts of candidates.
        notices: what was found out about them, and what contradicts the user.
        objections: why they are not taken.
    """

    judgments: list[Judgment]
    fields: frozenset[str]
    notices: tuple[str, ...]
    objections: tuple[JudgesenseError, ...]


def _read_pairs(
    suite: str,
    rows: Sequence[tuple[Row, Judgment]],
    judgments: Sequence[Judgment],
    candidates: tuple[str, str],
    names: Mapping[str, str],
    *,
    is_wide: bool,
) -> _ReadPairs:
    """The judgments of a suite of pairs.

    Args:
        suite: its name, for messages.
        rows: those of the file, each with its judgment.
        judgments: the same, spelt alike.
        candidates: the words of the first and the second.
        names: as for `read_table`.
        is_wide: whether a row holds both orders: its texts are those of the item.
    """
    shown = [_texts_of_row(row, judgment) for row, judgment in rows]
    every_field = {field for row in shown for field in row.texts}
    texts = naming_of_texts(suite, shown, dict.fromkeys(every_field, CONTENT) if is_wide else names)
    stated = {"label": CONTENT, **names} if is_wide else names
    naming = naming_of(suite, judgments, candidates, stated, texts)
    own = [replace(row, texts=texts.in_own_order(row)) for row in shown]
    objections = naming.objections
    if not texts.open and (error := _differing_texts(suite, own, texts)):
        objections = (*objections, error)
    return _ReadPairs(
        [
            _with_texts(_in_slots(judgment, candidates, naming), row.texts, texts.fields)
            for judgment, row in zip(judgments, own, strict=True)
        ],
        texts.fields,
        (*naming.notices, *texts.notices),
        objections,
    )


def _texts_of_row(row: Row, judgment: Judgment) -> TextsOfRow:
    trial = judgment.trial
    texts = (judgment.detail or {}).get("source", {}).get("fields", {})
    return TextsOfRow(row.where, trial.item, trial.order, texts, {})


def _differing_texts(
    suite: str, rows: Iterable[TextsOfRow], naming: TextNaming
) -> JudgesenseError | None:
    """The error for two rows of an item with other candidates."""
    of_candidates = (
        replace(row, texts={f: text for f, text in row.texts.items() if f in naming.fields})
        for row in rows
    )
    options = ", ".join(f"--names {first}=slot or content" for first, _ in naming.pairs)
    remedy = f"give each pair an item of its own; or say otherwise what its texts are: {options}"
    return difference(suite, of_candidates, remedy)


def _with_texts(
    judgment: Judgment, texts: Mapping[str, str], of_candidates: Collection[str]
) -> Judgment:
    """``judgment`` with the item's texts; where slots would be others, it says what they are."""
    names = {field: CONTENT for field in texts if field in of_candidates}
    if judgment.trial.order == "ab" or not names:
        return judgment
    detail = judgment.detail or {}
    source = detail["source"] | {"fields": dict(texts), "names": names}
    return replace(judgment, detail={**detail, "source": source})


def _read(
    rows: Sequence[Row],
    columns: Mapping[str, str],
    fixed: Mapping[str, str],
    words: RenamedWords,
    space: DecisionSpace | None,
) -> list[tuple[Row, Judgment]]:
    """The judgments in the words of the file: of each row one, or one in each order."""
    of_order = {name for name in columns if of_one_order(name)}
    shared = {name: column for name, column in columns.items() if name not in of_order}
    readers = [
        JudgmentReader(
            shared | {name[:-3]: columns[name] for name in of_order if name.endswith(order)},
            {**fixed, "order": order},
            words,
            space,
        )
        for order in ORDERS
    ]
    readers = readers if of_order else [JudgmentReader(columns, fixed, words, space)]
    read = [(row, reader.judgment(row)) for row in rows for reader in readers]
    if of_order:
        read = [(row, _labelled(judgment)) for row, judgment in read]
    each_once(
        read,
        columns,
        remedy="name the column that tells them apart, by --map replicate=COLUMN, --map "
        "template=COLUMN, --map order=COLUMN (ab or ba) or --map temperature=COLUMN; or leave the "
        "line out",
    )
    return read


def _refuse_outside(read: Iterable[tuple[Row, Judgment]], ends: ScoreRange) -> None:
    """Raise a `LogError` for the first row with a number beyond the stated ends."""
    low, high = ends.ends
    for row, judgment in read:
        for word in filter(None, (judgment.verdict, *_labels(judgment))):
            number = number_of(word)
            if number is not None and not ends.holds(number):
                renamed = option_words("--value", word, "")
                raise LogError(
                    f"{row.where}: a number lies outside of the range of verdicts and labels",
                    found=word,
                    expected=f"a number from {low} to {high}, by --range {low},{high}",
                    remedy=f"state the range of the scale: --range LOW,HIGH; or, if {word} states "
                    f"nothing: {renamed}",
                )


def _labelled(judgment: Judgment) -> Judgment:
    """``judgment`` with the content that its label names, if that is a slot of order ab."""
    return _relabelled(judgment, lambda label: content_of_slot(label, "ab"))


def _relabelled(judgment: Judgment, renamed: Callable[[str], str]) -> Judgment:
    """``judgment`` with its label, and those of people, ``renamed``."""
    trial = judgment.trial
    if trial.label is None and not trial.people:
        return judgment
    people = {
        name: {person: renamed(label) for person, label in labels.items()}
        for name, labels in trial.people.items()
    }
    label = None if trial.label is None else renamed(trial.label)
    return replace(judgment, trial=replace(trial, label=label, people=people))


def _labels(judgment: Judgment) -> tuple[str, ...]:
    """The label of a judgment, and those of people."""
    trial = judgment.trial
    own = (trial.label,) if trial.label else ()
    return (*own, *(label for labels in trial.people.values() for label in labels.values()))


def numbered_replicates(rows: Sequence[Row], column: str, notices: list[str]) -> Sequence[Row]:
    """Rows with replicates from 1; adds a notice if the file counts or names them otherwise."""
    # An empty cell of a table of numbers is nan.
    texts = [as_whole(str(row.value.get(column)).strip()) for row in rows]
    names = trial_order({*texts} - {"", "nan", str(None)})
    if all(is_number(name) and int(name) >= 1 for name in names):
        return rows
    names = sorted(names, key=int) if all(map(is_number, names)) else names
    numbers = {name: number for number, name in enumerate(names, start=1)}
    shown = _listed(f"{name} is {number}" for name, number in numbers.items())
    notices.append(f"the {column} names replicates, which are numbered: {shown}")
    return [
        Row(row.where, {**row.value, column: numbers.get(text)})
        for row, text in zip(rows, texts, strict=True)
    ]


def _listed(words: Iterable[str]) -> str:
    """The first words, and how many more there are."""
    shown = [word[:40] for word in words]
    more = len(shown) - _MOST_SHOWN
    return ", ".join(shown[:_MOST_SHOWN]) + (f" and {more} more" if more > 0 else "")


def _read_as(suite: str, judgments: Iterable[Judgment], ends: ScoreRange | None) -> str:
    """How verdicts that are no candidates were read, and how they are read otherwise."""
    judgments = [*judgments]
    verdicts = in_order({judgment.verdict for judgment in judgments if judgment.verdict})
    inferred = inferred_answers({*_words(judgments), *(ends.ends if ends else ())})
    meant = no_and_yes(verdicts) if is_whole(verdicts) else {}
    named = (f"{word} ({meant[word][0]})" if word in meant else word for word in verdicts)
    shown = _listed(named)
    if inferred.are_scores:
        by_size = sorted(verdicts, key=lambda word: number_of(word) or 0.0)
        shown = f"{by_size[0]} to {by_size[-1]}"
    return (
        f"verdicts of suite {suite} are read as {inferred.kind}: "
        f"{shown}; --value WORD=A and --value WORD=B make candidates of them, "
        "--value WORD= takes out what states no verdict"
    )


def _no_candidates(names: Mapping[str, str], words: Iterable[str]) -> UsageError:
    stated = " ".join(f"--names {field}={naming}" for field, naming in names.items())
    return UsageError(
        f"{stated} is not used: it is about two candidates",
        found=f"verdicts and labels {_listed(sorted({*words}))}",
        expected="verdicts A and B",
        remedy="rename the verdicts that name candidates: --value WORD=A --value WORD=B",
    )


def _no_text(name: str, naming: str, fields: Collection[str]) -> UsageError:
    return UsageError(
        f"--names {name}={naming} is not used: no candidate has a text {name}",
        found=f"texts of candidates {listed(fields)}" if fields else "no texts of candidates",
        expected=f"one of {listed((*_ANSWERS, *fields))}",
        remedy="" if fields else "map both: --map field.a=COLUMN --map field.b=COLUMN",
    )


def _not_comparable(
    suite: str, judgments: Sequence[Judgment], meant: set[str], ends: ScoreRange | None
) -> Iterator[JudgesenseError]:
    """An error if verdicts are of no pair although candidates changed places, or fit no label.

    Labels and verdicts have no common word, unless the user has named one of each as ``meant``; or
    verdicts name slots of both orders, and a label names no candidate.
    """
    verdicts = {str(judgment.verdict) for judgment in judgments} - {str(None), TIE, ABSTAIN}
    labels = {label for judgment in judgments for label in _labels(judgment)} - {TIE, ABSTAIN}
    swapped = any(judgment.trial.order == "ba" for judgment in judgments)
    pair = candidates_among(verdicts) or candidates_among(verdicts | labels) or SPACE.labels
    slots = verdicts <= {*pair} and (swapped or verdicts <= {*SPACE.labels})
    if swapped and not slots:
        rest = sorted(verdicts - {*pair})
        yield UsageError(
            f"verdicts of suite {suite} are not of two candidates, and these changed places",
            found=_listed(sorted(verdicts)),
            expected="A and B, or two words such as model_1 and model_2; and tie",
            remedy="rename the others, to A, B or tie, or to nothing where they state no verdict: "
            + _values((word, meaning_of_step(word) or "") for word in rest),
        )
        return
    vouched = not verdicts.isdisjoint(meant) and not labels.isdisjoint(meant)
    comparable = vouched or not verdicts.isdisjoint(labels) or _are_partners(verdicts | labels)
    if not verdicts or not labels or (comparable and not swapped):
        return
    answers = inferred_answers(verdicts | labels | {*(ends.ends if ends else ())})
    if not swapped and (answers.are_grades or answers.are_scores):
        return  # how far numbers lie apart is told without a common one
    unclear = sorted(labels - {"A", "B", "1", "2"} if slots else labels)[:_MOST_SHOWN]
    renamed = [(word, "VERDICT") for word in unclear]
    if slots:
        named: Sequence[str] = candidates_among(unclear) or unclear
        renamed = [*zip(named, "12", strict=False)]
    remedy = f"say what each label means: {_values(renamed)}{', or 2' * (len(renamed) == 1)}"
    if not comparable and not swapped:
        as_they_are = [(word, word) for word in (min(verdicts), min(labels))]
        remedy += f"; if no verdict is ever right, name one of each: {_values(as_they_are)}"
    yield without_common_value(suite, verdicts, labels, remedy)


def _are_partners(words: Collection[str]) -> bool:
    """Whether two words are the two of a question, of which few rows may hold one each."""
    both = sorted(words)
    return len(both) == 2 and bool(no_and_yes(both) or candidates_among(both))


def _refuse_texts(suite: str, judgments: Sequence[Judgment], columns: Mapping[str, str]) -> None:
    """Raise a `UsageError` for verdicts that do not return: long texts, or hundreds of words."""
    verdicts = [judgment.verdict for judgment in judgments if judgment.verdict]
    counted = Counter(verdict for verdict in verdicts if number_of(verdict) is None)
    texts = [verdict for verdict in verdicts if len(verdict.split()) > _MOST_WORDS]
    once = [verdict for verdict, count in counted.items() if count == 1]
    if 2 * len(texts) > len(verdicts) and len({*verdicts}) >= _NEARLY_ALL * len(verdicts):
        examples = texts
        what = f"{len(texts):,} of {len(verdicts):,} have more than {_MOST_WORDS} words"
    elif len(counted) > _MOST_LABELS and 2 * len(once) > len(counted):
        examples = once
        what = f"{len(counted):,} are different, and {len(once):,} of these stand there once"
    else:
        return
    reply = option_words("--map", "reply", columns.get("verdict", "COLUMN"))
    raise UsageError(
        f"verdicts of suite {suite} are texts: {what}",
        found=_listed(repr(text[:40]) for text in examples[:2]),
        expected="verdicts that return: words, grades or scores",
        remedy=f"if the texts state the verdicts, name these: {reply} --labels A,B,tie",
    )


def _values(renamed: Iterable[tuple[str, str]]) -> str:
    return " ".join(option_words("--value", word, meaning) for word, meaning in renamed)


def _spelt_alike(judgments: list[Judgment]) -> list[Judgment]:
    """The same, with words that differ in capitals alone spelt alike, as a label if there is one.

    The order of the alphabet decides among several: another file of the suite has the same.
    """
    verdicts = {judgment.verdict for judgment in judgments if judgment.verdict}
    labels = {label for judgment in judgments for label in _labels(judgment)}
    spelt = {word.casefold(): word for word in sorted(verdicts, reverse=True)}
    spelt |= {word.casefold(): word for word in sorted(labels, reverse=True)}
    if len(spelt) == len(verdicts | labels):
        return judgments
    return [
        replace(
            _relabelled(judgment, lambda label: spelt[label.casefold()]),
            outcome=Verdict(spelt[judgment.verdict.casefold()])
            if judgment.verdict
            else judgment.outcome,
        )
        for judgment in judgments
    ]


def _words(judgments: Iterable[Judgment]) -> set[str]:
    """The values of verdicts and labels, except tie and abstention."""
    words = {
        word
        for judgment in judgments
        for word in (judgment.verdict, *_labels(judgment))
        if word is not None
    }
    return words - {TIE, ABSTAIN}


def _candidates(judgments: Sequence[Judgment]) -> tuple[str, str] | None:
    """The words of the first and the second candidate of a pair; ``None`` if there is no pair.

    ``A`` and ``B``; where candidates changed places, any two words for a first and a second.
    """
    if _design(judgments) is DESIGN:
        return "A", "B"
    if all(judgment.trial.order == "ab" for judgment in judgments):
        return None
    words = _words(judgments)
    verdicts = words & {judgment.verdict for judgment in judgments}
    # A judge may say one of the two words throughout: labels have the other.
    pair = candidates_among(verdicts) or candidates_among(words)
    named = {*(pair or ())}
    return pair if verdicts <= named and words <= named | {"1", "2"} else None


def _in_slots(judgment: Judgment, words: tuple[str, str], naming: Naming) -> Judgment:
    """``judgment`` with the slot that its verdict means in its order, and its label's content."""
    trial, outcome, verdict = judgment.trial, judgment.outcome, judgment.verdict

    def content(label: str) -> str:
        if label not in words:
            return label
        place = words.index(label)
        in_slot = naming.label == SLOT
        return content_of_slot("AB"[place], trial.order) if in_slot else "12"[place]

    if verdict in words:
        place = words.index(verdict)
        in_slot = naming.verdict == SLOT
        outcome = Verdict("AB"[place] if in_slot else slot_of_content("12"[place], trial.order))
    return replace(_relabelled(judgment, content), outcome=outcome)


def _design(judgments: Iterable[Judgment], answers: Sequence[str] = ()) -> Design:
    """The design of a suite in which these verdicts and labels occur."""
    judgments = list(judgments)
    verdicts = {judgment.verdict for judgment in judgments if judgment.verdict} - {TIE, ABSTAIN}
    labels = {label for judgment in judgments for label in _labels(judgment)} - {TIE}
    if verdicts <= {"A", "B"} and labels <= {"A", "B", "1", "2"} and answers in ((), SPACE.labels):
        return DESIGN
    words = verdicts | labels
    inferred = _inferred(words, answers)
    is_stated = words <= {*answers} and not inferred.are_grades
    ordered = tuple(answers) if is_stated else inferred.labels
    return Design("paraphrase", ordered, inferred.are_grades, pairs="all")


def _inferred(words: Collection[str], answers: Sequence[str] = ()) -> InferredAnswers:
    """The kind of answers that words are, which are among ``answers`` if the user names these."""
    inferred = inferred_answers([*answers, *words], are_all=bool(answers))
    return as_steps(words) if inferred.are_scores else inferred
