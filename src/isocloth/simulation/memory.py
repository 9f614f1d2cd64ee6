"""What steppers remember from step to step beside positions and velocities: plain arrays, too."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from isocloth.base.typing import BoolArray, FloatArray
from isocloth.contact.history import NO_HISTORY, ContactHistory, ContactState
from isocloth.solvers.coupling import NO_COUPLING, CouplingPattern


class NewtonMemory(NamedTuple):
    """Of steps that Newton's method solves.

    multipliers: (r,) J, tension of every row, the next solve's start.
    touching: (n,) which nodes were in contact at the end of the last step.
    first_order: (n,) which nodes take the first-order scheme in the next step: see `simulation/steppers/impacts.py`.
    history: the contacts that carried force, and what is known of them.
    coupling: the contacts for which the factor is laid out, and the order of its variables: rounding depends on it.
    """

    multipliers: FloatArray
    touching: BoolArray
    first_order: BoolArray
    history: ContactHistory = NO_HISTORY
    coupling: CouplingPattern = NO_COUPLING

    def to_dict(self) -> dict[str, Any]:
        """Name -> array or number."""
        law = {f"contact_{name}": value for name, value in self.history.law._asdict().items()}
        coupling = {f"coupling_{name}": value for name, value in self.coupling._asdict().items()}
        own = {"multipliers": self.multipliers, "touching": self.touching}
        own.update(first_order=self.first_order, contact_key=self.history.key)
        return {**own, **law, **coupling}

    @staticmethod
    def from_dict(values: Mapping[str, Any]) -> NewtonMemory:
        """What `to_dict` was made from."""
        law = ContactState(*[values[f"contact_{name}"] for name in ContactState._fields])
        coupling = CouplingPattern(*[values[f"coupling_{name}"] for name in CouplingPattern._fields])
        return NewtonMemory(
            values["multipliers"], values["touching"], values.get("first_order", values["touching"]),
            ContactHistory(values["contact_key"], law), coupling,
        )  # fmt: skip


class ParticleMemory(NamedTuple):
    """Of the nonconforming model: particles (m, 3) m and their velocities m/s, and which nodes (n,) touched."""

    particles: FloatArray
    velocities: FloatArray
    touching: BoolArray

    def to_dict(self) -> dict[str, Any]:
        """Name -> array."""
        return {"particles": self.particles, "particle_velocities": self.velocities, "touching": self.touching}

    @staticmethod
    def from_dict(values: Mapping[str, Any]) -> ParticleMemory:
        """What `to_dict` was made from."""
        return ParticleMemory(values["particles"], values["particle_velocities"], values["touching"])


Memory = NewtonMemory | ParticleMemory


def memory_from_dict(values: Mapping[str, Any]) -> Memory:
    """The memory of whichever stepper."""
    return ParticleMemory.from_dict(values) if "particles" in values else NewtonMemory.from_dict(values)


def fits(memory: Memory, other: Memory) -> str:
    """Empty, or why a memory cannot take the place of another."""
    if type(memory) is not type(other):
        return (
            f"the state has a {type(memory).__name__}: expected a {type(other).__name__}; it belongs to a simulation "
            "with another model"
        )
    if isinstance(memory, ParticleMemory):
        assert isinstance(other, ParticleMemory)
        if memory.particles.shape != other.particles.shape:
            return (
                f"the state has {len(memory.particles)} particles: expected {len(other.particles)}; it belongs to a "
                "simulation with another mesh"
            )
        return ""
    assert isinstance(other, NewtonMemory)
    if np.shape(memory.multipliers) != other.multipliers.shape:
        return (
            f"the state has {np.shape(memory.multipliers)} multipliers: expected {other.multipliers.shape}; it belongs "
            "to a simulation with another mesh or discretisation"
        )
    if not np.isfinite(memory.multipliers).all():
        return "the state's multipliers are not finite; it was saved after a step that failed"
    return ""
