"""`save` and `load`: fitted models as a manifest and plain arrays in a zip archive; loading runs no code from it."""

from __future__ import annotations

import json
import platform
import re
from pathlib import Path
from typing import Any, Literal, NoReturn, overload

import numpy as np

from linkwise._files import parse_json, require_file, write_whole
from linkwise._messages import hint, many
from linkwise._validation import warn_user
from linkwise.exceptions import LinkwiseError
from linkwise.io._archive import MANIFEST, Archive, Member, array_of_npy, measure, npy_of_array, pack, read_member
from linkwise.io._prepare import Preparation, Table
from linkwise.io._saved_values import Reader, Writer, is_model

MAJOR, MINOR = 1, 0
FORMAT = f"linkwise.model/{MAJOR}"
_FORMAT = re.compile(r"linkwise\.model/([0-9]{1,6})(?:\.([0-9]{1,6}))?")
_KEYS = {"format", "versions", "model", "data", "members"}


def save(model: Any, path: Any, *, data: Table | Preparation | None = None) -> None:
    """Write a fitted model to a file that this and later versions of linkwise read, on any machine.

    Parameters
    ----------
    model : estimator or Clustering
        A fitted estimator of linkwise, or what `cluster` returned.
    path : str or Path
        Where to; the usual ending is ``.lwm``. The file appears whole or not at all.
    data : Table or Preparation, optional
        The samples the model was fitted to, as `read_data` returned them, so that reports can name them and new rows
        can be prepared alike; or only how they were prepared.

    Notes
    -----
    The file is a zip archive of ``manifest.json`` and plain arrays, with a SHA-256 of each; it holds no pickle. What a
    hierarchy needs to place new samples is among it: the samples of the fit. Equal arrays are stored once.
    **Guarantee** saving what was loaded gives the same bytes (with the same versions of the libraries).

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import numpy as np
    >>> from linkwise import ConstrainedAgglomerative, load, save
    >>> model = ConstrainedAgglomerative(n_clusters=2).fit([[0.0], [1.0], [9.0], [12.0]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(model, pathlib.Path(folder, "model.lwm"))
    ...     load(pathlib.Path(folder, "model.lwm")).predict([[0.2], [10.0]]).tolist()
    [0, 1]
    """
    if data is not None and not isinstance(data, (Table, Preparation)):
        msg = f"save: data is {type(data).__name__}, expected a Table from `read_data`, or its `preparation`."
        raise LinkwiseError(msg)
    if not is_model(model):
        msg = (
            f"save: expected a fitted linkwise estimator or a Clustering, got {type(model).__name__}.\n"
            "Hint: save its last step, or the estimator of a search; scale with `read_data(..., scale='standard')`."
        )
        raise LinkwiseError(msg)
    arrays: list[tuple[Member, np.ndarray[Any, Any]]] = []
    place: dict[str, int] = {}

    def store(array: np.ndarray[Any, Any]) -> int:
        found = measure(f"arrays/{len(arrays)}.npy", npy_of_array(array))
        if found.sha256 not in place:
            place[found.sha256] = len(arrays)
            arrays.append((found, array))
        return place[found.sha256]

    writer = Writer(store)
    manifest = {
        "format": FORMAT,
        "versions": _versions(),
        "model": writer.write(model, "model"),
        "data": writer.write(data, "data"),
        "members": [list(member) for member, _ in arrays],
    }
    content = json.dumps(manifest, allow_nan=False, separators=(",", ":")).encode()
    parts = [(measure(MANIFEST, [content]), lambda: [content])]
    parts += [(member, lambda array=array: npy_of_array(array)) for member, array in arrays]  # type: ignore[misc]
    write_whole(Path(path), pack(parts))


def _versions() -> dict[str, str]:
    import scipy
    import sklearn

    from linkwise import __version__

    return {
        "linkwise": __version__,
        "numpy": np.__version__,
        "python": platform.python_version(),
        "scikit-learn": sklearn.__version__,
        "scipy": scipy.__version__,
    }


