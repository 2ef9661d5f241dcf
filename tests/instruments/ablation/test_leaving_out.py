"""``judgesense why SUITE --leave-out``: planted sentences, asked of a real endpoint."""

from __future__ import annotations

import hashlib
import io
import json
import re
import shutil
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path
from typing import NamedTuple

import pytest

from pytest_judgesense import why
from pytest_judgesense.commands.main import main
from pytest_judgesense.instruments.ablation.leaving_out import _sample
from pytest_judgesense.text.display import print_line
from pytest_judgesense.text.layout import WIDTH
from tests.instruments.ablation import project
from tests.instruments.ablation.project import PROMPT, SUITE, N
from tests.plugin.project import ChatServer
from tests.suites.known import builtin_suites, load_suite

CALLS = N * (6 + 4)
AGAIN = 2 * N  # without the two sentences that may do something
TOGETHER = 3 * N  # without the two that are not noticed


@pytest.fixture
def server() -> Iterator[ChatServer]:
    served = ChatServer()
    served.reply = project.reply
    yield served
    served.close()


KEY = "sk-own-0123456789abcdef"


def prepare(folder: Path, server: ChatServer, patch: pytest.MonkeyPatch) -> None:
    """Write the project of a judge at this server, and go there."""
    patch.chdir(folder)
    patch.setenv("OPENAI_API_KEY", KEY)
    project.write_suite(folder)
    project.declare(folder, project.at(server.base_url))


@pytest.fixture
def folder(tmp_path: Path, server: ChatServer, monkeypatch: pytest.MonkeyPatch) -> Path:
    prepare(tmp_path, server, monkeypatch)
    return tmp_path


def run(*arguments: str) -> int:
    return main(["why", "texts.suite.toml", "--leave-out", *arguments])


RECORD = ("--judge-mode", "record")


class Recorded(NamedTuple):
    """A project that was recorded once: its folder, what was printed, and how many calls it took.

    Its server still serves.
    """

    folder: Path
    shown: str
    calls: int
    server: ChatServer


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Recorded]:
    """Nobody writes into its folder; a test that must takes a `copy` of it."""
    folder, printed = tmp_path_factory.mktemp("recorded"), io.StringIO()
    served = ChatServer()
    served.reply = project.reply
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(printed):
        prepare(folder, served, patch)
        assert run(*RECORD, "-o", "x.json", "-o", "x.html", "-o", "x.md") == 0
    yield Recorded(folder, printed.getvalue(), len(served.asked), served)
    served.close()


