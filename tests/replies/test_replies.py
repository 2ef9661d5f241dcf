"""Replies and the verdicts that they state.

Every expected outcome follows from the rule in the docstring of `replies`; the comment over
a table names the step of the rule, or the trap, that its rows are about.
"""

from __future__ import annotations

import re
import time
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_judgesense.replies import parse_reply
from pytest_judgesense.suites.space import DecisionSpace
from pytest_judgesense.trial import Unparsed, Verdict

AB = DecisionSpace(("A", "B"), pairwise=True)
PASS = DecisionSpace(("pass", "fail"))
FREE = DecisionSpace(("A", "B"), pairwise=True, tie=True, abstain=True)
OUTPUTS = DecisionSpace(
    ("A", "B"), pairwise=True, names={"A": ("Output (a)",), "B": ("Output (b)",)}
)
C_IS_TIE = DecisionSpace(("A", "B"), pairwise=True, tie=True, names={"tie": ("C",)})
SIGNED = DecisionSpace(("-2", "-1", "0", "1", "2"), ordinal=True)
HALVES = DecisionSpace(("0.0", "0.5", "1.0"))
HUNDRED = DecisionSpace(tuple(map(str, range(101))), ordinal=True)
GRADED = DecisionSpace(("relevant", "somewhat relevant", "not relevant"))
LETTERS = DecisionSpace(("A", "B"))
LEVELS = DecisionSpace(("A", "B"), pairwise=True, names={"A": ("A>>B", "A>B"), "B": ("B>A",)})
MODELS = DecisionSpace(("A", "B"), pairwise=True, names={"A": ("model_a",), "B": ("model_b",)})
YES_NO = DecisionSpace(("YES", "NO"))
YES_NO_OPEN = DecisionSpace(("YES", "NO"), abstain=True)
FIVE = DecisionSpace(("1", "2", "3", "4", "5"), ordinal=True)
TEN = DecisionSpace(tuple(map(str, range(1, 11))), ordinal=True)
ACCURATE = DecisionSpace(("accurate", "inaccurate"))
SUPPORT = DecisionSpace(("supported", "not supported", "partially supported"))
DEBATE = DecisionSpace(("PRO", "CON"))
CHOICE = DecisionSpace(("A", "B", "C", "D"))
GRADES = DecisionSpace(("A", "A+", "B"))
SPACES = [
    AB,
    FREE,
    OUTPUTS,
    C_IS_TIE,
    YES_NO,
    YES_NO_OPEN,
    FIVE,
    TEN,
    ACCURATE,
    SUPPORT,
    DEBATE,
    CHOICE,
]

CUT = "<cut off before the verdict>"

# The closed list of the docstring.
REASON = re.compile(
    r"empty reply|no verdict|several verdicts: .+|out of range: [-\d./ a-z]+|not a label: [-\d.]+"
    r"|tie not permitted|abstention not permitted|refusal|cut off before the verdict"
)


def said(text: str | None, space: DecisionSpace, *, truncated: bool = False) -> str:
    """The verdict of ``text``, or its reason in angle brackets."""
    outcome = parse_reply(text, space, truncated=truncated)
    if isinstance(outcome, Verdict):
        assert outcome.value in space.verdicts
        return outcome.value
    assert REASON.fullmatch(outcome.reason), outcome
    return f"<{outcome.reason}>"


