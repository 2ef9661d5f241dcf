"""What leaving out each part of a prompt does, from replies to the whole of it and without it.

An item, in one presentation order, is asked several times with the whole prompt and once, for each
replicate of the design, without each part. `stats.left_out` has the tests: ::

    sentence_effect(s)   max(0, share of pairs (without s, whole) that differ - own noise)
    own_noise            share of pairs of replies to the whole prompt that differ
    mutation_score       share of the sentences with an adjusted p-value of at most .05

A reply without a verdict is a category of its own, so it is not missing; a failed call is.

Sentences that are left out together are tested apart from these, and count in no score. The largest
such group is all that are not noticed; smaller ones are what the search asks for that looks for a
smallest group which does something.

The sentences are those of the prompt and no sample of any others: the interval of the mutation
score is not one of sampling. Its lower end is what Holm's adjustment gives at the level: with that
confidence no sentence is counted that does nothing. What is not noticed may still matter on other
items, so the upper end is 1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
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
from pytest_judgesense.instruments.ablation.stimuli import (
    SENTENCE,
    TOGETHER,
    WHOLE,
    LeftOutTogether,
)
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
    group_search,
    parts_left_out,
    share_noticed,
    verdicts_by_item,
)
from pytest_judgesense.trial import Failed, Judgment

_UNASKED = "the judgments hold no two replies to an item under the template `whole`"
NOTHING = "no sentence is noticed alone: no prompt without one was told apart from the whole one"


class LeftOut(NamedTuple):
    """What leaving out the parts of a prompt does.

    Attributes:
        parts: by the id of the template without it; ``None`` for one that cannot be tested.
        together: of the largest group that was left out together; ``None`` where none was.
        items: how many were asked; ``times``: how often each under the whole prompt.
        clusters: of the items.
    """

    parts: dict[str, PartLeftOut | None]
    items: int
    times: int
    clusters: int
    together: GroupLeftOut | None


class GroupLeftOut(NamedTuple):
    """What leaving out a group of parts together does, and which of them do it.

    Attributes:
        ids: of the parts.
        test: of the group; ``None`` where no item has replies on both sides.
        smallest: ids of a smallest group of them that does something; empty where none is found.
        of_smallest: its test; ``None`` where there is none.
        to_ask: what the search for it asks next: parts, and how often they are left out together
            for that; ``None`` where it is over, or was not begun.
    """

    ids: tuple[str, ...]
    test: PartLeftOut | None
    smallest: tuple[str, ...] = ()
    of_smallest: PartLeftOut | None = None
    to_ask: LeftOutTogether | None = None


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
    grouped = _groups_of(cell)
    replies = {
        name: _replies(cell, questions, templates == names.index(name))
        for name in cell.templates
        if name != WHOLE
    }
    alone = {name: table for name, table in replies.items() if name not in grouped.values()}
    parts = parts_left_out(whole, list(alone.values()), clusters)
    together = {ids: replies[name] for ids, name in grouped.items()}
    items, in_clusters = (len({*codes.tolist()}) for codes in (cell.items, clusters))
    return LeftOut(
        dict(zip(alone, parts, strict=True)),
        items,
        whole.shape[1],
        in_clusters,
        _together(whole, together, clusters) if together else None,
    )


def _groups_of(cell: Cell) -> dict[tuple[str, ...], str]:
    """By the ids of parts that are left out together, the template without them."""
    trials = (judgment.trial for judgment in cell.judgments)
    return {
        tuple(str(trial.condition[TOGETHER]).split("+")): trial.template
        for trial in trials
        if TOGETHER in trial.condition
    }


def _together(
    whole: NDArray[np.intp],
    replies: Mapping[tuple[str, ...], NDArray[np.intp]],
    clusters: NDArray[np.intp],
) -> GroupLeftOut:
    """The largest group, and the smallest of its parts that does something."""

    def test_of(ids: tuple[str, ...]) -> PartLeftOut | None:
        return parts_left_out(whole, [replies[ids]], clusters)[0]

    ids = max(replies, key=len)
    test = test_of(ids)
    group = GroupLeftOut(ids, test)
    if test is None or not test.is_noticed():
        return group
    search = group_search(whole, replies[ids], len(ids))
    asked: Counter[tuple[str, ...]] = Counter()
    while (question := search.question) is not None:
        left_out = tuple(ids[place] for place in question)
        answers = verdicts_by_item(replies.get(left_out, np.empty((len(whole), 0))))
        asked[left_out] += 1
        if len(answers) < asked[left_out]:
            return group._replace(to_ask=LeftOutTogether(left_out, asked[left_out]))
        search = search.learn(answers[asked[left_out] - 1])
    if not search.is_complete:
        return group
    smallest = tuple(ids[place] for place in search.needed)
    if smallest not in replies:
        return group._replace(to_ask=LeftOutTogether(smallest, 1))
    # It was found by its replies and those of others; these alone are to show it, too.
    of_smallest = test_of(smallest)
    if of_smallest is None or not of_smallest.is_noticed():
        return group
    return group._replace(smallest=smallest, of_smallest=of_smallest)


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
    for name, part in found.parts.items():
        yield _effect(cell, found, part, name, {SENTENCE: name})
    yield from _effects_together(cell, found)
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


def _score(cell: Cell, tests: LeftOut) -> Estimate:
    if not tests.parts:
        return unavailable(MUTATION_SCORE, cell, "no sentence was left out")
    parts = list(tests.parts.values())

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
        clustered=at_level("holm", ends, tests.clusters, LEVEL),
        missing=Missing(failed=failed, share=failed / len(cell.judgments)),
        flags=() if score else (NOTHING,),
    )


def _effects_together(cell: Cell, tests: LeftOut) -> Iterator[Estimate]:
    """Of the largest group that was left out together, and of a smallest that does something."""
    group = tests.together
    if group is None:
        return
    templates = _groups_of(cell)
    for ids, test in {group.ids: group.test, group.smallest: group.of_smallest}.items():
        if ids:
            yield _effect(cell, tests, test, templates[ids], {TOGETHER: "+".join(ids)})


def _effect(
    cell: Cell,
    tests: LeftOut,
    part: PartLeftOut | None,
    template: str,
    condition: Mapping[str, str],
) -> Estimate:
    if part is None:
        reason = "no item has replies with and without it"
        return unavailable(SENTENCE_EFFECT, cell, reason, condition)
    of_part = _under(cell, template)
    failed = int((of_part.outcomes == FAILED).sum())
    return estimated(
        SENTENCE_EFFECT,
        cell,
        condition,
        value=part.effect,
        n=part.items,
        clustered=None
        if part.bounds is None
        else at_level(PROPORTION_METHOD, part.bounds, tests.clusters, LEVEL),
        missing=Missing(failed=failed, share=failed / max(1, len(of_part.judgments))),
    )
