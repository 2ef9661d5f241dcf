"""Functions as users have them: what they are given, what their returns say, what traffic tells."""

from __future__ import annotations

import asyncio
import enum
import functools
import inspect
import json
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from pydantic import BaseModel

from pytest_judgesense.cassettes.exchange import Exchange, RecordedRequest, RecordedResponse
from pytest_judgesense.cassettes.storage import read_exchanges
from pytest_judgesense.errors import JudgeError, StaleRecording, UsageError
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.judges.functions import (
    binding_of,
    fields_of,
    has_own_prompt,
    refuse_one_wording,
    said_by,
)
from pytest_judgesense.judges.judge_table import declared_judge, judge_from_table
from pytest_judgesense.judges.loop import AskingLoop
from pytest_judgesense.judges.usage import is_cut_off, usage_and_settings
from pytest_judgesense.measurement import Measurement, measure
from pytest_judgesense.replies import parse_reply
from pytest_judgesense.suites.loading import load_suite
from pytest_judgesense.suites.space import DecisionSpace
from pytest_judgesense.suites.suite import Suite
from pytest_judgesense.trial import Usage, Verdict
from tests.suites.files import CONTENT, PAIRWISE, write_suite

from .endpoint import endpoint, says

PAIRS = DecisionSpace(("A", "B"), pairwise=True, tie=True)
NUMBERED = DecisionSpace(("A", "B"), pairwise=True, names={"A": ("1", "first"), "B": ("2",)})
YES_NO = DecisionSpace(("YES", "NO"))
SCALE = DecisionSpace(("1", "2", "3", "4", "5"), ordinal=True)


def loaded(folder: Path, toml: str, items: list[dict[str, Any]]) -> Suite:
    return load_suite(write_suite(folder, toml, items), None, BUILT_IN.forms)


@pytest.fixture
def pairs(tmp_path: Path) -> Suite:
    """Two items, one wording, both orders: four trials."""
    items = [
        {"id": f"i{n}", "task": f"task {n}", "texts": [f"good {n}", f"poor {n}"], "label": "1"}
        for n in (1, 2)
    ]
    return loaded(tmp_path, PAIRWISE, items)


def asked(function: Callable[..., Any], suite: Suite, folder: Path, **settings: Any) -> Measurement:
    """The measurement of a judge that is recorded."""
    return measured(function, suite, folder, "record", **settings)


def measured(
    function: Callable[..., Any], suite: Suite, folder: Path, mode: Any, **settings: Any
) -> Measurement:
    loop = AskingLoop()
    try:
        tape = {suite.base: folder / "tape.jsonl"}
        return measure(declared_judge("house", function, **settings), suite, tape, loop, mode=mode)
    finally:
        loop.close()


def verdicts(found: Measurement) -> list[str | None]:
    return [judgment.verdict for judgment in found.judgments]


# --- what a function is given --------------------------------------------------------------------


def test_parameters_that_are_called_like_fields_are_given_them(
    pairs: Suite, tmp_path: Path
) -> None:
    given = []

    def judge(task: str, a: str, b: str, strictness: int = 3) -> str:
        given.append((task, a, b, strictness))
        return "A"

    asked(judge, pairs, tmp_path)
    assert sorted(given) == [
        ("task 1", "good 1", "poor 1", 3),
        ("task 1", "poor 1", "good 1", 3),
        ("task 2", "good 2", "poor 2", 3),
        ("task 2", "poor 2", "good 2", 3),
    ]


NAMES = {"question": "task", "answer_a": "a", "answer_b": "b"}


def by_place(question, answer_a, answer_b, /):  # type: ignore[no-untyped-def]
    return "A" if answer_a.startswith("good") else "B"


def by_name(*, question: str, answer_a: str, answer_b: str) -> str:
    return "A" if answer_a.startswith("good") else "B"


async def awaited(question: str, answer_a: str, answer_b: str) -> str:
    return "A" if answer_a.startswith("good") else "B"


class Grader:
    def grade(self, question: str, answer_a: str, answer_b: str) -> str:
        return "A" if answer_a.startswith("good") else "B"

    async def __call__(self, question: str, answer_a: str, answer_b: str) -> str:
        return self.grade(question, answer_a, answer_b)


