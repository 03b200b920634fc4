"""The tree itself: words that do not belong in it, change fragments, scripts and the README."""

from __future__ import annotations

import os
import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import linkwise

ROOT = Path(__file__).resolve().parents[2]
LEFT_OUT = {
    ".git",
    ".venv",
    ".venv-floor",
    "__pycache__",
    "_build",
    ".hypothesis",
    ".mypy_cache",
    ".pytest_cache",
    ".ruff_cache",
    "demo-output",
}
TEXT = {".py", ".md", ".toml", ".css", ".js", ".txt", ".cfg", ".ini", ".yml", ".yaml", ".json", ".html", ".svg", ""}
# written in pieces, so that this file does not contain what it looks for
FORBIDDEN = [
    r"(?<![\w.])/" + r"(?:work|tmp|root|home)/",
    r"\b(?:sub-?)?ag" + r"ents?\b",
    r"\b(?:this|another|previous|next|parallel) " + r"session\b",
    r"\b(?:Clau" + r"de|Chat" + r"GPT|Open" + r"AI|Anthro" + r"pic)\b",
    r"\bas an " + r"AI\b",
    r"\bissue " + r"#\d+",
    r"<<<<<" + r"<<",
]


def files() -> list[Path]:
    found = []
    for folder, folders, names in os.walk(ROOT):
        folders[:] = [name for name in folders if name not in LEFT_OUT and not name.endswith(".egg-info")]
        found += [Path(folder, name) for name in names if Path(name).suffix in TEXT and name not in LEFT_OUT]
    return found


@pytest.mark.parametrize("pattern", FORBIDDEN)
def test_forbidden_words_do_not_occur(pattern):
    wanted = re.compile(pattern, re.IGNORECASE)
    hits = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in files()
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if wanted.search(line)
    ]
    assert hits == []


def test_change_fragments_can_be_assembled(tmp_path):
    shutil.copytree(ROOT / "changes", tmp_path / "changes")
    (tmp_path / "changes" / "some-test.fix.md").write_text("A bug is gone,\nfor good.\n")
    (tmp_path / "linkwise").mkdir()
    for name in ("CHANGELOG.md", "CITATION.cff", "linkwise/__init__.py"):
        shutil.copy(ROOT / name, tmp_path / name)
    script = [sys.executable, str(ROOT / "scripts" / "changelog"), "--root", str(tmp_path)]
    subprocess.run([*script, "--release", "9.9.9"], check=True)
    text = (tmp_path / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.search(r"## 9\.9\.9 \(\d{4}-\d\d-\d\d\)\n", text)
    fixed = text.split("### Fixed\n", 1)[1].split("\n#", 1)[0]
    assert "\n- A bug is gone,\n  for good.\n" in fixed + "\n"
    assert [path.name for path in (tmp_path / "changes").iterdir()] == ["README.md"]
    assert '__version__ = "9.9.9"' in (tmp_path / "linkwise" / "__init__.py").read_text(encoding="utf-8")
    assert "version: 9.9.9\n" in (tmp_path / "CITATION.cff").read_text(encoding="utf-8")
    # what comes before it is published joins the section; the next version gets one of its own
    (tmp_path / "CHANGELOG.md").write_text(re.sub(r"(## 9\.9\.9 .*\n)", r"\1\nAt a glance.\n", text), encoding="utf-8")
    (tmp_path / "changes" / "late.fix.md").write_text("One more.\n")
    subprocess.run([*script, "--release", "9.9.9"], check=True)
    (tmp_path / "changes" / "name.change.md").write_text("A name.\n")
    subprocess.run([*script, "--release", "9.9.10"], check=True)
    later = (tmp_path / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.findall(r"^## (\S+)", later, re.MULTILINE)[:2] == ["9.9.10", "9.9.9"]
    assert later.count("## 9.9.9 ") == 1
    assert "\n  for good.\n" in later
    assert re.search(r"## 9\.9\.9 .*\n\nAt a glance\.\n\n###", later)
    assert "\n- One more.\n" in later.split("### Fixed\n", 1)[1]
    assert len(later.splitlines()) > len(text.splitlines())


def test_a_misnamed_fragment_is_refused(tmp_path):
    (tmp_path / "changes").mkdir()
    (tmp_path / "changes" / "oops.bug.md").write_text("x")
    done = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "changelog"), "--root", str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "is not named" in done.stderr


COMMANDS = (
    "scripts/build-release",
    "scripts/build-kernels",
    "scripts/demo",
    "scripts/docs",
    "scripts/test",
    "scripts/test-floor",
    "scripts/test-kernels",
    "scripts/try-release",
    ".ci/run",
)


@pytest.mark.parametrize("script", [*COMMANDS, "scripts/_setup"])
def test_shell_scripts_parse(script):
    subprocess.run(["bash", "-n", str(ROOT / script)], check=True)


@pytest.mark.parametrize("script", [*COMMANDS, "scripts/changelog", "scripts/vendor"])
def test_commands_are_executable(script):
    assert os.access(ROOT / script, os.X_OK)


def test_a_release_is_tried_only_where_there_is_one(tmp_path):
    for made in ([], ["linkwise-1.0-py3-none-any.whl"], ["linkwise-1.0.tar.gz"]):
        for name in made:
            (tmp_path / name).write_bytes(b"")
        done = subprocess.run(
            ["bash", str(ROOT / "scripts" / "try-release"), str(tmp_path)], capture_output=True, text=True, check=False
        )
        assert done.returncode == 1, done.stdout
        assert "expected one of each" in done.stderr
        for name in made:
            (tmp_path / name).unlink()


def test_the_readme_example_runs_and_prints_what_it_says(tmp_path):
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    code, shown = re.search(r"```python\n(.*?)```\n+It prints:\n+```\n(.*?)```", text, re.DOTALL).groups()
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert done.stdout == shown


def test_a_page_names_every_public_name():
    text = (ROOT / "docs" / "names.md").read_text(encoding="utf-8")
    public = {*linkwise.__all__, *linkwise.engines.__all__, *linkwise.constraints.__all__}
    assert [name for name in sorted(public) if f"`{name}`" not in text] == []


def test_the_page_of_the_package_leads_nowhere_inside_the_repository(monkeypatch):
    made = ModuleType("hatchling.metadata.plugin.interface")
    made.MetadataHookInterface = object  # as hatchling provides while it builds
    monkeypatch.setitem(sys.modules, made.__name__, made)
    for parent in ("hatchling", "hatchling.metadata", "hatchling.metadata.plugin"):
        monkeypatch.setitem(sys.modules, parent, ModuleType(parent))
    page_of = runpy.run_path(str(ROOT / "scripts" / "package_page.py"))["page_of"]
    page = page_of((ROOT / "README.md").read_text(encoding="utf-8"))
    assert not re.search(r"\]\((?!https?:)", page)
    assert "pip install linkwise" in page
    assert "The same wines" not in page  # the caption of the picture
    assert "<img" not in page
    assert page_of("[a](b.md), [c](https://d.org/e) and ![f](g.png)\n\n*h*\n\ni") == "a, [c](https://d.org/e) and i"


def test_the_version_is_one():
    cited = re.search(r"^version: (\S+)$", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), re.MULTILINE).group(1)
    assert cited == linkwise.__version__


def test_the_readme_links_to_files_that_exist():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for target in re.findall(r"\]\((?!http)([^)#]+)\)", text) + re.findall(r'<img src="([^"]+)"', text):
        assert (ROOT / target).exists(), target
