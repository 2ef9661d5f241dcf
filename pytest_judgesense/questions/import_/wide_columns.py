"""Columns that say the same of one item, and become a row each: runs, judges, criteria, candidates.

What tells them apart stands in their names: ``run_1`` and ``run_2``, ``gpt-4`` and ``claude-3``,
``scores.clarity`` and ``scores.tone``, ``score_a`` and ``score_b`` beside ``answer_a`` and
``answer_b``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile
from typing import Final

from pytest_judgesense.errors import listed
from pytest_judgesense.files.proposals import (
    OpenQuestion,
    PossibleReading,
    Proposal,
    Setting,
    ShownSetting,
)
from pytest_judgesense.files.rows import name_words
from pytest_judgesense.files.synonyms import candidate_pairs, differing_words
from pytest_judgesense.files.tables import RowTable
from pytest_judgesense.questions.import_ import role_words as words_of
from pytest_judgesense.questions.import_.column_facts import ColumnFacts
from pytest_judgesense.questions.import_.criteria import criterion_of
from pytest_judgesense.questions.import_.finder import (
    is_answer_of_judged,
    is_of_people,
    says_answers,
    weight_of,
    words_in,
)
from pytest_judgesense.trial import grouped

_NUMBER: Final = re.compile(r"\d+")
_REPLICATE: Final = "replicate"
_CANDIDATE: Final = "candidate"
_VERDICT: Final = "verdict"
# Words of columns that differ in a number, a run each.
_NUMBERED_RUNS: Final = frozenset(
    "run rep replicate repeat trial try vote sample seed round attempt verdict judgment judgement "
    "score rating answer winner".split()
)
# From here on a name says that a column holds verdicts.
_OF_VERDICTS: Final = 3
_ABOUT: Final = words_of.ABOUT - {"judge", "grader", "evaluator", "model"}
# Words of columns that a judge wrote in, in each of its runs.
_OF_REPLIES: Final = words_of.REPLIES | {"reply", "replies", "raw"}
# What no pattern can name, for it stands for something else there.
_SIGNS: Final = frozenset("{}|:=,")
_FEWEST: Final = 2
# Words of columns of what a judged system wrote.
_WRITTEN_BY_SYSTEMS: Final = frozenset(
    "answer response output pred prediction text completion generation reply summary".split()
)
# An object that is called so holds what a judge said.
_OF_JUDGES: Final = frozenset(
    "judgment judgement judge verdict evaluation eval assessment labels parsed result grades "
    "scores ratings".split()
)
# Of several fields one that is called so is the verdict.
_ONE_VERDICT: Final = frozenset(
    "verdict winner judgment judgement decision rating score grade label preference".split()
)
_CONDITIONS: Final = frozenset("condition shot setting mode arm group bias".split())


def of_wide_columns(columns: Sequence[ColumnFacts], table: RowTable) -> Proposal:
    """The columns of a table that become rows, by a pattern of their names; or nothing.

    Args:
        columns: those that are taken for nothing yet.
        table: the rows.
    """
    proposals = (
        _by_judge(columns, table),
        _criteria(columns),
        _candidates(columns),
        _systems(columns),
        _dimensions(columns),
        _beside_answers(columns),
        _runs(columns),
        _judges(columns, table),
    )
    return next((proposal for proposal in proposals if proposal is not None), Proposal())


# --- runs -----------------------------------------------------------------------------------------


def _runs(columns: Sequence[ColumnFacts]) -> Proposal | None:
    """Columns of verdicts that differ in their count alone, a run each."""
    for pattern, numbered in grouped(columns, _pattern).items():
        names = [facts.name for facts in numbered]
        if len(numbered) < _FEWEST or not pattern or not _are_runs(numbered):
            continue
        least = max(_OF_VERDICTS, 1 + weight_of(numbered[0]))
        if any(weight_of(f) >= least and not is_of_people(f) for f in columns):
            continue  # what the judge said stands in another column
        if len(names) == _FEWEST and differing_words(*names) in _words_of_texts(columns):
            continue  # they are of two candidates, as the texts are
        numbers = {_NUMBER.findall(facts.name)[-1] for facts in numbered}
        why = f"{len(numbered)} columns are called alike"
        shown = [ShownSetting(Setting("lists", (pattern, "verdict")), why)]
        for other, texts in grouped(columns, _pattern).items():
            own = {_NUMBER.findall(facts.name)[-1] for facts in texts} if other else set()
            if other and other != pattern and own == numbers:
                shown.append(ShownSetting(Setting("lists", (other, "")), why))
        return Proposal(tuple(shown))
    return None


def _are_runs(numbered: Sequence[ColumnFacts]) -> bool:
    """Whether columns are counted from 0 or 1 without gaps, are called as runs, and may answer.

    What differs in the names of models, such as their sizes, is no run.
    """
    counts = sorted(int(_NUMBER.findall(facts.name)[-1]) for facts in numbered)
    if counts not in ([*range(len(counts))], [*range(1, len(counts) + 1)]):
        return False
    words = {word for facts in numbered for word in name_words(_NUMBER.sub(" ", facts.name))}
    return (
        bool(words & _NUMBERED_RUNS)
        and not words & words_of.MODELS
        and all(facts.may_answer and not is_of_people(facts) for facts in numbered)
    )


def _pattern(facts: ColumnFacts) -> str:
    """The name of a column with its last number replaced by a place; empty without one."""
    matches: Iterator[re.Match[str]] = _NUMBER.finditer(facts.name)
    last = [*matches][-1:]
    if not last or "." in facts.name:
        return ""
    match = last[0]
    return f"{facts.name[: match.start()]}{{{_REPLICATE}}}{facts.name[match.end() :]}"


# --- judges ---------------------------------------------------------------------------------------


def _by_judge(columns: Sequence[ColumnFacts], table: RowTable) -> Proposal | None:
    """Columns of verdicts that differ in the name of a model alone: a judge each, or a candidate.

    Where texts are called after the same models, these were judged.
    """
    by_ending = grouped(filter(_is_verdict_of_one, columns), lambda facts: _ending(facts.name))
    for ending, alike in by_ending.items():
        beginnings = [facts.name.removesuffix(f"_{ending}") for facts in alike]
        models = [name for name in beginnings if {*name_words(name)} & words_of.MODELS]
        if len(models) < _FEWEST or not ending or "judge" in table.columns:
            continue
        texts = [_of_models(columns, beginnings, is_reply=is_reply) for is_reply in (False, True)]
        place = _CANDIDATE if texts[0] else "judge"
        names = [facts.name for facts in columns]
        shown = [(_pattern_of([facts.name for facts in alike], names, place), _VERDICT)]
        shown += [(_pattern_of(text, names, place), "") for text in texts[0][:1]]
        shown += [(_pattern_of(text, names, place), "reply") for text in texts[1][:1]]
        why = f"{len(alike)} {place}s"
        return Proposal(tuple(ShownSetting(Setting("lists", pair), why) for pair in shown))
    return None


def _is_verdict_of_one(facts: ColumnFacts) -> bool:
    return bool(facts.may_answer and weight_of(facts)) and not is_of_people(facts)


def _ending(name: str) -> str:
    return name.rpartition("_")[2] if "_" in name else ""


def _of_models(
    columns: Iterable[ColumnFacts], models: Sequence[str], *, is_reply: bool
) -> list[list[str]]:
    """The columns of texts that are called after two models or more and alike, by the ending."""
    texts = [
        facts.name
        for facts in columns
        if facts.kind == "texts"
        and bool(words_in(facts, words_of.REPLIES)) == is_reply
        and any(facts.name.startswith(f"{model}_") for model in models)
    ]
    return [names for names in grouped(texts, _ending).values() if len(names) >= _FEWEST]


def _judges(columns: Sequence[ColumnFacts], table: RowTable) -> Proposal | None:
    """Columns of the same kind of verdict that are called after a model each: judges, or judged."""
    alike = _called_after_models(columns)
    pattern = _pattern_of([facts.name for facts in alike], table.columns, "judge")
    if len(alike) < _FEWEST or not pattern or "judge" in table.columns:
        return None
    lists = Setting("lists", (pattern, _VERDICT))
    if all(words_in(facts, words_of.JUDGES) for facts in alike):
        return Proposal((ShownSetting(lists, f"{len(alike)} columns are called after judges"),))
    of_judged = _pattern_of([facts.name for facts in alike], table.columns, _CANDIDATE)
    first = alike[0]
    readings = (
        PossibleReading((lists,), f"{first.name} is a judge, who said {first.stated[0]}"),
        PossibleReading(
            (Setting("lists", (of_judged, _VERDICT)),),
            f"{first.name} was judged, and {first.stated[0]} was said of it",
        ),
    )
    names = listed(facts.name for facts in alike)
    row = table.rows[first.texts.index(first.stated[0])]
    return Proposal(
        questions=(OpenQuestion(f"did {names} judge, or were they judged?", row, readings),)
    )


def _called_after_models(columns: Sequence[ColumnFacts]) -> list[ColumnFacts]:
    """The columns that say the same kind of verdict and are called after a model each."""
    named = [
        facts
        for facts in columns
        if facts.may_answer
        and len(facts.different) > 1
        and not is_of_people(facts)
        and not words_in(facts, words_of.ANSWERS.keys() | words_of.CRITERIA | {"label"})
        and not words_in(facts, words_of.COUNTS | words_of.IDS | words_of.ORDER | _ABOUT)
    ]
    for first in named:
        if not words_in(first, words_of.MODELS | words_of.JUDGE):
            continue
        alike = [facts for facts in named if _says_the_same(first, facts)]
        if _are_of_models([f.name for f in alike]) and not _other_verdict(columns, alike):
            return alike
    return []


def _are_of_models(names: Sequence[str]) -> bool:
    """Whether what tells names is called after models, or counts judges: ``judge_1``."""
    begin, parts, end = _parts(names)
    models = [part for part in parts if {*name_words(part)} & (words_of.MODELS | words_of.JUDGE)]
    are_counted = {*name_words(begin), *name_words(end)} & words_of.JUDGES
    counted = [part for part in parts if part.isdecimal() or len(part) == 1]
    return len(models) >= _FEWEST or (bool(are_counted) and len(counted) == len(parts) > 1)


def _says_the_same(first: ColumnFacts, facts: ColumnFacts) -> bool:
    """Whether two columns hold the same words, or numbers of the same kind."""
    if first.kind != facts.kind or first.kind == "true or false":
        return first.kind == facts.kind
    if first.kind == "numbers":
        return first.are_whole_numbers == facts.are_whole_numbers
    return {w.casefold() for w in first.different} == {w.casefold() for w in facts.different}


def _other_verdict(columns: Iterable[ColumnFacts], some: Sequence[ColumnFacts]) -> bool:
    """Whether another column than ``some`` is surely the judge's verdict."""
    return any(
        weight_of(facts) >= _OF_VERDICTS and facts not in some and not is_of_people(facts)
        for facts in columns
    )


