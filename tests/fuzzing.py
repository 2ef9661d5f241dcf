"""What the doors for untrusted text are given at random, and what they may do with it.

A door takes text of an endpoint or of an edited file. Whatever that holds, it ends within the time
that its length allows, and the only errors are those of this project. `tests/test_fuzz.py` gives
each a few examples; `scripts/fuzz.py` goes on.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final
from unittest import mock
from xml.etree import ElementTree as ET

import pytest
from hypothesis import strategies as st

from pytest_judgesense.cassettes.exchange import (
    Exchange,
    RecordedRequest,
    RecordedResponse,
    text_id,
)
from pytest_judgesense.cassettes.matching import digest_of
from pytest_judgesense.cassettes.received import received
from pytest_judgesense.cassettes.redaction import scrub_body, scrub_url
from pytest_judgesense.cassettes.storage import Journal, read_exchanges
from pytest_judgesense.commands.main import main
from pytest_judgesense.errors import JudgesenseError, LogError, printable_lines, well_formed
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.judges.simulated.endpoint import REFUSED, answer
from pytest_judgesense.judges.simulated.named_observers import observer_named
from pytest_judgesense.plugin.ci import Failures, require_pass
from pytest_judgesense.replies import parse_reply
from pytest_judgesense.report.log import log_line, read_log
from pytest_judgesense.report.markdown import badge
from pytest_judgesense.report.page import csv_of
from pytest_judgesense.suites.loading import load_suite
from pytest_judgesense.suites.space import DecisionSpace

KEY: Final = "k-Secret/12 45"
# https://www.w3.org/TR/xml/#charsets
_NOT_OF_XML: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
SPACES: Final = (
    DecisionSpace(("A", "B"), pairwise=True, tie=True),
    DecisionSpace(("1", "2", "3"), ordinal=True, abstain=True),
)
# For texts of the lengths that are drawn here, a hundred times what they take.
LONGEST_S: Final = 5.0

# Pieces that mean something to one of the doors, and values that nobody expects.
PIECES: Final = (
    *'{}[]":,\\\n\r\t &=%#.-0',
    *("\\u", "\\ud800", "\ud800", "\udc00", "\u2028", "\u202e", "\x00", "\x1b[2J", "\ufeff", "é"),
    *("1e400", "-1", "NaN", "null", "true", '["A"]', "[]", "{}", "9" * 5000, "[" * 3000),
    *("&#", "&#0", "&#x110000;", "%25", "\\x4b", "\\u{6b}", "://", "http://[", "@", "?key="),
    *(":99999", "\ufffc"),
    *("sk-", "bearer ", "-----BEGIN PRIVATE KEY-----", "[secret: ", "data: ", "eyJ", KEY),
    *('"model":', '"trial":', '"body":', '"json":', '"texts":', '"id":', '"index": 1', '"base64":'),
    *("verdict: ", "[[A]]", "<think>", "A is better", "\\boxed{", "::error::", "##[add-mask]"),
    *("9999-99-99T99:99:99Z", "2026-02-30T00:00:00Z", "[[templates]]", "labels = []"),
    *("nan", "1979-05-27"),
)  # fmt: skip
TEXTS: Final = st.lists(st.sampled_from(PIECES) | st.text(max_size=8), max_size=30).map("".join)


def _edited(original: str) -> st.SearchStrategy[str]:
    """``original`` with stretches of it replaced."""
    places = st.integers(0, len(original))
    edits = st.lists(st.tuples(places, st.integers(0, 40), TEXTS), min_size=1, max_size=3)

    def edit(changes: list[tuple[int, int, str]]) -> str:
        text = original
        for place, length, piece in changes:
            text = text[:place] + piece + text[place + length :]
        return text

    return edits.map(edit)


_EXCHANGE: Final = Exchange(
    "s/i/t/ab/r1",
    1,
    RecordedRequest("POST", "http://h/v1", '{"messages": [{"content": "Is it?"}]}'),
    RecordedResponse(200, {"content-type": "application/json"}, '{"model": "m", "choices": []}'),
    "2026-01-31T12:00:00Z",
).to_line()
_ID: Final = text_id("a")
_SHARED: Final = (
    f'{{"id": "{_ID}", "text": "a"}}\n'
    '{"trial": "a", "call": 1, "request": {"method": "POST", "url": "http://h", "body": {"json": '
    f'{{"m": {{"texts": [{{"id": "{_ID}"}}, "b"]}}}}}}}}, "response": {{"status": 200, "headers": '
    '{}, "body": {"base64": "AA=="}}, "recorded_at": "2026-01-31T12:00:00Z"}\n'
)
_JUDGMENT: Final = json.dumps(
    {
        "trial": "toy/i/t/ab/r1", "judge": "j", "suite": "toy", "item": "i", "cluster": "i",
        "template": "t", "order": "ab", "replicate": 1, "condition": {"arm": "strict"},
        "label": "1", "verdict": "A", "chosen": "1", "reply": "A",
        "usage": {"prompt_tokens": 1, "completion_tokens": 1}, "latency_s": 0.5,
        "design": {"kind": "paraphrase", "labels": ["A", "B"], "ordinal": False,
                   "pairwise": True, "pairs": "all", "others": False},
    }
)  # fmt: skip
SUITE: Final = """schema = "judgesense/suite/1"
name = "toy"
kind = "paraphrase"

