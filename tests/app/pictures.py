"""Small pictures and archives of them, for tests."""

from __future__ import annotations

import io
import zipfile

import numpy as np


def square(kind, seed=0, form="PNG"):
    """A picture of one of three kinds: red with stripes across, green with stripes down, blue with noise."""
    from PIL import Image

    rng = np.random.default_rng(seed)
    pixels = np.zeros((60, 80, 3))
    pixels[..., kind % 3] = 180
    if kind == 0:
        pixels[::6] += 70
    elif kind == 1:
        pixels[:, ::6] += 70
    pixels += rng.integers(0, 25, pixels.shape)
    made = io.BytesIO()
    Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8)).save(made, form)
    return made.getvalue()


def archive(files):
    """A zip archive of files by name."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as out:
        for name, content in files.items():
            out.writestr(name, content)
    return made.getvalue()
