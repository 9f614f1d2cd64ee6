"""One sheet in six materials, each at rest between two hands, in one picture."""

import numpy as np

import isocloth as ic
from isocloth.pictures import contact_sheet, save_png


def main() -> float:
    flat = ic.meshes.rectangle(0.5, 0.5, (17, 17), element="triangle")
    flat = flat.transformed(rotation=[[1, 0, 0], [0, 0, -1], [0, 1, 0]])
    x, y, z = flat.vertices.T
    rolled = flat.with_vertices(np.stack([0.1 * np.sin(x / 0.1), y - 0.1 * np.cos(x / 0.1), z], axis=1))
    cloth, bare = ic.Fabric(density=0.2, bending=2e-5), ic.Fabric(density=0.2)
    scenes = {
        "isometric: woven, no stretch": ("isometric", cloth, flat),
        "elastic: a knit, 20 N/m": (ic.models.Elastic(stretch=20.0, shear=5.0), cloth, flat),
        "mass_spring: springs": ("mass_spring", cloth, flat),
        "discrete_shell: stiff paper": (ic.models.DiscreteShell(stretch=50.0, bending=2e-3), bare, flat),
        "koiter: thin rubber": (ic.models.KoiterShell(young=1e6, thickness=5e-4), bare, flat),
        "koiter: thick, rolled at rest": (ic.models.KoiterShell(young=1e6, thickness=3e-3), bare, rolled),
    }
    hands = {int(i): flat.vertices[i] + [0.16 * (0.25 - x[i]), 0, 0] for i in flat.corners[[1, 3]]}
    shapes = []
    for name, (model, fabric, rest) in scenes.items():
        hung = ic.equilibrium(flat, fabric, model=model, rest=rest, held=hands)
        shapes.append(hung.positions)
        print(f"{name:36} converged {hung.converged}, lowest point {hung.positions[:, 2].min():.3f} m")
    show = ic.Trajectory(times=np.arange(6.0), positions=np.array(shapes), faces=flat.faces, rest=flat.vertices)
    save_png(contact_sheet(show, captions=list(scenes), width=900, height=600), "which_model.png")
    return flat.with_vertices(shapes[0]).area / flat.area - 1.0


if __name__ == "__main__":
    main()
