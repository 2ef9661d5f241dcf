"""``judgesense try PROMPT...``: variants of a judge's prompt, each against the first.

Each prompt is a file. A model is sent it in place of the suite's template, and so is a function
that takes the messages or ``template``. A function that reads its prompt itself finds the path of
the file in the environment (`PROMPT_VARIABLE`); whether it reads it there is seen in what it sends
about the first item, before anything else is asked. A variant is recorded under a name of its own,
``JUDGE@PROMPT``, so that the recordings of all of them stand side by side.
"""

from __future__ import annotations

import argparse
import os
import shlex
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, NamedTuple

from pytest_judgesense.api import MeasuredDatasheet
from pytest_judgesense.cassettes.exchange import CALL, RETURN
from pytest_judgesense.cassettes.storage import read_exchanges
from pytest_judgesense.checks.suite_faults import lint_notices
from pytest_judgesense.checks.variants import VariantChange, against_the_first, word_of
from pytest_judgesense.commands.live_calls import add_outputs, add_terms, terms_of
from pytest_judgesense.commands.options import (
    add_judge,
    place_of,
    registry_of,
    show,
    tell_of_outputs,
)
from pytest_judgesense.datasheets.published_design import Paper, Printed, Table
from pytest_judgesense.datasheets.sections import tables_named
from pytest_judgesense.errors import SuiteError, UsageError
from pytest_judgesense.estimate import Estimate, find_estimate
from pytest_judgesense.files.opening import read_text
from pytest_judgesense.files.output import Outputs
from pytest_judgesense.judges.functions import TEMPLATE, binding_of, has_own_prompt, shown
from pytest_judgesense.judges.prompts import sent_prompts, suite_for_judge, unsent_error
from pytest_judgesense.judges.resolving import function_of
from pytest_judgesense.judges.spec import JudgeSpec, Prompts
from pytest_judgesense.measures.shared import (
    FAILED_RATE,
    FIRST_SLOT_RATE,
    SIDE_BIAS,
    UNPARSED_RATE,
)
from pytest_judgesense.questions.measured_files import files_of
from pytest_judgesense.questions.pricing import CallPlan, call_plan, how_to_record
from pytest_judgesense.questions.terms import AskingTerms, measured
from pytest_judgesense.registry import Registry
from pytest_judgesense.report.terminal import datasheet_lines, printed_lines
from pytest_judgesense.report.view import view_of
from pytest_judgesense.suites.planning import plan_trials
from pytest_judgesense.suites.suite import Suite
from pytest_judgesense.text.layout import indented

# Where a function that reads its prompt itself finds the path of the file.
PROMPT_VARIABLE: Final = "JUDGESENSE_PROMPT"


