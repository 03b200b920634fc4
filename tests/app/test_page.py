"""The page in a real browser, under the strict policy, against a stand-in that answers its requests in memory."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from playwright.sync_api import expect

from linkwise.plots._style import cluster_color

AXE = gzip.decompress((Path(__file__).parent / "vendor" / "axe.min.js.gz").read_bytes()).decode()


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


def test_a_drawer_that_is_opened_while_a_contradiction_is_settled_stays(page):
    rows = page.locator(".cell.name")
    for pair, key in (((0, 1), "T"), ((1, 2), "T"), ((0, 2), "A")):
        rows.nth(pair[0]).click()
        rows.nth(pair[1]).click(modifiers=["Control"])
        page.keyboard.press(key)
    page.locator(".pill.bad").click()
    expect(page.locator(".fixes li")).to_have_count(3)
    held, free = [], []

    def hold(route):
        route.continue_() if free else held.append(route)

    page.route("**/api/conflicts", hold)
    page.locator(".fixes button").first.click()
    expect(page.locator(".pill.good")).to_be_visible()
    page.locator("#show-history").click()
    expect(page.locator("#scrubber")).to_be_visible()
    free.append(True)
    for route in held:
        with page.expect_response("**/api/conflicts"):
            route.continue_()
    page.evaluate("fetch('/api/state').then((reply) => reply.text())")
    expect(page.locator("#scrubber")).to_be_visible()


FOCUS = "document.activeElement.closest('.answers, .items, .values') !== null"


def test_the_focus_stays_on_the_card_and_the_next_question_is_read_out(page):
    """Buttons are disabled while an answer is saved, and others take their place; keys do not lose their way."""
    page.locator(".answers > button:not(:disabled)").first.focus()
    for number in range(2, 7):
        page.keyboard.press("Enter")
        expect(page.locator(".kicker")).to_contain_text(f"Question {number}")
        expect(page.locator("#spoken")).to_contain_text(f"Question {number}.")
        expect(page.locator("#spoken")).to_contain_text("belong")
        expect(page.locator(".answers > button:not(:disabled)").first).to_be_visible()
        assert page.evaluate(FOCUS), number


def test_of_three_the_whole_card_can_be_clicked(page, desk):
    items = [{"n": at, "id": desk.ids[at], "text": "some words", "picture": False, "show": []} for at in range(3)]
    desk.question = lambda: {"question": {"id": "0-1-2", "number": 1, "items": items}}
    page.reload()
    expect(page.locator(".choice-item")).to_have_count(3)
    page.locator(".choice-item").nth(2).click(position={"x": 4, "y": 4})
    expect(page.locator("#knowledge .said")).to_have_count(1)
    assert desk.log[-1]["body"]["answer"] == "third"


def test_a_branch_is_moved_by_keys(page, desk):
    page.keyboard.press("g")
    page.keyboard.press("t")
    expect(page.locator("#tree")).to_be_focused()
    for key in ("ArrowDown", "ArrowRight", "ArrowRight", "M", "ArrowDown", "Enter"):
        page.keyboard.press(key)
    expect(page.locator(".bubble .reading").first).to_be_focused()
    box = page.locator(".bubble").bounding_box()
    assert 0 <= box["y"] < box["y"] + box["height"] <= 900
    page.keyboard.press("1")
    expect(page.locator("#knowledge .said")).to_have_count(1)
    assert desk.log[-1]["op"] == "move"
    assert desk.log[-1]["via"] == "key"


def test_history_shows_an_earlier_tree_and_why_gives_a_reason(page):
    answer(page, 1, "keys")
    answer(page, 2, "keys")
    expect(page.locator("#knowledge .said")).to_have_count(2)
    page.locator("#show-history").click()
    expect(page.locator(".drawer .said").nth(1)).to_contain_text("moved")
    page.locator("#scrubber").focus()
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".past")).to_contain_text("#2")
    page.locator(".past button").click()
    expect(page.locator(".past")).to_have_count(0)
    page.keyboard.press("Escape")
    page.locator(".cell.name").nth(0).click()
    page.locator(".cell.name").nth(1).click(modifiers=["Control"])
    page.keyboard.press("w")
    expect(page.locator(".because").first).to_be_visible()


def test_what_cannot_be_saved_is_kept_and_sent_once(page, desk):
    desk.down = True
    page.locator(".yes, .odd").first.click()
    expect(page.locator(".pill.bad")).to_contain_text("1 not saved yet")
    desk.down = False
    expect(page.locator(".kicker")).to_contain_text("Question 2")
    assert [one["op"] for one in desk.log] == ["open", "answer"]
    assert {"507" in line for line in page.trouble} == {True}
    page.trouble.clear()


KEPT = """() => new Promise((done) => {
  const opened = indexedDB.open('linkwise', 1);
  opened.onsuccess = () => {
    const count = opened.result.transaction('unsaved').objectStore('unsaved').count();
    count.onsuccess = () => { opened.result.close(); done(count.result); };
  };
})"""
AT_ONCE = """(items) => import('/static/state.js').then(({ say }) => {
  let number = 9;
  crypto.randomUUID = () => `key ${number--}`;
  Date.now = () => 1;
  for (const other of items.slice(1, 4)) say('say', { kind: 'must_link', items: [items[0], other] });
})"""


def test_what_was_said_in_one_moment_is_sent_in_its_order_by_the_next_page(page, desk):
    desk.down = True
    page.evaluate(AT_ONCE, desk.ids)
    while page.evaluate(KEPT) != 3:
        pass
    page.reload()
    expect(page.locator(".pill.bad")).to_contain_text("3 not saved yet")
    desk.down = False
    expect(page.locator("#knowledge .said")).to_have_count(3)
    assert [one["body"]["items"][1] for one in desk.log[1:]] == desk.ids[1:4]
    assert {"507" in line for line in page.trouble} == {True}
    page.trouble.clear()


@pytest.mark.parametrize(("width", "theme"), [(1400, "light"), (1400, "dark"), (800, "light"), (320, "dark")])
def test_screens_are_accessible_and_do_not_scroll_sideways(page, width, theme):
    page.emulate_media(color_scheme=theme)
    page.set_viewport_size({"width": width, "height": 800})
    expect(page.locator(".phone" if width < 640 else ".tabbed" if width < 1100 else ".grid-panes")).to_be_visible()
    assert serious(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    if width == 320:  # a drawer lies over the questions
        page.locator(".top .round").first.click()
        expect(page.locator(".keys div").first).to_be_visible()
        assert serious(page) == []
        page.locator(".drawer .mini").click()
        expect(page.locator(".keys div")).to_have_count(0)
    if width == 800:  # one pane at a time, over the whole width, and the question below it
        pane, card = page.locator(".tab-body").bounding_box(), page.locator(".card-pane").bounding_box()
        assert pane["width"] == card["width"] > 0.95 * width
        assert pane["height"] > 200
        assert card["y"] >= pane["y"] + pane["height"]


def test_canvases_follow_the_system_from_light_to_dark(page):
    """What is painted knows of no style sheet; each round waits for the page to have painted again."""
    corner = """async (bright) => {
      const seen = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true });
      const pixel = () => {
        seen.drawImage(document.querySelector('#tree canvas'), 0, 0);
        return seen.getImageData(0, 0, 1, 1).data[0] > 128;
      };
      while (pixel() !== bright) await new Promise(requestAnimationFrame);
      return pixel();
    }"""
    for theme, bright in (("dark", False), ("light", True)):
        page.emulate_media(color_scheme=theme)
        assert page.evaluate(corner, bright) == bright


def test_help_lists_the_keys(page):
    page.keyboard.press("?")
    expect(page.locator(".keys div")).not_to_have_count(0)
    assert serious(page) == []


def test_colors_of_groups_are_those_of_pictures(page):
    ours = page.evaluate("import('/static/colors.js').then((m) => [...Array(40).keys()].map(m.clusterColor))")
    assert ours == [cluster_color(c) for c in range(40)]
