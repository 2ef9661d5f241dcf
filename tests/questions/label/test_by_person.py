"""A person labels, asked from Python: the errors of the command, and what is told at the end."""

from __future__ import annotations

import json
import threading
import urllib.request
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from pytest_judgesense.errors import UsageError
from pytest_judgesense.questions.label.by_person import PersonLabelsAnswer, PersonLabelsQuestion
from tests.questions.label.labelling import pairs_in


class Page:
    """A person at the page, who labels the first item and is done."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def tell(self, lines: Iterable[str]) -> None:
        self.told += lines
        if self.told[-1].startswith("http"):
            threading.Thread(target=self._label_and_finish, args=(self.told[-1],)).start()

    def _label_and_finish(self, url: str) -> None:
        self._send(url, "answer", {"place": 0, "values": {"": "A"}, "note": ""})
        self._send(url, "finish", {})

    @staticmethod
    def _send(url: str, action: str, body: dict[str, Any]) -> None:
        headers = {"Origin": url[: url.index("/", 8)], "Content-Type": "application/json"}
        request = urllib.request.Request(url + action, json.dumps(body).encode(), headers)
        with urllib.request.urlopen(request, timeout=30):
            pass


def test_a_person_is_asked_from_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pairs_in(tmp_path, 3)
    monkeypatch.chdir(tmp_path)
    page = Page()
    answer = PersonLabelsQuestion("pairs", "anna", has_browser=False).answer(page.tell)
    assert (answer.labelled, answer.skipped, answer.left, answer.of_several) == (1, 0, 2, 0)
    assert answer.to_dict()["person"] == "anna"
    *_, last = answer.lines()
    assert last.startswith("1 labelled, 2 left (the same command goes on); pytest suites/pairs ")
    assert len(page.told) == 1


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"person": "a b"}, "nobody is called so"),
        ({"person": "anna", "draw": 0}, "no draw of items"),
        ({"person": "anna", "draw": "some"}, "no draw of items"),
        ({"person": "anna", "draw": 4}, "4 items cannot be drawn"),
        ({"person": "anna", "judges": ("prod",)}, "do not label together"),
    ],
)
def test_wrong_arguments_are_errors_before_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: dict[str, Any], problem: str
) -> None:
    before = pairs_in(tmp_path, 3).read_bytes()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match=problem):
        PersonLabelsQuestion("pairs", **arguments).answer()
    assert Path("suites/pairs/pairs.suite.toml").read_bytes() == before


def test_what_was_put_into_the_suite_is_told_first(tmp_path: Path) -> None:
    file = tmp_path / "pairs.suite.toml"
    answer = PersonLabelsAnswer("pairs", file, "anna", 2, 1, 0, 2, "put into [checks]")
    first, last = answer.lines()
    assert first == "put into [checks]"
    assert last.startswith("2 labelled, 1 skipped (the same command shows them once more); pytest ")
    assert "nobody knows" not in last
