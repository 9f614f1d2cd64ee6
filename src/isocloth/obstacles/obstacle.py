"""What all obstacles have in common, and the two kinds in which the cloth meets them."""

from __future__ import annotations

import copy
import pickle
import sys
import warnings
import weakref
from collections.abc import Callable
from functools import cached_property
from typing import Any, Protocol, Self, TypedDict, Unpack

import numpy as np
from numpy.typing import ArrayLike

from isocloth.base.errors import InputError, InputTypeError
from isocloth.base.typing import FloatArray, IntArray
from isocloth.obstacles.arguments import array, coefficient, fixed
from isocloth.obstacles.corners import NO_CORNERS, SharpCorners
from isocloth.obstacles.motion import Motion, Pose, RigidMotion
from isocloth.obstacles.sharp import NO_EDGES, SharpEdges
from isocloth.obstacles.value import Value

#: vertices (v, 3) m, and faces (f, 3) or (f, 4)
Surface = tuple[FloatArray, IntArray]


class Options(TypedDict, total=False):
    """Keywords of every obstacle; see `Obstacle`."""

    friction: float
    velocity: ArrayLike | None
    spin: ArrayLike | None
    path: Any
    rotation: ArrayLike | Callable[[float], ArrayLike] | None
    name: str | None


class Changes(Options, total=False):
    """Keywords of `Obstacle.replace`."""

    centre: ArrayLike


class Forces(Protocol):
    """Results of a step, which know the forces on obstacles."""

    def force_on(self, obstacle: Obstacle) -> FloatArray:
        """(3,) N: total force of the cloth on this very obstacle; another that is equal may be beside it."""
        ...


class Obstacle(Value):
    """Something that the cloth cannot pass. Where it is, is known for all times; the cloth does not move it.

    An obstacle is a value: it is equal to another of the same type and parameters, it can be copied, pickled and shared
    by any number of simulations. Its attributes are not to be assigned; `replace` makes a similar one.

    friction: coefficient mu of Coulomb friction with the cloth.
    velocity: (3,) m/s, constant.
    spin: (3,) rad/s, constant angular velocity about the centre.
    path: instead of a velocity: a function of time in s that returns the position (3,) of the centre in m, or a pair
        (times (T,), positions (T, 3)).
    rotation: (3, 3) matrix that turns the shape about its centre; or instead of a spin a function of time that
        returns it.
    name: what messages call it.

    The other parameters of an obstacle say where it is at time 0.
    """

    def __init__(
        self,
        centre: FloatArray | None,
        *,
        friction: float = 0.3,
        velocity: ArrayLike | None = None,
        spin: ArrayLike | None = None,
        path: Any = None,
        rotation: Any = None,
        name: str | None = None,
    ) -> None:
        self._friction = coefficient(friction)
        self._motion: RigidMotion = Motion(centre, velocity=velocity, spin=spin, path=path, rotation=rotation)
        self.name = type(self).__name__.lower() if name is None else str(name)

    # ------------------------------------------------------------------ as a value

    _transient = frozenset({"_drawn", "_last", "_sharp", "_pointed"})
    _unhashed = frozenset({"_friction"})
    _last: weakref.ref[Forces] | None = None

    def __copy__(self) -> Self:
        """The geometry is shared, and with it what is drawn; forces are those on this one only."""
        other = object.__new__(type(self))
        vars(other).update(Value.__getstate__(self))
        for name in ("_drawn", "_sharp", "_pointed"):
            if name in vars(self):
                vars(other)[name] = vars(self)[name]
        return other

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """What cannot be changed is shared: arrays that are read-only, motions and functions."""
        other = object.__new__(type(self))
        memo[id(self)] = other
        for name, value in Value.__getstate__(self).items():
            shared = callable(value) or (isinstance(value, np.ndarray) and not value.flags.writeable)
            vars(other)[name] = value if shared else copy.deepcopy(value, memo)
        return other

    def __reduce_ex__(self, protocol: Any) -> Any:
        if not _functions_by_value():
            for name, function in self._functions().items():
                _check_pickles(function, name, self, protocol)
        return super().__reduce_ex__(protocol)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for value in vars(self).values():
            if isinstance(value, np.ndarray):
                fixed(value)  # pickle forgets that an array is read-only

    def _functions(self) -> dict[str, Callable[..., Any]]:
        """The user's functions that it needs, by the name of their argument."""
        return self._motion.functions()

    def replace(self, **changes: Unpack[Changes]) -> Self:
        """A copy with another friction, name, centre at time 0 (3,) m, velocity, spin, path or rotation.

        Sizes are not among them: those make another body, which its class makes. A velocity takes the place of a path,
        and a path that of a velocity; so do a spin and a rotation that is a function of time.
        """
        unknown = sorted(set(changes) - set(Changes.__annotations__))
        if unknown:
            raise InputTypeError(
                f"{unknown[0]} cannot be replaced: expected friction, name, centre, velocity, spin, path or rotation; "
                f"make a new obstacle, {type(self).__name__}(...)"
            )
        motion: dict[str, Any] = dict(changes)
        friction, name = motion.pop("friction", self._friction), motion.pop("name", self.name)
        other = self.placed(self._moving(motion)) if motion else copy.copy(self)
        other._friction = coefficient(friction)
        other.name = type(self).__name__.lower() if name is None else str(name)
        return other

    def _moving(self, changes: dict[str, Any]) -> RigidMotion:
        """Its motion with other options."""
        if not isinstance(self._motion, Motion):
            raise InputError(
                f"{' and '.join(changes)} of {self.name!r}, which follows the motion that it was placed on: expected "
                "an obstacle that moves by its own options; replace those of the one that was placed"
            )
        if "centre" in changes:
            changes = {**changes, "centre": array(changes["centre"], "centre", (3,))}
        return self._motion.replace(**changes)

    def placed(self, motion: RigidMotion) -> Self:
        """A copy with the same geometry that follows another motion instead of its own."""
        other = copy.copy(self)
        other._motion = motion
        return other

    # ------------------------------------------------------------------ what a user asks

    @property
    def friction(self) -> float:
        """Coefficient of friction with the cloth."""
        return self._friction

    @friction.setter
    def friction(self, value: float) -> None:
        self._friction = coefficient(value)
        warnings.warn(
            "friction of an obstacle was assigned, which changes it in all simulations that share it; make a new "
            f"obstacle, obstacle.replace(friction={self._friction:g})",
            DeprecationWarning,
            stacklevel=2,
        )

    @property
    def force(self) -> FloatArray:
        """(3,) N: total force of the cloth on the obstacle in the last step of any simulation.

        Zero before any step, and when the results of that step are no more.
        """
        results = None if self._last is None else self._last()
        return np.zeros(3) if results is None else results.force_on(self).copy()

    def _seen_by(self, results: Forces) -> None:
        """Show forces of these results, which are not kept alive by that."""
        self._last = weakref.ref(results)

    def _unseen_by(self, results: Forces) -> None:
        """Show no forces of these results any more."""
        if self._last is not None and self._last() is results:
            self._last = None

    @property
    def still(self) -> bool:
        """Whether it never moves."""
        return self._motion.still

    def pose(self, time: float = 0.0) -> Pose:
        """Rotation (3, 3) and centre (3,) m of its own frame at a time in s: X of the frame is at c + R X."""
        turn, centre = self._motion.pose(time)
        return turn.copy(), centre.copy()

    def centre(self, time: float = 0.0) -> FloatArray:
        """(3,) m: where its centre is at a time in s."""
        return self._motion.pose(time)[1].copy()

    def displacement(self, points: FloatArray, before: float, now: float) -> FloatArray:
        """(m, 3) m: how far the matter of the body that is at points (m, 3) at `now` has moved since `before` (s)."""
        return self._motion.displacement(np.ascontiguousarray(points, dtype=np.float64), before, now)

    def sharp_edges(self, time: float = 0.0) -> SharpEdges:
        """Its sharp convex edges at a time in s; none of a body that is round."""
        return self._sharp.placed(*self._motion.pose(time)) if len(self._sharp.radius) else self._sharp

    @cached_property
    def _sharp(self) -> SharpEdges:
        """In the frame of the body."""
        return self._edges()

    def _edges(self) -> SharpEdges:
        return NO_EDGES

    def sharp_corners(self, time: float = 0.0) -> SharpCorners:
        """Its sharp convex corners at a time in s; none of a body that is round, or known by its points."""
        return self._pointed.placed(*self._motion.pose(time)) if len(self._pointed.depth) else self._pointed

    @cached_property
    def _pointed(self) -> SharpCorners:
        """In the frame of the body."""
        return self._corners()

    def _corners(self) -> SharpCorners:
        return NO_CORNERS

    def surface(self, time: float) -> Surface | None:
        """What to draw at a time in s, the same faces at all times; None if there is nothing to show."""
        raise NotImplementedError

    def __repr__(self) -> str:
        start = ", ".join(f"{x:g}" for x in self.centre())
        moves = "" if self.still else ", moving"
        return f"<{type(self).__name__} {self.name!r} at [{start}] m, friction {self.friction:g}{moves}>"


