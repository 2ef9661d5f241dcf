"""``judgesense label``: labels of items, given by a person on a page, or by a judge.

A person sees one item after the other on a page of this machine; see `commands.sitting`. Each
answer is appended to the file of people's labels beside the suite file.

A judge gives the labels that a temperature suite lacks. It is shown the best template of the suite
(with a reference answer if the items have one), in both presentation orders, at the lowest
temperature and with the replicates of the design, as a suite ``labels-NAME``. The label of an item
is the content that more than half of its verdicts choose; without such a majority the item gets no
label. The labels are marked as the judge's.
"""

from __future__ import annotations

import argparse
import json
import shlex
import threading
import webbrowser
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Final

from pytest_judgesense.asking.inquiry import Asking
from pytest_judgesense.commands.earlier_items import earlier_items
from pytest_judgesense.commands.equivalence import aside, measured_aside
from pytest_judgesense.commands.label_sample import (
    GATE,
    DrawnItems,
    declare_gate,
    declare_random,
    drawn_as_disputed,
    drawn_at_random,
)
from pytest_judgesense.commands.live_calls import add_terms
from pytest_judgesense.commands.loopback import IDLE_S, LabelServer
from pytest_judgesense.commands.options import (
    FILE,
    FLAG,
    add_judge,
    add_suite,
    place_of,
    registry_of,
    seed,
    show,
)
from pytest_judgesense.commands.sent_questions import SentQuestions
from pytest_judgesense.commands.sitting import Sitting
from pytest_judgesense.errors import SuiteError, UsageError
from pytest_judgesense.files.opening import read_text
from pytest_judgesense.files.output import write_text
from pytest_judgesense.judges.client import is_embedded
from pytest_judgesense.judges.loop import AskingLoop
from pytest_judgesense.judges.resolving import declared_judges
from pytest_judgesense.judges.spec import JudgeSpec
from pytest_judgesense.measurement import measure
from pytest_judgesense.measures.shared import AGREEMENT
from pytest_judgesense.questions.place import trust_of
from pytest_judgesense.suites.annotators import persons_of, refuse_spellings
from pytest_judgesense.suites.builtin import cassettes_in, is_built_in
from pytest_judgesense.suites.item import ITEM_ID, Item
from pytest_judgesense.suites.loading import stimuli_of
from pytest_judgesense.suites.people import people_lines
from pytest_judgesense.suites.planning import LABELS
from pytest_judgesense.suites.suite import Suite, Template
from pytest_judgesense.trial import Failed, Judgment

