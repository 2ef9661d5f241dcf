"""What foreign files are, before they become anything: whose they are, and how they would be read.

What the user says goes before what the shape of a file implies, and that before what the columns
show. The rows are then read as they would be, so that the counts are true and what fails is told.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any, Final

from pytest_judgesense.errors import JudgesenseError, LogError, UsageError, listed, unknown_name
from pytest_judgesense.files.candidate_texts import (
    CONTENT,
    SLOT,
    NamingAskedFor,
    OpenNaming,
    naming_asked_for,
)
from pytest_judgesense.files.first_sight import FirstSight
from pytest_judgesense.files.foreign_results import Imported, ImportedSuite, slug
from pytest_judgesense.files.import_options import ImportOptions
from pytest_judgesense.files.proposals import (
    FileShape,
    OpenQuestion,
    PossibleReading,
    Proposal,
    Setting,
    ShownSetting,
)
from pytest_judgesense.files.reshaping import reshaped
from pytest_judgesense.files.rows import Row
from pytest_judgesense.files.shapes import SHAPES
from pytest_judgesense.files.tables import RowTable, own_name, read_rows
from pytest_judgesense.questions.import_.answers_of_wholes import (
    range_of_wholes,
    with_plain_answers,
)
from pytest_judgesense.questions.import_.chosen_options import (
    command_line,
    settings_of,
    with_settings,
)
from pytest_judgesense.questions.import_.column_facts import ColumnFacts, columns_of
from pytest_judgesense.questions.import_.item_columns import with_numbers
from pytest_judgesense.questions.import_.joined_files import as_joined
from pytest_judgesense.questions.import_.judge_of_file import judge_question
from pytest_judgesense.questions.import_.option_words import noting, refuse_unused
from pytest_judgesense.questions.import_.retried_rows import without_retried
from pytest_judgesense.questions.import_.roles import shown_by_columns
from pytest_judgesense.questions.import_.structure import structure_of
from pytest_judgesense.registry import Importer, Registry

_LOG: Final = ".judgments.jsonl"
_SUITE: Final = ".suite.toml"
# The columns by which a judgment log is told from a foreign file.
_OF_LOG: Final = ("trial", "judge", "suite")


@dataclass(frozen=True)
class Look:
    """What files are taken for.

    Attributes:
        given: what the user says of them.
        form: what ``--format`` calls them; empty where their columns alone tell.
        title: what they are, in words.
        importer: what reads them.
        table: their rows, as lists and joins make them; ``None`` of a tool's own file.
        columns: those of the table.
        implied: what the shape of the file implies.
        shown: what the columns show besides.
        chosen: all options together.
        questions: what is not known.
        notes: what a reader has to know besides.
        no_judge: why there is nothing of a judge in the files; empty where a judge speaks.
        read: the judgments, or the suite, as they would be read; ``None`` where that is not known.
        objection: the error that asks all that is not known of slots and contents.
        problem: why they cannot be read so.
    """

    given: ImportOptions
    form: str
    title: str
    importer: Importer
    table: RowTable | None = None
    columns: Mapping[str, ColumnFacts] = field(default_factory=dict)
    implied: tuple[ShownSetting, ...] = ()
    shown: tuple[ShownSetting, ...] = ()
    chosen: ImportOptions = field(default_factory=lambda: ImportOptions(Path()))
    questions: tuple[OpenQuestion, ...] = ()
    notes: tuple[str, ...] = ()
    no_judge: str = ""
    read: Imported | ImportedSuite | None = None
    objection: JudgesenseError | None = None
    problem: JudgesenseError | None = None

    @property
    def is_known(self) -> bool:
        """Whether nothing is left to ask."""
        return not self.questions and not self.no_judge

    @property
    def proposed_output(self) -> Path:
        """The file that they would become, in the current folder."""
        is_suite = self.read is not None and not isinstance(self.read, Imported)
        name = own_name(self.given.path) if self.given.path.name else "judgments"
        name = name if self.table is not None else Path(name).stem
        return Path(slug(name) + (_SUITE if is_suite else _LOG))

    @property
    def shown_by_itself(self) -> list[ShownSetting]:
        """What nobody said and the files show, but for fields in columns that are called so."""
        every = (*self.implied, *self.shown)
        return [shown for shown in every if not _is_by_own_name(shown.setting)]

    def command(self, output: Path | None, more: Sequence[Setting] = ()) -> str:
        """The command that reads the files so."""
        instead = {_key(setting) for setting in more}
        shown = [s.setting for s in self.shown if _key(s.setting) not in instead]
        needed = [
            *settings_of(self.given),
            *(setting for setting in shown if not _is_by_own_name(setting)),
            *more,
        ]
        paths = (self.given.path, *self.given.more)
        return command_line(paths, dict.fromkeys(needed), output, self.form)


def _key(setting: Setting) -> tuple[str, str]:
    """What a setting is about; two of the same cannot stand beside each other."""
    value = setting.value
    return setting.field, str(value[0]) if isinstance(value, tuple) else ""


def _is_by_own_name(setting: Setting) -> bool:
    """Whether a field is in the column that is called so: nobody has to say it."""
    return setting.field == "map" and setting.value[0] == setting.value[1]  # type: ignore[index]


def looked_at(given: ImportOptions, form: str | None, registry: Registry) -> Look:
    """What files are taken for.

    Args:
        given: what the user says of them.
        form: the name of an importer, or of a shape, if the user gives one.
        registry: the importers.

    Raises:
        UsageError: no such form is known, several recognise the files, or an option names what is
            not there.
        LogError: no rows can be read.
    """
    sight = FirstSight(given.path)
    importer, shape = _of_form(form, sight, registry)
    if not importer.plain:
        return _look_of_tool(given, importer)
    given, joined = as_joined(given) if given.more else (given, ())
    is_read = sight.rows is not None and not given.more and not sight.is_folder
    is_read = is_read and sight.path == given.path
    table = sight.rows if is_read and sight.rows else read_rows(given.path, *given.more)
    if not table:
        raise LogError(f"{given.path} holds no rows", expected="at least one")
    if {*_OF_LOG} <= {*table.columns}:
        raise UsageError(
            f"{given.path} is a judgment log already",
            found=f"columns {listed(table.columns)}",
            expected="results of others",
            remedy=f"judgesense report {given.path}",
        )
    if shape is None and form is None:
        shape = _shape_of(table, given)
    look = _look_of_table(given, replace(table, notes=(*joined, *table.notes)), shape, registry)
    return replace(look, form=form or look.form)


# --- whose file it is -----------------------------------------------------------------------------


def _of_form(
    form: str | None, sight: FirstSight, registry: Registry
) -> tuple[Importer, FileShape | None]:
    """The importer of a file, and its shape if the user names one."""
    by_columns = next(importer for importer in registry.importers.values() if importer.plain)
    if form is None:
        own = [
            importer
            for importer in registry.importers.values()
            if importer.recognises is not None and importer.recognises(sight)
        ]
        if len(own) > 1:
            raise _several(sight.path, [importer.name for importer in own])
        return (own[0] if own else by_columns), None
    if form in registry.importers:
        return registry.importers[form], None
    shapes = {shape.name: shape for shape in SHAPES}
    if form not in shapes:
        raise unknown_name("form of foreign files", form, (*registry.importers, *shapes))
    return by_columns, shapes[form]


def _shape_of(table: RowTable, given: ImportOptions) -> FileShape | None:
    shapes = [shape for shape in SHAPES if shape.matches(table)]
    if len(shapes) > 1:
        raise _several(given.path, [shape.name for shape in shapes])
    return shapes[0] if shapes else None


def _several(path: Path, names: Sequence[str]) -> UsageError:
    return UsageError(
        f"{path} may be of several forms",
        found=listed(names),
        expected="one of them",
        remedy=f"say it: --format {names[0]}, or --format {names[1]}",
    )


# --- files of tools -------------------------------------------------------------------------------


def _look_of_tool(given: ImportOptions, importer: Importer) -> Look:
    look = Look(given, importer.name, f"of the form {importer.name}", importer, chosen=given)
    return _read(look)


def _read(look: Look) -> Look:
    """A look with what its files would become, or with what prevents it."""
    try:
        read = _as_chosen(look)
    except JudgesenseError as problem:
        return replace(look, problem=problem)
    return replace(look, read=read)


def _as_chosen(look: Look) -> Imported | ImportedSuite:
    """What the importer reads by all options; one that it does not read is refused."""
    options = look.chosen
    noted, read_names = noting(options)
    read = look.importer.read(noted)
    if options.more and look.table is None and "more" not in read_names:
        raise UsageError(
            f"files of the form {look.form} are imported one by one",
            found=listed((options.path, *options.more)),
            expected="one file or folder",
            remedy="import each, and join the logs by judgesense recordings join",
        )
    what = "judgments" if isinstance(read, Imported) else "a suite"
    refuse_unused(options, read_names, look.form or look.importer.name, what)
    return read


# --- tables ---------------------------------------------------------------------------------------


def _look_of_table(
    given: ImportOptions, table: RowTable, shape: FileShape | None, registry: Registry
) -> Look:
    """A look at the rows of a table, whose shape may be known."""
    proposal = Proposal()
    if shape is not None:
        table = shape.rows(table)
        proposal = shape.proposes(table)
        answers = settings_of(given)
        asked = (q for q in proposal.questions if not q.is_answered_by(answers))
        proposal = proposal._replace(questions=tuple(asked))
    said = with_settings(given, (shown.setting for shown in proposal.taken))
    columns = columns_of(table)
    structure = structure_of(table, columns, said) if shape is None else Proposal()
    said_of_rows = with_settings(said, (shown.setting for shown in structure.taken))
    as_read, before = table, frozenset(table.columns)
    table = reshaped(table, said_of_rows.lists, said_of_rows.join)
    joined = frozenset(table.columns) - before if said_of_rows.join else frozenset[str]()
    columns = columns if table is as_read else columns_of(table)
    by_columns = Proposal()
    if not structure.questions and not proposal.no_judge:
        by_columns = shown_by_columns(table, columns, said_of_rows, joined)
    shown = (*structure.taken, *by_columns.taken)
    chosen = with_settings(said_of_rows, (setting.setting for setting in by_columns.taken))
    table = without_retried(table, chosen, columns)
    stated_range = None
    if not chosen.grades and not (structure.questions or by_columns.no_judge or proposal.no_judge):
        stated_range = range_of_wholes(columns, chosen)
    if stated_range is not None:
        shown = (*shown, stated_range)
        chosen = with_settings(chosen, (stated_range.setting,))
    numbered = with_numbers(table, chosen)
    chosen = replace(chosen, looked_at=with_plain_answers(numbered, columns, chosen))
    who = None
    if not structure.questions and not (proposal.no_judge or by_columns.no_judge):
        who = judge_question(table, columns.values(), chosen)
    importer = _table_importer(chosen, registry)
    title = shape.title if shape else "a table"
    look = Look(
        given,
        shape.name if shape else "",
        title,
        importer,
        table,
        columns,
        proposal.taken,
        shown,
        chosen,
        (*proposal.questions, *structure.questions, *by_columns.questions, *filter(None, [who])),
        (*table.notes, *proposal.notes, *structure.notes, *by_columns.notes),
        proposal.no_judge or by_columns.no_judge,
    )
    return _with_namings(_read(look)) if look.is_known else look


def _table_importer(chosen: ImportOptions, registry: Registry) -> Importer:
    """What reads a table, by the options: one option makes another importer read it."""
    plain = next(importer for importer in registry.importers.values() if importer.plain)
    variants = (other for other in registry.variants if other.name == plain.name)
    return next((other for other in variants if getattr(chosen, other.option)), plain)


def _with_namings(look: Look) -> Look:
    """A look in which what the rows show of slots and contents is said, and the rest asked."""
    objections = look.read.objections if isinstance(look.read, Imported) else ()
    read = look.read
    if not isinstance(read, Imported) or not objections:
        return look
    if not isinstance(objections[0], NamingAskedFor):
        return look
    asked = objections[0].open_namings
    shown = tuple(
        ShownSetting(Setting("names", (naming.field, naming.shown)), naming.evidence)
        for naming in asked
        if naming.shown
    )
    questions = tuple(_naming_questions(look, [n for n in asked if not n.shown]))
    chosen = with_settings(look.chosen, (setting.setting for setting in shown))
    look = replace(look, shown=(*look.shown, *shown), chosen=chosen, questions=questions)
    if not questions:
        return _read(look)
    suite = read.judgments[0][0].trial.suite
    rest = [naming for naming in asked if not naming.shown]
    return replace(look, read=None, objection=naming_asked_for(suite, rest))


def _naming_questions(look: Look, asked: Sequence[OpenNaming]) -> Iterator[OpenQuestion]:
    """A question about verdicts, and one about all else: labels and texts are of one making."""
    verdicts = [naming for naming in asked if naming.field == "verdict"]
    rest = [naming for naming in asked if naming not in verdicts]
    yield from (_naming_question(look, some) for some in (verdicts, rest) if some)


def _naming_question(look: Look, some: Sequence[OpenNaming]) -> OpenQuestion:
    evidence = "; ".join(naming.evidence for naming in some if naming.evidence)
    subjects = " and ".join(naming.subject for naming in some)
    word = some[0].first_word
    readings = [
        PossibleReading(
            tuple(Setting("names", (naming.field, is_named)) for naming in some),
            f"{subjects}: {word} is {meaning}",
        )
        for is_named, meaning in (
            (SLOT, "the candidate that the judge saw first in this row"),
            (CONTENT, "the item's first candidate, whatever the order"),
        )
    ]
    return OpenQuestion(
        f"the candidates changed places: do the {subjects} name slots or contents?"
        f"{f' ({evidence})' if evidence else ''}",
        _exchanged_row(look),
        (readings[0], readings[1]),
    )


def _exchanged_row(look: Look) -> Row:
    """A row in which the candidates changed places."""
    assert look.table is not None
    order = dict(look.chosen.map).get("order", "")
    values = {word.casefold(): meaning for word, meaning in look.chosen.value}

    def is_exchanged(cell: Any) -> bool:
        word = str(cell).lower() if isinstance(cell, bool) else str(cell)
        return values.get(word.casefold(), word) == "ba"

    exchanged = (row for row in look.table if is_exchanged(row.value.get(order)))
    return next(exchanged, look.table.rows[0])


def columns_used(look: Look) -> Collection[str]:
    """The columns that are taken for something."""
    chosen = look.chosen
    names = [column for _, column in (*chosen.map, *chosen.grades, *chosen.people)]
    return frozenset(chain.from_iterable(_single(name) for name in names))


def _single(names: str) -> Iterator[str]:
    yield names
    for joint in names.split("+"):
        yield from joint.split(",")
