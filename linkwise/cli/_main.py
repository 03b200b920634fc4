"""The ``linkwise`` command: its verbs, and the message and exit code of every error.

Exit codes: 0 done, 1 failed, 2 wrong usage, 3 statements that contradict each other, 4 statements that cannot hold in
the wanted number of clusters, 130 interrupted. With ``--json`` messages are JSON too, one object per line on stderr.
Only click is imported here; NumPy, Numba and the rest are loaded by the verb that needs them.
"""

from __future__ import annotations

import contextlib
import difflib
import gc
import io
import json
import os
import signal
import sys
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import click

from linkwise import __version__
from linkwise._files import recording, visible
from linkwise._messages import in_shell, some_of
from linkwise.cli._ask_verb import ask
from linkwise.cli._check_verb import check, explain
from linkwise.cli._cluster_verb import cluster
from linkwise.cli._demo_verb import demo
from linkwise.cli._doubt_verb import doubt
from linkwise.cli._duplicates_verb import duplicates
from linkwise.cli._installation_verbs import docs, info, reproduce, warmup
from linkwise.cli._look_verb import look
from linkwise.cli._open_verb import open_verb
from linkwise.cli._refine_verb import refine
from linkwise.cli._result_verbs import assign, compare, plot, report, score, why
from linkwise.cli._statement_verbs import convert, repair, select
from linkwise.cli._verb import CONFLICT, FAILED, INFEASIBLE, Interrupted, Unheard, on_screen, wants_json
from linkwise.exceptions import DeadEndError, InfeasibleConstraintsError, LinkwiseWarning

INTERRUPTED, TERMINATED = 130, 143
MOST_WRITTEN = 8  # files that are named after an interruption
CODES = (
    "Exit codes: 0 done, 1 failed, 2 wrong usage, 3 statements contradict each other, 4 they cannot hold in that "
    "many clusters, 130 interrupted."
)


class _Verbs(click.Group):
    """A group that suggests the closest verb to an unknown one, and lists verbs in the order of a first visit."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(self.commands)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and not args[0].startswith("-") and self.get_command(ctx, args[0]) is None:
            near = difflib.get_close_matches(args[0], self.commands, n=1)
            hint = f"did you mean `linkwise {near[0]}`?" if near else "`linkwise --help` lists the commands."
            ctx.fail(f"there is no command {args[0]!r}.\nHint: {hint}")
        return super().resolve_command(ctx, args)


@click.group(
    cls=_Verbs,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=CODES,
)
@click.version_option(__version__, prog_name="linkwise")
def commands() -> None:
    """Clustering under constraints: must-links, cannot-links, triplets, groups and rules."""


_FIRST = (demo, look, cluster, open_verb, check, explain, repair, doubt, ask, why, assign)
for _verb in (*_FIRST, refine, duplicates, plot, report, score, compare, select, convert, docs, warmup, info):
    commands.add_command(_verb)
if (Path(__file__).parents[2] / "studies" / "papers").is_dir():  # in the source tree, not where it is only installed
    commands.add_command(reproduce)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code; never shows a traceback for bad input.

    Parameters
    ----------
    arguments : sequence of str, optional
        The words after ``linkwise``; ``sys.argv`` when left out.

    Returns
    -------
    int
        0 done, 1 failed, 2 wrong usage, 3 contradiction, 4 infeasible with that many clusters, 130 interrupted.

    Examples
    --------
    >>> from linkwise.cli import main
    >>> main(["--version"])
    linkwise, version ...
    0
    """
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a terminal without ✓ shows ? instead of failing
    if arguments is None:  # its own process: objects that libraries make while they load are not garbage
        gc.set_threshold(50_000)
    previous = _on_terminate()
    given = list(sys.argv[1:] if arguments is None else arguments)
    voice = _Voice(as_json=wants_json(given))
    try:
        with warnings.catch_warnings(), in_shell(voice.note):
            warnings.simplefilter("ignore")
            warnings.simplefilter("always", LinkwiseWarning)
            warnings.showwarning = voice.warn  # type: ignore[assignment]  # put back by catch_warnings
            with recording() as written:
                return _run(given, voice, written)
    finally:
        if previous is not None:
            signal.signal(signal.SIGTERM, previous)
        if arguments is None:  # nor need it be looked through at the end
            gc.freeze()


