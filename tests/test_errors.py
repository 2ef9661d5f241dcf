from __future__ import annotations

import inspect

import pytest

from pytest_judgesense import errors
from pytest_judgesense.errors import (
    BodyTooLarge,
    BrokenCassette,
    CassetteError,
    CodeNotRun,
    ExtensionError,
    InternalError,
    JudgeError,
    JudgesenseError,
    LimitReached,
    LogError,
    MissingRecording,
    NetworkRefused,
    OldRecording,
    SendingRefused,
    StaleRecording,
    SuiteError,
    UsageError,
    unknown_name,
)


def test_a_message_says_what_was_found_what_was_expected_and_what_to_do() -> None:
    error = SuiteError("the file is wrong", found="a list", expected="a table", remedy="fix it")
    assert str(error).splitlines() == [
        "the file is wrong",
        "  found:    a list",
        "  expected: a table",
        "  remedy:   fix it",
    ]
    assert (error.what, error.found) == ("the file is wrong", "a list")
    assert (error.expected, error.remedy) == ("a table", "fix it")


def test_parts_that_are_not_given_take_no_line() -> None:
    assert str(UsageError("wrong")) == "wrong"
    assert str(UsageError("wrong", remedy="fix it")) == "wrong\n  remedy:   fix it"


# The tree that the head of the module draws: each class with its parent.
TREE = [
    (UsageError, JudgesenseError),
    (ExtensionError, UsageError),
    (SuiteError, JudgesenseError),
    (JudgeError, JudgesenseError),
    (SendingRefused, JudgeError),
    (CodeNotRun, JudgeError),
    (NetworkRefused, JudgeError),
    (BodyTooLarge, JudgeError),
    (LimitReached, JudgeError),
    (LogError, JudgesenseError),
    (InternalError, JudgesenseError),
    (CassetteError, JudgesenseError),
    (MissingRecording, CassetteError),
    (StaleRecording, CassetteError),
    (OldRecording, CassetteError),
    (BrokenCassette, CassetteError),
]


@pytest.mark.parametrize(("error", "parent"), TREE)
def test_the_tree_is_as_drawn(error: type[Exception], parent: type[Exception]) -> None:
    assert error.__bases__ == (parent,)
    assert errors.__doc__ is not None
    assert error.__name__ in errors.__doc__


def test_every_exception_of_the_module_is_in_the_tree() -> None:
    classes = {value for value in vars(errors).values() if inspect.isclass(value)}
    found = {one for one in classes if issubclass(one, Exception)}
    assert found == {JudgesenseError, *(error for error, _ in TREE)}


def test_an_unknown_name_lists_all_valid_ones_in_order_and_suggests_the_nearest() -> None:
    error = unknown_name("suite", "coherance", ["vacuum", "coherence"])
    assert isinstance(error, UsageError)
    assert error.what == "there is no suite named 'coherance'"
    assert error.expected == "one of: coherence, vacuum"
    assert error.remedy == "did you mean 'coherence'?"


def test_a_name_that_resembles_none_gets_no_suggestion() -> None:
    assert unknown_name("suite", "qqq", ["vacuum"]).remedy == "name a suite of the list"


def test_an_unknown_name_where_nothing_is_known_says_so() -> None:
    assert unknown_name("preset", "x", []).expected == "no preset is known here"
