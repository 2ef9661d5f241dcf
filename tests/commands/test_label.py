"""``judgesense label``: a person on a page; a judge at a real endpoint, recorded and replayed."""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_judgesense.commands.main import main
from pytest_judgesense.questions.label.by_judge import JudgeLabelsQuestion
from pytest_judgesense.questions.label.by_person import PersonLabelsQuestion
from pytest_judgesense.suites.loading import _load
from pytest_judgesense.suites.people import in_force, labelled_text, people_file, read_people
from tests.judges.endpoint import Endpoint, endpoint, says
from tests.questions.label.labelling import LabelCommand, asked, pairs_in, rows_of_pairs
from tests.repository import commit, repository
from tests.suites.files import GRADED, GRID, PAIRWISE, write_suite
from tests.suites.known import load_suite

# The first has its label; the oracle is to give the others'.
ROWS: list[dict[str, Any]] = [
    GRADED[0],
    {**GRADED[1], "label": None},
    {"id": "g3", "task": "4 + 4?", "reference": "Eight.", "texts": ["It is 8.", "8 it is."]},
    {"id": "g4", "task": "Five?", "reference": "Five.", "texts": ["I say 5.", "You say 5."],
     "gold": "judge:oracle"},
]  # fmt: skip


def _oracle(body: dict[str, Any]) -> str:
    """Right about 3 + 3, a tie about 4 + 4, and whatever stands first about the last."""
    prompt = body["messages"][-1]["content"]
    if "3 + 3" in prompt:
        return "A" if prompt.index("That is 6") < prompt.index("That is 7") else "B"
    return "C" if "4 + 4" in prompt else "A"


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    monkeypatch.chdir(tmp_path)
    _load.cache_clear()
    write_suite(tmp_path, GRID, ROWS)
    with endpoint(says(_oracle)) as served:
        Path("pyproject.toml").write_text(
            '[tool.judgesense.judges.oracle]\nprovider = "openai"\nmodel = "m"\n'
            f'base_url = "{served.url}"\n'
        )
        yield served


def _label(*more: str) -> int:
    return main(["label", "tiny.suite.toml", "--judge-name", "oracle", "-o", "new.jsonl", *more])


