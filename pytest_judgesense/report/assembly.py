"""From parts to a datasheet, and to texts in the format of their file's suffix."""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Final

from pytest_judgesense import __version__
from pytest_judgesense.datasheet import Datasheet, SuiteSheet, merge_parts
from pytest_judgesense.errors import ExtensionError, UsageError
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.lazy import room
from pytest_judgesense.registry import Registry
from pytest_judgesense.report.codec import datasheet_json
from pytest_judgesense.report.view import View
from pytest_judgesense.sections import Entrant, compare, kept_apart

if TYPE_CHECKING:
    from pytest_judgesense.report.history import DatedDatasheet
    from pytest_judgesense.report.packing import PageEvidence
    from pytest_judgesense.report.summary import Missed

# Of these forms a session writes few.
_report: Final = room("pytest_judgesense.report")
_markdown, _page = _report("markdown", "markdown"), _report("page", "page_text")
_table, _tex = _report("rows", "separated_text"), _report("tex", "tex_text")

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
    parts: Sequence[tuple[Mapping[str, Any], Mapping[str, int]]],
) -> list[dict[str, Any]]:
    """Parts in which each call counts once, though suites share trials (the baseline of a ladder).

    A trial that several suites hold counts as made in the first one by name and as replayed in the
    others. A part is given as plain values, with how often each trial asked for it was retried.
    """
    owners: dict[tuple[str, str], str] = {}
    for sheet, asked in parts:
        for trial in asked:
            key = (sheet["judge"], trial)
            owners[key] = min(owners.get(key, sheet["suite"]), sheet["suite"])
    counted = []
    for sheet, asked in parts:
        judge, suite = sheet["judge"], sheet["suite"]
        retried = [times for one, times in asked.items() if owners[judge, one] == suite]
        calls = sheet["calls"]
        answered = calls["made"] + calls["replayed"]
        made = {"made": len(retried), "replayed": answered - len(retried), "retried": sum(retried)}
        counted.append({**sheet, "calls": {**calls, **made}})
    return counted


def sheet_of(
    parts: Iterable[SuiteSheet],
    *,
    seed: int,
    mode: str,
    secondary: bool = False,
    registry: Registry = BUILT_IN,
    faults: list[ExtensionError] | None = None,
) -> Datasheet:
    """The datasheet of parts, with the comparisons of their judges.

    It is made without what plugins fail to make; their errors are added to ``faults``, or raised if
    there is no such list.

    Raises:
        InternalError: the estimates of a part contradict each other.
    """
    sheet = merge_parts(parts, seed=seed, mode=mode, versions=versions())
    entrants = []
    for judge in sheet.judges:
        for part in judge.parts:
            with kept_apart(faults):
                registry.verify(part.estimates)
            entrant = Entrant(part.judge, judge.name, part.material, part.analyses)
            entrants.append((part.suite, entrant))
    tables = compare(registry.comparisons, entrants, seed, secondary=secondary, faults=faults)
    said: list[str] = []
    for close in registry.closing:
        with kept_apart(faults):
            said += close(entrants, seed)
    return replace(sheet, analyses=tables, closing=tuple(said))


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
    texts: dict[str, Callable[[], str]] = {
        ".json": lambda: datasheet_json(view.sheet),
        ".md": lambda: _markdown(view, missed),
        ".html": lambda: _page(view, evidence, missed, history),
        ".csv": lambda: _table(view.sheet),
        ".tex": lambda: _tex(view),
        ".jsonl": lambda: "".join(f"{line}\n" for lines in logs for line in lines),
    }
    if suffix not in texts:
        raise UsageError(
            "a datasheet cannot be written in this form",
            found=f"the suffix {suffix!r}",
            expected=FORMS,
            remedy=f"name a file that ends in one of {FORMS}",
        )
    return texts[suffix]()
