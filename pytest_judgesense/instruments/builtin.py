"""What the project's own instruments add to the report: a line each."""

from __future__ import annotations

from typing import Final

from pytest_judgesense.instruments.debate import sections as debate
from pytest_judgesense.instruments.ladder import profile as ladder_words
from pytest_judgesense.instruments.ladder import sections as ladder
from pytest_judgesense.instruments.paraphrase import profile as paraphrase_words
from pytest_judgesense.instruments.paraphrase import sections as paraphrase
from pytest_judgesense.instruments.temperature import sections as temperature
from pytest_judgesense.instruments.vacuum import profile as vacuum_words
from pytest_judgesense.instruments.vacuum import sections as vacuum
from pytest_judgesense.profile import Rule, any_above

SECTIONS: Final = (
    *vacuum.SECTIONS,
    *ladder.SECTIONS,
    *paraphrase.SECTIONS,
    *temperature.SECTIONS,
)
# In the order in which datasheets hold their tables.
COMPARISONS: Final = (
    *debate.COMPARISONS,
    *paraphrase.COMPARISONS,
)
# The words of a profile, in their order.
PROFILE: Final = (
    paraphrase_words.DEGENERATE,
    *vacuum_words.RULES,
    *ladder_words.RULES,
    *paraphrase_words.RULES,
    Rule("one-sided", any_above("side_bias", 0.1)),
    Rule("unreliable in form", any_above("unparsed_rate", 0.02)),
)
