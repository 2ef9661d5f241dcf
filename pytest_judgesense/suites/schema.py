"""The format of a ``*.suite.toml`` file and of its JSON Lines, as pydantic models.

Unknown keys are errors: a misspelt key that is silently ignored would change a measurement.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, Protocol, TypeAlias

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    Strict,
    StringConstraints,
    ValidationInfo,
    WithJsonSchema,
    field_validator,
    model_validator,
)

from pytest_judgesense.errors import listed
from pytest_judgesense.suites.space import position
from pytest_judgesense.trial import MOST_WEIGHT, Criterion, Drawn, ScoreRange, is_number

# A bool is no number: `true` would be 1, and `false`, which a judge's table has for "none", 0.
Number = Annotated[float, Strict()]
Whole = Annotated[int, Strict()]
Slug = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=80)]
Orders = Literal["both", "ab", "balanced"]
Pairs = Literal["ring", "all"] | list[tuple[Slug, Slug]]
JudgeType = Literal["pairwise", "single", "reference"]
Temperatures = list[Annotated[Number, Field(ge=0, allow_inf_nan=False)]]
Difficulty = Literal["easy", "medium", "hard"]
# A shorter record has no middle; a longer one than any model reads is a slip of the pen.
Lengths = list[Annotated[Whole, Field(ge=100, le=10_000_000)]]
# A text of an item; in a file a list of chat messages where `[stimuli] messages` names the field.
ItemText = Annotated[
    str,
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "object"}}]}),
]
PEOPLE: Final = "people"
STRATUM: Final = "stratum"


def is_of_people(field: str) -> bool:
    """Whether a field of a line holds labels of people: ``people``, ``people.CRITERION``."""
    return field == PEOPLE or field.startswith(f"{PEOPLE}.")


class FormRules(Protocol):
    """What a suite file's form asks of the kind that it names."""

    @property
    def name(self) -> str:
        """The name of the kind."""

    @property
    def sweeps(self) -> bool:
        """Whether items may be asked at several temperatures."""

    @property
    def scored(self) -> bool:
        """Whether verdicts are numbers within a range."""

    @property
    def keys(self) -> tuple[str, ...]:
        """Keys that suites of this kind have, and not those of every kind."""

    def check(self, form: SuiteForm) -> None:
        """Nothing, if the parts of the file belong together; else a `ValueError`."""


def _known_kind(value: str, info: ValidationInfo) -> str:
    # The kinds that there are are the context of the validation.
    if value not in (kinds := info.context or {}):
        raise ValueError(f"there is no kind {value!r}, but: {', '.join(kinds)}")
    return value


class Form(BaseModel):
    """A table of a suite file, or a line of its stimuli; unknown keys are errors."""

    # Most forms are parts of others, and need no separate validator.
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


class ScoreForm(Form):
    """``score`` of ``[space]``: the lowest and the highest number that a judge may answer."""

    low: Annotated[Number, Field(allow_inf_nan=False, ge=-1e9, le=1e9)]
    high: Annotated[Number, Field(allow_inf_nan=False, ge=-1e9, le=1e9)]

    @model_validator(mode="after")
    def _in_order(self) -> ScoreForm:
        if not self.low < self.high:
            raise ValueError(f"low is below high, not {self.low:g} and {self.high:g}")
        return self


