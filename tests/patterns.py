"""All patterns of the package, and texts on which a pattern takes longest.

A pattern is found wherever it is written: as the value of a module, within its tables and objects,
or as the argument of a function of `re`. One that is put together of values of a function has
``ab`` in the place of each. Texts are derived from the pattern itself: what it begins with, over
and over; and what it repeats, over and over, behind what leads there and before what it does not
expect.
"""

from __future__ import annotations

import ast
import inspect
import pkgutil
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cache
from importlib import import_module
from itertools import islice
from re import _constants as constants  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from types import ModuleType
from typing import Any, Final, TypeAlias

import pytest_judgesense
from pytest_judgesense.judges.providers.builtin import BUILT_IN
from pytest_judgesense.replies.refusals import _REFUSALS, _declined, _declining
from pytest_judgesense.replies.spellings import _LONGEST
from pytest_judgesense.suites.rules import _MARK
from tests.sources import tree_of

_FUNCTIONS: Final = frozenset(
    ("compile", "search", "match", "fullmatch", "split", "findall", "finditer", "sub", "subn")
)
_ANCHORED: Final = frozenset(("match", "fullmatch"))
# How texts are looked at by a pattern of which that is not to be seen.
_ANY: Final = "search"
_DYNAMIC: Final = "ab"

Parsed: TypeAlias = Sequence[tuple[Any, Any]]


@dataclass(frozen=True)
class Found:
    """A pattern, where it is written, and the methods that look for it there."""

    where: str
    pattern: re.Pattern[Any]
    methods: frozenset[str]

    @property
    def folder(self) -> str:
        """The folder of the module in which it is written, with dots."""
        return self.where.partition(":")[0].rpartition(".")[0]


def modules() -> Iterator[ModuleType]:
    """All modules of the package."""
    for info in pkgutil.walk_packages(pytest_judgesense.__path__, "pytest_judgesense."):
        if not info.name.endswith("__main__"):
            yield import_module(info.name)


@cache
def patterns() -> list[Found]:
    """All patterns of the package, each once, with all methods by which it is used.

    Raises:
        AssertionError: one is written in a way that cannot be read here.
    """
    found: dict[tuple[Any, int], Found] = {}

    def add(module: ModuleType, name: str, pattern: re.Pattern[Any], methods: set[str]) -> None:
        key = pattern.pattern, pattern.flags
        where = f"{module.__name__.removeprefix('pytest_judgesense.')}:{name}"
        before = found.get(key, Found(where, pattern, frozenset()))
        found[key] = replace(before, methods=before.methods | methods)

    known = list(modules())
    for module in known:
        uses = _uses(module)
        for name, pattern in _held(module):
            add(module, name, pattern, uses.get(name, set()))
    for key, one in found.items():
        if not one.methods:
            found[key] = replace(one, methods=frozenset({_ANY}))
    held = set(found)
    for module in known:
        for name, pattern, method in _written(module):
            if method != "compile":
                add(module, name, pattern, {method})
            elif (pattern.pattern, pattern.flags) not in held:
                add(module, name, pattern, {_ANY})
    return list(found.values())


def _uses(module: ModuleType) -> Mapping[str, set[str]]:
    """By the name of a value, the methods of patterns that the module calls or passes on of it."""
    uses: dict[str, set[str]] = {}
    for node in ast.walk(tree_of(inspect.getsource(module))):
        if isinstance(node, ast.Attribute) and node.attr in _FUNCTIONS:
            name = ast.unparse(node.value).rpartition(".")[2].partition("[")[0]
            uses.setdefault(name, set()).add(node.attr)
    return uses


def _held(module: ModuleType) -> Iterator[tuple[str, re.Pattern[Any]]]:
    for name, value in list(vars(module).items()):
        if not name.startswith("__"):
            yield from ((name, pattern) for pattern in _within(value, 4))


def _within(value: Any, depth: int) -> Iterator[re.Pattern[Any]]:
    if isinstance(value, re.Pattern):
        yield value
    elif depth and isinstance(value, Mapping):
        for one in (*value.keys(), *value.values()):
            yield from _within(one, depth - 1)
    elif depth and isinstance(value, list | tuple | set | frozenset):
        for one in value:
            yield from _within(one, depth - 1)
    elif depth and is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            yield from _within(getattr(value, field.name, None), depth - 1)
    elif depth and isinstance(value, type) and value.__module__.startswith("pytest_judgesense"):
        for one in list(vars(value).values()):
            yield from _within(one, 1)


