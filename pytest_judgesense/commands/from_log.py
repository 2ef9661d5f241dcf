"""A suite of frozen outputs from a judgment log, for ``judgesense init --from-log``.

The graded outputs are the items, the judge's own prompt is the first wording, and grades by people
are the labels. Each prompt is split into a template, equal for all items, and the texts that
differ; a template is used only if it reproduces every prompt of the log exactly. If there is none,
the whole prompts are the items' field. No judge is called.
"""

from __future__ import annotations

import json
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from pytest_judgesense.commands.from_function import scale_of, showing, suite_table, written_suite
from pytest_judgesense.errors import LogError, SuiteError, UsageError
from pytest_judgesense.importers import messages_of, slug
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.measures.shared import (
    AGREEMENT,
    ORDER_POSITIONAL,
    REPEAT_FLIP_RATE,
    UNPARSED_RATE,
)
from pytest_judgesense.replies import parse_reply
from pytest_judgesense.report.log import read_log
from pytest_judgesense.suites.item import item_id
from pytest_judgesense.suites.loading import form_of
from pytest_judgesense.suites.prompt_template import fill, placeholders
from pytest_judgesense.suites.rules import same_words
from pytest_judgesense.suites.schema import ContentItem
from pytest_judgesense.suites.space import DecisionSpace
from pytest_judgesense.suites.stimuli import Stimuli
from pytest_judgesense.trial import ABSTAIN, TIE, Design, Judgment, Verdict

_PROMPT: Final = "prompt"
_FIELD: Final = re.compile(r"[a-z][a-z0-9_]*")
# Prompts from which a template is tried to be read: some have texts that occur in them twice.
_TRIED: Final = 20
_MOST_FIELDS: Final = 50
_MOST_LABELS: Final = 101
# Wordings with the same question, for any prompt of the judge.
_WORDINGS: Final = (
    ("t2", "Read everything below before you decide.\n\n{}"),
    ("t3", "{}\n\nDecide with care, and reply in exactly the form that is asked for above."),
)
# Model names with a known provider, as other tools write them.
_MODELS: Final = (
    ("openai", re.compile(r"openai(?:/|:(?:chat:|responses:)?)([\w.:-]+)")),
    ("anthropic", re.compile(r"anthropic(?:/|:(?:messages:)?)([\w.:-]+)")),
)


@dataclass(frozen=True)
class Shown:
    """A graded output: the texts shown to the judge, and its verdict.

    Attributes:
        fields: the texts, those of two candidates by the names ``a`` and ``b``.
        prompt: the prompt that was sent; ``None`` if the log does not hold it.
    """

    item: str
    cluster: str
    verdict: str | None
    label: str | None
    fields: Mapping[str, str]
    prompt: Sequence[Mapping[str, str]] | None


@dataclass(frozen=True)
class Frozen:
    """A suite that was made of a log, whose ``judges`` it names.

    Attributes:
        template: the first wording; ``source`` says where it is from.
        notes: further findings, one sentence each.
    """

    name: str
    space: DecisionSpace
    shown: Sequence[Shown]
    judges: Sequence[str]
    notes: Sequence[str]
    template: str = ""
    source: str = ""
    system: str = ""

    @property
    def clusters(self) -> int:
        return len({one.cluster for one in self.shown})

    @property
    def labelled(self) -> bool:
        return all(one.label is not None for one in self.shown)