@pytest.mark.parametrize(
    "function",
    [by_place, by_name, awaited, Grader(), Grader().grade, functools.partial(by_name)],
    ids=["by place", "by name", "async", "object", "method", "partial"],
)
def test_other_names_are_joined_by_arguments(
    function: Callable[..., Any], pairs: Suite, tmp_path: Path
) -> None:
    found = asked(function, pairs, tmp_path, arguments=NAMES)
    # The good answer is in slot A in the first order, in B in the second.
    assert verdicts(found) == ["A", "B", "A", "B"]


def test_the_wording_reaches_a_function_that_takes_it(tmp_path: Path) -> None:
    items = [{"id": "one", "text": "Ice floats.", "label": "YES"}]
    given = []

    def judge(text: str, template: str, template_id: str, messages: list[dict[str, str]]) -> str:
        given.append((text, template, template_id, messages[-1]["content"]))
        return "YES"

    asked(judge, loaded(tmp_path, CONTENT, items), tmp_path)
    assert sorted(given) == [
        ("Ice floats.", "Is this right? {{text}}", "t1", "Is this right? Ice floats."),
        ("Ice floats.", "Right or not? {{text}}", "t2", "Right or not? Ice floats."),
    ]


def test_a_field_called_messages_goes_before_those_of_the_prompt(tmp_path: Path) -> None:
    chat = [{"role": "user", "content": "Where?"}, {"role": "assistant", "content": "Lyon."}]
    items = [{"id": "one", "messages": chat, "label": "YES"}]
    toml = CONTENT.replace("{{text}}", "{{messages}}").replace(
        'file = "items.jsonl"', 'file = "items.jsonl"\nmessages = ["messages"]'
    )
    suite, given, prompts = loaded(tmp_path, toml, items), [], []

    def judge(messages: list[dict[str, str]], template_id: str) -> str:
        given.append((template_id, [*messages]))
        messages.clear()  # which changes neither the next call nor the recorded one
        return "YES"

    def of_the_prompt(prompt: list[dict[str, str]]) -> str:
        prompts.append(prompt[-1]["content"].partition("?")[0])
        return "YES"

    asked(judge, suite, tmp_path)
    assert sorted(given) == [("t1", chat), ("t2", chat)]
    assert verdicts(measured(judge, suite, tmp_path, "replay")) == ["YES", "YES"]
    assert len(given) == 2
    # A name that is no field gets the messages of the prompt, as in any suite.
    (tmp_path / "prompt").mkdir()
    asked(of_the_prompt, suite, tmp_path / "prompt")
    assert sorted(prompts) == ["Is this right", "Right or not"]


@pytest.mark.parametrize("name", ["template", "template_id", "messages"])
def test_a_field_called_like_the_wording_is_no_wording(tmp_path: Path, name: str) -> None:
    suite = loaded(
        tmp_path,
        CONTENT.replace("{{text}}", "{{" + name + "}}"),
        [{"id": "one", name: "Ice floats.", "label": "YES"}],
    )

    def judge(**_: str) -> str:
        return "YES"

    parameter = inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY)
    judge.__signature__ = inspect.Signature([parameter])  # type: ignore[attr-defined]
    binding = binding_of(judge, declared_judge("house", judge), suite)
    assert binding is not None
    assert not binding.wording
    assert has_own_prompt(binding)


@pytest.mark.parametrize(
    "function",
    [
        lambda messages: messages,
        lambda prompt, model="m": prompt,
        lambda *args: args,
        lambda chat=None: chat,
    ],
)
def test_a_function_of_one_value_that_is_no_field_takes_the_messages(
    function: Callable[..., Any], pairs: Suite
) -> None:
    assert binding_of(function, declared_judge("house", function), pairs) is None


def test_a_parameter_without_a_field_is_a_usage_error_that_shows_both_sides(pairs: Suite) -> None:
    def judge(question: str, answer_a: str, answer_b: str, persona: str) -> str:
        return "A"

    with pytest.raises(UsageError) as caught:
        binding_of(judge, declared_judge("house", judge), pairs)
    error = caught.value
    assert error.what == "judge 'house' cannot be given what suite pairs has"
    assert error.found.endswith(
        "judge(question, answer_a, answer_b, persona); no field for question, answer_a, answer_b, "
        "persona"
    )
    assert error.expected == "fields of the suite: a, b, task; or template, template_id, messages"
    # Usual names are guessed, what nobody can guess is left to be filled in.
    assert error.remedy == (
        'give the judge arguments = { question = "task", answer_a = "a", answer_b = "b", '
        'persona = "..." }'
    )


