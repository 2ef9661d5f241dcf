"""The options, each with its ini twin, read once into frozen `Settings`. Light on purpose."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest

__all__ = ["Settings", "add_options", "any_given", "settings_of"]

_MODES: Final = ("replay", "record", "live")
_POLICIES: Final = ("estimate", "confident")
_FORMS: Final = (".json", ".jsonl", ".html", ".md")


# Named tuples: a dataclass takes a millisecond to make, in every run of an environment.
class _Option(NamedTuple):
    name: str
    kind: str  # type of the ini twin: string, int, or args (several values)
    help: str
    metavar: str | None = None
    choices: tuple[str, ...] | None = None
    repeatable: bool = False

    @property
    def ini(self) -> str:
        return self.name.replace("-", "_")

    @property
    def dest(self) -> str:
        return "judgesense_" + self.ini.removeprefix("judge_")


_OPTIONS: Final = (
    _Option(
        "judge-mode",
        "string",
        "replay: recorded judgments, offline (the default); record: ask what is not recorded yet; "
        "live: ask everything afresh, and leave recordings alone",
        choices=_MODES,
    ),
    _Option(
        "judge-name",
        "args",
        "measure this judge: one that pyproject.toml declares, or provider:model such as "
        "openai:gpt-4o-mini or embedded:clean; may be repeated (default: all declared ones)",
        "NAME",
        repeatable=True,
    ),
    _Option(
        "judge-suite",
        "args",
        "run only this suite (NAME or NAME@PRESET); without a path, the built-in suite of that "
        "name; may be repeated",
        "NAME",
        repeatable=True,
    ),
    _Option("judge-cassettes", "string", "folder of the recordings (default: cassettes)", "DIR"),
    _Option(
        "judge-datasheet",
        "args",
        "write the datasheet in the form that the suffix chooses: .json, .html (a page with "
        "figures and evidence), .md (Markdown), or .jsonl (the log of all judgments); may be "
        "repeated",
        "PATH",
        repeatable=True,
    ),
    _Option(
        "judge-policy",
        "string",
        "what has to clear the bar of a check: the estimate (the default), or, confident, the "
        "one-sided 95%% bound of its clustered interval",
        choices=_POLICIES,
    ),
    _Option(
        "judge-max-missing",
        "float",
        "share of missing replies beyond which the worst case must clear the bar too (default: "
        "0.05)",
        "SHARE",
    ),
    _Option("judge-seed", "int", "seed of every random draw of the estimators (default: 0)", "N"),
    _Option("judge-concurrency", "int", "calls under way at once (default: 8)", "N"),
    _Option(
        "judge-max-calls",
        "int",
        "stop before more than N calls have been made in the session, retries counted",
        "N",
    ),
    _Option(
        "judge-max-cost",
        "float",
        "stop before the calls of the session may have cost more, by the prices of the judges",
        "USD",
    ),
    _Option("judge-baseline", "string", "hold no_regression checks against this file", "PATH"),
    _Option(
        "judge-save-baseline",
        "string",
        "write what was judged to this file, for --judge-baseline of later sessions",
        "PATH",
    ),
    _Option(
        "judge-max-age",
        "float",
        "fail checks on recordings that are older than this many days",
        "DAYS",
    ),
    _Option(
        "judge-verify",
        "int",
        "with --judge-mode live: replay, ask N recorded trials of each judge and suite again, and "
        "report what changed",
        "N",
    ),
    _Option("judge-save-live", "string", "keep what live mode records, in this folder", "DIR"),
)


class Settings(NamedTuple):
    """The options of a session, resolved.

    Attributes:
        rootdir: where relative recordings are looked up.
        invocation: where relative outputs are written.
        max_calls: the most calls in the session; ``None`` sets no limit.
        max_cost: the most USD, likewise.
        max_missing: share of missing replies beyond which the worst case decides as well; ``None``
            for the default of the checks.
        baseline: what `no_regression` checks are held against.
        save_baseline: where the judgments of this session become a baseline.
        max_age: the most days since a recording; ``None`` sets no limit.
        verify: how many recorded trials of a judge on a suite are asked again; ``None``: none
            are. The mode is then ``replay``: what is asked changes no check.
    """

    mode: str
    judges: tuple[str, ...]
    suites: tuple[str, ...]
    cassettes: Path
    datasheets: tuple[Path, ...]
    policy: str
    seed: int
    concurrency: int
    save_live: Path | None
    rootdir: Path
    invocation: Path
    max_calls: int | None = None
    max_cost: float | None = None
    max_missing: float | None = None
    baseline: Path | None = None
    save_baseline: Path | None = None
    max_age: float | None = None
    verify: int | None = None


def add_options(parser: pytest.Parser) -> None:
    """Register options and ini values; nothing is computed here."""
    example = "pytest --judge-suite coherence --judge-name embedded:clean"
    group = parser.getgroup("judgesense", f"LLM judges: measure, gate, report; try {example}")
    for option in _OPTIONS:
        extra: dict[str, Any] = {"choices": option.choices} if option.choices else {}
        if option.metavar:
            extra["metavar"] = option.metavar
        if option.kind in ("int", "float"):
            extra["type"] = int if option.kind == "int" else float
        group.addoption(
            f"--{option.name}",
            dest=option.dest,
            action="append" if option.repeatable else "store",
            default=None,
            help=option.help,
            **extra,
        )
        kind: Any = option.kind
        parser.addini(option.ini, f"ini twin of --{option.name}", type=kind, default=None)


def any_given(config: pytest.Config) -> bool:
    """Whether any option is given, on the command line or in an ini file."""
    try:
        return any(
            getattr(config.option, option.dest) is not None
            or config.getini(option.ini) not in (None, "", [])
            for option in _OPTIONS
        )
    except (TypeError, ValueError, pytest.UsageError):
        return True  # and wrong: `settings_of` says how


def _value(config: pytest.Config, name: str) -> Any:
    option = next(option for option in _OPTIONS if option.name == name)
    given = config.getoption(option.dest)
    if given is not None:
        return given
    try:
        written = config.getini(option.ini)
    except (TypeError, ValueError, pytest.UsageError) as error:
        raise pytest.UsageError(f"{option.ini} (ini twin of --{name}) is wrong: {error}") from error
    return None if written in (None, "", []) else written


def _choice(config: pytest.Config, name: str, choices: tuple[str, ...]) -> str:
    value = _value(config, name) or choices[0]
    if value not in choices:
        ini = name.replace("-", "_")
        raise pytest.UsageError(
            f"{ini} = {value!r} is unknown; expected one of {', '.join(choices)}"
        )
    return str(value)


def _number(config: pytest.Config, name: str, default: int, least: int) -> int:
    value = _value(config, name)
    try:
        number = default if value is None else int(value)
    except ValueError:
        number = least - 1
    if number < least:
        raise pytest.UsageError(
            f"--{name} {value} is wrong; expected a whole number, at least {least}"
        )
    return number


def _optional(config: pytest.Config, name: str, least: int) -> int | None:
    return None if _value(config, name) is None else _number(config, name, least, least)


def _amount(config: pytest.Config, name: str) -> float | None:
    value = _value(config, name)
    if value is None:
        return None
    try:
        amount = float(value)
    except ValueError:
        amount = math.nan
    if not 0 <= amount < math.inf:
        raise pytest.UsageError(f"--{name} {value} is wrong; expected a number, at least 0")
    return amount


def _share(config: pytest.Config, name: str) -> float | None:
    amount = _amount(config, name)
    if amount is not None and amount > 1:
        raise pytest.UsageError(f"--{name} {amount:g} is wrong; expected a share, at most 1")
    return amount


def _path(config: pytest.Config, name: str) -> Path | None:
    value = _value(config, name)
    return config.invocation_params.dir / value if value else None


def _baseline(config: pytest.Config) -> Path | None:
    path = _path(config, "judge-baseline")
    missing = (
        path is not None and not path.is_file() and path != _path(config, "judge-save-baseline")
    )
    # Named by the ini file, it is missed by the checks that need it, and by no other test.
    if missing and config.getoption("judgesense_baseline") is not None:
        raise pytest.UsageError(
            f"--judge-baseline {path}: there is no such file; write it with --judge-save-baseline"
        )
    return path


def settings_of(config: pytest.Config) -> Settings:
    """The settings of a session.

    Raises:
        pytest.UsageError: a value is wrong.
    """
    root, invocation = config.rootpath, config.invocation_params.dir
    cassettes = _value(config, "judge-cassettes")
    save_live = _value(config, "judge-save-live")
    datasheets = tuple(invocation / path for path in _value(config, "judge-datasheet") or ())
    for path in datasheets:
        if path.suffix not in _FORMS:
            raise pytest.UsageError(
                f"--judge-datasheet {path.name}: the suffix chooses the form; expected .json, "
                ".html for a page, .md, or .jsonl for the judgment log"
            )
    mode = _choice(config, "judge-mode", _MODES)
    verify = _optional(config, "judge-verify", 1)
    if verify is not None and mode != "live":
        raise pytest.UsageError(
            f"--judge-verify {verify} asks judges, and --judge-mode is {mode}; "
            "expected --judge-mode live beside it"
        )
    return Settings(
        mode=mode if verify is None else "replay",
        judges=tuple(_value(config, "judge-name") or ()),
        suites=tuple(_value(config, "judge-suite") or ()),
        cassettes=root / (cassettes or "cassettes"),
        datasheets=datasheets,
        policy=_choice(config, "judge-policy", _POLICIES),
        seed=_number(config, "judge-seed", 0, 0),
        concurrency=_number(config, "judge-concurrency", 8, 1),
        save_live=invocation / save_live if save_live else None,
        rootdir=root,
        invocation=invocation,
        max_calls=_optional(config, "judge-max-calls", 0),
        max_cost=_amount(config, "judge-max-cost"),
        max_missing=_share(config, "judge-max-missing"),
        baseline=_baseline(config),
        save_baseline=_path(config, "judge-save-baseline"),
        max_age=_amount(config, "judge-max-age"),
        verify=verify,
    )
