"""``judgesense correct``: a simulated judge of known recalls, calibrated at one rate, applied at
another; and each thing that is refused. For the numbers see `tests.questions.correct`.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from pytest_judgesense.stats.prediction_powered import METHOD
from pytest_judgesense.suites.people import labelled_text
from tests.commands.recordings import told
from tests.questions.correct.recorded_answers import (
    LABELLED,
    PROMPT,
    Answers,
    answers,
    record,
    verdict,
)
from tests.suites.known import load_suite


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("correct")
    record(folder, "release", answers(160, 40), labels=LABELLED)
    record(folder, "production", answers(240, 160))
    return folder


Correct = Callable[..., tuple[int, str, str]]


@pytest.fixture
def correct(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Correct:
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", "200")  # no sentence is broken
    return lambda *arguments: told(capsys, "correct", *arguments)


def rates(folder: Path) -> list[dict[str, Any]]:
    (entry,) = json.loads((folder / "rates.json").read_text())
    return list(entry["rates"])


CALIBRATED = ("--calibration", "release.json")
STATED = "model,prompt,settings,form"


def test_the_rate_of_another_mix_follows_from_the_calibrated_recalls(
    folder: Path, correct: Correct
) -> None:
    code, out, err = correct("production.suite.toml", *CALIBRATED, "-o", "rates.json")
    assert code == 0, out + err
    assert "calibrated on release: 200 calls with labels in 200 clusters" in out
    assert "compared with what was sent: model served, prompt, settings, reply form" in out
    (row,) = rates(folder)
    assert row["raw"] == pytest.approx(0.62)
    assert row["value"] == pytest.approx(0.6)
    assert row["interval"]["lower"] < 0.6 < row["interval"]["upper"]
    # Not the correction by the bias at the rate of the calibration, which is off by 0.06.
    assert row["value"] != pytest.approx(0.66, abs=0.01)
    assert row["n"] == 400


def test_a_datasheet_keeps_counts_and_no_text(folder: Path) -> None:
    (entry,) = json.loads((folder / "release.json").read_text())["judges"]
    (part,) = entry["parts"]
    kept = part["calibration"]
    counts = {
        (line["label"], line["verdict"]): sum(line["calls"].values()) for line in kept["confusion"]
    }
    assert counts == {
        ("FAIL", "FAIL"): 32,
        ("FAIL", "PASS"): 8,
        ("PASS", "FAIL"): 16,
        ("PASS", "PASS"): 144,
    }
    assert kept["labels"] == ["PASS", "FAIL"]
    assert (kept["drawn"], kept["orders"], kept["pairwise"]) == ("random", ["ab"], False)
    assert kept["sent"]["settings"] == {"max_tokens": "256", "temperature": "0.0"}
    assert "answer" not in json.dumps(kept)
    (production,) = json.loads((folder / "production.json").read_text())["judges"]
    assert "calibration" not in production["parts"][0]


@pytest.mark.parametrize(
    ("name", "changed", "named"),
    [
        ("prompt", {"prompt": PROMPT.replace("good", "really good")}, ["prompt: "]),
        ("model", {"model": "m-1-2027"}, ["model served: m-1-2026 -> m-1-2027"]),
        ("warm", {"settings": "temperature = 1.0\n"}, ["settings: temperature 0.0 -> 1.0"]),
        # JSON mode says in the prompt what the reply is to be.
        ("form", {"settings": 'structured = "json"\n'}, ["prompt: ", "reply form: "]),
    ],
)
def test_what_differs_from_the_judge_that_was_calibrated_is_refused_and_named(
    folder: Path, correct: Correct, name: str, changed: dict[str, str], named: list[str]
) -> None:
    record(folder, name, answers(15, 15), **changed)
    arguments = (f"{name}.suite.toml", *CALIBRATED, "-o", "rates.json")
    code, out, err = correct(*arguments)
    assert code == 1, out + err
    refused = re.findall(r"REFUSED, not the judge that was calibrated: (.*)", out)
    for text, start in zip(refused, named, strict=True):
        assert text.startswith(start), out
    assert rates(folder) == []
    # What is recorded to differ is not stated away.
    code, out, _ = correct(*arguments, "--same", STATED)
    assert code == 1
    assert "--same is not needed for what is recorded" in out


@pytest.mark.parametrize(("days", "code"), [(40, 1), (20, 0)])
def test_a_calibration_older_than_the_limit_is_refused(
    folder: Path, correct: Correct, days: int, code: int
) -> None:
    sheet = json.loads((folder / "release.json").read_text())
    then = (datetime.now(UTC) - timedelta(days=days)).strftime("%Y-%m-%dT%H:%M:%SZ")
    for part in sheet["judges"][0]["parts"]:
        part["recorded"] |= {"first": then, "last": then}
    (folder / "old.json").write_text(json.dumps(sheet))
    done, out, _ = correct(
        "production.suite.toml", "--calibration", "old.json", "--judge-max-age", "30"
    )
    assert done == code
    assert ("calibrated 40.0 days ago, --judge-max-age 30 is" in out) == bool(code)
    assert correct("production.suite.toml", "--calibration", "old.json")[0] == 0


def test_what_a_log_does_not_hold_is_stated_or_an_error(folder: Path, correct: Correct) -> None:
    code, _, err = correct("production.jsonl", *CALIBRATED)
    assert code == 2
    assert "not recorded: model served, prompt, settings, reply form" in err
    assert "--same model,prompt,settings,form" in err
    code, out, _ = correct("production.jsonl", *CALIBRATED, "--same", STATED, "-o", "rates.json")
    assert code == 0
    assert "stated to be the same, not compared: model served, prompt, settings, reply form" in out
    (row,) = rates(folder)
    assert row["value"] == pytest.approx(0.6)


def test_a_log_of_another_judge_or_of_other_words_is_not_corrected(
    folder: Path, correct: Correct
) -> None:
    log = (folder / "production.jsonl").read_text()
    (folder / "words.jsonl").write_text(log.replace('"PASS"', '"YES"'))
    stated = ("--same", STATED)
    code, out, _ = correct("words.jsonl", *CALIBRATED, *stated)
    assert code == 1
    assert "reply form: verdicts FAIL, YES, calibrated PASS," in out
    both = log + log.replace('"judge":"prod"', '"judge":"other"')
    (folder / "both.jsonl").write_text(both)
    code, _, err = correct("both.jsonl", *CALIBRATED, *stated)
    assert code == 2
    assert "no calibration of judge other" in err
    assert correct("both.jsonl", *CALIBRATED, *stated, "--judge-name", "prod")[0] == 0


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        # A coin: sensitivity and specificity 0.5, J = 0.
        (
            [
                ("PASS", "PASS", 80),
                ("PASS", "FAIL", 80),
                ("FAIL", "PASS", 20),
                ("FAIL", "FAIL", 20),
            ],
            "do not tell the classes apart",
        ),
        ([("PASS", "PASS", 144), ("PASS", "FAIL", 16)], "found none of FAIL among 160 calls"),
    ],
    ids=["no information", "no label"],
)
def test_recalls_that_say_nothing_are_refused(
    folder: Path, correct: Correct, change: list[tuple[str, str, int]], reason: str
) -> None:
    sheet = json.loads((folder / "release.json").read_text())
    numbers = iter(range(200))
    sheet["judges"][0]["parts"][0]["calibration"]["confusion"] = [
        {"label": label, "verdict": word, "calls": {str(next(numbers)): 1 for _ in range(count)}}
        for label, word, count in change
    ]
    (folder / "useless.json").write_text(json.dumps(sheet))
    code, out, _ = correct("production.suite.toml", "--calibration", "useless.json")
    assert code == 1
    assert reason in " ".join(out.split())


@pytest.mark.parametrize("drawn", ["chosen", "stratified", None])
def test_recalls_on_items_that_chance_did_not_draw_are_refused(
    folder: Path, correct: Correct, drawn: str | None
) -> None:
    sheet = json.loads((folder / "release.json").read_text())
    sheet["judges"][0]["parts"][0]["calibration"]["drawn"] = drawn
    (folder / "drawn.json").write_text(json.dumps(sheet))
    code, out, _ = correct("production.suite.toml", "--calibration", "drawn.json")
    assert code == 1
    assert "REFUSED: the " in out


def test_labels_drawn_from_the_verdicts_correct_them_without_a_calibration(
    folder: Path, correct: Correct
) -> None:
    # Every fourth answer: 60 good ones, 40 bad ones, so that the labels alone say 0.6 too.
    labelled = [(place, label) for place, (_, label) in enumerate(answers(240, 160))][::4]
    lines = [f"a{place},{label}" for place, label in labelled]
    (folder / "people.csv").write_text("item,label\n" + "\n".join(lines) + "\n")
    code, _, err = correct("production.jsonl", "--labels", "people.csv")
    assert code == 2
    assert "does not say that chance drew the labelled items" in err
    code, out, _ = correct(
        "production.jsonl", "--labels", "people.csv", "--drawn", "random", "-o", "rates.json"
    )
    assert code == 0, out
    (row,) = rates(folder)
    assert (row["labels"], row["n"], row["raw"]) == (100, 400, pytest.approx(0.62))
    assert row["interval"]["method"] == METHOD
    assert row["interval"]["lower"] < 0.6 < row["interval"]["upper"]
    alone = re.search(r"0\.600 \[(0\.\d+), (0\.\d+)\]$", out, re.MULTILINE)
    assert alone is not None
    width = float(alone[2]) - float(alone[1])
    assert row["interval"]["upper"] - row["interval"]["lower"] < width
    code, out, _ = correct(
        *("production.jsonl", "--labels", "people.csv", "--drawn", "random", *CALIBRATED)
    )
    assert code == 0
    assert "the calibration is not used" in out


def test_what_people_err_stands_beside_the_rates(folder: Path, correct: Correct) -> None:
    # Of every fourth answer: anna is right, and ben is not of every tenth of those. D = 0.1, so
    # 1 - 2 e is the root of 0.8.
    labelled = [(place, label) for place, (_, label) in enumerate(answers(240, 160))][::4]
    other = {"PASS": "FAIL", "FAIL": "PASS"}
    lines = [f"a{place},anna,{label}" for place, label in labelled]
    random = ("--labels", "people.csv", "--drawn", "random", "-o", "rates.json")
    (folder / "people.csv").write_text("item,person,label\n" + "\n".join(lines) + "\n")
    code, out, err = correct("production.jsonl", *random)
    assert code == 0, err
    alone = "people: no item has labels of two people, so nobody knows how often they err"
    assert alone in " ".join(out.split())
    (row,) = rates(folder)
    assert (row["without_errors"], row["people_err"]) == (None, alone.removeprefix("people: "))
    lines += [
        f"a{place},ben,{label if n % 10 else other[label]}"
        for n, (place, label) in enumerate(labelled)
    ]
    (folder / "people.csv").write_text("item,person,label\n" + "\n".join(lines) + "\n")
    code, out, err = correct("production.jsonl", *random)
    assert code == 0, err
    assert "people: if people err independently" in out
    (row,) = rates(folder)
    assert (row["disagreement"], row["error"]) == pytest.approx((0.1, (1 - 0.8**0.5) / 2))
    assert row["without_errors"] == pytest.approx(0.5 + (row["value"] - 0.5) / 0.8**0.5)
    assert row["without_errors_lower"] < row["without_errors"] < row["without_errors_upper"]


def test_labels_may_stand_in_any_table_under_other_names(folder: Path, correct: Correct) -> None:
    labelled = [(place, label) for place, (_, label) in enumerate(answers(240, 160))][::4]
    rows = [{"q": {"id": f"a{place}"}, "by": "anna", "said": label} for place, label in labelled]
    (folder / "people.json.gz").write_bytes(gzip.compress(json.dumps({"labels": rows}).encode()))
    given = ("production.jsonl", "--labels", "people.json.gz", "--drawn", "random")
    named = ("--map", "item=q.id", "--map", "label=said", "--map", "person=by")
    code, out, _ = correct(*given, *named, "-o", "rates.json")
    assert code == 0, out
    assert rates(folder)[0]["labels"] == 100
    code, _, err = correct(*given)
    assert (code, "--map item=COLUMN --map label=COLUMN" in err) == (3, True)
    code, _, err = correct(*given, *named, "--map", "who=by")
    assert (code, "no field of a label named 'who'" in err) == (2, True)
    code, _, err = correct(*given, "--map", "item=q.no", "--map", "label=said")
    assert (code, "no column named 'q.no'" in err) == (2, True)


def test_labels_of_other_items_or_other_words_are_errors(folder: Path, correct: Correct) -> None:
    random = ("--drawn", "random")
    (folder / "people.csv").write_text("item,label\nnone,PASS\n")
    code, _, err = correct("production.jsonl", "--labels", "people.csv", *random)
    assert (code, "such as 'none'" in err) == (2, True)
    (folder / "people.csv").write_text("item,label\na1,GOOD\n")
    code, _, err = correct("production.jsonl", "--labels", "people.csv", *random)
    assert (code, "not in the same words" in err) == (2, True)
    (folder / "people.csv").write_text("item,verdict\na1,PASS\n")
    code, _, err = correct("production.jsonl", "--labels", "people.csv", *random)
    assert (code, "no label" in err) == (3, True)


def test_labels_are_read_in_any_case_and_no_line_is_wide(folder: Path, correct: Correct) -> None:
    random = ("--drawn", "random")
    labelled = [(place, label) for place, (_, label) in enumerate(answers(240, 160))][::4]
    lines = [f"a{place},{label.lower()}" for place, label in labelled]
    (folder / "people.csv").write_text("item,label\n" + "\n".join(lines) + "\n")
    code, out, err = correct("production.jsonl", "--labels", "people.csv", *random)
    assert code == 0, err
    table = out[out.index("    system") :].splitlines()
    assert max(map(len, table)) <= 80
    # A tie is of pairs alone.
    (folder / "people.csv").write_text("item,label\na1,tie\n")
    code, _, err = correct("production.jsonl", "--labels", "people.csv", *random)
    assert (code, "among FAIL, PASS\n" in err) == (2, True), err


def test_labels_of_pairs_are_contents_or_slots(folder: Path, correct: Correct) -> None:
    log = (folder / "production.jsonl").read_text().splitlines()
    made = []
    for text in log[:40]:
        line = json.loads(text)
        slot = {"PASS": "A", "FAIL": "B"}[line["verdict"]]
        design = {**line["design"], "pairwise": True, "labels": ["A", "B"]}
        chosen = {"A": "1", "B": "2"}[slot]
        made.append({**line, "verdict": slot, "reply": slot, "chosen": chosen, "design": design})
    (folder / "pairs.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in made))
    rows = [f"{line['item']},{('a', 'B', '1', 'Tie')[n % 4]}" for n, line in enumerate(made)]
    (folder / "people.csv").write_text("item,label\n" + "\n".join(rows) + "\n")
    arguments = ("pairs.jsonl", "--labels", "people.csv", "--drawn", "random", "-o", "rates.json")
    code, _, err = correct(*arguments)
    assert code == 0, err
    # All are labelled: 1, 2, 1 and a tie in turn.
    assert rates(folder)[0]["value"] == pytest.approx((1 + 0 + 1 + 0.5) / 4)
    # Shown in the other order, a slot is the other content; of one of two orders it is asked.
    shown = [f"{row},{('ab', 'ba')[n % 2]}" for n, row in enumerate(rows)]
    (folder / "people.csv").write_text("item,label,order\n" + "\n".join(shown) + "\n")
    code, _, err = correct(*arguments)
    assert (code, "--names label=slot" in err) == (2, True)
    code, _, err = correct(*arguments, "--names", "label=slot")
    assert code == 0, err
    # a, the other of B, 1, and a tie: contents 1, 1, 1 and a tie in turn.
    assert rates(folder)[0]["value"] == pytest.approx((1 + 1 + 1 + 0.5) / 4)


def test_rows_of_labels_are_joined_and_renamed_as_those_of_imports_are(
    folder: Path, correct: Correct
) -> None:
    """What each person said stands in another file; the words are theirs, with an equals sign."""
    labelled = [(place, label) for place, (_, label) in enumerate(answers(240, 160))][::4]
    words = {"PASS": "ok=1", "FAIL": "ok=0"}
    ids = "".join(f"a{place}\n" for place, _ in labelled)
    (folder / "drawn.csv").write_text(f"item\n{ids}")
    said = "".join(f"a{place},anna,{words[label]}\n" for place, label in labelled)
    (folder / "said.csv").write_text(f"item,person,label\n{said}")
    given = ("production.jsonl", "--labels", "drawn.csv", "--drawn", "random")
    named = ("--join", "said.csv=item", "--value", '"ok=1"=PASS', "--value", '"ok=0"=FAIL')
    code, _, err = correct(*given, *named, "-o", "rates.json")
    assert code == 0, err
    assert rates(folder)[0]["labels"] == 100
    code, _, err = correct(*given, *named, "--value", '"ok=2"=PASS')
    assert (code, "--value '\"ok=2\"=PASS' is not used" in err) == (2, True)
    code, _, err = correct(*given, *named, "--names", "label=slot")
    assert (code, "verdicts of no pairs" in err) == (2, True)
    code, _, err = correct("production.jsonl", "--calibration", "release.json", *named[:2])
    assert (code, "--join said.csv=item, and no --labels" in err) == (2, True)


def test_a_line_of_labels_is_not_left_out_in_silence(folder: Path, correct: Correct) -> None:
    random = ("--drawn", "random")
    (folder / "people.csv").write_text("item,label\na1,PASS\na1,PASS\na1,FAIL\n")
    code, _, err = correct("production.jsonl", "--labels", "people.csv", *random)
    assert (code, "people.csv:4 gives item 'a1' another label" in err) == (3, True)
    (folder / "people.csv").write_text("item,label,drawn\na1,PASS,random\na2,PASS,Random\n")
    code, _, err = correct("production.jsonl", "--labels", "people.csv")
    assert (code, "drawn = 'Random'" in err) == (3, True)


def test_labels_of_a_page_are_read_with_how_they_were_drawn(folder: Path, correct: Correct) -> None:
    head = "item,person,label,criterion,note,drawn,labelled_at,text\n"
    when = f"2026-01-31T12:00:00Z,{'0' * 16}"
    labelled = [(place, label) for place, (_, label) in enumerate(answers(240, 160))][::4]
    lines = [f"a{place},anna,{label},,,random,{when}" for place, label in labelled]
    lines += [f"a1,anna,FAIL,,,chosen,{when}", f"a0,anna,,,,random,{when}"]  # one is withdrawn
    lines += [f"a2,anna,skipped,,,random,{when}", f"a4,ben,skipped,,,random,{when}"]
    (folder / "people.csv").write_text(head + "\n".join(lines) + "\n")
    code, out, _ = correct("production.jsonl", "--labels", "people.csv")
    assert code == 0
    assert "99 items with labels" in out
    assert "1 drawn item was skipped: " in out  # anna labelled a4
    assert "labels go by the ids of items: a log does not hold what people labelled" in out


def test_skipped_labels_widen_the_corrected_rate(folder: Path, correct: Correct) -> None:
    labelled = [(place, label) for place, (_, label) in enumerate(answers(240, 160))][::4]
    file = folder / "people.csv"

    def interval(label_of_skipped: str) -> tuple[float, float]:
        """Of 100 drawn items, of which the first ten have this label."""
        lines = [
            f"a{place},{label_of_skipped if n < 10 else label}"
            for n, (place, label) in enumerate(labelled)
        ]
        file.write_text("item,label\n" + "\n".join(lines) + "\n")
        arguments = ("--labels", "people.csv", "--drawn", "random", "-o", "rates.json")
        code, out, err = correct("production.jsonl", *arguments)
        assert code == 0, err
        assert ("10 drawn items were skipped: " in out) == (label_of_skipped == "skipped")
        ends = rates(folder)[0]["interval"]
        return ends["lower"], ends["upper"]

    # The rate is that of PASS, the first label.
    assert interval("skipped") == (interval("FAIL")[0], interval("PASS")[1])
    # What was skipped is of these verdicts too.
    file.write_text(file.read_text() + "stranger,skipped\n")
    code, _, err = correct("production.jsonl", "--labels", "people.csv", "--drawn", "random")
    assert (code, "such as 'stranger'" in err) == (2, True)


def test_labels_of_a_page_are_those_of_the_texts_that_were_judged(
    folder: Path, correct: Correct
) -> None:
    """Of every fourth answer, one of them before its text was edited."""
    suite = load_suite(folder / "production.suite.toml")
    head = "item,person,label,criterion,note,drawn,labelled_at,text\n"
    words = [word for _, word in answers(240, 160)]
    lines = [
        f"{item.id},anna,{word},,,random,2026-01-31T12:00:00Z,{labelled_text(item)}"
        for item, word in [*zip(suite.items, words, strict=True)][::4]
    ]
    lines[0] = f"{lines[0].rpartition(',')[0]},{'0' * 16}"
    (folder / "own.csv").write_text(head + "\n".join(lines) + "\n")
    code, out, _ = correct("production.suite.toml", "--labels", "own.csv")
    assert code == 0, out
    assert "99 items with labels" in out
    assert "1 label of people not counted, for no item shows what they labelled: a0" in out
    (folder / "own.csv").write_text(head + lines[0] + "\n")
    code, _, err = correct("production.suite.toml", "--labels", "own.csv")
    assert (code, "own.csv is of what was judged" in err) == (2, True)


def test_a_log_with_labels_of_people_calibrates_what_is_stated_to_be_the_same(
    folder: Path, correct: Correct, capsys: pytest.CaptureFixture[str]
) -> None:
    logged = [json.loads(line) for line in (folder / "release.jsonl").read_text().splitlines()]
    undated = ({**line, "recorded_at": None} for line in logged)
    (folder / "undated.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in undated))
    assert told(capsys, "report", "undated.jsonl", "-o", "logged.json")[0] == 0
    arguments = ("production.jsonl", "--calibration", "logged.json", "--same", STATED)
    code, out, _ = correct(*arguments, "-o", "rates.json")
    assert code == 0, out
    assert "of no known date" in out
    assert rates(folder)[0]["value"] == pytest.approx(0.6)
    code, out, _ = correct(*arguments, "--judge-max-age", "30")
    assert code == 1
    assert "age: when it was calibrated is not recorded" in out


def test_systems_are_told_apart(folder: Path, correct: Correct) -> None:
    # Answers take turns. Of 120 good and 80 bad ones x has 24 missed and 16 passed, a rate of 0.56,
    # and y none missed and 16 passed, a rate of 0.68; each is corrected by (rate - 0.2) / 0.7.
    lines = (folder / "production.jsonl").read_text().splitlines()
    logged = [json.loads(line) for line in lines]
    for place, line in enumerate(logged):
        line["condition"] = {"system": "xy"[place % 2]}
    (folder / "systems.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in logged))
    code, out, _ = correct("systems.jsonl", *CALIBRATED, "--same", STATED, "-o", "rates.json")
    assert code == 0, out
    assert {(row["system"], row["n"]): row["value"] for row in rates(folder)} == {
        (None, 400): pytest.approx(0.6),
        ("x", 200): pytest.approx(0.36 / 0.7),
        ("y", 200): pytest.approx(0.48 / 0.7),
    }


def test_nothing_to_correct_by_is_a_wrong_command(correct: Correct) -> None:
    code, _, err = correct("production.jsonl")
    assert code == 2
    assert "neither --calibration nor --labels" in err
    assert correct("none.jsonl", *CALIBRATED)[0] == 2
    assert correct("production.suite.toml", "--calibration", "none.json")[0] == 2
    assert correct("production.suite.toml", "--calibration", "production.json")[0] == 2
    with pytest.raises(SystemExit):
        correct("production.suite.toml", *CALIBRATED, "--same", "all")


def test_a_calibration_of_the_future_has_no_age(folder: Path, correct: Correct) -> None:
    sheet = json.loads((folder / "release.json").read_text())
    then = (datetime.now(UTC) + timedelta(days=2)).strftime("%Y-%m-%dT%H:%M:%SZ")
    for part in sheet["judges"][0]["parts"]:
        part["recorded"] |= {"first": then, "last": then}
    (folder / "ahead.json").write_text(json.dumps(sheet))
    calibrated = ("production.suite.toml", "--calibration", "ahead.json")
    code, out, _ = correct(*calibrated, "--judge-max-age", "30")
    assert code == 1
    told_once = " ".join(out.split())
    assert "age: calibrated 2.0 days in the future: nothing says how old it is" in told_once
    assert correct(*calibrated)[0] == 0


def test_a_label_that_was_cut_off_is_told_and_not_counted(folder: Path, correct: Correct) -> None:
    head = "item,person,label,criterion,note,drawn,labelled_at,text\n"
    when = f"2026-01-31T12:00:00Z,{'0' * 16}"
    words = [word for _, word in answers(240, 160)]
    lines = [f"a{place},anna,{word},,,random,{when}\n" for place, word in enumerate(words)][::4]
    (folder / "torn.csv").write_text(head + "".join(lines) + "a1,anna,PA")
    code, out, _ = correct("production.jsonl", "--labels", "torn.csv")
    assert code == 0
    # Every fourth of 400 items, and a line after the header and these 100.
    assert "100 items with labels" in out
    assert "torn.csv:102: the last line was cut off in mid-write (10 bytes)" in out


# --- outputs that are harder to judge -------------------------------------------------------------


def sure_log(folder: Path, name: str, of: Answers, *, doubt: float, labels: bool) -> None:
    """A log whose replies have probabilities: .95 of right verdicts but for a share of ``doubt``,
    which have .6, as wrong ones do.
    """
    design: dict[str, Any] = {"kind": "paraphrase", "labels": ["PASS", "FAIL"]}
    lines = []
    for place, (text, label) in enumerate(of):
        word = verdict(text)
        right = word == label and place % 10 >= 10 * doubt
        chance = 0.95 if right else 0.6
        line: dict[str, Any] = {
            "trial": f"{name}/a{place}/t1/ab/r1",
            "judge": "prod",
            "suite": name,
            "item": f"a{place}",
            "verdict": word,
            "mass": 1.0,
            "probabilities": {word: chance, {"PASS": "FAIL", "FAIL": "PASS"}[word]: 1 - chance},
            "condition": {"system": "xy"[place * 2 // len(of)]} if not labels else {},
            "design": design | ({"labelled": "random"} if labels else {}),
        }
        if labels:
            line |= {"label": label, "people": {"label": {"anna": label}}}
        lines.append(json.dumps(line))
    (folder / f"{name}.jsonl").write_text("\n".join(lines) + "\n")


@pytest.fixture(scope="module")
def with_confidences(folder: Path) -> Path:
    """A calibration in which one right verdict of ten is doubted, and others alike or doubted more.

    The log of "like" takes 240 good and 160 bad outputs in turns of system x and y, so that x has
    200 good ones, and y 40.
    """
    sure_log(folder, "sure", answers(160, 40), doubt=0.1, labels=True)
    sure_log(folder, "like", answers(240, 160), doubt=0.1, labels=False)
    sure_log(folder, "harder", answers(240, 160), doubt=0.4, labels=False)
    return folder


SURE = ("--calibration", "sure.json", "--same", STATED, "-o", "rates.json")


@pytest.fixture
def correct_surely(
    with_confidences: Path, correct: Correct, capsys: pytest.CaptureFixture[str]
) -> Correct:
    assert told(capsys, "report", "sure.jsonl", "-o", "sure.json")[0] == 0
    return correct


def test_another_mix_of_outputs_as_hard_carries_over(folder: Path, correct_surely: Correct) -> None:
    code, out, _ = correct_surely("like.jsonl", *SURE)
    assert code == 0, out
    assert re.search(r"all .* 400  fits$", out, re.MULTILINE), out
    assert "fit a mix of the calibrated labels" in out
    rows = rates(folder)
    assert [row["carries_over"]["answer"] for row in rows] == ["fits"] * 3
    assert rows[0]["value"] == pytest.approx(0.6)
    # By Holm over all outputs and both systems: no p is below the one without it.
    assert all(row["carries_over"]["p_value"] > 0.05 for row in rows)


def test_harder_outputs_are_extrapolated_and_gate_nothing(
    folder: Path, correct_surely: Correct
) -> None:
    code, out, _ = correct_surely("harder.jsonl", *SURE)
    assert code == 1
    assert re.search(r"all .* 400  EXTRAPOLATED$", out, re.MULTILINE), out
    assert "EXTRAPOLATED: verdicts and confidences fit no mix of the calibrated labels" in out
    assert "EXTRAPOLATED (x)" in out
    assert "the rate gates nothing" in " ".join(out.split())
    row = rates(folder)[0]
    fit = row["carries_over"]
    assert fit["answer"] == "extrapolated"
    # 3 tests, and no draw of 999 as far: .001, times 3 by Holm.
    assert fit["own_p_value"] == pytest.approx(0.001)
    assert fit["p_value"] == pytest.approx(0.003)
    assert fit["shares"].keys() == {"PASS", "FAIL"}
    assert row["value"] == pytest.approx(0.6)  # it is shown all the same
    # Labels of these outputs need no calibration, and nothing is extrapolated.
    rows = [f"a{place},{label}" for place, (_, label) in enumerate(answers(240, 160))][::4]
    (folder / "people.csv").write_text("\n".join(["item,label", *rows]) + "\n")
    labels = ("--labels", "people.csv", "--drawn", "random")
    code, out, _ = correct_surely("harder.jsonl", *SURE, *labels)
    assert code == 0, out
    assert "EXTRAPOLATED" not in out
    assert rates(folder)[0]["carries_over"] is None


def test_without_confidences_a_rate_says_that_it_cannot_be_tested(
    folder: Path, correct_surely: Correct
) -> None:
    arguments = ("production.jsonl", *SURE)
    code, out, _ = correct_surely(*arguments)
    assert code == 0, out
    assert re.search(r"all .* 400  cannot be tested$", out, re.MULTILINE), out
    assert "CANNOT BE TESTED whether these outputs are as hard to judge" in out
    assert "beside 0% of the verdicts in the new outputs" in out
    fit = rates(folder)[0]["carries_over"]
    assert (fit["answer"], "0% of the verdicts" in fit["reason"]) == ("cannot be tested", True)
    # Nor by a datasheet of replies without confidences, or one that was written before.
    code, out, _ = correct_surely("like.jsonl", *CALIBRATED, "--same", STATED)
    assert code == 0
    assert "beside 0% of the verdicts in the calibration" in out
