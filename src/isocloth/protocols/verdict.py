"""What a protocol says of a model: its curve beside the master curve, the worst error, and OK or KO."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from isocloth.base.typing import FloatArray
from isocloth.models import BY_NAME, KoiterShell, Model, WovenShell

_KOITER = "OK, all six variants"
_FINE = "OK where fine"
#: protocol -> model -> verdict of section 3.5 of the thesis on static inverse modelling
THESIS = {
    "cantilever": {
        "koiter": _KOITER, "koiter-sin": _KOITER, "koiter-tan": _KOITER, "koiter-neo-hookean": _KOITER,
        "discrete_shell": "OK where finest",
    },
    "lateral_buckling": {
        "koiter": "OK where finest", "koiter-sin": _FINE, "koiter-tan": _FINE, "discrete_shell": "KO",
    },
    "stick_slip": {"mass_spring, projective": "KO, over-sticks above 0.25"},
}  # fmt: skip

#: models by the names that protocols know them by: all, and the variants of shells
BY_VARIANT: dict[str, str | Model] = {
    **{name: name for name in BY_NAME},
    "koiter-sin": KoiterShell(normals="sin"), "koiter-tan": KoiterShell(normals="tan"),
    "koiter-neo-hookean": KoiterShell(membrane="neo-hookean"), "woven-tan": WovenShell(normals="tan"),
}  # fmt: skip


def name_of(model: str | Model) -> str:
    """By what name a verdict calls a model."""
    if isinstance(model, str):
        return model
    parts = [getattr(model, name, usual) for name, usual in (("normals", "average"), ("membrane", "stvk"))]
    return "-".join([type(model).name, *[part for part in parts if part not in ("average", "stvk")]])


@dataclass(frozen=True)
class Verdict:
    """One model on one protocol.

    protocol, model: by name.
    parameter, observable: what `x` and the curves are.
    x: (k,) where the model was run; computed, expected: (k,) of the model and of the master curve.
    tolerance: largest relative error of an OK.
    unsolved: points whose equilibrium was not found; unstable: points at which a strip does not stay. They count as KO.
    notes: what else there is to say.
    """

    protocol: str
    model: str
    parameter: str
    observable: str
    x: FloatArray
    computed: FloatArray
    expected: FloatArray
    tolerance: float
    unsolved: int = 0
    notes: tuple[str, ...] = ()
    log: bool = False
    master: tuple[FloatArray, FloatArray] | None = field(default=None, repr=False)  # the curve itself, finer
    unstable: int = 0

    @property
    def errors(self) -> FloatArray:
        """Relative errors (k,)."""
        errors: FloatArray = np.abs(self.computed / self.expected - 1.0)
        return errors

    @property
    def worst(self) -> float:
        """The largest relative error; infinite where a point has no number."""
        errors = self.errors
        return float(errors.max()) if len(errors) and np.isfinite(errors).all() else np.inf

    @property
    def ok(self) -> bool:
        """Whether the model follows the master curve over the whole range."""
        return self.unsolved == 0 and self.unstable == 0 and self.worst <= self.tolerance

    @property
    def good(self) -> str:
        """The longest range of the parameter within the tolerance, as text."""
        fine = self.errors <= self.tolerance
        best, begin = (0, 0), 0
        for k in range(len(fine) + 1):
            if k == len(fine) or not fine[k]:
                best = max(best, (k - begin, begin))
                begin = k + 1
        if best[0] == 0:
            return "nowhere"
        return f"{self.x[best[1]]:g} to {self.x[best[1] + best[0] - 1]:g}"

    def table(self) -> str:
        """The points, one per line, and the verdict."""
        head = f"{self.protocol}, {self.model}"
        lines = [head, "-" * len(head), f"{self.parameter:>14} {self.observable:>12} {'expected':>12} {'error':>9}"]
        for x, y, e, error in zip(self.x, self.computed, self.expected, self.errors, strict=True):
            lines.append(f"{x:>14.6g} {y:>12.5g} {e:>12.5g} {100 * error:>8.2f}%")
        lines += [f"note: {note}" for note in self.notes]
        return "\n".join([*lines, self.line()])

    def line(self) -> str:
        """The verdict in a line."""
        unsolved = f", {self.unsolved} without equilibrium" if self.unsolved else ""
        unsolved += f", {self.unstable} unstable" if self.unstable else ""
        thesis = THESIS.get(self.protocol, {}).get(self.model)
        unsolved += f"; the thesis: {thesis}" if thesis else ""
        return (
            f"{'OK' if self.ok else 'KO'}  {self.protocol:<17} {self.model:<20} worst error {100 * self.worst:.2f} % "
            f"(OK up to {100 * self.tolerance:g} %), good {self.good}{unsolved}"
        )

    def plot(self, path: str | os.PathLike[str]) -> None:
        """The two curves as a picture, .png."""
        plot([self], path)


def plot(verdicts: list[Verdict], path: str | os.PathLike[str]) -> None:
    """Verdicts of several models on one protocol, as a picture, .png, with the master curve."""
    from isocloth.pictures.curves import Curve, curves_picture
    from isocloth.pictures.image import save_png

    first = verdicts[0]
    x, y = first.master if first.master is not None else (first.x, first.expected)
    curves: list[Any] = [Curve("master curve", x, y, line=True)]
    curves += [Curve(f"{v.model}: {'OK' if v.ok else 'KO'}", v.x, v.computed, line=False) for v in verdicts]
    save_png(
        curves_picture(curves, title=first.protocol, x_label=first.parameter, y_label=first.observable, log=first.log),
        path,
    )
