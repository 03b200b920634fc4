"""Reading samples from CSV: what is wrong is named with its line, column and value."""

from __future__ import annotations

import gzip
import pickle

import numpy as np
import pytest

from linkwise.exceptions import LinkwiseError, LinkwiseWarning
from linkwise.io import read_data


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
        (b"1,2\n3,4\n", "expected a first line with column names"),
        (b"a,a\n1,2\n", "names the column 'a' more than once"),
        (b"a,b\n1,2\n3\n", "line 3 has 1 values, but the header names 2 columns"),
        (b"a,b\n1,x y\n3,z\n", r"1 column\(s\) are not numbers: b \(line 2: 'x y'\)"),
        (b"a,b\n1,1_0\n", "are not numbers"),
        ("a,b\n1,٣\n".encode(), "are not numbers"),
        (b"a;b\n1,5;2\n", r"a \(line 2: '1,5'\)"),
        (b"a,b\n1,\n,NaN\n", r"3 value\(s\) are missing, the first in line 2, column b"),
        (b"a,b\n1,1e999\n", "line 2, column b: the number is too large"),
        (b'a,b\n1,"2\n3,4\n', "quotation mark"),
        (b"a,b\n1,\xff2\n", "not UTF-8: byte 0xff at offset 6"),
        (b"a,b\n1,\x002\n", "NUL byte at offset 6"),
        ("a,b\n1,2\n".encode("utf-16"), "UTF-16"),
        (gzip.compress(b"a,b\n1,2\n", mtime=0)[:-6], "packed with gzip, but its end is missing"),
        (pickle.dumps([1, 2]), "can run code and is never read"),
        (b"PK\x03\x04rest", "save it as CSV"),
    ],
)
def test_what_cannot_be_read_is_explained(table, content, words):
    with pytest.raises(LinkwiseError, match=words):
        table(content)


def test_text_columns_come_with_advice(table):
    with pytest.raises(LinkwiseError, match="Hint: name the samples with --id name, or leave columns out: --drop name"):
        table("name,x\nfoo,1\nbar,2\n")


def test_dropped_columns_are_not_looked_at(table):
    assert table("name,x\nfoo,1\nbar,2\n", drop=["name"]).columns == ("x",)
    with pytest.raises(LinkwiseError, match=r"--drop asks for the column 'nme', which .* does not have"):
        table("name,x\nfoo,1\n", drop=["nme"])
    with pytest.raises(LinkwiseError, match="no columns left"):
        table("x\n1\n", drop=["x"])


@pytest.mark.parametrize(
    ("rows", "words"),
    [("foo,1\nfoo,2\n", "line 3: the name 'foo' stands in line 2 already"), (",1\n", "line 2: the sample has no name")],
)
def test_names_must_be_there_and_differ(table, rows, words):
    with pytest.raises(LinkwiseError, match=words):
        table(f"name,x\n{rows}", id="name")


def test_a_constant_column_is_pointed_out(table):
    with pytest.warns(LinkwiseWarning, match="same value in every row, so no help: b"):
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
