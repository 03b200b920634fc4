"""Files: what is written comes back, and no text whatever makes a reader stumble over anything but its own words."""

from __future__ import annotations

import contextlib
import io
import string
import tempfile
import warnings
from pathlib import Path

import numpy as np
from hypothesis import given, settings, strategies as st

from linkwise import Constraints, Kind, load, read_data, read_knowledge
from linkwise.exceptions import LinkwiseError, LinkwiseWarning
from linkwise.io import write_knowledge
from tests.profile import examples

# names as unkind as a spreadsheet allows: marks of formulas, quotes, separators, digits
NAMES = st.lists(
    st.text(string.ascii_letters + string.digits + "=+-@'\"#,|. \tüß\n", min_size=1, max_size=6)
    .map(str.strip)
    .filter(bool),
    min_size=4,
    max_size=8,
    unique=True,
)
WORDS = [
    *"kindab,;|\t\n\"'{}[]():0=!#._- \r\ufeff\u202e",
    "kind,a,b\n",
    "must_link,",
    "a b | 0\n",
    "((a,b),0);",
    "e308",
]
SOUP = st.lists(st.sampled_from(WORDS), max_size=30).map("".join)


@st.composite
def statements(draw):
    names = draw(NAMES)
    rows = []
    for _ in range(draw(st.integers(1, 6))):
        kind = draw(st.sampled_from(list(Kind)))
        size = draw(st.integers(2, len(names))) if kind.is_group else kind.arity
        chosen = draw(st.permutations(names))[:size]
        weight = draw(st.one_of(st.just([]), st.floats(1e-300, 1e300).map(lambda w: [w])))
        word = "triplet" if kind is Kind.TRIPLET else kind.word
        if kind is Kind.EITHER:
            links = st.sampled_from(["must_link", "cannot_link"])
            chosen = [(draw(links), *ends) for ends in zip(chosen[::2], chosen[1::2], strict=False)]
        rows.append((word, *([list(chosen)] if kind.is_group else chosen), *weight))
    return Constraints.from_ids(names, rows)


@settings(max_examples=examples(60, 3000), deadline=None)
@given(statements(), st.sampled_from(["a.csv", "a.tsv", "a.jsonl"]))
def test_knowledge_comes_back_as_it_was_written(said, name):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, name)
        write_knowledge(path, said)
        back = read_knowledge(path, said.ids).constraints
    assert back == said
    assert np.array_equal(np.argsort(back.row, kind="stable"), np.argsort(said.row, kind="stable"))


def quietly(work):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LinkwiseWarning)
        with contextlib.suppress(LinkwiseError):
            work()


@settings(max_examples=examples(150, 20_000), deadline=None)
@given(SOUP, st.sampled_from(["a.csv", "a.jsonl", "a.json", "a.nwk", "a.txt", ""]))
def test_any_text_is_read_or_refused_in_words(text, name):
    source = io.StringIO(text)
    source.name = name
    quietly(lambda: read_knowledge(source, ["otter", "a", "b", "0"]))
    quietly(lambda: read_data(io.StringIO(text), impute="mean"))


@settings(max_examples=examples(60, 20_000), deadline=None)
@given(
    st.binary(max_size=200),
    st.sampled_from([b"", b"PK\x03\x04", b"\x93NUMPY\x01\x00", b"PAR1", b"\x1f\x8b", b"ARROW1"]),
)
def test_any_bytes_are_read_or_refused_in_words(raw, head):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "a")
        path.write_bytes(head + raw)
        quietly(lambda: load(path))
        quietly(lambda: read_data(path))
        quietly(lambda: read_knowledge(path, 3))
