"""Attacks in a real browser that is let in: other sites, a name bound to this computer, scripts stored in the data."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from playwright.sync_api import expect, sync_playwright

from tests.app.browser import ARGUMENTS, CHROMIUM, PATIENT
from tests.app.running import Workbench

EVIL = "evil.example"
# Everything that a page of another site can try with the cookies of this browser; each must come back as "refused".
ATTACK = """async (home) => {
  const found = {}, asks = { credentials: 'include' };
  const body = { kind: 'must_link', items: ['item 1', 'item 2'] };
  const told = { id: 'stolen', op: 'say', via: 'menu', basis: 1, body };
  const attempt = async (name, work) => { try { found[name] = await work(); } catch { found[name] = 'refused'; } };
  const element = (tag, made) => new Promise((done) => {
    const ends = { onload: () => done('loaded'), onerror: () => done('refused') };
    const one = Object.assign(document.createElement(tag), ends, made);
    document.body.append(one);
  });
  await attempt('read', async () => (await fetch(home + 'api/state', asks)).text());
  const ours = { ...asks, headers: { 'x-linkwise': '1', 'content-type': 'application/json' } };
  await attempt('read as the page does', async () => (await fetch(home + 'api/state', ours)).text());
  await attempt('read the page', async () => (await fetch(home)).text());
  const sent = { ...ours, method: 'POST', body: JSON.stringify(told) };
  await attempt('say', async () => (await fetch(home + 'api/say', sent)).text());
  for (const path of ['say', 'leave', 'quit', 'stop', 'upload', 'read'])   // sent without asking first, unseen
    await fetch(home + 'api/' + path, { ...asks, method: 'POST', mode: 'no-cors', body: sent.body }).catch(() => {});
  for (const path of ['say', 'quit']) {                                    // a form in a frame, its text shaped as JSON
    const frame = Object.assign(document.createElement('iframe'), { name: path });
    const form = document.createElement('form');
    Object.assign(form, { method: 'POST', action: home + 'api/' + path, enctype: 'text/plain', target: path });
    form.append(Object.assign(document.createElement('input'), { name: '{"id":"form","x":"', value: '"}' }));
    document.body.append(frame, form);
    await new Promise((done) => { frame.onload = done; form.submit(); });
  }
  await attempt('script', () => element('script', { src: home + 'api/state' }));
  await attempt('code of the page', () => element('script', { src: home + 'static/state.js', type: 'module' }));
  await attempt('picture', () => element('img', { src: home + 'api/picture/0' }));
  await attempt('style', () => element('link', { rel: 'stylesheet', href: home + 'static/app.css' }));
  await attempt('frame', async () => {
    const frame = document.createElement('iframe');
    const shown = new Promise((done) => { frame.onload = done; });
    frame.src = home; document.body.append(frame);
    await shown;
    return frame.contentDocument.body.innerText;
  });
  await attempt('events', () => new Promise((done) => {
    const stream = new EventSource(home + 'api/events', { withCredentials: true });
    stream.onopen = () => done('open'); stream.onerror = () => done('refused');
  }));
  await attempt('socket', () => new Promise((done) => {
    const socket = new WebSocket(home.replace('http', 'ws') + 'api/events');
    socket.onopen = () => done('open'); socket.onerror = () => done('refused');
  }));
  return found;
}"""


@pytest.fixture(scope="module")
def browser():
    with sync_playwright() as play:
        rules = f"--host-resolver-rules=MAP {EVIL} 127.0.0.1"
        running = play.chromium.launch(executable_path=CHROMIUM, args=[*ARGUMENTS, rules])
        yield running
        running.close()


@pytest.fixture
def elsewhere():
    """Another server of this computer, which anyone may have put there."""

    class Page(BaseHTTPRequestHandler):
        def do_GET(self):
            raw = b"<!doctype html><title>prizes</title><body>"
            self.send_response(200)
            self.send_header("content-type", "text/html")
            self.send_header("content-length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Page)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_address[1]
    server.shutdown()
    server.server_close()


@pytest.fixture
def bench(tmp_path):
    with Workbench(tmp_path) as running:
        running.sign_in().open_table()
        yield running


def let_in(browser, bench):
    context = browser.new_context()
    context.set_default_timeout(PATIENT)
    page = context.new_page()
    page.goto(bench.server.link("me"))
    expect(page.locator("#asked")).to_be_visible()
    return page


@pytest.mark.parametrize("host", [EVIL, "127.0.0.1", "localhost"])
def test_another_site_learns_and_changes_nothing(browser, bench, elsewhere, host):
    """Also one of this very computer, on another port: to the browser that is the same site."""
    mine = let_in(browser, bench)
    theirs = mine.context.new_page()
    theirs.goto(f"http://{host}:{elsewhere}/")
    found = theirs.evaluate(ATTACK, bench.server.address)
    assert found == dict.fromkeys(found, "refused")
    assert len(found) == 11
    state = bench.get("state").json
    assert (state["seq"], state["project"]["name"]) == (1, "beers.lw")
    mine.locator(".yes").click()
    expect(mine.locator("#knowledge .said")).to_have_count(1)
    mine.context.close()


def test_a_window_that_another_site_opens_is_out_of_its_reach(browser, bench, elsewhere):
    mine = let_in(browser, bench)
    theirs = mine.context.new_page()
    theirs.goto(f"http://127.0.0.1:{elsewhere}/")
    with mine.context.expect_page() as opened:
        theirs.evaluate("(home) => { window.prey = window.open(home); }", bench.server.address)
    expect(opened.value.locator("#asked")).to_be_visible()
    assert opened.value.evaluate("window.opener") is None
    assert theirs.evaluate(
        "() => { try { return String(prey.document.body.innerText); } catch { return 'refused'; } }"
    ) in ("", "refused")
    assert theirs.evaluate("prey.closed")  # it is not the window that was opened any more
    mine.context.close()


def test_a_name_that_is_bound_to_this_computer_is_not_answered(browser, bench):
    """DNS rebinding: the other site's own name leads here, so that its page would be of the same origin."""
    mine = let_in(browser, bench)
    theirs = mine.context.new_page()
    reply = theirs.goto(f"http://{EVIL}:{bench.server.port}/")
    assert reply.status == 421
    read = """async (path) => {
      const told = await fetch(path, { headers: { 'x-linkwise': '1' } });
      return [told.status, await told.text()];
    }"""
    for path in ("/", "/static/main.js", "/api/state", "/api/names"):
        status, body = theirs.evaluate(read, path)
        assert status == 421
        assert "item" not in body
    said = """async (body) => (await fetch('/api/say', {
      method: 'POST', body, headers: { 'x-linkwise': '1', 'content-type': 'application/json' },
    })).status"""
    told = {
        "id": "x",
        "op": "say",
        "via": "menu",
        "basis": 1,
        "body": {"kind": "must_link", "items": ["item 1", "item 2"]},
    }
    assert theirs.evaluate(said, json.dumps(told)) == 421
    assert bench.get("state").json["seq"] == 1
    mine.context.close()