class SpaceForm(Form):
    """``[space]``: what a judge may answer.

    With ``criteria`` one reply gives a grade for each; ``labels`` are then the scale, from the
    lowest grade to the highest, of those that have none in ``scales``. ``weights`` are those of the
    overall score, 1 unless they are given; ``pass_mark`` is where it passes: a grade of the longest
    scale (a number above 1, or a text), or a share of the way up (above 0, to 1).

    With ``score`` the answer is a number of a range, and no label; ``pass_mark`` is then a number
    above the lowest from which it passes.
    """

    labels: list[str] = Field(default=[], min_length=2)
    score: ScoreForm | None = None
    ordinal: bool = False
    pairwise: bool = False
    tie: bool = False
    abstain: bool = False
    names: dict[str, list[str]] = {}
    cut: str | None = None
    criteria: list[Slug] | None = Field(default=None, min_length=1)
    scales: dict[Slug, Annotated[list[str], Field(min_length=2)]] | None = None
    weights: dict[Slug, Annotated[Number, Field(gt=0, allow_inf_nan=False)]] | None = None
    pass_mark: Number | str | None = None

    @model_validator(mode="after")
    def _slots(self) -> SpaceForm:
        if self.score is not None:
            return self._of_scores(self.score)
        if not self.labels:
            raise ValueError("labels are missing, or the range of a score: { low = 0, high = 1 }")
        if self.pairwise and self.labels != ["A", "B"]:
            raise ValueError(
                'a pairwise space has labels = ["A", "B"]; use names for what the prompt says'
            )
        if self.ordinal and not all(map(is_number, self.labels)):
            raise ValueError("an ordinal space has whole numbers of at most 18 digits as labels")
        if len(set(self.labels)) != len(self.labels):
            raise ValueError("labels must be unique")
        if self.cut is not None and not (self.ordinal and self.cut in self.labels[1:]):
            raise ValueError("cut names a label of an ordinal space, other than the first")
        criteria = self.criteria or []
        if len(set(criteria)) != len(criteria):
            raise ValueError("criteria must be unique")
        for table in (self.scales, self.weights):
            if unknown := sorted(set(table or ()) - set(criteria)):
                raise ValueError(f"scales and weights are those of criteria, not of {unknown[0]}")
        for name, scale in (self.scales or {}).items():
            if len({label.casefold() for label in scale}) != len(scale):
                raise ValueError(f"grades of {name} must be unique")
        if self.pass_mark is not None and not 0 < (self.mark or 0) <= 1:
            raise ValueError(
                f"pass_mark is a grade above the lowest: {listed(self._longest[1:])} (in quotes "
                "where it is 1); or a share of the way up the scale, above 0 and up to 1"
            )
        return self

    def _of_scores(self, score: ScoreForm) -> SpaceForm:
        """A `ValueError` for what only labels have, and for a mark outside the range."""
        if beside := sorted(self.model_fields_set - {"score", "pass_mark"}):
            raise ValueError(f"a score has low and high, and no {beside[0]}")
        mark = self.pass_mark
        if mark is not None and not (isinstance(mark, float) and score.low < mark <= score.high):
            raise ValueError(
                f"pass_mark is a number above {score.low:g}, up to {score.high:g}, not {mark!r}"
            )
        return self

    @property
    def range(self) -> ScoreRange | None:
        """The numbers that a score may be; ``None`` for labels."""
        return None if self.score is None else ScoreRange(self.score.low, self.score.high)

    @property
    def answers(self) -> tuple[str, ...]:
        """The labels, or both ends of a score."""
        return (*self.labels,) if self.range is None else self.range.ends

    @property
    def _longest(self) -> tuple[str, ...]:
        return max(
            (criterion.labels for criterion in self.graded), key=len, default=(*self.labels,)
        )

    @property
    def mark(self) -> float | None:
        """The pass mark as a share of the way up the longest scale, or the range."""
        stated = self.pass_mark
        if self.range is not None and isinstance(stated, float):
            return self.range.share(stated)
        if stated is None or (not isinstance(stated, str) and stated <= 1):
            return stated
        grade = stated if isinstance(stated, str) else f"{stated:.12g}"
        return position(grade, self._longest) / (len(self._longest) - 1)

    @property
    def graded(self) -> tuple[Criterion, ...]:
        """The criteria, each with its scale and its weight."""
        scales, weights = self.scales or {}, self.weights or {}
        return tuple(
            Criterion(name, tuple(scales.get(name, self.labels)), weights.get(name, 1.0))
            for name in self.criteria or ()
        )


