"""A kind of suites is named in the room of its instrument, and nowhere else in the package."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache

import pytest

from pytest_judgesense.instruments.builtin import BUILT_IN, ROOMS
from tests.sources import FILES, PACKAGE, SOURCES, module_name, tree_of

# The list of all rooms says which kinds each measures: it is read before any of them is imported.
LIST = "instruments/builtin.py"


@cache
def modules() -> dict[str, ast.Module]:
    """The trees of all files, by their paths in the package."""
    return {
        path.relative_to(PACKAGE).as_posix(): tree_of(SOURCES[module_name(path)]) for path in FILES
    }


def room_of(kind: str) -> str:
    """The folder of the instrument that gives a kind."""
    (name,) = (room.name for room in ROOMS if kind in room.kinds)
    return f"instruments/{name}/"


def builds_on(package: ast.Module) -> set[str]:
    """The rooms that a room builds on, as the docstring of its package states them."""
    return set(re.findall(r"Builds on `(\w+)`", ast.get_docstring(package) or ""))


def rooms_of(sources: Mapping[str, str]) -> dict[str, set[str]]:
    """Every room of an instrument, and those that it builds on: without them it is not there."""
    inside = {tuple(name.split(".")[:2]) for name in sources if name.count(".") > 1}
    return {
        name: builds_on(tree_of(sources[f"{folder}.{name}"]))
        for folder, name in sorted(inside)
        if folder == "instruments"
    }


@cache
def foundations() -> dict[str, set[str]]:
    """The rooms of the package."""
    return rooms_of(SOURCES)


def literals(tree: ast.AST) -> Iterator[str]:
    """Texts, and what stands in quotation marks within them, as in a suite file that is written."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
            yield from re.findall(r'"([a-z-]+)"', node.value)


def comparisons(tree: ast.Module) -> Iterator[list[ast.expr]]:
    """The sides of each comparison of something's ``kind``."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            if any(isinstance(one, ast.Attribute) and one.attr == "kind" for one in sides):
                yield sides


def kinds_compared(tree: ast.Module) -> Iterator[str]:
    """The literals that something's ``kind`` is compared with."""
    for sides in comparisons(tree):
        yield from (text for one in sides for text in literals(one))


@cache
def found_in(name: str, found: Callable[[ast.Module], Iterator[str]]) -> frozenset[str]:
    """What ``found`` finds in a module: the same for every kind."""
    return frozenset(found(modules()[name]))


@pytest.mark.parametrize("kind", sorted(BUILT_IN.kinds))
def test_a_kind_is_named_in_its_room_alone(kind: str) -> None:
    # The temperature is a setting of every judge too, a criterion what several grades of a reply
    # are about, and a score a field of many files: of these words the comparisons count.
    found = kinds_compared if kind in ("temperature", "criterion", "score") else literals
    named = {
        name
        for name in modules()
        if not name.startswith((room_of(kind), LIST)) and kind in found_in(name, found)
    }
    assert not named, "a kind is named outside its room"


def test_an_instrument_does_not_ask_for_its_own_name() -> None:
    # Under another name it measures the same.
    asking = [
        name
        for name, tree in modules().items()
        if name.startswith("instruments/") and any(comparisons(tree))
    ]
    assert asking == [], "sections and comparisons have kinds; else ask for what the cell holds"


def test_the_reader_sees_literals_and_comparisons_of_kinds() -> None:
    tree = ast.parse(
        """def f(suite):\n    'of debates'\n    return suite.kind == "debate" or x["a"]"""
    )
    assert set(literals(tree)) == {"of debates", "debate", "a"}
    assert list(kinds_compared(tree)) == ["debate"]
    assert "ladder" in set(literals(ast.parse("""head = 'kind = "ladder"'""")))
    among = ast.parse("""suite.kind in ("debate", "ladder")""")
    assert list(kinds_compared(among)) == ["debate", "ladder"]


def test_every_room_gives_kinds_or_measures_that_join_those_of_all_kinds() -> None:
    contents = {room.name: room.contents() for room in ROOMS}
    assert set(contents) == set(foundations())
    for room in ROOMS:
        given = contents[room.name].instruments
        assert room.kinds == tuple(instrument.name for instrument in given)
        assert bool(given) != bool(contents[room.name].joined), room.name
    joined = [measure for given in contents.values() for measure in given.joined]
    assert BUILT_IN.joined == tuple(joined)


def test_the_report_names_nothing_that_an_instrument_reports() -> None:
    # Sections bring their own lines, tables and figures; renderers iterate over them.
    reported = {*BUILT_IN.measures, *BUILT_IN.kinds, *BUILT_IN.checks, *BUILT_IN.report.titles}
    reported |= {
        *filter(None, BUILT_IN.report.titles.values()),
        *(word.text for word in BUILT_IN.report.words),
    }
    assert len(reported) > 100
    named = {
        (name, text)
        for name, tree in modules().items()
        if name.startswith("report/")
        for text in literals(tree)
        if text in reported
    }
    # A setting of every judge, and a field of every line of a log.
    # And a mark of any judge, which every figure of it bears.
    everybodys = {
        ("report/view.py", "temperature"),
        ("report/datasheet_file.py", "temperature"),
        ("report/log.py", "grades"),
        ("report/log.py", "score"),
        ("report/gauges.py", "degenerate"),
    }
    assert named == {(name, text) for name, text in everybodys if text in reported}
