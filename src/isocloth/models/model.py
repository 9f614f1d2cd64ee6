"""What a cloth model is: parameters in SI units, and the terms that they stand for."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from typing import ClassVar, NamedTuple

import scipy.sparse as sp

from isocloth.base.errors import FabricError, InputError, InputTypeError, MeshError
from isocloth.base.numeric import as_float, shown
from isocloth.fabric import Fabric
from isocloth.meshes import Mesh
from isocloth.terms.bending import MATRICES, bending
from isocloth.terms.hinge import HingeBending
from isocloth.terms.rest_shape import RestShape
from isocloth.terms.rows import Rows
from isocloth.terms.stiffening import Bends, bends, no_bends
from isocloth.terms.term import Term

#: shear stiffness of a woven cloth that names none, N/m: one of 0.5 gf/(cm degree) in Kawabata's test has 28
TYPICAL_SHEAR = 30.0


#: how a cloth may bend: a matrix that stiffens in folds, constant matrices, or hinges along the edges of triangles
BENDINGS = (*MATRICES, "stiffening", "hinge")


def matrix_of(kind: str) -> str:
    """The matrix with which a cloth bends that does so in a way of `BENDINGS`, hinges left out."""
    return "hessian" if kind == "stiffening" else kind


class Terms(NamedTuple):
    """The energies of a cloth, by kind; see `cloth.cloth`."""

    rows: Rows
    matrix: sp.csr_matrix  # K (n, n) 1/m^2, empty if nothing is one
    stencils: tuple[Term, ...] = ()
    bends: Bends = no_bends()  # what stiffens beside K


@dataclass(frozen=True, kw_only=True)
class Model:
    """How a cloth resists stretching, shearing and bending; mass, damping and contact are those of every model.

    Numbers are stiffnesses, finite and not negative; None takes them from the fabric.

    bending: how `Fabric.bending` acts: "hessian", "laplacian", "interior" (matrices, `terms/bending.py`), "stiffening"
        (the matrix "hessian", and more in sharp folds, `terms/stiffening.py`) or "hinge" (angles with a memory of the
        rest shape, on triangles, `terms/hinge.py`).
    """

    #: by which `Simulation(model=...)` knows it
    name: ClassVar[str]
    #: what solves its steps when nobody chooses
    solver: ClassVar[str] = "newton"
    #: s; longer steps take it away from its own equations, shorter ones change little
    timestep: ClassVar[float] = 0.01
    #: of parameters that are no stiffnesses in N/m
    units: ClassVar[dict[str, str]] = {}
    #: whether a stretch of more than a hundredth means that something is wrong
    inextensible: ClassVar[bool] = False
    #: whether it is an elastic shell, which has a rest shape of any kind: see `models/shell.py`
    shell: ClassVar[bool] = False
    #: by which the simulation knows who advances it: see `simulation/steppers/`
    stepper: ClassVar[str] = "newton"

    bending: str | float = "hessian"

    def __post_init__(self) -> None:
        if not isinstance(self.bending, str) or self.bending not in BENDINGS:
            raise InputError(f"bending model {self.bending!r} is unknown; choose one of {', '.join(BENDINGS)}")
        for field in fields(self):
            if field.name == "bending":
                continue
            value = getattr(self, field.name)
            if value is None and field.default is None:
                continue
            unit = self.units.get(field.name, "N/m")
            number = as_float(value)
            if number is None:
                raise InputTypeError(f"{field.name} = {shown(value)}: expected a number{unit and ' in ' + unit}")
            if not math.isfinite(number) or number < 0.0 or (number == 0.0 and field.name in self.units):
                need = "positive" if field.name in self.units else "zero or positive"
                raise FabricError(f"{field.name} = {value!r}{unit and ' ' + unit}: expected a finite number, {need}")
            if isinstance(field.default, int) and number != int(number):
                raise InputError(f"{field.name} = {value!r}: expected a whole number, positive")
            object.__setattr__(self, field.name, int(number) if isinstance(field.default, int) else number)

    def terms(self, mesh: Mesh, fabric: Fabric, discretisation: str | None = None) -> Terms:
        """All terms of a cloth with the rest shape `mesh`."""
        rows, n = self.rows(mesh, fabric, discretisation), mesh.n_vertices
        if self.bending == "hinge" and mesh.element != "triangle":
            raise MeshError(f"hinges bend about the edges of triangles, got {mesh!r}; give them `mesh.triangulated()`")
        if fabric.bending == 0.0 and fabric.bending_damping == 0.0:
            return Terms(rows, sp.csr_matrix((n, n)))
        if self.bending == "hinge":
            return Terms(rows, sp.csr_matrix((n, n)), (HingeBending.of(mesh, fabric.bending),))
        if self.bending == "stiffening":
            folds = bends(mesh, fabric.bending) if fabric.bending > 0.0 else no_bends()
            return Terms(rows, bending(mesh, matrix_of(self.bending)), bends=folds)
        return Terms(rows, bending(mesh, str(self.bending)))

    def with_bending(self, bending: str) -> Model:
        """The same model with another way to bend; see `bending`."""
        return replace(self, bending=bending)

    def shell_terms(self, rest: RestShape, fabric: Fabric) -> Terms:
        """All terms of a cloth whose rest shape has corners for each face; refused by all models but shells."""
        raise InputError(
            f"rest has corners for each face, which the model {self.name!r} cannot use; give it a mesh, or take a "
            "shell, e.g. model=ic.models.KoiterShell()"
        )

    def rows(self, mesh: Mesh, fabric: Fabric, discretisation: str | None = None) -> Rows:
        """Rows of a cloth with the rest shape `mesh`."""
        raise NotImplementedError

    def refuse_discretisation(self, discretisation: str | None) -> None:
        """Raise if a discretisation of the isometry is asked for."""
        if discretisation is not None:
            raise InputError(
                f"discretisation = {discretisation!r} is one of the isometric model: the model {self.name!r} has its "
                "own; leave it out"
            )


def typical_shear(given: float | None, fabric: Fabric) -> float:
    """Shear stiffness in N/m: the model's, else the fabric's, else a typical one."""
    if given is not None:
        return given
    return TYPICAL_SHEAR if fabric.shear is None else fabric.shear
