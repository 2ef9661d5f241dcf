"""``judgesense compare SUITE --judges``: two endpoints, one of which gives a grade more.

Of 50 items ten have each of five grades. The old judge gives the grade that is in the text, the new
one a grade more, but for 5: so 10 verdicts are the same, and what passed at 4 passes at 5.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_judgesense import measure
from tests.commands.recordings import told
from tests.plugin.project import ChatServer

N = 50
SUITE = """schema = "judgesense/suite/1"
name = "grades"
kind = "paraphrase"
[space]
labels = ["1", "2", "3", "4", "5"]
ordinal = true
[stimuli]
file = "grades.csv"
[[templates]]
id = "t1"
text = "Grade this from 1 to 5: {{answer}}"
"""
JUDGE = """[tool.judgesense.judges.{name}]
provider = "openai"
model = "m-{name}"
base_url = "{url}"
max_tokens = 5
prices = {{ prompt = 1, completion = 2 }}
"""
Run = Callable[..., tuple[int, str, str]]


def grade(prompt: str) -> int:
    return int(re.findall(r"worth (\d)", prompt)[0])


@pytest.fixture
def servers() -> Iterator[dict[str, ChatServer]]:
    served = {name: ChatServer() for name in ("old", "new", "alike")}
    served["old"].reply = lambda prompt: str(grade(prompt))
    served["new"].reply = lambda prompt: str(min(5, grade(prompt) + 1))
    served["alike"].reply = lambda prompt: "3" if "answer 13 " in prompt else str(grade(prompt))
    yield served
    for server in served.values():
        server.close()


@pytest.fixture
def run(
    tmp_path: Path,
    servers: dict[str, ChatServer],
    monkeypatch: pytest.MonkeyPatch,
    capsys: Any,
) -> Run:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-own-0123456789abcdef")
    with Path("grades.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "answer", "label"])
        writer.writerows([f"i{n}", f"answer {n} worth {n % 5 + 1}", n % 5 + 1] for n in range(N))
    Path("grades.suite.toml").write_text(SUITE, encoding="utf-8")
    tables = (JUDGE.format(name=name, url=of.base_url) for name, of in servers.items())
    Path("pyproject.toml").write_text("\n".join(tables), encoding="utf-8")

    def run(old: str, new: str, suite: str, *more: str) -> tuple[int, str, str]:
        code, out, err = told(capsys, "compare", suite, "--judges", old, new, *more)
        return code, " ".join(out.split()), err

    return run


def test_it_asks_what_is_missing_after_its_price_and_then_replays(
    run: Run, servers: dict[str, ChatServer]
) -> None:
    asked = servers["old"].asked, servers["new"].asked
    code, shown, _ = run("old", "new", "grades.suite.toml", "--plan")
    assert code == 0
    assert re.search(r"old: 50 calls, 50 to be made; cost: 0\.00\d+ to 0\.00\d+ USD", shown)
    assert [len(of) for of in asked] == [0, 0]
    code, _, err = run("old", "new", "grades.suite.toml")
    assert code == 3
    assert "judgesense compare grades.suite.toml --judges old new --judge-mode record" in err
    code, shown, _ = run("old", "new", "grades.suite.toml", "--judge-mode", "record")
    assert code == 1  # the agreement with the labels is worse
    assert [len(of) for of in asked] == [N, N]
    assert "new: 50 calls, 50 to be made" in shown
    code, again, _ = run("old", "new", "grades.suite.toml", "-o", "x.json")
    assert code == 1
    assert [len(of) for of in asked] == [N, N]
    assert again.removesuffix(" migration written: x.json") in shown
    value = json.loads(Path("x.json").read_text(encoding="utf-8"))
    assert (value["old"], value["new"], value["decided"]) == ("old", "new", N)
    assert value["same_verdict"]["value"] == pytest.approx(0.2)
    assert (
        value["same_verdict"]["interval"]["lower"]
        < 0.2
        < value["same_verdict"]["interval"]["upper"]
    )
    assert value["worse"] == ["agreement"]
    mark = value["mark"]
    assert (mark["old"], mark["new"], mark["new_rate"], mark["answer"]) == (
        *("4", "5", 0.4, "undecided"),
    )
    # At the old mark 4 the new judge passes 30 of 50.
    assert (mark["at_old"], mark["within"]) == (0.6, 0.02)
    (agreement,) = [r for r in value["tables"]["measures"] if r["measure"] == "agreement"]
    assert (agreement["old"], agreement["new"]) == (1.0, pytest.approx(0.2))
    assert agreement["change"] == pytest.approx(-0.8)


def test_live_asks_afresh_and_keeps_nothing(run: Run, servers: dict[str, ChatServer]) -> None:
    run("old", "new", "grades.suite.toml", "--judge-mode", "record")
    recorded = {path: path.read_bytes() for path in Path("cassettes").rglob("*.jsonl")}
    code, shown, _ = run("old", "new", "grades.suite.toml", "--judge-mode", "live")
    assert code == 1
    assert "new: 50 calls, 50 to be made" in shown
    assert len(servers["new"].asked) == 2 * N
    assert {path: path.read_bytes() for path in Path("cassettes").rglob("*.jsonl")} == recorded


def test_a_judge_that_is_alike_is_fine(run: Run) -> None:
    code, shown, _ = run("old", "alike", "grades.suite.toml", "--judge-mode", "record")
    assert code == 0
    # The item 13 has a 4 and gets a 3: one of 50 changes, and its side at 4.
    assert "the same verdict: 49 of 50, 0.980" in shown
    assert "alike and old cannot be told apart" in shown
    assert "0.400 pass at 4 of old of alike 4 keeps it best, with 0.380" in shown
    code, shown, _ = run("old", "alike", "grades.suite.toml", "--within", "0.01")
    assert code == 0
    assert "undecided: a fit, plus or minus" in shown
    assert "items like these would settle it" in shown
    code, shown, _ = run("old", "alike", "grades.suite.toml", "--within", "0.2")
    assert code == 0
    assert "kept: at 4 the rate moves by -0." in shown


def test_marks_of_the_old_judge_are_labels_or_shares(run: Run) -> None:
    run("old", "new", "grades.suite.toml", "--judge-mode", "record")
    for mark, words in (
        ("2", "0.800 pass at 2"),
        ("0.5", "0.600 pass at 3"),
        ("3.5", "0.400 pass at 3.5"),
    ):
        _, shown, _ = run("old", "new", "grades.suite.toml", "--mark", mark)
        assert words in shown
    for mark in ("9", "x", "-1", "1", "0"):
        code, _, err = run("old", "new", "grades.suite.toml", f"--mark={mark}")
        assert code == 2
        assert f"--mark {mark} is no mark of grades" in err
    code, _, err = run("embedded:clean", "embedded:noisy", "factuality", "--mark", "YES")
    assert code == 2
    assert "which have no order" in err


def test_a_log_stands_for_a_judge_that_cannot_be_asked_any_more(run: Run) -> None:
    measure(["old", "new"], "grades.suite.toml", mode="record").write("both.jsonl")
    measure("old", "grades.suite.toml").write("old.jsonl")
    table = Path("pyproject.toml").read_text(encoding="utf-8")
    Path("pyproject.toml").write_text(
        table.replace("judges.old]", "judges.gone]"), encoding="utf-8"
    )
    code, _, err = run("old", "new", "grades.suite.toml")
    assert code == 2
    assert "judge old is recorded, and not declared" in err
    assert "name its judgment log" in err
    code, shown, _ = run("old.jsonl", "new", "grades.suite.toml")
    assert code == 1
    assert "old -> new on grades" in shown
    assert "of new 5 keeps it best" in shown
    other = Path("old.jsonl").read_text(encoding="utf-8")
    Path("again.jsonl").write_text(other, encoding="utf-8")
    code, shown, _ = run("old.jsonl", "again.jsonl", "grades.suite.toml")
    assert code == 0
    assert "old.jsonl -> again.jsonl on grades" in shown
    assert "the same verdict: 50 of 50" in shown
    # The agreement of both is that of the ten trials that both were asked.
    Path("new.jsonl").write_text("".join(other.splitlines(True)[:10]), encoding="utf-8")
    code, shown, _ = run("new.jsonl", "new", "grades.suite.toml", "-o", "part.json")
    assert "10 trials of 10 items" in shown
    assert "left out: 40 trials that only one of them was asked" in shown
    part = json.loads(Path("part.json").read_text(encoding="utf-8"))
    assert (part["trials"], part["left_out"]) == (10, 40)
    (agreement,) = [r for r in part["tables"]["measures"] if r["measure"] == "agreement"]
    # Two of ten have a 5, which the new judge gives too.
    assert (agreement["old"], agreement["new"]) == (1.0, pytest.approx(0.2))
    Path("new.jsonl").write_text(other.splitlines(True)[0], encoding="utf-8")
    _, shown, _ = run("new.jsonl", "new", "grades.suite.toml")
    assert "cannot be told apart on 1 items: there are too few" in shown
    Path("again.jsonl").write_text(other.replace("/i", "/other"), encoding="utf-8")
    code, _, err = run("old.jsonl", "again.jsonl", "grades.suite.toml")
    assert code == 2
    assert "no trial of grades with a verdict of both judges" in err
    code, _, err = run("both.jsonl", "new", "grades.suite.toml")
    assert code == 2
    assert "both.jsonl is no log of one judge on grades" in err
    code, _, err = run("old.jsonl", "embedded:clean", "coherence")
    assert code == 2
    assert "is no log of one judge on coherence" in err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("old", "old", "grades.suite.toml"), "not moved to itself"),
        (("old", "nobody", "grades.suite.toml"), "nobody"),
        (("old", "new", "grades.suite.toml", "-o", "x.md"), "cannot be written in this form"),
        (("old", "new", "grades.suite.toml", "--judge-name", "old"), "--judge-name names no judge"),
    ],
)
def test_what_is_no_move_is_a_wrong_command(
    arguments: tuple[str, ...], words: str, run: Run
) -> None:
    code, _, err = run(*arguments)
    assert code == 2
    assert words in err


def test_pairs_show_the_bias_of_each_for_a_slot(run: Run) -> None:
    code, _, _ = run("embedded:clean", "embedded:positional", "preference", "-o", "x.json")
    assert code == 1
    value = json.loads(Path("x.json").read_text(encoding="utf-8"))
    (bias,) = [row for row in value["tables"]["measures"] if row["measure"] == "side bias"]
    sheets = [measure(f"embedded:{name}", "preference") for name in ("clean", "positional")]
    expected = [
        next(e.value for e in s.estimates if e.measure == "side_bias" and not e.condition)
        for s in sheets
    ]
    assert [bias["old"], bias["new"]] == expected
    assert bias["verdict"] == "worse"
    assert value["mark"] is None


@pytest.mark.parametrize("arguments", [("--mark", "4"), ("--within", "0.1")])
def test_a_mark_is_of_two_judges(arguments: tuple[str, str], run: Run, capsys: Any) -> None:
    code, _, err = told(capsys, "compare", "grades.suite.toml", *arguments)
    assert code == 2
    assert "an option belongs to another comparison" in err
    assert arguments[0] in err


def test_three_judges_are_compared_two_by_two(run: Run, capsys: Any) -> None:
    command = ("compare", "grades.suite.toml", "--judges", "alike", "new", "old")
    code, _, err = told(capsys, *command)
    assert code == 3
    assert "grades.suite.toml --judges alike new old --judge-mode record (150 calls, cost: " in err
    code, out, _ = told(capsys, *command, "--judge-mode", "record", "-o", "x.json")
    assert code == 1  # the agreement of the second is worse
    assert "new is worse than alike: agreement 0.980 -> 0.200" in " ".join(out.split())
    content = json.loads(Path("x.json").read_text(encoding="utf-8"))
    assert (content["judges"], content["first"]) == (["alike", "new", "old"], "alike")
    # Of the old judge all are right, of one that is alike 49, and of a generous one those with a 5.
    changes = [row["agreement change"] for row in content["table"]]
    assert changes == pytest.approx([0.2 - 0.98, 1 - 0.98, 1 - 0.2])
    for form, expected in ((".csv", 2), (".md", 1)):
        code, _, err = told(capsys, *command, "-o", f"x{form}")
        assert code == expected
    assert Path("x.md").read_text(encoding="utf-8").count("| `alike` |") == 2


def test_prompts_and_judges_are_two_comparisons(run: Run) -> None:
    code, _, err = run("old", "new", "grades.suite.toml", "--prompts", "a.txt", "b.txt")
    assert code == 2
    assert "two comparisons are asked for at once" in err
