"""`look` finds the roles of columns and what is wrong in them, and proposes a command that works when it is typed."""

from __future__ import annotations

import io
import json
import re
import shlex
import warnings

import numpy as np
import pytest

import linkwise
from linkwise import read_data
from linkwise.cli import main
from linkwise.exceptions import LinkwiseError, LinkwiseWarning
from linkwise.io import look, read_labels

KINDS = ["Kätzchen", "Hund", "Bär"]


def messy(rows=30):
    """A table as a German spreadsheet writes it, with a slip, gaps, sentinels, words, texts, dates and addresses."""
    lines = ["Nr;Tier;Gewicht;Länge;Alter;Art;Notiz;Datum;Mail;Ort;leer"]
    for i in range(rows):
        weight = "t 132" if i == 7 else f"{100 + 30 * (i % 3) + i / 7:.1f}".replace(".", ",")
        length = "" if i in (3, 9) else f"{i % 3 + i / 50:.2f}".replace(".", ",")
        age = "-999" if i in (4, 11) else str(3 + i % 9)
        note = f"this is note number {i} on a {KINDS[i % 3]}"
        mail, day = f"m{i * 4 // 5}@x.org", f"{1 + i % 28}.3.2024"
        lines.append(f"{i + 1};Tier {i};{weight};{length};{age};{KINDS[i % 3]};{note};{day};{mail};Wien;")
    return "\r\n".join(lines).encode("cp1252")


def of(text, **options):
    found = look(io.StringIO(text), **options)
    return found, {column.name: column.role for column in found.columns}


def test_roles_and_options_of_a_messy_table(tmp_path):
    path = tmp_path / "tiere.csv"
    path.write_bytes(messy())
    found = look(path)
    roles = {column.name: column.role for column in found.columns}
    assert roles == {
        "Nr": "row numbers",
        "Tier": "names",
        "Gewicht": "numbers",
        "Länge": "numbers",
        "Alter": "numbers",
        "Art": "categories",
        "Notiz": "text",
        "Datum": "dates",
        "Mail": "repeated words",
        "Ort": "constant",
        "leer": "empty",
    }
    assert found.arguments == {
        "id": "Tier",
        "drop": ["Nr", "Notiz", "Datum", "Mail", "Ort", "leer"],
        "categories": ["Art"],
        "missing": ["-999", "t 132"],
        "impute": "median",
        "encoding": "cp1252",
        "decimal": ",",
        "scale": "standard",
    }
    weight = next(column for column in found.columns if column.name == "Gewicht")
    assert "'t 132' in line 9 is not a number" in weight.remarks
    assert "--together Mail" in str(found)
    with warnings.catch_warnings():
        warnings.simplefilter("error", LinkwiseWarning)  # nothing is guessed any more
        table = read_data(path, **found.arguments)
    assert table.columns == ("Gewicht", "Länge", "Alter", "Art=Bär", "Art=Hund", "Art=Kätzchen")
    assert np.isnan(table.values[[4, 11], 2]).all()  # the two of -999, and only these
    assert np.isnan(table.values[:, 2]).sum() == 2


