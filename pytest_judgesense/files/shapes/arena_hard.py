"""Arena-Hard: a model against a baseline, five steps, both orders in one row.

The first game shows the baseline as A and the model as B, the second game the other way round. The
candidates of an item are in that order: content 1 is the baseline. Versions until 2024 ask one
game a row where a judge gives a number.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from pytest_judgesense.files.foreign_results import json_or_none
from pytest_judgesense.files.proposals import FileShape, Proposal, ShownSetting
from pytest_judgesense.files.rows import Row, field_of
from pytest_judgesense.files.shapes.repeated import numbered, with_rows
from pytest_judgesense.files.shapes.settings import (
    column,
    columns,
    joined,
    naming,
    no_verdicts,
    of_all,
    words,
)
from pytest_judgesense.files.shapes.shown_texts import text_columns, with_shown_texts
from pytest_judgesense.files.tables import RowTable

_SINCE_2025: Final = "lmarena/arena-hard-auto@196f6b826783b3da7310e361a805fa36f0be83f3"
_UNTIL_2025: Final = "lmarena/arena-hard-auto@4ce0f0087776158a4461162cbef1d9bb5464bb57"
_GAMES: Final = "games"
_SCORES: Final = ("games.0.score", "games.1.score")
_STEPS: Final = {
    **dict.fromkeys(("A>>B", "A>B", "B<<A", "B<A"), "A"),
    **dict.fromkeys(("B>>A", "B>A", "A<<B", "A<B"), "B"),
    **dict.fromkeys(("A=B", "B=A"), "tie"),
}
_ITEM: Final = ("question_id", "uid", "model", "baseline")
_REPLIES: Final = ("judgment.answer", "judgment")
_PROMPTS: Final = ("prompt", "user_prompt")
_FAILED: Final = {"score": None}
_STRENGTH: Final = "how much better (>> or >) is not kept: a verdict is A, B or a tie"


def _proposal(table: RowTable) -> Proposal:
    question = "uid" if table.has("uid") else "question_id"
    is_pair = table.has(_SCORES[1])
    return Proposal(
        (
            of_all("suite", "arena-hard", "judgments of Arena-Hard"),
            *columns(table, {"judge": "judge"}, "who judged"),
            column("item", joined(table, _ITEM), "a model and the baseline on one question"),
            column("cluster", question, "all answers to one question"),
            *(_of_pairs(table) if is_pair else _of_single(table)),
        ),
        notes=(_STRENGTH,) if is_pair else (),
    )


def _of_pairs(table: RowTable) -> tuple[ShownSetting, ...]:
    shown = "game 1 shows the baseline as A, game 2 the model"
    both = ("ab", "ba")
    return (
        *(column(f"verdict.{o}", name, shown) for o, name in zip(both, _SCORES, strict=True)),
        naming("verdict", "slot", "A is what the judge saw first"),
        *words(table, _SCORES, _STEPS, "the better one, however much better"),
        *no_verdicts(table, _SCORES, _STEPS, "no step of Arena-Hard"),
        *(s for place, o in enumerate(both) for s in _reply_and_prompt(table, place, f".{o}")),
        *text_columns(table),
    )


def _of_single(table: RowTable) -> tuple[ShownSetting, ...]:
    return (column("verdict", _SCORES[0], "the rating"), *_reply_and_prompt(table, 0, ""))


def _reply_and_prompt(table: RowTable, place: int, order: str) -> tuple[ShownSetting, ...]:
    """The columns of the reply and of the prompt of a game."""
    replies, prompts = (
        [name for name in (f"{_GAMES}.{place}.{n}" for n in names) if table.has(name)]
        for names in (_REPLIES, _PROMPTS)
    )
    return (
        *(column(f"reply{order}", name, "what the judge said") for name in replies[:1]),
        *(column(f"prompt{order}", name, "what the judge was shown") for name in prompts[:1]),
    )


def _rows(table: RowTable) -> RowTable:
    """The rows, each with all games: one that failed has no score."""
    games = [_games(row) for row in table]
    most = max(map(len, games), default=0)
    rows = [
        replace(row, value={**row.value, _GAMES: [*of_row, *[_FAILED] * (most - len(of_row))]})
        for row, of_row in zip(table, games, strict=True)
    ]
    table = numbered(with_rows(table, rows), (*_ITEM, "judge"))
    return with_shown_texts(table, [[_prompt(game) for game in _two(of)] for of in games])


def _two(games: list[Any]) -> list[Any]:
    return [*games, None, None][:2]


def _prompt(game: Any) -> Any:
    cells = (field_of(game, name) for name in _PROMPTS)
    return next((cell for cell in cells if cell is not ...), None)


def _games(row: Row) -> list[Any]:
    games = row.value.get(_GAMES)
    games = json_or_none(games) if isinstance(games, str) else games
    if not isinstance(games, list):
        raise row.wrong(_GAMES, "a list of games")
    return [_FAILED if game is None else game for game in games]


ARENA_HARD: Final = FileShape(
    "arena-hard",
    "judgments of Arena-Hard (model_judgment/JUDGE/MODEL.jsonl)",
    (
        f"{_SINCE_2025}:gen_judgment.py",
        f"{_SINCE_2025}:show_result.py",
        f"{_UNTIL_2025}:gen_judgment.py",
        f"{_UNTIL_2025}:show_result.py",
    ),
    (_GAMES, "model", "games.0.score"),
    _proposal,
    _rows,
)
