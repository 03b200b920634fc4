"""Compiled code is kept in the user's folder and in packs, and whatever happens to these files, results stay right."""

from __future__ import annotations

import base64
import csv
import errno
import hashlib
import importlib.util
import os
import re
import shutil
import sys
import zipfile
from pathlib import Path

import numba
import pytest
from numba.core import event

import linkwise
from linkwise._kernels import _announcement, _sources, _target, _tier, build, machine_code, pack as pack_module
from linkwise._kernels.build import wheel_version, write_wheel
from linkwise._kernels.machine_code import KernelCache, can_keep, code_home, entries
from linkwise._kernels.pack import Pack, UnusablePackError, installed_pack, read_header, write_pack
from linkwise._messages import in_shell

KERNELS = """
from linkwise._kernels import njit

@njit
def callee(x):
    return x + 1

@njit
def caller(x):
    return callee(x) * 2
"""


def header(**changes):
    return {**_target.here(), "processor": "any", "features": [], **changes}


class Compiled(event.Listener):
    def __init__(self):
        self.names = []

    def on_start(self, event):
        self.names.append(event.data["dispatcher"].py_func.__name__)

    def on_end(self, event):
        pass


class Installation:
    """A folder with a file of kernels, and one for compiled code; `run` is a new process as far as kernels know."""

    def __init__(self, folder, monkeypatch):
        self.folder, self.patch = folder, monkeypatch
        self.file = folder / "installed" / "kernels.py"
        self.file.parent.mkdir(parents=True)
        self.file.write_text(KERNELS)
        self.code = folder / "code"

    def run(self, argument=1.0):
        """The result of a call, and the kernels compiled for it."""
        self.patch.setattr(numba.config, "CACHE_DIR", str(self.code))
        for remembered in (_sources.source_stamp, _sources.kernel_sources, _sources._text):
            remembered.cache_clear()
        spec = importlib.util.spec_from_file_location("kernels", self.file)
        module = importlib.util.module_from_spec(spec)
        sys.dont_write_bytecode, before = True, sys.dont_write_bytecode
        try:
            spec.loader.exec_module(module)
        finally:
            sys.dont_write_bytecode = before
        with event.install_listener("numba:compile", Compiled()) as heard:
            return module.caller(argument), heard.names

    def entries(self, name=""):
        return sorted(file for file in self.code.glob("kernels-*/*") if file.name.startswith(name))

    def pack(self, **changes):
        """Pack all entries, for this machine unless changes say otherwise."""
        write_pack(self.folder / "kernels.pack", header(**changes), entries(self.code))
        return self.folder / "kernels.pack"


ALL = ["caller", "callee"]


@pytest.fixture
def make(tmp_path, monkeypatch):
    monkeypatch.setattr(_tier.SETTINGS, "limit", 0)
    monkeypatch.setattr(KernelCache, "failed", None)
    monkeypatch.setattr(machine_code, "installed_pack", Pack)
    return lambda name="here": Installation(tmp_path / name, monkeypatch)


