"""The network that scores two mentions, as PyTorch teaches it."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy.typing as npt
import torch

from fewpairs.arrays import IntArray, SingleArray

Weights = dict[str, npt.NDArray[Any]]

_RATE, _DECAY, _DROPOUT = 3e-3, 1e-4, 0.1
#: Of the weights of single coordinates, which could learn the training mentions by heart.
_SLOW_RATE, _SLOW_DECAY, _FINE = 2e-4, 1.0, 0.3


class Network(torch.nn.Module):
    """The network of [x; y; x∘y], whose first layer starts with one weight for all of a part.

    Coordinates of one part, all of one weight, sum up to its cosine: a few numbers that mean the
    same in every topic. What single coordinates add is learned more slowly, and decays.

    Parameters
    ----------
    sizes : int array
        Of the parts.
    hidden : tuple of int
    """

    def __init__(self, sizes: IntArray, hidden: tuple[int, ...]) -> None:
        super().__init__()
        self.sizes, d = torch.from_numpy(sizes), int(sizes.sum())
        widths = (*hidden, 1)
        self.coarse = torch.nn.Linear(len(sizes), widths[0])
        self.fine = torch.nn.Parameter(torch.randn(widths[0], 3 * d) * _FINE / d**0.5)
        self.rest = torch.nn.ModuleList(
            torch.nn.Linear(inputs, outputs) for inputs, outputs in pairwise(widths)
        )

    def first(self) -> Any:
        """Return the weights of the first layer."""
        d = self.fine.shape[1] // 3
        same = torch.repeat_interleave(self.coarse.weight, self.sizes, dim=1)
        return torch.cat([self.fine[:, : 2 * d], self.fine[:, 2 * d :] + same], dim=1)

    def forward(self, x: Any, y: Any) -> Any:
        """Return the logits of pairs."""
        d = x.shape[1]
        one, other, both = self.first().split(d, dim=1)
        linear = torch.nn.functional.linear
        return self._rest(linear(x * y, both, self.coarse.bias) + linear(x, one) + linear(y, other))

    def of_cosines(self, x: Any, y: Any) -> Any:
        """Return what the logits are without the weights of single coordinates."""
        cosines = [part.sum(dim=1) for part in (x * y).split(self.sizes.tolist(), dim=1)]
        return self._rest(self.coarse(torch.stack(cosines, dim=1)))

    def _rest(self, values: Any) -> Any:
        for layer in self.rest:
            values = layer(torch.nn.functional.dropout(values.relu(), _DROPOUT))
        return values[:, 0]

    def steps(self) -> tuple[Any, Any]:
        """Return what learns first, from cosines, and what learns then."""
        fast = [*self.coarse.parameters(), *self.rest.parameters()]
        slow = {"params": [self.fine], "weight_decay": _SLOW_DECAY}
        kind = torch.optim.AdamW
        return (
            kind(fast, lr=_RATE, weight_decay=_DECAY),
            kind([{"params": fast}, slow], lr=_SLOW_RATE, weight_decay=_DECAY),
        )

    def weights(self, centre: SingleArray) -> Weights:
        """Return what was learned so far."""
        found: Weights = {"centre": centre, "parts": self.sizes.numpy().copy()}
        layers = [(self.first(), self.coarse.bias), *((r.weight, r.bias) for r in self.rest)]
        for k, (weight, bias) in enumerate(layers):
            found[f"weight{k}"] = weight.detach().numpy().copy()
            found[f"bias{k}"] = bias.detach().numpy().copy()
        return found
