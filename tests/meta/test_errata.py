"""The page of errata: every entry is listed once, has an example, and says what linkwise does instead."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

TEXT = (Path(__file__).parents[2] / "docs" / "errata.md").read_text(encoding="utf-8")
ENTRIES = re.findall(r"^### ([A-Z]\d+)\. .*?\n(.*?)(?=^<a id|^## |\Z)", TEXT, flags=re.MULTILINE | re.DOTALL)
NAMES = [name for name, _ in ENTRIES]
ROWS = re.findall(r"^\| \[([A-Z]\d+)\]\(#(\w+)\) \| .* \| (.+?) \|$", TEXT, flags=re.MULTILINE)
CONSEQUENCES = {"wrong result", "wrong statement", "crash", "ambiguity", "typo"}


def test_every_entry_has_one_number_of_its_own_and_none_is_left_out():
    assert len(NAMES) > 70
    assert len(set(NAMES)) == len(NAMES) == len(re.findall(r"^### ", TEXT, flags=re.MULTILINE))
    for letter in "RTUCB":
        numbers = [int(name[1:]) for name in NAMES if name[0] == letter]
        assert numbers == list(range(1, len(numbers) + 1))


def test_the_table_lists_the_entries_in_order_and_leads_to_them():
    assert [name for name, _, _ in ROWS] == NAMES
    assert [target for _, target, _ in ROWS] == [name.lower() for name in NAMES]
    assert re.findall(r'^<a id="(\w+)"></a>$', TEXT, flags=re.MULTILINE) == [name.lower() for name in NAMES]
    assert {consequence for _, _, consequence in ROWS} == CONSEQUENCES


@pytest.mark.parametrize(("name", "entry"), ENTRIES, ids=NAMES)
def test_an_entry_says_where_shows_what_is_printed_and_names_what_linkwise_does(name, entry):
    assert entry.lstrip().startswith(("*The paper*", "*The slides*"))
    blocks = re.findall(r"```python\n(.*?)```", entry, flags=re.DOTALL)
    assert blocks, f"{name} has no example"
    # test_docs runs the page and compares; here, that no print is without what it shows
    prints = [line for block in blocks for line in block.splitlines() if "print(" in line]
    assert prints
    assert all(re.search(r"\)\s+# \S", line) for line in prints)
    assert re.search(r"^\*Here\*: .*", entry, flags=re.MULTILINE)
    assert re.search(r"\]\((?:\.\./linkwise/|\.\./benchmarks/|learned)", entry)


def test_every_file_that_the_page_names_exists():
    page = Path(__file__).parents[2] / "docs" / "errata.md"
    targets = re.findall(r"\]\((?!http|#)([^)#]+)", TEXT)
    assert len(targets) > 40
    assert [target for target in targets if not (page.parent / target).exists()] == []
