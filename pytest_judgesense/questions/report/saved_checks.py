"""The checks of datasheets, as their files hold them, and what baselines measured."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from pytest_judgesense.earlier.baseline import is_baseline
from pytest_judgesense.errors import LogError, UsageError, listed
from pytest_judgesense.questions.place import Place
from pytest_judgesense.questions.question import QuestionAnswer
from pytest_judgesense.questions.report.saved_sheets import saved_sheet
from pytest_judgesense.report.datasheet_file import datasheet_object, datasheet_values
from pytest_judgesense.report.markdown import badge
from pytest_judgesense.report.terminal import datasheet_lines
from pytest_judgesense.report.view import View, outcome_words, view_of

# What is shown of a check in a datasheet's file.
_FIELDS: Final = ("outcome", "suite", "check", "explanation")
_OF_NOT_COMPARED: Final = ("suite", "check", "reason")


@dataclass(frozen=True)
class SavedChecksAnswer(QuestionAnswer):
    """The outcomes of checks in datasheets, and the datasheets of baselines.

    Attributes:
        baselines: a datasheet of each, which has no checks.
        judges: of the datasheets: plain values, each with its name and its checks.
        has_datasheets: whether there is a file that may hold checks.
    """

    baselines: tuple[View, ...]
    judges: tuple[Mapping[str, Any], ...]
    has_datasheets: bool

    @property
    def checks(self) -> tuple[tuple[str, Mapping[str, Any]], ...]:
        """All checks, each with the name of its judge."""
        return tuple(
            (entry["judge"]["name"], check) for entry in self.judges for check in entry["checks"]
        )

    @property
    def outcomes(self) -> list[str]:
        """Of all checks."""
        return [check["outcome"] for _, check in self.checks]

    def lines(self) -> Iterator[str]:
        """The datasheets of baselines, then a line a check, and how many fail."""
        for view in self.baselines:
            yield from datasheet_lines(view)
        if not self.has_datasheets:
            return
        for name, check in self.checks:
            yield _check_line(name, check)
        for entry in self.judges:
            for left_out in entry.get("not_compared", ()):
                of = f"judge {entry['judge']['name']}, {left_out['suite']}, {left_out['check']}"
                yield f"NOT COMPARED  {of}: {left_out['reason']}"
        yield outcome_words(self.outcomes)

    def to_dict(self) -> Mapping[str, Any]:
        """The judges of datasheets, as their files have them, and the datasheets of baselines."""
        return {
            "judges": list(self.judges),
            "baselines": [datasheet_values(view.sheet) for view in self.baselines],
        }

    def badge(self) -> str:
        """The outcomes as an SVG badge."""
        return badge(self.outcomes, [*dict.fromkeys(e["judge"]["name"] for e in self.judges)])


@dataclass(frozen=True)
class SavedChecksQuestion:
    """What datasheets say of their checks. No call is made.

    Attributes:
        files: datasheets and baselines (.json).
        seed: of every random draw, for the measures of baselines.
        place: whose instruments and plugins are used.
    """

    files: tuple[Path, ...]
    seed: int = 0
    place: Place = field(default_factory=Place)

    def answer(self) -> SavedChecksAnswer:
        """The outcomes of the checks.

        Raises:
            UsageError: a file is neither a datasheet nor a baseline, or is not there.
            LogError: a file cannot be read.
        """
        if any(path.suffix != ".json" for path in self.files):
            raise UsageError(
                "judgment logs and datasheets are not reported on together",
                found=listed(map(str, self.files)),
                expected="judgment logs (.jsonl); or datasheets and baselines (.json)",
            )
        baselines = [path for path in self.files if is_baseline(path)]
        datasheets = [path for path in self.files if path not in baselines]
        registry = self.place.registry
        views = (view_of(saved_sheet(path, self.seed, registry), registry) for path in baselines)
        judges = tuple(_judges_of_datasheets(datasheets))
        return SavedChecksAnswer(tuple(views), judges, bool(datasheets))


def _check_line(judge: str, check: Mapping[str, Any]) -> str:
    head = f"{check['outcome'].upper()}  judge {judge}, {check['suite']}, {check['check']}"
    match check:
        case {"against": {"summary": str(changed)}} if changed:
            return f"{head}: {check['explanation']}; {changed}"
    return f"{head}: {check['explanation']}"


def _judges_of_datasheets(paths: Iterable[Path]) -> Iterator[dict[str, Any]]:
    for path in paths:
        entries = datasheet_object(path).get("judges")
        if not isinstance(entries, list) or not all(map(_is_entry, entries)):
            raise LogError(
                f"{path} is not a datasheet",
                expected=f"judges, each with a name and its checks: {listed(_FIELDS)} of each",
                remedy="write it again: pytest --judge-datasheet FILE.json",
            )
        yield from entries


def _is_entry(value: Any) -> bool:
    match value:
        case {"judge": {"name": str()}, "checks": [*checks], "not_compared": [*left_out]}:
            return _have(checks, _FIELDS) and _have(left_out, _OF_NOT_COMPARED)
        case {"judge": {"name": str()}, "checks": [*checks]}:
            return _have(checks, _FIELDS) and "not_compared" not in value
    return False


def _have(entries: Iterable[Any], names: Iterable[str]) -> bool:
    """Whether all entries are objects with texts of these names."""
    return all(
        isinstance(entry, dict) and all(isinstance(entry.get(name), str) for name in names)
        for entry in entries
    )
