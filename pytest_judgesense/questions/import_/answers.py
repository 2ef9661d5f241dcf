"""Which columns hold what the judge said: verdicts, grades by criterion, or replies that state one.

A name proposes, the contents decide. Where two columns are as good, or it is open whose the answers
are, it is asked; where nothing of a judge speaks, that is said.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from typing import Final

from pytest_judgesense.errors import listed
from pytest_judgesense.files.proposals import PossibleReading, Setting
from pytest_judgesense.files.reshaping import PEOPLE as OF_PEOPLE
from pytest_judgesense.files.rows import name_words
from pytest_judgesense.files.synonyms import candidate_pairs
from pytest_judgesense.files.tables import own_name
from pytest_judgesense.questions.import_ import role_words as words_of
from pytest_judgesense.questions.import_.column_facts import ColumnFacts
from pytest_judgesense.questions.import_.criteria import criterion_of
from pytest_judgesense.questions.import_.finder import (
    Finder,
    answers_of_judged,
    is_of_people,
    names_models,
    says_answers,
    weight_of,
    words_in,
)
from pytest_judgesense.replies.stated_answers import WHOLE_REPLY, StatedAnswers, stated_answers
from pytest_judgesense.suites.space import whole_scale

_LABEL: Final = ("label",)
# From here on a name alone says that a column holds the answers of a judge.
_SURE: Final = 2
_OF_VERDICTS: Final = 3
# So many columns of usual criteria show what the others are called.
_FEWEST_ALIKE: Final = 2
_ORDER_WORDS: Final = {word: order for word, order in words_of.ORDERS.items() if word.isalpha()}
# Of persons, those of whom each row may have another.
_RATERS: Final = frozenset("annotator rater worker reviewer expert voter".split())
# Whoever it was, a person said what is called so.
_OF_ANY_PERSON: Final = frozenset("human humans people".split())
# Numbers in a column that is called so are seldom ids of people.
_NUMBERED_SELDOM: Final = _OF_ANY_PERSON | {"person"}
# What is said in columns of these names is a judge's where one is named.
_ANNOTATED: Final = frozenset("label labels annotation annotations".split())
_OF_JUDGES_FILES: Final = words_of.JUDGES | {"judge", "llm", "autorater"}
# A list of letters of which the last may be neither of two candidates.
_THREE_LETTERS: Final = {"A", "B", "C"}
# Words of columns of true and false that say whether something is as it is to be.
_MET: Final = frozenset(
    "met fulfilled satisfied passed pass correct success successful verdict decision judgment "
    "accepted".split()
)
# An answer is made of several, if another is not.
_OF_SEVERAL: Final = ("mean", "average", "avg", "median", "total", "sum")
# Of the replies of a judge, those that state a verdict at least.
_LEAST_STATING: Final = 0.1
# Forms in which texts that are judged state an answer as well.
_OF_SOLUTIONS: Final = ("boxed", "answer")


def find_answers(finder: Finder) -> None:
    """Take the column, or columns, of what the judge said."""
    if finder.fields.get("verdict") == "" and not finder.has_answers:
        _without_judge(finder)
        return
    if finder.has_answers or _is_by_people(finder):
        return
    if _take_wide_orders(finder) or _take_grades(finder):
        return
    judged = answers_of_judged(finder.free.values())
    free = [facts for facts in finder.free.values() if facts.name not in judged]
    of_people = [f for f in free if is_of_people(f) and f.may_answer]
    weights = {facts.name: weight_of(facts) for facts in free}
    candidates = [
        facts
        for facts in free
        if weights[facts.name] and not is_of_people(facts) and (of_people or facts.words != _LABEL)
    ]
    candidates = [
        facts
        for facts in candidates
        if weights[facts.name] >= _SURE or not of_people or _as_comparable(facts, of_people)
    ]
    best = max((weights[facts.name] for facts in candidates), default=0)
    of_candidates = {n for pair in candidate_pairs(f.name for f in candidates) for n in pair}
    if len(of_candidates) < len(candidates):  # what is said of each candidate compares none
        candidates = [facts for facts in candidates if facts.name not in of_candidates]
        best = max(weights[facts.name] for facts in candidates)
    top = [facts for facts in candidates if weights[facts.name] == best]
    top = [facts for facts in top if not words_in(facts, _OF_SEVERAL)] or top
    top = [facts for facts in top if facts.name == "verdict"] or top
    if not top:
        _without_answers(finder, of_people)
    elif len(top) > 1 and any(facts.texts != top[0].texts for facts in top):
        _ask_which(finder, top)
    elif (other := _of_other_kind(finder, top[0])) is not None:
        _ask_which(finder, [top[0], other])
    elif best >= _SURE or of_people:
        _take_verdict(finder, top[0], of_people)
    elif not _read_replies(finder):
        _ask_whose(finder, top[0])


def _take_verdict(finder: Finder, facts: ColumnFacts, of_people: Sequence[ColumnFacts]) -> None:
    why = facts.says
    if facts.words == _LABEL:
        why += f"; people's is {listed(person.name for person in of_people)}"
    finder.take("verdict", facts.name, why)


def _of_other_kind(finder: Finder, verdict: ColumnFacts) -> ColumnFacts | None:
    """A column that says whether something is met, beside points for it: either may be meant."""
    if verdict.kind != "numbers" or verdict.name == "verdict":
        return None
    for facts in finder.free.values():
        is_said = facts.kind == "true or false" and len(facts.different) > 1
        if is_said and words_in(facts, _MET) and not is_of_people(facts):
            return facts
    return None


def _ask_which(finder: Finder, top: Sequence[ColumnFacts]) -> None:
    """Ask which of several columns holds the verdict, by a row in which two of them differ."""
    first, second = top[:2]
    both = [*zip(first.texts, second.texts, strict=True)]
    differing = (place for place, said in enumerate(both) if said[0] != said[1] and all(said))
    row = next(differing, 0)
    readings = [
        PossibleReading((Setting("map", ("verdict", facts.name)),), f"it said {facts.texts[row]}")
        for facts in (first, second)
    ]
    if are_grades := _all_at_once(top):
        readings = [are_grades, readings[0]]
    names = listed(facts.name for facts in top)
    finder.ask(f"which column is what the judge said: {names}?", readings, row=row)


def _all_at_once(columns: Sequence[ColumnFacts]) -> PossibleReading | None:
    """That all columns are grades by criteria of one scale, if they may be."""
    scales = [whole_scale(facts.stated) for facts in columns if facts.kind == "numbers"]
    are_plain = any({*facts.own_words} <= words_of.ANSWERS.keys() for facts in columns)
    if are_plain or len(scales) < len(columns) or any(scale is None for scale in scales):
        return None
    together = whole_scale([text for facts in columns for text in facts.stated])
    # Another scale is another kind of number, such as a count.
    if together is None or len({(facts.numbers[0], facts.numbers[-1]) for facts in columns}) > 1:
        return None
    settings = tuple(Setting("grades", (facts.name, facts.name)) for facts in columns)
    return PossibleReading(settings, f"it gave all {len(columns)} grades, a criterion each")


def _ask_whose(finder: Finder, facts: ColumnFacts) -> None:
    said = facts.stated[0]
    readings = (
        PossibleReading((Setting("map", ("verdict", facts.name)),), f"the judge said {said}"),
        PossibleReading((Setting("map", ("label", facts.name)),), f"{said} is right, or people's"),
    )
    row = facts.texts.index(said)
    finder.ask(f"who said what stands in column {facts.name}: the judge?", readings, row=row)


def _is_by_people(finder: Finder) -> bool:
    """Whether each row is what one person said, and nothing is a judge's; then it is told."""
    who = _who_said_it(finder)
    if who is None or _names_a_judge(finder) or finder.says("reply") or finder.says("judge"):
        return False
    said = [facts for facts in finder.free.values() if facts is not who and _may_be_said(facts)]
    if not said or _has_answers_beside_theirs(who, said):
        return False
    said.sort(key=weight_of, reverse=True)
    names = listed(facts.name for facts in said)
    finder.no_judge = f"each row is what one person said, {names} by {who.name}"
    if not finder.says("label"):
        finder.take("label", said[0].name, said[0].says)
        for facts in said[1:]:
            finder.free.pop(facts.name)
        if len(said) > 1:
            others = " or ".join(f"--map label={facts.name}" for facts in said[1:])
            finder.notes.append(f"{said[0].name} is proposed as the label; others: {others}")
    return True


