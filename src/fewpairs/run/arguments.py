"""Arguments of a run, checked before the first evaluation is bought."""

from __future__ import annotations

from typing import Any

import numpy as np

from fewpairs.arrays import IntArray, is_number, is_whole
from fewpairs.errors import (
    BudgetError,
    InputError,
    LandmarksCutWarning,
    MethodError,
    UnknownNameError,
    warn,
)
from fewpairs.guides.guides import Guide, as_guides
from fewpairs.methods.base import Method
from fewpairs.methods.landmarks import given_landmarks
from fewpairs.oracle.journal.journal import JournalOption
from fewpairs.oracle.oracle import Oracle
from fewpairs.oracle.progress import ProgressOption
from fewpairs.similarities.base import declared
from fewpairs.similarities.cost import Cost, evaluations_for
from fewpairs.workers.choice import WorkersOption

#: What a run takes beside the options of its method; suggested when one of them is misspelt.
OPTIONS = (
    "others",
    "ids",
    "landmarks",
    "budget",
    "target_error",
    "method",
    "selection",
    "guide",
    "error_pairs",
    "error_draw",
    "error_interval",
    "fold_error_pairs",
    "random_state",
    "journal",
    "n_jobs",
    "workers",
    "client",
    "progress",
    "retry",
    "timeout",
    "on_error",
    "on_nonfinite",
    "cost",
    "max_memory",
    "scratch",
)


def guides_of(oracle: Oracle, guide: Any) -> list[Guide]:
    """Turn what a user gives as a guide into vectors, before anything is spent."""
    others = None if oracle.square else oracle.others
    return as_guides(guide, oracle.items, others, oracle.similarity, cosines=True)


def evaluations_of(
    budget: float | str, everything: int, cost: Cost | None, *, for_all: str | None = None
) -> int:
    """Turn a budget into a number of evaluations, where all pairs take `everything`.

    `for_all` is how all pairs are asked for, if not by a budget of so many.
    """
    if isinstance(budget, str):
        return evaluations_for(budget, cost)
    if is_whole(budget) and budget > 0:
        return int(budget)
    if isinstance(budget, (float, np.floating)) and 0 < budget < 1:
        return int(budget * everything)
    advice = (
        "Pass a number of evaluations (a positive integer), or a share of all pairs (a float "
        'between 0 and 1), or money ("5 USD", beside cost=).'
    )
    if is_number(budget) and budget >= 1:  # 1.0 is neither one evaluation nor a share
        advice += f" For all pairs pass {for_all or f'budget={everything}'}."
    raise BudgetError(f"budget is {budget!r}.", "It is what may be spent in all.", advice)


def check_rectangle(landmarks: Any, selection: Any) -> None:
    """Refuse what has no meaning for rows and columns of different things."""
    if selection != "uniform" or (landmarks is not None and np.ndim(landmarks) != 0):
        raise InputError(
            "landmarks or a selection were chosen for a matrix between two sets of items.",
            "As many landmarks are drawn among the rows as among the columns, uniformly.",
            "Pass a number of landmarks, or a budget.",
        )


def check_count(landmarks: Any, n: int) -> int:
    """Return a number of landmarks, cut to the number of items with a warning."""
    if not is_whole(landmarks) or landmarks < 1:
        raise InputError(
            f"landmarks is {landmarks!r}.",
            "It is the number of columns that are read, or the positions of their items.",
            "Pass a positive integer or a list of positions; for a share of all pairs use budget=.",
        )
    if landmarks > n:
        warn(
            LandmarksCutWarning(
                f"{landmarks} landmarks were asked for and there are {n} items; all {n} are used."
            )
        )
    return min(int(landmarks), n)


def check_error_pairs(error_pairs: Any) -> int | None:
    """Return a number of pairs for the error estimate, or None for the default."""
    if error_pairs is None:
        return None
    if not is_whole(error_pairs) or error_pairs < 0:
        raise InputError(
            f"error_pairs is {error_pairs!r}.",
            "It is the number of unseen pairs that the error estimate rests on.",
            "Pass a non-negative integer; 0 turns the estimate off.",
        )
    return int(error_pairs)


