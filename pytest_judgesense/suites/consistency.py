"""Whether the parts of a suite fit each other, and whether it can measure at all. Pure.

What does not fit cannot be asked, and is an error at once. What can be asked, but would make
numbers mean something else, is a finding of `suites.lint`.

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
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from pytest_judgesense.errors import SuiteError
from pytest_judgesense.suites.prompt_template import placeholders
from pytest_judgesense.suites.schema import LadderTask, QuarterTask
from pytest_judgesense.suites.suite import Item, Suite, Template

__all__ = [
    "LintFinding",
    "pooled",
    "shown_candidates",
    "some",
    "verify_chain",
    "verify_gold",
    "verify_lengths",
    "verify_suite",
]

_SENTENCE_END: Final = re.compile(r"(?<=[.!?])\s+|\n+")
_MOST_LONGER: Final = 1.1
# A mark of rank as a generator of stimuli would leave it: "label: 1", "[level=3]", "winner: B".
_MARK: Final = re.compile(
    r"\b(?:gold|label|level|winner|better|quality|distance|subset|rank)[ _]?(?:id)?\s*[:=]\s*"
    r"[\"']?(?:\d|[AB]\b|tie\b|same\b|different\b|filler\b)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class LintFinding:
    """Something about a suite that its numbers would suffer from.

    Attributes:
        severity: ``error`` stops a run, ``warning`` stands beside its numbers.
        rule: name of the rule.
        where: the items or templates concerned.
        what: what is wrong, in one clause.
        found: what is there; ``expected``: what would be right; ``remedy``: what to do.
    """

    severity: Literal["error", "warning"]
    rule: str
    where: str
    what: str
    found: str
    expected: str
    remedy: str

    @property
    def key(self) -> tuple[str, str, str]:
        """What makes two findings the same one."""
        return (self.rule, self.where, self.found)

    @property
    def lines(self) -> tuple[str, ...]:
        """The finding in lines, for people."""
        return (
            f"{self.severity} {self.rule}: {self.where}: {self.what}",
            f"  found:    {self.found}",
            f"  expected: {self.expected}",
            f"  remedy:   {self.remedy}",
        )

    @property
    def line(self) -> str:
        """The finding in one line, for notices."""
        return f"lint {self.rule}: {self.where}: {self.what}: {self.found}; {self.remedy}"


def some(names: Iterable[str], most: int = 3) -> str:
    """The first of ``names``, and how many more there are."""
    listed = list(dict.fromkeys(names))
    more = f" and {len(listed) - most} more" if len(listed) > most else ""
    return ", ".join(listed[:most]) + more


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
    """Nothing, if the levels of a ladder task form a prefix chain.

    Args:
        task: the line of the stimuli file.
        where: the file, for messages.

    Raises:
        SuiteError: a level lacks a sentence that a level below it has gained, or gains none itself.
    """
    for name, texts in _chains(task).items():
        _verify_prefixes(f"task {task.id} in {where}: the {name}", texts)


def verify_lengths(task: LadderTask | QuarterTask, where: str) -> None:
    """Nothing, if the texts of a ladder task are of one length, within 10%.

    Raises:
        SuiteError: one has more than 10% more words than another.
    """
    others: list[str] = []
    if isinstance(task, LadderTask):
        others = [other.text for other in task.alternatives]
        others += [filler.text for filler in task.fillers]
    texts = [text for chain in (*_chains(task).values(), others) for text in chain]
    lengths = [len(text.split()) for text in texts]
    if max(lengths) > _MOST_LONGER * min(lengths):
        raise SuiteError(
            f"task {task.id} in {where}: the texts differ in length",
            found=f"{min(lengths)} to {max(lengths)} words",
            expected="at most 10% more words in the longest than in the shortest",
            remedy="pad the shorter texts with sentences that cover no element",
        )


def _chains(task: LadderTask | QuarterTask) -> Mapping[str, Sequence[str]]:
    if isinstance(task, QuarterTask):
        return {"quarters": task.quarters}
    return {"levels": task.levels, "rewordings": task.rewordings}


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


def shown_candidates(suite: Suite, template: Template) -> frozenset[str]:
    """The placeholders by which ``template`` shows what is judged."""
    if template.single:
        return frozenset({"answer"})
    return frozenset({"a", "b"} if suite.space.pairwise else ())


def verify_gold(suite: Suite) -> None:
    """Nothing, if every item of a temperature suite has its label; other kinds may lack them.

    Raises:
        SuiteError: an item has none; where a judge is to give it, with the command for that.
    """
    if suite.kind != "temperature":
        return
    for item in suite.items:
        if item.label is None:
            gold = str(item.condition["gold"])
            name = gold.removeprefix("judge:") if gold.startswith("judge:") else "NAME"
            raise SuiteError(
                f"item {item.id} of suite {suite.name} has no label",
                found=f"gold = {gold!r}, and no label",
                expected="the better answer, 1, 2 or tie: agreement is counted against it",
                remedy=f"write it by hand, or have a judge give it: judgesense label {suite.path} "
                f"--judge-name {name} --judge-mode record -o FILE",
            )


def _verify_candidates(suite: Suite) -> None:
    for template in suite.templates:
        required, asked = shown_candidates(suite, template), placeholders(template.text)
        hidden = sorted(required - asked)
        if hidden:
            raise SuiteError(
                f"template {template.id} of suite {suite.name} does not show "
                + ("the candidate" if template.single else "both candidates"),
                found="no {{" + "}}, no {{".join(hidden) + "}}",
                expected="{{" + "}} and {{".join(sorted(required)) + "}}",
                remedy=f"mend the template in {suite.path}",
            )
        if template.judge_type == "reference" and "reference" not in asked:
            raise SuiteError(
                f"template {template.id} of suite {suite.name} does not show the reference",
                found="no {{reference}}",
                expected='{{reference}}, or judge_type = "pairwise"',
                remedy=f"mend the template in {suite.path}",
            )


def _verify_fields(suite: Suite) -> None:
    for item in suite.items:
        for template in suite.templates:
            given = {*item.fields, *shown_candidates(suite, template)}
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
