"""The options of an import, put together: what the user says, then what a file shows; as a command.

A setting never takes the place of what is said already.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields, replace
from pathlib import Path
from shlex import quote
from typing import Any, Final

from pytest_judgesense.files.assignments import written
from pytest_judgesense.files.import_options import ImportOptions
from pytest_judgesense.files.proposals import Setting
from pytest_judgesense.trial import grouped

_OF_PLACES: Final = frozenset(("path", "more", "looked_at"))
_BY_CRITERION: Final = frozenset(("grades", "people"))
_OF_PAIRS: Final = frozenset(("map", "value", "names", "lists", "join", *_BY_CRITERION))
_WITH_COMMAS: Final = frozenset(("labels", "range"))
_FILES: Final = frozenset(("join",))
_MANY: Final = frozenset(("variant", "leave_out", "validation", "scorer"))
# Of these a word in any case is the same word.
_OF_WORDS: Final = frozenset(("value",))
_COMMAND: Final = "judgesense import"
_CONTINUED: Final = " \\"
_WIDTH: Final = 100


def with_settings(options: ImportOptions, settings: Iterable[Setting]) -> ImportOptions:
    """The options, and the settings of what they do not say."""
    for setting in settings:
        options = _with_setting(options, setting)
    return options


def _with_setting(options: ImportOptions, setting: Setting) -> ImportOptions:
    field, value = setting
    present = getattr(options, field)
    if field not in _OF_PAIRS:
        return options if _is_given(present) else _replaced(options, field, value)
    assert isinstance(value, tuple)
    pair: tuple[Any, ...] = value
    if field in _FILES:
        pair = (Path(value[0]), value[1])
    if _is_said(present, field, str(pair[0])) and field not in _FILES:
        return options
    return options if pair in present else _replaced(options, field, (*present, pair))


def _replaced(options: ImportOptions, field: str, value: Any) -> ImportOptions:
    changed: dict[str, Any] = {field: value}
    return replace(options, **changed)


def _is_said(pairs: Sequence[tuple[Any, str]], field: str, name: str) -> bool:
    if field in _OF_WORDS:
        return name.casefold() in {str(word).casefold() for word, _ in pairs}
    return name in {first for first, _ in pairs}


def _is_given(value: Any) -> bool:
    return not (value is None or value is False or value == ())


def settings_of(options: ImportOptions) -> list[Setting]:
    """What options say, a setting each."""
    settings = []
    for option in fields(options):
        value = getattr(options, option.name)
        if option.name in _OF_PLACES or not _is_given(value):
            continue
        if option.name in _OF_PAIRS:
            settings += [Setting(option.name, tuple(map(str, pair))) for pair in value]
        else:
            settings.append(Setting(option.name, value))
    return settings


def option_words(settings: Iterable[Setting]) -> list[str]:
    """Settings as the words of a command line, not quoted; those of all criteria in one option."""
    listed = [*settings]
    words: list[str] = []
    for field in dict.fromkeys(setting.field for setting in listed):
        values = [setting.value for setting in listed if setting.field == field]
        name = f"--{field.replace('_', '-')}"
        if field in _BY_CRITERION:
            words += [name, ",".join(_assigned(field, value) for value in values)]
            continue
        for value in values:
            words += _words_of(name, field, value)
    return words


def _words_of(name: str, field: str, value: Any) -> Iterator[str]:
    if value is True:
        yield name
    elif field in _MANY:
        for part in value if isinstance(value, tuple) else (value,):
            yield from (name, str(part))
    else:
        text = ",".join(value) if field in _WITH_COMMAS else _assigned(field, value)
        # A dash at the start would look like an option.
        yield from (f"{name}={text}",) if text.startswith("-") else (name, text)


def _assigned(field: str, value: Any) -> str:
    if not isinstance(value, tuple):
        return str(value)
    first, second = value
    # A pattern of columns may go without what its values are called.
    return written(first, second) if second or field != "lists" else str(first)


def command_line(
    paths: Sequence[Path], settings: Iterable[Setting], output: Path | None, form: str = ""
) -> str:
    """The one command that reads files so, as a shell takes it, on lines that end in backslashes.

    A line is as wide as a screen at most, where its words are.
    """
    parts = [" ".join(map(quote, map(str, paths)))]
    parts += [f"--format {quote(form)}"] if form else []
    parts += [" ".join(map(quote, option_words(group))) for group in _together(settings)]
    parts += [f"-o {quote(str(output))}"] if output else []
    lines = [_COMMAND]
    for part in parts:
        fits = len(lines[-1]) + len(part) + len(_CONTINUED) < _WIDTH
        lines = [*lines[:-1], f"{lines[-1]} {part}"] if fits else [*lines, f"  {part}"]
    return f"{_CONTINUED}\n".join(lines)


def _together(settings: Iterable[Setting]) -> list[list[Setting]]:
    """Settings in the order of their options; those of criteria make one option."""
    groups: list[list[Setting]] = []
    for field, alike in grouped(settings, lambda setting: setting.field).items():
        groups += [alike] if field in _BY_CRITERION else [[setting] for setting in alike]
    return groups
