"""The command and `linkwise.cluster` are one front door: same labels, every clusterer by name, parameters by --set."""

from __future__ import annotations

import inspect
import json
import warnings

import numpy as np
import pytest
from sklearn.datasets import load_iris

import linkwise
from linkwise import cluster, read_data, read_knowledge
from linkwise.cli import main
from linkwise.constraints import MaxCentroidDistance
from linkwise.engines import ConstrainedClusterer
from linkwise.exceptions import InvalidArgumentError, LinkwiseWarning, UnsupportedConstraintError
from linkwise.io import read_labels
from linkwise.selection import METHODS, WITHOUT_NUMBER, fit_without_constraints, method_name
from linkwise.sources import label_pairs, label_triplets_sample
from tests.views import few_views  # noqa: F401  # used by every test of this file

X, Y = load_iris(return_X_y=True)
X, Y = X[::4], Y[::4]
N = len(Y)
TEXTS = ["the cat sat", "a cat ran", "cats and dogs", "stocks fell hard", "stocks rose", "a market of stocks"]


def rows_of(said):
    return [
        (["must_link", "cannot_link", "triplet"][kind], *items)
        for kind, items in zip(said.kind, said.items.tolist(), strict=True)
    ]


def written(rows):
    lines = ["kind,a,b,c,weight"]
    for kind, *rest in rows:
        cells = ["" if one in (-1, None) else f"s{one}" for one in rest[:3]]
        lines.append(",".join([kind, *cells, str(rest[3]) if len(rest) > 3 else ""]))
    return "\n".join(lines) + "\n"


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("iris")
    cells = "\n".join(f"s{i}," + ",".join(map(str, row)) for i, row in enumerate(X.tolist()))
    (folder / "iris.csv").write_text(f"name,a,b,c,d\n{cells}\n")
    pairs, trios = rows_of(label_pairs(Y, 30, 0)), rows_of(label_triplets_sample(Y, 30, 0))
    (folder / "pairs.csv").write_text(written(pairs))
    (folder / "soft.csv").write_text(written([(*row, 2.0) for row in pairs]))
    (folder / "trios.csv").write_text(written(trios))
    (folder / "mixed.csv").write_text(written([*trios, *pairs[:6]]))
    (folder / "groups.csv").write_text("kind,samples\ntogether,s0;s1;s2\napart,s0;s15;s30\n")
    (folder / "rule.csv").write_text("kind,a,b\nmin_separation,0.1,\nmust_link,s0,s1\n")
    (folder / "size.csv").write_text("kind,a,b\nsize_between,10,15\n")
    (folder / "texts.csv").write_text("name,body\n" + "".join(f"s{i},{text}\n" for i, text in enumerate(TEXTS)))
    (folder / "words.csv").write_text("kind,a,b\nmust_link,s0,s3\n")
    return folder


def run(files, capsys, *options, data="iris.csv", code=0):
    out = files / "out"
    words = ["cluster", str(files / data), "--id", "name", *options, "-o", str(out), "--force", "--json"]
    assert main(words) == code, capsys.readouterr().err
    told = capsys.readouterr()
    return json.loads(told.out) if code == 0 else json.loads(told.err.splitlines()[-1])["error"]


def found_labels(files):
    return read_labels(str(files / "out" / "labels.csv"))[1].astype(int).tolist()


@pytest.mark.parametrize("said", ["", "pairs", "soft", "trios", "mixed", "groups", "rule", "size"])
@pytest.mark.parametrize(
    ("options", "arguments"),
    [
        ([], {"n_clusters": 2}),
        (["-k", "3"], {"n_clusters": 3}),
        (["-k", "auto"], {"n_clusters": "auto"}),
        (["-k", "3..4"], {"n_clusters": (3, 4)}),
        (["--height", "2.5"], {"distance_threshold": 2.5}),
        (["-k", "3", "--linkage", "complete"], {"n_clusters": 3, "linkage": "complete"}),
    ],
    ids=["default", "k", "auto", "range", "height", "linkage"],
)
def test_the_command_and_the_library_give_the_same_labels(files, capsys, monkeypatch, said, options, arguments):
    monkeypatch.setattr("linkwise.selection._automatic.COMPARE", 10)  # leaves out methods that are slow to compare
    table = read_data(str(files / "iris.csv"), id="name")
    constraints = read_knowledge([str(files / f"{said}.csv")], table).constraints if said else None
    words = [*options, *(["-c", str(files / f"{said}.csv")] if said else [])]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LinkwiseWarning)
            expected = cluster(table.X, constraints, **arguments)
    except InvalidArgumentError:
        assert "belongs to methods that make a tree; COPKMeans" in run(files, capsys, *words, code=2)
        assert said == "size"
        return
    except linkwise.exceptions.InfeasibleConstraintsError:
        run(files, capsys, *words, code=4)
        return
    told = run(files, capsys, *words)
    assert found_labels(files) == expected.labels.tolist()
    assert told["method"] == type(expected.estimator).__name__
    assert set(expected.reasons) <= {*told["reasons"]}


