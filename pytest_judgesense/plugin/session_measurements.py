"""Measuring in a session: each judge on each suite once, however many checks ask for it."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_judgesense.asking.inquiry import Asking, Inquiry
from pytest_judgesense.cassettes.matching import Identity
from pytest_judgesense.cassettes.replaying import ReplayingCassette
from pytest_judgesense.cassettes.storage import replace_content
from pytest_judgesense.checks.early_stop import Stopping
from pytest_judgesense.checks.judgment_words import reason_lines
from pytest_judgesense.checks.suite_faults import lint_notices
from pytest_judgesense.errors import (
    JudgeError,
    JudgesenseError,
    LimitReached,
    UnprovenRecording,
    UsageError,
    listed,
    unknown_name,
)
from pytest_judgesense.judges.functions import binding_of, refuse_one_wording
from pytest_judgesense.judges.judge import Judge
from pytest_judgesense.judges.loop import AskingLoop, current_runner
from pytest_judgesense.judges.prompts import suite_for_judge
from pytest_judgesense.judges.resolving import (
    credentials_of,
    declared_judges,
    missing_key,
    resolve_judges,
)
from pytest_judgesense.judges.session import SessionCalls
from pytest_judgesense.judges.spec import JudgeFunction, JudgeSpec
from pytest_judgesense.judges.throttle import Deadline, SessionBudget, Throttle
from pytest_judgesense.judges.trust import Trust
from pytest_judgesense.measurement import Measurement, measure, measurement_of, record
from pytest_judgesense.measures.bar import Check
from pytest_judgesense.plugin import workers
from pytest_judgesense.plugin.cassette_files import Recordings
from pytest_judgesense.plugin.collected import Collected
from pytest_judgesense.plugin.live_saving import live_answers
from pytest_judgesense.plugin.progress import Progress
from pytest_judgesense.plugin.settings import Settings, SharedState
from pytest_judgesense.plugin.startup import uncollected
from pytest_judgesense.plugin.suite_names import (
    SUFFIX,
    SuiteNotFound,
    SuitesOfRun,
    split_name,
)
from pytest_judgesense.registry import Registry
from pytest_judgesense.suites.builtin import (
    SUITE_FOLDERS,
    builtin_suites,
    is_built_in,
    suite_file,
)
from pytest_judgesense.suites.loading import load_suite
from pytest_judgesense.suites.planning import Plans, Shard, plan_trials, recording_of
from pytest_judgesense.suites.suite import Suite

if TYPE_CHECKING:
    from pytest_judgesense.checks.verifying import Verification


class Measurements:
    """The measurements of one process of a session.

    Attributes:
        interrupted: what Ctrl-C interrupted and how much of it is recorded, one line each.
        shard: the part of each suite that is recorded; ``None`` where all of it is measured.
        stopping_of: the checks that must be decided for an early stop, of a judge on a suite.
        selected: the judges and suites of the checks that are run, known after the collection.
        alone: whether no test in Python runs in this session, whose garbage would be its author's.
    """

    def __init__(
        self,
        config: pytest.Config,
        settings: Settings,
        shared: SharedState,
        registry: Registry,
        collected: Collected,
        recordings: Recordings,
    ) -> None:
        self.registry = registry
        self.recordings = recordings
        self.interrupted: list[str] = []
        self.alone = False
        self.selected: Sequence[tuple[JudgeSpec, Suite]] = ()
        self.shard = Shard(*settings.shard) if settings.shard else None
        self.stopping_of: Callable[[JudgeSpec, Suite, Progress], Stopping | None]
        self._config, self._settings, self._collected = config, settings, collected
        self._shared = shared
        self.credentials = collected.credentials
        self._measured: dict[tuple[str, str, Path], Measurement | JudgesenseError] = {}
        self._suites_of_run = SuitesOfRun(config)
        self._shards: dict[tuple[str, str, Path], list[str]] = {}
        self._linted: dict[int, tuple[Suite, tuple[str, ...]]] = {}
        self._throttles: dict[str, Throttle] = {}
        self._functions: dict[str, JudgeFunction] = {}
        folder = Path(shared.session_folder) if shared.session_folder else None
        # The time of day may be set while the session runs: from here on a monotonic clock counts.
        left = None if shared.deadline is None else shared.deadline - time.time()
        until = Deadline(settings.deadline, left)
        self._budget = SessionBudget(settings.max_calls, settings.max_cost, folder, until)
        self._session = SessionCalls(folder)
        self._progress = Progress(config, self._budget, collected.notes, folder)
        # xdist workers, which make the calls, signal this.
        self._asking = workers.AskingNote(folder if hasattr(config, "workerinput") else None)
        # A replay is not paid for: it ends at once.
        stop = self._stop if settings.asks else None
        self.loop = AskingLoop(self._wait, stop, self._asking.shown)
        # Not those of `addopts`, nor of `testpaths`: they are the repository's.
        typed = set(map(str, config.invocation_params.args))
        paths = [argument.split("::")[0] for argument in config.args if argument in typed]
        self.trust = Trust.of(settings.rootdir, [settings.invocation / path for path in paths])

    def lint(self, suite: Suite) -> tuple[str, ...]:
        """Lint warnings about ``suite``, as `lint_notices`: looked for once."""
        if id(suite) not in self._linted:
            self._linted[id(suite)] = suite, lint_notices(suite, self.registry)
        return self._linted[id(suite)][1]

    def _wait(self) -> None:
        self._asking.look()
        self._progress.tick()

    def _stop(self) -> float:
        self._asking.stop()
        self._budget.deadline.interrupt()
        throttles = self._throttles.values()
        self._progress.interrupted(max((each.longest_s for each in throttles), default=0.0))
        return max((each.timeout_s for each in throttles), default=0.0)

    def judges(self, start: Path, suite_judges: Sequence[str] = ()) -> list[JudgeSpec]:
        """The judges of this session for a test or file at ``start``."""
        providers = self.registry.providers
        declared = declared_judges(start, providers)
        judges = resolve_judges(
            self._settings.judges,
            declared,
            self.objects(),
            suite_judges,
            providers,
            self._settings.rootdir,
        )
        asked = (of.provider for judge in judges for of in judge.asked_judges)
        if self._settings.mode != "replay" or "callable" in asked:
            # vcrpy and the clients that it knows take a second: not of the first test that asks.
            import pytest_judgesense.cassettes.interception  # noqa: F401
        return judges

    def objects(self) -> dict[str, JudgeSpec]:
        """The judges that Python code of the project declares, by name, selected or not."""
        objects: dict[str, JudgeSpec] = {}
        for returned in self._config.hook.pytest_judgesense_judges(config=self._config):
            for judge in returned or ():
                if not isinstance(judge, Judge):
                    raise UsageError(
                        "pytest_judgesense_judges returned something that is not a judge",
                        found=repr(judge),
                        expected="a list of pytest_judgesense.Judge",
                    )
                objects[judge.name] = judge.spec
        return objects

    def refuse_function(self, judge: JudgeSpec, suite: Suite, checks: Iterable[Check]) -> None:
        """Raise `UsageError` if the parameters of a Python judge do not fit the suite.

        Before anybody is asked. A replay does without the function where it can: it imports none.
        """
        for member in judge.members:
            self.refuse_function(member, suite, checks)
        if judge.provider != "callable":
            return
        if judge.function is None and not self._settings.asks:
            return
        if judge.slug not in self._functions:
            self._functions[judge.slug] = self.loop.run(_imported(judge))
        function, own_suite = self._functions[judge.slug], suite_for_judge(suite, judge)
        binding_of(function, judge, own_suite)
        kinds = (check.kind for check in checks)
        comparing = [kind.name for kind in kinds if kind.measure and kind.measure.of_wordings]
        refuse_one_wording(function, judge, own_suite, comparing)

    def suite(self, name: str, near: Path) -> Suite:
        """The suite of a marker's ``suite=``: a path, one of the project, or a built-in one.

        A path starts at ``near``, the folder of the test, or at the project's. A name is that of a
        suite of the project, of one below ``near``, of one that this run collects, or of a built-in
        one, the first that is there.

        Raises:
            SuiteNotFound: there is none.
        """
        base, preset = split_name(name)
        path = suite_file(base, self._settings.rootdir, near)
        if (path is None or is_built_in(path)) and not base.endswith(SUFFIX):
            path = self._suites_of_run.nearest(base, near) or path
        if path is None:
            raise self._not_found(base, near)
        return load_suite(path, preset, self.registry.forms)

    def _not_found(self, base: str, near: Path) -> SuiteNotFound:
        """The error of a test that names a suite which is nowhere."""
        root, found = self._settings.rootdir, self._suites_of_run.names(near)
        below = [os.path.relpath(folder, root) for folder in self._suites_of_run.folders(near)]
        unknown = unknown_name("suite", base, {*found, *builtin_suites()})
        folders = listed([*SUITE_FOLDERS, *(f"below {place}" for place in below)])
        return SuiteNotFound(
            unknown.what,
            found=f"none in {root}: {folders}; and none that is built in",
            expected=unknown.expected,
            remedy=unknown.remedy or "name one of them, or the path of your own *.suite.toml",
        )

    def shown(self, judge: JudgeSpec, suite: Suite) -> Measurement:
        """The measurement, made once, which the datasheet shows; the same error at every call."""
        if self.shard is not None:
            recorded = self._record_shard(judge, suite, self.shard)
            pytest.skip(
                f"{recorded}; joined by `judgesense recordings join`, all shards are measured"
            )
        measurement = self.once(judge, suite)
        for member in judge.members:
            self._collected.add(self.once(member, suite))
        self._collected.add(measurement)
        return measurement

    def _record_shard(self, judge: JudgeSpec, suite: Suite, shard: Shard) -> str:
        """Record a part of a suite once; returns what was, the same in any process."""
        if judge.members:
            return "; ".join(self._record_shard(m, suite, shard) for m in judge.members)
        key = (judge.slug, suite.name, suite.path)
        if key not in self._shards:
            part, mode = shard.part(plan_trials(suite_for_judge(suite, judge))), self._settings.mode
            with self._asking_of(judge, suite) as (cassettes, asking):
                recorded = record(
                    judge, suite, cassettes, self.loop, part, asking=asking, mode=mode
                )
                clusters = len({trial.cluster for trial in part})
                line = (
                    f"judge {judge.name}, suite {suite.name}, shard {shard}: "
                    f"{recorded.answered} of {len(part)} trials recorded, of {clusters} clusters"
                )
                reasons = [*reason_lines(recorded.failed)]
                lines = [line, *(f"  {notice}" for notice in (*reasons, *recorded.notices))]
                self._collected.shard.append("\n".join(lines))
                if part and not recorded.answered:
                    raise _nothing_recorded(judge, suite, shard, reasons)
            self._shards[key] = lines
        return self._shards[key][0]

    def once(self, judge: JudgeSpec, suite: Suite) -> Measurement:
        """The measurement, shown by the datasheet only where this process has made calls for it."""
        key = (judge.slug, suite.name, suite.path)
        if key not in self._measured:
            # Asking takes long, and the code of a user's judge may leave garbage.
            noisy = self._settings.asks or judge.provider == "callable"
            try:
                with uncollected(unless=noisy, kept=self.alone):
                    measurement = self._measured[key] = self._measure(judge, suite)
                if measurement.calls.made or measurement.error:
                    self._collected.add(measurement)  # the process that made the calls counts them
                if (error := measurement.error) is not None:
                    self._measured[key] = error
            except JudgesenseError as error:
                self._measured[key] = error
        measured = self._measured[key]
        if isinstance(measured, JudgesenseError):
            raise measured
        return measured

    def _measure(self, judge: JudgeSpec, suite: Suite) -> Measurement:
        if judge.members:
            warnings = self.lint(suite_for_judge(suite, judge))  # refused before anybody is asked
            measurement = measurement_of(judge, partial(self._of_member, judge, suite=suite))
            if self._settings.early_stop or suite.early_stop:
                warnings = (*warnings, f"{suite.name} is asked completely: {judge.name} is a jury")
            return replace(measurement, notices=(*warnings, *measurement.notices))
        warnings = self.lint(suite_for_judge(suite, judge))
        stopping = self.stopping_of(judge, suite, self._progress)
        with self._asking_of(judge, suite) as (cassettes, asking):
            measurement = measure(
                judge,
                suite,
                cassettes,
                self.loop,
                mode=self._settings.mode,
                seed=self._settings.seed,
                stopping=stopping,
                asking=asking,
            )
            if isinstance(measurement.error, UnprovenRecording):
                self._session.note_error(measurement.error, *_key_of(judge, suite))
            self._progress.ended(measurement)
            measurement = replace(measurement, notices=(*warnings, *measurement.notices))
        if self._settings.verify is not None:
            self._verify(measurement, self._settings.verify)
        self.recordings.refuse_old(
            measurement.recorded,
            measurement.oldest,
            f"judge {judge.name!r} on suite {suite.name}",
            self.recordings.command(judge, suite),
        )
        return measurement

    def _of_member(self, jury: JudgeSpec, member: JudgeSpec, suite: Suite) -> Measurement:
        """The measurement of a member; an error of it says how the whole jury is recorded."""
        try:
            return self.once(member, suite)
        except JudgesenseError as error:
            alone, whole = (self.recordings.command(each, suite) for each in (member, jury))
            raise error.with_texts(lambda text: text.replace(alone, whole)) from None

    @contextmanager
    def _asking_of(
        self, judge: JudgeSpec, suite: Suite
    ) -> Iterator[tuple[dict[str, Path], Asking]]:
        """The cassettes of a suite and how it is called; the session remembers errors."""
        own_suite = suite_for_judge(suite, judge)
        if (without_key := self._without_key) is not None and self._has_to_ask(judge, own_suite):
            raise without_key
        with (
            self.recordings.recordings(judge, own_suite) as cassettes,
            self._progress.of(judge, suite, self.throttle(judge)) as watch,
        ):
            key = _key_of(judge, suite)
            if error := self._session.error(*key):
                raise error
            asking = Asking(
                concurrency=self._settings.concurrency,
                how_to_record=self.recordings.how_to_record(judge, suite),
                throttle=self.throttle(judge),
                credentials=self.credentials,
                watch=watch,
                max_unparsed=self._settings.max_unparsed,
                session=self._session,
                registry=self.registry,
                trust=self.trust,
                proves=self._settings.mode == "record" or self._settings.save_live is not None,
                live_answers=live_answers(self._settings, self._shared, cassettes.values()),
                plans=Plans(self._settings.rootdir, self._settings.cassettes, self.registry.forms),
            )
            try:
                yield cassettes, asking
            except JudgesenseError as raised:
                if isinstance(raised, LimitReached):
                    self.recordings.keep_unfinished(cassettes.values())
                for path in cassettes.values():
                    self._collected.add_unmeasured(judge.slug, self._session.on(path).requests)
                kinds = self.registry.forms
                error = self.recordings.with_what_is_recorded(raised, judge, suite, kinds)
                self._session.note_error(error, *key)
                self.share_end_of(judge)
                if error is raised:
                    raise
                raise error from None
            except KeyboardInterrupt:
                if self._settings.mode == "record" and (left := self._progress.left) is not None:
                    self.interrupted.append(_recorded_line(judge, own_suite, left))
                raise

    @cached_property
    def _without_key(self) -> JudgeError | None:
        """The error of a judge without a key that a selected check has to ask, before any call."""
        asked = ((j, suite) for judge, suite in self.selected for j in judge.asked_judges)
        for judge, suite in asked if self._settings.asks else ():
            error = missing_key(judge)
            if error is not None and self._has_to_ask(judge, suite_for_judge(suite, judge)):
                return error
        return None

    def _has_to_ask(self, judge: JudgeSpec, own_suite: Suite) -> bool:
        """Whether not all is recorded, as far as that is known before a request is made."""
        if self._settings.mode == "live":
            return True
        planned = plan_trials(own_suite)
        trials = planned if self.shard is None else self.shard.part(planned)
        opened = {
            name: ReplayingCassette(
                self.recordings.cassette(judge, f"{name}.jsonl"),
                secrets=credentials_of(judge, self.credentials),
                identity=Identity(judge.ignore),
            )
            for name in own_suite.recordings
        }
        return not all(opened[recording_of(trial.id)].complete(trial.id) for trial in trials)

    def throttle(self, judge: JudgeSpec) -> Throttle:
        if judge.slug not in self._throttles:
            self._throttles[judge.slug] = Throttle(
                judge,
                self._settings.concurrency,
                budget=self._budget,
                sharing=getattr(self._config, "workerinput", {}).get("workercount", 1),
            )
        throttle = self._throttles[judge.slug]
        if isinstance(error := self._session.error("judge", judge.slug), JudgeError):
            throttle.end(error)
        return throttle

    def share_end_of(self, judge: JudgeSpec) -> None:
        """Let the other processes of the session know if the judge is not to be asked again."""
        throttle = self._throttles.get(judge.slug)
        if throttle is not None and throttle.ended is not None:
            self._session.note_error(throttle.ended, "judge", judge.slug)

    def _verify(self, measurement: Measurement, count: int) -> None:
        """Call some of the trials again, once in the session, by any of its processes."""
        from pytest_judgesense.checks.verifying import verification_from_plain

        judge, suite = measurement.judge, measurement.suite
        # In separate files, which the session shares, and deletes at its end.
        live = self._settings._replace(mode="live", save_live=None)
        files = replace(self.recordings, settings=live)
        with files.recordings(judge, suite) as paths:
            file = files.cassette(judge, f"{suite.name}.verified.json")
            if not file.exists():
                fresh = asdict(self._asked_again(measurement, paths, count))
                replace_content(file, self._collected.cleaned(json.dumps(fresh)).encode())
            verification = verification_from_plain(json.loads(file.read_bytes()))
            self._collected.verified.append(verification)

    def _asked_again(
        self, measurement: Measurement, cassettes: Mapping[str, Path], count: int
    ) -> Verification:
        """Some trials of a replayed measurement, asked on separate cassettes, and compared."""
        from pytest_judgesense.checks.verifying import compare, sampled

        judge, suite, seed = measurement.judge, measurement.suite, measurement.seed
        trials = sampled(measurement.judgments, count, seed)
        asking = Asking(
            trust=self.trust,
            concurrency=self._settings.concurrency,
            registry=self.registry,
            credentials=self.credentials,
            throttle=self.throttle(judge),
        )
        inquiry = Inquiry(judge, suite, trials, cassettes, self.loop, "record", asking)
        with suppress(LimitReached):  # what was answered before is compared
            inquiry.ask(trials)
        answered = [trial for trial in trials if trial.id in inquiry.answers]
        fresh = inquiry.judgments_of(answered)
        models = inquiry.served(answered).values()
        served = (measurement.served, tuple(sorted(set().union(*models))))
        return compare(measurement.judgments, trials, fresh, judge.slug, suite.name, seed, served)


def _key_of(judge: JudgeSpec, suite: Suite) -> tuple[str, ...]:
    """Under what a session notes the error of a measurement."""
    return "measurement", judge.slug, suite.name, str(suite.path)


async def _imported(judge: JudgeSpec) -> JudgeFunction:
    runner = current_runner()
    assert runner is not None, "the loop of a session says where judges run"
    from pytest_judgesense.judges.asked_function import imported

    return await imported(judge, runner)


def _nothing_recorded(
    judge: JudgeSpec, suite: Suite, shard: Shard, reasons: Sequence[str]
) -> JudgeError:
    return JudgeError(
        f"nothing of shard {shard} of suite {suite.name} could be recorded of judge {judge.name!r}",
        found="; ".join(reasons),
        expected="a reply to some trial at least",
        remedy="mend what the reason names, and record the shard again",
    )


def _recorded_line(judge: JudgeSpec, suite: Suite, left: int) -> str:
    """How much of a suite is recorded where so many of its trials are ``left``."""
    planned = len(plan_trials(suite))
    counted = f"{planned - left} of {planned} trials recorded"
    return f"judge {judge.name}, suite {suite.name}: {counted}, not replayed for a proof"
