"""What instruments and plugins provide, combined into one frozen value, the `Registry`.

Instruments give kinds of suites with everything that belongs to them (`Instrument`), as the list in
`instruments.builtin` has them. Plugins give measures and providers by hooks (`plugin.hookspecs`);
the types for them are here too, and every error about such a value names its plugin. Plugins import
this module when pytest starts, so it is light.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias, TypeVar

from pytest_judgesense.errors import ExtensionError, UsageError, listed
from pytest_judgesense.judges.providers.base import NO_PROVIDERS, HttpRequest, Reply
from pytest_judgesense.judges.spec import Provider
from pytest_judgesense.measures.bar import NO_DRIFT, NO_REGRESSION, CheckKind, gate_of
from pytest_judgesense.measures.definition import Brief, Evidence, Measure
from pytest_judgesense.measures.shared import AGREEMENT, place_on_scale, right

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_judgesense.datasheets.datasheet import Datasheet
    from pytest_judgesense.datasheets.profile import Word
    from pytest_judgesense.datasheets.published_design import Paper
    from pytest_judgesense.datasheets.sections import (
        ComparedJudge,
        JudgeComparison,
        Report,
        ReportSection,
        Shown,
        TableRows,
    )
    from pytest_judgesense.estimate import Estimate
    from pytest_judgesense.files.foreign_results import Exported, Imported, ImportedSuite
    from pytest_judgesense.files.import_options import ImportOptions
    from pytest_judgesense.judges.simulated.observer import Skill
    from pytest_judgesense.judges.spec import JudgeSpec
    from pytest_judgesense.measures.cell import Cell
    from pytest_judgesense.suites.suite import Kind, Suite
    from pytest_judgesense.trial import Design, Judgment

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
        option: where it is given, this one reads in place of that of another kind with this name.
    """

    name: str
    read: Callable[[ImportOptions], Imported | ImportedSuite]
    written: Callable[[Sequence[Cell], Sequence[Suite]], Exported] | None = None
    option: str = ""


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
    """

    measure: Measure
    counts: str
    bar: float | None = None
    limit: float | None = None
    margin: float | None = None
    labelled: bool = False
    criteria: int = 1


class FirstSuite(NamedTuple):
    """How suites of grades by criterion begin, for ``judgesense init``.

    Attributes:
        output: the field that holds the text that is graded.
        checks: those that suit a first suite.
    """

    output: str
    checks: tuple[FirstCheck, ...]


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
        logged: what judgment logs hold of its replies beside a verdict.
        skills: functions by which the embedded judge replies to prompts of this kind.
        importers: formats of foreign files with judgments on such suites.
        papers: published designs.
        leave_out: how parts of a prompt are left out; ``None`` where it does not.
        first_suite: how ``judgesense init`` begins a suite; ``None`` if it does not.
        default: whether judgments without a suite are of this kind.
    """

    form: Kind
    measures: tuple[Measure, ...]
    checks: tuple[CheckKind, ...] = ()
    call_measure: str = AGREEMENT.name
    call_score: Callable[[Judgment], float | None] = right
    score: Callable[[Design, str], float] = place_on_scale
    logged: Logged | None = None
    skills: tuple[Skill, ...] = ()
    importers: tuple[Importer, ...] = ()
    papers: tuple[Paper, ...] = ()
    leave_out: LeaveOut | None = None
    first_suite: FirstSuite | None = None
    default: bool = False

    @property
    def name(self) -> str:
        """As in ``kind = "NAME"`` of suite files."""
        return self.form.name


