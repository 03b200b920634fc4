"""The report as Markdown, without pictures."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from linkwise._messages import and_more, many, more_lines
from linkwise.report._facts import Cluster, Facts
from linkwise.report._sentences import (
    EFFECT,
    JUDGED,
    MEANING,
    QUESTIONS,
    REPEAT,
    STATEMENTS,
    TRUTH,
    VIEWS,
    agreement_words,
    asked,
    ballot,
    called,
    change_words,
    compared,
    filled,
    judgment,
    lead,
    trait_words,
    truth_words,
    verdict,
)

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>()#+!|~$&])")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff\u2028\u2029]")
_MEMBERS = 12
_STATEMENTS = 60
_VIEWS = 10


def plain(text: object, longest: int = 300) -> str:
    """Escape a text so that Markdown shows it literally, on one line."""
    shown = _CONTROL.sub(" ", str(text))
    if len(shown) > longest:
        shown = f"{shown[:longest]}… ({len(shown):,} characters)"
    return _SPECIAL.sub(r"\\\1", shown)


def render_markdown(facts: Facts) -> str:
    """Write the facts as Markdown, without pictures.

    Parameters
    ----------
    facts : Facts
        From `gather_facts`.

    Returns
    -------
    str
        The same sentences and figures as the page; every name is escaped.

    Examples
    --------
    >>> from linkwise.report import gather_facts, render_markdown
    >>> print(render_markdown(gather_facts([0, 0, 1], title="Three")).splitlines()[0])
    # Three
    """
    _, head, rest = verdict(facts)
    parts = [f"# {plain(facts.title)}", f"{plain(lead(facts))} {plain(asked(facts))}"]
    if facts.method:
        parts.append(plain(facts.method))
    parts += [_list(plain(reason) for reason in facts.reasons)] if facts.reasons else []
    parts.append(f"**{plain(head)}** {' '.join(map(plain, rest))}")
    parts += [
        *_conflicts(facts),
        *_changes(facts),
        *_clusters(facts),
        *_doubtful(facts),
        *_truth(facts),
        *_judged(facts),
        *_views(facts),
    ]
    if facts.questions:
        numbered = (f"{i}. {plain(question)}" for i, question in enumerate(facts.questions, start=1))
        parts += [f"## {QUESTIONS}", "\n".join(numbered)]
    parts += _statements(facts)
    if facts.recipe:
        fence = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`+", facts.recipe)), default=0))
        parts += [f"## {REPEAT}", f"{fence}python\n{facts.recipe.rstrip()}\n{fence}"]
    return "\n\n".join([*parts, f"Written by linkwise {plain(facts.version)}."]) + "\n"


def _list(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _conflicts(facts: Facts) -> list[str]:
    parts = []
    if facts.conflicts or facts.repairs:
        parts.append("## Conflicts and repairs")
    for conflict in facts.conflicts:
        parts.append(f"These statements cannot hold together:\n\n{_list(map(plain, conflict.statements))}")
        parts.append(plain(conflict.because))
        if conflict.suspects:
            parts.append(f"Dropping any one of these resolves the conflict:\n\n{_list(map(plain, conflict.suspects))}")
    if facts.repairs:
        parts.append(
            f"These statements were left out so that the others hold together:\n\n{_list(map(plain, facts.repairs))}"
        )
    return parts


def _changes(facts: Facts) -> list[str]:
    found = facts.comparison
    parts = []
    if found is not None:
        parts += [f"## {EFFECT}", "\n".join(map(plain, compared(facts, found)))]
        if found.changes:
            rows = [(plain(change.text), plain(change_words(change))) for change in found.changes]
            parts.append(_table(("statement", "effect"), rows))
    if facts.scores:
        scores = [(plain(s.name), f"{s.before:.3f}", f"{s.after:.3f}") for s in facts.scores]
        parts.append(_table(("", "without constraints", "with constraints"), scores))
    return parts


def _clusters(facts: Facts) -> list[str]:
    parts = ["## The clusters", *([plain(filled(facts))] if facts.n_missing else [])]
    for cluster in facts.clusters:
        title = plain(called(cluster), 100)
        lines = [f"### {title[0].upper()}{title[1:]}: {many(cluster.size, 'sample')}"]
        if cluster.traits:
            lines.append(_list(plain(trait_words(trait, facts.texts)) for trait in cluster.traits))
        if cluster.texts:
            typical = zip(cluster.exemplars or cluster.members, cluster.texts, strict=False)
            lines.append(f"Typical:\n\n{_list(f'{plain(name, 80)}: {_bold(text, cluster)}' for name, text in typical)}")
        elif cluster.exemplars:
            lines.append(f"Typical: {', '.join(plain(name, 80) for name in cluster.exemplars)}")
        names = ", ".join(plain(name, 80) for name in cluster.members[:_MEMBERS])
        lines.append(f"Members: {names}{and_more(min(len(cluster.members), _MEMBERS), cluster.size)}")
        parts.append("\n\n".join(lines))
    return parts


def _bold(text: str, cluster: Cluster) -> str:
    """A text with the terms of a cluster in bold."""
    terms = {trait.feature.lower() for trait in cluster.traits}
    parts = re.split(r"(\w+)", text)
    return "".join(f"**{plain(part)}**" if part.lower() in terms else plain(part) for part in parts)


def _doubtful(facts: Facts) -> list[str]:
    if not facts.doubtful:
        return []
    rows = [
        (plain(d.name, 80), str(d.cluster), str(d.other), f"{d.margin:+.2f}", str(d.statements)) for d in facts.doubtful
    ]
    return ["## Least certain", _table(("sample", "in", "next", "margin", "statements"), rows)]


def _truth(facts: Facts) -> list[str]:
    found = facts.truth
    if found is None:
        return []
    rows = [
        (plain(found.classes[i], 80), *(f"**{count:,}**" if i == j else f"{count:,}" for j, count in enumerate(row)))
        for i, row in enumerate(found.counts)
    ]
    return [f"## {TRUTH}", plain(truth_words(found)), _table(("class", *map(str, found.clusters)), rows)]


def _judged(facts: Facts) -> list[str]:
    sentences = judgment(facts)
    if not sentences:
        return []
    parts = [f"## {JUDGED}", "\n".join(map(plain, sentences))]
    rows = [(plain(one.text), f"{one.wrong:.2f}", "holds" if one.held else "**broken**") for one in facts.judged]
    if rows:
        parts.append(_table(("statement", "wrong with probability", "in the result"), rows))
        left = (facts.n_judged or 0) - len(rows)
        parts += [f"… and {left:,} more, less probably wrong than these."] if left else []
    return parts


def _views(facts: Facts) -> list[str]:
    if not facts.votes:
        return []
    voted = [vote for vote in facts.votes if not vote.missing]
    rows = [(plain(vote.view), f"{vote.weight:.3f}", agreement_words(vote)) for vote in voted[:_VIEWS]]
    table = _table(("view", "weight", "agreement with statements held out"), rows)
    lines = [f"{plain(vote.view)} was left out: {plain(vote.missing)}" for vote in facts.votes if vote.missing]
    more = more_lines(len(rows), len(voted), "… ")
    return [f"## {VIEWS}", plain(ballot(facts)), table, *more, *([_list(lines)] if lines else [])]


def _statements(facts: Facts) -> list[str]:
    if not facts.kinds:
        return []
    rows = [(MEANING[k.kind][0], f"{k.said:,}", f"{k.held:,}") for k in facts.kinds]
    parts = [f"## {STATEMENTS}", _table(("statement", "given", "hold"), rows)]
    shown = facts.statements[:_STATEMENTS]
    lines = [f"{'holds' if s.held else '**broken**'}: {plain(s.text)}" for s in shown]
    return [*parts, _list([*lines, *more_lines(len(shown), facts.n_statements, "… ")])]
