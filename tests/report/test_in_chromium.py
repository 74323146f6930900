"""Pages in a real browser: they load, search, answer clicks and keys, and ask nobody."""

from __future__ import annotations

import json

import pytest
from page_examples import EVIL, NAMES, data_of, found_among_names, matrix_of_names, unpacked

from benchmarks.shared.browser import browser, missing, open_page

if missing():
    pytest.skip(missing(), allow_module_level=True)

from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.wait import WebDriverWait


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    matrix_of_names().report(folder / "matrix.html")
    found_among_names().report(folder / "found.html")
    return folder


@pytest.fixture(scope="module")
def window():
    with browser() as opened:
        yield opened


@pytest.fixture(params=["matrix", "found"])
def page(window, pages, request):
    open_page(window, pages / f"{request.param}.html")
    wait(window, lambda: find(window, ".pair"))
    return window


@pytest.fixture
def matrix(window, pages):
    open_page(window, pages / "matrix.html")
    wait(window, lambda: find(window, ".pair"))
    return window


def wait(window, condition):
    return WebDriverWait(window, 20).until(lambda _: condition())


def find(window, selector):
    return window.find_elements(By.CSS_SELECTOR, selector)


def the(window, selector):
    (only,) = find(window, selector)
    return only


def search(window, query):
    before = the(window, "#count").text
    the(window, "#search").send_keys(query)
    wait(window, lambda: the(window, "#count").text != before)
    return [row.text for row in find(window, "#list .text")]


def test_a_page_loads_without_errors_and_asks_nobody(page):
    search(page, "Berg")
    find(page, "#list button")[0].click()
    assert page.get_log("browser") == []
    sent = [json.loads(line["message"])["message"] for line in page.get_log("performance")]
    asked = [
        message["params"]["request"]["url"]
        for message in sent
        if message["method"] == "Network.requestWillBeSent"
    ]
    assert asked == [page.current_url]


def test_a_request_would_be_refused(matrix):
    script = "fetch('https://example.org').then(() => 'sent', () => 'refused').then(arguments[0])"
    assert matrix.execute_async_script(script) == "refused"
    assert "Content Security Policy" in " ".join(x["message"] for x in matrix.get_log("browser"))


def test_items_are_listed_and_searched(matrix):
    assert the(matrix, "#count").text == "64 items"
    assert search(matrix, "bob st") == ["Bob Stone", "Bob Ston"]
    assert the(matrix, "#count").text == "2 found"


def test_an_item_shows_its_nearest_with_what_is_known(matrix):
    search(matrix, "Gustav Lind")
    find(matrix, "#list button")[0].click()
    assert the(matrix, "#item .own").text == "Gustav Lind"
    K, own = matrix_of_names(), NAMES.index("Gustav Lind")
    places, scores = K.nearest(own, k=10, rerank=0)
    assert [x.text for x in find(matrix, "#item .list .text")] == [NAMES[j] for j in places]
    assert [x.text for x in find(matrix, "#item .list b")] == [f"{s:.3f}" for s in scores]
    known = K.known_in_row(own, places)
    kinds = [x.text for x in find(matrix, "#item .list .kind")]
    assert kinds == ["exact" if x == x else "approximate" for x in known]  # noqa: PLR0124 - NaN
    assert {"exact", "approximate"} == set(kinds)
    find(matrix, "#item .list button")[0].click()
    assert the(matrix, "#item .own").text == NAMES[places[0]]


def test_differences_are_marked(window, pages):
    open_page(window, pages / "found.html")
    wait(window, lambda: find(window, ".pair"))
    marks = {}
    for row in find(window, ".pair"):
        left, right = row.find_elements(By.CSS_SELECTOR, ".text")
        sides = [[m.text for m in x.find_elements(By.TAG_NAME, "mark")] for x in (left, right)]
        marks[left.text.split("\n")[1], right.text.split("\n")[1]] = sides
    assert marks["Anna Berg", "Ana Berg"] == [["n"], [""]]  # something is missing there
    assert marks["Bob Stone", "Bob Ston"] == [["e"], [""]]
    assert marks[EVIL, f"{EVIL}!"] == [[""], ["!"]]


def test_html_in_texts_stays_text(page):
    title = page.title
    assert search(page, "<script>") == [EVIL, f"{EVIL}!"]
    find(page, "#list button")[0].click()
    assert the(page, "#item .own").text == EVIL
    assert page.title == title
    assert not find(page, "img")
    assert page.get_log("browser") == []


def test_a_click_on_the_map_chooses_the_item_there(matrix, pages):
    data = data_of((pages / "matrix.html").read_text(encoding="utf-8"))
    at = unpacked(data["map"], "<u2").reshape(-1, 2) / 65535
    canvas = the(matrix, "#map")
    size = canvas.size
    fit = 0.92 * min(size["width"], size["height"])
    for item in (0, 17):
        x, y = ((at[item] - 0.5) * fit).tolist()
        matrix.execute_script("arguments[0].scrollIntoView({block: 'center'})", canvas)
        ActionChains(matrix).move_to_element_with_offset(
            canvas, round(x), round(y)
        ).click().perform()
        shown = the(matrix, "#item .head h2").text.split(" ")[0]
        # Two names that are nearly the same may share a place.
        near = ((at - at[int(shown)]) * fit)[item]
        assert abs(near).max() <= 2
        the(matrix, "#item .close").click()


