"""What instruments and plugins provide, combined into one frozen value, the `Registry`.

Instruments give kinds of suites with everything that belongs to them (`Instrument`), as the list in
`instruments.builtin` has them. Plugins give measures and providers by hooks (`plugin.hookspecs`);
the types for them are here too, and every error about such a value names its plugin. Plugins import
this module when pytest starts, so it is light.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import chain
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias, TypeVar

from pytest_judgesense.errors import ExtensionError, UsageError, listed
from pytest_judgesense.judges.providers.base import NO_PROVIDERS, HttpRequest, Reply
from pytest_judgesense.judges.spec import Provider
from pytest_judgesense.measures.bar import NO_DRIFT, NO_REGRESSION, CheckKind, gate_of
from pytest_judgesense.measures.definition import Brief, Evidence, Measure
from pytest_judgesense.measures.shared import AGREEMENT, place_of_label, place_on_scale, right

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_judgesense.datasheets.datasheet import Datasheet
    from pytest_judgesense.datasheets.published_design import Paper
    from pytest_judgesense.datasheets.sections import (
        Report,
        TableRows,
    )
    from pytest_judgesense.files.first_sight import FirstSight
    from pytest_judgesense.files.foreign_results import Exported, Imported, ImportedSuite
    from pytest_judgesense.files.import_options import ImportOptions
    from pytest_judgesense.judges.simulated.observer import Skill
    from pytest_judgesense.judges.spec import JudgeSpec
    from pytest_judgesense.measures.cell import Cell
    from pytest_judgesense.suites.suite import Kind, Suite
    from pytest_judgesense.trial import Design, Judgment, Trial

# What a plugin needs to give measures and providers; what else stands here is of the package.
__all__ = [
    "Brief",
    "Evidence",
    "HttpRequest",
    "Measure",
    "Provider",
    "Reply",
]

# A hook of a plugin: the name of the plugin, and the function that returns its values.
Hook: TypeAlias = tuple[str, Callable[[], Any]]
_Value = TypeVar("_Value", Measure, Provider)
_Of = TypeVar("_Of")

MEASURES: Final = "pytest_judgesense_measures"
PROVIDERS: Final = "pytest_judgesense_providers"
_GROUP: Final = "judgesense"


class LeaveOutSizes(NamedTuple):
    """How much is asked where parts of a prompt are left out.

    Attributes:
        items: how many are drawn.
        times: how often each is asked with the whole prompt.
        seed: of the draw.
    """

    items: int
    times: int
    seed: int


class LeaveOutStep(NamedTuple):
    """What is asked of a judge whose prompt is taken apart: a suite, and then what its answers ask.

    Attributes:
        suite: what is asked; it holds what the steps before it asked as well.
        following: from the datasheet of the answers to the next step; ``None`` where it is over.
        note: why it is asked, for the reader; empty for the first step.
        unrecorded: what is said where it is not recorded, and the answers before it are enough;
            empty where nothing is told without it.
    """

    suite: Suite
    following: Callable[[Datasheet], LeaveOutStep | None]
    note: str = ""
    unrecorded: str = ""


class LeaveOut(NamedTuple):
    """How parts of a judge's prompt are left out, one at a time, on the items of a suite.

    Attributes:
        usual: how much is asked where nothing is said.
        begin: from a judge, the suite that has the items, and the folder of the recordings to the
            first step; a `UsageError` where there is no prompt to be taken apart.
        further: from the suite of the first step to what the answers may ask for beside its calls.
        table: the table of the datasheet that has what each part does.
        lines: from its rows to the prompt with what each part does, and what to do.
    """

    usual: LeaveOutSizes
    begin: Callable[[JudgeSpec, Suite, Path, LeaveOutSizes], LeaveOutStep]
    further: Callable[[Suite], Iterable[str]]
    table: str
    lines: Callable[[TableRows], Iterable[str]]


class Importer(NamedTuple):
    """A format of foreign files, as ``judgesense import`` names it.

    Attributes:
        read: what the options of an import name and say.
        written: from cells, and suites that hold their items, to such files, if ``judgesense report
            --export`` writes them.
        written_as: what ``--export`` calls the form, if not as the import does.
        option: where it is given, this one reads in place of that of another kind with this name.
        plain: whether nothing in its files says what a number means, so that the numbers decide
            whether they are labels, grades or scores; their columns say what they hold.
        recognises: whether a file or folder is of this format, by a first look at it; ``None`` if
            nothing but its columns tells.
    """

    name: str
    read: Callable[[ImportOptions], Imported | ImportedSuite]
    written: Callable[[Sequence[Cell], Sequence[Suite]], Exported] | None = None
    option: str = ""
    plain: bool = False
    written_as: str = ""
    recognises: Callable[[FirstSight], bool] | None = None

    @property
    def export_name(self) -> str:
        """As ``judgesense report --export`` names the form."""
        return self.written_as or self.name


class FirstCheck(NamedTuple):
    """A check that ``judgesense init`` writes into a suite.

    Attributes:
        measure: what it gates.
        counts: what it counts, for the comment beside it.
        bar: what is wanted; ``None`` for the strictest that a judge without error clears.
        limit: what cannot be accepted, where there are items enough to exclude anything.
        margin: the loss against an earlier version that does not matter; ``None`` if that is not
            compared.
        labelled: whether it needs grades of people.
        criteria: how many criteria it needs.
        at_mark: whether it needs a pass mark.
        wordings: whether it needs several wordings.
        condition: that of the estimate.
        sizes: items of each cluster that it is about; empty for all of the suite.
    """

    measure: Measure
    counts: str
    bar: float | None = None
    limit: float | None = None
    margin: float | None = None
    labelled: bool = False
    criteria: int = 1
    at_mark: bool = False
    wordings: bool = False
    condition: Mapping[str, str] = MappingProxyType({})
    sizes: tuple[int, ...] = ()


class LabelledItem(NamedTuple):
    """An item that has a label: the label, and the item's cluster."""

    label: str
    cluster: str