# --- criteria -------------------------------------------------------------------------------------


def _criteria(columns: Sequence[ColumnFacts]) -> Proposal | None:
    """Columns of scores, a criterion each, of which some are no whole numbers: a suite each.

    Whole numbers are grades by criterion, which stay in their columns.
    """
    numbers = [facts for facts in columns if facts.kind == "numbers"]
    scored = {
        criterion: facts
        for facts in reversed(numbers)
        if not is_of_people(facts) and (criterion := criterion_of(facts))
    }
    some = [*scored.values()][::-1]
    if len(some) < _FEWEST or not any(facts.answers.are_scores for facts in some):
        return None
    if _other_verdict(columns, some):
        return None
    names = [facts.name for facts in columns]
    pattern = _pattern_of([facts.name for facts in some], names, "suite")
    if not pattern:
        return None
    why = f"{len(some)} columns of scores, a criterion each"
    shown = [ShownSetting(Setting("lists", (pattern, _VERDICT)), why)]
    return Proposal((*shown, *_people_by_criterion([f.name for f in some], numbers)))


def _people_by_criterion(
    scored: Sequence[str], numbers: Iterable[ColumnFacts]
) -> Iterator[ShownSetting]:
    """The columns of what people said, that are called as those of the judge and a word more."""
    of_people = [facts.name for facts in numbers if is_of_people(facts)]
    beside = {name.replace(scored[0], "{}", 1) for name in of_people if scored[0] in name}
    for form in sorted(beside):
        if all(form.replace("{}", name) in of_people for name in scored):
            pattern = form.replace("{}", f"{{suite:{'|'.join(scored)}}}")
            yield ShownSetting(Setting("lists", (pattern, "label")), "people's, of the same")


