"""Notebooks: a table and a picture, escaped, with the numbers that are stated."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from xml.etree import ElementTree as ET

import numpy as np
import pytest

import fewpairs as fp
from fewpairs.notebook import bar, svg
from fewpairs.notebook.card import card, card_of

EVIL = "<script>alert(1)</script>"
NAMES = [f"{EVIL} {i * i}" for i in range(40)]
ALIKE = fp.StringSimilarity("jaro_winkler")
BLUE, ORANGE = svg.BLUE, svg.ORANGE


class Words(HTMLParser):
    """Collects texts, and checks that every tag is closed."""

    def __init__(self):
        super().__init__()
        self.open, self.tags, self.texts = [], set(), []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        if tag != "br":
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.add(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


def read(html: str) -> Words:
    words = Words()
    words.feed(html)
    assert not words.open
    return words


def rectangles(picture: str, colour: str) -> list[dict[str, float]]:
    found = ET.fromstring(picture).iter("{http://www.w3.org/2000/svg}rect")  # noqa: S314 - ours
    names = ("x", "y", "width", "height")
    return [{k: float(r.get(k)) for k in names} for r in found if r.get("fill") == colour]


@pytest.fixture(scope="module")
def results():
    matrix = fp.approximate(NAMES, ALIKE, landmarks=8, random_state=0, cost="1 EUR")
    found = fp.find_pairs(NAMES, ALIKE, above=0.9, random_state=0)
    return {
        "matrix": matrix,
        "found": found,
        "plan": fp.plan(NAMES, ALIKE, landmarks=8, timed=True),
        "inspection": fp.inspect(NAMES, ALIKE),
        "clusters": fp.cluster(NAMES, ALIKE, threshold=0.9, budget=500, random_state=0),
        "error": matrix.error,
        "recall": found.recall,
        "check": matrix.check(k=3, random_state=0),
        "check above": matrix.check(above=0.9, random_state=0),
        "plan of pairs": fp.plan_pairs(5000, matches=2000),
        "plan of nearest": fp.plan_nearest(5000, k=5),
    }


#: Small tables without a picture.
TABLES = {
    "neighbours": lambda results: results["matrix"].nearest(0, k=3),
    "pair scores": lambda _: fp.pair_scores([0, 1, 1], [0.1, 0.9, 0.8], threshold=0.5),
    "coreference": lambda _: fp.coreference_scores([0, 0, 1], [0, 1, 1]),
}


@pytest.mark.parametrize("name", TABLES)
def test_small_results_are_tables(results, name):
    result = TABLES[name](results)
    words = read(result._repr_html_())
    assert "table" in words.tags
    assert "script" not in words.tags
    numbers = set(re.findall(r"0\.\d{3}", str(result)))
    if name != "neighbours":
        assert numbers & set(re.findall(r"0\.\d{3}", " ".join(words.texts)))
    else:
        assert f"{result.similarities[0]:.3f}" in words.texts


@pytest.mark.parametrize(
    "name",
    [
        "matrix",
        "found",
        "plan",
        "inspection",
        "clusters",
        "error",
        "recall",
        "check",
        "check above",
        "plan of pairs",
        "plan of nearest",
    ],
)
def test_every_result_has_a_table_and_a_picture_that_run_nothing(results, name):
    html = results[name]._repr_html_()
    words = read(html)
    assert "svg" in words.tags
    assert not {"script", "img", "link"} & words.tags
    assert len(html) < 20_000


def test_a_matrix_tells_what_it_prints(results):
    told = " ".join(read(results["matrix"]._repr_html_()).texts)
    matrix = results["matrix"]
    assert f"{matrix.evaluations:,} for {matrix.price:,.2f} EUR" in told
    assert str(matrix.error) in told
    assert "40 × 40 factored matrix" in told


def test_found_pairs_are_shown_best_first(results):
    found = results["found"]
    told = " ".join(read(found._repr_html_()).texts)
    i, j = int(found.left[0]), int(found.right[0])
    assert f"{found.similarities[0]:.3f} {i} {NAMES[i]}  ~  {j} {NAMES[j]}" in told
    assert f"and {len(found) - 5:,} more pairs" in told
    assert str(found.recall) in told


def test_a_plan_and_an_inspection_show_every_line(results):
    for name in ("plan", "inspection"):
        told = read(results[name]._repr_html_()).texts
        for line in str(results[name]).splitlines():
            assert set(re.split(r"  +", line.strip())) <= set(told)


def test_a_spectrum_is_not_computed_where_it_would_take_time(monkeypatch, results):
    from fewpairs.factored import spectrum

    monkeypatch.setattr(spectrum, "_AT_ONCE", 1)
    monkeypatch.setattr(spectrum, "spectrum_of", lambda _: pytest.fail("computed"))
    assert "svg" in results["matrix"]._repr_html_()


def test_the_spectrum_of_factors_is_that_of_their_product():
    from fewpairs.factored.spectrum import spectrum_of

    rng = np.random.default_rng(0)
    left, core = rng.normal(size=(50, 4)), np.diag([3.0, -2.0, 1.0, -0.5])
    signed = spectrum_of(fp.FactoredMatrix(left, core))
    exact = np.linalg.eigvalsh(left @ core @ left.T)
    exact = exact[np.argsort(-np.abs(exact))][:4]
    assert np.allclose(signed.values, exact)
    assert signed.negative_share == pytest.approx(-exact[exact < 0].sum() / np.abs(exact).sum())
    right = rng.normal(size=(30, 3))
    plain = spectrum_of(fp.FactoredMatrix(left, core[:, :3], right))
    sizes = np.linalg.svd(left @ core[:, :3] @ right.T, compute_uv=False)
    assert np.allclose(plain.values, sizes[: len(plain.values)])


def test_an_interval_is_drawn_to_scale():
    picture = svg.interval(0.5, 0.25, 1.0, width=200)
    band, value = rectangles(picture, BLUE)
    assert (band["x"], band["width"]) == (50, 150)
    assert value["x"] + value["width"] / 2 == 100
    assert "0.5, interval 0.25 to 1" in picture


def test_a_scale_that_follows_the_interval_holds_it():
    for high in (1e-9, 0.003, 0.2, 7.0, 1e6):
        picture = svg.interval(high / 2, 0.0, high, most=None, width=100)
        band, _ = rectangles(picture, BLUE)
        assert 40 < band["width"] <= 100


def test_negative_eigenvalues_are_marked_and_hang_down():
    picture = svg.spectrum([9.0, 4.0, -2.0, 1.0, 1e-17, -1e-17])
    up, down = rectangles(picture, BLUE), rectangles(picture, ORANGE)
    assert (len(up), len(down)) == (4, 1)  # what is rounding has no sign
    assert down[0]["height"] == pytest.approx(up[0]["height"] / 2, abs=0.1)
    assert down[0]["y"] == pytest.approx(up[0]["y"] + up[0]["height"], abs=0.11)
    assert svg.spectrum([1.0]) == ""


def test_a_histogram_has_a_bar_for_each_bin_that_holds_something():
    edges, found = np.linspace(0, 1, 5), np.array([0.0, 0, 1, 16])
    picture = svg.histogram(edges, found, np.array([81.0, 0, 0, 16]), threshold=0.5)
    bars = rectangles(picture, BLUE)
    assert len(bars) == 2
    assert bars[1]["height"] == pytest.approx(2 * bars[0]["height"], abs=0.2)
    assert len(rectangles(picture, svg.GREY)) == 2


def test_a_curve_has_a_point_for_each_step():
    points = [svg.Point(100 * k, 1 / k, 0.9 / k, 1.1 / k) for k in (1, 2, 3)]
    assert svg.curve(points, target=0.2).count("<circle") == 3
    assert svg.curve([]) == ""


def test_cards_escape_and_leave_out_what_is_empty():
    html = card(EVIL, [(EVIL, EVIL), ("gone", "")], note=EVIL)
    assert EVIL not in html
    assert read(html).texts.count(EVIL) == 4
    assert "gone" not in html
    assert read(card_of("title\n  name   a value  with spaces")).texts[1:] == [
        "name",
        "a value  with spaces",
    ]


def test_a_target_is_a_line_on_the_scale_of_its_interval():
    picture = svg.interval(0.5, 0.25, 0.75, target=0.9, width=200)
    assert re.findall(r'<line x1="([\d.]+)"', picture) == ["180.0"]
    assert "asked for 0.9" in picture


def test_a_scale_grows_with_an_interval_that_is_longer():
    band, _ = rectangles(svg.interval(1.0, 0.5, 1.6, width=200), BLUE)
    assert band["x"] + band["width"] == pytest.approx(200 * 1.6 / 2)


def test_a_share_is_drawn_to_scale():
    for value, width in ((0.25, 50), (0.0, 1.5), (3.0, 200)):
        (bar,) = rectangles(svg.share(value, width=200), BLUE)
        assert bar["width"] == width


def test_the_bar_says_what_is_left_at_the_present_rate(monkeypatch):
    now, shown = [100.0], []
    monkeypatch.setattr(bar.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(bar, "_display", lambda data, **_: shown.append(data["text/plain"]))
    watching = bar.NotebookBar("pairs", patience=5)
    watching.show(10, 100, "")
    assert shown == []  # a short run shows nothing
    now[0] += 10
    watching.show(20, 100, "1 USD")
    assert shown == ["pairs 20 of 100 · 1 USD · 2/s · left 0:00:40"]
    watching.show(21, 100, "")
    assert len(shown) == 1  # too soon for another picture
    watching.stop()
    assert shown[1].startswith("pairs 21 of 100")
