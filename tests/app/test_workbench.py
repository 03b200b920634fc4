"""The whole: `linkwise open` in a real browser with real engines, from a table to exported files."""

import json

import numpy as np
import pytest
from playwright.sync_api import expect, sync_playwright

from linkwise.app.files import state_of_project
from tests.app.browser import ARGUMENTS, CHROMIUM, PATIENT
from tests.app.pictures import archive, square
from tests.app.running import Workbench

NODE = """(row) => Promise.all([import('/static/tree.js'), import('/static/state.js')]).then(([{ view }, { tree }]) => {
  const now = tree.value, box = document.querySelector('#tree').getBoundingClientRect();
  let v = row;
  while (now.size[now.parent[v]] < 0.45 * now.n_leaves) v = now.parent[v];
  const p = now.parent[v], x = (view.x(now.height[v]) + view.x(now.height[p])) / 2;
  return [box.left + x / view.dense, box.top + view.y(now.y[v]) / view.dense, now.size[v]];
})"""


@pytest.fixture(scope="module")
def browser():
    with sync_playwright() as play:
        running = play.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield running
        running.close()


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    with Workbench(tmp_path_factory.mktemp("bench"), engines="real") as running:
        yield running


@pytest.fixture
def page(browser, bench):
    """A page that was let in; whatever the console says and every request to another host fails the test."""
    context = browser.new_context(
        viewport={"width": 1500, "height": 950}, accept_downloads=True, reduced_motion="reduce"
    )
    context.set_default_timeout(PATIENT)
    opened, trouble = context.new_page(), []
    opened.on("console", lambda message: trouble.append(message.text))
    opened.on("pageerror", lambda error: trouble.append(str(error)))
    own = bench.server.address
    opened.on(
        "request", lambda sent: None if sent.url.startswith((own, "data:", "blob:")) else trouble.append(sent.url)
    )
    opened.trouble = trouble
    opened.goto(bench.server.link("me"))
    yield opened
    context.close()
    assert trouble == []


def table(n_groups=3, size=8):
    rng = np.random.default_rng(0)
    rows = [center + rng.normal(0, 0.7, 4) for center in range(0, 3 * n_groups, 3) for _ in range(size)]
    lines = [f"beer {at} <b>," + ",".join(f"{value:.2f}" for value in row) for at, row in enumerate(rows)]
    return "\n".join(["name,abv,ibu,color,body", *lines]) + "\n"


def log(bench, op=None):
    return [one for one in bench.service.desk.statements if op in (None, one.op)]


def choose(page, a, b, by):
    """Select two rows of the table."""
    if by == "mouse":
        page.locator(".cell.name").nth(a).click()
        page.locator(".cell.name").nth(b).click(modifiers=["Control"])
        return
    page.keyboard.press("Escape")
    for key in ("g", "l", "PageUp", *["ArrowDown"] * a, "Space", *["ArrowDown"] * (b - a), "Space"):
        page.keyboard.press(key)


def say(page, bench, word, key, by):
    before = len(log(bench))
    if by == "mouse":
        page.locator(".actions button").filter(has_text=word).click()
    else:
        page.keyboard.press(key)
    expect(page.locator("#knowledge .number").first).to_have_text(f"#{before + 1}")


# once in a frame of the page: asking all the time takes the processor from the engines that are waited for
SHOWN = """() => new Promise(requestAnimationFrame).then(() => import('/static/state.js'))
  .then(({ seq, verdict, conflicts }) => [seq.value, verdict.value.waiting, conflicts.value.length])"""


def settled(page, bench):
    """Wait until the page shows the newest state with all of its marks; return what its pill says."""
    while True:
        desk = bench.service.desk
        at, waiting, conflicts = page.evaluate(SHOWN)
        newest = desk.facts.get("seq") == desk.seq == at
        if newest and not waiting and bool(conflicts) == bool(desk.facts.get("conflicts")):
            return "bad" if conflicts else "good"


def answer_by_key(page, number):
    """Press the key for the question on the card, once more if another form of question took its place before."""
    answered = False
    while not answered:
        expect(page.locator(".yes, .odd").first).to_be_visible()
        pair = page.locator(".yes").count() == 1
        page.keyboard.press("n" if pair else "1")
        shown = "document.querySelector('.kicker')?.textContent.includes"
        other_form = f"{shown}('Question {number}') && document.querySelector('{'.odd' if pair else '.yes'}')"
        page.wait_for_function(f"() => {shown}('Question {number + 1}') || ({other_form})")
        answered = page.evaluate(f"() => {shown}('Question {number + 1}')")


