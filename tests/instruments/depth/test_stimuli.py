"""Items of long records: one passage at three places and nowhere, with padding around it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_judgesense.errors import SuiteError
from pytest_judgesense.instruments.depth.padding import own_padding, placed
from pytest_judgesense.instruments.depth.record_places import BREAK, STANDING
from pytest_judgesense.suites.item import Item
from pytest_judgesense.suites.planning import plan_trials
from tests.instruments.depth.records import SUITE, TEXTS, loaded, passage
from tests.suites.known import load_suite


def by_id(folder: Path) -> dict[str, Item]:
    return {item.id: item for item in loaded(folder).items}


def test_a_line_becomes_a_record_for_each_place_and_length(tmp_path: Path) -> None:
    suite = loaded(tmp_path)
    items = [item for item in suite.items if item.cluster == "c0"]
    assert [(item.id, item.label, dict(item.condition)) for item in items] == [
        (f"c0.{place}-{length}", label, {"place": place, "length": length})
        for length in (100, 200)
        for place, label in (
            *((place, "YES") for place in STANDING),
            ("absent", "NO"),
        )
    ]
    # The judge sees the question and the record; the passage is no field of its own.
    assert all(set(item.fields) == {"question", "record"} for item in items)
    assert len(plan_trials(suite)) == 6 * 8


def test_the_passage_stands_where_its_place_says(tmp_path: Path) -> None:
    items = by_id(tmp_path)
    # 100 tokens are 400 characters: four texts, of 102 with the break, come nearest.
    parts = {
        place: items[f"c1.{place}-100"].fields["record"].split(BREAK)
        for place in (*STANDING, "absent")
    }
    padding = parts["absent"]
    assert len(padding) == 5
    assert parts["start"] == [passage(1), *padding[:4]]
    assert parts["middle"] == [*padding[:2], passage(1), *padding[2:4]]
    assert parts["end"] == [*padding[:4], passage(1)]
    # One more text stands in for the passage.
    longer = items["c1.start-200"].fields["record"].split(BREAK)
    assert longer[: len(parts["start"])] == parts["start"]
    assert len(longer) == 1 + 8


def test_no_text_stands_twice_and_items_begin_at_few_places(tmp_path: Path) -> None:
    records = [item.fields["record"].split(BREAK) for item in loaded(tmp_path, count=30).items]
    assert all(len({*parts}) == len(parts) for parts in records)
    firsts = {parts[0] for parts in records if parts[0] in TEXTS}
    # Of 40 texts every tenth; the middle, the end and the record without it begin with padding.
    assert firsts == {TEXTS[0], TEXTS[10], TEXTS[20], TEXTS[30]}


def test_a_shorter_length_is_the_beginning_of_a_longer_one() -> None:
    padding = own_padding()
    # The passage is as long as a text of this padding.
    passage = "x" * 600
    short, long = (
        padding.of_item("depth-01", "support", length, passage) for length in (500, 16_000)
    )
    assert long[: len(short)] == short
    assert placed("P", short, "absent") == BREAK.join(short)


def test_a_preset_has_lengths_of_its_own(tmp_path: Path) -> None:
    text = SUITE + "[presets.short]\nitems = 2\nlengths = [100]\n"
    whole = loaded(tmp_path, text)
    short = load_suite(whole.path, "short")
    assert {item.condition["length"] for item in short.items} == {100}
    records = {item.id: item.fields for item in whole.items}
    assert all(records[item.id] == item.fields for item in short.items)
    assert len(short.items) == 8


def test_lines_without_an_id_are_called_by_their_texts(tmp_path: Path) -> None:
    suite = loaded(tmp_path)
    lines = (tmp_path / "passages.jsonl").read_text(encoding="utf-8").splitlines()
    without = [{k: v for k, v in json.loads(line).items() if k != "id"} for line in lines]
    (tmp_path / "passages.jsonl").write_text("\n".join(map(json.dumps, without)), encoding="utf-8")
    path = tmp_path / "again.suite.toml"
    path.write_text(SUITE, encoding="utf-8")
    again = load_suite(path)
    names = {item.id.partition(".")[0] for item in again.items}
    # All ask the same: what tells them apart is the passage.
    assert len(names) == 6
    assert len(again.items) == len(suite.items)


def test_padding_may_be_any_table_with_genres(tmp_path: Path) -> None:
    loaded(tmp_path)
    rows = ["genre,text", *(f"mail,Mail {n} {'x' * 90}" for n in range(12)), "call,Call 1"]
    (tmp_path / "padding.csv").write_text("\n".join(rows), encoding="utf-8")
    (tmp_path / "passages.csv").write_text(
        "id,question,passage,genre\nm,Is it there?,The passage.,mail\n", encoding="utf-8"
    )
    path = tmp_path / "mails.suite.toml"
    text = SUITE.replace("padding.jsonl", "padding.csv").replace("passages.jsonl", "passages.csv")
    path.write_text(text, encoding="utf-8")
    records = [item.fields["record"] for item in load_suite(path).items]
    assert all("Call" not in record and "Mail" in record for record in records)


@pytest.mark.parametrize(
    ("changed", "fault"),
    [
        (SUITE.replace("[100, 200]", "[100, 2000]"), "too short for records of 2000 tokens"),
        (SUITE.replace('"YES", "NO"', '"YES", "NO", "MAYBE"'), "two labels"),
        (SUITE.replace("{{record}}", "{{question}}"), "does not show the record"),
        (SUITE.replace('id = "t1"', 'id = "t1"\npolarity = "inverted"'), "no template is inverted"),
        (SUITE.replace("padding.jsonl", "nowhere.jsonl"), "cannot be read"),
        (SUITE.replace("[100, 200]", "[10]"), "greater than or equal to 100"),
        (SUITE.replace('kind = "depth"', 'kind = "paraphrase"'), "belongs to suites of the kind"),
    ],
)
def test_faulty_suites_are_refused(tmp_path: Path, changed: str, fault: str) -> None:
    with pytest.raises(SuiteError, match=fault):
        loaded(tmp_path, changed)


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ({"question": "Q?"}, "passage"),
        ({"question": "Q?", "passage": "P", "label": "YES"}, "no label"),
        ({"question": "Q?", "passage": "P", "record": "R"}, "a record of its own"),
        ({"question": "Q?", "passage": "P", "genre": "mail"}, "cannot be padded"),
    ],
)
def test_faulty_lines_are_refused(tmp_path: Path, line: dict[str, str], fault: str) -> None:
    path = loaded(tmp_path).path
    (tmp_path / "passages.jsonl").write_text(json.dumps(line) + "\n", encoding="utf-8")
    path = path.with_name("other.suite.toml")
    path.write_text(SUITE, encoding="utf-8")
    with pytest.raises(SuiteError, match=fault):
        load_suite(path)


def test_texts_too_long_for_a_length_are_refused(tmp_path: Path) -> None:
    path = loaded(tmp_path).path.with_name("other.suite.toml")
    rows = [json.dumps({"text": f"Call {n:02} ".ljust(800, "x")}) for n in range(12)]
    (tmp_path / "padding.jsonl").write_text("\n".join(rows), encoding="utf-8")
    # 400 and 1,600 characters are two texts of 802 with their breaks, a passage of 40 or one more
    # text: four times the first length; of the second, and half as long again without the passage.
    for length in (100, 400):
        path.write_text(SUITE.replace("[100, 200]", f"[{length}]"), encoding="utf-8")
        found = f"for records of {length} tokens\n.*of 2 texts .* 411 tokens .* 601 without"
        with pytest.raises(SuiteError, match=found):
            load_suite(path)
    # Four texts and one more: a quarter.
    path.write_text(SUITE.replace("[100, 200]", "[800]"), encoding="utf-8")
    assert len(load_suite(path).items) == 6 * 4


def test_equal_texts_of_padding_count_once(tmp_path: Path) -> None:
    path = loaded(tmp_path).path.with_name("other.suite.toml")
    rows = f"{json.dumps({'text': TEXTS[0]})}\n" * 40
    (tmp_path / "padding.jsonl").write_text(rows, encoding="utf-8")
    path.write_text(SUITE, encoding="utf-8")
    with pytest.raises(SuiteError, match="about 25 tokens of texts that differ"):
        load_suite(path)


def test_a_line_of_padding_without_a_text_is_refused(tmp_path: Path) -> None:
    loaded(tmp_path)
    (tmp_path / "padding.jsonl").write_text('{"genre": "call"}\n', encoding="utf-8")
    path = tmp_path / "other.suite.toml"
    path.write_text(SUITE, encoding="utf-8")
    with pytest.raises(SuiteError, match="is no padding"):
        load_suite(path)