class LabelChecks(NamedTuple):
    """What a suite that ``judgesense init`` writes holds about its labels.

    Attributes:
        checks: of single labels, or of all.
        notes: why a label has none, in lines of a comment.
        losses: from the number of calls on an item and that of comparisons to lines that say what
            losses the comparisons find.
    """

    checks: tuple[FirstCheck, ...] = ()
    notes: tuple[str, ...] = ()
    losses: Callable[[int, int], Iterable[str]] = lambda _replicates, _tests: ()


class FirstSuite(NamedTuple):
    """How suites of grades by criterion begin, for ``judgesense init``.

    Attributes:
        output: the field that holds the text that is graded.
        checks: those that suit a first suite.
    """

    output: str
    checks: tuple[FirstCheck, ...]


class ChangeByCalls(NamedTuple):
    """A measure of grades that one reply gives together, and of those that are asked for apart.

    Attributes:
        measure: what is compared.
        joint: its value of the grades that were given together; ``each`` of the others, of the same
            criteria in the same trials.
        p: of "asking apart changes nothing", two-sided, in the family of all measures.
        ends: the 95% interval of ``each`` less ``joint``, which holds 0 exactly where ``p`` is
            above .05; ``None`` where there is none.
        n: how many grades, or replies, are compared.
        clusters: of their items.
    """

    measure: Measure
    joint: float
    each: float
    p: float
    ends: tuple[float, float] | None
    n: int
    clusters: int

    @property
    def change(self) -> float:
        """What asking apart adds."""
        return self.each - self.joint

    @property
    def verdict(self) -> str:
        """Whether asking apart is ``better`` or ``worse``; empty where it cannot be told."""
        if self.ends is None or self.ends[0] <= 0 <= self.ends[1]:
            return ""
        return "better" if (self.change > 0) == self.measure.floor else "worse"


