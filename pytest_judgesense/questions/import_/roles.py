"""What each column of a table is taken for, by its name, and by what it holds.

A name proposes, the contents decide: a ``label`` beside a column ``human`` is what the judge said,
an ``answer`` that is a text is what was judged, an ``order`` of many numbers is no presentation
order. What two columns could be, or what only words without a meaning say, is a question.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Final

from pytest_judgesense.errors import listed
from pytest_judgesense.files.import_options import ImportOptions
from pytest_judgesense.files.judgment_fields import FIELDS, PLACES, of_one_order
from pytest_judgesense.files.proposals import (
    OpenQuestion,
    PossibleReading,
    Proposal,
    Setting,
    ShownSetting,
)
from pytest_judgesense.files.reshaping import PEOPLE as OF_PEOPLE
from pytest_judgesense.files.synonyms import candidates_among
from pytest_judgesense.files.tables import RowTable
from pytest_judgesense.questions.import_ import role_words as words_of
from pytest_judgesense.questions.import_.column_facts import ColumnFacts, ColumnKind, same_words
from pytest_judgesense.replies.stated_answers import stated_answers
from pytest_judgesense.suites.space import whole_scale
from pytest_judgesense.trial import ABSTAIN, TIE

_FIELD: Final = re.compile(r"[a-z][a-z0-9_]*")
_MOST_TOGETHER: Final = 3
# Of items without a name, so many columns of texts may tell them together.
_MOST_TEXTS: Final = 3


def shown_by_columns(
    table: RowTable,
    columns: dict[str, ColumnFacts],
    given: ImportOptions,
    joined: Collection[str] = (),
) -> Proposal:
    """What the columns of a table show, of what nobody has said.

    Args:
        table: the rows, reshaped.
        columns: of the table.
        given: what the user says, and the shape of the file.
        joined: the columns of files that were joined.
    """
    finder = _Finder(table, columns, given, frozenset(joined))
    finder.find()
    return Proposal(
        tuple(finder.taken), tuple(finder.questions), tuple(finder.notes), finder.no_judge
    )


@dataclass
class _Finder:
    """The state of looking at columns: those that are free, and what the others are taken for."""

    table: RowTable
    columns: dict[str, ColumnFacts]
    given: ImportOptions
    joined: frozenset[str]
    taken: list[ShownSetting] = field(default_factory=list)
    questions: list[OpenQuestion] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    no_judge: str = ""

    def __post_init__(self) -> None:
        self.fields: dict[str, str] = dict(self.given.map)
        graded = (*self.given.grades, *self.given.people)
        used = {part for _, names in (*self.given.map, *graded) for part in _parts(names)}
        self.free = {name: facts for name, facts in self.columns.items() if name not in used}

    def take(self, name: str, column: str, why: str) -> None:
        """A column for a field of a judgment."""
        self.taken.append(ShownSetting(Setting("map", (name, column)), why))
        self.fields[name] = column
        for part in _parts(column):
            self.free.pop(part, None)

    def show(self, option: str, value: tuple[str, ...], why: str) -> None:
        """A setting that takes no column."""
        self.taken.append(ShownSetting(Setting(option, value), why))

    def ask(self, asks: str, readings: Iterable[PossibleReading], row: int = 0) -> None:
        """A question whose two readings differ on a row."""
        first, second = readings
        self.questions.append(OpenQuestion(asks, self.table.rows[row], (first, second)))

    def named(self, words: Collection[str]) -> list[ColumnFacts]:
        """The free columns with one of these words in their names."""
        return [
            facts for facts in self.free.values() if not words_in(facts, words).isdisjoint(words)
        ]

    @property
    def has_answers(self) -> bool:
        """Whether it is known what the judge said."""
        is_graded = bool(self.given.grades) or any(
            shown.setting.field == "grades" for shown in self.taken
        )
        of_order = any(of_one_order(name) for name in self.fields)
        return is_graded or of_order or "verdict" in self.fields or self.is_read_from_replies

    @property
    def is_read_from_replies(self) -> bool:
        """Whether verdicts are read from replies."""
        return bool(self.given.labels) or any(
            shown.setting.field == "labels" for shown in self.taken
        )

    def find(self) -> None:
        """Take the columns, what the judge said first."""
        for name in FIELDS:
            if name not in _DECIDED_LATER:
                self._take_by_own_name(name)
        _take_names_of_people(self)
        _find_answers(self)
        _find_labels(self)
        _find_places(self)
        _find_texts(self)
        if self.has_answers:
            _rename_answers(self)

    def _take_by_own_name(self, name: str) -> None:
        facts = self.free.get(name)
        is_said = getattr(self.given, name, None) is not None or name in self.fields
        if facts is None or is_said or facts.kind not in _KINDS.get(name, _NAMES):
            return
        if name == "judge" and (facts.kind in ("numbers", "true or false") or says_answers(facts)):
            return
        if name == "template" and _MEANS_TEXT.search(" ".join(facts.stated[:3])):
            return
        self.take(name, name, "its name")


# Of the fields, those for which the other columns matter as well.
_DECIDED_LATER: Final = ("verdict", "label", "order")
_NAMES: Final = frozenset(("numbers", "words", "names"))
_KINDS: Final[Mapping[str, frozenset[ColumnKind]]] = {
    "item": frozenset(("numbers", "words", "names", "texts", "true or false")),
    "cluster": frozenset(("numbers", "words", "names", "texts", "true or false")),
    "failed": frozenset(("words", "names", "texts")),
    "reply": frozenset(("words", "names", "texts", "numbers")),
    "prompt_tokens": frozenset(("numbers",)),
    "completion_tokens": frozenset(("numbers",)),
    "latency_s": frozenset(("numbers",)),
}
_MEANS_TEXT: Final = re.compile(r"\{\{?\w+")


def words_in(facts: ColumnFacts, words: Collection[str]) -> set[str]:
    """Those of ``words`` that stand in the name of a column."""
    return {*facts.words} & {*words}


def _parts(names: str) -> list[str]:
    return [part for joint in names.split("+") for part in joint.split(",")] + [names]


# --- what the judge said --------------------------------------------------------------------------

_VOCABULARY: Final = frozenset(
    """
    yes no pass fail passed failed a b c d tie 1 2 true false good bad correct incorrect win loss
    lose draw positive negative neutral accurate inaccurate supported unsupported refuted safe
    unsafe harmful harmless relevant irrelevant valid invalid better worse same equal neither both
    model_a model_b left right first second partial excellent poor fair faithful unfaithful
    hallucinated factual nonfactual y n ok abstain
    """.split()
)
# Numbers that are no answers.
_COUNTS: Final = frozenset(
    """
    tokens token latency cost price length len chars count counts duration time timestamp date year
    seed size num confidence probability prob probs logprob logprobs temperature temp rank elo
    version turn seconds ms created line usage retries percent weight
    """.split()
)


def says_answers(facts: ColumnFacts) -> bool:
    """Whether a column holds the usual words of verdicts, whatever its name."""
    said = {word.casefold() for word in facts.different}
    usual = said & (_VOCABULARY | words_of.WORDS_OF_PAIRS.keys())
    return facts.kind == "true or false" or (facts.kind == "words" and 2 * len(usual) > len(said))


def is_of_people(facts: ColumnFacts) -> bool:
    """Whether the name of a column says that people, or the right answers, stand in it."""
    of_people = bool(words_in(facts, words_of.PEOPLE))
    right = "correct" in facts.words and bool(
        words_in(facts, ("answer", "label", "option", "choice", "response", "verdict"))
    )
    return of_people or right or facts.name.startswith(OF_PEOPLE)


def weight_of(facts: ColumnFacts) -> int:
    """How well the name of a column says that it holds a judge's answers; 0 if it cannot."""
    if not facts.may_answer or words_in(facts, _COUNTS):
        return 0
    best = max((words_of.ANSWERS.get(word, 0) for word in facts.own_words), default=0)
    if words_in(facts, words_of.IDS) and not best:
        return 0
    by_judge = words_in(facts, words_of.JUDGE)
    if not best:
        speaks = facts.kind == "numbers" or says_answers(facts)
        return 2 if by_judge and speaks else 0
    if words_in(facts, words_of.IDS - {"no", "number"}) and facts.is_unique:
        return 0
    return best + bool(by_judge)