def table(*rows: tuple[DecisionSpace, str, str]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize(("space", "text", "expected"), rows)


# -- step 2: nothing but a label ---------------------------------------------------------------

WRAPPERS = (
    "{}",
    " {}\n",
    "{}.",
    "{}!",
    '"{}"',
    "'{}'",
    "“{}”",
    "({})",
    "[{}]",
    "[[{}]]",
    "**{}**",
    "*{}*",
    "`{}`",
    "# {}",
    "- {}",
    "> {}",
    "```\n{}\n```",
    "<verdict>{}</verdict>",
    "Answer: {}",
    "**Verdict:** {}",
    "Verdict: **{}**",
    "My final answer is: {}.",
    "Final answer: [[{}]]",
    "\\boxed{{{}}}",
    "$\\boxed{{\\text{{{}}}}}$",
    '{{"verdict": "{}"}}',
    'It is close.\n\n```json\n{{"reason": "it is close", "winner": "{}"}}\n```',
    "<think>Let me see. B, 3 or NO?</think>\n{}",
    "The first text is short. The second text is long.\n\n{}",
    "Therefore, the answer is {}.",
)


@pytest.mark.parametrize("wrapper", WRAPPERS)
@pytest.mark.parametrize("space", SPACES, ids=lambda space: "/".join(space.labels))
def test_every_label_and_name_in_every_wrapper_is_read_as_itself(
    space: DecisionSpace, wrapper: str
) -> None:
    spoken = [(label, label) for label in space.labels]
    spoken += [(name, value) for value, names in space.names.items() for name in names]
    for spelling, value in spoken:
        for cased in (spelling, spelling.lower(), spelling.upper()):
            assert said(wrapper.format(cased), space) == value


@pytest.mark.parametrize("between", [" ", ", ", " or ", "/", " and ", " | ", "; ", "\n"])
@pytest.mark.parametrize("space", SPACES, ids=lambda space: "/".join(space.labels))
def test_two_different_labels_bare_are_no_verdict(space: DecisionSpace, between: str) -> None:
    for one, other in permutations(space.labels, 2):
        outcome = said(f"{one}{between}{other}", space)
        # In an ordinal space of five, "4/5" is a score on its scale, not two labels.
        if between == "/" and space.ordinal:
            assert outcome == one if other == max(space.labels, key=int) else outcome[0] == "<"
        elif between == " ":
            assert outcome == "<no verdict>"
        else:
            assert outcome.startswith("<several verdicts: "), (one, other)


@table(
    (YES_NO, "Nope", "NO"),
    (FIVE, "4.0", "4"),
    (FIVE, "4/5", "4"),
    (FIVE, "**4**/5", "4"),
    (FIVE, "4 out of 5", "4"),
    (FIVE, "4 stars", "4"),
    (FIVE, "- 3", "3"),
    (FIVE, "４", "4"),
    (AB, "Ａ", "A"),
    (AB, "A<|im_end|>", "A"),
    (AB, "~~A~~ B", "B"),
    (AB, "option a", "A"),
    (C_IS_TIE, "C", "tie"),
    (C_IS_TIE, "[[C]]", "tie"),
    (GRADES, "A+", "A+"),
    (SUPPORT, "Not_Supported", "not supported"),
    (SUPPORT, "Partially-Supported", "partially supported"),
)
def test_a_bare_label_in_other_spellings(space: DecisionSpace, text: str, expected: str) -> None:
    assert said(text, space) == expected


# A sign that changes the label, or half of another word, is not punctuation.
@table(
    (AB, "A?", "<no verdict>"),
    (AB, "!A", "<no verdict>"),
    (AB, "A-", "<no verdict>"),
    (AB, "C", "<no verdict>"),
    (DecisionSpace(("A", "B")), "B+", "<no verdict>"),
    (ACCURATE, "in-accurate", "<no verdict>"),
    (SUPPORT, "unsupported", "<no verdict>"),
    # A word for a number, and a comparison, are labels of other scales.
    (FIVE, "four", "<no verdict>"),
    (FIVE, "Score: four", "<no verdict>"),
    (FIVE, "٤", "<no verdict>"),
    (AB, "A > B", "<no verdict>"),
    (AB, "Much better: B", "<no verdict>"),
    (AB, "Better: B", "B"),
    (AB, "B ≫ A", "<no verdict>"),
    (AB, "[[A<B]]", "<no verdict>"),
    (FREE, "A = B", "<no verdict>"),
    # Said of a text that is not compared with another.
    (LETTERS, "A: good", "<no verdict>"),
    (LETTERS, "Output (a)", "<no verdict>"),
    (YES_NO, "N", "<no verdict>"),
    (YES_NO, "", "<empty reply>"),
    (YES_NO, " \n\t", "<empty reply>"),
    (FIVE, "7", "<out of range: 7>"),
    (FIVE, "-1", "<out of range: -1>"),
    (FIVE, "8/10", "<out of range: 8/10>"),
    (FIVE, "4.5", "<not a label: 4.5>"),
    (FIVE, "5.5", "<out of range: 5.5>"),
    (FIVE, "4,5", "<several verdicts: 4, 5>"),
    (FIVE, "80%", "<no verdict>"),
    (FIVE, "GPT-4", "<no verdict>"),
    (FIVE, "1-5", "<several verdicts: 1, 5>"),
    (FIVE, "4?", "<no verdict>"),
    (FIVE, "3-4", "<several verdicts: 3, 4>"),
    (FIVE, "Score: 4 to 5", "<several verdicts: 4, 5>"),
    (FIVE, "Score: 3 or 4", "<several verdicts: 3, 4>"),
    (FIVE, "between 3 and 4", "<no verdict>"),
    (TEN, "11", "<out of range: 11>"),
)
def test_what_is_no_label_of_the_space(space: DecisionSpace, text: str, expected: str) -> None:
    assert said(text, space) == expected


def test_no_text_is_an_empty_reply() -> None:
    assert parse_reply(None, AB) == Unparsed("empty reply")


ANALYSIS = "<|channel|>analysis<|message|>"


# -- step 1: thinking --------------------------------------------------------------------------


@table(
    (AB, "<think>\nB is better\n</think>\n\nA", "A"),
    (AB, "B seems better. So B.\n</think>\nA", "A"),  # the tag was opened in the prompt
    (AB, "<thinking>B</thinking><answer>A</answer>", "A"),
    (AB, "<reasoning>B is fine</reasoning>\n<answer>A</answer>", "A"),
    (AB, "<think>Response B is better, so B", CUT),
    (AB, "A\n<think>wait, B", CUT),
    (AB, "<think>B</think>", "<no verdict>"),
    (AB, "The text quotes a <think> tag. Therefore, B is better.", "B"),
    # Special tokens of gpt-oss, Command A, Magistral and Seed-OSS, which some servers leave in.
    (AB, f"{ANALYSIS}Verdict: B<|end|><|start|>assistant<|channel|>final<|message|>A", "A"),
    (AB, f"{ANALYSIS}Is it B? Verdict: B", CUT),
    (AB, "<|START_THINKING|>Verdict: B<|END_THINKING|><|START_RESPONSE|>A<|END_RESPONSE|>", "A"),
    (AB, "[THINK]Verdict: B[/THINK]A", "A"),
    (AB, "[THINK]Verdict: B", CUT),
    (AB, "<seed:think>Verdict: B</seed:think>A", "A"),
)
def test_thinking_is_not_part_of_the_reply(space: DecisionSpace, text: str, expected: str) -> None:
    assert said(text, space) == expected


# -- step 3: JSON and other explicit forms -----------------------------------------------------


@table(
    (AB, '{"verdict": "A", "reason": "B is better in style"}', "A"),
    (PASS, '{"reason": "seen", "pass": true, "score": 0.9}', "pass"),
    (PASS, '{"reason": "seen", "passed": false, "score": 0}', "fail"),
    (AB, '{"reason": "B is better", "verdict": "A"}\n\nI hope this helps!', "A"),
    (AB, '{"result": {"winner": "B"}}', "B"),
    (AB, '{"better_response": "Response B"}', "B"),
    (AB, '{"verdict": "A is better than B"}', "A"),
    (AB, '{"verdict": "A", "final_verdict": "B"}', "B"),
    (AB, "{'verdict': 'A', 'reason': 'B isn\\'t good'}", "A"),
    (AB, '{"verdict": "A", "reason": "it says "hi" to B"}', "A"),
    (AB, '```json\n{"verdict": "B",}\n```', "B"),
    (AB, '{"verdict": "A", "reason": "because B', "A"),
    (AB, '{"reason": "B is better", "verdict": "', CUT),
    (AB, '{"reason": "B is better", "verdict": "A', CUT),
    (AB, '{"winner": "A", "verdict": "B"}', "<several verdicts: A, B>"),
    (AB, '{"verdict": "A"} {"verdict": "B"}', "<several verdicts: A, B>"),
    (AB, '{"verdict": "A"}\nTherefore, B is better.', "<several verdicts: A, B>"),
    (AB, '{"A": 8, "B": 5}', "<no verdict>"),
    (AB, '{"answer_a": "A", "answer_b": "B"}', "<no verdict>"),
    (AB, '{"verdict": null}', "<no verdict>"),
    (AB, '{"winner": "tie"}', "<tie not permitted>"),
    (FREE, '{"winner": "tie"}', "tie"),
    (FIVE, '{"coherence": 4}', "4"),
    (FIVE, '{"score": 4, "confidence": 5}', "4"),
    (FIVE, '{"coherence_score": 4, "explanation": "3 slips"}', "4"),
    (FIVE, '{"clarity_score": 3, "score": 4}', "4"),
    (FIVE, '{"score": "4/5"}', "4"),
    (FIVE, '{"rating": 4.0}', "4"),
    (FIVE, '{"rating": 4.5}', "<not a label: 4.5>"),
    (FIVE, '{"score": 6}', "<out of range: 6>"),
    (FIVE, '{"max_score": 5}', "<no verdict>"),
    (FIVE, '{"min_score": 1, "max_score": 5, "score": 3}', "3"),
    (FIVE, '{"num_errors": 3}', "<no verdict>"),
    (FIVE, '{"error_count": 3, "score": 4}', "4"),
    (YES_NO, '{"error": "no"}', "<no verdict>"),
    (FIVE, '{"score": 1' + "0" * 6000 + "}", "<no verdict>"),
    (YES_NO, '{"verdict": true}', "YES"),
    (YES_NO, '{"verdict": "YES", // or NO\n "confidence": 0.9}', "<no verdict>"),
    (YES_NO, "{verdict: YES}", "<no verdict>"),
    (AB, '{"winner": "model_b"}', "<no verdict>"),
    (MODELS, '{"winner": "model_b"}', "B"),
    (YES_NO, '{"supported": "NO"}', "NO"),
    (DEBATE, '{"winner": "con", "confidence": 80}', "CON"),
    (AB, "I believe Assistant B is fine. [[A]] it is, not [[B]].", "A"),
    (AB, "Either [[A]] or [[B]].", "<several verdicts: A, B>"),
    (AB, "My final verdict is: [[A>>B]]", "<no verdict>"),
    (LEVELS, "My final verdict is: [[A>>B]]", "A"),
    (AB, "Answer A states: 'the winner is A'. I disagree. Winner: B", "B"),
    (YES_NO, "thought\nMaybe NO\n\nYES", "YES"),
    (YES_NO, "Thinking \r\nMaybe NO\n\nVerdict: YES\nThe source says so.", "YES"),
    (YES_NO, "thought\nI would say NO, yet the source", "<cut off before the verdict>"),
    (YES_NO, "thought\nVerdict: YES or NO?", "<cut off before the verdict>"),
    (YES_NO, "thought\nFirst [[NO]], then again\n[[YES]]", "YES"),
    (FIVE, 'thought\nIt looks like 4.\n{"score": 2}', "2"),
    (FIVE, 'thought\nA 4?\n```json\n{\n"score": 2,\n"parts": [\n{"score": 5}]}\n```', "2"),
    (FIVE, 'thought\nIt is like {"score": 5} at first.\n{"score": 2}', "2"),
    (FIVE, 'thought\n{"score":', "<cut off before the verdict>"),
    (AB, "So the answer is $\\boxed{B}$.", "B"),
    (AB, '{"rejected": "A", "chosen": "B"}', "B"),
    (FIVE, "Rating: [[4]]/5", "4"),
    (FIVE, "[[4]]/10", "<out of range: 4/10>"),
    (FIVE, "So it is \\boxed{4}/10.", "<out of range: 4/10>"),
)
def test_forms_that_no_prose_takes(space: DecisionSpace, text: str, expected: str) -> None:
    assert said(text, space) == expected


# -- step 3: marked verdicts and openings ------------------------------------------------------


@table(
    (AB, "The better response is A", "A"),
    (AB, "The winner is: **B**", "B"),
    (AB, "My vote goes to B.", "B"),
    (AB, "## Verdict\n\nB", "B"),
    (AB, "verdict: A\nreason: B is long", "A"),
    (AB, "Verdict: A is better", "A"),
    (AB, "Answer: A\n\nOn reflection it is close.\n\nFinal answer: B", "B"),
    (AB, "Answer: A\nAnswer: B", "<several verdicts: A, B>"),
    (AB, "I prefer B over A", "B"),
    (OUTPUTS, "I would choose Output (b).", "B"),
    (AB, "A, I'm not entirely sure but I would choose A.", "A"),
    (AB, "I prefer a.", "<no verdict>"),  # cut off, or an article
    (AB, "I would not choose A.", "<no verdict>"),
    (AB, "I would choose A. Verdict: B", "B"),
    (AB, "Verdict: B. I would choose A.", "<several verdicts: A, B>"),
    (AB, "Answer: not A", "<no verdict>"),
    (AB, '"verdict" => A //', "<no verdict>"),
    (AB, "The answer is not A.", "<no verdict>"),
    (AB, "A, not B", "A"),
    (AB, "B because it is shorter", "B"),
    (AB, "B. It is shorter.", "B"),
    (AB, "A\nB is shorter, but A is right.", "A"),
    (OUTPUTS, "Verdict: Output (a)", "A"),
    (OUTPUTS, "Output (b)\nExplanation: it is precise.", "B"),
    # Headings over each answer are not verdicts.
    (OUTPUTS, "**Output (a)**:\nShort.\n\n**Output (b)**:\nLong.\n\n**Verdict**: Output (b)", "B"),
    (OUTPUTS, "### Output (a)\nShort.\n### Output (b)\nLong.\n### Verdict\nOutput (a)", "A"),
    (OUTPUTS, "Output (a):\nShort.\n\nOutput (b):\nLong.", "<no verdict>"),
    (AB, "A) It is fine\nB) It is bad", "<no verdict>"),
    (AB, "1. A\n2. B", "<no verdict>"),
    (AB, "A - good\nB - better", "<no verdict>"),
    (AB, "Verdict: A. Correction: B", "<several verdicts: A, B>"),
    (AB, "Winner: Response B 🏆", "B"),
    (AB, "比较如下。\n答案：B", "B"),
    (AB, "Normally I would choose A. This one is close.", "<no verdict>"),
    # Not "accurate": the label is a heading, and denied.
    (ACCURATE, "accurate: no", "<no verdict>"),
    (ACCURATE, "Accurate: partially. One date is wrong.", "<no verdict>"),
    (ACCURATE, "accurate: nothing contradicts the source", "accurate"),
    (YES_NO, "No: it is false.", "NO"),
    (FIVE, "Score (1-5): 4", "4"),
    (FIVE, "Rating: 4 - the text flows.", "4"),
    (FIVE, "4, because it flows", "4"),
    (FIVE, "4. The text flows.", "4"),
    (FIVE, "1. The text is fine.\n2. It is long.", "<no verdict>"),
    (FIVE, "The coherence score of this text is 4.", "4"),
    (FIVE, "Coherence: 4\nThe text flows well.", "4"),
    (FIVE, "Clarity: 3\nStyle: 4\nOverall score: 5", "5"),
    (FIVE, "Clarity: 3\nStyle: 4", "<several verdicts: 3, 4>"),
    (FIVE, "Score: 4\nScore: 3", "<several verdicts: 3, 4>"),
    (FIVE, "Score: 7", "<out of range: 7>"),
    # A form or a labelled line that ends a reply decides against numbers in sentences,
    (FIVE, "The answer is 0, not 3. It is wrong.\n\nRating: [[2]]", "2"),
    (FIVE, "The value 34/36 is right.\n\nRating: [[3]]", "3"),
    (FIVE, "The answer is 3. Rating: [[2]]", "2"),
    (FIVE, "The final answer is 12, so the answer is right. [[5]].", "5"),
    (FIVE, "The answer is 3.\n\n**Rating:** 2", "2"),
    (FIVE, "The answer is 3.\n<rating>4</rating>", "4"),
    (FIVE, r"The score is 3 to 1. \boxed{2}", "2"),
    # and not against other forms and lines, nor where sentences follow it.
    (FIVE, "Rating: 3\n\n[[2]]", "<several verdicts: 2, 3>"),
    (FIVE, "Rating: [[2]]\nRating: [[3]]", "<several verdicts: 2, 3>"),
    (FIVE, "5\nScore: 4", "<several verdicts: 4, 5>"),
    (FIVE, "Rating: [[2]]\n\nThe answer is 3.", "<several verdicts: 2, 3>"),
    (FIVE, "I would not give it a 4.", "<no verdict>"),
    (FIVE, "There are 3 issues with the text.", "<no verdict>"),
    (FIVE, "3 of the 5 sentences are linked.", "<no verdict>"),
    (YES_NO, "No, the statement is not supported because it is false.", "NO"),
    (YES_NO, "Yes. The source says so.", "YES"),
    (YES_NO, "**No.** The statement adds a date.", "NO"),
    (YES_NO, "Answer (YES or NO): NO", "NO"),
    (YES_NO, "Does it name the town? Yes. The year? No. So the answer is NO.", "NO"),
    (YES_NO, "Does it name the town? Yes. The year is not clear.", "<no verdict>"),
    (YES_NO, "No, wait. Yes.", "<several verdicts: NO, YES>"),
    (YES_NO, "No doubt the statement is supported.", "<no verdict>"),
    (YES_NO, "No evidence contradicts it.", "<no verdict>"),
    (YES_NO, "No. 5 is missing.", "<no verdict>"),
    (YES_NO, "There is no evidence for it.", "<no verdict>"),
    (YES_NO, "isn't YES", "<no verdict>"),
    (YES_NO, "Please answer YES or NO.", "<no verdict>"),
)
def test_marked_verdicts_and_openings(space: DecisionSpace, text: str, expected: str) -> None:
    assert said(text, space) == expected


# -- step 3: prose -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("space", "text", "expected"),
    [
        # The first number of a calculation is not its result, and the result was not asked for.
        (FIVE, "Score: 5 - 1 = 4", "<several verdicts: 4, 5>"),
        (FIVE, "**Final score: 5 - 2 = 3**", "<several verdicts: 3, 5>"),
        (FIVE, "[[5 - 1 = 4]]", "<several verdicts: 4, 5>"),
        (FIVE, '{"score": "5 − 1 = 4"}', "<several verdicts: 4, 5>"),
        (FIVE, "Score: 5 - 7 = -2", "<several verdicts: -2, 5>"),
        (FIVE, "Score: 4 - 0 = 4", "4"),
        (FIVE, "Score: 4 - it has = signs", "4"),
        # A verdict that is taken back.
        (FIVE, "Score: 4 → 3", "<several verdicts: 3, 4>"),
        (FIVE, "Score → 3", "3"),
        (FIVE, "Score: 4. On second thought, 3", "<several verdicts: 3, 4>"),
        (YES_NO, "Verdict: YES → NO", "<several verdicts: NO, YES>"),
        (YES_NO, "Verdict: NO, sorry, YES", "<several verdicts: NO, YES>"),
        (YES_NO, "Verdict: NO, sorry to say.", "NO"),
        (YES_NO, "Yes. Actually, no.", "<several verdicts: NO, YES>"),
        (YES_NO, "Yes. Actually, no evidence contradicts it.", "YES"),
        (YES_NO, "Yes, actually yes.", "YES"),
        (AB, "Verdict: A, or rather B", "<several verdicts: A, B>"),
        (AB, "A. Actually, B.", "<several verdicts: A, B>"),
    ],
)
def test_a_value_that_is_calculated_with_or_taken_back_is_no_verdict(
    space: DecisionSpace, text: str, expected: str
) -> None:
    assert said(text, space) == expected


