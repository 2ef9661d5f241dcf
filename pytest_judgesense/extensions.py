"""What plugins add: measures with their checks, providers, kinds of suites, report sections.

A plugin gives frozen values from hooks (`plugin.hookspecs`); here they are looked at and put
together into one frozen value, `Extensions`, which is handed on to whatever measures. Every error
names the plugin. Light on purpose: plugins import this module when pytest starts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from pytest_judgesense.errors import ExtensionError
from pytest_judgesense.judges.provider import HttpRequest, Provider, Reply
from pytest_judgesense.measures.catalogue import BUILT_IN, FAMILIES, Catalogue, MeasureInfo
from pytest_judgesense.registry_sections import Comparison, ReportSection
from pytest_judgesense.suites.suite import Item, SuiteKind

if TYPE_CHECKING:
    from pytest_judgesense.estimate import Estimate
    from pytest_judgesense.measures.cell import Cell
    from pytest_judgesense.suites.suite import Suite

__all__ = [
    "HOOKS",
    "NONE",
    "Comparison",
    "Extensions",
    "HttpRequest",
    "Item",
    "Measure",
    "Provider",
    "Reply",
    "ReportSection",
    "SuiteKind",
    "catalogue_of",
    "extended",
    "loaded",
]

# What gives the objects of a plugin: its name for messages, and its function.
Given: TypeAlias = tuple[str, Callable[[], Any]]

HOOKS: Final = (
    "pytest_judgesense_measures",
    "pytest_judgesense_providers",
    "pytest_judgesense_suite_kinds",
    "pytest_judgesense_report_sections",
)
_MEASURES, _PROVIDERS, _KINDS, _SECTIONS = HOOKS
_GROUP: Final = "judgesense"
_NAME: Final = re.compile(r"[a-z][a-z0-9_]*")
_PROVIDERS_HERE: Final = ("anthropic", "callable", "embedded", "log", "openai")
_KINDS_HERE: Final = (*FAMILIES, "debate", "temperature")


@dataclass(frozen=True, slots=True)
class Measure:
    """A measure that a plugin adds, with the check that gates it.

    Attributes:
        name: lower-case letters, digits and ``_``.
        direction: where better lies; ``construct`` where that depends on what is measured: such a
            measure has no check.
        unit: what its denominator counts, in the singular.
        meaning: one line for people.
        estimate: from a cell to the estimates of this measure on it, pure and without a draw that
            the cell's seed does not decide. It gives ``unavailable`` where there is nothing to
            measure, for cells without a judgment too: intervals leave out clusters in turn.
        check: the last word of the check's name: ``floor`` where higher is better, else
            ``ceiling``, ``bound`` or ``limit``; ``None`` for no check.
        suite: the suite that a check without ``suite=`` uses; ``None`` if it must be named.
        kinds: the kinds of suites that it is taken on; empty for all.
        bounds: the least and the greatest bar.
        margin: the loss that ``no_regression`` overlooks unless it is given one.

    Raises:
        ValueError: these do not go together.
    """

    name: str
    direction: Literal["higher", "lower", "construct"]
    unit: str
    meaning: str
    estimate: Callable[[Cell], Iterable[Estimate]]
    check: Literal["floor", "ceiling", "bound", "limit"] | None = None
    suite: str | None = None
    kinds: tuple[str, ...] = ()
    bounds: tuple[float, float] = (0.0, 1.0)
    margin: float = 0.05

    def __post_init__(self) -> None:
        words = {"higher": ("floor",), "lower": ("ceiling", "bound", "limit"), "construct": ()}
        if not _NAME.fullmatch(self.name):
            msg = f"the name of a measure is like my_measure, not {self.name!r}"
        elif self.direction not in words:
            msg = f"measure {self.name}: direction is one of {', '.join(words)}"
        elif self.check is not None and self.check not in words[self.direction]:
            known = ", ".join(words[self.direction]) or "none"
            msg = f"measure {self.name}: with direction {self.direction} check is one of: {known}"
        elif not (self.unit and self.meaning):
            msg = f"measure {self.name} has a unit and a meaning"
        elif not (self.bounds[0] < self.bounds[1] and self.margin >= 0):
            msg = f"measure {self.name}: bounds are low and high, margin is at least 0"
        else:
            return
        raise ValueError(msg)

    def info(self, source: str) -> MeasureInfo:
        """The entry of the catalogue; ``source`` is the plugin."""
        return MeasureInfo(
            self.name,
            self.direction,
            self.unit,
            self.meaning,
            f"{self.name}_{self.check}" if self.check else None,
            self.suite,
            bounds=self.bounds,
            margin=self.margin,
            estimate=self.estimate,
            kinds=self.kinds,
            source=source,
        )


@dataclass(frozen=True)
class Extensions:
    """What plugins add, put together.

    Attributes:
        catalogue: measures, checks and families of kinds, the built-in ones included.
        providers: by name.
        kinds: kinds of suites, by name.
        added_sections: of the report, by name.
        added_comparisons: of judges, by name.
    """

    catalogue: Catalogue = BUILT_IN
    providers: Mapping[str, Provider] = field(default_factory=lambda: MappingProxyType({}))
    kinds: tuple[SuiteKind, ...] = ()
    added_sections: tuple[ReportSection, ...] = ()
    added_comparisons: tuple[Comparison, ...] = ()

    @property
    def sections(self) -> tuple[ReportSection, ...]:
        """The sections of the report, the built-in ones first."""
        from pytest_judgesense.instruments.builtin import SECTIONS

        return (*SECTIONS, *self.added_sections)

    @property
    def comparisons(self) -> tuple[Comparison, ...]:
        """What compares judges, the built-in ones first."""
        from pytest_judgesense.instruments.builtin import COMPARISONS

        return (*COMPARISONS, *self.added_comparisons)

    def analyses(
        self, cell: Cell, estimates: tuple[Estimate, ...], suite: Suite | None = None
    ) -> tuple[Mapping[str, Any], ...]:
        """The tables of a cell; ``suite``: where it is known, not only its log."""
        made = (section.analysis(cell, estimates, suite) for section in self.sections)
        return tuple(analysis for analysis in made if analysis is not None)

    def material(self, cell: Cell) -> Mapping[str, Any] | None:
        """What a comparison needs of a cell; ``None`` where none needs anything."""
        made = (comparison.material_of(cell) for comparison in self.comparisons)
        return next((material for material in made if material is not None), None)


NONE: Final = Extensions()


def catalogue_of(given: Iterable[Given]) -> Catalogue:
    """The catalogue with the measures that plugins give.

    Raises:
        ExtensionError: a measure is ill-formed, or its name or that of its check is taken.
    """
    measures, checks = dict(BUILT_IN.measures), dict(BUILT_IN.checks)
    for source, measure in _objects(_MEASURES, Measure, given):
        info = measure.info(source)
        _refuse_taken("measure", info.name, source, {k: m.source for k, m in measures.items()})
        measures[info.name] = info
        if info.gate:
            taken = {check: measures[of].source for check, of in checks.items() if of in measures}
            _refuse_taken("check", info.gate, source, {**dict.fromkeys(checks, ""), **taken})
            checks[info.gate] = info.name
    return Catalogue(measures, checks)


def extended(catalogue: Catalogue, given: Callable[[str], Iterable[Given]]) -> Extensions:
    """What plugins add beside measures, put together with them.

    Args:
        catalogue: see `catalogue_of`.
        given: from one of `HOOKS` to what gives its objects.

    Raises:
        ExtensionError: something is ill-formed, or a name is taken; it names the plugin.
    """
    providers: dict[str, Provider] = {}
    for source, provider in _objects(_PROVIDERS, Provider, given(_PROVIDERS)):
        known = {name: one.source for name, one in providers.items()}
        _refuse_taken("provider", provider.name, source, {**_here(_PROVIDERS_HERE), **known})
        providers[provider.name] = replace(provider, source=source)
    kinds: dict[str, SuiteKind] = {}
    for source, kind in _objects(_KINDS, SuiteKind, given(_KINDS)):
        known = {name: one.source for name, one in kinds.items()}
        _refuse_taken("kind of suites", kind.name, source, {**_here(_KINDS_HERE), **known})
        if unknown := sorted(set(kind.families) - set(FAMILIES)):
            raise ExtensionError(
                f"kind {kind.name!r} of plugin {source} has a family that is not known",
                found=repr(unknown[0]),
                expected="of " + ", ".join(FAMILIES),
                remedy="mend the plugin",
            )
        kinds[kind.name] = replace(kind, source=source)
    sections, comparisons = _sections(given(_SECTIONS))
    families = {name: kind.families for name, kind in kinds.items()}
    return Extensions(
        catalogue._replace(kinds=families),
        providers,
        tuple(kinds.values()),
        tuple(sections),
        tuple(comparisons),
    )


def _sections(given: Iterable[Given]) -> tuple[list[ReportSection], list[Comparison]]:
    """The sections and comparisons that plugins give, no table of which has another's name."""
    sections: list[ReportSection] = []
    comparisons: list[Comparison] = []
    taken: dict[str, str] = {}
    for source, one in _objects(_SECTIONS, (ReportSection, Comparison), given):
        if not taken:
            taken = _tables_here()
        names = one.all_names if isinstance(one, Comparison) else (one.name,)
        for name in names:
            _refuse_taken("report section", name, source, taken)
        taken |= dict.fromkeys(names, source)
        if isinstance(one, Comparison):
            comparisons.append(replace(one, source=source))
        else:
            sections.append(replace(one, source=source))
    return sections, comparisons


