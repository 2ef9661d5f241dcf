"""What the files of a judge's code say: syntax trees, and the modules of a project."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_judgesense.judges.code_files import (
    ABSENT,
    Module,
    digest_of_file,
    is_of_project,
    module_at,
    module_named,
    modules_imported,
)

CODE = '''
def judge(text):
    """Say whether it is right."""
    return "A" if text else "B"
'''


def digest(folder: Path, code: str, name: str = "jm.py") -> str:
    path = folder / name
    path.write_text(code)
    return digest_of_file(path)


@pytest.mark.parametrize(
    "same",
    [
        "# What it does.\n" + CODE,
        CODE.replace("\n    return", "\n\n    # here\n    return"),
        CODE.replace(
            '"A" if text else "B"', '(\n        "A"\n        if text\n        else "B"\n    )'
        ),
        CODE.replace('"A"', "'A'").replace('"B"', '("" "B")'),
        CODE.replace(
            '"""Say whether it is right."""', '"""\n        Say whether it is right.  \n    """'
        ),
        CODE.replace("\n", "\r\n"),
    ],
    ids=["comment", "blank lines", "brackets", "quotes", "layout of a docstring", "line ends"],
)
def test_comments_and_layout_change_nothing(tmp_path: Path, same: str) -> None:
    assert digest(tmp_path, same, "other.py") == digest(tmp_path, CODE)


@pytest.mark.parametrize(
    "other",
    [
        CODE.replace('"A"', '"B"'),
        CODE.replace("right", "wrong"),  # a docstring may be a prompt
        CODE.replace("if text", "if not text"),
        CODE + "LIMIT = 1\n",
        CODE.replace('"A"', 'b"A"'),
    ],
)
def test_code_and_texts_change_it(tmp_path: Path, other: str) -> None:
    assert digest(tmp_path, other, "other.py") != digest(tmp_path, CODE)


def test_the_digest_is_the_same_in_every_version_of_python(tmp_path: Path) -> None:
    """Written down from Python 3.11: a cassette is recorded with one version, replayed by others.

    Decorators, defaults, f-strings, comprehensions, matches and long numbers are of the sample.
    """
    sample = (
        "import re\nfrom . import other as o\n"
        "@o.deco(x=1)\nasync def f(a, /, b: int = 2, *c, d, **e) -> str:\n"
        "    async with a as x:\n        yield f'{x!r:>{b}} {0xFFFF_FFFF_FFFF} {1.5} {2j}'\n"
        "class K(o.B, metaclass=o.M):\n    x: list[int] = [i for i in range(3) if i]\n"
        "match re:\n    case {'a': [1, *_], **r}: pass\n    case K(x=1) | None: ...\n"
        "try:\n    pass\nexcept* OSError as e:\n    raise\n"
    )
    assert digest(tmp_path, sample) == "08fdf95da334dbe4"


def test_what_is_no_code_counts_as_its_text(tmp_path: Path) -> None:
    broken = digest(tmp_path, "def judge(:\n")
    assert broken != digest(tmp_path, "def judge(:  # more\n", "other.py")
    prompt = digest(tmp_path, "Which is better?\n", "prompt.txt")
    assert prompt != digest(tmp_path, "Which is worse?\n", "other.txt")
    (tmp_path / "crlf.txt").write_bytes(b"Which is better?\r\n")  # as git checks out on Windows
    assert digest_of_file(tmp_path / "crlf.txt") == prompt
    assert digest_of_file(tmp_path / "gone.txt") == ABSENT
    assert digest_of_file(tmp_path) == ""


def write(folder: Path, **files: str) -> None:
    for name, text in files.items():
        path = folder.joinpath(*name.split("__")).with_suffix(".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def test_the_modules_of_the_project_are_found_wherever_they_are_imported(tmp_path: Path) -> None:
    write(
        tmp_path,
        app__judges__grade="from ..parse import read\nimport json, numpy, app.late as late\n",
        app__parse="def read():\n    from app import rules\n    return rules\n",
        app__rules="",
        app__late="import other.deep\n",
        app__unused="",
        other__deep="",
    )
    for package in ("app", "app/judges"):  # `other` is a namespace
        (tmp_path / package / "__init__.py").write_text("")
    first = module_named("app.judges.grade", [tmp_path])
    assert first == Module(tmp_path / "app" / "judges" / "grade.py", tmp_path)
    modules = modules_imported([first], tmp_path, [tmp_path])
    assert {path.relative_to(tmp_path).as_posix() for path in modules} == {
        *("app/__init__.py", "app/judges/__init__.py", "app/judges/grade.py", "app/parse.py"),
        *("app/rules.py", "app/late.py", "other/deep.py"),
    }
    assert module_at(first.path) == first


def test_environments_and_secrets_are_not_of_the_project(tmp_path: Path) -> None:
    (tmp_path / "own-env").mkdir()
    (tmp_path / "own-env" / "pyvenv.cfg").write_text("home = /usr\n")
    outside = [
        "own-env/lib/some.py",
        "lib/site-packages/some.py",
        ".env",
        "config/.env.local",
        "web/node_modules/some.txt",
    ]
    assert [name for name in outside if is_of_project(tmp_path / name, tmp_path)] == []
    assert is_of_project(tmp_path / "lib" / "some.py", tmp_path)
    assert not is_of_project(tmp_path.parent / "some.py", tmp_path)
    import pytest_judgesense

    ours = Path(pytest_judgesense.__file__).resolve()
    assert not is_of_project(ours, ours.parents[1])
