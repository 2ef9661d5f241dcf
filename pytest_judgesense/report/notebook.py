"""A datasheet as a notebook shows it below a cell: verdicts, and a table a judge. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from pytest_judgesense.datasheets.published_design import Table
from pytest_judgesense.errors import printable
from pytest_judgesense.report.since_baseline import gains, headline
from pytest_judgesense.report.view import JudgeView, View, bar_words, declared_known, outcome_words
from pytest_judgesense.text.estimate_columns import shown_heads


def notebook_html(view: View) -> str:
    """A fragment of HTML without scripts or styles."""
    return "".join(part for judge in view.judges for part in _judge(judge))


def _judge(judge: JudgeView) -> Iterator[str]:
    lines = judge.sheet.checks
    clauses = (outcome_words(line.outcome for line in lines), declared_known(lines))
    counted = ", ".join(filter(None, clauses))
    words = "; ".join(filter(None, [headline(lines), counted]))
    yield f"<h4>{_text(judge.sheet.name)}: {_text(words)}</h4>"
    yield f"<p>{_text(', '.join([*judge.identity, *judge.provenance()]))}</p>"
    if failing := [line for line in lines if line.outcome != "pass"]:
        sentences = (f"{line.suite}: {line.sentence} ({line.measured})" for line in failing)
        yield f"<ul>{''.join(f'<li>{_text(sentence)}</li>' for sentence in sentences)}</ul>"
    if better := gains(judge.sheet):
        yield f"<ul>{''.join(f'<li>{_text(sentence)}</li>' for sentence in better)}</ul>"
    heads = ("suite", "measure", *shown_heads(), "check")
    yield f"<table><thead><tr>{''.join(f'<th>{head}</th>' for head in heads)}</tr></thead><tbody>"
    for part in judge.parts:
        for row in part.rows:
            if row.estimate.value is None or (row.estimate.condition and not row.checks):
                continue
            name = f"{row.estimate.measure} {row.condition}".strip()
            checks = "; ".join(map(bar_words, row.checks))
            cells = (part.part.suite, name, *row.numbers, checks)
            yield f"<tr>{''.join(f'<td>{_text(cell)}</td>' for cell in cells)}</tr>"
    yield "</tbody></table>"


def table_html(table: Table) -> str:
    """A table of a paper or of an answer, as a fragment of HTML."""
    heads = "".join(f"<th>{_text(column)}</th>" for column in table.columns)
    rows = "".join(
        f"<tr>{''.join(f'<td>{_text(cell)}</td>' for cell in row)}</tr>" for row in table.texts()
    )
    notes = "".join(f"<p>{_text(note)}</p>" for note in table.notes)
    caption = f"<caption>{_text(table.caption)}</caption>"
    return f"<table>{caption}<thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>{notes}"


def _text(text: str) -> str:
    return escape(printable(text))
