from __future__ import annotations

import json

from pytest_judgesense.cassettes.exchange import RecordedRequest
from pytest_judgesense.cassettes.staleness import LONGEST_DIFF, readable, request_diff


def request(prompt: str, model: str = "m") -> RecordedRequest:
    body = {"model": model, "messages": [{"role": "user", "content": prompt}]}
    return RecordedRequest("POST", "https://h/v1/chat", json.dumps(body))


def test_json_is_shown_as_one_line_a_value_and_text_in_its_own_lines() -> None:
    assert readable(request("Judge this:\n\tA\\n").body) == [
        "messages[0].content:",
        "    Judge this:",
        "    \tA\\n",
        'messages[0].role: "user"',
        'model: "m"',
    ]


def test_the_diff_shows_the_changed_line_of_a_prompt() -> None:
    diff = request_diff(request("One.\nTwo.\nThree."), request("One.\n2.\nThree."), "old", "new")
    assert diff == [
        "--- old",
        "+++ new",
        "@@ -3,3 +3,3 @@",
        "     One.",
        "-    Two.",
        "+    2.",
        "     Three.",
    ]


def test_a_long_diff_is_cut_and_says_so() -> None:
    old = request("\n".join(f"old {n}" for n in range(50)))
    new = request("\n".join(f"new {n}" for n in range(50)))
    diff = request_diff(old, new, "old", "new")
    assert len(diff) == LONGEST_DIFF
    # 2 file lines, 1 hunk line, 2 lines of context, 50 removed, 50 added: 105, 19 of them shown.
    assert diff[-1] == "... and 86 lines more"


def test_what_is_no_json_is_compared_by_line() -> None:
    assert readable("a\nb") == ["a", "b"]
    assert readable(b"\xff") == [repr(b"\xff")]
