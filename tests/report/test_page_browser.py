"""The page in a browser: it draws without complaint, filters, and takes judges' words as text."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pytest_judgesense.checks.regression import Side
from pytest_judgesense.files.messages import text_of_chat
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.report.assembly import sheet_of
from pytest_judgesense.report.packing import PageEvidence
from pytest_judgesense.report.page import page_text
from pytest_judgesense.report.summary import Missed
from pytest_judgesense.report.view import outcome_words, view_of
from pytest_judgesense.trial import Design, Judgment, Trial, Unparsed, Verdict
from tests.instruments.temperature.tables_by_hand import temperature_sheet
from tests.long_conversations import FORGED, openai_chat, words

from .browser import MISSING, Opened, browser, chromium
from .replaying import checked, replayed
from .test_page import FIGURES, evidence, shown_page, shown_sheet

pytestmark = pytest.mark.skipif(chromium() is None, reason=MISSING)

HOSTILE = (
    "</script><script>document.title='owned'</script><img src=x onerror=document.title='owned'>"
    "\x1b[2J\x1b]0;owned\x07\u202eevil\u2066\x00 {{ 7*7 }} javascript:alert(1)"
)


@pytest.fixture(scope="module")
def started() -> Iterator[Any]:
    with browser() as found:
        yield found


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "x.html"
    path.write_text(shown_page().text, encoding="utf-8", newline="\n")
    return path


@pytest.fixture
def opened(started: Any, written: Path) -> Iterator[Opened]:
    with Opened(started, written) as found:
        yield found


def write(path: Path, sheet: Any, some: PageEvidence | None = None) -> Path:
    path.write_text(page_text(view_of(sheet), some), encoding="utf-8", newline="\n")
    return path


# In the gate each colour once, and each width once.
@pytest.mark.parametrize(
    ("dark", "width"),
    [pytest.param(False, 1240, marks=pytest.mark.long), (True, 1240), (False, 360)],
)
def test_it_draws_without_a_complaint_a_request_or_a_thing_wider_than_the_window(
    started: Any, written: Path, dark: bool, width: int
) -> None:
    with Opened(started, written, dark=dark, width=width) as found:
        assert found.complaints == []
        assert found.asked == [written.as_uri()]
        assert found.page.evaluate("document.documentElement.scrollWidth") <= width
        assert found.page.locator("figure .drawing svg").count() == FIGURES
        paper, ink = (
            found.page.evaluate(f"getComputedStyle(document.body).{name}")
            for name in ("backgroundColor", "color")
        )
        # rgb(...): the first number tells light from dark.
        light = [int(colour[4:].split(",")[0]) > 128 for colour in (paper, ink)]
        assert light == ([False, True] if dark else [True, False])
        # Text of figures has the ink of the page.
        text = found.page.evaluate(
            "getComputedStyle(document.querySelector('.drawing svg text')).fill"
        )
        drawn = found.page.evaluate(
            "getComputedStyle(document.querySelector('.drawing svg text[fill]') || document.body)"
            ".getPropertyValue('fill')"
        )
        assert text in (ink, drawn)


@pytest.mark.parametrize("dark", [pytest.param(False, marks=pytest.mark.long), True])
def test_words_of_drawings_are_whole_and_have_the_size_and_colour_they_were_drawn_with(
    started: Any, written: Path, dark: bool
) -> None:
    # Text that a style sheet makes larger than matplotlib measured it is cut off at the edge, and
    # the light numbers of dark cells cannot be read in the grey of the page's gauges.
    with Opened(started, written, dark=dark) as found:
        texts = found.page.evaluate(
            """() => [...document.querySelectorAll('.drawing svg text')].map(text => {
              const [inner, outer] = [text, text.closest('svg')].map(x => x.getBoundingClientRect())
              const look = getComputedStyle(text)
              return {
                words: text.textContent.trim(),
                out: Math.max(outer.left - inner.left, inner.right - outer.right),
                sizes: [text.getAttribute('font-size'), look.fontSize],
                fill: [text.getAttribute('fill'), look.fill],
              }
            })"""
        )
    assert len(texts) > 50
    assert [text["words"] for text in texts if text["out"] > 1] == []
    assert [text["words"] for text in texts if len(set(text["sizes"])) > 1] == []
    light = [text for text in texts if text["fill"][0] == "#fdfdfd"]
    assert light
    assert {text["fill"][1] for text in light} == {"rgb(253, 253, 253)"}


@pytest.mark.parametrize("dark", [pytest.param(False, marks=pytest.mark.long), True])
def test_axe_finds_nothing_serious(started: Any, tmp_path: Path, dark: bool) -> None:
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright",
        reason="AXE IS NOT INSTALLED: pip install '.[test]'",
    )
    # Every kind of element, and few of each: axe looks at all pairs of some.
    measured = replayed("noisy", "vacuum")
    heat = temperature_sheet().judges[0].parts
    sheet = sheet_of([checked(measured), *heat], seed=0, mode="replay")
    path = write(tmp_path / "x.html", sheet, PageEvidence((measured.cell,)))
    with Opened(started, path, dark=dark) as found:
        # Where the page is dark, only its colours differ.
        options = {"runOnly": ["color-contrast"]} if dark else {}
        found.unfold(0)
        found.page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true })")
        response = axe.Axe().run(found.page, options=options).response
        violations = response["violations"]
        assert "color-contrast" in {one["id"] for one in response["passes"]}
        grave = [
            (one["id"], one["nodes"][0]["html"][:200])
            for one in violations
            if one["impact"] in ("serious", "critical")
        ]
        assert grave == []


# In the gate each window once, and once without scripts.
@pytest.mark.parametrize(
    ("width", "height", "least", "scripts"),
    [
        (1280, 900, 3, True),
        (390, 844, 1, False),
        pytest.param(1280, 900, 3, False, marks=pytest.mark.long),
        pytest.param(390, 844, 1, True, marks=pytest.mark.long),
    ],
)
def test_the_first_screen_says_what_fails_and_shows_it(
    started: Any, written: Path, width: int, height: int, least: int, scripts: bool
) -> None:
    """Verdicts of all judges on top, then failing checks with all that is said of them."""
    view = view_of(shown_sheet())
    context = started.new_context(
        viewport={"width": width, "height": height}, java_script_enabled=scripts
    )
    page = context.new_page()
    page.goto(written.as_uri())

    def inside(locator: Any) -> bool:
        box = locator.bounding_box()
        return bool(box) and box["y"] >= 0 and box["y"] + box["height"] <= height

    for judge, tile in zip(view.judges, page.locator(".tile a").all(), strict=True):
        assert inside(tile)
        told = outcome_words(line.outcome for line in judge.sheet.checks)
        assert " ".join(tile.inner_text().split()) == f"{judge.sheet.name} ✗ {told}"
    whole = [
        finding
        for finding in page.locator(".finding").all()
        if all(map(inside, [finding.locator(part) for part in ("h3", ".measured", ".example")]))
        and inside(finding.locator(".minis svg").first)
    ]
    of_first = [lines[0] for lines in view.judges[0].failing]
    assert len(whole) >= min(least, len(of_first))
    for finding, line in zip(whole, of_first, strict=False):
        assert line.sentence in finding.inner_text()
        assert line.measured in finding.inner_text()
        assert line.example in finding.inner_text()
    assert not inside(page.locator("#about"))
    context.close()


@pytest.mark.parametrize("width", [pytest.param(1280, marks=pytest.mark.long), 390])
def test_long_names_and_what_was_not_measured_widen_nothing_and_hide_no_finding(
    started: Any, tmp_path: Path, width: int
) -> None:
    part = checked(replayed("noisy", "vacuum"))
    names = [f"{letter}-of-a-judge-with-a-name-of-{'many-words-' * 7}v17" for letter in "abc"]
    named = [replace(part, judge=name, identity={**part.identity, "name": name}) for name in names]
    sheet = sheet_of(named, seed=0, mode="replay")
    why = f"none of the first 20 replies of judge {names[0]} states a verdict"
    missed = [Missed(name, suite, why, 9) for name in names for suite in ("vacuum", "ladder")]
    path = tmp_path / "x.html"
    path.write_text(page_text(view_of(sheet), missed=missed), encoding="utf-8")
    context = started.new_context(viewport={"width": width, "height": 900})
    page = context.new_page()
    page.goto(path.as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") == width
    for tile in page.locator(".tile").all():
        box, said = tile.bounding_box(), tile.locator(".outcome").bounding_box()
        assert box["x"] <= said["x"]
        assert said["x"] + said["width"] <= box["x"] + box["width"]
    # What was measured and failed comes first; its sentence is on the first screen.
    first = page.locator(".finding h3").first
    assert first.inner_text().startswith("✗ fail the judge")
    assert first.bounding_box()["y"] < 900
    context.close()


def test_ages_are_those_of_the_terminal(started: Any, written: Path, tmp_path: Path) -> None:
    """Days by the calendar of UTC, as `text.estimate_columns.age` counts them."""
    path = tmp_path / "x.html"
    text = re.sub('data-since="[^"]*"', 'data-since="2026-11-22T23:00:00Z"', written.read_text())
    path.write_text(text)
    for now, told in [
        ("2026-11-22T23:59:00Z", "(today)"),
        ("2026-11-23T00:01:00Z", "(1 day ago)"),
        ("2026-11-24T23:30:00Z", "(2 days ago)"),
    ]:
        page = started.new_page()
        page.clock.set_fixed_time(now)
        page.goto(path.as_uri())
        assert page.locator(".age").first.inner_text().strip() == told
        page.close()


def test_the_judgments_behind_a_check_need_no_script(started: Any, written: Path) -> None:
    context = started.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(written.as_uri())
    finding = page.locator(".finding").filter(has_text="change with the wording").first
    finding.locator("summary").first.click()
    sides = finding.locator(".exhibit").first.locator(".side")
    assert sides.count() == 2
    # Two wordings of one question: in each the words that the other lacks are marked.
    for side in sides.all():
        assert side.locator("pre").first.is_visible()
        assert side.locator("mark").count() > 0
    context.close()


def test_the_evidence_opens_on_flips(opened: Opened) -> None:
    assert opened.page.locator("#f-view option").first.inner_text().startswith("flips")
    record = opened.unfold(0)
    assert record.locator("pre").count() == 4


def test_headings_stand_in_order_and_what_can_be_focused_shows_it(opened: Opened) -> None:
    levels = opened.page.evaluate(
        "[...document.querySelectorAll('h1,h2,h3,h4')].map(h => +h.tagName[1])"
    )
    assert levels[0] == 1
    assert all(after - before <= 1 for before, after in itertools.pairwise(levels))
    opened.page.keyboard.press("Tab")
    assert opened.page.evaluate("document.activeElement.className") == "skip"
    opened.page.locator("#f-text").focus()
    opened.page.keyboard.press("Tab")
    outline = opened.page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"


def test_filters_find_what_the_judgments_hold(opened: Opened) -> None:
    judgments = [judgment for cell in evidence().cells for judgment in cell.judgments]
    opened.choose("view", "every trial")
    assert opened.count == f"1 to 25 of {len(judgments):,}"
    opened.choose("judge", "noisy")
    noisy = [judgment for judgment in judgments if judgment.judge == "noisy"]
    assert opened.count == f"1 to 25 of {len(noisy):,}"
    opened.choose("outcome", "unparsed")
    unparsed = [j for j in noisy if isinstance(j.outcome, Unparsed)]
    assert opened.count == f"1 to 25 of {len(unparsed):,}"
    assert all("unparsed:" in record for record in opened.records)
    opened.choose("suite", "vacuum")
    here = [j for j in unparsed if j.trial.suite == "vacuum"]
    assert opened.count == f"1 to {len(here)} of {len(here)}"
    opened.write("item", here[0].trial.item)
    of_item = [j for j in here if here[0].trial.item in j.trial.item]
    assert opened.count == f"1 to {len(of_item)} of {len(of_item)}"
    opened.page.click("#filters button[type=reset]")
    from playwright.sync_api import expect  # where there is no browser it may be missing too

    expect(opened.page.locator("#f-item")).to_have_value("")
    opened.choose("view", "every trial")
    opened.choose("outcome", "differs from the label")
    wrong = [judgment for judgment in judgments if judgment.correct is False]
    assert opened.count == f"1 to 25 of {len(wrong):,}"
    opened.page.click("#filters button[type=reset]")
    opened.choose("view", "every trial")
    # Text: of replies and of prompts, whatever its case.
    asked = evidence().prompts
    words = "I CANNOT"
    holding = [
        j
        for j in judgments
        if words.lower() in (j.reply or "").lower()
        or words.lower() in asked[j.judge, j.trial.suite][j.trial.id].lower()
    ]
    opened.write("text", words)
    shown = min(25, len(holding))
    assert opened.count == (
        f"1 to {shown} of {len(holding):,}" if holding else "No trial matches these filters."
    )
    opened.write("text", "no such words anywhere")
    assert opened.count == "No trial matches these filters."
    assert opened.complaints == []


def test_pages_turn_by_the_keyboard_and_a_record_unfolds(opened: Opened) -> None:
    total = sum(len(cell.judgments) for cell in evidence().cells)
    opened.choose("view", "every trial")
    assert opened.page.locator("#previous").is_disabled()
    opened.page.locator("#next").focus()
    opened.page.keyboard.press("Enter")
    assert opened.count == f"26 to 50 of {total:,}"
    judgments = [judgment for cell in evidence().cells for judgment in cell.judgments]
    record = opened.unfold(0)
    prompt, reply = record.locator("pre").all_inner_texts()
    judgment = judgments[25]
    assert prompt == evidence().prompts[judgment.judge, judgment.trial.suite][judgment.trial.id]
    assert reply == (judgment.reply or "(no reply)")


def test_flips_stand_side_by_side_with_what_differs_marked(opened: Opened) -> None:
    opened.choose("view", "flips by wording")
    record = opened.unfold(0)
    one, _, other, _ = record.locator("pre").all_inner_texts()
    assert one != other
    marked = [
        text
        for n in (0, 2)
        for text in record.locator("pre").nth(n).locator("mark").all_inner_texts()
    ]
    assert marked
    for text in marked:
        assert text in one or text in other
    # What is not marked is in both: without the marked words the two prompts are the same.
    bare = [
        record.locator("pre")
        .nth(place)
        .evaluate(
            "p => [...p.childNodes].filter(n => n.nodeName !== 'MARK')"
            ".map(n => n.textContent).join('').replace(/\\s+/g, ' ').trim()"
        )
        for place in (0, 2)
    ]
    assert bare[0] == bare[1]


def test_then_and_now_shows_changed_verdicts_first(started: Any, tmp_path: Path) -> None:
    old, new = replayed("mixed", "vacuum"), replayed("noisy", "vacuum")
    renamed = tuple(replace(judgment, judge="noisy") for judgment in old.judgments)
    before = Side(old.estimates, replace(old.cell, judgments=renamed))
    sheet = sheet_of([checked(new)], seed=0, mode="replay")
    some = PageEvidence((new.cell,), {}, {("noisy", "vacuum"): before})
    with Opened(started, write(tmp_path / "x.html", sheet, some)) as found:
        assert found.page.locator("#f-view option").first.inner_text().startswith("then and now")
        then = {j.trial.id: j for j in old.judgments}
        changed = [
            (type(then[j.trial.id].outcome), then[j.trial.id].verdict)
            != (type(j.outcome), j.verdict)
            for j in new.judgments
        ]
        first = found.records
        assert len(first) == 25 <= sum(changed)
        assert all("changed" in record for record in first)
        while found.page.locator("#next").is_enabled():
            found.page.click("#next")
        assert not any("changed" in record for record in found.records)
        texts = found.unfold(0).locator("pre").all_inner_texts()
        assert len(texts) == 3  # the reply then, the reply now, the prompt


def test_hostile_words_are_shown_and_do_nothing(started: Any, tmp_path: Path) -> None:
    huge = "x" * 1_000_000 + HOSTILE
    trials = [Trial(f"s/{HOSTILE}/t{n}/ab/r1", "s", HOSTILE, "c", f"t{n}") for n in (1, 2)]
    judgments = (
        Judgment(trials[0], HOSTILE, Verdict("YES"), reply=HOSTILE),
        Judgment(trials[1], HOSTILE, Unparsed(HOSTILE), reply=huge),
    )
    cell = Cell(HOSTILE, "s", Design("paraphrase", ("YES", "NO")), judgments)
    some = PageEvidence(
        (cell,), {(HOSTILE, "s"): {trials[0].id: HOSTILE, trials[1].id: f"x{HOSTILE}"}}
    )
    path = write(tmp_path / "x.html", shown_sheet(), some)
    with Opened(started, path) as found:
        for place in (0, 1):
            record = found.unfold(place)
            for text in record.locator("pre").all_text_contents():
                assert "<img src=x onerror=" in text or text.startswith("xxx")
                assert not set(text) & {"\x1b", "\x07", "\x00", "\u202e", "\u2066"}
        # The long reply is cut until it is asked for.
        record = found.page.locator("#records > li").nth(1)
        assert len(record.locator("pre").nth(1).text_content()) == 20_000
        record.locator("button").last.click()
        text = record.locator("pre").nth(1).text_content()
        assert text.endswith(
            r"\x1b[2J\x1b]0;owned\x07\u202eevil\u2066\x00 {{ 7*7 }} javascript:alert(1)"
        )
        found.write("text", "</script><script>")
        assert found.count == "1 to 2 of 2"
        assert found.page.title().startswith("Judge datasheet")
        assert found.page.locator("#records img, #records script").count() == 0
        assert found.complaints == []


def test_figures_are_downloaded_as_svg_and_csv(opened: Opened) -> None:
    with opened.page.expect_download() as caught:
        opened.page.click("[data-svg=metrology]")
    text = Path(caught.value.path()).read_text(encoding="utf-8")
    assert caught.value.suggested_filename == "metrology.svg"
    assert text.startswith("<?xml")
    assert "dark current" in text
    with opened.page.expect_download() as caught:
        opened.page.click("a[download='metrology.csv']")
    rows = Path(caught.value.path()).read_text(encoding="utf-8").splitlines()
    assert rows[0].startswith("judge,dark current")
    assert [row.partition(",")[0] for row in rows[1:]] == ["mixed", "noisy"]


def test_it_prints_on_a4_with_the_measures_of_every_suite(opened: Opened) -> None:
    suites = opened.page.locator("details.suite").count()
    opened.page.locator("details.suite > summary").first.click()
    assert opened.page.locator("details.suite:not([open])").count() == suites - 1
    opened.page.evaluate("dispatchEvent(new Event('beforeprint'))")
    opened.page.emulate_media(media="print")
    assert opened.page.locator("details.suite:not([open])").count() == 0
    opened.page.set_viewport_size({"width": 703, "height": 1000})  # A4 less its margins
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= 703
    assert not opened.page.locator("nav").is_visible()
    assert opened.page.locator("table.measures").first.is_visible()
    assert len(opened.page.pdf(format="A4")) > 50_000
    opened.page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert opened.page.locator("details.suite:not([open])").count() == suites - 1


def test_the_age_of_recordings_is_told_by_the_browser(opened: Opened) -> None:
    assert opened.page.locator(".age").count() > 0
    for text in opened.page.locator(".age").all_inner_texts():
        assert re.fullmatch(r" \((today|1 day ago|\d+ days ago)\)", text)


def test_a_conversation_in_a_prompt_stands_below_the_rest_of_it(
    started: Any, tmp_path: Path
) -> None:
    """With its roles, calls and results; in a reply the same words are a text."""
    text = text_of_chat(openai_chat(6))
    prompts = {f"t{n}": f"Wording {n}.\n<talk>\n{text}\n</talk>" for n in (1, 2)}
    trials = {name: Trial(f"s/i/{name}/ab/r1", "s", "i", "c", name) for name in prompts}
    judgments = tuple(
        Judgment(trial, "j", Verdict(word), reply=text)
        for trial, word in zip(trials.values(), ("YES", "NO"), strict=True)
    )
    cell = Cell("j", "s", Design("paraphrase", ("YES", "NO"), pairs=(("t1", "t2"),)), judgments)
    by_trial = {trials[name].id: prompt for name, prompt in prompts.items()}
    path = write(tmp_path / "x.html", shown_sheet(), PageEvidence((cell,), {("j", "s"): by_trial}))
    with Opened(started, path, width=390) as found:
        found.choose("view", "flips by wording")
        record = found.unfold(0)
        prompt, reply, *_ = record.locator("pre").all_inner_texts()
        assert prompt == "Wording 1.\n<talk>\n[a conversation of 6 messages, below]\n</talk>"
        assert reply == text
        assert record.locator("pre").first.locator("mark").all_inner_texts() == ["1."]
        assert record.locator(".conversation").count() == 2
        turns = record.locator(".conversation").first.locator(".turn")
        assert turns.count() == 6
        assert words(turns.nth(2)) == "tool find returns (call 1) 3 row 0 Lyon"
        assert words(turns.last) == f"assistant 6 {FORGED}".replace("\n", " ")
        assert found.page.evaluate("document.documentElement.scrollWidth") == 390
        assert found.complaints == []
