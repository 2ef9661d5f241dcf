"""A flip of a judge: two trials of one item, or two recordings of one trial, that say otherwise.

What each of both was asked is told from what was sent, never from a template.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from pytest_judgesense.cassettes.exchange import CALL, RETURN, Exchange, RecordedRequest
from pytest_judgesense.checks.prompt_path import Prompt, PromptPath
from pytest_judgesense.checks.sent import SentPart, parts_sent
from pytest_judgesense.commands.options import place_of, registry_of
from pytest_judgesense.earlier.past import PastReader
from pytest_judgesense.errors import MissingRecording, UsageError, did_you_mean
from pytest_judgesense.judges.calls import judgment_of
from pytest_judgesense.judges.prompts import suite_for_judge
from pytest_judgesense.judges.remembered import recorded_trials, remembered
from pytest_judgesense.judges.spec import JudgeSpec
from pytest_judgesense.questions.place import suite_files
from pytest_judgesense.revisions.revision import Revision
from pytest_judgesense.suites.builtin import cassettes_in
from pytest_judgesense.suites.planning import plan_trials, recording_of
from pytest_judgesense.suites.suite import Suite
from pytest_judgesense.trial import Failed, Judgment, Trial

REVISION: Final = "git:"
_TEXTS: Final[tuple[SentPart, ...]] = ("system prompt", "prompt")
# Of two requests, what no change of words explains.
_OTHERS: Final[tuple[SentPart, ...]] = ("endpoint", "model", "settings", "reply form")
_NOT_COMPARED: Final = "seed"


@dataclass(frozen=True, slots=True)
class FlipEnd:
    """One side of a flip.

    Attributes:
        name: of the wording, the order or the recording, where that differs.
        judgment: what was recorded.
        requests: what was sent.
    """

    name: str
    judgment: Judgment
    requests: tuple[RecordedRequest, ...]

    @property
    def texts(self) -> dict[str, str]:
        """The texts that were sent, by the part of the request."""
        parts = parts_sent(self.requests)
        texts = {part: parts.get(part, {}) for part in _TEXTS}
        return {f"{part} {name}": text for part in _TEXTS for name, text in texts[part].items()}


@dataclass(frozen=True, slots=True)
class Flip:
    """Two ends that say otherwise, of one judge.

    Attributes:
        suite: with the prompts of the judge.
        old: as it is asked today, where the ends are two trials; else the earlier recording.
        of_orders: whether the ends differ in the order of presentation.
    """

    judge: JudgeSpec
    suite: Suite
    old: FlipEnd
    new: FlipEnd
    of_orders: bool = False

    @property
    def prompts(self) -> tuple[Prompt, Prompt]:
        """The texts of both ends; a part that one of them lacks is empty there."""
        old, new = self.old.texts, self.new.texts
        parts = dict.fromkeys((*old, *new))
        return tuple({part: texts.get(part, "") for part in parts} for texts in (old, new))  # type: ignore[return-value]

    def path(self, unit: str) -> PromptPath:
        """The changes between the two prompts.

        Raises:
            UsageError: the ends were sent the same texts, or differ in more than texts.
        """
        old, new = (parts_sent(end.requests) for end in (self.old, self.new))
        for part in _OTHERS:
            if _compared(old.get(part, {})) != _compared(new.get(part, {})):
                raise UsageError(
                    f"what differs between {self.old.name} and {self.new.name} is no text",
                    found=f"the {part}: {_compared(old.get(part, {}))} and "
                    f"{_compared(new.get(part, {}))}",
                    expected="two requests that differ in their texts alone",
                    remedy="compare them: judgesense compare --help has the ways",
                )
        path = PromptPath.between(*self.prompts, "sentences" if unit == "sentences" else "words")
        if not path.changes:
            raise UsageError(
                f"{self.old.name} and {self.new.name} were sent the same texts",
                found=f"{label_of(self.old.judgment)} and {label_of(self.new.judgment)}",
                expected="two prompts that differ",
                remedy="how often the judge differs with itself is its repeat flip rate: "
                "judgesense explain repeat_flip_rate",
            )
        return path


def label_of(judgment: Judgment) -> str:
    """What a judgment says, in the judge's own terms."""
    return judgment.verdict if judgment.verdict is not None else "no verdict"


