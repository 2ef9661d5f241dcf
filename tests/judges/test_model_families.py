"""Families of models by their names, and the notice where a judge and an author share one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pytest_judgesense.judges.model_families import FAMILIES, family_notices, family_of
from pytest_judgesense.suites.suite import Suite
from tests.suites.test_item_groups import loaded


@pytest.mark.parametrize(
    ("model", "family"),
    [
        ("gpt-4o-mini-2024-07-18", "GPT (OpenAI)"),
        ("openai/gpt-4o", "GPT (OpenAI)"),
        ("o3-mini", "GPT (OpenAI)"),
        ("claude-sonnet-4-20250514", "Claude (Anthropic)"),
        ("anthropic.claude-3-5-haiku", "Claude (Anthropic)"),
        ("models/gemini-2.5-pro", "Gemini and Gemma (Google)"),
        ("openrouter/meta-llama/Llama-3.3-70B-Instruct", "Llama (Meta)"),
        ("meta-llama/llama3", "Llama (Meta)"),
        ("Qwen2.5-0.5B-Instruct", "Qwen (Alibaba)"),
        ("deepseek-r1-distill-llama-70b", "DeepSeek (DeepSeek)"),
        # By EleutherAI, and no model of OpenAI.
        ("gpt-j-6b", None),
        ("gpt-neox-20b", None),
        # Words that only begin like a family.
        ("clauderon", None),
        ("commander", None),
        ("my-judge", None),
        ("", None),
    ],
)
def test_a_family_is_known_by_a_part_of_the_name(model: str, family: str | None) -> None:
    of_model = family_of(model)
    assert (of_model and of_model.name) == family


def test_no_beginning_is_of_two_families() -> None:
    beginnings = [beginning for family in FAMILIES for beginning in family.beginnings]
    assert len(set(beginnings)) == len(beginnings)


@pytest.fixture
def suite(tmp_path: Path) -> Suite:
    rows = "answer,author,label\na,gpt-4o,YES\nb,gpt-4o,NO\nc,claude-3,NO\nd,,NO\n"
    return loaded(tmp_path, rows=rows)


def test_a_judge_of_the_family_of_an_author_is_told(suite: Suite) -> None:
    (notice,) = family_notices(suite, "mine", ["gpt-4o-mini", "gpt-4o-mini-2024-07-18"])
    assert "judge mine (gpt-4o-mini-2024-07-18) is of one family, GPT (OpenAI)" in notice
    assert "2 of 4 items (gpt-4o)" in notice


@pytest.mark.parametrize("models", [["gemini-2.5-pro"], ["my-judge"], []])
def test_other_judges_get_no_notice(suite: Suite, models: list[str]) -> None:
    assert list(family_notices(suite, "mine", models)) == []


def test_what_produced_an_output_is_its_author(suite: Suite) -> None:
    items = tuple(
        replace(item, fields={}, condition={"system": "gemini-2.0-flash"}) for item in suite.items
    )
    (notice,) = family_notices(replace(suite, items=items), "mine", ["gemini-2.5-pro"])
    assert "4 of 4 items (gemini-2.0-flash)" in notice
