"""A judge on 127.0.0.1 beside the embedded one, in the forms that the papers' prompts ask for."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pandas as pd
import pytest
from statsmodels.stats.proportion import proportion_confint

from pytest_judgesense import paper
from pytest_judgesense.questions.paper.answer import PaperAnswer
from tests.judges.endpoint import endpoint, says

JUDGES: Final = ("embedded:noisy", "loopback")
EXACT: Final[dict[str, Any]] = {"rel": 0, "abs": 1e-9}
CATEGORIES: Final = ("argument_quality", "evidence", "clash", "weighing")
SIDES: Final = ("PRO", "CON")


class Answers:
    """Answers drawn by the digest of what is asked; a repeated request gets another draw."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()

    def __call__(self, body: dict[str, Any]) -> str:
        text = "\n".join(str(message["content"]) for message in body["messages"])
        request = json.dumps([text, body.get("seed"), body.get("temperature")])
        self.asked[request] += 1
        call = f"{request}{self.asked[request]}"
        temperature = float(body.get("temperature") or 0)
        # The same text mostly gets the same answer, a hotter call less often.
        drawn = share(call if share("noise", call) < 0.1 + 0.15 * temperature else text, "answer")
        if share("lost", call) < 0.04 + 0.02 * temperature:
            return "I cannot say."
        return in_form(text, drawn, call, temperature)


def share(*parts: str) -> float:
    """A number from 0 to 1, the same for the same texts."""
    digest = hashlib.sha256("|".join(parts).encode()).digest()
    return int.from_bytes(digest[:8], "big") / 2**64


def in_form(text: str, drawn: float, call: str, temperature: float) -> str:
    """What was drawn, in the form that a prompt asks for, or sometimes with words around it."""
    if CATEGORIES[0] in text:
        scores = {
            name: {side: round(2 + 7 * share(name, side, call)) for side in SIDES}
            for name in CATEGORIES
        }
        judged = {"winner": "PRO" if drawn < 0.6 else "CON", "scores": scores}
        return json.dumps({**judged, "confidence": round(drawn, 2), "short_reason": "so"})
    if "judge_result" in text:
        verdict: Any = "ABC"[int(3 * drawn)]
        if "a whole number from 1" in text:
            verdict = 1 + int(10 * drawn)
        reason = {"judge_reason": "so it is"} if "judge_reason" in text else {}
        reply = json.dumps({**reason, "judge_result": verdict})
        return f"Here: {reply}" if share("form", call) < 0.03 * (1 + temperature) else reply
    if "verdict" in text:
        return json.dumps({"verdict": ("A", "B", "tie")[int(3 * drawn)]})
    if "YES" in text:
        return "YES" if drawn < 0.5 else "NO"
    if "1 to 5" in text:
        return str(1 + int(5 * drawn))
    return "AB"[int(2 * drawn)]


@contextmanager
def second_judge(folder: Path) -> Iterator[Path]:
    """A project in a folder that declares the judge, which answers as long as it is asked there."""
    with endpoint(says(Answers())) as served, pytest.MonkeyPatch.context() as here:
        (folder / "pyproject.toml").write_text(
            '[tool.judgesense.judges.loopback]\nprovider = "openai"\nmodel = "m"\n'
            f'base_url = "{served.url}"\n',
            encoding="utf-8",
        )
        here.chdir(folder)
        here.setenv("OPENAI_API_KEY", "none")
        yield folder


def asked(name: str, *, concurrency: int = 1) -> tuple[PaperAnswer, pd.DataFrame]:
    """The tables of both judges, and their log as pandas reads it."""
    answer = paper(name, JUDGES, quick=True, mode="record", concurrency=concurrency)
    ((_, text),) = answer.files(Path("x.jsonl"))
    frame = pd.DataFrame(map(json.loads, text().splitlines()))
    conditions = pd.json_normalize(frame["condition"].tolist()).add_prefix("c_")
    frame = pd.concat([frame, conditions], axis=1)
    for column in ("verdict", "chosen", "c_arm"):
        frame[column] = frame.get(column, None)
    return answer, frame


def wilson(count: int, n: int) -> Any:
    """Wilson's interval, as an expected value."""
    return pytest.approx(proportion_confint(count, n, method="wilson"), **EXACT)
