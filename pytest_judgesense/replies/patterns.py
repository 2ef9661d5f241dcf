"""The English of verdicts: what a statement looks like, as regular expressions.

Written over a marked text (see `vocabulary`), in which one private-use character, `L` below,
stands for every mention of a label, and from which Markdown is gone. Every pattern starts at a
fixed word or at a mention and repeats bounded parts a bounded number of times, so that the work
stays linear in the text whatever a hostile reply holds.

A pattern says what was said of which label (group ``value``, and ``other`` for what it was
compared with); `statements` judges by the words before it how surely it is the verdict.
"""

from __future__ import annotations

import re
from typing import Final

from pytest_judgesense.replies.vocabulary import NOUN

EXPLICIT: Final = "\uf8f1"
L: Final = "[\ue000-\uefff]"
_I: Final = re.IGNORECASE

# -- parts --------------------------------------------------------------------------------------

_ADVERB: Final = (
    r"(?: (?:clearly|slightly|significantly|much|definitely|overall|generally|marginally|far"
    r"|somewhat|also|still|therefore|thus|certainly|considerably|substantially|arguably"
    r"|undoubtedly|ultimately|actually|indeed|obviously|simply|likely|probably|really|easily"
    r"|narrowly|the|an?|by|to|be|as|bit|little|considered|deemed|judged|rated|evaluated|strictly"
    r"|factually|fully|completely|entirely|largely|mostly|objectively|only)){0,6}"
)
_BE: Final = (
    r"(?:is|was|'s|seems|appears|would be|should be|will be|has to be|must be|stands out"
    r"|emerges|comes out|turns out to be|proves|remains|can be considered)"
)
_GOOD: Final = (
    r"(?P<good>better|best|superior|preferable|preferred|stronger|strongest|winner|winning"
    r"|favou?red|my choice|my pick|my preference|chosen|selected)"
)
_BAD: Final = r"(?P<bad>worse|worst|inferior|weaker|weakest|loser)"
_OWNER: Final = rf"(?P<value>{L})(?:'s)?(?: {NOUN})?"
_CLOSE: Final = r"[)\]}>'/|]{0,3}"
_OPEN: Final = r"[(\[{<'|]{0,3} ?"
_VALUE: Final = rf"{_OPEN}(?P<value>{L})"
_TERM: Final = (
    rf"(?={_CLOSE} ?(?:$|\n|[.,;:!?(<>={EXPLICIT}]|- |(?:because|as|since|due|over|rather"
    r"|instead|given|for several|for the following|for these|overall|here|it|they|this"
    r"|but|while|whereas|although|though|with an?|with the|out|stars?|points?|so|then|therefore"
    rf"|the|to(?= ?{L}))(?!\w)))"
)
_KEY: Final = (
    r"(?:verdict|answer|winner|decision|choice|judge?ment|rating|score|grade|label|result"
    r"|preference|conclusion|selection|prediction|ruling|vote|classification|assessment"
    r"|outcome|pick|determination|evaluation)"
)
_FEW_WORDS: Final = (
    r"(?: (?!(?:not|isn't|confidence|than|but|and|worse|worst|weaker|inferior|between|from|in"
    r"|least|is|no|either)(?!\w))[\w'()/%-]{1,20}){0,6}?"
)
_NOUN_AFTER: Final = (
    r"(?: (?:\w{1,20} )?(?:choice|output|response|answer|option|one|fit|pick|candidate|summary"
    r"|version|argument|assistant|solution|text|overall|here|of the two|between the two"
    r"|for (?:the|this)(?: given)? (?:instruction|task|question|prompt)|in this case"
    r"|to the(?: given)? (?:instruction|question|prompt)|(?:at |in |for )?"
    r"(?:executing|following|answering|addressing|fulfil?ling|completing|satisfying"
    r"|responding to|adhering to) (?:the|this)(?: given)?"
    r" (?:instructions?|task|question|prompt|request))(?!\w)){0,3}"
)
# After "L is a better ...": what makes it the better one of a kind and in part only.
IN_PART: Final = re.compile(
    r"[^.!?\n]{0,80}?(?:\b(?:in terms of|with respect to|when it comes to|regarding)|"
    r"^(?: \w{1,20}){0,2} (?:in|at)) ",
    re.IGNORECASE,
)
_OTHER: Final = (
    rf" (?:than|to|over|compared to|compared with)(?: the)? ?(?:(?P<other>{L})(?:'s)?(?: {NOUN})?"
    r"|other(?: one)?)"
)

