"""Whether a session uses the plugin; the only code that every run executes.

A run that names no judge, collects no suite and marks no test with a check gets the options, the
markers and the fixtures, and nothing else: the state of the session is made at its first use.
"""

from __future__ import annotations

from collections.abc import Container
from typing import Any, Final

import pytest

from pytest_judgesense.plugin.options import any_given

# Of a `state.State`, which is not imported here.
STATE: Final = pytest.StashKey[Any]()
# Of a `hookspecs.Plugins`.
PLUGINS: Final = pytest.StashKey[Any]()
FIXTURE: Final = "_judgesense_judge"
# What `options.OPTIONS` calls the mode, on the command line and in ini files.
_MODE: Final = "judgesense_mode"
_MODE_IN_FILES: Final = "judge_mode"


def is_asked_for(config: pytest.Config) -> bool:
    """Whether an option of the plugin is given, or xdist may spread tests of judges."""
    return (
        any_given(config)
        or any(argument.startswith("judgesense/") for argument in config.args)
        # Workers get the shared state at their start, before collection.
        or getattr(config.option, "dist", "no") != "no"
    )


def may_record(early_config: pytest.Config) -> bool:
    """Whether judges may be asked in a session whose options are read, and nothing else is."""
    typed = getattr(early_config.known_args_namespace, _MODE, None)
    return (typed or early_config.getini(_MODE_IN_FILES)) in ("record", "live")


def check_names(config: pytest.Config) -> Container[str]:
    """The names of the markers that are checks."""
    names: Container[str] = config.stash[PLUGINS].check_names
    return names


def is_marked(node: pytest.Item) -> bool:
    """Whether a test carries the marker of a check."""
    names = check_names(node.config)
    return any(mark.name in names for mark in node.iter_markers())


def asks_judges(item: pytest.Item) -> bool:
    """Whether an item is a check, or a test that has a judge."""
    return FIXTURE in getattr(item, "fixturenames", ()) or is_marked(item)
