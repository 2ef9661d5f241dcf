"""Markdown and badge: the numbers of the JSON, and words of judges that stay words."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from html.parser import HTMLParser
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from pytest_judgesense.datasheets.datasheet import (
    AgainstBaseline,
    ChangedItem,
    Datasheet,
    UncomparedCheck,
)
from pytest_judgesense.errors import printable
from pytest_judgesense.report.assembly import sheet_of
from pytest_judgesense.report.datasheet_file import datasheet_json
from pytest_judgesense.report.markdown import badge, code, cut, markdown
from pytest_judgesense.report.summary import Missed
from pytest_judgesense.report.terminal import datasheet_lines
from pytest_judgesense.report.view import outcome_words, view_of
from pytest_judgesense.text import numbers

from .replaying import parts_of
from .test_terminal import estimate, gate, part

# As on GitHub: tables, bare addresses as links, HTML in between.
GFM = MarkdownIt("gfm-like", {"html": True})
HOSTILE = (
    "@everyone #12 www.example.com http://example.com a@b.com ![x](http://example.com/x.png) "
    "[a](javascript:alert(1)) <script>alert(1)</script> </code></details> `` ` ``` | \\| \\` "
    "&lt; &#64;all ::error:: $(id) {{x}} ~~a~~ **b** _c_ \x1b[2J \u202e\u2028\n# head\n\n- item"
)


class Seen(HTMLParser):
    """What a rendered page holds: the cells of its table rows, its tags, its text outside code."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.tags: set[str] = set()
        self.plain = self.code = ""
        self._in_code = 0
        self._in_cell = False
        self.feed(GFM.render(text))

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.add(tag)
        self._in_code += tag == "code"
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self._in_cell = True
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        self._in_code -= tag == "code"
        self._in_cell &= tag not in ("td", "th")

    def handle_data(self, data: str) -> None:
        if self._in_cell:
            self.rows[-1][-1] += data
        if self._in_code:
            self.code += data
        else:
            self.plain += data


def sheet(*profiles: str) -> Datasheet:
    return sheet_of([one for name in profiles for one in parts_of(name)], seed=7, mode="replay")


@pytest.mark.parametrize("profile", ["mixed", "noisy"])
def test_every_number_of_the_json_stands_in_it_to_the_digits_of_the_terminal(profile: str) -> None:
    value = sheet(profile)
    rows = Seen(markdown(view_of(value))).rows
    others = ("measure", "rank", "ranks")
    shown = [r for r in rows if len(r) == 8 and not (r[0] in others or r[0][:1].isdigit())]
    (judge,) = json.loads(datasheet_json(value))["judges"]
    known = list(zip(judge["measures"], value.judges[0].estimates, strict=True))
    # Of a quiet measure 0 is nothing to tell, and these judges neither decline nor abstain.
    quiet = [one for _, one in known if one.measure in ("refusal_rate", "abstain_rate")]
    assert {one.value for one in quiet} == {0.0}
    known = [pair for pair in known if pair[1] not in quiet]
    assert len(shown) == len(known)
    terminal = "\n".join(datasheet_lines(view_of(value)))
    for row, (plain, one) in zip(shown, known, strict=True):
        assert row[0] == plain["measure"]
        assert row[2] == numbers.counts(one)
        assert row[3] == numbers.value(one)
        assert row[4] == numbers.interval(one.clustered, one.flags)
        assert row[5] == numbers.interval_of_paper(one)
        if plain["value"] is None:
            assert row[3] == "N/A"
            assert plain["unavailable"] in row[7]
        else:
            # The terminal leaves out flip rates by template pair, which are the rest to 1, and what
            # is measured of single criteria and labels, of which a line tells the grades, the
            # stability and the counts.
            told_otherwise = {"template_pair", "criterion", "label"}
            assert row[3] in terminal or told_otherwise & one.condition.keys()
            if not one.flags:
                assert float(row[3]) == round(plain["value"], 3)
    told = [row for row in rows if len(row) == 5 and row[0] != "outcome"]
    assert sorted((row[2], row[3], row[0].lower()) for row in told) == sorted(
        (check["suite"], check["check"], check["outcome"]) for check in judge["checks"]
    )


