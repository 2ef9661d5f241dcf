"""The clock that is set on, in processes of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import UTC, date, datetime, timedelta

import pytest

from pytest_judgesense.asking.later_clock import SET_ON_BY


def in_process(code: str, **environment: str) -> str:
    env = {**os.environ, **environment}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
    return done.stdout


NOW = """
from datetime import date, datetime
from pytest_judgesense.asking.later_clock import set_on
def now(): return [date.today().isoformat(), datetime.now().isoformat()]
before = now()
set_on()
import json, sys, time
begun = time.monotonic()
time.sleep(0.05)
print(json.dumps([before, now(), time.monotonic() - begun, "pytest" in sys.modules]))
"""


@pytest.mark.parametrize("zone", ["UTC", "Pacific/Kiritimati", "America/New_York"])
def test_it_is_later_by_the_clocks_of_python_and_timers_go_on(zone: str) -> None:
    before, later, slept, has_pytest = json.loads(in_process(NOW, TZ=zone))
    # Read in local time: a zone may have put its clock forward or back by an hour meanwhile.
    passed = datetime.fromisoformat(later[1]) - datetime.fromisoformat(before[1])
    assert abs(passed - SET_ON_BY) < timedelta(hours=1, minutes=5)
    assert later[0] != before[0]
    assert 0.04 < slept < 30
    assert not has_pytest


def test_year_month_weekday_and_half_of_the_day_differ_whatever_the_day() -> None:
    # Four years hold every kind of year.
    for day in range(4 * 365 + 1):
        for hour in range(24):
            before = datetime(2024, 1, 1, hour, tzinfo=UTC) + timedelta(days=day)
            after = before + SET_ON_BY
            assert before.year != after.year
            assert before.month != after.month
            assert before.weekday() != after.weekday()
            # 11 + 13 is midnight, and 23 + 13 noon: in these two hours the half stays.
            assert (before.hour < 12) != (after.hour < 12) or before.hour in (11, 23)
    assert date(2026, 11, 29) + SET_ON_BY == date(2027, 12, 31)


def test_the_package_and_its_plugin_import_no_time_machine() -> None:
    code = (
        "import sys; import pytest_judgesense.asking.proving, pytest_judgesense.plugin;"
        "print('time_machine' in sys.modules)"
    )
    assert in_process(code).strip() == "False"