class _Voice:
    """Messages on stderr: for people, or as one JSON object per line."""

    def __init__(self, *, as_json: bool) -> None:
        self.as_json = as_json

    def warn(self, message: Warning | str, *_: Any) -> None:
        """Print a warning."""
        self._say("warning", f"warning: {message}", str(message))

    def note(self, text: str) -> None:
        """Print a note."""
        self._say("note", f"linkwise: {text}", text)

    def _say(self, kind: str, words: str, text: str) -> None:
        _say(json.dumps({kind: text}, ensure_ascii=False) if self.as_json else on_screen(words))

    def fail(self, failed: BaseException, code: int, words: str) -> int:
        """Print an error, and return the exit code."""
        if not self.as_json:
            _say(on_screen(words if code == INTERRUPTED else f"error: {words}"))
            return code
        text, _, hint = words.partition("\nHint: ")
        told = {"error": text, "hint": hint, "kind": type(failed).__name__, "exit_code": code}
        why = getattr(failed, "explanation", None)
        _say(json.dumps(told | ({} if why is None else {"explanation": why.to_dict()}), ensure_ascii=False))
        return code

    def click(self, failed: click.ClickException, code: int) -> int:
        """Print an error of click, in its words or as JSON."""
        if self.as_json:
            return self.fail(failed, code, failed.format_message())
        words = io.StringIO()
        failed.show(words)
        _say(on_screen(words.getvalue().rstrip("\n")))
        return code


def _run(arguments: Sequence[str], voice: _Voice, written: Iterable[str]) -> int:
    try:
        code = commands.main(args=list(arguments), prog_name="linkwise", standalone_mode=False)
        return _said_all(voice, code if isinstance(code, int) else 0)
    except Unheard as unheard:
        return _unheard(voice, unheard)
    except click.exceptions.NoArgsIsHelpError as nothing:
        nothing.show()
        return nothing.exit_code
    except click.UsageError as wrong:
        return voice.click(wrong, wrong.exit_code)
    except click.ClickException as failed:
        return voice.click(failed, FAILED)
    except click.exceptions.Exit as done:
        return done.exit_code
    except Interrupted as stopped:
        return voice.fail(stopped, INTERRUPTED, stopped.words)
    except (click.Abort, KeyboardInterrupt) as stopped:
        there = [visible(path) for path in written]
        told = f"already written: {some_of(there, MOST_WRITTEN)}" if there else "nothing was written"
        return voice.fail(stopped, INTERRUPTED, f"interrupted; {told}.")
    except (InfeasibleConstraintsError, DeadEndError) as conflict:
        return voice.fail(conflict, _code_of(conflict), str(conflict))
    except BrokenPipeError as gone:  # in the midst of something, as of a dialogue
        return _unheard(voice, Unheard(0, gone))
    except (ValueError, OSError, MemoryError, ImportError) as failed:
        if _debugging():
            raise
        return voice.fail(failed, FAILED, _words(failed))
    except Exception as unforeseen:
        if _debugging():
            raise
        words = (
            f"something went wrong that should not have: {type(unforeseen).__name__}: {unforeseen}\n"
            "Hint: this is a fault of linkwise; LINKWISE_DEBUG=1 shows where. Please report it with `linkwise info`."
        )
        return voice.fail(unforeseen, FAILED, words)


def _said_all(voice: _Voice, code: int) -> int:
    """Flush standard output, and return the exit code."""
    try:
        if sys.stdout is not None:  # it may be closed
            sys.stdout.flush()
    except OSError as failed:
        return _unheard(voice, Unheard(code, failed))
    return code


def _unheard(voice: _Voice, unheard: Unheard) -> int:
    """Keep the exit code of a result that could not be shown; a full disk is an error, a reader that left is not."""
    with contextlib.suppress(OSError, ValueError, AttributeError):  # or the interpreter complains at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if isinstance(unheard.failed, BrokenPipeError):  # as with `| head`
        return unheard.code
    return voice.fail(unheard.failed, unheard.code or FAILED, f"standard output: {_words(unheard.failed)}")


def _debugging() -> bool:
    return os.environ.get("LINKWISE_DEBUG") == "1"


def _code_of(conflict: InfeasibleConstraintsError | DeadEndError) -> int:
    """Tell statements that contradict each other from those that only the number of clusters stands against."""
    if isinstance(conflict, DeadEndError):
        return INFEASIBLE
    return INFEASIBLE if conflict.explanation is not None and conflict.explanation.goal else CONFLICT


def _words(failed: BaseException) -> str:
    if isinstance(failed, OSError) and failed.strerror:
        return f"{visible(str(failed.filename))}: {failed.strerror}" if failed.filename else failed.strerror
    if isinstance(failed, MemoryError) and not str(failed):
        return "there is not enough memory.\nHint: end other programs, or use fewer rows."
    return str(failed) or type(failed).__name__


def _say(text: str) -> None:
    click.echo(text, err=True)


def _on_terminate() -> Any:
    """Make SIGTERM unwind like an exit, so that half-written files are removed; None outside the main thread."""

    def stop(*_: Any) -> None:
        raise SystemExit(TERMINATED)

    try:
        return signal.signal(signal.SIGTERM, stop)
    except ValueError:
        return None
