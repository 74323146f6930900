"""The page of found pairs: their recall, the pairs side by side, and the groups they form."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from fewpairs.arrays import FloatArray, IntArray
from fewpairs.candidates.nearest import most_similar
from fewpairs.errors import InputError
from fewpairs.files.writing import refuse_unwritable
from fewpairs.guides.guides import AUTO, as_guides
from fewpairs.items.ids import shown_ids
from fewpairs.notebook.svg import histogram, interval
from fewpairs.report.contents import Chart, Contents, Fact, Labels, Links
from fewpairs.report.origin import origin_of, time_fact
from fewpairs.report.page import write_page
from fewpairs.report.texts import both_sides, check_given, check_most, texts_of
from fewpairs.tasks.maps.layout import group_map, linked_map, neighbor_map
from fewpairs.tasks.matching.found import Found

#: Pairs on a page, the best ones; each takes some twenty bytes.
_MOST_PAIRS = 100_000
#: Neighbours by a guide that lie near each other on the map.
_GUIDED = 10


def report_found(
    found: Found,
    path: str | Path,
    *,
    texts: Any = None,
    ids: Any = None,
    labels: Any = None,
    title: str = "",
    most: int = 10_000,
) -> None:
    """Write the page; `Found.report` documents the parameters."""
    refuse_unwritable(Path(path))
    check_most(most)
    both = both_sides(texts, found.shape, "texts", square=_one_set(found))
    if ids is not None:
        found = replace(found, ids=shown_ids(ids, found.shape, square=_one_set(found)))
    if labels is not None and not _one_set(found):
        raise InputError(
            "labels were given for pairs between two sets of items.",
            "Colours tell the two sets apart there.",
            "Leave labels out.",
        )
    check_given(labels, found.shape[0], "labels")
    write_page(_contents(found, both, labels, title, most), path)


def _one_set(found: Found) -> bool:
    return found.oracle is None or found.oracle.square


def _contents(found: Found, texts: tuple[Any, Any], labels: Any, title: str, most: int) -> Contents:
    one_set, neighbours = _one_set(found), found.recall.of == "neighbours"
    chosen = slice(0, _MOST_PAIRS)
    left, right = found.left[chosen], found.right[chosen]
    rows, columns = _shown(found, left, right, most)
    kept = np.isin(left, rows) & np.isin(right, columns)
    left, right, values = left[kept], right[kept], found.similarities[chosen][kept]
    second = len(rows)
    links = Links(
        left=np.searchsorted(rows, left),
        right=np.searchsorted(columns, right) + (0 if one_set else second),
        approximate=None,
        exact=values,
        both=not neighbours,
    )
    count = second if one_set else second + len(columns)
    items, others = _items(found)
    names = [str(name) for name in found.ids.name(rows)]
    shown = texts_of(items, rows, texts[0])
    if not one_set:
        names += [str(name) for name in found.ids.name(columns, right=True)]
        shown += texts_of(others, columns, texts[1])
    groups = _groups(links, count)
    guided = None if neighbours else _guided(found, rows, columns)
    return Contents(
        title=title or _title(found),
        lead=_lead(found),
        facts=_facts(found),
        findings=_findings(found, groups, count),
        charts=_charts(found),
        provenance=origin_of(
            found.provenance,
            [
                ("looked for", _question(found)),
                ("similarity", "" if found.oracle is None else found.oracle.similarity.fingerprint),
            ],
        ),
        texts=shown,
        names=names,
        second=second,
        places=linked_map(links.left, links.right, count)
        if neighbours
        else _places(links, groups, guided),
        links=links,
        labels=_labels(found, labels, rows, groups, one_set=one_set),
        small_is_near=found.small_is_near
        or (found.threshold is not None and not found.threshold.above),
        pairs_title="Neighbours" if neighbours else "Pairs that were found",
        neighbors_title="Nearest" if neighbours else "Matches",
        map_note=_note(found, rows, columns, len(values), guided is not None),
    )


def _shown(found: Found, left: IntArray, right: IntArray, most: int) -> tuple[IntArray, IntArray]:
    """Return which items are on the page: those of the best pairs first, then some of the rest."""
    sides = []
    for count, paired in zip(found.shape, (left, right), strict=True):
        if _one_set(found):
            paired = np.stack([left, right], axis=1).ravel()  # noqa: PLW2901 - of both sides
        # In the order of the pairs; an item that comes again is dropped.
        _, first = np.unique(paired, return_index=True)
        ordered = paired[np.sort(first)]
        rest = np.setdiff1d(
            np.random.default_rng(0).permutation(count), ordered, assume_unique=True
        )
        sides.append(np.sort(np.concatenate([ordered, rest])[:most]))
    return sides[0], sides[1]


def _items(found: Found) -> tuple[Any, Any]:
    return (None, None) if found.oracle is None else (found.oracle.items, found.oracle.others)


def _title(found: Found) -> str:
    n, m = found.shape
    among = f"{n:,} items" if _one_set(found) else f"{n:,} items and {m:,} others"
    what = "The nearest of" if found.recall.of == "neighbours" else "Matches among"
    return f"{what} {among}"


def _lead(found: Found) -> str:
    text = str(found.recall)
    return text[0].upper() + text[1:] + ("" if text.endswith(".") else ".")


def _question(found: Found) -> str:
    if found.threshold is None:
        return "the nearest of each item"
    least = "at least" if found.threshold.above else "at most"
    return f"pairs with {least} {found.threshold.at:g}"


def _facts(found: Found) -> list[Fact]:
    recall = found.recall
    each = 1 if found.oracle is None else found.oracle.planner.per_entry
    share = found.evaluations / max(1, recall.pairs * each)
    name = "neighbours found" if recall.of == "neighbours" else "pairs found"
    stated = (
        "exact: every pair was evaluated"
        if recall.complete
        else f"95 % interval {recall.low:.3f} to {recall.high:.3f}"
    )
    facts = [
        Fact(name, f"{len(found):,}", _question(found)),
        Fact(
            "recall",
            f"{recall.value:.3g}" if recall.value in (0, 1) else f"{recall.value:.3f}",
            stated,
            interval(recall.value, recall.low, recall.high, target=recall.target),
        ),
        Fact("pairs evaluated", f"{found.evaluations:,}", f"{share:.2%} of all {recall.pairs:,}"),
        *time_fact(found.provenance),
    ]
    cost = None if found.oracle is None else found.oracle.planner.cost
    if cost is not None:
        facts.append(Fact("price", cost.written(found.evaluations - found.looked_up)))
    return facts


def _findings(found: Found, groups: IntArray, count: int) -> list[str]:
    sizes = np.bincount(groups)
    several = sizes[sizes > 1]
    told = []
    if found.recall.of == "matches" and len(several):
        alone = int((sizes == 1).sum())
        noun = "group" if len(several) == 1 else "groups"
        told.append(
            f"The pairs link {count - alone:,} items to {len(several):,} {noun}; the largest has "
            f"{int(several.max()):,} items. {alone:,} of the items here match none."
        )
    spent = ", ".join(f"{n:,} {_PURPOSES.get(what, what)}" for what, n in found.spent.items() if n)
    told.append(f"Evaluations by purpose: {spent}." if spent else "")
    if found.looked_up:
        told.append(f"{found.looked_up:,} of them were looked up, and cost nothing.")
    if found.recall.missing:
        told.append(f"At most {found.recall.missing:,} matches are missing, with 95 % confidence.")
    if found.recall.skipped:
        told.append(f"{found.recall.skipped:,} pairs have no value, and count as no matches.")
    return [sentence for sentence in told if sentence]


#: What the purposes of `Found.spent` are called here.
_PURPOSES = {
    "ranked": "reached by the search",
    "landmarks": "for landmarks",
    "blind": "drawn blindly for the recall",
    "symmetry": "to check both orders",
    "all_pairs": "because all pairs were evaluated",
}


def _charts(found: Found) -> list[Chart]:
    if not len(found) and not len(found.blind):
        return []
    counts = found.histogram(40)
    at = None if found.threshold is None else found.threshold.at
    picture = histogram(counts.edges, counts.found, counts.expected, threshold=at)
    note = "Blue: found, exactly counted."
    if len(found.blind):
        note += " Grey: all pairs, as those drawn blindly show them."
    if at is not None:
        note += " Orange: the threshold."
    return [Chart("Pairs by similarity (heights are fourth roots)", picture, note)]


def _groups(links: Links, count: int) -> IntArray:
    """Return a number for each item on the page, the same for all that are linked."""
    graph = sp.coo_array((np.ones(len(links.left)), (links.left, links.right)), (count, count))
    return np.asarray(connected_components(graph, directed=False)[1], dtype=np.int64)


def _guided(found: Found, rows: IntArray, columns: IntArray) -> tuple[IntArray, FloatArray] | None:
    """Return each item's nearest by what the items themselves offer, and two directions."""
    if found.oracle is None or found.guide is None:
        return None
    oracle, one_set = found.oracle, _one_set(found)
    items = oracle.items.subset(rows)
    others = None if one_set else oracle.others.subset(columns)
    guides = [g for g in as_guides(AUTO, items, others, oracle.similarity) if not g.distances]
    if not guides:
        return None
    guide = guides[0]
    vectors = guide.left if one_set else np.vstack([guide.left, guide.right])
    near = most_similar(vectors, vectors, _GUIDED, np.random.default_rng(0), square=True)
    spread = vectors - vectors.mean(axis=0)
    directions = np.linalg.eigh(spread.T @ spread)[1][:, :-3:-1]
    return near.columns, np.asarray(spread @ directions, dtype=np.float64)


