"""The measuring part of a process of a session, split by what is known.

`Measurements` knows judges and suites, `Family` the checks, `Collected` what is told of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_judgesense.cassettes.credentials import Credentials
from pytest_judgesense.measurement import Measurement
from pytest_judgesense.measures.cell import Cell
from pytest_judgesense.plugin.cassette_files import Recordings, recorder_of
from pytest_judgesense.plugin.collected import Collected
from pytest_judgesense.plugin.family import Family
from pytest_judgesense.plugin.session_measurements import Measurements
from pytest_judgesense.plugin.settings import Settings, SharedState
from pytest_judgesense.registry import Registry

if TYPE_CHECKING:
    from pytest_judgesense.plugin.live_history import LiveHistory


class Run:
    """What one process of a session measures, decides and tells.

    Attributes:
        day: on which the session began, in UTC.
    """

    def __init__(
        self, config: pytest.Config, settings: Settings, shared: SharedState, registry: Registry
    ) -> None:
        self.day = shared.day
        recordings = Recordings(settings, shared, recorder_of(config))
        self.collected = Collected(config, settings, Credentials(), recordings)
        self.measurements = Measurements(
            config, settings, shared, registry, self.collected, recordings
        )
        self.family = Family(config, settings, self.measurements, self.collected, shared.columns)
        self.history: LiveHistory | None = None
        if settings.tells_history:
            from pytest_judgesense.plugin.live_history import LiveHistory

            members = lambda: self.family.members  # noqa: E731 - known when all are collected
            self.history = LiveHistory(settings, shared.started, registry, members)
            self.family.history, self.collected.totals = self.history, self.history.totals
        self.measurements.stopping_of = self.family.stopping_of
        if settings.revision is not None:
            self.collected.before = self._cell_before

    def _cell_before(self, measurement: Measurement) -> Cell | None:
        from pytest_judgesense.plugin.against_baseline import cell_before

        return cell_before(self.family.past, measurement)