def frozen_suites(
    log: Path,
    *,
    sample: int | None = None,
    seed: int = 0,
    labels: Sequence[str] = (),
    template: str | None = None,
) -> list[Frozen]:
    """The suites of a log, one for each that it holds.

    Args:
        log: a judgment log.
        sample: number of outputs to draw, in proportion to the verdicts.
        seed: of that draw.
        labels: the permitted answers, if there are more than those in the log.
        template: the first wording, in place of the judge's own.

    Raises:
        LogError: the log cannot be read, or does not hold the judged texts.
        UsageError: an argument does not fit the log.
    """
    by_suite: dict[str, list[Judgment]] = defaultdict(list)
    designs: dict[str, Design | None] = {}
    for judgment, design in read_log(log):
        by_suite[judgment.trial.suite].append(judgment)
        designs[judgment.trial.suite] = design
    if not by_suite:
        raise LogError(f"{log} holds no judgments", expected="at least one line")
    made = []
    for name, judgments in by_suite.items():
        pairwise = any(one.chosen is not None for one in judgments)
        assumed = Design("", ("A", "B") if pairwise else (), pairwise=pairwise)
        design = designs[name] or assumed
        shown, notes = _outputs(log, name, judgments, design)
        drawn = _drawn(shown, sample, seed)
        if len(drawn) < len(shown):
            notes.append(f"{len(drawn)} of {len(shown)} outputs drawn by seed {seed}")
        space = DecisionSpace(
            _labels(log, name, design, drawn, labels),
            ordinal=design.ordinal,
            pairwise=design.pairwise,
            tie=any(TIE in (one.verdict, one.label) for one in shown),
            abstain=any(one.verdict == ABSTAIN for one in shown),
        )
        judges = tuple(dict.fromkeys(one.judge for one in judgments))
        found = _worded(Frozen(slug(name), space, drawn, judges, notes), template)
        made.append(replace(found, notes=(*found.notes, *_unread(space, judgments))))
    return made


def _outputs(
    log: Path, name: str, judgments: Sequence[Judgment], design: Design
) -> tuple[list[Shown], list[str]]:
    """The outputs judged on a suite, each once, and notes about those left out."""
    if design.criteria:
        raise LogError(
            f"the replies on suite {name} in {log} give several grades each",
            found=", ".join(one.name for one in design.criteria),
            expected="replies of one verdict or one grade",
            remedy="begin with the suite that was asked: its file has the criteria",
        )
    items: dict[str, Shown] = {}
    silent = 0
    for one in judgments:
        shown = _shown(one, f"{log}, {one.trial.id}", design)
        if shown is None:
            silent += 1
        elif (known := items.setdefault(one.trial.item, shown)).label is None and shown.label:
            items[one.trial.item] = replace(known, label=shown.label)
    if not items:
        raise LogError(
            f"{log} does not hold what was judged on suite {name}",
            found=f"{len(judgments)} judgments without a prompt and without texts",
            expected="lines with source.prompt or source.fields",
            remedy="import it again: judgesense import inspect, promptfoo or deepeval; of a table "
            "with --map prompt=COLUMN, or --map field.NAME=COLUMN for each text; where a suite was "
            "asked, its file has the texts, and a preset with items = N takes some of them",
        )
    notes = [f"{silent} judgments do not say what was judged: left out"] if silent else []
    sides = {
        item: (one.fields["a"], one.fields["b"])
        for item, one in items.items()
        if design.pairwise and {"a", "b"} <= one.fields.keys()
    }
    if equal := {item: texts for item, texts in sides.items() if same_words(*texts)}:
        notes.append(
            f"{len(equal)} pairs of two equal texts, such as {next(iter(equal))}: left out"
        )
    usable = [one for item, one in items.items() if item not in equal]
    if not usable:
        raise LogError(
            f"{log} holds only pairs of equal texts on suite {name}",
            expected="pairs of two texts that differ",
        )
    return usable, notes


def _unread(space: DecisionSpace, judgments: Sequence[Judgment]) -> Iterator[str]:
    """Objects among the judge's replies in which no verdict will be found, if they are many.

    Of other replies a log may hold the reasons alone.
    """
    objects = [one for one in judgments if one.verdict is not None and "{" in (one.reply or "")]
    unread = [one for one in objects if not isinstance(parse_reply(one.reply, space), Verdict)]
    if len(unread) * 2 > len(objects):
        yield (
            f"{len(unread)} replies of the log state no verdict that can be read, such as "
            f"{str(unread[0].reply)[:80]}: name another form in the template; if they hold several "
            "grades, judgesense explain rubric-suites says which suite reads them"
        )


