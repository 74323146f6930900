"""The page of a matrix of 5,000 texts: its size, and in Chromium first paint and script a frame.

The texts are stretches of docstrings. Frames are timed while the map is dragged: all script between
the start of an animation frame and its end, and every handler of a pointer; once with all items in
sight, once zoomed in, so far that what is painted beyond the edges comes to its end. Writes
docs/tables/report.md and, of a smaller matrix, docs/figures/report.png; takes about three minutes.

    python -m benchmarks.face.report [--quick]
"""

from __future__ import annotations

import base64
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import fewpairs as fp
from benchmarks.shared.browser import browser, missing, open_page
from benchmarks.shared.command import arguments
from benchmarks.shared.tables import FIGURES, publish, table

SIZES, SMALL = (1_000, 5_000, 10_000), (1_000, 5_000)
#: Frames that are timed, and how far the map is dragged in each: of all items, and zoomed in.
FRAMES, STEP, LONG_STEP = 120, 3, 40
#: Counts the time that handlers and animation frames take, before the page has any.
CLOCK = """
window.spent = [];
const timed = (call) => function (...given) {
  const begun = performance.now();
  try { return call.apply(this, given); } finally { window.spent.push(performance.now() - begun); }
};
const frame = window.requestAnimationFrame.bind(window);
window.requestAnimationFrame = (call) => frame(timed(call));
const listen = EventTarget.prototype.addEventListener;
EventTarget.prototype.addEventListener = function (kind, call, ...rest) {
  return listen.call(this, kind, kind.startsWith("pointer") ? timed(call) : call, ...rest);
};
"""
#: Drags the map, one step a frame, and gives the script of each frame in milliseconds.
DRAG = """
const [frames, step, done] = arguments, map = document.getElementById("map");
const box = map.getBoundingClientRect();
let x = box.left + box.width / 2, y = box.top + box.height / 2, k = 0, times = [];
map.setPointerCapture = () => {};
const send = (kind) => map.dispatchEvent(
  new PointerEvent(kind, { pointerId: 1, clientX: x, clientY: y, bubbles: true }));
send("pointerdown");
const next = () => {
  times.push(window.spent.reduce((a, b) => a + b, 0));
  window.spent = [];
  if (k++ === frames) { send("pointerup"); done(times.slice(1)); return; }
  x += k % 40 < 20 ? step : -step;
  y += k % 60 < 30 ? step : -step;
  send("pointermove");
  setTimeout(next, 34);
};
window.spent = [];
next();
"""
PAINT = "return performance.getEntriesByName('first-contentful-paint')[0].startTime"


def texts_of(count: int) -> list[str]:
    """Stretches of docstrings, as many as are asked for."""
    words = " ".join(fp.datasets.docstrings().texts).split()
    starts = np.random.default_rng(0).integers(len(words) - 60, size=count)
    lengths = np.random.default_rng(1).integers(8, 60, size=count)
    return [" ".join(words[a : a + n]) for a, n in zip(starts, lengths, strict=True)]


def page_of(count: int, path: Path) -> float:
    """Write the page of a matrix of so many texts; return the seconds that takes."""
    texts = texts_of(count)
    K = fp.approximate(
        texts,
        fp.StringSimilarity("token_set_ratio"),
        landmarks=min(100, count // 5),
        random_state=0,
        progress=False,
    )
    begun = time.perf_counter()
    K.report(path)
    return time.perf_counter() - begun


def introductions(count: int, path: Path) -> None:
    """Write the page of the picture: what docstrings begin with, and what they describe."""
    corpus = fp.datasets.docstrings()
    some = np.random.default_rng(0).permutation(len(corpus.texts))[:count]
    texts = [" ".join(corpus.texts[i].split("\n\n")[0].split()) for i in some]
    similarity = fp.StringSimilarity("token_set_ratio")
    K = fp.approximate(texts, similarity, budget=0.2, random_state=0, progress=False)
    K.report(
        path, ids=[corpus.names[i] for i in some], title=f"{count} functions by their docstrings"
    )


def measured(path: Path) -> tuple[float, list[float], list[float]]:
    """First paint, and script in each frame while the map is dragged, in milliseconds.

    The second list of frames is of a map that is zoomed in.
    """
    with browser() as window:
        window.set_script_timeout(120)
        window.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": CLOCK})
        open_page(window, path)
        time.sleep(2)
        paint = float(window.execute_script(PAINT))
        whole = window.execute_async_script(DRAG, FRAMES, STEP)
        window.execute_script("for (let k = 0; k < 3; k++) document.getElementById('in').click()")
        time.sleep(1)
        return paint, whole, window.execute_async_script(DRAG, FRAMES, LONG_STEP)


def script(frames: list[float]) -> str:
    """Return what frames take: the median, what 19 of 20 stay below, the slowest."""
    return " / ".join(f"{x:.1f}" for x in np.quantile(frames, [0.5, 0.95, 1])) + " ms"


def photograph(path: Path, output: Path) -> None:
    """Take the picture of a page with an item chosen."""
    with browser(1280, 900) as window:
        open_page(window, path)
        time.sleep(1)
        window.execute_script(
            "[...document.querySelectorAll('#list button')]"
            ".find((button) => button.textContent.includes('polynomial')).click()"
        )
        time.sleep(1)
        taken: dict[str, Any] = window.execute_cdp_cmd("Page.captureScreenshot", {"format": "png"})
        output.write_bytes(base64.b64decode(taken["data"]))


def main() -> None:
    options = arguments(__doc__).parse_args()
    if missing():
        sys.exit(f"skipped: {missing()}")
    warnings.simplefilter("ignore", fp.errors.FewpairsWarning)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "page.html"
        for count in SMALL if options.quick else SIZES:
            seconds = page_of(count, page)
            paint, frames, zoomed = measured(page)
            size = page.stat().st_size / 1e6
            rows.append(
                [
                    f"{count:,}",
                    f"{seconds:.1f} s",
                    f"{size:.2f} MB",
                    f"{paint / 1000:.2f} s",
                    script(frames),
                    script(zoomed),
                ]
            )
            print(rows[-1], flush=True)
        if not options.quick:
            introductions(900, page)
            photograph(page, FIGURES / "report.png")
    headings = ["items", "to write", "size", "first paint", "script a frame", "zoomed in"]
    text = f"""# Pages in a browser

Of a matrix of docstrings, in Chromium without a window and without a graphics card, on two cores:
`python -m benchmarks.face.report`. Script a frame, while the map is dragged: the median, what 19
of 20 frames stay below, and the slowest of {FRAMES}; with all items in sight, and zoomed in, where
it is dragged so far that it must be painted anew on the way.

{table(headings, rows)}
"""
    print(text)
    publish("report", text, quick=options.quick)


if __name__ == "__main__":
    main()