def _written(module: ModuleType) -> Iterator[tuple[str, re.Pattern[Any], str]]:
    for node in ast.walk(tree_of(inspect.getsource(module))):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
            continue
        if ast.unparse(node.func.value) != "re" or node.func.attr not in _FUNCTIONS:
            continue
        name, method = f"{node.lineno} re.{node.func.attr}", node.func.attr
        text = _text(node.args[0], vars(module))
        if text is None:
            place = (module.__name__.removeprefix("pytest_judgesense."), ast.unparse(node.args[0]))
            assert place in OF_VALUES, f"{place}: give examples of it in OF_VALUES"
            yield from ((name, one, method) for one in OF_VALUES[place])
        elif isinstance(text, re.Pattern):
            yield name, text, method
        else:
            yield name, re.compile(text, _flags(node, vars(module))), method


def _text(node: ast.expr, names: Mapping[str, Any]) -> Any:
    """A pattern as it is written; parts that only a function knows are ``ab``."""
    if isinstance(node, ast.JoinedStr):
        parts = []
        for part in node.values:
            if isinstance(part, ast.Constant):
                parts.append(part.value)
            else:
                assert isinstance(part, ast.FormattedValue)
                value = _value(part.value, names)
                parts.append(str(value) if isinstance(value, str | int) else _DYNAMIC)
        return "".join(parts)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = _text(node.left, names), _text(node.right, names)
        if isinstance(left, str) or isinstance(right, str):
            return (_DYNAMIC if left is None else left) + (_DYNAMIC if right is None else right)
        return None
    value = _value(node, names)
    return value if isinstance(value, str | bytes | re.Pattern) else None


def _value(node: ast.expr, names: Mapping[str, Any]) -> Any:
    try:
        return eval(compile(ast.Expression(node), "pattern", "eval"), dict(names))
    except Exception:
        return None


def _flags(node: ast.Call, names: Mapping[str, Any]) -> int:
    at = {"compile": 1, "search": 2, "match": 2, "fullmatch": 2, "findall": 2, "finditer": 2}
    assert isinstance(node.func, ast.Attribute)
    given = [one.value for one in node.keywords if one.arg == "flags"]
    given += node.args[at[node.func.attr] :][:1] if node.func.attr in at else []
    return int(_value(given[0], names) or 0) if given else 0


# Patterns that a function puts together: module and expression, with examples of them.
OF_VALUES: Final[dict[tuple[str, str], Sequence[re.Pattern[Any]]]] = {
    ("judges.trust", "provider.hosts"): [
        re.compile(provider.hosts) for provider in BUILT_IN.values() if provider.hosts
    ],
    # Columns that a user names by a pattern, such as run_{replicate}.
    ("files.reshaping", "''.join(chain(*zip_longest(parts, kinds, fillvalue='')))"): [
        re.compile(r"run_(\d+)"),
        re.compile(r"run_(.+?)"),
        re.compile(r"(.+?)"),
    ],
    # The names of the replay in the workflow that a nightly one is made of.
    ("questions.init.workflows", "'|'.join((f'\\\\b{word}\\\\b' for word in words))"): [
        re.compile(r"\bjudges\b|\breplay\b")
    ],
    # A signature with the name of a family of models.
    ("instruments.probe.simulated", "pattern"): [
        re.compile(r"Answered\ by\ [^\n]{1,60}?,\ an\ AI\ model\."),
        re.compile(r"The\ verdict:\n[^\n]{1,200}"),
        re.compile(r"[^\n]{1,80}\n\nDecide\ for\ it\.\n\n[^\n]{1,80}"),
    ],
    # The name of a slot.
    ("instruments.probe.slot_forms", "f'(?<!\\w){re.escape(name)}(?!\\w)'"): [
        re.compile(r"(?<!\w)Output\ \(a\)(?!\w)")
    ],
    # Parts of a prompt, as they stand in it.
    ("cassettes.scope", "'|'.join(map(re.escape, parts))"): [
        re.compile("|".join(map(re.escape, ("Be strict. (Always!)", "ab"))))
    ],
    ("replies.refusals", "_REFUSALS[language].pattern"): [*map(_declining, _REFUSALS)],
    ("replies.refusals", "f'{lead}(?:{_REFUSALS[language].pattern})'"): [
        *map(_declined, _REFUSALS)
    ],
    # The shapes of keys: `test_linear` looks for each in what it begins with, over and over.
    ("cassettes.shapes", "source"): [],
    ("suites.rules", "mark"): [
        re.compile(rf"\b{_MARK}\b\W{{0,3}}(?:is\W{{1,2}})?(?:YES|score_YES)\b", re.IGNORECASE)
    ],
}

