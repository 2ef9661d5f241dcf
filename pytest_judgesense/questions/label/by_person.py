"""Labels that a person gives on a page of this machine; see `questions.label.sitting`.

Each answer is appended to the file of people's labels beside the suite file.
"""

from __future__ import annotations

import shlex
import threading
import webbrowser
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from pytest_judgesense.asking.inquiry import Asking
from pytest_judgesense.errors import SuiteError, UsageError, printable
from pytest_judgesense.judges.client import is_embedded
from pytest_judgesense.judges.loop import AskingLoop
from pytest_judgesense.judges.resolving import with_members
from pytest_judgesense.judges.spec import JudgeSpec
from pytest_judgesense.measurement import measure
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.measures.shared import AGREEMENT
from pytest_judgesense.questions.label.label_sample import (
    GATE,
    DrawnItems,
    SentQuestions,
    declare_gate,
    declare_random,
    drawn_as_contradicted,
    drawn_as_disputed,
    drawn_at_random,
    earlier_items,
)
from pytest_judgesense.questions.label.loopback import IDLE_S, LabelServer
from pytest_judgesense.questions.label.sitting import Sitting
from pytest_judgesense.questions.place import Place, trust_of
from pytest_judgesense.questions.question import QuestionAnswer
from pytest_judgesense.suites.annotators import persons_of, refuse_spellings
from pytest_judgesense.suites.builtin import cassettes_in, is_built_in
from pytest_judgesense.suites.item import ITEM_ID
from pytest_judgesense.suites.people import people_lines
from pytest_judgesense.suites.suite import Suite
from pytest_judgesense.text.display import print_line

Chosen: TypeAlias = Literal["disputed", "contradicted"]
DISPUTED: Final = "disputed"
CONTRADICTED: Final = "contradicted"
# The draws for which recordings are looked at.
CHOSEN: Final[tuple[Chosen, ...]] = (DISPUTED, CONTRADICTED)
NAME_FORM: Final = "a name has letters, digits, '.', '_' and '-' alone"
_OF_ONE: Final = (
    "nobody knows how often labels of one person are wrong: another --person labels the same items"
)
Draw: TypeAlias = int | Chosen | None
# What shows lines while the page is open.
Tell: TypeAlias = Callable[[Iterable[str]], object]


def is_name(text: str) -> bool:
    """Whether a person can be called so."""
    return ITEM_ID.fullmatch(text) is not None


def _print(lines: Iterable[str]) -> None:
    for line in lines:
        print_line(printable(line))


