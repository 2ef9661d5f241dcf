"""Judgments on debates to JudgeBench's result files: what `importer` reads, one file a run.

``results/{judge}_{prompt}/{debate}_run{N}.json`` holds a judgment, ``debates/{debate}.json`` what a
judgment knows of its debate: category, models, and the pair of a topic's two assignments; it knows
no speeches. Read back it is the same judgment, its suite ``judgebench``, but for tokens, times and
repairs, which the form has no place for. Three keys are not JudgeBench's, and only this package
reads them: ``flags``; ``unparsed``, why a reply states no winner; ``failed``, why there is none. In
files with one of the last two ``winner`` is null.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from pytest_judgesense.errors import LogError
from pytest_judgesense.importers import slug
from pytest_judgesense.instruments.debate.stimuli import CONDITION, DEBATE, debate_cluster
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.trial import Failed, Judgment, Trial, Unparsed


def exported(cells: Sequence[Cell]) -> Mapping[str, str]:
    """The files of all judgments on debates by path; cells of other kinds are left out.

    Raises:
        LogError: there are none, two of them would be one file, one has a winner and no scores,
            or the cluster of a debate is the id of another one, which the form reads as a pair.
    """
    judgments = [j for cell in cells if cell.design.kind == DEBATE.name for j in cell.judgments]
    if not judgments:
        raise LogError(
            "there are no debates to write as JudgeBench's results",
            found="judgments on suites of other kinds",
            expected=f"judgments on a suite with kind = {DEBATE.name!r}",
        )
    debates = {judgment.trial.item: judgment.trial for judgment in judgments}
    files: dict[str, str] = {}
    for judgment in judgments:
        trial = judgment.trial
        folder = _file_name(f"{judgment.judge}_{trial.template}")
        path = f"results/{folder}/{_file_name(trial.item)}_run{trial.replicate}.json"
        if path in files:
            raise LogError(
                f"{path} cannot hold two judgments",
                found=f"another judgment of {judgment.judge} on {trial.item}",
                expected="one judgment for each run of a configuration on a debate",
                remedy="export the suites of the log one by one",
            )
        files[path] = _text(_result(judgment))
    return files | {
        f"debates/{_file_name(name)}.json": _text(_debate(trial, debates))
        for name, trial in debates.items()
    }


def _result(judgment: Judgment) -> dict[str, Any]:
    trial, outcome, detail = judgment.trial, judgment.outcome, judgment.detail or {}
    said: dict[str, Any] = {}
    if isinstance(outcome, Unparsed):
        said = {"unparsed": outcome.reason}
    elif isinstance(outcome, Failed):
        said = {"failed": outcome.reason}
    elif "scores" not in detail:
        raise LogError(
            f"{trial.id} of judge {judgment.judge} is not a judgment in JudgeBench's format",
            found="a winner without scores",
            expected="scores by category and side, and a confidence",
        )
    return {
        "debate_id": trial.item,
        "judge_model": judgment.judge,
        "judge_prompt": trial.template,
        "run_number": trial.replicate,
        "winner": judgment.verdict,
        **{key: detail.get(key) for key in ("scores", "confidence", "short_reason")},
        "judgment": judgment.reply,
        **({"flags": detail["flags"]} if "flags" in detail else {}),
        **said,
    }


def _debate(trial: Trial, debates: Mapping[str, Trial]) -> dict[str, Any]:
    pair = None if trial.cluster == trial.item else trial.cluster
    if debate_cluster(trial.item, pair, debates) != trial.cluster:
        raise LogError(
            f"debate {trial.item} cannot be written in JudgeBench's form",
            found=f"the cluster {trial.cluster}, which is the id of another debate",
            expected="an id that both debates of a topic share and that no debate has",
            remedy="rename the cluster in the log",
        )
    known = {key: trial.condition[key] for key in CONDITION if key in trial.condition}
    return {"id": trial.item, **({} if pair is None else {"pair_id": pair}), **known}


def _file_name(name: str) -> str:
    """``name`` as a file may be called; a digest tells apart what would else be called alike."""
    clean = slug(name)
    return clean if clean == name else f"{clean}-{hashlib.sha256(name.encode()).hexdigest()[:6]}"


def _text(value: Mapping[str, Any]) -> str:
    return json.dumps(value, indent=1, ensure_ascii=False) + "\n"
