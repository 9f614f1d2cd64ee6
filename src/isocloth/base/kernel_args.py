"""Arguments that stay kernel_args between calls.

Handing an array from Python to a kernel costs a fifth of a microsecond, and a solve reads about fifty of them, which
hardly ever change: a tenth of a step of a small cloth. They are handed over once, and the kernel gets a reference.
"""

from __future__ import annotations

from typing import Any

from numba.core import types
from numba.experimental import structref

from isocloth.base.compiled import kernel


@structref.register
class _KernelArgsType(types.StructRef):
    """Numba's type of what is kernel_args, one for every type of content."""


class KernelArgs(structref.StructRefProxy):
    """Numbers, arrays or named tuples of them as kernels hold them; a kernel reads them as `.content`.

    The arrays are shared, not copied: what a kernel writes into them is seen from Python, and the other way round.
    """

    content: Any
    #: what Numba asks every argument for; its own property answers the same by way of the interpreter
    _numba_type_ = structref.StructRefProxy._type  # type: ignore[attr-defined]


structref.define_constructor(KernelArgs, _KernelArgsType, ["content"])
structref.define_boxing(_KernelArgsType, KernelArgs)


@kernel
def kernel_args(content: Any) -> Any:
    """Unbox for good."""
    return KernelArgs(content)