# --- two candidates -------------------------------------------------------------------------------


def _candidates(columns: Sequence[ColumnFacts]) -> Proposal | None:
    """Two columns of scores that are called as two columns of texts: a candidate each."""
    scores = {facts.name: facts for facts in columns if facts.kind == "numbers"}
    words_of_texts = _words_of_texts(columns)
    for pair in candidate_pairs(scores):
        some = [scores[name] for name in pair]
        are_answers = all(weight_of(facts) and not is_of_people(facts) for facts in some)
        words = differing_words(*pair)
        if not are_answers or words not in words_of_texts or _other_verdict(columns, some):
            continue
        long_texts = [f.name for f in columns if f.kind == "texts"]
        pairs = [p for p in candidate_pairs(long_texts) if differing_words(*p) == words]
        names = [facts.name for facts in columns]
        why = f"scores of two candidates, as {listed(pairs[0] if pairs else words or ())} are two"
        shown = [(_pattern_of(pair, names, _CANDIDATE), _VERDICT)]
        shown += [(_pattern_of(both, names, _CANDIDATE), "") for both in pairs]
        return Proposal(tuple(ShownSetting(Setting("lists", pair), why) for pair in shown))
    return None


def _words_of_texts(columns: Iterable[ColumnFacts]) -> set[tuple[str, str] | None]:
    """In which words the columns differ that hold texts or names of two candidates."""
    written = (
        facts.name
        for facts in columns
        if facts.kind in ("texts", "names", "words")
        and words_in(facts, words_of.JUDGED_TEXTS | words_of.MODEL | {"assistant"})
        and not words_in(facts, _OF_REPLIES)
    )
    return {differing_words(*pair) for pair in candidate_pairs(written)}


