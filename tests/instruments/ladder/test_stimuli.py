"""What is refused when a suite is loaded: a ladder that could not measure what it says."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_judgesense.errors import SuiteError
from pytest_judgesense.suites.loading import _load
from pytest_judgesense.suites.planning import plan_trials
from pytest_judgesense.suites.rules import lint_items
from pytest_judgesense.suites.suite import Suite
from tests.suites.files import LADDER, ladder_task, ladder_text, quarter_task, write_suite
from tests.suites.known import load_suite

QUARTERS = LADDER.replace('file = "items.jsonl"', 'file = "items.jsonl"\nsteps = "quarter"')

Load = Callable[..., Suite]


@pytest.fixture
def load(tmp_path: Path) -> Load:
    def loaded(toml: str, *rows: dict[str, Any], preset: str | None = None) -> Suite:
        _load.cache_clear()  # a test may write its suite twice
        return load_suite(write_suite(tmp_path, toml, rows), preset)

    return loaded


@pytest.mark.parametrize("kind", ["levels", "rewordings"])
def test_a_level_that_loses_a_sentence_of_a_lower_one_breaks_the_chain(
    load: Load, kind: str
) -> None:
    task = ladder_task()
    task[kind][4] = task[kind][4].replace(f"{kind[0].upper()}2.", "other.")
    with pytest.raises(SuiteError, match=f"task note in .*: the {kind} are no prefix chain") as e:
        load(LADDER, task)
    assert e.value.found == f"level 4 lacks '{kind[0].upper()}2.', which a level below has"


def test_a_level_that_gains_nothing_breaks_the_chain(load: Load) -> None:
    task = ladder_task()
    task["levels"][3] = task["levels"][2]
    with pytest.raises(SuiteError, match="level 3 has no sentence that no level below has"):
        load(LADDER, task)


def test_padding_may_come_and_go(load: Load) -> None:
    # The sentence l3 stands at levels 0 and 2 and not at 1: it covers no element.
    task = ladder_task()
    task["levels"][1] = task["levels"][1].replace("l3.", "l4.")
    assert load(LADDER, task).items


def test_quarters_are_a_chain_as_well(load: Load) -> None:
    task = quarter_task()
    task["quarters"][2], task["quarters"][3] = task["quarters"][3], task["quarters"][2]
    with pytest.raises(SuiteError, match="the quarters are no prefix chain"):
        load(QUARTERS, task)


# Texts of 5 words; 10% more is 5.5, so one word more is too much. 10 words allow 11.
@pytest.mark.parametrize(("words", "allowed"), [(5, False), (10, True)])
@pytest.mark.parametrize("kind", ["levels", "alternatives"])
def test_texts_of_one_task_have_lengths_within_ten_percent(
    load: Load, kind: str, words: int, allowed: bool
) -> None:
    task = ladder_task()
    more = " " + " ".join(["more"] * (words - 5))
    for name in ("levels", "rewordings"):
        task[name] = [text + more for text in task[name]]
    for other in task["alternatives"]:
        other["text"] += more
    if kind == "levels":
        task["levels"][0] += " longer"
    else:
        task[kind][0]["text"] += " longer"
    if allowed:
        assert load(LADDER, task).items
    else:
        with pytest.raises(SuiteError, match="the texts differ in length") as caught:
            load(LADDER, task)
        assert caught.value.found == "5 to 6 words"


def test_a_task_in_quarters_that_is_a_chain_is_loaded(load: Load) -> None:
    assert len(load(QUARTERS, quarter_task()).items) == 6


@pytest.mark.parametrize("orders", ["ab", "balanced"])
def test_a_ladder_is_asked_in_both_orders(load: Load, orders: str) -> None:
    toml = LADDER + f'[design]\norders = "{orders}"\n'
    with pytest.raises(SuiteError, match="asks a ladder in one presentation order"):
        load(toml, ladder_task())


def test_a_preset_of_a_ladder_is_asked_in_both_orders_too(load: Load) -> None:
    toml = LADDER + '[presets.half]\norders = "ab"\n'
    assert load(toml, ladder_task()).orders == "both"
    with pytest.raises(SuiteError, match="asks a ladder in one presentation order"):
        load(toml, ladder_task(), preset="half")


@pytest.mark.parametrize(
    ("text", "leak"),
    [
        ("gold: 1", "gold: 1"),
        ("[Level=3]", "Level=3"),
        ("winner: B", "winner: B"),
        ('"label": "2"', None),  # JSON quotes its keys; see below
        ("note-d1-01", "note-d1-01"),  # the id of the first pair at distance 1
        ("a better: ending", None),
        ("at sea level 3 boats lay", None),
    ],
)
def test_an_item_that_tells_the_judge_what_it_is_is_named(
    load: Load, text: str, leak: str | None
) -> None:
    task = ladder_task()
    task["task"] = f"Write a note. {text}"
    marks = [one for one in lint_items(load(LADDER, task)) if one.rule == "marks"]
    assert [one.severity for one in marks] == ["warning"] * (leak is not None)
    if leak is not None:
        assert marks[0].found.endswith(f": {leak!r}")


POOL = QUARTERS.replace('name = "steps"', 'name = "fine"') + (
    '[presets.pooled]\npooled_with = "../steps/tiny.suite.toml"\n'
)


def two_suites(folder: Path, ladder: str = LADDER) -> Path:
    for name in ("steps", "fine"):
        (folder / name).mkdir()
    write_suite(folder / "steps", ladder, [ladder_task(), ladder_task("other")])
    return write_suite(folder / "fine", POOL, [quarter_task()])


def test_a_pooled_preset_asks_the_very_trials_of_the_ladder_beside_its_own(tmp_path: Path) -> None:
    path = two_suites(tmp_path)
    own, both = load_suite(path), load_suite(path, "pooled")
    whole = load_suite(tmp_path / "steps" / "tiny.suite.toml")
    # 6 pairs in quarters; of each of two tasks the 15 pairs at distance 1 to 5.
    assert (len(own.items), len(both.items)) == (6, 6 + 2 * 15)
    ids = [trial.id for trial in plan_trials(both)]
    assert set(ids[:12]) == {trial.id for trial in plan_trials(own)}
    unequal = {t.id for t in plan_trials(whole) if t.label is not None}
    assert set(ids[12:]) == unequal
    assert all(name.startswith("steps/") for name in ids[12:])
    # The same task is one cluster, whichever steps it is asked in.
    assert {item.cluster for item in both.items} == {"note", "other"}


def test_the_digest_of_a_pooled_preset_follows_the_ladder(tmp_path: Path) -> None:
    digests = set()
    for name, words in (("one", "Write a note."), ("two", "Write a letter.")):
        folder = tmp_path / name
        folder.mkdir()
        path = two_suites(folder)
        write_suite(folder / "steps", LADDER, [{**ladder_task(), "task": words}])
        digests.add(load_suite(path, "pooled").digest)
        assert load_suite(path).digest not in digests
    assert len(digests) == 2


def test_a_ladder_with_another_prompt_cannot_be_pooled(tmp_path: Path) -> None:
    path = two_suites(tmp_path, LADDER.replace("{{task}} {{a}}", "{{task}}: {{a}}"))
    with pytest.raises(SuiteError, match=r"suite fine@pooled cannot be pooled with steps"):
        load_suite(path, "pooled")
    assert load_suite(path).items


def test_the_number_of_the_parted_element_is_one_of_the_elements(load: Load) -> None:
    with pytest.raises(SuiteError, match="parted is the number of an element, 1 to 2"):
        load(QUARTERS, {**quarter_task(), "parted": 3})


def test_a_sound_ladder_has_no_findings(load: Load) -> None:
    suite = load(LADDER.replace("{{task}} {{a}}", "A, B or tie? {{task}} {{a}}"), ladder_task())
    assert lint_items(suite) == ()


@pytest.mark.parametrize("elements", [[2, 1], [1], [6], []])
def test_an_alternative_with_the_elements_of_a_level_is_none(
    load: Load, elements: list[int]
) -> None:
    task = ladder_task()
    task["alternatives"][0]["elements"] = elements
    with pytest.raises(SuiteError, match=r"task note in .*: an alternative is none") as caught:
        load(LADDER, task)
    assert caught.value.found == f"elements = {elements}"


def test_distances_that_no_pair_has_leave_no_items(load: Load) -> None:
    toml = LADDER.replace('file = "items.jsonl"', 'file = "items.jsonl"\ndistances = [7]')
    with pytest.raises(SuiteError, match="has no items") as caught:
        load(toml, ladder_task())
    assert caught.value.found == "distances = [7], subsets = None"


def test_ladder_texts_of_the_tests_are_what_they_are_said_to_be() -> None:
    assert ladder_text("L", 2) == "L1. L2. l3. l4. l5."


def test_lint_tells_of_a_rewording_that_loses_a_fact(load: Load) -> None:
    toml = LADDER.replace("{{task}} {{a}}", "A, B or tie? {{task}} {{a}}")
    task = ladder_task()
    task["rewordings"] = [text.replace("R1.", "Nine.") for text in task["rewordings"]]
    task["levels"] = [text.replace("L1.", "Ten.") for text in task["levels"]]
    found = {one.rule: one for one in lint_items(load(toml, task))}
    # Levels 1 to 5 of six hold the sentence.
    assert found["fact-parity"].found == "5 pairs; in note-same-1 alone in one text: 10, 9"
    task["rewordings"] = [text.replace("Nine.", "Ten.") for text in task["rewordings"]]
    assert "fact-parity" not in {one.rule for one in lint_items(load(toml, task))}


def test_lint_tells_of_a_filler_that_is_short_or_says_something_else(load: Load) -> None:
    toml = LADDER.replace("{{task}} {{a}}", "A, B or tie? {{task}} {{a}}")
    task = ladder_task()
    task["fillers"][0]["text"] = "F2. f. f. f. f."  # five words, as the plain text has
    task["fillers"][1]["text"] += " On Friday."
    found = [one for one in lint_items(load(toml, task)) if one.rule == "filler-parity"]
    assert [one.found for one in found] == [
        "1 pairs; in note-filler-2 alone in one text: friday",
        "1 items",
    ]
