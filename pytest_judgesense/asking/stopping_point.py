"""Where a recording was stopped early, in a file beside it: a replay goes to the same point."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from pytest_judgesense.cassettes.storage import read_lines
from pytest_judgesense.checks.early_stop import Stop
from pytest_judgesense.errors import CassetteError
from pytest_judgesense.files.opening import read_text
from pytest_judgesense.files.output import replace_text
from pytest_judgesense.judges.prompts import suite_for_judge
from pytest_judgesense.judges.spec import JudgeSpec
from pytest_judgesense.suites.planning import plan_trials
from pytest_judgesense.suites.suite import Suite
from pytest_judgesense.trial import Trial

STOPPED: Final = ".stopped.json"  # suffix of the file


def stop_file(cassettes: Mapping[str, Path], suite: Suite) -> Path:
    """The file beside a recording that holds the stopping point of its suite."""
    return cassettes[suite.recordings[0]].parent / f"{suite.name}{STOPPED}"


def read_stop(path: Path, cassettes: Mapping[str, Path], planned: Sequence[Trial]) -> Stop | None:
    """The stopping point of a recording; ``None`` if it was not stopped, or is complete by now.

    Raises:
        CassetteError: the file holds no stopping point of this suite.
    """
    if not path.is_file() or _is_complete(cassettes, planned):
        return None
    try:
        return Stop.from_plain(json.loads(read_text(path)), {trial.cluster for trial in planned})
    except (ValueError, KeyError, TypeError, OSError) as error:
        raise CassetteError(
            f"{path} does not say where the recording was stopped",
            found=str(error),
            expected="the file as it was written when the suite was recorded",
            remedy="restore it from version control, or delete it and record the rest with "
            "--judge-mode record",
        ) from error


def write_stop(
    path: Path, stop: Stop | None, cassettes: Mapping[str, Path], planned: Sequence[Trial]
) -> None:
    """Write the stopping point beside a recording; remove it if the suite is complete."""
    if stop is not None and not _is_complete(cassettes, planned):
        replace_text(path, json.dumps(stop.to_plain(), indent=1) + "\n")
    elif path.exists():  # what is complete may lie in a folder that cannot be written
        path.unlink()


def forget_stop(judge: JudgeSpec, suite: Suite, cassettes: Mapping[str, Path]) -> None:
    """Remove the stopping point beside a recording that is complete by now.

    Left there, it would hide the loss of a line: the clusters of the stop alone would be measured.
    """
    path, suite = stop_file(cassettes, suite), suite_for_judge(suite, judge)
    if path.exists() and _is_complete(cassettes, plan_trials(suite)):
        path.unlink()


def _is_complete(cassettes: Mapping[str, Path], planned: Sequence[Trial]) -> bool:
    """Whether every trial has a recorded exchange."""
    recorded = {line.head.trial for path in cassettes.values() for line in read_lines(path)}
    return recorded.issuperset(trial.id for trial in planned)
