"""Methods side by side at one number of evaluated pairs."""

from __future__ import annotations

from typing import Any

import fewpairs as fp

#: The methods of *Sublinear Time Approximation of Text Similarity Matrices*, with their options.
#: Algorithm 1 of SMS-Nyström adds its shift to the core and to the columns; the authors' code ("as
#: coded") adds it to the core alone.
PUBLISHED: dict[str, tuple[str, dict[str, Any]]] = {
    "Nyström": ("nystrom", {}),
    "SMS Alg. 1": ("sms", {}),
    "SMS as coded": ("sms", {"shift_columns": False}),
    "SMS β": ("sms-rescaled", {"shift_columns": False}),
    "skeleton": ("skeleton", {}),
    "SiCUR": ("sicur", {}),
    "StaCUR(s)": ("stacur", {}),
    "StaCUR(d)": ("stacur", {"same": False}),
}


def cost_of_columns(n: int, s: int) -> int:
    """How many evaluations s columns of a symmetric n × n matrix take.

    Pairs inside the s × s square are evaluated once.
    """
    return n * s - s * (s - 1) // 2


def run(matrix, budget: int, seed: int, method: str, **options: Any) -> fp.FactoredMatrix:
    """The result of one method on a stored matrix, which must stay within the budget."""
    found = fp.approximate(
        range(len(matrix)),
        fp.Precomputed(matrix),
        budget=budget,
        method=method,
        error_pairs=0,
        random_state=seed,
        **options,
    )
    assert found.evaluations <= budget  # noqa: S101 - this is what "equal budget" means
    return found
