"""Name folded states from noisy boundary points: the part of them that gets its right name."""

import numpy as np

import isocloth as ic


def main() -> float:
    classifier = ic.states.Classifier(ic.states.ideal_states())
    unseen = ic.states.ideal_states(3, seed=5)
    noise = np.random.default_rng(0)
    right = 0
    for positions, name in zip(unseen.positions, unseen.names(), strict=True):
        boundary = ic.states.boundary_of(unseen.mesh, positions)
        points = boundary.points + 0.01 * noise.standard_normal(boundary.points.shape)
        right += classifier.classify(points, corners=boundary.corners).name == name
    print(f"{right} of {len(unseen)} states named, with 10 mm of noise on every point")
    return right / len(unseen)


if __name__ == "__main__":
    main()
