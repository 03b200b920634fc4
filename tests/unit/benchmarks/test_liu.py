"""The experiment of Liu, Zhang and Wang runs, and complete knowledge gives the classes."""

from __future__ import annotations

import numpy as np
from sklearn.datasets import load_iris

from benchmarks import liu


def test_the_table_is_printed(capsys):
    assert liu.main(["--quick"]) == 0
    line = capsys.readouterr().out.splitlines()[-1].split("|")[1:-1]
    assert line[0].strip() == "iris"
    assert len(line) == 3 + 2 * len(liu.SHARES)


def test_all_informative_triplets_give_the_classes_and_half_of_them_help():
    X, y = load_iris(return_X_y=True)
    found = liu.row(X, y, 2)
    assert found["all"] == [1.0]
    assert np.mean(found["informative"][-1]) > found["nothing"][0]
