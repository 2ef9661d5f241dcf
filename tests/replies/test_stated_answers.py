"""Which answers the replies of a judge show, by hand; and that each reply is then read."""

from __future__ import annotations

import pytest

from pytest_judgesense.replies import parse_reply
from pytest_judgesense.replies.stated_answers import StatedAnswers, stated_answers
from pytest_judgesense.suites.space import space_of_labels
from pytest_judgesense.trial import Unparsed, Verdict

TEN = tuple(map(str, range(1, 11)))
REASONS = "Assistant A is shorter and 3 of its 4 claims hold.\n\n"

# Replies as judges write them, the answers that they may give, and what each of them says.
LOGS: dict[str, tuple[list[str], tuple[str, ...], list[str]]] = {
    "brackets after prose": (
        [f"{REASONS}My final verdict is: [[B]]", "[[A]]", "Both do well. [[A]]"],
        ("A", "B"),
        ["B", "A", "A"],
    ),
    "a bracketed rating after numbers": (
        ["The answer is 0, not 3.\n\nRating: [[2]]", "34/36 is right.\n\nRating: [[3]]"],
        ("2", "3"),
        ["2", "3"],
    ),
    "steps of a comparison": (
        ["A is significantly better: [[A>>B]]", "It is: [[B>A]]", "Both are fine. [[A=B]]"],
        ("A", "B", "tie"),
        ["A", "B", "tie"],
    ),
    "a labelled line": (
        [f"{REASONS}**Winner: A**", f"{REASONS}**Winner:** Tie", "Winner: B"],
        ("A", "B", "tie"),
        ["A", "tie", "B"],
    ),
    "names of blocks": (
        [f"{REASONS}Winner: model_a", f"{REASONS}Winner: model_b"],
        ("A", "B"),
        ["A", "B"],
    ),
    "out of ten": (
        [f"{REASONS}Score: 7/10", f"{REASONS}Score: 3/10", "Score: 10/10"],
        TEN,
        ["7", "3", "10"],
    ),
    "out of ten in a sentence": (
        ["Clear enough. I would rate this 7/10.", "I rate this 10/10."],
        TEN,
        ["7", "10"],
    ),
    "nought of five": (["Score: 0/5", "Score: 4/5"], tuple("012345"), ["0", "4"]),
    "objects": (
        ['{"reason": "x", "verdict": "PASS", "score": 4}', '```json\n{"verdict": "FAIL"}\n```'],
        ("FAIL", "PASS"),
        ["PASS", "FAIL"],
    ),
    "true and false": (
        ['{"passed": true}', '{"passed": false}'],
        ("false", "true"),
        ["true", "false"],
    ),
    "tags": (
        ["<reasoning>No?</reasoning><verdict>yes</verdict>", "<verdict>no</verdict>"],
        ("no", "yes"),
        ["yes", "no"],
    ),
    "thinking that drafts": (
        ["<think>Verdict: A</think>\nVerdict: B", "Verdict: A"],
        ("A", "B"),
        ["B", "A"],
    ),
    "a sentence": (
        ["The answer is yes.", f"{REASONS}The answer is no."],
        ("no", "yes"),
        ["yes", "no"],
    ),
    "a last line": ([f"{REASONS}B", f"{REASONS}A"], ("A", "B"), ["B", "A"]),
    "under a heading": (
        ["### Final verdict\n\n**Output (a)**", "### Final verdict\n\n**Output (b)**"],
        ("A", "B"),
        ["A", "B"],
    ),
    "after the feedback": (
        ["Feedback: fine. [RESULT] 4", "Feedback: poor. [RESULT] 2", "Feedback: [RESULT] 5"],
        ("2", "3", "4", "5"),
        ["4", "2", "5"],
    ),
    "a first word": (
        ["No, for it leaves out every reason that was asked for.", "Yes, as far as I can see."],
        ("No", "Yes"),
        ["No", "Yes"],
    ),
    "words of their own": (
        [*["Label: spam"] * 3, *["Label: ham"] * 3],
        ("ham", "spam"),
        [*["spam"] * 3, *["ham"] * 3],
    ),
    "one of two usual words": (["YES", "YES"], ("NO", "YES"), ["YES", "YES"]),
    "letters beyond a pair": (["[[A]]", "[[C]]"], ("A", "B", "C"), ["A", "C"]),
    "decimals": (
        ["Rating: 0.75", "Rating: 0.5", "Rating: 1"],
        ("0.5", "0.75", "1"),
        ["0.75", "0.5", "1"],
    ),
}


