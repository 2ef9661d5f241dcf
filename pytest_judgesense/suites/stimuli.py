"""From lines of a stimuli file to items: one function a form. Pure.

Ladder items (Judge Datasheet, arXiv 2606.15610): of each task, every two of its six levels make
one canonical pair (5, 4, 3, 2, 1 pairs at distance 1 to 5), each level and its rewording one
same-subset pair at distance 0, each alternative and the level with as many elements one
different-subset pair, and each filler and the plain text of its level one filler control.

Quarter items: one required element of a task has four named parts, and a text that states k of
them covers k quarters of the element. The five texts of a task differ in nothing else. Each task
makes two pairs at each of the distances 0.25, 0.5 and 0.75: one from nothing upwards and one up to
the whole element. Four quarters are one whole step of the ladder: both are distances in elements.
Debates (JudgeBench): the judge is shown the resolution and the speeches, never who gave them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import combinations
from typing import Final

from pytest_judgesense.suites.schema import (
    ContentItem,
    DebateLine,
    GradedItem,
    LadderTask,
    PairItem,
    QuarterTask,
)
from pytest_judgesense.suites.suite import Item
from pytest_judgesense.trial import Condition

__all__ = [
    "content_item",
    "debate_cluster",
    "debate_item",
    "graded_item",
    "ladder_items",
    "pair_item",
    "quarter_items",
    "task_with_elements",
    "task_with_parts",
    "transcript",
]

# Quarters that the worse and the better text cover: from nothing, and up to the whole.
_QUARTER_PAIRS: Final = ((0, 1), (3, 4), (0, 2), (2, 4), (0, 3), (1, 4))


def content_item(line: ContentItem) -> Item:
    """The item of a line with one content."""
    fields = dict(line.__pydantic_extra__)
    return Item(
        line.id, line.cluster or line.id, fields, (), line.label, inverted=tuple(line.inverted)
    )


def pair_item(line: PairItem) -> Item:
    """The item of a line with two candidates."""
    return Item(
        id=line.id,
        cluster=line.cluster or line.id,
        fields={**line.fields, "task": line.task},
        contents=line.texts,
        label=line.label,
        condition={"category": line.category} if line.category else {},
    )


def graded_item(line: GradedItem) -> Item:
    """The item of a line with two candidates and, perhaps, a reference answer."""
    fields = dict(line.fields) | {"task": _request(line.task, line.elements)}
    if line.reference is not None:
        fields["reference"] = line.reference
    return Item(
        id=line.id,
        cluster=line.cluster or line.id,
        fields=fields,
        contents=line.texts,
        label=line.label,
        condition={"gold": line.gold},
    )


def debate_cluster(debate: str, pair: str | None, debates: Collection[str]) -> str:
    """The cluster of a debate: both assignments of a topic are one.

    Args:
        debate: its id.
        pair: its ``pair_id``: one that both share, or the id of the other debate.
        debates: ids of all debates.
    """
    if pair is None:
        return debate
    return "+".join(sorted((debate, pair))) if pair in debates else pair


def transcript(speeches: Iterable[tuple[str, str]]) -> str:
    """Speeches as the judge reads them, each under a heading: ``[PRO rebuttal]``.

    Args:
        speeches: type (``pro_rebuttal``) and content of each, in order.
    """
    return "\n".join(
        f"[{kind[:3].upper()} {kind[4:]}]\n{content.strip()}" for kind, content in speeches
    )


def debate_item(line: DebateLine, debates: Collection[str]) -> Item:
    """The item of a line with one debate; ``debates`` are the ids of all of them."""
    known = {"category": line.category, "pro_model": line.pro_model, "con_model": line.con_model}
    return Item(
        id=line.id,
        cluster=debate_cluster(line.id, line.pair_id, debates),
        fields={
            "resolution": line.resolution,
            "transcript": transcript((s.speech_type, s.content) for s in line.speeches),
        },
        condition={key: value for key, value in known.items() if value is not None},
    )


def task_with_elements(task: LadderTask) -> str:
    """The task as the judge reads it: the request, then what a reply must contain."""
    return _request(task.task, task.elements)


def _request(task: str, elements: Sequence[str]) -> str:
    if not elements:
        return task
    listed = "\n".join(f"{i}. {element}" for i, element in enumerate(elements, start=1))
    return f"{task}\nRequired elements:\n{listed}"


def ladder_items(
    tasks: Iterable[LadderTask],
    distances: Iterable[int | float] | None = None,
    subsets: Iterable[str] | None = None,
) -> list[Item]:
    """All items of the tasks, or those of the given ``distances`` and ``subsets``.

    The better candidate is content 1 in every other pair, so that no fixed answer is right more
    often than half of the time; a filler is always content 2.
    """
    wanted = None if distances is None else set(distances)
    kinds = {"same", "different", "filler"} if subsets is None else set(subsets)
    return [
        item
        for parity, task in enumerate(tasks)
        for item in _task_items(task, parity)
        if (wanted is None or item.condition["distance"] in wanted)
        and item.condition["subset"] in kinds
    ]


def _task_items(task: LadderTask, parity: int) -> Iterator[Item]:
    fields = {"task": task_with_elements(task)}

    def item(name: str, contents: tuple[str, str], label: str | None, **condition: object) -> Item:
        typed: Condition = condition  # type: ignore[assignment]
        return Item(f"{task.id}-{name}", task.id, fields, contents, label, typed)

    pairs = sorted(combinations(range(6), 2), key=lambda pair: (pair[1] - pair[0], pair))
    for index, (low, high) in enumerate(pairs):
        distance = high - low
        contents = (task.levels[low], task.levels[high])
        better_first = (index + parity) % 2 == 0
        yield item(
            f"d{distance}-{low}{high}",
            contents[::-1] if better_first else contents,
            "1" if better_first else "2",
            distance=distance,
            subset="same",
        )
    for level, (plain, reworded) in enumerate(zip(task.levels, task.rewordings, strict=True)):
        swap = (level + parity) % 2 == 0
        contents = (reworded, plain) if swap else (plain, reworded)
        yield item(f"same-{level}", contents, None, distance=0, subset="same")
    for index, other in enumerate(task.alternatives):
        swap = (index + parity) % 2 == 0
        prefix = task.levels[len(other.elements)]
        contents = (other.text, prefix) if swap else (prefix, other.text)
        yield item(f"diff-{index + 1}", contents, None, distance=0, subset="different")
    for index, filler in enumerate(task.fillers):
        contents = (task.levels[filler.level], filler.text)
        yield item(f"filler-{index + 1}", contents, None, distance=0, subset="filler")


def task_with_parts(task: QuarterTask) -> str:
    """The task as the judge reads it: the parts stand behind their element, after a colon."""
    elements = list(task.elements)
    elements[task.parted - 1] += ": " + "; ".join(task.parts)
    return _request(task.task, elements)


def quarter_items(
    tasks: Iterable[QuarterTask], distances: Iterable[int | float] | None = None
) -> list[Item]:
    """All pairs of the tasks in quarter steps, or those at the given ``distances``.

    At each distance of each task the better candidate is content 1 in one of the two pairs.
    """
    wanted = None if distances is None else set(distances)
    return [
        item
        for parity, task in enumerate(tasks)
        for item in _quarter_items(task, parity)
        if wanted is None or item.condition["distance"] in wanted
    ]


def _quarter_items(task: QuarterTask, parity: int) -> Iterator[Item]:
    fields = {"task": task_with_parts(task)}
    for index, (low, high) in enumerate(_QUARTER_PAIRS):
        contents = (task.quarters[low], task.quarters[high])
        better_first = (index + parity) % 2 == 0
        yield Item(
            id=f"{task.id}-q{low}{high}",
            cluster=task.id,
            fields=fields,
            contents=contents[::-1] if better_first else contents,
            label="1" if better_first else "2",
            condition={"distance": (high - low) / 4, "subset": "same"},
        )