# --- systems that were judged ---------------------------------------------------------------------


def _systems(columns: Sequence[ColumnFacts]) -> Proposal | None:
    """Verdicts of several systems in a row, as ``base_score`` and ``ft_score``, a row each.

    A text of each system beside them (``base_answer``, ``ft_answer``) shows that these are no
    judges and no criteria. All columns that are called after the same systems go together.
    """
    names = [facts.name for facts in columns]
    texts = [facts for facts in columns if facts.kind in ("texts", "names")]
    for is_before in (True, False):
        verdicts = [facts for facts in columns if _is_surely_said(facts)]
        alike = grouped(verdicts, lambda facts: facts.name)
        for rest in _shared_rests([*alike], is_before=is_before):
            said = [name for name in alike if _system_in(name, rest, is_before=is_before)]
            systems = [_system_in(name, rest, is_before=is_before) for name in said]
            if not _may_be_systems(systems):
                continue
            others = _rests_of(names, systems, is_before=is_before)
            written = _rests_of([f.name for f in texts], systems, is_before=is_before)
            judged = [other for other in written if {*name_words(other)} & _WRITTEN_BY_SYSTEMS]
            some = [facts for facts in columns if facts.name in said]
            if not judged or _other_verdict(columns, some):
                continue
            place = f"{{{_CANDIDATE}:{'|'.join(systems)}}}"
            why = f"{len(systems)} systems, of which texts stand beside"
            pairs = [(_placed(place, rest, is_before=is_before), _VERDICT)]
            pairs += [
                (_placed(place, other, is_before=is_before), "")
                for other in others
                if other != rest
            ]
            return Proposal(tuple(ShownSetting(Setting("lists", pair), why) for pair in pairs))
    return None


def _is_surely_said(facts: ColumnFacts) -> bool:
    is_said = facts.may_answer and weight_of(facts) >= _OF_VERDICTS and len(facts.different) > 1
    return bool(is_said) and not is_of_people(facts)


def _shared_rests(names: Sequence[str], *, is_before: bool) -> list[str]:
    """What two names or more share behind their first part, or before their last; longest first."""
    rests = Counter(
        rest
        for name in names
        for rest in {
            "_".join(parts[cut:] if is_before else parts[:-cut])
            for parts in [name.split("_")]
            for cut in range(1, len(parts))
        }
    )
    shared = [rest for rest, count in rests.items() if count >= _FEWEST]
    return sorted(shared, key=len, reverse=True)


def _system_in(name: str, rest: str, *, is_before: bool) -> str:
    """What a name holds besides ``rest``; empty where it is called otherwise."""
    if is_before:
        return name.removesuffix(f"_{rest}") if name.endswith(f"_{rest}") else ""
    return name.removeprefix(f"{rest}_") if name.startswith(f"{rest}_") else ""


def _may_be_systems(systems: Sequence[str]) -> bool:
    """Whether what tells columns apart may be names of systems: no people, orders or criteria."""
    words = [{*name_words(system)} for system in systems]
    others = words_of.PEOPLE - {"reference"} | words_of.JUDGES | words_of.CRITERIA
    are_orders = all(system.casefold() in words_of.ORDERS for system in systems)
    are_named = not any(_SIGNS & {*system} for system in systems)
    are_counted = all(system.isdecimal() for system in systems)
    is_enough = len(systems) >= _FEWEST and are_named
    return is_enough and not (are_orders or are_counted or any(of & others for of in words))


def _rests_of(names: Sequence[str], systems: Sequence[str], *, is_before: bool) -> list[str]:
    """What stands beside each of the systems in the names of columns."""
    first = systems[0]
    begin, end = (f"{first}_", "") if is_before else ("", f"_{first}")
    rests = [
        name[len(begin) : len(name) - len(end)]
        for name in names
        if name.startswith(begin) and name.endswith(end) and len(name) > len(begin + end)
    ]
    return [r for r in rests if all(_placed(s, r, is_before=is_before) in names for s in systems)]


