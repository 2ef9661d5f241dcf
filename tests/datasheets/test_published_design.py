"""Tables of a published design: their cells as text, and unrounded as CSV."""

from __future__ import annotations

from pytest_judgesense.datasheets.published_design import Table, cell_text
from pytest_judgesense.report.csv_tables import table_text


def test_a_cell_has_the_digits_of_its_table_and_no_negative_zero() -> None:
    assert cell_text(0.91466) == "0.915"
    assert cell_text((0.8, 1.0), 2) == "[0.80, 1.00]"
    assert cell_text(-0.0001) == "0.000"
    assert (cell_text(None), cell_text(7)) == ("N/A", "7")


def test_a_table_as_csv_is_unrounded_and_an_interval_takes_two_columns() -> None:
    rows = (("m", 1 / 3, (0.25, 0.5)), ("=x", None, None))
    table = Table("t", "c", ("judge", "rate", "95%"), rows)
    assert table_text(table).splitlines() == [
        'judge,rate,"95%, lower","95%, upper"',
        "m,0.3333333333333333,0.25,0.5",
        "'=x,,,",
    ]
