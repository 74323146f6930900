"""Classify tweets by a linear SVM on embeddings of exp(−γ·WMD), at equal evaluations.

Accuracy on 30 % of 1,000 tweets, C chosen by cross-validation on the other 70 %; mean and standard
deviation over splits. Writes docs/tables/svm.md. Takes about ten minutes on one core.

    FEWPAIRS_DATA=… python -m benchmarks.matrix.svm [--quick]
"""

from __future__ import annotations

import numpy as np
from joblib import Parallel, delayed
from sklearn.model_selection import GridSearchCV, StratifiedShuffleSplit
from sklearn.svm import SVC, LinearSVC
from threadpoolctl import threadpool_limits

import fewpairs as fp
from benchmarks.shared.budgets import cost_of_columns
from benchmarks.shared.command import arguments, need_data
from benchmarks.shared.matrices import tweets, tweets_wmd
from benchmarks.shared.tables import publish, table

COSTS = {"C": np.geomspace(0.1, 1000, 9)}


def by_features(features, labels, train, test) -> float:
    model = GridSearchCV(LinearSVC(dual="auto", max_iter=20_000, tol=1e-3), COSTS, cv=3)
    # No scaling: the features of a kernel with ones on its diagonal have about unit length.
    return float(model.fit(features[train], labels[train]).score(features[test], labels[test]))


def by_kernel(kernel, labels, train, test) -> float:
    model = GridSearchCV(SVC(kernel="precomputed"), COSTS, cv=3)
    model.fit(kernel[np.ix_(train, train)], labels[train])
    return float(model.score(kernel[np.ix_(test, train)], labels[test]))


def split(distances, labels, gamma: float, size: int, seed: int) -> dict[str, float]:
    """Accuracies on one random split, by method."""
    kernel = np.exp(-gamma * distances)
    n = len(kernel)
    halves = StratifiedShuffleSplit(1, test_size=0.3, random_state=seed)
    train, test = next(halves.split(np.zeros(n), labels))
    result = {}
    with threadpool_limits(1):
        for name, method, options in (
            ("fitted", "fitted", {"diagonal": 1.0}),
            ("fitted, plain", "fitted", {"known": None}),
            ("SMS", "sms", {}),
            ("Nyström", "nystrom", {}),
        ):
            found = fp.approximate(
                range(n),
                fp.Precomputed(kernel),
                budget=cost_of_columns(n, size),
                method=method,
                error_pairs=0,
                random_state=seed,
                **options,
            )
            result[name] = by_features(found.embedding(), labels, train, test)
        result["exact kernel"] = by_kernel(kernel, labels, train, test)
    return result


def main() -> None:
    options = arguments(__doc__).parse_args()
    need_data()
    n, seeds = (300, range(2)) if options.quick else (1000, range(4))
    labels = np.array(tweets(n)[1])
    distances = tweets_wmd(n)
    rows = []
    for gamma in (0.1, 0.2, 0.5):
        for share in (0.1, 0.3):
            size = round(share * n)
            done = Parallel(n_jobs=2)(
                delayed(split)(distances, labels, gamma, size, seed) for seed in seeds
            )
            names = list(done[0])
            cells = [[d[name] for d in done] for name in names]
            rows.append([gamma, size, *(f"{np.mean(c):.3f} ± {np.std(c):.3f}" for c in cells)])
            print(*rows[-1], sep=" | ", flush=True)
    most = np.mean(labels == max(set(labels), key=list(labels).count))
    text = (
        f"{n} tweets, {len(seeds)} splits; always the commonest label: {most:.3f}.\n\n"
        + table(["γ", "s", *names], rows)
        + "\n"
    )
    print("\n" + text)
    publish("svm", text, quick=options.quick)


if __name__ == "__main__":
    main()
