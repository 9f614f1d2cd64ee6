"""Scenes: a cloth, its fabric and what holds it, described in a TOML file (see docs/scenes.md)."""

from isocloth.scenes.build import build, cloth_mesh
from isocloth.scenes.load import load_scene
from isocloth.scenes.model import Cloth, GraspPlan, ObstaclePlan, Scene, Settings
from isocloth.scenes.obstacle_file import load_obstacles
from isocloth.scenes.shipped import find_scene, shipped_scenes
from isocloth.scenes.surroundings import Surroundings, load_surroundings

__all__ = [
    "Cloth",
    "GraspPlan",
    "ObstaclePlan",
    "Scene",
    "Settings",
    "Surroundings",
    "build",
    "cloth_mesh",
    "find_scene",
    "load_obstacles",
    "load_scene",
    "load_surroundings",
    "shipped_scenes",
]
