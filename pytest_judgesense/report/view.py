"""The content of every rendering of a datasheet, as texts; renderers do the layout. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import date
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final

from pytest_judgesense.datasheets.datasheet import (
    CheckLine,
    Datasheet,
    GatedNumber,
    JudgeSheet,
    SuiteSheet,
    setting_notices,
    state_of,
)
from pytest_judgesense.datasheets.profile import sketch
from pytest_judgesense.datasheets.sections import (
    Analysis,
    Beside,
    JudgeComparison,
    ReportSection,
    TableRows,
)
from pytest_judgesense.estimate import CENSORED, Estimate
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.judges.providers.base import JURY
from pytest_judgesense.measures.definition import Brief
from pytest_judgesense.registry import Registry
from pytest_judgesense.text import numbers
from pytest_judgesense.text.estimate_columns import shown_texts
from pytest_judgesense.trial import grouped

if TYPE_CHECKING:
    from pytest_judgesense.datasheets.figures import Found
    from pytest_judgesense.datasheets.published_design import Printed

# The word for a failure that is known and accepted on the day of the reader.
KNOWN: Final = "known"
_PREFIXED: Final = ("distance", "k", "polarity", "temperature")
_SETTINGS: Final = (
    *("base_url", "temperature", "max_tokens", "reasoning", "seed"),
    *("rule", "quorum"),  # of a jury
)


@dataclass(frozen=True, slots=True)
class RowView:
    """An estimate in texts, with the checks of one bar that gate it."""

    estimate: Estimate
    checks: tuple[CheckLine, ...]

    @property
    def condition(self) -> str:
        """Its condition as people read it; empty for a pooled estimate."""
        return ", ".join(
            f"{key} {value}" if key in _PREFIXED else str(value)
            for key, value in self.estimate.condition.items()
        )

    @property
    def name(self) -> str:
        """The measure with its condition."""
        measure = self.estimate.measure
        return f"{measure} ({self.condition})" if self.condition else measure

    @property
    def numbers(self) -> tuple[str, ...]:
        """What the columns of estimates show of it."""
        return shown_texts(self.estimate)

    @property
    def notes(self) -> list[str]:
        """The interval for new wordings, the flags, and the missing replies.

        Censored numbers show it themselves.
        """
        flags = [flag for flag in self.estimate.flags if flag not in CENSORED]
        new = numbers.new_wordings(self.estimate)
        return [*filter(None, [new]), *flags, *filter(None, [self.estimate.missing.words])]


@dataclass(frozen=True, slots=True)
class PartView:
    """One judge on one suite."""

    part: SuiteSheet
    registry: Registry

    @property
    def rows(self) -> tuple[RowView, ...]:
        """All estimates with their checks, except quiet measures at 0."""
        lines = (line for line in self.part.checks if isinstance(line.bar, float))
        gates = grouped(lines, gated)
        estimates = self.part.estimates
        rows = (RowView(estimate, tuple(gates.get(gated(estimate), ()))) for estimate in estimates)
        return tuple(
            row
            for row in rows
            if row.checks
            or row.estimate.value
            or not self.registry.named(row.estimate.measure).quiet
        )

    @property
    def words(self) -> Iterator[str]:
        """The text below the estimates: effective n, and the tables in words."""
        if worth := _worth(row.estimate for row in self.rows):
            yield worth
        lines = {section.name: section.lines for section in self.registry.report.sections}
        for analysis in self.part.analyses:
            if (of_plugin := analysis.get("lines")) is not None:
                yield from of_plugin
            elif analysis["analysis"] in lines:
                yield from lines[analysis["analysis"]](analysis["rows"])

    @property
    def words_with_tables(self) -> Iterator[str]:
        """The tables in words that stand below the pooled numbers of the suite."""
        rows = {analysis["analysis"]: analysis["rows"] for analysis in self.part.analyses}
        for section in self.present:
            if section.with_tables:
                yield from section.lines(rows[section.name])

    def brief_of(self, measure: str) -> Brief | None:
        """How the line of the suite shows a measure; ``None`` where it has no place there."""
        brief = self.registry.named(measure).brief
        if brief is None or not brief.aside:
            return brief
        is_aside = any(
            estimate.measure == measure and brief.aside in estimate.flags
            for estimate in self.part.estimates
        )
        is_gated = any(line.measure == measure for line in self.part.checks)
        return None if is_aside and not is_gated else brief

    @property
    def present(self) -> list[ReportSection]:
        """The sections that it has a table of."""
        names = {analysis["analysis"] for analysis in self.part.analyses}
        return [section for section in self.registry.report.sections if section.name in names]

    @property
    def beside(self) -> list[Beside]:
        """Estimates that the terminal shows though a table covers them."""
        return [
            estimate for section in self.present for estimate in section.beside(self.part.estimates)
        ]

    @property
    def tables(self) -> list[Analysis]:
        """The tables that a page shows."""
        drawn = {section.name for section in self.present if section.only_drawn}
        return [analysis for analysis in self.part.analyses if analysis["analysis"] not in drawn]


@dataclass(frozen=True, slots=True)
class JudgeView:
    """One judge on all of its suites; without ``profile`` if nothing for one was measured.

    Attributes:
        passing_known: the checks that pass, for every judge, and whose failure is declared known:
            a clause for each.
    """

    sheet: JudgeSheet
    mode: str
    parts: tuple[PartView, ...]
    profile: str
    passing_known: tuple[str, ...] = ()

    @property
    def state(self) -> str:
        return state_of(self.mode, self.sheet.calls)

    def provenance(self, today: date | None = None) -> list[str]:
        """How judgments came, and when they were recorded."""
        return _provenance(self.sheet, self.mode, today)

    def parts_with_provenance(
        self, today: date | None = None
    ) -> Iterator[tuple[PartView, list[str]]]:
        """The suites, each with how it came where that is not how all of them came."""
        of_all = self.provenance(today)
        for part in self.parts:
            of_part = _provenance(part.part, self.mode, today)
            yield part, [] if of_part == of_all else of_part

    @property
    def failing(self) -> list[tuple[CheckLine, ...]]:
        """Checks that do not pass, failed ones first; those with equal sentences together.

        Last are those whose failure is known, whatever the day.
        """
        failing = [line for line in self.sheet.checks if line.outcome != "pass"]
        failing.sort(key=lambda line: (_is_known(line), line.outcome != "fail"))
        same = grouped(
            failing, lambda line: (line.suite, line.sentence or line.explanation, line.known)
        )
        return list(map(tuple, same.values()))

    @property
    def asked(self) -> str:
        identity = self.sheet.identity
        return f"{identity.get('provider', 'log')}:{identity.get('model') or self.sheet.judge}"

    @property
    def settings(self) -> dict[str, str]:
        """What the requests had; where suites set another value, that of the judge."""
        return {
            key: f"{value:g}" if isinstance(value, float) else str(value)
            for key in _SETTINGS
            if (value := self._sent(key)) is not None
        }

    def _sent(self, setting: str) -> Any:
        sent = {part.sent(setting) for part in self.sheet.parts}
        return sent.pop() if len(sent) == 1 else self.sheet.identity.get(setting)

    @property
    def identity(self) -> list[str]:
        """The judge's identity: model and settings, and the models named in its replies."""
        words = [self.asked, *(f"{key} {value}" for key, value in self.settings.items())]
        if self.sheet.served:
            words.append("served as " + ", ".join(self.sheet.served))
        if prompts := self.sheet.identity.get("own_prompts"):
            words.append(f"own prompts {prompts}")
        return words

    @property
    def totals(self) -> list[str]:
        if self.sheet.identity.get("provider") == JURY:
            return ["those of its members"]
        calls = self.sheet.calls
        words = [*calls.made_words, f"{calls.failed:,} failed"]
        if (prompt := calls.prompt_tokens) is not None:
            completion = calls.completion_tokens or 0
            words += [f"{prompt:,} prompt tokens", f"{completion:,} completion tokens"]
        if calls.reasoning_tokens:
            words.append(f"{calls.reasoning_tokens:,} of them reasoning")
        if calls.cost_usd is not None:
            words.append(f"{calls.cost_usd:.4f} USD")
        return words


