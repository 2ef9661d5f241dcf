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
JUDGES = ("clean", "mixed", "noisy", "positional")
SUITES = (
    *(f"{name}@published" for name in ("coherence", "preference", "ladder", "criterion")),
    "vacuum",
    "debate",
)


def write_page(path: Path) -> None:
    """The page of the shipped recordings; checks of the worse judges fail."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--tb=no"]
    command += [part for name in JUDGES for part in ("--judge-name", f"embedded:{name}")]
    command += [part for name in SUITES for part in ("--judge-suite", name)]
    command += ["--judge-datasheet", str(path)]
    if subprocess.run(command, cwd=path.parent, check=False).returncode not in (0, 1):
        sys.exit("there is no page to look at")


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


def main() -> None:
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, browser() as started:
        path = Path(folder) / "page.html"
        write_page(path)
        with Opened(started, path, width=1100) as found:
            top = {"x": 0.0, "y": 0.0, "width": 1100.0, "height": 640.0}
            save("page", found.page, top)
            save("page-judge", found.page, box(found.page, "#judge-3", 560))
            found.choose("view", "flips by wording")
            found.unfold(0)
            save("page-evidence", found.page, box(found.page, "#evidence", 640))
        with Opened(started, path, width=1100, dark=True) as found:
            save("page-figures", found.page, box(found.page, "#figures", 1040))


main()
