"""Two branches' recordings in one: by trial, nothing lost that one side has and the other left."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_judgesense.cassettes.exchange import Exchange, RecordedRequest, RecordedResponse
from pytest_judgesense.cassettes.merging import merge_into, merged_recording
from pytest_judgesense.cassettes.storage import read_exchanges, rewrite
from pytest_judgesense.errors import BrokenCassette

# What a trial was asked in a session, and on which day it was answered; the answer follows from it.
_STATE = st.tuples(st.sampled_from("pqr"), st.integers(1, 9))
_TRIALS = [f"s/i{number}/t1/ab/r1" for number in range(6)]


def exchange(trial: str, asked: str, day: int = 1, answer: str | None = None) -> Exchange:
    said = f"answer to {asked} of day {day}" if answer is None else answer
    return Exchange(
        trial,
        1,
        RecordedRequest("POST", "https://judge.example/v1", asked),
        RecordedResponse(200, {}, said),
        f"2026-01-{day:02}T12:00:00Z",
    )


def returned(trial: str, text: str) -> Exchange:
    request = RecordedRequest("RETURN", "python:own:judge", "")
    return Exchange(trial, 0, request, RecordedResponse(200, {}, text), "2026-01-01T12:00:00Z")


@st.composite
def versions(draw) -> tuple[dict[str, tuple[str, int]], ...]:
    """What three versions hold by trial: of each trial a side leaves, deletes, or asks it anew."""
    base = draw(st.dictionaries(st.sampled_from(_TRIALS), _STATE))
    sides = []
    for _ in range(2):
        side = dict(base)
        for trial in draw(st.sets(st.sampled_from(_TRIALS))):
            side.pop(trial, None)
            state = draw(st.none() | _STATE)
            if state is not None:
                side[trial] = state
        sides.append(side)
    return base, *sides


def recording(states: dict[str, tuple[str, int]]) -> list[Exchange]:
    return [exchange(trial, *state) for trial, state in states.items()]


def expected(base, ours, theirs) -> Iterator[tuple[str, tuple[str, int]]]:
    """By trial what a merge holds, derived from the states alone."""
    for trial in _TRIALS:
        old, own, other = (side.get(trial) for side in (base, ours, theirs))
        changes = [state for state in (own, other) if state != old]
        if not changes and old:
            yield trial, old
        elif len({*changes}) == 1 and changes[0]:
            yield trial, changes[0]
        elif len({*changes}) == 2 and None in changes:
            yield trial, next(state for state in changes if state)


@given(versions())
def test_a_merge_takes_each_trial_from_who_changed_it(sides) -> None:
    merged = merged_recording(*map(recording, sides))
    states = {e.trial: e for e in merged.exchanges}
    assert states == {trial: exchange(trial, *state) for trial, state in expected(*sides)}
    # What is gone although a side has it, and the other has not simply deleted it, is named.
    base, ours, theirs = sides
    lost = {
        trial
        for trial in ours.keys() | theirs.keys()
        if trial not in states
        and ours.get(trial) != base.get(trial)
        and theirs.get(trial) != base.get(trial)
    }
    assert {*merged.dropped} == lost


@given(versions())
def test_a_merge_commutes_up_to_the_order_of_lines(sides) -> None:
    base, ours, theirs = map(recording, sides)
    one, other = merged_recording(base, ours, theirs), merged_recording(base, theirs, ours)
    assert sorted(one.exchanges, key=repr) == sorted(other.exchanges, key=repr)
    assert {*one.dropped} == {*other.dropped}
    assert {*one.undeleted} == {*other.undeleted}


@given(versions())
def test_what_both_sides_have_alike_is_as_it_is(sides) -> None:
    base, ours, _ = map(recording, sides)
    assert merged_recording(base, ours, ours).exchanges == tuple(ours)
    assert merged_recording(base, ours, base).exchanges == tuple(ours)
    assert sorted(merged_recording(base, base, ours).exchanges, key=repr) == sorted(ours, key=repr)


def test_the_same_answer_of_two_days_stands_once_and_is_the_earlier() -> None:
    trial = _TRIALS[0]
    ours, theirs = (exchange(trial, "new", day, "yes") for day in (4, 3))
    merged = merged_recording([exchange(trial, "old")], [ours], [theirs])
    assert merged.exchanges == (theirs,)
    assert merged.dropped == ()


def test_another_return_of_the_same_answers_is_another_recording() -> None:
    trial = _TRIALS[0]
    answer = exchange(trial, "new")
    sides = ([answer, returned(trial, text)] for text in ("A", "B"))
    merged = merged_recording([], *sides)
    assert merged.exchanges == ()
    assert merged.dropped == (trial,)


def test_look_ups_of_both_sides_are_there_and_none_is_a_conflict() -> None:
    token = [exchange("", "token", day, f"token {day}") for day in (1, 2, 3)]
    models = exchange("", "models")
    merged = merged_recording([token[0]], [token[1]], [token[2], models])
    # Of a look-up that both made again the earlier one: a recording makes it anew anyway.
    assert [(e.trial, e.call, e.response.body) for e in merged.exchanges] == [
        ("", 1, "token 2"),
        ("", 2, "answer to models of day 1"),
    ]
    assert merged.dropped == ()


def test_what_one_side_adds_stands_where_it_stood(tmp_path: Path) -> None:
    a, b, c, d = (exchange(trial, "p") for trial in _TRIALS[:4])
    merged = merged_recording([a, c], [a, b, c], [a, c, d])
    assert merged.exchanges == (a, b, c, d)


@pytest.mark.parametrize("changed", ["ours", "theirs", "neither"])
def test_the_bytes_of_the_side_that_changed_are_written(tmp_path: Path, changed: str) -> None:
    paths = {name: tmp_path / name for name in ("base", "ours", "theirs")}
    for name, path in paths.items():
        rewrite(path, [exchange(_TRIALS[0], "new" if name == changed else "old")])
    wanted = paths[changed if changed in paths else "base"].read_bytes()
    assert merge_into(paths["ours"], paths["base"], paths["theirs"]) is None
    assert paths["ours"].read_bytes() == wanted


@pytest.mark.parametrize("broken", ["base", "ours", "theirs"])
def test_a_file_that_is_no_recording_changes_nothing(tmp_path: Path, broken: str) -> None:
    paths = {name: tmp_path / name for name in ("base", "ours", "theirs")}
    for number, (name, path) in enumerate(paths.items()):
        rewrite(path, [exchange(trial, name) for trial in _TRIALS[number : number + 2]])
    paths[broken].write_bytes(paths[broken].read_bytes()[:-9])
    before = [path.read_bytes() for path in paths.values()]
    with pytest.raises(BrokenCassette, match=str(paths[broken])):
        merge_into(paths["ours"], paths["base"], paths["theirs"])
    assert [path.read_bytes() for path in paths.values()] == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["base", "ours", "theirs"]


def test_shared_texts_of_both_sides_are_in_the_merged_file(tmp_path: Path) -> None:
    texts = ["a long text that several trials share, so that it stands in a line of its own " * 2]
    texts += [text.replace("several", "other") for text in texts]

    def asking(trial: str, text: str) -> Exchange:
        return exchange(trial, f'{{"messages":[{{"content":"{text}"}}]}}')

    base = [asking(trial, texts[0]) for trial in _TRIALS[:2]]
    other = [asking(trial, texts[1]) for trial in _TRIALS[2:4]]
    own = [asking(_TRIALS[4], texts[0])]
    paths = [tmp_path / name for name in ("base", "ours", "theirs")]
    for path, exchanges in zip(paths, (base, base + own, base + other), strict=True):
        rewrite(path, exchanges)
    assert merge_into(paths[1], paths[0], paths[2]) is not None
    assert sorted(read_exchanges(paths[1]), key=repr) == sorted(base + own + other, key=repr)
    assert paths[1].read_bytes().count(b'{"id"') > 2