def journey(page, bench, by):
    """Answer, correct, contradict and settle, look back, undo and export, on a project that is open."""
    begun = len(log(bench))
    # J2: three answers
    for number in range(1, 4):
        expect(page.locator(".kicker")).to_contain_text(f"Question {number}")
        if by == "mouse":
            page.locator(".no, .odd").first.click()
        else:
            answer_by_key(page, number)
    expect(page.locator(".kicker")).to_contain_text("Question 4")
    assert [one.via for one in log(bench, "answer")] == ["question"] * 3
    # J3: a branch is moved onto another
    expect(page.locator(".chip:not(.none)").first).to_be_visible()
    expect(page.locator("#knowledge .mark.holds")).to_have_count(3)
    if by == "mouse":
        ax, ay, _ = page.evaluate(NODE, 0)
        bx, by_, _ = page.evaluate(NODE, 20)
        page.mouse.move(ax, ay)
        page.mouse.down()
        page.mouse.move((ax + bx) / 2, (ay + by_) / 2, steps=4)
        page.mouse.move(bx, by_, steps=4)
        page.mouse.up()
        page.locator(".bubble .reading").first.click()
    else:
        for key in ("g", "t", "ArrowDown", "ArrowRight", "ArrowRight", "M", "ArrowDown", "Enter"):
            page.keyboard.press(key)
        expect(page.locator(".bubble .reading:focus")).to_be_visible()
        page.keyboard.press("1")
    expect(page.locator("#knowledge .sentence").first).to_contain_text("hangs right beside")
    (moved,) = log(bench, "move")
    assert moved.via == ("drag" if by == "mouse" else "key")
    assert moved.body["reading"] == "branch"
    # J4: three statements that cannot all be true; one click settles it
    for (a, b), word, key in (((0, 1), "Together", "T"), ((1, 2), "Together", "T"), ((0, 2), "Apart", "A")):
        choose(page, a, b, by)
        say(page, bench, word, key, by)
    expect(page.locator("#knowledge .mark.doubted")).not_to_have_count(0)
    while settled(page, bench) == "bad":
        before = len(log(bench, "repair"))
        if by == "mouse":
            if not page.locator(".fixes").count():  # it never opens by itself: the table below it may be in use
                page.locator(".pill.bad").click()
            page.locator(".fixes button").first.click()
        else:
            page.keyboard.press("x")
            page.locator(".fixes button").first.focus()
            page.keyboard.press("Enter")
        repairs = page.locator("#knowledge .said").filter(has_text="settled")
        expect(repairs).to_have_count(before + 1)
    assert log(bench, "repair")
    expect(page.locator(".pill.good")).to_be_visible()
    expect(page.locator("#knowledge .mark.holds")).not_to_have_count(0)
    # J5: back in the history, compared, undone, exported
    last = len(log(bench))
    if by == "mouse":
        page.locator("#show-history").click()
        page.locator("#scrubber").fill("1")
    else:
        page.keyboard.press("Escape")
        page.locator("#show-history").focus()
        page.keyboard.press("Enter")
        page.locator("#scrubber").focus()
        page.keyboard.press("Home")
    expect(page.locator(".past")).to_contain_text("after #1")
    compare = page.locator(".drawer .buttons button").nth(1)
    press(page, compare, by)
    expect(page.locator(".drawer .lead")).to_contain_text("moved")
    press(page, page.locator(".past button"), by)
    expect(page.locator(".past")).to_have_count(0)
    page.keyboard.press("Escape")
    if by == "mouse":
        page.locator(".side button").first.click()
    else:
        page.keyboard.press("z")
    expect(page.locator("#knowledge .gone")).not_to_have_count(0)
    assert log(bench)[-1].op == "undo"
    assert log(bench)[-1].body["target"] == last
    if by == "mouse":
        page.locator("#show-export").click()
    else:
        page.keyboard.press("Escape")
        page.keyboard.press("e")
    expect(page.locator("#python")).to_contain_text("import linkwise")
    for kind in ("table", "labels"):  # the newest state, whatever place a file has in the list
        with page.expect_download() as got:
            press(page, page.locator(f".files a[href*='/{kind}']"), by)
        assert got.value.path().read_bytes() == exported(bench, kind)
    assert len(log(bench)) > begun


def exported(bench, kind):
    """A file of the newest state, as the library makes it from the project."""
    state = state_of_project(bench.service.desk.store.path)
    return state.export(kind)[2]


def press(page, locator, by):
    if by == "mouse":
        locator.click()
    else:
        locator.focus()
        page.keyboard.press("Enter")


SAVED = "() => import('/static/transport.js').then(({ unsaved }) => unsaved.value === 0)"


def leave(page, by="mouse"):
    page.wait_for_function(SAVED)  # a statement shows when it is on disk, a moment before its reply
    press(page, page.locator("#leave"), by)
    expect(page.locator(".start")).to_be_visible()


