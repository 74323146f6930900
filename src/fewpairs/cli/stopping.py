"""A run that ends early: the command keeps what was evaluated, and goes on from there."""

from __future__ import annotations

import hashlib
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from fewpairs.errors import AsymmetryError, UnwritableError

if TYPE_CHECKING:
    from fewpairs.oracle.oracle import Oracle

#: Shells add this to the number of the signal that ended a command.
_BY_SIGNAL = 128
#: What asks a command to end, beside Ctrl-C; Windows has no SIGHUP.
_SIGNALS = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]


class _Signalled(KeyboardInterrupt):
    """A signal that stops a run as Ctrl-C does."""

    number = int(signal.SIGINT)


def partial_of(output: Path) -> Path:
    """Return where evaluations are kept when a run for this output is stopped."""
    return output.with_name(output.name + ".partial")


@contextmanager
def kept_unless_done(oracle: Oracle, output: Path, vectors: Path | None) -> Iterator[None]:
    """Look up what an earlier run has evaluated; keep what this one has, however it ends early.

    Parameters
    ----------
    oracle : Oracle
        Not used yet.
    output : Path
        The file that is made within this context; once it is there, nothing else is kept. An
        oracle with a journal needs no other place.
    vectors : Path or None
        A file on which the similarity depends.
    """
    from fewpairs.oracle.keeping import restore  # noqa: PLC0415 - --help is instant

    if oracle.journal is not None:
        with _journalled(oracle):
            yield
        return
    partial = partial_of(output)
    inputs = {} if vectors is None else {"vectors": _checksum(vectors)}
    if partial.exists():
        restore(oracle, partial, inputs)
        typer.echo(f"fewpairs: going on with {_count(oracle)} in {partial}", err=True)
    try:
        with _signals_stop():
            yield
    except KeyboardInterrupt as stop:
        kept = _keep(oracle, partial, inputs) or "there is nothing to keep."
        _tell_stop(oracle, kept)
        raise _exit(stop) from None
    except AsymmetryError as error:
        error.add_note(_after_asymmetry(oracle, partial))
        raise
    except Exception as error:
        kept = _keep(oracle, partial, inputs)
        if kept:
            error.add_note(f"Before that there were {_count(oracle)}; {kept}")
        raise
    partial.unlink(missing_ok=True)


@contextmanager
def _journalled(oracle: Oracle) -> Iterator[None]:
    """Let a journal keep what was evaluated, and say so if a run ends early."""
    assert oracle.journal is not None  # noqa: S101 - the caller looked
    try:
        with _signals_stop():
            yield
    except KeyboardInterrupt as stop:
        folder = str(oracle.journal.folder)
        _tell_stop(oracle, f"they are in {folder}. The same command goes on from there.")
        raise _exit(stop) from None


def _tell_stop(oracle: Oracle, kept: str) -> None:
    with suppress(OSError):  # the terminal may be what has gone
        typer.echo(f"fewpairs: stopped after {_count(oracle)}; {kept}", err=True)


def _exit(stop: KeyboardInterrupt) -> typer.Exit:
    number = stop.number if isinstance(stop, _Signalled) else signal.SIGINT
    return typer.Exit(_BY_SIGNAL + number)


def _keep(oracle: Oracle, partial: Path, inputs: dict[str, str]) -> str:
    """Say where the evaluations are kept, or that they are lost; nothing if there are none."""
    from fewpairs.oracle.keeping import keep  # noqa: PLC0415 - --help is instant

    try:
        if not oracle.evaluations or not keep(oracle, partial, inputs):
            return ""
    except UnwritableError as error:
        # Its second line promises what matters here only if an earlier run has left a file.
        what = str(error).splitlines()[0]
        left = " What an earlier run has kept there is as it was." if partial.exists() else ""
        return f"they are lost: {what}{left}"
    return f"they are kept in {partial}. The same command goes on from there."


def _after_asymmetry(oracle: Oracle, partial: Path) -> str:
    """Say that one order's values serve neither --asymmetric nor a function that is mended."""
    if partial.exists():
        return f"Delete {partial} before: what is in it would serve neither."
    return f"The {_count(oracle)} before that are not kept, because they would serve neither."


@contextmanager
def _signals_stop() -> Iterator[None]:
    """Let SIGTERM and SIGHUP stop a run as Ctrl-C does, unless somebody has other plans for them.

    ``nohup`` has them ignored, for example; and only the main thread may ask for signals.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    taken = [number for number in _SIGNALS if signal.getsignal(number) == signal.SIG_DFL]

    def stop(number: int, _frame: Any) -> None:
        for other in taken:  # a second one must not interrupt the keeping
            signal.signal(other, signal.SIG_IGN)
        stopped = _Signalled()
        stopped.number = number
        raise stopped

    for number in taken:
        signal.signal(number, stop)
    try:
        yield
    except _Signalled:
        raise  # the process ends: what is ignored stays so while evaluations are kept
    except BaseException:
        _by_default(taken)
        raise
    else:
        _by_default(taken)


def _by_default(numbers: list[int]) -> None:
    for number in numbers:
        signal.signal(number, signal.SIG_DFL)


def _count(oracle: Oracle) -> str:
    return f"{oracle.evaluations:,} evaluations"


def _checksum(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
