"""JudgeBench's result files to judgments, and judgments on debates to such files.

A folder holds ``results/{judge}_{prompt}/{debate_id}_run{N}.json``, a judgment each,
``debates/*.json``, a debate each, and perhaps ``debate_ids.json`` and ``config.json``. The model of
a judgment is the judge, its prompt (``p0``, ``p1``, ``p2``) the template, its debate the item.

- Runs may count from 0, as JudgeBench's do; here they count from 1. Where the files count from 1
  too, a judgment holds its ``run_number`` as its source.
- ``pair_id`` of a debate is an id that both assignments share, or the id of the other one; either
  way the two are one cluster. A debate without a file, or without a pair, is a separate cluster.
- ``category`` may be absent. ``timestamp``, in seconds since 1970 or as ISO 8601, is when a result
  was recorded.
- A judgment without a winner, or with scores or a confidence that are missing or out of range, is
  `Unparsed`, with the reasons of `replies`.
- Debates that ``debate_ids.json`` lists (a list, or an object with the list under ``debate_ids``)
  and a configuration has no file for are `Failed`, each run: what was planned is counted. How many
  runs were planned says ``runs`` or ``num_runs`` in ``config.json``, else the last run there is.
  Where it says ``"complete": false``, what has no file was not planned.

What is written has the debates as the suites hold them that are given, with their speeches; of
other debates what a judgment knows: category, models, and the pair of a topic's two assignments.
``timestamp`` is the time of the recording. Runs have the numbers that they were imported with, and
count from 0 otherwise. Read back it is the same judgment, its suite
``judgebench``, but for tokens, latency and repairs, which the form has no place for. Four keys are
not JudgeBench's, and only this package writes and reads them: ``flags``; ``unparsed``, why a reply
states no winner; ``failed``, why there is none (in files with one of these two ``winner`` is null);
``complete`` in ``config.json``, whether each configuration has judged each debate in each run.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import product
from pathlib import Path
from typing import Any, Final

from pytest_judgesense.errors import LogError, told_apart
from pytest_judgesense.files.first_sight import FirstSight
from pytest_judgesense.files.foreign_results import Exported, Imported, moment_of, slug
from pytest_judgesense.files.import_options import ImportOptions
from pytest_judgesense.files.limits import beyond, limits
from pytest_judgesense.files.tables import malformed, read_document
from pytest_judgesense.instruments.debate.debates import (
    CONFIG,
    LISTED,
    debates_of,
    holds_only_debates,
    imported_debates,
    listed_debates,
)
from pytest_judgesense.instruments.debate.measures import WEIGHTS
from pytest_judgesense.instruments.debate.replies import (
    SIDES,
    holds_debates,
    judgment_of_object,
    parse_debate,
)
from pytest_judgesense.instruments.debate.stimuli import CONDITION, DEBATE, debate_cluster
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.registry import Importer
from pytest_judgesense.suites.planning import trial_order
from pytest_judgesense.suites.suite import Suite
from pytest_judgesense.trial import MOST, Design, Failed, Judgment, JudgmentOutcome, Trial, Unparsed

DESIGN: Final = Design(kind="debate", labels=SIDES, pairs="all", weights=WEIGHTS)

_SUITE: Final = "judgebench"
_FILE: Final = re.compile(r"(?P<debate>.+)_run(?P<run>\d+)\.json")
_RESULTS: Final = "results"
_FILES_OF_RUNS: Final = "*/*_run*.json"
_RUNS: Final = ("runs", "num_runs")
_COMPLETE: Final = "complete"
_RUN: Final = "run_number"
_SOURCE: Final = "source"  # of a judgment: what the file that it was read from says of it


def is_of_judgebench(sight: FirstSight) -> bool:
    """Whether a folder holds results of JudgeBench."""
    return any((sight.path / _RESULTS).glob(_FILES_OF_RUNS))


def is_of_debates(sight: FirstSight) -> bool:
    """Whether a file or a folder holds debates, and no results on them."""
    return not is_of_judgebench(sight) and holds_only_debates(sight)


def imported(options: ImportOptions) -> Imported:
    """The judgments of ``judgesense import --format judgebench``."""
    judgments = read_judgebench(options.path, reparse=options.reparse)
    return Imported(tuple((judgment, DESIGN) for judgment in judgments))


def results_at(folders: Sequence[Path]) -> Imported:
    """The judgments of several folders of results."""
    judgments = (judgment for folder in folders for judgment in read_judgebench(folder))
    return Imported(tuple((judgment, DESIGN) for judgment in judgments))


def read_judgebench(folder: Path, *, reparse: bool = False) -> Iterator[Judgment]:
    """The judgments of a folder of results, by judge, then in the order of their trials.

    Args:
        folder: the folder that contains ``results``.
        reparse: parse the replies (``judgment``) again instead of keeping the recorded results.

    Raises:
        LogError: there are no results, a file is malformed, or two files are one run of a
            configuration; it names file and field.
    """
    files = sorted((folder / _RESULTS).glob(_FILES_OF_RUNS))
    if not files:
        raise LogError(
            f"there are no JudgeBench results at {folder}",
            found="no results/CONFIG/DEBATE_runN.json" if folder.exists() else "no such folder",
            expected="judgments below results/, debates below debates/",
        )
    debates = {}
    for file in sorted((folder / "debates").glob("*.json")):
        debate = read_document(file, dict, "a JSON object")
        debates[_field(debate, "id", str, file)] = debate
    # Where any run is called 0, all of them count from there.
    first = min(int(match["run"]) for file in files if (match := _FILE.fullmatch(file.name)))
    judgments: dict[str, dict[str, Judgment]] = defaultdict(dict)
    sources: dict[tuple[str, str], Path] = {}
    offset = int(first == 0)
    for file in files:
        judgment = _judgment(file, debates, offset=offset, reparse=reparse)
        same = sources.setdefault((judgment.judge, judgment.trial.id), file)
        if same is not file:
            raise LogError(
                f"{file} and {same} are the same run",
                found=f"{judgment.trial.id} of judge {judgment.judge} in both",
                expected="one file for each run of a configuration on a debate",
                remedy="leave one of them out",
            )
        judgments[judgment.judge][judgment.trial.id] = judgment
    there = [judgment for of in judgments.values() for judgment in of.values()]
    for missing in _missing(folder, there, debates, offset):
        judgments[missing.judge].setdefault(missing.trial.id, missing)
    for _, of in sorted(judgments.items()):
        yield from map(of.__getitem__, trial_order(of))


def _judgment(
    file: Path, debates: Mapping[str, Mapping[str, Any]], *, offset: int, reparse: bool
) -> Judgment:
    value = read_document(file, dict, "a JSON object")
    run = _field(value, _RUN, int, file) + offset
    if not 1 <= run <= MOST:
        expected = f"a whole number from {1 - offset} to {MOST}"
        raise malformed(f"{file}: {_RUN}", value[_RUN], expected)
    debate, prompt, judge = (
        _field(value, name, str, file) for name in ("debate_id", "judge_prompt", "judge_model")
    )
    verdict = value.get("judgment")
    reply = (
        verdict
        if verdict is None or isinstance(verdict, str)
        else json.dumps(verdict, ensure_ascii=False)
    )
    outcome: JudgmentOutcome
    if "failed" in value:
        outcome, detail = Failed(_field(value, "failed", str, file)), None
    elif reparse:
        outcome, detail = parse_debate(reply or "")
    elif value.get("winner") is None:
        reason = _field(value, "unparsed", str, file) if "unparsed" in value else None
        outcome, detail = Unparsed(reason or "no winner recorded"), None
    else:
        outcome, detail = judgment_of_object(value)
        if detail is not None and "flags" in value:
            detail["flags"] = list(map(str, _field(value, "flags", list, file)))
    detail = {**(detail or {}), **_numbered(run, offset)} or None
    trial = _trial(debate, prompt, run, debates)
    moment = _moment(value.get("timestamp"), file)
    return Judgment(trial, judge, outcome, reply=reply, detail=detail, recorded_at=moment)


def _numbered(run: int, offset: int) -> dict[str, Any]:
    """What a judgment holds of its number, if the files count from 1."""
    return {} if offset else {_SOURCE: {_RUN: run}}


def _moment(value: Any, file: Path) -> str | None:
    """When a result was recorded, as a judgment says it."""
    if value is None:
        return None
    try:
        return moment_of(value)
    except ValueError:
        expected = "seconds since 1970, or a time in ISO 8601"
        raise malformed(f"{file}: timestamp", value, expected) from None


def _seconds(moment: str) -> int | float:
    """A time of `_moment`, in seconds since 1970."""
    seconds = datetime.fromisoformat(moment).timestamp()
    return int(seconds) if seconds.is_integer() else seconds


def _trial(debate: str, prompt: str, run: int, debates: Mapping[str, Mapping[str, Any]]) -> Trial:
    fields = {
        key: str(value) for key, value in debates.get(debate, {}).items() if value is not None
    }
    return Trial(
        id=f"{_SUITE}/{debate}/{prompt}/ab/r{run}",
        suite=_SUITE,
        item=debate,
        cluster=debate_cluster(debate, fields.get("pair_id"), debates),
        template=prompt,
        replicate=run,
        condition={key: fields[key] for key in CONDITION if key in fields},
    )


def _missing(
    folder: Path,
    judgments: Collection[Judgment],
    debates: Mapping[str, Mapping[str, Any]],
    offset: int,
) -> Iterator[Judgment]:
    """Every run that was planned, as one without a result."""
    file = folder / LISTED
    if not file.exists():
        return
    planned = listed_debates(file)
    config = folder / CONFIG
    settings = read_document(config, dict, "a JSON object") if config.exists() else {}
    if settings.get(_COMPLETE) is False:
        return
    planned_runs = [settings[key] for key in _RUNS if type(settings.get(key)) is int]
    runs = (
        planned_runs[0] if planned_runs else max(judgment.trial.replicate for judgment in judgments)
    )
    configurations = {(judgment.judge, judgment.trial.template) for judgment in judgments}
    if (number := len(configurations) * len(planned) * runs) > limits().trials:
        raise beyond(LogError, f"{config}: too many runs are planned", "trials", f"{number} trials")
    for (judge, prompt), debate, run in product(configurations, planned, range(1, runs + 1)):
        trial, outcome = _trial(debate, prompt, run, debates), Failed("no result file")
        yield Judgment(trial, judge, outcome, detail=_numbered(run, offset) or None)


def _field(value: Mapping[str, Any], name: str, kind: type, file: Path) -> Any:
    content = value.get(name)
    if type(content) is not kind:
        raise malformed(f"{file}: {name}", content, f"a {kind.__name__}")
    return content


# --- writing --------------------------------------------------------------------------------------


def exported(cells: Sequence[Cell], suites: Sequence[Suite] = ()) -> Exported:
    """The files of all judgments on debates by path; cells of other kinds are left out.

    ``suites`` are those that hold the debates, with their speeches.

    Raises:
        LogError: there are none, two of them would be one file, one has a winner and no scores,
            or the cluster of a debate is the id of another one, which the form reads as a pair.
    """
    judgments = [j for cell in cells if holds_debates(cell) for j in cell.judgments]
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
        path = f"results/{folder}/{_file_name(trial.item)}_run{_run_number(judgment)}.json"
        if path in files:
            raise LogError(
                f"{path} cannot hold two judgments",
                found=f"another judgment of {judgment.judge} on {trial.item}",
                expected="one judgment for each run of a configuration on a debate",
                remedy="export the suites of the log one by one",
            )
        files[path] = _text(_result(judgment))
    whole = debates_of(suites, debates.keys())
    bare = sorted(debates.keys() - whole.keys())
    ordered = [*whole, *bare]
    files |= {
        f"debates/{_file_name(name)}.json": _text(
            whole[name] if name in whole else _debate(debates[name], debates)
        )
        for name in ordered
    }
    files |= {LISTED: _text(ordered), CONFIG: _text(_config(judgments))}
    notice = (
        f"{len(bare)} of {len(ordered)} debates are written without speeches, which a log does "
    )
    notice += "not hold: --suite FILE names the suite that does"
    return Exported(files, (notice,) if bare else ())


def _run_number(judgment: Judgment) -> int:
    """The number of a run as it was imported; else it counts from 0, as JudgeBench does."""
    source = (judgment.detail or {}).get(_SOURCE) or {}
    return int(source.get(_RUN, judgment.trial.replicate - 1))


def _config(judgments: Sequence[Judgment]) -> dict[str, Any]:
    configurations = {(judgment.judge, judgment.trial.template) for judgment in judgments}
    debates = {judgment.trial.item for judgment in judgments}
    runs = max(judgment.trial.replicate for judgment in judgments)
    return {
        "judge_models": sorted({judge for judge, _ in configurations}),
        "judge_prompts": sorted({prompt for _, prompt in configurations}),
        "debates": len(debates),
        "runs": runs,
        _COMPLETE: len(judgments) == len(configurations) * len(debates) * runs,
    }


def _result(judgment: Judgment) -> dict[str, Any]:
    trial, outcome, detail = judgment.trial, judgment.outcome, judgment.detail or {}
    outcome_fields: dict[str, Any] = {}
    if isinstance(outcome, Unparsed):
        outcome_fields = {"unparsed": outcome.reason}
    elif isinstance(outcome, Failed):
        outcome_fields = {"failed": outcome.reason}
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
        _RUN: _run_number(judgment),
        "winner": judgment.verdict,
        **{key: detail.get(key) for key in ("scores", "confidence", "short_reason")},
        "judgment": judgment.reply,
        **({} if judgment.recorded_at is None else {"timestamp": _seconds(judgment.recorded_at)}),
        **({"flags": detail["flags"]} if "flags" in detail else {}),
        **outcome_fields,
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
    condition = {key: trial.condition[key] for key in CONDITION if key in trial.condition}
    return {"id": trial.item, **({} if pair is None else {"pair_id": pair}), **condition}


def _file_name(name: str) -> str:
    """``name`` as a file may be called; a digest tells apart what would else be called alike."""
    return told_apart(slug(name), name)


def _text(value: Mapping[str, Any] | list[str]) -> str:
    return json.dumps(value, indent=1, ensure_ascii=False) + "\n"


IMPORTERS: Final = (
    Importer("judgebench", imported, exported, recognises=is_of_judgebench),
    Importer("debates", imported_debates, recognises=is_of_debates),
)