@dataclass(frozen=True)
class PersonLabelsQuestion:
    """How does a person label the items of a suite?

    Attributes:
        suite: a suite of the project by name, or its file.
        person: who labels.
        draw: so many items, at random; ``disputed``: those on which judges or wordings disagree;
            ``contradicted``: those whose label every reading of a judge contradicts; all in random
            order if ``None``.
        judges: whose recordings are looked at for the last two; else those that the project
            declares, or that the suite names.
        seed: of the draw and of all orders.
        has_browser: whether a browser is opened; else the address of the page is told alone.
        place: where suites and recordings are.
    """

    suite: str
    person: str
    draw: Draw = None
    judges: tuple[str, ...] = ()
    seed: int = 0
    has_browser: bool = True
    place: Place = field(default_factory=Place)

    def answer(self, tell: Tell = _print) -> PersonLabelsAnswer:
        """Serve the page until the person is done, or nobody has used it for two hours.

        ``tell`` is given the lines that are for the person while the page is open.

        Raises:
            UsageError: an argument is wrong, the suite is one of the installation, or its labels
                were drawn otherwise.
            SuiteError: the file of people's labels cannot be read or written.
        """
        self._refuse_wrong()
        suite = self._suite_with_own_labels()
        sitting = self._sitting(suite)
        self._refuse_unreadable(suite, sitting, tell)
        if isinstance(self.draw, int):
            if notice := _of_unsaid_labels(suite):
                tell([notice])
            else:
                declare_random(suite.path)
        self._serve(sitting, tell)
        counts = sitting.counts()
        return PersonLabelsAnswer(
            suite=suite.name,
            file=suite.path,
            person=self.person,
            labelled=counts["labelled"],
            skipped=counts["skipped"],
            left=counts["left"],
            of_several=sitting.labelled_by_others(),
            gate=self._gate(suite) if counts["labelled"] else "",
        )

    def _refuse_wrong(self) -> None:
        if not is_name(self.person):
            raise UsageError("nobody is called so", found=repr(self.person), expected=NAME_FORM)
        is_number = isinstance(self.draw, int) and self.draw > 0
        if not is_number and self.draw not in (None, *CHOSEN):
            raise UsageError(
                "this is no draw of items",
                found=repr(self.draw),
                expected=f"a number of items, {DISPUTED} or {CONTRADICTED}",
            )
        if self.judges and self.draw not in CHOSEN:
            raise UsageError(
                "a person and a judge do not label together",
                found="--person, and options of a judge that is asked",
                expected="--judge-name beside --person for the recordings of --draw disputed or "
                "--draw contradicted alone",
            )

    def _suite_with_own_labels(self) -> Suite:
        suite = self.place.suite(self.suite, labelled=False)
        if is_built_in(suite.path):
            raise UsageError(
                f"suite {suite.name} comes with the installation, which keeps no labels",
                found=str(suite.path),
                expected="a suite file of a project: labels are kept beside it",
                remedy=f"copy its folder, {suite.path.parent.name}, to suites/ and label the copy",
            )
        if suite.space.score is not None:
            raise UsageError(
                f"the labels of suite {suite.name} are numbers, and the page has no field for them",
                found=f"scores from {' to '.join(suite.space.score.ends)}",
                expected="a suite of labels or grades",
                remedy='write the numbers into a column of the items: columns = { label = "..." }',
            )
        return suite

    def _sitting(self, suite: Suite) -> Sitting:
        changed = suite.uncounted.of_other_texts
        texts = {label.text for label in changed if label.person == self.person}
        return Sitting(
            suite,
            self.person,
            self._drawn(suite),
            self.seed,
            earlier=earlier_items(suite, texts, self.place.registry.forms),
            sent=SentQuestions.of(suite, self._judges(), self.place.cassettes),
        )

    def _judges(self) -> list[JudgeSpec]:
        """The judges that are named, else those that the project declares."""
        if self.judges:
            return self.place.judges(self.judges)
        return [*self.place.declared.values()]

    def _drawn(self, suite: Suite) -> DrawnItems:
        if self.draw == DISPUTED:
            judgments = (cell.judgments for cell in self._recorded(suite))
            return drawn_as_disputed(suite, self.seed, chain.from_iterable(judgments))
        if self.draw == CONTRADICTED:
            return drawn_as_contradicted(suite, self.seed, self._recorded(suite))
        return drawn_at_random(suite, self.seed, self.draw)

    def _recorded(self, suite: Suite) -> Iterator[Cell]:
        """What the judges that are named, declared or the suite's said, by their recordings."""
        names = self.judges or [*self.place.declared] or [*suite.judges]
        how = f"record it: pytest {shlex.quote(str(suite.path))} --judge-mode record"
        with closing(AskingLoop()) as loop:
            # A jury disputes nothing that its members do not.
            for judge in with_members(self.place.judges_to_ask(names)):
                if judge.members:
                    continue
                paths = cassettes_in(self.place.cassettes, judge.slug, suite.recordings)
                asking = Asking(
                    trust=trust_of(self.suite),
                    how_to_record=how,
                    registry=self.place.registry,
                    computes=is_embedded,
                )
                yield measure(judge, suite, paths, loop, asking=asking).cell

    def _refuse_unreadable(self, suite: Suite, sitting: Sitting, tell: Tell) -> None:
        """Raise an error for a file of labels that cannot be read, or of other spellings, now."""
        sitting.state()
        labels, unfinished = people_lines(sitting.path)
        if unfinished is not None:
            tell([f"{unfinished.notice(sitting.path)}: the next answer takes its place"])
        persons = (answer.person for answer in labels)
        refuse_spellings(suite.name, (*persons_of(suite.items), *persons, self.person))

    def _serve(self, sitting: Sitting, tell: Tell) -> None:
        server = LabelServer(sitting)
        with server:
            if self.has_browser:
                end = f"answers are appended to {sitting.path}; Ctrl-C ends it"
                tell([f"page: {server.url}", end])
                # A browser of the terminal does not come back before it is closed.
                threading.Thread(target=webbrowser.open, args=(server.url,), daemon=True).start()
            else:
                tell([server.url])
            try:
                if not server.serve():
                    hours = IDLE_S // 3600
                    tell([f"nobody has used the page for {hours} hours: it is closed"])
            except KeyboardInterrupt:
                tell([""])

    def _gate(self, suite: Suite) -> str:
        """Let a check hold the judge against the labels, if the suite has none; what was done."""
        joined = self.place.registry.joined
        against_labels = {measure.check for measure in (AGREEMENT, *joined)}
        declared = {declaration.name for declaration in suite.checks}
        if suite.space.criteria or declared & against_labels:
            return ""
        try:
            declare_gate(suite.path)
        except SuiteError as error:
            return str(error)
        return f"put into [checks] of {suite.path.name}: {AGREEMENT.check} = {GATE}"


