"""What the wordings of a suite ask for, parsed from their text, in English. Pure.

Wordings are only compared with each other: one that cannot be parsed is never a contradiction. A
wording *explains* its labels (``YES (has errors)``, ``1 = poor``, ``NO if it is wrong``) or only
*asks* (``Does it contain errors?``); contradicting explanations are an error, contradicting
questions a warning. Under inverted polarity, declared for the template or the item, a wording
counts with the opposite sign. Labels of two slots are parsed from the question: which is better, or
which is worse.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Final

from pytest_judgesense.suites.finding import LintFinding, some
from pytest_judgesense.suites.prompt_template import fill, placeholders
from pytest_judgesense.suites.space import DecisionSpace
from pytest_judgesense.suites.suite import Suite
from pytest_judgesense.trial import TIE

_GOOD = (
    r"correct|accura|true\b|support|confirm|agree|right\b|valid|coheren|good|excellent|best\b|"
    r"faithful|relevan|consisten|better|prefer|superior|high quality|higher quality"
)
_BAD = (
    r"error|mistake|incorrect|inaccura|wrong|false|untrue|unsupported|contradict|incoheren|"
    r"disconnect|bad\b|poor|worst|worse|weaker|inferior|hallucinat|invalid|unfaithful|irrelevan"
)
_WITHOUT: Final = re.compile(
    r"\b(?:no|not|none|without|free of|isn't|neither)\s+(?:\w+\s+){0,2}?"
    rf"(?=\w*(?:{_GOOD}|{_BAD}))\w*?(?P<word>{_BAD}|{_GOOD})\w*",
    re.IGNORECASE,
)
_QUESTION: Final = re.compile(
    r"\b(?:whether|does|do|is|are|which|decide|determine|judge|pick|choose|name)\b", re.IGNORECASE
)


def _sign(text: str) -> int:
    """1 if ``text`` is positive about the judged text, -1 if negative, 0 if neither or both."""
    signs = set()
    for denied in _WITHOUT.finditer(text):
        signs.add(1 if re.match(_BAD, denied["word"], re.IGNORECASE) else -1)
    rest = _WITHOUT.sub(" ", text)
    bad = re.compile(rf"\b(?:in|un|dis)?(?:{_BAD})\w*", re.IGNORECASE)
    signs |= {-1} if bad.search(rest) else set()
    signs |= {1} if re.search(rf"\b(?:{_GOOD})", bad.sub(" ", rest), re.IGNORECASE) else set()
    return signs.pop() if len(signs) == 1 else 0


def _glosses(text: str, label: str) -> list[str]:
    """The meaning of ``label`` in ``text``: ``YES (has errors)``, ``1 = poor``, ``NO if``."""
    clauses = re.findall(
        rf"(?<![\w-]){re.escape(label)}[\"']?\s*(?:\(([^)]{{0,400}})\)|[=:]\s*([^\n,;.()]*)|"
        rf"(?:if|when|for|means|meaning|stands for)\s+([^\n,;.]*))",
        text,
    )
    return [re.split(r"\b(?:and|or|otherwise|else)\b", "".join(clause))[0] for clause in clauses]


def reads_as(text: str, space: DecisionSpace) -> tuple[int, bool]:
    """The direction of a wording's labels, of which the first and the last are opposites.

    1 or -1, equal for wordings whose labels mean the same, or 0 if unclear; and whether the wording
    explains its labels (``YES (has errors)``) or only asks (``Does it contain errors?``).
    """
    if len(space.labels) > 2 and not space.ordinal:
        return 0, False
    signs: set[int] = set()
    if not space.pairwise:
        for label, way in ((space.labels[0], 1), (space.labels[-1], -1)):
            signs |= {way * _sign(gloss) for gloss in _glosses(text, label)} - {0}
    explained = bool(signs)
    if not explained and not space.ordinal:
        questions = [part for part in re.split(r"(?<=[.?!\n])\s", text) if _QUESTION.search(part)]
        signs = {_sign(part) for part in questions} - {0}
    return (signs.pop() if len(signs) == 1 else 0), explained


def _wordings(suite: Suite, *, whole: bool = False) -> Iterator[tuple[str, bool, str]]:
    """The texts that ask: a template's own, or an item's where the template only passes it on.

    Each with its name, and whether its labels are declared to mean the opposite. Text that all
    templates share is the judged material and is left out; ``whole``: unless one of them is nothing
    else, because the items are whole prompts.
    """
    # Templates that grade one candidate have other labels.
    asking = [(t, placeholders(t.text)) for t in suite.templates if not t.single]
    judged = frozenset.intersection(*(shown for _, shown in asking)) if asking else frozenset()
    if whole and any(
        shown <= judged and not fill(t.text, dict.fromkeys(shown, "")).strip()
        for t, shown in asking
    ):
        for template, _ in asking:
            for item in suite.items:
                yield f"{template.id} of {item.id}", False, fill(template.text, item.texts("ab"))
        return
    for template, shown in asking:
        inverted = template.polarity == "inverted"
        bare = fill(template.text, dict.fromkeys(shown, " "))
        if bare.strip():
            yield template.id, inverted, bare
            continue
        for item in suite.items:
            text = fill(template.text, {**item.texts("ab"), **dict.fromkeys(judged, " ")})
            yield f"{template.id} of {item.id}", inverted or template.id in item.inverted, text


def polarity(suite: Suite) -> Iterator[LintFinding]:
    """Labels that mean the opposite under another wording, declared or not."""
    if suite.space.score is not None:
        return
    ways: dict[tuple[int, bool], list[str]] = defaultdict(list)
    inverted = []
    for name, opposite, text in _wordings(suite):
        way, explained = reads_as(text, suite.space)
        inverted += [name] * opposite
        ways[-way if opposite else way, explained].append(name)
    count = sum(map(len, ways.values()))
    if 0 < len(inverted) < count:
        yield LintFinding(
            "warning",
            "polarity",
            f"templates {some(inverted)}",
            "the labels mean the opposite, as is declared",
            f"{len(inverted)} of {count} wordings are inverted",
            "one polarity throughout",
            "read the pooled JSS as what is meant; the raw one, which flips, stands beside it",
        )
    if unclear := ways[0, True]:
        yield LintFinding(
            "warning",
            "polarity",
            f"templates {some(unclear)}",
            "what the labels mean cannot be told",
            "explanations that contradict each other",
            "one meaning for each label",
            "say once what each label means",
        )
    first, other = sides = [ways[way, True] + ways[way, False] for way in (1, -1)]
    if not all(sides):
        return
    sure = bool(ways[1, True] and ways[-1, True])
    yield LintFinding(
        "error" if sure else "warning",
        "polarity",
        f"templates {some(first if len(first) < len(other) else other)}",
        "the labels mean the opposite of what they mean in the others"
        if sure
        else "the question is put the other way round than in the others",
        f"{len(first)} wordings one way round, {len(other)} the other",
        "one polarity, or polarity declared",
        'declare polarity = "inverted" where it is, reword, or leave them out: every judge would '
        "seem to flip",
    )


def _named(text: str, space: DecisionSpace) -> set[str]:
    """The verdicts of ``space`` that ``text`` names."""
    names = {v: (v, *space.names.get(v, ())) for v in _wanted(space)}

    def finds(call: str) -> bool:
        flags = re.IGNORECASE if len(call) > 1 else re.NOFLAG
        return re.search(rf"(?<!\w){re.escape(call)}(?!\w)", text, flags) is not None

    named = {verdict for verdict, calls in names.items() if any(map(finds, calls))}
    # "1 to 5" includes the labels in between.
    ranges = {frozenset(ends) for ends in _RANGE.findall(text)}
    for scale in _scales(space):
        ends = {scale[0], scale[-1]}
        if ends in ranges or (space.ordinal and ends <= named):
            named |= set(scale)
    return named


def _scales(space: DecisionSpace) -> list[tuple[str, ...]]:
    """The scales that replies use: those of the criteria, where it has some."""
    return [*dict.fromkeys(criterion.labels for criterion in space.criteria)] or [space.labels]


def _wanted(space: DecisionSpace) -> dict[str, None]:
    """The verdicts that a wording has to name, in order."""
    labels = (label for scale in _scales(space) for label in scale)
    return dict.fromkeys((*labels, *((TIE,) * space.tie)))


_CHOICE: Final = re.compile(
    r"\b([A-Z][A-Za-z_]*)(?:\s*\([^)]{0,400}\))?,?\s+(?:or|/)\s+([A-Z][A-Za-z_]*)\b"
)
_RANGE: Final = re.compile(r"(?<![\w.])(-?\d+)\s*(?:-|to)\s*(-?\d+)(?![\w%])")


def template_labels(suite: Suite) -> Iterator[LintFinding]:
    """Wordings that do not ask for the labels that the others ask for."""
    wanted = _wanted(suite.space)
    systems = {t.id: t.system for t in suite.templates if t.system is not None}
    silent, foreign, whole = [], [], 0
    for name, _, text in _wordings(suite, whole=True):
        prompt = f"{systems.get(name, suite.system)}\n{text}"
        if wanted.keys() <= _named(prompt, suite.space):
            whole += 1
            continue
        are_numbers = suite.space.ordinal or suite.space.score is not None
        statements = (_RANGE if are_numbers else _CHOICE).findall(text)
        if statements and not _named(text, suite.space):
            foreign.append(f"{name} ({' or '.join(statements[0])})")
        else:
            silent.append(name)
    labels = ", ".join(wanted)
    if foreign:
        yield LintFinding(
            "error",
            "template-labels",
            f"templates {some(foreign)}",
            "other labels are asked for than the suite counts",
            f"{len(foreign)} wordings with labels of their own",
            f"the labels {labels}",
            "reword them, or give [space] the names that the prompts use",
        )
    if silent:
        yield LintFinding(
            "warning",
            "template-labels",
            f"templates {some(silent)}",
            "not all labels are named" + ("" if not whole else ", as they are in others"),
            f"{len(silent)} of {len(silent) + len(foreign) + whole} wordings",
            f"the labels {labels}, in every prompt or in the system prompt",
            "name them, or give [space] the names that the prompts use",
        )
