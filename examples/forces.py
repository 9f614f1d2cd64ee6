"""Weigh a cloth: once it hangs still, the forces of its two grippers add up to its weight."""

import isocloth as ic


def main() -> float:
    mesh = ic.meshes.rectangle(0.5, 0.3, (11, 7))
    fabric = ic.Fabric(density=0.25, damping=2.0, bending=1e-4)
    sim = ic.Simulation(mesh, fabric)
    left = sim.grasp(mesh.nearest([0.0, 0.0, 0.0]))
    right = sim.grasp(mesh.nearest([0.5, 0.0, 0.0]))
    sim.run(3.0)  # it swings down, and the strong damping brings it to rest

    measured = float(left.force[:, 2].sum() + right.force[:, 2].sum())
    print(f"grippers carry {measured:.4f} N; the cloth weighs {0.25 * mesh.area * 9.81:.4f} N")
    return measured


if __name__ == "__main__":
    main()
