"""What the code of judges opens: at its import, while it is asked, and by whom it is read."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

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


BY_JUDGE = """
import os, sqlite3, subprocess, sys
from pathlib import Path
from pytest_judgesense.judges.opened_files import OPENED

OPENED.watch()
here = Path.cwd()
with OPENED.by(("mine", "first:judge")):
    exec(sys.argv[1])
opened = OPENED.of(("mine", "first:judge"), [])
print(*sorted(path.relative_to(here).as_posix() for path in opened if path.is_relative_to(here)))
"""


def opened_by(code: str, folder: Path) -> list[str]:
    """What the code of a judge opens below its folder, from which it is run."""
    done = subprocess.run(
        [sys.executable, "-c", BY_JUDGE, code],
        cwd=folder.resolve(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()[-1].split()


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    """A folder with a database."""
    with closing(sqlite3.connect(tmp_path / "rules.db")) as database, database:
        database.execute("create table rule (text)")
    return tmp_path


READ = ".execute('select * from rule').fetchall()"


@pytest.mark.parametrize(
    "code",
    [
        f"sqlite3.connect('rules.db'){READ}",
        f"sqlite3.connect(b'rules.db'){READ}",
        f"sqlite3.connect('file:rules.db?mode=ro', uri=True){READ}",
        f"sqlite3.connect((here / 'rules.db').as_uri() + '?mode=ro', uri=True){READ}",
    ],
)
def test_a_database_is_opened_by_whatever_name(code: str, rules: Path) -> None:
    assert opened_by(code, rules) == ["rules.db"]


INSERTED = "insert into rule values ('a')"


@pytest.mark.parametrize(
    "code",
    [
        f"c = sqlite3.connect('rules.db')\nc.execute({INSERTED!r})\nc.commit()",
        "sqlite3.connect('new.db').execute('create table rule (text)')",
        "sqlite3.connect(':memory:')",
        "sqlite3.connect('file::memory:?cache=shared', uri=True)",
        "sqlite3.connect('')",
    ],
    ids=["written", "made", "in memory", "shared", "without a name"],
)
def test_a_database_that_is_written_is_none_of_its_code(code: str, rules: Path) -> None:
    assert opened_by(code, rules) == []


def test_what_waits_in_the_log_of_a_database_is_written_as_well(rules: Path) -> None:
    with closing(sqlite3.connect(rules / "rules.db")) as database:
        database.execute("pragma journal_mode = wal")
        read, written = f"c = sqlite3.connect('rules.db')\nc{READ}", f"c.execute({INSERTED!r})"
        assert opened_by(read, rules) == ["rules.db"]
        assert opened_by(f"{read}\n{written}\nc.commit()", rules) == []
        # Another connection has written before, and this one reads.
        assert opened_by(read, rules) == ["rules.db"]


@pytest.mark.parametrize(
    "code",
    [
        "subprocess.run([sys.executable, 'in/scorer.py', '--rules=in/rules.txt', 'a word', 'in'])",
        "subprocess.run([sys.executable, 'scorer.py', 'rules.txt'], cwd='in')",
        "subprocess.run([sys.executable, Path('scorer.py'), b'rules.txt'], cwd=here / 'in')",
        "subprocess.run(f'\"{sys.executable}\" in/scorer.py in/rules.txt', shell=True)",
        "os.system(f'\"{sys.executable}\" in/scorer.py in/rules.txt')",
    ],
    ids=["words", "in its folder", "paths", "shell", "system"],
)
def test_the_files_that_a_command_names_are_opened(code: str, tmp_path: Path) -> None:
    """The program of another process, and what is handed to it; not what that process opens."""
    (tmp_path / "in").mkdir()
    for name in ("scorer.py", "rules.txt", "others.txt"):
        (tmp_path / "in" / name).write_text("")
    (tmp_path / "in" / "scorer.py").write_text(
        "from pathlib import Path\nPath(__file__).with_name('others.txt').read_text()\n"
    )
    assert opened_by(code, tmp_path) == ["in/rules.txt", "in/scorer.py"]


@pytest.mark.skipif(os.name != "posix", reason="shells of POSIX")
@pytest.mark.parametrize(
    "code",
    [
        "subprocess.run('cat<rules.txt;true', shell=True)",
        "subprocess.run(['bash', '-ec', 'cat rules.txt | cat'])",
        "subprocess.run(['sh', '-c', 'cat rules.txt # it\\'s all'])",
        "subprocess.run('./scorer', env={})\nos.posix_spawn('/bin/cat', ['cat', 'rules.txt'], {})",
    ],
)
def test_the_words_of_a_shell_are_taken_apart(code: str, tmp_path: Path) -> None:
    (tmp_path / "rules.txt").write_text("")
    scorer = tmp_path / "scorer"
    scorer.write_text("#!/bin/sh\ntrue\n")
    scorer.chmod(0o755)
    expected = ["rules.txt", "scorer"] if "scorer" in code else ["rules.txt"]
    assert opened_by(code, tmp_path) == expected


def test_what_a_process_was_told_to_write_is_none_of_its_code(tmp_path: Path) -> None:
    (tmp_path / "scorer.py").write_text("import sys\nopen(sys.argv[1], 'w').write('new')\n")
    (tmp_path / "out.txt").write_text("from before")
    code = "subprocess.run([sys.executable, 'scorer.py', 'out.txt'])"
    assert opened_by(code, tmp_path) == ["scorer.py"]


LOOKING = """
for name in ("own.txt", "made.txt", "moved.txt"):
    try:
        Path(name).read_text()
    except FileNotFoundError:
        pass
Path("made.txt").write_text("noted")
Path("new.txt").write_text("noted")
os.replace("new.txt", "moved.txt")
Path("gone.txt").read_text()
os.unlink("gone.txt")
import importlib.metadata, tempfile, traceback
sys.path[:0] = [str(here), str(here / "src")]
importlib.metadata.entry_points()
with tempfile.TemporaryDirectory(dir=here) as folder:
    Path(folder, "inner").mkdir()
try:
    import not_there
except ImportError:
    traceback.format_exc()
exec(compile("1", "no_file.py", "exec"))
"""


def test_what_was_looked_for_in_vain_is_noted_until_it_is_made(tmp_path: Path) -> None:
    """And neither what is gone, nor what Python looks for."""
    (tmp_path / "gone.txt").write_text("there")
    (tmp_path / "mine.egg-info").mkdir()
    assert opened_by(LOOKING, tmp_path) == ["own.txt"]