def _shown(one: Judgment, where: str, design: Design) -> Shown | None:
    """The details of the judged output in a judgment; ``None`` if there are none."""
    source = (one.detail or {}).get("source") or {}
    given = source.get("fields") or {}
    prompt = messages_of(source.get("prompt") or [])
    if not isinstance(given, dict) or not all(isinstance(text, str) for text in given.values()):
        raise LogError(
            f"{where}: source.fields is malformed",
            found=json.dumps(given)[:80],
            expected="texts by name",
        )
    if not given and prompt is None:
        return None
    taken = {*ContentItem.model_fields, _PROMPT}
    fields = {}
    for name, text in given.items():
        plain = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")
        good = _FIELD.fullmatch(plain) and plain not in taken
        fields[plain if good else f"field_{plain}"] = text
    if design.pairwise and one.trial.order == "ba" and {"a", "b"} <= set(fields):
        prompt = None  # it shows them in their other order
    trial = one.trial
    return Shown(item_id(trial.item), trial.cluster, one.verdict, trial.label, fields, prompt)


def _drawn(shown: Sequence[Shown], sample: int | None, seed: int) -> list[Shown]:
    """``sample`` of them, of each verdict as large a share as it has among all, in their order.

    The shares are rounded so that the largest remainders get one more (Hamilton's method).
    """
    if sample is None or sample >= len(shown):
        return list(shown)
    strata: dict[str, list[int]] = defaultdict(list)
    for at, one in enumerate(shown):
        strata[one.verdict or ""].append(at)
    exact = {verdict: sample * len(part) / len(shown) for verdict, part in strata.items()}
    taken = {verdict: int(share) for verdict, share in exact.items()}
    rest = sorted(exact, key=lambda verdict: (taken[verdict] - exact[verdict], verdict))
    for verdict in rest[: sample - sum(taken.values())]:
        taken[verdict] += 1
    chance = random.Random(seed)
    chosen = [
        at for verdict in sorted(strata) for at in chance.sample(strata[verdict], taken[verdict])
    ]
    return [shown[at] for at in sorted(chosen)]


def _labels(
    log: Path, name: str, design: Design, shown: Sequence[Shown], given: Sequence[str]
) -> tuple[str, ...]:
    if design.pairwise:
        return ("A", "B")
    said = {text for one in shown for text in (one.verdict, one.label) if text} - {TIE, ABSTAIN}
    labels = list(given or design.labels or sorted(said))
    labels += [one for one in sorted(said) if one not in labels]
    if design.ordinal and not given:
        labels = scale_of(labels) or labels
    if not 2 <= len(labels) <= _MOST_LABELS:
        raise UsageError(
            f"the possible answers of the judge of suite {name} are not known",
            found=f"{', '.join(labels[:9]) or 'no verdict'} in {log}",
            expected=f"2 to {_MOST_LABELS} labels",
            remedy="name them: --labels YES,NO",
        )
    return tuple(labels)


# --- wordings -------------------------------------------------------------------------------------


def _worded(found: Frozen, template: str | None) -> Frozen:
    """``found`` with its first wording, and with the fields that it shows."""
    pairwise = found.space.pairwise
    if pairwise and not all({"a", "b"} <= set(one.fields) for one in found.shown):
        raise UsageError(
            f"the two candidates of suite {found.name} are not told apart",
            found=", ".join(found.shown[0].fields) or "whole prompts",
            expected="fields a and b, to be shown in both orders",
            remedy="import the log again with --map field.a=COLUMN --map field.b=COLUMN",
        )
    if pairwise and "question" in found.shown[0].fields:
        # For pairs, the text that both answers respond to is the task.
        called = {"question": "task"}
        fields = [{called.get(k, k): v for k, v in one.fields.items()} for one in found.shown]
        shown = [replace(one, fields=f) for one, f in zip(found.shown, fields, strict=True)]
        found = replace(found, shown=shown)
    if template is not None:
        known = frozenset.intersection(*(frozenset(one.fields) for one in found.shown))
        if unknown := sorted(placeholders(template) - known):
            raise UsageError(
                f"the template shows what the outputs of suite {found.name} do not have",
                found=", ".join(unknown),
                expected=", ".join(sorted(known)),
                remedy="rename the placeholders, or import the log with --map field.NAME=COLUMN",
            )
        return replace(found, template=template, source="the template that was given")
    said = "a generic one: the log does not hold the judge's own; --template FILE gives it"
    sent = [one for one in found.shown if one.prompt]
    if sent:
        system, users = _split([one.prompt or () for one in sent])
        common = recovered([(user, one.fields) for user, one in zip(users, sent, strict=True)])
        if common is not None:
            said = f"the judge's own, as in {len(sent)} prompts of the log"
            return replace(found, template=common, source=said, system=system)
        if not pairwise and 2 * len(sent) >= len(found.shown):
            notes = [*found.notes]
            if left := len(found.shown) - len(sent):
                notes.append(
                    f"{left} output{'s' * (left > 1)} whose prompt the log does not hold: left out"
                )
            return replace(
                found,
                shown=[replace(o, fields={_PROMPT: u}) for o, u in zip(sent, users, strict=True)],
                template=f"{{{{{_PROMPT}}}}}",
                source="the judge's own, whole: no single template reproduces the prompts of the "
                "log",
                system=system,
                notes=notes,
            )
        said = "a generic one: no template gives the prompts of the log; --template FILE gives one"
    return replace(found, template=_default(found), source=said)


