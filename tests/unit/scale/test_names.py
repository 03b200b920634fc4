"""Names of rows in runs over blocks are compared as they are written; a table of statements is about row numbers."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from linkwise import Constraints
from linkwise.exceptions import ConstraintError, ScaleError
from linkwise.scale import check_files, cluster

N = 40
rng = np.random.default_rng(0)
X = np.concatenate([rng.normal(0, 1, (N // 2, 2)), rng.normal(9, 1, (N // 2, 2))])
WIDE = np.arange(N, dtype=np.uint64) + np.uint64(2**63 - 3)


def write_data(path, names=None, **more):
    columns = {"x": X[:, 0], "y": X[:, 1]} | ({} if names is None else {"name": names}) | more
    pq.write_table(pa.table(columns), path)
    return path


def run(tmp_path, names, said, **options):
    """Cluster with statements about columns of names; return the cluster of each name."""
    data = write_data(tmp_path / "data.parquet", names)
    found = cluster(data, said, 2, id="name", block_rows=15, out=tmp_path / "out", **options)
    table = pq.read_table(tmp_path / "out" / "labels")
    return found, dict(zip(table.column("name").to_pylist(), table.column("cluster").to_pylist(), strict=True))


FORMS = {
    "words that are numbers": [str(i) for i in range(N)],
    "words with zeros": [f"{i:03d}" for i in range(N)],
    "numbers": [*range(N)],
    "numbers of a dictionary": pa.array([f"{i}" for i in range(N)]).dictionary_encode(),
    "beyond 2^63": WIDE,
    "negative": np.arange(N) - 20,
    "ü and commas": [f"ü,{i}" for i in range(N)],
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
@pytest.mark.parametrize("tree", [False, True])
def test_statements_name_rows_as_they_are_written(tmp_path, form, suffix, tree):
    """A must-link across the two blobs, and a cannot-link inside one: neither holds unless it is read."""
    names = FORMS[form]
    listed = names.to_pylist() if isinstance(names, pa.DictionaryArray) else [*names]
    table = pa.table(
        {
            "kind": ["must_link", "cannot_link"],
            "a": pa.array([listed[2], listed[4]]),
            "b": pa.array([listed[30], listed[5]]),
        }
    )
    said = tmp_path / f"said{suffix}"
    if suffix == ".csv":
        from pyarrow import csv

        csv.write_csv(table, said)
    else:
        pq.write_table(table, said)
    found, label = run(tmp_path, names, said, tree=tree, top=5)
    assert found.certificate.ok
    assert (found.certificate.must_links, found.certificate.cannot_links) == (1, 1)
    assert not tree or found.tree_certificate.ok
    assert label[listed[2]] == label[listed[30]]
    assert label[listed[4]] != label[listed[5]]
    assert [*label] == listed


def test_words_in_a_later_part_of_a_file_are_read(tmp_path):
    """Numbers fill the first megabyte of the file; then come words."""
    many = 90_000
    rows = ["must_link,0,1"] * many + ["cannot_link,x7,0"]
    (tmp_path / "said.csv").write_text("\n".join(["kind,a,b", *rows]))
    found, label = run(tmp_path, [*map(str, range(N - 1)), "x7"], tmp_path / "said.csv")
    assert found.certificate.must_links == found.certificate.must_links_held == many
    assert label["x7"] != label["0"]


def test_zeros_are_not_dropped_from_names(tmp_path):
    (tmp_path / "said.csv").write_text("kind,a,b\nmust_link,007,8\ncannot_link,7,8\n")
    assert check_files(tmp_path / "said.csv").ok
    (tmp_path / "said.csv").write_text("kind,a,b\nmust_link, 7 ,8\ncannot_link,7,8\n")
    assert check_files(tmp_path / "said.csv").n_contradictions == 1
    (tmp_path / "said.csv").write_text("kind,a,b\nmust_link,007,8\n")
    data = write_data(tmp_path / "d.parquet")
    with pytest.raises(ScaleError, match=r"said\.csv, row 0 names '007', but no column of the data holds names"):
        cluster(data, tmp_path / "said.csv", 2, out=tmp_path / "out")


@pytest.mark.parametrize("names", [[*range(N)][::-1], [*range(1000, 1000 + N)], [f"r{i}" for i in range(N)]])
def test_a_table_is_about_row_numbers_whatever_rows_are_called(tmp_path, names):
    known = Constraints.build(N, must_link=[(0, 30)], cannot_link=[(3, 4)])
    found, label = run(tmp_path, names, known, tree=True, top=5)
    assert found.certificate.ok
    assert found.tree_certificate.ok
    assert label[names[0]] == label[names[30]]
    assert label[names[3]] != label[names[4]]
    assert found.dendrogram.satisfies(known).all()


def test_the_certificate_looks_at_the_rows_that_a_table_means(tmp_path):
    """Labels that keep the statement of the rows *called* 0 and 30 do not keep that of rows 0 and 30."""
    from linkwise.scale._block_certificate import certify_blocks

    names = [*range(N)][::-1]
    label = np.zeros(N, dtype=np.int32)
    label[[N - 1, N - 31]] = 1
    label[0] = 1
    pq.write_table(pa.table({"name": names, "cluster": label}), tmp_path / "part-000000.parquet")
    known = Constraints.build(N, must_link=[(0, 30)])
    assert not certify_blocks(tmp_path, known, 2).ok
    (tmp_path / "said.csv").write_text("kind,a,b\nmust_link,0,30\n")
    assert certify_blocks(tmp_path, tmp_path / "said.csv", 2).ok


@pytest.mark.parametrize(
    ("names", "kind"), [(np.arange(N) + 0.5, "double"), ([True] * N, "bool"), ([[1]] * N, r"list<.*>")]
)
def test_a_column_that_holds_no_names_is_refused(tmp_path, names, kind):
    with pytest.raises(ScaleError, match=rf"column 'name' holds {kind}, expected names: words or whole numbers"):
        run(tmp_path, names, None)


def test_files_whose_names_differ_in_form_are_refused(tmp_path):
    (tmp_path / "data").mkdir()
    write_data(tmp_path / "data" / "0.parquet", [*range(N)])
    write_data(tmp_path / "data" / "1.parquet", [f"{i + N}" for i in range(N)])
    with pytest.raises(
        ScaleError, match=r"1\.parquet: column 'name' holds words, but in .*0\.parquet it holds whole num"
    ):
        cluster(tmp_path / "data", None, 2, id="name", out=tmp_path / "out")


def test_numbers_with_a_point_name_no_rows(tmp_path):
    pq.write_table(pa.table({"kind": ["must_link"], "a": [1.0], "b": [2.0]}), tmp_path / "said.parquet")
    for work in (
        lambda: check_files(tmp_path / "said.parquet"),
        lambda: cluster(write_data(tmp_path / "d.parquet"), tmp_path / "said.parquet", 2, out=tmp_path / "out"),
    ):
        with pytest.raises(
            ConstraintError, match=r"said\.parquet: column 'a' holds double, expected row numbers or names"
        ):
            work()


def data_frame(names):
    import warnings

    import pandas as pd

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # old versions advise about the way they plan
        import dask.dataframe as dd

        return dd.from_pandas(pd.DataFrame({"x": X[:, 0], "y": X[:, 1], "name": names}), npartitions=3)


@pytest.mark.parametrize("form", ["words", "whole", "Int64", "category", "beyond 2^63", None])
def test_dask_data_frames_give_the_same_labels(tmp_path, form):
    import pandas as pd

    names = {
        "words": [f"r{i}" for i in range(N)],
        "whole": [*range(100, 100 + N)],
        "Int64": pd.array(range(100, 100 + N), dtype="Int64"),
        "category": pd.Categorical([f"r{i}" for i in range(N)]),
        "beyond 2^63": WIDE,
    }.get(form)
    frame = data_frame([0] * N if names is None else names)
    told = {"block_rows": 15, "columns": ["x", "y"]}
    (tmp_path / "rows.csv").write_text("kind,a,b\nmust_link,2,30\ncannot_link,4,5\n")
    here = cluster(X, tmp_path / "rows.csv", 2, block_rows=15, out=tmp_path / "here")
    found = [cluster(frame, tmp_path / "rows.csv", 2, **told, out=tmp_path / "rows")]
    if names is not None:
        a, b, c, d = (str(names[i]) for i in (2, 30, 4, 5))
        (tmp_path / "said.csv").write_text(f"kind,a,b\nmust_link,{a},{b}\ncannot_link,{c},{d}\n")
        found.append(cluster(frame, tmp_path / "said.csv", 2, **told, id="name", out=tmp_path / "names"))
        kept = pq.read_table(tmp_path / "names" / "labels").column("name").to_pylist()
        assert [str(one) for one in kept] == [str(one) for one in names]
    for one in found:
        assert one.certificate.ok
        assert one.labels.tolist() == here.labels.tolist()


def test_a_missing_name_of_a_data_frame_is_told(tmp_path):
    import pandas as pd

    names = pd.array([*range(20), None, *range(21, N)], dtype="Int64")
    with pytest.raises(ScaleError, match=r"partition 1 of the data frame, row \d+: column 'name' is missing"):
        cluster(data_frame(names), None, 2, id="name", block_rows=15, out=tmp_path / "out")