def _find_answers(finder: _Finder) -> None:
    """The column, or columns, of what the judge said."""
    if finder.has_answers:
        return
    if _take_wide_orders(finder) or _take_grades(finder):
        return
    weights = {facts.name: weight_of(facts) for facts in finder.free.values()}
    of_people = [facts for facts in finder.free.values() if is_of_people(facts)]
    of_people = [facts for facts in of_people if facts.may_answer]
    candidates = [
        finder.free[name]
        for name, weight in weights.items()
        if weight and finder.free[name] not in of_people
    ]
    if not of_people:  # what labels alone say may be anybody's
        candidates = [facts for facts in candidates if facts.words != ("label",)]
    best = max((weights[facts.name] for facts in candidates), default=0)
    top = [facts for facts in candidates if weights[facts.name] == best]
    if len(top) > 1:
        top = [facts for facts in top if facts.name == "verdict"] or top
    if not top:
        _without_answers(finder, of_people)
    elif _who_said_it(finder) is not None:
        _said_by_people(finder, top[0])
    elif len(top) == 1 and (best > 1 or of_people):
        _take_verdict(finder, top[0], of_people)
    elif len(top) == 1:
        _ask_whose(finder, top[0])
    elif same_words(top) and all(one.texts == top[0].texts for one in top):
        _take_verdict(finder, top[0], of_people)
    else:
        _ask_which(finder, top)


