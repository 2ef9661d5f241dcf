"""The numbers of one fact agree wherever they stand: in every rendering of one session."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests import processes
from tests.plugin.project import Once, Project

SUITE = """
schema = "judgesense/suite/1"
name = "shop"
kind = "paraphrase"

[space]
labels = ["A", "B"]
pairwise = true
tie = true

[stimuli]
file = "pairs.csv"
columns = { task = "question", a = "one", b = "two", label = "better" }

[design]
orders = "both"

[[templates]]
id = "t1"
text = "{{task}} A: {{a}} B: {{b}}"

[checks]
agreement_floor = 0.8
order_positional_bound = 0.1
unparsed_rate_ceiling = 0.5
"""

CONFTEST = """
from pytest_judgesense import Judge

def judge(task, a, b):
    number = int(task.split()[-1])
    if number < 4:
        return "I cannot say."
    return "A" if number < 8 else "B" if "worse" in a else "A"

def pytest_judgesense_judges(config):
    return [Judge("mine", judge)]
"""
# 12 pairs in both orders, of which content 1 is better. 0 to 3: no verdict, 8 replies. 4 to 7: slot
# A in both orders, 4 of 8 right. 8 to 11: right in both. So 12 of 24 replies give the label, 12 do
# not, 8 of them without a verdict; of 8 pairs that are read in both orders the slot wins 4.
WRONG, SILENT, SLOT = 12, 8, 4


@pytest.fixture
def shop(project: Project, once: Once) -> Project:
    (project.path / "parity.suite.toml").unlink()

    def record() -> None:
        (project.path / "pyproject.toml").write_text("")
        rows = [f"p{n},Question {n},better {n},worse {n},1" for n in range(12)]
        (project.path / "pairs.csv").write_text("id,question,one,two,better\n" + "\n".join(rows))
        (project.path / "shop.suite.toml").write_text(SUITE)
        project.pytester.makeconftest(CONFTEST)
        project.run("shop.suite.toml", "--judge-mode=record")

    once.project("shop", project.path, record)
    return project


@pytest.fixture
def measured(shop: Project, once: Once) -> Project:
    """The same, with the datasheets ``x`` and the text ``screen`` of one session."""
    forms = [f"--judge-datasheet=x.{suffix}" for suffix in ("json", "md", "html")]

    def measure() -> None:
        (shop.path / "screen").write_text(ran(shop, *forms), encoding="utf-8")

    once.project("measured", shop.path, measure)
    return shop


def ran(shop: Project, *arguments: str) -> str:
    return " ".join(shop.run("shop.suite.toml", *arguments).stdout.str().split())


def test_one_count_stands_everywhere(measured: Project) -> None:
    shop = measured
    screen = (shop.path / "screen").read_text(encoding="utf-8")
    (judge,) = json.loads((shop.path / "x.json").read_text())["judges"]
    found = {one["measure"]: one for one in judge["measures"] if not one["condition"]}
    assert (found["agreement"]["count"], found["agreement"]["n"]) == (24 - WRONG, 24)
    assert (found["order_positional"]["count"], found["order_positional"]["n"]) == (SLOT, 8)
    sentence = f"{WRONG} of 24 replies do not give the label, {SILENT} of them without a verdict"
    wherever = {
        "FAILURES": (f"replies that are not the label: {WRONG} ", f"pairs won by a slot: {SLOT} "),
        "datasheet": (
            f"FAIL shop: {sentence}",
            f"the position decides {SLOT} of 8 comparisons",
            f"24 replies ({SILENT} without a verdict)",
            f"{SILENT} missing",
        ),
    }
    for place, words in wherever.items():
        for one in words:
            assert one in screen, (place, one)
    assert f"position {SLOT}/8" in screen
    assert f"{24 - WRONG}/24" in (shop.path / "x.md").read_text()
    page = (shop.path / "x.html").read_text()
    assert sentence in page
    assert f"replies that are not the label: {WRONG}, on 8 items" in page
    assert f"pairs won by a slot: {SLOT}, on 4 items" in page
    # In full, and from the file.
    whole = ran(shop, "-vv")
    assert f"replies that are not the label: {WRONG}, on 8 items" in whole
    assert f"{24 - WRONG} of 24 calls" in whole
    said = processes.run("judgesense", "report", "x.json", cwd=shop.path).stdout
    assert f"agreement = {(24 - WRONG) / 24:.3f}" in said


def test_an_example_has_label_question_and_reply_everywhere(measured: Project) -> None:
    screen = (measured.path / "screen").read_text(encoding="utf-8")
    evidence = screen[screen.index("replies that are not the label") :]
    # Wrong verdicts come before the replies that state none.
    assert "shop/p4/t1/ba/r1: A, content 2 (label content 1) asked: Question 4" in evidence
    slot = screen[screen.index("pairs won by a slot") :]
    assert "p4/t1/ba/r1: A, content 2 (label content 1) replied: A" in slot
    example = "p4: A in both orders, label content 1; asked: Question 4"
    assert example in screen
    page = (measured.path / "x.html").read_text()
    assert example in page
    # Behind the finding: the verdict, what it means and the label; the reply, and the prompt.
    side = page[page.index("pairs won by a slot") :]
    assert re.search(r"A, content 2 \(label content 1\)", side)


def test_the_line_of_a_suite_begins_with_the_number_that_its_word_is_about(
    shop: Project,
) -> None:
    # Agreement 12 of 24 is close to .45; the position, which else comes first, is not.
    (shop.path / "shop.suite.toml").write_text(
        SUITE.replace("agreement_floor = 0.8", "agreement_floor = 0.45").replace(
            "order_positional_bound = 0.1", "order_positional_bound = 0.99"
        )
    )
    lines = shop.run("shop.suite.toml").stdout.str()
    (line,) = re.findall(r"^  shop  .*$", lines, re.MULTILINE)
    assert line.split()[:4] == ["shop", "close", "agreement", "12/24"]
    # A check of a measure that has no place in the line: its number is there all the same.
    (shop.path / "shop.suite.toml").write_text(
        SUITE.replace("agreement_floor = 0.8", "")
        .replace("order_positional_bound = 0.1", "order_one_sided_bound = 0.2")
        .replace("unparsed_rate_ceiling = 0.5", "unparsed_rate_ceiling = 0.1")
    )
    lines = shop.run("shop.suite.toml").stdout.str()
    (line,) = re.findall(r"^  shop  .*$", lines, re.MULTILINE)
    assert line.split()[:4] == ["shop", "FAIL", "unparsed_rate", "8/24"]


def test_calls_of_tests_that_ask_their_judge_are_counted(shop: Project) -> None:
    shop.pytester.makepyfile(
        test_asks="def test_it(judge):\n"
        "    for number in (9, 10, 11):\n"
        "        judge.ask(f'Question {number}')\n"
    )
    conftest = CONFTEST.replace("def judge(task, a, b):", "def judge(messages):").replace(
        "number = int(task.split()[-1])", "return 'A'"
    )
    shop.pytester.makeconftest(conftest)
    # By workers while it records, and by one process while it replays.
    asked = ("shop.suite.toml", "test_asks.py")
    result = shop.run(*asked, "--judge-mode=record", "-n", "2")
    told = " ".join(result.stdout.str().split())
    assert "calls by judge.ask, beside those of the suites: 3 made, 0 replayed" in told
    told = " ".join(shop.run(*asked).stdout.str().split())
    assert "calls by judge.ask, beside those of the suites: 0 made, 3 replayed" in told


def test_a_change_stands_beside_the_values_that_it_is_between(tmp_path: Path) -> None:
    def log(name: str, silent: set[int]) -> Path:
        lines = []
        for number in range(20):
            for order, slot in (("ab", "A"), ("ba", "B" if number > 4 else "A")):
                trial = f"s/i{number}/t1/{order}/r1"
                line = {"trial": trial, "judge": "j", "suite": "s", "item": f"i{number}"}
                line |= {"cluster": f"i{number}", "template": "t1", "order": order, "replicate": 1}
                chosen = "1" if (slot == "A") == (order == "ab") else "2"
                said = {"verdict": slot, "chosen": chosen}
                if number in silent and order == "ab":
                    said = {"unparsed": "states no verdict"}
                lines.append(json.dumps({**line, "condition": {}, "label": "1", **said}))
        path = tmp_path / name
        path.write_text("\n".join(lines) + "\n")
        return path

    # 15 of 20 pairs are stable. Of four pairs one reply is missing in the second measurement: two
    # that were stable, two that were not. 13 of 16 are left, and in these nothing has changed.
    old, new = log("old.jsonl", set()), log("new.jsonl", {0, 1, 10, 11})
    done = processes.run("judgesense", "compare", old, new, cwd=tmp_path)
    (row,) = re.findall(r"^  order_stable .*$", done.stdout, re.MULTILINE)
    assert row.split()[1:4] == ["0.812", "0.812", "+0.000"]
    told = " ".join(done.stdout.split())
    assert "what is compared is the 16 in both; of all it is 0.750 and 0.812" in told
