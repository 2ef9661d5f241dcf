"""Judges as a question: a suite, the judge that is replaced, and those that may replace it.

Each has its judgments: recorded ones, or those of a log. Of two judges it is said what moves from
one to the other; of more, every two are compared, and the first is the one that is replaced.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import Final, NamedTuple

from pytest_judgesense.api import MeasuredDatasheet
from pytest_judgesense.datasheets.datasheet import Calls
from pytest_judgesense.datasheets.published_design import Table
from pytest_judgesense.errors import UsageError, listed
from pytest_judgesense.estimate import Estimate
from pytest_judgesense.judges.local import JUDGES as LOCAL_JUDGES
from pytest_judgesense.judges.spec import JudgeSpec
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.measures.cell_estimates import estimate_all
from pytest_judgesense.questions.compare.judges.comparison import (
    FORMS_OF_PAIRS,
    FORMS_OF_TWO,
    CompareJudgesAnswer,
    EveryTwoJudgesAnswer,
    refuse_other_form,
)
from pytest_judgesense.questions.compare.judges.effort import (
    JudgeEffort,
    calls_of,
    effort_of,
    effort_table,
)
from pytest_judgesense.questions.compare.judges.model_change import ModelChange
from pytest_judgesense.questions.compare.variants import Variant, VariantChange, in_one_family
from pytest_judgesense.questions.on_a_scale import mean_shift
from pytest_judgesense.questions.place import Place
from pytest_judgesense.questions.pricing import CallPlan, RecordingCommand, call_plan
from pytest_judgesense.questions.terms import AskingTerms, measured
from pytest_judgesense.report.logged_cells import cells_of_logs
from pytest_judgesense.suites.space import position
from pytest_judgesense.suites.suite import Suite
from pytest_judgesense.trial import ScoreRange, score_of_text

# How far from the old pass rate a rate is that keeps it.
WITHIN: Final = 0.02
# How few judges can be compared.
FEWEST: Final = 2


def share_of_mark(text: str, suite: Suite) -> float:
    """A mark as a share of the suite's scale.

    As in a suite file: what is a grade is one, else a number up to 1 is a share of the scale.

    Raises:
        UsageError: the suite has no scale, or the mark does not lie above its lowest grade.
    """
    design = suite.design
    if design.score is not None:
        return _share_of_score(text, design.score, suite.name)
    labels = design.scale
    is_ordered = design.ordinal or bool(design.criteria)
    share = position(text, labels) / (len(labels) - 1)
    if math.isnan(share):
        share = _number_up_to_one(text)
    if not is_ordered or not share > 0:
        raise UsageError(
            f"--mark {text} is no mark of {suite.name}",
            found=f"labels {listed(labels)}" + ("" if is_ordered else ", which have no order"),
            expected=f"a grade above the lowest: {listed(labels[1:])}; a number between two; or "
            "a share of the scale, above 0 and up to 1"
            if is_ordered
            else "a suite of grades, or of labels in order",
        )
    return share


def _share_of_score(text: str, ends: ScoreRange, suite: str) -> float:
    number = score_of_text(text)
    if not ends.low < number <= ends.high:
        raise UsageError(
            f"--mark {text} is no mark of {suite}",
            found=text,
            expected=f"a score above {ends.ends[0]}, up to {ends.ends[1]}",
        )
    return ends.share(number)


def _number_up_to_one(text: str) -> float:
    """The number that a text is, from 0 to 1; NaN for another one or none."""
    try:
        number_stated = float(text)
    except ValueError:
        return math.nan
    return number_stated if 0 <= number_stated <= 1 else math.nan


_LOG: Final = ".jsonl"


class MeasuredJudge(NamedTuple):
    """The judgments of a judge, and its estimates.

    Attributes:
        calls: that they took, with their price; none where nobody looks at them.
        effort: what it was asked to think, see `effort.effort_of`.
    """

    cell: Cell
    estimates: Sequence[Estimate]
    calls: Calls = Calls()
    effort: str | None = None

    @property
    def decided(self) -> set[str]:
        """The trials with a verdict, by their ids."""
        judgments = self.cell.judgments
        return {judgment.trial.id for judgment in judgments if judgment.verdict is not None}


def is_log(name: str) -> bool:
    """Whether a judge is named by its judgment log."""
    return name.endswith(_LOG)


def judges_to_ask(judges: Sequence[str], place: Place) -> dict[str, JudgeSpec]:
    """By name the judges that are no logs.

    Raises:
        UsageError: there is one judge only, one of them is named twice, or is not known here.
    """
    if len(judges) < FEWEST:
        raise UsageError(
            "a judge is compared with another one",
            found=listed(judges) or "none",
            expected="two judges or more",
            remedy="judgesense compare SUITE --judges A B...",
        )
    names = [name for name in judges if not is_log(name)]
    _refuse_undeclared(names, place)
    specs = place.judges_to_ask(names) if names else []
    if len({*judges}) < len(judges) or len({spec.slug for spec in specs}) < len(names):
        raise UsageError(
            "a judge is not moved to itself",
            found=" and ".join(judges),
            expected="two judges" if len(judges) == FEWEST else "judges that differ",
            remedy="how much a judge differs by itself: judgesense explain repeat_flip_rate",
        )
    return dict(zip(names, specs, strict=True))


def _refuse_undeclared(names: Sequence[str], place: Place) -> None:
    """Raise a `UsageError` if a judge has recordings, and nothing says any more what it is."""
    declared = place.declared
    for name in names:
        is_name = name not in declared and name not in LOCAL_JUDGES and Path(name).name == name
        if is_name and ":" not in name and (place.cassettes / name).is_dir():
            raise UsageError(
                f"judge {name} is recorded, and not declared",
                found=f"{place.cassettes / name}; declared here: {listed(declared) or 'none'}",
                expected=f"the table that it had, [tool.judgesense.judges.{name}]",
                remedy="declare it again, or name its judgment log (.jsonl) in its place",
            )


def by_name(specs: dict[str, JudgeSpec], sheet: MeasuredDatasheet) -> dict[str, MeasuredJudge]:
    """The judges of a datasheet, by the names with which they were asked for."""
    estimates = {judge_sheet.judge: judge_sheet.estimates for judge_sheet in sheet.judges}
    return {
        name: MeasuredJudge(
            cell, estimates[spec.slug], calls_of(spec, sheet.judges), effort_of(spec)
        )
        for (name, spec), cell in zip(specs.items(), sheet.cells, strict=True)
    }


def judge_of_log(path: Path, suite: Suite, place: Place, seed: int) -> MeasuredJudge:
    """The judge whose judgment log this is.

    Raises:
        LogError: the log cannot be read.
        UsageError: it has no judge on the suite, or several.
    """
    cells = cells_of_logs([path], seed, place.registry)
    of_suite = [cell for cell in cells if cell.suite == suite.name]
    if len(of_suite) != 1:
        raise UsageError(
            f"{path} is no log of one judge on {suite.name}",
            found=listed(f"{cell.judge} on {cell.suite}" for cell in cells) or "no judgments",
            expected="one judge on this suite",
            remedy="write it: pytest --judge-suite SUITE --judge-name NAME --judge-datasheet "
            f"{path}",
        )
    (cell,) = of_suite
    return MeasuredJudge(cell, estimate_all(cell), Calls.of(cell.judgments))


def on_common_trials(
    old: MeasuredJudge, new: MeasuredJudge
) -> tuple[MeasuredJudge, MeasuredJudge, int]:
    """Both judges on the trials that both were asked, and how many others there are.

    Raises:
        UsageError: no trial has a verdict of both.
    """
    if old.decided.isdisjoint(new.decided):
        raise _nothing_in_common(old, new)
    old_ids, new_ids = _asked(old), _asked(new)
    left_out = len(old_ids ^ new_ids)
    if not left_out:
        return old, new, 0
    common = old_ids & new_ids
    return _on_trials(old, common), _on_trials(new, common), left_out


def _asked(judge: MeasuredJudge) -> set[str]:
    """The trials that a judge was asked, by their ids."""
    return {judgment.trial.id for judgment in judge.cell.all_judgments}


def _on_trials(judge: MeasuredJudge, ids: set[str]) -> MeasuredJudge:
    """A judge on a part of its trials."""
    cell = judge.cell.of(j for j in judge.cell.all_judgments if j.trial.id in ids)
    return MeasuredJudge(cell, estimate_all(cell))


def _nothing_in_common(old: MeasuredJudge, new: MeasuredJudge) -> UsageError:
    return UsageError(
        f"there is no trial of {old.cell.suite} with a verdict of both judges",
        found=f"verdicts of {len(old.decided)} of {len(old.cell.judgments)} trials of "
        f"{old.cell.judge}, of {len(new.decided)} of {len(new.cell.judgments)} of "
        f"{new.cell.judge}",
        expected="the same items, templates, orders and replicates, by the ids of the trials",
    )


class _JudgesOnCommonTrials(NamedTuple):
    """Two judges on the trials that both were asked.

    Attributes:
        old: the judge that is replaced.
        new: the one that replaces it.
        left_out: number of trials that only one of them was asked.
    """

    old: Variant
    new: Variant
    left_out: int


@dataclass(frozen=True)
class CompareJudgesQuestion:
    """What moving a judge to another model changes, on one suite.

    Attributes:
        suite: by name, ``NAME@PRESET``, or its file.
        judges: the judge that is replaced, and one or more that may replace it: declared,
            ``provider:model``, or a judgment log (.jsonl).
        mark: the pass mark of the judge that is replaced: a grade of the scale or between two, or a
            share of it up to 1; ``None`` for that of the suite.
        within: how far from the old pass rate a rate is that keeps it, from 0 to 1.
    """

    suite: str
    judges: tuple[str, ...]
    mark: str | None = None
    within: float = WITHIN
    terms: AskingTerms = field(default_factory=AskingTerms)
    place: Place = field(default_factory=Place)

    def plan(self) -> CallPlan:
        """What each judge that is no log would be asked, and for what price.

        Raises:
            UsageError: the suite, its mark or the judges are not ones that can be compared.
        """
        return self._plan

    def refuse_other_form(self, path: Path) -> None:
        """Raise a `UsageError` if the answer cannot be written to a file of this name."""
        several = len(self.judges) > FEWEST
        refuse_other_form(path, FORMS_OF_PAIRS if several else FORMS_OF_TWO)

    def answer(self) -> CompareJudgesAnswer | EveryTwoJudgesAnswer:
        """What moves, and whether a mark keeps the old pass rate; of several judges for every two.

        Raises:
            UsageError: as `plan`, or two of the judges have no trial in common.
            LogError: a judgment log cannot be read.
            MissingRecording: replaying, and something is not recorded.
            LimitReached: a call would pass a limit; the answers so far are recorded.
        """
        self._refuse_wrong()
        judges = self._measured()
        pairs = _every_two(judges)
        compared = in_one_family([(pair.old, pair.new) for pair in pairs])
        changes = tuple(map(self._model_change, pairs, compared))
        effort = self._effort(judges)
        if len(changes) == 1:
            return CompareJudgesAnswer(changes[0], effort)
        return EveryTwoJudgesAnswer(changes, effort)

    def _effort(self, judges: Mapping[str, MeasuredJudge]) -> Table | None:
        """What the effort of each judge buys, where any is known."""
        efforts = [
            JudgeEffort(name, judge.effort, judge.estimates, len(judge.cell.judgments), judge.calls)
            for name, judge in judges.items()
        ]
        measures = next(iter(judges.values())).cell.measures
        return effort_table(efforts, self._asked_suite.name, measures)

    def _model_change(self, pair: _JudgesOnCommonTrials, measures: VariantChange) -> ModelChange:
        return ModelChange(
            replace(pair.old.cell, judge=pair.old.name),
            replace(pair.new.cell, judge=pair.new.name),
            measures,
            self.place.registry.kinds[self._asked_suite.kind].score,
            self._share_of_mark,
            self.within,
            pair.left_out,
            mean_shift(pair.old.cell, pair.new.cell, self.place.registry),
        )

    def _measured(self) -> dict[str, MeasuredJudge]:
        """What the judges said, from their recordings or their logs, by name.

        A judge is called as its judgments call it; of several of one name, such as two logs of one
        judge, each is called as it was asked for.
        """
        suite, specs = self._asked_suite, self._specs
        asked: dict[str, MeasuredJudge] = {}
        if specs:
            words = ["judgesense", "compare", self.suite, "--judges", *self.judges]
            how = RecordingCommand(words, self.place.cassettes, self.plan)
            sheet = measured(self.place, self.terms, [*specs.values()], [suite], how)
            asked = by_name(specs, sheet)
        every = {
            name: asked[name]
            if name in asked
            else judge_of_log(Path(name), suite, self.place, self.terms.seed)
            for name in self.judges
        }
        shared = Counter(judge.cell.judge for judge in every.values())
        return {
            name if shared[judge.cell.judge] > 1 else judge.cell.judge: judge
            for name, judge in every.items()
        }

    @cached_property
    def _plan(self) -> CallPlan:
        self._refuse_wrong()
        asked = [(spec.name, spec, self._asked_suite) for spec in self._specs.values()]
        afresh = self.terms.mode == "live"
        return call_plan("", asked, self.place.cassettes, afresh=afresh)

    def _refuse_wrong(self) -> None:
        """Raise what is wrong before anything is asked."""
        self._refuse_wrong_share()
        _ = self._share_of_mark
        _ = self._specs

    def _refuse_wrong_share(self) -> None:
        if not 0 <= self.within <= 1:
            raise UsageError(
                "a rate cannot be kept within this share",
                found=f"within = {self.within}",
                expected="a share from 0 to 1",
                remedy=f"leave it out for {WITHIN}",
            )

    @cached_property
    def _asked_suite(self) -> Suite:
        """The suite without its checks."""
        return replace(self.place.suite(self.suite, labelled=False), checks=())

    @cached_property
    def _share_of_mark(self) -> float | None:
        """The old mark as a share of the scale; ``None`` for that of the suite."""
        return None if self.mark is None else share_of_mark(self.mark, self._asked_suite)

    @cached_property
    def _specs(self) -> dict[str, JudgeSpec]:
        """The judges that are no logs, by name."""
        return judges_to_ask(self.judges, self.place)


def _every_two(judges: Mapping[str, MeasuredJudge]) -> list[_JudgesOnCommonTrials]:
    """Every two of the judges, the one that was named first as the old one."""
    pairs = []
    for old, new in combinations(judges, 2):
        old_judge, new_judge, left_out = on_common_trials(judges[old], judges[new])
        pairs.append(
            _JudgesOnCommonTrials(
                Variant(old, old_judge.cell, old_judge.estimates),
                Variant(new, new_judge.cell, new_judge.estimates),
                left_out,
            )
        )
    return pairs