def _take_verdict(finder: _Finder, facts: ColumnFacts, of_people: Sequence[ColumnFacts]) -> None:
    why = facts.holds if facts.kind == "numbers" else f"says {_few(facts.different)}"
    if facts.words == ("label",):
        why += f"; {listed(p.name for p in of_people)} is people's, so this is the judge's"
    finder.take("verdict", facts.name, why)


def _few(words: Sequence[str]) -> str:
    shown = ", ".join(words[:4])
    return f"{shown}, ..." if len(words) > 4 else shown


def _ask_which(finder: _Finder, top: Sequence[ColumnFacts]) -> None:
    first, second = top[:2]
    differing = next(
        (
            place
            for place, both in enumerate(zip(first.texts, second.texts, strict=True))
            if both[0] != both[1] and None not in both
        ),
        0,
    )
    readings = [
        PossibleReading(
            (Setting("map", ("verdict", facts.name)),),
            f"the judge said {facts.texts[differing]}",
        )
        for facts in (first, second)
    ]
    names = listed(facts.name for facts in top)
    finder.ask(f"which column is the judge's verdict: {names}?", readings, row=differing)


def _ask_whose(finder: _Finder, facts: ColumnFacts) -> None:
    said = facts.stated[0]
    finder.ask(
        f"who said what stands in column {facts.name}: the judge, or people?",
        (
            PossibleReading((Setting("map", ("verdict", facts.name)),), f"the judge said {said}"),
            PossibleReading((Setting("map", ("label", facts.name)),), f"{said} is right"),
        ),
        row=facts.texts.index(said),
    )


_PERSONS: Final = frozenset("annotator rater person worker reviewer user expert".split())


def _who_said_it(finder: _Finder) -> ColumnFacts | None:
    """A column that names the person whose answer a row is."""
    for facts in finder.free.values():
        who = {*facts.words} - {"id", "name"}
        repeats = 1 < len(facts.different) < len(facts.cells)
        if who and who <= _PERSONS and repeats and not says_answers(facts):
            return facts
    return None


def _said_by_people(finder: _Finder, facts: ColumnFacts) -> None:
    who = _who_said_it(finder)
    assert who is not None
    finder.no_judge = f"each row is what one person said, {facts.name} by {who.name}"


def _without_answers(finder: _Finder, of_people: Sequence[ColumnFacts]) -> None:
    """No column is called as the answers of a judge are."""
    if _read_replies(finder):
        return
    labels = [facts for facts in finder.free.values() if facts.words == ("label",)]
    if of_people or labels:
        names = listed(facts.name for facts in (*of_people, *labels))
        finder.no_judge = f"no column holds what a judge said; {names} holds people's labels"
        return
    may_be = [facts for facts in finder.free.values() if _may_be_anything(facts)]
    if len(may_be) == 1:
        _ask_whose(finder, may_be[0])
    elif may_be:
        _ask_which(finder, may_be)
    else:
        finder.no_judge = "no column holds what a judge or a person said"


def _may_be_anything(facts: ColumnFacts) -> bool:
    ids = words_in(facts, words_of.IDS) or facts.is_unique or len(facts.different) < 2
    many = 2 * len(facts.different) > len(facts.cells) > 4
    other = words_in(facts, _COUNTS | _ABOUT | words_of.ORDER | words_of.REPLICATE)
    return facts.may_answer and not ids and not other and not many


# What says of which kind an item is, or who made it.
_ABOUT: Final = frozenset(
    """
    category type kind language lang split source model domain dataset topic subset level
    difficulty template variant judge grader evaluator task group
    """.split()
)


def _read_replies(finder: _Finder) -> bool:
    """Take the replies in which verdicts are stated, if there are such."""
    named = finder.fields.get("reply")
    texts = [finder.columns[named]] if named in finder.columns else [*finder.free.values()]
    for facts in texts:
        if facts.kind not in ("texts", "names", "words") or is_of_people(facts):
            continue
        shown = stated_answers(facts.texts)
        if not shown.labels or 2 * shown.stating < len(facts.cells):
            continue
        if "reply" not in finder.fields:
            finder.take("reply", facts.name, f"states {shown.why}")
        finder.show("labels", tuple(shown.labels), shown.why)
        for word, meaning in shown.renamed:
            finder.show("value", (word, meaning), f"{word} means {meaning}")
        return True
    return False


def _take_wide_orders(finder: _Finder) -> bool:
    """Two columns of verdicts that differ in the words for the two orders."""
    answers = [facts for facts in finder.free.values() if weight_of(facts)]
    for first, second in combinations(answers, 2):
        rest = [tuple(w for w in f.words if w not in _ORDER_WORDS) for f in (first, second)]
        orders = [[_ORDER_WORDS[w] for w in f.words if w in _ORDER_WORDS] for f in (first, second)]
        if rest[0] == rest[1] and sorted(orders) == [["ab"], ["ba"]]:
            for facts, (order,) in zip((first, second), orders, strict=True):
                finder.take(f"verdict.{order}", facts.name, f"what was said in order {order}")
            return True
    return False


