"""Debates between pairs of models: written, recorded like every call, and resumable.

The command is ``judgesense debates``.

Each topic is debated twice, with the sides exchanged. Several pairs of debaters share the topics in
their order, so evenly that the last pairs have one more: 25 topics are 8, 8 and 9 of three. A
debate has six speeches (see `instruments.debate.stimuli`); whoever speaks is shown the resolution
and the whole transcript so far. A speech over its limit is cut after the last sentence that fits,
and that is reported.

Every speech is a trial, ``debates/{debate}/{style}/{speech}/r1``, on the cassette ``debates.jsonl``
of its debater. Recorded speeches are not requested again: an interrupted run continues where it
stopped, and a finished one writes the same file again.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

from pytest_judgesense.cassettes.cassette import Cassette
from pytest_judgesense.cassettes.locking import Recorder, recording_alone
from pytest_judgesense.cassettes.matching import Identity
from pytest_judgesense.cassettes.writing import RecordingCassette
from pytest_judgesense.errors import LimitReached, LogError, UsageError, listed
from pytest_judgesense.files.opening import read_text
from pytest_judgesense.files.output import write_text
from pytest_judgesense.instruments.debate.simulated import speak
from pytest_judgesense.instruments.debate.stimuli import DEBATE, SPEECHES, transcript
from pytest_judgesense.judges.client import Client, open_client
from pytest_judgesense.judges.loop import AskingLoop, together
from pytest_judgesense.judges.resolving import credentials_of
from pytest_judgesense.judges.spec import JudgeSpec
from pytest_judgesense.judges.throttle import CONCURRENCY, Budget, Deadline, Throttle, stopping
from pytest_judgesense.judges.trust import ANY_FILES, Trust
from pytest_judgesense.suites.builtin import builtin_suites
from pytest_judgesense.suites.loading import load_suite
from pytest_judgesense.suites.planning import trial_order
from pytest_judgesense.trial import Failed

# The most words of a speech.
LIMITS: Final = {"constructive": 300, "rebuttal": 250, "summary": 200}
STYLES: Final = {
    "analytical": "Argue by mechanism and consequence: name causes, trade-offs and conditions.",
    "creative": "Argue by images, analogies and unexpected angles that still bear on the point.",
    "persuasive": "Argue to win over an undecided listener: concrete, vivid and fair.",
    "technical": "Argue by definitions, orders of magnitude and findings, and say what they show.",
}
_TASKS: Final = {
    "constructive": "State three distinct points for your side, each with its reason.",
    "rebuttal": "Answer the points of the other side one by one, and defend your own.",
    "summary": "Bring no new point: say which points decide the debate, and why they are yours.",
}
_RECORDING: Final = "debates"
_ASSIGNMENTS: Final = ("original", "flipped")
_MAX_TOKENS: Final = 1000  # a speech of 300 words, with room for an untidy end
_NOT_IN_A_SLUG: Final = re.compile(r"[^a-z0-9]+")
_SENTENCE: Final = re.compile(r"[.!?][\"')\]]*$")

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


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the only action."""
    verbs = parser.add_subparsers(required=True, metavar="ACTION")
    generate = verbs.add_parser("generate", help="debate every topic twice, with the sides swapped")
    generate.add_argument(
        "--debater",
        action="append",
        default=[],
        metavar="NAME",
        help="a declared judge or provider:model; given twice, the first begins as PRO",
    )
    generate.add_argument(
        "--pair",
        action="append",
        default=[],
        metavar="NAME,NAME",
        help="two debaters instead; may be repeated, the topics are then split in their order",
    )
    generate.add_argument(
        "--topics", type=Path, metavar="FILE", help="a topic a line (default: the built-in 25)"
    )
    text = "how debaters argue (default: analytical)"
    generate.add_argument("--style", default="analytical", choices=list(STYLES), help=text)
    text = "of the debaters (default: 0.1)"
    generate.add_argument("--temperature", type=float, default=0.1, help=text)
    text = "maximum number of concurrent calls (default: 8)"
    generate.add_argument("--judge-concurrency", type=int, default=8, metavar="N", help=text)
    folder: dict[str, Any] = {"type": Path, "default": Path("cassettes"), "metavar": "DIR"}
    text = "folder of the recordings (default: cassettes)"
    generate.add_argument("--judge-cassettes", help=text, **folder)
    text = "the suite's stimuli to write"
    generate.add_argument("-o", "--output", required=True, type=Path, metavar="FILE", help=text)


