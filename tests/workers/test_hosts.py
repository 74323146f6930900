"""Workers on hosts of their own: network namespaces, one of which is cut off, and back later."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path

import numpy as np
import pytest
from elsewhere import Traced, items, traces

import fewpairs as fp

pytest.importorskip("distributed", reason="needs the extra dask")
from coordinator import PLAIN, N

#: Addresses that exist only inside of the namespaces.
HEAD, HOSTS = "10.77.0.1", {"one": "10.77.0.2", "two": "10.77.0.3"}
IP = shutil.which("ip")
START = "import importlib, sys; importlib.import_module(sys.argv.pop(1)).main()"
#: Seconds for which the line is down.
DOWN = 4.0


def ip(*words):
    subprocess.run([IP, *words], check=True, capture_output=True, timeout=20)


def reason():
    """Why there can be no namespaces here; None if there can."""
    if IP is None:
        return "needs the command ip"
    try:
        ip("netns", "add", f"fp{os.getpid()}")
        ip("netns", "exec", f"fp{os.getpid()}", "true")
    except (subprocess.SubprocessError, OSError) as error:
        return f"network namespaces cannot be made: {error}"
    finally:
        subprocess.run([IP, "netns", "del", f"fp{os.getpid()}"], check=False, capture_output=True)
    return None


@contextmanager
def network():
    """A switch at the head, and a line from it to each host; yields their namespaces."""
    head, *hosts = spaces = [f"fp{os.getpid()}{name}" for name in ("head", *HOSTS)]
    try:
        for space in spaces:
            ip("netns", "add", space)
            ip("-n", space, "link", "set", "lo", "up")
        ip("-n", head, "link", "add", "switch", "type", "bridge")
        ip("-n", head, "addr", "add", f"{HEAD}/24", "dev", "switch")
        ip("-n", head, "link", "set", "switch", "up")
        for space, (name, address) in zip(hosts, HOSTS.items(), strict=True):
            line = ("peer", "name", "eth0", "netns", space)
            ip("-n", head, "link", "add", name, "type", "veth", *line)
            ip("-n", head, "link", "set", name, "master", "switch", "up")
            ip("-n", space, "addr", "add", f"{address}/24", "dev", "eth0")
            ip("-n", space, "link", "set", "eth0", "up")
        yield spaces
    finally:
        for space in spaces:  # and with them all that is in them
            subprocess.run([IP, "netns", "del", space], check=False, capture_output=True)


def begun(stack, space, log, *command):
    """Start a Python process in a namespace; it ends with the stack."""
    path = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    process = subprocess.Popen(
        [IP, "netns", "exec", space, sys.executable, *command],
        env=os.environ | {"PYTHONPATH": path},
        stdout=log,
        stderr=subprocess.STDOUT,
    )

    def end():
        process.kill()
        process.wait()

    stack.callback(end)
    return process


def dask(module, *words):
    return ("-c", START, f"distributed.cli.{module}", *words)


def test_a_host_cut_off_and_back_later_changes_nothing(tmp_path):
    if why := reason():
        pytest.skip(why)
    folder, output = tmp_path / "traces", tmp_path / "result.npz"
    folder.mkdir()
    with ExitStack() as stack:
        log = stack.enter_context((tmp_path / "log").open("w+"))
        head, *hosts = stack.enter_context(network())
        at = ("--host", HEAD, "--port", "8786", "--no-dashboard")
        begun(stack, head, log, *dask("dask_scheduler", *at))
        workers = [
            begun(
                stack,
                space,
                log,
                *dask("dask_worker", f"tcp://{HEAD}:8786", "--no-nanny", "--nthreads", "1"),
                *("--host", address, "--no-dashboard", "--local-directory", str(tmp_path)),
            )
            for space, address in zip(hosts, HOSTS.values(), strict=True)
        ]
        script = str(Path(__file__).with_name("coordinator.py"))
        arguments = (f"tcp://{HEAD}:8786", str(folder), str(output))
        run = begun(stack, head, log, script, *arguments)
        cut = workers[1].pid
        wait(lambda: [who for who, _ in traces(folder)].count(cut) >= 2, run, log)
        ip("-n", head, "link", "set", "two", "down")
        before = traces(folder)
        time.sleep(DOWN)
        without = traces(folder)[len(before) :]
        ip("-n", head, "link", "set", "two", "up")
        assert run.wait(60) == 0, told(log)
    # While it was cut off it finished what it had begun or was sent; the other one went on.
    assert [who for who, _ in without].count(workers[0].pid) > 3
    asked = sum(pairs for _, pairs in traces(folder))
    alone = tmp_path / "alone"
    alone.mkdir()
    here = fp.approximate(items(N), Traced(alone), **PLAIN)
    once = sum(pairs for _, pairs in traces(alone))
    found = np.load(output)
    # In flight on the line that was cut: one trip that was made, and one that waited for its turn.
    # On a machine with much else to do others may be late as well, and are sent again, too.
    again = int(found["sent"]) - once
    assert again >= 500
    assert once <= asked <= once + max(again, 2 * 500)
    np.testing.assert_array_equal(found["dense"], here.to_dense())
    assert int(found["evaluations"]) == here.evaluations


def wait(ready, run, log):
    deadline = time.monotonic() + 60
    while not ready():
        assert run.poll() is None, told(log)
        assert time.monotonic() < deadline, told(log)
        time.sleep(0.01)


def told(log):
    log.seek(0)
    return log.read()[-3000:]
