"""What a new user does first, each in an empty folder and by the commands of an installation.

``JUDGESENSE_INSTALLED`` names the scripts' folder of an environment that has the wheel with the
extra ``all``, openai, and nothing of the tests: `.ci/run` makes one, and nothing is imported from
the checkout there. Without it the commands are those of the environment that runs the tests.
"""

from __future__ import annotations

import csv
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path

import pytest

from tests import processes
from tests.plugin.project import ChatServer
from tests.plugin.test_screen import datasheet_of
from tests.report.browser import MISSING, browser, chromium

INSTALLED = os.environ.get("JUDGESENSE_INSTALLED")
# What others have set for the tests says nothing of where a user runs a command.
OWN = {
    name: value
    for name, value in os.environ.items()
    if not name.startswith(("PYTHON", "PYTEST", "COV_", "JUDGESENSE", "VIRTUAL_ENV"))
    and not name.endswith("_API_KEY")
} | {"COLUMNS": "80"}

N = 30
# A client at module level and a prompt of its own, as somebody has it who has never seen this.
MODULE = """
import openai

client = openai.OpenAI(base_url="{url}")


def judge(question, answer_a, answer_b):
    content = f"Question: {{question}}\\n[1] {{answer_a}}\\n[2] {{answer_b}}\\nReply 1 or 2."
    messages = [{{"role": "user", "content": content}}]
    reply = client.chat.completions.create(model="m-1", messages=messages, max_tokens=5)
    return reply.choices[0].message.content
"""
MAP = "--map question=prompt --map answer_a=model_1 --map answer_b=model_2".split()
SUITE = """
schema = "judgesense/suite/1"
name = "{name}"
kind = "paraphrase"
[space]
labels = ["YES", "NO"]
[stimuli]
file = "{name}.csv"
{templates}
[checks]
{checks}
"""


class Folder:
    """An empty folder, an endpoint, and the commands of the installation."""

    def __init__(self, path: Path, server: ChatServer) -> None:
        self.path, self.server = path, server
        self.key: str | None = "sk-own-0123456789abcdef"

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        """What a command prints, and its exit code; errors stand among the output."""
        environment = OWN if self.key is None else OWN | {"OPENAI_API_KEY": self.key}
        if INSTALLED is None:
            return processes.run(*command, cwd=self.path, environment=environment, merged=True)
        program, *arguments = command
        return subprocess.run(
            [Path(INSTALLED) / program, *arguments],
            cwd=self.path,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            timeout=300,
            check=False,
        )

    def init(self, *more: str) -> subprocess.CompletedProcess[str]:
        return self.run(
            "judgesense", "init", "--callable", "myapp:judge", "--items", "pairs.csv", *more
        )

    def write_pairs(self, better: Callable[[int], str]) -> None:
        """A function, and 30 pairs under names of their own; the good answers take turns."""
        (self.path / "myapp.py").write_text(MODULE.format(url=self.server.base_url))
        texts = ("a good answer", "a poor answer")
        with (self.path / "pairs.csv").open("w", encoding="utf-8", newline="") as file:
            lines = csv.writer(file)
            lines.writerow(["nr", "prompt", "model_1", "model_2", "better"])
            for n in range(N):
                row = [n, f"Question {n}, please", texts[n % 2], texts[1 - n % 2], better(n)]
                lines.writerow(row)

    def write_suite(self, name: str, wordings: list[str], checks: str, items: int) -> None:
        """A suite of texts that are to be answered by YES or NO, and a judge that is asked."""
        templates = "".join(
            f'[[templates]]\nid = "t{n}"\ntext = """{text} {{{{number}}}}?"""\n'
            for n, text in enumerate(wordings, start=1)
        )
        suite = SUITE.format(name=name, templates=templates, checks=checks)
        (self.path / f"{name}.suite.toml").write_text(suite)
        rows = "".join(f"p{n},{n},{('YES', 'NO')[n % 2]}\n" for n in range(items))
        (self.path / f"{name}.csv").write_text(f"id,number,label\n{rows}")
        (self.path / "pyproject.toml").write_text(
            '[tool.judgesense.judges.prod]\nprovider = "openai"\nmodel = "m-1"\n'
            f'base_url = "{self.server.base_url}"\n'
        )


def right(n: int) -> str:
    return "model_2" if n % 2 else "model_1"


def good(prompt: str) -> str:
    """What a judge replies that sees which answer is good."""
    return "1" if "[1] a good" in prompt else "2"


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Folder]:
    server = ChatServer()
    yield Folder(tmp_path, server)
    server.close()