_ORDER_WORDS: Final = {word: order for word, order in words_of.ORDERS.items() if word.isalpha()}


# --- grades by criterion --------------------------------------------------------------------------


def _take_grades(finder: _Finder) -> bool:
    """Columns of whole numbers, a criterion each."""
    graded = {}
    for facts in finder.free.values():
        criterion = _criterion(facts)
        if criterion and facts.kind == "numbers" and not is_of_people(facts):
            graded[criterion] = facts
    stated = [
        facts
        for facts in finder.free.values()
        if weight_of(facts) >= 3 and facts not in graded.values() and not is_of_people(facts)
    ]
    if not graded or any(facts.kind != "numbers" for facts in stated):
        return False
    if stated and len(graded) == 1:
        return False
    if any(whole_scale(facts.stated) is None for facts in graded.values()):
        return False
    scale = whole_scale([text for facts in graded.values() for text in facts.stated])
    ends = f"grades {scale[0]} to {scale[-1]}" if scale else "grades"
    for criterion, facts in graded.items():
        finder.show("grades", (criterion, facts.name), ends)
        finder.free.pop(facts.name)
        _take_people_of(finder, criterion, facts, alone=len(graded) == 1)
    return True


def _criterion(facts: ColumnFacts) -> str:
    """The criterion that a column's name names: one of the usual ones, or a key with a score."""
    parts = facts.name.split(".")
    if len(parts) >= 2 and parts[-1].casefold() in ("score", "grade", "rating", "value"):
        return parts[-2]
    usual = [word for word in facts.words if word in words_of.CRITERIA]
    rest = {*facts.words} - {*usual} - words_of.JUDGE - {*words_of.ANSWERS} - words_of.PEOPLE
    if not usual or (len(usual) == 1 and usual[0] in words_of.ANSWERS and len(facts.words) == 1):
        return ""
    return "_".join(usual) if not rest else ""


def _take_people_of(finder: _Finder, criterion: str, judged: ColumnFacts, *, alone: bool) -> None:
    """The columns in which people graded by a criterion."""
    scale = whole_scale(judged.stated)
    of_people = []
    for facts in finder.free.values():
        if facts.kind != "numbers" or words_in(facts, _COUNTS | words_of.IDS):
            continue
        is_named = is_of_people(facts) and (criterion in facts.name.casefold() or alone)
        is_beside = alone and facts.name in finder.joined
        if is_named or is_beside or facts.name.startswith(f"{OF_PEOPLE}{criterion}."):
            of_people.append(facts)
    if of_people and scale:
        names = "+".join(facts.name for facts in of_people)
        finder.show("people", (criterion, names), "people's grades of it")
        for facts in of_people:
            finder.free.pop(facts.name)


# --- what people said -----------------------------------------------------------------------------


def _take_names_of_people(finder: _Finder) -> None:
    for name in [name for name in finder.free if name.startswith(OF_PEOPLE) and name != OF_PEOPLE]:
        if not finder.given.grades:
            finder.take(name, name, "its name")


def _find_labels(finder: _Finder) -> None:
    """The column of labels, and those of single people."""
    if not finder.has_answers or _is_graded(finder):
        return
    candidates = [
        facts
        for facts in finder.free.values()
        if facts.may_answer
        and not words_in(facts, words_of.IDS | _COUNTS)
        and (is_of_people(facts) or facts.words in (("label",), ("better",)))
    ]
    if "label" not in finder.fields:
        together = [
            f for f in candidates if words_in(f, words_of.TOGETHER) or f.words == ("label",)
        ]
        alone = together if len(together) == 1 else candidates if len(candidates) == 1 else []
        alone = alone or [facts for facts in candidates if facts.words == ("better",)][:1]
        if alone:
            finder.take("label", alone[0].name, _of_people(alone[0]))
            candidates.remove(alone[0])
        elif len(together) > 1:
            _ask_label(finder, together)
            candidates = [facts for facts in candidates if facts not in together]
    joined = [
        f for f in finder.free.values() if f.name in finder.joined and _as_verdicts(finder, f)
    ]
    for facts in dict.fromkeys(f.name for f in (*candidates, *joined)):
        finder.take(f"{OF_PEOPLE}{_person(facts)}", facts, "what a person said")


def _is_graded(finder: _Finder) -> bool:
    return bool(finder.given.grades) or any(s.setting.field == "grades" for s in finder.taken)


def _of_people(facts: ColumnFacts) -> str:
    return (
        f"people's: {facts.holds}" if facts.kind == "numbers" else f"says {_few(facts.different)}"
    )


