"""Structured replies: what each kind of suite asks for, by the wire of each provider, and reads."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from pytest_judgesense.errors import UsageError
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.judges.client import unasked_endpoint
from pytest_judgesense.judges.judge_table import declared_judge, judge_from_table
from pytest_judgesense.judges.prompts import judge_for_suite
from pytest_judgesense.judges.simulated.endpoint import answer, serving
from pytest_judgesense.judges.simulated.named_observers import PROFILES, observer_named
from pytest_judgesense.judges.spec import JudgeSpec
from pytest_judgesense.judges.trial_call import Call
from pytest_judgesense.measurement import Measurement
from pytest_judgesense.replies import parse_reply
from pytest_judgesense.suites.space import DecisionSpace
from pytest_judgesense.suites.suite import ReplyForm, Suite
from pytest_judgesense.trial import Unparsed, Verdict
from tests.report.replaying import measured, suite_named
from tests.suites.files import GRADED, GRID, write_suite
from tests.suites.known import builtin_suites, load_suite, of_known_kinds

from .endpoint import Endpoint, endpoint, says

KINDS = of_known_kinds(
    *("coherence", "factuality", "preference", "vacuum", "ladder", "criterion", "debate")
)
find = partial(observer_named, skills=BUILT_IN.skills)


def embedded(path: str, body: dict[str, Any]) -> tuple[int, str, bytes]:
    """The embedded judge, which honours the form that a request asks for."""
    status, reply = answer(path, body, find)
    return status, "application/json", json.dumps(reply).encode()


def few(name: str, items: int = 2) -> Suite:
    suite = suite_named(name)
    return replace(suite, items=suite.items[:items])


def judge_at(server: Endpoint, **table: Any) -> JudgeSpec:
    given = {"provider": "openai", "model": "noisy", "base_url": server.url, **table}
    return judge_from_table("mine", given, Path())


def recorded(judge: JudgeSpec, suite: Suite, folder: Path) -> Measurement:
    return measured(judge, suite, {name: folder / name for name in suite.recordings}, "record")


def unparsed(measurement: Measurement) -> list[Any]:
    return [j.outcome for j in measurement.judgments if not isinstance(j.outcome, Verdict)]


@pytest.mark.parametrize("name", KINDS)
def test_openai_is_asked_by_a_schema_whose_verdict_is_one_of_the_suites(
    name: str, tmp_path: Path
) -> None:
    suite = few(name)
    with endpoint(embedded) as server:
        made = recorded(judge_at(server, structured=True), suite, tmp_path)
    assert unparsed(made) == []
    own = suite.form.reply
    for asked in server.asked:
        assert asked.body["response_format"]["type"] == "json_schema"
        form = asked.body["response_format"]["json_schema"]
        assert form["strict"] is True
        if own is not None:
            assert form["schema"] == own.schema
            continue
        assert form["schema"] == {
            "type": "object",
            "properties": {"verdict": {"type": "string", "enum": list(suite.space.verdicts)}},
            "required": ["verdict"],
            "additionalProperties": False,
        }
    if own is None:
        assert all(set(json.loads(j.reply or "")) == {"verdict"} for j in made.judgments)


@pytest.mark.parametrize("name", KINDS)
def test_anthropic_is_asked_by_a_tool_that_has_to_be_used(name: str, tmp_path: Path) -> None:
    suite = few(name)
    with endpoint(embedded) as server:
        judge = judge_at(server, provider="anthropic", structured=True)
        made = recorded(judge, suite, tmp_path)
    assert unparsed(made) == []
    own = suite.form.reply
    schema = suite.space.schema if own is None else own.schema
    for asked in server.asked:
        (tool,) = asked.body["tools"]
        assert tool["input_schema"] == schema
        assert asked.body["tool_choice"] == {"type": "tool", "name": tool["name"]}


@pytest.mark.parametrize("name", KINDS)
def test_in_json_mode_the_request_says_which_object(name: str, tmp_path: Path) -> None:
    suite = few(name)
    with endpoint(embedded) as server:
        made = recorded(judge_at(server, model="clean", structured="json"), suite, tmp_path)
    assert unparsed(made) == []
    for asked in server.asked:
        assert asked.body["response_format"] == {"type": "json_object"}
        *_, last = asked.body["messages"][-1]["content"].split("\n")
        schema = suite.space.schema if suite.form.reply is None else suite.form.reply.schema
        assert json.loads(last) == schema
    # The prompt of the suite comes first, as it is without it.
    plain = {
        asked.body["messages"][-1]["content"].rpartition("\n\nReply with one")[0]
        for asked in server.asked
    }
    assert plain == {made._messages(j.trial)[-1]["content"] for j in made.judgments}


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("structured", [None, False])
def test_without_it_replies_are_free_text_at_any_compatible_endpoint(
    name: str, structured: bool | None, tmp_path: Path
) -> None:
    table = {} if structured is None else {"structured": structured}
    with endpoint(embedded) as server:
        recorded(judge_at(server, **table), few(name), tmp_path)
    assert not any("response_format" in asked.body for asked in server.asked)


def test_a_suite_that_sweeps_temperatures_stays_free_text_and_says_so(tmp_path: Path) -> None:
    suite = load_suite(write_suite(tmp_path, GRID, GRADED))
    with endpoint(says('{"verdict": "A"}')) as server:
        structured = recorded(judge_at(server, structured=True), suite, tmp_path / "s")
        plain = recorded(judge_at(server), suite, tmp_path / "p")
    assert not any("response_format" in asked.body for asked in server.asked)
    (notice,) = set(structured.sheet.notices) - set(plain.sheet.notices)
    assert "free text" in notice
    assert "structured = true" in notice


def test_replies_out_of_form_count_as_unparsed_as_they_do_in_free_text(tmp_path: Path) -> None:
    suite = few("vacuum", 3)
    talk = "Both have something to say for themselves."
    with endpoint(says(talk)) as server:
        structured = recorded(judge_at(server, structured=True), suite, tmp_path / "s")
        plain = recorded(judge_at(server), suite, tmp_path / "p")
    assert {j.outcome for j in structured.judgments} == {Unparsed("no verdict")}
    assert [j.outcome for j in structured.judgments] == [j.outcome for j in plain.judgments]
    missing = [(e.measure, e.missing) for e in structured.estimates]
    assert missing == [(e.measure, e.missing) for e in plain.estimates]
    assert any(counted is not None and counted.unparsed == 6 for _, counted in missing)


SPACES = [
    *(load_suite(path).space for path in builtin_suites().values()),
    DecisionSpace(("A", "B"), pairwise=True, tie=True, abstain=True),
    DecisionSpace(("A", "B"), pairwise=True, names={"A": ("Output (a)",), "B": ("Output (b)",)}),
    DecisionSpace(("not at all", "in part", "entirely"), ordinal=True),
    DecisionSpace(("1", "2"), names={"1": ("low",), "2": ("high", "very high")}),
    DecisionSpace(("supported", "refuted", "not enough info"), abstain=True),
]


@pytest.mark.parametrize("space", SPACES, ids=lambda space: "/".join(space.verdicts))
def test_every_value_that_the_schema_permits_is_read(space: DecisionSpace) -> None:
    permitted = space.schema["properties"]["verdict"]["enum"]
    meant = {name: value for value, names in space.names.items() for name in names}
    assert permitted == [*dict.fromkeys((*space.verdicts, *meant))]
    for value in permitted:
        # As endpoints write it: compact, spaced, over several lines.
        for text in (
            json.dumps({"verdict": value}, separators=(",", ":")),
            json.dumps({"verdict": value}),
            json.dumps({"verdict": value}, indent=2) + "\n",
        ):
            assert parse_reply(text, space) == Verdict(meant.get(value, value))


def test_a_question_with_a_reply_of_its_own_is_not_asked_by_the_schema_of_the_suite() -> None:
    judge = judge_for_suite(
        declared_judge("j", provider="openai", model="m", structured=True), few("vacuum")
    )
    own = {"type": "object", "properties": {"grade": {"type": "integer"}}}
    at = unasked_endpoint(judge)
    messages = [{"role": "user", "content": "?"}]

    def schema_of(form: ReplyForm | None) -> Any:
        body = json.loads(at.request_of(Call(messages, form=form)).body)
        return body.get("response_format", {}).get("json_schema", {}).get("schema")

    def read(text: str, truncated: bool) -> Any:
        raise AssertionError((text, truncated))

    assert schema_of(None) == judge.reply_schema
    assert schema_of(ReplyForm(read, "", "", own)) == own
    assert schema_of(ReplyForm(read, "", "")) is None


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ({"provider": "anthropic", "model": "m", "structured": "json"}, "structured = true asks"),
        ({"provider": "callable", "model": "m:f", "structured": True}, "not for a function"),
        ({"provider": "openai", "model": "m", "structured": "yes"}, "structured"),
    ],
)
def test_what_a_provider_does_not_have_is_an_error(table: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        judge_from_table("mine", table, Path())


def test_the_form_is_a_setting_of_the_judge() -> None:
    for structured in (True, "json"):
        judge = declared_judge("j", provider="openai", model="m", structured=structured)
        assert judge.settings["structured"] == structured
    assert "structured" not in declared_judge("j", provider="openai", model="m").settings


@pytest.mark.parametrize("profile", PROFILES)
def test_the_embedded_judge_says_the_same_verdict_in_the_form_asked_for(profile: str) -> None:
    observer = replace(PROFILES[profile], format_error_rate=0.0)
    broken = replace(observer, format_error_rate=1.0)
    for name in ("vacuum", "factuality", "coherence"):
        suite = few(name)
        prompts = [
            f"{suite.system}\n\n{t.text}".replace("{{a}}", "x").replace("{{b}}", "y")
            for t in suite.templates
        ]
        permitted = suite.space.verdicts
        for prompt in prompts:
            free = parse_reply(observer.reply(prompt), suite.space)
            formed = json.loads(observer.reply(prompt, permitted=permitted))
            assert formed == {"verdict": free.value if isinstance(free, Verdict) else None}
            assert json.loads(broken.reply(prompt, permitted=permitted))["verdict"] in permitted


def test_the_embedded_judge_keeps_to_the_verdicts_that_a_schema_permits() -> None:
    observer = PROFILES["clean"]
    prompt = "<response_a>\n\n</response_a>\n<response_b>\n\n</response_b>\nA, B or tie?"
    assert parse_reply(observer.reply(prompt), few("vacuum").space) == Verdict("tie")
    assert json.loads(observer.reply(prompt, permitted=("A", "B")))["verdict"] in ("A", "B")
    asked = f'<question>\nWhy?\n</question>\n{prompt} {{"verdict": ...}}'
    assert json.loads(observer.reply(asked, permitted=("A", "B")))["verdict"] in ("A", "B")
    assert observer.reply(prompt, permitted=("good", "bad")).startswith("I cannot find anything")


def test_the_embedded_judge_can_be_declared_structured(tmp_path: Path) -> None:
    judge = declared_judge("formed", provider="embedded", model="noisy", structured=True)
    made = recorded(judge, few("coherence", 10), tmp_path)
    assert unparsed(made) == []
    with serving(find):
        free = recorded(replace(judge, structured=None), few("coherence", 10), tmp_path / "free")
    assert unparsed(free) != []  # 5% of 60 replies are out of form


@pytest.mark.parametrize("name", ["vacuum@paper", "ladder@paper", "criterion@paper-quick"])
def test_the_presets_of_the_judge_datasheet_ask_for_its_object_where_it_surely_exists(
    name: str,
) -> None:
    suite = suite_named(name)

    def schema(**table: Any) -> Any:
        judge = judge_from_table("mine", {"provider": "openai", "model": "m", **table}, Path())
        return judge_for_suite(judge, suite).reply_schema

    wanted = {"type": "string", "enum": ["A", "B", "tie"]}
    assert schema()["properties"] == {"verdict": wanted}
    assert schema(provider="anthropic") == schema()
    # Another endpoint may not have it, and a judge may decline it.
    assert schema(base_url="http://127.0.0.1:1") is None
    assert schema(structured=False) is None
    assert schema(base_url="http://127.0.0.1:1", structured=True) == schema()
    assert (
        judge_for_suite(
            judge_from_table("m", {"provider": "openai", "model": "m"}, Path()),
            suite_named("vacuum"),
        ).reply_schema
        is None
    )
    # The prompts show it, and the embedded judge answers in it.
    assert all('{"verdict": "tie"}' in template.text for template in suite.templates)
