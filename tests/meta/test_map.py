"""The map of methods knows every estimator and every learned metric, the map of the house every folder and file."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from linkwise.engines import DistanceLearner
from tests.contract.discovery import estimators
from tests.meta.test_plan import RANK, ROOT

PAGE = Path(__file__).parents[2] / "docs" / "methods.md"


def test_every_method_is_on_the_map():
    text = PAGE.read_text(encoding="utf-8")
    names = [cls.__name__ for cls in [*estimators(), *estimators(DistanceLearner)] if cls.__name__ != "MetricLearner"]
    assert len(names) > 20
    assert [name for name in names if f"`{name}`" not in text] == []


HOUSE = (ROOT.parent / "CONTRIBUTING.md").read_text(encoding="utf-8")


def rooms_of_the_map() -> list[str]:
    """Folders in the order in which CONTRIBUTING draws them, with the folder above them."""
    drawn = re.search(r"```\nlinkwise/\n(.*?)```", HOUSE, re.DOTALL)[1]
    found, above = [], ""
    for line in drawn.splitlines():
        depth = len(line) - len(line.lstrip())
        names = re.findall(r"(\w+)/(?= |$)", re.split(r" {3,}|(?<=/) (?![a-z]+/)", line.strip())[0])
        if depth == 2:
            above = names[0]
        found += [name if depth == 2 else f"{above}.{name}" for name in names if depth]
    return found


def test_the_map_of_the_house_shows_every_folder_in_the_order_of_imports():
    drawn = rooms_of_the_map()
    there = {
        ".".join(path.parent.relative_to(ROOT).parts)
        for path in ROOT.rglob("__init__.py")
        if path.parent != ROOT and len(path.parent.relative_to(ROOT).parts) <= 2
    }
    assert set(drawn) == there
    inside = [room for room in drawn if room in RANK and room not in ("problem", "engines")]
    ranks = [RANK[room] for room in inside]
    assert ranks == sorted(ranks)
    assert len(inside) > 30


ANSWERS = "\n".join(line for line in HOUSE.splitlines() if line.startswith("| "))


@pytest.mark.parametrize("place", re.findall(r"`((?:[a-z_]+/)+[a-z_*]+\.py)`", ANSWERS))
def test_files_that_answer_a_question_exist(place):
    assert list(ROOT.glob(place)), place
