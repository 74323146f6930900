"""Results and pages that several tests look at."""

from __future__ import annotations

import base64
import json
import re

import numpy as np

import fewpairs as fp

FIRST = "Anna Bob Carl Dora Emil Frieda Gustav Hanna Ivan Julia".split()
LAST = "Berg Stone May Lind Fischer Weber".split()
EVIL = "<script>document.title = 'owned'</script><img src=x onerror=alert(1)></script>"
NAMES = [f"{a} {b}" for a in FIRST for b in LAST]
NAMES += ["Ana Berg", "Bob Ston", EVIL, f"{EVIL}!"]
ALIKE = fp.StringSimilarity("jaro_winkler")


def matrix_of_names(**options):
    settings = {"landmarks": 12, "random_state": 0, "progress": False} | options
    return fp.approximate(NAMES, ALIKE, **settings)


def found_among_names(**options):
    return fp.find_pairs(NAMES, ALIKE, above=0.96, random_state=0, **options)


def data_of(page: str) -> dict:
    """What the script of a page reads."""
    return json.loads(re.search(r'id="data">(.*?)</script>', page, re.DOTALL)[1])


def unpacked(text: str, dtype: str) -> np.ndarray:
    return np.frombuffer(base64.b64decode(text), dtype=dtype)
