"""Scores fell between sessions: did the judge move, or the outputs?

Sessions are judgment logs, or suites with their recordings, in which a judge judged outputs that
differ. Anchors are a suite of frozen outputs, such as ``judgesense init --from-log THEN`` makes.
What the judge said of them is taken from a session that holds it (`judged_session`). Where a
session does not hold it, the anchors are asked beside it: recorded under a name with a digest of
the session, so that each one has its own answers, and a question that is asked again asks no judge.

Outputs are told from what was asked within strata that both sessions have (`session_words`).
"""

from __future__ import annotations

import os
import shlex
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from pytest_judgesense.cassettes.opening import Mode
from pytest_judgesense.errors import UsageError
from pytest_judgesense.files.pytest_ini import usual_recordings
from pytest_judgesense.judges.spec import JudgeSpec
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.questions.compare.attribution import (
    Movement,
    Scoring,
    attributed,
    refuse_few,
)
from pytest_judgesense.questions.compare.judged_session import (
    LOG,
    JudgedSession,
    as_in_reference,
    beside_session,
    joined,
    session_of_log,
    session_of_suite,
)
from pytest_judgesense.questions.compare.session_words import (
    movement_lines,
    named_moves,
    notices_of_sessions,
    strata_of,
)
from pytest_judgesense.questions.place import Place
from pytest_judgesense.questions.pricing import CallPlan, RecordingCommand, call_plan
from pytest_judgesense.questions.question import QuestionAnswer, dataframe_of
from pytest_judgesense.questions.terms import AskingTerms, measured
from pytest_judgesense.stats.betting import ALARM
from pytest_judgesense.suites.suite import Suite
from pytest_judgesense.trial import Judgment

if TYPE_CHECKING:
    import pandas as pd

REPLICATES: Final = 3


@dataclass(frozen=True)
class CompareSessionsAnswer(QuestionAnswer):
    """What moved between the reference and now.

    Attributes:
        movement: the scores, and what is called.
        scoring: how verdicts are scored.
        reference: the earlier sessions, as one.
        now: the last session.
        anchors: the name of the suite of frozen outputs.
        seed: of the order in which clusters are looked at.
    """

    movement: Movement
    scoring: Scoring
    reference: JudgedSession
    now: JudgedSession
    anchors: str
    seed: int

    @property
    def worse(self) -> bool:
        return self.movement.worse

    def lines(self) -> Iterator[str]:
        yield from movement_lines(self.movement, self.scoring, (self.reference, self.now))

    def to_dict(self) -> Mapping[str, Any]:
        movement = self.movement
        return {
            "verdict": movement.verdict,
            "worse": movement.worse,
            "judge": self.now.judge,
            "then": self.reference.where,
            "now": self.now.where,
            "suite": self.anchors,
            "seed": self.seed,
            "alarm": ALARM,
            "anchors": movement.anchors.plain,
            "agreement": None if movement.agreement is None else movement.agreement.plain,
            "fresh": movement.fresh.plain,
            "within": None if movement.within is None else movement.within.plain,
            "beyond_anchors": movement.beyond.plain,
            "missing": [*notices_of_sessions((self.reference, self.now))],
        }

    def to_dataframe(self) -> pd.DataFrame:
        """A row for each score: of the anchors, of fresh outputs, and of these beyond those.

        Raises:
            UsageError: pandas is not installed.
        """
        return dataframe_of(
            {"of": name, "then": move.then, "now": move.now, "change": move.change}
            for name, move in named_moves(self.movement).items()
        )


@dataclass(frozen=True)
class RecordedAnchorsAnswer(QuestionAnswer):
    """What is recorded of the anchors beside one session, for later.

    Attributes:
        session: as it was named.
        held: number of anchors that the session itself holds, of which nothing is to be recorded.
        anchors: number of anchors.
        answers: number of answers that are recorded beside it.
        later: the command that holds another session against it.
    """

    session: str
    held: int
    anchors: int
    answers: int
    later: str

    def lines(self) -> Iterator[str]:
        if self.held:
            yield (
                f"{self.session} holds {self.held} of {self.anchors} anchors: nothing is to be "
                "recorded; name the session of now too"
            )
            return
        yield (
            f"{self.answers} answers to the anchors are recorded beside {self.session}; later: "
            f"{self.later}"
        )

    def to_dict(self) -> Mapping[str, Any]:
        return {
            "session": self.session,
            "held": self.held,
            "anchors": self.anchors,
            "answers": self.answers,
        }


