"""Suites of probes: the items of another suite, or of one's own, each asked under edits.

A line becomes these items, all of one cluster:

===========================  =====================================================================
``ID``                       as it is, asked first: it settles which side of a pair is edited
``ID.unedited``              as it is, asked afresh and twice: what is compared with no other edit
``ID.PROBE-edited``          one side edited so that nothing else is said
``ID.PROBE-placebo``         the same side edited in the same place by what says nothing to a judge
``ID.PROBE-control``         the other side takes itself back; a single output takes itself back
``ID.names-12``, ``-xy``     as it is, the slots called 1 and 2, or X and Y; asked twice
===========================  =====================================================================

Where an edit names its slot, or closes the marks around its text, it has a wording for each order.
The marks and the form of a reply are taken, item by item, from the prompts that were recorded of
the first asking and from what was replied to them; where nothing of that is recorded, from the
prompt as it is rendered. A single output, whose grade can move both ways, needs no asking before:
its marks are those of the rendered prompt. An edit that changes
nothing, as where there are no hedges, is no probe: such a line has no items for it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from pytest_judgesense.errors import SuiteError, listed, unknown_name
from pytest_judgesense.files.conversation import last_answer, with_last_answer
from pytest_judgesense.instruments.probe.edited_side import (
    ASKED,
    CONTROL,
    EDITED,
    NAMES,
    NO_PROBE,
    VERSIONS,
    Version,
    settles,
    side_without,
    sides_of,
)
from pytest_judgesense.instruments.probe.slot_forms import (
    SlotForm,
    marks_around,
    name_shown,
    reply_asked_for,
    reply_naming,
)
from pytest_judgesense.replies import parse_reply
from pytest_judgesense.suites.finding import LintFinding, Rule
from pytest_judgesense.suites.from_lines import plain_items
from pytest_judgesense.suites.item import Item
from pytest_judgesense.suites.prompt_template import placeholders, with_names
from pytest_judgesense.suites.rules import DUPLICATES, LABEL_BALANCE, SHORTCUT, TEMPLATE_LABELS
from pytest_judgesense.suites.schema import ContentItem, PairItem, SuiteForm
from pytest_judgesense.suites.space import DecisionSpace
from pytest_judgesense.suites.stimuli import Stimuli
from pytest_judgesense.suites.suite import (
    Kind,
    Material,
    ParsedReply,
    Question,
    ReplyForm,
    Settling,
    Suite,
    derived,
    one_question,
)
from pytest_judgesense.trial import Condition, Judgment, Trial, grouped

if TYPE_CHECKING:
    from pytest_judgesense.instruments.probe.edits import BookForm, ProbeForm

UNEDITED: Final = "unedited"
# What slots are called, by the naming; the first is the usual one.
NAMINGS: Final[Mapping[str, tuple[str, str]]] = {
    "ab": ("A", "B"),
    "12": ("1", "2"),
    "xy": ("X", "Y"),
}
_USUAL, *_OTHERS = NAMINGS
_SLOTS: Final = ("name_a", "name_b")
# What prompts call the text in a slot.
_FIELDS: Final[Mapping[str, str]] = {"A": "a", "B": "b"}
_SHOWN: Final = "{{name_a}} and {{name_b}}"
_TWICE: Final = 2
# Acronyms among families of models.
_SPELT: Final = {"gpt": "GPT", "chatgpt": "ChatGPT", "smollm2": "SmolLM2", "deepseek": "DeepSeek"}


class Probing(NamedTuple):
    """What the items of a suite are made with.

    Attributes:
        book: the edits.
        probes: the names of those that are made.
        field: of a single output; empty for pairs.
        favourable: the label of a single output that is good to get; empty for a scale.
        family: that signatures give; empty for that of each judge's model.
        slots: the names of each slot, its label first; of single outputs those of the label that is
            best to get.
        prompt: that shows the texts, for edits that tell where they stand.
    """

    book: BookForm
    probes: tuple[str, ...]
    field: str = ""
    favourable: str = ""
    family: str = ""
    slots: Mapping[str, tuple[str, ...]] = {}
    prompt: str = ""

    @property
    def editing(self) -> list[ProbeForm]:
        """The probes that edit a text."""
        return [probe for probe in self.book.probes if probe.name in self.probes]

    @property
    def forms(self) -> SlotForms:
        """How the prompt shows the texts, and how it asks for a reply, by slot."""
        names = dict(zip(_SLOTS, NAMINGS[_USUAL], strict=True))
        shown = with_names(self.prompt, {name: name for name in placeholders(self.prompt)})
        for placeholder, name in names.items():
            shown = shown.replace(f"{{{{{placeholder}}}}}", name)
        forms = {}
        for slot, called in self.slots.items():
            name, field = name_shown(shown, called), self.field or _FIELDS[slot]
            marks = marks_around(shown, f"{{{{{field}}}}}")
            forms[slot] = SlotForm(name, reply_asked_for(shown, name), marks)
        return forms

    def edited(
        self,
        item: Item,
        probe: ProbeForm,
        version: Version,
        side: str,
        family: str,
        forms: SlotForms,
    ) -> Item:
        """The texts of an item under an edit of a ``side``, which is empty for a single output."""

        def apply(text: str, slot: str) -> str:
            form = forms[slot]
            return with_last_answer(
                text,
                lambda answer: self.book.applied(answer, probe, version, item.id, family, form),
            )

        if self.field:
            (best,) = self.slots
            text = apply(item.fields[self.field], best)
            return replace(item, fields={**item.fields, self.field: text})
        # A control takes the other side back.
        place = int((side == "1") == (version == CONTROL))
        slots, contents = tuple(self.slots), item.contents
        in_orders = [
            tuple(
                apply(text, slot) if number == place else text
                for number, (text, slot) in enumerate(zip(contents, shown_in, strict=True))
            )
            for shown_in in (slots, slots[::-1])
        ]
        swapped = in_orders[1] if in_orders[1] != in_orders[0] else ()
        return replace(item, contents=in_orders[0], swapped=swapped)

    def takes_part(self, item: Item, probe: ProbeForm) -> bool:
        """Whether the edit and its placebo change the output, or either side."""
        texts = [item.fields[self.field]] if self.field else item.contents
        versions = VERSIONS[: 1 + probe.has_placebo]
        return all(
            self.book.applied(answer, probe, version, item.id) != answer
            for answer in map(last_answer, texts)
            for version in versions
        )


# By the label of its slot, how a text is shown and chosen.
SlotForms: TypeAlias = Mapping[str, SlotForm]


def _material(form: SuiteForm, folder: Path) -> Material:
    """The edits, and how a suite file says that they are made."""
    from pytest_judgesense.instruments.probe.edits import own_book, read_book

    place = form.stimuli.edits
    path = folder / place if place is not None else None
    book, text = own_book() if path is None else read_book(path)
    favourable = "" if form.space.pairwise else _favourable(form)
    probing = Probing(
        book,
        _chosen(form, book),
        "" if form.space.pairwise else _field(form),
        favourable,
        form.stimuli.family or "",
        _slots(form, favourable),
        next(template.text for template in form.templates if template.default),
    )
    return Material(probing, text, () if path is None else (path,))


def _chosen(form: SuiteForm, book: BookForm) -> tuple[str, ...]:
    """The probes that are made: those that are named, or all that can be."""
    named, available = form.stimuli.probes, [*book.by_name, NAMES]
    shows = _shows_names(template.text for template in form.templates if template.default)
    for name in named or ():
        if name not in available:
            raise unknown_name(f"probe of suite {form.name}", name, available)
    if named is None:
        return tuple(name for name in available if name != NAMES or form.space.pairwise)
    if NAMES in named and not (form.space.pairwise and shows):
        raise SuiteError(
            f"suite {form.name} cannot probe the names of slots",
            found=f"a prompt that does not show {_SHOWN}"
            if form.space.pairwise
            else "one text a call, which has no slot",
            expected="pairs, and [[templates]] that call the slots by their names",
            remedy=f"write {_SHOWN} where the prompt says A and B, or take names out of probes",
        )
    return tuple(name for name in available if name in named)


def _slots(form: SuiteForm, favourable: str) -> dict[str, tuple[str, ...]]:
    """The names of each slot; of single outputs those of the label that is best to get."""
    space = form.space
    labels = space.labels if space.pairwise else [favourable or space.answers[-1]]
    return {label: (label, *space.names.get(label, ())) for label in labels}


def _shows_names(texts: Iterable[str]) -> bool:
    """Whether prompts name the slots by the placeholders for it."""
    return all({*_SLOTS} <= placeholders(text) for text in texts)


def _field(form: SuiteForm) -> str:
    """The field of a single output: the one that is shown, or that the file names."""
    shown = sorted(set().union(*(placeholders(template.text) for template in form.templates)))
    if form.stimuli.edited is not None:
        if form.stimuli.edited not in shown:
            raise unknown_name(
                f"field ([stimuli] edited) of suite {form.name}", form.stimuli.edited, shown
            )
        return form.stimuli.edited
    if len(shown) == 1:
        return shown[0]
    raise SuiteError(
        f"suite {form.name} does not say which text is edited",
        found=f"{len(shown)} fields in the prompt: {listed(shown) or 'none'}",
        expected="the field of the judged output",
        remedy='write edited = "FIELD" in [stimuli]' if shown else "fix the prompt",
    )


def _favourable(form: SuiteForm) -> str:
    """The label that is good to get; empty where the labels are a scale."""
    label, labels = form.stimuli.favourable, form.space.labels
    if form.space.ordinal and label is None:
        return ""
    if label not in labels or form.space.ordinal:
        raise SuiteError(
            f"suite {form.name} does not say which label is good to get",
            found="nothing" if label is None else f"favourable = {label!r}",
            expected="none: the labels are a scale, the last one best"
            if form.space.ordinal
            else f"one of {listed(labels)}",
            remedy="take favourable out of [stimuli]"
            if form.space.ordinal
            else 'write favourable = "LABEL" in [stimuli]',
        )
    return str(label)


def _verify(form: SuiteForm) -> None:
    if form.space.criteria:
        raise ValueError("a probe suite asks for one verdict: [space] without criteria")
    if any(template.polarity == "inverted" for template in form.templates if template.default):
        raise ValueError("a probe suite asks in one way: no template of inverted polarity")
    pairwise, stated = form.space.pairwise, form.stimuli
    if pairwise and (stated.edited is not None or stated.favourable is not None):
        raise ValueError("edited and favourable are for single outputs: of pairs a side is edited")
    shows = _shows_names(template.text for template in form.templates if template.default)
    if pairwise and shows:
        for label, slot in (("A", 0), ("B", 1)):
            called = [NAMINGS[naming][slot] for naming in NAMINGS]
            if missing := [name for name in called if name not in form.space.names.get(label, [])]:
                raise ValueError(
                    f"the prompt names its slots by {_SHOWN}: [space] names = "
                    f"{{ {label} = {called}, ... }}, {', '.join(missing)} is missing"
                )


# --- items ----------------------------------------------------------------------------------------


def _items(stimuli: Stimuli) -> list[Item]:
    probing: Probing = stimuli.material
    lines = list(plain_items(stimuli))
    items = [item for line in lines for item in _of_line(line, probing)]
    times = Counter(item.id for item in items)
    clashes = [f"the id {line.id}" for line in lines if times[line.id] > 1]
    clashes += [
        f"the field {name}" for name in _SLOTS if any(_is_named(line, name) for line in lines)
    ]
    if clashes:
        raise SuiteError(
            f"items of suite {stimuli.form.name} cannot be probed",
            found=f"{clashes[0]}, which probes make of others: ID.unedited, name_a, name_b",
            expected="ids and fields of other names",
            remedy=f"rename it in {stimuli.file}",
        )
    return items


def _is_named(line: Item, name: str) -> bool:
    return bool(line.contents) and name in line.fields


def _of_line(line: Item, probing: Probing) -> Iterator[Item]:
    """The items of a line: the one that settles the side, the unedited one, and the edited."""
    if line.inverted:
        raise SuiteError(
            f"item {line.id} cannot be probed",
            found="templates whose labels mean the opposite on it",
            expected="one meaning of the labels",
            remedy="take inverted out of the line",
        )
    first, second = NAMINGS[_USUAL]
    slots = {_SLOTS[0]: first, _SLOTS[1]: second} if line.contents else {}
    base = replace(line, fields={**line.fields, **slots}, people={}, stratum="", picked=False)
    if base.contents:
        yield _version(base, base.id, NO_PROBE, ASKED, probing, label=line.label)
    yield _version(base, f"{base.id}.{UNEDITED}", NO_PROBE, UNEDITED, probing, times=_TWICE)
    side = side_without(base.id, line.label) if base.contents else ""
    forms = probing.forms
    for probe in probing.editing:
        if not probing.takes_part(base, probe):
            continue
        family = probing.family if probe.stand_ins else ""
        for version in VERSIONS:
            if version == EDITED or getattr(probe.variants[0], version) is not None:
                texts = probing.edited(base, probe, version, side, family, forms)
                name = f"{base.id}.{probe.name}-{version}"
                yield _version(texts, name, probe.name, version, probing, family=family)
    if NAMES in probing.probes:
        for naming in _OTHERS:
            called = dict(zip(_SLOTS, NAMINGS[naming], strict=True))
            named = replace(base, fields={**base.fields, **called})
            name = f"{base.id}.{NAMES}-{naming}"
            item = _version(named, name, NAMES, EDITED, probing, times=_TWICE)
            yield replace(item, condition={**item.condition, "naming": naming})


def _version(
    base: Item,
    name: str,
    probe: str,
    version: str,
    probing: Probing,
    *,
    label: str | None = None,
    times: int = 1,
    family: str = "",
) -> Item:
    """The item of a version: people, and labels but for the asking that needs one, are not its."""
    condition: Condition = {**base.condition, "probe": probe, "version": version}
    if family:
        condition = {**condition, "family": family}
    if probing.favourable:
        condition = {**condition, "favourable": probing.favourable}
    return replace(base, id=name, label=label, times=times, condition=condition)


def line_of(item: str, condition: Condition) -> str:
    """The id of the line that an item is made of."""
    return item if condition.get("version") == ASKED else item.rpartition(".")[0]


def _remade(
    suite: Suite,
    sides: Mapping[str, str],
    family: str = "",
    forms: Mapping[str, SlotForms] | None = None,
) -> Suite:
    """The suite with the texts of edited items as these say of each line.

    Args:
        suite: with the prompt of its judge.
        sides: that are edited; a line without one stays, unless it is of a single output.
        family: of the signatures that are open.
        forms: how texts are shown; of lines without, as the prompt of the suite says.
    """
    probing: Probing = suite.material
    by_prompt, by_name = probing.forms, probing.book.by_name
    lines = {line_of(item.id, item.condition): item for item in _unedited(suite)}

    def remade(item: Item) -> Item:
        probe = by_name.get(str(item.condition["probe"]))
        line = line_of(item.id, item.condition)
        side = sides.get(line, "")
        if probe is None or not (side or probing.field):
            return item
        named = str(item.condition.get("family", "")) or (family if probe.stand_ins else "")
        base = replace(lines[line], id=line)
        version: Version = item.condition["version"]  # type: ignore[assignment]
        shown = by_prompt if forms is None else forms.get(line, by_prompt)
        texts = probing.edited(base, probe, version, side, named, shown)
        condition = {**item.condition, **({"family": named} if named else {})}
        return replace(
            item,
            fields=texts.fields,
            contents=texts.contents,
            swapped=texts.swapped,
            condition=condition,
        )

    return replace(suite, items=tuple(map(remade, suite.items)))


@derived
def _asked_by_names(suite: Suite) -> Mapping[str, tuple[Question, ...]]:
    """By naming, the question and the form of its reply; none where the prompts show no names."""
    if not (suite.space.pairwise and _shows_names(template.text for template in suite.templates)):
        return {}
    return {
        naming: (Question(reply=_reply_in(suite.space, slots)),)
        for naming, slots in NAMINGS.items()
    }


def _reply_in(space: DecisionSpace, slots: tuple[str, str]) -> ReplyForm:
    """The form of replies to a prompt that calls its slots by these names.

    Beside them the labels of the space are read, which a function may return. Names of another
    naming are no verdicts: they say nothing of the slots that were shown.
    """
    slot_words = {name for names in NAMINGS.values() for name in names}
    names_of_rest = {
        verdict: tuple(name for name in names if name not in slot_words)
        for verdict, names in space.names.items()
    }
    called = dict(zip(NAMINGS[_USUAL], slots, strict=True))
    form_asked = replace(
        space,
        labels=slots,
        names={called.get(verdict, verdict): names for verdict, names in names_of_rest.items()},
    )
    slot_names = {label: (slot, *names_of_rest.get(label, ())) for label, slot in called.items()}
    named = replace(space, names={**names_of_rest, **slot_names})

    def read(text: str, truncated: bool) -> ParsedReply:
        return parse_reply(text, named, truncated=truncated), None

    return ReplyForm(read, form_asked.described, form_asked.example, form_asked.schema)


def _questions(suite: Suite, trial: Trial) -> tuple[Question, ...]:
    naming = str(trial.condition.get("naming", _USUAL))
    return _asked_by_names(suite).get(naming) or one_question(suite, trial)


def _unedited(suite: Suite) -> Iterator[Item]:
    return (item for item in suite.items if item.condition["version"] == UNEDITED)


def _settled(
    suite: Suite, judgments: Sequence[Judgment], sent: Mapping[str, Sequence[str]]
) -> Suite:
    """The suite with the sides edited that the separate asking rejected, as it showed them."""
    sides = sides_of(judgments)
    return _remade(suite, sides, forms=_forms_asked(suite, judgments, sent)) if sides else suite


def _forms_asked(
    suite: Suite, judgments: Sequence[Judgment], sent: Mapping[str, Sequence[str]]
) -> dict[str, SlotForms]:
    """By line how the separate asking showed its texts, and in which form it was replied to."""
    probing: Probing = suite.material
    contents = {line_of(item.id, item.condition): item for item in _unedited(suite)}
    asked = grouped((j for j in judgments if settles(j.trial)), lambda j: j.trial.item)
    by_prompt = probing.forms
    return {
        line: {
            slot: _as_asked(form, slot, probing, contents[line], of_line, sent)
            for slot, form in by_prompt.items()
        }
        for line, of_line in asked.items()
    }


def _as_asked(
    form: SlotForm,
    slot: str,
    probing: Probing,
    item: Item,
    judgments: Sequence[Judgment],
    sent: Mapping[str, Sequence[str]],
) -> SlotForm:
    """The form of a slot by the judgments of a line, and by what was sent for them."""
    chosen = [
        (judgment.reply, verdict)
        for judgment in judgments
        if judgment.reply and (verdict := judgment.verdict) in probing.slots and verdict is not None
    ]
    if (named := reply_naming(chosen, probing.slots, slot)) is not None:
        form = form._replace(name=named[0], reply=named[1])
    for judgment in judgments:
        text = item.texts(judgment.trial.order)[_FIELDS[slot]]
        if prompts := [prompt for prompt in sent.get(judgment.trial.id, ()) if text in prompt]:
            return form._replace(marks=marks_around(prompts[0], text))
    return form


def _fitted(suite: Suite, model: str) -> Suite:
    """The suite without what a prompt cannot ask, and signed by the family of a model."""
    probing: Probing = suite.material
    left_out = set()
    prompt = suite.templates[0].text
    if is_new := prompt != probing.prompt:
        probing = probing._replace(prompt=prompt)
        suite = replace(suite, material=probing)
    if not _shows_names(template.text for template in suite.templates):
        left_out.add(NAMES)
    # Of a function, whose model is not known, the recording shows the prompt.
    if model and not all(form.marks for form in probing.forms.values()):
        left_out |= {probe.name for probe in probing.editing if probe.closes}
    signed = {probe.name for probe in probing.editing if probe.stand_ins}
    family = family_of(model)
    open_names = [
        item
        for item in suite.items
        if item.condition["probe"] in signed and "family" not in item.condition
    ]
    if open_names and not family:
        left_out |= signed
    left = tuple(item for item in suite.items if item.condition["probe"] not in left_out)
    if len(left) < len(suite.items):
        suite = replace(suite, items=left)
    if is_new or (open_names and family):
        labels = {item.id: item.label for item in suite.items if item.label is not None}
        lines = (line_of(item.id, item.condition) for item in _unedited(suite))
        sides = {line: side_without(line, labels.get(line)) for line in lines}
        suite = _remade(suite, {} if probing.field else sides, family)
    return suite


def family_of(model: str) -> str:
    """The family of a model by its name, such as ``GPT`` of ``gpt-4o-mini``; empty for none."""
    name = re.split(r"[/:]", model)[-1]
    first = re.split(r"[-_. @]", name)[0]
    return _SPELT.get(
        first.lower(), first if first != first.lower() else first[:1].upper() + first[1:]
    )


# --- rules ----------------------------------------------------------------------------------------


def _left_out(suite: Suite) -> Iterator[LintFinding]:
    """Probes that a suite makes, and that its prompt or its judge cannot be asked."""
    probing: Probing = suite.material
    probes_of_items = {str(item.condition["probe"]) for item in suite.items}
    for probe in probing.probes:
        if probe in probes_of_items:
            continue
        form = probing.book.by_name.get(probe)
        if form is None:
            why, remedy = (
                f"the prompt does not show {_SHOWN}",
                f"write {_SHOWN} where it says A and B",
            )
        elif form.closes:
            why, remedy = (
                "the prompt has no marks around its texts that a text could close",
                "put them into tags, such as <answer_a>{{a}}</answer_a>",
            )
        elif form.stand_ins:
            why = "the family of the judge's model is not known"
            remedy = 'write family = "NAME" in [stimuli]'
        else:
            why, remedy = "its edit changes no item", "add items that it changes"
        yield LintFinding(
            "warning",
            "left-out",
            f"probe {probe} of suite {suite.name}",
            "takes no part",
            why,
            "all probes that are chosen",
            f"{remedy}, or name the others: probes = [...]",
        )


PROBE: Final = Kind(
    "probe",
    _items,
    line_forms=(PairItem, ContentItem),
    verify=_verify,
    rules=(Rule(_left_out),),
    # An item is asked as it is several times, labels only say which side is edited, and items may
    # hold the names of the slots that a prompt asks for.
    waived=(DUPLICATES, LABEL_BALANCE, SHORTCUT, TEMPLATE_LABELS),
    derived=True,
    settling=Settling(settles, _settled),
    questions=_questions,
    keys=("probes", "edits", "edited", "favourable", "family"),
    material=_material,
    fitted=_fitted,
)