def flip_of(options: argparse.Namespace) -> Flip:
    """The flip that the options name: two trials, a trial and its partner, or two recordings."""
    judge = place_of(options).judge_to_ask(options.judge_name)
    options.judge_suite = options.judge_suite or _suite_of_trial(options.trial)
    suite = suite_for_judge(place_of(options).suite(options.judge_suite, labelled=False), judge)
    trials = {trial.id: trial for trial in plan_trials(suite)}
    trial = _planned(options.trial, trials, suite)
    paths = cassettes_in(options.judge_cassettes, judge.slug, suite.recordings)
    recorded = recorded_trials(paths.values())
    if options.against is not None:
        return _of_recordings(options, judge, suite, trial, recorded)
    of_item = [other for other in trials.values() if other.item == trial.item]
    judgments = _judgments(judge, suite, of_item, recorded)
    if trial.id not in judgments:
        raise _not_recorded(trial, judge)
    if options.other is None:
        other = _partner(judgments[trial.id], judgments)
    else:
        other = _planned(options.other, trials, suite)
        _refuse_unlike(trial, other)
        if other.id not in judgments:
            raise _not_recorded(other, judge)
    return _of_trials(judge, suite, judgments[trial.id], judgments[other.id], recorded)


def _suite_of_trial(name: str) -> str:
    """The suite that a trial begins with, where its name leads to its file."""
    suite = recording_of(name)
    try:
        suite_files(suite)
    except UsageError as error:
        raise UsageError(
            f"the suite of trial {name} is not found by its name",
            found=suite,
            expected="a built-in suite, or one in a folder of that name in suites",
            remedy="name its file: --judge-suite FILE",
        ) from error
    return suite


def _planned(name: str, trials: Mapping[str, Trial], suite: Suite) -> Trial:
    if name in trials:
        return trials[name]
    meant = did_you_mean(name, list(trials))
    raise UsageError(
        f"suite {suite.name} has no trial {name!r}",
        found=f"{len(trials)} trials, the first is {next(iter(trials), 'none')}",
        expected="a trial as datasheets and logs name it: SUITE/ITEM/TEMPLATE/ORDER/rN",
        remedy=meant or "take it from the evidence of a failing check, or from a judgment log",
    )


def _not_recorded(trial: Trial, judge: JudgeSpec) -> MissingRecording:
    return MissingRecording(
        f"trial {trial.id} of judge {judge.name!r} is not recorded, or has no answer",
        expected="a recording of both ends of the flip",
        remedy=f"record the suite: judgesense record SUITE --judge-name {judge.name}",
    )


def _judgments(
    judge: JudgeSpec,
    suite: Suite,
    trials: Sequence[Trial],
    recorded: Mapping[str, Sequence[Exchange]],
) -> dict[str, Judgment]:
    """Of each trial that was answered."""
    answers = remembered(judge, suite, trials, recorded)
    judgments = (
        judgment_of(suite, judge, trial, answers[trial.id])
        for trial in trials
        if trial.id in answers
    )
    return {
        judgment.trial.id: judgment
        for judgment in judgments
        if not isinstance(judgment.outcome, Failed)
    }


def _says(judgment: Judgment) -> str | None:
    """What is compared: the content that a verdict points at, else the verdict."""
    return judgment.verdict if judgment.chosen is None else judgment.chosen


def _partner(judgment: Judgment, judgments: Mapping[str, Judgment]) -> Trial:
    """The trial that says otherwise: in the other order, else under another wording."""
    trial = judgment.trial

    def alike(other: Trial) -> bool:
        return (other.replicate, other.condition) == (trial.replicate, trial.condition)

    others = [other for other in judgments.values() if alike(other.trial)]
    others.sort(key=lambda other: other.trial.template != trial.template)
    for other in others:
        if _says(other) not in (None, _says(judgment)):
            return other.trial
    raise UsageError(
        f"trial {trial.id} is no flip: it says {label_of(judgment)}, and so do its "
        "other orders and wordings",
        found=f"{len(others)} recorded trials of the item that differ in order or wording alone",
        expected="one of them with another verdict, or another recording",
        remedy="name the other end: judgesense why TRIAL OTHER, or --against git:REF",
    )


