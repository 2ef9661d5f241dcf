"""Take the pictures of the page that stand in docs/images, from the shipped recordings.

Run it from the checkout after a change of the page: ``python scripts/screenshots.py``. It needs the
packages of ``pip install '.[html,test]'`` and a Chromium.
"""

from __future__ import annotations

import io
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

CHECKOUT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(CHECKOUT))

from PIL import Image  # noqa: E402

from tests.report.browser import Opened, browser  # noqa: E402

IMAGES = CHECKOUT / "docs" / "images"
JUDGES = tuple(f"embedded:{profile}" for profile in ("clean", "mixed", "noisy", "positional"))
# The language model whose recordings come along, and what is recorded of it.
MODEL = "qwen2.5-coder-0.5b"
OF_MODEL = (
    *(f"{name}@quick" for name in ("coherence", "factuality", "preference", "ladder")),
    "vacuum",
)
SUITES = (
    *(f"{name}@published" for name in ("coherence", "preference", "ladder", "criterion")),
    "vacuum",
    "debate",
)


def measured(folder: Path, judges: tuple[str, ...], suites: tuple[str, ...], name: str) -> Path:
    """The datasheet of judges from the shipped recordings; checks of the worse judges fail."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--tb=no"]
    command += [part for one in judges for part in ("--judge-name", one)]
    command += [part for one in suites for part in ("--judge-suite", one)]
    path = folder / name
    command += ["--judge-datasheet", str(path)]
    if subprocess.run(command, cwd=folder, check=False).returncode not in (0, 1):
        sys.exit("there is no page to look at")
    return path


def history(folder: Path) -> Path:
    """Three judges one after another, as if they were one."""
    suites = ("vacuum", "coherence@published")
    files = [
        measured(folder, (f"embedded:{one}",), suites, f"{one}.json")
        for one in ("clean", "mixed", "noisy")
    ]
    path = folder / "history.html"
    command = [sys.executable, "-m", "pytest_judgesense.commands", "report", *map(str, files)]
    subprocess.run([*command, "-o", str(path)], check=True)
    return path


def save(name: str, page: Any, clip: dict[str, float]) -> None:
    """A part of the page as a PNG of few colours."""
    picture = Image.open(io.BytesIO(page.screenshot(full_page=True, clip=clip)))
    picture.convert("RGB").quantize(256, dither=Image.Dither.NONE).save(
        IMAGES / f"{name}.png", optimize=True
    )


def box(page: Any, selector: str, height: float) -> dict[str, float]:
    """Where an element stands, down to so many pixels."""
    found: dict[str, float] = page.evaluate(
        """selector => {
            const box = document.querySelector(selector).getBoundingClientRect();
            return {x: box.x, y: box.y + scrollY, width: box.width, height: box.height};
        }""",
        selector,
    )
    return {**found, "height": min(found["height"], height)}


def screen(started: Any, path: Path, name: str, width: int, height: int) -> None:
    """What a reader sees first."""
    with Opened(started, path, width=width) as found:
        found.page.set_viewport_size({"width": width, "height": height})
        clip = {"x": 0.0, "y": 0.0, "width": float(width), "height": float(height)}
        save(name, found.page, clip)


def main() -> None:
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as name, browser() as started:
        folder = Path(name)
        one = measured(folder, (MODEL,), OF_MODEL, "one.html")
        screen(started, one, "page-judge", 1280, 900)
        screen(started, one, "page-narrow", 390, 844)
        path = measured(folder, JUDGES, SUITES, "page.html")
        screen(started, path, "page", 1280, 900)
        with Opened(started, one, width=1280) as found:
            found.page.locator(".finding .behind > summary").first.click()
            save("page-evidence", found.page, box(found.page, ".finding", 760))
        with Opened(started, path, width=1100, dark=True) as found:
            save("page-figures", found.page, box(found.page, "#figures", 1040))
        with started.new_page(viewport={"width": 1280, "height": 900}) as page:
            page.goto(history(folder).as_uri())
            save("page-history", page, {"x": 0.0, "y": 0.0, "width": 1280.0, "height": 760.0})


main()
