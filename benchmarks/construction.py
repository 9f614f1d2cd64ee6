"""Time to make a simulation: the first of a mesh, and a second one, which finds what the first has worked out.

    python -m benchmarks.construction [OTHER] [--scenes NAME ...] [--rounds 3]

OTHER is a checkout of another version, which is then measured in turns with this one, each in a process of its own. The
scenes use public names only, which both versions have. Kernels are loaded beforehand. The fastest round counts.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

#: makes the simulation of an episode
Make = Callable[[int], Any]

#: second constructions of which the fastest counts
REPEATS = 5


def _sheet(nodes: int, **options: Any) -> Make:
    """The same mesh and fabric in every episode."""
    import isocloth as ic

    fabric = {name: options.pop(name) for name in ("bending", "thickness", "shear") if name in options}
    mesh = ic.meshes.rectangle(1.0, 1.0, (nodes, nodes), element=options.pop("element", "quad"))
    return lambda episode: ic.Simulation(mesh, ic.Fabric(**fabric), **options)


def _irregular(nodes: int) -> Make:
    """Triangles of no pattern, with bending."""
    import isocloth as ic

    mesh = ic.meshes.irregular_rectangle(1.0, 1.0, nodes)
    return lambda episode: ic.Simulation(mesh, ic.Fabric(bending=1e-5))


def _among_obstacles(nodes: int) -> Make:
    """A sheet with bending above a floor, with self-collision."""
    import isocloth as ic

    mesh = ic.meshes.rectangle(1.0, 1.0, (nodes, nodes))
    fabric = ic.Fabric(bending=1e-5, thickness=1e-3)
    return lambda episode: ic.Simulation(mesh, fabric, obstacles=[ic.Floor(-0.1)], self_collision=True)


def _learning(nodes: int) -> Make:
    """An episode of a learning loop: an equal mesh made anew, and a fabric drawn at random."""
    import isocloth as ic

    def make(episode: int) -> Any:
        rng = np.random.default_rng(episode)
        density, bending, damping, friction = rng.uniform(0.5, 1.5, 4) * [0.2, 1e-5, 0.2, 0.4]
        mesh = ic.meshes.rectangle(0.4, 0.4, (nodes, nodes))
        fabric = ic.Fabric(density=density, bending=bending, damping=damping, friction=friction, thickness=1e-3)
        start = mesh.with_vertices(mesh.vertices + np.array([0.0, 0.0, 0.01 * rng.random()]))
        return ic.Simulation(start, fabric, rest=mesh, obstacles=[ic.Floor(friction=0.4)], self_collision=True)

    return make


SCENES: dict[str, Callable[[], Make]] = {
    "quads 9x9": lambda: _sheet(9),
    "quads 17x17": lambda: _sheet(17),
    "quads 33x33": lambda: _sheet(33),
    "quads 100x100": lambda: _sheet(100),
    "quads 17x17, bending": lambda: _sheet(17, bending=1e-5),
    "quads 100x100, bending": lambda: _sheet(100, bending=1e-5),
    "quads 17x17, bending and shear": lambda: _sheet(17, bending=1e-5, shear=30.0),
    "triangles 17x17, bending": lambda: _sheet(17, bending=1e-5, element="triangle"),
    "triangles 33x33": lambda: _sheet(33, element="triangle"),
    "irregular triangles, bending": lambda: _irregular(400),
    "among obstacles 17x17": lambda: _among_obstacles(17),
    "among obstacles 33x33": lambda: _among_obstacles(33),
    "learning loop 9x9": lambda: _learning(9),
    "learning loop 17x17": lambda: _learning(17),
    "quasi-inextensible 17x17": lambda: _sheet(17, model="quasi_inextensible"),
    "elastic 17x17": lambda: _sheet(17, model="elastic"),
    "mass-spring 17x17": lambda: _sheet(17, model="mass_spring"),
    "nonconforming 17x17": lambda: _sheet(17, model="nonconforming", element="triangle"),
}


def _work(scene: str) -> None:
    """In a process of its own: load the kernels, measure, and print what came of it."""
    import isocloth as ic

    make = SCENES[scene]()
    for element in ("quad", "triangle"):  # another mesh, of which nothing can be used again
        small = ic.meshes.rectangle(0.3, 0.2, (4, 3), element=element)
        floor = small.with_vertices(small.vertices + np.array([0.0, 0.0, 0.1]))
        ic.Simulation(floor, ic.Fabric(bending=1e-5), obstacles=[ic.Floor()], self_collision=True)
        kind = "nonconforming" if element == "triangle" else "quasi_inextensible"
        ic.Simulation(small, ic.Fabric(bending=1e-5), model=kind)
    begin = time.perf_counter()
    make(0)
    first = time.perf_counter() - begin
    second = np.inf
    for episode in range(1, REPEATS + 1):
        begin = time.perf_counter()
        make(episode)
        second = min(second, time.perf_counter() - begin)
    print(json.dumps({"first": first, "second": second}))


def main(argv: list[str] | None = None) -> int:
    """Measure and print a table."""
    # not above: the process of a scene has the other version alone on its path
    from benchmarks.beside import SOURCE, run_scene

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("other", nargs="?", help="a checkout of the other version")
    parser.add_argument("--scenes", nargs="*", help=f"any of: {'; '.join(SCENES)}")
    parser.add_argument("--rounds", type=int, default=3, help="how often each scene is measured with either version")
    given = parser.parse_args(argv)
    sources = {"this": SOURCE}
    if given.other:
        sources = {"other": Path(given.other) / "src", **sources}
    columns = [f"{which} {name}" for which in ("first", "second") for name in sources]
    print(f"{'times in ms':32s}" + "".join(f" {column:>13s}" for column in columns) + ("   second" * bool(given.other)))
    for scene in given.scenes or SCENES:
        best: dict[str, float] = {}
        for _ in range(given.rounds):
            for name, source in sources.items():
                for which, seconds in run_scene(__file__, source, scene).items():
                    key = f"{which} {name}"
                    best[key] = min(best.get(key, np.inf), 1e3 * seconds)
        line = f"{scene:32s}" + "".join(f" {best[column]:13.1f}" for column in columns)
        if given.other:
            line += f"   1/{best['second other'] / best['second this']:.1f}"
        print(line, flush=True)
    return 0


if __name__ == "__main__":
    if len(sys.argv) == 3 and sys.argv[1] == "--work":
        _work(sys.argv[2])
    else:
        sys.exit(main())
