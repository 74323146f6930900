"""The price of a command on tables, told before anything is evaluated."""

from __future__ import annotations

import json
from typing import Any

import typer

from fewpairs.cli.comparing import Compared

#: Nobody knows how many pairs match before they are found: as many as rows, a tenth, or ten times.
_FOR_EACH = (0.1, 1, 10)
#: Of up to so many times what is evaluated unasked, all pairs may be quicker than a search.
_QUICK = 10


def tell_plan(
    compared: Compared,
    *,
    threshold: dict[str, float] | None = None,
    recall: float,
    budget: float | str | None,
    all_pairs: bool | None,
    cost: float | str | None,
    k: int | None = None,
    as_json: bool = False,
) -> None:
    """Say what a command would evaluate.

    Parameters
    ----------
    compared : Compared
    threshold : dict, optional
        What pairs reach, ``above`` or ``below``. A run that is refused has no price.
    recall : float
    budget : int, float, str or None
    all_pairs : bool or None
    cost : float, str or None
        Of one evaluation.
    k : int, optional
        Neighbours of each row; without it pairs are looked for.
    as_json : bool, default=False
    """
    from fewpairs.run.arguments import evaluations_of  # noqa: PLC0415 - --help is instant
    from fewpairs.similarities.cost import Cost  # noqa: PLC0415
    from fewpairs.tasks.matching.all_pairs import MANY, evaluates_all  # noqa: PLC0415
    from fewpairs.tasks.matching.plan_nearest import plan_nearest  # noqa: PLC0415
    from fewpairs.tasks.matching.plan_pairs import plan_pairs  # noqa: PLC0415
    from fewpairs.tasks.matching.threshold import Threshold  # noqa: PLC0415
    from fewpairs.tasks.matching.universe import Universe  # noqa: PLC0415

    oracle = compared.oracle
    if threshold is not None:
        Threshold.of(threshold.get("above"), threshold.get("below")).check(oracle)
    n, m = oracle.shape
    sets: dict[str, Any] = {"recall": recall, "symmetric": oracle.symmetric}
    sets |= {} if oracle.square else {"others": m}
    universe = Universe(n, m, square=oracle.square, symmetric=oracle.symmetric)
    each = oracle.planner.per_entry
    price = None if cost is None else Cost.of(cost)

    def paid(*counts: int) -> str:
        """Return what the least and the most cost, where that is known."""
        return "" if price is None else f", {' to '.join(price.written(c) for c in counts)}"

    if evaluates_all(all_pairs, budget, oracle.similarity, universe):
        paying = paid(universe.size * each)
        lines = [f"all {universe.size:,} pairs would be evaluated, and none missed{paying}"]
        expected = [{"least": universe.size * each, "most": universe.size * each}]
    elif budget is not None:
        everything = universe.size * each
        most = min(evaluations_of(budget, everything, price), everything)
        lines = [f"at most {most:,} evaluations, of {universe.size:,} pairs{paid(most)}"]
        expected = [{"least": 0, "most": most}]
    elif k is not None:
        nearest = plan_nearest(n, k=k, **sets)
        lines = [str(nearest).replace("budget=", "--budget") + paid(nearest.least * each)]
        expected = [{"least": nearest.least * each}]
    else:
        counts = sorted({min(max(int(min(n, m) * c), 1), universe.size) for c in _FOR_EACH})
        plans = [plan_pairs(n, matches=count, **sets) for count in counts if universe.size]
        lines = ["the price depends on how many pairs match:"]
        lines += [
            f"with {plan.matches:,} matches: {plan.price}{paid(plan.low * each, plan.high * each)}"
            for plan in plans
        ]
        expected = [
            {"matches": plan.matches, "least": plan.low * each, "most": plan.high * each}
            for plan in plans
        ]
    open_choice = all_pairs is None and budget is None and price is None
    if open_choice and oracle.similarity.cheap and MANY < universe.size <= _QUICK * MANY:
        lines.append(
            f"--all-pairs evaluates all {universe.size:,} pairs and misses none: with a string "
            "similarity that is often quicker than a search"
        )
    _say(lines, {"rows": [n, m], "pairs": universe.size, "evaluations": expected}, as_json=as_json)


def tell_plan_of_clusters(
    compared: Compared,
    *,
    threshold: dict[str, float],
    budget: float | str | None,
    cost: float | str | None,
    as_json: bool = False,
) -> None:
    """Say what clusters would cost: at most their budget. A run that is refused has no price."""
    from fewpairs.similarities.cost import Cost  # noqa: PLC0415 - --help is instant
    from fewpairs.tasks.clustering.cluster import allowance, threshold_of  # noqa: PLC0415

    threshold_of(threshold.get("threshold"), threshold.get("below")).check(compared.oracle)
    price = None if cost is None else Cost.of(cost)
    oracle, n = compared.oracle, len(compared.left)
    everything = oracle.planner.price_of_columns(n)  # what all clusters can ask for
    cheap = oracle.similarity.cheap
    most = min(allowance(oracle.planner, n, budget, price, cheap=cheap), everything)
    paying = "" if price is None else f", {price.written(most)}"
    share = most / max(everything, 1)
    lines = [f"at most {most:,} evaluations, {share:.1%} of all {everything:,}{paying}"]
    expected = [{"least": 0, "most": most}]
    _say(lines, {"rows": [n, n], "pairs": everything, "evaluations": expected}, as_json=as_json)


def _say(lines: list[str], facts: dict[str, Any], *, as_json: bool) -> None:
    told = json.dumps(facts) if as_json else "\n".join([*lines, "nothing was evaluated"])
    typer.echo(told)
