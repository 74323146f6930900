"""Feature maps of f(⟨x, y⟩) and of the Gaussian kernel, for scikit-learn."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from fewpairs.arrays import RandomState, check_gamma, generator, unmasked
from fewpairs.errors import FeaturesCappedWarning, warn
from fewpairs.sketches.exact import Exact, GaussianKernel
from fewpairs.sketches.families import best_map
from fewpairs.sketches.feature_map import FeatureMap
from fewpairs.sketches.fitting import SketchOptions
from fewpairs.sketches.functions import Capped, Function, largest_on
from fewpairs.sketches.gaussian import mean_of, scaled_rows
from fewpairs.sketches.products import radius_of

#: Values of f at which it is cut off, so that features and their squares are finite.
_LARGEST = {"float64": 1e120, "float32": 1e30}


class _Sketch(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """What both transformers share: fitting the map, and what scikit-learn asks of them."""

    degree: int
    n_components: int
    coefficients: str
    n_centers: int
    exact_terms: bool
    oversampling: int
    random_state: RandomState

    def _fit_map(self, exact: Exact) -> None:
        options = SketchOptions.of_width(
            self.n_components, self.degree, self.coefficients, self.n_centers, self.exact_terms,
            self.oversampling,
        )  # fmt: skip
        with np.errstate(all="ignore"):  # what over- or underflows is compared and dropped
            found = best_map(exact, options, generator(self.random_state), nonnegative=True)
        self._map: FeatureMap = found.feature_map
        self.polynomial_ = self._map.polynomial
        self._n_features_out = len(self._map.signs)

    def _validated(self, X: Any, *, reset: bool) -> Any:
        plain = unmasked(X, "X")  # scikit-learn would show what is under a mask
        rows = validate_data(
            self, plain, reset=reset, accept_sparse="csr", dtype=[np.float64, np.float32]
        )
        return sp.csr_array(rows) if sp.issparse(rows) else rows

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


class PolynomialSketch(_Sketch):
    """Features whose inner products approximate f(⟨x, y⟩), by landmarks or by Poly-TensorSketch.

    Inner products of features have no signs: what of f is not positive semidefinite is left out.
    For a function of which much is, like a sigmoid, use `elementwise`.
    A function that overflows on the rows' inner products is cut off, with a warning.

    Parameters
    ----------
    function : callable of an array
        f, applied to inner products.
    n_components : int, default=100
        The largest number of features.
    degree : int, default=10
        Of the polynomial that stands for f; lower where there are fewer features.
    coefficients : {"tuned", "coreset", "ridge", "chebyshev", "taylor"}, default="tuned"
    n_centers : int, default=10
    exact_terms : bool, default=True
    oversampling : int, default=4
        These four as for `elementwise`.
    random_state : int, RandomState or None

    Attributes
    ----------
    polynomial_ : Polynomial or None
        That stands for f, or whose monomials are among the terms; None where none takes part.
    n_features_in_ : int

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(100, 5)) / 3
    >>> PolynomialSketch(np.exp, random_state=0).fit_transform(X).shape[0]
    100
    """

    def __init__(
        self,
        function: Function = np.exp,
        n_components: int = 100,
        *,
        degree: int = 10,
        coefficients: str = "tuned",
        n_centers: int = 10,
        exact_terms: bool = True,
        oversampling: int = 4,
        random_state: RandomState = None,
    ) -> None:
        self.function = function
        self.n_components = n_components
        self.degree = degree
        self.coefficients = coefficients
        self.n_centers = n_centers
        self.exact_terms = exact_terms
        self.oversampling = oversampling
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002 - scikit-learn's signature
        """Fit the polynomial to the rows' inner products and draw the sketch.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        self
        """
        rows = self._validated(X, reset=True)
        self._fit_map(Exact(self._capped(rows), rows, rows))
        return self

    def _capped(self, rows: Any) -> Function:
        """Return f, cut off where features of it would not be finite."""
        limit = _LARGEST[np.dtype(rows.dtype).name]
        radius = radius_of(rows, rows)
        # What is not a number is refused later; what is no function of an array as well.
        if not callable(self.function) or not largest_on(self.function, radius) >= limit:
            return self.function
        warn(
            FeaturesCappedWarning(
                f"the function is {limit:g} or more at inner products that these rows can have, "
                f"from {-radius:.6g} to {radius:.6g}, and is cut off there: features of larger "
                "values are not finite. Scale the rows, or pass a function that grows more slowly."
            )
        )
        return Capped(self.function, limit)

    def transform(self, X: Any) -> npt.NDArray[Any]:
        """Return the features of rows, those of `fit` or others.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_features_out)
        """
        check_is_fitted(self)
        return self._map(self._validated(X, reset=False))


class RBFSketch(_Sketch):
    """Features of the Gaussian kernel exp(−γ·‖x − y‖²), by landmarks or by Poly-TensorSketch.

    The kernel is z(x)·exp(2γ⟨x, y⟩)·z(y) with z(x) = exp(−γ|x|²). Data are centred first, unless
    they are sparse: the kernel stays the same, and the polynomial has a smaller range to fit.

    Parameters
    ----------
    gamma : float, optional
        By default one over the number of features, as in scikit-learn.
    n_components, degree, coefficients, n_centers, exact_terms, oversampling, random_state :
        As for `PolynomialSketch`.

    Attributes
    ----------
    gamma_ : float
    mean_ : ndarray of shape (n_features,)
        What rows are centred by; zero for sparse ones.
    polynomial_ : Polynomial or None
        For exp.

    Examples
    --------
    >>> from sklearn.metrics.pairwise import rbf_kernel
    >>> X = np.random.default_rng(0).normal(size=(200, 5))
    >>> Z = RBFSketch(gamma=0.05, random_state=0).fit_transform(X)
    >>> bool(np.abs(Z @ Z.T - rbf_kernel(X, gamma=0.05)).mean() < 0.05)
    True
    """

    def __init__(
        self,
        gamma: float | None = None,
        n_components: int = 100,
        *,
        degree: int = 10,
        coefficients: str = "tuned",
        n_centers: int = 10,
        exact_terms: bool = True,
        oversampling: int = 4,
        random_state: RandomState = None,
    ) -> None:
        self.n_components = n_components
        self.degree = degree
        self.coefficients = coefficients
        self.n_centers = n_centers
        self.exact_terms = exact_terms
        self.oversampling = oversampling
        self.random_state = random_state
        self.gamma = gamma

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002 - scikit-learn's signature
        """Centre the rows, fit the polynomial to exp, and draw the sketch.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        self
        """
        rows = self._validated(X, reset=True)
        self.gamma_ = 1 / rows.shape[1] if self.gamma is None else check_gamma(self.gamma)
        # A sparse matrix would not stay sparse if it were centred.
        sparse = sp.issparse(rows)
        self.mean_ = np.zeros(rows.shape[1]) if sparse else mean_of(rows)
        scaled = scaled_rows(rows, self.mean_, self.gamma_)
        self._fit_map(GaussianKernel(scaled, scaled))
        return self

    def transform(self, X: Any) -> npt.NDArray[Any]:
        """Return the features of rows, those of `fit` or others.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_features_out)
        """
        check_is_fitted(self)
        return self._map(scaled_rows(self._validated(X, reset=False), self.mean_, self.gamma_))