@table(
    (OUTPUTS, "Output (a) is better than Output (b)", "A"),
    (OUTPUTS, "Both are fine. Therefore, considering all of it, Output (b) is better.", "B"),
    (OUTPUTS, "Output (a) is a better summary of the given text.", "A"),
    (AB, "Of course B is better.", "B"),
    (OUTPUTS, "While Output (a) is better in style, Output (b) is better overall.", "B"),
    (AB, "Assistant A's response is better because it is short.", "A"),
    (AB, "THE BETTER RESPONSE IS A.", "A"),
    (ACCURATE, "The statement is inaccurate.", "inaccurate"),
    (ACCURATE, "accurate, not inaccurate", "accurate"),
    (ACCURATE, "The text is long. Therefore the whole is inaccurate.", "inaccurate"),
    (YES_NO, "The statement is YES.", "YES"),
    (FIVE, "The coherence of the text is 4. The sentences follow each other.", "4"),
    (AB, "After reading both, I have determined that B is better. It is short.", "B"),
    (SUPPORT, "The claim is not supported by the source. Verdict: not supported", "not supported"),
    (DEBATE, "The winner of this debate is CON.", "CON"),
    (CHOICE, "The correct answer is C.", "C"),
)
def test_statements_in_prose(space: DecisionSpace, text: str, expected: str) -> None:
    assert said(text, space) == expected


