r"""Edits of texts, from a file of them: what a probe does to one side of a pair, or to an output.

The form of the file is that of ``edits.toml`` beside this module, whose head says what each form of
an edit does. A variant of a probe is fixed by the digest of the item, and its edits belong
together. Everything here is a function of texts.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import Field, StringConstraints, ValidationError, model_validator

from pytest_judgesense.errors import SuiteError
from pytest_judgesense.files.limits import toml_value
from pytest_judgesense.files.opening import read_text
from pytest_judgesense.instruments.probe.edited_side import (
    FAMILY,
    NAMES,
    NO_PROBE,
    PLACEBO,
    VERSIONS,
    Version,
)
from pytest_judgesense.instruments.probe.slot_forms import SlotForm
from pytest_judgesense.suites.schema import Form, Number, Slug
from pytest_judgesense.suites.stimuli import not_of_the_form

_Name = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9-]*$", max_length=30)]
_Text = Annotated[str, StringConstraints(min_length=1, strip_whitespace=True)]
_SENTENCE_END: Final = re.compile(r"(?<=[.!?])\s+|\n+")
_WORD: Final = re.compile(r"[^\W_]+")
_KEPT: Final = "kept"
# What an edit leaves open until its judge and its slot are known.
PLACEHOLDER: Final = re.compile(r"\{(family|slot|reply|open|close)\}")
# After a hedge that commas set off.
_ENDS: Final = ",.;:!?)\n"


class EditForm(Form):
    """A text that is added (``append``, ``prepend``, ``pad``), or a change: exactly one."""

    append: _Text | None = None
    prepend: _Text | None = None
    pad: Annotated[list[_Text], Field(min_length=1)] | None = None
    layout: Literal["headings-and-bullets", "line-breaks"] | None = None
    heading: _Text | None = None
    replace: str | None = None

    @model_validator(mode="after")
    def _in_one_form(self) -> EditForm:
        forms = ("append", "prepend", "pad", "layout", "replace")
        if sum(getattr(self, form) is not None for form in forms) != 1:
            raise ValueError(f"an edit has exactly one of: {', '.join(forms)}")
        if (self.heading is None) != (self.layout is None):
            raise ValueError("layout has a heading, and nothing else has")
        return self

    @property
    def texts(self) -> tuple[str, ...]:
        """What it adds to a text, word by word."""
        return tuple(self.pad or filter(None, (self.append, self.prepend)))


class VariantForm(Form):
    """Three edits that belong together, and what reviewers say of each.

    Without a ``placebo`` the text as it was is that of the edit.
    """

    edited: EditForm
    placebo: EditForm | None = None
    control: EditForm
    reviews: dict[Version, dict[Slug, Literal["YES", "NO", "UNSURE"]]] = Field(default_factory=dict)


class ProbeForm(Form):
    """A probe: its variants, the ``share`` of words that padding adds, and the ``stand_ins`` of the
    family of the judge's model.
    """

    name: _Name
    share: Annotated[Number, Field(gt=0, le=10)] | None = None
    stand_ins: Annotated[list[_Text], Field(min_length=1)] | None = None
    variants: list[VariantForm] = Field(min_length=1)

    @model_validator(mode="after")
    def _alike(self) -> ProbeForm:
        if self.name in (NAMES, NO_PROBE):
            raise ValueError(f"{self.name} is no name of a probe that edits a text")
        if len({variant.placebo is None for variant in self.variants}) > 1:
            raise ValueError(f"all variants of {self.name} have a placebo, or none has")
        edits = [edit for variant in self.variants for _, edit in _edits(variant)]
        if self.share is None and any(edit.pad for edit in edits):
            raise ValueError(f"pad in {self.name} needs a share of the words")
        named = any(FAMILY in text for edit in edits for text in edit.texts)
        if named != (self.stand_ins is not None):
            raise ValueError(f"{FAMILY} in {self.name} needs stand_ins, and they need it")
        return self

    @property
    def has_placebo(self) -> bool:
        """Whether its edits have one; else the text as it was is their placebo."""
        return self.variants[0].placebo is not None

    @property
    def tells_slot(self) -> bool:
        """Whether its edits say where they stand: they name the slot, or close its marks."""
        return bool(self._left_open & {"slot", "reply", "open", "close"})

    @property
    def closes(self) -> bool:
        """Whether its edits close the marks around a text."""
        return bool(self._left_open & {"open", "close"})

    @property
    def _left_open(self) -> set[str]:
        edits = (edit for variant in self.variants for _, edit in _edits(variant))
        return {name for edit in edits for text in edit.texts for name in PLACEHOLDER.findall(text)}

    def variant_of(self, item: str) -> VariantForm:
        """The variant for an item: the same on every machine."""
        digest = hashlib.sha256(f"{self.name} {item}".encode()).digest()
        return self.variants[int.from_bytes(digest[:8], "big") % len(self.variants)]


class BookForm(Form):
    """A whole file of edits."""

    schema_: Literal["judgesense/edits/1"] = Field(alias="schema")
    reviewers: dict[Slug, Literal["human", "model", "author"]] = Field(default_factory=dict)
    probes: list[ProbeForm] = Field(min_length=1)
    tables: dict[str, dict[_Text, str] | list[_Text]] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _consistent(self) -> BookForm:
        names = [probe.name for probe in self.probes]
        if len(set(names)) < len(names):
            raise ValueError(f"names of probes must be unique, found {names}")
        for name, table in self.tables.items():
            if isinstance(table, list) != (name == _KEPT):
                raise ValueError(f"tables.{_KEPT} is a list, and every other one a table: {name}")
        for probe in self.probes:
            for variant in probe.variants:
                for _, edit in _edits(variant):
                    if edit.replace is not None and edit.replace not in self.replacing:
                        raise ValueError(
                            f"replace names a table of this file, not {edit.replace!r}"
                        )
        readers = {
            reader
            for probe in self.probes
            for variant in probe.variants
            for reviews in variant.reviews.values()
            for reader in reviews
        }
        if strangers := sorted(readers - set(self.reviewers)):
            raise ValueError(f"reviewers says what each of them is: {strangers[0]} is missing")
        return self

    @property
    def replacing(self) -> Mapping[str, dict[str, str]]:
        """The tables by which texts are replaced."""
        return {name: table for name, table in self.tables.items() if isinstance(table, dict)}

    @property
    def staying(self) -> tuple[str, ...]:
        """What stays, although a table would replace a part of it."""
        staying = self.tables.get(_KEPT, [])
        return tuple(staying) if isinstance(staying, list) else ()

    @property
    def by_name(self) -> dict[str, ProbeForm]:
        """The probes by their names."""
        return {probe.name: probe for probe in self.probes}

    def applied(
        self,
        text: str,
        probe: ProbeForm,
        version: Version,
        item: str,
        family: str = "",
        form: SlotForm | None = None,
    ) -> str:
        """A text under an edit of a probe; under no edit as it is.

        Args:
            text: what is edited.
            probe: of this file.
            version: which of the three edits.
            item: the item that the text is of.
            family: the name that signatures give; empty leaves its place open.
            form: how the text is shown and chosen; ``None`` leaves these places open.
        """
        edit = getattr(probe.variant_of(item), version)
        if edit is None:
            return text
        if edit.replace is not None:
            return replaced(text, self.replacing[edit.replace], self.staying)
        if edit.layout is not None:
            return laid_out(text, edit.heading or "", marks=edit.layout != "line-breaks")
        if edit.pad is not None:
            return f"{text}\n\n{' '.join(padding(text, edit.pad, probe.share or 0))}"
        values = {} if form is None else dict(form.filled(names=version != PLACEBO))
        if family:
            values["family"] = _signed(family, probe, version)
        added = PLACEHOLDER.sub(lambda left: values.get(left[1], left[0]), edit.texts[0])
        return f"{text}\n\n{added}" if edit.append is not None else f"{added}\n\n{text}"


def _signed(family: str, probe: ProbeForm, version: Version) -> str:
    """The name of a signature: in a placebo the one that is as long, or nearest to it."""
    if version != PLACEBO or not probe.stand_ins:
        return family
    return min(probe.stand_ins, key=lambda other: abs(len(other) - len(family)))


def _edits(variant: VariantForm) -> Iterator[tuple[Version, EditForm]]:
    for version in VERSIONS:
        if (edit := getattr(variant, version)) is not None:
            yield version, edit


BOOK: Final = Path(__file__).with_name("edits.toml")


def read_book(path: Path) -> tuple[BookForm, str]:
    """The edits of a file, and its text.

    Raises:
        SuiteError: it cannot be read, or is not of the form.
    """
    with SuiteError.instead_of(
        (OSError, ValueError),
        f"the file of edits {path} cannot be read",
        expected="a TOML file in UTF-8",
        remedy="fix the file at that place, or [stimuli] edits",
    ):
        text = read_text(path)
        table = toml_value(text)
    try:
        return BookForm.model_validate(table), text
    except ValidationError as error:
        raise not_of_the_form(f"the file of edits {path}", error, BookForm) from error


@cache
def own_book() -> tuple[BookForm, str]:
    """The edits that come with the package."""
    return read_book(BOOK)


# --- changes --------------------------------------------------------------------------------------


def sentences(text: str) -> list[str]:
    """The sentences of a text, in order."""
    return [part for part in _SENTENCE_END.split(text.strip()) if part.strip()]


def padding(text: str, listed: list[str], share: float) -> list[str]:
    """As many of the sentences, from the first, as come nearest to ``share`` more words."""
    wanted = share * len(text.split())
    sizes = [*accumulate(len(sentence.split()) for sentence in listed)]
    nearest = min(range(len(sizes)), key=lambda place: abs(sizes[place] - wanted))
    return listed[: nearest + 1]


def laid_out(text: str, heading: str, *, marks: bool) -> str:
    """The heading and a line for each sentence; with ``marks`` of Markdown, or without any."""
    if not marks:
        return "\n".join((f"{heading}\n", *sentences(text)))
    return "\n".join((f"## {heading}\n", *(f"- {_bold(line)}" for line in sentences(text))))


def _bold(sentence: str) -> str:
    """The sentence with its longest word, of several the first, in bold."""
    words = [*_WORD.finditer(sentence)]
    if not words:
        return sentence
    longest = max(words, key=lambda word: len(word[0]))
    return f"{sentence[: longest.start()]}**{longest[0]}**{sentence[longest.end() :]}"


def replaced(text: str, table: Mapping[str, str], staying: tuple[str, ...]) -> str:
    """The text with the hedges of a table replaced; those in ``kept`` stay.

    The commas that set off a removed hedge go with it, and a sentence still has its capital.
    """
    instead_of = {_spelt(hedge): instead for hedge, instead in table.items()}
    stay = {*map(_spelt, staying)}
    done, rest = "", text
    while (match := _hedges((*table, *staying)).search(rest)) is not None:
        hedge, before, after = _spelt(match[0]), rest[: match.start()], rest[match.end() :]
        instead = match[0] if hedge in stay else instead_of[hedge]
        begins = _begins_sentence(done + before)
        if not instead:
            before, after = _closed_up(before, after, begins=begins)
            done, rest = done + before, after
            if begins:
                done, rest = done + rest[:1].upper(), rest[1:]
            continue
        done += before + (instead[0].upper() + instead[1:] if begins else instead)
        rest = after
    return done + rest


def _spelt(hedge: str) -> str:
    """A hedge whether a sentence begins with it or not."""
    return hedge[:1].lower() + hedge[1:]


def _closed_up(before: str, after: str, *, begins: bool) -> tuple[str, str]:
    """What stood before and after a hedge that is removed, without the commas of the hedge."""
    set_off = before.rstrip().endswith(",") and (not after or after[0] in _ENDS)
    if after.startswith(",") and (begins or set_off):
        after = after[1:]
    if set_off:
        before = before.rstrip()[:-1]
    if begins or before.endswith((" ", "\n")):
        after = after.lstrip(" ")
    return before if after[:1].isalnum() or begins else before.rstrip(" "), after


def _begins_sentence(before: str) -> bool:
    """Whether a sentence begins after this text."""
    shown = before.rstrip()
    return not shown or shown[-1] in ".!?" or before.endswith("\n")


@cache
def _hedges(named: tuple[str, ...]) -> re.Pattern[str]:
    """Whole words that are named; of those that begin at a place the longest."""
    listed = sorted({*named}, key=len, reverse=True)
    either = "|".join(f"(?i:{re.escape(name[0])}){re.escape(name[1:])}" for name in listed)
    return re.compile(rf"\b(?:{either})\b")
