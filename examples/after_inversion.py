"""Garments of inverse design that are let go on living: in the wind, on bodies that move, down on the ground.

    python examples/after_inversion.py                       # five films, what they show in numbers
    python examples/after_inversion.py -o after.png          # and one picture of them, a row each
    python examples/after_inversion.py --films page hat      # some of them
    python examples/after_inversion.py --quick               # two, coarse and short

Every garment is inverted first, so that it begins at rest in its target; then something happens to it. Lines say how
well steps went and what moved where, and what is not as physics says ends the program. See docs/inverse.md.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from PIL import Image

import isocloth as ic
from isocloth.base.files import atomic_path

THICKNESS = 1e-3
KEPT = THICKNESS / 2  # from bodies

TIMESTEP = 0.01


class Film(NamedTuple):
    """What happened: `numbers` are names and values in SI units, `wrong` what is not as it must be."""

    name: str
    trajectory: ic.Trajectory
    numbers: dict[str, float]
    wrong: list[str]


# ------------------------------------------------------------------------------------------------------- garments


def revolved(
    profile: Sequence[tuple[float, float]], around: int, wave: Callable[[int, float], float] | None = None
) -> ic.Mesh:
    """Rings of radii and heights (m), every second one turned by half a step; wave(ring, angle) is added to radii."""
    points, faces = [], []
    for i, (r, z) in enumerate(profile):
        for a in 2.0 * np.pi * (np.arange(around) + 0.5 * (i % 2)) / around:
            wide = r + (wave(i, a) if wave else 0.0)
            points.append((wide * np.cos(a), wide * np.sin(a), z))
    for i in range(len(profile) - 1):
        for j in range(around):
            a, b = i * around + j, i * around + (j + 1) % around
            c, d = a + around, b + around
            faces += [(a, c, b), (b, c, d)] if i % 2 == 0 else [(a, c, d), (a, d, b)]
    return ic.Mesh(np.array(points), np.array(faces))


def inverted(target: ic.Mesh, fabric: ic.Fabric, shell: ic.models.DiscreteShell, **problem: object) -> ic.Inversion:
    """The design, or why there is none."""
    found = ic.invert(target, fabric, model=shell, progress=False, **problem)
    if not found.reached:
        raise SystemExit(f"the target was not reached: {found.problem}")
    return found


def smooth(time: float, begin: float, end: float) -> float:
    """From 0 to 1 between two times (s), without a jerk."""
    s = float(np.clip((time - begin) / (end - begin), 0.0, 1.0))
    return s * s * s * (10.0 - 15.0 * s + 6.0 * s * s)


class Gust:
    """Wind that rises within `rise` seconds, as drag on every face; a ball in its way turns it aside.

    The air flows around a ball of the radius R at the origin as an ideal fluid does: at the distance r in the direction
    n it has the velocity U + R^3 / (2 r^3) (U - 3 (U . n) n), which at the ball itself goes along its surface.
    """

    def __init__(self, mesh: ic.Mesh, wind: Sequence[float], rise: float, radius: float = 0.0) -> None:
        self.drag, self.wind, self.rise, self.radius = ic.AirDrag(mesh), np.array(wind), rise, radius

    def air(self, time: float, positions: np.ndarray) -> np.ndarray:
        """(n, 3) m/s."""
        wind = smooth(time, 0.0, self.rise) * self.wind
        if self.radius == 0.0:
            return np.broadcast_to(wind, positions.shape)
        r = np.linalg.norm(positions, axis=1, keepdims=True)
        n = positions / r
        return wind + 0.5 * (self.radius / r) ** 3 * (wind - 3.0 * (n @ wind)[:, None] * n)

    def __call__(self, time: float, positions: np.ndarray, velocities: np.ndarray) -> np.ndarray:
        """(n, 3) N: drag knows the velocity of the cloth through the air only."""
        return self.drag(time, positions, velocities - self.air(time, positions))


def finished(name: str, found: ic.Inversion, trajectory: ic.Trajectory, stretch: float) -> Film:
    """With the numbers of every film; `stretch` is how much longer or shorter edges may become, as a part."""
    numbers = {
        "converged": float(np.mean(trajectory.reports["converged"])),
        "gap": float(np.min(trajectory.reports["min_gap"])),
        "stretch": float(np.max(ic.measure.edge_stretch(found.rest, trajectory.positions).max)),
        "moved": float(np.linalg.norm(trajectory.positions - trajectory.positions[0], axis=2).max()),
    }
    film = Film(name, trajectory, numbers, [])
    must(film, numbers["converged"] == 1.0, "not all steps converged")
    must(film, numbers["gap"] > -0.1 * THICKNESS, "the cloth is too deep in a body or a layer")
    must(film, numbers["stretch"] < stretch, f"edges change their lengths by more than {100 * stretch:g} %")
    return film


def must(film: Film, true: bool, otherwise: str) -> None:
    if not true:
        film.wrong.append(otherwise)


# ---------------------------------------------------------------------------------------------------------- films


def page(quick: bool = False) -> Film:
    """A page that lies with its free edge turned up: wind gets under it and turns it over."""
    along, across = (16, 7) if quick else (29, 15)
    flat = ic.meshes.rectangle(0.2, 0.14, (along, across), element="triangle")
    s = flat.vertices[:, 0] / 0.2
    arch = 0.012 * np.sin(np.pi * np.clip(s / 0.45, 0.0, 1.0)) ** 2 + 0.004 * (1.0 - np.clip(s / 0.45, 0.0, 1.0)) ** 3
    lip = 0.045 * np.clip((s - 0.6) / 0.4, 0.0, 1.0) ** 2
    height = KEPT + arch + lip
    target = flat.with_vertices(np.stack([*flat.vertices[:, :2].T, height], axis=1))
    spine = np.flatnonzero(s < 1e-9)
    paper = ic.Fabric(density=0.1, thickness=THICKNESS, damping=0.02)
    shell = ic.models.DiscreteShell(stretch=50.0, bending=4e-4)
    book = ic.Box([0.0, 0.07, -0.0125], [0.44, 0.16, 0.025], friction=0.4, name="book")
    found = inverted(target, paper, shell, obstacles=[book], held=spine)
    sim = found.simulation(timestep=TIMESTEP, extra_force=Gust(found.target, (-4.0, 0.0, 0.0), 0.3))
    film = finished("page", found, sim.run(0.25 if quick else 0.55), 0.005)
    x, z = film.trajectory.positions[..., 0], film.trajectory.positions[..., 2]
    free = s > 1.0 - 1e-9
    edge_x, edge_z = x[:, free].mean(axis=1), z[:, free].mean(axis=1)
    film.numbers.update(
        edge_rises_to=float(edge_z.max()), edge_ends_at=float(edge_x[-1]), edge_ends_above=float(edge_z[-1])
    )
    must(film, edge_z.max() > 0.1, "the wind does not lift the page")
    if not quick:
        must(film, edge_x[-1] < -0.15 and edge_z[-1] < 0.06, "the page does not lie on the other side")
    return film


def hat(quick: bool = False) -> Film:
    """A hat on a head: wind lifts it and takes it away."""
    around, crown, brim = (20, 5, 3) if quick else (36, 7, 6)
    radius = 0.1
    level = np.radians(np.linspace(15.0, 62.0, crown))
    wide = np.where(np.arange(crown) < crown // 2, 1.0, 1.015 + 0.005 * np.arange(crown))  # it is off the head below
    profile = [(radius * f * np.sin(a), radius * f * np.cos(a)) for a, f in zip(level, wide, strict=True)]
    r, z = profile[-1]
    profile += [(r + 0.05 * k / brim, z + 0.012 * k / brim) for k in range(1, brim + 1)]
    head = ic.Sphere([0, 0, 0], radius - KEPT, friction=0.5, name="head")
    neck = ic.Capsule([0, 0, -0.2], [0, 0, -0.08], 0.045, name="neck")
    felt = ic.Fabric(density=0.3, thickness=THICKNESS, damping=0.02)
    shell = ic.models.DiscreteShell(stretch=20.0, bending=1e-3)
    found = inverted(revolved(profile, around), felt, shell, obstacles=[head, neck])
    sim = found.simulation(timestep=TIMESTEP, extra_force=Gust(found.target, (6.0, 0.0, 1.5), 0.2, radius))
    film = finished("hat", found, sim.run(0.25 if quick else 0.45), 0.01)
    places = film.trajectory.positions
    centre, brim_z = places.mean(axis=1), places[:, np.argmin(places[0, :, 0]), 2]
    off = float(np.linalg.norm(places[-1], axis=1).min() - radius)
    film.numbers.update(
        brim_rises=float(brim_z.max() - brim_z[0]),
        downwind=float(centre[-1, 0] - centre[0, 0]),
        aside=float(np.abs(centre[:, 1]).max()),
        from_head=off,
    )
    must(film, film.numbers["brim_rises"] > 0.03, "the wind does not lift the brim that it meets first")
    must(film, film.numbers["aside"] < 1e-3, "the hat leaves the plane of symmetry")
    if not quick:
        must(film, off > 0.1 and film.numbers["downwind"] > 0.3, "the hat does not leave the head downwind")
    return film


def sleeve() -> Film:
    """A puff sleeve on an arm that is raised and lowered."""
    around, rings, radius, length = 24, 15, 0.05, 0.24  # of the arm, with what the cloth keeps from it

    def place(i: int, j: int) -> tuple[float, float, float]:
        a = 2.0 * np.pi * (j + 0.5 * (i % 2)) / around
        puff = 0.045 * np.sin(np.pi * i / (rings - 1))
        low = 0.5 * (1.0 - np.cos(a))  # it lies on the arm above, and is the wider the further it is below
        return (
            length * i / (rings - 1),
            (radius + puff * low) * np.sin(a),
            (radius + (puff + 0.02) * low**2) * np.cos(a),
        )

    tube = revolved([(1.0, float(-i)) for i in range(rings)], around)
    target = ic.Mesh(np.array([place(i, j) for i in range(rings) for j in range(around)]), tube.faces)
    shoulder = np.array([-0.1, 0.0, 0.0])
    arm = ic.Capsule(shoulder, [0.34, 0, 0], radius - KEPT, friction=0.7, name="arm")
    cotton = ic.Fabric(density=0.3, thickness=THICKNESS, damping=0.5)
    shell = ic.models.DiscreteShell(stretch=2.0, bending=5e-4)
    found = inverted(target, cotton, shell, obstacles=[arm])
    sim = found.simulation(timestep=TIMESTEP)
    reach = arm.centre() - shoulder

    def turned(time: float) -> np.ndarray:
        angle = np.radians(22.0) * (smooth(time, 0.0, 0.4) - 2.0 * smooth(time, 0.5, 0.9))
        c, s = np.cos(angle), np.sin(angle)
        return np.array([[c, 0.0, -s], [0.0, 1.0, 0.0], [s, 0.0, c]])

    def move(sim: ic.Simulation) -> None:
        turn = turned(sim.time + TIMESTEP)
        sim.move_to(arm, shoulder + turn @ reach, turn)

    move(sim)
    film = finished("sleeve", found, sim.run(1.2, on_frame=move), 0.05)
    # where it would be if it were fixed to the arm
    places = film.trajectory.positions - shoulder
    stiff = np.array([places[0] @ turned(time).T for time in film.trajectory.times])
    off = np.linalg.norm(places - stiff, axis=2)
    moved = float(np.linalg.norm(stiff - stiff[0], axis=2).max())
    film.numbers.update(
        arm_moved_it=moved, slips_on_arm=float(off[:, found.contact_nodes].max()), swings=float(off.max())
    )
    must(film, moved > 0.1 and film.numbers["slips_on_arm"] < 0.1 * moved, "the sleeve does not follow the arm")
    must(film, film.numbers["swings"] > film.numbers["slips_on_arm"], "what hangs does not swing")
    return film


def skirt() -> Film:
    """A skirt whose wearer kneels down: its hem comes to the ground and spreads there."""
    rings, around, radius, at = 15, 40, 0.12, np.radians(55.0)
    last = rings - 1
    r, z = radius * np.sin(at), radius * np.cos(at)
    profile = [(r, z)] + [(r + 0.008 + 0.14 * k / last, z - 0.33 * k / last) for k in range(1, rings)]

    def wave(i: int, a: float) -> float:
        return 0.02 * max(i - 1, 0) / (last - 1) * (1.0 + np.cos(8.0 * a))

    hips = ic.Sphere([0, 0, 0], radius - KEPT, friction=0.7, name="hips")
    # less far below the hem than the hips go down with the waistband, which so presses the hem on it
    ground = ic.Floor(height=profile[-1][1] - 0.02, friction=0.3, name="ground")
    cloth = ic.Fabric(density=0.15, thickness=THICKNESS, damping=1.0)
    shell = ic.models.DiscreteShell(stretch=10.0, bending=2e-4)
    found = inverted(revolved(profile, around, wave), cloth, shell, obstacles=[hips, ground], self_collision=True)
    sim = found.simulation(timestep=TIMESTEP)
    waistband = sim.grasp(np.arange(around))
    waist = sim.positions[:around].copy()
    up = np.array([0.0, 0.0, 1.0])
    loads: list[tuple[float, float, float]] = []  # N, upwards on the cloth: by the ground, the hips and the waistband

    def down(sim: ic.Simulation) -> None:
        move = -0.06 * smooth(sim.time + TIMESTEP, 0.05, 0.95) * up
        sim.move_to(hips, move)
        waistband.move_to(waist + move)
        loads.append((-sim.forces[ground].force @ up, -sim.forces[hips].force @ up, waistband.force.sum(axis=0) @ up))

    down(sim)
    film = finished("skirt", found, sim.run(1.2, on_frame=down), 0.1)
    weight = float(9.81 * 0.15 * found.rest.area)
    at_rest = np.array(loads)[-10:].mean(axis=0)
    waistband.release()  # not filmed: it springs up, and nothing presses any more
    free = sim.run(1.2)
    undone = float(-sim.forces[ground].force @ up), float(-sim.forces[hips].force @ up)
    spread = np.linalg.norm(film.trajectory.positions[:, -around:, :2], axis=2).mean(axis=1)
    film.numbers.update(
        weight=weight,
        ground_bears_at_first=loads[1][0],
        ground_bears=at_rest[0],
        hips_bear=at_rest[1],
        waistband_bears=at_rest[2],
        undone_ground_bears=undone[0],
        undone_hips_bear=undone[1],
        hem_spreads=float(spread[-1] - spread[0]),
    )
    must(film, film.numbers["hem_spreads"] > 0.01, "the hem does not spread")
    must(film, loads[1][0] == 0.0, "the hem is on the ground already")
    must(film, abs(at_rest.sum() - weight) < 0.01 * weight, "ground, hips and waistband do not bear the weight")
    must(film, bool(free.reports["converged"].all()), "not all steps converged once the waistband was undone")
    must(film, undone[0] < 1.01 * weight, "the ground bears more than the weight")
    must(film, abs(sum(undone) - weight) < 0.01 * weight, "ground and hips do not bear the weight")
    return film


def cape() -> Film:
    """A cape, most of which lies on shoulders that are shaken."""
    around, radius = 40, 0.12
    profile = [(radius * np.sin(a), radius * np.cos(a)) for a in np.radians(np.linspace(14.0, 84.0, 11))]
    r, z = profile[-1]
    profile += [(r + 0.004 + 0.01 * k, z - 0.017 * k) for k in range(1, 8)]

    def wave(i: int, a: float) -> float:
        return 0.002 * max(i - 10, 0) * np.cos(6.0 * a)

    torso = ic.Capsule([0, 0, -0.3], [0, 0, 0], radius - KEPT, friction=0.6, name="torso")
    wool = ic.Fabric(density=0.4, thickness=THICKNESS, damping=0.5)
    shell = ic.models.DiscreteShell(stretch=10.0, bending=5e-4)
    found = inverted(revolved(profile, around, wave), wool, shell, obstacles=[torso])
    sim = found.simulation(timestep=TIMESTEP)
    centre = torso.centre()

    def place(time: float) -> np.ndarray:
        part = smooth(time, 0.0, 0.2) * (1.0 - smooth(time, 0.8, 1.0))
        return np.array([0.04 * part * np.sin(2.0 * np.pi * 2.5 * time), 0.0, 0.0])

    def shake(sim: ic.Simulation) -> None:
        sim.move_to(torso, centre + place(sim.time + TIMESTEP))

    shake(sim)
    film = finished("cape", found, sim.run(1.2, on_frame=shake), 0.03)
    stiff = film.trajectory.positions[0] + np.array([place(t) for t in film.trajectory.times])[:, None]
    slip = np.linalg.norm(film.trajectory.positions - stiff, axis=2)
    on = found.contact_nodes
    film.numbers.update(
        touching=len(on) / len(found.rest.vertices),
        slip=float(slip[:, on].max()),
        swing=float(slip.max()),
        ends=float(slip[-1].max()),
    )
    must(film, film.numbers["touching"] > 0.5, "the zone of contact is small")
    must(film, film.numbers["slip"] < 0.01, "the cape slips off the shoulders")
    must(film, film.numbers["swing"] > 2.0 * film.numbers["slip"], "what hangs does not swing")
    return film


FILMS: dict[str, Callable[..., Film]] = {"page": page, "hat": hat, "sleeve": sleeve, "skirt": skirt, "cape": cape}
QUICK = ("page", "hat")


def save(made: Sequence[Film], path: str) -> None:
    """A row for every film; 200 colours are enough, and halve the file."""
    rows = [ic.pictures.contact_sheet(film.trajectory, width=1080, height=190, wireframe=False) for film in made]
    picture = Image.fromarray(np.concatenate(rows)).quantize(200, dither=Image.Dither.NONE)
    with atomic_path(path) as temporary:
        picture.save(temporary, format="PNG", optimize=True)


def main(arguments: Sequence[str] | None = None) -> list[Film]:
    parser = argparse.ArgumentParser(description="Garments of inverse design that are let go on living.")
    parser.add_argument("-o", "--output", help="a picture of the films (.png)")
    parser.add_argument("--films", nargs="+", choices=FILMS, help="these only")
    parser.add_argument("--quick", action="store_true", help="page and hat alone, coarse and short")
    chosen = parser.parse_args(arguments)
    names = chosen.films or (QUICK if chosen.quick else tuple(FILMS))
    if chosen.quick and not set(names) <= set(QUICK):
        parser.error(f"--quick knows {' and '.join(QUICK)} only")
    made = []
    for name in names:
        film = FILMS[name](quick=True) if chosen.quick else FILMS[name]()
        made.append(film)
        print(f"{name}: {', '.join(f'{key} {value:.3g}' for key, value in film.numbers.items())}", flush=True)
    if chosen.output:
        save(made, chosen.output)
    wrong = [f"{film.name}: {what}" for film in made for what in film.wrong]
    if wrong:
        raise SystemExit("\n".join(wrong))
    return made


if __name__ == "__main__":
    main()
