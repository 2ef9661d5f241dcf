"""Debates between pairs of models: written, recorded like every call, and resumable.

``judgesense paper debates --generate`` asks for them.

Each topic is debated twice, with the sides exchanged. Several pairs of debaters share the topics in
their order, so evenly that the last pairs have one more: 25 topics are 8, 8 and 9 of three. A
debate has six speeches (see `instruments.debate.stimuli`); whoever speaks is shown the resolution
and the whole transcript so far. A speech over its limit is cut after the last sentence that fits,
and that is reported.

Every speech is a trial, ``debates/{debate}/{style}/{speech}/r1``, on the cassette ``debates.jsonl``
of its debater. Recorded speeches are not requested again: an interrupted run continues where it
stopped, and a finished one writes the same file again. What a replay misses is an error, except of
the embedded judge, which speaks in any mode.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, ExitStack, closing, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

from pytest_judgesense.cassettes.cassette import Cassette
from pytest_judgesense.cassettes.exchange import as_text
from pytest_judgesense.cassettes.locking import Recorder, recording_alone
from pytest_judgesense.cassettes.matching import Identity
from pytest_judgesense.cassettes.opening import open_cassette
from pytest_judgesense.cassettes.replaying import ReplayingCassette
from pytest_judgesense.cassettes.writing import RecordingCassette
from pytest_judgesense.datasheets.published_design import WriterCalls, WritingOrder, WrittenItems
from pytest_judgesense.errors import CassetteError, LimitReached, LogError, UsageError, listed
from pytest_judgesense.files.opening import read_text
from pytest_judgesense.instruments.debate.simulated import speak
from pytest_judgesense.instruments.debate.stimuli import DEBATE, SPEECHES, STYLES, transcript
from pytest_judgesense.judges.client import (
    Client,
    ReplayingClient,
    is_embedded,
    one_call,
    open_client,
    open_replaying,
)
from pytest_judgesense.judges.loop import AskingLoop, together
from pytest_judgesense.judges.providers.base import Reply
from pytest_judgesense.judges.resolving import credentials_of
from pytest_judgesense.judges.simulated.named_observers import observer_named
from pytest_judgesense.judges.spec import JudgeSpec
from pytest_judgesense.judges.throttle import Throttle, stopping
from pytest_judgesense.judges.trial_call import Call
from pytest_judgesense.judges.trust import ANY_FILES, NO_CODE, Trust
from pytest_judgesense.suites.builtin import builtin_suites
from pytest_judgesense.suites.loading import load_suite
from pytest_judgesense.suites.planning import trial_order
from pytest_judgesense.trial import Failed

# The most words of a speech.
LIMITS: Final = {"constructive": 300, "rebuttal": 250, "summary": 200}
_TASKS: Final = {
    "constructive": "State three distinct points for your side, each with its reason.",
    "rebuttal": "Answer the points of the other side one by one, and defend your own.",
    "summary": "Bring no new point: say which points decide the debate, and why they are yours.",
}
_RECORDING: Final = "debates"
_MAX_TOKENS: Final = 1000  # a speech of 300 words, with room for an untidy end
_NOT_IN_A_SLUG: Final = re.compile(r"[^a-z0-9]+")
_SENTENCE: Final = re.compile(r"[.!?][\"')\]]*$")
# As long as words are on average, with the space behind it.
_ANY_WORD: Final = "speak "

_Pair: TypeAlias = tuple[JudgeSpec, JudgeSpec]


class Topic(NamedTuple):
    """What is debated."""

    id: str
    resolution: str
    category: str | None = None


def read_topics(path: Path | None) -> list[Topic]:
    """The topics of a file, or those of the built-in suite.

    Args:
        path: one topic a line: a resolution, or an object with ``resolution`` and perhaps ``id``
            and ``category``.

    Raises:
        LogError: the file or a line of it cannot be read.
    """
    if path is None:
        suite = load_suite(builtin_suites()[DEBATE.name], None, {DEBATE.name: DEBATE})
        by_topic = {
            item.cluster: (item.fields["resolution"], str(item.condition["category"]))
            for item in suite.items
        }
        return [Topic(cluster, *stated) for cluster, stated in by_topic.items()]
    with LogError.instead_of((OSError, UnicodeDecodeError), f"the topics {path} cannot be read"):
        lines = read_text(path).split("\n")
    topics = [_topic(line, f"{path}:{i}") for i, line in enumerate(lines, start=1) if line.strip()]
    ids = [topic.id for topic in topics]
    if not topics or len(set(ids)) != len(ids):
        raise LogError(
            f"{path} cannot be debated",
            found="no topic" if not topics else f"{max(ids, key=ids.count)} twice",
            expected="topics, every one once",
        )
    return topics


def _topic(line: str, where: str) -> Topic:
    if not line.lstrip().startswith("{"):
        return Topic(_slug(line.strip()), line.strip())
    try:
        value = json.loads(line)
        resolution, category = value["resolution"], value.get("category")
        return Topic(str(value.get("id") or _slug(resolution)), resolution, category)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise LogError(
            f"{where} is not a topic",
            found=f"{type(error).__name__}: {error}",
            expected='a resolution, or {"resolution": ..., "id": ..., "category": ...}',
        ) from error


def _slug(resolution: str) -> str:
    words = _NOT_IN_A_SLUG.sub("-", resolution.lower()).strip("-").split("-")
    digest = hashlib.sha256(resolution.encode()).hexdigest()[:6]
    return "-".join([*words[:6], digest])


def within(text: str, limit: int) -> str:
    """``text`` in at most ``limit`` words: cut after its last sentence that fits, if one does."""
    words = text.split()
    if len(words) <= limit:
        return text.strip()
    for end in range(limit, 0, -1):
        if _SENTENCE.search(words[end - 1]):
            return " ".join(words[:end])
    return " ".join(words[:limit])


def written_debates(order: WritingOrder) -> WrittenItems:
    """The debates that an order asks for; raises as `generate_debates`, and as `read_topics`."""
    trust = Trust.here(*filter(None, [order.topics]))
    if order.topics is not None:
        trust.refuse_files("what is debated", [order.topics.resolve()])
    return generate_debates(order, read_topics(order.topics), trust=trust)


def planned_debates(order: WritingOrder) -> list[WriterCalls]:
    """The calls of an order, see `planned_speeches`."""
    return planned_speeches(order, read_topics(order.topics))


def generate_debates(
    order: WritingOrder, topics: Sequence[Topic], *, trust: Trust = ANY_FILES
) -> WrittenItems:
    """Have every topic debated under both assignments; the debates that are complete.

    Args:
        order: who debates: the first of each two is PRO in the original assignment, and the pairs
            share the topics in order.
        topics: the topics.
        trust: what may be sent, and where to.

    Raises:
        UsageError: the debates cannot be held so.
        CassetteError: a recording cannot be read or written; replaying, a speech is not recorded.
        JudgeError: a debater cannot be asked at all.
        LimitReached: a call would have passed a limit; the answers so far are recorded.
    """
    schedule = _schedule(order, topics)
    # Interrupted, it begins no more calls, and keeps those under way: they are paid for.
    stop = stopping(order.budget.deadline, order.writers) if order.mode != "replay" else None
    with (
        closing(AskingLoop(on_interrupt=stop)) as loop,
        _opened_cassettes(order, schedule.debaters) as cassettes,
    ):
        debates = _Debates(schedule, cassettes)
        loop.run(_run_debates(debates, order, trust))
    if debates.limit is not None:
        raise debates.limit
    common = {"temperature": order.temperature, "created_at": _begun(cassettes.values())}
    lines = (json.dumps({**debate, **common}, ensure_ascii=False) for debate in debates.complete)
    return WrittenItems(tuple(lines), len(schedule.debates), tuple(debates.notices()))


def planned_speeches(order: WritingOrder, topics: Sequence[Topic]) -> list[WriterCalls]:
    """What each debater is asked, and what of it is not recorded; no call is made, no code runs.

    Raises:
        UsageError: the debates cannot be held so.
        CassetteError: a recording cannot be read.
    """
    schedule = _schedule(order, topics)
    rereading = _Rereading(order.cassettes, schedule.debaters)
    for debate in schedule.debates:
        rereading.go_through(debate)
    return rereading.calls


# --- who debates what -----------------------------------------------------------------------------


class _Debate(NamedTuple):
    """One debate: its topic, who argues, and how."""

    topic: Topic
    pro: JudgeSpec
    con: JudgeSpec
    assignment: str
    style: str

    @property
    def id(self) -> str:
        return f"{self.topic.id}-{self.assignment}"

    def speaker(self, kind: str) -> JudgeSpec:
        """Who gives a speech."""
        return self.pro if kind.startswith("pro_") else self.con

    def trial(self, kind: str) -> str:
        """The id of the trial of a speech."""
        return f"{_RECORDING}/{self.id}/{self.style}/{kind}/r1"

    def line(self, speeches: Mapping[str, str]) -> dict[str, Any]:
        """It as a line of the suite's stimuli."""
        category = self.topic.category
        return {
            "id": self.id,
            "resolution": self.topic.resolution,
            **({} if category is None else {"category": category}),
            "pro_model": self.pro.name,
            "con_model": self.con.name,
            "prompt_style": self.style,
            "status": "completed",
            "speeches": [
                {"side": kind[:3].upper(), "speech_type": kind, "content": content}
                for kind, content in speeches.items()
            ],
            "pair_id": self.topic.id,
            "model_assignment": self.assignment,
        }


