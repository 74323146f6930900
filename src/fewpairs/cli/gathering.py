"""Options in groups: written down once, and typed one by one."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from functools import wraps
from typing import Any, get_type_hints


def gathered(command: Callable[..., None]) -> Callable[..., None]:
    """Let a command take dataclasses, whose fields are options of its own.

    Parameters
    ----------
    command : callable
        Its parameters are options as typer reads them, or dataclasses with a field for each.

    Returns
    -------
    callable
        With all of them side by side, in the order in which they stand.
    """
    hints = get_type_hints(command, include_extras=True)
    options: list[inspect.Parameter] = []
    groups: dict[str, Any] = {}
    for parameter in inspect.signature(command).parameters.values():
        kind = hints[parameter.name]
        if is_dataclass(kind):
            groups[parameter.name] = kind
            options += _options_of(kind)
        else:
            options.append(_option(parameter.name, kind, parameter.default))

    @wraps(command)
    def flat(**given: Any) -> None:
        made = {
            name: kind(**{field.name: given.pop(field.name) for field in fields(kind)})
            for name, kind in groups.items()
        }
        command(**given, **made)

    flat.__signature__ = inspect.Signature(options)  # type: ignore[attr-defined]
    flat.__annotations__ = {option.name: option.annotation for option in options}
    return flat


def _options_of(kind: Any) -> list[inspect.Parameter]:
    hints = get_type_hints(kind, include_extras=True)
    defaults = {
        field.name: inspect.Parameter.empty if field.default is MISSING else field.default
        for field in fields(kind)
    }
    return [_option(name, hints[name], default) for name, default in defaults.items()]


def _option(name: str, kind: Any, default: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)
