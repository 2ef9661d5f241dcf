"""The type `Judge`: what it declares, and that only the fixture can be asked."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from pytest_judgesense import Judge
from pytest_judgesense.errors import UsageError
from pytest_judgesense.judges.judge_table import declared_judge


def yes(messages: object) -> str:
    return "YES"


def test_it_declares_what_its_table_does_and_where() -> None:
    judge = Judge("a b", yes, timeout_s=3.0)
    declared = declared_judge("a b", yes, timeout_s=3.0)
    assert judge.spec == declared
    assert (judge.name, judge.slug, repr(judge)) == ("a b", declared.slug, "Judge('a b')")
    assert judge.spec.source == Path(__file__).resolve()
    assert declared.source is None


def test_what_is_declared_is_no_judge_to_ask() -> None:
    judge = Judge("mine", yes)
    with pytest.raises(UsageError, match="judge 'mine' cannot be asked here"):
        judge.ask("Is 4 even?")
    with pytest.raises(UsageError, match=r"pytest_judgesense\.measure"):
        asyncio.run(judge.ask_async("Is 4 even?"))
