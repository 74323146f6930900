"""A network of PyTorch that is asked and never taught: imported only where that is installed."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from fewpairs.arrays import FloatArray
from fewpairs.similarities.transformers.first_token import reading_first_token
from fewpairs.similarities.transformers.joining import Batch


class Network:
    """A sequence-classification model as a function of arrays.

    Threads are PyTorch's own, as many as it was told to take.

    Parameters
    ----------
    model : module
    device : device or None
        None leaves it where it is.
    """

    def __init__(self, model: Any, device: Any = None) -> None:
        self.model = (model if device is None else model.to(device)).eval()
        self._run = reading_first_token(self.model) or self.model

    def __getstate__(self) -> dict[str, Any]:
        return {"model": self.model}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]

    def __call__(self, batch: Batch) -> FloatArray:
        """Return pairs × labels."""
        if self.model.training:
            self.model.eval()
        mask = batch.get("attention_mask")
        if mask is not None and mask.all():  # nothing is padded, and nothing need be hidden
            batch = {name: array for name, array in batch.items() if name != "attention_mask"}
        device = next(self.model.parameters()).device
        with torch.inference_mode():
            tensors = {name: torch.from_numpy(array).to(device) for name, array in batch.items()}
            logits = self._run(**tensors).logits
            return np.asarray(logits.float().cpu().numpy(), dtype=np.float64)


def weights_hash(model: Any) -> Any:
    """Return a hash of everything that a network has learned, and of what it is made of."""
    digest = hashlib.sha256(type(model).__name__.encode())
    for name, tensor in model.state_dict().items():
        digest.update(f"{name} {tuple(tensor.shape)} {tensor.dtype} ".encode())
        plain = tensor.detach().cpu().contiguous().reshape(-1)
        digest.update(plain.view(torch.uint8).numpy().data)
    return digest


def of_arrays(function: Callable[[Any], Any]) -> Callable[[FloatArray], FloatArray]:
    """Make a function of arrays of one of tensors."""

    def applied(logits: FloatArray) -> FloatArray:
        with torch.inference_mode():
            answer = function(torch.from_numpy(logits.astype(np.float32)))
            return np.asarray(answer.float().cpu().numpy(), dtype=np.float64)

    return applied