@pytest.mark.parametrize("options", [["-k", "2"], ["-k", "auto"], ["--height", "0.9"]])
def test_texts_too(files, capsys, options):
    table = read_data(str(files / "texts.csv"), id="name", text=["body"])
    constraints = read_knowledge([str(files / "words.csv")], table).constraints
    wanted = {"-k": "n_clusters", "--height": "distance_threshold"}[options[0]]
    value = options[1] if options[1] == "auto" else float(options[1]) if wanted != "n_clusters" else int(options[1])
    expected = cluster(table.X, constraints, **{wanted: value})
    told = run(files, capsys, "--text", "body", "-c", str(files / "words.csv"), *options, data="texts.csv")
    assert found_labels(files) == expected.labels.tolist()
    assert "cosine distances, since X is sparse." in told["reasons"]


# -- every clusterer by its name ---------------------------------------------------------------------------------------


def test_the_names_are_those_of_all_clusterers():
    found = {
        name
        for name in dir(linkwise.engines)
        if inspect.isclass(one := getattr(linkwise.engines, name))
        and issubclass(one, ConstrainedClusterer)
        and one.understands
    }
    assert set(METHODS) == found
    without = {
        name for name in METHODS if "n_clusters" not in inspect.signature(getattr(linkwise.engines, name)).parameters
    }
    assert without == set(WITHOUT_NUMBER)
    assert {method_name(name.upper()) for name in METHODS} == found
    with pytest.raises(InvalidArgumentError, match=r"there is no method 'recn'(.|\n)*Hint: method='ReCon'"):
        cluster(X, method="recn")


@pytest.mark.parametrize("method", METHODS)
def test_every_clusterer_runs_by_its_name_or_refuses_in_words(files, capsys, method):
    kind = getattr(linkwise.engines, method)
    number = [] if method in WITHOUT_NUMBER else ["-k", "3"]
    for said in ("pairs", "trios"):
        path = str(files / f"{said}.csv")
        if not {linkwise.Kind.TRIPLET if said == "trios" else linkwise.Kind.MUST_LINK} <= kind.understands:
            told = run(files, capsys, *number, "--method", method.lower(), "-c", path, code=1)
            assert f"{method} does not understand" in told
            continue
        told = run(files, capsys, *number, "--method", method.lower(), "-c", path)
        assert told["method"] == method
        assert len(found_labels(files)) == N
        by_linkage = issubclass(kind, linkwise.engines.hierarchical.HierarchyMixin)
        tree = by_linkage or kind is linkwise.Consensus
        assert ("tree.nwk" in told["files"]) == ("dendrogram.png" in told["files"]) == tree
        assert (files / "out" / "tree.nwk").exists() == tree
        if not by_linkage:
            for wrong in (["--height", "2"], [*number, "--linkage", "ward"]):
                told = run(files, capsys, *wrong, "--method", method, "-c", path, code=2)
                sort = "merge by a linkage; Consensus has" if tree else f"make a tree; {method} makes"
                assert f"{' '.join(wrong[-2:])} belongs to methods that {sort} none." in told


# -- parameters of a method --------------------------------------------------------------------------------------------