class TemplateForm(Form):
    """``[[templates]]``: one wording of the prompt.

    ``system`` is the system prompt under this template, in place of that of the suite.
    ``reply_keys`` are the keys of the one JSON object that a reply is to be, without any other
    text; the last one holds the verdict.
    """

    id: Slug
    text: str = Field(min_length=1)
    polarity: Literal["normal", "inverted"] = "normal"
    arm: Literal["baseline", "strict"] | None = None
    judge_type: JudgeType | None = None
    prompt_style: Slug | None = None
    system: str | None = None
    reply_keys: list[str] | None = Field(default=None, min_length=1)
    default: bool = True
    shared_with: Slug | None = None

    @property
    def condition(self) -> dict[str, str]:
        """What it gives to the condition of its trials, where suites compare templates by it.

        ``judge_type``: ``pairwise`` shows both candidates, ``reference`` a right answer as well,
        ``single`` one candidate a call, to be graded. ``prompt_style``: ``direct`` (a verdict
        alone), ``reasoned`` (a reason first), or another name. ``arm``: that of a criterion.
        """
        compared = {"judge_type": self.judge_type, "prompt_style": self.prompt_style}
        values = {**compared, "arm": self.arm}
        return {name: value for name, value in values.items() if value is not None}

    @property
    def single(self) -> bool:
        """Whether a call shows one candidate."""
        return self.judge_type == "single"


# Keys of `[stimuli]`, `[design]` and presets that only some kinds have: see `Kind.keys`.
OF_SOME_KINDS: Final = frozenset(
    (
        *("steps", "distances", "subsets"),
        *("probes", "edits", "edited", "favourable", "family"),
        *("lengths", "padding"),
        "controls",
        "calls",
    )
)


class StimuliForm(Form):
    """``[stimuli]``: the file with the items (a table of any kind, or a pattern of several files).

    ``columns`` names the column, or key, of each field that is called otherwise in the file, and
    under ``people`` (or ``people.CRITERION``, for grades) one of each person who labelled items;
    ``values`` the label that a value of the label's column means. ``labelled`` says how the items
    that people labelled were drawn from all: at random, at random within each ``stratum`` of the
    lines (which weighs by its number of lines), or chosen. ``accepted`` names rules of lint whose
    warnings about the texts have been looked at: they are not shown. ``from`` names the suite file
    whose items, with their columns, and whose space, system prompt, settings and first template
    are taken, where the file has none of its own. ``groups`` are the fields of items by which every
    gated measure is compared, such as the language or the author of what is judged; ``language`` is
    one where items have it, unless the list is empty.

    Of a suite of probes: ``probes`` names those that are made, ``edits`` the file of texts of one's
    own, ``edited`` the field that holds the output, where one text is judged and several fields are
    shown, ``favourable`` the label that is good to get, and ``family`` the name of the judge's
    model that signatures give.

    Of a suite of long records: ``lengths`` are those to which each record is padded, in tokens of
    four characters, and ``padding`` is the file of texts of one's own that do it.

    ``messages`` names the fields that hold conversations: each a list of chat messages, with tool
    calls and what tools returned, which becomes one text; see `files.conversation`.

    Of a suite that is measured against labels: ``controls`` is a file of vague and specific wrong
    answers in the form of ``file``.
    """

    file: str
    source: str | None = Field(default=None, alias="from")
    columns: dict[str, str | list[str]] | None = None
    values: dict[str, str] | None = None
    labelled: Drawn | None = None
    steps: Literal["whole", "quarter"] = "whole"
    distances: list[Whole | Number] | None = None
    subsets: list[Literal["same", "different", "filler"]] | None = None
    accepted: list[Literal["marks", "identical-sides", "label-visible"]] = []
    probes: list[Slug] | None = Field(default=None, min_length=1)
    edits: str | None = None
    edited: str | None = None
    favourable: str | None = None
    family: str | None = Field(default=None, min_length=1)
    lengths: Lengths | None = Field(default=None, min_length=1)
    padding: str | None = None
    messages: list[str] | None = Field(default=None, min_length=1)
    groups: list[Annotated[str, Field(min_length=1)]] | None = None
    controls: str | None = None

    @field_validator("messages")
    @classmethod
    def _fields_of_texts(cls, fields: list[str] | None) -> list[str] | None:
        aside = {*ContentItem.model_fields, *PairItem.model_fields, PEOPLE, STRATUM} - {"task"}
        for field in fields or ():
            if field in aside or is_of_people(field):
                raise ValueError(
                    f"messages names fields of texts, such as conversation, and not {field}: "
                    "the candidates of a pair are a and b"
                )
        return fields

    @model_validator(mode="after")
    def _each_group_once(self) -> StimuliForm:
        if len(set(self.groups or ())) != len(self.groups or ()):
            raise ValueError(f"groups names every field once, not {listed(self.groups or ())}")
        return self

    @model_validator(mode="after")
    def _columns_of_people(self) -> StimuliForm:
        for field, named in (self.columns or {}).items():
            if isinstance(named, list) != is_of_people(field):
                expected = "a list, a column a person" if is_of_people(field) else "one column"
                raise ValueError(f"columns: {field} names {expected}")
        return self

    @property
    def renamed(self) -> dict[str, str]:
        """By field, the column that holds it, where it is called otherwise."""
        columns = (self.columns or {}).items()
        return {field: named for field, named in columns if isinstance(named, str)}

    @property
    def people(self) -> dict[str, list[str]]:
        """By field of labels of people, the columns of the persons."""
        columns = (self.columns or {}).items()
        return {field: named for field, named in columns if isinstance(named, list)}


