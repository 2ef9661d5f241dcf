from __future__ import annotations

import ast
import inspect
import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import pytest_judgesense
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
    UnprovenRecording,
    UsageError,
    listed,
    reason_of,
    unknown_name,
)
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.questions.explain.question import SCHEMA_PAGES
from pytest_judgesense.suites.builtin import PAGES
from tests.sources import tree_of


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
    (UnprovenRecording, CassetteError),
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


@pytest.mark.parametrize(
    ("count", "end"), [(2, "n0, n1"), (10, "n8, n9"), (11, "n8, n9 and 1 more")]
)
def test_the_first_ten_names_are_listed_and_the_rest_counted(count: int, end: str) -> None:
    text = listed(f"n{number}" for number in range(count))
    assert text.endswith(end)
    assert text.count(",") == min(count, 10) - 1


def test_an_unknown_name_where_nothing_is_known_says_so() -> None:
    assert unknown_name("preset", "x", []).expected == "no preset is known here"


# --- where a remedy points -----------------------------------------------------------------------


def _messages() -> Iterator[tuple[str, str]]:
    """Every text of the package but its docstrings, with its place."""
    root = Path(pytest_judgesense.__file__).parent
    for path in sorted(root.rglob("*.py")):
        tree = tree_of(path.read_text(encoding="utf-8"))
        documented = {
            id(node.value)
            for node in ast.walk(tree)
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        }
        for node in ast.walk(tree):
            text = node.value if isinstance(node, ast.Constant) else None
            if isinstance(text, str) and id(node) not in documented:
                yield f"{path.relative_to(root)}:{node.lineno}", text


def test_no_message_points_at_a_page_that_an_installation_lacks() -> None:
    # The paths of data files, which suites/builtin.py reads from the archive of the wheel.
    read = re.compile(r"docs/((measures|schemas)/)?")
    named = {
        place: text
        for place, text in _messages()
        if "docs/" in text and not (place.startswith("suites/builtin.py") and read.fullmatch(text))
    }
    assert named == {}


def test_every_command_that_explains_in_a_message_does_so() -> None:
    asked = {
        name
        for _, text in _messages()
        for name in re.findall(r"judgesense explain ([a-z][a-z_-]+)", text)
    }
    assert {"suite-files", "extending"} <= asked
    assert asked <= {*SCHEMA_PAGES, *PAGES, *BUILT_IN.measures, *BUILT_IN.checks}


def test_a_function_that_needs_an_environment_variable_says_which() -> None:
    with pytest.raises(KeyError) as caught:
        _ = os.environ["GRADER_MODEL_OF_TESTS"]
    assert reason_of(caught.value) == (
        "KeyError: 'GRADER_MODEL_OF_TESTS', an environment variable that is not set: "
        "export GRADER_MODEL_OF_TESTS=..."
    )
    assert reason_of(KeyError("GRADER_MODEL_OF_TESTS")) == "KeyError: 'GRADER_MODEL_OF_TESTS'"
