"""The values of the fixtures `judge_check`, `judge_datasheet` and `judge`.

A judge that a test asks directly is recorded and replayed like a suite.
"""

from __future__ import annotations

import asyncio
import hashlib
import threading
from collections.abc import Coroutine, Iterator
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any

import pytest

from pytest_judgesense.cassettes.cassette import Cassette
from pytest_judgesense.cassettes.matching import Identity
from pytest_judgesense.cassettes.opening import open_cassette
from pytest_judgesense.checks.declaration import LISTING, declare_check
from pytest_judgesense.errors import JudgeError, JudgesenseError, UsageError, unknown_name
from pytest_judgesense.estimate import Estimate, find_estimate
from pytest_judgesense.judges.client import open_client
from pytest_judgesense.judges.judge import Judge, Prompt
from pytest_judgesense.judges.providers.base import Reply
from pytest_judgesense.judges.resolving import credentials_of
from pytest_judgesense.judges.spec import JudgeSpec, refuse_jury
from pytest_judgesense.plugin.activation import PLUGINS
from pytest_judgesense.plugin.markers import EVALUATED, checks_of, evaluate
from pytest_judgesense.plugin.messages import without_frames
from pytest_judgesense.plugin.run import Run
from pytest_judgesense.plugin.state import state_of
from pytest_judgesense.plugin.suite_names import command_of, nodeid_of
from pytest_judgesense.suites.planning import trial_order
from pytest_judgesense.trial import Failed


class JudgeCheck:
    """Asserts checks of one judge: those of the test's markers, or one that is named."""

    def __init__(self, item: pytest.Item, judge: JudgeSpec) -> None:
        self._item, self._judge = item, judge

    def __repr__(self) -> str:
        # Tracebacks show it and reports keep them: the same in every session.
        return f"JudgeCheck({self._judge.name!r})"

    @without_frames
    def __call__(self, name: str | None = None, *args: Any, **kwargs: Any) -> None:
        """Assert the check ``name`` with the arguments of its marker; without one the markers'.

        Raises:
            AssertionError: a check does not pass; its text is the whole explanation.
            UsageError: no check is named and the test has no marker of one, or it is wrong.
        """
        __tracebackhide__ = True
        checks = checks_of(self._item)
        if name is not None:
            registry = self._item.config.stash[PLUGINS].registry_for(name)
            checks = [declare_check(name, args, kwargs, registry)]
        if not checks:
            raise UsageError(
                "judge_check() has nothing to check",
                found="no marker of a check on this test",
                expected='a marker, or judge_check("jss_floor", 0.9, suite="coherence")',
            )
        for declared in checks:
            self._item.stash.setdefault(EVALUATED, set()).add((declared.key, declared.suite))
            evaluate(self._item, self._judge, declared)


class JudgeDatasheet:
    """Reads estimates of one judge; a suite is measured at its first use.

    Attributes:
        judge: name of the judge.
    """

    def __init__(self, item: pytest.Item, judge: JudgeSpec) -> None:
        self._item, self._judge = item, judge
        self.judge = judge.name

    def __repr__(self) -> str:
        return f"JudgeDatasheet({self.judge!r})"

    @without_frames
    def __call__(self, measure: str, suite: str | None = None, **condition: Any) -> Estimate:
        """The estimate of ``measure`` on ``suite`` under exactly ``condition``.

        Raises:
            UsageError: unknown measure, suite or condition; it lists the known ones.
        """
        __tracebackhide__ = True
        measures = self._item.config.stash[PLUGINS].registry.measures
        if measure not in measures:
            raise unknown_name("measure", measure, measures, LISTING)
        name = suite or measures[measure].suite
        if name is None:
            raise UsageError(
                f"{measure} can be measured on several suites", expected='suite="..." with its name'
            )
        estimates = self.estimates(name)
        estimate = find_estimate(estimates, measure, condition)
        if estimate is None:
            conditions = [dict(e.condition) for e in estimates if e.measure == measure]
            raise UsageError(
                f"suite {name} has no {measure} under this condition",
                found=repr(condition),
                expected=f"one of: {conditions}" if conditions else f"a measure of suite {name}",
            )
        return estimate

    @without_frames
    def estimates(self, suite: str) -> tuple[Estimate, ...]:
        """All estimates of the judge on ``suite``."""
        __tracebackhide__ = True
        measurements = state_of(self._item.config).run.measurements
        loaded = measurements.suite(suite, self._item.path.parent)
        return measurements.shown(self._judge, loaded).estimates


