"""Which column holds what the judge said, in tables that say it, mislead, or do not say it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.questions.import_.tables import FOUR, asked, maps_of, options_of, shown_of, values_of

SAID = ("yes", "no", "no", "yes")
OTHER = ("no", "no", "yes", "yes")
TEXTS = tuple(f"This is the text of {number}." for number in FOUR)


@pytest.mark.parametrize(
    ("columns", "verdict", "label"),
    [
        ({"said": SAID, "gold": OTHER}, "said", "gold"),
        # A label beside a person's is the judge's.
        ({"label": SAID, "human": OTHER}, "label", "human"),
        ({"verdict": SAID, "label": OTHER}, "verdict", "label"),
        # Both are scores; one is a person's.
        ({"score": (1, 2, 3, 5), "human_score": (1, 3, 3, 4)}, "score", "human_score"),
        ({"score": ("1", "2", "3", "5"), "expertRating": (1, 3, 3, 4)}, "score", "expertRating"),
        ({"prediction": SAID, "y_true": OTHER}, "prediction", "y_true"),
        ({"llm.verdict": SAID, "human.verdict": OTHER}, "llm.verdict", "human.verdict"),
        # An answer that is a text is what was judged.
        ({"answer": TEXTS, "rating": (3, 4, 5, 1), "gold": (3, 4, 4, 1)}, "rating", "gold"),
        # An answer beside the right ones is what the judge said.
        ({"answer": SAID, "correct_answer": OTHER}, "answer", "correct_answer"),
    ],
)
def test_a_verdict_and_a_label_are_told_by_names_and_contents(
    columns: dict[str, tuple[object, ...]], verdict: str, label: str
) -> None:
    proposal = shown_of({"id": FOUR, **columns})
    maps = maps_of(proposal)
    assert (maps.get("verdict"), maps.get("label"), asked(proposal)) == (verdict, label, [])
    assert proposal.no_judge == ""


def test_a_verdict_says_what_it_is_taken_for() -> None:
    whys = {
        shown.setting.value: shown.why
        for rows in ({"label": SAID, "human": OTHER}, {"score": (0.5, 1, 0, 1), "gold": FOUR})
        for shown in shown_of({"id": FOUR, **rows}).taken
    }
    assert whys["verdict", "label"] == "2 values: yes, no; people's is human"
    assert whys["verdict", "score"] == "score 0 to 1"
    assert whys["label", "gold"] == "grades 1 to 4"


@pytest.mark.parametrize(
    ("columns", "question"),
    [
        # Two are as good.
        ({"score": (1, 2, 3, 4), "rating": (1, 2, 4, 4)}, "what the judge said: score, rating?"),
        # A name in another language is asked for, not guessed.
        ({"urteil": SAID, "gold": OTHER}, "who said what stands in column urteil"),
        ({"note": (1, 2, 3, 2), "avis": (2, 2, 3, 1)}, "what the judge said: note, avis?"),
        ({"answer": SAID}, "who said what stands in column answer"),
    ],
)
def test_what_two_columns_or_persons_could_be_is_asked(
    columns: dict[str, tuple[object, ...]], question: str
) -> None:
    proposal = shown_of({"id": FOUR, **columns})
    assert [question in asks for asks in asked(proposal)] == [True]
    assert "verdict" not in maps_of(proposal)


def test_a_question_has_a_row_in_which_its_readings_differ() -> None:
    (question,) = shown_of({"id": FOUR, "score": (1, 2, 3, 4), "rating": (1, 2, 4, 4)}).questions
    assert question.example.value == {"id": "3", "score": 3, "rating": 4}
    assert [reading.meaning for reading in question.readings] == ["it said 3", "it said 4"]
    settings = [reading.settings for reading in question.readings]
    assert settings == [(("map", ("verdict", column)),) for column in ("score", "rating")]


@pytest.mark.parametrize(
    ("columns", "why"),
    [
        ({"question": TEXTS, "gold": SAID}, "no column holds what a judge said; gold holds"),
        ({"question": TEXTS, "label": SAID}, "no column holds what a judge said; label holds"),
        ({"question": TEXTS}, "no column holds what a judge or a person said"),
        # A category is no verdict, whatever its words.
        ({"gold": SAID, "category": ("A", "B", "A", "B")}, "no column holds what a judge said"),
    ],
)
def test_where_no_judge_speaks_it_is_said(columns: dict[str, tuple[object, ...]], why: str) -> None:
    proposal = shown_of({"id": FOUR, **columns})
    assert why in proposal.no_judge
    assert not proposal.questions


def test_rows_of_what_one_person_said_are_no_judges() -> None:
    rows = {"item": ("1", "1", "2", "2"), "annotator": ("anna", "ben") * 2, "score": (1, 2, 5, 4)}
    assert shown_of(rows).no_judge == "each row is what one person said, score by annotator"


@pytest.mark.parametrize("names", [("anna", "ben") * 2, (1, 2, 1, 2)])
def test_what_people_said_beside_their_names_leaves_the_verdict_to_the_judge(
    names: tuple[object, ...],
) -> None:
    people = [{"label": word, "annotator": name} for word, name in zip(OTHER, names, strict=True)]
    nested = shown_of({"id": FOUR, "verdict": SAID, "human": people})
    assert (nested.no_judge, asked(nested)) == ("", [])
    maps = maps_of(nested)
    assert (maps["verdict"], maps["label"]) == ("verdict", "human.label")
    assert "human.annotator" not in maps.values()
    # Of a rater nothing tells whether it is a person, or a judge.
    flat = {"id": FOUR, "verdict": SAID, "human_label": OTHER}
    assert shown_of({**flat, "annotator": names}).no_judge == ""
    assert "verdict, human_label by rater" in shown_of({**flat, "rater": names}).no_judge


def test_votes_of_people_of_whom_each_row_has_another_are_labels() -> None:
    votes = {"outcomes.D1": ("A", "B", "Tie", "A"), "outcomes.D2": ("B", "B", "Tie", "BothBad")}
    proposal = shown_of({"id": FOUR, "annotator_id": ("a7", "b1", "c3", "d9"), **votes})
    said = "each row is what one person said, outcomes.D1, outcomes.D2 by annotator_id"
    assert proposal.no_judge == said
    assert maps_of(proposal)["label"] == "outcomes.D1"
    assert any("--map label=outcomes.D2" in note for note in proposal.notes)


def test_grades_by_other_criteria_are_offered_all_at_once() -> None:
    # Two grades of 1 to 5; a count from 1 to 5 of something is none.
    grades = {"topic_adherence": (5, 1, 4, 5), "substantive_depth": (1, 5, 5, 4)}
    proposal = shown_of({"id": FOUR, **grades, "n_sources": (5, 1, 2, 3)})
    (question,) = proposal.questions
    settings = [setting.value for setting in question.readings[0].settings]
    assert settings == [(name, name) for name in grades]


def test_replies_that_state_a_verdict_are_read() -> None:
    replies = ("It is so.\nVerdict: YES", "No.\nVerdict: NO", "Verdict: NO", "Verdict: YES")
    proposal = shown_of({"id": FOUR, "judge_output": replies, "human": SAID})
    assert maps_of(proposal)["reply"] == "judge_output"
    assert options_of(proposal, "labels") == [("YES", "NO")] or options_of(proposal, "labels") == [
        ("NO", "YES")
    ]
    assert maps_of(proposal)["label"] == "human"


def test_words_of_a_pair_in_replies_are_renamed_and_a_third_letter_is_asked() -> None:
    steps = ("Fine. [[A>>B]]", "So. [[A=B]]", "Well. [[B>A]]", "Yes. [[A>>B]]")
    proposal = shown_of({"id": FOUR, "r": steps})
    assert values_of(proposal) == {"A>>B": "A", "A=B": "tie", "B>A": "B"}
    letters = ("Fine. [[A]]", "So. [[C]]", "Well. [[B]]", "Yes. [[A]]")
    assert asked(shown_of({"id": FOUR, "r": letters})) == [
        "do replies say by C that two candidates are as good?"
    ]


def test_solutions_that_state_an_answer_are_no_replies_of_a_judge() -> None:
    solved = tuple(f"We add, and see that it is \\boxed{{{number}}}" for number in FOUR)
    assert shown_of({"id": FOUR, "solution": solved, "gold": FOUR}).no_judge


def test_both_orders_may_stand_in_a_row() -> None:
    rows = {"id": FOUR, "verdict_ab": ("A", "B", "A", "A"), "verdict_swapped": ("A", "A", "B", "A")}
    maps = maps_of(shown_of(rows))
    assert (maps["verdict.ab"], maps["verdict.ba"]) == ("verdict_ab", "verdict_swapped")


def test_columns_of_criteria_are_grades_beside_those_of_people() -> None:
    rows = {
        "id": FOUR,
        "clarity": (1, 2, 3, 4),
        "tone": (5, 4, 3, 4),
        "human_clarity": (1, 2, 3, 5),
        "anna_tone_human": (5, 5, 3, 4),
    }
    proposal = shown_of(rows)
    assert options_of(proposal, "grades") == [("clarity", "clarity"), ("tone", "tone")]
    assert options_of(proposal, "people") == [
        ("clarity", "human_clarity"),
        ("tone", "anna_tone_human"),
    ]
    assert "label" not in maps_of(proposal)


def test_the_columns_of_a_joined_file_are_people_of_the_only_criterion() -> None:
    rows = {"id": FOUR, "clarity": (1, 2, 3, 4), "anna": (1, 2, 3, 5), "ben": (5, 5, 3, 4)}
    proposal = shown_of(rows, joined=("anna", "ben"))
    assert options_of(proposal, "people") == [("clarity", "anna+ben")]


def test_a_verdict_in_words_is_read_before_grades() -> None:
    rows = {"id": FOUR, "verdict": SAID, "clarity": (1, 2, 3, 4), "tone": (1, 2, 3, 3)}
    proposal = shown_of(rows)
    assert maps_of(proposal)["verdict"] == "verdict"
    assert options_of(proposal, "grades") == []


def test_fields_of_objects_are_columns() -> None:
    marks = tuple({"clarity": {"score": n, "why": "x"}, "tone": {"score": 5 - n}} for n in (1, 2))
    proposal = shown_of({"id": ("1", "2"), "marks": marks})
    assert options_of(proposal, "grades") == [
        ("clarity", "marks.clarity.score"),
        ("tone", "marks.tone.score"),
    ]


def test_what_the_user_says_is_not_looked_for() -> None:
    rows = {"id": FOUR, "score": (1, 2, 3, 4), "rating": (1, 2, 4, 4)}
    proposal = shown_of(rows, map=(("verdict", "rating"),))
    assert not proposal.questions
    assert maps_of(proposal) == {"item": "id"}


def test_a_verdict_may_be_missing_in_rows() -> None:
    proposal = shown_of({"id": FOUR, "verdict": ("yes", "", None, ...), "gold": SAID})
    assert (maps_of(proposal)["verdict"], asked(proposal)) == ("verdict", [])


def test_a_mean_is_no_verdict_beside_what_it_is_of() -> None:
    rows = {"id": FOUR, "mean_judge_score": (1.5, 1.5, 2, 2), "judge_score": (1, 2, 2, 2)}
    assert maps_of(shown_of(rows))["verdict"] == "judge_score"


def test_points_beside_whether_something_is_met_are_asked_about() -> None:
    rows = {"id": FOUR, "Score": (5, 0, 0, 3), "Criteria Met": (True, False, False, True)}
    (question,) = shown_of(rows).questions
    assert [reading.settings for reading in question.readings] == [
        (("map", ("verdict", name)),) for name in ("Score", "Criteria Met")
    ]
    # Whether a call went well is no verdict.
    assert asked(shown_of({"id": FOUR, "score": (5, 1, 2, 3), "ok": (True,) * 4})) == []


def test_columns_that_are_called_as_those_of_usual_criteria_are_grades() -> None:
    grades = (1, 2, 3, 4)
    names = ("judge_accuracy", "judge_empathy", "judge_policy_adherence")
    proposal = shown_of({"id": FOUR, **dict.fromkeys(names, grades)})
    assert options_of(proposal, "grades") == [(name.removeprefix("judge_"), name) for name in names]
    ratings = tuple({"fluencia": n, "adequacao": n} for n in grades)
    assert options_of(shown_of({"id": FOUR, "ratings": ratings}), "grades") == [
        ("fluencia", "ratings.fluencia"),
        ("adequacao", "ratings.adequacao"),
    ]


@pytest.mark.parametrize("column", ["response", "output", "model_output", "text"])
def test_texts_that_end_as_answers_do_are_no_judge_s_by_that(column: str) -> None:
    """A judged model says yes or no as well; who wrote them is asked. A form that judges are asked
    for tells it.
    """
    said = [
        f"The sun shines on {n}.\nThe answer is {word}" for n, word in zip(FOUR, SAID, strict=True)
    ]
    assert asked(shown_of({"id": FOUR, column: [f"Well.\n{word}" for word in SAID]})) == [
        f"who wrote column {column}: a judge? the last line in 4 of 4 replies: no, yes"
    ]
    assert shown_of({"id": FOUR, "model_output": said}).no_judge != ""
    rated = [f"It is fine {n}.\nRating: [[{n}]]" for n in FOUR]
    assert maps_of(shown_of({"id": FOUR, column: rated}))["reply"] == column


def test_replies_of_which_few_state_a_verdict_are_asked_about() -> None:
    # Four of ten state a grade, so no form is that of most.
    replies = [f"Score: {n}" for n in FOUR] + ["I cannot say anything about this text."] * 6
    rows = {"id": range(10), "reply": replies}
    (question,) = shown_of(rows, map=(("reply", "reply"),)).questions
    assert [reading.settings for reading in question.readings] == [
        (("labels", FOUR),),
        (("map", ("reply", "")),),
    ]
    none = shown_of({"id": FOUR, "reply": ["Nothing to be said of it."] * 4}, map=(("reply",) * 2,))
    assert "name these: --labels A,B,tie" in none.no_judge


@pytest.mark.parametrize(
    ("columns", "verdict"),
    [
        # What was extracted stands beside what was said of it.
        (
            {"judge_response.correct_answer": range(4), "judge_response.correct": SAID},
            "judge_response.correct",
        ),
        # A name is no verdict, whatever word it has.
        ({"pred_model_id": ("m",) * 4, "score": (1, 2, 3, 4)}, "score"),
        ({"chosen_model": ("x", "y", "x", "y"), "result": SAID}, "result"),
        ({"winner_model": ("x", "y", "x", "y")}, "winner_model"),
        # An object that holds what was said is no criterion.
        ({"evaluation.score": (1, 2, 3, 4)}, "evaluation.score"),
    ],
)
def test_what_is_beside_a_verdict_is_none(columns: dict[str, Any], verdict: str) -> None:
    proposal = shown_of({"id": FOUR, **columns})
    assert maps_of(proposal)["verdict"] == verdict
    assert not any(name.startswith(("people.", "label")) for name in maps_of(proposal))


def test_what_a_judge_wrote_does_not_name_it() -> None:
    rows = {"id": FOUR, "judge_score": FOUR, "judge_response": [f"Score: [[{n}]]" for n in FOUR]}
    assert maps_of(shown_of(rows)) == {
        "verdict": "judge_score", "item": "id", "reply": "judge_response",
    }  # fmt: skip
    rows = {"id": FOUR, "judgments.score": FOUR, "judgments.judge": ("x", "y", "x", "y")}
    assert maps_of(shown_of(rows))["judge"] == "judgments.judge"


def test_a_word_of_a_failed_call_states_no_verdict() -> None:
    said = {"id": FOUR, "verdict": ("Yes", "No", "failed!", "Yes")}
    assert values_of(shown_of(said)) == {"failed!": ""}
    assert values_of(shown_of({"id": FOUR, "verdict": ("passed", "failed", "x", "passed")})) == {}


def test_counts_and_shares_are_no_verdicts_beside_that_of_most_runs() -> None:
    rows = {"id": FOUR, "n_correct": range(4), "p_correct": (0, 0.5, 0.25, 1)}
    assert maps_of(shown_of({**rows, "majority_verdict": SAID}))["verdict"] == "majority_verdict"


def test_what_is_said_of_each_candidate_compares_none() -> None:
    rows = {"id": FOUR, "judgment_left": SAID, "judgment_right": OTHER, "preferred": ("A", "B") * 2}
    assert maps_of(shown_of(rows))["verdict"] == "preferred"


def test_rows_of_a_judge_that_is_named_are_no_person_s() -> None:
    rows = {"id": ("1", "1", "2", "2"), "judge": ("x", "y") * 2, "verdict": FOUR}
    maps = maps_of(shown_of({**rows, "person": (5, 5, 2, 2)}))
    assert (maps["verdict"], maps["label"]) == ("verdict", "person")


@pytest.mark.parametrize(
    "columns",
    [
        {"label": SAID, "annotator": ("gpt4_check",) * 4},
        {"annotation": (1, 0, 1, None), "raw_completion": TEXTS},
        {"label": SAID, "judge": ("m", "n", "m", "n")},
    ],
)
def test_a_label_beside_a_judge_or_its_reply_is_its_verdict(columns: dict[str, Any]) -> None:
    proposal = shown_of({"id": FOUR, **columns})
    assert (maps_of(proposal)["verdict"], proposal.no_judge) == (next(iter(columns)), "")


def test_a_label_beside_reasons_alone_is_asked_about() -> None:
    proposal = shown_of({"id": FOUR, "label": SAID, "reason": TEXTS})
    assert asked(proposal) == ["who said what stands in column label: the judge?"]
