"""Asking a judge hybrids of two prompts, each recorded like a trial.

A judge of a provider, and a function that is recorded by the messages it was given, are sent the
hybrid as it stands. A function that makes requests of its own is called as for the old end, and the
texts are exchanged in what it sends. The recording has a name of its own, made of the two prompts:
other prompts begin another one.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field, replace
from typing import Final

from pytest_judgesense.asking.inquiry import Asking, Inquiry
from pytest_judgesense.cassettes.exchange import CALL
from pytest_judgesense.cassettes.locking import Recorder, recording_alone
from pytest_judgesense.errors import JudgeError, UsageError, listed
from pytest_judgesense.judges.calls import judgment_of
from pytest_judgesense.judges.client import is_embedded
from pytest_judgesense.judges.loop import AskingLoop
from pytest_judgesense.judges.session import SessionCalls
from pytest_judgesense.judges.throttle import Throttle
from pytest_judgesense.judges.trust import Trust
from pytest_judgesense.measurement import proof_of
from pytest_judgesense.questions.place import Place
from pytest_judgesense.questions.terms import AskingTerms
from pytest_judgesense.questions.why.flip import Flip
from pytest_judgesense.questions.why.prompt_path import PromptPath
from pytest_judgesense.stats.bisection import Hybrid
from pytest_judgesense.suites.item import Item, item_id
from pytest_judgesense.suites.suite import Suite, Template
from pytest_judgesense.trial import TEMPERATURE, Failed, Judgment, Trial

_TEXT: Final = "text"
_LONGEST_ITEM: Final = 60


@dataclass
class HybridAsker:
    """Asks hybrids, one after the other, and counts how often each was asked.

    Attributes:
        name: of the recording.
    """

    flip: Flip
    path: PromptPath
    name: str
    inquiry: Inquiry
    counts: Counter[Hybrid] = field(default_factory=Counter)

    def ask(self, hybrid: Hybrid) -> Judgment:
        """The judgment of a hybrid, asked once more.

        Raises:
            JudgeError: the call failed; what was answered before is recorded.
            LimitReached: the call would pass a limit.
        """
        self.counts[hybrid] += 1
        trial = self._enter(hybrid, self.counts[hybrid])
        self.inquiry.ask([trial])
        judgment = judgment_of(
            self.inquiry.suite, self.inquiry.judge, trial, self.inquiry.answers[trial.id]
        )
        if isinstance(judgment.outcome, Failed):
            self.inquiry.finish()
            raise JudgeError(
                f"judge {self.flip.judge.name!r} did not answer a hybrid of the two prompts",
                found=judgment.outcome.reason,
                remedy="run the command again: what was answered is recorded",
            )
        return judgment

    def _enter(self, hybrid: Hybrid, replicate: int) -> Trial:
        """The trial of a hybrid, which the suite has from here on."""
        old = self.flip.old.judgment.trial
        suite, name = self.inquiry.suite, _name_of(hybrid)
        item, template = self._question(name, hybrid)
        if all(entered.id != template.id for entered in suite.templates):
            suite = replace(suite, templates=(*suite.templates, template))
        if all(entered.id != item.id for entered in suite.items):
            suite = replace(suite, items=(*suite.items, item))
        trial = Trial(
            f"{self.name}/{item.id}/{name}/{old.order}/r{replicate}",
            self.name,
            item.id,
            item.cluster,
            name,
            old.order,
            replicate,
            {key: value for key, value in old.condition.items() if key != TEMPERATURE},
        )
        self.inquiry.suite = suite
        self.inquiry.trials = (*self.inquiry.trials, trial)
        return trial

    def _question(self, name: str, hybrid: Hybrid) -> tuple[Item, Template]:
        old, texts = self.flip.old.judgment.trial, self.path.hybrid(hybrid)
        if _is_given_messages(self.flip):
            system, prompt = (
                [text for part, text in texts.items() if part.startswith(f"{kind} ")]
                for kind in ("system prompt", "prompt")
            )
            if len(prompt) != 1 or len(system) > 1:
                raise UsageError(
                    "the two prompts are no system prompt and one message",
                    found=listed(texts),
                    expected="at most one system prompt, and one message",
                )
            item = Item(name, old.cluster, {_TEXT: prompt[0]})
            return item, Template(name, f"{{{{{_TEXT}}}}}", system=system[0] if system else "")
        edits = tuple(
            (self.path.old[part], text)
            for part, text in texts.items()
            if text != self.path.old[part]
        )
        suite = self.flip.suite
        item = next(item for item in suite.items if item.id == old.item)
        template = next(template for template in suite.templates if template.id == old.template)
        return item, replace(template, id=name, edits=edits, asked_as=template.id)


@contextmanager
def asking_hybrids(
    flip: Flip,
    path: PromptPath,
    place: Place,
    terms: AskingTerms,
    how_to_record: str,
) -> Iterator[HybridAsker]:
    """Ask hybrids within a block; at its end what was asked is recorded in order, and proven.

    Raises:
        UsageError: a function cannot be made to send the texts.
        UnprovenRecording: what was recorded does not replay.
    """
    _refuse_added_part(flip, path)
    name, judge = _recording_of(flip, path), flip.judge
    file = place.cassettes / judge.slug / f"{name}.jsonl"
    with ExitStack() as stack:
        if terms.asks:
            stack.enter_context(recording_alone(file, Recorder.here()))
        loop = stack.enter_context(closing(AskingLoop()))
        asking = Asking(
            trust=Trust.here(flip.suite.path),
            concurrency=1,
            how_to_record=how_to_record,
            throttle=Throttle(judge, 1, budget=terms.budget),
            session=SessionCalls(),
            registry=place.registry,
            proves=terms.asks,
            computes=is_embedded,
        )
        suite = _emptied(flip, name)
        inquiry = Inquiry(judge, suite, (), {name: file}, loop, terms.mode, asking)
        asker = HybridAsker(flip, path, name, inquiry)
        yield asker
        inquiry.finish()
        proof = proof_of(inquiry, asker.inquiry.trials, loop, asking)
        if proof.error is not None:
            raise proof.error


def _emptied(flip: Flip, name: str) -> Suite:
    """The suite of the flip without its items and wordings, at the temperature of the old end."""
    suite, old = flip.suite, flip.old.judgment.trial
    temperature = old.condition.get(TEMPERATURE, suite.temperature)
    return replace(
        suite,
        name=name,
        base=name,
        form=replace(suite.form, expand=None, settling=None),
        items=(),
        templates=(),
        checks=(),
        reviews=(),
        temperature=temperature if isinstance(temperature, int | float) else None,
        temperatures=(),
    )


def _is_given_messages(flip: Flip) -> bool:
    """Whether a hybrid is sent as it stands, and not exchanged in what a function sends."""
    (request,) = flip.old.requests
    return flip.judge.provider != "callable" or request.method == CALL


def _refuse_added_part(flip: Flip, path: PromptPath) -> None:
    """Raise an error if a function would have to send a text where it sends none."""
    added = [part for part, text in path.old.items() if not text]
    if added and not _is_given_messages(flip):
        raise UsageError(
            f"{flip.old.name} sends no text where {flip.new.name} sends one, and the words of a "
            "function are exchanged in what it sends",
            found=f"no {listed(added)}",
            expected="two prompts of the same parts",
            remedy="name the other end first: judgesense why OTHER TRIAL",
        )


def _recording_of(flip: Flip, path: PromptPath) -> str:
    trial = flip.old.judgment.trial
    text = json.dumps([trial.id, flip.new.judgment.trial.id, path.unit, path.old, path.new])
    digest = hashlib.sha256(text.encode()).hexdigest()[:8]
    return f"why-{item_id(trial.item)[:_LONGEST_ITEM]}-{digest}"


def _name_of(hybrid: Hybrid) -> str:
    """``first-12`` for the first twelve changes, else a digest of their numbers."""
    if hybrid == tuple(range(len(hybrid))):
        return f"first-{len(hybrid)}"
    numbers = ",".join(map(str, hybrid))
    return f"of-{len(hybrid)}-{hashlib.sha256(numbers.encode()).hexdigest()[:8]}"