def test_nobody_is_called_before_the_signature_fits(pairs: Suite, tmp_path: Path) -> None:
    called = []

    def judge(question: str, other: str) -> str:
        called.append(question)
        return "A"

    with pytest.raises(UsageError, match="cannot be given what suite pairs has"):
        asked(judge, pairs, tmp_path)
    assert called == []


def test_a_function_without_parameters_is_refused_before_it_is_called(
    pairs: Suite, tmp_path: Path
) -> None:
    called = []

    def judge() -> str:
        called.append(1)
        return "A"

    with pytest.raises(UsageError, match="takes nothing that could be judged") as caught:
        asked(judge, pairs, tmp_path)
    assert called == []
    assert "judge()" in caught.value.found
    assert binding_of(lambda *given: "A", declared_judge("house", by_name), pairs) is None


@pytest.mark.parametrize(
    ("table", "named"),
    [({"question": "tusk"}, 'question = "tusk"'), ({"qestion": "task"}, 'qestion = "task"')],
)
def test_arguments_that_name_what_there_is_not_are_named(
    table: dict[str, str], named: str, pairs: Suite
) -> None:
    with pytest.raises(UsageError) as caught:
        binding_of(by_name, declared_judge("house", by_name, arguments=NAMES | table), pairs)
    assert named in caught.value.found


def test_arguments_the_wrong_way_round_are_detected(pairs: Suite) -> None:
    turned = {field: name for name, field in NAMES.items()}
    with pytest.raises(UsageError, match="arguments of judge 'house' is the wrong way") as caught:
        binding_of(by_name, declared_judge("house", by_name, arguments=turned), pairs)
    assert caught.value.remedy == (
        'write arguments = { question = "task", answer_a = "a", answer_b = "b" }'
    )


def test_a_text_alone_is_no_list_of_messages(pairs: Suite) -> None:
    def judge(question: str) -> str:
        return "A"

    with pytest.raises(UsageError, match="cannot be given"):
        binding_of(judge, declared_judge("house", judge), pairs)


def test_arguments_are_for_functions() -> None:
    table = {"provider": "openai", "model": "m", "arguments": NAMES}
    with pytest.raises(UsageError) as caught:
        judge_from_table("mine", table, Path())
    assert "for a callable judge" in caught.value.found


def test_fields_are_those_of_every_item(tmp_path: Path) -> None:
    items = [{"id": "one", "text": "x", "more": "y"}, {"id": "two", "text": "z"}]
    assert fields_of(loaded(tmp_path, CONTENT, items)) == ["text"]


# --- wordings ------------------------------------------------------------------------------------


def _of_text(text: str) -> str:
    return "YES"


def _of_text_and_wording(text: str, template: str) -> str:
    return "YES"


def _of_messages(messages: list[dict[str, str]]) -> str:
    return "YES"


def test_a_check_of_wordings_says_that_the_function_takes_none(tmp_path: Path) -> None:
    suite = loaded(tmp_path, CONTENT, [{"id": "one", "text": "x"}])
    with pytest.raises(UsageError) as caught:
        refuse_one_wording(_of_text, declared_judge("house", _of_text), suite, ["jss_floor"])
    assert caught.value.what == (
        "jss_floor of suite tiny compares wordings, and judge 'house' takes none"
    )
    assert "_of_text(text), the same call under each of 2 wordings" in caught.value.found
    for function in (_of_text_and_wording, _of_messages):
        refuse_one_wording(function, declared_judge("house", function), suite, ["jss_floor"])
    refuse_one_wording(_of_text, declared_judge("house", _of_text), suite, [])


# --- what it returns -----------------------------------------------------------------------------


class Winner(enum.Enum):
    ANSWER_A = enum.auto()
    ANSWER_B = enum.auto()
    TIE = enum.auto()


class FromZero(enum.IntEnum):
    ANSWER_A = 0
    ANSWER_B = 1


class FromZeroInText(enum.StrEnum):
    ANSWER_A = "0"
    ANSWER_B = "1"


class Turned(enum.Enum):
    B = 1
    A = 2


class Outcome(enum.StrEnum):
    WIN = "A"
    LOSS = "B"


class Slots(enum.Flag):
    A = 1
    B = 2


class Grade(enum.IntEnum):
    POOR = 1
    GOOD = 5


@dataclass
class Ruling:
    verdict: str
    reason: str


class Model(BaseModel):
    winner: Winner
    confidence: float


