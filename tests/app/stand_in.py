"""A server for tests of the page alone: its requests, answered in memory by the library, under the strict policy.

It keeps no file and no secrets. Tests of saving, of the gate and of processes belong to the real server.
"""

from __future__ import annotations

import json
import queue
import struct
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import numpy as np

import linkwise
from linkwise import Constraints, check, verify, why
from linkwise.active import Dialogue, PairsAndTrios
from linkwise.engines import ReCon
from linkwise.plots._tree_layout import lay_out

STATIC = Path(linkwise.__file__).parent / "app" / "static"
FILES = {f"/static/{path.relative_to(STATIC).as_posix()}": path for path in STATIC.rglob("*") if path.is_file()}
TYPES = {".js": "text/javascript", ".css": "text/css", ".html": "text/html", ".json": "application/json"}
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
    "font-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
TRIO = ("first", "second", "third")


def pack(arrays, **facts):
    """LWA1: magic, length of the header, header, arrays aligned to 8 bytes."""
    at, listed, body = 0, [], []
    for name, array in arrays.items():
        raw = np.ascontiguousarray(array).tobytes()
        listed.append({"name": name, "dtype": array.dtype.str[1:], "at": at, "n": int(array.size)})
        raw += b"\0" * (-len(raw) % 8)
        body.append(raw)
        at += len(raw)
    head = json.dumps({**facts, "arrays": listed}).encode()
    head += b" " * (-(len(head) + 8) % 8)
    return b"LWA1" + struct.pack("<I", len(head)) + head + b"".join(body)


