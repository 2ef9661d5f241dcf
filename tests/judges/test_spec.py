from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pytest_judgesense.errors import UsageError
from pytest_judgesense.judges.judge_table import declared_judge, judge_from_table
from pytest_judgesense.judges.resolving import judge_from_name
from pytest_judgesense.judges.spec import JudgeSpec, Prices, prompts_digest

OPENAI = {"provider": "openai", "model": "gpt"}


def _declared(table: dict[str, Any], folder: Path = Path()) -> JudgeSpec:
    return judge_from_table("mine", table, folder)


# --- slugs -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["clean", "gpt-4.1_mini", "A.b-C"])
def test_a_name_of_plain_characters_is_its_own_slug(name: str) -> None:
    assert JudgeSpec(name, "openai", "m").slug == name


def test_where_characters_are_lost_a_digest_tells_names_apart() -> None:
    slugs = {JudgeSpec(name, "openai", "m").slug for name in ("a b", "a/b", "a:b", "a-b")}
    assert len(slugs) == 4
    assert JudgeSpec("a b", "openai", "m").slug.startswith("a-b-")


@given(st.text(min_size=1))
@example("openai:\udcff")  # a byte on the command line that is no text
def test_a_slug_is_safe_in_ids_and_file_names(name: str) -> None:
    slug = JudgeSpec(name, "openai", "m").slug
    assert re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9._-]*", slug)


# --- tables ----------------------------------------------------------------------------------


def test_a_table_of_two_keys_is_a_judge_with_the_documented_defaults() -> None:
    judge = _declared(OPENAI)
    assert (judge.name, judge.provider, judge.model) == ("mine", "openai", "gpt")
    assert judge.settings == {
        "temperature": 0.0,
        "max_tokens": 256,
        "reasoning": None,
        "seed": None,
    }
    assert (judge.system, judge.system_role, judge.timeout_s) == (None, True, 120.0)
    assert (judge.base_url, judge.api_key_env, judge.prices) == (None, None, None)


def test_every_key_of_a_table_arrives() -> None:
    judge = _declared(
        {
            **OPENAI,
            "base_url": "http://localhost:1/v1",
            "api_key_env": "KEY",
            "temperature": 0.3,
            "max_tokens": 9,
            "reasoning": "low",
            "seed": 4,
            "system": "Judge.",
            "system_role": False,
            "timeout_s": 2.5,
            "prompts": {"pairwise": "p", "strict": "s", "paraphrases": ["x", "y"]},
            "prices": {"prompt": 1.5, "completion": 3},
        }
    )
    assert judge.base_url == "http://localhost:1/v1"
    assert judge.api_key_env == "KEY"
    assert judge.settings == {
        "temperature": 0.3,
        "max_tokens": 9,
        "reasoning": "low",
        "seed": 4,
    }
    assert (judge.system, judge.system_role, judge.timeout_s) == ("Judge.", False, 2.5)
    assert (judge.prompts.pairwise, judge.prompts.strict) == ("p", "s")
    assert judge.prompts.paraphrases == {"*": ("x", "y")}
    assert judge.prices == Prices(1.5, 3.0)


def test_a_judge_that_reasons_is_sent_no_temperature_unless_one_is_declared() -> None:
    assert _declared({**OPENAI, "reasoning": "low"}).temperature is None
    assert _declared({**OPENAI, "reasoning": "low", "temperature": 1.0}).temperature == 1.0


def test_wordings_may_be_given_for_each_suite() -> None:
    prompts = {"paraphrases": {"coherence": ["x", "y"], "relevance": ["u", "v", "w"]}}
    assert _declared({**OPENAI, "prompts": prompts}).prompts.paraphrases == {
        "coherence": ("x", "y"),
        "relevance": ("u", "v", "w"),
    }


def test_prompts_may_stand_in_files_beside_the_table(tmp_path: Path) -> None:
    (tmp_path / "pairwise.md").write_text("{{a}} or {{b}}? é", encoding="utf-8")
    prompts = {"pairwise": {"file": "pairwise.md"}, "paraphrases": ["x", {"file": "pairwise.md"}]}
    judge = _declared({**OPENAI, "prompts": prompts}, tmp_path)
    assert judge.prompts.pairwise == "{{a}} or {{b}}? é"
    assert judge.prompts.paraphrases == {"*": ("x", "{{a}} or {{b}}? é")}


def test_a_prompt_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"prompt of judge 'mine' cannot be read\n.*gone\.md") as e:
        _declared({**OPENAI, "prompts": {"strict": {"file": "gone.md"}}}, tmp_path)
    assert e.value.remedy == "write it, or name another file in [tool.judgesense.judges.mine]"


