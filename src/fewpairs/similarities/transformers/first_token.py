"""The last layer of a BERT-like network for the first token alone: no other is read after it."""

from __future__ import annotations

import copy
from typing import Any

import torch

#: Largest difference of a score from the network's own, beside its size.
_SAME = 1e-5


class FirstToken(torch.nn.Module):  # type: ignore[misc]
    """A layer whose answer has one token, the first; what that attends to are all.

    Parameters
    ----------
    layer : module
        Of BERT, RoBERTa, ELECTRA and others that are made of the same parts.
    """

    def __init__(self, layer: Any) -> None:
        super().__init__()
        self.layer = layer

    def forward(self, hidden_states: Any, attention_mask: Any = None, *_: Any, **__: Any) -> Any:
        """Return pairs × 1 × width."""
        attention, first = self.layer.attention, hidden_states[:, :1]
        own = attention.self
        query, key, value = (
            project(states).unflatten(-1, (own.num_attention_heads, -1)).transpose(1, 2)
            for project, states in (
                (own.query, first),
                (own.key, hidden_states),
                (own.value, hidden_states),
            )
        )
        hidden = None if attention_mask is None else attention_mask[..., :1, :]
        mixed = torch.nn.functional.scaled_dot_product_attention(query, key, value, hidden)
        seen = attention.output(mixed.transpose(1, 2).flatten(2), first)
        return self.layer.output(self.layer.intermediate(seen), seen)


def reading_first_token(network: Any) -> Any:
    """Return the network with a shorter last layer, of the same weights; or None.

    A classifier mostly reads the first token, and then five sixths of its last layer's products are
    of tokens that nobody looks at. Whether it does is tried out on a small input, padded and not:
    where any score differs, or the network is made of other parts, the answer is None.
    """
    try:
        shorter = _shortened(network)
        with torch.inference_mode():
            same = all(_agree(network, shorter, inputs) for inputs in _probes(network))
    except Exception:  # noqa: BLE001 - whatever a network of other parts raises: it runs as it is
        return None
    return shorter if same else None


def _shortened(network: Any) -> Any:
    """Copy the modules on the way to the last layer; all others, and all weights, are shared."""
    path = [network.base_model_prefix, "encoder", "layer"]
    copied = here = _shallow(network)
    for name in path:
        here._modules[name] = _shallow(here._modules[name])  # noqa: SLF001 - no copy without it
        here = here._modules[name]  # noqa: SLF001
    here[len(here) - 1] = FirstToken(here[len(here) - 1])
    return copied


def _shallow(module: Any) -> Any:
    twin = copy.copy(module)
    twin._modules = dict(module._modules)  # noqa: SLF001 - or both would change
    return twin


def _probes(network: Any) -> list[dict[str, Any]]:
    """Return two inputs: one that is padded, and one that is not."""
    weight = next(network.parameters())
    if weight.dtype != torch.float32:
        raise TypeError  # of fewer digits nothing can be told
    ids = 3 + torch.arange(14, device=weight.device).reshape(2, 7) * 5 % (
        network.config.vocab_size - 3
    )
    mask = torch.ones_like(ids)
    mask[1, 4:] = 0
    return [{"input_ids": ids}, {"input_ids": ids, "attention_mask": mask}]


def _agree(network: Any, shorter: Any, inputs: dict[str, Any]) -> bool:
    wanted, found = network(**inputs).logits, shorter(**inputs).logits
    close = (wanted - found).abs() <= _SAME * (1 + wanted.abs())
    return wanted.shape == found.shape and bool(close.all())
