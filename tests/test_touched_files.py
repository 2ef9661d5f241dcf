"""How many files of the package are touched by whoever adds a question, a measure or a provider.

Each test adds one thing to a copy of the package, uses it as a user would, and counts the files
that differ from those of the checkout. What is generated from the values is written by nobody.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.judges.endpoint import endpoint
from tests.plugin.project import QUIET

CHECKOUT = Path(__file__).parents[1]
PACKAGE = "pytest_judgesense"
GENERATED = {"plugin/check_markers.txt"}


class CopiedPackage:
    """A copy of the package in a folder, whose processes import it there.

    Attributes:
        folder: that holds the package; also where the processes run.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        shutil.copytree(CHECKOUT / PACKAGE, folder / PACKAGE)
        for shipped in ("suites", "cassettes"):
            (folder / shipped).symlink_to(CHECKOUT / shipped)

    def write(self, name: str, text: str) -> None:
        """Add a file of the package."""
        path = self.folder / PACKAGE / name
        assert not path.exists()
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def insert(self, name: str, before: str, text: str) -> None:
        """Write a text into a file of the package, before words that stand there once."""
        path = self.folder / PACKAGE / name
        content = path.read_text(encoding="utf-8")
        assert content.count(before) == 1, f"{name} has no single {before!r}"
        path.write_text(content.replace(before, text + before), encoding="utf-8")

    def touched(self) -> set[str]:
        """The files of the package that are others than those of the checkout."""
        copied, checked_out = (_contents(of / PACKAGE) for of in (self.folder, CHECKOUT))
        names = copied.keys() | checked_out.keys()
        return {name for name in names if copied.get(name) != checked_out.get(name)}

    def run(self, *arguments: str) -> str:
        """What Python prints with these arguments, importing the copy; it ends well."""
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=self.folder,
            env={**os.environ, "PYTHONPATH": str(self.folder), "COLUMNS": "80"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
        return done.stdout

    def session(self, *arguments: str) -> str:
        """What a session of pytest prints, all of whose tests pass."""
        plain = ("-p", "no:cacheprovider", "--color=no", "--strict-markers")
        return self.run("-m", "pytest", "-v", *QUIET, *plain, *arguments)


def _contents(package: Path) -> dict[str, bytes]:
    return {
        path.relative_to(package).as_posix(): path.read_bytes()
        for path in package.rglob("*")
        if path.is_file() and path.parent.name != "__pycache__"
    }


@pytest.fixture
def copied(tmp_path: Path) -> CopiedPackage:
    return CopiedPackage(tmp_path)


# A question: what it is asked, and what it answers.
ECHO = '''"""What was said, as a question."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pytest_judgesense.questions.question import QuestionAnswer


@dataclass(frozen=True)
class EchoAnswer(QuestionAnswer):
    text: str

    def lines(self) -> Iterator[str]:
        yield self.text

    def to_dict(self) -> dict[str, Any]:
        return {"echo": self.text}


@dataclass(frozen=True)
class EchoQuestion:
    text: str

    def answer(self) -> EchoAnswer:
        return EchoAnswer(f"you said: {self.text}")


def echo(text: str) -> EchoAnswer:
    return EchoQuestion(text).answer()
'''
ECHO_ADAPTER = '''"""``judgesense echo TEXT``: its words on the command line."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from pytest_judgesense.questions.echo.question import EchoQuestion


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("text", metavar="TEXT", help="what is said")


def run(options: argparse.Namespace) -> Iterator[str]:
    return EchoQuestion(options.text).answer().lines()
'''
FROM_PYTHON = """
import json
import pytest_judgesense
assert "echo" in pytest_judgesense.__all__
print(json.dumps(pytest_judgesense.echo("hello").to_dict()))
"""


def test_a_question_is_its_folder_its_adapter_a_line_and_its_export(copied: CopiedPackage) -> None:
    copied.write("questions/echo/__init__.py", '"""``judgesense echo``: what was said."""\n')
    copied.write("questions/echo/question.py", ECHO)
    copied.write("commands/echo.py", ECHO_ADAPTER)
    copied.insert("commands/main.py", '    "serve": "serve ', '    "echo": "say it again",\n')
    copied.insert("__init__.py", '    "measure",\n', '    "echo",\n')
    door = '    "echo": "pytest_judgesense.questions.echo.question",\n'
    copied.insert("__init__.py", '    "measure": "pytest_judgesense.api",\n', door)

    assert "    echo " in copied.run("-m", f"{PACKAGE}.commands", "--help")
    said = copied.run("-m", f"{PACKAGE}.commands", "echo", "hello")
    assert said == "you said: hello\n"
    assert json.loads(copied.run("-c", FROM_PYTHON)) == {"echo": "you said: hello"}
    assert copied.touched() == {
        "questions/echo/__init__.py",
        "questions/echo/question.py",
        "commands/echo.py",
        "commands/main.py",
        "__init__.py",
    }


# A measure of the room of the vacuum: what it is, how it is estimated, and that it is taken.
RESTRAINT = """RESTRAINT: Final = Measure(
    "restraint",
    "higher",
    "call",
    "a tie is said where there is nothing to judge",
    gate="floor",
    suite="vacuum",
)


"""
RESTRAINT_ESTIMATOR = """def restraint_estimates(cell: Cell) -> list[Estimate]:
    calls = ((judgment,) for judgment in cell.judgments)
    return [rate(RESTRAINT, cell, Units.collect(calls, lambda call: float(call.verdict == TIE)))]


"""
MARKED = """
import pytest

@pytest.mark.restraint_floor(0.93, suite="vacuum")
def test_it(): pass
"""
# The names of checks are made from the values, as `docs/reference/generate.py` makes them.
GENERATE = f"""
import sys
sys.path.insert(0, {str(CHECKOUT / "docs" / "reference")!r})
import generate
generate.CHECK_NAMES.write_text(generate.check_names(), encoding="utf-8")
"""


@pytest.mark.long
def test_a_measure_with_a_check_is_three_files_of_its_room(copied: CopiedPackage) -> None:
    room = "instruments/vacuum"
    copied.insert(f"{room}/measures.py", "WORDS: Final = (", RESTRAINT)
    copied.insert(f"{room}/estimators.py", "def preference(", RESTRAINT_ESTIMATOR)
    copied.insert(f"{room}/estimators.py", "SOFT_DARK_CURRENT\nfrom", "RESTRAINT, ")
    taken = "RESTRAINT.taken_by(estimators.restraint_estimates),\n            "
    copied.insert(f"{room}/instrument.py", "*ORDER,", taken)
    copied.insert(f"{room}/instrument.py", "SOFT_DARK_CURRENT, WORDS", "RESTRAINT, ")
    copied.run("-c", GENERATE)
    assert copied.touched() - GENERATED == {
        f"{room}/measures.py",
        f"{room}/estimators.py",
        f"{room}/instrument.py",
    }

    (copied.folder / "test_marked.py").write_text(MARKED, encoding="utf-8")
    shown = copied.session(
        *("test_marked.py", "--judge-name", "embedded:clean"),
        *("--judge-datasheet", "sheet.json", "--judge-datasheet", "sheet.md"),
    )
    assert re.search(r"^test_marked\.py::test_it\[clean\] PASSED ", shown, re.MULTILINE)
    (judge,) = _json(copied.folder / "sheet.json")["judges"]
    (estimate,) = [of for of in judge["measures"] if of["measure"] == "restraint"]
    (tie_rate,) = [of for of in judge["measures"] if of["measure"] == "tie_rate"]
    # It counts what the tie rate counts: the suite's 120 calls, all of them ties of this judge.
    assert (estimate["count"], estimate["n"]) == (tie_rate["count"], tie_rate["n"]) == (120, 120)
    (check,) = judge["checks"]
    assert (check["check"], check["outcome"]) == ("restraint_floor[0.93]", "pass")
    assert "| `restraint` | | 120/120 | 1.000 |" in (copied.folder / "sheet.md").read_text()


# A provider with a wire format of its own: a prompt in, an answer out.
HOUSE_FUNCTIONS = '''def _build_for_house(
    spec: JudgeSpec,
    base_url: str,
    key: str | None,
    messages: Sequence[Mapping[str, str]],
    seed: int | None,
) -> HttpRequest:
    """A request of the house: one prompt."""
    body = {"model": spec.model, "prompt": messages[-1]["content"]}
    return HttpRequest("POST", f"{base_url}/ask", {}, json.dumps(body).encode())


def _parse_of_house(status: int, body: str) -> Reply | Failed:
    """The answer of the house."""
    return Reply(json.loads(body)["answer"]) if status == 200 else Failed(f"HTTP {status}")


'''
HOUSE = '    Provider("house", _build_for_house, _parse_of_house, "http://127.0.0.1:9/v1"),\n'
HOUSE_IMPORTS = """import json
from collections.abc import Sequence
from pytest_judgesense.judges.providers.base import HttpRequest, Reply
from pytest_judgesense.trial import Failed
"""
PARITY = """schema = "judgesense/suite/1"
name = "parity"
kind = "paraphrase"
[space]
labels = ["YES", "NO"]
[[templates]]
id = "t1"
text = "Is {{number}} even?"
[[templates]]
id = "t2"
text = "Is {{number}} an even number?"
[stimuli]
file = "numbers.jsonl"
[checks]
jss_floor = 0.9
"""
HOUSE_JUDGE = """[tool.judgesense.judges.mine]
provider = "house"
model = "m"
base_url = "{url}"
"""
NUMBERS = 6


def test_a_provider_is_a_value_in_one_file(copied: CopiedPackage) -> None:
    providers = "judges/providers/builtin.py"
    copied.insert(providers, "from collections.abc import Mapping\n", HOUSE_IMPORTS)
    copied.insert(providers, "_ALL: Final = (", HOUSE_FUNCTIONS)
    copied.insert(providers, '    replace(EMBEDDED, name="ollama"', HOUSE)
    assert copied.touched() == {providers}

    folder = copied.folder
    (folder / "parity.suite.toml").write_text(PARITY, encoding="utf-8")
    numbers = (json.dumps({"id": f"p{n}", "number": str(n)}) + "\n" for n in range(NUMBERS))
    (folder / "numbers.jsonl").write_text("".join(numbers), encoding="utf-8")
    (folder / "cassettes").unlink()  # those of the project are its own
    with endpoint(_answer) as house:
        judge = HOUSE_JUDGE.format(url=house.url)
        (folder / "pyproject.toml").write_text(judge, encoding="utf-8")
        shown = copied.session("parity.suite.toml", "--judge-mode", "record")
    assert "parity.suite.toml::mine::jss_floor[0.9] PASSED" in shown
    # Six numbers under two wordings, each asked once over the wire, and recorded without the port.
    assert [asked.path for asked in house.asked] == ["/v1/ask"] * 2 * NUMBERS
    cassette = (folder / "cassettes" / "mine" / "parity.jsonl").read_text(encoding="utf-8")
    recorded = [json.loads(line)["request"]["url"] for line in cassette.splitlines()]
    assert recorded == ["http://127.0.0.1/v1/ask"] * 2 * NUMBERS


def _answer(_path: str, body: dict[str, Any]) -> tuple[int, str, bytes]:
    """What a judge of parity says, in the format of the house."""
    number = int(re.findall(r"\d+", body["prompt"])[0])
    answer = {"answer": "NO" if number % 2 else "YES"}
    return 200, "application/json", json.dumps(answer).encode()


def _json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))
