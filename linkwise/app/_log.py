"""The log of a project: its statements, and what is checked before one is taken."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from linkwise._messages import did_you_mean, in_words, many
from linkwise.exceptions import LinkwiseError

OPS = (
    "open", "answer", "say", "move", "split", "lock", "name",
    "note", "flag", "cut", "import", "repair", "people", "undo",
)  # fmt: skip
SAYS = frozenset({"answer", "say", "move", "split", "lock", "import"})  # statements about items, which engines get
VIAS = ("question", "drag", "menu", "key", "import", "repair", "cli", "notebook")
KINDS = ("must_link", "cannot_link", "triplet", "together", "apart")
PAIR_ANSWERS = ("yes", "no", "unsure")
TRIO_ANSWERS = ("first", "second", "third", "unsure")
READINGS = ("branch", "group", "away", "apart")
ACTIONS = ("drop", "soften", "flip")
ROLES = ("name", "number", "category", "text", "picture", "know", "show", "ignore")
MOST_NAMES = 1_000_000  # names of items in one statement
MOST_ROWS = 200_000  # statements of one import
MOST_LETTERS = 2_000  # of a name or a note
LARGEST = 2**53 - 1  # the largest integer that JSON readers agree about


@dataclass(frozen=True, slots=True)
class New:
    """A statement that is not in the log yet; `id` is chosen by the sender, so that sending twice saves once."""

    id: str
    who: str
    via: str
    op: str
    body: dict[str, Any]
    basis: int = 0


@dataclass(frozen=True, slots=True)
class Statement:
    """One row of the log."""

    seq: int
    id: str
    who: str
    via: str
    op: str
    body: dict[str, Any]
    basis: int
    at: str

    def to_dict(self) -> dict[str, Any]:
        """Return the row as plain values, as the page and the engines read it."""
        return {
            "seq": self.seq, "id": self.id, "who": self.who, "via": self.via,
            "op": self.op, "body": self.body, "basis": self.basis, "at": self.at,
        }  # fmt: skip

    @classmethod
    def from_dict(cls, row: Mapping[str, Any]) -> Statement:
        """Read a row that `to_dict` made."""
        return cls(*(row[name] for name in ("seq", "id", "who", "via", "op", "body", "basis", "at")))


# -- reading what a person or a program sends --------------------------------------------------------------------------


def read_new(sent: Any, who: str) -> New:
    """Check a statement as it was sent, ``{id, op, body, via, basis}``, and return a copy that can be saved."""
    told = _object("a statement", sent, needed=("id", "op", "body"), known=("id", "op", "body", "via", "basis", "who"))
    key = _text("id", told["id"], 100)
    if not key:
        _refuse("the id of a statement is empty", "send a text that no other statement has, as a UUID")
    via = told.get("via", "menu")
    _require(via in VIAS, f"via is {_shown(via)}, expected {in_words([repr(one) for one in VIAS], 'or')}")
    basis = _integer("basis", told.get("basis", 0), least=0)
    return New(key, _text("who", who, 100), via, told["op"], read_body(told["op"], told["body"]), basis)


def read_body(op: Any, body: Any) -> dict[str, Any]:
    """Check the body of a statement and return a copy with every default filled in; unknown fields are refused."""
    if not isinstance(op, str) or op not in _READERS:
        _refuse(f"there is no statement {_shown(op)}", did_you_mean(op, OPS, f"use one of {', '.join(OPS)}"))
    return _READERS[op](body)


def require_targets(op: str, body: Mapping[str, Any], log: Sequence[Statement]) -> None:
    """Refuse a statement that refers to a row of the log that does not exist or cannot be meant."""
    rows = {one.seq: one for one in log}
    if op == "undo":
        target = rows.get(body["target"])
        if target is None:
            _refuse(f"there is no statement #{body['target']} to undo", _last(log))
        if target.seq == min(rows):
            _refuse(f"#{target.seq} opened the project and cannot be undone", "make another project instead")
    elif op == "repair":
        for one in body["targets"]:
            target = rows.get(one["seq"])
            if target is None:
                _refuse(f"there is no statement #{one['seq']} to repair", _last(log))
            if target.op not in SAYS:
                why = f"#{one['seq']} ({target.op}) says nothing about items"
                _refuse(f"{why}, so there is nothing to {one['action']}", f"undo #{one['seq']} instead")
            lines = {row["line"] for row in target.body["statements"]} if target.op == "import" else set()
            if one["line"] and one["line"] not in lines:
                _refuse(f"#{one['seq']} has no line {one['line']}", "leave `line` out to mean the whole statement")
    elif op in ("note", "flag") and "seq" in body and body["seq"] not in rows:
        _refuse(f"there is no statement #{body['seq']} to {op}", _last(log))


def names_in(op: str, body: Mapping[str, Any]) -> set[str]:
    """Return the names of all items that a statement is about."""
    found: set[str] = set(body.get("items", ()))
    if op == "move":
        found.update(body["A"], body["B"], body["S"])
    elif op == "split":
        found.update(*body["parts"])
    elif op == "import":
        found.update(*(row["items"] for row in body["statements"]))
    return found


def _last(log: Sequence[Statement]) -> str:
    return f"the newest statement is #{max((one.seq for one in log), default=0)}"


def _refuse(fault: str, hint: str = "") -> NoReturn:
    msg = f"{fault}.\nHint: {hint}{'' if hint.endswith('?') else '.'}" if hint else f"{fault}."
    raise LinkwiseError(msg)


def _require(holds: bool, fault: str, hint: str = "") -> None:
    if not holds:
        _refuse(fault, hint)


def _shown(value: Any) -> str:
    shown = repr(value)
    return shown if len(shown) <= 60 else f"{shown[:57]}..."


def _object(what: str, value: Any, *, needed: Iterable[str] = (), known: Iterable[str] = ()) -> dict[str, Any]:
    _require(isinstance(value, dict), f"{what} is {_shown(value)}, expected an object with named fields")
    for name in needed:
        _require(name in value, f"{what} has no field {name!r}")
    for name in value:
        if name not in known:
            _refuse(f"{what} has an unknown field {_shown(name)}", did_you_mean(name, known, "leave it out"))
    return dict(value)


def _text(what: str, value: Any, most: int = MOST_LETTERS) -> str:
    _require(isinstance(value, str), f"{what} is {_shown(value)}, expected a text")
    _require(len(value) <= most, f"{what} has {many(len(value), 'letter')}, at most {most:,} are taken")
    _require(not re.search("[\ud800-\udfff]", value), f"{what} holds half a character (a lone surrogate)")
    return str(value)


def _integer(what: str, value: Any, least: int = 1) -> int:
    whole = isinstance(value, int) and not isinstance(value, bool)
    _require(whole and least <= value <= LARGEST, f"{what} is {_shown(value)}, expected a whole number from {least}")
    return int(value)


def _number(what: str, value: Any, low: float, high: float = math.inf, *, open_low: bool = False) -> float:
    plain = isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) <= LARGEST
    inside = plain and math.isfinite(value) and low <= value <= high and not (open_low and value == low)
    span = f"above {low:g}" if open_low else f"from {low:g}" + (f" to {high:g}" if high < math.inf else "")
    _require(inside, f"{what} is {_shown(value)}, expected a number {span}")
    return float(value)


def _choice(what: str, value: Any, choices: Sequence[str]) -> str:
    if not isinstance(value, str) or value not in choices:
        _refuse(f"{what} is {_shown(value)}, expected {in_words([repr(one) for one in choices], 'or')}")
    return value


def _items(what: str, value: Any, least: int = 1, most: int = MOST_NAMES) -> list[str]:
    """Names of different items, as a list."""
    _require(isinstance(value, list), f"{what} is {_shown(value)}, expected a list of names of items")
    wanted = f"{least}" if least == most else f"at least {least}" if most == MOST_NAMES else f"{least} to {most:,}"
    _require(least <= len(value) <= most, f"{what} names {many(len(value), 'item')}, expected {wanted}")
    names = [_text(f"a name in {what}", one) for one in value]
    twice = next((name for name, count in Counter(names).items() if count > 1), None)
    _require(twice is None, f"{what} names {_shown(twice)} twice", "name each item once")
    return names


def _open(body: Any) -> dict[str, Any]:
    known = ("name", "file", "roles", "options", "engine", "strategy", "seed", "versions", "fingerprint")
    told = _object("open", body, needed=("name",), known=known)
    made: dict[str, Any] = {"name": _text("name", told["name"], 400)}
    file = told.get("file")
    if file is not None:
        file = _object("file", file, needed=("name", "kind"), known=("name", "kind", "sha256"))
        file = {name: _text(f"file {name}", value, 400) for name, value in file.items()}
    made["file"] = file
    roles = _object("roles", told.get("roles", {}), known=told.get("roles", {}))
    made["roles"] = {
        _text("a column", name): _choice(f"the role of {name!r}", role, ROLES) for name, role in roles.items()
    }
    options = _object("options", told.get("options", {}), known=told.get("options", {}))
    made["options"] = {
        _text("an option", name, 200): _plain(f"option {name!r}", value) for name, value in options.items()
    }
    for name in ("engine", "strategy", "fingerprint"):
        value = told.get(name)
        made[name] = None if value is None else _text(name, value, 400)
    made["seed"] = _integer("seed", told.get("seed", 0), least=0)
    versions = _object("versions", told.get("versions", {}), known=told.get("versions", {}))
    made["versions"] = {
        _text("a package", name, 200): _text("a version", value, 200) for name, value in versions.items()
    }
    return made


def _plain(what: str, value: Any) -> Any:
    """A text, number, truth value or nothing."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return _text(what, value)
    if isinstance(value, int):
        _require(abs(value) <= LARGEST, f"{what} is {_shown(value)}, a number beyond what can be kept")
        return value
    ok = isinstance(value, float) and math.isfinite(value)
    _require(ok, f"{what} is {_shown(value)}, expected a text, a number, true or false")
    return value


