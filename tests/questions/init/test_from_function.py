"""``judgesense init --callable --items``: from a function and a CSV to a gate in three commands."""

from __future__ import annotations

import argparse
import csv
import json
import os
import shlex
import shutil
import subprocess
import tomllib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from pytest_judgesense.commands import init
from pytest_judgesense.errors import UsageError
from pytest_judgesense.files.tables import table_of
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.judges.resolving import declared_judges
from pytest_judgesense.questions.init.from_function import (
    Items,
    connected,
    id_column,
    in_own_order_of_items,
    items_of,
    refuse_faults,
)
from pytest_judgesense.questions.init.suite_file import FunctionOptions
from pytest_judgesense.stats.losses import PlannedGate
from pytest_judgesense.suites.loading import load_suite
from tests import processes
from tests.commands.within import judgesense, measured
from tests.plugin.project import ChatServer

# As somebody has it who has never seen this project: a client at module level, a prompt of its own.
MODULE = """
import openai

client = openai.OpenAI(base_url="{url}")

PROMPT = "Question: {{}}\\n[1] {{}}\\n[2] {{}}\\nWhich answer is better? Reply 1 or 2."


def judge(question, answer_a, answer_b):
    content = PROMPT.format(question, answer_a, answer_b)
    reply = client.chat.completions.create(
        model="m-1", messages=[{{"role": "user", "content": content}}], max_tokens=5
    )
    return reply.choices[0].message.content
"""
N = 30
MAPPED = ("--map", "question=prompt", "--map", "answer_a=model_1", "--map", "answer_b=model_2")


def rows() -> list[dict[str, str]]:
    """Thirty pairs with names of their own; the good answer of every other one stands second."""
    texts = ("a good answer", "a poor answer")
    return [
        {
            "nr": str(n),
            "prompt": f"Question {n}, please",
            "model_1": texts[n % 2],
            "model_2": texts[1 - n % 2],
            "better": "model_2" if n % 2 else "model_1",
        }
        for n in range(N)
    ]


