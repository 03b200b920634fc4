"""Reading samples from CSV: errors name the line, column and value."""

from __future__ import annotations

import gzip
import io
import pickle
import sys

import numpy as np
import pytest
import scipy.sparse

from linkwise.exceptions import LinkwiseError, LinkwiseWarning
from linkwise.io import read_data
from tests.counting import calls


@pytest.fixture
def table(tmp_path):
    def read(content: str | bytes, **options):
        path = tmp_path / "data file ü.csv"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return read_data(str(path), **options)

    return read


def test_numbers_are_read_in_order(table):
    read = table("a,b\n1,2\n-3.5,4e-1\n")
    assert read.X.tolist() == [[1, 2], [-3.5, 0.4]]
    assert read.columns == ("a", "b")
    assert read.ids.tolist() == [0, 1]


@pytest.mark.parametrize(
    "content",
    [
        b"a,b\n1,2\n3,4",
        b"\xef\xbb\xbfa,b\r\n1,2\r\n3,4\r\n",
        b"a,b\r1,2\r3,4\r",
        b"a;b\n1;2\n\n3;4\n",
        b"a\tb\n 1 \t2\n3\t4\n",
        b'"a","b"\n"1","2"\n3,4\n',
    ],
    ids=["no final newline", "byte order mark", "old line ends", "semicolons and an empty line", "tabs", "quotes"],
)
def test_harmless_variants_are_accepted(table, content):
    assert table(content).X.tolist() == [[1, 2], [3, 4]]


def test_the_id_column_names_samples_and_stays_text(table):
    read = table("name,x\n007,1\nNA,2\n1e5,3\n", id="name")
    assert read.ids.tolist() == ["007", "NA", "1e5"]
    assert read.columns == ("x",)


def test_one_row_is_enough(table):
    assert table("x\n5\n").X.tolist() == [[5.0]]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty"),
        (b" \n", "is empty"),
        (b"a,b\n", "a header but no rows"),
        (b",\n,\n", "the table has no name"),
        (b",a\n0,1\n1,2\n", "line 1: column 1 has no name"),
        (b"1,2\n3,4\n", "expected a first line with column names"),
        (b"a,a\n1,2\n", "names the column 'a' more than once"),
        (b"a,b\n1,2\n3\n", "line 3 has 1 value, but the header names 2 columns"),
        (b"a,b\n1,x y\n3,z\n", r"1 column has cells that are not numbers: b \(line 2: 'x y'\)"),
        (b"a,b\n1,1_0\n", "are not numbers"),
        ("a,b\n1,٣\n".encode(), "are not numbers"),
        (b"a;b\n1,5;2.5\n", r"a \(line 2: '1,5'\)"),
        (b"a,b\n1,\n,NaN\n", r"3 values are missing, the first in line 2, column b"),
        (b"a,b\n1,1e999\n", "line 2, column b: the number is too large"),
        (b'a,b\n1,"2\n3,4\n', "quotation mark"),
        (b"a,b\n1,\x812\n", "not UTF-8: byte 0x81 at offset 6"),
        (b"a,b\n1,\x002\n", "NUL byte at offset 6"),
        (gzip.compress(b"a,b\n1,2\n", mtime=0)[:-6], "packed with gzip, but its end is missing"),
        (pickle.dumps([1, 2]), "can run code and is never read"),
        (b"PK\x03\x04rest", "save it as CSV"),
    ],
)
def test_what_cannot_be_read_is_explained(table, content, words):
    with pytest.raises(LinkwiseError, match=words):
        table(content)


def test_text_columns_come_with_advice(table):
    with pytest.raises(
        LinkwiseError,
        match=r"Hint: if name names the samples: id='name'; to compare by the words of a text: text='name'\.",
    ):
        table("name,x\nfoo,1\nbar,2\n")


def test_dropped_columns_are_not_looked_at(table):
    assert table("name,x\nfoo,1\nbar,2\n", drop=["name"]).columns == ("x",)
    with pytest.raises(LinkwiseError, match=r"drop asks for the column 'nme', which .* does not have"):
        table("name,x\nfoo,1\n", drop=["nme"])
    with pytest.raises(LinkwiseError, match="no columns left"):
        table("x\n1\n", drop=["x"])


@pytest.mark.parametrize(
    ("rows", "words"),
    [("foo,1\nfoo,2\n", "line 3: the name 'foo' is in line 2 already"), (",1\n", "line 2: the sample has no name")],
)
def test_names_must_be_there_and_differ(table, rows, words):
    with pytest.raises(LinkwiseError, match=words):
        table(f"name,x\n{rows}", id="name")


