"""Which items a person labels, in which order, and what the person sees of them.

At random every item has the same chance. The order is that of a digest of the seed and the item, so
it is the same for every person, a part of it from its beginning is a random draw itself, and items
that are added later change nothing about the others. Items on which judges or wordings disagree are
chosen: what is measured on them alone says nothing of the others, and their labels say so. So are
items whose label every reading contradicts (`instruments.contradicted`).

The templates of a suite may never be sent by a function, so the page shows those words of its
recorded requests that several items share. Only the first request of a trial counts: a later one
may quote the answer to it, and a person is blind to answers.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, NamedTuple

from pytest_judgesense.cassettes.exchange import CALL, RecordedRequest
from pytest_judgesense.checks.shared_request import (
    SentPrompt,
    SentTrial,
    WordingPrompts,
    item_texts,
    requests_of,
    shared_prompts,
    text_of,
    texts_held,
)
from pytest_judgesense.errors import JudgesenseError, SuiteError, UsageError
from pytest_judgesense.files.limits import toml_value
from pytest_judgesense.files.opening import read_bytes
from pytest_judgesense.files.output import replace_content
from pytest_judgesense.instruments.contradicted import answers_of, labels_to_look_at
from pytest_judgesense.judges.remembered import recorded_trials
from pytest_judgesense.judges.spec import JudgeSpec
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.measures.shared import AGREEMENT
from pytest_judgesense.revisions.revision import Revision, newest_versions
from pytest_judgesense.suites.builtin import cassettes_in
from pytest_judgesense.suites.item import Item
from pytest_judgesense.suites.loading import items_of_bytes
from pytest_judgesense.suites.people import labelled_text
from pytest_judgesense.suites.planning import plan_trials
from pytest_judgesense.suites.suite import Kind, Suite
from pytest_judgesense.trial import Drawn, Judgment, Trial

_KEY: Final = "labelled"
# As `judgesense init` writes it for items that have labels.
GATE: Final = "{ bar = 0.8, limit = 0.7 }"


@dataclass(frozen=True, slots=True)
class DrawnItems:
    """The items to be labelled, in their order, and how they were drawn."""

    items: tuple[Item, ...]
    drawn: Drawn


def drawn_at_random(suite: Suite, seed: int, number: int | None = None) -> DrawnItems:
    """The items in the order of the seed: this many of them, by default all.

    Raises:
        UsageError: the suite has fewer.
    """
    items = _in_order(suite.items, seed)
    if number is not None and number > len(items):
        raise UsageError(
            f"{number} items cannot be drawn from suite {suite.name}",
            found=f"{len(items)} items",
            expected=f"--draw {len(items)} at most",
        )
    return DrawnItems(tuple(items[:number]), "random")


def drawn_as_disputed(suite: Suite, seed: int, judgments: Iterable[Judgment]) -> DrawnItems:
    """The items on which judges or wordings disagree, those with the most disagreement first.

    A judge's answer under a wording is what most of its verdicts say, in all orders and replicates,
    or that they are divided. The disagreement about an item is the share of the answers other than
    the most frequent one; of several grades, that of the grade with the most.

    Raises:
        UsageError: all answers agree.
    """
    shares = _disagreements(judgments)
    disputed = [item for item in _in_order(suite.items, seed) if shares.get(item.id)]
    if not disputed:
        raise UsageError(
            f"nothing of suite {suite.name} is disputed",
            found=f"one answer about each of {len(shares)} items",
            expected="two judges or two wordings that disagree",
            remedy="draw at random: --draw N",
        )
    return DrawnItems(tuple(sorted(disputed, key=lambda item: -shares[item.id])), "chosen")


def drawn_as_contradicted(suite: Suite, seed: int, cells: Iterable[Cell]) -> DrawnItems:
    """The items whose label every reading of a judge contradicts, those of most judges first.

    Raises:
        UsageError: there is none.
    """
    by_judge = [labels_to_look_at(cell) for cell in cells]
    times = Counter(
        item for labels in by_judge for item in {listed.item for listed in labels.listed}
    )
    contradicted = [item for item in _in_order(suite.items, seed) if times[item.id]]
    if not contradicted:
        read = max((labels.labels for labels in by_judge), default=0)
        raise UsageError(
            f"no label of suite {suite.name} is contradicted by every reading of a judge",
            found=f"{read} labels that were read twice or more often",
            expected="a label of which all wordings, orders and repeats are one other verdict",
            remedy="draw at random: --draw N",
        )
    return DrawnItems(tuple(sorted(contradicted, key=lambda item: -times[item.id])), "chosen")


def _in_order(items: Sequence[Item], seed: int) -> list[Item]:
    """All but controls, whose labels are known."""
    labelled = (item for item in items if not item.is_control)
    return sorted(labelled, key=lambda item: drawn_number(seed, item.id))


def drawn_number(*names: object) -> int:
    """A number that nothing but these names decides."""
    return int.from_bytes(hashlib.sha256(repr(names).encode()).digest()[:8])


def _disagreements(judgments: Iterable[Judgment]) -> dict[str, float]:
    """By item the share of judges and wordings that do not give the most frequent answer."""
    votes: dict[tuple[str, str], dict[tuple[str, str], Counter[Any]]] = defaultdict(
        lambda: defaultdict(Counter)
    )
    for judgment in judgments:
        for criterion, answer in answers_of(judgment):
            about = votes[judgment.trial.item, criterion]
            about[judgment.judge, judgment.trial.template][answer] += 1
    shares: dict[str, float] = defaultdict(float)
    for (item, _), by_asking in votes.items():
        answers = Counter(_most(votes) for votes in by_asking.values())
        share = 1 - max(answers.values()) / answers.total()
        shares[item] = max(shares[item], share)
    return shares


def _most(votes: Counter[Any]) -> Any:
    """The most frequent answer; ``None`` if two are."""
    (answer, most), *others = votes.most_common(2)
    return None if others and others[0][1] == most else answer


def declare_random(path: Path) -> bool:
    """Say in a suite file that its labels are of a random draw, if it does not say how.

    One line is put below ``[stimuli]``; every other byte stays.

    Returns:
        Whether the line was put in.

    Raises:
        UsageError: the file says that they were chosen.
        SuiteError: the file cannot be written, or has no place for the line.
    """
    with SuiteError.instead_of(OSError, f"the suite file {path} cannot be read"):
        stated = toml_value(read_bytes(path).decode())["stimuli"].get(_KEY)
    if stated == "chosen":
        raise UsageError(
            f"the labels of {path} are of chosen items, and this draw would be lost among them",
            found=f'{_KEY} = "chosen" in [stimuli]: no rate of all items follows',
            expected="items that chance draws, with labels that are told from chosen ones",
            remedy="take that line out, and the labels of chosen items from their columns: "
            "the people.csv says of each of its lines how it was drawn",
        )
    return _put_below(path, "stimuli", _KEY, '"random"', "how its labels are drawn")


def declare_gate(path: Path) -> bool:
    """Put a check of the judge against its labels into a suite file; as `declare_random`."""
    return _put_below(path, "checks", str(AGREEMENT.check), GATE, "a check against its labels")


def _put_below(path: Path, table: str, key: str, value: str, meaning: str) -> bool:
    with SuiteError.instead_of(OSError, f"the suite file {path} cannot be written"):
        text = read_bytes(path).decode()
        before = toml_value(text)
        if key in before.get(table, {}):
            return False
        after = {**before, table: {**before.get(table, {}), key: toml_value(f"a = {value}")["a"]}}
        headers = re.compile(rf"^[ \t]*\[[ \t]*{table}[ \t]*\][^\r\n]*(\r?\n)", re.MULTILINE)
        for header in headers.finditer(text):
            line = f"{key} = {value}{header[1]}"
            changed = f"{text[: header.end()]}{line}{text[header.end() :]}"
            # What looks like the header may stand in the text of a prompt.
            if toml_value(changed) == after:
                replace_content(path, changed.encode())
                return True
    raise SuiteError(
        f"the suite file {path} has no place for {meaning}",
        found=f"no line [{table}]",
        expected=f"{key} = {value} in its table {table}",
        remedy="put it there",
    )


# Versions of the file that are looked through, from the newest: about a second.
_MOST_VERSIONS: Final = 30


def earlier_items(
    suite: Suite, texts: Collection[str], kinds: Mapping[str, Kind]
) -> dict[str, Item]:
    """The items that showed these texts, by text, as the suite file reads older versions of them.

    What git does not hold, or the suite file does not read any more, is left out: a text that is
    not shown beside the new one hinders nobody.
    """
    wanted, earlier = {*texts}, dict[str, Item]()
    for data in _versions(suite.files[0]) if wanted else ():
        try:
            items = items_of_bytes(suite, data, kinds)
        except JudgesenseError:
            continue
        for item in items:
            if (text := labelled_text(item)) in wanted:
                earlier.setdefault(text, item)
        if earlier.keys() == wanted:
            break
    return earlier


def _versions(file: Path) -> Iterator[bytes]:
    """A file at the commits that changed it, the newest first; those that are there."""
    try:
        commits = newest_versions(file, _MOST_VERSIONS)
    except JudgesenseError:
        return
    for commit in commits:
        with TemporaryDirectory() as folder:
            try:
                revision = Revision.read(commit, file.parent)
                if not revision.holds(file):
                    continue
                revision.write([file], Path(folder))
                data = read_bytes(revision.place_in(Path(folder), file))
            except (JudgesenseError, OSError):
                continue
        yield data


_IN_CODE: Final = "What the judge asks is in its own code"
NOTHING_SENT: Final = f"Nothing was sent yet. {_IN_CODE}, and stands here once it is recorded."
NO_REQUEST: Final = f"No request is recorded. {_IN_CODE}; below is what it was given."


class ShownPrompt(NamedTuple):
    """What is shown of a prompt.

    Attributes:
        system: the system prompt.
        words: the prompt with its ``{{places}}``.
        fields: which fields of the item stand in it.
        notice: what is to be known of it; empty for nothing.
    """

    system: str
    words: str
    fields: frozenset[str]
    notice: str = ""


@dataclass(frozen=True, slots=True)
class SentQuestions:
    """The prompts of a function on a suite, as its recording has them.

    Attributes:
        prompts: by wording.
        fields: by item those that its first request holds.
        notice: why there are no prompts; empty where there are.
    """

    prompts: Mapping[str, WordingPrompts]
    fields: Mapping[str, frozenset[str]]
    notice: str = ""

    @classmethod
    def of(cls, suite: Suite, judges: Iterable[JudgeSpec], cassettes: Path) -> SentQuestions | None:
        """Those of the first of the judges that is recorded on the suite.

        ``None`` where a judge is sent the templates of the suite, and where there is no judge.

        Raises:
            CassetteError: a recording cannot be read.
        """
        functions = [judge for judge in judges if judge.jury is None]
        if not functions or any(judge.provider != "callable" for judge in functions):
            return None
        trials = plan_trials(suite)
        for judge in functions:
            paths = cassettes_in(cassettes, judge.slug, suite.recordings).values()
            recorded = recorded_trials(path for path in paths if path.is_file())
            first = [
                (trial, request)
                for trial in trials
                if (request := _first(requests_of(recorded.get(trial.id, ()))))
            ]
            if first:
                return cls._of_requests(suite, first)
        return cls({}, {}, NOTHING_SENT)

    @classmethod
    def _of_requests(
        cls, suite: Suite, first: Sequence[tuple[Trial, RecordedRequest]]
    ) -> SentQuestions:
        items = {item.id: item for item in suite.items}
        fields = {
            trial.item: frozenset(texts_held(items[trial.item], trial, text_of([request])))
            for trial, request in first
        }
        sent = [
            SentTrial(
                trial.item, trial.template, [request], item_texts(items[trial.item], trial.order)
            )
            for trial, request in first
            if request.method != CALL
        ]
        return cls(shared_prompts(sent), fields, "" if sent else NO_REQUEST)

    def shown(self, item: Item, wording: str) -> ShownPrompt:
        """What is shown about an item; of one that is not recorded, what most items show."""
        fields = self.fields.get(item.id) or self._usual_fields() or self._taken(item)
        of_wording = self.prompts.get(wording) or next(iter(self.prompts.values()), None)
        if of_wording is None:
            return ShownPrompt("", "", fields, self.notice)
        usual = next(iter(of_wording.shared), SentPrompt("", ""))
        prompt = of_wording.by_item.get(item.id, usual)
        return ShownPrompt(prompt.system, prompt.prompt, fields)

    def _usual_fields(self) -> frozenset[str]:
        """The fields that at least half of the requests hold."""
        counts = Counter(name for names in self.fields.values() for name in names)
        least = len(self.fields) / 2
        return frozenset(name for name, count in counts.items() if count >= least)

    @staticmethod
    def _taken(item: Item) -> frozenset[str]:
        """The fields that the function takes, or a template shows."""
        return frozenset(name for name in item.fields if item.taken is None or name in item.taken)


def _first(requests: Iterable[RecordedRequest]) -> RecordedRequest | None:
    """The first request that holds a text."""
    return next((request for request in requests if text_of([request])), None)