[space]
labels = ["YES", "NO"]

[stimuli]
file = "toy.jsonl"

[[templates]]
id = "t1"
text = "Is {{text}} true? Answer YES or NO."

[[templates]]
id = "t2"
text = "Answer YES if {{text}} is true, otherwise NO."
"""
_ITEM: Final = '{"id": "i1", "label": "YES", "text": "water is wet"}'


# Of the kind that `judgesense label` gives labels to; the second item lacks one.
GRID: Final = """schema = "judgesense/suite/1"
name = "grid"
kind = "temperature"

[space]
labels = ["A", "B"]
pairwise = true
tie = true
names = { tie = ["C"] }

[stimuli]
file = "items.jsonl"

[design]
temperatures = [0.01, 1.0]
replicates = 1

[[templates]]
id = "pair"
judge_type = "pairwise"
prompt_style = "direct"
text = "{{task}} <answer_a>{{a}}</answer_a> <answer_b>{{b}}</answer_b> A, B or C (a tie)?"
"""
GRADED: Final = """{"id": "g1", "task": "2 + 2?", "texts": ["It is 4.", "It is 5."], "label": "1"}
{"id": "g2", "task": "3 + 3?", "texts": ["That is 7.", "That is 6."]}
"""
TOPICS: Final = """Water is wet.
{"resolution": "Fire is hot.", "id": "fire", "category": "facts"}
"""
_RESULT: Final = json.dumps(
    {
        "id": "r", "custom_id": "toy/i1/t1/ab/r1#{digest}", "error": None,
        "response": {
            "status_code": 200,
            "body": {"model": "m", "choices": [{"message": {"content": "YES"}}]},
        },
    }
)  # fmt: skip
_PROMPT: Final = """<task>Greet.
Required elements:
1. friendly: hello; you
</task> <response_a>Hello. YES</response_a> <response_b>Go!</response_b>
Which is better? Reply with A, B or tie: {"verdict": "A"}"""
_ASKED: Final = json.dumps(
    {
        "model": "clean", "temperature": 1.5, "seed": 3, "system": "You judge.",
        "messages": [{"role": "user", "content": _PROMPT}],
        "tools": [{"name": "v"}], "tool_choice": {"type": "tool", "name": "v"},
    }
)  # fmt: skip
_FORMS: Final = (".json", ".md", ".jsonl")
# The kinds that are imported, and the files that hold them.
_FOREIGN: Final = {
    "table": "f.csv",
    "games": "f.jsonl",
    "judgesense": "f.jsonl",
    "llmbar": "f.json",
    "judgebench": "f.jsonl",
    "debates": "f.json",
}
_ROWS: Final = (
    "item,label,verdict\ni1,YES,YES\ni2,YES,NO\n",
    '{"question_id": 1, "model_1": "a", "model_2": "b", "judge": ["j", "p"], "g1_winner": "tie"}',
    '{"pair_id": "p1", "task_type": "factuality", "prompt_a": "x", "prompt_b": "y"}',
    '[{"input": "x", "output_1": "a", "output_2": "b", "label": 1}]',
    '{"id": "d", "resolution": "x", "pro_model": "a", "con_model": "b", "speeches": [{"side": 1}]}',
    """version: 1
interactions:
- request: {method: GET, uri: 'http://h', body: null, headers: {}}
  response: {status: {code: 200}, body: {string: 'a'}, headers: {a: [b]}}
