"""What leaving out each part of a prompt does, from replies to the whole of it and without it.

An item, in one presentation order, is asked several times with the whole prompt and once, for each
replicate of the design, without each part. `stats.left_out` has the tests: ::

    sentence_effect(s)   max(0, share of pairs (without s, whole) that differ - own noise)
    own_noise            share of pairs of replies to the whole prompt that differ
    mutation_score       share of the sentences with an adjusted p-value of at most .05

A reply without a verdict is a category of its own, so it is not missing; a failed call is.

The sentences are those of the prompt and no sample of any others: the interval of the mutation
score is not one of sampling. Its lower end is what Holm's adjustment gives at the level: with that
confidence no sentence is counted that does nothing. What is not noticed may still matter on other
items, so the upper end is 1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pytest_judgesense.estimate import Estimate, Missing
from pytest_judgesense.instruments.ablation.measures import (
    MUTATION_SCORE,
    OWN_NOISE,
    SENTENCE_EFFECT,
)
from pytest_judgesense.instruments.ablation.stimuli import SENTENCE, WHOLE
from pytest_judgesense.measures.cell import (
    FAILED,
    UNPARSED,
    Cell,
    Units,
    estimated,
    once_a_cell,
    rate,
    unavailable,
)
from pytest_judgesense.measures.definition import Measure
from pytest_judgesense.stats.clustered import at_level
from pytest_judgesense.stats.dirichlet import PROPORTION_METHOD
from pytest_judgesense.stats.inputs import LEVEL, joint_codes
from pytest_judgesense.stats.left_out import (
    NO_REPLY,
    NO_VERDICT,
    PartLeftOut,
    parts_left_out,
    share_noticed,
)
from pytest_judgesense.trial import Failed, Judgment

_UNASKED = "the judgments hold no two replies to an item under the template `whole`"
NOTHING = "no sentence is noticed: no other prompt was told apart from the whole one"


class LeftOut(NamedTuple):
    """What leaving out the parts of a prompt does.

    Attributes:
        parts: by the id of the template without it; ``None`` for one that cannot be tested.
        items: how many were asked; ``times``: how often each under the whole prompt.
        clusters: of the items.
    """

    parts: dict[str, PartLeftOut | None]
    items: int
    times: int
    clusters: int


@once_a_cell
def left_out(cell: Cell) -> LeftOut | None:
    """The tests of the parts of the prompt; ``None`` where the whole of it is not asked twice."""
    templates, names = cell.coded("template")
    if WHOLE not in names:
        return None
    questions = joint_codes(cell.items, cell.coded("order")[0])
    whole = _replies(cell, questions, templates == names.index(WHOLE))
    if whole.shape[1] < 2:
        return None
    clusters = np.zeros(len(whole), dtype=np.intp)
    clusters[questions] = cell.cluster_codes[0]
    ids = [name for name in cell.templates if name != WHOLE]
    without = [_replies(cell, questions, templates == names.index(name)) for name in ids]
    parts = parts_left_out(whole, without, clusters)
    of_item = dict(zip(ids, parts, strict=True))
    items, in_clusters = (len({*codes.tolist()}) for codes in (cell.items, clusters))
    return LeftOut(of_item, items, whole.shape[1], in_clusters)


def _replies(
    cell: Cell, questions: NDArray[np.intp], chosen: NDArray[np.bool_]
) -> NDArray[np.intp]:
    """The codes of the chosen replies: a row an item and order, a column a replicate."""
    replicates = cell.coded("replicate", lambda judgment: str(judgment.trial.replicate))[0]
    places = np.flatnonzero(chosen)
    columns = joint_codes(replicates[places]) if places.size else places
    table = np.full(
        (int(questions.max()) + 1, int(columns.max(initial=-1)) + 1), NO_REPLY, dtype=np.intp
    )
    codes = cell.coded("verdict")[0].astype(np.intp) + 1
    codes[cell.outcomes == UNPARSED] = NO_VERDICT
    codes[cell.outcomes == FAILED] = NO_REPLY
    table[questions[places], columns] = codes[places]
    return table


def estimates(cell: Cell) -> Iterator[Estimate]:
    """The mutation score, the effect of each sentence, and the judge's own noise."""
    found = left_out(cell)
    if found is None:
        for measure in (MUTATION_SCORE, OWN_NOISE):
            yield unavailable(measure, cell, _UNASKED)
        return
    yield _score(cell, found)
    for name in found.parts:
        yield _effect(cell, found, name)
    whole = _under(cell, WHOLE)
    replies = whole.judged(whole.alike("order"))
    units = Units.collect(replies, _differing, usable=_replied)
    yield rate(OWN_NOISE, whole, units)


def of_whole(measure: Measure) -> Measure:
    """The same measure of the replies to the whole prompt alone, with the evidence among them."""
    evidence = measure.evidence
    find = None if evidence is None or evidence.find is None else partial(_in_whole, evidence.find)
    return measure.taken_by(partial(_in_whole, measure.estimator), find)


def _in_whole(look: Callable[..., Any], cell: Cell, *condition: Any) -> Any:
    return look(_under(cell, WHOLE), *condition)


def _under(cell: Cell, template: str) -> Cell:
    """The judgments under one template."""
    return cell.of(judgment for judgment in cell.judgments if judgment.trial.template == template)


def _replied(judgment: Judgment) -> bool:
    return not isinstance(judgment.outcome, Failed)


def _differing(*replies: Judgment) -> float:
    """The share of pairs of replies that differ; one reply differs from none."""
    n, alike = len(replies), Counter(reply.verdict for reply in replies)
    return 1 - sum(m * (m - 1) for m in alike.values()) / (n * (n - 1)) if n > 1 else 0.0


def _score(cell: Cell, found: LeftOut) -> Estimate:
    if not found.parts:
        return unavailable(MUTATION_SCORE, cell, "no sentence was left out")
    parts = list(found.parts.values())

    def ends(level: float) -> tuple[float, float]:
        return share_noticed(parts, 1 - level), 1.0

    failed = int((cell.outcomes == FAILED).sum())
    score = share_noticed(parts)
    return estimated(
        MUTATION_SCORE,
        cell,
        value=score,
        count=round(score * len(parts)),
        n=len(parts),
        clustered=at_level("holm", ends, found.clusters, LEVEL),
        missing=Missing(failed=failed, share=failed / len(cell.judgments)),
        flags=() if score else (NOTHING,),
    )


def _effect(cell: Cell, found: LeftOut, name: str) -> Estimate:
    condition, part = {SENTENCE: name}, found.parts[name]
    if part is None:
        reason = "no item has replies with and without it"
        return unavailable(SENTENCE_EFFECT, cell, reason, condition)
    of_part = _under(cell, name)
    failed = int((of_part.outcomes == FAILED).sum())
    return estimated(
        SENTENCE_EFFECT,
        cell,
        condition,
        value=part.effect,
        n=part.items,
        clustered=None
        if part.bounds is None
        else at_level(PROPORTION_METHOD, part.bounds, found.clusters, LEVEL),
        missing=Missing(failed=failed, share=failed / max(1, len(of_part.judgments))),
    )
