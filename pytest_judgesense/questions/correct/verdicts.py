"""The verdicts that are corrected: of a judgment log, or of the recordings of suites."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from pytest_judgesense.cassettes.exchange import models_of
from pytest_judgesense.checks.shared_request import SharedRequest, request_shared
from pytest_judgesense.earlier.past import measured_now
from pytest_judgesense.errors import UsageError, listed
from pytest_judgesense.judges.prompts import suite_for_judge
from pytest_judgesense.judges.spec import JudgeSpec
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.questions.correct.drawn_labels import uncounted_words
from pytest_judgesense.questions.place import Place
from pytest_judgesense.report.logged_cells import cells_of_logs
from pytest_judgesense.suites.builtin import cassettes_in
from pytest_judgesense.suites.item import Item
from pytest_judgesense.suites.planning import plan_trials
from pytest_judgesense.suites.suite import Suite

_LOG: Final = ".jsonl"


class JudgeVerdicts(NamedTuple):
    """The verdicts of one judge, and who it was as far as that is recorded.

    Attributes:
        cell: the verdicts.
        served: the models that answered; empty if not known.
        sent: what its requests share; ``None`` if not known.
        notices: what is to be said of them.
        items: what was judged; empty if not known.
    """

    cell: Cell
    served: tuple[str, ...] = ()
    sent: SharedRequest | None = None
    notices: tuple[str, ...] = ()
    items: tuple[Item, ...] = ()


def verdicts_of_judges(
    source: str, judges: Sequence[str], place: Place, seed: int
) -> list[JudgeVerdicts]:
    """The verdicts of a log, or of the recordings of the suites of a name or a folder.

    Args:
        source: the log (``.jsonl``), or the suite.
        judges: whose verdicts are wanted; those of all if empty.
        place: where suites and recordings are.
        seed: of every random draw.

    Raises:
        UsageError: there are no verdicts, or none of one of the judges.
    """
    verdicts = [*_all_verdicts(source, place, seed)]
    names = [of_judge.cell.judge for of_judge in verdicts]
    if not verdicts or not {*judges} <= {*names}:
        raise UsageError(
            "there are no such verdicts",
            found=listed(f"{of.cell.judge} on {of.cell.suite}" for of in verdicts) or "none",
            expected=listed(judges) or "verdicts of a judge",
            remedy="name a judgment log, or a suite that is recorded in --judge-cassettes",
        )
    return [of_judge for of_judge in verdicts if not judges or of_judge.cell.judge in judges]


def _all_verdicts(source: str, place: Place, seed: int) -> Iterator[JudgeVerdicts]:
    path = Path(source)
    if path.suffix == _LOG:
        cells = cells_of_logs([path], seed, place.registry, replies=False)
        yield from map(JudgeVerdicts, cells)
        return
    for judge, suite in place.recorded(source):
        recorded = _recorded_verdicts(judge, suite, place, seed)
        if recorded is not None:
            yield recorded


def _recorded_verdicts(
    judge: JudgeSpec, suite: Suite, place: Place, seed: int
) -> JudgeVerdicts | None:
    """What a recording holds of a judge on a suite; ``None`` for no verdict."""
    paths = cassettes_in(place.cassettes, judge.slug, suite.recordings).values()
    measured, recorded = measured_now(judge, suite, paths, seed, place.registry)
    cell = measured.side.cell
    if cell is None or not cell.judgments:
        return None
    trials = [judgment.trial for judgment in cell.judgments]
    own_suite = suite_for_judge(suite, judge)
    exchanges = [exchange for trial in trials for exchange in recorded[trial.id]]
    models = models_of(exchanges).values()
    left_out = len(plan_trials(own_suite)) - len(trials)
    left_out_words = [f"{left_out} trials of {suite.name} are not recorded"] * bool(left_out)
    return JudgeVerdicts(
        cell,
        tuple(sorted({model for counts in models for model in counts})),
        request_shared(judge, own_suite, trials, recorded),
        (*left_out_words, *uncounted_words(suite.uncounted)),
        suite.items,
    )
