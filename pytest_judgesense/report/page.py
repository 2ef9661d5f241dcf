"""The datasheet as one page of HTML that needs nothing beside it: no network, no other file.

Everything that a judge, a suite or a log says is put into the page as text: by a template that
escapes, or, for the evidence, by a script that sets text and nothing else. A Content Security
Policy lets that one script and that one style sheet through, by their digests, and nothing else.
"""

from __future__ import annotations

import base64
import csv
import hashlib
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from typing import Any, Final

from pytest_judgesense.errors import UsageError, printable, shortened
from pytest_judgesense.estimate import Estimate, number_text
from pytest_judgesense.figures import Absent, Figure, Value, shown
from pytest_judgesense.report import numbers
from pytest_judgesense.report.drawing import draw
from pytest_judgesense.report.evidence import Evidence, packed
from pytest_judgesense.report.view import JudgeView, View
from pytest_judgesense.sections import Analysis
from pytest_judgesense.suites.builtin import template_text

_FIRST: Final = {"fail": 0, "inconclusive": 1, "pass": 2}
_MANY_SUITES: Final = 12


def require_packages() -> None:
    """Nothing, or a `UsageError` that says how to install what draws a page."""
    missing = [name for name in ("jinja2", "matplotlib") if find_spec(name) is None]
    if missing:
        raise UsageError(
            "a datasheet cannot be written as .html",
            found=f"{' and '.join(missing)} not installed",
            expected="the packages that draw the page",
            remedy="pip install 'pytest-judgesense[html]'",
        )


def page_text(view: View, evidence: Evidence | None = None) -> str:
    """The page; a `UsageError` if what draws it is not installed."""
    require_packages()
    from jinja2 import Environment, StrictUndefined
    from markupsafe import Markup

    def harmless(value: Any) -> Any:
        # What no reader sees could turn the text around it about: it is shown as an escape.
        return printable(shortened(value)) if type(value) is str else value

    environment = Environment(
        autoescape=True,
        undefined=StrictUndefined,
        finalize=harmless,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"shown": _cell, "rate": number_text}
    style, script = template_text("page.css"), template_text("page.js")
    evidence = evidence or Evidence()
    packed_evidence, cut = packed(evidence, view.registry.sections)
    figures: list[dict[str, Any]] = []
    absent: list[Absent] = []
    for found in view.figures:
        if isinstance(found, Figure):
            svg = Markup(draw(found))  # noqa: S704 our own drawing, its texts escaped
            numbers_csv = Markup(_base64(csv_of(found.columns, found.rows).encode()))  # noqa: S704
            figures.append({"figure": found, "svg": svg, "csv": numbers_csv})
        else:
            absent.append(found)
    return environment.from_string(template_text("page.html")).render(
        policy="default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'; "
        f"style-src '{_digest(style)}'; script-src '{_digest(script)}'",
        style=Markup(style),  # noqa: S704 our own file
        script=Markup(script),  # noqa: S704 our own file
        sheet=view.sheet,
        judges=[_judge(judge, evidence) for judge in view.judges],
        open_suites=sum(len(judge.parts) for judge in view.judges) <= _MANY_SUITES,
        compared=[
            {**_table(one), "open": one["analysis"] == compared.comparison.name}
            for compared in view.comparisons
            for one in compared.tables
        ],
        notices=view.notices,
        figures=figures,
        absent=absent,
        measures=view.registry.measures,
        numbers=numbers,
        evidence=Markup(packed_evidence),  # noqa: S704 letters and digits
        cut=cut,
        trials=sum(len(cell.judgments) for cell in evidence.cells),
        has_prompts=bool(evidence.prompts),
        has_before=any(before.judgments for before in evidence.before.values()),
    )


def csv_of(columns: Sequence[str], rows: Iterable[Sequence[Value]]) -> str:
    """A table as CSV, numbers unrounded; a ``'`` is put before text that would be a formula."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    for row in (columns, *rows):
        writer.writerow(map(_harmless, row))
    return text.getvalue()


def _harmless(cell: Value) -> Value:
    if not isinstance(cell, str):
        return cell
    text = printable(cell)
    return f"'{text}" if text.lstrip()[:1] in ("=", "+", "-", "@") else text


def _digest(text: str) -> str:
    # What stands between the tags, as the browser reads it.
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


def _judge(judge: JudgeView, evidence: Evidence) -> dict[str, Any]:
    """What the page adds to the view of a judge."""
    checks = judge.sheet.checks
    counts = [(word, sum(line.outcome == word for line in checks)) for word in _FIRST]
    return {
        "view": judge,
        "sheet": judge.sheet,
        "name": printable(shortened(judge.sheet.name)),
        "counts": [(word, count) for word, count in counts if count],
        "checks": sorted(checks, key=lambda line: (_FIRST[line.outcome], line.suite)),
        "profile": judge.profile,
        "parts": [(one.part, list(map(_table, one.tables))) for one in judge.parts],
        "before": list(_before(judge, evidence)),
    }


def _table(analysis: Analysis) -> dict[str, Any]:
    rows = analysis["rows"]
    columns = list(dict.fromkeys(key for row in rows for key in row))
    return {
        "name": analysis["analysis"],
        "suite": analysis["suite"],
        "columns": columns,
        "rows": [[row.get(key) if key in row else "" for key in columns] for row in rows],
    }


def _before(judge: JudgeView, evidence: Evidence) -> Iterator[tuple[Estimate, Estimate]]:
    """Pooled estimates, then and now, where both were made."""
    for part in judge.sheet.parts:
        before = evidence.before.get((judge.sheet.name, part.suite))
        then = {e.measure: e for e in before.estimates if not e.condition} if before else {}
        pooled = (e for e in part.estimates if not e.condition and e.measure in then)
        yield from ((then[now.measure], now) for now in pooled)