def _has_answers_beside_theirs(who: ColumnFacts, said: Sequence[ColumnFacts]) -> bool:
    """Whether a column is what the named people said, and another, in its words, is a judge's.

    Whose an answer is stands in its name: ``human.label`` beside ``human.annotator``. A ``rater``
    may be the judge itself.
    """
    if words_in(who, words_of.JUDGES):
        return False
    theirs = [
        facts for facts in said if words_in(facts, {*who.words, *_OF_ANY_PERSON} - {"id", "name"})
    ]
    others = [facts for facts in said if facts not in theirs and not is_of_people(facts)]
    sure = [facts for facts in others if weight_of(facts) >= _OF_VERDICTS]
    return bool(theirs) and any(_as_comparable(facts, theirs) for facts in sure)


def _may_be_said(facts: ColumnFacts) -> bool:
    """Whether a column may hold what a person said."""
    are_votes = facts.kind == "words" and says_answers(facts) and _may_answer(facts)
    are_grades = facts.kind == "numbers" and bool(criterion_of(facts))
    is_name = len(facts.different) < 2 or words_in(facts, words_of.MODEL | words_of.COUNTS)
    return not is_name and (bool(weight_of(facts)) or are_votes or are_grades)


def _names_a_judge(finder: Finder) -> bool:
    """Whether a column is a judge's: its name, or what it said."""
    for facts in finder.free.values():
        by_judge = words_in(facts, words_of.JUDGE - words_of.JUDGED - {"eval"})
        if by_judge and not is_of_people(facts):
            return True
    return False


