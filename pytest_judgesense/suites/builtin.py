"""Where the built-in suites and their recordings are, in every kind of install."""

from __future__ import annotations

from pathlib import Path

__all__ = ["builtin_cassettes", "builtin_suites"]

_PACKAGE = Path(__file__).resolve().parent.parent


def _data(name: str) -> Path:
    # The wheel carries the data inside the package; an editable install reads the checkout.
    shipped = _PACKAGE / "_data" / name
    return shipped if shipped.is_dir() else _PACKAGE.parent / name


def builtin_suites() -> dict[str, Path]:
    """Name and file of every built-in suite, in alphabetical order."""
    files = sorted(_data("suites").glob("*/*.suite.toml"))
    return {file.name.removesuffix(".suite.toml"): file for file in files}


def builtin_cassettes() -> Path:
    """Folder of the recordings that come with the installation (read only)."""
    return _data("cassettes")
