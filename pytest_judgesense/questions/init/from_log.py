"""A suite of frozen outputs from a judgment log, for ``judgesense init --from-log``.

The graded outputs are the items, and grades by people are the labels. The first wording is a
template that the user gives, or else the judge's own prompt: the whole prompts are then the items.
No judge is called.
"""

from __future__ import annotations

import json
import math
import random
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from itertools import chain
from pathlib import Path
from typing import Any, Final, TypeAlias

from pytest_judgesense.errors import LogError, SuiteError, UsageError, listed
from pytest_judgesense.files.candidate_texts import (
    CONTENT,
    SLOT,
    TextNaming,
    TextsOfRow,
    difference,
    naming_asked_for,
    naming_of_texts,
)
from pytest_judgesense.files.conversation import is_conversation
from pytest_judgesense.files.foreign_results import Imported, messages_of, slug
from pytest_judgesense.files.import_options import ImportOptions
from pytest_judgesense.files.opening import open_bytes
from pytest_judgesense.files.row_options import RowOptions, refuse_repeats
from pytest_judgesense.files.synonyms import column_of, no_and_yes
from pytest_judgesense.files.tables import read_rows
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.measures.shared import (
    AGREEMENT,
    ORDER_POSITIONAL,
    REPEAT_FLIP_RATE,
    UNPARSED_RATE,
)
from pytest_judgesense.questions.init.by_score import first_checks, space_table
from pytest_judgesense.questions.init.suite_file import (
    asked_words,
    compared_words,
    suite_table,
    written_suite,
)
from pytest_judgesense.registry import LabelChecks, LabelledItem
from pytest_judgesense.report.log import read_placed_log
from pytest_judgesense.suites.answer_kinds import (
    SCORE,
    ContentKind,
    InferredAnswers,
    answers_of,
    inferred_answers,
    is_whole,
)
from pytest_judgesense.suites.item import item_id
from pytest_judgesense.suites.loading import form_of
from pytest_judgesense.suites.prompt_template import placeholders, with_names
from pytest_judgesense.suites.schema import ContentItem
from pytest_judgesense.suites.space import DecisionSpace
from pytest_judgesense.suites.stimuli import Stimuli
from pytest_judgesense.trial import (
    ABSTAIN,
    TIE,
    Design,
    Judgment,
    ScoreRange,
    Unparsed,
    Verdict,
    grouped,
    is_number,
    score_of_text,
)

_PROMPT: Final = "prompt"
_FIELD: Final = re.compile(r"[a-z][a-z0-9_]*")
_MOST_LABELS: Final = 101
# Wordings with the same question, for any prompt of the judge.
_WORDINGS: Final = (
    ("t2", "Read everything below before you decide.\n\n{}"),
    ("t3", "{}\n\nDecide with care, and reply in exactly the form that is asked for above."),
)
# What rows of foreign files are read by, and what tells a log from them.
_FOREIGN: Final = "table"
_TRIAL: Final = "trial"
_BEGINS_LOG: Final = re.compile(rb'\s*\{[^\n]*"trial"')
_LOOKED_AT: Final = 65_536
_AS_THEY_ARE: Final = RowOptions()
_FIFTHS: Final = 5
_ROUNDING: Final = 1e-9
# A judgment with its place in the log, and the design of its line.
_Placed: TypeAlias = tuple[str, Judgment, Design | None]
_COUNTED: Final = {
    "within_one_agreement_floor": "at most one step apart under two wordings",
    "jss_floor": "the same verdict under two wordings",
    ORDER_POSITIONAL.check: "pairs in which the same slot wins in both orders",
    REPEAT_FLIP_RATE.check: "outputs on which the replicates disagree",
    AGREEMENT.check: "the verdict is the grade of the person",
    UNPARSED_RATE.check: "replies in which no verdict is found",
}


@dataclass(frozen=True)
class JudgedOutput:
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
class _Line:
    """A line of the log that holds what was judged.

    Attributes:
        where: its place: file and line.
        names: what it says of the texts of candidates in ``output``.
        renamed: texts of the log that a suite calls otherwise.
    """

    where: str
    judgment: Judgment
    output: JudgedOutput
    names: Mapping[str, str]
    renamed: Mapping[str, str]

    def holding(self, texts: Mapping[str, str]) -> TextsOfRow:
        """Its place, item and order, with these ``texts``."""
        return TextsOfRow(
            self.where, self.output.item, self.judgment.trial.order, texts, self.names
        )