def _answer(body: Any) -> dict[str, Any]:
    known = ("items", "answer", "confidence", "checks", "question", "asked")
    told = _object("answer", body, needed=("items", "answer"), known=known)
    items = _items("answer", told["items"], 2, 3)
    answers = PAIR_ANSWERS if len(items) == 2 else TRIO_ANSWERS
    made: dict[str, Any] = {"items": items, "answer": _choice("answer", told["answer"], answers)}
    made["confidence"] = _number("confidence", told.get("confidence", 1.0), 0.5, 1.0)
    checks = told.get("checks", [])
    _require(isinstance(checks, list) and len(checks) <= MOST_ROWS, f"checks is {_shown(checks)}, expected a list")
    made["checks"] = [_integer("checks", one) for one in checks]
    question = told.get("question")
    made["question"] = None if question is None else _text("question", question, 400)
    made["asked"] = told.get("asked", True)
    _require(isinstance(made["asked"], bool), f"asked is {_shown(made['asked'])}, expected true or false")
    return made


def _statement(what: str, told: Mapping[str, Any]) -> dict[str, Any]:
    """Kind, items and weight of a statement that is said or imported."""
    kind = _choice("kind", told["kind"], KINDS)
    least, most = {"must_link": (2, 2), "cannot_link": (2, 2), "triplet": (3, 3)}.get(kind, (2, MOST_NAMES))
    weight = told.get("weight")
    weight = None if weight is None else _number("weight", weight, 0.0, open_low=True)
    return {"kind": kind, "items": _items(what, told["items"], least, most), "weight": weight}


