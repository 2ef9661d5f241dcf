"""Items as they were when people labelled them, as far as git still holds the file of the items."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from pytest_judgesense.errors import JudgesenseError
from pytest_judgesense.files.opening import read_text
from pytest_judgesense.revisions.revision import Revision, newest_versions
from pytest_judgesense.suites.item import Item
from pytest_judgesense.suites.loading import items_of_text
from pytest_judgesense.suites.people import labelled_text
from pytest_judgesense.suites.suite import Kind, Suite

# Versions of the file that are looked through, from the newest: about a second.
_MOST_VERSIONS: Final = 30


def earlier_items(
    suite: Suite, texts: Collection[str], kinds: Mapping[str, Kind]
) -> dict[str, Item]:
    """The items that showed these texts, by text, as the suite file reads older versions of them.

    What git does not hold, or the suite file does not read any more, is left out: a text that is
    not shown beside the new one hinders nobody.
    """
    wanted, earlier = {*texts}, dict[str, Item]()
    for raw in _versions(suite.files[0]) if wanted else ():
        try:
            items = items_of_text(suite, raw, kinds)
        except JudgesenseError:
            continue
        for item in items:
            if (text := labelled_text(item)) in wanted:
                earlier.setdefault(text, item)
        if earlier.keys() == wanted:
            break
    return earlier


def _versions(file: Path) -> Iterator[str]:
    """The text of a file at the commits that changed it, the newest first; those that are there."""
    try:
        commits = newest_versions(file, _MOST_VERSIONS)
    except JudgesenseError:
        return
    for commit in commits:
        with TemporaryDirectory() as folder:
            try:
                revision = Revision.read(commit, file.parent)
                if not revision.holds(file):
                    continue
                revision.write([file], Path(folder))
                text = read_text(revision.place_in(Path(folder), file))
            except (JudgesenseError, OSError, UnicodeDecodeError):
                continue
        yield text.removeprefix("\ufeff")
