"""One judge under several prompts: each is a file, and has a judge with a name of its own.

A model is sent the file in place of the suite's template, and so is a function that takes the
messages or ``template``. A function that reads its prompt itself finds the path of the file in the
environment (`PROMPT_VARIABLE`); whether it reads it there is seen in what it sends about the first
item, before anything else is asked. A variant is recorded as ``JUDGE@PROMPT``, so that the
recordings of all of them stand side by side.
"""

from __future__ import annotations

import os
import shlex
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, TypeAlias

from pytest_judgesense.api import MeasuredDatasheet
from pytest_judgesense.cassettes.exchange import CALL, RETURN
from pytest_judgesense.cassettes.storage import read_exchanges
from pytest_judgesense.checks.suite_faults import lint_notices
from pytest_judgesense.errors import SuiteError, UsageError
from pytest_judgesense.files.opening import read_text
from pytest_judgesense.judges.functions import TEMPLATE, binding_of, has_own_prompt, shown
from pytest_judgesense.judges.prompts import sent_prompts, suite_for_judge, unsent_error
from pytest_judgesense.judges.resolving import function_of
from pytest_judgesense.judges.spec import JudgeSpec, Prompts
from pytest_judgesense.questions.place import Place
from pytest_judgesense.questions.pricing import RecordingCommand
from pytest_judgesense.questions.terms import AskingTerms, measured
from pytest_judgesense.registry import Registry
from pytest_judgesense.suites.planning import plan_trials
from pytest_judgesense.suites.suite import Suite


@dataclass(frozen=True, slots=True)
class PromptVariant:
    """A prompt that is compared.

    Attributes:
        name: of the prompt, in tables.
        judge: under it, with a name of its own.
        path: the file.
        is_read_by_judge: whether the judge, a function, reads the file itself.
    """

    name: str
    judge: JudgeSpec
    path: Path
    is_read_by_judge: bool = False


def with_one_wording(suite: Suite) -> Suite:
    """The suite with one wording, for a prompt to stand in its place, and without checks.

    Raises:
        UsageError: the suite compares prompts of its own, or temperatures.
    """
    if suite.form.wordings:
        suite = replace(suite, templates=suite.templates[:1])
    if len(suite.templates) != 1 or suite.temperatures:
        raise UsageError(
            f"prompts cannot be compared on suite {suite.name}",
            found=f"kind {suite.kind!r}, which compares {len(suite.templates)} prompts of its own"
            if len(suite.templates) != 1
            else f"kind {suite.kind!r}, which compares temperatures",
            expected="a suite that asks one question about its items",
            remedy="name another suite: judgesense compare SUITE --prompts ...",
        )
    return replace(suite, checks=())


def reads_its_prompt(judge: JudgeSpec, suite: Suite) -> bool:
    """Whether it is a function that is given neither the messages nor the text of the template.

    The code of the judge is imported.
    """
    if judge.provider != "callable":
        return False
    return has_own_prompt(binding_of(function_of(judge), judge, suite))


def variants_of(
    paths: Sequence[Path], judge: JudgeSpec, suite: Suite, *, is_read_by_judge: bool
) -> list[PromptVariant]:
    """The judge under each prompt; named by its file, or by the path where two are called alike.

    Raises:
        UsageError: a file cannot be read.
    """
    stems = Counter(path.stem for path in paths)
    names = [path.stem if stems[path.stem] == 1 else str(path) for path in paths]
    return [
        _variant(path, name, judge, suite, is_read_by_judge=is_read_by_judge)
        for path, name in zip(paths, names, strict=True)
    ]


def _variant(
    path: Path, name: str, judge: JudgeSpec, suite: Suite, *, is_read_by_judge: bool
) -> PromptVariant:
    with UsageError.instead_of(
        (OSError, UnicodeDecodeError),
        f"the prompt {path} cannot be read",
        expected="a text file in UTF-8",
        remedy="fix the path, or the file",
    ):
        text = read_text(path)
    named = replace(judge, name=f"{judge.name}@{name}", called=None)
    if is_read_by_judge:
        return PromptVariant(name, named, path.resolve(), is_read_by_judge=True)
    prompts = Prompts(files=(path.resolve(),))
    if suite.space.pairwise:
        prompts = replace(prompts, pairwise=text)
    else:
        prompts = replace(prompts, paraphrases={suite.base: (text,)})
    return PromptVariant(name, replace(named, prompts=prompts), path)


def refuse_wrong_prompts(suite: str, paths: Sequence[Path]) -> None:
    """Raise a `UsageError` if there is no second prompt, or one is named twice."""
    if len(paths) < 2:
        named = " ".join(shlex.quote(str(path)) for path in paths) or "P1 P2"
        raise UsageError(
            "there is one prompt, and nothing to compare it with"
            if paths
            else "there is no prompt",
            found=" ".join(map(str, paths)) or "no file",
            expected="two prompt files or more; the first is what the others are compared with",
            remedy="write the present prompt to a file and name it first: "
            f"judgesense compare {shlex.quote(suite)} --prompts NOW.txt {named} ...",
        )
    if len({path.resolve() for path in paths}) < len(paths):
        raise UsageError(
            "a prompt is named twice",
            found=" ".join(map(str, paths)),
            expected="every prompt file once",
        )


def refuse_faults(variant: PromptVariant, suite: Suite, registry: Registry) -> None:
    """Raise an error if the prompt is not sent on the suite, or its numbers would mean nothing."""
    judge = variant.judge
    if not variant.is_read_by_judge and not sent_prompts(suite, judge):
        raise unsent_error(judge, [suite], ["the prompt"])
    try:
        lint_notices(suite_for_judge(suite, judge), registry)
    except (UsageError, SuiteError) as error:
        raise type(error)(
            f"{variant.path}: {error.what}",
            found=error.found,
            expected=error.expected,
            remedy=error.remedy if variant.is_read_by_judge else f"fix {variant.path}",
        ) from error


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
    how_to_record: RecordingCommand

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
