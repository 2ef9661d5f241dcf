"""Texts as people labelled them: looked up in the versions of their file that git holds."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.questions.label.label_sample import earlier_items
from pytest_judgesense.suites.loading import _load
from pytest_judgesense.suites.people import labelled_text
from pytest_judgesense.suites.suite import Suite
from tests.repository import commit, repository
from tests.suites.files import CONTENT, write_suite
from tests.suites.known import load_suite


def items(*texts: str) -> list[dict[str, Any]]:
    return [{"id": f"i{number}", "text": text} for number, text in enumerate(texts)]


def rewritten(suite: Suite, *texts: str) -> Suite:
    """The suite with other texts in the file of its items."""
    lines = "".join(f"{json.dumps(row)}\n" for row in items(*texts))
    (suite.path.parent / "items.jsonl").write_text(lines)
    _load.cache_clear()
    return load_suite(suite.path)


@pytest.fixture
def suite(tmp_path: Path) -> Suite:
    """Three versions, the last not committed: "Ice." and "Tin.", "Ice!", "ICE"."""
    root = repository(tmp_path / "project")
    (root / "judges").mkdir()
    first = load_suite(write_suite(root / "judges", CONTENT, items("Ice.", "Tin.")))
    commit(root)
    second = rewritten(first, "Ice!", "Tin.")
    commit(root)
    (root / "other.txt").write_text("of no item\n")
    commit(root)
    return rewritten(second, "ICE", "Tin.")


def names(suite: Suite, *texts: str) -> dict[str, str]:
    """The texts of items ``i0``, by their names in a file of labels."""
    (item, *_) = suite.items
    return {labelled_text(replace(item, fields={"text": text})): text for text in texts}


def test_a_text_is_found_at_the_head_and_before(suite: Suite) -> None:
    wanted = names(suite, "Ice.", "Ice!")
    earlier = earlier_items(suite, wanted, BUILT_IN.forms)
    assert {text: item.fields["text"] for text, item in earlier.items()} == wanted
    assert {item.id for item in earlier.values()} == {"i0"}


def test_what_git_does_not_hold_is_left_out(suite: Suite) -> None:
    wanted = names(suite, "Ice!", "never committed")
    earlier = earlier_items(suite, wanted, BUILT_IN.forms)
    assert [item.fields["text"] for item in earlier.values()] == ["Ice!"]


def test_a_version_that_is_no_file_of_items_hides_none_before_it(suite: Suite) -> None:
    file = suite.path.parent / "items.jsonl"
    file.write_text("{ broken\n")
    commit(suite.path.parent)
    file.unlink()
    commit(suite.path.parent)
    wanted = names(suite, "Ice.")
    later = rewritten(suite, "ICE", "Tin.")
    assert earlier_items(later, wanted, BUILT_IN.forms).keys() == wanted.keys()


def test_without_a_repository_there_is_no_earlier_text(tmp_path: Path) -> None:
    suite = load_suite(write_suite(tmp_path, CONTENT, items("Ice.")))
    assert earlier_items(suite, names(suite, "Ice!"), BUILT_IN.forms) == {}