# Heavier ones would make sums that no number can hold.
_Weight: TypeAlias = Annotated[Number, Field(ge=0, le=MOST_WEIGHT, allow_inf_nan=False)]


class WeightsForm(Form):
    """``[design.weights]``: what the parts of a judge's instability weigh."""

    flip: _Weight = 3.0
    score_variance: _Weight = 1.0
    confidence_variance: _Weight = 0.5
    side_bias: _Weight = 2.0

    @property
    def values(self) -> tuple[float, float, float, float]:
        return self.flip, self.score_variance, self.confidence_variance, self.side_bias


class DesignForm(Form):
    """``[design]``: how items, templates, orders and replicates are crossed.

    ``temperature`` and ``max_tokens`` are sent with the requests; ``variance`` and ``weights`` say
    how scores are counted; ``None``: not set. ``most_tokens`` is
    the budget of a reply of judges that declare neither reasoning nor a larger budget than the
    default. ``temperatures`` are those at which every question is
    asked, ``seeds`` is the request seed of the first replicate (later ones count up), ``top_p`` is
    sent with them, ``effect_threshold`` is the lowest temperature that counts as high, ``items`` is
    the number of lines of the stimuli that are used, from the first, and ``early_stop`` says
    whether calling ends as soon as all checks are decided. ``calls`` says whether a reply on a
    rubric gives a grade by every criterion, or ``each`` criterion has a call of its own.
    """

    pairs: Pairs = "ring"
    orders: Orders = "both"
    replicates: Whole = Field(default=1, ge=1)
    temperature: Number | None = Field(default=None, ge=0, allow_inf_nan=False)
    max_tokens: Whole | None = Field(default=None, ge=1)
    most_tokens: Whole | None = Field(default=None, ge=1)
    variance: Literal["n", "n - 1"] | None = None
    weights: WeightsForm | None = None
    effect_threshold: Number | None = Field(default=None, gt=0, allow_inf_nan=False)
    temperatures: Temperatures | None = Field(default=None, min_length=1)
    seeds: Whole | None = Field(default=None, ge=0)
    top_p: Number | None = Field(default=None, gt=0, le=1)
    items: Whole | None = Field(default=None, ge=1)
    early_stop: bool = False
    calls: Literal["joint", "each"] | None = None


