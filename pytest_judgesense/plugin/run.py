"""Measuring in a session: each judge on each suite once, however many checks ask for it."""

from __future__ import annotations

import json
import os
import shlex
import sys
import uuid
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from pytest_judgesense.cassettes.credentials import Credentials
from pytest_judgesense.cassettes.journal import read_exchanges
from pytest_judgesense.cassettes.locking import Recorder
from pytest_judgesense.cassettes.scrubbing import scrub
from pytest_judgesense.checks.declaration import Check
from pytest_judgesense.checks.explanation import explain, summary
from pytest_judgesense.checks.outcome import (
    MOST_MISSING,
    Outcome,
    judge_check,
    judge_ranking,
)
from pytest_judgesense.datasheet.codec import part_to_plain
from pytest_judgesense.datasheet.log import log_lines
from pytest_judgesense.datasheet.sheet import CheckLine
from pytest_judgesense.errors import JudgesenseError, UsageError, unknown_name
from pytest_judgesense.judges.loop import AskingLoop
from pytest_judgesense.judges.prompts import suite_for_judge
from pytest_judgesense.judges.resolving import declared_judges, resolve_judges
from pytest_judgesense.judges.spec import JudgeSpec
from pytest_judgesense.judges.traffic import Traffic
from pytest_judgesense.measurement import Measurement, measure, ranking_among
from pytest_judgesense.plugin.meter import Progress, SessionMeter
from pytest_judgesense.plugin.options import Settings
from pytest_judgesense.plugin.paths import split_name
from pytest_judgesense.plugin.places import Places
from pytest_judgesense.suites.builtin import builtin_suites
from pytest_judgesense.suites.loading import load_suite
from pytest_judgesense.suites.planning import plan_trials
from pytest_judgesense.suites.suite import Suite

__all__ = ["Run"]


