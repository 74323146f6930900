"""Small pictures as SVG, without a library: intervals, spectra, curves, histograms.

Colours are given twice: as attributes, for notebooks, and as classes, so that the style of a page
can choose others on a dark ground.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from math import ceil, floor, log10
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from fewpairs.arrays import FloatArray

#: Blue and orange, which colour-blind people tell apart, on light and on dark grounds.
BLUE, ORANGE, GREY = "#2f7fc1", "#d9681d", "#8a94a0"
#: Bars of a spectrum.
_MOST_BARS = 60
#: Eigenvalues below this share of the largest shown are rounding, whatever their sign.
_ROUNDING = 1e-9
_LEFT, _BELOW, _ABOVE = 46, 30, 10


class Point(NamedTuple):
    """A statement after some spending."""

    spent: float
    value: float
    low: float
    high: float


def interval(
    value: float,
    low: float,
    high: float,
    *,
    most: float | None = 1.0,
    target: float | None = None,
    width: int = 260,
) -> str:
    """Draw a value with its interval, and a target, on a scale from 0 to `most`.

    None stands for a scale that ends after the interval.
    """
    if most is None or high > most:
        most = _rounded_up(1.25 * max(high, value))
    shown = [min(max(x, 0.0), most) / most * width for x in (low, value, high)]
    band = max(shown[2] - shown[0], 2.0)
    marks = [
        _rect(0, 10, width, 6, GREY, "fp-track", opacity=0.3),
        _rect(shown[0], 7, band, 12, BLUE, "fp-a", opacity=0.45),
        _rect(shown[1] - 1.5, 4, 3, 18, BLUE, "fp-a"),
    ]
    if target is not None:
        at = min(target, most) / most * width
        marks.append(_line(at, 1, at, 25, ORANGE, "fp-b"))
    marks += [_text(0, 38, "0"), _text(width, 38, _number(most), "end")]
    aim = "" if target is None else f", asked for {target:.3g}"
    label = f"{value:.3g}, interval {low:.3g} to {high:.3g}{aim}"
    return _picture(marks, width, 42, label)


def share(value: float, *, width: int = 260) -> str:
    """Draw a share of all, such as that of the pairs that are evaluated."""
    marks = [
        _rect(0, 8, width, 8, GREY, "fp-track", opacity=0.3),
        _rect(0, 8, max(1.5, min(max(value, 0.0), 1.0) * width), 8, BLUE, "fp-a"),
    ]
    return _picture(marks, width, 20, f"{value:.2%} of all")


def spectrum(eigenvalues: npt.ArrayLike, *, width: int = 320, height: int = 130) -> str:
    """Draw eigenvalues by decreasing magnitude, without the largest, the negative ones marked."""
    values = np.asarray(eigenvalues, dtype=float)
    values = values[np.argsort(-np.abs(values), kind="stable")][1 : _MOST_BARS + 1]
    if not len(values):
        return ""
    values = np.where(np.abs(values) > _ROUNDING * np.abs(values).max(), values, 0.0)
    top, bottom = max(float(values.max()), 0.0), min(float(values.min()), 0.0)
    frame = _Frame((0, len(values)), (bottom, top or (1.0 if bottom == 0 else 0.0)), width, height)
    bar = frame.width / len(values)
    marks = [
        _rect(
            frame.x(k) + bar * 0.1,
            min(frame.y(v), frame.y(0)),
            bar * 0.8,
            max(abs(frame.y(v) - frame.y(0)), 0.5),
            BLUE if v >= 0 else ORANGE,
            "fp-a" if v >= 0 else "fp-b",
        )
        for k, v in enumerate(values.tolist())
    ]
    zero = frame.y(0)
    marks.append(_line(_LEFT, zero, width, zero, "currentColor", "fp-axis"))
    marks += frame.labels("rank by magnitude", (2, len(values) + 1))
    negative = int((values < 0).sum())
    label = f"the next {len(values)} eigenvalues after the largest, {negative} of them negative"
    return _picture(marks, width, height, label)


def curve(
    points: Sequence[Point], *, target: float | None = None, width: int = 320, height: int = 150
) -> str:
    """Draw statements with their intervals against what was spent."""
    if not points:
        return ""
    spent = [point.spent for point in points]
    ends = (0.0, _rounded_up(max(min(point.high, 2 * point.value + 1e-12) for point in points)))
    frame = _Frame((min(spent), max(spent)), ends, width, height)
    upper = [f"{frame.x(p.spent):.1f},{frame.y(p.high):.1f}" for p in points]
    lower = [f"{frame.x(p.spent):.1f},{frame.y(p.low):.1f}" for p in reversed(points)]
    middle = " ".join(f"{frame.x(p.spent):.1f},{frame.y(p.value):.1f}" for p in points)
    marks = [
        f'<polygon points="{" ".join(upper + lower)}" fill="{BLUE}" class="fp-a" opacity=".2"/>',
        f'<polyline points="{middle}" fill="none" stroke="{BLUE}" class="fp-a-line"/>',
    ]
    marks += [
        f'<circle cx="{frame.x(p.spent):.1f}" cy="{frame.y(p.value):.1f}" r="3" fill="{BLUE}" '
        'class="fp-a"/>'
        for p in points
    ]
    if target is not None:
        at = frame.y(target)
        marks.append(_line(_LEFT, at, width, at, ORANGE, "fp-b"))
    marks += frame.labels("pairs evaluated", (min(spent), max(spent)))
    last = points[-1]
    return _picture(marks, width, height, f"{last.value:.3g} after {last.spent:,.0f} pairs")


def histogram(
    edges: FloatArray,
    found: FloatArray,
    expected: FloatArray,
    *,
    threshold: float | None = None,
    width: int = 320,
    height: int = 150,
) -> str:
    """Draw numbers of pairs by similarity: of all pairs behind, of those found before."""
    # Roots of roots, because there are a million pairs that do not match for one that does.
    heights = [np.maximum(counts, 0.0) ** 0.25 for counts in (expected, found)]
    most = max(float(heights[0].max(initial=0)), float(heights[1].max(initial=0)), 1.0)
    frame = _Frame((float(edges[0]), float(edges[-1])), (0.0, most), width, height)
    marks = []
    for counts, colour, name, opacity in (
        (heights[0], GREY, "fp-track", 0.45),
        (heights[1], BLUE, "fp-a", 1.0),
    ):
        for k, count in enumerate(counts.tolist()):
            if count > 0:
                left, right = frame.x(float(edges[k])), frame.x(float(edges[k + 1]))
                top = frame.y(count)
                box = (left, top, max(right - left - 0.5, 0.5), frame.y(0) - top)
                marks.append(_rect(*box, colour, name, opacity=opacity))
    if threshold is not None:
        at = frame.x(threshold)
        marks.append(_line(at, _ABOVE, at, frame.y(0), ORANGE, "fp-b"))
    ticks = {0.0: "0", most: f"{most**4:,.0f}"}
    marks += frame.labels("similarity", (float(edges[0]), float(edges[-1])), ticks)
    return _picture(marks, width, height, f"{found.sum():,.0f} pairs found, by similarity")


class _Frame:
    """Where numbers lie in a picture."""

    def __init__(
        self, across: tuple[float, float], up: tuple[float, float], width: int, height: int
    ) -> None:
        self.across, self.up = across, up
        self.width, self.height = width - _LEFT - 8, height - _BELOW - _ABOVE

    def x(self, value: float) -> float:
        low, high = self.across
        share = (value - low) / (high - low) if high > low else 0.5
        return _LEFT + min(max(share, 0.0), 1.0) * self.width

    def y(self, value: float) -> float:
        low, high = self.up
        share = (value - low) / (high - low) if high > low else 0.5
        return _ABOVE + (1 - min(max(share, 0.0), 1.0)) * self.height

    def labels(
        self,
        name: str,
        ends: tuple[float, float],
        ticks: dict[float, str] | None = None,
    ) -> list[str]:
        """Write the ends of both axes."""
        below = _ABOVE + self.height + 14
        there = [
            _text(_LEFT, below, _number(ends[0])),
            _text(_LEFT + self.width, below, _number(ends[1]), "end"),
            _text(_LEFT + self.width / 2, below + 12, name, "middle"),
        ]
        marks = {low: _number(low) for low in (*self.up, 0.0)} if ticks is None else ticks
        apart = {v: text for v, text in marks.items() if v == 0 or abs(self.y(v) - self.y(0)) > 12}  # noqa: PLR2004 - a line of text
        return there + [_text(_LEFT - 5, self.y(v) + 4, text, "end") for v, text in apart.items()]


def _picture(marks: Iterable[str], width: int, height: int, label: str) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 -4 {width} {height + 4}" '
        f'width="{width}" height="{height + 4}" role="img" aria-label="{escape(label)}" '
        f'font-family="system-ui,sans-serif" font-size="11">{"".join(marks)}</svg>'
    )


def _rect(
    x: float,
    y: float,
    width: float,
    height: float,
    colour: str,
    name: str,
    *,
    opacity: float = 1.0,
) -> str:
    faint = "" if opacity == 1 else f' opacity="{opacity}"'
    return (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" '
        f'fill="{colour}" class="{name}"{faint}/>'
    )


def _line(x1: float, y1: float, x2: float, y2: float, colour: str, name: str) -> str:
    return (
        f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" '
        f'class="{name}-line" stroke-width="1.5"/>'
    )


def _text(x: float, y: float, text: str, anchor: str = "start") -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="currentColor" '
        f'opacity=".75">{escape(text)}</text>'
    )


def _number(value: float) -> str:
    whole = float(value).is_integer() and abs(value) < 1e9  # noqa: PLR2004 - all digits fit
    return f"{value:,.0f}" if whole else f"{value:.3g}"


def _rounded_up(value: float) -> float:
    """Return the next number with one digit, or half a digit more."""
    if not 0 < value < float("inf"):
        return 1.0
    unit = 10.0 ** floor(log10(value)) / 2
    return ceil(value / unit - 1e-9) * unit
