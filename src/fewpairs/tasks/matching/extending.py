"""extend(): new items for an answer, which pays for pairs with at least one of them."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from fewpairs.arrays import FloatArray, RandomState
from fewpairs.error.recall import Recall, check_recall
from fewpairs.errors import InputError, NotAttachedError, RecallMissedWarning, warn
from fewpairs.guides.guides import ARRAY, reusable
from fewpairs.items.ids import longer_ids
from fewpairs.items.items import Items, as_items
from fewpairs.oracle.oracle import Oracle
from fewpairs.oracle.progress import ProgressOption
from fewpairs.oracle.provenance import Provenance
from fewpairs.parallel import one_blas_thread
from fewpairs.run.arguments import as_oracle
from fewpairs.tasks.matching.all_pairs import evaluates_all
from fewpairs.tasks.matching.earlier import Earlier
from fewpairs.tasks.matching.found import Found
from fewpairs.tasks.matching.question import Question
from fewpairs.tasks.matching.running import Run, added
from fewpairs.tasks.matching.search import best_first
from fewpairs.tasks.matching.threshold import Threshold
from fewpairs.tasks.matching.universe import Universe


def extend(
    found: Found,
    new_items: Any,
    *,
    others: Any,
    ids: Any,
    recall: float | None,
    budget: float | None,
    guide: Any,
    random_state: RandomState,
    n_jobs: int,
    progress: ProgressOption,
) -> Found:
    """Find the matches of new items; `Found.extend` documents the parameters."""
    begun = time.perf_counter()
    old, threshold = _source(found)
    wanted = check_recall(found.recall.target if recall is None else recall)
    oracle = _longer(old, new_items, others, n_jobs, progress)
    threshold.check(oracle)
    sides = [oracle.items] if oracle.square else [oracle.items, oracle.others]
    then = found.shape[: len(sides)]
    fresh = [side.subset(np.arange(n, len(side))) for side, n in zip(sides, then, strict=True)]
    names = longer_ids(found.ids, ids, *(side if len(side) else None for side in fresh))
    if oracle.shape == found.shape:
        return found
    universe = Universe(
        *oracle.shape, square=oracle.square, symmetric=oracle.symmetric, old=found.shape
    )
    # Old pairs that were evaluated unasked, because all are quicker than a search, stay exact.
    everything = "all_pairs" in found.spent and evaluates_all(
        None, budget, oracle.similarity, universe
    )
    asked = Question(oracle, universe, names, budget, everything)
    allowed = asked.allowed // asked.each
    guides = asked.guides(None if everything and guide is None else _guide(found, guide))
    earlier = Earlier(found.left, found.right, found.recall, found.extensions + 1)
    base, before = oracle.generator(random_state), oracle.evaluations
    with (
        oracle.run(min(allowed, universe.size) * asked.each, base),
        one_blas_thread(),
    ):
        # The seed of the first call must not draw the same once more.
        seeds = base.integers(2**63, size=4).tolist()
        rng = np.random.default_rng([*seeds, earlier.extensions])
        run = Run(
            oracle,
            universe,
            threshold,
            allowed,
            wanted,
            rng,
            unasked=budget is None,
            earlier=earlier,
        )
        stated, keys = run.evaluate_all() if everything else run.carry_out(guides)
        rows, columns = universe.places(keys)
        values = oracle.entries(rows, columns)
        blind = run.blind_values()
        skipped = found.recall.skipped + len(oracle.skipped)
        stated = replace(stated, skipped=skipped)
    if budget is None and found.recall.reached and not stated.reached:
        warn(RecallMissedWarning(f"the recall of {wanted:g} cannot be stated: {stated}."))
    left, right = np.concatenate([found.left, rows]), np.concatenate([found.right, columns])
    values = np.concatenate([found.similarities, values])
    order = best_first(values, universe.keys(left, right), threshold)
    return Found(
        left=left[order],
        right=right[order],
        similarities=values[order],
        recall=stated,
        spent=added(found.spent, run.spent),
        shape=oracle.shape,
        ids=names,
        oracle=oracle,
        threshold=threshold,
        blind=_evenly(found.blind, found.recall, blind, universe.size, rng),
        guide=found.guide if guide is None else reusable(guide),
        extensions=earlier.extensions,
        paid=(found.evaluations if found.paid is None else found.paid)
        + oracle.evaluations
        - before,
        provenance=Provenance.since(begun, random_state),
    )


def _source(found: Found) -> tuple[Oracle, Threshold]:
    """Return what the pairs were found with, or say why nothing can be added to them."""
    if found.recall.of != "matches":
        raise InputError(
            "neighbours cannot be extended.",
            "A new item may be nearer than those that were found, to any of the old ones.",
            "Call fewpairs.find_nearest with all items; or, for the neighbours of the new ones "
            "alone, with the new items and others= the old ones.",
        )
    if found.oracle is None or found.threshold is None:
        raise NotAttachedError(
            "these pairs have no similarity to compare new items with.",
            "They were made without one, as from a table.",
            "Extend what fewpairs.find_pairs has returned.",
        )
    if len(found) != found.recall.found:
        raise InputError(
            f"{found.recall.found:,} matches were found, and {len(found):,} are left of them.",
            "New items may have matches that change an assignment.",
            "Extend what find_pairs returns without one_to_one, then call one_to_one().",
        )
    return found.oracle, found.threshold


def _longer(
    old: Oracle, new_items: Any, others: Any, n_jobs: int, progress: ProgressOption
) -> Oracle:
    """Return the oracle of old and new items, which knows nothing of the old pairs."""
    if isinstance(new_items, Oracle):
        # After a fault: the oracle of old and new items, with what was paid for.
        if new_items.square != old.square or any(
            new < before for new, before in zip(new_items.shape, old.shape, strict=True)
        ):
            raise InputError(
                f"an oracle of {new_items.shape} items was given for pairs of {old.shape}.",
                "It must be that of the same extension, which has the old items too.",
                "Pass error.oracle of the call that was stopped.",
            )
        return as_oracle(new_items, None, others, n_jobs, progress)
    if old.square and others is not None:
        raise InputError(
            "others were given for pairs within one set of items.",
            "There is one set to add to.",
            "Pass all new items as the first argument.",
        )
    items = _joined(old.items, new_items, old)
    journal = old.journal
    if journal is not None and journal.key is not None and not callable(journal.key):
        journal = None  # it names the old items, and nobody has named the new ones
    longer = partial(
        Oracle, items, old.similarity, n_jobs=n_jobs, progress=progress, journal=journal
    )
    return longer() if old.square else longer(others=_joined(old.others, others, old))


def _joined(old: Items, new: Any, oracle: Oracle) -> Items:
    if new is None or _is_empty(new):
        return old
    items = as_items(new, records=bool(oracle.similarity.takes_records))
    try:
        if isinstance(old.values, np.ndarray) and isinstance(items.values, list):
            array = np.asarray(items.values)
            items = as_items(array) if array.dtype.kind in "biuf" else items
        return old.joined(items)
    except ValueError as error:
        raise InputError(
            f"the new items do not fit to the old ones, a table of the shape {old.values.shape}.",
            "Vectors of old and new items are compared with each other.",
            "Pass rows that are as long as the old ones.",
        ) from error


def _is_empty(new: Any) -> bool:
    if sp.issparse(new):  # has no length
        return bool(new.shape[0] == 0)
    return hasattr(new, "__len__") and not isinstance(new, str) and len(new) == 0


def _guide(found: Found, guide: Any) -> Any:
    if guide is None and found.guide == ARRAY:
        raise InputError(
            "the guide was an array, which has no rows for the new items.",
            "Each item needs a vector.",
            'Pass guide= with a row for each item, old and new; or guide="auto".',
        )
    return found.guide if guide is None else guide


def _evenly(
    old: FloatArray, stated: Recall, new: FloatArray, pairs: int, rng: np.random.Generator
) -> FloatArray:
    """Return blind values of which each stands for as many pairs, old or new."""
    rate = min(len(old) / stated.pairs if stated.pairs else 1.0, len(new) / pairs)
    counts = int(rate * stated.pairs), int(rate * pairs)
    some = [rng.permutation(part)[:count] for part, count in zip((old, new), counts, strict=True)]
    return np.concatenate(some)
