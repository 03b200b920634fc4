"""Models as files: a model saved, loaded and saved again gives the same bytes, and no file is ever left unfinished."""

from __future__ import annotations

import io
import json
import os
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse

from linkwise import (
    ConstrainedAgglomerative,
    Constraints,
    COPKMeans,
    Kind,
    ReCon,
    cluster,
    engines,
    load,
    read_data,
    save,
)
from linkwise.constraints import MinSeparation
from linkwise.engines import DistanceLearner, DistBoost, MetricLearner, NeighborhoodPropagation, kept_floats
from linkwise.engines.mixture._gaussian import COVARIANCE_TYPES
from linkwise.exceptions import LinkwiseError, LinkwiseWarning
from linkwise.io._archive import MANIFEST, pack
from tests.contract.discovery import blobs, estimators, truth
from tests.profile import examples

X, Y = blobs(0)
SAID = Constraints.build(len(Y), must_link=truth(Kind.MUST_LINK, Y, 1, 3), cannot_link=truth(Kind.CANNOT_LINK, Y, 1, 3))


@pytest.fixture(scope="module")
def tree_model():
    return ConstrainedAgglomerative(3).fit(X, constraints=SAID)


# -- what comes back ---------------------------------------------------------------------------------------------------


LEARNERS = [cls for cls in estimators(DistanceLearner) if cls is not MetricLearner]


@pytest.mark.parametrize("cls", [*estimators(), *LEARNERS], ids=lambda cls: cls.__name__)
def test_m70_every_method_comes_back_as_it_was(tmp_path, cls):
    kinds = [kind for kind in (Kind.MUST_LINK, Kind.CANNOT_LINK, Kind.TRIPLET) if kind in cls.understands]
    said = Constraints.build(len(Y), **{kind.word: truth(kind, Y, 1, 3) for kind in kinds})
    made = cls(3) if "n_clusters" in cls._parameter_constraints else cls()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LinkwiseWarning)
        made.fit(X, constraints=said)
    save(made, tmp_path / "a.lwm")
    back = load(tmp_path / "a.lwm")
    save(back, tmp_path / "b.lwm")
    assert (tmp_path / "a.lwm").read_bytes() == (tmp_path / "b.lwm").read_bytes()
    assert type(back) is cls
    assert back.get_params() == made.get_params()
    assert back.constraints_ == made.constraints_
    for name in ("labels_", "cluster_centers_", "components_"):
        if hasattr(made, name):
            assert np.array_equal(getattr(back, name), getattr(made, name))
    new = X[:5] + 0.01
    for method in ("predict", "transform", "predict_proba"):
        if hasattr(made, method):
            assert np.array_equal(getattr(back, method)(new), getattr(made, method)(new))
    if hasattr(made, "dendrogram_"):
        assert back.dendrogram_ == made.dendrogram_
        assert str(back.certificate_) == str(made.certificate_)


