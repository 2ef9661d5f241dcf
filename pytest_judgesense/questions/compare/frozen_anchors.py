"""Anchors as a suite: a suite of frozen outputs that is asked beside each session."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Final

from pytest_judgesense.errors import UsageError
from pytest_judgesense.files.foreign_results import slug
from pytest_judgesense.questions.compare.judged_session import JudgedSession
from pytest_judgesense.suites.suite import Suite

_LONGEST_STEM: Final = 30


def as_in_reference(anchors: Suite, reference: JudgedSession) -> Suite:
    """The anchors that the reference has, in the orders in which it has them."""
    orders = {j.trial.order for judgments in reference.anchors.values() for j in judgments}
    items = tuple(item for item in anchors.items if item.id in reference.anchors)
    return replace(anchors, items=items, orders="ab" if orders == {"ab"} else anchors.orders)


def beside_session(anchors: Suite, session: str, digest: str, replicates: int) -> Suite:
    """The anchors as a suite that is asked beside a session, by one wording.

    Its name has a digest of the session, so that each session has its own answers.

    Args:
        anchors: the frozen outputs.
        session: the session as it was named.
        digest: of its content.
        replicates: how often each anchor is asked.

    Raises:
        UsageError: the suite asks more than one question about its items.
    """
    stem = slug(Path(session).name.partition(".")[0])[:_LONGEST_STEM]
    name = f"{slug(anchors.base)[:_LONGEST_STEM]}-beside-{stem}-{digest.rpartition(':')[2][:8]}"
    if anchors.temperatures:
        raise UsageError(
            f"suite {anchors.name} cannot hold anchors",
            found=f"kind {anchors.kind!r}, which compares temperatures",
            expected="a suite that asks one question about its items",
        )
    templates = anchors.templates[:1] if anchors.form.wordings else anchors.templates
    return replace(
        anchors,
        name=name,
        base=name,
        templates=tuple(replace(template, shared_with=None) for template in templates),
        items=tuple(replace(item, shared_with=None) for item in anchors.items),
        replicates=replicates,
        checks=(),
    )
