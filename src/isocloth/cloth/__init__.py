"""The discrete cloth, the numbers of one step, its tangent, and Newton's matrix."""
