"""Work on untrusted text grows with its length, and not with its square.

Each worst input is grown tenfold; ten times the work is ten times the CPU, and a square would be a
hundred. Times are those of the thread, the best of some: a busy machine, which slows a thread too,
costs more rounds, and a square stays a square however often it is measured.
"""

from __future__ import annotations

import base64
import gc
import json
import re
import time
from collections.abc import Callable

import pytest

from pytest_judgesense.cassettes.credentials import request_credentials
from pytest_judgesense.cassettes.eventstream import Frame
from pytest_judgesense.cassettes.exchange import _MODEL, _REFERENCE
from pytest_judgesense.cassettes.old_secrets import _REMOVED
from pytest_judgesense.cassettes.redaction import same_but_for_secrets, scrub_body, scrub_url
from pytest_judgesense.cassettes.shapes import PASSWORD, SHAPES
from pytest_judgesense.files.opening import is_unfinished_object
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.judges.simulated.evidence import content_stems
from pytest_judgesense.judges.simulated.named_observers import observer_named
from pytest_judgesense.replies import parse_reply
from pytest_judgesense.replies.stated_answers import stated_answers
from pytest_judgesense.report.failing_checks import contrasted
from pytest_judgesense.suites.space import DecisionSpace
from pytest_judgesense.suites.wordings import _CHOICE, _glosses, _sign
from tests.patterns import BOUNDED, Found, patterns, slow_text
from tests.sources import SOURCES

TIMES = 10
MOST = 15
ROUNDS = 8
# Below it, a measurement is of the clock.
SHORTEST_S = 0.004
KEY = "sk-aaaaaaaa\\/1234567890"
# The key in the middle: a form of it is in a view, so that its pattern runs over the whole text.
SHOWN = KEY.replace("\\", "\\\\")


def seconds(work: Callable[[], object]) -> float:
    gc.disable()  # to look through what others have left is not this work
    try:
        before = time.thread_time()
        work()
        return time.thread_time() - before
    finally:
        gc.enable()


def holds(grown: Callable[[int], Callable[[], object]], size: int) -> None:
    def short() -> None:  # as long as the large one, so that what slows one slows the other
        for _ in range(TIMES):
            work()

    shown = []
    for _ in range(ROUNDS):
        work = grown(size)
        small, large = seconds(short) / TIMES, seconds(grown(size * TIMES))
        if large < MOST * max(small, SHORTEST_S):
            return
        shown.append(f"{small:.4f} s, and {large:.4f} s for {TIMES} times as much")
    pytest.fail("; ".join(shown))


