"""The hooks of the site's build, and the pages that they make, as the build loads them."""

from __future__ import annotations

import importlib.util
import sys
from argparse import ArgumentParser
from functools import cache
from types import ModuleType

from pytest_judgesense.commands.main import build_parser
from tests.docs.blocks import DOCS, text_of

__all__ = ["commands", "hooks", "made_page", "reference"]


@cache
def hooks() -> ModuleType:
    """The module of the hooks; the paths that it adds for the build are taken back."""
    spec = importlib.util.spec_from_file_location("site_hooks", DOCS / "reference" / "hooks.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    before = list(sys.path)
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path[:] = before
    return module


@cache
def reference() -> dict[str, str]:
    """The pages that are made of the code, by their paths in docs/."""
    pages: dict[str, str] = hooks().generate.site_pages()
    return pages


def made_page(path: str) -> str:
    """A page by hand with the parts that the site's build makes."""
    page: str = hooks().with_made_parts(path, text_of(path))
    return page


def commands() -> list[tuple[str, ArgumentParser]]:
    """Every command of ``judgesense``, those with commands of their own by both words."""
    return [*hooks().generate._commands(build_parser())]
