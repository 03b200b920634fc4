"""A browser, and a page on a project that a stand-in for the server keeps in memory."""

from __future__ import annotations

import numpy as np
import pytest
from playwright.sync_api import expect, sync_playwright

from tests.app.browser import ARGUMENTS, CHROMIUM, PATIENT
from tests.app.stand_in import Desk, StandIn

expect.set_options(timeout=PATIENT)


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
        context.set_default_timeout(PATIENT)
        opened, trouble = context.new_page(), []
        opened.on("console", lambda message: trouble.append(message.text))
        opened.on("pageerror", lambda error: trouble.append(str(error)))
        opened.on(
            "request", lambda sent: None if sent.url.startswith((server.address, "data:")) else trouble.append(sent.url)
        )
        opened.trouble = trouble
        opened.goto(server.address)
        expect(opened.locator("#asked")).to_be_visible()
        expect(opened.locator(".cell.name").first).to_be_visible()
        yield opened
        opened.unroute_all()
        context.close()
    assert trouble == []