@pytest.mark.parametrize(
    ("value", "space", "verdict"),
    [
        ("A", PAIRS, "A"),
        ("I prefer the second. Verdict: B", PAIRS, "B"),
        (True, YES_NO, "YES"),
        (False, YES_NO, "NO"),
        (True, DecisionSpace(("PASS", "FAIL")), "PASS"),
        (False, DecisionSpace(("true", "false")), "false"),
        (4, SCALE, "4"),
        (4.0, SCALE, "4"),
        (Winner.ANSWER_B, PAIRS, "B"),
        (Winner.TIE, PAIRS, "tie"),
        (FromZero.ANSWER_B, PAIRS, "B"),
        ({"winner": FromZero.ANSWER_A}, PAIRS, "A"),
        (FromZeroInText.ANSWER_B, NUMBERED, "B"),
        (Turned.B, NUMBERED, "B"),
        (Turned.A, DecisionSpace(("A", "B")), "A"),
        (Outcome.LOSS, PAIRS, "B"),
        (Slots.B, PAIRS, "B"),
        (Grade.GOOD, SCALE, "5"),
        ({"verdict": "A", "reason": "B is longer"}, PAIRS, "A"),
        ({"score": 2, "confidence": 0.9}, SCALE, "2"),
        ({"passed": True}, YES_NO, "YES"),
        ({"winner": Winner.ANSWER_A}, PAIRS, "A"),
        (Ruling("NO", "YES would be wrong"), YES_NO, "NO"),
        (Model(winner=Winner.ANSWER_B, confidence=0.5), PAIRS, "B"),
    ],
)
def test_a_return_is_read_as_a_reply(value: object, space: DecisionSpace, verdict: str) -> None:
    text = said_by(value, declared_judge("house", _of_text), space)
    assert parse_reply(text, space) == Verdict(verdict)


def test_no_return_is_an_empty_reply() -> None:
    assert said_by(None, declared_judge("house", _of_text), PAIRS) == ""


def test_a_member_without_a_name_is_its_value() -> None:
    assert said_by(Slots(0), declared_judge("house", _of_text), PAIRS) == "0"


def test_what_states_nothing_is_an_error_that_says_what_may_be_returned() -> None:
    with pytest.raises(JudgeError) as caught:
        said_by(["A"], declared_judge("house", _of_text), PAIRS)
    assert caught.value.found == "a value of the type list"
    assert "a label, a bool, an Enum, a number, or a dictionary" in caught.value.expected


# --- recordings ----------------------------------------------------------------------------------


def test_a_function_without_http_is_replayed_without_being_called(
    pairs: Suite, tmp_path: Path
) -> None:
    recorded = asked(by_name, pairs, tmp_path, arguments=NAMES)
    (first, *_) = read_exchanges(tmp_path / "tape.jsonl")
    assert json.loads(first.request.body)["settings"]["arguments"] == {
        "question": "task 1",
        "answer_a": "good 1",
        "answer_b": "poor 1",
    }

    def gone(*, question: str, answer_a: str, answer_b: str) -> str:
        raise AssertionError("a replay calls nobody")

    gone.__qualname__, gone.__module__ = by_name.__qualname__, by_name.__module__
    again = measured(gone, pairs, tmp_path, "replay", arguments=NAMES)
    assert verdicts(again) == verdicts(recorded)


def test_a_changed_field_is_a_changed_request(pairs: Suite, tmp_path: Path) -> None:
    asked(by_name, pairs, tmp_path, arguments=NAMES)
    swapped = NAMES | {"answer_a": "b", "answer_b": "a"}
    with pytest.raises(StaleRecording, match="answer_a"):
        measured(by_name, pairs, tmp_path, "replay", arguments=swapped)


def test_a_synchronous_function_is_called_once_at_a_time_unless_it_permits_more(
    pairs: Suite, tmp_path: Path
) -> None:
    under_way, most, lock = [0], [0], threading.Lock()

    def judge(task: str, a: str, b: str) -> str:
        with lock:
            under_way[0] += 1
            most[0] = max(most[0], under_way[0])
        time.sleep(0.05)
        with lock:
            under_way[0] -= 1
        return "A"

    asked(judge, pairs, tmp_path)
    assert most == [1]
    (tmp_path / "tape.jsonl").unlink()
    asked(judge, pairs, tmp_path, concurrency=4)
    assert most[0] > 1


