"""What was asked: of which items, what may be spent on it, and whether every pair is evaluated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from fewpairs.guides.guides import Guide, as_guides
from fewpairs.items.ids import Ids, read_ids
from fewpairs.oracle.journal.journal import JournalOption
from fewpairs.oracle.oracle import Oracle
from fewpairs.oracle.progress import ProgressOption
from fewpairs.run.arguments import as_oracle, evaluations_of
from fewpairs.similarities.cost import CostOption
from fewpairs.similarities.patience import WhenMissing
from fewpairs.tasks.matching.all_pairs import evaluates_all
from fewpairs.tasks.matching.symmetry import unlimited
from fewpairs.tasks.matching.universe import Universe
from fewpairs.workers.choice import WorkersOption


class Means(NamedTuple):
    """How pairs are evaluated: by how many of whom, told to whom, written down where."""

    n_jobs: int
    progress: ProgressOption
    journal: JournalOption = None
    workers: WorkersOption = "threads"
    client: Any = None


class Beside(NamedTuple):
    """What a call declares beside the similarity, which may not say it itself."""

    retry: int | None = None
    timeout: float | None = None
    on_error: WhenMissing | None = None
    on_nonfinite: WhenMissing | None = None
    cost: CostOption | None = None


@dataclass(frozen=True, eq=False)
class Question:
    """Items and their similarity, and what may be spent on their pairs.

    Attributes
    ----------
    oracle : Oracle
    universe : Universe
    ids : Ids
    budget : int, float, str or None
        As the user gave it.
    everything : bool
        Whether all pairs are evaluated.
    """

    oracle: Oracle
    universe: Universe
    ids: Ids
    budget: float | str | None
    everything: bool

    @classmethod
    def of(
        cls,
        items: Any,
        similarity: Any,
        others: Any,
        ids: Any,
        budget: float | str | None,
        all_pairs: bool | None,
        means: Means,
        beside: Beside,
    ) -> Question:
        """Check what every question takes; nothing is evaluated."""
        oracle = as_oracle(items, similarity, others, **means._asdict(), **beside._asdict())
        universe = Universe(*oracle.shape, square=oracle.square, symmetric=oracle.symmetric)
        everything = evaluates_all(all_pairs, budget, oracle.similarity, universe)
        names = read_ids(ids, oracle.items, None if oracle.square else oracle.others)
        return cls(oracle, universe, names, budget, everything)

    @property
    def each(self) -> int:
        """Evaluations that one pair takes."""
        return self.oracle.planner.per_entry

    @property
    def all_cost(self) -> int:
        """Evaluations that all pairs take."""
        return self.universe.size * self.each

    @property
    def allowed(self) -> int:
        """Evaluations that may be made; more than all pairs take where nobody limits them."""
        if self.budget is None:
            return unlimited(self.universe) * self.each
        return evaluations_of(self.budget, self.all_cost, self.oracle.planner.cost)

    def guides(self, guide: Any) -> list[Guide]:
        """Turn what the user gives as a guide into vectors; what nobody follows is not made."""
        oracle = self.oracle
        unused = self.everything and isinstance(guide, str) and guide == "auto"
        others = None if oracle.square else oracle.others
        return as_guides(None if unused else guide, oracle.items, others, oracle.similarity)
