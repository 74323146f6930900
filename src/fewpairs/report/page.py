"""Contents to one HTML file that loads nothing: style, script and data are inside."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html import escape
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from fewpairs.files.writing import atomic
from fewpairs.report.contents import Chart, Contents, Fact, Links
from fewpairs.report.texts import shortened

#: Places on the map are whole numbers below this.
_MAP = 2**16 - 1


def write_page(contents: Contents, path: str | Path) -> None:
    """Write a page: the old file or the new one, never half of it."""
    text = page_of(contents)
    with atomic(Path(path)) as unfinished:
        # Half of a letter, as broken texts have, cannot be written; a question mark can.
        unfinished.write_text(text, encoding="utf-8", errors="replace")


def page_of(contents: Contents) -> str:
    """Return the page as HTML.

    Nothing in it can load anything: its policy allows the one style and the one script that are
    named by their hashes. Texts of items are data, which the script inserts as texts.
    """
    style, script = _file("page.css"), _file("page.js")
    parts = {
        "policy": (
            f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; "
            "img-src data:; base-uri 'none'; form-action 'none'"
        ),
        "title": escape(contents.title),
        "lead": escape(contents.lead),
        "facts": "".join(map(_fact, contents.facts)),
        "findings": "".join(f"<li>{escape(text)}</li>" for text in contents.findings),
        "charts": "".join(map(_chart, contents.charts)),
        "provenance": "".join(
            f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>"
            for name, value in contents.provenance
        ),
        "map_note": escape(contents.map_note),
        "pairs_title": escape(contents.pairs_title),
        "style": style,
        "script": script,
        # No "<" at all, so that nothing can end the element that holds it.
        "data": json.dumps(_data(contents), ensure_ascii=False).replace("<", "\\u003c"),
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], _file("page.html"))


def _data(contents: Contents) -> dict[str, Any]:
    """Return what the script reads."""
    labels = contents.labels
    return {
        "texts": shortened(contents.texts),
        "names": list(contents.names),
        "second": contents.second,
        "map": _packed(_on_map(contents.places), np.uint16),
        "links": _links(contents.links),
        "labels": None
        if labels is None
        else {
            "of": _packed(labels.of, np.uint32),
            "names": list(labels.names),
            "kind": labels.kind,
        },
        "smallIsNear": contents.small_is_near,
        "neighborsTitle": contents.neighbors_title,
    }


def _links(links: Links) -> dict[str, Any]:
    return {
        "left": _packed(links.left, np.uint32),
        "right": _packed(links.right, np.uint32),
        "approximate": _scores(links.approximate),
        "exact": _scores(links.exact),
        "both": links.both,
    }


def _scores(values: npt.NDArray[Any] | None) -> str | None:
    return None if values is None else _packed(values, np.float32)


def _packed(values: npt.NDArray[Any], dtype: type[np.generic]) -> str:
    """Return numbers as text: little-endian, base64."""
    little = np.ascontiguousarray(values).astype(np.dtype(dtype).newbyteorder("<"))
    return base64.b64encode(little.tobytes()).decode("ascii")


def _on_map(places: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return places in whole numbers, with the same unit in both directions."""
    if not len(places):
        return np.empty((0, 2))
    low, high = places.min(axis=0), places.max(axis=0)
    size = float((high - low).max()) or 1.0
    middle = (places - (low + high) / 2) / size + 0.5
    return np.asarray(np.rint(np.clip(middle, 0, 1) * _MAP))


def _fact(fact: Fact) -> str:
    note = f'<div class="note">{escape(fact.note)}</div>' if fact.note else ""
    return (
        f'<div class="fact"><div class="name">{escape(fact.name)}</div>'
        f'<div class="value">{escape(fact.value)}</div>{fact.picture}{note}</div>'
    )


def _chart(chart: Chart) -> str:
    note = f"<figcaption>{escape(chart.note)}</figcaption>" if chart.note else ""
    return f"<figure><h3>{escape(chart.title)}</h3>{chart.picture}{note}</figure>"


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"


def _file(name: str) -> str:
    return (resources.files("fewpairs.report") / name).read_text(encoding="utf-8")