def test_the_command_works_when_typed(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "meine tiere.csv").write_bytes(messy())
    assert main(["look", "meine tiere.csv", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["features"] == 6
    words = shlex.split(told["command"])
    assert words[0] == "linkwise"
    assert main([*words[1:], "-o", "main", "--effort", "quick"]) == 0
    assert "warning" not in capsys.readouterr().err
    assert len(read_labels(tmp_path / "main" / "labels.csv")[0]) == 30
    other = shlex.split(told["other_commands"][0])
    assert "--text" in other
    assert main([*other[1:], "-o", "words", "--effort", "quick"]) == 0
    capsys.readouterr()
    assert main(["look", "meine tiere.csv"]) == 0
    shown = capsys.readouterr().out
    assert f"  {told['command']}\n" in shown
    assert "cells divided by semicolons, encoded as Windows-1252, decimal commas." in shown


def test_a_table_of_texts_is_compared_by_its_words():
    rows = "".join(f"n{i},the {i} words of a letter about {'ships' if i % 2 else 'cows'}\n" for i in range(12))
    found, roles = of(f"key,body\n{rows}")
    assert roles == {"key": "names", "body": "text"}
    assert found.arguments == {"id": "key", "text": ["body"]}
    assert found.n_features == len(found.table.columns) > 5


@pytest.mark.parametrize(
    ("cells", "role"),
    [
        (["12 kg", "13 kg", "<4 kg", "9 kg"], "numbers with words"),
        (["2024-01-31", "2024-02-01", "2023-12-24", "2024-01-01"], "dates"),
        (["5", "5", "5", "5"], "constant"),
        (["5", "5", "", "5"], "constant"),
        (["x", "", "", "x"], "categories"),
        (["inf", "2", "3", "4"], "numbers"),
        (["007", "12", "34", "56"], "codes"),
        (["1.5", "2,25", "3,75", "1,125"], "unclear numbers"),
        (["a", "b", "a", "b"], "categories"),
        (["", "?", "NA", "n/a"], "empty"),
    ],
)
def test_cells_make_the_role(cells, role):
    rows = "".join(f"{i + 1.5};{cell}\n" for i, cell in enumerate(cells))
    assert of(f"x;c\n{rows}")[1]["c"] == role


def test_a_large_number_that_is_no_sentinel_stays():
    found, _ = of("a,b\n" + "".join(f"{value},{i}\n" for i, value in enumerate([1, 2, 999, 3, 2])))
    assert "missing" not in found.arguments  # once only: it may be a measurement
    found, _ = of("a,b\n1,998.5\n2,999\n999,999\n999,997\n3,996\n")
    assert "missing" not in found.arguments  # 999 is a measurement of b


def test_texts_say_more_than_categories_but_not_more_than_numbers():
    rows = [f"n{i},the {i} words of a letter about {'ships' if i % 2 else 'cows'},{'ab'[i % 2]}" for i in range(12)]
    assert of("key,body,kind\n" + "\n".join(rows))[0].arguments == {"id": "key", "text": ["body"]}
    found = of("key,body,kind,x\n" + "\n".join(f"{row},{i}.5" for i, row in enumerate(rows)))[0]
    assert found.arguments == {"id": "key", "drop": ["body"], "categories": ["kind"]}
    assert found.others[0][1] == {"id": "key", "text": ["body"]}


def test_records_are_recognized_and_the_command_for_them_works(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"r{i},Ann Lee{i // 2},m{i // 2}@x.org,0{i // 2}7,{i % 5}.5\n" for i in range(60))
    (tmp_path / "people.csv").write_text(f"id,name,mail,phone,age\n{rows}")
    found = look("people.csv")
    told = next(line for line in found.advice if "duplicates" in line)
    command = told.split("`")[1]
    assert command == "linkwise duplicates people.csv --id id --block '~name,mail,phone'"
    assert main(shlex.split(command)[1:]) == 0
    assert "60 records in " in capsys.readouterr().out


def test_nothing_to_compare_by_is_an_error():
    with pytest.raises(LinkwiseError, match=r"no column to compare samples by: name: names; place: constant"):
        of("name,place\na,Wien\nb,Wien\nc,Wien\n")


def test_frames_matrices_and_packed_files(tmp_path):
    pd = pytest.importorskip("pandas")
    assert look(pd.DataFrame({"x": [1.0, 2.0, 4.0], "kind": ["a", "b", "a"]})).arguments == {"categories": ["kind"]}
    import scipy.sparse

    scipy.sparse.save_npz(tmp_path / "s.npz", scipy.sparse.eye(4).tocsr())
    assert look(tmp_path / "s.npz").n_features == 4
    import gzip

    (tmp_path / "t.csv.gz").write_bytes(gzip.compress("a,b\nä,1\nö,2\nü,4\n".encode("cp1252")))
    assert look(tmp_path / "t.csv.gz").arguments == {"id": "a", "encoding": "cp1252"}


def test_what_is_proposed_for_a_frame_runs_in_python():
    pd = pytest.importorskip("pandas")
    rows = [
        (f"r{i}", f"Ann Lee{i // 2}", f"m{i // 2}@x.org", ["lynx", "wolf"][i % 2], 5.0 * (i % 2) + i / 60)
        for i in range(60)
    ]
    data = pd.DataFrame(rows, columns=["id", "name", "mail", "class", "age"])
    found = look(data)
    assert not found.is_file
    assert "linkwise cluster" not in str(found)
    assert " --" not in str(found)
    typed = [found.command, *re.findall("`(.*?)`", "\n".join(found.advice))]
    results = [eval(one, {"linkwise": linkwise, "data": data}) for one in typed]
    assert [type(one).__name__ for one in results] == [
        "Clustering",
        "Constraints",
        "Constraints",
        "Constraints",
        "RecordGroups",
    ]
    assert len(results[0].labels) == 60
    with pytest.raises(LinkwiseError, match=r"`linkwise.io.look\(X\)` proposes how to read them"):
        linkwise.cluster(data, n_clusters=2)


def test_whole_numbers_called_ids_are_not_compared_by():
    rows = "".join(f"{i * 7919 % 1000},{i * 104729 % 5000},{i % 3}.5,{i + 3}\n" for i in range(12))
    found, roles = of("id_old,customerId,size,legs\n" + rows)
    assert [roles[name] for name in ("id_old", "customerId", "size", "legs")] == [
        "names",
        "identifiers",
        "numbers",
        "numbers",
    ]
    assert found.arguments["drop"] == ["customerId"]


def test_a_mark_that_may_divide_thousands_is_shown_with_what_to_write():
    rows = "".join(f"n{i};{i},5;{i},25;1.{i}16\n" for i in range(1, 9))
    found, roles = of("name;x;y;sales\n" + rows)
    assert roles["sales"] == "unclear numbers"
    assert "if the point divides thousands, write 1116 to compare by it" in str(found)


def test_names_of_more_words_are_names_and_a_frequent_word_of_records_counts_as_missing():
    species = ["Canis lupus", "Canis l. familiaris (L., 1758)", "Felis catus", "Lynx lynx", "Puma concolor"]
    assert of("Art;x\n" + "".join(f"{one};{i}.5\n" for i, one in enumerate(species)))[0].arguments["id"] == "Art"
    rows = "".join(f"{7 * i},c{i // 2},0{i}1,{i % 3}\n{7 * i + 3},gone,unknown,{i % 2}\n" for i in range(60))
    found, roles = of("CustomerID,mail,phone,kind\n" + rows)
    assert roles["CustomerID"] == "names"
    told = {column.name: column.remarks for column in found.columns}
    assert told["phone"] == ("such as '001'", "'unknown' in 60 rows looks like a missing value")
    assert "'gone' in 60 rows looks like a missing value" in told["mail"]


def test_the_command_for_records_names_the_words_for_missing_values(tmp_path):
    path = tmp_path / "people.csv"
    rows = "".join(f"{7 * i},c{i // 2},0{i}1,{i % 3}\n{7 * i + 3},gone,unknown,{i % 2}\n" for i in range(60))
    path.write_text("CustomerID,mail,phone,kind\n" + rows)
    assert "--id CustomerID --block mail,phone --missing gone --missing unknown" in str(look(path)).replace(
        "--missing unknown --missing gone", "--missing gone --missing unknown"
    )
