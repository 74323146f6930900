"""Accuracies and seconds that the papers print, with 300-dimensional Google News vectors.

SMS is *Sublinear Time Approximation of Text Similarity Matrices*, WME *Word Mover's Embedding*. A
dot stands for a cell that a table does not have. R8 is REUTERS in the WME paper.
"""

from __future__ import annotations

#: SMS Table 2; its lines WME and kNN-WMD for the last three sets are from WME Table 2.
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
#: WME Table 2, seconds with precomputed ground distances, on 12 threads; then its speed-up.
_SECONDS = """
method  TWITTER RECIPE_L OHSUMED 20NEWS R8  CLASSIC AMAZON
kNN-WMD 4       2060     2807    32610  557 520     1319
small   2       20       7       69     24  10      8
large   34      330      240     547    396 70      123
speedup 2       103      401     472    23  52      165
"""
#: SMS Table 7: ranks at which each method did best.
_RANKS = """
rank  method      TWITTER RECIPE_L OHSUMED 20NEWS
small WME         128     500      320     491
small SMS-Nyström 421     532      500     550
small StaCUR      382     548      488     548
small SiCUR       507     550      550     550
large WME         896     4096     2500    4096
large SMS-Nyström 1631    4061     2500    3872
large StaCUR      1367    4069     2489    3256
large SiCUR       1204    4030     2500    3824
"""
#: WME Tables 3 and 6 (linear SVM on document vectors) and 5 (kNN on other representations).
_BASELINES = """
method                TWITTER RECIPE_L OHSUMED 20NEWS R8   CLASSIC AMAZON
average,-nBOW         72.0    74.9     63.0    71.7   96.9 95.2    94.0
average,-TF-IDF       71.9    73.1     60.6    70.2   95.9 93.9    92.2
average,-SIF          57.8    71.1     67.1    72.3   87.6 92.7    94.1
PV-DBOW               67.8    73.1     55.9    71.0   96.3 97.0    89.2
PV-DM                 67.3    71.1     59.8    74.0   94.9 96.5    88.6
kNN,-BOW              56.4    .        38.9    42.2   86.1 64.0    71.5
kNN,-TF-IDF           66.8    .        37.3    45.6   70.9 65.0    58.5
kNN,-BM25             57.3    .        33.8    44.1   67.2 59.4    41.2
kNN,-LSI              68.3    .        55.8    71.1   93.7 93.3    90.7
kNN,-LDA              66.2    .        49.0    68.5   93.1 95.0    88.2
kNN,-mSDA             67.7    .        50.7    60.5   91.9 93.1    82.9
"""


def _read(text: str, keys: int) -> dict[tuple[str, ...], str]:
    """Cells by set and by the first columns of their line."""
    lines = [line.split() for line in text.strip().splitlines()]
    names = lines[0][keys:]
    return {
        (name, *(key.replace("exact-", "exact ").replace(",-", ", ") for key in line[:keys])): value
        for line in lines[1:]
        for name, value in zip(names, line[keys:], strict=True)
        if value != "."
    }


#: (data set, rank, method) → accuracy in per cent.
PRINTED = _read(_CLASSIFICATION, 2)
#: (data set, "kNN-WMD", "small", "large" or "speedup") → seconds, or a ratio of them.
SECONDS = _read(_SECONDS, 1)
#: (data set, rank, method) → number of columns.
RANKS = _read(_RANKS, 2)
#: (data set, method) → accuracy in per cent.
BASELINES = _read(_BASELINES, 1)
