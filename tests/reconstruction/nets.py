"""The net of a well sampled surface, stage by stage."""

from isocloth.reconstruction.triangulation import net
from isocloth.reconstruction.triangulation.neighbours import local_spacing, nearest, tangent_neighbours
from isocloth.reconstruction.triangulation.normals import tangent_frames


def planar_net(points):
    """Frames, neighbours and their number, candidate edges and their votes, nearest points."""
    near, away = nearest(points)
    spacing = local_spacing(near, away)
    frames, _ = tangent_frames(points, near)
    found, _ = tangent_neighbours(points, frames, near, spacing, 2.5)
    edges, votes = net.candidate_edges(points, found)
    around, degree = net.planar_graph(points, frames, near, away, spacing, edges, net.GAP, net.APART, net.BENT)
    return frames, around, degree, edges, votes, near
