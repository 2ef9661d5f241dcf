"""Replies that decline: "I can't help with that", in the languages that judges are asked in.

"No, I can't help with that." begins with a label of the space ``YES/NO`` and is no verdict, and
"Yes, I can't help with that." is none either. So a label counts by its place alone (at the
beginning, or as a sentence) only if no refusal follows it, or precedes it. What is declined is
help, an answer or a judgment: "No, I can't find it in the source" is a verdict.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import Final, NamedTuple

_REST: Final = r"[^.!?\n()]{0,50}?"
# "I can't rate it higher" is a judgment: what is rated or answered ends the clause.
_HELP: Final = (
    r"(?:help(?! but| think| feel| notic)|assist|comply|respond|reply|do (?:that|this|so)"
    r"|fulfil\w{0,6}|continue|engage|participate|process|discuss"
    r"|(?:answer|judge|evaluate|assess|rate|grade|decide)"
    r"(?: (?:this|that|it|the|these|those|your|any|such|either|one|request|question|text|content"
    r"|answers?|responses?|for|you)){0,4}(?=\W{0,3}(?:$|[.!?,;\n]))"
    r"|(?:provide|give|offer|share|render|make) (?:an?|any|my|you|such)(?: \w{1,12}){0,2}"
    r" (?:verdict|judge?ment|answer|opinion|evaluation|assessment|response|help|assistance"
    r"|information|advice|rating|score|grade)(?! (?:of|above|higher|as|than)))(?!\w)"
)


class _Refusal(NamedTuple):
    """How a language declines: that help or an answer is not given, in the order of a sentence.

    Attributes:
        hints: parts of words, one of which every refusal has: they are fast to look for.
        pattern: matches a refusal.
    """

    hints: str
    pattern: str


# By language.
_REFUSALS: Final = {
    "en": _Refusal(
        "can|could|won't|will not|unable|not able|not allowed|not permitted|going to|rather not"
        "|comfortable|decline|refuse|as an ai|language model",
        r"(?:(?:i|we)(?: (?:simply|really|just|also))?"
        r" (?:can'?t|cannot|can not|could not|couldn't|won't|will not|am unable to|am not able to"
        r"|am not (?:allowed|permitted|going) to|are unable to)|i'm (?:unable|not able|not going)"
        rf" to)(?:{_REST}\b{_HELP}|(?= ?[.!\n]| ?$))"
        r"|i(?:'d| would) rather not(?!\w)|i(?: do not| don't) feel comfortable"
        r"|i(?:'m| am) not comfortable|i(?:'m| am) going to (?:have to )?(?:decline|refuse)"
        r"|i (?:must |have to |will |would )?(?:respectfully |politely )?(?:decline|refuse)(?!\w)"
        r"|(?:this|that|it)(?:'s| is) not something (?:that )?i can"
        r"|as an ai(?![\w-])|as a (?:large )?language model",
    ),
    "de": _Refusal(
        "nicht|kein",
        r"(?:(?:kann|können|darf|werde|möchte) (?:ich|wir)|(?:ich|wir) (?:kann|können|darf|werde"
        rf"|möchte))(?!\w){_REST}(?:nicht|keine?)(?!\w)(?:{_REST}(?:helfen|behilflich"
        r"|beantworten|nachkommen|erfüllen|bewertung abgeben)| (?:bewerten|beurteilen))",
    ),
    "nl": _Refusal(
        "niet",
        rf"(?:ik kan|kan ik)(?!\w){_REST}niet(?!\w){_REST}(?:helpen|beantwoorden|beoordelen)",
    ),
    "fr": _Refusal(
        "je ",
        r"je (?:ne (?:peux|puis|pourrai|vais)|n'ai|ne suis)(?!\w)"
        rf"{_REST}(?:aider|assister|répondre|évaluer|juger|faire (?:cela|ça)|accéder|donner suite)"
        r"|je (?:dois )?(?:refuse|décline)",
    ),
    "es": _Refusal(
        "no p|no voy",
        rf"no (?:puedo|podemos|podré|voy a)(?!\w){_REST}(?:ayudar|asistir|responder|cumplir"
        r"|evaluar|juzgar|hacer(?:lo| eso| esto))",
    ),
    "it": _Refusal(
        "non ",
        rf"non (?:posso|possiamo|sono in grado)(?!\w){_REST}(?:aiutar|assister|rispondere"
        r"|valutare|giudicare|farlo)",
    ),
    "pt": _Refusal(
        "não ",
        rf"não (?:posso|podemos|consigo|vou)(?!\w){_REST}(?:ajudar|auxiliar|responder|avaliar"
        r"|julgar|fazer isso)",
    ),
    "pl": _Refusal("nie mo", rf"nie (?:mogę|możemy)(?!\w){_REST}(?:pomóc|odpowiedzieć|ocenić)"),
    "ru": _Refusal(
        "не ",
        rf"не (?:могу|можем|смогу|буду)(?!\w){_REST}(?:помо|ответить|отвечать|оценить|выполнить"
        r"|сделать это|обсуждать)",
    ),
    "uk": _Refusal(
        "не ",
        rf"не (?:можу|можемо|зможу)(?!\w){_REST}(?:допом|відповісти|оцінити)",
    ),
    "tr": _Refusal(
        "ama|eme", r"yardım(?:cı olama|\w{0,3} edeme)|(?:yanıt|cevap)l?(?:ayama| vereme)"
    ),
    "vi": _Refusal("không thể", rf"không thể{_REST}(?:giúp|hỗ trợ|trả lời)"),
    "id": _Refusal("tidak ", rf"tidak (?:bisa|dapat){_REST}(?:membantu|menjawab|menilai)"),
    "zh": _Refusal(
        "无法|無法|不|没",
        r"我[^.!?\n()]{0,12}?(?:无法|無法|不能|没法|没办法|不可以)[^.!?\n()]{0,16}?(?:帮|幫|协助"
        r"|協助|回答|满足|滿足|评判|评价|判断|判斷|提供)|(?:帮|幫)不(?:了|上|到)",
    ),
    "ja": _Refusal(
        "でき|出来|かねます|なれま",
        r"(?:(?:お?手伝い|お?手伝う|お答え|お応え|お力に|手助け|ご?協力|応じる|お助け|サポート)"
        r"[^.!?\n()]{0,12}?|(?:回答|対応)(?:する)?(?:こと)?[はが]?)"
        r"(?:でき(?:ません|かねます|ない)|出来ません|し?かねます|なれません)",
    ),
    "ko": _Refusal(
        "없",
        r"(?:도와|도움을?|답변|대답|응답|협조|응)[^.!?\n()]{0,8}?(?:드릴|할|줄) ?수 ?(?:가 )?없",
    ),
    "ar": _Refusal(
        "لا |لن ",
        rf"لا (?:أستطيع|يمكنني|نستطيع|يمكننا|أقدر){_REST}(?:مساعد|الإجابة|تقييم|الرد)"
        r"|لن أتمكن من",
    ),
    "fa": _Refusal(
        "توانم",
        rf"نمی ?توانم{_REST}(?:کمک|پاسخ)|(?:کمک|پاسخ)[^.!?\n()]{{0,20}}?نمی ?توانم",
    ),
    "he": _Refusal("לא ", rf"לא (?:יכול|יכולה|אוכל){_REST}(?:לעזור|לסייע|לענות|להשיב)"),
    "hi": _Refusal("नहीं", r"(?:मदद|सहायता|उत्तर|जवाब)[^.!?\n()]{0,20}?नहीं (?:कर|दे) सक"),
    "th": _Refusal("ไม่สามารถ", r"ไม่สามารถ(?:ช่วย|ตอบ|ให้ความช่วย|ให้คำตอบ|ประเมิน)"),
}
_HINTS: Final = tuple(
    (hint, language) for language, refusal in _REFUSALS.items() for hint in refusal.hints.split("|")
)
# What may stand between a label and a refusal. Verbs come last in some languages, and an adverb or
# an object first in others.
_LEAD: Final = (
    r"\W{0,6}(?:(?:but|and|so|well|i'm|i am|very|so|really|truly|sorry|afraid|unfortunately"
    r"|regrettably|apologies|my apologies|i apologi[sz]e|that|because|since|as)(?!\w)[ ,.;:-]{0,3})"
    r"{0,6}"
)
_LEAD_ELSEWHERE: Final = r"\W{0,6}[^.!?\n():\"]{0,40}?"
_LONGEST: Final = 200
_APOLOGIES: Final = re.compile(
    r"\b(?:(?:i'm|i am) (?:very |so |really )?sorry|my apologies|i apologi[sz]e|sorry, (?:but )?i"
    r"|i (?:can't|cannot|can not|won't|will not|am unable to|am not able to)"
    r"|i'm (?:unable|not able)|against my (?:programming|guidelines|principles))(?!\w)",
    re.IGNORECASE,
)
_ABSTAINS: Final = re.compile(
    r"\b(?:(?:i|we) (?:cannot|can't|can not|could not|couldn't|am unable to|am not able to"
    r"|are unable to)|i'm (?:unable|not able) to|it is (?:impossible|not possible) to|unable to)"
    r"(?: (?:fairly|reliably|really|properly|make an?|reach an?|objectively|possibly)){0,3}"
    r" (?:judge|decide|determine|choose|say|tell|compare|judge?ment|decision|determination"
    r"|verdict)\b"
    r"|\bi (?:must |will |would |have to |choose to )?abstain\b"
    r"|\b(?:insufficient|not enough) (?:information|context|evidence) (?:to|for)\b",
    re.IGNORECASE,
)


def declines(text: str, place: int = 0) -> bool:
    """Whether what stands at ``place`` of the text, behind a label or alone, declines to answer."""
    behind = text[place : place + _LONGEST]
    return bool(behind) and any(
        _declined(language).match(behind) for language in _spoken_in(behind)
    )


def refuses(text: str) -> bool:
    """Whether ``text`` declines to answer at all."""
    if _APOLOGIES.search(text):
        return True
    return any(_declining(language).search(text) for language in _spoken_in(text))


def abstains(text: str) -> bool:
    """Whether ``text`` says that it cannot be judged."""
    return _ABSTAINS.search(text) is not None


def _spoken_in(text: str) -> Iterable[str]:
    """The languages of which ``text`` may hold a refusal."""
    folded = text.lower()
    return dict.fromkeys([name for hint, name in _HINTS if hint in folded])


@cache
def _declining(language: str) -> re.Pattern[str]:
    return re.compile(_REFUSALS[language].pattern, re.IGNORECASE)


@cache
def _declined(language: str) -> re.Pattern[str]:
    lead = _LEAD if language == "en" else _LEAD_ELSEWHERE
    return re.compile(f"{lead}(?:{_REFUSALS[language].pattern})", re.IGNORECASE)
