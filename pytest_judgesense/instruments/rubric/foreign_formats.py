"""The format of foreign files that are read as grades."""

from __future__ import annotations

from typing import Final

from pytest_judgesense.instruments.rubric.foreign_grades import imported_grades
from pytest_judgesense.registry import Importer

IMPORTERS: Final = (Importer("table", imported_grades, option="grades"),)
