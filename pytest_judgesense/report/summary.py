"""The first screen: which judge, what is wrong, how bad, what to do. Pure; terminal lines.

The datasheet in a screen or two: a verdict for each judge, the failing checks in plain sentences
(those of the measures), and a line for each suite. `terminal` shows everything else.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from importlib.util import find_spec
from itertools import islice
from typing import Final, NamedTuple

from pytest_judgesense.datasheets.datasheet import Calls, CheckLine, JudgeSheet
from pytest_judgesense.errors import printable
from pytest_judgesense.estimate import Estimate, compact, find_estimate
from pytest_judgesense.judges.spec import FREE
from pytest_judgesense.measures.definition import Brief
from pytest_judgesense.measures.shared import FAILED_RATE, UNPARSED_RATE
from pytest_judgesense.report.terminal import compared_lines, notice_lines, pooled_lines
from pytest_judgesense.report.view import (
    KNOWN,
    JudgeView,
    PartView,
    View,
    declared_known,
    news_of,
    outcome_words,
    word_on,
)
from pytest_judgesense.text import numbers
from pytest_judgesense.text.layout import Toned, columns, excerpt, headed, indented
from pytest_judgesense.trial import grouped

# Limits on failing checks shown in full, on notices, and on the column of suite names.
MOST_SPELT_OUT: Final = 5
_MOST_NOTICES: Final = 3
_LONGEST_NAME: Final = 24
_SLACK: Final = 16
_WORDS: Final = {
    "fail": "FAIL",
    "inconclusive": "OPEN",
    KNOWN: KNOWN,
    "close": "close",
    "pass": "ok",
    "": "-",
}
_WORST: Final = ("fail", "inconclusive", KNOWN, "close", "pass", "")
_FAILING: Final = _WORST[:2]


class Missed(NamedTuple):
    """A judge that could not be measured on a suite: why, and how many checks that costs."""

    judge: str
    suite: str
    why: str
    checks: int


def missed_lines(missed: Iterable[Missed], *, brief: bool = False) -> Iterator[str]:
    """Judges that were not measured: one line each, or with the reasons."""
    for name, of_judge in by_judge(missed).items():
        gap = not_measured(of_judge)
        if brief:
            yield Toned(excerpt(f"{name}: {gap}, {of_judge[0].why}", columns()), "bad")
            continue
        yield ""
        yield from (Toned(line, "bad") for line in headed(name, [gap]))
        yield from _missed_of(of_judge)


def not_measured(missed: Iterable[Missed]) -> str:
    """How many checks that are."""
    checks = sum(gap.checks for gap in missed)
    return f"{checks} check{'s' * (checks != 1)} not measured"


def _missed_of(missed: Iterable[Missed]) -> Iterator[str]:
    for gap in missed:
        yield Toned(excerpt_of(f"  NOT MEASURED {gap.suite}: {gap.why}"), "bad")


def by_judge(missed: Iterable[Missed]) -> dict[str, list[Missed]]:
    """What was not measured, by judge."""
    return grouped(missed, lambda gap: gap.judge)


def quiet_lines(
    view: View, missed: Iterable[Missed] = (), today: date | None = None
) -> Iterator[str]:
    """One line a judge."""
    left = by_judge(missed)
    for judge in view.judges:
        of_judge = left.pop(judge.sheet.name, [])
        failing = [line for line in judge.sheet.checks if word_on(line, today) in _FAILING]
        named = ", ".join(f"{line.suite} {line.check}" for line in failing)
        line = f"{judge.sheet.name}: {verdict(judge, of_judge, today)}{': ' * bool(named)}{named}"
        line = "; ".join([line, *judge.passing_known])
        yield Toned(excerpt(line, columns()), _tone([*failing, *of_judge]))
    yield from missed_lines((gap for of_judge in left.values() for gap in of_judge), brief=True)


def summary_lines(
    view: View,
    missed: Iterable[Missed] = (),
    today: date | None = None,
    *,
    tables: bool = False,
    more: bool = True,
) -> Iterator[str]:
    """The summary of all judges, and in which order they are.

    Args:
        view: the datasheet.
        missed: what was requested but not measured.
        today: the age of recordings is counted from it (UTC); without it none is shown.
        tables: whether the numbers of each suite are shown instead of its one line.
        more: whether options of pytest that show more are named.
    """
    yield from _legend(view)
    left = by_judge(missed)
    for judge in view.judges:
        yield ""
        yield from judge_lines(judge, left.pop(judge.sheet.name, ()), today)
        yield from pooled_lines(judge) if tables else _suite_lines(judge, today)
        # The first few of lint and of the calls about the suites.
        notices = [
            f"{part.suite}: {notice}" for part in judge.sheet.parts for notice in part.notices
        ]
        yield from notice_lines(notices[:_MOST_NOTICES])
        if (rest := len(notices) - _MOST_NOTICES) > 0:
            yield f"  {rest} more notice{'s' * (rest > 1)}: -vv"
    yield from missed_lines(gap for of_judge in left.values() for gap in of_judge)
    lines = (
        line
        for compared in view.comparisons
        if compared.comparison.brief
        for text in compared.comparison.brief(*compared.shown)
        for line in indented(text, width=2)
    )
    yield from compared_lines(view, "judges compared, each pair on the same clusters", lines)
    yield from ("", *_totals(view))
    if more:
        page = "a page: --judge-datasheet x.html"
        if find_spec("jinja2") is None:  # which a page needs, and Markdown does not
            page = "a file: --judge-datasheet x.md"
        forms = ["everything: -vv", page]
        yield from indented(f"more: {', '.join([*['tables: -v'] * (not tables), *forms])}", width=0)


def judge_lines(
    judge: JudgeView, missed: Sequence[Missed] = (), today: date | None = None
) -> Iterator[str]:
    """Verdict and identity of a judge, and its failing checks: everything except its suites."""
    failing = [line for line in judge.sheet.checks if word_on(line, today) in _FAILING]
    heads = [verdict(judge, missed, today), replies_words(judge.sheet)]
    for line in headed(judge.sheet.name, heads):
        yield Toned(line, _tone([*failing, *missed]))
    yield from indented(", ".join(judge.identity), width=2)
    provenance = [f"prompts {judge.sheet.prompts or 'unknown'}", *judge.provenance(today)]
    yield from indented(", ".join(provenance), width=2)
    if judge.profile:
        yield from indented(f"profile: {judge.profile}", width=2)
    yield from notice_lines(judge.sheet.changed)
    yield from _failing_lines(judge, today)
    yield from _missed_of(missed)
    yield from _gain_lines(judge)
    for text in judge.passing_known:
        yield from indented(text, width=2)


def _totals(view: View) -> Iterator[str]:
    calls = sum((judge.sheet.calls for judge in view.judges), Calls())
    words = calls.made_words
    words += [f"{calls.failed:,} failed"] * bool(calls.failed)
    if calls.prompt_tokens is not None:
        words.append(f"{calls.prompt_tokens + (calls.completion_tokens or 0):,} tokens")
    if calls.reasoning_tokens:
        words.append(f"{calls.reasoning_tokens:,} of them reasoning")
    if calls.cost_usd is not None:
        words.append(f"{calls.cost_usd:.4f} USD{_without_prices(view)}")
    yield from indented(f"calls: {', '.join(words)}", width=0)


def _without_prices(view: View) -> str:
    """The judges whose calls a sum of costs leaves out, for nobody knows their prices."""
    names = [
        judge.sheet.name
        for judge in view.judges
        if judge.sheet.calls.cost_usd is None and judge.sheet.identity.get("provider") not in FREE
    ]
    return f" without {', '.join(names)} (no prices)" if names else ""


def _legend(view: View) -> Iterator[str]:
    missing = any(map(without_verdict, (judge.sheet.estimates for judge in view.judges)))
    close = any(map(_is_close, (line for judge in view.judges for line in judge.sheet.checks)))
    parts = ["[ ] 95% clustered interval"]
    parts += ["missing: replies without a verdict"] * missing
    parts += [f"close: passes, {_why_close(view)}"] * close
    yield from indented("; ".join([*parts, f"seed {view.sheet.seed}"]), width=0)


def verdict(judge: JudgeView, missed: Iterable[Missed], today: date | None = None) -> str:
    """What `counted_checks` says, and what the judge has become since its baseline."""
    counted = counted_checks(judge, missed, today)
    if not _is_compared(judge):
        return counted
    # What compares with earlier sessions is imported where there is a baseline.
    from pytest_judgesense.report.since_baseline import headline

    since = headline(judge.sheet.checks)
    return f"{counted}; {since}" if since else counted


def _is_compared(judge: JudgeView) -> bool:
    """Whether a check compares the judge with a baseline."""
    return any(line.against for line in judge.sheet.checks)


def counted_checks(judge: JudgeView, missed: Iterable[Missed], today: date | None = None) -> str:
    """How many checks of a judge passed, failed and were not measured; and what of it is known.

    With a day (UTC) what is accepted on it is counted apart; what is new of that stands beside it.
    """
    checks = judge.sheet.checks
    words = outcome_words(word_on(line, today) for line in checks)
    words += news_of(line for line in checks if line.is_accepted_on(today))
    if today is None and (declared := declared_known(checks)):
        words = f"{words}, {declared}"
    left_out = sum(gap.checks for gap in missed)
    return f"{words}, {left_out} not measured" if left_out else words


def _tone(failing: Iterable[object]) -> str:
    return "bad" if any(failing) else "good"


def _why_close(view: View) -> str:
    """What passes and is close: a bar alone that an interval straddles, or one beyond a limit."""
    close = [line for judge in view.judges for line in judge.sheet.checks if _is_close(line)]
    words = ["straddles the bar"] * any(line.limit is None for line in close)
    words += ["clears its limit and not its bar"] * any(line.limit is not None for line in close)
    return " or ".join(words)


def _is_close(line: CheckLine) -> bool:
    return line.outcome == "pass" and bool(line.warnings)


def replies_of(sheet: JudgeSheet) -> int:
    """The number of replies behind the numbers; of a suite that stopped early more were asked."""
    return sum(
        failed.n
        if (failed := find_estimate(part.estimates, FAILED_RATE.name))
        else part.calls.made + part.calls.replayed
        for part in sheet.parts
    )


def replies_words(sheet: JudgeSheet) -> str:
    """The replies of a judge, and how many of them state no verdict."""
    silent = without_verdict(sheet.estimates)
    return f"{replies_of(sheet):,} replies" + f" ({silent:,} without a verdict)" * bool(silent)


def without_verdict(estimates: Iterable[Estimate]) -> int:
    """The number of replies without a verdict.

    They are those that the rates of such replies count; in a suite without these, those that the
    measure missed that asked for most. A measure of parts of replies may miss more than there are.
    """
    counted: dict[str, float] = {}
    most: dict[str, int] = {}
    rates = {UNPARSED_RATE.name, FAILED_RATE.name}
    for estimate in estimates:
        if estimate.measure in rates and not estimate.condition:
            counted[estimate.suite] = counted.get(estimate.suite, 0) + (estimate.count or 0)
        count = estimate.missing.unparsed + estimate.missing.failed
        most[estimate.suite] = max(most.get(estimate.suite, 0), count)
    return round(sum((most | counted).values()))


def _failing_lines(judge: JudgeView, today: date | None) -> Iterator[str]:
    """The first few in a few lines each, the others in one; equal sentences are merged."""
    for index, lines in enumerate(judge.failing):
        first, *rest = lines
        word = word_on(first, today)
        tone = "bad" if word in _FAILING else ""
        sentence = f"  {_WORDS[word]} {first.suite}: {first.sentence or first.explanation}"
        if index >= MOST_SPELT_OUT:
            yield Toned(excerpt_of(sentence, _named_beside(sentence, lines)), tone)
            continue
        for text in indented(sentence.strip(), width=2):
            yield Toned(text, tone)
        for text in first.known.lines(today) if first.known else ():
            yield from (Toned(shown, tone) for shown in indented(text, width=4))
        also = f"; {', '.join(line.check for line in rest)} too" if rest else ""
        if first.measured:
            yield from indented(first.measured + also, width=4)
        if first.example:
            # In two lines at most; words may leave some of the first one empty.
            example = excerpt(f"e.g. {first.example}", 2 * (columns() - 6) - _SLACK)
            yield from list(indented(example, width=4))[:2]
        # The number that failed, which of a check of several is not its name.
        measure = first.measured.partition(" ")[0] or first.measure
        if not any(part.registry.named(measure).source for part in judge.parts):
            yield f"    what to do: judgesense explain {measure}"  # a plugin's has no page


def _gain_lines(judge: JudgeView) -> Iterator[str]:
    """What is better than in the baseline: the first few, and how many more."""
    if not _is_compared(judge):
        return
    from pytest_judgesense.report.since_baseline import gains

    sentences = gains(judge.sheet)
    for sentence in sentences[:MOST_SPELT_OUT]:
        yield from (Toned(text, "good") for text in indented(sentence, width=2))
    if (more := len(sentences) - MOST_SPELT_OUT) > 0:
        yield Toned(f"  and {more} more better", "good")


def _named_beside(text: str, lines: Sequence[CheckLine]) -> str:
    """The checks that a ``text`` is about; shortened if there is no room."""
    names = f" ({', '.join(line.check for line in lines)})"
    if len(text) + len(names) <= columns():
        return names
    return f" ({len(lines)} checks)" if len(lines) > 1 else f" ({lines[0].measure})"


def excerpt_of(line: str, beside: str = "") -> str:
    """As much of a line as fits after its indent, and the text ``beside`` it."""
    indent = len(line) - len(line.lstrip())
    return " " * indent + excerpt(line, max(20, columns() - indent - len(beside))) + beside


def _suite_lines(judge: JudgeView, today: date | None) -> Iterator[str]:
    width = min(_LONGEST_NAME, max(len(part.part.suite) for part in judge.parts))
    for part in judge.parts:
        worst = worst_of(part.part.checks, today)
        name = excerpt(part.part.suite, width)
        line = f"  {name:<{width}}  {_WORDS[worst]:<5}"
        silent = without_verdict(part.part.estimates)
        missing = f"  {silent:,} missing" if silent else ""
        cells, tone = list(suite_cells(part)), "bad" if worst in _FAILING else ""
        if cells and len(line) + len(cells[0]) + 2 + len(missing) > columns():
            # The first number is shown in any case; what is missing then stands below it.
            yield Toned(f"{line}  {excerpt(cells[0], columns() - len(line) - 2)}", tone)
            if not missing:
                yield from _below(part, "")
                continue
            line, cells = " " * len(line), []
        for cell in cells:
            if len(line) + len(cell) + 2 + len(missing) > columns():
                break
            line += f"  {cell}"
        yield Toned(f"{line}{missing}", tone)
        yield from _below(part, line)


def _below(part: PartView, line: str) -> Iterator[str]:
    """What sections say below the line of a suite, but what stands in it."""
    rows = {analysis["analysis"]: analysis["rows"] for analysis in part.part.analyses}
    for section in part.present:
        for text in section.below(rows[section.name]) if section.below else ():
            if text not in line:
                yield from indented(text, width=4)


def worst_of(checks: Iterable[CheckLine], today: date | None = None) -> str:
    """The worst outcome among checks, ``close`` for a pass about its bar; or nothing.

    With a day (UTC) a failure that is accepted on it is ``known``.
    """
    outcomes = {"close" if _is_close(line) else word_on(line, today) for line in checks}
    return next(word for word in _WORST if word in outcomes or not word)


def suite_cells(part: PartView) -> Iterator[str]:
    """The measures in the line of a suite, the one that ranks judges first.

    A suite without any shows its gated measures. The first is one of the worst outcome, so that the
    word before the line is about it.
    """
    estimates = part.part.estimates
    briefs, ordered = in_line(part)
    every = next((section.every for section in part.present if section.every), "")
    first, last = True, ""
    for name in ordered:
        of_measure = [
            estimate
            for estimate in estimates
            if estimate.measure == name and estimate.value is not None
        ]
        ends, varied = _ends(of_measure, briefs[name].condition, every)
        if not ends:
            continue
        head = ""
        if varied and varied != last:
            last = varied
            head = f"{varied}: "
        values = " to ".join(_tiny(estimate.value or 0.0, estimate.flags) for estimate in ends)
        count = interval = ""
        if first and len(ends) == 1:
            (only,) = ends
            count = f"{numbers.counts(only)} " if only.count is not None else ""
            if ends_of_first := only.clustered:
                low = _tiny(ends_of_first.lower, only.flags, "lower end ")
                interval = f" [{low}, {_tiny(ends_of_first.upper, only.flags, 'upper end ')}]"
        first = False
        yield printable(f"{head}{briefs[name].name} {count}{values}{interval}")
    rows = {analysis["analysis"]: analysis["rows"] for analysis in part.part.analyses}
    texts = (section.brief(rows[section.name]) for section in part.present if section.brief)
    yield from filter(None, texts)


def in_line(part: PartView) -> tuple[dict[str, Brief], list[str]]:
    """The measures in the line of a suite, and their order."""
    registry = part.registry
    names = dict.fromkeys(estimate.measure for estimate in part.part.estimates)
    briefs = {name: brief for name in names if (brief := part.brief_of(name))}
    if not briefs:
        briefs = {line.measure: Brief(line.measure, line.condition) for line in part.part.checks}
    telling = _telling(part, briefs)
    briefs |= telling
    return briefs, sorted(
        briefs, key=lambda name: (name not in telling, registry.named(name).ranked is None)
    )


def _telling(part: PartView, briefs: Mapping[str, Brief]) -> dict[str, Brief]:
    """The measures behind the worst outcome of a suite, unless that is a pass.

    Of measures that have no place in the line otherwise the first, if no other is behind it.
    """
    worst = worst_of(part.part.checks)
    if worst in ("pass", ""):
        return {}
    worse, rest = dict[str, Brief](), dict[str, Brief]()
    for line in part.part.checks:
        if worst_of([line]) != worst:
            continue
        missed = [gate.measure for gate in line.gates if gate.outcome == line.outcome]
        for measure in missed or [line.measure]:
            brief = briefs.get(measure)
            if brief and (not line.condition or dict(brief.condition) == dict(line.condition)):
                worse.setdefault(measure, brief)
            else:  # the number of the check, under the condition of the check
                where = ", ".join(f"{key} {value}" for key, value in line.condition.items())
                name = f"{measure} ({where})" if where else measure
                rest.setdefault(measure, Brief(name, line.condition))
    return worse or dict(islice(rest.items(), 1))


def _ends(
    estimates: list[Estimate], under: Mapping[str, object], every: str
) -> tuple[list[Estimate], str]:
    """The estimate at a condition; or the first and the last where a key of it varies, in words."""
    wanted = dict(under)
    varied: dict[str, list[Estimate]] = {}
    for estimate in estimates:
        condition = dict(estimate.condition)
        beside = set(condition.keys() - wanted.keys())
        if len(beside) == 1 and wanted.items() <= condition.items():
            varied.setdefault(beside.pop(), []).append(estimate)
    exact = [estimate for estimate in estimates if dict(estimate.condition) == wanted]
    key = every if every in varied else "" if exact else next(iter(varied), "")
    if not key:
        return exact[:1], ""
    first, last = varied[key][0], varied[key][-1]
    if first is last:
        return [first], str(first.condition[key])
    prefix = f"{key} " * isinstance(first.condition[key], float)
    return [first, last], f"{prefix}{_plain(first.condition[key])} to {_plain(last.condition[key])}"


def _plain(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _tiny(number: float, flags: tuple[str, ...], place: str = "") -> str:
    """A number without the zero before its point."""
    text = compact(number, flags, place)  # type: ignore[arg-type]
    return text.replace("0.", ".", 1) if abs(number) < 1 and text.lstrip("-")[:2] == "0." else text
