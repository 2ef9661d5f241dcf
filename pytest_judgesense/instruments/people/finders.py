"""The replies behind a number against people. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from pytest_judgesense.instruments.people.targets import targets
from pytest_judgesense.measures.cell import FAILED, Cell
from pytest_judgesense.measures.evidence import Group
from pytest_judgesense.trial import LABEL, SYSTEM


def unlike_people(cell: Cell, condition: Mapping[str, Any]) -> list[Group]:
    """Replies that are not the label of people, those farthest from it on a scale first.

    With a ``label`` in the condition, those where people or the judge give it; with a ``system`` or
    a ``system_pair``, those on its outputs.
    """
    replies: list[Group] = []
    systems = str(condition.get("system_pair", condition.get(SYSTEM, ""))).split("~")
    for target in targets(cell):
        if target.name != condition.get("criterion", LABEL):
            continue
        label, answers = target.label, target.answers
        unlike = (label >= 0) & (answers != label) & (target.cell.outcomes != FAILED)
        if (name := condition.get("label")) in target.labels:
            code = target.labels.index(str(name))
            unlike &= (label == code) | (answers == code)
        far = np.abs(answers - label) if target.scale else np.zeros_like(label)
        order = np.argsort(-np.where(answers >= 0, far, 0), kind="stable")
        replies += [(cell.judgments[place],) for place in order[unlike[order]].tolist()]
    if systems == [""]:
        return replies
    return [reply for reply in replies if reply[0].trial.condition.get(SYSTEM) in systems]
