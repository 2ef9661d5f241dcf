"""The datasheet where people meet it in passing: as Markdown, and as a badge. Pure.

GitHub and GitLab make more than text of ``@name``, ``#12``, addresses, tags and images. Judges'
words, and all names that files bring, stand as code: there nothing is turned into anything, and
nobody is mentioned. What a table cell cannot hold as code stands in a ``<code>`` tag, every mark of
punctuation as a character reference.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from pytest_judgesense.datasheet import numbers
from pytest_judgesense.datasheet.codec import prompts_digest
from pytest_judgesense.datasheet.profile import profile_sketch
from pytest_judgesense.datasheet.sheet import (
    CheckLine,
    Datasheet,
    JudgeSheet,
    SuiteSheet,
    changed_between,
)
from pytest_judgesense.datasheet.standing import analysis_lines, leaderboards, setting_notices
from pytest_judgesense.datasheet.terminal import (
    bar_words,
    condition_words,
    identity_words,
    judge_name,
    notes_of,
    provenance_words,
    totals_words,
    worth_words,
)
from pytest_judgesense.errors import printable

__all__ = ["badge", "code", "cut", "markdown", "outcome_words"]

_WORST_FIRST: Final = ("fail", "inconclusive", "pass")
# White on each has a contrast of at least 4.5 to 1 (WCAG 2.2, success criterion 1.4.3).
_COLOURS: Final = {
    "pass": "#1a7f37",
    "fail": "#b3151f",
    "inconclusive": "#8a5a00",
    "nothing": "#57606a",
}
_LABEL_COLOUR: Final = "#24292f"
# Of a character in Verdana at 11 px, on the average; `textLength` makes the text as wide as that.
_CHARACTER_PX: Final = 6.6
_PADDING_PX: Final = 7


def outcome_words(outcomes: Iterable[str]) -> str:
    """What came of all checks, in a few words: ``12 checks pass``, ``2 of 12 checks fail``."""
    words = list(outcomes)
    total, failed, open_ = len(words), words.count("fail"), words.count("inconclusive")
    checks = f"{total} check{'s' * (total != 1)}"
    if not words:
        return "no checks"
    if not failed and not open_:
        return f"{checks} pass{'es' * (total == 1)}"
    parts = [f"{failed} of {checks} fail{'s' * (failed == 1)}"] if failed else []
    if open_:
        parts.append(f"{open_} inconclusive" if failed else f"{open_} of {checks} inconclusive")
    return ", ".join(parts)


def code(text: str) -> str:
    """``text`` as code on one line, in a table cell too; nothing in it is Markdown or HTML."""
    text = printable(text)
    if not text.strip():
        return ""
    if not set(text) & set("`|\\"):
        return f"`{text}`"
    return _tagged(text)


def _tagged(text: str) -> str:
    shown = "".join(
        character if character.isalnum() or character in " ,-" else f"&#{ord(character)};"
        for character in printable(text)
    )
    # An address that Markdown would find in the decoded text is broken by a place for a line break.
    return f"<code>{shown.replace('&#64;', '&#64;<wbr>')}</code>"


def markdown(sheet: Datasheet | None, missed: Sequence[str] = ()) -> str:
    """The datasheet as Markdown: the checks of all judges, then each judge folded away.

    Args:
        sheet: the datasheet; ``None`` where nothing was measured.
        missed: what was to be measured and was not, a line each.
    """
    return "\n".join(_lines(sheet, missed)) + "\n"


def _lines(sheet: Datasheet | None, missed: Sequence[str]) -> Iterator[str]:
    judges = sheet.judges if sheet else ()
    lines = [(judge, line) for judge in judges for line in judge.checks]
    yield "## Judge datasheet"
    yield ""
    yield f"**{outcome_words(line.outcome for _, line in lines)}**"
    yield ""
    if missed:
        yield f"**Not measured: {len(missed)}**"
        yield ""
        yield from (f"- {code(one)}" for one in missed)
        yield ""
    if lines:
        yield from _table("outcome | judge | suite | check | what came out")
        ranked = sorted(lines, key=lambda pair: _WORST_FIRST.index(pair[1].outcome))
        for judge, line in ranked:
            word = line.outcome if line.outcome == "pass" else f"**{line.outcome.upper()}**"
            told = "<br>".join(code(one) for one in (line.explanation, *line.warnings))
            yield _row(word, code(judge.judge), code(line.suite), code(line.check), told)
        yield ""
    if sheet is None:
        return
    for suite, analyses in sheet.analyses.items():
        yield from _ranking(suite, {table["analysis"]: table["rows"] for table in analyses})
    for judge in sheet.judges:
        yield from _judge(judge, sheet)
    yield from _compared(sheet)


def _table(heads: str) -> list[str]:
    return [f"| {heads} |", _row(*("---" for _ in heads.split("|")))]


def _row(*cells: str) -> str:
    return "|" + "|".join(f" {cell} " if cell else " " for cell in cells) + "|"


def _judge(judge: JudgeSheet, sheet: Datasheet) -> Iterator[str]:
    provenance = provenance_words(judge, sheet.mode)
    yield "<details>"
    yield f"<summary>Judge {_tagged(judge.judge)}</summary>"
    yield ""
    yield f"- {code(', '.join(identity_words(judge)))}"
    prompts = f"prompts {prompts_digest(judge) or 'unknown'}"
    yield f"- {code(', '.join([prompts, *provenance, f'seed of intervals {sheet.seed}']))}"
    yield f"- profile: {code(profile_sketch(judge.estimates)) or 'nothing to draw one from'}"
    yield f"- calls: {code(', '.join(totals_words(judge)))}"
    for notice in changed_between({part.suite: part.served for part in judge.parts}):
        yield f"- notice: {code(notice)}"
    yield ""
    for part in judge.parts:
        own = provenance_words(part, sheet.mode)
        yield from _part(part, [] if own == provenance else own)
    yield "</details>"
    yield ""


def _part(part: SuiteSheet, provenance: list[str]) -> Iterator[str]:
    told = f": {code(', '.join(provenance))}" if provenance else ""
    yield f"**Suite** {code(part.suite)}{told}"
    yield ""
    yield from _table(
        "measure | condition | count/n | value | 95% interval | 95% clustered | check | notes"
    )
    gated: dict[tuple[str, tuple[tuple[str, Any], ...]], list[CheckLine]] = {}
    for line in part.checks:
        if isinstance(line.bar, float):
            gated.setdefault((line.measure, _key(line.condition)), []).append(line)
    for estimate in part.estimates:
        bars = gated.get((estimate.measure, _key(estimate.condition)), [])
        notes = [] if estimate.unavailable is None else [estimate.unavailable]
        yield _row(
            code(estimate.measure),
            code(condition_words(estimate.condition)),
            numbers.counts(estimate),
            numbers.value(estimate),
            numbers.interval(estimate.interval, estimate.flags),
            numbers.interval(estimate.clustered, estimate.flags),
            ", ".join(code(bar_words(line)) for line in bars),
            code("; ".join([*notes, *notes_of(estimate)])),
        )
    yield ""
    lines = [
        *filter(None, [worth_words(part.estimates)]),
        *(words for analysis in part.analyses for words in analysis_lines(analysis)),
        *(f"notice: {notice}" for notice in part.notices),
    ]
    yield from (f"- {code(line)}" for line in lines)
    yield from [""] if lines else []


def _key(condition: Mapping[str, Any]) -> tuple[tuple[str, Any], ...]:
    return tuple(sorted(condition.items()))


def _ranking(suite: str, tables: Mapping[str, Sequence[Mapping[str, Any]]]) -> Iterator[str]:
    """The ranking of judge configurations on debates, where there is one."""
    if "ranking" not in tables:
        return
    yield f"**Ranking on** {code(suite)}"
    yield ""
    yield from _table(
        "rank | configuration | instability | flips | side bias | score var | conf var | first"
    )
    for row in tables["ranking"]:
        flips = f"{row['repeat_flip_rate']:.1%} {row['repeat_flip_band']}"
        bias = f"{row['side_bias']:.1%} {row['side_bias_band']}"
        variances = f"{row['score_variance']:.3f}", f"{row['confidence_variance']:.4f}"
        first = f"{row['rank_shares'][0]:.1%}"
        name, instability = code(row["configuration"]), f"{row['instability']:.3f}"
        yield _row(str(row["rank"]), name, instability, flips, bias, *variances, first)
    yield ""
    basis = tables["ranking_basis"][0]
    for name, reason in basis["excluded"].items():
        yield f"- left out: {code(f'{name}, {reason}')}"
    yield f"- {code(basis['recommendation'])}"
    yield ""


def _compared(sheet: Datasheet) -> Iterator[str]:
    """What compares the judges of a run."""
    for board in leaderboards((judge_name(judge), judge.analyses) for judge in sheet.judges):
        yield f"**By JSS on** {code(board['suite'])}"
        yield ""
        yield from _table("rank | judge | n | JSS | 95% clustered | kappa | tier")
        for row in board["rows"]:
            if row["rank"] is None:
                yield _row("", code(row["judge"]), "", "", "", "", code(f"left out: {row['note']}"))
                continue
            low, high = row["lower"], row["upper"]
            ends = "" if low is None else f"[{numbers.rate(low)}, {numbers.rate(high)}]"
            kappa = numbers.rate(row["kappa"])
            numbered = (str(row["n"]), numbers.rate(row["jss"]), ends, kappa)
            yield _row(str(row["rank"]), code(row["judge"]), *numbered, str(row["tier"]))
        yield ""
    notices = setting_notices(judge.identity for judge in sheet.judges)
    yield from (f"- notice: {code(notice)}" for notice in notices)


def cut(text: str, room: int, rest: str) -> str:
    """The lines of Markdown that fit, and a sentence that says how many do not.

    Args:
        text: what `markdown` has made.
        room: bytes there are.
        rest: where the whole of it is, in a clause.
    """
    if len(text.encode()) <= room:
        return text
    lines = text.splitlines()
    closing = "\n</details>\n"
    told = f"\n**Cut here: {{kept}} of {len(lines)} lines fit. {rest}**\n"
    left = room - len((told.format(kept=len(lines)) + closing).encode())
    kept: list[str] = []
    for line in lines:
        left -= len(line.encode()) + 1
        if left < 0:
            break
        kept.append(line)
    if not kept:
        return ""
    is_open = kept.count("<details>") > kept.count("</details>")
    whole = "".join(f"{line}\n" for line in kept)
    return whole + (closing if is_open else "") + told.format(kept=len(kept))


def badge(outcomes: Iterable[str], judges: Sequence[str]) -> str:
    """The outcome of all checks as SVG, for a README; its text stays text.

    Args:
        outcomes: of every check: ``pass``, ``fail`` or ``inconclusive``.
        judges: names of the judges; a single one is named.
    """
    words = list(outcomes)
    worst = next((word for word in _WORST_FIRST if word in words), "nothing")
    label = f"judge {judges[0]}" if len(judges) == 1 else f"{len(judges)} judges"
    label, told = printable(label), outcome_words(words)
    if len(label) > 40:
        label = label[:39] + "…"
    left, right = (round(len(text) * _CHARACTER_PX + 2 * _PADDING_PX) for text in (label, told))
    title = html.escape(f"{label}: {told}")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="20" role="img" '
        f'aria-label="{title}">\n'
        f"<title>{title}</title>\n"
        f'<rect width="{left}" height="20" fill="{_LABEL_COLOUR}"/>\n'
        f'<rect x="{left}" width="{right}" height="20" fill="{_COLOURS[worst]}"/>\n'
        '<g fill="#ffffff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">\n'
        f"{_svg_text(label, _PADDING_PX, left)}{_svg_text(told, left + _PADDING_PX, right)}"
        "</g>\n</svg>\n"
    )


def _svg_text(text: str, x: int, width: int) -> str:
    length = f'textLength="{width - 2 * _PADDING_PX}" lengthAdjust="spacingAndGlyphs"'
    return f'<text x="{x}" y="14" {length}>{html.escape(text)}</text>\n'