# -- marked verdicts: "Verdict: L", "the score for this text is L" ------------------------------

MARK: Final = re.compile(
    r"(?P<final>\b(?:final|overall|definitive|ultimate|revised) (?:\w{1,12} )?)?"
    rf"\b{_KEY}\b{_FEW_WORDS} ?(?:\([^()\n]{{0,60}}\))?"
    r" ?(?::|=|\n|- |(?:is|would be|should be|goes to|must be|was|will be|of)(?!\w))[:=>\n]{0,3}"
    rf"{_ADVERB}(?: (?:for|that|in favou?r of))?[:\n ]{{0,3}}{_VALUE}",
    _I,
)
NOT_MINE: Final = re.compile(
    r"(?:correct|right|expected|reference|gold|truth|true|user's|student's|assistant's|its|their"
    r"|first|initial|previous|highest|lowest|maximum|minimum|possible|average) $",
    _I,
)
NOT_VERDICT: Final = re.compile(
    r"(?:(?:confidence|no|not|isn't|without)(?: an?| the)?"
    r"|good|ideal|perfect|possible|another|other|hypothetical|alternative) $",
    _I,
)
LINE_KEY: Final = re.compile(
    r"[-\d. ]{0,8}(?P<key>[A-Za-z][\w /-]{0,40})(?: ?\([^()\n]{0,60}\))?"
    rf" ?: ?{_VALUE}{_CLOSE}[.! ]{{0,3}}"
)
NOT_A_RATING: Final = re.compile(
    r"\b(?:number|count|confidence|issues?|errors?|step|paragraphs?|sentences?|total|words?"
    r"|length|item|question|point|example|criteri(?:on|a)|there)\b",
    _I,
)
TERM: Final = re.compile(_TERM, _I)
ANOTHER: Final = re.compile(
    rf"{_CLOSE} ?(?:,|/|-|;|\||&|or(?!\w)|and(?!\w)|but(?!\w)){{1,2}} ?{_OPEN}({L})"
    rf"(?={_CLOSE}{_TERM})",
    _I,
)

UP_TO: Final = re.compile(rf" to ({L})(?={_TERM})", _I)

# -- one label against the other ----------------------------------------------------------------

SUBJECT: Final = re.compile(
    rf"{_OWNER}(?:, [^,.;\n]{{1,60}},)?{_ADVERB} ?{_BE}{_ADVERB} (?:{_GOOD}|{_BAD})(?!\w)", _I
)
MAKES: Final = re.compile(rf"\bmak(?:es|ing) ?{_OWNER}{_ADVERB} {_GOOD}(?!\w)", _I)
IT_IS: Final = re.compile(rf"\bit (?:is|would be){_ADVERB} {_GOOD}(?!\w)", _I)
IS_SUBJECT: Final = re.compile(
    rf"\b(?:{_GOOD}|{_BAD})(?!\w){_FEW_WORDS}"
    rf"(?: is:?| would be:?|:| =| was| has to be| must be){_ADVERB} ?{_VALUE}{_TERM}",
    _I,
)
# After "L is better": nothing that narrows it, so it is the verdict; anything else is an aspect.
PLAIN_END: Final = re.compile(rf"{_NOUN_AFTER}(?:{_OTHER})?{_NOUN_AFTER}(?:{_TERM}| and(?!\w))", _I)
NOT_AS_GOOD: Final = re.compile(
    rf"{_OWNER} (?:is not|isn't|is less)(?: quite)?(?: as)?"
    rf" (?:good|strong|preferable|convincing) (?:as|than) ?(?P<other>{L})",
    _I,
)
WINS: Final = re.compile(
    rf"{_OWNER}{_ADVERB} (?:wins|won|prevails|comes out (?:ahead|on top)"
    r"|(?:beats|outperforms|outshines|surpasses|exceeds|edges out)"
    rf"(?: the other(?: one)?| ?(?P<other>{L})))"
    rf"(?: (?:this|the) (?:debate|comparison|round|match|argument))?{_TERM}",
    _I,
)
DOES_BETTER: Final = re.compile(
    rf"{_OWNER}{_ADVERB} (?:does an? better job|(?:is|would be)(?: the| a)? more"
    r" (?:suitable|appropriate|fitting|desirable)|better (?!than)\w{4,20}s(?!\w)"
    r"|(?:provides|offers|demonstrates|gives) an? (?:\w{1,20} )?better"
    r"|more (?:\w{1,12} and )?(?:closely|accurately|precisely|effectively|faithfully|directly)"
    r" (?:and \w{1,20} )?(?:executes|follows|addresses|answers|fulfil?ls|satisfies|meets|adheres"
    r"|aligns|matches))"
    r"(?P<task> (?:\w{1,12} )?(?:the|this)(?: given)?"
    r" (?:instructions?|task|question|prompt|request))?",
    _I,
)
COMPARED: Final = re.compile(rf"(?P<value>{L}) ?(?P<sign>[<>=])(?P=sign){{0,2}} ?(?P<other>{L})")

