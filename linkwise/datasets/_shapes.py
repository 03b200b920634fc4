"""Four shapes in the plane that ordinary clustering gets wrong and a few statements put right.

Klein, Kamvar and Manning (2002) show pictures of them with a line of text each, but publish no points. The properties
named in the text are kept and tested; sizes and proportions are ours.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwise._random import make_generator
from linkwise._typing import FloatArray
from linkwise._validation import read_count, read_number
from linkwise.datasets._dataset import Data

SOURCE = "generated; after Figure 7 of Klein, Kamvar and Manning, ICML 2002"


def circles(n_samples: int = 200, *, random_state: Any = None, noise: float = 0.06) -> Data:
    """Draw CIRCLES: one circle around another, each a class.

    Methods that look for round clusters cut the picture in half: both classes have the same center.

    Parameters
    ----------
    n_samples : int, default=200
        How many points, half of them on each circle.
    random_state : None, int or numpy.random.Generator
        Seed; an int gives the same points every time.
    noise : float, default=0.06
        Standard deviation of the points around their place. The outer circle has radius 1.

    Returns
    -------
    Data
        Class 0 is the outer circle, class 1 the inner one. Rows are in random order.

    Notes
    -----
    **Departure from [1]_** the paper gives no coordinates; the inner radius 0.4 is our choice.

    References
    ----------
    .. [1] D. Klein, S. D. Kamvar, C. D. Manning, "From Instance-level Constraints to Space-Level Constraints",
       ICML 2002.

    Examples
    --------
    >>> from linkwise.datasets import circles
    >>> circles(n_samples=60, random_state=0)
    Data(circles: 60 samples, 2 features, 2 classes)
    """
    rng = read_sizes("circles", n_samples, noise, random_state)
    outer, inner = _shares(n_samples, (1, 1))
    parts = [_ring(rng, outer, 1.0), _ring(rng, inner, 0.4)]
    return _finish("circles", rng, parts, (0, 1), noise, "Two circles with the same center, each a class.")


def cellwalls(n_samples: int = 300, *, random_state: Any = None, noise: float = 0.06) -> Data:
    """Draw CELLWALLS: two cells side by side; the walls are one class, the two centers the other.

    No common method can find this: the two centers are one class without being near each other.

    Parameters
    ----------
    n_samples, random_state, noise
        As in `circles`. Two thirds of the points are on the walls, which have radius 1.

    Returns
    -------
    Data
        Class 0 is the walls, class 1 the centers. Rows are in random order.

    Notes
    -----
    **Departure from [1]_** the paper's figures call a set CELLWALLS and its text describes one called TWOCIRCLES; they
    appear to be the same, and this is our reading of both. Coordinates are ours.

    References
    ----------
    .. [1] D. Klein, S. D. Kamvar, C. D. Manning, ICML 2002; see `circles`.

    Examples
    --------
    >>> from linkwise.datasets import cellwalls
    >>> cellwalls(n_samples=90, random_state=0).counts
    {'wall': 60, 'center': 30}
    """
    rng = read_sizes("cellwalls", n_samples, noise, random_state)
    sizes = _shares(n_samples, (2, 2, 1, 1))
    left, right = np.array([-1.25, 0.0]), np.array([1.25, 0.0])
    parts = [
        _ring(rng, sizes[0], 1.0) + left,
        _ring(rng, sizes[1], 1.0) + right,
        _disc(rng, sizes[2], 0.25) + left,
        _disc(rng, sizes[3], 0.25) + right,
    ]
    text = "Two cells; their walls are one class and their two centers, far apart, the other."
    return _finish("cellwalls", rng, parts, (0, 0, 1, 1), noise, text, ("wall", "center"))


def xor(n_samples: int = 200, *, random_state: Any = None, noise: float = 0.25) -> Data:
    """Draw XOR: four heaps in a square, of which those across the diagonal belong together.

    No straight line separates the classes, and the points alone cannot tell which pairing of the heaps is meant.

    Parameters
    ----------
    n_samples, random_state, noise
        As in `circles`. A quarter of the points is in each heap; the centers are the corners of a square with side 2.

    Returns
    -------
    Data
        Class 0 is where both coordinates have the same sign. Rows are in random order.

    Notes
    -----
    **Departure from [1]_** the paper gives no coordinates; round heaps are our choice.

    References
    ----------
    .. [1] D. Klein, S. D. Kamvar, C. D. Manning, ICML 2002; see `circles`.

    Examples
    --------
    >>> from linkwise.datasets import xor
    >>> data = xor(n_samples=8, random_state=0, noise=0.0)
    >>> data.y.tolist() == (data.X[:, 0] * data.X[:, 1] < 0).tolist()
    True
    """
    rng = read_sizes("xor", n_samples, noise, random_state)
    corners = np.array([[-1.0, -1.0], [1.0, 1.0], [-1.0, 1.0], [1.0, -1.0]])
    parts = [np.tile(corner, (size, 1)) for corner, size in zip(corners, _shares(n_samples, (1, 1, 1, 1)), strict=True)]
    text = "Four heaps at the corners of a square; those across the diagonal are one class."
    return _finish("xor", rng, parts, (0, 0, 1, 1), noise, text)


def stormclouds(n_samples: int = 300, *, random_state: Any = None, noise: float = 0.04) -> Data:
    """Draw STORMCLOUDS: two long flat banks of cloud, one drifting above the other, each a class.

    Methods that look for round clusters take the left and the right half of the sky instead of the two clouds.

    Parameters
    ----------
    n_samples, random_state, noise
        As in `circles`. Half of the points are in each cloud, which is about 4 wide and 0.5 high.

    Returns
    -------
    Data
        Class 0 is the upper cloud. Rows are in random order.

    Notes
    -----
    **Departure from [1]_** the paper says of this set only that it is hard for methods that look for round clusters;
    two flat-bottomed banks of six billows are our drawing of its name.

    References
    ----------
    .. [1] D. Klein, S. D. Kamvar, C. D. Manning, ICML 2002; see `circles`.

    Examples
    --------
    >>> from linkwise.datasets import stormclouds
    >>> stormclouds(n_samples=100, random_state=0).counts
    {'upper': 50, 'lower': 50}
    """
    rng = read_sizes("stormclouds", n_samples, noise, random_state)
    upper, lower = _shares(n_samples, (1, 1))
    apart = np.array([0.35, 0.45])
    parts = [_cloud(rng, upper) + apart, _cloud(rng, lower) - apart]
    text = "Two long flat clouds, one above the other, each a class."
    return _finish("stormclouds", rng, parts, (0, 1), noise, text, ("upper", "lower"))


def read_sizes(who: str, n_samples: object, noise: object, random_state: Any) -> np.random.Generator:
    """Check the sizes, and make the generator."""
    read_count(n_samples, "n_samples", who, low=8)
    read_number(noise, "noise", who)
    return make_generator(random_state)


def _shares(n: int, parts: tuple[int, ...]) -> list[int]:
    """Divide ``n`` in the proportion of ``parts``; the shares sum to ``n``."""
    ends = [n * sum(parts[: i + 1]) // sum(parts) for i in range(len(parts))]
    return [end - start for start, end in zip([0, *ends[:-1]], ends, strict=True)]


def _ring(rng: np.random.Generator, n: int, radius: float) -> FloatArray:
    angle = 2 * np.pi * (np.arange(n) + rng.random(n)) / max(n, 1)  # one in each slice, so that no ring has a gap
    return radius * np.column_stack([np.cos(angle), np.sin(angle)])


def _disc(rng: np.random.Generator, n: int, radius: float) -> FloatArray:
    angle, reach = 2 * np.pi * rng.random(n), radius * np.sqrt(rng.random(n))  # the root spreads evenly over the area
    return np.column_stack([reach * np.cos(angle), reach * np.sin(angle)])


def _cloud(rng: np.random.Generator, n: int) -> FloatArray:
    """Draw six billows on one flat base along the horizontal axis."""
    billow = np.arange(n) % 6
    middle = np.linspace(-1.75, 1.75, 6)[billow]
    height = np.array([0.42, 0.62, 0.5, 0.7, 0.56, 0.4])[billow]
    points: FloatArray = _disc(rng, n, 1.0) * np.column_stack([np.full(n, 0.5), height])
    points[:, 1] = np.abs(points[:, 1]) - 0.3
    points[:, 0] += middle
    return points


def _finish(
    name: str,
    rng: np.random.Generator,
    parts: list[FloatArray],
    classes: tuple[int, ...],
    noise: float,
    description: str,
    label_names: tuple[str, ...] = ("0", "1"),
) -> Data:
    X = np.concatenate(parts)
    X += noise * rng.standard_normal(X.shape)
    y = np.repeat(np.array(classes, dtype=np.intp), [len(part) for part in parts])
    order = rng.permutation(len(X))
    return Data(X[order], y[order], name, ("x", "y"), label_names, SOURCE, description)
