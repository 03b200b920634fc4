"""What the workbench promises as a whole, at full size: ``python benchmarks/app_page.py [bar ...]``.

A real browser, server and engines. Times are seconds of the processor, or ratios to a control that was measured in the
same run: a statement that is saved and needs no computing, an animation that draws nothing. Every line says what was
measured and the bound; the exit code is 1 if one is missed.
"""

from __future__ import annotations

import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from playwright.sync_api import expect, sync_playwright
from sklearn.datasets import make_blobs

from tests.app.browser import ARGUMENTS, CHROMIUM
from tests.app.kills import Process, fresh
from tests.app.running import Workbench
from tests.app.stand_in import Desk, StandIn
from tests.app.test_drawing import LOAD, balanced, chain, serve, ward

MISSED: list[str] = []
PATIENT = 600_000
TICK = os.sysconf("SC_CLK_TCK")


def tell(bar: str, what: str, holds: bool) -> None:
    print(f"{bar:4} {'holds ' if holds else 'MISSED'} {what}", flush=True)
    if not holds:
        MISSED.append(bar)


def table(n: int, columns: int = 16) -> str:
    X, _ = make_blobs(n, columns, centers=12, cluster_std=2.5, random_state=0)
    lines = [f"item {at},{','.join(f'{value:.3f}' for value in row)}" for at, row in enumerate(X)]
    return "\n".join([f"name,{','.join(f'c{at}' for at in range(columns))}", *lines]) + "\n"


@contextmanager
def opened(size: tuple[int, int] = (1400, 900)):
    """Open a page of a browser."""
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        page = browser.new_context(viewport={"width": size[0], "height": size[1]}).new_page()
        page.set_default_timeout(PATIENT)
        yield page
        browser.close()


# -- processes ---------------------------------------------------------------------------------------------------------


class Command:
    """`linkwise open` as a process of its own, with its engines."""

    def __init__(self, folder: Path, *given: str, **environment: str) -> None:
        own = {"XDG_CONFIG_HOME": str(folder / "config"), "PYTHONPATH": str(Path(__file__).resolve().parents[1])}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "linkwise", "open", *given, "--no-browser"],
            cwd=folder,
            env=os.environ | own | environment,
            stdout=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            text=True,
        )
        found = re.search(r"http://127.0.0.1:(\d+)/#code=(\S+)", self.process.stdout.readline())
        self.server, self._code = type("Address", (), {"port": int(found[1])}), found[2]
        self.host, self.link = f"127.0.0.1:{found[1]}", f"http://127.0.0.1:{found[1]}/#code={found[2]}"
        self.address = f"http://{self.host}/"

    raw, get, post, headers, upload = (getattr(Workbench, name) for name in ("raw", "get", "post", "headers", "upload"))

    def sign_in(self) -> None:
        self.cookie = ""
        sent = self.headers(origin=f"http://{self.host}", content_type="application/json")
        reply = self.raw("POST", "/api/login", sent, json.dumps({"code": self._code}).encode())
        self.cookie = reply.headers["set-cookie"].partition(";")[0]

    def engines(self) -> dict[str, int]:
        """The processes of the engines by name."""
        pid, found = self.process.pid, {}
        for thread in Path(f"/proc/{pid}/task").iterdir():
            for child in (thread / "children").read_text().split():
                words = Path(f"/proc/{child}/cmdline").read_bytes().split(b"\0")
                if b"linkwise.app._engine" in words:
                    found[words[-2].decode()] = int(child)
        return found

    def end(self) -> None:
        self.process.send_signal(signal.SIGINT)
        self.process.communicate()