class PresetForm(Form):
    """``[presets.NAME]``: differences from the design; ``items`` counts lines of the stimuli.

    ``of_each`` keeps this number of items of each cluster and condition (for example of each
    distance of a ladder's task), from the middle. ``pooled_with`` names the file of another suite
    whose labelled items join those of this one, as the same trials, recorded with that suite.
    ``system`` and ``temperature`` are sent in place of those of the suite; a preset with a
    ``system`` of its own has templates of its own, for a trial is asked in one way; the templates
    ``all`` of another preset are those without them.
    ``most_tokens`` is the budget of a reply of judges that declare neither reasoning nor a larger
    budget than the default. With ``structured`` judges that give structured output are asked for it
    unless they decline: a verdict by the JSON schema of the decision space. ``probes`` are made in
    place of those of the suite, records of these ``lengths``, and the items of a file of
    ``controls`` beside those of the suite. ``calls`` is as in the design.
    ``checks`` replace those of the suite: fewer items cannot clear the same bars with confidence.
    """

    items: Whole | None = Field(default=None, ge=1)
    of_each: Whole | None = Field(default=None, ge=1)
    pairs: Pairs | None = None
    orders: Orders | None = None
    replicates: Whole | None = Field(default=None, ge=1)
    temperatures: Temperatures | None = Field(default=None, min_length=1)
    templates: Literal["all"] | list[Slug] | None = None
    pooled_with: str | None = None
    system: str | None = None
    temperature: Number | None = Field(default=None, ge=0, allow_inf_nan=False)
    most_tokens: Whole | None = Field(default=None, ge=1)
    structured: Literal[True] | None = None
    probes: list[Slug] | None = Field(default=None, min_length=1)
    lengths: Lengths | None = Field(default=None, min_length=1)
    controls: str | None = None
    calls: Literal["joint", "each"] | None = None
    checks: dict[str, Any] | None = None


class EquivalenceForm(Form):
    """``[[equivalence]]``: whether reviewers think that both templates of a pair ask the same.

    Templates of inverted polarity are read with their labels exchanged, as they are measured.
    """

    pair: tuple[Slug, Slug]
    reviews: dict[Slug, Literal["YES", "NO", "UNSURE"]] = Field(min_length=1)


class LabelReviewForm(Form):
    """``[label_review]``: readers who labelled the items afresh, without seeing the labels.

    ``agreed`` counts for each reader the items, of ``items``, on which they give the suite's label;
    ``kappa`` is that of the first two readers with each other.
    """

    items: Whole = Field(ge=1)
    agreed: dict[Slug, Annotated[Whole, Field(ge=0)]] = Field(min_length=1)
    kappa: Number | None = Field(default=None, ge=-1, le=1)

    @model_validator(mode="after")
    def _within(self) -> LabelReviewForm:
        if max(self.agreed.values()) > self.items:
            raise ValueError("nobody agrees on more items than were read")
        return self