def _places(
    links: Links, groups: IntArray, guided: tuple[IntArray, FloatArray] | None
) -> FloatArray:
    if guided is None:
        return group_map(groups)
    places, start = guided
    return neighbor_map(places, start, links=(links.left, links.right))


def _note(found: Found, rows: IntArray, columns: IntArray, pairs: int, guided: bool) -> str:
    how = (
        "Items lie beside their nearest; distances say no more than that."
        if found.recall.of == "neighbours"
        else "Items that look alike, by their words or numbers, and those of a pair lie together."
        if guided
        else "Items of a group lie side by side; the places of groups mean nothing."
    )
    told = [how]
    shown, everyone = len(rows), found.shape[0]
    if not _one_set(found):
        shown, everyone = shown + len(columns), sum(found.shape)
    if shown < everyone:
        told.append(f"{shown:,} of {everyone:,} items are on this page.")
    if pairs < len(found):
        told.append(f"{pairs:,} of {len(found):,} pairs are, the best ones.")
    return " ".join(told)


def _labels(found: Found, given: Any, rows: IntArray, groups: IntArray, *, one_set: bool) -> Labels:
    """Return colours: what the user gives, or groups of more than one item; 0 is alone."""
    if given is not None:
        return Labels.given(given, rows)
    if found.recall.of == "neighbours":
        count = len(groups)
        side = np.ones(count, dtype=np.int64)
        side[len(rows) :] = 2
        return Labels(side, ["", "items", "others"] if not one_set else ["", "items"])
    return Labels.largest_first(groups, "no match", "group")