@dataclass(frozen=True)
class FrozenSuite:
    """A suite that was made of a log, whose ``judges`` it names.

    Attributes:
        template: the first wording; ``source`` says where it is from.
        notes: what was left out or drawn, one sentence each.
    """

    name: str
    space: DecisionSpace
    outputs: Sequence[JudgedOutput]
    judges: Sequence[str]
    notes: Sequence[str]
    template: str = ""
    source: str = "the template that was given"
    system: str = ""

    @property
    def labelled(self) -> bool:
        """Whether a person has graded every output."""
        return all(output.label is not None for output in self.outputs)


def frozen_suites(
    log: Path,
    *,
    sample: int | None = None,
    seed: int = 0,
    labels: Sequence[str] = (),
    template: str | None = None,
    row_options: RowOptions = _AS_THEY_ARE,
) -> list[FrozenSuite]:
    """The suites of a log, one for each that it holds.

    Args:
        log: a judgment log; or a foreign file of rows, each a judgment.
        sample: number of outputs to draw, in proportion to the verdicts.
        seed: of that draw.
        labels: the permitted answers, if there are more than those in the log.
        template: the first wording, in place of the judge's own.
        row_options: how rows of a foreign file are read; of a log ``names`` says whether texts of
            candidates (``a``) are slots or contents, where lines in order ``ba`` do not say it
            (``source.names``).

    Raises:
        LogError: the log cannot be read, does not hold the judged texts, or holds different ones
            of one item.
        UsageError: an argument does not fit the log, or it is open which text is whose.
    """
    refuse_repeats(row_options)
    placed, stated, notices = _judgments_of(log, row_options)
    of_candidates, suites = set[str](), list[FrozenSuite]()
    for name, part in grouped(placed, lambda line: line[1].trial.suite).items():
        judgments = [judgment for _, judgment, _ in part]
        designs = [design for _, _, design in part if design is not None]
        design = designs[-1] if designs else _design_of(judgments)
        plain, design = _of_one_grade(part, design)
        lines, notes = _lines(log, name, plain, design)
        notes = [*([] if suites else notices), *notes]
        if design.pairwise:
            lines, naming = _in_own_order(name, lines, stated)
            notes += naming.notices
            of_candidates |= naming.fields
        renamed = {} if template is None else _renamed(lines)
        notes += [f"text {old} is called {new} in the suite" for old, new in renamed.items()]
        first_wording = None if template is None else with_names(template, renamed)
        shown = None if first_wording is None else placeholders(first_wording)
        outputs = _each_once(name, lines, shown)
        drawn = _drawn(outputs, sample, seed, design.score)
        if len(drawn) < len(outputs):
            notes.append(f"{len(drawn)} of {len(outputs)} outputs drawn by seed {seed}")
        verdicts = {line.judgment.verdict for line in lines}
        words = {word for word in verdicts | {output.label for output in outputs} if word}
        answers = _answers(log, name, design, words - {TIE, ABSTAIN}, labels)
        space = DecisionSpace(
            answers.labels,
            ordinal=answers.are_grades,
            pairwise=design.pairwise,
            tie=TIE in words,
            abstain=ABSTAIN in words,
            # Numbers that say no and yes may be said in words.
            names=no_and_yes(answers.labels) if is_whole(answers.labels) else {},
        )
        if design.score is not None:
            space = DecisionSpace(design.score.ends, pass_mark=design.pass_mark, score=design.score)
        judges = tuple(dict.fromkeys(judgment.judge for judgment in judgments))
        suite = FrozenSuite(slug(name), space, drawn, judges, tuple(notes))
        suites.append(
            _with_prompts(suite) if first_wording is None else _with_template(suite, first_wording)
        )
    _refuse_other_fields(stated, of_candidates)
    return suites


