"""Suites of several wordings of one prompt, on the same items; and controls beside these.

A line of controls is one of the items, with a ``control`` (``vague`` or ``specific``), the label of
a wrong answer, and as its ``cluster`` the question that it answers, which has one of either.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final, Literal, get_args

from pytest_judgesense.errors import SuiteError, listed
from pytest_judgesense.instruments.paraphrase.measures import LENIENCY, OF_WORDINGS
from pytest_judgesense.suites.finding import LintFinding, Rule, some
from pytest_judgesense.suites.from_lines import content_item, content_of_row, plain_items
from pytest_judgesense.suites.rules import MARKS, are_fixed, prompts_of
from pytest_judgesense.suites.schema import ContentItem, PairItem, SuiteForm
from pytest_judgesense.suites.stimuli import Stimuli, read_lines
from pytest_judgesense.suites.suite import ItemsBeside, Kind, Material, Suite
from pytest_judgesense.trial import CONTROL

VAGUE: Final = "vague"
SPECIFIC: Final = "specific"
ControlKind = Literal["vague", "specific"]


class ControlLine(ContentItem):
    """A line of controls: a wrong answer to the question that its ``cluster`` names.

    ``control`` is ``vague``, an answer that commits itself to nothing, or ``specific``; each
    question has one of either. ``label`` is that of a wrong answer.
    """

    control: ControlKind
    label: str
    cluster: str


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


def _no_controls(suite: Suite) -> Iterator[LintFinding]:
    """A check on controls in a suite that has none."""
    checks = {check.name for check in suite.checks}
    if LENIENCY.check in checks and not any(item.is_control for item in suite.items):
        yield LintFinding(
            "error",
            "no-controls",
            f"{LENIENCY.check} of suite {suite.name}",
            "nothing is compared: the measure takes vague and specific wrong answers",
            "no controls",
            'controls = "FILE" in [stimuli], or in the preset',
            "name a file of controls, or leave the check out",
        )


def _verify(form: SuiteForm) -> None:
    named = [form.stimuli.controls, *(preset.controls for preset in form.presets.values())]
    if any(named) and (form.space.pairwise or form.space.ordinal):
        raise ValueError(
            "controls are wrong answers that pass or do not: [space] has labels, no pairs and no "
            "grades"
        )


def _material(form: SuiteForm, folder: Path) -> Material:
    """The lines of the file of controls, in the form of the file of items."""
    stated = form.stimuli.controls
    if stated is None:
        return Material(None, "")
    as_items = form.stimuli.model_copy(update={"file": stated, "controls": None})
    lines, text = read_lines(
        folder / f"{form.name}.suite.toml", form.model_copy(update={"stimuli": as_items})
    )
    return Material(lines, text, lines.files or (lines.file,))


def _controls(stimuli: Stimuli) -> ItemsBeside | None:
    """The controls of a suite; most suites have none."""
    if stimuli.material is None:
        return None
    source: Stimuli = replace(stimuli.material, taken=stimuli.taken)
    lines = source.parse(ControlLine, content_of_row)
    _refuse_unpaired(source, lines)
    items = (replace(content_item(line), condition={CONTROL: line.control}) for line in lines)
    return ItemsBeside(source, items)


def _refuse_unpaired(source: Stimuli, lines: list[ControlLine]) -> None:
    """Raise a `SuiteError` for a question without one control of each kind."""
    kinds = get_args(ControlKind)
    counts = Counter((line.cluster, line.control) for line in lines)
    for question in dict.fromkeys(line.cluster for line in lines):
        numbers = {kind: counts[question, kind] for kind in kinds}
        if set(numbers.values()) != {1}:
            raise SuiteError(
                f"controls of question {question} in {source.file} are no pair",
                found=listed(f"{number} {kind}" for kind, number in numbers.items()),
                expected="one vague and one specific wrong answer to each question, by its cluster",
                remedy="add the one that is missing, or take the others out",
            )


PARAPHRASE: Final = Kind(
    "paraphrase",
    plain_items,
    line_forms=(ContentItem, PairItem, ControlLine),
    verify=_verify,
    rules=(Rule(_twins), Rule(_option_order), Rule(_one_wording), Rule(_no_controls)),
    # The judged text may contain such a mark.
    waived=(MARKS,),
    wordings=True,
    keys=("controls",),
    material=_material,
    beside=_controls,
)