def _of_trials(
    judge: JudgeSpec,
    suite: Suite,
    first: Judgment,
    second: Judgment,
    recorded: Mapping[str, Sequence[Exchange]],
) -> Flip:
    _refuse_agreement(first, second)
    old, new = (judgment.trial for judgment in (first, second))
    if old.order == new.order:
        names = old.template, new.template
    elif old.template == new.template:
        names = f"order {old.order}", f"order {new.order}"
    else:
        names = f"{old.template}, {old.order}", f"{new.template}, {new.order}"
    ends = (
        FlipEnd(name, judgment, _asked(judgment.trial, recorded[judgment.trial.id]))
        for name, judgment in zip(names, (first, second), strict=True)
    )
    return Flip(judge, suite, next(ends), next(ends), of_orders=old.order != new.order)


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


def _of_recordings(
    options: argparse.Namespace,
    judge: JudgeSpec,
    suite: Suite,
    trial: Trial,
    recorded: Mapping[str, Sequence[Exchange]],
) -> Flip:
    if options.other is not None:
        raise UsageError(
            "two other ends are named",
            found=f"{options.other} and --against {options.against}",
            expected="one of them",
        )
    now = _judgments(judge, suite, [trial], recorded)
    with TemporaryDirectory(prefix="judgesense-why-") as folder:
        earlier = _earlier(options, judge, suite, Path(folder))
    then = _judgments(judge, suite, [trial], earlier)
    if not now:
        raise _not_recorded(trial, judge)
    if not then:
        raise MissingRecording(
            f"{options.against} holds no answer of judge {judge.name!r} in trial {trial.id}",
            expected="the folder of another recording of the suite, or git:REF",
            remedy="name another one",
        )
    if _says(then[trial.id]) == _says(now[trial.id]):
        raise UsageError(
            f"trial {trial.id} says the same in both recordings",
            found=f"{label_of(then[trial.id])} at {options.against}, "
            f"{label_of(now[trial.id])} in {options.judge_cassettes}",
            expected="two verdicts that differ",
            remedy="if the prompt was changed since, record it: judgesense record SUITE "
            f"--judge-name {judge.name}",
        )
    old = FlipEnd(options.against, then[trial.id], _asked(trial, earlier[trial.id]))
    new = FlipEnd("now", now[trial.id], _asked(trial, recorded[trial.id]))
    return Flip(judge, suite, old, new)


def _earlier(
    options: argparse.Namespace, judge: JudgeSpec, suite: Suite, folder: Path
) -> Mapping[str, Sequence[Exchange]]:
    """The exchanges of another recording: of a revision, or of a folder of recordings."""
    if not options.against.startswith(REVISION):
        paths = cassettes_in(Path(options.against), judge.slug, suite.recordings)
        return recorded_trials(path for path in paths.values() if path.is_file())
    root = Path.cwd()
    revision = Revision.read(options.against.removeprefix(REVISION), root)
    cassettes = root / options.judge_cassettes
    reader = PastReader(revision, root, cassettes, folder, 0, registry_of(options))
    return reader.past(
        judge, place_of(options).suite(options.judge_suite, labelled=False)
    ).exchanges


def _refuse_agreement(first: Judgment, second: Judgment) -> None:
    if _says(first) == _says(second):
        raise UsageError(
            "the two ends say the same",
            found=f"{label_of(first)} in {first.trial.id}, {label_of(second)} in {second.trial.id}",
            expected="two verdicts that differ",
            remedy="name two trials of an item that contradict each other",
        )


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


def _compared(values: Mapping[str, str]) -> dict[str, str]:
    return {
        name: value for name, value in values.items() if name.rpartition(".")[-1] != _NOT_COMPARED
    }
