"""The names of clustered intervals that the code gives, and those that the docs tell."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest_judgesense
from tests.docs.blocks import DOCS
from tests.sources import tree_of

PACKAGE = Path(pytest_judgesense.__file__).parent
# Where a `Clustered` is made, and what makes it.
MODULES = [
    PACKAGE / "stats" / f"{name}.py"
    for name in "dirichlet clustered agreement detection threshold".split()
] + sorted(PACKAGE.glob("instruments/*/*.py"))
EARLY = PACKAGE / "stats" / "sequential.py"
FOLDED = PACKAGE / "measures" / "order.py"
MAKERS = {"Clustered", "clustered_by"}


def constants(tree: ast.Module) -> dict[str, str]:
    """The texts that stand under a name of the module."""
    texts = {}
    for node in tree.body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.value, ast.Constant):
            assert isinstance(node.target, ast.Name)
            texts[node.target.id] = node.value.value
    return texts


def methods() -> Iterator[str]:
    """Every text that a maker of intervals is given as the method, whatever decides on it."""
    named_methods = constants(tree_of(MODULES[0].read_text("utf-8")))
    for path in MODULES:
        tree = tree_of(path.read_text("utf-8"))
        expressions: list[ast.expr] = []
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in MAKERS:
                expressions += [word.value for word in node.keywords if word.arg == "method"]
                expressions += node.args[:1]
            elif isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "method":
                expressions.append(node.value)
        for value in expressions:
            # Of a choice between methods only the choices, not what is asked.
            parts = [value.body, value.orelse] if isinstance(value, ast.IfExp) else [value]
            for part in (deeper for one in parts for deeper in ast.walk(one)):
                if isinstance(part, ast.Constant) and isinstance(part.value, str):
                    yield part.value
                elif isinstance(part, ast.Name) and part.id in named_methods:
                    yield named_methods[part.id]
    (suffix,) = re.findall(r'f"\{interval\.method\}(-\w+)"', FOLDED.read_text("utf-8"))
    yield named_methods["PROPORTION_METHOD"] + suffix
    yield f"clustered-t{suffix}"  # of log-odds, which have no bounds
    # What stands before the method of a run that was stopped early.
    yield from re.findall(r'f"(\w+-)\{interval\.method\}"', EARLY.read_text("utf-8"))


def test_every_method_of_a_clustered_interval_stands_in_the_docs_and_no_other() -> None:
    given_methods = set(methods())
    assert len(given_methods) > 5
    text = (DOCS / "datasheet.md").read_text("utf-8")
    (row,) = (
        line for line in text.splitlines() if "`judges[].measures[].clustered.method`" in line
    )
    told_methods = set(re.findall(r"`([a-z-]+)`", row.split("|")[2])) - {"clustered"}
    assert told_methods == given_methods
    of_measures = (DOCS / "measures.md").read_text("utf-8")
    stopped = {name for name in given_methods if name.endswith("-")}
    assert {name for name in given_methods - stopped if f"`{name}`" not in of_measures} == set()
