"""Zip archives of pictures: what is in them, within limits, and coarse features of color and shape to compare them by.

What is believed of an archive is what came out of it: sizes are counted while a member is unpacked, types are known by
first bytes, and pictures are measured by their headers before a pixel is decoded. Only `features` needs Pillow.
"""

from __future__ import annotations

import io
import warnings
import zipfile
import zlib
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, NoReturn

from linkwise.exceptions import LinkwiseError

if TYPE_CHECKING:
    from linkwise._typing import FloatArray

MOST_MEMBERS = 20_000
MOST_BYTES, MOST_UNPACKED = 2**26, 2**30  # of one member, and of all
MOST_RATIO = 200  # of a member above a megabyte, unpacked to packed
MOST_PIXELS = 40_000_000
SIDE = 48  # pixels to which a picture is reduced
CELLS, TURNS, SHADES = 4, 8, 4  # squares in a row, directions of edges in each, shades of each primary color
_ENTRY = b"PK\x01\x02"  # begins each line of the list in an archive
_TABLES = (".csv", ".tsv", ".txt")
_TYPES = ((b"\x89PNG\r\n\x1a\n", "image/png"), (b"\xff\xd8\xff", "image/jpeg"), (b"GIF8", "image/gif"))


def type_of(raw: bytes) -> str | None:
    """Return the type of a picture by its first bytes; None for all that is not shown, such as SVG."""
    if raw[:4] == b"RIFF" and raw[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for magic, kind in _TYPES if raw.startswith(magic)), None)


def holds_pictures(raw: bytes) -> bool:
    """Whether a file is a zip archive of files, and not a spreadsheet or the like."""
    if not raw.startswith(b"PK\x03\x04"):
        return False
    if _lists_too_many(raw):
        return True  # and is refused as such
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            names = archive.namelist()
    except (zipfile.BadZipFile, ValueError, NotImplementedError, UnicodeDecodeError):
        return False
    return not any(
        name in ("[Content_Types].xml", "mimetype", "manifest.json") or name.endswith(".npy") for name in names
    )


class Pictures:
    """The pictures of an archive by file name, and the one table that may lie beside them.

    Parameters
    ----------
    name, raw : str and bytes
        The archive. It is refused where it is damaged, protected by a password, or larger inside than it may be.
    """

    def __init__(self, name: str, raw: bytes) -> None:
        self.name = name
        self._archive = _open(name, raw)
        members = [one for one in self._archive.infolist() if _is_meant(one)]
        if len(members) > MOST_MEMBERS:
            msg = f"{name} holds {len(members):,} files, at most {MOST_MEMBERS:,} are taken"
            _refuse(msg, "divide it into several projects")
        self._require_sizes(members)
        self._members: dict[str, zipfile.ZipInfo] = {}
        self.table: str | None = None
        for one in members:
            base = _base(one.filename)
            if base.lower().endswith(_TABLES):
                if self.table is not None:
                    _refuse(f"{name} holds two tables, {self.table} and {base}", "leave one of them in it")
                self.table, self._table = base, one
            elif base in self._members:
                _refuse(f"{name} holds two files called {base}", "give every picture a name of its own")
            else:
                self._members[base] = one
        if not self._members:
            _refuse(f"{name} holds no pictures", "put .png, .jpg, .gif or .webp files in it")

    def __len__(self) -> int:
        return len(self._members)

    @property
    def names(self) -> list[str]:
        """File names, in the order of the archive."""
        return list(self._members)

    def read_table(self) -> bytes:
        """Return the content of the table."""
        return self._unpack(self._table)

    def member(self, name: str) -> str:
        """Return where in the archive a picture is."""
        return self._find(name).filename

    def _find(self, name: str) -> zipfile.ZipInfo:
        """Return the member of a picture, by its file name, with or without the folders that it lies in."""
        found = self._members.get(_base(name))
        if found is None:
            _refuse(f"{self.name} has no picture {name!r}", "check the column of file names")
        return found

    def picture(self, name: str) -> tuple[str, bytes]:
        """Return type and content of a picture."""
        raw = self._unpack(self._find(name))
        kind = type_of(raw)
        if kind is None:
            _refuse(f"{name} in {self.name} is not a picture", "take .png, .jpg, .gif or .webp files")
        return kind, raw

    def features(self, names: list[str]) -> FloatArray:
        """Return coarse features of pictures: how much of each color, and edges by direction in squares of the picture.

        Both count alike. They tell photographs of different scenes or shapes of different outlines apart, and know
        nothing of what is shown.
        """
        import numpy as np

        return np.array([_describe(*self.picture(name), f"{name} in {self.name}") for name in names])

    def _require_sizes(self, members: list[zipfile.ZipInfo]) -> None:
        total = 0
        for one in members:
            if one.flag_bits & 1:
                _refuse(f"{self.name} is protected by a password", "pack it again without one")
            total += one.file_size
            bomb = one.file_size > 2**20 and one.file_size > MOST_RATIO * max(1, one.compress_size)
            if one.file_size > MOST_BYTES or total > MOST_UNPACKED or bomb:
                what = f"{one.filename[:80]} in {self.name}" if total <= MOST_UNPACKED else self.name
                msg = f"{what} unpacks to more than it may ({max(one.file_size, 0) / 2**20:,.0f} MiB)"
                _refuse(f"{msg}. Nothing was read", "reduce the pictures")

    def _unpack(self, member: zipfile.ZipInfo) -> bytes:
        """Unpack a member; one that is larger than its header says is refused before it fills the memory."""
        try:
            with self._archive.open(member) as file:
                raw = file.read(member.file_size + 1)
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError) as bad:
            _refuse(f"{member.filename[:80]} in {self.name} is damaged ({bad})", "pack it again", bad)
        if len(raw) != member.file_size:
            _refuse(f"{member.filename[:80]} in {self.name} has another size than it says", "pack it again")
        return raw


