"""Canned replies of the kinds that judges write, each with the verdict that a reader gives it.

``None`` is a reply that states no verdict, or more than one. The comment over a table says what
its kind is, and why the reader reads it so. A reply that a reader gives no verdict must not get
one, and none may get the opposite.
"""

from __future__ import annotations

import itertools

import pytest

from pytest_judgesense.replies import parse_reply
from pytest_judgesense.suites.space import DecisionSpace
from pytest_judgesense.trial import Unparsed, Verdict

YES_NO = DecisionSpace(("YES", "NO"))
PASS_FAIL = DecisionSpace(("PASS", "FAIL"))
CORRECT = DecisionSpace(("CORRECT", "INCORRECT"))
SAFE = DecisionSpace(("safe", "unsafe"))
FIVE = DecisionSpace(("1", "2", "3", "4", "5"), ordinal=True)
TEN = DecisionSpace(tuple(map(str, range(1, 11))), ordinal=True)
AB = DecisionSpace(("A", "B"), pairwise=True)
TIES = DecisionSpace(("A", "B"), pairwise=True, tie=True)
LETTERS = DecisionSpace(("A", "B"))
CHOICE = DecisionSpace(("A", "B", "C", "D"))
NAMED = DecisionSpace(("PASS", "FAIL"), names={"PASS": ("✅", "👍"), "FAIL": ("❌", "👎")})
CHINESE = DecisionSpace(("是", "否"))
JAPANESE = DecisionSpace(("はい", "いいえ"))
KOREAN = DecisionSpace(("예", "아니오"))
RUSSIAN = DecisionSpace(("ДА", "НЕТ"))
GERMAN = DecisionSpace(("JA", "NEIN"))
FRENCH = DecisionSpace(("OUI", "NON"))
SPANISH = DecisionSpace(("SÍ", "NO"))
ARABIC = DecisionSpace(("نعم", "لا"))
HINDI = DecisionSpace(("हाँ", "नहीं"))
THAI = DecisionSpace(("ใช่", "ไม่ใช่"))
AMHARIC = DecisionSpace(("አዎ", "አይ"))
ARMENIAN = DecisionSpace(("Այո", "Ոչ"))
URDU = DecisionSpace(("ہاں", "نہیں"))
BURMESE = DecisionSpace(("မှန်", "မှား"))
KHMER = DecisionSpace(("បាទ", "ទេ"))
HEBREW = DecisionSpace(("כן", "לא"))
POLAR = [
    YES_NO, PASS_FAIL, CORRECT, SAFE, CHINESE, JAPANESE, KOREAN, RUSSIAN, GERMAN, FRENCH, SPANISH,
    ARABIC, HINDI, THAI, AMHARIC, ARMENIAN, URDU, BURMESE, KHMER, HEBREW,
]  # fmt: skip


def read(text: str, space: DecisionSpace) -> str | None:
    outcome = parse_reply(text, space)
    return outcome.value if isinstance(outcome, Verdict) else None


def replies(*rows: tuple[DecisionSpace, str | None, tuple[str, ...]]) -> pytest.MarkDecorator:
    """A table of spaces, verdicts, and the replies that state them."""
    return pytest.mark.parametrize(
        ("space", "verdict", "text"),
        [(space, verdict, text) for space, verdict, texts in rows for text in texts],
    )


# A mark beside a label only decorates it. What stands beside the affirmative label with one mark
# is read beside the other label with its counterpart.
MARKS = [("✅", "❌"), ("✔️", "✖️"), ("✓", "✗"), ("☑", "☒"), ("👍", "👎"), ("👍🏽", "👎🏿"),
         ("🟢", "🔴"), ("🟩", "🟥"), ("√", "×"),
         ("🙆", "🙅‍♂️"), ("🎉", "⛔"), ("✅✅", "❌❌")]  # fmt: skip
BESIDE = [
    "{mark} {label}", "{label} {mark}", "{mark}{label}", "{label}{mark}", "**{label}** {mark}",
    "Verdict: {label} {mark}", "**Verdict:** {mark} **{label}**", "{label} {mark}.",
    "{mark} Verdict: {label}", "{label} {mark} - the source says so.", "[{mark}] {label}",
    "{label} ({mark})", '{{"verdict": "{mark} {label}"}}', "Both are long.\n\n{label} {mark}",
    "| Verdict | {label} {mark} |",
]  # fmt: skip


