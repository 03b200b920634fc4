"""A person at work in a real browser: many tabs, keys without end, a server that is gone for a while, a phone."""

from __future__ import annotations

import sqlite3

import pytest
from playwright.sync_api import expect

from linkwise.app._store import Store
from tests.app.browser import PATIENT
from tests.app.running import Workbench

TABLE = "name,x\n" + "".join(f"item {n},{n}\n" for n in range(60))


def let_in(context, bench):
    page = context.new_page()
    page.goto(bench.server.link("me"))
    expect(page.locator("#asked")).to_be_visible()
    expect(page.locator(".cell.name").first).to_be_visible()
    return page


def answers(bench):
    return [one for one in bench.service.desk.statements if one.op == "answer"]


def each_to_its_question(bench):
    """Whether every answer is about the items of the question that it was given to, and each question has one."""
    said = answers(bench)
    asked = [one.body["question"] for one in said]
    return len(set(asked)) == len(asked) and all(one.body["question"] == "|".join(one.body["items"]) for one in said)


def test_twelve_tabs_of_one_person_stay_live(browser, tmp_path):
    """One stream of events feeds them all; whichever tab answers, all show it, and the next question."""
    with Workbench(tmp_path) as bench:
        bench.sign_in().open_table(TABLE)
        context = browser.new_context()
        tabs = [let_in(context, bench)]
        for _ in range(11):
            tabs.append(context.new_page())
            tabs[-1].goto(bench.server.address)
        for number, one in enumerate((tabs[0], tabs[7], tabs[11]), start=2):
            one.bring_to_front()
            expect(one.locator(".kicker")).to_contain_text(f"Question {number - 1}")
            one.locator(".yes").click()
            for tab in tabs:
                expect(tab.locator(".kicker")).to_contain_text(f"Question {number}")
                expect(tab.locator("#knowledge .said")).to_have_count(number - 1)
        tabs[0].close()  # the tab that held the stream: another one takes over
        tabs[5].bring_to_front()
        tabs[5].keyboard.press("n")
        for tab in tabs[1:]:
            expect(tab.locator(".kicker")).to_contain_text("Question 5")
        assert len(bench.service.listeners) == 1
        assert each_to_its_question(bench)
        context.close()


def test_keys_without_end_double_clicks_and_the_back_button_answer_each_question_once(browser, tmp_path):
    with Workbench(tmp_path) as bench:
        bench.sign_in().open_table(TABLE)
        context = browser.new_context()
        page, other = let_in(context, bench), let_in(context, bench)
        # fifty presses in one turn of the page, in two tabs that show the same question
        mash = """(key) => { for (let n = 0; n < 50; n++)
            document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true })); }"""
        held = []
        for tab in (page, other):
            tab.route("**/api/say", lambda route: held.append(route))  # noqa: PLW0108 - playwright marks it
        for round_ in range(1, 6):
            for tab in (page, other):
                expect(tab.locator(".kicker")).to_contain_text(f"Question {round_}")
            page.evaluate(mash, "y")
            other.evaluate(mash, "n")
            while len(held) < 2:  # both before the answer of one is heard of in the other
                page.evaluate("0")
            while held:
                held.pop().continue_()
            expect(page.locator(".kicker")).to_contain_text(f"Question {round_ + 1}")
            assert len(answers(bench)) == round_
        for tab in (page, other):
            tab.unroute_all()
        page.bring_to_front()
        for _ in range(10):  # as fast as a hand can: whatever question is there gets it, and each but one answer
            page.keyboard.press("y")
        page.locator(".yes").dblclick()
        page.go_back()
        page.goto(bench.server.address)
        expect(page.locator("#asked")).to_be_visible()
        assert each_to_its_question(bench)
        context.close()


