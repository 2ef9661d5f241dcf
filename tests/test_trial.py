from __future__ import annotations

import subprocess
import sys
from dataclasses import FrozenInstanceError

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_judgesense.trial import (
    ABSTAIN,
    TIE,
    Design,
    Failed,
    Judgment,
    Trial,
    Unparsed,
    Usage,
    Verdict,
    content_of_slot,
    slot_of_content,
    woven,
)


def _trial(label: str | None = None) -> Trial:
    return Trial("s/i/t1/ab/r1", "s", "i", "i", "t1", label=label)


# Order ab shows content 1 in slot A, order ba content 2.
@pytest.mark.parametrize(
    ("slot", "order", "content"),
    [("A", "ab", "1"), ("B", "ab", "2"), ("A", "ba", "2"), ("B", "ba", "1")],
)
def test_a_slot_points_at_the_content_that_its_order_shows(
    slot: str, order: str, content: str
) -> None:
    assert content_of_slot(slot, order) == content  # type: ignore[arg-type]
    assert slot_of_content(content, order) == slot  # type: ignore[arg-type]


@pytest.mark.parametrize("order", ["ab", "ba"])
@pytest.mark.parametrize("verdict", [TIE, ABSTAIN])
def test_a_tie_and_an_abstention_point_at_no_content(verdict: str, order: str) -> None:
    assert content_of_slot(verdict, order) == verdict  # type: ignore[arg-type]
    assert slot_of_content(verdict, order) == verdict  # type: ignore[arg-type]


def test_only_a_verdict_has_a_value() -> None:
    assert Judgment(_trial(), "j", Verdict("YES")).verdict == "YES"
    assert Judgment(_trial(), "j", Unparsed("no verdict")).verdict is None
    assert Judgment(_trial(), "j", Failed("HTTP 500")).verdict is None


def test_without_a_label_nothing_is_correct_or_wrong() -> None:
    assert Judgment(_trial(), "j", Verdict("YES")).correct is None


@pytest.mark.parametrize("outcome", [Unparsed("no verdict"), Failed("HTTP 500")])
def test_what_is_missing_is_not_equal_to_the_label(outcome: Unparsed | Failed) -> None:
    # The temperature study (arXiv 2603.28304): an unparsed reply counts as not equal.
    assert Judgment(_trial("YES"), "j", outcome).correct is False


def test_a_pairwise_judgment_is_correct_by_content_and_not_by_slot() -> None:
    # Slot A in order ba is content 2.
    assert Judgment(_trial("2"), "j", Verdict("A"), chosen="2").correct is True
    assert Judgment(_trial("1"), "j", Verdict("A"), chosen="2").correct is False


def test_a_judgment_without_contents_is_correct_by_its_verdict() -> None:
    assert Judgment(_trial("NO"), "j", Verdict("NO")).correct is True
    assert Judgment(_trial("NO"), "j", Verdict("YES")).correct is False


def test_what_an_endpoint_did_not_count_is_none_and_not_zero() -> None:
    assert Usage() == Usage(None, None)
    assert Judgment(_trial(), "j", Verdict("A")).usage == Usage(None, None)


@pytest.mark.parametrize(
    ("value", "attribute"),
    [
        (_trial(), "label"),
        (Verdict("A"), "value"),
        (Unparsed("x"), "reason"),
        (Failed("x"), "reason"),
        (Usage(), "prompt_tokens"),
        (Design("ladder", ("A", "B")), "kind"),
        (Judgment(_trial(), "j", Verdict("A")), "chosen"),
    ],
)
def test_values_are_frozen(value: object, attribute: str) -> None:
    with pytest.raises(FrozenInstanceError):
        setattr(value, attribute, "other")


def test_conditions_of_two_trials_are_not_one_object() -> None:
    assert _trial().condition == {}
    assert _trial().condition is not _trial().condition


def test_read_only_tables_can_be_sent_whatever_else_is_imported() -> None:
    # In a process of its own: any module that the others have imported could be what permits it.
    program = (
        "import pickle, types, pytest_judgesense.trial\n"
        "table = types.MappingProxyType({'A': ('first',)})\n"
        "sent = pickle.loads(pickle.dumps(table))\n"
        "assert type(sent) is types.MappingProxyType\n"
        "assert sent == table\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False
    )
    assert (ended.returncode, ended.stderr) == (0, "")


def test_names_of_two_orders_stand_once_and_behind_what_they_stood_behind() -> None:
    assert woven("abc", "xaybzcb") == ["x", "a", "y", "b", "z", "c"]
    assert woven("", "ab") == ["a", "b"]
    assert woven("ab", "") == ["a", "b"]


@given(st.lists(st.sampled_from("abcdef")), st.lists(st.sampled_from("defghi")))
def test_woven_names_keep_the_first_order_and_lose_none(
    leading: list[str], rest: list[str]
) -> None:
    names = woven(leading, rest)
    assert len(names) == len({*names})
    assert {*names} == {*leading, *rest}
    assert [name for name in names if name in leading] == [*dict.fromkeys(leading)]
