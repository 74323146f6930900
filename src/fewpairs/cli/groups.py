"""Options that go together: of a similarity, of tables, of what is spent, of a run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fewpairs.cli import options as o
from fewpairs.cli.columns import Columns, Form
from fewpairs.cli.comparing import Choice, Patience
from fewpairs.errors import InputError


@dataclass(frozen=True)
class Similar:
    """By which similarity items are compared."""

    similarity: o.SimilarityOption = "levenshtein"
    gamma: o.GammaOption = None
    vectors: o.VectorsOption = None
    asymmetric: o.AsymmetricOption = False
    retry: o.RetryOption = None
    timeout: o.TimeoutOption = None
    per_second: o.PerSecondOption = None
    max_in_flight: o.InFlightOption = None

    def choice(self, missing: str | None = None, *, ignore_case: bool = False) -> Choice:
        """Return the similarity as it was typed."""
        patience = Patience(self.retry, self.timeout, self.per_second, self.max_in_flight)
        named = self.similarity, self.asymmetric, self.gamma, self.vectors
        return Choice(*named, missing, ignore_case, patience)


@dataclass(frozen=True)
class Cells:
    """Which columns of a table are compared, and how."""

    column: o.ColumnsOption = None
    id_column: o.IdOption = None
    missing: o.MissingOption = None
    ignore_case: o.IgnoreCaseOption = False

    def columns(self, other: OtherCells | None = None) -> Columns:
        """Return the columns as they were typed, of one table or of two."""
        beside = () if other is None else (other.right_column, other.right_id)
        return Columns.typed(self.column, self.id_column, *beside)


@dataclass(frozen=True)
class OtherCells:
    """How these are called in the other table."""

    right_column: o.RightColumnsOption = None
    right_id: o.RightIdOption = None


@dataclass(frozen=True)
class Files:
    """How tables are written, where their names do not say it."""

    encoding: o.EncodingOption = "utf-8"
    delimiter: o.DelimiterOption = None
    form: o.FormatOption = "csv"

    @property
    def read_as(self) -> Form:
        """The same, for those who read."""
        return Form(self.encoding, self.delimiter, self.form)


@dataclass(frozen=True)
class Matches:
    """Which pairs count as alike."""

    above: o.AboveOption = None
    below: o.BelowOption = None

    @property
    def threshold(self) -> dict[str, float]:
        """The one of both that was given."""
        return one_threshold(
            {"above": self.above, "below": self.below}, "It says which pairs count as alike.", 0.9
        )


@dataclass(frozen=True)
class Spending:
    """What may be spent on an answer."""

    recall: o.RecallOption = 0.95
    budget: o.BudgetOption = None
    all_pairs: o.AllPairsOption = None
    cost: o.CostOption = None
    guide: o.GuideOption = None

    @property
    def limits(self) -> dict[str, Any]:
        """The same, for the functions that answer."""
        return {
            "recall": self.recall,
            "budget": o.read_budget(self.budget),
            "all_pairs": self.all_pairs,
            "cost": o.typed_number(self.cost),
        }


@dataclass(frozen=True)
class Running:
    """How a command runs."""

    journal: o.JournalOption = None
    seed: o.SeedOption = 0
    jobs: o.JobsOption = 1


@dataclass(frozen=True)
class Working(Running):
    """The same, with where it evaluates."""

    scheduler: o.SchedulerOption = None


@dataclass(frozen=True)
class Answering:
    """Where an answer goes, beside its table."""

    report: o.ReportOption = None
    raw: o.RawOption = False
    as_json: o.JsonOption = False
    plan: o.PlanOption = False


def one_threshold(given: dict[str, float | None], why: str, example: float) -> dict[str, float]:
    """Return the one threshold that was given, of two that exclude each other."""
    typed = {name: value for name, value in given.items() if value is not None}
    if len(typed) != 1:
        first, second = (f"--{name}" for name in given)
        raise InputError(
            f"{'both' if typed else 'neither'} of {first} and {second} "
            f"{'were' if typed else 'was'} given.",
            why,
            f"Pass {first} {example:g} for a similarity, or {second} 3 for a distance.",
        )
    return typed


def read_guide(typed: list[str] | None) -> Any:
    """Return a guide as it was typed: auto, none, or files with a row of numbers for each row."""
    if not typed:
        return "auto"
    if typed in (["auto"], ["none"]):
        return None if typed == ["none"] else "auto"
    from fewpairs.items.readers import read_items  # noqa: PLC0415 - --help is instant

    arrays = [read_items(Path(name)) for name in typed]
    return arrays[0] if len(arrays) == 1 else tuple(arrays)