# -- labels chosen, given, concluded ------------------------------------------------------------

CHOOSE: Final = re.compile(
    r"\b(?:i|we)(?:'d|'ll)?(?: (?:would|will|must|have to|have|shall|also|definitely|strongly"
    r"|slightly|therefore|thus|personally|clearly|had to|hereby|am going to|want to)){0,4}"
    r" (?:prefer|choose|chose|chosen|select|selected|pick|picked|favou?r|recommend|declare"
    r"|vote for|voted for|vote|go with|opt for|side with|lean towards?|say|answer"
    rf"|give the (?:win|edge|nod|point|victory) to|award){_FEW_WORDS} ?{_VALUE}{_TERM}",
    _I,
)
RATE: Final = re.compile(
    r"\b(?:rate|rated|rating|score|scored|scoring|give|gave|giving|assign|assigned|assigning"
    r"|award|awarded|graded?|deserves?|earns?|merits?|receives?|gets?|warrants?)"
    rf"{_FEW_WORDS} ?{_VALUE}{_TERM}",
    _I,
)
IS_LABEL: Final = re.compile(
    rf"(?:(?<!there )\b(?:is|are|was|were|be|as)|'s){_ADVERB} ?:? ?{_VALUE}{_CLOSE}{_TERM}", _I
)
CUE_LABEL: Final = re.compile(
    r"\b(?:therefore|thus|hence|so|in conclusion|overall|finally|consequently|ultimately)[,:]?"
    r"(?: (?:it's|it is|this is|that is|that would be|the|a|my answer)){0,3}[, :]{0,3}"
    rf"{_VALUE}{_CLOSE}{_TERM}",
    _I,
)

# -- no label: ties, abstentions, refusals ------------------------------------------------------

TIES: Final = (
    re.compile(
        r"\b(?:are|is|be|as|they're|it's|that's|a)(?: (?:both|all|about|roughly|essentially"
        r"|basically|more or less|therefore|thus|clearly|of)){0,3}"
        r" (?:equally (?:good|bad|valid|strong|weak|effective|helpful|convincing|coherent|poor)"
        r"|equal(?: quality)?|equivalent|tied|identical in quality|on par|comparable in quality)"
        rf"{_NOUN_AFTER}{_TERM}",
        _I,
    ),
    re.compile(
        rf"\bneither(?: of (?:them|the (?:two|outputs|responses|answers))| {NOUN}"
        rf"| ?{L} nor ?{L})?(?: one)?"
        rf" (?:is|are|was){_ADVERB} (?:better|superior|preferable)(?: than the other)?{_TERM}",
        _I,
    ),
    re.compile(
        r"\bno (?:(?:clear|significant|meaningful|real|discernible|overall) ){0,2}"
        r"(?:winner|preference|difference(?: in quality)?|difference between the"
        rf" (?:two(?: {NOUN}s)?|{NOUN}s)){_TERM}",
        _I,
    ),
)
ABSTAINS: Final = re.compile(
    r"\b(?:(?:i|we) (?:cannot|can't|can not|could not|couldn't|am unable to|am not able to"
    r"|are unable to)|i'm (?:unable|not able) to|it is (?:impossible|not possible) to|unable to)"
    r"(?: (?:fairly|reliably|really|properly|make an?|reach an?|objectively|possibly)){0,3}"
    r" (?:judge|decide|determine|choose|say|tell|compare|judge?ment|decision|determination"
    r"|verdict)\b"
    r"|\bi (?:must |will |would |have to |choose to )?abstain\b"
    r"|\b(?:insufficient|not enough) (?:information|context|evidence) (?:to|for)\b",
    _I,
)
REFUSES: Final = re.compile(
    r"\b(?:(?:i'm|i am) (?:very |so |really )?sorry|my apologies|i apologi[sz]e|sorry, (?:but )?i"
    r"|as an ai|as a (?:large )?language model"
    r"|i (?:can't|cannot|can not|won't|will not|am unable to|am not able to|must decline|decline)"
    r"|i'm (?:unable|not able)|against my (?:programming|guidelines|principles))(?!\w)",
    _I,
)

