"""The measures of a prompt that is taken apart, by hand.

Six replies to the whole prompt and one without a sentence: where the judge has no noise, a sentence
without which an item has another verdict is the odd one of seven replies, with a chance of 1/7 each
if it does nothing. So of k items p is (1/7)^k.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import pytest

from pytest_judgesense.datasheets.profile import sketch
from pytest_judgesense.instruments.ablation import tables
from pytest_judgesense.instruments.ablation.estimators import NOTHING, left_out
from pytest_judgesense.instruments.ablation.measures import WORDS
from pytest_judgesense.instruments.ablation.stimuli import LeftOutTogether
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.measures.cell_estimates import estimate_all
from pytest_judgesense.trial import Design
from tests.measures.building import cell, estimate, judgment

DESIGN = Design(kind="ablation", labels=("YES", "NO"))
ITEMS = 10


def asked(
    without: Mapping[str, Sequence[str]],
    whole: Sequence[Sequence[str]] = [["YES"] * 6] * ITEMS,
) -> Cell:
    """The replies to the whole prompt by item, and one an item without each sentence."""
    judgments = [
        judgment(f"i{item}", word, template="whole", replicate=replicate, pairwise=False)
        for item, words in enumerate(whole)
        for replicate, word in enumerate(words, start=1)
    ]
    judgments += [
        judgment(f"i{item}", word, template=name, condition={"sentence": name}, pairwise=False)
        for name, words in without.items()
        for item, word in enumerate(words)
    ]
    return cell(DESIGN, judgments)


def moved(count: int, word: str = "NO") -> list[str]:
    return [word] * count + ["YES"] * (ITEMS - count)


def test_a_sentence_that_turns_verdicts_is_noticed_and_others_are_not() -> None:
    of = asked({"s01": moved(0), "s02": moved(4), "s03": moved(1)})
    tests = left_out(of)
    assert tests is not None
    assert [part and round(part.p, 9) for part in tests.parts.values()] == [
        1.0,
        round(1 / 7**4, 9),
        round(1 / 7, 9),
    ]
    score = estimate(of, "mutation_score")
    assert (score.value, score.count, score.n, score.unit) == (
        pytest.approx(1 / 3),
        1,
        3,
        "sentence",
    )
    assert score.flags == ()
    # Its lower end is the same at Holm's level of .025, for 3/2401 is below it; its upper one open.
    assert score.clustered is not None
    assert (score.clustered.lower, score.clustered.upper) == (pytest.approx(1 / 3), 1.0)
    assert score.clustered.lower_bound == pytest.approx(1 / 3)
    effect = estimate(of, "sentence_effect", sentence="s02")
    assert (effect.value, effect.n) == (pytest.approx(0.4), ITEMS)
    assert effect.clustered is not None
    assert 0 <= effect.clustered.lower < 0.4 < effect.clustered.upper < 1
    idle = estimate(of, "sentence_effect", sentence="s01")
    # Of 10 items without a difference: 1 - .05^(1/10) = .259.
    assert idle.clustered is not None
    assert (idle.value, idle.clustered.lower) == (0.0, 0.0)
    assert idle.clustered.upper_bound == pytest.approx(1 - 0.05 ** (1 / 10), abs=1e-3)


def test_the_lower_end_of_the_score_is_stricter_than_the_score() -> None:
    # p = 1/49 = .0204, alone in its family: at most .05 and .025, not .01.
    of = asked({"s01": moved(2)})
    ends = estimate(of, "mutation_score").clustered
    assert ends is not None
    assert ends.at is not None
    assert (ends.lower_bound, ends.lower) == (1.0, 1.0)
    assert ends.at(0.99) == (0.0, 1.0)


def test_own_noise_is_the_share_of_pairs_of_replies_that_differ() -> None:
    # Of six replies five alike: 5 of 15 pairs differ. In one of ten items: 1/30.
    whole = [["NO", *["YES"] * 5], *[["YES"] * 6] * (ITEMS - 1)]
    of = asked({"s01": moved(0)}, whole)
    noise = estimate(of, "own_noise")
    assert (noise.value, noise.n) == (pytest.approx(1 / 30), ITEMS)
    # A reply without a verdict differs from one with it; one that did not come is none.
    unread = [["?", *["YES"] * 5], ["!", *["YES"] * 5], *[["YES"] * 6] * (ITEMS - 2)]
    of = asked({"s01": moved(0)}, unread)
    noise = estimate(of, "own_noise")
    assert (noise.value, noise.n) == (pytest.approx(5 / 15 / 9), ITEMS - 1)
    assert (noise.missing.unparsed, noise.missing.failed) == (1, 1)


def test_a_suite_that_notices_nothing_says_so() -> None:
    of = asked({"s01": moved(0), "s02": moved(1)})
    score = estimate(of, "mutation_score")
    assert (score.value, score.flags) == (0.0, (NOTHING,))
    assert sketch(WORDS, estimate_all(of)) == "no sentence of the prompt noticed"
    rows = tables.rows(of, estimate_all(of), None)
    assert rows is not None
    assert tables.brief(rows) == "notices no sentence"
    assert sketch(WORDS, estimate_all(asked({"s01": moved(5)}))) == ""


def test_both_orders_of_an_item_are_two_questions_of_one_cluster() -> None:
    judgments = [
        judgment(f"i{item}", word, template=template, order=order, replicate=replicate)
        for item in range(5)
        for order, right in (("ab", "A"), ("ba", "B"))
        for template, words in (("whole", [right] * 3), ("s01", ["A"]))
        for replicate, word in enumerate(words, start=1)
    ]
    of = cell(Design(kind="ablation", labels=("A", "B"), pairwise=True), judgments)
    effect = estimate(of, "sentence_effect", sentence="s01")
    assert (effect.value, effect.n) == (0.5, 10)
    assert effect.clustered is not None
    assert effect.clustered.clusters == 5


def test_what_cannot_be_tested_has_a_reason() -> None:
    of = asked({"s01": ["!"] * ITEMS, "s02": moved(5)})
    effect = estimate(of, "sentence_effect", sentence="s01")
    assert effect.unavailable == "no item has replies with and without it"
    assert estimate(of, "mutation_score").value == 0.5
    rows = tables.rows(of, estimate_all(of), None)
    assert rows is not None
    assert rows[0]["finding"].startswith("not tested")
    once = asked({"s01": moved(0)}, [["YES"]] * ITEMS)
    assert "no two replies" in str(estimate(once, "mutation_score").unavailable)
    assert tables.rows(once, estimate_all(once), None) is None
    nothing = asked({})
    assert estimate(nothing, "mutation_score").unavailable == "no sentence was left out"
    assert estimate(cell(DESIGN, []), "own_noise").value is None


def test_the_lines_say_what_each_sentence_does_and_what_to_do() -> None:
    of = asked({"s01": moved(0), "s02": moved(4), "s03": moved(3, "?")})
    rows = tables.rows(of, estimate_all(of), None)
    assert rows is not None
    first, second, third, together = (row["finding"] for row in rows)
    assert first == "no effect noticed; up to 26% possible"
    assert second.startswith("moves 40% of verdicts [")
    assert third == "holds the form: 30% unparsed without it"
    assert together == "not asked together"
    lines = list(tables.sentence_lines(rows))
    assert lines[0].startswith(
        "2 of 3 sentences noticed on 10 items, the whole prompt asked 6 times"
    )
    assert lines[1].strip() == "s01 no effect noticed; up to 26% possible"
    assert lines[-3:] == [
        (
            "this sentence (s01) does nothing alone that 10 items notice; not asked together: keep "
            "it until `judgesense why SUITE --leave-out --judge-mode record` has left it out"
        ),
        "this sentence (s02) moves verdicts: reword with care",
        "this sentence (s03) holds the form of a reply: keep it, or ask for structured output",
    ]


def asked_together(*groups: tuple[tuple[str, ...], Sequence[str]], items: int) -> Cell:
    """Two sentences that do nothing alone, and the replies without groups of them in turn."""
    judgments = list(
        asked({"s01": ["YES"] * items, "s02": ["YES"] * items}, WHOLE * items).judgments
    )
    times: Counter[tuple[str, ...]] = Counter()
    for ids, words in groups:
        times[ids] += 1
        group = LeftOutTogether(ids, times[ids])
        judgments += [
            judgment(
                f"i{item}",
                word,
                template=group.template,
                replicate=times[ids],
                condition={"together": group.name},
                pairwise=False,
            )
            for item, word in enumerate(words)
        ]
    return cell(DESIGN, judgments)


WHOLE = [["YES"] * 6]
BOTH = ("s01", "s02")


def advice(of: Cell) -> str:
    rows = tables.rows(of, estimate_all(of), None)
    assert rows is not None
    return list(tables.sentence_lines(rows))[3]


@pytest.mark.parametrize(("items", "bound", "verb"), [(29, "10%", "drop"), (28, "10%", "keep")])
def test_sentences_are_dropped_where_together_they_move_at_most_a_tenth(
    items: int, bound: str, verb: str
) -> None:
    # Nothing differs: 1 - .05^(1/29) = .0981, and 1 - .05^(1/28) = .1015.
    of = asked_together(*[(BOTH, ["YES"] * items)] * 3, items=items)
    assert advice(of) == (
        f"these 2 sentences (s01, s02) do nothing alone that {items} items notice, nor together, "
        f"with up to {bound} possible: {verb} them, or add items that do before a change of the "
        "prompt is gated by them"
    )
    # No group counts in the score of the sentences.
    assert estimate(of, "mutation_score").n == 2


def test_a_group_that_does_something_is_searched_and_named() -> None:
    turned = ["NO"] * 8 + ["YES"] * 12
    ends = [(BOTH, turned)] * 3
    tests = left_out(asked_together(*ends, items=20))
    assert tests is not None
    assert tests.together is not None
    # Of two changes the first prefix is the first alone.
    assert tests.together.to_ask == LeftOutTogether(("s01",), 1)
    done = asked_together(*ends, (("s01",), ["YES"] * 20), (("s02",), ["YES"] * 20), items=20)
    tests = left_out(done)
    assert tests is not None
    assert tests.together is not None
    assert (tests.together.smallest, tests.together.to_ask) == (BOTH, None)
    assert "the smallest group that does something: s01, s02 (moves 40% of verdicts [" in advice(
        done
    )
    alone = left_out(asked_together(*ends, (("s01",), turned), items=20))
    assert alone is not None
    assert alone.together is not None
    assert alone.together.smallest == ("s01",)


def test_replies_without_a_verdict_count_where_the_prompt_is_whole() -> None:
    whole = [["?", *["YES"] * 5], *[["YES"] * 6] * (ITEMS - 1)]
    unparsed = estimate(asked({"s01": moved(9, "?")}, whole), "unparsed_rate")
    assert (unparsed.count, unparsed.n) == (1, 6 * ITEMS)
