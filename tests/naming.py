"""The modules of ours that texts name: what `later` and `room` import when it is first used."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence

ROOT = "pytest_judgesense"
_NAME = re.compile(rf"{ROOT}\.([\w.]+)(?::\w+)?")
# What takes the name of a module, or of a package, as its first argument.
_TAKERS = ("later", "room")
# Only sources with one of these are parsed.
_SIGN = re.compile(rf"""["']{ROOT}\.|\b(?:{"|".join(_TAKERS)})\b""")


def _text(node: ast.AST, known: Mapping[str, str]) -> str | None:
    """The text of an expression that is one: plain, under a name, or with such texts within it."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.Name):
        return known.get(node.id)
    if isinstance(node, ast.FormattedValue):
        return _text(node.value, known)
    if isinstance(node, ast.JoinedStr):
        parts = [_text(part, known) for part in node.values]
        return None if None in parts else "".join(part or "" for part in parts)
    return None


def _call(node: ast.AST) -> tuple[str, Sequence[ast.expr]]:
    """The name of the function that is called, or made ready by `partial`, and its arguments."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
        return "", ()
    if node.func.id == "partial" and isinstance(node.args[0], ast.Name):
        return node.args[0].id, node.args[1:]
    return node.func.id, node.args


def _assigned(tree: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    """Names of a module, and what is assigned to each."""
    for node in tree.body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            if isinstance(target, ast.Name):
                yield target.id, node.value


class Texts:
    """The texts of all modules, by their names without the root."""

    def __init__(self, sources: Mapping[str, str]) -> None:
        self._modules = set(sources)
        self._trees = {
            name: ast.parse(source) for name, source in sources.items() if _SIGN.search(source)
        }
        self._known = {
            name: {key: text for key, value in _assigned(tree) if (text := _text(value, {}))}
            for name, tree in self._trees.items()
        }
        # By what `room` gives, the package: under its name in a module, and where it is imported.
        self._rooms: dict[str, dict[str, str]] = {name: {} for name in sources}
        for name, tree in self._trees.items():
            for key, value in _assigned(tree):
                called, given = _call(value)
                if called == "room" and (package := _text(given[0], self._known[name])):
                    self._rooms[name][key] = package
        given_by = {f"{ROOT}.{name}": rooms for name, rooms in self._rooms.items() if rooms}
        for name, source in sources.items():
            if any(f"{module} import" in source for module in given_by):
                self._take(name, source, given_by)

    def _take(self, name: str, source: str, given_by: Mapping[str, Mapping[str, str]]) -> None:
        """What a module imports of that which `room` gives to others."""
        tree = self._trees.setdefault(name, ast.parse(source))
        self._known.setdefault(name, {})
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom):
                rooms = given_by.get(str(node.module), {})
                for alias in node.names:
                    if alias.name in rooms:
                        self._rooms[name][alias.asname or alias.name] = rooms[alias.name]

    def named(self, module: str) -> set[str]:
        """The modules of the package that a module names."""
        found, rooms = set(), self._rooms[module]
        for node in self._walked(module):
            text = _text(node, self._known[module])
            called, given = _call(node)
            if called in rooms:
                text = f"{rooms[called]}.{_text(given[0], self._known[module])}"
            if text is not None and (match := _NAME.fullmatch(text)):
                found.add(self._nearest(match[1]))
        return found - {""}

    def _walked(self, module: str) -> Iterator[ast.AST]:
        for node in ast.walk(self._trees[module]) if module in self._trees else ():
            if isinstance(node, ast.Constant | ast.JoinedStr | ast.Call):
                yield node

    def _nearest(self, name: str) -> str:
        """The module that a dotted name begins with, which may be that of something within it."""
        while name and name not in self._modules:
            name = name.rpartition(".")[0]
        return name

    def unread(self, module: str) -> list[str]:
        """Calls that import a module later whose name only a run can tell."""
        calls = ((node, *_call(node)) for node in self._walked(module))
        return [
            ast.unparse(node)
            for node, called, given in calls
            if ((called in _TAKERS and given) or called in self._rooms[module])
            and _text(given[0], self._known[module]) is None
        ]