def _judgments_of(
    log: Path, row_options: RowOptions
) -> tuple[list[_Placed], Mapping[str, str], tuple[str, ...]]:
    """The judgments of a log or of a foreign file, with their places.

    With them what the user says that texts of a log name, and what the importer says of a file.

    Raises:
        LogError: it cannot be read, or holds none.
        UsageError: an option is not used, or something is not known of a foreign file.
    """
    of_rows = replace(row_options, names=())
    if _is_foreign(log):
        told = {field.name: getattr(row_options, field.name) for field in fields(RowOptions)}
        read = BUILT_IN.importers[_FOREIGN].read(ImportOptions(log, **told))
        assert isinstance(read, Imported), "rows are judgments"
        if read.objections:
            raise read.objections[0]
        placed: list[_Placed] = [
            (f"{log}: {judgment.trial.id}", judgment, design) for judgment, design in read.judgments
        ]
        return placed, {}, read.notices
    if of_rows.is_given:
        raise UsageError(
            f"{of_rows.as_words} is not used: {log} is a judgment log, whose fields are known",
            expected="these options for a foreign file of rows; --names for texts of a log",
        )
    placed = list(read_placed_log(log))
    if not placed:
        raise LogError(f"{log} holds no judgments", expected="at least one line")
    return placed, dict(row_options.names), ()


def _is_foreign(log: Path) -> bool:
    """Whether a file can be read, and its rows are no lines of a judgment log."""
    with suppress(OSError), open_bytes(log) as file:
        if _BEGINS_LOG.match(file.read(_LOOKED_AT)):
            return False
    try:
        return not read_rows(log).has(_TRIAL)
    except LogError:
        return False


def _renamed(lines: Sequence[_Line]) -> dict[str, str]:
    """The texts of candidates and of what they are about that a suite calls otherwise."""
    return {old: new for line in lines for old, new in line.renamed.items()}


def _design_of(judgments: Sequence[Judgment]) -> Design:
    """The design of a suite of which no line states one."""
    verdicts = {judgment.verdict for judgment in judgments} - {None, TIE, ABSTAIN}
    swapped = any(judgment.trial.order == "ba" for judgment in judgments)
    of_slots = swapped and bool(verdicts) and verdicts <= {"A", "B"}
    pairwise = of_slots or any(judgment.chosen is not None for judgment in judgments)
    return Design("", ("A", "B") if pairwise else (), pairwise=pairwise)


def _refuse_other_fields(stated: Mapping[str, str], of_candidates: Collection[str]) -> None:
    """Raise a `UsageError` for a ``--names`` that is about no text of a candidate."""
    for field, naming in stated.items():
        if field not in of_candidates:
            raise UsageError(
                f"--names {field}={naming} is not used: no candidate of the log has a text {field}",
                found=f"texts of candidates {listed(sorted(of_candidates)) or 'of no suite'}",
                expected="a text of two candidates; verdicts of a log are slots, labels contents",
                remedy="what a file that is imported names is said to judgesense import",
            )


def _of_one_grade(part: Sequence[_Placed], design: Design) -> tuple[Sequence[_Placed], Design]:
    """The lines with plain grades where replies give one grade by a single criterion.

    Grades of people are the label: the nearest to their mean, halves upwards.
    """
    if len(design.criteria) != 1:
        return part, design
    instrument, labels = BUILT_IN.kinds[design.kind], design.criteria[0].labels

    def grade(share: float) -> str | None:
        if math.isnan(share):
            return None
        return labels[math.floor(share * (len(labels) - 1) + 0.5 + _ROUNDING)]

    def plain(judgment: Judgment) -> Judgment:
        said = grade(instrument.score(design, judgment.verdict or ""))
        outcome = judgment.outcome
        if judgment.verdict is not None:
            outcome = Unparsed("no grade") if said is None else Verdict(said)
        label = grade(instrument.right_score(design, judgment.trial))
        return replace(judgment, trial=replace(judgment.trial, label=label), outcome=outcome)

    plain_design = replace(design, labels=labels, ordinal=all(map(is_number, labels)), criteria=())
    return [(where, plain(judgment), stated) for where, judgment, stated in part], plain_design


