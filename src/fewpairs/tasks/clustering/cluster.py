"""cluster(): items that belong together, by average linkage, and how right that is."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fewpairs.arrays import RandomState, generator, is_number
from fewpairs.error.rows import Share
from fewpairs.errors import BudgetError, InputError
from fewpairs.factored.matrix import FactoredMatrix
from fewpairs.guides.guides import AUTO, as_guides
from fewpairs.items.ids import Ids, ids_of_one_set, read_ids
from fewpairs.numerics import distinct
from fewpairs.oracle.journal.journal import JournalOption
from fewpairs.oracle.oracle import Oracle
from fewpairs.oracle.planner import Planner
from fewpairs.oracle.progress import ProgressOption
from fewpairs.oracle.progress import checked as checked_progress
from fewpairs.parallel import count_jobs
from fewpairs.parallel import max_memory as memory_below
from fewpairs.run.approximate import approximate
from fewpairs.run.arguments import as_oracle, evaluations_of
from fewpairs.similarities.base import declared
from fewpairs.similarities.cost import Cost, CostOption
from fewpairs.similarities.patience import WhenMissing
from fewpairs.similarities.symmetrized import Symmetrized
from fewpairs.tasks.clustering.clusters import Clusters
from fewpairs.tasks.clustering.decisions import Noise
from fewpairs.tasks.clustering.linkage import require_sums
from fewpairs.tasks.clustering.pairs import Pairs
from fewpairs.tasks.clustering.spending import COMMON, count_undecided, noise_of, spend, tree_of
from fewpairs.tasks.clustering.stating import state
from fewpairs.tasks.clustering.sums import adds_up_exactly
from fewpairs.tasks.clustering.tree import Tree
from fewpairs.tasks.matching.threshold import Threshold
from fewpairs.workers.choice import WorkersOption

#: Of what may be spent: for the matrix, and for blind pairs at the end. The rest, and what the
#: matrix leaves, goes to decisions.
_FOR_MATRIX, _FOR_BLIND = 0.6, 0.1
#: Pairs for each item where nobody says what may be spent.
_FOR_EACH_ITEM = 200
#: Of a cheap similarity, up to this many pairs are all evaluated unasked: 2,000 items take seconds
#: and some 200 MB, where deciding from fewer takes ten times as long. Memory goes with the square.
_ALL_OF_CHEAP = 2_000_000
#: What is advised where a budget is too small.
_ADVISED_FOR_EACH = 5


def cluster(
    items: Any,
    similarity: Any = None,
    *,
    threshold: float | None = None,
    below: float | None = None,
    ids: Any = None,
    budget: float | str | None = None,
    guide: Any = "auto",
    random_state: RandomState = None,
    journal: JournalOption = None,
    n_jobs: int = 1,
    workers: WorkersOption = "threads",
    client: Any = None,
    progress: ProgressOption = None,
    retry: int | None = None,
    timeout: float | None = None,
    on_error: WhenMissing | None = None,
    on_nonfinite: WhenMissing | None = None,
    cost: CostOption | None = None,
    max_memory: int | str | None = None,
) -> Clusters:
    """Put items into clusters by average linkage: merge while the average is high enough.

    Of a `FactoredMatrix`, the clusters are exactly those of the dense matrix, from O(n·s) memory;
    nothing is evaluated. Of items and a similarity, the matrix is approximated first; then pairs
    are evaluated where a merge is near the threshold, until all are decided or the budget is spent;
    at the end blind pairs state precision and recall.

    Parameters
    ----------
    items : FactoredMatrix, sequence, array, column of a data frame, or Oracle
        A matrix that is not symmetric counts as the mean of both orders.
    similarity : Similarity or str
        Beside items: the expensive function, as for `find_pairs`. Of one that is not symmetric,
        the mean of both orders is clustered, and every pair costs both.
    threshold : float
        Clusters are merged while their average similarity is at least this.
    below : float
        Instead, of distances: while their average distance is at most this.
    ids : sequence, optional
        Your names of the items, as for `find_pairs`.
    budget : int, float or str, optional
        The most to spend: evaluations, a share of all pairs, or money. By default 200 pairs for
        each item, or all pairs if these are fewer; of strings and vectors all pairs of up to 2,000
        items. Clusters of all pairs are exact. Among them are items with themselves, unless the
        similarity declares a diagonal.
    guide : array, encoder, "auto", None, or list of these, default="auto"
        As for `approximate`.
    random_state, journal, n_jobs, workers, client, progress : as for `find_pairs`
    retry, timeout, on_error, on_nonfinite, cost, max_memory : as for `find_pairs`

    Returns
    -------
    Clusters

    Examples
    --------
    >>> import fewpairs as fp
    >>> words = ["ape", "apes", "bee", "bees", "cat", "cats"]
    >>> clusters = fp.cluster(words, fp.StringSimilarity(), threshold=0.7, ids=words)
    >>> clusters.groups()
    [['ape', 'apes'], ['bee', 'bees'], ['cat', 'cats']]
    >>> clusters.precision.value, clusters.recall.value, clusters.undecided
    (1.0, 1.0, 0)
    """
    where = threshold_of(threshold, below)
    if isinstance(items, FactoredMatrix):
        means = (journal, client, retry, timeout, on_error, on_nonfinite, cost)
        _refuse_beside_matrix((similarity, budget, _given(guide), *means))
        count_jobs(n_jobs)
        checked_progress(progress)
        with memory_below(max_memory):
            return _of_matrix(items, where, ids, random_state)
    oracle = as_oracle(
        items,
        similarity if isinstance(items, Oracle) else _one_order(similarity),
        None,
        n_jobs,
        progress,
        journal,
        workers=workers,
        client=client,
        retry=retry,
        timeout=timeout,
        on_error=on_error,
        on_nonfinite=on_nonfinite,
        cost=cost,
    )
    if not oracle.square:
        raise InputError(
            "clusters were asked for of an oracle with two sets of items.",
            "A cluster holds items of one set.",
            "Pass the items of one set, or both joined.",
        )
    if not oracle.symmetric:
        raise InputError(
            "clusters were asked for of an oracle whose similarity is not symmetric.",
            "What is clustered is the mean of both orders, and it keeps each order by itself.",
            "Pass fewpairs.Oracle(items, similarity.symmetrized()), or the items and the "
            "similarity.",
        )
    where.check(oracle)
    names = read_ids(ids, oracle.items)
    with memory_below(max_memory):
        require_sums(oracle.shape[0])
        return _Run(oracle, where, names, guide).carry_out(budget, random_state)


def _given(guide: Any) -> Any:
    """Return a guide that somebody has thought of."""
    return None if isinstance(guide, str) and guide == AUTO else guide


def _one_order(similarity: Any) -> Any:
    """Return the mean of both orders of an asymmetric similarity: what is clustered.

    Both orders of a pair are then bought together, and none is known by half.
    """
    if similarity is None or isinstance(similarity, Oracle):
        return similarity  # refused where the oracle is made
    return declared(similarity).symmetrized()


def threshold_of(threshold: Any, below: Any) -> Threshold:
    """Read ``threshold=`` or ``below=``."""
    if (threshold is None) == (below is None):
        raise InputError(
            "cluster takes either threshold= or below=.",
            "Clusters are merged while their average similarity is at least as large, or their "
            "average distance at most as large.",
            "Pass for example threshold=0.8.",
        )
    given = below if threshold is None else threshold
    if not is_number(given):
        raise InputError(
            f"the threshold is {given!r}.",
            "It is what the average similarity of two clusters is at least, for them to be merged.",
            "Pass a finite number, for example threshold=0.8.",
        )
    return Threshold(float(given), below is None)


def _refuse_beside_matrix(given: tuple[Any, ...]) -> None:
    if any(value is not None for value in given):
        raise InputError(
            "a factored matrix was given beside a similarity, a budget or something else that says "
            "how pairs are evaluated.",
            "Its clusters need no evaluations.",
            "Pass the matrix alone, or the items and the similarity.",
        )


def _of_matrix(
    matrix: FactoredMatrix, where: Threshold, ids: Any, random_state: RandomState
) -> Clusters:
    """Cluster a matrix as it is; what is undecided follows from the error that it states."""
    n = matrix.shape[0]
    require_sums(n)
    source = matrix.source
    names = source.ids if ids is None else ids_of_one_set(ids, source.items, n)
    rng = generator(0 if random_state is None else random_state)  # it only counts
    noise = noise_of(matrix, rng) if matrix.shape == (n, n) else None
    at = where.sign * where.at
    tree, merges = tree_of(matrix, at, where.sign)  # refuses two sets
    symmetric = matrix.symmetrized()
    undecided = None
    if noise is not None:
        noises = Noise(noise, COMMON)
        undecided = count_undecided(tree, merges, symmetric.known, at, noises, rng)
    return replace(
        _clusters(tree, where, matrix, names),
        noise=noise,
        undecided=undecided,
        symmetrized=symmetric is not matrix,
    )


def _clusters(tree: Tree, where: Threshold, matrix: FactoredMatrix, ids: Ids) -> Clusters:
    """Return the clusters of a tree of all merges that reach the threshold."""
    return Clusters(
        labels=tree.labels(len(tree.children)),
        threshold=where,
        tree=tree,
        evaluations=matrix.evaluations,
        exact_sums=adds_up_exactly(matrix),
        matrix=matrix,
        ids=ids,
    )


def _single_items(n: int, where: Threshold, ids: Ids) -> Clusters:
    """Return clusters of which nothing was evaluated, because there is nobody to compare with."""
    alone, nothing = Tree.none(n), Share(float("nan"), 0.0, 1.0)
    return Clusters(
        labels=alone.labels(0),
        threshold=where,
        tree=alone,
        precision=nothing,
        recall=nothing,
        undecided=0,
        spent={"matrix": 0, "decisions": 0, "blind": 0},
        noise=0.0,
        ids=ids,
    )


def allowance(
    planner: Planner, n: int, budget: float | str | None, cost: Cost | None, *, cheap: bool
) -> int:
    """Return how many evaluations may be spent: those of a budget, or so many for each item."""
    # An exact matrix has its diagonal, too.
    everything = planner.price_of_columns(n)
    if budget is not None:
        return evaluations_of(budget, everything, cost)
    if cheap and n * (n - 1) // 2 <= _ALL_OF_CHEAP:
        return everything
    return min(_FOR_EACH_ITEM * n * planner.per_entry, everything)


@dataclass(frozen=True, eq=False)
class _Run:
    """One run: a matrix, decisions, a statement."""

    oracle: Oracle
    where: Threshold
    ids: Ids
    guide: Any

    def carry_out(self, budget: float | str | None, random_state: RandomState) -> Clusters:
        oracle, where = self.oracle, self.where
        n = oracle.shape[0]
        if n < 2:  # noqa: PLR2004 - nobody to compare with
            return _single_items(n, where, self.ids)
        planner = oracle.planner
        everything = planner.price_of_columns(n)
        cheap = oracle.similarity.cheap
        allowed = allowance(planner, n, budget, planner.cost, cheap=cheap)
        rng = oracle.generator(random_state, "cluster")
        matrix = self._matrix(allowed, everything, rng)
        noise = noise_of(matrix, rng) or 0.0
        at = where.sign * where.at
        left = allowed - matrix.evaluations
        pairs = Pairs(oracle, matrix, where.sign)
        with oracle.run(left, rng):
            blind = min(int(_FOR_BLIND * allowed), left) // pairs.each
            found = spend(pairs, at, noise, left - blind * pairs.each, rng)
            decided = oracle.spent
            clusters = _clusters(found.tree, where, matrix, self.ids)
            blind = (left - decided) // pairs.each
            stated = state(pairs, clusters.labels, at, blind, rng)
            spent, in_vain = oracle.spent, pairs.keys_of(oracle.skipped)
        return replace(
            clusters,
            precision=stated.precision,
            recall=stated.recall,
            undecided=int(found.decisions.open_at(at).sum()),
            noise=found.noise.size,
            evaluations=matrix.evaluations + spent,
            spent={
                "matrix": matrix.evaluations,
                "decisions": decided,
                "blind": spent - decided,
            },
            symmetrized=isinstance(oracle.similarity, Symmetrized),
            skipped=len(distinct(pairs.skipped, in_vain)),
            oracle=oracle,
        )

    def _matrix(self, allowed: int, everything: int, rng: np.random.Generator) -> FactoredMatrix:
        """Approximate the matrix by a part of what may be spent, or by all pairs."""
        seed = int(rng.integers(2**31))
        n = self.oracle.shape[0]
        if allowed >= everything:
            # Nobody follows a guide then, but one that makes no sense is told all the same.
            oracle = self.oracle
            as_guides(_given(self.guide), oracle.items, None, oracle.similarity, cosines=True)
            return approximate(self.oracle, landmarks=n, error_pairs=0, random_state=seed)
        share = int(_FOR_MATRIX * allowed)
        try:
            return approximate(
                self.oracle,
                budget=max(share, 1),
                guide=self.guide,
                random_state=seed,
                fold_error_pairs=True,
            )
        except BudgetError as error:
            advised = _ADVISED_FOR_EACH * n * self.oracle.planner.per_entry
            raise BudgetError(
                f"a budget of {allowed:,} evaluations is too small for {n:,} items.",
                f"A first matrix gets {_FOR_MATRIX:.0%} of it, and needs a landmark at least.",
                f"Raise it to {min(advised, everything):,} or more.",
            ) from error
