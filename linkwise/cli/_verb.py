"""The base of every verb: ``--json``, refusal of options given twice, exit codes, and the display of results."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import click

FAILED, CONFLICT, INFEASIBLE = 1, 3, 4
_JSON = "--json"
MOST_WORD, MOST_LINE = 300, 4_000  # characters of a name, and of a line, that are shown


class Interrupted(click.Abort):
    """A command was interrupted after it had written something; ``words`` name it, and how to go on."""

    def __init__(self, words: str) -> None:
        super().__init__(words)
        self.words = words


class Unheard(Exception):  # noqa: N818 - not an error of the command: its result could not be shown
    """A command is done, but standard output did not take its result."""

    def __init__(self, code: int, failed: OSError) -> None:
        super().__init__(str(failed))
        self.code, self.failed = code, failed


class Verb(click.Command):
    """A command with ``--json``; an option that counts once may be given once."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        flag = click.Option(
            [_JSON, "as_json"],
            is_flag=True,
            expose_value=False,
            callback=_remember,
            help="Print the result as JSON, and messages as one JSON object per line.",
        )
        self.params.append(flag)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the arguments as click does; refuse options given twice, empty names and bytes that are not text."""
        given = list(args)
        rest = super().parse_args(ctx, args)
        _, _, order = self.make_parser(ctx).parse_args(args=given)
        twice = [
            param
            for param, times in Counter(order).items()
            if times > 1 and isinstance(param, click.Option) and not (param.multiple or param.is_flag)
        ]
        for param in self.params:
            values = _as_tuple(ctx.params.get(str(param.name)))
            path = isinstance(param.type, click.Path)
            if path and "" in values:
                msg = f"{param.get_error_hint(ctx)} is empty, expected a name."
                raise click.UsageError(msg, ctx)
            if not path and any(isinstance(value, str) and not _is_text(value) for value in values):
                msg = f"{param.get_error_hint(ctx)} holds bytes that are not text.\nHint: type it in UTF-8."
                raise click.UsageError(msg, ctx)
        if twice:
            msg = f"{twice[0].opts[-1]} is given more than once.\nHint: give it once; it is not clear which one counts."
            raise click.UsageError(msg, ctx)
        return rest

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; where its result could not be shown, its exit code is still that of the result."""
        code = super().invoke(ctx)
        failed = ctx.meta.get("linkwise.unheard")
        if failed is not None:
            raise Unheard(code if isinstance(code, int) else 0, failed)
        return code


def _as_tuple(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


def _is_text(value: str) -> bool:
    """Whether a typed value could be decoded."""
    return not any("\ud800" <= character <= "\udfff" for character in value)


def _remember(ctx: click.Context, param: click.Parameter, value: bool) -> None:  # noqa: ARG001
    ctx.meta["linkwise.json"] = value


def verb(**settings: Any) -> Callable[[Callable[..., Any]], Verb]:
    """Make a command of a function, as ``click.command`` does."""
    return click.command(cls=Verb, **settings)


def speaks_json() -> bool:
    """Whether the command under way was asked for JSON."""
    context = click.get_current_context(silent=True)
    return bool(context is not None and context.meta.get("linkwise.json"))


def wants_json(arguments: Sequence[str]) -> bool:
    """Whether arguments ask for JSON; known before they are parsed, so that their own errors are JSON as well."""
    given = list(arguments)
    return _JSON in (given[: given.index("--")] if "--" in given else given)


def answer(told: dict[str, Any], text: str = "", *, quiet: bool = False) -> None:
    """Show a result: as JSON if asked for, else as text, which ``quiet`` leaves out."""
    if speaks_json():
        show(json.dumps(_plain(told), indent=2, ensure_ascii=False, allow_nan=False))
    elif text and not quiet:
        show(on_screen(text))


def show(text: str, *, nl: bool = True) -> None:
    """Print on standard output; where that fails, the command goes on, and `Verb` says so at the end."""
    try:
        click.echo(text, nl=nl)
    except OSError as failed:
        click.get_current_context().meta["linkwise.unheard"] = failed


def on_screen(text: str) -> str:
    """Shorten names and lines that would flood a screen, and show what would move its cursor; files keep all of it."""
    visible = "".join(c if c.isprintable() or c in "\n\t" else c.encode("unicode_escape").decode() for c in text)
    words = re.sub(rf"\S{{{MOST_WORD + 1},}}", lambda word: _shortened(word[0], MOST_WORD), visible)
    return "\n".join(_shortened(line, MOST_LINE) for line in words.split("\n"))


def _shortened(text: str, most: int) -> str:
    """Leave out the middle."""
    if len(text) <= most:
        return text
    start, end = most // 2, most // 5
    return f"{text[:start]}…({len(text) - start - end:,} more characters)…{text[-end:]}"


def _plain(value: Any) -> Any:
    """Turn a result into types of JSON; a float that is not finite becomes null."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, dict):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(inner) for inner in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)
