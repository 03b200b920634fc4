"""Computing what ``quality.py`` shows: a curve for each contender, set, source, share of wrong answers and seed."""

from __future__ import annotations

import atexit
import functools
import hashlib
import json
import os
import select
import signal
import subprocess
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks import _quality_knowledge as knowledge
from benchmarks._data import ONE_THREAD, Ints
from benchmarks._quality_contenders import CONTENDERS, Case, Found, labels_of
from benchmarks._quality_knowledge import Knowledge, amounts, samples
from linkwise import Kind, metrics
from studies.experiments._cell import canonical
from studies.experiments._store import Store

LIMIT = 20.0  # seconds for a fit
PATIENCE = 120.0  # seconds more until a peer's Python is given up, which may have to compile first
FEWEST = 20  # samples no statement names that are judged by themselves
CHILD = Path(__file__).with_name("_quality_child.py")
Task = dict[str, Any]


class OutOfTime(BaseException):
    """The time for a fit is over; no Exception, so that no engine takes it for one of its own."""


# -- what there is to do -------------------------------------------------------------------------------------------


def key_of(task: Task) -> str:
    """Where the record of a task is kept: its content, and how many samples sets have."""
    return hashlib.sha256(canonical([task, knowledge.MOST]).encode()).hexdigest()


def draws(sets: Sequence[str], sources: Sequence[str], wrong: Sequence[float], seeds: int) -> list[Task]:
    """Lists of statements, seeds outermost, so that whoever stops it has some of all."""
    return [
        {"draw": name, "source": source, "wrong": share, "seed": seed}
        for seed in range(seeds)
        for name in sets
        for source in sources
        for share in wrong
    ]


def curves(
    names: Iterable[str], sets: Sequence[str], sources: Sequence[str], wrong: Sequence[float], seeds: int
) -> list[Task]:
    """Curves of contenders; what is found without knowledge is the same for all sources and computed once."""
    found: list[Task] = []
    for draw in draws(sets, ["none", *sources], wrong, seeds):
        for name in names:
            who, source = CONTENDERS[name], draw["source"]
            left_out = (
                draw["seed"] >= who.seeds
                or (source == "none" and draw["wrong"] != wrong[0])
                or (source != "none" and who.takes in ("nothing", "sizes"))
                or (source == "active" and who.takes == "triplets")
                or (source in ("random", "informative") and who.takes == "questions")
            )
            if not left_out:
                share = {"wrong": 0.0} if source == "none" else {}
                task = {**draw, **share, "curve": name, "set": draw["draw"], "params": dict(who.params)}
                del task["draw"]
                found.append(task)
    return found


# -- computing -----------------------------------------------------------------------------------------------------


