"""Replies that come late, or in another order than they were asked for: the page shows what is true in the end."""

from __future__ import annotations

import uuid

from playwright.sync_api import expect

SHOWN_TREE = "() => import('/static/state.js').then(({ tree }) => tree.value?.v ?? 0)"


def hold(page, path, first_only=False):
    """Hold back requests of a page; they wait in the list that is returned."""
    held = []
    page.route(path, lambda route: route.continue_() if first_only and held else held.append(route))
    return held


def one_of(page, held):
    """The first request that is held back, as soon as there is one."""
    while not held:
        page.evaluate("0")
    return held[0]


def another_tab_answers(desk):
    """Save an answer to the question that waits, and tell every page, as the server does."""
    items = [one["id"] for one in desk.question()["question"]["items"]]
    body = {"items": items, "answer": "no" if len(items) == 2 else "first", "confidence": 1}
    desk.say({"id": str(uuid.uuid4()), "op": "answer", "body": body, "via": "question"})
    for listener in desk.listeners:
        listener.put(("question", {}))


def test_a_tab_that_opens_while_another_one_answers_shows_what_came_before_it_listened(page, desk):
    asked, address = desk.question(), page.url
    state = desk.state(0)
    tab = page.context.new_page()
    states, questions = hold(tab, "**/api/state*", first_only=True), hold(tab, "**/api/question", first_only=True)
    tab.goto(address, wait_until="commit")
    one_of(tab, states)
    another_tab_answers(desk)
    expect(page.locator(".kicker")).to_contain_text("Question 2")
    while page.evaluate(SHOWN_TREE) != 2:  # the events have passed, to those who listened
        pass
    states[0].fulfill(json=state)
    one_of(tab, questions).fulfill(json=asked)  # read by the server before the answer, too
    expect(tab.locator(".kicker")).to_contain_text("Question 2")
    expect(tab.locator("#knowledge .said")).to_have_count(1)


def test_a_refusal_that_comes_after_the_next_question_does_not_hide_it(page, desk):
    held = hold(page, "**/api/say")
    page.locator(".yes, .odd").first.click()
    refused = one_of(page, held)
    another_tab_answers(desk)
    expect(page.locator(".kicker")).to_contain_text("Question 2")
    refused.fulfill(status=409, json={"code": "stale", "message": "It does not wait.", "question": None})
    expect(page.locator(".notice")).to_contain_text("already settled")
    expect(page.locator(".kicker")).to_contain_text("Question 2")
    expect(page.locator(".yes, .odd").first).to_be_enabled()
    assert {"409" in line for line in page.trouble} == {True}
    page.trouble.clear()


def test_a_question_that_was_read_earlier_and_comes_later_does_not_replace_the_newer_one(page, desk):
    asked = desk.question()
    held = hold(page, "**/api/question", first_only=True)
    for listener in desk.listeners:
        listener.put(("question", {}))
    late = one_of(page, held)
    another_tab_answers(desk)
    expect(page.locator(".kicker")).to_contain_text("Question 2")
    with page.expect_response("**/api/question"):
        late.fulfill(json=asked)
    page.evaluate("fetch('/api/state').then((reply) => reply.text())")
    expect(page.locator(".kicker")).to_contain_text("Question 2")
