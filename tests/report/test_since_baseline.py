"""What is said of a judge since its baseline, in every output: better, worse, both, or neither."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_judgesense.datasheets.datasheet import (
    AgainstBaseline,
    Calls,
    CheckLine,
    MeasuredChange,
    SuiteSheet,
)
from pytest_judgesense.report.assembly import sheet_of
from pytest_judgesense.report.markdown import markdown
from pytest_judgesense.report.notebook import notebook_html
from pytest_judgesense.report.page import page_text
from pytest_judgesense.report.since_baseline import became, headline, since_baseline
from pytest_judgesense.report.summary import quiet_lines, summary_lines
from pytest_judgesense.report.view import View, view_of

MODEL = "the model changed: model m-1 -> m-2"
WORDS = {
    "improved": "0.80 to 0.94 (+0.14 [+0.05, +0.22])",
    "regressed": "0.94 to 0.80 (-0.14 [-0.22, -0.05])",
}


def line(measure: str, verdict: str = "unchanged", summary: str = MODEL) -> CheckLine:
    words = f"{measure} {WORDS.get(verdict, '0.90 to 0.90')}"
    worse = verdict == "regressed"
    return CheckLine(
        *(f"no_regression[{measure},0.1]", measure, "parity"),
        bar={"margin": 0.1},
        outcome="fail" if worse else "pass",
        policy="estimate",
        explanation=f"{words}, margin 0.1: {verdict}",
        sentence=f"worse than HEAD: {words}" if worse else "",
        against=AgainstBaseline(
            "HEAD", summary, change=MeasuredChange(verdict, measure, words=words)
        ),
    )


def sheet(*lines: CheckLine) -> SuiteSheet:
    gone = ("1 of 6 items are gone since HEAD (p1)",)
    return SuiteSheet("mine", "parity", {}, (), Calls(), checks=lines, against=gone)


def view(*lines: CheckLine) -> View:
    return view_of(sheet_of([sheet(*lines)], seed=0, mode="replay"))


@pytest.mark.parametrize(
    ("lines", "counts", "told"),
    [
        # What is proven and what is not are told apart, each measure once.
        (
            [
                line("jss"),
                line("jss"),
                line("agreement", "inconclusive"),
                line("kappa", "improved"),
            ],
            False,
            [f"better in kappa; no worse in jss; undecided in agreement; {MODEL}"],
        ),
        # Where no notice counts what is not compared, the line does.
        (
            [line("jss")],
            True,
            [f"no worse in jss; {MODEL}; 1 of 6 items are gone since HEAD (p1)"],
        ),
        ([line("jss", summary="")], False, ["no worse in jss"]),
        # A line that fails says it, and where nothing was compared there is nothing to say.
        ([line("jss"), line("agreement", "regressed")], True, []),
        ([replace(line("jss"), against=None)], True, []),
        ([], True, []),
    ],
)
def test_where_nothing_is_worse_one_line_says_so_and_what_changed(
    lines: list[CheckLine], counts: bool, told: list[str]
) -> None:
    since = [*since_baseline(sheet(*lines), counts=counts)]
    assert since == [f"mine, parity since HEAD: {words}" for words in told]


@pytest.mark.parametrize(
    ("verdicts", "told", "tone"),
    [
        (("improved", "unchanged"), "better than HEAD in a", "gain"),
        (("unchanged", "regressed"), "worse than HEAD in b", "loss"),
        # Losses first, whatever the order of the checks.
        (("improved", "regressed"), "worse than HEAD in b; better in a", "loss"),
        (("unchanged", "unchanged"), "no worse than HEAD in a, b", ""),
        (("unchanged", "inconclusive"), "no worse than HEAD in a; undecided in b", ""),
        # What nothing was shown of is neither worse nor no worse.
        (("inconclusive", "inconclusive"), "undecided against HEAD in a, b", ""),
    ],
)
def test_the_headline_is_the_strongest_that_was_shown(
    verdicts: tuple[str, str], told: str, tone: str
) -> None:
    lines = [line(measure, verdict) for measure, verdict in zip("ab", verdicts, strict=True)]
    assert headline(lines) == told
    assert became(lines) == tone


def test_a_file_of_an_earlier_version_has_no_headline() -> None:
    old = replace(line("jss"), against=AgainstBaseline("HEAD", MODEL))
    assert headline([old]) == ""
    assert became([old]) == ""
    assert [*since_baseline(sheet(old), counts=False)] == []


def test_every_output_says_what_is_worse_and_then_what_is_better() -> None:
    both = view(line("jss", "improved"), line("kappa", "regressed"))
    worse, better = (
        "worse than HEAD: kappa 0.94 to 0.80 (-0.14 [-0.22, -0.05])",
        "better than HEAD: jss 0.80 to 0.94 (+0.14 [+0.05, +0.22])",
    )
    screen = list(summary_lines(both))
    text = "\n".join(screen)
    assert "1 of 2 checks fails; worse than HEAD in kappa; better in jss" in text
    assert text.index(worse) < text.index(better)
    tones = {line: getattr(line, "tone", "") for line in screen}
    assert [tone for line, tone in tones.items() if worse in line] == ["bad"]
    assert [tone for line, tone in tones.items() if better in line] == ["good"]
    assert "worse than HEAD in kappa; better in jss" in "\n".join(quiet_lines(both))
    in_markdown = markdown(both)
    assert in_markdown.index("Worse than HEAD in kappa; better in jss") < in_markdown.index(worse)
    assert in_markdown.index(worse) < in_markdown.index(better)
    page = page_text(both)
    assert '<span class="since loss">Worse than HEAD in kappa; better in jss</span>' in page
    assert f'<p class="gain">parity: {better}</p>' in page
    notebook = notebook_html(both)
    assert notebook.index(worse) < notebook.index(better)


def test_two_judges_have_a_headline_each() -> None:
    other = replace(sheet(line("jss", "improved")), judge="other", identity={"name": "other"})
    both = view_of(sheet_of([sheet(line("jss", "regressed")), other], seed=0, mode="replay"))
    assert (
        '<h1 id="verdicts-title">mine: Worse than HEAD in jss; other: Better than HEAD in jss</h1>'
        in (page_text(both))
    )
    assert "**`Judge other: better than HEAD in jss`**" in markdown(both)