def spent(pid: int) -> float:
    """Seconds of the processor that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICK


def resident(pid: int) -> float:
    """Megabytes of memory that a process holds for itself: what others share with it is not counted twice."""
    text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    return int(re.search(r"Pss:\s+(\d+)", text)[1]) / 1024


# -- bars --------------------------------------------------------------------------------------------------------------

ROUNDS = """async (count) => {
  const { answer, question, asking, say, seq } = await import('/static/state.js');
  const ready = () => new Promise((done) => {
    const look = () => (asking.value === 'ready' && question.value ? done() : setTimeout(look, 2));
    look();
  });
  const found = { answer: [], control: [] };
  for (let n = 0; n < count; n++) {
    await ready();
    let at = performance.now();
    await say('note', { seq: seq.value, text: 'control' });
    found.control.push(performance.now() - at);
    const [a, b, c] = question.value.items, far = (one, other) => Math.abs(one.value - other.value) > 7;
    const same = (one, other) => one.show.filter((cell, i) => far(cell, other.show[i])).length < 3;
    const odd = () => (same(a, b) ? 'third' : same(a, c) ? 'second' : same(b, c) ? 'first' : 'unsure');
    const word = c ? odd() : same(a, b) ? 'yes' : 'no';
    at = performance.now();
    await answer(word);
    await ready();
    found.answer.push(performance.now() - at);
  }
  return found;
}"""


def b4(n: int = 2000, count: int = 150) -> None:
    """From a key to the next question in the browser, against a statement that is saved and computes nothing."""
    with tempfile.TemporaryDirectory() as folder, Workbench(folder, engines="real") as bench, opened() as page:
        bench.sign_in().open_table(table(n))
        page.goto(bench.server.link("me"))
        expect(page.locator("#asked")).to_be_visible(timeout=PATIENT)
        expect(page.locator(".chip:not(.none)").first).to_be_visible(timeout=PATIENT)
        page.evaluate(ROUNDS, 20)  # what is compiled or loaded once
        found = page.evaluate(ROUNDS, count)
    one, control = (float(np.percentile(found[name], 95)) for name in ("answer", "control"))
    tell(
        "B4",
        f"{count} answers, n = {n:,}: to the next question p95 {one:.0f} ms, a note p95 {control:.0f} ms "
        "(bound 150 ms, or 4 times the note)",
        one <= max(150, 4 * control),
    )


def without_pictures(project: Path) -> None:
    """Remove the tree and the map that are kept in a project, to be shown until the engines have made their own."""
    with sqlite3.connect(project) as database:
        database.execute("delete from cache")
    database.close()


def note(key: str) -> dict[str, Any]:
    """A statement that needs no computing."""
    return {"id": key, "op": "note", "body": {"seq": 1, "text": "a note"}, "via": "menu", "basis": 1}


def b6(n: int = 2000) -> None:
    """Start: the server's first reply, the first tree and the first question; then with nothing compiled yet."""
    with tempfile.TemporaryDirectory() as folder:
        with Workbench(folder, engines="fake") as bench:
            bench.sign_in().open_table(table(n))
        (project,) = Path(folder).glob("*.lw")
        for cold in (False, True):
            without_pictures(project)
            nothing = {"NUMBA_CACHE_DIR": f"{folder}/compiled"} if cold else {}
            run = Command(Path(folder), project.name, **nothing)
            try:
                run.sign_in()
                run.raw("GET", "/", {"host": run.host})
                serving, engines, seen = spent(run.process.pid), {}, {}
                while len(seen) < 2:
                    engines = engines or (found if len(found := run.engines()) == 2 else {})
                    if "tree" not in seen and run.get("tree").status == 200:
                        seen["tree"] = spent(engines["fit"])
                    if "question" not in seen and run.get("question").json["question"]:
                        seen["question"] = spent(engines["ask"])
                    time.sleep(0.02)
                replies = [run.get("items?n=50").status for _ in range(20)]
                replies += [run.post("say", note(f"{cold} {at}")).status for at in range(20)]
                busy = run.get("state").json["engine"]["state"]
            finally:
                run.end()
            bound = 6 if cold else 4
            what = f"{'nothing compiled' if cold else 'warm'}, {n:,} rows: server {serving:.2f} s, "
            what += f"first tree {seen['tree']:.1f} s, first question {seen['question']:.1f} s of the processor "
            held = serving <= 0.5 and max(seen.values()) <= bound and set(replies) == {200}
            what += f"(bounds 0.5, {bound}, {bound}); {len(replies)} requests answered, then still {busy}"
            tell("B6", what, held and (busy == "preparing" or not cold))


FRAMES = """async () => {
  %s
  const shown = document.createElement('canvas');
  Object.assign(shown, { width: %d, height: %d });
  document.body.append(shown);
  const pen = shown.getContext('2d'), n = tree.n_leaves;
  const frames = (work) => new Promise((done) => {
    const times = []; let count = 0, first;
    const turn = (now) => {
      first ??= now;
      if (now - first > 3000) { times.sort((a, b) => a - b); done([count, times[times.length >> 1] || 0]); return; }
      const at = performance.now(); work(count); times.push(performance.now() - at); count++;
      requestAnimationFrame(turn);
    };
    requestAnimationFrame(turn);
  });
  const paint = () => { pen.clearRect(0, 0, shown.width, shown.height); paintBranches(pen, tree, view); };
  const empty = await frames(() => {});
  const pan = await frames((at) => { look(4, 0.002 * at); paint(); });
  const zoom = await frames((at) => { look(1.02 ** at, 0.4); paint(); });
  const named = await frames((at) => { look(n / 40, 0.001 * at); paint(); });
  look(4, 0.3);
  const at = performance.now();
  for (let i = 0; i < 1000; i++) pick(tree, view, (i * 37) %% shown.width, (i * 91) %% shown.height);
  return { empty, pan, zoom, named, pick: (performance.now() - at) / 1000 };
}"""


