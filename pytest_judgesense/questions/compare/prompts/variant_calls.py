"""The calls of a judge under several prompts, and whether each prompt reaches it.

A function that reads its prompt itself finds the path of the file in the environment
(`PROMPT_VARIABLE`). Whether it reads it there is seen in what it sends about the first item, before
anything else is asked.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, TypeAlias

from pytest_judgesense.api import MeasuredDatasheet
from pytest_judgesense.cassettes.exchange import CALL, RETURN
from pytest_judgesense.cassettes.storage import read_exchanges
from pytest_judgesense.errors import UsageError
from pytest_judgesense.files.opening import read_text
from pytest_judgesense.judges.functions import TEMPLATE, shown
from pytest_judgesense.judges.resolving import function_of
from pytest_judgesense.judges.spec import JudgeSpec
from pytest_judgesense.questions.compare.prompts.prompt_variants import PromptVariant
from pytest_judgesense.questions.place import Place
from pytest_judgesense.questions.terms import AskingTerms, measured
from pytest_judgesense.suites.planning import plan_trials
from pytest_judgesense.suites.suite import Suite

# Where a function that reads its prompt itself finds the path of the file.
PROMPT_VARIABLE: Final = "JUDGESENSE_PROMPT"

# What was sent under a prompt: the ids of trials with their requests.
_SentRequests: TypeAlias = set[tuple[str, Any]]


@dataclass(frozen=True)
class VariantCalls:
    """How a judge is asked under each of its prompts.

    Attributes:
        how_to_record: what an error about a missing recording tells to do.
    """

    judge: JudgeSpec
    suite: Suite
    variants: Sequence[PromptVariant]
    place: Place
    terms: AskingTerms
    how_to_record: str

    def measured(self, **changes: Any) -> MeasuredDatasheet:
        """What the judge says under each prompt; ``changes`` are arguments of `api.measure_all`."""
        return measured(
            self.place,
            self.terms,
            [variant.judge for variant in self.variants],
            [self.suite],
            self.how_to_record,
            named=[variant.path for variant in self.variants],
            around=self._around,
            **changes,
        )

    def _around(self, judge: JudgeSpec) -> AbstractContextManager[None]:
        """What holds while a variant is asked: where a function finds its prompt."""
        paths: Mapping[str, Path] = {
            variant.judge.name: variant.path
            for variant in self.variants
            if variant.is_read_by_judge
        }
        return _prompt_named(paths[judge.name]) if judge.name in paths else nullcontext()

    def refuse_unread(self) -> None:
        """Ask about the first item under each prompt; raise an error if the same is sent.

        The answers are recorded like all others; a live run keeps them nowhere.
        """
        _refuse_equal_texts(self.variants)
        first_item = replace(self.suite, items=self.suite.items[:1], replicates=1)
        live, cassettes = self.terms.mode == "live", self.place.cassettes
        with tempfile.TemporaryDirectory() if live else nullcontext(cassettes) as folder:
            place = replace(self.place, cassettes=Path(folder))
            replace(self, suite=first_item, place=place).measured(mode="record")
            sent = [_sent_requests(variant, first_item, place) for variant in self.variants]
        for variant, requests in zip(self.variants[1:], sent[1:], strict=True):
            if not requests or requests == sent[0]:
                raise self._unread_error(variant, sends_requests=bool(requests))

    def _unread_error(self, variant: PromptVariant, *, sends_requests: bool) -> UsageError:
        function = shown(function_of(self.judge), self.judge.model)
        found = f"{function}, which takes no prompt, and "
        found += (
            f"sends the same under {self.variants[0].name} and {variant.name}"
            if sends_requests
            else "makes no request in which one could be seen"
        )
        how_to_read = f'Path(os.environ.get("{PROMPT_VARIABLE}", "prompt.txt")).read_text()'
        return UsageError(
            f"the prompts do not reach judge {self.judge.name!r}",
            found=found,
            expected=f"a function of the messages, one with a parameter {TEMPLATE}, or one that "
            f"reads its prompt, at each call, where the variable {PROMPT_VARIABLE} says",
            remedy=f"read it so: {how_to_read}"
            if sends_requests
            else f"give it a parameter {TEMPLATE}: what a function is given is recorded",
        )


def _refuse_equal_texts(variants: Sequence[PromptVariant]) -> None:
    """Raise a `UsageError` if a prompt has the text of the first: the same would be sent."""
    first = variants[0]
    text_of_first = read_text(first.path)
    for variant in variants[1:]:
        if read_text(variant.path) == text_of_first:
            raise UsageError(
                "two prompts are the same text",
                found=f"{first.path} and {variant.path}",
                expected="prompts that differ",
                remedy="change one of them; how much a judge differs by itself: repeat flips",
            )


def _sent_requests(variant: PromptVariant, suite: Suite, place: Place) -> _SentRequests:
    """What the judge has sent under a prompt, as it is recorded."""
    trials = {trial.id for trial in plan_trials(suite)}
    folder = place.cassettes / variant.judge.slug
    return {
        (exchange.trial, exchange.request)
        for recording in suite.recordings
        for exchange in read_exchanges(folder / f"{recording}.jsonl")
        if exchange.trial in trials and exchange.request.method not in (CALL, RETURN)
    }


@contextmanager
def _prompt_named(path: Path) -> Iterator[None]:
    """Let functions, and the processes that replay them, read the prompt at ``path``."""
    before = os.environ.get(PROMPT_VARIABLE)
    os.environ[PROMPT_VARIABLE] = str(path)
    try:
        yield
    finally:
        if before is None:
            del os.environ[PROMPT_VARIABLE]
        else:
            os.environ[PROMPT_VARIABLE] = before