# The prompt's own forms, said again: found among replies of small models.
@table(
    (OUTPUTS, "Output (a): Output (b)", "<no verdict>"),
    (OUTPUTS, "Output (a):\nOutput (b)", "<several verdicts: A, B>"),
    (OUTPUTS, "Output (a):\nIt is short.\nOutput (b)", "B"),
    (OUTPUTS, "{a} is better, Output (b).", "<no verdict>"),
    (OUTPUTS, "{b}\n\nThis is the label.", "<no verdict>"),
    (AB, "{B}", "B"),
    (AB, "\\boxed{a}", "A"),
    (AB, 'Write "Verdict: B" or "Verdict: A".', "<no verdict>"),
    (AB, '"Verdict: B" or "Verdict: A"\nVerdict: A', "A"),
    (AB, "One of the two options is: A\n\nThey are short.", "<no verdict>"),
    (AB, "A\n<response_b>", "<several verdicts: A, B>"),
    (FIVE, "1. The text is coherent. 2. It is short.", "<no verdict>"),
    (FIVE, "1.\nThe text is incoherent.", "1"),
)
def test_what_only_repeats_the_prompt_states_nothing(
    space: DecisionSpace, text: str, expected: str
) -> None:
    assert said(text, space) == expected


@table(
    *(
        (FREE, text, "<no verdict>")
        for text in ("Ranking: 1. B 2. A", "1. B 2. A", "Best first: 1. B, 2. A")
    ),
    (FREE, "1. B is short. 2. A is long. B", "B"),
    (FREE, "I give A a 1 and B a 2. B", "B"),
)
def test_the_last_item_of_a_list_in_a_line_is_no_verdict(
    space: DecisionSpace, text: str, expected: str
) -> None:
    assert said(text, space) == expected