@pytest.mark.parametrize("beside", BESIDE)
@pytest.mark.parametrize("space", POLAR, ids=lambda space: "/".join(space.labels))
def test_a_mark_decorates_either_label(space: DecisionSpace, beside: str) -> None:
    for marks in MARKS:
        for label, mark in zip(space.labels, marks, strict=True):
            assert read(beside.format(label=label, mark=mark), space) == label


@pytest.mark.parametrize("mark", [mark for marks in MARKS for mark in marks])
def test_a_mark_alone_is_no_verdict(mark: str) -> None:
    # Whether a check mark is YES depends on the question ("Does it contain errors?").
    for space, form in itertools.product(POLAR, ("{}", "Verdict: {}", "{}.")):
        assert parse_reply(form.format(mark), space) == Unparsed("no verdict")


# A suite may say what a mark means; then it is a label like another, and contradicts.
@replies(
    (NAMED, "PASS", ("✅", "👍🏽", "✅ PASS", "Verdict: ✅", "🟢 PASS", "PASS 👍.")),
    (NAMED, "FAIL", ("❌", "👎", "FAIL ❌", "Result: FAIL ❌.", '{"verdict": "❌"}')),
    (NAMED, None, ("FAIL ✅", "✅❌", "✅ or ❌", "⭐")),
)
def test_a_mark_that_the_suite_names(space: DecisionSpace, verdict: str | None, text: str) -> None:
    assert read(text, space) == verdict


# A cross beside one of two candidates rejects it, and says nothing of the other. Boxes that were
# not ticked are before what was not chosen. Marks over all the choices choose none.
@replies(
    (AB, None, ("❌ A", "A ❌", "👎 B", "A ✅ B ❌", "A 👎, B 👎", "❌ A\n❌ B", "A ×", "🚫 B")),
    (CHOICE, None, ("❌ C", "C 👎")),
    (AB, "B", ("B ✅", "🏆 B", "Winner: B 🥇", "A ❌\nB ✅")),
    (PASS_FAIL, "FAIL", ("☐ PASS\n☑ FAIL", "- [ ] PASS\n- [x] FAIL", "Tone ✅ Facts ❌\n\nFAIL")),
    (PASS_FAIL, "PASS", ("☑ PASS\n☐ FAIL", "- [x] PASS\n- [ ] FAIL", "[x] PASS")),
    (PASS_FAIL, None, ("☐ PASS", "[ ] FAIL", "✅ PASS / ❌ FAIL", "PASS ✅ FAIL ❌")),
    (PASS_FAIL, None, ("✅ PASS\n❌ FAIL", "Tone: ✅\nFacts: ❌")),
    (FIVE, "4", ("4 ⭐", "⭐ 4", "Rating: 4 ★", "★★★★☆ (4/5)", "4️⃣")),
    (FIVE, "1", ("🔴 1", "1 ❌", "Score: 1 👎")),
    (FIVE, None, ("⭐⭐⭐⭐", "★★★★☆", "4⭐5", "4 ➜ 3", "Score: 4 ➡️ 3", "√4", "No❓")),
)
def test_marks_of_candidates_choices_and_grades(
    space: DecisionSpace, verdict: str | None, text: str
) -> None:
    assert read(text, space) == verdict


# What ends a sentence, a clause or a quotation in the script of the label is no part of it.
STOPS = [
    (CHINESE, "。！；，、"), (JAPANESE, "。！、"), (ARABIC, "۔.،؛!"), (HINDI, "।॥"),
    (AMHARIC, "።፣፤"), (ARMENIAN, "։"), (URDU, "۔،"), (BURMESE, "။၊"), (KHMER, "។៕"), (THAI, "."),
    (HEBREW, ".׃"), (RUSSIAN, ".…"), (SPANISH, "."), (YES_NO, "。।؛…"),
]  # fmt: skip
QUOTES = [
    "「」",
    "『』",
    "《》",
    "【】",
    "〈〉",
    "«»",
    "‹›",
    "“”",
    "„“",
    "（）",
    "［］",
    "〔〕",
    "⟨⟩",
]


