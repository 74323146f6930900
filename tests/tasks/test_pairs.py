"""Scores of labelled pairs: against scikit-learn and scipy, and what cannot be scored."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import pearsonr, spearmanr
from sklearn.metrics import accuracy_score, f1_score

import fewpairs as fp
from fewpairs.errors import InputError


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("scale", [1.0, 1e200])
def test_they_are_those_of_other_libraries(seed, scale):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, 60)
    scores = (labels + rng.normal(size=60)).round(1)
    found = fp.pair_scores(labels, scale * scores, threshold=0.5 * scale)
    assert found.pearson == pytest.approx(pearsonr(labels, scores)[0])
    assert found.spearman == pytest.approx(spearmanr(labels, scores)[0])
    assert found.accuracy == accuracy_score(labels, scores >= 0.5)
    assert found.f1 == pytest.approx(f1_score(labels, scores >= 0.5))
    best = fp.pair_scores(labels, scores, threshold="best")
    assert best.f1 == pytest.approx(max(f1_score(labels, scores >= t) for t in scores))
    assert best.f1 == pytest.approx(f1_score(labels, scores >= best.threshold))
    assert "F1" in str(best)


def test_scores_of_people_need_no_threshold():
    found = fp.pair_scores([0.0, 2.5, 5.0], [1, 2, 10])
    assert (found.spearman, found.accuracy, found.f1, found.n_pairs) == (1.0, None, None, 3)
    assert "F1" not in str(found)
    assert np.isnan(fp.pair_scores([1, 0], [3, 3]).pearson)
    assert fp.pair_scores([0, 0], [1, 2], threshold=5).f1 == 0


@pytest.mark.parametrize(
    ("truth", "scores", "threshold", "said"),
    [
        ([1, 0], [1.0], None, "2 labels and 1"),
        ([], [], None, "0 labels"),
        ([1, 0], [1.0, np.nan], None, "finite"),
        ([[1, 0]], [1.0], None, "shape"),
        ([1, 2], [1.0, 2.0], 0.5, "0 or 1"),
        ([1, 0], [1.0, 2.0], "good", "threshold"),
    ],
)
def test_what_cannot_be_scored_is_refused(truth, scores, threshold, said):
    with pytest.raises(InputError, match=said):
        fp.pair_scores(truth, scores, threshold=threshold)


@pytest.mark.parametrize(
    "wrong", [["a", "b"], ["0", "1"], [[1, 2], [3]], [1j, 2], [object(), 1], [None, 1], 3]
)
def test_what_is_no_sequence_of_real_numbers_is_refused(wrong):
    for sides in ((wrong, [0.1, 0.2]), ([0, 1], wrong)):
        with pytest.raises(InputError, match="one number for each pair"):
            fp.pair_scores(*sides)


def test_a_generator_is_read():
    assert fp.pair_scores((k for k in (0, 1)), iter([0.1, 0.2])).pearson == 1


def test_numbers_close_to_the_largest_have_a_correlation():
    values = np.array([1.7, -1.7, 1.0, 0.0])
    plain = fp.pair_scores([0, 1, 1, 0], values).pearson
    assert fp.pair_scores([0, 1, 1, 0], values * 1e308).pearson == pytest.approx(plain)
