"""Files and roles as samples: what the import page shows, what engines read, and what is refused in words."""

from __future__ import annotations

import io
import json
import re

import numpy as np
import pytest

from linkwise.app._items import items_of
from linkwise.app._log import read_body
from linkwise.app.files import list_samples, preview, read_items, sample
from linkwise.app.files._sample_tables import SAMPLES
from linkwise.exceptions import LinkwiseError
from linkwise.io import read_data

BEERS = (
    "name;abv;ibu;style;taste;brewed\n"
    "Orval;6,2;32;Trappist;dry and hoppy;1931\n"
    "Chimay;9,0;;Trappist;dark plums;1862\n"
    "Jever;4,9;40;Pils;bitter;1848\n"
    "Beck's;5;n.a.;Pils;light and bitter;1873\n"
    "Duvel;8,5;32;Strong;dry;1923\n"
    "Müller;8,4;30;Strong;;1920\n"
)
RAW = BEERS.encode("cp1252")
ROLES = {"name": "name", "abv": "number", "ibu": "number", "style": "category", "taste": "show", "brewed": "ignore"}


def chosen(told):
    """The options that the import page sends back: the chosen one of every note with choices."""
    return {
        note["key"]: next(one["key"] for one in note["choices"] if one["chosen"])
        for note in told["notes"] if "choices" in note
    }  # fmt: skip


def test_a_preview_proposes_what_read_data_can_read():
    told = preview("beers.csv", RAW)
    assert json.loads(json.dumps(told)) == told
    assert told["error"] is None
    assert (told["rows"], told["encoding"]) == (6, "Windows-1252, semicolon")
    roles = {one["name"]: one["role"] for one in told["columns"]}
    assert (roles["name"], roles["abv"], roles["ibu"]) == ("name", "number", "number")
    assert told["sample"][1] == ["Chimay", "9,0", None, "Trappist", "dark plums", "1862"]
    assert "6 items in one tree" in told["will"]
    given = {"impute": "median", "decimal": ",", "encoding": "cp1252", "missing": '["n.a."]'}
    assert chosen(told) == {**given, "scale": told["options"]["scale"]}


@pytest.mark.parametrize(("name", "role"), [("Château d'Or, dry white", "name"), ("a word of " * 9, "show")])
def test_items_are_named_by_short_words_that_differ(name, role):
    """Names of more than three parts are texts for `look`; questions about row numbers would tell a person nothing."""
    raw = "".join(["wine,alcohol\n", *(f'"{name} {at}",{at % 7}\n' for at in range(20))]).encode()
    told = preview("wines.csv", raw)
    assert {one["name"]: one["role"] for one in told["columns"]} == {"wine": role, "alcohol": "number"}
    again = preview("wines.csv", raw.replace(b' 1"', b' 2"'))  # two are alike
    assert again["columns"][0]["role"] == "show"


def test_what_the_page_sends_back_gives_the_same_preview_and_the_same_items():
    first = preview("beers.csv", RAW, ROLES)
    again = preview("beers.csv", RAW, ROLES, chosen(first))
    assert again == first
    one, two, three = (
        read_items("beers.csv", RAW, ROLES, options) for options in (None, chosen(first), first["options"])
    )
    assert one.arguments == two.arguments == three.arguments
    np.testing.assert_array_equal(one.table.X, two.table.X)
    assert two.options == three.options


@pytest.mark.parametrize(
    "options", [{}, {"scale": "minmax", "impute": "mean"}, {"scale": "none"}, {"missing": '["n.a.", "30"]'}]
)
@pytest.mark.parametrize(
    "roles", [ROLES, {**ROLES, "abv": "show", "ibu": "show"}, {**ROLES, "taste": "text", "abv": "show"}]
)
def test_the_arguments_read_the_same_samples_from_the_file(roles, options, tmp_path):
    path = tmp_path / "beers.csv"
    path.write_bytes(RAW)
    given = {"decimal": ",", "encoding": "cp1252", "missing": '["n.a."]', **options}
    found = read_items("beers.csv", RAW, roles, given)
    table = read_data(path, **found.arguments)
    assert table.ids.tolist() == found.table.ids.tolist()
    assert table.columns == found.table.columns
    left, right = (one.X if isinstance(one.X, np.ndarray) else one.X.toarray() for one in (table, found.table))
    np.testing.assert_array_equal(left, right)
    items = items_of(found.table, found.roles)
    assert items.ids == ["Orval", "Chimay", "Jever", "Beck's", "Duvel", "Müller"]