@pytest.mark.parametrize(
    "made",
    [
        ConstrainedAgglomerative(3, linkage="average", metric="cosine"),
        ConstrainedAgglomerative(3, linkage="ward"),
        ReCon(3, warm_start=True),
        COPKMeans(3, init=X[:3], random_state=np.random.RandomState(5)),
    ],
    ids=["metric", "ward", "warm start", "array and random state"],
)
def test_parameters_of_any_plain_kind_come_back(tmp_path, made):
    made.fit(np.abs(X), constraints=SAID)
    save(made, tmp_path / "a")
    back = load(tmp_path / "a")
    save(back, tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert np.array_equal(back.predict(np.abs(X)), made.predict(np.abs(X)))


@pytest.mark.parametrize(
    ("made", "form"),
    [
        (NeighborhoodPropagation(), np.asarray),
        (NeighborhoodPropagation(metric="cosine", n_neighbors=3), np.asarray),
        (NeighborhoodPropagation(), scipy.sparse.csr_array),
        (NeighborhoodPropagation(), lambda X: np.hstack([X, X**2, X**3, X**4, X**5])),  # too many to be whitened
        *((DistBoost(2, n_rounds=3, covariance_type=kind, random_state=0), np.asarray) for kind in COVARIANCE_TYPES),
    ],
)
def test_what_answers_by_more_than_arrays_comes_back(tmp_path, made, form):
    made.fit(form(X), constraints=SAID)
    save(made, tmp_path / "a")
    back = load(tmp_path / "a")
    save(back, tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    how = "predict" if hasattr(made, "predict") else "transform"
    new = form(X[::2] + 0.01)
    assert np.array_equal(getattr(back, how)(new), getattr(made, how)(new))


@pytest.fixture
def new_method(monkeypatch):
    """An estimator as a contributor writes it: parts of a family, listed in the door of `linkwise.engines`."""

    class NewMethod(COPKMeans):
        pass

    names = dir(engines)
    monkeypatch.setattr(engines, "NewMethod", NewMethod, raising=False)
    monkeypatch.setattr(engines, "__dir__", lambda: [*names, "NewMethod"])
    return NewMethod


def test_a_new_method_of_a_family_is_saved_as_its_family_declares(tmp_path, new_method):
    made = new_method(3, random_state=0).fit(X, constraints=SAID)
    save(made, tmp_path / "a")
    back = load(tmp_path / "a")
    assert type(back) is new_method
    assert np.array_equal(back.predict(X), made.predict(X))


def test_an_attribute_that_is_not_declared_is_refused(tmp_path, new_method):
    made = new_method(3, random_state=0).fit(X, constraints=SAID)
    made.tails_ = np.ones(3)
    with pytest.raises(
        LinkwiseError, match=r"NewMethod\.tails_ is not a parameter.*\nHint: remove it with `del model\.tails_`"
    ):
        save(made, tmp_path / "a")
    new_method._saved = {"tails_": kept_floats(lambda model: (len(model.cluster_centers_),), least=0)}
    save(made, tmp_path / "a")
    assert load(tmp_path / "a").tails_.tolist() == [1, 1, 1]
    made.tails_ = -np.ones(3)
    save(made, tmp_path / "a")
    with pytest.raises(LinkwiseError, match="tails_ has values below 0"):
        load(tmp_path / "a")
    del made.tails_
    save(made, tmp_path / "a")
    with pytest.raises(LinkwiseError, match="tails_ is missing"):
        load(tmp_path / "a")


def test_the_hint_fits_what_cannot_be_saved(tmp_path):
    odd = NeighborhoodPropagation().fit(X, constraints=SAID)
    odd._reach = object()
    with pytest.raises(LinkwiseError, match=r"_reach is a object.*\nHint: this is a bug in linkwise.*joblib"):
        save(odd, tmp_path / "a")
    odd = ConstrainedAgglomerative(2, linkage="average", metric=lambda a, b: abs(a - b).sum()).fit(X)
    with pytest.raises(LinkwiseError, match=r"metric is a function.*\nHint: use a name or a number"):
        save(odd, tmp_path / "a")


def test_names_rules_groups_and_sparse_samples_come_back(tmp_path):
    import pandas as pd

    frame = pd.DataFrame(X, columns=["über", "b"], index=[f"s{i}" for i in range(len(X))])
    said = Constraints.from_ids(frame.index, together=[["s0", "s1", "s2"]], rules=[MinSeparation(0.001)])
    made = ConstrainedAgglomerative(2).fit(frame, constraints=said)
    save(made, tmp_path / "a")
    back = load(tmp_path / "a")
    assert back.constraints_ == made.constraints_
    assert back.constraints_.rules == (MinSeparation(0.001),)
    assert back.feature_names_in_.tolist() == ["über", "b"]
    assert np.array_equal(back.predict(frame), made.predict(frame))
    words = scipy.sparse.random(12, 30, density=0.4, format="csr", random_state=0)
    made = ConstrainedAgglomerative(2, linkage="average", metric="cosine").fit(words)
    save(made, tmp_path / "b")
    assert np.array_equal(load(tmp_path / "b").predict(words), made.predict(words))


def test_labels_behind_statements_come_back_and_forged_ones_do_not(tmp_path):
    known = Constraints.from_labels(np.where(np.arange(len(Y)) < 6, Y, -1))
    path = tmp_path / "labels.lwm"
    save(ConstrainedAgglomerative(3).fit(X, constraints=known), path)
    again = load(path).constraints_
    assert again == known
    for one, other in zip(again.labels, known.labels, strict=True):
        assert one.tolist() == other.tolist()
    assert again.entries() == known.entries()
    torn = known._replace(
        labels=known.labels._replace(owner=np.where(np.arange(known.n_statements) == 0, -1, known.labels.owner))
    )
    model = ConstrainedAgglomerative(3).fit(X, constraints=known)
    model.constraints_ = torn  # a statement of the labels is missing among theirs
    save(model, path)
    with pytest.raises(LinkwiseError, match="statements that follow from labels are missing"):
        load(path)


def test_what_cluster_found_comes_back_with_its_reasons_and_data(tmp_path):
    text = "name,x,y\n" + "".join(f"n{i},{a},{b}\n" for i, (a, b) in enumerate(X.tolist()))
    table = read_data(io.StringIO(text), id="name", scale="standard")
    found = cluster(table.X, SAID, n_clusters=3)
    save(found, tmp_path / "a", data=table)
    back, data = load(tmp_path / "a", with_data=True)
    assert back.reasons == found.reasons
    assert np.array_equal(back.labels, found.labels)
    assert data.ids.tolist() == table.ids.tolist()
    assert data.notes == table.notes
    new = read_data(io.StringIO("y,name,x\n3,new,2\n"), like=data)
    assert new.ids.tolist() == ["new"]
    assert back.estimator.predict(new.X) == found.estimator.predict(read_data(io.StringIO("x,y\n2,3\n"), like=table).X)
    save(back, tmp_path / "b", data=data)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert load(tmp_path / "a").n_clusters == 3


def test_a_column_of_texts_may_hold_the_word_it_is_called(tmp_path):
    table = read_data(io.StringIO("id,words\na,words and deeds\nb,words\nc,deeds\n"), id="id", text="words")
    save(ConstrainedAgglomerative(metric="cosine").fit(table.X), tmp_path / "m.lwm", data=table)
    assert load(tmp_path / "m.lwm", with_data=True)[1].columns == table.columns


def test_only_the_preparation_can_be_kept(tmp_path, tree_model):
    table = read_data(io.StringIO("t\nred fox\nbrown fox dog\n"), text="t")
    save(tree_model, tmp_path / "a", data=table.preparation)
    _, how = load(tmp_path / "a", with_data=True)
    assert read_data(io.StringIO("t\ndog\n"), like=how).X.toarray().tolist() == [[0, 1, 0, 0]]


def test_any_zip_program_can_open_it(tmp_path, tree_model):
    save(tree_model, tmp_path / "a")
    with zipfile.ZipFile(tmp_path / "a") as archive:
        assert archive.testzip() is None
        manifest = json.loads(archive.read(MANIFEST))
        assert archive.namelist() == [MANIFEST, *(name for name, *_ in manifest["members"])]
        assert np.load(io.BytesIO(archive.read("arrays/0.npy")), allow_pickle=False).size
    assert manifest["format"] == "linkwise.model/1"


def test_a_large_model_uses_the_larger_fields_of_zip(tmp_path, monkeypatch, tree_model):
    save(tree_model, tmp_path / "a")
    with zipfile.ZipFile(tmp_path / "a") as archive:
        monkeypatch.setattr("linkwise.io._archive.LIMIT", archive.getinfo(MANIFEST).file_size + 1)
    wide = ConstrainedAgglomerative(2).fit(np.random.default_rng(0).normal(size=(20, 60)))
    save(wide, tmp_path / "b")
    with zipfile.ZipFile(tmp_path / "b") as archive:
        assert archive.testzip() is None
        assert any(member.extra for member in archive.infolist())
    assert np.array_equal(load(tmp_path / "b").labels_, wide.labels_)


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (ConstrainedAgglomerative(2), "not fitted yet"),
        (zipfile.ZipFile, "expected a fitted linkwise estimator"),
        (ConstrainedAgglomerative(2, linkage="average", metric=lambda a, b: abs(a - b).sum()).fit(X), "is a function"),
    ],
    ids=["unfitted", "foreign", "function"],
)
def test_what_cannot_be_saved_is_said_and_leaves_no_file(tmp_path, model, words):
    with pytest.raises(LinkwiseError, match=words):
        save(model, tmp_path / "a")
    assert list(tmp_path.iterdir()) == []


