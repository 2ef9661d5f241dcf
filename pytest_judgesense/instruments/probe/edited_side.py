"""The versions of a text that a probe compares, and which side of a pair is edited. Pure.

It is the one that a separate asking rejected.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Literal, TypeAlias

from pytest_judgesense.stats.placebo import side_to_edit
from pytest_judgesense.trial import Judgment, Trial, grouped

ASKED: Final = "asked"
_SIDES: Final = ("1", "2")


def settles(trial: Trial) -> bool:
    """Whether it is of the separate asking."""
    return trial.condition.get("version") == ASKED


def sides_of(judgments: Iterable[Judgment]) -> dict[str, str]:
    """The edited content of each item, from the judgments of the separate asking.

    It is the content that they reject on the whole. Where they do not tell, it is the worse one by
    the label, and without a label the one that the digest of the item says.
    """
    asked = grouped((j for j in judgments if settles(j.trial)), lambda j: j.trial.item)
    return {item: _side(item, of_item) for item, of_item in asked.items()}


def _side(item: str, judgments: list[Judgment]) -> str:
    chosen = [judgment.chosen for judgment in judgments]
    lead = chosen.count("1") - chosen.count("2")
    return side_without(item, judgments[0].trial.label) if lead == 0 else _SIDES[lead > 0]


def side_without(item: str, label: str | None) -> str:
    """The edited content of an item of which no asking tells."""
    if label in _SIDES:
        return _SIDES[label == "1"]
    return str(side_to_edit((None, None), item))


Version: TypeAlias = Literal["edited", "placebo", "control"]
EDITED: Final = "edited"
PLACEBO: Final = "placebo"
CONTROL: Final = "control"
VERSIONS: Final[tuple[Version, ...]] = (EDITED, PLACEBO, CONTROL)
# The probe that edits no text, and what items have in its place that belong to none.
NAMES: Final = "names"
NO_PROBE: Final = "none"
# Where a text is signed by a family of models.
FAMILY: Final = "{family}"