class Solid(Obstacle):
    """A body known by its signed distance: nodes of the cloth stay outside."""

    def gaps(self, points: FloatArray, time: float) -> tuple[FloatArray, FloatArray]:
        """Signed distances (m,) in m, negative inside, and unit normals (m, 3) out of the body.

        points: (m, 3) m. The normal is the gradient of the gap.
        """
        raise NotImplementedError

    def surface(self, time: float) -> Surface | None:
        """What to draw at a time in s; None if there is nothing to show."""
        if self._drawn is None:
            return None
        vertices, faces = self._drawn
        turn, centre = self._motion.pose(time)
        return vertices @ turn.T + centre, faces

    @cached_property
    def _drawn(self) -> Surface | None:
        return self._shape()

    def _shape(self) -> Surface | None:
        """The surface in the frame of the body."""
        raise NotImplementedError


class Features(Obstacle):
    """A body known by points, edges and faces, which faces, edges and nodes of the cloth do not pass.

    edges: (e, 2) and faces: (f, 3), indices of its vertices. radius: distance kept from them beside the thickness of
    the cloth, m.
    """

    edges: IntArray
    faces: IntArray
    radius: float = 0.0

    def vertices(self, time: float) -> FloatArray:
        """(k, 3) m: where its points are at a time in s; not to be written into."""
        raise NotImplementedError


def _check_pickles(function: Callable[..., Any], name: str, obstacle: Obstacle, protocol: Any) -> None:
    """Raise in words if pickle cannot keep a user's function."""
    try:
        pickle.dumps(function, protocol)
    except (AttributeError, TypeError, pickle.PicklingError) as error:
        samples = ", or give samples (times, positions)" if name == "path" else ""
        raise pickle.PicklingError(
            f"{name} of the obstacle {obstacle.name!r} ({type(obstacle).__name__}) is the function "
            f"{getattr(function, '__qualname__', repr(function))}, which cannot be pickled ({error}): expected a "
            f"function defined at the top level of a module; define it there{samples}"
        ) from error


def _functions_by_value() -> bool:
    """Whether a pickler is at work that keeps any function, with its code, as Dask's does."""
    frame = sys._getframe()
    while frame.f_back is not None:
        frame = frame.f_back
        if str(frame.f_globals.get("__name__", "")).partition(".")[0] in ("cloudpickle", "dill"):
            return True
    return False
