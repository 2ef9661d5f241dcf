"""The options, each with its ini twin, read once into frozen `Settings`. Light on purpose."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

import pytest

_Read: TypeAlias = Callable[[str, Any], Any]

_FORMS: Final = (".json", ".jsonl", ".html", ".md")


def _text(_name: str, value: Any) -> str:
    return str(value)


def _several(_name: str, value: Any) -> tuple[str, ...]:
    return tuple(value)


def _one_of(*choices: str) -> _Read:
    def read(name: str, value: Any) -> str:
        if value not in choices:
            ini = name.replace("-", "_")
            expected = ", ".join(choices)
            raise pytest.UsageError(f"{ini} = {value!r} is unknown; expected one of {expected}")
        return str(value)

    return read


def _whole(least: int) -> _Read:
    def read(name: str, value: Any) -> int:
        try:
            number = int(value)
        except ValueError:
            number = least - 1
        if number < least:
            raise pytest.UsageError(
                f"--{name} {value} is wrong; expected a whole number, at least {least}"
            )
        return number

    return read


def _amount(most: float = math.inf) -> _Read:
    def read(name: str, value: Any) -> float:
        try:
            amount = float(value)
        except ValueError:
            amount = math.nan
        if not (0 <= amount <= most and amount < math.inf):
            expected = "a number, at least 0" if most == math.inf else f"a share from 0 to {most:g}"
            raise pytest.UsageError(f"--{name} {value} is wrong; expected {expected}")
        return amount

    return read


# Named tuples: a dataclass takes a millisecond to make, in every run of an environment.
class Option(NamedTuple):
    """An option and its ini twin; ``read`` makes the value of `Settings`, or says what is wrong."""

    name: str
    kind: str  # type of the ini twin: string, int, float, or args (several values)
    read: _Read
    help: str
    metavar: str | None = None
    choices: tuple[str, ...] | None = None

    @property
    def ini(self) -> str:
        """Name in an ini file."""
        return self.name.replace("-", "_")

    @property
    def dest(self) -> str:
        """Name in ``config.option``."""
        return "judgesense_" + self.ini.removeprefix("judge_")

    @property
    def field(self) -> str:
        """Name in `Settings`."""
        name = self.ini.removeprefix("judge_")
        return {"name": "judges", "suite": "suites", "datasheet": "datasheets"}.get(name, name)


_MODES: Final = ("replay", "record", "live")
_POLICIES: Final = ("estimate", "confident")
OPTIONS: Final = (
    Option(
        "judge-mode",
        "string",
        _one_of(*_MODES),
        "replay: recorded judgments, offline (the default); record: ask what is not recorded yet; "
        "live: ask everything afresh, and leave recordings alone",
        choices=_MODES,
    ),
    Option(
        "judge-name",
        "args",
        _several,
        "measure this judge: one that pyproject.toml declares, or provider:model such as "
        "openai:gpt-4o-mini or embedded:clean; may be repeated (default: all declared ones)",
        "NAME",
    ),
    Option(
        "judge-suite",
        "args",
        _several,
        "run only this suite (NAME or NAME@PRESET); without a path, the built-in suite of that "
        "name; may be repeated",
        "NAME",
    ),
    Option(
        "judge-cassettes", "string", _text, "folder of the recordings (default: cassettes)", "DIR"
    ),
    Option(
        "judge-datasheet",
        "args",
        _several,
        "write the datasheet in the form that the suffix chooses: .json, .html (a page with "
        "figures and evidence), .md (Markdown), or .jsonl (the log of all judgments); may be "
        "repeated",
        "PATH",
    ),
    Option(
        "judge-policy",
        "string",
        _one_of(*_POLICIES),
        "what has to clear the bar of a check: the estimate (the default), or, confident, the "
        "one-sided 95%% bound of its clustered interval",
        choices=_POLICIES,
    ),
    Option(
        "judge-max-missing",
        "float",
        _amount(1),
        "share of missing replies beyond which the worst case must clear the bar too (default: "
        "0.05)",
        "SHARE",
    ),
    Option(
        "judge-seed",
        "int",
        _whole(0),
        "seed of every random draw of the estimators (default: 0)",
        "N",
    ),
    Option("judge-concurrency", "int", _whole(1), "calls under way at once (default: 8)", "N"),
    Option(
        "judge-max-calls",
        "int",
        _whole(0),
        "stop before more than N calls have been made in the session, retries counted",
        "N",
    ),
    Option(
        "judge-max-cost",
        "float",
        _amount(),
        "stop before the calls of the session may have cost more, by the prices of the judges",
        "USD",
    ),
    Option(
        "judge-baseline", "string", _text, "hold no_regression checks against this file", "PATH"
    ),
    Option(
        "judge-save-baseline",
        "string",
        _text,
        "write what was judged to this file, for --judge-baseline of later sessions",
        "PATH",
    ),
    Option(
        "judge-max-age",
        "float",
        _amount(),
        "fail checks on recordings that are older than this many days",
        "DAYS",
    ),
    Option(
        "judge-verify",
        "int",
        _whole(1),
        "with --judge-mode live: replay, ask N recorded trials of each judge and suite again, and "
        "report what changed",
        "N",
    ),
    Option(
        "judge-save-live", "string", _text, "keep what live mode records, in this folder", "DIR"
    ),
)


class Settings(NamedTuple):
    """The options of a session, resolved.

    Attributes:
        rootdir: where relative recordings are looked up.
        invocation: where relative outputs are written.
        max_cost: the most USD in the session; here as in the other limits ``None`` sets none.
        max_missing: share of missing replies beyond which the worst case decides as well; ``None``
            for the default of the checks.
        max_age: the most days since a recording.
        baseline: what `no_regression` checks are compared with.
        save_live: where live calls are recorded; ``None`` for nowhere.
        verify: how many recorded trials of a judge on a suite are asked again; ``None``: none
            are. The mode is then ``replay``: what is asked changes no check.
    """

    rootdir: Path
    invocation: Path
    cassettes: Path
    mode: str = "replay"
    judges: tuple[str, ...] = ()
    suites: tuple[str, ...] = ()
    datasheets: tuple[Path, ...] = ()
    policy: str = "estimate"
    seed: int = 0
    concurrency: int = 8
    max_calls: int | None = None
    max_cost: float | None = None
    max_missing: float | None = None
    max_age: float | None = None
    baseline: Path | None = None
    save_baseline: Path | None = None
    save_live: Path | None = None
    verify: int | None = None


def add_options(parser: pytest.Parser) -> None:
    """Register options and their ini twins."""
    example = "pytest --judge-suite coherence --judge-name embedded:clean"
    group = parser.getgroup("judgesense", f"LLM judges: measure, gate, report; try {example}")
    for option in OPTIONS:
        group.addoption(
            f"--{option.name}",
            dest=option.dest,
            action="append" if option.kind == "args" else "store",
            default=None,
            help=option.help,
            **({"choices": option.choices} if option.choices else {"metavar": option.metavar}),
        )
        kind: Any = option.kind
        parser.addini(option.ini, f"ini twin of --{option.name}", type=kind, default=None)


def any_given(config: pytest.Config) -> bool:
    """Whether any option is given, on the command line or in an ini file."""
    try:
        return any(_given(config, option) is not None for option in OPTIONS)
    except pytest.UsageError:
        return True  # and wrong: `settings_of` says how


def _given(config: pytest.Config, option: Option) -> Any:
    """What the command line says, or else the ini file; ``None`` for nothing."""
    given = getattr(config.option, option.dest)
    if given is not None:
        return given
    try:
        written = config.getini(option.ini)
    except (TypeError, ValueError, pytest.UsageError) as error:
        what = f"{option.ini} (ini twin of --{option.name}) is wrong: {error}"
        raise pytest.UsageError(what) from error
    return None if written in (None, "", []) else written


def settings_of(config: pytest.Config) -> Settings:
    """The settings of a session.

    Raises:
        pytest.UsageError: a value is wrong.
    """
    given = {option.name: _given(config, option) for option in OPTIONS}
    settings = resolve(given, config.rootpath, config.invocation_params.dir)
    baseline = settings.baseline
    # Named by the ini file, it is missed by the checks that need it, and by no other test.
    if config.option.judgesense_baseline is None or baseline is None or baseline.is_file():
        return settings
    if baseline != settings.save_baseline:
        raise pytest.UsageError(
            f"--judge-baseline {baseline}: there is no such file; write it with "
            "--judge-save-baseline"
        )
    return settings


def resolve(given: Mapping[str, Any], rootdir: Path, invocation: Path) -> Settings:
    """The settings of values ``given`` by name of the option; ``None`` for the default.

    Raises:
        pytest.UsageError: a value is wrong.
    """
    read = {
        option.field: option.read(option.name, value)
        for option in OPTIONS
        if (value := given.get(option.name)) not in (None, "")
    }
    for path in read.get("datasheets", ()):
        if Path(path).suffix not in _FORMS:
            raise pytest.UsageError(
                f"--judge-datasheet {Path(path).name}: the suffix chooses the form; expected "
                ".json, .html for a page, .md, or .jsonl for the judgment log"
            )
    read["datasheets"] = tuple(invocation / path for path in read.get("datasheets", ()))
    read["cassettes"] = rootdir / read.get("cassettes", "cassettes")
    for name in ("baseline", "save_baseline", "save_live"):
        if name in read:
            read[name] = invocation / read[name]
    settings = Settings(rootdir, invocation, **read)
    if settings.verify is None:
        return settings
    if settings.mode != "live":
        raise pytest.UsageError(
            f"--judge-verify {settings.verify} asks judges, and --judge-mode is {settings.mode}; "
            "expected --judge-mode live beside it"
        )
    return settings._replace(mode="replay")
