"""Test runs of deepeval: each metric of each test case is a grade.

Read are ``testCases`` and ``conversationalTestCases`` of ``test_run_*.json`` (or of
``.deepeval/.latest_test_run.json``), of each its name, texts, ``metadata`` and ``metricsData``, and
of a metric ``name``, ``score``, ``success``, ``reason``, ``error``, ``evaluationModel`` and what
``verboseLogs`` says of criteria. A metric becomes a suite; the verdict is its pass or fail, or with
``--scale`` or ``--threshold`` its score. The file holds no prompt, and of replies the reason.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from operator import itemgetter
from typing import Any, Final

from pytest_judgesense.files.first_sight import FirstSight
from pytest_judgesense.files.foreign_results import Imported, Total, slug
from pytest_judgesense.files.import_options import ImportOptions
from pytest_judgesense.files.tables import malformed, read_document
from pytest_judgesense.instruments.paraphrase.tools.graded import (
    Graded,
    chosen,
    count_of,
    imported,
    is_figure,
    list_of,
    number_of,
    table_of,
    text_of,
)
from pytest_judgesense.suites.item import id_by_texts
from pytest_judgesense.trial import grouped

_CASES: Final = ("testCases", "conversationalTestCases")
_FIELDS: Final = {
    "input": "question",
    "actualOutput": "answer",
    "expectedOutput": "reference",
    "context": "context",
    "retrievalContext": "context",
    "scenario": "question",
    "turns": "answer",
}
# The attributes of a case besides its texts and results.
_OF_TOOL: Final = frozenset(
    (*_FIELDS, "metricsData", "metadata", "trace", "mllmTestCase", "evaluationCost", "runDuration")
)
# What stands around the criteria and the steps of a G-Eval in its log.
_CRITERIA: Final = "Criteria:\n"
_STEPS: Final = " \n \nEvaluation Steps:\n["


def is_of_deepeval(sight: FirstSight) -> bool:
    """Whether a file is a test run of deepeval."""
    run = sight.field("testRunData") or sight.document
    return isinstance(run, dict) and any(isinstance(run.get(name), list) for name in _CASES)


def imported_deepeval(options: ImportOptions) -> Imported:
    """The judgments of ``judgesense import --format deepeval``."""
    run = read_document(options.path, dict, "a test run of deepeval")
    if isinstance(inner := run.get("testRunData"), dict):
        run = inner
    if not any(isinstance(run.get(name), list) for name in _CASES):
        raise malformed(str(options.path), list(run)[:9], f"an object with {_CASES[0]}")
    graded, skipped = chosen([*_grades(run, options)], options, "metric", "metrics")
    notices = ["the file holds no prompts, and of replies their reasons"] * bool(graded) + skipped
    return imported(graded, options, notices=notices, totals=_totals(run, options))


def _criterion(log: str) -> str:
    """What the judge of a G-Eval is shown: its steps, or without any the criteria; or nothing."""
    criteria, _, rest = log.partition(_CRITERIA)[2].partition(_STEPS)
    steps, end, _ = rest.partition("] ")
    if not end:
        return ""
    return "\n".join(re.findall(r'^[ \t]*"(.*)",?$', steps, re.MULTILINE)) or criteria.strip()


def _grades(run: Mapping[str, Any], options: ImportOptions) -> Iterator[tuple[str, Graded]]:
    base = slug(str(options.suite or run.get("identifier") or options.path.stem))
    times: dict[str, int] = {}
    for kind in _CASES:
        for number, case in enumerate(list_of(run.get(kind)), 1):
            where = f"{options.path}, {kind} {number}"
            if not isinstance(case, dict) or not isinstance(case.get("metricsData") or [], list):
                raise malformed(where, case, "an object with metricsData")
            name = str(case.get("name") or id_by_texts(_fields_of(case)))
            times[name] = times.get(name, 0) + 1
            item = name if times[name] == 1 else f"{name}-{times[name]}"
            for data in case.get("metricsData") or ():
                if not isinstance(data, dict) or not isinstance(data.get("name"), str):
                    raise malformed(f"{where}: metricsData", data, "an object with a name")
                metric = data["name"]
                yield metric, _graded(f"{where}, {metric}", case, data, item, name, base, options)


def _fields_of(case: Mapping[str, Any]) -> dict[str, str]:
    """The texts of a test case."""
    return {
        field: _text(case[name]) for name, field in _FIELDS.items() if case.get(name) is not None
    }


def _graded(
    where: str,
    case: Mapping[str, Any],
    data: Mapping[str, Any],
    item: str,
    test: str,
    base: str,
    options: ImportOptions,
) -> Graded:
    score, passed = number_of(data.get("score"), f"{where}: score"), data.get("success")
    if passed is not None and not isinstance(passed, bool):
        raise malformed(f"{where}: success", passed, "true or false")
    as_number = options.scale is not None or options.threshold is not None
    error = data.get("error")
    fields = _fields_of(case)
    if criterion := _criterion(text_of(data.get("verboseLogs") or "")):
        fields["criterion"] = criterion
    further = {name: value for name, value in case.items() if name not in _OF_TOOL}
    return Graded(
        where=where,
        suite=slug(f"{base}-{data['name'].removesuffix(' [GEval]')}"),
        item=item,
        test=test,
        judge=str(data.get("evaluationModel") or "unknown"),
        grade=None if error else score if as_number else passed,
        score=score,
        failed=text_of(error) if error else None,
        reply=text_of(data["reason"]) if data.get("reason") else None,
        fields=fields,
        tokens=(count_of(data.get("inputTokenCount")), count_of(data.get("outputTokenCount"))),
        columns=further | table_of(case.get("metadata")),
    )


def _text(value: Any) -> str:
    """Texts of a case: a list of passages, or of turns with their speakers, line by line."""
    if not isinstance(value, list):
        return text_of(value)
    turns = (
        f"{part.get('role', '')}: {part['content']}"
        if isinstance(part, dict) and isinstance(part.get("content"), str)
        else text_of(part)
        for part in value
    )
    return "\n".join(turns)


def _totals(run: Mapping[str, Any], options: ImportOptions) -> Iterator[Total]:
    """Passes, failures, errors and the mean score of each metric; the cases that pass."""
    cases = [case for kind in _CASES for case in list_of(run.get(kind))]
    every = [data for case in cases for data in case.get("metricsData") or ()]
    read = grouped(every, itemgetter("name"))
    for total in map(table_of, list_of(run.get("metricsScores"))):
        metric = str(total.get("metric"))
        if metric not in read:
            continue
        graded = [data for data in read[metric] if not data.get("error")]
        stated_scores, scores = list_of(total.get("scores")), [data.get("score") for data in graded]
        stated, computed = (
            sum(number_of(score, f"{options.path}: {metric}") or 0.0 for score in of)
            for of in (stated_scores, scores)
        )
        yield Total(f"sum of scores of {metric}", stated, computed)
        passes = sum(bool(data.get("success")) for data in graded)
        errors = len(read[metric]) - len(graded)
        counted = {"passes": passes, "fails": len(graded) - passes, "errors": errors}
        for name, count in counted.items():
            if is_figure(total.get(name)):
                yield Total(f"{name} of {metric}", total[name], count)
    passed = [bool(case.get("success")) for case in cases]
    for name, count in (("testPassed", sum(passed)), ("testFailed", passed.count(False))):
        if is_figure(run.get(name)):
            yield Total(name, run[name], count)
