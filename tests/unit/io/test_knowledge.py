"""Constraints from files of every format, and back to a file without loss."""

from __future__ import annotations

import io
import json

import numpy as np
import pytest

from linkwise import Constraints, Dendrogram, Kind, Taxonomy, read_data, read_knowledge
from linkwise.active import Dialogue
from linkwise.constraints import MinSeparation, SizeBetween
from linkwise.exceptions import ConstraintError, LinkwiseError, LinkwiseWarning
from linkwise.io import _knowledge as knowledge, write_knowledge

NAMES = ["otter", "mink", "seal", "walrus", "sea lion"]


def read(text, ids=NAMES, name="said.txt", **options):
    source = io.StringIO(text)
    source.name = name
    return read_knowledge(source, ids, **options)


def words(said):
    return [said.word(i) for i in np.argsort(said.constraints.row)]


# -- plain lines -------------------------------------------------------------------------------------------------------


def test_lines_say_triplets_pairs_and_groups():
    said = read("# from the field\notter mink | seal\n\notter = mink\notter != walrus\nseal, walrus, sea lion\n")
    assert words(said) == [
        "line 2: triplet(otter, mink | seal)",
        "line 4: must_link(otter, mink)",
        "line 5: cannot_link(otter, walrus)",
        "line 6: together(seal, walrus, sea lion)",
    ]


@pytest.mark.parametrize(
    "line", ["otter,mink|seal", "otter, mink | seal", "otter;mink|seal", "otter\tmink\t|\tseal", "otter mink|seal"]
)
def test_triplets_are_written_in_many_ways(line):
    assert words(read(line)) == ["line 1: triplet(otter, mink | seal)"]


def test_letters_need_no_separator():
    said = read("ab|c\nac|d\n", ids=list("abcd"))
    assert said.constraints.of(Kind.TRIPLET).tolist() == [[0, 1, 2], [0, 2, 3]]


def test_more_than_two_can_be_said_to_be_together_or_apart():
    assert words(read("otter = mink = seal\notter != mink != sea lion\n")) == [
        "line 1: together(otter, mink, seal)",
        "line 2: apart(otter, mink, sea lion)",
    ]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("otter | seal", "line 1: 'otter | seal' is not a triplet.\nHint: write `a b | c`"),
        ("otter mink | seal | walrus", "is not a triplet"),
        ("otter mink | otter", "can never hold"),
        ("otter", "names one sample"),
        ("otter mink otter", "'otter' is named twice"),
        ("otter yak | seal", r"'yak' \(line 1\)"),
    ],
)
def test_lines_that_cannot_be_read(line, message):
    with pytest.raises(ConstraintError, match=message.replace("|", r"\|") if "`" in message else message):
        read(line)


# -- groups and taxonomies ---------------------------------------------------------------------------------------------


def test_a_column_of_groups_says_what_belongs_together():
    said = read("sample,group\notter,a\nmink,a\nseal,b\nwalrus,a\nsea lion,\n", name="g.csv")
    assert words(said) == ["lines 2 to 5: together(otter, mink, walrus)"]
    assert said.note_of(0) == "group a"
    assert [said.word(entry) for entry in said.constraints.entries()] == [
        'line 2: otter is in "a"',
        'line 3: mink is in "a"',
        'line 4: seal is in "b"',
        'line 5: walrus is in "a"',
    ]


def test_a_column_of_labels_also_says_what_does_not():
    said = read("id;label\notter;a\nmink;a\nseal;b\nwalrus;c\n", name="g.csv").constraints
    assert said.of(Kind.MUST_LINK).tolist() == [[0, 1]]
    assert said.groups_of(Kind.APART).of(0).tolist() == [0, 2, 3]


@pytest.mark.parametrize("word", ["", "NA", "n/a", "NaN", "null", "None", "?"])
def test_a_missing_group_or_label_is_unknown(word):
    for key in ("group", "label"):
        said = read(f"sample,{key}\notter,a\nmink,a\nseal,{word}\nwalrus,{word}\n", name="g.csv").constraints
        assert [entry.sample for entry in said.entries()] == [0, 1]
        assert said == Constraints.from_ids(NAMES, must_link=[("otter", "mink")])


