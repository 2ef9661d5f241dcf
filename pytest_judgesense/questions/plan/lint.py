"""Whether suites are sound, with all their presets, whoever is asked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

from pytest_judgesense.questions.lint_report import LintAnswer, lint_file
from pytest_judgesense.questions.place import Place, suite_files, suites_here
from pytest_judgesense.suites.builtin import builtin_suites


@dataclass(frozen=True)
class LintQuestion:
    """What would invalidate the numbers of suites. No call is made.

    Attributes:
        suites: files, folders, names, or NAME@PRESET; none for those here, else the built-in ones.
        judges: whose budgets of replies are checked; those that the project declares if empty.
        verbose: whether to add what scorers that know no language get right.
        place: the project.
    """

    suites: tuple[str, ...] = ()
    judges: tuple[str, ...] = ()
    verbose: bool = False
    place: Place = field(default_factory=Place)

    def answer(self) -> LintAnswer:
        """The findings.

        Raises:
            UsageError: there is no suite or judge of a name.
        """
        files, place = list(files_of_suites(self.suites)), self.place
        judges = place.judges(self.judges) if self.judges else (*place.declared.values(),)
        linted = (
            lint_file(
                *(path, preset, place.registry),
                judges=judges,
                cassettes=place.cassettes,
                verbose=self.verbose,
            )
            for path, preset in files
        )
        return LintAnswer(tuple(chain.from_iterable(linted)))


def files_of_suites(names: tuple[str, ...]) -> Iterator[tuple[Path, str | None]]:
    """The suite files of names, each with the preset that is meant alone.

    Without names those of this folder and of ``suites`` in it, else the built-in ones.
    """
    for name in names:
        # The path of a file may have an "@", which is no preset.
        base, _, preset = (name, "", "") if Path(name).exists() else name.partition("@")
        for path in suite_files(base):
            yield path, preset or None
    if not names:
        for path in suites_here() or builtin_suites().values():
            yield path, None
