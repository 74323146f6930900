"""One run on a cluster, started in a network namespace by test_hosts.py; its result goes to a file.

python coordinator.py ADDRESS TRACES OUTPUT
"""

from __future__ import annotations

import sys

import numpy as np
from distributed import Client
from elsewhere import Traced, items

import fewpairs as fp
from fewpairs.workers.cluster import _DaskWorkers

#: Twenty-four blocks of 500 pairs, and nothing else.
PLAIN = {"method": "nystrom", "error_pairs": 0, "landmarks": 10, "random_state": 0}
N, SECONDS = 1200, 0.2


def main(address: str, folder: str, output: str) -> None:
    sent = []
    send = _DaskWorkers.send

    def counted(self, tasks):
        sent.append(sum(task.size for task in tasks))
        return send(self, tasks)

    _DaskWorkers.send = counted
    with Client(address, timeout=60) as client:
        client.wait_for_workers(2, timeout=60)
        matrix = fp.approximate(items(N), Traced(folder, seconds=SECONDS), client=client, **PLAIN)
    found = {"dense": matrix.to_dense(), "evaluations": matrix.evaluations}
    np.savez(output, sent=sum(sent), **found)


if __name__ == "__main__":
    main(*sys.argv[1:])
