"""`Pattern`: flat panels of a shell with the density, or stiffnesses, with which they hang as the target does."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from isocloth.base.typing import FloatArray
from isocloth.meshes import Mesh
from isocloth.models import Shell
from isocloth.patterns.arguments import DENSITY
from isocloth.patterns.cut import Cut
from isocloth.patterns.fit import FlatFit, Trial
from isocloth.patterns.panels import Panels
from isocloth.simulation import Simulation
from isocloth.statics import Equilibrium, equilibrium
from isocloth.statics.problem import Problem

#: standard deviation, as a part of what was sought, above which it is not told by the target
UNTOLD = 0.5
#: of a logarithm: how far from what was given something went that has gone astray
ASTRAY = 1.5
#: times the noise that was given: errors of the fit above which the cloth is another one than was said
UNLIKE = 1.5
#: times the error of a coordinate: root mean square of the distances of what a captured cloth comes to rest at
NEAR = 4.0


class Pattern(Panels):
    """Panels, density and stiffnesses, with what is known of how good they are. Made by `pattern`."""

    def __init__(
        self, target: Mesh, problem: Problem, cut: Cut, flat: FloatArray, found: FlatFit, given: float | None
    ) -> None:
        """problem: of the cloth as it was computed, more finely than the target maybe; given: m, the noise said."""
        super().__init__(target, cut, flat)
        self._problem, self._found, self._given = problem, found, given
        self._fitted = found.search

    # ------------------------------------------------------------------- what was sought

    @property
    def unknown(self) -> tuple[str, ...]:
        """What was sought beside the panels."""
        return self._fitted.names

    @cached_property
    def density(self) -> float:
        """kg/m^2 with which the cloth weighs."""
        return self._fitted.density_at(self._found.fit.logs)

    @cached_property
    def model(self) -> Shell:
        """The shell with the stiffnesses that were found."""
        return self._fitted.model_at(self._found.fit.logs)

    @cached_property
    def values(self) -> dict[str, float]:
        """Name -> value of what was sought beside the panels: kg/m^2, N, N m, Pa.

        Shapes at rest tell ratios alone: density over the stiffnesses that were given, and these over the density.
        """
        return {name: self.density if name == DENSITY else float(getattr(self.model, name)) for name in self.unknown}

    @cached_property
    def deviations(self) -> dict[str, float]:
        """Name -> standard deviation of a value, in its unit, from the noise: 0 of an exact target."""
        relative = self._found.relative
        return {name: value * float(part) for (name, value), part in zip(self.values.items(), relative, strict=True)}

    @property
    def flat_deviations(self) -> FloatArray:
        """(p,) m, standard deviation of a coordinate of every point of the panels, from the noise."""
        return self._found.points[: len(self.flat)]

    @property
    def noise(self) -> float:
        """m, error of a captured coordinate, as the fit says; 0 of an exact target."""
        return self._found.noise

    @property
    def trials(self) -> tuple[Trial, ...]:
        """Smoothnesses that were tried, with their scores in cross-validation."""
        return self._found.trials

    # ------------------------------------------------------------------- how good it is

    @cached_property
    def positions(self) -> FloatArray:
        """(n, 3) m of the sewn panels at rest: the equilibrium that is nearest to the target; where that is not stable,
        or was not found, what the cloth comes to from there."""
        if (self.balanced and self.stable) or not self.equilibrium.converged:
            found = self._best
        else:
            found = self.equilibrium.positions
        return found[: self.target.n_vertices]

    @property
    def _best(self) -> FloatArray:
        """(m, 3) m, the equilibrium that is nearest to the target, stable or not, as it was computed."""
        return self._found.fit.positions[0]

    @cached_property
    def error(self) -> float:
        """m, root mean square of the distances from the target."""
        return float(np.sqrt(np.mean(self.distances**2)))

    @cached_property
    def balanced(self) -> bool:
        """Whether the positions are an equilibrium, with forces in the cones of friction."""
        return self._found.ended and self._fitted.balanced(self._found.fit, 0)

    @cached_property
    def stable(self) -> bool:
        """Whether the nearest equilibrium comes back after a small push, with what touches held: no pivot is negative.

        Errors look like compression of the cloth as well, which buckles then: the equilibrium that fits a captured
        target best need not be stable, and that which the cloth comes to lies near it.
        """
        return self._fitted.stable(self._found.fit, 0)

    @property
    def exact(self) -> bool:
        """Whether the target itself is an equilibrium of the panels."""
        return self._found.exact

    @property
    def reached(self) -> bool:
        """Whether sewn panels hang as the target does, stably: exactly, or to the noise that was given."""
        if self.exact:
            return self.balanced and self.stable
        if self._given is None or not self.balanced or self.noise > UNLIKE * self._given:
            return False
        return self.stable or (self.equilibrium.converged and self.error <= NEAR * self.noise)

    @property
    def iterations(self) -> int:
        """Linear systems solved."""
        return self._found.iterations

    @property
    def problem(self) -> str:
        """Empty, or what is wrong and what would help."""
        said, names = [], " and ".join(self.unknown)
        off = f"{1e3 * self.error:.3g} mm in the mean and {1e3 * self.distances.max():.3g} mm at most"
        if not self._found.ended:
            hang = f"hang off by {off}" if self.equilibrium.converged else "come to no rest nearby"
            said.append(
                "no equilibrium of flat panels was found near the target: the panels are those that it unrolls to, and "
                f"{hang}; check the seams, the held nodes, the density and the stiffnesses"
            )
            if self._given is not None and self._astray:
                said.append(
                    f"{' and '.join(self._astray)} went ever farther from what was given, as where errors hide what "
                    "would tell it: where it is known, give it, and leave it out of what is unknown"
                )
        elif self.exact:
            pass
        elif self._given is None:
            said.append(
                f"no flat panels hang exactly like this; those found are off by {off}. If the target was captured, "
                "give its noise; else more seams, or other stiffnesses, may help"
            )
        elif self.noise > UNLIKE * self._given:
            said.append(
                f"the fit is off by {off}, as if errors were {1e3 * self.noise:.3g} mm and not the "
                f"{1e3 * self._given:.3g} mm given: the cloth differs from what was said, in its model, seams, or what "
                "holds it, or the noise is larger; errors stated are those of the fit"
            )
        if self._found.ended and not self.balanced:
            said.append("forces are out of balance, or out of the cones of friction")
        elif self._found.ended and not self.stable and not self.reached:
            rests = self.equilibrium.converged
            where = f"comes to rest {off} from the target" if rests else "comes to no rest nearby"
            said.append(f"the nearest equilibrium is not stable, the cloth is too soft for it: it {where}")
        if self._doubtful:
            said.append(
                f"the equilibrium that fits best is not stable: errors look like compression, and {names} and the "
                "deviations are not to be relied on; where a value is known, give it, and leave it out of what is "
                "unknown"
            )
        for name, deviation in self.deviations.items() if self._found.ended else ():
            if deviation > UNTOLD * self.values[name]:
                said.append(f"{name} is not told by this target: {self.values[name]:.3g} +- {deviation:.2g}")
        return "; ".join(said)

    @property
    def _doubtful(self) -> bool:
        """Whether errors of a capture hide what tells the values: the best fit buckles, where the cloth did not."""
        return bool(self.unknown) and self._found.ended and not self.exact and not self.stable

    @property
    def _astray(self) -> list[str]:
        """Names of what no search has brought to an end, and all have taken far."""
        return [
            name for k, name in enumerate(self.unknown) if all(abs(trial.logs[k]) > ASTRAY for trial in self.trials)
        ]  # fmt: skip

    def lines(self) -> list[tuple[str, str]]:
        """What was found, as names and texts."""
        out = [("reached", "yes" if self.reached else "no")]
        units = {DENSITY: "kg/m^2", **{name: limit.unit for name, limit in self.model.limits.items()}}
        for name, value in self.values.items():
            deviation = self.deviations[name]
            bars = f" +- {deviation:.2g}" if self._found.ended and deviation > 0.0 else ""
            told = (
                ", as given: not told" if not self._found.ended else ", not to be relied on" if self._doubtful else ""
            )
            out.append((name, f"{value:.4g}{bars} {units[name]}{told}"))
        if self.unknown:
            known = [DENSITY] if DENSITY not in self.unknown else []
            known += [name for name in self.model.limits if name not in self.unknown]
            out.append(("relative to", f"{', '.join(known)} as given: shapes at rest tell ratios alone"))
        if self._found.ended or self.equilibrium.converged:
            far = f"{1e3 * self.error:.3g} mm rms, {1e3 * self.distances.max():.3g} mm at most"
            out.append(("off the target", far))
        if not self.exact and self._found.ended:
            out.append(("noise, as fitted", f"{1e3 * self.noise:.3g} mm of a coordinate"))
            points = 1e3 * float(np.sqrt(np.mean(self.flat_deviations**2)))
            out.append(("error of panels", f"{points:.2g} mm of a coordinate, standard deviation"))
        stands = self.balanced and self.stable
        rests = not stands and not self.exact and self.equilibrium.converged
        out.append(("stable", "yes" if stands else "what it comes to, which is not the nearest" if rests else "no"))
        return [*out, *self.size_lines(), ("linear systems", str(self.iterations))]

    # ------------------------------------------------------------------- what comes next

    @cached_property
    def sewn(self) -> Problem:
        """The sewn panels as a problem of statics, as it was computed, held where the fit has them."""
        p, found = self._problem, self._fitted.rest
        rest = self.rest if len(found.corners) == len(self.cut.corners) else self._found.fit.points[found.corners]
        fabric = replace(p.fabrics[0], density=self.density, gravity_density=None)
        return replace(p, fabrics=(fabric,), model=self.model, rest=rest, places=self._best[p.nodes].copy())

    @cached_property
    def equilibrium(self) -> Equilibrium:
        """Where a cloth sewn of the panels comes to rest from its positions, by `ic.equilibrium`."""
        p = self.sewn
        return equilibrium(
            p.mesh.with_vertices(self._best), p.fabrics[0], model=p.model, rest=p.rest, obstacles=p.obstacles,
            held=p.nodes if len(p.nodes) else None, self_collision=p.self_collision, gravity=p.gravity,
        )  # fmt: skip

    def simulation(self, *, timestep: float = 0.01, **options: Any) -> Simulation:
        """A simulation of the cloth sewn of the panels, at rest as it hangs."""
        if self.equilibrium.converged:
            return self.equilibrium.simulation(timestep=timestep, **options)
        return self.sewn.simulation(self.positions.copy(), timestep=timestep, **options)

    def __repr__(self) -> str:
        known = "".join(f", {name} {value:.4g}" for name, value in self.values.items())
        state = "reached" if self.reached else f"off by {1e3 * self.error:.3g} mm"
        return f"<Pattern of {self.cut.n_panels} panels for {self.target!r}, {state}{known}>"
