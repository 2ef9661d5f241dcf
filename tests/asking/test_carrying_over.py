"""Answers are carried over to trials of other names: every call is counted at a real endpoint."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Final

import pytest

from pytest_judgesense import measure
from pytest_judgesense.asking.carrying_over import carried_over
from pytest_judgesense.cassettes.exchange import CARRIED, GIVEN, LOOK_UP, Exchange
from pytest_judgesense.cassettes.storage import read_exchanges
from pytest_judgesense.errors import MissingRecording
from pytest_judgesense.instruments.builtin import BUILT_IN
from pytest_judgesense.judges.prompts import suite_for_judge
from pytest_judgesense.judges.resolving import declared_judges
from pytest_judgesense.judges.spec import JudgeSpec
from pytest_judgesense.judges.trust import Trust
from pytest_judgesense.questions.pricing import Quote, quote
from pytest_judgesense.questions.record.shards import Job, Processes, run_job
from pytest_judgesense.suites.loading import _load, load_suite
from pytest_judgesense.suites.planning import Plans, plan_trials
from pytest_judgesense.suites.suite import Suite
from tests.plugin.project import ChatServer

# Of each of three items, two wordings are asked in two replicates: 12 trials, 4 an item.
ITEMS: Final = 3
OF_ITEM: Final = 2 * 2
TRIALS: Final = ITEMS * OF_ITEM


class Folder:
    """A project whose judge asks ``server``, and whose suite has the items that are written."""

    def __init__(self, path: Path, server: ChatServer) -> None:
        self.path, self.server = path, server
        self.judge('provider = "openai"\nmodel = "m-1"')

    def judge(self, table: str) -> None:
        """Declare the one judge."""
        url = self.server.base_url
        base = "" if "callable" in table else f'base_url = "{url}"\n'
        text = f"[tool.judgesense.judges.mine]\n{table}\n{base}"
        (self.path / "pyproject.toml").write_text(text)

    def suite(
        self,
        numbers: dict[str, int | str],
        name: str = "parity",
        *,
        wordings: tuple[str, ...] = ("Is {{number}} even?", "Tell whether {{number}} is even."),
        more: str = "",
    ) -> Path:
        """Write a suite: its items by id."""
        lines = [json.dumps({"id": id_, "number": f"{n}"}) for id_, n in numbers.items()]
        (self.path / f"{name}.jsonl").write_text("".join(f"{line}\n" for line in lines))
        templates = "".join(
            f'[[templates]]\nid = "w{n}"\ntext = "{wording}"\n'
            for n, wording in enumerate(wordings, start=1)
        )
        path = self.path / f"{name}.suite.toml"
        path.write_text(
            f'schema = "judgesense/suite/1"\nname = "{name}"\nkind = "paraphrase"\n'
            f'[space]\nlabels = ["YES", "NO"]\n[stimuli]\nfile = "{name}.jsonl"\n'
            f"[design]\nreplicates = 2\n{templates}{more}"
        )
        return path

    def spec(self) -> JudgeSpec:
        return declared_judges(self.path)["mine"]

    def record(self, suite: Path) -> tuple[int, int, int]:
        """Record a suite, which is then replayed: answers carried over, trials asked, requests."""
        self.server.forget()
        planned = self.planned(suite)
        sheet = measure("mine", suite, mode="record")
        requests = len(self.server.asked)
        measure("mine", suite)
        assert len(self.server.asked) == requests
        ((part,),) = (judge.parts for judge in sheet.judges)
        lines = [notice for notice in part.notices if "carried over" in notice]
        carried, asked = 0, part.calls.made
        if lines:
            carried = int(lines[0].split()[0])
            assert lines == [f"{carried} answers carried over, {asked} asked"]
        if self.spec().provider != "callable":
            assert (planned.carried, planned.asked) == (carried, asked)
        return carried, asked, requests

    def planned(self, suite: Path) -> Quote:
        _load.cache_clear()  # as in a process of its own
        judge = self.spec()
        loaded = suite_for_judge(self.loaded(suite), judge)
        return quote(
            judge, loaded, Path("cassettes"), Plans(self.path, Path("cassettes"), BUILT_IN.forms)
        )

    def loaded(self, suite: Path) -> Suite:
        return load_suite(suite, None, BUILT_IN.forms)

    def exchanges(self, name: str = "parity") -> list[Exchange]:
        return read_exchanges(self.path / "cassettes" / "mine" / f"{name}.jsonl")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Folder]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    server = ChatServer()
    yield Folder(tmp_path, server)
    server.close()
    sys.modules.pop("judge_of_folder", None)


THREE: Final[dict[str, int | str]] = {"a": 1, "b": 2, "c": 3}
ONE: Final[dict[str, int | str]] = {"a": 1}


# --- what is carried over -------------------------------------------------------------------------


def test_items_that_are_called_otherwise_are_asked_nothing(folder: Folder) -> None:
    assert folder.record(folder.suite(THREE)) == (0, TRIALS, TRIALS)
    before = folder.exchanges()
    assert folder.record(folder.suite({"x": 3, "y": 1, "z": 2})) == (TRIALS, 0, 0)
    carried = {e.response.headers[CARRIED]: e for e in folder.exchanges() if e.trial[7] in "xyz"}
    assert carried.keys() == {exchange.trial for exchange in before}
    for old in before:
        new = carried[old.trial]
        assert (new.request, new.response.body) == (old.request, old.response.body)
        assert new.recorded_at == old.recorded_at
        assert new.trial.split("/")[2:] == old.trial.split("/")[2:]
    # What nobody plans any more stays as it was.
    assert [e for e in folder.exchanges() if CARRIED not in e.response.headers] == before


def test_of_a_suite_with_other_items_only_the_new_one_is_asked(folder: Folder) -> None:
    folder.record(folder.suite(THREE))
    more = {"l1": 1, "l2": 9, "l3": 2, "l4": 3}
    assert folder.record(folder.suite(more)) == (TRIALS, OF_ITEM, OF_ITEM)
    assert folder.record(folder.suite({"k1": 9, "k2": 3})) == (2 * OF_ITEM, 0, 0)


def test_a_suite_that_is_renamed_takes_its_answers_along(folder: Folder) -> None:
    before = folder.suite(THREE)
    folder.record(before)
    before.unlink()
    assert folder.record(folder.suite({"x": 1, "b": 2, "c": 3}, "numbers")) == (TRIALS, 0, 0)
    assert {e.response.headers[CARRIED][:7] for e in folder.exchanges("numbers")} == {"parity/"}


def test_wordings_that_are_called_otherwise_are_the_same_requests(folder: Folder) -> None:
    folder.record(folder.suite(ONE))
    wordings = ("Tell whether {{number}} is even.", "Is {{number}} even?")
    # The trials of w1 and w2 are recorded, with the other's prompt: they changed, as today.
    assert folder.record(folder.suite(ONE, wordings=wordings)) == (0, OF_ITEM, OF_ITEM)
    assert folder.record(folder.suite({"x": 1}, wordings=wordings[::-1])) == (OF_ITEM, 0, 0)


@pytest.mark.parametrize(
    "more", ["", "[presets.all]\nreplicates = 2\n[presets.first]\nitems = 1\n"], ids=["", "presets"]
)
def test_what_any_suite_file_plans_is_not_free(folder: Folder, more: str) -> None:
    path = folder.suite(THREE, more=more)
    folder.record(path)
    assert folder.record(folder.suite(THREE, "copy")) == (0, TRIALS, TRIALS)


def test_a_suite_file_that_cannot_be_read_keeps_the_recording_of_its_name(folder: Folder) -> None:
    path = folder.suite(THREE)
    folder.record(path)
    path.write_text("schema = ")
    assert folder.record(folder.suite(THREE, "copy")) == (0, TRIALS, TRIALS)


def test_labels_that_the_judge_gave_are_not_held_against_it(folder: Folder) -> None:
    before = folder.suite(THREE, "labels-parity")
    folder.record(before)
    before.unlink()
    assert folder.record(folder.suite(THREE)) == (0, TRIALS, TRIALS)


def test_an_answer_serves_one_trial_also_in_a_later_session(folder: Folder) -> None:
    folder.record(folder.suite(ONE))
    # Two rows of one text: one gets the answers, the other is asked.
    assert folder.record(folder.suite({"x": 1, "y": 1})) == (OF_ITEM, OF_ITEM, OF_ITEM)
    assert folder.record(folder.suite({"x": 1, "y": 1, "z": 1})) == (0, OF_ITEM, OF_ITEM)


def test_another_replicate_or_temperature_is_another_answer(folder: Folder) -> None:
    path = folder.suite(ONE)
    path.write_text(path.read_text().replace("replicates = 2", "replicates = 1"))
    folder.record(path)
    # The second replicate of each of two wordings was never asked.
    assert folder.record(folder.suite({"x": 1})) == (2, 2, 2)
    path = folder.suite({"y": 1})
    path.write_text(path.read_text().replace("replicates = 2", "replicates = 2\ntemperature = 0.5"))
    assert folder.record(path) == (0, OF_ITEM, OF_ITEM)


def test_a_failed_trial_serves_nobody(folder: Folder) -> None:
    folder.server.status = lambda prompt: 400 if prompt.startswith("Is 1") else 200
    measure("mine", folder.suite(ONE), mode="record")
    folder.server.status = lambda prompt: 200
    # Two replicates of the wording that was refused.
    assert folder.record(folder.suite({"x": 1})) == (2, 2, 2)


def test_fields_that_are_ignored_may_differ(folder: Folder) -> None:
    table = 'provider = "openai"\nmodel = "m-1"\nignore = ["body.max_tokens"]\nmax_tokens = {}'
    folder.judge(table.format(16))
    folder.record(folder.suite(ONE))
    folder.judge(table.format(17))
    assert folder.record(folder.suite({"x": 1})) == (OF_ITEM, 0, 0)


def test_a_trial_with_a_repaired_reply_has_both_of_its_calls(folder: Folder) -> None:
    folder.judge('provider = "openai"\nmodel = "m-1"\nrepair = {}')
    folder.server.reply = lambda prompt: "NO" if "hardly" in prompt else "hardly, or not at all"
    carried, asked, requests = folder.record(folder.suite(ONE))
    assert (carried, asked, requests) == (0, OF_ITEM, 2 * OF_ITEM)
    assert folder.record(folder.suite({"x": 1})) == (OF_ITEM, 0, 0)


# --- replay ---------------------------------------------------------------------------------------


def test_a_replay_carries_nothing_over_and_says_what_a_recording_would(folder: Folder) -> None:
    folder.record(folder.suite(THREE))
    before = folder.exchanges()
    path = folder.suite({"x": 1, "y": 2, "z": 9})
    _load.cache_clear()
    with pytest.raises(MissingRecording) as raised:
        measure("mine", path)
    # Two of the three items were asked before.
    assert f"without a call for {2 * OF_ITEM} of them" in raised.value.remedy
    assert folder.exchanges() == before


# --- functions ------------------------------------------------------------------------------------

OVER_HTTP = """
import json, os, urllib.request
from pathlib import Path

