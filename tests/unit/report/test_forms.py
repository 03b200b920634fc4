"""The same facts as page, Markdown and JSON: nothing is lost, nothing hostile acts, nothing grows too large."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

from linkwise import Constraints, Dendrogram
from linkwise.exceptions import LinkwiseError
from linkwise.report import Score, gather_facts, render_html, render_markdown, to_json, write_report
from linkwise.report._facts import Conflict
from linkwise.report._markdown import plain
from tests.counting import calls
from tests.unit.report.test_report import EVIL, read

HOSTILE = [*EVIL, "a|b|c", "`code`", "![x](http://e.vil/y.png)", "line\nbreak", "# heading", "$x$ & co"]


def scene(n, ids=None, seed=0):
    rng = np.random.default_rng(seed)
    merges = np.column_stack([np.r_[0, n + np.arange(n - 2)], np.arange(1, n)])
    tree = Dendrogram.from_merges(n, merges, np.sort(rng.random(n - 1)))
    labels = np.minimum(np.arange(n) * 4 // n, 3)
    X = rng.normal(size=(n, 6)) + labels[:, None]
    pairs = np.array([rng.choice(n, 2, replace=False) for _ in range(min(60, n))])
    same = labels[pairs[:, 0]] == labels[pairs[:, 1]]
    said = Constraints.build(n, must_link=pairs[same], cannot_link=pairs[~same])
    return {
        "result": tree,
        "labels": labels,
        "X": X,
        "before": Dendrogram.from_merges(n, np.arange(2 * n - 2).reshape(-1, 2), np.arange(1.0, n)),
        "constraints": said if ids is None else said.with_ids(ids),
        "ids": ids,
        "features": ids[:6] if ids is not None else None,
        "questions": ids[:5] if ids is not None else ["Do 1 and 2 belong together?"],
        "scores": [Score("index" if ids is None else ids[0], 0.25, 0.75)],
        "conflicts": [] if ids is None else [Conflict(tuple(ids[:3]), ids[1], (ids[2],))],
        "title": "A title" if ids is None else ids[0],
        "recipe": "" if ids is None else "``` " + ids[2],
    }


def test_json_holds_every_fact():
    facts = gather_facts(**scene(40))
    told = json.loads(to_json(facts))
    assert told["n_samples"] == 40
    assert [c["size"] for c in told["clusters"]] == [c.size for c in facts.clusters]
    assert told["clusters"][0]["traits"][0]["difference"] == facts.clusters[0].traits[0].difference
    assert told["comparison"]["n_moved"] == facts.comparison.n_moved
    assert told["comparison"]["changes"][0]["kind"] in ("must_link", "cannot_link")
    assert [k["kind"] for k in told["kinds"]] == [k.kind.word for k in facts.kinds]
    assert told["doubtful"][0]["margin"] == facts.doubtful[0].margin
    assert told["questions"] == list(facts.questions)
    assert not {"sketch", "arcs", "map"} & (set(told) | set(told["comparison"]))
    assert json.loads(to_json(facts, indent=None)) == told


def test_hostile_names_survive_json_unchanged():
    ids = HOSTILE
    told = json.loads(to_json(gather_facts(**scene(len(ids), np.array(ids, dtype=object)))))
    members = [name for c in told["clusters"] for name in c["members"]]
    assert sorted(members) == sorted(ids)


def test_hostile_names_are_text_everywhere_on_the_page():
    ids = np.array(HOSTILE, dtype=object)
    page = render_html(gather_facts(**scene(len(ids), ids)))
    parsed = read(page)
    assert not {"img", "b onclick"} & set(parsed.tags)
    assert parsed.tags.count("script") == 3  # names, labels and the page's own
    assert not [key for key, _ in parsed.attributes if key.startswith("on")]
    assert not [value for key, value in parsed.attributes if key in {"src", "action"}]
    assert all(value.startswith("#") for key, value in parsed.attributes if key == "href")
    assert all("alert" not in (value or "") for key, value in parsed.attributes if key != "title")
    page.encode("utf-8")


def test_identifiers_on_the_page_are_unique():
    page = render_html(gather_facts(**scene(40)))
    found = [value for key, value in read(page).attributes if key == "id"]
    assert len(found) == len(set(found))
    targets = [value[1:] for key, value in read(page).attributes if key == "href"]
    assert set(targets) <= set(found)
    assert len(targets) >= 6


def test_hostile_names_do_not_break_markdown():
    ids = np.array(HOSTILE, dtype=object)
    text = render_markdown(gather_facts(**scene(len(ids), ids)))
    told = text.split("## How to repeat this result")[0]
    assert not re.search(r"(?<!\\)<", told)
    assert not re.search(r"(?<!\\)!\[", told)
    assert "\\|" in text
    tables = [block for block in text.split("\n\n") if block.startswith("|")]
    assert len(tables) >= 3
    for table in tables:
        cells = {len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}
        assert len(cells) == 1  # every row has as many cells as the head
    assert "````python\n``` " in text  # a fence longer than any inside
    text.encode("utf-8")


def test_markdown_and_page_tell_the_same_figures():
    facts = gather_facts(**scene(40))
    page, text = render_html(facts), render_markdown(facts)
    moved = f"{facts.comparison.n_moved} samples of 40"
    assert moved in page
    assert plain(moved) in text
    for doubtful in facts.doubtful:
        assert f"{doubtful.margin:+.2f}" in text
    assert "Do 1 and 2 belong together?" in page
    assert "Do 1 and 2 belong together?" in text


@pytest.mark.parametrize("name", ["r.html", "r.md", "r.json"])
def test_the_ending_of_the_file_decides_the_form(tmp_path, name):
    text = write_report(tmp_path / name, [0, 0, 1]).read_text(encoding="utf-8")
    assert text.startswith({"html": "<!doctype html>", "md": "# Clusters", "json": "{"}[name[2:]])


def test_other_endings_are_refused(tmp_path):
    with pytest.raises(LinkwiseError, match=r"expected \.html, \.md or \.json"):
        write_report(tmp_path / "r.pdf", [0, 0, 1])
    assert not (tmp_path / "r.pdf").exists()


def test_three_thousand_samples_are_reported_in_few_steps_and_megabytes():
    seen = scene(3_000, np.array([f"a rather long name of a sample, {i}" for i in range(3_000)]))
    pages = []
    assert calls(lambda: pages.append(render_html(gather_facts(**seen)))) < 400_000  # 95,000
    page = pages[0]
    assert len(page.encode("utf-8")) < 5_000_000
    read(page)


@pytest.mark.parametrize("labels", [[0, 0, 0, 0], [0, 1, 2, 3], [-1, -1, 5, 5], [7, 7, 7, 9]])
def test_odd_labels_are_reported(labels):
    X = np.arange(8.0).reshape(4, 2)
    tree = Dendrogram.from_merges(4, [(0, 1), (2, 3), (4, 5)], [1.0, 2.0, 3.0])
    facts = gather_facts(tree, labels=labels, X=X, before=[0, 0, 1, 1])
    read(render_html(facts))
    render_markdown(facts)
    assert [c["label"] for c in json.loads(to_json(facts))["clusters"]] == sorted(set(labels))
