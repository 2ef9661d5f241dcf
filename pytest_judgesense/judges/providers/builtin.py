"""The built-in providers that are asked over a wire format."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pytest_judgesense.judges.providers.anthropic import ANTHROPIC
from pytest_judgesense.judges.providers.base import Provider
from pytest_judgesense.judges.providers.openai import OPENAI
from pytest_judgesense.judges.spec import JudgeSpec

BUILT_IN: Final[Mapping[str, Provider]] = {
    "openai": OPENAI,
    "anthropic": ANTHROPIC,
    "embedded": OPENAI,
}


def provider_of(spec: JudgeSpec) -> Provider:
    """Who builds a judge's requests and reads what comes back; ``KeyError`` for a callable."""
    return spec.plugin_provider or BUILT_IN[spec.provider]
