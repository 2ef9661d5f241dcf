"""``judgesense plan --lint`` looks at the checks of a suite as well."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_judgesense.commands.main import main
from tests.plugin.project import parity_suite


@pytest.mark.parametrize(
    ("checks", "wordings", "said"),
    [
        ("jss_flor = 0.9", ("Is {{number}} even?", "Even: {{number}}?"), "named 'jss_flor'"),
        ("jss_floor = 10", ("Is {{number}} even?", "Even: {{number}}?"), "error check: jss_floor"),
        ("jss_floor = 0.9", ("Is {{number}} even?",), "error one-wording: jss_floor"),
    ],
)
def test_a_check_that_cannot_be_decided_is_an_error(
    checks: str,
    wordings: tuple[str, ...],
    said: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = parity_suite(tmp_path, checks=checks, wordings=wordings)
    assert main(["plan", "--lint", str(path)]) == 1
    shown = capsys.readouterr().out
    assert said in shown
    assert "1 error" in shown


def test_one_wording_without_a_check_of_wordings_is_fine(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = parity_suite(tmp_path, checks="agreement_floor = 0.6", wordings=("Is {{number}} even?",))
    assert main(["plan", "--lint", str(path)]) == 0
    assert "0 errors" in capsys.readouterr().out


WRONG = "jss_flor = 0.9\nagreement_floor = 10\njss_floor = 0.9"


@pytest.mark.parametrize("only_lint", [True, False])
def test_all_that_is_wrong_is_told_at_once_before_any_call(
    only_lint: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = parity_suite(tmp_path, checks=WRONG, wordings=("Is {{number}} even?",))
    more = ["--lint"] if only_lint else ["--judge-name", "openai:m"]
    assert main(["plan", str(path), *more]) == 1
    shown = capsys.readouterr().out
    errors = [line.strip() for line in shown.splitlines() if line.startswith("  error ")]
    errors = errors or [line for line in shown.splitlines() if line.startswith("error ")]
    # In the order of the rules: those of the items and templates, then those of the checks.
    assert [error.partition(":")[0] for error in errors] == [
        "error one-wording",
        "error check",
        "error check",
    ]
    assert "there is no check named 'jss_flor'" in errors[1]
    assert "agreement_floor has no usable bar" in errors[2]
    assert "found:    bar = 0.9\n" in shown
    assert ("calls to be made: 6 (0 are recorded)" in shown) is not only_lint


@pytest.mark.parametrize("only_lint", [True, False])
def test_a_template_that_asks_for_a_field_that_no_item_has(
    only_lint: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = parity_suite(tmp_path, wordings=("Is {{numbr}} even?", "Even: {{number}}?"))
    more = ["--lint"] if only_lint else ["--judge-name", "openai:m"]
    assert main(["plan", str(path), *more]) == 3
    said = capsys.readouterr()
    assert "asks for what item p1 does not have" in said.out + said.err
    assert "{{numbr}}" in said.out + said.err


def test_a_prompt_of_the_judge_that_asks_for_such_a_field(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    parity_suite(tmp_path)
    (tmp_path / "pyproject.toml").write_text(
        '[tool.judgesense.judges.mine]\nprovider = "openai"\nmodel = "m"\n'
        'prompts.paraphrases = ["Is {{numbr}} even?", "Even: {{number}}?"]\n'
    )
    assert main(["plan", "parity.suite.toml", "--judge-name", "mine"]) == 2
    assert "{{numbr}}" in capsys.readouterr().err
