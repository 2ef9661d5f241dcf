"""The datasheet where people meet it in passing: as Markdown, and as a badge. Pure.

GitHub and GitLab interpret ``@name``, ``#12``, addresses, tags and images. Judges' words, and all
names from files, are written as code, so that nobody is mentioned. Text that a table cell cannot
hold as code is in a ``<code>`` tag, with punctuation as character references.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Final

from pytest_judgesense.datasheets.datasheet import CheckLine
from pytest_judgesense.datasheets.published_design import Table
from pytest_judgesense.datasheets.sections import Digits
from pytest_judgesense.errors import printable, shortened
from pytest_judgesense.report.since_baseline import gain, headline
from pytest_judgesense.report.summary import Missed, not_measured
from pytest_judgesense.report.view import (
    ComparisonView,
    JudgeView,
    PartView,
    View,
    bar_words,
    declared_known,
    outcome_words,
)
from pytest_judgesense.text.estimate_columns import shown_heads
from pytest_judgesense.text.layout import as_title
from pytest_judgesense.trial import grouped

_WORST_FIRST: Final = ("fail", "inconclusive", "pass")
# Of a suite that is compared with a baseline: items that are spelt out.
_MOST_ITEMS: Final = 3
_FENCE: Final = re.compile(r"`{3,}")
# White on each has a contrast of at least 4.5 to 1 (WCAG 2.2, success criterion 1.4.3).
_COLOURS: Final = {"pass": "#1a7f37", "fail": "#b3151f", "inconclusive": "#8a5a00"}
_NO_COLOUR: Final = "#57606a"
_LABEL_COLOUR: Final = "#24292f"
# Of a character in Verdana at 11 px, on the average; `textLength` makes the text as wide as that.
_CHARACTER_PX: Final = 6.6
_PADDING_PX: Final = 7


def code(text: str) -> str:
    """``text`` as code on one line, in a table cell too; nothing in it is Markdown or HTML."""
    text = printable(shortened(text))
    if not text.strip():
        return ""
    if not set(text) & set("`|\\"):
        return f"`{text}`"
    return _tagged(text)


def _tagged(text: str) -> str:
    shown = "".join(
        character if character.isalnum() or character in " ,-" else f"&#{ord(character)};"
        for character in printable(shortened(text))
    )
    # An address that Markdown would find in the decoded text is broken by a place for a line break.
    return f"<code>{shown.replace('&#64;', '&#64;<wbr>')}</code>"


def markdown(view: View | None, missed: Sequence[Missed] = ()) -> str:
    """The datasheet as Markdown: the checks of all judges, then each judge folded away.

    ``view``: ``None`` if nothing was measured; ``missed``: what was requested but not measured.
    """
    return "\n".join(_lines(view, missed)) + "\n"


def _lines(view: View | None, missed: Sequence[Missed]) -> Iterator[str]:
    judges = view.judges if view else ()
    checks = [(judge, line) for judge in judges for line in judge.sheet.checks]
    yield from ("## Judge datasheet", "")
    for judge in judges:
        if since := headline(judge.sheet.checks):
            of_judge = f"judge {judge.sheet.name}: " if len(judges) > 1 else ""
            yield from (f"**{code(as_title(of_judge + since))}**", "")
    lines = [line for _, line in checks]
    heads = (outcome_words(line.outcome for line in lines), declared_known(lines))
    yield from (f"**{', '.join(filter(None, heads))}**", "")
    if missed:
        yield from (f"**Not measured: {sum(gap.checks for gap in missed)}**", "")
        for gap in missed:
            sentence = f"{not_measured([gap])} of judge {gap.judge} on {gap.suite}: {gap.why}"
            yield f"- {code(sentence)}"
        yield ""
    left_out = [(judge, check) for judge in judges for check in judge.sheet.not_compared]
    if checks or left_out:
        yield from _head("outcome", "judge", "suite", "check", "what came out")
        for judge, line in sorted(checks, key=lambda pair: _WORST_FIRST.index(pair[1].outcome)):
            word = line.outcome if line.outcome == "pass" else f"**{line.outcome.upper()}**"
            word += ", known" if line.known else ""
            result = "<br>".join(code(words) for words in line.words)
            yield _row(word, code(judge.sheet.judge), code(line.suite), code(line.check), result)
        for judge, check in left_out:
            named = map(code, (judge.sheet.judge, check.suite, check.check, check.reason))
            yield _row("not compared", *named)
        yield ""
    for judge in judges:
        compared_lines = (line for line in judge.sheet.checks if line.against)
        for suite, lines in grouped(compared_lines, lambda line: line.suite).items():
            yield from _since_baseline(judge.sheet.judge, suite, lines)
    if view is None:
        return
    yield from tables_markdown(view.printed.tables if view.printed else ())
    for compared in view.compared(apart=True):
        yield from _board(compared)
    for judge in view.judges:
        yield from _judge(judge, view.sheet.seed)
    for compared in view.compared(apart=False):
        yield from _board(compared)
    if view.sheet.closing:
        yield from (*(f"- {code(sentence)}" for sentence in view.sheet.closing), "")
    yield from (f"- notice: {code(notice)}" for notice in view.notices)


def tables_markdown(tables: Iterable[Table]) -> Iterator[str]:
    """Tables as Markdown, each under its caption."""
    for table in tables:
        yield from (f"**{code(table.name)}** {code(table.caption)}", "")
        yield from _head(*map(code, table.columns))
        yield from (_row(*map(code, texts)) for texts in table.texts())
        yield from ("", *(f"- {code(note)}" for note in table.notes), "")


def _since_baseline(judge: str, suite: str, lines: Sequence[CheckLine]) -> Iterator[str]:
    """What the checks of a suite say of a baseline: what changed, and the items that show it."""
    against = next(line.against for line in lines if line.against)
    named = f"judge {code(judge)}, suite {code(suite)}"
    yield from (f"**Compared with** {code(against.baseline)}: {named}", "")
    losses = [line.sentence for line in lines if line.sentence]
    changed = [] if losses else [against.summary]  # a loss says it
    sentences = [*losses, *map(gain, lines), *changed]
    yield from (f"- {code(sentence)}" for sentence in filter(None, sentences))
    # No line of it looks like one that begins or ends a part of the page.
    changes = [
        re.sub("^(?=[`<])", " ", printable(line.removeprefix("  "))) for line in against.changes
    ]
    if changes:
        longest = max(map(len, _FENCE.findall("\n".join(changes))), default=2)
        fence = "`" * (longest + 1)
        yield from ("", f"{fence}diff", *changes, fence, "")
    shown: set[str] = set()
    for line in lines:
        if line.against is None or not line.against.moved:
            continue
        yield f"- {code(line.check)}: {line.against.moved_words}"
        for example in line.against.examples:
            if example.trial not in shown and len(shown) < _MOST_ITEMS:
                shown.add(example.trial)
                yield f"  - {code(example.head)}"
                yield from (f"    - {name}: {code(text)}" for name, text in example.texts)
    yield ""


def _head(*names: str) -> tuple[str, str]:
    return f"| {' | '.join(names)} |", _row(*("---" for _ in names))


def _row(*cells: str) -> str:
    return "|" + "|".join(f" {cell} " if cell else " " for cell in cells) + "|"


def _judge(judge: JudgeView, seed: int) -> Iterator[str]:
    yield "<details>"
    yield from (f"<summary>Judge {_tagged(judge.sheet.judge)}</summary>", "")
    yield f"- {code(', '.join(judge.identity))}"
    prompts = f"prompts {judge.sheet.prompts or 'unknown'}"
    yield f"- {code(', '.join([prompts, *judge.provenance(), f'seed of intervals {seed}']))}"
    yield f"- profile: {code(judge.profile) or 'nothing to draw one from'}"
    yield f"- calls: {code(', '.join(judge.totals))}"
    yield from (f"- notice: {code(notice)}" for notice in judge.sheet.changed)
    yield ""
    for part, provenance in judge.parts_with_provenance():
        yield from _part(part, provenance)
    yield from ("</details>", "")


def _part(part: PartView, provenance: list[str]) -> Iterator[str]:
    came = f": {code(', '.join(provenance))}" if provenance else ""
    yield from (f"**Suite** {code(part.part.suite)}{came}", "")
    yield from _head("measure", "condition", *shown_heads(), "check", "notes")
    for row in part.rows:
        reason = [row.estimate.unavailable] if row.estimate.unavailable else []
        yield _row(
            code(row.estimate.measure),
            code(row.condition),
            *row.numbers,
            ", ".join(code(bar_words(line)) for line in row.checks),
            code("; ".join([*reason, *row.notes])),
        )
    yield ""
    words = [*part.words, *(f"notice: {notice}" for notice in part.part.notices)]
    yield from (f"- {code(line)}" for line in words)
    yield from [""] if words else []


def _board(compared: ComparisonView) -> Iterator[str]:
    board = compared.comparison.board(*compared.shown)
    yield from (f"**{board.title}** {code(compared.suite)}", "")
    yield from _head(*board.heads)
    for cells in board.rows:
        yield _row(*(cell if isinstance(cell, Digits) else code(cell) for cell in cells))
    yield ""
    if board.notes:
        yield from (*(f"- {code(note)}" for note in board.notes), "")


def cut(text: str, room: int, rest: str) -> str:
    """The lines of Markdown that fit ``room``, in bytes, and a sentence that says how many do not.

    ``rest`` says where the whole of it is, in a clause.
    """
    if len(text.encode()) <= room:
        return text
    lines = text.splitlines()
    closing = "\n</details>\n"
    note = f"\n**Cut here: {{fit}} of {len(lines)} lines fit. {rest}**\n"
    left = room - len((note.format(fit=len(lines)) + closing).encode())
    ends = accumulate(len(line.encode()) + 1 for line in lines)
    fit = [line for line, end in zip(lines, ends, strict=True) if end <= left]
    fences = [place for place, line in enumerate(fit) if _FENCE.match(line)]
    if len(fences) % 2:  # what is code is shown whole or not at all
        fit = fit[: fences[-1]]
    if not fit:
        return ""
    is_open = fit.count("<details>") > fit.count("</details>")
    whole = "".join(f"{line}\n" for line in fit)
    return whole + (closing if is_open else "") + note.format(fit=len(fit))


def badge(outcomes: Iterable[str], judges: Sequence[str]) -> str:
    """The outcome of all checks as an SVG badge, for a README."""
    words_of_checks = list(outcomes)
    colour = next((_COLOURS[word] for word in _WORST_FIRST if word in words_of_checks), _NO_COLOUR)
    label = f"judge {judges[0]}" if len(judges) == 1 else f"{len(judges)} judges"
    label, words = printable(label), outcome_words(words_of_checks)
    if len(label) > 40:
        label = label[:39] + "…"
    left, right = (round(len(text) * _CHARACTER_PX + 2 * _PADDING_PX) for text in (label, words))
    title = html.escape(f"{label}: {words}")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="20" role="img" '
        f'aria-label="{title}">\n'
        f"<title>{title}</title>\n"
        f'<rect width="{left}" height="20" fill="{_LABEL_COLOUR}"/>\n'
        f'<rect x="{left}" width="{right}" height="20" fill="{colour}"/>\n'
        '<g fill="#ffffff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">\n'
        f"{_svg_text(label, _PADDING_PX, left)}{_svg_text(words, left + _PADDING_PX, right)}"
        "</g>\n</svg>\n"
    )


def _svg_text(text: str, x: int, width: int) -> str:
    length = f'textLength="{width - 2 * _PADDING_PX}" lengthAdjust="spacingAndGlyphs"'
    return f'<text x="{x}" y="14" {length}>{html.escape(text)}</text>\n'
