"""Suites of several wordings of one prompt, on the same items."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pytest_judgesense.instruments.paraphrase.measures import OF_WORDINGS
from pytest_judgesense.suites.finding import LintFinding, Rule, some
from pytest_judgesense.suites.from_lines import plain_items
from pytest_judgesense.suites.rules import MARKS, are_fixed, prompts_of
from pytest_judgesense.suites.schema import ContentItem, PairItem
from pytest_judgesense.suites.suite import Kind, Suite


def _twins(suite: Suite) -> Iterator[LintFinding]:
    """Two wordings that are compared and ask with the same words."""
    if not (pairs := suite.compared_pairs):
        return
    twins = [
        f"{item} ({a}, {b})"
        for item, prompts in prompts_of(suite)
        for by_template in prompts.values()
        for a, b in pairs
        if {a, b} <= by_template.keys() and by_template[a].strip() == by_template[b].strip()
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


def _option_order(suite: Suite) -> Iterator[LintFinding]:
    """A preference for a slot cannot be distinguished from one for the first candidate."""
    unlabelled = sum(item.label is None for item in suite.items)
    if suite.space.pairwise and suite.orders == "ab" and unlabelled:
        yield LintFinding(
            "warning",
            "option-order",
            f"suite {suite.name}",
            "the first candidate of every item is always in slot A",
            f'orders = "ab", and {unlabelled} items without a label',
            "labels that say which candidate is better"
            if are_fixed(suite)
            else 'orders = "both" or "balanced"',
            "a judge that always answers A cannot be told from one that prefers the first",
        )


def _one_wording(suite: Suite) -> Iterator[LintFinding]:
    """A check on the effect of the wording in a suite with a single wording."""
    of_pairs = {measure.check for measure in OF_WORDINGS}
    checks = [check.name for check in suite.checks if check.name in of_pairs]
    if checks and not suite.compared_pairs:
        yield LintFinding(
            "error",
            "one-wording",
            f"{some(checks)} of suite {suite.name}",
            "nothing is compared: the measure takes two wordings of the prompt",
            f"{len(suite.templates)} template{'s' * (len(suite.templates) != 1)}",
            "two templates or more",
            "add a [[templates]] that asks the same in other words, or leave the check out",
        )


PARAPHRASE: Final = Kind(
    "paraphrase",
    plain_items,
    line_forms=(ContentItem, PairItem),
    rules=(Rule(_twins), Rule(_option_order), Rule(_one_wording)),
    # The judged text may contain such a mark.
    waived=(MARKS,),
    wordings=True,
)
