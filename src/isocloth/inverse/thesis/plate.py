"""Plates in place of shells: thetabar = 0 whatever the rest shape is.

The rest shape of a plate says how long its edges are and nothing of how it is bent: shapes that are isometric to each
other are the same plate, one of them flat if the rest shape is developable (the thesis, section 6.2.1). What is sought
is then not unique, and a search lets it crumple. Even without a weight a target that is bent is not its own rest shape,
so that continuation in the mass has nowhere to begin.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from isocloth.models import Shell
from isocloth.terms.dihedral_bending import DihedralBending
from isocloth.terms.koiter_bending import KoiterBending
from isocloth.terms.rest_shape import RestShape, RestTerm


@dataclass(frozen=True)
class PlateLike:
    """A shell whose bends count from flat; for forces of rest shapes, not for simulations."""

    shell: Shell

    def energies(self, rest: RestShape) -> tuple[RestTerm, ...]:
        """Those of the shell; of bends, with no angle at rest, nor a change of it."""
        return tuple(_flat(term) for term in self.shell.energies(rest))


def _flat(term: RestTerm) -> RestTerm:
    if isinstance(term, DihedralBending | KoiterBending):
        none = {"target": np.zeros_like(term.target), "target_gradient": np.zeros_like(term.target_gradient)}
        return replace(term, **none)  # type: ignore[arg-type]
    return term
