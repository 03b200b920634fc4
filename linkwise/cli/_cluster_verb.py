"""``linkwise cluster``: the verb that clusters a table under constraints and writes labels, tree, model and report."""

from __future__ import annotations

import ast
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from linkwise._files import visible
from linkwise._messages import many
from linkwise.cli._options import (
    Amount,
    Range,
    Whole,
    column_statements,
    constraints_option,
    explained,
    one_standard_input,
    project_of,
    quiet_option,
    read_statements,
    read_table,
    reading_of,
    require_rows,
    require_words,
    says,
    table_options,
    trust_option,
    weighed,
)
from linkwise.cli._scaled_cluster import NAMES as BLOCK_OPTIONS, block_options, cluster_blocks, wants_blocks
from linkwise.cli._verb import answer, speaks_json, verb
from linkwise.selection import EFFORTS, LINKAGES, METHODS, SHORT_NAMES, WITHOUT_NUMBER, method_name

if TYPE_CHECKING:
    from linkwise.constraints import Constraints
    from linkwise.io import Folder, Table
    from linkwise.report import Facts
    from linkwise.selection import Clustering


class NumberOrAuto(click.ParamType):  # type: ignore[type-arg]
    """A number from 1, or the word auto."""

    name = "INTEGER|auto"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int | str:
        """Read the typed value."""
        return "auto" if value == "auto" else Whole(1, "a number of clusters", "auto").convert(value, param, ctx)


class Setting(click.ParamType):  # type: ignore[type-arg]
    """A parameter of a method: ``name=value``, where the value is a Python literal or else a string."""

    name = "NAME=VALUE"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, Any]:
        """Read the typed value."""
        if isinstance(value, tuple):
            return value
        name, sign, text = str(value).partition("=")
        if not sign or not name.strip().isidentifier():
            self.fail(f"{value!r}, expected a name and a value, such as max_iter=50.", param, ctx)
        try:
            return name.strip(), ast.literal_eval(text.strip())
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            return name.strip(), text.strip()


_COUNTS_TRIPLETS = ("BiHAC", "BiiHAC", "IHAC")  # methods for which each triplet counts
FILES = ("labels.csv", "tree.nwk", "tree.parquet", "model.lwm", "report.html", "dendrogram.png", "links.png")
_OPTION_OF = {
    "n_clusters": "-k",
    "distance_threshold": "--height",
    "method": "--method",
    "linkage": "--linkage",
    "min_cluster_size": "--min-cluster-size",
    "trust": "--trust",
    "effort": "--effort",
}
MANY = 50_000  # samples from which results are kept short: the tree as Parquet, branches drawn, no lists of members
_DRAWN = 300  # branches of such a tree that are drawn
MOST_ASKED, N_QUESTIONS = 5_000, 5  # samples up to which the next questions are looked for, and how many


