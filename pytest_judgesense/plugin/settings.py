"""The options of a session, read once into frozen `Settings`."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

import pytest

from pytest_judgesense.plugin.messages import usage_error
from pytest_judgesense.plugin.options import OPTIONS, Option, value_of

if TYPE_CHECKING:
    from pytest_judgesense.cassettes.opening import Mode

_AT_LEAST_ONE: Final = ("judge-concurrency", "judge-verify")


class Settings(NamedTuple):
    """The options of a session, resolved; what each means is said in `options`.

    Attributes:
        rootdir: where relative recordings are looked up.
        invocation: where relative outputs are written.
        max_cost: here as in the other limits ``None`` sets none.
        max_missing: ``None`` for the default of the checks, as of ``alpha``.
        revision: of the repository, with whose recordings regression checks compare.
        verify: the mode is then ``replay``: these calls change no check.
        shard: which part of each suite is recorded, of how many; ``None``: all of it is, and
            measured.
    """

    rootdir: Path
    invocation: Path
    cassettes: Path
    mode: Mode = "replay"
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
    revision: str | None = None
    save_baseline: Path | None = None
    save_live: Path | None = None
    history: Path | None = None
    verify: int | None = None
    max_unparsed: int = 20
    early_stop: bool = False
    shard: tuple[int, int] | None = None

    @property
    def tells_history(self) -> bool:
        """Whether this session is one of the history: its judges are asked afresh."""
        return self.history is not None and self.mode == "live"

    @property
    def asks(self) -> bool:
        """Whether judges are asked: not all is replayed."""
        return self.mode != "replay" or self.verify is not None


class SharedState(NamedTuple):
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

    @property
    def day(self) -> date:
        """The day on which the session began, in UTC."""
        return date.fromisoformat(self.started[:10])


def settings_of(config: pytest.Config) -> Settings:
    """The settings of a session; `pytest.UsageError` for a wrong value."""
    values = {option.name: value_of(config, option) for option in OPTIONS}
    settings = resolve(values, config.rootpath, config.invocation_params.dir)
    # Named by the ini file, it is missed by the checks that need it, and by no other test.
    baseline = settings.baseline if config.option.judgesense_baseline is not None else None
    if baseline and not baseline.is_file() and baseline != settings.save_baseline:
        raise usage_error(
            f"--judge-baseline {baseline}: there is no such file; write it with "
            "--judge-save-baseline"
        )
    if settings.asks:
        _refuse_environment_of_workers(config)
    return settings


def _refuse_environment_of_workers(config: pytest.Config) -> None:
    """`pytest.UsageError` if the project sets variables of xdist workers, as a user may."""
    typed = [*map(str, config.invocation_params.args), os.environ.get("PYTEST_ADDOPTS", "")]
    for spec in getattr(config.option, "tx", None) or ():
        if "env:" in spec and not any(spec in text for text in typed):
            raise usage_error(
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
        raise usage_error(f"{option.ini} = {value!r} is unknown; expected one of {expected}")
    if option.metavar == "I/N":
        match = re.fullmatch(r"([0-9]{1,6})/([0-9]{1,6})", str(value))
        if match and 1 <= int(match[1]) <= int(match[2]):
            return int(match[1]), int(match[2])
        wanted = "I/N, the I-th of N shards, such as 1/4 to 4/4"
    elif option.kind == "string":
        return str(value)
    else:
        whole, least = option.kind == "int", int(option.name in _AT_LEAST_ONE)
        try:
            number = int(value) if whole else float(value)
        except ValueError:
            number = math.nan
        fits, wanted = number >= least, f"a {'whole ' * whole}number, at least {least}"
        if option.metavar == "SHARE":
            fits, wanted = 0 <= number <= 1, "a share from 0 to 1"
        if option.metavar == "A":
            fits, wanted = 0 < number < 0.5, "a number above 0 and below 0.5"
        if fits and number < math.inf:
            return number
    raise usage_error(f"--{option.name} {value} is wrong; expected {wanted}")


def resolve(values: Mapping[str, Any], rootdir: Path, invocation: Path) -> Settings:
    """The settings of ``values`` by name of the option; ``None`` for the default."""
    read: dict[str, Any] = {
        option.field: _read(option, value)
        for option in OPTIONS
        if (value := values.get(option.name)) not in (None, "")
    }
    for path in read.get("datasheets", ()):
        if Path(path).suffix not in (".json", ".jsonl", ".html", ".md", ".csv", ".tex"):
            raise usage_error(
                f"--judge-datasheet {Path(path).name}: the suffix chooses the form; expected "
                ".json, .html for a page, .md, .csv or .tex for tables, or .jsonl for the judgment "
                "log"
            )
    read["datasheets"] = tuple(invocation / path for path in read.get("datasheets", ()))
    read["cassettes"] = rootdir / read.get("cassettes", "cassettes")
    if "baseline" in read:
        _read_revision(read)
    for name in ("baseline", "save_baseline", "save_live", "history"):
        if name in read:
            read[name] = invocation / read[name]
    settings = Settings(rootdir, invocation, **read)
    if settings.verify is not None and settings.mode != "live":
        raise usage_error(
            f"--judge-verify {settings.verify} asks judges, and --judge-mode is {settings.mode}; "
            "expected --judge-mode live beside it"
        )
    _refuse_measuring_of_a_shard(settings)
    if settings.early_stop and settings.policy == "refuted":
        raise usage_error(
            "--judge-early-stop has no meaning under --judge-policy refuted, whose levels hang on "
            "all checks of the session; expected estimate or confident"
        )
    return settings if settings.verify is None else settings._replace(mode="replay")


def _read_revision(read: dict[str, Any]) -> None:
    """Put a baseline that is a revision under a name of its own."""
    from pytest_judgesense.revisions.revision import REVISION

    if not read["baseline"].startswith(REVISION):
        return
    read["revision"] = read.pop("baseline").removeprefix(REVISION)
    if not read["revision"]:
        raise usage_error(
            f"--judge-baseline {REVISION} names no revision; expected {REVISION}REF, such as "
            f"{REVISION}refs/remotes/origin/main or {REVISION}HEAD"
        )


def _refuse_measuring_of_a_shard(settings: Settings) -> None:
    """`pytest.UsageError` where a shard is to be anything but recorded."""
    if settings.shard is None:
        return
    shard = "--judge-shard {}/{}".format(*settings.shard)
    saved = settings.mode == "live" and settings.save_live and settings.verify is None
    if settings.mode != "record" and not saved:
        raise usage_error(
            f"{shard} records a part of each suite, and --judge-mode is {settings.mode}"
            f"{'' if settings.mode == 'replay' else ' and keeps nothing of it'}; expected "
            "--judge-mode record, or live with --judge-save-live. To measure, join the recordings "
            "of all shards (`judgesense recordings join SHARD... -o cassettes`) and replay them "
            "without --judge-shard"
        )
    files = {"datasheet": settings.datasheets, "save-baseline": settings.save_baseline}
    files["history"] = settings.history
    for name, path in files.items():
        if path:
            raise usage_error(
                f"{shard} measures nothing, so there is nothing for --judge-{name}; leave it to "
                "the session that replays the joined recordings of all shards"
            )