""",
    """{"interactions": [{"request": {"method": "GET", "uri": "http://h", "body": null},
 "response": {"status": {"code": 200}, "body": {"string": "a"}, "headers": {}}}]}""",
)

# Texts that one door or another reads without a complaint.
GOOD: Final = (
    *(_EXCHANGE, _SHARED, _JUDGMENT, SUITE, _ITEM, *_ROWS, "<think>A</think> Verdict: B"),
    *(GRADED, TOPICS, _RESULT, _PROMPT, _ASKED),
)


def _file(text: str, name: str, use: Callable[[Path], object]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(text.encode("utf-8", "surrogatepass"))
        use(path)


def scrubber(text: str) -> None:
    secrets = {"K": KEY}
    for body in (text, text.encode("utf-8", "surrogatepass")):
        scrub_body(body, secrets)
    scrub_url(text, secrets)
    received(200, [("location", text), ("content-type", text)], text.encode("utf-8", "replace"))
    assert KEY not in scrub_body(f"{text}\n{KEY}", secrets)[0]


def cassette_reader(text: str) -> None:
    def read(path: Path) -> None:
        for exchange in read_exchanges(path):
            digest_of(exchange.request)
            _ = exchange.models
        Journal(path)

    _file(text, "c.jsonl", read)


def log_reader(text: str) -> None:
    def read(path: Path) -> None:
        for judgment, design in read_log(path):
            if design is not None:
                log_line(judgment, design).encode("utf-8")

    _file(text, "l.jsonl", read)


def suite_loader(text: str) -> None:
    def load(path: Path) -> None:
        (path.parent / "toy.jsonl").write_text(_ITEM)
        load_suite(path, None, BUILT_IN.forms)

    _file(text, "toy.suite.toml", load)


def stimuli_loader(text: str) -> None:
    def load(path: Path) -> None:
        (path.parent / "toy.suite.toml").write_text(SUITE)
        load_suite(path.parent / "toy.suite.toml", None, BUILT_IN.forms)

    _file(text, "toy.jsonl", load)


def reply_reader(text: str) -> None:
    for space in SPACES:
        for truncated in (False, True):
            parse_reply(text, space, truncated=truncated)


def _commands(folder: Path, *lines: str) -> None:
    """Run commands on files of a folder, which their words in braces name."""
    for line in lines:
        words = [word.replace("{", f"{folder}/").replace("}", "") for word in line.split()]
        assert main(words) in (0, 1, 2, 3), line


def commands_on_logs(text: str) -> None:
    lines = ("report {l.jsonl} -o {o.json}", "compare {l.jsonl} {l.jsonl}")
    lines += ("recordings join {l.jsonl} {l.jsonl} -o {m.jsonl}",)
    lines += ("correct {l.jsonl} --labels {l.jsonl}",)
    lines += (
        "report {l.jsonl} --panel -o {p.md}",
        "compare coherence --judges {l.jsonl} {l.jsonl}",
    )
    lines += ("correct {l.jsonl} --calibration {l.jsonl} --same model,prompt,settings,form",)
    _file(text, "l.jsonl", lambda path: _commands(path.parent, *lines))


def commands_on_suites(text: str) -> None:
    def run(path: Path) -> None:
        (path.parent / "toy.jsonl").write_text(_ITEM)
        plan = "plan {toy.suite.toml} --judge-name embedded:clean --judge-cassettes {none}"
        _commands(path.parent, "lint {toy.suite.toml}", plan, "power {toy.suite.toml}")

    _file(text, "toy.suite.toml", run)


def commands_on_recordings(text: str) -> None:
    commands = ["recordings check {c.jsonl}", "recordings join {c.jsonl} -o {m.jsonl}"]
    _file(text, "c.jsonl", lambda path: _commands(path.parent, *commands))


def foreign_files(text: str) -> None:
    for kind, name in _FOREIGN.items():
        if kind not in BUILT_IN.importers:
            continue  # its instrument is not there
        more = " --judge j --suite s" if kind == "table" else ""
        line = f"import {{{name}}} --format {kind} -o {{out}}{more}"
        _file(text, name, lambda path, line=line: _commands(path.parent, line))  # type: ignore[misc]
    for name in ("v.yaml", "v.json"):
        _file(text, name, lambda path: _commands(path.parent, f"recordings check {{{path.name}}}"))


_ASKING: Final = "--judge-name embedded:clean --judge-cassettes {tapes} --judge-mode record"


def wordings(text: str) -> None:
    def run(path: Path) -> None:
        (path.parent / "toy.jsonl").write_text(_ITEM)
        _commands(path.parent, f"label --wordings {{toy.suite.toml}} {_ASKING}")

    _file(text, "toy.suite.toml", run)


def label(text: str) -> None:
    def run(path: Path) -> None:
        (path.parent / "grid.suite.toml").write_text(GRID)
        _commands(path.parent, f"label {{grid.suite.toml}} -o {{labels.jsonl}} {_ASKING}")

    _file(text, "items.jsonl", run)


def batch_results(text: str) -> None:
    def run(path: Path) -> None:
        (path.parent / "toy.suite.toml").write_text(SUITE)
        (path.parent / "toy.jsonl").write_text(_ITEM)
        named = "{toy.suite.toml} --judge-name openai:m --judge-cassettes {tapes}"
        export = f"recordings batch export {named} -o {{q.jsonl}}"
        _commands(path.parent, export)
        asked = json.loads((path.parent / "q.jsonl").read_text().partition("\n")[0])
        _, _, digest = asked["custom_id"].partition("#")
        path.write_text(path.read_text("utf-8", "replace").replace("{digest}", digest), "utf-8")
        _commands(path.parent, f"recordings batch import {named} {{r.jsonl}}", export)

    _file(text, "r.jsonl", run)


def debates(text: str) -> None:
    two = "--debater embedded:clean --debater embedded:mixed"
    files = "--topics {t.jsonl} -o {d.jsonl} --judge-cassettes {tapes}"
    line = f"paper debates --generate {two} {files} --judge-mode record"
    _file(text, "t.jsonl", lambda path: _commands(path.parent, line))


def leave_out(text: str) -> None:
    def run(path: Path) -> None:
        (path.parent / "toy.jsonl").write_text(_ITEM)
        line = "why {toy.suite.toml} --leave-out --judge-name embedded:clean --items 1"
        _commands(path.parent, f"{line} --judge-cassettes {{tapes}} --judge-mode record")

    _file(text, "toy.suite.toml", run)


def embedded_judge(text: str) -> None:
    """Prompts, and bodies of requests to what `judgesense serve` serves."""
    observer_named("mixed", BUILT_IN.skills).reply(well_formed(text), temperature=0.7)
    with suppress(*REFUSED):
        for path in ("/v1/messages", "/v1/chat/completions"):
            _, said = answer(
                path, json.loads(text), partial(observer_named, skills=BUILT_IN.skills)
            )
            json.dumps(said, ensure_ascii=False).encode("utf-8")


def junit(text: str) -> None:
    """What a check leaves in the results for CI, whatever judge, suite and error are called."""
    item: Any = SimpleNamespace(stash=pytest.Stash(), user_properties=[])

    def outcome(*_: object) -> None:
        raise LogError(text, found=text)

    family = SimpleNamespace(not_compared=lambda _: "", decide=outcome, policy="estimate")
    run: Any = SimpleNamespace(family=family, collected=SimpleNamespace(cleaned=str))
    named: Any = SimpleNamespace(
        name=text, slug=text, id=text, key=text, measure=text, bars={"bar": 0.5}, limits={}
    )
    with suppress(LogError):
        require_pass(item, run, (named, named, named))
    assert {"check", "judge", "explanation"} <= dict(item.user_properties).keys()
    for name, said in item.user_properties:
        assert not _NOT_OF_XML.search(f"{name}{said}"), said
        element = ET.Element("property", name=name, value=said)
        assert ET.fromstring(ET.tostring(element)).get("value") is not None


def renderers(text: str, *suffixes: str) -> None:
    """A log whose names and words are ``text``, in every form but as a page."""
    value = json.loads(_JUDGMENT)
    words = well_formed(text)[:900]
    lines = [
        value
        | {"trial": f"{words}/{item}/{template}", "judge": words, "suite": words, "reply": text}
        | {"item": f"{item}{words}", "cluster": f"{item}{words}", "template": template + words}
        | {"condition": {"arm": words}}
        | ({"unparsed": words} if item == "j" and template == "u" else {"verdict": "A"})
        for item in "ij"
        for template in "tu"
    ]
    for line in lines:
        if "unparsed" in line:
            del line["verdict"]

    def render(path: Path) -> None:
        outputs = [f"--output={path.parent / f'o{suffix}'}" for suffix in suffixes or _FORMS]
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            code = main(["report", str(path), *outputs])
        # Nothing of such a log is wrong, so that nothing may be in the way of any form.
        assert code == 0, said.getvalue()
        for shown in (said.getvalue(), (path.parent / "o.md").read_text() if not suffixes else ""):
            assert printable_lines(shown) == shown
            assert len(shown) < 200_000

    _file("".join(f"{json.dumps(line)}\n" for line in lines), "l.jsonl", render)
    entry = dict.fromkeys(("check", "judge", "suite", "explanation"), text)
    report = SimpleNamespace(
        location=(text, 1, "name"),
        judgesense_checks=[{**entry, "outcome": "fail"}],
    )
    failures = Failures()
    failures.receive(report)
    with mock.patch.dict(os.environ, {"GITHUB_ACTIONS": "true"}):
        for said in failures.annotation_lines(Path("/")):
            assert said.startswith("::error ")
            assert "##[" not in said
            assert not {"\r", "\n"} & set(said)
        assert csv_of([text], [[text], [1.0]]).count("\r\n") == 3
        assert ET.fromstring(badge(["pass"], [text])) is not None


def page(text: str) -> None:
    renderers(text, ".html")


_COMMANDS: Final = ("commands on logs", "commands on suites", "commands on recordings")
# They ask an embedded judge over HTTP.
_THAT_ASK: Final = ("wordings", "label", "batch", "debates", "leave out")
_Door = tuple[Callable[[str], None], st.SearchStrategy[str]]
# The items that models write for papers.
_WRITTEN: Final[Mapping[str, _Door]] = {"debates": (debates, _edited(TOPICS) | TEXTS)}
DOORS: Final[Mapping[str, _Door]] = {
    "scrubber": (scrubber, TEXTS | _edited(_EXCHANGE)),
    "cassette reader": (cassette_reader, _edited(_EXCHANGE) | _edited(_SHARED) | TEXTS),
    "log reader": (log_reader, _edited(_JUDGMENT) | TEXTS),
    "suite loader": (suite_loader, _edited(SUITE) | TEXTS),
    "stimuli loader": (stimuli_loader, _edited(_ITEM) | TEXTS),
    "reply reader": (reply_reader, TEXTS),
    "commands on logs": (
        commands_on_logs,
        _edited(_JUDGMENT) | _edited(f"{_JUDGMENT}\n{_JUDGMENT}"),
    ),
    "commands on suites": (commands_on_suites, _edited(SUITE)),
    "commands on recordings": (commands_on_recordings, _edited(_EXCHANGE) | _edited(_SHARED)),
    "foreign files": (foreign_files, st.sampled_from(_ROWS).flatmap(_edited) | TEXTS),
    "wordings": (wordings, _edited(SUITE)),
    "label": (label, _edited(GRADED)),
    "batch": (batch_results, _edited(_RESULT) | _edited(f"{_RESULT}\n{_RESULT}")),
    **({} if BUILT_IN.leave_out is None else {"leave out": (leave_out, _edited(SUITE) | TEXTS)}),
    **{name: _WRITTEN[name] for name, paper in BUILT_IN.papers.items() if paper.writing},
    "embedded judge": (embedded_judge, _edited(_PROMPT) | _edited(_ASKED) | TEXTS),
    "JUnit": (junit, TEXTS),
    "renderers": (renderers, TEXTS),
    "page": (page, TEXTS),
}


def examples(door: str, of_a_reader: int) -> int:
    """How many texts a door is given where a reader is given so many: commands take longer."""
    share = {"page": 20, "renderers": 2, "foreign files": 2} | dict.fromkeys(_COMMANDS, 3)
    share |= dict.fromkeys(_THAT_ASK, 6)
    return max(3, of_a_reader // share.get(door, 1))


def knock(door: str, text: str) -> None:
    """Give ``text`` to a door; anything but an answer or an error of ours, in time, is raised."""
    before = time.thread_time()
    try:
        DOORS[door][0](text)
    except JudgesenseError as error:
        str(error).encode("utf-8")
    taken = time.thread_time() - before
    assert taken < LONGEST_S, f"{door} took {taken:.1f} s"
