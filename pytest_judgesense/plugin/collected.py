"""What this process of a session writes or sends, collected until it is taken."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from pytest_judgesense.cassettes.credentials import Credentials
from pytest_judgesense.cassettes.redaction import scrub, without_secrets
from pytest_judgesense.checks.verifying import Verification
from pytest_judgesense.datasheets.datasheet import CheckLine, SuiteSheet, UncomparedCheck
from pytest_judgesense.judges.throttle import Answer
from pytest_judgesense.measurement import Measurement
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.plugin.cassette_files import Recordings
from pytest_judgesense.plugin.results import KnownProposal, MeasuredPart, Results
from pytest_judgesense.plugin.screen import tables_shown
from pytest_judgesense.plugin.settings import Settings
from pytest_judgesense.trial import Failed, RequestCount

if TYPE_CHECKING:
    from pytest_judgesense.datasheets.live_sessions import JudgeTotals


class Collected:
    """The results of this process, without the credentials that it has met.

    Attributes:
        verified: what asking some trials again has shown.
        shard: the lines about what is recorded of a suite in this shard, each a text.
        notes: lines for the screen, where this process has none.
        proposals: how what fails could be declared known.
        before: the judgments of a measurement at the revision that is the baseline, if any.
        totals: what the history of live sessions keeps of a measurement, with its sheet, if any.
    """

    def __init__(
        self,
        config: pytest.Config,
        settings: Settings,
        credentials: Credentials,
        recordings: Recordings,
    ) -> None:
        self._config, self._settings = config, settings
        self.credentials, self._recordings = credentials, recordings
        suffixes = {path.suffix for path in settings.datasheets}
        self._wants_page = ".html" in suffixes
        self._wants_log = bool(settings.save_baseline or suffixes & {".jsonl", ".html"})
        self._pending: dict[tuple[str, str], tuple[Measurement, tuple[CheckLine, ...]]] = {}
        self._not_compared: dict[tuple[str, str], list[UncomparedCheck]] = {}
        self._luck: dict[tuple[str, str], dict[str, str | None]] = {}
        self._against: dict[tuple[str, str], tuple[str, ...]] = {}
        self._questions: Counter[str] = Counter()
        self._unmeasured: dict[str, dict[str, RequestCount]] = {}
        self._last_secrets = Results()
        self.verified: list[Verification] = []
        self.shard: list[str] = []
        self.notes: list[str] = []
        self.proposals: list[KnownProposal] = []
        self.before: Callable[[Measurement], Cell | None] = lambda _: None
        self.totals: Callable[[Measurement, SuiteSheet], JudgeTotals | None] = lambda *_: None

    def add(self, measurement: Measurement, *lines: CheckLine) -> None:
        """Let the datasheet show a measurement, with these checks."""
        key = (measurement.judge.slug, measurement.suite.name)
        _, before = self._pending.get(key, (measurement, ()))
        self._pending[key] = (measurement, (*before, *lines))

    def add_not_compared(self, measurement: Measurement, check: UncomparedCheck) -> None:
        """Let the datasheet show a measurement, and a check that had no baseline."""
        self.add(measurement)
        key = (measurement.judge.slug, measurement.suite.name)
        self._not_compared.setdefault(key, []).append(check)

    def add_against(self, measurement: Measurement, notices: Sequence[str]) -> None:
        """Note what of a suite is not compared with its baseline, or not as it was."""
        self._against[measurement.judge.slug, measurement.suite.name] = tuple(notices)

    def add_luck(self, measurement: Measurement, check: str, draws: str | None) -> None:
        """Note the draws in which a check fails by chance."""
        key = (measurement.judge.slug, measurement.suite.name)
        self._luck.setdefault(key, {})[check] = draws

    def count_question(self, answer: Answer) -> None:
        """Count a question that a test asks its judge directly: no suite counts it."""
        self._questions["made" if answer.made else "replayed"] += 1
        self._questions["failed"] += isinstance(answer.reply, Failed)

    def add_unmeasured(self, judge: str, requests: Mapping[str, RequestCount]) -> None:
        """Count the requests that were sent, by trial, for what ended in an error."""
        self._unmeasured.setdefault(judge, {}).update(requests)

    def cleaned(self, text: str) -> str:
        """``text`` without the credentials that this process has met."""
        return scrub(text, self.credentials.values)[0]

    def take(self) -> Results:
        """The results since the last call."""
        pending, self._pending = self._pending, {}
        results = Results(
            parts=tuple(self._part(*measured) for measured in pending.values()),
            verified=tuple(self.verified),
            shard=tuple(self.shard),
            notes=tuple(map(self.cleaned, self.notes)),
            questions=dict(self._questions),
            unmeasured=self._unmeasured,
            proposals=tuple(self.proposals),
        )
        self._unmeasured = {}
        told = (self.verified, self.shard, self.notes, self._questions, self.proposals)
        for collected in told:
            collected.clear()
        return self._with_secrets(results)

    def _part(self, measurement: Measurement, lines: Sequence[CheckLine]) -> MeasuredPart:
        shown = measurement.registry.report.shown(tables_shown(self._config, self._settings))
        key = (measurement.judge.slug, measurement.suite.name)
        not_compared = self._not_compared.pop(key, ())
        sheet = measurement.part(shown).with_checks(lines, not_compared)
        sheet = sheet.with_against(self._against.pop(key, ()))
        # Replies were cleaned when they arrived; a project's prompts may hold a key too.
        secrets = self.credentials.values
        sheet = replace(
            sheet,
            identity=without_secrets(dict(sheet.identity), secrets),
            prompts=without_secrets(dict(sheet.prompts), secrets),
        )
        luck = self._luck.pop(key, {})
        totals = self.totals(measurement, sheet)
        rooms = tuple(room.name for room in measurement.registry.rooms)
        kept = None if totals is None else totals.model_dump(mode="json")
        part = MeasuredPart(sheet, dict(measurement.asked), luck, rooms=rooms, totals=kept)
        if self._wants_log:
            part = self._with_judgments(part, measurement)
        return self._of_page(part, measurement) if self._wants_page else part

    def _with_judgments(self, part: MeasuredPart, measurement: Measurement) -> MeasuredPart:
        from pytest_judgesense.earlier.baseline import stimuli_digest
        from pytest_judgesense.report.log import log_lines

        design = measurement.design
        text = "\n".join(log_lines(measurement.judgments, design))
        # An older recording may hold credentials that the present search would remove.
        clean = self.cleaned(text)
        cell = replace(measurement.cell, design=design) if clean == text else None
        log, stimuli = tuple(clean.split("\n")), stimuli_digest(measurement.suite)
        return replace(part, log=log, stimuli=stimuli, cell=cell)

    def _of_page(self, part: MeasuredPart, measurement: Measurement) -> MeasuredPart:
        """With the prompts, each text once, and for each judgment the number of its prompt; and
        with the judgments at the revision that is the baseline.
        """
        from pytest_judgesense.report.log import log_lines

        prompts = [measurement.prompt_of(judgment.trial.id) for judgment in measurement.judgments]
        numbers = {text: number for number, text in enumerate(dict.fromkeys(prompts))}
        cell = self.before(measurement)
        before = log_lines(cell.all_judgments, cell.design) if cell else ()
        return replace(
            part,
            prompts=tuple(map(self.cleaned, numbers)),
            prompt_numbers=tuple(numbers[text] for text in prompts),
            before=tuple(map(self.cleaned, before)),
        )

    def _with_secrets(self, results: Results) -> Results:
        """With the credentials removed or skipped, and the files, unless the same was told."""
        if not self._settings.asks:
            return results
        secrets = Results(
            removed=tuple(sorted(self.credentials.removed)),
            skipped=dict(sorted(self.credentials.skipped.items())),
            recorded=tuple(sorted(map(str, self._recordings.written))),
        )
        if secrets == self._last_secrets:
            return results
        self._last_secrets = secrets
        return replace(
            results, removed=secrets.removed, skipped=secrets.skipped, recorded=secrets.recorded
        )
