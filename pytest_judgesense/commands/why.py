"""``judgesense why TRIAL``: the smallest change of a prompt that turns a verdict.

The two ends of a flip are asked several times each, and told apart or called noise; then hybrids of
the two prompts are asked, by a bisection that expects noise (`stats.bisection`), until one change
holds the turn. All answers are recorded, and a replay goes the same way.
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
from pytest_judgesense.commands.options import (
    FILE,
    FLAG,
    JUDGE,
    OUTPUT,
    add_cassettes,
    number,
    registry_of,
    show,
)
from pytest_judgesense.judges.spec import FREE, table_of
from pytest_judgesense.judges.throttle import Deadline, SessionBudget
from pytest_judgesense.layout import indented
from pytest_judgesense.output import write_text
from pytest_judgesense.stats.bisection import (
    LEVEL_OF_TWO,
    Cause,
    CauseSearch,
    Hybrid,
    begin,
    p_of_rows,
)
from pytest_judgesense.trial import content_of_slot

_CALLS: Final = 60
_FEWEST_CALLS: Final = 6
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
    parser.add_argument("--judge-name", metavar="NAME", help=f"{JUDGE} (default: the declared one)")
    text = "the suite, or its file (default: the one that the trial begins with)"
    parser.add_argument("--judge-suite", metavar="SUITE", help=text)
    text = "record: ask what is not recorded yet (the default); replay: recorded answers"
    parser.add_argument("--judge-mode", choices=["record", "replay"], default="record", help=text)
    text = "what a change is (default: words)"
    parser.add_argument("--by", choices=[*_UNITS], default="words", help=text)
    text = f"the most answers that the search takes (default: {_CALLS})"
    reader = number("max-calls", int, least=_FEWEST_CALLS)
    parser.add_argument("--judge-max-calls", type=reader, default=_CALLS, help=text)
    text = "maximum cost in USD, by the prices of the judge"
    parser.add_argument("--judge-max-cost", type=number("max-cost", float), help=text)
    parser.add_argument("--plan", help="print the ends and the price, and ask nothing", **FLAG)
    parser.add_argument("-o", "--output", help=f"{OUTPUT}, as JSON", **FILE)
    add_cassettes(parser)


def run(options: argparse.Namespace) -> int:
    """Print the ends and the price, ask, and print the cause."""
    flip = flip_of(options)
    path = flip.path(options.by)
    show(_plan_lines(flip, path, options.judge_max_calls))
    if options.plan:
        return 0
    search = begin(len(path.changes), options.judge_max_calls)
    limits = SessionBudget(None, options.judge_max_cost, deadline=Deadline())
    with asking_hybrids(
        flip,
        path,
        options.judge_cassettes,
        options.judge_mode,
        limits,
        registry_of(options),
        f"record it: {_command(options)}",
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
    return shlex.join(words)


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
    at_old, at_new = _at_ends(path, search)
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
        yield from _place_lines(flip, path, cause)


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


def _place_lines(flip: Flip, path: PromptPath, cause: Cause) -> Iterator[str]:
    assert cause.change is not None, "the ends are told apart"
    unit, of = _UNITS[path.unit], len(path.changes)
    if cause.outcome == "undecided":
        first, last = cause.span or (0, of - 1)
        yield from indented(
            f"after {cause.calls} answers the verdict turns between {unit} {first + 1} and "
            f"{last + 1} of {of} that differ (most probably at {unit} {cause.change + 1}, "
            f"{cause.probability:.2f}); raise --judge-max-calls to narrow it down",
            width=2,
        )
        yield from _diff_lines(flip, path, range(first, last + 1))
        return
    yield from indented(
        f"it turns at {unit} {cause.change + 1} of {of} that differ (probability "
        f"{cause.probability:.2f}, {cause.calls} answers):",
        width=2,
    )
    yield from _diff_lines(flip, path, cause.needed or (cause.change,))
    yield from indented(_alone(flip, cause, unit), width=2)


def _alone(flip: Flip, cause: Cause, unit: str) -> str:
    if cause.complete and len(cause.needed) == 1:
        new = label_of(flip.new.judgment)
        return f"this {unit} is enough alone: with no other change the judge says {new} as well"
    if cause.complete:
        return (
            f"these {len(cause.needed)} {unit}s together are enough; the last of them turns the "
            f"verdict where the others are made"
        )
    if cause.alone is False:
        return (
            f"this {unit} is not enough alone: others before it are needed as well; raise "
            "--judge-max-calls to find them"
        )
    return f"whether this {unit} is enough alone is not known: raise --judge-max-calls"


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


def _at_ends(path: PromptPath, search: CauseSearch) -> tuple[list[str], list[str]]:
    """The verdicts at the old and at the new end."""
    every: Hybrid = tuple(range(len(path.changes)))
    old, new = (
        [str(answer.verdict) for answer in search.answers if answer.hybrid == end]
        for end in ((), every)
    )
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
            for end, verdicts in zip((flip.old, flip.new), _at_ends(path, search), strict=True)
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
        "answers": [
            {"made": list(answer.hybrid), "verdict": answer.verdict} for answer in search.answers
        ],
    }