class _Schedule(NamedTuple):
    """All debates in order, and the debaters by their slugs, as they are asked."""

    debates: tuple[_Debate, ...]
    debaters: Mapping[str, JudgeSpec]


def _schedule(order: WritingOrder, topics: Sequence[Topic]) -> _Schedule:
    """Who debates what; `UsageError` if the debates cannot be held."""
    debates = [
        debate
        for topic, (first, second) in _shared(topics, _verified_pairs(order, topics))
        for debate in (
            _Debate(topic, first, second, "original", order.style),
            _Debate(topic, second, first, "flipped", order.style),
        )
    ]
    # Who debates in several pairs has one recording.
    debaters = {debater.slug: _asked_as(debater, order.temperature) for debater in order.writers}
    return _Schedule(tuple(debates), debaters)


def _verified_pairs(order: WritingOrder, topics: Sequence[Topic]) -> list[_Pair]:
    """Who debates whom; `UsageError` if the debates cannot be held."""
    debaters = order.writers
    pairs = [] if len(debaters) % 2 else list(zip(debaters[::2], debaters[1::2], strict=True))
    if not pairs or any(pro.slug == con.slug for pro, con in pairs):
        raise UsageError(
            "a debate takes two debaters",
            found=listed(debater.name for debater in debaters),
            expected="two names for a pair; one model may be declared under both",
        )
    if len(pairs) > len(topics):
        raise UsageError(
            "there are fewer topics than pairs of debaters",
            found=f"{len(topics)} topics for {len(pairs)} pairs",
            expected="a topic for each pair, or more",
        )
    if not 0 <= order.temperature < math.inf or order.concurrency < 1:
        raise UsageError(
            "the debates cannot be held so",
            found=f"temperature {order.temperature:g}, {order.concurrency} debates at once",
            expected="a temperature of at least 0, and at least one debate",
        )
    return pairs


