"""The datasheet as one self-contained HTML page: no network, no other file.

All text of judges, suites and logs is inserted as text: by a template that escapes, or, for the
evidence, by a script that only sets text. A Content Security Policy allows only that script and
that style sheet, by their digests.
"""

from __future__ import annotations

import base64
import hashlib
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from typing import Any, Final

from pytest_judgesense.datasheets.datasheet import AgainstBaseline, GatedNumber, JudgeSheet
from pytest_judgesense.datasheets.figures import Figure, Value, is_degenerate, shown
from pytest_judgesense.datasheets.sections import Analysis, Passage
from pytest_judgesense.errors import UsageError, printable, shortened
from pytest_judgesense.estimate import Estimate, find_estimate, number_text
from pytest_judgesense.report import summary
from pytest_judgesense.report.csv_tables import csv_text
from pytest_judgesense.report.drawing import draw
from pytest_judgesense.report.failing_checks import MOST_EXHIBITS, Piece, findings_of
from pytest_judgesense.report.gauges import gauge, strip
from pytest_judgesense.report.history import DatedDatasheet, lines_of
from pytest_judgesense.report.packing import PageEvidence, packed
from pytest_judgesense.report.passing_judges import measures_figure, remarks
from pytest_judgesense.report.since_baseline import became, gains, headline
from pytest_judgesense.report.view import JudgeView, PartView, RowView, View
from pytest_judgesense.suites.builtin import template_text
from pytest_judgesense.text import numbers
from pytest_judgesense.text.estimate_columns import shown_columns
from pytest_judgesense.text.layout import as_title

_MOST_AT_A_GLANCE: Final = 4
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
    environment = _environment()
    from markupsafe import Markup

    evidence = evidence or PageEvidence()
    packed_evidence, cut = packed(evidence, view.registry.report.sections)
    missed_of = summary.by_judge(missed)
    judges = list(_judges(view, missed_of, evidence))
    gated = any(judge.sheet.checks for judge in view.judges) or bool(missed)
    figures = [figure for figure in view.figures if isinstance(figure, Figure)]
    if not gated:
        figures = [*measures_figure(view), *figures]
    can_draw = find_spec("matplotlib") is not None
    title = _headline(judges, view.sheet.closing)
    page: str = environment.from_string(template_text("page.html")).render(
        **_own_files(),
        sheet=view.sheet,
        judges=judges,
        headline=title,
        closing=[line for line in view.sheet.closing if as_title(line) != title],
        gated=gated,
        missed=list(missed_of.values()),
        not_measured=summary.not_measured,
        history=_history(history) if len(history) > 1 else None,
        printed=view.printed,
        compared=[
            {**_table(table, view), "open": table["analysis"] == compared.comparison.name}
            for compared in view.comparisons
            for table in compared.tables
        ],
        notices=view.notices,
        figures=list(map(_drawn, figures)) if can_draw else [],
        no_figures=bool(figures) and not can_draw,
        measures=view.registry.measures,
        numbers=numbers,
        columns=shown_columns(),
        evidence=Markup(packed_evidence),  # noqa: S704 letters and digits
        cut=cut,
        trials=sum(len(cell.all_judgments) for cell in evidence.cells),
        has_prompts=bool(evidence.prompts),
        has_before=any(before.by_id for before in evidence.before.values()),
    )
    return page


def _environment() -> Any:
    """What fills the template, and escapes all texts; a `UsageError` without its package."""
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
        "shown": _shown_cell,
        "rate": number_text,
        "drawn": Markup,  # our own drawings, their texts escaped
        "marked": _marked,
    }
    return environment


def _own_files() -> dict[str, Any]:
    """Style and script, and the policy that allows these alone."""
    from markupsafe import Markup

    style, script = (
        template_text(f"conversation.{kind}") + template_text(f"page.{kind}")
        for kind in ("css", "js")
    )
    return {
        "policy": "default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'; "
        f"style-src '{_digest(style)}'; script-src '{_digest(script)}'",
        "style": Markup(style),  # noqa: S704 our own file
        "script": Markup(script),  # noqa: S704 our own file
    }


def _drawn(figure: Figure) -> dict[str, Any]:
    """A figure as a drawing and as a table."""
    from markupsafe import Markup

    return {
        "figure": figure,
        "svg": Markup(draw(figure)),  # noqa: S704 our own drawing, its texts escaped
        "csv": Markup(_base64(csv_of(figure.columns, figure.rows).encode())),  # noqa: S704
    }


def _judges(
    view: View, missed_of: dict[str, list[summary.Missed]], evidence: PageEvidence
) -> Iterator[dict[str, Any]]:
    """The judges that were measured; what they missed is taken out of ``missed_of``."""
    room = MOST_EXHIBITS
    for index, judge in enumerate(view.judges):
        missed = missed_of.pop(judge.sheet.name, [])
        shown = _judge(judge, missed, evidence, view, room // (len(view.judges) - index))
        room -= sum(len(finding.groups) for finding in shown["findings"])
        yield shown


def csv_of(columns: Sequence[str], rows: Iterable[Sequence[Value]]) -> str:
    """A table as CSV, numbers unrounded."""
    shown = (
        (printable(value) if isinstance(value, str) else value for value in row) for row in rows
    )
    return csv_text([map(printable, columns), *shown], "\r\n")


def _digest(text: str) -> str:
    # The content between the tags, as the browser reads it.
    return f"sha256-{_base64(hashlib.sha256(text.encode()).digest())}"


def _base64(content: bytes) -> str:
    return base64.b64encode(content).decode()


def _shown_cell(value: Any) -> Any:
    """A value of a table of an analysis: in words, or shares of a whole as a strip."""
    from markupsafe import Markup

    if _is_shares(value):
        return Markup(strip(value))  # noqa: S704 our own drawing, of numbers
    return _cell(value)


def _is_shares(value: Any) -> bool:
    """Whether it is a list of shares of one whole, longer than is read at a glance."""
    return (
        isinstance(value, list | tuple)
        and len(value) > _MOST_AT_A_GLANCE
        and all(isinstance(share, float) and 0 <= share <= 1 for share in value)
        and math.isclose(math.fsum(value), 1, abs_tol=1e-6)
    )


def _cell(value: Any) -> str:
    """A value of a table of an analysis, in words."""
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_cell(item)}" for key, item in value.items()) or "none"
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
        "verdict": summary.counted_checks(judge, missed),
        "since": as_title(headline(checks)),
        "became": became(checks),
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
        "texts": list(_texts(judge)),
        "parts": [(part.part, [_table(t, view) for t in part.tables]) for part in judge.parts],
        "before": list(_before(judge, evidence)),
        "against": _against(judge.sheet),
        "gains": gains(judge.sheet),
    }


