"""The function of a judge, as it is asked: imported, bound to a suite, watched and run."""

from __future__ import annotations

import asyncio
import os
import re
import time
from contextlib import (
    nullcontext,
    suppress,
)
from copy import deepcopy
from functools import partial
from typing import Final

from pytest_judgesense.cassettes.bodies import too_large
from pytest_judgesense.cassettes.cassette import Cassette
from pytest_judgesense.cassettes.exchange import (
    Exchange,
    RecordedRequest,
)
from pytest_judgesense.cassettes.replaying import ReplayingCassette
from pytest_judgesense.cassettes.scope import Abandoned, CallScope, entered
from pytest_judgesense.cassettes.writing import RecordingCassette
from pytest_judgesense.errors import (
    BodyTooLarge,
    JudgeError,
    JudgesenseError,
    UsageError,
    reason_of,
    unset_variable,
)
from pytest_judgesense.judges.code_digest import RecordedCode
from pytest_judgesense.judges.functions import (
    Binding,
    binding_of,
    is_async,
    missing_file_remedy,
    refuse_own_prompt,
    refuse_unusable_confidence,
    said_by,
)
from pytest_judgesense.judges.loop import FunctionRunner, OutOfTime
from pytest_judgesense.judges.opened_files import OPENED
from pytest_judgesense.judges.placeholders import placeholder_credentials
from pytest_judgesense.judges.project_code import in_front
from pytest_judgesense.judges.resolving import (
    function_of,
    judged_folders,
)
from pytest_judgesense.judges.spec import JudgeFunction, JudgeSpec
from pytest_judgesense.judges.throttle import (
    Answer,
    Consequence,
    kind_of_status,
    overloaded,
    status_of,
)
from pytest_judgesense.judges.trial_call import Call, fields_of, function_call
from pytest_judgesense.judges.trust import Trust
from pytest_judgesense.judges.unseen import UNSEEN
from pytest_judgesense.judges.usage import function_reply, is_cut_off
from pytest_judgesense.suites.suite import Suite
from pytest_judgesense.trial import Failed

# A module may load a model while it is imported.
_LONGEST_IMPORT_S: Final = 600.0


# The environment variable of a key, as messages of SDKs name it.
_KEY_VARIABLE: Final = re.compile(r"\b[A-Z][A-Z0-9]*_(?:[A-Z0-9]+_)*(?:KEY|TOKEN)\b")


class _NoReply(Exception):
    """A function has given no reply; says why, and what follows."""

    def __init__(
        self, reason: str, kind: Consequence = "fail", *, overloaded: bool = False
    ) -> None:
        super().__init__(reason)
        self.reason, self.kind, self.overloaded = reason, kind, overloaded