# -- saving ------------------------------------------------------------------------------------------------------------


def test_m65_a_full_disk_keeps_the_old_file(tmp_path, monkeypatch, tree_model):
    save(tree_model, tmp_path / "a")
    before = (tmp_path / "a").read_bytes()

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space left"):
        save(COPKMeans(2, random_state=0).fit(X), tmp_path / "a")
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
    assert (tmp_path / "a").read_bytes() == before


def test_m66_a_process_that_dies_at_any_write_leaves_the_old_file_or_the_new(tmp_path, monkeypatch, tree_model):
    import linkwise.io._model as home

    other = COPKMeans(2, random_state=0).fit(X)
    save(tree_model, tmp_path / "a")
    save(other, tmp_path / "b")
    old, new = (tmp_path / "a").read_bytes(), (tmp_path / "b").read_bytes()
    n_writes = 2 * len(zipfile.ZipFile(tmp_path / "b").namelist()) + 1
    seen = set()
    for last in range(0, n_writes + 20, examples(7, 1)):
        child = os.fork()
        if child == 0:  # only this copy of the process dies

            def dying(parts, last=last):
                for number, part in enumerate(pack(parts)):
                    if number == last:
                        os._exit(9)
                    yield part

            monkeypatch.setattr(home, "pack", dying)
            save(other, tmp_path / "a")
            os._exit(0)
        os.waitpid(child, 0)
        found = (tmp_path / "a").read_bytes()
        assert found in (old, new)
        seen.add(found)
        (tmp_path / "a").write_bytes(old)
    assert seen == {old, new}


