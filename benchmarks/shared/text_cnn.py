"""Kim's convolutional network for texts on fixed word vectors, with its products shared by words.

A filter of width w is a sum over w places: its value is Σₖ ⟨word at place k, part k⟩. In a batch of
whole texts few words are different, so each is multiplied once with all parts of all filters, and
sums are made of rows of that small table. Only the largest value of a filter in a text counts, so
only its words have a gradient. Texts stand one behind the other, of any length, with gaps of zeros
between them: windows over an end see zeros, as with padding.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

FILTERS, WIDTHS = 60, (3, 4, 5)
#: Zeros between texts: a window never sees two of them.
GAP = max(WIDTHS) - 1


def joined(texts: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Word numbers of all texts, with gaps of 0 around each, and where each text's gap begins."""
    ends = np.cumsum([len(text) + GAP for text in texts])
    numbers = np.zeros(ends[-1] + GAP, dtype=np.int64)
    starts = ends - np.array([len(text) + GAP for text in texts])
    for start, text in zip(starts, texts, strict=True):
        numbers[start + GAP : start + GAP + len(text)] = text
    return numbers, np.append(starts, ends[-1])


def network(array: np.ndarray, classes: int) -> Any:
    """A network on the rows of `array`, which stay as they are; row 0 stands for no word."""
    import torch
    from torch import nn

    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.words = torch.tensor(array, dtype=torch.float32)
            # Drawn as PyTorch draws its convolutions.
            made = [nn.Conv1d(array.shape[1], FILTERS, width) for width in WIDTHS]
            self.parts = nn.ParameterList(
                part.weight.detach().permute(1, 2, 0).reshape(array.shape[1], -1) for part in made
            )
            self.biases = nn.ParameterList(part.bias.detach() for part in made)
            self.dropout = nn.Dropout(0.5)
            self.out = nn.Linear(FILTERS * len(WIDTHS), classes)

        def forward(self, texts: Sequence[np.ndarray]) -> torch.Tensor:
            """Scores of the classes; a text is an array of word numbers."""
            numbers, starts = joined(texts)
            different, places = np.unique(numbers, return_inverse=True)
            rows = self.words[torch.from_numpy(different)]
            best = []
            for width, part, bias in zip(WIDTHS, self.parts, self.biases, strict=True):
                # One row for each word and each place in a window.
                products = (rows @ part).reshape(-1, FILTERS)
                windows = np.lib.stride_tricks.sliding_window_view(places, width)
                windows = torch.from_numpy(windows * width + np.arange(width))
                with torch.no_grad():
                    values = nn.functional.embedding_bag(windows, products, mode="sum")
                    pieces = zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True)
                    top = torch.stack([values[a:b].argmax(dim=0) + a for a, b in pieces])
                chosen = windows[top]  # texts × filters × width
                filters = torch.arange(FILTERS)[:, None]
                best.append(torch.relu(products[chosen, filters].sum(dim=2) + bias))
            return self.out(self.dropout(torch.cat(best, dim=1)))

    return Net()