@pytest.mark.skipif(INSTALLED is None, reason="the commands are those of the checkout")
def test_nothing_comes_from_the_checkout(folder: Folder) -> None:
    found = folder.run("python", "-c", "import pytest_judgesense as j; print(j.__file__)")
    assert Path(found.stdout.strip()).is_relative_to(Path(str(INSTALLED)).parent)


@pytest.mark.parametrize(
    ("reply", "code", "failing"),
    [
        pytest.param(good, 0, [], id="good", marks=pytest.mark.long),
        # Always the first: the position decides each of 30 pairs, half of 180 verdicts is right.
        pytest.param(
            lambda _: "1",
            1,
            [
                "  FAIL pairs: 90 of 180 replies do not give the label",
                "  FAIL pairs: the position decides 90 of 90 comparisons",
            ],
            id="positional",
            # The gate has the same with the checkout: tests/questions/init/test_from_function.py.
            marks=pytest.mark.long,
        ),
    ],
)
def test_own_function_and_own_items_in_three_commands(
    folder: Folder, reply: Callable[[str], str], code: int, failing: list[str]
) -> None:
    folder.write_pairs(right)
    folder.server.reply = reply
    begun = folder.init(*MAP)
    assert begun.returncode == 0, begun.stdout
    record, replay = (
        line.split() for line in begun.stdout.splitlines() if line.startswith("  pytest ")
    )
    files = {path: path.read_bytes() for path in folder.path.rglob("*") if path.is_file()}
    recorded = folder.run(*record)
    assert recorded.returncode == code, recorded.stdout
    assert len(folder.server.asked) == 3 * 2 * N  # three times, both orders
    folder.server.close()
    folder.key = None
    replayed = folder.run(*replay)
    assert replayed.returncode == code, replayed.stdout
    # Judged anew from what was recorded: the same lines, but that nobody was asked.
    lines = datasheet_of(replayed.stdout)
    assert [line for line in lines if line.startswith("  FAIL")] == failing
    assert "calls: 0 made, 180 replayed, 1,980 tokens" in lines  # 180 replies of 10 and 1
    # No file was edited in between.
    assert {path: path.read_bytes() for path in files} == files


def test_a_parameter_that_nothing_matches_is_one_error_that_names_it(folder: Folder) -> None:
    folder.write_pairs(right)
    done = folder.init(*MAP[2:])
    assert done.returncode == 2
    assert len(done.stdout.splitlines()) == 4
    assert "found:    no column for question" in done.stdout
    assert "pairs.csv has nr, prompt, model_1, model_2, better" in done.stdout


def test_a_wrong_label_is_one_error_that_names_its_line(folder: Folder) -> None:
    # The header is line 1: the 16th item stands in line 17.
    folder.write_pairs(lambda n: "modell_2" if n == 15 else right(n))
    done = folder.init(*MAP)
    assert done.returncode == 2
    assert len(done.stdout.splitlines()) == 4
    assert "found:    pairs.csv:17, column better: 'modell_2'" in done.stdout


def test_a_judge_that_fails_twenty_checks_fits_its_screens(folder: Folder) -> None:
    # Opposite under the second of three wordings: jss, flip rate and kappa fail over all pairs and
    # over either pair with that wording, and agreement fails: 10 checks on each of two suites.
    wordings = ["Is it even:", "Tell if even:", "No rest by two:"]
    pairs = ["", *(f', template_pair = "{pair}"' for pair in ("t1~t2", "t2~t3"))]
    bars = {"jss_floor": 0.9, "flip_rate_bound": 0.1, "kappa_floor": 0.8}
    checks = "\n".join(
        f"{name} = [" + ", ".join(f"{{bar = {bar}{pair}}}" for pair in pairs) + "]"
        for name, bar in bars.items()
    )
    for name in ("parity", "again"):
        folder.write_suite(name, wordings, f"{checks}\nagreement_floor = 0.9", items=6)

    def opposite(prompt: str) -> str:
        found = re.search(r"\d+", prompt)
        assert found
        even = int(found[0]) % 2 == 0
        return "YES" if even is not prompt.startswith("Tell") else "NO"

    folder.server.reply = opposite
    # Two lines a failing check in FAILURES, one in the short summary, and the datasheet; below a
    # recording a line for each name of a check, by which its failures would be known.
    screens = [(["--judge-mode", "record"], 180), (["-q"], 130), (["-v"], 290)]
    for options, most in screens:
        done = folder.run("pytest", ".", *options)
        assert done.returncode == 1
        assert "20 failed" in done.stdout
        lines = done.stdout.splitlines()
        assert len(lines) <= most, done.stdout
        sheet = datasheet_of(done.stdout)
        assert [line for line in sheet if len(line) > 80] == []
        if "-q" in options:
            assert len(sheet) == 1  # a line a judge
            assert sheet[0].startswith("prod: 20 of 20 checks fail")


