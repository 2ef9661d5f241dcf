"""Which sentences of a judge's prompt do anything: what is asked, one step after the other.

A sample of the suite's items is asked with the whole prompt several times, and once without each
sentence; without those that may do something a second time. All that are not noticed are then left
out together; if that does something, a search asks for a smallest group of them that does. Each
pair is shown in one order, in turn. The items are drawn by the seed, so that more of them begin
with the same ones.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pytest_judgesense.datasheets.datasheet import Datasheet
from pytest_judgesense.datasheets.sections import tables_named
from pytest_judgesense.errors import UsageError
from pytest_judgesense.instruments.ablation.sent import texts_sent
from pytest_judgesense.instruments.ablation.stimuli import (
    ABLATION,
    LeaveOneOut,
    LeftOutTogether,
    of_one_prompt,
)
from pytest_judgesense.instruments.ablation.tables import TABLE
from pytest_judgesense.judges.spec import JudgeSpec
from pytest_judgesense.registry import LeaveOutSizes, LeaveOutStep
from pytest_judgesense.stats.left_out import TOGETHER, WORTH_ASKING_AGAIN, most_answers
from pytest_judgesense.suites.from_lines import plain_items
from pytest_judgesense.suites.item import Item
from pytest_judgesense.suites.suite import Suite


@dataclass(frozen=True)
class _Leaving:
    """A prompt on a sample of items, and what is left out of it by now.

    Attributes:
        source: the suite that has the items.
    """

    source: Suite
    sizes: LeaveOutSizes
    expand: LeaveOneOut

    @property
    def suite(self) -> Suite:
        """What is asked."""
        return ablation_of(self.source, self.sizes.items, self.sizes.seed, self.expand)

    def asked_again(self, sheet: Datasheet) -> LeaveOutStep | None:
        """What may do something is left out a second time, if anything may."""
        twice = _worth_asking_again(sheet)
        if not twice:
            return self.left_out_together(sheet)
        again = replace(self, expand=replace(self.expand, twice=twice))
        note = f"asked a second time, to be sure: without {', '.join(sorted(twice))}"
        return LeaveOutStep(again.suite, again.left_out_together, note)

    def left_out_together(self, sheet: Datasheet) -> LeaveOutStep | None:
        """What does nothing alone is left out together, and then groups of it."""
        together = _to_leave_out(sheet, self.expand)
        if not together:
            return None
        search = replace(self, expand=replace(self.expand, together=together))
        return LeaveOutStep(
            search.suite,
            search.left_out_together,
            unrecorded="sentences left out together are not recorded",
        )


def begin(judge: JudgeSpec, source: Suite, cassettes: Path, sizes: LeaveOutSizes) -> LeaveOutStep:
    """The whole prompt, and the prompt without each part, on a sample of the suite's items.

    Args:
        judge: with prompts of its own, they are taken apart in place of those of the suite.
        source: the suite that has the items.
        cassettes: the folder of the recordings, which have what a function sends.
        sizes: of the sample.

    Raises:
        UsageError: the suite has no single prompt, or that of a function is not known.
    """
    sent = texts_sent(judge, _source(source), cassettes)
    leaving = _Leaving(source, sizes, LeaveOneOut(sizes.times, sent))
    return LeaveOutStep(leaving.suite, leaving.asked_again)


def further_calls(suite: Suite) -> Iterator[str]:
    """What the answers on the suite of the first step may ask for beside its calls."""
    items, parts = len(suite.items), len(suite.templates) - 1
    if parts:
        search = items * most_answers(parts)
        yield f"for what may do something, asked again: as many as {items * parts} calls more"
        yield f"for what does nothing alone, left out together: {TOGETHER * items} calls more"
        if search:
            yield f"for which of it does something together: as many as {search} calls more"


def _to_leave_out(sheet: Datasheet, expand: LeaveOneOut) -> tuple[LeftOutTogether, ...]:
    """What is left out together if it goes on; empty where it is over."""
    times = {group.ids: group.times for group in expand.together}
    more = {
        tuple(name.split("+")): number
        for _, _, rows in tables_named(sheet, TABLE)
        for row in rows
        for name, number in row.get("to_ask", {}).items()
    }
    if not more:
        return ()
    return tuple(LeftOutTogether(ids, number) for ids, number in (times | more).items())


def _worth_asking_again(sheet: Datasheet) -> frozenset[str]:
    """The parts that a second asking may show to do something (see `stats.left_out`)."""
    return frozenset(
        row["sentence"]
        for _, _, rows in tables_named(sheet, TABLE)
        for row in rows
        if row.get("p_unadjusted", 1.0) <= WORTH_ASKING_AGAIN
    )


def _source(suite: Suite) -> Suite:
    """The suite, if its items can be asked with one prompt."""
    if suite.form.expand is not None:
        raise UsageError(
            f"suite {suite.name} is itself made of prompts that are taken apart",
            found=f"kind {suite.kind!r}",
            expected="the suite that has the items",
            remedy=f"name that one{f': {suite.source}' * bool(suite.source)}; or run this one by "
            "pytest",
        )
    if suite.form.items is not plain_items or suite.space.criteria or suite.temperatures:
        raise UsageError(
            f"prompts of suite {suite.name} cannot be taken apart",
            found=f"kind {suite.kind!r}" + " with criteria" * bool(suite.space.criteria),
            expected="a suite of pairs, or of single texts with one verdict",
            remedy="name another suite",
        )
    return suite


def ablation_of(source: Suite, number: int, seed: int, expand: LeaveOneOut) -> Suite:
    """The suite that asks a sample of the items of ``source`` with one prompt, taken apart."""
    first = source.templates[0]
    asked = [item for item in source.items if item.is_asked_in(first.id)]
    sample = _sample(asked, number, seed)
    told = f"{source.digest} {number} {seed} {expand.times}"
    name = f"{source.base}-{ABLATION.name}"
    return replace(
        source,
        name=name,
        base=name,
        form=replace(ABLATION, expand=expand),
        digest=hashlib.sha256(told.encode()).hexdigest()[:16],
        description="",
        templates=(replace(first, shared_with=None),),
        items=tuple(map(of_one_prompt, sample)),
        pairs=(),
        orders="balanced" if source.space.pairwise else "ab",
        replicates=1,
        checks=(),
        judges=(),
        reviews=(),
        weights=None,
        early_stop=False,
        labelled=None,
        source=source.base,
        unexpanded=None,
    ).expanded


def _sample(items: Sequence[Item], number: int, seed: int) -> list[Item]:
    """So many of the items, in the order in which they are drawn."""

    def place(item: Item) -> bytes:
        return hashlib.sha256(f"{seed}/{item.id}".encode()).digest()

    return sorted(items, key=place)[:number]