def test_m67_of_two_savers_one_wins_whole(tmp_path, tree_model):
    from threading import Thread

    both = [tree_model, COPKMeans(2, random_state=0).fit(X)]
    threads = [Thread(target=save, args=(model, tmp_path / "a")) for model in both * 5]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert type(load(tmp_path / "a")) in {type(model) for model in both}
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_m68_many_loads_leak_no_descriptor(tmp_path, tree_model):
    save(tree_model, tmp_path / "a")
    (tmp_path / "b").write_bytes((tmp_path / "a").read_bytes()[:-1])
    count = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(examples(50, 10_000)):
        load(tmp_path / "a")
        with pytest.raises(LinkwiseError):
            load(tmp_path / "b")
    assert len(list(Path("/proc/self/fd").iterdir())) <= count


def test_m69_a_deep_tree_saves_loads_and_predicts(tmp_path):
    n = examples(2_000, 20_000)
    chain = np.cumsum(np.arange(n, dtype=np.float64))[:, None]
    made = ConstrainedAgglomerative(2, linkage="single").fit(chain)
    save(made, tmp_path / "a")
    assert np.array_equal(load(tmp_path / "a").predict(chain[:50]), made.predict(chain[:50]))


def test_tables_saved_before_missing_values_were_marked_are_read():
    from linkwise.io._saved_values import Reader, Writer

    arrays = []

    def store(array):
        arrays.append(array)
        return len(arrays) - 1

    table = read_data(io.StringIO("a,b\n1,2\n3,\n5,6\n"), impute="mean", scale="standard")
    node = Writer(store).write(table, "data")
    again = Reader(arrays.__getitem__).read(node)
    assert np.allclose(again.values, [[1, 2], [3, np.nan], [5, 6]], equal_nan=True)
    for record, names in ((node, ["missing"]), (node["fields"]["preparation"], ["decimal", "missing"])):
        for name in names:
            del record["fields"][name]
    old = Reader(arrays.__getitem__).read(node)
    assert np.allclose(old.values, [[1, 2], [3, 4], [5, 6]])
    assert (old.preparation.decimal, old.preparation.missing) == (".", ())
