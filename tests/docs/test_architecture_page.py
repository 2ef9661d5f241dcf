"""The way from a suite to the socket, as docs/architecture.md draws it, is that of the code."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from functools import reduce
from importlib import import_module
from pkgutil import walk_packages
from types import ModuleType

import pytest

import pytest_judgesense
from tests.docs.blocks import DOCS

PAGE = (DOCS / "architecture.md").read_text(encoding="utf-8")
SECTION = PAGE.partition("\n## From a suite to a socket\n")[2].partition("\n## ")[0]
DRAWING = [line for line in SECTION.splitlines() if line.startswith("    ")]
# A climb has a number beside its line: the call by which a lower module returns to a higher one.
CLIMB = re.compile(r"\| (\d)  (\w\S*\(\w*\))")
CLIMBS = {int(found[1]): found[2] for line in DRAWING if (found := CLIMB.search(line))}
NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight")
MODULES = [one.name for one in walk_packages(pytest_judgesense.__path__, "pytest_judgesense.")]


def drawn() -> Iterator[str]:
    """What stands at the head of the lines: ``module.name``, or a class of such a module."""
    for line in DRAWING:
        if not CLIMB.search(line) and (found := re.match(r"[ |]*([\w.]+\.\w+)(?:  |$)", line)):
            yield found[1]


NAMES = list(drawn())


def modules() -> dict[str, ModuleType]:
    """The modules of the drawing, by the names that it gives them."""
    named = dict.fromkeys(
        name for drawn in NAMES if (name := re.match(r"(?:[a-z]\w*\.)*", drawn)[0].strip("."))
    )
    found = {}
    for name in named:
        (full,) = (module for module in MODULES if f".{module}".endswith(f".{name}"))
        found[name] = import_module(full)
    return found


def test_it_passes_at_most_eight_modules_and_climbs_twice() -> None:
    passed = modules()
    assert 1 < len(passed) <= 8, passed
    assert f"A call passes {NUMBERS[len(passed)]} modules " in SECTION
    assert sorted(CLIMBS) == [1, 2]


@pytest.mark.parametrize("name", NAMES)
def test_what_is_drawn_is_there(name: str) -> None:
    passed = modules()
    module = re.match(r"(?:[a-z]\w*\.)*", name)[0].strip(".")
    attributes = name.removeprefix(f"{module}.").split(".")
    if module:
        starts = [passed[module]]
    else:
        # A class of a module that the drawing names elsewhere.
        starts = [one for one in passed.values() if attributes[0] in vars(one)]
        starts = [one for one in starts if vars(one)[attributes[0]].__module__ == one.__name__]
    assert len(starts) == 1
    assert callable(reduce(getattr, attributes, starts[0]))


@pytest.mark.parametrize(("number", "lower"), [(1, "throttle"), (2, "client")])
def test_a_climb_is_a_call_of_the_lower_module(number: int, lower: str) -> None:
    call = CLIMBS[number].partition("(")[0]
    assert f" {call}(" in inspect.getsource(modules()[lower])
