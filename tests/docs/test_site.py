"""The site: every page has its place, and it asks no other server. The gate builds it strictly."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from tests.docs.blocks import DOCS, PAGES, ROOT, name_of
from tests.docs.site import hooks, reference

CONFIG = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))


def _pages(entry: Any) -> Iterator[str]:
    if isinstance(entry, str):
        yield entry
    for inner in entry.values() if isinstance(entry, dict) else entry:
        if isinstance(inner, str) and not isinstance(entry, str):
            yield inner
        elif not isinstance(inner, str):
            yield from _pages(inner)


def test_every_page_stands_in_the_navigation_once() -> None:
    # And the pages that the hooks make: of SECURITY.md, and of the code.
    written = {name_of(page) for page in PAGES} - {"README.md"} | {"policy.md", *reference()}
    assert Counter(_pages(CONFIG["nav"])) == Counter(written)


@pytest.mark.parametrize(
    ("searched", "page"),
    [
        ("position bias", "howto/position-bias.md"),
        ("verbosity bias", "howto/verbosity-bias.md"),
        ("how many items do i need", "howto/how-many-items.md"),
        ("retry", "howto/retries.md"),
        ("flaky", "howto/flaky.md"),
        ("self-consistency", "howto/flaky.md"),
        ("drift", "howto/drift.md"),
        ("latex tables", "howto/latex.md"),
        ("promptfoo", "howto/promptfoo.md"),
        ("deepeval", "howto/coming-from.md"),
    ],
)
def test_what_people_search_for_is_the_title_of_a_page(searched: str, page: str) -> None:
    """A hit in a title weighs most in the search of the site."""
    title = (DOCS / page).read_text(encoding="utf-8").partition("\n")[0].lower()
    assert searched in title


def test_words_that_people_search_for_are_given_to_pages_that_exist() -> None:
    """Where each of them leads is tried on the built site: `test_search`."""
    sought = CONFIG["extra"]["sought"]
    assert set(sought) <= set(_pages(CONFIG["nav"]))
    assert hooks().sought_words("start.md", sought) == sought["start.md"]
    assert hooks().sought_words("measures/flip_rate.md", sought) == ["flip rate"]
    assert hooks().sought_words("why.md", sought) == []


def test_it_is_searched_and_light_or_dark() -> None:
    assert [*CONFIG["plugins"][0]] == ["search"]
    schemes = {choice.get("scheme") for choice in CONFIG["theme"]["palette"]}
    assert {"default", "slate"} <= schemes


def test_it_is_configured_to_ask_no_other_server() -> None:
    assert CONFIG["theme"]["font"] is False
    assert "docs/reference/hooks.py" in CONFIG["hooks"]
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    assert not [line for line in text.splitlines() if "http" in line]


def test_the_gate_builds_it_strictly() -> None:
    assert 'mkdocs" build --strict' in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("html", "times"),
    [
        ('<img src="https://a.example/b.png">', 1),
        ("<script src=//a.example/b.js></script>", 1),
        ('<link rel="stylesheet" href="http://a.example/b.css">', 1),
        ('<link rel="canonical" href="https://a.example/">', 0),
        ('<a href="https://a.example/">there</a>', 0),
        ('<img src="assets/b.png"><script src="b.js"></script>', 0),
        ("<code>&lt;img src=https://a.example&gt;</code>", 0),
    ],
)
def test_what_a_page_would_ask_elsewhere(html: str, times: int) -> None:
    assert len(hooks().asked_elsewhere(html)) == times


def test_a_block_that_is_a_file_shows_its_name() -> None:
    page = "Text.\n\n<!-- file: a/b.toml -->\n<!-- exit: 1 -->\n```toml\nx = 1\n```\n"
    shown = 'Text.\n\n<!-- exit: 1 -->\n```toml title="a/b.toml"\nx = 1\n```\n'
    assert hooks().with_titles(page) == shown
    assert hooks().with_titles("```toml\nx = 1\n```\n") == "```toml\nx = 1\n```\n"