def _who_said_it(finder: Finder) -> ColumnFacts | None:
    """A column that names the person whose answer a row is."""
    for facts in finder.free.values():
        who = {*facts.words} - {"id", "name"}
        if not who or not who <= words_of.PERSONS or facts.missing or says_answers(facts):
            continue
        if _says_as_another(finder, facts):
            continue
        is_id = "id" in facts.words and facts.is_unique and who <= _RATERS
        repeats = 1 < len(facts.different) < len(facts.cells)
        if (
            (repeats or is_id)
            and facts.kind in ("words", "names", "numbers")
            and not names_models(facts)
        ):
            return facts
    return None


def _says_as_another(finder: Finder, facts: ColumnFacts) -> bool:
    """Whether a column called after a person holds answers, as another one shows: no names.

    It has words of a column of answers. Numbers of raters may be their ids; those of a column
    ``human`` or ``person`` are answers beside other numbers, and 0 and 1 beside any answers.
    """
    others = [other for other in finder.free.values() if other is not facts and weight_of(other)]
    said = {word.casefold() for word in facts.different}
    if facts.are_numbers and not {*facts.words} <= _NUMBERED_SELDOM:
        return False
    return any(
        (facts.are_numbers and other.are_numbers)
        or said == {"0", "1"}
        or said & {word.casefold() for word in other.different}
        for other in others
    )


def _without_judge(finder: Finder) -> None:
    """Say that no judge speaks, as the user does, and which column holds what is right."""
    label = finder.fields.get("label", "")
    holds = f"; {label} holds what people said" if label else ""
    finder.no_judge = f"no column holds what a judge said, as you say{holds}"