# Patterns that see no more than so many characters, whatever is read, with the place of the bound.
BOUNDED: Final[Mapping[str, int]] = {
    # `Labels._read` looks at no text of more than two lengths.
    "replies.spellings:_NUMBER": 2 * _LONGEST,
    "replies.spellings:_BOUND": 2 * _LONGEST,
}


# --- texts ----------------------------------------------------------------------------------------

_SAMPLES: Final = " \nab1A_-.:/\"'\\<>[]{}()*#=,;!?%&+@|~`^$\té\u2003xX0é"
_MANY: Final = 8
_MOST_TEXTS: Final = 40
_MOST_EXAMPLES: Final = 6


def examples(parsed: Parsed, most: int = _MOST_EXAMPLES) -> list[str]:
    """Some texts that a part of a pattern matches, as far as it looks neither ahead nor back."""
    found = [""]
    for op, of in parsed:
        found = [text + more for text in found for more in _of_one(op, of)][:most]
    return list(dict.fromkeys(found))


def _of_one(op: Any, of: Any) -> list[str]:
    if op is constants.LITERAL:
        return [chr(of)]
    if op in (constants.NOT_LITERAL, constants.IN, constants.ANY, constants.CATEGORY):
        return characters(op, of)[:3] or [""]
    if op in (constants.MAX_REPEAT, constants.MIN_REPEAT, constants.POSSESSIVE_REPEAT):
        least, most, inner = of
        texts = examples(inner, 2)
        counts = {least, min(most, least + 1)}
        return [text * count for count in sorted(counts) for text in texts][:4] or [""]
    if op is constants.SUBPATTERN:
        return examples(of[3], 4) or [""]
    if op is constants.ATOMIC_GROUP:
        return examples(of, 4) or [""]
    if op is constants.BRANCH:
        return [text for one in of[1] for text in examples(one, 1)][:8] or [""]
    return [""]  # what looks around, refers back, or stands at an edge


def characters(op: Any, of: Any) -> list[str]:
    """Characters that an item of a pattern matches, out of the usual ones."""
    if op is constants.LITERAL:
        return [chr(of)]
    found = []
    if op is constants.IN:
        found = [chr(code) for kind, code in of if kind is constants.LITERAL]
        found += [chr(code[0]) for kind, code in of if kind is constants.RANGE]
        if of and of[0][0] is constants.NEGATE:
            found = []
    pattern = re.compile(_written_again(op, of), re.DOTALL)
    usual = [one for one in _SAMPLES if pattern.fullmatch(one)]
    return list(dict.fromkeys([*found[:4], *usual]))


_CATEGORIES: Final = {
    constants.CATEGORY_DIGIT: r"\d",
    constants.CATEGORY_NOT_DIGIT: r"\D",
    constants.CATEGORY_SPACE: r"\s",
    constants.CATEGORY_NOT_SPACE: r"\S",
    constants.CATEGORY_WORD: r"\w",
    constants.CATEGORY_NOT_WORD: r"\W",
}


def _written_again(op: Any, of: Any) -> str:
    if op is constants.ANY:
        return "."
    if op is constants.CATEGORY:
        return _CATEGORIES[of]
    if op is constants.NOT_LITERAL:
        return f"[^{re.escape(chr(of))}]"
    parts = []
    for kind, value in of:
        if kind is constants.NEGATE:
            parts.append("^")
        elif kind is constants.LITERAL:
            parts.append(re.escape(chr(value)))
        elif kind is constants.RANGE:
            parts.append(f"{re.escape(chr(value[0]))}-{re.escape(chr(value[1]))}")
        else:
            parts.append(_CATEGORIES[value])
    return f"[{''.join(parts)}]"


