"""Finds out whether the tests notice faults: changes one line of the package at a time.

    python scripts/seed_faults.py --seed 1 --count 30
    python scripts/seed_faults.py --seed 1 --list
    python scripts/seed_faults.py --seed 1 --save faults.json --results new.json
    python scripts/seed_faults.py --faults faults.json --tests ../before/tests --results old.json

The faults are drawn over the package. A room (a folder of the package; in `instruments` and
`questions` each folder of theirs) is drawn by its lines of code, of which `CAP` count at most, then
one of the kinds of faults that it permits, then a place:

    comparison  turned: `<` is `>`, `==` is `!=`, `in` is `not in`, `not` is left out
    bound       moved: `<` is `<=`; a whole number that is compared, cuts or ends a range is 1 more
    sign        `+` is `-`; the minus before a term is left out
    default     of a parameter, a field or a constant of a module: another number, the other truth
    call        left out: a statement, or what orders, clips, rounds or strips a value

Nothing is changed in annotations, assertions, formatted texts, logging, `__all__`, and what depends
on the version of Python or the system.

Everything happens in a copy of the files that git knows, with an environment of its own that sees
the packages of the one which runs this script and, instead of the checkout, the copy: so do all
processes that the tests start. What fails in the copy without the fault too is left out, and does
not count. The same plan (`--save`, `--faults`) can be run on other tests (`--tests`) or another
checkout (`--checkout`): a fault is a line by its words, its function and what stands there instead.

What it costs, a fault: the mirror test files of the module take 5 to 60 s. Where they pass, the
tests of the gate follow up to the first that fails: all of them (`--gate all`) take some 10 minutes
on two cores, the more of them the better the fault hides. `--gate quick` runs only the test files
that go through the changed function, as a map knows (`--make-map FILE` once, in twice the time of
the gate; needs pytest-cov), and last the folders whose tests work through processes, of which the
map sees nothing: 1 to 5 minutes. `--gate none` asks the mirror alone.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import shutil
import signal
import site
import subprocess
import sys
import tempfile
import time
import venv
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cache
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Final, NamedTuple, NoReturn, TypeAlias

CHECKOUT: Final = Path(__file__).resolve().parents[1]
PACKAGE: Final = "pytest_judgesense"
# Their folders are rooms of their own.
DIVIDED: Final = ("instruments", "questions")
# Lines of code for which a room counts at most.
CAP: Final = 2500
# Test folders that work through processes: of those a map sees nothing.
PROCESSES: Final = ("tests/plugin", "tests/commands", "tests/docs")
GATES: Final = ("none", "quick", "all")


class Fault(NamedTuple):
    """A line of the package, and what stands there instead."""

    kind: str
    file: str
    """Relative to the checkout."""
    line: int
    within: str
    """The function or class that the line belongs to; empty for that of a module."""
    before: str
    after: str


# --- places --------------------------------------------------------------------------------------

TURNED: Final = {
    ast.Lt: ("<", ">"),
    ast.LtE: ("<=", ">="),
    ast.Gt: (">", "<"),
    ast.GtE: (">=", "<="),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"),
    ast.Is: ("is", "is not"),
    ast.IsNot: ("is not", "is"),
}
MOVED: Final = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
}
SIGNS: Final = {ast.Add: ("+", "-"), ast.Sub: ("-", "+")}
# What is left of a call that is left out: its first argument.
ORDERING: Final = {"sorted": "list({})", "reversed": "list({})"}
ROUNDING: Final = {"abs": "({})", "round": "({})"}
CLIPPING: Final = {"min": "({})", "max": "({})"}
STRIPPING: Final = ("strip", "lstrip", "rstrip", "lower", "upper", "casefold", "copy")
LOGGING: Final = ("debug", "info", "warning", "error", "exception")
# Comparisons with these tell systems and versions apart, of which the tests see one.
PLACES_OF_RUNNING: Final = ("version_info", "platform", "implementation", "__name__")
FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
TEXTS: Final = (ast.JoinedStr, ast.List, ast.Tuple, ast.ListComp, ast.Dict)


class Change(NamedTuple):
    """A piece of one line, in bytes, and what replaces it."""

    kind: str
    line: int
    start: int
    end: int
    text: str


def possible_faults(source: str, file: str) -> list[Fault]:
    """The faults that can be put into the source of a module, in the order of its lines.

    That a fault makes another program is not looked at here, but where it is drawn (`differs`).
    """
    lines = source.splitlines(keepends=True)
    functions = functions_of(source)
    faults = set()
    for change in _changes(ast.parse(source), lines):
        within = innermost(functions, change.line)
        raw = lines[change.line - 1].encode()
        changed = (raw[: change.start] + change.text.encode() + raw[change.end :]).decode()
        before, after = (line.rstrip("\r\n") for line in (lines[change.line - 1], changed))
        faults.add(Fault(change.kind, file, change.line, within, before, after))
    return sorted(faults, key=lambda fault: (fault.line, fault.kind, fault.after))


def with_line(source: str, number: int, fault: Fault) -> str:
    """A source with the fault in the line of that number."""
    lines = source.splitlines(keepends=True)
    end = lines[number - 1][len(fault.before) :]
    return "".join([*lines[: number - 1], fault.after + end, *lines[number:]])


def differs(fault: Fault, source: str) -> bool:
    """Whether the fault makes a program of its module, and another one."""
    try:
        changed = ast.parse(with_line(source, fault.line, fault))
    except SyntaxError:
        return False
    return ast.dump(changed) != ast.dump(ast.parse(source))


def _changes(tree: ast.Module, lines: Sequence[str]) -> Iterator[Change]:
    """Every change of a module."""
    for node, owner in _walk(tree, tree):
        yield from _of_comparison(node, lines)
        yield from _of_bound(node, lines)
        yield from _of_sign(node, lines)
        yield from _of_default(node, owner)
        yield from _of_call(node, lines)


def _walk(node: ast.AST, owner: ast.AST) -> Iterator[tuple[ast.AST, ast.AST]]:
    """Nodes that may be changed, each with the function, class or module that it stands in."""
    yield node, owner
    inside = node if isinstance(node, FUNCTIONS) else owner
    for child in _children(node):
        if not _is_left_alone(child):
            yield from _walk(child, inside)


def _children(node: ast.AST) -> Iterator[ast.AST]:
    """What stands in a node, without decorators and what is for type checkers."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        yield from (*node.args.defaults, *filter(None, node.args.kw_defaults), *node.body)
    elif isinstance(node, ast.ClassDef):
        yield from node.body
    elif isinstance(node, ast.AnnAssign):
        if node.value and "TypeAlias" not in ast.unparse(node.annotation):
            yield node.value
    elif isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
        yield from node.orelse
    else:
        yield from ast.iter_child_nodes(node)


