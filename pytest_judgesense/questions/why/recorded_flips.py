"""Finding a flip in what is recorded: two trials of an item, or one trial in two recordings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from pytest_judgesense.cassettes.exchange import CALL, RETURN, Exchange, RecordedRequest
from pytest_judgesense.earlier.past import PastReader
from pytest_judgesense.errors import MissingRecording, UsageError, did_you_mean
from pytest_judgesense.judges.calls import judgment_of
from pytest_judgesense.judges.prompts import suite_for_judge
from pytest_judgesense.judges.remembered import recorded_trials, remembered
from pytest_judgesense.judges.spec import JudgeSpec, refuse_jury
from pytest_judgesense.questions.place import Place
from pytest_judgesense.questions.why.flip import Flip, FlipEnd, label_of
from pytest_judgesense.revisions.revision import Revision
from pytest_judgesense.suites.builtin import cassettes_in
from pytest_judgesense.suites.planning import plan_trials
from pytest_judgesense.suites.suite import Suite
from pytest_judgesense.trial import Failed, Judgment, Trial

REVISION: Final = "git:"


@dataclass(frozen=True)
class RecordedAnswers:
    """What a judge has answered on a suite, as a recording has it.

    Attributes:
        suite: with the prompts of the judge.
        exchanges: those of the recording, by trial.
    """

    judge: JudgeSpec
    suite: Suite
    exchanges: Mapping[str, Sequence[Exchange]]

    @classmethod
    def of_today(cls, place: Place, judge: JudgeSpec, suite: Suite) -> RecordedAnswers:
        """Those of the recording in a working folder; ``suite`` has no prompts of the judge."""
        refuse_jury(judge, "why a verdict flips is told by what one judge was sent")
        asked_suite = suite_for_judge(suite, judge)
        paths = cassettes_in(place.cassettes, judge.slug, asked_suite.recordings)
        return cls(judge, asked_suite, recorded_trials(paths.values()))

    @cached_property
    def trials(self) -> Mapping[str, Trial]:
        """Those that the suite plans, by id."""
        return {trial.id: trial for trial in plan_trials(self.suite)}

    def planned(self, name: str) -> Trial:
        """The trial of this id.

        Raises:
            UsageError: the suite plans no such trial.
        """
        if name in self.trials:
            return self.trials[name]
        meant = did_you_mean(name, list(self.trials))
        raise UsageError(
            f"suite {self.suite.name} has no trial {name!r}",
            found=f"{len(self.trials)} trials, the first is {next(iter(self.trials), 'none')}",
            expected="a trial as datasheets and logs name it: SUITE/ITEM/TEMPLATE/ORDER/rN",
            remedy=meant or "take it from the evidence of a failing check, or from a judgment log",
        )

    def judgments(self, trials: Sequence[Trial]) -> dict[str, Judgment]:
        """Of each of the trials that was answered, by id."""
        answers = remembered(self.judge, self.suite, trials, self.exchanges)
        judgments = (
            judgment_of(self.suite, self.judge, trial, answers[trial.id])
            for trial in trials
            if trial.id in answers
        )
        return {
            judgment.trial.id: judgment
            for judgment in judgments
            if not isinstance(judgment.outcome, Failed)
        }

    def end(self, name: str, judgment: Judgment) -> FlipEnd:
        """The side of a flip that a judgment of this recording is."""
        trial = judgment.trial
        return FlipEnd(name, judgment, _asked(trial, self.exchanges[trial.id]))

    def not_recorded(self, trial: Trial) -> MissingRecording:
        """The error of a trial without an answer."""
        return MissingRecording(
            f"trial {trial.id} of judge {self.judge.name!r} is not recorded, or has no answer",
            expected="a recording of both ends of the flip",
            remedy=f"record the suite: judgesense record SUITE --judge-name {self.judge.name}",
        )


# --- two trials of an item ------------------------------------------------------------------------


def flip_of_trials(recorded: RecordedAnswers, trial: Trial, other: str | None) -> Flip:
    """The flip between a trial and another one; without a name the first that says otherwise.

    Raises:
        UsageError: the two are no ends of a flip, or none says otherwise.
        MissingRecording: one of them is not recorded.
    """
    of_item = [other for other in recorded.trials.values() if other.item == trial.item]
    judgments = recorded.judgments(of_item)
    if trial.id not in judgments:
        raise recorded.not_recorded(trial)
    if other is None:
        other_end = _partner(judgments[trial.id], judgments)
    else:
        other_trial = recorded.planned(other)
        _refuse_unlike(trial, other_trial)
        if other_trial.id not in judgments:
            raise recorded.not_recorded(other_trial)
        other_end = judgments[other_trial.id]
    return _between(recorded, judgments[trial.id], other_end)


def _says(judgment: Judgment) -> str | None:
    """What is compared: the content that a verdict points at, else the verdict."""
    return judgment.verdict if judgment.chosen is None else judgment.chosen


def _partner(judgment: Judgment, judgments: Mapping[str, Judgment]) -> Judgment:
    """The judgment that says otherwise: in the other order, else under another wording."""
    trial = judgment.trial

    def alike(other: Trial) -> bool:
        return (other.replicate, other.condition) == (trial.replicate, trial.condition)

    others = [other for other in judgments.values() if alike(other.trial)]
    others.sort(key=lambda other: other.trial.template != trial.template)
    for other in others:
        if _says(other) not in (None, _says(judgment)):
            return other
    raise UsageError(
        f"trial {trial.id} is no flip: it says {label_of(judgment)}, and so do its "
        "other orders and wordings",
        found=f"{len(others)} recorded trials of the item that differ in order or wording alone",
        expected="one of them with another verdict, or another recording",
        remedy="name the other end: judgesense why TRIAL OTHER, or --against git:REF",
    )


def _between(recorded: RecordedAnswers, first: Judgment, second: Judgment) -> Flip:
    _refuse_agreement(first, second)
    names = _names_of_ends(first.trial, second.trial)
    old, new = (
        recorded.end(name, judgment) for name, judgment in zip(names, (first, second), strict=True)
    )
    of_orders = first.trial.order != second.trial.order
    return Flip(recorded.judge, recorded.suite, old, new, of_orders=of_orders)


def _names_of_ends(old: Trial, new: Trial) -> tuple[str, str]:
    """What two trials of an item are called where they are compared: that in which they differ."""
    if old.order == new.order:
        return old.template, new.template
    if old.template == new.template:
        return f"order {old.order}", f"order {new.order}"
    return f"{old.template}, {old.order}", f"{new.template}, {new.order}"


def _refuse_unlike(first: Trial, second: Trial) -> None:
    """Raise an error if two trials differ in more than wording and order."""
    if first.item == second.item and first.condition == second.condition and first != second:
        return
    raise UsageError(
        f"{first.id} and {second.id} are no two ends of a flip",
        found="one trial twice"
        if first == second
        else f"items {first.item} and {second.item}, {dict(first.condition)} and "
        f"{dict(second.condition)}",
        expected="one item under two wordings of one polarity, or in two orders",
        remedy="name two such trials",
    )


def _refuse_agreement(first: Judgment, second: Judgment) -> None:
    if _says(first) == _says(second):
        raise UsageError(
            "the two ends say the same",
            found=f"{label_of(first)} in {first.trial.id}, {label_of(second)} in {second.trial.id}",
            expected="two verdicts that differ",
            remedy="name two trials of an item that contradict each other",
        )


# --- one trial in two recordings ------------------------------------------------------------------


def flip_of_recordings(
    place: Place, recorded: RecordedAnswers, suite: Suite, trial: Trial, against: str
) -> Flip:
    """The flip between a trial as it was recorded elsewhere and as it is recorded now.

    Args:
        place: where it is recorded now.
        recorded: what is recorded there.
        suite: that of the trial, without the prompts of the judge.
        trial: of this suite.
        against: the folder of the other recording, or ``git:REF``.

    Raises:
        UsageError: both say the same.
        MissingRecording: one of them holds no answer.
    """
    now = recorded.judgments([trial])
    with TemporaryDirectory(prefix="judgesense-why-") as folder:
        exchanges = _earlier_exchanges(place, recorded, suite, against, Path(folder))
    earlier = RecordedAnswers(recorded.judge, recorded.suite, exchanges)
    then = earlier.judgments([trial])
    if not now:
        raise recorded.not_recorded(trial)
    if not then:
        raise MissingRecording(
            f"{against} holds no answer of judge {recorded.judge.name!r} in trial {trial.id}",
            expected="the folder of another recording of the suite, or git:REF",
            remedy="name another one",
        )
    if _says(then[trial.id]) == _says(now[trial.id]):
        raise UsageError(
            f"trial {trial.id} says the same in both recordings",
            found=f"{label_of(then[trial.id])} at {against}, "
            f"{label_of(now[trial.id])} in {place.cassettes}",
            expected="two verdicts that differ",
            remedy="if the prompt was changed since, record it: judgesense record SUITE "
            f"--judge-name {recorded.judge.name}",
        )
    old, new = earlier.end(against, then[trial.id]), recorded.end("now", now[trial.id])
    return Flip(recorded.judge, recorded.suite, old, new)


def _earlier_exchanges(
    place: Place, recorded: RecordedAnswers, suite: Suite, against: str, folder: Path
) -> Mapping[str, Sequence[Exchange]]:
    """The exchanges of another recording: of a revision, or of a folder of recordings."""
    judge = recorded.judge
    if not against.startswith(REVISION):
        paths = cassettes_in(Path(against), judge.slug, recorded.suite.recordings)
        return recorded_trials(path for path in paths.values() if path.is_file())
    root = Path.cwd()
    revision = Revision.read(against.removeprefix(REVISION), root)
    reader = PastReader(revision, root, root / place.cassettes, folder, 0, place.registry)
    return reader.past(judge, suite).exchanges


# --- what was sent --------------------------------------------------------------------------------


def _asked(trial: Trial, exchanges: Iterable[Exchange]) -> tuple[RecordedRequest, ...]:
    """The one request of a trial; of a function that makes none its call."""
    requests = [*_answered(exchanges)]
    over_http = [request for request in requests if request.method != CALL]
    requests = over_http or requests
    if len(requests) != 1:
        raise UsageError(
            f"trial {trial.id} has no single request whose words could be changed",
            found=f"{len(requests)} requests",
            expected="one request a trial",
        )
    return tuple(requests)


def _answered(exchanges: Iterable[Exchange]) -> Iterator[RecordedRequest]:
    for exchange in exchanges:
        if exchange.answers and exchange.request.method != RETURN:
            yield exchange.request
