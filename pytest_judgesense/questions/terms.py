"""On which terms judges are asked: modes, limits, and how far it is, for every question alike."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias, get_args

from pytest_judgesense.api import MeasuredDatasheet, Watch, measure_all
from pytest_judgesense.cassettes.opening import Mode
from pytest_judgesense.errors import unknown_name
from pytest_judgesense.judges.spec import JudgeSpec
from pytest_judgesense.judges.throttle import CONCURRENCY, Deadline, SessionBudget
from pytest_judgesense.questions.place import Place
from pytest_judgesense.questions.pricing import RecordingCommand
from pytest_judgesense.suites.suite import Suite
from pytest_judgesense.text.display import told_each_minute
from pytest_judgesense.text.layout import pace
from pytest_judgesense.trial import Judgment, Trial

_Judged: TypeAlias = Callable[[Judgment], None]


@dataclass(frozen=True)
class AskingTerms:
    """How the judges of a question are asked.

    Attributes:
        mode: ``replay`` makes no calls; ``record`` makes those that are not recorded yet; ``live``
            makes all, and keeps no recording.
        concurrency: the most calls under way at once.
        max_calls: the most calls, retries among them; ``None`` sets no limit.
        max_cost: the most that they may cost in USD, by the prices of the judges; likewise.
        max_unparsed: calls end if so many first replies to a suite all lack a verdict; 0: never.
        seed: of every random draw.

    Raises:
        UsageError: there is no such mode; it lists those that there are.
    """

    mode: Mode = "replay"
    concurrency: int = CONCURRENCY
    max_calls: int | None = None
    max_cost: float | None = None
    max_unparsed: int = 20
    seed: int = 0

    def __post_init__(self) -> None:
        if self.mode not in get_args(Mode):
            raise unknown_name("mode", self.mode, get_args(Mode))

    @property
    def asks(self) -> bool:
        """Whether calls may be made."""
        return self.mode != "replay"

    @cached_property
    def budget(self) -> SessionBudget:
        """The limits, for all that the question asks together."""
        return SessionBudget(self.max_calls, self.max_cost, deadline=Deadline())


def measured(
    place: Place,
    terms: AskingTerms,
    judges: Sequence[JudgeSpec],
    suites: Sequence[Suite],
    how_to_record: RecordingCommand,
    **changes: Any,
) -> MeasuredDatasheet:
    """What the judges say on the suites; ``changes`` are arguments of `api.measure_all`.

    Raises:
        MissingRecording: replaying, and something is not recorded; it says ``how_to_record``, with
            the price.
        LimitReached: a call would pass a limit; the answers so far are recorded.
    """
    asked_for: dict[str, Any] = {
        "mode": terms.mode,
        "seed": terms.seed,
        "concurrency": max(1, terms.concurrency),
        "limits": terms.budget,
        "max_unparsed": terms.max_unparsed,
        "watch": watch,
        "registry": place.registry,
    }
    asked_for["how_to_record"] = str(how_to_record)
    with how_to_record.priced_where_missing():
        return measure_all(judges, suites, place.cassettes, **asked_for | changes)


def watch(judge: JudgeSpec, suite: Suite) -> Watch:
    """Say every minute how far it is."""

    def watch_trials(trials: Sequence[Trial]) -> _Judged:
        tell, count = told_each_minute(), 0

        def judged(_: Judgment) -> None:
            nonlocal count
            count += 1
            tell(
                lambda seconds: (
                    f"judge {judge.name} on {suite.name}: {count:,} of "
                    f"{len(trials):,} trials, {pace(count, seconds)}"
                )
            )

        return judged

    return watch_trials