def _say(body: Any) -> dict[str, Any]:
    told = _object("say", body, needed=("kind", "items"), known=("kind", "items", "weight"))
    return _statement(str(told["kind"])[:20], told)


def _move(body: Any) -> dict[str, Any]:
    fields = ("A", "B", "S", "a", "b", "s", "reading")
    told = _object("move", body, needed=("A", "B", "a", "b", "reading"), known=fields)
    made: dict[str, Any] = {"reading": _choice("reading", told["reading"], READINGS)}
    made["A"], made["B"] = _items("A", told["A"]), _items("B", told["B"])
    made["S"] = _items("S", told.get("S") or [], 0)
    both = set(made["A"]) & set(made["B"])
    _require(not both, f"A and B share {_shown(min(both, default=''))}", "move a branch onto one outside of it")
    for small, large in (("a", "A"), ("b", "B"), ("s", "S")):
        value = told.get(small)
        if value is None and small == "s" and not made["S"]:
            made["s"] = None
            continue
        made[small] = _text(small, value)
        _require(made[small] in made[large], f"{small} is {_shown(value)}, which is not in {large}")
    if made["reading"] in ("away", "apart"):
        _require(made["s"] is not None, f"the reading {made['reading']!r} needs S, the branch that is left behind")
        mine = set(made["S"]) & set(made["A"])
        _require(not mine, f"A and S share {_shown(min(mine, default=''))}", "S is the former neighbor of A")
        if made["reading"] == "away":
            _require(
                made["b"] != made["s"],
                f"b and s are both {_shown(made['b'])}",
                "choose the reading 'group' or 'branch'",
            )
    return made


def _split(body: Any) -> dict[str, Any]:
    told = _object("split", body, needed=("parts",), known=("items", "parts"))
    parts = told["parts"]
    ok = isinstance(parts, list) and 2 <= len(parts) <= MOST_ROWS
    _require(ok, f"parts is {_shown(parts)}, expected a list of two or more lists of names")
    parts = [_items(f"part {at}", part) for at, part in enumerate(parts, start=1)]
    whole = _items("split", [name for part in parts for name in part], 2)
    items = _items("items", told.get("items", whole), 2)
    _require(
        set(items) == set(whole),
        "the parts of a split do not hold the items of the branch",
        "put each item in one part",
    )
    return {"items": items, "parts": parts}