def check_draw(name: Any) -> bool:
    """Return whether pairs of the error estimate are drawn by weight."""
    if name not in ("weighted", "uniform"):
        raise UnknownNameError("error_draw", name, ("weighted", "uniform"))
    return bool(name == "weighted")


def check_fold(fold: Any, error_pairs: Any) -> bool:
    """Return whether the pairs of the error estimate are used afterwards."""
    if not isinstance(fold, (bool, np.bool_)) or (fold and error_pairs == 0):
        raise InputError(
            f"fold_error_pairs is {fold!r}, with error_pairs={error_pairs!r}.",
            "It says whether the pairs of the error estimate are used in the result afterwards.",
            "Pass True or False; True needs pairs to fold in.",
        )
    return bool(fold)


def refuse_idle_fold(title: str, *, fold: bool, put_back: bool) -> None:
    """Refuse to fold pairs into a result that has no place for them."""
    if fold and not put_back:
        raise InputError(
            f"fold_error_pairs=True was given with known=None (method {title}).",
            "The factors alone are returned, and single pairs cannot become exact in them.",
            'Pass known="exact" too, or leave fold_error_pairs out.',
        )


def check_target_run(
    method: Method, title: str, landmarks: Any, selection: Any, error_pairs: int | None
) -> None:
    """Refuse what cannot be combined with a target error."""
    alone = "Pass target_error alone, or with a budget."
    if error_pairs == 0:
        raise InputError(
            "error_pairs=0 was given beside target_error.",
            "Without an estimate nobody can tell when the target is reached.",
            "Leave error_pairs out, or pass how many pairs should judge.",
        )
    if landmarks is not None:
        raise InputError(
            "landmarks were given beside target_error.", "It finds their number by itself.", alone
        )
    if selection != "uniform":
        raise InputError(
            "a selection was given beside target_error.",
            "Landmarks are added step by step, in a random order.",
            alone,
        )
    if not method.grows:
        raise InputError(
            f"target_error was given beside the method {title}.",
            "It cannot go on from fewer landmarks, and each step would be paid for anew.",
            alone,
        )


def check_selected(landmarks: Any, count: int, n: int) -> IntArray:
    """Return what a selector has chosen: `count` different positions."""
    try:
        return given_landmarks(landmarks, n, count).indices
    except InputError as error:
        raise MethodError(
            f"the selector returned {landmarks!r:.200} for {count} landmarks of {n} items.",
            str(error).splitlines()[0],
            "Return that many different positions.",
        ) from error


def as_oracle(
    items: Any,
    similarity: Any,
    others: Any = None,
    n_jobs: int | None = 1,
    progress: ProgressOption = None,
    journal: JournalOption = None,
    *,
    workers: WorkersOption = "threads",
    client: Any = None,
    **declared_beside: Any,
) -> Oracle:
    """Make the oracle of a run, or take one that the user has, with what it has paid for.

    `declared_beside` are the patience and the cost that the run declares of the similarity.
    """
    if isinstance(similarity, Oracle):
        raise InputError(
            "an oracle was given as the similarity.",
            "It has its items and its similarity already.",
            "Pass it first, and alone, in place of the items.",
        )
    if not isinstance(items, Oracle):
        if similarity is None:
            raise InputError(
                "no similarity was given.",
                "It is what the matrix is made of.",
                "Pass fewpairs.similarity(function, kind=…, symmetric=…), or a ready one.",
            )
        given = declared(similarity, **declared_beside)
        return Oracle(
            items,
            given,
            others=others,
            n_jobs=n_jobs,
            progress=progress,
            journal=journal,
            workers=workers,
            client=client,
        )
    if others is not None:
        raise InputError(
            "other items were given beside an oracle.",
            "The oracle has its own already, and what it remembers belongs to those.",
            "Pass the oracle alone.",
        )
    if journal is not None and not items.writes_to(journal):
        raise InputError(
            "a journal was given beside an oracle that does not write to it.",
            "What the oracle has evaluated before would be missing there.",
            "Pass the oracle alone, or make one with it: fewpairs.Oracle(…, journal=…).",
        )
    if similarity is not None:
        items.mend(similarity)
    items.declare(**declared_beside)
    if progress is not None:
        items.progress = progress
    if n_jobs != 1 or workers != "threads" or client is not None:
        items.work_in(n_jobs, workers, client)
    return items
