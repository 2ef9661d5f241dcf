"""``judgesense lint``: faults that would invalidate the numbers of a suite."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path
from typing import Final

from pytest_judgesense.checks.suite_faults import lint_suite
from pytest_judgesense.commands.options import BAR_FAILED, BROKEN_FILE, registry_of, show
from pytest_judgesense.commands.reasoning_budget import budget_findings
from pytest_judgesense.errors import JudgesenseError
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.judges.resolving import declared_judges
from pytest_judgesense.judges.spec import JudgeSpec
from pytest_judgesense.questions.place import suite_files, suites_here
from pytest_judgesense.registry import Registry
from pytest_judgesense.suites.builtin import builtin_suites
from pytest_judgesense.suites.loading import load_suite, presets_of
from pytest_judgesense.suites.shortcuts import sampled, solved

_CASSETTES: Final = Path("cassettes")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the suites."""
    suites_help = "suite file, folder, or name (default: the suites here, else the built-in ones)"
    parser.add_argument("suites", nargs="*", metavar="SUITE", help=suites_help)
    parser.add_argument(
        "-v", "--verbose", action="store_true", help="what scorers that count words get right"
    )


def run(options: argparse.Namespace) -> int:
    """List faults that would invalidate the numbers of a suite."""
    if options.suites:
        paths = [path for name in options.suites for path in suite_files(name)]
    else:
        paths = suites_here()
    files = paths or list(builtin_suites().values())
    registry = registry_of(options)
    judges = tuple(declared_judges(Path.cwd(), registry.providers).values())
    lines, errors, broken = lint_report(files, registry, judges=judges, verbose=options.verbose)
    show(lines)
    return BROKEN_FILE if broken else BAR_FAILED if errors else 0


def lint_report(
    paths: Iterable[Path],
    registry: Registry = BUILT_IN,
    *,
    judges: Sequence[JudgeSpec] = (),
    verbose: bool = False,
) -> tuple[list[str], int, int]:
    """The findings of suites and their presets, each once a file, in lines; the last sums them up.

    Behind the lines: how many errors there are, and how many files cannot be read. Of ``judges``
    it is found what keeps them from judging a suite; ``verbose`` adds the scores of the scorers
    that know no language.
    """
    lines: list[str] = []
    counts = {"suite or preset": 0, "error": 0, "warning": 0, "broken file": 0}
    for path in paths:
        shown: set[tuple[str, str, str]] = set()
        try:
            for preset in (None, *presets_of(path, registry.forms)):
                suite = load_suite(path, preset, registry.forms)
                counts["suite or preset"] += 1
                findings = chain(
                    lint_suite(suite, registry),
                    *(budget_findings(judge, suite, _CASSETTES) for judge in judges),
                )
                new = [finding for finding in findings if finding.key not in shown]
                shown |= {finding.key for finding in new}
                if new or preset is None:
                    lines.append(f"{suite.name}:{'' if new else ' nothing found'}")
                for finding in new:
                    counts[finding.severity] += 1
                    lines += [f"  {line}" for line in finding.lines]
                if verbose and preset is None:
                    scores = (f"{name} {share:.2f}" for name, share in solved(suite).items())
                    heading = f"  decided without reading{sampled(suite)}: "
                    lines += [f"{heading}{score}" for score in scores]
        except JudgesenseError as error:
            counts["broken file"] += 1
            lines += [f"{path}: broken", *(f"  {line}" for line in str(error).splitlines())]
    plural = {"suite or preset": "suites and presets"}
    total = [
        f"{n} {word if n == 1 else plural.get(word, word + 's')}"
        for word, n in counts.items()
        if n or word != "broken file"
    ]
    return [*lines, ", ".join(total)], counts["error"], counts["broken file"]
