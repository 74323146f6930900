"""Pages hold what results say, escaped, in one file that loads nothing."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from typing import NamedTuple
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from page_examples import ALIKE, EVIL, NAMES, data_of, found_among_names, matrix_of_names, unpacked

import fewpairs as fp
from fewpairs.errors import InputError, UnwritableError
from fewpairs.report import page as pages
from fewpairs.report import texts
from fewpairs.report.contents import Contents, Links
from fewpairs.tasks.maps.layout import group_map, linked_map, neighbor_map


def written(result, tmp_path, **options) -> str:
    result.report(tmp_path / "page.html", **options)
    return (tmp_path / "page.html").read_text(encoding="utf-8")


def linked(page: str) -> list[tuple[int, int, float, float]]:
    """Links of a page: left, right, approximate, exact."""
    links = data_of(page)["links"]
    left, right = (unpacked(links[side], "<u4").tolist() for side in ("left", "right"))
    nothing = [np.nan] * len(left)
    scores = [
        unpacked(links[kind], "<f4").tolist() if links[kind] else nothing
        for kind in ("approximate", "exact")
    ]
    return list(zip(left, right, *scores, strict=True))


# ------------------------------------------------------------------ one file, safe


def test_a_page_names_its_own_style_and_script_and_allows_nothing_else(tmp_path):
    page = written(matrix_of_names(), tmp_path)
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', page)[1]
    assert policy.startswith("default-src 'none'; ")
    for tag in ("style", "script"):
        (inside,) = re.findall(rf"<{tag}>(.*?)</{tag}>", page, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(inside.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy
    # The only addresses are those that name the language of a picture.
    assert set(re.findall(r"https?://[^\"' ]+", page)) == {"http://www.w3.org/2000/svg"}
    assert not re.search(r"<(link|iframe|img|object|embed)\b", page)


def test_texts_titles_and_names_are_escaped(tmp_path):
    page = written(matrix_of_names(), tmp_path, title=EVIL, ids=[f"{EVIL}{i}" for i in range(64)])
    assert "<img" not in page
    assert page.count("<script>") == 1
    data = data_of(page)
    assert data["texts"] == NAMES
    assert data["names"][3] == f"{EVIL}3"


def test_braces_in_texts_are_no_placeholders(tmp_path):
    page = written(matrix_of_names(), tmp_path, title="{{data}} {{policy}}")
    assert "<h1>{{data}} {{policy}}</h1>" in page


def test_nothing_is_evaluated(tmp_path):
    calls = []

    def alike(a, b):
        calls.append((a, b))
        return 1.0 / (1 + abs(len(a) - len(b)))

    matrix = fp.approximate(
        NAMES,
        fp.similarity(alike, kind="pair", symmetric=True),
        landmarks=8,
        random_state=0,
        progress=False,
    )
    before, spent = len(calls), matrix.evaluations
    matrix.report(tmp_path / "page.html")
    assert (len(calls), matrix.evaluations) == (before, spent)


def test_the_same_result_gives_the_same_page(tmp_path):
    one, other = (data_of(written(matrix_of_names(), tmp_path)) for _ in range(2))
    assert one == other


def test_a_place_that_cannot_be_written_is_refused_before_anything_is_computed(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(pages, "page_of", lambda _: pytest.fail("computed"))
    for result in (matrix_of_names(), found_among_names()):
        with pytest.raises(UnwritableError, match="nowhere"):
            result.report(tmp_path / "nowhere" / "page.html")


def test_a_fault_leaves_the_old_page(tmp_path, monkeypatch):
    path = tmp_path / "page.html"
    path.write_text("old", encoding="utf-8")
    monkeypatch.setattr(pages, "page_of", lambda _: None)  # nothing that can be written
    with pytest.raises(TypeError):
        matrix_of_names().report(path)
    assert path.read_text(encoding="utf-8") == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["page.html"]


def test_five_thousand_items_take_less_than_three_megabytes():
    n, rng = 5000, np.random.default_rng(0)
    words = [f"word{k}" for k in rng.integers(100_000, size=80)]
    contents = Contents(
        title="t",
        lead="",
        facts=[],
        findings=[],
        charts=[],
        provenance=[],
        texts=[" ".join(rng.permutation(words)) for _ in range(n)],
        names=[f"item {k}" for k in range(n)],
        second=n,
        places=rng.normal(size=(n, 2)),
        links=Links(
            np.repeat(np.arange(n), 10),
            rng.integers(n, size=10 * n),
            rng.normal(size=10 * n),
            rng.normal(size=10 * n),
            both=False,
        ),
    )
    assert len(pages.page_of(contents).encode()) < 3_000_000


@settings(deadline=None)
@given(st.lists(st.integers(0, 60), max_size=30))
def test_texts_are_cut_no_more_than_needed(lengths):
    words = ["x" * length for length in lengths]
    with patch.multiple(texts, _ALL=300, _ONE=40):
        cut = texts.shortened(words)
    longest = max(map(len, cut), default=0)
    assert sum(map(len, cut)) <= 300
    assert longest <= 40
    for word, short in zip(words, cut, strict=True):
        assert short == word or (len(short) == longest and short.endswith("…"))
    if sum(lengths) <= 300 and max(lengths, default=0) <= 40:
        assert cut == words


# ------------------------------------------------------------------ a matrix


def test_neighbours_are_those_of_the_matrix_with_exact_values_where_known(tmp_path):
    matrix = matrix_of_names()
    links = linked(written(matrix, tmp_path))
    dense = matrix.to_dense()
    np.fill_diagonal(dense, -np.inf)
    plain = matrix.left @ matrix.core @ matrix.right.T
    known = matrix.known
    assert len(links) == 10 * len(NAMES)
    assert any(np.isnan(exact) for *_, exact in links)
    for i in range(len(NAMES)):
        mine = [link for link in links if link[0] == i]
        scores = [a if np.isnan(e) else e for _, _, a, e in mine]
        assert np.allclose(scores, np.sort(dense[i])[::-1][:10], atol=1e-6)
        for _, j, approximate, exact in mine:
            assert approximate == pytest.approx(plain[i, j], abs=1e-6)
            (value,) = known.find(np.array([i]), np.array([j]))
            assert exact == pytest.approx(value, abs=1e-6, nan_ok=True)


def test_an_asymmetric_matrix_has_its_rows(tmp_path):
    scores = np.random.default_rng(0).random((40, 40))
    matrix = fp.approximate(
        range(40), fp.Precomputed(scores, symmetric=False), landmarks=40, random_state=0
    )
    page = written(matrix, tmp_path)
    hidden = scores - np.diag(np.full(40, np.inf))
    for i, j, _, exact in linked(page)[::10]:
        assert (j, exact) == (hidden[i].argmax(), pytest.approx(hidden[i].max(), abs=1e-6))
    assert "asymmetric" in page
    assert "Every pair was evaluated." in page


def test_two_sets_are_neighbours_of_each_other(tmp_path):
    left, right = NAMES[:20], NAMES[20:]
    matrix = fp.approximate(left, ALIKE, others=right, landmarks=10, random_state=0)
    page = written(matrix, tmp_path)
    data, dense = data_of(page), matrix.to_dense()
    assert data["second"] == 20
    assert data["texts"] == NAMES
    first = {i: j for i, j, *_ in reversed(linked(page))}
    for i in range(20):
        assert first[i] == 20 + dense[i].argmax()
    for j in range(len(right)):
        assert first[20 + j] == dense[:, j].argmax()


def test_what_was_seen_is_told(tmp_path):
    # Two equal items, and eigenvalues 2, 1, 1, -1: a fifth of the mass is negative.
    scores = np.array([[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]], dtype=float)
    matrix = fp.approximate(range(4), fp.Precomputed(scores), landmarks=4, random_state=0)
    page = written(matrix, tmp_path)
    assert "25.0% of the spectrum" in page
    assert "Both orders of a pair are the same" in page
    assert "Evaluated similarities lie between 0 and 1" in page


def test_near_duplicates_are_counted(tmp_path):
    x = np.random.default_rng(0).normal(size=(60, 5))
    x[1], x[3], x[5] = x[0], x[2], x[4]
    matrix = fp.approximate(x, fp.VectorSimilarity("rbf"), landmarks=60, random_state=0)
    assert "3 pairs are near-duplicates" in written(matrix, tmp_path)


def test_the_headline_has_spending_error_time_price_and_origin(tmp_path):
    matrix = matrix_of_names(cost="0.01 USD")
    page = written(matrix, tmp_path)
    assert f'<div class="value">{matrix.evaluations:,}</div>' in page
    assert f"95 % interval {matrix.error.low:.3g} to {matrix.error.high:.3g}" in page
    assert f"{matrix.evaluations / 100:,.2f} USD" in page
    assert "<dt>seed</dt><dd>0</dd>" in page
    assert f"<dd>fewpairs {fp.__version__}</dd>" in page
    assert "jaro_winkler{" in page
    assert '<div class="name">time</div>' in page


def test_a_run_with_a_target_shows_its_curve(tmp_path):
    x = np.random.default_rng(0).normal(size=(300, 6))
    matrix = fp.approximate(x, fp.VectorSimilarity("rbf", gamma=0.1), target_error=0.05)
    assert len(matrix.curve) > 1
    assert "Error while the run went on" in written(matrix, tmp_path)


def test_labels_colour_the_map(tmp_path):
    labels = [name[0] for name in NAMES]
    data = data_of(written(matrix_of_names(), tmp_path, labels=labels))
    names, of = data["labels"]["names"], unpacked(data["labels"]["of"], "<u4")
    assert [names[k] for k in of] == labels


def test_more_items_than_a_page_holds_are_drawn_and_said_so(tmp_path):
    page = written(matrix_of_names(), tmp_path, most=20)
    data = data_of(page)
    assert len(data["texts"]) == 20
    assert "20 of 64 items are on this page" in page
    assert {NAMES[int(name)] for name in data["names"]} == set(data["texts"])


@pytest.mark.parametrize("what", ["texts", "ids", "labels"])
def test_as_many_as_there_are_items(tmp_path, what):
    with pytest.raises(InputError, match=f"{what} has 2 entries for 64 items"):
        matrix_of_names().report(tmp_path / "page.html", **{what: ["a", "b"]})


@pytest.mark.parametrize("most", [0, 2.5, "all"])
def test_a_page_holds_a_number_of_items(tmp_path, most):
    for result in (matrix_of_names(), found_among_names()):
        with pytest.raises(InputError, match="most is"):
            result.report(tmp_path / "page.html", most=most)


def test_origin_is_kept_in_files_and_the_same_call_writes_the_same_file(tmp_path):
    for name in ("one", "two"):
        matrix_of_names(random_state=7).save(tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    read = fp.load(tmp_path / "one")
    assert (read.provenance.seed, read.provenance.version) == (7, fp.__version__)
    assert "<dt>seed</dt><dd>7</dd>" in written(read, tmp_path)


# ------------------------------------------------------------------ found pairs


def test_pairs_on_the_page_are_those_that_were_found(tmp_path):
    found = found_among_names()
    page = written(found, tmp_path)
    there = {(i, j): exact for i, j, _, exact in linked(page)}
    assert there == {
        (i, j): pytest.approx(s, abs=1e-6)
        for i, j, s in zip(found.left, found.right, found.similarities, strict=True)
    }
    assert str(found.recall)[1:] in page
    assert "Pairs by similarity" in page


def test_colours_are_groups(tmp_path):
    found = found_among_names()
    data = data_of(written(found, tmp_path))
    of, groups = unpacked(data["labels"]["of"], "<u4"), found.groups()
    sizes = np.bincount(groups)
    assert ((of == 0) == (sizes[groups] == 1)).all()
    coloured = of > 0
    assert len(set(zip(of[coloured], groups[coloured], strict=True))) == len(set(of[coloured]))


@pytest.mark.parametrize("others", [None, NAMES[30:]])
def test_neighbours_and_distances(tmp_path, others):
    def gap(a, b):
        return abs(len(a) - len(b))

    distance = fp.similarity(gap, kind="pair", symmetric=True, name="gap")
    found = fp.find_nearest(NAMES[:30], distance, k=3, others=others, distance=True)
    page = written(found, tmp_path)
    assert data_of(page)["smallIsNear"]
    assert len(linked(page)) == len(found)


def test_two_sets_show_your_texts_and_ids(tmp_path):
    found = fp.find_pairs(
        NAMES[:30],
        ALIKE,
        others=NAMES[30:],
        above=0.8,
        ids=([f"l{i}" for i in range(30)], [f"r{i}" for i in range(34)]),
    )
    shown = ([f"left {i}" for i in range(30)], [f"right {i}" for i in range(34)])
    data = data_of(written(found, tmp_path, texts=shown))
    assert data["texts"] == shown[0] + shown[1]
    assert data["names"][0] == "l0"
    assert data["names"][30] == "r0"
    with pytest.raises(InputError, match="between two sets"):
        found.report(tmp_path / "page.html", labels=range(30))
    with pytest.raises(InputError, match="texts has 30 entries for 34"):
        found.report(tmp_path / "page.html", texts=(shown[0], shown[0]))


def test_items_of_the_best_pairs_come_first_where_not_all_fit(tmp_path):
    found = found_among_names()
    page = written(found, tmp_path, most=2)
    best = {str(found.left[0]), str(found.right[0])}
    assert set(data_of(page)["names"]) == best
    assert "2 of 64 items are on this page" in page
    assert f"1 of {len(found)} pairs are" in page


class Point(NamedTuple):
    name: str
    place: int


@pytest.mark.parametrize(
    ("items", "shown"),
    [
        ([Point("a", 1), Point("b", 2), Point("c", 3)], "name: a\nplace: 1"),
        ([{"x": 1, "y": None}, {"x": 2}, {"x": 3}], "x: 1"),
        ([["ape", "bee"], ["cat"], ["dog"]], "ape bee"),
        (np.arange(15.0).reshape(3, 5), "(0, 1, 2, 3, …), 5 numbers"),
        (range(3), "0"),
    ],
)
def test_whatever_the_items_are_they_are_shown(tmp_path, items, shown):
    same = fp.similarity(
        lambda a, b: float(np.all(a == b)), kind="pair", symmetric=True, name="same"
    )
    matrix = fp.approximate(items, same, landmarks=2, random_state=0)
    assert data_of(written(matrix, tmp_path))["texts"][0] == shown
    found = fp.find_pairs(items, same, above=0.5, guide=None)
    assert data_of(written(found, tmp_path))["texts"][0] == shown


def test_nothing_found_and_one_item_alone_have_pages(tmp_path):
    nothing = fp.find_pairs(["ape", "zebu"], ALIKE, above=0.99)
    assert linked(written(nothing, tmp_path)) == []
    alone = fp.approximate(["ape"], ALIKE, landmarks=1)
    assert linked(written(alone, tmp_path)) == []


# ------------------------------------------------------------------ maps


def test_neighbours_lie_near_each_other():
    # A ring of 300 items, each linked to the two beside it, begun at random.
    n = 300
    around = np.stack([(np.arange(n) + 1) % n, (np.arange(n) - 1) % n], axis=1)
    start = np.random.default_rng(0).normal(size=(n, 2))
    for at in (
        neighbor_map(around, start),
        linked_map(np.arange(n), around[:, 0], n),
    ):
        beside = np.linalg.norm(at - at[around[:, 0]], axis=1)
        anyone = np.linalg.norm(at - at[np.random.default_rng(1).permutation(n)], axis=1)
        assert np.median(beside) < 0.2 * np.median(anyone)


def test_the_map_of_groups_keeps_each_together():
    groups = np.array([0, 1, 0, 2, 2, 2, 3, 0])
    at = group_map(groups)
    gaps = np.linalg.norm(at[:, None] - at[None], axis=2)
    same = groups[:, None] == groups[None]
    np.fill_diagonal(gaps, np.inf)
    for i in range(len(groups)):
        if same[i].sum() > 1:
            assert same[i, gaps[i].argmin()]
    assert len(np.unique(at.round(6), axis=0)) == len(groups)


def test_places_keep_their_proportions():
    at = pages._on_map(np.array([[0.0, 0.0], [4.0, 1.0]]))
    assert at.tolist() == [[0, 24576], [65535, 40959]]


def test_payload_is_json_whatever_the_texts(tmp_path):
    nasty = [*NAMES[:-2], "\u2028 line \\ \" ' & <!-- ]]>", "\x00 zero"]
    matrix = fp.approximate(nasty, ALIKE, landmarks=5, random_state=0)
    page = written(matrix, tmp_path)
    assert data_of(page)["texts"] == nasty
    assert json.loads(json.dumps(data_of(page)))


# ------------------------------------------------------------------ clusters


def test_a_page_of_clusters_states_them_and_colours_their_items(tmp_path):
    clusters = fp.cluster(NAMES, ALIKE, threshold=0.9, budget=900, random_state=0)
    before = clusters.oracle.evaluations
    page = written(clusters, tmp_path)
    assert clusters.oracle.evaluations == before
    assert f"{clusters.n_clusters} clusters of 64 items" in page
    for share in (clusters.precision, clusters.recall):
        assert f"{share.value:.3f}" in page
    assert f"{clusters.evaluations:,}" in page
    colours = unpacked(data_of(page)["labels"]["of"], "<u4")
    for label in range(clusters.n_clusters):
        (colour,) = set(colours[clusters.labels == label].tolist())
        assert (colour == 0) == (clusters.sizes[label] == 1)
    assert len(set(colours.tolist()) - {0}) == (clusters.sizes > 1).sum()


def test_a_page_of_exact_clusters_has_no_intervals(tmp_path):
    page = written(fp.cluster(NAMES, ALIKE, threshold=0.9), tmp_path)
    assert "95 % interval" not in page
    assert "exact" in page


def test_clusters_of_a_matrix_have_a_page_with_its_ids(tmp_path):
    ids = [f"id-{k}" for k in range(64)]
    clusters = fp.cluster(matrix_of_names(ids=ids), threshold=0.9)
    assert data_of(written(clusters, tmp_path))["names"] == ids
    given = written(clusters, tmp_path, ids=NAMES, labels=["a"] * 64, title="Groups")
    assert data_of(given)["names"] == NAMES
    assert "<h1>Groups</h1>" in given
    with pytest.raises(InputError, match="single item"):
        fp.cluster(["a"], ALIKE, threshold=0.9).report(tmp_path / "one.html")


def test_a_page_of_clusters_by_distance_shows_the_smallest_as_nearest(tmp_path):
    x = np.array([[0.0], [0.1], [5.0], [5.2], [9.0]])
    distance = fp.similarity(
        lambda a, b: float(abs(a - b)[0]), kind="pair", symmetric=True, diagonal=0.0
    )
    K = fp.approximate(x, distance, landmarks=5)
    page = written(fp.cluster(K, below=1.0), tmp_path)
    data = data_of(page)
    assert data["smallIsNear"]
    first = {}
    for left, right, _, exact in linked(page):
        first.setdefault(left, (right, exact))
    assert first[0] == (1, pytest.approx(0.1, rel=1e-6))
    assert first[3] == (2, pytest.approx(0.2, rel=1e-6))
