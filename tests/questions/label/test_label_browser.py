"""The page to label on, in a browser: by keys alone, on two screens, light and dark."""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pytest_judgesense.questions.label.label_sample import drawn_at_random
from pytest_judgesense.questions.label.loopback import LabelServer
from pytest_judgesense.questions.label.sitting import Sitting
from pytest_judgesense.suites.item import Item
from pytest_judgesense.suites.people import (
    PersonLabel,
    in_force,
    labelled_text,
    people_file,
    read_people,
)
from pytest_judgesense.suites.suite import Suite
from tests.long_conversations import FORGED, openai_chat, words
from tests.questions.label.labelling import (
    ACCURACY,
    TONE,
    LabelCommand,
    graded_suite,
    pairs_in,
    rows_of_pairs,
)
from tests.report.browser import MISSING, browser, chromium
from tests.suites.files import CONTENT, PAIRWISE, write_suite
from tests.suites.known import load_suite

pytestmark = pytest.mark.skipif(chromium() is None, reason=MISSING)

HOSTILE = "</script><img src=x onerror=document.title='owned'>\u202e <b>bold</b> {{a}}"


@pytest.fixture(scope="module")
def started() -> Iterator[Any]:
    with browser() as started:
        yield started


@contextmanager
def served(suite: Suite, earlier: Mapping[str, Item] | None = None) -> Iterator[tuple[str, Path]]:
    """The page of a sitting of anna, and the file of her answers."""
    sitting = Sitting(suite, "anna", drawn_at_random(suite, 0), 0, earlier)
    with LabelServer(sitting) as server:
        thread = threading.Thread(target=server.serve)
        thread.start()
        try:
            yield server.url, sitting.path
        finally:
            server.ended.set()
            thread.join(10)


@contextmanager
def opened(
    started: Any, url: str, *, dark: bool = False, width: int = 1280, height: int = 800
) -> Iterator[Any]:
    """The page in a browser that complains of nothing and asks nobody else."""
    context = started.new_context(
        viewport={"width": width, "height": height}, color_scheme="dark" if dark else "light"
    )
    page = context.new_page()
    complaints: list[str] = []
    asked: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(url)
    # `wait_for_function` evaluates in the page from its second look on, which its policy refuses.
    page.locator("#who:not(:empty)").wait_for(state="attached")
    try:
        yield page
        assert complaints == []
        assert all(address.startswith((url, "data:")) for address in asked)
    finally:
        context.close()


def press(page: Any, key: str, title: str) -> None:
    """Press a key, and wait until the heading says so."""
    page.keyboard.press(key)
    page.get_by_role("heading", level=1, name=title, exact=True).wait_for()


def pairs(folder: Path, number: int) -> Suite:
    return load_suite(write_suite(folder, PAIRWISE, rows_of_pairs(number)))


def counted(path: Path) -> list[PersonLabel]:
    return [label for label in in_force(read_people(path)).values() if label.counts]


def test_thirty_items_by_keys_closed_after_twelve_and_opened_again(
    started: Any, tmp_path: Path
) -> None:
    """What was answered is there after a kill; 30 labels at the end, none twice, one taken back."""
    path = people_file(pairs_in(tmp_path))
    with LabelCommand(tmp_path) as command:
        with opened(started, command.url) as page:
            for number in range(12):
                assert page.inner_text("h1") == f"Item {number + 1} of 30"
                press(page, "120"[number % 3], f"Item {number + 2} of 30")
        command.kill()
    assert len(counted(path)) == 12
    before = path.read_bytes()
    with LabelCommand(tmp_path) as command:
        with opened(started, command.url) as page:
            assert page.inner_text("h1") == "Item 13 of 30"
            assert page.inner_text("#count") == "12 of 30 answered"
            press(page, "u", "Item 12 of 30")
            press(page, "1", "Item 13 of 30")
            for number in range(12, 29):
                press(page, "1", f"Item {number + 2} of 30")
            press(page, "2", "All 30 items are answered")
            page.click("#finish")
            page.wait_for_selector("h1:has-text('30 labelled. You can close this page.')")
        code, lines = command.end()
    assert code == 0
    assert lines[-2].startswith("30 labelled; pytest suites/pairs compares the judge with them; ")
    assert path.read_bytes().startswith(before)
    lines_of_item = Counter(label.item for label in counted(path))
    assert len(lines_of_item) == 30
    assert set(lines_of_item.values()) == {1}
    # 30 answers, one that was withdrawn, and its withdrawal.
    assert len(read_people(path)) == 32
    assert {label.label for label in counted(path)} == {"1", "2", "tie"}


def test_what_is_shown_first_is_what_the_first_key_chooses(started: Any, tmp_path: Path) -> None:
    with served(pairs(tmp_path, 6)) as (url, path), opened(started, url) as page:
        chosen = []
        for number in range(6):
            chosen.append(page.inner_text("#candidates section:first-child p"))
            title = f"Item {number + 2} of 6" if number < 5 else "All 6 items are answered"
            press(page, "1", title)
        texts = {row["id"]: row["texts"] for row in rows_of_pairs(6)}
        assert [texts[label.item][int(label.label) - 1] for label in read_people(path)] == chosen