def _split(prompts: Sequence[Sequence[Mapping[str, str]]]) -> tuple[str, list[str]]:
    """The system message that all share, and of each the rest as one text."""
    first = [prompt[0]["content"] for prompt in prompts if prompt[0]["role"] == "system"]
    shared = len(first) == len(prompts) and len(set(first)) == 1
    rest = [prompt[shared:] for prompt in prompts]
    if shared and not all(rest):
        shared, rest = False, [*prompts]
    return (
        first[0] if shared else "",
        ["\n\n".join(one["content"] for one in prompt) for prompt in rest],
    )


def recovered(prompts: Sequence[tuple[str, Mapping[str, str]]]) -> str | None:
    """The template that gives back every prompt to the letter, filled with its fields.

    ``None`` where no candidate does: one is cut from each of the first prompts, its texts replaced
    by their names, the longest first.
    """
    if max(len(fields) for _, fields in prompts) > _MOST_FIELDS:
        return None
    for text, fields in prompts[:_TRIED]:
        candidate = _cut(text, fields)
        if placeholders(candidate) <= set(fields) and all(
            placeholders(candidate) <= set(others) and fill(candidate, others) == prompt
            for prompt, others in prompts
        ):
            return candidate if placeholders(candidate) else None
    return None


def _cut(text: str, fields: Mapping[str, str]) -> str:
    parts = [text]  # at odd places: names in braces
    for name in sorted(fields, key=lambda name: (-len(fields[name]), name)):
        if not fields[name].strip():
            continue
        cut: list[str] = []
        for at, part in enumerate(parts):
            pieces = [part] if at % 2 else part.split(fields[name])
            for piece in pieces[:-1]:
                cut += [piece, f"{{{{{name}}}}}"]
            cut.append(pieces[-1])
        parts = cut
    return "".join(parts)


def _default(found: Frozen) -> str:
    """A wording that shows all that the outputs have, and asks for the labels."""
    space, names = found.space, set.intersection(*({*one.fields} for one in found.shown))
    if space.pairwise:
        tie = " or tie" if space.tie else ""
        asked = f"Which of the two is better? Answer with one of: A, B{tie}."
    elif space.ordinal:
        scale = f"a whole number from {space.labels[0]} to {space.labels[-1]}"
        asked = f"Grade the answer by the criterion. Answer with {scale}."
    else:
        asked = f"Judge the answer by the criterion. Answer with one of: {', '.join(space.labels)}."
    if "criterion" not in names:
        asked = asked.replace(" by the criterion", "")
    # The request first, the judged text last.
    usual = ("question", "task", "context", "reference", "criterion")
    positions = {name: at for at, name in enumerate(usual)} | dict.fromkeys(("answer", "a", "b"), 9)
    return showing(sorted(names, key=lambda name: (positions.get(name, 8), name)), asked)


# --- files ----------------------------------------------------------------------------------------