def _is_left_alone(node: ast.AST) -> bool:
    """Whether what stands in it is no program, or has no effect that a test could see."""
    if isinstance(node, ast.Assert | ast.JoinedStr | ast.Import | ast.ImportFrom):
        return True
    if isinstance(node, ast.Assign):
        return any(name in ("__all__", "__slots__") for name in map(ast.unparse, node.targets))
    if isinstance(node, ast.Compare):
        named = {part.attr for part in ast.walk(node) if isinstance(part, ast.Attribute)}
        named |= {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
        return not named.isdisjoint(PLACES_OF_RUNNING)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.func.attr in LOGGING and "log" in ast.unparse(node.func.value).lower()
    return False


def _between(left: ast.expr, right: ast.expr, lines: Sequence[str]) -> tuple[int, str] | None:
    """Where in its line what stands between two expressions of it begins, and its text."""
    if left.end_lineno != right.lineno or left.end_col_offset is None:
        return None
    raw = lines[right.lineno - 1].encode()
    return left.end_col_offset, raw[left.end_col_offset : right.col_offset].decode()


def _operator(
    kind: str, operands: tuple[ast.expr, ast.expr], words: tuple[str, str], lines: Sequence[str]
) -> Iterator[Change]:
    """The operator between two operands as another one."""
    between = _between(*operands, lines)
    before, after = words
    if between and between[1].strip(" ()=") == before.strip("="):
        start = between[0] + between[1].index(before)
        yield Change(kind, operands[1].lineno, start, start + len(before), after)


def _of_comparison(node: ast.AST, lines: Sequence[str]) -> Iterator[Change]:
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        operands = node.left, node.comparators[0]
        yield from _operator("comparison", operands, TURNED[type(node.ops[0])], lines)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield from _without_prefix("comparison", node)


def _without_prefix(kind: str, node: ast.UnaryOp) -> Iterator[Change]:
    """A term without the operator before it."""
    if node.lineno == node.operand.lineno:
        yield Change(kind, node.lineno, node.col_offset, node.operand.col_offset, "")


def _of_bound(node: ast.AST, lines: Sequence[str]) -> Iterator[Change]:
    bounds: list[ast.expr | None] = []
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        bounds = [node.left, node.comparators[0]]
        if type(node.ops[0]) in MOVED:
            operands = node.left, node.comparators[0]
            yield from _operator("bound", operands, MOVED[type(node.ops[0])], lines)
    elif isinstance(node, ast.Slice):
        bounds = [node.lower, node.upper]
    elif isinstance(node, ast.Call) and _name(node) in ("range", "min", "max"):
        bounds = list(node.args)
    for bound in bounds:
        number = bound.operand if isinstance(bound, ast.UnaryOp) else bound
        if isinstance(number, ast.Constant) and type(number.value) is int:
            yield _instead_of("bound", number, str(number.value + 1))


def _of_sign(node: ast.AST, lines: Sequence[str]) -> Iterator[Change]:
    if isinstance(node, ast.BinOp) and type(node.op) in SIGNS and not _is_text(node):
        yield from _operator("sign", (node.left, node.right), SIGNS[type(node.op)], lines)
    if isinstance(node, ast.AugAssign) and type(node.op) in SIGNS and not _is_text(node.value):
        before, after = SIGNS[type(node.op)]
        operands = node.target, node.value
        yield from _operator("sign", operands, (f"{before}=", f"{after}="), lines)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        yield from _without_prefix("sign", node)


def _is_text(node: ast.expr) -> bool:
    """Whether a sum is one of texts or sequences, as its terms show."""
    if isinstance(node, ast.BinOp):
        return _is_text(node.left) or _is_text(node.right)
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str | bytes)
    return isinstance(node, TEXTS)


