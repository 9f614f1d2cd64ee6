"""Save the state, go on, come back, and go on again: the same bits both times."""

import numpy as np

import isocloth as ic


def main() -> float:
    mesh = ic.meshes.rectangle(0.4, 0.4, (9, 9))
    sim = ic.Simulation(mesh, ic.fabrics["denim"])
    sim.grasp(mesh.corners[:2])
    sim.run(0.3)

    saved = sim.state.copy()
    first = sim.run(0.3)
    sim.state = saved
    second = sim.run(0.3)

    difference = float(np.abs(first.positions - second.positions).max())
    print(f"largest difference between the two: {difference} m")
    return difference


if __name__ == "__main__":
    main()
