"""The report tells the truth, loads nothing and lets no data act as markup."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from html.parser import HTMLParser

import numpy as np
import pytest

from linkwise import Constraints, Dendrogram
from linkwise.report import gather_facts, render_html, write_report
from linkwise.report._facts import Conflict, Score
from linkwise.report._svg import tree_svg

TREE = Dendrogram.from_merges(4, np.array([[0, 1], [2, 3], [4, 5]]), np.array([1.0, 3.0, 5.0]), marked=[4, 5])
SAID = Constraints.build(4, must_link=[(0, 1)], cannot_link=[(0, 2)], triplets=[(0, 1, 3)])
VOID = {"meta", "input", "br"}


class Balance(HTMLParser):
    """Fails on tags that are not closed in order; collects tags, attributes and text."""

    def __init__(self):
        super().__init__()
        self.open, self.tags, self.attributes, self.text = [], [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def read(page: str) -> Balance:
    parsed = Balance()
    parsed.feed(page)
    parsed.close()
    assert parsed.open == []
    return parsed


def test_facts_count_what_was_said_and_what_holds():
    broken = SAID | Constraints.build(4, cannot_link=[(2, 3)])
    facts = gather_facts(TREE, constraints=broken)
    assert [(kind.kind.word, kind.said, kind.held) for kind in facts.kinds] == [
        ("must_link", 1, 1),
        ("cannot_link", 2, 1),
        ("triplets", 1, 1),
    ]
    assert facts.n_broken == 1
    assert not facts.statements[0].held  # broken ones come first
    assert facts.statements[0].text == "#3 cannot_link(2, 3)"


def test_facts_count_groups():
    said = Constraints.build(4, together=[[0, 1]], apart=[[0, 2], [2, 3]])
    facts = gather_facts([0, 0, 1, 1], constraints=said)
    assert [(kind.kind.word, kind.said, kind.held) for kind in facts.kinds] == [("together", 1, 1), ("apart", 2, 1)]


def test_facts_list_members_by_cluster_with_their_names():
    facts = gather_facts(TREE, ids=["w", "x", "y", "z"])
    assert [(c.label, c.size, c.members) for c in facts.clusters] == [(0, 2, ("w", "x")), (1, 2, ("y", "z"))]


def test_facts_of_a_large_cluster_list_only_the_first_members():
    facts = gather_facts(TREE, labels=[0, 0, 0, 0], max_members=3)
    assert facts.clusters[0].size == 4
    assert facts.clusters[0].members == ("0", "1", "2")


def test_a_dendrogram_without_marks_reports_its_trees_as_clusters():
    forest = Dendrogram.from_merges(3, np.array([[0, 1]]), np.array([1.0]))
    facts = gather_facts(forest)
    assert (facts.n_roots, [c.size for c in facts.clusters]) == (2, [2, 1])
    assert "in 2 trees that may not be joined" in render_html(facts)


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (SAID, "All 3 statements hold."),
        (None, "There are no constraints."),
        (Constraints.build(4, cannot_link=[(0, 1)]), "1 hard statement broken."),
        (Constraints.build(4, cannot_link=[(0, 1)], weight=2.0), "Every hard statement holds."),
    ],
)
def test_the_verdict_says_what_happened(said, words):
    assert words in render_html(gather_facts(TREE, constraints=said))


def test_the_page_is_balanced_and_loads_nothing():
    page = render_html(gather_facts(TREE, constraints=SAID, recipe="model.fit(X)", scores=[Score("index", 0.1, 0.9)]))
    parsed = read(page)
    assert not {"link", "img", "iframe", "object", "base"} & set(parsed.tags)
    assert not [value for key, value in parsed.attributes if key in {"src", "action"}]
    assert all(value.startswith("#") for key, value in parsed.attributes if key == "href")
    assert not re.search(r"url\(|@import|https?://(?!www\.w3\.org)", page)
    assert "0.900" in page
    assert "model.fit(X)" in page


EVIL = ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "</script><b>", "a\x00b\ud800\u202e", "'; x"]


def test_names_and_statements_from_the_data_are_only_ever_text():
    tree = Dendrogram.from_merges(5, np.array([[0, 1], [2, 3], [5, 6], [4, 7]]), np.arange(1.0, 5.0))
    said = Constraints.from_ids(EVIL, must_link=[(EVIL[0], EVIL[1])])
    conflict = Conflict((EVIL[0],), EVIL[1], (EVIL[2],))
    page = render_html(
        gather_facts(tree, constraints=said, title=EVIL[0], method=EVIL[1], recipe=EVIL[2], conflicts=[conflict])
    )
    parsed = read(page)
    plain = read(render_html(gather_facts(tree, ids=list("abcde"))))
    assert set(parsed.tags) - set(plain.tags) <= {
        "h1",
        "p",
        "code",
        "ul",
        "li",
        "section",
        "table",
        "tr",
        "td",
        "th",
        "pre",
        "i",
        "b",
        "a",
        "nav",
    }
    assert not [key for key, _ in parsed.attributes if key.startswith("on")]
    assert parsed.tags.count("script") == plain.tags.count("script")
    page.encode("utf-8")


def test_the_same_facts_give_the_same_bytes(tmp_path):
    pages = [write_report(tmp_path / name, TREE, constraints=SAID).read_bytes() for name in ("a.html", "b.html")]
    assert pages[0] == pages[1]


def test_the_drawing_is_well_formed_and_small_even_for_many_leaves():
    n = 30_000
    merges = np.column_stack([np.r_[0, n + np.arange(n - 2)], np.arange(1, n)])
    tree = Dendrogram.from_merges(n, merges, np.arange(1.0, n))
    drawing = tree_svg(gather_facts(tree, labels=np.arange(n) % 2))
    ET.fromstring(drawing)
    assert len(drawing) < 1_000_000


def test_every_sample_can_be_found_by_name():
    page = render_html(gather_facts(TREE, ids=["w", "x", "y", "z"]))
    names = re.search(r'id="names">(.*?)</script>', page)[1]
    clusters = re.search(r'id="labels">(.*?)</script>', page)[1]
    found = dict(zip(eval(names), eval(clusters), strict=True))
    assert found == {"w": 0, "x": 0, "y": 1, "z": 1}


def test_clusters_that_are_no_branches_are_reported_all_the_same():
    facts = gather_facts(TREE, labels=[0, 1, 0, 1], constraints=Constraints.build(4, must_link=[(0, 2)]))
    assert [cluster.size for cluster in facts.clusters] == [2, 2]
    read(render_html(facts))