def test_parameters_of_a_method_are_set(files, capsys):
    pairs = str(files / "pairs.csv")
    run(files, capsys, "-k", "3", "-c", pairs, "--method", "mpckmeans", "--set", "form=full", "--set", "max_iter=7")
    model = linkwise.load(files / "out" / "model.lwm")
    assert (model.form, model.max_iter, model.random_state) == ("full", 7, 0)
    run(files, capsys, "-k", "3", "-c", pairs, "--method", "agglomerative", "--set", "metric=cityblock")
    assert linkwise.load(files / "out" / "model.lwm").metric == "cityblock"
    run(files, capsys, "-k", "3", "--method", "copkmeans", "--set", "random_state=None")
    assert linkwise.load(files / "out" / "model.lwm").random_state is None


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            ["--method", "copkmeans", "--set", "max_itr=7"],
            "--set max_itr: COPKMeans has no such parameter; it has assign",
        ),
        (["--method", "copkmeans", "--set", "max_iter=many"], "'max_iter' parameter of COPKMeans must be an int"),
        (["--method", "copkmeans", "--set", "max_iter"], "expected a name and a value, such as max_iter=50"),
        (["--method", "copkmeans", "--set", "n_clusters=3"], "--set n_clusters: `-k` sets it"),
        (["--method", "recon", "--set", "linkage=ward"], "--set linkage: `--linkage` sets it"),
        (["--set", "max_iter=7"], "--set max_iter=7 needs the method it belongs to"),
        (["--method", "recon", "--set", "cut=merges", "--set", "cut=merges"], "--set cut is given more than once"),
        (["--method", "copkmean"], "'copkmean' is not one of 'auto', 'agglomerative'"),
        (["--method", "correlationclustering", "-k", "3"], "-k 3: CorrelationClustering finds the number of clusters"),
        (["--method", "ultratran", "--linkage", "ward"], "merge by a linkage; UltraTran has none"),
    ],
)
def test_parameters_that_cannot_be_are_refused_in_words(files, capsys, options, words):
    assert words in run(files, capsys, *options, code=2)
    if "max_itr=7" in options:
        with pytest.raises(InvalidArgumentError, match=r"params\['max_itr'\](.|\n)*did you mean max_iter\?"):
            cluster(X, method="copkmeans", n_clusters=3, params={"max_itr": 7})


def test_arguments_that_do_not_go_together_are_refused_in_words():
    for arguments, words in (
        ({"n_clusters": 3, "distance_threshold": 1.0}, "n_clusters and distance_threshold both set"),
        ({"n_clusters": "auto", "distance_threshold": 1.0}, "both set where to cut"),
        ({"n_clusters": 3, "params": {"max_iter": 3}}, "needs the method it belongs to.\nHint: method='ReCon'"),
        ({"n_clusters": 3, "params": ["max_iter"]}, "expected a dict of parameters"),
        ({"n_clusters": 3, "linkage": "wards"}, "linkage is 'wards', expected one of average"),
        ({"n_clusters": 3, "linkage": "ward", "method": "pckmeans"}, "linkage='ward' belongs to methods that make"),
        ({"n_clusters": 3, "metric": "cityblock", "method": "pckmeans"}, "PCKMeans has no metric to compare samples"),
        ({"distance_threshold": 3.0, "method": "pckmeans"}, "distance_threshold=3.0 belongs to methods that make"),
    ):
        with pytest.raises(InvalidArgumentError) as refused:
            cluster(X, **arguments)
        assert words in str(refused.value)
    trios = label_triplets_sample(Y, 5, 0)
    with pytest.raises(UnsupportedConstraintError, match="Hint: method='ReCon'"):
        cluster(X, trios, method="pckmeans")
    with pytest.raises(UnsupportedConstraintError, match="no method understands all of them together"):
        cluster(X, trios.with_rules(MaxCentroidDistance(2.0)), 3)


def test_the_fit_without_constraints_has_the_same_method_and_cut():
    pairs = label_pairs(Y, 30, 0)
    for arguments in ({"n_clusters": 3}, {"distance_threshold": 2.0}, {"n_clusters": None}, {"n_clusters": "auto"}):
        found = cluster(X, pairs, method="agglomerative", **arguments)
        before = fit_without_constraints(found, X)
        assert type(before) is type(found.estimator)
        assert before.linkage == found.estimator.linkage
        assert not before.constraints_.n_statements
        if "distance_threshold" in arguments:
            assert np.array_equal(before.labels_, before.dendrogram_.cut(height=2.0))
        else:
            assert before.n_clusters_ == found.n_clusters
