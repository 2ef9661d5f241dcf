"""``judgesense compare SUITE --prompts``: planted differences, asked of a real endpoint.

Of 40 pairs the good answer stands in either slot in turn. Under ``[plain]`` the first slot wins
both orders of 16 of them; under ``[careful]`` the good answer wins all; ``[terse]`` is ``[plain]``
with the first slot winning another 16. So of plain and terse 64 of 80 verdicts are the label (one
of two in 16 pairs), and the first slot gets (32 + 24) of 80.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_judgesense.commands.main import main
from tests import processes
from tests.commands.within import judgesense
from tests.plugin.project import ChatServer

N = 40
_SUITE = """schema = "judgesense/suite/1"
name = "pairs"
kind = "paraphrase"
[space]
labels = ["A", "B"]
pairwise = true
[stimuli]
file = "pairs.csv"
[design]
orders = "both"
[[templates]]
id = "t1"
text = '''{{task}} {{a}} {{b}} A or B?'''
[checks]
agreement_floor = 0.5
"""
_MODULE = """
import os
from pathlib import Path
import httpx

# Nobody closes it.
client = httpx.Client(limits=httpx.Limits(max_keepalive_connections=0))

def _ask(text, a, b, task):
    for name, value in (("task", task), ("a", a), ("b", b)):
        text = text.replace("{{{{" + name + "}}}}", value)
    body = {{"model": "m-1", "messages": [{{"role": "user", "content": text}}]}}
    reply = client.post("{url}/chat/completions", json=body).json()
    return reply["choices"][0]["message"]["content"]

def reading(task, a, b):
    path = Path(os.environ.get("JUDGESENSE_PROMPT", "plain.txt"))
    return _ask(path.read_text(), a, b, task)

def deaf(task, a, b):
    return _ask(Path("plain.txt").read_text(), a, b, task)

def given(task, a, b, template):
    return _ask(template, a, b, task)

def silent(task, a, b):
    return "A"
