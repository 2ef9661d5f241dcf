"""The datasheet as one self-contained HTML page: no network, no other file.

All text of judges, suites and logs is inserted as text: by a template that escapes, or, for the
evidence, by a script that only sets text. A Content Security Policy allows only that script and
that style sheet, by their digests.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from typing import Any, Final

from pytest_judgesense.datasheet import GatedNumber
from pytest_judgesense.errors import UsageError, printable, shortened
from pytest_judgesense.estimate import Estimate, find_estimate, number_text
from pytest_judgesense.figures import Figure, Value, is_degenerate, shown
from pytest_judgesense.report import numbers, summary
from pytest_judgesense.report.answer import remarks
from pytest_judgesense.report.contrast import Piece
from pytest_judgesense.report.csv_tables import csv_text
from pytest_judgesense.report.drawing import draw
from pytest_judgesense.report.findings import MOST_EXHIBITS, findings_of
from pytest_judgesense.report.gauges import gauge
from pytest_judgesense.report.history import DatedDatasheet, lines_of
from pytest_judgesense.report.measured import measures_figure
from pytest_judgesense.report.packing import PageEvidence, packed
from pytest_judgesense.report.view import JudgeView, PartView, RowView, View
from pytest_judgesense.sections import Analysis
from pytest_judgesense.suites.builtin import template_text

_FIRST: Final = {"fail": 0, "inconclusive": 1, "pass": 2}


def page_text(
    view: View,
    evidence: PageEvidence | None = None,
    missed: Sequence[summary.Missed] = (),
    history: Sequence[DatedDatasheet] = (),
) -> str:
    """The page; a `UsageError` if a package for pages is not installed.

    ``missed``: what was requested but not measured; ``history``: datasheets in the order of time,
    if there are several. Without matplotlib the page has only the small figures.
    """
    if find_spec("jinja2") is None:
        raise UsageError(
            "a datasheet cannot be written as .html",
            found="jinja2 not installed",
            expected="the package that a page is made with",
            remedy="pip install 'pytest-judgesense[html]'",
        )
    from jinja2 import Environment, StrictUndefined
    from markupsafe import Markup

    def harmless(value: Any) -> Any:
        # Invisible characters could reverse the text around them, so they are escaped.
        return printable(shortened(value)) if type(value) is str else value

    environment = Environment(
        autoescape=True,
        undefined=StrictUndefined,
        finalize=harmless,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "shown": _cell,
        "rate": number_text,
        "drawn": Markup,  # our own drawings, their texts escaped
        "marked": _marked,
    }
    style, script = template_text("page.css"), template_text("page.js")
    evidence = evidence or PageEvidence()
    packed_evidence, cut = packed(evidence, view.registry.sections)
    can_draw = find_spec("matplotlib") is not None
    gated = any(judge.sheet.checks for judge in view.judges) or bool(missed)
    drawn = [one for one in view.figures if isinstance(one, Figure)]
    if not gated:
        drawn = [*measures_figure(view), *drawn]
    figures = [
        {
            "figure": one,
            "svg": Markup(draw(one)),  # noqa: S704 our own drawing, its texts escaped
            "csv": Markup(_base64(csv_of(one.columns, one.rows).encode())),  # noqa: S704
        }
        for one in drawn
        if can_draw
    ]
    judges: list[dict[str, Any]] = []
    left = summary.by_judge(missed)
    room = MOST_EXHIBITS
    for judge in view.judges:
        of_judge = left.pop(judge.sheet.name, [])
        shown = _judge(judge, of_judge, evidence, view, room // (len(view.judges) - len(judges)))
        room -= sum(len(one.groups) for one in shown["findings"])
        judges.append(shown)
    headline = _headline(judges, view.sheet.closing)
    return environment.from_string(template_text("page.html")).render(
        policy="default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'; "
        f"style-src '{_digest(style)}'; script-src '{_digest(script)}'",
        style=Markup(style),  # noqa: S704 our own file
        script=Markup(script),  # noqa: S704 our own file
        sheet=view.sheet,
        judges=judges,
        headline=headline,
        closing=[one for one in view.sheet.closing if _as_headline(one) != headline],
        gated=gated,
        missed=list(left.values()),
        not_measured=summary.not_measured,
        history=_history(history) if len(history) > 1 else None,
        printed=view.printed,
        compared=[
            {**_table(one, view), "open": one["analysis"] == compared.comparison.name}
            for compared in view.comparisons
            for one in compared.tables
        ],
        notices=view.notices,
        figures=figures,
        no_figures=bool(drawn) and not can_draw,
        measures=view.registry.measures,
        numbers=numbers,
        evidence=Markup(packed_evidence),  # noqa: S704 letters and digits
        cut=cut,
        trials=sum(len(cell.judgments) for cell in evidence.cells),
        has_prompts=bool(evidence.prompts),
        has_before=any(before.by_id for before in evidence.before.values()),
    )


def csv_of(columns: Sequence[str], rows: Iterable[Sequence[Value]]) -> str:
    """A table as CSV, numbers unrounded."""
    shown = ((printable(one) if isinstance(one, str) else one for one in row) for row in rows)
    return csv_text([map(printable, columns), *shown], "\r\n")


def _digest(text: str) -> str:
    # The content between the tags, as the browser reads it.
    return f"sha256-{_base64(hashlib.sha256(text.encode()).digest())}"


def _base64(content: bytes) -> str:
    return base64.b64encode(content).decode()


def _cell(value: Any) -> str:
    """A value of a table of an analysis, in words."""
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_cell(one)}" for key, one in value.items()) or "none"
    if isinstance(value, list | tuple):
        return ", ".join(map(_cell, value)) or "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return printable(shortened(shown(value)))


def _judge(
    judge: JudgeView,
    missed: Sequence[summary.Missed],
    evidence: PageEvidence,
    view: View,
    room: int,
) -> dict[str, Any]:
    """The page's additions to the view of a judge; ``room``: for groups of judgments."""
    checks = judge.sheet.checks
    return {
        "view": judge,
        "sheet": judge.sheet,
        "name": printable(shortened(judge.sheet.name)),
        "verdict": summary.verdict(judge, missed),
        "remarks": remarks(judge),
        "missed": missed,
        "worst": "fail"
        if missed
        else next((word for word in _FIRST if any(o.outcome == word for o in checks)), ""),
        "replies": summary.replies_words(judge.sheet),
        "checks": sorted(checks, key=lambda line: (_FIRST[line.outcome], line.suite)),
        "findings": list(findings_of(judge, evidence, view.registry, room)),
        "suites": list(map(_suite, judge.parts)),
        "profile": judge.profile,
        "parts": [(one.part, [_table(t, view) for t in one.tables]) for one in judge.parts],
        "before": list(_before(judge, evidence)),
    }


