"""Clusters and nodes are named after clades, classes or terms; texts are shown with their terms marked."""

from __future__ import annotations

import io

import numpy as np

from linkwise import Constraints, Dendrogram, Taxonomy, read_data, read_knowledge
from linkwise.report import gather_facts, render_html, render_markdown

ANIMALS = ["wolf", "fox", "jackal", "cat", "lion", "seal", "walrus", "bear"]
NEWICK = "(((wolf,fox,jackal)Canidae,(cat,lion)Felidae)land,(seal,walrus)Pinnipedia)Carnivora;"


def zoo():
    return Taxonomy.from_newick(NEWICK, ANIMALS)  # the bear is not in it


def named(labels, *, tree=None, **given):
    facts = gather_facts(labels if tree is None else tree, labels=None if tree is None else labels, **given)
    return facts.cluster_names, dict(facts.node_names)


def test_a_cluster_with_the_samples_of_a_clade_has_its_name():
    clusters, _ = named([0, 0, 0, 1, 1, 2, 2, 2], taxonomies=[zoo()], ids=ANIMALS)
    assert clusters == {0: "Canidae", 1: "Felidae", 2: "Pinnipedia"}  # the bear is nowhere, so it does not count


def test_other_clusters_are_named_after_the_best_overlap_and_say_so():
    clusters, _ = named([0, 0, 1, 1, 1, 2, 2, 3], taxonomies=[zoo()])
    assert clusters == {0: "part of Canidae", 1: "part of land", 2: "Pinnipedia"}
    clusters, _ = named([0, 0, 0, 0, 1, 1, 1, 1], taxonomies=[zoo()])
    assert clusters == {0: "part of land", 1: "Pinnipedia and more"}
    clusters, _ = named([0, 0, 1, 1, 1, 0, 1, 1], taxonomies=[zoo()])
    assert clusters == {0: "mostly Canidae"}  # two of three, and one other; no clade has half of the rest
    assert named([0] * 8, taxonomies=[zoo()])[0] == {0: "Carnivora"}


def test_a_cluster_of_whole_clades_has_all_their_names():
    four = Taxonomy.from_newick(
        "((wolf,fox,jackal)Canidae,((cat,lion)Felinae)Felidae,(seal,walrus)Pinnipedia,bear);", ANIMALS
    )
    clusters, _ = named([0, 0, 0, 0, 0, 1, 1, 1], taxonomies=[four])
    assert clusters == {0: "Canidae and Felinae", 1: "Pinnipedia and more"}  # of clades alike the deepest
    assert named([0, 0, 0, 0, 0, 0, 0, 1], taxonomies=[four])[0] == {0: "Canidae, Felinae and Pinnipedia"}
    assert named([0, 0, 0, 0, 1, 1, 1, 1], taxonomies=[four])[0] == {0: "Canidae and more", 1: "Pinnipedia and more"}


def test_a_cluster_of_one_sample_is_called_like_it_where_clusters_have_names():
    labels = [0, 0, 0, 1, 1, 2, 2, 3]
    assert named(labels, taxonomies=[zoo()], ids=ANIMALS)[0][3] == "bear"
    assert 3 not in named(labels, taxonomies=[zoo()])[0]  # a number says nothing
    assert named(labels, ids=ANIMALS)[0] == {}


def test_nodes_of_the_tree_are_named_after_clades_they_hold_exactly():
    merges = [(0, 1), (8, 2), (3, 4), (9, 10), (5, 6), (12, 7), (11, 13)]
    tree = Dendrogram.from_merges(8, merges, np.arange(1.0, 8.0))
    clusters, nodes = named([0, 0, 0, 1, 1, 2, 2, 2], tree=tree, taxonomies=[zoo()])
    assert nodes == {9: "Canidae", 10: "Felidae", 11: "land", 12: "Pinnipedia", 14: "Carnivora"}
    assert clusters[2] == "Pinnipedia"
    text = tree.to_newick(node_names=nodes)
    assert Taxonomy.from_newick(text).names.tolist().count("Canidae") == 1
    torn = Dendrogram.from_merges(8, [(0, 3), (8, 1), (9, 2)], [1.0, 2.0, 3.0])
    assert named([0, 0, 0, 0, 1, 2, 3, 4], tree=torn, taxonomies=[zoo()])[1] == {
        10: "part of land"
    }  # the cluster; no clade


