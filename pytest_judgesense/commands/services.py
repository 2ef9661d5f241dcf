"""What commands of instruments use: judges, suites, plans, measurements and files."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from functools import partial

from pytest_judgesense.api import MeasuredDatasheet
from pytest_judgesense.checks.suite_faults import lint_notices
from pytest_judgesense.commands.live_calls import terms_of
from pytest_judgesense.commands.options import place_of, registry_of, show, tell_of_outputs
from pytest_judgesense.datasheets.datasheet import Datasheet
from pytest_judgesense.files.output import Outputs
from pytest_judgesense.judges.prompts import suite_for_judge
from pytest_judgesense.judges.spec import JudgeSpec
from pytest_judgesense.questions.planned_calls import planned_calls
from pytest_judgesense.questions.terms import measured
from pytest_judgesense.registry import Services
from pytest_judgesense.report.assembly import datasheet_text
from pytest_judgesense.report.log import log_lines
from pytest_judgesense.report.packing import PageEvidence
from pytest_judgesense.report.terminal import datasheet_lines
from pytest_judgesense.report.view import view_of
from pytest_judgesense.suites.suite import Suite


def services_of(options: argparse.Namespace) -> Services:
    """What a command with these options is given."""
    return Services(
        judges=place_of(options).judges_to_ask,
        suite=partial(place_of(options).suite, labelled=False),
        plan=partial(_plan, options),
        measure=partial(_measured, options),
        show=show,
        write=partial(_written, options),
    )


def _plan(options: argparse.Namespace, judge: JudgeSpec, suite: Suite) -> Iterable[str]:
    # An error of lint ends it: no price is asked for what cannot be measured.
    lint_notices(suite_for_judge(suite, judge), registry_of(options))
    return planned_calls(judge, suite, options.judge_cassettes, place_of(options).plans).lines()


def _measured(
    options: argparse.Namespace,
    judge: JudgeSpec,
    suite: Suite,
    how_to_record: str,
) -> MeasuredDatasheet:
    return measured(place_of(options), terms_of(options), [judge], [suite], how_to_record)


def _written(options: argparse.Namespace, sheet: Datasheet) -> int:
    """Write the files; with ``-v`` show the datasheet first."""
    outputs, view = Outputs(verbose=options.verbose), view_of(sheet, registry_of(options))
    if options.verbose:
        show(["", *outputs.shown("judge datasheet", datasheet_lines(view))])
    cells = sheet.cells if isinstance(sheet, MeasuredDatasheet) else ()
    logs = [list(log_lines(cell.judgments, cell.design)) for cell in cells]
    for path in options.outputs:
        text = partial(datasheet_text, path.suffix, view, logs, evidence=PageEvidence(cells))
        outputs.write("datasheet", path, text)
    return tell_of_outputs(outputs)
