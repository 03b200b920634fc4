"""A part of the faults of `tests.app.faults`: kills, power cuts, failing disks and copies lose nothing."""

from __future__ import annotations

import sys

import pytest

from tests.app import faults

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux") or faults.library() is None, reason="needs a shared library of SQLite"
)


def test_nothing_saved_is_lost_and_a_planted_fault_is_found():
    code, told = faults.run("--rows", "6", "--every", "8", "--cuts", "80", "--copies", "40")
    assert code == 0, told
    assert {name: value for name, value in told.items() if name.endswith("_wrong") and value} == {}
    assert min(told["kills"], told["power_cuts"], told["disk_full"], told["failed_syncs"]) > 20
    assert told["planted_found"] > told["planted_runs"] / 2
    assert told["cuts_planted_found"] > 10
    assert 40 <= told["copies_opened"] < 80