def _without_answers(finder: Finder, of_people: Sequence[ColumnFacts]) -> None:
    """Say what there is where no column is called as the answers of a judge are."""
    if _read_replies(finder):
        return
    labels = [*of_people, *(f for f in finder.free.values() if f.words == _LABEL)]
    may_be = [facts for facts in finder.free.values() if _may_answer(facts)]
    may_be = [facts for facts in may_be if facts not in labels]
    may_be.sort(key=lambda facts: not says_answers(facts))  # the usual words of verdicts first
    if labels:
        may_be = [facts for facts in may_be if _as_comparable(facts, labels)]
    of_judge = [facts for facts in labels if {*facts.words} <= _ANNOTATED]
    if of_judge and not may_be and (evidence := _judge_is_named(finder)):
        finder.take("verdict", of_judge[0].name, f"{of_judge[0].says}; {evidence}")
    elif of_judge and not may_be and _has_reasons(finder):
        _ask_whose(finder, of_judge[0])
    elif len(may_be) == 1:
        _ask_whose(finder, may_be[0])
    elif may_be:
        _ask_which(finder, may_be)
    elif labels:
        names = listed(facts.name for facts in labels)
        finder.no_judge = f"no column holds what a judge said; {names} holds what people said"
        finder.take("label", labels[0].name, labels[0].says)
    else:
        finder.no_judge = "no column holds what a judge or a person said"


def _judge_is_named(finder: Finder) -> str:
    """What says that a judge speaks: a column of its name or reply, or the file's name; or nothing.

    Each row of an annotator that is a model is a judge's as well.
    """
    for facts in finder.free.values():
        is_annotator = facts.words == ("annotator",) and names_models(facts)
        of_judge = words_in(facts, words_of.JUDGES | {"judge"}) - {"rater"}
        is_raw = "raw" in facts.words and words_in(facts, words_of.WRITTEN - {"text", "content"})
        if is_annotator or (of_judge and not is_of_people(facts)) or is_raw:
            return f"a judge is told by {facts.name}"
    words = {*name_words(own_name(finder.given.path))} if finder.given.path.name else set()
    if words & _OF_JUDGES_FILES and not words & words_of.PEOPLE:
        return "the file is called after a judge"
    return f"the judge is {finder.fields['judge']}" if finder.fields.get("judge") else ""


def _has_reasons(finder: Finder) -> bool:
    """Whether a column holds reasons, which would be taken for a judge's reply."""
    reasons = finder.named(words_of.REPLIES)
    return any(facts.kind == "texts" and not is_of_people(facts) for facts in reasons)


def _may_answer(facts: ColumnFacts) -> bool:
    """Whether a column could hold answers, whatever its name: few words that repeat."""
    is_id = words_in(facts, words_of.IDS) or facts.is_unique or len(facts.different) < 2
    varies = 2 * len(facts.different) > len(facts.cells) > 4
    is_count = facts.kind == "numbers" and facts.words[:1] == ("n",)
    is_counted = is_count or words_in(facts, words_of.COUNTS | words_of.ORDER | words_of.REPLICATE)
    # A number is what the last word of its name says: "topic_adherence" is no topic.
    about = facts.words[-1:] if facts.kind == "numbers" else facts.words
    is_other = bool(is_counted) or bool({*about} & words_of.ABOUT)
    return facts.may_answer and not is_id and not varies and not is_other


def _as_comparable(facts: ColumnFacts, labels: Sequence[ColumnFacts]) -> bool:
    """Whether a column says what labels say, or numbers as they do."""
    said = {word.casefold() for word in facts.different}
    words = {word.casefold() for label in labels for word in label.different}
    are_numbers = facts.are_numbers and all(label.are_numbers for label in labels)
    return are_numbers or bool(said & words)


# --- replies --------------------------------------------------------------------------------------


def _read_replies(finder: Finder) -> bool:
    """Take the replies in which verdicts are stated, if there are such; or ask whose texts are."""
    if (named := finder.column_of("reply")) is not None:
        return _read_named(finder, named)
    open_columns: list[tuple[ColumnFacts, StatedAnswers]] = []
    for facts in finder.free.values():
        if facts.kind not in ("texts", "names", "words") or is_of_people(facts):
            continue
        shown = stated_answers(facts.texts)
        if not shown.labels or shown.form == WHOLE_REPLY or not _is_judges(facts, shown):
            continue  # a column of answers, of which nothing says whose they are
        if _is_called_judges(facts) or _is_of_judges(shown):
            _take_replies(finder, facts, shown)
            return True
        open_columns.append((facts, shown))
    if open_columns:
        _ask_whose_texts(finder, *open_columns[0])
    return bool(open_columns)