def compute(task: Task, keep: str, python: str) -> dict[str, Any]:
    """Do a task, in whatever process."""
    with threadpool_limits(limits=1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if "draw" in task:
            return knowledge.draw(task["draw"], task["source"], task["wrong"], task["seed"])
        return compute_curve(task, keep, python)


@functools.lru_cache(maxsize=8)
def _told(keep: str, name: str, source: str, wrong: float, seed: int) -> Knowledge:
    n = len(samples(name)[1])
    if source == "none":
        return Knowledge(n, {"pairs": [], "triplets": []})
    record = Store(keep).get(key_of({"draw": name, "source": source, "wrong": wrong, "seed": seed}))
    if record is None:
        msg = f"the statements of {name}, {source}, {wrong:g}, {seed} were not drawn."
        raise RuntimeError(msg)
    return Knowledge(n, record["values"])


def compute_curve(task: Task, keep: str, python: str) -> dict[str, Any]:
    """Fit a contender with every amount and judge each result."""
    who, (X, y) = CONTENDERS[task["curve"]], samples(task["set"])
    told = _told(keep, task["set"], task["source"], task["wrong"], task["seed"])
    steps = [0] if task["source"] == "none" else amounts(len(y))[1:]
    if who.takes == "questions":
        return _asked_curve(task, steps, keep, python)
    kind = "triplets" if who.takes == "triplets" else "pairs"
    points = []
    for m in steps:
        said = told.kept(kind, m, told_k=who.told_k) if who.repaired else told.said(kind, m)
        case = Case(X, said, len(np.unique(y)), task["seed"])
        start = time.perf_counter()
        try:
            if who.fit is None:
                found, seconds = _fit_peer(task, case, keep, python)
            else:
                with limited(LIMIT):
                    found = who.fit(case)
                seconds = time.perf_counter() - start
            labels = labels_of(found, len(y))
            point = judge(y, labels, told.touched(kind, m))
            point |= {"held": held(said, found, labels), "dead_end": found.dead_end, "error": None}
        except (OutOfTime, Exception) as error:  # noqa: BLE001 - who fails gets no result, the others go on
            seconds = time.perf_counter() - start
            words = f"{type(error).__name__}: {error}"[:300]
            if seconds >= LIMIT and who.fit is not None:  # compiled code words it in its own way
                words = f"stopped after {LIMIT:g} seconds"
            point = nothing(told.touched(kind, m), words)
        points.append({"amount": m, "seconds": seconds, **point})
    return {"points": points}


def judge(y: Ints, labels: Ints, touched: Any) -> dict[str, Any]:
    """Adjusted Rand index over all samples, and over those that no statement names."""
    free = None
    if (~touched).sum() >= FEWEST:
        free = metrics.adjusted_rand(y[~touched], labels[~touched])
    return {"ari": metrics.adjusted_rand(y, labels), "free": free, "k": int(labels.max()) + 1}


def nothing(touched: Any, error: str) -> dict[str, Any]:
    """What somebody gets who has no result."""
    free = 0.0 if (~touched).sum() >= FEWEST else None
    return {"ari": 0.0, "free": free, "k": 0, "held": None, "dead_end": False, "error": error}


def held(said: Any, found: Found, labels: Ints) -> float | None:
    """Share of what it was told that holds: triplets in the tree, if there is one, pairs in the labels."""
    if not said.n_statements:
        return None
    triplets = found.tree is not None and (said.kind == Kind.TRIPLET).all()
    return metrics.satisfaction(said, found.tree if triplets else labels)["all"]


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Stop what takes longer. Compiled code is stopped when it returns, so it may overrun."""

    def stop(*_: Any) -> None:
        msg = f"stopped after {seconds:g} seconds"
        raise OutOfTime(msg)

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


# -- other Pythons -------------------------------------------------------------------------------------------------

_running: dict[str, subprocess.Popen[str]] = {}


def what_runs(pythons: Iterable[str]) -> dict[str, tuple[str, str]]:
    """For each peer that runs, the first Python that has it, and the version there."""
    found: dict[str, tuple[str, str]] = {}
    for python in pythons:
        done = subprocess.run([python, str(CHILD), "--can"], capture_output=True, text=True, check=False)
        if done.returncode:
            msg = f"{python} does not run:\n{done.stderr[-800:]}\nHint: the head of quality.py says how to install it."
            raise SystemExit(msg)
        for name, version in json.loads(done.stdout).items():
            found.setdefault(name, (python, version))
    return found


def ask_child(python: str, ask: dict[str, Any], patience: float) -> dict[str, Any]:
    """Let the peer's Python answer; one that is silent for too long is ended and started anew for the next."""
    child = _running.get(python)
    if child is None:
        child = _running[python] = subprocess.Popen(
            [python, str(CHILD)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={**os.environ, **ONE_THREAD},
        )
    assert child.stdin is not None
    assert child.stdout is not None
    try:
        print(json.dumps(ask), file=child.stdin, flush=True)
    except BrokenPipeError:
        end_children([python])
        return {"error": "its process ended"}
    line = child.stdout.readline() if select.select([child.stdout], [], [], patience)[0] else ""
    if not line:
        end_children([python])
        return {"error": f"its process ended, or was silent for {patience:g} seconds"}
    answer: dict[str, Any] = json.loads(line)
    return answer


def end_children(pythons: Iterable[str] | None = None) -> None:
    """End the other Pythons that this process has started."""
    for python in list(_running if pythons is None else pythons):
        with suppress(BrokenPipeError), _running.pop(python) as child:  # leaving closes the pipes and waits
            child.kill()


atexit.register(end_children)


def _fit_peer(task: Task, case: Case, keep: str, python: str) -> tuple[Found, float]:
    counts = np.bincount(samples(task["set"])[1])
    ask = {
        "method": task["curve"],
        "X": str(Path(keep) / f"{task['set']}-X.npy"),
        "k": case.k,
        "seed": case.seed,
        "limit": LIMIT,
        "must": case.said.of(Kind.MUST_LINK).tolist(),
        "cannot": case.said.of(Kind.CANNOT_LINK).tolist(),
        "sizes": [int(counts.min()), int(counts.max())] if CONTENDERS[task["curve"]].takes == "sizes" else [],
    }
    answer = ask_child(python, ask, LIMIT + PATIENCE)
    if "error" in answer:
        raise RuntimeError(answer["error"])
    return Found(answer["labels"], dead_end=answer["dead_end"]), float(answer["seconds"])


def _asked_curve(task: Task, steps: list[int], keep: str, python: str) -> dict[str, Any]:
    """The curve of a peer that asks: one run, its labels after each amount; it gets the answers of the same person."""
    y = samples(task["set"])[1]
    ask = {"method": task["curve"], "seed": task["seed"], "wrong": task["wrong"], "amounts": steps}
    ask |= {part: str(Path(keep) / f"{task['set']}-{part}.npy") for part in ("X", "y")}
    limit = LIMIT * len(steps)
    answer = ask_child(python, {**ask, "limit": limit}, limit + PATIENCE)
    points = []
    for at, m in enumerate(steps):
        if "error" in answer:
            point = nothing(np.zeros(len(y), dtype=np.bool_), answer["error"][:300])
        else:
            labels = np.unique(answer["labels"][at], return_inverse=True)[1]
            heard = Knowledge(len(y), {"pairs": answer["asked"]})
            point = judge(y, labels, heard.touched("pairs", m)) | {"error": None, "dead_end": False}
            point["held"] = held(heard.said("pairs", m), Found(labels), labels)
        points.append({"amount": m, "seconds": answer.get("seconds", limit) / len(steps), **point})
    return {"points": points}


# -- all of it -----------------------------------------------------------------------------------------------------


def compute_all(
    tasks: Sequence[Task], keep: Path, *, jobs: int, pythons: dict[str, tuple[str, str]], say: Callable[[str], object]
) -> None:
    """Do the tasks that are not done, and keep each as soon as it is."""
    from joblib import Parallel, delayed

    store = Store(keep)
    open_ones = [task for task in tasks if store.get(key_of(task)) is None]
    what = "lists of statements" if tasks and "draw" in tasks[0] else "curves"
    say(f"{len(tasks)} {what}, {len(tasks) - len(open_ones)} of them there already")
    if not open_ones:
        return
    begun = last = time.monotonic()

    def done(task: Task, number: int, values: dict[str, Any]) -> None:
        nonlocal last
        store.put(key_of(task), {"task": task, "values": values})
        now = time.monotonic()
        if now - last > 15 or number == len(open_ones):
            last = now
            left = (now - begun) / number * (len(open_ones) - number)
            name = task.get("curve", task["source"])
            spent, ahead = (now - begun) / 60, left / 60
            say(f"{number} of {len(open_ones)} {what}, {spent:.1f} min, about {ahead:.1f} left ({name})")

    if jobs == 1:
        for number, task in enumerate(open_ones, 1):
            done(task, number, compute(task, str(keep), python_of(task, pythons)))
        return
    made = Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=4)(
        delayed(_numbered)(at, task, str(keep), python_of(task, pythons)) for at, task in enumerate(open_ones)
    )
    for number, (at, values) in enumerate(made, 1):
        done(open_ones[at], number, values)


def _numbered(at: int, task: Task, keep: str, python: str) -> tuple[int, dict[str, Any]]:
    return at, compute(task, keep, python)


def python_of(task: Task, pythons: dict[str, tuple[str, str]]) -> str:
    """The Python that runs a task, empty for our own."""
    return pythons.get(task.get("curve", ""), ("", ""))[0]


def write_samples(sets: Iterable[str], keep: Path) -> None:
    """Write the sets where other Pythons can read them."""
    keep.mkdir(parents=True, exist_ok=True)
    for name in sets:
        for part, values in zip(("X", "y"), samples(name), strict=True):
            np.save(keep / f"{name}-{part}.npy", values)


def warm_up(names: Iterable[str], say: Callable[[str], object]) -> None:
    """Fit each contender once on little and once on much, so that compiling is not measured."""
    say("loading compiled code, and compiling what is not compiled yet")
    X, y = samples("iris")
    told = Knowledge(len(y), knowledge.draw("iris", "random", 0.1, 0))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in names:
            who = CONTENDERS[name]
            kind = "triplets" if who.takes == "triplets" else "pairs"
            for m in (10, 100, len(y)) if who.fit is not None else ():
                said = told.kept(kind, m, told_k=who.told_k) if who.repaired else told.said(kind, m)
                with suppress(Exception):  # who fails will fail again where it is counted
                    who.fit(Case(X, said, 3, 0))