def test_a_name_that_nobody_knows_is_reported_with_the_line_it_stands_in():
    text = "sample,group\notter,g\nmink,g\nzzz,g\nseal,g\nyyy,h\n"
    with pytest.raises(ConstraintError, match=r"not in the data: 'zzz' \(line 4\), 'yyy' \(line 6\)"):
        read(text, name="g.csv")


def test_skipping_leaves_out_the_one_bad_row_of_a_group():
    text = "sample,label\nzzz,g\notter,g\nmink,g\nseal,g\nwalrus,h\nmink,h\n,g\n"
    said = read(text, name="g.csv", skip_bad=True)
    assert words(said) == ["lines 3 to 5: together(otter, mink, seal)", "lines 3 and 6: cannot_link(otter, walrus)"]
    assert said.skipped == (
        "g.csv, line 8: there is no sample.",
        "g.csv, line 7: 'mink' is in line 4 already.",
        "g.csv, line 2 names a sample that is not in the data: 'zzz'.",
    )


def test_skipping_leaves_out_the_one_bad_name_of_a_line():
    said = read("otter, mink, zzz, seal, mink\notter != walrus != zzz\nzzz, otter\notter | zzz\n", skip_bad=True)
    assert words(said) == ["line 1: together(otter, mink, seal)", "line 2: apart(otter, walrus)"]
    assert said.skipped == (
        "said.txt, line 1: 'mink' is named twice.",
        "said.txt, line 1 names samples that are not in the data: 'zzz'; the other 3 stay.",
        "said.txt, line 2 names samples that are not in the data: 'zzz'; the other 2 stay.",
        "said.txt, line 3 names samples that are not in the data: 'zzz'.",
        "said.txt, line 4: 'otter | zzz' is not a triplet.",
    )


def test_skipping_leaves_out_the_one_bad_sample_of_a_statement():
    rows = [
        {"kind": "apart", "samples": ["otter", "zzz", "mink", "otter"]},
        {"kind": "must_link_any", "samples": ["otter", "zzz", "mink"]},
    ]
    said = read("".join(json.dumps(row) + "\n" for row in rows), name="s.jsonl", skip_bad=True)
    assert words(said) == ["line 1: apart(otter, mink)"]  # fewer to choose from would say something else
    assert len(said.skipped) == 3


def test_a_sample_in_two_groups_is_named_with_both_lines():
    with pytest.raises(ConstraintError, match="line 4: 'otter' is in line 2 already"):
        read("sample,group\notter,a\nmink,a\notter,b\n", name="g.csv")


def test_a_tree_of_species_is_about_samples_whose_names_have_blanks(tmp_path):
    (tmp_path / "tree.nwk").write_text("((Canis_lupus,Canis_latrans),Ursus_arctos);")
    found = read_knowledge(tmp_path / "tree.nwk", ["Ursus arctos", "Canis latrans", "Canis lupus"])
    assert found.constraints.items.tolist() == [[1, 2, 0]]


def test_paths_parents_newick_and_json_say_the_same():
    tree = {"water": [{"weasels": ["otter", "mink"]}, "seal"]}
    forms = {
        "p.csv": "sample,path\notter,water/weasels/otter\nmink,water/weasels/mink\nseal,water/seal\n",
        "c.csv": "child,parent\notter,weasels\nmink,weasels\nweasels,water\nseal,water\n",
        "t.nwk": "((otter,mink)weasels,seal)water;",
        "t.json": json.dumps(tree, indent=2),
        "u.json": json.dumps(tree),
        "d.json": Dendrogram.from_newick("((otter:1,mink:1):1,seal:2);").to_json(),
    }
    expected = Constraints.from_ids(NAMES, triplets=[("otter", "mink", "seal")])
    for name, text in forms.items():
        assert read(text, name=name).constraints == expected, name
        alone = read(text, ids=None, name=name).constraints
        assert sorted(alone.ids.tolist()) == ["mink", "otter", "seal"]
    assert read(forms["p.csv"], name="p.csv").word(0) == "line 2: triplet(otter, mink | seal)"
    assert read(forms["t.nwk"], name="t.nwk").word(0) == "t.nwk: triplet(otter, mink | seal)"


