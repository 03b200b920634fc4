"""The page at the width of a telephone and of a desk: by its source always, in a browser where one is installed."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from html.parser import HTMLParser

import numpy as np
import pytest

from linkwise import ConstrainedAgglomerative, Constraints
from linkwise.report import gather_facts, render_html

WIDTHS = (390, 1440)
BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None)
# The page in frames of these widths: how wide it wants to be, what sticks out, what went wrong, what it asked for.
PROBE = """<!doctype html><body><script>
const widths = WIDTHS, found = [];
const sticksOut = (view) => [...view.document.querySelectorAll("body *")].filter((e) => {
  const box = e.getBoundingClientRect();
  if (!box.width || box.right <= view.innerWidth + 1) return false;
  for (let up = e.parentElement; up; up = up.parentElement)
    if (["auto", "scroll", "hidden"].includes(view.getComputedStyle(up).overflowX)) return false;
  return true;
});
for (const width of widths) {
  const frame = document.createElement("iframe"), errors = [];
  frame.style.width = width + "px"; frame.style.height = "900px"; frame.style.border = 0;
  frame.onload = () => {
    const view = frame.contentWindow, root = view.document.documentElement;
    if (!view.document.querySelector("h1")) return;
    for (const e of view.document.querySelectorAll("details")) e.open = true;
    found.push({width, wants: root.scrollWidth, out: sticksOut(view).map((e) => e.tagName),
                letters: Math.min(...[...view.document.querySelectorAll("p, td, li")].map((e) =>
                  parseFloat(view.getComputedStyle(e).fontSize))),
                asked: view.performance.getEntriesByType("resource").map((e) => e.name), errors});
    if (found.length == widths.length) document.title = JSON.stringify(found);
  };
  const watch = "<head><script>window.onerror = (text) => parent.failed.push(text)<" + "/script>";
  frame.srcdoc = PAGE.replace("<head>", watch);
  window.failed = errors;
  document.body.append(frame);
}
</script></body>"""


def example(n: int) -> str:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 4)) + 5 * rng.integers(3, size=(n, 1))
    ids = [f"a sample with quite a long name, number {i}" for i in range(n)]
    said = Constraints.build(n, must_link=[(0, 1), (1, 2)], cannot_link=[(0, 3)], triplets=[]).with_ids(ids)
    plain = ConstrainedAgglomerative(3).fit(X)
    model = ConstrainedAgglomerative(3).fit(X, constraints=said)
    recipe = "model = " + "a_very_long_line_of_code(" * 12
    return render_html(gather_facts(model, X=X, constraints=said, ids=ids, before=plain, recipe=recipe))


class Boxes(HTMLParser):
    """Collects what stands around each table."""

    def __init__(self):
        super().__init__()
        self.open, self.around = [], []

    def handle_starttag(self, tag, attrs):
        if tag == "table":
            self.around.append([dict(attrs).get("class", ""), *self.open])
        if tag not in {"meta", "input", "br"}:
            self.open.append(dict(attrs).get("class", tag))

    def handle_endtag(self, _tag):
        self.open.pop()


@pytest.mark.parametrize("n", [10, 400])
def test_the_page_fits_a_telephone_and_a_desk(n, tmp_path):
    page = example(n)
    assert '<meta name="viewport" content="width=device-width, initial-scale=1">' in page
    boxes = Boxes()
    boxes.feed(page)
    assert boxes.around
    for own, *around in boxes.around:  # wide tables scroll inside their own box; narrow ones keep to theirs
        assert "wide" in around or own == "traits", around
    assert re.search(r"\.wide \{ overflow-x: auto; \}", page)
    assert re.search(r"pre \{[^}]*overflow-x: auto", page)
    if BROWSER is not None:
        look(page, tmp_path)


def look(page: str, folder) -> None:
    """Show the page in frames of both widths, and read what the probe found."""
    probe = folder / "probe.html"
    quoted = json.dumps(page).replace("</", "<\\/")
    probe.write_text(PROBE.replace("WIDTHS", str(list(WIDTHS))).replace("PAGE", quoted, 1), encoding="utf-8")
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--window-size=1600,2000", "--virtual-time-budget=8000"]
    command = [BROWSER, *options, f"--user-data-dir={folder / 'profile'}", "--dump-dom", probe.as_uri()]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found = json.loads(html.unescape(re.findall(r"<title>(.*?)</title>", shown, flags=re.DOTALL)[0]))
    assert sorted(one["width"] for one in found) == list(WIDTHS)
    for one in found:
        assert one["wants"] <= one["width"], one
        assert (one["out"], one["asked"], one["errors"]) == ([], [], []), one
        assert one["letters"] >= 12, one


def test_clusters_of_one_size_are_told_by_one_number():
    page = render_html(gather_facts(ConstrainedAgglomerative(2).fit([[0.0], [0.1], [9.0], [9.1]])))
    assert "<b>2</b><span>samples in each cluster</span>" in page
    page = render_html(gather_facts(ConstrainedAgglomerative(2).fit([[0.0], [0.1], [0.2], [9.0]])))
    assert "<b>1 – 3</b><span>smallest, largest cluster</span>" in page