def test_a_constant_column_is_pointed_out(table):
    with pytest.warns(LinkwiseWarning, match="the same value in every row, which cannot separate samples: b"):
        assert np.ptp(table("a,b\n1,5\n2,5\n").X[:, 1]) == 0


def test_folders_and_missing_files_are_named(tmp_path):
    with pytest.raises(LinkwiseError, match="is a folder"):
        read_data(str(tmp_path))
    with pytest.raises(FileNotFoundError):
        read_data(str(tmp_path / "nothing.csv"))


def test_a_wide_cell_is_shortened_in_the_message(table):
    with pytest.raises(LinkwiseError) as caught:
        table("a\n" + "y" * 300_000 + "\n")
    assert len(str(caught.value)) < 500


# -- preparing ---------------------------------------------------------------------------------------------------------


def text_of(content, **options):
    return read_data(io.StringIO(content), **options)


def test_columns_can_be_chosen_by_name():
    assert text_of("a,b,c\n1,2,x\n3,4,y\n", columns=["b"]).X.tolist() == [[2], [4]]
    with pytest.raises(LinkwiseError, match="columns asks for the column 'z'"):
        text_of("a,b\n1,2\n", columns=["z"])


@pytest.mark.parametrize(
    ("scale", "expected"), [("standard", [[-1, 0], [1, 0]]), ("minmax", [[0, 0], [1, 0]]), (None, [[1, 5], [3, 5]])]
)
def test_scales_leave_constant_columns_alone(scale, expected):
    with pytest.warns(LinkwiseWarning, match="cannot separate samples: b"):
        assert text_of("a,b\n1,5\n3,5\n", scale=scale).X.tolist() == expected


@pytest.mark.parametrize(("how", "value"), [("mean", 3.0), ("median", 2.0), ("most_frequent", 1.0)])
def test_gaps_are_filled_only_on_request_and_told(how, value):
    content = "a,b\n1,1\n1,2\n,3\n2,4\n3,5\nNA,6\n8,7\n"
    table = text_of(content, impute=how)
    assert table.X[2, 0] == table.X[5, 0] == value
    assert f"2 missing values filled with the {how.replace('_', ' ')}" in " ".join(table.notes)
    with pytest.raises(LinkwiseError, match=r"2 values are missing, the first in line 4, column a.\nHint: .*impute="):
        text_of(content)
    with pytest.raises(LinkwiseError, match="the column 'a' is empty"):
        text_of("a,b\n,1\n,2\n", impute=how)


def test_words_are_weighed_and_new_rows_know_them():
    table = text_of("id,about\n1,the red fox\n2,a red dog\n3,\n", id="id", text="about")
    assert table.columns == ("dog", "fox", "red", "the")
    assert table.X.format == "csr"
    assert np.allclose(np.asarray(table.X.multiply(table.X).sum(axis=1)).ravel(), [1, 1, 0])
    assert "1 sample has none of these words." in table.notes
    assert text_of("id,about\n9,a fox of another color\n", like=table).X.toarray().tolist() == [[0, 1, 0, 0]]
    with pytest.raises(LinkwiseError, match="no words of two letters"):
        text_of("about\na\nb\n", text="about")


def test_categories_are_features_and_new_values_are_told():
    table = text_of("c,x\nred,1\nblue,2\nred,3\n", categories=["c"])
    assert table.columns == ("x", "c=blue", "c=red")
    assert table.X.tolist() == [[1, 0, 1], [2, 1, 0], [3, 0, 1]]
    with pytest.warns(LinkwiseWarning, match="line 2: c is 'green', a value not seen before"):
        assert text_of("x,c\n4,green\n", like=table).X.tolist() == [[4, 0, 0]]
    with pytest.raises(LinkwiseError, match="c is missing"):
        text_of("c,x\nred,1\n,2\n", categories=["c"])
    with pytest.raises(LinkwiseError, match="30 different values in 30 rows"):
        text_of("c\n" + "".join(f"w{i}\n" for i in range(30)), categories=["c"])