class AskableJudge(Judge):
    """A judge to be asked by a test; the n-th question of a test is replayed as its n-th."""

    def __init__(self, spec: JudgeSpec, run: Run, cassette: Cassette, test: str) -> None:
        self._spec, self._run = spec, run
        self._cassette, self._test = cassette, test
        self._asked = 0
        self._under_way = 0
        self._changing = threading.Lock()
        self._open = ExitStack()
        self._left: list[Future[Reply]] = []

    @without_frames
    def ask(self, prompt: Prompt) -> Reply:
        """The reply to a prompt or to whole messages.

        Raises:
            JudgeError: the call failed.
            CassetteError: replaying, and the recording does not serve.
        """
        __tracebackhide__ = True
        self._intercept()
        try:
            return self._run.measurements.loop.run(self._question(prompt))
        finally:
            self._intercept_no_more()

    async def ask_async(self, prompt: Prompt) -> Reply:
        """`ask`, for ``async def`` tests; several questions may run concurrently."""
        __tracebackhide__ = True
        question: Future[Reply] | None = None
        self._intercept()
        try:
            question = self._run.measurements.loop.submit(self._question(prompt))
            answer = asyncio.wrap_future(question)
            # Whoever waits may be cancelled; the call is paid for, comes to its end, and its error
            # is no one else's to report.
            answer.add_done_callback(lambda done: done.cancelled() or done.exception())
            await asyncio.wait([answer])
            return answer.result()
        except JudgesenseError as error:
            raise error.with_traceback(None) from None
        finally:
            if question is None or question.done():
                self._intercept_no_more()
            else:
                self._left.append(question)

    def _close(self) -> None:
        """Wait for the calls that the test has not awaited; each is bounded."""
        self._run.measurements.loop.wait_for(self._left)
        for _ in self._left:
            self._intercept_no_more()

    def _intercept(self) -> None:
        """Intercept from the first question under way to the last, and no longer.

        So the cassette is opened before other interceptors of a test.
        """
        with self._changing:
            if not self._under_way:
                from pytest_judgesense.cassettes.interception import intercepting

                self._open.enter_context(intercepting(self._cassette))
            self._under_way += 1

    def _intercept_no_more(self) -> None:
        with self._changing:
            self._under_way -= 1
            if not self._under_way:
                self._open.close()

    def _question(self, prompt: Prompt) -> Coroutine[Any, Any, Reply]:
        # Numbered now: the order of the questions is the test's, that of the answers is not.
        self._asked += 1
        return self._ask(f"{self._test}/q{self._asked}", prompt)

    async def _ask(self, trial: str, prompt: Prompt) -> Reply:
        messages = [{"role": "user", "content": prompt}] if isinstance(prompt, str) else prompt
        async with open_client(
            # The test gets the reply as it came: it is not repaired.
            replace(self._spec, repair=None),
            self._cassette,
            concurrency=1,
            throttle=self._run.measurements.throttle(self._spec),
            skills=self._run.measurements.registry.skills,
            trust=self._run.measurements.trust,
        ) as asker:
            answer = await asker.ask(trial, messages)
        self._run.collected.count_question(answer)
        if isinstance(answer.reply, Failed):
            raise JudgeError(f"judge {self.name!r} gave no reply", found=answer.reply.reason)
        return answer.reply


@contextmanager
def askable_judge(item: pytest.Item, spec: JudgeSpec) -> Iterator[AskableJudge]:
    """The judge, with its cassette open for the time of the test."""
    refuse_jury(spec, "a test cannot ask its judge")
    run = state_of(item.config).run
    measurements = run.measurements
    recordings, shard = measurements.recordings, measurements.shard
    test = nodeid_of(item).replace("\\", "/")
    # One file a test: tests of one module may run in several processes at once.
    digest = hashlib.sha256(test.encode()).hexdigest()[:8]
    if shard is not None and int(digest, 16) % shard.of != shard.number - 1:
        pytest.skip(f"this test asks its judge in another shard than {shard}")
    stem = "".join(c if c.isalnum() or c in "._-" else "-" for c in item.name)[:60]
    name, command = f"tests/{stem}-{digest}", command_of(item)
    with recordings.recording(spec, f"{name}.jsonl") as path:
        cassette = open_cassette(
            path,
            recordings.settings.mode,
            secrets=credentials_of(spec, measurements.credentials),
            how_to_record=f"record it: {command} --judge-mode record",
            identity=Identity(spec.ignore),
        )
        dates = cassette.recorded_of(cassette.trials)
        recorded = f"judge {spec.name!r} in this test"
        recordings.refuse_old(dates, path, recorded, command)
        askable = AskableJudge(spec, run, cassette, name)
        try:
            yield askable
        finally:
            askable._close()
            measurements.share_end_of(spec)
        cassette.finish(trial_order(cassette.trials))
