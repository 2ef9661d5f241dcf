"""The options, each with its ini twin.

Light on purpose: every run of pytest in the environment imports this module.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

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
    "judge-max-missing SHARE": "share of replies that may be missing where no worst case of them "
    "is known; elsewhere the worst case must clear the bar (default: 0.05)",
    "judge-early-stop": "ask whole clusters in an order drawn by the seed, and stop a suite when "
    "every check declared on it is decided (see judgesense explain early-stopping)",
    "judge-seed N": "seed of every random draw of the estimators (default: 0)",
    "judge-concurrency N": "maximum number of concurrent calls (default: 8)",
    "judge-max-calls N": "stop before the session makes more than N calls, including retries",
    "judge-max-cost USD": "stop before the session may cost more than this, by the judges' prices",
    "judge-max-unparsed N": "stop asking a suite if none of its first N replies states a verdict, "
    "and show three of them (default: 20; 0: never)",
    "judge-deadline SECONDS": "start no calls later than this many seconds after the start of "
    "the session; calls in progress finish, within their timeout_s",
    "judge-baseline PATH": "compare no_regression checks with this file; or, as git:REF, with the "
    "recordings as they stood at that revision of the repository",
    "judge-save-baseline PATH": "write the judgments to this file, for --judge-baseline of later "
    "sessions; one does not show how sessions differ, so save several",
    "judge-history PATH": "with --judge-mode live: append this session to the file, and hold "
    "no_drift checks against all sessions in it (see judgesense report --history)",
    "judge-max-age DAYS": "fail checks on recordings that are older than this many days",
    "judge-verify N": "with --judge-mode live: replay, ask N recorded trials of each judge and "
    "suite again, and report what changed",
    "judge-shard I/N": "record the I-th of N shards of each suite and decide no check: "
    "`judgesense recordings join` joins the recordings of all N",
    "judge-save-live DIR": "record the calls of live mode in this folder",
}
_NUMBERS: Final = {"N": "int"} | dict.fromkeys(("SHARE", "USD", "DAYS", "SECONDS", "A"), "float")
_ACTIONS: Final = {"args": "append", "bool": "store_true"}
_FIELDS: Final = {"name": "judges", "suite": "suites", "datasheet": "datasheets"}


# A named tuple: a dataclass takes a millisecond to make.
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


OPTIONS: Final = tuple(_option(*entry) for entry in _HELP.items())


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
        return any(value_of(config, option) is not None for option in OPTIONS)
    except pytest.UsageError:
        return True  # and wrong: `settings_of` says how


def value_of(config: pytest.Config, option: Option) -> Any:
    """The value from the command line, or else from the ini file; ``None`` if not set."""
    typed = getattr(config.option, option.dest)
    if typed is not None:
        return typed
    try:
        written = config.getini(option.ini)
    except (TypeError, ValueError, pytest.UsageError) as error:
        problem = f"{option.ini} (ini twin of --{option.name}) is wrong: {error}"
        from pytest_judgesense.plugin.messages import usage_error

        raise usage_error(problem) from error
    return None if written in (None, "", []) else written
