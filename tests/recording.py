"""Record what every estimator answers, and compare a later tree with it: results of a rebuild must be bit-equal.

python -m tests.recording write before.json             2,000 hostile problems and the contract suite's cases
python -m tests.recording compare before.json           the same in the tree at hand; lists the differences
python -m tests.recording compare before.json --no-words     messages may differ, results may not
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import sys
import warnings
from pathlib import Path
from typing import Any

os.environ.setdefault("LINKWISE_QUIET", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import scipy.sparse as sp

from linkwise import Kind
from tests.contract.discovery import blobs, estimators, linkages, table, truth
from tests.hostile.run import Case

ADDRESS = re.compile(r"0x[0-9a-f]{6,}")
SEEDS = range(4)


def digest(value: Any) -> str | None:
    """A short name of a fitted value, equal for equal bits; None for what has no bits of its own."""
    if isinstance(value, np.ndarray) and value.dtype != object:
        data = f"{value.dtype.str}{value.shape}".encode() + np.ascontiguousarray(value).tobytes()
        return hashlib.sha1(data, usedforsecurity=False).hexdigest()[:12]
    if sp.issparse(value):
        return digest(value.toarray())
    if isinstance(value, (bool, int, float, str, np.generic)) or value is None:
        return repr(value)
    if isinstance(value, (list, tuple)):
        return repr([digest(one) for one in value])
    if hasattr(value, "parent") and hasattr(value, "heights"):
        return f"{digest(value.parent)} {digest(value.heights)}"
    return None


def fitted(model: Any) -> dict[str, str]:
    """Digests of everything a fitted model shows."""
    found = {}
    for name in sorted(vars(model)):
        if name.endswith("_") and not name.startswith("_"):
            value = digest(getattr(model, name))
            if value is not None:
                found[name] = value
    return found


def answer(fit: Any) -> dict[str, Any]:
    """What a fit returns, warns and raises."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            out: dict[str, Any] = {"fitted": fitted(fit())}
        except Exception as error:  # noqa: BLE001 - which one is part of the record
            out = {"raised": type(error).__name__, "words": [ADDRESS.sub("0x", str(error))]}
    out.setdefault("words", []).extend(sorted({ADDRESS.sub("0x", str(one.message)) for one in told}))
    return out


def contract_cases() -> dict[str, Any]:
    """Every estimator with each linkage and each kind of statement, hard and soft, on loose blobs."""
    found = {}
    for cls in estimators():
        accepted = cls._parameter_constraints
        for linkage in linkages(cls) if "linkage" in accepted else (None,):
            for kind in (kind for kind in Kind if kind in cls.understands):
                for seed in SEEDS:
                    X, y = blobs(seed)
                    options = {"linkage": linkage} if linkage else {}
                    options |= {"n_clusters": 3} if "n_clusters" in accepted else {}
                    options |= {"random_state": seed} if "random_state" in accepted else {}
                    known = table(kind, truth(kind, y, seed), len(y), weight=np.inf if seed % 2 == 0 else 1.5)
                    name = f"{cls.__name__} {linkage} {kind.word} {seed}"
                    found[name] = answer(lambda cls=cls, o=options, X=X, t=known: cls(**o).fit(X, constraints=t))
    return found


def hostile_cases(many: int) -> dict[str, Any]:
    """Problems as `tests.hostile` draws them."""
    found = {}
    for seed in range(many):
        case = Case(seed)
        found[f"hostile {seed} {case.name}"] = answer(lambda case=case: case.fit(case.make(), case.constraints()))
    return found


def main() -> int:
    """Write a record or compare with one; return 1 if they differ."""
    parser = argparse.ArgumentParser(prog="python -m tests.recording", description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("what", choices=["write", "compare"])
    parser.add_argument("file", type=Path)
    parser.add_argument("--hostile", type=int, default=2000, help="how many hostile problems")
    parser.add_argument("--no-words", action="store_true", help="compare results, not messages")
    chosen = parser.parse_args()
    now = contract_cases() | hostile_cases(chosen.hostile)
    if chosen.what == "write":
        chosen.file.write_text(json.dumps(now, indent=0), encoding="utf-8")
        print(f"{len(now):,} answers recorded")
        return 0
    before = json.loads(chosen.file.read_text(encoding="utf-8"))
    names = sorted(before.keys() & now.keys())
    if chosen.no_words:
        for one in (*before.values(), *now.values()):
            one.pop("words")
    different = [name for name in names if before[name] != json.loads(json.dumps(now[name]))]
    for name in different[:20]:
        print(f"{name}\n  before {before[name]}\n  now    {now[name]}")
    alone = before.keys() ^ now.keys()
    print(f"{len(names):,} answers compared, {len(different):,} differ, {len(alone):,} in one record only")
    return int(bool(different or alone))


if __name__ == "__main__":
    sys.exit(main())