@pytest.fixture
def copy(recorded: Recorded, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The recorded project, to be changed; of its server nothing was asked yet."""
    folder = Path(shutil.copytree(recorded.folder, tmp_path / "copy"))
    monkeypatch.chdir(folder)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    recorded.server.forget()
    return folder


def test_it_plans_asks_tells_and_replays(
    recorded: Recorded, copy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = recorded.shown
    assert recorded.calls == CALLS + AGAIN + TOGETHER
    words = " ".join(shown.split())
    assert f"texts-ablation, judge mine: {CALLS} calls, {CALLS} to be made; cost: " in words
    # Of 12 items without each of 4 sentences; the second asking needs those of two.
    assert f"asked again: as many as {4 * N} calls more" in words
    assert f"left out together: {TOGETHER} calls more" in words
    # 4.5 (log2(4) + 1) answers, rounded up.
    assert f"which of it does something together: as many as {14 * N} calls more" in words
    assert "asked a second time, to be sure: without s03, s04" in words
    assert re.search(r"#+ s03 +\| Care for evens\. +\| +moves 50% of verdicts \[", words)
    assert "form s04 | Reply YES or NO. | holds the form: 100% unparsed without it" in words
    # Of 12 items without a difference: 1 - .05^(1/12) = .22.
    assert ". s02 | Be kind. | no effect noticed; up to 22% possible" in words
    assert "| Text: {{text}}" in words
    assert "2 of 4 sentences noticed on 12 items" in words
    # So are they together; a bound of .10 takes 29 items.
    assert (
        "these 2 sentences (s01, s02) do nothing alone that 12 items notice, nor together, with "
        "up to 22% possible: keep them, or add items that need them"
    ) in words
    assert max(map(len, shown.splitlines())) <= 100
    assert (copy / "cassettes" / "mine" / "texts-ablation.jsonl").is_file()
    sheet = json.loads((copy / "x.json").read_text("utf-8"))["judges"][0]
    (table,) = (table for table in sheet["analyses"] if table["analysis"] == "sentences")
    assert [row["text"] for row in table["rows"]] == [
        "You judge numbers.",
        "Be kind.",
        "Care for evens.",
        "Text: {{text}}",
        "Reply YES or NO.",
        "",
    ]
    assert table["rows"][-1]["together"] == ["s01", "s02"]
    page = (copy / "x.html").read_text("utf-8")
    assert '<li class="m4"><p class="text">Care for evens.</p>' in page
    assert '<li class="m4 dashed"><p class="text">Reply YES or NO.</p>' in page
    assert '<li class="m0"><p class="text">Be kind.</p>' in page
    assert '<li class="no"><p class="text">Text: {{text}}</p>' in page
    assert "s03 moves 50% of verdicts [" in (copy / "x.md").read_text("utf-8")
    assert run() == 0
    assert recorded.server.asked == []
    replayed = capsys.readouterr().out
    assert replayed == shown.partition("\n\n")[2].partition("datasheet w")[0]


def test_a_plan_asks_nothing_and_a_replay_says_how_to_record(
    folder: Path, server: ChatServer, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("--plan", "--items", "4", "--times", "3") == 0
    shown = capsys.readouterr().out
    assert f"{4 * (3 + 4)} calls, {4 * (3 + 4)} to be made" in shown
    assert re.search(r"cost: 0\.0\d+ to 0\.0\d+ USD", shown)
    assert run("--items", "4") == 3
    error = capsys.readouterr().err
    assert re.search(
        r"record it: judgesense why texts.suite.toml --leave-out --items 4 --judge-mode record "
        rf"\({4 * (6 + 4)} calls, cost: 0\.0\d+ to 0\.0\d+ USD\)",
        " ".join(error.split()),
    )
    assert server.asked == []


def test_a_prompt_without_a_sentence_is_an_error_before_any_price(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bare = SUITE.replace(PROMPT, "{{text}}").replace("You judge numbers. Be kind.", "")
    assert bare != SUITE
    (folder / "texts.suite.toml").write_text(bare, "utf-8")
    assert run("--plan") == 3
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "it has no sentence that could be left out" in shown.err


def test_more_items_keep_those_that_are_recorded(folder: Path, server: ChatServer) -> None:
    assert run(*RECORD, "--items", "4", "--judge-seed", "3") == 0
    before = len(server.asked)
    assert run(*RECORD, "--items", "6", "--judge-seed", "3") == 0
    # Two more items; for a second asking all six, or two of them; and all, where what is not
    # noticed is something else now.
    assert 2 * (6 + 4) <= len(server.asked) - before <= 2 * (6 + 4) + 2 * 6 + 3 * 6


def test_of_a_changed_prompt_what_changed_is_asked_again(
    recorded: Recorded, copy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    project.write_suite(copy, SUITE.replace("Be kind.", "Be very kind."))
    assert run(*RECORD) == 0
    # All but the prompt without that sentence, which is the same as before; so it is without both.
    assert len(recorded.server.asked) == CALLS - N + AGAIN
    # As many are asked with another request.
    assert f"{CALLS} calls, {CALLS - N} to be made (" in capsys.readouterr().out


def test_a_judges_own_prompt_is_the_one_that_is_taken_apart(
    folder: Path, server: ChatServer, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "mine.txt").write_text(PROMPT.replace("Care for evens.\n\n", "Think. "), "utf-8")
    own = 'prompts = { paraphrases = { texts = [{ file = "mine.txt" }] } }\nsystem = ""'
    project.declare(folder, f"{project.at(server.base_url)}\n{own}")
    assert run(*RECORD, "--items", "4") == 0
    words = " ".join(capsys.readouterr().out.split())
    assert "s01 | Think. | no effect noticed" in words
    assert "Be kind." not in words


SAYING_TWICE = SUITE.replace("Care for evens.", "Care for evens. Watch the evens.")


def redundant(prompt: str) -> str:
    """A judge that one of two sentences is enough for."""
    has_one = "Watch the evens." in prompt or "Care for evens." in prompt
    return project.reply(f"Care for evens. {prompt}" if has_one else prompt)


def test_sentences_that_say_the_same_are_named_and_not_dropped(
    folder: Path, server: ChatServer, capsys: pytest.CaptureFixture[str]
) -> None:
    project.write_suite(folder, SAYING_TWICE)
    server.reply = redundant
    assert run(*RECORD, "-o", "x.json") == 0
    shown = capsys.readouterr().out
    words = " ".join(shown.split())
    assert "these 4 sentences (s01, s02, s03, s04) do nothing alone that 12 items notice; " in words
    assert re.search(
        r"the smallest group that does something: s03, s04 \(moves 50% of verdicts \[\d+, \d+\]\):"
        r" keep one of them or more",
        words,
    )
    assert "drop" not in words
    sheet = json.loads((folder / "x.json").read_text("utf-8"))["judges"][0]
    effects = {
        measure["condition"]["together"]: measure["value"]
        for measure in sheet["measures"]
        if "together" in measure["condition"]
    }
    assert effects == {"s01+s02+s03+s04": 0.5, "s03+s04": 0.5}
    server.close()
    assert run() == 0
    replayed = capsys.readouterr().out
    assert replayed == shown.partition("\n\n")[2].partition("datasheet w")[0]


def test_a_recording_without_the_askings_together_drops_nothing(
    recorded: Recorded, copy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = copy / "cassettes" / "mine" / "texts-ablation.jsonl"
    lines = path.read_text("utf-8").splitlines(keepends=True)
    kept = [line for line in lines if "/without-" not in line]
    assert len(lines) - len(kept) >= TOGETHER
    path.write_text("".join(kept), "utf-8")
    assert run() == 0
    assert recorded.server.asked == []
    words = " ".join(capsys.readouterr().out.split())
    assert "are not recorded; record it: judgesense why texts.suite.toml --leave-out" in words
    assert "not asked together: keep them until" in words
    assert "drop" not in words


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["texts/ice/t1/ab/r1", "--leave-out"], "judgesense why texts --leave-out"),
        (["texts.suite.toml"], "judgesense why texts.suite.toml --leave-out"),
        (["texts.suite.toml", "--leave-out", "--by", "words"], "--by goes with a trial"),
        (["texts/ice/t1/ab/r1", "--times", "3"], "--times goes with --leave-out"),
    ],
)
def test_where_it_is_unclear_what_is_asked_both_forms_are_named(
    folder: Path, words: list[str], error: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["why", *words]) == 2
    told = " ".join(capsys.readouterr().err.split())
    assert error in told
    assert re.search(
        r"judgesense why (TRIAL|texts/ice/t1/ab/r1|SUITE/ITEM/TEMPLATE/ORDER/rN)", told
    )


def test_it_has_the_numbers_of_the_command_where_it_is_asked_from_python(
    recorded: Recorded,
    copy: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", str(WIDTH))  # as without a terminal
    assert run() == 0
    answer = why("texts.suite.toml", leave_out=True)
    assert capsys.readouterr().out == f"{answer}\n"
    assert recorded.server.asked == []
    assert not answer.worse
    sheet = json.loads((copy / "x.json").read_text("utf-8"))["judges"][0]
    (table,) = (table for table in sheet["analyses"] if table["analysis"] == "sentences")
    told = answer.to_dict()
    assert json.loads(json.dumps(told["sentences"])) == table["rows"]
    assert (told["judge"], told["suite"]) == ("mine", "texts-ablation")
    assert told["notes"] == ["asked a second time, to be sure: without s03, s04"]
    pytest.importorskip("pandas")
    assert answer.to_dataframe()["text"].tolist() == [row["text"] for row in table["rows"]]


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (("--items", "1"), "--items 1 is too small"),
        (("--times", "1"), "--times 1 is too small"),
    ],
)
def test_a_sample_that_tells_nothing_is_refused(
    folder: Path, arguments: tuple[str, ...], error: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(*arguments) == 2
    assert error in capsys.readouterr().err


def test_suites_without_one_prompt_to_take_apart_are_refused(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "sentences.suite.toml").write_text(project.ABLATION, "utf-8")
    assert main(["why", "sentences.suite.toml", "--leave-out"]) == 2
    assert "name that one: texts; or run this one by pytest" in capsys.readouterr().err
    assert main(["why", "ladder", "--leave-out"]) == 2
    assert "prompts of suite ladder cannot be taken apart" in capsys.readouterr().err


def test_a_terminal_shows_margins_in_colour_and_nothing_else_does(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    print_line("noticed", "marked")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    print_line("noticed", "marked")
    print_line("plain")
    monkeypatch.setenv("NO_COLOR", "1")
    print_line("noticed", "marked")
    assert capsys.readouterr().out.splitlines() == [
        "noticed",
        "\x1b[1;36mnoticed\x1b[0m",
        "plain",
        "noticed",
    ]


def test_a_sample_is_drawn_by_the_ids_of_the_items_and_a_larger_one_holds_it() -> None:
    items = load_suite(builtin_suites()["coherence"]).items
    drawn = [item.id for item in _sample(items, 6, seed=3)]
    # The least SHA-256 of seed and id, whatever the order of the file.
    places = {hashlib.sha256(f"3/{item.id}".encode()).digest(): item.id for item in items}
    assert drawn == [places[place] for place in sorted(places)[:6]]
    assert [item.id for item in _sample(items[::-1], 4, seed=3)] == drawn[:4]
    assert drawn != [item.id for item in _sample(items, 6, seed=4)]
