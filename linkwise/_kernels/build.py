"""The build of the wheel ``linkwise-kernels``: ``python -m linkwise._kernels.build [FOLDER]``.

Compiles every recorded signature for the baseline processor of this platform, in one process and an empty cache folder,
and packs the entries. The wheel fits one version of linkwise, Numba, llvmlite and Python; its own version is that of
linkwise followed by that of Numba.
"""

from __future__ import annotations

import base64
import hashlib
import os
import platform
import re
import subprocess
import sys
import sysconfig
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from linkwise._kernels import _target, signatures
from linkwise._kernels.machine_code import code_home, entries
from linkwise._kernels.pack import NAME, PACKAGE, write_pack

# The processor that code is compiled for, in the words of LLVM, and the features that a processor must have to run it.
# Every processor of 64-bit ARM systems has those of its baseline.
BASELINES = {
    "x86_64": (
        "x86-64-v3",
        "avx avx2 bmi bmi2 cx16 f16c fma lzcnt movbe popcnt sahf sse3 sse4.1 sse4.2 ssse3 xsave".split(),
    ),
    "aarch64": ("generic", []),
    "arm64": ("apple-m1", []),
}


def main(folder: str = "dist") -> int:
    """Build the wheel in a process with the environment that it needs; print its path."""
    family = _target.platform().split("-")[0]
    if family not in BASELINES:
        print(f"error: no baseline processor is known for {family}.", file=sys.stderr)
        return 1
    own = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
    with tempfile.TemporaryDirectory(prefix="linkwise") as code:
        own |= {"NUMBA_CACHE_DIR": code, "NUMBA_CPU_NAME": BASELINES[family][0], "NUMBA_CPU_FEATURES": ""}
        own |= {"LINKWISE_PACK": "0", "LINKWISE_QUIET": "1"}
        inside = f"from linkwise._kernels.build import build; print(build({folder!r}, *{BASELINES[family]!r}))"
        return subprocess.run([sys.executable, "-c", inside], env=own, check=False).returncode  # noqa: S603


def build(folder: str, processor: str, features: list[str]) -> Path:
    """Compile everything and write the wheel into a folder."""
    signatures.compile_listed()
    header = {**_target.here(), "processor": processor, "features": features}
    return write_wheel(Path(folder), header, entries(code_home()))


def write_wheel(folder: Path, header: dict[str, Any], named: Iterator[tuple[str, bytes]]) -> Path:
    """Write a wheel with a pack of entries."""
    folder.mkdir(parents=True, exist_ok=True)
    known = header["versions"]
    version = wheel_version(known["linkwise"], known["Numba"])
    info, tag = f"{PACKAGE}-{version}.dist-info", _tag()
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    newer = int(known["NumPy"]) + 1
    with tempfile.TemporaryDirectory() as place:
        write_pack(Path(place, NAME), header, named)
        pack = Path(place, NAME).read_bytes()
    files = {
        f"{PACKAGE}/__init__.py": b'"""Compiled kernels of linkwise, which reads the file beside this one."""\n',
        f"{PACKAGE}/{NAME}": pack,
        f"{info}/METADATA": (
            f"Metadata-Version: 2.1\nName: linkwise-kernels\nVersion: {version}\n"
            f"Summary: Compiled kernels of linkwise {known['linkwise']} for {header['processor']}\n"
            f"License: BSD-3-Clause\nRequires-Python: =={python}.*\n"
            f"Requires-Dist: linkwise =={known['linkwise']}\nRequires-Dist: numba =={known['Numba']}\n"
            f"Requires-Dist: llvmlite =={known['llvmlite']}\nRequires-Dist: numpy >={known['NumPy']},<{newer}\n"
        ).encode(),
        f"{info}/WHEEL": f"Wheel-Version: 1.0\nGenerator: linkwise\nRoot-Is-Purelib: false\nTag: {tag}\n".encode(),
    }
    listed = "".join(f"{name},sha256={_digest(content)},{len(content)}\n" for name, content in files.items())
    files[f"{info}/RECORD"] = f"{listed}{info}/RECORD,,\n".encode()
    wheel = folder / f"{PACKAGE}-{version}-{tag}.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name)  # without a date
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, content, zipfile.ZIP_DEFLATED)
    return wheel


def wheel_version(own: str, numba: str) -> str:
    """The version of the wheel: 0.1.0 with Numba 0.68.1 is 0.1.0.0.68.1, and 0.2.0rc1 is 0.2.0.0.68.1rc1."""
    release, numbers = (re.match(r"\d+(?:\.\d+)*", version) for version in (own, numba))
    if release is None or numbers is None:
        msg = f"linkwise {own} or Numba {numba} is not a version, expected numbers such as 0.1.0."
        raise ValueError(msg)
    return f"{release.group()}.{numbers.group()}{own[release.end() :]}"


def _tag() -> str:
    """The tag of the wheel; it holds no library, so any system that has Numba will do."""
    system = sysconfig.get_platform()
    if system.startswith("linux"):
        libc = "manylinux_2_17" if platform.libc_ver()[0] == "glibc" else "musllinux_1_2"
        system = system.replace("linux", libc, 1)
    return f"cp{sys.version_info.major}{sys.version_info.minor}-none-{re.sub(r'[-.]', '_', system)}"


def _digest(content: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
