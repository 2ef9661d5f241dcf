"""``judgesense ablate JUDGE SUITE``: which sentences of a judge's prompt do anything.

A sample of the suite's items is asked with the whole prompt several times, and once without each
sentence; without those that may do something a second time. All that are not noticed are then left
out together; if that does something, a search asks for a smallest group of them that does. Each
pair is shown in one order, in turn. The items are drawn by the seed, so that more of them begin
with the same ones.
"""

from __future__ import annotations

import argparse
import hashlib
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from pytest_judgesense.datasheets.datasheet import Datasheet
from pytest_judgesense.datasheets.sections import tables_named
from pytest_judgesense.errors import MissingRecording, UsageError
from pytest_judgesense.instruments.ablation.sent import texts_sent
from pytest_judgesense.instruments.ablation.stimuli import (
    ABLATION,
    TIMES,
    LeaveOneOut,
    LeftOutTogether,
    of_one_prompt,
)
from pytest_judgesense.instruments.ablation.tables import TABLE, prompt_lines
from pytest_judgesense.registry import Services
from pytest_judgesense.stats.left_out import TOGETHER, WORTH_ASKING_AGAIN, most_answers
from pytest_judgesense.suites.from_lines import plain_items
from pytest_judgesense.suites.item import Item
from pytest_judgesense.suites.suite import Suite
from pytest_judgesense.text.layout import indented

_ITEMS: Final = 40
_LEAST: Final = {"items": 2, "times": 2, "judge_seed": 0}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add judge, suite, and the size of the sample."""
    parser.add_argument("judge", metavar="JUDGE", help="a declared judge, or provider:model")
    text = "a suite by name, NAME@PRESET, or its file, whose items are asked"
    parser.add_argument("suite", metavar="SUITE", help=text)
    form: dict[str, Any] = {"type": int, "metavar": "N"}
    text = f"how many items are drawn (default: {_ITEMS})"
    parser.add_argument("--items", default=_ITEMS, help=text, **form)
    text = f"how often each is asked with the whole prompt (default: {TIMES})"
    parser.add_argument("--times", default=TIMES, help=text, **form)


def run(options: argparse.Namespace, services: Services) -> int:
    """Print plan and price, ask, and print the prompt with what each sentence does."""
    for name, least in _LEAST.items():
        if (number := getattr(options, name)) < least:
            raise UsageError(
                f"--{name.replace('_', '-')} {number} is too small",
                expected=f"a whole number, at least {least}",
            )
    (judge,) = services.judges([options.judge])
    source = _source(services.suite(options.suite))
    sent = texts_sent(judge, source, options.judge_cassettes)
    expand = LeaveOneOut(options.times, sent)
    suite = ablation_of(source, options.items, options.judge_seed, expand)
    services.show(services.plan(judge, suite))
    if options.plan or options.judge_mode == "record":
        services.show(_further_calls(len(suite.items), len(suite.templates) - 1))
    if options.plan:
        return 0
    how = f"record it: {_command(options)}"
    sheet = services.measure(judge, suite, how)
    if twice := _worth_asking_again(sheet):
        words = f"asked a second time, to be sure: without {', '.join(sorted(twice))}"
        services.show(indented(words, width=2))
        expand = replace(expand, twice=twice)
        suite = ablation_of(source, options.items, options.judge_seed, expand)
        sheet = services.measure(judge, suite, how)
    while together := _to_leave_out(sheet, expand):
        expand = replace(expand, together=together)
        suite = ablation_of(source, options.items, options.judge_seed, expand)
        try:
            sheet = services.measure(judge, suite, how)
        except MissingRecording:
            words = f"sentences left out together are not recorded; {how}"
            services.show(indented(words, width=2))
            break
    for _, _, rows in tables_named(sheet, TABLE):
        services.show(prompt_lines(rows))
    return services.write(sheet)


def _further_calls(items: int, parts: int) -> Iterator[str]:
    """What the answers may ask for beside the calls of the plan."""
    if parts:
        search = items * most_answers(parts)
        yield f"  for what may do something, asked again: as many as {items * parts} calls more"
        yield f"  for what does nothing alone, left out together: {TOGETHER * items} calls more"
        if search:
            yield f"  for which of it does something together: as many as {search} calls more"


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


def _command(options: argparse.Namespace) -> str:
    words = ["judgesense", "ablate", options.judge, options.suite]
    for name, value, default in (
        ("--items", options.items, _ITEMS),
        ("--times", options.times, TIMES),
        ("--judge-seed", options.judge_seed, 0),
        ("--judge-cassettes", str(options.judge_cassettes), "cassettes"),
    ):
        words += [name, str(value)] if value != default else []
    return f"{shlex.join(words)} --judge-mode record"