def _lines(
    log: Path, name: str, part: Sequence[tuple[str, Judgment, Design | None]], design: Design
) -> tuple[list[_Line], list[str]]:
    """The lines of a suite that hold what was judged, and notes about the others."""
    if len(design.criteria) > 1:
        raise LogError(
            f"the replies on suite {name} in {log} give several grades each",
            found=listed(criterion.name for criterion in design.criteria),
            expected="replies of one verdict or one grade",
            remedy="begin with the suite that was asked: its file has the criteria; or with a "
            "table of the outputs: judgesense init --callable MODULE:FUNCTION --items FILE "
            "--grades "
            f"{','.join(f'{criterion.name}=COLUMN' for criterion in design.criteria)}",
        )
    read = [_line(where, judgment, design) for where, judgment, _ in part]
    lines = [line for line in read if line is not None]
    if not lines:
        raise LogError(
            f"{log} does not hold what was judged on suite {name}",
            found=f"{len(part)} judgments without a prompt and without texts",
            expected="lines with source.prompt or source.fields",
            remedy="import it again: judgesense import FILE, of a table "
            "with --map prompt=COLUMN, or --map field.NAME=COLUMN for each text; where a suite was "
            "asked, its file has the texts, and a preset with items = N takes some of them",
        )
    silent = len(part) - len(lines)
    return lines, [f"{silent} judgments do not say what was judged: left out"] if silent else []


def _line(where: str, judgment: Judgment, design: Design) -> _Line | None:
    """A line with its judged output; ``None`` if it does not hold it."""
    trial, source = judgment.trial, (judgment.detail or {}).get("source") or {}
    texts, prompt = source.get("fields") or {}, messages_of(source.get("prompt") or [])
    if not isinstance(texts, dict) or not all(isinstance(text, str) for text in texts.values()):
        raise LogError(
            f"{where}: source.fields is malformed",
            found=json.dumps(texts)[:80],
            expected="texts by name",
        )
    names = source.get("names") or {}
    if not isinstance(names, dict) or not {SLOT, CONTENT}.issuperset(map(str, names.values())):
        raise LogError(
            f"{where}: source.names is malformed",
            found=json.dumps(names)[:80],
            expected=f"{SLOT} or {CONTENT} by the name of a text",
        )
    if not texts and prompt is None:
        return None
    task = column_of("task", texts) if design.pairwise else None
    called = {name: "task" if name == task else _field(name) for name in texts}
    fields = {called[name]: text for name, text in texts.items()}
    item = item_id(trial.item)
    output = JudgedOutput(item, trial.cluster, judgment.verdict, trial.label, fields, prompt)
    namings = {_field(name): naming for name, naming in names.items()}
    renamed = {name: new for name, new in called.items() if name != new}
    return _Line(where, judgment, output, namings, renamed)


def _field(name: str) -> str:
    """The name of a text as that of an item's field."""
    plain = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")
    usable = _FIELD.fullmatch(plain) and plain not in {*ContentItem.model_fields, _PROMPT}
    return plain if usable else f"field_{plain}"


def _in_own_order(
    suite: str, lines: Sequence[_Line], stated: Mapping[str, str]
) -> tuple[list[_Line], TextNaming]:
    """Lines with the texts of candidates in the item's own order, as labels are; and their naming.

    Raises:
        UsageError: nobody says which text is whose, and no item in both orders shows it.
    """
    rows = [line.holding(line.output.fields) for line in lines]
    naming = naming_of_texts(suite, rows, stated)
    if naming.open:
        raise naming_asked_for(suite, naming.open)
    outputs = [
        replace(line.output, fields=naming.in_own_order(row))
        for line, row in zip(lines, rows, strict=True)
    ]
    own = [replace(line, output=output) for line, output in zip(lines, outputs, strict=True)]
    return own, naming


def _each_once(
    suite: str, lines: Sequence[_Line], shown: Collection[str] | None
) -> list[JudgedOutput]:
    """The outputs of lines, each once; with a label if any line has it.

    Args:
        suite: its name, for messages.
        lines: of it.
        shown: the texts that its first wording shows; ``None``: the whole prompts.

    Raises:
        LogError: two lines of an item show different texts, or have different labels.
    """
    remedy = "give each output an item of its own; where a file was imported, say what its texts "
    remedy += "and labels are: judgesense import --names FIELD=slot or content"
    rows = [line.holding(_held(line, shown)) for line in lines]
    if error := difference(suite, rows, remedy):
        raise error
    by_item: dict[str, JudgedOutput] = {}
    for line in lines:
        output = line.output
        first = by_item.setdefault(output.item, output)
        if first.label is None and output.label is not None:
            by_item[output.item] = replace(first, label=output.label)
    return [*by_item.values()]


