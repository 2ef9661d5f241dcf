"""Measuring in a session: each judge on each suite once, however many checks ask for it."""

from __future__ import annotations

import json
import os
import shlex
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import asdict, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_judgesense.asking import Asking, Inquiry
from pytest_judgesense.cassettes.credentials import Credentials
from pytest_judgesense.cassettes.redaction import scrub
from pytest_judgesense.cassettes.storage import read_exchanges, replace_content
from pytest_judgesense.checks.early_stop import Stopping
from pytest_judgesense.checks.explanation import (
    Explanation,
    brief_lines,
    check_line,
    explanation_of,
    whole_text,
)
from pytest_judgesense.checks.linting import lint_notices
from pytest_judgesense.checks.luck import Draws, lost
from pytest_judgesense.checks.outcome import (
    ALPHA,
    MOST_MISSING,
    Assessment,
    DecisionRule,
    Outcome,
    Warned,
    judge_check,
    quantity_of,
    refuting_alphas,
)
from pytest_judgesense.checks.regression import RegressionOutcome
from pytest_judgesense.datasheet import CheckLine
from pytest_judgesense.errors import (
    JudgeError,
    JudgesenseError,
    LimitReached,
    UnprovenRecording,
    UsageError,
    unknown_name,
)
from pytest_judgesense.garbage import uncollected
from pytest_judgesense.judges.client import imported
from pytest_judgesense.judges.functions import binding_of, refuse_one_wording
from pytest_judgesense.judges.loop import AskingLoop, current_runner
from pytest_judgesense.judges.prompts import (
    suite_for_judge,
    unsent_error,
    unsent_prompts,
)
from pytest_judgesense.judges.resolving import declared_judges, resolve_judges
from pytest_judgesense.judges.session import SessionCalls
from pytest_judgesense.judges.spec import JudgeFunction, JudgeSpec
from pytest_judgesense.judges.throttle import Answer, Deadline, SessionBudget, Throttle
from pytest_judgesense.judges.trust import Trust
from pytest_judgesense.layout import within
from pytest_judgesense.measurement import Measurement, measure, record
from pytest_judgesense.measures.check import Check
from pytest_judgesense.plugin import workers
from pytest_judgesense.plugin.members import Member
from pytest_judgesense.plugin.progress import Progress
from pytest_judgesense.plugin.recordings import Recordings, recorder_of
from pytest_judgesense.plugin.screen import columns_of, tables_shown, tells_luck, warned_of
from pytest_judgesense.plugin.settings import Settings, Shared
from pytest_judgesense.plugin.suite_names import SUFFIX, split_name
from pytest_judgesense.registry import Registry
from pytest_judgesense.report.codec import part_to_plain
from pytest_judgesense.suites.builtin import builtin_suites, suite_file
from pytest_judgesense.suites.loading import load_suite
from pytest_judgesense.suites.planning import Shard, plan_trials
from pytest_judgesense.suites.suite import Suite
from pytest_judgesense.trial import Failed

if TYPE_CHECKING:
    from pytest_judgesense.checks.verifying import Verification
    from pytest_judgesense.plugin.against_baseline import BaselineComparison


