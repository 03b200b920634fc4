"""Docstrings of estimators hold the entries of their bases, with the defaults of their own signatures."""

from __future__ import annotations

import inspect

from linkwise.engines import ConstrainedClusterer, MPCKMeans, PartitionMixin, PCKMeans


class Base(PartitionMixin, ConstrainedClusterer):
    """A base.

    Parameters
    ----------
    width : float
        How wide.
    depth : int
        How deep.

    Attributes
    ----------
    labels_, width_ : ndarray
        Two at once.
    """

    _parameter_constraints = {"width": [float], "depth": [int]}  # noqa: RUF012


class Method(Base):
    """A method.

    Parameters
    ----------
    own : str, default="a"
        Its own.

    Notes
    -----
    Some.
    """

    _parameter_constraints = {"own": [str]}  # noqa: RUF012

    def __init__(self, n_clusters=3, *, own="a", width=0.5):
        self.n_clusters = n_clusters
        self.own = own
        self.width = width


def test_entries_stand_in_the_order_of_the_signature_with_its_defaults():
    assert inspect.getdoc(Method).startswith(
        "A method.\n\nParameters\n----------\n"
        "n_clusters : int, default=3\n    Number of clusters; none of them is empty.\n"
        'own : str, default="a"\n    Its own.\n'
        "width : float, default=0.5\n    How wide.\n\n"
        "Attributes\n----------\nlabels_, width_ : ndarray\n    Two at once.\n"
    )
    assert "depth" not in Method.__doc__
    assert Method.__doc__.count("labels_") == 1
    assert Method.__doc__.endswith("Notes\n-----\nSome.")


def test_the_same_parameter_has_the_default_of_each_class():
    made = Method.__doc__, MPCKMeans.__doc__, PCKMeans.__doc__
    assert ["metric_ : ndarray" in text for text in made] == [False, True, False]
    assert 'default="neighborhoods"' in made[1]


def test_parameters_of_bases_are_checked_if_the_signature_has_them():
    assert sorted(Method._parameter_constraints) == ["n_clusters", "own", "width"]


def test_a_class_without_a_docstring_stays_without():
    bare = type("Bare", (Method,), {})
    assert bare.__dict__.get("__doc__") is None