@pytest.mark.parametrize("name", LOGS)
def test_final_forms_tell_the_answers_and_each_reply_is_read(name: str) -> None:
    """Labels, and the verdict of every reply in the space that they and the renamed words make."""
    replies, labels, verdicts = LOGS[name]
    stated = stated_answers(replies)
    assert stated.labels == labels, stated.why
    space = space_of_labels(stated.labels, dict(stated.renamed))
    assert space is not None
    assert [parse_reply(reply, space) for reply in replies] == [*map(Verdict, verdicts)]
    assert (stated.stating, stated.replies) == (len(replies), len(replies))


@pytest.mark.parametrize(
    "replies",
    [
        ["The answer is Paris.", "The answer is London.", "The answer is Rome."],
        ["It is a long story that ends well.", "It is another story that goes on."],
        ["Verdict: see above", "Verdict: it depends"],
        ["Score: 1234", "Score: 99999", "Score: 5"],
        ["Score: 7/10", "Score: 7/20"],
        ['{"winner": "tie"}'] * 3,
    ],
)
def test_what_is_no_closed_set_gives_no_labels_but_a_reason(replies: list[str]) -> None:
    """Texts of their own, numbers of no scale, and nothing that is tied."""
    stated = stated_answers(replies)
    assert stated.labels == ()
    assert stated.why


def test_replies_without_the_form_are_counted_and_other_words_are_named() -> None:
    """One reply in 41 states two slots, and one of 42 none; blank ones are no replies."""
    replies = [
        *["[[A]]"] * 20,
        *["[[B]]"] * 20,
        "[[A or B]]",
        "I cannot open the files.",
        " ",
        None,
    ]
    assert stated_answers(replies) == StatedAnswers(
        labels=("A", "B"),
        renamed=(),
        form="[[...]]",
        stating=40,
        replies=42,
        others=("A or B",),
        why="[[...]] in 40 of 42 replies: A, B",
    )


def test_a_third_letter_is_never_dropped_as_a_stray_word() -> None:
    """C may be a tie: of 100 replies one is enough to make it an answer."""
    stated = stated_answers([*["[[A]]"] * 50, *["[[B]]"] * 49, "[[C]]"])
    assert stated.labels == ("A", "B", "C")
    assert stated.stating == 100


def test_fewer_than_half_of_the_replies_in_a_form_show_nothing() -> None:
    """Two of five."""
    prose = "It reads well and goes on to say why, at some length."
    stated = stated_answers(["Verdict: A", "Verdict: B", prose, prose, prose])
    assert stated.labels == ()
    assert stated.why == "most replies end in no form that states a verdict"


def test_no_replies_at_all() -> None:
    """Only blanks."""
    assert stated_answers(["", None]).why == "no replies"


def test_a_hostile_reply_costs_little_and_states_nothing() -> None:
    """A million braces and brackets; the space of a user's labels reads it as before."""
    reply = '{"verdict": ' * 50_000 + "[[" * 200_000
    assert stated_answers([reply]).labels == ()
    space = space_of_labels(("A", "B"), {})
    assert space is not None
    assert isinstance(parse_reply(reply, space), Unparsed)


def test_a_flag_is_read_wherever_its_line_stands() -> None:
    replies = [
        "**Relevance: True**\n\nBecause the question is met.",
        "- It names both modes.\n\nConclusion:\n- Grounded: False",
        "page 3: Relevance: True\n- it is named\n\npage 4: Relevance: True\n\nAll are.",
    ]
    shown = stated_answers(replies)
    assert (set(shown.labels), shown.stating) == ({"True", "False"}, 3)
    space = space_of_labels(shown.labels, {})
    stated = [parse_reply(reply, space) for reply in replies]
    assert stated == [Verdict("True"), Verdict("False"), Verdict("True")]
    # Another value in another line is another verdict, and no name of a file is a flag.
    both = parse_reply("page 3: Relevance: True\npage 4: Relevance: False\n", space)
    assert isinstance(both, Unparsed)
    assert isinstance(parse_reply("Judgments:\n- 013__L1__13._Stop.pdf: True", space), Unparsed)
