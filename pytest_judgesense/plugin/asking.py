"""The `judge` fixture: a judge asked directly by a test, recorded and replayed like a suite."""

from __future__ import annotations

import asyncio
import hashlib
import threading
from collections.abc import Coroutine, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any

import pytest

from pytest_judgesense.cassettes.cassette import Cassette
from pytest_judgesense.errors import JudgeError, JudgesenseError
from pytest_judgesense.judges.client import open_client
from pytest_judgesense.judges.providers.base import Reply
from pytest_judgesense.judges.resolving import credentials_of
from pytest_judgesense.judges.spec import JudgeSpec
from pytest_judgesense.plugin.frames import told_plainly
from pytest_judgesense.plugin.paths import nodeid_of
from pytest_judgesense.plugin.run import Run
from pytest_judgesense.plugin.state import state_of
from pytest_judgesense.suites.planning import trial_order
from pytest_judgesense.trial import Failed

__all__ = ["AskableJudge", "askable_judge"]


class AskableJudge:
    """A judge to be asked by a test; the n-th question of a test is replayed as its n-th.

    Attributes:
        name: name of the judge.
    """

    def __init__(self, spec: JudgeSpec, run: Run, tape: Cassette, test: str) -> None:
        self.name = spec.name
        self._spec = spec
        self._run = run
        self._tape = tape
        self._test = test
        self._asked = 0
        self._under_way = 0
        self._changing = threading.Lock()
        self._open = ExitStack()

    def ask(self, prompt: str | Sequence[Mapping[str, str]]) -> Reply:
        """The reply to a prompt or to whole messages.

        Raises:
            JudgeError: the call failed.
            CassetteError: replaying, and the recording does not serve.
        """
        __tracebackhide__ = True
        with self._intercepting():
            return told_plainly(self._run.loop.run, self._question(prompt))

    async def ask_async(self, prompt: str | Sequence[Mapping[str, str]]) -> Reply:
        """`ask`, for ``async def`` tests; several questions may be under way at once."""
        __tracebackhide__ = True
        try:
            with self._intercepting(), self._run.loop.waiting():
                return await asyncio.wrap_future(self._run.loop.submit(self._question(prompt)))
        except JudgesenseError as error:
            raise error.with_traceback(None) from None

    @contextmanager
    def _intercepting(self) -> Iterator[None]:
        """The tape intercepts from the first question under way to the last, and no longer.

        Then it stands in front of whatever else intercepts during a test, and behind nothing.
        """
        with self._changing:
            if not self._under_way:
                self._open.enter_context(self._tape.intercepting())
            self._under_way += 1
        try:
            yield
        finally:
            with self._changing:
                self._under_way -= 1
                if not self._under_way:
                    self._open.close()

    def _question(self, prompt: str | Sequence[Mapping[str, str]]) -> Coroutine[Any, Any, Reply]:
        # Numbered now: the order of the questions is the test's, that of the answers is not.
        self._asked += 1
        return self._ask(f"{self._test}/q{self._asked}", prompt)

    async def _ask(self, trial: str, prompt: str | Sequence[Mapping[str, str]]) -> Reply:
        messages = [{"role": "user", "content": prompt}] if isinstance(prompt, str) else prompt
        traffic = self._run.traffic(self._spec)
        # The test gets the reply as it came: it is not mended.
        spec = replace(self._spec, repair=None)
        async with open_client(spec, self._tape, concurrency=1, throttle=traffic) as asker:
            if self._tape.mode == "replay" and self._spec.provider != "callable":
                answer = asker.replay(trial, messages)
            else:
                answer = await asker.ask(trial, messages)
        if isinstance(answer.reply, Failed):
            raise JudgeError(f"judge {self.name!r} gave no reply", found=answer.reply.reason)
        return answer.reply


@contextmanager
def askable_judge(item: pytest.Item, spec: JudgeSpec) -> Iterator[AskableJudge]:
    """The judge, its tape open for the time of the test."""
    run = state_of(item.config).run
    test = nodeid_of(item).replace("\\", "/")
    # One file a test: tests of one module may run in several processes at once.
    digest = hashlib.sha256(test.encode()).hexdigest()[:8]
    stem = "".join(c if c.isalnum() or c in "._-" else "-" for c in item.name)[:60]
    with run.places.recording(spec, f"tests/{stem}-{digest}.jsonl") as path:
        mode = state_of(item.config).settings.mode
        tape = Cassette(
            path,
            "replay" if mode == "replay" else "record",
            secrets=credentials_of(spec, run.credentials),
            how_to_record=f"record it: pytest '{nodeid_of(item)}' --judge-mode record",
        )
        oldest = tape.recorded_of(tape.trials)
        run.places.refuse_old(
            oldest and oldest[0],
            path,
            f"judge {spec.name!r} in this test",
            f"pytest '{item.nodeid}'",
        )
        try:
            yield AskableJudge(spec, run, tape, f"tests/{stem}-{digest}")
        finally:
            run.tell_end_of(spec)
        tape.finish(trial_order(tape.trials))
