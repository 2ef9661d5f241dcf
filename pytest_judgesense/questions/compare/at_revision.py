"""The recordings of the project beside those at a revision of its repository."""

from __future__ import annotations

import shlex
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from pytest_judgesense.asking.inquiry import Asking
from pytest_judgesense.checks.regression import Side
from pytest_judgesense.earlier.baseline import Measured
from pytest_judgesense.earlier.past import ExchangesByTrial, NotCompared, PastReader, measured_now
from pytest_judgesense.judges.calls import identity_of
from pytest_judgesense.judges.loop import AskingLoop
from pytest_judgesense.judges.prompts import suite_for_judge
from pytest_judgesense.judges.remembered import recorded_trials
from pytest_judgesense.judges.spec import JudgeSpec
from pytest_judgesense.judges.trust import Trust
from pytest_judgesense.measurement import measure as measure_suite
from pytest_judgesense.questions.compare.paired_measurements import AtRevision
from pytest_judgesense.questions.place import Place, find_code_of_project
from pytest_judgesense.registry import Registry
from pytest_judgesense.revisions.revision import Revision
from pytest_judgesense.suites.builtin import cassettes_in
from pytest_judgesense.suites.suite import Suite


@dataclass
class ThenAndNow:
    """What is recorded, at a revision and now.

    Attributes:
        then: what was measured at the revision.
        now: the same of today, in the same order.
        at_revision: by judge and suite, what is known of ``then``.
        not_compared: why a judge and its suite are not among them, in a sentence each.
    """

    then: list[Measured] = field(default_factory=list)
    now: list[Measured] = field(default_factory=list)
    at_revision: dict[tuple[str, str], AtRevision] = field(default_factory=dict)
    not_compared: list[str] = field(default_factory=list)


def recorded_then_and_now(
    revision: Revision, suites: str | None, place: Place, seed: int, *, runs_code: bool
) -> ThenAndNow:
    """The recordings of a place, at a revision and now.

    Args:
        revision: that is compared with.
        suites: a suite, or a folder of them; ``None`` for all of the place.
        place: whose recordings they are.
        seed: of every random draw.
        runs_code: whether functions are run for today's side; else it is what they had returned.

    Raises:
        MissingRecording: today's side is replayed, and something of it is not recorded.
    """
    both = ThenAndNow()
    root = Path.cwd()
    with TemporaryDirectory(prefix="judgesense-revision-") as folder:
        cassettes = root / place.cassettes
        reader = PastReader(revision, root, cassettes, Path(folder), seed, place.registry)
        for judge, suite in place.recorded(suites):
            try:
                past = reader.past(judge, suite)
            except NotCompared as error:
                both.not_compared.append(f"{error.what}: not compared")
                continue
            if runs_code:
                now, exchanges = _replayed(judge, suite, cassettes, seed, place.registry)
            else:
                paths = cassettes_in(cassettes, judge.slug, suite.recordings).values()
                now, exchanges = measured_now(judge, suite, paths, seed, place.registry)
            both.then.append(past.measured)
            both.now.append(now)
            both.at_revision[judge.name, suite.name] = AtRevision(
                past.changes(exchanges).lines,
                past.reference(suite_for_judge(suite, judge), exchanges),
            )
    return both


def _replayed(
    judge: JudgeSpec, suite: Suite, cassettes: Path, seed: int, registry: Registry
) -> tuple[Measured, ExchangesByTrial]:
    """A judge on a suite as pytest replays it: the code of functions is run, and asks nobody."""
    if judge.provider == "callable":
        find_code_of_project()
    own_suite = suite_for_judge(suite, judge)
    asking = Asking(
        trust=Trust.here(suite.path),
        how_to_record=f"record it: pytest {shlex.quote(str(suite.path))} --judge-mode record",
        registry=registry,
    )
    paths = cassettes_in(cassettes, judge.slug, own_suite.recordings)
    with closing(AskingLoop()) as loop:
        measurement = measure_suite(judge, suite, paths, loop, seed=seed, asking=asking)
    side = Side(measurement.sound().estimates, measurement.cell)
    measured = Measured(judge.name, suite.name, identity_of(judge, own_suite), side)
    return measured, recorded_trials(paths.values())