@table(
    (MODELS, "Winner: model_a", "A"),
    (MODELS, "model_b is better than model_a.", "B"),
    (MODELS, "**MODEL_B**", "B"),
    (MODELS, "<model_a> is better", "<no verdict>"),
    (FREE, "Winner: model_a", "<no verdict>"),
)
def test_a_candidate_may_be_called_as_blocks_of_prompts_are(
    space: DecisionSpace, text: str, expected: str
) -> None:
    assert said(text, space) == expected


# "-2" under a mark was read as 2, which turns the judgment around.
@table(
    *(
        (space, text, expected)
        for text in (
            "-2",
            "Score: -2",
            "Score:-2",
            "**Score:** -2",
            "Rating: \N{MINUS SIGN}2",
            "Final score = -2",
        )
        for space, expected in ((SIGNED, "-2"), (FIVE, "<out of range: -2>"))
        if (space, text) != (FIVE, "Score:-2")
    ),
    (SIGNED, "Score\n-2", "-2"),
    (SIGNED, "The score is -2", "-2"),
    (SIGNED, "Score: -2 - it is poor", "-2"),
    (SIGNED, "Score: 2 - it is good", "2"),
    *((SIGNED, text, "<no verdict>") for text in ("- 2", "Score - 2", "Score: - 2", "Score:\n- 2")),
    *((SIGNED, text, "2") for text in ("+2", "Score: +2", "**+2**")),
    (SIGNED, "Score: -2 (on a scale of -2 to +2)", "-2"),
    (SIGNED, "Score: 2 (on a scale of -5 to 5)", "<out of range: 2 on a scale of -5 to 5>"),
    (FIVE, "+2", "<no verdict>"),
    (FIVE, "Score - 2", "2"),
    (FIVE, "Score:\n- 2", "2"),
    (FIVE, "Score:-2", "2"),
    (FIVE, "Score:- 2", "2"),
)
def test_a_sign_belongs_to_its_number_and_a_dash_does_not(
    space: DecisionSpace, text: str, expected: str
) -> None:
    assert said(text, space) == expected


@table(
    *(
        (FIVE, text, "<no verdict>")
        for text in (
            ">3",
            ">= 3",
            "Score: >3",
            "Score: <3",
            "Score: > 3",
            "Score: \u22653",
            "Score: ~3",
        )
    ),
    *((FIVE, text, "3") for text in ("<3>", "Score: <3>", "Score => 3", "=> 3", "Score:\n> 3")),
    *(
        (FIVE, text, "<several verdicts: 3, 4>")
        for text in ("3 - 4", "Score: 3 - 4", "Rating: 3-4", "Score: 3 to 4 because")
    ),
    (FIVE, "Score: 4 - 1 point deducted", "4"),
    *((FIVE, f"{most} score: 5", "<no verdict>") for most in ("Maximum", "Min", "Highest")),
    (FIVE, "Maximum score: 5. Score: 3", "3"),
    *(
        (FIVE, text, "<no verdict>")
        for text in (
            "The maximum score is 5.",
            "The highest possible rating is 5",
            "The min score was 1",
        )
    ),
    (FIVE, "The maximum score is 5. My score is 3.", "3"),
    (FIVE, "The score is 5, the maximum.", "5"),
)
def test_bounds_ranges_and_extremes_are_no_score(
    space: DecisionSpace, text: str, expected: str
) -> None:
    assert said(text, space) == expected


