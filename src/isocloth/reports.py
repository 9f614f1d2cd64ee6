"""The certificates of many steps or frames: a table, read by column or by row."""

from __future__ import annotations

from collections.abc import ItemsView, Iterator, KeysView, Mapping
from types import SimpleNamespace
from typing import Any, overload

import numpy as np

from isocloth.base.errors import UnknownNameError


class Reports:
    """One certificate per frame.

    `reports["isometry_error"]` or `reports.isometry_error` is a column (T,); `reports[3]` and iteration give rows with
    the same names as attributes, so that `all(r.converged for r in reports)` reads as it should.
    """

    def __init__(self, columns: Mapping[str, np.ndarray]) -> None:
        self._columns = dict(columns)

    @overload
    def __getitem__(self, key: str) -> np.ndarray: ...
    @overload
    def __getitem__(self, key: int) -> SimpleNamespace: ...
    def __getitem__(self, key: str | int) -> Any:
        if isinstance(key, str):
            if key not in self._columns:
                raise UnknownNameError(
                    f"{key!r} is not among the reports: {', '.join(self._columns) or 'there are none'}"
                )
            return self._columns[key]
        if not -len(self) <= key < len(self):
            raise IndexError(f"report {key} does not exist: there are {len(self)}")
        return SimpleNamespace(**{name: column[key].item() for name, column in self._columns.items()})

    def __getattr__(self, name: str) -> np.ndarray:
        columns = self.__dict__.get("_columns", {})
        if name in columns:
            return columns[name]
        raise AttributeError(f"{name!r} is not among the reports: {', '.join(columns) or 'there are none'}")

    def __iter__(self) -> Iterator[SimpleNamespace]:
        return (self[k] for k in range(len(self)))

    def __len__(self) -> int:
        """Number of rows."""
        return len(next(iter(self._columns.values()))) if self._columns else 0

    def __contains__(self, name: object) -> bool:
        return name in self._columns

    def keys(self) -> KeysView[str]:
        """Names of the columns."""
        return self._columns.keys()

    def items(self) -> ItemsView[str, np.ndarray]:
        """Names and columns."""
        return self._columns.items()

    def __repr__(self) -> str:
        return f"<Reports: {len(self)} rows of {', '.join(self._columns)}>"
