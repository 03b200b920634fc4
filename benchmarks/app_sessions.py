"""What the workbench promises at bad moments, at full size: ``python benchmarks/app_sessions.py [bar ...]``.

A real browser with many tabs and keys without end; a server that stands still, or is gone, for ten seconds; a disk
that is full, and one that cannot be written (both of memory, mounted for the occasion, which needs a right of root).
"""

from __future__ import annotations

import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from playwright.sync_api import Page, expect

from benchmarks.app_page import MISSED, PATIENT, Command, opened, table, tell
from linkwise.app._store import Store
from tests.app.running import Workbench

PRESS = """([key, milliseconds]) => {  // a browser that is late makes up for it
  const begun = performance.now();
  window.presses = 0;
  window.pressing = setInterval(() => {
    for (; window.presses < (performance.now() - begun) / milliseconds; window.presses++)
      document.body.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
  }, milliseconds);
}"""
STILL = "() => { clearInterval(window.pressing); return window.presses; }"
SAY = """(pairs) => import('/static/state.js').then(({ say }) => {
  for (const items of pairs) say('say', { kind: 'cannot_link', items }); })"""
SAVED = "() => import('/static/transport.js').then(({ unsaved }) => unsaved.value)"
SECONDS = 10


def b12(tabs: int = 12) -> None:
    """Twelve tabs, two of which press a key fifty times a second, double clicks, and the button that goes back."""
    rows = "".join(f"item {n},{n}\n" for n in range(2_000))
    with tempfile.TemporaryDirectory() as folder, Workbench(folder) as bench, opened() as page:
        bench.sign_in().open_table(f"name,x\n{rows}")
        page.goto(bench.server.link("me"))
        expect(page.locator("#asked")).to_be_visible(timeout=PATIENT)
        others = [page.context.new_page() for _ in range(tabs - 1)]
        for other in others:
            other.set_default_timeout(PATIENT)
            other.goto(bench.server.address)
            expect(other.locator("#asked")).to_be_visible(timeout=PATIENT)
        page.evaluate(PRESS, ["y", 20])
        others[4].evaluate(PRESS, ["n", 20])
        end, doubled = time.monotonic() + SECONDS, 0
        while time.monotonic() < end:
            others[7].locator(".yes").dblclick()
            doubled += 1
        pressed = page.evaluate(STILL) + others[4].evaluate(STILL)
        others[2].go_back()
        others[2].goto(bench.server.address)
        while any(one.evaluate(SAVED) for one in (page, *others)):
            time.sleep(0.1)
        said = [one.body for one in bench.service.desk.statements if one.op == "answer"]
        for one in (page, *others):
            expect(one.locator(".kicker")).to_contain_text(f"Question {len(said) + 1:,}", timeout=PATIENT)
        asked = [body["question"] for body in said]
        right = all(body["question"] == "|".join(body["items"]) for body in said)
        streams = len(bench.service.listeners)
    twice = len(asked) - len(set(asked))
    told = f"{tabs} tabs, 50 presses a second in two of them ({pressed:,}), {doubled} double clicks: {len(said)} "
    told += (
        f"answers, {twice} to a question that had one, each about the items of its question: {right}; all tabs show "
    )
    told += f"the same question, {streams} stream"
    tell("B12", told, not twice and right and streams == 1)


@contextmanager
def disk(size: str) -> Iterator[Path]:
    """A small disk of memory."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder], check=True)
        try:
            yield Path(folder)
        finally:
            subprocess.run(["umount", folder], check=True)


def pairs(first: int, count: int = 10) -> list[list[str]]:
    """Pairs of items that were not said before."""
    return [["item 0", f"item {at}"] for at in range(first, first + count)]


def let_in(page: Page, run: Command) -> None:
    """Show the project in the page."""
    page.goto(run.link)
    expect(page.locator("#asked")).to_be_visible(timeout=PATIENT)


def said_in(project: Path) -> list[Any]:
    """What a project holds about pairs."""
    with Store.open(project) as store:
        return [one.body["items"] for one in store.statements() if one.op == "say"]


def b13() -> None:
    """Things said while the server stands still, is gone, or cannot write: each is counted, sent again, saved once."""
    with tempfile.TemporaryDirectory() as home, disk("4m") as folder, opened() as page:
        with Workbench(home) as bench:
            bench.sign_in().open_table(table(60, 4))
        (made,) = Path(home).glob("*.lw")
        project = folder / made.name
        project.write_bytes(made.read_bytes())
        own = {"XDG_CONFIG_HOME": f"{home}/config"}
        run = Command(folder, project.name, **own)
        port = str(run.server.port)
        let_in(page, run)
        counted = []

        run.process.send_signal(signal.SIGSTOP)
        page.evaluate(SAY, pairs(1))
        time.sleep(SECONDS)
        counted.append(page.evaluate(SAVED))
        run.process.send_signal(signal.SIGCONT)
        expect(page.locator("#knowledge .said")).to_have_count(10, timeout=PATIENT)

        run.process.kill()
        run.process.communicate()
        page.evaluate(SAY, pairs(11))
        time.sleep(SECONDS)
        counted.append(page.evaluate(SAVED))
        run = Command(folder, project.name, "--port", port, **own)
        let_in(page, run)
        expect(page.locator("#knowledge .said")).to_have_count(20, timeout=PATIENT)
        tell("B13", f"the server stands still, then is gone, for {SECONDS} s: {counted} counted as not saved yet",
             counted == [10, 10])  # fmt: skip

        filler = folder / "filler"
        with suppress(OSError):
            filler.write_bytes(bytes(8_000_000))
        status = []
        page.on("response", lambda reply: status.append(reply.status) if reply.url.endswith("/say") else None)
        page.evaluate(SAY, pairs(21))
        expect(page.locator(".pill.bad").first).to_contain_text("full", timeout=PATIENT)
        counted = page.evaluate(SAVED)
        filler.unlink()
        expect(page.locator("#knowledge .said")).to_have_count(30, timeout=PATIENT)
        run.end()
        tell("B13", f"a full disk: status {min(set(status) - {200})}, {counted} wait, and arrive when there is room",
             507 in status and counted == 10)  # fmt: skip
        found = said_in(project)
        whole = sorted(found) == sorted(pairs(1, 30))
        tell(
            "B13",
            f"all 30 are in the file once: {whole}, in their order: {found == pairs(1, 30)}",
            found == pairs(1, 30),
        )

        before = project.read_bytes()
        subprocess.run(["mount", "-o", "remount,ro", str(folder)], check=True)
        run = Command(folder, project.name, **own)
        let_in(page, run)
        expect(page.locator(".pill.warn")).to_contain_text("cannot be written", timeout=PATIENT)
        page.evaluate(SAY, pairs(31, 1))
        expect(page.locator(".notice.bad")).to_contain_text("cannot be written", timeout=PATIENT)
        shown = page.locator("#knowledge .said").count()
        run.end()
        subprocess.run(["mount", "-o", "remount,rw", str(folder)], check=True)
        tell("B13", f"a disk that cannot be written: {shown} statements are shown, none is taken, nothing is changed",
             shown == 30 and project.read_bytes() == before)  # fmt: skip


BARS = {"b12": b12, "b13": b13}

if __name__ == "__main__":
    for name in sys.argv[1:] or BARS:
        BARS[name]()
    sys.exit(1 if MISSED else 0)
