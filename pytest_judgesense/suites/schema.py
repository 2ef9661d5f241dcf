"""The form of a ``*.suite.toml`` file and of the JSON Lines beside it, as pydantic models.

Unknown keys are errors: a misspelt key that is silently ignored would change a measurement.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationInfo,
    model_validator,
)

__all__ = [
    "SPEECHES",
    "ContentItem",
    "DebateLine",
    "EquivalenceForm",
    "GradedItem",
    "LadderTask",
    "PairItem",
    "PresetForm",
    "QuarterTask",
    "SuiteForm",
    "TemplateForm",
]

Slug = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=80)]
Orders = Literal["both", "ab", "balanced"]
Pairs = Literal["ring", "all"] | list[tuple[Slug, Slug]]
Kind = Literal["paraphrase", "vacuum", "ladder", "criterion", "debate", "temperature"]
JudgeType = Literal["pairwise", "single", "reference"]
Temperatures = list[Annotated[float, Field(ge=0, allow_inf_nan=False)]]


def _known_kind(value: str, info: ValidationInfo) -> str:
    known = (*get_args(Kind), *sorted(info.context or ()))
    if value not in known:
        msg = f"there is no kind {value!r}, but: {', '.join(known)}; -p loads plugins with more"
        raise ValueError(msg)
    return value


# Those above, and those that plugins add, which the context of a validation names.
AnyKind = Annotated[str, AfterValidator(_known_kind)]
Difficulty = Literal["easy", "medium", "hard"]
# The speeches of a debate, in their order.
SPEECHES: Final = tuple(
    f"{side}_{speech}"
    for speech in ("constructive", "rebuttal", "summary")
    for side in ("pro", "con")
)


class _Form(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class SpaceForm(_Form):
    """``[space]``: what a judge may answer."""

    labels: list[str] = Field(min_length=2)
    ordinal: bool = False
    pairwise: bool = False
    tie: bool = False
    abstain: bool = False
    names: dict[str, list[str]] = {}
    cut: str | None = None

    @model_validator(mode="after")
    def _slots(self) -> SpaceForm:
        if self.pairwise and self.labels != ["A", "B"]:
            msg = 'a pairwise space has labels = ["A", "B"]; use names for what the prompt says'
            raise ValueError(msg)
        if self.ordinal and not all(label.lstrip("-").isdigit() for label in self.labels):
            msg = "an ordinal space has whole numbers as labels"
            raise ValueError(msg)
        if len(set(self.labels)) != len(self.labels):
            msg = "every label stands once"
            raise ValueError(msg)
        if self.cut is not None and not (self.ordinal and self.cut in self.labels[1:]):
            msg = "cut names a label of an ordinal space, other than the first"
            raise ValueError(msg)
        return self


class TemplateForm(_Form):
    """``[[templates]]``: one wording of the prompt."""

    id: Slug
    text: str = Field(min_length=1)
    polarity: Literal["normal", "inverted"] = "normal"
    arm: Literal["baseline", "strict"] | None = None
    judge_type: JudgeType | None = None
    prompt_style: Slug | None = None
    default: bool = True
    shared_with: Slug | None = None


class StimuliForm(_Form):
    """``[stimuli]``: the JSON Lines file with the items, and which of them are used."""

    file: str
    steps: Literal["whole", "quarter"] = "whole"
    distances: list[int | float] | None = None
    subsets: list[Literal["same", "different", "filler"]] | None = None


class WeightsForm(_Form):
    """``[design.weights]``: what the parts of a debate judge's instability weigh."""

    flip: float = Field(default=3.0, ge=0, allow_inf_nan=False)
    score_variance: float = Field(default=1.0, ge=0, allow_inf_nan=False)
    confidence_variance: float = Field(default=0.5, ge=0, allow_inf_nan=False)
    side_bias: float = Field(default=2.0, ge=0, allow_inf_nan=False)


