"""Build the documentation site: gather the pages, write the reference, run Sphinx, follow every internal link.

``python docs/_site/build_site.py`` builds into docs/_build/html; ``bash scripts/docs`` installs what it needs first.
A warning of Sphinx and a link that leads nowhere are errors.
"""

from __future__ import annotations

import argparse
import os
import re
import runpy
import shutil
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from api_pages import write_reference

HERE = Path(__file__).resolve().parent
DOCS = HERE.parent
ROOT = DOCS.parent
BUILD = DOCS / "_build"
# Pages that live elsewhere in the source tree, by the name they have in the site.
ELSEWHERE = {
    "contributing.md": "CONTRIBUTING.md",
    "changelog.md": "CHANGELOG.md",
    "security.md": "SECURITY.md",
    "benchmarks.md": "benchmarks/README.md",
    "changes.md": "changes/README.md",
}
ANCHOR = re.compile(r'^<a id="([\w-]+)"></a>\n', re.MULTILINE)
LINK = re.compile(r"(\[(?:`[^`]*`|[^\[\]`])*\])\(([^)\s]+)\)")


def moved_link(page: Path, text: str, target: str, stage: Path) -> str:
    """A link of a page of the source tree, as the same page says it in the site."""
    parts = urlsplit(target)
    if parts.scheme or not parts.path:
        return f"{text}({target})"
    goal = Path(os.path.normpath(page.parent / unquote(parts.path)))
    fragment = f"#{parts.fragment}" if parts.fragment else ""
    inside = {ROOT / home: name for name, home in ELSEWHERE.items()} | {ROOT / "README.md": "index.md"}
    if goal in inside:
        return f"{text}({inside[goal]}{fragment})"
    if goal.is_relative_to(DOCS):
        return f"{text}({goal.relative_to(DOCS).as_posix()}{fragment})"
    if goal.is_relative_to(ROOT / "linkwise") and text.startswith("[`"):
        return text[1:-1]  # a public name, which the site links to the reference
    if goal.is_relative_to(ROOT / "examples") and goal.name.startswith("plot_"):
        return f"{text}(gallery/{goal.stem}.rst)"
    return f"{text}({os.path.relpath(goal, stage)})"  # a file to download


def unreleased() -> str:
    """The changes that wait for a release, as `scripts/changelog` assembles them."""
    tool = runpy.run_path(str(ROOT / "scripts" / "changelog"))
    fragments = tool["read_fragments"](ROOT / "changes")
    return f"\n{tool['assemble'](fragments, 'Next')}" if any(fragments.values()) else ""


def gather(stage: Path) -> None:
    """Copy every page and picture, with its links as they are in the site."""
    pages = {path.name: path for path in DOCS.glob("*.md")} | {name: ROOT / home for name, home in ELSEWHERE.items()}
    for name, path in pages.items():
        text = path.read_text(encoding="utf-8") + (unreleased() if name == "changelog.md" else "")
        text = LINK.sub(lambda found, page=path: moved_link(page, found[1], found[2], stage), text)
        text = ANCHOR.sub(r"(\1)=\n", text)
        (stage / name).write_text(text, encoding="utf-8")
    shutil.copytree(DOCS / "img", stage / "img")


class Anchors(HTMLParser):
    """The links and the anchors of one page."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = {"", "top"}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what a tag links to, and the names it has."""
        given = dict(attrs)
        self.anchors |= {name for name in (given.get("id"), given.get("name")) if name}
        self.links += [link for link in (given.get("href"), given.get("src")) if link and tag != "base"]


def broken_links(site: Path) -> tuple[int, list[str]]:
    """Follow every link between pages of the site: how many there are, and those that lead nowhere."""
    pages: dict[Path, Anchors] = {}
    for path in site.rglob("*.html"):
        if path.is_relative_to(site / "_static"):
            continue  # templates of the theme, not pages
        pages[path] = Anchors()
        pages[path].feed(path.read_text(encoding="utf-8"))
    count, broken = 0, []
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            count += 1
            goal = Path(os.path.normpath(path.parent / unquote(parts.path))) if parts.path else path
            goal = goal / "index.html" if goal.is_dir() else goal
            known = pages.get(goal)
            if not goal.exists() or (known is not None and unquote(parts.fragment) not in known.anchors):
                broken.append(f"{path.relative_to(site)}: {link}")
    return count, broken


def main() -> int:
    """Build the site, and say where it is or what is wrong with it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, default=BUILD / "html", help="folder of the site")
    parser.add_argument("--no-gallery", action="store_true", help="do not run the examples, to see pages quickly")
    parser.add_argument("--keep-going", action="store_true", help="collect warnings, and fail at the end")
    given = parser.parse_args()
    from sphinx.cmd.build import main as sphinx

    stage = BUILD / "pages"
    kept = BUILD / "gallery"  # pictures of examples that have not changed
    shutil.rmtree(stage, ignore_errors=True)
    stage.mkdir(parents=True)
    if kept.is_dir():
        shutil.copytree(kept, stage / "gallery")
    gather(stage)
    write_reference(stage / "api")
    options = ["-D", "plot_gallery=False"] if given.no_gallery else []
    options += ["--keep-going"] if given.keep_going else []
    code = sphinx(["-b", "html", "-W", "-q", "-c", str(HERE), *options, str(stage), str(given.output)])
    if code:
        return code
    if not given.no_gallery:
        shutil.rmtree(kept, ignore_errors=True)
        shutil.copytree(stage / "gallery", kept)
    count, broken = broken_links(given.output)
    for one in broken:
        print(f"leads nowhere: {one}", file=sys.stderr)
    pages = sum(1 for _ in given.output.rglob("*.html"))
    print(f"{pages} pages, {count} internal links, {len(broken)} broken: {given.output / 'index.html'}")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