def _read_named(finder: Finder, facts: ColumnFacts) -> bool:
    """Take the labels that the replies of a judge state; where most state none, ask."""
    shown = stated_answers(facts.texts)
    if shown.labels:
        _take_replies(finder, facts, shown)
        return True
    shown = stated_answers(facts.texts, _LEAST_STATING)
    if not shown.labels:
        finder.no_judge = (
            f"column {facts.name} holds what it said, and {shown.why}; if the replies state "
            "verdicts, name these: --labels A,B,tie, or --labels 1,2,3,4,5"
        )
        return True
    labels = Setting("labels", shown.labels)
    said = ", ".join(shown.labels)
    readings = (
        PossibleReading((labels,), f"{shown.stating} replies state one of {said}, the others none"),
        PossibleReading(
            (Setting("map", ("reply", "")),), "the replies are those of a model that was judged"
        ),
    )
    row = next(place for place, text in enumerate(facts.texts) if text)
    asks = f"do the replies in column {facts.name} state verdicts? {shown.why}"
    finder.ask(asks, readings, row=row)
    return True


def _ask_whose_texts(finder: Finder, facts: ColumnFacts, shown: StatedAnswers) -> None:
    readings = (
        PossibleReading(
            (Setting("map", ("reply", facts.name)), Setting("labels", shown.labels)),
            f"a judge wrote it, who said one of {', '.join(shown.labels)}",
        ),
        PossibleReading((Setting("map", ("field.output", facts.name)),), "it is what was judged"),
    )
    finder.ask(f"who wrote column {facts.name}: a judge? {shown.why}", readings)


def _is_called_judges(facts: ColumnFacts) -> bool:
    """Whether the name of a column says that a judge wrote its texts."""
    by_judge = words_in(facts, (words_of.JUDGE - words_of.JUDGED) | words_of.REPLIES)
    return bool(by_judge) or facts.name == "reply"


def _is_of_judges(shown: StatedAnswers) -> bool:
    """Whether the form in which texts state something is one that a judge is asked for."""
    return shown.form.startswith("[[") or any(
        word in words_of.ANSWERS and words_of.ANSWERS[word] >= _SURE
        for word in name_words(shown.form)
    )


def _is_judges(facts: ColumnFacts, shown: StatedAnswers) -> bool:
    """Whether a judge, and not who was judged, may have written the texts of a column."""
    if _is_called_judges(facts):
        return True
    is_question = words_in(facts, words_of.JUDGED_TEXTS - words_of.WRITTEN)
    of_solution = any(word in shown.form.casefold() for word in _OF_SOLUTIONS)
    return not is_question and not (of_solution and words_in(facts, words_of.WRITTEN))


def _take_replies(finder: Finder, facts: ColumnFacts, shown: StatedAnswers) -> None:
    if not finder.says("reply"):
        finder.take("reply", facts.name, f"states {shown.why}")
    finder.show("labels", shown.labels, shown.why)
    for word, meaning in shown.renamed:
        if word.casefold() not in finder.renamed:
            finder.show("value", (word, meaning), f"{word} means {meaning}")
    if {*shown.labels} == _THREE_LETTERS and "c" not in finder.renamed:
        readings = (
            PossibleReading((Setting("value", ("C", "tie")),), "C says that neither is better"),
            PossibleReading((Setting("value", ("C", "C")),), "C is the third of three answers"),
        )
        finder.ask("do replies say by C that two candidates are as good?", readings)


# --- both orders in a row -------------------------------------------------------------------------


def _take_wide_orders(finder: Finder) -> bool:
    """Take two columns of verdicts that differ in the words for the two orders."""
    answers = [facts for facts in finder.free.values() if weight_of(facts)]
    for both in combinations(answers, 2):
        rest = [tuple(word for word in f.words if word not in _ORDER_WORDS) for f in both]
        orders = [[_ORDER_WORDS[word] for word in f.words if word in _ORDER_WORDS] for f in both]
        if rest[0] == rest[1] and sorted(orders) == [["ab"], ["ba"]]:
            for facts, (order,) in zip(both, orders, strict=True):
                finder.take(f"verdict.{order}", facts.name, f"what was said in order {order}")
            return True
    return False


