"""Kernels before Numba is loaded: their first calls, on small arguments, run in the interpreter.

Loading Numba takes longer than checking a few statements. So `njit` returns a `Kernel`. The first call that is large,
or that comes after as many rounds of loops as take about as long as loading, loads Numba and puts dispatchers in the
places of all kernels. From then on calls cost what they cost without this module.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from types import ModuleType
from typing import Any

from linkwise._kernels._tier import SETTINGS, TooLongError, interpret, largest_array, patience, rounds_left
from linkwise._threads import SLICES

# Settings of Numba that change neither machine code nor where a call runs.
HARMLESS = frozenset({"NUMBA_CACHE_DIR", "NUMBA_NUM_THREADS"})
# Rounds of loops of all kernels together that take about as long as loading Numba and a few kernels.
ROUNDS = 300_000


class Later:
    """A name that kernels use, whose value is made when Numba is loaded."""

    def __init__(self, make: Callable[[], Any], interpreted: Callable[..., Any]) -> None:
        self.make, self.made, self.interpreted = make, None, interpreted
        _WAITING.names.append(self)


class Kernel(Later):
    """A kernel whose dispatcher is made when Numba is loaded."""

    def __init__(self, function: Any, make: Callable[[], Any]) -> None:
        super().__init__(make, function)
        self.py_func = function
        self.__name__, self.__doc__, self.__module__ = function.__name__, function.__doc__, function.__module__

    def __call__(self, *arguments: Any, **others: Any) -> Any:
        if self.made is None:
            small = not others and not SLICES.elements and largest_array(arguments) <= SETTINGS.limit
            if small and SETTINGS.limit and _WAITING.rounds > 0:
                rounds = patience(self)
                try:
                    return interpret(self, arguments, rounds)
                except TooLongError:
                    pass
                finally:
                    _WAITING.rounds -= rounds - rounds_left()
            load_numba()
        return self.made(*arguments, **others)  # type: ignore[misc]  # it is made

    def __getattr__(self, name: str) -> Any:
        """Everything else is known of the dispatcher."""
        if name.startswith("__"):  # such as those that inspection looks for
            raise AttributeError(name)
        load_numba()
        return getattr(self.made, name)


class _Waiting:
    """All names whose values are not made yet, and the rounds that are left to their kernels."""

    def __init__(self) -> None:
        self.names: list[Later] = []
        self.rounds = ROUNDS
        self.lock = threading.RLock()


_WAITING = _Waiting()


def can_wait(function: Any) -> bool:
    """Whether a kernel may wait: Numba is not loaded, no setting of it asks for something, and it can be replaced."""
    asked = any(name.startswith("NUMBA_") and name not in HARMLESS for name in os.environ)
    loaded = "numba" in sys.modules or asked or os.path.exists(".numba_config.yaml")  # noqa: PTH110
    return not (loaded or function.__closure__ or function.__defaults__)


def load_numba() -> None:
    """Make everything that waits, and put it where the names are."""
    with _WAITING.lock:
        waiting = [*_WAITING.names]
        for one in waiting:
            one.made = one.make() if one.made is None else one.made
        scopes = [vars(module) for module in list(sys.modules.values()) if isinstance(module, ModuleType)]
        scopes += [one.py_func.__globals__ for one in waiting if isinstance(one, Kernel)]
        for scope in scopes if waiting else []:
            for name, value in list(scope.items()):
                if isinstance(value, Later):
                    scope[name] = value.made
        del _WAITING.names[: len(waiting)]  # an interruption before leaves them for the next call
