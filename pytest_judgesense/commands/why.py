"""``judgesense why TRIAL``: the smallest change of a prompt that turns a verdict.

The two ends of a flip are asked several times each, and told apart or called noise; then hybrids of
the two prompts are asked, by a bisection that expects noise (`stats.bisection`), until one change
holds the turn. It is named once answers of its own tell the prompts just before it and just with it
apart. All answers are recorded, and a replay goes the same way.
"""

from __future__ import annotations

import argparse
import json
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from pytest_judgesense.checks.prompt_path import PromptPath
from pytest_judgesense.commands.flip import Flip, FlipEnd, flip_of, label_of
from pytest_judgesense.commands.hybrids import asking_hybrids
from pytest_judgesense.commands.live_calls import add_terms, terms_of
from pytest_judgesense.commands.options import (
    FILE,
    OUTPUT,
    add_judge,
    registry_of,
    show,
)
from pytest_judgesense.errors import UsageError
from pytest_judgesense.files.output import write_text
from pytest_judgesense.judges.spec import FREE, table_of
from pytest_judgesense.questions.terms import AskingTerms
from pytest_judgesense.stats.bisection import (
    AFRESH,
    CONTRAST_CALLS,
    FEWEST,
    LEVEL_OF_TWO,
    Cause,
    CauseSearch,
    Contrast,
    begin,
    p_of_rows,
)
from pytest_judgesense.text.layout import indented
from pytest_judgesense.trial import content_of_slot

