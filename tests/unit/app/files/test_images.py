"""Archives of pictures: what is read, what is refused before it can do harm, and what is compared."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib

import numpy as np
import pytest

from linkwise.app._items import items_of
from linkwise.app.files import _images, preview, read_items
from linkwise.app.files._images import Pictures, holds_pictures, type_of
from linkwise.exceptions import LinkwiseError
from tests.app.pictures import archive, square


def png(width, height, content=b""):
    """A PNG that says how large it is, whatever is in it."""

    def part(name, body):
        return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))

    head = part(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + part(b"IDAT", content) + part(b"IEND", b"")


def test_pictures_are_items_and_those_that_look_alike_are_close():
    names = [f"photos/{n % 3}-{n}.png" for n in range(9)]
    raw = archive(
        {name: square(n % 3, n) for n, name in enumerate(names)} | {"__MACOSX/x.png": b"", "photos/.hidden": b""}
    )
    told = preview("photos.zip", raw)
    assert (told["error"], told["rows"], told["columns"]) == (None, 9, [{"name": "picture", "role": "picture"}])
    assert told["will"].startswith("9 pictures in one tree, compared by coarse color and shape")
    found = read_items("photos.zip", raw, {"picture": "picture"}, told["options"])
    items = items_of(found.table, found.roles)
    assert items.ids[:2] == ["0-0", "1-1"]
    assert [items.picture(row) for row in range(9)] == names  # where the archive has them
    assert {Pictures("photos.zip", raw).picture(name)[0] for name in names} == {"image/png"}
    gap = np.linalg.norm(items.X[:, None] - items.X[None], axis=2)
    for row in range(9):
        alike = np.arange(9) % 3 == row % 3
        assert gap[row, alike].max() < gap[row, ~alike].min()


@pytest.mark.parametrize("form", ["PNG", "JPEG", "GIF", "WEBP"])
def test_forms_of_pictures_are_known_by_their_first_bytes(form):
    raw = square(1, form=form)
    assert type_of(raw) == f"image/{form.lower()}"
    (row,) = Pictures("a.zip", archive({"a.png": raw})).features(["a.png"])
    (same,) = Pictures("a.zip", archive({"a.png": square(1)})).features(["a.png"])
    assert np.linalg.norm(row - same) < 0.5


def test_a_table_beside_the_pictures_says_what_is_compared():
    rows = "name,file,size,kind\nred,a.png,1,x\ngreen,b.png,2,y\nblue,c.png,9,x\n"
    raw = archive({"t.csv": rows, **{f"{name}.png": square(n) for n, name in enumerate("abc")}})
    told = preview("p.zip", raw)
    assert next(one for one in told["columns"] if one["name"] == "file")["role"] == "picture"
    roles = {"name": "name", "file": "picture", "size": "number", "kind": "show"}
    found = read_items("p.zip", raw, roles)
    assert found.table.X.tolist() == [[1.0], [2.0], [9.0]]
    assert found.arguments is None
    seen = read_items("p.zip", raw, {**roles, "size": "show"})
    assert 100 < seen.table.X.shape[1] <= 64 + 128
    assert items_of(seen.table, seen.roles).listed()[2] == {
        "id": "blue", "values": ["9", "x"], "text": None, "picture": "c.png",
    }  # fmt: skip
    lost = archive({"t.csv": rows, "a.png": square(0)})
    assert "has no picture 'b.png'" in preview("p.zip", lost, roles)["error"]["message"]
    no_zip = preview("t.csv", rows.encode(), roles)
    assert no_zip["error"]["column"] == "file"
    assert "zip" in no_zip["error"]["hint"]


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"a.txt.gz": b"1"}, "is not a picture"),
        ({"a.svg": b"<svg onload='alert(1)'/>"}, "is not a picture"),
        ({"a.png": square(0)[:200]}, "cannot be read as a picture"),
        ({"a.png": png(9_000, 9_000)}, "9,000 x 9,000 pixels"),
        ({"a.png": png(60_000, 60_000)}, "cannot be read as a picture"),
        ({"a.png": png(5, 5, b"nothing")}, "cannot be read as a picture"),
        ({"x/a.png": square(0), "y/a.png": square(1)}, "two files called a.png"),
        ({"a.csv": b"a\n1\n", "b.csv": b"a\n1\n"}, "two tables"),
        ({"a.csv": b"a\n1\n"}, "holds no pictures"),
        ({"zeros.png": bytes(2**22)}, "unpacks to more than it may"),
    ],
)
def test_archives_and_pictures_that_could_do_harm_are_refused(files, words):
    with pytest.raises(LinkwiseError) as refused:
        read_items("photos.zip", archive(files))
    assert words in str(refused.value)
    assert "\nHint: " in str(refused.value)


def test_limits_hold_for_the_number_of_files_and_for_all_together(monkeypatch):
    raw = archive({f"{n}.png": square(n % 3) for n in range(5)})
    monkeypatch.setattr(_images, "MOST_MEMBERS", 4)
    with pytest.raises(LinkwiseError, match="holds 5 files"):
        Pictures("p.zip", raw)
    monkeypatch.setattr(_images, "MOST_MEMBERS", 5)
    monkeypatch.setattr(_images, "MOST_UNPACKED", 20_000)
    with pytest.raises(LinkwiseError, match="unpacks to more"):
        Pictures("p.zip", raw)


def test_an_archive_that_lies_about_sizes_or_is_damaged_is_refused():
    raw = bytearray(archive({"a.png": square(0)}))
    at = raw.rindex(b"PK\x01\x02")
    size = int.from_bytes(raw[at + 24 : at + 28], "little")
    raw[at + 24 : at + 28] = (size - 100).to_bytes(4, "little")
    for forged in (bytes(raw), bytes(raw[: len(raw) // 2]), b"PK\x03\x04" + bytes(90)):
        with pytest.raises(LinkwiseError):
            Pictures("p.zip", forged).features(["a.png"])
    locked = bytearray(archive({"a.png": square(0)}))
    locked[locked.rindex(b"PK\x01\x02") + 8] |= 1
    with pytest.raises(LinkwiseError, match="password"):
        Pictures("p.zip", bytes(locked))


def test_other_archives_are_not_taken_for_pictures():
    sheet = io.BytesIO()
    with zipfile.ZipFile(sheet, "w") as out:
        out.writestr("[Content_Types].xml", "x")
    assert not holds_pictures(sheet.getvalue())
    assert not holds_pictures(b"name,x\n")
    assert holds_pictures(archive({"a.png": b""}))
