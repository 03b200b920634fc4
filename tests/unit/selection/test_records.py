"""Records of the same thing are grouped among proposed pairs only, under constraints, with evidence."""

from __future__ import annotations

import json

import numpy as np
import pytest

from linkwise import Constraints
from linkwise.cli import main
from linkwise.exceptions import InfeasibleConstraintsError, LinkwiseError, LinkwiseWarning, UnsupportedConstraintError
from linkwise.metrics import pairwise_scores
from linkwise.selection import group_records
from linkwise.selection._record_pairs import MOST_IN_BLOCK, WINDOW, Records, candidate_pairs, plain
from tests.counting import calls

SYLLABLES = ["ka", "lo", "mi", "ne", "ra", "to", "su", "vi", "be", "do"]


def people(n, seed=0):
    """Customers in one to three of four lists, with slips, missing cells and turned names."""
    draw = np.random.default_rng(seed)
    rows, who = [], []
    for person in range(n):
        name = " ".join("".join(draw.choice(SYLLABLES, 3)) for _ in range(2))
        mail, phone, city = f"p{person}@x.org", f"{draw.integers(10**8):08d}", f"city {draw.integers(20)}"
        for source in draw.choice(list("ABCD"), draw.integers(1, 4), replace=False):
            at = int(draw.integers(len(name)))
            slip = name[:at] + name[at + 1 :] if draw.random() < 0.3 else name
            shown = ", ".join(slip.split()[::-1]) if draw.random() < 0.2 else slip
            rows.append((shown, mail * (draw.random() < 0.7), phone * (draw.random() < 0.6), city, source))
            who.append(person)
    return dict(zip(("name", "mail", "phone", "city", "source"), map(list, zip(*rows, strict=True)), strict=True)), who


def by_definition(columns, block):
    """All pairs that are equal, or within the window of one of the two orders."""
    n, found = len(columns["name"]), set()
    for one in block:
        values = [plain(value) for value in columns[one.removeprefix("~")]]
        if one[0] != "~":
            found |= {(i, j) for i in range(n) for j in range(i + 1, n) if values[i] and values[i] == values[j]}
            continue
        for key in (lambda v: " ".join(sorted(v.split())), lambda v: v[::-1]):
            order = sorted((i for i in range(n) if values[i]), key=lambda i: (key(values[i]), i))
            found |= {
                tuple(sorted((order[a], order[b])))
                for a in range(len(order))
                for b in range(a + 1, len(order))
                if b - a <= WINDOW
            }
    return sorted(found)


def test_most_duplicates_are_found_and_few_pairs_compared():
    columns, who = people(150)
    found = group_records(columns, block=["mail", "phone", "~name"], compare=["name", "mail", "phone", "city"])
    score = pairwise_scores(who, found.labels)
    assert score.precision > 0.95
    assert score.recall > 0.85
    n = len(who)
    assert found.n_compared < 20 * n
    assert found.n_groups == len(set(found.labels.tolist()))
    assert found.n_duplicates == n - found.n_groups
    assert f"{found.n_compared:,} of {n * (n - 1) // 2:,} pairs were compared." in str(found)


def test_proposed_pairs_are_those_of_the_definition():
    columns, _ = people(30, seed=3)
    for block in (["mail"], ["~name"], ["phone", "~name"]):
        assert candidate_pairs(columns, block) == by_definition(columns, block)


def test_a_common_value_proposes_nothing_and_the_pairs_grow_with_the_records():
    n = MOST_IN_BLOCK + 1
    with pytest.warns(LinkwiseWarning, match=f"mail 'info x org' is in {n} records; being equal there is no reason"):
        assert candidate_pairs({"mail": ["info@x.org"] * n}, ["mail"]) == []
    small, large = (people(size)[0] for size in (60, 240))
    few, many = (
        calls(lambda of=of: group_records(of, block=["mail", "~name"], compare=["name", "mail"]))
        for of in (small, large)
    )
    assert many < 8 * few  # four times as many records; all pairs would be sixteen times as many


