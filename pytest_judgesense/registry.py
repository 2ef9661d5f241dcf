"""What instruments and plugins provide: suite kinds, measures, checks, providers, sections.

Plugins provide frozen values from hooks (`plugin.hookspecs`); the built-in instruments provide the
same values from the same hooks, in `instruments.builtin`. This module combines them into one frozen
value, the `Registry`, which is passed to all code that measures. Every error names the plugin. The
module is light, because every session imports it when pytest starts.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias, TypeVar

from pytest_judgesense.errors import ExtensionError, UsageError
from pytest_judgesense.judges.providers.base import NO_PROVIDERS, HttpRequest, Reply
from pytest_judgesense.judges.spec import Provider
from pytest_judgesense.lazy import later
from pytest_judgesense.measures.check import NO_REGRESSION, Check, CheckKind, gate_of
from pytest_judgesense.measures.measure import Brief, Evidence, Measure
from pytest_judgesense.measures.shared import AGREEMENT, right
from pytest_judgesense.profile import Word
from pytest_judgesense.sections import Board, Comparison, Entrant, Report, ReportSection, Shown
from pytest_judgesense.suites.finding import LintFinding, Rule
from pytest_judgesense.suites.item import Item
from pytest_judgesense.suites.kind import Kind, Question, ReplyForm

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from pytest_judgesense.estimate import Estimate
    from pytest_judgesense.importers import Exported, Imported, ImportedSuite
    from pytest_judgesense.judges.simulated.observer import Skill
    from pytest_judgesense.judges.spec import JudgeSpec
    from pytest_judgesense.measures.cell import Cell
    from pytest_judgesense.papers import Paper
    from pytest_judgesense.suites.suite import Suite
    from pytest_judgesense.trial import Judgment

__all__ = [
    "HOOKS",
    "NOTHING",
    "Board",
    "Brief",
    "Check",
    "CheckKind",
    "Command",
    "Comparison",
    "Evidence",
    "HttpRequest",
    "Importer",
    "Item",
    "Kind",
    "LintFinding",
    "Logged",
    "Measure",
    "Provider",
    "Question",
    "Registry",
    "Reply",
    "ReplyForm",
    "Report",
    "ReportSection",
    "Rule",
    "SuiteKind",
    "extended",
    "given_by",
    "later",
    "loaded",
    "with_measures",
]

# A plugin: its name for messages, and the function that returns its objects.
Given: TypeAlias = tuple[str, Callable[[], Any]]
_Part = TypeVar("_Part")

HOOKS: Final = (
    "pytest_judgesense_measures",
    "pytest_judgesense_providers",
    "pytest_judgesense_suite_kinds",
    "pytest_judgesense_report_sections",
)
_MEASURES, _PROVIDERS, _KINDS, _SECTIONS = HOOKS
_GROUP: Final = "judgesense"


class Command(NamedTuple):
    """A command of ``judgesense`` for the suites of a kind.

    Attributes:
        run: from its options and a function that finds judges by name to the lines to print.
        source: the plugin that provides it; set when it is added.
    """

    name: str
    said: str
    add_arguments: Callable[[ArgumentParser], None]
    run: Callable[[Namespace, Callable[[list[str]], list[JudgeSpec]]], Iterable[str]]
    source: str = ""


class Importer(NamedTuple):
    """A format of foreign files, as ``judgesense import`` names it.

    Attributes:
        read: from the options of ``judgesense import``: its ``path``, and ``map``, ``value``,
            ``judge`` and the others that say how a file is read.
        written: from cells, and suites that hold their items, to such files, if ``judgesense report
            --export`` writes them.
        source: the plugin that provides it; set when it is added.
    """

    name: str
    read: Callable[[Namespace], Imported | ImportedSuite]
    written: Callable[[Sequence[Cell], Sequence[Suite]], Exported] | None = None
    source: str = ""


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
class SuiteKind:
    """A kind of suites: its stimuli, measures, checks and report.

    Attributes:
        name: lower-case letters, digits and ``-``; as in ``kind = "NAME"`` of suite files.
        form: its items, rules, calls and replies; or a function without arguments that returns them
            when the first suite is loaded.
        measures: taken on every suite of the kind, in the order of the datasheet.
        checks: in addition to those that gate the measures.
        call_measure: the measure whose variance over single calls is used to plan a design.
        call_score: what a single call adds to it; ``None`` if the call does not count.
        logged: what judgment logs hold of its replies beside a verdict.
        skills: functions by which the embedded judge replies to prompts of this kind.
        importers: formats of foreign files with judgments on such suites.
        commands: commands of ``judgesense``.
        papers: published designs, by the name of ``judgesense paper NAME``: functions without
            arguments that return them.
        default: whether judgments without a suite are of this kind; only for a built-in one.
        source: the plugin that provides it; empty for this package.
    """

    name: str
    form: Kind | Callable[[], Kind]
    measures: tuple[Measure, ...] = ()
    checks: tuple[CheckKind, ...] = ()
    call_measure: str = AGREEMENT.name
    call_score: Callable[[Judgment], float | None] = right
    logged: Logged | None = None
    skills: tuple[Skill, ...] = ()
    importers: tuple[Importer, ...] = ()
    commands: tuple[Command, ...] = ()
    papers: tuple[tuple[str, Callable[[], Paper]], ...] = ()
    default: bool = False
    source: str = ""

    def loaded(self) -> Kind:
        """Its items, rules, calls and replies.

        Raises:
            ExtensionError: the plugin's form has another name, or is not a form.
        """
        what = f"kind {self.name!r} of plugin {self.source} cannot be used"
        with ExtensionError.blaming(self.source, what, "a form that can be made"):
            found: object = self.form() if callable(self.form) else self.form
        if not isinstance(found, Kind) or found.name != self.name:
            expected = f"pytest_judgesense.registry.Kind({self.name!r}, ...), or a function that "
            what = f"kind {self.name!r} of plugin {self.source} has no form"
            raise _fault(what, repr(found)[:200], f"{expected}gives it")
        return replace(found, source=self.source)


@dataclass(frozen=True)
class Registry:
    """Everything that instruments and plugins provide, combined; for its reports see `Report`.

    Attributes:
        loose: measures that are provided separately, not with a kind.
        sections: of the report, the built-in ones first.
        comparisons: of judges, those above the datasheet first.
        profile: the words of a judge's profile, in order.
    """

    measures: Mapping[str, Measure]
    checks: Mapping[str, CheckKind]
    kinds: Mapping[str, SuiteKind]
    loose: tuple[Measure, ...] = ()
    providers: Mapping[str, Provider] = field(default_factory=lambda: MappingProxyType({}))
    sections: tuple[ReportSection, ...] = ()
    comparisons: tuple[Comparison, ...] = ()
    profile: tuple[Word, ...] = ()
    doubts: tuple[Callable[[Cell], Iterable[str]], ...] = ()
    identities: tuple[Callable[[tuple[Estimate, ...]], None], ...] = ()
    closing: tuple[Callable[[Sequence[tuple[str, Entrant]], int], Iterable[str]], ...] = ()

    def measures_on(self, kind: str, suite: str = "") -> tuple[Measure, ...]:
        """The measures of suites of ``kind``; a `UsageError` if there is no such kind."""
        if kind not in self.kinds:
            raise UsageError(
                f"suite {suite} is of a kind that is not known",
                found=f"kind = {kind!r}",
                expected="one of: " + ", ".join(self.kinds),
                remedy="load the plugin that adds it: judgesense -p MODULE, or pytest -p MODULE",
            )
        loose = (one for one in self.loose if not one.kinds or kind in one.kinds)
        return (*self.kinds[kind].measures, *loose)

    def named(self, measure: str) -> Measure:
        """The measure of this name; if it is not known here, a measure with only the name."""
        return self.measures.get(measure) or Measure(
            measure, "construct", "unit", "not known here", lambda _: ()
        )

    @cached_property
    def forms(self) -> Mapping[str, Kind]:
        """The forms of suite kinds by name, which are needed to load a suite."""
        return {name: kind.loaded() for name, kind in self.kinds.items()}

    def analyses(
        self, cell: Cell, estimates: tuple[Estimate, ...], suite: Suite | None = None
    ) -> tuple[Mapping[str, Any], ...]:
        """The tables of a cell; ``suite`` is ``None`` if only its log is known."""
        made = (section.analysis(cell, estimates, suite) for section in self.sections)
        return tuple(analysis for analysis in made if analysis is not None)

    def shown(self, shown: Shown) -> Registry:
        """The same with the sections and comparisons of which something is ``shown``.

        A summary has all sections of plugins: one that fails is an error in any session. Where a
        plugin compares judges, it has every section, for the comparison may read it.
        """
        if shown == "all":
            return self
        if shown == "none":
            return replace(self, sections=(), comparisons=(), closing=())
        read = any(one.source for one in self.comparisons)
        sections = (one for one in self.sections if one.summarised or one.source or read)
        comparisons = (one for one in self.comparisons if one.brief or one.source)
        return replace(self, sections=tuple(sections), comparisons=tuple(comparisons))

    def verify(self, estimates: tuple[Estimate, ...]) -> None:
        """Raise an `InternalError` if the estimates of a part contradict each other."""
        for holds in self.identities:
            holds(estimates)

    def notices(self, cell: Cell) -> tuple[str, ...]:
        """Notices for readers of the numbers of a cell."""
        return tuple(said for doubt in self.doubts for said in doubt(cell))

    def material(self, cell: Cell) -> Mapping[str, Any] | None:
        """What comparisons need of a cell; ``None`` if they need nothing."""
        made = (comparison.material_of(cell) for comparison in self.comparisons)
        return next((material for material in made if material is not None), None)

    @property
    def default(self) -> SuiteKind:
        """The kind of judgments that have no suite."""
        return next(iter(self.kinds.values()))

    @cached_property
    def logged(self) -> tuple[Logged, ...]:
        """What lines of judgment logs hold beside verdicts."""
        return tuple(kind.logged for kind in self.kinds.values() if kind.logged is not None)

    @property
    def skills(self) -> tuple[Skill, ...]:
        """The skills of the embedded judge for single kinds."""
        return tuple(skill for kind in self.kinds.values() for skill in kind.skills)

    @property
    def importers(self) -> dict[str, Importer]:
        """The readable formats of foreign files, by name."""
        return {one.name: one for kind in self.kinds.values() for one in kind.importers}

    @property
    def commands(self) -> dict[str, Command]:
        """The commands of ``judgesense`` that kinds add, by name."""
        return {one.name: one for kind in self.kinds.values() for one in kind.commands}

    @property
    def papers(self) -> dict[str, Callable[[], Paper]]:
        """The published designs, by the name of ``judgesense paper NAME``."""
        return {name: paper for kind in self.kinds.values() for name, paper in kind.papers}

    @property
    def tables(self) -> dict[str, str]:
        """The names of all tables of the report, each with its owner."""
        return {name: one.source for one in self._reported for name in one.all_names}

    @property
    def titles(self) -> dict[str, str]:
        """The titles of tables on a page, by their names."""
        return {name: title for one in self._reported for name, title in one.titles.items()}

    @property
    def _reported(self) -> tuple[ReportSection | Comparison, ...]:
        return (*self.sections, *self.comparisons)


NOTHING: Final = Registry({}, {NO_REGRESSION.name: NO_REGRESSION}, {})


def with_measures(known: Registry, given: Iterable[Given]) -> Registry:
    """``known`` with the measures of plugins, for markers.

    Raises:
        ExtensionError: a measure is malformed, or its name or that of its check is taken.
    """
    measures, checks = dict(known.measures), dict(known.checks)
    loose = list(known.loose)
    for source, measure in _objects(_MEASURES, given, Measure):
        _refuse_faulty(measure, _MEASURES, source)
        loose.append(measure._replace(source=source))
        _enter_measure(measures, checks, loose[-1])
    return replace(known, measures=measures, checks=checks, loose=tuple(loose))


def extended(known: Registry, given: Callable[[str], Iterable[Given]]) -> Registry:
    """``known`` with everything else that plugins provide, or this package itself.

    Raises:
        ExtensionError: a value is malformed or a name is taken; the error names the plugin.
    """
    providers = dict(known.providers)
    for source, provider in _objects(_PROVIDERS, given(_PROVIDERS), Provider):
        here = "" if provider.name in NO_PROVIDERS else None
        _refuse_taken("provider", provider.name, source, here)
        _enter(providers, "provider", replace(provider, source=source))
    kinds, measures, checks = dict(known.kinds), dict(known.measures), dict(known.checks)
    found = [
        (source, _of_several(kind, source))
        for source, kind in _objects(_KINDS, given(_KINDS), SuiteKind)
    ]
    for source, kind in found:
        sourced = tuple(
            one if one.name in measures else one._replace(source=source) for one in kind.measures
        )
        _enter(kinds, "kind of suites", replace(kind, measures=sourced))
        for one in sourced:
            _refuse_faulty(one, _KINDS, source)
            if one.name not in measures:
                _enter_measure(measures, checks, one)
    importers, commands = dict(known.importers), dict(known.commands)
    for _, kind in found:
        for check in kind.checks:
            _enter(checks, "check", check)
        for importer in kind.importers:
            _enter(importers, "importer", importer)
        for command in kind.commands:
            _enter(commands, "command", command)
    known = replace(known, measures=measures, checks=checks, kinds=kinds, providers=providers)
    for source, one in _objects(_SECTIONS, given(_SECTIONS), ReportSection, Comparison, Report):
        what = f"plugin {source}: its {_SECTIONS} returned a malformed {type(one).__name__}"
        with ExtensionError.blaming(source, what, "its parts, by judgesense explain extending"):
            known = _reporting(known, one, source)
    return known


def given_by(plugins: Iterable[tuple[str, object]]) -> Callable[[str], list[Given]]:
    """From the name of a hook to what these objects, by the names of their plugins, have of it."""
    known = tuple(plugins)
    return lambda hook: [
        (source, function)
        for source, plugin in known
        if (function := getattr(plugin, hook, None)) is not None
    ]


def loaded(known: Registry, modules: Sequence[str] = ()) -> Registry:
    """``known`` with the values of installed plugins, for the command line, which has no hooks.

    They are found by their entry points in the group ``judgesense``: modules or other objects with
    functions named like the hooks.

    Raises:
        ExtensionError: one of them cannot be imported, or a value in it is malformed.
    """
    import importlib
    from importlib.metadata import entry_points

    ways: dict[str, Callable[[], Any]] = {
        f"{point.name} ({point.value})": point.load for point in entry_points(group=_GROUP)
    }
    ways |= {name: partial(importlib.import_module, name) for name in modules}
    found: dict[int, tuple[str, Any]] = {}
    for source, load in ways.items():
        try:
            plugin = load()
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # a module may skip, or exit
            raise ExtensionError(
                f"plugin {source} cannot be loaded",
                found=f"{type(error).__name__}: {error}",
                expected="a module that can be imported",
                remedy="fix its name, or install it where judgesense is",
            ) from error
        found.setdefault(id(plugin), (source, plugin))

    given = given_by(found.values())
    return extended(with_measures(known, given(_MEASURES)), given)


def _fault(what: str, found: str, expected: str) -> ExtensionError:
    return ExtensionError(what, found=found, expected=expected, remedy="fix the plugin")


def _objects(hook: str, given: Iterable[Given], *kinds: type[Any]) -> list[tuple[str, Any]]:
    """Plugin and value for everything that a hook returns.

    Sorted by name, so that the order is the same in every process; that of this package is its own.
    """
    found: list[tuple[str, Any]] = []
    names = " or ".join(kind.__name__ for kind in kinds)
    expected = f"a list of pytest_judgesense.registry.{names}"
    for source, function in given:
        its = f"plugin {source}: its {hook}"
        with ExtensionError.blaming(source, f"{its} failed", expected):
            objects = list(function() or ())
        for one in objects:
            if not isinstance(one, kinds):
                raise _fault(f"{its} returned something else", repr(one)[:200], expected)
            found.append((source, one))
    return sorted(found, key=lambda pair: (pair[0] and getattr(pair[1], "name", ""), pair[0]))


def _of_several(kind: SuiteKind, source: str) -> SuiteKind:
    """The kind of a plugin, each of its parts known by the plugin as well."""
    several = partial(_several, f"kind {kind.name!r}", source)

    def sourced(given: Any, part: Any, field: str) -> tuple[Any, ...]:
        return tuple(one._replace(source=source) for one in several(given, part, field))

    return replace(
        kind,
        source=source,
        measures=several(kind.measures, Measure, "measures"),
        checks=sourced(kind.checks, CheckKind, "checks"),
        importers=sourced(kind.importers, Importer, "importers"),
        commands=sourced(kind.commands, Command, "commands"),
    )


def _reporting(known: Registry, part: ReportSection | Comparison | Report, source: str) -> Registry:
    """``known`` with a part of the report; that of a plugin is blamed on it."""
    if isinstance(part, ReportSection):
        return _reporting(known, Report(sections=(part,)), source)
    if isinstance(part, Comparison):
        return _reporting(known, Report(comparisons=(part,)), source)
    kinds = {"sections": ReportSection, "comparisons": Comparison, "words": Word}  # else functions
    part = Report._make(
        _several("a Report", source, given, kinds.get(name, Callable), name)
        for name, given in zip(part._fields, part, strict=True)
    )
    owners = known.tables
    named: tuple[ReportSection | Comparison, ...] = (*part.sections, *part.comparisons)
    for name in (name for one in named for name in one.all_names):
        _refuse_taken("report section", name, source, owners.get(name))
        owners[name] = source
    owners = {word.text: word.source for word in known.profile}
    for word in part.words:
        _refuse_taken("word", word.text, source, owners.get(word.text))
        owners[word.text] = source
    by = partial(_blamed, source)
    sections = (
        replace(
            one,
            source=source,
            brief=one.brief and by(one.brief),
            figures=by(one.figures, list),
            beside=by(one.beside, list),
            flips=by(one.flips, list),
        )
        for one in part.sections
    )
    comparisons = (
        replace(
            one,
            source=source,
            tables=by(one.tables, _tables),
            board=by(one.board, _board),
            lines=by(one.lines, _texts),
            brief=one.brief and by(one.brief, _texts),
            first=by(one.first, float),
            figures=by(one.figures, list),
            material=by(one.material),
        )
        for one in part.comparisons
    )
    words = (replace(one, holds=by(one.holds, bool), source=source) for one in part.words)
    return replace(
        known,
        sections=(*known.sections, *sections),
        comparisons=_first((*known.comparisons, *comparisons), lambda one: one.apart),
        profile=_first((*known.profile, *words), lambda one: one.first),
        doubts=(*known.doubts, *(by(one, _texts) for one in part.doubts)),
        identities=(*known.identities, *(by(one) for one in part.identities)),
        closing=(*known.closing, *(by(one, _texts) for one in part.closing)),
    )


def _first(values: tuple[_Part, ...], number: Callable[[_Part], int]) -> tuple[_Part, ...]:
    """Those with a larger number before the others, otherwise in their order."""
    return tuple(sorted(values, key=lambda one: -number(one)))


def _texts(said: Iterable[object]) -> list[str]:
    if isinstance(said, str):
        raise TypeError(f"a text, {said[:80]!r}, in place of several")
    return [str(one) for one in said]


def _tables(given: Mapping[str, Any]) -> dict[str, list[Any]]:
    """The rows of tables, as files hold them."""
    return {
        name: json.loads(json.dumps(list(rows), allow_nan=False)) for name, rows in given.items()
    }


def _board(given: object) -> Board:
    if not isinstance(given, Board):
        raise TypeError(f"{given!r:.80} in place of a Board")
    return given


def _blamed(
    source: str, function: Callable[..., Any], made: Callable[[Any], Any] = lambda found: found
) -> Callable[..., Any]:
    """``function`` of a plugin, what it returns ``made`` whole: its errors name the plugin."""
    if not source:
        return function  # the same object: built-in values can be compared

    def called(*given: Any) -> Any:
        what = f"a part of the report of plugin {source} cannot be made"
        with ExtensionError.blaming(source, what, "a Report, by judgesense explain extending"):
            return made(function(*given))

    return called


def _several(what: str, source: str, given: Any, kind: Any, field: str) -> tuple[Any, ...]:
    """What a plugin has ``given`` in a field: several values of one type, in any iterable."""
    what, said = f"{what} of plugin {source} is malformed", f"{field}: a tuple of "
    said += "functions" if kind is Callable else f"pytest_judgesense's {kind.__name__}"
    try:
        values = tuple(given)
    except TypeError as error:
        raise _fault(what, repr(given)[:200], said) from error
    for one in values:
        if not isinstance(one, kind):
            raise _fault(what, repr(one)[:200], said)
    return values


def _refuse_faulty(measure: Measure, hook: str, source: str) -> None:
    if fault := measure.fault():
        expected = "measures as pytest_judgesense.registry.Measure documents them"
        raise _fault(f"plugin {source}: its {hook} failed", fault, expected)


def _enter_measure(measures: dict[str, Any], checks: dict[str, Any], one: Measure) -> None:
    """Add a measure of a plugin and the check that gates it."""
    _enter(measures, "measure", one)
    if one.check:
        _enter(checks, "check", gate_of(one))


def _enter(known: dict[str, Any], what: str, one: Any) -> None:
    """Add a plugin's value to those of its type; its name must be free."""
    owner = known[one.name].source if one.name in known else None
    _refuse_taken(what, one.name, one.source, owner)
    known[one.name] = one


def _refuse_taken(what: str, name: str, source: str, owner: str | None) -> None:
    """``owner``: the plugin that has the name; empty for this package; ``None`` if free."""
    if owner is not None:
        named = f"plugin {owner}" if owner else "pytest-judgesense itself"
        raise ExtensionError(
            f"{what} {name!r} of plugin {source} has a name that is taken",
            found=f"a {what} {name!r} of {named}",
            expected="a name of its own",
            remedy="rename it in the plugin",
        )