def _of_default(node: ast.AST, owner: ast.AST) -> Iterator[Change]:
    values: list[ast.expr | None] = []
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        if not any("overload" in ast.unparse(part) for part in node.decorator_list):
            values = [*node.args.defaults, *node.args.kw_defaults]
    elif isinstance(node, ast.AnnAssign | ast.Assign) and _is_one_of_all(owner):
        values = [node.value]
    for value in values:
        if isinstance(value, ast.Constant):
            if isinstance(value.value, bool):
                yield _instead_of("default", value, str(not value.value))
            elif isinstance(value.value, int):
                yield _instead_of("default", value, str(value.value + 1))
            elif isinstance(value.value, float):
                yield _instead_of("default", value, repr(value.value * 2 or 1.0))


def _is_one_of_all(owner: ast.AST) -> bool:
    """Whether what is assigned there is the same for all: in a class or a module."""
    return isinstance(owner, ast.ClassDef | ast.Module)


def _of_call(node: ast.AST, lines: Sequence[str]) -> Iterator[Change]:
    if isinstance(node, ast.Expr):
        call = node.value.value if isinstance(node.value, ast.Await) else node.value
        if isinstance(call, ast.Call) and not _is_left_alone(call) and _is_one_line(node):
            yield _instead_of("call", node, "pass")
    elif isinstance(node, ast.Call) and _is_one_line(node):
        name = _name(node)
        left = (ORDERING | ROUNDING).get(name) or (CLIPPING.get(name) if node.args[1:] else None)
        if left and not isinstance(node.args[0], ast.Starred):
            yield _instead_of("call", node, left.format(_text(node.args[0], lines)))
        elif isinstance(node.func, ast.Attribute) and node.func.attr in STRIPPING:
            yield _instead_of("call", node, _text(node.func.value, lines))


def _name(node: ast.Call) -> str:
    return node.func.id if isinstance(node.func, ast.Name) else ""


def _is_one_line(node: ast.expr | ast.stmt) -> bool:
    return node.lineno == node.end_lineno


def _instead_of(kind: str, node: ast.expr | ast.stmt, text: str) -> Change:
    return Change(kind, node.lineno, node.col_offset, node.end_col_offset or 0, text)


def _text(node: ast.expr, lines: Sequence[str]) -> str:
    """The text of an expression that stands on one line."""
    return lines[node.lineno - 1].encode()[node.col_offset : node.end_col_offset].decode()


# --- the draw ------------------------------------------------------------------------------------


def room_of(file: str) -> str:
    """The room of a file of the package: its folder, or that of its instrument or question."""
    folders = Path(file).parts[1:-1]
    depth = 2 if folders and folders[0] in DIVIDED else 1
    return "/".join(folders[:depth])


def lines_of_code(source: str) -> int:
    """Lines on which something begins: no comments, no empty lines, a docstring as one."""
    return len({node.lineno for node in ast.walk(ast.parse(source)) if hasattr(node, "lineno")})


def sources_of(checkout: Path) -> dict[str, str]:
    """The modules of the package, by their paths in the checkout."""
    return {
        path.relative_to(checkout).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted((checkout / PACKAGE).rglob("*.py"))
    }


