"""``judgesense why``: flips with a planted cause, asked of a real endpoint.

The judge says NO where its prompt holds the word "consistent", else YES. With ``noise`` every
answer is turned with that chance by a generator with a seed.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_judgesense.commands.main import main
from pytest_judgesense.suites.loading import _load
from tests.plugin.project import ChatServer

_FILLER = "Read the text below with care and look at each of its claims in turn before you answer."
_SUITE = f"""schema = "judgesense/suite/1"
name = "texts"
kind = "paraphrase"
system = "You judge texts."
[space]
labels = ["YES", "NO"]
[stimuli]
file = "texts.csv"
[[templates]]
id = "t1"
text = '''{_FILLER} Is it a sound summary? YES or NO.

{{{{text}}}}'''
[[templates]]
id = "t2"
text = '''{_FILLER} Would you call it a consistent summary? YES or NO.

{{{{text}}}}'''
[[templates]]
id = "t3"
text = '''{_FILLER} Is this a fair summary? YES or NO.

{{{{text}}}}'''
"""
_PAIRS = """schema = "judgesense/suite/1"
name = "pairs"
kind = "paraphrase"
[space]
labels = ["A", "B"]
pairwise = true
[stimuli]
file = "pairs.csv"
[[templates]]
id = "t1"
text = "{{task}} A: {{a}} B: {{b}} Which?"
"""
_MODULE = """
import httpx

# Nobody closes it.
client = httpx.Client(limits=httpx.Limits(max_keepalive_connections=0))

def own(text, template_id):
    question = {{"t1": "a sound", "t2": "a consistent", "t3": "a fair"}}[template_id]
    prompt = f"Read it. Is it {{question}} summary?\\n\\n{{text}}"
    body = {{"model": "m-1", "messages": [{{"role": "user", "content": prompt}}]}}
    reply = client.post("{url}/chat/completions", json=body).json()
    return reply["choices"][0]["message"]["content"]

def silent(messages):
    return "NO" if "consistent" in messages[-1]["content"] else "YES"
"""


def planted(prompt: str) -> str:
    return "NO" if "consistent" in prompt else "YES"


@pytest.fixture
def server() -> Iterator[ChatServer]:
    served = ChatServer()
    served.reply = planted
    yield served
    served.close()


@pytest.fixture
def folder(tmp_path: Path, server: ChatServer, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "whyjudge", raising=False)  # that of the test before
    monkeypatch.setenv("OPENAI_API_KEY", "sk-own-0123456789abcdef")
    (tmp_path / "pyproject.toml").write_text(
        f"""[tool.judgesense.judges.model]
