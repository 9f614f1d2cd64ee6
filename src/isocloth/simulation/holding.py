"""Who holds the cloth: the part of a simulation with which grasps and grippers are made and ended."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from numpy.typing import ArrayLike

from isocloth.base.errors import InputError
from isocloth.base.typing import FloatArray
from isocloth.simulation.grasp import Grasp, sampled
from isocloth.simulation.gripper import Gripper, forget, remember
from isocloth.simulation.hands import Hands
from isocloth.simulation.memory import ParticleMemory
from isocloth.simulation.state import State
from isocloth.simulation.steppers import Method


class Holding:
    """Grasps and grippers of a simulation."""

    hands: Hands
    method: Method
    _state: State

    @property
    @abstractmethod
    def positions(self) -> FloatArray:
        """Node positions (n, 3) m."""

    @property
    @abstractmethod
    def time(self) -> float:
        """Simulated time, s."""

    @property
    @abstractmethod
    def timestep(self) -> float:
        """s."""

    @property
    @abstractmethod
    def state(self) -> State:
        """The state."""

    @abstractmethod
    def expect_contact(self) -> None:
        """Get ready for steps with contact."""

    @property
    def grasps(self) -> tuple[Grasp, ...]:
        """The grasps that hold now."""
        return self.hands.grasps

    def grasp(self, nodes: ArrayLike, path: Any = None, *, max_force: float | None = None) -> Grasp:
        """Hold nodes from now on.

        Args:
            nodes: a node index or several.
            path: a function of time (s) that returns (k, 3) positions in m, evaluated at the end of each step; a pair
                (times (T,), positions (T, k, 3)), or an array (T, k, 3) with one row per time step from now on; or
                None: the nodes stay until `grasp.move_to`.
            max_force: N, of all its nodes together; the grasp follows its path as far as this allows, and `grasp.lag`
                tells how far it is behind. None: any force, but what is pressed into a body or a layer stops there.
        """
        if max_force is not None and isinstance(self._state.memory, ParticleMemory):
            raise InputError("max_force is given: grasps of the nonconforming model do not give way; leave it out")
        chosen = self.hands.free_nodes(nodes, self._state)
        if path is not None and not callable(path) and not isinstance(path, tuple):
            path = sampled(path, self.positions[chosen], self.time, self.timestep)
        grasp = Grasp(self, chosen, path, self.positions[chosen], max_force)
        self.hands.grasps = (*self.hands.grasps, grasp)
        self.hands.hold(chosen, True)
        return grasp

    @property
    def grippers(self) -> tuple[Gripper, ...]:
        """The grippers that are closed now."""
        return self.hands.grippers

    def pinch(
        self,
        centre: ArrayLike | None,
        size: ArrayLike,
        *,
        normal: ArrayLike,
        force: float,
        friction: float,
        path: Any = None,
        rotation: Any = None,
    ) -> Gripper:
        """Close the two jaws of a gripper on the cloth that is between them, and hold it by friction from now on.

        Nodes in the box between the jaws stay where they are along `normal`, and along the jaws while less than
        2 friction * force pulls at them all together; beyond that they slip, and are lost once they leave the box.

        Args:
            centre: (3,) m, of the box between the jaws now; may be None with a path.
            size: (3,) m, of the box, along x, y and z before its rotation.
            normal: direction in which the jaws press now.
            force: N, with which each jaw presses.
            friction: coefficient between jaw and cloth.
            path: a function of time (s) that returns the centre (3,) in m, evaluated at the end of each step; a pair
                (times (T,), centres (T, 3)); or None: the gripper stays until `gripper.move_to`.
            rotation: (3, 3) matrix that turns the box about its centre; or a function of time that returns it.
        """
        if self.method.contact == "lagged":
            raise InputError("a gripper holds by friction that sticks: use contact='coulomb', the default, to pinch")
        gripper = Gripper(
            self, centre, size, normal=normal, force=force, friction=friction, path=path, rotation=rotation
        )
        gripper.close(self._state.positions, self.hands.taken(self._state))
        self.expect_contact()
        self._state = remember(gripper, self._state)
        self.hands.grippers = (*self.hands.grippers, gripper)
        return gripper

    def _open(self, gripper: Gripper) -> None:
        if gripper.active:
            number = self.hands.grippers.index(gripper)
            gripper.opened(self._state.gripper_wrenches[number, :3])
            self.hands.grippers = tuple(g for g in self.hands.grippers if g is not gripper)
            self._state = forget(gripper, number, self._state)

    def _release(self, grasp: Grasp) -> None:
        if grasp.active:
            grasp.active = False
            self.hands.grasps = tuple(g for g in self.hands.grasps if g is not grasp)
            self.hands.hold(grasp.nodes, False)