def draw(sources: Mapping[str, str], seed: int, count: int) -> list[Fault]:
    """Faults on different lines, drawn over the rooms: the same for the same sources and seed."""
    rooms: dict[str, dict[str, list[Fault]]] = defaultdict(lambda: defaultdict(list))
    weights: dict[str, int] = defaultdict(int)
    for file, source in sorted(sources.items()):
        weights[room_of(file)] += lines_of_code(source)
        for fault in possible_faults(source, file):
            rooms[room_of(file)][fault.kind].append(fault)
    names = sorted(rooms)
    generator = random.Random(seed)
    drawn: dict[tuple[str, int], Fault] = {}
    # Lines that have been drawn are drawn over; where there are few, not for ever.
    for _ in range(100 * count):
        if len(drawn) == count or not names:
            break
        (room,) = generator.choices(names, [min(weights[name], CAP) for name in names])
        kind = generator.choice(sorted(rooms[room]))
        fault = generator.choice(rooms[room][kind])
        if (fault.file, fault.line) not in drawn and differs(fault, sources[fault.file]):
            drawn[fault.file, fault.line] = fault
    return list(drawn.values())


def line_now(fault: Fault, source: str) -> int | None:
    """The number of a fault's line in a source that may have changed, if it is there.

    Of several lines with the same words it is that in the same function, and the nearest.
    """
    equal = [
        number for number, line in enumerate(source.splitlines(), start=1) if line == fault.before
    ]
    spans = functions_of(source)
    inside = [number for number in equal if innermost(spans, number) == fault.within]
    return min(inside or equal, key=lambda number: abs(number - fault.line), default=None)


@cache
def functions_of(source: str) -> dict[str, tuple[int, int]]:
    """The functions and classes of a module: their first and last lines."""
    spans = {}
    nodes: list[tuple[ast.AST, str]] = [(ast.parse(source), "")]
    while nodes:
        node, name = nodes.pop()
        if isinstance(node, FUNCTIONS):
            name = f"{name}.{node.name}".lstrip(".")
            spans[name] = node.lineno, node.end_lineno or node.lineno
        nodes += [(child, name) for child in ast.iter_child_nodes(node)]
    return spans


def innermost(spans: Mapping[str, tuple[int, int]], line: int) -> str:
    """The function or class that a line belongs to; empty for one of the module."""
    around = [name for name, (first, last) in spans.items() if first <= line <= last]
    return max(around, key=lambda name: spans[name][0], default="")


# --- tests of a module ---------------------------------------------------------------------------


def module_of(file: str) -> str:
    """The name by which a file of the package is imported."""
    return ".".join(Path(file).with_suffix("").parts).removesuffix(".__init__")


def imported_by(source: str) -> set[str]:
    """The modules that a file may import: of ``from a import b`` both ``a`` and ``a.b``."""
    names = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return names


def mirrors(file: str, tests: Mapping[str, set[str]]) -> list[str]:
    """The test files of a module, of all test files and what they import.

    That of its name in the folder that mirrors its own; else those in that folder that import it;
    else all that do.
    """
    inside = Path(file).relative_to(PACKAGE)
    folder = "tests" / inside.parent
    named = (folder / f"test_{inside.name}").as_posix()
    if named in tests:
        return [named]
    importing = sorted(name for name, names in tests.items() if module_of(file) in names)
    beside = [name for name in importing if Path(name).parent == folder]
    return beside or importing


# By the files of the package and their functions: the test files that go through them.
TestMap: TypeAlias = Mapping[str, Mapping[str, Sequence[str]]]


def going_through(tests: TestMap, fault: Fault) -> list[str]:
    """The test files that go through the function of a fault.

    For a line of a class or a module they are those that go through anything of the file.
    """
    functions = tests.get(fault.file, {})
    if fault.within in functions:
        return sorted(functions[fault.within])
    return sorted({name for names in functions.values() for name in names})


def map_of(contexts: Path, sources: Mapping[str, str]) -> dict[str, dict[str, list[str]]]:
    """The map that coverage.py's file has, where its contexts are tests."""
    from coverage import CoverageData

    covered = CoverageData(str(contexts))
    covered.read()
    mapped: dict[str, dict[str, list[str]]] = {}
    for path in covered.measured_files():
        file = path[path.rindex(f"{PACKAGE}/") :]
        spans = functions_of(sources[file])
        names: dict[str, set[str]] = defaultdict(set)
        for line, tests in covered.contexts_by_lineno(path).items():
            function = innermost(spans, line)
            # The first line is that of the definition, which every import goes through.
            if function and line > spans[function][0]:
                names[function] |= {test.partition("::")[0] for test in tests if "::" in test}
        mapped[file] = {name: sorted(files) for name, files in sorted(names.items()) if files}
    return mapped