def _lock(body: Any) -> dict[str, Any]:
    return {"items": _items("lock", _object("lock", body, needed=("items",), known=("items",))["items"], 2)}


def _name(body: Any) -> dict[str, Any]:
    told = _object("name", body, needed=("items", "text"), known=("items", "text"))
    return {"items": _items("name", told["items"]), "text": _text("text", told["text"], 200)}


def _remark(op: str) -> Callable[[Any], dict[str, Any]]:
    def read(body: Any) -> dict[str, Any]:
        told = _object(op, body, known=("items", "seq", "text"))
        one = ("items" in told) != ("seq" in told)
        _require(one, f"{op} needs either items or seq", "name what it is about, once")
        made: dict[str, Any] = {"text": _text("text", told.get("text", ""))}
        _require(op == "flag" or bool(made["text"].strip()), "the note is empty", "write a word or two")
        about = {"seq": _integer("seq", told["seq"])} if "seq" in told else {"items": _items(op, told["items"])}
        return made | about

    return read


def _cut(body: Any) -> dict[str, Any]:
    told = _object("cut", body, known=("k", "height"))
    given = {name: value for name, value in told.items() if value is not None}
    _require(len(given) < 2, "cut has both k and height", "give one of them, or neither to let the statements decide")
    if "k" in given:
        return {"k": _integer("k", given["k"])}
    return {"height": _number("height", given["height"], 0.0)} if given else {}


def _import(body: Any) -> dict[str, Any]:
    told = _object("import", body, needed=("name", "statements"), known=("name", "sha256", "statements", "by_line"))
    made: dict[str, Any] = {"name": _text("name", told["name"], 400)}
    made["sha256"] = None if told.get("sha256") is None else _text("sha256", told["sha256"], 64)
    made["by_line"] = told.get("by_line", True)  # else "line" counts statements, as several may stem from one line
    _require(isinstance(made["by_line"], bool), f"by_line is {_shown(made['by_line'])}, expected true or false")
    rows = told["statements"]
    ok = isinstance(rows, list) and 1 <= len(rows) <= MOST_ROWS
    _require(ok, f"import holds {many(len(rows), 'statement') if isinstance(rows, list) else _shown(rows)}, "
             f"expected 1 to {MOST_ROWS:,}")  # fmt: skip
    made["statements"], before, names = [], 0, 0
    for row in rows:
        one = _object("an imported statement", row, needed=("line", "kind", "items"),
                      known=("line", "kind", "items", "weight", "confidence"))  # fmt: skip
        line = _integer("line", one["line"])
        _require(line > before, f"line {line} follows line {before}", "number the lines in ascending order, each once")
        before = line
        read = {"line": line, **_statement(f"line {line}", one)}
        if one.get("confidence", 1.0) != 1.0:
            read["confidence"] = _number("confidence", one["confidence"], 0.5, 1.0)
        names += len(read["items"])
        _require(names <= MOST_NAMES, f"import names more than {MOST_NAMES:,} items", "import it in several files")
        made["statements"].append(read)
    return made


def _repair(body: Any) -> dict[str, Any]:
    targets = _object("repair", body, needed=("targets",), known=("targets",))["targets"]
    ok = isinstance(targets, list) and 1 <= len(targets) <= MOST_ROWS
    _require(ok, f"targets is {_shown(targets)}, expected a list of statements and what becomes of each")
    made = []
    for one in targets:
        told = _object("a target", one, needed=("seq", "action"), known=("seq", "line", "action"))
        line = _integer("line", told.get("line") or 0, least=0)
        made.append(
            {"seq": _integer("seq", told["seq"]), "line": line, "action": _choice("action", told["action"], ACTIONS)}
        )
    return {"targets": made}


def _people(body: Any) -> dict[str, Any]:
    told = _object("people", body, needed=("name",), known=("name", "active", "weight"))
    name, active = _text("name", told["name"], 100), told.get("active", True)
    _require(bool(name.strip()), "the name of a person is empty")
    _require(isinstance(active, bool), f"active is {_shown(active)}, expected true or false")
    return {"name": name, "active": active, "weight": _number("weight", told.get("weight", 1.0), 0.0, open_low=True)}


def _undo(body: Any) -> dict[str, Any]:
    return {"target": _integer("target", _object("undo", body, needed=("target",), known=("target",))["target"])}


_READERS: dict[str, Callable[[Any], dict[str, Any]]] = {
    "open": _open, "answer": _answer, "say": _say, "move": _move, "split": _split, "lock": _lock, "name": _name,
    "note": _remark("note"), "flag": _remark("flag"), "cut": _cut, "import": _import, "repair": _repair,
    "people": _people, "undo": _undo,
}  # fmt: skip
