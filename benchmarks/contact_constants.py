"""Around the constants of contact: each is varied alone, and three scenes say what comes of it.

    python -m benchmarks.contact_constants [constant ...]

The variants are the values that `ContactOptions` names as tried, one on either side of the default. For each: steps
that did not converge, steps that were cut, processor time relative to the defaults in the same run, and how far the
mean height of the cloth at the end is from that of the defaults (folds land by chance: centimetres mean nothing).
"""

from __future__ import annotations

import argparse
import time
from dataclasses import fields, replace
from typing import Any

import numpy as np

import isocloth as ic
from benchmarks import contact_scenes, versions
from isocloth.contact.options import ContactOptions

#: steps of each scene
SCENES = {"fold 12x12": 260, "drape 12x12": 120, "pinched 15x15": 120}


def variants(name: str) -> list[Any]:
    """What is tried of a constant: the ends of the range in its metadata."""
    field = next(f for f in fields(ContactOptions) if f.name == name)
    return list(field.metadata["tried"])


def simulation(scene: str, options: ContactOptions) -> ic.Simulation:
    """A scene of `versions`, with other constants."""
    if scene == "drape 12x12":
        flat = ic.meshes.rectangle(1.0, 1.0, (12, 12))
        fabric = ic.Fabric(density=0.2, bending=1e-4, damping=0.2, friction=0.4, thickness=1e-3)
        ball = ic.Sphere([0.5, 0.5, -0.2505], 0.25, friction=0.3, spin=[0.0, 0.0, 0.5])
        return ic.Simulation(flat, fabric, obstacles=[ball], self_collision=True, contact_options=options)
    if scene == "fold 12x12":
        return contact_scenes.simulation(contact_scenes.fold(12), contact_options=options)
    sim: ic.Simulation = versions.SCENES[scene][0](contact_options=options)
    return sim


def run(options: ContactOptions) -> dict[str, float]:
    """All scenes with these constants, together."""
    failed = cut = 0
    seconds, heights = 0.0, []
    for scene, steps in SCENES.items():
        sim = simulation(scene, options)
        for _ in range(steps):
            begin = time.thread_time()
            report = sim.step()
            seconds += time.thread_time() - begin
            failed += not report.converged
            cut += report.substeps > 1
        heights.append(float(sim.positions[:, 2].mean()))
    return {"failed": failed, "cut": cut, "seconds": seconds, "heights": np.array(heights)}  # type: ignore[dict-item]


def main(argv: list[str] | None = None) -> int:
    """Print a line for every variant."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = [f.name for f in fields(ContactOptions)]
    parser.add_argument("constants", nargs="*", help=f"any of: {', '.join(names)}")
    given = parser.parse_args(argv)
    run(ContactOptions())  # loads the kernels
    base: dict[str, Any] = run(ContactOptions())
    print(
        f"defaults: {base['failed']} of {sum(SCENES.values())} steps failed, {base['cut']} cut, {base['seconds']:.2f} s"
    )
    print(f"{'constant':22s} {'value':>34s} {'failed':>6s} {'cut':>4s} {'time':>6s} {'heights, mm':>12s}")
    for name in given.constants or names:
        for value in variants(name):
            found: dict[str, Any] = run(replace(ContactOptions(), **{name: value}))
            apart = 1e3 * float(np.abs(found["heights"] - base["heights"]).max())
            ratio = found["seconds"] / base["seconds"]
            print(
                f"{name:22s} {value!s:>34s} {found['failed']:6d} {found['cut']:4d} {ratio:6.2f} {apart:12.2f}",
                flush=True,
            )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
