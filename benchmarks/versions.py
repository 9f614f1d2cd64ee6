"""Two versions of isocloth beside each other: speed in turns, and whether their trajectories agree in every bit.

    python -m benchmarks.versions OTHER [scene ...] [--rounds 5]

OTHER is a checkout of the other version; its `src` is put in front of the path of a process of its own. The scenes use
public names only, which both versions have. Each round runs every scene once with either version, one after the other,
so that a busy machine is busy for both; the fastest round counts, in processor time of the stepping thread.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np


def _swing(nodes: int) -> Any:
    """A sheet whose upper corners are shaken; free, undamped."""
    import isocloth as ic

    flat = ic.meshes.rectangle(0.42, 0.594, (nodes, nodes))
    y, z = flat.vertices[:, 0], flat.vertices[:, 1]
    sim = ic.Simulation(flat.with_vertices(np.stack([np.full(nodes**2, 0.075), y, z], axis=1)), ic.Fabric(density=0.1))
    held = np.array([nodes - 1, nodes**2 - 1])
    start = sim.positions[held].copy()

    def path(t: float) -> np.ndarray:
        where = start.copy()
        where[:, 0] = 0.075 * np.cos(2.0 * np.pi * 0.6 * t)
        return where

    sim.grasp(held, path)
    return sim


def _bent(nodes: int) -> Any:
    """Irregular triangles with bending and damping that hang by two corners."""
    import isocloth as ic

    mesh = ic.meshes.rectangle(0.42, 0.594, (nodes, nodes), element="triangle")
    sim = ic.Simulation(mesh, ic.Fabric(bending=2e-5, damping=0.2, bending_damping=1e-7))
    sim.grasp(mesh.corners[:2])
    return sim


def _fold(nodes: int, **options: Any) -> Any:
    """A napkin folded in half on a floor, with friction and self-collision."""
    import isocloth as ic

    flat = ic.meshes.rectangle(1.0, 1.0, (nodes, nodes))
    fabric = ic.Fabric(density=0.2, bending=1e-4, damping=0.2, friction=0.4, thickness=1e-3)
    start = flat.vertices + np.array([0.0, 0.0, 0.5e-3])
    sim = ic.Simulation(
        flat.with_vertices(start),
        fabric,
        rest=flat,
        obstacles=[ic.Floor(friction=0.4)],
        self_collision=True,
        **options,
    )
    held = np.array([flat.nearest([1.0, y, 0.0]) for y in (0.0, 1.0)])
    begin = start[held].copy()

    def path(t: float) -> np.ndarray:
        turn = np.pi * (1.0 - np.cos(np.pi * min(t / 2.0, 1.0))) / 2.0
        where = begin.copy()
        where[:, 0] = 0.5 + 0.48 * np.cos(turn)
        where[:, 2] = begin[:, 2] + 0.48 * np.sin(turn) + 2e-3 * turn / np.pi
        return where

    where = path(0.0)
    shift = begin - where
    sim.grasp(held, lambda t: path(t) + shift * max(0.0, 1.0 - t))
    return sim


def _drape(nodes: int) -> Any:
    """A napkin that drapes over a ball that turns."""
    import isocloth as ic

    flat = ic.meshes.rectangle(1.0, 1.0, (nodes, nodes))
    fabric = ic.Fabric(density=0.2, bending=1e-4, damping=0.2, friction=0.4, thickness=1e-3)
    ball = ic.Sphere([0.5, 0.5, -0.2505], 0.25, friction=0.3, spin=[0.0, 0.0, 0.5])
    return ic.Simulation(flat, fabric, obstacles=[ball], self_collision=True)


def _pinched(nodes: int, **options: Any) -> Any:
    """A sheet between jaws that lift it off a floor, hit by a stick."""
    import isocloth as ic

    flat = ic.meshes.rectangle(0.4, 0.4, (nodes, nodes))
    start = flat.vertices + np.array([0.0, 0.0, 0.5e-3])
    fabric = ic.Fabric(density=0.2, bending=1e-5, damping=0.2, friction=0.4, thickness=1e-3)
    stick = ic.Stick([0.2, -0.2, 0.25], [0.2, 0.6, 0.25], 0.01, velocity=[-0.4, 0.0, 0.0])
    sim = ic.Simulation(
        flat.with_vertices(start),
        fabric,
        rest=flat,
        obstacles=[ic.Floor(friction=0.4), stick],
        self_collision=True,
        **options,
    )
    sim.pinch(
        None, [0.06, 0.06, 0.02], normal=[0.0, 0.0, 1.0], force=5.0, friction=0.6,
        path=lambda t: np.array([0.0, 0.2, 0.0005 + 0.3 * min(t, 1.0)]),
    )  # fmt: skip
    return sim


#: name -> how it is built, and steps
SCENES: dict[str, tuple[Callable[..., Any], int]] = {
    "swing 9x9": (lambda: _swing(9), 1400),
    "swing 17x17": (lambda: _swing(17), 700),
    "swing 33x33": (lambda: _swing(33), 200),
    "bent triangles 17x17": (lambda: _bent(17), 400),
    "fold 12x12": (lambda **options: _fold(12, **options), 260),
    "drape 20x20": (lambda: _drape(20), 100),
    "pinched 15x15": (lambda **options: _pinched(15, **options), 120),
}


def _work(scene: str) -> None:
    """In a process of its own: run a scene and print what came of it."""
    build, steps = SCENES[scene]
    sim = build()
    sim.step()  # loads the kernels
    sim = build()
    begin = time.perf_counter()
    sim = build()
    setup = time.perf_counter() - begin
    total, converged = hashlib.sha256(), 0
    seconds = 0.0
    for _ in range(steps):
        begin = time.thread_time()
        report = sim.step()
        seconds += time.thread_time() - begin
        converged += bool(report.converged)
        total.update(np.ascontiguousarray(sim.positions).tobytes())
    found = {
        "seconds": seconds, "setup": setup, "digest": total.hexdigest()[:16], "converged": converged, "steps": steps,
        "last": sim.positions.tolist(),
    }  # fmt: skip
    print(json.dumps(found))


def main(argv: list[str] | None = None) -> int:
    """Compare and print a table."""
    # not above: the process of a scene has the other version alone on its path
    from benchmarks.beside import SOURCE, run_scene

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("other", help="a checkout of the other version")
    parser.add_argument("scenes", nargs="*", help=f"any of: {', '.join(SCENES)}")
    parser.add_argument("--rounds", type=int, default=3, help="how often each scene runs with either version")
    given = parser.parse_args(argv)
    sources = {"other": Path(given.other) / "src", "this": SOURCE}
    print(f"{'scene':22s} {'other, s':>9s} {'this, s':>9s} {'ratio':>6s} {'set-up, ms':>17s}  bits")
    for scene in given.scenes or SCENES:
        best: dict[str, dict[str, Any]] = {}
        for _ in range(given.rounds):
            for name, source in sources.items():
                found = run_scene(__file__, source, scene)
                if name in best:
                    found["setup"] = min(found["setup"], best[name]["setup"])
                    found["seconds"] = min(found["seconds"], best[name]["seconds"])
                best[name] = found
        a, b = best["other"], best["this"]
        apart = float(np.abs(np.array(a["last"]) - np.array(b["last"])).max())
        bits = "identical" if a["digest"] == b["digest"] else f"differ, at the end by up to {apart:.1e} m"
        if a["converged"] != b["converged"]:
            bits += f"; converged {a['converged']} -> {b['converged']} of {b['steps']}"
        print(
            f"{scene:22s} {a['seconds']:9.3f} {b['seconds']:9.3f} {b['seconds'] / a['seconds']:6.3f} "
            f"{1e3 * a['setup']:8.1f} {1e3 * b['setup']:8.1f}  {bits}",
            flush=True,
        )
    return 0


if __name__ == "__main__":
    if len(sys.argv) == 3 and sys.argv[1] == "--work":
        _work(sys.argv[2])
    else:
        sys.exit(main())