# --- the copy ------------------------------------------------------------------------------------


def tracked(checkout: Path) -> list[str]:
    """The files of a checkout that git knows."""
    command = ["git", "-C", str(checkout), "ls-files", "-z"]
    listed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return [name for name in listed.split("\0") if name and (checkout / name).is_file()]


def copy_files(source: Path, names: Sequence[str], target: Path) -> None:
    for name in names:
        path = target / name
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source / name, path)


class Ended(NamedTuple):
    """A session of pytest that has ended: its exit status (none where it hung), what failed."""

    code: int | None
    failed: list[str]

    @property
    def noticed(self) -> bool:
        """Whether it did anything but pass. 5: there was nothing to run."""
        return self.code not in (0, 5)


class Workspace:
    """A copy of a checkout, and an environment that has it in the place of the checkout."""

    def __init__(self, folder: Path, checkout: Path, tests: Path) -> None:
        self.copy = folder / "copy"
        self._cache = folder / "cache"
        self._temporary = folder / "tmp"
        # Data of others that tests look for beside the checkout.
        self._shared = checkout.parent / "shared"
        self._temporary.mkdir(parents=True)
        names = tracked(checkout)
        copy_files(checkout, [name for name in names if not name.startswith("tests/")], self.copy)
        copy_files(tests, tracked(tests), self.copy / "tests")
        self._bin = self._environment(folder / "environment")
        self.tests = {
            path.relative_to(self.copy).as_posix(): imported_by(path.read_text(encoding="utf-8"))
            for path in sorted((self.copy / "tests").rglob("test_*.py"))
        }
        self._changes = 0
        self._session: subprocess.Popen[bytes] | None = None
        self._is_closed = False

    def _environment(self, folder: Path) -> Path:
        """An environment whose programs import the copy; the folder of its programs."""
        venv.create(folder, with_pip=False, symlinks=True)
        ours, theirs = folder / "bin", Path(sys.executable).parent
        for program in theirs.iterdir():
            if program.is_file() and not (ours / program.name).exists():
                content = program.read_bytes()
                if content.startswith(b"#!"):
                    own = content.replace(str(theirs).encode(), str(ours).encode())
                    (ours / program.name).write_bytes(own)
                    shutil.copymode(program, ours / program.name)
                else:
                    (ours / program.name).symlink_to(program)
        (packages,) = folder.glob("lib/python*/site-packages")
        # Paths of the other environment are added as they are: its own .pth files, of which one may
        # name the checkout, are not read from there.
        paths = [str(self.copy), *site.getsitepackages()]
        (packages / "copy.pth").write_text("\n".join(paths) + "\n", encoding="utf-8")
        return ours

    def prove(self) -> None:
        """Make sure that a process, and one that it starts elsewhere, import the copy.

        Raises:
            RuntimeError: they import something else.
        """
        ask = f"import {PACKAGE}; print({PACKAGE}.__file__)"
        code = (
            f"{ask}\nimport subprocess, sys\n"
            f"subprocess.run([sys.executable, '-c', {ask!r}], cwd='/', env={{}}, check=True)"
        )
        done = subprocess.run(
            [str(self._bin / "python"), "-P", "-c", code],
            cwd=self._temporary,
            env=self._variables(),
            capture_output=True,
            text=True,
            check=False,
        )
        expected = str(self.copy / PACKAGE / "__init__.py")
        if done.stdout.split() != [expected, expected]:
            raise RuntimeError(
                f"The faults would not be seen: processes import {done.stdout.split()}, not "
                f"{expected}. {done.stderr.strip()[-500:]}"
            )

    def _variables(self) -> dict[str, str]:
        # JUDGESENSE_INSTALLED names programs of a wheel, which has no fault.
        left_out = ("PYTEST", "PYTHON", "COV_", "COVERAGE", "JUDGESENSE_INSTALLED", "VIRTUAL_ENV")
        kept = {"JUDGESENSE_SHARED": str(self._shared)} if self._shared.is_dir() else {}
        kept |= {k: v for k, v in os.environ.items() if not k.startswith(left_out)}
        path = os.pathsep.join((str(self._bin), kept.get("PATH", os.defpath)))
        return kept | {"PATH": path, "TMPDIR": str(self._temporary), "OMP_NUM_THREADS": "1"}

    def sources(self, file: str) -> str | None:
        path = self.copy / file
        return path.read_text(encoding="utf-8") if path.is_file() else None

    def apply(self, fault: Fault) -> bool:
        """Put a fault into the copy; whether its line is there."""
        source = self.sources(fault.file)
        number = line_now(fault, source) if source is not None else None
        if source is None or number is None:
            return False
        self.write(fault.file, with_line(source, number, fault))
        return True

    def write(self, file: str, source: str) -> None:
        """Write a module at a time of its own: compiled ones are told by size and second."""
        path = self.copy / file
        path.write_text(source, encoding="utf-8")
        self._changes += 1
        changed = 1_000_000_000 + self._changes
        os.utime(path, (changed, changed))

    def pytest(self, arguments: Sequence[str], timeout: float, **variables: str) -> Ended:
        """A session in the copy, ended with all that it has started."""
        if self._is_closed:
            raise InterruptedError("no session begins in a copy that is closed")
        shutil.rmtree(self._cache, ignore_errors=True)
        command = [str(self._bin / "python"), "-m", "pytest", "-q"]
        command += ["-o", f"cache_dir={self._cache}"]
        with tempfile.TemporaryFile() as output:
            session = subprocess.Popen(
                [*command, *arguments],
                cwd=self.copy,
                env=self._variables() | variables,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            self._session, code = session, None
            try:
                with suppress(subprocess.TimeoutExpired):
                    code = session.wait(timeout)
            finally:
                self._session = None
                _end(session)
        failed = self._cache / "v" / "cache" / "lastfailed"
        names = json.loads(failed.read_text(encoding="utf-8")) if failed.is_file() else {}
        return Ended(code, sorted(names))

    def close(self) -> None:
        """End the session that is under way, and let none begin. Safe with threads."""
        self._is_closed = True
        if session := self._session:
            _end(session)


def _end(session: subprocess.Popen[bytes]) -> None:
    """End the processes of a session, whether or not it has ended itself."""
    with suppress(ProcessLookupError):
        os.killpg(session.pid, signal.SIGKILL)
    session.wait()


# --- the judgment --------------------------------------------------------------------------------


class Outcome(NamedTuple):
    """What the tests made of a fault."""

    fault: Fault
    there: bool
    """Whether the checkout has its line."""
    stage: str = ""
    """The stage that noticed it; empty if none did."""
    test: str = ""
    """The test that failed first, or what happened to the session."""
    seconds: float = 0.0


class Plan(NamedTuple):
    """How a fault is judged."""

    gate: str
    tests: TestMap
    """For the quick gate."""
    timeout: float
    workers: int
    failing: set[str]
    """Tests that fail without any fault: found on the way, shared by all."""


def stages(workspace: Workspace, fault: Fault, plan: Plan) -> Iterator[tuple[str, list[str]]]:
    """The stages of a fault: names, and the test files of each."""
    mirrored = mirrors(fault.file, workspace.tests)
    if mirrored:
        yield "mirror", mirrored
    if plan.gate == "all":
        yield "gate", ["tests"]
    if plan.gate == "quick":
        going = going_through(plan.tests, fault)
        left = [name for name in going if name in workspace.tests and name not in mirrored]
        if left:
            yield "map", left
        if folders := [name for name in PROCESSES if (workspace.copy / name).is_dir()]:
            yield "processes", folders


def judge(workspace: Workspace, fault: Fault, plan: Plan) -> Outcome:
    """Run the stages of a fault up to the first that notices it."""
    began = time.monotonic()
    source = workspace.sources(fault.file)
    if source is None or line_now(fault, source) is None:
        return Outcome(fault, there=False)
    for stage, files in stages(workspace, fault, plan):
        if test := noticed_by(workspace, fault, stage, files, plan):
            return Outcome(fault, True, stage, test, time.monotonic() - began)
    return Outcome(fault, True, seconds=time.monotonic() - began)


def noticed_by(
    workspace: Workspace, fault: Fault, stage: str, files: Sequence[str], plan: Plan
) -> str:
    """The test that fails with the fault and passes without it; empty if there is none.

    In the gate it has to fail with the fault alone, too: beside others some fail by chance.
    """
    arguments = ["-x", *files]
    if stage != "mirror" and plan.workers > 1:
        arguments += ["-n", str(plan.workers), "--dist", "worksteal"]
    while True:
        failing = sorted(plan.failing)
        # A file that cannot be collected is a failure without a test.
        left_out = [f"{'--deselect' if '::' in name else '--ignore'}={name}" for name in failing]
        ended = with_fault(workspace, fault, [*arguments, *left_out], plan.timeout)
        if not ended.noticed:
            return ""
        if ended.code is None:
            return f"time: {plan.timeout:.0f} s"
        # A session that could not begin has failed no test: all that it should have run is asked.
        alone = ["-x", *ended.failed] if ended.failed else ["--collect-only", *files]
        alone += ["-m", "long or not long"]
        without = workspace.pytest(alone, plan.timeout)
        chance = without.failed
        if not without.noticed:
            if stage == "mirror" or with_fault(workspace, fault, alone, plan.timeout).noticed:
                return (*ended.failed, f"a session that ends with {ended.code}")[0]
            chance = ended.failed
        if not {*chance} - {*failing}:
            raise RuntimeError(f"without a fault pytest ends with {without.code}: {alone}")
        plan.failing.update(chance)


def with_fault(
    workspace: Workspace, fault: Fault, arguments: Sequence[str], timeout: float
) -> Ended:
    """A session with the fault, which is gone afterwards."""
    source = workspace.sources(fault.file) or ""
    workspace.apply(fault)
    try:
        return workspace.pytest(arguments, timeout)
    finally:
        workspace.write(fault.file, source)


def judge_all(
    workspaces: Sequence[Workspace], faults: Sequence[Fault], plan: Plan
) -> Iterator[Outcome]:
    """The outcomes in the order of the faults, each workspace at one of them at a time."""
    free: SimpleQueue[Workspace] = SimpleQueue()
    for workspace in workspaces:
        free.put(workspace)

    def judged(fault: Fault) -> Outcome:
        workspace = free.get()
        try:
            return judge(workspace, fault, plan)
        finally:
            free.put(workspace)

    with ThreadPoolExecutor(len(workspaces)) as pool:
        try:
            yield from pool.map(judged, faults)
        finally:
            # Where the command is interrupted, sessions are under way that nobody waits for.
            pool.shutdown(wait=False, cancel_futures=True)
            for workspace in workspaces:
                workspace.close()


def make_map(workspace: Workspace, path: Path, workers: int) -> int:
    """Run the tests that work in this process, and write which lines each goes through."""
    folder = workspace.copy.parent
    settings, contexts = folder / "coverage.ini", folder / "contexts"
    settings.write_text(f"[run]\nsource = {PACKAGE}\nrelative_files = true\n", encoding="utf-8")
    ignored = [f"--ignore={name}" for name in PROCESSES]
    covered = ["--cov", f"--cov-config={settings}", "--cov-context=test", "--cov-report="]
    arguments = ["-n", str(workers), "--dist", "loadfile", "tests", *ignored, *covered]
    # Whatever fails: what a test has gone through is known.
    ended = workspace.pytest(arguments, timeout=4 * 3600, COVERAGE_FILE=str(contexts))
    if ended.code not in (0, 1) or not contexts.is_file():
        print(f"pytest with pytest-cov ends with {ended.code} and writes no map", file=sys.stderr)
        return 1
    save(path, map_of(contexts, sources_of(workspace.copy)))
    return 0


# --- the command ---------------------------------------------------------------------------------


def shown(fault: Fault) -> str:
    return (
        f"{fault.file}:{fault.line} {fault.kind}: {fault.before.strip()}  ->  {fault.after.strip()}"
    )


def shown_outcome(outcome: Outcome) -> str:
    if not outcome.there:
        return f"{shown(outcome.fault)}: no such line here"
    caught = f"caught by {outcome.test} ({outcome.stage}" if outcome.stage else "NOT CAUGHT ("
    return f"{shown(outcome.fault)}: {caught}{', ' * bool(outcome.stage)}{outcome.seconds:.0f} s)"


def parser() -> argparse.ArgumentParser:
    head, _, text = (__doc__ or "").partition("\n\n")
    options = argparse.ArgumentParser(
        description=head, epilog=text, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = options.add_argument
    add("--seed", type=int, default=1, metavar="N", help="draws the faults (1)")
    add("--count", type=int, default=30, metavar="N", help="how many faults (30)")
    add("--list", action="store_true", help="show the faults and run nothing")
    add("--only", type=int, metavar="N", help="the Nth fault alone")
    add("--save", type=Path, metavar="FILE", help="write the faults to a file")
    add("--faults", type=Path, metavar="FILE", help="those of a file that --save wrote")
    add("--results", type=Path, metavar="FILE", help="write what became of each, as it ends")
    add("--checkout", type=Path, default=CHECKOUT, metavar="DIR", help="that of another commit")
    add("--tests", type=Path, metavar="DIR", help="the folder `tests` of another checkout")
    add("--gate", choices=GATES, default="all", help="what follows the mirror: see below (all)")
    add("--map", type=Path, metavar="FILE", help="which tests go through what, for --gate quick")
    add("--make-map", type=Path, metavar="FILE", help="make that file, and judge no fault")
    add("--jobs", type=int, default=1, metavar="N", help="faults at once, each in a copy (1)")
    add("--workers", type=int, metavar="N", help="processes of a gate (cores over jobs)")
    add("--timeout", type=float, default=1800, metavar="S", help="a session that hangs (1800)")
    add("--at-least", type=float, metavar="SHARE", help="fail where fewer are caught, as 0.9")
    return options


def faults_asked_for(options: argparse.Namespace) -> list[Fault]:
    """The faults of a file, or drawn.

    Raises:
        ValueError: the file holds something else, or there is no fault of that number.
    """
    if options.faults:
        try:
            listed = json.loads(options.faults.read_text(encoding="utf-8"))
            faults = [Fault(**fault) for fault in listed]
        except (OSError, ValueError, TypeError) as error:
            raise ValueError(f"{options.faults}: no faults as --save writes: {error}") from None
    else:
        faults = draw(sources_of(options.checkout), options.seed, options.count)
    if options.only is not None:
        if not 1 <= options.only <= len(faults):
            raise ValueError(f"--only {options.only}: there are faults 1 to {len(faults)}")
        faults = [faults[options.only - 1]]
    return faults


def map_asked_for(options: argparse.Namespace) -> TestMap:
    """The map of the quick gate, empty if there is none.

    Raises:
        ValueError: the file holds something else.
    """
    if not options.map:
        return {}
    try:
        tests = json.loads(options.map.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ValueError(f"{options.map}: no map as --make-map writes: {error}") from None
    if not isinstance(tests, dict) or not all(isinstance(file, dict) for file in tests.values()):
        raise ValueError(f"{options.map}: no map as --make-map writes: it is no table of tables")
    return tests


def save(path: Path, content: Any) -> None:
    path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def report(outcomes: Iterator[Outcome], options: argparse.Namespace) -> int:
    """Show each outcome as it comes, and the count; the exit status."""
    ended: list[Outcome] = []
    for outcome in outcomes:
        ended.append(outcome)
        print(f"{len(ended):2} {shown_outcome(outcome)}", flush=True)
        if options.results:
            save(
                options.results,
                [each._asdict() | {"fault": each.fault._asdict()} for each in ended],
            )
    there = [outcome for outcome in ended if outcome.there]
    by_stage = [outcome.stage for outcome in there if outcome.stage]
    counts = ", ".join(f"{by_stage.count(name)} by {name}" for name in dict.fromkeys(by_stage))
    print(f"{len(by_stage)} of {len(there)} faults caught" + f" ({counts})" * bool(counts))
    if options.at_least is not None and len(by_stage) < options.at_least * len(there):
        print(f"fewer than {options.at_least:.0%}")
        return 1
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    command = parser()
    options = command.parse_args(arguments)
    if options.gate == "quick" and not options.map:
        command.error("--gate quick needs a map: --make-map FILE makes one, --map FILE reads it")
    try:
        faults, tests = faults_asked_for(options), map_asked_for(options)
    except ValueError as error:
        command.error(str(error))
    if options.save:
        save(options.save, [fault._asdict() for fault in faults])
    if options.list:
        for number, fault in enumerate(faults, start=1):
            print(f"{number:2} {shown(fault)}")
        return 0
    with tempfile.TemporaryDirectory(prefix="faults-") as folder:
        return run(Path(folder).resolve(), faults, tests, options)


def _interrupt(*_: object) -> NoReturn:
    raise KeyboardInterrupt


def run(
    folder: Path, faults: Sequence[Fault], through: TestMap, options: argparse.Namespace
) -> int:
    """Judge the faults, or make the map, in copies below a folder."""
    checkout, tests = options.checkout.resolve(), options.tests or options.checkout / "tests"
    workers = options.workers or max(1, len(os.sched_getaffinity(0)) // options.jobs)
    jobs = 1 if options.make_map else max(1, min(options.jobs, len(faults)))
    workspaces = [
        Workspace(folder / str(number), checkout, tests.resolve()) for number in range(jobs)
    ]
    for workspace in workspaces:
        workspace.prove()
    if options.make_map:
        return make_map(workspaces[0], options.make_map, workers)
    plan = Plan(options.gate, through, options.timeout, workers, set())
    return report(judge_all(workspaces, faults, plan), options)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, _interrupt)
    sys.exit(main())
