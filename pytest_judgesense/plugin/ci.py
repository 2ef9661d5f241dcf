"""Checks that did not pass: in FAILURES, JUnit files, annotations and the job summary of GitHub.

A check leaves its numbers as properties on its item, which pytest writes into ``--junitxml``; those
that did not pass are on its report as well, from workers of xdist too, for annotations and summary.
Light on purpose: every session that speaks to the plugin imports it.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

from pytest_judgesense.errors import (
    JudgesenseError,
    harmless,
    on_github,
    printable_lines,
    well_formed,
)
from pytest_judgesense.files.output import append_whole
from pytest_judgesense.plugin.suite_names import command_of

if TYPE_CHECKING:
    from pytest_judgesense.checks.explanation import Explanation
    from pytest_judgesense.judges.spec import JudgeSpec
    from pytest_judgesense.measures.bar import Check
    from pytest_judgesense.plugin.declared_check import DeclaredCheck
    from pytest_judgesense.plugin.family import Decision
    from pytest_judgesense.plugin.run import Run
    from pytest_judgesense.report.summary import Missed
    from pytest_judgesense.report.view import View


_NOT_MEASURED: Final = "not measured"
# GitHub shows ten error annotations of a step, and takes a summary of at most 1 MiB.
_MOST_ANNOTATIONS: Final = 10
# Failing checks of a judge whose judgments FAILURES shows; -vv shows those of all.
_SPELT_OUT: Final = 5
_MOST_SUMMARY_BYTES: Final = 1024 * 1024
_NONE: Final = "N/A"
_NOT_PASSED: Final = ("fail", "inconclusive", _NOT_MEASURED)
_NOTED: Final = pytest.StashKey[dict[tuple[str, str, str], dict[str, str]]]()


class CheckFailed(AssertionError):
    """A check did not pass; its text is the whole explanation.

    Attributes:
        evidence: the first pieces of it alone, in lines.
        sentence: what is wrong, on one line of any length: files and logs have no width.
    """

    # As the failures of pytest have it: with our path before it, the short summary cuts the
    # sentence off.
    __module__ = "builtins"

    def __init__(self, text: str, evidence: Sequence[str] = (), sentence: str = "") -> None:
        super().__init__(text)
        self.evidence, self.sentence = evidence, sentence


def require_pass(
    item: pytest.Item, run: Run, member: DeclaredCheck, rivals: Sequence[JudgeSpec] = ()
) -> None:
    """Evaluate a check; its outcome enters the datasheet and the properties of ``item``.

    A check that compares with a baseline is skipped where there is none; one whose failure is known
    ends as `pytest.xfail` does. Raises `CheckFailed`, or the error of a failed measurement, which
    the properties hold too.
    """
    __tracebackhide__ = True
    judge, suite, check = member
    entry = {
        "check": check.id,
        "measure": check.measure,
        **dict.fromkeys(("value", "lower", "upper"), _NONE),
        "bar": "; ".join(f"{bar:g}" for bar in check.bars.values()),
        **({"limit": _limits(check)} if check.limits else {}),
        "outcome": _NOT_MEASURED,
        "suite": suite.name,
        "judge": judge.name,
        "policy": run.family.policy,
        "explanation": "it ended with an error",
    }
    if reason := run.family.not_compared(member):
        _leave_out(run, member, reason)
        _note(item, (check.key, suite.name, judge.slug), entry | _not_compared(reason))
        pytest.skip(reason)
    try:
        decision = run.family.decide(member, rivals)
    except JudgesenseError as error:
        entry["explanation"] = str(error)
        raise
    else:
        explanation, accepted = decision.explanation, decision.line.known
        entry |= _numbers(explanation)
        summary = explanation.summary
        warnings = (text for text in explanation.warnings(run.family.warned) if text not in summary)
        entry["explanation"] = "; ".join([summary, *warnings])
        if (against := explanation.against) is not None:
            entry["changed"] = against.summary or _NONE
            if change := against.change:
                entry["since"] = f"{change.verdict}: {change.words}"
        if accepted is not None:
            words = decision.line.known_words
            of_day = accepted.lines(run.day) if explanation.outcome.fails else words
            entry["known"] = "; ".join(of_day)
    finally:
        _note(item, (check.key, suite.name, judge.slug), _cleaned(entry, run))
    if explanation.outcome.fails:
        _fail(item, run, member, decision)


def _fail(item: pytest.Item, run: Run, member: DeclaredCheck, decision: Decision) -> None:
    """End a test whose check fails: as `pytest.xfail` does, where that is known and accepted."""
    __tracebackhide__ = True
    test = item.nodeid.partition("[")[0] if isinstance(item, pytest.Function) else ""
    run.family.propose_known(decision, member, test)
    accepted = decision.line.known
    refusal = accepted.refusal_on(run.day) if accepted else ""
    texts = run.family.failure_texts(decision, command_of(item), refusal)
    if accepted and not refusal:
        # Looked up when it is called: under --runxfail it returns, and the check fails.
        pytest.xfail(harmless(f"{accepted.words}; {texts[-1]}"))
    raise CheckFailed(*texts)


def _cleaned(entry: dict[str, str], run: Run) -> dict[str, str]:
    """An entry without secrets; searched once, for a search costs as much as its first bytes."""
    shown = "\0".join(map(printable_lines, entry.values()))
    return dict(zip(entry, run.collected.cleaned(shown).split("\0"), strict=True))


def _leave_out(run: Run, member: DeclaredCheck, reason: str) -> None:
    """Let the datasheet say why a check is not compared; what was measured is in it as well."""
    from pytest_judgesense.datasheets.datasheet import UncomparedCheck

    judge, suite, check = member
    why = reason.removeprefix("not compared: ")
    left_out = UncomparedCheck(check.id, check.measure, suite.name, why)
    run.collected.add_not_compared(run.measurements.shown(judge, suite), left_out)


def _not_compared(reason: str) -> dict[str, str]:
    return {"outcome": "not compared", "explanation": reason}


def _limits(check: Check) -> str:
    """The limits in the order of the bars, of which some may have none."""
    return "; ".join(
        f"{check.limits[bar]:g}" if bar in check.limits else _NONE for bar in check.bars
    )


def put_on(report: Any, item: pytest.Item) -> None:
    """Put on a report the checks that did not pass."""
    if report.failed and report.when == "call":
        entries = item.stash.get(_NOTED, {}).values()
        report.judgesense_checks = [entry for entry in entries if entry["outcome"] in _NOT_PASSED]


def _note(item: pytest.Item, key: tuple[str, str, str], entry: dict[str, str]) -> None:
    """Put a check's properties on ``item``: those of a second check end in ``.2``, and so on."""
    entries = item.stash.setdefault(_NOTED, {})
    # The results of a repeated test are replaced.
    before = set(_properties(entries))
    entries[key] = entry
    before_ours = [pair for pair in item.user_properties if pair not in before]
    item.user_properties[:] = [*before_ours, *_properties(entries)]


