"""Replies that decline: "I can't help with that", in the languages that judges are asked in.

"No, I can't help with that." begins with a label of the space ``YES/NO`` and is no verdict, and
"Yes, I can't help with that." is none either. So a label counts by its place alone (at the
beginning, or as a sentence) only if no refusal follows it, or precedes it. What is declined is
help, an answer or a judgment: "No, I can't find it in the source" is a verdict.
"""

from __future__ import annotations

import re
from typing import Final

_REST: Final = r"[^.!?\n()]{0,50}?"
_ENGLISH: Final = (
    r"(?:(?:i|we)(?: (?:simply|really|just|also))?"
    r" (?:can't|cannot|can not|could not|couldn't|won't|will not|am unable to|am not able to"
    r"|am not (?:allowed|permitted|going) to|are unable to)|i'm (?:unable|not able|not going) to)"
    rf"(?:{_REST}\b(?:help|assist|comply|answer|respond|reply|do (?:that|this|so)|fulfil\w{{0,6}}"
    r"|continue|engage|participate|judge|evaluate|assess|rate|grade|decide|discuss|process"
    r"|(?:provide|give|offer|share|render|make) (?:an?|any|my|you|that|this|such))(?!\w)"
    r"|(?= ?[.!\n]| ?$))"
    r"|i(?:'d| would) rather not(?!\w)|i(?: do not| don't) feel comfortable"
    r"|i(?:'m| am) not comfortable|i(?:'m| am) going to (?:have to )?(?:decline|refuse)"
    r"|i (?:must |have to |will |would )?(?:respectfully |politely )?(?:decline|refuse)(?!\w)"
    r"|(?:this|that|it)(?:'s| is) not something (?:that )?i can"
    r"|as an ai(?![\w-])|as a (?:large )?language model"
)
# By language: what is not done, and that it is help or an answer, in the order of a sentence.
_OTHERS: Final = {
    "de": r"(?:(?:kann|können|darf|werde|möchte) (?:ich|wir)|(?:ich|wir) (?:kann|können|darf|werde"
    rf"|möchte))(?!\w){_REST}(?:nicht|keine?)(?!\w){_REST}(?:helfen|behilflich|beantworten"
    r"|nachkommen|bewerten|beurteilen|erfüllen|bewertung abgeben)",
    "nl": rf"(?:ik kan|kan ik)(?!\w){_REST}niet(?!\w){_REST}(?:helpen|beantwoorden|beoordelen)",
    "fr": r"je (?:ne (?:peux|puis|pourrai|vais)|n'ai|ne suis)(?!\w)"
    rf"{_REST}(?:aider|assister|répondre|évaluer|juger|faire (?:cela|ça)|accéder|donner suite)"
    r"|je (?:dois )?(?:refuse|décline)",
    "es": rf"no (?:puedo|podemos|podré|voy a)(?!\w){_REST}(?:ayudar|asistir|responder|cumplir"
    r"|evaluar|juzgar|hacer(?:lo| eso| esto))",
    "it": rf"non (?:posso|possiamo|sono in grado)(?!\w){_REST}(?:aiutar|assister|rispondere"
    r"|valutare|giudicare|farlo)",
    "pt": rf"não (?:posso|podemos|consigo|vou)(?!\w){_REST}(?:ajudar|auxiliar|responder|avaliar"
    r"|julgar|fazer isso)",
    "pl": rf"nie (?:mogę|możemy)(?!\w){_REST}(?:pomóc|odpowiedzieć|ocenić)",
    "ru": rf"не (?:могу|можем|смогу|буду)(?!\w){_REST}(?:помо|ответить|отвечать|оценить|выполнить"
    r"|сделать это|обсуждать)",
    "uk": rf"не (?:можу|можемо|зможу)(?!\w){_REST}(?:допом|відповісти|оцінити)",
    "tr": r"yardım(?:cı olama|\w{0,3} edeme)|(?:yanıt|cevap)l?(?:ayama| vereme)",
    "vi": rf"không thể{_REST}(?:giúp|hỗ trợ|trả lời)",
    "id": rf"tidak (?:bisa|dapat){_REST}(?:membantu|menjawab|menilai)",
    "zh": r"我[^.!?\n()]{0,12}?(?:无法|無法|不能|没法|没办法|不可以)[^.!?\n()]{0,16}?(?:帮|幫|协助"
    r"|協助|回答|满足|滿足|评判|评价|判断|判斷|提供)"
    r"|(?:帮|幫)不(?:了|上|到)",
    "ja": r"(?:(?:お?手伝い|お?手伝う|お答え|お応え|お力に|手助け|ご?協力|応じる|お助け|サポート)"
    r"[^.!?\n()]{0,12}?|(?:回答|対応)(?:する)?(?:こと)?[はが]?)"
    r"(?:でき(?:ません|かねます|ない)|出来ません|し?かねます|なれません)",
    "ko": r"(?:도와|도움을?|답변|대답|응답|협조|응)[^.!?\n()]{0,8}?(?:드릴|할|줄) ?수 ?(?:가 )?없",
    "ar": rf"لا (?:أستطيع|يمكنني|نستطيع|يمكننا|أقدر){_REST}(?:مساعد|الإجابة|تقييم|الرد)"
    r"|لن أتمكن من",
    "fa": rf"نمی ?توانم{_REST}(?:کمک|پاسخ)|(?:کمک|پاسخ)[^.!?\n()]{{0,20}}?نمی ?توانم",
    "he": rf"לא (?:יכול|יכולה|אוכל){_REST}(?:לעזור|לסייע|לענות|להשיב)",
    "hi": r"(?:मदद|सहायता|उत्तर|जवाब)[^.!?\n()]{0,20}?नहीं (?:कर|दे) सक",
    "th": r"ไม่สามารถ(?:ช่วย|ตอบ|ให้ความช่วย|ให้คำตอบ|ประเมิน)",
}
_DECLINES: Final = f"(?:{'|'.join((_ENGLISH, *_OTHERS.values()))})"
# What may stand between a label and a refusal.
_LEAD: Final = (
    r"\W{0,6}(?:(?:but|and|so|well|i'm|i am|very|so|really|truly|sorry|afraid|unfortunately"
    r"|regrettably|apologies|my apologies|i apologi[sz]e|that|because|since|as)(?!\w)[ ,.;:-]{0,3})"
    r"{0,6}"
)
# Verbs come last in some languages, and an adverb or an object first in others.
_LEAD_OF_OTHERS: Final = r"\W{0,6}[^.!?\n():\"]{0,40}?"
_DECLINED: Final = re.compile(
    f"{_LEAD}(?:{_ENGLISH})|{_LEAD_OF_OTHERS}(?:{'|'.join(_OTHERS.values())})", re.IGNORECASE
)
_REFUSES: Final = re.compile(
    r"\b(?:(?:i'm|i am) (?:very |so |really )?sorry|my apologies|i apologi[sz]e|sorry, (?:but )?i"
    r"|i (?:can't|cannot|can not|won't|will not|am unable to|am not able to)"
    rf"|i'm (?:unable|not able)|against my (?:programming|guidelines|principles))(?!\w)"
    rf"|{_DECLINES}",
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
    return _DECLINED.match(text, place) is not None


def refuses(text: str) -> bool:
    """Whether ``text`` declines to answer at all."""
    return _REFUSES.search(text) is not None


def abstains(text: str) -> bool:
    """Whether ``text`` says that it cannot be judged."""
    return _ABSTAINS.search(text) is not None
