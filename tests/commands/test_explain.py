"""``judgesense explain``: what stands behind a name that a report shows."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pytest_judgesense.commands.main import main
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.questions.explain.question import SCHEMA_PAGES, SCHEMAS, schema_page
from pytest_judgesense.suites.builtin import PAGES, page

_WHOLE = re.MULTILINE | re.DOTALL


@pytest.mark.parametrize("name", ["jss", "jss_floor", "jss_floor[0.9]"])
def test_a_measure_is_explained_by_its_name_and_by_that_of_its_check(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explain", name]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("jss: same verdict under two wordings of the prompt\n")
    for heading in ("What it means", "Formula", "What to do when it fails"):
        assert f"\n{heading}\n" in shown
    assert "  jss = mean 1[d_a = d_b]\n" in shown
    assert "`" not in shown
    assert max(map(len, shown.splitlines())) <= 100


def test_every_measure_and_every_check_is_explained(capsys: pytest.CaptureFixture[str]) -> None:
    for name in (*BUILT_IN.measures, *BUILT_IN.checks):
        assert main(["explain", name]) == 0, name
        assert capsys.readouterr().out.splitlines()[0].strip(), name


def test_a_name_that_nobody_knows_is_an_error_with_the_nearest(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["explain", "flp_rate"]) == 2
    said = capsys.readouterr().err
    assert "did you mean 'flip_rate'?" in said
    # Of a hundred names the few that are alike.
    assert max(map(len, said.splitlines())) <= 120


@pytest.mark.parametrize(
    ("words", "measure"),
    [
        ("position bias", "order_positional"),
        ("position-bias", "order_positional"),
        ("verbosity bias", "filler_preference"),
        ("flaky", "repeat_flip_rate"),
        ("self-consistency", "repeat_flip_rate"),
    ],
)
def test_words_that_people_search_for_lead_to_the_measures_that_speak_of_them(
    words: str, measure: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explain", words]) == 2
    (remedy,) = [line for line in capsys.readouterr().err.splitlines() if "remedy" in line]
    assert "judgesense explain " in remedy
    assert measure in remedy


def test_without_a_name_all_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain"]) == 0
    listed = capsys.readouterr().out.splitlines()
    assert "jss (jss_floor): same verdict under two wordings of the prompt" in listed
    names = {line.partition(":")[0].partition(" (")[0] for line in listed if line[0] != " "}
    assert names >= set(BUILT_IN.measures)


@pytest.mark.parametrize("name", [*SCHEMA_PAGES, *PAGES])
def test_a_page_is_shown_whole_and_without_links(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explain", name]) == 0
    shown = capsys.readouterr().out
    text = schema_page(name) if name in SCHEMA_PAGES else page(name)
    headings = re.findall(r"^##+ (.+)$", text, flags=re.MULTILINE)
    lines = shown.splitlines()
    assert [heading.replace("`", "") in lines for heading in headings] == [True] * len(headings)
    assert "](" not in shown.replace("](*", "")
    assert "<!--" not in shown


@pytest.mark.parametrize("page", ["drift", "early-stopping", "migrate", "panel"])
def test_a_page_has_no_marks_of_markdown(page: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", page]) == 0
    shown = capsys.readouterr().out
    assert "**" not in shown
    assert "`" not in shown


def test_the_list_names_the_pages(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain"]) == 0
    shown = f"pages: {', '.join([*SCHEMA_PAGES, *PAGES])}"
    assert " ".join(capsys.readouterr().out.split()).endswith(shown)


def test_the_wheel_has_every_page() -> None:
    folder = Path(__file__).parents[2]
    packed = (folder / "hatch_build.py").read_text()
    (listed,) = re.findall(r"^PAGES = \((.+?)^\)", packed, _WHOLE)
    assert re.findall(r'"(.+)"', listed) == [f"docs/{path}" for path in PAGES.values()]
    assert '"docs/schemas"' in packed
    assert {path.stem for path in (folder / "docs" / "schemas").iterdir()} == {*SCHEMAS}
