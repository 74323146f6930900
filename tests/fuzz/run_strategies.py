"""Calls of `approximate`: every size, method, option, selection, and both shapes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from examples import SYMMETRIC_ONLY, Counter
from hypothesis import strategies as st
from matrix_strategies import ASYMMETRIC, Matrix, matrices

import fewpairs as fp

#: Not 0, which inverts what is singular: entries are then rounding, another one each time.
THRESHOLDS = (1e-9, 1e-3)
OPTIONS: dict[str, dict[str, st.SearchStrategy[Any]]] = {
    "auto": {},
    "fitted": {
        "near": st.sampled_from([0.0, 0.1, 0.9]),
        "neighbors": st.sampled_from([1, 3, 40]),
        "tuning": st.sampled_from([0.0, 0.3, 0.9]),
        "diagonal": st.sampled_from(["evaluate", None]),
    },
    "nystrom": {"threshold": st.sampled_from([1e-9, 1e-3, 1.0])},
    "sms": {
        "alpha": st.sampled_from([0.0, 1.0, 3.0]),
        "oversampling": st.sampled_from([1.0, 1.5, 9.0]),
        "shift_columns": st.booleans(),
    },
    "sms-rescaled": {"alpha": st.sampled_from([0.0, 1.0, 3.0]), "shift_columns": st.booleans()},
    "skeleton": {"threshold": st.sampled_from(THRESHOLDS)},
    "sicur": {"threshold": st.sampled_from(THRESHOLDS)},
    "stacur": {"same": st.booleans(), "threshold": st.sampled_from(THRESHOLDS)},
    "optimal": {"allow_all_pairs": st.just(True)},
}
SELECTIONS = ("uniform", "k-centre", "d2", "leverage", "pivoted")


@dataclass(frozen=True)
class Problem:
    """A matrix, how its similarity is written, and the arguments of a run."""

    matrix: Matrix
    kind: str
    arguments: dict[str, Any]
    block_size: int | tuple[int, int] | None = None
    split: tuple[int, int] | None = None
    declared_diagonal: bool = False
    seed: int = 0
    exact: np.ndarray = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "exact", self.matrix.make())

    @property
    def symmetric(self) -> bool:
        """Whether the similarity is declared symmetric, which it then is."""
        return self.matrix.kind not in ASYMMETRIC

    @property
    def rows(self) -> np.ndarray:
        """The items."""
        return np.arange(self.matrix.n if self.split is None else self.split[0])

    @property
    def columns(self) -> np.ndarray:
        """The items of the columns."""
        return self.rows if self.split is None else np.arange(self.split[1], self.matrix.n)

    @property
    def truth(self) -> np.ndarray:
        """The matrix that is approximated."""
        return self.exact[np.ix_(self.rows, self.columns)]

    @property
    def all_pairs(self) -> int:
        """How many there are."""
        n, m = len(self.rows), len(self.columns)
        return n * (n + 1) // 2 if self.symmetric and self.split is None else n * m

    @property
    def budget(self) -> int | None:
        """What may be spent, in evaluations."""
        given = self.arguments.get("budget")
        return int(given * self.all_pairs) if isinstance(given, float) else given

    @property
    def puts_back(self) -> bool:
        """Whether evaluated entries are part of the result."""
        ours = self.arguments.get("method", "auto") in ("auto", "fitted")
        return self.arguments.get("known", "exact" if ours else None) == "exact"

    def similarity(self, source: Any, **facts: Any) -> fp.Similarity:
        """Return a similarity that asks `source`, a `Counter` or something that behaves worse."""
        if self.declared_diagonal:
            facts["diagonal"] = float(self.exact[0, 0])
        facts = {"block_size": self.block_size} | facts
        return fp.similarity(
            getattr(source, self.kind),
            kind=self.kind,
            symmetric=self.symmetric,
            name="fuzzed",
            **facts,
        )

    def items(self) -> dict[str, Any]:
        """Return the arguments that say what is compared."""
        others = {} if self.split is None else {"others": self.columns}
        return {"items": self.rows, **others}

    def run(self, source: Any = None, **changes: Any) -> fp.FactoredMatrix:
        """Approximate."""
        source = Counter(self.exact) if source is None else source
        facts = {k: changes.pop(k) for k in ("block_size",) if k in changes}
        arguments = {"random_state": self.seed} | self.arguments | changes
        return fp.approximate(
            similarity=self.similarity(source, **facts), **self.items(), **arguments
        )


def block_sizes(n: int) -> list[int | tuple[int, int] | None]:
    """Return sizes of requests; tiny ones where there are few items, for they take their time."""
    return [None, None, 1, 7, (3, 5), (1, 100)] if n <= 40 else [None, 150, (20, 30), (1, 500)]


@st.composite
def problems(draw: st.DrawFn, **limits: Any) -> Problem:
    """Draw a whole problem; nearly all of them can be run."""
    matrix = draw(matrices(**limits))
    n = matrix.n
    symmetric = matrix.kind not in ASYMMETRIC
    split = None
    if n > 1 and draw(st.integers(0, 4)) == 0:
        split = draw(st.integers(1, n)), draw(st.integers(0, n - 1))
    few = n if split is None else min(split[0], n - split[1])
    arguments = draw(sizes(few))
    if split is not None and isinstance(arguments.get("landmarks"), list):
        arguments = {"landmarks": len(arguments["landmarks"])}
    methods = list(OPTIONS)
    if "target_error" in arguments:
        methods = ["auto", "fitted"] + (["nystrom"] if symmetric and split is None else [])
    elif split is not None:
        methods = ["auto", "fitted"]
    elif not symmetric:
        methods = [m for m in OPTIONS if m not in SYMMETRIC_ONLY]
    arguments |= draw(how(methods))
    listed = isinstance(arguments.get("landmarks"), list)
    if split is None and "target_error" not in arguments and not listed:
        arguments["selection"] = draw(st.sampled_from(SELECTIONS))
    exact = matrix.make()
    constant = split is None and bool((np.diag(exact) == exact[0, 0]).all())
    return Problem(
        matrix,
        kind=draw(st.sampled_from(["pair", "pairs", "block"])),
        arguments=arguments,
        block_size=draw(st.sampled_from(block_sizes(n))),
        split=split,
        declared_diagonal=constant and draw(st.booleans()),
        seed=draw(st.integers(0, 1000)),
    )


def sizes(few: int) -> st.SearchStrategy[dict[str, Any]]:
    """Draw how much is spent; `few` is the shorter side of the matrix."""
    targets = st.sampled_from([0.01, 0.1, 0.3, 0.9])
    shares = st.one_of(st.floats(0.02, 0.98), st.floats(0.5, 0.95), st.floats(0.5, 0.95))
    counts = st.one_of(st.integers(1, few + 1), st.integers(1, max(1, few // 2)))
    listed = st.permutations(range(few)).flatmap(
        lambda order: st.integers(1, few).map(lambda count: order[:count])
    )
    return st.one_of(
        st.just({}),
        st.fixed_dictionaries({"landmarks": counts}),
        st.fixed_dictionaries({"landmarks": listed}),
        st.fixed_dictionaries({"budget": shares}),
        st.fixed_dictionaries({"budget": st.integers(few, few * few + 5)}),
        st.fixed_dictionaries({"target_error": targets}),
        st.fixed_dictionaries({"target_error": targets, "budget": shares}),
    )


@st.composite
def how(draw: st.DrawFn, methods: list[str]) -> dict[str, Any]:
    """Draw a method, some of its options, and how the result is judged."""
    method = draw(st.sampled_from(methods))
    arguments: dict[str, Any] = {} if method == "auto" else {"method": method}
    for name, values in OPTIONS[method].items():
        if method == "optimal" or draw(st.integers(0, 3)) == 0:
            arguments[name] = draw(values)
    for name, values in {
        "known": st.sampled_from(["exact", None]),
        "error_pairs": st.sampled_from([0, 1, 2, 30]),
        "error_draw": st.just("uniform"),
        "n_jobs": st.just(2),
    }.items():
        if draw(st.integers(0, 4)) == 0:
            arguments[name] = draw(values)
    ours = method in ("auto", "fitted")
    puts_back = arguments.get("known", "exact" if ours else None) == "exact"
    if puts_back and arguments.get("error_pairs") != 0 and draw(st.integers(0, 4)) == 0:
        arguments["fold_error_pairs"] = True
    return arguments