def test_labels_are_given_by_majority_and_marked(
    server: Endpoint, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _label("--judge-mode", "record") == 0
    assert capsys.readouterr().out == (
        "judge oracle labelled 2 of 3 items (2: 1, tie: 1): new.jsonl\n"
        "  g4: no majority (2 1, 2 2); write its label by hand, or leave it out\n"
    )
    lines = [json.loads(line) for line in Path("new.jsonl").read_text().splitlines()]
    assert [(line["id"], line.get("label"), line.get("gold")) for line in lines] == [
        ("g1", "1", None),
        ("g2", "2", "judge:oracle"),
        ("g3", "tie", "judge:oracle"),
        ("g4", None, "judge:oracle"),
    ]
    assert lines[0] == ROWS[0]
    # 3 items, both orders, 2 replicates: the template with the reference, at the coldest.
    assert len(server.asked) == 12
    assert {asked.body["temperature"] for asked in server.asked} == {0.01}
    assert all("(Six.)" in str(a.body) for a in server.asked if "3 + 3" in str(a.body))
    assert Path("cassettes/oracle/labels-grid.jsonl").exists()


def test_a_recording_answers_without_anybody_being_asked(
    server: Endpoint, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _label() == 3
    error = capsys.readouterr().err
    assert "12 of 12 trials are not recorded" in error
    assert "judgesense label" in error
    _label("--judge-mode", "record")
    first = Path("new.jsonl").read_bytes()
    server.asked.clear()
    assert _label() == 0
    assert server.asked == []
    assert Path("new.jsonl").read_bytes() == first


def test_python_gives_what_the_command_prints_and_writes(
    server: Endpoint, capsys: pytest.CaptureFixture[str]
) -> None:
    _label("--judge-mode", "record")
    printed = capsys.readouterr().out
    server.asked.clear()
    answer = JudgeLabelsQuestion("tiny.suite.toml", "oracle", Path("new.jsonl")).answer()
    assert f"{answer}\n" == printed
    assert answer.text == Path("new.jsonl").read_text()
    labels = {entry["item"]: entry["label"] for entry in answer.to_dict()["items"]}
    assert labels == {"g2": "2", "g3": "tie", "g4": None}
    assert server.asked == []


def test_a_plan_asks_nothing_and_says_the_calls(
    server: Endpoint, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _label("--judge-mode", "record", "--plan") == 0
    plan = "oracle on labels-grid: 12 calls, 12 to be made; cost: unknown"
    assert plan in " ".join(capsys.readouterr().out.split())
    assert (server.asked, Path("new.jsonl").exists()) == ([], False)


def test_a_limit_of_calls_ends_the_asking(
    server: Endpoint, capsys: pytest.CaptureFixture[str]
) -> None:
    limited = ["--judge-mode", "record", "--judge-concurrency", "1", "--judge-max-calls", "5"]
    assert _label(*limited) != 0
    assert "--judge-max-calls" in capsys.readouterr().err
    assert (len(server.asked), Path("new.jsonl").exists()) == (5, False)


def test_the_labels_are_marked_wherever_they_are_used(
    server: Endpoint, capsys: pytest.CaptureFixture[str]
) -> None:
    _label("--judge-mode", "record")
    lines = Path("new.jsonl").read_text().splitlines()[:3]
    Path("items.jsonl").write_text("\n".join(lines))
    _load.cache_clear()
    suite = load_suite(Path("tiny.suite.toml"))
    assert [item.condition["gold"] for item in suite.items] == [
        "human",
        "judge:oracle",
        "judge:oracle",
    ]
    capsys.readouterr()
    assert main(["plan", "--lint", "tiny.suite.toml"]) == 0
    assert "2 of 3 by judge:oracle" in capsys.readouterr().out
    # All labelled: there is nothing to give any more.
    assert _label("--judge-mode", "record") == 2
    assert "3 items, each with its label" in capsys.readouterr().err


def test_other_suites_have_no_labels_to_be_given(
    server: Endpoint, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["label", "coherence", "--judge-name", "oracle", "-o", "new.jsonl"]
    assert main(arguments) == 2
    assert "kind 'paraphrase'" in capsys.readouterr().err


def test_grading_one_by_one_gives_no_label(
    server: Endpoint, capsys: pytest.CaptureFixture[str]
) -> None:
    head, _, rest = GRID.partition("[[templates]]")
    grade = next(part for part in rest.split("[[templates]]") if 'id = "grade"' in part)
    write_suite(Path(), f"{head}[[templates]]{grade}", ROWS)
    _load.cache_clear()
    assert _label() == 2
    assert "single-answer grading alone" in capsys.readouterr().err


# --- a person -------------------------------------------------------------------------------------

PAIRS_FILE = "suites/pairs/pairs.suite.toml"
NOBODY_KNOWS = (
    "; nobody knows how often labels of one person are wrong: another --person labels the same "
    "items"
)


def test_every_answer_outlives_a_kill_and_the_next_command_goes_on(tmp_path: Path) -> None:
    path = people_file(pairs_in(tmp_path))
    with LabelCommand(tmp_path) as command:
        for value in ("A", "B", "tie", "skipped"):
            state = command.answer(value)
        command.kill()
    lines = read_people(path)
    assert len(lines) == 4
    assert {(line.person, line.drawn) for line in lines} == {("anna", "random")}
    with LabelCommand(tmp_path) as command:
        assert command.state() == state
        assert command.answer("A")["place"] == 5
        code, output = command.end(signal.SIGINT)
    assert code == 0
    assert output[-2] == (
        "4 labelled, 1 skipped, 25 left (the same command goes on); pytest suites/pairs compares "
        f"the judge with them{NOBODY_KNOWS}"
    )
    assert read_people(path)[:4] == lines


@pytest.mark.skipif(sys.platform != "linux", reason="the limit of another process is set there")
def test_where_the_disk_is_full_the_page_says_that_the_answer_was_not_kept(tmp_path: Path) -> None:
    import resource

    path = people_file(pairs_in(tmp_path))
    with LabelCommand(tmp_path) as command:
        command.answer("A")
        before = path.read_bytes()
        command.limit_files(len(before) + 10)
        body = {"place": 1, "values": {"": "B"}, "note": ""}
        status, answer = asked(f"{command.url}answer", body)
        assert status == 500
        assert answer["problem"].startswith("this was not kept. ")
        assert f"{path} cannot be written" in answer["problem"]
        assert path.read_bytes() == before
        # Once there is room again the same page goes on at the same item.
        command.limit_files(resource.RLIM_INFINITY)
        assert command.answer("B")["place"] == 2
    assert len(read_people(path)) == 2


def test_an_answer_that_was_cut_off_is_told_and_the_next_one_takes_its_place(
    tmp_path: Path,
) -> None:
    path = people_file(pairs_in(tmp_path))
    with LabelCommand(tmp_path) as command:
        command.answer("A")
    whole = path.read_bytes()
    path.write_bytes(whole + b"p1,anna,")
    with LabelCommand(tmp_path) as command:
        # Told before the address of the page.
        assert command.url == (
            f"{path}:3: the last line was cut off in mid-write (8 bytes), and is not counted: "
            "the next answer takes its place"
        )
        command.read_url()
        command.answer("B")
    assert path.read_bytes().startswith(whole)
    assert len(read_people(path)) == 2


def test_what_is_left_skipped_is_told_with_the_command_that_shows_it(tmp_path: Path) -> None:
    pairs_in(tmp_path)
    with LabelCommand(tmp_path, "--draw", "2") as command:
        command.answer("A")
        assert command.answer("skipped")["again"] == 1
        code, output = command.end(signal.SIGINT)
    assert code == 0
    assert output[-2] == (
        "1 labelled, 1 skipped (the same command shows them once more); pytest suites/pairs "
        "compares the judge with them; nobody knows how often labels of one person are wrong: "
        "another --person labels the same items"
    )
    with LabelCommand(tmp_path, "--draw", "2") as command:
        assert command.state()["again"] == 1
        assert command.answer("B")["place"] is None
        assert command.end(signal.SIGINT)[1][-2].startswith("2 labelled; ")


def test_two_people_label_the_same_draw_blind_to_each_other(tmp_path: Path) -> None:
    file = pairs_in(tmp_path)
    before = file.read_bytes()
    draw = ("--draw", "4", "--judge-seed", "3")
    for person in ("anna", "ben"):
        with LabelCommand(tmp_path, *draw, person=person) as command:
            state = command.state()
            assert (state["total"], state["counts"]["left"], state["last"]) == (4, 4, None)
            for _ in range(4):
                command.answer("A")
            code, output = command.end(signal.SIGTERM)
            assert code == 0
            beside = NOBODY_KNOWS if person == "anna" else ""
            compares = "pytest suites/pairs compares the judge with them"
            assert output[-2] == f"4 labelled; {compares}{beside}"
    items = {person: [] for person in ("anna", "ben")}  # type: dict[str, list[str]]
    for item, person, _ in in_force(read_people(people_file(file))):
        items[person].append(item)
    assert items["anna"] == items["ben"]
    assert len(set(items["anna"])) == 4
    # The suite says how they were drawn; nothing else of it has changed, and it is a suite.
    line = b'[stimuli]\nlabelled = "random"\n'
    assert file.read_bytes() == before.replace(b"[stimuli]\n", line)
    _load.cache_clear()
    assert len(load_suite(file).items) == 30


def test_what_wordings_dispute_is_chosen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The embedded judge counts required elements: where there are none, it gives what comes."""
    file = pairs_in(tmp_path, 12)
    words = ("hello, dear", "station, platform", "noon, clock", "umbrella", "regards")
    elements = "\n".join(f"{n}. part {n}: {word}" for n, word in enumerate(words, start=1))
    good = "Hello dear. We meet at the station platform at the noon clock. Umbrella. Regards."
    texts = [good, "Well. So. Fine. Good. Yes."]
    task = f"Write a note.\nRequired elements:\n{elements}"
    rows = [{**row, "task": task, "texts": texts} for row in rows_of_pairs(6)]
    lines = [json.dumps(row) for row in [*rows, *rows_of_pairs(12)[6:]]]
    (file.parent / "items.jsonl").write_text("\n".join(lines))
    shown = "<task>{{task}}</task> <response_a>{{a}}</response_a> <response_b>{{b}}</response_b>"
    first = file.read_text().replace("{{task}} {{a}} {{b}}", f"{shown} Which is better, A or B?")
    second = f'[[templates]]\nid = "t2"\ntext = "{shown} Name the better one, A or B."\n'
    file.write_text(first + second)
    before = file.read_bytes()
    judge = ("--judge-name", "embedded:clean")
    with LabelCommand(tmp_path, "--draw", "disputed", *judge) as command:
        total = command.state()["total"]
        assert 0 < total <= 6
        for _ in range(total):
            command.answer("A")
    labels = read_people(people_file(file))
    assert {label.drawn for label in labels} == {"chosen"}
    assert {label.item for label in labels} <= {f"p{n}" for n in range(6, 12)}
    assert file.read_bytes() == before
    # A judge that is declared is read from its recording, and never asked.
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").write_text(
        '[tool.judgesense.judges.never]\nprovider = "openai"\nmodel = "m"\n'
    )
    arguments = ["label", PAIRS_FILE, "--person", "anna", "--draw", "disputed"]
    assert main(arguments) == 3
    error = capsys.readouterr().err
    assert "48 of 48 trials are not recorded" in error
    assert f"pytest {file} --judge-mode record" in error


def test_a_browser_is_opened_at_the_address(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the program that BROWSER names, which ends the sitting as the button does."""
    file = pairs_in(tmp_path, 2)
    script = tmp_path / "browser.py"
    script.write_text(
        "import sys, urllib.request as r\n"
        "url = sys.argv[1]\n"
        "headers = {'Origin': url[:url.index('/', 8)], 'Content-Type': 'application/json'}\n"
        "r.urlopen(r.Request(url + 'finish', b'{}', headers))\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BROWSER", f"{sys.executable} {script} %s")
    monkeypatch.setattr("webbrowser._tryorder", None)
    assert main(["label", PAIRS_FILE, "--person", "anna"]) == 0
    first, second, last = capsys.readouterr().out.splitlines()
    assert first.startswith("page: http://127.0.0.1:")
    assert second == f"answers are appended to {people_file(file)}; Ctrl-C ends it"
    assert last.startswith("0 labelled, 2 left")


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ([], "it is not said who labels"),
        (["--judge-name", "a", "--judge-name", "b", "-o", "x"], "it is not said who labels"),
        (["--judge-name", "embedded:clean"], "it is not said who labels"),
        (["--draw", "4", "--judge-name", "a", "-o", "x"], "--draw is an option of a person"),
        (["--person", "a", "-o", "x"], "--output is an option of a judge that labels"),
        (["--person", "a", "--judge-name", "b"], "do not label together"),
        (["--person", "a", "--judge-mode", "record"], "do not label together"),
        (["--person", "a", "--plan"], "--plan is an option of a judge that labels"),
        (["--person", "a", "--judge-max-calls", "9"], "--judge-max-calls is an option of a judge"),
        (["--person", "a", "--judge-max-calls", "0"], "--judge-max-calls is an option of a judge"),
        (["--person", "a", "--judge-concurrency", "3"], "--judge-concurrency is an option of a"),
        (["--person", "a", "--judge-max-unparsed", "0"], "--judge-max-unparsed is an option of a"),
        (["--person", "a", "--draw", "31"], "31 items cannot be drawn"),
    ],
)
def test_who_labels_is_said_once(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    error: str,
) -> None:
    file = pairs_in(tmp_path)
    before = file.read_bytes()
    monkeypatch.chdir(tmp_path)
    assert main(["label", PAIRS_FILE, *arguments]) == 2
    assert error in capsys.readouterr().err
    assert file.read_bytes() == before


@pytest.mark.parametrize("labelled", [9, 30])
def test_items_are_drawn_beside_labels_that_were_there_before(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    labelled: int,
) -> None:
    file = pairs_in(tmp_path)
    rows = rows_of_pairs(30)
    for row in rows[labelled:]:
        del row["label"]
    write_suite(file.parent, PAIRWISE, rows).replace(file)
    before = file.read_text()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(PersonLabelsQuestion, "_serve", lambda *_: None)
    assert main(["label", PAIRS_FILE, "--person", "anna", "--draw", "4"]) == 0
    out = capsys.readouterr().out
    # Some labels, which nobody says chance chose, are not called random by the suite file; where
    # all items have one, all were drawn.
    assert ("9 of 30 items have labels" in out) == (labelled == 9)
    assert ('labelled = "random"' in file.read_text()) == (labelled == 30)
    assert (file.read_text() == before) == (labelled == 9)
    assert "4 left" in out


def test_a_draw_among_labels_of_chosen_items_is_refused_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = pairs_in(tmp_path)
    toml = file.read_text().replace("[stimuli]\n", '[stimuli]\nlabelled = "chosen"\n')
    file.write_text(toml)
    monkeypatch.chdir(tmp_path)
    assert main(["label", PAIRS_FILE, "--person", "anna", "--draw", "4"]) == 2
    error = capsys.readouterr().err
    assert 'labelled = "chosen" in [stimuli]: no rate of all items follows' in error
    assert "take that line out" in error
    assert (file.read_text(), people_file(file).exists()) == (toml, False)


def test_a_person_who_is_there_in_another_spelling_does_not_label(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = pairs_in(tmp_path)
    item = load_suite(file).items[0]
    lines = "item,person,label,criterion,note,drawn,labelled_at,text\n"
    lines += f"{item.id},anna,1,,,random,2026-01-31T12:00:00Z,{labelled_text(item)}\n"
    people_file(file).write_text(lines)
    monkeypatch.chdir(tmp_path)
    assert main(["label", PAIRS_FILE, "--person", "Anna"]) != 0
    assert "'anna' and 'Anna'" in capsys.readouterr().err
    assert people_file(file).read_text() == lines


def test_an_edited_item_is_shown_again_beside_the_text_at_the_head_of_git(tmp_path: Path) -> None:
    file = pairs_in(repository(tmp_path), 3)
    commit(tmp_path)
    with LabelCommand(tmp_path) as command:
        for _ in range(3):
            command.answer("A")
        command.kill()
    rows = rows_of_pairs(3)
    rows[1]["task"] = "Task one."
    (file.parent / "items.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    for person, before in (("anna", [["task", "Task 1."]]), ("ben", None)):
        with LabelCommand(tmp_path, person=person) as command:
            state = command.state()
            assert (state["before"] and state["before"]["fields"]) == before
            assert state["counts"]["left"] == (3 if before is None else 1)
            if before:
                assert state["fields"] == [["task", "Task one."]]
            command.kill()


@pytest.mark.parametrize("arguments", [["--person", "a b"], ["--person", "a", "--draw", "0"]])
def test_names_and_numbers_that_are_none(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        main(["label", "pairs", *arguments])
    assert end.value.code == 2
    assert "judgesense label: error" in capsys.readouterr().err


def test_suites_of_the_installation_keep_no_labels(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["label", "coherence", "--person", "anna"]) == 2
    error = capsys.readouterr().err
    assert "suite coherence comes with the installation" in error
    assert "copy its folder, coherence, to suites/" in error


def test_a_file_of_labels_that_cannot_be_read_is_an_error_before_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = pairs_in(tmp_path)
    people_file(file).write_text("item,person\n1,2\n")
    monkeypatch.chdir(tmp_path)
    assert main(["label", PAIRS_FILE, "--person", "anna", "--draw", "4"]) == 3
    assert "pairs.people.csv:1 is not a line" in capsys.readouterr().err
    assert b"labelled" not in file.read_bytes()
