"""What the built-in suites ask is what it was: recordings and baselines are found by it.

Of each suite and preset, the digest of the suite, the calls of a whole run, and a digest of their
trials and messages in order: computed once with version 0.1, before suites had kinds as values.
"""

from __future__ import annotations

import hashlib
import json

import pytest

from pytest_judgesense.judges.calls import first_calls
from pytest_judgesense.judges.prompts import judge_for_suite, suite_for_judge
from pytest_judgesense.judges.spec import judge_from_name
from pytest_judgesense.suites.planning import plan_trials

from .known import builtin_suites, load_suite, presets_of

JUDGE = judge_from_name("openai:gpt")
ASKED = {
    "coherence": ("8c95fb427ce960f7", 200, "ccdb445daa39eac2"),
    "coherence@published": ("633a2fd551932896", 125, "561d573b3610134f"),
    "coherence@all-pairs": ("df2ec46e3972af88", 200, "ccdb445daa39eac2"),
    "criterion": ("bdeb9947173a93ca", 960, "f9601492957fe08a"),
    "criterion@published": ("177acae9629524b5", 480, "e9123bd544250835"),
    "debate": ("b4c66f05edfc64d9", 450, "769b9a73309e5f26"),
    "factuality": ("1402d463dc718d05", 200, "d783fd0b647902d8"),
    "factuality@published": ("8cc83c2dc9e27146", 125, "555886d64e4d8000"),
    "factuality@all-pairs": ("29c0f934e66957c9", 200, "d783fd0b647902d8"),
    "factuality@inverted": ("0831bb81ca60e4cf", 240, "c9d360c3248cbff4"),
    "ladder": ("abdaa03ea54d8926", 1040, "c311cae71ae19691"),
    "ladder@published": ("f8ac57be5abad0ab", 520, "2c25f71da41c54d4"),
    "ladder-fine": ("8b41a7eb57929b20", 120, "30357c7f2c548e6a"),
    "ladder-fine@pooled": ("ef384922f9c000ce", 720, "b9082742ff91ed73"),
    "preference": ("83d97d67473ce586", 400, "1cefb332c05fde37"),
    "preference@published": ("d14c7449a480076a", 125, "9da18544e205bb76"),
    "preference@all-pairs": ("fd5b044278d99b91", 400, "1cefb332c05fde37"),
    "relevance": ("9ed07727f6abb54e", 400, "a3851a940811c210"),
    "relevance@published": ("d1dc15df138beada", 125, "681bca49e955ebb4"),
    "relevance@all-pairs": ("a3111f781780d06c", 400, "a3851a940811c210"),
    "temperature": ("81129390c4cd518f", 864, "0aee5c53425166a5"),
    "temperature@full": ("28198c762adf3269", 31680, "c24f58bfc0954953"),
    "vacuum": ("c5f18e8940fe9947", 120, "13c6632ba70c84aa"),
}


NAMES = [
    name if preset is None else f"{name}@{preset}"
    for name, path in builtin_suites().items()
    for preset in (None, *presets_of(path))
]


@pytest.mark.parametrize("name", NAMES)
def test_what_is_asked_stays_the_same_to_the_byte(name: str) -> None:
    base, _, preset = name.partition("@")
    suite = suite_for_judge(load_suite(builtin_suites()[base], preset or None), JUDGE)
    calls = first_calls(suite, judge_for_suite(JUDGE, suite))
    count, asked = 0, hashlib.sha256()
    for trial in plan_trials(suite):
        for call in calls(trial):
            count += 1
            said = [trial.id, trial.cluster, trial.condition, trial.label, call.messages]
            asked.update(json.dumps([*said, call.replicate], sort_keys=True).encode())
    assert (suite.digest, count, asked.hexdigest()[:16]) == ASKED[name]
