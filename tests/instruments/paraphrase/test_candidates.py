"""Slots or contents: what the words of a file name where two candidates changed places."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from pytest_judgesense.errors import UsageError
from pytest_judgesense.estimate import find_estimate
from pytest_judgesense.files.foreign_results import Imported
from pytest_judgesense.instruments.paraphrase.foreign_table import read_table
from pytest_judgesense.measures.cell_estimates import estimate_all
from pytest_judgesense.report.log import log_line
from pytest_judgesense.report.logged_cells import cells_of_logs

# The better candidate of each of 24 items: half of them the first, in no order that matters.
BETTER = "112212211221121212212211"
SWAP = {"1": "2", "2": "1"}


def rows(
    words: tuple[str, str] = ("A", "B"),
    *,
    mapped_back: bool,
    label: Iterable[str] | None = None,
    reply: bool = False,
) -> str:
    """Right verdicts on every item in both orders, as slots or mapped back to contents."""
    lines = ["item,order,verdict" + ",label" * (label is not None) + ",reply" * reply]
    labels = list(label or BETTER)
    for number, better in enumerate(BETTER):
        for order in ("ab", "ba"):
            slot = better if order == "ab" else SWAP[better]
            word = words[int(better if mapped_back else slot) - 1]
            cells = [f"i{number}", order, word]
            cells += [labels[number]] * (label is not None)
            cells += [f'"Both are short. Final verdict: [[{"AB"[int(slot) - 1]}]]"'] * reply
            lines.append(",".join(cells))
    return "\n".join(lines) + "\n"


def read(folder: Path, text: str, **given: Any) -> Imported:
    (folder / "t.csv").write_text(text, encoding="utf-8")
    return read_table(folder / "t.csv", {}, judge="j", suite="s", **given)


def positional(folder: Path, found: Imported) -> tuple[float | None, int]:
    """``order_positional`` of what was read, by way of the log that an import writes."""
    log = folder / "log.jsonl"
    log.write_text("".join(log_line(*one) + "\n" for one in found.judgments), encoding="utf-8")
    (cell,) = cells_of_logs([log])
    estimate = find_estimate(estimate_all(cell), "order_positional")
    assert estimate is not None
    return estimate.count, estimate.n


@pytest.mark.parametrize("words", [("A", "B"), ("1", "2"), ("model_1", "model_2")])
@pytest.mark.parametrize("mapped_back", [True, False])
def test_the_error_shows_what_replies_say_of_verdicts(
    tmp_path: Path, words: tuple[str, str], mapped_back: bool
) -> None:
    """Each reply names the slot; in 24 of 24 replies of order ba the file has the same, or not."""
    text = rows(words, mapped_back=mapped_back, reply=True)
    (objection,) = read(tmp_path, text).objections
    same, naming = (0, "content") if mapped_back else (24, "slot")
    evidence = f"of 24 replies in order ba {same} state the recorded word, {24 - same} not"
    assert f"{evidence}, as if it were the {naming}" in objection.found
    found = read(tmp_path, text, names={"verdict": naming})
    assert (found.objections, found.notices) == ((), ())
    assert positional(tmp_path, found) == (0, 24)


@pytest.mark.parametrize("mapped_back", [True, False])
def test_labels_by_content_are_right_by_the_naming_that_is_said(
    tmp_path: Path, mapped_back: bool
) -> None:
    naming = "content" if mapped_back else "slot"
    text = rows(mapped_back=mapped_back, label=BETTER)
    found = read(tmp_path, text, names={"verdict": naming})
    assert found.objections == ()
    assert positional(tmp_path, found) == (0, 24)
    assert all(one.correct for one, _ in found.judgments)


@pytest.mark.parametrize("mapped_back", [True, False])
def test_without_evidence_the_user_is_asked(tmp_path: Path, mapped_back: bool) -> None:
    """Consistent verdicts look the same as position where nothing else is known."""
    text = rows(mapped_back=mapped_back)
    (objection,) = read(tmp_path, text).objections
    assert isinstance(objection, UsageError)
    same = 24 if mapped_back else 0
    assert f"{same} of 24 pairs have the same verdict in both orders" in objection.found
    assert "--names verdict=slot" in objection.remedy
    assert "--names verdict=content" in objection.remedy
    for naming in ("slot", "content"):
        found = read(tmp_path, text, names={"verdict": naming})
        assert found.objections == ()
        right = mapped_back == (naming == "content")
        assert positional(tmp_path, found) == (0 if right else 24, 24)


@pytest.mark.parametrize("label", ["1" * 24, BETTER])
def test_a_judge_that_always_says_one_slot_is_not_taken_for_a_right_one(
    tmp_path: Path, label: str
) -> None:
    """Always A. If the first candidate is always better, contents would agree in 24 of 24."""
    lines = [f"i{n},{order},A,{better}" for n, better in enumerate(label) for order in ("ab", "ba")]
    text = "item,order,verdict,label\n" + "\n".join(lines) + "\n"
    assert len(read(tmp_path, text).objections) == 1


def test_an_option_against_the_evidence_is_told(tmp_path: Path) -> None:
    found = read(tmp_path, rows(mapped_back=True, reply=True), names={"verdict": "slot"})
    assert positional(tmp_path, found) == (24, 24)
    assert any("--names verdict=slot contradicts what" in one for one in found.notices)


@pytest.mark.parametrize("by_slot", [True, False])
def test_the_error_shows_whether_labels_in_the_same_words_change_with_the_order(
    tmp_path: Path, by_slot: bool
) -> None:
    lines = ["item,order,verdict,label"]
    for number, better in enumerate(BETTER):
        for order in ("ab", "ba"):
            slot = better if order == "ab" else SWAP[better]
            label = slot if by_slot else better
            lines.append(f"i{number},{order},{'AB'[int(slot) - 1]},{'AB'[int(label) - 1]}")
    text = "\n".join(lines) + "\n"
    (objection,) = read(tmp_path, text).objections
    same = 0 if by_slot else 24
    assert f"{same} of 24 pairs have the same label in both orders" in objection.found
    found = read(
        tmp_path, text, names={"verdict": "slot", "label": "slot" if by_slot else "content"}
    )
    assert found.objections == ()
    assert [one.trial.label for one, _ in found.judgments] == [b for b in BETTER for _ in "12"]
    assert all(one.correct for one, _ in found.judgments)


def test_labels_of_items_in_one_order_each_are_asked_for(tmp_path: Path) -> None:
    lines = [f"i{n},{'ab' if n % 2 else 'ba'},A,A" for n in range(20)]
    text = "item,order,verdict,label\n" + "\n".join(lines) + "\n"
    (objection,) = read(tmp_path, text).objections
    assert "--names label=slot" in str(objection)
    assert "--names verdict=slot" in str(objection)
    found = read(tmp_path, text, names={"verdict": "slot", "label": "content"})
    assert found.objections == ()
    # Content 1 is better everywhere; slot A is content 2 in order ba.
    assert [one.correct for one, _ in found.judgments] == [bool(n % 2) for n in range(20)]


def test_in_order_ab_alone_slots_are_contents(tmp_path: Path) -> None:
    found = read(tmp_path, "item,order,verdict\n1,ab,A\n2,ab,B\n")
    assert (found.objections, found.notices) == ((), ())


def test_names_of_what_is_no_pair_are_not_used(tmp_path: Path) -> None:
    (objection,) = read(
        tmp_path, "item,verdict\n1,YES\n2,NO\n", names={"verdict": "slot"}
    ).objections
    assert objection.what == "--names verdict=slot is not used: it is about two candidates"


def test_a_judge_that_says_one_word_throughout_is_of_the_pair_of_its_labels(tmp_path: Path) -> None:
    lines = [f"i{n},{order},model_1,model_{1 + n % 2}" for n in range(4) for order in ("ab", "ba")]
    text = "item,order,verdict,label\n" + "\n".join(lines) + "\n"
    found = read(tmp_path, text, names={"verdict": "content", "label": "content"})
    assert found.objections == ()
    assert [one.correct for one, _ in found.judgments] == [
        n % 2 == 0 for n in range(4) for _ in "12"
    ]


def test_what_is_said_of_texts_is_about_texts_of_candidates(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("item,order,verdict,one,two\n1,ba,A,x,y\n", encoding="utf-8")
    names = {"verdict": "slot", "c": "slot"}
    (objection,) = read_table(tmp_path / "t.csv", {}, names=names).objections
    assert objection.what == "--names c=slot is not used: no candidate has a text c"
    assert objection.remedy == "map both: --map field.a=COLUMN --map field.b=COLUMN"
    columns = {"field.a": "one", "field.b": "two"}
    asked, objection = read_table(tmp_path / "t.csv", columns, names=names).objections
    assert "whether the texts a and b of suite t name slots" in asked.what
    assert objection.expected == "one of verdict, label, a, b"


def test_the_log_holds_texts_in_the_items_own_order_and_says_so(tmp_path: Path) -> None:
    text = "item,order,verdict,one,two\n1,ba,A,y,x\n2,ab,A,x,y\n"
    (tmp_path / "t.csv").write_text(text, encoding="utf-8")
    columns = {"field.a": "one", "field.b": "two"}
    names = {"verdict": "slot", "a": "slot"}
    judgments = [one for one, _ in read_table(tmp_path / "t.csv", columns, names=names).judgments]
    own = {"fields": {"a": "x", "b": "y"}}
    said = {"names": {"a": "content", "b": "content"}}
    assert [one.detail for one in judgments] == [{"source": own | said}, {"source": own}]
