"""The one way kernels are compiled: cached on disk, without the interpreter's lock, the same bits every time."""

from __future__ import annotations

import numba as nb

# sums may be reordered when compiled (never at run time), so loops vectorise and results stay reproducible
kernel = nb.njit(cache=True, nogil=True, fastmath={"contract", "reassoc", "nsz"}, error_model="numpy")
