"""A judge's errors on labelled items, as a datasheet keeps them to correct other verdicts. Pure.

A calibration holds no text and no id: by label and verdict it has the number of calls in each
cluster, and clusters are numbers. From it `stats.rogan_gladen` computes the same recalls, with the
same errors over clusters, as from the judgments. Where replies have confidences, a calibration
holds them: they tell whether other outputs are as hard to judge (`stats.mixture_fit`).

A call without a verdict counts as a verdict of no class, there and among the verdicts that are
corrected; a call without a reply has no part. Of pairs the classes are contents, and a tie that is
no label counts half for each.

Recalls carry over to other items only if chance drew the labelled ones: of items that somebody
chose, for the judge's verdict or a doubt, they are others.

What errors of people do to a rate that goes by their labels, in words and for files. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from math import nan
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pytest_judgesense.estimate import compact
from pytest_judgesense.files.limits import limits
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.stats.inputs import Clusters, NotEstimable
from pytest_judgesense.trial import TIE, Failed, Judgment

if TYPE_CHECKING:
    from pytest_judgesense.stats.label_errors import RateWithoutErrors
    from pytest_judgesense.stats.mixture_fit import MixtureFit
    from pytest_judgesense.stats.rogan_gladen import CalibratedShare

CONTENTS: Final = ("1", "2")
# Of confidences in a file.
_DECIMALS: Final = 6
# Probabilities of a log may be rounded sums.
_MOST: Final = 1 + 1e-9
# How the labelled items were drawn, where recalls carry over to others: by chance, or all.
_CARRIES_OVER: Final = ("random", "all")
_NOT_CARRIED_OVER: Final[Mapping[str | None, str]] = {
    "chosen": "the labelled items were chosen, not drawn by chance: the recalls on others are not "
    "known from them; label items that chance drew",
    "stratified": "the labelled items were drawn by strata: the recalls on all items are not known "
    "from them without weights; label items drawn at random from all",
    None: "the calibrated suite does not say how its labelled items were drawn: add labelled = "
    '"random" to its [stimuli] if chance chose them, and write the datasheet again',
}


class ConfusedCalls(NamedTuple):
    """The calls with one label and one verdict.

    Attributes:
        verdict: ``None`` for a reply without one.
        calls: their number by cluster.
        confidences: of those of them that have one, by cluster, in ascending order.
    """

    label: str
    verdict: str | None
    calls: Mapping[int, int]
    confidences: Mapping[int, tuple[float, ...]] = {}

    def to_plain(self) -> dict[str, Any]:
        """The calls as JSON values; without confidences there are none in it."""
        plain: dict[str, Any] = {
            "label": self.label,
            "verdict": self.verdict,
            "calls": {str(cluster): calls for cluster, calls in self.calls.items()},
        }
        if self.confidences:
            plain["confidences"] = {
                str(cluster): list(numbers) for cluster, numbers in self.confidences.items()
            }
        return plain

    @classmethod
    def of_plain(cls, value: Mapping[str, Any]) -> ConfusedCalls:
        """The calls of a datasheet's file.

        Raises:
            ValueError: a confidence is outside [0, 1], or there are more than calls.
        """
        calls = {int(cluster): count for cluster, count in value["calls"].items()}
        confidences = {
            int(cluster): tuple(sorted(numbers))
            for cluster, numbers in value.get("confidences", {}).items()
        }
        stated = confidences.items()
        if any(len(numbers) > calls.get(cluster, 0) for cluster, numbers in stated) or not all(
            0 <= number <= 1 for number in chain.from_iterable(confidences.values())
        ):
            raise ValueError("calibration: a confidence from 0 to 1 for a call, or none")
        return cls(value["label"], value["verdict"], calls, confidences)

    def units(self) -> Iterator[_CalibratedCall]:
        """The calls one by one; those with a confidence first."""
        for cluster, calls in self.calls.items():
            numbers = self.confidences.get(cluster, ())
            for confidence in (*numbers, *[nan] * (calls - len(numbers))):
                # Clusters of other outputs may be numbers too.
                key = "calibration", cluster
                yield _CalibratedCall(self.label, self.verdict, confidence, key)


class _CalibratedCall(NamedTuple):
    """A call with its label; ``confidence``: NaN where it has none."""

    label: str
    verdict: str | None
    confidence: float
    cluster: tuple[str, int]


class Calibration(NamedTuple):
    """What a judge answered on items with a label of people.

    Attributes:
        labels: those of the suite, in order; of pairs the contents.
        pairwise: whether a verdict names one of two contents.
        orders: the presentation orders that were asked.
        drawn: how the labelled items were drawn; ``all`` if every item has a label.
        confusion: the calls by label and verdict.
    """

    labels: tuple[str, ...]
    pairwise: bool
    orders: tuple[str, ...]
    drawn: str | None
    confusion: tuple[ConfusedCalls, ...]

    @property
    def classes(self) -> tuple[str, ...]:
        """The labels of the suite, and others that people gave."""
        return tuple(dict.fromkeys((*self.labels, *(part.label for part in self.confusion))))

    @property
    def calls(self) -> int:
        """Number of calls on items with a label."""
        return sum(sum(part.calls.values()) for part in self.confusion)

    @property
    def clusters(self) -> int:
        """Number of clusters that have a label."""
        return len({*chain.from_iterable(part.calls for part in self.confusion)})

    def to_plain(self) -> dict[str, Any]:
        """The calibration as JSON values."""
        return {
            "labels": list(self.labels),
            "pairwise": self.pairwise,
            "orders": list(self.orders),
            "drawn": self.drawn,
            "confusion": [part.to_plain() for part in self.confusion],
        }

    @classmethod
    def of_plain(cls, value: Mapping[str, Any]) -> Calibration:
        """The calibration of a datasheet's file, whose kinds of values have been looked at.

        Raises:
            ValueError: it has fewer than two labels, or more calls than a suite may have, or fewer
                than one of a kind, or a confidence that is none.
        """
        calibration = cls(
            tuple(value["labels"]),
            value["pairwise"],
            tuple(value["orders"]),
            value["drawn"],
            tuple(map(ConfusedCalls.of_plain, value["confusion"])),
        )
        parts = calibration.confusion
        least = min((min(part.calls.values(), default=1) for part in parts), default=1)
        if least < 1 or calibration.calls > limits().trials or len(calibration.classes) < 2:
            raise ValueError("calibration: two labels or more, and from 1 call on of each kind")
        return calibration

    def corrected(
        self, verdicts: Sequence[str | None], clusters: Clusters
    ) -> dict[str, CalibratedShare] | NotEstimable:
        """The true shares of the classes behind verdicts on other items, by Rogan and Gladen.

        Args:
            verdicts: of each call; ``None`` for none.
            clusters: cluster of each call.

        Returns:
            Of two classes the share of the first, of more that of each; `NotEstimable` where the
            recalls do not carry over, or tell the classes too little apart.
        """
        from pytest_judgesense.stats.rogan_gladen import calibrated_rate, calibrated_shares

        if self.drawn not in _CARRIES_OVER:
            return NotEstimable(_NOT_CARRIED_OVER[self.drawn])
        classes = self.classes
        labels, old, _, old_clusters = self._columns()
        if unlabelled := [label for label in classes if label not in labels]:
            return NotEstimable(
                f"the recall of a label is known only from items of it, found none of "
                f"{', '.join(unlabelled)} among {len(labels)} calls: label items of it"
            )
        if len(classes) > 2:
            shares = calibrated_shares(
                verdicts=[verdict if verdict in classes else None for verdict in verdicts],
                clusters=clusters,
                calibration_verdicts=[verdict if verdict in classes else None for verdict in old],
                calibration_labels=labels,
                calibration_clusters=old_clusters,
                classes=classes,
            )
            return shares if isinstance(shares, NotEstimable) else {c: shares[c] for c in classes}
        first = classes[0]

        def worth(verdict: str | None) -> float:
            return 0.5 if self.pairwise and verdict == TIE else float(verdict == first)

        share = calibrated_rate(
            verdicts=[*map(worth, verdicts)],
            clusters=clusters,
            calibration_verdicts=[*map(worth, old)],
            calibration_labels=[float(label == first) for label in labels],
            calibration_clusters=old_clusters,
        )
        return share if isinstance(share, NotEstimable) else {first: share}

    def fit(
        self,
        verdicts: Sequence[str | None],
        confidences: Sequence[float | None],
        clusters: Clusters,
        seed: int,
    ) -> MixtureFit | NotEstimable:
        """Whether answers on other items are a mix of those on the calibrated ones, by label.

        Args:
            verdicts: of each call; ``None`` for none.
            confidences: as `confidence_of` gives them.
            clusters: cluster of each call.
            seed: of the draws.

        Returns:
            The fit; `NotEstimable` where it cannot be tested.
        """
        from pytest_judgesense.stats.mixture_fit import Answers, mixture_fit

        labels, old, old_confidences, old_clusters = self._columns()
        stated = [nan if confidence is None else confidence for confidence in confidences]
        return mixture_fit(
            new=Answers(verdicts, stated, clusters),
            calibration=Answers(old, old_confidences, old_clusters),
            labels=labels,
            seed=seed,
        )

    def _columns(self) -> _Columns:
        """All calls: labels, verdicts, confidences and clusters."""
        calls = [call for part in self.confusion for call in part.units()]
        columns = zip(*calls, strict=True) if calls else ((), (), (), ())
        return _Columns(*map(tuple, columns))


class _Columns(NamedTuple):
    """The fields of all calls of a calibration."""

    labels: tuple[str, ...]
    verdicts: tuple[str | None, ...]
    confidences: tuple[float, ...]
    clusters: tuple[tuple[str, int], ...]


def answer_of(judgment: Judgment) -> str | None:
    """What a label is compared with: the content that the verdict selects, else the verdict."""
    return judgment.verdict if judgment.chosen is None else judgment.chosen


def confidence_of(judgment: Judgment) -> float | None:
    """How sure the judge is of its verdict, from 0 to 1; ``None`` where nothing says it.

    What the reply states (`Judgment.detail`), else the probability of the verdict.
    """
    if judgment.verdict is None:
        return None
    stated = (judgment.detail or {}).get("confidence")
    probability = (judgment.probabilities or {}).get(judgment.verdict)
    for number in (stated, probability):
        if isinstance(number, int | float) and 0 <= number <= _MOST:
            return round(min(1.0, number), _DECIMALS)
    return None


def calibration_of(cell: Cell) -> Calibration | None:
    """The calibration of a judge by the labels of people in a cell; ``None`` without labels.

    Items that were chosen to be labelled although chance drew others are left out. Suites whose
    replies grade several criteria, or score, have none.
    """
    design = cell.design
    if design.score is not None:
        return None
    trials = [judgment.trial for judgment in cell.judgments]
    by_people = design.labelled is not None or any(trial.people for trial in trials)
    if design.criteria or not by_people or all(trial.label is None for trial in trials):
        return None
    numbers: dict[str, int] = {}
    confused: dict[tuple[str, str | None], dict[int, int]] = {}
    confidences: dict[tuple[str, str | None], dict[int, list[float]]] = {}
    for judgment in cell.judgments:
        trial = judgment.trial
        left_out = trial.picked and design.labelled != "chosen"
        if trial.label is None or left_out or isinstance(judgment.outcome, Failed):
            continue
        cluster = numbers.setdefault(trial.cluster, len(numbers))
        pair = trial.label, answer_of(judgment)
        of_pair = confused.setdefault(pair, {})
        of_pair[cluster] = of_pair.get(cluster, 0) + 1
        if (confidence := confidence_of(judgment)) is not None:
            confidences.setdefault(pair, {}).setdefault(cluster, []).append(confidence)
    all_labelled = all(trial.label is not None for trial in trials)
    return Calibration(
        labels=CONTENTS if design.pairwise else design.labels,
        pairwise=design.pairwise,
        orders=tuple(sorted({trial.order for trial in trials})),
        drawn=design.labelled or ("all" if all_labelled else None),
        confusion=tuple(
            ConfusedCalls(*pair, calls, _ascending(confidences.get(pair, {})))
            for pair, calls in sorted(
                confused.items(), key=lambda entry: (entry[0][0], entry[0][1] or "")
            )
        ),
    )


def _ascending(confidences: Mapping[int, Sequence[float]]) -> dict[int, tuple[float, ...]]:
    return {cluster: tuple(sorted(numbers)) for cluster, numbers in confidences.items()}


def label_error_row(result: RateWithoutErrors | NotEstimable) -> dict[str, Any]:
    """The range of a rate without errors of people, for a table; or why nobody knows it.

    Keys: ``people_err`` in words; and the numbers, ``None`` where nobody knows them.
    """
    numbers = None if isinstance(result, NotEstimable) else result
    return {
        "people_err": label_error_words(result),
        "disagreement": numbers and numbers.disagreement,
        "error": numbers and numbers.error,
        "error_lower": numbers and numbers.error_lower,
        "error_upper": numbers and numbers.error_upper,
        "without_errors": numbers and numbers.estimate,
        "without_errors_lower": numbers and numbers.lower,
        "without_errors_upper": numbers and numbers.upper,
    }


def label_error_words(result: RateWithoutErrors | NotEstimable) -> str:
    """What the disagreement of people says of a rate, with what it rests on; or why nothing."""
    if isinstance(result, NotEstimable):
        return result.reason
    return (
        f"if people err independently and as often on either label, each errs in "
        f"{_with_ends(result.error, result.error_lower, result.error_upper)} of items (two "
        f"disagree on {compact(result.disagreement)} of {result.units}), and the rate is "
        f"{_with_ends(result.estimate, result.lower, result.upper)}; if together, they err more"
    )


def without_errors_brief(row: Mapping[str, Any]) -> str:
    """The range of a `label_error_row` alone, for a screen; empty where nobody knows it.

    Rows of older files have none.
    """
    if row.get("without_errors") is None:
        return ""
    ends = (row[f"without_errors_{end}"] for end in ("lower", "upper"))
    return f"{_with_ends(row['without_errors'], *ends)} if people err independently"


def _with_ends(value: float, lower: float, upper: float) -> str:
    return f"{compact(value)} [{compact(lower)}, {compact(upper)}]"
