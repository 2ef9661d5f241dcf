"""What the built-in suites ask is what it was: recordings and baselines are found by it.

Of each suite and preset, the digest of the suite, the calls of a whole run, and a digest of their
trials and messages in order: computed when the suites were written anew, to be changed with them
alone.
"""

from __future__ import annotations

import hashlib
import json

import pytest

from pytest_judgesense.judges.calls import first_calls
from pytest_judgesense.judges.prompts import judge_for_suite, suite_for_judge
from pytest_judgesense.judges.resolving import judge_from_name
from pytest_judgesense.suites.planning import plan_trials

from .known import builtin_suites, load_suite, presets_of

JUDGE = judge_from_name("openai:gpt")
ASKED = {
    "coherence": ("4d476595dcc4c265", 200, "268fe6802e703748"),
    "coherence@all-pairs": ("f44d428877a8e08a", 200, "268fe6802e703748"),
    "coherence@paper": ("f99e948e68a050a5", 375, "eee63755e3203b29"),
    "coherence@paper-quick": ("4e114693dad799d3", 75, "f60dba614f1a0061"),
    "coherence@published": ("1285d7c392960398", 125, "8886ed54e61e0092"),
    "coherence@published-three-runs": ("1431dd9111551a69", 375, "d244e01a858be35b"),
    "coherence@quick": ("6434a7fd761688af", 40, "07d9060ffb2e7369"),
    "coherence@same-format": ("03827cf93ce0e5f4", 200, "3569b0802fd473ea"),
    "criterion": ("07b1edd93f8da01b", 960, "a538b8b0bdc4ddaf"),
    "criterion@paper": ("494e9c23532a2d66", 480, "4c9939667444b142"),
    "criterion@paper-quick": ("5f8005b8bcf018c5", 96, "af392d3dc2228dd6"),
    "criterion@published": ("9b5bb729183b8d04", 480, "1b90979dfe1d542d"),
    "criterion@quick": ("cf649653f5c19f70", 120, "7e8cf366d7f16d4e"),
    "debate": ("b1b760c5f1f65c97", 450, "3b731855666d8c79"),
    "debate@paper": ("b1e643b908f92499", 450, "3b731855666d8c79"),
    "debate@paper-quick": ("6841d38f6c79f358", 90, "b84aada46ee6238b"),
    "depth": ("30a85021c0bb54ba", 480, "2c78b7ff1f63ee4d"),
    "depth@quick": ("ed81649e90068485", 64, "5e27469f8e557f54"),
    "factuality": ("de0150622b516158", 200, "ab6da467fce2d845"),
    "factuality@all-pairs": ("1a672163fcc05a14", 200, "ab6da467fce2d845"),
    "factuality@inverted": ("a6b1e6da4f7fecf5", 240, "9921704e417b09eb"),
    "factuality@leniency": ("c5139932616285e2", 120, "c26146367b88eaa5"),
    "factuality@paper": ("42b6f0c885afaf84", 375, "1e50de445fe764a4"),
    "factuality@paper-quick": ("b523061884dccd39", 75, "c4633bf729e3fbf0"),
    "factuality@published": ("cbff6fad4aca2e7b", 125, "ba986c1977544587"),
    "factuality@published-three-runs": ("c5513b2fcfdfd219", 375, "d87f5a9695cf7f09"),
    "factuality@quick": ("d263ac57f47c5143", 40, "3ea7b060b40c6b6c"),
    "factuality@same-format": ("6423f60321d80b7e", 200, "e8b294bbc0cf839a"),
    "ladder": ("4f8bc06870ddcc2a", 1040, "a339c1eec0468f9c"),
    "ladder@paper": ("d7b20a36a5277ddb", 520, "8a5e3c5ca2ca6924"),
    "ladder@paper-quick": ("c121736570f48d38", 104, "8cc838d406d8ae76"),
    "ladder@published": ("f8d41db8eb712219", 520, "b2d84ceef3421dd4"),
    "ladder@quick": ("63c53f934090bf06", 160, "7857cf55fc3e9bf7"),
    "ladder-fine": ("b523894b810b0171", 120, "ad47a70855436321"),
    "ladder-fine@pooled": ("b70f127132c58fec", 720, "2b555c0daaa150cc"),
    "preference": ("4c790b218bcb399f", 400, "ac5a0336fe20827e"),
    "preference@all-pairs": ("619240bfbe2ef661", 400, "ac5a0336fe20827e"),
    "preference@paper": ("4387b358a1f39e20", 375, "c0ce62a715b96adf"),
    "preference@paper-quick": ("1dcecbda89f1a5e7", 90, "e78c12be2bdd5e0a"),
    "preference@published": ("bc5358b602cebf3b", 125, "36c1a19717ce07a8"),
    "preference@published-three-runs": ("ed906795500ead5e", 375, "cc34af21e3f9e386"),
    "preference@quick": ("ccbdb5bfd4191027", 80, "540bedc03413da49"),
    "preference@same-format": ("4a0484ca057b477f", 400, "5d4268bc8135c2e8"),
    "probe": ("ba10e74dd8b7b093", 3960, "e29ea4eb50b6b6cf"),
    "probe@attacks": ("9daf7c63f86cbbbf", 1440, "d48eca0d0d492d26"),
    "probe@quick": ("b5f0c85fec1b8a40", 192, "0df197e8792a3e74"),
    "probe@remedied": ("a36685476b2ef073", 1440, "ed99618d8c1279ba"),
    "probe@short": ("1a7e6f22c51665de", 1584, "a8673bda33e8d5d6"),
    "relevance": ("fa72265cd9f2487a", 400, "41c9935dd474ff58"),
    "relevance@all-pairs": ("d7e4496ac3077fd0", 400, "41c9935dd474ff58"),
    "relevance@paper": ("64872339118895e7", 375, "997039c1a35af267"),
    "relevance@paper-quick": ("8a34d48eab86d6a1", 75, "d1190e8bc0b19786"),
    "relevance@published": ("8c378781eaac42d0", 125, "b4b480948230221e"),
    "relevance@published-three-runs": ("15e026342f3a0648", 375, "0b7d8c748c6e4bb1"),
    "relevance@quick": ("9756e8b3c6682763", 80, "643185a86e72b6c8"),
    "relevance@same-format": ("b60dbe717156fc3d", 400, "9a10d422b84e9b5d"),
    "rubric": ("7560e8c7d566c5e1", 120, "3fd1008f9dc718d9"),
    "rubric@each": ("3e5cc3fe8b6d6de4", 160, "62ed3516be38f4f1"),
    "rubric@quick": ("d944b4e97a9e265d", 24, "113c250d864a02c9"),
    "temperature": ("7143ae2ae2269570", 864, "8a74489e902f37a3"),
    "temperature@full": ("3888cff4aa1e5345", 42240, "2f2bbaab5ff65ef1"),
    "temperature@paper": ("2d08361a85df383f", 42240, "c4affb07c1f1f1be"),
    "temperature@paper-quick": ("61e5805836cce22f", 11520, "1548b8574f02cf53"),
    "vacuum": ("8bb61ba7ec39ae8d", 120, "b8725b2d6aab61b3"),
    "vacuum@both-arms": ("8cdada56f47c3f77", 240, "f5a5b88a8557f810"),
    "vacuum@paper": ("83caa7f26222c8cd", 120, "122d3ce1e40965ec"),
    "vacuum@paper-quick": ("8a8b7e4a8e25de58", 24, "f4c7d2580e54c181"),
    "vacuum@quick": ("7377aa8813537141", 40, "3d3fb943685d2648"),
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
