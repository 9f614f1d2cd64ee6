"""isocloth: simulation of cloth that does not stretch."""
