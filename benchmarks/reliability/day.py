"""A day in the life of a run: 20,000 evaluations by a judge that fails, while everything is killed.

The judge answers over HTTP (benchmarks/shared/judge_server.py): one request in twenty fails, those
above its rate are refused with a Retry-After, and it is killed and started again twice. The client,
`approximate` with a journal, is killed three times, at random moments, and started again each time.
Then the matrix must be that of an undisturbed run, bit for bit, and every pair must be on the
judge's bill once; but for those that check symmetry, which are asked for in both orders, three that
are compared each time the journal is opened, and those that were under way when client or judge was
killed: at most one for each thread. Writes docs/tables/day.md. Takes about a minute.

    python -m benchmarks.reliability.day [--quick] [--kills 3] [--restarts 2]
"""

from __future__ import annotations

import http.client
import json
import random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np

import fewpairs as fp
from benchmarks.shared.command import arguments
from benchmarks.shared.judge_server import score
from benchmarks.shared.tables import publish, table

#: Threads that ask the judge, and pairs that one of them asks for at a time.
_THREADS, _BLOCK = 4, 16
#: Stored values that are evaluated again, and compared, whenever the journal is opened.
_COMPARED = 3
_connections = threading.local()


class JudgeError(RuntimeError):
    """The judge said no; `retry_after` says when to come back."""

    def __init__(self, status: int, retry_after: str | None) -> None:
        super().__init__(f"the judge answered {status}")
        self.retry_after = retry_after


def asking(port: int):
    """Return a similarity that asks the judge, over one connection for each thread."""

    def ask(a, b):
        connection = getattr(_connections, "open", None)
        if connection is None:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
            _connections.open = connection
        try:
            connection.request("GET", f"/{a}/{b}")
            answer = connection.getresponse()
            body = answer.read()
        except (OSError, http.client.HTTPException):
            connection.close()
            _connections.open = None
            raise
        if answer.status != 200:
            raise JudgeError(answer.status, answer.headers.get("Retry-After"))
        return float(json.loads(body))

    return ask


def similarity(function):
    """Declare a judge: what is not tried again is what the judge was paid for."""
    return fp.similarity(
        function,
        kind="pair",
        symmetric=True,
        name="judge",
        version="1",
        block_size=_BLOCK,
        retry=30,
        backoff=0.05,
        timeout=30,
    )


def run(n: int, budget: int, judge, n_jobs: int, **journal: str) -> fp.FactoredMatrix:
    """Carry the run out; the same arguments each time."""
    return fp.approximate(
        range(n), judge, budget=budget, random_state=0, n_jobs=n_jobs, progress=False, **journal
    )


def client(port: int, n: int, budget: int, folder: Path, *, journalled: bool) -> None:
    """What is killed: a run with a journal, whose matrix is saved at the end."""
    journal = {"journal": str(folder / "journal")} if journalled else {}
    run(n, budget, similarity(asking(port)), _THREADS, **journal).save(folder / "day.fewpairs")


def billed(bill: Path) -> list[str]:
    """The lines of the bill: two items, in the order in which they were asked for."""
    return bill.read_text(encoding="ascii").splitlines() if bill.exists() else []


def paid_again(lines: list[str], starts: list[int]) -> tuple[int, int, int]:
    """Count the answers that were paid for again.

    Parameters
    ----------
    lines : list of str
        The bill.
    starts : list of int
        Lengths of the bill when the client was started again.

    Returns
    -------
    in_both_orders, compared, otherwise : int
        To check symmetry, on purpose after a start, and because something was killed.
    """
    answered: set[str] = set()
    compared = dict.fromkeys(starts, 0)
    both = otherwise = 0
    for number, pair in enumerate(lines):
        start = max((start for start in starts if start <= number), default=None)
        if pair in answered and start is not None and compared[start] < _COMPARED:
            compared[start] += 1  # before anything else is asked for
        elif pair in answered:
            otherwise += 1
        else:
            both += " ".join(reversed(pair.split())) in answered
        answered.add(pair)
    return both, sum(compared.values()), otherwise