def test_a_tree_may_stand_on_one_line_longer_than_statements_may_be(monkeypatch):
    monkeypatch.setattr(knowledge, "_LONGEST", 60)
    tree = "(" * 40 + "otter" + ")" * 40
    forms = {
        "t.nwk": f"(({tree},mink),seal);",
        "u.json": json.dumps({"water, salt or fresh": [{"weasels, which have fur": ["otter", "mink"]}, "seal"]}),
        "d.json": Dendrogram.from_newick("((otter:1,mink:1):1,seal:2);").to_json(),
        "lines.txt": f"(({tree},mink),seal);",
    }
    for name, text in forms.items():
        assert "\n" not in text.strip()
        assert len(text) > 60
        assert words(read(text, name=name)) == [f"{name}: triplet(otter, mink | seal)"], name
    with pytest.raises(ConstraintError, match="line 2 is 66 characters long, at most 60 are read"):
        read("kind,a,b\nmust_link,otter," + " " * 45 + "mink\n", name="s.csv")


def test_a_taxonomy_is_said_in_the_fewest_triplets():
    tree = "(((otter,mink),seal),(walrus,'sea lion'));"
    said = read(tree, name="t.nwk").constraints
    assert said == Taxonomy.from_newick(tree, NAMES).triplets(minimal=True)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("p.csv", "sample,path\notter,a//b\n", "p.csv: .* in which a name is empty"),
        ("c.csv", "child,parent\notter,a\na,otter\n", "c.csv: the taxonomy has a cycle"),
        ("c.csv", "child,parent\notter,a\nyak,a\n", "c.csv: 1 leaf is not in the data: 'yak'"),
        ("c.csv", "child,parent\n,a\n", "c.csv, line 2: there is no child"),
        ("t.json", '{"a": ["otter", "otter"]}', "t.json: "),
        ("t.json", '{"format": "other/1", "a": 1}', "has the format 'other/1'"),
    ],
)
def test_taxonomies_that_cannot_be_read(name, text, message):
    with pytest.raises(ConstraintError, match=message):
        read(text, name=name)


def test_the_form_can_be_said():
    assert words(read("kind a | b\n", ids=["kind", "a", "b"], format="lines")) == ["line 1: triplet(kind, a | b)"]
    with pytest.raises(ConstraintError, match="the header is a, b, c, expected sample,group"):
        read("a,b,c\n", format="groups")
    assert read("Art;Gruppe\notter;x\nmink;x\n", format="groups").constraints.describe(0) == "#0 must_link(otter, mink)"
    for ids, text in ((["otter", "mink"], "otter,x\nmink,y\n"), (None, "otter,x\nmink,x\n")):
        with pytest.raises(
            ConstraintError, match=r"starts with otter, x, expected a header.\nHint: write sample,group"
        ):
            read(text, ids=ids, format="groups")
    with pytest.raises(LinkwiseError, match="format is 'xml', expected"):
        read("a,b\n", format="xml")


# -- several files, a dialogue's log, data -----------------------------------------------------------------------------


def test_several_files_make_one_table_and_are_told_apart(tmp_path):
    (tmp_path / "a.csv").write_text("kind,a,b\nmust_link,otter,mink\n")
    (tmp_path / "b.txt").write_text("seal walrus\notter != seal\n")
    said = read_knowledge([tmp_path / "a.csv", str(tmp_path / "b.txt")], NAMES)
    assert words(said) == [
        f"{tmp_path / 'a.csv'}, line 2: must_link(otter, mink)",
        f"{tmp_path / 'b.txt'}, line 1: must_link(seal, walrus)",
        f"{tmp_path / 'b.txt'}, line 2: cannot_link(otter, seal)",
    ]
    (tmp_path / "b.txt").write_text("seal yak\n")
    with pytest.raises(ConstraintError, match=r"the constraints name .*'yak' \(.*b\.txt, line 1\)"):
        read_knowledge([tmp_path / "a.csv", tmp_path / "b.txt"], NAMES)


