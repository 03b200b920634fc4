"""Kill the processes of a workbench while a page says things, and look for what was acknowledged.

``python -m tests.app.kills`` runs the full counts and prints what it found; `tests/app/test_kills.py` runs a part.
The server is a process of its own with engines that compute nothing. It is killed by SIGKILL between, or within,
requests that follow each other without a pause; then it is started again, and whatever had no reply is sent once more.
The planted fault, a reply before the commit, must be found.
"""

from __future__ import annotations

import argparse
import asyncio
import http.client
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import uuid
from pathlib import Path

from linkwise.app._log import Statement
from linkwise.app._store import Store
from linkwise.app.server import _hands
from linkwise.app.server._desk import Desk
from linkwise.app.server._recent import Recent
from linkwise.app.server._server import Running
from linkwise.app.server._service import Service
from tests.app.running import FAKE, TABLE, Workbench

ITEMS = [line.split(",")[0] for line in TABLE.splitlines()[1:]]


# -- the process that is killed ----------------------------------------------------------------------------------------


async def reply_first(self, new):
    """The planted fault: say that a statement is saved, and save it when the next one comes."""
    late, self._late = getattr(self, "_late", None), new
    if late is not None:
        await save(self, late)
    return Statement(self.seq + 1, new.id, new.who, new.via, new.op, new.body, new.basis, "")


save = Desk.append


async def serve(project):
    """Serve a project, and print the port, a code, and the processes of the engines."""
    ask, fit = ([sys.executable, str(FAKE), name] for name in ("ask", "fit"))
    service = Service(folder=project.parent, ask=ask, fit=fit, recent=Recent(project.parent / "config"))
    running = Running(service, per_second=1e9)
    await service.open_path(project)
    serving = asyncio.ensure_future(running.run())
    while service.ask.pid is None or service.fit.pid is None:
        await asyncio.sleep(0)
    told = {"port": running.port, "code": running.sessions.code("me"), "engines": [service.ask.pid, service.fit.pid]}
    print(json.dumps(told), flush=True)
    await serving


class Process:
    """A server in a process of its own, and a page that is let in."""

    def __init__(self, project, *, planted=False):
        command = [
            sys.executable,
            "-m",
            "tests.app.kills",
            "--serve",
            str(project),
            *(["--planted"] if planted else []),
        ]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.told = json.loads(self.process.stdout.readline())
        self.host = f"127.0.0.1:{self.told['port']}"
        self.there = http.client.HTTPConnection("127.0.0.1", self.told["port"])
        self.headers = {"host": self.host, "origin": f"http://{self.host}", "x-linkwise": "1",
                        "content-type": "application/json"}  # fmt: skip
        reply = self.ask("login", {"code": self.told["code"]})
        self.headers["cookie"] = reply.headers["set-cookie"].partition(";")[0]

    def ask(self, path, told):
        self.there.request("POST", f"/api/{path}", json.dumps(told).encode(), self.headers)
        reply = self.there.getresponse()
        reply.told = json.loads(reply.read())
        return reply

    def kill(self):
        self.process.kill()

    def end(self):
        """Wait until the process and its engines are gone."""
        self.process.wait()
        self.process.stdout.close()
        self.there.close()
        for pid in self.told["engines"]:
            while alive(pid):
                pass


