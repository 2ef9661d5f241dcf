r"""Rules that find faults which would change the meaning of a suite's numbers. Pure.

A rule is a function from a suite to findings. A suite that cannot be run is refused when it is
loaded. Other faults are for lint: an *error* means that a measure would not mean what its name
says, and stops a run; a *warning* is something that readers of the numbers must know. Nothing is
dropped or fixed. The rules here are for every suite; each kind adds its own and may waive some.

`suites.wordings` parses what wordings ask for.

Conventions: prompts are those of the plan (items x templates x orders). A *fixed answer* is right
too often where its share of the labelled trials exceeds ``1/k + 0.15`` for k labels (0.65 of two,
0.35 of five), by more than one item.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import chain
from operator import attrgetter
from typing import Final

from pytest_judgesense.errors import SuiteError, listed
from pytest_judgesense.suites.finding import LintFinding, Rule, some
from pytest_judgesense.suites.item import ITEM_ID, Item
from pytest_judgesense.suites.people import PersonLabel, people_file
from pytest_judgesense.suites.planning import orders_of, own_order, plan_trials
from pytest_judgesense.suites.prompt_template import fill, placeholders
from pytest_judgesense.suites.shortcuts import lexical_shortcut
from pytest_judgesense.suites.suite import Suite, Template, derived
from pytest_judgesense.suites.wordings import polarity, template_labels
from pytest_judgesense.trial import CONTROL, TIE, Order, Trial, slot_of_content

# How far a share of items may lie from chance.
MARGIN: Final = 0.15


def verify(suite: Suite) -> None:
    """A `SuiteError` if a rule of loading is broken, so that the suite cannot be asked."""
    _refuse(suite, _rules(suite, loading=True))


def verify_labelled(suite: Suite) -> None:
    """A `SuiteError` if an item has no label, and the kind of the suite cannot do without."""
    _refuse(suite, [suite.form.labelled] if suite.form.labelled else [])


@derived
def lint_items(suite: Suite) -> tuple[LintFinding, ...]:
    """The findings of the rules in the items, templates and design of a suite, errors first."""
    return _found(suite, _rules(suite, loading=False))


@derived
def lint_prompts(suite: Suite) -> tuple[LintFinding, ...]:
    """The same without those that lie in the texts of the items."""
    return _found(suite, [rule for rule in _rules(suite, loading=False) if not rule.of_texts])


def _found(suite: Suite, rules: Iterable[Rule]) -> tuple[LintFinding, ...]:
    left = (
        finding
        for finding in _findings(suite, rules)
        if finding.severity == "error" or finding.rule not in suite.accepted
    )
    return tuple(sorted(left, key=lambda finding: finding.severity))


def _findings(suite: Suite, rules: Iterable[Rule]) -> Iterator[LintFinding]:
    """What the rules find; of items without ids of their own with their places in the file."""
    places = {item.id: item.place for item in suite.items if item.place}

    def placed(word: re.Match[str]) -> str:
        return f"{word[0]} ({places[word[0]]})" if word[0] in places else word[0]

    for rule in rules:
        for finding in rule.find(suite):
            where = ITEM_ID.sub(placed, finding.where) if places else finding.where
            yield finding._replace(where=where)


def _rules(suite: Suite, *, loading: bool) -> list[Rule]:
    rules = (*RULES, *suite.form.rules)
    return [rule for rule in rules if rule.loading == loading and rule not in suite.form.waived]


def _refuse(suite: Suite, rules: Iterable[Rule]) -> None:
    for finding in _findings(suite, rules):
        parts = {"found": finding.found, "expected": finding.expected, "remedy": finding.remedy}
        raise SuiteError(f"{finding.where} {finding.what}", **parts)


def pooled(suite: Suite, other: Suite) -> tuple[Item, ...]:
    """The items of ``suite`` with the labelled ones of ``other``, whose trials they share.

    Raises:
        SuiteError: the two do not ask with the same prompts, so that nothing can be shared.
    """
    asking = attrgetter("kind", "system", "orders", "replicates", "space", "templates")
    if asking(suite) != asking(other):
        raise SuiteError(
            f"suite {suite.name} cannot be pooled with {other.name}",
            found="another kind, system prompt, template, decision space or design",
            expected="the same in both: the trials of one are those of the other",
            remedy=f"fix {suite.path}, or leave pooled_with out",
        )
    labelled = (item for item in other.items if item.label is not None)
    return (*suite.items, *(replace(item, shared_with=other.base) for item in labelled))


def shown_candidates(suite: Suite, template: Template) -> frozenset[str]:
    """The placeholders by which ``template`` shows the judged texts."""
    if template.single:
        return frozenset({"answer"})
    return frozenset({"a", "b"} if suite.space.pairwise else ())


def prompts_of(suite: Suite) -> Iterator[tuple[str, dict[Order, dict[str, str]]]]:
    """For every item the user prompts of the plan: by order and template.

    A system prompt of a template stands before its own. Made one item at a time: together they are
    much larger than the suite.
    """
    orders: tuple[Order, ...] = ("ab", "ba")
    wordings = {t.id: "\n\n".join(filter(None, (t.system, t.text))) for t in suite.templates}
    # Which templates show an order depends on the item at most by its own balanced one.
    shown = {
        own: [
            (order, templates)
            for order in orders
            if (
                templates := [
                    (t, wordings[t.id])
                    for t in suite.templates
                    if order in orders_of(suite, t, own)
                ]
            )
        ]
        for own in orders
    }
    for item in suite.items:
        prompts: dict[Order, dict[str, str]] = {}
        for order, templates in shown[own_order(suite, item)]:
            texts = item.texts(order)
            prompts[order] = {
                t.id: fill(
                    text, {**texts, "answer": "\n".join(item.contents)} if t.single else texts
                )
                for t, text in templates
                if item.is_asked_in(t.id)
            }
        yield item.id, prompts


def same_sides(suite: Suite) -> list[str]:
    """The pairwise items whose two candidates are the same text, ignoring white space."""
    return [i.id for i in suite.items if i.contents and same_words(*i.contents)]


def same_words(text: str, other: str) -> bool:
    """Whether two texts differ in white space at most."""
    return text.split() == other.split()


# --- rules of loading ------------------------------------------------------------------------


def _candidates(suite: Suite) -> Iterator[LintFinding]:
    """Templates show the judged texts."""
    for template in suite.templates:
        candidates = "the candidate" if template.single else "both candidates"
        yield from hidden(
            suite, template, "candidates", candidates, {*shown_candidates(suite, template)}
        )


def hidden(
    suite: Suite, template: Template, rule: str, missing: str, required: set[str], more: str = ""
) -> Iterator[LintFinding]:
    """The error of a template that does not name all ``required`` fields: ``what``, in words.

    ``more``: what is valid besides.
    """
    if left := sorted(required - placeholders(template.text)):
        yield LintFinding(
            "error",
            rule,
            f"template {template.id} of suite {suite.name}",
            f"does not show {missing}",
            "no {{" + "}}, no {{".join(left) + "}}",
            "{{" + "}} and {{".join(sorted(required)) + "}}" + more,
            f"fix the template in {suite.path}",
        )


def _fields(suite: Suite) -> Iterator[LintFinding]:
    """Items have the fields that templates name."""
    candidates = {template.id: shown_candidates(suite, template) for template in suite.templates}
    shown = [(t, placeholders(t.text) - candidates[t.id]) for t in suite.templates]
    for item in suite.items:
        for template, names in shown:
            if missing := sorted(names - item.fields.keys()):
                fields = {*item.fields, *candidates[template.id]}
                yield LintFinding(
                    "error",
                    "fields",
                    f"template {template.id} of suite {suite.name}",
                    f"asks for what item {item.id} does not have",
                    "{{" + missing[0] + "}}",
                    "one of: " + listed(sorted(fields)),
                    f"fix the template in {suite.path} or add the field to the item",
                )


def _labels(suite: Suite) -> Iterator[LintFinding]:
    """Labels are of the decision space."""
    if suite.space.pairwise:
        return
    for item in suite.items:
        if item.label is not None and not suite.space.permits(item.label):
            yield LintFinding(
                "error",
                "labels",
                f"item {item.id} of suite {suite.name}",
                "has a label outside the decision space",
                repr(item.label),
                f"a number from {' to '.join(suite.space.labels)}"
                if suite.space.score
                else "one of: " + listed(suite.space.labels),
                "fix the label, or [space]",
            )


# --- rules of lint ---------------------------------------------------------------------------


def _label_text(suite: Suite) -> Iterator[LintFinding]:
    """Labels of people are of the texts that items show."""
    if labels := suite.uncounted.of_other_texts:
        persons = sorted({label.person for label in labels})
        yield LintFinding(
            "error",
            "label-text",
            f"labels of items {some(label.item for label in labels)}",
            "not counted, for people labelled another text",
            _labels_in(suite, labels),
            "labels of the texts as they are",
            f"label again: judgesense label {suite.base} --person {' and --person '.join(persons)}",
            stops=False,
        )


def _label_item(suite: Suite) -> Iterator[LintFinding]:
    """The items that people labelled are there."""
    if labels := suite.uncounted.of_no_item:
        yield LintFinding(
            "warning",
            "label-item",
            f"labels of items {some(label.item for label in labels)}",
            "not counted, for no item shows what people labelled",
            _labels_in(suite, labels),
            "items with these texts",
            "they stay in the file: give the items their texts again, or take the lines out; an "
            "item without an id whose text was edited is a new one, to be labelled",
        )


def _label_line(suite: Suite) -> Iterator[LintFinding]:
    """The last label of people was written to its end."""
    if unfinished := suite.uncounted.unfinished:
        yield LintFinding(
            "warning",
            "label-line",
            f"{people_file(suite.path).name}:{unfinished.number}",
            "was cut off in mid-write, and is not counted",
            f"{unfinished.size} bytes of a line",
            "whole lines",
            "label on, which cuts it off: its item is shown again",
        )


def _labels_in(suite: Suite, labels: Sequence[PersonLabel]) -> str:
    """How many labels of the file of people's labels these are, and where the first ones stand."""
    number = f"{len(labels)} label{'s' * (len(labels) != 1)}"
    lines = some(str(label.line) for label in labels)
    return f"{number} in {people_file(suite.path).name}, line {lines}"


