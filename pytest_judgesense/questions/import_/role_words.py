"""Words in the names of columns by what such a column may hold.

English words alone: what a name in another language holds is asked for. A name proposes, the
contents decide.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


PEOPLE: Final = _words(
    """
    human humans person persons people gold golden truth gt expert experts annotator annotators
    annotation annotations crowd manual reviewer reviewers rater raters expected target majority
    turk mturk user users reference true
    """
)
"""Who gave an answer was a person, or knew the right one."""

PERSONS: Final = _words(
    "annotator rater person worker reviewer user expert voter participant human"
)
"""A column that is called so alone may name the person, or hold what was said."""

TOGETHER: Final = _words(
    "gold golden truth gt expected target majority consensus mean average final reference label "
    "true human humans people"
)
"""An answer is that of all people, not of one of them."""

JUDGE: Final = _words(
    """
    judge judged judges grader graded evaluator evaluated eval llm ai auto autorater automatic gpt
    claude gemini llama mistral qwen deepseek predicted prediction predictions pred system machine
    verifier critic rm model
    """
)
"""Who gave an answer was a model."""

JUDGED: Final = _words("model llm system machine ai predicted prediction predictions pred")
"""Who is called so may be the judge, or, beside what was written, who was judged."""

MODELS: Final = _words("gpt claude gemini llama mistral qwen deepseek mixtral gemma phi grok o1 o3")
"""Names of models."""

ANSWERS: Final[Mapping[str, int]] = MappingProxyType(
    dict.fromkeys(_words("verdict verdicts judgment judgement judgments winner decision"), 4)
    | dict.fromkeys(
        _words(
            "preference preferred pick picked picks choice vote votes said say says rating ratings "
            "grade grades mark marks score scores"
        ),
        3,
    )
    | dict.fromkeys(
        _words(
            "result outcome prediction predicted pred evaluation assessment classification passed "
            "pass success correct correctness chosen better selected preds predictions"
        ),
        2,
    )
    | dict.fromkeys(_words("answer response output label labels class parsed value ok is reply"), 1)
)
"""How well a word says that a column holds answers of a judge."""

OF_PAIRS: Final = _words(
    "winner decision verdict judgment judgement preference preferred pick picked choice chosen "
    "vote better selected best"
)
"""A column with one of them may hold 1 and 2 for two candidates."""

CRITERIA: Final = _words(
    """
    clarity coherence consistency fluency relevance helpfulness correctness accuracy faithfulness
    factuality conciseness completeness tone style grammar harmlessness honesty depth creativity
    groundedness informativeness naturalness understandability engagingness readability safety
    toxicity verbosity complexity truthfulness specificity usefulness empathy politeness novelty
    originality soundness contribution quality overall presentation precision recall organization
    organisation instruction following adequacy interestingness persuasiveness logic reasoning
    citation citations structure format formatting
    """
)
"""What outputs are graded by."""

ITEM: Final = _words(
    """
    id ids uid uuid guid qid idx index key item question example sample case test instance problem
    pair ticket doc document q row prompt task entry record comparison conversation dialogue turn
    """
)
IDS: Final = _words("id ids uid uuid guid qid idx index key no number num unnamed")
"""A name with one of them tells rows or what they belong to."""

ORDER: Final = _words(
    "order swapped swap swaps position shown presentation flipped reversed reverse ordering side "
    "first game permutation orientation"
)
SWAPPED: Final = _words("swapped swap flipped reversed reverse inverted")
REPLICATE: Final = _words(
    "replicate replicates run runs trial repetition repeat rep attempt iteration iter epoch seed "
    "round sample try pass"
)
TEMPLATE: Final = _words("template wording variant version prompt")
JUDGES: Final = _words("judge grader evaluator autorater rater")
MODEL: Final = _words("model llm system generator author")
PROMPTS: Final = _words("prompt prompts messages")
REPLIES: Final = _words(
    """
    rationale reasoning reason reasons explanation explanations critique feedback justification cot
    thoughts thought analysis judgment judgement verdict evaluation assessment comment comments why
    """
)
"""What a judge wrote, where a column holds texts."""

WRITTEN: Final = _words("reply replies completion raw output response text content generation")
"""What a model wrote: a judge, if a word of `JUDGE` stands beside it or nothing else can have."""

FAILED: Final = _words("error errors failed failure exception")
SECONDS: Final = _words("latency duration elapsed seconds")
OTHER_UNITS: Final = _words("ms millis milliseconds us ns minutes min")
SURE: Final = _words("confidence certainty")
TOKENS: Final[Mapping[str, frozenset[str]]] = MappingProxyType(
    {
        "prompt_tokens": _words("prompt input in"),
        "completion_tokens": _words("completion output out"),
    }
)

CRITERION: Final = _words("criterion criteria metric dimension aspect attribute rubric")
"""What names the criterion of a row."""

JUDGED_TEXTS: Final = WRITTEN | _words(
    """
    question answer completion input prompt context reference task instruction query statement
    claim passage document summary source article story dialogue conversation hypothesis premise
    solution instructions criteria rubric ask
    """
)
"""What was judged, where a column holds texts."""

COUNTS: Final = _words(
    """
    tokens token latency cost price length len chars count counts duration time timestamp date year
    seed size num confidence probability prob probs logprob logprobs temperature temp rank elo
    version turn seconds ms created line usage retries percent weight n p entropy std stdev sd
    variance
    """
)
"""Numbers that are no answers."""

ABOUT: Final = _words(
    """
    category type kind language lang split source model domain dataset topic subset level difficulty
    template variant judge grader evaluator task group
    """
)
"""What says of which kind an item is, or who made it."""

VOCABULARY: Final = _words(
    """
    yes no pass fail passed failed a b c d tie 1 2 true false good bad correct incorrect win loss
    lose draw positive negative neutral accurate inaccurate supported unsupported refuted safe
    unsafe harmful harmless relevant irrelevant valid invalid better worse same equal neither both
    model_a model_b left right first second partial excellent poor fair faithful unfaithful
    hallucinated factual nonfactual y n ok abstain
    """
)
"""The usual words of verdicts."""

ORDERS: Final[Mapping[str, str]] = MappingProxyType(
    dict.fromkeys(
        (
            "ab",
            "original",
            "forward",
            "fwd",
            "normal",
            "unswapped",
            "default",
            "base",
            "a_first",
            "a-b",
        ),
        "ab",
    )
    | dict.fromkeys(
        ("ba", "swapped", "reverse", "reversed", "flipped", "inverted", "b_first", "b-a", "swap"),
        "ba",
    )
)
"""What presentation orders are called, and ours."""

WORDS_OF_PAIRS: Final[Mapping[str, str]] = MappingProxyType(
    {
        **dict.fromkeys(("a>b", "a>>b", "a > b", "a >> b", "[[a]]", "[[a>b]]", "[[a>>b]]"), "A"),
        **dict.fromkeys(("b>a", "b>>a", "b > a", "b >> a", "[[b]]", "[[b>a]]", "[[b>>a]]"), "B"),
        **dict.fromkeys(("a<b", "a<<b", "a < b", "a << b"), "B"),
        **dict.fromkeys(("b<a", "b<<a", "b < a", "b << a"), "A"),
        **dict.fromkeys(
            ("a=b", "a = b", "b=a", "a==b", "[[a=b]]", "[[c]]", "tied", "draw", "equal", "both"),
            "tie",
        ),
        **dict.fromkeys(("tie (bothbad)", "tie (both bad)", "bothbad", "both bad", "ties"), "tie"),
    }
)
"""What some write for one of two candidates, or for neither."""

NO_ANSWER: Final = _words(
    "error none null n/a na nan unknown unparsed unparsable invalid ? garbage unparseable "
    "parse_error parse-error parsing_error parse_failed parse_failure unreadable no_answer "
    "no_verdict"
) | {"parse error", "parsing error", "no answer", "no verdict", "n.a."}
"""Words that state no verdict."""

# "RateLimitError: 429", "error 500"; "error in the facts" may be a class.
_ERROR: Final = re.compile(
    r"([\w.]*(Error|Exception)|error|ERROR|([Tt]ime(out|d out)|TIMEOUT))\s*([:(\d]|$)"
)


def states_nothing(word: str) -> bool:
    """Whether a cell holds a word that states no verdict, or the error of a call."""
    return word.casefold() in NO_ANSWER or bool(_ERROR.match(word))
