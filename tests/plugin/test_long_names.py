"""Names of any length: shortened where a file is called so, and told apart."""

from __future__ import annotations

import pytest

from pytest_judgesense.judges.resolving import judge_from_name
from pytest_judgesense.judges.spec import JudgeSpec

from .project import no_traceback, parity_suite, run


@pytest.mark.parametrize(
    "length",
    [121, *(pytest.param(length, marks=pytest.mark.long) for length in (120, 255, 300, 5000))],
)
@pytest.mark.parametrize("workers", [(), pytest.param(("-n", "1"), marks=pytest.mark.long)])
def test_a_judge_of_a_long_name_is_recorded_and_replayed(
    pytester: pytest.Pytester, length: int, workers: tuple[str, ...]
) -> None:
    name = "x" * length
    parity_suite(pytester.path)
    (pytester.path / "pyproject.toml").write_text(
        f'[tool.judgesense.judges.{name}]\nprovider = "embedded"\nmodel = "clean"\n'
    )
    result = run(pytester, "--judge-mode", "record", "--judge-datasheet", "x.json", *workers)
    no_traceback(result)
    assert result.ret in (0, 1)
    (folder,) = (pytester.path / "cassettes").iterdir()
    assert len(folder.name.encode()) < 255 - len(".parity.jsonl.0123456789abcdef.tmp")
    assert run(pytester, *workers).ret == result.ret


def slug(name: str) -> str:
    return JudgeSpec(name, "embedded", "clean").slug


def test_names_that_differ_behind_what_is_cut_off_stay_apart() -> None:
    assert slug("x" * 300) != slug("x" * 301)
    assert slug("x" * 300 + "a") != slug("x" * 300 + "b")
    assert slug("x" * 120) == "x" * 120


def test_usual_names_are_as_before() -> None:
    assert judge_from_name("embedded:clean").slug == "clean"
