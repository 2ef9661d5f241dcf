"""What the versions of a text are called that a probe compares."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

Version: TypeAlias = Literal["edited", "placebo", "control"]
EDITED: Final = "edited"
PLACEBO: Final = "placebo"
CONTROL: Final = "control"
VERSIONS: Final[tuple[Version, ...]] = (EDITED, PLACEBO, CONTROL)
# The probe that edits no text, and what items have in its place that belong to none.
NAMES: Final = "names"
NO_PROBE: Final = "none"
# Where a text is signed by a family of models.
FAMILY: Final = "{family}"
