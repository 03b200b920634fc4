"""Requests that a hostile or broken client may send; ``python -m tests.app --requests 10000`` sends many."""

from __future__ import annotations

import json

from linkwise.app._log import OPS
from linkwise.app.server._server import GETS, POSTS

WORDS = ["", "item 1", "item 2", "item 3", "nobody", "-1", "0", "3", "1e9", "<img src=x onerror=alert(1)>", "=cmd()",
         "../x", "a/b", "%00", "\u202e", "😀", "x" * 3_000, "javascript:1", "'; drop table log; --", "NaN"]  # fmt: skip
KEYS = ["items", "answer", "kind", "A", "B", "S", "a", "b", "s", "reading", "parts", "text", "seq", "k", "height",
        "name", "statements", "targets", "active", "target", "question", "confidence", "weight", "zz"]  # fmt: skip
QUERY = ["since", "from", "n", "q", "order", "down", "a", "b", "v", "at", "who", "zz"]


def value(rng, depth=0):
    match rng.randrange(9 if depth < 3 else 6):
        case 0:
            return rng.choice(WORDS)
        case 1:
            return rng.choice([0, 1, -1, 2, 3, 2**53, 1e308, 0.5, True, False, None])
        case 2 | 3:
            return f"item {rng.randrange(14)}"
        case 4 | 5:
            return rng.choice(["yes", "no", "unsure", "first", "must_link", "together", "branch", "group", "drop"])
        case 6 | 7:
            return [value(rng, depth + 1) for _ in range(rng.randrange(4))]
    return {rng.choice(KEYS): value(rng, depth + 1) for _ in range(rng.randrange(5))}


def told(rng, path):
    if path == "say":
        body = {rng.choice(KEYS): value(rng) for _ in range(rng.randrange(6))}
        made = {"id": f"{rng.random()}", "op": rng.choice(OPS), "body": body, "via": "menu", "basis": rng.randrange(4)}
        if rng.random() < 0.3:
            made[rng.choice([*made, "zz"])] = value(rng)
        return made
    return {rng.choice(["upload", "roles", "options", "recent", "sample", "job", "zz"]): value(rng)
            for _ in range(rng.randrange(4))}  # fmt: skip


def requests(rng, n, server):
    """Yield method, path, headers and body of each; none of them may be answered with a server error."""
    from urllib.parse import quote

    for _ in range(n):
        headers = server.headers(origin=f"http://{server.host}", content_type="application/json")
        for _ in range(rng.choice([0, 0, 0, 1, 2])):
            headers[rng.choice(list(headers))] = quote(rng.choice(WORDS), safe=" ()=<>:/")
        if rng.random() < 0.5:
            path = rng.choice([name for name in POSTS if name not in ("leave", "quit", "stop")] + ["login"])
            body = json.dumps(told(rng, path), ensure_ascii=rng.random() < 0.5).encode("utf-8", "replace")
            if rng.random() < 0.15:
                at = rng.randrange(len(body) + 1)
                body = body[:at] + bytes([rng.randrange(256)]) + body[at + rng.randrange(3) :]
            yield "POST", f"/api/{path}", headers, body
        elif rng.random() < 0.15:
            headers["content-type"] = "application/octet-stream"
            headers["x-name"] = quote(rng.choice(WORDS))
            yield "POST", "/api/upload", headers, rng.randbytes(rng.randrange(200))
        else:
            given = "&".join(f"{rng.choice(QUERY)}={quote(str(rng.choice(WORDS)))}" for _ in range(rng.randrange(4)))
            below = rng.choice(["", "", "", "/", f"/{quote(rng.choice(WORDS), safe='')}"])
            kind = rng.choice([*GETS, "picture", "export", "../x", "zz"])
            yield rng.choice(["GET"] * 9 + ["HEAD", "PUT"]), f"/api/{kind}{below}?{given}", headers, None