@dataclass(frozen=True, slots=True)
class Variant:
    """A prompt that is tried.

    Attributes:
        name: of the prompt, in tables.
        judge: under it, with a name of its own.
        path: the file; ``itself``: whether the judge reads it itself.
    """

    name: str
    judge: JudgeSpec
    path: Path
    itself: bool = False


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the prompts, the judge, the suite, the limits, and the files."""
    text = "two or more prompt files, with {{placeholders}} as in a suite's template; each is "
    text += "compared with the first"
    parser.add_argument("prompts", nargs="+", type=Path, metavar="PROMPT", help=text)
    text = "a suite by name, NAME@PRESET, or its file"
    form: dict[str, Any] = {"dest": "judge_suite", "required": True, "metavar": "SUITE"}
    parser.add_argument("--suite", "--judge-suite", help=text, **form)
    add_judge(parser)
    add_terms(parser, live=True)
    add_outputs(parser)


def run(options: argparse.Namespace) -> int:
    """Print plan and price, ask, and print and write the comparison."""
    registry = registry_of(options)
    suite = _one_question(place_of(options).suite(options.judge_suite, labelled=False))
    judge = place_of(options).judge_to_ask(options.judge_name)
    variants = _variants(options, judge, suite)
    for variant in variants:
        _refuse_faults(variant, suite, registry)
    # What is recorded is asked again by a live run.
    with tempfile.TemporaryDirectory() as nothing:
        live = options.judge_mode == "live"
        cassettes = Path(nothing) if live else options.judge_cassettes
        plan = _plan(judge, variants, suite, cassettes)
        show(plan.lines())
    if options.plan:
        return 0
    terms = terms_of(options)
    asked = _Asked(options, terms, plan)
    if variants[0].itself and terms.asks:
        _refuse_unread(judge, variants, suite, asked)
    sheet = _measured(variants, suite, asked)
    by_judge = {judge_sheet.judge: judge_sheet.estimates for judge_sheet in sheet.judges}
    estimates = {variant.name: by_judge[variant.judge.slug] for variant in variants}
    cells = dict(zip(estimates, sheet.cells, strict=True))
    changes = against_the_first({name: (cells[name], of) for name, of in estimates.items()})
    sheet = replace(sheet, analyses=(*sheet.analyses, *_analyses(suite, changes)))
    unit = (
        "items" if len({item.cluster for item in suite.items}) == len(suite.items) else "clusters"
    )
    show(["", *(line for c in changes for line in indented(c.sentence(unit), width=0))])
    if len(variants) > 2:
        show(_best_lines(sheet))
    tables = tuple(_tables(judge, suite, estimates, len(sheet.cells[0].judgments), changes))
    title = tables[0].caption
    result = Printed(Paper("try", title, title, (), lambda *_: tables), tables, ())
    outputs, view = Outputs(verbose=options.verbose), view_of(sheet, registry, result)
    show(outputs.shown("table of the prompts", printed_lines(result)))
    if options.verbose:
        show(["", *outputs.shown("judge datasheet", datasheet_lines(view))])
    for path in options.outputs:
        for file, text in files_of(path, result, view, sheet):
            outputs.write("prompts", file, text)
    return tell_of_outputs(outputs)


def _one_question(suite: Suite) -> Suite:
    """The suite with one wording, for a prompt to stand in its place, and without checks."""
    if suite.form.wordings:
        suite = replace(suite, templates=suite.templates[:1])
    if len(suite.templates) != 1 or suite.temperatures:
        raise UsageError(
            f"prompts cannot be tried on suite {suite.name}",
            found=f"kind {suite.kind!r}, which compares {len(suite.templates)} prompts of its own"
            if len(suite.templates) != 1
            else f"kind {suite.kind!r}, which compares temperatures",
            expected="a suite that asks one question about its items",
            remedy="name another suite: --suite SUITE",
        )
    return replace(suite, checks=())


# --- the variants ---------------------------------------------------------------------------------


def _variants(options: argparse.Namespace, judge: JudgeSpec, suite: Suite) -> list[Variant]:
    paths: list[Path] = options.prompts
    if len(paths) < 2:
        raise UsageError(
            "there is one prompt, and nothing to compare it with",
            found=str(paths[0]),
            expected="two prompt files or more; the first is what the others are compared with",
            remedy=f"write the present prompt to a file and name it first: judgesense try NOW.txt "
            f"{shlex.quote(str(paths[0]))} ...",
        )
    if len({path.resolve() for path in paths}) < len(paths):
        raise UsageError(
            "a prompt is named twice",
            found=" ".join(map(str, paths)),
            expected="every prompt file once",
        )
    itself = judge.provider == "callable" and not options.plan and _reads_itself(judge, suite)
    stems = Counter(path.stem for path in paths)
    return [
        _variant(path, path.stem if stems[path.stem] == 1 else str(path), judge, suite, itself)
        for path in paths
    ]


def _variant(path: Path, name: str, judge: JudgeSpec, suite: Suite, itself: bool) -> Variant:
    with UsageError.instead_of(
        (OSError, UnicodeDecodeError),
        f"the prompt {path} cannot be read",
        expected="a text file in UTF-8",
        remedy="fix the path, or the file",
    ):
        text = read_text(path)
    named = replace(judge, name=f"{judge.name}@{name}", called=None)
    if itself:
        return Variant(name, named, path.resolve(), itself=True)
    prompts = Prompts(files=(path.resolve(),))
    if suite.space.pairwise:
        prompts = replace(prompts, pairwise=text)
    else:
        prompts = replace(prompts, paraphrases={suite.base: (text,)})
    return Variant(name, replace(named, prompts=prompts), path)


def _reads_itself(judge: JudgeSpec, suite: Suite) -> bool:
    """Whether a function is given neither the messages nor the text of the template."""
    return has_own_prompt(binding_of(function_of(judge), judge, suite))


def _refuse_faults(variant: Variant, suite: Suite, registry: Registry) -> None:
    """Raise an error if the prompt is not sent on the suite, or its numbers would mean nothing."""
    judge = variant.judge
    if not variant.itself and not sent_prompts(suite, judge):
        raise unsent_error(judge, [suite], ["the prompt"])
    try:
        lint_notices(suite_for_judge(suite, judge), registry)
    except (UsageError, SuiteError) as error:
        raise type(error)(
            f"{variant.path}: {error.what}",
            found=error.found,
            expected=error.expected,
            remedy=error.remedy if variant.itself else f"fix {variant.path}",
        ) from error


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


class _Asked(NamedTuple):
    """How the variants are asked."""

    options: argparse.Namespace
    terms: AskingTerms
    plan: CallPlan

    @property
    def how_to_record(self) -> str:
        options = self.options
        words = ["judgesense", "try", *map(str, options.prompts), "--suite", options.judge_suite]
        words += ["--judge-name", options.judge_name] if options.judge_name else []
        return how_to_record(words, options.judge_cassettes, self.plan)


def _measured(
    variants: Sequence[Variant], suite: Suite, asked: _Asked, **changes: Any
) -> MeasuredDatasheet:
    paths = {variant.judge.name: variant.path for variant in variants if variant.itself}

    def around(judge: JudgeSpec) -> Any:
        return _prompt_named(paths[judge.name]) if judge.name in paths else nullcontext()

    return measured(
        place_of(asked.options),
        asked.terms,
        [variant.judge for variant in variants],
        [suite],
        asked.how_to_record,
        named=[variant.path for variant in variants],
        around=around,
        **changes,
    )


def _refuse_unread(
    judge: JudgeSpec,
    variants: Sequence[Variant],
    suite: Suite,
    asked: _Asked,
) -> None:
    """Ask about the first item under each prompt, and raise an error if the same is sent.

    The answers are recorded like all others; a live run keeps them nowhere.
    """
    texts = [read_text(variant.path) for variant in variants]
    for variant, text in zip(variants[1:], texts[1:], strict=True):
        if text == texts[0]:
            raise UsageError(
                "two prompts are the same text",
                found=f"{variants[0].path} and {variant.path}",
                expected="prompts that differ",
                remedy="change one of them; how much a judge differs by itself: repeat flips",
            )
    first_item = replace(suite, items=suite.items[:1], replicates=1)
    trials = {trial.id for trial in plan_trials(first_item)}
    live, cassettes = asked.terms.mode == "live", asked.options.judge_cassettes
    with tempfile.TemporaryDirectory() if live else nullcontext(cassettes) as folder:
        aside = argparse.Namespace(**{**vars(asked.options), "judge_cassettes": Path(folder)})
        _measured(variants, first_item, asked._replace(options=aside), mode="record")
        sent = [
            {
                (exchange.trial, exchange.request)
                for recording in suite.recordings
                for exchange in read_exchanges(
                    Path(folder) / variant.judge.slug / f"{recording}.jsonl"
                )
                if exchange.trial in trials and exchange.request.method not in (CALL, RETURN)
            }
            for variant in variants
        ]
    function = shown(function_of(judge), judge.model)
    for variant, requests in zip(variants[1:], sent[1:], strict=True):
        if requests and requests != sent[0]:
            continue
        found = f"{function}, which takes no prompt, and "
        found += (
            f"sends the same under {variants[0].name} and {variant.name}"
            if requests
            else "makes no request in which one could be seen"
        )
        reading = f'Path(os.environ.get("{PROMPT_VARIABLE}", "prompt.txt")).read_text()'
        raise UsageError(
            f"the prompts do not reach judge {judge.name!r}",
            found=found,
            expected=f"a function of the messages, one with a parameter {TEMPLATE}, or one that "
            f"reads its prompt, at each call, where the variable {PROMPT_VARIABLE} says",
            remedy=f"read it so: {reading}"
            if requests
            else f"give it a parameter {TEMPLATE}: what a function is given is recorded",
        )


# --- what is printed ------------------------------------------------------------------------------


def _plan(judge: JudgeSpec, variants: Sequence[Variant], suite: Suite, cassettes: Path) -> CallPlan:
    """What each prompt asks, what of it is recorded, and what the rest would cost."""
    heading = f"{suite.name}, judge {judge.name}: {len(variants)} prompts"
    asked = ((variant.name, variant.judge, suite) for variant in variants)
    return call_plan(heading, asked, cassettes)


def _best_lines(sheet: MeasuredDatasheet) -> Iterator[str]:
    """Which of all is best, each with every other one, as a session compares judges."""
    for _, _, rows in tables_named(sheet, "best_judge"):
        for best in rows:
            yield from indented(f"of all: {best['verdict']}", width=0)


def _analyses(suite: Suite, changes: Iterable[VariantChange]) -> Iterator[dict[str, Any]]:
    """The comparison as a table of the datasheet."""
    rows = []
    for change in changes:
        for of in change.changes:
            lower, upper = of.ends or (None, None)
            rows.append(
                {
                    "prompt": change.name,
                    "first": change.first,
                    "measure": of.measure.name,
                    "value_of_first": of.values[0],
                    "value": of.values[1],
                    "difference": of.difference,
                    "lower": lower,
                    "upper": upper,
                    "p": of.pair.p,
                    "verdict": of.verdict or "not told apart",
                    "clusters": of.pair.clusters,
                    "clusters_that_differ": of.pair.differ,
                    "clusters_needed": of.pair.needed,
                }
            )
    yield {"analysis": "variants", "suite": suite.name, "rows": rows}


def _tables(
    judge: JudgeSpec,
    suite: Suite,
    estimates: Mapping[str, Sequence[Estimate]],
    calls: int,
    changes: Sequence[VariantChange],
) -> Iterator[Table]:
    """A line for each variant, and a line for each of its measures against the first."""
    columns = _columns(changes[0], estimates)
    items = f"{len(suite.items)} items, {calls:,} verdicts each"
    unlabelled = not any(item.label for item in suite.items)
    yield Table(
        "prompts",
        f"{len(estimates)} prompts of judge {judge.name} on {suite.name}, {items}",
        ("prompt", *columns),
        tuple(zip(estimates, *columns.values(), strict=True)),
        ("no agreement: the items have no labels",) * unlabelled,
    )
    yield Table(
        "differences",
        f"each against {changes[0].first}; intervals over whole clusters, p by Holm over all lines",
        ("prompt", "measure", "change", "95% clustered", "p", "verdict"),
        tuple(
            (
                change.name,
                of.measure.name,
                None if of.difference is None else _signed(of.difference),
                of.ends,
                f"{of.pair.p:.3g}",
                of.verdict or "not told apart",
            )
            for change in changes
            for of in change.changes
        ),
        keys=2,
    )


def _signed(difference: float) -> str:
    """A difference as a table shows it: with its sign, unless it is none."""
    text = f"{difference:+.3f}"
    return text if float(text) else text[1:]


def _columns(
    change: VariantChange, estimates: Mapping[str, Sequence[Estimate]]
) -> dict[str, list[float | None]]:
    """The values of all prompts, by heading: of what is compared, and beside it."""
    headings: dict[str, str] = {}
    for of in change.changes:
        if of.measure.name == SIDE_BIAS.name:
            headings[FIRST_SLOT_RATE.name] = "first slot"  # which one the bias is for
        headings[of.measure.name] = word_of(of.measure)
    headings |= {UNPARSED_RATE.name: "unparsed", FAILED_RATE.name: "failed"}
    columns = {
        heading: [_value(of_prompt, name) for of_prompt in estimates.values()]
        for name, heading in headings.items()
    }
    if not any(columns["failed"]):
        del columns["failed"]
    return columns


def _value(estimates: Sequence[Estimate], measure: str) -> float | None:
    estimate = find_estimate(estimates, measure)
    return None if estimate is None else estimate.value