@dataclass(frozen=True, slots=True)
class ComparisonView:
    """The comparisons of the judges on one suite."""

    comparison: JudgeComparison
    suite: str
    tables: tuple[Analysis, ...]

    @property
    def shown(self) -> tuple[str, dict[str, TableRows]]:
        """The input of a comparison's text: the suite, and the rows of its tables."""
        return self.suite, {analysis["analysis"]: analysis["rows"] for analysis in self.tables}


@dataclass(frozen=True, slots=True)
class View:
    """A datasheet as renderings show it.

    Attributes:
        notices: settings in which the judges differ.
        printed: what a paper prints of it, which stands first; ``None`` if it is of no paper.
    """

    sheet: Datasheet
    judges: tuple[JudgeView, ...]
    comparisons: tuple[ComparisonView, ...]
    notices: tuple[str, ...]
    registry: Registry
    printed: Printed | None = None

    def compared(self, *, apart: bool) -> list[ComparisonView]:
        """The comparisons with separate sections, or the others."""
        return [compared for compared in self.comparisons if compared.comparison.apart is apart]

    @property
    def figures(self) -> Iterator[Found]:
        """The figures of all sections and comparisons; a figure without numbers says why.

        Those of a paper come first.
        """
        yield from self.printed.figures if self.printed else ()
        for section in self.registry.report.sections:
            yield from section.figures(self.sheet)
        for comparison in self.registry.report.comparisons:
            yield from comparison.figures(self.sheet)


