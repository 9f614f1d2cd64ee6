"""`pattern`: the flat panels, and the material, of a cloth whose hanging shape is given."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from typing import Any

from numpy.typing import ArrayLike

from isocloth.base.errors import InputError, InputTypeError
from isocloth.base.numeric import check_count, shown
from isocloth.fabric import Fabric
from isocloth.inverse.arguments import as_shell
from isocloth.inverse.joint import View
from isocloth.inverse.progress import Meter
from isocloth.inverse.rest_coordinates import RestCoordinates
from isocloth.inverse.rest_forces import RestForces
from isocloth.inverse.started import GRAVITY, started
from isocloth.inverse.supports import TOUCHING, check_supports, find_supports, lay_on
from isocloth.meshes import Mesh
from isocloth.models import DiscreteShell, Model, as_model
from isocloth.patterns.arguments import as_noise, as_unknown, refuse_scale
from isocloth.patterns.checkpoint import kept_in, marks_of
from isocloth.patterns.cut import cut_open
from isocloth.patterns.fit import FlatSearch
from isocloth.patterns.fitted import Pattern
from isocloth.patterns.flatten import flatten, laid_out
from isocloth.patterns.inextensible import UnrolledPattern, unrolled
from isocloth.patterns.split import split
from isocloth.statics.problem import as_problem

#: times that faces may be split
FINEST = 3
#: why cloth that does not stretch is not asked for what holds it
FORCELESS = (
    "cloth that does not stretch has the panels that its shape unrolls to, whatever forces act; leave it out, or take "
    "a shell, model=ic.models.DiscreteShell(...)"
)


def pattern(
    target: Mesh | ArrayLike,
    fabric: Fabric | None = None,
    *,
    model: str | Model | None = None,
    seams: Any = (),
    held: Any = None,
    obstacles: Any = (),
    contacts: Any = None,
    self_collision: bool = False,
    unknown: Any = None,
    noise: float | None = None,
    refine: int = 0,
    gravity: float | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    progress: bool = True,
) -> Pattern | UnrolledPattern:
    """Flat panels, and the density or stiffnesses, of a cloth that hangs, or lies, as its target does.

    Args:
        target: triangles; how it hangs once it is sewn. Its nodes are points of the cloth. Of cloth that does not
            stretch also points (n, 3) in m, of which a surface is made first.
        fabric: its density is a first guess if it is unknown.
        model: a shell, `ic.models.DiscreteShell(...)` by default; or one that does not stretch, "isometric" say, whose
            panels are what the target unrolls to, whatever holds it: of these arguments it takes seams and noise.
        seams: paths of nodes along edges, along which the target is cut open; a sequence, or name -> path. Both sides
            of a seam are as long as each other. A tube needs one, and a closed surface at least one.
        held: nodes that hands hold: where the target has them, or, with noise, near there.
        obstacles: on which it lies, with their friction; they stand still.
        contacts: nodes that touch them; None: those at the distance from bodies that is kept.
        self_collision: whether layers touch each other.
        unknown: "density", and names of stiffnesses of the model; None: the density. Shapes at rest tell ratios alone,
            so that one of them has to be known.
        noise: m, standard deviation of a coordinate of a target that was captured; None: the target is exact.
        refine: times that faces are split in four to compute the cloth more finely than it is given. The density of
            two of them tells how much of it is an error of the mesh.
        gravity: m/s^2, along -z; None: 9.81.
        checkpoint: file in which the search is kept while it goes on. One that was interrupted goes on from there, and
            ends in the same bits; the file is removed at the end.
        progress: say what happens, on standard error if that is a terminal.
    """
    error, given = as_noise(noise, target), DiscreteShell() if model is None else as_model(model)
    if given.inextensible:
        forces = {"held": held, "contacts": contacts, "unknown": unknown, "gravity": gravity, "checkpoint": checkpoint}
        for name, value in {**forces, "refine": refine or None}.items():
            if value is not None:
                raise InputError(f"{name} = {shown(value)} with the model {given.name!r}: {FORCELESS}")
        if self_collision or (isinstance(obstacles, Sequence) and len(obstacles)):
            raise InputError(f"obstacles and self-collision with the model {given.name!r}: {FORCELESS}")
        return unrolled(target, fabric, given, seams, error)
    if not isinstance(target, Mesh):
        raise InputTypeError(
            f"target is {type(target).__name__}: expected an isocloth.Mesh; of points make a surface first, "
            "ic.reconstruct(points).mesh, and name the nodes that hold it"
        )
    chosen = as_shell(given)
    names = as_unknown(("density",) if unknown is None else unknown, chosen)
    problem = as_problem(target, fabric, chosen, None, held, obstacles, self_collision,
                         GRAVITY if gravity is None else gravity)  # fmt: skip
    if len(problem.fabrics) > 1:
        raise InputError("fabric: expected one for all pieces of the target")
    density = problem.fabrics[0].weight_density
    if problem.gravity * density == 0.0:
        raise InputError(
            f"gravity = {problem.gravity:g}, density that weighs = {density:g}: expected a weight; without one a shape "
            "says nothing of stiffness"
        )
    check_count(refine, "refine")
    if refine > FINEST:
        raise InputError(f"refine = {refine}: expected at most {FINEST}, which makes {4**FINEST} faces of one")
    if refine and isinstance(chosen, DiscreteShell):
        raise InputError(
            f"refine = {refine} with the model {chosen.name!r}, whose stretch is that of an edge, so that a finer "
            "cloth is another one: expected 0, or model=ic.models.KoiterShell(...)"
        )
    cut = cut_open(target, seams)
    finer = split(target, cut, refine)
    problem = replace(problem, mesh=finer.mesh)
    sim = started(problem, contacts)
    laid = finer.mesh.with_vertices(lay_on(problem, sim, contacts))
    problem = replace(problem, mesh=laid)
    supports = find_supports(problem, sim, laid.vertices, contacts, 0.0, TOUCHING)
    check_supports(supports, laid)
    shape = target.with_vertices(laid.vertices[: target.n_vertices])
    start = flatten(shape, cut).points
    rest = RestCoordinates.of_panels(start, cut.corners, cut.panel, cut.pairs)
    rest = rest.split(finer.corners, finer.between, finer.place)
    refuse_scale(names, RestForces(laid, chosen, density, problem.gravity, rest.corners), rest.start)
    view = View(laid, problem.gravity, supports, error is not None, finer.seen)
    search = FlatSearch(view, chosen, density, names, rest, error)
    marks = marks_of(problem, cut, contacts, names, error) if checkpoint is not None else {}
    with kept_in(checkpoint, marks) as kept, closing(Meter(progress, "pattern")) as meter:
        stage = kept.load() if kept is not None else None
        found = search.run(search.start() if stage is None else stage, meter.say, *([kept.save] if kept else []))
    return Pattern(shape, problem, cut, laid_out(found.fit.points[: len(start), :2], cut), found, error)
