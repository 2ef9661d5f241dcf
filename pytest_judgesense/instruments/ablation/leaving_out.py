"""Which sentences of a judge's prompt do anything: what is asked, one step after the other.

A sample of the suite's items is asked with the whole prompt several times, and once without each
sentence; without those that may do something a second time. All that are not noticed are then left
out together; if that does something, a search asks for a smallest group of them that does. Each
pair is shown in one order, in turn. The items are drawn by the seed, so that more of them begin
with the same ones.

What a function with the prompt in its own code sends, told from its recording on a suite.
"""

from __future__ import annotations

import hashlib
import os
import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pytest_judgesense.cassettes.exchange import CALL, RETURN, Exchange, RecordedRequest
from pytest_judgesense.checks.sent import masked, prompt_texts
from pytest_judgesense.datasheets.datasheet import Datasheet
from pytest_judgesense.datasheets.sections import tables_named
from pytest_judgesense.errors import UsageError
from pytest_judgesense.files.pytest_ini import usual_recordings
from pytest_judgesense.instruments.ablation.stimuli import (
    ABLATION,
    LeaveOneOut,
    LeftOutTogether,
    SentText,
    of_one_prompt,
)
from pytest_judgesense.instruments.ablation.tables import TABLE
from pytest_judgesense.judges.functions import TEMPLATE, TEMPLATE_ID, binding_of, has_own_prompt
from pytest_judgesense.judges.functions import shown as signature
from pytest_judgesense.judges.remembered import recorded_trials
from pytest_judgesense.judges.resolving import function_of
from pytest_judgesense.judges.spec import JudgeSpec
from pytest_judgesense.registry import LeaveOutSizes, LeaveOutStep
from pytest_judgesense.stats.left_out import TOGETHER, WORTH_ASKING_AGAIN, most_answers
from pytest_judgesense.suites.builtin import cassettes_in
from pytest_judgesense.suites.from_lines import plain_items
from pytest_judgesense.suites.item import Item
from pytest_judgesense.suites.planning import plan_trials
from pytest_judgesense.suites.prompt_template import placeholders
from pytest_judgesense.suites.suite import Suite
from pytest_judgesense.trial import Trial

# Where a text stands in the requests of a trial: the call, and the place among its texts.
_Place = tuple[int, int]


def texts_sent(judge: JudgeSpec, suite: Suite, cassettes: Path) -> tuple[SentText, ...]:
    """The prompts that a function has in its own code; empty for every other judge.

    Raises:
        UsageError: it is not recorded on the suite, or no request of it is.
    """
    if judge.provider != "callable":
        return ()
    function = function_of(judge)
    binding = binding_of(function, judge, suite)
    if not has_own_prompt(binding):
        return ()
    assert binding is not None, "a function of the messages has no prompt of its own"
    if TEMPLATE_ID in binding.wording:
        raise UsageError(
            f"the prompt of judge {judge.name!r} cannot be taken apart",
            found=f"{signature(function, judge.model)}, which chooses a prompt by {TEMPLATE_ID}",
            expected=f"a function that takes {TEMPLATE}, or one with a single prompt",
            remedy=f"give it a parameter {TEMPLATE}",
        )
    paths = cassettes_in(cassettes, judge.slug, suite.recordings)
    first = suite.templates[0].id
    trials = [trial for trial in plan_trials(suite) if trial.template == first]
    recorded = recorded_trials(path for path in paths.values() if path.is_file())
    requests = [
        (trial, sent)
        for trial in trials
        if (sent := _answered(recorded.get(trial.id, ()))) is not None
    ]
    if not any(sent for _, sent in requests):
        shown = signature(function, judge.model)
        raise _unknown(judge, suite, cassettes, shown, bool(requests))
    return tuple(_shared(suite, requests))


def _answered(exchanges: Sequence[Exchange]) -> list[RecordedRequest] | None:
    """The requests that were answered, in their order; ``None`` where nothing is recorded."""
    if not exchanges:
        return None
    return [
        exchange.request
        for exchange in exchanges
        if exchange.answers and exchange.request.method not in (CALL, RETURN)
    ]


def _shared(
    suite: Suite, requests: Sequence[tuple[Trial, Sequence[RecordedRequest]]]
) -> Iterator[SentText]:
    """The texts that stand at one place in the requests of all trials."""
    items = {item.id: item for item in suite.items}
    fields = set.intersection(*({*item.texts("ab")} for item in suite.items))
    at_place: dict[_Place, list[tuple[str, str, str]]] = {}
    for trial, sent in requests:
        of_item = items[trial.item].texts(trial.order)
        for call, request in enumerate(sent):
            for number, (part, text) in enumerate(prompt_texts(request)):
                shown = (part, text, masked(text, of_item))
                at_place.setdefault((call, number), []).append(shown)
    several = max(call for call, _ in at_place) if at_place else 0
    for (call, _), texts in sorted(at_place.items()):
        if len(texts) == len(requests):
            of_system = texts[0][0] == "system prompt"
            # A text of one item may by chance be a word of the prompt: most do not.
            ((common, _),) = Counter(shown for _, _, shown in texts).most_common(1)
            where = "system" if of_system else "prompt"
            where += f" of call {call + 1}" * bool(several)
            yield SentText(where, _harmless(common, fields), [text for _, text, _ in texts])


def _harmless(text: str, fields: set[str]) -> str:
    """A text without braces that would ask for what not every item has."""
    for name in placeholders(text) - fields:
        text = text.replace("{{" + name + "}}", "{" + name + "}")
    return text


def _unknown(
    judge: JudgeSpec, suite: Suite, cassettes: Path, function: str, is_recorded: bool
) -> UsageError:
    """The error of a function whose requests are not known."""
    if is_recorded:
        return UsageError(
            f"the prompt of judge {judge.name!r} is not in what is recorded of it",
            found=f"{function}, recorded on {suite.name} by what it returned",
            expected=f"a function whose requests are recorded, or one that takes {TEMPLATE} or "
            "messages",
            remedy=f"give it a parameter {TEMPLATE}",
        )
    # A suite without checks is recorded too, which a session of pytest would not ask.
    preset = suite.name.removeprefix(suite.base)
    named = suite.name if suite.built_in is not None else os.path.relpath(suite.path) + preset
    words = ["judgesense", "record", named, "--judge-name", judge.name]
    if cassettes != usual_recordings():
        words += ["--judge-cassettes", str(cassettes)]
    return UsageError(
        f"the prompt of judge {judge.name!r} is in its own code, and is not known",
        found=f"{function}, which is not recorded on {suite.name}",
        expected="a recording, whose requests say what it sends about every item",
        remedy=f"record the suite first: {shlex.join(words)}",
    )


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