#: When all that was asked for is on the screen.
FRAMES = "requestAnimationFrame(() => requestAnimationFrame(() => arguments[0]()))"
#: Counts how often the map is painted.
COUNTED = """
const clear = CanvasRenderingContext2D.prototype.clearRect;
window.paints = 0;
CanvasRenderingContext2D.prototype.clearRect = function (...at) {
  window.paints++;
  clear.apply(this, at);
};
"""


def painted(window):
    window.execute_async_script(FRAMES)
    return window.execute_script(
        "const { style } = dots; return [style.transform, dots.toDataURL()].join()"
    )


def test_the_map_is_moved_and_zoomed(matrix):
    area = the(matrix, "#map")
    seen = [painted(matrix)]
    ActionChains(matrix).drag_and_drop_by_offset(area, 60, 40).perform()
    seen.append(painted(matrix))
    the(matrix, "#in").click()
    seen.append(painted(matrix))
    area.send_keys(Keys.ARROW_LEFT)
    seen.append(painted(matrix))
    assert len(set(seen)) == 4
    the(matrix, "#all").click()
    assert painted(matrix) == seen[0]


def test_while_the_map_is_dragged_it_is_shifted_and_not_painted(matrix):
    area = the(matrix, "#map")
    painted(matrix)
    matrix.execute_script(COUNTED)
    hand = ActionChains(matrix, duration=0).move_to_element(area).click_and_hold()
    for step in range(1, 6):
        hand = hand.move_by_offset(20, -10 if step % 2 else 4)
    hand.perform()
    matrix.execute_async_script(FRAMES)
    assert matrix.execute_script("return [paints, dots.style.transform]") == [
        0,
        "translate(100px, -22px)",
    ]
    while_held = area.screenshot_as_base64
    ActionChains(matrix, duration=0).release().perform()
    wait(matrix, lambda: matrix.execute_script("return paints") == 1)
    matrix.execute_async_script(FRAMES)
    assert matrix.execute_script("return dots.style.transform") == "translate(0px, 0px)"
    assert area.screenshot_as_base64 == while_held


def test_a_map_that_is_dragged_beyond_what_is_painted_is_painted_anew(matrix):
    area = the(matrix, "#map")
    for _ in range(4):
        the(matrix, "#in").click()
    painted(matrix)
    matrix.execute_script(COUNTED)
    width = area.size["width"]
    ActionChains(matrix, duration=0).move_to_element_with_offset(
        area, -width // 3, 0
    ).click_and_hold().move_by_offset(width // 2, 0).perform()
    matrix.execute_async_script(FRAMES)
    assert matrix.execute_script("return paints") == 1
    while_held = area.screenshot_as_base64
    ActionChains(matrix, duration=0).release().perform()
    wait(matrix, lambda: matrix.execute_script("return paints") == 2)
    matrix.execute_async_script(FRAMES)
    assert area.screenshot_as_base64 == while_held


def test_everything_can_be_done_with_keys(matrix):
    the(matrix, "#search").send_keys("Anna")
    wait(matrix, lambda: "found" in the(matrix, "#count").text)
    find(matrix, "#list button")[0].send_keys(Keys.ARROW_DOWN)
    second = matrix.switch_to.active_element
    assert second == find(matrix, "#list button")[1]
    name = second.find_element(By.CLASS_NAME, "text").text
    second.send_keys(Keys.ENTER)
    assert the(matrix, "#item .own").text == name
    canvas = the(matrix, "#map")
    canvas.send_keys(Keys.ESCAPE)
    assert not the(matrix, "#item").is_displayed()
    canvas.send_keys(Keys.ENTER)
    assert the(matrix, "#item .own").is_displayed()


def test_what_can_be_used_has_a_name(page):
    for control in find(page, "button, input, #map"):
        assert control.accessible_name or not control.is_displayed()
    assert all(x.get_attribute("aria-label") for x in find(page, "svg"))


def test_more_pairs_come_when_asked_for(matrix):
    assert len(find(matrix, ".pair")) == 30
    the(matrix, "#more").click()
    assert len(find(matrix, ".pair")) == 60


def test_colours_follow_the_system_and_the_button(window, pages):
    def ground():
        return window.execute_script("return getComputedStyle(document.body).backgroundColor")

    light, dark = "rgb(245, 246, 248)", "rgb(16, 21, 28)"
    open_page(window, pages / "matrix.html")
    assert ground() == light
    for after in (light, dark, light):  # light, dark, as the system has it
        the(window, "#theme").click()
        assert ground() == after
    with browser(dark=True) as night:
        open_page(night, pages / "matrix.html")
        assert (
            night.execute_script("return getComputedStyle(document.body).backgroundColor") == dark
        )


def test_a_phone_need_not_scroll_sideways(pages):
    with browser(390, 844, phone=True) as phone:
        for name in ("matrix", "found"):
            open_page(phone, pages / f"{name}.html")
            wait(phone, lambda: find(phone, ".pair"))
            wide = phone.execute_script("return document.documentElement.scrollWidth")
            assert wide <= 390
            assert phone.get_log("browser") == []
