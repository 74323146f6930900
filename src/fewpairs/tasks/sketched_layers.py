"""Two layers of a network on a sketch, in PyTorch: imported only where that is installed."""

from __future__ import annotations

import numpy as np
import torch

from fewpairs.arrays import FloatArray
from fewpairs.sketches.feature_map import Terms


class SketchedLayers(torch.nn.Module):
    """M·T_x + c: the sketch T is fixed, the matrix M and the bias c are learned further.

    Parameters
    ----------
    terms : Terms
        T: the constant 1, the linear term if it is exact, sketches of powers.
    weight : ndarray of shape (outputs, terms)
    bias : ndarray of shape (outputs,)
    balance : float, default=1.0
        x is multiplied by it before the sketch.
    constant : bool
        Whether x gets a coordinate of 1, which carries the first layer's bias.
    """

    def __init__(
        self,
        terms: Terms,
        weight: FloatArray,
        bias: FloatArray,
        balance: float = 1.0,
        *,
        constant: bool,
    ) -> None:
        super().__init__()
        self.constant, self.size = constant, terms.sketch.size
        self.degrees = list(range(terms.first, terms.sketch.degree + 1))
        self.scale = float(balance / np.sqrt(terms.radius))
        self.linear = terms.monomials is not None
        if terms.monomials is not None:
            # An exact linear term is x on principal axes. The axes are multiplied into M, and T_x
            # holds x itself.
            exact = terms.monomials.axes[:, terms.monomials.coordinates]
            p = exact.shape[1]
            weight = np.hstack([weight[:, :1], weight[:, 1 : p + 1] @ exact.T, weight[:, p + 1 :]])
        self.weight = torch.nn.Parameter(torch.tensor(weight, dtype=torch.float32))
        self.bias = torch.nn.Parameter(torch.tensor(bias, dtype=torch.float32))
        counts = terms.sketch.counts if self.degrees else []
        places = np.array([count.places for count in counts], dtype=np.int64)
        signs = np.array([count.signs for count in counts], dtype=np.float32)
        self.register_buffer("places", torch.tensor(places))
        self.register_buffer("signs", torch.tensor(signs))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the outputs for rows of inputs."""
        return torch.nn.functional.linear(self.sketched(x), self.weight, self.bias)

    def sketched(self, x: torch.Tensor) -> torch.Tensor:
        """Return T_x for rows of inputs."""
        if self.constant:
            x = torch.cat([x, torch.ones_like(x[:, :1])], dim=1)
        x = x * self.scale
        blocks = [torch.ones_like(x[:, :1])]
        if self.linear:
            blocks.append(x)
        transform = None
        for degree, (places, signs) in enumerate(zip(self.places, self.signs, strict=True), 1):
            counted = x.new_zeros(len(x), self.size).index_add_(1, places, x * signs)
            spectrum = torch.fft.rfft(counted)
            transform = spectrum if transform is None else transform * spectrum
            if degree in self.degrees:
                blocks.append(torch.fft.irfft(transform, n=self.size))
        return torch.cat(blocks, dim=1)

    @property
    def multiply_adds(self) -> int:
        """Multiplications with additions for one input; a Fourier transform counts m·log₂m."""
        transforms = len(self.places) + len(self.degrees)
        each = self.size * np.log2(max(2, self.size))
        return int(self.places.numel() + transforms * each + self.weight.numel())
