"""Lay a tablecloth: lower it by two corners, walk back, let go. Friction then holds it where it lies, without creep."""

import numpy as np

import isocloth as ic


def main() -> float:
    flat = ic.meshes.rectangle(0.42, 0.594, (7, 9))
    upright = flat.transformed(rotation=[[1, 0, 0], [0, 0, -1], [0, 1, 0]], translation=[0.0, 0.0, 0.1])
    table = ic.Box([0.21, -0.3, -0.1], [1.0, 1.4, 0.2], friction=0.6, name="table")
    sim = ic.Simulation(upright, ic.Fabric(density=0.2, damping=0.5, bending=1e-4), obstacles=[table])

    corners = upright.nearest([[0.0, 0.0, 0.694], [0.42, 0.0, 0.694]])
    start = upright.vertices[corners]
    times = np.array([0.0, 0.5, 1.5, 3.0])
    steps = np.array([[0.0, 0.0, 0.0], [0.0, 0.0, -0.09], [0.0, -0.40, -0.25], [0.0, -0.585, -0.69]])
    hands = sim.grasp(corners, (times, start + steps[:, None]))
    sim.run(3.0)
    hands.release()
    sim.run(2.0)

    lying = sim.positions.copy()
    trajectory = sim.run(2.0, every=0.1)
    crept = float(np.linalg.norm(trajectory.positions[-1] - lying, axis=1).max())
    weight = 0.2 * flat.area * 9.81
    print(f"the table carries {-table.force[2]:.4f} N of {weight:.4f} N; moved by {1e3 * crept:.4f} mm within 2 s")
    return crept


if __name__ == "__main__":
    main()
