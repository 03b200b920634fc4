"""The ``linkwise`` command: its verbs, and how anything that goes wrong becomes one message and one exit code.

Exit codes: 0 done, 1 failed, 2 wrong usage, 3 statements that contradict each other or cannot be met, 130 interrupted.
Only click is imported here; NumPy, Numba and the rest are loaded by the verb that needs them.
"""

from __future__ import annotations

import difflib
import os
import signal
import sys
import warnings
from collections.abc import Sequence
from typing import Any

import click

from linkwise import __version__
from linkwise.cli._ask import ask
from linkwise.cli._check import check
from linkwise.cli._cluster import cluster
from linkwise.cli._demo import demo
from linkwise.cli._info import info, warmup
from linkwise.cli._reproduce import reproduce
from linkwise.exceptions import DeadEndError, InfeasibleConstraintsError, LinkwiseWarning

__all__ = ["main"]

FAILED, CONFLICT, INTERRUPTED, TERMINATED = 1, 3, 130, 143


class _Verbs(click.Group):
    """A group that suggests the verb that was probably meant, and lists verbs in the order of a first visit."""

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
    epilog="Exit codes: 0 done, 1 failed, 2 wrong usage, 3 statements contradict each other, 130 interrupted.",
)
@click.version_option(__version__, prog_name="linkwise")
def commands() -> None:
    """Clustering that obeys what you know: must-links, cannot-links and triplets."""


for _verb in (demo, cluster, check, ask, reproduce, warmup, info):
    commands.add_command(_verb)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code; never shows a traceback for bad input.

    Parameters
    ----------
    arguments : sequence of str, optional
        What stands after ``linkwise``; ``sys.argv`` when left out.

    Returns
    -------
    int
        0 done, 1 failed, 2 wrong usage, 3 contradiction, 130 interrupted.

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
    previous = _on_terminate()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.simplefilter("always", LinkwiseWarning)
            warnings.showwarning = _show_warning  # type: ignore[assignment]  # put back by catch_warnings
            return _run(arguments)
    finally:
        if previous is not None:
            signal.signal(signal.SIGTERM, previous)


def _run(arguments: Sequence[str] | None) -> int:
    try:
        code = commands.main(args=arguments, prog_name="linkwise", standalone_mode=False)
        sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except click.UsageError as wrong:
        wrong.show()
        return wrong.exit_code
    except click.ClickException as failed:
        failed.show()
        return FAILED
    except click.exceptions.Exit as done:
        return done.exit_code
    except (click.Abort, KeyboardInterrupt):
        _say("interrupted; nothing was written.")
        return INTERRUPTED
    except (InfeasibleConstraintsError, DeadEndError) as conflict:
        _say(f"error: {conflict}")
        return CONFLICT
    except BrokenPipeError:
        # the reader went away (`| head`): not an error, but the interpreter must not complain about it at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (ValueError, OSError, MemoryError, ImportError) as failed:
        if os.environ.get("LINKWISE_DEBUG") == "1":
            raise
        _say(f"error: {_words(failed)}")
        return FAILED


def _words(failed: BaseException) -> str:
    if isinstance(failed, OSError) and failed.strerror:
        return f"{failed.filename}: {failed.strerror}" if failed.filename else failed.strerror
    return str(failed) or type(failed).__name__


def _say(text: str) -> None:
    click.echo(text, err=True)


def _show_warning(message: Warning | str, *_: Any) -> None:
    _say(f"warning: {message}")


def _on_terminate() -> Any:
    """Make SIGTERM unwind like an exit, so that half-written files are removed; None outside the main thread."""

    def stop(*_: Any) -> None:
        raise SystemExit(TERMINATED)

    try:
        return signal.signal(signal.SIGTERM, stop)
    except ValueError:
        return None