# A mark of rank as a generator of stimuli would leave it: "label: 1", "[level=3]", "winner: B".
_LEFT: Final = r"[:=]\s*[\"']?(?:\d|[AB]\b|tie\b|same\b|different\b|filler\b)"
_LEFT_VALUE: Final = re.compile(_LEFT, re.IGNORECASE)
_LEFT_WORDS: Final = "gold label level winner better quality distance subset rank".split()
_LEFT_MARK: Final = re.compile(
    rf"\b(?:{'|'.join(_LEFT_WORDS)})[ _]?(?:id)?\s*{_LEFT}", re.IGNORECASE
)


@lru_cache(maxsize=1024)  # items share their texts, and suites do
def _left_mark(text: str) -> str | None:
    # What few texts have is looked for first, and what is found fastest.
    if ":" not in text and "=" not in text:
        return None
    folded = text.casefold()
    if not any(word in folded for word in _LEFT_WORDS) or not _LEFT_VALUE.search(text):
        return None
    mark = _LEFT_MARK.search(text)
    return mark[0] if mark else None


def _marks(suite: Suite) -> Iterator[LintFinding]:
    """Items that show their id, their label or their level."""
    leaks: dict[str, str] = {}
    for item in suite.items:
        # An id that is an ordinary word may occur in a text; one with a number in it is a mark.
        marked = re.search(r"[A-Za-z]", item.id) and re.search(r"\d", item.id)
        for text in (*item.fields.values(), *item.contents):
            if leak := _left_mark(text) or (item.id if marked and item.id in text else None):
                leaks.setdefault(item.id, leak)
    if leaks:
        first, leak = next(iter(leaks.items()))
        yield LintFinding(
            "warning",
            "marks",
            f"items {some(leaks)}",
            "may tell the judge what they are",
            f"{len(leaks)} of {len(suite.items)} items; in {first}: {leak!r}",
            "no id, label, level or distance in what the judge reads",
            f"reword the texts; if they mean something else: {_accepting('marks')}",
        )


