from __future__ import annotations

from pytest_judgesense.suites.from_lines import content_item, pair_item
from pytest_judgesense.suites.schema import ContentItem, PairItem


def test_a_content_item_shows_its_texts_and_keeps_the_rest_from_the_judge() -> None:
    line = ContentItem.model_validate(
        {
            "id": "i",
            "label": "YES",
            "difficulty": "hard",
            "cluster": "c",
            "source": "S",
            "text": "T",
        }
    )
    item = content_item(line)
    assert dict(item.fields) == {"source": "S", "text": "T"}
    assert (item.id, item.cluster, item.label, item.contents) == ("i", "c", "YES", ())


def test_an_item_is_its_own_cluster_unless_it_names_one() -> None:
    assert content_item(ContentItem(id="i")).cluster == "i"
    texts = ("x", "y")
    assert pair_item(PairItem(id="i", task="t", texts=texts)).cluster == "i"
    assert pair_item(PairItem(id="i", task="t", texts=texts, cluster="c")).cluster == "c"


def test_a_pair_item_holds_two_contents_and_its_category_as_condition() -> None:
    item = pair_item(PairItem(id="i", task="t", texts=("x", "y"), label="2", category="blank"))
    assert item.contents == ("x", "y")
    assert dict(item.fields) == {"task": "t"}
    assert (item.label, dict(item.condition)) == ("2", {"category": "blank"})