class DesignForm(_Form):
    """``[design]``: how items, templates, orders and replicates are crossed.

    ``temperature`` and ``max_tokens`` are those that the design asks for, ``variance`` and
    ``weights`` how debates are counted; ``None``: not set. ``temperatures`` are those of a
    temperature suite, ``seeds`` the request seed of the first replicate (later ones count up),
    ``top_p`` what goes with them, ``effect_threshold`` from which temperature on it is high, and
    ``items`` how many items are used, from the first.
    """

    pairs: Pairs = "ring"
    orders: Orders = "both"
    replicates: int = Field(default=1, ge=1)
    temperature: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    max_tokens: int | None = Field(default=None, ge=1)
    variance: Literal["n", "n - 1"] | None = None
    weights: WeightsForm | None = None
    effect_threshold: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    temperatures: Temperatures | None = Field(default=None, min_length=1)
    seeds: int | None = Field(default=None, ge=0)
    top_p: float | None = Field(default=None, gt=0, le=1)
    items: int | None = Field(default=None, ge=1)


class PresetForm(_Form):
    """``[presets.NAME]``: what differs from the design; ``items`` counts items, or ladder tasks.

    ``pooled_with`` names the file of a ladder whose pairs of different quality join those of this
    suite: the very trials of that ladder, recorded with it. ``checks`` replace those of the suite:
    fewer items cannot clear the same bars with confidence.
    """

    items: int | None = Field(default=None, ge=1)
    pairs: Pairs | None = None
    orders: Orders | None = None
    replicates: int | None = Field(default=None, ge=1)
    temperatures: Temperatures | None = Field(default=None, min_length=1)
    templates: Literal["all"] | list[Slug] | None = None
    pooled_with: str | None = None
    checks: dict[str, Any] | None = None


class EquivalenceForm(_Form):
    """``[[equivalence]]``: what reviewers say of a template pair: do both ask the same?

    Templates of inverted polarity are read with their labels exchanged, as they are measured.
    """

    pair: tuple[Slug, Slug]
    reviews: dict[Slug, Literal["YES", "NO", "UNSURE"]] = Field(min_length=1)


class SuiteForm(_Form):
    """A whole ``*.suite.toml``."""

    schema_: Literal["judgesense/suite/1"] = Field(alias="schema")
    name: Slug
    kind: AnyKind
    description: str = ""
    judges: list[str] = []
    system: str = ""
    space: SpaceForm
    stimuli: StimuliForm
    design: DesignForm = DesignForm()
    templates: list[TemplateForm] = Field(min_length=1)
    equivalence: list[EquivalenceForm] = []
    presets: dict[Slug, PresetForm] = {}
    checks: dict[str, Any] = {}

    @model_validator(mode="after")
    def _consistent(self) -> SuiteForm:
        ids = [template.id for template in self.templates]
        if len(set(ids)) != len(ids):
            msg = f"every template id stands once, found {ids}"
            raise ValueError(msg)
        arms = {template.arm for template in self.templates}
        if self.kind == "criterion" and arms != {"baseline", "strict"}:
            msg = 'a criterion suite has templates with arm = "baseline" and arm = "strict"'
            raise ValueError(msg)
        self._verify_temperatures()
        if self.kind == "debate":
            if self.space.pairwise or self.space.labels != ["PRO", "CON"]:
                msg = 'a debate suite has [space] labels = ["PRO", "CON"], not pairwise'
                raise ValueError(msg)
        elif self.kind in get_args(Kind) and self.kind != "paraphrase" and not self.space.pairwise:
            msg = f"a {self.kind} suite compares two candidates: [space] pairwise = true"
            raise ValueError(msg)
        reviewed = [frozenset(entry.pair) for entry in self.equivalence]
        for entry, pair in zip(self.equivalence, reviewed, strict=True):
            if len(pair) < 2 or not pair <= set(ids) or reviewed.count(pair) > 1:
                msg = f"equivalence names two templates of the suite, each pair once: {entry.pair}"
                raise ValueError(msg)
        return self

    def _verify_temperatures(self) -> None:
        """What a temperature suite has, and no other suite."""
        given = [t for t in self.templates if t.judge_type or t.prompt_style]
        chosen = [self.design.temperatures, *(p.temperatures for p in self.presets.values())]
        if self.kind != "temperature":
            if given or any(chosen) or self.design.effect_threshold:
                msg = "judge_type, prompt_style, temperatures and effect_threshold belong to a "
                msg += "temperature suite"
                raise ValueError(msg)
            return
        if not self.space.tie or self.space.abstain:
            msg = "a temperature suite permits a tie and no abstention: [space] tie = true"
            raise ValueError(msg)
        if not self.design.temperatures or self.design.temperature is not None:
            msg = "a temperature suite has [design] temperatures = [...], and no temperature"
            raise ValueError(msg)
        if any(len(set(grid)) < len(grid) for grid in chosen if grid):
            msg = "every temperature stands once"
            raise ValueError(msg)
        prompts = [(t.judge_type, t.prompt_style) for t in self.templates]
        if len(set(prompts)) < len(prompts) or not all(a and b for a, b in prompts):
            msg = "each template has a judge_type and a prompt_style, both together once"
            raise ValueError(msg)