def _base(name: str) -> str:
    """The last part of a path, as Windows or others write it."""
    return PurePosixPath(name.replace("\\", "/")).name


def _refuse(fault: str, hint: str, cause: BaseException | None = None) -> NoReturn:
    msg = f"{fault}.\nHint: {hint}."
    raise LinkwiseError(msg) from cause


def _lists_too_many(raw: bytes) -> bool:
    """Whether more files are listed than may be, found without reading the list, which fills the memory."""
    return raw.count(_ENTRY) > 2 * MOST_MEMBERS


def _open(name: str, raw: bytes) -> zipfile.ZipFile:
    if _lists_too_many(raw):
        _refuse(f"{name} holds more than {2 * MOST_MEMBERS:,} files", "divide it into several projects")
    try:
        return zipfile.ZipFile(io.BytesIO(raw))
    except (zipfile.BadZipFile, ValueError, NotImplementedError, UnicodeDecodeError) as bad:
        _refuse(f"{name} is not a readable zip archive ({bad})", "pack it again", bad)


def _is_meant(member: zipfile.ZipInfo) -> bool:
    """Whether a member is a file that its owner put in, and not a folder or what a system adds."""
    parts = PurePosixPath(member.filename.replace("\\", "/")).parts
    return not member.is_dir() and not any(part.startswith((".", "__MACOSX")) or part == "Thumbs.db" for part in parts)


def _describe(kind: str, raw: bytes, where: str) -> Any:
    """The features of one picture: shares of colors and of edges, each of length 1."""
    import numpy as np

    pixels = np.asarray(_reduced(kind, raw, where), dtype=np.float64) / 255.0
    shade = np.minimum((pixels * SHADES).astype(np.intp), SHADES - 1)
    color = np.bincount((shade @ (SHADES**2, SHADES, 1)).ravel(), minlength=SHADES**3).astype(np.float64)
    gray = pixels @ (0.299, 0.587, 0.114)
    down, right = np.gradient(gray)
    turn = np.floor((np.arctan2(down, right) % np.pi) / np.pi * TURNS).astype(np.intp) % TURNS
    square = np.arange(SIDE) * CELLS // SIDE
    place = (square[:, None] * CELLS + square) * TURNS + turn
    edges = np.bincount(place.ravel(), weights=np.hypot(down, right).ravel(), minlength=CELLS**2 * TURNS)
    return np.concatenate([_unit(np.sqrt(color)), _unit(edges)])


def _unit(values: Any) -> Any:
    import numpy as np

    length = np.linalg.norm(values)
    return values / length if length > 0 else values


def _reduced(kind: str, raw: bytes, where: str) -> Any:
    """A picture as SIDE x SIDE pixels of red, green and blue; what is transparent is white."""
    try:
        from PIL import Image
    except ImportError as missing:
        _refuse("pictures need Pillow to be compared", "pip install 'linkwise[images]'", missing)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = Image.open(io.BytesIO(raw), formats=[kind.removeprefix("image/").upper()])
            if found.width * found.height > MOST_PIXELS:
                msg = f"{where} has {found.width:,} x {found.height:,} pixels, at most {MOST_PIXELS:,} are taken"
                _refuse(msg, "reduce it")
            found.draft("RGB", (4 * SIDE, 4 * SIDE))
            whole = found.convert("RGBA")
            white = Image.new("RGBA", whole.size, "white")
            return Image.alpha_composite(white, whole).convert("RGB").resize((SIDE, SIDE), Image.Resampling.BOX)
    except (OSError, SyntaxError, ValueError, EOFError, Image.DecompressionBombError) as bad:
        if isinstance(bad, LinkwiseError):
            raise
        _refuse(f"{where} cannot be read as a picture ({str(bad)[:80]})", "save it again, or leave it out", bad)


def titles(names: list[str]) -> list[str]:
    """Return what items are called: file names without endings, or with them where two would be equal."""
    plain = [PurePosixPath(name).stem for name in names]
    return plain if len(set(plain)) == len(plain) and all(plain) else list(names)
