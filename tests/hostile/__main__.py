"""Fit hostile problems and say what broke.

::

    python -m tests.hostile --fits 20000 --seed 0        every estimator, with progress and a summary
    python -m tests.hostile --only ITML LSML --fits 500
    python -m tests.hostile --show 4167                  one case in words, with its traceback
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import time
import traceback
from collections import Counter

os.environ.setdefault("LINKWISE_QUIET", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

from tests.hostile.judge import dense
from tests.hostile.run import Case, estimators, examine

SLOW = 30.0  # seconds of processor time


class TooSlow(BaseException):
    """One case took too much processor time; no `except Exception` swallows it."""


def _stop(*_):
    raise TooSlow


def main():
    """Run the campaign; return 1 if anything broke."""
    parser = argparse.ArgumentParser(prog="python -m tests.hostile", description=__doc__.split("\n", 1)[0])
    parser.add_argument("--fits", type=int, default=2000, help="how many cases")
    parser.add_argument("--seed", type=int, default=0, help="first seed; cases have consecutive ones")
    parser.add_argument("--only", nargs="*", choices=sorted(estimators()), help="only these estimators")
    parser.add_argument("--show", type=int, metavar="SEED", help="show one case instead")
    chosen = parser.parse_args()
    signal.signal(signal.SIGVTALRM, _stop)
    if chosen.show is not None:
        return show(chosen.show, chosen.only)
    tally, each, failures = Counter(), Counter(), {}
    begun = said = time.process_time()
    for at in range(chosen.fits):
        case = Case(chosen.seed + at, chosen.only)
        each[case.name] += 1
        signal.setitimer(signal.ITIMER_VIRTUAL, SLOW)
        try:
            found = examine(case, tally)
        except (TooSlow, SystemError) as stopped:  # compiled code turns what is raised in it into a SystemError
            if not isinstance(stopped, TooSlow) and not isinstance(stopped.__cause__, TooSlow):
                raise
            found = [("slow", f"more than {SLOW:g} CPU seconds")]
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        for sort, detail in found:
            entry = failures.setdefault((case.name, sort, detail.rpartition(" @ ")[2] if " @ " in detail else ""), [])
            entry.append((case.problem.n, case.seed, detail))
        if time.process_time() - said > 15:
            said = time.process_time()
            wrong = sum(map(len, failures.values()))
            print(f"{at + 1:,} of {chosen.fits:,} cases, {wrong:,} failures", file=sys.stderr, flush=True)
    return summarize(chosen.fits, tally, each, failures, time.process_time() - begun)


def summarize(cases, tally, each, failures, seconds):
    """Print what became of the cases, then every kind of failure with its smallest case."""
    others = ", ".join(f"{count:,} {name}" for name, count in tally.most_common() if name != "fitted")
    print(
        f"{cases:,} cases over {len(each)} estimators, {seconds:.0f} CPU seconds: {tally['fitted']:,} fitted, {others}"
    )
    for (name, sort, _), cases_ in sorted(failures.items(), key=lambda item: -len(item[1])):
        n, seed, detail = min(cases_)
        print(f"{len(cases_):6,}  {name}: {sort} (--show {seed}, n={n}) {detail}")
    print(f"{sum(map(len, failures.values())):,} failures")
    return 1 if failures else 0


def show(seed, only):
    """Print one case, its traceback if it raises, and the verdict."""
    case = Case(seed, only)
    print(case.words)
    print("X =", dense(case.problem.X).tolist())
    try:
        model = case.fit(case.make(), case.constraints())
        print("labels", getattr(model, "labels_", None))
    except Exception:  # noqa: BLE001 - shown
        traceback.print_exc()
    found = examine(case, Counter())
    for sort, detail in found:
        print("FAILURE", sort, detail)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