def test_new_rows_are_prepared_like_the_old_ones():
    table = text_of("name,a,b\nx,1,10\ny,,30\nz,3,20\n", id="name", scale="standard", impute="mean")
    new = text_of("b,extra,a\n10,hello,1\n30,!,\n", like=table.preparation)
    assert np.array_equal(new.X, table.X[:2])
    assert new.ids.tolist() == [0, 1]
    with pytest.raises(LinkwiseError, match="lacks 1 of the 2 columns the model was made from: b"):
        text_of("a\n1\n", like=table)
    with pytest.raises(LinkwiseError, match="`like` fixes how the rows are prepared"):
        text_of("a,b\n1,2\n", like=table, scale="standard")
    plain = text_of("a,b\n1,2\n3,5\n")
    with pytest.raises(LinkwiseError, match=r"1 value is missing"):
        text_of("a,b\n1,\n", like=plain)


@pytest.mark.parametrize(
    ("option", "words"), [("scale", "'standard', 'minmax', 'auto' or None"), ("impute", "'mean', 'median'")]
)
def test_options_are_checked(option, words):
    with pytest.raises(LinkwiseError, match=f"{option} is 'x', expected {words}"):
        text_of("a\n1\n2\n", **{option: "x"})


# -- other sources -----------------------------------------------------------------------------------------------------

FRAME = {"name": ["a", "b", "c"], "x": [1, 2, None], "y": [0.5, 1.5, 2.5], "ok": [True, False, True]}


def frames():
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    return [pd.DataFrame(FRAME), pl.DataFrame(FRAME), pa.table(FRAME)]


@pytest.mark.parametrize("frame", frames(), ids=lambda frame: type(frame).__module__.split(".")[0])
def test_data_frames(frame):
    table = read_data(frame, id="name", impute="mean")
    assert table.X.tolist() == [[1, 0.5, 1], [2, 1.5, 0], [1.5, 2.5, 1]]
    assert table.ids.tolist() == ["a", "b", "c"]
    with pytest.raises(LinkwiseError, match=r"1 value is missing, the first in row 2, column x"):
        read_data(frame, id="name")
    with pytest.raises(LinkwiseError, match=r"1 column has cells that are not numbers: name \(row 0: 'a'\)"):
        read_data(frame, impute="mean")


def test_frames_with_other_kinds_of_columns():
    import decimal

    import pandas as pd
    import polars as pl

    nullable = {"x": pd.array([1, None, 3], dtype="Int64"), "ok": pd.array([True, None, False], dtype="boolean")}
    assert read_data(pd.DataFrame(nullable), impute="mean").X.tolist() == [[1, 1], [2, 0.5], [3, 0]]
    assert read_data(pd.DataFrame({0: [1, 2], 1: ["3", "4.5"]})).X.tolist() == [[1, 3], [2, 4.5]]
    assert read_data(pl.DataFrame({"x": [decimal.Decimal("1.5"), decimal.Decimal("3.0")]})).X.tolist() == [[1.5], [3]]
    with pytest.raises(LinkwiseError, match=r"are not numbers: x \(row 0: '\[1\]'\)"):
        read_data(pl.DataFrame({"x": [[1], [2]]}))


def test_the_index_of_a_frame_names_the_samples():
    import pandas as pd

    assert read_data(pd.DataFrame({"x": [1.0, 2.0]}, index=["a", "b"])).ids.tolist() == ["a", "b"]
    assert read_data(pd.DataFrame({"x": [1.0, 2.0]})).ids.tolist() == [0, 1]


def test_dates_and_categories_of_frames_are_no_numbers():
    import pandas as pd

    frame = pd.DataFrame(
        {"d": pd.to_datetime(["2020-01-01", "2020-01-02"]), "c": pd.Categorical(["u", "v"]), "x": [1, 2]}
    )
    with pytest.raises(LinkwiseError, match=r"2 columns have cells that are not numbers: d .*; c \(row 0: 'u'\)"):
        read_data(frame)
    assert read_data(frame, drop=["d"], categories=["c"]).X.tolist() == [[1, 1, 0], [2, 0, 1]]


@pytest.mark.parametrize("name", ["t.parquet", "t.arrow", "t.feather"])
def test_parquet_and_arrow(tmp_path, name):
    import pyarrow as pa
    import pyarrow.feather
    import pyarrow.parquet

    write = pa.parquet.write_table if name == "t.parquet" else pa.feather.write_feather
    write(pa.table(FRAME), tmp_path / name)
    assert read_data(tmp_path / name, id="name", impute="median").X.shape == (3, 3)
    (tmp_path / name).write_bytes((tmp_path / name).read_bytes()[:-20])
    with pytest.raises(LinkwiseError, match=f"{name} is not a readable Parquet or Arrow file"):
        read_data(tmp_path / name)