def _shared(topics: Sequence[Topic], pairs: Sequence[_Pair]) -> list[tuple[Topic, _Pair]]:
    """Each topic with its pair: 25 topics are 8, 8 and 9 of three."""
    ends = [len(topics) * (place + 1) // len(pairs) for place in range(len(pairs))]
    return [(topic, pairs[bisect_right(ends, place)]) for place, topic in enumerate(topics)]


def _asked_as(debater: JudgeSpec, temperature: float) -> JudgeSpec:
    return replace(
        debater,
        temperature=None if debater.temperature is None else temperature,
        max_tokens=max(debater.max_tokens, _MAX_TOKENS),
        repair=None,  # a speech has no form
    )


def _recording_of(cassettes: Path, slug: str) -> Path:
    return cassettes / slug / f"{_RECORDING}.jsonl"


# --- what would be asked --------------------------------------------------------------------------


class _Rereading:
    """Goes through the recorded speeches, and collects the calls for those that are missing."""

    def __init__(self, cassettes: Path, debaters: Mapping[str, JudgeSpec]) -> None:
        self._debaters = debaters
        self._cassettes = {
            slug: ReplayingCassette(
                _recording_of(cassettes, slug),
                secrets=credentials_of(debater),
                identity=Identity(debater.ignore),
            )
            for slug, debater in debaters.items()
        }
        self._counts = dict.fromkeys(debaters, 0)
        self._to_make: dict[str, list[Call]] = {slug: [] for slug in debaters}

    @property
    def calls(self) -> list[WriterCalls]:
        """Those of each debater so far."""
        return [
            WriterCalls(debater, self._counts[slug], self._to_make[slug])
            for slug, debater in self._debaters.items()
        ]

    def go_through(self, debate: _Debate) -> None:
        """Collect the calls of a debate: after a speech that is missing none is known."""
        speeches: dict[str, str] = {}
        is_known = True
        for kind in SPEECHES:
            slug, messages = debate.speaker(kind).slug, _messages(debate, kind, speeches)
            self._counts[slug] += 1
            text = self._recorded_speech(slug, debate.trial(kind), messages) if is_known else None
            if text is None:
                is_known = False
                self._to_make[slug].append(Call(messages))
            speeches[kind] = _longest_speech(kind) if text is None else text

    def _recorded_speech(
        self, slug: str, trial: str, messages: Sequence[Mapping[str, str]]
    ) -> str | None:
        """What is recorded as the answer to ``messages``; ``None`` if it would be asked for.

        Of a function what it has returned: what it would send is not known before it runs.
        """
        debater, cassette = self._debaters[slug], self._cassettes[slug]
        kind = trial.split("/")[-2]
        if not cassette.complete(trial):
            return None
        if debater.provider == "callable":
            returned = cassette.recordings.returned(trial)
            text = as_text(returned.response.body) if returned else _longest_speech(kind)
            return _within_limit(kind, text)
        with open_replaying(debater, cassette, trust=NO_CODE) as client:
            try:
                reply = client.replay(trial, one_call(messages)).reply
            except CassetteError:  # it is recorded with another request
                return None
        return _within_limit(kind, _text_of(reply)) or None


def _longest_speech(kind: str) -> str:
    """A text as long as a speech may be."""
    return _ANY_WORD * _limit_of(kind)


# --- asking ---------------------------------------------------------------------------------------


@contextmanager
def _opened_cassettes(
    order: WritingOrder, debaters: Mapping[str, JudgeSpec]
) -> Iterator[Mapping[str, Cassette]]:
    """The cassettes of the debaters, by slug: what is recorded is held alone, and ends whole."""
    paths = {slug: _recording_of(order.cassettes, slug) for slug in debaters}
    with ExitStack() as stack:
        if order.mode != "replay":
            recorder = Recorder.here()
            for path in sorted(paths.values()):
                stack.enter_context(recording_alone(path, recorder))
        cassettes = {
            slug: open_cassette(
                paths[slug],
                order.mode,
                secrets=credentials_of(debater),
                how_to_record=order.how_to_record,
                identity=Identity(debater.ignore),
            )
            for slug, debater in debaters.items()
        }
        try:
            yield cassettes
        finally:
            for cassette in cassettes.values():
                if isinstance(cassette, RecordingCassette):
                    cassette.finish(trial_order(cassette.trials))


def _begun(cassettes: Iterable[Cassette]) -> str | None:
    """When the first speech was recorded; ``None`` if none is."""
    spans = (cassette.recorded_of(cassette.trials) for cassette in cassettes)
    return min((span[0] for span in spans if span), default=None)


async def _run_debates(debates: _Debates, order: WritingOrder, trust: Trust) -> None:
    """Have all debates held, by clients that are open for that time."""
    from pytest_judgesense.cassettes.interception import intercepting

    async with AsyncExitStack() as stack:
        for slug, debater in debates.schedule.debaters.items():
            opened = open_client(
                debater,
                debates.cassettes[slug],
                concurrency=order.concurrency,
                throttle=Throttle(debater, order.concurrency, budget=order.budget),
                skills=(speak,),
                trust=trust,
            )
            debates.clients[slug] = await stack.enter_async_context(opened)
        for cassette in debates.cassettes.values():
            stack.enter_context(intercepting(cassette))
        await debates.run(order.concurrency)


@dataclass
class _Debates:
    """The debates: the complete ones in order, and notices for the end.

    Attributes:
        schedule: who debates what.
        cassettes: of the debaters, by slug.
        clients: likewise.
        complete: the lines of the debates that have all their speeches.
        cut: trials whose speech was too long.
        failed: why a debate is not complete, by its id.
        spoken: speeches of the embedded judge that are not recorded.
        limit: what ended the asking, if a limit did.
    """

    schedule: _Schedule
    cassettes: Mapping[str, Cassette]
    clients: dict[str, Client] = field(default_factory=dict)
    complete: list[dict[str, Any]] = field(default_factory=list)
    cut: list[str] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)
    spoken: int = 0
    limit: LimitReached | None = None

    async def run(self, concurrency: int) -> None:
        """Hold all of them; the clients are open."""
        ended = await together(map(self._held, self.schedule.debates), concurrency)
        self.complete = [line for line in ended if line is not None]

    async def _held(self, debate: _Debate) -> dict[str, Any] | None:
        """The line of a debate; ``None`` if one of its six speeches could not be had."""
        speeches: dict[str, str] = {}
        for kind in SPEECHES:
            try:
                reply = await self._reply(debate, kind, _messages(debate, kind, speeches))
            except LimitReached as limit:  # calls under way come to their end: they are paid for
                self.limit = limit
                return None
            text = _text_of(reply)
            if not text:
                reason = reply.reason if isinstance(reply, Failed) else reply.refused
                self.failed[debate.id] = f"{kind}: {reason or 'empty reply'}"
                return None
            speeches[kind] = _within_limit(kind, text)
            if speeches[kind] != text:
                self.cut.append(debate.trial(kind))
        return debate.line(speeches)

    async def _reply(
        self, debate: _Debate, kind: str, messages: Sequence[Mapping[str, str]]
    ) -> Reply | Failed:
        slug, trial = debate.speaker(kind).slug, debate.trial(kind)
        client, cassette = self.clients[slug], self.cassettes[slug]
        speaks_here = is_embedded(self.schedule.debaters[slug]) and trial not in cassette.trials
        if isinstance(client, ReplayingClient) and speaks_here:
            self.spoken += 1
            find = partial(observer_named, skills=(speak,))
            return client.compute(one_call(messages), find).reply
        return (await client.ask(trial, messages)).reply

    def notices(self) -> Iterator[str]:
        """What readers of the debates should know."""
        if self.spoken:
            yield f"{self.spoken} speeches are not recorded: the embedded judge was run here"
        # The first by name, the original before the flipped: which one ended first is chance.
        if self.cut:
            yield f"{len(self.cut)} speeches cut to their limit, the first {min(self.cut)}"
        if self.failed:
            first = min(self.failed, key=lambda debate: debate.replace("-original", "-"))
            reason = self.failed[first]
            yield f"{len(self.failed)} debates incomplete, the first {first}: {reason}"
            yield "the same command with --judge-mode record resumes them"


def _text_of(reply: Reply | Failed) -> str:
    """A speech without what stands around it; empty if there is none."""
    return "" if isinstance(reply, Failed) else (reply.text or "").strip()


def _limit_of(kind: str) -> int:
    return LIMITS[kind.partition("_")[2]]


def _within_limit(kind: str, text: str) -> str:
    return within(text, _limit_of(kind))


def _messages(debate: _Debate, kind: str, speeches: Mapping[str, str]) -> list[dict[str, str]]:
    side, _, speech = kind.partition("_")
    stance = "for" if side == "pro" else "against"
    system = (
        "You take part in a debate. You argue the side that you are given as well as it can be "
        "argued, and you invent no sources."
    )
    user = (
        f"<resolution>\n{debate.topic.resolution}\n</resolution>\n\n"
        f"<transcript>\n{transcript(speeches.items())}\n</transcript>\n\n"
        f"Write the {side.upper()} {speech}, {stance} the resolution, in at most {LIMITS[speech]} "
        f"words. {_TASKS[speech]} {STYLES[debate.style]}\n"
        "Do not name yourself or the speech. Reply with the speech alone, in plain prose."
    )
    return [{"role": "system", "content": system}, {"role": "user", "content": user}]
