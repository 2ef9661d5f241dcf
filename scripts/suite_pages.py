"""The parts of ``docs/suites/*.md`` that the site's build makes: readers, lint, items, scores.

A part stands where a page has ``<!-- made: PART -->``; the text around it is written by hand.
``python scripts/suite_pages.py vacuum`` prints the page of a suite as the site has it.
"""

from __future__ import annotations

import html
import json
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from pytest_judgesense.estimate import find_estimate
from pytest_judgesense.instruments.paraphrase.estimators import paraphrase_pairs
from pytest_judgesense.judges.resolving import judge_from_name
from pytest_judgesense.measurement import Measurement
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.questions.lint_report import lint_report
from pytest_judgesense.suites.item import Item
from pytest_judgesense.suites.planning import plan_trials
from pytest_judgesense.suites.shortcuts import MOST_SOLVED, SCORERS, solved
from pytest_judgesense.suites.space import DecisionSpace
from pytest_judgesense.suites.suite import Suite
from pytest_judgesense.trial import Judgment, Verdict
from tests.report.replaying import SHIPPED, measured, recordings, replayed, suite_named
from tests.shipped import CASSETTES
from tests.suites.known import builtin_suites, load_suite, presets_of

CHECKOUT = Path(__file__).resolve().parent.parent
PAGES = CHECKOUT / "docs" / "suites"
# Suites that ask only some of their items without a preset: all items are shown and scored. Of long
# records the short ones are enough.
WHOLE = {"temperature": "temperature@full", "depth": "depth@quick"}
# Three items a page: the first with each of these, no two of one cluster.
SHOWN: Mapping[str, list[dict[str, Any]]] = {
    "vacuum": [{"category": name} for name in ("empty", "whitespace", "identical")],
    "ladder": [
        {"distance": 1, "subset": "same"},
        {"distance": 0, "subset": "same"},
        {"subset": "filler"},
    ],
    "ladder-fine": [{"distance": distance} for distance in (0.25, 0.5, 0.75)],
    "criterion": [{"distance": distance} for distance in (0, 1, 5)],
    "debate": [{"pro_model": f"debater-{number}"} for number in (1, 3, 5)],
    "rubric": [{"system": name} for name in ("alder", "cedar", "dogwood")],
    "depth": [{"genre": name} for name in ("support", "contract", "agent")],
}
BY_DIFFICULTY: list[dict[str, Any]] = [{"difficulty": how} for how in ("easy", "medium", "hard")]
# Measures of the simulated judge, with their conditions.
MEASURES: Mapping[str, list[tuple[str, dict[str, Any]]]] = {
    "vacuum": [("dark_current", {})],
    "ladder": [
        ("target_sensitivity", {}),
        ("raw_false_preference", {}),
        ("filler_preference", {}),
    ],
    "ladder-fine": [
        ("target_sensitivity", {"distance": distance}) for distance in (0.25, 0.5, 0.75)
    ],
    "criterion": [
        (measure, {"arm": arm})
        for measure in ("raw_false_preference", "target_sensitivity")
        for arm in ("baseline", "strict")
    ],
    "temperature": [("agreement", {"temperature": degree}) for degree in (0.01, 1.0, 2.0)],
    "debate": [],
    "rubric": [(name, {}) for name in ("agreement", "ceiling_share", "separability")],
    "probe": [("probe_effect", {"probe": name}) for name in ("injection", "verbosity")],
    "depth": [
        ("depth_recall", {"place": place, "length": 2000}) for place in ("start", "middle", "end")
    ],
}
# What is to be said of the simulated judge's figures, before them.
DOES_NOT_READ = (
    "The simulated judge does not read either. It looks up a planted quality for each text, made",
    "from the labels, and makes errors as its profile says",
    "([embedded-judge.md](../embedded-judge.md)). Its figures show how the measures respond to",
    "known faults. They do not show how hard the suite is.",
)
SIMULATED: Mapping[str, tuple[str, ...]] = {
    "rubric": (),
    "vacuum": (),
    **dict.fromkeys(
        ("coherence", "factuality", "preference", "relevance"),
        (*DOES_NOT_READ, "Some hard items are planted wrong, so that every profile makes errors."),
    ),
    "ladder-fine": (
        *DOES_NOT_READ,
        "The profile `positional` always chooses one slot at these distances, so it is right in",
        "one of the two orders.",
    ),
}
# The real models and the suites recorded with them; see docs/local-models.md.
_BOTH = [
    *("coherence@quick", "factuality@quick", "preference@quick", "relevance@quick"),
    *("ladder-fine", "ladder@quick", "criterion@quick", "probe@quick"),
]
MODELS: Mapping[str, list[str]] = {
    "qwen2.5-coder-0.5b": ["vacuum", *_BOTH, "rubric@quick"],
    "smollm2-135m": ["vacuum@quick", *_BOTH, "rubric"],
}
AGREEMENT: list[tuple[str, dict[str, Any]]] = [("agreement", {})]