def _person(column: str) -> str:
    return column.removeprefix(OF_PEOPLE).rpartition(".")[2] or column


def _as_verdicts(finder: _Finder, facts: ColumnFacts) -> bool:
    """Whether a column says what the verdicts say."""
    verdict = finder.columns.get(finder.fields.get("verdict", ""))
    if verdict is None or not facts.may_answer:
        return False
    said = {word.casefold() for word in facts.different}
    if verdict.kind == facts.kind == "numbers":
        return max(map(float, said)) <= max(map(float, verdict.different)) * 1.5
    return said <= {word.casefold() for word in verdict.different} | {TIE}


def _ask_label(finder: _Finder, candidates: Sequence[ColumnFacts]) -> None:
    first, second = candidates[:2]
    readings = [
        PossibleReading((Setting("map", ("label", facts.name)),), f"people said {facts.stated[:1]}")
        for facts in (first, second)
    ]
    names = listed(facts.name for facts in candidates)
    finder.ask(f"which column is the label that the judge is compared with: {names}?", readings)


# --- which judgment a row is ----------------------------------------------------------------------


def _find_places(finder: _Finder) -> None:
    """Order, replicate, template, judge and temperature; then the item, which is what is left."""
    _find_order(finder)
    _take_counted(finder, "replicate", words_of.REPLICATE, "numbers runs of an item")
    _find_judge(finder)
    temperatures = [f for f in finder.named(("temperature", "temp")) if f.kind == "numbers"]
    if temperatures and "temperature" not in finder.fields:
        finder.take("temperature", temperatures[0].name, temperatures[0].holds)
    if "template" not in finder.fields:
        _find_template(finder)
    if "item" not in finder.fields:
        _find_item(finder)


def _is_pairwise(finder: _Finder) -> bool:
    verdict = finder.columns.get(finder.fields.get("verdict", ""))
    if verdict is None:
        labels = finder.given.labels or next(
            (shown.setting.value for shown in finder.taken if shown.setting.field == "labels"), ()
        )
        return {"A", "B"} <= {*labels} if isinstance(labels, tuple) else False
    values = {word.casefold(): meant for word, meant in finder.given.value}
    said = {values.get(word.casefold(), word).casefold() for word in verdict.different}
    said = {words_of.WORDS_OF_PAIRS.get(word, word).casefold() for word in said}
    said -= {TIE, ABSTAIN, *words_of.NO_ANSWER, "", "neither"}
    return said <= {"a", "b"} or said <= {"1", "2"} or candidates_among(said) is not None


def _find_order(finder: _Finder) -> None:
    if "order" in finder.fields or PLACES[0] in finder.fields:
        return
    if any(map(of_one_order, finder.fields)):
        return
    for facts in finder.named(words_of.ORDER):
        said = {word.casefold(): word for word in facts.different}
        if facts.kind == "nothing" or not said:
            continue
        stated = {word.casefold(): meaning for word, meaning in finder.given.value}
        meanings = {word: stated.get(low, words_of.ORDERS.get(low)) for low, word in said.items()}
        is_swap = bool(words_in(facts, words_of.SWAPPED))
        if is_swap and said.keys() <= {"true", "false"}:
            meanings = {word: "ba" if low == "true" else "ab" for low, word in said.items()}
        elif is_swap and said.keys() <= {"0", "1"}:
            meanings = {word: "ba" if low == "1" else "ab" for low, word in said.items()}
        if not _is_pairwise(finder):
            continue
        if all(meanings.values()):
            _take_order(finder, facts, {w: str(m) for w, m in meanings.items()})
            return
        if len(said) == 2 and not words_in(facts, words_of.IDS):
            _ask_order(finder, facts)
            return
        if facts.name == "order":
            finder.notes.append(
                f"column order holds {facts.holds}, which are no presentation orders (ab and ba)"
            )


def _take_order(finder: _Finder, facts: ColumnFacts, meanings: dict[str, str]) -> None:
    counts = Counter(meanings[w] for w in facts.stated if w in meanings)
    why = ", ".join(f"{order} in {counts[order]} rows" for order in sorted(counts))
    finder.take("order", facts.name, why)
    given = {word.casefold() for word, _ in finder.given.value}
    for word, meaning in meanings.items():
        if word != meaning and word.casefold() not in given:
            finder.show("value", (word, meaning), f"{facts.name} {word} is order {meaning}")


def _ask_order(finder: _Finder, facts: ColumnFacts) -> None:
    first, second = facts.different
    mapped = Setting("map", ("order", facts.name))
    readings = [
        PossibleReading(
            (mapped, Setting("value", (first, one)), Setting("value", (second, other))),
            f"{facts.name} {first} is the item's own order, {second} the exchanged one"
            if one == "ab"
            else f"{facts.name} {first} is the exchanged order, {second} the item's own",
        )
        for one, other in (("ab", "ba"), ("ba", "ab"))
    ]
    finder.ask(f"which order of the candidates is {facts.name} {first}?", readings)


