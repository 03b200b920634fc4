"""The rules by which figures become verdicts and sentences: every word about an outcome is computed here.

A rule takes figures and returns a `Judged`: the verdict, the sentence that gives the figures it rests on, and the rule
itself in words, tolerance included. No other module of this folder holds a verdict.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, NamedTuple

Verdict = Literal["same", "better", "different", "not comparable"]
VERDICTS: tuple[Verdict, ...] = ("same", "better", "different", "not comparable")


@dataclass(frozen=True)
class Judged:
    """How an exhibit compares with the paper.

    Attributes
    ----------
    verdict : {"same", "better", "different", "not comparable"}
        "not comparable" where the paper prints nothing to compare with, or where figures tie.
    why : str
        The figures that the verdict rests on, in a sentence or two.
    rule : str
        How the verdict follows from the figures, with the tolerance.

    Examples
    --------
    >>> from studies.papers import Judged
    >>> Judged("same", "0.8906, printed 0.8906.", "Equal to four digits.").verdict
    'same'
    """

    verdict: Verdict
    why: str
    rule: str


class Span(NamedTuple):
    """A figure, how far it may be off by chance or rounding, what is printed, and what to call it."""

    name: str
    value: float
    error: float
    printed: float | None


def beside_printed(
    spans: Sequence[Span], *, slack: float, higher_is_better: bool, rounding: str, leading: str = ""
) -> Judged:
    """Compare figures with printed ones: within two standard errors and ``slack``, or beyond on which side."""
    within: list[str] = []
    good: list[str] = []
    bad: list[str] = []
    for span in spans:
        if span.printed is None or math.isnan(span.value):
            continue
        width = slack + 2 * (0.0 if math.isnan(span.error) else span.error)
        gap = span.value - span.printed
        side = within if abs(gap) <= width else good if (gap > 0) == higher_is_better else bad
        side.append(f"{span.name} {_short(span.value)} ({_short(span.printed)})")
    rule = (
        f"Two figures agree when they differ by at most {rounding} plus two standard errors. Same: all printed figures "
        f"agree; better: none is {'lower' if higher_is_better else 'higher'} than printed and some are "
        f"{'higher' if higher_is_better else 'lower'}; different: otherwise; not comparable: nothing is printed."
    )
    verdict: Verdict
    if not (within or good or bad):
        verdict = "not comparable"
    elif bad:
        verdict = "different"
    else:
        verdict = "better" if good else "same"
    high, low = ("higher", "lower") if higher_is_better else ("lower", "higher")
    why = (
        f"{leading}Of {len(within) + len(good) + len(bad)} printed figures {len(within)} agree"
        + (f": {'; '.join(within)}" if within else "")
        + (f". Ours {_are(good)} {high}: {'; '.join(good)}" if good else "")
        + (f". Ours {_are(bad)} {low}: {'; '.join(bad)}" if bad else "")
        + "."
    )
    return Judged(verdict, why, rule)


def fewer_statements(need: Mapping[str, float], order: Sequence[str], last: float, wanted: float) -> Judged:
    """Judge whether each method of ``order`` needs strictly fewer statements than the next; a tie decides nothing."""
    states = []
    for one, other in pairwise(order):
        state = "fewer" if need[one] < need[other] else "more" if need[one] > need[other] else "as many"
        states.append((f"{one} {state} than {other}" if state != "as many" else f"{one} {state} as {other}", state))
    found = {state for _, state in states}
    verdict: Verdict = "different" if "more" in found else "same" if found == {"fewer"} else "not comparable"
    words = ", ".join(f"{name} {_count(value, last)}" for name, value in need.items())
    why = (
        f"Statements needed to reach and keep a constrained Rand index of {wanted:.2f}: {words}. That is: "
        f"{'; '.join(text for text, _ in states)}. The paper has {' before '.join(order)}."
    )
    rule = (
        f"Same: each method of {', '.join(order)} needs strictly fewer statements than the next; different: one needs "
        "more; not comparable: two need as many, which includes two that never get there."
    )
    return Judged(verdict, why, rule)


def every_line_rises(
    rise: Mapping[str, float], claimed: Sequence[str], *, least: float, what: str, said: str
) -> Judged:
    """Judge whether all ``claimed`` lines rise by more than ``least``."""
    flat = [name for name in claimed if not rise[name] > least]
    words = ", ".join(f"{name} {value:+.3f}" for name, value in rise.items())
    here = f"here {', '.join(flat)} {'does' if len(flat) == 1 else 'do'} not" if flat else "so it does here"
    why = f"{what}: {words}. {said}; {here}."
    rule = f"Same: every line of {', '.join(claimed)} rises by more than {least:g}; different: otherwise."
    return Judged("different" if flat else "same", why, rule)


def holds_at_every_cut(
    gaps: Mapping[str, Sequence[float]],
    *,
    tolerance: float,
    above: bool,
    said: str,
    complete: Mapping[str, float] | None = None,
) -> Judged:
    """Judge a claim about two schemes, given their differences at every amount for every way to cut.

    ``above`` says what the paper finds. ``complete`` are the scores with all statements, 1 in the paper.
    """
    counts = {
        cut: (sum(gap > tolerance for gap in of), sum(gap < -tolerance for gap in of), len(of))
        for cut, of in gaps.items()
    }
    fits, beats = {}, {}
    for cut, (up, down, n) in counts.items():
        whole = complete is None or complete[cut] >= 0.9995
        fits[cut] = (up if above else down) > n / 2 and whole
        beats[cut] = not above and up > n / 2 and whole
    verdict: Verdict
    if all(fits.values()):
        verdict = "same"
    elif all(beats.values()):
        verdict = "better"
    elif not any(fits.values()) and not any(beats.values()):
        verdict = "different"
    else:
        verdict = "not comparable"
    words = "; ".join(
        f"{cut}: above at {up}, below at {down} of {n} amounts"
        + ("" if complete is None else f", {complete[cut]:.3f} with all statements")
        for cut, (up, down, n) in counts.items()
    )
    good = [cut for cut, fine in fits.items() if fine]
    why = f"{said}. By cut: {words}. That is as in the paper for {_all_or(list(fits), good)}."
    rule = (
        f"Above and below mean by more than {tolerance:g}. A cut agrees with the paper when ReCon is "
        f"{'above' if above else 'below'} at more than half of the amounts"
        + ("" if complete is None else " and F is at least 0.9995 with all statements")
        + ". The paper names no threshold for its cut. Same: all cuts agree; different: none does; not comparable: it "
        "depends on the cut" + ("." if above else "; better: ReCon is above with all cuts.")
    )
    return Judged(verdict, why, rule)


def all_hold(claims: Mapping[str, float], *, least: float, why: str, rule: str) -> Judged:
    """Judge claims by margins: above ``least`` one holds, below ``-least`` it fails, between it is a tie."""
    states = {
        name: "holds" if margin > least else "fails" if margin < -least else "ties" for name, margin in claims.items()
    }
    verdict: Verdict = (
        "different"
        if "fails" in states.values()
        else "not comparable"
        if "ties" in states.values() or not states
        else "same"
    )
    words = "; ".join(f"{name}: {claims[name]:+.3f}, {state}" for name, state in states.items())
    text = f"{rule} Same: all hold by more than {least:g}; different: one fails by more; not comparable: otherwise."
    return Judged(verdict, f"{why} {words}." if words else why, text)


def in_range(ranges: Mapping[str, tuple[float, float, float]], *, leading: str) -> Judged:
    """Judge printed shares whose parameter is not printed: some value of it has to give them.

    ``ranges`` holds the smallest and the largest share found, and the printed one.
    """
    outside = [name for name, (low, high, printed) in ranges.items() if not low <= printed <= high]
    words = "; ".join(
        f"{name} {low:.0%} to {high:.0%} ({printed:.0%} printed)" for name, (low, high, printed) in ranges.items()
    )
    why = f"{leading}: {words}. Outside of what was found: {', '.join(outside) or 'none'}."
    rule = (
        "The parameter is not printed. Same: every printed share lies within the shares found for the values tried; "
        "different: one lies outside; not comparable: nothing was found."
    )
    verdict: Verdict = "not comparable" if not ranges else "different" if outside else "same"
    return Judged(verdict, why, rule)


def runs_differ(deviations: Mapping[str, float], *, least: float) -> Judged:
    """Judge whether single draws differ as much as the paper says they do, given the largest deviation for each cut."""
    enough = [cut for cut, deviation in deviations.items() if deviation > least]
    words = ", ".join(f"{cut} {deviation:.3f}" for cut, deviation in deviations.items())
    why = (
        f"Largest standard deviation over draws, by cut: {words}. The paper finds that single draws differ "
        f"considerably, as here with {_all_or(list(deviations), enough)}."
    )
    rule = (
        f"Same: the standard deviation exceeds {least:g} at some amount with every cut; different: with none; not "
        "comparable: otherwise."
    )
    verdict: Verdict = "same" if len(enough) == len(deviations) else "not comparable" if enough else "different"
    return Judged(verdict, why, rule)


def in_time(slowest: float, growth: float, *, printed: float, said: str) -> Judged:
    """Judge a time against the largest one that is printed or named."""
    verdict: Verdict = "better" if slowest < printed / 10 else "same" if slowest <= printed else "different"
    why = (
        f"At most {slowest:.3g} s, {growth:.1f} times the shortest; {said}, that is {printed:.3g} s or "
        f"{printed / slowest if slowest > 0 else float('inf'):,.1f} times ours."
    )
    rule = "Better: less than a tenth of the paper's time; same: no more than it; different: more."
    return Judged(verdict, why, rule)


def _are(names: Sequence[str]) -> str:
    return "is" if len(names) == 1 else "are"


def _all_or(names: Sequence[str], some: Sequence[str]) -> str:
    """Name some of the names, or say that it is all or none of them."""
    if not some:
        return "none of them"
    return "all of them" if len(some) == len(names) > 1 else ", ".join(some)


def _count(value: float, last: float) -> str:
    return f"more than {last:g}" if math.isinf(value) else f"{value:g}"


def _short(value: float) -> str:
    return f"{value:.4f}" if abs(value) < 1.5 else f"{value:.1f}" if abs(value) < 1000 else f"{value:,.0f}"