def table(head: str, rows: Iterable[Iterable[str]]) -> Iterator[str]:
    """A Markdown table; columns whose name ends in a colon hold numbers."""
    names = head.split("|")
    yield "| " + " | ".join(name.removesuffix(":") for name in names) + " |"
    yield "|" + "|".join("---:" if name.endswith(":") else "---" for name in names) + "|"
    for row in rows:
        yield "| " + " | ".join(row) + " |"


def lines_of(suite: Suite) -> dict[str, dict[str, Any]]:
    """The lines of the file with the suite's items, by their ids."""
    lines = suite.files[0].read_text(encoding="utf-8").splitlines()
    return {line["id"]: line for line in map(json.loads, lines)}


# -- readers ---------------------------------------------------------------------------------------


def readers(name: str) -> Iterator[str]:
    """The readers that the suite file names."""
    form = tomllib.loads(builtin_suites()[name].read_text(encoding="utf-8"))
    review, pairs = form["label_review"], form.get("equivalence", [])
    labels = {
        reader: Counter(entry["reviews"].get(reader) for entry in pairs)
        for reader in review["agreed"]
    }
    yield from table(
        "reader|what it is|items read:|same label:"
        + ("|pairs of wordings read:|found to ask the same:" if pairs else ""),
        (
            [
                f"`{reader}`",
                f"a {form['reviewers'][reader]}",
                str(review["items"]),
                str(agreed),
                *([str(len(pairs)), str(labels[reader]["YES"])] if pairs else []),
            ]
            for reader, agreed in review["agreed"].items()
        ),
    )


# -- lint ------------------------------------------------------------------------------------------


def lint(name: str) -> Iterator[str]:
    """The lint command and its output."""
    lines = lint_report([builtin_suites()[name]], verbose=True).lines()
    yield from ["```console", f"$ judgesense plan --lint -v {name}", *lines, "```"]


# -- three items -----------------------------------------------------------------------------------


def items(name: str) -> Iterator[str]:
    """Three items in full."""
    suite = suite_named(WHOLE.get(name, name))
    lines = lines_of(suite)
    clusters_shown: set[str] = set()
    for wanted in SHOWN.get(name, BY_DIFFICULTY):
        item = next(
            item
            for item in suite.items
            if item.cluster not in clusters_shown
            and wanted.items() <= {**line_of(item, lines), **item.condition}.items()
        )
        clusters_shown.add(item.cluster)
        yield from one_item(suite, item, line_of(item, lines), wanted)