def _take_counted(finder: _Finder, name: str, words: Collection[str], why: str) -> None:
    """A column that counts judgments of one item, if it is called so and does."""
    if name in finder.fields or getattr(finder.given, name, None) is not None:
        return
    for facts in finder.named(words):
        is_few = 1 < len(facts.different) < max(len(facts.cells), 2)
        few_each = facts.kind in ("numbers", "words", "names") and 2 * len(facts.different) <= len(
            facts.cells
        )
        if (
            is_few
            and few_each
            and not words_in(facts, _COUNTS - {"seed", "num"})
            and _repeats(facts)
        ):
            finder.take(name, facts.name, f"{why}: {facts.holds}")
            return


def _repeats(facts: ColumnFacts) -> bool:
    """Whether the rows of one value are told apart by another column that each value repeats."""
    times = Counter(facts.stated)
    return (
        len(set(times.values())) <= 2 and min(times.values()) * len(times) >= len(facts.cells) / 2
    )


def _find_judge(finder: _Finder) -> None:
    if "judge" in finder.fields or finder.given.judge is not None:
        return
    judges = [
        facts
        for facts in finder.named(words_of.JUDGES)
        if facts.kind in ("words", "names") and not says_answers(facts) and not facts.is_unique
    ]
    if judges:
        finder.take("judge", judges[0].name, _few(judges[0].different))
        return
    models = [
        facts
        for facts in finder.named(("model",))
        if facts.words in (("model",), ("model", "name"), ("model", "id"))
        and facts.kind in ("words", "names")
    ]
    if len(models) == 1 and len(models[0].different) == 1:
        finder.take("judge", models[0].name, models[0].different[0])
    elif len(models) == 1 and not _names_authors(finder, models[0]):
        model = models[0]
        item = next((f.name for f in finder.named(words_of.IDS)), "id")
        finder.ask(
            f"which model does column {model.name} name: the judge, or the one whose output was "
            "judged?",
            (
                PossibleReading(
                    (Setting("map", ("judge", model.name)),), f"{model.stated[0]} is the judge"
                ),
                PossibleReading(
                    (
                        Setting("map", ("item", f"{item},{model.name}")),
                        Setting("map", ("cluster", item)),
                    ),
                    f"{model.stated[0]} wrote what was judged",
                ),
            ),
        )


def _names_authors(finder: _Finder, model: ColumnFacts) -> bool:
    """Whether texts that were judged change with the model."""
    texts = [
        facts
        for facts in finder.free.values()
        if facts.kind == "texts"
        and words_in(facts, words_of.WRITTEN | {"answer"})
        and not words_in(facts, words_of.JUDGE)
    ]
    by_text: dict[str, set[str]] = {}
    for facts in texts:
        for text, name in zip(facts.texts, model.texts, strict=True):
            by_text.setdefault(text or "", set()).add(name or "")
    return bool(by_text) and all(len(names) == 1 for names in by_text.values())


def _find_template(finder: _Finder) -> None:
    for facts in finder.named(("template", "wording", "prompt", "variant")):
        is_few = facts.kind in ("words", "names", "numbers") and len(facts.different) > 1
        named = words_in(facts, ("template", "wording", "variant", "version", "id", "name", "type"))
        is_few = is_few and 2 * len(facts.different) <= len(facts.cells)
        if is_few and named and _repeats(facts):
            finder.take("template", facts.name, f"wordings {_few(facts.different)}")
            return


def _dimensions(finder: _Finder) -> list[ColumnFacts]:
    """The columns that tell judgments of one item apart."""
    fields = ("order", "replicate", "judge", "template", "temperature", "suite")
    names = (finder.fields.get(field, "") for field in fields)
    return [finder.columns[name] for name in names if name in finder.columns]


def _tells(rows: Iterable[ColumnFacts]) -> bool:
    """Whether no two rows have the same cells in all of some columns."""
    cells = [*zip(*(facts.texts for facts in rows), strict=True)]
    return bool(cells) and len(set(cells)) == len(cells)


def _rank(facts: ColumnFacts) -> int:
    if "item" in facts.words:
        return 0
    if words_in(facts, words_of.ITEM - words_of.IDS) and words_in(facts, words_of.IDS):
        return 1
    return 2 if facts.words[-1:] in (("id",), ("uid",), ("uuid",)) else 3


