"""Arrays without reference counts, for kernels that pass a state of many arrays from function to function.

Numba counts a reference, atomically, for every array of a tuple whenever the tuple crosses a call it does not inline;
in the cascades of the BUILD structure that was a third of the time, and threads that share a state fight over the
counts. A borrowed array owns nothing, so there is nothing to count. It is valid as long as the original is held,
which the Python caller of a kernel does.
"""

from __future__ import annotations

from typing import Any

from linkwise._kernels._later import Later, can_wait


def _forget_owner(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    """The same array, without the pointers to the object that owns its memory."""
    from numba.core import cgutils
    from numba.np.arrayobj import make_array

    array = make_array(kind)(context, builder, value)
    array.meminfo = cgutils.get_null_value(array.meminfo.type)
    array.parent = cgutils.get_null_value(array.parent.type)
    return array._getvalue()


def _borrow(typing_context: Any, state: Any) -> Any:  # noqa: ARG001
    from numba.core import cgutils, types

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = signature.args[0]
        members = cgutils.unpack_tuple(builder, arguments[0])
        lent = [
            _forget_owner(context, builder, member, value) if isinstance(member, types.Array) else value
            for member, value in zip(kind.types, members, strict=True)
        ]
        return context.make_tuple(builder, kind, lent)

    return state(state), generate


def _same(state: Any) -> Any:
    """Interpreted kernels need no such thing."""
    return state


def _make() -> Any:
    import numba
    from numba.extending import intrinsic

    if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
        return _same
    made: Any = intrinsic(_borrow)
    made.interpreted = _same
    return made


borrowed: Any = Later(_make, _same) if can_wait(_same) else _make()