@dataclass(frozen=True)
class Registry:
    """Everything that instruments and plugins provide.

    Attributes:
        kinds: the instruments by the kind of suites that they measure, the default one first.
        providers: of judges, by name.
        joined: measures that rooms add to suites of every kind; where a suite has nothing for one
            of them, it gives no estimate.
        added: the measures of plugins.
        reports: what the instruments report, and what is reported of suites of every kind.
        sections: those of the reports that are made.
        comparisons: those of the reports that are made, the ones above the datasheet first.
        closing: from all judges with their suites, and the seed, to the last sentences.
        importers: the readable formats of foreign files, by name.
        variants: importers that read such a format in another way, where their option is given.
        papers: the published designs, by the name of ``judgesense paper NAME``.
    """

    kinds: Mapping[str, Instrument]
    providers: Mapping[str, Provider] = field(default_factory=dict)
    joined: tuple[Measure, ...] = ()
    added: tuple[Measure, ...] = ()
    reports: tuple[Report, ...] = ()
    sections: tuple[ReportSection, ...] = ()
    comparisons: tuple[JudgeComparison, ...] = ()
    closing: tuple[Callable[[Sequence[tuple[str, ComparedJudge]], int], Iterable[str]], ...] = ()
    importers: Mapping[str, Importer] = field(default_factory=dict)
    variants: tuple[Importer, ...] = ()
    papers: Mapping[str, Paper] = field(default_factory=dict)

    @classmethod
    def of_instruments(
        cls,
        instruments: Iterable[Instrument],
        reports: Iterable[Report] = (),
        providers: Iterable[Provider] = (),
        joined: Iterable[Measure] = (),
    ) -> Registry:
        """What there is where the package has these, and no plugin adds anything."""
        kinds = sorted(instruments, key=lambda instrument: not instrument.default)
        reports = tuple(reports)
        comparisons = chain.from_iterable(report.comparisons for report in reports)
        return cls(
            {instrument.name: instrument for instrument in kinds},
            {provider.name: provider for provider in providers},
            tuple(joined),
            reports=reports,
            sections=tuple(chain.from_iterable(report.sections for report in reports)),
            comparisons=tuple(sorted(comparisons, key=lambda comparison: not comparison.apart)),
            closing=tuple(chain.from_iterable(report.closing for report in reports)),
            importers={i.name: i for kind in kinds for i in kind.importers if not i.option},
            variants=tuple(i for kind in kinds for i in kind.importers if i.option),
            papers={p.name: p for instrument in kinds for p in instrument.papers},
        )

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

    @cached_property
    def forms(self) -> Mapping[str, Kind]:
        """The kinds of suites by name, which are needed to load a suite."""
        return {name: instrument.form for name, instrument in self.kinds.items()}

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

    def analyses(
        self, cell: Cell, estimates: tuple[Estimate, ...], suite: Suite | None = None
    ) -> tuple[Mapping[str, Any], ...]:
        """The tables of a cell; ``suite`` is ``None`` if only its log is known."""
        tables = (section.analysis(cell, estimates, suite) for section in self.sections)
        return tuple(table for table in tables if table is not None)

    def material(self, cell: Cell) -> Mapping[str, Any] | None:
        """What comparisons need of a cell; ``None`` if they need nothing."""
        of_each = (comparison.material_of(cell) for comparison in self.comparisons)
        return next((material for material in of_each if material is not None), None)

    def shown(self, shown: Shown) -> Registry:
        """The same with the sections and comparisons of which something is ``shown``."""
        if shown == "all":
            return self
        if shown == "none":
            return replace(self, sections=(), comparisons=(), closing=())
        sections = (section for section in self.sections if section.summarised)
        comparisons = (comparison for comparison in self.comparisons if comparison.brief)
        return replace(self, sections=tuple(sections), comparisons=tuple(comparisons))

    def verify(self, estimates: tuple[Estimate, ...]) -> None:
        """Raise an `InternalError` if the estimates of a part contradict each other."""
        for report in self.reports:
            for verify in report.identities:
                verify(estimates)

    def notices(self, cell: Cell) -> tuple[str, ...]:
        """Notices for readers of the numbers of a cell."""
        every = chain.from_iterable(report.notices for report in self.reports)
        return tuple(notice for notices_of in every for notice in notices_of(cell))

    @cached_property
    def profile(self) -> tuple[Word, ...]:
        """The words of a judge's profile, in order."""
        words = chain.from_iterable(report.words for report in self.reports)
        return tuple(sorted(words, key=lambda word: -word.first))

    @cached_property
    def logged(self) -> tuple[Logged, ...]:
        """What lines of judgment logs hold beside verdicts."""
        return tuple(kind.logged for kind in self.kinds.values() if kind.logged is not None)

    @property
    def leave_out(self) -> LeaveOut | None:
        """How parts of a prompt are left out, by the instrument that does it."""
        of_kinds = (kind.leave_out for kind in self.kinds.values())
        return next((leave_out for leave_out in of_kinds if leave_out is not None), None)

    @property
    def skills(self) -> tuple[Skill, ...]:
        """The skills of the embedded judge for single kinds."""
        return tuple(skill for kind in self.kinds.values() for skill in kind.skills)

    @property
    def titles(self) -> dict[str, str]:
        """The names of all tables of the report, and their titles on a page; empty for none."""
        tables: tuple[ReportSection | JudgeComparison, ...] = (*self.sections, *self.comparisons)
        return {name: table.titles.get(name, "") for table in tables for name in table.all_names}


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
    measures, checks = dict(registry.measures), dict(registry.checks)
    added = measures_of(hooks(MEASURES))
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
