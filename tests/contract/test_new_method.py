"""The method that CONTRIBUTING.md adds as an example: it keeps the contract, is found when listed, saved and loaded."""

from __future__ import annotations

import ast
import inspect
import os
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import linkwise
from tests.contract import (
    test_cases,
    test_documentation,
    test_hard_statements,
    test_inputs,
    test_plain_method,
    test_predict,
    test_soft_statements,
    test_state,
)
from tests.contract.cases import LABELS, LINKS, Case
from tests.contract.test_sklearn import checks

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
SECTION = TEXT.split("## Adding a method\n", 1)[1].split("\n## ", 1)[0]
CODE = re.search(r"```python\n(.*?)```", SECTION, re.DOTALL)[1]
FILE = re.search(r"`(engines/\S+\.py)`:", SECTION)[1]
LISTED = re.search(r"`(from linkwise\S+ import (\w+) as \2)`", SECTION)[1]
TOPICS = (
    test_cases,
    test_documentation,
    test_hard_statements,
    test_inputs,
    test_plain_method,
    test_predict,
    test_soft_statements,
    test_state,
)


def module():
    """The example as a module outside linkwise, so that walks of the package do not find it."""
    made = ModuleType("k_medoids")
    exec(compile(CODE, "CONTRIBUTING.md", "exec"), vars(made))
    sys.modules[made.__name__] = made  # so that it can be pickled
    return made


def nearest_medoid(X, k, _seed):
    """Labels by the nearest medoid of the clusters found: every sample stays."""
    found = KMedoids(k).fit(X).labels_
    far = ((X[:, None] - X) ** 2).sum(-1)
    rows = [np.flatnonzero(found == c) for c in range(k)]
    return far[:, [row[far[np.ix_(row, row)].sum(axis=0).argmin()] for row in rows]].argmin(axis=1)


KMedoids = module().KMedoids
CASE = Case(KMedoids, LABELS, LINKS, takes_sparse=False, plain=nearest_medoid)
LAWS = [
    law for topic in TOPICS for name, law in vars(topic).items() if name.startswith("test_") and hasattr(law, "runs")
]
RUNS = [pytest.param(law, run.values, id=f"{law.__name__}-{run.id}") for law in LAWS for run in law.runs([CASE])]


@pytest.mark.parametrize(("law", "values"), RUNS)
def test_it_keeps_the_law(law, values, request):
    given = dict(zip(law.arguments, values, strict=True))
    fixtures = {name: request.getfixturevalue(name) for name in inspect.signature(law).parameters if name not in given}
    law(**given, **fixtures)


def test_laws_of_every_topic_run():
    assert {law.__module__ for law in (run.values[0] for run in RUNS)} >= {
        topic.__name__ for topic in TOPICS if topic is not test_predict
    }
    assert len(RUNS) > 30


@pytest.mark.parametrize(("estimator", "check"), list(checks([CASE])))
def test_checks_of_scikit_learn(estimator, check):
    check(estimator)


def test_it_is_short():
    tree = ast.parse(CODE)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef) and ast.get_docstring(node):
            node.body = node.body[1:]
    assert len(ast.unparse(tree).splitlines()) <= 60


# -- listed ------------------------------------------------------------------------------------------------------------

SCRIPT = """
import doctest, importlib, sys
import numpy as np
import linkwise
from linkwise import Constraints, load, save
from linkwise.engines import KMedoids
from linkwise.selection import METHODS
from tests.contract.discovery import estimators

assert "KMedoids" in dir(linkwise.engines) and "KMedoids" in METHODS
assert KMedoids in estimators()
assert doctest.testmod(sys.modules[KMedoids.__module__], raise_on_error=True).attempted == 3

X = np.random.default_rng(0).normal(size=(20, 2))
model = KMedoids(3).fit(X, constraints=Constraints.build(20, must_link=[(0, 1)], cannot_link=[(1, 2)]))
save(model, "model.lwm")
back = load("model.lwm")
assert type(back) is KMedoids and back.get_params() == model.get_params()
assert np.array_equal(back.labels_, model.labels_) and back.constraints_ == model.constraints_
assert str(back.certificate_) == str(model.certificate_)
"""


def link(source, target, real):
    """Make a folder of links to the entries of another; folders in ``real`` become such folders themselves."""
    target.mkdir()
    for entry in source.iterdir():
        if entry in real:
            link(entry, target / entry.name, real)
        else:
            (target / entry.name).symlink_to(entry)


def test_listed_in_one_stub_it_is_found_saved_loaded_and_offered(tmp_path):
    package = Path(linkwise.__file__).resolve().parent
    family = (package / FILE).parent
    link(package, tmp_path / "linkwise", {package / "engines", family})
    (tmp_path / "linkwise" / FILE).write_text(CODE, encoding="utf-8")
    stub = tmp_path / "linkwise" / family.relative_to(package) / "__init__.pyi"
    stub.unlink()
    stub.write_text(f"{LISTED}\n{(family / stub.name).read_text(encoding='utf-8')}", encoding="utf-8")
    # bytecode would go through the links into the package itself
    environment = os.environ | {"PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}", "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