def test_a_deep_taxonomy_is_named_without_recursion():
    n = 3_000
    taxonomy = Taxonomy(np.arange(-1, n - 1), np.arange(n), names=[f"level {i}" for i in range(n)])
    clusters, _ = named(np.arange(n) // 1_500, taxonomies=[taxonomy])
    assert clusters == {1: "level 1500"}


def test_classes_of_labeled_samples_name_clusters_and_numbers_do_not():
    said = read_knowledge(io.StringIO("sample,label\nwolf,dog\nfox,dog\ncat,feline\n"), ANIMALS).constraints
    assert named([0, 0, 0, 1, 1, 2, 2, 2], constraints=said)[0] == {0: "dog", 1: "feline"}
    groups = read_knowledge(
        io.StringIO("sample,group\nwolf,dogs\nfox,dogs\ncat,cats\nlion,cats\n"), ANIMALS
    ).constraints
    assert named([0, 0, 0, 1, 1, 2, 2, 2], constraints=groups)[0] == {0: "dogs", 1: "cats"}
    numbers = Constraints.from_labels([0, 0, -1, 1, 1, -1, -1, -1])
    assert named([0, 0, 0, 1, 1, 2, 2, 2], constraints=numbers)[0] == {}


def test_the_taxonomies_of_files_have_all_samples_in_order():
    rows = "sample,path\nlion,land/feline\ncat,land/feline\nwolf,land/dog\nfox,land/dog\n"
    read = read_knowledge(io.StringIO(rows), ANIMALS)
    assert named([0, 0, 1, 2, 2, 1, 1, 1], taxonomies=read.taxonomies)[0] == {0: "dog", 2: "feline"}


def texts():
    common = ["the puck and the goalie on the ice today", "orbit of the moon and the shuttle in space tonight"]
    rows = "".join(f'n{i},"{common[i % 2]} number {i} by signer{i}"\n' for i in range(12))
    return read_data(io.StringIO(f"note,body\n{rows}"), id="note", text="body")


def test_texts_are_shown_with_terms_and_name_their_clusters():
    table = texts()
    labels = np.arange(12) % 2
    facts = gather_facts(labels, X=table.X, features=table.columns, ids=table.ids, texts=table.texts)
    assert set(facts.cluster_names[0].split(", ")) <= {"puck", "goalie", "on", "ice", "today"}
    assert not any("signer" in name for name in facts.cluster_names.values())
    assert facts.clusters[0].texts[0].startswith("the puck and the goalie")
    page = render_html(facts)
    assert "<mark>goalie</mark>" in page
    assert facts.cluster_names[1] in page
    assert f"### Cluster 0, {facts.cluster_names[0]}: 6 samples" in render_markdown(facts)
    assert "**goalie**" in render_markdown(facts)
    assert facts.doubtful == () or facts.doubtful[0].text


def test_long_texts_are_cut_after_a_word_and_hostile_ones_escaped():
    body = "<script>alert(1)</script> " + "goalie " * 400
    table = read_data(io.StringIO(f"body\n{body}\npuck goalie\nmoon orbit\nmoon orbit\n"), text="body")
    facts = gather_facts([0, 0, 1, 1], X=table.X, features=table.columns, texts=table.texts)
    shown = facts.clusters[0].texts
    long = next(text for text in shown if "script" in text)
    assert len(long) <= 120
    assert long.endswith("goalie…")
    assert "<script>alert" not in render_html(facts)
