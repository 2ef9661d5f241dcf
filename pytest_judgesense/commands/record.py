"""``judgesense record``: suites recorded in shards, by processes of this machine or Ray."""

from __future__ import annotations

import argparse

from pytest_judgesense.commands.live_calls import add_limits
from pytest_judgesense.commands.options import (
    BROKEN_FILE,
    FLAG,
    add_cassettes,
    add_judge,
    complain,
    number,
    place_of,
    show,
)
from pytest_judgesense.questions.record.question import (
    TEMPORARY,
    RecordQuestion,
    protect_temporary_cluster,
)
from pytest_judgesense.questions.terms import AskingTerms


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the suites, the judge, the shards, where they run, and the limits of the job."""
    meaning = "a suite by name, NAME@PRESET, or its file; or a folder of them"
    parser.add_argument("suites", nargs="+", metavar="SUITE", help=meaning)
    add_judge(parser)
    meaning = "number of shards, of whole clusters each, to record at once (default: 1)"
    parser.add_argument("--shards", type=number("number of shards", int), default=1, help=meaning)
    meaning = "as tasks of the Ray cluster at ADDRESS (default: a temporary one on 127.0.0.1)"
    parser.add_argument("--ray", nargs="?", const=TEMPORARY, metavar="ADDRESS", help=meaning)
    parser.add_argument("--plan", help="print calls and price, and ask nothing", **FLAG)
    add_cassettes(parser)
    add_limits(
        parser,
        {
            "--judge-concurrency": "maximum number of concurrent calls in each shard",
            "--judge-max-calls": "maximum number of calls of the whole job, including retries",
            "--judge-max-cost": "maximum cost of the whole job in USD, by the judge's prices",
            "--judge-deadline": "seconds after which no shard starts a call",
            "--judge-max-unparsed": "stop a shard whose first N replies all lack a verdict",
        },
    )


def run(options: argparse.Namespace) -> int:
    """Record suites in shards."""
    if options.ray == TEMPORARY:
        protect_temporary_cluster()  # before a plugin or a judge imports Ray
    question = _question(options)
    if options.plan:
        return show(question.plan().lines())
    answer = question.answer()
    show(answer.lines())
    for error in answer.errors:
        complain(error)
    return 0 if answer.complete else BROKEN_FILE


def _question(options: argparse.Namespace) -> RecordQuestion:
    return RecordQuestion(
        tuple(options.suites),
        options.judge_name,
        shards=options.shards,
        ray=options.ray,
        deadline_s=options.judge_deadline,
        plugins=tuple(options.plugin),
        terms=AskingTerms(
            mode="record",
            concurrency=options.judge_concurrency,
            max_calls=options.judge_max_calls,
            max_cost=options.judge_max_cost,
            max_unparsed=options.judge_max_unparsed,
        ),
        place=place_of(options),
    )
