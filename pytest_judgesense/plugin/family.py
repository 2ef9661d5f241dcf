"""The checks that a session declares, decided as one family where a policy says so."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import pytest

from pytest_judgesense.checks.check_texts import brief_lines, check_line, explanation_of, whole_text
from pytest_judgesense.checks.early_stop import Stopping
from pytest_judgesense.checks.explanation import Explanation
from pytest_judgesense.checks.known import is_worse_than_then, not_worse_words, widened
from pytest_judgesense.checks.luck import Draws, lost
from pytest_judgesense.checks.outcome import (
    ALPHA,
    MOST_MISSING,
    Assessment,
    DecisionRule,
    Outcome,
    Warned,
    judge_check,
    quantity_of,
    refuting_alphas,
)
from pytest_judgesense.datasheets.datasheet import CheckLine, KnownState
from pytest_judgesense.errors import JudgesenseError, UsageError, printable
from pytest_judgesense.judges.prompts import unsent_error, unsent_prompts
from pytest_judgesense.judges.spec import JudgeSpec
from pytest_judgesense.measurement import Measurement
from pytest_judgesense.measures.bar import Check
from pytest_judgesense.plugin.collected import Collected
from pytest_judgesense.plugin.declared_check import DeclaredCheck, checks_of
from pytest_judgesense.plugin.progress import Progress
from pytest_judgesense.plugin.revision_rules import (
    SessionRules,
    cassettes_of,
    rules_of,
    typed_options,
)
from pytest_judgesense.plugin.screen import columns_of, tells_luck, warned_of
from pytest_judgesense.plugin.selection import start_of
from pytest_judgesense.plugin.session_measurements import Measurements
from pytest_judgesense.plugin.settings import Settings
from pytest_judgesense.plugin.suite_names import SUFFIX
from pytest_judgesense.suites.builtin import SUITE_FOLDERS, builtin_suites
from pytest_judgesense.suites.loading import load_suite
from pytest_judgesense.suites.suite import Suite
from pytest_judgesense.text.layout import WIDTH, within

if TYPE_CHECKING:
    from pytest_judgesense.checks.drift import DriftOutcome
    from pytest_judgesense.checks.regression import RegressionOutcome

    AnyOutcome: TypeAlias = Outcome | RegressionOutcome | DriftOutcome
    from pytest_judgesense.earlier.past import PastReader
    from pytest_judgesense.plugin.against_baseline import BaselineComparison
    from pytest_judgesense.plugin.live_history import LiveHistory


class Decision(NamedTuple):
    """A check that was decided.

    Attributes:
        line: as the datasheet holds it.
    """

    explanation: Explanation
    measurement: Measurement
    line: CheckLine


class Family:
    """The checks of a session and how they are decided.

    Attributes:
        declared: for each declaring file or test a function that lists its checks, where they
            are a family.
        history: of the live sessions before this one, if this one adds to them.
    """

    def __init__(
        self,
        config: pytest.Config,
        settings: Settings,
        measurements: Measurements,
        collected: Collected,
        columns: int,
    ) -> None:
        self._config, self._settings = config, settings
        self._measurements, self._collected = measurements, collected
        self._columns = columns or columns_of(config)
        self.policy = settings.policy
        missing, alpha = settings.max_missing, settings.alpha
        self._most_missing = MOST_MISSING if missing is None else missing
        self._alpha = ALPHA if alpha is None else alpha
        self._draws: dict[tuple[str, Path], Draws] = {}
        self._bars_of: dict[tuple[str, ...], Sequence[Assessment | None]] = {}
        self.declared: list[Callable[[], Iterable[DeclaredCheck]]] = []
        self.history: LiveHistory | None = None

    @cached_property
    def members(self) -> list[DeclaredCheck]:
        """Every declared check; first asked for when all are collected."""
        return [member for declared in self.declared for member in declared()]

    def unsent_prompts(self, *, with_builtin: bool) -> Iterator[UsageError]:
        """The errors of judges with prompts that no suite sends, once all checks are collected.

        A session runs some of the suites of a project: those beside them and in the folder of the
        project's count as well, and, ``with_builtin``, the built-in ones.
        """
        # Projects of one repository may have judges of one name.
        measured: dict[tuple[str, Path | None], tuple[JudgeSpec, dict[Path, Suite]]] = {}
        for member in self.members:
            for judge in member.judge.asked_judges:
                key = judge.slug, judge.folder
                measured.setdefault(key, (judge, {}))[1][member.suite.path] = member.suite
        for judge, suites in measured.values():
            if not (unsent := unsent_prompts(judge, suites.values())):
                continue
            more = list(self._suites_beside(suites, with_builtin=with_builtin))
            if unsent := unsent_prompts(judge, [*suites.values(), *more]):
                yield unsent_error(judge, list(suites.values()), unsent)

    def _suites_beside(self, suites: Iterable[Path], *, with_builtin: bool) -> Iterator[Suite]:
        """The other suites of the project of these."""
        paths = set(builtin_suites().values()) if with_builtin else set()
        root = self._settings.rootdir
        patterns = {(root / folder, f"*/*{SUFFIX}") for folder in SUITE_FOLDERS}
        for path in suites:
            folder = path.parent
            patterns |= {(folder, f"*{SUFFIX}"), (folder.parent, f"*/*{SUFFIX}")}
        for folder, pattern in patterns:
            if folder.is_relative_to(root):  # what lies outside is no part of the project
                paths.update(folder.glob(pattern))
        for path in sorted(paths - set(suites)):
            with suppress(JudgesenseError):  # that file is not asked for
                yield load_suite(path, None, self._measurements.registry.forms)

    def only_saves(self, check: Check) -> bool:
        """Whether a check is not compared, because its baseline is being made."""
        save, baseline = self._settings.save_baseline, self._settings.baseline
        nothing = baseline is None or (baseline == save and not baseline.is_file())
        asked_for = check.kind.regression and self._settings.revision is None
        return asked_for and save is not None and nothing

    def not_compared(self, member: DeclaredCheck) -> str:
        """Why a check against earlier sessions is not compared; empty if it is."""
        settings = self._settings
        if member.check.kind.drift and settings.history is None:
            return "not compared: --judge-history FILE keeps the sessions that it is about"
        if member.check.kind.drift and not settings.tells_history:
            return "not compared: it is about sessions that ask judges afresh, --judge-mode live"
        if not member.check.kind.regression:
            return ""
        if settings.revision is not None:
            return self._not_at_revision(member)
        if self.only_saves(member.check):
            return "the baseline to be held against is being saved"
        if settings.baseline is None:
            return "not compared: --judge-baseline git:REF compares with the recording as it was"
        return ""

    def _not_at_revision(self, member: DeclaredCheck) -> str:
        from pytest_judgesense.earlier.past import NotCompared, PastReader
        from pytest_judgesense.revisions.revision import NoParent

        reader = self.past
        try:
            if isinstance(reader, PastReader):
                past = reader.past(member.judge, member.suite)
                if self._is_dropped(member) and not past.measures(member.check):
                    return f"not compared: {member.check.measure} was not measured then"
            elif isinstance(reader, NoParent):
                return f"not compared: {reader.what}"
        except NotCompared as error:
            return f"not compared: {error.what}"
        except JudgesenseError:
            return ""  # the check says it
        return ""

    def _is_dropped(self, member: DeclaredCheck) -> bool:
        """Whether a check was declared at the revision alone."""
        from pytest_judgesense.checks.loosened import as_then

        checks = checks_of(member.suite, self._measurements.registry)
        _, dropped = as_then([member.check], [check for check, _ in checks])
        return bool(dropped)

    @cached_property
    def past(self) -> PastReader | JudgesenseError:
        """What reads judges as they were at the revision; or why it cannot be read."""
        from pytest_judgesense.earlier.past import PastReader, ini_at
        from pytest_judgesense.revisions.revision import Revision

        settings, registry = self._settings, self._measurements.registry
        assert settings.revision is not None, "a revision is the baseline"
        root, folder = settings.rootdir, Path(self._folder.name)
        try:
            revision = Revision.read(settings.revision, root)
        except JudgesenseError as error:
            return error
        then = ini_at(revision, start_of(self._config), folder)
        return PastReader(
            *(revision, root, settings.cassettes, folder, settings.seed, registry),
            judges=lambda: [
                *self._measurements.objects().values(),
                *(member.judge for member in self.members),
            ],
            cassettes_then=cassettes_of(then, root, typed_options(self._config)),
        )

    def lost_at_revision(self) -> Iterator[JudgesenseError]:
        """That what was recorded there is compared with nothing, where no check says so."""
        if self._settings.revision is None or isinstance(self.past, JudgesenseError):
            return
        if not any(member.check.kind.regression for member in self.members):
            try:
                self.past.refuse_lost()
            except JudgesenseError as error:
                yield error

    @cached_property
    def _baseline(self) -> BaselineComparison:
        """What `no_regression` checks compare with.

        Raises:
            NoRevision: there is no such revision, or no git.
        """
        from pytest_judgesense.plugin.against_baseline import (
            Baseline,
            BaselineComparison,
            RevisionBaseline,
            SavedBaseline,
        )

        settings, registry = self._settings, self._measurements.registry
        baseline: Baseline
        policy, most_missing = self.policy, self._most_missing
        if settings.revision is not None:
            reader = self.past
            if isinstance(reader, JudgesenseError):
                raise reader
            baseline = RevisionBaseline(reader)
            policy, most_missing = self._rules.policy, self._rules.most_missing
        else:
            assert settings.baseline is not None, "without one nothing is compared"
            baseline = SavedBaseline(settings.baseline, settings.seed, registry)
        return BaselineComparison(baseline, policy, most_missing, self._measurements.once)

    @cached_property
    def _rules(self) -> SessionRules:
        """How regression checks are decided: where the revision was stricter, as it was."""
        reader = self.past
        assert not isinstance(reader, JudgesenseError), "a revision that can be read is compared"
        own = SessionRules(self.policy, self._most_missing)
        return rules_of(own, reader.ini(start_of(self._config)), typed_options(self._config))

    def _loosened(self, member: DeclaredCheck) -> Iterator[str]:
        """What of checks and rules is looser than at the revision, in clauses."""
        if self._settings.revision is None:
            return
        yield from self._rules.loosened
        if not isinstance(self.past, JudgesenseError) and (retired := self.past.newly_retired):
            yield f"called retired since {self._settings.revision}: {', '.join(retired)}"
        if then := self.checks_then(member.suite):
            from pytest_judgesense.checks.loosened import loosened

            now = checks_of(member.suite, self._measurements.registry)
            if clauses := [*loosened(then, [check for check, _ in now])]:
                held = "; comparisons hold as they were"
                yield f"looser than at {self._settings.revision}: {'; '.join(clauses)}{held}"

    def checks_then(self, suite: Suite) -> list[Check]:
        """The checks that a suite declared at the revision; none where none can be read."""
        if self._settings.revision is None or isinstance(self.past, JudgesenseError):
            return []  # the checks that compare say why
        try:
            then = checks_of(self.past.suite(suite), self._measurements.registry)
        except JudgesenseError:
            return []
        return [check for check, _ in then]

    @cached_property
    def _folder(self) -> TemporaryDirectory[str]:
        """Of files as they stood at a revision; it goes with the session."""
        folder = TemporaryDirectory(prefix="judgesense-revision-")
        self._config.add_cleanup(folder.cleanup)
        return folder

    def _rule(self, member: DeclaredCheck) -> DecisionRule:
        """How a check is decided: under `refuted` by every bar that the session declares.

        So evaluating one of them measures the suites of all, as in the regression checks.
        """
        rule = DecisionRule(self.policy, self._most_missing, self._alpha)
        if self.policy != "refuted" or member.check.kind.earlier:
            return rule
        members = {each.key: each for each in (*self.members, member)}.values()
        bars = {each.key: self._bars(each) for each in members if not each.check.kind.earlier}
        every = [bar for of_check in bars.values() for bar in of_check]
        keys = [key for key, of_check in bars.items() for _ in of_check]
        # Of a judge on a suite; what was not measured is a quantity of its own.
        about = [
            (key[:3], place if bar is None else quantity_of(bar))
            for place, (key, bar) in enumerate(zip(keys, every, strict=True))
        ]
        alphas = zip(keys, refuting_alphas(every, self._alpha, about), strict=True)
        return rule._replace(alpha=max(alpha for key, alpha in alphas if key == member.key))

    def _bars(self, member: DeclaredCheck) -> Sequence[Assessment | None]:
        """The numbers against the bars; what cannot be measured counts but is not tested."""
        judge, suite, check = member
        if member.key not in self._bars_of:
            bars: Sequence[Assessment | None] = [None] * max(1, len(check.bars))
            if not check.kind.compares:  # a rank is not a bar
                with suppress(JudgesenseError):
                    estimates = self._measurements.once(judge, suite).estimates
                    bars = judge_check(check, suite.name, estimates, "refuted").bars
            self._bars_of[member.key] = bars
        return self._bars_of[member.key]

    @cached_property
    def warned(self) -> Warned:
        """What is told of close outcomes."""
        return warned_of(self._config, self._settings)

    def decide(self, member: DeclaredCheck, rivals: Sequence[JudgeSpec] = ()) -> Decision:
        """A check with its outcome, which enters the datasheet; ``rivals`` are compared by some."""
        judge, suite, check = member
        self._measurements.refuse_function(judge, suite, [check])
        measurement = self._measurements.shown(judge, suite)
        if measurement.stop is not None and (check.kind.earlier or check.kind.compares):
            raise UsageError(
                f"{check.id} is decided on all clusters of {suite.name}, and its recording was "
                "stopped early",
                found=f"{len(measurement.stop.asked)} of {len(measurement.stop.looks.order)} "
                "clusters",
                # Without its baseline a session has nothing to compare, and stops early again.
                remedy=" ".join(
                    [
                        self._measurements.recordings.how_to_record(judge, suite),
                        *self._baseline_options(),
                    ]
                ),
            )
        rule = self._rule(member)
        outcome: AnyOutcome
        if check.kind.regression:
            outcome = self._baseline.outcome(member, self._compared)
            # One line each on the screen, however many causes there are.
            told = map("; ".join, (self._baseline.notices(member), self._loosened(member)))
            self._collected.add_against(measurement, [*filter(None, told)])
        elif check.kind.drift:
            assert self.history is not None, "without one it is not compared"
            outcome = self.history.outcome(check, measurement, rule)
        elif check.kind.compares:
            ranked = [self._measurements.shown(rival, suite) for rival in rivals or [judge]]
            cells = {each.judge.slug: each.cell for each in ranked}
            assert check.kind.judge is not None, "what compares judges has a judge"
            outcome = check.kind.judge(check, suite.kind, cells, rule)
        else:
            outcome = measurement.outcome_of(check, rule)
        explanation = explanation_of(
            outcome, measurement.cell, measurement.question_of, measurement.contents_of
        )
        line = check_line(explanation, self._collected.cleaned, warned=self.warned)
        if line.known is not None:
            line = replace(line, known=self._against_baseline(line.known, member, outcome))
        self._collected.add(measurement, line)
        if tells_luck(self._config) and not outcome.fails:
            # Sessions on other items are the same for all checks of a suite.
            key = measurement.suite.name, measurement.suite.path
            if key not in self._draws:
                self._draws[key] = Draws.of(measurement.cell, self.policy)
            draws = lost(outcome, rule, self._draws[key])
            self._collected.add_luck(measurement, check.key, draws)
        return Decision(explanation, measurement, line)

    @property
    def _compared(self) -> list[DeclaredCheck]:
        """The declared checks that are compared with the baseline: one family of Holm's."""
        regressions = (each for each in self.members if each.check.kind.regression)
        return [each for each in regressions if not self.not_compared(each)]

    def _against_baseline(
        self, state: KnownState, member: DeclaredCheck, outcome: AnyOutcome
    ) -> KnownState:
        """What is known of a check, with what the baseline says of that."""
        state = replace(state, widened=self._widened(member))
        if state.breach or not outcome.fails:
            return state
        worse, since = self._since_baseline(member)
        cleaned = self._collected.cleaned
        return replace(state, breach=cleaned(worse), since=cleaned(since))

    def _since_baseline(self, member: DeclaredCheck) -> tuple[str, str]:
        """That the measure of a known failure became worse, or what else the baseline says of it.

        Where a declared check compares it, by that check. The others are a family of their own, so
        that who declares a failure known weakens no other comparison.
        """
        if self._settings.revision is None and self._settings.baseline is None:
            return "", ""
        from pytest_judgesense.plugin.known_failures import comparison_of, comparisons_of_known

        compared = comparison_of(member, self.members)
        if compared is None:
            return "", f"not compared: {member.check.measure} never is with earlier sessions"
        if reason := self.not_compared(compared):
            return "", reason
        measurement = self._measurements.once(member.judge, member.suite)
        if measurement.stop is not None:
            return "it is compared on all clusters, and its recording was stopped early", ""
        family = self._compared
        if compared.key not in {each.key for each in family}:
            of_known = comparisons_of_known(self.members)
            family = [each for each in of_known if not self.not_compared(each)]
        outcome = self._baseline.outcome(compared, family)
        if is_worse_than_then(outcome):
            return explanation_of(outcome, measurement.cell).sentence, ""
        return "", not_worse_words(outcome)

    def _widened(self, member: DeclaredCheck) -> str:
        """What a known failure accepts that it did not at the revision that is the baseline."""
        revision, check = self._settings.revision, member.check
        if revision is None or isinstance(self.past, JudgesenseError):
            return ""
        declared = {
            own.key: own.known for own, _ in checks_of(member.suite, self._measurements.registry)
        }
        if declared.get(check.key) != check.known:
            return f"declared in a test, which is not compared with {revision}"
        return widened(check, self.checks_then(member.suite), revision)

    def propose_known(self, decision: Decision, member: DeclaredCheck, test: str) -> None:
        """Note how a failure could be declared known, where it was just recorded.

        ``test``: the id of the test that declares the check; empty for its suite file.
        """
        if self._settings.mode == "record":
            from pytest_judgesense.plugin.known_failures import proposal_of

            proposal = proposal_of(member, decision.explanation.outcome, test)
            self._collected.proposals += [proposal] if proposal else []

    def _baseline_options(self) -> list[str]:
        """The option with which a command compares as this session does; none if it does not."""
        from pytest_judgesense.revisions.revision import REVISION

        settings = self._settings
        if settings.baseline is not None:
            baseline = os.path.relpath(settings.baseline, settings.invocation)
        elif settings.revision is not None:
            baseline = f"{REVISION}{settings.revision}"
        else:
            return []
        return [f"--judge-baseline {shlex.quote(baseline)}"]

    def failure_texts(
        self, decision: Decision, alone: str, refusal: str = ""
    ) -> tuple[str, tuple[str, ...], str]:
        """Why a check did not pass; the first pieces of evidence alone, in lines; and the sentence.

        Args:
            decision: on the check.
            alone: the command that runs its item alone.
            refusal: why its failure is known no more; empty where it never was.
        """
        explanation, measurement = decision.explanation, decision.measurement
        settings, judge = self._settings, measurement.judge
        command = [alone]
        if settings.judges:
            command += self._measurements.recordings.options_of(judge)
        if explanation.outcome.check.kind.regression:
            command += self._baseline_options()
        command.append("--judge-datasheet judgments.jsonl")
        look_further = " ".join(command)
        if explanation.over is not None:
            from pytest_judgesense.checks.drift import DriftOutcome

            assert isinstance(explanation.outcome, DriftOutcome), "only those are over sessions"
            assert settings.history is not None, "it was looked at"
            history = shlex.quote(os.path.relpath(settings.history, settings.invocation))
            look_further = (
                f"judgesense report --history {history} --sessions {explanation.outcome.course.way}"
            )
        brief = [*brief_lines(explanation, look_further)]
        # Where no summary shows the numbers, and where a file has this text alone.
        is_for_file = bool(self._config.getoption("xmlpath", None))
        if self._config.get_verbosity() < 0 or is_for_file:
            brief.insert(0, explanation.measured)
        # The same in a file, whatever the terminal of the session.
        with within(WIDTH if is_for_file else self._columns):
            text = whole_text(explanation, judge.name, measurement.prompt_of, look_further)
        cleaned = self._collected.cleaned
        sentence = cleaned(printable(explanation.sentence))
        if refusal and decision.line.known:
            lines = decision.line.known.words, f"fails again: {refusal}"
            sentence, text = "; ".join([sentence, *lines]), "\n  ".join([text, *lines])
            brief += map(printable, lines)
        return cleaned(text), tuple(map(cleaned, brief)), sentence

    def stopping_of(self, judge: JudgeSpec, suite: Suite, progress: Progress) -> Stopping | None:
        """The checks that must be decided for an early stop: all that the session declares."""
        if not (self._settings.early_stop or suite.early_stop) or self.policy == "refuted":
            return None
        place = judge.slug, suite.name, suite.path
        if any(
            judge.slug in (asked.slug for asked in member.judge.members)
            and place[1:] == (member.suite.name, member.suite.path)
            for member in self.members
        ):
            return None  # its jury needs the whole suite
        checks = {
            member.check.key: member.check
            for member in self.members
            if (member.judge.slug, member.suite.name, member.suite.path) == place
            and not self.not_compared(member)
        }
        if not checks:
            return None  # free-form estimates need the whole suite
        rule = DecisionRule(self.policy, self._most_missing)
        return Stopping(tuple(checks.values()), rule, progress.decided)
