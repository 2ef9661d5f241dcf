"""What the trials of a function were asked, told from their recorded requests. Pure.

A function has its prompt in its own code: a template of its suite, and a column that it does not
take, may never have been sent. Of one that is recorded by what it returned only what it was given
is known.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from pytest_judgesense.cassettes.exchange import CALL, RETURN, Exchange, RecordedRequest
from pytest_judgesense.checks.sent import holds, texts_sent
from pytest_judgesense.checks.shared_prompt import item_texts
from pytest_judgesense.suites.item import Item
from pytest_judgesense.trial import Trial

NOTHING_SENT: Final = "(nothing was sent)"
_WITHOUT_TEXT: Final = "(requests without a text)"
_GIVEN: Final = "(given; no request is recorded)"


def requests_of(exchanges: Sequence[Exchange]) -> list[RecordedRequest]:
    """The requests of a trial; of a function that made none its calls."""
    requests = [exchange.request for exchange in exchanges if exchange.request.method != RETURN]
    return [request for request in requests if request.method != CALL] or requests


def text_of(requests: Sequence[RecordedRequest]) -> str:
    """The texts of some requests in their order; a repeated one once."""
    texts = (text for request in requests for _, text in texts_sent(request))
    return "\n".join(dict.fromkeys(texts))


def texts_held(item: Item, trial: Trial, sent: str) -> dict[str, str]:
    """Those texts of an item that were sent, by the names of its fields."""
    texts = item_texts(item, trial.order)
    return {name: text for name, text in texts.items() if holds(sent, text)}


@dataclass(frozen=True, slots=True)
class AskedTexts:
    """What a function sent in each trial of a suite.

    Attributes:
        items: of the suite, by id.
        requests: by trial, see `requests_of`.
    """

    items: Mapping[str, Item]
    requests: Mapping[str, Sequence[RecordedRequest]]

    def prompt_of(self, trial: Trial) -> str:
        """All texts of its requests; in brackets where there are none."""
        requests = self.requests.get(trial.id)
        if not requests:
            return NOTHING_SENT
        text = text_of(requests) or _WITHOUT_TEXT
        return f"{_GIVEN}\n{text}" if requests[0].method == CALL else text

    def question_of(self, trial: Trial) -> str:
        """The texts of its item beside the answers that were sent; without such, the answers.

        Where none was sent as it stands, the whole prompt.
        """
        item = self.items[trial.item]
        held = texts_held(item, trial, self._text(trial))
        fields = [text for name, text in held.items() if name in item.fields]
        return " / ".join(fields or self.contents_of(trial)) or self.prompt_of(trial)

    def contents_of(self, trial: Trial) -> tuple[str, ...]:
        """Those contents of its item that were sent, in the item's own order."""
        sent = self._text(trial)
        return tuple(text for text in self.items[trial.item].contents if holds(sent, text))

    def _text(self, trial: Trial) -> str:
        return text_of(self.requests.get(trial.id, ()))
