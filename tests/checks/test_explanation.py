from __future__ import annotations

from typing import Any

import pytest

from pytest_judgesense.checks.check_texts import brief_lines, explanation_of, whole_text
from pytest_judgesense.checks.judgments_against import evidence_of
from pytest_judgesense.checks.outcome import judge_check
from pytest_judgesense.errors import printable
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.measures.cell_estimates import estimate_all
from tests.checks.known import declare_check
from tests.measures.building import (
    LADDER,
    SLOTS,
    VACUUM,
    YES_NO,
    both_orders,
    cell,
    judgment,
    worded,
)

SAME = {"distance": 0, "subset": "same"}


def explained(of: Cell, name: str, bar: float, **given: Any) -> str:
    condition = {key: given.pop(key) for key in ("distance", "polarity") if key in given}
    found = judge_check(declare_check(name, (bar,), condition), "s", estimate_all(of))
    return whole_text(explanation_of(found, of), "j", **given)


def flipping(flips: int, items: int = 20) -> Cell:
    answers = {f"i{i:02}": ["YES", "NO"] if i < flips else ["NO", "NO"] for i in range(items)}
    return cell(YES_NO, worded(answers, label="NO"))


def test_a_failing_check_says_estimate_bar_counts_interval_and_evidence() -> None:
    # 5 of 20 items flip: JSS 15/20.
    text = explained(flipping(5), "jss_floor", 0.9)
    lines = text.splitlines()
    assert lines[0] == "5 of 20 verdicts change with the wording"
    assert lines[1] == "jss_floor[0.9] of judge j on s: fail"
    assert lines[2] == "  jss = 0.750, wanted >= 0.9: fail"
    assert lines[3].startswith("    15 of 20 template pairs; 95% interval [")
    assert lines[3].endswith("over 20 clusters")
    assert "  flips: 5, on 5 items" in lines
    assert "    s/i00/t1/ab/r1: YES (label NO)" in lines
    assert "    s/i00/t2/ab/r1: NO (label NO)" in lines
    # A few are shown, three; the rest is counted.
    assert lines[-1] == "    ... and 2 more"
    assert "i03" not in text


def test_few_flips_are_shown_whole() -> None:
    text = explained(flipping(2), "jss_floor", 0.95)
    assert "  flips: 2, on 2 items" in text
    assert "more" not in text


def test_flips_of_several_items_come_before_more_of_one_item() -> None:
    # Item a alone has three flips under four wordings, b has some too: both are shown.
    of = cell(YES_NO, worded({"a": ["YES", "NO", "NO", "NO"], "b": ["NO", "NO", "NO", "YES"]}))
    text = explained(of, "jss_floor", 0.9)
    assert "  flips: 6, on 2 items" in text  # 3 of 6 combinations each
    assert "s/a/t1" in text
    assert "s/b/t4" in text
    assert "    ... and 3 more" in text


def test_one_item_is_one_item() -> None:
    assert "  flips: 1, on 1 item\n" in explained(flipping(1), "jss_floor", 0.99) + "\n"


def test_prompts_are_shown_by_the_lines_in_which_they_differ() -> None:
    prompts = {"t1": "<text>\nthe same\n</text>\nFirst wording?\nReply.", "t2": ""}
    prompts["t2"] = prompts["t1"].replace("First", "Second")
    text = explained(
        flipping(1),
        "jss_floor",
        0.99,
        prompt_of=lambda trial: prompts[trial.split("/")[2]],
        look_further="pytest 'a::b' --judge-datasheet log.jsonl",
    )
    assert "      asked:   First wording?" in text
    assert "      asked:   Second wording?" in text
    assert "the same" not in text
    assert text.endswith("\n  look further: pytest 'a::b' --judge-datasheet log.jsonl")


def test_a_reply_is_shown_and_an_empty_one_is_named() -> None:
    of = cell(
        VACUUM,
        [judgment("a", "A", reply="A is better."), judgment("b", "B", reply="")],
    )
    text = explained(of, "dark_current_ceiling", 0.1)
    assert "      replied: A is better." in text
    assert "      replied: (nothing)" in text


def test_the_content_is_named_where_it_is_not_the_slot() -> None:
    text = explained(cell(VACUUM, both_orders("v", [("A", "A")])), "dark_current_ceiling", 0.1)
    assert "s/v0/t1/ab/r1: A, content 1" in text
    assert "s/v0/t1/ba/r1: A, content 2" in text


def test_missing_replies_are_said() -> None:
    of = cell(YES_NO, worded({"a": ["YES", "NO"], "b": ["?", "!"], "c": ["NO", "NO"]}))
    assert "    missing replies: 1 unparsed, 1 failed" in explained(of, "jss_floor", 0.9)


