"""Whether the replies of a judge can be read at all, found out before all of them are paid for.

The first trials of a suite are called first. As soon as one of them states a verdict, all others
are called; if none does, calling stops. So a wrong prompt, or a function with unreadable return
values, costs only these calls. A call that fails says nothing of the replies, and may pass: another
one is asked in its place. But a request that is refused each time, or a function that raises each
time, is not tried for all trials.
"""

from __future__ import annotations

import asyncio
import re
import shlex
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from pathlib import Path
from typing import Final

from pytest_judgesense.errors import LimitReached
from pytest_judgesense.suites.planning import trial_order
from pytest_judgesense.text.layout import excerpt
from pytest_judgesense.trial import Judgment, Unparsed, Verdict

# Between lines of what was found.
_LINE_BREAK: Final = "\n            "
# Replies that are shown of those that cannot be read.
_MOST_SHOWN: Final = 3
_LONGEST: Final = 100
# What a function returns that scores where labels are asked for.
_FRACTION: Final = re.compile(r"-?\d+\.\d+(?:e[+-]?\d+)?")
# How the limit is set in a session of pytest, or by `judgesense record`.
BY_OPTION: Final = "--judge-max-unparsed {}"
# So many times as many calls may fail, with no verdict in between.
_FAILING: Final = 5


class FirstReplies:
    """Lets the first trials of a suite begin, and the others once one of those could be read.

    After ``most`` that could not, with none that could, no other begins, nor after five times as
    many calls that failed; 0 sets no limit. Errors name the ``verdicts`` that a reply may state,
    and the limit as its user sets it: ``setting`` with the number in place of ``{}``; ``recording``
    says that replies are kept.
    """

    def __init__(
        self,
        most: int = 0,
        verdicts: Sequence[str] = (),
        setting: str = BY_OPTION,
        *,
        recording: bool = True,
    ) -> None:
        self._most = most
        self._setting = setting
        self._recording = recording
        self._verdicts = verdicts
        self._recorded: list[Path] = []
        self._open = not most
        self._under_way = 0
        self._unread: list[Judgment] = []
        self._failed: list[Judgment] = []
        self._changed = asyncio.Condition()

    def turn(self) -> AbstractAsyncContextManager[None]:
        """The duration of one trial; its outcome is reported by `learn` before it ends.

        Raises:
            LimitReached: none of the first replies could be read, or none of the first calls
                gave one.
        """
        return nullcontext() if self._open else self._first_turn()

    @asynccontextmanager
    async def _first_turn(self) -> AsyncIterator[None]:
        async with self._changed:
            await self._changed.wait_for(lambda: self._open or self._is_over or self._may_begin)
            if self._is_over:
                raise self._limit()
            self._under_way += 1
        try:
            yield
        finally:
            async with self._changed:
                self._under_way -= 1
                self._changed.notify_all()

    def learn(self, judgment: Judgment, recorded: Path | None = None) -> None:
        """Note the outcome of a trial, and the file where its reply is ``recorded`` from before."""
        if isinstance(judgment.outcome, Verdict):
            self._open = True
        elif isinstance(judgment.outcome, Unparsed):
            self._unread.append(judgment)
            self._recorded += [recorded] if recorded else []
        else:
            self._failed.append(judgment)

    @property
    def _may_begin(self) -> bool:
        left = self._most - len(self._unread), _FAILING * self._most - len(self._failed)
        return self._under_way < min(left)

    @property
    def _is_over(self) -> bool:
        return not self._open and (len(self._unread) >= self._most or self._all_fail)

    @property
    def _all_fail(self) -> bool:
        return len(self._failed) >= _FAILING * self._most

    def _limit(self) -> LimitReached:
        if self._all_fail:
            return LimitReached(
                f"{len(self._failed)} calls failed, and none before gave a verdict "
                f"({self._setting.format(self._most)})",
                found=_LINE_BREAK.join(_lines(self._failed)),
                expected="a reply with a verdict before as many calls fail; otherwise asking stops",
                remedy="fix the request or the function, and run again: failed calls are made "
                f"again; {self._setting.format(0)} turns this limit off",
            )
        shown = _LINE_BREAK.join(_lines(self._unread))
        named = f" ({', '.join(self._verdicts)})" if self._verdicts else ""
        keeping = "recorded replies are kept"
        if not self._recording:
            keeping = "live replies are kept with --judge-save-live alone"
        before = ""
        if self._recorded:
            # A function that makes no request is not run for what is recorded, changed or not.
            count, files = len(self._recorded), shlex.join(map(str, dict.fromkeys(self._recorded)))
            before = f"; {count} of these are from before: to ask for all again, rm {files}"
        return LimitReached(
            f"none of the first {len(self._unread)} replies states a verdict "
            f"({self._setting.format(self._most)})",
            found=shown,
            expected=f"a verdict{named} in at least one of them; otherwise asking stops",
            remedy=f"{_first_remedy(self._unread)}, and run again: "
            f"{keeping}{before}; {self._setting.format(0)} turns this limit off",
        )


def _first_remedy(unread: Sequence[Judgment]) -> str:
    """What to do about replies without a verdict."""
    remedy = "fix the prompt, the function or [space] names of the suite"
    if any(_FRACTION.fullmatch(judgment.reply or "") for judgment in unread):
        return f"return a bool, such as score >= 0.6, or a label in place of a score; or {remedy}"
    if any(not (judgment.reply or "").strip() for judgment in unread):
        return f"raise max_tokens, which a reasoning model may spend before it replies; or {remedy}"
    return remedy


def unread_lines(judgments: Iterable[Judgment]) -> list[str]:
    """At most three of the ``judgments`` without a verdict, each with its reason and its reply."""
    return _lines(judgment for judgment in judgments if isinstance(judgment.outcome, Unparsed))


def _nothing(judgment: Judgment) -> str:
    """An empty reply, and what was spent on it."""
    if (reasoning := judgment.usage.reasoning_tokens) is None:
        return "(nothing)"
    of = judgment.usage.completion_tokens
    return f"(nothing; {reasoning} of {of} tokens were reasoning)"


def _lines(judgments: Iterable[Judgment]) -> list[str]:
    by_trial = {judgment.trial.id: judgment for judgment in judgments}
    # In the order of the plan: that of the answers is chance.
    unread = [by_trial[id_] for id_ in trial_order(by_trial)]
    first = {(judgment.outcome, judgment.reply): judgment for judgment in reversed(unread)}
    # Those that say something new come first.
    unread.sort(key=lambda judgment: first[judgment.outcome, judgment.reply] is not judgment)
    lines = []
    for judgment in unread[:_MOST_SHOWN]:
        assert not isinstance(judgment.outcome, Verdict), "those with a verdict are left out"
        parts = [judgment.trial.id, excerpt(judgment.outcome.reason, _LONGEST)]
        if isinstance(judgment.outcome, Unparsed):
            parts.append(excerpt(judgment.reply or "", _LONGEST) or _nothing(judgment))
        lines.append(": ".join(parts))
    return lines
