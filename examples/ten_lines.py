"""Ten lines: hang a cloth by two corners, let it swing for a second, and see that it has not stretched."""

import isocloth as ic


def main() -> float:
    mesh = ic.meshes.rectangle(0.42, 0.594, (17, 17))
    sim = ic.Simulation(mesh, ic.fabrics["denim"])
    sim.grasp(mesh.nearest([[0.0, 0.0, 0.0], [0.42, 0.0, 0.0]]))
    trajectory = sim.run(1.0)
    trajectory.save("ten_lines.npz")
    worst = float(trajectory.reports["isometry_error"].max())
    print(f"largest relative error of a squared length: {worst:.1e}")
    return worst


if __name__ == "__main__":
    main()