class Desk:
    """One project: items, a log, and what follows from it."""

    def __init__(self, X, ids, texts=None):
        self.X, self.ids, self.texts = np.asarray(X, dtype=float), list(ids), texts
        self.log, self.known_ids, self.lock = [], {}, threading.RLock()
        self.listeners: list[queue.Queue] = []
        self.down = False
        self.add("open", {}, "menu", "start")

    def add(self, op, body, via, key):
        self.log.append(
            {"seq": len(self.log) + 1, "id": key, "who": "me", "via": via, "op": op, "body": body, "at": ""}
        )
        return self.log[-1]["seq"]

    def standing(self, upto=None):
        rows = [one for one in self.log if upto is None or one["seq"] <= upto]
        gone = set()
        for one in reversed(rows):
            if one["op"] == "undo" and one["seq"] not in gone:
                gone.add(one["body"]["target"])
        return [one for one in rows if one["seq"] not in gone and one["op"] != "undo"], gone

    def statements(self, upto=None):
        """(seq, kind, items) of what stands, after repairs that drop."""
        rows, _ = self.standing(upto)
        dropped = {t["seq"] for one in rows if one["op"] == "repair" for t in one["body"]["targets"]}
        found = []
        for one in rows:
            body, items = one["body"], one["body"].get("items", [])
            if one["seq"] in dropped:
                continue
            if one["op"] == "answer" and body["answer"] in ("yes", "no"):
                found.append((one["seq"], "must_link" if body["answer"] == "yes" else "cannot_link", items))
            elif one["op"] == "answer" and body["answer"] in TRIO:
                odd = items[TRIO.index(body["answer"])]
                found.append((one["seq"], "triplet", [*(i for i in items if i != odd), odd]))
            elif one["op"] == "say" and body["kind"] in ("must_link", "cannot_link", "triplet"):
                found.append((one["seq"], body["kind"], items))
            elif one["op"] == "move" and body["reading"] == "group":
                whole = [*body["A"], *body["B"]]
                found += [(one["seq"], "must_link", [whole[0], other]) for other in whole[1:]]
            elif one["op"] == "move" and body["reading"] == "apart":
                found.append((one["seq"], "cannot_link", [body["a"], body["s"]]))
        return found

    def solve(self, upto=None):
        """Statements that hold together (the newest of a contradiction are left out), the tree, the certificate."""
        kept, doubted = [], []
        for one in self.statements(upto):
            table = self.table([*kept, one])
            (kept if check(table).status == "feasible" else doubted).append(one)
        table = self.table(kept)
        rows, _ = self.standing(upto)
        k = next((one["body"]["k"] for one in reversed(rows) if one["op"] == "cut"), 3)
        k = max(k, int(check(table).k_min or 1))
        tree = ReCon(n_clusters=k, linkage="ward").fit(self.X, constraints=table).dendrogram_
        return kept, doubted, table, tree, k

    def groups(self, upto=None):
        *_, tree, k = self.solve(upto)
        return tree.cut(n_clusters=k)

    def table(self, said):
        named = {
            kind: [tuple(items) for _, what, items in said if what == kind] for kind in ("must_link", "cannot_link")
        }
        closer = [tuple(items) for _, what, items in said if what == "triplet"]
        return Constraints.from_ids(self.ids, **named, triplets=closer)

    def tree(self, upto=None):
        *_, tree, k = self.solve(upto)
        labels = tree.cut(n_clusters=k)
        s = lay_out(tree, labels)
        high = np.sqrt(s.height / s.top)
        inner = np.sort(high[s.n_leaves :])[::-1]
        cut = float((inner[k - 2] + inner[k - 1]) / 2) if 2 <= k < len(inner) else 1.0
        arrays = {
            "parent": s.parent.astype("<i4"), "height": high.astype("<f4"), "start": s.start.astype("<i4"),
            "size": s.width.astype("<i4"), "y": s.x.astype("<f4"), "cluster": s.cluster.astype("<i2"),
        }  # fmt: skip
        return pack(arrays, n_leaves=int(s.n_leaves), v=len(self.log), k=int(k), cut=cut)

    def state(self, since):
        kept, doubted, table, tree, _ = self.solve()
        held = verify(tree, table).held
        order = [one for kind in ("must_link", "cannot_link", "triplet") for one in kept if one[1] == kind]
        assert len(order) == len(held)
        marks = {one["seq"]: "none" for one in self.log}
        marks |= {seq: "holds" if ok else "broken" for (seq, *_), ok in zip(order, held, strict=True)}
        marks |= {seq: "doubted" for seq, *_ in doubted}
        marks |= dict.fromkeys(self.standing()[1], "undone")
        found = list(marks.values())
        return {
            "seq": len(self.log), "who": "me", "people": [{"name": "me", "active": True}],
            "project": {"name": "wines.lw", "items": len(self.ids), "readonly": False},
            "statements": [one for one in self.log if one["seq"] > since], "marks": marks,
            "progress": {"answers": sum(one["op"] == "answer" for one in self.standing()[0])},
            "verdict": {name: found.count(name) for name in ("holds", "broken", "doubted")},
            "engine": {"state": "ready"}, "names": [], "conflicts": self.conflicts() if doubted else [],
        }  # fmt: skip

    def conflicts(self):
        said = sorted(self.statements(), key=lambda one: ("must_link", "cannot_link", "triplet").index(one[1]))
        told = check(self.table(said)).explanation
        if told is None:
            return []
        told = told.to_dict()
        fixes = [{"seq": said[group[0]][0], "actions": ["drop"]} for group in told["suspects"] if len(group) == 1]
        return [{"fixes": fixes, "proof": told["steps"], "seqs": [said[at][0] for at in told["core"]]}]

    def question(self):
        with Dialogue(self.X, PairsAndTrios()) as talk:
            for one in self.standing()[0]:
                if one["op"] == "answer":
                    talk.tell([self.ids.index(name) for name in one["body"]["items"]], one["body"]["answer"])
            asked = talk.ask()
        if asked is None:
            return {"question": None, "state": "done"}
        spread = self.X.std(axis=0)
        rows = self.X[list(asked.items)]
        differs = (rows.max(axis=0) - rows.min(axis=0)) / np.where(spread > 0, spread, 1)
        items = [
            {"n": int(i), "id": self.ids[i], "picture": False, "text": self.texts[i] if self.texts else None,
             "show": [] if self.texts else [
                 {"column": f"column {c}", "value": f"{self.X[i, c]:.3g}", "differs": float(differs[c])}
                 for c in range(self.X.shape[1])]}
            for i in asked.items
        ]  # fmt: skip
        key = "-".join(map(str, asked.items))
        number = sum(one["op"] == "answer" for one in self.standing()[0]) + 1
        return {"question": {"id": key, "number": number, "items": items}}

    def why(self, a, b):
        told = why(self.solve()[3], self.ids.index(a), self.ids.index(b))
        change = {
            "op": "say",
            "body": {"kind": "cannot_link", "items": [a, b]},
            "words": f"Say that {a} and {b} are apart",
        }
        return {"words": str(told).splitlines(), "changes": [change]}

    def drag(self, a, b):
        tree = self.solve()[3]
        children = {}
        for node, up in enumerate(tree.parent):
            children.setdefault(int(up), []).append(node)

        def below(node):
            waiting, found = [node], []
            while waiting:
                at = waiting.pop()
                waiting += children.get(at, [])
                found += [self.ids[at]] if at < len(self.ids) else []
            return found

        A, B = below(a), below(b)
        S = [name for other in children[int(tree.parent[a])] if other != a for name in below(other)]
        body = {"A": A, "B": B, "S": S, "a": A[0], "b": B[0], "s": S[0]}
        readings = ["group"] if set(S) & set(B) else ["group", "apart"]
        return {
            "readings": [
                {"reading": one, "already": False, "contradicts": None, "body": {**body, "reading": one}}
                for one in readings
            ]
        }

    def say(self, told):
        with self.lock:
            if told["id"] not in self.known_ids:
                self.known_ids[told["id"]] = self.add(told["op"], told["body"], told["via"], told["id"])
                for listener in self.listeners:
                    listener.put(("tree", {"v": len(self.log), "seq": len(self.log), "moved": 0}))
            return {"seq": self.known_ids[told["id"]], "next": self.question()["question"], "conflict": None}

    def answer(self, path, given):
        """The reply to a GET: an object or bytes."""
        at = int(given["at"]) if "at" in given else None
        with self.lock:
            match path:
                case "state":
                    return self.state(int(given.get("since", 0)))
                case "names":
                    return {"names": self.ids}
                case "tree":
                    return self.tree(at)
                case "map":
                    u, s, _ = np.linalg.svd(self.X - self.X.mean(axis=0), full_matrices=False)
                    return pack({"x": (u[:, 0] * s[0]).astype("<f4"), "y": (u[:, 1] * s[1]).astype("<f4")})
                case "question":
                    return self.question()
                case "items":
                    kept = [i for i, name in enumerate(self.ids) if given.get("q", "") in name]
                    first = int(given["from"])
                    rows = [
                        {"n": i, "id": self.ids[i], "values": [f"{v:.3g}" for v in self.X[i, :5]]}
                        for i in kept[first : first + int(given["n"])]
                    ]
                    return {
                        "total": len(kept),
                        "columns": [f"column {c}" for c in range(5)][: self.X.shape[1]],
                        "rows": rows,
                    }
                case "search":
                    hits = [i for i, name in enumerate(self.ids) if given["q"] in name]
                    return {"total": len(hits), "hits": hits[:200]}
                case "why":
                    return self.why(given["a"], given["b"])
                case "conflicts":
                    return {"conflicts": self.conflicts()}
                case "drag":
                    return self.drag(int(given["a"]), int(given["b"]))
                case "compare":
                    old, new = (self.groups(int(given[name])) for name in "ab")
                    moved = [
                        {"id": self.ids[i], "from": int(old[i]), "to": int(new[i])} for i in np.flatnonzero(old != new)
                    ]
                    return {"moved": moved, "n_moved": len(moved)}
                case "export":
                    return {
                        "kinds": [{"kind": "labels", "file": "labels.csv", "words": "one row per item"}],
                        "python": "import linkwise",
                        "shell": "linkwise cluster",
                    }
                case "export/labels":
                    labels = self.groups(at)
                    return "".join(f"{name},{c}\n" for name, c in zip(self.ids, labels, strict=True)).encode()
        return None


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *given):
        pass

    def reply(self, body, kind="application/json", status=200):
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(raw)))
        self.send_header("content-security-policy", POLICY)
        self.send_header("cache-control", "no-store")
        self.end_headers()
        self.wfile.write(raw)

    def do_GET(self):
        parts = urlsplit(self.path)
        desk = self.server.desk
        if parts.path == "/":
            return self.reply((STATIC / "index.html").read_bytes(), "text/html")
        if parts.path in FILES:
            return self.reply(FILES[parts.path].read_bytes(), TYPES.get(FILES[parts.path].suffix, "text/plain"))
        if parts.path == "/api/events":
            return self.stream(desk)
        told = desk.answer(parts.path.removeprefix("/api/"), {k: v[0] for k, v in parse_qs(parts.query).items()})
        if told is None:
            return self.reply({"code": "none", "message": "There is no such request."}, status=404)
        return self.reply(told, "application/octet-stream" if isinstance(told, bytes) else "application/json")

    def do_POST(self):
        desk, raw = self.server.desk, self.rfile.read(int(self.headers["content-length"]))
        if desk.down:
            return self.reply({"code": "full", "message": "The disk is full."}, status=507)
        return self.reply(desk.say(json.loads(raw)) if self.path == "/api/say" else {})

    def stream(self, desk):
        mine = queue.Queue()
        desk.listeners.append(mine)
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        self.close_connection = True
        try:
            while (told := mine.get()) is not None:
                self.wfile.write(f"event: {told[0]}\ndata: {json.dumps(told[1])}\n\n".encode())
                self.wfile.flush()
        except OSError:
            pass


class StandIn(ThreadingHTTPServer):
    """Serves a desk on a free port of this machine until the block ends."""

    daemon_threads = True

    def __init__(self, desk):
        super().__init__(("127.0.0.1", 0), Handler)
        self.desk, self.address = desk, f"http://127.0.0.1:{self.server_address[1]}"

    def handle_error(self, request, client_address):
        if not isinstance(sys.exc_info()[1], OSError):  # a page may close while it is being answered
            super().handle_error(request, client_address)

    def __enter__(self):
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *given):
        for listener in self.desk.listeners:
            listener.put(None)
        self.shutdown()
        self.server_close()