@pytest.mark.parametrize("empty", [[], {"coherence": []}])
def test_wordings_are_at_least_one(empty: object) -> None:
    with pytest.raises(UsageError, match=r"prompts\.paraphrases of judge 'mine' is empty"):
        _declared({**OPENAI, "prompts": {"paraphrases": empty}})


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"provider": "nobody"}, "provider"),
        ({"provider": None}, "provider"),
        ({"model": None}, "model is missing"),
        ({"temprature": 0.1}, "temprature"),
        ({"temperature": -1}, "temperature"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"reasoning": 1024, "max_tokens": 2048}, "a word for openai"),
        (
            {"provider": "anthropic", "model": "m", "reasoning": "low"},
            "a number of tokens for anthropic",
        ),
        ({"provider": "anthropic", "model": "m", "reasoning": 256}, "it is below max_tokens"),
        ({"timeout_s": 0}, "timeout_s"),
        ({"prompts": {"pairwize": "x"}}, "prompts.pairwize"),
        ({"prices": {"prompt": 1}}, "prices.completion"),
        ({"prices": {"prompt": -1, "completion": 1}}, "prices.prompt"),
        ({"provider": "callable", "model": "no_colon"}, "package.module:function"),
    ],
)
def test_a_wrong_key_is_named_and_the_valid_ones_listed(change: dict[str, Any], place: str) -> None:
    with pytest.raises(UsageError) as caught:
        _declared({**OPENAI, **change})
    assert place in caught.value.found
    listed = "api_key_env, arguments, base_url, calls, code, concurrency, context, function, ignore"
    listed += ", installed, logprobs, max_body_bytes, max_retries, max_tokens, model"
    # Of a table within the table, its own keys.
    within = {"prompts": "pairwise, paraphrases, strict", "prices": "completion, prompt"}
    assert within.get(place.partition(".")[0], listed) in caught.value.expected
    assert "[tool.judgesense.judges.mine]" in caught.value.remedy


@pytest.mark.parametrize(
    ("mistyped", "meant"),
    [
        ({"max_token": 5}, "max_tokens"),
        ({"temprature": 0.5}, "temperature"),
        ({"api_key": "K"}, "api_key_env"),
        ({"prices": {"prompt": 1.0, "completions": 1.0}}, "completion"),
        ({"prompts": {"pair_wise": "x"}}, "pairwise"),
        ({"repair": {"juge": "other"}}, "judge"),
    ],
)
def test_a_mistyped_key_gets_the_one_that_is_meant(mistyped: dict[str, Any], meant: str) -> None:
    with pytest.raises(UsageError) as caught:
        _declared({"provider": "openai", "model": "m", **mistyped})
    assert f"did you mean {meant!r}?" in caught.value.remedy
    assert "no such key" in caught.value.found


def test_a_key_like_no_other_is_given_no_other() -> None:
    with pytest.raises(UsageError) as caught:
        _declared({"provider": "openai", "model": "m", "zzz": 1})
    assert "did you mean" not in caught.value.remedy


def test_no_temperature_may_be_sent_at_all() -> None:
    # Some reasoning models refuse the parameter; TOML has no null, Python code has.
    assert _declared({**OPENAI, "temperature": None}).temperature is None


def test_an_embedded_judge_is_seeded_so_that_replicates_differ() -> None:
    table = {"provider": "embedded", "model": "clean"}
    assert _declared(table).seed == 0
    assert _declared({**table, "seed": 7}).seed == 7


def test_an_unknown_profile_lists_the_valid_ones() -> None:
    with pytest.raises(UsageError, match="one of: clean, mixed, noisy, positional"):
        _declared({"provider": "embedded", "model": "cleen"})


@pytest.mark.parametrize("provider", ["anthropic", "callable"])
def test_log_probabilities_are_not_for_providers_that_have_none(provider: str) -> None:
    with pytest.raises(UsageError, match="logprobs is for OpenAI-compatible endpoints"):
        _declared({"provider": provider, "model": "m:f", "logprobs": True})


def test_log_probabilities_belong_to_what_a_judge_is_where_they_are_asked_for() -> None:
    asked = _declared({"provider": "openai", "model": "m", "logprobs": True})
    assert asked.settings["logprobs"] is True
    assert "logprobs" not in _declared({"provider": "openai", "model": "m"}).settings


