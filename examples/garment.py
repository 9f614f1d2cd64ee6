"""Hang a tank top on its shoulders and see how much its area changes (it should not)."""

import isocloth as ic


def main() -> float:
    mesh = ic.meshes.tank_top(triangles=600)
    sim = ic.Simulation(mesh, ic.Fabric(density=0.16, bending=1e-5, damping=0.2))
    sim.grasp(mesh.nearest([[-0.13, 0.0, 0.65], [0.13, 0.0, 0.65]]))
    trajectory = sim.run(0.5, every=0.02)
    trajectory.save("garment.h5")

    hung = mesh.with_vertices(trajectory.positions[-1])
    change = hung.area / mesh.area - 1.0
    print(f"{mesh!r}, area {mesh.area:.4f} m^2, changed by {100 * change:.3f} %")
    return change


if __name__ == "__main__":
    main()
