"""Every screen in light and dark, wide, narrow, magnified: readable for everyone, and nothing runs off sideways."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.app.browser import PATIENT
from tests.app.running import TABLE, Workbench

AXE = gzip.decompress((Path(__file__).parent / "vendor" / "axe.min.js.gz").read_bytes()).decode()
SIZES = {"wide": (1440, 900), "magnified": (720, 450), "phone": (320, 640)}  # 720 points are 1440 at 200 %
LONG = "Zwölf Boxkämpfer jagen Viktor quer über den großen Sylter Deich " * 3
NAMES = ["<img src=x onerror=alert(1)>", "שאטו מרגו 2014", "🍷🍇 ワイン", LONG, "a"]


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    with Workbench(tmp_path_factory.mktemp("screens"), people=("me", "bob")) as running:
        yield running


@pytest.fixture
def look(browser, bench):
    """A page that was let in, and a function that judges what it shows."""
    context = browser.new_context(reduced_motion="reduce")
    context.set_default_timeout(PATIENT)
    page, trouble = context.new_page(), []
    page.on("console", lambda message: trouble.append(message.text))
    page.on("pageerror", lambda error: trouble.append(str(error)))
    page.goto(bench.server.link("me"))

    def judge(sizes=tuple(SIZES)):
        for size in sizes:
            page.set_viewport_size(dict(zip(("width", "height"), SIZES[size], strict=True)))
            for theme in ("light", "dark"):
                page.emulate_media(color_scheme=theme)
                page.evaluate(AXE + "; 0")
                found = page.evaluate("axe.run(document, { resultTypes: ['violations'] })")["violations"]
                bad = [
                    (one["id"], one["nodes"][0]["html"][:120])
                    for one in found
                    if one["impact"] in ("serious", "critical")
                ]
                assert bad == [], (size, theme)
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), size
        page.set_viewport_size({"width": 1440, "height": 900})

    page.judge = judge
    yield page
    context.close()
    assert trouble == []


def test_every_screen_is_accessible(look):
    page = look
    expect(page.locator(".sample").first).to_be_visible()
    page.judge()
    page.locator(".zone button").nth(1).click()
    expect(page.locator(".paste textarea")).to_be_visible()
    page.judge()
    table = TABLE + "".join(f'"{name}",{at},{at}\n' for at, name in enumerate(NAMES))
    page.locator("#file").set_input_files(
        [{"name": f"{LONG[:60]}.csv", "mimeType": "text/csv", "buffer": table.encode()}]
    )
    expect(page.locator("main.import")).to_be_visible()
    page.judge()
    page.locator("#open").click()
    expect(page.locator("#asked")).to_be_visible()
    expect(page.locator(".cell.name").first).to_be_visible()
    page.judge()
    page.locator(".yes").click()
    expect(page.locator("#knowledge .mark.holds")).to_have_count(1)
    page.locator(".cell.name").nth(12).click()
    page.locator(".cell.name").nth(13).click(modifiers=["Control"])
    page.judge()
    page.locator(".actions button").filter(has_text="Name").click()
    page.keyboard.press("Escape")
    page.keyboard.press("c")
    expect(page.locator(".note input")).to_be_focused()
    page.judge(("wide",))
    page.keyboard.press("Escape")
    for name in ("history", "compare", "export", "people", "why", "help"):
        page.keyboard.press("Escape")
        if name in ("why", "help"):
            page.keyboard.press("w" if name == "why" else "?")
        else:
            page.locator(f"#show-{name}").click()
        expect(page.locator(".drawer .scroll")).to_be_visible()
        page.judge(("wide", "magnified"))
    page.keyboard.press("Escape")
    page.evaluate("indexedDB.databases()")  # nothing waits
    page.locator("#leave").click()
    expect(page.locator(".recent button").first).to_be_visible()
    page.judge()


def test_who_is_not_let_in_reads_why(browser, bench):
    page = browser.new_context().new_page()
    page.goto(bench.server.address)
    expect(page.locator("main.out")).to_be_visible()
    page.evaluate(AXE + "; 0")
    found = page.evaluate("axe.run(document, { resultTypes: ['violations'] })")["violations"]
    assert [one["id"] for one in found if one["impact"] in ("serious", "critical")] == []
    page.context.close()


@pytest.mark.parametrize("n", [2, 3])
def test_a_table_of_few_rows_has_a_tree_and_questions(look, bench, n):
    """And a single row is refused with words, not with a page that waits for good."""
    page = look
    expect(page.locator(".sample").first).to_be_visible()
    table = "name,x\n" + "".join(f"item {at},{at}\n" for at in range(n))
    page.locator("#file").set_input_files([{"name": "few.csv", "mimeType": "text/csv", "buffer": table.encode()}])
    page.locator("#open").click()
    expect(page.locator("#asked")).to_be_visible()
    for _ in range(n - 1):
        page.locator(".yes").click()
    expect(page.locator(".nothing h2")).to_have_text("Nothing left to ask")
    page.judge(("wide", "phone"))
    page.locator("#leave").click()
    expect(page.locator(".recent button").first).to_be_visible()
