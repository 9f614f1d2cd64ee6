"""Hold a cloth, let it go, and compare its fall with g t^2 / 2: inner forces cannot move its centre of mass."""

import numpy as np

import isocloth as ic


def main() -> float:
    mesh = ic.meshes.rectangle(0.4, 0.4, (9, 9))
    sim = ic.Simulation(mesh, ic.Fabric(density=0.2), timestep=0.005)
    grasp = sim.grasp(mesh.corners)
    sim.run(0.3)
    sim.velocities = np.zeros_like(sim.positions)  # it hangs still for a moment
    grasp.release()

    mass = np.full(81, 1.0)  # per node, relative: a node owns a whole, half or quarter cell
    mass.reshape(9, 9)[[0, -1], :] *= 0.5
    mass.reshape(9, 9)[:, [0, -1]] *= 0.5
    height = np.average(sim.positions[:, 2], weights=mass)
    fall = 0.3
    sim.run(fall)

    expected = height - 0.5 * 9.81 * fall**2
    miss = float(np.average(sim.positions[:, 2], weights=mass) - expected)
    print(f"after {fall} s of free fall the centre of mass misses the parabola by {1000 * miss:.3f} mm")
    return miss


if __name__ == "__main__":
    main()
