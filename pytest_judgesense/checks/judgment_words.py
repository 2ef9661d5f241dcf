"""What single judgments say, in words, for the texts about checks. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from pytest_judgesense.cassettes.exchange import CALL, NO_RESPONSE, RETURN, Exchange
from pytest_judgesense.files.limits import json_value
from pytest_judgesense.measures.every_suite import Group
from pytest_judgesense.replies import CUT_OFF
from pytest_judgesense.text.layout import excerpt
from pytest_judgesense.trial import REASONED, Failed, Judgment, Trial, Unparsed

# How many groups, reasons or flips are shown of many.
MOST_SHOWN: Final = 3
# Characters of a reply in an example.
_QUOTED: Final = 30
# What may distinguish the trials of an example, in order of preference.
_AXES: Final[Mapping[str, Callable[[Trial], str]]] = {
    "order": lambda trial: f"order {trial.order}",
    "template": lambda trial: str(trial.template),
    "item": lambda trial: str(trial.item),
    "replicate": lambda trial: f"run {trial.replicate}",
}


def judgment_words(judgment: Judgment) -> str:
    """What a judgment says, and the label of its trial."""
    label = judgment.trial.label
    of_label = "" if label is None else f" (label {content_words(judgment, label)})"
    return f"{_outcome_words(judgment)}{of_label}"


def _outcome_words(judgment: Judgment) -> str:
    if isinstance(judgment.outcome, Unparsed):
        reason = excerpt(judgment.outcome.reason, 120)
        if spent := spent_words(judgment):
            reason = f"{reason}: {spent}"
        return f"unparsed ({reason})"
    if isinstance(judgment.outcome, Failed):
        return f"failed ({excerpt(judgment.outcome.reason, 60)})"
    text, content = judgment.outcome.value, judgment.chosen
    return text if content in (None, text) else f"{text}, {content_words(judgment, content)}"


def content_words(judgment: Judgment, content: str | None) -> str:
    """A content of a pair as such; a label as it is."""
    is_pair = judgment.chosen is not None and "polarity" not in judgment.trial.condition
    return f"content {content}" if is_pair and content in ("1", "2") else str(content)


def verdict_words(judgment: Judgment) -> str:
    """The verdict, and the reply where it says more."""
    verdict, reply = judgment.verdict, (judgment.reply or "").strip()
    if not reply or (
        verdict and (len(verdict) > _QUOTED or reply.casefold() == verdict.casefold())
    ):
        return _short_verdict(judgment)
    return f'{_short_verdict(judgment)} ("{excerpt(reply, _QUOTED)}")'


def _short_verdict(judgment: Judgment) -> str:
    return "no verdict" if judgment.verdict is None else excerpt(judgment.verdict, _QUOTED)


def group_words(group: Group) -> str:
    """What the judgments of a group say: one alone, or two that contradict each other."""
    first = group[0]
    if len(group) > 1:
        return _contradiction(group)
    if first.verdict is None or first.reply is None:
        return _outcome_words(first)
    words = f'replies "{excerpt(first.reply, _QUOTED)}"'
    if first.chosen not in (None, first.verdict):
        words += f", which is {content_words(first, first.chosen)}"
    return words


def _contradiction(group: Group) -> str:
    """What the first judgment of a group says, and the first that contradicts it."""
    first = group[0]
    other = next((judgment for judgment in group if judgment.verdict != first.verdict), group[1])
    axis = next(
        (name_of for name_of in _AXES.values() if name_of(first.trial) != name_of(other.trial)),
        _AXES["replicate"],
    )
    words = _unlike_parts(first.verdict, other.verdict) or [*map(verdict_words, (first, other))]
    if first.verdict == other.verdict and first.trial.order != other.trial.order:
        replies = "" if words[0] == words[1] else f": {words[0]}, {words[1]}"
        return f"{_short_verdict(first)} in both orders{replies}"
    return f"{axis(first.trial)} gives {words[0]}, {axis(other.trial)} gives {words[1]}"


def _unlike_parts(first: str | None, other: str | None) -> list[str]:
    """The parts in which two verdicts of several parts differ; nothing of other verdicts."""
    try:
        both = [json_value(verdict or "") for verdict in (first, other)]
    except ValueError:
        return []
    if not all(isinstance(parts, dict) for parts in both):
        return []
    names = [name for name in {**both[0], **both[1]} if both[0].get(name) != both[1].get(name)]
    return [", ".join(f"{name} {parts.get(name)}" for name in names) for parts in both if names]


def failure_lines(judgments: Iterable[Judgment]) -> Iterator[str]:
    """Why calls failed: the most frequent reasons with counts and one trial each."""
    return reason_lines(
        {
            judgment.trial.id: judgment.outcome.reason
            for judgment in judgments
            if isinstance(judgment.outcome, Failed)
        }
    )


def reason_lines(failed: Mapping[str, str]) -> Iterator[str]:
    """The same of the reasons of ``failed`` trials, by trial."""
    by_reason: dict[str, list[str]] = {}
    for trial, reason in failed.items():
        by_reason.setdefault(reason, []).append(trial)
    ranked = sorted(by_reason.items(), key=lambda pair: (-len(pair[1]), pair[0]))
    for reason, trials in ranked[:MOST_SHOWN]:
        yield f"{len(trials)} failed, the first {trials[0]}: {excerpt(reason, 160)}"
    if len(ranked) > MOST_SHOWN:
        yield f"... and {len(ranked) - MOST_SHOWN} more reasons of failed calls"


def spent_words(judgment: Judgment) -> str:
    """What a reply without a text took that its length ended; empty for every other judgment."""
    if judgment.outcome != CUT_OFF or (judgment.reply or "").strip():
        return ""
    usage = judgment.usage
    if usage.completion_tokens is None:
        return "the whole budget was spent before the reply"
    if not usage.reasoning_tokens:
        return f"{usage.completion_tokens} tokens were spent before the reply"
    return f"{usage.reasoning_tokens} of {usage.completion_tokens} tokens were reasoning"


def spent_lines(judgments: Iterable[Judgment]) -> Iterator[str]:
    """How many replies were cut off before they began, what one of them took, and what to do."""
    spent = [judgment for judgment in judgments if spent_words(judgment)]
    if spent:
        yield (
            f"{len(spent)} cut off before the verdict, the first {spent[0].trial.id}: "
            f"{spent_words(spent[0])}: raise max_tokens"
        )


def contradicted_lines(judgments: Iterable[Judgment]) -> Iterator[str]:
    """How many replies reason for another verdict than they state, with an example."""
    contradicted = [judgment for judgment in judgments if (judgment.detail or {}).get(REASONED)]
    if contradicted:
        first = contradicted[0]
        count = len(contradicted)
        replies = f"{count} replies conclude" if count > 1 else "1 reply concludes"
        yield (
            f"{replies} in the reasoning with another verdict than the JSON states, which counts, "
            f"the first {first.trial.id}: reasoning {(first.detail or {})[REASONED]}, "
            f"JSON {first.verdict}"
        )


def swallowed_lines(
    judgments: Iterable[Judgment], recorded: Mapping[str, Sequence[Exchange]]
) -> Iterator[str]:
    """How many verdicts a function gave although every request of the trial failed."""
    swallowed = []
    for judgment in judgments:
        exchanges = recorded.get(judgment.trial.id, ())
        statuses = [e.response.status for e in exchanges if e.request.method not in (CALL, RETURN)]
        if judgment.verdict is not None and statuses and not any(map(_is_answer, statuses)):
            swallowed.append((judgment, statuses[-1]))
    if swallowed:
        first, status = swallowed[0]
        got = f"HTTP {status}" if status != NO_RESPONSE else "no response"
        yield (
            f"{len(swallowed)} verdicts came from the function although all its requests failed, "
            f"the first {first.trial.id}: {got}, and {first.verdict}: let it raise the error"
        )


def _is_answer(status: int) -> bool:
    return status != NO_RESPONSE and status < 400


def number_words(detail: Mapping[str, Any]) -> Iterator[str]:
    """The numbers that a reply states beside its verdict, by their names: measures read them."""
    for name, value in detail.items():
        if isinstance(value, float):
            yield f"{name} {value:g}"
        elif isinstance(value, int) and not isinstance(value, bool):
            yield f"{name} {value}"
        elif isinstance(value, Mapping) and any(
            isinstance(part, Mapping) for part in value.values()
        ):
            yield from number_words(value)
        elif isinstance(value, Mapping) and (inner := list(number_words(value))):
            yield f"{name} {' '.join(inner)}"


def items_words(count: int, items: Sequence[str]) -> str:
    """How many there are, and on how many items: ``2, on 1 item``."""
    return f"{count}, on {len(items)} item{'s' * (len(items) != 1)}"