def test_a_reason_stands_where_there_is_no_number() -> None:
    text = explained(cell(YES_NO, worded({"a": ["YES"]})), "jss_floor", 0.9)
    assert "jss = unavailable (fewer than two templates were run on one item)" in text
    assert "inconclusive" in text
    assert "0.000" not in text


def test_what_no_judgment_shows_is_said() -> None:
    of = cell(YES_NO, worded({"a": ["YES", "YES"], "b": ["YES", "YES"]}))
    found = judge_check(declare_check("jss_floor", (0.9,), {}), "s", estimate_all(of))
    (line,) = brief_lines(explanation_of(found, of))
    assert line.startswith("no single judgment speaks against it; degenerate: the judge gave one")


NASTY = "\x1b[31mred\x1b[0m\x07\r\n\tnext \u202eevil\u2028line \x9b5m" + "long " * 60
ESCAPES = ("\x1b", "\x07", "\r", "\t", "\u202e", "\u2028", "\x9b")


def nasty() -> str:
    of = cell(
        VACUUM,
        [
            judgment(f"very-long-item-name-{'x' * 90}-{i}\x1b[2J", "A", reply=NASTY)
            for i in range(12)
        ]
        + [judgment("u", "?", reply=NASTY)],
    )
    return explained(
        of, "dark_current_ceiling", 0.1, prompt_of=lambda _: NASTY, look_further="short"
    )


def test_control_characters_of_replies_and_prompts_are_shown_as_escapes() -> None:
    text = nasty()
    assert not any(character in text for character in ESCAPES)
    assert r"\x1b[31mred" in text
    assert r"\u202eevil" in text


def test_lines_have_at_most_100_columns_however_long_names_and_replies_are() -> None:
    assert max(map(len, nasty().splitlines())) <= 100


def test_the_longest_warning_and_reason_fit_as_well() -> None:
    # 38 of 40 agree at bar 0.96: the warning names interval, bar and number of clusters.
    text = explained(flipping(2, 40), "jss_floor", 0.96)
    assert "would settle it" in " ".join(text.split())
    assert max(map(len, text.splitlines())) <= 100
    judgments = [
        one
        for distance in range(1, 30)
        for one in both_orders(
            f"d{distance}",
            [("A", "B")],
            condition={"distance": distance, "subset": "same"},
            label="1",
        )
    ]
    text = explained(cell(LADDER, judgments), "target_sensitivity_floor", 0.9, distance=99)
    assert "distance=29" in text
    assert max(map(len, text.splitlines())) <= 100


def test_a_command_stays_whole_to_be_pasted_back() -> None:
    command = "pytest '" + "x" * 150 + "' --judge-datasheet judgments.jsonl"
    assert explained(flipping(3), "jss_floor", 0.9, look_further=command).endswith(command)


def test_printable_leaves_ordinary_text_alone() -> None:
    assert printable("Grüße, 你好: 3 ≥ 2") == "Grüße, 你好: 3 ≥ 2"
    assert printable("a\nb\x1b") == r"a\nb\x1b"


def test_the_summary_is_one_line_with_every_bar() -> None:
    of = flipping(5)
    found = judge_check(declare_check("jss_floor", (0.9,), {}), "s", estimate_all(of))
    assert explanation_of(found, of).summary == "jss = 0.750, wanted >= 0.9: fail"
    passed = judge_check(declare_check("flip_rate_bound", (0.5,), {}), "s", estimate_all(of))
    assert explanation_of(passed, of).summary == "flip_rate = 0.250, wanted <= 0.5"


SPREAD = both_orders(
    "p",
    [("A", "A"), ("A", "B"), ("B", "A"), ("tie", "B"), ("tie", "tie"), ("B", "B"), ("A", "tie")],
    condition=SAME,
) + both_orders(
    "d",
    [("A", "B"), ("A", "tie"), ("A", "A"), ("tie", "tie"), ("B", "A")],
    condition={"distance": 1, "subset": "same"},
    label="1",
)


@pytest.mark.parametrize(
    ("check", "title"),
    [
        ("raw_false_preference_ceiling", "preferences between equals"),
        ("positional_false_preference_ceiling", "pairs won by a slot"),
        ("one_sided_commit_ceiling", "pairs decided in one order only"),
        ("target_sensitivity_floor", "better candidates missed"),
        ("miss_by_tie_ceiling", "better candidates missed by a tie"),
        ("order_positional_bound", "pairs won by a slot"),
        ("order_one_sided_bound", "pairs decided in one order only"),
    ],
)
def test_the_evidence_is_as_many_judgments_as_the_estimate_counts(check: str, title: str) -> None:
    of = cell(LADDER, SPREAD)
    floor = check.endswith("_floor")
    found = judge_check(declare_check(check, (1.0 if floor else 0.0,), {}), "s", estimate_all(of))
    (finding,) = found.findings
    assert finding.outcome == "fail"
    called, groups = evidence_of(found, of)
    counted = finding.estimate.count or 0
    assert called == title
    assert len(groups) == (finding.estimate.n - counted if floor else counted)


