"""The samples of the start page: wines, letters to a bank, and scanned digits with their pictures."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np

from linkwise.app.files._preview import preview
from linkwise.exceptions import LinkwiseError
from linkwise.io import csv_line

NOTES = """
lost card|I lost my card yesterday and need it blocked at once
stolen card|My wallet was stolen, please block the card in it
block card|How do I block my card from abroad
card not arrived|The new card has not arrived by mail yet
new card when|When will my new card arrive by mail
card delivery|I still wait for the card that you mailed two weeks ago
card address|Please mail my new card to my other address
card broken|The chip of my card is broken, I need a new card
card declined shop|My card was declined in a shop although there is money
card declined online|Paying online was declined, my card does not work there
pin forgotten|I forgot the PIN of my card
pin change|Where can I change the PIN of my card
pin blocked|I typed a wrong PIN three times and now it is blocked
transfer missing|A transfer that I sent on Monday has not arrived
transfer late|Why does my transfer to another bank take so long
transfer wrong|I sent a transfer to the wrong account, can I get it back
transfer twice|The same transfer was sent twice from my account
transfer abroad|How much does a transfer abroad cost
transfer limit|Please raise the limit for a transfer
transfer cancel|Cancel the transfer that I sent this morning
standing order|I want to end a standing order for my rent
standing order date|Move the standing order for the rent to another day
fee account|Why was a fee taken from my account this month
fee abroad|A fee was taken when I paid abroad with the card
fee cash|Is there a fee for cash from another bank
cash machine|The cash machine kept my card
cash missing|The cash machine gave less cash than it booked
cash limit|How much cash can I get in one day
password forgotten|I forgot the password of the app
password change|How do I change my password in the app
app login|The app does not let me log in since the update
app update|After the update the app closes at once
app phone|I have a new phone, how do I move the app
app code|The code to log in to the app does not come
loan rate|What is the interest rate of a loan for a car
loan early|Can I pay back my loan early without a fee
loan amount|How large a loan can I get for a house
loan papers|Which papers do you need for a loan
interest savings|What interest do you pay on savings
savings open|I want to open an account for savings
"""


def _notes_csv() -> bytes:
    lines = [line.split("|") for line in NOTES.strip().splitlines()]
    return ("name,note\n" + "".join(f'{name},"{note}"\n' for name, note in lines)).encode()


def _wines_csv() -> bytes:
    from sklearn.datasets import load_wine

    found = load_wine()
    rows = (f"wine {at + 1},{','.join(f'{value:g}' for value in row)}\n" for at, row in enumerate(found.data))
    names = ",".join(name.replace("/", " of ").replace("_", " ") for name in found.feature_names)
    return f"name,{names}\n{''.join(rows)}".encode()


def _digits_zip() -> bytes:
    """Scanned digits of 8 x 8 dots: the numbers that they are compared by, and pictures to look at."""
    from sklearn.datasets import load_digits

    found = load_digits()
    made, day = io.BytesIO(), (1980, 1, 1, 0, 0, 0)
    lines = [csv_line("name", "picture", *(f"row {at // 8 + 1} dot {at % 8 + 1}" for at in range(64)))]
    with zipfile.ZipFile(made, "w", zipfile.ZIP_STORED) as archive:
        for at, row in enumerate(found.data, start=1):
            lines.append(csv_line(f"digit {at}", f"{at:04}.png", *(f"{value:g}" for value in row)))
            archive.writestr(zipfile.ZipInfo(f"{at:04}.png", day), _png(255 - np.kron(row.reshape(8, 8), _DOT) * 15.9))
        archive.writestr(zipfile.ZipInfo("digits.csv", day), "".join(lines))
    return made.getvalue()


_DOT = np.ones((8, 8))


def _png(gray: Any) -> bytes:
    """A picture in shades of gray as PNG."""
    rows = b"".join(b"\0" + bytes(row) for row in np.asarray(gray, dtype=np.uint8))
    height, width = gray.shape
    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    parts = [(b"IHDR", head), (b"IDAT", zlib.compress(rows, 9)), (b"IEND", b"")]
    sealed = (struct.pack(">I", len(c)) + name + c + struct.pack(">I", zlib.crc32(name + c)) for name, c in parts)
    return b"\x89PNG\r\n\x1a\n" + b"".join(sealed)


SAMPLES: dict[str, tuple[int, str, Callable[[], bytes], dict[str, Any]]] = {
    "wines": (178, "wines.csv", _wines_csv, {"scale": "standard"}),
    "letters to a bank": (40, "letters.csv", _notes_csv, {}),
    "digits": (1797, "digits.zip", _digits_zip, {"scale": "none"}),
}


def list_samples() -> list[dict[str, Any]]:
    """Names and sizes of the samples of the start page."""
    return [{"name": name, "items": items} for name, (items, *_) in SAMPLES.items()]


def sample(name: str) -> tuple[str, dict[str, str], dict[str, Any], bytes]:
    """Return file name, roles, options and content of a sample."""
    if name not in SAMPLES:
        msg = f"there is no sample {name!r}.\nHint: {', '.join(SAMPLES)}."
        raise LinkwiseError(msg)
    _, file, make, options = SAMPLES[name]
    raw = make()
    told = preview(file, raw, None, options)
    return file, {one["name"]: one["role"] for one in told["columns"]}, told["options"], raw
