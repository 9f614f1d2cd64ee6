"""From a surface and its cells to a mesh for simulation: spread nodes, or charts that are glued together."""
