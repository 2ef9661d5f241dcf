"""What a judge was measured to be at a revision of the repository: its recording is the baseline.

Suites, items, prompt files, judge tables and recordings are read as they stood there. Nothing is
rendered, matched or run: the recorded answers are taken by trial, so that neither the prompt nor
the code of that time has to be there any more.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, TypeAlias

from pytest_judgesense.baseline import Measured
from pytest_judgesense.cassettes.exchange import Exchange
from pytest_judgesense.checks.regression import Changes, Side
from pytest_judgesense.checks.sent import changes_sent
from pytest_judgesense.errors import JudgesenseError, UsageError
from pytest_judgesense.files import read_text
from pytest_judgesense.judges.calls import identity_of, judgment_of
from pytest_judgesense.judges.prompts import suite_for_judge
from pytest_judgesense.judges.remembered import recorded_trials, remembered
from pytest_judgesense.judges.resolving import declared_judges
from pytest_judgesense.judges.spec import JudgeSpec
from pytest_judgesense.limits import toml_value
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.registry import Registry
from pytest_judgesense.revision import Revision
from pytest_judgesense.suites.builtin import builtin_cassette, is_built_in
from pytest_judgesense.suites.item import Item
from pytest_judgesense.suites.loading import load_suite
from pytest_judgesense.suites.planning import plan_trials
from pytest_judgesense.suites.suite import Suite
from pytest_judgesense.trial import Judgment

_PROJECT: Final = "pyproject.toml"


class NotCompared(UsageError):
    """There is nothing at the revision to compare with; no fault of anybody."""


# The recorded exchanges by trial.
ExchangesByTrial: TypeAlias = Mapping[str, Sequence[Exchange]]


@dataclass(frozen=True)
class Past:
    """One judge on one suite at a revision.

    Attributes:
        measured: its estimates and judgments, of the trials that are asked today as well.
        exchanges: what was recorded, by trial.
        notices: what of the suite is not the same, in sentences.
    """

    measured: Measured
    exchanges: ExchangesByTrial
    notices: tuple[str, ...]

    def changes(self, suite: Suite, now: ExchangesByTrial) -> Changes:
        """What differs from what is sent ``now``, in the trials that both have."""
        texts = {item.id: _texts_of(item) for item in suite.items}
        pairs = [
            (
                [exchange.request for exchange in self.exchanges[id_]],
                [exchange.request for exchange in now[id_]],
                texts[judgment.trial.item],
            )
            for id_, judgment in self.measured.side.by_id.items()
            if id_ in now
        ]
        sent = changes_sent(pairs)
        lines = [line for change in sent for line in change.shown]
        summary = "; ".join(change.summary for change in sent)
        if not sent:
            lines = [f"nothing in what was sent: all requests of {len(pairs)} trials are equal"]
            summary = "nothing changed in what was sent"
        return Changes((*lines, *self.notices), summary)


@dataclass(frozen=True)
class PastReader:
    """Reads measurements at a revision.

    Attributes:
        revision: where they are read.
        root: the folder whose ``pyproject.toml``, or one above it, declares the judges.
        cassettes: the folder of the recordings, as it is called today.
        folder: an empty folder for the files as they stood.
        seed: of the estimators.
    """

    revision: Revision
    root: Path
    cassettes: Path
    folder: Path
    seed: int
    registry: Registry
    _read: dict[tuple[str, str, Path], Past | JudgesenseError] = field(
        default_factory=dict, repr=False
    )

    def past(self, judge: JudgeSpec, suite: Suite) -> Past:
        """The judge on the suite as they were.

        Args:
            judge: as it is today; what its table was is read at the revision.
            suite: as its file is today, without the judge's prompts.

        Raises:
            NotCompared: the suite or the recording was not there yet.
            NoRevision, CassetteError, SuiteError, UsageError: it cannot be read; with a remedy.
        """
        key = judge.slug, suite.name, suite.path
        if key not in self._read:
            try:
                self._read[key] = self._past(judge, suite)
            except JudgesenseError as error:
                self._read[key] = error
        past = self._read[key]
        if isinstance(past, JudgesenseError):
            raise past
        return past

    def _past(self, judge: JudgeSpec, suite: Suite) -> Past:
        judge_then = self._judges(suite).get(judge.name, judge)
        suite_then = suite_for_judge(self._suite(suite), judge_then)
        exchanges = recorded_trials(self._cassettes(judge_then, suite_then))
        now = suite_for_judge(suite, judge)
        trials_now = {trial.id: trial for trial in plan_trials(now)}
        items_then = {item.id: item for item in suite_then.items}
        changed = {item.id for item in now.items if not _same(item, items_then.get(item.id))}
        common = [
            trial
            for trial in plan_trials(suite_then)
            if trial.id in trials_now and trial.item not in changed
        ]
        answers = remembered(judge_then, suite_then, common, exchanges)
        if not answers:
            raise UsageError(
                f"judge {judge.name} on suite {suite.name} has no trial in common with "
                f"{self.revision.name}",
                found=f"{len(exchanges)} recorded trials there, {len(trials_now)} now; "
                f"{len(changed)} of {len(now.items)} items are new or changed",
                expected="items, templates, orders and replicates that are in both",
                remedy="compare with a revision at which the suite was the same",
            )
        judgments = tuple(
            # The labels are today's: a corrected label is no change of the judge.
            replace(
                judgment_of(suite_then, judge_then, trial, answers[trial.id]),
                trial=trials_now[trial.id],
            )
            for trial in common
            if trial.id in answers
        )
        identity = identity_of(judge_then, suite_then)
        measured = _measured(judge, now, identity, judgments, self.seed, self.registry)
        return Past(measured, exchanges, tuple(self._notices(now, changed, items_then)))

    def _notices(
        self, now: Suite, changed: set[str], items_then: Mapping[str, Item]
    ) -> Iterator[str]:
        new = changed - items_then.keys()
        if edited := changed - new:
            yield (
                f"items of {now.name} with other texts than at {self.revision.name}, which are not "
                f"compared: {len(edited)}"
            )
        if new:
            yield f"items of {now.name} that are new since {self.revision.name}: {len(new)}"
        if gone := items_then.keys() - {item.id for item in now.items}:
            yield f"items of {now.name} that are gone since {self.revision.name}: {len(gone)}"

    def _judges(self, suite: Suite) -> dict[str, JudgeSpec]:
        """The judges that were declared for a suite: in the nearest file at its folder or above."""
        start = self.root if is_built_in(suite.path) else suite.path.parent
        places = [folder / _PROJECT for folder in (start, *start.parents)]
        within = (path for path in places if self.revision.contains(path))
        table = next(filter(self.revision.holds, within), None)
        if table is None:
            return {}
        self._write_with_named(table)
        folder = self.revision.place_in(self.folder, table).parent
        return declared_judges(folder, self.registry.providers)

    def _suite(self, suite: Suite) -> Suite:
        preset = suite.name.partition("@")[2] or None
        if is_built_in(suite.path):
            return load_suite(suite.path, preset, self.registry.forms)
        holds = self.revision.holds(suite.path)
        if path := suite.path if holds else self.revision.moved_from(suite.path):
            self._write_with_named(path)
            place = self.revision.place_in(self.folder, path)
            suite_then = load_suite(place, preset, self.registry.forms)
            if holds or suite_then.name == suite.name:
                return suite_then
        raise NotCompared(f"suite {suite.name} was not there at {self.revision.name}")

    def _cassettes(self, judge: JudgeSpec, suite: Suite) -> list[Path]:
        paths = []
        for recording in suite.recordings:
            relative = Path(judge.slug) / f"{recording}.jsonl"
            path = self.cassettes / relative
            if self.revision.holds(path):
                self.revision.write([path], self.folder)
                paths.append(self.revision.place_in(self.folder, path))
            elif not path.exists() and (installed := builtin_cassette(relative)):
                paths.append(installed)
            else:
                raise NotCompared(
                    f"judge {judge.name} on suite {suite.name} was not recorded at "
                    f"{self.revision.name}"
                )
        return paths

    def _write_with_named(self, path: Path) -> None:
        """Write a TOML file, and the files that its values name, as they stood."""
        pending, written = [path], set[Path]()
        while pending:
            path = pending.pop()
            written.add(path)
            self.revision.write([path], self.folder)
            if path.suffix == ".toml":
                place = self.revision.place_in(self.folder, path)
                named = {path.parent / text for text in _texts(toml_value(read_text(place)))}
                pending += sorted(
                    other
                    for other in map(_plain, named)
                    if self.revision.contains(other)
                    and self.revision.holds(other)
                    and other not in written
                )


def measured_now(
    judge: JudgeSpec, suite: Suite, cassettes: Iterable[Path], seed: int, registry: Registry
) -> tuple[Measured, ExchangesByTrial]:
    """A judge on a suite as the recordings say, without running anything; and what they hold.

    Raises:
        NoReturns, CassetteError: the recordings cannot be read so.
    """
    cell, recorded = recorded_cell(judge, suite, cassettes, seed, registry)
    identity = identity_of(judge, suite_for_judge(suite, judge))
    return Measured(judge.name, suite.name, identity, Side.of(cell)), recorded


def recorded_cell(
    judge: JudgeSpec, suite: Suite, cassettes: Iterable[Path], seed: int, registry: Registry
) -> tuple[Cell, ExchangesByTrial]:
    """The judgments of `measured_now` alone: nothing is estimated."""
    own_suite = suite_for_judge(suite, judge)
    recorded = recorded_trials(cassettes)
    trials = plan_trials(own_suite)
    answers = remembered(judge, own_suite, trials, recorded)
    judgments = tuple(
        judgment_of(own_suite, judge, trial, answers[trial.id])
        for trial in trials
        if trial.id in answers
    )
    return _cell(judge, own_suite, judgments, seed, registry), recorded


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
    return Cell(judge.name, suite.name, suite.design, judgments, seed, measures)


def _texts_of(item: Item) -> dict[str, str]:
    """The texts of an item by name: its fields, and its contents as ``1`` and ``2``."""
    contents = {str(number): text for number, text in enumerate(item.contents, start=1)}
    return {**item.fields, **contents}


def _same(item: Item, other: Item | None) -> bool:
    """Whether two items show a judge the same texts under the same condition."""
    return other is not None and (
        (item.contents, dict(item.fields), dict(item.condition))
        == (other.contents, dict(other.fields), dict(other.condition))
    )


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
