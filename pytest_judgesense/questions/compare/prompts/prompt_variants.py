"""One judge under several prompts: each is a file, and has a judge with a name of its own.

A model is sent the file in place of the suite's template, and so is a function that takes the
messages or ``template``. A function that reads its prompt itself is told where it stands
(`variant_calls`). A variant is recorded as ``JUDGE@PROMPT``, so that the recordings of all of them
stand side by side.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pytest_judgesense.checks.suite_faults import lint_notices
from pytest_judgesense.errors import SuiteError, UsageError
from pytest_judgesense.files.opening import read_text
from pytest_judgesense.judges.functions import binding_of, has_own_prompt
from pytest_judgesense.judges.prompts import sent_prompts, suite_for_judge, unsent_error
from pytest_judgesense.judges.resolving import function_of
from pytest_judgesense.judges.spec import JudgeSpec, Prompts
from pytest_judgesense.registry import Registry
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