def _tables_here() -> dict[str, str]:
    """The names of all built-in tables. The instruments are imported where a plugin adds one."""
    from pytest_judgesense.instruments.builtin import COMPARISONS, SECTIONS

    names = [one.name for one in SECTIONS]
    return _here([*names, *(name for one in COMPARISONS for name in one.all_names)])


def loaded(modules: Sequence[str] = ()) -> Extensions:
    """What installed plugins add, for the command line, which has no hooks.

    They are found by their entry points in the group ``judgesense``: modules, or other objects,
    with functions of the names of the hooks.

    Args:
        modules: further ones, by their import names.

    Raises:
        ExtensionError: one of them cannot be imported, or something in it is ill-formed.
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
        except Exception as error:
            raise ExtensionError(
                f"plugin {source} cannot be loaded",
                found=f"{type(error).__name__}: {error}",
                expected="a module that can be imported",
                remedy="mend its name, or install it where judgesense is",
            ) from error
        found.setdefault(id(plugin), (source, plugin))

    def given(hook: str) -> list[Given]:
        return [
            (source, function)
            for source, plugin in found.values()
            if (function := getattr(plugin, hook, None)) is not None
        ]

    return extended(catalogue_of(given(_MEASURES)), given)


def _objects(
    hook: str, kinds: type[Any] | tuple[type[Any], ...], given: Iterable[Given]
) -> Iterator[tuple[str, Any]]:
    """The plugin and the value of everything that a hook gives, by name: in the same order for
    every process, whatever the order in which plugins were loaded.
    """
    found: list[tuple[str, Any]] = []
    names = [kind.__name__ for kind in (kinds if isinstance(kinds, tuple) else (kinds,))]
    expected = f"a list of pytest_judgesense.extensions.{' or '.join(names)}"
    for source, function in given:
        try:
            objects = list(function() or ())
        except Exception as error:
            raise ExtensionError(
                f"plugin {source}: its {hook} failed",
                found=f"{type(error).__name__}: {error}",
                expected=expected,
                remedy="mend the plugin",
            ) from error
        for one in objects:
            if not isinstance(one, kinds):
                raise ExtensionError(
                    f"plugin {source}: its {hook} returned something else",
                    found=repr(one)[:200],
                    expected=expected,
                    remedy="mend the plugin",
                )
            found.append((source, one))
    yield from sorted(found, key=lambda pair: (pair[1].name, pair[0]))


def _here(names: Iterable[str]) -> dict[str, str]:
    return dict.fromkeys(names, "")


def _refuse_taken(what: str, name: str, source: str, taken: Mapping[str, str]) -> None:
    if name in taken:
        owner = f"plugin {taken[name]}" if taken[name] else "pytest-judgesense itself"
        raise ExtensionError(
            f"{what} {name!r} of plugin {source} has a name that is taken",
            found=f"a {what} {name!r} of {owner}",
            expected="a name of its own",
            remedy="rename it in the plugin",
        )
