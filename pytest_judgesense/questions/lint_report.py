"""What would invalidate the numbers of suite files, and budgets that reasoning may use up."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Final

from pytest_judgesense.checks.suite_faults import lint_suite
from pytest_judgesense.errors import CassetteError, JudgesenseError, UsageError
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.judges.prompts import judge_for_suite, suite_for_judge
from pytest_judgesense.judges.remembered import recorded_trials
from pytest_judgesense.judges.spec import JudgeSpec
from pytest_judgesense.judges.usage import usage_and_settings
from pytest_judgesense.questions.question import QuestionAnswer
from pytest_judgesense.registry import Registry
from pytest_judgesense.suites.builtin import cassettes_in
from pytest_judgesense.suites.finding import LintFinding
from pytest_judgesense.suites.loading import load_suite, presets_of
from pytest_judgesense.suites.shortcuts import sampled, solved
from pytest_judgesense.suites.suite import Suite
from pytest_judgesense.trial import Usage

# Tokens below which reasoning often leaves none for the reply.
_ENOUGH: Final = 1024


def budget_findings(judge: JudgeSpec, suite: Suite, cassettes: Path) -> Iterator[LintFinding]:
    """A warning where a judge reasons, by its settings or its recorded replies, on few tokens.

    Of a jury there is none: its members are judges of their own.
    """
    if judge.jury is not None:
        return
    allowed = judge_for_suite(judge, suite_for_judge(suite, judge)).max_tokens
    if judge.provider != "callable" and allowed >= _ENOUGH:
        return
    usages, settings = _recorded(judge, suite, cassettes)
    if judge.provider == "callable":
        allowed = settings["max_tokens"] or _ENOUGH  # those of its requests, where they agree
    spent = [count for usage in usages.values() if (count := usage.reasoning_tokens)]
    if allowed >= _ENOUGH or not (spent or judge.reasoning is not None):
        return
    why = f"its recorded replies had up to {max(spent)} reasoning tokens" if spent else "it reasons"
    yield LintFinding(
        "warning",
        "reasoning-budget",
        f"judge {judge.name}",
        "reasoning may leave no tokens for the verdict",
        f"{allowed} tokens a reply, and {why}",
        f"{_ENOUGH} tokens or more for a judge that reasons",
        f"raise max_tokens to {_ENOUGH} or more",
    )


def _recorded(
    judge: JudgeSpec, suite: Suite, cassettes: Path
) -> tuple[dict[str, Usage], dict[str, Any]]:
    """The usage and the settings that are recorded; none of a broken recording.

    Whoever replays it, or checks it, gets the error.
    """
    paths = cassettes_in(cassettes, judge.slug, suite.recordings).values()
    try:
        recorded = recorded_trials(path for path in paths if path.is_file())
    except CassetteError:
        recorded = {}
    return usage_and_settings(chain.from_iterable(recorded.values()))


@dataclass(frozen=True)
class LintedSuite:
    """What lint finds in a suite, or in a preset of it.

    Attributes:
        name: of the suite; of a preset ``NAME@PRESET``.
        is_preset: whether it is one.
        findings: those that no part of the same file before it has.
        scores: lines that say what scorers which know no language get right, if they are wanted.
    """

    name: str
    is_preset: bool
    findings: tuple[LintFinding, ...]
    scores: tuple[str, ...] = ()

    def lines(self) -> Iterator[str]:
        """The findings; nothing of a preset that has none of its own."""
        if self.findings or not self.is_preset:
            yield f"{self.name}:{'' if self.findings else ' nothing found'}"
        for finding in self.findings:
            yield from (f"  {line}" for line in finding.lines)
        yield from self.scores

    def to_dict(self) -> Mapping[str, Any]:
        return {
            "suite": self.name,
            "findings": [finding._asdict() for finding in self.findings],
        }


@dataclass(frozen=True)
class BrokenSuite:
    """A suite file that cannot be read, and why."""

    path: Path
    error: str

    def lines(self) -> Iterator[str]:
        yield f"{self.path}: broken"
        yield from (f"  {line}" for line in self.error.splitlines())

    def to_dict(self) -> Mapping[str, Any]:
        return {"path": str(self.path), "error": self.error}


@dataclass(frozen=True)
class LintAnswer(QuestionAnswer):
    """What lint finds in suites, file by file.

    Attributes:
        parts: the suites and presets, and the files that cannot be read.
    """

    parts: tuple[LintedSuite | BrokenSuite, ...]

    @property
    def suites(self) -> tuple[LintedSuite, ...]:
        """The suites and presets that can be read."""
        return tuple(part for part in self.parts if isinstance(part, LintedSuite))

    @property
    def broken(self) -> tuple[BrokenSuite, ...]:
        """The files that cannot be read."""
        return tuple(part for part in self.parts if isinstance(part, BrokenSuite))

    @property
    def errors(self) -> int:
        """How many errors there are."""
        return self._count("error")

    @property
    def warnings(self) -> int:
        """How many warnings there are."""
        return self._count("warning")

    def _count(self, severity: str) -> int:
        findings = chain.from_iterable(suite.findings for suite in self.suites)
        return sum(finding.severity == severity for finding in findings)

    @property
    def worse(self) -> bool:
        """Whether there is an error: numbers of the suite would not mean what they say."""
        return self.errors > 0

    def lines(self) -> Iterator[str]:
        """The findings below their suites; the last line sums them up."""
        for part in self.parts:
            yield from part.lines()
        counts = [
            _counted(len(self.suites), "suite or preset", "suites and presets"),
            _counted(self.errors, "error", "errors"),
            _counted(self.warnings, "warning", "warnings"),
        ]
        if self.broken:
            counts.append(_counted(len(self.broken), "broken file", "broken files"))
        yield ", ".join(counts)

    def to_dict(self) -> Mapping[str, Any]:
        return {
            "suites": [suite.to_dict() for suite in self.suites],
            "broken": [broken.to_dict() for broken in self.broken],
            "errors": self.errors,
            "warnings": self.warnings,
        }


def _counted(count: int, singular: str, plural: str) -> str:
    return f"{count} {singular if count == 1 else plural}"


def lint_report(
    paths: Iterable[Path],
    registry: Registry = BUILT_IN,
    *,
    judges: Sequence[JudgeSpec] = (),
    cassettes: Path = Path("cassettes"),
    verbose: bool = False,
) -> LintAnswer:
    """The findings of suite files and all their presets, each once a file.

    Of ``judges`` it is found what keeps them from judging a suite, by their settings and by what
    is recorded in ``cassettes``; ``verbose`` adds the scores of the scorers that know no language.
    """
    linted = (
        lint_file(path, None, registry, judges=judges, cassettes=cassettes, verbose=verbose)
        for path in paths
    )
    return LintAnswer(tuple(chain.from_iterable(linted)))


def lint_file(
    path: Path,
    only_preset: str | None,
    registry: Registry,
    *,
    judges: Sequence[JudgeSpec] = (),
    cassettes: Path = Path("cassettes"),
    verbose: bool = False,
) -> Iterator[LintedSuite | BrokenSuite]:
    """The suite of a file and its presets, or the one preset; see `lint_report`."""
    shown: set[tuple[str, str, str]] = set()
    try:
        presets = (only_preset,) if only_preset else (None, *presets_of(path, registry.forms))
        for preset in presets:
            suite = load_suite(path, preset, registry.forms)
            findings = chain(
                lint_suite(suite, registry),
                *(budget_findings(judge, suite, cassettes) for judge in judges),
            )
            new = tuple(finding for finding in findings if finding.key not in shown)
            shown |= {finding.key for finding in new}
            is_shown_whole = preset == presets[0]
            scores = tuple(score_lines(suite)) if verbose and is_shown_whole else ()
            yield LintedSuite(suite.name, not is_shown_whole, new, scores)
    except JudgesenseError as error:
        if only_preset is not None and isinstance(error, UsageError):
            raise  # there is no such preset: the name is wrong, and not the file
        yield BrokenSuite(path, str(error))


def score_lines(suite: Suite) -> Iterator[str]:
    """What scorers that know no language get right."""
    for name, share in solved(suite).items():
        yield f"  decided without reading{sampled(suite)}: {name} {share:.2f}"