def test_the_log_of_a_dialogue_is_read_without_what_was_taken_back_or_contradicts(tmp_path):
    X = np.arange(5.0)[:, None]
    with Dialogue(X, log=tmp_path / "talk.jsonl") as talk:
        talk.tell((0, 1), True, who="ann")
        talk.tell((2, 3), True)
        talk.undo()
        talk.tell((0, 2, 4), "third")
        talk.tell((1, 4), None)
        talk.tell((1, 3), False)
        talk.tell((0, 3), True, confidence=0.6)  # contradicts two that are sure
        expected = talk.constraints
    said = read_knowledge(tmp_path / "talk.jsonl", NAMES)
    assert said.constraints.with_ids(None) == expected
    assert words(said)[0] == "line 2: must_link(otter, mink)"
    assert said.note_of(0) == "ann"
    with (tmp_path / "talk.jsonl").open("a") as file:
        file.write('{"items": [0')  # a crash
    assert read_knowledge(tmp_path / "talk.jsonl", 5).constraints == expected
    with pytest.raises(ConstraintError, match="about 5 samples, but the data has 4"):
        read_knowledge(tmp_path / "talk.jsonl", NAMES[:4])


def test_a_log_that_was_tampered_with(tmp_path):
    head = '{"format": "linkwise.dialogue/1", "n_samples": 3}\n'
    for line in ('{"items": [0, 7], "answer": "yes"}', '{"items": [0], "answer": "yes"}', '{"answer": "yes"}', "[]"):
        (tmp_path / "talk.jsonl").write_text(head + line + "\n")
        with pytest.raises(ConstraintError, match="line 2"):
            read_knowledge(tmp_path / "talk.jsonl", 3)
    (tmp_path / "talk.jsonl").write_text(head.replace("/1", "/9"))
    with pytest.raises(ConstraintError, match=r"expected 'linkwise\.dialogue/1'"):
        read_knowledge(tmp_path / "talk.jsonl", 3)


def test_a_table_names_the_samples():
    table = read_data(io.StringIO("name,x\notter,1\nmink,2\n"), id="name")
    assert read("otter mink", ids=table).constraints.ids.tolist() == ["otter", "mink"]
    with pytest.raises(ConstraintError, match="equal as text"):
        read("1 2", ids=np.array([1, "1"], dtype=object))


# -- and back ----------------------------------------------------------------------------------------------------------

SAID = Constraints.from_ids(
    ["=1+1", "'=1", "-x", "-5", "a b", 'q"', "ü\n", "#"],
    [
        ("triplet", "a b", 'q"', "ü\n"),
        ("must_link", "=1+1", "'=1", 0.1),
        ("apart", ["-x", "-5", "#"], 2.0),
        ("cannot_link", "-x", "#", 1e-300),
        ("must_link_any", ["#", "-5", "a b"]),
        ("either", [("must_link", "-x", "=1+1"), ("cannot_link", "ü\n", "-5"), ("must_link", "#", "'=1")], 4.0),
        ("either", [("cannot_link", "'=1", "a b")]),
    ],
    rules=[MinSeparation(0.25), SizeBetween(1, 7)],
)


@pytest.mark.parametrize("name", ["said.csv", "said.tsv", "said.jsonl"])
def test_what_is_written_comes_back_exactly(tmp_path, name):
    ids = SAID.ids if name == "said.jsonl" else np.char.strip(SAID.ids)
    said = SAID.with_ids(ids)
    write_knowledge(tmp_path / name, said)
    back = read_knowledge(tmp_path / name, ids)
    assert back.constraints == said
    assert back.constraints.row.tolist() == said.row.tolist()
    write_knowledge(tmp_path / f"again.{name}", back)
    assert (tmp_path / f"again.{name}").read_bytes() == (tmp_path / name).read_bytes()