@table(
    (FIVE, "Score: 4 (on a scale of 1-10)", "<out of range: 4 on a scale of 1-10>"),
    (FIVE, "Score: 4 on a scale of 1 to 10.", "<out of range: 4 on a scale of 1 to 10>"),
    (FIVE, "4 (out of 10)", "<out of range: 4 out of 10>"),
    (FIVE, "Score: 4 (on a 10-point scale)", "<out of range: 4 on a 10-point scale>"),
    (FIVE, "Rating: 4 (1-10 scale)", "<out of range: 4 1-10 scale>"),
    (FIVE, "Score: 4 on a scale of 1-5", "4"),
    (FIVE, "4 (on a 5-point scale)", "4"),
    (FIVE, "Score: 4 (out of 5)", "4"),
    (FIVE, "Score: 4 (2 of 5 claims are wrong)", "4"),
)
def test_a_number_on_another_scale_is_out_of_range(
    space: DecisionSpace, text: str, expected: str
) -> None:
    assert said(text, space) == expected


@table(
    (YES_NO, "The text is true. The date isn't in it, so no.", "NO"),
    (
        YES_NO,
        "Yes, the text says so. However the date isn't in it, so no.",
        "<several verdicts: NO, YES>",
    ),
    (YES_NO, "If the date is wrong, so no.", "<no verdict>"),
    (YES_NO, "It is true. Therefore, yes.", "YES"),
)
def test_the_last_sentence_may_end_in_the_verdict(
    space: DecisionSpace, text: str, expected: str
) -> None:
    assert said(text, space) == expected


@table(
    *(
        (HALVES, text, "0.5")
        for text in ("0.5", "0.50", "Score: 0.5", "0.5/1.0", "0.5/1", "[[0.5]]")
    ),
    *((HALVES, text, "1.0") for text in ("1", "Score: 1", '{"score": 1}', "1.0 out of 1")),
    (HALVES, "Score: 0.55", "<not a label: 0.55>"),
    (HALVES, "Score: -0.5", "<out of range: -0.5>"),
    (HALVES, "Score: 10.5", "<out of range: 10.5>"),
    (HALVES, "Score: 1.0 (on a scale of 0-10)", "<out of range: 1.0 on a scale of 0-10>"),
    (HALVES, "Score: 1.0 (on a scale of 0.0 to 1.0)", "1.0"),
    *((space, "Score: .5", "<no verdict>") for space in (HALVES, FIVE)),
    (HUNDRED, "85%", "85"),
    (HUNDRED, "Score: 85%", "85"),
    (HUNDRED, "Confidence: 85%", "<no verdict>"),
    (HUNDRED, "8.5/10", "<out of range: 8.5/10>"),
    (FIVE, "4%", "<no verdict>"),
)
def test_labels_that_are_numbers_count_by_their_value(
    space: DecisionSpace, text: str, expected: str
) -> None:
    assert said(text, space) == expected


@table(
    (GRADED, "The passage is somewhat relevant.", "somewhat relevant"),
    (GRADED, "The passage is clearly relevant.", "relevant"),
    (GRADED, "The passage is not relevant.", "not relevant"),
)
def test_an_adverb_may_belong_to_the_label(space: DecisionSpace, text: str, expected: str) -> None:
    assert said(text, space) == expected


# Prose that is read no more: the recorded replies do without (docs/replies.md says the figures).
@table(
    (AB, "I prefer B to A.", "<several verdicts: A, B>"),
    (AB, "I'd go with A.", "<no verdict>"),
    (AB, "B is worse than A", "<no verdict>"),
    (AB, "Verdict: A is worse", "<no verdict>"),
    (AB, "A is the worse response.", "<no verdict>"),
    (AB, "A is not as good as B", "<no verdict>"),
    (AB, "B outperforms A.", "<no verdict>"),
    (AB, "A clearly wins.", "<no verdict>"),
    (OUTPUTS, "Output (b), on the other hand, is better.", "<no verdict>"),
    (OUTPUTS, "This makes Output (b) the better choice.", "<no verdict>"),
    (OUTPUTS, "Output (a) better executes the instruction.", "<no verdict>"),
    (OUTPUTS, "Therefore, Output (b) is the more suitable response.", "<no verdict>"),
    (OUTPUTS, "Output (b) is the more complete one. It is better.", "<no verdict>"),
    (YES_NO, "I would say yes, because the source mentions it.", "<no verdict>"),
    (YES_NO, "Is the statement supported? No.", "<no verdict>"),
    (FREE, "A and B are equally good.", "<no verdict>"),
    (FREE, "Both responses are equally good.", "<no verdict>"),
    (FREE, "Neither Response A nor Response B is better.", "<no verdict>"),
    (FREE, "There is no clear winner.", "<no verdict>"),
    (SUPPORT, "Is supported. Is not supported.", "<no verdict>"),
    (
        ACCURATE,
        "The first part is accurate. Therefore the whole is inaccurate.",
        "<several verdicts: accurate, inaccurate>",
    ),
    (YES_NO, "NO YES", "<no verdict>"),
)
def test_prose_that_is_read_no_more(space: DecisionSpace, text: str, expected: str) -> None:
    assert said(text, space) == expected


# A judge that repeats its prompt says nothing: the names of its blocks are labels only alone.
@table(
    (AB, "<response_b>", "B"),
    (AB, "response_a", "A"),
    (AB, "<response_a> A <response_b> B", "<no verdict>"),
    (AB, "<response_a>\nA\n</response_a>\n<response_b>\nB\n</response_b>", "<no verdict>"),
    (AB, "<response_b>\nWith pleasure. Fill the kettle.", "<no verdict>"),
    (AB, "The better response is:\n**response_b**\nWith pleasure.", "<no verdict>"),
    (AB, "Decision: response_a", "<no verdict>"),
    (AB, "A: A", "<no verdict>"),
    (AB, "A: A\n\nA: A\n\nB: B", "<no verdict>"),
    (AB, "A. B\n\nYou decide.", "<several verdicts: A, B>"),
    (FREE, "Decide which is better. Choose tie if neither is better.", "<no verdict>"),
)
def test_an_echo_of_the_prompt_is_no_verdict(
    space: DecisionSpace, text: str, expected: str
) -> None:
    assert said(text, space) == expected