@pytest.mark.parametrize(
    ("roles", "options", "column", "words"),
    [
        ({"taste": "number"}, {}, "taste", "'dry and hoppy' in line 2, which is not a number"),
        ({"abv": "number"}, {"decimal": "."}, "abv", "not a number"),
        ({"style": "name"}, {}, "style", "both name the items"),
        ({"name": "show", "style": "name"}, {}, "style", "the name 'Trappist' is in line 2 already"),
        ({"abv": "show", "ibu": "show", "style": "show"}, {}, None, "need a column to be compared by"),
        ({"taste": "category", "abv": "show", "ibu": "show"}, {"impute": "no"}, None, "the option impute is 'no'"),
    ],
)
def test_a_role_that_does_not_fit_is_an_error_at_its_column(roles, options, column, words):
    given = {"decimal": ",", "encoding": "cp1252", "missing": '["n.a."]', **options}
    told = preview("beers.csv", RAW, {**ROLES, **roles}, given)
    assert words in told["error"]["message"]
    assert told["error"]["column"] == column
    assert "=" not in told["error"]["hint"]  # no hint for Python
    assert told["will"] == ""
    assert len(told["columns"]) == 6


@pytest.mark.parametrize(
    ("roles", "options", "words"),
    [({"color": "number"}, {}, "no column 'color'"), ({"abv": "digits"}, {}, "no role 'digits'"),
     ({}, {"taste": "good"}, "no option 'taste'"), ({}, {"missing": "5"}, "expected a list of words"),
     ({}, {"encoding": "klingon"}, "no encoding")],
)  # fmt: skip
def test_roles_and_options_that_do_not_exist_are_refused(roles, options, words):
    with pytest.raises(LinkwiseError, match=words):
        preview("beers.csv", RAW, roles, options)


@pytest.mark.parametrize(
    ("name", "raw", "words"),
    [
        ("beers.csv", b"", "is empty"),
        ("beers.png", b"\x89PNG\r\n\x1a\n" + bytes(50), "a single picture.*one zip archive"),
        ("beers.csv", b"\x80\x04pickle", "pickle"),
        ("beers.csv", b"a,a\n1,2\n", "twice|more than once|two columns|both"),
        ("beers.csv", b"\x00" * 100, "NUL"),
        ("beers.nwk", b"((a,b),c);", "is a tree.*under Knowledge"),
        ("beers.html", b" <html><b>x</b></html>", "is a web page.*CSV"),
        ("a.jsonl", b'{"format":"linkwise.dialogue/1","n_samples":2}\n', "log of answers.*under Knowledge"),
    ],
)
def test_files_that_are_not_tables_are_refused_in_words(name, raw, words):
    with pytest.raises(LinkwiseError) as refused:
        preview(name, raw)
    assert re.search(words, str(refused.value), re.DOTALL)


def test_names_that_occur_twice_are_made_different_on_request_only():
    raw = b"name,x\notter,1\notter,2\notter (2),3\n,4\nseal,5\n"
    roles = {"name": "name", "x": "number"}
    told = preview("n.csv", raw, roles)
    assert told["error"]["column"] == "name"
    assert next(note for note in told["notes"] if note["key"] == "names")["words"].startswith("2 rows of name")
    found = read_items("n.csv", raw, roles, {"names": "number"})
    assert found.table.ids.tolist() == ["otter (1)", "otter (2)'", "otter (2)", "(4)", "seal"]
    assert found.arguments is None
    assert len(found.gaps) == 1


@pytest.mark.parametrize(("how", "weight"), [("soft", 1.0), ("certain", None), ("no", 0)])
def test_known_groups_become_statements_to_import(how, weight):
    found = read_items("beers.csv", RAW, {**ROLES, "style": "know"}, {"know": how})
    if how == "no":
        assert found.knowledge == ()
        return
    (body,) = found.knowledge
    assert read_body("import", body)["statements"] == [
        {"line": 1, "kind": "together", "items": ["Orval", "Chimay"], "weight": weight},
        {"line": 2, "kind": "together", "items": ["Jever", "Beck's"], "weight": weight},
        {"line": 3, "kind": "together", "items": ["Duvel", "Müller"], "weight": weight},
    ]
    assert "style" in found.table.beside


def test_other_kinds_of_tables_are_read():
    sheet, rows = io.BytesIO(), np.arange(12.0).reshape(6, 2)
    np.save(sheet, rows)
    told = preview("x.npy", sheet.getvalue())
    assert [one["role"] for one in told["columns"]] == ["number", "number"]
    np.testing.assert_array_equal(read_items("x.npy", sheet.getvalue()).table.X, rows)


@pytest.mark.parametrize("name", SAMPLES)
def test_samples_are_as_large_as_listed_and_need_no_choice(name):
    file, roles, options, raw = sample(name)
    found = read_items(file, raw, roles, options)
    assert {"name": name, "items": len(found.table)} in list_samples()
    assert found.table.has_names
    assert read_body("open", {"name": name, "roles": roles, "options": options})["options"] == options
    with pytest.raises(LinkwiseError, match="no sample"):
        sample("nothing")