def _held(line: _Line, shown: Collection[str] | None) -> dict[str, str]:
    """What a line holds that other lines of its item must hold as well, by name."""
    output, trial = line.output, line.judgment.trial
    label = {} if output.label is None else {"label": output.label}
    if shown is not None:
        return label | {name: text for name, text in output.fields.items() if name in shown}
    # The prompts of other judges, wordings and orders are others.
    prompt = f"the prompt of {line.judgment.judge}, {trial.template}, {trial.order},"
    return label | (
        {prompt: json.dumps(output.prompt, ensure_ascii=False)} if output.prompt else {}
    )


def _drawn(
    outputs: Sequence[JudgedOutput], sample: int | None, seed: int, score: ScoreRange | None
) -> list[JudgedOutput]:
    """``sample`` of them, of each verdict as large a share as it has among all, in their order.

    Of a ``score`` each fifth of its range is one. The shares are rounded so that the largest
    remainders get one more (Hamilton's method).
    """
    if sample is None or sample >= len(outputs):
        return list(outputs)
    strata: dict[str, list[int]] = defaultdict(list)
    for place, output in enumerate(outputs):
        strata[_stratum(output.verdict or "", score)].append(place)
    exact = {verdict: sample * len(part) / len(outputs) for verdict, part in strata.items()}
    sizes = {verdict: int(share) for verdict, share in exact.items()}
    rest = sorted(exact, key=lambda verdict: (sizes[verdict] - exact[verdict], verdict))
    for verdict in rest[: sample - sum(sizes.values())]:
        sizes[verdict] += 1
    chance = random.Random(seed)
    drawn = [chance.sample(strata[verdict], sizes[verdict]) for verdict in sorted(strata)]
    return [outputs[place] for place in sorted(chain.from_iterable(drawn))]


def _answers(
    log: Path, name: str, design: Design, words: set[str], stated: Sequence[str]
) -> InferredAnswers:
    """What kind of answers a suite permits, and which: the stated ones, and those of the log."""
    if design.pairwise:
        return InferredAnswers("labels", ("A", "B"))
    if design.score is not None:
        return InferredAnswers(SCORE, ())
    labels = list(stated or design.labels)
    labels += sorted(words - {*labels})
    answers = inferred_answers(labels, are_all=bool(stated) or design.ordinal)
    if design.labels and not stated:
        of_design: ContentKind = "grades" if design.ordinal else "labels"
        # Two labels are no scale, whoever has called them so.
        answers = answers._replace(kind=of_design if len(labels) > 2 else answers.kind)
    fills = answers.are_grades and not stated
    answers = answers._replace(labels=answers_of(labels, "grades") if fills else tuple(labels))
    if not 2 <= len(answers.labels) <= _MOST_LABELS:
        raise UsageError(
            f"the possible answers of the judge of suite {name} are not known",
            found=f"{listed(answers.labels) or 'no verdict'} in {log}",
            expected=f"2 to {_MOST_LABELS} labels",
            remedy="name them: --labels YES,NO",
        )
    return answers


def _with_template(suite: FrozenSuite, template: str) -> FrozenSuite:
    """``suite`` with the user's first wording."""
    names = frozenset.intersection(*(frozenset(output.fields) for output in suite.outputs))
    if suite.space.pairwise and not {"a", "b"} <= names:
        raise UsageError(
            f"the two candidates of suite {suite.name} are not told apart",
            found=listed(suite.outputs[0].fields) or "whole prompts",
            expected="fields a and b, to be shown in both orders",
            remedy="import the log again with --map field.a=COLUMN --map field.b=COLUMN",
        )
    if unknown := sorted(placeholders(template) - names):
        raise UsageError(
            f"the template shows what the outputs of suite {suite.name} do not have",
            found=listed(unknown),
            expected=listed(sorted(names)),
            remedy="rename the placeholders, or import the log with --map field.NAME=COLUMN",
        )
    return replace(suite, template=template)


