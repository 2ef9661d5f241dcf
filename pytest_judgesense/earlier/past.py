"""What a judge was measured to be at a revision of the repository: its recording is the baseline.

Suites, items, prompt files, judge tables and recordings are read as they stood there. Nothing is
rendered, matched or run: the recorded answers are taken by trial, so that neither the prompt nor
the code of that time has to be there any more.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any, Final, TypeAlias

from pytest_judgesense.cassettes.exchange import Exchange, models_of
from pytest_judgesense.checks.reference import (
    ComparedLabels,
    Reference,
    clusters_differ,
    design_as_then,
    label_changes,
    refuse_renamed_labels,
)
from pytest_judgesense.checks.regression import Changes, Side
from pytest_judgesense.checks.sent import SentChange, changes_sent
from pytest_judgesense.earlier.baseline import Measured
from pytest_judgesense.earlier.successors import (
    PROJECT_FILE,
    Declared,
    RecordedThen,
    Successors,
    table_at,
)
from pytest_judgesense.errors import JudgesenseError, UsageError, listed
from pytest_judgesense.estimate import find_estimate
from pytest_judgesense.files.limits import toml_value
from pytest_judgesense.files.opening import read_text
from pytest_judgesense.files.pytest_ini import INI_FILES, pytest_options
from pytest_judgesense.judges.calls import identity_of, judgment_of
from pytest_judgesense.judges.code_digest import code_change, code_since, is_code_of, of_other_code
from pytest_judgesense.judges.jury import jury_judgments
from pytest_judgesense.judges.local import JUDGES
from pytest_judgesense.judges.prompts import suite_for_judge
from pytest_judgesense.judges.remembered import recorded_trials, remembered
from pytest_judgesense.judges.resolving import declared_judges, retired_names, with_others
from pytest_judgesense.judges.spec import JudgeSpec, slug_of, table_of
from pytest_judgesense.measures.bar import Check
from pytest_judgesense.measures.cell import Cell, answered
from pytest_judgesense.registry import Registry
from pytest_judgesense.revisions.revision import Revision
from pytest_judgesense.suites.builtin import builtin_cassette, cassettes_in, is_built_in
from pytest_judgesense.suites.finding import some
from pytest_judgesense.suites.item import Item
from pytest_judgesense.suites.loading import load_suite
from pytest_judgesense.suites.matched import (
    MatchedItems,
    match_items,
    match_templates,
    match_trials,
)
from pytest_judgesense.suites.people import people_file
from pytest_judgesense.suites.planning import plan_trials
from pytest_judgesense.suites.signatures import files_of_function
from pytest_judgesense.suites.suite import Suite
from pytest_judgesense.trial import Design, Judgment, Trial

# Behind the id of a trial that is not asked again.
_GONE: Final = " (gone)"
_CONFTEST: Final = "conftest.py"
_CALLABLE: Final = "callable"
_FUNCTION: Final = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*")


class NotCompared(UsageError):
    """There is nothing at the revision to compare with; no fault of anybody."""


# The recorded exchanges by trial.
ExchangesByTrial: TypeAlias = Mapping[str, Sequence[Exchange]]


@dataclass(frozen=True)
class Past:
    """One judge on one suite at a revision.

    Attributes:
        measured: its estimates and judgments: those of trials that are asked again under the trials
            of today, with today's labels, the others under ids of their own.
        judge: as it was.
        exchanges: what was recorded, by the trial of then.
        again: by the id of a trial of then, the trial of today that asks it again.
        matched: the items of then and of today.
        then: the items of then by id; ``now``: those of today.
        name: of the revision.
        today: the judge as it is.
        design: of today, with what was counted then; ``None`` if that is the same.
        same_conftests: whether the files ``conftest.py``, which may change any judge, are as then.
        is_checked_out: whether the revision is the commit that is checked out.
    """

    measured: Measured
    judge: JudgeSpec
    exchanges: ExchangesByTrial
    again: Mapping[str, Trial]
    matched: MatchedItems
    then: Mapping[str, Item]
    now: Mapping[str, Item]
    name: str
    today: JudgeSpec
    design: Design | None = None
    same_conftests: bool = True
    is_checked_out: bool = False

    def measures(self, check: Check) -> bool:
        """Whether what a check compares had a value."""
        estimate = find_estimate(self.measured.side.estimates, check.measure, check.condition)
        return estimate is not None and estimate.value is not None

    @cached_property
    def edited(self) -> frozenset[str]:
        """Ids of the trials of today whose items have other texts than then."""
        items = {*self.matched.edited.values()}
        return frozenset(trial.id for trial in self.again.values() if trial.item in items)

    @cached_property
    def _pairs(self) -> list[tuple[Item, Item]]:
        """Each item that is still there, as it was and as it is."""
        return [(self.then[old], self.now[new]) for old, new in self.matched.now.items()]

    @cached_property
    def labels(self) -> ComparedLabels:
        """Under which labels the trials of today are compared."""
        then = {now.id: then for then, now in self._pairs}
        return ComparedLabels.of(
            (trial, then[trial.item], self.now[trial.item]) for trial in self.again.values()
        )

    def reference(self, suite: Suite, now: ExchangesByTrial) -> Reference:
        """It, as checks compare the judge of today with it; the arguments of `is_same_judge`."""
        same_judge = self.is_same_judge(suite, now)
        blocked = self._newly_of_any_code(now)
        return Reference(
            self.measured.side, self.edited, self.labels, self.design, same_judge, blocked
        )

    def _newly_of_any_code(self, now: ExchangesByTrial) -> str:
        """That returns of other code are taken and were not then; empty where none are."""
        judge = self.today
        if judge.code != "any" or self.judge.code == "any":
            return ""
        other = of_other_code(
            judge, (now[trial.id] for trial in self.again.values() if trial.id in now)
        )
        return (
            f'{other} returns are of other code, and code = "any" was not there at {self.name}: '
            "record them again, or allow it in a separate commit"
            if other
            else ""
        )

    def changes(self, now: ExchangesByTrial) -> Changes:
        """What differs from what is sent ``now``, and in the code, in the trials that both have."""
        sent, trials = self._sent(now)
        lines = [line for change in sent for line in change.shown]
        summaries = [change.summary for change in sent]
        if not sent:
            lines = [f"nothing in what was sent: all requests of {trials} trials are equal"]
            summaries = ["nothing changed in what was sent"]
        code = code_change(self._in_both(now))
        if not code and self.today.provider == _CALLABLE:
            code = code_since(self.today, self.exchanges.values())
        if code:
            lines.append(code)
            summaries.append(code)
        return Changes((*lines, *self.notices), "; ".join(summaries))

    def is_same_judge(self, suite: Suite, now: ExchangesByTrial) -> bool:
        """Whether the judge of today is known to be that of then.

        Its settings are equal, and so are all requests about items with the same texts and the
        models that were asked and that answered; and of a function its code and the files that it
        opened, also where they changed no verdict, and what may change it from outside.

        Args:
            suite: as it is asked today.
            now: what is recorded of it, by trial.
        """
        sent, trials = self._sent(now)
        judge = self.today
        then, today = self.measured.identity, identity_of(judge, suite)
        keys = {*then, *today} - {"name", "own_prompts"}
        if judge.members:
            keys -= {"model"}  # of a jury it is the names of its members
        models = [
            {asked: {*served} for asked, served in models_of(chain.from_iterable(of)).items()}
            for of in (self.exchanges.values(), now.values())
        ]
        return (
            bool(trials)
            and not sent
            and models[0] == models[1]
            and all(then.get(key) == today.get(key) for key in keys)
            and (judge.provider != _CALLABLE or self._has_same_code(now))
            # Which member's code an exchange is of is not told.
            and all(member.provider != _CALLABLE for member in judge.members)
        )

    def _has_same_code(self, now: ExchangesByTrial) -> bool:
        """Whether a function is known to be of the code of then, whose copy is judged too.

        A file that was not there then is among those that are recorded now.
        """
        return (
            self.same_conftests
            and self.today.installed == self.judge.installed
            and not code_change(self._in_both(now))
            and is_code_of(self.today, self.exchanges.values())
            and is_code_of(self.today, now.values())
        )

    def _in_both(
        self, now: ExchangesByTrial
    ) -> list[tuple[Sequence[Exchange], Sequence[Exchange]]]:
        """What was recorded then and now of the trials that are asked again."""
        return [
            (self.exchanges[id_], now[trial.id])
            for id_, trial in self.again.items()
            if id_ in self.exchanges and trial.id in now
        ]

    def notices_of(self, judgments: Iterable[Judgment]) -> tuple[str, ...]:
        """The notices, with the verdicts that are missing now, or were missing then."""
        then = self.measured.side.by_id
        pairs = [(then[now.trial.id], now) for now in judgments if now.trial.id in then]
        lost = sum(answered(old) and not answered(new) for old, new in pairs)
        gained = sum(answered(new) and not answered(old) for old, new in pairs)
        if not lost:
            return self.notices
        verdicts = f"{lost} verdicts of {self.name} are missing now, and {gained} are new"
        return (*self.notices, verdicts)

    def is_itself(self, judgments: Sequence[Judgment], now: ExchangesByTrial) -> bool:
        """Whether the judge is compared with itself: nothing differs from what is checked out.

        What is recorded is the same, and so are the items, the verdicts that are read from it, and
        the code.

        Args:
            judgments: of today.
            now: what is recorded today, by trial.
        """
        then = {self.again[id_].id: of for id_, of in self.exchanges.items() if id_ in self.again}
        outcomes = {id_: judgment.outcome for id_, judgment in self.measured.side.by_id.items()}
        return (
            self.is_checked_out
            and self.same_conftests
            and self.design is None
            and not self.notices
            and then == now
            and outcomes == {judgment.trial.id: judgment.outcome for judgment in judgments}
            and not (
                self.today.provider == _CALLABLE and code_since(self.today, self.exchanges.values())
            )
        )

    def _sent(self, now: ExchangesByTrial) -> tuple[list[SentChange], int]:
        """What changed in the requests about items with the same texts; and of how many trials."""
        texts = {new: _texts_of(self.now[new]) for new in self.matched.same.values()}
        pairs = [
            (
                [exchange.request for exchange in self.exchanges[id_]],
                [exchange.request for exchange in now[trial.id]],
                texts[trial.item],
            )
            for id_, trial in self.again.items()
            if trial.item in texts and id_ in self.exchanges and trial.id in now
        ]
        return changes_sent(pairs), len(pairs)

    @cached_property
    def notices(self) -> tuple[str, ...]:
        """What of the items and the labels is not the same, in sentences."""
        return tuple(self._notices())

    def _notices(self) -> Iterator[str]:
        matched, of = self.matched, len(self.then)
        if matched.gone:
            gone = f"{len(matched.gone)} of {of} items are gone since {self.name}"
            yield f"{gone} {_named(matched.gone)}"
        if matched.edited:
            edited = [*matched.edited.values()]
            others = f"{len(edited)} of {of} items have other texts than at {self.name}"
            yield f"{others} {_named(edited)}"
        if kept := [now.id for then, now in self._edited if _keeps_label(then, now)]:
            yield f"{len(kept)} of these have the label of then"
        if matched.new:
            yield f"{len(matched.new)} new items are not compared {_named(matched.new)}"
        still = {*matched.now}
        if again := sum(
            judgment.trial.item in still
            for id_, judgment in self.measured.side.by_id.items()
            if id_.endswith(_GONE)
        ):
            yield (
                f"{again} trials of {self.name} are not asked again, or their labels mean the "
                "opposite now"
            )
        if clusters_differ(self._pairs):
            yield f"other items are one cluster than at {self.name}"
        changed, removed = label_changes(self._pairs)
        if changed:
            yield f"{len(changed)} items have another label than at {self.name} {_named(changed)}"
        if removed:
            yield f"{len(removed)} labels were removed and count as they were {_named(removed)}"

    @property
    def _edited(self) -> list[tuple[Item, Item]]:
        return [(self.then[old], self.now[new]) for old, new in self.matched.edited.items()]


def _keeps_label(then: Item, now: Item) -> bool:
    return then.right is not None and then.right == now.right


def _named(items: Iterable[str]) -> str:
    """The first of the items, behind their number."""
    return f"({some(items)})"


@dataclass(frozen=True)
class PastReader:
    """Reads measurements at a revision.

    Attributes:
        revision: where they are read.
        root: the folder whose ``pyproject.toml``, or one above it, declares the judges.
        cassettes: the folder of the recordings, as it is called today.
        folder: an empty folder for the files as they stood.
        seed: of the estimators.
        judges: gives those of the session and of Python code, which no table need declare.
        cassettes_then: the folder of the recordings there, where there are several.
    """

    revision: Revision
    root: Path
    cassettes: Path
    folder: Path
    seed: int
    registry: Registry
    judges: Callable[[], Iterable[JudgeSpec]] = tuple
    cassettes_then: Path | None = None
    _read: dict[tuple[str, str, Path], Past | JudgesenseError] = field(
        default_factory=dict, repr=False
    )

    @cached_property
    def _successors(self) -> Successors:
        today = Declared.below(self.root, self.judges(), self.registry)
        return Successors(self._then, today, self.revision.name)

    @cached_property
    def _then(self) -> RecordedThen:
        return RecordedThen.read(self.revision, self.root, self.folder)

    def refuse_lost(self) -> None:
        """Raise `UsageError` if something was there of which nobody says what became."""
        self._successors.refuse_lost()

    def past(self, judge: JudgeSpec, suite: Suite) -> Past:
        """The judge on the suite as they were.

        Args:
            judge: as it is today; what its table was is read at the revision.
            suite: as its file is today, without the judge's prompts.

        Raises:
            NotCompared: the suite or the recording was not there yet.
            NoRevision, CassetteError, SuiteError, UsageError: it cannot be read, or something was
                there of which nobody says what became, or it is a jury of Python code, or verdicts
                have labels that there are no more; with a remedy.
        """
        key = judge.slug, suite.name, suite.path
        if key not in self._read:
            try:
                self.refuse_lost()
                self._read[key] = self._past(judge, suite)
            except JudgesenseError as error:
                self._read[key] = error.with_texts(self._at_revision)
        past = self._read[key]
        if isinstance(past, JudgesenseError):
            raise past
        return past

    def _at_revision(self, text: str) -> str:
        """``text`` with files as git names them, ``REF:PATH``: those written here will be gone."""
        return text.replace(f"{self.folder}{os.sep}", f"{self.revision.name}:")

    def _past(self, judge: JudgeSpec, suite: Suite) -> Past:
        loaded = self.suite(suite)
        start = self.root if is_built_in(suite.path) else suite.path.parent
        declared = self._judges(start)
        slug, judge_then = self._judge_then(judge, loaded, declared)
        suite_then = suite_for_judge(loaded, judge_then)

        def exchanges_of(asked: JudgeSpec) -> ExchangesByTrial:
            return recorded_trials(self._cassettes(slug or self._slug(asked, loaded), suite_then))

        answered_then, exchanges = recorded_judgments(judge_then, loaded, exchanges_of)
        now = suite_for_judge(suite, judge)
        matched = match_items(suite_then.items, now.items)
        again = match_trials(suite_then, now, matched)
        if not any(judgment.trial.id in again for judgment in answered_then):
            raise UsageError(
                f"judge {judge.name} on suite {suite.name} has no trial in common with "
                f"{self.revision.name}",
                found=f"{len(exchanges)} recorded trials there, {len(plan_trials(now))} now; of "
                f"{len(suite_then.items)} items there {len(matched.now)} are there now",
                expected="items, templates, orders and replicates that are in both",
                remedy="compare with a revision at which the suite was the same",
            )
        asked_again = [judgment for judgment in answered_then if judgment.trial.id in again]
        refuse_renamed_labels(
            suite.name, suite_then.design, asked_again, now.design, at=f"at {self.revision.name}"
        )
        judgments = tuple(
            replace(
                judgment,
                trial=again.get(judgment.trial.id)
                or replace(judgment.trial, id=f"{judgment.trial.id}{_GONE}"),
                recorded_at=None,
            )
            for judgment in answered_then
        )
        identity = identity_of(judge_then, suite_then)
        measured = _measured(judge, now, identity, judgments, self.seed, self.registry)
        then, today = ({item.id: item for item in of.items} for of in (suite_then, now))
        templates = match_templates(suite_then.templates, now.templates)
        design = design_as_then(suite_then.design, now.design, templates)
        return Past(
            *(measured, judge_then, exchanges, again, matched, then, today, self.revision.name),
            judge,
            design,
            self._are_conftests_same(start),
            self.revision.is_checked_out,
        )

    def _are_conftests_same(self, start: Path) -> bool:
        """Whether each ``conftest.py`` that is loaded, or stands above ``start``, is as it was."""
        loaded = (getattr(module, "__file__", None) for module in [*sys.modules.values()])
        paths = {Path(file) for file in loaded if file and Path(file).name == _CONFTEST}
        paths |= {folder / _CONFTEST for folder in (start, *start.parents)}
        within = {
            path
            for path in paths
            if self.revision.contains(path) and (path.is_file() or self.revision.holds(path))
        }
        if not all(path.is_file() and self.revision.holds(path) for path in within):
            return False
        self.revision.write(within, self.folder)
        return all(
            path.read_bytes() == self.revision.place_in(self.folder, path).read_bytes()
            for path in within
        )

    def _judge_then(
        self, judge: JudgeSpec, suite: Suite, declared: Mapping[str, JudgeSpec]
    ) -> tuple[str, JudgeSpec]:
        """The slug by which a judge is recorded on a suite of then, and the judge as it was.

        A jury is not recorded: the slug is empty. What it was made of is said by its table of then,
        and by nothing of today.
        """
        if judge.jury is not None and judge.source is not None:
            raise self._made_in_python(judge)
        by_slug = {each.slug: each for each in declared.values()}
        was = by_slug.get(slug_of(judge.was)) if judge.was else None
        then = by_slug.get(judge.slug) or was
        if then is not None and then.jury is not None:
            return "", self._with_members(then, declared)
        if judge.jury is not None and not self._successors.judge(judge, suite.recordings):
            raise NotCompared(
                f"jury {judge.name} was not declared at {self.revision.name}{self._retired_since}"
            )
        slug = self._slug(judge, suite)
        return slug, by_slug.get(slug, judge if judge.jury is None else _by_returns(judge.name))

    def _made_in_python(self, jury: JudgeSpec) -> UsageError:
        return UsageError(
            f"jury {jury.name!r} is made by Python code: it cannot be compared with "
            f"{self.revision.name}",
            found=f"Judge({jury.name!r}, members=...) in {jury.source}",
            expected="a table: what a jury was made of is read there, for it has no recording and "
            "code of a revision is not run",
            remedy=f"declare it in {PROJECT_FILE}, {table_of(jury.name)} members = [...], which "
            "may name judges of conftest.py; or compare with a file: --judge-baseline PATH",
        )

    def _with_members(self, jury: JudgeSpec, declared: Mapping[str, JudgeSpec]) -> JudgeSpec:
        """A jury that a table of then declared, of members as they were.

        A member that no table of then declares is one of Python code. It is known by its recording,
        whether or not it is there today.
        """
        assert jury.jury is not None, "only a jury has members"
        judges = {
            name: _by_returns(name)
            for name in jury.jury.members
            if ":" not in name and name not in JUDGES
        }
        judges |= {each.name: each for each in self.judges() if each.jury is None}
        judges |= declared
        return with_others(jury, judges, self.registry.providers, self.root)

    def _slug(self, judge: JudgeSpec, suite: Suite) -> str:
        """The slug by which a judge is recorded on a suite of then."""
        slug = self._successors.judge(judge, suite.recordings)
        if not slug and not is_built_in(suite.path):
            raise self._not_recorded(judge.name, suite)
        return slug or judge.slug

    def _not_recorded(self, judge: str, suite: Suite) -> NotCompared:
        return NotCompared(
            f"judge {judge} on suite {suite.name} was not recorded at {self.revision.name}"
            f"{self._retired_since}"
        )

    @property
    def _retired_since(self) -> str:
        """What was there instead, behind a sentence on what was not."""
        others = listed(self.newly_retired)
        return f"; {others} was, and is called retired now" if others else ""

    @cached_property
    def newly_retired(self) -> tuple[str, ...]:
        """The judges and suites that were there and are called retired since then."""
        table = self.root / PROJECT_FILE
        before: tuple[str, ...] = ()
        if self.revision.contains(table) and self.revision.holds(table):
            self.revision.write([table], self.folder)
            before = retired_names(self.revision.place_in(self.folder, table).parent)
        return self._successors.retired(before)

    def _judges(self, start: Path) -> dict[str, JudgeSpec]:
        """The judges that were declared for a folder: in the nearest file in it or above."""
        table = table_at(self.revision, start)
        if table is None:
            return {}
        self._write_with_named(table)
        folder = self.revision.place_in(self.folder, table).parent
        return declared_judges(folder, self.registry.providers)

    def suite(self, suite: Suite) -> Suite:
        """A suite of today as its file stood, without the prompts of a judge.

        Raises:
            NotCompared: it was not there yet.
            NoRevision, SuiteError: it cannot be read.
        """
        preset = suite.name.partition("@")[2] or None
        if is_built_in(suite.path):
            return load_suite(suite.path, preset, self.registry.forms)
        path = self._then.place_of(suite)
        if path is None:
            raise NotCompared(f"suite {suite.name} was not there at {self.revision.name}")
        self._judges(path.parent)  # what functions take is part of what items are
        self._write_with_named(path)
        if self.revision.holds(labels := people_file(path)):
            self.revision.write([labels], self.folder)
        return load_suite(self.revision.place_in(self.folder, path), preset, self.registry.forms)

    def _cassettes(self, judge: str, suite: Suite) -> list[Path]:
        """The recordings of a judge, by its slug of then, on a suite of then."""
        paths = []
        for recording in suite.recordings:
            relative = Path(judge) / f"{recording}.jsonl"
            path = self._then.file_of(judge, recording, self.cassettes_then or self.cassettes)
            if path is not None:
                self.revision.write([path], self.folder)
                paths.append(self.revision.place_in(self.folder, path))
            elif not (self.cassettes / relative).exists() and (
                installed := builtin_cassette(relative)
            ):
                paths.append(installed)
            else:
                raise self._not_recorded(judge, suite)
        return paths

    def ini(self, start: Path) -> Mapping[str, Any]:
        """The options that pytest's ini file had, which is looked for upward from ``start``."""
        return ini_at(self.revision, start, self.folder)

    def _write_with_named(self, path: Path) -> None:
        """Write a TOML file, and the files that its values name, as they stood."""
        pending, written = [path], set[Path]()
        while pending:
            path = pending.pop()
            written.add(path)
            self.revision.write([path], self.folder)
            if path.suffix == ".toml":
                place = self.revision.place_in(self.folder, path)
                texts = [*_texts(toml_value(read_text(place)))]
                named = {path.parent / text for text in texts}
                for text in filter(_FUNCTION.fullmatch, texts):
                    self._write_function(path, text)
                pending += sorted(
                    other
                    for other in map(_plain, named)
                    if self.revision.contains(other)
                    and self.revision.holds(other)
                    and other not in written
                )

    def _write_function(self, table: Path, function: str) -> None:
        """Write the files that say what ``module:function`` takes, and so which fields are shown.

        It is named by a written file ``table``. Only what is written says where it leads to.
        """
        folder = self.revision.place_in(self.folder, table).parent
        written = set[Path]()
        while True:
            named = files_of_function(folder, function)
            files = {table.parent / file.relative_to(folder) for file in named}
            new = {file for file in files - written if self.revision.holds(file)}
            if not new:
                return
            self.revision.write(new, self.folder)
            written |= new


