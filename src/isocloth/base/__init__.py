"""What every room stands on: array types, errors, files, processes, compiled kernels, hash tables."""
