"""Accuracies that the papers print, with 300-dimensional Google News vectors and full data.

Table 2 of Word Mover's Embedding (WME, kNN-WMD) and Table 2 of Sublinear Time Approximation of Text
Similarity Matrices (the others).
"""

from __future__ import annotations

_CLASSIFICATION = """
rank  method       TWITTER RECIPE_L OHSUMED 20NEWS R8   CLASSIC AMAZON
–     kNN-WMD      71.3    71.4     55.5    73.2   96.5 97.2    92.6
–     exact-kernel 78.2    82.2     69.0    89.4   .    .       .
small WME          72.5    72.5     55.8    72.9   96.0 96.6    92.7
small SMS-Nyström  75.3    77.7     59.4    79.3   .    .       .
small StaCUR       73.8    74.9     58.7    76.8   .    .       .
small SiCUR        74.9    75.9     59.3    73.0   .    .       .
small Optimal      75.8    78.8     60.3    82.2   .    .       .
large WME          74.5    79.2     64.5    78.3   97.2 97.1    94.3
large SMS-Nyström  76.1    80.7     65.3    86.6   .    .       .
large StaCUR       71.9    77.1     55.7    84.2   .    .       .
large SiCUR        75.3    79.5     63.3    85.8   .    .       .
large Optimal      76.9    81.3     68.2    88.3   .    .       .
"""


def _read() -> dict[tuple[str, str, str], str]:
    lines = [line.split() for line in _CLASSIFICATION.strip().splitlines()]
    names = lines[0][2:]
    return {
        (name, rank, method.replace("exact-", "exact ")): value
        for rank, method, *values in lines[1:]
        for name, value in zip(names, values, strict=True)
        if value != "."
    }


#: (data set, rank, method) → accuracy in per cent.
PRINTED = _read()
