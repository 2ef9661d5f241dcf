"""A headless Chromium of the system, driven by Playwright."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

# Debian's name, then what others call it.
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
MISSING = "NO CHROMIUM HERE: pages are not looked at; on Debian: apt-get install chromium"

_RESOLVING = "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1"


def chromium() -> str | None:
    """The browser's path; `JUDGESENSE_CHROMIUM` names another than those of the system."""
    named = os.environ.get("JUDGESENSE_CHROMIUM")
    return named or next(filter(None, map(shutil.which, NAMES)), None)


@contextmanager
def browser() -> Iterator[Any]:
    """A browser without a window and without a network to go to, but to this machine."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        started = playwright.chromium.launch(
            executable_path=chromium(),
            # Containers give no namespaces for a sandbox; the pages are our own.
            args=["--no-sandbox", "--disable-gpu", _RESOLVING],
        )
        try:
            yield started
        finally:
            started.close()


class Opened:
    """A page in the browser, with everything that it complained of."""

    def __init__(self, started: Any, path: Path, *, dark: bool = False, width: int = 1240) -> None:
        self.complaints: list[str] = []
        self.asked: list[str] = []
        context = started.new_context(
            viewport={"width": width, "height": 900},
            color_scheme="dark" if dark else "light",
            accept_downloads=True,
        )
        self.page = context.new_page()
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("dialog", lambda dialog: self.complaints.append(dialog.message))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(path.as_uri())
        self.page.wait_for_selector("#browser:not([hidden])", timeout=30_000)

    def close(self) -> None:
        self.page.context.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def choose(self, name: str, value: str) -> None:
        self.page.select_option(f"#f-{name}", label=value)

    def write(self, name: str, text: str) -> None:
        self.page.fill(f"#f-{name}", text)
        self.page.wait_for_timeout(250)  # it waits for a pause in typing

    @property
    def count(self) -> str:
        return str(self.page.inner_text("#count"))

    @property
    def records(self) -> list[str]:
        return list(self.page.locator("#records summary").all_inner_texts())

    def unfold(self, place: int) -> Any:
        """The texts of a record, unfolded."""
        record = self.page.locator("#records > li").nth(place)
        record.locator("summary").click()
        record.locator("pre").first.wait_for()
        return record