# --- grades by criterion --------------------------------------------------------------------------


def _take_grades(finder: Finder) -> bool:
    """Take columns of whole numbers, a criterion each, where no other column is a verdict."""
    graded: dict[str, ColumnFacts] = {}
    for facts in finder.free.values():
        criterion = criterion_of(facts)
        if criterion and facts.are_numbers and not is_of_people(facts):
            graded.setdefault(criterion, facts)
    _add_answers_called_as_criteria(finder, graded)
    _add_alike(finder, graded)
    stated = [
        facts
        for facts in finder.free.values()
        if weight_of(facts) >= _OF_VERDICTS
        and facts not in graded.values()
        and not is_of_people(facts)
        and not words_in(facts, words_of.IDS)
    ]
    is_verdict = any(not facts.are_numbers for facts in stated) or len(graded) <= len(stated)
    if not graded or (stated and is_verdict):
        return False
    if any(whole_scale(facts.numbers) is None for facts in graded.values()):
        return False
    scale = whole_scale([text for facts in graded.values() for text in facts.numbers])
    ends = f"{scale[0]} to {scale[-1]}" if scale else "numbers"
    for criterion, facts in graded.items():
        finder.show("grades", (criterion, facts.name), f"grades {ends}")
        finder.free.pop(facts.name)
    for criterion in graded:
        _take_people_of(finder, criterion, alone=len(graded) == 1)
    if stated:
        names = listed(facts.name for facts in stated)
        finder.notes.append(f"grades by criterion are read; for {names} alone: --map verdict=...")
    return True


def _add_answers_called_as_criteria(finder: Finder, graded: dict[str, ColumnFacts]) -> None:
    """Add grades such as ``correctness``, which alone is what a judge says of everything."""
    scale = whole_scale([text for facts in graded.values() for text in facts.numbers])
    for facts in finder.free.values():
        is_called_so = len(facts.words) == 1 and facts.words[0] in words_of.CRITERIA
        if is_called_so and facts.are_numbers and {*facts.numbers} <= {*(scale or ())}:
            graded.setdefault(facts.words[0], facts)


def _add_alike(finder: Finder, graded: dict[str, ColumnFacts]) -> None:
    """Add grades of criteria with other names, in columns that are called as those of usual ones.

    ``judge_policy`` is a grade beside ``judge_accuracy`` and ``judge_empathy``.
    """
    beginnings = Counter(facts.name.rpartition("_")[0] for facts in graded.values())
    scale = whole_scale([text for facts in graded.values() for text in facts.stated])
    beginning, count = next(iter(beginnings.most_common(1)), ("", 0))
    if not beginning or count < _FEWEST_ALIKE or scale is None:
        return
    for facts in finder.free.values():
        criterion = facts.name.removeprefix(f"{beginning}_")
        is_alike = criterion != facts.name and facts.kind == "numbers"
        of_other = words_of.IDS | words_of.COUNTS | words_of.ANSWERS.keys()
        is_other = is_of_people(facts) or words_in(facts, of_other)
        is_new = facts not in graded.values() and not is_other
        if is_alike and is_new and {*facts.stated} <= {*scale}:
            graded[criterion] = facts


def _take_people_of(finder: Finder, criterion: str, *, alone: bool) -> None:
    """Take the columns in which people graded by a criterion.

    Where it stands ``alone`` they may be called after nothing else than people.
    """
    of_people = [
        facts.name
        for facts in finder.free.values()
        if facts.are_numbers
        and not words_in(facts, words_of.COUNTS | words_of.IDS)
        and (
            (
                is_of_people(facts)
                and (criterion in facts.name.casefold() or (alone and not criterion_of(facts)))
            )
            or (alone and facts.name in finder.joined)
            or facts.name.startswith(f"{OF_PEOPLE}{criterion}.")
        )
    ]
    if of_people:
        finder.show("people", (criterion, "+".join(of_people)), "people's grades of it")
        for name in of_people:
            finder.free.pop(name)
