"""A panel as a question: judgment logs, baselines or suites, and which judges of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple

from pytest_judgesense.datasheets.datasheet import Calls
from pytest_judgesense.earlier.baseline import read_measured
from pytest_judgesense.earlier.past import recorded_cell
from pytest_judgesense.errors import UsageError, listed
from pytest_judgesense.judges.spec import FREE, JudgeSpec, refuse_jury
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.questions.on_a_scale import is_on_scale
from pytest_judgesense.questions.place import Place
from pytest_judgesense.questions.report.panel.panel_answer import PanelAnswer
from pytest_judgesense.questions.report.panel.scale_panel import scale_panel
from pytest_judgesense.questions.report.panel.votes import (
    Ballots,
    JudgePanel,
    VotePrice,
    ballots_of,
)
from pytest_judgesense.report.logged_cells import cells_of_logs
from pytest_judgesense.suites.labelled_texts import ids_by_text, matched
from pytest_judgesense.suites.people import PersonLabel, in_force, people_file, read_people
from pytest_judgesense.suites.suite import Suite
from pytest_judgesense.trial import grouped

_LOG, _BASELINE = ".jsonl", ".json"
_VOTE_ALONE: Final = "a panel is made of judges that vote alone"


@dataclass(frozen=True)
class PanelQuestion:
    """What several judges of the same items are worth together. No call is made.

    Attributes:
        sources: judgment logs (.jsonl), baselines (.json), or suites whose recordings are read, by
            their names, files or folders.
        judges: those of the panel, by name; all that are there if empty.
        suites: those that the panel may be of, where the sources have several; all if empty.
        alpha: the error that is allowed among what the panel decides, between 0 and 1.
        seed: of every random draw.
        place: whose judges, suites and recordings are read.
    """

    sources: tuple[str, ...]
    judges: tuple[str, ...] = ()
    suites: tuple[str, ...] = ()
    alpha: float = 0.1
    seed: int = 0
    place: Place = field(default_factory=Place)

    def answer(self) -> PanelAnswer:
        """What the panel is worth, what it decides and where it disagrees.

        Raises:
            UsageError: an argument is none of those above, or there are not two judges or more on
                exactly one suite.
            LogError: a file cannot be read, or logs contradict each other.
        """
        if not 0 < self.alpha < 1:
            raise UsageError(
                f"alpha {self.alpha:g} is no error that can be allowed",
                expected="a number above 0 and below 1",
            )
        voters = _panel_of(self, [*_voters(self)])
        cells = [voter.cell for voter in voters]
        later = later_labels(
            (label for voter in voters for label in voter.labels),
            (judgment.recorded_at for cell in cells for judgment in cell.judgments),
        )
        if any(is_on_scale(cell.design) for cell in cells):
            prices = [_price(voter, None) for voter in voters]
            return PanelAnswer(scale_panel(cells, self.place.registry, prices, self.seed, later))
        ballots = ballots_of(cells)
        prices = [_price(voter, ballots) for voter in voters]
        suite = cells[0].suite
        return PanelAnswer(JudgePanel(suite, ballots, tuple(prices), self.alpha, self.seed, later))


def later_labels(labels: Iterable[PersonLabel], votes: Iterable[str | None]) -> int:
    """How many labels in force people gave when the first vote of the panel was there.

    Args:
        labels: of a file of labels, in their order.
        votes: when each was recorded (UTC, ISO 8601); ``None`` where that is not known.
    """
    times = [time for time in votes if time is not None]
    if not times:
        return 0
    first = min(times)
    return sum(label.counts and label.labelled_at > first for label in in_force(labels).values())


class _Voter(NamedTuple):
    """A judge of the panel.

    Attributes:
        spec: if it is declared here.
        labels: of people on these items, where the suite's file is at hand.
    """

    cell: Cell
    spec: JudgeSpec | None
    labels: tuple[PersonLabel, ...] = ()


# --- all judges that are there --------------------------------------------------------------------


def _voters(question: PanelQuestion) -> Iterator[_Voter]:
    """All judges of the logs and the recordings."""
    yield from _of_logs(question)
    yield from _of_baselines(question)
    for name in question.sources:
        if not name.endswith((_LOG, _BASELINE)):
            yield from _of_suite(question, name)


def _of_logs(question: PanelQuestion) -> Iterator[_Voter]:
    place = question.place
    logs = [Path(name) for name in question.sources if name.endswith(_LOG)]
    if not logs:
        return
    for cell in cells_of_logs(logs, question.seed, place.registry, replies=False):
        yield _Voter(cell, place.declared.get(cell.judge))


def _of_baselines(question: PanelQuestion) -> Iterator[_Voter]:
    place = question.place
    for path in (Path(name) for name in question.sources if name.endswith(_BASELINE)):
        for measured in read_measured(path, question.seed, place.registry):
            if measured.side.cell is None:
                raise UsageError(
                    f"{path} has no judgments",
                    found="a datasheet, which holds estimates",
                    expected="the judgments of the judges",
                    remedy="write their log: pytest --judge-datasheet judgments.jsonl",
                )
            yield _Voter(measured.side.cell, place.declared.get(measured.judge))


def _of_suite(question: PanelQuestion, name: str) -> Iterator[_Voter]:
    place = question.place
    for judge, suite in _recordings(question, name):
        cell, _ = recorded_cell(judge, suite, place.cassettes, question.seed, place.registry)
        if cell.judgments:
            labels = matched(read_people(people_file(suite.path)), ids_by_text(suite.items))
            yield _Voter(cell, judge, tuple(labels.counted.values()))


def _recordings(question: PanelQuestion, name: str) -> Iterator[tuple[JudgeSpec, Suite]]:
    """The suites of a name with the judges that are named, else with those that are recorded."""
    place = question.place
    if not question.judges:
        # A jury says what its members say: it is no voter beside them.
        recorded = place.recorded(name)
        yield from ((judge, suite) for judge, suite in recorded if judge.jury is None)
        return
    for suite in place.suites(name, labelled=False):
        for judge in place.judges(question.judges):
            refuse_jury(judge, _VOTE_ALONE)
            if place.is_recorded(judge, suite):
                yield judge, suite


# --- those of them that are asked for -------------------------------------------------------------


def _panel_of(question: PanelQuestion, voters: Sequence[_Voter]) -> list[_Voter]:
    """The judges that are wanted, on one suite, each once."""
    wanted = [voter for voter in voters if _is_wanted(question, voter)]
    for voter in wanted:
        if voter.spec is not None:
            refuse_jury(voter.spec, _VOTE_ALONE)
    of_suites = grouped(wanted, lambda voter: voter.cell.suite).values()
    panels = [of_suite for of_suite in of_suites if len(of_suite) > 1]
    if not panels and voters:
        _refuse_missing(question.judges, voters)
    if len(panels) != 1:
        there = listed(f"{voter.cell.judge} on {voter.cell.suite}" for voter in voters)
        raise UsageError(
            "there are panels on several suites" if panels else "there is no panel",
            found=there or "no judgments",
            expected="two judges or more on one suite",
            remedy="name the suite: --judge-suite NAME"
            if panels
            else "name more logs, or judges that are recorded: --judge-name NAME (repeatable)",
        )
    (panel,) = panels
    _refuse_missing(question.judges, panel)
    _refuse_twice(panel)
    return panel


def _is_wanted(question: PanelQuestion, voter: _Voter) -> bool:
    names = {voter.cell.judge, voter.spec and voter.spec.called}
    is_jury = voter.spec is not None and voter.spec.jury is not None
    is_named = not names.isdisjoint(question.judges) if question.judges else not is_jury
    return is_named and (not question.suites or voter.cell.suite in question.suites)


def _refuse_missing(names: Sequence[str], voters: Sequence[_Voter]) -> None:
    """Raise a `UsageError` for a judge that is named and is not among ``voters``."""
    voting = [voter.cell.judge for voter in voters]
    called = [voter.spec.called for voter in voters if voter.spec]
    missing = {*names}.difference(voting, called)
    if missing:
        judge, suite = min(missing), voters[0].cell.suite
        raise UsageError(
            f"judge {judge} is not there",
            found=listed(voting),
            expected=f"its judgments on {suite}",
            remedy=f"record it: pytest --judge-suite {suite} --judge-name {judge} "
            "--judge-mode record",
        )


def _refuse_twice(panel: Sequence[_Voter]) -> None:
    voting = [voter.cell.judge for voter in panel]
    if len(voting) > len({*voting}):
        raise UsageError(
            "a judge is there twice",
            found=listed(voting),
            expected="every judge once: a log or a recording, not both",
        )


def _price(voter: _Voter, ballots: Ballots | None) -> VotePrice:
    """What a vote takes: by the prices of a judge that is declared here, and the tokens counted.

    ``ballots``: what is voted on; ``None`` for all items that the judge was asked.
    """
    judgments = voter.cell.judgments
    of_items = [j for j in judgments if ballots is None or j.trial.id in ballots.common]
    count = len(ballots.items if ballots else {j.trial.item for j in judgments})
    calls, spec = Calls.of(of_items), voter.spec
    parts = calls.prompt_tokens, calls.completion_tokens
    tokens = None if parts == (None, None) else sum(part or 0 for part in parts) / count
    usd: float | None = None
    if spec is not None and spec.prices is not None and tokens is not None:
        prompt, completion = (part or 0 for part in parts)
        usd = (prompt * spec.prices.prompt + completion * spec.prices.completion) / 1e6 / count
    elif spec is not None and spec.provider in FREE:
        usd = 0.0
    return VotePrice(len(of_items) / count, tokens, usd)