def alive(pid):
    """Whether a process runs; one that ended and was not waited for does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def statement(rng):
    a, b = rng.sample(ITEMS, 2)
    body = {"kind": rng.choice(["must_link", "cannot_link"]), "items": [a, b]}
    return {"id": str(uuid.uuid4()), "op": "say", "via": "key", "basis": 1, "body": body}


def kill_servers(folder, count, *, planted=False, seed=0, most=12):
    """Kill the server, again and again; return what was lost, saved twice or altered."""
    rng, project = random.Random(seed), fresh(folder)
    sent, acknowledged, pending, wrong = {}, set(), [], []
    for _ in range(count):
        server = Process(project, planted=planted)
        after, idle = rng.randrange(most), rng.randrange(60_000)
        gone = threading.Event()

        def strike(server=server, idle=idle, gone=gone):
            gone.wait()
            for _ in range(idle):  # at any moment of what follows
                pass
            server.kill()

        threading.Thread(target=strike).start()
        try:
            said = 0
            while True:
                told = pending[0] if pending else statement(rng)
                sent[told["id"]] = told
                pending = pending or [told]
                if said == after:
                    gone.set()
                reply = server.ask("say", told)
                said += 1
                if reply.status == 200:
                    acknowledged.add(told["id"])
                    pending = pending[1:]
                else:
                    wrong.append((reply.status, reply.told))
                    break
        except (OSError, http.client.HTTPException):
            pass  # it was killed
        gone.set()
        server.end()
        wrong += judged(project, sent, acknowledged)
        if planted and wrong:
            break
    return len(acknowledged), wrong


def judged(project, sent, acknowledged):
    """What is wrong with a project: acknowledged statements that are missing, and rows that are not what was sent."""
    with Store.open(project) as store:
        rows = store.statements()[1:]
        store._copied = store.seq  # no automatic copy
    ids = [one.id for one in rows]
    wrong = [("missing", key) for key in acknowledged if key not in ids]
    wrong += [("twice", key) for key in set(ids) if ids.count(key) > 1]
    body = {one.id: {name: one.body[name] for name in ("kind", "items")} for one in rows}
    return wrong + [("altered", key) for key in ids if key not in sent or body[key] != sent[key]["body"]]


def kill_engines(folder, count, seed=0):
    """Kill each engine at random moments while statements are said; all of them count, and the engines come back."""
    rng, wrong = random.Random(seed), []
    limit, _hands.RESTARTS = _hands.RESTARTS, 10**9
    sent = {}
    try:
        with Workbench(folder) as server:
            server.sign_in().open_table()
            for n in range(2 * count):
                engine = (server.service.ask, server.service.fit)[n % 2]
                while (pid := engine.pid) is None:
                    server.get("state")
                told = statement(rng)
                sent[told["id"]] = told
                if rng.random() < 0.5:
                    os.kill(pid, signal.SIGKILL)
                    reply = server.post("say", told)
                else:
                    killer = threading.Thread(target=os.kill, args=(pid, signal.SIGKILL))
                    killer.start()
                    reply = server.post("say", told)
                    killer.join()
                if reply.status != 200:
                    wrong.append((reply.status, reply.raw))
                while engine.pid in (pid, None):
                    server.get("state")
            last = str(server.get("state").json["seq"])
            while server.get("state").json["marks"][last] != "holds":  # the newest fitter has read the whole log
                pass
            if server.question() is None:
                wrong.append("no question")
    finally:
        _hands.RESTARTS = limit
    wrong += judged(Path(folder) / "beers.lw", sent, set(sent))
    return 2 * count, wrong


def fresh(folder):
    path = Path(folder) / "beers.lw"
    Store.create(
        path, {"name": "beers"}, [("beers.csv", "csv", TABLE.encode())], [(name, {}) for name in ITEMS]
    ).close()
    return path


def main():
    """Run the full counts and print them; exit with 1 if anything was lost or the planted fault was not found."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--serve", type=Path, help="used by this program itself")
    parser.add_argument("--planted", action="store_true")
    parser.add_argument("--servers", type=int, default=1000)
    parser.add_argument("--engines", type=int, default=1000, help="how often each of the two")
    given = parser.parse_args()
    if given.serve is not None:
        if given.planted:
            Desk.append = reply_first
        asyncio.run(serve(given.serve))
        return 0
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # what is counted does not depend on a real disk
    found = {}
    for name, work in (
        ("servers", lambda folder: kill_servers(folder, given.servers)),
        ("engines", lambda folder: kill_engines(folder, given.engines)),
        ("planted", lambda folder: kill_servers(folder, 200, planted=True)),
    ):
        with tempfile.TemporaryDirectory(dir=memory) as folder:
            count, wrong = found[name] = work(folder)
        told = {"servers": f"{given.servers:,} servers killed, {count:,} statements acknowledged",
                "engines": f"{count:,} engines killed", "planted": "a reply before the commit"}  # fmt: skip
        print(f"{told[name]}: {len(wrong)} faults {wrong[:3]}", flush=True)
    return 0 if not found["servers"][1] and not found["engines"][1] and found["planted"][1] else 1


if __name__ == "__main__":
    sys.exit(main())