def _by_returns(name: str) -> JudgeSpec:
    """A judge of Python code that is there no more: what it returned is recorded."""
    return JudgeSpec(name, "callable", "")


def ini_at(revision: Revision, start: Path, folder: Path) -> Mapping[str, Any]:
    """The options that pytest's ini file had at a revision, looked for upward from ``start``.

    Args:
        revision: where it is read.
        start: a folder of the working tree.
        folder: where files are written as they stood.
    """
    above = [place for place in (start, *start.parents) if revision.contains(place)]
    if start not in above:
        return {}
    paths = [place / name for place in above for name in dict(INI_FILES)]
    revision.write([path for path in paths if revision.holds(path)], folder)
    file, options = pytest_options(revision.place_in(folder, start / PROJECT_FILE).parent)
    return options if file.is_relative_to(folder) else {}


def measured_now(
    judge: JudgeSpec, suite: Suite, cassettes: Path, seed: int, registry: Registry
) -> tuple[Measured, ExchangesByTrial]:
    """A judge on a suite as the recordings say, without running anything; and what they hold.

    Raises:
        NoReturns, CassetteError: the recordings cannot be read so.
    """
    cell, recorded = recorded_cell(judge, suite, cassettes, seed, registry)
    identity = identity_of(judge, suite_for_judge(suite, judge))
    return Measured(judge.name, suite.name, identity, Side.of(cell)), recorded