def test_the_evidence_of_one_distance_is_of_that_distance() -> None:
    judgments = SPREAD + both_orders(
        "far", [("tie", "tie")], condition={"distance": 5, "subset": "same"}, label="1"
    )
    text = explained(cell(LADDER, judgments), "target_sensitivity_floor", 0.9, distance=5)
    assert "better candidates missed: 2, on 1 item" in text
    assert "s/far0" in text
    assert "s/d" not in text


def test_the_evidence_of_raw_polarity_is_flips_of_raw_labels() -> None:
    # t2 is inverted. a: YES and NO, the same meaning; b: YES and YES, the opposite meaning;
    # c: NO and YES, the same meaning. Raw flips: a and c. Flips of meaning: b.
    judgments = []
    for item, normal, raw, meant in (
        ("a", "YES", "NO", "YES"),
        ("b", "YES", "YES", "NO"),
        ("c", "NO", "YES", "NO"),
    ):
        judgments.append(judgment(item, normal, pairwise=False))
        judgments.append(
            judgment(
                item,
                raw,
                template="t2",
                chosen=meant,
                condition={"polarity": "inverted"},
                pairwise=False,
            )
        )
    of = cell(YES_NO, judgments)
    assert "  flips: 1, on 1 item\n" in explained(of, "jss_floor", 0.99)
    assert "  flips: 2, on 2 items\n" in explained(of, "jss_floor", 0.99, polarity="raw")
    assert "  flips: 1, on 1 item\n" in explained(of, "jss_floor", 0.99, polarity="remapped")


def test_the_evidence_of_repeat_flips_is_the_replicates_of_an_item() -> None:
    judgments = [
        judgment("a", word, replicate=r) for r, word in enumerate(("A", "B", "A"), start=1)
    ] + [judgment("b", "A", replicate=r) for r in (1, 2, 3)]
    text = explained(cell(SLOTS, judgments), "repeat_flip_rate_bound", 0.1)
    assert "items whose replicates disagree: 1, on 1 item" in text
    assert all(f"s/a/t1/ab/r{r}: " in text for r in (1, 2, 3))
    assert "s/b" not in text


def test_the_evidence_of_unparsed_replies_gives_their_reasons() -> None:
    of = cell(VACUUM, [judgment("a", "?", reply="hm"), judgment("b", "A")])
    text = explained(of, "unparsed_rate_ceiling", 0.1)
    assert "replies without a verdict: 1, on 1 item" in text
    assert "s/a/t1/ab/r1: unparsed (states no verdict)" in text


def test_every_gate_on_a_ladder_shows_what_speaks_against_it() -> None:
    # Distance 1: right, wrong; right, tie. A filler chosen once. Each shows its own calls.
    judgments = both_orders(
        "d", [("A", "A"), ("A", "tie")], condition={"distance": 1, "subset": "same"}, label="1"
    )
    where = {"distance": 0, "subset": "filler"}
    judgments += both_orders("f", [("B", "tie")], condition=where)
    of = cell(LADDER, judgments)
    shown = {
        ("wrong_choice_ceiling", 0.0): "worse candidates chosen: 1, on 1 item",
        ("target_sensitivity_decisive_floor", 1.0): "worse candidates chosen: 1, on 1 item",
        ("detection_threshold_ceiling", 0.5): "better candidates missed: 2, on 2 items",
        ("filler_preference_ceiling", 0.0): "padded texts chosen: 1, on 1 item",
    }
    for (name, bar), line in shown.items():
        assert f"  {line}" in explained(of, name, bar).splitlines()
    assert "better candidates missed: 2" in explained(of, "d_prime_floor", 9, distance=1)


def test_an_example_of_grades_names_those_that_differ() -> None:
    grades = ('{"accuracy":"3","tone":"4"}', '{"accuracy":"3","tone":"2"}')
    of = cell(YES_NO, worded({"a": list(grades)}))
    found = judge_check(declare_check("jss_floor", (0.9,), {}), "s", estimate_all(of))
    assert explanation_of(found, of).example == "a: t1 gives tone 4, t2 gives tone 2"


def test_an_example_has_reply_label_and_question() -> None:
    of = cell(YES_NO, worded({"a": ["YES", "NO"]}, label="NO"))
    found = judge_check(declare_check("jss_floor", (0.9,), {}), "s", estimate_all(of))
    told = explanation_of(found, of, lambda trial: f"What of {trial.split('/')[1]}?")
    assert told.example == "a: t1 gives YES, t2 gives NO, label NO; asked: What of a?"
