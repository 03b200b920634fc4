"""The verbs about the installation: ``docs``, ``warmup``, ``info``, and in the source tree ``reproduce``."""

from __future__ import annotations

import os
import platform
import sys
from pathlib import Path

import click

from linkwise import __version__
from linkwise._files import is_partial, visible
from linkwise._messages import many
from linkwise._threads import cores
from linkwise.cli._options import Whole, quiet_option
from linkwise.cli._verb import Interrupted, answer, speaks_json, verb

SOURCE = Path(__file__).resolve().parents[2]  # the source tree, where linkwise runs from one


@verb(short_help="Open the documentation, or say where it is.")
@click.option("--no-browser", is_flag=True, help="Print where it is, and open no browser.")
def docs(no_browser: bool) -> None:
    """Open the documentation in a browser, or say where it is.

    In the source tree this is the site that `bash scripts/docs` builds, elsewhere the address that the package states.
    """
    place, words = documentation()
    if place and not no_browser:
        import threading
        import webbrowser

        opening = threading.Thread(target=webbrowser.open, args=(place,), daemon=True)
        opening.start()
        opening.join(timeout=5)  # a browser in the terminal never returns
    answer({"documentation": place, "where": words}, words)


def documentation() -> tuple[str, str]:
    """Address of the documentation, empty where there is none to open, and where it is in words."""
    from importlib import metadata

    pages = SOURCE / "docs"
    site = pages / "_build" / "html" / "index.html"
    if site.is_file():
        return site.as_uri(), f"The documentation is {site}"
    if (pages / "start.md").is_file():
        return "", f"The pages are in {pages}, start.md first. `bash scripts/docs` makes a site of them."
    try:
        stated = metadata.metadata("linkwise").get_all("Project-URL") or []
    except metadata.PackageNotFoundError:
        stated = []
    for label, _, address in (entry.partition(",") for entry in stated):
        if label.strip().lower() == "documentation":
            return address.strip(), f"The documentation is {address.strip()}"
    return "", (
        f"The pages are in the folder docs of the source archive, linkwise-{__version__}.tar.gz.\n"
        "Here, `linkwise VERB --help` tells about a command, and help(linkwise.cluster) in Python about a name."
    )


@verb(short_help="Compile what commands and estimators use now, so that their first real use is quick.")
def warmup() -> None:
    """Compile what commands and estimators use now, so that first real use is quick.

    This takes some minutes. The code is kept in the folder that `linkwise info` names, and serves every installation of
    this version. Kernels that the package linkwise-kernels brings are not compiled.
    """
    import time

    from linkwise._kernels.inventory import kernels, with_callees
    from linkwise._kernels.signatures import compile_listed, listed

    os.environ["LINKWISE_QUIET"] = "1"
    start = time.perf_counter()
    if not speaks_json():
        click.echo("Compiling ...", err=True)
    compile_listed()
    seconds, place = time.perf_counter() - start, kept_in()
    ready, known = len(with_callees(kernels()[name] for name, _ in listed())), len(kernels())
    if not speaks_json():
        click.echo(f"Ready in {seconds:.1f} s: {ready} of {known} kernels; compiled code is kept: {place}.", err=True)
    answer({"seconds": round(seconds, 3), "kernels": ready, "kernels_known": known, "kept_in": place})


def kept_in() -> str:
    """The folder of compiled code, in words."""
    from linkwise._kernels.machine_code import can_keep, code_home

    if not can_keep():
        return "nowhere, as no folder for it can be written; NUMBA_CACHE_DIR can name one"
    return f"in {code_home()}"


def packaged() -> str:
    """The compiled kernels of the companion wheel, in words."""
    from linkwise._kernels.pack import installed_pack

    pack = installed_pack()
    if not len(pack):
        return f"none used: {pack.refusal}"
    return f"{many(len(pack), 'signature')} for {pack.header['processor']}"


_NEEDED = ("numpy", "scipy", "scikit-learn", "numba", "click", "rich", "starlette", "uvicorn")
_OPTIONAL = ("matplotlib", "pandas", "polars", "pyarrow", "networkx", "dask")


@verb(short_help="Show versions, cores, memory and where compiled code is kept.")
def info() -> None:
    """Show what a bug report needs: versions, cores, memory, and where compiled code is kept."""
    from importlib import metadata

    rows = [("linkwise", __version__), ("python", f"{platform.python_version()} ({sys.executable})")]
    for name in (*_NEEDED, *_OPTIONAL):
        try:
            rows.append((name, metadata.version(name)))
        except metadata.PackageNotFoundError:
            rows.append((name, "missing" if name in _NEEDED else "not installed (optional)"))
    rows += [
        ("system", platform.platform()),
        ("cores", str(cores())),
        ("memory", _memory()),
        ("compiled code", kept_in()),
        ("packaged code", packaged()),
    ]
    answer(dict(rows), "\n".join(f"{name:<14} {value}" for name, value in rows))


def _memory() -> str:
    try:
        total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return "unknown"
    return f"{total / 2**30:.1f} GiB"


@verb(short_help="Compute the figures and tables of a paper again.")
@click.argument("paper")
@click.option("--figure", "figures", multiple=True, metavar="N", help="Only this figure or table; may be repeated.")
@click.option("--quick", is_flag=True, help="Few repetitions on the small sets: a minute or two.")
@click.option("--draws", type=Whole(1), help="Repetitions of what is drawn, in place of the usual number.")
@click.option("-o", "--output", metavar="FOLDER", default="linkwise-papers", show_default=True, type=click.Path())
@click.option("--data", metavar="FOLDER", type=click.Path(), help="Data sets; default: what LINKWISE_DATA names.")
@click.option("-j", "--jobs", type=Whole(1), default=1, show_default=True, help="Processes.")
@quiet_option
def reproduce(
    paper: str,
    figures: tuple[str, ...],
    quick: bool,
    draws: int | None,
    output: str,
    data: str | None,
    jobs: int,
    quiet: bool,
) -> None:
    """Compute the figures and tables of PAPER again and write one page that compares each with the paper.

    Each exhibit is same, better, different or not comparable, by a rule that the page states with its tolerance.

    PAPER is a name such as zheng2011, or a number, 000 to 004. Writes the page, the pictures and a CSV file of every
    number; finished parts are kept, so that a run that was stopped goes on.
    """
    from studies.papers._reproduce import reproduce as compute_again

    def say(line: str) -> None:
        if not (quiet or speaks_json()):
            click.echo(line, err=True)

    made: list[str] = []
    before = _count_files(output)
    try:
        for path in compute_again(
            paper, figures=figures, quick=quick, draws=draws, output=output, data=data, n_jobs=jobs, say=say
        ):
            made.append(str(path))
            if not (quiet or speaks_json()):
                click.echo(path)
    except (KeyboardInterrupt, click.Abort) as stopped:
        new = _count_files(output) - before  # other processes write as well
        if new <= 0:
            raise
        msg = f"interrupted; {many(new, 'new file')} in {visible(output)}.\nHint: run the same command again to go on."
        raise Interrupted(msg) from stopped
    answer({"files": made})


def _count_files(folder: str) -> int:
    return sum(path.is_file() and not is_partial(path) for path in Path(folder).rglob("*"))