def _with_prompts(suite: FrozenSuite) -> FrozenSuite:
    """``suite`` with the whole prompts of the log as its items, and what they share as system."""
    with_prompts = [(output, output.prompt) for output in suite.outputs if output.prompt]
    if not with_prompts or suite.space.pairwise:
        names = dict.fromkeys(name for output in suite.outputs for name in output.fields)
        raise UsageError(
            f"the log does not hold a prompt of the judge that suite {suite.name} could send"
            if not with_prompts
            else f"whole prompts of suite {suite.name} cannot be asked in another order",
            found=f"the texts {listed(names)}" if names else "no other text",
            expected="the first wording, with {{NAME}} for each text",
            remedy="write it into a file, and name that: --template FILE",
        )
    first = [prompt[0]["content"] for _, prompt in with_prompts if prompt[0]["role"] == "system"]
    shared = len(first) == len(with_prompts) and len({*first}) == 1
    shared = shared and all(len(prompt) > 1 for _, prompt in with_prompts)
    outputs = [
        replace(
            output, fields={_PROMPT: "\n\n".join(message["content"] for message in prompt[shared:])}
        )
        for output, prompt in with_prompts
    ]
    left = len(suite.outputs) - len(outputs)
    note = f"{left} output{'s' * (left > 1)} whose prompt the log does not hold: left out"
    return replace(
        suite,
        outputs=outputs,
        template=f"{{{{{_PROMPT}}}}}",
        source="the judge's own prompts, whole",
        system=first[0] if shared else "",
        notes=(*suite.notes, *[note] * bool(left)),
    )


def suite_files(suite: FrozenSuite) -> dict[str, str]:
    """The texts of the suite's files by name, the suite file last.

    Raises:
        LogError, SuiteError: no suite can be made of the log.
    """
    if suite.space.score is not None:
        return _score_files(suite, suite.space.score)
    space, flags = suite.space, ("ordinal", "pairwise", "tie", "abstain")
    answers: dict[str, Any] = {"labels": list(space.labels)} | {
        flag: True for flag in flags if getattr(space, flag)
    }
    if space.names:
        answers["names"] = {label: list(names) for label, names in space.names.items()}
    wordings = _wordings(suite)
    wording = BUILT_IN.measures["within_one_agreement" if space.ordinal else "jss"]
    second = ORDER_POSITIONAL if space.pairwise else REPEAT_FLIP_RATE
    gated = [wording, second, UNPARSED_RATE, *([AGREEMENT] if suite.labelled else [])]
    sizes = tuple(Counter(output.cluster for output in suite.outputs).values())
    of_labels = _label_checks(suite)
    table = suite_table(
        suite.name,
        answers,
        _stimuli(suite),
        wordings,
        gated,
        sizes,
        of_labels=of_labels.checks,
    )
    counted = _COUNTED | {check.measure.check: check.counts for check in of_labels.checks}
    return _files_of(suite, table, counted, of_labels)


def _stimuli(suite: FrozenSuite) -> dict[str, Any]:
    """``[stimuli]``, with the fields that hold a conversation in every output."""
    shared = frozenset.intersection(*(frozenset(output.fields) for output in suite.outputs))
    messages = [
        name
        for name in sorted(shared)
        if all(is_conversation(output.fields[name]) for output in suite.outputs)
    ]
    return {"file": "items.jsonl", **({"messages": messages} if messages else {})}


def _stratum(verdict: str, score: ScoreRange | None) -> str:
    """What an output is drawn in proportion to."""
    if score is None:
        return verdict
    share = score.share(score_of_text(verdict))
    return "" if math.isnan(share) else str(min(_FIFTHS - 1, math.floor(share * _FIFTHS)))


def _score_files(suite: FrozenSuite, ends: ScoreRange) -> dict[str, str]:
    """The files of a suite of scores."""
    instrument = BUILT_IN.scoring
    assert instrument is not None, "a log has scores where an instrument measures them"
    mark = suite.space.pass_mark
    checks = first_checks(
        instrument, labelled=suite.labelled, marked=mark is not None, wordings=True
    )
    table = suite_table(
        suite.name,
        space_table(ends, None if mark is None else ends.low + mark * ends.width),
        _stimuli(suite),
        _wordings(suite),
        [UNPARSED_RATE],
        tuple(Counter(output.cluster for output in suite.outputs).values()),
        kind=instrument.name,
        of_kind=checks,
    )
    counted = _COUNTED | {check.measure.check: check.counts for check in checks}
    return _files_of(suite, table, counted, LabelChecks())