@pytest.mark.parametrize(("space", "stops"), STOPS)
def test_punctuation_of_any_script_is_no_part_of_a_label(space: DecisionSpace, stops: str) -> None:
    forms = [f"{{}}{stop}" for stop in stops]
    forms += [f"Verdict: {{}}{stop}" for stop in stops]
    forms += [f"**{{}}**{stop}" for stop in stops]
    forms += [f"{begin}{{}}{end}" for begin, end in QUOTES]
    forms += [f"Verdict: {begin}{{}}{end}{stops[0]}" for begin, end in QUOTES]
    # Marks of direction, and bullets.
    forms += ["\u200f{}\u200f", "\u2067{}\u2069", "• {}", "▪ {}", "— {}", "➤ {}", "※{}"]
    for form, label in itertools.product(forms, space.labels):
        assert read(form.format(label), space) == label, form


@pytest.mark.parametrize("mark", "?？؟⸮՞፧‽⁇❓")
@pytest.mark.parametrize("space", POLAR, ids=lambda space: "/".join(space.labels))
def test_a_label_that_is_asked_for_is_none(space: DecisionSpace, mark: str) -> None:
    assert [read(label + mark, space) for label in space.labels] == [None, None]


@replies(
    (CHINESE, "否", ("否。来源写的是另外一个城市。", "否，来源不同", "判断：否，因为来源不同。")),
    (CHINESE, "是", ("结论：是。", "最终判断：「是」", "是！来源一致")),
    (CHINESE, None, ("不是", "答案：是否", "是？")),
    (JAPANESE, "いいえ", ("いいえ、違います。", "いいえ。違います", "最終判定：いいえ")),
    (JAPANESE, "はい", ("判定：はい、一致しています。", "回答：「はい」")),
    (ARABIC, "لا", ("لا، النص مختلف", "لا؛ النص مختلف", "الحكم: لا.")),
    (HINDI, "नहीं", ("नहीं। स्रोत अलग है।", "निर्णय: नहीं।")),
    (AMHARIC, "አይ", ("አይ። ምንጩ የተለየ ነው።",)),
    (ARMENIAN, "Այո", ("Այո։ Աղբյուրը դա ասում է։",)),
    (URDU, "نہیں", ("نہیں۔ ماخذ مختلف ہے۔",)),
    (THAI, "ไม่ใช่", ("คำตอบ: ไม่ใช่", "ไม่ใช่, เพราะต่างกัน")),
    (THAI, None, ("ไม่ใช่ครับ",)),
    (KOREAN, "예", ("판정: 예", "예, 맞습니다.")),
    (RUSSIAN, "НЕТ", ("Ответ: нет, источник иной.", "Вердикт — НЕТ", "Нет — в источнике другое.")),
    (GERMAN, "NEIN", ("Endgültiges Urteil: NEIN", "Urteil: Nein, weil die Quelle anderes sagt.")),
    (FRENCH, "OUI", ("Réponse finale : OUI", "Oui : la source le dit.", "« Oui »")),
    (SPANISH, "SÍ", ("¡Sí!", "Veredicto: SÍ.")),
    (SPANISH, None, ("¿Sí?",)),
    (FIVE, "4", ("评分：4分", "得分：4 分。", "評価：4点", "점수: 4점", "Оценка: 4 балла", "４")),
    (FIVE, "4", ("准确性：5\n流畅性：3\n最终评分：4", "Bewertung: 4 Punkte", "4。", "「4」")),
    (FIVE, "3", ("参考答案：4\n评分：3", "最高分：5\n评分：3")),
    (FIVE, None, ("4、5", "４，５", "4・5", "3～4", "3〜4", "4‰", "4٪", "٤٫٥", "4½", "≠4", "¬4")),
)
def test_replies_in_other_languages(space: DecisionSpace, verdict: str | None, text: str) -> None:
    assert read(text, space) == verdict