def b7() -> None:
    """Frames of a tree of a hundred thousand leaves, against an animation that draws nothing."""
    for make, n in ((ward, 2_000), (balanced, 100_000), (chain, 100_000)):
        with (
            StandIn(Desk(np.random.default_rng(0).normal(size=(12, 2)), [f"i{at}" for at in range(12)])) as server,
            opened() as page,
        ):
            wire = page.context.new_cdp_session(page)
            page.goto(server.address)
            serve(page, make(n))
            found = page.evaluate(FRAMES % (LOAD, 1000, 640))
            wire.send("HeapProfiler.collectGarbage")
            wire.send("Performance.enable")
            heap = next(
                one["value"]
                for one in wire.send("Performance.getMetrics")["metrics"]
                if one["name"] == "JSHeapUsedSize"
            )
        empty = found.pop("empty")[0]
        pick = found.pop("pick")
        told = ", ".join(f"{name} {count} (draw {middle:.1f} ms)" for name, (count, middle) in found.items())
        enough = all(count >= min(90, empty / 2) and middle <= 8 for count, middle in found.values())
        tell(
            "B7",
            f"{make.__name__} {n:,}: frames in 3 s: empty {empty}, {told}; pick {pick:.3f} ms; "
            f"heap {heap / 1e6:.0f} MB (bounds 90 or half of empty, 8 ms, 1 ms, 80 MB)",
            enough and pick <= 1 and heap <= 80e6,
        )


def b21(large: int = 100_000) -> None:
    """Memory: an idle server, and the app with 2,000 and with many items."""
    with tempfile.TemporaryDirectory() as folder:
        run = Command(Path(folder))
        try:
            run.sign_in()
            idle = resident(run.process.pid)
            tell("B21", f"idle server {idle:.0f} MB (bound 60)", idle <= 60)
        finally:
            run.end()
        for n, bound in ((2_000, 700), (large, 1_500)):
            with Workbench(folder, engines="fake") as bench:
                bench.sign_in().open_table(table(n))
            project = max(Path(folder).glob("*.lw"), key=lambda one: one.stat().st_mtime_ns)
            run = Command(Path(folder), project.name)
            try:
                run.sign_in()
                while run.get("tree").status != 200 or not run.get("question").json["question"]:
                    time.sleep(0.1)
                pids = [run.process.pid, *run.engines().values()]
                whole = [resident(pid) for pid in pids]
                told = (
                    f"{n:,} x 16: server {whole[0]:.0f}, engines {' and '.join(f'{one:.0f}' for one in whole[1:])} MB"
                )
                tell("B21", f"{told}; together {sum(whole):.0f} (bound {bound:,})", sum(whole) <= bound)
            finally:
                run.end()


def b21_requests(requests: int = 50_000) -> None:
    """What a server keeps of its requests."""
    with tempfile.TemporaryDirectory() as folder:
        server = Process(fresh(Path(folder)))  # without a limit of requests per second

        def ask(count: int) -> None:
            for sent in range(count):
                path = ("state", "items?n=20", "search?q=1", "question")[sent % 4]
                server.there.request("GET", f"/api/{path}", headers=server.headers)
                server.there.getresponse().read()

        ask(requests // 10)
        handles = Path(f"/proc/{server.process.pid}/fd")
        before, files = resident(server.process.pid), len(list(handles.iterdir()))
        ask(requests)
        grown, left = resident(server.process.pid) - before, len(list(handles.iterdir())) - files
        server.kill()
        server.end()
    told = f"{requests:,} requests: the server grew by {grown:.1f} MB (bound 20), {left} files more"
    tell("B21", told, grown <= 20 and not left)


BARS = {"b4": b4, "b6": b6, "b7": b7, "b21": b21, "b21-requests": b21_requests}

if __name__ == "__main__":
    for name in sys.argv[1:] or BARS:
        BARS[name]()
    sys.exit(1 if MISSED else 0)
