"""Clusters that are branches or not, and forests as one tree: in the command, the picture and the report."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest
from matplotlib.figure import Figure

from linkwise import Constraints, Dendrogram, ReCon, cluster, load
from linkwise.cli import main
from linkwise.exceptions import LinkwiseError
from linkwise.io import read_tree
from linkwise.plots import plot_dendrogram
from linkwise.report import gather_facts, render_html, render_markdown
from tests.oracles import newick

X = np.concatenate([np.arange(8.0), 100 + np.arange(8.0), [1000.0, 1000.1, 1000.2]])[:, None]
TOLD = Constraints.build(19, triplets=[(0, 1, 2)])
NAMES = [f"it's {i}_ä" if i % 2 else f"sample {i}" for i in range(19)]


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with (tmp_path / "data.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([["name", "x"], *([n, repr(float(x))] for n, x in zip(NAMES, X[:, 0], strict=True))])
    with (tmp_path / "said.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([["kind", "a", "b", "c"], ["triplet", NAMES[0], NAMES[1], NAMES[2]]])
    with (tmp_path / "apart.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([["kind", "a", "b"], ["cannot_link", NAMES[0], NAMES[16]]])
    return tmp_path


def run(capsys, *arguments):
    assert main([*arguments]) == 0
    return capsys.readouterr().out


# -- clusters that are branches, and clusters that are not ------------------------------------------------------------

BASE = ("cluster", "data.csv", "--id", "name", "-c", "said.csv", "-k", "2", "-o", "out", "--force")


def is_branch(tree, members):
    node = members[0]
    for other in members[1:]:
        node = tree.lca(node, other)
    return tree.leaf_count[node] == len(members)


def test_the_command_cuts_branches_when_asked(here, capsys):
    assert load_after(capsys).min_cluster_size == "auto"  # as in `linkwise.cluster`
    told = run(capsys, *BASE, "--min-cluster-size", "1")
    model = load("out/model.lwm")
    assert model.min_cluster_size == 1
    for label in range(2):
        assert is_branch(model.dendrogram_, np.flatnonzero(model.labels_ == label).tolist())
    assert "given to" not in told
    page = (here / "out" / "report.html").read_text(encoding="utf-8")
    assert "outside the branch" not in page
    assert "min_cluster_size=1" in page.split("How to repeat this result")[-1].split("</pre>")[0]


def load_after(capsys, *arguments):
    run(capsys, *BASE, *arguments)
    return load("out/model.lwm")


def test_the_command_says_what_was_moved_everywhere(here, capsys):
    told = run(capsys, *BASE, "--min-cluster-size", "4")
    words = "3 samples in 1 branch of fewer than 4 samples were given to another cluster, so cluster 1 is not a branch"
    assert words in told
    assert "--min-cluster-size 1 makes every cluster a branch of the tree." in told
    page = (here / "out" / "report.html").read_text(encoding="utf-8")
    assert words in page
    assert "hatched: 3 samples outside the branch of the cluster" in page
    assert "--min-cluster-size 4" in page
    assert "min_cluster_size=4" in page
    spoken = json.loads(run(capsys, *BASE, "--min-cluster-size", "4", "--json"))
    assert spoken["moved"] == 3
    assert words in spoken["remarks"][0]
    why = run(capsys, "why", "out", NAMES[0], NAMES[16])
    assert "too small to be a cluster (fewer than 4) and was given to cluster 1." in why
    assert "above the cut" not in why


def test_outliers_are_given_to_the_nearest_cluster_unless_branches_are_asked_for(here, capsys):
    (here / "data.csv").write_text("name,x\n" + "".join(f"{n},{x}\n" for n, x in enumerate([*range(40), 9000.0])))
    (here / "said.csv").write_text("kind,a,b,c\ntriplet,0,1,2\n")
    told = run(capsys, *BASE)
    assert "1 sample in 1 branch of fewer than 8 samples was given" in told
    assert "--min-cluster-size 1 makes every cluster a branch of the tree." in told
    told = run(capsys, *BASE, "--min-cluster-size", "1")
    assert "one cluster holds 40 of 41 samples" in told
    assert "was given" not in told


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["-k", "2", "-c", "apart.csv"], "goes with triplets alone, but there are others"),
        (["-k", "2", "-c", "said.csv", "--method", "ihac"], "goes with ReCon, but the method is IHAC"),
        (["-k", "2", "-c", "apart.csv", "-c", "said.csv"], "goes with triplets alone"),
        (["-k", "auto", "-c", "said.csv"], "goes with a number of clusters"),
        (["--height", "3", "-c", "said.csv"], "goes with a number of clusters"),
    ],
)
def test_sizes_that_would_do_nothing_are_refused(here, capsys, arguments, words):
    assert main(["cluster", "data.csv", "--id", "name", "-o", "out", "--min-cluster-size", "4", *arguments]) == 2
    assert words in capsys.readouterr().err
    assert not (here / "out").exists()


def test_the_front_door_has_both_forms():
    moved = cluster(X, TOLD, 2, min_cluster_size=4)
    assert moved.estimator.moved_.samples.tolist() == [16, 17, 18]
    assert "were given to another cluster, so cluster 1 is not a branch of the tree." in str(moved)
    for size in (1, None):
        plain = cluster(X, TOLD, 2, min_cluster_size=size)
        assert not len(plain.estimator.moved_)
        assert plain.dendrogram.cut_marked().tolist() == plain.labels.tolist()
    assert cluster(X, TOLD, 2).estimator.min_cluster_size == "auto"
    pairs = Constraints.build(19, must_link=[(0, 1)])
    for said, k, words in (
        (TOLD, None, "a number of clusters, but n_clusters is None"),
        (TOLD, "auto", "a number of clusters, but n_clusters is 'auto'"),
        (pairs, 2, "triplets alone, but there are others"),
        (TOLD | pairs, 2, "triplets alone, but there are others"),
        (None, 2, "triplets alone, but there are none"),
    ):
        with pytest.raises(LinkwiseError, match=words):
            cluster(X, said, k, min_cluster_size=4)
    for size in (0, 1.5, "big"):
        with pytest.raises(LinkwiseError, match="min_cluster_size is"):
            cluster(X, TOLD, 2, min_cluster_size=size)


def test_the_picture_writes_every_number_once():
    model = ReCon(2, min_cluster_size=4).fit(X, constraints=TOLD)
    ax = plot_dendrogram(model.dendrogram_, labels=model.labels_, ax=Figure(figsize=(9, 5)).subplots())
    written = [text.get_text() for text in ax.texts]
    assert sorted(written) == ["0", "1", "→ 1"]
    assert "outside the branch of the cluster (3)" in [text.get_text() for text in ax.get_legend().get_texts()]
    assert sum(collection.get_hatch() is not None for collection in ax.collections) == 1
    plain = ReCon(2).fit(X, constraints=TOLD)
    ax = plot_dendrogram(plain.dendrogram_, labels=plain.labels_, ax=Figure(figsize=(9, 5)).subplots())
    assert sorted(text.get_text() for text in ax.texts) == ["0", "1"]
    assert ax.get_legend() is None


def test_reports_of_bare_labels_say_what_is_not_a_branch():
    tree = Dendrogram.from_merges(4, [(0, 1), (2, 3), (4, 5)], [1.0, 2.0, 3.0])
    facts = gather_facts(tree, labels=[0, 0, 1, 0])
    assert facts.remarks == (
        "1 sample in 1 branch is outside the branch of its cluster: cluster 0 is not a branch of the tree.",
    )
    assert facts.remarks[0] in render_html(facts)
    assert facts.remarks[0] in render_markdown(facts)
    assert gather_facts(tree, labels=[0, 0, 1, 1]).remarks == ()


# -- one tree ---------------------------------------------------------------------------------------------------------


def test_tree_nwk_is_one_tree_with_every_sample(here, capsys):
    options = ("cluster", "data.csv", "--id", "name", "-c", "apart.csv", "-k", "2", "-o", "out")
    told = run(capsys, *options)
    assert "merging left 2 trees; tree.nwk holds them as one, joined at height" in told
    page = (here / "out" / "report.html").read_text(encoding="utf-8")
    assert "tree.nwk holds them as one" in page
    text = (here / "out" / "tree.nwk").read_text(encoding="utf-8")
    leaves, inner = newick.read(text)
    assert set(leaves) == set(NAMES)
    assert [notes for _, notes in inner if notes] == [["&&NHX:linkwise_join=2"]]
    model = load("out/model.lwm")
    assert not model.dendrogram_.is_joined
    forest = read_tree("out/tree.nwk").parted()
    assert forest.n_roots == model.dendrogram_.n_roots == 2
    why = run(capsys, "why", "out/tree.nwk", NAMES[0], NAMES[16])
    assert "They never meet: they are in different trees." in why
    run(capsys, "plot", "out/tree.nwk", "-o", "tree.png")
    assert (here / "tree.png").exists()


def test_trees_that_are_whole_are_not_joined(here, capsys):
    told = run(capsys, *BASE)
    assert "joined" not in told
    assert "linkwise_join" not in (here / "out" / "tree.nwk").read_text(encoding="utf-8")


def test_convert_joins_for_other_programs_and_keeps_trees_apart_in_json(here, capsys):
    run(capsys, "cluster", "data.csv", "--id", "name", "-c", "apart.csv", "-k", "2", "-o", "out")
    assert "2 trees of 19 samples, joined above every merge." in run(capsys, "convert", "out", "tree.npy")
    assert np.load("tree.npy").shape == (18, 4)
    assert "2 trees of 19 samples, kept apart." in run(capsys, "convert", "out/tree.nwk", "tree.json")
    assert read_tree("tree.json").n_roots == 2
    run(capsys, "convert", "tree.json", "tree.nwk")
    assert set(newick.read((here / "tree.nwk").read_text(encoding="utf-8"))[0]) == set(NAMES)