def test_what_is_said_while_the_server_is_gone_arrives_in_order_and_once(browser, tmp_path):
    """The page counts what waits; the next start of the server takes the same port, and a new link lets it in."""
    with Workbench(tmp_path) as bench:
        bench.sign_in().open_table(TABLE)
        port = bench.server.port
        context = browser.new_context()
        page = let_in(context, bench)
        page.locator(".cell.name").nth(0).click()
        page.locator(".cell.name").nth(1).click(modifiers=["Control"])
        page.keyboard.press("T")
        expect(page.locator("#knowledge .said")).to_have_count(1)
    rows = page.locator(".cell.name")
    for number in range(2, 5):
        rows.nth(0).click()
        rows.nth(number).click(modifiers=["Control"])
        page.keyboard.press("A")
    expect(page.locator(".pill.bad").first).to_contain_text("3 not saved yet")
    with Workbench(tmp_path, project=tmp_path / "beers.lw", port=port) as bench:
        page.goto(bench.server.link("me"))
        expect(page.locator("#knowledge .said")).to_have_count(4)
        expect(page.locator(".pill.bad")).to_have_count(0)
        said = [one.body["items"] for one in bench.service.desk.statements if one.op == "say"]
        assert said == [["item 0", f"item {number}"] for number in range(1, 5)]
        context.close()


def test_a_full_disk_is_told_and_everything_arrives_when_there_is_room(browser, tmp_path):
    with Workbench(tmp_path) as bench:
        bench.sign_in().open_table(TABLE)
        context = browser.new_context()
        page = let_in(context, bench)
        store = bench.service.desk.store
        full, real = [True], store._database

        class Database:
            def __getattr__(self, name):
                return getattr(real, name)

            def execute(self, line, *given):
                if full[0] and line == "commit":
                    error = sqlite3.OperationalError("database or disk is full")
                    error.sqlite_errorcode = sqlite3.SQLITE_FULL
                    raise error
                return real.execute(line, *given)

        store._database = Database()
        page.locator(".yes").click()
        expect(page.locator(".pill.bad")).to_contain_text("1 not saved yet")
        expect(page.locator(".pill.bad")).to_contain_text("full")
        full[0] = False
        expect(page.locator(".kicker")).to_contain_text("Question 2")
        assert len(answers(bench)) == 1
        assert each_to_its_question(bench)
        context.close()


def test_a_project_that_cannot_be_written_is_shown_and_says_so(browser, tmp_path, monkeypatch):
    with Workbench(tmp_path) as bench:
        bench.sign_in().open_table(TABLE)
        bench.say("say", {"kind": "must_link", "items": ["item 1", "item 2"]})
    look = Store.open
    monkeypatch.setattr(Store, "open", lambda path, **_: look(path, readonly=True))
    with Workbench(tmp_path, project=tmp_path / "beers.lw") as bench:
        context = browser.new_context()
        page = let_in(context, bench)
        expect(page.locator(".pill.warn")).to_contain_text("cannot be written")
        expect(page.locator("#knowledge .said")).to_have_count(1)
        page.locator(".yes").click()
        expect(page.locator(".notice.bad")).to_contain_text("cannot be written")
        assert bench.service.desk.seq == 2
        context.close()


def swipe(page, dx, dy=0):
    """A finger that moves over the card."""
    wire = page.context.new_cdp_session(page)
    box = page.locator(".card .items").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    wire.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [{"x": x, "y": y}]})
    for part in (0.5, 1.0):
        wire.send(
            "Input.dispatchTouchEvent", {"type": "touchMove", "touchPoints": [{"x": x + part * dx, "y": y + part * dy}]}
        )
    wire.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    wire.detach()


@pytest.mark.parametrize("width", [320, 390, 640 - 1])
def test_a_phone_answers_by_swipes_and_by_buttons(browser, tmp_path, width):
    with Workbench(tmp_path) as bench:
        bench.sign_in().open_table(TABLE)
        context = browser.new_context(viewport={"width": width, "height": 700}, has_touch=True, is_mobile=True)
        context.set_default_timeout(PATIENT)
        page = context.new_page()
        page.goto(bench.server.link("me"))
        ways = [(120, 0, "yes"), (-120, 0, "no"), (0, -120, "unsure")]
        for number in range(20):
            expect(page.locator(".kicker")).to_contain_text(f"Question {number + 1}")
            dx, dy, word = ways[number % 3]
            if number % 2:
                swipe(page, dx, dy)
            else:
                button = page.locator({"yes": ".yes", "no": ".no", "unsure": ".answers > .plain"}[word])
                assert button.bounding_box()["height"] >= 44
                button.tap()
        expect(page.locator(".kicker")).to_contain_text("Question 21")
        assert [one.body["answer"] for one in answers(bench)] == [ways[number % 3][2] for number in range(20)]
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        page.locator("summary").tap()
        page.locator(".says .mini").first.tap()
        expect(page.locator(".kicker")).to_contain_text("Question 20")
        context.close()
