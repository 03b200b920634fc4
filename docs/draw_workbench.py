"""Take pictures of every screen of the workbench: ``python docs/draw_workbench.py [FOLDER]``.

With a folder, all screens in light and dark at three widths; without one, the pictures of docs/workbench.md.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, expect, sync_playwright

from tests.app.browser import ARGUMENTS, CHROMIUM
from tests.app.running import Workbench

IMAGES = Path(__file__).parent / "img"
WIDTHS = ((390, 800), (1100, 760), (1600, 950))
PATIENT = 600_000


def answer(page: Page, times: int) -> None:
    """Answer some questions as someone would who goes by the first value."""
    for _ in range(times):
        number = page.locator(".kicker").inner_text()
        page.locator(".no, .odd").first.click()
        expect(page.locator(".kicker")).not_to_have_text(number)


def say(page: Page, a: int, b: int, key: str) -> None:
    """Say something about two rows of the table."""
    before = page.locator("#knowledge .said").count()
    page.locator(".cell.name").nth(a).click()
    page.locator(".cell.name").nth(b).click(modifiers=["Control"])
    page.keyboard.press(key)
    expect(page.locator("#knowledge .said")).to_have_count(before + 1)


def sample(page: Page, name: str) -> None:
    """Open one of the samples and wait for its first question and its groups."""
    page.locator(".sample").filter(has_text=name).click()
    expect(page.locator("#asked")).to_be_visible()
    expect(page.locator(".chip:not(.none)").first).to_be_visible()


PANELS = {
    "history": ("#show-history", "#scrubber"),
    "compare": ("#show-compare", ".drawer .lead"),
    "export": ("#show-export", "#python"),
    "why": ("w", ".because"),
    "help": ("?", ".keys div"),
}


def screens(page: Page, shoot: Any) -> None:
    """Go through all screens of a project of wines, and look at one of texts and one of pictures."""
    expect(page.locator(".sample").first).to_be_visible()
    shoot("start")
    rows = "".join(f"bottle {i},{i % 7 + 9},{i % 5},{'ab'[i % 2]}\n" for i in range(30))
    table = f"name,alcohol,acid,origin\n{rows}".encode()
    page.locator("#file").set_input_files([{"name": "bottles.csv", "mimeType": "text/csv", "buffer": table}])
    expect(page.locator("main.import")).to_be_visible()
    shoot("import")
    page.locator("main.import .plain").first.click()
    sample(page, "wines")
    shoot("first")
    answer(page, 6)
    expect(page.locator("#knowledge .mark.holds")).to_have_count(6)
    shoot("workbench")
    say(page, 0, 1, "T")
    say(page, 1, 2, "T")
    say(page, 0, 2, "A")
    expect(page.locator(".pill.bad")).to_be_visible()
    page.keyboard.press("x")
    expect(page.locator(".fixes li").first).to_be_visible()
    shoot("conflict")
    for name, (way, there) in PANELS.items():
        page.keyboard.press("Escape")
        if way.startswith("#"):
            page.locator(way).click()
        else:
            page.keyboard.press(way)
        expect(page.locator(there).first).to_be_visible()
        shoot(name)
    page.keyboard.press("Escape")
    page.locator(".fairly input").focus()
    for key in ("g", "t", "ArrowDown", "ArrowRight", "ArrowRight", "M", "ArrowDown", "Enter"):
        page.keyboard.press(key)
    expect(page.locator(".bubble .reading").first).to_be_visible()
    shoot("move")
    page.keyboard.press("Escape")
    for name, kind in (("letters", "texts"), ("digits", "pictures")):
        page.locator("#leave").click()
        sample(page, name)
        shoot(kind)


def main() -> None:
    """Draw."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    expect.set_options(timeout=PATIENT)
    with tempfile.TemporaryDirectory() as home, sync_playwright() as play, Workbench(home, engines="real") as server:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        page = browser.new_context(viewport={"width": 1600, "height": 950}, reduced_motion="reduce").new_page()
        page.goto(server.server.link("me"))

        def shoot(name: str) -> None:
            if folder is None:
                if name in ("workbench", "conflict", "move", "export"):
                    page.set_viewport_size({"width": 1280, "height": 800})
                    page.wait_for_timeout(800)
                    page.screenshot(path=IMAGES / f"{name}.png")
                    page.set_viewport_size({"width": 1600, "height": 950})
                    page.wait_for_timeout(500)
                return
            folder.mkdir(parents=True, exist_ok=True)
            for theme in ("light", "dark"):
                page.emulate_media(color_scheme=theme)
                for width, height in WIDTHS:
                    page.set_viewport_size({"width": width, "height": height})
                    page.wait_for_timeout(500)
                    page.screenshot(path=folder / f"{name}-{theme}-{width}.png")
            page.emulate_media(color_scheme="light")
            page.set_viewport_size({"width": 1600, "height": 950})
            page.wait_for_timeout(500)

        screens(page, shoot)
        browser.close()


if __name__ == "__main__":
    main()