def test_what_did_not_pass_stands_first() -> None:
    rows = Seen(markdown(view_of(sheet("mixed")))).rows
    words = [row[0] for row in rows if len(row) == 5][1:]
    assert words == sorted(words, key=["FAIL", "INCONCLUSIVE", "pass"].index)
    assert {"FAIL", "pass"} <= set(words)


def test_leaderboards_are_those_of_the_terminal() -> None:
    value = sheet("clean", "mixed")
    page = Seen(markdown(view_of(value)))
    terminal = " ".join(" ".join(datasheet_lines(view_of(value))).split())
    boards = [row for row in page.rows if len(row) == 8 and row[1] in ("clean", "mixed")]
    assert boards
    for ranks, judge, n, jss, ends, kappa, tier, published in boards:
        beside = f"kappa {kappa}, tier {tier}, tier in the paper {published}"
        assert f"{ranks} {judge} n {n} {jss} {ends} {beside}" in terminal
    assert "no clear difference between clean and mixed" in page.code


def test_what_was_not_measured_is_said_and_no_judge_is_needed_for_it() -> None:
    page = Seen(markdown(None, [Missed("x", "y", "no cassette", 2), Missed("x", "z", "old", 1)]))
    assert "Not measured: 3" in page.plain
    assert "no checks" in page.plain
    assert "2 checks not measured of judge x on y: no cassette" in page.code
    assert "1 check not measured of judge x on z: old" in page.code


def test_hostile_words_stay_words() -> None:
    line = gate("fail", check=f"jss_floor[{HOSTILE}]", explanation=HOSTILE, warnings=(HOSTILE,))
    measured = part(
        estimate(condition={"category": HOSTILE}),
        estimate("kappa", value=None, unavailable=HOSTILE, interval=None, clustered=None),
        checks=(line,),
        judge=HOSTILE,
        suite="coherence",
        served=(HOSTILE,),
        notices=(HOSTILE,),
    )
    missed = [Missed(HOSTILE, HOSTILE, HOSTILE, 2)]
    page = Seen(markdown(view_of(sheet_of([measured], seed=0, mode="replay")), missed))
    allowed = "h2 p strong ul li table thead tbody tr th td code br wbr details summary"
    assert page.tags <= set(allowed.split())
    for trap in (
        "@",
        "#12",
        "example.com",
        "javascript",
        "<script",
        "::error",
        "alert",
        "](",
        "~~",
    ):
        assert trap not in page.plain, trap
        assert trap in page.code, trap
    assert not re.search(r"[\x00-\x09\x0b-\x1f\u202e\u2028]", page.plain + page.code)
    # No cell has become two.
    assert {len(row) for row in page.rows} == {5, 8}


def compared(text: str, changes: tuple[str, ...]) -> str:
    """A datasheet of a check that compares with a baseline; every text of others is ``text``."""
    both = (text, text)
    item = ChangedItem(text, text, 1, text, both, verdicts=both, replies=both)
    against = AgainstBaseline(text, text, changes, 1, 1, (item,))
    line = gate("fail", check=text, sentence=text, explanation=text, against=against)
    left_out = UncomparedCheck(text, "jss", "coherence", text)
    measured = part(estimate(), checks=(line,), not_compared=(left_out,))
    return markdown(view_of(sheet_of([measured], seed=0, mode="replay")))


def test_what_changed_since_a_baseline_stays_words_too() -> None:
    changes = (HOSTILE, f"  - {HOSTILE}", "  ```", "   ````", "  <details>", "  </details>")
    text = compared(HOSTILE, changes)
    page = Seen(text)
    allowed = "h2 p strong ul li table thead tbody tr th td code br wbr details summary pre"
    assert page.tags <= set(allowed.split())
    for trap in ("@", "#12", "example.com", "javascript", "<script", "](", "~~"):
        assert trap not in page.plain, trap
        assert trap in page.code, trap
    assert not re.search(r"[\x00-\x09\x0b-\x1f\u202e\u2028]", page.plain + page.code)
    # A comment on a pull request ends at the first of these lines: that of the judge.
    assert "another verdict that counts" in text.partition("\n<details>\n")[0]
    assert "not compared" in page.rows[2][0]