def suite_files(found: Frozen) -> dict[str, str]:
    """The texts of the suite's files by name, the suite file last.

    Raises:
        LogError, SuiteError: no suite can be made of the log.
    """
    space, flags = found.space, ("ordinal", "pairwise", "tie", "abstain")
    answers = {"labels": list(space.labels)} | {k: True for k in flags if getattr(space, k)}
    wordings = {"t1": found.template}
    for name, more in _WORDINGS:
        wordings[name] = more.format("\0").replace("\0", found.template.strip("\n"))
    wording = BUILT_IN.measures["within_one_agreement" if space.ordinal else "jss"]
    second = ORDER_POSITIONAL if space.pairwise else REPEAT_FLIP_RATE
    gated = [wording, second, UNPARSED_RATE, *([AGREEMENT] if found.labelled else [])]
    stimuli = {"file": "items.jsonl"}
    sizes = tuple(Counter(one.cluster for one in found.shown).values())
    table = suite_table(found.name, answers, stimuli, wordings, gated, sizes)
    table["description"] = f"Frozen outputs of a log of {', '.join(found.judges)}"[:300]
    if found.system:
        table["system"] = found.system
    rows = [_row(one, pairwise=space.pairwise) for one in found.shown]
    try:
        form = form_of(table, BUILT_IN.forms, f"suite {found.name}")
    except SuiteError as error:
        raise LogError(
            f"the judgments on suite {found.name} make no suite",
            found=error.found,
            expected="a design that a suite can have",
        ) from error
    numbered = list(enumerate(rows, 1))
    list(BUILT_IN.forms[form.kind].items(Stimuli(form, Path("items.jsonl"), numbered)))
    asked = "each pair in both orders" if space.pairwise else "each output twice"
    text = written_suite(
        table,
        {
            "head": "Outputs that were judged before, frozen: what changes from here on is the "
            "judge.",
            "space": "What the judge may answer.",
            "design": f"Asked: {asked}, under every wording.",
            "templates": f"The first wording is {found.source}.\n"
            "# The others ask for the same in a few words more: wordings of your own are better.",
        },
        {
            "within_one_agreement_floor": "at most one step apart under two wordings",
            "jss_floor": "the same verdict under two wordings",
            ORDER_POSITIONAL.check: "pairs in which the same slot wins in both orders",
            REPEAT_FLIP_RATE.check: "outputs on which the two replicates disagree",
            AGREEMENT.check: "the verdict is the grade of the person",
            UNPARSED_RATE.check: "replies in which no verdict is found",
        },
    )
    items = "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)
    return {"items.jsonl": items, f"{found.name}.suite.toml": text}


def _row(one: Shown, *, pairwise: bool) -> dict[str, Any]:
    row: dict[str, Any] = {"id": one.item, "cluster": one.cluster}
    if one.label is not None:
        row["label"] = one.label
    if not pairwise:
        return row | dict(one.fields)
    fields = dict(one.fields)
    row |= {"task": fields.pop("task", ""), "texts": [fields.pop("a"), fields.pop("b")]}
    return row | ({"fields": fields} if fields else {})


def recognised(found: Frozen) -> Iterator[str]:
    """What was recognised, in lines."""
    verdicts = Counter(one.verdict or "none" for one in found.shown)
    counts = ", ".join(f"{verdict} {count}" for verdict, count in sorted(verdicts.items()))
    outputs, clusters = len(found.shown), found.clusters
    size = f"{outputs} output{'s' * (outputs > 1)} in {clusters} cluster{'s' * (clusters > 1)}"
    yield f"{size}; verdicts of the log: {counts}"
    yield f"wording t1 is {found.source}"
    labels = sum(one.label is not None for one in found.shown)
    if not found.labelled:
        yield f"grades of people: {labels or 'none'}; agreement is gated where every output has one"
    yield from found.notes


def judge_of(name: str) -> tuple[str, str] | None:
    """Provider and model of a judge as a tool calls it, where the provider is known here."""
    found = ((provider, form.fullmatch(name)) for provider, form in _MODELS)
    return next(((provider, match[1]) for provider, match in found if match), None)