"""


def reply(prompt: str) -> str:
    """What the planted judge says; see the module."""
    word, number = re.findall(r"\[(\w+)\].*Question (\d+)", prompt, re.DOTALL)[0]
    first_wins = {"plain": range(16), "terse": range(16, 32), "careful": range(0)}[word]
    if int(number) in first_wins:
        return "A"
    return "A" if "A: a good" in prompt else "B"


@pytest.fixture
def server() -> Iterator[ChatServer]:
    served = ChatServer()
    served.reply = reply
    yield served
    served.close()


@pytest.fixture
def folder(tmp_path: Path, server: ChatServer, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-own-0123456789abcdef")
    texts = ("a good answer", "a poor answer")
    with (tmp_path / "pairs.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["task", "a", "b", "label"])
        writer.writerows(
            [f"Question {n}", texts[n % 2], texts[1 - n % 2], "ab"[n % 2]] for n in range(N)
        )
    (tmp_path / "pairs.suite.toml").write_text(_SUITE, encoding="utf-8")
    for word in ("plain", "careful", "terse"):
        text = f"[{word}] Which is better?\n{{{{task}}}}\nA: {{{{a}}}}\nB: {{{{b}}}}\n"
        (tmp_path / f"{word}.txt").write_text(f"{text}Reply A or B.\n", encoding="utf-8")
    declare(tmp_path, f"[tool.judgesense.judges.mine]\n{_of(server)}\n")
    return tmp_path


def _of(server: ChatServer) -> str:
    return (
        f'provider = "openai"\nmodel = "m-1"\nbase_url = "{server.base_url}"\nmax_tokens = 5\n'
        "prices = { prompt = 1, completion = 2 }"
    )


def declare(folder: Path, table: str) -> None:
    (folder / "pyproject.toml").write_text(table, encoding="utf-8")


def run(*arguments: str, prompts: tuple[str, ...] = ("plain", "careful", "terse")) -> int:
    files = [f"{name}.txt" for name in prompts]
    return main(["compare", SUITE, "--prompts", *files, *RECORD, *arguments])


RECORD = ("--judge-mode", "record")
SUITE = "pairs.suite.toml"


def rows_of(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))


def test_it_asks_each_prompt_compares_it_with_the_first_and_replays(
    folder: Path, server: ChatServer, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("--judge-datasheet", "x.csv", "--judge-datasheet", "x.json") == 0
    shown = capsys.readouterr().out
    assert len(server.asked) == 3 * 2 * N
    words = " ".join(shown.split())
    # 64/80 and 56/80 - 1/2 of plain; careful is right 80 times, 40 of them in the first slot.
    assert (
        "careful is better than plain: agreement 0.800 -> 1.000, side bias 0.200 -> 0.000" in words
    )
    assert "terse and plain cannot be told apart on 40 items" in words
    assert "of all: best by agreement: mine@careful, better than every other one" in words
    assert max(map(len, shown.splitlines())) <= 100
    plain, careful, terse = rows_of(folder / "x.csv")
    assert [float(plain[of]) for of in ("agreement", "first slot", "side bias")] == pytest.approx(
        [0.8, 0.7, 0.2]
    )
    assert (careful["prompt"], float(careful["agreement"]), careful["unparsed"]) == (
        "careful",
        1.0,
        "0.0",
    )
    assert float(terse["side bias"]) == pytest.approx(0.2)
    differences = rows_of(folder / "x-differences.csv")
    assert [(of["prompt"], of["measure"], of["verdict"]) for of in differences] == [
        ("careful", "agreement", "better"),
        ("careful", "side_bias", "better"),
        ("terse", "agreement", "not told apart"),
        ("terse", "side_bias", "not told apart"),
    ]
    # Every judge of a datasheet has the tables of its suites.
    of_first = json.loads((folder / "x.json").read_text(encoding="utf-8"))["judges"][0]
    (table,) = (of for of in of_first["analyses"] if of["analysis"] == "variants")
    assert (table["rows"][0]["value_of_first"], table["rows"][0]["value"]) == (0.8, 1.0)
    server.close()
    assert run("--judge-mode", "replay") == 0
    replayed = capsys.readouterr().out
    assert replayed.partition("\n\n")[2] == shown.partition("\n\n")[2].partition("prompts w")[0]
    assert len({path.name for path in (folder / "cassettes").iterdir()}) == 3


def test_a_prompt_that_is_worse_ends_with_1(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(prompts=("careful", "plain")) == 1
    words = " ".join(capsys.readouterr().out.split())
    assert "plain is worse than careful: agreement 1.000 -> 0.800" in words


def test_a_session_of_two_judges_with_two_prompt_files_ends_with_the_same_comparison(
    folder: Path, server: ChatServer, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("--judge-datasheet", "x.json", prompts=("plain", "careful")) == 0
    capsys.readouterr()
    tables = (
        f"[tool.judgesense.judges.{name}]\n{_of(server)}\n"
        f'prompts = {{ pairwise = {{ file = "{name}.txt" }} }}\n'
        for name in ("plain", "careful")
    )
    declare(folder, "".join(tables))
    named = ("--judge-name", "plain", "--judge-name", "careful", "--judge-datasheet", "y.json")
    done = processes.run(
        "pytest", "-vv", "pairs.suite.toml", "--judge-mode", "record", *named, cwd=folder
    )
    assert done.returncode == 0, done.stdout
    session, tried = (
        json.loads((folder / name).read_text(encoding="utf-8"))["judges"][0]["analyses"]
        for name in ("y.json", "x.json")
    )
    ((of_session,), (of_try,)) = (
        next(table["rows"] for table in tables if table["analysis"] == "judge_pairs")
        for tables in (session, tried)
    )
    assert of_session | {"first": "", "second": ""} == of_try | {"first": "", "second": ""}
    agreement = next(t["rows"] for t in tried if t["analysis"] == "variants")[0]
    # Of two judges on one measure Holm has one pair; of two measures the smaller p counts twice.
    assert agreement["p"] in (pytest.approx(of_session["p"]), pytest.approx(2 * of_session["p"]))
    assert (agreement["lower"], agreement["upper"]) == (of_session["lower"], of_session["upper"])
    words = " ".join(done.stdout.split())
    assert "best by agreement: careful, better than every other one beyond chance" in words
    assert "careful and plain: differ by +0.200 [" in words
    assert f"p {of_session['p']:.3g}" in words


def test_a_plan_asks_nothing_and_a_limit_holds(
    folder: Path, server: ChatServer, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("--plan") == 0
    shown = capsys.readouterr().out
    assert "careful: 80 calls, 80 to be made; cost: 0.0" in shown
    assert "together: 240 calls, 240 to be made; cost: 0.0" in shown
    assert server.asked == []
    assert run("--judge-max-calls", "100") == 3
    assert len(server.asked) == 100
    assert "--judge-max-calls 100 is reached" in capsys.readouterr().err
    assert run("--plan") == 0
    assert "together: 240 calls, 140 to be made" in capsys.readouterr().out
    # A live run asks what is recorded too, and keeps nothing.
    assert run("--plan", "--judge-mode", "live") == 0
    assert "together: 240 calls, 240 to be made" in capsys.readouterr().out


def test_a_prompt_that_was_edited_is_asked_again(
    folder: Path, server: ChatServer, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(prompts=("plain", "terse")) == 0
    server.forget()
    careful = (folder / "careful.txt").read_text(encoding="utf-8")
    (folder / "terse.txt").write_text(careful, encoding="utf-8")
    capsys.readouterr()
    assert run(prompts=("plain", "terse")) == 0
    shown = capsys.readouterr().out
    assert "terse: 80 calls, 80 to be made (80 recorded with another request)" in shown
    assert len(server.asked) == 2 * N
    assert "terse is better than plain" in shown


def declare_function(folder: Path, server: ChatServer, function: str) -> None:
    """The judge ``mine``: a function of a module that asks ``server``."""
    (folder / "grader.py").write_text(_MODULE.format(url=server.base_url), encoding="utf-8")
    declare(
        folder,
        f'[tool.judgesense.judges.mine]\nprovider = "callable"\nmodel = "grader:{function}"\n'
        "concurrency = 8\n",
    )


@pytest.mark.long
@pytest.mark.parametrize("function", ["reading", "given"])
def test_a_function_gets_the_prompt(
    folder: Path, server: ChatServer, function: str, capsys: pytest.CaptureFixture[str]
) -> None:
    declare_function(folder, server, function)
    files = ("plain.txt", "careful.txt")
    words = ("compare", SUITE, "--prompts", *files, *RECORD)
    done = judgesense(*words, cwd=folder)
    assert done.returncode == 0, done.stderr
    # The first item, which says whether the prompts arrive, is not asked again.
    assert len(server.asked) == 2 * 2 * N
    assert "careful is better than plain: agreement 0.800 -> 1.000" in " ".join(done.stdout.split())
    # Once more: nothing is asked of an endpoint that is gone, nor lost of the recording.
    server.close()
    again = judgesense(*words, cwd=folder)
    assert "together: 160 calls, 0 to be made" in again.stdout
    assert again.stdout.partition("\n\n")[2] == done.stdout.partition("\n\n")[2]


@pytest.mark.parametrize(
    ("function", "found", "remedy", "calls"),
    [
        pytest.param(
            "deaf", "sends the same under plain and careful", "JUDGESENSE_PROMPT", 4, id="deaf"
        ),
        pytest.param(
            "silent",
            "makes no request",
            "give it a parameter template",
            0,
            id="silent",
            marks=pytest.mark.long,
        ),
    ],
)
def test_a_function_that_the_prompts_do_not_reach_is_asked_about_one_item(
    folder: Path, server: ChatServer, function: str, found: str, remedy: str, calls: int
) -> None:
    declare_function(folder, server, function)
    files = ("plain.txt", "careful.txt")
    words = ("compare", SUITE, "--prompts", *files, *RECORD)
    done = judgesense(*words, cwd=folder)
    assert done.returncode == 2
    assert len(server.asked) == calls
    assert "the prompts do not reach judge 'mine'" in done.stderr
    assert found in done.stderr
    assert remedy in done.stderr.partition("remedy:")[2]


def test_two_files_with_one_text_are_no_fault_of_the_function(
    folder: Path, server: ChatServer
) -> None:
    declare_function(folder, server, "reading")
    (folder / "copy.txt").write_bytes((folder / "plain.txt").read_bytes())
    files = ("plain.txt", "copy.txt")
    words = ("compare", SUITE, "--prompts", *files, *RECORD)
    done = judgesense(*words, cwd=folder)
    assert done.returncode == 2
    assert not server.asked
    assert "two prompts are the same text" in done.stderr


def test_prompts_about_one_text_are_compared_on_a_suite_of_several_wordings(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "<question>\n{{question}}\n</question>\n<answer>\n{{answer}}\n</answer>\n"
    for name, more in (("one", "Is the answer right?"), ("two", "Is this answer right?")):
        (folder / f"{name}.txt").write_text(f"{text}{more} YES or NO.\n", encoding="utf-8")
    judge = ("--judge-name", "embedded:mixed")
    assert main(["compare", "factuality", "--prompts", "one.txt", "two.txt", *judge]) == 0
    shown = capsys.readouterr().out
    assert "2 prompts of judge mixed on factuality, 40 items, 40 verdicts each" in shown
    assert "  prompt  agreement  unparsed" in shown
    assert "two and one cannot be told apart on 40 items" in " ".join(shown.split())


def test_wrong_use_says_what_to_do(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def told(*files: str, suites: tuple[str, ...] = (SUITE,)) -> str:
        assert main(["compare", *suites, "--prompts", *files]) == 2
        return capsys.readouterr().err

    first = f"name it first: judgesense compare {SUITE} --prompts NOW.txt plain.txt"
    assert first in told("plain.txt")
    assert "a prompt is named twice" in told("plain.txt", "./plain.txt")
    assert "the prompt none.txt cannot be read" in told("plain.txt", "none.txt")
    for suites in ((), (SUITE, "coherence")):
        error = told("plain.txt", "terse.txt", suites=suites)
        assert "expected: judgesense compare SUITE --prompts P1 P2 ..." in error
    (folder / "half.txt").write_text("Which? {{a}}", encoding="utf-8")
    error = told("plain.txt", "half.txt")
    assert "half.txt: prompt t1 of judge 'mine@half' does not show what suite pairs" in error
    assert "remedy:   fix half.txt" in error
    error = told("plain.txt", "terse.txt", suites=("temperature",))
    assert "prompts cannot be compared on suite temperature" in error
    assert not (folder / "cassettes").exists()


def test_a_prompt_that_asks_for_other_labels_is_refused_before_any_call(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "{{question}}\n{{answer}}\nIs the answer right? "
    (folder / "one.txt").write_text(f"{text}Answer YES or NO.\n", encoding="utf-8")
    (folder / "two.txt").write_text(f"{text}Answer TRUE or FALSE.\n", encoding="utf-8")
    judge = ("--judge-name", "embedded:mixed")
    assert main(["compare", "factuality", "--prompts", "one.txt", "two.txt", *judge]) == 3
    error = capsys.readouterr().err
    assert "two.txt: lint template-labels" in error
    assert "remedy:   fix two.txt" in error
    assert not (folder / "cassettes").exists()