@dataclass(frozen=True)
class CompareSessionsQuestion:
    """Did the judge move between sessions, or the outputs?

    Attributes:
        sessions: the reference first, the last one is now: judgment logs (.jsonl), or suites of
            outputs with their recordings. Of one alone the anchors are recorded, for later.
        anchors: the suite of frozen outputs: its name, ``NAME@PRESET``, or its file.
        judge: who is asked, and whose verdicts of a log are meant; ``None`` for the declared one.
        suites: those of logs that hold fresh outputs; empty for all but the anchors.
        passes: the labels that pass, where answers are neither a scale nor a pair.
        strata: a column within whose values outputs are compared; ``None`` for the questions that
            both sessions share.
        replicates: how often each anchor is asked.
        terms: on which the judge is asked; sessions of the reference are replayed.
        place: where it is asked.
    """

    sessions: tuple[str, ...]
    anchors: str
    judge: str | None = None
    suites: tuple[str, ...] = ()
    passes: tuple[str, ...] = ()
    strata: str | None = None
    replicates: int = REPLICATES
    terms: AskingTerms = field(default_factory=AskingTerms)
    place: Place = field(default_factory=Place)

    def plan(self) -> CallPlan:
        """What would be asked of the last session, and of the anchors beside it.

        Raises:
            UsageError: the sessions or the anchors are none.
        """
        self._refuse_sessions()
        anchors = self._frozen
        if len(self.sessions) > 1:
            anchors = as_in_reference(anchors, self._reference)
        now = self.sessions[-1]
        if now.endswith(LOG):
            session = self._session(now, anchors, "replay")
            if session.anchors:
                return CallPlan(f"no call: {now} holds the anchors", ())
            suites = [beside_session(anchors, now, session.digest, self.replicates)]
        else:
            fresh = self._suite_of_outputs(now)
            suites = [fresh, beside_session(anchors, now, fresh.digest, self.replicates)]
        name = self._judge.name
        return self._plan_of(
            {f"{suite.name}, judge {name}, {len(suite.items)} items": suite for suite in suites}
        )

    def answer(self) -> CompareSessionsAnswer | RecordedAnchorsAnswer:
        """What moved; of one session alone the anchors are recorded beside it.

        Raises:
            UsageError: the sessions cannot be held against each other.
            LogError: a log cannot be read.
            MissingRecording: replaying, and answers are not recorded.
            LimitReached: a call would pass a limit; the answers so far are recorded.
        """
        self._refuse_sessions()
        if len(self.sessions) == 1:
            return self._recorded_anchors(self.sessions[0])
        reference, anchors = self._reference, as_in_reference(self._frozen, self._reference)
        now = self._session(self.sessions[-1], anchors, self.terms.mode)
        # Before anything of the anchors is asked.
        designs = {cell.suite: cell.design for cell in (*reference.fresh, *now.fresh)}
        scoring = Scoring.of({**designs, f"{anchors.name} (anchors)": anchors.design}, self.passes)
        clusters = {item.id: item.cluster for item in anchors.items}
        then_count, now_count = (
            len({judgment.trial.cluster for judgment in session.judgments})
            for session in (reference, now)
        )
        refuse_few(len({*clusters.values()}), then_count, now_count)
        strata = strata_of(self.strata, (reference, now), pairwise=scoring.pairwise)
        if not now.anchors:
            now = self._with_anchors(now, anchors, self.terms.mode)
        movement = attributed(
            (reference.anchors, now.anchors),
            ([*reference.judgments], [*now.judgments]),
            clusters,
            {item.id: item.right for item in anchors.items if item.right is not None},
            scoring,
            self.terms.seed,
            strata,
        )
        return CompareSessionsAnswer(
            movement, scoring, reference, now, anchors.name, self.terms.seed
        )

    # --- sessions ---------------------------------------------------------------------------------

    def _refuse_sessions(self) -> None:
        """Raise a `UsageError` if no session is named, or one twice."""
        if not self.sessions:
            raise UsageError(
                "no session is named",
                found=f"--anchors {self.anchors} alone",
                expected="judgment logs (.jsonl), or suites with their recordings",
                remedy=f"judgesense compare THEN NOW --anchors {self.anchors}",
            )
        if len({*map(os.path.realpath, self.sessions)}) < len(self.sessions):
            raise UsageError(
                "a session is named twice",
                found=" ".join(self.sessions),
                expected="those of the reference, and another one, of now",
            )

    @cached_property
    def _frozen(self) -> Suite:
        return self.place.suite(self.anchors, labelled=False)

    @cached_property
    def _judge(self) -> JudgeSpec:
        return self.place.judge_to_ask(self.judge)

    @cached_property
    def _reference(self) -> JudgedSession:
        """All sessions but the last, as one; of a session without anchors those beside it."""
        earlier = [self._session(name, self._frozen, "replay") for name in self.sessions[:-1]]
        # Where one holds the anchors, the others give fresh outputs alone.
        if not any(session.anchors for session in earlier):
            earlier = [self._with_anchors(session, self._frozen, "replay") for session in earlier]
        return joined(earlier)

    def _session(self, name: str, anchors: Suite, mode: Mode) -> JudgedSession:
        """A log, or a suite that is asked in this mode."""
        if name.endswith(LOG):
            return session_of_log(name, anchors, self.judge, self.suites, self.place.registry)
        suite = self._suite_of_outputs(name)
        recording = self.sessions if name == self.sessions[-1] else (name,)
        cell = self._verdicts_on(suite, mode, "", recording)
        return session_of_suite(name, suite, cell, anchors, self.suites)

    def _suite_of_outputs(self, name: str) -> Suite:
        return self.place.suite(name, labelled=False)

    def _recorded_anchors(self, name: str) -> RecordedAnchorsAnswer:
        """Record the anchors beside the only session that is named."""
        if self.terms.mode != "record":
            how = RecordingCommand(self._command([name]), self.place.cassettes, self.plan)
            raise UsageError(
                "there is one session, and nothing to hold it against",
                found=name,
                expected="the session of the reference, and that of now",
                remedy=f"for later, with the anchors beside it, {how.with_price}",
            )
        session = self._session(name, self._frozen, "record")
        held = len(session.anchors)
        if not held:
            session = self._with_anchors(session, self._frozen, "record")
        answers = 0 if held else sum(map(len, session.anchors.values()))
        return RecordedAnchorsAnswer(
            name, held, len(self._frozen.items), answers, self._later_command(name)
        )

    def _later_command(self, session: str) -> str:
        """The command that holds another session against this one."""
        words = self._command([session, "NOW"])
        if self.place.cassettes != usual_recordings():
            words += ["--judge-cassettes", str(self.place.cassettes)]
        return shlex.join([*words, "--judge-mode", "record"])

    # --- what is asked ----------------------------------------------------------------------------

    def _with_anchors(self, session: JudgedSession, anchors: Suite, mode: Mode) -> JudgedSession:
        """The session with the answers to the anchors beside it; those of then are replayed."""
        suite = beside_session(anchors, session.where, session.digest, self.replicates)
        before, sessions = "", self.sessions
        if mode == "replay" and session.where != self.sessions[-1]:
            before = f"{session.where} does not hold the anchors, and today's answers are none of "
            before += "then. Freeze outputs of that session (judgesense init --from-log LOG "
            before += "--sample N); or, on its day, "
            sessions = (session.where,)
        cell = self._verdicts_on(suite, mode, before, sessions)
        by_item: dict[str, list[Judgment]] = defaultdict(list)
        for judgment in cell.judgments:
            by_item[judgment.trial.item].append(judgment)
        return replace(session, anchors=by_item, beside=cell.judge)

    def _verdicts_on(self, suite: Suite, mode: Mode, before: str, sessions: Sequence[str]) -> Cell:
        """The judge's verdicts on a suite.

        Args:
            suite: that is asked.
            mode: in which it is asked.
            before: what an error about missing answers says before how they are recorded.
            sessions: those that the command names which records them.
        """
        how = RecordingCommand(
            self._command(sessions),
            self.place.cassettes,
            lambda: self._plan_of({suite.name: suite}),
            before,
        )
        suites = [replace(suite, checks=())]
        sheet = measured(self.place, self.terms, [self._judge], suites, how, mode=mode)
        return sheet.cells[0]

    def _plan_of(self, suites: Mapping[str, Suite]) -> CallPlan:
        """The plan of asking the judge about suites, by their labels in it."""
        asked = ((label, self._judge, suite) for label, suite in suites.items())
        return call_plan("", asked, self.place.cassettes)

    def _command(self, sessions: Sequence[str]) -> list[str]:
        """The command that asks this of sessions, but for recordings and mode."""
        words = ["judgesense", "compare", *sessions, "--anchors", self.anchors]
        words += ["--judge-name", self.judge] if self.judge else []
        words += ["--passes", ",".join(self.passes)] if self.passes else []
        words += [word for name in self.suites for word in ("--suite", name)]
        words += ["--strata", self.strata] if self.strata else []
        if self.replicates != REPLICATES:
            words += ["--replicates", str(self.replicates)]
        return words
