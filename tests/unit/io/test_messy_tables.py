"""Tables as people have them: other encodings, decimal commas, sheets, wildcards, words, and columns as statements."""

from __future__ import annotations

import io

import openpyxl
import pytest

from linkwise import Constraints, read_data, read_knowledge
from linkwise.exceptions import ConstraintError, LinkwiseError, LinkwiseWarning


@pytest.fixture
def write(tmp_path):
    def put(content, name="table.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return put


def sheet(*rows, more=()):
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    for title in more:
        book.create_sheet(title)
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def test_windows_encoding_is_read_and_the_warning_shows_a_word(write):
    path = write("name,x\nBärlauch,1\nMöhre,2\n".encode("cp1252"))
    with pytest.warns(LinkwiseWarning, match="was read as Windows-1252, as in 'Bärlauch'"):
        assert read_data(path, id="name").ids.tolist() == ["Bärlauch", "Möhre"]
    assert read_data(path, id="name", encoding="cp1252").ids.tolist() == ["Bärlauch", "Möhre"]
    with pytest.raises(LinkwiseError, match="there is no encoding 'klingon'"):
        read_data(path, id="name", encoding="klingon")
    with pytest.raises(LinkwiseError, match="there is no encoding 'zip'"):
        read_data(path, id="name", encoding="zip")


def test_utf_16_is_read_with_a_warning(write):
    with pytest.warns(LinkwiseWarning, match="is encoded as UTF-16"):
        assert read_data(write("a,b\n1,2\n3,4\n".encode("utf-16"))).X.tolist() == [[1, 2], [3, 4]]


def test_decimal_commas_are_read_where_they_can_be_nothing_else(write):
    with pytest.warns(LinkwiseWarning, match="numbers have decimal commas, as in 31,1"):
        assert read_data(write("n;x\na;31,1\nb;2\n"), id="n").X.tolist() == [[31.1], [2.0]]
    with pytest.raises(LinkwiseError, match="without commas"):
        read_data(write("n;x\na;1,000\nb;2\n"), id="n")  # a thousand, or one
    with pytest.raises(LinkwiseError, match=r"are not numbers: x \(line 2: '31,1'\)"):
        read_data(write("n;x\na;31,1\nb;2.5\n"), id="n")
    with pytest.raises(LinkwiseError, match="are not numbers"):
        read_data(write("n;x\na;31,1\nb;2\n"), id="n", decimal=".")


def test_the_first_sheet_of_a_workbook_is_a_table(write):
    path = write(sheet(["name", "x", "wet"], ["otter", 1.5, True], ["mink", 2, False]), "book.xlsx")
    table = read_data(path, id="name")
    assert table.ids.tolist() == ["otter", "mink"]
    assert table.X.tolist() == [[1.5, 1.0], [2.0, 0.0]]
    several = write(sheet(["x"], [1], [2], more=["notes"]), "two.xlsx")
    with pytest.warns(LinkwiseWarning, match="only the first sheet, 'Sheet', was read, not 'notes'"):
        assert read_data(several).X.tolist() == [[1.0], [2.0]]
    with pytest.raises(LinkwiseError, match="is empty"):
        read_data(write(sheet(), "none.xlsx"))


def test_options_take_wildcards_and_lists(write):
    path = write("id_a,id_b,x,y\n1,2,3,4\n5,6,7,8\n")
    assert read_data(path, drop=["id_*"]).X.tolist() == [[3, 4], [7, 8]]
    assert read_data(path, drop=["id_a,id_b"]).X.tolist() == [[3, 4], [7, 8]]
    with pytest.raises(LinkwiseError, match=r"z\*"):
        read_data(path, drop=["z*"])


def test_columns_of_few_words_are_categories_where_asked(write):
    path = write("name,sex,x\n" + "".join(f"s{i},{'mf'[i % 2]},{i}\n" for i in range(8)))
    table = read_data(path, id="name", categories="auto")
    assert len(table.columns) == 3
    assert table.X[0].tolist() == [0.0, 0.0, 1.0]


def test_columns_are_scaled_where_one_would_decide_alone(write):
    even, odd = write("a,b\n1,2\n2,1\n3,3\n", "even.csv"), write("a,b\n1,2000\n2,1000\n3,9000\n", "odd.csv")
    assert read_data(even, scale="auto").X.tolist() == [[1, 2], [2, 1], [3, 3]]
    assert read_data(odd, scale="auto").X.std(axis=0).tolist() == pytest.approx([1.0, 1.0])
    beside = write("a,kind\n10,x\n200,y\n300,x\n", "beside.csv")
    table = read_data(beside, categories=["kind"], scale="auto")
    assert table.X.std(axis=0).tolist() == pytest.approx([1.0, 2**0.5 / 3, 2**0.5 / 3])
    assert read_data(write("kind\nx\ny\n", "kinds.csv"), categories=["kind"], scale="auto").preparation.scale is None


def test_columns_of_the_data_are_statements(write):
    path = write("name,mail,source,x\na,m1,s1,1\nb,m1,s2,2\nc,,s1,3\nd,m2,s2,4\n")
    table = read_data(path, id="name", keep=["mail", "source"])
    said = read_knowledge([], table, together=["mail"], apart=["source"]).constraints
    assert [said.describe(i) for i in range(said.n_statements)] == [
        "#0 must_link(a, b)",
        "#1 cannot_link(a, c)",
        "#2 cannot_link(b, d)",
    ]
    with pytest.raises(LinkwiseError, match="expected one that the Table in ids has kept"):
        read_knowledge([], table, together=["x"])


def test_pairs_with_a_verdict_under_headers_of_their_own(write):
    data = read_data(write("name,x\na,1\nb,2\nc,3\n"), id="name")
    path = write("species1;species2;same\na;b;yes\nb;c;no\na;c;unknown\n", "said.csv")
    with pytest.warns(LinkwiseWarning, match="read as pairs of species1 and species2"):
        said = read_knowledge(path, data).constraints
    assert [said.describe(i) for i in range(said.n_statements)] == ["#0 must_link(a, b)", "#1 cannot_link(b, c)"]
    with pytest.raises(ConstraintError, match="but not whether they belong together"):
        read_knowledge(write("one;other\na;b\nb;c\n", "two.csv"), data)


@pytest.mark.parametrize(("header", "apart"), [("art;gruppe", False), ("art;group", False), ("art;Label", True)])
def test_groups_under_headers_of_their_own_are_together_and_labels_apart_as_well(write, recwarn, header, apart):
    data = read_data(write("name,x\na,1\nb,2\nc,3\nd,4\n"), id="name")
    said = read_knowledge(write(f"{header}\na;u\nb;u\nc;v\nd;v\n", "groups.csv"), data).constraints
    told = [said.describe(i) for i in range(said.n_statements)]
    assert ("apart(" in " ".join(told) or "cannot_link" in " ".join(told)) is apart
    assert told[:2] == ["#0 must_link(a, b)", "#1 must_link(c, d)"]
    advice = [str(one.message) for one in recwarn]
    assert len(advice) == (header == "art;gruppe")
    if advice:  # doing what it says helps
        assert "call the column label instead of gruppe" in advice[0]


@pytest.mark.parametrize(
    ("decimal", "cells"),
    [
        (".", {"1,482.51": 1482.51, "1,234,567": 1234567, "-1,000.5": -1000.5, "1'234": 1234, "1\u00a0234.5": 1234.5}),
        (",", {"1.482,51": 1482.51, "1.234.567": 1234567, "-1.000,5": -1000.5, "1 482,5": 1482.5, "1\u202f234": 1234}),
    ],
)
def test_thousands_are_read_where_they_can_be_nothing_else(write, decimal, cells):
    path = write("x;y\n" + "".join(f"{cell};{row}\n" for row, cell in enumerate(cells)))
    assert read_data(path, decimal=decimal).X[:, 0].tolist() == list(cells.values())


@pytest.mark.parametrize(("decimal", "cell"), [(".", "1,482"), (",", "1.482"), (".", "15 000"), (",", "1,482.5")])
def test_thousands_that_may_be_decimals_or_words_are_refused(write, decimal, cell):
    with pytest.raises(LinkwiseError, match="cells that are not numbers"):
        read_data(write(f"x;y\n{cell};1\n900;2\n"), decimal=decimal)
    if decimal == "," and cell == "1.482":
        with pytest.raises(LinkwiseError, match=r"without points \(1482\); if the point is the decimal mark"):
            read_data(write(f"x;y\n{cell};1\n900;2\n"), decimal=decimal)


def test_amounts_alone_tell_that_commas_are_decimal(write):
    path = write("name;amount\na;1.482,51\nb;14.581,03\nc;900\n")
    with pytest.warns(LinkwiseWarning, match="decimal commas, as in 1.482,51"):
        assert read_data(path, id="name").X.ravel().tolist() == [1482.51, 14581.03, 900.0]


def test_commas_and_units_are_told_from_texts_among_dirt(write):
    rows = [
        f"n{i};{i + 1}.3.2024;{i},5;{i}0,{i}%;{['#DIV/0!', '12,5', '9,25', '7,5'][i % 4]};1.{i}00" for i in range(8)
    ]
    with pytest.raises(LinkwiseError) as wrong:
        read_data(write("name;day;size;share;mass;sales\n" + "\n".join(rows) + "\n"), id="name")
    advice = str(wrong.value).partition("Hint: ")[2]
    assert "decimal commas: decimal=','" in advice
    assert "write numbers such as '00,0%' in share alone" in advice
    assert "dates are not compared; leave them out: drop=['day'], or write numbers instead" in advice
    assert advice.count("drop") == 1
    assert "text" not in advice


def test_statements_in_utf_8_are_read_beside_data_in_another_encoding(write):
    data = read_data(write("name,x\nBär,1\nMöhre,2\n".encode("cp1252")), id="name", encoding="cp1252")
    apart = Constraints.from_ids(["Bär", "Möhre"], cannot_link=[("Bär", "Möhre")])
    said = write("kind,a,b\ncannot_link,Bär,Möhre\n", "said.csv")
    with pytest.warns(LinkwiseWarning, match=r"said\.csv is UTF-8 and was read as such, not as cp1252"):
        assert read_knowledge(said, data, encoding="cp1252").constraints == apart
    western = write("kind,a,b\ncannot_link,Bär,Möhre\n".encode("cp1252"), "said.csv")
    assert read_knowledge(western, data, encoding="cp1252").constraints == apart


def test_names_with_spaces_stand_in_triplets_divided_by_commas(write):
    names = ["Canis lupus", "Canis latrans", "Felis catus"]
    said = read_knowledge(write("Canis lupus, Canis latrans | Felis catus\n", "said.txt"), names)
    assert said.constraints == Constraints.from_ids(names, triplets=[names])


def test_a_statement_without_a_header_gets_one_in_the_hint(write):
    for row, header in (("must_link,a,b", "kind,a,b above"), ("triplet,a,b,c", "kind,a,b,c above")):
        with pytest.raises(ConstraintError, match=f"is a statement already; write {header} it"):
            read_knowledge(write(row + "\n", "said.csv"))


def test_a_sample_in_two_groups_is_the_fault_not_the_header(write):
    rows = "Hund 0;H\nHund 1;H\nKatze 0;K\nKatze 1;K\nMaus 0;M\nMaus 1;M\nHund 1;K\n"
    with pytest.raises(ConstraintError, match=r"line 8: 'Hund 1' is in line 3 already\.\nHint: a sample has one row"):
        read_knowledge(write("Tier;Gruppe\n" + rows))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("t.nwk", "(((Canis_lupus,Canis_latrans)Canis,Vulpes_ferrilata)Canidae,Felis_catus);"),
        (
            "t.json",
            '{"all": [{"Canidae": [{"Canis": ["Canis lupus", "Canis latrans"]}, "Vulpes_ferrilata"]}, "Felis catus"]}',
        ),
        (
            "t.csv",
            "child,parent\nCanis lupus,Canis\nCanis latrans,Canis\nCanis,all\nFelis catus,all\nVulpes_ferrilata,Canis",
        ),
    ],
)
def test_leaves_that_are_not_in_the_data_can_be_left_out_of_a_tree(write, name, text, recwarn):
    names = ["Canis lupus", "Canis latrans", "Felis catus", "Otter"]
    with pytest.raises(ConstraintError, match=r"not in .*Vulpes_ferrilata"):
        read_knowledge(write(text, name), names)
    said = read_knowledge(write(text, name), names, skip_bad=True)
    assert said.constraints == Constraints.from_ids(names, triplets=[names[:3]])
    assert said.skipped[0].endswith(f"{name}: 1 leaf is not in the data: 'Vulpes_ferrilata'.")
    assert "Canis" in said.taxonomies[0].names


def test_a_nexus_file_is_called_so(write):
    with pytest.raises(ConstraintError, match=r"is a NEXUS file, expected a tree in Newick\.\nHint: save it as Newick"):
        read_knowledge(write("#NEXUS\nbegin trees;\ntree a = (A,B);\nend;\n", "t.nex"))


def test_folders_under_a_header_of_their_own_are_paths(write):
    path = write("Nr;Ordner\n0;Sport/Hockey\n3;Sport/Hockey\n1;Küche\n2;Sport/Fußball\n", "filed.csv")
    with pytest.warns(LinkwiseWarning, match="Ordner was read as paths in a hierarchy, such as 'Sport/Hockey'"):
        said = read_knowledge(path, 5).constraints
    assert said == Constraints.build(5, triplets=[(0, 2, 1), (0, 3, 2)])
    with pytest.raises(ConstraintError, match="did you mean sample,group"):
        read_knowledge(write("Nr;Ordner\n0;a\n3;b\n1;a/b\n2;d\n", "odd.csv"), 5)
