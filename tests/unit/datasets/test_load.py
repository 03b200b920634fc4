"""Real data sets: every kind of file is read, what is missing or damaged is said in words."""

from __future__ import annotations

import gzip
import hashlib
import json
import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.utils import Bunch

from linkwise import Taxonomy
from linkwise.datasets import load, names
from linkwise.datasets._load import BUNDLED, CATALOGUE
from linkwise.exceptions import DamagedDatasetError, DatasetNotFoundError, LinkwiseError

GLASS = "id_box,Na,kind,label\nb1,1.5,soft,10\nb2,,hard,2\nb3,0.5,soft,10\n"
TEXT = sparse.csr_array(np.array([[1.0, 0, 2, 0], [0, 0, 0, 3], [4, 0, 0, 0], [0, 0, 5, 0]]))
MANIFEST = """
| set | file | rows×dims×classes | class counts |
|---|---|---|---|
| glass | `glass.csv` | 3×2×2 | 10 2, 2 1 |
| few | derived.json (rows of words.npz) | 2×var.×2 | |
| some text | | 1×1×1 | |
"""


def parts(X=TEXT, **more):
    return {"data": X.data, "indices": X.indices, "indptr": X.indptr, "shape": np.array(X.shape), **more}


def sums(folder):
    lines = [
        f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}"
        for file in sorted(folder.iterdir())
        if file.name != "SHA256SUMS"
    ]
    (folder / "SHA256SUMS").write_text("\n".join(lines) + "\n")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A small folder in the format the loader reads, with everything it may hold."""
    monkeypatch.delenv("LINKWISE_DATA", raising=False)
    (tmp_path / "glass.csv").write_text(GLASS)
    (tmp_path / "packed.csv.gz").write_bytes(gzip.compress(b"x,label\n1,a\n2,b\n"))
    np.savez(
        tmp_path / "words.npz",
        **parts(labels=[0, 1, 2, 1], label_names=["a", "b", "c"], vocabulary=["p", "q", "r", "s"]),
    )
    coarse = {"labels_coarse": [0, 1, 0, 1], "coarse_names": ["top", "other"]}
    np.savez(tmp_path / "k1a.npz", **parts(labels=[0, 1, 2, 1], **coarse))
    topics = {"topic_indices": [0, 1, 1, 0], "topic_indptr": [0, 2, 3, 4, 4], "topic_names": ["t0", "t1"]}
    np.savez(tmp_path / "topics.npz", **parts(**topics))
    derived = {
        "few": {"base": "words", "rows": [1, 2], "labels": None, "drop_empty_columns": True},
        "renamed": {"base": "words", "rows": [3, 0, 1], "columns": [2, 3], "labels": ["z", "y", "z"]},
        "orphan": {"base": "not there", "rows": [0], "labels": None},
    }
    (tmp_path / "derived.json").write_text(json.dumps(derived))
    trees = {
        "words": {"a": "top", "b": "top", "top": ""},
        "topics": {"t0": "", "t1": "t0"},
        "k1a": {"top": "", "other": "", "0": "top", "1": "other", "2": "top"},
    }
    (tmp_path / "hierarchies.json").write_text(json.dumps(trees))
    (tmp_path / "MANIFEST.md").write_text(MANIFEST, encoding="utf-8")
    sums(tmp_path)
    return tmp_path


# -- what is there ------------------------------------------------------------------------------------------------


def test_every_available_set_loads_and_has_the_size_the_catalogue_promises():
    """The bundled ones always; all of a folder when LINKWISE_DATA names one."""
    found = names(available=True)
    assert set(BUNDLED) <= set(found) <= set(names())
    for name in found:
        data = load(name)
        assert data.name == name
        assert data.source
        assert data.description
        assert sum(data.counts.values()) >= data.n_samples  # more when a sample has several classes
        if name in CATALOGUE:
            assert (data.n_samples, data.n_features, data.n_classes) == CATALOGUE[name].shape


def test_a_folder_lists_plain_coarse_and_derived_sets_but_none_without_its_base(folder):
    found = set(names(folder, available=True)) - set(BUNDLED)
    assert found == {"glass", "packed", "words", "k1a", "k1b", "topics", "few", "renamed"}


def test_csv_numbers_words_gaps_and_names(folder):
    data = load("glass", folder)
    np.testing.assert_array_equal(data.X, [[1.5, 1.0], [np.nan, 0.0], [0.5, 1.0]])
    assert data.feature_names == ("Na", "kind")
    assert data.categorical.tolist() == [False, True]
    assert data.label_names == ("2", "10")  # in the order of numbers
    assert data.y.tolist() == [1, 0, 1]
    assert data.ids["box"].tolist() == ["b1", "b2", "b3"]
    assert data.description == CATALOGUE["glass"].what


def test_compressed_csv(folder):
    assert load("packed", folder).X.tolist() == [[1.0], [2.0]]


def test_npz_with_vocabulary_and_taxonomy(folder):
    data = load("words", folder)
    np.testing.assert_array_equal(data.X.toarray(), TEXT.toarray())
    assert data.feature_names == ("p", "q", "r", "s")
    assert isinstance(data.taxonomy, Taxonomy)
    assert data.taxonomy.names.tolist() == ["a", "b", "top"]
    assert data.taxonomy.parent.tolist() == [2, 2, -1]
    assert data.taxonomy.node.tolist() == [0, 1, -1, 1]  # class c is outside the tree


def test_coarse_labels_of_the_same_matrix(folder):
    fine, coarse = load("k1a", folder), load("k1b", folder)
    assert coarse.label_names == ("top", "other")
    assert coarse.y.tolist() == [0, 1, 0, 1]
    assert fine.taxonomy.parent[fine.taxonomy.node].tolist() == coarse.taxonomy.node.tolist()


def test_samples_of_several_classes(folder):
    data = load("topics", folder)
    assert data.y.toarray().tolist() == [[1, 1], [0, 1], [1, 0], [0, 0]]
    assert (data.n_classes, data.counts) == (2, {"t0": 2, "t1": 2})
    assert data.taxonomy.names.tolist() == ["t0", "t1"]
    assert len(data.taxonomy.items) == 0  # there is no one node for each


def test_derived_sets(folder):
    few = load("few", folder)
    np.testing.assert_array_equal(few.X.toarray(), [[0, 3], [4, 0]])
    assert few.feature_names == ("p", "s")
    assert few.label_names == ("b", "c")
    renamed = load("renamed", folder)
    np.testing.assert_array_equal(renamed.X.toarray(), [[5, 0], [2, 0], [0, 3]])
    assert (renamed.label_names, renamed.y.tolist()) == (("y", "z"), [1, 0, 1])


def test_the_environment_names_a_folder_and_an_argument_goes_first(folder, monkeypatch, tmp_path_factory):
    other = tmp_path_factory.mktemp("other")
    (other / "glass.csv").write_text("x,label\n1,a\n2,b\n")
    (other / "iris.csv").write_text("x,label\n1,a\n2,b\n")
    monkeypatch.setenv("LINKWISE_DATA", str(folder))
    assert load("glass").n_samples == 3
    assert load("glass", other).n_samples == 2
    assert load("iris").n_samples == 150  # what is bundled needs no folder
    assert load("iris", other).n_samples == 2
    assert "words" in names()


def test_data_can_be_sent_to_another_process(folder):
    data = pickle.loads(pickle.dumps(load("glass", folder)))
    assert data.feature_names == ("Na", "kind")


# -- what is missing ----------------------------------------------------------------------------------------------


def test_a_missing_set_comes_with_the_ways_to_get_it(monkeypatch):
    monkeypatch.delenv("LINKWISE_DATA", raising=False)
    with pytest.raises(DatasetNotFoundError) as caught:
        load("soybean")
    assert caught.value.name == "soybean"
    assert [way for way in caught.value.ways if "LINKWISE_DATA" in way]
    assert [way for way in caught.value.ways if "download=True" in way]
    assert all(way in str(caught.value) for way in caught.value.ways)
    with pytest.raises(DatasetNotFoundError) as caught:
        load("cstr")  # OpenML has no such set
    assert not [way for way in caught.value.ways if "download" in way]


def test_a_missing_set_names_the_folder_that_was_asked(folder):
    with pytest.raises(DatasetNotFoundError, match=f"is not in {folder}"):
        load("crabs", folder)


@pytest.mark.parametrize("name", ["glas", "../glass", "", "MANIFEST"])
def test_an_unknown_name_is_no_file(folder, name):
    with pytest.raises(DatasetNotFoundError, match="there is no data set called"):
        load(name, folder)


def test_a_folder_that_is_none_is_said(tmp_path):
    with pytest.raises(LinkwiseError, match=r"is not a folder\.\nHint: set LINKWISE_DATA"):
        load("glass", tmp_path / "nowhere")


# -- what is damaged ----------------------------------------------------------------------------------------------


def test_an_altered_file_is_refused_by_its_checksum(folder):
    (folder / "glass.csv").write_text(GLASS.replace("1.5", "1.6"))
    with pytest.raises(DamagedDatasetError, match="SHA256SUMS") as caught:
        load("glass", folder)
    assert caught.value.path == str(folder / "glass.csv")


def test_a_set_of_another_size_than_the_manifest_promises_is_refused(folder):
    (folder / "glass.csv").write_text(GLASS + "b4,1,soft,2\n")
    sums(folder)
    with pytest.raises(DamagedDatasetError, match=r"4 samples, 2 features, 2 classes.* lists 3 samples"):
        load("glass", folder)


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"", "no sample"),
        (b"x,label\n", "no sample"),
        (b"x,y\n1,2\n", "expected 'label'"),
        (b"x,label\n1,a,b\n", "row 2 has 3 cells"),
        (b"x,label\n1,a\n\n", "row 3 has 0 cells"),
        (b"label\na\n", "no feature"),
        (b"x,x,label\n1,2,a\n", "two columns of one name"),
        (b"x,label\n\xff,a\n", "utf-8"),
        (b'x,label\n"1,a\n', "unexpected end"),
    ],
)
def test_a_broken_csv_is_said_in_one_sentence(tmp_path, content, what):
    (tmp_path / "glass.csv").write_bytes(content)
    with pytest.raises(DamagedDatasetError, match=what):
        load("glass", tmp_path)


@pytest.mark.parametrize("cut", [1, 10, 20, 30])
def test_a_cut_gzip_is_damaged(tmp_path, cut):
    content = gzip.compress(GLASS.encode())
    (tmp_path / "glass.csv.gz").write_bytes(content[: len(content) - cut])
    with pytest.raises(DamagedDatasetError, match=r"glass\.csv\.gz cannot be read"):
        load("glass", tmp_path)


@pytest.mark.parametrize(
    "change",
    [
        {"indices": np.array([0, 2, 3, 0, 9])},
        {"indptr": np.array([0, 2, 3, 4])},
        {"indptr": np.array([0, 3, 2, 4, 5])},
        {"shape": np.array([4])},
        {"labels": np.array([0, 1])},
        {"labels": np.array([0, 1, 7, 1])},
        {"labels": np.array([0, 1, -1, 1])},
        {"labels": np.array([{}, 1, 2, 3], dtype=object)},
        {"labels": None},
        {"vocabulary": np.array(["p"])},
    ],
)
def test_a_broken_npz_is_said_in_one_sentence(tmp_path, change):
    held = parts(labels=np.array([0, 1, 2, 1]), label_names=np.array(["a", "b", "c"])) | change
    np.savez(tmp_path / "words.npz", **{key: value for key, value in held.items() if value is not None})
    with pytest.raises(DamagedDatasetError, match=r"words\.npz cannot be read as a data set: .+\nHint"):
        load("words", tmp_path)


def test_a_cut_npz_is_damaged_at_any_place(folder):
    content = (folder / "words.npz").read_bytes()
    (folder / "SHA256SUMS").unlink()
    for length in range(0, len(content), 97):
        (folder / "words.npz").write_bytes(content[:length])
        with pytest.raises(DamagedDatasetError, match="cannot be read"):
            load("words", folder)


@pytest.mark.parametrize("file", ["derived.json", "hierarchies.json"])
@pytest.mark.parametrize("content", ["", "{", "[]", '{"words": 3}'])
def test_broken_json_is_said(folder, file, content):
    (folder / file).write_text(content)
    (folder / "SHA256SUMS").unlink()
    with pytest.raises(DamagedDatasetError, match=file):
        load("words", folder)


@pytest.mark.parametrize(
    "how",
    [
        {"rows": [4], "labels": None},
        {"rows": [-1], "labels": None},
        {"rows": ["x"], "labels": None},
        {"rows": [0], "labels": ["a", "b"]},
        {"rows": [0], "columns": [4], "labels": None},
        {"labels": None},
    ],
)
def test_a_broken_derivation_is_said(folder, how):
    (folder / "derived.json").write_text(json.dumps({"few": {"base": "words", **how}}))
    (folder / "SHA256SUMS").unlink()
    with pytest.raises(DamagedDatasetError, match=r"derived\.json"):
        load("few", folder)


@pytest.mark.parametrize("tree", [{"a": "nobody"}, {"a": "b", "b": "a"}])
def test_a_broken_taxonomy_is_said(folder, tree):
    (folder / "hierarchies.json").write_text(json.dumps({"words": tree}))
    (folder / "SHA256SUMS").unlink()
    with pytest.raises(DamagedDatasetError, match=r"hierarchies\.json"):
        load("words", folder)


# -- OpenML -------------------------------------------------------------------------------------------------------


def zoo():
    rng = np.random.default_rng(0)
    table = rng.integers(2, size=(101, 17)).astype(object)
    table[:, 0] = [f"animal {i}" for i in range(101)]
    table[:, 3] = rng.choice(["yes", "no", None], size=101)
    return Bunch(
        data=table,
        target=np.array([f"class {i % 7}" for i in range(101)]),
        feature_names=["animal", *(f"f{i}" for i in range(16))],
        categories={"f0": ["0", "1"]},
    )


@pytest.fixture
def openml(monkeypatch):
    monkeypatch.delenv("LINKWISE_DATA", raising=False)
    asked, answer = [], {"zoo": zoo}

    def fetch(name, **more):
        asked.append((name, more))
        return answer[name]()

    monkeypatch.setattr("sklearn.datasets.fetch_openml", fetch)
    return asked, answer


def test_downloading_asks_for_a_fixed_version_and_leaves_out_names(openml):
    asked, _ = openml
    data = load("zoo", download=True)
    assert asked == [("zoo", {"version": 1, "as_frame": False, "parser": "liac-arff"})]
    assert data.X.shape == (101, 16)
    assert "animal" not in data.feature_names
    assert data.categorical.tolist() == [True, False, True, *[False] * 13]
    assert set(np.unique(data.X[:, 2][~np.isnan(data.X[:, 2])])) == {0.0, 1.0}
    assert data.n_classes == 7


def test_the_network_is_asked_only_when_told_to(openml):
    asked, _ = openml
    with pytest.raises(DatasetNotFoundError):
        load("zoo")
    assert asked == []


def test_another_edition_is_refused(openml):
    _, answer = openml

    def small():
        bunch = zoo()
        return Bunch(data=bunch.data[:50], target=bunch.target[:50], feature_names=bunch.feature_names, categories={})

    answer["zoo"] = small
    with pytest.raises(DamagedDatasetError, match="expected 101, 16 and 7"):
        load("zoo", download=True)


def test_no_network_is_said_with_the_other_ways(openml):
    _, answer = openml

    def fail():
        raise OSError("no route to host")

    answer["zoo"] = fail
    with pytest.raises(DatasetNotFoundError, match="no route to host") as caught:
        load("zoo", download=True)
    assert any("LINKWISE_DATA" in way for way in caught.value.ways)


def test_a_part_of_a_downloaded_set(openml):
    _, answer = openml
    rng = np.random.default_rng(0)
    labels = np.repeat([str(digit) for digit in range(10)], 1055)
    bunch = Bunch(
        data=rng.random((len(labels), 16)),
        target=labels,
        feature_names=[f"x{i}" for i in range(16)],
        categories={},
    )
    answer["pendigits"] = lambda: bunch
    data = load("digits_389", download=True)
    assert data.label_names == ("3", "8", "9")
    assert data.X.shape == (3165, 16)
