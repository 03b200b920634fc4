"""`linkwise docs` opens the documentation, or says where it is."""

from __future__ import annotations

import json
import webbrowser
from email.message import Message
from importlib import metadata

import pytest

from linkwise import __version__
from linkwise.cli import _installation_verbs, main


@pytest.fixture
def opened(monkeypatch):
    found: list[str] = []
    monkeypatch.setattr(webbrowser, "open", found.append)
    return found


@pytest.fixture
def source(tmp_path, monkeypatch):
    monkeypatch.setattr(_installation_verbs, "SOURCE", tmp_path)
    return tmp_path


def state(monkeypatch, *addresses):
    package = Message()
    for address in addresses:
        package["Project-URL"] = address
    monkeypatch.setattr(metadata, "metadata", lambda _: package)


def test_a_site_that_was_built_is_opened(source, opened, capsys):
    site = source / "docs" / "_build" / "html" / "index.html"
    site.parent.mkdir(parents=True)
    site.touch()
    assert main(["docs"]) == 0
    assert opened == [site.as_uri()]
    assert capsys.readouterr().out == f"The documentation is {site}\n"
    assert main(["docs", "--no-browser", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["documentation"] == site.as_uri()
    assert len(opened) == 1


def test_without_a_site_the_pages_of_the_source_tree_are_named(source, opened, capsys):
    (source / "docs").mkdir()
    (source / "docs" / "start.md").touch()
    assert main(["docs"]) == 0
    assert f"The pages are in {source / 'docs'}, start.md first. `bash scripts/docs`" in capsys.readouterr().out
    assert opened == []


def test_an_installed_package_opens_the_address_that_it_states(source, opened, capsys, monkeypatch):
    assert list(source.iterdir()) == []
    state(monkeypatch, "Source, https://example.org/source", "Documentation, https://example.org/docs")
    assert main(["docs"]) == 0
    assert opened == ["https://example.org/docs"]
    assert capsys.readouterr().out == "The documentation is https://example.org/docs\n"


def test_without_an_address_the_archive_that_holds_the_pages_is_named(source, opened, capsys, monkeypatch):
    assert list(source.iterdir()) == []
    state(monkeypatch, "Source, https://example.org/source")
    assert main(["docs"]) == 0
    assert f"linkwise-{__version__}.tar.gz" in capsys.readouterr().out
    assert opened == []