@pytest.mark.parametrize("room", range(1200, 2500, 200))
def test_a_diff_is_shown_whole_or_not_at_all(room: int) -> None:
    text = compared(
        "x", ("the prompt changed", *(f"  + {'y' * 60}{n}" for n in range(20)), "  ```")
    )
    short = cut(text, room, "rest")
    fences = [line for line in short.splitlines() if line.startswith("```")]
    assert fences in ([], ["````diff", "````"])
    assert len(short.encode()) <= room
    assert "**Cut here: " in short


@given(st.text(alphabet=st.sampled_from("ab`|\\ @<>&*_[](){}#!:.~$\n\x1b\u202e-+=w/\"'")))
def test_any_text_as_code_is_read_as_that_text(text: str) -> None:
    shown = code(text)
    assert "\n" not in shown
    page = Seen(f"| a | b |\n| --- | --- |\n| {shown} | end |\n")
    assert page.tags <= {"table", "thead", "tbody", "tr", "th", "td", "code", "wbr"}
    cells = page.rows[1]
    assert cells[1] == "end"
    # Markdown takes one blank off each end of a code span, and several in a row are one to HTML.
    assert cells[0].split() == printable(text).split()


def test_what_does_not_fit_is_cut_between_lines_and_says_so() -> None:
    text = markdown(view_of(sheet("clean")))
    size = len(text.encode())
    assert cut(text, size, "rest") == text
    for room in (size - 1, size // 2, 2000):
        short = cut(text, room, "The rest is elsewhere.")
        assert len(short.encode()) <= room
        assert short.count("<details>") == short.count("</details>")
        kept, lines = map(int, re.findall(r"Cut here: (\d+) of (\d+) lines fit", short)[0])
        assert short.splitlines()[:kept] == text.splitlines()[:kept]
        assert lines == len(text.splitlines())
        assert "The rest is elsewhere." in short
    assert cut(text, 50, "rest") == ""  # not even the sentence fits


@pytest.mark.parametrize(
    ("outcomes", "words"),
    [
        ([], "no checks"),
        (["pass"], "1 check passes"),
        (["pass"] * 12, "12 checks pass"),
        (["fail"], "1 of 1 check fails"),
        (["fail", "fail", "pass"], "2 of 3 checks fail"),
        (["inconclusive", "pass"], "1 of 2 checks inconclusive"),
        (["inconclusive", "fail", "pass"], "1 of 3 checks fails, 1 inconclusive"),
    ],
)
def test_outcomes_in_words(outcomes: list[str], words: str) -> None:
    assert outcome_words(outcomes) == words


SVG = "{http://www.w3.org/2000/svg}"


def luminance(colour: str) -> float:
    """Relative luminance, WCAG 2.2."""
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def read(text: str) -> dict[str, Any]:
    root = ET.fromstring(text)
    fills = [rect.get("fill") or "" for rect in root.iter(f"{SVG}rect")]
    return {
        "fills": fills,
        "texts": [one.text for one in root.iter(f"{SVG}text")],
        "title": root.findtext(f"{SVG}title"),
        "label": root.get("aria-label"),
        "role": root.get("role"),
    }


def test_badges_of_different_outcomes_differ_in_colour_and_in_words() -> None:
    found = [read(badge(words, ["prod"])) for words in ([], ["pass"], ["fail"], ["inconclusive"])]
    assert len({one["fills"][1] for one in found}) == 4
    for one in found:
        assert one["role"] == "img"
        assert one["title"] == one["label"] == ": ".join(one["texts"])
        for fill in one["fills"]:
            # White on it: (1 + 0.05) / (L + 0.05) of at least 4.5 for small text.
            assert 1.05 / (luminance(fill) + 0.05) >= 4.5
    assert found[1]["texts"] == ["judge prod", "1 check passes"]


def test_a_failure_colours_the_badge_whatever_else_there_is() -> None:
    words = ["pass", "inconclusive", "fail"]
    assert read(badge(words, ["a"]))["fills"] == read(badge(["fail"], ["a"]))["fills"]
    assert read(badge(words[:2], ["a"]))["fills"] == read(badge(["inconclusive"], ["a"]))["fills"]


def test_names_of_judges_cannot_leave_the_badges_text() -> None:
    found = read(badge(["pass"], ['"><script>x</script>\x1b']))
    assert found["texts"][0] == 'judge "><script>x</script>\\x1b'
    assert read(badge([], ["a", "b"]))["texts"] == ["2 judges", "no checks"]
    assert len(read(badge([], ["a" * 500]))["texts"][0]) == 40
