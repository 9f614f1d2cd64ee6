"""Send a corner along a path given as an array, one row per time step, as a robot would record it."""

import numpy as np

import isocloth as ic


def main() -> float:
    mesh = ic.meshes.rectangle(0.3, 0.3, (9, 9))
    sim = ic.Simulation(mesh, ic.fabrics["wool"], timestep=0.01)

    t = np.linspace(0.0, 1.0, 101)[1:]  # where the gripper is at the end of each step
    arc = np.stack([0.1 * np.sin(np.pi * t), 0.0 * t, 0.1 * (1 - np.cos(np.pi * t))], axis=1)
    corner = mesh.vertices[mesh.corners[0]]
    sim.grasp(mesh.corners[0], corner + arc)
    trajectory = sim.run(1.0)

    followed = trajectory.positions[1:, mesh.corners[0]]
    miss = float(np.abs(followed - (corner + arc)).max())
    print(f"the corner follows {len(arc)} points within {miss:.1e} m")
    return miss


if __name__ == "__main__":
    main()
