"""Whether recordings hold secrets."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pytest_judgesense.cassettes.old_secrets import Checked, check_cassettes
from pytest_judgesense.errors import BrokenCassette
from pytest_judgesense.questions.question import QuestionAnswer


def _environment() -> Mapping[str, str]:
    return dict(os.environ)


@dataclass(frozen=True)
class SecretsQuestion:
    """Which secrets stand in recordings.

    Attributes:
        paths: recordings, or folders of them.
        environment: the variables whose values are searched for, by name.
    """

    paths: tuple[Path, ...]
    environment: Mapping[str, str] = field(default_factory=_environment, repr=False)

    def answer(self) -> SecretsAnswer:
        """The secrets that are found, and where.

        Raises:
            UsageError: one of the paths is not there, or holds no recording.
        """
        return SecretsAnswer(check_cassettes(self.paths, self.environment))


@dataclass(frozen=True)
class SecretsAnswer(QuestionAnswer):
    """The secrets in recordings, named without their values.

    Attributes:
        checked: what was searched, and what was found.
    """

    checked: Checked

    @property
    def worse(self) -> bool:
        """Whether there are any."""
        return bool(self.checked.faults)

    @property
    def broken(self) -> tuple[BrokenCassette, ...]:
        """The recordings that cannot be read."""
        return self.checked.broken

    def lines(self) -> Iterator[str]:
        """A line for each secret, and how many there are."""
        for fault in self.checked.faults:
            yield f"{fault.place}: {fault.kind}"
        skipped = (f"{name} ({why})" for name, why in self.checked.skipped.items())
        if named := ", ".join(skipped):
            yield f"not removed, for such short or plain values are ordinary words too: {named}"
        counts = f"{self.checked.files} files, {self.checked.exchanges} exchanges"
        yield f"{len(self.checked.faults)} secrets in {counts}"

    def to_dict(self) -> Mapping[str, Any]:
        """The secrets by place, and what was searched."""
        return {
            "secrets": [
                {"place": fault.place, "kind": fault.kind} for fault in self.checked.faults
            ],
            "not_removed": dict(self.checked.skipped),
            "broken": [str(error) for error in self.checked.broken],
            "files": self.checked.files,
            "exchanges": self.checked.exchanges,
        }