def view_of(
    sheet: Datasheet, registry: Registry = BUILT_IN, printed: Printed | None = None
) -> View:
    """The content of a datasheet for renderers; ``registry`` turns it into words and figures."""
    judges = []
    for judge in sheet.judges:
        parts = tuple(PartView(part, registry) for part in judge.parts)
        profile = sketch(registry.report.words, judge.estimates)
        passing = tuple(_passing_known(judge, sheet))
        judges.append(JudgeView(judge, sheet.mode, parts, profile, passing))
    identities = [judge.identity for judge in sheet.judges]
    notices = setting_notices(identities, [judge.budgets for judge in sheet.judges])
    compared = []
    for comparison in registry.report.comparisons:
        tables = (
            analysis for analysis in sheet.analyses if analysis["analysis"] in comparison.all_names
        )
        for suite, of_suite in grouped(tables, itemgetter("suite")).items():
            compared.append(ComparisonView(comparison, suite, tuple(of_suite)))
    return View(sheet, tuple(judges), tuple(compared), tuple(notices), registry, printed)


def _passing_known(judge: JudgeSheet, sheet: Datasheet) -> Iterator[str]:
    """That a check passes whose failure is declared known, where no judge fails it any more."""
    every = (line for other in sheet.judges for line in other.checks)
    failing = {(line.suite, line.check) for line in every if line.outcome != "pass"}
    for line in judge.checks:
        if line.known and (line.suite, line.check) not in failing:
            yield f"{line.suite}: {line.check} passes now: take `known` out"


def accepting_nothing(view: View) -> View:
    """The same where no failure is known."""
    judges = tuple(
        replace(
            judge,
            parts=tuple(
                replace(part, checks=tuple(replace(line, known=None) for line in part.checks))
                for part in judge.parts
            ),
        )
        for judge in view.sheet.judges
    )
    return view_of(replace(view.sheet, judges=judges), view.registry, view.printed)


