"""A small table with a picture: what a notebook shows of a result."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

_BOX = "font-family:system-ui,sans-serif;font-size:13px;line-height:1.4;max-width:46em"
_TABLE = "border-collapse:collapse;border:none;margin:2px 0;font-size:inherit"
_PLAIN = "text-align:left;vertical-align:top;background:none;border:none;font-size:inherit"
_CELL = f"{_PLAIN};padding:1px 1em 1px 0"


def card(title: str, rows: Iterable[tuple[str, str]], picture: str = "", note: str = "") -> str:
    """Return a piece of HTML; all texts are escaped, the picture is taken as it is.

    Parameters
    ----------
    title : str
    rows : iterable of (str, str)
        Name and value; rows without a value are left out.
    picture : str
        SVG, as `fewpairs.notebook.svg` draws it.
    note : str
        A sentence below.

    Returns
    -------
    str

    Examples
    --------
    >>> "&lt;b&gt;" in card("<b>", [("rank", "3")])
    True
    """
    body = "".join(
        f'<tr style="background:none"><td style="{_CELL};opacity:.7">{escape(name)}</td>'
        f'<td style="{_CELL}">{escape(value)}</td></tr>'
        for name, value in rows
        if value
    )
    below = f'<div style="opacity:.7">{escape(note)}</div>' if note else ""
    return (
        f'<div style="{_BOX}"><div style="font-weight:600">{escape(title)}</div>'
        f'<table style="{_TABLE}">{body}</table>'
        f"{picture}{below}</div>"
    )


def card_of(told: str, picture: str = "") -> str:
    r"""Return a card of lines that are printed: a title, then names and values.

    Parameters
    ----------
    told : str
        Its lines after the first begin with a name, set apart by two spaces.
    picture : str

    Returns
    -------
    str

    Examples
    --------
    >>> card_of("a plan\n  memory     3 MB").count("<tr")
    1
    """
    title, *lines = told.splitlines()
    rows = []
    for line in lines:
        name, _, value = line.strip().partition("  ")
        rows.append((name, value.strip()))
    return card(title, rows, picture)
