"""``--judge-datasheet x.html``: the page of a session, the same bytes however it was run."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_judgesense.datasheet import page
from tests.datasheet.pages import Page

from .project import BUILTIN, TRIALS, Project, even, flips_on_two, no_traceback, run


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the first of several equal sessions leaves its page for the others."""
    return tmp_path_factory.mktemp("pages") / "first.html"


def test_the_page_has_the_same_bytes_under_any_workers(
    pytester: pytest.Pytester, workers: tuple[str, ...], expected: Path
) -> None:
    run(pytester, *BUILTIN, *workers, "--judge-datasheet", "x.html").assert_outcomes(passed=3)
    written = (pytester.path / "x.html").read_bytes()
    if not expected.exists():
        expected.write_bytes(written)
    assert written == expected.read_bytes()


def test_the_page_holds_prompts_replies_and_flips(project: Project) -> None:
    project.server.reply = flips_on_two
    project.record()
    result = project.run("parity.suite.toml", "--judge-datasheet", "out/x.html")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["datasheet written: *x.html"])
    whole = Page((project.path / "out" / "x.html").read_text(encoding="utf-8"))
    found = whole.evidence
    assert len(found["rows"]["trial"]) == TRIALS
    assert "Is 1 even?" in found["lines"]
    # 2 flips of 18 pairs; see `flips_on_two`.
    assert [kind for _, _, kind in found["flips"]] == ["wording", "wording"]
    rows = {row[0].partition("same")[0]: row for row in whole.tables["Measures of mine on parity"]}
    assert rows["jss"][1:3] == ["16/18", "0.889"]


def test_the_baseline_stands_beside_it(project: Project) -> None:
    project.record("--judge-save-baseline", "b.json")
    project.cassette.unlink()
    project.server.reply = lambda prompt: "NO" if prompt.startswith("Is 2 ") else even(prompt)
    project.record()
    result = project.run(
        "parity.suite.toml", "--judge-baseline", "b.json", "--judge-datasheet", "x.html"
    )
    result.assert_outcomes(passed=1)
    whole = Page((project.path / "x.html").read_text(encoding="utf-8"))
    found = whole.evidence
    changed = [i for i, one in enumerate(found["rows"]["changed"]) if one == 1]
    assert [found["words"][found["rows"]["trial"][i]] for i in changed] == ["parity/p2/t1/ab/r1"]
    assert found["words"][found["rows"]["oldSaid"][changed[0]]] == "YES"
    rows = {row[1]: row for row in whole.tables["mine in the baseline and in this session"][1:]}
    # p2 under t1 flips against t2 and t3: 16 of 18 pairs stay.
    assert rows["jss"][2:4] == ["1.000", "0.889"]


def test_prompts_on_the_page_hold_no_credential(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = "sk-4f9a7c1e8b2d6035"
    monkeypatch.setenv("MY_API_KEY", secret)
    project.declare('api_key_env = "MY_API_KEY"\n' + f'system = "Answer. Key: {secret}"')
    project.record()
    project.run("parity.suite.toml", "--judge-datasheet", "x.html").assert_outcomes(passed=1)
    text = (project.path / "x.html").read_text(encoding="utf-8")
    found = Page(text).evidence
    assert secret not in text
    assert not [line for line in found["lines"] if secret in line]
    assert "Answer. Key: [secret: MY_API_KEY]" in found["lines"]


def test_without_what_draws_it_nothing_is_judged(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page, "find_spec", lambda name: None)
    result = project.run(
        "parity.suite.toml", "--judge-mode", "record", "--judge-datasheet", "x.html"
    )
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        ["*a datasheet cannot be written as .html*", "*pip install 'pytest-judgesense?html?'*"]
    )
    no_traceback(result)
    assert project.server.asked == []
    assert not (project.path / "x.html").exists()