def recorded_cell(
    judge: JudgeSpec, suite: Suite, cassettes: Path, seed: int, registry: Registry
) -> tuple[Cell, ExchangesByTrial]:
    """The judgments of `measured_now` alone: nothing is estimated.

    Args:
        judge: whose recordings are in the folder ``cassettes``, or in the installation.
        suite: without the judge's prompts.
        cassettes: that folder.
        seed: of the estimators.
        registry: the measures.
    """
    judgments, recorded = recorded_judgments(
        judge,
        suite,
        lambda asked: recorded_trials(
            path
            for path in cassettes_in(cassettes, asked.slug, suite.recordings).values()
            if path.is_file()
        ),
    )
    return _cell(judge, suite_for_judge(suite, judge), judgments, seed, registry), recorded


def recorded_judgments(
    judge: JudgeSpec, suite: Suite, exchanges_of: Callable[[JudgeSpec], ExchangesByTrial]
) -> tuple[tuple[Judgment, ...], ExchangesByTrial]:
    """The judgments of those trials of a suite that are recorded, and what is.

    Of a jury those that its members' make, and what is recorded of all of them.

    Args:
        judge: as it was when it was recorded.
        suite: without the judge's prompts.
        exchanges_of: what is recorded of a judge that was asked, by trial.
    """
    if judge.members:
        parts = {
            member.slug: recorded_judgments(member, suite, exchanges_of) for member in judge.members
        }
        by_member = {member.name: parts[member.slug][0] for member in judge.members}
        every: dict[str, list[Exchange]] = {}
        # In the order of `measurement.jury_measurement`, whatever that of the members is.
        for slug in sorted(parts):
            for id_, exchanges in parts[slug][1].items():
                every.setdefault(id_, []).extend(exchanges)
        return jury_judgments(judge, suite_for_judge(suite, judge), by_member), every
    own_suite, recorded = suite_for_judge(suite, judge), exchanges_of(judge)
    trials = plan_trials(own_suite)
    answers = remembered(judge, own_suite, trials, recorded)
    return tuple(
        judgment_of(own_suite, judge, trial, answers[trial.id], _recorded_at(recorded, trial))
        for trial in trials
        if trial.id in answers
    ), recorded


