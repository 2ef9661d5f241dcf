"""The ini twin of each option: read as the option is, and outdone by it."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from pytest_judgesense.plugin.options import OPTIONS
from pytest_judgesense.plugin.settings import Settings, settings_of

from .project import parsed_config

# Each line of the ini file, and the same on the command line.
TWINS = {
    "judge_name = embedded:mixed mine": ("--judge-name", "embedded:mixed", "--judge-name", "mine"),
    "judge_suite = vacuum a@p": ("--judge-suite", "vacuum", "--judge-suite", "a@p"),
    "judge_cassettes = kept/tapes": ("--judge-cassettes", "kept/tapes"),
    "judge_datasheet = x.json y.jsonl": (
        *("--judge-datasheet", "x.json"),
        *("--judge-datasheet", "y.jsonl"),
    ),
    "judge_policy = confident": ("--judge-policy", "confident"),
    "judge_alpha = 0.15": ("--judge-alpha", "0.15"),
    "judge_max_missing = 0.06": ("--judge-max-missing", "0.06"),
    "judge_early_stop = true": ("--judge-early-stop",),
    "judge_seed = 7": ("--judge-seed", "7"),
    "judge_concurrency = 3": ("--judge-concurrency", "3"),
    "judge_max_calls = 7": ("--judge-max-calls", "7"),
    "judge_max_cost = 2.9": ("--judge-max-cost", "2.9"),
    "judge_max_unparsed = 3": ("--judge-max-unparsed", "3"),
    "judge_deadline = 1.5": ("--judge-deadline", "1.5"),
    "judge_baseline = b.json": ("--judge-baseline", "b.json"),
    "judge_save_baseline = b.json": ("--judge-save-baseline", "b.json"),
    "judge_history = nightly.jsonl": ("--judge-history", "nightly.jsonl"),
    "judge_max_age = 30": ("--judge-max-age", "30"),
    "judge_save_live = kept": ("--judge-save-live", "kept"),
    "judge_mode = live": ("--judge-mode", "live"),
}
# What of live mode, and of recording, has no meaning beside some of the others.
OF_MODES = (
    {
        "judge_mode = live": ("--judge-mode", "live"),
        "judge_verify = 5": ("--judge-verify", "5"),
    },
    {
        "judge_mode = record": ("--judge-mode", "record"),
        "judge_shard = 1/4": ("--judge-shard", "1/4"),
    },
)


def settings_by(pytester: pytest.Pytester, ini: str = "", words: Iterable[str] = ()) -> Settings:
    pytester.makeini(f"[pytest]\n{ini}\n")
    return settings_of(parsed_config(pytester, *words))


def test_every_option_has_a_twin_here() -> None:
    told = {line.split()[0] for twins in (TWINS, *OF_MODES) for line in twins}
    assert told == {option.ini for option in OPTIONS}


@pytest.mark.parametrize("twins", [TWINS, *OF_MODES], ids=["all", "verify", "shard"])
def test_an_ini_file_says_what_the_options_say(
    pytester: pytest.Pytester, twins: dict[str, tuple[str, ...]]
) -> None:
    words = [word for of_option in twins.values() for word in of_option]
    by_options = settings_by(pytester, words=words)
    assert settings_by(pytester, "\n".join(twins)) == by_options
    by_default, names = settings_by(pytester), {line.split()[0] for line in twins}
    told = [option.field for option in OPTIONS if option.ini in names]
    # Trials that are asked again change no check: the mode is then that of a replay.
    same = {name for name in told if getattr(by_options, name) == getattr(by_default, name)}
    assert same == ({"mode"} if "judge_verify = 5" in twins else set())


def test_the_option_wins_over_its_twin(pytester: pytest.Pytester) -> None:
    words = ("--judge-mode", "replay", "--judge-seed", "2", "--judge-name", "typed")
    ini = "judge_mode = live\njudge_seed = 7\njudge_name = written"
    assert settings_by(pytester, ini, words) == settings_by(pytester, words=words)


def test_a_baseline_must_be_there_where_it_is_typed_alone(pytester: pytest.Pytester) -> None:
    with pytest.raises(pytest.UsageError, match=r"c\.json: there is no such file; write it with"):
        settings_by(pytester, words=("--judge-baseline", "c.json"))
    # An ini file is that of all sessions: the checks that need it say that it is missing.
    baseline = settings_by(pytester, "judge_baseline = c.json").baseline
    assert baseline == pytester.path / "c.json"
    both = ("--judge-baseline", "c.json", "--judge-save-baseline", "c.json")
    assert settings_by(pytester, words=both).save_baseline == pytester.path / "c.json"