def _headline(judges: Sequence[Mapping[str, Any]], closing: Sequence[str]) -> str:
    """The overall result of all judges; without checks which are degenerate, or which is best."""
    failing = sum(bool(one["findings"] or one["missed"]) for one in judges)
    if not judges:
        return "Nothing was measured"
    if len(judges) == 1:
        return "The last measurement"
    if not any(one["checks"] or one["missed"] for one in judges):
        flat = [
            one["name"]
            for one in judges
            if any(is_degenerate(one["sheet"], part.suite) for part in one["sheet"].parts)
        ]
        if flat:
            return f"One answer to everything: {', '.join(flat)}"
        return _as_headline(closing[0]) if closing else f"{len(judges)} judges"
    return f"{failing} of {len(judges)} judges fail" if failing else f"{len(judges)} judges pass"


def _as_headline(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]


def _history(sheets: Sequence[DatedDatasheet]) -> dict[str, Any]:
    """Each measure over time, by judge and suite; those that checks hold to a bar first."""
    groups: dict[str, dict[str, list[Any]]] = {}
    for line in lines_of(sheets):
        known = groups.setdefault(f"{line.judge} on {line.suite}", {"gated": [], "others": []})
        known["gated" if line.gated else "others"].append(line)
    return {
        "count": len(sheets),
        "first": sheets[0].when,
        "last": sheets[-1].when,
        "groups": groups,
        "columns": ("when", "file", "judge", "value", "95% clustered", "count/n", "bar"),
    }


def _marked(pieces: Sequence[Piece]) -> Any:
    """The pieces of a text, escaped; words that the other text lacks are marked."""
    from markupsafe import Markup, escape

    return Markup("").join(
        Markup("<mark>{}</mark>").format(one.text) if one.marked else escape(one.text)
        for one in pieces
    )


def _suite(part: PartView) -> tuple[str, str, list[str], Any]:
    """Outcome, name and measures of a suite in a line, and its first number against its bar."""
    _, shown = summary.in_line(part)

    def order(gate: GatedNumber) -> tuple[int, int]:
        # Drawn is the number with which the line of the suite begins.
        at = shown.index(gate.measure) if gate.measure in shown else len(shown)
        return _FIRST.get(gate.outcome, 0), at

    gates = sorted((gate for line in part.part.checks for gate in line.gates), key=order)
    known = ((find_estimate(part.part.estimates, one.measure, one.condition), one) for one in gates)
    drawn = ((RowView(found, ()).name, gauge(found, gate)) for found, gate in known if found)
    worst = summary.worst_of(part.part.checks)
    return worst, part.part.suite, list(summary.suite_cells(part)), next(drawn, None)


def _table(analysis: Analysis, view: View) -> dict[str, Any]:
    rows, name = analysis["rows"], analysis["analysis"]
    columns = list(dict.fromkeys(key for row in rows for key in row))
    return {
        "name": name,
        "title": view.registry.titles.get(name) or name.replace("_", " ").capitalize(),
        "suite": analysis["suite"],
        "columns": columns,
        "rows": [[row.get(key) if key in row else "" for key in columns] for row in rows],
    }


def _before(judge: JudgeView, evidence: PageEvidence) -> Iterator[tuple[Estimate, Estimate]]:
    """Pooled estimates, then and now, where both were made."""
    for part in judge.sheet.parts:
        before = evidence.before.get((judge.sheet.name, part.suite))
        then = {e.measure: e for e in before.estimates if not e.condition} if before else {}
        pooled = (e for e in part.estimates if not e.condition and e.measure in then)
        both = [(then[now.measure], now) for now in pooled]
        yield from sorted(
            (pair for pair in both if any(one.value is not None for one in pair)), key=_quiet
        )


def _quiet(pair: tuple[Estimate, Estimate]) -> tuple[bool, bool]:
    """Pairs that sort last: first those without a change, then those with one value alone."""
    then, now = pair
    return None in (then.value, now.value), then.value == now.value