def write_csv(path: Path, lines: Sequence[dict[str, str]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(lines[0]))
        writer.writeheader()
        writer.writerows(lines)


def good(prompt: str) -> str:
    """What a judge replies that sees which answer is good."""
    return "1" if "[1] a good" in prompt else "2"


class Folder:
    """A folder with a function and its items, and the endpoint that the function asks."""

    def __init__(self, path: Path, server: ChatServer) -> None:
        self.path, self.server = path, server
        self.begun = ""
        self.environment = {**os.environ, "OPENAI_API_KEY": "sk-own-0123456789abcdef"}
        (path / "myapp.py").write_text(MODULE.format(url=server.base_url))
        write_csv(path / "pairs.csv", rows())

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        return processes.run(*command, cwd=self.path, environment=self.environment, merged=True)

    def init(self, *more: str) -> subprocess.CompletedProcess[str]:
        given = ("--callable", "myapp:judge", "--items", "pairs.csv", *more)
        return self.judgesense("init", *given)

    def judgesense(self, *words: str) -> subprocess.CompletedProcess[str]:
        return judgesense(*words, cwd=self.path, merged=True)

    @property
    def file(self) -> Path:
        return self.path / "suites" / "pairs" / "pairs.suite.toml"

    @property
    def suite(self) -> dict[str, Any]:
        return tomllib.loads(self.file.read_text(encoding="utf-8"))


@pytest.fixture
def server() -> Iterator[ChatServer]:
    served = ChatServer()
    served.reply = good
    yield served
    served.close()


@pytest.fixture
def folder(tmp_path: Path, server: ChatServer) -> Folder:
    return Folder(tmp_path, server)


@pytest.fixture(scope="module")
def written_once(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A folder in which init has connected the thirty pairs, and what it printed."""
    server = ChatServer()
    server.close()
    folder = Folder(tmp_path_factory.mktemp("begun"), server)
    begun = folder.init(*MAPPED)
    assert begun.returncode == 0, begun.stdout
    return folder.path, begun.stdout


@pytest.fixture
def begun(folder: Folder, written_once: tuple[Path, str]) -> Folder:
    """The same in a folder of its own, whose function asks the endpoint of the test."""
    path, folder.begun = written_once
    asking = (folder.path / "myapp.py").read_bytes()
    shutil.copytree(path, folder.path, dirs_exist_ok=True)
    (folder.path / "myapp.py").write_bytes(asking)
    return folder


def commands(printed: str) -> list[list[str]]:
    """The commands that init has printed, as words."""
    return [line.split() for line in printed.splitlines() if line.startswith("  pytest ")]


@pytest.mark.parametrize(
    ("reply", "code", "failing"),
    [
        pytest.param(good, 0, [], id="good", marks=pytest.mark.long),
        # It always takes the first answer: each of the 30 pairs is decided by the position, and one
        # half of 180 verdicts is the label.
        pytest.param(
            lambda _: "1",
            1,
            ["order_positional_bound[0.1]", "agreement_floor[0.8]"],
            id="positional",
            marks=pytest.mark.long,
        ),
    ],
)
def test_three_commands_from_a_function_to_a_gate_without_a_key(
    folder: Folder, reply: Callable[[str], str], code: int, failing: list[str]
) -> None:
    folder.server.reply = reply
    begun = folder.init(*MAPPED)
    assert begun.returncode == 0, begun.stdout
    record, replay = commands(begun.stdout)
    assert record == ["pytest", "suites/pairs", "--judge-mode", "record"]
    assert replay == ["pytest", "suites/pairs"]
    recorded = folder.run(*record)
    assert recorded.returncode == code, recorded.stdout
    assert len(folder.server.asked) == 3 * 2 * N  # three times, both orders
    folder.server.close()
    del folder.environment["OPENAI_API_KEY"]
    replayed = folder.run(*replay)
    assert replayed.returncode == code, replayed.stdout
    for name in failing:
        assert f"judge::{name}" in replayed.stdout
    # The three that compare with the version before have none.
    assert ("3 passed" if code == 0 else "2 failed, 1 passed") + ", 3 skipped" in replayed.stdout
    # Tokens of the traffic: 180 replies of 10 and 1.
    assert "180 replayed, 1,980 tokens" in replayed.stdout


def test_a_parameter_that_no_column_matches_is_asked_for(folder: Folder) -> None:
    done = folder.init()
    assert done.returncode == 2
    what, found, expected, remedy = done.stdout.splitlines()
    assert what == (
        "judgesense: judge(question, answer_a, answer_b) asks for what pairs.csv does not have"
    )
    assert found == "  found:    no column for question, answer_a, answer_b"
    assert expected.endswith("pairs.csv has nr, prompt, model_1, model_2, better")
    assert remedy == (
        "  remedy:   say which: judgesense init --callable myapp:judge --items pairs.csv "
        "--map question=COLUMN --map answer_a=COLUMN --map answer_b=COLUMN"
    )
    assert not (folder.path / "suites").exists()


def test_the_command_that_helps_can_be_pasted_into_a_shell(folder: Folder) -> None:
    """Columns of spreadsheets have spaces: `shlex` reads the options as a shell does."""
    lines = [{"Prompt text": r["prompt"], "A 1": r["model_1"], "A 2": r["model_2"]} for r in rows()]
    write_csv(folder.path / "pairs.csv", lines)
    done = folder.init("--map", "question=Prompt text")
    remedy = done.stdout.splitlines()[-1].partition("say which: ")[2]
    assert shlex.split(remedy)[-4:] == ["--map", "answer_a=COLUMN", "--map", "answer_b=COLUMN"]
    remedy = remedy.replace("answer_a=COLUMN", "'answer_a=A 1'")
    remedy = remedy.replace("answer_b=COLUMN", "'answer_b=A 2'")
    again = folder.judgesense(*shlex.split(remedy)[1:])
    assert again.returncode == 0, again.stdout


def test_a_pair_of_equal_texts_is_written_and_lint_warns_of_it(folder: Folder) -> None:
    lines = rows()[:6]
    lines[4]["model_1"] = "a poor  answer"  # equal but for a blank; the header is line 1
    write_csv(folder.path / "pairs.csv", lines)
    done = folder.init(*MAPPED)
    assert done.returncode == 0
    shown = folder.judgesense("plan", "--lint", "suites/pairs/pairs.suite.toml").stdout
    assert "warning identical-sides: " in shown
    assert "items 4" in shown  # the fifth row, by the column nr
    assert ", 0 errors, " in shown


def test_a_wrong_label_is_named_by_line_and_column(folder: Folder) -> None:
    lines = rows()
    lines[15]["better"] = "modell_2"  # the header is line 1: the 16th item stands in line 17
    write_csv(folder.path / "pairs.csv", lines)
    done = folder.init(*MAPPED)
    assert done.returncode == 2
    assert "pairs.csv:17 cannot be read as items" in done.stdout
    assert "found:    pairs.csv:17, column better: 'modell_2'" in done.stdout
    assert "line 2 has 'model_1'" in done.stdout
    assert "--value SAID=MEANT" in done.stdout
    assert not (folder.path / "suites").exists()
    # What it means can be said.
    told = folder.init(*MAPPED, "--value", "modell_2=2")
    assert told.returncode == 0, told.stdout
    assert folder.suite["stimuli"]["values"] == {"modell_2": "2"}


def parsed(file: Path, *options: str) -> FunctionOptions:
    """The options of the command, as its parser reads them."""
    parser = argparse.ArgumentParser()
    init.add_arguments(parser)
    words = ["--callable", "judges:graded", "--items", str(file), *options]
    return init.function_options(parser.parse_args(words))


def items_in(folder: Path, *rows: dict[str, Any]) -> Items:
    """The items of a file of JSON Lines."""
    file = folder / "items.jsonl"
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return items_of(FunctionOptions("own:judge", file))


def better(question: str, answer_a: str, answer_b: str) -> str:
    """A function of pairs."""
    return max(("A", answer_a), ("B", answer_b), key=lambda side: len(side[1]))[0]


PAIR_COLUMNS = ("--map", "answer_a=first", "--map", "answer_b=second", "--map", "label=best")
SHOWN = [
    {"question": "Why?", "first": "So.", "second": "No.", "order": "ab", "best": "A"},
    {"question": "How?", "first": "Thus.", "second": "Never.", "order": "ba", "best": "A"},
    {"question": "When?", "first": "Now.", "second": "Then.", "order": "ba", "best": "tie"},
]


def test_pairs_are_turned_into_their_own_order_where_they_are_said_to_be_slots(
    tmp_path: Path,
) -> None:
    """Of rows in order ba texts and labels change places; what is a content stays."""
    items = items_in(tmp_path, *SHOWN)
    names = ("--names", "answer_b=slot", "--names", "label=slot")
    turned = in_own_order_of_items(better, items, parsed(items.file, *PAIR_COLUMNS, *names))
    assert [(row.value["first"], row.value["best"]) for row in turned.rows] == [
        ("So.", "A"),
        ("Never.", "B"),
        ("Then.", "tie"),
    ]
    assert turned.is_made
    named = ("--names", "answer_a=content", "--names", "label=content")
    same = in_own_order_of_items(better, items, parsed(items.file, *PAIR_COLUMNS, *named))
    assert same == items


def test_items_in_two_orders_ask_what_their_columns_name(tmp_path: Path) -> None:
    """Nothing is guessed, and an option that is about nothing is refused."""
    items = items_in(tmp_path, *SHOWN)
    with pytest.raises(UsageError, match="it is open what answer_a, label names") as caught:
        in_own_order_of_items(better, items, parsed(items.file, *PAIR_COLUMNS))
    assert "--names answer_a=slot --names label=slot" in caught.value.remedy
    stray = parsed(items.file, *PAIR_COLUMNS, "--names", "question=slot")
    with pytest.raises(UsageError, match="--names question=slot is not used"):
        in_own_order_of_items(better, items, stray)
    plain = items_in(tmp_path, {"output": "x", "label": "YES"}, {"output": "y", "label": "NO"})
    with pytest.raises(UsageError, match="two candidates that changed places"):
        in_own_order_of_items(graded, plain, parsed(plain.file, "--names", "label=slot"))


def test_items_are_joined_and_listed_and_written_as_they_then_are(tmp_path: Path) -> None:
    """Two runs of each of two texts are four items of two clusters; n/a is no label."""
    (tmp_path / "own_runs.py").write_text("def judge(run):\n    return 'yes'\n", encoding="utf-8")
    rows = [{"id": f"q{n}", "run": [f"text {n} one", f"text {n} two"]} for n in range(2)]
    (tmp_path / "runs.json").write_text(json.dumps(rows), encoding="utf-8")
    (tmp_path / "said.csv").write_text("id,said\nq0,yes\nq1,n/a\n", encoding="utf-8")
    given = ("--callable", "own_runs:judge", "--items", "runs.json", "--lists", "run=place")
    joined = ("--join", "said.csv=id", "--map", "label=said", "--value", "n/a=")
    begun = judgesense("init", *given, *joined, "--labels", "yes,no", cwd=tmp_path, merged=True)
    assert begun.returncode == 0, begun.stdout
    assert "rows with one id are one cluster" in begun.stdout
    suite = load_suite(tmp_path / "suites/runs/runs.suite.toml", None, BUILT_IN.forms)
    assert [(item.fields["run"], item.cluster, item.label) for item in suite.items] == [
        ("text 0 one", "q0", "yes"),
        ("text 0 two", "q0", "yes"),
        ("text 1 one", "q1", None),
        ("text 1 two", "q1", None),
    ]


def test_a_pattern_of_files_stays_one_in_the_suite(tmp_path: Path) -> None:
    """A file that is added later belongs to the suite."""
    (tmp_path / "own_pattern.py").write_text(
        "def judge(text):\n    return 'YES'\n", encoding="utf-8"
    )
    (tmp_path / "items").mkdir()
    for name, label in (("a", "YES"), ("b", "NO")):
        text = f"text,label\ntext {name},{label}\n"
        (tmp_path / "items" / f"{name}.csv").write_text(text, encoding="utf-8")
    given = ("--callable", "own_pattern:judge", "--items", "items/*.csv")
    begun = judgesense("init", *given, cwd=tmp_path, merged=True)
    assert begun.returncode == 0, begun.stdout
    (file,) = tmp_path.rglob("*.suite.toml")
    assert tomllib.loads(file.read_text())["stimuli"]["file"].endswith("/items/*.csv")
    assert [item.label for item in load_suite(file, None, BUILT_IN.forms).items] == ["YES", "NO"]


def graded(output: str) -> str:
    """A user's function."""
    return output


@pytest.mark.parametrize(
    ("row", "what"),
    [
        ({"output": {"title": "Lamp"}, "label": "YES"}, ":1 has an object in output"),
        ({"output": "x", "label": ["YES"]}, ":1 has a list in label"),
    ],
)
def test_an_object_in_a_column_that_is_used_is_named_with_its_type(
    tmp_path: Path, row: dict[str, Any], what: str
) -> None:
    items = items_in(tmp_path, row, {"output": "y", "label": "NO"})
    options = parsed(items.file, "--labels", "YES,NO")
    with pytest.raises(UsageError) as caught:
        connected(graded, items, options)
    assert caught.value.what == f"{items.file}{what}"
    assert "json.dumps" in caught.value.remedy


@pytest.mark.parametrize(
    ("options", "values", "labels"),
    [
        ((), {"N/A": ""}, ("1", "2", "3", "4", "5")),
        (("--value", "n/a=3"), {"n/a": "3"}, ("1", "2", "3", "4", "5")),
        # Of answers that are named it may be one.
        (("--labels", "1,2,3,4,5,N/A"), {}, ("1", "2", "3", "4", "5", "N/A")),
    ],
)
def test_a_word_among_grades_is_no_label_unless_it_is_said_to_be_one(
    tmp_path: Path, options: tuple[str, ...], values: dict[str, str], labels: tuple[str, ...]
) -> None:
    rows = [{"output": f"x{n}", "label": str(n % 5 + 1)} for n in range(20)]
    items = items_in(tmp_path, *rows, {"output": "y", "label": "N/A"})
    connection = connected(graded, items, parsed(items.file, *options))
    assert (dict(connection.values), tuple(connection.labels)) == (values, labels)
    assert connection.counts.get("N/A", 0) == ("N/A" in labels)
    told = [line for line in connection.recognised() if "is no label" in line]
    assert told == ["N/A is no label; --value N/A=LABEL says which it is"] * ("" in values.values())


def test_a_column_that_may_hold_the_labels_is_named_in_the_command_that_takes_it(
    tmp_path: Path,
) -> None:
    texts = [{"output": f"x{n}", "of": f"m{n}"} for n in range(6)]
    labelled = [
        {**row, "checked by people": ("pass", "fail")[n % 2]} for n, row in enumerate(texts)
    ]
    items = items_in(tmp_path, *labelled)
    with pytest.raises(UsageError) as caught:
        connected(graded, items, parsed(items.file))
    assert "'label=checked by people'; or the answers: --labels" in caught.value.remedy
    assert caught.value.found == "no column called label; checked by people holds fail, pass"
    # Words that do not repeat are no labels.
    items = items_in(tmp_path, *texts)
    with pytest.raises(UsageError, match="no column called label\n") as caught:
        connected(graded, items, parsed(items.file))
    assert "--map label=COLUMN" in caught.value.remedy


def test_an_object_in_a_column_that_nobody_takes_is_left_alone(tmp_path: Path) -> None:
    row = {"output": "x", "label": "YES", "of": {"model": "m"}}
    items = items_in(tmp_path, row, {**row, "output": "y", "label": "NO"})
    connection = connected(graded, items, parsed(items.file))
    assert connection.counts == {"YES": 1, "NO": 1}


def test_a_fault_of_the_suite_names_the_file_of_the_user(tmp_path: Path) -> None:
    items = items_in(tmp_path, {"output": "x", "label": "YES"}, {"output": "y", "label": "NO"})
    connection = connected(graded, items, parsed(items.file))
    # The rows change before the suite is tried.
    items_in(tmp_path, {"output": "x", "label": "YES", "id": 1}, {"output": "y", "id": 1})
    with pytest.raises(UsageError) as caught:
        refuse_faults(connection, items, "items", "judges:graded")
    assert str(items.file) in str(caught.value)
    assert str(caught.value).count("items.jsonl") == str(caught.value).count(str(items.file)) + 1


def test_a_wrong_label_later_is_one_error_of_pytest(begun: Folder) -> None:
    lines = rows()
    lines[15]["better"] = "modell_2"
    write_csv(begun.path / "pairs.csv", lines)
    done = begun.run("pytest", "suites/pairs")
    assert done.returncode == 2
    assert done.stdout.count("pairs.csv:17, column better: 'modell_2'") == 1
    assert "Traceback" not in done.stdout


def test_a_signature_that_has_changed_is_one_usage_error_and_asks_nobody(
    begun: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = (begun.path / "myapp.py").read_text()
    (begun.path / "myapp.py").write_text(module.replace("(question, ", "(persona, question, ", 1))
    monkeypatch.setenv("OPENAI_API_KEY", begun.environment["OPENAI_API_KEY"])
    with pytest.raises(UsageError) as caught:
        measured(begun.path, "judge", str(begun.file), mode="record")
    assert str(caught.value).count("judge(persona, question, answer_a, answer_b); no field") == 1
    assert 'persona = "..."' in str(caught.value)
    assert begun.server.asked == []


def test_what_is_written_names_fields_columns_labels_and_bars(begun: Folder) -> None:
    folder, printed = begun, begun.begun
    assert "understood: judge on 30 items of pairs.csv: pairwise" in printed
    assert "question is column prompt" in printed
    assert "items are called by column nr" in printed
    assert "labels are in column better: answer_a 15, answer_b 15" in printed
    judge = declared_judges(folder.path)["judge"]
    assert judge.arguments == {"question": "task", "answer_a": "a", "answer_b": "b"}
    suite = folder.suite
    assert suite["stimuli"] == {
        "file": "../../pairs.csv",
        "columns": {
            "task": "prompt",
            "a": "model_1",
            "b": "model_2",
            "label": "better",
            "id": "nr",
        },
    }
    # 30 items: a judge without error clears 0.1 with confidence from 22 clusters on, and 0.15 after
    # it has lost one item (0.149 of single pairs, 0.132 of two calls each). Of agreement it would
    # clear 0.85, which is not short of the bar.
    assert suite["checks"] == {
        "order_positional_bound": {"bar": 0.1, "limit": 0.15},
        "agreement_floor": {"bar": 0.8, "limit": 0.7},
        "unparsed_rate_ceiling": {"bar": 0.1, "limit": 0.15},
        "no_regression": [
            {"measure": "side_bias", "margin": 0.1},
            {"measure": "agreement", "margin": 0.15},
            {"measure": "repeat_flip_rate", "margin": 0.15},
        ],
    }
    assert suite["design"] == {"orders": "both", "replicates": 3}
    text = (folder.path / "suites" / "pairs" / "pairs.suite.toml").read_text(encoding="utf-8")
    assert "# Asked: each pair in both orders, three times: 180 calls. What they cost: " in text
    # Of a judge that is right in .8, with a correlation of .3 within an item, by Holm over three.
    gate = PlannedGate((1,) * 30, 30, 1, 3, pairs=True, bias=0.1, agreement=0.15, repeats=0.15)
    scattered, whole = (
        [f"{gate.first_slot(loss, whole=on_items).bias:.0%}" for loss in (0.1, 0.2)]
        for on_items in (False, True)
    )
    slots = f"{' and '.join(scattered)}, on whole items {' and '.join(whole)}"
    assert f"#   side_bias: {slots} (the first slot wins more often, on 30 pairs)\n" in text
    scattered, whole = (
        [f"{gate.wrong(loss, whole=on_items).agreement:.0%}" for loss in (0.1, 0.2)]
        for on_items in (False, True)
    )
    right = f"{' and '.join(scattered)}, on whole items {' and '.join(whole)}"
    assert f"#   agreement: {right} (on 30 labels)\n" in text
    assert "Without labels" not in text
    linted = folder.judgesense("plan", "--lint", "suites/pairs")
    assert linted.returncode == 0, linted.stdout
    assert "0 errors, 0 warnings" in linted.stdout


def test_a_second_time_everything_is_left_alone(begun: Folder) -> None:
    files = (path for path in begun.path.rglob("*.*") if "__pycache__" not in path.parts)
    before = {path: path.read_bytes() for path in files if path.is_file()}
    again = begun.init(*MAPPED)
    assert again.returncode == 0
    assert again.stdout.count("left alone: ") == 4
    assert all(path.read_bytes() == content for path, content in before.items())


def test_other_judges_stay_and_the_commands_name_the_new_one(folder: Folder) -> None:
    table = '[tool.judgesense.judges.judge]\nprovider = "embedded"\nmodel = "clean"\n'
    (folder.path / "pyproject.toml").write_text(table)
    write_csv(folder.path / "pairs.csv", rows()[:6])
    printed = folder.init(*MAPPED).stdout
    assert commands(printed)[1] == ["pytest", "suites/pairs", "--judge-name", "judge-2"]
    assert set(declared_judges(folder.path)) == {"judge", "judge-2"}
    # As it stands the workflow would ask each judge about the suites of the others.
    assert "the workflow's `pytest suites` asks every judge about every suite" in printed


# --- other kinds, other files --------------------------------------------------------------------


def written(folder: Path, code: str, file: str, items: Any, *more: str) -> Any:
    """What init makes of a function and items; the suite, loaded."""
    (folder / "own.py").write_text(code)
    path = folder / file
    if path.suffix == ".csv":
        write_csv(path, items)
    elif path.suffix == ".json":
        path.write_text(json.dumps(items))
    else:
        path.write_text("".join(json.dumps(item) + "\n" for item in items))
    given = ("init", "--callable", "own:judge", "--items", file, *more)
    done = judgesense(*given, cwd=folder, merged=True)
    assert done.returncode == 0, done.stdout
    stem = path.stem
    return load_suite(folder / "suites" / stem / f"{stem}.suite.toml", None, BUILT_IN.forms)


def test_a_function_of_one_text_is_measured_on_labels(tmp_path: Path) -> None:
    items = [{"text": f"text {n}", "label": ("yes", "no")[n % 2]} for n in range(24)]
    suite = written(tmp_path, "def judge(text): return True\n", "texts.json", items)
    assert suite.space.labels == ("no", "yes")
    assert suite.replicates == 3
    # The list stands on one line.
    assert [item.label for item in suite.items[:2]] == ["yes", "no"]
    names = [declared.name for declared in suite.checks]
    gated = ["repeat_flip_rate_bound", "agreement_floor", "unparsed_rate_ceiling"]
    assert names == [*gated, "no_regression", "no_regression"]


def test_labels_may_hold_whatever_toml_would_read_as_its_own(tmp_path: Path) -> None:
    labels = ("n\\o", 'y"e"s')
    items = [{"text": f"text {n}", "label": labels[n % 2]} for n in range(24)]
    suite = written(tmp_path, "def judge(text): return True\n", "texts.json", items)
    assert suite.space.labels == labels
    assert suite.templates[0].text.endswith('Answer with one of: n\\o, y"e"s.')


def test_grades_make_a_scale(tmp_path: Path) -> None:
    items = [{"summary": f"text {n}", "score": n % 4 + 1} for n in range(24)]
    code = "async def judge(summary, strict=False): return 3\n"
    suite = written(tmp_path, code, "grades.jsonl", items, "--map", "label=score")
    assert suite.space.labels == ("1", "2", "3", "4")
    assert suite.space.ordinal
    assert suite.items[3].fields == {"summary": "text 3"}
    assert (suite.items[3].id[:2], suite.items[3].place) == ("x-", "line 4")


def test_no_and_yes_as_numbers_are_labels_and_a_bool_is_one_of_them(tmp_path: Path) -> None:
    items = [{"text": f"text {n}", "label": str(n % 2)} for n in range(24)]
    code = "def judge(text): return int(text.split()[1]) % 2 == 1\n"
    suite = written(tmp_path, code, "texts.csv", items)
    assert suite.space.labels == ("0", "1")
    assert not suite.space.ordinal
    checks = measured(tmp_path, "judge", str(suite.path), mode="record").checks
    assert [check.outcome for check in checks] == ["pass"] * 3  # agreement is one of the three


@pytest.mark.parametrize(
    ("values", "labels", "ordinal"),
    [
        (("yes=PASS", "no=FAIL"), ("FAIL", "PASS"), False),
        (("yes=PASS",), ("PASS", "no"), False),
        (("YES=PASS", "No=FAIL"), ("FAIL", "PASS"), False),
        (("yes=4", "no=2"), ("2", "4"), False),  # two values are no scale
    ],
)
def test_the_labels_are_what_the_values_of_the_column_mean(
    tmp_path: Path, values: tuple[str, ...], labels: tuple[str, ...], ordinal: bool
) -> None:
    items = [{"text": f"text {n}", "label": ("yes", "no")[n % 2]} for n in range(24)]
    given = [word for value in values for word in ("--value", value)]
    code = "def judge(text): return True\n"
    suite = written(tmp_path, code, "texts.csv", items, *given)
    assert (suite.space.labels, suite.space.ordinal) == (labels, ordinal)
    assert {item.label for item in suite.items} <= {*labels}
    assert len({item.label for item in suite.items}) == 2


def test_a_row_without_a_text_of_the_function_is_named_by_its_line(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text("def judge(text): return True\n")
    rows = [{"text": "a", "label": "yes"}, {"text": None, "label": "no"}, {"label": "no"}]
    (tmp_path / "x.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    given = ("init", "--callable", "own:judge", "--items", "x.jsonl")
    done = judgesense(*given, cwd=tmp_path, merged=True)
    assert done.returncode == 2
    assert done.stdout.splitlines() == [
        "judgesense: x.jsonl:2 has no text, which the function takes as text",
        "  found:    null, or no such field",
        "  expected: a text for each parameter, in every row",
        '  remedy:   fill it in ("" is an empty text), or leave the row out',
    ]


@pytest.mark.parametrize("target", ["own", "own:", ":judge"])
def test_a_callable_without_module_or_function_is_one_usage_error(
    tmp_path: Path, target: str
) -> None:
    (tmp_path / "x.jsonl").write_text('{"text": "a"}\n')
    given = ("init", "--callable", target, "--items", "x.jsonl")
    done = judgesense(*given, cwd=tmp_path, merged=True)
    assert done.returncode == 2
    assert f"--callable {target} names no function" in done.stdout
    assert "MODULE:FUNCTION" in done.stdout


def test_grades_between_the_steps_of_a_scale_are_one_usage_error(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text("def judge(text): return 0.2\n")
    write_csv(tmp_path / "x.csv", [{"text": f"t{n}", "label": str(n / 5)} for n in range(6)])
    given = ("init", "--callable", "own:judge", "--items", "x.csv", "--kind", "grades")
    done = judgesense(*given, cwd=tmp_path, merged=True)
    assert done.returncode == 2
    assert "--kind grades is about whole numbers" in done.stdout
    assert "0.2" in done.stdout


def test_items_outside_the_project_are_copied(tmp_path: Path) -> None:
    items = [{"text": f"text {n}"} for n in range(4)]
    project = tmp_path / "project"
    project.mkdir()
    (tmp_path / "x.jsonl").write_text("".join(json.dumps(item) + "\n" for item in items))
    (project / "own.py").write_text("def judge(text): return 'YES'\n")
    given = ("--callable", "own:judge", "--items", "../x.jsonl", "--labels", "YES,NO")
    done = judgesense("init", *given, cwd=project, merged=True)
    assert done.returncode == 0, done.stdout
    assert "agreement is not gated" in done.stdout
    assert (project / "suites" / "x" / "x.jsonl").is_file()
    # Columns of the names of parameters, without ids, in JSON Lines: read as they are.
    checks = measured(project, "judge", "suites/x/x.suite.toml", mode="record").checks
    assert [check.outcome for check in checks] == ["pass"] * 2


@pytest.mark.parametrize(
    ("code", "more", "told"),
    [
        ("def judge(text): return 1\n", (), "the possible answers of own:judge are not known"),
        ("def judge(text): return 1\n", ("--map", "text=txt"), "--map text=txt matches nothing"),
        ("def judge(body): return 1\n", ("--map", "text=body"), "--map text=body matches nothing"),
        ("def judge(messages): return 1\n", (), "takes nothing of x.jsonl"),
        ("raise KeyError('MY_KEY')\n", (), "its module fails"),
        ("raise SystemExit(3)\n", (), "found:    own:judge: SystemExit: 3"),
        ("import pytest\npytest.skip('x', allow_module_level=True)\n", (), "Skipped: x"),
        ("x = 1\n", (), "cannot be imported"),
        ("def judge(text): return 1\n", ("--kind", "pairwise"), "compares two answers"),
    ],
)
def test_what_cannot_be_joined_is_one_usage_error(
    tmp_path: Path, code: str, more: tuple[str, ...], told: str
) -> None:
    (tmp_path / "own.py").write_text(code)
    (tmp_path / "x.jsonl").write_text('{"text": "a"}\n')
    given = ("init", "--callable", "own:judge", "--items", "x.jsonl", *more)
    done = judgesense(*given, cwd=tmp_path, merged=True)
    assert done.returncode == 2, done.stdout
    assert told in done.stdout
    assert "Traceback" not in done.stdout
    assert len(done.stdout.splitlines()) <= 4
    assert not (tmp_path / "suites").exists()


def test_callable_and_items_belong_together(tmp_path: Path) -> None:
    done = judgesense("init", "--items", "x.csv", cwd=tmp_path, merged=True)
    assert done.returncode == 2
    assert "--callable and --items belong together" in done.stdout


@pytest.mark.parametrize(
    ("more", "told"),
    [
        (("--value", "good=YES"), "--value good=YES matches nothing in column label"),
        (("--value", "PASS=yes"), "--value PASS=yes matches nothing in column label"),
        (("--labels", "PASS,FAIL", "--value", "yes=GOOD"), "--value yes=GOOD --value SAID=MEANT"),
        (("--labels", "PASS"), "2 to 12 labels, each once, such as YES,NO"),
        (("--labels", "0,...,10"), "found:    0,...,10"),
        (("--labels", "1..5,6"), "found:    1..5,6"),
        (("--labels", "PASS,FAIL,PASS"), "found:    PASS,FAIL,PASS"),
    ],
)
def test_words_that_say_nothing_of_the_labels_are_refused(
    tmp_path: Path, more: tuple[str, ...], told: str
) -> None:
    (tmp_path / "own.py").write_text("def judge(text): return True\n")
    (tmp_path / "x.csv").write_text("text,label\na,yes\nb,no\n")
    given = ("init", "--callable", "own:judge", "--items", "x.csv", *more)
    done = judgesense(*given, cwd=tmp_path, merged=True)
    assert done.returncode == 2, done.stdout
    assert told in done.stdout
    assert not (tmp_path / "suites").exists()


def test_a_value_without_a_column_of_labels_asks_for_the_column(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text("def judge(text): return True\n")
    (tmp_path / "x.csv").write_text("text,fine\na,yes\nb,no\n")
    given = ("init", "--callable", "own:judge", "--items", "x.csv", "--value", "yes=YES")
    done = judgesense(*given, cwd=tmp_path, merged=True)
    assert done.returncode == 2, done.stdout
    assert "is about labels, and x.csv has no known column of them" in done.stdout
    assert "found:    columns: text, fine" in done.stdout
    assert "--value yes=YES --map label=COLUMN" in done.stdout


@pytest.mark.parametrize(
    ("file", "text", "place"),
    [
        ("x.jsonl", '{"text": "a"}\nnull\n', "x.jsonl:2"),
        ("x.json", '[{"text": "a"}, null]', "x.json, record 2"),
    ],
)
def test_a_row_that_is_null_is_shown_where_it_stands(
    tmp_path: Path, file: str, text: str, place: str
) -> None:
    (tmp_path / "own.py").write_text("def judge(text): return True\n")
    (tmp_path / file).write_text(text)
    given = ("init", "--callable", "own:judge", "--items", file)
    done = judgesense(*given, cwd=tmp_path, merged=True)
    assert done.returncode == 2
    what, found, expected, remedy = done.stdout.splitlines()
    assert what == f"judgesense: {place} is not an object"
    assert found == "  found:    null"
    assert "an object with a key for each column" in expected
    assert "leave it out" in remedy


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (("--value", "a=b"), "--value without --callable or --from-log"),
        (("--kind", "score", "--pass-mark", "1"), "--kind, --pass-mark without --callable"),
        (("--labels", "A,B"), "--labels without --callable or --from-log"),
        (("--sample", "3"), "--sample without --from-log"),
        (("--join", "a=b", "--lists", "c=d"), "--lists, --join without --callable or --from-log"),
    ],
)
def test_options_of_another_way_to_begin_are_refused(
    tmp_path: Path, given: tuple[str, ...], told: str
) -> None:
    done = judgesense("init", *given, cwd=tmp_path, merged=True)
    assert done.returncode == 2, done.stdout
    assert told in done.stdout
    assert not [*tmp_path.iterdir()]


def started(folder: Path, labels: Sequence[str], *more: str) -> subprocess.CompletedProcess[str]:
    """`judgesense init` for a function of one text, on items with these labels."""
    (folder / "own.py").write_text("def judge(text): return '4'\n")
    write_csv(folder / "x.csv", [{"text": f"t{n}", "human": one} for n, one in enumerate(labels)])
    given = ("init", "--callable", "own:judge", "--items", "x.csv", "--map", "label=human", *more)
    return judgesense(*given, cwd=folder, merged=True)


def test_labels_that_a_table_writes_as_4_0_are_a_scale(tmp_path: Path) -> None:
    done = started(tmp_path, ["1.0", "7.0", "10.0", ""] * 10)
    assert done.returncode == 0, done.stdout
    assert all(f"{n} 10" in done.stdout for n in (1, 7, 10))
    assert "answers are whole numbers from 1 to 10; --labels names others" in done.stdout
    suite = tomllib.loads((tmp_path / "suites/x/x.suite.toml").read_text(encoding="utf-8"))
    assert suite["space"] == {"labels": [str(n) for n in range(1, 11)], "ordinal": True}
    sheet = measured(tmp_path, "judge", "suites/x/x.suite.toml", mode="live")
    (unparsed,) = (e for e in sheet.estimates if (e.measure, e.condition) == ("unparsed_rate", {}))
    # 40 texts, three times: the 4 that the function returns is one of the labels.
    assert (unparsed.count, unparsed.n) == (0, 120)
    linted = judgesense("plan", "--lint", "suites/x", cwd=tmp_path, merged=True)
    assert linted.returncode == 0, linted.stdout


@pytest.mark.parametrize(
    ("count", "said"),
    [
        (
            30,
            "# accepted: the 95% bound must clear it, as it does for a judge that loses one item.",
        ),
        (
            2,
            "# enough to exclude anything: a bar alone is held against the result as it is.",
        ),
    ],
)
def test_the_suite_says_whether_its_items_can_exclude_anything(
    count: int, said: str, tmp_path: Path
) -> None:
    started(tmp_path, ["4", "5"] * (count // 2))
    text = (tmp_path / "suites/x/x.suite.toml").read_text(encoding="utf-8")
    assert said in text.splitlines()
    linted = judgesense("plan", "--lint", "suites/x", cwd=tmp_path, merged=True).stdout
    # What the suite says, lint finds.
    assert ("undecidable" in linted) is (count == 2)


def test_numbers_of_many_levels_make_a_suite_of_scores(tmp_path: Path) -> None:
    done = started(tmp_path, [str(n) for n in range(40, 100)], "--pass-mark", "70")
    assert done.returncode == 0, done.stdout
    assert "labels are in column human: 60 numbers from 40 to 99" in done.stdout
    assert "answers are scores from 0 to 100; --labels LOW,HIGH names other ends" in done.stdout
    suite = tomllib.loads((tmp_path / "suites/x/x.suite.toml").read_text(encoding="utf-8"))
    assert suite["space"] == {"score": {"low": 0, "high": 100}, "pass_mark": 70}
    assert {entry["measure"] for entry in suite["checks"]["no_regression"]} == {
        "score_error",
        "repeat_distance",
    }
    sheet = measured(tmp_path, "judge", "suites/x/x.suite.toml", mode="live")
    of_sheet = {e.measure: e for e in sheet.estimates}
    # The function returns 4 for each: the labels lie 36 to 95 above, 65.5 in the mean.
    assert of_sheet["score_bias"].value == pytest.approx(-0.655)
    assert of_sheet["score_error"].value == pytest.approx(0.655)
    # It fails all of them, and 30 labels are below 70.
    assert (of_sheet["mark_agreement"].count, of_sheet["mark_agreement"].n) == (90, 180)
    linted = judgesense("plan", "--lint", "suites/x", cwd=tmp_path, merged=True)
    assert linted.returncode == 0, linted.stdout


# What can be called as it is, and what would need an object first.

_OBJECTS = """
import functools


class Judge:
    def __init__(self, word="good"):
        self.word = word

    def __call__(self, question, answer_a, answer_b):
        return "1" if f"a {self.word}" in answer_a else "2"

    def better(self, question, answer_a, answer_b):
        return self(question, answer_a, answer_b)

    @functools.lru_cache
    def cached(self, question, answer_a, answer_b):
        return self(question, answer_a, answer_b)

    async def later(self, question, answer_a, answer_b):
        return self(question, answer_a, answer_b)

    @staticmethod
    def static(question, answer_a, answer_b):
        return Judge()(question, answer_a, answer_b)

    @classmethod
    def of_class(cls, question, answer_a, answer_b):
        return cls()(question, answer_a, answer_b)


class Heir(Judge):
    class Inner(Judge):
        pass


class NoCall:
    def better(self, question, answer_a, answer_b):
        return "1"


class Namespace:
    judge = Judge()


made = Judge()
bound = made.better
by_lambda = lambda question, answer_a, answer_b: made(question, answer_a, answer_b)
partly = functools.partial(Judge.better, made)
"""


@pytest.fixture
def objects(tmp_path: Path) -> Path:
    (tmp_path / "own.py").write_text(_OBJECTS)
    write_csv(tmp_path / "pairs.csv", rows())
    return tmp_path


@pytest.mark.parametrize(
    "target",
    [
        "made",
        *(
            pytest.param(target, marks=pytest.mark.long)
            for target in (
                *(
                    "by_lambda",
                    "Judge.static",
                    "bound",
                    "made.better",
                    "made.later",
                    "made.cached",
                    "partly",
                ),
                *("Heir.static", "Judge.of_class", "Namespace.judge"),
            )
        ),
    ],
)
def test_what_can_be_called_becomes_a_judge_that_works(objects: Path, target: str) -> None:
    given = ("--callable", f"own:{target}", "--items", "pairs.csv", *MAPPED)
    done = judgesense("init", *given, cwd=objects, merged=True)
    assert done.returncode == 0, done.stdout
    recorded = processes.run(*commands(done.stdout)[0], cwd=objects, merged=True)
    # Thirty pairs, each right in both orders: every check passes.
    assert recorded.returncode == 0, recorded.stdout
    assert "3 passed" in recorded.stdout


@pytest.mark.parametrize(
    ("target", "what", "remedy"),
    [
        ("Judge.better", "a method without its object", "judge = Judge(...).better, and name"),
        ("Judge.cached", "a method without its object", "judge = Judge(...).cached, and name"),
        ("Judge.later", "a method without its object", "judge = Judge(...).later, and name"),
        ("Heir.better", "a method without its object", "judge = Heir(...).better, and name"),
        ("Heir.Inner.better", "a method without its object", "judge = Heir.Inner(...).better"),
        ("Judge", "a class", "judge = Judge(...), and name own:judge"),
        ("Heir", "a class", "judge = Heir(...), and name own:judge"),
        ("NoCall", "a class", "judge = NoCall(...).METHOD, and name own:judge"),
    ],
)
@pytest.mark.parametrize("more", [(), ("--map", "self=prompt")])
def test_what_needs_an_object_is_one_usage_error(
    objects: Path, target: str, what: str, remedy: str, more: tuple[str, ...]
) -> None:
    given = ("--callable", f"own:{target}", "--items", "pairs.csv", *MAPPED, *more)
    done = judgesense("init", *given, cwd=objects, merged=True)
    assert done.returncode == 2, done.stdout
    assert f"judge 'own:{target}' is {what}" in done.stdout
    assert remedy in done.stdout
    assert "self=" not in done.stdout
    assert not (objects / "suites").exists()


@pytest.mark.parametrize(
    ("rows_of_file", "used", "column"),
    [
        # The first that is filled, different in every row, and without blanks.
        ([("a b", "x", "t-1"), ("c d", "x", "t-2")], (), "ticket"),
        ([("ab", "x", "t-1"), ("cd", "y", "t-2")], (), "text"),
        ([("ab", "x", "t-1"), ("cd", "y", "t-2")], ("text", "label"), "ticket"),
        ([("a b", "x", "t-1"), ("c d", "x", "t-1")], (), None),
        ([("a b", "x", "t-1"), ("c d", "x", "")], (), None),
        ([("a b", "x", "t 1"), ("c d", "x", "t 2")], (), None),
    ],
)
def test_a_column_that_names_the_items_becomes_their_id(
    rows_of_file: list[tuple[str, ...]], used: tuple[str, ...], column: str | None
) -> None:
    columns = ("text", "label", "ticket")
    rows = [dict(zip(columns, row, strict=True)) for row in rows_of_file]
    assert id_column(items_of_rows(rows), used) == column
    with_ids = [{**row, "id": f"{number}"} for number, row in enumerate(rows)]
    assert id_column(items_of_rows(with_ids), used) is None


def items_of_rows(rows: list[dict[str, str]]) -> Items:
    path = Path("x.jsonl")
    return Items(path, table_of("\n".join(map(json.dumps, rows)).encode(), path))


def test_the_column_of_ids_is_written_into_the_suite_and_said(tmp_path: Path) -> None:
    items = [
        {"text": f"text {n}", "label": ("yes", "no")[n % 2], "ticket": f"T{n}"} for n in range(24)
    ]
    suite = written(tmp_path, "def judge(text): return True\n", "texts.csv", items)
    assert [item.id for item in suite.items[:2]] == ["T0", "T1"]
    assert 'id = "ticket"' in suite.path.read_text()
    shutil.rmtree(tmp_path / "suites")
    (tmp_path / "pyproject.toml").unlink()
    given = ("init", "--callable", "own:judge", "--items", "texts.csv")
    done = judgesense(*given, cwd=tmp_path, merged=True)
    assert "items are called by column ticket" in done.stdout