def debates_written(
    options: argparse.Namespace, judges: Callable[[list[str]], list[JudgeSpec]]
) -> Iterable[str]:
    """Have models debate every topic in pairs, with sides exchanged; returns notices."""
    names = [name.strip() for pair in options.pair for name in pair.split(",")]
    uneven = any(pair.count(",") != 1 for pair in options.pair)
    if uneven or bool(names) == bool(options.debater):
        raise UsageError(
            "it is not said who debates whom",
            found=" ".join([*options.debater, *options.pair]) or "no debater",
            expected="--debater A --debater B, or --pair A,B once or more",
        )
    names += options.debater
    by_name = dict(zip(dict.fromkeys(names), judges(names), strict=True))
    trust = Trust.here(*filter(None, [options.topics]))
    if options.topics is not None:
        trust.refuse_files("what is debated", [options.topics.resolve()])
    return generate_debates(
        [by_name[name] for name in names],
        read_topics(options.topics),
        options.output,
        options.judge_cassettes,
        style=options.style,
        temperature=options.temperature,
        concurrency=options.judge_concurrency,
        trust=trust,
    )


def generate_debates(
    debaters: Sequence[JudgeSpec],
    topics: Sequence[Topic],
    target: Path,
    cassettes: Path,
    *,
    style: str = "analytical",
    temperature: float = 0.1,
    concurrency: int = CONCURRENCY,
    trust: Trust = ANY_FILES,
) -> list[str]:
    """Have every topic debated under both assignments, and write the debates that are complete.

    Args:
        debaters: two and two who debate; the first of each is PRO in the original assignment.
        topics: the topics; the pairs share them in order.
        target: the file to write, one debate a line, in the format of a debate suite.
        cassettes: folder of the recordings.
        style: one of `STYLES`.
        temperature: of all speeches; a debater that sends none goes on sending none.
        concurrency: debates under way at once.
        trust: what may be sent, and where to.

    Raises:
        UsageError: the debates cannot be held so, or the file cannot be written.
        CassetteError: a recording cannot be read or written.
        JudgeError: a debater cannot be asked at all.
    """
    pairs = _verified_pairs(debaters, topics, temperature, concurrency)
    recorder, deadline = Recorder.here(), Deadline()
    loop = AskingLoop(on_interrupt=stopping(deadline, debaters))
    # Who debates in several pairs has one recording.
    specs = {debater.slug: _asked_as(debater, temperature) for debater in debaters}
    paths = {slug: cassettes / slug / f"{_RECORDING}.jsonl" for slug in specs}
    with ExitStack() as stack:
        stack.callback(loop.close)
        for path in sorted(paths.values()):
            stack.enter_context(recording_alone(path, recorder))
        by_debater = {
            slug: RecordingCassette(
                paths[slug],
                secrets=credentials_of(spec),
                identity=Identity(spec.ignore),
            )
            for slug, spec in specs.items()
        }
        opened = {
            slug: open_client(
                spec,
                by_debater[slug],
                concurrency=concurrency,
                throttle=Throttle(spec, concurrency, budget=Budget(deadline)),
                skills=(speak,),
                trust=trust,
            )
            for slug, spec in specs.items()
        }
        debates = _Debates(_shared(topics, pairs), style)
        try:
            loop.run(debates.run(opened, by_debater.values(), concurrency))
        finally:
            for cassette in by_debater.values():
                cassette.finish(trial_order(cassette.trials))
        spans = [cassette.recorded_of(cassette.trials) for cassette in by_debater.values()]
        begun = [span[0] for span in spans if span]
    common = {"temperature": temperature, "created_at": min(begun, default=None)}
    lines = [json.dumps({**debate, **common}, ensure_ascii=False) for debate in debates.complete]
    write_text(target, "".join(f"{line}\n" for line in lines))
    written = f"{len(lines)} of {len(topics) * len(_ASSIGNMENTS)} debates written: {target}"
    return [written, *debates.notices()]


