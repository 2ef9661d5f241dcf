"""Every built-in suite has its page, and the page shows what the suite is and does today."""

from __future__ import annotations

import html
import json
import re
import tomllib
from collections.abc import Iterator
from typing import Any

import pytest

from scripts import suite_pages
from tests.docs.blocks import DOCS, ROOT
from tests.docs.site import made_page
from tests.report.replaying import replayed
from tests.suites.known import builtin_suites, presets_of

FOLDER = DOCS / "suites"
NAMES = sorted(builtin_suites())
HEADINGS = [
    "What it shows",
    "How it was written",
    "What it cannot show",
    "What lint says",
    "Three items",
    "Scorers that do not read",
]


def page_of(name: str) -> str:
    return (FOLDER / f"{name}.md").read_text(encoding="utf-8")


def section(page: str, heading: str) -> str:
    return page.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]


def form_of(name: str) -> dict[str, Any]:
    return tomllib.loads(builtin_suites()[name].read_text(encoding="utf-8"))


def lines_of(name: str) -> list[dict[str, Any]]:
    path = builtin_suites()[name].parent / form_of(name)["stimuli"]["file"]
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_no_suite_is_without_a_page_and_no_page_without_a_suite() -> None:
    suites = {path.name.partition(".")[0] for path in ROOT.glob("suites/*/*.suite.toml")}
    assert {path.stem for path in FOLDER.glob("*")} == suites


@pytest.mark.parametrize("name", NAMES)
def test_a_page_has_its_parts(name: str) -> None:
    page = page_of(name)
    assert page.startswith(f"# `{name}`\n")
    assert re.findall(r"^## (.+)$", page, re.MULTILINE) == HEADINGS
    # A reader of the repository lands on words below every heading, made parts apart.
    plain = re.sub(r"<!-- made: \w+ -->", "", page)
    assert all(section(plain, heading).strip() for heading in HEADINGS)
    parts = re.findall(r"<!-- made: (\w+) -->", page)
    # Only where readers have labelled the items is there something to say of them.
    readers = ["readers"] if "label_review" in form_of(name) else []
    assert parts == [*readers, "lint", "items", "scores"]
    assert "language models" in section(page, "How it was written")


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
def test_the_site_makes_every_part(name: str) -> None:
    page = made_page(f"suites/{name}.md")
    assert "<!-- made: " not in page
    assert f"$ judgesense plan --lint -v {name}\n" in page
    assert "| `embedded:clean` | `" in page


@pytest.mark.long
def test_the_site_counts_every_suite_and_preset() -> None:
    rows = re.findall(
        r"^\| `(.+)` \| (.+) \|$", made_page("suites.md").split("## Counts")[1], re.MULTILINE
    )
    presets = {f"{name}@{p}" for name, path in builtin_suites().items() for p in presets_of(path)}
    assert {name for name, _ in rows} == presets | set(NAMES)
    assert dict(rows)["factuality"] == "40 | 40 | 5 | 200 | 200"
    assert dict(rows)["ladder@published"] == "260 | 10 | 1 | 520 | 0"


def test_the_site_makes_the_arms_of_the_papers() -> None:
    page = made_page("papers.md")
    assert all(f"| `{name}` | **together** |" in page for name in ("jss", "datasheet", "debates"))


# -- beside the script: the same by another way ----------------------------------------------------


def quotations(text: str) -> Iterator[str]:
    """The texts that a page quotes, as they were before they were made Markdown."""
    for quoted in re.findall(r"(?:^>.*\n)+", text, re.MULTILINE):
        lines = (line[1:].removeprefix(" ").removesuffix("<br>") for line in quoted.splitlines())
        plain = re.sub(r"\\([\\`*_\[\]#.)+-])", r"\1", "\n".join(lines))
        yield html.unescape(plain).replace("\xa0", " ")


def strings(value: Any) -> Iterator[str]:
    """Every text in a line of a suite's file, however deep."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, dict)):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from strings(inner)


@pytest.mark.parametrize("name", NAMES)
def test_the_items_are_three_of_the_suite_word_for_word(name: str) -> None:
    shown = "\n".join(suite_pages.items(name)).split("### ")[1:]
    assert len(shown) == 3
    texts = [
        # The vacuum's blanks are shown by signs.
        " ".join(text.split()) if name == "vacuum" else text
        for line in lines_of(name)
        for text in strings(line)
    ]
    for item in shown:
        quoted = list(quotations(item))
        assert quoted
        for text in quoted:
            # Elements stand in a list below the text that they belong to.
            alone, _, elements = text.partition("\nRequired elements:\n")
            if name == "vacuum":
                alone = " ".join(re.sub("[·↵⇥⍽]", " ", alone.replace("(empty)", "")).split())
            assert alone in texts
            for element in elements.splitlines():
                first, *parts = re.split(r": |; ", element.partition(". ")[2])
                assert {first, *parts} <= {*texts}


def figures(name: str) -> dict[str, list[str]]:
    """The rows of the tables of scores by their first cell, code marks removed."""
    rows = re.findall(r"^\| (.+) \|$", "\n".join(suite_pages.scores(name)), re.MULTILINE)
    cells = [[cell.strip("`") for cell in row.split(" | ")] for row in rows]
    return {first: others for first, *others in cells}


@pytest.mark.long
@pytest.mark.parametrize("name", ["preference", "relevance", "temperature"])
def test_the_length_rule_is_right_as_often_as_is_counted_here(name: str) -> None:
    right = []
    for line in lines_of(name):
        if line["label"] != "tie":
            first, second = (len(re.findall(r"[^\W_]+", text)) for text in line["texts"])
            longer = {True: "1", False: "2"}[first > second]
            right.append(0.5 if first == second else float(longer == line["label"]))
    share = sum(right) / len(right)
    shown, *_ = figures(name)["length rule: number of words"]
    assert shown == f"{max(share, 1 - share):.2f}"


@pytest.mark.long
@pytest.mark.parametrize("name", ["preference", "relevance"])
def test_what_is_said_of_hard_items_is_what_is_counted(name: str) -> None:
    *_, hard = figures(name)["stem counter: stems shared with the task"]
    is_said = "in all hard items the worse one" in " ".join(page_of(name).split())
    assert is_said == (hard == "0.00")


@pytest.mark.long
@pytest.mark.parametrize("name", ["coherence", "factuality", "preference", "relevance"])
@pytest.mark.parametrize("profile", ["clean", "mixed"])
def test_the_simulated_judge_agrees_as_often_as_is_counted_here(name: str, profile: str) -> None:
    judgments = replayed(profile, name).judgments
    # Of pairs the content counts, of all else the verdict.
    right = sum(
        (judgment.chosen or getattr(judgment.outcome, "value", None)) == judgment.trial.label
        for judgment in judgments
    )
    suite, shown = figures(name)[f"embedded:{profile}"]
    assert suite == name
    assert shown == f"{right / len(judgments):.3f} ({right}/{len(judgments)})"


@pytest.mark.parametrize(
    "text",
    [
        "- a *list* of `code`_marks\n\n  def f(x):\n      return [x] # <b> & \\n",
        "1. first\n2) second\n+ third\n# heading\n---\n12.5 km",
    ],
)
def test_a_quotation_says_what_the_text_said(text: str) -> None:
    shown = "\n".join(suite_pages.titled("Text", text))
    assert list(quotations(shown + "\n")) == [text]
