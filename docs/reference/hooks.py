"""Hooks of the site's build: it makes the reference, the parts of pages that are made, and titles.

The reference is made of the code (``generate.py``), and so are the parts of pages that stand where
a page has ``<!-- made: PART -->``: what the built-in suites and their recordings give
(``scripts/suite_pages.py``), the arms of the papers, and all measures. Nothing of it is
committed. Blocks have the names of their files.

SECURITY.md, which hosts of repositories look for at the top, is the page ``policy.md`` of the site.

A page that would load something from elsewhere is a warning, and under ``--strict`` a warning ends
the build. Links are free to lead elsewhere; pictures, scripts, styles and fonts are not.
"""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

# mkdocs runs hooks without their folder, and the checkout need not be where modules are found.
sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[2])]

import generate

from scripts import suite_pages

# `security.md` is a page already, and some file systems know no capitals.
POLICY = "policy.md"

# A hundred short pages for those who know a name. For the words of a question they would stand in
# front of the pages that answer it.
LOOKED_UP = ("measures/", "reference/", "suites/", "gallery/")

log = logging.getLogger("mkdocs.hooks.judgesense")

_TAG = re.compile(r"<(?:img|script|link|iframe|source|video|audio)\b[^>]*>", re.IGNORECASE)
_ELSEWHERE = re.compile(r"\b(?:src|href)\s*=\s*[\"']?(?:https?:)?//[^\"'\s>]+", re.IGNORECASE)
# Where a page says what its own address is: nothing is loaded from there.
_NAMES_ITSELF = re.compile(r"rel=[\"']?(?:canonical|next|prev)\b", re.IGNORECASE)
# The comment above a block that is the content of a file.
_FILE = re.compile(r"<!-- file: (\S+) -->\n((?:<!-- .+ -->\n)*)```(\w+)\n")


def with_titles(markdown: str) -> str:
    """A page with the name of its file above each block that is one."""
    return _FILE.sub(r'\2```\3 title="\1"' + "\n", markdown)


def on_files(files: Any, config: Any) -> None:
    """Add the pages that stand outside the folder of the pages, or nowhere."""
    from mkdocs.structure.files import File

    text = (Path(config.docs_dir).parent / "SECURITY.md").read_text(encoding="utf-8")
    pages = {POLICY: text.replace("](docs/", "]("), **generate.site_pages()}
    for path, content in pages.items():
        files.append(File.generated(config, path, content=content))


def on_page_markdown(markdown: str, page: Any, config: Any, **_: Any) -> str:
    """Change a page before it is rendered, and name what people search for that it answers."""
    path = page.file.src_uri
    page.meta["tags"] = sought_words(path, config.extra["sought"])
    if path.startswith(LOOKED_UP):
        page.meta["search"] = {"boost": 0.5}
    filled = with_made_parts(page.file.src_uri, markdown)
    return with_titles(filled.replace("](../SECURITY.md)", f"]({POLICY})"))


def sought_words(path: str, sought: Mapping[str, list[str]]) -> list[str]:
    """What people search for that a page, by its path in docs/, answers.

    A measure is also sought by the words of its name, which the search takes for one word.
    """
    folder, _, name = path.removesuffix(".md").rpartition("/")
    named = [name.replace("_", " ")] if folder == "measures" else []
    return named + sought.get(path, [])


def with_made_parts(path: str, markdown: str) -> str:
    """A page, by its path in docs/, with the parts that are made."""

    parts = {
        "arms": generate.arms,
        "measures": generate.measures,
        "counts": suite_pages.counts,
    }

    def part(name: str) -> Iterable[str]:
        if (make := parts.get(name)) is not None:
            return make()
        return suite_pages.PARTS[name](Path(path).stem)

    return suite_pages.filled(markdown, part)


def asked_elsewhere(html: str) -> list[str]:
    """What a browser would load from another server to show a page."""
    tags = [tag for tag in _TAG.findall(html) if not _NAMES_ITSELF.search(tag)]
    return [address[0] for tag in tags for address in _ELSEWHERE.finditer(tag)]


def on_post_page(output: str, page: Any, config: Any) -> str:  # noqa: ARG001 - mkdocs passes it by name
    """Look at a page as it is written."""
    for address in asked_elsewhere(output):
        log.warning("%s asks another server: %s", page.file.src_uri, address)
    return output