# The last word is what is announced as such, whatever was marked on the way to it.
@pytest.mark.parametrize(
    "final",
    [
        "Final verdict: [[B]]", "My final verdict is: [[B]].", "**Final Verdict:** [[B]]",
        "### Final verdict\n[[B]]", "Final: [[B]]", "So my final choice is [[B]].",
        "The final answer is \\boxed{B}.", "Final answer: <answer>B</answer>", "FINAL VERDICT: B",
        "Final verdict (after review): [[B]]", "The final verdict is therefore [[B]]",
        "My final, considered verdict is [[B]]", 'Final verdict: {"verdict": "B"}',
        "最终判断：[[B]]", "Endgültiges Urteil: [[B]]", "Окончательный вердикт: [[B]]",
    ],
)  # fmt: skip
@pytest.mark.parametrize(
    "before",
    ["[[A]] would be the pick on tone alone.", "\\boxed{A}, at first.", "<verdict>A</verdict>\n"],
)
def test_a_final_verdict_outranks_what_was_marked_before_it(before: str, final: str) -> None:
    assert read(f"{before} {final}", AB) == "B"
    assert read(f"{before} {final}".translate(str.maketrans("AB", "BA")), AB) in ("A", None)


@replies(
    (AB, None, ("Final verdict: [[A]] or [[B]]", "Final verdict: [[A]]\nFinal verdict: [[B]]")),
    (AB, None, ("Final verdict: not [[A]]", "[[A]] on style. [[B]] on facts.")),
    (AB, None, ("The final paragraph of [[A]] is good, that of [[B]] is bad.",)),
    (AB, None, ("[[B]]\n\nNote: the rubric says to write [[A]] only if A is better.",)),
    (FIVE, "4", ("Accuracy: 5\nTone: 3\nOverall: 4", "Tone: 3\nFinal: 4")),
    (FIVE, "4", ("Ton: 3\nRéponse finale : 4", "Tono: 3\nPuntuación final: 4")),
    (FIVE, None, ("Tone: 4\nFinal argument: 3",)),
    (TIES, "tie", ("[[A]] early on. Final verdict: [[tie]]", "The texts agree, so it is a tie.")),
)
def test_what_is_final_and_what_is_not(
    space: DecisionSpace, verdict: str | None, text: str
) -> None:
    assert read(text, space) == verdict


# Prometheus marks its grade with the name of the field in brackets; others do likewise.
@replies(
    (FIVE, "4", ("[RESULT] 4", "[RESULT]4", "[RESULT]: 4", "[Result] 4/5", "[RESULT] (4)")),
    (FIVE, "4", ("Feedback: it has 2 errors. [RESULT] 4", "[RESULT]\n\n4", "**[RESULT]** 4")),
    (FIVE, "4", ("[SCORE] 4", "[FINAL SCORE]: 4", "[[RATING]] 4", "【结果】4", "[评分] 4")),
    (FIVE, "4", ("[RESULT] Score: 4", "[RESULT] 4 [/RESULT]", "A 5 needs more. [RESULT] 4")),
    (AB, "B", ("[RESULT] B", "[VERDICT] B", "Feedback: A is short. [RESULT] Response B")),
    (YES_NO, "NO", ("[DECISION]: NO", "[RESULT] no.")),
    (FIVE, None, ("[RESULT] (an integer from 1 to 5)", "[RESULT]", "[RESULT] 4-5")),
    (FIVE, None, ("[RESULT] 7", "Write [RESULT] 4 or [RESULT] 5.")),
)
def test_a_field_in_brackets(space: DecisionSpace, verdict: str | None, text: str) -> None:
    assert read(text, space) == verdict


# "No" and "Yes" before a refusal refuse, and judge nothing. What is not found, seen or agreed with
# is a judgment, and what somebody else declines is none of the judge's refusals.
ENGLISH_REFUSALS = [
    ", I can't help with that.", ". I cannot assist with that request.", " - I can't answer that.",
    ", I'm sorry, but I can't help with that.", "; I must decline.", ": I cannot comply.",
    ".\n\nI can't help with that.", ", as an AI I have no opinion.", ", I won't.",
    ", that's not something I can help with.", ", I'd rather not say.", ", I refuse.",
    ", I can´t help with that.",
    ". I’m unable to provide a judgment.", " — I cannot fulfill this request.",
]  # fmt: skip
REFUSALS = [
    (GERMAN, (", dabei kann ich nicht helfen.", ". Das kann ich leider nicht beantworten.")),
    (FRENCH, (", je ne peux pas vous aider.", ". Désolé, je ne peux pas répondre à cela.")),
    (SPANISH, (", no puedo ayudar con eso.", ". Lo siento, no puedo responder a eso.")),
    (RUSSIAN, (", я не могу помочь с этим.", ". Извините, не могу ответить.")),
    (CHINESE, ("，我无法帮助您。", "。抱歉，我无法回答这个问题。")),
    (JAPANESE, ("、お手伝いできません。", "。申し訳ありませんが、お答えできません。")),
    (KOREAN, (", 도와드릴 수 없습니다.", ". 죄송하지만 답변할 수 없습니다.")),
    (ARABIC, ("، لا أستطيع المساعدة في ذلك.", ". لا يمكنني الإجابة على هذا السؤال.")),
    (THAI, (", ฉันไม่สามารถช่วยได้", ". ขออภัย ผมไม่สามารถตอบได้")),
    (HEBREW, (", אני לא יכול לעזור בזה.",)),
]


