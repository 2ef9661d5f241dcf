"""Judgments of a table whose verdicts are numbers: their designs, and between which ends they lie.

The ends are those that the user states, or that the words of the file show. Else the contents are
all there is, and what is taken by them is told beside the option that states it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from pytest_judgesense.errors import UsageError
from pytest_judgesense.files.foreign_results import Imported
from pytest_judgesense.questions.import_.look import Look
from pytest_judgesense.registry import Registry
from pytest_judgesense.report.number_designs import of_numbers
from pytest_judgesense.trial import Design, Judgment, grouped


def with_number_designs(
    read: Imported, registry: Registry, look: Look
) -> tuple[Imported, list[str]]:
    """The judgments, with the designs of grades and scores where verdicts are such; and notices.

    Args:
        read: the judgments, in the designs of words.
        registry: what gives the kinds of suites.
        look: what the user says of the files, and what they show; both may state the ends.

    Raises:
        UsageError: ends are given, and the verdicts of no suite are numbers of a scale.
    """
    given, ends = look.given.range, look.chosen.ends
    by_suite = grouped(read.judgments, lambda judged: judged[0].trial.suite)
    judgments: list[tuple[Judgment, Design]] = []
    notices: list[str] = []
    has_numbers = False
    for suite, of_suite in by_suite.items():
        design = of_suite[0][1]
        numbered = of_numbers([judgment for judgment, _ in of_suite], design, registry, ends)
        if numbered is None:
            judgments += of_suite
            continue
        has_numbers = True
        judgments += [(judgment, numbered[1]) for judgment in numbered[0]]
        notices += _range_sentences(suite, numbered[1], is_stated=ends is not None)
    if given is not None and not has_numbers:
        raise UsageError(
            "--range is not used: no suite has verdicts that are numbers of a scale",
            found=f"--range {','.join(given)}",
            expected="verdicts and labels that are numbers, of three values with the ends",
            remedy="leave out --range",
        )
    return replace(read, judgments=tuple(judgments)), notices


def _range_sentences(suite: str, design: Design, *, is_stated: bool) -> Iterator[str]:
    """What is said of the ends of a suite: of grades only where they are stated."""
    why = "as --range says" if is_stated else "the shortest usual range that holds them all"
    other = "" if is_stated else "; --range LOW,HIGH states another"
    if design.score is not None:
        yield (
            f"suite {suite} has scores of {' to '.join(design.score.ends)}, {why}: errors are "
            f"shares of that range; equality is not asked{other}"
        )
    elif is_stated:
        yield f"suite {suite} has grades of {design.labels[0]} to {design.labels[-1]}, {why}"