def _texts(judge: JudgeView) -> Iterator[tuple[str, str, list[Passage]]]:
    """The texts that are printed with margins: title, suite, and their passages."""
    for part in judge.parts:
        rows = {table["analysis"]: table["rows"] for table in part.part.analyses}
        for section in part.present:
            if section.passages is not None:
                yield section.title, part.part.suite, list(section.passages(rows[section.name]))


def _headline(judges: Sequence[Mapping[str, Any]], closing: Sequence[str]) -> str:
    """The overall result of all judges; without checks which are degenerate, or which is best."""
    failing = sum(bool(judge["findings"] or judge["missed"]) for judge in judges)
    since = [f"{judge['name']}: {judge['since']}" for judge in judges if judge["since"]]
    if len(judges) > 1 and since:
        return "; ".join(since)
    if not judges:
        return "Nothing was measured"
    if len(judges) == 1:
        return "The last measurement"
    if not any(judge["checks"] or judge["missed"] for judge in judges):
        flat = [
            judge["name"]
            for judge in judges
            if any(is_degenerate(judge["sheet"], part.suite) for part in judge["sheet"].parts)
        ]
        if flat:
            return f"One answer to everything: {', '.join(flat)}"
        return as_title(closing[0]) if closing else f"{len(judges)} judges"
    return f"{failing} of {len(judges)} judges fail" if failing else f"{len(judges)} judges pass"


def _history(sheets: Sequence[DatedDatasheet]) -> dict[str, Any]:
    """Each measure over time, by judge and suite; those that checks hold to a bar first."""
    groups: dict[str, dict[str, list[Any]]] = {}
    for line in lines_of(sheets):
        of_suite = groups.setdefault(f"{line.judge} on {line.suite}", {"gated": [], "others": []})
        of_suite["gated" if line.gated else "others"].append(line)
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
        Markup("<mark>{}</mark>").format(piece.text) if piece.marked else escape(piece.text)
        for piece in pieces
    )


def _suite(part: PartView) -> tuple[str, str, list[str], Any]:
    """Outcome, name and measures of a suite in a line, and its first number against its bar."""
    _, shown = summary.in_line(part)

    def order(gate: GatedNumber) -> tuple[int, int]:
        # Drawn is the number with which the line of the suite begins.
        place = shown.index(gate.measure) if gate.measure in shown else len(shown)
        return _FIRST.get(gate.outcome, 0), place

    gates = sorted((gate for line in part.part.checks for gate in line.gates), key=order)
    gated_estimates = (
        (find_estimate(part.part.estimates, gate.measure, gate.condition), gate) for gate in gates
    )
    drawn = (
        (RowView(estimate, ()).name, gauge(estimate, gate))
        for estimate, gate in gated_estimates
        if estimate
    )
    worst = summary.worst_of(part.part.checks)
    return worst, part.part.suite, list(summary.suite_cells(part)), next(drawn, None)


def _table(analysis: Analysis, view: View) -> dict[str, Any]:
    rows, name = analysis["rows"], analysis["analysis"]
    columns = list(dict.fromkeys(key for row in rows for key in row))
    return {
        "name": name,
        "title": view.registry.report.titles.get(name) or name.replace("_", " ").capitalize(),
        "suite": analysis["suite"],
        "columns": columns,
        "rows": [[row.get(key) if key in row else "" for key in columns] for row in rows],
    }


def _against(sheet: JudgeSheet) -> dict[str, AgainstBaseline]:
    """What the checks of each suite tell of a baseline: what changed is the same for all."""
    return {line.suite: line.against for line in sheet.checks if line.against}


def _before(judge: JudgeView, evidence: PageEvidence) -> Iterator[tuple[Estimate, Estimate, str]]:
    """Pooled estimates, then and now, where both were made, and what a check says of them."""
    for part in judge.sheet.parts:
        before = evidence.before.get((judge.sheet.name, part.suite))
        then = {e.measure: e for e in before.estimates if not e.condition} if before else {}
        pooled = (e for e in part.estimates if not e.condition and e.measure in then)
        both = [(then[now.measure], now) for now in pooled]
        measured = (pair for pair in both if any(estimate.value is not None for estimate in pair))
        for first, second in sorted(measured, key=_quiet):
            lines = (line for line in part.checks if line.measure == second.measure)
            yield first, second, became(line for line in lines if not line.condition)


def _quiet(pair: tuple[Estimate, Estimate]) -> tuple[bool, bool]:
    """Pairs that sort last: first those without a change, then those with one value alone."""
    then, now = pair
    return None in (then.value, now.value), then.value == now.value
