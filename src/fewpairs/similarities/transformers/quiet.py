"""Models read without a report of what is new or left over in them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def quiet(transformers: Any) -> Iterator[None]:
    """Silence a report that a head is new, or not used: that is why the model is read this way."""
    logging = transformers.utils.logging
    before, bar = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(before)
        if bar:
            logging.enable_progress_bar()