def test_replies_that_state_nothing_stop_the_recording(folder: Folder) -> None:
    folder.write_suite("parity", ["Is it even:"], "unparsed_rate_ceiling = 0.5", items=200)
    folder.server.reply = lambda prompt: f"Hm, {prompt.split()[-1]} is an interesting number."
    done = folder.run("pytest", ".", "--judge-mode", "record")
    assert done.returncode == 1
    assert len(folder.server.asked) <= 40
    assert len(set(re.findall(r"Hm, \d+\? is an interesting number", done.stdout))) == 3


def test_lint_finds_what_no_call_would_mend(folder: Folder) -> None:
    checks = "jss_flor = 0.9\nflip_rate_bound = 10\njss_floor = 0.9"
    folder.write_suite("parity", ["Is it even:"], checks, items=30)
    done = folder.run("judgesense", "plan", "--lint", ".")
    assert done.returncode == 1, done.stdout
    assert "3 errors" in done.stdout
    for found in ("jss_flor", "flip_rate_bound", "jss_floor"):
        assert re.search(rf"error.*\b{found}\b", done.stdout), done.stdout


def test_a_cell_of_a_notebook_gives_a_table(folder: Folder) -> None:
    pytest.importorskip("pandas")
    cell = (
        "from pytest_judgesense import measure\n"
        "frame = measure('embedded:noisy', 'coherence').to_dataframe()\n"
        "import sys\n"
        "print(set(frame['measure']) >= {'jss', 'kappa', 'flip_rate'}, 'pytest' in sys.modules)\n"
    )
    folder.key = None
    if INSTALLED is None:
        done = subprocess.run(
            [sys.executable, "-c", cell], capture_output=True, text=True, check=False
        )
    else:
        done = folder.run("python", "-c", cell)
    assert done.stdout == "True False\n"


FIRST = "--judge-suite vacuum --judge-suite coherence@quick --judge-name qwen2.5-coder-0.5b"


@pytest.mark.skipif(chromium() is None, reason=MISSING)
def test_the_page_is_written_and_its_first_screen_says_what_fails(folder: Folder) -> None:
    done = folder.run("pytest", "-q", *FIRST.split(), "--judge-datasheet", "x.html")
    assert done.returncode == 1, done.stdout
    assert "datasheet written: " in done.stdout
    said = [
        "33 of 40 verdicts change with the wording",
        "the judge names a winner in 120 of 120 calls with nothing to judge",
    ]
    with browser() as started:
        # A telephone shows the first failing check whole, a laptop both.
        for (width, height), sentences in [((390, 844), said[:1]), ((1280, 900), said)]:
            page = started.new_page(viewport={"width": width, "height": height})
            page.goto((folder.path / "x.html").as_uri())
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            findings = page.locator(".finding").all()[: len(sentences)]
            for finding, part in product(findings, ("h3", ".measured", ".example", "svg >> nth=0")):
                box = finding.locator(part).first.bounding_box()
                assert 0 <= box["y"] < box["y"] + box["height"] <= height, part
            for finding, sentence in zip(findings, sentences, strict=True):
                assert sentence in finding.locator("h3").inner_text()


def test_the_first_example_runs_in_the_checkout_too(folder: Folder) -> None:
    """Its ``testpaths`` name the project's own tests: what they need is not installed there."""
    checkout = Folder(processes.ROOT, folder.server)
    done = checkout.run("pytest", "-p", "no:cacheprovider", *FIRST.split())
    assert done.returncode == 1, done.stdout
    assert "3 of 3 checks fail, 160 replies" in done.stdout
    assert re.search(r"=+ 3 failed in ", done.stdout)
    assert "NOT RUN" not in done.stdout


@pytest.mark.skipif(INSTALLED is None, reason="the environment has what the tests need")
def test_the_tests_say_which_extra_they_need(folder: Folder) -> None:
    done = Folder(processes.ROOT, folder.server).run("pytest", "-p", "no:cacheprovider")
    assert done.returncode == 5, done.stdout
    assert "NOT RUN: the project's own tests" in done.stdout
    assert "pip install -e '.[all,test]'" in done.stdout
