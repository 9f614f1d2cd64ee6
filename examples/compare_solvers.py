"""The same swing with both solvers: Newton on the whole step, and fast projection as in the papers."""

import numpy as np

import isocloth as ic


def main() -> float:
    mesh = ic.meshes.rectangle(0.42, 0.594, (9, 13))
    motions = {}
    for solver in ("newton", "projection"):
        sim = ic.Simulation(mesh, ic.Fabric(density=0.3, damping=0.3), timestep=0.005, solver=solver)
        sim.grasp(mesh.nearest([[0.0, 0.0, 0.0], [0.42, 0.0, 0.0]]))
        motions[solver] = sim.run(0.5)
        solves = motions[solver].reports["iterations"].sum() / sim.state.steps
        worst = motions[solver].reports["isometry_error"].max()
        print(f"{solver:>10}: {solves:.2f} solves per step, worst isometry error {worst:.1e}")
    gap = np.linalg.norm(motions["newton"].positions - motions["projection"].positions, axis=2)
    print(f"root mean square of their distance: {1000 * np.sqrt(np.mean(gap**2)):.2f} mm")
    return float(np.sqrt(np.mean(gap**2)))


if __name__ == "__main__":
    main()