class Logged(NamedTuple):
    """What a line of a judgment log holds of a reply beside its verdict.

    Attributes:
        field: a field that every such line has, and only such lines.
        read: from the line and its position to the detail of the judgment. A `LogError` says what
            is wrong with it.
    """

    field: str
    read: Callable[[Mapping[str, Any], str], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Instrument:
    """What is measured on suites of one kind, and what belongs to that kind.

    Attributes:
        form: the kind of suites: its items, rules, calls and replies.
        measures: taken on every suite of the kind, in the order of the datasheet.
        checks: in addition to those that gate the measures.
        call_measure: the measure whose variance over single calls is used to plan a design.
        call_score: what a single call adds to it; ``None`` if the call does not count.
        score: from the design and a verdict to its place on the scale, from 0 to 1; NaN for none.
        right_score: from the design and a trial to the place of its right answer, likewise.
        logged: what judgment logs hold of its replies beside a verdict.
        skills: functions by which the embedded judge replies to prompts of this kind.
        papers: published designs.
        leave_out: how parts of a prompt are left out; ``None`` where it does not.
        first_suite: how ``judgesense init`` begins a suite; ``None`` if it does not.
        first_scores: checks of a first suite of scores; empty for other kinds.
        by_calls: from the judgments on criteria that were asked together, and on the same asked
            apart, to what differs; ``None`` for kinds without criteria.
    """

    form: Kind
    measures: tuple[Measure, ...]
    checks: tuple[CheckKind, ...] = ()
    call_measure: str = AGREEMENT.name
    call_score: Callable[[Judgment], float | None] = right
    score: Callable[[Design, str], float] = place_on_scale
    right_score: Callable[[Design, Trial], float] = place_of_label
    logged: Logged | None = None
    skills: tuple[Skill, ...] = ()
    papers: tuple[Paper, ...] = ()
    leave_out: LeaveOut | None = None
    first_suite: FirstSuite | None = None
    first_scores: tuple[FirstCheck, ...] = ()
    by_calls: Callable[[Cell, Cell], tuple[ChangeByCalls, ...]] | None = None

    @property
    def name(self) -> str:
        """As in ``kind = "NAME"`` of suite files."""
        return self.form.name


class RoomContents(NamedTuple):
    """What is measured and reported by one room of instruments.

    Attributes:
        instruments: one for each kind of suites that it measures.
        report: what it adds to the report; ``None`` for nothing.
        joined: measures that it adds to suites of every kind; where a suite has nothing for one of
            them, it gives no estimate.
        label_checks: from the items with a label to what a first suite holds about these; ``None``
            of labels that ask for nothing.
    """

    instruments: tuple[Instrument, ...] = ()
    report: Report | None = None
    joined: tuple[Measure, ...] = ()
    label_checks: Callable[[Sequence[LabelledItem]], LabelChecks | None] = lambda _: None


class Room(NamedTuple):
    """A room of instruments, which is imported when something of it is needed.

    Attributes:
        name: of its folder.
        kinds: the kinds of suites that it measures.
        contents: imports it.
        importers: imports the formats of foreign files with judgments on such suites.
        reported_by: rooms that it builds on, whose reports speak of its suites as well.
        joins: whether its joined measures have something to measure on a suite of another kind.
        default: whether judgments without a suite are of its first kind.
    """

    name: str
    kinds: tuple[str, ...]
    contents: Callable[[], RoomContents]
    importers: Callable[[], tuple[Importer, ...]] = tuple
    reported_by: tuple[str, ...] = ()
    joins: Callable[[Suite], bool] = lambda _: False
    default: bool = False


class _ByKind(Mapping[str, _Of]):
    """Something of each kind of suites; the room of a kind is imported when it is looked up.

    It is equal to itself alone: suites are kept by the kinds that they were loaded with.
    """

    __eq__, __hash__ = object.__eq__, object.__hash__

    def __init__(self, rooms: Mapping[str, Room], of: Callable[[Instrument], _Of]) -> None:
        self._rooms, self._of = rooms, of

    def __getitem__(self, kind: str) -> _Of:
        instruments = self._rooms[kind].contents().instruments
        return next(self._of(made) for made in instruments if made.name == kind)

    def __iter__(self) -> Iterator[str]:
        return iter(self._rooms)

    def __len__(self) -> int:
        return len(self._rooms)

    def __contains__(self, kind: object) -> bool:
        return kind in self._rooms


@dataclass(frozen=True)
class Registry:
    """Everything that instruments and plugins provide.

    A room is imported when one of its kinds is looked up. What speaks of all kinds, such as all
    `measures`, imports every room: who has a suite asks the registry `for_suite`.

    Attributes:
        rooms: in the order of the report.
        for_every_kind: what is reported beside the reports of the rooms.
        providers: of judges, by name.
        added: the measures of plugins.
    """

    rooms: tuple[Room, ...]
    for_every_kind: Report | None = None
    providers: Mapping[str, Provider] = field(default_factory=dict)
    added: tuple[Measure, ...] = ()

    @classmethod
    def of_instruments(
        cls, instruments: Iterable[Instrument], joined: Iterable[Measure] = ()
    ) -> Registry:
        """What there is where one room has these, and no plugin adds anything."""
        contents = RoomContents(tuple(instruments), joined=tuple(joined))
        kinds = tuple(instrument.name for instrument in contents.instruments)
        return cls((Room("instruments", kinds, lambda: contents, joins=lambda _: True),))

    @cached_property
    def kinds(self) -> Mapping[str, Instrument]:
        """The instruments by the kind of suites that they measure, the default one first."""
        return _ByKind(self._room_of_kind, lambda instrument: instrument)

    @cached_property
    def forms(self) -> Mapping[str, Kind]:
        """The kinds of suites by name, which are needed to load a suite."""
        return _ByKind(self._room_of_kind, lambda instrument: instrument.form)

    @cached_property
    def _room_of_kind(self) -> Mapping[str, Room]:
        rooms = sorted(self.rooms, key=lambda room: not room.default)
        return {kind: room for room in rooms for kind in room.kinds}

    def of_rooms(self, names: Collection[str]) -> Registry:
        """The same with these rooms alone."""
        rooms = tuple(room for room in self.rooms if room.name in names)
        # Every check and every measurement asks for a part, and of a session they are few.
        return self._parts.setdefault(rooms, replace(self, rooms=rooms))

    @cached_property
    def _parts(self) -> dict[tuple[Room, ...], Registry]:
        return {self.rooms: self}

    def for_suite(self, suite: Suite) -> Registry:
        """The same with the rooms alone that measure or report something of a suite."""
        own = [room for room in self.rooms if suite.kind in room.kinds or room.joins(suite)]
        return self.of_rooms({name for room in own for name in (room.name, *room.reported_by)})

    @cached_property
    def _contents(self) -> tuple[RoomContents, ...]:
        return tuple(room.contents() for room in self.rooms)

    @cached_property
    def joined(self) -> tuple[Measure, ...]:
        """Measures that rooms add to suites of every kind."""
        return tuple(chain.from_iterable(contents.joined for contents in self._contents))

    def label_checks(self, items: Sequence[LabelledItem]) -> LabelChecks:
        """What a first suite holds about the labels of ``items``."""
        of_rooms = (contents.label_checks(items) for contents in self._contents)
        return next(filter(None, of_rooms), LabelChecks())

    @cached_property
    def report(self) -> Report:
        """What the rooms report, and what is reported of suites of every kind."""
        from pytest_judgesense.datasheets.sections import Report

        of_rooms = (contents.report for contents in self._contents)
        return Report.joined(filter(None, (*of_rooms, self.for_every_kind)))

    @cached_property
    def importers(self) -> Mapping[str, Importer]:
        """The readable formats of foreign files, by name."""
        return {importer.name: importer for importer in self._importers if not importer.option}

    @cached_property
    def variants(self) -> tuple[Importer, ...]:
        """Importers that read such a format in another way, where their option is given."""
        return tuple(importer for importer in self._importers if importer.option)

    @cached_property
    def _importers(self) -> tuple[Importer, ...]:
        return tuple(chain.from_iterable(room.importers() for room in self.rooms))

    @cached_property
    def papers(self) -> Mapping[str, Paper]:
        """The published designs, by the name of ``judgesense paper NAME``."""
        papers = chain.from_iterable(instrument.papers for instrument in self.kinds.values())
        return {paper.name: paper for paper in papers}

    @cached_property
    def measures(self) -> Mapping[str, Measure]:
        """All measures by name; one that several kinds have as the first of them has it."""
        measures: dict[str, Measure] = {}
        of_kinds = (instrument.measures for instrument in self.kinds.values())
        for measure in chain(*of_kinds, self.joined, self.added):
            measures.setdefault(measure.name, measure)
        return measures

    @cached_property
    def checks(self) -> Mapping[str, CheckKind]:
        """All checks by name: those against earlier sessions, gates, those of instruments."""
        gates = [gate_of(measure) for measure in self.measures.values() if measure.check]
        of_kinds = (instrument.checks for instrument in self.kinds.values())
        earlier = (NO_REGRESSION, NO_DRIFT)
        return {check.name: check for check in (*earlier, *gates, *chain(*of_kinds))}

    @property
    def default(self) -> Instrument:
        """The instrument of judgments that have no suite."""
        return next(iter(self.kinds.values()))

    def measures_on(self, kind: str, suite: str = "") -> tuple[Measure, ...]:
        """The measures of suites of ``kind``; a `UsageError` if there is no such kind."""
        if kind not in self.kinds:
            raise UsageError(
                f"suite {suite} is of a kind that is not known",
                found=f"kind = {kind!r}",
                expected="one of: " + listed(self.kinds),
            )
        added = (measure for measure in self.added if not measure.kinds or kind in measure.kinds)
        return (*self.kinds[kind].measures, *self.joined, *added)

    def named(self, measure: str) -> Measure:
        """The measure of this name; if it is not known here, a measure with only the name."""
        return self.measures.get(measure) or Measure(measure, "construct", "unit", "not known here")

    @cached_property
    def logged(self) -> tuple[Logged, ...]:
        """What lines of judgment logs hold beside verdicts."""
        return tuple(kind.logged for kind in self.kinds.values() if kind.logged is not None)

    @property
    def scoring(self) -> Instrument | None:
        """What measures suites of scores."""
        return next((kind for kind in self.kinds.values() if kind.form.scored), None)

    @property
    def grading(self) -> Instrument | None:
        """What measures suites of grades."""
        return next((kind for kind in self.kinds.values() if kind.first_suite is not None), None)

    @property
    def leave_out(self) -> LeaveOut | None:
        """How parts of a prompt are left out, by the instrument that does it."""
        of_kinds = (kind.leave_out for kind in self.kinds.values())
        return next((leave_out for leave_out in of_kinds if leave_out is not None), None)

    @property
    def skills(self) -> tuple[Skill, ...]:
        """The skills of the embedded judge for single kinds."""
        return tuple(skill for kind in self.kinds.values() for skill in kind.skills)


def measures_of(hooks: Iterable[Hook]) -> list[Measure]:
    """The measures of plugins, each knowing its plugin.

    Raises:
        ExtensionError: a plugin fails, or a measure is malformed.
    """
    measures = []
    for source, measure in _values(MEASURES, hooks, Measure):
        if fault := measure.fault():
            raise _fault(
                f"plugin {source}: its {MEASURES} failed",
                fault,
                "measures as judgesense explain extending describes them",
            )
        measures.append(measure._replace(source=source))
    return measures


def extended(registry: Registry, hooks: Callable[[str], Iterable[Hook]]) -> Registry:
    """``registry`` with what plugins give; ``hooks``: from the name of a hook to what they have.

    Raises:
        ExtensionError: a value is malformed or a name is taken; the error names the plugin.
    """
    if added := measures_of(hooks(MEASURES)):
        measures, checks = dict(registry.measures), dict(registry.checks)
        for measure in added:
            _enter(measures, "measure", measure)
            if measure.check:
                _enter(checks, "check", gate_of(measure))
    providers = dict(registry.providers)
    for source, provider in _values(PROVIDERS, hooks(PROVIDERS), Provider):
        if provider.name in NO_PROVIDERS:
            raise _taken("provider", provider.name, source, "")
        _enter(providers, "provider", replace(provider, source=source))
    if not added and providers == registry.providers:
        return registry
    return replace(registry, added=(*registry.added, *added), providers=providers)


def hooks_of(plugins: Iterable[tuple[str, object]]) -> Callable[[str], list[Hook]]:
    """From the name of a hook to what these objects, by the names of their plugins, have of it."""
    plugins = tuple(plugins)
    return lambda hook: [
        (source, function)
        for source, plugin in plugins
        if (function := getattr(plugin, hook, None)) is not None
    ]


def loaded(registry: Registry, modules: Sequence[str] = ()) -> Registry:
    """``registry`` with what installed plugins give, for the command line, which has no hooks.

    They are found by their entry points in the group ``judgesense``: modules or other objects with
    functions named like the hooks.

    Raises:
        ExtensionError: one of them cannot be imported, or a value in it is malformed.
    """
    import importlib
    from importlib.metadata import entry_points

    loaders: dict[str, Callable[[], Any]] = {
        f"{point.name} ({point.value})": point.load for point in entry_points(group=_GROUP)
    }
    loaders |= {name: partial(importlib.import_module, name) for name in modules}
    plugins: dict[int, tuple[str, Any]] = {}
    for source, load in loaders.items():
        with ExtensionError.blaming(
            source,
            f"plugin {source} cannot be loaded",
            "a module that can be imported, installed where judgesense is",
        ):
            plugin = load()
        plugins.setdefault(id(plugin), (source, plugin))
    return extended(registry, hooks_of(plugins.values()))


def _fault(problem: str, instead: str, expected: str) -> ExtensionError:
    return ExtensionError(problem, found=instead, expected=expected, remedy="fix the plugin")


def _values(hook: str, hooks: Iterable[Hook], kind: type[_Value]) -> list[tuple[str, _Value]]:
    """Plugin and value for everything that a hook returns.

    Sorted by name, so that the order is the same in every process.
    """
    values: list[tuple[str, _Value]] = []
    expected = f"a list of pytest_judgesense.registry.{kind.__name__}"
    for source, function in hooks:
        its = f"plugin {source}: its {hook}"
        with ExtensionError.blaming(source, f"{its} failed", expected):
            returned = list(function() or ())
        for value in returned:
            if not isinstance(value, kind):
                raise _fault(f"{its} returned something else", repr(value)[:200], expected)
            values.append((source, value))
    return sorted(values, key=lambda pair: (pair[1].name, pair[0]))


def _enter(entries: dict[str, Any], kind: str, value: Any) -> None:
    """Add a plugin's value to those of its type; its name must be free."""
    if value.name in entries:
        raise _taken(kind, value.name, value.source, entries[value.name].source)
    entries[value.name] = value


def _taken(kind: str, name: str, source: str, owner: str) -> ExtensionError:
    """A name of a plugin is that of something of its ``owner``: a plugin, or this package."""
    named = f"plugin {owner}" if owner else "pytest-judgesense itself"
    return ExtensionError(
        f"{kind} {name!r} of plugin {source} has a name that is taken",
        found=f"a {kind} {name!r} of {named}",
        expected="a name of its own",
        remedy="rename it in the plugin",
    )