def test_a_key_that_is_held_down_or_typed_into_a_note_answers_once_or_not(
    started: Any, tmp_path: Path
) -> None:
    with served(pairs(tmp_path, 6)) as (url, path), opened(started, url) as page:
        page.keyboard.press("n")
        page.keyboard.type("12 s u")
        assert page.input_value("#note") == "12 s u"
        page.keyboard.press("Escape")
        page.keyboard.down("1")
        for _ in range(3):
            page.keyboard.down("1")  # as the system repeats it
        page.keyboard.up("1")
        page.wait_for_selector("h1:has-text('Item 2 of 6')")
        page.keyboard.press("Control+2")
        press(page, "s", "Item 3 of 6")
        assert page.inner_text("#count") == "2 of 6 answered, 1 skipped"
        assert page.input_value("#note") == ""
        first, second = read_people(path)
        assert (first.note, second.note, second.label) == ("12 s u", "", "skipped")


def test_skipped_items_come_again_at_the_end(started: Any, tmp_path: Path) -> None:
    with served(pairs(tmp_path, 4)) as (url, path), opened(started, url) as page:
        for number, key in enumerate("s1s", start=2):
            press(page, key, f"Item {number} of 4")
        assert page.locator("#again").is_hidden()
        press(page, "2", "2 skipped: once more")
        assert page.inner_text("#again").startswith("You skipped this item. ")
        assert page.inner_text("#count") == "4 of 4 answered, 2 skipped"
        press(page, "1", "1 skipped: once more")
        press(page, "s", "All 4 items are answered")
        assert page.inner_text("#count") == "4 of 4 answered, 1 skipped"
        assert len(counted(path)) == 3


def test_grades_are_given_one_after_the_other(started: Any, tmp_path: Path) -> None:
    suite = graded_suite(tmp_path, 2, ACCURACY, TONE)
    with served(suite) as (url, path), opened(started, url) as page:
        page.keyboard.press("4")
        assert page.inner_text("#status") == "accuracy: 4. Next: tone."
        # Taken back on the page: nothing of the item is in the file yet.
        page.keyboard.press("u")
        assert page.locator("[aria-pressed=true]").count() == 0
        page.keyboard.press("5")
        assert page.locator("[aria-pressed=true]").all_inner_texts() == ["5"]
        press(page, "2", "Item 2 of 2")
        assert [(label.criterion, label.label) for label in read_people(path)] == [
            ("accuracy", "5"),
            ("tone", "pass"),
        ]


def test_hostile_texts_are_shown_and_do_nothing(started: Any, tmp_path: Path) -> None:
    rows = [{"id": "h1", "text": HOSTILE}]
    toml = CONTENT.replace("Is this right?", HOSTILE.replace('"', "'").replace("{{a}}", ""))
    suite = load_suite(write_suite(tmp_path, toml, rows))
    with served(suite) as (url, _), opened(started, url) as page:
        assert page.text_content("#fields p") == HOSTILE
        assert "onerror" in page.text_content("#question")
        assert page.locator("main img, main b").count() == 0
        assert page.title() == "0 of 1 \N{MIDDLE DOT} tiny"


def test_what_was_labelled_before_an_edit_stands_below_what_is_there_now(
    started: Any, tmp_path: Path
) -> None:
    suite = load_suite(write_suite(tmp_path, CONTENT, [{"id": "h1", "text": HOSTILE}]))
    sitting = Sitting(suite, "anna", drawn_at_random(suite, 0), 0)
    assert sitting.answer(0, {"": "YES"}, "")
    (old,) = suite.items
    changed = replace(suite, items=(replace(old, fields={"text": "Ice floats."}),))
    with (
        served(changed, {labelled_text(old): old}) as (url, _),
        opened(started, url) as page,
    ):
        assert page.inner_text("#again").startswith("You labelled another text of this item")
        assert page.text_content("#fields section > p") == "Ice floats."
        assert page.text_content("#fields .was p") == HOSTILE
        press(page, "2", "All 1 items are answered")
    with served(changed) as (url, _), opened(started, url) as page:
        press(page, "u", "Item 1 of 1")
        assert page.inner_text("#again").endswith("Git does not hold that text.")
        assert page.locator(".was").count() == 0


def test_two_pages_write_no_answer_twice(started: Any, tmp_path: Path) -> None:
    with (
        served(pairs(tmp_path, 4)) as (url, path),
        opened(started, url) as one,
        started.new_context() as context,
    ):
        other = context.new_page()
        other.goto(url)
        other.wait_for_selector("h1:has-text('Item 1 of 4')")
        press(one, "1", "Item 2 of 4")
        press(other, "2", "Item 2 of 4")
        assert other.inner_text("#status").startswith("Answered on another page")
        assert len(read_people(path)) == 1


