"""A plan: what a run will do and cost, and how people are told."""

from __future__ import annotations

from dataclasses import dataclass

from fewpairs.error.interval import Interval, relative_error
from fewpairs.methods.base import Method
from fewpairs.methods.landmarks import Selector
from fewpairs.notebook import svg
from fewpairs.notebook.card import card_of
from fewpairs.parallel import format_bytes
from fewpairs.run.pricing import Target
from fewpairs.run.timing import format_seconds, largest_sample
from fewpairs.similarities.cost import Cost

#: A plan that costs this share of all pairs might as well have all of them; and so might one of a
#: similarity that is through with all pairs in so many seconds.
_HARDLY_LESS, _NEXT_TO_NOTHING = 0.9, 5.0
#: Up to this many landmarks are decomposed within about a second.
_DECOMPOSED = 2000


@dataclass(frozen=True, eq=False)
class Plan:
    """A checked run: how many landmarks, what they cost, what they take.

    Attributes
    ----------
    n_items, n_landmarks, error_pairs : int
    n_others : int or None
        Items of the columns, where they are others than those of the rows.
    evaluations : int
        Everything that the run will spend, at the most.
    target : Target or None
        An error to reach; `n_landmarks` are then those of the first step.
    first_step : int
        Evaluations of the first step to a target; without a target, all of them.
    allowance : int or None
        What a budget leaves for the method itself.
    share : float
        Of all pairs: n(n+1)/2 if symmetric, n² if not.
    memory : int
        Bytes that the run holds at its peak, beside the items.
    seconds : float or None
        From a timed sample; None where none was taken.
    sampled : int
        Evaluations that the timed sample took, on top.
    all_pairs : int
        Evaluations of all pairs, which would leave no error.
    cost : Cost or None
        Of one evaluation.
    """

    n_items: int
    n_others: int | None
    n_landmarks: int
    error_pairs: int
    symmetry_pairs: int
    estimates_error: bool
    weighted: bool
    fold: bool
    allowance: int | None
    evaluations: int
    share: float
    memory: int
    title: str
    method: Method
    put_back: bool
    selector: Selector
    interval: Interval = relative_error
    target: Target | None = None
    seconds: float | None = None
    sampled: int = 0
    all_pairs: int = 0
    first_step: int = 0
    cost: Cost | None = None

    @property
    def price(self) -> float | None:
        """What all evaluations cost in money; None where nobody said what one does."""
        return None if self.cost is None else self.cost.price(self.evaluations)

    @property
    def most_landmarks(self) -> int:
        """How many landmarks evaluate every pair."""
        return min(self.n_items, self.n_others or self.n_items)

    @property
    def exact(self) -> bool:
        """Whether the run will evaluate every pair."""
        return self.n_landmarks == self.most_landmarks

    @property
    def seconds_for_all_pairs(self) -> float | None:
        """What all pairs would take, from the timed sample; None where none was taken."""
        if self.seconds is None or not self.evaluations:
            return None
        return self.seconds * self.all_pairs / self.evaluations

    @property
    def call_for_all_pairs(self) -> str:
        """How to ask for all pairs."""
        if self.most_landmarks <= _DECOMPOSED:
            return f"landmarks={self.most_landmarks}"
        # Their factors would take longer than the pairs.
        columns = self.n_others or self.n_items
        return f"fewpairs.Oracle(items, similarity).columns(range({columns}))"

    def __str__(self) -> str:
        return self.described(self.call_for_all_pairs, timing="timed=True")

    def _repr_html_(self) -> str:
        return card_of(str(self), svg.share(self.share))

    def described(self, call: str, *, timing: str | None) -> str:
        """Write the plan for people.

        Parameters
        ----------
        call : str
            How they would ask for all pairs.
        timing : str or None
            How they would ask for the time; None where they know it.
        """
        items = f"{self.n_items:,} items"
        if self.n_others is not None:
            items = f"{self.n_items:,} items and of {self.n_others:,} others"
        landmarks = f"{self.n_landmarks:,} landmarks"
        most = "at most " if self.method.price_is_most else ""
        judging = f", {self.error_pairs:,} of them for the error estimate"
        start = about = ""
        if self.exact or not self.error_pairs:
            judging = ""
        if self.target is not None and not self.exact:
            landmarks = f"from {landmarks} on, until the error is below {self.target.error:g},"
            most = f"from {self.first_step:,} on, at most "
            judging = f", at least {2 * self.target.audit:,} of them for judging"
            start, about = " at the start", "at most "
        lines = [
            f"{self.title}: {landmarks} of {items}",
            f"  evaluations  {most}{self.evaluations:,} ({self.share:.2%} of all pairs){judging}",
            f"  memory       {format_bytes(self.memory)}{start}",
        ]
        if self.cost is not None:
            price, everything = (
                self.cost.written(count) for count in (self.evaluations, self.all_pairs)
            )
            least = "at most " if self.method.price_is_most or self.target is not None else ""
            lines.insert(2, f"  cost         {least}{price}, where all pairs cost {everything}")
        lines += self._time(about, timing)
        return "\n".join([*lines, *self._offer(call)])

    def _time(self, about: str, timing: str | None) -> list[str]:
        """Say how long the run takes, and what finding that out has cost."""
        spent = "" if self.cost is None else f", bought here for {self.cost.written(self.sampled)}"
        if self.seconds is not None:
            time = f"{about}about {format_seconds(self.seconds)}, judged by "
            return [f"  time         {time}{self.sampled:,} timed evaluations{spent}"]
        if self.sampled:
            return [f"  time         unknown, after {self.sampled:,} timed evaluations{spent}"]
        if timing is None:
            return []
        most = largest_sample(self.all_pairs)
        price = "" if self.cost is None else f", {self.cost.written(most)}"
        told = f"nothing was evaluated; {timing} makes up to {most:,} evaluations{price}"
        return [f"  time         unknown: {told}"]

    def _offer(self, call: str) -> list[str]:
        """Say how to have all pairs, where they cost hardly more, or next to nothing."""
        seconds = self.seconds_for_all_pairs
        # Whoever has said what an evaluation costs does not mind the time alone.
        quick = self.cost is None and seconds is not None and seconds <= _NEXT_TO_NOTHING
        # The most that a target may cost is all pairs, and says nothing of what it will cost.
        hardly_less = self.target is None and self.evaluations >= _HARDLY_LESS * self.all_pairs
        if self.exact or self.method.reads_all or not (quick or hardly_less):
            return []
        time = "" if seconds is None else f" in about {format_seconds(seconds)}"
        return [f"  all pairs    {self.all_pairs:,} evaluations{time} leave no error: {call}"]
