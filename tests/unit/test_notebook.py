"""Cards of notebooks: all that print shows, escaped, self-contained, in the colors of reports; short plain forms."""

from __future__ import annotations

import html
import pickle
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

import linkwise
from linkwise import (
    ConstrainedAgglomerative,
    Constraints,
    COPKMeans,
    Dendrogram,
    KnowledgeSearchCV,
    check,
    cluster,
    repair,
    verify,
    why,
)
from linkwise._notebook import DARK, LIGHT, Bar, Table, bars, card
from linkwise.active import Dialogue, Progress
from linkwise.constraints import SizeBetween

NAMES = ["otter", "mink", '<b>"seal"</b>', "trout", "salmon", "a&b"]
SAID = Constraints.from_ids(NAMES, must_link=[("otter", NAMES[2])], cannot_link=[("otter", "trout"), (NAMES[2], "a&b")])
WRONG = SAID | Constraints.from_ids(NAMES, must_link=[(NAMES[2], "trout")])
X = np.array([[0.0], [1.0], [0.5], [8.0], [9.0], [30.0]])
LABELS = [0, 0, 0, 1, 1, 1]


def search():
    rows = np.repeat([[0.0], [5.0], [9.0]], 8, axis=0) + np.random.default_rng(0).normal(size=(24, 1))
    known = Constraints.from_labels([0, 0, 0, -1, -1, -1, -1, -1, 1, 1, 1, -1] + [-1] * 4 + [2] * 3 + [-1] * 5)
    candidates = KnowledgeSearchCV(COPKMeans(random_state=0), {"n_clusters": [2, 3]}, cv=3, random_state=0)
    return candidates.fit(rows, constraints=known)


def things():
    fitted = ConstrainedAgglomerative(3, linkage="average").fit(X, constraints=SAID)
    yield SAID
    yield check(SAID)
    yield check(WRONG)
    yield check(WRONG).explanation
    yield check(SAID, n_clusters=1)
    yield verify(LABELS, SAID)
    yield verify([0, 1, 1, 0, 0, 1], SAID.with_rules(SizeBetween(1, 2)))
    yield repair(SAID)
    yield repair(WRONG)
    yield why(LABELS, 0, 3, SAID)
    yield why(fitted.dendrogram_, 0, 1, SAID)
    yield cluster(X, SAID, 3)
    yield fitted.dendrogram_
    yield Progress(n_asked=3, budget=10, n_implied=4, n_suspects=1, settled=0.25, believed=0.5)


def words_of(page):
    """The words a reader sees."""
    return html.unescape(re.sub(r"<[^>]+>", " ", re.sub(r"<style>.*?</style>", "", page, flags=re.DOTALL))).split()


def test_a_card_tells_every_line_that_print_tells_and_the_plain_form_is_one_short_line():
    for thing in things():
        page = thing._repr_html_()
        seen = " ".join(words_of(page))
        for line in str(thing).split("\n"):
            assert " ".join(line.strip().removeprefix("- ").split()) in seen
        assert '<b>"seal"' not in page
        assert not re.search(r"https?:|src=|href=|@import|url\(|<script", page)
        assert len(repr(thing)) < 160
        assert "\n" not in repr(thing)
        assert "array(" not in repr(thing)


def test_plain_forms_tell_what_was_found():
    assert repr(check(SAID)) == "Verdict(feasible, 2 to 5 clusters)"
    assert repr(check(WRONG)) == "Verdict(infeasible, 3 statements at fault)"
    assert repr(verify(LABELS, SAID)) == "Certificate(3 of 3 hard statements held)"
    assert repr(repair(WRONG)) == "Repair(drops 1 entry, cost 1; no cheaper one exists)"
    assert repr(why(LABELS, 0, 3, SAID)) == "Why(otter and trout: in two clusters, forced apart by 1 statement)"


def test_a_search_shows_its_results_once_it_has_some():
    found = search()
    assert "sk-top-container" in KnowledgeSearchCV(COPKMeans())._repr_html_()  # scikit-learn's diagram
    assert found._repr_html_() == found._repr_mimebundle_()["text/html"] == found.table()._repr_html_()
    seen = " ".join(words_of(found._repr_html_()))
    assert "COPKMeans n_clusters=3 1.000 +- 0.000 100% 100% 1.00 3" in seen
    assert "1 of 2 failed" in seen


def test_text_with_a_table_stays_so_when_pickled():
    table = search().table()
    again = pickle.loads(pickle.dumps(table))
    assert (again, again.html, repr(again)) == (table, table.html, str(table))
    assert isinstance(table, Table)


@given(st.text(), st.text())
def test_no_text_leaves_its_place(text, name):
    page = card(text, more=bars([Bar(name, 2.0, text)], name))
    plain = card("", more=bars([Bar("", 2.0, "")]))
    found = re.findall(r"<(?!/?(?:p|li|ul|code)\b)", page)
    assert len(found) == len(re.findall(r"<(?!/?(?:p|li|ul|code)\b)", plain))


@pytest.mark.parametrize("children", [2, 500])
def test_a_sketch_shows_the_top_of_any_tree(children):
    n = 2_000
    if children == 2:  # a chain
        tree = Dendrogram.from_merges(n, [(0, 1), *((n + t - 1, t + 1) for t in range(1, n - 1))], np.arange(1.0, n))
    else:
        tree = Dendrogram(n, np.r_[n + np.arange(n) // children, [-1] * (n // children)])
    page = tree._repr_html_()
    assert len(page) < 20_000
    assert page.count("Z") >= 1
    drawn, told = page.count("Z"), re.search(r"<p>([\d,]+) wedges?: ([\d,]+) samples", page)
    assert int(told[1]) == drawn
    shown = 4 * children if children > 2 else n  # trees of 500 samples are wedges as a whole
    assert int(told[2].replace(",", "")) == (shown if children > 2 else n - 59)


def test_colors_are_those_of_reports():
    page = (Path(linkwise.__file__).parent / "report" / "page.css").read_text(encoding="utf-8")
    light, dark = page.split("@media (prefers-color-scheme: dark)")[:2]
    for ours, theirs in ((LIGHT, light), (DARK, dark.split("\n}")[0])):
        colors = dict(re.findall(r"(--[a-z-]+): (#[0-9a-f]{6})", ours))
        assert colors.items() <= dict(re.findall(r"(--[a-z-]+): (#[0-9a-f]{6})", theirs)).items()
        assert len(colors) == 11


def test_a_run_asks_until_the_budget_is_used_and_goes_on_after_an_error():
    rows = np.r_[np.zeros((6, 1)), np.full((6, 1), 9.0)] + np.arange(12)[:, None] / 50
    heard = []

    def answer(query):
        heard.append(query.items)
        if len(heard) == 3:
            raise KeyboardInterrupt
        return (query.items[0] < 6) == (query.items[1] < 6)

    talk = Dialogue(rows, budget=5)
    with pytest.raises(KeyboardInterrupt):
        talk.run(answer)
    assert talk.n_asked == 2
    assert talk.run(answer) is talk
    assert (talk.n_asked, len(heard)) == (5, 6)
    assert heard[2] == heard[3]  # the question that was not answered comes again
    free = Dialogue(rows).run(lambda query: (query.items[0] < 6) == (query.items[1] < 6))
    assert free.ask() is None
