"""Which sketch of a power has the least variance at equal width, on unit vectors of real images.

Mean squared error of ⟨x, y⟩ʲ over pairs and 200 draws, in units of 1/m, of: TensorSketch; two of
half the width, side by side; the tree sketch of Ahle et al. (CountSketches at the leaves, filled up
with ones to a power of two, and TensorSketches of degree 2 above). Beside them stands what is left
of the power when the heaviest monomials, 64 over all degrees, are taken exactly and nothing is
sketched. Writes docs/tables/sketch-variance.md. Takes about five minutes on one core.

    FEWPAIRS_DATA=… python -m benchmarks.sketches.sketch_variance [--quick]
"""

from __future__ import annotations

import numpy as np

from benchmarks.shared.command import arguments, need_data
from benchmarks.shared.kernels import rows
from benchmarks.shared.tables import publish, table
from fewpairs.sketches.monomials import heaviest
from fewpairs.sketches.tensor_sketch import CountSketch, TensorSketch

SIZE, PAIRS = 64, 300


def tensor(x: np.ndarray, degree: int, size: int, rng: np.random.Generator) -> np.ndarray:
    return TensorSketch(x.shape[1], size, degree, rng).power(x)


def halves(x: np.ndarray, degree: int, size: int, rng: np.random.Generator) -> np.ndarray:
    both = [tensor(x, degree, size // 2, rng) for _ in range(2)]
    return np.hstack(both) / np.sqrt(2)


def tree(x: np.ndarray, degree: int, size: int, rng: np.random.Generator) -> np.ndarray:
    leaves = 1 << (degree - 1).bit_length()
    one = np.zeros((len(x), size))
    one[:, 0] = 1.0
    level = [CountSketch.draw(x.shape[1], size, rng)(x) for _ in range(degree)]
    level += [one] * (leaves - degree)
    while len(level) > 1:
        pairs = zip(level[::2], level[1::2], strict=True)
        level = [_product(a, b, size, rng) for a, b in pairs]
    return level[0]


def _product(a: np.ndarray, b: np.ndarray, size: int, rng: np.random.Generator) -> np.ndarray:
    spectra = [np.fft.rfft(CountSketch.draw(size, size, rng)(z), axis=1) for z in (a, b)]
    return np.fft.irfft(spectra[0] * spectra[1], n=size, axis=1)


def main() -> None:
    options = arguments(__doc__).parse_args()
    need_data()
    draws = 20 if options.quick else 200
    x = rows("usps")
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    pick = np.random.default_rng(1).integers(0, len(x), (2, PAIRS))
    lines = []
    for degree in (2, 3, 4, 6, 8):
        exact = np.einsum("ij,ij->i", x[pick[0]], x[pick[1]]) ** degree
        cells = []
        for sketch in (tensor, halves, tree):
            off = []
            for seed in range(draws):
                z = sketch(x, degree, SIZE, np.random.default_rng(seed))
                off.append(np.einsum("ij,ij->i", z[pick[0]], z[pick[1]]) - exact)
            cells.append(f"{SIZE * np.mean(np.square(off)):.2f}")
        sizes = np.zeros(degree + 1)
        sizes[degree] = 1.0
        kept = heaviest([x], [np.ones(len(x))], 1.0, sizes, SIZE)
        columns = kept(x)[:, -kept.counts[-1] :] if kept.counts[-1] else np.zeros((len(x), 1))
        left = exact - np.einsum("ij,ij->i", columns[pick[0]], columns[pick[1]])
        cells += [f"{kept.counts[-1]}", f"{SIZE * np.mean(left**2):.2f}"]
        lines.append([str(degree), *cells])
        print(*lines[-1], sep=" | ", flush=True)
    headings = ["degree", "TensorSketch", "two halves", "tree sketch"]
    headings += [f"monomials of that degree among {SIZE}", "what they leave of the power"]
    text = f"m · mean squared error, m = {SIZE}.\n\n{table(headings, lines)}\n"
    publish("sketch-variance", text, quick=options.quick)


if __name__ == "__main__":
    main()
