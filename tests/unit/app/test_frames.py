"""Frames survive a pipe, whole or not at all."""

import asyncio
import io

import pytest
from hypothesis import given, strategies as st

from linkwise.app import _frames as frames
from linkwise.exceptions import LinkwiseError

HEADERS = st.dictionaries(st.text(), st.one_of(st.none(), st.booleans(), st.integers(), st.text(), st.lists(st.text())))


def written(*messages):
    stream = io.BytesIO()
    for header, body in messages:
        frames.write(stream, header, body)
    return stream.getvalue()


async def read_all(raw):
    stream, found = asyncio.StreamReader(), []
    stream.feed_data(raw)
    stream.feed_eof()
    while (one := await frames.read_async(stream)) is not None:
        found.append(one)
    return found


@given(st.lists(st.tuples(HEADERS, st.binary(max_size=200)), max_size=3))
def test_what_is_written_is_read_by_both_readers(messages):
    raw = written(*messages)
    stream, found = io.BytesIO(raw), []
    while (one := frames.read(stream)) is not None:
        found.append(one)
    assert found == messages == asyncio.run(read_all(raw))


def test_a_frame_cut_anywhere_is_an_error():
    raw = written(({"do": "tree", "at": 3}, b"body"))
    for n in range(1, len(raw)):
        with pytest.raises(LinkwiseError, match="ended within a frame"):
            frames.read(io.BytesIO(raw[:n]))
        with pytest.raises(LinkwiseError, match="ended within a frame"):
            asyncio.run(read_all(raw[:n]))


@pytest.mark.parametrize("raw", [b"printed by a library\n", b"LWF1" + b"\xff" * 12, written(({}, b""))[:16] + b"[]"])
def test_anything_else_is_refused(raw):
    with pytest.raises(LinkwiseError):
        frames.read(io.BytesIO(raw))
