"""Drop a napkin on a sphere: once it lies still, it presses on the sphere with its weight."""

import isocloth as ic


def main() -> float:
    mesh = ic.meshes.rectangle(0.4, 0.4, (11, 11)).transformed(translation=[-0.2, -0.2, 0.31])
    sphere = ic.Sphere([0.0, 0.0, 0.15], 0.15, friction=0.5)
    sim = ic.Simulation(mesh, ic.Fabric(density=0.2, damping=1.0), obstacles=[sphere, ic.Floor()])
    sim.run(3.0)
    pressed = -float(sphere.force[2])
    print(f"the sphere carries {pressed:.4f} N; the napkin weighs {0.2 * mesh.area * 9.81:.4f} N")
    return pressed


if __name__ == "__main__":
    main()
