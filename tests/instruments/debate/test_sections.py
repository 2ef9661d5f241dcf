"""What the report shows of debates."""

from __future__ import annotations

from pytest_judgesense.instruments.builtin import BUILT_IN


def test_the_names_of_its_tables_are_taken() -> None:
    names = """anova by_category configuration_agreement measure_correlation measure_pca post_hoc
    ranking ranking_basis ranking_sensitivity ranking_thresholds""".split()
    assert set(names) <= set(BUILT_IN.tables)
