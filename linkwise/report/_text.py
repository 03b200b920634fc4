"""Text from data made harmless: the only way a name or a statement reaches the page."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Sequence

__all__ = ["safe", "script_json"]

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")


def safe(text: str, longest: int = 300) -> str:
    """Escape for HTML and SVG; control characters are replaced and very long texts shortened.

    Examples
    --------
    >>> from linkwise.report._text import safe
    >>> safe('<b onclick="x">')
    '&lt;b onclick=&quot;x&quot;&gt;'
    """
    if len(text) > longest:
        text = f"{text[:longest]}… ({len(text):,} characters)"
    return html.escape(_CONTROL.sub("�", text), quote=True)


def script_json(values: Sequence[object]) -> str:
    """Write values as JSON that cannot end the script element it stands in."""
    text = json.dumps(values, ensure_ascii=True, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