def _find_item(finder: _Finder) -> None:
    beside = _dimensions(finder)
    named = [
        facts
        for facts in finder.free.values()
        if (words_in(facts, words_of.IDS) or (facts.words and {*facts.words} <= words_of.ITEM))
        and facts.kind in ("numbers", "words", "names")
        and not words_in(facts, words_of.JUDGE - {"model"})
    ]
    named = [f for f in named if f.missing == 0 and not is_of_people(f)]
    named.sort(key=_rank)
    telling = [facts for facts in named if _tells((facts, *beside))]
    if beside and len(telling) > 1:
        telling.sort(key=lambda facts: facts.is_unique)
    if telling:
        _take_item(finder, telling[:1])
        return
    more = [
        f
        for f in finder.free.values()
        if f.kind in ("words", "names", "numbers")
        and f not in named
        and (words_in(f, words_of.MODEL | {"turn", "criterion", "category", "dataset", "a", "b"}))
    ]
    for count in range(2, _MOST_TOGETHER + 1):
        for some in combinations((*named, *more), count):
            if some[0] in named and _tells((*some, *beside)):
                _take_item(finder, some)
                return
    if named:
        _take_item(finder, named[:1])
        return
    texts = [f for f in finder.free.values() if f.kind in ("texts", "names") and not f.missing]
    texts = [f for f in texts if not words_in(f, words_of.REPLIES | words_of.JUDGE)]
    for count in range(1, _MOST_TEXTS + 1):
        for some in combinations(texts, count):
            if _tells((*some, *beside)):
                _item_by_texts(finder, some)
                return


def _take_item(finder: _Finder, columns: Sequence[ColumnFacts]) -> None:
    names = ",".join(facts.name for facts in columns)
    items = len(set(zip(*(facts.texts for facts in columns), strict=True)))
    rows = len(finder.table)
    why = f"{items} items" if items < rows else "a row each"
    if len(columns) > 1 and "cluster" not in finder.fields:
        first = columns[0].name
        finder.take("item", names, f"together they tell {items} items")
        finder.taken.append(
            ShownSetting(Setting("map", ("cluster", first)), "what the items belong to")
        )
        finder.fields["cluster"] = first
        return
    finder.take("item", names, why)


def _item_by_texts(finder: _Finder, texts: Sequence[ColumnFacts]) -> None:
    names = ",".join(facts.name for facts in texts)
    why = "no column of ids; texts tell the items"
    finder.taken.append(ShownSetting(Setting("map", ("item", names)), why))
    finder.fields["item"] = names


# --- texts and numbers beside ---------------------------------------------------------------------

_TEXT_WORDS: Final = frozenset(
    """
    question answer response output completion input text prompt context reference task instruction
    query statement claim passage document summary source article story dialogue conversation
    hypothesis premise solution instructions content criteria rubric
    """.split()
)


def _find_texts(finder: _Finder) -> None:
    _find_numbers(finder)
    _find_failures(finder)
    _find_prompt(finder)
    _find_reply(finder)
    taken = {name.partition(".")[2] for name in finder.fields if name.startswith("field.")}
    for facts in [*finder.free.values()]:
        is_text = facts.kind == "texts" or (
            facts.kind in ("names", "words")
            and words_in(facts, _TEXT_WORDS)
            and not words_in(facts, words_of.IDS | {"type", "category", "name", "model"})
            and len(facts.different) > 1
        )
        if not is_text or words_in(facts, ("metadata", "timestamp", "date", "url", "path")):
            continue
        name = _field_name(facts.name)
        if name and name not in taken:
            taken.add(name)
            finder.take(f"field.{name}", facts.name, "a text")


def _field_name(column: str) -> str:
    name = re.sub(r"[^a-z0-9]+", "_", column.lower()).strip("_")
    return name if _FIELD.fullmatch(name) else ""


def _find_numbers(finder: _Finder) -> None:
    for facts in [*finder.free.values()]:
        if facts.kind != "numbers":
            continue
        least = min(map(float, facts.different))
        words = {*facts.words}
        if "tokens" in words and facts.are_whole_numbers and least >= 0:
            for name, own in words_of.TOKENS.items():
                if words & own and name not in finder.fields:
                    finder.take(name, facts.name, "tokens")
                    break
        elif (
            "latency_s" not in finder.fields
            and words & words_of.SECONDS
            and not words & words_of.OTHER_UNITS
            and least >= 0
        ):
            finder.take("latency_s", facts.name, "seconds")


def _find_failures(finder: _Finder) -> None:
    if "failed" in finder.fields:
        return
    for facts in finder.named(words_of.FAILED):
        last = facts.words[-1] in words_of.FAILED
        states_why = facts.kind in ("texts", "names", "words") and not says_answers(facts)
        if last and states_why and facts.missing:
            finder.take("failed", facts.name, f"in {len(facts.stated)} rows")
            return


def _find_prompt(finder: _Finder) -> None:
    if "prompt" in finder.fields:
        return
    for facts in finder.named(words_of.PROMPTS):
        is_messages = facts.kind == "lists" and all(
            isinstance(c, list) and all(isinstance(m, dict) and "content" in m for m in c)
            for c in facts.cells
            if c is not None
        )
        by_judge = words_in(facts, words_of.JUDGE) and facts.kind == "texts"
        if is_messages or by_judge or (facts.kind == "texts" and _holds_texts(finder, facts)):
            finder.take("prompt", facts.name, "what the judge was asked")
            return


