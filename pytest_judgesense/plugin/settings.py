"""The options, each with its ini twin, read once into frozen `Settings`. Light on purpose."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

import pytest

# The value placeholder of each option; one followed by dots may be repeated.
_HELP: Final = {
    "judge-mode replay|record|live": "replay: recorded judgments, offline (the default); record: "
    "ask what is not recorded yet; live: ask everything afresh, and leave recordings alone",
    "judge-name NAME ...": "measure this judge: one that pyproject.toml declares, or "
    "provider:model such as openai:gpt-4o-mini or embedded:clean; may be repeated (default: all "
    "declared ones)",
    "judge-suite NAME ...": "run only this suite (NAME or NAME@PRESET); without a path, the "
    "built-in suite of that name; may be repeated",
    "judge-cassettes DIR": "folder of the recordings (default: cassettes)",
    "judge-datasheet PATH ...": "write the datasheet in the form that the suffix chooses: .json, "
    ".html (a page with figures and evidence), .md (Markdown), .csv or .tex (tables; LaTeX with "
    "booktabs), or .jsonl (the log of all "
    "judgments); may be repeated",
    "judge-policy estimate|confident|refuted": "what must clear the bar of a check: the estimate "
    "(the default); with confident, the one-sided 95%% bound of its clustered interval; with "
    "refuted, a check fails only if a bound shows that the judge misses the bar (--judge-alpha)",
    "judge-alpha A": "under --judge-policy refuted: the maximum chance that a session fails "
    "although its judges meet all bars (Holm over all declared bars; default: 0.05)",
    "judge-max-missing SHARE": "share of missing replies beyond which the worst case must clear "
    "the bar too (default: 0.05)",
    "judge-early-stop": "ask whole clusters in an order drawn by the seed, and stop a suite when "
    "every check declared on it is decided (see docs/early-stopping.md)",
    "judge-seed N": "seed of every random draw of the estimators (default: 0)",
    "judge-concurrency N": "maximum number of concurrent calls (default: 8)",
    "judge-max-calls N": "stop before the session makes more than N calls, including retries",
    "judge-max-cost USD": "stop before the session may cost more than this, by the judges' prices",
    "judge-max-unparsed N": "stop asking a suite if none of its first N replies states a verdict, "
    "and show three of them (default: 20; 0: never)",
    "judge-deadline SECONDS": "start no calls later than this many seconds after the start of "
    "the session; calls in progress finish, within their timeout_s",
    "judge-baseline PATH": "compare no_regression checks with this file",
    "judge-save-baseline PATH": "write the judgments to this file, for --judge-baseline of later "
    "sessions",
    "judge-max-age DAYS": "fail checks on recordings that are older than this many days",
    "judge-verify N": "with --judge-mode live: replay, ask N recorded trials of each judge and "
    "suite again, and report what changed",
    "judge-shard I/N": "record the I-th of N shards of each suite and decide no check: "
    "`judgesense merge` joins the recordings of all N",
    "judge-save-live DIR": "record the calls of live mode in this folder",
}
_NUMBERS: Final = {"N": "int"} | dict.fromkeys(("SHARE", "USD", "DAYS", "SECONDS", "A"), "float")
_ACTIONS: Final = {"args": "append", "bool": "store_true"}
_AT_LEAST_ONE: Final = ("judge-concurrency", "judge-verify")
_FIELDS: Final = {"name": "judges", "suite": "suites", "datasheet": "datasheets"}


# Named tuples: a dataclass takes a millisecond to make, in every run of an environment.
class Option(NamedTuple):
    """An option and its twin ``ini`` of a ``kind``: string, int, float, bool, or args (several).

    Attributes:
        field: its name in `Settings`.
    """

    name: str
    ini: str
    field: str
    kind: str
    help: str
    metavar: str | None
    choices: tuple[str, ...] | None

    @property
    def dest(self) -> str:
        return f"judgesense_{self.field}"


def _option(usage: str, meaning: str) -> Option:
    name, *form_of = usage.split()
    value, dots = (form_of or [""])[0], form_of[1:]
    ini = name.replace("-", "_")
    field = ini.removeprefix("judge_")
    kind = "args" if dots else _NUMBERS.get(value, "string" if value else "bool")
    form = (None, tuple(value.split("|"))) if "|" in value else (value, None)
    return Option(name, ini, _FIELDS.get(field, field), kind, meaning, *form)


OPTIONS: Final = tuple(_option(*one) for one in _HELP.items())


class Settings(NamedTuple):
    """The options of a session, resolved; what each means is said in `_HELP`.

    Attributes:
        rootdir: where relative recordings are looked up.
        invocation: where relative outputs are written.
        max_cost: here as in the other limits ``None`` sets none.
        max_missing: ``None`` for the default of the checks, as of ``alpha``.
        verify: the mode is then ``replay``: these calls change no check.
        shard: which part of each suite is recorded, of how many; ``None``: all of it is, and
            measured.
    """

    rootdir: Path
    invocation: Path
    cassettes: Path
    mode: Literal["replay", "record", "live"] = "replay"
    judges: tuple[str, ...] = ()
    suites: tuple[str, ...] = ()
    datasheets: tuple[Path, ...] = ()
    policy: Literal["estimate", "confident", "refuted"] = "estimate"
    seed: int = 0
    concurrency: int = 8
    max_calls: int | None = None
    max_cost: float | None = None
    deadline: float | None = None
    max_missing: float | None = None
    alpha: float | None = None
    max_age: float | None = None
    baseline: Path | None = None
    save_baseline: Path | None = None
    save_live: Path | None = None
    verify: int | None = None
    max_unparsed: int = 20
    early_stop: bool = False
    shard: tuple[int, int] | None = None

    @property
    def asks(self) -> bool:
        """Whether judges are asked: not all is replayed."""
        return self.mode != "replay" or self.verify is not None


class Shared(NamedTuple):
    """The state that the processes of a session share; xdist workers get it from the controller.

    Attributes:
        started: when the session began: UTC, ISO 8601.
        live_folder: where a live session records while it runs.
        session_folder: of the trials called and the spending; a single process keeps them in
            memory.
        each: whether every worker runs every test.
        deadline: Unix time after which no call is made; ``None``: no limit.
        columns: of the terminal; 0 where this process has it.
    """

    started: str
    live_folder: str | None = None
    session_folder: str | None = None
    each: bool = False
    deadline: float | None = None
    columns: int = 0


def add_options(parser: pytest.Parser) -> None:
    """Register options and their ini twins."""
    example = "pytest --judge-suite coherence --judge-name embedded:clean"
    group = parser.getgroup("judgesense", f"LLM judges: measure, gate, report; try {example}")
    for option in OPTIONS:
        valued = {"metavar": option.metavar, "choices": option.choices}
        group.addoption(
            f"--{option.name}",
            dest=option.dest,
            action=_ACTIONS.get(option.kind, "store"),
            default=None,
            help=option.help,
            **({} if option.kind == "bool" else valued),
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
    """The value from the command line, or else from the ini file; ``None`` if not set."""
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
    """The settings of a session; `pytest.UsageError` for a wrong value."""
    given = {option.name: _given(config, option) for option in OPTIONS}
    settings = resolve(given, config.rootpath, config.invocation_params.dir)
    # Named by the ini file, it is missed by the checks that need it, and by no other test.
    baseline = settings.baseline if config.option.judgesense_baseline is not None else None
    if baseline and not baseline.is_file() and baseline != settings.save_baseline:
        raise pytest.UsageError(
            f"--judge-baseline {baseline}: there is no such file; write it with "
            "--judge-save-baseline"
        )
    if settings.asks:
        _refuse_environment_of_workers(config)
    return settings


def _refuse_environment_of_workers(config: pytest.Config) -> None:
    """`pytest.UsageError` if the project sets variables of xdist workers, as a user may."""
    own = [*map(str, config.invocation_params.args), os.environ.get("PYTEST_ADDOPTS", "")]
    for spec in getattr(config.option, "tx", None) or ():
        if "env:" in spec and not any(spec in text for text in own):
            raise pytest.UsageError(
                f"--tx {spec} sets environment variables of the workers, and is not typed; "
                "expected none of them from the project: they decide where keys and prompts go. "
                "If you trust it, give --tx on the command line"
            )


def _read(option: Option, value: Any) -> Any:
    """The value of `Settings`; `pytest.UsageError` if it is wrong."""
    if option.kind == "args":
        return tuple(value)
    if option.kind == "bool":
        return bool(value)
    if option.choices and value not in option.choices:
        expected = ", ".join(option.choices)
        raise pytest.UsageError(f"{option.ini} = {value!r} is unknown; expected one of {expected}")
    if option.metavar == "I/N":
        found = re.fullmatch(r"([0-9]{1,6})/([0-9]{1,6})", str(value))
        if found and 1 <= int(found[1]) <= int(found[2]):
            return int(found[1]), int(found[2])
        what = "I/N, the I-th of N shards, such as 1/4 to 4/4"
    elif option.kind == "string":
        return str(value)
    else:
        whole, least = option.kind == "int", int(option.name in _AT_LEAST_ONE)
        try:
            number = int(value) if whole else float(value)
        except ValueError:
            number = math.nan
        fits, what = number >= least, f"a {'whole ' * whole}number, at least {least}"
        if option.metavar == "SHARE":
            fits, what = 0 <= number <= 1, "a share from 0 to 1"
        if option.metavar == "A":
            fits, what = 0 < number < 0.5, "a number above 0 and below 0.5"
        if fits and number < math.inf:
            return number
    raise pytest.UsageError(f"--{option.name} {value} is wrong; expected {what}")


def resolve(given: Mapping[str, Any], rootdir: Path, invocation: Path) -> Settings:
    """The settings of values ``given`` by name of the option; ``None`` for the default."""
    read: dict[str, Any] = {
        option.field: _read(option, value)
        for option in OPTIONS
        if (value := given.get(option.name)) not in (None, "")
    }
    for path in read.get("datasheets", ()):
        if Path(path).suffix not in (".json", ".jsonl", ".html", ".md", ".csv", ".tex"):
            raise pytest.UsageError(
                f"--judge-datasheet {Path(path).name}: the suffix chooses the form; expected "
                ".json, .html for a page, .md, .csv or .tex for tables, or .jsonl for the judgment "
                "log"
            )
    read["datasheets"] = tuple(invocation / path for path in read.get("datasheets", ()))
    read["cassettes"] = rootdir / read.get("cassettes", "cassettes")
    for name in ("baseline", "save_baseline", "save_live"):
        if name in read:
            read[name] = invocation / read[name]
    settings = Settings(rootdir, invocation, **read)
    if settings.verify is not None and settings.mode != "live":
        raise pytest.UsageError(
            f"--judge-verify {settings.verify} asks judges, and --judge-mode is {settings.mode}; "
            "expected --judge-mode live beside it"
        )
    _refuse_measuring_of_a_shard(settings)
    if settings.early_stop and settings.policy == "refuted":
        raise pytest.UsageError(
            "--judge-early-stop has no meaning under --judge-policy refuted, whose levels hang on "
            "all checks of the session; expected estimate or confident"
        )
    return settings if settings.verify is None else settings._replace(mode="replay")


def _refuse_measuring_of_a_shard(settings: Settings) -> None:
    """`pytest.UsageError` where a shard is to be anything but recorded."""
    if settings.shard is None:
        return
    shard = "--judge-shard {}/{}".format(*settings.shard)
    kept = settings.mode == "live" and settings.save_live and settings.verify is None
    if settings.mode != "record" and not kept:
        raise pytest.UsageError(
            f"{shard} records a part of each suite, and --judge-mode is {settings.mode}"
            f"{'' if settings.mode == 'replay' else ' and keeps nothing of it'}; expected "
            "--judge-mode record, or live with --judge-save-live. To measure, join the recordings "
            "of all shards (`judgesense merge SHARD... -o cassettes`) and replay them without "
            "--judge-shard"
        )
    files = {"datasheet": settings.datasheets, "save-baseline": settings.save_baseline}
    for name, given in files.items():
        if given:
            raise pytest.UsageError(
                f"{shard} measures nothing, so there is nothing for --judge-{name}; leave it to "
                "the session that replays the joined recordings of all shards"
            )