def _recorded_at(recorded: ExchangesByTrial, trial: Trial) -> str | None:
    """When the last answer to a trial was recorded; ``None`` of one that needs no recording."""
    return max((exchange.recorded_at for exchange in recorded.get(trial.id, ())), default=None)


def _measured(
    judge: JudgeSpec,
    suite: Suite,
    identity: Mapping[str, Any],
    judgments: tuple[Judgment, ...],
    seed: int,
    registry: Registry,
) -> Measured:
    cell = _cell(judge, suite, judgments, seed, registry)
    return Measured(judge.name, suite.name, identity, Side.of(cell))


def _cell(
    judge: JudgeSpec,
    suite: Suite,
    judgments: tuple[Judgment, ...],
    seed: int,
    registry: Registry,
) -> Cell:
    measures = registry.measures_on(suite.kind, suite.name)
    return Cell.with_controls_apart(judge.name, suite.name, suite.design, judgments, seed, measures)


def _texts_of(item: Item) -> dict[str, str]:
    """The texts of an item by name: its fields, and its contents as ``1`` and ``2``."""
    contents = {str(number): text for number, text in enumerate(item.contents, start=1)}
    return {**item.fields, **contents}


def _texts(value: Any) -> Iterator[str]:
    """The texts in a table that may be names of files."""
    if isinstance(value, str):
        if value and "\n" not in value and "\0" not in value and len(value) < 1000:
            yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)


def _plain(path: Path) -> Path:
    """The path without ``..``."""
    parts: list[str] = []
    for part in path.parts:
        if part == ".." and parts:
            parts.pop()
        elif part != ".":
            parts.append(part)
    return Path(*parts)
