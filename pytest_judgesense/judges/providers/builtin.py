"""The built-in providers, as values that a plugin could give."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Final

from pytest_judgesense.judges.providers import formats
from pytest_judgesense.judges.spec import JudgeSpec, Provider, refuse_jury

OPENAI: Final = Provider(
    "openai",
    formats.build_completions,
    formats.parse_completions,
    default_base_url="https://api.openai.com/v1",
    default_key_env="OPENAI_API_KEY",
    chat_completions=True,
)
ANTHROPIC: Final = Provider(
    "anthropic",
    formats.build_messages,
    formats.parse_messages,
    default_base_url="https://api.anthropic.com",
    default_key_env="ANTHROPIC_API_KEY",
)
# The port of the embedded judge changes from run to run; recordings use this address.
EMBEDDED: Final = replace(
    OPENAI, name="embedded", default_base_url="http://127.0.0.1/v1", default_key_env=""
)
_ALL: Final = (
    OPENAI,
    ANTHROPIC,
    EMBEDDED,
    # A model served on this machine, named or by path; its port changes as well.
    replace(EMBEDDED, name="local", build=formats.build_for_local),
    # Known endpoints with OpenAI's format.
    replace(
        OPENAI,
        name="azure",
        build=formats.build_for_azure,
        default_base_url="https://name.openai.azure.com/openai/v1",  # a judge says which name
        default_key_env="AZURE_OPENAI_API_KEY",
        hosts=r"[a-z0-9-]+\.openai\.azure\.com",
    ),
    replace(
        OPENAI,
        name="bedrock",
        default_base_url="https://bedrock-runtime.us-east-1.amazonaws.com/openai/v1",
        default_key_env="AWS_BEARER_TOKEN_BEDROCK",
        hosts=r"bedrock-runtime\.[a-z0-9-]+\.amazonaws\.com",
    ),
    replace(
        OPENAI,
        name="openrouter",
        default_base_url="https://openrouter.ai/api/v1",
        default_key_env="OPENROUTER_API_KEY",
    ),
    replace(EMBEDDED, name="ollama", default_base_url="http://127.0.0.1:11434/v1"),
    replace(EMBEDDED, name="vllm", default_base_url="http://127.0.0.1:8000/v1"),
    replace(
        EMBEDDED,
        name="llamacpp",
        build=formats.build_for_llamacpp,
        default_base_url="http://127.0.0.1:8080/v1",
    ),
)
BUILT_IN: Final[Mapping[str, Provider]] = MappingProxyType(
    {provider.name: provider for provider in _ALL}
)


def provider_of(spec: JudgeSpec) -> Provider:
    """The provider that builds a judge's requests; ``KeyError`` for a callable.

    Raises:
        UsageError: it is a jury, which sends none.
    """
    refuse_jury(spec, "what it is asked cannot be written")
    return spec.api or BUILT_IN[spec.provider]
