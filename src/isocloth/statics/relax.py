"""Damped motion to near an equilibrium: what Newton's method on the equations of equilibrium then ends.

From far away a cloth finds its rest by moving there: the simulation's own steps, contacts and friction included, by
Euler's scheme, with so much damping that a pendulum as long as the cloth just does not swing, and a time step that
grows while steps are easy. Accuracy in time does not matter: a few dozen steps are enough, most often.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from isocloth.base.typing import FloatArray
from isocloth.simulation.memory import NewtonMemory
from isocloth.simulation.state import State
from isocloth.simulation.steppers import Part, Targets
from isocloth.simulation.steppers.work import begin_work, counted
from isocloth.solvers import NewtonOptions
from isocloth.statics.problem import Scene

#: s, the first time step, the shortest before giving up and the longest
FIRST, SHORTEST, LONGEST = 0.02, 1e-4, 0.2

#: factorisations up to which a step was easy, and from which it was hard; how the next one's length follows
EASY, HARD = 3, 8
LONGER, SHORTER, CUT = 1.3, 0.8, 0.5

#: sizes of the cloth per second below which a cloth that touches nothing is solved well: the noise of tensions that are
#: known roughly makes its energy look as if it was not convex
SLOW = 0.1
CAREFUL = NewtonOptions(force=0.02, force_floor=0.01, max_iterations=12)

#: part of the cloth by which hands are moved in a step, until they are where they are to hold
STRIDE = 0.02

#: sizes of the cloth that it falls, held by nobody and without touching anything, before it counts as lost
DEEPEST = 100.0


@dataclass
class Relaxation:
    """A motion to rest, which can be interrupted and goes on where it was."""

    scene: Scene
    state: State
    h: float = FIRST
    steps: int = 0
    work: int = 0  # factorisations
    motion: float = np.inf  # m, of the node that moved most in the last step
    lost: bool = False  # no step can be solved any more
    fallen: float = 0.0  # m, since something was touched

    def advance(self, count: int) -> None:
        """So many steps more, less where it is lost."""
        scene = self.scene
        for _ in range(count):
            if scene.sim.world is None:
                scene.newton.options = CAREFUL if self.speed < SLOW * scene.size and self.steps > 2 else NewtonOptions()
            part = self._step()
            self.steps += 1
            self.work += part.outcome.iterations
            if part.state is None:
                self.h *= CUT
                if self.h < SHORTEST:
                    self.lost = True
                    return
                continue
            before, after = self.state.positions, part.state.positions
            self.motion = float(np.linalg.norm(after - before, axis=1).max())
            memory = part.state.memory
            assert isinstance(memory, NewtonMemory)
            supported = scene.held.any() or len(memory.history.key) > 0
            self.fallen = 0.0 if supported else self.fallen + float((before - after)[:, 2].mean())
            self.state = part.state
            if part.outcome.iterations <= EASY and self.arrived:
                self.h = min(LONGER * self.h, LONGEST)
            elif part.outcome.iterations >= HARD:
                self.h *= SHORTER

    @property
    def speed(self) -> float:
        """m/s, of the fastest node."""
        return float(np.linalg.norm(self.state.velocities, axis=1).max())

    @property
    def arrived(self) -> bool:
        """Whether held nodes are where they are to be."""
        return bool(np.array_equal(self.state.positions[self.scene.nodes], self.scene.places))

    @property
    def falls(self) -> bool:
        """Whether nothing holds the cloth, and nothing will."""
        return self.fallen > DEEPEST * self.scene.size

    def put(self, positions: FloatArray, memory: NewtonMemory) -> None:
        """Go on from positions (n, 3), at rest."""
        still = np.zeros_like(positions)
        self.state = replace(self.state, positions=positions.copy(), velocities=still, memory=memory)
        self.h = min(self.h, FIRST)

    def _step(self) -> Part:
        """One step of Euler's scheme."""
        scene, state, h = self.scene, self.state, self.h
        start = state.positions + h * state.velocities
        now = state.positions[scene.nodes]
        way = scene.places - now
        far = float(np.linalg.norm(way, axis=1).max(initial=0.0))
        share = min(1.0, STRIDE * scene.size / far) if far > 0.0 else 1.0
        start[scene.nodes] = scene.places if share == 1.0 else now + share * way
        begin_work(scene.stepper, state)
        part = scene.stepper.advance(
            state, Targets(start, scene.held, (), state.poses, state.placed, None, state, 1, False), h
        )
        if part.state is None:
            return part
        # obstacles stand still, and so does their time
        return part._replace(state=replace(part.state, time=state.time, work=counted(scene.stepper, state)))