def test_an_asynchronous_function_is_called_as_often_as_the_session_permits(
    pairs: Suite, tmp_path: Path
) -> None:
    together = asyncio.Barrier(4)

    async def judge(task: str, a: str, b: str) -> str:
        async with asyncio.timeout(20):
            await together.wait()  # all four trials are under way, or nobody gets on
        return "A"

    assert verdicts(asked(judge, pairs, tmp_path)) == ["A"] * 4


def test_tokens_settings_and_cost_are_those_of_the_traffic(pairs: Suite, tmp_path: Path) -> None:
    with endpoint(says("A")) as server:

        def judge(task: str, a: str, b: str) -> str:
            body = {"model": "m-7", "temperature": 0.5, "max_tokens": 9}
            asking = body | {"messages": [{"role": "user", "content": task + a + b}]}
            said = httpx.post(f"{server.url}/chat/completions", json=asking).json()
            return str(said["choices"][0]["message"]["content"])

        prices = {"prompt": 1.0, "completion": 10.0}
        for mode in ("record", "replay"):
            found = measured(judge, pairs, tmp_path, mode, prices=prices)
            # Four trials of 7 and 2 tokens; 28 at 1 USD and 8 at 10 USD a million.
            assert (found.calls.prompt_tokens, found.calls.completion_tokens) == (28, 8)
            assert found.calls.cost_usd == pytest.approx(108e-6)
            assert found.served == ("served",)
            identity = found.sheet.identity
            assert (identity["temperature"], identity["max_tokens"]) == (0.5, 9)


def test_what_no_traffic_tells_is_not_claimed(pairs: Suite, tmp_path: Path) -> None:
    identity = asked(by_name, pairs, tmp_path, arguments=NAMES).sheet.identity
    assert (identity["temperature"], identity["max_tokens"]) == (None, None)
    assert identity["arguments"] == NAMES


@pytest.mark.parametrize(
    ("body", "usage"),
    [
        ('{"usage": {"prompt_tokens": 7, "completion_tokens": 2}}', Usage(7, 2)),
        ('{"usage": {"input_tokens": 7, "output_tokens": 2}}', Usage(7, 2)),
        ('{"usage": {"tokens": {"input_tokens": 7, "output_tokens": 2}}}', Usage(7, 2)),
        (
            '{"usageMetadata": {"promptTokenCount": 7, "candidatesTokenCount": 2}}',
            Usage(7, 2),
        ),
        ('{"prompt_eval_count": 7, "eval_count": 2}', Usage(7, 2)),
        # Reasoning within the tokens of the reply: chat completions, responses.
        (
            (
                '{"usage": {"prompt_tokens": 7, "completion_tokens": 9, "total_tokens": 16, '
                '"completion_tokens_details": {"reasoning_tokens": 8}}}'
            ),
            Usage(7, 9, 8),
        ),
        (
            (
                '{"usage": {"input_tokens": 7, "output_tokens": 9, '
                '"output_tokens_details": {"reasoning_tokens": 9}}}'
            ),
            Usage(7, 9, 9),
        ),
        # Beside them, as the total tells: 7 + 1 + 8 = 16; Gemini's compatible API states no other
        # number, and its own one no reply of 0. Of others a total holds what it may.
        (
            (
                '{"model": "gemini-2.5-flash", "usage": {"prompt_tokens": 7, '
                '"completion_tokens": 1, "total_tokens": 16}}'
            ),
            Usage(7, 9, 8),
        ),
        (
            (
                '{"model": "grok", "usage": {"prompt_tokens": 7, "completion_tokens": 1, '
                '"total_tokens": 16, "completion_tokens_details": {"reasoning_tokens": 8}}}'
            ),
            Usage(7, 9, 8),
        ),
        (
            (
                '{"model": "m", "usage": {"prompt_tokens": 7, "completion_tokens": 1, '
                '"total_tokens": 16}}'
            ),
            Usage(7, 1),
        ),
        (
            (
                '{"model": "m", "usage": {"prompt_tokens": 7, "completion_tokens": 9, '
                '"total_tokens": 116, "completion_tokens_details": {"reasoning_tokens": 8}}}'
            ),
            Usage(7, 9, 8),
        ),
        # Of a reply that is reasoning alone, all of it: Anthropic's states no number.
        (
            (
                '{"content": [{"type": "thinking", "thinking": "Hm", "signature": "s"}], '
                '"stop_reason": "max_tokens", "usage": {"input_tokens": 7, "output_tokens": 9}}'
            ),
            Usage(7, 9, 9),
        ),
        (
            (
                '{"content": [{"type": "thinking", "thinking": "Hm"}, {"type": "tool_use", '
                '"name": "t", "input": {}}], "usage": {"input_tokens": 7, "output_tokens": 9}}'
            ),
            Usage(7, 9),
        ),
        (
            (
                '{"usageMetadata": {"promptTokenCount": 7, "candidatesTokenCount": 1, '
                '"thoughtsTokenCount": 8, "totalTokenCount": 16}}'
            ),
            Usage(7, 9, 8),
        ),
        (
            (
                '{"usageMetadata": {"promptTokenCount": 7, "thoughtsTokenCount": 8, '
                '"totalTokenCount": 15}}'
            ),
            Usage(7, 8, 8),
        ),
        # Streams: OpenAI's last event has both, Anthropic's first and last one each.
        (
            'data: {}\n\ndata: {"usage": {"prompt_tokens": 7, "completion_tokens": 2}}\n\n',
            Usage(7, 2),
        ),
        (
            'data: {"message": {"usage": {"input_tokens": 7}}}\n\n{"usage": {"output_tokens": 2}}',
            Usage(7, 2),
        ),
    ],
)
def test_tokens_are_read_in_the_forms_of_the_usual_apis(body: str, usage: Usage) -> None:
    assert usage_and_settings([_exchange(body)])[0] == {"t": usage}


