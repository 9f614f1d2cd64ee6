"""A recording made ready to be simulated again and again with other parameters."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from isocloth.base.errors import ConvergenceError
from isocloth.base.typing import FloatArray, IntArray
from isocloth.calibration.errors import Errors, errors
from isocloth.calibration.parameters import owned
from isocloth.fabric import Fabric
from isocloth.meshes import Mesh
from isocloth.models import Model, as_model
from isocloth.obstacles import Obstacle
from isocloth.recordings import Recording
from isocloth.simulation import Simulation
from isocloth.simulation.memory import ParticleMemory

#: first and last time in s, on the recording's clock
Window = tuple[float, float]


class Simulated(NamedTuple):
    """What a simulation of a recording gave."""

    positions: FloatArray  # (T, k, 3) m, the markers at the times of the recording
    frames: FloatArray  # (S, n, 3) m, all nodes at every step
    unconverged: int  # steps whose certificate said no
    iterations: int


@dataclass(frozen=True, eq=False, kw_only=True)
class Experiment:
    """A recording with the mesh, start, path and settings of its simulation. Made by `prepare`."""

    recording: Recording
    fabric: Fabric
    mesh: Mesh  # flat rest shape of the simulation
    start: FloatArray  # (n, 3) m
    velocities: FloatArray  # (n, 3) m/s
    held: IntArray  # nodes
    path: FloatArray  # (S + 1, h, 3) m, held nodes at every step, the start included
    timestep: float
    weights: FloatArray  # (k, c) and nodes (k, c): markers between the nodes of the mesh
    nodes: IntArray
    areas: FloatArray  # (k,) weight of every marker, summing up to 1
    markers: FloatArray  # (k, 3) m, the recorded markers at the start
    bias: FloatArray  # (k, 3) m, added to simulated markers in every frame
    particles: FloatArray | None = None  # (m, 3) m, where those of the nonconforming model start
    obstacles: tuple[Obstacle, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def times(self) -> FloatArray:
        """(S + 1,) s, of the steps."""
        return self.recording.times[0] + self.timestep * np.arange(len(self.path))

    def halves(self) -> tuple[Window, Window]:
        """The papers' training and test windows, s: the first and the second half."""
        a, b = float(self.recording.times[0]), float(self.recording.times[-1])
        return (a, 0.5 * (a + b)), (0.5 * (a + b), b)

    @property
    def model(self) -> Model:
        """The cloth model that is simulated."""
        return as_model(self.options.get("model", "isometric"))

    def at(self, values: Mapping[str, float]) -> Experiment:
        """The same with other values of parameters (SI units), whose names say whose they are: see `Parameter`.

        Of an obstacle that is not here nothing is said: of several recordings fitted together one may have a table.
        """
        new = owned(values)
        options = dict(self.options)
        if new.model:
            changed: dict[str, Any] = {**new.model}
            options["model"] = replace(self.model, **changed)
        return replace(
            self, fabric=replace(self.fabric, **new.fabric), options=options,
            obstacles=tuple(o.replace(friction=new.friction.get(o.name, o.friction)) for o in self.obstacles),
        )  # fmt: skip

    def simulation(self, fabric: Fabric | None = None) -> Simulation:
        """The cloth at its start, held by nobody yet; fabric: None = its own."""
        sim = Simulation(
            self.mesh.with_vertices(self.start), fabric or self.fabric, timestep=self.timestep, rest=self.mesh,
            obstacles=list(self.obstacles), **self.options,
        )  # fmt: skip
        if self.particles is not None:
            memory = sim.state.memory
            assert isinstance(memory, ParticleMemory)
            sim.state = replace(sim.state, memory=memory._replace(particles=self.particles))
        if self.velocities.any():
            sim.velocities = self.velocities
        return sim

    def simulate(self, fabric: Fabric | None = None, until: float | None = None) -> Simulated:
        """Simulate the recorded motion, with another fabric if one is given; obstacles keep their own friction.

        until: s, after which nothing is needed; frames after it are NaN.
        """
        sim = self.simulation(fabric)
        path, inverse, last = self.path, 1.0 / self.timestep, len(self.path) - 1

        def between(t: float) -> FloatArray:
            s = t * inverse
            k = min(int(s + 1e-6), last)
            share = s - k
            if share < 1e-6 or k == last:
                return path[k]
            return (1.0 - share) * path[k] + share * path[k + 1]

        sim.grasp(self.held, between)
        steps = last
        if until is not None:
            # one more: the last frame may lie between two steps
            steps = min(steps, max(1, int(np.ceil((until - self.recording.times[0]) * inverse - 1e-6)) + 1))
        frames = np.full((last + 1, *self.start.shape), np.nan)
        frames[0] = self.start
        unconverged = iterations = 0
        for k in range(1, steps + 1):
            report = sim.step()
            frames[k] = sim.state.positions
            unconverged += not report.converged
            iterations += report.iterations
        return Simulated(self.at_markers(frames), frames, unconverged, iterations)

    def at_markers(self, frames: FloatArray) -> FloatArray:
        """(T, k, 3) m: the markers at the times of the recording, from all nodes (S + 1, n, 3) at every step."""
        # markers that are nodes need no sum over the corners of an element
        single = (self.weights == 1.0).any(axis=1)
        if single.all():
            chosen = self.nodes[np.arange(len(self.nodes)), np.argmax(self.weights, axis=1)]
            points = frames[:, chosen]
        else:
            points = np.einsum("kq,tkqd->tkd", self.weights, frames[:, self.nodes])
        return self.at_times(points) + self.bias

    def at_times(self, points: FloatArray) -> FloatArray:
        """(T, ...) at the times of the recording, by straight lines between steps (S + 1, ...)."""
        s = (self.recording.times - self.recording.times[0]) / self.timestep
        before = np.clip(np.floor(s + 1e-6).astype(np.int64), 0, len(points) - 2)
        share = np.clip(s - before, 0.0, 1.0)[:, None, None]
        return (1.0 - share) * points[before] + share * points[before + 1]

    def errors(self, simulated: Simulated | FloatArray) -> Errors:
        """The papers' errors of every frame."""
        points = simulated.positions if isinstance(simulated, Simulated) else simulated
        return errors(self.recording.times, points, self.recording.positions, self.areas)

    def try_simulate(self, fabric: Fabric | None = None, until: float | None = None) -> Simulated | None:
        """`simulate`, or None if there is no motion with these parameters: a step has no finite solution.

        Anything else that is wrong, such as options that do not go together, is an error for whatever parameters.
        """
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                return self.simulate(fabric, until)
            except ConvergenceError:
                return None
