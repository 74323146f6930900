"""Functions of inner products, f(UVᵀ), without landmarks: kernels, transport, layers."""
