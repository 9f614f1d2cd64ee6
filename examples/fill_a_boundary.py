"""Two cloths with the same boundary: both developable surfaces that a saddle-shaped curve bounds, from its points."""

import numpy as np

import isocloth as ic


def main() -> float:
    angle = 2.0 * np.pi * np.arange(160) / 160
    curve = np.stack([np.cos(angle), np.sin(angle), 0.4 * np.cos(2.0 * angle)], axis=1)
    surfaces = ic.developables(curve)
    for number, surface in enumerate(surfaces, start=1):
        surface.mesh(across=9).save(f"filling_{number}.obj")
        print(surface)
    return sum(surface.area for surface in surfaces)


if __name__ == "__main__":
    main()