def _accepting(rule: str) -> str:
    """How a user says that the texts are as they should be."""
    return f'accepted = ["{rule}"] in [stimuli]'


def _duplicates(suite: Suite) -> Iterator[LintFinding]:
    """The same prompts counted several times: pairs of wordings, else items."""
    pairs = suite.compared_pairs if suite.form.wordings else ()
    # The prompts themselves are compared where their hashes are the same, which seldom are.
    times = Counter(hash(unit) for _, unit in _units(suite, pairs))
    count = times.total()
    if len(times) == count:
        return
    units: dict[Hashable, list[str]] = defaultdict(list)
    for item, unit in _units(suite, pairs):
        if times[hash(unit)] > 1:
            units[unit].append(item)
    distinct = count - sum(map(len, units.values())) + len(units)
    if distinct == count:
        return
    clusters = {item.id: item.cluster for item in suite.items}
    spread = any(len({clusters[item] for item in items}) > 1 for items in units.values())
    yield LintFinding(
        "warning",
        "duplicates",
        "items " + next(some(items) for items in units.values() if len(items) > 1),
        "the same prompts are counted several times",
        f"{count} {'pairs' if pairs else 'items'}, {distinct} distinct, "
        f"in {len(set(clusters.values()))} clusters",
        "every one once; replicates = N asks again",
        "give repeated items one cluster, or leave them out: intervals take them for independent"
        if spread
        else f"the effective n is {distinct} at most; repeated items share a cluster, so "
        "clustered intervals hold, those of the source paper do not",
    )


