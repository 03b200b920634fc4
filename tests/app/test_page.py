"""The page in a real browser, under the strict policy, against a stand-in that answers its requests in memory."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import expect, sync_playwright

from linkwise.plots._style import cluster_color
from tests.app.browser import ARGUMENTS, CHROMIUM
from tests.app.stand_in import Desk, StandIn, pack

AXE = gzip.decompress((Path(__file__).parent / "vendor" / "axe.min.js.gz").read_bytes()).decode()


@pytest.fixture(scope="module")
def browser():
    with sync_playwright() as play:
        running = play.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield running
        running.close()


@pytest.fixture
def desk():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(center, 0.6, (12, 4)) for center in (0, 3, 6)])
    return Desk(X, [f"item {i} <b>" for i in range(len(X))])


@pytest.fixture
def page(browser, desk):
    """A page on the desk; whatever the console says, and every request to another host, fails the test."""
    with StandIn(desk) as server:
        context = browser.new_context(
            viewport={"width": 1400, "height": 900}, accept_downloads=True, reduced_motion="reduce"
        )
        opened, trouble = context.new_page(), []
        opened.on("console", lambda message: trouble.append(message.text))
        opened.on("pageerror", lambda error: trouble.append(str(error)))
        opened.on(
            "request", lambda sent: None if sent.url.startswith((server.address, "data:")) else trouble.append(sent.url)
        )
        opened.trouble = trouble
        opened.goto(server.address)
        expect(opened.locator("#asked")).to_be_visible(timeout=30_000)
        expect(opened.locator(".cell.name").first).to_be_visible()
        yield opened
        opened.unroute_all()
        context.close()
    assert trouble == []


def serious(page):
    page.evaluate(AXE + "; 0")
    found = page.evaluate("axe.run(document, { resultTypes: ['violations'] })")["violations"]
    return [(one["id"], one["nodes"][0]["html"][:120]) for one in found if one["impact"] in ("serious", "critical")]


def answer(page, number, by):
    """Answer the question of that number, whichever kind it is, by mouse or by keys."""
    expect(page.locator(".kicker")).to_contain_text(f"Question {number}")
    pair = page.locator(".yes").count() == 1
    if by == "keys":
        page.keyboard.press("n" if pair else "1")
    else:
        page.locator(".no" if pair else ".odd").first.click()
    expect(page.locator(".kicker")).to_contain_text(f"Question {number + 1}")


@pytest.mark.parametrize("by", ["mouse", "keys"])
def test_answer_see_marks_undo_and_export(page, desk, by):
    for number in (1, 2, 3):
        answer(page, number, by)
    expect(page.locator("#knowledge .mark.holds")).to_have_count(3)
    expect(page.locator(".pill.good")).to_be_visible()
    if by == "keys":
        page.keyboard.press("z")
    else:
        page.locator(".side button").first.click()
    expect(page.locator("#knowledge .gone")).to_have_count(1)
    assert desk.log[-1]["op"] == "undo"
    assert desk.log[-1]["body"] == {"target": 4}
    if by == "keys":
        page.keyboard.press("e")
    else:
        page.locator("#show-export").click()
    expect(page.locator("#python")).to_contain_text("import linkwise")
    with page.expect_download() as got:
        page.locator(".files a").click()
    assert got.value.path().read_text(encoding="utf-8").count("\n") == len(desk.ids)


def test_markup_in_names_is_text(page):
    expect(page.locator(".cell.name").first).to_have_text("item 0 <b>")


def test_a_contradiction_is_settled_by_one_click(page, desk):
    rows = page.locator(".cell.name")
    for pair, key in (((0, 1), "T"), ((1, 2), "T"), ((0, 2), "A")):
        rows.nth(pair[0]).click()
        rows.nth(pair[1]).click(modifiers=["Control"])
        page.keyboard.press(key)
        expect(page.locator("#knowledge .said")).to_have_count(len(desk.log) - 1 or 1)
    expect(page.locator("#knowledge .mark.doubted")).to_have_count(1)
    page.locator(".pill.bad").click()
    expect(page.locator(".fixes li")).to_have_count(3)
    assert serious(page) == []
    page.locator(".fixes button").first.click()
    expect(page.locator(".pill.good")).to_be_visible()
    assert desk.log[-1]["op"] == "repair"


def test_a_branch_is_moved_by_keys(page, desk):
    page.keyboard.press("g")
    page.keyboard.press("t")
    expect(page.locator("#tree")).to_be_focused()
    for key in ("ArrowDown", "ArrowRight", "ArrowRight", "M", "ArrowDown", "Enter"):
        page.keyboard.press(key)
    expect(page.locator(".bubble .reading").first).to_be_focused()
    page.keyboard.press("1")
    expect(page.locator("#knowledge .said")).to_have_count(1)
    assert desk.log[-1]["op"] == "move"
    assert desk.log[-1]["via"] == "key"


def test_history_shows_an_earlier_tree_and_why_gives_a_reason(page):
    answer(page, 1, "keys")
    answer(page, 2, "keys")
    expect(page.locator("#knowledge .said")).to_have_count(2)
    page.locator("#show-history").click()
    page.locator("#scrubber").focus()
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".past")).to_contain_text("#2")
    page.locator(".past button").click()
    expect(page.locator(".past")).to_have_count(0)
    page.locator(".cell.name").nth(0).click()
    page.locator(".cell.name").nth(1).click(modifiers=["Control"])
    page.keyboard.press("w")
    expect(page.locator(".because").first).to_be_visible()


def test_what_cannot_be_saved_is_kept_and_sent_once(page, desk):
    desk.down = True
    page.locator(".yes, .odd").first.click()
    expect(page.locator(".pill.bad")).to_contain_text("1 not saved yet")
    desk.down = False
    expect(page.locator(".kicker")).to_contain_text("Question 2", timeout=20_000)
    assert [one["op"] for one in desk.log] == ["open", "answer"]
    assert {"507" in line for line in page.trouble} == {True}
    page.trouble.clear()


@pytest.mark.parametrize(("width", "theme"), [(1400, "light"), (1400, "dark"), (800, "light"), (320, "dark")])
def test_screens_are_accessible_and_do_not_scroll_sideways(page, width, theme):
    page.emulate_media(color_scheme=theme)
    page.set_viewport_size({"width": width, "height": 800})
    expect(page.locator(".phone" if width < 640 else ".tabbed" if width < 1100 else ".grid-panes")).to_be_visible()
    assert serious(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_help_lists_the_keys(page):
    page.keyboard.press("?")
    expect(page.locator(".keys div")).not_to_have_count(0)
    assert serious(page) == []


def test_colors_of_groups_are_those_of_pictures(page):
    ours = page.evaluate("import('/static/colors.js').then((m) => [...Array(40).keys()].map(m.clusterColor))")
    assert ours == [cluster_color(c) for c in range(40)]


def test_a_long_chain_is_drawn_with_few_rectangles(page):
    """A chain, the worst case, at several zooms: rectangles follow the pixels, not the 100,000 leaves."""
    n = 100_000
    chain = np.full(2 * n - 1, -1, dtype="<i4")
    chain[0], chain[1:n], chain[n : 2 * n - 2] = n, np.arange(n, 2 * n - 1), np.arange(n + 1, 2 * n - 1)
    size = np.ones(2 * n - 1, dtype="<i4")
    size[n:] = np.arange(2, n + 1)
    start = np.zeros(2 * n - 1, dtype="<i4")
    start[:n] = np.arange(n)
    height = np.zeros(2 * n - 1, dtype="<f4")
    height[n:] = np.sqrt(np.linspace(0.01, 1, n - 1))
    y = (start + size / 2).astype("<f4")
    arrays = {
        "parent": chain,
        "height": height,
        "start": start,
        "size": size,
        "y": y,
        "cluster": np.zeros(2 * n - 1, "<i2"),
    }
    page.route("**/api/big", lambda route: route.fulfill(body=pack(arrays, n_leaves=n)))
    counts = page.evaluate("""async () => {
      const { unpack, indexTree } = await import('/static/arrays.js');
      const { View, paintBranches } = await import('/static/draw.js');
      const tree = indexTree(unpack(await (await fetch('/api/big')).arrayBuffer())), found = [];
      const ctx = new OffscreenCanvas(1000, 640).getContext('2d'), view = new View();
      for (const zoom of [1, 3, 20, 400]) {
        Object.assign(view, { width: 1000, height: 640, scale: zoom * 640 / tree.n_leaves, top: tree.n_leaves * 0.4 });
        found.push(paintBranches(ctx, tree, view));
      }
      return found; }""")
    assert all(0 < one["drawn"] <= 4 * (1000 + 640) and one["visited"] <= n for one in counts)