def bar_words(line: CheckLine) -> str:
    """Bar, limit and outcome of a check of one number: ``>= 0.9, limit 0.8 PASS``."""
    # The bar as written in the check's id; the sign follows from the kind of the check.
    sign = ">=" if line.check.partition("[")[0].endswith("_floor") else "<="
    limit = f", limit {line.limit:g}" if isinstance(line.limit, float) else ""
    until = f" (known until {line.known.until})" if line.known and line.outcome != "pass" else ""
    return f"{sign} {line.bar:g}{limit} {line.outcome.upper()}{until}"


def _is_known(line: CheckLine) -> bool:
    """Whether a failure is the one that is known; not whether it is accepted on a day."""
    return line.known is not None and not line.known.breach


def declared_known(lines: Iterable[CheckLine]) -> str:
    """How many failures are declared known, and what of that is new, in a clause; empty for none.

    It says nothing of a day, as files do not.
    """
    failures = [line for line in lines if line.outcome != "pass" and _is_known(line)]
    return f"{len(failures)} of these declared known{news_of(failures)}" if failures else ""


def news_of(lines: Iterable[CheckLine]) -> str:
    """What checks accept that they did not at the baseline, in brackets; empty for nothing."""
    news = dict.fromkeys(line.known.widened for line in lines if line.known and line.known.widened)
    return f" ({', '.join(news)})" if news else ""


def word_on(line: CheckLine, day: date | None) -> str:
    """The outcome of a check on a day (UTC), ``known`` where it fails and that is accepted then."""
    return KNOWN if line.is_accepted_on(day) else line.outcome


def outcome_words(outcomes: Iterable[str]) -> str:
    """The outcome of all checks, in a few words: ``12 checks pass``, ``2 of 12 checks fail``."""
    words = list(outcomes)
    total = len(words)
    checks = f"{total} check{'s' * (total != 1)}"
    if not words:
        return "no checks"
    said = {"fail": "fail", "inconclusive": "inconclusive", KNOWN: KNOWN}
    counts = [(words.count(word), name) for word, name in said.items() if word in words]
    if not counts:
        return f"{checks} pass{'es' * (total == 1)}"
    (first, name), *rest = counts
    head = f"{first} of {checks} {name}{'s' * (name == 'fail' and first == 1)}"
    return ", ".join([head, *(f"{count} {word}" for count, word in rest)])


def gated(gating: CheckLine | GatedNumber | Estimate) -> tuple[str, frozenset[tuple[str, Any]]]:
    """The measure and the condition, by which checks and the estimates that they gate agree."""
    return gating.measure, frozenset(gating.condition.items())


def _provenance(of: JudgeSheet | SuiteSheet, mode: str, today: date | None) -> list[str]:
    state = state_of(mode, of.calls)
    if of.recorded is None:
        return [state]
    first, last = (moment[:10] for moment in of.recorded)
    to, oldest = ("", "") if first == last else (f" to {last}", "the oldest ")
    return [state, f"recorded {first}{to}{numbers.age(first, today, oldest)}"]


def _worth(estimates: Iterable[Estimate]) -> str:
    """Independent units that the units of each pooled measure are worth, and the design effect.

    Units that are all one say nothing of it: the number of clusters is then taken, by convention.
    """
    parts, by_convention = [], []
    for estimate in estimates:
        ends = None if estimate.condition else estimate.clustered
        if ends is None or ends.effective_n is None or ends.design_effect is None:
            continue
        worth = f"{estimate.measure} {ends.effective_n:.0f}"
        if ends.effective_n == ends.clusters:
            by_convention.append(worth)
        else:
            parts.append(f"{worth} ({ends.design_effect:.1f})")
    words = ["effective n (design effect): " + ", ".join(parts)] * bool(parts)
    if by_convention:
        words.append(f"effective n by convention, no unit differs: {', '.join(by_convention)}")
    return "; ".join(words)
