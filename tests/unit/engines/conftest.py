from __future__ import annotations

import pytest

from linkwise.engines.agglomeration import _linkages


@pytest.fixture
def method(request, monkeypatch):
    """Return a linkage; samples as few as in these tests would get a matrix even where one can do without."""
    name, *rest = request.param.split()
    if rest:
        monkeypatch.setattr(_linkages, "FEW", 0)
    return name