HIT = "window.hit=1"
SCRIPTS = [
    f"<img src=x onerror={HIT}>", f"<script>{HIT}</script>", f"javascript:{HIT}", f'"><svg onload={HIT}>',
    f"'-{HIT}-'", f"${{{HIT}}}", f"</textarea><iframe srcdoc='<script>parent.{HIT}</script>'>", "http://evil.example/x.png",
    f"<a href=javascript:{HIT}>x</a>", "&lt;b&gt;", "{{constructor.constructor('return 1')()}}", "\u202egnp.exe",
]  # fmt: skip


def test_scripts_in_the_data_are_shown_as_text(browser, tmp_path):
    """In names of items, columns, files, branches, notes and people: nothing runs, is fetched, or becomes markup."""
    quoted = ['"' + one.replace('"', '""') + '"' for one in SCRIPTS]
    rows = "".join(f"{name},{at},{quoted[at - 1]}\n" for at, name in enumerate(quoted))
    table = f"name,{quoted[0]},{quoted[1]}\n{rows}"
    with Workbench(tmp_path, people=(SCRIPTS[0],)) as bench:
        context = browser.new_context()
        context.set_default_timeout(PATIENT)
        page, trouble = context.new_page(), []
        page.on("console", lambda message: trouble.append(message.text))
        page.on("pageerror", lambda error: trouble.append(str(error)))
        page.on("dialog", lambda dialog: (trouble.append(dialog.message), dialog.dismiss()))
        own = (bench.server.address, "data:")
        page.on("request", lambda sent: None if sent.url.startswith(own) else trouble.append(sent.url))
        page.add_init_script("addEventListener('securitypolicyviolation', (e) => console.log(e.violatedDirective))")
        page.goto(bench.server.link(SCRIPTS[0]))
        expect(page.locator(".sample").first).to_be_visible()
        sent = {"name": f"{SCRIPTS[0]}.csv", "mimeType": "text/csv", "buffer": table.encode()}
        page.locator("#file").set_input_files([sent])
        page.locator("#open").click()
        expect(page.locator(".item-name").first).to_have_text(SCRIPTS[0])
        expect(page.locator(".cell.name").first).to_have_text(SCRIPTS[0])
        page.locator(".yes").click()
        expect(page.locator("#knowledge .said")).to_have_count(1)
        page.locator(".cell.name").nth(0).click()
        page.locator(".cell.name").nth(1).click(modifiers=["Control"])
        page.keyboard.press("N")
        page.locator(".note input").fill(SCRIPTS[0])
        page.keyboard.press("Enter")
        expect(page.locator("#knowledge .said")).to_have_count(2)
        page.keyboard.press("c")
        page.locator(".note input").fill(SCRIPTS[1])
        page.keyboard.press("Enter")
        expect(page.locator("#knowledge .said")).to_have_count(3)
        said = {
            "name": f"{SCRIPTS[4]}.txt",
            "mimeType": "text/plain",
            "buffer": f"{SCRIPTS[0]} = {SCRIPTS[1]}\n".encode(),
        }
        page.locator("#said-file").set_input_files([said])
        expect(page.locator("#knowledge .said")).to_have_count(4)
        page.locator("#search").fill("<img")
        expect(page.locator(".hits")).to_contain_text("1 of 2")
        page.locator("#filter").fill(SCRIPTS[2])
        expect(page.locator(".spacer .row")).to_have_count(4)  # those whose names or values hold it
        for name in ("history", "compare", "export", "why"):
            page.keyboard.press("Escape") if name == "history" else page.locator(".drawer .mini").first.click()
            page.keyboard.press("w") if name == "why" else page.locator(f"#show-{name}").click()
            expect(page.locator(".drawer .scroll")).to_be_visible()
        page.locator("#leave").click()
        expect(page.locator(".recent button").first).to_be_visible()
        assert page.evaluate("window.hit") is None
        assert page.locator("a[href^='javascript'], iframe, .recent script, .recent img").count() == 0
        context.close()
    assert trouble == []
