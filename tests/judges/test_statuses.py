"""The settings that a model refuses, told from the words of endpoints."""

from __future__ import annotations

import pytest

from pytest_judgesense.judges.statuses import setting_to_change

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