def _units(suite: Suite, pairs: Sequence[tuple[str, str]]) -> Iterator[tuple[str, Hashable]]:
    """The prompts of every pair of wordings in an item and order; without pairs, of every item."""
    if [template.single for template in suite.templates] == [False] and suite.orders == "ab":
        (template,) = suite.templates  # of one prompt no set is made
        for item in suite.items:
            shown = item.texts("ab") if item.contents else item.fields
            yield item.id, fill(template.text, shown)
        return
    for item_id, prompts in prompts_of(suite):
        if not pairs:
            yield item_id, frozenset(chain.from_iterable(map(dict.values, prompts.values())))
        for by_template in prompts.values() if pairs else ():
            for a, b in pairs:
                if {a, b} <= by_template.keys():
                    yield item_id, frozenset((by_template[a], by_template[b]))


def _identical_sides(suite: Suite) -> Iterator[LintFinding]:
    """Two sides with nothing between them."""
    if same := same_sides(suite):
        yield LintFinding(
            "warning",
            "identical-sides",
            f"items {some(same)}",
            "the two candidates are identical",
            f"{len(same)} of {len(suite.items)} items",
            "two texts that differ",
            "fix the items or leave them out; on equal texts a vacuum suite measures the judge; if "
            f"they are meant to be equal: {_accepting('identical-sides')}",
        )


def _right_answer(suite: Suite, trial: Trial) -> str | None:
    """The verdict that is right, as the judge would have to put it."""
    label, labels = trial.label, suite.space.labels
    if label is None or label == TIE:
        return label
    if suite.space.pairwise:
        return slot_of_content(label, trial.order)
    inverted = trial.condition.get("polarity") == "inverted"
    return labels[-1 - labels.index(label)] if inverted else label


def are_fixed(suite: Suite) -> bool:
    """Whether the items have complete prompts, in which candidates cannot be swapped."""
    bare = (fill(t.text, dict.fromkeys(placeholders(t.text), " ")) for t in suite.templates)
    return not any(text.strip() for text in bare)


def _label_balance(suite: Suite) -> Iterator[LintFinding]:
    """One answer, given to everything, would be right too often."""
    if suite.space.score is not None:
        return  # no answer of many is right too often
    trials = (trial for trial in plan_trials(suite) if CONTROL not in trial.condition)
    right = Counter(a for t in trials if (a := _right_answer(suite, t)) is not None)
    if not right:
        return
    (answer, most), total = right.most_common(1)[0], sum(right.values())
    excess = most / total - 1 / len(suite.space.labels)
    labelled = sum(item.label is not None for item in suite.items if not item.is_control)
    if excess > MARGIN and excess * labelled > 1:
        yield LintFinding(
            "warning",
            "label-balance",
            f"suite {suite.name}",
            f"a judge that always answers {answer} would be right too often",
            ", ".join(f"{v} {right[v]}" for v in suite.space.verdicts) + f" of {total} trials",
            f"each label about {1 / len(suite.space.labels):.0%}",
            'balance the labels, or ask in both orders: orders = "both"'
            if suite.space.pairwise and suite.orders != "both" and not are_fixed(suite)
            else "balance the labels",
        )


