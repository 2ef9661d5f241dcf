"""What the code of judges opens: at its import, while it is asked, and by whom it is read."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

# In a process of its own: an audit hook stays.
WATCHING = """
import sys, threading
from contextvars import copy_context
from pathlib import Path
from pytest_judgesense.judges.opened_files import OPENED

OPENED.watch()
here = Path.cwd()
sys.path.insert(0, str(here))
import first
with OPENED.by(("mine", "first:judge")):
    first.judge()
    thread = threading.Thread(target=copy_context().run, args=(first.in_a_thread,))
    thread.start()
    thread.join()
(here / "nobody.txt").read_text()
with OPENED.by(("other", "first:judge")):
    (here / "of_other.txt").read_text()
opened = OPENED.of(("mine", "first:judge"), [here / "first.py"])
print(*sorted(path.relative_to(here).as_posix() for path in opened if path.is_relative_to(here)))
"""
FIRST = """
from pathlib import Path
import importlib
here = Path(__file__).parent
PROMPT = (here / "at_import.txt").read_text()
def judge():
    (here / "asked.txt").read_text()
    with open("cache.txt", "w") as file:
        file.write("noted")
    open("cache.txt").read()
    importlib.import_module("la" + "te")
def in_a_thread():
    open(b"in_thread.txt").read()
"""
LATE = "open('by_late.txt').read()\n"


def test_what_is_opened_at_import_and_while_it_is_asked_is_noted(tmp_path: Path) -> None:
    tmp_path = tmp_path.resolve()
    (tmp_path / "first.py").write_text(FIRST)
    (tmp_path / "late.py").write_text(LATE)
    for name in ("at_import", "asked", "in_thread", "by_late", "nobody", "of_other"):
        (tmp_path / f"{name}.txt").write_text(name)
    done = subprocess.run(
        [sys.executable, "-c", WATCHING], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    # Not what was written, nor what others have opened; the module that no statement names is.
    assert done.stdout.split() == [
        *("asked.txt", "at_import.txt", "by_late.txt", "in_thread.txt", "late.py")
    ]
