"""What a process of a session has measured, as values; and as the JSON that workers of xdist send.

A process hands values on. Only from a worker to its controller they go as text: a report of a test
carries nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from pydantic import TypeAdapter

from pytest_judgesense.cassettes.redaction import without_secrets
from pytest_judgesense.checks.verifying import Verification
from pytest_judgesense.datasheets.datasheet import SuiteSheet
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.registry import Registry
from pytest_judgesense.trial import RequestCount


@dataclass(frozen=True, slots=True)
class MeasuredPart:
    """One judge on one suite, with the checks since the last report.

    Attributes:
        asked: the trials that were called, each with the requests sent for it.
        luck: the draws in which a check that passes fails by chance, by check.
        log: the lines of the judgment log, where the session writes or compares judgments.
        stimuli: the digest of items and design; empty without ``log``.
        prompts: the prompts that were sent, each text once, where a page shows them.
        prompt_numbers: the number of the prompt of each judgment.
        before: the lines of the judgments at the revision that is the baseline, where a page shows
            them.
        rooms: names of the rooms of instruments that measured it.
        totals: what the history of live sessions keeps of it, as plain values; ``None`` for none.
        cell: the judgments, in the process that has them as they stand in ``log``.
    """

    sheet: SuiteSheet
    asked: Mapping[str, RequestCount]
    luck: Mapping[str, str | None]
    log: tuple[str, ...] = ()
    stimuli: str = ""
    prompts: tuple[str, ...] = ()
    prompt_numbers: tuple[int, ...] = ()
    before: tuple[str, ...] = ()
    rooms: tuple[str, ...] = ()
    totals: Mapping[str, Any] | None = None
    cell: Any = field(default=None, compare=False, repr=False)

    @property
    def key(self) -> tuple[str, str]:
        return self.sheet.judge, self.sheet.suite

    def judgments(self, seed: int, registry: Registry) -> Cell:
        """The judgments; those of another process are read from their lines."""
        from pytest_judgesense.report.log import cell_of_lines

        cell: Cell | None = self.cell
        return cell or cell_of_lines(self.log, self.sheet.suite, seed, registry)

    def judgments_before(self, seed: int, registry: Registry) -> Cell | None:
        """The judgments at the revision that is the baseline; ``None`` if there are none."""
        from pytest_judgesense.report.log import cell_of_lines

        if not self.before:
            return None
        cell = cell_of_lines(self.before, self.sheet.suite, seed, registry)
        return replace(cell, measures=registry.measures_on(cell.design.kind, cell.suite))

    def prompts_by_trial(self, cell: Cell) -> dict[str, str]:
        """The prompt of each trial of its ``cell``."""
        return {
            judgment.trial.id: self.prompts[number]
            for judgment, number in zip(cell.all_judgments, self.prompt_numbers, strict=True)
        }


@dataclass(frozen=True, slots=True)
class KnownProposal:
    """How the failure of a check of one judge could be declared known.

    Attributes:
        place: path of the suite file, or id of the test, that declares the check.
        suite: name of the suite in whose file it is declared; empty for a test.
        check: its id; ``key`` tells it apart from the others there.
        at: the number to accept; ``None`` where there is none.
        floor: whether a lower number is worse.
        instead: what to do where there is none.
    """

    place: str
    suite: str
    check: str
    key: str
    at: float | None
    floor: bool
    instead: str


@dataclass(frozen=True, slots=True)
class Results:
    """What a process has measured since it last told.

    Attributes:
        shard: lines about a recorded shard.
        notes: lines for the screen, of a worker, which has none.
        questions: how often tests asked their judge directly: made, replayed and failed.
        unmeasured: the requests of what ended in an error, by judge and trial.
        removed: names of the credentials that were removed from what was recorded.
        skipped: names of those that were not, each with the reason.
        recorded: the files that the process has recorded into.
        proposals: how what fails could be declared known, of a session that records.
    """

    parts: tuple[MeasuredPart, ...] = ()
    verified: tuple[Verification, ...] = ()
    shard: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    questions: Mapping[str, int] = field(default_factory=dict)
    unmeasured: Mapping[str, Mapping[str, RequestCount]] = field(default_factory=dict)
    removed: tuple[str, ...] = ()
    skipped: Mapping[str, str] = field(default_factory=dict)
    recorded: tuple[str, ...] = ()
    proposals: tuple[KnownProposal, ...] = ()

    def __bool__(self) -> bool:
        return self != Results()

    def text(self) -> str:
        """The results as JSON."""
        from pytest_judgesense.report.datasheet_file import to_plain

        return json.dumps(to_plain(self))


def results_of(text: str) -> Results:
    """The results of another process."""
    # Not by pydantic's own parser: a reply may hold half of a surrogate pair.
    results: Results = _validator(Results).validate_python(json.loads(text))
    return results


def without_credentials(
    parts: Sequence[MeasuredPart], values: Mapping[str, str]
) -> list[MeasuredPart]:
    """``parts`` without the credentials ``values``, which were found after they were sent."""
    from pytest_judgesense.report.datasheet_file import to_plain

    clean = without_secrets(json.loads(json.dumps([to_plain(part) for part in parts])), values)
    return [replace(_validator(MeasuredPart).validate_python(plain), cell=None) for plain in clean]


@lru_cache
def _validator(kind: Any) -> Any:
    """Made where another process sends something."""
    return TypeAdapter(kind).validator
