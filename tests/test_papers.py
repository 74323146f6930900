"""The pages of the four papers: no table and no figure is missing, and each has its verdict."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAPERS = Path(__file__).resolve().parent.parent / "docs" / "papers"
#: How many tables and figures each paper has.
CONTENTS = {
    "sms-nystrom": (7, 9),
    "word-movers-embedding": (8, 5),
    "poly-tensorsketch": (2, 2),
    "distance-geometry": (7, 1),
}
VERDICTS = ("Confirmed", "Contradicted", "Not comparable", "Description")
VERDICT = re.compile(r"^\*\*([A-Z][a-z ]+)\.\*\*", re.MULTILINE)


def sections(name: str) -> dict[str, str]:
    """Text under each heading."""
    text = (PAPERS / f"{name}.md").read_text(encoding="utf-8")
    parts = re.split(r"^## (.+)$", text, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def named(headings: list[str], kind: str) -> set[int]:
    """Numbers of all tables, or of all figures, that headings name."""
    found: set[int] = set()
    for heading in headings:
        for numbers in re.findall(rf"{kind}s? (\d+(?:(?:,| and) \d+)*)", heading):
            found |= {int(number) for number in re.findall(r"\d+", numbers)}
    return found


@pytest.mark.parametrize("name", CONTENTS)
def test_no_table_and_no_figure_is_missing(name):
    headings = list(sections(name))
    tables, figures = CONTENTS[name]
    assert named(headings, "Table") == set(range(1, tables + 1))
    assert named(headings, "Figure") == set(range(1, figures + 1))


@pytest.mark.parametrize("name", CONTENTS)
def test_each_has_a_verdict_and_says_where_it_comes_from(name):
    for heading, text in sections(name).items():
        verdicts = VERDICT.findall(text)
        assert verdicts, heading
        assert set(verdicts) <= set(VERDICTS), heading
        measured = {"Confirmed", "Contradicted"} & set(verdicts)
        assert not measured or "Ours:" in text, heading


def test_the_summary_counts_what_the_pages_say():
    index = (PAPERS / "index.md").read_text(encoding="utf-8")
    total = dict.fromkeys(VERDICTS, 0)
    for name in CONTENTS:
        found = [v for text in sections(name).values() for v in VERDICT.findall(text)]
        counts = [found.count(verdict) for verdict in VERDICTS]
        assert f"]({name}.md) | {' | '.join(map(str, counts))} |" in index, (name, counts)
        total = {v: total[v] + n for v, n in zip(VERDICTS, counts, strict=True)}
    assert f"| all | {' | '.join(map(str, total.values()))} |" in index, total
    claims = sum(total.values()) - total["Description"]
    readme = (PAPERS.parents[1] / "README.md").read_text(encoding="utf-8")
    told = (
        f"whose {claims} claims we confirm {total['Confirmed']} and contradict "
        f"{total['Contradicted']}"
    )
    assert told in " ".join(readme.split()), total