def worst_texts(pattern: re.Pattern[Any]) -> Iterator[tuple[str, str, str]]:
    """What stands before, what is repeated, and what stands behind it, for many long texts."""
    text = pattern.pattern
    text = text if isinstance(text, str) else text.decode("latin-1")
    parsed = list(parser.parse(text, pattern.flags & ~re.LOCALE))
    texts = list(dict.fromkeys(one for one in _worst(parsed, "", "") if one[1]))
    yield from texts[:: -(-len(texts) // _MOST_TEXTS)]


def _worst(parsed: Parsed, before: str, behind: str) -> Iterator[tuple[str, str, str]]:
    """Of a sequence: its beginnings over and over, and what each of its parts repeats."""
    parsed = list(parsed)
    for at in range(1, len(parsed) + 1):
        for start in examples(parsed[:at], 2):
            yield before, start, behind
            yield before, start + " ", behind
    for at, (op, of) in enumerate(parsed):
        starts = examples(parsed[:at], 2)
        rest = parsed[at + 1 :]
        ends = ["", "\u0441", "!"]
        if op in (constants.MAX_REPEAT, constants.MIN_REPEAT, constants.POSSESSIVE_REPEAT):
            _, most, inner = of
            if most >= _MANY:
                units = [*examples(inner, 4), *_mixed(inner, rest)]
                for start in starts[:2]:
                    for unit in units:
                        for end in ends:
                            yield before + start, unit, behind + end
            for start in starts[:1]:
                yield from _worst(inner, before + start, behind)
        elif op is constants.SUBPATTERN:
            for start in starts[:1]:
                yield from _worst(of[3], before + start, behind)
        elif op is constants.ATOMIC_GROUP:
            for start in starts[:1]:
                yield from _worst(of, before + start, behind)
        elif op is constants.BRANCH:
            for one in of[1]:
                for start in starts[:1]:
                    yield from _worst(one, before + start, behind)
        elif op in (constants.ASSERT, constants.ASSERT_NOT):
            for start in starts[:1]:
                yield from _worst(of[1], before + start, behind)


def _mixed(inner: Parsed, rest: Parsed) -> Iterator[str]:
    """What a part and its neighbour both take, and what ends the part but for one."""
    for one in examples(inner, 2):
        for other in examples(rest[:1], 2):
            yield one + other
    if len(inner) == 1 and inner[0][0] in (constants.IN, constants.CATEGORY, constants.ANY):
        yield from islice(characters(*inner[0]), 12)


# --- times ----------------------------------------------------------------------------------------

# Steps until a text is as long as any that is read without a bound of its own.
_FIRST, _MOST_CHARACTERS = 24, 60_000
# What a step may take, and is measured at all from.
_SHORTEST_S = 0.004
_GROWTH = 4
_CERTAIN_S = 0.2
# Four times the text: four times the time, and a square has sixteen times.
_MOST = 9.0


def superlinear(
    work: Callable[[Any], object], grown: Callable[[int], Any], longest: int = _MOST_CHARACTERS
) -> str | None:
    """What shows that ``work`` takes more than its share of a text four times as long."""
    size, before = _FIRST, 0.0
    while size <= longest:
        took = _least(work, grown(size), 1)
        if took > _MOST * max(before, _SHORTEST_S):
            if took < _CERTAIN_S:  # else no other process has caused it
                took = min(took, _least(work, grown(size), 4))
                before = max(before, _least(work, grown(size // _GROWTH), 4))
            if took > _MOST * max(before, _SHORTEST_S):
                return f"{before:.4f} s of {size // _GROWTH}, and {took:.4f} s of {size}"
        if size > _MOST_CHARACTERS // 16 and took < _SHORTEST_S / 8:
            return None  # a square would show by now
        before, size = took, size * _GROWTH
    return None


def _least(work: Callable[[Any], object], text: Any, rounds: int) -> float:
    best = float("inf")
    for _ in range(rounds):
        started = time.thread_time()
        work(text)
        best = min(best, time.thread_time() - started)
        if best > 1:
            break
    return best


def slow_text(found: Found) -> str | None:
    """A text, and its times, on which a pattern takes more than its share; ``None`` without one."""
    of_bytes = isinstance(found.pattern.pattern, bytes)
    longest = BOUNDED.get(found.where, _MOST_CHARACTERS)
    for method in sorted(_looks(found.methods)):
        for before, unit, behind in worst_texts(found.pattern):

            def grown(size: int, parts: tuple[str, str, str] = (before, unit, behind)) -> Any:
                text = parts[0] + parts[1] * (size // len(parts[1])) + parts[2]
                return text.encode("utf-8") if of_bytes else text

            if said := superlinear(_looking(found.pattern, method), grown, longest):
                return f"{method} of {before!r} + {unit!r} * n + {behind!r}: {said}"
    return None


def _looks(methods: frozenset[str]) -> set[str]:
    return {one if one in _ANCHORED else "finditer" for one in methods} or {"finditer"}


def _looking(pattern: re.Pattern[Any], method: str) -> Callable[[Any], object]:
    if method != "finditer":
        return getattr(pattern, method)  # type: ignore[no-any-return]
    return lambda text: sum(1 for _ in pattern.finditer(text))