@pytest.mark.parametrize("refusal", ENGLISH_REFUSALS)
@pytest.mark.parametrize("label", ["No", "Yes", "**NO**", "Answer: no"])
def test_a_label_before_a_refusal_is_no_verdict(label: str, refusal: str) -> None:
    assert parse_reply(label + refusal, YES_NO) == Unparsed("refusal")


@pytest.mark.parametrize(("space", "refusals"), REFUSALS)
def test_a_refusal_in_other_languages_is_one(
    space: DecisionSpace, refusals: tuple[str, ...]
) -> None:
    for label, refusal in itertools.product(space.labels, refusals):
        assert parse_reply(label + refusal, space) == Unparsed("refusal"), refusal


@replies(
    (YES_NO, None, ("I can't help with that. No.", "Sorry, no.", "I cannot assist, so no.")),
    (YES_NO, None, ('{"verdict": "No, I can\'t help with that."}',)),
    (YES_NO, "NO", ("No, I can't find it in the source.", "No, I can't agree with that.")),
    (YES_NO, "NO", ('No, the response says "I can\'t help with that".', "No, it can't help.")),
    (YES_NO, "NO", ("No. I cannot confirm the date from the source.", "No, I don't think so.")),
    (YES_NO, "NO", ("No, sorry, the date is wrong.", "No, as an AI-written text it lacks one.")),
    (YES_NO, "YES", ('Yes. "I can\'t help with that" is a refusal.', "Yes, it declines.")),
    (YES_NO, "YES", ("Yes, I can help with that.", "Yes, I cannot find fault with it.")),
    (YES_NO, "YES", ("Yes, I can't help but agree.", "Yes. I cannot give a NO here.")),
    (PASS_FAIL, "FAIL", ("FAIL. I cannot give a PASS for that.", "FAIL. I can't rate it higher.")),
    (YES_NO, None, ("No, I cannot rate this.", "No, I can't evaluate this content.")),
    (FIVE, "3", ("3. I can't give it more because it is short.",)),
    (FIVE, None, ("1. I can't help with that.",)),
    (AB, None, ("A. I can't help with that.",)),
    (GERMAN, "NEIN", ("Nein, ich kann das nicht als richtig bewerten.",)),
    (GERMAN, None, ("Nein, das darf ich nicht bewerten.",)),
    (FRENCH, "NON", ("Non, je ne peux pas confirmer la date.",)),
    (SPANISH, "NO", ("No, no puedo encontrarlo en el texto.",)),
    (RUSSIAN, "НЕТ", ("Нет, я не вижу этого в тексте.",)),
    (CHINESE, "否", ("否，来源无法证实这一点。",)),
    (JAPANESE, "いいえ", ("いいえ、回答は正しくありません。",)),
    (KOREAN, "아니오", ("아니오, 출처에서 찾을 수 없습니다.",)),
    (ARABIC, "لا", ("لا، لا أستطيع العثور عليه في النص.",)),
)
def test_a_refusal_is_told_from_a_denial(
    space: DecisionSpace, verdict: str | None, text: str
) -> None:
    assert read(text, space) == verdict


