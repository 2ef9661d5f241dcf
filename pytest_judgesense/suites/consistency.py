"""Whether the parts of a suite fit each other, and whether it can measure at all. Pure.

Of every suite: templates, items and decision space. Of those that measure a judge as an instrument
(`vacuum`, `ladder`, `criterion`), before anything is asked:

- the prefix chain holds: each level has a sentence that no level below it has, and such sentences
  stand in all levels above, so that a higher level lacks nothing that a lower one has gained;
- lengths are matched: the longest text of a task has at most 10% more words than the shortest, or
  sensitivity could be a liking for length;
- a ladder is asked in both presentation orders, or sensitivity could be a liking for a slot;
- no item shows its id, its label or its level.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from pytest_judgesense.errors import SuiteError
from pytest_judgesense.suites.prompt_template import placeholders
from pytest_judgesense.suites.schema import LadderTask, QuarterTask
from pytest_judgesense.suites.suite import Item, Suite

__all__ = ["pooled", "verify_chain", "verify_suite"]

_SENTENCE_END: Final = re.compile(r"(?<=[.!?])\s+|\n+")
_MOST_LONGER: Final = 1.1
# A mark of rank as a generator of stimuli would leave it: "label: 1", "[level=3]", "winner: B".
_MARK: Final = re.compile(
    r"\b(?:gold|label|level|winner|better|quality|distance|subset|rank)[ _]?(?:id)?\s*[:=]\s*"
    r"[\"']?(?:\d|[AB]\b|tie\b|same\b|different\b|filler\b)",
    re.IGNORECASE,
)


def verify_suite(suite: Suite) -> None:
    """Nothing, if every template can be filled for every item, and every label is one and hidden.

    Raises:
        SuiteError: a template asks for a field that an item lacks, or hides a candidate; a label is
            outside the decision space, or stands in a prompt; or a ladder is asked in one order.
    """
    _verify_candidates(suite)
    _verify_fields(suite)
    _verify_labels(suite)
    if suite.kind in ("ladder", "criterion"):
        _verify_orders(suite)
    if suite.kind != "paraphrase":
        for item in suite.items:
            _verify_hidden(suite, item)


def verify_chain(task: LadderTask | QuarterTask, where: str) -> None:
    """Nothing, if the levels of a ladder task form a prefix chain of texts of one length.

    Args:
        task: the line of the stimuli file.
        where: the file, for messages.

    Raises:
        SuiteError: a level lacks a sentence that a level below it has gained, gains none itself,
            or is longer or shorter than the others.
    """
    if isinstance(task, QuarterTask):
        chains: Mapping[str, Sequence[str]] = {"quarters": task.quarters}
        others: list[str] = []
    else:
        chains = {"levels": task.levels, "rewordings": task.rewordings}
        others = [other.text for other in task.alternatives]
        others += [filler.text for filler in task.fillers]
    for name, texts in chains.items():
        _verify_prefixes(f"task {task.id} in {where}: the {name}", texts)
    lengths = [len(text.split()) for texts in (*chains.values(), others) for text in texts]
    if max(lengths) > _MOST_LONGER * min(lengths):
        raise SuiteError(
            f"task {task.id} in {where}: the texts differ in length",
            found=f"{min(lengths)} to {max(lengths)} words",
            expected="at most 10% more words in the longest than in the shortest",
            remedy="pad the shorter texts with sentences that cover no element",
        )


def _verify_prefixes(what: str, texts: Sequence[str]) -> None:
    held = [set(filter(None, _SENTENCE_END.split(text.strip()))) for text in texts]
    # What has stood at a lower level and comes back is padding: it covers no element.
    seen, gained = set(held[0]), set[str]()
    for level in range(1, len(texts)):
        new = held[level] - seen
        lost = gained - held[level]
        seen |= held[level]
        if new and not lost:
            gained |= new
            continue
        raise SuiteError(
            f"{what} are no prefix chain",
            found=f"level {level} lacks {min(lost)!r}, which a level below has"
            if lost
            else f"level {level} has no sentence that no level below has",
            expected="every level: the sentences that the levels below it gained, and one more",
            remedy="mend the text, or the order of the texts",
        )


def _verify_orders(suite: Suite) -> None:
    if suite.orders != "both":
        raise SuiteError(
            f"suite {suite.name} asks a ladder in one presentation order",
            found=f"orders = {suite.orders!r}",
            expected='orders = "both": otherwise a slot habit passes for sensitivity',
            remedy=f"mend [design] or the preset in {suite.path}",
        )


def _verify_hidden(suite: Suite, item: Item) -> None:
    # An id that is an ordinary word may occur in a text; one with a number in it is a mark.
    marked = re.search(r"[A-Za-z]", item.id) and re.search(r"\d", item.id)
    for text in (*item.fields.values(), *item.contents):
        mark = _MARK.search(text)
        leak = mark[0] if mark else item.id if marked and item.id in text else None
        if leak:
            raise SuiteError(
                f"item {item.id} of suite {suite.name} tells the judge what it is",
                found=repr(leak),
                expected="no id, label, level or distance in what the judge reads",
                remedy="reword the text",
            )


def pooled(suite: Suite, ladder: Suite) -> tuple[Item, ...]:
    """The items of ``suite`` with the pairs of different quality of ``ladder``, shared with it.

    Raises:
        SuiteError: the two do not ask with the same prompts, so that nothing can be shared.
    """

    def asked(of: Suite) -> tuple[object, ...]:
        return (of.kind, of.system, of.orders, of.replicates, of.space, of.templates)

    if asked(suite) != asked(ladder):
        raise SuiteError(
            f"suite {suite.name} cannot be pooled with {ladder.name}",
            found="another kind, system prompt, template, decision space or design",
            expected="the same in both: the trials of one are those of the other",
            remedy=f"mend {suite.path}, or leave pooled_with out",
        )
    steps = (item for item in ladder.items if item.label is not None)
    return (*suite.items, *(replace(item, shared_with=ladder.base) for item in steps))


def _verify_candidates(suite: Suite) -> None:
    required = {"a", "b"} if suite.space.pairwise else set()
    for template in suite.templates:
        hidden = sorted(required - placeholders(template.text))
        if hidden:
            raise SuiteError(
                f"template {template.id} of suite {suite.name} does not show both candidates",
                found="no {{" + "}}, no {{".join(hidden) + "}}",
                expected="{{a}} and {{b}}",
                remedy=f"mend the template in {suite.path}",
            )


def _verify_fields(suite: Suite) -> None:
    for item in suite.items:
        given = set(item.fields) | ({"a", "b"} if item.contents else set())
        for template in suite.templates:
            missing = sorted(placeholders(template.text) - given)
            if missing:
                raise SuiteError(
                    f"template {template.id} of suite {suite.name} asks for what item {item.id} "
                    "does not have",
                    found="{{" + missing[0] + "}}",
                    expected="one of: " + ", ".join(sorted(given)),
                    remedy=f"mend the template in {suite.path} or add the field to the item",
                )


def _verify_labels(suite: Suite) -> None:
    if suite.space.pairwise:
        return
    for item in suite.items:
        if item.label is not None and item.label not in suite.space.labels:
            raise SuiteError(
                f"item {item.id} of suite {suite.name} has a label outside the decision space",
                found=repr(item.label),
                expected="one of: " + ", ".join(suite.space.labels),
            )