@overload
def load(path: Any, *, with_data: Literal[False] = False) -> Any: ...
@overload
def load(path: Any, *, with_data: Literal[True]) -> tuple[Any, Table | Preparation | None]: ...
def load(path: Any, *, with_data: bool = False) -> Any:
    r"""Read a model that `save` wrote.

    Parameters
    ----------
    path : str or Path
        The file.
    with_data : bool, default=False
        Also return what was saved as ``data``.

    Returns
    -------
    estimator or Clustering
        Fitted as it was saved; with ``with_data`` a pair of it and the data (None if there are none).

    Notes
    -----
    **Guarantee** loading runs no code from the file, whoever made it: estimators come from a fixed list, values from a
    few plain types, every array is checked against its size and every byte against a checksum. A damaged or forged file
    is refused as a whole.

    Examples
    --------
    >>> import io, pathlib, tempfile
    >>> from linkwise import COPKMeans, load, read_data, save
    >>> table = read_data(io.StringIO("x,y\n1,2\n1,3\n9,8\n9,9\n"), scale="standard")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(COPKMeans(2, random_state=0).fit(table.X), pathlib.Path(folder, "model.lwm"), data=table)
    ...     model, table = load(pathlib.Path(folder, "model.lwm"), with_data=True)
    >>> new = read_data(io.StringIO("x,y\n8,8\n"), like=table)
    >>> bool(model.predict(new.X)[0] == model.labels_[3])
    True
    """
    require_file(path)
    with Path(path).open("rb") as file:
        archive = Archive(file, str(path))
        manifest = _read_manifest(archive)
        members = _read_members(archive, manifest)
        used: dict[int, Any] = {}

        def fetch(number: int) -> Any:
            if not 0 <= number < len(members):
                msg = f"array {number} is missing"
                raise ValueError(msg)
            if number not in used:
                used[number] = array_of_npy(archive.read(members[number].name), f"{path}: {members[number].name}")
            return used[number]

        found = _read_values(archive, manifest, Reader(fetch))
        unused = [member.name for number, member in enumerate(members) if number not in used]
        for name in unused:
            archive.read(name)  # members that no value refers to are compared with their checksums as well
    if unused:
        belong = "belongs" if len(unused) == 1 else "belong"
        warn_user(f"{path} holds {many(len(unused), 'file')} that {belong} to no value of the model: {unused[0]}.")
    return found if with_data else found[0]


def _fail(name: str, why: str) -> NoReturn:
    again = hint(command="run `linkwise cluster` again.", python="save it again with `linkwise.save`.")
    msg = f"{name} is not a readable linkwise model: {why}.\nHint: {again}"
    raise LinkwiseError(msg)


def _read_manifest(archive: Archive) -> dict[str, Any]:
    try:
        manifest = parse_json(archive.manifest.decode())
    except ValueError as bad:
        _fail(archive.name, f"its manifest is not JSON ({str(bad)[:80]})")
    found = _FORMAT.fullmatch(str(manifest.get("format"))) if isinstance(manifest, dict) else None
    if found is None:
        _fail(archive.name, f"its manifest lacks the format {FORMAT!r}")
    major, minor = int(found[1]), int(found[2] or 0)
    if major != MAJOR:
        msg = (
            f"{archive.name} has the format linkwise.model/{major}, but this version of linkwise reads {FORMAT}.\n"
            "Hint: pip install --upgrade linkwise"
        )
        raise LinkwiseError(msg)
    missing = _KEYS - set(manifest)
    extra = set(manifest) - _KEYS
    if missing or (extra and minor <= MINOR):
        _fail(archive.name, f"its manifest {'lacks' if missing else 'has'} {min(missing or extra)[:40]!r}")
    _compare_versions(archive.name, manifest["versions"], minor)
    return manifest  # type: ignore[no-any-return]


def _compare_versions(name: str, versions: Any, minor: int) -> None:
    if not isinstance(versions, dict) or not all(isinstance(v, str) for v in versions.values()):
        _fail(name, "its manifest lacks the versions that wrote it")
    theirs, ours = versions.get("linkwise", ""), _versions()["linkwise"]
    if minor > MINOR or theirs.split(".")[:2] != ours.split(".")[:2]:
        warn_user(f"{name} was written by linkwise {theirs[:20]} and read by linkwise {ours}; compare a few results.")


def _read_members(archive: Archive, manifest: dict[str, Any]) -> list[Member]:
    try:
        members = [read_member(entry) for entry in manifest["members"]]
        if len({member.name for member in members} | {MANIFEST}) <= len(members):
            raise ValueError  # noqa: TRY301
    except (ValueError, TypeError):
        _fail(archive.name, "its list of members is not valid")
    archive.expect(members)
    return members


def _read_values(archive: Archive, manifest: dict[str, Any], reader: Reader) -> tuple[Any, Any]:
    try:
        model, data = reader.read(manifest["model"]), reader.read(manifest["data"])
        if not is_model(model):
            _fail(archive.name, f"it holds {type(model).__name__}, which is not a method")
        if data is not None and not isinstance(data, (Table, Preparation)):
            _fail(archive.name, f"its data is {type(data).__name__}")
    except LinkwiseError as bad:
        if str(bad).startswith(archive.name):
            raise
        _fail(archive.name, str(bad).split("\n", 1)[0].rstrip("."))
    except (ValueError, TypeError, KeyError, AttributeError, IndexError, OverflowError, RecursionError) as bad:
        _fail(archive.name, (str(bad).split("\n", 1)[0] or type(bad).__name__).rstrip(".")[:200])
    return model, data
