"""Measures of positions: of how well a motion keeps the cloth's metric, and of how far a shape is from developable."""

from isocloth.measure.curvature import gauss_curvature
from isocloth.measure.geodesics import orthogonal_geodesics
from isocloth.measure.metric import (
    AreaErrors,
    MetricErrors,
    Stretch,
    area_change,
    area_errors,
    areas,
    corner_measures,
    edge_stretch,
    metric_errors,
)
from isocloth.measure.normal_spread import normal_spread

__all__ = [
    "AreaErrors", "MetricErrors", "Stretch", "area_change", "area_errors", "areas", "corner_measures", "edge_stretch",
    "gauss_curvature", "metric_errors", "normal_spread", "orthogonal_geodesics",
]  # fmt: skip
