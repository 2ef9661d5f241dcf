"""What people search for on the built site leads first to the page that answers.

The site is built, and its own search (its worker, its index, its configuration) is asked in a
browser. The pages are those where each question is answered; nobody computes their ranks.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.docs.blocks import ROOT
from tests.docs.test_site import CONFIG
from tests.report.browser import MISSING, browser, chromium

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(chromium() is None, reason=MISSING),
]

# Any address: what is asked of it is answered from the folder of the site.
SITE = "http://site.example/"
# Words and questions by the page that answers them.
ANSWERS = {
    "start": ("install", "how to install", "installation", "uninstall", "upgrade", "setup"),
    "checks": ("xfail", "known failure", "a known failure", "expected failure", "known issue"),
    "ci": (
        *("monorepo", "several projects", "jenkins", "gitlab", "github actions"),
        *("junit", "badge", "pull request", "fork"),
    ),
    "secrets": ("PII", "privacy", "personal data", "GDPR", "PII in recordings", "telemetry"),
    "functions": ("trio", "anyio", "asyncio", "async", "trio/anyio", "async judge"),
    "people": (
        *("two people disagree", "people disagree", "disagreement", "kappa between people"),
        *("is my judge right", "inter-annotator agreement"),
    ),
    "howto/prompt-change": ("did my change make it worse",),
    "howto/position-bias": ("does order matter", "position bias"),
    "howto/budgets": ("cost", "what does it cost", "price"),
    "howto/retries": ("rate limit", "retry", "429", "timeout"),
    "howto/label": ("label on a page",),
    "howto/how-many-items": ("how many items", "sample size"),
    "howto/flaky": ("flaky", "self-consistency"),
    "howto/probes": ("prompt injection",),
    "depth": ("lost in the middle", "long context"),
    "groups": ("fairness", "multilingual"),
    "howto/leniency": ("lenient", "vague answers"),
    "confidence": ("expected calibration error",),
    "howto/xdist": ("parallel", "xdist"),
    "howto/other-logs": ("langfuse",),
    "howto/python": ("notebook",),
    "judges": ("proxy", "api key", "ollama", "azure"),
    "recordings": ("offline", "cassette"),
    "limits": ("windows", "macos"),
    "options": ("exit code",),
    "neighbours": ("vscode",),
    "words": ("glossary",),
    # A measure by its name, and by the words of its name.
    "measures/flip_rate": ("flip_rate", "flip rate"),
    "measures/side_bias": ("side_bias", "side bias"),
}
# The worker of the theme takes messages of these types: 0 the index, 2 a query.
FIRST_PAGES = """async queries => {
  const { base, search } = JSON.parse(document.getElementById("__config").textContent);
  const home = new URL(`${base}/`, location);
  const index = await (await fetch(new URL("search/search_index.json", home))).json();
  const worker = new Worker(new URL(search, location));
  const answer = message => new Promise(resolve => {
    worker.onmessage = event => resolve(event.data);
    worker.postMessage(message);
  });
  await answer({ type: 0, data: { ...index, options: { suggest: false } } });
  const pages = [];
  for (const query of queries) {
    const results = (await answer({ type: 2, data: query })).data.items;
    pages.push(results.length ? results[0][0].location.split("#")[0] : "nothing");
  }
  return pages;
}"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the site, built as the gate builds it."""
    pytest.importorskip("mkdocs", reason="the extra `docs` is not installed")
    folder = tmp_path_factory.mktemp("site")
    build = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", folder]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    built = subprocess.run(
        build, cwd=ROOT, env=environment, check=False, capture_output=True, text=True
    )
    assert built.returncode == 0, built.stdout + built.stderr
    return folder


@pytest.fixture(scope="module")
def opened(site: Path) -> Iterator[Any]:
    """A window on the site, in which no other address answers."""

    def respond(route: Any) -> None:
        path = site / route.request.url.removeprefix(SITE).partition("?")[0]
        if path.is_file():
            route.fulfill(path=str(path))
        else:
            route.fulfill(status=404)

    with browser() as started:
        page = started.new_page()
        page.route("**/*", respond)
        yield page


def test_a_search_leads_first_to_the_page_that_answers(opened: Any) -> None:
    opened.goto(f"{SITE}index.html")
    expected = {query: f"{page}.html" for page, queries in ANSWERS.items() for query in queries}
    first = dict(zip(expected, opened.evaluate(FIRST_PAGES, list(expected)), strict=True))
    assert first == expected


def test_every_word_that_a_page_is_sought_by_leads_to_it_first(opened: Any) -> None:
    opened.goto(f"{SITE}index.html")
    sought = CONFIG["extra"]["sought"]
    expected = {
        word: f"{page.removesuffix('.md')}.html" for page, words in sought.items() for word in words
    }
    first = dict(zip(expected, opened.evaluate(FIRST_PAGES, list(expected)), strict=True))
    assert first == expected


@pytest.mark.parametrize("width", [1280, 390])
def test_the_start_is_on_the_first_screen(opened: Any, width: int) -> None:
    """Within 600 pixels, in a window as wide as a desktop's and as a telephone's."""
    opened.set_viewport_size({"width": width, "height": 900})
    opened.goto(f"{SITE}index.html")
    link = opened.locator('article a[href="start.html"]').first.bounding_box()
    assert link["y"] + link["height"] < 600
    assert opened.evaluate("document.documentElement.scrollWidth") <= width
