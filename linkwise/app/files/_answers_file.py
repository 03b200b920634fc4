"""The log of `linkwise ask` as statements of a project, and back without loss."""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from linkwise._files import parse_json
from linkwise._messages import many
from linkwise.app import TRIO_ANSWERS, New, Statement, fold, read_body
from linkwise.exceptions import LinkwiseError

FORMAT = "linkwise.dialogue/1"
_ODD = TRIO_ANSWERS[:3]
_PLAIN = {"confidence": 1.0, "who": "", "asked": True, "checks": []}  # what an entry leaves out


def header_of(X: Any) -> dict[str, Any]:
    """Return the first line of a log about samples, for questions about pairs and trios.

    With it, ``linkwise ask DATA --strategy mixed -l FILE`` goes on where the project is.
    """
    from linkwise.active import Dialogue, PairsAndTrios

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "answers.jsonl")
        Dialogue(X, PairsAndTrios(), log=path).close()
        head: dict[str, Any] = json.loads(path.read_text(encoding="utf-8").split("\n", maxsplit=1)[0])
    return head


def holds_answers(raw: bytes) -> bool:
    """Return whether a file is a log of `linkwise ask`."""
    return b'"format":"linkwise.dialogue/' in raw[:200].replace(b" ", b"")


def from_answers(
    name: str, raw: bytes, ids: Sequence[str], rows: Sequence[Statement], header: Callable[[], Mapping[str, Any]]
) -> list[New]:
    """Return the statements that a log adds to a project; those that it added before are left out.

    Parameters
    ----------
    name, raw : str and bytes
        The log.
    ids : sequence of str
        The items.
    rows : sequence of Statement
        The project so far.
    header : callable
        Returns what `header_of` says about the samples of the project. `linkwise ask` writes names beside its answers,
        and they say which items are meant; a log without names is about rows, and refused where those are others.
    """
    lines = raw.decode("utf-8", errors="replace").split("\n")[:-1]  # a last line cut short by a crash never counted
    if not lines:
        raise _refused(name, 1, "the log has no first line")
    head = _object(name, 1, lines[0])
    if head.get("format") != FORMAT:
        raise _refused(name, 1, f"the format is {str(head.get('format'))[:40]!r}, expected {FORMAT!r}")
    items = _Items(name, head, ids, header)
    known = {one.id: one.seq for one in rows}
    free = max(known.values(), default=0) + 1
    seq_of: list[int] = []  # of the answers, by their number
    found: list[New] = []
    for number, line in enumerate(lines[1:], start=2):
        entry = _object(name, number, line)
        key = hashlib.sha256(f"{lines[0]}\n{number}\n{line}".encode()).hexdigest()[:32]
        op = "undo" if "undo" in entry else "answer"
        try:
            body = _undo(entry, seq_of) if op == "undo" else _answer(entry, items, seq_of)
        except (KeyError, TypeError, ValueError, IndexError) as bad:
            fault = str(bad).split("\n", maxsplit=1)[0] if isinstance(bad, LinkwiseError) else "expected an answer"
            raise _refused(name, number, fault.rstrip(".")) from bad
        if key not in known:
            known[key], free = free, free + 1
            found.append(New(key, str(entry.get("who", "")), "cli", op, body))
        if op == "answer":
            seq_of.append(known[key])
    return found


def _object(name: str, number: int, line: str) -> dict[str, Any]:
    try:
        row = parse_json(line)
    except ValueError as bad:
        raise _refused(name, number, f"it is not JSON ({bad})") from bad
    if not isinstance(row, dict):
        raise _refused(name, number, "expected a JSON object")
    return row


def _refused(name: str, number: int, fault: str) -> LinkwiseError:
    return LinkwiseError(
        f"{name}, line {number}: {fault}.\nHint: give a log that `linkwise ask` wrote about this data."
    )


