"""Debates are written end to end: two debaters over HTTP on 127.0.0.1, recorded, resumable."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import pytest

from pytest_judgesense.cassettes.storage import read_exchanges, rewrite
from pytest_judgesense.commands.main import main
from pytest_judgesense.datasheets.published_design import WritingOrder, WrittenItems
from pytest_judgesense.errors import (
    JudgeError,
    LimitReached,
    LogError,
    MissingRecording,
    UsageError,
)
from pytest_judgesense.instruments.debate.generation import (
    LIMITS,
    Topic,
    generate_debates,
    planned_speeches,
    read_topics,
    within,
)
from pytest_judgesense.instruments.debate.simulated import speak
from pytest_judgesense.instruments.debate.stimuli import SPEECHES, DebateLine
from pytest_judgesense.judges.resolving import judge_from_name
from pytest_judgesense.judges.simulated.endpoint import EmbeddedServer, serving
from pytest_judgesense.judges.simulated.named_observers import observer_named
from pytest_judgesense.judges.spec import JudgeSpec
from pytest_judgesense.judges.throttle import Budget, Deadline, SessionBudget
from tests.plugin.test_untrusted_branch import asking_calls

GENERATE = ["paper", "debates", "--generate"]
RECORD = ["--judge-mode", "record"]
TOPICS = [Topic("tips", "Tips should be replaced by wages.", "economy"), Topic("moon", "No moon.")]


@pytest.fixture
def server() -> Iterator[EmbeddedServer]:
    with serving(find=partial(observer_named, skills=[speak])) as running:
        yield running


@pytest.fixture
def debaters(server: EmbeddedServer) -> tuple[JudgeSpec, JudgeSpec]:
    # Two wire formats, one endpoint.
    first = JudgeSpec("one", "openai", "clean", base_url=server.base_url)
    return first, JudgeSpec("two", "anthropic", "mixed", base_url=server.base_url)


def read(path: Path) -> list[DebateLine]:
    return read_lines(path.read_text(encoding="utf-8").splitlines())


def read_lines(lines: Sequence[str]) -> list[DebateLine]:
    return [DebateLine.model_validate_json(line) for line in lines]


def order(writers: Sequence[JudgeSpec], cassettes: Path) -> WritingOrder:
    """To record debates in the usual way."""
    limits = Budget(Deadline())
    return WritingOrder(
        writers, None, "analytical", 0.1, cassettes, "record", 8, limits, "record it: so"
    )


def held(writers: Sequence[JudgeSpec], topics: Sequence[Topic], cassettes: Path) -> WrittenItems:
    return generate_debates(order(writers, cassettes), topics)


def test_every_topic_is_debated_twice_with_the_sides_exchanged(
    debaters: tuple[JudgeSpec, JudgeSpec], tmp_path: Path
) -> None:
    written = held(debaters, TOPICS, tmp_path)
    assert (written.wanted, written.notices) == (4, ())
    debates = read_lines(written.lines)
    assert [(d.id, d.pro_model, d.con_model, d.pair_id, d.category) for d in debates] == [
        ("tips-original", "one", "two", "tips", "economy"),
        ("tips-flipped", "two", "one", "tips", "economy"),
        ("moon-original", "one", "two", "moon", None),
        ("moon-flipped", "two", "one", "moon", None),
    ]
    assert {tuple(s.speech_type for s in d.speeches) for d in debates} == {SPEECHES}
    for debate in debates:
        for speech in debate.speeches:
            limit = LIMITS[speech.speech_type.partition("_")[2]]
            assert 0 < len(speech.content.split()) <= limit


def test_a_debater_is_shown_the_whole_transcript_so_far_and_never_a_name(
    debaters: tuple[JudgeSpec, JudgeSpec], tmp_path: Path
) -> None:
    (debate, _) = read_lines(held(debaters, TOPICS[:1], tmp_path).lines)
    exchanges = read_exchanges(tmp_path / "two" / "debates.jsonl")
    (last,) = [e for e in exchanges if e.trial == "debates/tips-original/analytical/con_summary/r1"]
    body = json.loads(last.request.body)
    prompt = body["messages"][0]["content"]
    assert all(speech.content in prompt for speech in debate.speeches[:-1])
    assert "Write the CON summary, against the resolution, in at most 200 words." in prompt
    assert (body["temperature"], "one" in prompt.split(), "two" in prompt.split()) == (
        0.1,
        False,
        False,
    )


def test_what_is_recorded_is_not_asked_again_and_an_interrupted_run_goes_on(
    debaters: tuple[JudgeSpec, JudgeSpec], server: EmbeddedServer, tmp_path: Path
) -> None:
    whole = held(debaters, TOPICS, tmp_path)
    # As if it had been killed: the second debater's last calls are not there.
    path = tmp_path / "two" / "debates.jsonl"
    rewrite(path, read_exchanges(path)[:5])
    again = held(debaters, TOPICS, tmp_path)
    speeches = [json.loads(written.lines[0])["speeches"] for written in (whole, again)]
    assert speeches[0] == speeches[1]
    server.shutdown()
    server.server_close()  # nobody is there to be asked
    assert held(debaters, TOPICS, tmp_path) == again
    assert generate_debates(order(debaters, tmp_path)._replace(mode="replay"), TOPICS) == again


def test_a_replay_asks_nobody_and_names_what_is_missing_and_how_to_record_it(
    debaters: tuple[JudgeSpec, JudgeSpec], server: EmbeddedServer, tmp_path: Path
) -> None:
    replaying = order(debaters, tmp_path)._replace(mode="replay")
    with pytest.raises(MissingRecording, match="record it: so"):
        generate_debates(replaying, TOPICS)
    assert list(tmp_path.iterdir()) == []


def test_a_limit_ends_it_and_what_was_said_so_far_is_kept(
    debaters: tuple[JudgeSpec, JudgeSpec], tmp_path: Path
) -> None:
    limited = order(debaters, tmp_path)._replace(
        budget=SessionBudget(10, None, deadline=Deadline())
    )
    with pytest.raises(LimitReached, match="--judge-max-calls 10 is reached"):
        generate_debates(limited, TOPICS)
    paths = [tmp_path / name / "debates.jsonl" for name in ("one", "two")]
    assert sum(len(read_exchanges(path)) for path in paths) == 10
    # Of 24 speeches: what is said is planned no more.
    assert sum(len(of.to_make) for of in planned_speeches(limited, TOPICS)) == 14


def test_a_plan_counts_the_speeches_that_are_not_recorded_and_asks_nobody(
    debaters: tuple[JudgeSpec, JudgeSpec], server: EmbeddedServer, tmp_path: Path
) -> None:
    planned = planned_speeches(order(debaters, tmp_path), TOPICS)
    assert [(of.writer.name, of.calls, len(of.to_make)) for of in planned] == [
        ("one", 12, 12),
        ("two", 12, 12),
    ]
    # A prompt holds all that was said before: the last one is the longest by far.
    lengths = sorted(len(call.messages[1]["content"]) for call in planned[0].to_make)
    assert lengths[-1] > 5 * lengths[0]
    assert list(tmp_path.iterdir()) == []
    held(debaters, TOPICS, tmp_path)
    planned = planned_speeches(order(debaters, tmp_path), TOPICS)
    assert [(of.calls, len(of.to_make)) for of in planned] == [(12, 0), (12, 0)]
    # With another topic beside them only that one is asked.
    more = planned_speeches(order(debaters, tmp_path), [*TOPICS, Topic("sun", "No sun.")])
    assert [(of.calls, len(of.to_make)) for of in more] == [(18, 6), (18, 6)]


def test_a_plan_runs_no_function_and_counts_what_it_has_returned(tmp_path: Path) -> None:
    debaters = named("a", "b")
    held(debaters, TOPICS[:1], tmp_path)

    def never(messages: list[dict[str, str]]) -> str:
        raise AssertionError("it is called")

    others = [JudgeSpec(name, "callable", "m:echo", function=never) for name in ("a", "b")]
    planned = planned_speeches(order(others, tmp_path), TOPICS)
    assert [(of.calls, len(of.to_make)) for of in planned] == [(12, 6), (12, 6)]


def test_a_debate_that_cannot_be_finished_is_told_and_left_out(tmp_path: Path) -> None:
    def speaks(messages: list[dict[str, str]]) -> str:
        if "CON rebuttal" in messages[-1]["content"]:
            raise TimeoutError("too slow")
        return "A point."

    debaters = [JudgeSpec(n, "callable", "m:speaks", function=speaks) for n in ("a", "b")]
    written = held(debaters, TOPICS[:1], tmp_path)
    assert (written.lines, written.wanted) == ((), 2)
    assert written.notices == (
        "2 debates incomplete, the first tips-original: con_rebuttal: TimeoutError: too slow",
        "the same command with --judge-mode record resumes them",
    )


def test_a_debater_that_cannot_be_asked_at_all_is_an_error(
    debaters: tuple[JudgeSpec, JudgeSpec], server: EmbeddedServer, tmp_path: Path
) -> None:
    absent = JudgeSpec("two", "openai", "nobody", base_url=server.base_url)
    with pytest.raises(JudgeError, match="judge 'two' cannot be asked"):
        held((debaters[0], absent), TOPICS[:1], tmp_path)


def test_a_speech_is_cut_after_its_last_sentence_that_fits() -> None:
    assert within("One two. Three four five.", 4) == "One two."
    assert within('He said "no." Then more words came.', 4) == 'He said "no."'
    assert within("no end in sight here", 3) == "no end in"
    assert within("  short. ", 3) == "short."


def test_a_callable_that_talks_too_long_is_cut_and_told(tmp_path: Path) -> None:
    def chatter(messages: list[dict[str, str]]) -> str:
        return "A sentence of five words. " * 100

    debaters = (
        JudgeSpec("a", "callable", "m:chatter", function=chatter),
        JudgeSpec("b", "callable", "m:chatter", function=chatter),
    )
    written = held(debaters, TOPICS[:1], tmp_path)
    assert written.notices[0].startswith("12 speeches cut to their limit")
    lengths = [len(s.content.split()) for s in read_lines(written.lines)[0].speeches]
    assert lengths == [300, 300, 250, 250, 200, 200]  # multiples of five words


def test_topics_are_lines_or_objects_and_the_built_in_ones_by_default(tmp_path: Path) -> None:
    path = tmp_path / "topics.txt"
    path.write_text('Ban it.\n\n{"resolution": "Keep it.", "id": "keep", "category": "law"}\n')
    plain, given = read_topics(path)
    assert (plain.resolution, plain.category) == ("Ban it.", None)
    assert plain.id.startswith("ban-it-")
    assert given == Topic("keep", "Keep it.", "law")
    assert len(read_topics(None)) == 25
    path.write_text("Ban it.\nBan it.\n")
    with pytest.raises(LogError, match="cannot be debated"):
        read_topics(path)
    path.write_text('{"id": "x"}\n')
    with pytest.raises(LogError, match=r"topics\.txt:1 is not a topic"):
        read_topics(path)


def test_one_debater_does_not_debate_with_itself(tmp_path: Path) -> None:
    clean = judge_from_name("embedded:clean")
    with pytest.raises(UsageError, match="two debaters"):
        held((clean, clean), TOPICS, tmp_path)


def test_the_command_starts_the_embedded_debaters_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("topics.txt").write_text("Tips should be replaced by wages.\n")
    names = ["--debater", "embedded:clean", "--debater", "embedded:mixed"]
    given = [*names, "--topics", "topics.txt", "--style", "technical", "-o", "d.jsonl"]
    assert main([*GENERATE, *given]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "clean in debates: 6 calls, 6 to be made; cost: none",
        "mixed in debates: 6 calls, 6 to be made; cost: none",
        "together: 12 calls, 12 to be made; cost: none",
        "2 of 2 debates are complete",
        "12 speeches are not recorded: the embedded judge was run here",
        "debates written: d.jsonl",
    ]
    debates = read(Path("d.jsonl"))
    assert {debate.prompt_style for debate in debates} == {"technical"}
    assert not Path("cassettes").exists()
    assert main([*GENERATE, *given, "--judge-mode", "record"]) == 0
    assert [one.speeches for one in read(Path("d.jsonl"))] == [one.speeches for one in debates]
    assert main([*GENERATE, *given[2:]]) == 2


def test_the_command_replays_and_says_what_recording_costs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("topics.txt").write_text("Tips should be replaced by wages.\n")
    table = (
        '[tool.judgesense.judges.{}]\nprovider = "openai"\nmodel = "m"\n'
        "prices = {{ prompt = 1, completion = 2 }}\n"
    )
    Path("pyproject.toml").write_text(table.format("a") + table.format("b"))
    given = ["--pair", "a,b", "--topics", "topics.txt", "-o", "mine.jsonl"]
    assert main([*GENERATE, *given]) == 3
    told = capsys.readouterr()
    # Replies of at most 1,000 tokens at 2 USD a million.
    assert "a in debates: 6 calls, 6 to be made; cost: 0.00" in told.out
    assert "to 0.0" in told.out
    remedy = " ".join(told.err.split())
    assert (
        "judgesense paper debates --generate --pair a,b --topics topics.txt -o mine.jsonl "
        "--judge-mode record (12 calls, cost: 0.0" in remedy
    )
    assert not Path("mine.jsonl").exists()
    assert main([*GENERATE, *given[:4], "--plan"]) == 0
    assert "together: 12 calls, 12 to be made; cost: 0.0" in capsys.readouterr().out


def test_what_belongs_to_judging_or_to_writing_is_not_read_in_silence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    pair = ["--pair", "embedded:clean,embedded:mixed"]
    for wrong, told in (
        (["paper", "debates", "--style", "technical"], "nothing is to be written by models"),
        ([*GENERATE, *pair, "-o", "d.jsonl", "--quick"], "--quick"),
        ([*GENERATE, *pair, "-o", "d.jsonl", "--judge-name", "a"], "--judge-name"),
        ([*GENERATE, *pair], "which file the items are written to"),
        (["paper", "jss", "--generate", *pair, "-o", "d.jsonl"], "one of these papers: debates"),
    ):
        assert main(wrong) == 2
        assert told in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_topics_that_are_not_there_are_a_wrong_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    pair = ["--pair", "embedded:clean,embedded:mixed"]
    assert main([*GENERATE, *pair, "--topics", "none.txt", "-o", "out"]) == 2
    assert "none.txt" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_the_old_name_of_the_command_says_the_new_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["debates", "generate"]) == 2
    assert "judgesense paper debates --generate" in capsys.readouterr().err


def test_the_command_asks_no_host_and_takes_no_topics_that_the_project_alone_has_chosen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    project, topics = tmp_path / "project", tmp_path / "topics.txt"
    project.mkdir()
    topics.write_text("Tips should be replaced by wages.\n")
    (project / "pyproject.toml").write_text(
        '[tool.judgesense.judges.far]\nprovider = "openai"\nmodel = "m"\n'
        'base_url = "https://judge.example/v1"\n'
    )
    monkeypatch.chdir(project)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.delenv("JUDGESENSE_ALLOW_HOSTS", raising=False)
    monkeypatch.delenv("JUDGESENSE_ALLOW_PATHS", raising=False)
    near, far = ("--debater", "embedded:clean"), ("--debater", "far")
    written = ("-o", "d.jsonl", "--topics")
    assert main([*GENERATE, *near, *far, *written, "../topics.txt", *RECORD]) == 3
    assert "export JUDGESENSE_ALLOW_HOSTS=judge.example" in capsys.readouterr().err
    # A path that leads through the project leads where the project's link leads.
    Path("topics.txt").symlink_to(topics)
    near += ("--debater", "embedded:mixed")
    assert main([*GENERATE, *near, *written, "topics.txt", *RECORD]) == 3
    assert f"export JUDGESENSE_ALLOW_PATHS={tmp_path}" in capsys.readouterr().err
    assert main([*GENERATE, *near, *written, "../topics.txt", *RECORD]) == 0


def echo(messages: list[dict[str, str]]) -> str:
    return "A point."


def named(*names: str) -> list[JudgeSpec]:
    return [JudgeSpec(name, "callable", "m:echo", function=echo) for name in names]


def test_pairs_of_debaters_share_the_topics_in_order(tmp_path: Path) -> None:
    topics = [Topic(f"t{i:02}", f"Topic {i}.") for i in range(25)]
    # c debates in two pairs, and has one recording of both.
    debaters = named("a", "b", "c", "d", "e", "c")
    written = held(debaters, topics, tmp_path)
    assert (len(written.lines), written.wanted, written.notices) == (50, 50, ())
    models = {d.id: (d.pro_model, d.con_model) for d in read_lines(written.lines)}
    original = [models[f"t{i:02}-original"] for i in range(25)]
    assert original == [("a", "b")] * 8 + [("c", "d")] * 8 + [("e", "c")] * 9
    assert all(models[f"t{i:02}-flipped"] == original[i][::-1] for i in range(25))
    # Three speeches of each of the 2 * (8 + 9) debates of c.
    assert len(read_exchanges(tmp_path / "c" / "debates.jsonl")) == 3 * 2 * 17


def test_pairs_need_two_debaters_each_and_a_topic(tmp_path: Path) -> None:
    for debaters in (named("a", "b", "c"), named("a", "b", "c", "c"), []):
        with pytest.raises(UsageError, match="two debaters"):
            held(debaters, TOPICS, tmp_path)
    with pytest.raises(UsageError, match="fewer topics than pairs"):
        held(named(*"abcdef"), TOPICS, tmp_path)


def test_the_command_takes_pairs_or_two_debaters(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("topics.txt").write_text("Tips should be replaced by wages.\nNo moon.\n")
    written = ["--topics", "topics.txt", "-o", "d.jsonl"]
    pairs = ["--pair", "embedded:clean,embedded:mixed", "--pair", "embedded:noisy,embedded:clean"]
    assert main([*GENERATE, *pairs, *written]) == 0
    assert "4 of 4 debates are complete" in capsys.readouterr().out
    found = [(debate.pro_model, debate.con_model) for debate in read(Path("d.jsonl"))]
    assert found == [
        ("clean", "mixed"),
        ("mixed", "clean"),
        ("noisy", "clean"),
        ("clean", "noisy"),
    ]
    for wrong in (
        [],
        ["--pair", "embedded:clean"],
        ["--debaters", "embedded:clean"],
        [*pairs, "--debater", "embedded:clean", "--debater", "embedded:mixed"],
    ):
        assert main([*GENERATE, *wrong, *written]) == 2
        assert "--debaters A,B,C, or --pair A,B" in capsys.readouterr().err


def test_each_of_three_debaters_meets_every_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    three = ["--debaters", "embedded:clean,embedded:mixed,embedded:noisy"]
    assert main([*GENERATE, *three, "-o", "d.jsonl"]) == 0
    assert "50 of 50 debates are complete" in capsys.readouterr().out
    models = [(debate.pro_model, debate.con_model) for debate in read(Path("d.jsonl"))]
    # The paper: three pairs of three models share 25 topics, 8, 8 and 9, under both assignments.
    pairs = [("clean", "mixed")] * 8 + [("clean", "noisy")] * 8 + [("mixed", "noisy")] * 9
    assert models == [models_of for pair in pairs for models_of in (pair, pair[::-1])]


def test_whoever_has_debates_generated_says_what_may_be_sent() -> None:
    calls = asking_calls(frozenset({"generate_debates"}))
    assert calls
    assert [called for called, words in calls.items() if not words & {"trust", None}] == []