def test_no_cell_of_a_written_file_is_a_formula(tmp_path):
    write_knowledge(tmp_path / "said.csv", SAID.with_ids(np.char.strip(SAID.ids)))
    for line in (tmp_path / "said.csv").read_text().splitlines()[2:]:
        assert not any(cell.lstrip('"').startswith(("=", "+", "@")) for cell in line.split(","))


def test_notes_and_row_numbers_come_back(tmp_path):
    said = read("kind,a,b,note\nmust_link,0,1,@home: seen twice\ncannot_link,1,2,\n", ids=3, name="s.csv")
    assert said.constraints.ids is None
    for name in ("a.csv", "a.jsonl"):
        write_knowledge(tmp_path / name, said)
        back = read_knowledge(tmp_path / name, 3)
        assert back.constraints == said.constraints
        assert [back.note_of(i) for i in range(2)] == ["@home: seen twice", ""]


def test_names_that_csv_cannot_say_are_refused(tmp_path):
    said = Constraints.from_ids(["a;b", " c", "d"], together=[["a;b", "d"]], must_link=[("a;b", "d")])
    with pytest.raises(
        LinkwiseError, match=r"has a semicolon in its name, which CSV cannot hold\.\nHint: write \.jsonl"
    ):
        write_knowledge(tmp_path / "said.csv", said)
    write_knowledge(tmp_path / "said.jsonl", said)
    assert read_knowledge(tmp_path / "said.jsonl", said.ids).constraints == said
    with pytest.raises(LinkwiseError, match=r"ends in '\.xml', expected \.jsonl, \.csv or \.tsv"):
        write_knowledge(tmp_path / "said.xml", said)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("min_separation,,,", "line 2: min_separation has 0 numbers, expected one number"),
        ("min_separation,x,,", "line 2: min_separation has 'x' in a, expected a number"),
        ("size_between,5,2,", "line 2: SizeBetween: low is 5 and high is 2"),
        ("min_seperation,1,,", "did you mean min_separation"),
    ],
)
def test_rules_are_checked_like_statements(row, message):
    with pytest.raises(ConstraintError, match=message):
        read(f"kind,a,b,c\n{row}\n", name="s.csv")


def test_nothing_said_is_pointed_out():
    with pytest.warns(LinkwiseWarning, match="there are no statements"):
        assert not read("kind,a,b\n", name="s.csv").constraints


def test_each_file_may_have_a_trust_of_its_own(tmp_path):
    (tmp_path / "sure.csv").write_text("kind,a,b\nmust_link,x,y\n")
    (tmp_path / "guess.csv").write_text("kind,a,b,weight\ncannot_link,x,z,\nmust_link,y,w,0.5\n")
    (tmp_path / "labels.csv").write_text("sample,label\nx,one\ny,one\nz,two\n")
    files = [str(tmp_path / name) for name in ("sure.csv", "guess.csv", "labels.csv")]
    said = read_knowledge(files)
    made = said.with_trust({files[1]: 0.9, files[2]: "doubtful"})
    odds = {files[0]: np.inf, files[1]: np.log(9), files[2]: np.log(19)}
    for at in range(made.constraints.n_statements):
        own = said.constraints.weight[at]
        assert made.constraints.weight[at] == pytest.approx(own if np.isfinite(own) else odds[made.file_of(at)])
        assert made.line_of(at) == said.line_of(at)
    assert {made.file_of(at) for at in range(made.constraints.n_statements)} == set(files)
    assert said.with_trust("hard").constraints == said.constraints
    assert not said.with_trust(0.8).constraints.is_hard.any()
    with pytest.raises(LinkwiseError, match=r"with_trust: none\.csv is not among the files"):
        said.with_trust({"none.csv": 0.9})