@pytest.mark.parametrize("key", ["model", "function"])
def test_a_callable_is_named_by_model_or_function(key: str) -> None:
    judge = _declared({"provider": "callable", key: "package.module:function"})
    assert judge.model == "package.module:function"


# --- names of the command line -----------------------------------------------------------------


def test_a_provider_and_a_model_are_a_judge_of_that_name() -> None:
    judge = judge_from_name("openai:org/model:free")
    assert (judge.name, judge.provider) == ("openai:org/model:free", "openai")
    assert judge.model == "org/model:free"


def test_an_embedded_judge_is_called_by_its_profile() -> None:
    judge = judge_from_name("embedded:noisy")
    assert (judge.name, judge.slug, judge.model) == ("noisy", "noisy", "noisy")


def test_an_embedded_judge_by_its_name_is_that_of_a_table_with_two_keys() -> None:
    # Its settings are written without the forms of tables, which take time to load.
    table = judge_from_table("noisy", {"provider": "embedded", "model": "noisy"}, Path())
    assert judge_from_name("embedded:noisy") == replace(table, called="embedded:noisy")


@pytest.mark.parametrize("name", ["openai", "openai:", "nobody:gpt", ":gpt", ""])
def test_a_name_without_provider_or_model_lists_the_providers(name: str) -> None:
    with pytest.raises(UsageError, match=r"anthropic:MODEL, azure:MODEL, .*callable:MODEL, .*vllm"):
        judge_from_name(name)


# --- judges of a conftest ----------------------------------------------------------------------


def grade(messages: list[dict[str, str]]) -> str:
    return messages[-1]["content"]


def test_a_function_becomes_a_callable_judge_under_its_own_name() -> None:
    judge = declared_judge("house", grade, system="Be brief.")
    assert (judge.name, judge.provider) == ("house", "callable")
    assert judge.function is grade
    assert judge.model == f"{__name__}:grade"
    assert judge.system == "Be brief."


def test_a_callable_object_is_named_by_its_class() -> None:
    class Grader:
        def __call__(self, messages: list[dict[str, str]]) -> str:
            return "A"

    grader = Grader()
    judge = declared_judge("house", grader)
    assert judge.function is grader
    assert judge.model.endswith("Grader")


def test_without_a_function_the_settings_are_a_table() -> None:
    assert declared_judge("e", provider="embedded", model="clean").provider == "embedded"


def test_an_unknown_setting_of_a_judge_is_an_error() -> None:
    with pytest.raises(UsageError, match="colour"):
        declared_judge("house", grade, colour="red")


# --- digests -----------------------------------------------------------------------------------


def test_the_digest_of_prompts_depends_on_their_texts_and_not_on_the_order_of_keys() -> None:
    one = prompts_digest({"a": "x", "b": "y"})
    assert one == prompts_digest({"b": "y", "a": "x"})
    assert one != prompts_digest({"a": "x", "b": "z"})
    assert re.fullmatch(r"[0-9a-f]{12}", one)


# --- numbers -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("setting", "value", "held"),
    [
        ("temperature", False, None),  # sent by nobody, as None in Python
        ("temperature", 0, 0.0),  # and no bool: 0 == False
        ("temperature", 1, 1.0),
        ("top_p", False, False),
        ("top_p", 1, 1.0),
        ("seed", 0, 0),
        ("seed", False, False),
    ],
)
def test_false_sends_none_and_0_is_a_number(setting: str, value: object, held: object) -> None:
    found = getattr(_declared({**OPENAI, setting: value}), setting)
    assert (found, type(found)) == (held, type(held))


@pytest.mark.parametrize(
    "setting",
    [
        "temperature",
        "max_tokens",
        "reasoning",
        "seed",
        "top_p",
        "timeout_s",
        "max_body_bytes",
        "max_retries",
        "requests_per_minute",
        "tokens_per_minute",
        "concurrency",
    ],
)
def test_true_is_no_number(setting: str) -> None:
    with pytest.raises(UsageError) as caught:
        _declared({**OPENAI, setting: True})
    assert caught.value.found.startswith(f"{setting}: ")


@pytest.mark.parametrize("setting", ["max_tokens", "timeout_s", "max_retries", "concurrency"])
def test_false_is_no_number_where_one_is_needed(setting: str) -> None:
    with pytest.raises(UsageError):
        _declared({**OPENAI, setting: False})


def test_the_repair_may_be_asked_without_a_temperature() -> None:
    repair = _declared({**OPENAI, "repair": {"temperature": False}}).repair
    assert repair is not None
    assert repair.temperature is None
    with pytest.raises(UsageError):
        _declared({**OPENAI, "repair": {"temperature": True}})
