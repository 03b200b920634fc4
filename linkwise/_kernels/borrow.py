"""Arrays without reference counts, for kernels that pass a state of many arrays from function to function.

Numba counts a reference, atomically, for every array of a tuple whenever the tuple crosses a call it does not inline;
in the cascades of the BUILD structure that was a third of the time. A borrowed array owns nothing, so there is nothing
to count. It is valid as long as the caller holds the original, which the Python caller of a kernel does.
"""

from __future__ import annotations

from typing import Any

import numba
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.arrayobj import make_array

__all__ = ["borrowed"]


def _borrow(typing_context: Any, array: Any) -> Any:  # noqa: ARG001
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        view = make_array(signature.args[0])(context, builder, arguments[0])
        view.meminfo = cgutils.get_null_value(view.meminfo.type)
        view.parent = cgutils.get_null_value(view.parent.type)
        return view._getvalue()

    return array(array), generate


if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]

    def borrowed(array: Any) -> Any:
        """Interpreted kernels need no such thing."""
        return array
else:
    borrowed = intrinsic(_borrow)  # type: ignore[assignment]