def _verified_pairs(
    debaters: Sequence[JudgeSpec], topics: Sequence[Topic], temperature: float, concurrency: int
) -> list[_Pair]:
    """Who debates whom; `UsageError` if the debates cannot be held."""
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
    if not 0 <= temperature < math.inf or concurrency < 1:
        raise UsageError(
            "the debates cannot be held so",
            found=f"temperature {temperature:g}, {concurrency} debates at once",
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


@dataclass(slots=True)
class _Debates:
    """The debates: the complete ones in order, and notices for the end."""

    topics: Sequence[tuple[Topic, _Pair]]
    style: str
    complete: list[dict[str, Any]] = field(default_factory=list)
    cut: list[str] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)

    async def run(
        self,
        opened: Mapping[str, AbstractAsyncContextManager[Client]],
        cassettes: Iterable[Cassette],
        concurrency: int,
    ) -> None:
        from pytest_judgesense.cassettes.interception import intercepting

        async with AsyncExitStack() as stack:
            clients = {
                slug: await stack.enter_async_context(client) for slug, client in opened.items()
            }
            for cassette in cassettes:
                stack.enter_context(intercepting(cassette))

            async def debated(topic: Topic, pair: _Pair, assignment: str) -> dict[str, Any] | None:
                pro, con = pair[:: 1 if assignment == "original" else -1]
                speakers = {"pro": clients[pro.slug], "con": clients[con.slug]}
                debate = f"{topic.id}-{assignment}"
                speeches = await self._speeches(debate, topic, speakers)
                if speeches is None:
                    return None
                return {
                    "id": debate,
                    "resolution": topic.resolution,
                    **({} if topic.category is None else {"category": topic.category}),
                    "pro_model": pro.name,
                    "con_model": con.name,
                    "prompt_style": self.style,
                    "status": "completed",
                    "speeches": [
                        {"side": kind[:3].upper(), "speech_type": kind, "content": content}
                        for kind, content in speeches.items()
                    ],
                    "pair_id": topic.id,
                    "model_assignment": assignment,
                }

            debates = (debated(*of, which) for of in self.topics for which in _ASSIGNMENTS)
            ended = await together(debates, concurrency)
        self.complete = [debate for debate in ended if debate is not None]

    async def _speeches(
        self, debate: str, topic: Topic, speakers: Mapping[str, Client]
    ) -> dict[str, str] | None:
        """The six speeches in their order; ``None`` if one of them could not be had."""
        speeches: dict[str, str] = {}
        for kind in SPEECHES:
            side, _, speech = kind.partition("_")
            trial = f"{_RECORDING}/{debate}/{self.style}/{kind}/r1"
            try:
                messages = _messages(topic, kind, speeches, self.style)
                reply = (await speakers[side].ask(trial, messages)).reply
            except LimitReached as limit:
                self.failed[debate] = limit.what
                return None
            text = "" if isinstance(reply, Failed) else (reply.text or "").strip()
            if not text:
                reason = reply.reason if isinstance(reply, Failed) else reply.refused
                self.failed[debate] = f"{kind}: {reason or 'empty reply'}"
                return None
            speeches[kind] = within(text, LIMITS[speech])
            if speeches[kind] != text:
                self.cut.append(trial)
        return speeches

    def notices(self) -> Iterator[str]:
        # The first by name, the original before the flipped: which one ended first is chance.
        if self.cut:
            yield f"{len(self.cut)} speeches cut to their limit, the first {min(self.cut)}"
        if self.failed:
            first = min(self.failed, key=lambda debate: debate.replace("-original", "-"))
            reason = self.failed[first]
            yield f"{len(self.failed)} debates incomplete, the first {first}: {reason}"
            yield "the same command resumes them"


def _messages(
    topic: Topic, kind: str, speeches: Mapping[str, str], style: str
) -> list[dict[str, str]]:
    side, _, speech = kind.partition("_")
    stance = "for" if side == "pro" else "against"
    system = (
        "You take part in a debate. You argue the side that you are given as well as it can be "
        "argued, and you invent no sources."
    )
    user = (
        f"<resolution>\n{topic.resolution}\n</resolution>\n\n"
        f"<transcript>\n{transcript(speeches.items())}\n</transcript>\n\n"
        f"Write the {side.upper()} {speech}, {stance} the resolution, in at most {LIMITS[speech]} "
        f"words. {_TASKS[speech]} {STYLES[style]}\n"
        "Do not name yourself or the speech. Reply with the speech alone, in plain prose."
    )
    return [{"role": "system", "content": system}, {"role": "user", "content": user}]