# -- the words before a statement ---------------------------------------------------------------

STRONG_CUE: Final = re.compile(
    r"\b(?:therefore|thus|hence|consequently|accordingly|as a result|in conclusion|to conclude"
    r"|in summary|to summari[sz]e|to sum up|in sum|overall|ultimately|in the end|all in all"
    r"|on balance|all things considered|for (?:these|this) reasons?|my (?:final )?conclusion"
    r"|(?:i|we)(?: have)? (?:conclude|determine|decide)d?)\b|^so\b"
    rf"|\b{_KEY} ?(?::|is|-) ?(?:that )?$",
    _I,
)
SOFT_CUE: Final = re.compile(
    r"\b(?:considering|given|based on|taking|after|(?:i|we)(?: would)? (?:believe|think|judge|feel"
    r"|find|say|argue|evaluate)|it is clear|it's clear|in my (?:opinion|view|judge?ment)|so"
    r"|finally|in this case|on the whole|in general)\b|^however, $",
    _I,
)
DOUBT: Final = re.compile(
    r"\b(?:if|whether|which (?:is|was|of|one|output|response|answer)|unless|might|may|could|not"
    r"|never|nor|neither|cannot|hardly|barely|doubt|unclear|initially|at first|either|would have"
    r"|were|\w{2,6}n't|can't|except|unlike|some (?:people|readers|users)|one would|someone)\b",
    _I,
)
FAR_DOUBT: Final = re.compile(
    r"\b(?:not (?:the case|true|clear|believe|think|say)|(?:don't|cannot|can't) (?:think|believe"
    r"|say|claim|conclude)|if|whether|might (?:say|argue|think)"
    r"|(?:could|may) (?:be argued|argue|say))\b",
    _I,
)
ASPECT: Final = re.compile(
    r"\b(?:in terms of|regarding|with (?:respect|regards?) to|in regards? to|when it comes to"
    r"|as far as|as for|standpoint|perspective|stylistically|grammatically)\b",
    _I,
)
CLAUSE_ENDS: Final = re.compile(
    r"[,;:()]| (?:but|while|whereas|however|although|and|so|therefore|thus|hence) ", _I
)
# "L1 and L2 is better", "than L is", "between L": the label before the verb is not its subject.
NOT_A_SUBJECT: Final = re.compile(
    rf"(?:{L}(?:'s)?(?: {NOUN})? ?(?:and|or|nor|/|&)|\b(?:than|as good as|of|between)) ?$", _I
)

# -- the shape of a text ------------------------------------------------------------------------

MARKUP: Final = re.compile(
    r"[*`\"#]+|(?<!\w)_+|(?<=[^\W_])_+(?!\w)|(?<![\w\ue000-\uefff])'|'(?!\w)"
)
FRAMED: Final = re.compile(rf"[(\[{{<] ?({L}) ?[)\]}}>]")
LINES: Final = re.compile(r"[^\n]+")
# Not after the number of an item in a list.
SENTENCE_ENDS: Final = re.compile(
    r"(?<=[.!?])(?<!^\d\.)(?<!^\d\d\.)(?<!^- \d\.)[)\]]* +(?!\d)", re.MULTILINE
)
LONE: Final = re.compile(
    rf"[^\w?!~¬+\ue000-\uf8ff]*(?P<value>{L})(?: (?:stars?|points?))?[^\w?+\ue000-\uf8ff-]*"
)
OPENING: Final = re.compile(
    rf"[- ]{{0,3}}[(\[]?(?P<value>{L})[)\]]?"
    rf"(?P<then>[,:;] ?(?:because|since|as|not(?= {L}))(?!\w)"
    r"| ?[!:,;]|\.(?! ?\d)| \(| -| [a-z]+|$)",
    _I,
)
STARTS_LINE: Final = re.compile(rf"(?:^|\n)[-# (\[]*({L})(?=[)\].:])")
EXPLICIT_NOT: Final = re.compile(r"(?:not|never|n't|than) {0,2}$", _I)