def test_without_pyarrow_one_is_told_what_to_install(tmp_path, monkeypatch):
    (tmp_path / "t.parquet").write_bytes(b"PAR1")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(LinkwiseError, match=r"needs pyarrow.\nHint: pip install 'linkwise\[io\]'"):
        read_data(tmp_path / "t.parquet")


def test_arrays_and_their_files(tmp_path):
    X = np.arange(6.0).reshape(3, 2)
    np.save(tmp_path / "x.npy", X)
    np.savez(tmp_path / "x.npz", X=X, ids=np.array(["a", "b", "c"]), columns=np.array(["u", "v"]))
    assert np.array_equal(read_data(X).X, X)
    assert np.array_equal(read_data(tmp_path / "x.npy").X, X)
    table = read_data(tmp_path / "x.npz", drop=["u"])
    assert table.X.tolist() == [[1], [3], [5]]
    assert table.ids.tolist() == ["a", "b", "c"]


def test_sparse_matrices_and_their_files(tmp_path):
    X = scipy.sparse.random(5, 8, density=0.5, format="csc", random_state=0)
    scipy.sparse.save_npz(tmp_path / "x.npz", X)
    for source in (X, tmp_path / "x.npz"):
        table = read_data(source)
        assert table.X.format == "csr"
        assert abs(table.X - X).max() == 0
    assert read_data(X[:2], like=table).X.shape == (2, 8)
    with pytest.raises(LinkwiseError, match="has 3 features, but the model was made from 8"):
        read_data(X[:, :3], like=table)
    with pytest.raises(LinkwiseError, match="is a sparse matrix, of which nothing can be scaled"):
        read_data(X, scale="standard")


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("x.npy", lambda: npy(np.array([{}], dtype=object)), "Python objects, which can run code"),
        ("x.npy", lambda: npy(np.zeros(3)), "expected a table of numbers"),
        ("x.npy", lambda: npy(np.zeros((2, 2), dtype=complex)), "complex128 values"),
        ("x.npy", lambda: npy(np.zeros((2, 2)))[:-3], r"declares the shape \(2, 2\)"),
        ("x.npy", lambda: npy(np.zeros((0, 2))), "expected a row or more"),
        ("x.npz", lambda: b"PK\x03\x04 and no more", "not a readable .npz file"),
        ("x.npz", lambda: moved(npz(a=np.zeros((2, 2)))), r"not a readable .npz file \(negative seek"),
        (
            "x.npz",
            lambda: npz(a=np.zeros((2, 2)), b=np.zeros((2, 3))),
            "expected one table of numbers, or one called X",
        ),
        (
            "x.npz",
            lambda: npz(format=np.array("csr"), shape=np.array([2, 2]), data=np.ones(1)),
            "not a readable sparse",
        ),
        ("x.pkl", lambda: b"anything", "is a pickle or joblib file, which can run code"),
        ("x.joblib", lambda: b"anything", "never read"),
        ("x.xlsx", lambda: b"PK\x03\x04rest", "is a spreadsheet or zip archive"),
    ],
)
def test_files_that_are_no_data(tmp_path, name, content, words):
    (tmp_path / name).write_bytes(content())
    with pytest.raises(LinkwiseError, match=words):
        read_data(tmp_path / name)


def npy(array):
    sink = io.BytesIO()
    np.save(sink, array, allow_pickle=True)
    return sink.getvalue()


def moved(raw):
    """An archive whose directory is said to lie where it does not."""
    at = raw.rindex(b"PK\x05\x06") + 16
    return raw[:at] + b"\xff\xff\xff\x00" + raw[at + 4 :]


def npz(**arrays):
    sink = io.BytesIO()
    np.savez_compressed(sink, **arrays)
    return sink.getvalue()


@pytest.mark.parametrize("source", [[[1, 2]], object(), None])
def test_things_that_are_no_source(source):
    with pytest.raises(LinkwiseError, match="expected a file, a data frame or an array"):
        read_data(source)


def test_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a,b\n1,2\n3,x\n")))
    with pytest.raises(
        LinkwiseError, match=r"standard input: 1 column has cells that are not numbers: b \(line 3: 'x'\)"
    ):
        read_data("-")
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(LinkwiseError, match="standard input is closed"):
        read_data("-")


def test_reading_takes_less_than_a_call_for_each_number():
    rows = np.random.default_rng(0).normal(size=(20_000, 16)).tolist()
    text = ",".join(f"c{i}" for i in range(16)) + "\n" + "".join(",".join(map(repr, row)) + "\n" for row in rows)

    assert calls(lambda: text_of(text)) < 16 * 20_000  # 120,000