def _properties(entries: Mapping[Any, Mapping[str, str]]) -> Iterator[tuple[str, str]]:
    for number, entry in enumerate(entries.values(), start=1):
        for name, text in entry.items():
            yield (name if number == 1 else f"{name}.{number}"), text


def _numbers(explanation: Explanation) -> dict[str, str]:
    """Value and interval as the datasheet shows them; several bars have several, with ``;``."""
    rows = [
        (row.measure, *(text or _NONE for text in row[1:])) for row in explanation.number_rows()
    ]
    names = ("measure", "value", "lower", "upper")
    joined = map("; ".join, zip(*rows, strict=True))
    return {**dict(zip(names, joined, strict=True)), "outcome": explanation.outcome.outcome}


class Failures:
    """The checks that did not pass, as their reports arrive."""

    def __init__(self) -> None:
        self._failed: list[tuple[Any, dict[str, str]]] = []
        self._explained: dict[tuple[str, str], str] = {}

    def receive(self, report: Any) -> None:
        """Take what a failed report brings; see `put_on`."""
        self._failed += [(report, entry) for entry in getattr(report, "judgesense_checks", ())]

    def text_of(self, error: BaseException, judge: str, check: str, *, whole: bool) -> str:
        """What FAILURES shows of the ``error`` of a check: the first evidence, or the ``whole``.

        Errors and judgments that several checks of a judge share are shown once in a process, and
        judgments of the first `_SPELT_OUT` checks of a judge alone.
        """
        if whole:
            return str(error)
        head, *rest = getattr(error, "evidence", ()) or ("", str(error))
        judgments = "\n".join(line for line in rest if line.startswith("  ")) or rest[0]
        first = self._explained.setdefault((judge, judgments), check)
        if first != check:
            return f"{head}, as for {first}".removeprefix(", ")
        if head and sum(of_judge == judge for of_judge, _ in self._explained) > _SPELT_OUT:
            return head
        return "\n".join(filter(None, [head, *rest]))

    @property
    def names(self) -> set[str]:
        return {entry["check"] for _, entry in self._failed}

    @property
    def not_measured(self) -> list[Missed]:
        """What could not be measured, by judge and suite; the same for any number of workers."""
        from pytest_judgesense.report.summary import Missed

        counted: Counter[tuple[str, str, str]] = Counter(
            (entry["judge"], entry["suite"], entry["explanation"].partition("\n")[0])
            for _, entry in self._failed
            if entry["outcome"] == _NOT_MEASURED
        )
        return [Missed(*of, checks) for of, checks in sorted(counted.items())]

    def annotation_lines(self, rootdir: Path) -> Iterator[str]:
        """Workflow commands that show the checks at their lines; nothing outside GitHub Actions."""
        if not on_github():
            return
        failed = self._failed
        most = _MOST_ANNOTATIONS - (len(failed) > _MOST_ANNOTATIONS)
        for report, entry in failed[:most]:
            title = "{check} of judge {judge} on {suite}: {outcome}".format_map(entry)
            place = [*_place(report.location, rootdir), ("title", title)]
            properties = ",".join(f"{name}={_escaped(text, ':,')}" for name, text in place)
            beside = (entry.get(name, _NONE) for name in ("changed", "known"))
            text = "; ".join([entry["explanation"], *(part for part in beside if part != _NONE)])
            yield f"::error {properties}::{_escaped(text)}"
        if rest := len(failed[most:]):
            yield f"::error title=more checks::{rest} more did not pass: see the job summary"

    def summarise(self, view: View | None) -> None:
        """Append the datasheet to the summary of the job, as much as fits.

        Nothing outside GitHub Actions, and nothing where no check was to be measured.
        """
        place = os.environ.get("GITHUB_STEP_SUMMARY")
        if not place or not on_github() or not (view or self._failed):
            return
        from pytest_judgesense.report.markdown import cut, markdown

        path = Path(place)
        size = path.stat().st_size if path.exists() else 0
        rest = "The whole of it: --judge-datasheet datasheet.md"
        text = cut(well_formed(markdown(view, self.not_measured)), _MOST_SUMMARY_BYTES - size, rest)
        append_whole(path, text)


def _place(location: tuple[str, int | None, str], rootdir: Path) -> Iterator[tuple[str, str]]:
    """File and line as GitHub knows them; nothing for a suite that is not of the repository."""
    workspace = os.environ.get("GITHUB_WORKSPACE") or str(rootdir)
    try:
        path = Path(os.path.relpath((rootdir / location[0]).resolve(), Path(workspace).resolve()))
    except ValueError:  # another drive
        return
    if ".." in path.parts:
        return
    yield "file", path.as_posix()
    if location[1] is not None:
        yield "line", str(location[1] + 1)


def _escaped(text: str, marks: str = "") -> str:
    """``text`` as a workflow command takes it: line ends, percents and ``marks`` escaped."""
    text = harmless(text)
    for character in "%\r\n" + marks:
        text = text.replace(character, f"%{ord(character):02X}")
    return text
