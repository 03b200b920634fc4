"""Reading the fields of a request: numbers of an address, and objects of a body."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from linkwise._messages import many
from linkwise.app.server._gate import Refused


def whole(given: Mapping[str, str], name: str, missing: int | None, least: int = 0, most: int = 2**53) -> int:
    """Read a whole number of a query."""
    text = given.get(name, "")
    if not text and missing is not None:
        return missing
    if not text.isascii() or not text.isdecimal() or len(text) > 16 or not least <= int(text) <= most:
        raise Refused(
            422, "number", f"{name} is a whole number from {least:,}" + (f" to {most:,}." if most < 2**53 else ".")
        )
    return int(text)


def require_fields(told: Mapping[str, Any], needed: set[str], known: set[str]) -> None:
    """Refuse a request with fields that are missing or unknown."""
    missing, unknown = sorted(needed - set(told)), set(told) - needed - known
    if missing:
        raise Refused(422, "fields", f"The request has no field {missing[0]!r}.")
    if unknown:
        raise Refused(422, "fields", f"The request has {many(len(unknown), 'unknown field')}.")


def texts(value: Any, what: str) -> dict[str, str]:
    """Read an object of texts, of which those without a value are left out."""
    if value is None:
        return {}
    if not isinstance(value, dict) or not all(one is None or isinstance(one, str) for one in value.values()):
        raise Refused(422, "fields", f"The field {what!r} must be an object of texts.")
    return {name: one for name, one in value.items() if one is not None}