def _holds_texts(finder: _Finder, prompt: ColumnFacts) -> bool:
    """Whether another text of the row stands in this one, in most rows."""
    for facts in finder.free.values():
        if facts is prompt or facts.kind not in ("texts", "names"):
            continue
        both = [(a, b) for a, b in zip(facts.texts, prompt.texts, strict=True) if a and b]
        if both and 2 * sum(len(a) > 3 and a in b for a, b in both) > len(both):
            return True
    return False


def _find_reply(finder: _Finder) -> None:
    if "reply" in finder.fields:
        return
    for facts in finder.named(words_of.REPLIES | words_of.WRITTEN):
        by_judge = words_in(facts, words_of.JUDGE) and words_in(
            facts, words_of.WRITTEN | words_of.REPLIES
        )
        is_reply = facts.words in (("reply",), ("raw", "reply"), ("raw", "judgment"))
        is_judges = by_judge or is_reply or words_in(facts, words_of.REPLIES)
        if facts.kind == "texts" and is_judges and not is_of_people(facts):
            finder.take("reply", facts.name, "what the judge wrote")
            return


# --- words ----------------------------------------------------------------------------------------


def _rename_answers(finder: _Finder) -> None:
    """What words of verdicts and labels mean here."""
    names = [
        name
        for name in finder.fields
        if name in ("verdict", "label") or name.startswith(OF_PEOPLE) or of_one_order(name)
    ]
    columns = [finder.columns[c] for name in names if (c := finder.fields[name]) in finder.columns]
    columns = [facts for facts in columns if facts.may_answer]
    given = {word.casefold() for word, _ in finder.given.value}
    said = {w.casefold(): w for facts in columns for w in facts.different}
    if _is_pairwise(finder):
        for low, word in said.items():
            meant = words_of.WORDS_OF_PAIRS.get(low)
            if meant is not None and low not in given:
                finder.show("value", (word, meant), f"{word} means {meant}")
    verdict = finder.columns.get(finder.fields.get("verdict", ""))
    if verdict is not None and verdict.kind in ("words", "numbers"):
        for low, word in {w.casefold(): w for w in verdict.different}.items():
            is_none = low in words_of.NO_ANSWER and low not in given
            if is_none and verdict.kind == "words" and len(verdict.different) > 2:
                finder.show("value", (word, ""), f"{word} states no verdict")
    label = finder.columns.get(finder.fields.get("label", ""))
    if verdict is not None and label is not None:
        _compare_words(finder, verdict, label)


def _compare_words(finder: _Finder, verdict: ColumnFacts, label: ColumnFacts) -> None:
    """Two words for no and yes, of verdicts and of labels."""
    judged = [w for w in verdict.different if w.casefold() not in words_of.NO_ANSWER]
    said = [*label.different]
    given = {word.casefold() for word, _ in finder.given.value}
    if {w.casefold() for w in judged} & {w.casefold() for w in said} or not judged or not said:
        return
    meant, of_label = _poles(judged), _poles(said)
    if not meant or not of_label or given & {w.casefold() for w in said}:
        return
    pairs = [(of_label[pole], meant[pole]) for pole in of_label if pole in meant]
    if len(pairs) < len(said):
        return
    if {"0", "1"} & ({*said} | {*judged}) and not _says_which_is_good(verdict, label):
        other = [(word, meant[not pole]) for pole, word in of_label.items() if (not pole) in meant]
        readings = [
            PossibleReading(
                tuple(Setting("value", pair) for pair in renamed),
                f"{label.name} {renamed[0][0]} is {verdict.name} {renamed[0][1]}",
            )
            for renamed in (pairs, other)
        ]
        finder.ask(
            f"what do {listed(said)} in column {label.name} say in the words of the verdicts, "
            f"{listed(judged)}?",
            readings,
        )
        return
    for word, meaning in pairs:
        finder.show("value", (word, meaning), f"{label.name} {word} is {verdict.name} {meaning}")


def _says_which_is_good(*columns: ColumnFacts) -> bool:
    good = ("correct", "passed", "pass", "success", "ok", "good", "valid", "is")
    return any(words_in(facts, good) for facts in columns if {*facts.different} <= {"0", "1"})


def _poles(words: Sequence[str]) -> dict[bool, str]:
    """The word that says yes, by true, and the one that says no; empty if one says neither."""
    poles = {word.casefold() in _YES: word for word in words}
    says = all(word.casefold() in _YES | _NO for word in words)
    return poles if says and len(poles) == len(words) else {}


_YES: Final = frozenset("yes true 1 pass passed good correct right valid positive y t".split())
_NO: Final = frozenset("no false 0 fail failed bad incorrect wrong invalid negative n f".split())
