"""A part of the kills of `tests.app.kills`: no acknowledged statement is lost, whichever process dies."""

from __future__ import annotations

import sys

import pytest

from tests.app import kills

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks at processes through /proc")


def test_a_server_that_is_killed_loses_nothing_and_says_nothing_twice(tmp_path):
    acknowledged, wrong = kills.kill_servers(tmp_path, 6)
    assert wrong == []
    assert acknowledged > 6


def test_a_reply_before_the_commit_is_found(tmp_path):
    assert kills.kill_servers(tmp_path, 6, planted=True)[1]


def test_engines_that_are_killed_lose_nothing(tmp_path):
    assert kills.kill_engines(tmp_path, 5)[1] == []