Path("ran").touch()
LOOKED_UP = []

def asked(text):
    body = json.dumps({{"messages": [{{"role": "user", "content": text}}]}}).encode()
    headers = {{"Content-Type": "application/json"}}
    request = urllib.request.Request("{url}/chat/completions", body, headers)
    with urllib.request.urlopen(request) as response:
        return json.load(response)["choices"][0]["message"]["content"]

def judge({parameter}):
    if Path("look-up").exists() and not LOOKED_UP:
        LOOKED_UP.append(asked("which models are 0 there?"))
    text = {parameter} if isinstance({parameter}, str) else {parameter}[-1]["content"]
    return asked(text + "{suffix}")
"""
PLAIN = """
from pathlib import Path

Path("ran").touch()

def judge({parameter}):
    Path("called").touch()
    return "NO"
"""
MODULE = "judge_of_folder"


def of_function(folder: Folder, code: str, parameter: str = "number", suffix: str = "") -> None:
    """Let the judge be a function of a fresh module."""
    url = folder.server.base_url
    text = code.format(url=url, parameter=parameter, suffix=suffix)
    (folder.path / f"{MODULE}.py").write_text(text)
    sys.modules.pop(MODULE, None)
    folder.judge(f'provider = "callable"\nmodel = "{MODULE}:judge"')


def one_wording(folder: Folder, numbers: dict[str, int | str]) -> Path:
    """Of a function that takes no wording: two trials an item."""
    return folder.suite(numbers, wordings=("Is {{number}} even?",))


# A function takes a field of the item, or the messages of the prompt.
@pytest.mark.parametrize("parameter", ["number", "messages"])
def test_a_function_that_is_given_the_same_runs_on_the_answers(
    folder: Folder, parameter: str
) -> None:
    of_function(folder, OVER_HTTP, parameter)
    assert folder.record(one_wording(folder, THREE)) == (0, 2 * ITEMS, 2 * ITEMS)
    # Nothing of the code is run to find what was given.
    (folder.path / "ran").unlink()
    sys.modules.pop(MODULE)
    planned = folder.planned(one_wording(folder, {"x": 3, "y": 9}))
    assert (planned.carried, planned.asked, planned.to_make) == (2, 2, 2)
    # An item that is edited under its own name is given something else.
    edited = folder.planned(one_wording(folder, {"a": 1, "b": 8}))
    assert (edited.carried, edited.asked, edited.changed) == (0, 2, 2)
    assert not (folder.path / "ran").exists()

    assert folder.record(one_wording(folder, {"x": 3, "y": 1, "z": 2})) == (2 * ITEMS, 0, 0)
    returned = {e.trial: e for e in folder.exchanges() if e.returns}
    # What was returned is recorded under the new names as well, with what was given.
    assert len(returned) == 2 * 2 * ITEMS
    assert all(GIVEN in exchange.response.headers for exchange in returned.values())


def test_a_function_that_asks_otherwise_is_asked_anew(folder: Folder) -> None:
    of_function(folder, OVER_HTTP)
    folder.record(one_wording(folder, ONE))
    of_function(folder, OVER_HTTP, suffix=" Think.")
    assert folder.record(one_wording(folder, {"x": 1})) == (0, 2, 2)
    # No answer to another question is left under the new name.
    (bodies,) = [{e.request.body for e in folder.exchanges() if "/x/" in e.trial and not e.returns}]
    assert all("Think." in str(body) for body in bodies)
    assert not any(CARRIED in exchange.response.headers for exchange in folder.exchanges())


@pytest.mark.parametrize("parameter", ["number", pytest.param("messages", marks=pytest.mark.long)])
def test_recorded_calls_are_carried_over_to_the_same_function(
    folder: Folder, parameter: str
) -> None:
    of_function(folder, PLAIN, parameter)
    assert folder.record(one_wording(folder, THREE)) == (0, 2 * ITEMS, 0)
    (folder.path / "called").unlink()
    assert folder.record(one_wording(folder, {"x": 3, "y": 1})) == (2 * 2, 0, 0)
    assert not (folder.path / "called").exists()


def test_a_recording_that_does_not_say_what_was_given_serves_nobody(folder: Folder) -> None:
    of_function(folder, OVER_HTTP)
    folder.record(one_wording(folder, ONE))
    path = folder.path / "cassettes" / "mine" / "parity.jsonl"
    path.write_text(path.read_text().replace(f'"{GIVEN}"', '"x-other"'))
    assert folder.record(one_wording(folder, {"x": 1})) == (0, 2, 2)


def test_look_ups_come_along_into_another_cassette(folder: Folder) -> None:
    (folder.path / "look-up").touch()
    of_function(folder, OVER_HTTP)
    before = one_wording(folder, THREE)
    folder.record(before)
    assert folder.exchanges()[0].trial == LOOK_UP
    before.unlink()
    path = folder.suite({"x": 1, "y": 2}, "numbers", wordings=("Is {{number}} even?",))
    carried, asked, _ = folder.record(path)
    assert (carried, asked) == (4, 0)
    assert folder.exchanges("numbers")[0].trial == LOOK_UP


# --- shards and files -----------------------------------------------------------------------------


def test_a_job_in_shards_carries_over_before_its_workers_begin(folder: Folder) -> None:
    folder.record(folder.suite(THREE))
    path = folder.suite({"x": 1, "y": 2, "z": 3, "new": 9})
    folder.server.forget()
    _load.cache_clear()
    job = Job(folder.spec(), (folder.loaded(path),), 2, Trust.here(path), 2, 0)
    with closing(Processes(None, None)) as workers:
        result = run_job(
            job,
            workers,
            Path("cassettes"),
            plans=Plans(folder.path, Path("cassettes"), BUILT_IN.forms),
        )
    assert (result.carried, result.requests.sent, result.answered) == (TRIALS, OF_ITEM, 4 * OF_ITEM)
    assert len(folder.server.asked) == OF_ITEM


def test_parts_of_a_suite_are_served_as_the_whole_is(folder: Folder) -> None:
    folder.record(folder.suite({"a": 1, "b": 1}))
    path = folder.suite({"x": 1, "y": 1, "z": 1})
    _load.cache_clear()
    suite = folder.loaded(path)
    plans = Plans(folder.path, Path("cassettes"), BUILT_IN.forms)
    trials = plan_trials(suite)
    first = carried_over(folder.spec(), suite, trials, plans)
    assert carried_over(folder.spec(), suite, trials, plans).keys() == first.keys()
    sources = [recorded.id for recorded in first.values()]
    assert len(sources) == len(set(sources)) == 2 * OF_ITEM
