"""One door to the papers: compute their exhibits again, and write the page, the pictures and the numbers."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path

from linkwise.exceptions import LinkwiseError
from studies.papers._bade import BADE
from studies.papers._basu import BASU
from studies.papers._exhibit import Exhibit, Paper, Settings
from studies.papers._klein import KLEIN
from studies.papers._liu import LIU
from studies.papers._write_exhibits import write_paper
from studies.papers._zheng import ZHENG

PAPERS: dict[str, Paper] = {paper.name: paper for paper in (LIU, BASU, ZHENG, KLEIN, BADE)}
NUMBERS = {
    "000": "liu2011",
    "001": "basu2006",
    "002": "zheng2011",
    "003": "klein2002",
    "004": "bade2009",
}


def find_paper(name: str) -> Paper:
    """Return the paper of that name or number.

    Examples
    --------
    >>> from studies.papers import find_paper
    >>> find_paper("002").citation
    'L. Zheng and T. Li, Semi-supervised Hierarchical Clustering, ICDM 2011'
    """
    found = PAPERS.get(NUMBERS.get(name, name.lower()))
    if found is None:
        known = ", ".join(f"{short} ({number})" for number, short in NUMBERS.items())
        msg = f"there is no paper {name!r} to reproduce.\nHint: choose one of {known}."
        raise LinkwiseError(msg)
    return found


def reproduce(
    paper: str,
    *,
    figures: Iterable[str] = (),
    quick: bool = False,
    draws: int | None = None,
    output: str | Path = "linkwise-papers",
    data: str | Path | None = None,
    n_jobs: int = 1,
    say: Callable[[str], object] = lambda _: None,
) -> list[Path]:
    """Compute the figures and tables of a paper again, and write them beside what the paper prints.

    Parameters
    ----------
    paper : str
        A name such as ``"zheng2011"``, or its number, ``"002"``.
    figures : iterable of str, optional
        Which figures or tables, as in ``["5", "IV"]``; by default all.
    quick : bool, default=False
        Few repetitions on the small sets.
    draws : int, optional
        Repetitions of everything that is drawn, in place of the usual number.
    output : path, default="linkwise-papers"
        Folder for the page, the pictures and the numbers; finished computations are kept in it, too.
    data : path, optional
        Folder of data sets, as for `linkwise.datasets.load`.
    n_jobs : int, default=1
        Processes.
    say : callable, optional
        Takes a line about what is being done.

    Returns
    -------
    list of Path
        The files, the page first.

    Raises
    ------
    LinkwiseError
        There is no such paper or figure.

    Notes
    -----
    **Cost** minutes to hours in full, a minute or two with ``quick``; a second run with the same code computes only
    what is missing. After a change to a Python file of the package everything is computed again.
    **Guarantee** every number of the page is in the CSV file beside it; every verdict and every sentence about an
    outcome is computed from these by a rule that the page states, with its tolerance; scores are of exactly as many
    clusters as the paper has; what is timed was run once before.

    Examples
    --------
    >>> from studies.papers import reproduce
    >>> reproduce("zheng2011", figures=["99"])
    Traceback (most recent call last):
    ...
    linkwise.exceptions.LinkwiseError: zheng2011 has no figure or table 99.
    Hint: choose among II, 1, IV, 5, 6, 7.
    """
    found = find_paper(paper)
    wanted = [str(number) for number in figures] or list(found.exhibits)
    for number in wanted:
        if number not in found.exhibits:
            msg = f"{found.name} has no figure or table {number}.\nHint: choose among {', '.join(found.exhibits)}."
            raise LinkwiseError(msg)
    if draws is not None and draws < 1:
        msg = f"draws is {draws}, expected a whole number >= 1.\nHint: leave draws out for the usual number."
        raise LinkwiseError(msg)
    folder = Path(output)
    settings = Settings(quick, folder / "store", None if data is None else Path(data), n_jobs, draws, say)
    exhibits: list[Exhibit] = []
    for number in wanted:
        say(f"{found.name}, {number}")
        exhibits += found.exhibits[number](settings)
    command = f"linkwise reproduce {found.name}" + "".join(f" --figure {number}" for number in figures)
    command += " --quick" * quick + (f" --draws {draws}" if draws is not None else "")
    if data is not None or "LINKWISE_DATA" in os.environ:
        command = f"LINKWISE_DATA=folder {command}"
    return write_paper(found, exhibits, folder, command, settings.notes)