def _wordings(suite: FrozenSuite) -> dict[str, str]:
    """The first wording, and others with the same question."""
    more = {name: text.format("\0") for name, text in _WORDINGS}
    template = suite.template.strip("\n")
    return {"t1": suite.template} | {n: text.replace("\0", template) for n, text in more.items()}


def _files_of(
    suite: FrozenSuite,
    table: dict[str, Any],
    counted: Mapping[str | None, str],
    of_labels: LabelChecks,
) -> dict[str, str]:
    """The items of a suite, and its file with what each check counts."""
    table["description"] = f"Frozen outputs of a log of {', '.join(suite.judges)}"[:300]
    if suite.system:
        table["system"] = suite.system
    sizes = tuple(Counter(output.cluster for output in suite.outputs).values())
    rows = [_row(output, pairwise=suite.space.pairwise) for output in suite.outputs]
    try:
        form = form_of(table, BUILT_IN.forms, f"suite {suite.name}")
    except SuiteError as error:
        raise LogError(
            f"the judgments on suite {suite.name} make no suite",
            found=error.found,
            expected="a design that a suite can have",
        ) from error
    numbered = list(enumerate(rows, 1))
    list(BUILT_IN.forms[form.kind].items(Stimuli(form, Path("items.jsonl"), numbered)))
    comments = {
        "head": "Outputs that were judged before, frozen: what changes from here on is the judge.",
        "space": "What the judge may answer.",
        "design": f"Asked: {asked_words(table, len(suite.outputs))}",
        "templates": f"The first wording is {suite.source}.\n"
        "# The others ask for the same in a few words more: wordings of your own are better.",
    }
    items = "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)
    labelled = sum(output.label is not None for output in suite.outputs)
    compared = compared_words(table, sizes, labelled, of_labels)
    text = written_suite(table, comments, counted, compared)
    return {"items.jsonl": items, f"{suite.name}.suite.toml": text}


def _label_checks(suite: FrozenSuite) -> LabelChecks:
    """What the suite holds about single labels, where a person has graded every output."""
    if not suite.labelled or suite.space.pairwise or suite.space.ordinal:
        return LabelChecks()
    return BUILT_IN.label_checks(
        [
            LabelledItem(output.label, output.cluster)
            for output in suite.outputs
            if output.label is not None
        ]
    )


def _row(output: JudgedOutput, *, pairwise: bool) -> dict[str, Any]:
    row: dict[str, Any] = {"id": output.item, "cluster": output.cluster}
    if output.label is not None:
        row["label"] = output.label
    fields = dict(output.fields)
    if not pairwise:
        return row | fields
    row |= {"task": fields.pop("task", ""), "texts": [fields.pop("a"), fields.pop("b")]}
    return row | ({"fields": fields} if fields else {})


def recognised(suite: FrozenSuite) -> Iterator[str]:
    """What the suite was made of, in lines."""
    verdicts = Counter(output.verdict or "none" for output in suite.outputs)
    counts = ", ".join(f"{verdict} {count}" for verdict, count in sorted(verdicts.items()))
    if suite.space.score is not None:
        scores = sorted(filter(None, {output.verdict for output in suite.outputs}), key=float)
        counts = f"scores from {scores[0]} to {scores[-1]}" if scores else "none"
    outputs, clusters = len(suite.outputs), len({output.cluster for output in suite.outputs})
    size = f"{outputs} output{'s' * (outputs > 1)} in {clusters} cluster{'s' * (clusters > 1)}"
    yield f"{size}; verdicts of the log: {counts}"
    yield f"wording t1 is {suite.source}"
    labels = sum(output.label is not None for output in suite.outputs)
    if not suite.labelled:
        yield f"grades of people: {labels or 'none'}; agreement is gated where every output has one"
    yield from suite.notes
