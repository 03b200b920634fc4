from __future__ import annotations

import pytest

from linkwise.engines.agglomeration import _early_rounds, _linkages


@pytest.fixture
def method(request, monkeypatch):
    """Return a linkage; samples as few as in these tests would get a matrix even where one can do without."""
    name, *rest = request.param.split()
    if rest:
        monkeypatch.setattr(_linkages, "FEW", 0)
        monkeypatch.setattr(_early_rounds, "CACHED", 0)
    if "short" in rest:
        monkeypatch.setattr(_early_rounds, "LENGTH", 3)
    return name
