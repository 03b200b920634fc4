"""The pages under docs: their examples run and print what the comment beside each print says."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import pytest

PAGES = sorted((Path(__file__).parents[2] / "docs").glob("*.md"))
WITH_CODE = [page for page in PAGES if "```python" in page.read_text(encoding="utf-8")]


@pytest.mark.parametrize("page", WITH_CODE, ids=lambda page: page.stem)
def test_the_examples_of_a_page_run_and_print_what_they_say(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    code = "\n".join(re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), flags=re.DOTALL))
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, page.name, "exec"), names)
    lines = printed.getvalue().splitlines()
    promised = re.findall(r"^ *print\(.*\)\s+# (.*)$", code, flags=re.MULTILINE)
    if len(promised) == code.count("print("):
        assert lines == promised
    rest = iter(lines)
    for line in promised:
        assert line in rest, f"{line!r} was not printed, or not in its turn"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links_and_pictures_of_a_page_exist(page):
    for target in re.findall(r"\]\(([^)#]+)", page.read_text(encoding="utf-8")):
        if not target.startswith("http"):
            assert (page.parent / target).exists(), target