def start_judge(port: int, bill: Path, seed: int) -> subprocess.Popen:
    """Start the judge, and wait until it listens."""
    command = [sys.executable, "-m", "benchmarks.shared.judge_server", str(port), str(bill)]
    judge = subprocess.Popen([*command, str(seed)])  # noqa: S603
    for _ in range(200):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return judge
        time.sleep(0.05)
    message = "the judge does not listen"
    raise RuntimeError(message)


def disturbed(n: int, budget: int, folder: Path, kills: int, restarts: int) -> list[int]:
    """Run to the end, killing client and judge; return how long the bill was at each new start."""
    chance = random.Random(1)  # noqa: S311
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    bill = folder / "bill"
    moments = [("client", k) for k in range(kills)] + [("judge", k) for k in range(restarts)]
    chance.shuffle(moments)
    steps = [int(budget * (k + chance.random()) / (len(moments) + 1)) for k in range(len(moments))]
    command = [sys.executable, "-m", "benchmarks.reliability.day", "--client", str(port), str(n)]
    command += [str(budget), str(folder), str(int(kills > 0))]
    judge, seed, starts = start_judge(port, bill, 0), 0, []
    process = subprocess.Popen(command)  # noqa: S603
    try:
        for (who, _), step in zip(moments, steps, strict=True):
            while len(billed(bill)) < step and process.poll() is None:
                time.sleep(0.02)
            victim = process if who == "client" else judge
            victim.send_signal(signal.SIGKILL)
            victim.wait()
            if who == "client":
                starts.append(len(billed(bill)))
                process = subprocess.Popen(command)  # noqa: S603
            else:
                seed += 1
                judge = start_judge(port, bill, seed)
        if process.wait() != 0:
            message = "the client has failed"
            raise RuntimeError(message)
    finally:
        for each in (process, judge):
            if each.poll() is None:
                each.kill()
                each.wait()
    return starts


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--kills", type=int, default=3)
    parser.add_argument("--restarts", type=int, default=2)
    parser.add_argument("--client", nargs=5, help="used by the benchmark itself")
    options = parser.parse_args()
    if options.client:
        port, n, budget, folder, journalled = options.client
        client(int(port), int(n), int(budget), Path(folder), journalled=journalled == "1")
        return
    n, budget = (120, 2_000) if options.quick else (1_000, 20_000)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        start = time.perf_counter()
        starts = disturbed(n, budget, folder, options.kills, options.restarts)
        took = time.perf_counter() - start
        found = fp.load(folder / "day.fewpairs")
        bill = billed(folder / "bill")
    alone = run(n, budget, similarity(score), 1)
    same = all(
        np.array_equal(getattr(found, part), getattr(alone, part))
        for part in ("left", "core", "right")
    )
    same = same and np.array_equal(found.known.values, alone.known.values)
    both, compared, again = paid_again(bill, starts)
    most = _THREADS * (options.kills + options.restarts)
    rows = [
        ("evaluations of the run", f"{found.evaluations:,}"),
        ("answers on the judge's bill", f"{len(bill):,}"),
        ("in the other order, to check symmetry; part of the run", f"{both:,}"),
        ("stored values that were compared when the journal was opened again", f"{compared:,}"),
        ("paid twice", f"{again:,}"),
        ("under way at the kills, at most", f"{most:,}"),
        ("the same matrix as an undisturbed run, bit for bit", "yes" if same else "NO"),
        ("seconds", f"{took:.0f}"),
    ]
    text = (
        f"A judge that fails 5 % of the time, limits its rate and is killed and restarted "
        f"{options.restarts} times; a client of {_THREADS} threads that is killed {options.kills} "
        f"times. What is paid twice was under way when one of them was killed: asked for, and "
        f"perhaps answered, but never received.\n\n{table(['', ''], rows)}\n"
    )
    print(text)
    publish("day", text, quick=options.quick)
    if again > most or not same:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
