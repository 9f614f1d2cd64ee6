"""What a scene file says, as plain data. Lengths in m, times in s."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from isocloth.fabric import Fabric
from isocloth.models import Isometric, Model
from isocloth.scenes.motions import Hold, Motion

Vector = tuple[float, float, float]


@dataclass(frozen=True, kw_only=True)
class Cloth:
    """Which mesh, and where it starts.

    shape: name of the generator, or "file". sizes: its arguments. file, scale: the mesh file and the factor
    from its unit to m. position: translation, applied after the rotation. rotation: rotation vector (axis
    times angle), degrees. noise: standard deviation along the normal, m. seed: of the mesh and of the noise. rest: file
    of the rest shape, a mesh with the same faces or an array of corners; None = the mesh itself. fabric: what it is
    made of. name: by which grasps know it among others.
    """

    shape: str
    sizes: Mapping[str, Any] = field(default_factory=dict)
    file: Path | None = None
    scale: float = 1.0
    position: Vector = (0.0, 0.0, 0.0)
    rotation: Vector = (0.0, 0.0, 0.0)
    noise: float = 0.0
    seed: int = 0
    rest: Path | None = None
    fabric: Fabric = field(default_factory=Fabric)
    name: str = ""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How long and how it is simulated.

    every: time between frames; None = each step. resolve_start: push a cloth out of obstacles where it starts in them.
    """

    duration: float
    timestep: float = 0.01
    every: float | None = None
    gravity: float = 9.81
    integrator: str = "bdf2"
    model: Model = field(default_factory=Isometric)
    solver: str | None = None
    discretisation: str | None = None
    bending_model: str = "hessian"
    self_collision: bool = False
    contact: str = "coulomb"
    resolve_start: bool = False


@dataclass(frozen=True, kw_only=True)
class GraspPlan:
    """What is held, how it moves, and when it is let go.

    One of these names the nodes: nodes, indices; at, points whose nearest nodes are held, or all nodes
    within `radius` of them; where, names of places such as "top corners". piece: the name of the piece of cloth whose
    nodes are meant and counted; "" means all of them. max_force: N, beyond which it gives way.
    """

    nodes: tuple[int, ...] = ()
    at: tuple[Vector, ...] = ()
    radius: float = 0.0
    where: tuple[str, ...] = ()
    piece: str = ""
    motion: Motion = field(default_factory=Hold)
    release: float | None = None
    max_force: float | None = None


@dataclass(frozen=True, kw_only=True)
class PinchPlan:
    """A gripper that holds by friction.

    centre, size, rotation: the box between its jaws, the rotation as a rotation vector (axis times angle), degrees.
    normal: direction in which the jaws press. force: N, of each. motion: of the centre. release: when it opens.
    """

    centre: Vector
    size: Vector
    normal: Vector
    force: float
    friction: float
    rotation: Vector = (0.0, 0.0, 0.0)
    motion: Motion = field(default_factory=Hold)
    release: float | None = None


@dataclass(frozen=True, kw_only=True)
class ObstaclePlan:
    """A body, how rough it is and how it moves.

    kind: "floor", "sphere", ... sizes: what the kind takes beside these. file, scale: of a mesh, and the factor from
    its unit to m. velocity: m/s. spin: degrees/s. rotation: rotation vector (axis times angle), degrees. name: "" is
    the name of its kind.
    """

    kind: str
    sizes: Mapping[str, Any] = field(default_factory=dict)
    file: Path | None = None
    scale: float = 1.0
    friction: float = 0.3
    velocity: Vector | None = None
    spin: Vector | None = None
    rotation: Vector = (0.0, 0.0, 0.0)
    motion: Motion = field(default_factory=Hold)
    name: str = ""


@dataclass(frozen=True, kw_only=True)
class Scene:
    """A whole scene. cloths: its pieces of cloth. source: the file it was read from, which error messages name."""

    cloths: tuple[Cloth, ...]
    settings: Settings
    grasps: tuple[GraspPlan, ...] = ()
    pinches: tuple[PinchPlan, ...] = ()
    obstacles: tuple[ObstaclePlan, ...] = ()
    title: str = ""
    source: Path | None = None

    @property
    def cloth(self) -> Cloth:
        """The only piece of cloth, or the first."""
        return self.cloths[0]

    @property
    def fabric(self) -> Fabric:
        """What it is made of."""
        return self.cloth.fabric

    def called(self, index: int) -> str:
        """A piece of cloth as messages name it."""
        return "cloth" if len(self.cloths) == 1 else f"cloth[{index}]"