class SuiteForm(Form):
    """A whole ``*.suite.toml``.

    ``reviewers`` says what each reviewer of templates or labels is; a language model is a
    ``model``, whoever prompted it. ``was`` is the name of the suite that it takes the place of, by
    which its recordings stand at earlier revisions.
    """

    schema_: Literal["judgesense/suite/1"] = Field(alias="schema")
    name: Slug
    kind: Annotated[str, AfterValidator(_known_kind)]
    was: Slug | None = None
    description: str = ""
    judges: list[str] = []
    system: str = ""
    space: SpaceForm
    stimuli: StimuliForm
    design: DesignForm = DesignForm()
    templates: list[TemplateForm] = Field(min_length=1)
    equivalence: list[EquivalenceForm] = []
    reviewers: dict[Slug, Literal["human", "model", "author"]] = {}
    label_review: LabelReviewForm | None = None
    presets: dict[Slug, PresetForm] = {}
    checks: dict[str, Any] = {}

    @model_validator(mode="after")
    def _consistent(self, info: ValidationInfo) -> SuiteForm:
        ids = [template.id for template in self.templates]
        if len(set(ids)) != len(ids):
            raise ValueError(f"template ids must be unique, found {ids}")
        kinds: Mapping[str, FormRules] = info.context or {}
        typed = any(t.judge_type or t.prompt_style or t.reply_keys for t in self.templates)
        sweeps = typed or any(self.grids) or self.design.effect_threshold
        if sweeps and not kinds[self.kind].sweeps:
            named = " or ".join(kind.name for kind in kinds.values() if kind.sweeps)
            raise ValueError(
                "judge_type, prompt_style, reply_keys, temperatures and effect_threshold belong to "
                f"a {named or 'sweeping'} suite"
            )
        for template in self.templates:
            keys = template.reply_keys or []
            if len(set(keys)) != len(keys):
                raise ValueError(f"reply_keys of template {template.id} must be unique: {keys}")
        self._refuse_keys(kinds)
        self._refuse_answers(kinds)
        kinds[self.kind].check(self)
        reviewed = [frozenset(entry.pair) for entry in self.equivalence]
        for entry, pair in zip(self.equivalence, reviewed, strict=True):
            if len(pair) < 2 or not pair <= set(ids) or reviewed.count(pair) > 1:
                raise ValueError(
                    f"equivalence names two templates of the suite, each pair once: {entry.pair}"
                )
        readers = {reader for entry in self.equivalence for reader in entry.reviews}
        readers.update(self.label_review.agreed if self.label_review else ())
        if self.reviewers and (strangers := sorted(readers - set(self.reviewers))):
            raise ValueError(f"reviewers says what each of them is: {listed(strangers)} is missing")
        return self

    def _refuse_keys(self, kinds: Mapping[str, FormRules]) -> None:
        """A `ValueError` for a key that only suites of another kind have."""
        chosen = {key for preset in self.presets.values() for key in preset.model_fields_set}
        of_others = OF_SOME_KINDS.difference(kinds[self.kind].keys)
        chosen |= self.design.model_fields_set | self.stimuli.model_fields_set
        for key in sorted(of_others & chosen):
            if named := [kind.name for kind in kinds.values() if key in kind.keys]:
                raise ValueError(f"{key} belongs to suites of the kind {' or '.join(named)}")

    def _refuse_answers(self, kinds: Mapping[str, FormRules]) -> None:
        """A `ValueError` for a score where verdicts are labels, or the other way round."""
        if (self.space.score is not None) == kinds[self.kind].scored:
            return
        if kinds[self.kind].scored:
            raise ValueError(f"a {self.kind} suite has no labels: score = {{ low = 0, high = 1 }}")
        named = " or ".join(kind.name for kind in kinds.values() if kind.scored)
        raise ValueError(f"score of [space] belongs to suites of the kind {named}")

    @property
    def grids(self) -> tuple[Temperatures | None, ...]:
        """The temperatures of the design and of each preset."""
        return (self.design.temperatures, *(p.temperatures for p in self.presets.values()))


def two_candidates(form: SuiteForm) -> None:
    """Nothing, if the suite compares two candidates; else a `ValueError`."""
    if not form.space.pairwise:
        raise ValueError(f"a {form.kind} suite compares two candidates: [space] pairwise = true")


class ContentItem(BaseModel):
    """A line with one content: its fields are those that the templates name, all texts.

    ``inverted`` names templates whose labels mean the opposite on this line, for lines with their
    own prompts; ``asked_in`` the only templates that ask about this line, if not all do. Without an
    ``id`` it is called by the digest of its texts.
    """

    model_config = ConfigDict(extra="allow", frozen=True)
    __pydantic_extra__: dict[str, ItemText] = Field(init=False)

    id: Slug | None = None
    label: str | None = None
    difficulty: Difficulty | None = None
    cluster: str | None = None
    inverted: tuple[Slug, ...] = ()
    asked_in: tuple[Slug, ...] = ()


# As a type and not by its name, which pydantic before 2.13 looks up in the module of each subclass.
ContentItem.__annotations__["__pydantic_extra__"] = dict[str, ItemText]


class PairItem(Form):
    """A line with two candidates; ``label`` names the better one, ``1`` or ``2``.

    ``fields`` are further texts that templates may name; ``asked_in`` the only templates that ask
    about this line, if not all do. Without an ``id`` it is called by the digest of its texts.
    """

    id: Slug | None = None
    task: ItemText
    fields: dict[str, ItemText] = {}
    texts: tuple[ItemText, ItemText]
    label: Literal["1", "2", "tie"] | None = None
    difficulty: Difficulty | None = None
    category: str | None = None
    cluster: str | None = None
    asked_in: tuple[Slug, ...] = ()
