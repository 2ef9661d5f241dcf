"""A session in which a judge judged outputs, and what it said there of the anchors.

What the judge said of anchors is told by the texts that were judged; in the log of a session of
pytest, which holds no texts, by suite and item. Anchors may be a suite of frozen outputs, which is
asked beside each session.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, TypeAlias

from pytest_judgesense.errors import UsageError, listed
from pytest_judgesense.files.foreign_results import messages_of, slug
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.questions.compare.attribution import ByItem
from pytest_judgesense.registry import Registry
from pytest_judgesense.report.logged_cells import cells_of_logs
from pytest_judgesense.suites.item import Item, item_id
from pytest_judgesense.suites.schema import STRATUM
from pytest_judgesense.suites.suite import Suite
from pytest_judgesense.trial import Judgment

LOG: Final = ".jsonl"
# The part of a judgment's detail that holds the columns of its item, of a suite that was asked.
_COLUMNS: Final = "columns"
# The texts of an output, in alphabetical order.
_Texts: TypeAlias = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class JudgedSession:
    """What a judge said in a session.

    Attributes:
        where: the log or suite, as it was named; several of a reference are joined.
        digest: of its content.
        judge: whose verdicts they are.
        fresh: the cells of outputs that are no anchors.
        anchors: the judgments of anchors, by item; empty where it holds none.
        beside: the judge that was asked about them beside it; empty for none.
    """

    where: str
    digest: str
    judge: str
    fresh: tuple[Cell, ...]
    anchors: ByItem
    beside: str = ""

    @property
    def judgments(self) -> Iterator[Judgment]:
        """Of fresh outputs; those of several suites are told apart by their clusters."""
        several = len({cell.suite for cell in self.fresh}) > 1
        for cell in self.fresh:
            for judgment in cell.judgments:
                trial = judgment.trial
                if several:
                    trial = replace(trial, cluster=f"{cell.suite}/{trial.cluster}")
                yield replace(judgment, trial=trial)


def session_of_log(
    path: str, anchors: Suite, judge: str | None, suites: Collection[str], registry: Registry
) -> JudgedSession:
    """The session of a judgment log.

    Args:
        path: of the log.
        anchors: the frozen outputs.
        judge: whose verdicts are meant; ``None`` for those of the only one.
        suites: those that hold fresh outputs; empty for all.
        registry: the instruments and plugins in use.

    Raises:
        LogError: the log cannot be read.
        UsageError: it holds no fresh outputs, or those of several judges.
    """
    cells = cells_of_logs([Path(path)], 0, registry, replies=False)
    name = _judge_of(path, cells, judge)
    digest = hashlib.sha256(Path(path).read_bytes()).hexdigest()
    return _told_apart(
        JudgedSession(path, digest, name, tuple(cell for cell in cells if cell.judge == name), {}),
        anchors,
        suites,
        {},
    )


def session_of_suite(
    name: str, suite: Suite, cell: Cell, anchors: Suite, suites: Collection[str]
) -> JudgedSession:
    """The session of a suite: ``name`` as it was named, ``cell`` what the judge said.

    Raises:
        UsageError: it holds no fresh outputs.
    """
    whole = JudgedSession(name, suite.digest, cell.judge, (cell,), {})
    return _told_apart(whole, anchors, suites, {item.id: item for item in suite.items})


def joined(sessions: Sequence[JudgedSession]) -> JudgedSession:
    """Several sessions of a reference as one.

    Raises:
        UsageError: they are of different judges.
    """
    first, *more = sessions
    anchors: dict[str, list[Judgment]] = defaultdict(list)
    for session in sessions:
        if session.judge != first.judge:
            raise UsageError(
                "the sessions of the reference are of different judges",
                found=f"{first.judge} and {session.judge}",
                expected="one judge",
            )
        for item, judgments in session.anchors.items():
            anchors[item] += judgments
    if not more:
        return first
    fresh = tuple(cell for session in sessions for cell in session.fresh)
    where = ", ".join(session.where for session in sessions)
    return JudgedSession(where, first.digest, first.judge, fresh, anchors)


def shown_of(judgment: Judgment) -> dict[str, str]:
    """The texts that the judge was shown, by name, where the session holds them."""
    fields = ((judgment.detail or {}).get("source") or {}).get("fields")
    return {str(k): str(v) for k, v in fields.items()} if isinstance(fields, dict) else {}


def columns_of(judgment: Judgment) -> dict[str, str]:
    """Whatever a session says of an output by name."""
    trial = judgment.trial
    return {
        **shown_of(judgment),
        **(judgment.detail or {}).get(_COLUMNS, {}),
        **({STRATUM: trial.stratum} if trial.stratum else {}),
        **{name: str(value) for name, value in trial.condition.items()},
    }


# --- anchors and fresh outputs --------------------------------------------------------------------


def _told_apart(
    whole: JudgedSession, anchors: Suite, suites: Collection[str], items: Mapping[str, Item]
) -> JudgedSession:
    """The session with its anchors apart from fresh outputs.

    Args:
        whole: the session, with all that was judged among the fresh outputs.
        anchors: the frozen outputs.
        suites: those that hold fresh outputs; empty for all.
        items: those of the suite that was asked; empty for a log.
    """
    by_texts = {_texts_of(item): item.id for item in anchors.items}
    ids = {item.id for item in anchors.items}
    of_anchors: dict[str, list[Judgment]] = defaultdict(list)
    fresh = []
    for cell in whole.fresh:
        own_ids = ids if cell.suite == anchors.name else set[str]()
        fresh_judgments = []
        for judgment in cell.judgments:
            item = items.get(judgment.trial.item)
            anchor = (
                _anchor_in_log(judgment, by_texts, own_ids)
                if item is None
                else by_texts.get(_texts_of(item))
            )
            if anchor is None:
                fresh_judgments.append(judgment if item is None else _with_columns(judgment, item))
            else:
                of_anchors[anchor].append(judgment)
        if fresh_judgments and (not suites or cell.suite in suites):
            fresh.append(cell.of(fresh_judgments))
    if not fresh:
        raise _no_fresh_outputs(whole, suites)
    return replace(whole, fresh=(*fresh,), anchors=of_anchors)


def _no_fresh_outputs(whole: JudgedSession, suites: Collection[str]) -> UsageError:
    return UsageError(
        f"{whole.where} holds no fresh outputs",
        found=listed(dict.fromkeys(cell.suite for cell in whole.fresh)) or "no judgment",
        expected=f"judgments of {listed(suites)}"
        if suites
        else "outputs that are no anchors, to be held against those of another session",
        remedy="name its suite too, by another --suite, or leave --suite out"
        if suites
        else "freeze some of its outputs only: judgesense init --from-log LOG --sample N",
    )


def _judge_of(log: str, cells: Iterable[Cell], name: str | None) -> str:
    judges = [*dict.fromkeys(cell.judge for cell in cells)]
    if not judges:
        raise UsageError(f"{log} holds no judgment", expected="at least one line")
    if len(judges) == 1:
        return judges[0]
    if name in judges:
        return name
    raise UsageError(
        f"the judge is not known whose verdicts of {log} are meant",
        found=listed(judges),
        expected=name or "verdicts of one judge",
        remedy="name it: --judge-name NAME",
    )


def _texts_of(item: Item) -> _Texts:
    return tuple(sorted(filter(None, (*item.fields.values(), *item.contents))))


def _with_columns(judgment: Judgment, item: Item) -> Judgment:
    """The judgment with what was shown of its item, as logs of others hold it, and its columns."""
    shown = {
        name: text for name, text in item.fields.items() if item.taken is None or name in item.taken
    }
    detail: dict[str, Any] = {"source": {"fields": shown}, _COLUMNS: dict(item.fields)}
    return replace(judgment, detail={**(judgment.detail or {}), **detail})


def _anchor_in_log(judgment: Judgment, by_texts: Mapping[_Texts, str], ids: set[str]) -> str | None:
    """The anchor that a judgment of a log is about.

    Args:
        judgment: of a log.
        by_texts: anchors by their texts.
        ids: the anchors' ids, if the judgment is of their own suite.
    """
    source = (judgment.detail or {}).get("source") or {}
    fields, prompt = source.get("fields") or {}, messages_of(source.get("prompt") or []) or []
    if not fields and not prompt:
        item = item_id(judgment.trial.item)
        return item if item in ids else None
    contents = [message["content"] for message in prompt]
    system = bool(prompt) and prompt[0]["role"] == "system"
    whole = ["\n\n".join(contents), "\n\n".join(contents[system:])]
    texts = [str(text) for text in fields.values()] if isinstance(fields, dict) else []
    every = (tuple(sorted(filter(None, judged))) for judged in (texts, *([text] for text in whole)))
    return next((by_texts[judged] for judged in every if judged in by_texts), None)


_LONGEST_STEM: Final = 30


def as_in_reference(anchors: Suite, reference: JudgedSession) -> Suite:
    """The anchors that the reference has, in the orders in which it has them."""
    orders = {j.trial.order for judgments in reference.anchors.values() for j in judgments}
    items = tuple(item for item in anchors.items if item.id in reference.anchors)
    return replace(anchors, items=items, orders="ab" if orders == {"ab"} else anchors.orders)


def beside_session(anchors: Suite, session: str, digest: str, replicates: int) -> Suite:
    """The anchors as a suite that is asked beside a session, by one wording.

    Its name has a digest of the session, so that each session has its own answers.

    Args:
        anchors: the frozen outputs.
        session: the session as it was named.
        digest: of its content.
        replicates: how often each anchor is asked.

    Raises:
        UsageError: the suite asks more than one question about its items.
    """
    stem = slug(Path(session).name.partition(".")[0])[:_LONGEST_STEM]
    name = f"{slug(anchors.base)[:_LONGEST_STEM]}-beside-{stem}-{digest.rpartition(':')[2][:8]}"
    if anchors.temperatures:
        raise UsageError(
            f"suite {anchors.name} cannot hold anchors",
            found=f"kind {anchors.kind!r}, which compares temperatures",
            expected="a suite that asks one question about its items",
        )
    templates = anchors.templates[:1] if anchors.form.wordings else anchors.templates
    return replace(
        anchors,
        name=name,
        base=name,
        templates=tuple(replace(template, shared_with=None) for template in templates),
        items=tuple(replace(item, shared_with=None) for item in anchors.items),
        replicates=replicates,
        checks=(),
    )