def texts(n_groups=3, size=8):
    """Texts of three kinds, so that there are groups to find."""
    words = ["card lost stolen block", "transfer money late account", "loan house rate interest"]
    lines = [
        f'note {at},"{" ".join(words[at // size].split()[: 2 + at % 3])} since day {at}"'
        for at in range(n_groups * size)
    ]
    return "\n".join(["name,note", *lines]) + "\n"


def photos(n_groups=3, size=8):
    return archive({f"trip/photo {at}.png": square(at // size, at) for at in range(n_groups * size)})


def open_file(page, name, content, by):
    """Choose a file on the start page, and open it as it is proposed."""
    if by == "mouse":
        page.locator("#file").set_input_files([{"name": name, "mimeType": "text/csv", "buffer": content}])
        page.locator("#open").click()
        return
    with page.expect_file_chooser() as chosen:
        press(page, page.locator(".zone .primary"), by)
    chosen.value.set_files([{"name": name, "mimeType": "text/csv", "buffer": content}])
    expect(page.locator("main.import")).to_be_visible()
    press(page, page.locator("#open"), by)


@pytest.mark.parametrize(
    ("kind", "by"),
    [("numbers", "mouse"), ("texts", "mouse"), ("texts", "keys"), ("pictures", "mouse"), ("pictures", "keys")],
)
def test_a_journey_from_a_file_to_a_download(page, bench, kind, by):
    name, content, first = {
        "numbers": ("beers.csv", table().encode(), "beer 0 <b>"),
        "texts": ("notes.csv", texts().encode(), "note 0"),
        "pictures": ("photos.zip", photos(), "photo 0"),
    }[kind]
    open_file(page, name, content, by)
    expect(page.locator(".cell.name").first).to_have_text(first)
    expect(
        page.locator({"numbers": ".values", "texts": ".prose", "pictures": ".picture img"}[kind]).first
    ).to_be_visible()
    journey(page, bench, by)
    leave(page, by)


def test_a_journey_from_pasted_rows_by_keyboard(page, bench):
    press(page, page.locator(".zone button").nth(1), "keys")
    page.locator(".paste textarea").focus()
    page.keyboard.insert_text(table().replace(",", "\t"))
    press(page, page.locator(".paste button"), "keys")
    expect(page.locator("main.import")).to_be_visible()
    press(page, page.locator("#open"), "keys")
    expect(page.locator(".cell.name").first).to_have_text("beer 0 <b>")
    journey(page, bench, "keys")
    leave(page, "keys")


def test_a_branch_is_split_and_answers_of_a_file_are_read_in(page, bench):
    """What the mouse has a button for has a key; a file of statements counts at once, and is one undo."""
    open_file(page, "beers.csv", table().encode(), "mouse")
    expect(page.locator(".cell.name").first).to_have_text("beer 0 <b>")
    expect(page.locator(".chip:not(.none)").first).to_be_visible()
    for key in ("g", "t", "ArrowDown", "S"):
        page.keyboard.press(key)
    expect(page.locator("#knowledge .sentence").first).to_contain_text("groups: ")
    expect(page.locator("#knowledge .mark.holds")).to_have_count(1)
    assert log(bench)[-1].via == "key"
    parts = log(bench, "split")[0].body["parts"]
    assert len(parts) > 1
    assert sum(map(len, parts)) == 24
    chosen = {
        "name": "said.txt",
        "mimeType": "text/plain",
        "buffer": b"beer 0 <b> = beer 1 <b>\nbeer 0 <b> != beer 20 <b>\n",
    }
    page.locator("#said-file").set_input_files([chosen])
    expect(page.locator("#knowledge .sentence").first).to_contain_text("said.txt: 2 statements read in")
    settled(page, bench)
    page.locator("#said-file").set_input_files([chosen | {"buffer": b"beer 0 <b> = badger\n"}])
    expect(page.locator(".notice.bad")).to_contain_text("'badger'")
    assert {"422" in line for line in page.trouble} == {True}
    page.trouble.clear()
    page.keyboard.press("z")
    expect(page.locator("#knowledge .gone")).to_have_count(1)
    leave(page)


def test_texts_in_short_and_quit(page, bench):
    """The sample of texts: an answer, a certificate in every export, and the end of the server from the page."""
    page.locator(".sample").filter(has_text="letters").click()
    expect(page.locator(".prose").first).to_be_visible()
    page.locator(".yes, .odd").first.click()
    expect(page.locator("#knowledge .mark.holds")).to_have_count(1)
    page.locator("#show-export").click()
    expect(page.locator("#shell")).to_contain_text("linkwise")
    told = json.loads(page.evaluate("fetch('/api/state', { headers: { 'x-linkwise': '1' } }).then((r) => r.text())"))
    assert told["verdict"]["holds"] == 1
    page.locator("#quit").click()
    expect(page.locator("main.out")).to_be_visible()
    bench._thread.join()
    assert bench.service.fit.pid is None
    assert bench.service.ask.pid is None
