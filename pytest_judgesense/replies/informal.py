"""Verdicts in words: marked by a word before them or by their place, or stated by a sentence.

Marked are "Verdict: A", "[RESULT] 4", "Coherence: 4", "B because". Three sentences state a verdict:
"Output (a) is better" where labels name candidates, "The statement is NO" where they are no slots,
and "I rate it a 4" where they are numbers. The first two count as the first or the last sentence of
a reply, or where they conclude ("Therefore", "Overall"); elsewhere they may only contradict.
Questions, conditions and denials do not count, nor does praise of one aspect ("A is better in
grammar"), nor a label beside a refusal ("No, I can't help with that").

Every pattern starts at a fixed word or at the start of a line and repeats bounded parts a bounded
number of times, so that the work stays linear in the text whatever a hostile reply holds.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache
from itertools import chain, islice
from typing import Final, TypeAlias

from pytest_judgesense.replies.refusals import declines
from pytest_judgesense.replies.spellings import NOUN, Labels, ParseOutcome, agreed
from pytest_judgesense.replies.statements import (
    FINAL,
    FINAL_ELSEWHERE,
    VERDICTS,
    StatedVerdict,
    Weight,
)
from pytest_judgesense.replies.text import UNREADABLE
from pytest_judgesense.trial import Unparsed, Verdict

_I: Final = re.IGNORECASE
_LONGEST_VALUE: Final = 120
_SHORT: Final = 24
_MOST_ENDS: Final = 5
# Not after the number of an item in a list.
# Patterns begin with a set of characters where they can: those are searched several times faster.
_SENTENCE_ENDS: Final = re.compile(
    r"[\n.!?](?:(?<=\n)|(?<!^\d\.)(?<!^\d\d\.)(?<!^- \d\.)()[)\]]* +(?!\d))", re.MULTILINE
)
# Where a value may end that a sentence goes on after.
_ENDS: Final = re.compile(
    r"[\n,;:!.[ ](?:(?<=\n)|(?<=[,;:!])(?!\w)|(?<=\.)(?!\d)|(?<=\[)/|(?<= )(?:\(|\||-(?: |$)"
    r"|(?=out of \d)"
    r"|(?:because|as|since|due|over|rather|instead|given|for|but|while|with|so|overall)(?!\w)"
    r"|on (?:an?|the) (?:scale|\d{1,3}[- ]point)))|$",
    _I,
)
_VALUE: Final = re.compile(r"[(\[{<'|]{0,3} ?[\w+-](?:.*\w)?[^\w\s]{0,3}\s?", re.DOTALL)
# A colon between blanks was an arrow.
_ANOTHER: Final = re.compile(
    r"(?: ?(?:[,;/&|]|or(?!\w)|and(?!\w)|but(?!\w))){1,2} ?| ?(?<= ): ", _I
)
# "3 - 4" is a range, "3 - because" is not.
_RANGE: Final = re.compile(r" - (?=-?\d)")
# "5 - 1 = 4", of which the value is the first number.
_CALCULATED: Final = re.compile(
    r" ?[-+*/x×÷] ?[-+*/x×÷\d. ()]{1,60}= ?(?P<result>[-+]?\d{1,9}(?:\.\d{1,20})?)(?![\w%])"
)
# What a judge puts between a verdict and the one that it means: "NO, sorry, YES", "4 -> 3".
_CORRECTED: Final = re.compile(
    r"[ ,;.!:-]{0,4}(?:(?:wait|sorry|actually|correction|rather|i mean(?:t)?|make that|or rather"
    r"|scratch that|(?:on|upon) (?:second thoughts?|reflection)|no(?=,? (?:wait|sorry|actually)))"
    r"(?!\w)[ ,;:.!-]{0,4}){1,3}",
    _I,
)

# What of a mark may belong to the number after it: the sign in "Score: -2", the bound in ">2".
_BEFORE_NUMBER: Final = re.compile(r"(?:(?<![=-])>=?|(?<!-)-|-(?= )) ?$")
_LONGEST_BEFORE: Final = 4
_STEP: Final = r"[-+]?\d{1,9}(?:\.\d{1,3})?"
_ON_A: Final = r"(?:on|in|using) (?:an?|the) "
_A_SCALE: Final = rf"{_ON_A}(?:scale|range) ?"
_SCALE: Final = re.compile(
    rf"[ ,(]{{0,3}}(?:out of |{_A_SCALE}(?:of|from|:)? ?|{_ON_A}(?=\d{{1,9}}[- ]point)"
    rf"|(?={_STEP} ?(?:-|to) ?{_STEP} scale))"
    rf"(?P<one>{_STEP})(?:(?: ?- ?| to )(?P<other>{_STEP}))?(?:[- ]point)?(?: scale)?(?![\w%])",
    _I,
)
_CLAUSE_ENDS: Final = re.compile(
    r"[,;:()]| (?:but|while|whereas|however|although|and|so|therefore|thus|hence) ", _I
)
_DOUBT: Final = re.compile(
    r"\b(?:if|whether|which|unless|might|may|could|not|never|nor|neither|cannot|hardly|barely"
    r"|doubt|unclear|initially|normally|usually|at first|either|would have|were|\w{2,6}n't|can't"
    r"|except|unlike|some (?:people|readers|users)|one would|someone|no)\b",
    _I,
)
_FAR_DOUBT: Final = re.compile(
    r"\b(?:not (?:the case|true|clear|believe|think|say)|(?:don't|cannot|can't) (?:think|believe"
    r"|say|claim|conclude)|if|whether|(?:might|could|may) (?:say|argue|think|be argued))\b",
    _I,
)
_WINDOW: Final = 100
_LONGEST_ALONE: Final = 80
_PRAISE: Final = "better|best|preferred|superior|stronger|winning"
_KEY: Final = rf"(?:{VERDICTS}|(?:{_PRAISE}) (?:{NOUN}|one))"
_WORDS_BETWEEN: Final = (
    r"(?: (?!(?:not|isn't|confidence|than|but|and|worse|between|from|in|is|no|either|range|scale"
    r"|of both [\w-]{1,20} is)(?!\w))[\w'-]{1,20}){0,6}?"
)
_MARK: Final = re.compile(
    rf"\b{_KEY}\b{_WORDS_BETWEEN} ?(?:\([^()\n]{{0,60}}\))?"
    r" ?(?:[:=\n|]|- |\]{1,2}|(?:is|would be|goes to|must be)(?!\w))[:=>\n -]{0,4}",
    _I,
)
# The end of a sentence on the line before, with no sign that something follows: "a final answer
# that he went east" above "Assistant B's Response:" announces nothing.
_MERELY_ABOVE: Final = re.compile(rf"{_KEY} [^\n]{{0,200}}\w ?\n[\n -]{{0,4}}", _I)
_IS_HEADING: Final = re.compile(r"[^\n]*: ?(?:\n|$)")
_FINAL: Final = re.compile(rf"\b(?:{FINAL}) (?:\w{{1,12}} )?$", _I)
# The forms that a prompt offers: '"Verdict: A" or "Verdict: B"'.
_OFFERED: Final = re.compile(r"\bor [*`\"'\[(]{0,3}$", _I)
_CHOOSING: Final = ("choose", "pick", "prefer", "select")
_CHOICE: Final = re.compile(
    rf"\b(?:i|we)(?:'d| would|'ll| will)?(?: \w{{1,12}}ly)? (?:{'|'.join(_CHOOSING)}) ", _I
)
_PRAISING: Final = frozenset((b"better", b"best", b"superior", b"prefer", b"strong", b"winner"))
_CHOOSES: Final = frozenset(verb.encode() for verb in _CHOOSING)
# How matches of `_MARK` begin, the verbs of `_CHOICE`, and what is in each `_IS_BETTER`: one pass
# over the words of a text finds which of them it has, and where.
_HINT: Final = re.compile(
    b" (a(?:nswer|ssessment)|be(?:st|tter)|c(?:ho(?:ice|ose)|lassification|o(?:nclusion|rrection))"
    b"|decision|grade|judge?ment|label|p(?:ick|refer)|r(?:ating|esult)"
    b"|s(?:core|elect|trong|uperior)|v(?:erdict|ote)|winn(?:er|ing))"
)
# One character for one, so that places in the text stay.
_PLAIN: Final = bytes(
    ord(sign.lower()) if sign.isalnum() or sign == "_" else ord(" ")
    for sign in map(chr, range(128))
).ljust(256)
_NOT_THE_VERDICT: Final = re.compile(
    r"\b(?:confidence|no|not|isn't|without|correct|right|expected|reference|gold|truth|true|user's"
    r"|\w[)\]]?'s|student's|assistant's|its|their|first|initial|previous|highest|lowest|max(?:imum)?"
    r"|min(?:imum)?|possible|average|good|ideal|perfect|another|other|hypothetical|alternative)"
    r"(?: an?| the)? $",
    _I,
)
# "The maximum score is 5" and "Top score: 5" describe the scale.
_EXTREMES: Final = (
    "max(?:imum)?|min(?:imum)?|highest|lowest|top|best|worst|full|perfect|passing|target|possible"
    "|ideal|average|mean|median|expected|reference"
)
_EXTREME: Final = re.compile(
    rf"\b(?:{_EXTREMES})(?: possible)? (?:{VERDICTS}|marks?)(?!\w)[^,;]{{0,40}}$", _I
)
_OF_THE_SCALE: Final = re.compile(rf"\b(?:{_EXTREMES})(?!\w)", _I)
# "Coherence: 4" and "[Coherence] 4". Vowel signs are no word characters: a key is what is no
# punctuation.
_IN_KEY: Final = rf"[^\n!-,.:-@\[-^`{{-~{UNREADABLE}]"
_HEADED: Final = re.compile(
    rf"[-\d. ]{{0,8}}(?P<bracket>\[)?(?P<head>(?P<key>[^\W\d_]{_IN_KEY}{{0,40}})"
    r"(?: ?\([^()\n]{0,60}\))?)(?(bracket)\] ?:?|(?: ?:|(?P<dash> -))) ?(?P<value>.{1,60})"
)
_NO_WORD: Final = rf"[^\w\n{UNREADABLE}]"
_FLAG: Final = re.compile(
    rf": {_NO_WORD}{{0,4}}[^\W\d_]\w{{1,30}}(?: \w{{1,20}}){{0,2}} ?: ?"
    rf"{_NO_WORD}{{0,4}}(?P<value>true|false|yes|no|pass|fail){_NO_WORD}{{0,4}}$",
    _I,
)
_SAYS_FINAL: Final = re.compile(
    rf"(?:my |the )?(?:final|ultimate|definitive)(?: (?:{VERDICTS}))? ?|(?:{FINAL_ELSEWHERE}).*"
    r"|\w{3,20} finale ?|(?:nota|puntuación|respuesta|resposta|resultado|veredicto) final ?",
    _I,
)
# What a verdict stands under in other languages.
_VERDICT_ELSEWHERE: Final = re.compile(
    rf"(?:(?:{FINAL_ELSEWHERE})\w{{0,5}} ?)?(?:"
    "判断|判定|结论|結論|答案|评分|評分|得分|评价|評価|裁决|结果|結果|回答|点数|판정|결론|평가|답변|점수"
    "|urteil|antwort|bewertung|ergebnis|punktzahl|réponse|conclusion|résultat|veredicto|respuesta"
    "|puntuación|resultado|resposta|pontuação|giudizio|risposta|punteggio|вердикт|ответ|оценка"
    "|вывод|результат|відповідь|оцінка|النتيجة|الإجابة|الحكم|الجواب|التقييم|คำตอบ|ผลลัพธ์|คะแนน"
    "|निर्णय|उत्तर|פסק|תשובה|cevap|karar|puan)(?: final[ea]?)?",
    _I,
)
# "Much better: B" is a step of a finer scale.
_DEGREE: Final = re.compile(r"(?:much|far|slightly|significantly|somewhat|a bit) better", _I)
_SAYS_OVERALL: Final = re.compile(r"(?:my |the )?overall ?", _I)
_NOT_A_RATING: Final = re.compile(
    r"\b(?:number|count|confidence|issues?|errors?|step|paragraphs?|sentences?|total|words?"
    r"|length|item|question|point|example|criteri(?:on|a)|there|options?"
    r"|max(?:imum)?|min(?:imum)?|highest|lowest|possible|scale|range)\b",
    _I,
)
# "Grade 4", "Answer: no" without the colon.
_NAMED: Final = re.compile(
    rf"[^\w\n]{{0,3}}(?:(?:my|the|final) ){{0,2}}(?:{VERDICTS}|level) (?=\w)", _I
)
# "# Output (a)" and "Output (a):" are headings of a text about it.
_HEADING: Final = re.compile(r"#|.*:$")
_HEAD: Final = re.compile(r"[^ ]+ .*[^.!]")
_OPENING_END: Final = (
    r"(?<=[.!])(?! ?\d|\w)|(?<= )(?:- |(?:because|since|as|over)(?!\w))"
    r"|(?<=[,;:]) (?:because|since|as)(?!\w)|(?<=,)(?= not )"
    r"|(?<=[ ,])[ ,]?(?=\(?(?:slightly|clearly|strongly|narrowly|marginally|significantly"
    r"|definitely|by far)(?: better)?\)?[.!]?$)"
)
_OPENING_ENDS: Final = re.compile(rf"[.! ,;:](?:{_OPENING_END})", _I)
# "YES or NO? YES", "PASS/FAIL: FAIL": the choice, and then what is chosen.
_OFFER: Final = re.compile(r"(?P<labels>[^:?\n]{3,60})[:?] ?")
# "On a scale of 1 to 5: 4"
_ON_A_SCALE: Final = re.compile(
    rf"{_A_SCALE}(?:of|from)? ?(?P<lowest>{_STEP})(?: ?- ?| to )(?P<highest>{_STEP})"
    r"(?![\w%])[,:]? ?",
    _I,
)
_WORD_OPENING_ENDS: Final = re.compile(rf"[.! ,;:](?:{_OPENING_END}|(?<=[,;:])(?!\w)|(?<= )\()", _I)
_LETTER_OPENING_ENDS: Final = re.compile(
    rf"[.! ,;:](?:{_OPENING_END}|(?<=[,;])(?!\w)|(?<= )\()", _I
)
# "Factual: no" denies the label that it begins with.
_DENIED_AT_ONCE: Final = re.compile(
    r"[^:\n]{1,60}: ?(?:no|not(?: really| quite)?|none|false|n/?a|partial(?:ly)?|partly|0)"
    r"[ .!,;)]*(?:$|\n|(?<=[.!,;]) )",
    _I,
)
_ARTICLE: Final = re.compile(r"[a-z](?!\w)")
_ITEM: Final = re.compile(r"(?:^|[.;] )[- (]{0,3}([^\s.:)]{1,12})(?:[).:]| -)", re.MULTILINE)
# A number may be the verdict: which one is ambiguous.
_FIRST_ITEM: Final = re.compile(r"[^\w\n]{0,3}1[.)] +\S")
# In "1. B 2. A" the last label is an item of a list, and no sentence.
_LISTED: Final = re.compile(r"(?<!\w)1[.)] [^\n]{1,150} 2\.$")
_SUBJECT_WINDOW: Final = 200
_LIST_WINDOW: Final = 4
_LONGEST_OPENING: Final = 40
_MOST_WORDS: Final = 6
_ADVERBS: Final = (
    r"(?: (?:clearly|slightly|significantly|much|definitely|overall|generally|marginally|far"
    r"|somewhat|also|still|therefore|thus|certainly|ultimately|the|an?|to|be)){0,4}"
)
_IS_BETTER: Final = re.compile(
    rf" (?:is|was|seems|appears|would be){_ADVERBS}"
    r" (?:better|best|superior|preferable|preferred|stronger|strongest|winner)(?!\w)",
    _I,
)
_IS: Final = re.compile(rf" (?<!there )(?:is|was|as|be)(?P<adverbs>{_ADVERBS}:?) ", _I)
_IN_PART: Final = re.compile(
    r"(?: \w{1,20}){0,3} (?:in|at|for|with|regarding|when|on)(?! (?:every|all|my))(?!\w)", _I
)
_CONCLUDES: Final = re.compile(
    r"\b(?:therefore|thus|hence|consequently|as a result|in conclusion|to conclude|in summary"
    r"|considering|based on|to sum up|overall|ultimately|in the end|all in all|on balance"
    r"|for (?:these|this) reasons?|(?:i|we)(?: have)? (?:conclude|determine|decide)d?)\b|^so\b",
    _I,
)
_SO: Final = re.compile(
    r"[hiostuHIOSTU\u0130\u0131\u017f](?<!\w\w)(?i:(?<=h)ence|(?<=i)n (?:conclusion|the end)"
    r"|(?<=o)verall|(?<=s)o|(?<=t)(?:herefore|hus|o conclude)|(?<=u)ltimately)[,:]? "
)
# "I would rate this 4 out of 5", "I give the summary a 3": how the verbs begin, and may end
_RATING: Final = {
    "rat": "e|ed|ing",
    "scor": "e|ed|ing",
    "grad": "e|ed|ing",
    "gave": "",
    "giv": "e|en|ing",
    "assign": "|ed|ing",
    "award": "|ed|ing",
    "say": "",
    "go with": "",
}
_RATES: Final = re.compile(
    r"\b(?:i|we)(?:'d|'ll|'m|'ve| would| will| am| are| have)?(?: \w{1,12}ly)? "
    rf"(?:{'|'.join(f'{stem}(?:{ends})' for stem, ends in _RATING.items())})(?!\w)",
    _I,
)
_STEMS: Final = tuple(f" {stem}".encode() for stem in _RATING)
_LONGEST_RATED: Final = 160
_RATING_ENDS: Final = re.compile(r"\n|[.!?](?= |$|\n)|;| (?:because|since)(?!\w)", _I)
_AND_TO: Final = re.compile(r" (?:and|to(?! ?[-+\d])) ")
_A_NUMBER: Final = re.compile(r"(?<![\w.,/<>=~+-])(?<![<>=~] )[\[(]{0,2}(?=[-+]?\d)")
# "at least 3" and "higher than 3" are no rating, and "between 3 and 4" is not one.
_HEDGES: Final = re.compile(
    r"(?:least|most|than|below|above|under|over|between|up to|around|about|nearly|almost|roughly"
    r"|or|and|only|out of)(?: an?)? $",
    _I,
)
# "a 4 if it had sources", "between 3 and 4"
_NO_RATING: Final = re.compile(r"[ ,(]{1,2}(?:if|unless|were|had|provided|between)(?!\w)", _I)
_ASPECT: Final = re.compile(
    r"\b(?:in terms of|regarding|with (?:respect|regards?) to|when it comes to|as far as|as for)\b",
    _I,
)
# "A and B is better", "than A is": the label before the verb is not its subject.
_NO_SUBJECT: Final = re.compile(r"(?:\b(?:and|or|nor|than|as|of|between)|[/&])$", _I)
# A lone capital is a label after these, and part of a name after others ("Vitamin A").
_BEFORE_LETTER: Final = re.compile(
    r"(?:^|[^\w ']|\b(?:that|course|overall|think|believe|conclude|say|find|feel|so|but|while"
    r"|therefore|thus|hence|then|however|because|although|though|since|\w{1,20}ly))$",
    _I,
)

# The beginning of a sentence, or of the rest of a line, and its text.
_Sentence: TypeAlias = tuple[int, str]


def informal(text: str, labels: Labels) -> Iterator[StatedVerdict]:
    """The verdicts that the words of ``text`` state."""
    words = _words(text)
    places = {hint.start(): hint[1] for hint in _HINT.finditer(words)}
    hints = set(places.values())
    if hints:
        yield from _after_a_key(text, places, hints, labels)
    if labels.numbers and any(stem in words for stem in _STEMS):
        yield from _rated(text, labels)
    yield from _under_a_heading(text, labels)
    # What begins with a sign may begin with a label that is one.
    reach = labels.reach(text) if text[:1].isalnum() else len(text)
    if reach or labels.numbers:
        yield from _opening(text, labels)
    last = sentences_of(text, text.rfind("\n") + 1) or sentences_of(text)
    yield from _closing(last, labels)
    stating = [pattern for pattern in _stating(labels, hints) if pattern.search(text)]
    # In most replies neither the first sentence nor the last can be a label, and none states one.
    if stating or reach == len(text) or (last and _label_in(last[-1][1], labels, last=True)):
        sentences = sentences_of(text)
        yield from _alone(sentences, labels)
        yield from _prose(sentences, labels, stating)


def sentences_of(text: str, start: int = 0) -> list[_Sentence]:
    """The sentences of ``text`` from a line on; lines of rules and dashes are left out."""
    spans = []
    for end in _SENTENCE_ENDS.finditer(text, start):
        spans.append((start, text[start : end.start(end.lastindex or 0)]))
        start = end.end()
    spans.append((start, text[start:]))
    return [span for span in spans if span[1].strip(" -=|")]


def _words(text: str) -> bytes:
    """A blank and the words of ``text``, in lower case and ASCII, with blanks for all else."""
    if not text.isascii():
        text = text.replace("\u0130", "i").replace("\u0131", "i")  # as patterns take them
    return b" " + text.encode("ascii", "replace").translate(_PLAIN)


def _after_a_key(
    text: str, places: Iterable[int], hints: AbstractSet[bytes], labels: Labels
) -> Iterator[StatedVerdict]:
    """Such as "Verdict: A", "The better response is A", "My final answer is 4", "I choose B"."""
    choices = () if _CHOOSES.isdisjoint(hints) else _CHOICE.finditer(text)
    for mark in chain(_marks(text, places), choices):
        outcome = _value_at(labels, text, _value_begins(labels, text, mark.end()))
        if outcome is None or (
            _MERELY_ABOVE.fullmatch(mark[0]) and _IS_HEADING.match(text, mark.end())
        ):
            continue
        before, final = _FINAL.subn("", _sentence_before(text, mark.start()))
        if before and (
            _NOT_THE_VERDICT.search(before) or _OFFERED.search(before) or _doubted(before)
        ):
            continue
        if labels.numbers and _EXTREME.search(before + mark[0]):
            continue
        if mark.re is _MARK:
            yield StatedVerdict(mark.start(), Weight.FINAL if final else Weight.VERDICT, outcome)
        elif not _ARTICLE.match(text, mark.end()):
            yield StatedVerdict(mark.start(), Weight.OPINION, outcome)


def _sentence_before(text: str, place: int) -> str:
    """The words of a sentence before ``place``, as far as they are looked at."""
    if place == 0 or text[place - 1] == "\n":
        return ""
    before = text[max(0, place - _WINDOW) : place]
    return before[1 + max(map(before.rfind, ".!?\n")) :]


def _value_begins(labels: Labels, text: str, place: int) -> int:
    """Where the value begins that a mark before ``place`` announces: a number with its sign."""
    if labels.numbers and not labels.signed and text.startswith("+", place):
        return place + 1
    if not text[place : place + 1].isdigit():
        return place
    # In "Score:-2" it is a dash, unless labels are below zero.
    if text.endswith(":-", 0, place) and not labels.signed:
        return place
    sign = _BEFORE_NUMBER.search(text, max(0, place - _LONGEST_BEFORE), place)
    return sign.start() if sign else place


def _marks(text: str, places: Iterable[int]) -> Iterator[re.Match[str]]:
    end = 0
    for place in places:
        if place >= end and (mark := _MARK.match(text, place)):
            yield mark
            end = mark.end()


def _rated(text: str, labels: Labels) -> Iterator[StatedVerdict]:
    """Sentences such as "I would rate this 4 out of 5" and "I give the summary a 3"."""
    for verb in _RATES.finditer(text):
        before = _sentence_before(text, verb.start())
        rest = text[verb.end() : verb.end() + _LONGEST_RATED]
        if end := _RATING_ENDS.search(rest):
            if end[0] == "?":
                continue
            rest = rest[: end.start()]
        scale = _scale_in(before + rest)
        rest = _AND_TO.sub(", ", _ON_A_SCALE.sub("", rest))
        ratings = [
            outcome
            for number in _A_NUMBER.finditer(rest)
            if not _HEDGES.search(rest[: number.start()])
            and (outcome := _value_at(labels, rest, number.end())) is not None
        ]
        if not ratings or _doubted(before) or _NO_RATING.search(rest):
            continue
        outcome = agreed(ratings)
        if isinstance(outcome, Verdict) and scale is not None and scale != max(labels.numbers):
            outcome = Unparsed(f"out of range: {outcome.value} out of {scale:g}")
        yield StatedVerdict(verb.start(), Weight.OPINION, outcome)


def _scale_in(text: str) -> float | None:
    """The upper end of the scale that ``text`` names."""
    scale = _ON_A_SCALE.search(text)
    return max(float(scale["lowest"]), float(scale["highest"])) if scale else None


def _under_a_heading(text: str, labels: Labels) -> Iterator[StatedVerdict]:
    """Whole lines such as "Coherence: 4"."""
    start = 0
    for line in text.split("\n"):
        headed = _headed_short if len(line) <= _LONGEST_ALONE else _headed
        has_head = ":" in line or "]" in line or " - " in line
        stated = (headed(line, labels) or _flagged(line, labels)) if has_head else None
        if stated and not declines(text, start + len(line)):
            yield StatedVerdict(start, *stated)
        start += len(line) + 1


def _flagged(line: str, labels: Labels) -> tuple[Weight, ParseOutcome] | None:
    """What "page 3.pdf: Relevance: True" says of all: a flag that ends a line behind a name."""
    flag = None if labels.numbers or labels.slots else _FLAG.search(line)
    outcome = labels.read(flag["value"]) if flag else None
    return (Weight.OPINION, outcome) if outcome else None


def _headed(line: str, labels: Labels) -> tuple[Weight, ParseOutcome] | None:
    """The label under the heading that a line begins with, and what the heading says of it."""
    heading = _HEADED.match(line)
    outcome = _under(heading, labels) if heading else None
    return (_weight_under(heading["key"]), outcome) if heading and outcome else None


_headed_short: Final = lru_cache(maxsize=1024)(_headed)  # "Verdict: A" ends many replies


def _under(heading: re.Match[str], labels: Labels) -> ParseOutcome | None:
    """The label under a heading that is none itself, and does not describe the scale."""
    key = heading["key"]
    if (
        _DEGREE.match(key)
        or _NOT_A_RATING.search(key)
        or (labels.numbers and _OF_THE_SCALE.search(key))
    ):
        return None
    if any(labels.read(head) is not None for head in {key, heading["head"]}):
        return None
    if _VERDICT_ELSEWHERE.fullmatch(key.rstrip()):
        return _value_at(labels, heading.string, heading.start("value"))
    whole = heading.end() == len(heading.string) and not heading["dash"]
    return labels.read(heading["value"]) if whole else None


def _weight_under(key: str) -> Weight:
    """How much a heading says that what is under it is the verdict."""
    if _SAYS_FINAL.fullmatch(key):
        return Weight.FINAL
    verdict = _SAYS_OVERALL.fullmatch(key) or _VERDICT_ELSEWHERE.fullmatch(key.rstrip())
    return Weight.VERDICT if verdict else Weight.OPINION


def _alone(sentences: Sequence[_Sentence], labels: Labels) -> Iterator[StatedVerdict]:
    """Sentences that are only a label, where the first or the last of the reply is one."""
    ends = [n for n in {0, len(sentences) - 1} if sentences and _label_alone(sentences, n, labels)]
    if ends:
        every = {n: _label_alone(sentences, n, labels) for n in range(len(sentences))}
        alone = {n: outcome for n, outcome in every.items() if outcome is not None}
        outcome = agreed(list(alone.values()))
        # "Assistant A" stands above what is said of it, and "Assistant B" above the rest.
        heads = ends == [0] and all(_HEAD.fullmatch(sentences[n][1]) for n in alone)
        weight = Weight.OPINION if heads and isinstance(outcome, Unparsed) else Weight.VERDICT
        yield StatedVerdict(sentences[max(ends)][0], weight, outcome)


def _label_alone(
    sentences: Sequence[_Sentence], number: int, labels: Labels
) -> ParseOutcome | None:
    """The label that a sentence is, unless it answers a question or comes with a refusal."""
    sentence, last = sentences[number][1], number == len(sentences) - 1
    before = sentences[number - 1][1] if number else ""
    if before.endswith("?"):
        return None
    if before.endswith(" 2."):
        list_before = " ".join(
            text for _, text in sentences[max(0, number - _LIST_WINDOW) : number]
        )
        if _LISTED.search(list_before[-_SUBJECT_WINDOW:]):
            return None
    outcome = _label_in(sentence, labels, last=last)
    if outcome is None or (before and declines(before)):
        return None
    if last:
        return outcome
    after = sentences[number + 1][1]
    if declines(after):
        return None
    # With nothing between it and the next label both were only listed.
    return outcome if not _HEADING.match(sentence) or labels.read_several(after) else None


def _label_in(sentence: str, labels: Labels, *, last: bool) -> ParseOutcome | None:
    """The label that a sentence consists of; in the last one it may be named: "Grade 4"."""
    if len(sentence) > _LONGEST_ALONE:
        return None
    outcome = labels.read_several(sentence)
    if outcome is None and last and (named := _NAMED.match(sentence)):
        return labels.read(sentence[named.end() :])
    return outcome


def _opening(text: str, labels: Labels) -> Iterator[StatedVerdict]:
    """A reply that begins with its verdict: "No, ...", "B because ...", "4 - ..."; no list."""
    # "A: good" says something about A.
    words = _LETTER_OPENING_ENDS if labels.candidates else _WORD_OPENING_ENDS
    ends = _OPENING_ENDS if labels.slots else words
    scale = _ON_A_SCALE.match(text) if labels.numbers else None
    if scale is not None and _scale_in(scale[0]) != max(labels.numbers):
        return
    line = text.partition("\n")[0]
    outcome = _value_at(labels, line, scale.end()) if scale else _value_at(labels, line, 0, ends)
    if outcome is None or _ARTICLE.match(text):
        return
    if _FIRST_ITEM.match(text) or _DENIED_AT_ONCE.match(text):
        return
    if labels.read_several(line) is None or not declines(text, len(line)):
        items = {labels.read(item) for item in _ITEM.findall(text)} - {None}
        if len(items) < 2:
            yield StatedVerdict(0, Weight.VERDICT, outcome)


def _closing(sentences: Sequence[_Sentence], labels: Labels) -> Iterator[StatedVerdict]:
    """A last sentence that ends in its verdict: "The date differs, so no", "So: B"."""
    start, sentence = sentences[-1] if sentences else (0, "")
    for so in _SO.finditer(sentence, max(0, len(sentence) - _LONGEST_VALUE)):
        before, value = sentence[: so.start()], sentence[so.end() :]
        # "Therefore, Output (a)" may go on "is worse".
        if labels.candidates and not (value.endswith(".") or so[0].endswith(": ")):
            continue
        outcome = None if _ARTICLE.match(value) else labels.read(value)
        if outcome is not None and not _doubted(before) and not declines(before):
            yield StatedVerdict(start + so.end(), Weight.VERDICT, outcome)


def _prose(
    sentences: Sequence[_Sentence], labels: Labels, stating: Sequence[re.Pattern[str]]
) -> Iterator[StatedVerdict]:
    """The statements about labels in sentences, by the patterns that match their text."""
    for number, (start, sentence) in enumerate(sentences if stating else ()):
        if sentence.endswith("?"):
            continue
        for place, before, outcome in _said_in(sentence, labels, stating):
            if _doubted(before) or _ASPECT.search(before):
                continue
            if labels.numbers and _EXTREME.search(before):
                continue
            announces = number == 0 and len(before) <= _LONGEST_OPENING and "," not in before
            decides = announces or number == len(sentences) - 1 or _CONCLUDES.search(before)
            weight = Weight.VERDICT if decides else Weight.ASIDE
            yield StatedVerdict(start + place, weight, outcome)


def _stating(labels: Labels, hints: AbstractSet[bytes]) -> Iterator[re.Pattern[str]]:
    """The words between a label and the statement about it, or before a label."""
    if labels.candidates and not _PRAISING.isdisjoint(hints):
        yield _IS_BETTER
    if not labels.slots:
        yield _IS


def _said_in(
    text: str, labels: Labels, stating: Sequence[re.Pattern[str]]
) -> Iterator[tuple[int, str, ParseOutcome]]:
    """Position of a statement in a sentence, the words before it, and its content."""
    for stated in chain.from_iterable(pattern.finditer(text) for pattern in stating):
        place = stated.start()
        before = text[max(0, place - _SUBJECT_WINDOW) : place]
        if stated.re is _IS:
            # "somewhat" may belong to the label.
            outcome = _value_at(labels, text, stated.start("adverbs") + 1)
            outcome = outcome or _value_at(labels, text, stated.end())
            scale = _scale_in(before) if labels.numbers and outcome else None
            if scale is not None and scale != max(labels.numbers):
                continue
        elif _IN_PART.match(text, stated.end()):
            continue
        else:
            before, outcome = _subject(before, labels)
        if outcome is not None:
            yield place, before, outcome


def _subject(before: str, labels: Labels) -> tuple[str, ParseOutcome | None]:
    """The text before the label that ``before`` ends with, and that label."""
    words = before.split(" ")
    for number in range(min(_MOST_WORDS, len(words)), 0, -1):
        piece, rest = " ".join(words[-number:]), " ".join(words[:-number])
        outcome = labels.read(piece)
        if outcome is None:
            continue
        if _NO_SUBJECT.search(rest) or (len(piece) == 1 and not _BEFORE_LETTER.search(rest)):
            break
        return rest, outcome
    return before, None


def _value_at(
    labels: Labels, text: str, place: int, ends: re.Pattern[str] = _ENDS
) -> ParseOutcome | None:
    """The label, or labels in a row, at ``place`` of the text; none before a refusal."""
    piece = text[place : place + _LONGEST_VALUE]
    if len(piece) <= _SHORT and ends is _ENDS:
        return _short_value(labels, piece)
    return _first_value(labels, piece, ends)


@lru_cache(maxsize=1024)  # the same few end nearly every reply
def _short_value(labels: Labels, piece: str) -> ParseOutcome | None:
    return _first_value(labels, piece, _ENDS)


def _first_value(labels: Labels, piece: str, ends: re.Pattern[str]) -> ParseOutcome | None:
    """The label, or labels in a row, that ``piece`` begins with."""
    reach = labels.reach(piece)
    if not reach:
        return None
    offer = _OFFER.match(piece) if reach == len(piece) else None
    choice = labels.read_several(offer["labels"]) if offer else None
    if offer and isinstance(choice, Unparsed) and choice.reason.startswith("several"):
        return _value_at(labels, piece, offer.end())
    if reach < len(piece) and piece[0].isalnum() and not ends.match(piece, reach):
        return None  # the first word is a label if it is one, and goes on
    for match in islice(ends.finditer(piece), _MOST_ENDS):
        if match.start() > reach:
            break
        value = piece[: match.start()]
        outcome = labels.read_several(value) if _VALUE.fullmatch(value) else None
        if outcome is not None:
            refused = declines(piece, match.start())
            return None if refused else _with_the_rest(labels, piece, match.start(), outcome)
    return None


def _with_the_rest(labels: Labels, piece: str, end: int, outcome: ParseOutcome) -> ParseOutcome:
    """The outcome of the value of a piece up to ``end``, and of what goes on with it.

    That is another label, the scale of a number, a calculation or a correction.
    """
    another = _ANOTHER.match(piece, end)
    if labels.numbers:
        if (scale := _another_scale(labels, piece, end)) is not None:
            return Unparsed(f"out of range: {piece[:end].strip().removeprefix('- ')} {scale}")
        if calculated := _CALCULATED.match(piece, end):
            result = calculated["result"]
            result_read = labels.read(result) or Unparsed(f"out of range: {result}")
            return agreed([outcome, result_read])
        another = another or _RANGE.match(piece, end)
    corrected = _CORRECTED.match(piece, end)
    if corrected and (meant := _value_at(labels, piece, corrected.end())):
        return agreed([outcome, meant])
    more = another and _value_at(labels, piece, another.end())
    return agreed([outcome, more]) if more else outcome


def _another_scale(labels: Labels, piece: str, place: int) -> str | None:
    """The scale that follows a number at ``place``, unless it is that of the labels."""
    scale = _SCALE.match(piece, place)
    if scale is None or max(float(scale["one"]), float(scale["other"] or 0)) == max(labels.numbers):
        return None
    return scale[0].strip(" ,(")


def _doubted(before: str) -> bool:
    """Whether the words before a statement deny it, ask for it or make it a condition."""
    clause = _CLAUSE_ENDS.split(before)[-1]
    return bool(_DOUBT.search(clause) or _FAR_DOUBT.search(before))
