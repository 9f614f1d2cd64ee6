"""From points to a triangulated surface: neighbours, tangent planes, the ribbon graph, its faces filled."""