class AskedFunction:
    """The function of a judge: imported when it is first needed, bound to a suite, and run."""

    def __init__(
        self,
        spec: JudgeSpec,
        cassette: Cassette,
        runner: FunctionRunner,
        trust: Trust,
        suite: Suite | None,
    ) -> None:
        self._spec = spec
        self._cassette = cassette
        self._runner = runner
        self._trust = trust
        self._suite = suite
        self._folders = judged_folders(spec)
        self._importing = asyncio.Lock()
        self._bound: tuple[JudgeFunction, Binding | None] | None = None
        self.code = RecordedCode(spec)
        if isinstance(cassette, RecordingCassette):
            OPENED.watch()
            UNSEEN.watch()
            cassette.code = self.code.state

    async def _imported(self) -> tuple[JudgeFunction, Binding | None]:
        # Requests that a module makes during import belong to no trial; otherwise they would be
        # missing if another trial comes first. While replaying, imports make no requests either.
        async with self._importing:
            if self._bound is None:
                self._trust.refuse_code(self._spec)
                scope = None
                if isinstance(self._cassette, ReplayingCassette):
                    scope = CallScope(self._spec.model, None, replaying=True, imports=True)
                with entered(scope):
                    function = await imported(self._spec, self._runner)
                binding = binding_of(function, self._spec, self._suite)
                refuse_own_prompt(function, self._spec, self._suite, binding)
                self._bound = function, binding
            return self._bound

    def has_asked(self) -> None:
        """Note that requests of it were seen: what it asks beside them is noticed."""
        UNSEEN.has_asked(self._spec)

    async def is_async(self) -> bool:
        """Whether a call of it gives a coroutine."""
        function, _ = await self._imported()
        return is_async(function)

    async def call_of(self, call: Call) -> RecordedRequest:
        """The call as it is recorded: with what its parameters are given, else the messages."""
        _, binding = await self._imported()
        arguments = None if binding is None else binding.arguments(fields_of(call))
        return function_call(self._spec, call, arguments)

    async def run(self, scope: CallScope, call: Call, request: RecordedRequest) -> Answer:
        """Its answer to ``call``; where it makes no request, recorded as that to ``request``."""
        started = time.perf_counter()
        try:
            value = await self._value(scope, call)
            latency = time.perf_counter() - started
            text = self._written(value)
            for old, _ in scope.edits:
                if old not in scope.exchanged:
                    raise _not_sent(self._spec, old)
            if not scope.intercepted:
                self._cassette.take_return(scope, request, text)
        except BodyTooLarge as error:
            return Answer(Failed(self._cassette.redacted(error.what)), kind="fail")
        except _NoReply as error:
            if error.kind == "fail" and not scope.out_of_time and is_cut_off(self._got(scope)):
                # SDKs and code fail on such a reply; it is there, and was paid for.
                latency = time.perf_counter() - started
                return self._replied(scope, "", latency)
            failed = Failed(self._cassette.redacted(error.reason))
            late = int(scope.out_of_time)
            return Answer(failed, kind=error.kind, overloaded=error.overloaded, timed_out=late)
        return self._replied(scope, self._cassette.redacted(text), latency)

    def _replied(self, scope: CallScope, text: str, latency: float) -> Answer:
        """The answer of a function that amounts to ``text``."""
        scope.returns.append(text)
        exchanges = () if text.strip() else self._got(scope)
        return Answer(function_reply(text, exchanges), latency_s=latency)

    def _got(self, scope: CallScope) -> list[Exchange]:
        """What its requests so far have got."""
        digests, digest_of = scope.digests, self._cassette.identity.digest
        recorded = self._cassette.recordings.of(scope.trial)
        return [e for e, _ in recorded if not e.returns and digest_of(e.request) in digests]

    async def _value(self, scope: CallScope, asked: Call) -> object:
        """What it returns; an error of the recording counts, whatever the function made of it."""
        function, binding = await self._imported()
        # A copy, because a judge may change its messages, or a conversation.
        if binding is None:
            call = partial(function, [dict(message) for message in asked.messages])
        else:
            call = binding.call(function, deepcopy(binding.arguments(fields_of(asked))))
        try:
            # Where its return alone is recorded, no request of it is looked at.
            unseen = entered(None) if self._spec.by_return else nullcontext()
            opening = OPENED.by((self._spec.name, self._spec.model))
            # It may import more while it runs.
            with opening, UNSEEN.by(self._spec), unseen, in_front(self._folders):
                value = await self._runner.call(call, self._spec.timeout_s, is_async(function))
        except (OutOfTime, BodyTooLarge) as error:
            _raise_remembered(scope)
            if isinstance(error, BodyTooLarge):
                raise
            scope.out_of_time = True
            raise _NoReply(f"{error} (timeout_s)") from error
        except JudgesenseError:
            raise
        except Exception as error:
            _raise_remembered(scope)
            if scope.replaying and not scope.intercepted:
                # No request was made: this machine lacks what the function needs.
                reason = self._cassette.redacted(reason_of(error))
                remedy = missing_file_remedy(error)
                raise _not_replayable(self._spec, reason, remedy) from error
            if not scope.made and (variable := _unset_key(error)) is not None:
                raise _without_key(self._spec, variable, reason_of(error)) from error
            # Clients retry by themselves; their final exception is not retried.
            status = status_of(error)
            kind: Consequence = "end" if kind_of_status(status) == "end" else "fail"
            raise _NoReply(reason_of(error), kind, overloaded=overloaded(status)) from error
        _raise_remembered(scope)
        return value

    def _written(self, value: object) -> str:
        """The text of the reply that its return amounts to."""
        suite = self._suite
        try:
            text = said_by(value, self._spec, suite.space if suite else None)
            if suite is not None and _may_state_confidence(value, suite):
                refuse_unusable_confidence(text, self._spec, suite.space)
        except JudgesenseError:
            raise
        except Exception as error:  # such as a dictionary that holds itself
            reason = f"the function returned what cannot be written: {reason_of(error)}"
            raise _NoReply(reason) from error
        if len(text) > self._spec.max_body_bytes:
            raise too_large(self._spec.max_body_bytes, "returned")
        return text