# The judge says in a sentence what it gives.
@replies(
    (FIVE, "4", ("I would rate this 4 out of 5", "I rate it a 4", "I give this summary a 4.")),
    (
        FIVE,
        "4",
        ("I'd give it 4/5.", "I would give this response a score of 4.", "We rate it 4/5."),
    ),
    (FIVE, "4", ("I would rate the coherence of this text as a 4.", "I'm giving this a solid 4.")),
    (
        FIVE,
        "4",
        ("I would assign a rating of 4 to it.", "I'd say 4 out of 5.", "I rate this: **4**"),
    ),
    (FIVE, "4", ("On a scale of 1 to 5, I rate it 4.", "On a scale from 1 to 5: 4", "Score: +4")),
    (FIVE, "4", ("It keeps all 2 facts, so I give it a 4.", "I'd rate it 4 since 2 of 5 are odd.")),
    (
        FIVE,
        "4",
        ("I’d rate this 4/5 ⭐.", "I would award it 4 points out of 5.", "Grade 4", "It is a 4."),
    ),
    (FIVE, "3", ("I would give it 3 out of 5 because 2 sentences are unclear.",)),
    (FIVE, "2", ("Between 1 (bad) and 5 (good), I give 2.",)),
    (TEN, "8", ("I would rate this 8/10.", "I'd give it an 8.")),
    (FIVE, None, ("I would not rate this 4.", "I could give it a 4.", "Should I rate it a 4?")),
    (FIVE, None, ("I would rate this a 4 if it had sources.", "If it had any, I would rate it 4.")),
    (FIVE, None, ("I would rate this between 3 and 4.", "I'd rate it 3 or 4.", "I rate it >4.")),
    (FIVE, None, ("I would rate it at least a 3.", "I'd give it more than 3.", "I rate it ~4.")),
    (
        FIVE,
        None,
        ("I'd rate it 4.5.", "I would rate this 7.", "I'd give it 8/10.", "I rate it 4%."),
    ),
    (
        FIVE,
        None,
        ("On a scale of 1 to 10, I would rate this 4.", "I rate it 4 on a 10-point scale."),
    ),
    (
        FIVE,
        None,
        ("I rate the style 4 and the content 2.", "I'd rate it 4 for tone, but 2 for facts."),
    ),
    (FIVE, None, ("I would give 3 reasons.", "There are 3 reasons why this deserves a 5.")),
    (
        FIVE,
        None,
        ('He said "I rate it a 4".', "I would have given it a 4.", "I'd never give it 4."),
    ),
    (
        FIVE,
        None,
        ("Top score: 5", "The top score is 5.", "Best possible rating: 5", "Full marks: 5"),
    ),
    (FIVE, None, ("Passing score: 3", "Worst score: 1", "Average score: 3", "5 is the top score.")),
    (FIVE, "3", ("Top score: 5\nScore: 3", "The best rating is 5. I rate this 3.")),
)
def test_ratings_in_sentences(space: DecisionSpace, verdict: str | None, text: str) -> None:
    assert read(text, space) == verdict


# The choice is said again, and then made; or the reply ends in it.
@replies(
    (PASS_FAIL, "FAIL", ("Pass/Fail: FAIL", "PASS or FAIL? FAIL.", "Verdict - PASS/FAIL: FAIL")),
    (AB, "B", ("B - ✅", "Verdict: B - ✅")),
    (FIVE, None, ("Let's see: 4", "7: bad", "3-4: fair")),
    (PASS_FAIL, "FAIL", ("Result FAIL", "| Verdict | FAIL |")),
    (YES_NO, "YES", ("YES or NO? YES", "Yes or no? Yes, the source says so.", "Answer YES")),
    (YES_NO, "YES", ("In conclusion, yes.", "So: YES", "Overall, yes.")),
    (YES_NO, None, ("YES or NO?", "YES, but NO for the second part", "Yes and no.")),
    (YES_NO, "NO", ("No, but the rest is fine.", "No, and no evidence supports it.")),
    (AB, "B", ("A is short; B is complete. So: B", "In conclusion, B.", "B (slightly)", "A/B: B")),
    (AB, None, ("Therefore, Output (a)", "so a", "A (good), B (better)", "A (8/10), B (9/10)")),
    (AB, None, ("A (wrong)", "A: good. B: better.", "In conclusion, both are fine.")),
    (TIES, None, ("both", "neither")),
    (LETTERS, "A", ("Assistant A is better.", "Response A is better than Response B.")),
    (LETTERS, None, ("Assistant A is not better.", "Assistant A is better in style.")),
    (LETTERS, None, ("A: good. B: better.",)),
    (YES_NO, "YES", ("◁think▷NO◁/think▷YES",)),
    (YES_NO, None, ("◁think▷NO, because",)),
)
def test_choices_said_again_and_endings(
    space: DecisionSpace, verdict: str | None, text: str
) -> None:
    assert read(text, space) == verdict