# Of the search, where no limit is set.
_ANSWERS: Final = 60
_FEWEST_ANSWERS: Final = 2 * FEWEST + CONTRAST_CALLS  # with less nothing could be named
_CHARACTERS_A_TOKEN: Final = 4
_UNITS: Final = {"words": "word", "sentences": "sentence"}
# Of the answers of both ends, from which share on one slot is what the judge names.
_MOSTLY: Final = 0.75


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the two ends, the judge, the limits, and the file."""
    text = "a trial, as datasheets and logs name it: SUITE/ITEM/TEMPLATE/ORDER/rN"
    parser.add_argument("trial", metavar="TRIAL", help=text)
    text = "the trial that says otherwise (default: the one in the other order, else the first "
    text += "under another wording)"
    parser.add_argument("other", metavar="OTHER", nargs="?", help=text)
    text = "compare with the same trial in another recording: a folder, or git:REF"
    parser.add_argument("--against", metavar="PLACE", help=text)
    add_judge(parser)
    text = "the suite, or its file (default: the one that the trial begins with)"
    parser.add_argument("--judge-suite", metavar="SUITE", help=text)
    text = "what a change is (default: words)"
    parser.add_argument("--by", choices=[*_UNITS], default="words", help=text)
    parser.add_argument("-o", "--output", help=f"{OUTPUT}, as JSON", **FILE)
    add_terms(parser)


def run(options: argparse.Namespace) -> int:
    """Print the ends and the price, ask, and print the cause."""
    flip = flip_of(options)
    path = flip.path(options.by)
    terms = terms_of(options)
    most = _most_answers(terms)
    show(_plan_lines(flip, path, most))
    if options.plan:
        return 0
    search = begin(len(path.changes), most)
    with asking_hybrids(
        flip,
        path,
        options.judge_cassettes,
        terms,
        registry_of(options),
        f"record it: {_command(options)} (at most {most} calls, cost: {_cost(flip, path, most)})",
    ) as asker:
        while (hybrid := search.question) is not None:
            search = search.learn(label_of(asker.ask(hybrid)))
    show(["", *_cause_lines(flip, path, search)])
    if options.output is not None:
        write_text(options.output, json.dumps(_plain(flip, path, search), indent=2) + "\n")
        show([f"written: {options.output}"])
    return 0


def _command(options: argparse.Namespace) -> str:
    """The command that records what a replay has not found."""
    words = ["judgesense", "why", options.trial, *([options.other] if options.other else [])]
    for name in ("against", "judge_name", "judge_suite"):
        if value := getattr(options, name):
            words += [f"--{name.replace('_', '-')}", str(value)]
    if options.by != "words":
        words += ["--by", options.by]
    if options.judge_cassettes != Path("cassettes"):
        words += ["--judge-cassettes", str(options.judge_cassettes)]
    return shlex.join([*words, "--judge-mode", "record"])


def _most_answers(terms: AskingTerms) -> int:
    """How many answers the search may take: as many as calls may be made."""
    most = _ANSWERS if terms.max_calls is None else terms.max_calls
    if most < _FEWEST_ANSWERS:
        raise UsageError(
            f"--judge-max-calls {most} is too small",
            expected=f"at least {_FEWEST_ANSWERS}: with less no change is confirmed",
        )
    return most


# --- what is printed ------------------------------------------------------------------------------


def _plan_lines(flip: Flip, path: PromptPath, most: int) -> Iterator[str]:
    """The two ends, how far they are apart, and what the search may cost."""
    ends = f"{flip.old.name} ({label_of(flip.old.judgment)}) and {flip.new.name} "
    ends += f"({label_of(flip.new.judgment)})"
    heading = f"{flip.old.judgment.trial.id}, judge {flip.judge.name}: {ends}"
    yield from indented(heading, width=0)
    count = len(path.changes)
    unit = _UNITS[path.unit]
    yield f"  1 {unit} differs" if count == 1 else f"  {count} {unit}s differ"
    yield f"  at most {most} calls, fewer where they are recorded; cost: {_cost(flip, path, most)}"
    confirming = (
        f"{CONTRAST_CALLS} of them confirm a change ({AFRESH} just before it, {AFRESH} with it)"
    )
    confirming += f", {CONTRAST_CALLS} more each change of a set"
    if flip.judge.prices is not None:
        confirming += f"; cost of {CONTRAST_CALLS}: {_cost(flip, path, CONTRAST_CALLS)}"
    yield from indented(confirming, width=2)


def _cost(flip: Flip, path: PromptPath, most: int) -> str:
    judge = flip.judge
    if (prices := judge.prices) is None:
        return (
            "none" if judge.provider in FREE else f"unknown; set prices in {table_of(judge.name)}"
        )
    texts = max(sum(map(len, prompt.values())) for prompt in (path.old, path.new))
    prompt = most * (texts / _CHARACTERS_A_TOKEN) * prices.prompt
    return f"up to {(prompt + most * judge.max_tokens * prices.completion) / 1e6:.4f} USD"


def _cause_lines(flip: Flip, path: PromptPath, search: CauseSearch) -> Iterator[str]:
    cause = search.cause
    at_old, at_new = _at_ends(search)
    yield from indented(
        f"asked again: {_answers(flip.old, at_old)}; {_answers(flip.new, at_new)} "
        f"(Fisher's exact test: p {cause.p_ends:.3g})",
        width=2,
    )
    if cause.outcome == "noise":
        yield from indented(_noise(flip, at_old, at_new), width=2)
    elif cause.change is None:
        yield from indented(
            "undecided: the answers do not tell the two ends apart yet; raise --judge-max-calls",
            width=2,
        )
    else:
        yield from _place_lines(flip, path, search)


def _answers(end: FlipEnd, verdicts: Sequence[str]) -> str:
    counts = ", ".join(f"{label} {count}" for label, count in Counter(verdicts).most_common())
    return f"{end.name}: {counts}"


def _noise(flip: Flip, at_old: Sequence[str], at_new: Sequence[str]) -> str:
    """What ends that answer alike say: the slot decides, or nothing does."""
    if flip.of_orders:
        contents = [
            [content_of_slot(verdict, end.judgment.trial.order) for verdict in verdicts]
            for end, verdicts in ((flip.old, at_old), (flip.new, at_new))
        ]
        label, count = Counter((*at_old, *at_new)).most_common(1)[0]
        share = count / (len(at_old) + len(at_new))
        if share >= _MOSTLY and p_of_rows(*contents) <= LEVEL_OF_TWO:
            return (
                f"the slot decides: the judge says {label} in {count} of "
                f"{len(at_old) + len(at_new)} answers, whichever text stands there; no word of the "
                "texts turns it"
            )
    return (
        "noise: asked again, both ends answer alike, so the flip is the judge's own and no change "
        "of the prompt explains it; judgesense explain repeat_flip_rate"
    )


def _place_lines(flip: Flip, path: PromptPath, search: CauseSearch) -> Iterator[str]:
    cause = search.cause
    if cause.outcome != "named":
        yield from _unconfirmed_lines(path, search)
        return
    assert cause.change is not None, "a change is named"
    assert cause.turn is not None, "a change is named once it was asked afresh"
    unit, of = _UNITS[path.unit], len(path.changes)
    yield from indented(
        f"it turns at {unit} {cause.change + 1} of {of} that differ: "
        f"{_afresh(cause.turn, 'just before it', 'just with it')}; {cause.calls} answers in all",
        width=2,
    )
    yield from _diff_lines(flip, path, cause.needed)
    yield from indented(_alone(cause, unit), width=2)


def _afresh(contrast: Contrast, without: str, made: str) -> str:
    """What a contrast came to, in words."""
    before, after = contrast.counts
    return (
        f"asked afresh, the judge says {contrast.turned.label} in {before} of {AFRESH} answers "
        f"{without} and in {after} of {AFRESH} {made} (one-sided p {contrast.p:.2g})"
    )


def _unconfirmed_lines(path: PromptPath, search: CauseSearch) -> Iterator[str]:
    """That no change is named, why, and the share of the turned verdict along the path."""
    cause = search.cause
    assert cause.turned is not None, "the ends are told apart"
    unit = _UNITS[path.unit]
    if cause.turn is None:
        evidence = "no change was likely enough to be asked afresh"
    else:
        place = f"{unit} {len(cause.turn.made)} of {len(path.changes)}"
        evidence = _afresh(cause.turn, f"just before {place}", "just with it")
    advice = "raise --judge-max-calls"
    if search.has_given_up:
        advice = "several seem to add: take longer steps with --by sentences, or read the curve"
    yield from indented(
        f"not confirmed: one change or several turn it; {evidence}, {cause.calls} answers in all; "
        f"{advice}",
        width=2,
    )
    yield f"  {cause.turned.label} with the first {unit}s changed, the last of them in brackets:"
    for point in cause.curve:
        change = path.changes[point.made - 1] if point.made else None
        last = "" if change is None else f"  [{' '.join((change.added or change.removed).split())}]"
        yield from _hanging(f"    {point.made:>4}  ", f"{point.count} of {point.asked}{last}")


def _alone(cause: Cause, unit: str) -> str:
    """Whether the change that is named is enough, and with which others."""
    if cause.complete and len(cause.needed) == 1:
        return f"this {unit} is enough alone: {_afresh_alone(cause.members[0])}"
    if cause.complete:
        with_all = sum(contrast.counts[1] for contrast in cause.members)
        fewer = ", ".join(str(contrast.counts[0]) for contrast in cause.members)
        return (
            f"these {len(cause.needed)} {unit}s together are enough: asked afresh, the judge says "
            f"{cause.members[0].turned.label} in {with_all} of {AFRESH * len(cause.members)} "
            f"answers with them, and in {fewer} of {AFRESH} each without one of them"
        )
    if cause.members:
        afresh = (
            _afresh_alone(cause.members[-1])
            if len(cause.members[-1].made) == 1
            else _afresh(cause.members[-1], "without one of those found with it", "with them")
        )
        return f"whether this {unit} is enough alone is not confirmed: {afresh}"
    if cause.alone is False:
        return (
            f"this {unit} is not enough alone, and which others before it are needed is not "
            "confirmed: raise --judge-max-calls"
        )
    return f"whether this {unit} is enough alone is not confirmed: raise --judge-max-calls"


def _afresh_alone(contrast: Contrast) -> str:
    return _afresh(contrast, "with no change", "with no other change")


def _diff_lines(flip: Flip, path: PromptPath, changes: Iterable[int]) -> Iterator[str]:
    """The changes in their surroundings, with the verdict on both sides."""
    old, new = label_of(flip.old.judgment), label_of(flip.new.judgment)
    width = max(len(old), len(new))
    for before, removed, added, after in path.around([*changes]):
        yield ""
        for sign, label, text in (("-", old, removed), ("+", new, added)):
            marked = f"[{' '.join(text.split())}]" if text.strip() else "[]"
            words = " ".join((*before.split(), marked, *after.split()))
            yield from _hanging(f"    {sign} {label:<{width}}  ", words)
    yield ""


def _hanging(head: str, text: str) -> Iterator[str]:
    lines = [*indented(text, width=len(head))]
    yield head + lines[0].strip()
    yield from lines[1:]


# --- the file -------------------------------------------------------------------------------------


def _at_ends(search: CauseSearch) -> tuple[list[str], list[str]]:
    """The verdicts at the old and at the new end that were compared."""
    old, new = ([str(verdict) for verdict in verdicts] for verdicts in search.ends)
    return old, new


def _plain(flip: Flip, path: PromptPath, search: CauseSearch) -> dict[str, Any]:
    """The search as a file holds it."""
    cause = search.cause
    return {
        "judge": flip.judge.name,
        "ends": [
            {
                "name": end.name,
                "trial": end.judgment.trial.id,
                "recorded": label_of(end.judgment),
                "asked_again": verdicts,
            }
            for end, verdicts in zip((flip.old, flip.new), _at_ends(search), strict=True)
        ],
        "unit": path.unit,
        "changes": [
            {"part": change.part, "removed": change.removed, "added": change.added}
            for change in path.changes
        ],
        "outcome": cause.outcome,
        "p_ends": cause.p_ends,
        "change": cause.change,
        "probability": cause.probability,
        "span": cause.span,
        "alone": cause.alone,
        "needed": list(cause.needed),
        "complete": cause.complete,
        "afresh": [_plain_contrast(contrast) for contrast in (*search.turns, *search.members)],
        "turned": None if cause.turned is None else cause.turned.label,
        "curve": [
            {"made": point.made, "count": point.count, "asked": point.asked}
            for point in cause.curve
        ],
        "answers": [
            {"made": list(answer.hybrid), "verdict": answer.verdict} for answer in search.answers
        ],
    }


def _plain_contrast(contrast: Contrast) -> dict[str, Any]:
    """Eight answers without a change and eight with it, as a file holds them."""
    without, made = contrast.counts
    return {
        "without": {"made": list(contrast.without), "count": without, "asked": AFRESH},
        "with": {"made": list(contrast.made), "count": made, "asked": AFRESH},
        "p": contrast.p,
        "confirmed": contrast.is_confirmed,
    }