def _placed(system: str, rest: str, *, is_before: bool) -> str:
    return f"{system}_{rest}" if is_before else f"{rest}_{system}"


# --- several things that were said of one item ----------------------------------------------------


def _dimensions(columns: Sequence[ColumnFacts]) -> Proposal | None:
    """Fields of one object of the judge that are no numbers of one scale: a suite each.

    ``judgment.is_polite`` and ``judgment.is_short`` say several things of one item.
    """
    fields = [facts for facts in columns if "." in facts.name and facts.kind != "nothing"]
    for parent, inside in grouped(fields, lambda facts: facts.name.rpartition(".")[0]).items():
        is_judges = {*name_words(parent.rpartition(".")[2])} & _OF_JUDGES
        of_people = is_of_people(ColumnFacts(parent, ()))
        said = [facts for facts in inside if _is_dimension(facts)]
        if not is_judges or of_people or len(said) < _FEWEST:
            continue
        if all(facts.kind == "numbers" for facts in said) or _has_verdict(columns, said):
            continue
        return _as_suites(columns, said)
    return None


def _beside_answers(columns: Sequence[ColumnFacts]) -> Proposal | None:
    """What a judge said in several columns, beside answers that were judged: a suite each."""
    answers = [facts for facts in columns if is_answer_of_judged(facts)]
    if len(answers) < _FEWEST:
        return None
    said = [
        facts
        for facts in columns
        if facts not in answers
        and _is_dimension(facts)
        and (facts.kind == "words" or facts.are_whole_numbers)
        and not words_in(facts, words_of.IDS | words_of.ITEM | words_of.MODEL | _CONDITIONS)
        and "is" not in facts.words[:1]
    ]
    if not any(map(says_answers, said)) or _has_verdict(columns, said):
        return None
    return _as_suites(columns, said) if len(said) >= _FEWEST else None


def _is_dimension(facts: ColumnFacts) -> bool:
    about = {*facts.own_words} & words_of.ABOUT and facts.kind == "words"
    is_other = words_in(facts, words_of.COUNTS) or about or is_of_people(facts)
    return facts.may_answer and len(facts.different) > 1 and not is_other


def _has_verdict(columns: Sequence[ColumnFacts], said: Sequence[ColumnFacts]) -> bool:
    """Whether a column, of these or another, is called as the one verdict is."""
    one = [f for f in said if f.own_words[-1:] and f.own_words[-1] in _ONE_VERDICT]
    others = [f for f in columns if f not in said and not is_answer_of_judged(f)]
    return bool(one) or any(
        weight_of(facts) >= _OF_VERDICTS and not is_of_people(facts) for facts in others
    )


def _as_suites(columns: Sequence[ColumnFacts], said: Sequence[ColumnFacts]) -> Proposal | None:
    names = [facts.name for facts in columns]
    pattern = _pattern_of([facts.name for facts in said], names, "suite")
    if not pattern:
        return None
    why = f"{len(said)} columns of what was said, a suite each"
    return Proposal((ShownSetting(Setting("lists", (pattern, _VERDICT)), why),))


# --- patterns -------------------------------------------------------------------------------------


def _pattern_of(names: Sequence[str], every: Iterable[str], place: str) -> str:
    """The pattern of some of the columns: what they share, and what tells them at a place.

    Empty where no pattern can name them.
    """
    if len(names) < _FEWEST:
        return ""
    begin, parts, end = _parts(names)
    if any(not part or _SIGNS & {*part} for part in parts) or _SIGNS & {*begin, *end}:
        return ""
    others = [name for name in every if name not in names]
    is_bare = bool(begin or end) and not any(
        name.startswith(begin) and name.endswith(end) for name in others
    )
    stated = "" if is_bare else f":{'|'.join(parts)}"
    return f"{begin}{{{place}{stated}}}{end}"


def _parts(names: Sequence[str]) -> tuple[str, list[str], str]:
    """What names begin with alike, what tells them, and what they end with alike."""
    begin, end = _shared(names, "_."), _shared([name[::-1] for name in names], "_.")[::-1]
    return begin, [name[len(begin) : len(name) - len(end)] for name in names], end


def _shared(names: Sequence[str], signs: str) -> str:
    """What names begin with alike, up to one of some signs."""
    alike = takewhile(lambda characters: len({*characters}) == 1, zip(*names, strict=False))
    shared = "".join(characters[0] for characters in alike)
    return shared[: 1 + max(shared.rfind(sign) for sign in signs)]
