"""Conversations as texts: a judge was shown all of one, and a field of an item is a text."""

from __future__ import annotations

from typing import Any

from pytest_judgesense.files.foreign_results import json_or_none, messages_of


def conversation_text(value: Any) -> str | None:
    """Messages, each with who speaks and what they say; a text as it is; ``None`` for others."""
    messages = messages_of(json_or_none(value) if isinstance(value, str) else value)
    if messages is None:
        return value if isinstance(value, str) else None
    return "\n\n".join(f"{message['role']}: {message['content']}" for message in messages)


def last_content(value: Any) -> str | None:
    """What the last of several messages says; a text as it is; ``None`` for others."""
    messages = messages_of(json_or_none(value) if isinstance(value, str) else value)
    if messages is None:
        return value if isinstance(value, str) else None
    return messages[-1]["content"]