class _Items:
    """The items that answers of a log are about: by name, or by row where the rows are those of the project."""

    def __init__(
        self, name: str, head: Mapping[str, Any], ids: Sequence[str], header: Callable[[], Mapping[str, Any]]
    ) -> None:
        self._name, self._head, self._ids, self._header = name, head, ids, header
        self._known = frozenset(ids)
        self._fits = False

    def of(self, entry: Mapping[str, Any]) -> list[str]:
        """Return the items of an answer."""
        if "names" in entry:
            names = entry["names"]
            strange = [one for one in names if one not in self._known]
            if strange or len(names) != len(entry["items"]):
                msg = (
                    f"the project has no item {str(strange[0])[:60]!r}"
                    if strange
                    else "names and items differ in number"
                )
                raise LinkwiseError(msg)
            return [str(one) for one in names]
        self._require_same()
        rows = entry["items"]
        if not all(type(at) is int and 0 <= at < len(self._ids) for at in rows):
            msg = f"items are {rows}, expected rows from 0 to {len(self._ids) - 1}"
            raise LinkwiseError(msg)
        return [self._ids[at] for at in rows]

    def _require_same(self) -> None:
        if self._fits:
            return
        if self._head.get("n_samples") != len(self._ids):
            told = (
                f"it is about {self._head.get('n_samples')} samples, but the project has {many(len(self._ids), 'item')}"
            )
            raise _refused(self._name, 1, told)
        if self._head.get("data") != self._header()["data"]:
            raise _refused(self._name, 1, "it names no items, and is about other data than this project")
        self._fits = True


def _answer(entry: Mapping[str, Any], items: _Items, seq_of: Sequence[int]) -> dict[str, Any]:
    if strange := set(entry) - {"items", "answer", "names", *_PLAIN}:
        msg = f"there is an unknown field {min(strange)!r}"
        raise LinkwiseError(msg)
    told = {key: entry.get(key, plain) for key, plain in _PLAIN.items() if key in ("confidence", "asked")}
    checks = [seq_of[at] for at in entry.get("checks", ())]
    return read_body("answer", {"items": items.of(entry), "answer": entry["answer"], "checks": checks, **told})


def _undo(entry: Mapping[str, Any], seq_of: Sequence[int]) -> dict[str, Any]:
    number = entry["undo"]
    if set(entry) != {"undo"} or type(number) is not int or not 0 <= number < len(seq_of):
        msg = f"it takes back answer {number}, but there are {len(seq_of)} before it"
        raise LinkwiseError(msg)
    return {"target": seq_of[number]}


def to_answers(rows: Sequence[Statement], ids: Sequence[str], header: Mapping[str, Any]) -> bytes:
    """Return the answers of a project as a log of `linkwise ask`.

    Notes
    -----
    **Guarantee** a log of `linkwise ask` that was read into a project comes out with the same lines, as long as nothing
    but answers was said. Such a log knows no way to take an undo back: there the answer is written once more.
    """
    place = {name: at for at, name in enumerate(ids)}
    entries: list[dict[str, Any]] = []
    number_of: dict[int, int] = {}
    answers = {one.seq: one for one in rows if one.op == "answer"}
    count, standing = 0, set[int]()

    def give(one: Statement) -> None:
        nonlocal count
        body = one.body
        rows = [place[name] for name in body["items"]]
        items, answer = sorted(rows), body["answer"]
        if answer in _ODD:
            answer = _ODD[items.index(rows[_ODD.index(answer)])]
        entry: dict[str, Any] = {"items": items, "answer": answer, "names": [ids[at] for at in items]}
        checks = [number_of[seq] for seq in body["checks"] if seq in number_of]
        extra = {"confidence": body["confidence"], "who": one.who, "asked": body["asked"], "checks": checks}
        entries.append(entry | {key: value for key, value in extra.items() if value != _PLAIN[key]})
        number_of[one.seq], count = count, count + 1
        standing.add(one.seq)

    for one in rows:
        if one.op == "answer" and all(name in place for name in one.body["items"]):
            give(one)
        elif one.op == "undo" and one.body["target"] in number_of:
            entries.append({"undo": number_of[one.body["target"]]})
            standing.discard(one.body["target"])
        elif one.op == "undo" and one.body["target"] not in answers:  # perhaps the undo of an undo
            undone = fold(rows, one.seq).undone
            now = {seq for seq in number_of if seq not in undone}
            entries += [{"undo": number_of[seq]} for seq in sorted(standing - now)]
            back = sorted(now - standing)
            standing &= now
            for seq in back:
                give(answers[seq])
    lines = [json.dumps(row, ensure_ascii=False, separators=(",", ":")) for row in (dict(header), *entries)]
    return ("\n".join(lines) + "\n").encode()
