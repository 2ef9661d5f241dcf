"""Why, as a question: what turns one verdict, or what each sentence of the prompt does."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias, get_args, overload

from pytest_judgesense.cassettes.opening import Mode
from pytest_judgesense.errors import UsageError, listed
from pytest_judgesense.judges.throttle import CONCURRENCY
from pytest_judgesense.questions.place import Place
from pytest_judgesense.questions.terms import AskingTerms
from pytest_judgesense.questions.why.flip import Unit
from pytest_judgesense.questions.why.flip_answer import FlipAnswer
from pytest_judgesense.questions.why.flip_question import FlipQuestion
from pytest_judgesense.questions.why.leave_out_question import LeaveOutAnswer, LeaveOutQuestion
from pytest_judgesense.suites.planning import recording_of

WhyQuestion: TypeAlias = FlipQuestion | LeaveOutQuestion

UNITS: Final[tuple[Unit, ...]] = get_args(Unit)
# The answers of a search are numbered, so that they are recorded or replayed, never asked afresh.
_MODES: Final[tuple[Mode, ...]] = ("replay", "record")
# The id of a trial ends with its replicate; no name of a suite and no path of its file does.
_TRIAL: Final = re.compile(r"[^/]+/.+/r\d+")


def question_of(
    trial_or_suite: str,
    other: str | None = None,
    *,
    leave_out: bool,
    against: str | None,
    suite: str | None,
    by: str | None,
    items: int | None,
    times: int | None,
    judge: str | None,
    place: Place,
    terms: AskingTerms,
) -> WhyQuestion:
    """The question that these arguments ask; see `why`.

    Raises:
        UsageError: a suite is named without ``leave_out``, or a trial with it, or an argument goes
            with the other question.
    """
    of_flips = {"OTHER": other, "--against": against, "--judge-suite": suite, "--by": by}
    if leave_out:
        _refuse_trial(trial_or_suite)
        _refuse_given(of_flips, "a trial, not with --leave-out")
        return LeaveOutQuestion(trial_or_suite, judge, items, times, place, terms)
    _refuse_suite(trial_or_suite, place)
    _refuse_given({"--items": items, "--times": times}, "--leave-out, not with a trial")
    return FlipQuestion(
        trial_or_suite, other, against, suite, judge, _unit(by or UNITS[0]), place, terms
    )


@overload
def why(
    trial_or_suite: str,
    other: str | None = ...,
    *,
    leave_out: Literal[False] = ...,
    against: str | None = ...,
    suite: str | None = ...,
    by: Unit | None = ...,
    judge: str | None = ...,
    mode: Mode = ...,
    cassettes: str | Path | None = ...,
    concurrency: int = ...,
    max_calls: int | None = ...,
    max_cost: float | None = ...,
    max_unparsed: int = ...,
    seed: int = ...,
) -> FlipAnswer: ...


@overload
def why(
    trial_or_suite: str,
    *,
    leave_out: Literal[True],
    items: int | None = ...,
    times: int | None = ...,
    judge: str | None = ...,
    mode: Mode = ...,
    cassettes: str | Path | None = ...,
    concurrency: int = ...,
    max_calls: int | None = ...,
    max_cost: float | None = ...,
    max_unparsed: int = ...,
    seed: int = ...,
) -> LeaveOutAnswer: ...


def why(
    trial_or_suite: str,
    other: str | None = None,
    *,
    leave_out: bool = False,
    against: str | None = None,
    suite: str | None = None,
    by: Unit | None = None,
    items: int | None = None,
    times: int | None = None,
    judge: str | None = None,
    mode: Mode = "replay",
    cassettes: str | Path | None = None,
    concurrency: int = CONCURRENCY,
    max_calls: int | None = None,
    max_cost: float | None = None,
    max_unparsed: int = 20,
    seed: int = 0,
) -> FlipAnswer | LeaveOutAnswer:
    """What in the prompt makes a verdict so, as ``judgesense why`` says it.

    Of a trial: the smallest change of the prompt that turns its verdict. With ``leave_out``, of a
    suite: what each sentence of the judge's prompt does to the verdicts on its items.

    Args:
        trial_or_suite: an end of a flip, SUITE/ITEM/TEMPLATE/ORDER/rN; with ``leave_out`` a suite:
            its name, NAME@PRESET or its file.
        other: the trial that says otherwise; ``None`` for the one in the other order, else the
            first under another wording.
        leave_out: whether sentences are left out.
        against: another recording of the trial, in place of ``other``: a folder, or ``git:REF``.
        suite: that of the trial, its name or its file; ``None`` for the one it begins with.
        by: what a change is: ``words`` (``None``) or ``sentences``.
        items: with ``leave_out``: how many items are drawn; ``None`` for the usual number.
        times: with ``leave_out``: how often each is asked with the whole prompt; likewise.
        judge: the name of a declared judge, or ``provider:model``; ``None`` for the declared one.
        mode: ``replay`` makes no calls; ``record`` makes those that are not recorded yet.
        cassettes: the folder of the recordings; that of pytest if not given.
        concurrency: the most calls under way at once.
        max_calls: the most calls, retries among them; ``None`` sets no limit, but a search for the
            cause of a flip ends after 60 answers.
        max_cost: the most that they may cost in USD, by the prices of the judge.
        max_unparsed: with ``leave_out``: calls end if so many first replies all lack a verdict; 0:
            never.
        seed: of the draw of items.

    Raises:
        UsageError: an argument is wrong, or there is no such flip or prompt.
        MissingRecording: replaying, and something is not recorded; it says how to record it.
        JudgeError: a call failed; what was answered before is recorded.
        LimitReached: a call would pass a limit; the answers so far are recorded.
    """
    if mode not in _MODES:
        raise UsageError(f"mode {mode!r} is unknown", expected=f"one of {listed(_MODES)}")
    return question_of(
        trial_or_suite,
        other,
        leave_out=leave_out,
        against=against,
        suite=suite,
        by=by,
        items=items,
        times=times,
        judge=judge,
        place=Place.with_recordings(cassettes),
        terms=AskingTerms(mode, concurrency, max_calls, max_cost, max_unparsed, seed),
    ).answer()


def _unit(name: str) -> Unit:
    for unit in UNITS:
        if unit == name:
            return unit
    raise UsageError(f"--by {name} is unknown", expected=f"one of {listed(UNITS)}")


def _refuse_given(values: Mapping[str, Any], belonging: str) -> None:
    """Raise an error if an argument of the other question is given."""
    given = [name for name, value in values.items() if value is not None]
    if given:
        raise UsageError(
            f"{given[0]} goes with {belonging}",
            found=listed(given),
            expected=f"either {_FORMS}",
        )


def _refuse_trial(name: str) -> None:
    """Raise an error if what sentences are left out of is a trial."""
    if _TRIAL.fullmatch(name) and not Path(name).exists():
        raise UsageError(
            f"{name} is a trial, and sentences are left out on the items of a suite",
            found=f"--leave-out with {name}",
            expected=f"either {_FORMS}",
            remedy=f"what turns this verdict: judgesense why {name}; what each sentence does: "
            f"judgesense why {recording_of(name)} --leave-out",
        )


def _refuse_suite(name: str, place: Place) -> None:
    """Raise an error if what is to be turned is no trial."""
    if not _TRIAL.fullmatch(name):
        both = "what turns a verdict: judgesense why SUITE/ITEM/TEMPLATE/ORDER/rN"
        if place.registry.leave_out is not None:
            both += f"; what each sentence of the prompt does: judgesense why {name} --leave-out"
        raise UsageError(
            f"{name} is no trial",
            found=name,
            expected="a trial as datasheets and logs name it: SUITE/ITEM/TEMPLATE/ORDER/rN",
            remedy=both,
        )


_FORMS: Final = "judgesense why TRIAL, or judgesense why SUITE --leave-out"