class Run:
    """The measurements of one process of a session.

    Attributes:
        interrupted: what Ctrl-C interrupted and how much of it is recorded, one line each.
        shard: the part of each suite that is recorded; ``None`` where all of it is measured.
        shard_lines: lines about the recorded shard.
        declared: for each declaring file or test a function that lists its checks, where they
            are a family.
    """

    def __init__(
        self, config: pytest.Config, settings: Settings, shared: Shared, registry: Registry
    ) -> None:
        self.registry = registry
        self._config, self._settings = config, settings
        self._columns = shared.columns or columns_of(config)
        self.policy = settings.policy
        missing, alpha = settings.max_missing, settings.alpha
        self._most_missing = MOST_MISSING if missing is None else missing
        self._alpha = ALPHA if alpha is None else alpha
        self._measured: dict[tuple[str, str, Path], Measurement | JudgesenseError] = {}
        self._known_secrets: dict[str, Any] = {"removed": [], "skipped": {}}
        self._pending: dict[tuple[str, str], tuple[Measurement, tuple[CheckLine, ...]]] = {}
        self._questions: Counter[str] = Counter()
        self._luck: dict[tuple[str, str], dict[str, str | None]] = {}
        self._drawn: dict[tuple[str, Path], Draws] = {}
        self._held: dict[tuple[str, ...], Sequence[Assessment | None]] = {}
        forms = {path.suffix for path in settings.datasheets}
        self._wants_page = ".html" in forms
        self._wants_log = bool(settings.save_baseline or forms & {".jsonl", ".html"})
        folder = Path(shared.session_folder) if shared.session_folder else None
        # The time of day may be set while the session runs: from here on a monotonic clock counts.
        left = None if shared.deadline is None else shared.deadline - time.time()
        until = Deadline(settings.deadline, left)
        self._budget = SessionBudget(settings.max_calls, settings.max_cost, folder, until)
        self._session = SessionCalls(folder)
        self._progress = Progress(config, self._budget, folder)
        self._throttles: dict[str, Throttle] = {}
        self._functions: dict[str, JudgeFunction] = {}
        self._verified: list[dict[str, Any]] = []
        self.recordings = Recordings(settings, shared, recorder_of(config))
        self.interrupted: list[str] = []
        self.shard = Shard(*settings.shard) if settings.shard else None
        self.shard_lines: list[str] = []
        self._parts: dict[tuple[str, str, Path], list[str]] = {}
        self.declared: list[Callable[[], Iterable[Member]]] = []
        # xdist workers, which make the calls, signal this.
        self._asking = workers.Asking(folder if hasattr(config, "workerinput") else None)
        # A replay is not paid for: it ends at once.
        stop = self._stop if settings.asks else None
        self.loop = AskingLoop(self._wait, stop, self._asking.said)
        self.credentials = Credentials()
        # Not those of `addopts`, nor of `testpaths`: they are the repository's.
        typed = set(map(str, config.invocation_params.args))
        paths = [arg.split("::")[0] for arg in config.args if arg in typed]
        self.trust = Trust.of(settings.rootdir, [settings.invocation / path for path in paths])

    def _wait(self) -> None:
        self._asking.look()
        self._progress.tick()

    def _stop(self) -> None:
        self._asking.stop()
        self._budget.deadline.interrupt()
        longest = max((throttle.longest_s for throttle in self._throttles.values()), default=0.0)
        self._progress.interrupted(longest)

    def judges(self, start: Path, suite_judges: Sequence[str] = ()) -> list[JudgeSpec]:
        """The judges of this session for a test or file at ``start``."""
        objects: dict[str, JudgeSpec] = {}
        for given in self._config.hook.pytest_judgesense_judges(config=self._config):
            for judge in given or ():
                if not isinstance(judge, JudgeSpec):
                    raise UsageError(
                        "pytest_judgesense_judges returned something that is not a judge",
                        found=repr(judge),
                        expected="a list of pytest_judgesense.Judge",
                    )
                objects[judge.name] = judge
        providers = self.registry.providers
        declared = declared_judges(start, providers)
        found = resolve_judges(self._settings.judges, declared, objects, suite_judges, providers)
        if self._settings.mode != "replay" or any(judge.provider == "callable" for judge in found):
            # vcrpy and the clients that it knows take a second: not of the first test that asks.
            import pytest_judgesense.cassettes.interception  # noqa: F401
        return found

    def refuse_function(self, judge: JudgeSpec, suite: Suite, checks: Iterable[Check]) -> None:
        """Raise `UsageError` if the parameters of a Python judge do not fit the suite.

        Before anybody is asked. A replay does without the function where it can: it imports none.
        """
        if judge.provider != "callable":
            return
        if judge.function is None and not self._settings.asks:
            return
        if judge.slug not in self._functions:
            self._functions[judge.slug] = self.loop.run(_imported(judge))
        function, asked = self._functions[judge.slug], suite_for_judge(suite, judge)
        binding_of(function, judge, asked)
        kinds = (check.kind for check in checks)
        comparing = [kind.name for kind in kinds if kind.measure and kind.measure.of_wordings]
        refuse_one_wording(function, judge, asked, comparing)

    def unsent_prompts(self, *, with_builtin: bool) -> Iterator[UsageError]:
        """The errors of judges with prompts that no suite sends, once all checks are collected.

        A session runs some of the suites of a project: those beside them and in the folder of the
        project's count as well, and, ``with_builtin``, the built-in ones.
        """
        # Projects of one repository may have judges of one name.
        measured: dict[tuple[str, Path | None], tuple[JudgeSpec, dict[Path, Suite]]] = {}
        for judge, suite, _ in self._family:
            key = judge.slug, judge.folder
            measured.setdefault(key, (judge, {}))[1][suite.path] = suite
        for judge, suites in measured.values():
            if not (unsent := unsent_prompts(judge, suites.values())):
                continue
            paths = set(builtin_suites().values()) if with_builtin else set()
            root = self._settings.rootdir
            patterns = {(root / "suites", f"*/*{SUFFIX}")}
            for path in suites:
                folder = path.parent
                patterns |= {(folder, f"*{SUFFIX}"), (folder.parent, f"*/*{SUFFIX}")}
            for folder, pattern in patterns:
                if folder.is_relative_to(root):  # what lies outside is no part of the project
                    paths.update(folder.glob(pattern))
            others = []
            for path in sorted(paths - set(suites)):
                with suppress(JudgesenseError):  # that file is not asked for
                    others.append(load_suite(path, None, self.registry.forms))
            if unsent := unsent_prompts(judge, [*suites.values(), *others]):
                yield unsent_error(judge, list(suites.values()), unsent)

    def suite(self, name: str, near: Path) -> Suite:
        """The suite of a marker's ``suite=``: a path, one of the project, or a built-in one.

        A path starts at ``near``, the folder of the test, or at the project's.
        """
        base, preset = split_name(name)
        if (path := suite_file(base, self._settings.rootdir, near)) is None:
            or_path = "or the path of your own *.suite.toml"
            raise unknown_name("suite", base, builtin_suites(), other=or_path)
        return load_suite(path, preset, self.registry.forms)

    def measurement(self, judge: JudgeSpec, suite: Suite) -> Measurement:
        """The measurement, made once, as the datasheet shows it; the same error at every call."""
        if self.shard is not None:
            pytest.skip(self._record_shard(judge, suite, self.shard))
        found = self._measured_once(judge, suite)
        self._pend(found)
        return found

    def _record_shard(self, judge: JudgeSpec, suite: Suite, shard: Shard) -> str:
        """Record a part of a suite once; returns its lines, the same in any process."""
        key = (judge.slug, suite.name, suite.path)
        if key not in self._parts:
            part, mode = shard.part(plan_trials(suite_for_judge(suite, judge))), self._settings.mode
            with self._asking_of(judge, suite) as (cassettes, asking):
                found = record(judge, suite, cassettes, self.loop, part, asking=asking, mode=mode)
            clusters = len({trial.cluster for trial in part})
            line = (
                f"judge {judge.name}, suite {suite.name}, shard {shard}: {found.answered} of "
                f"{len(part)} trials recorded, of {clusters} clusters"
            )
            self._parts[key] = [line, *(f"  {notice}" for notice in found.notices)]
            self.shard_lines += self._parts[key]
        return f"{self._parts[key][0]}; joined by `judgesense merge`, all shards are measured"

    def _measured_once(self, judge: JudgeSpec, suite: Suite) -> Measurement:
        """The measurement, shown by the datasheet only where this process has made calls for it."""
        key = (judge.slug, suite.name, suite.path)
        if key not in self._measured:
            # Asking takes long, and the code of a user's judge may leave garbage.
            noisy = self._settings.asks or judge.provider == "callable"
            quiet = nullcontext() if noisy else uncollected()
            try:
                with quiet:
                    found = self._measured[key] = self._measure(judge, suite)
                if found.calls.made or found.error:
                    self._pend(found)  # the process that made the calls counts them
                if found.error is not None:
                    self._measured[key] = found.error
            except JudgesenseError as error:
                self._measured[key] = error
        known = self._measured[key]
        if isinstance(known, JudgesenseError):
            raise known
        return known

    def only_saves(self, check: Check) -> bool:
        """Whether a check is not compared, because its baseline is being made."""
        save, baseline = self._settings.save_baseline, self._settings.baseline
        nothing = baseline is None or (baseline == save and not baseline.is_file())
        return check.kind.regression and save is not None and nothing

    @cached_property
    def gate(self) -> BaselineComparison:
        """The gate of `no_regression` checks; `UsageError` without a baseline."""
        from pytest_judgesense.plugin.against_baseline import BaselineComparison

        settings = self._settings
        if settings.baseline is None:
            raise UsageError(
                "no_regression has no baseline",
                expected="--judge-baseline PATH",
                remedy="write one from a judge that you trust: pytest --judge-save-baseline PATH",
            )
        given = settings.baseline, settings.seed, self.policy, self._most_missing
        return BaselineComparison(*given, self._measured_once, self.registry)

    @cached_property
    def _family(self) -> list[Member]:
        """Every declared check; first asked for when all are collected."""
        return [member for declared in self.declared for member in declared()]

    def _rule(self, member: Member) -> DecisionRule:
        """How a check is decided: under `refuted` by every bar that the session declares.

        So evaluating one of them measures the suites of all, as in the regression gate.
        """
        rule = DecisionRule(self.policy, self._most_missing, self._alpha)
        if self.policy != "refuted":
            return rule
        members = {one.key: one for one in (*self._family, member)}.values()
        bars = {one.key: self._bars(one) for one in members if not one.check.kind.regression}
        every = [bar for held in bars.values() for bar in held]
        keys = [key for key, held in bars.items() for _ in held]
        # Of a judge on a suite; what was not measured is a quantity of its own.
        about = [
            (key[:3], place if bar is None else quantity_of(bar))
            for place, (key, bar) in enumerate(zip(keys, every, strict=True))
        ]
        alphas = zip(keys, refuting_alphas(every, self._alpha, about), strict=True)
        return rule._replace(alpha=max(alpha for key, alpha in alphas if key == member.key))

    def _bars(self, member: Member) -> Sequence[Assessment | None]:
        """The findings against the bars; what cannot be measured counts but is not tested."""
        judge, suite, check = member
        if member.key not in self._held:
            held: Sequence[Assessment | None] = [None] * max(1, len(check.bars))
            if not check.kind.compares:  # a rank is not a bar
                with suppress(JudgesenseError):
                    estimates = self._measured_once(judge, suite).estimates
                    held = judge_check(check, suite.name, estimates, "refuted").bars
            self._held[member.key] = held
        return self._held[member.key]

    @cached_property
    def warned(self) -> Warned:
        """What is told of close outcomes."""
        return warned_of(self._config, self._settings)

    def outcome(
        self, judge: JudgeSpec, suite: Suite, check: Check, rivals: Sequence[JudgeSpec] = ()
    ) -> tuple[Explanation, Measurement]:
        """A check with its outcome, which enters the datasheet; ``rivals`` are compared by some."""
        self.refuse_function(judge, suite, [check])
        measurement = self.measurement(judge, suite)
        member = Member(judge, suite, check)
        if measurement.stop is not None and (check.kind.regression or check.kind.compares):
            raise UsageError(
                f"{check.id} is decided on all clusters of {suite.name}, and its recording was "
                "stopped early",
                found=f"{len(measurement.stop.asked)} of {len(measurement.stop.looks.order)} "
                "clusters",
                remedy=self.recordings.how_to_record(judge, suite),
            )
        rule = DecisionRule(self.policy) if check.kind.regression else self._rule(member)
        found: Outcome | RegressionOutcome
        if check.kind.regression:
            family = [one for one in self._family if one.check.kind.regression]
            found = self.gate.outcome(member, family)
        elif check.kind.compares:
            ranked = [self.measurement(rival, suite) for rival in rivals or [judge]]
            cells = {one.judge.slug: one.cell for one in ranked}
            assert check.kind.judge is not None, "what compares judges has a judge"
            found = check.kind.judge(check, suite.kind, cells, rule)
        else:
            found = measurement.outcome_of(check, rule)
        explanation = explanation_of(found, measurement.cell, measurement.question_of)
        self._pend(measurement, check_line(explanation, self.cleaned, warned=self.warned))
        if tells_luck(self._config):
            # Sessions on other items are the same for all checks of a suite.
            key = measurement.suite.name, measurement.suite.path
            if key not in self._drawn:
                self._drawn[key] = Draws.of(measurement.cell, self.policy)
            of_suite = self._luck.setdefault((judge.slug, suite.name), {})
            of_suite[check.key] = lost(found, rule, self._drawn[key])
        return explanation, measurement

    def failure_texts(
        self, explanation: Explanation, measurement: Measurement, alone: str
    ) -> tuple[str, tuple[str, ...]]:
        """Why a check did not pass; and the first pieces of evidence alone, in lines.

        ``alone`` is the command that runs its item alone.
        """
        settings, judge = self._settings, measurement.judge
        command = [alone]
        if settings.judges:
            command += self.recordings.options_of(judge)
        if settings.baseline is not None and isinstance(explanation.outcome, RegressionOutcome):
            baseline = os.path.relpath(settings.baseline, settings.invocation)
            command.append(f"--judge-baseline {shlex.quote(baseline)}")
        command.append("--judge-datasheet judgments.jsonl")
        look_further = " ".join(command)
        brief = [*brief_lines(explanation, look_further)]
        if self._config.get_verbosity() < 0:  # no summary shows the numbers
            brief.insert(0, explanation.measured)
        with within(self._columns):
            text = whole_text(explanation, judge.name, measurement.prompt_of, look_further)
        return self.cleaned(text), tuple(map(self.cleaned, brief))

    def cleaned(self, text: str) -> str:
        """``text`` without the credentials that this process has met."""
        return scrub(text, self.credentials.values)[0]

    def count_question(self, answer: Answer) -> None:
        """Count a question that a test asks its judge directly: no suite counts it."""
        self._questions["made" if answer.made else "replayed"] += 1
        self._questions["failed"] += isinstance(answer.reply, Failed)

    def take_pending(self) -> dict[str, Any]:
        """The results of measurements since the last call: plain values, and the estimates.

        Parts of the datasheet, trials ``verified``, lines on a ``shard``, ``notes`` for the screen,
        ``questions`` of tests, credentials ``removed``, and reasons for ``skipped`` tests.
        """
        pending, self._pending = self._pending, {}
        verified, self._verified = self._verified, []
        parts = []
        shown = tables_shown(self._config, self._settings)
        for measurement, lines in pending.values():
            part = measurement.part(measurement.registry.shown(shown)).with_checks(lines)
            sheet = part_to_plain(replace(part, estimates=()))
            # As they are: ends of intervals that nobody asks for are not computed.
            sheet["estimates"] = part.estimates
            log = stimuli = None
            if self._wants_log:
                from pytest_judgesense.baseline import stimuli_digest
                from pytest_judgesense.report.log import log_lines

                # An older recording may hold credentials that the present search would remove.
                lines_of_log = log_lines(measurement.judgments, measurement.design)
                log = self.cleaned("\n".join(lines_of_log)).split("\n")
                stimuli = stimuli_digest(measurement.suite)
            # Replies were cleaned when they arrived; a project's prompts may hold a key too.
            texts = {name: sheet[name] for name in ("identity", "prompts")}
            found = {
                "sheet": sheet | json.loads(self.cleaned(json.dumps(texts))),
                "log": log,
                "prompts": self._prompts(measurement) if self._wants_page else None,
                "stimuli": stimuli,
                "asked": dict(measurement.asked),
                "luck": self._luck.pop((sheet["judge"], sheet["suite"]), {}),
            }
            parts.append(found)
        shard, self.shard_lines = self.shard_lines, []
        notes = [self.cleaned(line) for line in self._progress.notes]
        self._progress.notes.clear()
        questions, self._questions = dict(self._questions), Counter()
        sent = {"parts": parts, "verified": verified, "shard": shard, "notes": notes}
        sent["questions"] = questions
        return {**sent, **self._secrets()}

    def _secrets(self) -> dict[str, Any]:
        """The credentials removed or skipped, and the files, unless the last call gave the same."""
        if not self._settings.asks:
            return {}
        skipped = dict(sorted(self.credentials.skipped.items()))
        found: dict[str, Any] = {"removed": sorted(self.credentials.removed), "skipped": skipped}
        found["recorded"] = sorted(map(str, self.recordings.written))
        known, self._known_secrets = self._known_secrets, found
        return {} if found == known else found

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

    def _prompts(self, measurement: Measurement) -> dict[str, Any]:
        """The prompts, each text once, and for each judgment the number of its prompt."""
        asked = [measurement.prompt_of(judgment.trial.id) for judgment in measurement.judgments]
        texts = {text: number for number, text in enumerate(dict.fromkeys(asked))}
        cleaned = json.loads(self.cleaned(json.dumps(list(texts))))
        return {"texts": cleaned, "of": [texts[text] for text in asked]}

    def _stopping(self, judge: JudgeSpec, suite: Suite) -> Stopping | None:
        """The checks that must be decided for an early stop: all that the session declares."""
        if not (self._settings.early_stop or suite.early_stop) or self.policy == "refuted":
            return None
        place = judge.slug, suite.name, suite.path
        checks = {
            one.check.key: one.check
            for one in self._family
            if (one.judge.slug, one.suite.name, one.suite.path) == place
        }
        if not checks:
            return None  # free-form estimates need the whole suite
        rule = DecisionRule(self.policy, self._most_missing)
        return Stopping(tuple(checks.values()), rule, self._progress.decided)

    def _measure(self, judge: JudgeSpec, suite: Suite) -> Measurement:
        warnings = lint_notices(suite_for_judge(suite, judge), self.registry)
        seed, stopping = self._settings.seed, self._stopping(judge, suite)
        with self._asking_of(judge, suite) as (cassettes, asking):
            measurement = measure(
                judge,
                suite,
                cassettes,
                self.loop,
                mode=self._settings.mode,
                seed=seed,
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
            measurement.recorded and measurement.recorded[0],
            measurement.oldest,
            f"judge {judge.name!r} on suite {suite.name}",
            self.recordings.command(judge, suite),
        )
        return measurement

    @contextmanager
    def _asking_of(
        self, judge: JudgeSpec, suite: Suite
    ) -> Iterator[tuple[dict[str, Path], Asking]]:
        """The cassettes of a suite and how it is called; the session remembers errors."""
        asked = suite_for_judge(suite, judge)
        with (
            self.recordings.recordings(judge, asked) as cassettes,
            self._progress.of(judge, suite, self.throttle(judge)) as watch,
        ):
            key = _key_of(judge, suite)
            if known := self._session.error(*key):
                raise known
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
            )
            try:
                yield cassettes, asking
            except JudgesenseError as raised:
                kinds = self.registry.forms
                error = self.recordings.with_what_is_recorded(raised, judge, suite, kinds)
                self._session.note_error(error, *key)
                self.share_end_of(judge)
                if error is raised:
                    raise
                raise error from None
            except KeyboardInterrupt:
                if self._settings.mode == "record":
                    self.interrupted.append(_progress(judge, asked, cassettes.values()))
                raise

    def _verify(self, measurement: Measurement, count: int) -> None:
        """Call some of the trials again, once in the session, by any of its processes."""
        judge, suite = measurement.judge, measurement.suite
        # In separate files, which the session shares, and deletes at its end.
        live = self._settings._replace(mode="live", save_live=None)
        files = replace(self.recordings, settings=live)
        with files.recordings(judge, suite) as paths:
            known = files.cassette(judge, f"{suite.name}.verified.json")
            if not known.exists():
                found = self._asked_again(measurement, paths, count)
                replace_content(known, self.cleaned(json.dumps(asdict(found))).encode())
            self._verified.append(json.loads(known.read_bytes()))

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
        named = inquiry.served(answered).values()
        served = (measurement.served, tuple(sorted(set().union(*named))))
        return compare(measurement.judgments, trials, fresh, judge.slug, suite.name, seed, served)

    def _pend(self, measurement: Measurement, *lines: CheckLine) -> None:
        key = (measurement.judge.slug, measurement.suite.name)
        _, known = self._pending.get(key, (measurement, ()))
        self._pending[key] = (measurement, (*known, *lines))


def _key_of(judge: JudgeSpec, suite: Suite) -> tuple[str, ...]:
    """Under what a session notes the error of a measurement."""
    return "measurement", judge.slug, suite.name, str(suite.path)


async def _imported(judge: JudgeSpec) -> JudgeFunction:
    runner = current_runner()
    assert runner is not None, "the loop of a session says where judges run"
    return await imported(judge, runner)


def _progress(judge: JudgeSpec, suite: Suite, cassettes: Iterable[Path]) -> str:
    answered = {one.trial for path in cassettes for one in read_exchanges(path) if one.answers}
    planned = [trial.id for trial in plan_trials(suite)]
    recorded = sum(trial in answered for trial in planned)
    counted = f"{recorded} of {len(planned)} trials recorded"
    return f"judge {judge.name}, suite {suite.name}: {counted}, not replayed for a proof"