@verb(short_help="Cluster a table under constraints from files.")
@click.argument("data", metavar="DATA", type=click.Path(allow_dash=True))
@table_options
@constraints_option("Statements, rules, groups, a taxonomy or answers of `linkwise ask`.", dash=True)
@click.option(
    "-k",
    "--clusters",
    type=Range("auto"),
    help="Number of clusters, a range of them such as 3-6, or auto: the number, of the range or of any, that predicts "
    "held-out statements best.  [default: 2]",
)
@click.option(
    "--height",
    type=Amount(min=0),
    metavar="H",
    help="Instead of -k: cut the tree at height H, so that samples merged above it are in different clusters.",
)
@click.option(
    "--linkage",
    type=click.Choice(LINKAGES),
    help="How the distance of two clusters follows from their samples.  [default: one that suits the method]",
)
@click.option(
    "--method",
    type=click.Choice(("auto", *SHORT_NAMES, *METHODS), case_sensitive=False),
    default="auto",
    show_default=True,
    metavar="NAME",
    help=f"The method: {', '.join(('auto', *SHORT_NAMES, *METHODS))}. auto: one that suits the constraints and the "
    "number of rows.",
)
@click.option(
    "--set",
    "settings",
    type=Setting(),
    multiple=True,
    help="A parameter of the method named by --method, such as max_iter=50; may be repeated.",
)
@click.option(
    "--min-cluster-size",
    "min_size",
    type=NumberOrAuto(),
    default="auto",
    show_default=True,
    help="For recon and triplets: branches of fewer samples are outliers, given to the nearest cluster in which no "
    "statement breaks; clusters then need not be branches of the tree. auto: two fifths of an average cluster. "
    "1: every cluster is a branch.",
)
@trust_option("hard")
@click.option(
    "--effort",
    type=click.Choice(EFFORTS),
    default=EFFORTS[0],
    show_default=True,
    help="full: many views of the data vote where -k is a number and there are 50 rows or more. quick: one method.",
)
@click.option(
    "-o",
    "--output",
    metavar="FOLDER",
    type=click.Path(),
    help="Where the results go.  [default: the name of DATA with -clusters at its end]",
)
@click.option("--title", help="Heading of the picture and the report.")
@click.option("--force", is_flag=True, help="Replace results that exist.")
@block_options
@quiet_option
def cluster(
    data: str,
    constraints: tuple[str, ...],
    clusters: int | tuple[int, int] | str | None,
    height: float | None,
    linkage: str | None,
    method: str,
    settings: tuple[tuple[str, Any], ...],
    min_size: int | str,
    trust: tuple[tuple[str, float | str], ...],
    effort: str,
    output: str | None,
    title: str | None,
    force: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Cluster the rows of DATA under the constraints in the FILEs.

    DATA is CSV or TSV with a header, .xlsx, Parquet, Arrow, .npy or .npz; - is standard input; a project of `linkwise
    open` (.lw) is clustered as it is on screen, by its own statements and those of -c. A file of statements
    has rows kind,a,b,c,weight: must_link and cannot_link name two samples, triplet three (a and b are closer to each
    other than to c); together and apart name any number in a column samples, as in x;y;z. Without a weight a statement
    is hard: it holds in the result, or the command tells why it cannot, whether the tree is cut by -k or by --height.
    Groups, taxonomies and the answers of `linkwise ask` are read as well. Where some statements may be wrong, --trust
    doubtful weighs them against the data, the report lists those that the data contradict, and `linkwise doubt` asks
    about them.

    Writes labels.csv, tree.nwk (always one tree), model.lwm (for `linkwise assign`), report.html and, with matplotlib,
    dendrogram.png; either all of them or none. From 50,000 rows on the tree is tree.parquet if pyarrow is there, the
    picture shows 300 branches, and the report lists no rows. A method that makes no tree, such as copkmeans, writes
    links.png, the samples in the plane, instead of the tree and its picture. `linkwise.cluster` in Python gives the
    same clusters.
    """
    output = output or _own_folder(data)
    blocks = {option: options.pop(option) for option in BLOCK_OPTIONS}
    if wants_blocks(blocks):
        others = {"--height": height, "--linkage": linkage, "--method": method != "auto", "--set": settings}
        others |= {"--trust": trust, "--title": title}
        others |= {f"--{key}": options[key] for key in options if key not in ("id_column", "columns")}
        given = {"others": others, "quiet": quiet, "force": force, **options}
        cluster_blocks(data, constraints, clusters, output, blocks, given)
        return
    from linkwise.cli._drawing import get_ready_to_draw, telling_memory, working
    from linkwise.io import Folder
    from linkwise.selection import cluster as find_clusters, fit_without_constraints

    state = project_of(data, options)
    if clusters is not None and height is not None:
        msg = "-k and --height both set where to cut the tree.\nHint: give one of them."
        raise click.UsageError(msg)
    name = None if method == "auto" else method_name(method)
    if state is not None and name is None:  # as on screen, where no option says otherwise
        told = state.arguments
        name, min_size = told["method"], 1 if min_size == "auto" else min_size
        linkage = linkage or told["linkage"]
        settings = (*(one for one in told["params"].items() if one[0] not in dict(settings)), *settings)
        if clusters is None and height is None:
            clusters, height = told.get("n_clusters"), told.get("distance_threshold")
    if clusters is None and height is None and name not in WITHOUT_NUMBER:
        clusters = 2
    own = [] if state is None or not state.table.n_statements else [state.said_file(data)]
    said_any = bool(constraints or own) or says(options)
    if trust and not said_any:
        msg = "--trust is about statements, so it needs a file of them.\nHint: -c said.csv"
        raise click.UsageError(msg)
    one_standard_input([data, *constraints])
    folder = Folder(output, FILES, force=force, inputs=[data, *constraints])  # before anything takes long
    table = read_table(data, options) if state is None else state.reading.table
    require_rows(clusters, data, table)
    statements, trusted = None, None
    if said_any:
        files = [*constraints, *own]
        known = read_statements(files, table, options=options)
        statements, trusted = weighed(known, [*constraints, *known.files[len(constraints) :]], trust, "hard")
    said = None if statements is None else statements.constraints
    require_words(data, table)
    get_ready_to_draw()
    silent = quiet or speaks_json()
    with explained(statements), telling_memory(quiet=quiet), working("clustering", quiet=silent):
        found = find_clusters(
            table.X,
            said,
            clusters,
            method=name,
            linkage=linkage,
            distance_threshold=height,
            min_cluster_size=min_size,
            params=_params(settings, name if said_any else None),
            effort=effort,
        )
        before = None if said is None else fit_without_constraints(found, table.X)
    with working("writing", quiet=silent):
        short = _keeps_short(found)
        reasons = (*found.reasons, *([short] if short else _about_forest(found.dendrogram)))
        heading = title or f"{'samples' if data == '-' else Path(data).stem} in {many(found.n_clusters, 'cluster')}"
        from linkwise.report import gather_facts

        recipe = _recipe(data, constraints, options, found, trusted, effort)
        facts = gather_facts(
            found,
            X=table.X,
            features=table.columns,
            values=table.values,
            constraints=said,
            certificate=_certificate(found, said),
            ids=table.ids,
            before=before,
            questions=_questions(table, said),
            texts=table.texts if table.beside else (),
            taxonomies=() if statements is None else statements.taxonomies,
            title=heading,
            reasons=reasons,
            recipe=recipe if state is None else recipe.rpartition("\n")[2],  # Python reads no projects
            max_members=0 if len(found.labels) >= MANY else 2_000,
        )
        _warn_of_statements_without_effect(facts)
        names = _write(folder, found, facts, table, said, heading)
    asked = {"effort": effort, "trust": trusted}
    _tell(found, said, folder.folder, names, reasons, asked, quiet=quiet)


def _own_folder(data: str) -> str:
    """The folder for results of data that come without one: named after the file, in the folder one works in."""
    name = Path(data).name.split(".")[0]
    return f"{visible(name) if name and not set(name) & set('*?[') and name != '-' else 'samples'}-clusters"


def _params(settings: tuple[tuple[str, Any], ...], method: str | None) -> dict[str, Any]:
    """Return the parameters of the method; one that counts triplets gets all that a taxonomy says, not the fewest."""
    params = ({"closure": True} if method in _COUNTS_TRIPLETS else {}) | dict(settings)
    if len(dict(settings)) < len(settings):
        twice = next(name for at, (name, _) in enumerate(settings) if name in dict(settings[:at]))
        msg = f"--set {twice} is given more than once.\nHint: give it once; it is not clear which one counts."
        raise click.UsageError(msg)
    return params


def _certificate(found: Clustering, said: Constraints | None) -> Any:
    """The certificate of the result if it is about all statements as given, else None; the report then verifies."""
    own = found.certificate
    whole = said is None or (said.is_hard.all() and len(own.held) == said.n_statements)
    return own if whole else None


def _keeps_short(found: Clustering) -> str | None:
    """Tell that a tree is written as Parquet, if it is."""
    from importlib.util import find_spec

    if found.dendrogram is None or len(found.labels) < MANY or find_spec("pyarrow") is None:
        return None
    return (
        f"tree.parquet holds the tree, since {len(found.labels):,} samples are many for Newick; the picture shows "
        f"{_DRAWN} branches. `linkwise convert tree.parquet tree.nwk` writes Newick."
    )


def _about_forest(tree: Any) -> tuple[str, ...]:
    """Tell that tree.nwk joins trees that the statements keep apart."""
    if tree is None or tree.n_roots == 1:
        return ()
    at = tree.joined().height[-1]
    words = (
        f"merging left {tree.n_trees:,} trees; tree.nwk holds them as one, joined at height {at:.4g}, above every "
        "merge, in a node marked linkwise_join."
    )
    return (words,)


def _warn_of_statements_without_effect(facts: Facts) -> None:
    """Warn when the clusters without the statements satisfy all of them."""
    from linkwise._validation import warn_user

    n = facts.n_statements
    if not n or facts.rules or facts.comparison is None or facts.comparison.held_before < n:
        return
    warn_user(
        f"{'the statement holds' if n == 1 else f'all {n:,} statements hold'} in the clusters found without "
        f"{'it' if n == 1 else 'them'} as well.\n"
        "Hint: `linkwise ask` finds questions whose answers would change the clusters."
    )


def _questions(table: Table, said: Constraints | None) -> list[str]:
    """The next few questions, where they are cheap to find and the statements are about pairs."""
    from linkwise.active import next_questions
    from linkwise.constraints import Kind

    if not 2 <= len(table) <= MOST_ASKED or (said is not None and (said.kind > Kind.CANNOT_LINK).any()):
        return []
    return next_questions(table.X, said, N_QUESTIONS, table.ids)


def _write(
    folder: Folder, found: Clustering, facts: Facts, table: Table, said: Constraints | None, title: str
) -> list[str]:
    """Write all files of a result, remove those of the result it replaces, and return their names."""
    from linkwise.cli._drawing import can_draw, draw
    from linkwise.io import save, write_labels, write_tree
    from linkwise.plots import plot_dendrogram, plot_links
    from linkwise.report import write_report

    tree, names = found.dendrogram, ["labels.csv", "model.lwm", "report.html"]
    if can_draw():
        names.append("links.png" if tree is None else "dendrogram.png")
    if tree is not None:
        names.insert(1, "tree.parquet" if _keeps_short(found) else "tree.nwk")
    with folder:
        place = folder.paths(names)
        write_labels(place["labels.csv"], found.labels, table.ids, names=facts.cluster_names)
        if tree is not None:
            ids = table.ids if table.has_names else None
            write_tree(place[names[1]], tree, ids=ids, join=names[1] == "tree.nwk", node_names=dict(facts.node_names))
        save(found.estimator, place["model.lwm"], data=table)
        write_report(place["report.html"], facts)
        style: dict[str, Any] = {"labels": found.labels, "ids": table.ids, "title": title}
        if "dendrogram.png" in names:
            style |= {"names": facts.cluster_names, "node_names": dict(facts.node_names)}
            most = _DRAWN if len(found.labels) >= MANY else None
            draw(place["dendrogram.png"], plot_dendrogram, tree, constraints=said, max_leaves=most, height=4.8, **style)
        elif "links.png" in names:
            draw(place["links.png"], plot_links, table.X, said, **style)
    for name in set(FILES) - set(names):
        (folder.folder / name).unlink(missing_ok=True)
    return names


def _tell(
    found: Clustering,
    said: Constraints | None,
    folder: Path,
    names: list[str],
    reasons: tuple[str, ...],
    asked: dict[str, Any],
    *,
    quiet: bool,
) -> None:
    import numpy as np

    moved = len(getattr(found.estimator, "moved_", ()))
    if moved:
        reasons = (*reasons, "--min-cluster-size 1 makes every cluster a branch of the tree.")
    held = None if said is None else found.certificate
    lines = [f"{many(len(found.labels), 'sample')} in {many(found.n_clusters, 'cluster')}."]
    certificate = None if held is None else str(held)
    lines += [*found.certificate.remarks] if certificate is None else [certificate]
    lines += [f"  - {reason}" for reason in reasons] + [f"  {visible(folder / name)}" for name in names]
    if not {"dendrogram.png", "links.png"} & set(names):
        lines.append("  (no picture: pip install 'linkwise[plot]')")
    told = {
        "samples": len(found.labels),
        "clusters": found.n_clusters,
        "method": type(found.estimator).__name__,
        **asked,
        "largest_cluster": int(np.bincount(found.labels[found.labels >= 0]).max(initial=0)),
        "statements": 0 if said is None else said.n_statements,
        "certificate": certificate,
        "hard_statements_hold": None if held is None else held.ok,
        "moved": moved,
        "remarks": found.certificate.remarks,
        "reasons": reasons,
        "files": {name: str(folder / name) for name in names},
    }
    answer(told, "\n".join(lines), quiet=quiet)


def _recipe(
    data: str, files: Sequence[str], options: dict[str, Any], found: Clustering, trust: Any, effort: str
) -> str:
    """Python, and after it a command, that read the same files and run the same method with the same parameters."""
    from linkwise.selection import arguments_of

    reading = {key: value for key, value in reading_of(options).items() if value}
    told = column_statements(options)
    arguments = arguments_of(found)
    lines = ["import linkwise as lw", "", f"table = lw.read_data({data!r}{_listed(reading)})"]
    said = ""
    if files or told:
        each = f".with_trust({trust!r})" if isinstance(trust, dict) else ""
        lines.append(f"said = lw.read_knowledge({list(files)!r}, table{_listed(told)}){each}")
        said = ", said.constraints"
    if isinstance(trust, (str, float)) and trust != "hard":
        arguments["trust"] = trust
    arguments |= {"effort": effort} if effort != EFFORTS[0] else {}
    lines += [f"found = lw.cluster(table.X{said}{_listed(arguments)})", "found.labels", ""]
    words = [shlex.quote(data)]
    for key, value in ({name: one for name, one in reading.items() if name != "keep"} | told).items():
        words += [f"--{key} {shlex.quote(one)}" for one in ([value] if isinstance(value, str) else value)]
    words += [f"-c {shlex.quote(file)}" for file in files]
    for key, value in arguments.items():
        words += [f"{_OPTION_OF[key]} {1 if value is None else value}"] if key in _OPTION_OF else []
    if isinstance(trust, dict):
        words += [
            f"--trust {shlex.quote(f'{file}={p}')}"
            for file, p in zip(dict.fromkeys(files), trust.values(), strict=False)
        ]
    settings = {key: value for key, value in arguments.items() if key == "metric"} | arguments.get("params", {})
    words += [f"--set {shlex.quote(f'{name}={_typed(value)}')}" for name, value in settings.items()]
    return "\n".join([*lines, f"# in a shell: linkwise cluster {' '.join([*words, '-o OUT'])}"])


def _listed(arguments: dict[str, Any]) -> str:
    return "".join(f", {key}={value!r}" for key, value in arguments.items())


def _typed(value: Any) -> str:
    """A value as it is typed after ``--set``; a string that would be read as something else keeps its quotes."""
    if not isinstance(value, str):
        return repr(value)
    try:
        ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return value
    return repr(value)
