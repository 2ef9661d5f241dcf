"""What importing the statistics loads, each in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys

LEFT = "{'char', 'ctypeslib', 'f2py', 'ma', 'polynomial', 'rec', 'testing'}"


def found(code: str) -> object:
    """The value that ``code`` prints as JSON."""
    command = [sys.executable, "-c", code]
    run = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    return json.loads(run.stdout)


def test_modules_of_numpy_that_no_statistic_uses_stay_unloaded() -> None:
    loaded = found(
        "import json, sys, pytest_judgesense.stats\n"
        f"print(json.dumps([n for n in {LEFT} if 'numpy.' + n in sys.modules]))"
    )
    assert loaded == []


def test_they_are_loaded_on_first_use_as_ever() -> None:
    # A masked mean leaves out 3: (1 + 2) / 2. The copy of numpy's names that scipy keeps has them;
    # scipy 1.18 moved it.
    loaded = found(
        "import json, sys, pytest_judgesense.stats, numpy\n"
        "copies = [sys.modules[n] for n in sys.modules if n.endswith('.array_api_compat.numpy')]\n"
        "(copy,) = copies\n"
        "masked = numpy.ma.array([1, 2, 3], mask=[0, 0, 1]).mean()\n"
        f"same = [getattr(copy, n) is getattr(numpy, n) for n in {LEFT} if hasattr(numpy, n)]\n"
        "from numpy.testing import assert_allclose\n"
        "print(json.dumps([float(masked), all(same), callable(assert_allclose)]))"
    )
    assert loaded == [1.5, True, True]


def test_scipy_works_as_if_it_had_been_imported_alone() -> None:
    # Both need what was left out: masked arrays, polynomials.
    alone = "import scipy.stats, scipy.special, json\n"
    use = (
        "print(json.dumps([scipy.stats.mstats.gmean([1.0, 4.0]).item(),"
        " scipy.special.legendre(2)(0.5).item(), scipy.stats.norm.cdf(1.0).item()]))"
    )
    assert found("import pytest_judgesense.stats\n" + alone + use) == found(alone + use)


def test_what_was_loaded_before_stays() -> None:
    loaded = found(
        "import json, numpy.ma, pytest_judgesense.stats, numpy\n"
        "print(json.dumps(numpy.ma.array([2.0]).mean().item()))"
    )
    assert loaded == 2.0
