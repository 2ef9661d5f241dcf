"""Files in the shape of JudgeSense's benchmark and of pairwise results, made up here."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

WORDINGS = {
    "factuality": (
        "Is this right? Answer YES or NO only.\n\nResponse: {r}",
        "Check it. Reply YES (correct) or NO (incorrect).\n\nResponse: {r}",
        "Are the facts accurate? YES or NO.\n\nResponse: {r}",
        "Does it contain errors? Answer NO (accurate) or YES (has errors).\n\nResponse: {r}",
        "Assess the facts. One word, YES or NO.\n\nResponse: {r}",
    ),
    "coherence": (
        "Rate coherence 1-5. One number only.\n\nText: {r}",
        "How coherent? Score: 1=poor 5=excellent.\n\nText: {r}",
        "Coherence: 1 (incoherent) to 5 (very coherent).\n\nText: {r}",
        "Assign a rating 1-5 for coherence.\n\nText: {r}",
        "Coherence score 1 to 5, number only.\n\nText: {r}",
    ),
    "preference": (
        "Better reply to '{q}'? A or B only.\nA: {a}\nB: {b}",
        "Which is best for '{q}'? Reply A or B.\nA: {a}\nB: {b}",
        "For '{q}', superior reply? A or B.\nA: {a}\nB: {b}",
        "Preferred reply to '{q}'? One letter: A or B.\nA: {a}\nB: {b}",
        "'{q}': best reply? A or B only.\nA: {a}\nB: {b}",
    ),
}


def pair_rows(task: str, *, responses: int = 5, swapped: bool = False) -> list[dict[str, Any]]:
    """125 rows over so many responses; five wordings in a ring of five pairs."""
    each, rows = 125 // responses, []
    for i in range(125):
        k, exchanged = i // each, swapped and i % 2 == 1
        options = [f"Good reply {k}.", f"Bad reply {k}."][:: -1 if exchanged else 1]
        texts = {"r": f"Text {k}. It goes on.", "q": f"Ask {k}", "a": options[0], "b": options[1]}
        prompts = [WORDINGS[task][(2 * i + n) % 5].format(**texts) for n in (0, 1)]
        row = {
            "pair_id": f"{task[:4]}_{i + 1:03d}",
            "task_type": task,
            "source_benchmark": "Own",
            "prompt_a": prompts[0],
            "prompt_b": prompts[1],
            "response_being_judged": texts["r"]
            if task != "preference"
            else f"A: {options[0]} | B: {options[1]}",
            "ground_truth_label": {
                "factuality": ("accurate", "inaccurate")[k % 2],
                "coherence": f"score_{k % 5 + 1}",
                "preference": "B" if exchanged else "A",
            }[task],
            "semantic_equivalence_score": 1.0,
        }
        rows.append(row | ({"ab_swapped": exchanged} if swapped else {}))
    return rows


def decision_row(pair: int, run: int, a: str, b: str, **changes: Any) -> dict[str, Any]:
    """A row of a decision log; an ``error`` counts for the second prompt."""
    row = {
        "pair_id": f"fact_{pair:03d}",
        "task_type": "factuality",
        "model": "m-1",
        "run": run,
        "prompt_a_decision": a,
        "prompt_b_decision": b,
        "normalized_a": a,
        "normalized_b": b,
        "flipped": a != b,
        "prompt_a_raw": a,
        "prompt_b_raw": b,
        "timestamp": "2026-01-01T00:00:00+00:00",
        "error": None,
    }
    return row | changes


def game_row(pair: str, label: str | None, *decisions: str | None, **more: Any) -> dict[str, Any]:
    """A pair judged once for each decision."""
    games = [
        {"decision": d, "judgment": {"judge_model": "j-1", "response": f"I say {d}"}}
        for d in decisions
    ]
    return {"pair_id": pair, "label": label, "judgments": games} | more


def write_rows(path: Path, rows: Iterable[Mapping[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path