_MARK: Final = r"(?:gold|label|ground[ _-]?truth|(?:correct|expected) (?:answer|label|verdict))"
_RANK: Final = re.compile(
    r"^\s*[\[(](?:better|worse|good|bad|chosen|rejected|correct|wrong|winner|loser)[\])]",
    re.IGNORECASE,
)


def _label_visible(suite: Suite) -> Iterator[LintFinding]:
    """The correct answer is visible in the prompt."""
    shown = frozenset().union(*(placeholders(template.text) for template in suite.templates))

    def is_ranked(item: Item) -> bool:
        return bool(item.contents) and any(map(_RANK.match, item.contents))

    def leaks_label(item: Item) -> bool:
        if is_ranked(item):
            return True
        if not item.label:
            return False
        for text in (*[item.fields[name] for name in shown if name in item.fields], *item.contents):
            if text.strip() == item.label:
                return True
            lower = text.lower()
            # How each mark begins; much quicker, and seldom so.
            if not (
                "gold" in lower
                or "label" in lower
                or "ground" in lower
                or "correct" in lower
                or "expected" in lower
            ):
                continue
            label = re.escape(item.label)
            mark = rf"\b{_MARK}\b\W{{0,3}}(?:is\W{{1,2}})?(?:{label}|score_{label})\b"
            if re.search(mark, text, re.IGNORECASE):
                return True
        return False

    if leaks := [item for item in suite.items if leaks_label(item)]:
        # "The correct answer is 2" in an answer to a sum does not name the better of two answers.
        certain = not suite.space.pairwise or any(map(is_ranked, leaks))
        remedy = "take the field out of the template, or the mark out of the text"
        yield LintFinding(
            "error" if certain else "warning",
            "label-visible",
            f"items {some(item.id for item in leaks)}",
            "the correct answer is in the prompt",
            f"{len(leaks)} of {len(suite.items)} items",
            "stimuli without a mark of their rank",
            remedy if certain else f"{remedy}; if it means another: {_accepting('label-visible')}",
        )


def _repeated_prompts(suite: Suite) -> Iterator[LintFinding]:
    """Items whose two orders are one request; for several items see `_duplicates`."""
    if sum(len(orders_of(suite, template, "ab")) for template in suite.templates) == 1:
        return  # an item has one prompt
    prompts_by_item = (
        (item, [*chain(*map(dict.values, by.values()))]) for item, by in prompts_of(suite)
    )
    if twice := [item for item, prompts in prompts_by_item if len({*prompts}) < len(prompts)]:
        every = [
            prompt
            for _, prompts in prompts_of(suite)
            for by_template in prompts.values()
            for prompt in by_template.values()
        ]
        yield LintFinding(
            "warning",
            "repeated-prompts",
            f"items {some(twice)}",
            "the same request is made twice, because two equal texts have no order",
            f"{len(every)} requests, {len({*every})} distinct: the real n is {len({*every})}",
            "every request once; replicates = N asks again",
            "let the texts differ in white space, or ask in one order",
        )


# Those that kinds may waive.
MARKS: Final = Rule(_marks, of_texts=True)
IDENTICAL_SIDES: Final = Rule(_identical_sides, of_texts=True)
DUPLICATES: Final = Rule(_duplicates)
LABEL_BALANCE: Final = Rule(_label_balance)
SHORTCUT: Final = Rule(lexical_shortcut, of_texts=True)
TEMPLATE_LABELS: Final = Rule(template_labels)

RULES: Final = (
    Rule(_candidates, loading=True),
    Rule(_fields, loading=True),
    Rule(_labels, loading=True),
    Rule(_label_text),
    Rule(_label_item),
    Rule(_label_line),
    MARKS,
    DUPLICATES,
    IDENTICAL_SIDES,
    LABEL_BALANCE,
    Rule(polarity),
    TEMPLATE_LABELS,
    Rule(_label_visible),
    Rule(_repeated_prompts),
    SHORTCUT,
)