provider = "openai"
model = "m-1"
base_url = "{server.base_url}"
[tool.judgesense.judges.own]
provider = "callable"
model = "whyjudge:own"
[tool.judgesense.judges.silent]
provider = "callable"
model = "whyjudge:silent"
"""
    )
    (tmp_path / "whyjudge.py").write_text(_MODULE.format(url=server.base_url))
    (tmp_path / "texts.suite.toml").write_text(_SUITE)
    (tmp_path / "texts.csv").write_text("id,text\nice,Ice floats.\nstone,Stones sink.\n")
    (tmp_path / "pairs.suite.toml").write_text(_PAIRS)
    (tmp_path / "pairs.csv").write_text("id,task,a,b\nice,Which is right?,Ice floats.,Ice sinks.\n")
    return tmp_path


def _recorded(judge: str, suite: str = "texts") -> None:
    words = ["record", f"{suite}.suite.toml", "--judge-name", judge]
    assert main(words) == 0


def _why(*words: str) -> tuple[int, dict[str, object]]:
    code = main(["why", "--judge-mode", "record", *words, "-o", "why.json"])
    return code, json.loads(Path("why.json").read_text()) if code == 0 else {}


@pytest.mark.parametrize("judge", ["model", "own", "silent"])
def test_the_planted_word_is_named_and_a_replay_says_the_same(
    judge: str, folder: Path, server: ChatServer, capsys: pytest.CaptureFixture[str]
) -> None:
    _recorded(judge)
    capsys.readouterr()
    ends = ["texts/ice/t1/ab/r1", "texts/ice/t2/ab/r1"]
    suite = ["--judge-suite", "texts.suite.toml", "--judge-name", judge]
    code, cause = _why(*ends, *suite)
    assert code == 0
    changes = cause["changes"]
    assert isinstance(changes, list)
    (needed,) = cause["needed"]  # type: ignore[misc]
    assert changes[needed]["added"].strip() == "consistent"
    assert (cause["outcome"], cause["complete"]) == ("named", True)
    shown = capsys.readouterr().out
    assert "[consistent]" in shown
    assert "asked afresh, the judge says NO in 0 of 8 answers just before it and in 8 of 8" in (
        " ".join(shown.split())
    )
    assert "enough alone: asked afresh" in " ".join(shown.split())
    # Steady ends are told apart by four answers each; those that confirm are no part of it.
    assert "t1: YES 4; t2: NO 4" in shown
    assert all(contrast["confirmed"] for contrast in cause["afresh"])  # type: ignore[attr-defined]
    # Each answer is recorded, once, and a replay needs no endpoint.
    (recording,) = (folder / "cassettes" / judge).glob("why-ice-*.jsonl")
    before, asked = recording.read_bytes(), len(server.asked)
    code, again = _why(*ends, *suite, "--judge-mode", "replay")
    assert (code, again) == (0, cause)
    assert recording.read_bytes() == before
    assert len(server.asked) == asked


def test_without_another_end_the_wording_that_says_otherwise_is_taken(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _recorded("model")
    suite = ["--judge-suite", "texts.suite.toml", "--judge-name", "model"]
    code, cause = _why("texts/ice/t3/ab/r1", *suite)
    assert code == 0
    assert [end["name"] for end in cause["ends"]] == ["t3", "t2"]  # type: ignore[attr-defined]
    capsys.readouterr()
    assert main(["why", "texts/ice/t1/ab/r1", "texts/ice/t3/ab/r1", *suite]) == 2
    assert "the two ends say the same" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("noise", "outcome"), [(0.1, "named"), (0.5, "noise")], ids=["noisy", "noise alone"]
)
def test_noise_is_told_from_a_cause(
    noise: float, outcome: str, folder: Path, server: ChatServer
) -> None:
    _recorded("model")
    generator = random.Random(3)
    turned = {"YES": "NO", "NO": "YES"}

    def noisy(prompt: str) -> str:
        label = planted(prompt)
        return turned[label] if generator.random() < noise else label

    server.reply = noisy
    suite = ["--judge-suite", "texts.suite.toml", "--judge-name", "model"]
    code, cause = _why("texts/ice/t1/ab/r1", "texts/ice/t2/ab/r1", *suite)
    assert code == 0
    assert cause["outcome"] == outcome


def test_where_every_word_adds_nothing_is_named_and_the_curve_is_shown(
    folder: Path, server: ChatServer, capsys: pytest.CaptureFixture[str]
) -> None:
    words = "one two three four five six seven eight nine ten".split()
    text = (folder / "texts.suite.toml").read_text()
    text = text.replace(" sound summary", f" sound summary {' '.join(words)}")
    text = text.replace(" consistent summary", f" consistent summary {' '.join(words).upper()}")
    (folder / "texts.suite.toml").write_text(text)
    _load.cache_clear()
    _recorded("model")
    generator = random.Random(5)

    def adding(prompt: str) -> str:
        made = sum(word.upper() in prompt for word in words)
        return "NO" if generator.random() < made / len(words) else "YES"

    server.reply = adding
    suite = ["--judge-suite", "texts.suite.toml", "--judge-name", "model"]
    capsys.readouterr()
    code, cause = _why("texts/ice/t1/ab/r1", "texts/ice/t2/ab/r1", *suite)
    assert (code, cause["needed"]) == (0, [])
    assert cause["outcome"] in ("unconfirmed", "undecided")
    shown = capsys.readouterr().out
    assert "not confirmed: one change or several turn it" in shown
    assert "NO with the first words changed" in shown
    assert "it turns at" not in shown
    assert "    - YES" not in shown
    # Both ends stand in the curve, with what was asked there.
    first, *_, last = cause["curve"]  # type: ignore[misc]
    assert (first["made"], last["made"]) == (0, len(cause["changes"]))  # type: ignore[arg-type]
    assert f"{last['count']} of {last['asked']}  [TEN?]" in shown


def test_a_judge_that_names_a_slot_is_told_so(
    folder: Path, server: ChatServer, capsys: pytest.CaptureFixture[str]
) -> None:
    server.reply = lambda _: "A"
    _recorded("model", "pairs")
    suite = ["--judge-suite", "pairs.suite.toml", "--judge-name", "model"]
    code, cause = _why("pairs/ice/t1/ab/r1", *suite)
    assert (code, cause["outcome"]) == (0, "noise")
    assert "the slot decides: the judge says A" in capsys.readouterr().out


def test_an_earlier_recording_is_the_other_end(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _recorded("model")
    (folder / "cassettes").rename(folder / "then")
    text = (folder / "texts.suite.toml").read_text()
    (folder / "texts.suite.toml").write_text(text.replace("a sound", "a consistent"))
    _load.cache_clear()
    _recorded("model")
    suite = ["--judge-suite", "texts.suite.toml", "--judge-name", "model"]
    code, cause = _why("texts/ice/t1/ab/r1", "--against", "then", *suite)
    assert code == 0
    assert [end["name"] for end in cause["ends"]] == ["then", "now"]  # type: ignore[attr-defined]
    assert cause["outcome"] == "named"
    assert "differ" in capsys.readouterr().out


WRONG: list[tuple[list[str], str]] = [
    (["texts/ice/t9/ab/r1"], "has no trial 'texts/ice/t9/ab/r1'"),
    (["texts/ice/t1/ab/r1", "texts/stone/t2/ab/r1"], "no two ends of a flip"),
    (["texts/ice/t1/ab/r1", "texts/ice/t2/ab/r1", "--against", "x"], "two other ends"),
    (["texts/ice/t1/ab/r1", "--judge-max-calls", "21"], "max-calls"),
    (["texts"], "what turns a verdict: judgesense why SUITE/ITEM/TEMPLATE/ORDER/rN"),
    (["texts/ice/t1/ab/r1", "-o", "cause.txt", "--plan", "--by", "letters"], "--by"),
]


@pytest.mark.parametrize(("words", "error"), WRONG)
def test_what_is_wrong_is_said(
    words: list[str], error: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _recorded("model")
    suite = ["--judge-suite", "texts.suite.toml", "--judge-name", "model"]
    try:
        code = main(["why", *words, *suite])
    except SystemExit as end:  # of argparse
        code = end.code  # type: ignore[assignment]
    assert code == 2
    assert error in capsys.readouterr().err


def test_what_is_not_recorded_is_named_with_the_whole_command(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["why", "texts/ice/t1/ab/r1", "--judge-name", "model"]
    assert main(words) == 2  # the suite is in no folder of its name
    assert "name its file: --judge-suite FILE" in capsys.readouterr().err
    words += ["--judge-suite", "texts.suite.toml"]
    assert main(words) == 3
    assert "judgesense record SUITE --judge-name model" in capsys.readouterr().err
    _recorded("model")
    capsys.readouterr()
    assert main([*words, "--by", "sentences"]) == 3
    assert (
        "judgesense why texts/ice/t1/ab/r1 --judge-name model --judge-suite texts.suite.toml "
        "--by sentences --judge-mode record (at most 60 calls, cost: unknown; set prices in "
        "[tool.judgesense.judges.model])"
    ) in capsys.readouterr().err
    assert main([*words, "--against", "nowhere"]) == 3
    assert "nowhere holds no answer of judge 'model'" in capsys.readouterr().err
    assert main([*words, "--against", "cassettes"]) == 2
    assert "texts/ice/t1/ab/r1 says the same in both recordings" in capsys.readouterr().err


def test_a_trial_that_failed_is_no_end_and_one_change_is_one(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "failing.py").write_text(
        "def judge(messages):\n"
        "    text = messages[-1]['content']\n"
        "    if 'fair' in text:\n"
        "        raise ValueError(text)\n"
        "    return 'NO' if 'consistent' in text else 'YES'\n"
    )
    project = folder / "pyproject.toml"
    project.write_text(project.read_text().replace("whyjudge:silent", "failing:judge"))
    text = (folder / "texts.suite.toml").read_text()
    (folder / "texts.suite.toml").write_text(
        text.replace("Would you call it a consistent", "Is it a consistent")
    )
    words = ["texts.suite.toml", "--judge-name", "silent"]
    assert main(["record", *words]) == 3
    suite = ["--judge-suite", *words]
    capsys.readouterr()
    assert main(["why", "texts/ice/t1/ab/r1", "texts/ice/t3/ab/r1", *suite]) == 3
    assert "t3/ab/r1 of judge 'silent' is not recorded, or has no answer" in capsys.readouterr().err
    assert main(["why", "texts/ice/t1/ab/r1", "--plan", *suite]) == 0
    assert "  1 word differs\n" in capsys.readouterr().out


def test_a_function_is_not_made_to_send_a_text_where_it_sends_none(
    folder: Path, server: ChatServer, capsys: pytest.CaptureFixture[str]
) -> None:
    module = (folder / "whyjudge.py").read_text()
    before = '{"role": "user"'
    system = '*([{"role": "system", "content": "Judge."}] * (template_id == "t2"))'
    (folder / "partsjudge.py").write_text(module.replace(f"[{before}", f"[{system}, {before}"))
    project = folder / "pyproject.toml"
    project.write_text(project.read_text().replace("whyjudge:own", "partsjudge:own"))
    _recorded("own")
    ends = ["texts/ice/t1/ab/r1", "texts/ice/t2/ab/r1"]
    suite = ["--judge-suite", "texts.suite.toml", "--judge-name", "own"]
    asked = len(server.asked)
    capsys.readouterr()
    assert main(["why", *ends, *suite, "--judge-mode", "record"]) == 2
    assert "name the other end first" in capsys.readouterr().err
    assert len(server.asked) == asked
    code, cause = _why(*reversed(ends), *suite)
    assert (code, cause["outcome"]) == (0, "named")


def test_a_plan_asks_nothing(
    folder: Path, server: ChatServer, capsys: pytest.CaptureFixture[str]
) -> None:
    _recorded("model")
    asked = len(server.asked)
    suite = ["--judge-suite", "texts.suite.toml", "--judge-name", "model"]
    assert main(["why", "texts/ice/t1/ab/r1", "--plan", *suite]) == 0
    shown = capsys.readouterr().out
    assert "at most 60 calls" in shown
    assert "16 of them confirm a change (8 just before it, 8 with it)" in shown
    assert "cost: unknown" in shown
    assert "cost of 16" not in shown
    project = folder / "pyproject.toml"
    project.write_text(
        project.read_text().replace(
            'model = "m-1"',
            'model = "m-1"\nprices = { prompt = 0, completion = 1000 }\nmax_tokens = 10',
        )
    )
    assert main(["why", "texts/ice/t1/ab/r1", "--plan", *suite]) == 0
    # 16 and 60 replies of 10 tokens, at 1,000 USD a million.
    shown = capsys.readouterr().out
    assert "cost: up to 0.6000 USD" in shown
    assert "cost of 16: up to 0.1600 USD" in " ".join(shown.split())
    assert len(server.asked) == asked
