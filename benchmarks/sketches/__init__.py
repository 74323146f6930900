"""Functions of inner products, f(UVᵀ), without landmarks: kernels, transport, layers.

"The paper" is Han, Avron, Shin, *Polynomial Tensor Sketch for Element-wise Function of Low-Rank
Matrix*.
"""