@pytest.mark.parametrize("body", ["", "no JSON", "[1]", '{"usage": "much"}', '{"usage": {}}', "{"])
def test_tokens_that_no_form_tells_are_not_known(body: str) -> None:
    assert usage_and_settings([_exchange(body)])[0] == {}


@pytest.mark.parametrize(
    ("body", "ended"),
    [
        ('{"choices": [{"finish_reason": "length", "message": {"content": ""}}]}', True),
        ('{"choices": [{"finish_reason": "length", "message": {"content": null}}]}', True),
        ('{"choices": [{"finish_reason": "length", "message": {"content": "A"}}]}', False),
        ('{"choices": [{"finish_reason": "stop", "message": {"content": ""}}]}', False),
        (
            (
                'data: {"choices": [{"delta": {"reasoning_content": "Hm"}}]}\n\n'
                'data: {"choices": [{"delta": {}, "finish_reason": "length"}]}\n\ndata: [DONE]\n\n'
            ),
            True,
        ),
        (
            (
                '{"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}, '
                '"output": [{"type": "reasoning", "summary": []}]}'
            ),
            True,
        ),
        (
            (
                '{"incomplete_details": {"reason": "max_output_tokens"}, '
                '"output": [{"content": [{"type": "output_text", "text": "A"}]}]}'
            ),
            False,
        ),
        ('{"stop_reason": "max_tokens", "content": [{"type": "thinking", "thinking": "H"}]}', True),
        ('{"stop_reason": "max_tokens", "content": [{"type": "text", "text": "A"}]}', False),
        (
            (
                '{"candidates": [{"finishReason": "MAX_TOKENS", "content": {"parts": '
                '[{"text": "Hm", "thought": true}]}}]}'
            ),
            True,
        ),
        ('{"candidates": [{"finishReason": "MAX_TOKENS", "content": {"role": "model"}}]}', True),
        ('{"done_reason": "length", "message": {"content": "", "thinking": "Hm"}}', True),
        ("[1]", False),
    ],
)
def test_a_reply_that_its_length_ended_before_a_text_is_told_in_every_form(
    body: str, ended: bool
) -> None:
    assert is_cut_off([_exchange(body)]) == ended


def test_settings_are_told_where_all_requests_have_the_same() -> None:
    asked = [
        '{"temperature": 0, "max_completion_tokens": 5}',
        '{"temperature": 0, "max_completion_tokens": 6}',
    ]
    _, settings = usage_and_settings([_exchange("{}", body) for body in asked])
    assert settings == {"temperature": 0, "max_tokens": None, "seed": None}


def _exchange(answer: str, asked: str = "{}") -> Exchange:
    request = RecordedRequest("POST", "https://api.example/v1", asked)
    response = RecordedResponse(200, {}, answer)
    return Exchange("t", 1, request, response, "2026-11-22T00:00:00Z")


@pytest.mark.parametrize("key", ["model", "modelVersion"])
def test_the_model_that_replied_is_read_by_its_name_of_any_api(key: str) -> None:
    body = f'{{"candidates": [{{"text": "\\"model\\": \\"quoted\\""}}], "{key}": "m-1-001"}}'
    assert _exchange(body).models[1] == "m-1-001"