def _of_unsaid_labels(suite: Suite) -> str:
    """What is not said of a suite of which some items have labels, drawn nobody says how.

    The lines of this draw say that chance drew them; the suite file would say it of all labels.
    Empty where there are no such labels.
    """
    labelled = sum(item.label is not None or bool(item.people) for item in suite.items)
    if suite.labelled is not None or not 0 < labelled < len(suite.items):
        return ""
    return (
        f"notice: {labelled} of {len(suite.items)} items have labels, and suite {suite.name} does "
        "not say how these were drawn: no rate of all items is corrected before [stimuli] says "
        'labelled = "random", if chance chose them'
    )


@dataclass(frozen=True)
class PersonLabelsAnswer(QuestionAnswer):
    """How far a person is.

    Attributes:
        suite: its name.
        file: its file.
        person: who labels.
        labelled: number of drawn items with a label of the person.
        skipped: number of those that the person skipped.
        left: number of those not seen yet.
        of_several: number of those labelled by others as well.
        gate: what was put into the suite file, so that a check holds the judge against the labels;
            empty for nothing.
    """

    suite: str
    file: Path
    person: str
    labelled: int
    skipped: int
    left: int
    of_several: int
    gate: str = ""

    def lines(self) -> Iterator[str]:
        """What was put into the suite file, and how many items have a label."""
        if self.gate:
            yield self.gate
        yield self._last_line()

    def to_dict(self) -> Mapping[str, Any]:
        """The numbers."""
        return {
            "suite": self.suite,
            "person": self.person,
            "labelled": self.labelled,
            "skipped": self.skipped,
            "left": self.left,
            "labelled_by_others": self.of_several,
        }

    def _last_line(self) -> str:
        """How many items have a label, what to do with them, and what nobody knows of them."""
        shown = [f"{self.labelled} labelled"]
        if self.skipped:
            again = "" if self.left else " (the same command shows them once more)"
            shown.append(f"{self.skipped} skipped{again}")
        if self.left:
            shown.append(f"{self.left} left (the same command goes on)")
        command = f"pytest {shlex.quote(str(self._place_to_run()))}"
        is_of_one = self.labelled and not self.of_several
        unknown = f"; {_OF_ONE}" if is_of_one else ""
        return f"{', '.join(shown)}; {command} compares the judge with them{unknown}"

    def _place_to_run(self) -> Path:
        """The folder of the suite, where it has no other one; else its file."""
        folder = self.file.parent
        suites = [*folder.glob("*.suite.toml"), *folder.glob("*/*.suite.toml")]
        place = folder if suites == [self.file] else self.file
        if place.is_relative_to(Path.cwd()) and place != Path.cwd():
            return place.relative_to(Path.cwd())
        return place
