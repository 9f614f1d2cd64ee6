"""A cloth on a table that hands fold, one move after the other, by simulation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass

import numpy as np

from isocloth.base.typing import FloatArray
from isocloth.fabric import Fabric
from isocloth.folding.hands import fold_path, grasped, held, place_path
from isocloth.meshes import Mesh
from isocloth.obstacles import Floor
from isocloth.simulation import Simulation
from isocloth.states import Fold

#: light cotton that shears a little (a coarse net without shear cannot fold askew) and, in air, is slow to fall
FABRIC = Fabric(density=0.2, damping=1.0, bending=5e-5, shear=10.0, friction=0.3)
TABLE = 0.5  # coefficient of friction
TIMESTEP = 0.01  # s
#: the cloth rests when no node is faster than this (m/s), and is waited for so long (s) after a move, at least and most
REST, PATIENCE = 0.02, (0.2, 1.5)


@dataclass
class Record:
    """What the steps report."""

    steps: int = 0
    unconverged: int = 0  # steps whose certificate said no
    isometry_error: float = 0.0  # largest of all steps
    min_gap: float = np.inf  # m, smallest of all steps
    speed: float = 0.0  # m/s, of the fastest node at the end

    def as_dict(self) -> dict[str, float]:
        """For a file."""
        return asdict(self)


class Stage:
    """A cloth that lies on a table.

    mesh : the cloth at rest, flat.
    start : positions (n, 3) in m; put on the table, whatever their height. None = the cloth at rest.
    look : called after every step.
    """

    def __init__(
        self,
        mesh: Mesh,
        start: FloatArray | None = None,
        *,
        fabric: Fabric = FABRIC,
        friction: float = TABLE,
        timestep: float = TIMESTEP,
        look: Callable[[Simulation], None] | None = None,
    ) -> None:
        self._half = 0.5 * fabric.thickness
        self.mesh, self.record, self._look = mesh, Record(), look
        self.sim = Simulation(
            mesh.with_vertices(self._landed(mesh.vertices if start is None else start)), fabric, rest=mesh,
            timestep=timestep, obstacles=[Floor(friction=friction)], self_collision=True,
        )  # fmt: skip

    @property
    def positions(self) -> FloatArray:
        """(n, 3) m."""
        return self.sim.positions

    def fold(self, fold: Fold, duration: float = 1.2) -> None:
        """Take what lies beyond a line by its corners, carry it over in so many seconds, let go, and wait for rest.

        Other hands hold the far ends of the rest.

        A fold under the cloth is one over it in the mirror of the table: the cloth, which has no upper side, is
        mirrored, folded, and mirrored back, and comes to rest on its flap.
        """
        if fold.under:
            self._mirror()
        x = self.sim.positions
        nodes = grasped(self.mesh, x, fold)
        path = fold_path(x, nodes, fold, self.sim.time, duration, 2.0 * self.sim.fabric.thickness)
        grasps = [self.sim.grasp(nodes, path)]
        still = held(x, fold)
        if still.size:
            grasps.append(self.sim.grasp(still))
        self.wait(duration)
        for grasp in grasps:
            grasp.release()
        self.settle()
        if fold.under:
            self._mirror()
            self.settle()

    def lift(self, corner: int, by: tuple[float, float], high: float, duration: float = 1.0) -> None:
        """Lift a corner so many m, put it down again moved by (x, y) m, let go, and wait for rest."""
        node = self.mesh.corners[[corner]]
        begin = self.sim.positions[node].copy()
        grasp = self.sim.grasp(node, place_path(begin, begin + np.array([*by, 0.0]), high, self.sim.time, duration))
        self.wait(duration)
        grasp.release()
        self.settle()

    def settle(self, most: float = PATIENCE[1]) -> bool:
        """Wait until it rests, which is returned, or for so many seconds at most."""
        least = PATIENCE[0]
        self.wait(least)
        end = self.sim.time + most - least - 1e-9
        while self._fastest() > REST and self.sim.time < end:
            self.wait(self.sim.timestep)
        self.record.speed = self._fastest()
        return self.record.speed <= REST

    def wait(self, duration: float) -> None:
        """Let time pass, s."""
        for _ in range(round(duration / self.sim.timestep)):
            report = self.sim.step()
            self.record.steps += 1
            self.record.unconverged += not report.converged
            self.record.isometry_error = max(self.record.isometry_error, report.isometry_error)
            self.record.min_gap = min(self.record.min_gap, report.min_gap)
            if self._look is not None:
                self._look(self.sim)

    def _fastest(self) -> float:
        return float(np.linalg.norm(self.sim.velocities, axis=1).max())

    def _mirror(self) -> None:
        self.sim.positions = self._landed(self.sim.positions * [1.0, 1.0, -1.0])
        self.sim.velocities = np.zeros_like(self.sim.positions)

    def _landed(self, x: FloatArray) -> FloatArray:
        return np.asarray(x + np.array([0.0, 0.0, self._half - x[:, 2].min()]))
