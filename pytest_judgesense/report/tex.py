"""A datasheet as LaTeX, with booktabs and longtable: a table a judge, or those of a paper. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from pytest_judgesense.datasheets.published_design import Table
from pytest_judgesense.errors import printable
from pytest_judgesense.report.view import JudgeView, View, bar_words
from pytest_judgesense.text import numbers
from pytest_judgesense.text.estimate_columns import shown_heads, terminal_heads

_ESCAPES: Final = {character: f"\\{character}" for character in "{}$&#%_"} | {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    '"': r"\textquotedbl{}",
}
_SPECIAL: Final = re.compile("[" + re.escape("".join(_ESCAPES)) + "]")
# A float that is longer than a page is not set.
_LONGEST: Final = 40


def tex_text(view: View) -> str:
    """The tables of all judges, or those of the paper, for inclusion in a document."""
    lines = ["% needs \\usepackage{booktabs,longtable} and \\usepackage[T1]{fontenc}"]
    if view.printed is not None:
        paper = view.printed.paper
        lines += [f"% {_text(paper.cite)}"]
        for table in view.printed.tables:
            lines += ["", *_printed(table, paper.name)]
        return "\n".join(lines) + "\n"
    for judge in view.judges:
        lines += ["", *_table(judge, view.sheet.seed)]
    return "\n".join(lines) + "\n"


def _table(judge: JudgeView, seed: int) -> Iterator[str]:
    identity = ", ".join([*judge.identity, *judge.provenance(), f"seed of intervals {seed}"])
    heads = ("measure", *shown_heads(), "check")
    places = "".join("r" if layout.is_right else "l" for layout, _ in terminal_heads())
    yield rf"\begin{{longtable}}{{@{{}}l{places}r@{{}}}}"
    yield rf"\caption{{Datasheet of {_text(judge.sheet.name)}: {_text(identity)}.}}\\"
    yield r"\toprule"
    yield _row(*heads)
    yield r"\midrule"
    yield r"\endhead"
    for index, part in enumerate(judge.parts):
        if index:
            yield r"\addlinespace"
        yield rf"\multicolumn{{{len(heads)}}}{{@{{}}l}}{{\textit{{{_text(part.part.suite)}}}}}\\"
        for row in part.rows:
            if row.estimate.value is None:
                yield _row(row.name, *row.numbers, "")
            else:
                yield _row(row.name, *row.numbers, "; ".join(map(bar_words, row.checks)))
            if new := numbers.new_wordings(row.estimate):
                columns = f"{{{len(heads) - 1}}}{{l@{{}}}}"
                yield rf"& \multicolumn{columns}{{{_text(new)}}}\\"
    yield r"\bottomrule"
    yield r"\end{longtable}"


def _printed(table: Table, paper: str) -> Iterator[str]:
    """A table of a paper; a long one may break over pages."""
    is_long = len(table.rows) > _LONGEST
    columns = list(zip(*table.rows, strict=True)) or [() for _ in table.columns]
    places = "".join("l" if any(isinstance(c, str) for c in column) else "r" for column in columns)
    begin, end = (
        rf"\{word}{{{'longtable' if is_long else 'tabular'}}}" for word in ("begin", "end")
    )
    caption = rf"\caption{{{_text(table.caption)}}}"
    caption += rf"\label{{tab:{paper}-{table.name}}}"
    if is_long:
        yield from (rf"{begin}{{@{{}}{places}@{{}}}}", rf"{caption}\\")
    else:
        yield from (r"\begin{table}", r"\centering", caption, rf"{begin}{{@{{}}{places}@{{}}}}")
    yield from (r"\toprule", _row(*table.columns), r"\midrule", *[r"\endhead"] * is_long)
    yield from (_row(*cells) for cells in table.texts())
    yield from (r"\bottomrule", end)
    if table.notes:
        yield rf"\par\smallskip{{\footnotesize {' '.join(map(_text, table.notes))}\par}}"
    if not is_long:
        yield r"\end{table}"


def _row(*cells: str) -> str:
    return " & ".join(map(_cell, cells)) + r" \\"


def _cell(text: str) -> str:
    """A cell; braces around a leading bracket, which a row end would take for a length."""
    escaped = _text(text)
    return f"{{{escaped}}}" if escaped.startswith("[") else escaped


def _text(text: str) -> str:
    """People's words as LaTeX prints them: no character of them commands it."""
    return _SPECIAL.sub(lambda match: _ESCAPES[match[0]], printable(text))