def line_of(item: Item, lines: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
    """The line that an item is made of: the one of its id, or of the part of it before a dot."""
    return lines.get(item.id) or lines.get(item.id.partition(".")[0], {})


def one_item(
    suite: Suite, item: Item, line: Mapping[str, Any], wanted: Mapping[str, Any]
) -> Iterator[str]:
    condition_shown = ", ".join(
        str(value) if isinstance(value, str) else f"{key} {value}" for key, value in wanted.items()
    )
    yield from [f"### `{item.id}`: {condition_shown}", ""]
    visible = blanks_shown if suite.name == "vacuum" else str
    for field, text in item.fields.items():
        # Speeches are shown one by one, of records the passage, and names of slots are no text.
        if field not in ("transcript", "record", "name_a", "name_b"):
            yield from titled(field.capitalize(), text)
    if "passage" in line:
        yield from titled("Passage", line["passage"])
    for speech in line.get("speeches", ()):
        side, _, kind = speech["speech_type"].partition("_")
        yield from titled(f"{side.upper()}, {kind}", speech["content"])
    for title, text in zip(("First", "Second"), item.contents, strict=False):
        yield from titled(title, visible(text))
    if "human" in line:
        graded = ", ".join(f"{name} {grade}" for name, grade in line["human"].items())
        yield f"Grades by construction: {graded}."
    elif "author_winner" in line:
        yield f"Winner as the author meant it: {line['author_winner']}, {line['author_margin']}."
    else:
        better = {"1": "the first is better", "2": "the second is better"}
        label = item.label or "tie"
        yield "Label: " + (better.get(label, "neither is better") if item.contents else label) + "."
    yield ""


def titled(title: str, text: str) -> Iterator[str]:
    """A text as a quotation below its title."""
    yield from [f"**{title}**", ""]
    lines = text.split("\n")
    for line, after in zip(lines, [*lines[1:], ""], strict=True):
        shown = literal(line)
        yield f"> {shown}{'<br>' if shown and after else ''}".rstrip()
    yield ""


def literal(line: str) -> str:
    """A line with the characters of Markdown escaped; its indent is kept."""
    text = line.lstrip(" ")
    shown = re.sub(r"([\\`*_\[\]#])", r"\\\1", html.escape(text, quote=False))
    # A hyphen, or the full stop of a number, would begin a list.
    shown = re.sub(r"^(\d*)([-+.)])", r"\1\\\2", shown)
    return "&nbsp;" * (len(line) - len(text)) + shown


def blanks_shown(text: str) -> str:
    """White space made visible: dots for spaces at an end or in a row, arrows for line breaks."""
    marks = {" ": "·", "\t": "⇥", "\n": "↵\n", "\xa0": "⍽"}
    hidden = r"^\s+|\s+$|[^\S ]|\s{2,}"
    shown = re.sub(hidden, lambda run: "".join(marks[mark] for mark in run[0]), text)
    return shown.rstrip("\n") or "(empty)"


# -- scorers that do not read, and the simulated judge ---------------------------------------------


def scores(name: str) -> Iterator[str]:
    """The scores of a stem counter, a length rule and the recorded judges."""
    yield from [*SIMULATED.get(name, DOES_NOT_READ), ""]
    suite = scored(name)
    if shares := solved(suite):
        named = counters(suite, shares)
        split = difficulties(suite) if suite.space.pairwise else {}
        yield from [f"Share decided correctly without reading, of {decided(suite)}:", ""]
        yield from table(
            "scorer|share:" + "".join(f"|{how}:" for how in split),
            (
                [
                    called,
                    f"{shares[key]:.2f}",
                    *(f"{more_is_better(suite, key, ids):.2f}" for ids in split.values()),
                ]
                for key, called in named.items()
            ),
        )
        yield from ["", f"0.50 is chance; lint warns above {MOST_SOLVED}."]
        if split:
            yield "The rule is that more is better, or that less is, whichever is right more often."
            yield "The last columns show how often the better text has more, by difficulty."
        yield ""
    yield from ["The judges with shipped recordings:", ""]
    measures = MEASURES.get(name, AGREEMENT)
    heads = [
        f"[`{measure}`](../measures/{measure}.md)"
        + "".join(f", {key.replace('_', ' ')} {value}" for key, value in condition.items())
        for measure, condition in measures
    ] or ["names the winner that the author meant"]
    yield from table(
        "|".join(["judge", "suite", *(f"{head}:" for head in heads)]),
        (
            [f"`{judge}`", f"`{measurement.suite.name}`", *of_judge(measurement, measures)]
            for judge, measurement in recorded(name)
        ),
    )


def scored(name: str) -> Suite:
    """The suite with all its items; each side of a debate is a candidate."""
    suite = suite_named(WHOLE.get(name, name))
    lines = lines_of(suite)
    if not all("speeches" in line for line in lines.values()):
        return suite

    def as_pair(item: Item) -> Item:
        spoken = {"PRO": "", "CON": ""}
        for speech in lines[item.id]["speeches"]:
            spoken[speech["side"]] += speech["content"] + "\n"
        label = {"PRO": "1", "CON": "2"}[lines[item.id]["author_winner"]]
        beside = {"resolution": item.fields["resolution"]}
        return replace(item, fields=beside, contents=tuple(spoken.values()), label=label)

    pairs = tuple(map(as_pair, suite.items))
    return replace(suite, space=DecisionSpace(("A", "B"), pairwise=True), items=pairs)


def decided(suite: Suite) -> str:
    labels = Counter(item.label for item in suite.items)
    if suite.space.pairwise:
        return f"{labels['1'] + labels['2']} decided pairs"
    differ = (len(suite.items) ** 2 - sum(n * n for n in labels.values())) // 2
    return f"{differ} pairs of items with different labels"


def difficulties(suite: Suite) -> dict[str, set[str]]:
    """Ids of the items by difficulty, if the file states it."""
    lines = lines_of(suite)
    ids: dict[str, set[str]] = {"easy": set(), "medium": set(), "hard": set()}
    for item in suite.items:
        if (how := lines.get(item.id, {}).get("difficulty")) is None:
            return {}
        ids[how].add(item.id)
    return ids


def more_is_better(suite: Suite, key: str, ids: set[str]) -> float:
    """The share of pairs whose better candidate scores higher; ties count half."""
    scorer, _, field = key.partition(": ")
    right = []
    for item in suite.items:
        if item.id in ids and item.label in ("1", "2"):
            beside = item.fields[field or min(item.fields)]
            first, second = (SCORERS[scorer](text, beside) for text in item.contents)
            ahead = first - second if item.label == "1" else second - first
            right.append((ahead > 0) + (ahead == 0) / 2)
    return sum(right) / len(right)


def counters(suite: Suite, shares: Mapping[str, float]) -> dict[str, str]:
    """The stem counters and the length rule among the scorers, with a description of each."""
    overlap = "overlap with the request"
    named = {key: key.partition(": ")[2] for key in shares if key.startswith(overlap)}
    # If there are several context texts, the scorer without a name uses the first.
    beside = sorted({*suite.items[0].fields} - {"answer", *named.values()})
    stems = {
        key: f"stem counter: stems shared with the {f or beside[0]}" for key, f in named.items()
    }
    alone = {"shared stems": "stem counter: neighbouring sentences that share a stem"}
    return {**(stems or alone), "length": "length rule: number of words"}


def recorded(name: str) -> Iterator[tuple[str, Measurement]]:
    """Each judge with the largest recorded preset of the suite."""
    for profile, suites in SHIPPED.items():
        for suite_name in (name, f"{name}@published", f"{name}@quick"):
            if suite_name in suites:
                yield f"embedded:{profile}", replayed(profile, suite_name)
                break
    for model, suites in MODELS.items():
        for suite_name in (name, f"{name}@quick"):
            if suite_name in suites:
                suite = suite_named(suite_name)
                tapes = recordings(suite, CASSETTES / model)
                yield model, measured(judge_from_name(model), suite, tapes)
                break


def of_judge(measured: Measurement, measures: list[tuple[str, dict[str, Any]]]) -> Iterator[str]:
    for measure, condition in measures:
        estimate = find_estimate(measured.estimates, measure, condition)
        if estimate is None:
            raise ValueError(f"{measured.suite.name} has no {measure} at {condition}")
        if estimate.value is None:
            yield "N/A"  # too few items in the preset
        else:
            counted = "" if estimate.count is None else f"{estimate.count:g}/"
            yield f"{estimate.value:.3f} ({counted or 'n '}{estimate.n})"
    if not measures:
        lines = lines_of(measured.suite)
        right = sum(
            judgment.outcome == Verdict(lines[judgment.trial.item]["author_winner"])
            for judgment in measured.judgments
        )
        yield f"{right / len(measured.judgments):.3f} ({right}/{len(measured.judgments)})"


# -- how many --------------------------------------------------------------------------------------


def counts() -> Iterator[str]:
    """The counts of every suite and preset; a presentation order is a trial of its own."""
    rows = []
    for name, path in builtin_suites().items():
        for preset in (None, *presets_of(path)):
            suite = load_suite(path, preset)
            trials = plan_trials(suite)
            judgments = tuple(Judgment(trial, "any", Verdict("A")) for trial in trials)
            cell = Cell("any", suite.name, suite.design, judgments)
            numbers = (
                len(suite.items),
                len({item.cluster for item in suite.items}),
                len(suite.templates),
                len(trials),
                len(paraphrase_pairs(cell)) if suite.form.wordings else 0,
            )
            rows.append([f"`{suite.name if preset else name}`", *map(str, numbers)])
    yield from table("suite|items:|clusters:|templates:|trials:|template pairs:", rows)


# -- pages -----------------------------------------------------------------------------------------

PARTS: Mapping[str, Callable[[str], Iterator[str]]] = {
    "readers": readers,
    "lint": lint,
    "items": items,
    "scores": scores,
}
_PART = re.compile(r"<!-- made: (\w+) -->\n")


def filled(page: str, part: Callable[[str], Iterable[str]]) -> str:
    """A page with its made parts; ``part`` gives the lines of one by its name."""

    def fill(mark: re.Match[str]) -> str:
        return "\n".join(part(mark[1])).strip() + "\n"

    return _PART.sub(fill, page)


def suite_page(name: str, page: str) -> str:
    """The page of a suite, with its made parts."""
    return filled(page, lambda part: PARTS[part](name))


if __name__ == "__main__":
    for suite_name in sys.argv[1:]:
        print(suite_page(suite_name, (PAGES / f"{suite_name}.md").read_text(encoding="utf-8")))
