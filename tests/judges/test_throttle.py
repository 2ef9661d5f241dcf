"""Whose turn it is, and what a response means: which setting a model refuses, in its own words."""

from __future__ import annotations

import asyncio
from contextlib import suppress

import pytest

from pytest_judgesense.judges.spec import JudgeSpec
from pytest_judgesense.judges.throttle import Throttle, setting_to_change

# A callable asks whom it likes: no call of it goes first, alone.
SPEC = JudgeSpec("fn", "callable", "module:function")


def test_waiting_calls_begin_in_their_order_and_never_more_than_may() -> None:
    begun: list[int] = []

    async def main() -> int:
        throttle, under_way, most = Throttle(SPEC, 3), 0, 0

        async def call(number: int) -> None:
            nonlocal under_way, most
            async with throttle.permit():
                begun.append(number)
                under_way += 1
                most = max(most, under_way)
                await asyncio.sleep(0)
                under_way -= 1

        await asyncio.gather(*map(call, range(20)))
        return most

    assert asyncio.run(main()) == 3
    assert begun == list(range(20))


def test_a_call_that_is_cancelled_when_its_turn_has_come_gives_it_on() -> None:
    begun: list[str] = []

    async def main() -> None:
        throttle = Throttle(SPEC, 1)

        async def call(name: str) -> None:
            async with throttle.permit():
                begun.append(name)

        async with throttle.permit():
            waiting, cancelled, last = (asyncio.ensure_future(call(name)) for name in "abc")
            await asyncio.sleep(0)
            waiting.cancel()  # while it waits
        cancelled.cancel()  # it was let begin, and has not come to it
        async with asyncio.timeout(5):
            await last
        for task in (waiting, cancelled):
            with suppress(asyncio.CancelledError):
                await task
        async with asyncio.timeout(5), throttle.permit():  # none is lost
            begun.append("d")

    asyncio.run(main())
    assert begun == ["c", "d"]


# As providers word it (OpenAI, Azure, Anthropic, Mistral, Groq, Google, vLLM), shortened.
REFUSALS = [
    (
        (
            "HTTP 400: Unsupported value: 'temperature' does not support 0.0 with this model. "
            "Only the default (1) value is supported."
        ),
        "temperature = false",
    ),
    (
        (
            "HTTP 400: Unsupported parameter: 'max_tokens' is not supported with this model. Use "
            "'max_completion_tokens' instead."
        ),
        'reasoning = "low"',
    ),
    (
        "HTTP 400: `temperature` may only be set to 1 when thinking is enabled.",
        "temperature = false",
    ),
    (
        "HTTP 400: `top_p` and `temperature` cannot both be specified for this model.",
        "top_p = false",
    ),
    ("HTTP 422: Extra inputs are not permitted: seed", "seed = false"),
    ("HTTP 400: `logprobs` is not supported with this model", "logprobs = false"),
    ("HTTP 400: Unknown name 'top_logprobs': Cannot find field.", "logprobs = false"),
    ("HTTP 400: Unrecognized request argument supplied: reasoning_effort", "take reasoning out"),
    (
        (
            "HTTP 400: Invalid parameter: 'response_format' of type 'json_schema' is not supported "
            "with this model."
        ),
        "structured = false",
    ),
]


@pytest.mark.parametrize(("reason", "setting"), REFUSALS)
def test_a_refused_setting_is_named_as_the_table_has_it(reason: str, setting: str) -> None:
    found = setting_to_change(reason)
    assert found is not None
    assert found.startswith(setting)


@pytest.mark.parametrize(
    "reason",
    [
        # Of one prompt, or of the endpoint: no setting is at fault.
        (
            "HTTP 400: This model's maximum context length is 8192 tokens, however you requested "
            "9000 tokens (8744 in the messages, 256 in max_tokens)."
        ),
        "HTTP 400: the prompt is not allowed by the content policy",
        "HTTP 500: temperature is not supported",
        "HTTP 401: unsupported key",
        "temperature is not supported",
        "HTTP 400: my_temperature_of_choice is unsupported",
        "",
    ],
)
def test_other_reasons_name_none(reason: str) -> None:
    assert setting_to_change(reason) is None