# Negations, conditions, questions, aspects, the article, and words that contain a label.
@table(
    (AB, "not A", "<no verdict>"),
    (AB, "A is not better than B", "<no verdict>"),
    (AB, "A isn't better than B.", "<no verdict>"),
    (AB, "I don't think A is better than B.", "<no verdict>"),
    (AB, "It is not true that A is better.", "<no verdict>"),
    (AB, "I choose neither A nor B.", "<no verdict>"),
    (AB, "If A were better, I would say so.", "<no verdict>"),
    (AB, "Whether A is better is hard to say.", "<no verdict>"),
    (AB, "Which is better: A or B?", "<no verdict>"),
    (AB, "A and B is better.", "<no verdict>"),
    (AB, "A is better in grammar, but B is more complete.", "<no verdict>"),
    (AB, "A good response would be longer.", "<no verdict>"),
    (AB, "A better response would mention it.", "<no verdict>"),
    (AB, "A BETTER ANSWER WOULD BE LONGER", "<no verdict>"),
    (AB, "a response", "<no verdict>"),
    (AB, "Response a user gave is better.", "<no verdict>"),
    (AB, "Answer: A good answer would be B", "<no verdict>"),
    (AB, "Vitamin A is better than vitamin B.", "<no verdict>"),
    (ACCURATE, "not accurate", "<no verdict>"),
    (ACCURATE, "The claim is hardly accurate.", "<no verdict>"),
    (ACCURATE, "It is neither accurate nor inaccurate.", "<no verdict>"),
    (SUPPORT, "The claim is partially supported by the source.", "<no verdict>"),
    (DEBATE, "The pro of this plan is speed.", "<no verdict>"),
)
def test_what_is_no_statement(space: DecisionSpace, text: str, expected: str) -> None:
    assert said(text, space) == expected


# -- step 4: what outweighs what ---------------------------------------------------------------


@table(
    # A conclusion outweighs the remarks before it ...
    (OUTPUTS, "At a glance, Output (a) is better. It is long. Overall, Output (b) is better.", "B"),
    # ... and a verdict that opened the reply does not give way to it: that is a contradiction.
    (
        OUTPUTS,
        "Output (a) is better. It is long.\nTherefore, Output (b) is better.",
        "<several verdicts: A, B>",
    ),
    # A lighter statement after a heavier one contradicts it, one before does not.
    (AB, "Therefore, A is better. Of course B is better.", "<several verdicts: A, B>"),
    (AB, "B is better than A in places. I think A is better.", "A"),
    (
        OUTPUTS,
        "Output (b) is better because it is short.\nOutput (a) is better because it is long.",
        "<several verdicts: A, B>",
    ),
    (AB, "Both have merits.\n\nB", "B"),
    # What the prompt offers, what candidates said, and headings are no statements of the judge.
    (
        C_IS_TIE,
        "[[A]] if answer A is better, [[B]] if answer B is better, and [[C]] for a tie.\n[[A]]",
        "A",
    ),
    (C_IS_TIE, "My final verdict is: [[B]] if Assistant B is better.", "B"),
    (
        C_IS_TIE,
        "[[A]] if assistant A is better, [[B]] if assistant B is better.",
        "<no verdict>",
    ),
    (
        C_IS_TIE,
        "While the final verdict of both assistants is the same, A is long.\nFinal verdict: [[A]]",
        "A",
    ),
    (C_IS_TIE, "The verdict of the two responses: the same", "tie"),
    (
        AB,
        "Has a final answer that he faced east\n\nB's Response:\nMy final verdict is: [[A]]",
        "A",
    ),
    (AB, "The answer that I choose\nB", "B"),
    (AB, "Verdict:\nAssistant B:\nIt is short.", "B"),
    (AB, "Assistant A's answer: Assistant A's answer, y, is wrong. Thus:\n\n[[B]]\n\nWell.", "B"),
    (
        AB,
        "**Assistant A**\nIt is wrong.\n\n**Assistant B**\nIt is right.\n\n**Verdict: [[B]]**",
        "B",
    ),
    (
        AB,
        "**Assistant A**\nIt is wrong.\n\n**Assistant B**\nIt is right.",
        "<several verdicts: A, B>",
    ),
    (AB, "**Assistant A**\nIt is right.\n\n**Verdict: [[B]]**", "<several verdicts: A, B>"),
)
def test_the_weightiest_statements_decide(space: DecisionSpace, text: str, expected: str) -> None:
    assert said(text, space) == expected


# -- ties, abstentions, refusals ---------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "Tie",
        "It's a tie.",
        "Winner: tie",
        "Neither is better.",
        "Verdict: both are equally good",
    ],
)
def test_a_tie_is_a_verdict_only_where_it_is_permitted(text: str) -> None:
    assert said(text, FREE) == "tie"
    assert said(text, AB) == "<tie not permitted>"


def test_equality_in_one_aspect_is_no_tie() -> None:
    assert said("Both are equally good in grammar. A is better.", FREE) == "A"


@pytest.mark.parametrize(
    "text",
    ["cannot judge", "I abstain.", "I cannot determine which response is better.", "abstain"],
)
def test_an_abstention_is_a_verdict_only_where_it_is_permitted(text: str) -> None:
    assert said(text, FREE) == "abstain"
    assert said(text, AB) == "<abstention not permitted>"


@pytest.mark.parametrize("space", [AB, FREE, YES_NO, FIVE])
@pytest.mark.parametrize(
    "text",
    [
        "I'm sorry, I can't help with that.",
        "I’m sorry, but I can’t assist with that request.",
        "As an AI, I have no preferences.",
        "I must decline.",
    ],
)
def test_a_refusal_is_no_abstention(text: str, space: DecisionSpace) -> None:
    assert said(text, space) == "<refusal>"


def test_an_apology_before_a_verdict_is_no_refusal() -> None:
    assert said("As an AI, I have no taste, but A is better.", AB) == "A"


# -- replies that were cut off -----------------------------------------------------------------


