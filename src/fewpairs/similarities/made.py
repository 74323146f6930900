"""Functions that are made where they are called: a model is loaded once in each process."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from fewpairs.errors import InputError


class Made:
    """A function that a factory makes at its first call, and that is never sent anywhere.

    Parameters
    ----------
    factory : callable
        Without parameters; returns the function. It is what is pickled.
    """

    def __init__(self, factory: Callable[[], Callable[..., Any]]) -> None:
        self._factory = factory
        self._function: Callable[..., Any] | None = None
        self._making = threading.Lock()

    def __reduce__(self) -> tuple[Any, ...]:
        return Made, (self._factory,)

    def __call__(self, *args: Any) -> Any:
        """Call the function, which is made first where it has not been."""
        if self._function is None:
            with self._making:  # two threads must not load it both
                if self._function is None:
                    self._function = self._made()
        return self._function(*args)

    def _made(self) -> Callable[..., Any]:
        made = self._factory()
        if not callable(made):
            raise InputError(
                f"the factory returned a {type(made).__name__}.",
                "It makes the function that is called for every pair that is evaluated.",
                "Return that function, for example model.predict.",
            )
        return made