class Run:
    """The measurements of one process of a session.

    Attributes:
        loop: where judges are asked.
        places: the files that hold their calls.
        interrupted: what Ctrl-C cut short, and how much of it is recorded, a line each.
    """

    def __init__(
        self,
        config: pytest.Config,
        settings: Settings,
        live_folder: Path | None,
        spent_folder: Path | None,
    ) -> None:
        self._config = config
        self._settings = settings
        self._measured: dict[tuple[str, str, Path], Measurement | JudgesenseError] = {}
        self._told_of_secrets: dict[str, Any] = {}
        self._pending: dict[tuple[str, str], tuple[Measurement, tuple[CheckLine, ...]]] = {}
        self._wants_log = any(path.suffix == ".jsonl" for path in settings.datasheets)
        self._meter = SessionMeter(settings.max_calls, settings.max_cost, spent_folder)
        self._progress = Progress(config, self._meter)
        self._traffic: dict[str, Traffic] = {}
        self.places = Places(settings, live_folder, _recorder_of(config))
        self.interrupted: list[str] = []
        self.loop = AskingLoop()
        self.loop.on_wait = self._progress.tick
        self.credentials = Credentials()

    def judges(self, start: Path, suite_judges: Sequence[str] = ()) -> list[JudgeSpec]:
        """The judges of this session for something that stands at ``start``.

        Raises:
            UsageError: a judge is unknown or declared wrongly, or there is none.
        """
        objects: dict[str, JudgeSpec] = {}
        for given in self._config.hook.pytest_judgesense_judges(config=self._config):
            for judge in given or ():
                if not isinstance(judge, JudgeSpec):
                    raise UsageError(
                        "pytest_judgesense_judges returned something that is no judge",
                        found=repr(judge),
                        expected="a list of pytest_judgesense.Judge",
                    )
                objects[judge.name] = judge
        declared = declared_judges(start)
        return resolve_judges(self._settings.judges, declared, objects, suite_judges)

    def suite(self, name: str, near: Path) -> Suite:
        """The suite of a marker's ``suite=``: a path, a suite of this project, or a built-in one.

        Raises:
            UsageError: there is none; it lists the known names.
            SuiteError: its file is wrong.
        """
        base, preset = split_name(name)
        if base.endswith(".suite.toml"):
            for folder in (near, self._settings.rootdir):
                if (folder / base).is_file():
                    return load_suite(folder / base, preset)
        own = self._settings.rootdir / "suites" / base / f"{base}.suite.toml"
        if own.is_file():
            return load_suite(own, preset)
        known = builtin_suites()
        if base not in known:
            raise unknown_name("suite", base, known)
        return load_suite(known[base], preset)

    def measurement(self, judge: JudgeSpec, suite: Suite) -> Measurement:
        """The measurement of ``judge`` on ``suite``, made once.

        Raises:
            JudgesenseError: it could not be made; the same error at every call.
        """
        key = (judge.slug, suite.name, suite.path)
        if key not in self._measured:
            try:
                self._measured[key] = self._measure(judge, suite)
            except JudgesenseError as error:
                self._measured[key] = error
        found = self._measured[key]
        if isinstance(found, JudgesenseError):
            raise found
        self._pend(found)
        return found

    def outcome(
        self, judge: JudgeSpec, suite: Suite, check: Check, rivals: Sequence[JudgeSpec] = ()
    ) -> tuple[Outcome, Measurement]:
        """The outcome of a check, which enters the datasheet; ``rivals`` are compared by some."""
        measurement = self.measurement(judge, suite)
        policy: Any = self._settings.policy
        if check.name == "ranked_first":
            ranked = [self.measurement(rival, suite) for rival in rivals or [judge]]
            outcome = judge_ranking(check, ranking_among(ranked), policy)
        else:
            share = self._settings.max_missing
            most_missing = MOST_MISSING if share is None else share
            outcome = judge_check(check, suite.name, measurement.estimates, policy, most_missing)
        line = CheckLine(
            check=check.id,
            measure=check.measure,
            suite=suite.name,
            # A configuration is no condition of an estimate: the check's id names it.
            condition={} if check.judge else dict(check.condition),
            bar=check.bar,
            outcome=outcome.outcome,
            policy=outcome.policy,
            explanation=summary(outcome),
            warnings=outcome.warnings,
        )
        self._pend(measurement, line)
        return outcome, measurement

    def explanation(self, outcome: Outcome, measurement: Measurement, nodeid: str) -> str:
        """Why a check did not pass."""
        text = explain(
            outcome,
            measurement.cell,
            measurement.judge.name,
            measurement.prompt_of,
            " ".join(
                [
                    f"pytest '{nodeid}'",
                    *(self.places.options_of(measurement.judge) if self._settings.judges else ()),
                    "--judge-datasheet judgments.jsonl",
                ]
            ),
        )
        return self.cleaned(text)

    def cleaned(self, text: str) -> str:
        """``text`` without the credentials that this process has met."""
        return scrub(text, self.credentials.values)[0]

    def take_pending(self) -> list[dict[str, Any]]:
        """What was measured since the last call, as plain values."""
        pending, self._pending = self._pending, {}
        return [
            {
                "sheet": self._without_secrets(part_to_plain(measurement.sheet.with_checks(lines))),
                "log": self._log(measurement) if self._wants_log else None,
            }
            for measurement, lines in pending.values()
        ]

    def traffic(self, judge: JudgeSpec) -> Traffic:
        """The calls of a judge, from its first to its last in this process."""
        if judge.slug not in self._traffic:
            self._traffic[judge.slug] = Traffic(
                judge,
                self._settings.concurrency,
                meter=self._meter,
                sharing=getattr(self._config, "workerinput", {}).get("workercount", 1),
            )
        return self._traffic[judge.slug]

    def _log(self, measurement: Measurement) -> list[str]:
        # A recording that is older than this search may hold what it would have removed.
        lines = log_lines(measurement.judgments, measurement.suite.design)
        return self.cleaned("\n".join(lines)).split("\n")

    def _without_secrets(self, part: dict[str, Any]) -> dict[str, Any]:
        # Replies were cleaned when they arrived; a project's own prompts may hold a key as well.
        for name in ("identity", "prompts"):
            part[name] = json.loads(self.cleaned(json.dumps(part[name])))
        return part

    def take_secrets(self) -> dict[str, Any]:
        """What is to be told of secrets: names that were removed, and those not searched for."""
        if self._settings.mode == "replay":
            return {}
        told = {
            "removed": sorted(self.credentials.removed),
            "skipped": dict(sorted(self.credentials.skipped.items())),
        }
        if told == self._told_of_secrets:
            return {}
        self._told_of_secrets = told
        return told

    def close(self) -> None:
        """End the loop of the calls."""
        self.loop.close()

    def _measure(self, judge: JudgeSpec, suite: Suite) -> Measurement:
        own = suite_for_judge(suite, judge)
        names = {
            own.recorded_as(item, template) for item in own.items for template in own.templates
        }
        with ExitStack() as stack:
            # In alphabetical order: two processes that want the same two never wait in a circle.
            held = {
                name: stack.enter_context(self.places.recording(judge, f"{name}.jsonl"))
                for name in sorted(names)
            }
            told = stack.enter_context(self._progress.of(judge, suite))
            try:
                return measure(
                    judge,
                    suite,
                    held,
                    self.loop,
                    mode=self._mode,
                    seed=self._settings.seed,
                    concurrency=self._settings.concurrency,
                    how_to_record=self.places.how_to_record(judge, suite),
                    traffic=self.traffic(judge),
                    credentials=self.credentials,
                    told=told,
                )
            except KeyboardInterrupt:
                if self._settings.mode == "record":
                    self.interrupted.append(_progress(judge, own, held.values()))
                raise

    @property
    def _mode(self) -> Any:
        return self._settings.mode

    def _pend(self, measurement: Measurement, *lines: CheckLine) -> None:
        key = (measurement.judge.slug, measurement.suite.name)
        _, known = self._pending.get(key, (measurement, ()))
        self._pending[key] = (measurement, (*known, *lines))


def _recorder_of(config: pytest.Config) -> Recorder:
    """This process, for others that want to record what it records."""
    # What xdist tells its workers; without it the process is a session of its own.
    told = getattr(config, "workerinput", {})
    command = told.get("mainargv", sys.argv)
    return Recorder(told.get("testrunuid", uuid.uuid4().hex), os.getpid(), shlex.join(command))


def _progress(judge: JudgeSpec, suite: Suite, cassettes: Iterable[Path]) -> str:
    """How much of a suite is recorded."""
    answered = {
        exchange.trial
        for path in cassettes
        for exchange in read_exchanges(path)
        if exchange.answers
    }
    planned = [trial.id for trial in plan_trials(suite)]
    recorded = sum(trial in answered for trial in planned)
    return f"judge {judge.name}, suite {suite.name}: {recorded} of {len(planned)} trials recorded"
