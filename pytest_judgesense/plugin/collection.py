"""Suite files as pytest collects them: file, judge, one item a check."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from pytest_judgesense.errors import (
    ExtensionError,
    JudgesenseError,
    UsageError,
    harmless,
    listed,
    printable,
)
from pytest_judgesense.judges.resolving import comes_along
from pytest_judgesense.judges.spec import JudgeSpec
from pytest_judgesense.measures.bar import Check
from pytest_judgesense.plugin.ci import CheckFailed, require_pass
from pytest_judgesense.plugin.declared_check import DeclaredCheck, checks_of
from pytest_judgesense.plugin.messages import collect_error, ended_by_us, usage_error
from pytest_judgesense.plugin.screen import EVERYTHING, representation
from pytest_judgesense.plugin.startup import uncollected
from pytest_judgesense.plugin.state import State, state_of
from pytest_judgesense.plugin.suite_names import (
    SUFFIX,
    BuiltinArgument,
    is_selected,
    names_asked_of,
    nodeid_of,
    preset_of,
    split_name,
)
from pytest_judgesense.suites.builtin import builtin_suites
from pytest_judgesense.suites.loading import load_suite, presets_of
from pytest_judgesense.suites.suite import CheckDeclaration, Suite

ItemNames: TypeAlias = Sequence[tuple[str, ...]]
_Declared: TypeAlias = tuple[DeclaredCheck, CheckDeclaration]


def builtin_items(session: pytest.Session, argument: BuiltinArgument) -> Iterator[pytest.Item]:
    """The items of a built-in suite, or those that the rest of a node id names."""
    file = SuiteFile.from_parent(
        session,
        path=argument.path,
        nodeid=argument.nodeid,
        start=session.config.invocation_params.dir,
        names=[argument.names],
    )
    items = list(session.genitems(file))
    wanted = "::".join([argument.nodeid, *argument.names])
    matching = [item for item in items if (item.nodeid + "::").startswith(wanted + "::")]
    if argument.names and items and not matching:
        raise usage_error(
            f"not found: {wanted}\n(no such name among: "
            + listed(item.nodeid.removeprefix(argument.nodeid + "::") for item in items)
            + ")"
        )
    yield from matching


class SuiteFile(pytest.File):
    """A ``*.suite.toml``."""

    def __init__(
        self, *, start: Path | None = None, names: ItemNames | None = None, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        # Judges are looked up from here: for a built-in suite not in the installation.
        self.start = start or self.path.parent
        self._base = self.path.name.removesuffix(SUFFIX)
        self.item_names = names_asked_of(self.config, self.path) if names is None else names
        self._state = state_of(self.config)
        # Here, because --lf skips `collect`: the family is all declared checks. The collection
        # reports errors of plugins.
        with suppress(ExtensionError):
            self._state.run.family.declared.append(self.members)

    @uncollected()
    def collect(self) -> Iterable[pytest.Collector]:
        try:
            self._refuse_path()
            judges, suites, declared = self._declared
            self._refuse_unchecked(suites)
            for suite in suites:
                # Its errors end the collection; the measurement repeats its warnings.
                self._state.run.measurements.lint(suite)
                of_suite = [member.check for member, _ in declared if member.suite is suite]
                for judge in judges:
                    self._state.run.measurements.refuse_function(judge, suite, of_suite)
        except UsageError as error:
            self._state.problems.append(str(error))
            return []
        except JudgesenseError as error:
            # It was found, so that --judge-suite does not call it unknown as well.
            self._state.seen_suites.add(self._base)
            raise collect_error(error) from error
        nodes = []
        for judge in judges:
            node: JudgeNode = JudgeNode.from_parent(self, name=judge.slug)
            node.rivals = judges
            node.declared = [pair for pair in declared if pair[0].judge is judge]
            nodes.append(node)
        return nodes

    def _refuse_path(self) -> None:
        """Raise `UsageError` for a path that pytest, which prints it as it is, may not print."""
        if harmless(self.nodeid) != self.nodeid:
            raise UsageError(
                "a suite file cannot be measured under its path",
                found=printable(self.nodeid),
                expected="folders and a name without control characters, and without what a "
                "runner of CI reads as a command, such as :: at their beginning",
                remedy="rename it",
            )

    def _refuse_unchecked(self, suites: Sequence[Suite]) -> None:
        """Raise `UsageError` where a file is named and declares nothing that could be run.

        Within a folder it may be there for others, which take their items from it.
        """
        if self.item_names and suites and not any(suite.checks for suite in suites):
            raise UsageError(
                f"suite {suites[0].name} has no checks, so no judge would be asked",
                found=f"no [checks] for it in {self.path.name}",
                expected="one or more, such as unparsed_rate_ceiling = 0.02",
                remedy="add [checks] to the file (judgesense explain NAME: what it means); "
                "judgesense record asks what has none, judgesense paper the presets of a paper",
            )

    @cached_property
    def _declared(self) -> tuple[list[JudgeSpec], list[Suite], list[_Declared]]:
        """The judges, the suites that they are measured on, and the checks of each judge."""
        registry, selected = self._state.plugins.registry, self._state.settings.suites
        suites = [load_suite(self.path, preset, registry.forms) for preset in self._presets()]
        self._state.seen_suites.update(suite.base for suite in suites)
        chosen = [suite for suite in suites if is_selected(suite.base, selected)]
        judges = self._state.run.measurements.judges(self.start, chosen[0].judges) if chosen else []
        named = any(split_name(name)[0] == self._base for name in selected)
        as_recorded = not named and [split_name(suite.name)[1] for suite in chosen] == [None]
        measured, checks = {}, {}
        declared = []
        for judge in judges:
            for suite in [self._as_recorded(chosen[0], judge)] if as_recorded else chosen:
                if suite.name not in measured:
                    measured[suite.name], checks[suite.name] = suite, self._checks(suite)
                declared += [
                    (DeclaredCheck(judge, suite, check), declaration)
                    for check, declaration in checks[suite.name]
                    # Some name the judge that they are for.
                    if check.judge in (None, judge.slug)
                ]
        return judges, list(measured.values()), declared

    def _checks(self, suite: Suite) -> list[tuple[Check, CheckDeclaration]]:
        """The checks of a suite, and the comparisons that a revision had and it has no more.

        Where a revision is the baseline, a branch cannot widen a margin for itself.
        """
        pairs = checks_of(suite, self._state.plugins.registry)
        then = self._state.run.family.checks_then(suite)
        if not then:
            return pairs
        from pytest_judgesense.checks.loosened import as_then

        held, dropped = as_then(then, [check for check, _ in pairs])
        declared = [declaration for _, declaration in pairs]
        declared += [
            CheckDeclaration(
                check.name, {"measure": check.measure, **check.bars, **check.condition}
            )
            for check in dropped
        ]
        return list(zip([*held, *dropped], declared, strict=True))

    def _as_recorded(self, whole: Suite, judge: JudgeSpec) -> Suite:
        """The design of a built-in suite that a judge is measured on if the user names none.

        Shipped models are recorded on presets, because a whole suite would take hours. They are
        replayed on what is recorded; the name of the preset is in every id.
        """
        # By name: the installed suites need not be those of the checkout.
        shipped = self._base in builtin_suites()
        if not shipped or self._state.settings.mode != "replay" or not comes_along(judge):
            return whole
        kinds = self._state.plugins.registry.forms
        return (
            self._state.run.measurements.recordings.largest_recorded(judge, self.path, kinds)
            or whole
        )

    def members(self) -> list[DeclaredCheck]:
        """The checks of the file; none where it is wrong, which its collection says."""
        try:
            return [member for member, _ in self._declared[2]]
        except JudgesenseError:
            return []

    def _presets(self) -> list[str | None]:
        named = map(split_name, self._state.settings.suites)
        presets = [preset for base, preset in named if base == self._base]
        # An id that is pasted back brings its preset with it.
        kinds = self._state.plugins.registry.forms
        recorded_presets = (
            presets_of(self.path, kinds) if any(map(preset_of, self.item_names)) else ()
        )
        pasted = [preset_of(names) for names in self.item_names if names]
        presets += [preset if preset in recorded_presets else None for preset in pasted]
        return list(dict.fromkeys(presets)) or [None]


class JudgeNode(pytest.Collector):
    """One judge under a suite file, with its checks."""

    rivals: Sequence[JudgeSpec]
    declared: Sequence[_Declared]

    def collect(self) -> Iterator[pytest.Item]:
        for member, declaration in self.declared:
            name = harmless(member.check.id_under(split_name(member.suite.name)[1]))
            nodeid = f"{self.nodeid}::{name}"
            item: CheckItem = CheckItem.from_parent(self, name=name, nodeid=nodeid, member=member)
            item.rivals, item.line = self.rivals, declaration.line
            item.add_marker(getattr(pytest.mark, member.check.name)(**declaration.arguments))
            yield item


def note_selected(state: State, items: Iterable[pytest.Item]) -> None:
    """Let the measurements know which judges the checks that are run ask, on which suites."""
    asked = {
        (item.judge.slug, item.suite.name, item.suite.path): (item.judge, item.suite)
        for item in items
        if isinstance(item, CheckItem)
    }
    state.run.measurements.selected = tuple(asked.values())


class CheckItem(pytest.Item):
    """One check of one judge on one suite.

    Plugins that run or copy tests once more expect of an item what pytest's own have:
    pytest-retry `_initrequest`, pytest-flakefinder that and `function`.

    Attributes:
        obj: as of a doctest, no object of a module is tested.
        funcargs: there are no fixtures.
    """

    rivals: Sequence[JudgeSpec]
    line: int | None
    obj = None

    def __init__(self, *, member: DeclaredCheck, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.judge, self.suite, self.check = self.member = member
        self._initrequest()

    def _initrequest(self) -> None:
        """Make the item ready for a run: its first, or one more."""
        self.funcargs: dict[str, object] = {}

    @property
    def function(self) -> Callable[[], None]:
        """What is called to run the check."""
        return self.runtest

    def runtest(self) -> None:
        """Measure, once a session, and compare the estimate with the bar."""
        with ended_by_us(self):
            require_pass(self, state_of(self.config).run, self.member, self.rivals)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """The evidence of a check, or the message of our error, without a traceback."""
        if isinstance(excinfo.value, CheckFailed | JudgesenseError):
            nodeid, tb = nodeid_of(self), self.config.getoption("tbstyle")
            whole = self.config.get_verbosity() >= EVERYTHING or tb == "long"
            failures, judge = state_of(self.config).failures, self.judge.slug
            text = failures.text_of(excinfo.value, judge, nodeid, whole=whole)
            return representation(excinfo, text, nodeid.partition("::")[0], self.line, tb)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        line = self.line - 1 if self.line else None
        return self.path, line, f"{self.judge.slug} {self.name}"
