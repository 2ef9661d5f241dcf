"""From parts to a datasheet, and to texts in the format of their file's suffix."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from importlib.metadata import version
from itertools import chain
from typing import TYPE_CHECKING, Final

from pytest_judgesense import __version__
from pytest_judgesense.datasheets.datasheet import Datasheet, SuiteSheet, merge_parts
from pytest_judgesense.datasheets.sections import ComparedJudge, Shown, compare
from pytest_judgesense.errors import UsageError
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.registry import Registry
from pytest_judgesense.report.view import View
from pytest_judgesense.trial import RequestCount

if TYPE_CHECKING:
    from pytest_judgesense.report.history import DatedDatasheet
    from pytest_judgesense.report.packing import PageEvidence
    from pytest_judgesense.report.summary import Missed

# The forms of the files of a datasheet, by suffix.
FORMS: Final = ".json, .html (a page), .md, .csv or .tex (tables), or .jsonl (the judgment log)"


def versions() -> dict[str, str]:
    """Versions of the packages that compute the numbers."""
    return {
        "pytest-judgesense": __version__,
        "numpy": version("numpy"),
        "scipy": version("scipy"),
        "python": platform.python_version(),
    }


def counted_once(
    parts: Sequence[tuple[SuiteSheet, Mapping[str, RequestCount]]],
) -> list[SuiteSheet]:
    """Parts in which each call counts once, though suites share trials (the baseline of a ladder).

    A trial that several suites hold counts as made in the first one by name and as replayed in the
    others. Each part comes with the requests that were sent for each trial asked for it.
    """
    owners: dict[tuple[str, str], str] = {}
    for sheet, asked in parts:
        for trial in asked:
            key = (sheet.judge, trial)
            owners[key] = min(owners.get(key, sheet.suite), sheet.suite)
    counted = []
    for sheet, asked in parts:
        own = [
            requests
            for trial, requests in asked.items()
            if owners[sheet.judge, trial] == sheet.suite
        ]
        counted.append(replace(sheet, calls=sheet.calls.asking(own)))
    return counted


def sheet_of(
    parts: Iterable[SuiteSheet],
    *,
    seed: int,
    mode: str,
    secondary: bool = False,
    registry: Registry = BUILT_IN,
    shown: Shown = "all",
) -> Datasheet:
    """The datasheet of parts, with the comparisons of their judges of which something is ``shown``.

    Raises:
        InternalError: the estimates of a part contradict each other.
    """
    sheet = merge_parts(parts, seed=seed, mode=mode, versions=versions())
    report, judges = registry.report.shown(shown), []
    for judge in sheet.judges:
        for part in judge.parts:
            report.verify(part.estimates)
            compared = ComparedJudge(part.judge, judge.name, part.material, part.analyses)
            judges.append((part.suite, compared))
    tables = compare(report.comparisons, judges, seed, secondary=secondary)
    sentences = chain.from_iterable(close(judges, seed) for close in report.closing)
    return replace(sheet, analyses=tables, closing=tuple(sentences))


def datasheet_text(
    suffix: str,
    view: View,
    logs: Sequence[Sequence[str]] = (),
    missed: Sequence[Missed] = (),
    evidence: PageEvidence | None = None,
    history: Sequence[DatedDatasheet] = (),
) -> str:
    """The datasheet in the form that the suffix of its file chooses; ``.jsonl``: the judgment log.

    ``logs`` are the lines of that log, a sequence for each judge and suite; ``missed``: what was
    requested but not measured. A page also shows the judgments in ``evidence``, and a line for
    each measure of a ``history``, datasheets in the order of time.

    Raises:
        UsageError: the suffix is unknown, or a package for pages is not installed.
    """
    if suffix == ".json":
        from pytest_judgesense.report.datasheet_file import datasheet_json

        return datasheet_json(view.sheet)
    if suffix == ".jsonl":
        return "".join(f"{line}\n" for lines in logs for line in lines)
    # Of the other forms a session writes few.
    if suffix == ".md":
        from pytest_judgesense.report.markdown import markdown

        return markdown(view, missed)
    if suffix == ".html":
        from pytest_judgesense.report.page import page_text

        return page_text(view, evidence, missed, history)
    if suffix == ".csv":
        from pytest_judgesense.report.csv_tables import separated_text

        return separated_text(view.sheet)
    if suffix == ".tex":
        from pytest_judgesense.report.tex import tex_text

        return tex_text(view)
    raise UsageError(
        "a datasheet cannot be written in this form",
        found=f"the suffix {suffix!r}",
        expected=FORMS,
        remedy=f"name a file that ends in one of {FORMS}",
    )
