"""Results of promptfoo (``results.json``): each assertion that a model has graded is a grade.

Read are the lists below ``results``: of each result its ``vars``, ``metadata``, the ``output`` of
its ``response``, and of ``gradingResult.componentResults`` those whose ``assertion`` a model
grades: their ``pass``, ``score`` and ``reason``, and the ``renderedGradingPrompt`` of their
``metadata``. The assertions of one ``metric``, or without a name those of one type, become a suite.
The verdict is pass or fail, or with ``--scale`` or ``--threshold`` the score. ``not-`` turns an
assertion round: the judge said the opposite. The rating of a person (an assertion ``human``) is a
label.

A grader that gave no reply, or none that promptfoo could read, fails the assertion there. Here that
is a failed call or a reply without a verdict: newer versions mark both by ``graderError`` in the
``metadata``, of older ones the ``reason`` says so. The totals count it as promptfoo does.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from typing import Any, Final

from pytest_judgesense.files.first_sight import FirstSight
from pytest_judgesense.files.foreign_results import Imported, Total, json_or_none, messages_of, slug
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

# Types of assertions that a model grades in words; similarities are computed, not judged.
_JUDGED: Final = frozenset(
    """
    llm-rubric g-eval factuality model-graded-factuality model-graded-closedqa agent-rubric
    search-rubric answer-relevance context-faithfulness context-recall context-relevance
    conversation-relevance trajectory:goal-success
    """.split()
)
_NOT: Final = "not-"
_HUMAN: Final = "human"
_SET: Final = "assert-set"
_OTHER: Final = re.compile(r"[^a-z0-9]+")
_COMPARED: Final = "select-best"
# How the reasons begin that promptfoo gives in place of the grader's where it read no grade.
_UNREAD: Final = re.compile(
    r"Could not extract JSON from |\S+ produced malformed response|Invalid category value: "
    r"|Factuality checker output did not match|No output$"
)
_LONGEST_REASON: Final = 160
# Why a result failed: promptfoo's number for an error in place of an answer.
_ERROR: Final = 2


def is_of_promptfoo(sight: FirstSight) -> bool:
    """Whether a file holds results of promptfoo."""
    return isinstance(table_of(sight.field("results")).get("results"), list)


def imported_promptfoo(options: ImportOptions) -> Imported:
    """The judgments of ``judgesense import --format promptfoo``."""
    file = read_document(options.path, dict, "the results of promptfoo")
    results = table_of(file.get("results"))
    if not isinstance(rows := results.get("results"), list):
        expected = "results.results, a list, as promptfoo eval -o results.json writes it"
        raise malformed(str(options.path), list(results or file)[:9], expected)
    reader = _Reader(options, file)
    for number, row in enumerate(rows, 1):
        if not isinstance(row, dict):
            raise malformed(f"{options.path}, result {number}", row, "an object")
        reader.read(f"{options.path}, result {number}", row)
    kind = "metric or type of an assertion"
    wanted, skipped = chosen(reader.graded, options, kind, "assertions")
    notices = ["the file holds no replies but their reasons"] if wanted else []
    if compared := reader.others.pop(_COMPARED, 0):
        notices.append(f"{_COMPARED} compares outputs and grades none: left out, {compared}")
    if reader.others:
        kinds = ", ".join(f"{kind} {count}" for kind, count in sorted(reader.others.items()))
        notices.append(f"assertions that no model grades are left out: {kinds}")
    notices += [*skipped, *reader.ungraded_words()]
    return imported(wanted, options, notices=notices, totals=reader.totals(results))


class _Reader:
    """The state of reading a file.

    Attributes:
        graded: each grade with the name of its metric, or the type of its assertion.
        others: how many assertions of other types there are.
    """

    def __init__(self, options: ImportOptions, file: Mapping[str, Any]) -> None:
        config = table_of(file.get("config"))
        title = options.suite or config.get("description") or options.path.stem
        self.graded: list[tuple[str, Graded]] = []
        self.others: Counter[str] = Counter()
        self._base = slug(str(title))
        self._default = _judge(table_of(config.get("defaultTest")).get("options"))
        self._by_score = options.scale is not None or options.threshold is not None
        self._tests: dict[str, str] = {}
        self._asserted: Counter[bool] = Counter()
        self._results: Counter[str] = Counter()
        self._errors: Counter[str] = Counter()
        self._scores: dict[str, list[float]] = defaultdict(list)

    def read(self, where: str, row: Mapping[str, Any]) -> None:
        """Enter the assertions of a result."""
        failed = "errors" if row.get("failureReason") == _ERROR else "failures"
        if row.get("failureReason") == _ERROR:
            self._errors[str(row.get("error") or "no reason is stated").strip()] += 1
        self._results["successes" if row.get("success") else failed] += 1
        components = table_of(row.get("gradingResult")).get("componentResults")
        parts = [*map(table_of, list_of(components))]
        rated = [part.get("pass") for part in parts if _type(part) == _HUMAN]
        judged = [part for part in parts if _type(part).removeprefix(_NOT) in _JUDGED]
        # A person rates an output as a whole: where it has one judge, that one's verdict.
        human = rated[-1] if rated and len(judged) == 1 and not self._by_score else None
        for number, part in enumerate(parts):
            if _type(part) == _HUMAN:
                continue
            place = f"{where}, assertion {number + 1}"
            if not isinstance(passed := part.get("pass"), bool):
                raise malformed(f"{place}: pass", passed, "true or false")
            score = number_of(part.get("score"), f"{place}: score")
            self._asserted[passed] += 1
            assertion = table_of(part.get("assertion"))
            if isinstance(metric := assertion.get("metric"), str) and score is not None:
                weight = number_of(assertion.get("weight"), f"{place}: weight")
                self._scores[metric].append(score * (1.0 if weight is None else weight))
            if part in judged:
                human_grade = human if isinstance(human, bool) else None
                self.graded.append(self._graded(place, row, part, number, score, human_grade))
            else:
                self.others[_type(part) or _SET] += 1

    def _graded(
        self,
        where: str,
        row: Mapping[str, Any],
        part: Mapping[str, Any],
        number: int,
        score: float | None,
        human: bool | None,
    ) -> tuple[str, Graded]:
        case, about = table_of(row.get("testCase")), table_of(part.get("metadata"))
        assertion, tokens = table_of(part.get("assertion")), table_of(part.get("tokensUsed"))
        variables = table_of(row.get("vars")) or table_of(case.get("vars"))
        passed, kind, metric = bool(part["pass"]), _type(part), assertion.get("metric")
        name = metric if isinstance(metric, str) and metric else kind.removeprefix(_NOT)
        if kind.startswith(_NOT):
            passed, score = not passed, None if score is None else 1.0 - score
        fields = {_OTHER.sub("_", f"var_{key}".lower()): value for key, value in variables.items()}
        fields["answer"] = table_of(row.get("response")).get("output")
        fields["criterion"] = about.get("renderedAssertionValue", assertion.get("value"))
        options = table_of(case.get("options"))
        reason = text_of(part["reason"]) if part.get("reason") else None
        unread = bool(_UNREAD.match(reason or ""))
        broken = about.get("graderError") is True and not unread
        grade = None if unread or broken else score if self._by_score else passed
        return name, Graded(
            where=where,
            suite=slug(f"{self._base}-{name}"),
            item=f"t{row.get('testIdx', 0)}-p{row.get('promptIdx', 0)}-a{number}",
            test=self._test(case, variables),
            judge=_judge(assertion) or _judge(options) or self._default or "unknown",
            grade=grade,
            score=None if grade is None else score,
            human=human,
            failed=(reason or "the grader failed") if broken else None,
            reply=None if grade is None else reason,
            prompt=_prompt(about.get("renderedGradingPrompt")),
            fields={key: text_of(value) for key, value in fields.items() if value is not None},
            tokens=(count_of(tokens.get("prompt")), count_of(tokens.get("completion"))),
            columns=variables | table_of(case.get("metadata")),
        )

    def _test(self, case: Mapping[str, Any], variables: Mapping[str, Any]) -> str:
        """The name of a test: of the same variables, however often they were run, the same."""
        shown = json.dumps(variables, sort_keys=True)
        description = case.get("description")
        name = f"test-{len(self._tests) + 1}"
        return self._tests.setdefault(
            shown, f"{name} {description}"[:200] if isinstance(description, str) else name
        )

    def ungraded_words(self) -> Iterator[str]:
        """Results that ended in an error, before anything was graded; and that none has a grade."""
        if failed := self._errors.total():
            reason = self._errors.most_common(1)[0][0].splitlines()[0][:_LONGEST_REASON]
            yield f"{failed} of {self._results.total()} results ended in an error: {reason}"
        if self._results and not self.graded and not self.others and not self._errors:
            yield f"none of {self._results.total()} results has an assertion that was graded"

    def totals(self, results: Mapping[str, Any]) -> Iterator[Total]:
        """Tests and assertions that pass and fail, and the sum of the scores of each metric."""
        stats = table_of(results.get("stats"))
        for name in ("successes", "failures", "errors"):
            if is_figure(stats.get(name)):
                yield Total(name, stats[name], self._results[name])
        prompts = map(table_of, list_of(results.get("prompts")))
        metrics = [table_of(prompt.get("metrics")) for prompt in prompts]
        for name, passed in (("assertPassCount", True), ("assertFailCount", False)):
            if figures := [totals[name] for totals in metrics if is_figure(totals.get(name))]:
                yield Total(name, sum(figures), self._asserted[passed])
        for metric, scores in self._scores.items():
            stated = [
                number_of(table_of(totals.get("namedScores"))[metric], f"score of {metric}")
                for totals in metrics
                if metric in table_of(totals.get("namedScores"))
            ]
            if stated:
                yield Total(
                    f"score of {metric}", math.fsum(n or 0.0 for n in stated), math.fsum(scores)
                )


def _type(part: Mapping[str, Any]) -> str:
    return str(table_of(part.get("assertion")).get("type") or "")


def _judge(about: Any) -> str | None:
    """The model that an assertion, or the options of a test, name as ``provider``."""
    provider = table_of(about).get("provider")
    if isinstance(provider, dict):
        provider = provider.get("id") or table_of(provider.get("text")).get("id")
    return provider if isinstance(provider, str) and provider else None


def _prompt(rendered: Any) -> list[dict[str, str]] | None:
    """The messages that promptfoo shows as JSON, or as one text."""
    if not isinstance(rendered, str) or not rendered:
        return None
    return messages_of(json_or_none(rendered)) or [{"role": "user", "content": rendered}]