@pytest.fixture(scope="module")
def code(tmp_path_factory):
    """Compiled code of both kernels, compiled once for all tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_tier.SETTINGS, "limit", 0)
        patch.setattr(machine_code, "installed_pack", Pack)
        made = Installation(tmp_path_factory.mktemp("code") / "here", patch)
        assert made.run() == (4.0, ALL)
        return made.code


@pytest.fixture
def compiled(make, code):
    made = make()
    shutil.copytree(code, made.code)
    return made


def use(monkeypatch, path):
    pack = Pack(path)
    monkeypatch.setattr(machine_code, "installed_pack", lambda: pack)
    return pack


# -- the folder of the user --------------------------------------------------------------------------------------------


def test_a_kernel_is_compiled_once_and_nothing_is_written_beside_the_sources(compiled):
    """So a read-only installation compiles once, and uninstalling leaves no folder that can be imported."""
    assert compiled.run() == (4.0, [])
    assert [file.name for file in compiled.file.parent.iterdir()] == ["kernels.py"]
    assert len(compiled.entries()) == 2
    assert not list(Path(linkwise.__file__).parent.rglob("*.turns"))


def test_a_copy_of_the_installation_elsewhere_shares_the_code(compiled, make):
    other = make("there")
    other.code = compiled.code
    os.utime(other.file, (1, 1))
    assert other.run() == (4.0, [])
    shutil.copytree(compiled.code, other.folder / "copied")  # as into an image
    other.code = other.folder / "copied"
    assert other.run() == (4.0, [])


def test_another_signature_is_another_entry(compiled):
    assert compiled.run(1) == (4, ALL)
    assert compiled.run(1) == (4, [])
    assert len(compiled.entries("caller-")) == 2


def test_constants_that_callers_write_out_need_no_code_of_their_own(make):
    """Nor does a number that a caller starts a loop with, which is constant only at the first look."""
    made = make()
    loop = "left = 7\n    for i in range(3):\n        x, left = callee(x, left)\n"
    calls = f"{loop}    return callee(x, 0)[0] + callee(x, -1)[0]"
    takes_a_number = KERNELS.replace("callee(x):\n    return x + 1", "callee(x, n):\n    return x + n, n - 1")
    made.file.write_text(takes_a_number.replace("return callee(x) * 2", calls))
    assert made.run() == (37.0, ALL)
    assert made.run() == (37.0, [])
    assert len(made.entries("callee-")) == 1


def test_an_upgrade_compiles_again_and_versions_that_are_not_used_go(compiled, monkeypatch):
    monkeypatch.setattr(machine_code, "VERSIONS", 2)

    def run(step):
        compiled.file.write_text(KERNELS.replace("x + 1", f"x + {step}"))
        for folder in compiled.code.glob("kernels-*"):  # whatever the resolution of its clock, older than what follows
            os.utime(folder, ns=(0, folder.stat().st_mtime_ns - 10**9))
        return compiled.run()

    assert run(2) == (6.0, ALL)
    assert run(2) == (6.0, [])
    assert run(1) == (4.0, [])
    assert run(3) == (8.0, ALL)
    assert len(list(compiled.code.glob("kernels-*"))) == 2
    assert run(1) == (4.0, [])
    assert run(2) == (6.0, ALL)


@pytest.mark.parametrize("other", ["processor", "settings", "versions"])
def test_code_for_another_processor_or_compiler_is_not_used(compiled, monkeypatch, other):
    if other == "processor":
        monkeypatch.setattr(numba.core.codegen.CPUCodegen, "magic_tuple", lambda _: ("x86_64", "another", "+none"))
    else:
        monkeypatch.setattr(machine_code, other, lambda: {"another": "one"})
    machine_code._machine.cache_clear()
    assert compiled.run() == (4.0, ALL)
    assert compiled.run() == (4.0, [])
    monkeypatch.undo()
    machine_code._machine.cache_clear()


def damage(content, how, other):
    return {
        "cut": content[: len(content) // 2],
        "empty": b"",
        "flipped": content[:-50] + bytes([content[-50] ^ 1]) + content[-49:],
        "text": b"not code",
        "of another signature": other,
    }[how]


@pytest.mark.parametrize("how", ["cut", "empty", "flipped", "text", "of another signature"])
def test_a_damaged_entry_is_as_if_there_were_none(compiled, how):
    (entry,) = compiled.entries("caller-")
    compiled.run(1)
    (other,) = {*compiled.entries("caller-")} - {entry}
    entry.write_bytes(damage(entry.read_bytes(), how, other.read_bytes()))
    assert compiled.run() == (4.0, ["caller"])
    assert compiled.run() == (4.0, [])


def test_on_a_full_disk_kernels_work_and_that_is_said_once(make, monkeypatch):
    made, heard = make(), []

    def full(self, content):
        self.touch()
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setenv("LINKWISE_QUIET", "0")
    with monkeypatch.context() as patch, in_shell(heard.append):
        patch.setattr(Path, "write_bytes", full)
        assert made.run() == (4.0, ALL)
        assert made.run() == (4.0, ALL)
    assert heard == [f"compiled kernels cannot be kept in {made.code}: No space left on device."]
    assert made.entries() == []  # no part of a file
    assert made.run() == (4.0, ALL)
    assert made.run() == (4.0, [])


def test_without_any_folder_kernels_work(make):
    made = make()
    made.code = made.file / "code"  # below a file
    assert made.run() == (4.0, ALL)
    assert made.run() == (4.0, ALL)
    assert not can_keep()


def test_code_is_read_from_a_folder_that_cannot_be_written(compiled, monkeypatch):
    """As in an image, where root has compiled into a folder that NUMBA_CACHE_DIR names."""
    monkeypatch.setattr(machine_code, "can_keep", lambda: False)
    assert compiled.run() == (4.0, [])


def test_others_cannot_write_to_the_folder_of_a_user_and_can_share_a_named_one(monkeypatch, tmp_path):
    before = os.umask(0)
    try:
        monkeypatch.setattr(machine_code, "code_home", lambda: tmp_path / "own")
        monkeypatch.setattr(numba.config, "CACHE_DIR", "")
        assert can_keep()
        monkeypatch.setattr(machine_code, "code_home", lambda: tmp_path / "shared")
        monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "shared"))
        assert can_keep()
    finally:
        os.umask(before)
    if os.name == "posix":
        assert [(tmp_path / name).stat().st_mode & 0o777 for name in ("own", "shared")] == [0o700, 0o777]


@pytest.mark.parametrize(
    ("platform", "environment", "expected"),
    [
        ("linux", {}, "~/.cache/linkwise"),
        ("linux", {"XDG_CACHE_HOME": "/cache"}, "/cache/linkwise"),
        ("linux", {"XDG_CACHE_HOME": "not/absolute"}, "~/.cache/linkwise"),
        ("darwin", {}, "~/Library/Caches/linkwise"),
        ("win32", {"LOCALAPPDATA": "/local"}, "/local/linkwise/Cache"),
        ("win32", {"LOCALAPPDATA": ""}, "~/AppData/Local/linkwise/Cache"),
    ],
)
def test_the_folder_follows_the_custom_of_the_system(monkeypatch, platform, environment, expected):
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    monkeypatch.setattr(sys, "platform", platform)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert code_home() == Path(expected).expanduser()
    monkeypatch.setattr(numba.config, "CACHE_DIR", "/named")
    assert code_home() == Path("/named")


# -- the pack ----------------------------------------------------------------------------------------------------------


def test_a_pack_serves_another_installation_and_is_never_written(compiled, make, monkeypatch):
    path, other = compiled.pack(), make("there")
    before = path.read_bytes()
    assert len(use(monkeypatch, path)) == 2
    assert other.run() == (4.0, [])
    assert not other.code.exists()
    assert other.run(1) == (4, ALL)  # not packed
    assert len(other.entries()) == 2
    assert path.read_bytes() == before


def test_small_work_uses_packed_code(compiled, make, monkeypatch):
    use(monkeypatch, compiled.pack())
    monkeypatch.setattr(_tier.SETTINGS, "limit", _tier.LIMIT)
    monkeypatch.setattr(_tier, "interpreted", None)
    assert make("there").run() == (4.0, [])


def test_new_callers_link_to_packed_kernels(compiled, make, monkeypatch):
    for entry in compiled.entries("caller-"):
        entry.unlink()
    use(monkeypatch, compiled.pack())
    assert make("there").run() == (4.0, ["caller"])


def test_packed_code_of_other_sources_is_not_used(compiled, make, monkeypatch):
    use(monkeypatch, compiled.pack())
    other = make("there")
    other.file.write_text(KERNELS.replace("x + 1", "x + 2"))
    assert other.run() == (6.0, ALL)


HERE = _target.here()
WRONG = {
    "linkwise": ({"versions": {**HERE["versions"], "linkwise": "9.9"}}, "built for linkwise 9.9, and this is", True),
    "numba": ({"versions": {**HERE["versions"], "Numba": "0.1"}}, "built for Numba 0.1, and this is", True),
    "python": ({"versions": {**HERE["versions"], "Python": "cpython-27"}}, "built for Python cpython-27", True),
    "platform": ({"platform": "vax-dec-ultrix"}, "built for vax-dec-ultrix", False),
    "feature": ({"features": ["telepathy"]}, "this processor lacks telepathy", False),
    "setting": ({"settings": {**HERE["settings"], "OPT": "0"}}, "not for these settings of Numba: OPT", False),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_pack_for_something_else_is_not_used(compiled, make, monkeypatch, wrong):
    changes, words, can_act = WRONG[wrong]
    pack = use(monkeypatch, compiled.pack(**changes))
    assert len(pack) == 0
    assert words in str(pack.refusal)
    assert bool(pack.refusal.hint) is can_act
    assert make("there").run() == (4.0, ALL)


@pytest.mark.parametrize("name", ["BOUNDSCHECK", "OPT", "ENABLE_AVX", "DEBUGINFO_DEFAULT"])
def test_a_pack_is_not_used_when_the_user_asks_for_other_code(compiled, monkeypatch, name):
    path = compiled.pack()
    monkeypatch.setattr(numba.config, name, 7)
    assert f"settings of Numba: {name}" in str(Pack(path).refusal)


@pytest.mark.parametrize("name", ["CPU_NAME", "CPU_FEATURES"])
def test_no_pack_is_looked_for_when_the_user_names_a_processor(monkeypatch, name):
    monkeypatch.setattr(numba.config, name, "generic")
    assert "NUMBA_CPU_NAME" in str(installed_pack.__wrapped__().refusal)


def spoil(content, how):
    header = len(pack_module.MAGIC) + 8 + 32
    return {
        "empty": b"",
        "magic": b"X" + content[1:],
        "length": content[: len(pack_module.MAGIC)] + b"\xff" * 8 + content[len(pack_module.MAGIC) + 8 :],
        "header": content[: header + 9] + b"!" + content[header + 10 :],
        "cut in the header": content[: header + 20],
        "cut in an entry": content[:-9],
        "longer": content + b"more",
        "a pickle": b"cos\nsystem\n(S'exit 1'\ntR.",
    }[how]


@pytest.mark.parametrize(
    "how", ["empty", "magic", "length", "header", "cut in the header", "cut in an entry", "longer", "a pickle"]
)
def test_a_damaged_pack_is_not_used(compiled, monkeypatch, how):
    path = compiled.pack()
    path.write_bytes(spoil(path.read_bytes(), how))
    pack = Pack(path)
    assert len(pack) == 0
    assert str(pack.refusal) == f"{path} is damaged"
    assert "--force-reinstall --no-deps dist/linkwise_kernels-" in pack.refusal.hint


def test_a_damaged_entry_of_a_pack_is_compiled(compiled, make, monkeypatch):
    path = compiled.pack()
    content = bytearray(path.read_bytes())
    content[-20] ^= 1
    path.write_bytes(content)
    pack = use(monkeypatch, path)
    assert len(pack) == 2
    assert make("there").run() == (4.0, ["caller"])  # the last entry; its callee is intact
    assert "is damaged" in str(pack.refusal)


def test_a_pack_that_anyone_may_write_is_not_used(compiled):
    path = compiled.pack()
    path.chmod(0o666)
    assert Pack(path).refusal.hint == (f"chmod o-w {path}" if os.name == "posix" else "")


def test_a_pack_is_looked_for_among_installed_packages_only(compiled, monkeypatch, tmp_path):
    """A file in the working folder or elsewhere on the path is not one that was installed."""
    lying = tmp_path / "linkwise_kernels"
    lying.mkdir()
    shutil.copy(compiled.pack(), lying / "kernels.pack")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    assert installed_pack.__wrapped__().path != lying / "kernels.pack"
    monkeypatch.setattr(pack_module.site, "getsitepackages", lambda: [str(tmp_path)])
    assert installed_pack.__wrapped__().path != lying / "kernels.pack"  # nor is one without the notes of an installer
    (tmp_path / "linkwise_kernels-1.dist-info").mkdir()
    (tmp_path / "linkwise_kernels-1.dist-info" / "RECORD").touch()
    assert len(installed_pack.__wrapped__()) == 2
    monkeypatch.setenv("LINKWISE_PACK", "0")
    assert len(installed_pack.__wrapped__()) == 0


def test_the_header_can_be_read_by_people(compiled):
    path = compiled.pack()
    read, start = read_header(path)
    assert read["versions"]["Numba"] == numba.__version__
    assert re.fullmatch(r"kernels-\w{16}/callee-\w{20}", min(read["entries"]))
    assert start + sum(place[1] for place in read["entries"].values()) == path.stat().st_size


# -- the companion wheel -----------------------------------------------------------------------------------------------


def test_the_wheel_installs_a_pack_that_is_found(compiled, make, monkeypatch):
    wheel = write_wheel(compiled.folder / "dist", header(), entries(compiled.code))
    site = compiled.folder / "site"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
        listed = archive.read(next(name for name in archive.namelist() if name.endswith("/RECORD"))).decode()
        for row in csv.reader(listed.splitlines()):
            content = archive.read(row[0])
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip("=")
            assert row[0].endswith("RECORD") or row[1:] == [f"sha256={digest}", str(len(content))]
        assert len(listed.splitlines()) == len(archive.namelist())
    told = next(site.glob("*/METADATA")).read_text()
    for name, version in (("linkwise", linkwise.__version__), ("numba", numba.__version__)):
        assert f"Requires-Dist: {name} =={version}\n" in told
    monkeypatch.setattr(pack_module.site, "getsitepackages", lambda: [str(site)])
    pack = installed_pack.__wrapped__()
    assert len(pack) == 2
    monkeypatch.setattr(machine_code, "installed_pack", lambda: pack)
    assert make("there").run() == (4.0, [])


@pytest.mark.parametrize(
    ("own", "other", "expected"),
    [("0.1.0", "0.68.1", "0.1.0.0.68.1"), ("0.2.0rc1", "0.68.1", "0.2.0.0.68.1rc1"), ("1.0", "1.0.dev3", "1.0.1.0")],
)
def test_the_wheel_has_the_versions_of_linkwise_and_numba(own, other, expected):
    assert wheel_version(own, other) == expected


def test_a_baseline_is_known_for_this_platform_and_others_are_refused(monkeypatch, capsys):
    processor, features = build.BASELINES[_target.platform().split("-")[0]]
    assert processor
    assert all(isinstance(feature, str) for feature in features)
    monkeypatch.setattr(_target, "platform", lambda: "vax-dec-ultrix")
    assert build.main() == 1
    assert capsys.readouterr().err == "error: no baseline processor is known for vax.\n"


# -- the announcement --------------------------------------------------------------------------------------------------


def dispatcher(size):
    """A kernel of the library with about that many bytes of code."""
    source = "def kernel(x):\n" + "    x = x + 1\n" * (size // 10)
    scope = {"__name__": "linkwise.something"}
    exec(source, scope)
    return numba.njit(scope["kernel"])


def announced(*kernels):
    heard, listener = [], _announcement._Announce()
    with in_shell(heard.append):
        for kernel in kernels:
            listener.on_start(event.Event("numba:compile", event.EventStatus.START, data={"dispatcher": kernel}))
    return heard


def test_compiling_is_announced_once_and_only_where_it_takes_long(monkeypatch):
    monkeypatch.setenv("LINKWISE_QUIET", "0")
    short, long = dispatcher(100), dispatcher(100_000)
    assert announced(short, short, short) == []
    (words,) = announced(long, long)
    assert words.startswith("compiling kernels, which can take a minute (once for this kind of work; ")
    assert len(announced(*(dispatcher(100) for _ in range(100)))) == 1
    monkeypatch.setenv("LINKWISE_QUIET", "1")
    assert announced(long) == []


def test_the_announcement_tells_what_a_person_can_change(monkeypatch):
    monkeypatch.setenv("LINKWISE_QUIET", "0")
    long, pack = dispatcher(100_000), Pack()
    monkeypatch.setattr(_announcement, "installed_pack", lambda: pack)
    assert "linkwise-kernels is" not in announced(long)[0]
    pack.refusal = UnusablePackError("this processor lacks avx2")
    assert "linkwise-kernels is" not in announced(long)[0]
    pack.refusal = UnusablePackError("built for Numba 0.1, and this is 0.2", "pip install this")
    assert "linkwise-kernels is not used: built for Numba 0.1, and this is 0.2. Hint: pip" in announced(long)[0]
    monkeypatch.setattr(_announcement, "can_keep", lambda: False)
    assert "each time, since no folder for compiled code can be written; NUMBA_CACHE_DIR" in announced(long)[0]