def test_statements_hold_and_decide():
    columns = {"name": ["Ann Lee", "Ann Lee", "Ann Lee", "Bob Ray"], "source": ["A", "B", "A", "A"]}
    assert group_records(columns, block=["name"], compare=["name"]).labels.tolist() == [0, 0, 0, 1]
    one_each = Constraints.build(4, apart=[[0, 2, 3]])
    found = group_records(columns, one_each, block=["name"], compare=["name"])
    assert found.certificate.ok
    assert found.labels[0] != found.labels[2]
    linked = group_records(columns, Constraints.build(4, must_link=[(0, 3)], cannot_link=[(0, 1)]), block=["name"])
    assert linked.labels[0] == linked.labels[3] != linked.labels[1]
    with pytest.raises(InfeasibleConstraintsError):
        group_records(columns, Constraints.build(4, must_link=[(0, 1)], cannot_link=[(0, 1)]), block=["name"])
    with pytest.raises(UnsupportedConstraintError, match="hold triplets"):
        group_records(columns, Constraints.build(4, triplets=[(0, 1, 2)]), block=["name"])
    with pytest.raises(UnsupportedConstraintError, match="soft statements"):
        group_records(columns, Constraints.build(4, must_link=[(0, 1)], weight=2.0), block=["name"])


def test_the_most_similar_are_joined_first_by_their_mean():
    columns, _ = people(40, seed=5)
    compare = ["name", "mail", "phone"]
    found = group_records(columns, block=["mail", "phone", "~name"], compare=compare, threshold=0.75)
    records = Records(columns, compare)
    for group in found.groups():
        mean = np.mean([records.similarity(i, j) for i in group for j in group if i < j])
        assert mean >= 0.5
    proposed = candidate_pairs(columns, ["mail", "phone", "~name"])
    for i, j in proposed:  # no two groups that a pair joins are left that similar
        a, b = (np.flatnonzero(found.labels == found.labels[one]) for one in (i, j))
        if found.labels[i] != found.labels[j]:
            assert np.mean([records.similarity(p, q) for p in a.tolist() for q in b.tolist()]) < 0.75


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"block": []}, "names no column"),
        ({"block": ["nmae"]}, "did you mean 'name'"),
        ({"block": ["name"], "compare": ["x"]}, "the records have name"),
        ({"block": ["name"], "threshold": 0}, "above 0 and up to 1"),
        ({"block": ["name"], "constraints": Constraints.build(9)}, "about 9 samples, but there are 2 records"),
    ],
)
def test_wrong_arguments_are_explained(options, words):
    with pytest.raises(LinkwiseError, match=words):
        group_records({"name": ["a", "b"]}, **options)


def test_the_command_writes_groups_with_evidence(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rows = 'r1,Ann Lee,ann@x.org,A\nr2,"Lee, Ann",,B\nr3,Anne Lee,ann@x.org,C\nr4,Bob Ray,ray@y.org,A\nr5,Ann Lee,,A\n'
    (tmp_path / "people.csv").write_text(f"id,name,mail,source\n{rows}")
    words = (
        "duplicates people.csv --id id --block mail,~name --compare name,mail --apart source --threshold 0.6 -o g.csv"
    )
    assert main(words.split()) == 0
    shown = capsys.readouterr().out
    assert "5 records in 3 groups: 2 records repeat others, in 1 group." in shown
    assert "    with r1 0.77: same mail; other name" in shown
    assert "The 1 hard statement holds: 1 group apart." in shown
    lines = (tmp_path / "g.csv").read_text().splitlines()
    assert lines[0] == "record,group,size,closest,similarity,agree,similar,differ"
    assert lines[4] == "r4,1,1,,,,,"
    assert lines[1].split(",")[:3] == ["r1", "0", "3"]
    assert main([*words.split(), "--force", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["groups"] == 3
    assert main(["duplicates", "people.csv", "--block", "nmae"]) == 1
    assert "--block names the column 'nmae'" in capsys.readouterr().err


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_data_frames_are_records_as_their_columns_are(library):
    frames = pytest.importorskip(library)
    columns, _ = people(60)
    gone = {name: [value or None for value in values] for name, values in columns.items()}
    data = frames.table(gone) if library == "pyarrow" else frames.DataFrame(gone)
    found = group_records(data, block=["mail", "~name"])
    assert found.labels.tolist() == group_records(columns, block=["mail", "~name"]).labels.tolist()
    with pytest.raises(LinkwiseError, match="got int, expected columns by name, a data frame or a Table"):
        group_records(3, block=["mail"])
