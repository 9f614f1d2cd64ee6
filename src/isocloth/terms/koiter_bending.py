"""Bending of a Koiter shell: quadratic in the change of the second fundamental form (Chen et al. 2018, LIBSHELL).

    E = sum_f (h^3 / 48) sqrt(det Abar) (E nu / (1 - nu^2) tr(M)^2 + E / (1 + nu) tr(M^2)),    M = Abar^-1 (B - Bbar)

with B from mid-edge normals (`terms/mid_edge.py`). A sheet that is bent to the curvature kappa in one direction has the
energy D kappa^2 / 2 per area with D = E h^3 / (12 (1 - nu^2)), in any direction and, but for the normals "average", on
any mesh. Woven cloth has another law in place of the isotropic one, with unlike stiffnesses along warp and weft: both
are the quadratic form of `terms/quadratic_membrane.py`. With the values u = (II_0, II_1, II_2) of a face the energy is

    E_f = (u - ubar)^T W (u - ubar) / 2 + (r / 2 D) (u - past)^T W (u - past),

the second part being the viscous potential of a step, with r the viscosity of the plate (N m s) over the step's length.

Normals "sin" and "tan" carry an angle phi per edge. They are eliminated: every evaluation solves for the phi of least
energy, to rounding (`terms/edge_angles.py`). Energy and gradient are then those of the condensed energy, exactly. Its
second derivative is not local,

    Hess = E_xx - E_xphi E_phiphi^-1 E_phix,

and `hessian` gives E_xx with phi held, which is at least as stiff: Newton's method converges linearly where the angles
matter. `angle_system` gives all three parts, for solvers that carry phi as unknowns, and `condensed_hessian` the sum;
`rest_gradient` is that with phi held too, and `condensed_rest_gradient` the whole. With "average" there is no phi, and
all blocks are the derivatives themselves.

Newton's method gets (1 + r / D) J^T W J with J = du/dx: positive semidefinite, without the second derivatives of u.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from scipy.sparse.linalg import splu

from isocloth.base.errors import InputError
from isocloth.base.typing import FloatArray, IntArray
from isocloth.terms.dihedral import hinges_of
from isocloth.terms.edge_angles import face_states, relax
from isocloth.terms.face_metric import TINY, along_imaginary
from isocloth.terms.mid_edge import NORMALS, PatchCorners, Patches, altitudes, patches_of
from isocloth.terms.quadratic_membrane import first_sides, isotropic_law, quadratic_form
from isocloth.terms.rest_shape import RestShape, assembled_rest_gradient, gathered, metric_jacobian
from isocloth.terms.second_form import form_couplings, form_gradients, form_hessians, form_jacobians, turn_all

#: takes II_0, II_1, II_2 to the entries 11, 12, 22 of B
_FORM = np.array([[1.0, 1.0, 0.0], [1.0, 0.0, 0.0], [1.0, 0.0, 1.0]])


class FaceState(NamedTuple):
    """A shell at some positions."""

    phi: FloatArray  # (edges,) rad
    energy: FloatArray  # (f,) J
    lines: FloatArray  # (f, 4, 3): moments W r, 2 h f', 2 h f'', and r; see `terms/edge_angles.py`
    values: FloatArray  # u (f, 3) m


@dataclass(frozen=True, eq=False)
class KoiterBending:
    """The term, one stencil of six nodes per face; parameters "young" (Pa), "poisson", "thickness" (m).

    Made by `KoiterBending.of`.
    """

    rest: RestShape
    parameters: Mapping[str, float]
    direction: FloatArray  # (f, 2) first material direction of a face, in the basis d1, d2
    normals: str  # one of `NORMALS`
    patches: Patches
    corners: PatchCorners
    form: FloatArray  # W (f, 3, 3) J/m^2
    target: FloatArray  # ubar (f, 3) m
    target_gradient: FloatArray  # (f, 3, 36) dubar/dX over `corners`
    ratio: FloatArray  # (f,) r / D
    past: FloatArray  # (f, 3) m
    _known: list[tuple[FloatArray, FaceState]] = field(init=False, repr=False, default_factory=list)
    name: ClassVar[str] = "koiter"

    @classmethod
    def of(cls, rest: RestShape, normals: str, parameters: Mapping[str, float],
           direction: FloatArray | None = None) -> KoiterBending:  # fmt: skip
        """A shell on all faces of a rest shape, whose own normals have phi = 0."""
        if normals not in NORMALS:
            raise InputError(f"normals = {normals!r}: expected one of {', '.join(NORMALS)}")
        patches, corners = patches_of(rest)
        if direction is None:
            direction = first_sides(len(rest.corners))
        form = form_of(rest.metric, cls.law(parameters), direction)
        target, slope = _rest_values(rest, corners, normals == "tan")
        return cls(
            rest, parameters, direction, normals, patches, corners, form, target, slope, np.zeros(len(form)),
            np.zeros_like(target),
        )  # fmt: skip

    @staticmethod
    def law(parameters: Mapping[str, Any]) -> Any:
        """H (3, 3) N m over the curvatures 11, 22, 12, an analytic function of the parameters."""
        rigidity = parameters["young"] * parameters["thickness"] ** 3 / 12.0
        return isotropic_law(rigidity, parameters["poisson"])

    @property
    def stencils(self) -> IntArray:
        """(f, 6) corners of a face, and the corners beyond its edges; at the border its own corner again."""
        return self.patches.nodes

    @property
    def rest_stencils(self) -> IntArray:
        """(f, 6) nodes of a mesh, or (f, 12) corners of a rest shape whose faces have their own."""
        return self.corners.points if self.rest.torn else self.stencils

    def damped(self, rate: ArrayLike, past: FloatArray) -> KoiterBending:
        """The same with the viscous potential of a step, in place of any before.

        rate: r in N m, one or (f,); past: (f, 3) m, what `strain` gave at the beginning of the step.
        """
        stiffness = float(self.law(self.parameters)[0, 0])
        every = np.broadcast_to(np.asarray(rate, dtype=np.float64), len(self.form))
        return replace(self, ratio=every / max(stiffness, 1e-300), past=past)

    def strain(self, x: FloatArray) -> FloatArray:
        """u (f, 3) m at positions x (n, 3)."""
        return self.state(x).values

    def energy(self, x: FloatArray, out: FloatArray) -> None:
        """Write the energy of every face, (f,) J."""
        out[:] = self.state(x).energy

    def gradient(self, x: FloatArray, out: FloatArray) -> None:
        """Write dE/dx, (f, 6, 3) N."""
        state = self.state(x)
        form_gradients(self.patches, x, state.phi, self.normals == "tan", state.lines, out)

    def hessian(self, x: FloatArray, out: FloatArray, psd: bool) -> None:
        """Write d^2E/dx^2 with phi held, (f, 18, 18) N/m, or with `psd` what of it is a square."""
        state = self.state(x)
        form_hessians(
            self.patches, x, state.phi, self.normals == "tan", state.lines, self.form, 1.0 + self.ratio, psd, out
        )

    def rest_gradient(self, x: FloatArray) -> FloatArray:
        """Derivative of the gradient with phi held in the rest shape, (f, 18, 3k) N/m, over `rest_stencils`."""
        blocks = np.einsum("fki,fkj->fij", self._slopes(x), self._moment_gradient(x))
        return blocks if self.rest.torn else gathered(blocks, self.corners.points, self.stencils)

    def parameter_gradient(self, x: FloatArray) -> Mapping[str, FloatArray]:
        """Derivatives (f, 6, 3) of the gradient in every parameter, what phi does included."""
        state, slopes = self.state(x), self._slopes(x)
        found = {}
        for name, value in self.parameters.items():
            moved: dict[str, Any] = {**self.parameters, name: value + TINY * 1j}
            form = form_of(self.rest.metric, self.law(moved), self.direction).imag / TINY
            moment = np.einsum("fij,fj->fi", form, state.values - self.target)
            slope = np.einsum("fki,fk->fi", slopes, moment)
            if self.normals != "average":
                pull = np.zeros(len(state.phi))
                np.add.at(pull, self.patches.edges, moment * self.patches.side * state.lines[:, 1])
                _, mixed, own = self._angle_blocks(x)
                change = -splu(_over_edges(own, self.patches.edges, len(pull)).tocsc()).solve(pull)
                slope = slope + np.einsum("fik,fk->fi", mixed, change[self.patches.edges])
            found[name] = slope.reshape(-1, 6, 3)
        return found

    def virtual_strain(self, x: FloatArray, way: FloatArray) -> FloatArray:
        """Change (f, 3) m of u under a displacement (n, 3), with what phi does then."""
        found = np.einsum("fki,fi->fk", self._slopes(x), way[self.stencils].reshape(-1, 18))
        if self.normals != "average":
            system, state = angle_system(self, x), self.state(x)
            turn = -splu(system.angles.tocsc()).solve(system.mixed.T @ way.ravel())
            found = found + self.patches.side * state.lines[:, 1] * turn[self.patches.edges]
        return np.asarray(found)

    def rest_product(self, strain: FloatArray, x: FloatArray) -> FloatArray:
        """v . dG/dX (p, 3) N for the gradient G of the energy with phi at its least, directions carried by the
        material; strain: that of v, as `virtual_strain` gives it."""
        out = np.zeros_like(self.rest.points)
        each = np.einsum("fk,fkj->fj", strain, self._moment_gradient(x))
        np.add.at(out, self.corners.points, each.reshape(-1, 12, 3))
        return out

    def direction_product(self, strain: FloatArray, x: FloatArray) -> FloatArray:
        """v . dG/dp (f, 2) J in the material directions."""
        r, law = self.state(x).lines[:, 3], self.law(self.parameters)
        slope = along_imaginary(
            lambda p: np.einsum("fij,fj->fi", form_of(self.rest.metric, law, p), r), self.direction
        )  # fmt: skip
        return np.einsum("fi,fik->fk", strain, slope)

    def state(self, x: FloatArray) -> FaceState:
        """Angles, energies and moments at positions x (n, 3); asked for again at the same x, the same arrays."""
        for at, found in self._known:
            if np.array_equal(at, x):
                return found
        count, tangent, p = len(self.form), self.normals == "tan", self.patches
        height, theta = np.empty((count, 3)), np.empty((count, 3))
        altitudes(p, x, height, theta)
        phi, energy, lines = np.zeros(len(self.rest.mesh.edges)), np.empty(count), np.empty((count, 4, 3))
        given = (p.edges, p.side, height, theta, self.form, self.target, self.ratio, self.past, tangent, phi)
        if self.normals != "average":
            relax(*given)
        face_states(*given, energy, lines)
        ratio = self.ratio[:, None]
        values = (lines[:, 3] + self.target + ratio * self.past) / (1.0 + ratio)
        found = FaceState(phi, energy, lines, values)
        # two, because a step with damping asks for the positions before it and for those before them
        self._known[:] = [(x.copy(), found), *self._known[:1]]
        return found

    def _slopes(self, x: FloatArray) -> FloatArray:
        """J = du/dx (f, 3, 18)."""
        out = np.empty((len(self.form), 3, 18))
        form_jacobians(self.patches, x, self.state(x).phi, self.normals == "tan", out)
        return out

    def _moment_gradient(self, x: FloatArray) -> FloatArray:
        """Derivative (f, 3, 36) N of W r in the rest points, u held."""
        r, law = self.state(x).lines[:, 3], self.law(self.parameters)
        cross = along_imaginary(
            lambda rest: np.einsum("fij,fj->fi", form_of(rest, law, self.direction), r), self.rest.metric
        )
        columns = -np.einsum("fij,fjk->fik", self.form, self.target_gradient)
        columns[:, :, :9] += np.einsum("fij,fjk->fik", cross, metric_jacobian(self.rest.points[self.rest.corners]))
        return columns

    def _angle_blocks(self, x: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """E_xx (f, 18, 18), E_xphi (f, 18, 3) and E_phiphi (f, 3, 3)."""
        state, count = self.state(x), len(self.form)
        blocks, mixed = np.empty((count, 18, 18)), np.empty((count, 18, 3))
        self.hessian(x, blocks, psd=False)
        form_couplings(
            self.patches, x, state.phi, self.normals == "tan", state.lines, self.form, 1.0 + self.ratio, mixed
        )
        slope = self.patches.side * state.lines[:, 1]
        own = (1.0 + self.ratio[:, None, None]) * self.form * slope[:, :, None] * slope[:, None, :]
        for i in range(3):
            own[:, i, i] += state.lines[:, 0, i] * state.lines[:, 2, i]
        return blocks, mixed, own


class AngleSystem(NamedTuple):
    """Second derivatives in positions and angles, for solvers that carry the angles as unknowns."""

    positions: sp.csr_matrix  # E_xx (3n, 3n) N/m
    mixed: sp.csr_matrix  # E_xphi (3n, edges) N
    angles: sp.csr_matrix  # E_phiphi (edges, edges) N m


def angle_system(term: KoiterBending, x: FloatArray) -> AngleSystem:
    """The three parts of the second derivative at positions x (n, 3); normals "sin" and "tan" only."""
    if term.normals == "average":
        raise InputError('normals = "average" have no angles of their own; take the Hessian of the term')
    blocks, mixed, own = term._angle_blocks(x)
    edges, n, count = term.patches.edges, x.size, len(term.rest.mesh.edges)
    places = (3 * term.stencils[:, :, None] + np.arange(3)).reshape(len(blocks), 18)
    i, j = (np.broadcast_to(part, blocks.shape).ravel() for part in (places[:, :, None], places[:, None, :]))
    k, e = (np.broadcast_to(part, mixed.shape).ravel() for part in (places[:, :, None], edges[:, None, :]))
    return AngleSystem(
        sp.csr_matrix((blocks.ravel(), (i, j)), shape=(n, n)),
        sp.csr_matrix((mixed.ravel(), (k, e)), shape=(n, count)),
        _over_edges(own, edges, count),
    )


def condensed_hessian(term: KoiterBending, x: FloatArray) -> FloatArray:
    """The second derivative (3n, 3n) N/m itself, with the angles eliminated; full, so for small meshes only."""
    system = angle_system(term, x)
    inverse = splu(system.angles.tocsc()).solve(system.mixed.T.toarray())
    full: FloatArray = system.positions.toarray() - system.mixed @ inverse
    return full


def condensed_rest_gradient(term: KoiterBending, x: FloatArray) -> FloatArray:
    """d^2E/dx dX (3n, 3p) N/m with the angles eliminated; full, so for small meshes only."""
    held = assembled_rest_gradient(term, x, len(x), len(term.rest.points)).toarray()
    system, state = angle_system(term, x), term.state(x)
    slope = term.patches.side * state.lines[:, 1]
    blocks = slope[:, :, None] * term._moment_gradient(x)  # E_phiX (f, 3, 36)
    columns = (3 * term.corners.points[:, :, None] + np.arange(3)).reshape(len(blocks), 1, 36)
    i = np.broadcast_to(term.patches.edges[:, :, None], blocks.shape).ravel()
    shape = (system.angles.shape[0], held.shape[1])
    pull = sp.csr_matrix((blocks.ravel(), (i, np.broadcast_to(columns, blocks.shape).ravel())), shape=shape)
    full: FloatArray = held - system.mixed @ splu(system.angles.tocsc()).solve(pull.toarray())
    return full


def form_of(rest: Any, law: Any, direction: FloatArray) -> Any:
    """W (f, 3, 3) J/m^2 over II_0, II_1, II_2; the form of strains, which are half of A - Abar, but B - Bbar whole."""
    return np.einsum("ai,fab,bj->fij", _FORM, quadratic_form(rest, 4.0 * law, direction), _FORM)


def _rest_values(rest: RestShape, corners: PatchCorners, tangent: bool) -> tuple[FloatArray, FloatArray]:
    """ubar (f, 3) and its derivative (f, 3, 36) in the rest points of patches."""
    p = rest.points[corners.points]
    values, slopes = np.empty((len(p), 3)), np.zeros((len(p), 3, 12, 3))
    for i in range(3):
        own = [(i + 1) % 3, (i + 2) % 3, i]
        beyond = [3 + 3 * i, 4 + 3 * i, 5 + 3 * i]
        hinges = hinges_of(p[:, own], p[:, beyond], corners.joined[:, i] == 1)
        f, df = _turned(hinges.angle / 2, tangent)
        values[:, i] = 2.0 * hinges.height * f
        turn = (hinges.height * df)[:, None, None]
        slopes[:, i, own] += 2.0 * f[:, None, None] * hinges.height_gradient + turn * hinges.first
        slopes[:, i, beyond] += turn * hinges.second
    return values, slopes.reshape(len(p), 3, 36)


def _turned(a: FloatArray, tangent: bool) -> tuple[FloatArray, FloatArray]:
    """f and f' of angles (e,)."""
    value, slope = np.empty_like(a), np.empty_like(a)
    turn_all(a, tangent, value, slope)
    return value, slope


def _over_edges(blocks: FloatArray, edges: IntArray, count: int) -> sp.csr_matrix:
    """Sum (edges, edges) of blocks (f, 3, 3)."""
    i, j = (np.broadcast_to(part, blocks.shape).ravel() for part in (edges[:, :, None], edges[:, None, :]))
    return sp.csr_matrix((blocks.ravel(), (i, j)), shape=(count, count))