def _may_state_confidence(value: object, suite: Suite) -> bool:
    """Whether a return is more than a text, of which a verdict of the suite's space is read."""
    return not isinstance(value, str) and suite.reply is None and suite.space.score is None


def _unset_key(error: BaseException) -> str | None:
    """The variable of a key that is not set, for which code has failed, if any.

    Code reads it, or the message of an SDK names it.
    """
    named = _KEY_VARIABLE.findall(reason_of(error))
    return unset_variable(error) or next((n for n in named if not os.environ.get(n)), None)


def _without_key(spec: JudgeSpec, variable: str, reason: str) -> JudgeError:
    return JudgeError(
        f"{variable} is not set: judge {spec.name!r} has no key, and made no request",
        found=f"{spec.model}: {reason}",
        expected=f"{variable} in the environment; what is recorded needs none",
        remedy=f"export {variable}=...",
    )


def _not_sent(spec: JudgeSpec, text: str) -> JudgeError:
    return JudgeError(
        f"judge {spec.name!r} sends no request with the part of its prompt that is to be changed",
        found=f"no request that holds {text[:200]!r}",
        expected="the prompt as it was sent when the suite was recorded",
        remedy="record the suite again, or give the function its prompt: a parameter "
        "template or messages",
    )


def _not_replayable(spec: JudgeSpec, reason: str, remedy: str) -> JudgeError:
    return JudgeError(
        f"judge {spec.name!r} cannot be replayed here: it fails before its first request",
        found=f"{spec.model}: {reason}",
        expected="a function that needs only its recorded answers; keys that common clients "
        "read get placeholders",
        remedy=remedy
        or "name the variable of another key in the judge's table, "
        'api_key_env = "NAME"; where there are several, set them to any value: nothing is sent '
        "(boto3 needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY)",
    )


async def imported(spec: JudgeSpec, runner: FunctionRunner) -> JudgeFunction:
    """The function of a callable judge, its module imported where judges run.

    A module that fails is imported once more with placeholders for keys that are not set: what is
    recorded needs none, and no request goes out with one.

    Raises:
        UsageError: it cannot be imported, or is not a function.
        JudgeError: the import does not end.
    """
    try:
        return await _imported_once(spec, runner)
    except UsageError:
        scope = CallScope(spec.model, None, imports=True, lends_keys=True)
        with suppress(UsageError), placeholder_credentials(spec.api_key_env), entered(scope):
            return await _imported_once(spec, runner)
        raise


async def _imported_once(spec: JudgeSpec, runner: FunctionRunner) -> JudgeFunction:
    try:
        with UNSEEN.by(spec):
            function: JudgeFunction = await runner.call(
                partial(function_of, spec), _LONGEST_IMPORT_S
            )
    except OutOfTime as error:
        raise JudgeError(
            f"the module of judge {spec.name!r} has not been imported",
            found=f"{spec.model}: {error}",
            expected="a module that is imported within 10 minutes",
            remedy="load models at the first call, not at import",
        ) from error
    return function


def _raise_remembered(scope: CallScope) -> None:
    # A client may have swallowed the cassette's error or retried upon it: it counts all the same.
    if scope.abandoned:
        raise Abandoned(scope.trial)
    if scope.error is not None:
        raise scope.error
