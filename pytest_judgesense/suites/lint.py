r"""Is a suite worth a cent? Rules that find what would make its numbers mean something else. Pure.

Each rule is a function from a suite to findings. An *error* says that a measure would not mean what
its name says: no judge is asked. A *warning* says what a reader of the numbers must know. Nothing
is dropped or mended.

What wordings ask for is read in `suites.wordings`.

Conventions: prompts are those of the plan (items x templates x orders). A *fixed answer* is right
too often where its share of the labelled trials exceeds ``1/k + 0.15`` for k labels (0.65 of two,
0.35 of five), by more than one item. Lengths are words; within a task the longest text has at most
10% more than the shortest (Judge Datasheet, arXiv 2606.15610). The chain of a ladder holds if each
level keeps every sentence that a lower level has added, and adds one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Final, TypeAlias

from pytest_judgesense.errors import SuiteError
from pytest_judgesense.suites.consistency import (
    LintFinding,
    some,
    verify_chain,
    verify_lengths,
)
from pytest_judgesense.suites.planning import plan_trials, template_pairs
from pytest_judgesense.suites.prompt_template import fill, placeholders
from pytest_judgesense.suites.schema import LadderTask, QuarterTask
from pytest_judgesense.suites.suite import Suite
from pytest_judgesense.suites.wordings import polarity, template_labels
from pytest_judgesense.trial import TIE, Order, Trial

__all__ = ["lint_items"]

_MARGIN: Final = 0.15
_ENOUGH: Final = 10


_Found: TypeAlias = Iterator[LintFinding]


def lint_items(suite: Suite) -> tuple[LintFinding, ...]:
    """What all rules find in the items, templates and design of ``suite``, errors first."""
    found = [finding for rule in RULES for finding in rule(suite)]
    return tuple(sorted(found, key=lambda finding: finding.severity))


def _prompts(suite: Suite) -> dict[tuple[str, Order], dict[str, str]]:
    """The user prompt of every item and order under every template."""
    items = {item.id: item for item in suite.items}
    templates = {template.id: template for template in suite.templates}
    shown: dict[tuple[str, Order], dict[str, str]] = {}
    for trial in plan_trials(suite):
        item, template = items[trial.item], templates[trial.template]
        texts = item.texts(trial.order)
        if template.single:
            texts["answer"] = "\n".join(item.contents)
        prompt = fill(template.text, texts)
        shown.setdefault((trial.item, trial.order), {})[trial.template] = prompt
    return shown


def duplicates(suite: Suite) -> _Found:
    """The same prompts counted several times: pairs of a paraphrase suite, else items."""
    pairs = template_pairs([template.id for template in suite.templates], suite.pairs)
    units: dict[frozenset[str], list[str]] = {}
    by_item: dict[str, set[str]] = {}
    for (item, _), by_template in _prompts(suite).items():
        by_item.setdefault(item, set()).update(by_template.values())
        if suite.kind == "paraphrase":
            for a, b in pairs:
                units.setdefault(frozenset((by_template[a], by_template[b])), []).append(item)
    if not units:
        for item, prompts in by_item.items():
            units.setdefault(frozenset(prompts), []).append(item)
    count = sum(map(len, units.values()))
    if len(units) == count:
        return
    unit = "pairs" if suite.kind == "paraphrase" and pairs else "items"
    clusters = {item.id: item.cluster for item in suite.items}
    spread = any(len({clusters[item] for item in items}) > 1 for items in units.values())
    yield LintFinding(
        "warning",
        "duplicates",
        "items " + next(some(items) for items in units.values() if len(items) > 1),
        "the same prompts are counted several times",
        f"{count} {unit}, {len(units)} distinct, in {len(set(clusters.values()))} clusters",
        "every one once; replicates = N asks again",
        "give repeated items one cluster, or leave them out: intervals take them for independent"
        if spread
        else f"the effective n is {len(units)} at most; repeated items share a cluster, so "
        "clustered intervals hold, those of the source paper do not",
    )


def identical_sides(suite: Suite) -> _Found:
    """Two sides with nothing between them; in a vacuum, two sides that do differ."""
    vacuum = suite.kind == "vacuum"
    same = [i.id for i in suite.items if i.contents and len({c.strip() for c in i.contents}) == 1]
    wrong = [i.id for i in suite.items if i.contents and i.id not in set(same)] if vacuum else same
    if wrong:
        yield LintFinding(
            "error",
            "identical-sides" if not vacuum else "no-vacuum",
            f"items {some(wrong)}",
            "the two candidates differ" if vacuum else "the two candidates are identical",
            f"{len(wrong)} of {len(suite.items)} items",
            "both empty, blank, or one text twice" if vacuum else "two texts that differ",
            "mend the items" if vacuum else "mend the items, or put them into a vacuum suite",
        )
    if suite.kind != "paraphrase":
        return
    pairs = template_pairs([template.id for template in suite.templates], suite.pairs)
    twins = [
        f"{item} ({a}, {b})"
        for (item, _), prompts in _prompts(suite).items()
        for a, b in pairs
        if prompts[a].strip() == prompts[b].strip()
    ]
    if twins:
        yield LintFinding(
            "error",
            "identical-sides",
            f"items {some(twins)}",
            "two templates that are compared ask with the same words",
            f"{len(twins)} prompt pairs whose sides are identical",
            "two wordings",
            "reword one of the templates; to ask twice is what replicates are for",
        )


def _right_answer(suite: Suite, trial: Trial) -> str | None:
    """The verdict that is right, as the judge would have to put it."""
    if trial.label is None or trial.label == TIE:
        return trial.label
    labels = suite.space.labels
    if suite.space.pairwise:
        return "A" if (trial.label == "1") == (trial.order == "ab") else "B"
    if trial.condition.get("polarity") == "inverted":
        return labels[len(labels) - 1 - labels.index(trial.label)]
    return trial.label


def label_balance(suite: Suite) -> _Found:
    """One answer, given to everything, would be right too often."""
    right = Counter(a for t in plan_trials(suite) if (a := _right_answer(suite, t)) is not None)
    if not right:
        return
    (answer, most), total = right.most_common(1)[0], sum(right.values())
    excess = most / total - 1 / len(suite.space.labels)
    labelled = sum(item.label is not None for item in suite.items)
    if excess > _MARGIN and excess * labelled > 1:
        yield LintFinding(
            "warning",
            "label-balance",
            f"suite {suite.name}",
            f"a judge that always answers {answer} would be right too often",
            ", ".join(f"{label} {right[label]}" for label in (*suite.space.verdicts,))
            + f" of {total} trials",
            f"each label about {1 / len(suite.space.labels):.0%}",
            'balance the labels, or ask in both orders: orders = "both"'
            if suite.space.pairwise and suite.orders != "both"
            else "balance the labels",
        )


def option_order(suite: Suite) -> _Found:
    """Order and content cannot be told apart."""
    if suite.kind in ("ladder", "criterion") and suite.orders != "both":
        yield LintFinding(
            "error",
            "option-order",
            f"suite {suite.name}",
            f"a {suite.kind} is asked in one presentation order",
            f'orders = "{suite.orders}"',
            'orders = "both"',
            "ask both orders: position and content are told apart by them",
        )
    unlabelled = sum(item.label is None for item in suite.items)
    if suite.kind == "paraphrase" and suite.space.pairwise and suite.orders == "ab" and unlabelled:
        yield LintFinding(
            "warning",
            "option-order",
            f"suite {suite.name}",
            "the first candidate of every item is always in slot A",
            f'orders = "ab", and {unlabelled} items without a label',
            'orders = "both" or "balanced"',
            "a judge that always answers A cannot be told from one that prefers the first",
        )


_MARK: Final = r"(?:gold|label|ground[ _-]?truth|(?:correct|expected) (?:answer|label|verdict))"
_RANK: Final = re.compile(
    r"^\s*[\[(](?:better|worse|good|bad|chosen|rejected|correct|wrong|winner|loser)[\])]",
    re.IGNORECASE,
)


def label_visible(suite: Suite) -> _Found:
    """The correct answer stands in what the judge reads."""
    shown = frozenset().union(*(placeholders(template.text) for template in suite.templates))
    leaks = []
    for item in suite.items:
        label = re.escape(item.label or "")
        says = re.compile(
            rf"\b{_MARK}\b\W{{0,3}}(?:is\W{{1,2}})?(?:{label}|score_{label})\b", re.IGNORECASE
        )
        texts = [text for name, text in item.fields.items() if name in shown]
        if any(_RANK.match(content) for content in item.contents) or (
            item.label
            and any(says.search(t) or t.strip() == item.label for t in (*texts, *item.contents))
        ):
            leaks.append(item.id)
    if leaks:
        yield LintFinding(
            "error",
            "label-visible",
            f"items {some(leaks)}",
            "the correct answer stands in the prompt",
            f"{len(leaks)} of {len(suite.items)} items",
            "stimuli without a mark of their rank",
            "take the field out of the template, or the mark out of the text",
        )


def _sentences(text: str) -> frozenset[str]:
    return frozenset(s.strip() for s in re.split(r"(?<=[.!?])\s+|\n+", text) if s.strip())


def _fails(verify: Callable[[LadderTask | QuarterTask, str], None], suite: Suite) -> list[str]:
    """The tasks that do not hold what loading verifies, in suites that were made otherwise."""
    failing = []
    for task in suite.tasks:
        try:
            verify(task, str(suite.path))
        except SuiteError:
            failing.append(task.id)
    return failing


def prefix_chain(suite: Suite) -> _Found:
    """A level of a ladder that does not hold what a lower level holds, or differs in length."""
    broken = _fails(verify_chain, suite)
    broken += [
        f"{task.id} (alternative {other.elements})"
        for task in suite.tasks
        if isinstance(task, LadderTask)
        for other in task.alternatives
        if not set(other.elements) <= set(range(1, 6))
        or sorted(other.elements) == list(range(1, len(other.elements) + 1))
    ]
    if broken:
        yield LintFinding(
            "error",
            "prefix-chain",
            f"tasks {some(broken)}",
            "a level does not hold what the level below holds, and something more",
            f"{len(broken)} broken chains",
            "level q: the sentences that the levels below add, and one more; alternatives: others",
            "mend the texts: distances count what the texts hold",
        )
    if uneven := _fails(verify_lengths, suite):
        yield LintFinding(
            "error",
            "length",
            f"tasks {some(uneven)}",
            "the texts of a task differ in length",
            f"{len(uneven)} tasks whose longest text has more than 10% more words",
            "at most 10% more words in the longest than in the shortest",
            "even the texts out: a judge that prefers length would seem to see quality",
        )


def temperature_design(suite: Suite) -> _Found:
    """A grid of temperatures on which what a temperature does cannot be seen."""
    if suite.kind != "temperature":
        return
    for few, what, remedy in (
        (len(suite.temperatures) < 2, "one temperature", "add temperatures to [design]"),
        (suite.replicates < 2, "one replicate", "set replicates in [design]: 2 or more"),
    ):
        if few:
            yield LintFinding(
                "warning",
                "temperature-design",
                f"suite {suite.name}",
                "what the temperature does cannot be measured",
                what,
                "two or more temperatures, each asked twice or more",
                remedy,
            )
    given = Counter(str(item.condition["gold"]) for item in suite.items)
    if judged := {gold: n for gold, n in given.items() if gold.startswith("judge:")}:
        yield LintFinding(
            "warning",
            "gold",
            f"suite {suite.name}",
            "labels were given by a judge",
            ", ".join(f"{n} of {len(suite.items)} by {gold}" for gold, n in judged.items()),
            "labels that people gave",
            "read agreement with them as agreement with that judge",
        )
    decided = [item for item in suite.items if item.label in ("1", "2")]
    lengths = [[len(text.split()) for text in item.contents] for item in decided]
    longer = sum(
        (a > b) == (item.label == "1")
        for item, (a, b) in zip(decided, lengths, strict=True)
        if a != b
    )
    if len(decided) >= _ENOUGH and abs(longer / len(decided) - 0.5) > _MARGIN:
        yield LintFinding(
            "warning",
            "length-habit",
            f"suite {suite.name}",
            "length tells which answer is better",
            f"the longer one is in {longer} of {len(decided)} items",
            "the longer answer is the better one about as often as not",
            "even the texts out: a judge that prefers length would seem to know",
        )


RULES: Final[tuple[Callable[[Suite], _Found], ...]] = (
    duplicates,
    identical_sides,
    label_balance,
    option_order,
    polarity,
    template_labels,
    label_visible,
    prefix_chain,
    temperature_design,
)
