"""An engine without NumPy for tests of the server: it asks about neighbors, and its tree is a star.

``python fake_engine.py ask|fit``. The export called ``die`` ends the process, the one called ``never`` gets no reply.
"""

from __future__ import annotations

import csv
import io
import itertools
import json
import os
import struct
import sys

from linkwise.app._frames import read, write
from linkwise.app._log import Statement
from linkwise.app._standing import fold


def pack(arrays, **facts):
    at, listed, body = 0, [], b""
    for name, (kind, values) in arrays.items():
        raw = struct.pack(f"<{len(values)}{kind[1]}", *values)
        listed.append({"name": name, "dtype": kind[0], "at": at, "n": len(values)})
        raw += b"\0" * (-len(raw) % 8)
        body += raw
        at += len(raw)
    head = json.dumps({**facts, "arrays": listed}).encode()
    head += b" " * (-(len(head) + 8) % 8)
    return b"LWA1" + struct.pack("<I", len(head)) + head + body


I4, F4, I2 = ("i4", "i"), ("f4", "f"), ("i2", "h")


class Engine:
    def __init__(self, name, out):
        self.name, self.out = name, out
        self.ids, self.columns, self.rows = [], [], []

    def publish(self):
        if self.name != "fit" or not self.ids:
            return
        n, v = len(self.ids), len(self.rows)
        standing = fold([Statement.from_dict(row) for row in self.rows])
        marks = {str(one.seq): "holds" for one in standing.statements}
        star = {
            "parent": (I4, [n] * n + [-1]), "height": (F4, [0.0] * n + [1.0]), "start": (I4, [*range(n), 0]),
            "size": (I4, [1] * n + [n]), "y": (F4, [*map(float, range(n)), n / 2]), "cluster": (I2, [0] * n + [0]),
        }  # fmt: skip
        told = {"event": "tree", "seq": v, "v": v, "k": 1, "moved": 0, "marks": marks, "conflicts": [], "names": []}
        write(self.out, told, pack(star, n_leaves=n, v=v, k=1, cut=0.5))
        places = {"x": (F4, [float(i) for i in range(n)]), "y": (F4, [0.0] * n)}
        write(self.out, {"event": "map", "v": v}, pack(places, v=v))

    def table(self, body):
        rows = list(csv.reader(io.StringIO(body.decode())))
        if len(rows) < 3:
            raise ValueError("a table has a line of names and two rows")
        return rows[0], rows[1:]

    def open(self, told, body):
        self.rows = told["rows"]
        head, rows = self.table(body)
        self.ids, self.columns = [row[0] for row in rows], head[1:]
        reply = {"n": len(self.ids), "ids": self.ids, "columns": self.columns}
        if told.get("items"):
            reply["items"] = [{"id": row[0], "values": row[1:], "text": None, "picture": None} for row in rows]
        return reply

    def preview(self, told, body):
        head, rows = self.table(body)
        roles = told["roles"] or {}
        columns = [{"name": name, "role": roles.get(name, "number" if at else "name")} for at, name in enumerate(head)]
        return {"columns": columns, "sample": rows[:50], "notes": [], "will": "", "error": None, "rows": len(rows)}

    def question(self, told, body):
        standing = fold([Statement.from_dict(row) for row in self.rows])
        mine = [one for one in standing.statements if one.op == "answer" and one.who == told["who"]]
        done = {tuple(one.body["items"]) for one in mine}
        for pair in itertools.pairwise(self.ids):
            if pair not in done:
                items = [
                    {"n": self.ids.index(name), "id": name, "picture": False, "text": None, "show": []} for name in pair
                ]
                return {
                    "question": {"id": "|".join(pair), "number": len(mine) + 1, "items": items},
                    "state": "ready",
                }
        return {"question": None, "state": "done"}

    def read(self, told, body):
        """Lines such as ``item 1 = item 2`` are one import; ``#seq`` takes back a row, as logs of answers do."""
        lines = body.decode().split("\n")
        if lines[0].startswith("#"):
            back = {
                "id": f"back {lines[0]}",
                "who": "ann",
                "via": "cli",
                "op": "undo",
                "body": {"target": int(lines[0][1:])},
            }
            return {"seq": len(self.rows), "rows": [back]}
        said = [{"line": n, "kind": "must_link", "items": line.split(" = ")} for n, line in enumerate(lines, 1) if line]
        if not said:
            raise ValueError("the file holds no statements")
        return {"seq": len(self.rows), "rows": [
            {"id": f"read after {len(self.rows)}", "who": "", "via": "import", "op": "import",
             "body": {"name": told["name"], "statements": said}}]}  # fmt: skip

    def sample(self, told, body):
        if told["name"] is None:
            return {"samples": [{"name": "letters", "items": 3}]}
        return {"file name": "letters.csv", "roles": {"id": "name"}}, b"id,x\na,1\nb,2\nc,3\n"

    def export(self, told, body):
        match told["kind"]:
            case None:
                kinds = [{"kind": "labels", "file": "labels.csv", "words": "one row per item"}]
                return {"kinds": kinds, "python": "import linkwise", "shell": "linkwise", "gaps": []}
            case "die":
                os._exit(3)
            case "never":
                return None
            case "labels":
                return {"file": "labels.csv", "type": "text/csv"}, "".join(f"{name},0\n" for name in self.ids).encode()
        raise ValueError("there is no such export")

    def answer(self, told, body):
        match told["do"]:
            case "log":
                self.rows += told["rows"]
                self.publish()
                return None
            case "stop":
                return None
            case "repairs":
                return {"conflict": None}
            case "tree":
                return {}, b"at %d" % told["at"]
            case "why":
                return {"words": [f"{told['a']} and {told['b']}"], "changes": []}
            case "conflicts":
                return {"conflicts": []}
            case "drag":
                return {"readings": []}
            case "compare":
                return {"moved": [], "n_moved": 0}
        return getattr(self, told["do"])(told, body)


def main():
    stream, out = sys.stdin.buffer, sys.stdout.buffer
    engine = Engine(sys.argv[1], out)
    write(out, {"event": "work", "state": "ready"})
    while (frame := read(stream)) is not None:
        told, body = frame
        try:
            reply = engine.answer(told, body)
        except ValueError as wrong:
            write(out, {"id": told.get("id", -1), "ok": False, "code": "refused", "message": str(wrong), "hint": ""})
            continue
        if reply is not None and "id" in told:
            reply, raw = reply if isinstance(reply, tuple) else (reply, b"")
            write(out, {"id": told["id"], "ok": True, **reply}, raw)
        if told["do"] == "open":
            engine.publish()


if __name__ == "__main__":
    main()
