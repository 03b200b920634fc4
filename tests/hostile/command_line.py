"""Run the verbs of the command line on damaged files and odd cells, and say which of them break a promise.

::

    python -m tests.hostile.command_line --cases 3000 --seed 0
    python -m tests.hostile.command_line --show 417          one case: the command, the file, what it printed
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import io
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq

os.environ.setdefault("LINKWISE_QUIET", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import linkwise.exceptions
from linkwise.cli import main as run_command
from linkwise.exceptions import LinkwiseError

SLOW = 60.0  # seconds of processor time
ROWS = [(f"n{i:02d}", round(i % 3 * 10 + 0.1 * i, 1), round(i * 7 % 5 * 0.3, 1), "ab"[i % 2]) for i in range(12)]
SAID = "kind,a,b,c,weight\nmust_link,n00,n03,,\ncannot_link,n00,n01,,\ntriplet,n00,n03,n01,\nmust_link,n05,n08,,0.5\n"
PAIRS = "kind,a,b\nmust_link,0,3\nmust_link,6,3\ncannot_link,0,1\n"
NAMED = "kind,a,b\nmust_link,n00,n03\nmust_link,n06,n03\nmust_link,n05,n08\ncannot_link,n00,n01\ncannot_link,n04,n08\n"
PATHS = "sample,path\n" + "".join(f"n{i:02d},A/{'BCD'[i % 3]}\n" for i in range(9))
TRUTH = "name,class\n" + "".join(f"n{i:02d},{'xyz'[i % 3]}\n" for i in range(12))

# what a cell may hold
CELLS = [
    "", " ", "nan", "NaN", "inf", "-inf", "1e308", "-1e308", "1e400", "1e-320", "-0", "0x1F", "1_000", "1,5",
    "１２", "null", "None", "NA", "=1+1", "\u202eabc", "a\nb", '"', "'", ";", "\t", "\x00", "😀", "é", "e\u0301",
    "007", "1.0", "TRUE", "n00", "n01", "N01", " n01", "9" * 30, "x" * 5000, "../../etc", "<script>", "%s%n",
    "{}", "[1]", "must_link", "triplet", "-1", "2026-11-19", "0.1.2", "1;2;3", "A/B/C", "//", "\ufeff",
    "\u2028", "12 kg", "--help", "$(id)",
]  # fmt: skip

# every verb, with one file in each place where it takes one; `bad` is the damaged one
LINES = [
    "look bad:data",
    "cluster bad:data --id name --categories color -k 2 -o out",
    "cluster bad:data --id name -k 3 -c said.csv -o out --drop color",
    "cluster bad:data --id name -o out --scale auto --impute median --categories auto",
    "cluster data.csv --id name --drop color -k 3 -c bad:said -o out",
    "cluster data.csv --id name --drop color -c bad:said -o out --skip-bad",
    "cluster data.csv --id name --drop color -k 3 -c bad:paths -o out",
    "cluster bad:rows --workers 0 -k 2 -o out",
    "cluster bad:table --workers 0 -k 2 --id name --columns x,y -c named.csv -o out",
    "cluster rows.parquet --workers 0 -k 2 -c bad:pairs -o out --block-rows 5",
    "cluster data.csv --id name --drop color -k 3 -c said.csv -o out --method bad:word",
    "check bad:said",
    "check bad:said --data data.csv --id name --drop color",
    "check said.csv --data bad:data --id name",
    "check bad:pairs --stream",
    "check bad:pairs --stream -k 2",
    "explain bad:said",
    "repair bad:said --auto -o out.csv",
    "repair bad:said --drop 2 -o out.csv",
    "doubt bad:data --id name --drop color -k 3 -c named.csv",
    "doubt data.csv --id name --drop color -k 3 -c bad:named --auto -o out.csv",
    "ask bad:data --id name --drop color --log out.jsonl",
    "ask data.csv --id name --drop color --log out.jsonl -c bad:named",
    "ask data.csv --id name --drop color --log bad:log",
    "why bad:result n01 n02",
    "why result bad:word n02",
    "why result n01 n02 -c bad:said",
    "assign bad:result data.csv -o out.csv",
    "assign result bad:data -o out.csv",
    "refine bad:result paths.csv -o out.csv",
    "refine result bad:paths -o out.csv",
    "duplicates bad:data --id name --block color -o out.csv",
    "duplicates bad:data --block name --threshold 0.5 -o out.csv",
    "plot bad:result -o out.svg",
    "report bad:result -o out.html",
    "report result --truth bad:truth -o out.json",
    "score bad:result truth.csv --id name",
    "score result bad:truth --id name",
    "compare bad:result result",
    "compare result bad:labels",
    "select bad:named -m 2 -o out.csv",
    "convert bad:said out.csv",
    "convert bad:paths out.jsonl",
    "convert bad:tree out.nwk",
    "convert bad:tree out.parquet",
]
VERBS = [tuple(line.split()) for line in LINES]
SUFFIXES = {
    "data": (".csv", ".tsv", ".parquet", ".arrow", ".npy", ".npz", ".xlsx", ".lw", ".csv.gz"),
    "said": (".csv", ".jsonl", ".json", ".txt", ".parquet"),
    "pairs": (".csv", ".parquet"),
    "named": (".csv",),
    "rows": (".parquet", ".npy"),
    "table": (".parquet",),
    "log": (".jsonl",),
    "paths": (".csv", ".nwk", ".json"),
    "truth": (".csv", ".parquet"),
    "labels": (".csv",),
    "result": (".lwm", ".nwk", ".csv", ".json", ""),
    "tree": (".nwk", ".json", ".npy", ".lwm", ".parquet"),
}


def prepare(folder):
    """Write sound files of every sort, and a result, into a folder; return the content of each sort and suffix."""
    header = ["name", "x", "y", "color"]
    names, x, y, color = (list(column) for column in zip(*ROWS, strict=True))
    table = pa.table({"name": names, "x": x, "y": y, "color": color})
    text = "\n".join([",".join(header), *(",".join(map(str, row)) for row in ROWS)]) + "\n"
    (folder / "data.csv").write_text(text)
    for name, content in (("said", SAID), ("pairs", PAIRS), ("named", NAMED), ("paths", PATHS), ("truth", TRUTH)):
        (folder / f"{name}.csv").write_text(content)
    pq.write_table(table.select(["x", "y"]), folder / "rows.parquet")
    with contextlib.chdir(folder), silence("y\nn\n3\n"):
        code = run_command(
            ["cluster", "data.csv", "--id", "name", "--drop", "color", "-k", "3", "-c", "said.csv", "-o", "result"]
        )
        log = ["ask", "data.csv", "--id", "name", "--drop", "color", "--log", "log.jsonl", "--budget", "3"]
        asked = run_command(log)
    assert code == asked == 0
    found = {("data", ".csv"): text.encode(), ("data", ".tsv"): text.replace(",", "\t").encode()}
    for suffix, write in ((".parquet", pq.write_table), (".arrow", pyarrow.feather.write_feather)):
        held = io.BytesIO()
        write(table, held)
        found["data", suffix] = held.getvalue()
    for suffix, write in ((".npy", np.save), (".npz", np.savez)):
        held = io.BytesIO()
        write(held, np.column_stack([x, y]))
        found["data", suffix] = held.getvalue()
    import gzip

    import openpyxl

    book, held = openpyxl.Workbook(), io.BytesIO()
    for row in [header, *ROWS]:
        book.active.append(row)
    book.save(held)
    found["data", ".xlsx"] = held.getvalue()
    found["data", ".lw"] = b"SQLite format 3\x00" + bytes(200)
    found["data", ".csv.gz"] = gzip.compress(text.encode(), mtime=0)
    lines = [
        dict(zip(SAID.split("\n", 1)[0].split(","), row.split(","), strict=True)) for row in SAID.split("\n")[1:-1]
    ]
    entries = [{key: value for key, value in line.items() if value} for line in lines]
    found |= {("said", suffix): SAID.encode() for suffix in (".csv", ".txt")}
    found |= {("said", suffix): "\n".join(map(json.dumps, entries)).encode() for suffix in (".jsonl", ".json")}
    held = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(lines), held)
    found["said", ".parquet"] = held.getvalue()
    held = io.BytesIO()
    pq.write_table(pa.table({"kind": ["must_link", "cannot_link"], "a": [0, 3], "b": [3, 1]}), held)
    found |= {("pairs", ".csv"): PAIRS.encode(), ("pairs", ".parquet"): held.getvalue()}
    found["log", ".jsonl"] = (folder / "log.jsonl").read_bytes()
    found |= {("named", ".csv"): NAMED.encode(), ("table", ".parquet"): found["data", ".parquet"]}
    found |= {("rows", ".parquet"): (folder / "rows.parquet").read_bytes(), ("rows", ".npy"): found["data", ".npy"]}
    tree = (folder / "result" / "tree.nwk").read_bytes()
    nested = {
        "name": "all",
        "children": [{"name": "A", "children": [{"name": "n00"}, {"name": "n01"}]}, {"name": "n02"}],
    }
    found |= {("paths", ".csv"): PATHS.encode(), ("paths", ".nwk"): b"((n00,n01)A,(n02,n03)B);"}
    found |= {("paths", ".json"): json.dumps(nested).encode(), ("truth", ".csv"): TRUTH.encode()}
    held = io.BytesIO()
    pq.write_table(pa.table({"name": names, "class": list("xyz") * 4}), held)
    found["truth", ".parquet"] = held.getvalue()
    labels, model = ((folder / "result" / name).read_bytes() for name in ("labels.csv", "model.lwm"))
    found |= {
        ("labels", ".csv"): labels,
        ("result", ".csv"): labels,
        ("result", ".lwm"): model,
        ("tree", ".lwm"): model,
    }
    found |= {("result", ".nwk"): tree, ("tree", ".nwk"): tree, ("result", ""): b"", ("result", ".json"): b"{}"}
    for suffix in (".json", ".npy", ".parquet"):
        with contextlib.chdir(folder), silence():
            assert run_command(["convert", "result/tree.nwk", f"tree{suffix}"]) == 0
        found["tree", suffix] = (folder / f"tree{suffix}").read_bytes()
    found["result", ".json"] = found["tree", ".json"]
    return found


@contextlib.contextmanager
def silence(answers=""):
    """Catch what is printed inside the block, and give answers to what is asked."""
    streams = [io.TextIOWrapper(io.BytesIO(), "utf-8", newline="") for _ in range(2)]
    kept, sys.stdin = sys.stdin, io.StringIO(answers)
    try:
        with contextlib.redirect_stdout(streams[0]), contextlib.redirect_stderr(streams[1]):
            yield streams
    finally:
        sys.stdin = kept


def text_of(stream):
    stream.flush()
    return stream.buffer.getvalue().decode("utf-8", "replace")


# -- damage ------------------------------------------------------------------------------------------------------------


def damage(r, content, suffix):
    """One way of damaging a file; its name, and the new content, or None for a file that is not there."""
    ways = [nothing, gone, cut, flip, foreign, doubled, header_only, one_row]
    if suffix in (".csv", ".tsv", ".txt", ".jsonl", ".json", ".nwk"):
        ways += [cells, cells, cells, cells, ragged, encoded, ends, columns, columns, shuffled]
    return (way := r.choice(ways)).__name__, way(r, content)


def nothing(r, content):
    return r.choice([b"", b"\n", b"\n\n", b" ", b"\x00", b"\xef\xbb\xbf", b"\r\n"])


def gone(r, content):
    return None


def cut(r, content):
    return content[: r.randrange(len(content) + 1)]


def flip(r, content):
    changed = bytearray(content)
    for _ in range(r.choice([1, 1, 3, 10])):
        if changed:
            changed[r.randrange(len(changed))] = r.randrange(256)
    return bytes(changed)


def foreign(r, content):
    return r.choice(
        [b"\x89PNG\r\n\x1a\n" + bytes(30), b"PK\x03\x04" + bytes(40), b"%PDF-1.7\n", b"{", b"[]", b"null",
         b"<html></html>", b"1,2,3\n4,5,6\n",
         b"\x1f\x8b\x08\x00", b"PAR1", b"SQLite format 3\x00", b"\x93NUMPY\x01\x00v\x00{}", b"a", b"a,b,c",
         b"((a,b),c);", b"(((", b"sample,cluster\n", bytes(range(256))]
    )  # fmt: skip


def doubled(r, content):
    return content + content


def header_only(r, content):
    return content.split(b"\n", 1)[0] + b"\n"


def one_row(r, content):
    return b"\n".join(content.split(b"\n")[:2]) + b"\n"


def lines_of(content):
    text = content.decode("utf-8", "replace")
    mark = "\t" if "\t" in text.split("\n", 1)[0] else ","
    return [line.split(mark) for line in text.split("\n")], mark


def cells(r, content):
    """Put odd things into some cells."""
    rows, mark = lines_of(content)
    for _ in range(r.choice([1, 1, 1, 2, 5, 40])):
        row = r.choice(rows[r.random() < 0.8 :] or rows)
        cell = r.choice(CELLS)
        if r.random() < 0.5 and any(c in cell for c in '\n",;\t'):
            cell = '"' + cell.replace('"', '""') + '"'
        row[r.randrange(len(row))] = cell
    return "\n".join(mark.join(row) for row in rows).encode("utf-8", "surrogatepass")


def ragged(r, content):
    rows, mark = lines_of(content)
    row = r.choice(rows)
    row[:] = [*row, "1"] if r.random() < 0.5 else row[:-1]
    return "\n".join(mark.join(row) for row in rows).encode()


def encoded(r, content):
    text = content.decode("utf-8", "replace").replace("n0", "é0")
    return text.encode(r.choice(["utf-16", "utf-32", "latin-1", "utf-8-sig", "utf-16-le", "cp037"]), "replace")


def ends(r, content):
    return content.replace(b"\n", r.choice([b"\r\n", b"\r", b"\n\n", b"\n \n", b""]))


def columns(r, content):
    """Drop, repeat, rename or empty a column."""
    rows, mark = lines_of(content)
    at, way = r.randrange(len(rows[0])), r.randrange(5)
    for number, row in enumerate(rows):
        if at >= len(row):
            continue
        if way == 0:
            del row[at]
        elif way == 1:
            row.insert(at, row[at])
        elif way == 2 and number == 0:
            row[at] = r.choice(CELLS)
        elif way == 3 and number:
            row[at] = r.choice(["", "1", "n00", row[at] * 2])
        elif way == 4 and number:
            row[at] = CELLS[(at + number) % len(CELLS)]
    return "\n".join(mark.join(row) for row in rows).encode("utf-8", "surrogatepass")


def shuffled(r, content):
    rows = content.split(b"\n")
    r.shuffle(rows)
    return b"\n".join(rows)


# -- one case ----------------------------------------------------------------------------------------------------------


class Case:
    """A verb and a damaged file, both drawn from a seed."""

    def __init__(self, seed, sound, verb=None):
        r = random.Random(seed)
        self.seed = seed
        words = list(VERBS[verb] if verb is not None else r.choice(VERBS))
        self.at = next(i for i, word in enumerate(words) if word.startswith("bad:"))
        sort = words[self.at].removeprefix("bad:")
        self.files = {}
        if sort == "word":
            words[self.at], self.way = r.choice(CELLS), "word"
        else:
            suffix = r.choice(SUFFIXES[sort]) if r.random() < 0.5 else SUFFIXES[sort][0]
            self.way, content = damage(r, sound[sort, suffix], suffix)
            words[self.at] = f"bad{suffix}"
            self.files[words[self.at]] = content
        self.as_json = r.random() < 0.5
        self.words = [*words, *(["--json"] if self.as_json else [])]


ALLOWED = {0, 1, 2, 3, 4}
OWN = {
    name for name, cls in vars(linkwise.exceptions).items() if isinstance(cls, type) and issubclass(cls, LinkwiseError)
}
OWN |= {
    "UsageError",
    "BadParameter",
    "NoSuchOption",
    "BadOptionUsage",
    "MissingParameter",
    "ClickException",
    "FileError",
}
FILES = {
    "FileNotFoundError",
    "IsADirectoryError",
    "NotADirectoryError",
    "PermissionError",
    "OSError",
}  # told with a name


def examine(case, folder, tally):
    """Run a case in a folder with sound files; return what it broke."""
    found = []
    for name, content in case.files.items():
        if content is not None:
            (folder / name).write_bytes(content)
    before = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    with contextlib.chdir(folder), silence() as (out, err):
        try:
            code = run_command(case.words)
        except Exception:  # noqa: BLE001 - whatever comes is a failure
            code = None
            found.append(("raised", traceback.format_exc(limit=-2).replace("\n", " ")[-300:]))
    said, told = text_of(out), text_of(err)
    tally[code] += 1
    if code is None:
        pass
    elif code not in ALLOWED:
        found.append(("exit code", str(code)))
    if "should not have" in told or "Traceback" in told or "fault of linkwise" in told:
        found.append(("a fault", told[:300]))
    if code in (1, 2):
        found += _judge_error(case, told)
        left = [
            str(path.relative_to(folder))
            for path in folder.rglob("*")
            if path.name.startswith("out") or path.suffix == ".partial"
        ]
        if left:
            found.append(("left behind", str(left)))
    if code == 0 and case.as_json:
        try:
            json.loads(said)
        except ValueError as bad:
            found.append(("standard output is not JSON", f"{bad} {said[:80]!r}"))
    if code == 0 and case.words[0] == "cluster" and "--workers" not in case.words:
        found += _judge_labels(folder)
    written = case.words[case.words.index("--log") + 1] if "--log" in case.words else None
    changed = [name for name, content in before.items() if name != written and (folder / name).read_bytes() != content]
    if changed:
        found.append(("a file that was read has changed", str(changed)))
    for path in folder.iterdir():
        if path.name.startswith((".", "out", "bad")):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    return found


def _judge_error(case, told):
    if case.as_json:
        try:
            last = json.loads(told.strip().splitlines()[-1])
        except (ValueError, IndexError):
            return [("the error is not JSON", told[-200:])]
        kind, words = last.get("kind", ""), last.get("error", "")
        if kind not in OWN | FILES and not last.get("hint") and "expected" not in words:
            return [(f"bare {kind}", words[:200])]
        return [] if words.strip() else [("an error without words", told[-200:])]
    if "rror" not in told:
        return [("an exit code without an error", told[-200:])]
    return []


def _judge_labels(folder):
    """Each row of labels.csv has a name and a whole number."""
    with (folder / "out" / "labels.csv").open(newline="", encoding="utf-8-sig") as file:
        rows = list(csv.reader(file))
    bad = [row for row in rows[1:] if len(row) < 2 or not row[0] or not row[1].lstrip("-").isdigit()]
    names = [row[0] for row in rows[1:]]
    wrong = [("labels that are not numbers", str(bad[:2]))] if bad else []
    return wrong + ([("two rows of one name", "")] if len(set(names)) < len(names) else [])


class TooSlow(BaseException):
    """One case took too much processor time."""


def _stop(*_):
    raise TooSlow


def main():
    """Run the campaign; return 1 if anything broke."""
    parser = argparse.ArgumentParser(prog="python -m tests.hostile.command_line", description=__doc__.split("\n", 1)[0])
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--verb", type=int, help="only this entry of VERBS")
    parser.add_argument("--show", type=int, metavar="SEED")
    chosen = parser.parse_args()
    signal.signal(signal.SIGVTALRM, _stop)
    tally, failures, ways = Counter(), {}, Counter()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        sound = prepare(folder)
        if chosen.show is not None:
            return show(Case(chosen.show, sound, chosen.verb), folder)
        began = time.process_time()
        for seed in range(chosen.seed, chosen.seed + chosen.cases):
            case = Case(seed, sound, chosen.verb)
            ways[case.way] += 1
            signal.setitimer(signal.ITIMER_VIRTUAL, SLOW)
            try:
                found = examine(case, folder, tally)
            except TooSlow:
                found = [("slow", f"more than {SLOW:g} CPU seconds")]
            finally:
                signal.setitimer(signal.ITIMER_VIRTUAL, 0)
            for sort, detail in found:
                failures.setdefault((case.words[0], sort), []).append((seed, case.way, " ".join(case.words), detail))
        spent = time.process_time() - began
    print(f"{chosen.cases:,} cases, {spent:.0f} CPU seconds; exit codes {dict(tally)}; {dict(ways)}")
    for (verb, sort), cases in sorted(failures.items(), key=lambda item: -len(item[1])):
        seed, way, words, detail = cases[0]
        print(f"{len(cases):5,}  {verb}: {sort} (--show {seed}) {way} `{words[:110]}` {detail[:260]}")
    print(f"{sum(map(len, failures.values())):,} failures")
    return 1 if failures else 0


def show(case, folder):
    """Print one case."""
    print(
        " ".join(case.words),
        case.way,
        *(f"{name}: {content!r}"[:2000] for name, content in case.files.items()),
        sep="\n",
    )
    for name, content in case.files.items():
        if content is not None:
            (folder / name).write_bytes(content)
    with contextlib.chdir(folder):
        print("exit code", run_command(case.words))
        if (folder / "out").is_dir():
            shutil.rmtree(folder / "out")
        for path in folder.glob("out*"):
            path.unlink()
    found = examine(case, folder, Counter())
    print(*found, sep="\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