_DISPUTED: Final = "disputed"
_OF_ONE: Final = (
    "nobody knows how often labels of one person are wrong: another --person labels the same items"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the suite, and who labels it."""
    add_suite(parser)
    add_judge(parser, several=True)
    add_terms(parser)
    parser.add_argument("-o", "--output", help="the file of items that a judge labels", **FILE)
    person = parser.add_argument_group("a person, on a page of this machine")
    person.add_argument("--person", metavar="NAME", type=_person, help="who labels")
    meaning = "so many items, at random (default: all); or those on which recordings disagree"
    person.add_argument("--draw", metavar="N|disputed", type=_draw, help=meaning)
    person.add_argument("--seed", type=seed, help="of the draw and of all orders (default: 0)")
    person.add_argument("--no-browser", help="print the address of the page alone", **FLAG)


def _person(text: str) -> str:
    if ITEM_ID.fullmatch(text) is None:
        raise argparse.ArgumentTypeError("a name has letters, digits, '.', '_' and '-' alone")
    return text


def _draw(text: str) -> int | str:
    if text == _DISPUTED:
        return text
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"a number of items, or {_DISPUTED}, is expected")
    return int(text)


def run(options: argparse.Namespace) -> Iterator[str] | int:
    """Let a person label the items on a page, or a judge those that have no label.

    Raises:
        UsageError: it is not said who labels, or an option is not one of who does.
    """
    of_person = ("draw", "seed", "no_browser")
    of_judge = ("output",)
    if options.person is not None:
        _refuse(options, of_judge, "a judge that labels")
        if options.judge_mode != "replay" or (options.judge_name and options.draw != _DISPUTED):
            raise UsageError(
                "a person and a judge do not label together",
                found="--person, and options of a judge that is asked",
                expected="--judge-name beside --person for the recordings of --draw disputed alone",
            )
        return _label_on_a_page(options)
    _refuse(options, of_person, "a person: --person NAME")
    if len(options.judge_name) != 1 or options.output is None:
        raise UsageError(
            "it is not said who labels",
            expected="--person NAME, or one --judge-name NAME with -o FILE",
        )
    (options.judge_name,) = options.judge_name
    return _labelled_by_judge(options)


def _refuse(options: argparse.Namespace, names: tuple[str, ...], whose: str) -> None:
    if others := [name for name in names if getattr(options, name) not in (None, False)]:
        raise UsageError(f"--{others[0].replace('_', '-')} is an option of {whose}")


# --- a person -------------------------------------------------------------------------------------


def _label_on_a_page(options: argparse.Namespace) -> int:
    """Serve the page until the person is done."""
    suite = next(place_of(options).suites(options.judge_suite, labelled=False))
    if is_built_in(suite.path):
        raise UsageError(
            f"suite {suite.name} comes with the installation, which keeps no labels",
            found=str(suite.path),
            expected="a suite file of a project: labels are kept beside it",
            remedy=f"copy its folder, {suite.path.parent.name}, to suites/ and label the copy",
        )
    the_seed = options.seed or 0
    changed = suite.uncounted.of_other_texts
    texts = {label.text for label in changed if label.person == options.person}
    sitting = Sitting(
        suite,
        options.person,
        _drawn(options, suite, the_seed),
        the_seed,
        earlier=earlier_items(suite, texts, registry_of(options).forms),
        sent=SentQuestions.of(suite, _judges(options), options.judge_cassettes),
    )
    sitting.state()  # a file that cannot be read is an error now
    labels, unfinished = people_lines(sitting.path)
    if unfinished is not None:
        show([f"{unfinished.notice(sitting.path)}: the next answer takes its place"])
    persons = (answer.person for answer in labels)
    refuse_spellings(suite.name, (*persons_of(suite.items), *persons, options.person))
    if isinstance(options.draw, int):
        _refuse_unsaid(suite)
        declare_random(suite.path)
    server = LabelServer(sitting)
    with server:
        if options.no_browser:
            show([server.url])
        else:
            show([f"page: {server.url}", f"answers are appended to {sitting.path}; Ctrl-C ends it"])
            # A browser of the terminal does not come back before it is closed.
            threading.Thread(target=webbrowser.open, args=(server.url,), daemon=True).start()
        try:
            if not server.serve():
                show([f"nobody has used the page for {IDLE_S // 3600} hours: it is closed"])
        except KeyboardInterrupt:
            show([""])
    return show([*_gated(options, sitting, suite), _last_line(sitting, suite)])


def _gated(options: argparse.Namespace, sitting: Sitting, suite: Suite) -> Iterator[str]:
    """Let a check hold the judge against the labels, if there are some and the suite has none."""
    against_labels = {measure.check for measure in (AGREEMENT, *registry_of(options).joined)}
    declared = {declaration.name for declaration in suite.checks}
    if suite.space.criteria or declared & against_labels or not sitting.counts()["labelled"]:
        return
    try:
        declare_gate(suite.path)
        yield f"put into [checks] of {suite.path.name}: {AGREEMENT.check} = {GATE}"
    except SuiteError as error:
        yield str(error)


def _refuse_unsaid(suite: Suite) -> None:
    """Raise a `UsageError` if labels that nobody called random would be called so with the draw."""
    labelled = sum(item.label is not None or bool(item.people) for item in suite.items)
    if suite.labelled is None and 0 < labelled < len(suite.items):
        raise UsageError(
            f"suite {suite.name} does not say how the items that have labels were drawn",
            found=f"{labelled} of {len(suite.items)} items with labels",
            expected="no labels yet, or how they were drawn: this draw would call all random",
            remedy='labelled = "random" in [stimuli] if chance chose them, or take them out',
        )


def _drawn(options: argparse.Namespace, suite: Suite, the_seed: int) -> DrawnItems:
    if options.draw == _DISPUTED:
        return drawn_as_disputed(suite, the_seed, _recorded(options, suite))
    return drawn_at_random(suite, the_seed, options.draw)


def _judges(options: argparse.Namespace) -> list[JudgeSpec]:
    """The judges that are named, else those that the project declares."""
    if options.judge_name:
        return place_of(options).judges(options.judge_name)
    return [*declared_judges(Path.cwd(), registry_of(options).providers).values()]


def _recorded(options: argparse.Namespace, suite: Suite) -> Iterator[Judgment]:
    """What the judges that are named, declared or the suite's said, by their recordings."""
    declared = declared_judges(Path.cwd(), registry_of(options).providers)
    names = options.judge_name or [*declared] or [*suite.judges]
    registry = registry_of(options)
    how = f"record it: pytest {shlex.quote(str(suite.path))} --judge-mode record"
    with closing(AskingLoop()) as loop:
        for judge in place_of(options).judges_to_ask(names):
            paths = cassettes_in(options.judge_cassettes, judge.slug, suite.recordings)
            asking = Asking(
                trust=trust_of(options.judge_suite),
                how_to_record=how,
                registry=registry,
                computes=is_embedded,
            )
            yield from measure(judge, suite, paths, loop, asking=asking).judgments


def _last_line(sitting: Sitting, suite: Suite) -> str:
    """How many items have a label, what to do with them, and what nobody knows of them."""
    counts = sitting.counts()
    shown = [f"{counts['labelled']} labelled"]
    if counts["skipped"]:
        again = "" if counts["left"] else " (the same command shows them once more)"
        shown.append(f"{counts['skipped']} skipped{again}")
    if counts["left"]:
        shown.append(f"{counts['left']} left (the same command goes on)")
    file, folder = suite.path, suite.path.parent
    suites = [*folder.glob("*.suite.toml"), *folder.glob("*/*.suite.toml")]
    place = folder if suites == [file] else file
    if place.is_relative_to(Path.cwd()) and place != Path.cwd():
        place = place.relative_to(Path.cwd())
    command = f"pytest {shlex.quote(str(place))}"
    unknown = ""
    if counts["labelled"] and not sitting.labelled_by_others():
        unknown = f"; {_OF_ONE}"
    return f"{', '.join(shown)}; {command} compares the judge with them{unknown}"


# --- a judge --------------------------------------------------------------------------------------


def _labelled_by_judge(options: argparse.Namespace) -> Iterator[str]:
    """Have a judge label the items that have no label, and write the lines of all items.

    Labelled items get ``label`` and ``gold = "judge:NAME"``. Returns how many were labelled, and
    which have no majority.
    """
    place = place_of(options)
    judge = place.judge(options.judge_name)
    suite = place.suite(options.judge_suite, labelled=False)
    target, source = options.output, stimuli_of(suite)
    if source.suffix != ".jsonl":
        raise UsageError(
            f"the items of suite {suite.name} cannot be written with labels",
            found=str(source),
            expected="JSON Lines, to which labels are added line by line",
            remedy="write the items as .jsonl, each with its id",
        )
    words = ["judgesense", "label", str(suite.path), "-o", str(target)]
    asking = {
        "items": _unlabelled(suite),
        "templates": (_template(suite),),
        "orders": "both",
        "temperatures": suite.temperatures[:1],
    }
    votes_by_item: dict[str, Counter[str]] = defaultdict(Counter)
    measurement = measured_aside(options, judge, aside(suite, LABELS, **asking), words)
    if measurement is None:
        return
    for judgment in measurement.judgments:
        votes = votes_by_item[judgment.trial.item]
        if judgment.chosen is not None and not isinstance(judgment.outcome, Failed):
            votes[judgment.chosen] += 1
    labels = {
        item: label
        for item, votes in votes_by_item.items()
        for label, count in votes.items()
        if 2 * count > votes.total()
    }
    lines = []
    for text in read_text(source).split("\n"):
        if not text.strip():
            continue
        line = json.loads(text)
        if label := labels.get(line["id"]):
            line |= {"label": label, "gold": f"judge:{judge.name}"}
        lines.append(json.dumps(line, ensure_ascii=False) if label else text)
    write_text(target, "".join(f"{line}\n" for line in lines))
    shown = Counter(labels.values())
    counts = ", ".join(f"{label}: {shown[label]}" for label in sorted(shown))
    of_items = f"{len(labels)} of {len(votes_by_item)} items"
    yield f"judge {judge.name} labelled {of_items} ({counts}): {target}"
    for item, votes in votes_by_item.items():
        if item not in labels:
            summary = ", ".join(f"{votes[vote]} {vote}" for vote in sorted(votes)) or "no verdict"
            yield f"  {item}: no majority ({summary}); write its label by hand, or leave it out"


def _unlabelled(suite: Suite) -> tuple[Item, ...]:
    unlabelled = tuple(item for item in suite.items if item.label is None)
    if suite.form.labelled is None or not unlabelled:
        every = f"{len(suite.items)} items, each with its label"
        raise UsageError(
            f"suite {suite.name} has no label to be given",
            found=f"kind {suite.kind!r}" if suite.form.labelled is None else every,
            expected="a temperature suite with items that have no label",
        )
    return unlabelled


def _template(suite: Suite) -> Template:
    """The one that shows most: a reference before none, a reason before a verdict alone."""
    showing = [template for template in suite.templates if not template.single]
    if not showing:
        raise UsageError(
            f"suite {suite.name} has no template that asks for a label",
            found="single-answer grading alone",
            expected='a template with judge_type = "reference" or "pairwise"',
        )
    return min(
        showing,
        key=lambda t: (
            t.condition.get("judge_type") != "reference",
            t.condition.get("prompt_style") != "reasoned",
            t.id,
        ),
    )
