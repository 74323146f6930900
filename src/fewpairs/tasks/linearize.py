"""Two layers of a network as one linear map of a sketch: W₂·f(W₁x) ≈ (W₂·T_W₁)·T_x.

Needs PyTorch (the extra `transformers`). A sketch T_x of size m costs of order d + m·log m for each
degree. It stays as it was drawn; the matrix W₂·T_W₁ in front of it is learned further.

References
----------
Han, Avron, Shin, *Polynomial Tensor Sketch for Element-wise Function of Low-Rank Matrix*, section
4.4.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from fewpairs.arrays import FloatArray, RandomState, generator
from fewpairs.errors import InputError, MissingExtraError
from fewpairs.sketches.fitting import SketchOptions, make_map
from fewpairs.sketches.products import balance

if TYPE_CHECKING:
    import torch

    from fewpairs.tasks.sketched_layers import SketchedLayers


def linearize(
    first: torch.nn.Linear,
    second: torch.nn.Linear,
    function: Callable[[FloatArray], Any],
    inputs: Any,
    *,
    degree: int = 3,
    sketch_size: int = 100,
    exact_linear: bool = True,
    random_state: RandomState = None,
) -> SketchedLayers:
    """Replace ``second(function(first(x)))`` by a linear map of a sketch of x.

    Parameters
    ----------
    first, second : torch.nn.Linear
    function : callable of an array
        The activation between the layers, for NumPy arrays: ``scipy.special.expit`` for a sigmoid.
    inputs : tensor or array of shape (n, d)
        Examples of x: the polynomial that stands for the activation is fitted on their range.
    degree : int, default=3
        Of that polynomial.
    sketch_size : int, default=100
        There are ``degree * sketch_size + 1`` terms; those of an exact linear term become x itself.
    exact_linear : bool, default=True
        Keep the linear term exact on principal axes, in up to half of the terms: nearer to the
        layers at once. False sketches it: better after long training.
    random_state : int, Generator, RandomState or None

    Returns
    -------
    SketchedLayers
        A module that comes as near to the layers as the sketch allows; train it further like any
        other.
    """
    try:
        from fewpairs.tasks.sketched_layers import SketchedLayers  # noqa: PLC0415 - PyTorch
    except ImportError as error:
        raise MissingExtraError("torch", "transformers", "linearize") from error
    x = _array(inputs)
    if x.ndim != 2 or x.shape[1] != first.in_features or second.in_features != first.out_features:  # noqa: PLR2004
        raise InputError(
            f"the inputs have the shape {x.shape}, the layers {first.in_features} → "
            f"{first.out_features} and {second.in_features} → {second.out_features}.",
            "The outputs of one must be inputs of the next.",
            "Pass two layers that follow each other, and rows of inputs of the first.",
        )
    w1, w2 = (_array(layer.weight) for layer in (first, second))
    constant = first.bias is not None
    if constant:  # the bias becomes one more weight, of an input that is always 1
        w1 = np.hstack([w1, _array(first.bias)[:, None]])
        x = np.hstack([x, np.ones((len(x), 1))])
    options = SketchOptions(degree, sketch_size, "coreset", exact_terms=exact_linear)
    w1, x, scale = balance(w1, x)
    feature_map = make_map(function, w1, x, options, rng=generator(random_state))
    bias = np.zeros(len(w2)) if second.bias is None else _array(second.bias)
    # The map multiplies the terms of both sides by the square root of each coefficient. Here both
    # roots go into the matrix, and the terms of x stay as they are.
    weight = w2 @ (feature_map(w1) * feature_map.signs * feature_map.right)
    return SketchedLayers(feature_map.terms, weight, bias, 1 / scale, constant=constant)


def _array(tensor: Any) -> FloatArray:
    plain = tensor.detach().cpu() if hasattr(tensor, "detach") else tensor
    return np.asarray(plain, dtype=np.float64)
