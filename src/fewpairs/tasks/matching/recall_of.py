"""recall_of(): how many of all matches a list of candidates holds, whoever made it."""

from __future__ import annotations

import zlib
from dataclasses import replace
from typing import Any

import numpy as np

from fewpairs.arrays import RandomState
from fewpairs.error.recall import Recall, blind_pairs, check_recall
from fewpairs.errors import InputError
from fewpairs.oracle.journal.journal import JournalOption
from fewpairs.oracle.progress import ProgressOption
from fewpairs.parallel import max_memory as memory_below
from fewpairs.similarities.cost import CostOption
from fewpairs.similarities.patience import WhenMissing
from fewpairs.tasks.matching.all_pairs import better_all
from fewpairs.tasks.matching.auditing import ENOUGH, audit, audit_all
from fewpairs.tasks.matching.given import keys_of
from fewpairs.tasks.matching.labels import Labels
from fewpairs.tasks.matching.question import Beside, Means, Question
from fewpairs.tasks.matching.symmetry import check_symmetry, pairs_to_check, unlimited
from fewpairs.tasks.matching.threshold import Threshold
from fewpairs.workers.choice import WorkersOption


def recall_of(
    candidates: Any,
    items: Any,
    similarity: Any = None,
    *,
    above: float | None = None,
    below: float | None = None,
    others: Any = None,
    ids: Any = None,
    recall: float = 0.95,
    budget: float | str | None = None,
    all_pairs: bool | None = None,
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
) -> Recall:
    """State the recall of candidate pairs: a blocking rule's, an index's, last year's matches.

    The candidates are evaluated, which tells their precision; then pairs outside of them are drawn
    blindly, enough to state `recall` if none of their matches is missed. Without a budget the draw
    ends with thirty missed ones: the recall is then far below what was asked for.

    Parameters
    ----------
    candidates : array of shape (n_pairs, 2), pair of arrays, data frame, sparse matrix, or Found
        Positions of both items, or their ids where `ids` are given. A frame has the columns left
        and right, as `Found.to_pandas` makes them, or unique_id_l and unique_id_r, as splink's
        predictions do; it and a pandas index of pairs name the items by the index that these
        have. Of a SciPy matrix, such as a graph of neighbours, every entry that is stored is a
        pair, whatever its value.
    items, similarity, above, below, others, ids : as for `find_pairs`
    recall : float, default=0.95
        What the blind pairs should be able to state.
    budget : int, float or str, optional
        The most to spend, candidates included: evaluations, a share of all pairs, or money. Then
        the draw does not end with thirty missed matches, and the interval is narrower.
    all_pairs : bool, optional
        Whether every pair is evaluated, and the recall exact. By default where the similarity is
        declared `cheap` and there are no more than ten million pairs; and where a statement would
        take half of them and there are no more than a million, or four times the candidates, unless
        thirty missed matches end it before. False never does.
    random_state, journal, n_jobs, workers, client, progress : as for `find_pairs`
    retry, timeout, on_error, on_nonfinite, cost, max_memory : as for `find_pairs`

    Returns
    -------
    Recall
        Its `precision` is the share of the candidates that match, `examples` are matches that are
        missing among them, with your ids where you gave some, `evaluations` what it took.

    Examples
    --------
    >>> import fewpairs as fp
    >>> names = ["Ann Lee", "Anne Lee", "Bo Ek", "Bo Eck", "Cy Dahl", "Cy Dal"]
    >>> same_letter = [(0, 1), (2, 3)]
    >>> alike = fp.StringSimilarity("jaro_winkler")
    >>> stated = fp.recall_of(same_letter, names, alike, above=0.9, random_state=0)
    >>> stated.value, stated.precision
    (0.6666666666666666, 1.0)
    """
    threshold, wanted = Threshold.of(above, below), check_recall(recall)
    means = Means(n_jobs, progress, journal, workers, client)
    beside = Beside(retry, timeout, on_error, on_nonfinite, cost)
    asked = Question.of(items, similarity, others, ids, budget, all_pairs, means, beside)
    oracle, universe = asked.oracle, asked.universe
    threshold.check(oracle)
    keys = keys_of(candidates, universe, asked.ids, said=ids is not None)
    each, allowed = asked.each, min(asked.allowed // asked.each, universe.size)
    if len(keys) > allowed:
        raise InputError(
            f"there are {len(keys):,} candidates, and {allowed:,} pairs may be evaluated.",
            "Which of them match must be known before their share of all matches can be.",
            "Raise the budget, or pass fewer candidates.",
        )
    base = oracle.generator(random_state, "recall_of")
    with oracle.run(allowed * each, base), memory_below(max_memory):
        # Other candidates, other blind pairs: whoever adds what was missed, and asks again with the
        # same seed, would otherwise be judged by the pairs that were just added.
        seeds = base.integers(2**63, size=4).tolist()
        rng = np.random.default_rng([*seeds, zlib.crc32(keys.tobytes())])
        # Of candidates that are evaluated anyway, the other order is all that it takes.
        room = unlimited(universe) if budget is None else allowed - len(keys)
        check_symmetry(oracle, universe, pairs_to_check(oracle, universe, room, rng, keys))
        if asked.everything:
            stated, missed = audit_all(oracle, universe, threshold, keys, target=wanted)
        else:
            labels = Labels()
            labels.add(keys, threshold.holds(oracle.entries(*universe.places(keys))))
            rest = universe.size - len(keys)
            price = blind_pairs(wanted, labels.found, rest)
            if budget is not None:
                price = min(price, max(allowed - oracle.spent // each, 0))
            elif all_pairs is None and better_all(price, rest, len(keys)):
                price = rest
            oracle.replan(oracle.spent + price * each)
            enough = ENOUGH if budget is None else None
            stated, missed = audit(
                oracle, universe, threshold, labels, price, rng, target=wanted, enough=enough
            )
        spent, skipped = oracle.spent, len(oracle.skipped)
    rows, columns = universe.places(missed.keys)
    return replace(
        stated,
        precision=stated.found / len(keys) if len(keys) else None,
        examples=(asked.ids.name(rows), asked.ids.name(columns, right=True), missed.values),
        evaluations=spent,
        skipped=skipped,
    )