def test_a_command_that_has_ended_is_told(started: Any, tmp_path: Path) -> None:
    with served(pairs(tmp_path, 4)) as (url, path):
        context = started.new_context()
        page = context.new_page()
        page.goto(url)
        page.wait_for_selector("h1:has-text('Item 1 of 4')")
    page.keyboard.press("1")
    page.wait_for_selector("#problem:has-text('Run it again')")
    assert read_people(path) == ()
    context.close()


@pytest.mark.parametrize(
    ("dark", "width", "height"),
    [
        (True, 1280, 800),
        (False, 390, 844),
        pytest.param(False, 1280, 800, marks=pytest.mark.long),
        pytest.param(True, 390, 844, marks=pytest.mark.long),
    ],
)
def test_it_fits_the_window_and_axe_finds_nothing(
    started: Any, tmp_path: Path, dark: bool, width: int, height: int
) -> None:
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright",
        reason="AXE IS NOT INSTALLED: pip install '.[test]'",
    )
    rows = [{**row, "task": f"{row['task']} {'long' * 60}"} for row in rows_of_pairs(2)]
    screen = {"dark": dark, "width": width, "height": height}
    suite = load_suite(write_suite(tmp_path, PAIRWISE, rows))
    with served(suite) as (url, _), opened(started, url, **screen) as page:
        for title in ("Item 2 of 2", "All 2 items are answered"):
            assert page.evaluate("document.documentElement.scrollWidth") == width
            for button in page.locator("button:visible").all():
                box = button.bounding_box()
                assert 0 <= box["x"] <= box["x"] + box["width"] <= width
                assert box["y"] + box["height"] <= height
                assert box["height"] >= 36
            # A policy that lets nothing in lets in what a test evaluates.
            violations = axe.Axe().run(page).response["violations"]
            assert [(found["id"], found["nodes"][0]["html"]) for found in violations] == []
            press(page, "1", title)
        ink = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert (int(ink[4:].split(",")[0]) < 128) is dark
    (tmp_path / "grades").mkdir()
    suite = graded_suite(tmp_path / "grades", 1, ACCURACY, TONE)
    with served(suite) as (url, _), opened(started, url, **screen) as page:
        page.keyboard.press("4")
        assert json.dumps(axe.Axe().run(page).response["violations"]) == "[]"


def test_what_can_be_focused_shows_it_and_the_heading_is_read_first(
    started: Any, tmp_path: Path
) -> None:
    toml = PAIRWISE.replace('text = "', 'text = "Which is better? ')
    suite = load_suite(write_suite(tmp_path, toml, rows_of_pairs(2)))
    with served(suite) as (url, _), opened(started, url) as page:
        assert page.evaluate("document.activeElement.tagName") == "H1"
        order = []
        for _ in range(6):
            page.keyboard.press("Tab")
            order.append(page.evaluate("document.activeElement.textContent.trim()"))
            outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
            assert outline == "solid"
        assert [text.split("\n")[0] for text in order] == [
            "The question, as the judge is asked it",
            "",
            "1First",
            "2Second",
            "0Neither",
            "sSkip",
        ]


@pytest.mark.parametrize("width", [390, pytest.param(1280, marks=pytest.mark.long)])
def test_a_long_conversation_is_read_and_labelled(started: Any, tmp_path: Path, width: int) -> None:
    """300 messages with tools: roles, calls and results; the middle is folded, nothing is wider."""
    rows = [{"id": f"i{n}", "text": openai_chat(seed=n)} for n in range(2)]
    rows[1]["text"][0]["content"] = HOSTILE
    toml = CONTENT.replace('file = "items.jsonl"', 'file = "items.jsonl"\nmessages = ["text"]')
    suite = load_suite(write_suite(tmp_path, toml, rows))
    height = 844 if width == 390 else 800
    with served(suite) as (url, path), opened(started, url, width=width, height=height) as page:
        for place in (1, 2):
            turns = page.locator(".turn")
            # The first 4 and the last 8 of a long one.
            assert turns.count() == 12
            assert words(turns.nth(1)).startswith("assistant 2 calls find (call 1) {")
            assert words(turns.nth(2)) == "tool find returns (call 1) 3 row 0 Lyon"
            # What pretends to be another message stands in the last one.
            assert words(turns.last) == f"assistant 300 {FORGED}".replace("\n", " ")
            assert "288 messages between" in page.inner_text(".between > summary")
            page.locator(".between > summary").click()
            turns.nth(299).wait_for()
            assert turns.count() == 300
            # It scrolls in a box of its own, and makes the page no wider than the screen.
            box = page.locator(".conversation").bounding_box()
            assert box["width"] <= width
            assert box["height"] < height
            assert page.evaluate("document.documentElement.scrollWidth") == width
            press(page, "1", f"Item {place + 1} of 2" if place < 2 else "All 2 items are answered")
    assert len(counted(path)) == 2
