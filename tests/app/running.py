"""A server of the workbench in a thread, and a client that speaks to it as the page does."""

from __future__ import annotations

import asyncio
import http.client
import json
import sys
import threading
import uuid
from pathlib import Path

from linkwise.app.server._recent import Recent
from linkwise.app.server._server import Running
from linkwise.app.server._service import Service

FAKE = Path(__file__).with_name("fake_engine.py")
TABLE = "name,x,y\n" + "".join(f"item {i},{i % 7},{i % 3}\n" for i in range(12))


class Answer:
    def __init__(self, reply, raw):
        self.status, self.headers, self.raw = reply.status, reply.headers, raw

    @property
    def json(self):
        return json.loads(self.raw)


class Workbench:
    """A server that runs until the block ends; ``engines="fake"`` starts two processes without NumPy."""

    def __init__(self, folder, *, engines="fake", people=("me",), project=None, table=None, per_second=1e9,
                 port=0):  # fmt: skip
        self.folder, self.per_second, self.port = Path(folder), per_second, port
        fake = [[sys.executable, str(FAKE), name] for name in ("ask", "fit")] if engines == "fake" else [None, None]
        self._given, self._fake, self._project, self._table = people, fake, project, table
        self._started, self._failed = threading.Event(), None
        self.cookie = ""

    def __enter__(self):
        self._thread = threading.Thread(target=lambda: asyncio.run(self._run()), daemon=True)
        self._thread.start()
        self._started.wait()
        if self._failed is not None:
            raise self._failed
        return self

    def __exit__(self, *_):
        self.end()

    async def _run(self):
        ask, fit = self._fake
        self.loop = asyncio.get_running_loop()
        service = self.service = Service(
            self._given,
            self.folder,
            ask=ask,
            fit=fit,
            recent=Recent(self.folder / "config"),
            quit=self._end,
        )
        try:
            self.server = Running(service, self.port, per_second=self.per_second)
            if self._project is not None:
                await service.open_path(self._project)
            if self._table is not None:
                service.offer(self._table, self._table.with_suffix(".lw"))
        except Exception as failed:  # noqa: BLE001
            self._failed = failed
            await service.close()
            self._started.set()
            return
        self._started.set()
        await self.server.run()

    def _end(self):
        self.server.end()

    def end(self):
        if self._thread.is_alive():
            self.loop.call_soon_threadsafe(self.server.end)
        self._thread.join()

    def on_loop(self, work):
        """Run a function on the server's loop."""

        async def run():
            return work()

        return asyncio.run_coroutine_threadsafe(run(), self.loop).result()

    # -- the client -----------------------------------------------------------------------------------------------

    @property
    def host(self):
        return f"127.0.0.1:{self.server.port}"

    def raw(self, method, path, headers=(), body=None):
        """One request with exactly these headers beside those of the connection."""
        there = http.client.HTTPConnection("127.0.0.1", self.server.port)
        try:
            there.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            given = list(headers.items() if isinstance(headers, dict) else headers)
            for name, value in given:
                there.putheader(name, value)
            if body is not None and not any(
                name.lower() in ("content-length", "transfer-encoding") for name, _ in given
            ):
                there.putheader("content-length", str(len(body)))
            there.endheaders()
            if body is not None:
                there.send(body)
            reply = there.getresponse()
            return Answer(reply, reply.read())
        finally:
            there.close()

    def headers(self, **more):
        own = {"host": self.host, "x-linkwise": "1", "sec-fetch-site": "same-origin", "cookie": self.cookie}
        return own | {name.replace("_", "-"): value for name, value in more.items()}

    def sign_in(self, who="me"):
        told = json.dumps({"code": self.server.sessions.code(who)}).encode()
        sent = self.headers(origin=f"http://{self.host}", content_type="application/json")
        reply = self.raw("POST", "/api/login", sent, told)
        assert reply.status == 200
        self.cookie = reply.headers["set-cookie"].partition(";")[0]
        return self

    def get(self, path):
        return self.raw("GET", f"/api/{path}", self.headers())

    def post(self, path, told):
        sent = self.headers(origin=f"http://{self.host}", content_type="application/json")
        return self.raw("POST", f"/api/{path}", sent, told if isinstance(told, bytes) else json.dumps(told).encode())

    def upload(self, name, content, path="upload"):
        sent = self.headers(origin=f"http://{self.host}", content_type="application/octet-stream", x_name=name)
        return self.raw("POST", f"/api/{path}", sent, content)

    def open_table(self, text=TABLE):
        """A project of a table, through the same steps as the page."""
        told = self.upload("beers.csv", text.encode()).json
        roles = {one["name"]: one["role"] for one in told["columns"]}
        reply = self.post("open", {"upload": told["upload"], "roles": roles, "options": {}})
        assert reply.status == 200, reply.raw
        return self

    def say(self, op, body, **more):
        return self.post("say", {"id": str(uuid.uuid4()), "op": op, "body": body, "via": "menu", "basis": 1, **more})

    def question(self):
        """The question that waits, as soon as there is one."""
        while (told := self.get("question").json)["state"] == "waiting":
            pass
        return told["question"]
