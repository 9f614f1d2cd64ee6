"""The numeric factor: the numbers of one matrix, laid out by a symbolic factor that others may share."""

from __future__ import annotations

from typing import Any

import numpy as np

from isocloth.base.typing import FloatArray
from isocloth.sparse.fronts import Fronts
from isocloth.sparse.symbolic import Symbolic


class Storage:
    """Memory for the numbers of one factor after the other: touching fresh memory costs as much as filling it."""

    def __init__(self) -> None:
        self._arrays: dict[str, FloatArray] = {}

    def room(self, name: str, size: int) -> FloatArray:
        """So many numbers, of no meaning."""
        if len(self._arrays.get(name, ())) < size:
            self._arrays[name] = np.zeros(size if name not in self._arrays else size + size // 4)
        return self._arrays[name][:size]


class Factor:
    """A symbolic factor and numbers of its own.

    Blocks of a matrix are added into `fronts.panel`, where `symbolic.find` says; `cholesky.factorise` then overwrites
    them by the factor.

    Args:
        symbolic: the layout, which any number of factors share.
        storage: memory of a factor that is not needed any more; None takes its own.
    """

    def __init__(self, symbolic: Symbolic, storage: Storage | None = None) -> None:
        storage, sizes = Storage() if storage is None else storage, symbolic.sizes
        self.symbolic = symbolic
        self.fronts = Fronts(
            *symbolic.index,
            panel=storage.room("panel", sizes.panel),
            schur=storage.room("schur", sizes.schur),
            divided=storage.room("divided", sizes.divided),
            work=np.zeros(sizes.work),
        )

    @property
    def flops(self) -> int:
        """Operations of one factorisation, a multiply-add counted as two."""
        return self.symbolic.flops

    @property
    def memory(self) -> int:
        """Bytes held by the numbers."""
        return self.fronts.panel.nbytes + self.fronts.schur.nbytes

    def __getstate__(self) -> dict[str, Any]:
        own = self.fronts[len(self.symbolic.index) :]
        return {"symbolic": self.symbolic, "numbers": own}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.symbolic = state["symbolic"]
        self.fronts = Fronts(*self.symbolic.index, *state["numbers"])