class ContentItem(BaseModel):
    """A line with one content: its fields are what the templates name, all of them text.

    ``inverted`` names templates whose labels mean the opposite on this line, for lines that bring
    their own prompts.
    """

    model_config = ConfigDict(extra="allow", frozen=True)
    __pydantic_extra__: dict[str, str] = Field(init=False)

    id: Slug
    label: str | None = None
    difficulty: Difficulty | None = None
    cluster: str | None = None
    inverted: list[Slug] = []


class PairItem(_Form):
    """A line with two candidates; ``label`` names the better one, ``1`` or ``2``.

    ``fields`` are further texts that templates may name.
    """

    id: Slug
    task: str
    fields: dict[str, str] = {}
    texts: tuple[str, str]
    label: Literal["1", "2", "tie"] | None = None
    difficulty: Difficulty | None = None
    category: str | None = None
    cluster: str | None = None


class GradedItem(PairItem):
    """A line of a temperature suite: a pair, an answer known to be right, and whose the label is.

    ``gold`` is ``human``; ``author`` where the label is what the pair was written for; or
    ``judge:NAME`` where a reference judge has given it.
    ``elements`` are what a full answer states: the judge reads them below the task.
    """

    reference: str | None = None
    gold: Annotated[str, StringConstraints(pattern=r"^(human|author|judge:.+)$")] = "human"
    elements: list[str] = []


class _Speech(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)

    side: Literal["PRO", "CON"]
    speech_type: str
    content: str = Field(min_length=1)


class DebateLine(BaseModel):
    """A line with one debate, as JudgeBench writes it; further keys are ignored.

    ``pair_id`` links the two debates of a topic with exchanged sides: an id that both share, or
    the id of the other one.
    """

    model_config = ConfigDict(extra="ignore", frozen=True)

    id: Slug
    resolution: str = Field(min_length=1)
    category: str | None = None
    pro_model: str
    con_model: str
    temperature: float | None = None
    prompt_style: str | None = None
    status: Literal["completed"] = "completed"
    speeches: list[_Speech]
    pair_id: str | None = None
    model_assignment: str | None = None
    created_at: str | float | None = None

    @model_validator(mode="after")
    def _whole(self) -> DebateLine:
        found = [(speech.side, speech.speech_type) for speech in self.speeches]
        if found != [(name[:3].upper(), name) for name in SPEECHES]:
            msg = "a debate has six speeches, in the order " + ", ".join(SPEECHES)
            raise ValueError(msg)
        return self


class _Alternative(_Form):
    elements: list[int]
    text: str


class _Filler(_Form):
    level: int = Field(ge=0, le=5)
    text: str


class LadderTask(_Form):
    """A line of a ladder: one task, its five required elements and the texts that cover them.

    ``levels[q]`` and ``rewordings[q]`` cover the first ``q`` elements; ``alternatives`` cover
    other sets; ``fillers`` cover the first ``level`` elements and pad with empty phrases.
    """

    id: Slug
    task: str
    elements: list[str] = Field(min_length=5, max_length=5)
    levels: list[str] = Field(min_length=6, max_length=6)
    rewordings: list[str] = Field(min_length=6, max_length=6)
    alternatives: list[_Alternative]
    fillers: list[_Filler]


class QuarterTask(_Form):
    """A line of a ladder in quarter steps: a task of which one required element has four parts.

    ``quarters[k]`` states the first ``k`` parts of the element that ``parted`` names (by its
    number, from 1) and is the same in everything else, so that k of its quarters are covered.
    """

    id: Slug
    task: str
    elements: list[str] = Field(min_length=1)
    parted: int = Field(ge=1)
    parts: list[str] = Field(min_length=4, max_length=4)
    quarters: list[str] = Field(min_length=5, max_length=5)

    @model_validator(mode="after")
    def _listed(self) -> QuarterTask:
        if self.parted > len(self.elements):
            msg = f"parted is the number of an element, 1 to {len(self.elements)}"
            raise ValueError(msg)
        return self
