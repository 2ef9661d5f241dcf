"""``--judge-shard`` and its ini twin: one of N parts of each suite, to be joined and measured."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from pytest_judgesense.errors import MissingRecording
from pytest_judgesense.plugin.settings import resolve
from pytest_judgesense.questions.recordings.joining import JoinQuestion
from pytest_judgesense.suites.planning import Shard, plan_trials
from tests.commands.recordings import undated_bytes
from tests.report.replaying import suite_named
from tests.suites.known import of_known_kinds

from .project import TRIALS, Project, measured, no_traceback, recorded, times_asked

HERE = Path("/project")


@pytest.mark.parametrize("name", of_known_kinds("coherence", "debate", "ladder"))
@pytest.mark.parametrize("of", [1, 3, 4, 70])
def test_shards_divide_a_suite_into_whole_clusters_evenly(name: str, of: int) -> None:
    trials = plan_trials(suite_named(name))
    parts = [Shard(number, of).part(trials) for number in range(1, of + 1)]
    assert Counter(one.id for part in parts for one in part) == Counter(one.id for one in trials)
    clusters = [{one.cluster for one in part} for part in parts]
    assert sum(map(len, clusters)) == len({one.cluster for one in trials})
    assert max(map(len, clusters)) - min(map(len, clusters)) <= 1
    kept = [one.id for one in trials if one.cluster in clusters[0]]
    assert [one.id for one in parts[0]] == kept


@pytest.mark.parametrize(
    ("one", "other"),
    # A preset with the first items; a suite that shares trials of another.
    [("coherence@published", "coherence"), ("criterion", "ladder"), ("ladder@published", "ladder")],
)
def test_trials_of_two_suites_belong_to_the_same_shard(one: str, other: str) -> None:
    def shards(name: str) -> dict[str, int]:
        trials = plan_trials(suite_named(name))
        return {trial.id: n for n in (1, 2, 3) for trial in Shard(n, 3).part(trials)}

    first, second = shards(one), shards(other)
    shared = first.keys() & second.keys()
    assert len(shared) > 100
    assert {id_: first[id_] for id_ in shared} == {id_: second[id_] for id_ in shared}


@pytest.mark.parametrize("text", ["", "1", "0/4", "5/4", "a/b", "1/2/3", "-1/2", "1/0"])
def test_what_is_no_shard_is_refused(text: str) -> None:
    if not text:
        assert resolve({"judge-shard": text}, HERE, HERE).shard is None
        return
    with pytest.raises(pytest.UsageError, match="expected I/N, the I-th of N shards"):
        resolve({"judge-shard": text, "judge-mode": "record"}, HERE, HERE)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "judge-mode is replay; expected --judge-mode record.*judgesense recordings join"),
        ({"judge-mode": "live"}, "judge-mode is live and keeps nothing of it"),
        ({"judge-mode": "live", "judge-save-live": "x", "judge-verify": 2}, "judge-mode is live"),
        ({"judge-mode": "record", "judge-datasheet": ["x.json"]}, "nothing for --judge-datasheet"),
        ({"judge-mode": "record", "judge-save-baseline": "b"}, "nothing for --judge-save-baseline"),
    ],
)
def test_a_shard_is_recorded_and_not_measured(given: dict[str, object], said: str) -> None:
    with pytest.raises(pytest.UsageError, match=said):
        resolve({"judge-shard": "1/4", **given}, HERE, HERE)


def test_a_shard_may_be_recorded_afresh_and_kept() -> None:
    given = {"judge-shard": "2/4", "judge-mode": "live", "judge-save-live": "kept"}
    assert resolve(given, HERE, HERE).shard == (2, 4)


def test_shards_join_to_the_bytes_of_one_recording(project: Project) -> None:
    recorded(project)
    whole, named = undated_bytes(project.cassette), ("parity.suite.toml", "--judge-mode", "record")
    project.cassette.unlink()

    for number, how in ((1, "ini"), (2, "workers")):
        folder = f"shard-{number}"
        given = ["--judge-cassettes", folder]
        if how == "ini":
            project.pytester.makeini(f"[pytest]\njudge_shard = {number}/2\n")
        else:
            given += ["--judge-shard", f"{number}/2", "-n", "2"]
        result = project.run(*named, *given)
        result.assert_outcomes(skipped=1)
        assert result.ret == 0
        result.stdout.fnmatch_lines(
            [
                "*= judge shard =*",
                # 3 of the 6 numbers, each under 3 wordings
                f"*, suite parity, shard {number}/2: 9 of 9 trials recorded, of 3 clusters",
                f"*judgesense recordings join *{folder} OTHER-FOLDERS -o cassettes",
            ]
        )
        assert "judge datasheet" not in result.stdout.str()
        no_traceback(result)
        project.pytester.makeini("[pytest]\n")
    assert times_asked(project.server.prompts) == {1: TRIALS}  # each trial by one shard

    project.server.forget()
    with pytest.raises(MissingRecording) as caught:
        measured(project, cassettes="shard-1")
    missing = f"{TRIALS - 9} of {TRIALS} trials are not recorded, the first is parity/p2/t1/ab/r1"
    assert missing in caught.value.what
    assert "if this is a shard: join all first, by judgesense rec" in caught.value.remedy
    JoinQuestion(
        tuple(project.path / f"shard-{n}" for n in (2, 1)), project.path / "cassettes"
    ).answer()
    assert undated_bytes(project.cassette) == whole
    measured(project)
    assert project.server.asked == []


def test_a_shard_on_the_record_is_not_asked_again_and_a_limit_fails_it(project: Project) -> None:
    shard = ("parity.suite.toml", "--judge-mode", "record", "--judge-shard", "1/2")
    limited = project.run(*shard, "--judge-max-calls", "4")
    limited.assert_outcomes(failed=1)
    limited.stdout.fnmatch_lines(["*--judge-max-calls 4 is reached: 5 of 9 trials of judge*"])
    assert len(project.lines()) == 4
    project.run(*shard).assert_outcomes(skipped=1)
    assert len(project.server.asked) == 9  # 3 of the 6 numbers, under 3 wordings
    assert {json.loads(line)["trial"].split("/")[1] for line in project.lines()} == {
        "p1",
        "p3",
        "p5",
    }


def test_tests_in_python_record_their_suites_and_each_asks_in_one_shard(project: Project) -> None:
    project.pytester.makepyfile(
        """
        import pytest

        @pytest.mark.jss_floor(0.8, suite="parity.suite.toml")
        def test_marked(judge_check):
            judge_check()
            assert False, "a shard decides nothing"

        def test_read(judge_datasheet):
            assert judge_datasheet("jss", suite="parity.suite.toml").value == 1.0

        @pytest.mark.parametrize("number", [2, 4, 6, 8])
        def test_asked(judge, number):
            assert judge.ask(f"Is {number} even?").text == "YES"
        """
    )
    for number in (1, 2):
        given = ("--judge-shard", f"{number}/2", "--judge-cassettes", f"shard-{number}")
        result = project.run("-rs", "--judge-mode", "record", *given)
        outcomes = result.parseoutcomes()
        assert outcomes.keys() <= {"skipped", "passed"}
        assert outcomes["skipped"] >= 2
    assert len(project.server.asked) == TRIALS + 4
    JoinQuestion(
        (project.path / "shard-1", project.path / "shard-2"), project.path / "cassettes"
    ).answer()
    project.server.forget()
    project.run("-k", "read or asked").assert_outcomes(passed=5, deselected=2)
    assert project.server.asked == []


def test_a_shard_whose_trials_failed_says_how_many_and_why(project: Project) -> None:
    shard = ("parity.suite.toml", "--judge-mode", "record", "--judge-shard", "1/2")
    project.server.status = lambda prompt: 422 if prompt.startswith("Tell whether 1") else 200
    some = project.run(*shard)
    # Three of the six numbers, each under three wordings; the answer about the number 1 under the
    # second wording is an error.
    some.assert_outcomes(skipped=1)
    some.stdout.fnmatch_lines(
        [
            "judge mine, suite parity, shard 1/2: 8 of 9 trials recorded, of 3 clusters",
            "  1 failed, the first parity/p1/t2/ab/r1: HTTP 422*",
        ]
    )
    project.server.status = lambda prompt: 422
    none = project.run(*shard, "--judge-cassettes", "others")
    none.assert_outcomes(failed=1)
    assert none.ret == pytest.ExitCode.TESTS_FAILED
    none.stdout.fnmatch_lines(
        [
            "nothing of shard 1/2 of suite parity could be recorded of judge 'mine'",
            "  found:    9 failed, the first parity/p1/t1/ab/r1: HTTP 422*",
            "judge mine, suite parity, shard 1/2: 0 of 9 trials recorded, of 3 clusters",
        ]
    )
    no_traceback(none)
