"""A judge behind a local HTTP server: it fails, limits its rate, and keeps a bill.

    python -m benchmarks.shared.judge_server PORT BILL SEED

Every answer is a line of the bill, written before it is sent: what is not on it was not paid for.
"""

from __future__ import annotations

import json
import random
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np

#: Of all requests this share fails, and so many are answered in a second.
FAILS, PER_SECOND = 0.05, 1500


def score(a: int, b: int) -> float:
    """An indefinite similarity of two numbers, symmetric, the same on every machine."""
    x, y = np.sin(np.arange(1, 7) * (a + 1)), np.sin(np.arange(1, 7) * (b + 1))
    return float(np.tanh(x @ y - 0.5) + 0.1 * np.cos(abs(a - b) / 50))


class Judge(ThreadingHTTPServer):
    """The server, with its bill and its clock."""

    daemon_threads = True

    def __init__(self, port: int, bill: Path, seed: int) -> None:
        super().__init__(("127.0.0.1", port), Handler)
        self.bill = bill.open("a", encoding="ascii")
        self.chance = random.Random(seed)  # noqa: S311 - nothing secret
        self.lock = threading.Lock()
        self.second, self.served = 0, 0

    def verdict(self, pair: tuple[int, int]) -> tuple[int, dict[str, str], str]:
        """Return status, headers and body, and write the bill."""
        with self.lock:
            now = int(time.monotonic())
            if now != self.second:
                self.second, self.served = now, 0
            self.served += 1
            if self.served > PER_SECOND:
                return 429, {"Retry-After": "0.3"}, "too many requests"
            if self.chance.random() < FAILS:
                return 500, {}, "the judge has a headache"
            self.bill.write(f"{pair[0]} {pair[1]}\n")
            self.bill.flush()
        return 200, {}, json.dumps(score(*pair))


class Handler(BaseHTTPRequestHandler):
    """Answers ``GET /17/204``."""

    protocol_version = "HTTP/1.1"
    wbufsize = -1  # header and body in one piece: two would wait for each other
    server: Judge

    def do_GET(self) -> None:
        """Answer one pair."""
        a, b = (int(part) for part in self.path.strip("/").split("/"))
        status, headers, body = self.server.verdict((a, b))
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode("ascii"))

    def log_message(self, *_: object) -> None:
        """Say nothing."""


if __name__ == "__main__":
    Judge(int(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])).serve_forever()