@table(
    (AB, "A", "A"),  # a budget of one token
    (AB, "Answer: A", "A"),
    (OUTPUTS, "Output (a) is better. It is the shor", "A"),
    (OUTPUTS, "I believe Output (a) is better. Therefore, Output (", "A"),
    (FIVE, '{"score": 4, "reason": "the tex', "4"),
    (FIVE, '{"score": 4', CUT),  # or 40, or 4.5
    (TEN, "1", CUT),  # or 10
    (TEN, "1.", "1"),
    (SUPPORT, "not", CUT),
    (AB, "I have compared the two in every respect that counts: [[A]]", "A"),
    (YES_NO, "The statement is NO", CUT),  # "... longer true"
    (FIVE, "Coherence: 4", CUT),
    # The next word may have been "is worse".
    (OUTPUTS, "Both outputs are short and clear. Therefore, Output (a)", CUT),
    (AB, "Both of the responses are short and clear.\n\nA", CUT),
    # A block or a heading that something was to stand under, and the number of an item.
    (AB, "<response_a>", CUT),
    (AB, "<response_b", CUT),
    (OUTPUTS, "Output (a):", CUT),
    (FIVE, "1. The text", CUT),
    (FIVE, "1. **Coherence", CUT),
    (FIVE, "4. The text is coherent, and", CUT),
    (FIVE, "4.\nThe text is coherent, and", "4"),
    # A remark in the middle of the reasoning is not yet the verdict.
    (OUTPUTS, "Both are fine. Output (a) is better than Output (b). Still, the", CUT),
    (YES_NO, "The source names the town and", CUT),
)
def test_a_reply_cut_by_its_budget(space: DecisionSpace, text: str, expected: str) -> None:
    assert said(text, space, truncated=True) == expected


def test_a_cut_is_seen_without_being_told() -> None:
    text = "Output (b) has a clear and engaging title that conveys the focus of the post and its"
    assert said(text, OUTPUTS) == CUT
    assert said(text + " aim.", OUTPUTS) == "<no verdict>"


# -- any text at all ---------------------------------------------------------------------------

FRAGMENTS = st.sampled_from(
    [*"AB15.,:;!?()[]{}<>\"'*_`#-=/\\ \n", "YES", "NO", "Output (a)", "Output (b)", "[[", "]]",
     "<think>", "</think>", "\\boxed{", '{"verdict": "', '"}', "better", " is ", " than ", " or ",
     "not ", "Therefore, ", "Answer: ", "Score", "tie", "accurate", "in", "４", "’", "\ue000",
     "\uf8f1", "\u0301", "\u200b", "7", "4.5", "/5", " out of ", "I cannot judge", "sorry"]
)  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(
    text=st.one_of(st.text(max_size=80), st.lists(FRAGMENTS, max_size=25).map("".join)),
    space=st.sampled_from(SPACES),
    truncated=st.booleans(),
)
def test_any_text_gives_a_permitted_verdict_or_a_listed_reason(
    text: str, space: DecisionSpace, truncated: bool
) -> None:
    said(text, space, truncated=truncated)  # asserts both


SWAP = str.maketrans("AB", "BA")


@settings(max_examples=200, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [
                "Response A",
                "Response B",
                "[[A]]",
                "[[B]]",
                " is better",
                " is worse",
                " than ",
                " over ",
                " > ",
                ". ",
                "\n",
                " not ",
                "Therefore, ",
                "I prefer ",
                "Answer: ",
                " and ",
                "because it is short",
                "; ",
            ]
        ),
        max_size=14,
    ).map("".join)
)
def test_exchanging_the_slots_exchanges_the_verdict(text: str) -> None:
    # A parser that favoured a slot would be measured as a side bias of the judge. "Answer" begins
    # with an A, so the label is exchanged by its whole word.
    exchanged = re.sub(r"\b[AB]\b", lambda found: found[0].translate(SWAP), text)
    outcome = said(text, FREE)
    assert said(exchanged, FREE) == {"A": "B", "B": "A"}.get(outcome, outcome)


MEGABYTE = 1_000_000
HOSTILE = {
    "braces": "{" * MEGABYTE,
    "nested objects": '{"a":' * (MEGABYTE // 5),
    "broken objects": '{"a": b ' * (MEGABYTE // 8),
    "objects": '{"verdict": "A"} ' * (MEGABYTE // 17),
    "brackets": "[" * MEGABYTE,
    "open brackets and labels": "[[A" * (MEGABYTE // 3),
    "labels": "A " * (MEGABYTE // 2),
    "articles": "a " * (MEGABYTE // 2),
    "statements": "A is better. " * (MEGABYTE // 13),
    "one long sentence": "therefore A is better than B because " * (MEGABYTE // 37),
    "pronouns": "Output A, it is better " * (MEGABYTE // 23),
    "comparisons": "A>B " * (MEGABYTE // 4),
    "marks": "answer " * (MEGABYTE // 7),
    "colons": "answer:" + ":" * MEGABYTE,
    "blanks": "A" + " " * MEGABYTE + "x",
    "line ends": "A" + "\n" * MEGABYTE + "x",
    "underscores": "a" + "_" * MEGABYTE + "b",
    "digits": "7" * MEGABYTE,
    "numbers": " ".join(map(str, range(MEGABYTE // 7))),
    "thinking": "<think>" * (MEGABYTE // 7),
    "tags": "<verdict>" * (MEGABYTE // 9),
    "combining marks": "a" + "\u0316\u0301" * (MEGABYTE // 2),
    "long ligatures": "\ufdfa" * MEGABYTE,  # 18 characters each in NFKC
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_megabyte_takes_no_more_than_seconds(text: str) -> None:
    # Quadratic work on 10^6 characters is 10^12 steps, days of it; linear work takes about one
    # second here. Processor time, so that a busy machine fails nothing.
    started = time.process_time()
    for space in (FREE, FIVE):
        said(text, space)
    assert time.process_time() - started < 10


def test_the_ends_of_a_very_long_reply_are_read() -> None:
    filler = "The text is a text. " * 20_000
    assert said(f"{filler}\n\nVerdict: B", AB) == "B"
    assert said(f"Verdict: A\n\n{filler}\n\nVerdict: B", AB) == "<several verdicts: A, B>"
    assert said("B" + "\n" * MEGABYTE, AB) == "B"


def test_labels_of_more_digits_than_a_number_has_are_words() -> None:
    space = DecisionSpace(("1", "9" * 5_000))  # Python reads no number of more than 4,300
    assert parse_reply("Verdict: 1", space) == Verdict("1")