def repeated(unit: str, work: Callable[[str], object]) -> Callable[[int], Callable[[], object]]:
    def grown(size: int) -> Callable[[], object]:
        text = unit * (size // len(unit))
        return lambda: work(text)

    return grown


UNITS = {
    "backslashes": "\\",
    "line ends, escaped": "\\n",
    "escaped quotes": '\\"',
    "percent signs": "%",
    "percent signs, encoded": "%25",
    "zeros of a character reference": "&#0",
    "digits of a character reference": "9",
    "private keys that do not end": "-----BEGIN PRIVATE KEY-----\n",
    "ends of private keys": "-----END PRIVATE KEY-----\n",
    "private keys": "-----BEGIN PRIVATE KEY-----\na\n-----END PRIVATE KEY-----\n",
    "placeholders that do not end": "[secret: ",
    "placeholders": "[secret: A] ",
    "keys": "sk-abcdefghijklmnopqrstuvwx1 ",
    "keys and placeholders": "sk-abcdefghijklmnopqrstuvwx1 [secret: A] ",
    "beginnings of frames": "\0\0\0\x10",
    "telegrams": "1:A",
    "webhooks": "/TAAAAAAAAAA/BAAAAAAAAA",
    "beginnings of keys of services": "csk-",
    "beginnings of tokens of two parts": "pk.eyJa.",
    "digits in hexadecimal": "abcdef0123456789",
    "parts of a region": "a-us1",
    "web hooks": "/webhooks/1",
    "storage keys": "AccountKey=",
    "beginnings of keys": "sk-",
    "beginnings of web tokens": "eyJé",
    "web tokens": "eyJaaaaaaaaaa.",
    "bearers": "bearer ",
    "passwords": "a://:",
    "parameters": "?key=",
    "quotes": '"',
    "fields": '"a"',
    "forms": "a=b&",
    "events": "data: a\n",
    "objects of a stream": '{"a": "b"}\n',
    "base64 with gaps": "c\\n",
}


@pytest.mark.parametrize("around", [("", ""), (SHOWN, ""), ("&#0", ";"), ('{"a": "', '"}')])
@pytest.mark.parametrize("name", UNITS)
def test_the_search_for_secrets(name: str, around: tuple[str, str]) -> None:
    before, behind = around
    holds(
        repeated(UNITS[name], lambda text: scrub_body(f"{before}{text}{behind}", {"K": KEY})),
        1_500,
    )


def test_the_search_for_each_shape_of_a_key() -> None:
    # What a key begins with, over and over, with whatever may stand before it and within it.
    glues = ("", ".", "/", " ", "a", "-.")
    for shape in (*SHAPES, PASSWORD):
        find = shape.pattern.findall
        for unit in (f"{hint}{glue}" for hint in shape.hints.split("|") for glue in glues):
            holds(repeated(unit, lambda text, find=find: find(text.encode())), 1_500)


def _b64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def test_the_search_of_a_document() -> None:
    def strings(size: int) -> Callable[[], object]:
        # The key, a character a string: it is put together, and cut out of all of them.
        letters = ",".join(f'{{"t": "{letter}"}}' for letter in "ok-a" * (size // 4))
        body = f'{{"logprobs": [{letters}]}}'
        return lambda: scrub_body(body, {"K": "ok-aok-a"})

    def indices(size: int) -> Callable[[], object]:
        fields = ",".join(f'"a{number}_index": 1, "a{number}": "b"' for number in range(size))
        body = f'{{"logprobs": {{{fields}}}}}'
        return lambda: scrub_body(body, {"K": KEY})

    def nested(size: int) -> Callable[[], object]:
        body = '{"logprobs": ' + "[" * size + '"a"' + "]" * size + "}"
        return lambda: scrub_body(body, {"K": KEY})

    def parts(size: int) -> Callable[[], object]:
        content = [{"type": "text", "text": letter} for letter in "ok-a" * (size // 4)]
        body = json.dumps({"messages": [{"role": "user", "content": content}]})
        return lambda: scrub_body(body, {"K": "ok-aok-a"})

    def events(size: int) -> Callable[[], object]:
        body = json.dumps([{"parts": [{"text": letter}]} for letter in "ok-a" * (size // 4)])
        return lambda: scrub_body(body, {"K": "ok-aok-a"})

    def frames(size: int) -> Callable[[], object]:
        letters = "ok-a" * (size // 4)
        body = b"".join(
            bytes(Frame(b"", json.dumps({"bytes": _b64(f'{{"text": "{letter}"}}')}).encode()))
            for letter in letters
        )
        return lambda: scrub_body(body, {"K": "ok-aok-a"})

    holds(parts, 500)
    holds(events, 500)
    holds(frames, 300)
    holds(strings, 1_000)
    holds(indices, 300)
    holds(nested, 3_000)


@pytest.mark.parametrize("unit", ["?&key=a", "/%", "/%73", "%25", "1", "1:A", "/T", "/key/a"])
def test_the_search_of_a_url(unit: str) -> None:
    holds(repeated(unit, lambda text: scrub_url(f"https://h/{text}", {"K": KEY})), 5_000)
    holds(repeated(unit, lambda text: [*request_credentials(f"https://h/{text}", ())]), 5_000)


@pytest.mark.parametrize("recorded", ["[secret: A]b" * 3, "a[secret: A]" * 3, "[secret: A]"])
def test_placeholders_of_secrets_against_a_prompt(recorded: str) -> None:
    holds(repeated("ab", lambda asked: same_but_for_secrets(recorded, f"{asked}c")), 100_000)
    holds(repeated(recorded, lambda text: same_but_for_secrets(text, "ab" * 5_000)), 10_000)


@pytest.mark.parametrize("unit", [b'\\"', b"\\", b'"', b'"\\"', b"{", b'"a"'])
def test_a_torn_line(unit: bytes) -> None:
    def grown(size: int) -> Callable[[], object]:
        line = b'{"a": "' + unit * size
        return lambda: is_unfinished_object(line)

    holds(grown, 20_000)


@pytest.mark.parametrize(
    ("unit", "work"),
    [
        ('"model":"', _MODEL.search),
        ('"model": "\\"', _MODEL.search),
        ('{"id":"', lambda text: _REFERENCE.findall(text.encode())),
        ("{  ", lambda text: _REFERENCE.findall(text.encode())),
        (" -", lambda text: _REMOVED.fullmatch(f"redacted{text}!a")),
        ("!", lambda text: _REMOVED.fullmatch(f"{text}a")),
        ("YES (", lambda text: _glosses(text, "YES")),
        ("YES ", lambda text: _glosses(text, "YES")),
        ("A (", _CHOICE.findall),
        ("A ", _CHOICE.findall),
        ("no ", _sign),
        ("a", lambda text: _sign(f"no {text}")),
    ],
)
def test_lines_of_cassettes_and_wordings(unit: str, work: Callable[[str], object]) -> None:
    holds(repeated(unit, work), 20_000)


REPLIES = [
    "verdict ", "verdict: ", "Verdict: A\n", "{", '{"verdict": ', '{"verdict": "A"}', "[", "[[A]]",
    "<verdict>", "<think>", "</think>", "(", "not ", "if ", "*", "_", "a_1 ", "'", "`", "~~a", "-",
    "1", "A or ", "A. ", "A is better ", "the ", "\\boxed{", "is ", "> ", " ", "\n", "?", "\u0301",
    "one would ", "final ", "output ", "I ", "```", "I rate it 4 ", "I would give ", "[RESULT] ",
    "No, I can't ", "No, ", "final verdict: ", "final, a ", "✅ ", "❌ A", "[ ] a", "。",
    "是，我无法", "回答：", "on a scale of 1 to ", "1. A; ", "so: ", "A or B: ", "ich kann nicht ",
    "\u20e3",
]  # fmt: skip


@pytest.mark.parametrize(
    "space",
    [
        DecisionSpace(("A", "B"), pairwise=True),
        pytest.param(DecisionSpace(("1", "2")), marks=pytest.mark.long),
    ],
)
@pytest.mark.parametrize("unit", REPLIES)
def test_the_reading_of_replies(unit: str, space: DecisionSpace) -> None:
    # Of more than 60,000 characters the ends alone are read.
    holds(repeated(unit, lambda text: parse_reply(text, space)), 6_000)


@pytest.mark.parametrize("unit", REPLIES)
def test_the_answers_that_replies_show(unit: str) -> None:
    holds(repeated(unit, lambda text: stated_answers([text])), 6_000)


@pytest.mark.parametrize("unit", ["a ", "word ", " \n", "a b c "])
def test_the_words_that_differ_of_two_texts(unit: str) -> None:
    # Two texts that share neither an end nor the order of their words.
    holds(repeated(unit, lambda text: contrasted(f"x {text} y", f"z {text[::-1]} w")), 20_000)


TASK = (
    "<task>Required elements:\n{}</task>"
    "<response_a>{}</response_a><response_b>b</response_b> A or B"
)
# Where each stands is what lets the embedded judge read it.
PROMPTS = {
    "tags that do not end": ("<a>", "{}"),
    "ends of tags": ("</a>", "<a_1>{}"),
    "labels without an error": ("YES ", "<text>a</text> {}"),
    "forms that do not end": ('{"reason": ', "<question>q</question> {}"),
    "lines before elements": ("\n", TASK.replace("{}", "{}a", 1).replace("{}<", "c<", 1)),
    "elements": ("1. aa bb\n", TASK.replace(">{}<", ">a. bb. cc.<")),
    "parts of an element": (
        "aa bb; ",
        TASK.replace("\n{}", "\n1. a: {}", 1).replace(">{}<", ">b<"),
    ),
    "headings": ("response a\n", "{}"),
    "speeches that are wanted": ("Write the PRO rebuttal ", "{}"),
    "what comes first": ("first ", "<transcript>a</transcript> {}"),
    "quotes after a sentence": ('"', "<text>a.{}</text> from 1 to 5"),
}


@pytest.mark.parametrize("name", PROMPTS)
def test_the_reading_of_the_embedded_judge(name: str) -> None:
    unit, around = PROMPTS[name]
    observer = observer_named("mixed", BUILT_IN.skills)
    before, _, behind = around.partition("{}")
    holds(repeated(unit, lambda text: observer.reply(f"{before}{text}{behind}")), 12_000)


def test_the_embedded_judge_looks_for_so_many_elements() -> None:
    observer = observer_named("mixed", BUILT_IN.skills)

    def grown(size: int) -> Callable[[], object]:
        required = "".join(f"{n}. thing{n} other\n" for n in range(size))
        said = "".join(f"thing{n} more. " for n in range(size))
        content_stems.cache_clear()
        prompt = TASK.replace("{}", required, 1).replace("{}", said)
        return lambda: observer.reply(prompt)

    holds(grown, 300)


# --- all patterns ---------------------------------------------------------------------------------


# All patterns are read when the first of these tests runs, not when they are collected.
FOLDERS = sorted({name.rpartition(".")[0] for name in SOURCES})


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_pattern_of_the_package(folder: str) -> None:
    # Not by place: a line may have several patterns.
    looked_at = [(found, slow_text(found)) for found in patterns() if found.folder == folder]
    assert [(found, text) for found, text in looked_at if text is not None] == []


def test_the_patterns_are_found_wherever_they_are_written() -> None:
    where = {found.where.partition(":")[0] for found in patterns()}
    assert {found.folder for found in patterns()} <= set(FOLDERS)
    # As values of a module, in tables of it, and as arguments of functions.
    assert {
        "cassettes.old_secrets",
        "cassettes.redaction",
        "judges.trust",
        "questions.explain.question",
    } <= where
    assert len(patterns()) > 150
    assert set(BOUNDED) <= {found.where for found in patterns()}


@pytest.mark.parametrize(
    ("pattern", "methods"),
    [
        # A square: blanks that two parts take; a cube; what begins anew at each place.
        (r"(?:bearer\s+)?(?:x+|\W*(?:redacted)\W*)", "fullmatch"),
        (r"(?s)Criteria:\n(?P<a>.{0,20000}?) \n \nSteps:\n(?P<b>\[.{0,20000}?\]) ", "search"),
        (r"\s+$", "search"),
        (r"\[([^\]]+)\]\([^)]+\)", "sub"),
        (r"(a|a)*b", "match"),
        (r"(\w+\s?)*$", "fullmatch"),
        (r"<!--.*?-->", "findall"),
        (r"(?:x+x+)+y", "search"),
    ],
)
def test_a_slow_pattern_is_found(pattern: str, methods: str) -> None:
    found = Found("here", re.compile(pattern), frozenset({methods}))
    assert slow_text(found) is not None


@pytest.mark.parametrize("pattern", [r"\s++x", r"(?<!\s)\s+$", r"a+b", r"[^\n]*\n", r"(?:ab)+c"])
def test_one_in_proportion_is_not(pattern: str) -> None:
    assert slow_text(Found("here", re.compile(pattern), frozenset({"match"}))) is None
