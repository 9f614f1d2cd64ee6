"""A simulation that lets go what it holds at planned times."""

from __future__ import annotations

from typing import Any

from isocloth.simulation import Grasp, Gripper, Report, Simulation


class ScheduledSimulation(Simulation):
    """A `Simulation` with releases at given times, rounded to whole steps.

    The plan depends on the time only, so a run that resumes from a checkpoint keeps to it.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._releases: list[tuple[float, Grasp | Gripper]] = []

    def release_at(self, time: float, grasp: Grasp | Gripper) -> None:
        """Let a grasp or a gripper go before the first step that starts at `time` (s), to the nearest step."""
        self._releases.append((time, grasp))

    def step(self) -> Report:
        """Let go what is due, then advance by one time step."""
        for time, grasp in self._releases:
            if self.time > time - 0.5 * self.timestep:
                grasp.release()
        return super().step()
