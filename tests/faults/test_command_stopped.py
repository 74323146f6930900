"""A command that ends early: nothing that was paid for is lost, and the result is the same."""

from __future__ import annotations

import signal
import subprocess
import sys

import numpy as np
import pytest
from faulty import small_files
from typer.testing import CliRunner

import fewpairs as fp
from fewpairs.cli.app import app
from fewpairs.cli.messages import told
from fewpairs.errors import InputError
from fewpairs.similarities import named

NAMES = [f"{a} {b}" for a in ("Anna", "Bob", "Cleo") for b in ("Smith", "Jones", "Li", "Poe")]


class Fragile:
    """A string similarity of each kind, stopped by Ctrl-C or a fault at one of its calls."""

    def __init__(self, kind, symmetric):
        self.kind, self.symmetric = kind, symmetric
        self.pairs, self.calls, self.stop_at = [], 0, None
        self.fault = KeyboardInterrupt

    def one(self, a, b):
        self.pairs.append((a, b))
        if self.symmetric:
            a, b = sorted((a, b))
        return len(set(a) & set(b)) / len(set(a)) + 0.1 * len(b)

    def similarity(self, *_args, **_options):
        def called(function):
            def call(*arguments):
                self.calls += 1
                if self.calls == self.stop_at:
                    raise self.fault()
                return function(*arguments)

            return call

        functions = {
            "pair": self.one,
            "pairs": lambda pairs: [self.one(a, b) for a, b in pairs],
            "block": lambda left, right: [[self.one(a, b) for b in right] for a in left],
        }
        return fp.similarity(
            called(functions[self.kind]),
            kind=self.kind,
            symmetric=self.symmetric,
            block_size=8,
            name="fragile",
        )


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "names.txt").write_text("\n".join(NAMES), encoding="utf-8")
    (tmp_path / "others.txt").write_text("\n".join(NAMES[:9:2]), encoding="utf-8")
    return tmp_path


@pytest.fixture
def fragile(monkeypatch):
    def make(kind="pair", symmetric=True):
        found = Fragile(kind, symmetric)
        family = named.Family(("fragile",), lambda _: (), found.similarity)
        monkeypatch.setattr(named, "FAMILIES", [family, *named.FAMILIES])
        return found

    return make


def command(output, *options):
    arguments = ["approximate", "names.txt", "-o", output, "--similarity", "fragile", *options]
    return CliRunner().invoke(app, arguments)


ONE = ("--landmarks", "4")
TWO = ("--landmarks", "3", "--others", "others.txt")
TARGET = ("--target-error", "0.05")


@pytest.mark.parametrize(
    ("kind", "symmetric", "options"),
    [
        ("pair", True, ONE),
        ("pair", False, TARGET),
        ("pairs", True, TWO),
        ("pairs", False, (*ONE, "--method", "sicur", "--error-pairs", "0")),
        ("block", True, TARGET),
        ("block", False, ONE),
    ],
)
@pytest.mark.filterwarnings("ignore::fewpairs.errors.FewpairsWarning")
def test_the_same_command_goes_on_and_gives_the_same_file(
    folder, fragile, kind, symmetric, options
):
    watched = fragile(kind, symmetric)
    assert command("whole", *options).exit_code == 0
    calls, evaluations = watched.calls, len(watched.pairs)
    whole = (folder / "whole").read_bytes()
    for stop_at in range(1, calls + 1, 1 + calls // 5):
        watched.pairs.clear()
        watched.calls, watched.stop_at = 0, stop_at
        stopped = command("part", *options)
        assert stopped.exit_code == 130
        assert not (folder / "part").exists()
        went_on = command("part", *options)
        assert went_on.exit_code == 0, went_on.output
        assert (folder / "part").read_bytes() == whole
        assert not (folder / "part.partial").exists()
        # A call that was stopped is made again, and nothing else.
        assert len(watched.pairs) <= evaluations + 8
        if kind == "pair":
            assert len(watched.pairs) == evaluations
        (folder / "part").unlink()


def test_a_run_can_be_stopped_again_and_again(folder, fragile):
    watched = fragile()
    command("whole", "--landmarks", "4")
    evaluations = len(watched.pairs)
    watched.pairs.clear()
    for _ in range(evaluations // 10):
        watched.stop_at = watched.calls + 11
        stopped = command("part", "--landmarks", "4")
        assert stopped.exit_code == 130
        assert "The same command goes on from there" in stopped.output
    watched.stop_at = None
    assert "going on with" in command("part", "--landmarks", "4").output
    assert len(watched.pairs) == evaluations
    assert (folder / "part").read_bytes() == (folder / "whole").read_bytes()


def test_evaluations_of_other_items_are_refused_and_kept(folder, fragile):
    watched = fragile()
    watched.stop_at = 30
    command("part", "--landmarks", "4")
    held = (folder / "part.partial").read_bytes()
    (folder / "names.txt").write_text("\n".join([*NAMES[1:], "Zoe"]), encoding="utf-8")
    refused = command("part", "--landmarks", "4")
    assert isinstance(refused.exception, InputError)
    assert "other items" in str(refused.exception)
    assert (folder / "part.partial").read_bytes() == held


def test_stopped_before_the_first_answer_there_is_nothing_to_keep(folder, fragile):
    watched = fragile("block")
    watched.stop_at = 1
    assert "nothing to keep" in command("part", "--landmarks", "4").output
    assert sorted(p.name for p in folder.iterdir()) == ["names.txt", "others.txt"]


def test_a_damaged_file_of_evaluations_is_refused(folder, fragile):
    watched = fragile()
    watched.stop_at = 30
    command("part", "--landmarks", "4")
    content = bytearray((folder / "part.partial").read_bytes())
    content[-5] ^= 1
    (folder / "part.partial").write_bytes(content)
    refused = command("part", "--landmarks", "4")
    assert isinstance(refused.exception, fp.errors.FileFormatError)
    assert "Delete it to begin anew" in str(refused.exception)
    (folder / "part.partial").write_bytes(b"")
    assert "Delete it to begin anew" in str(command("part", "--landmarks", "4").exception)
    assert not (folder / "part").exists()


def test_a_fault_of_the_similarity_keeps_what_was_evaluated(folder, fragile):
    watched = fragile()
    command("whole", *ONE)
    evaluations = len(watched.pairs)
    watched.pairs.clear()
    watched.calls, watched.stop_at, watched.fault = 0, 30, ZeroDivisionError
    failed = command("part", *ONE)
    assert isinstance(failed.exception, fp.errors.SimilarityError)
    assert "kept in part.partial" in told(failed.exception)
    assert "going on with" in command("part", *ONE).output
    assert len(watched.pairs) == evaluations
    assert (folder / "part").read_bytes() == (folder / "whole").read_bytes()


def test_an_output_that_cannot_be_saved_leaves_what_was_evaluated(folder, fragile):
    long = [f"{name} {'x' * 9000}" for name in NAMES]  # the output holds the items as well
    (folder / "names.txt").write_text("\n".join(long), encoding="utf-8")
    watched = fragile()
    with small_files(50_000):
        failed = command("part", *ONE)
    assert isinstance(failed.exception, fp.errors.UnwritableError)
    message = told(failed.exception)
    assert "kept in part.partial" in message
    assert "in memory" not in message
    watched.pairs.clear()
    assert command("part", *ONE).exit_code == 0
    assert not watched.pairs


def test_evaluations_that_cannot_be_kept_are_said_to_be_lost(folder, fragile):
    watched = fragile()
    with small_files(100):
        failed = command("part", *ONE)
    assert "lost" in told(failed.exception)
    assert "in memory" not in told(failed.exception)
    watched.calls, watched.stop_at = 0, 30
    with small_files(100):
        stopped = command("part", *ONE)
    assert stopped.exit_code == 130
    assert "lost" in stopped.output
    assert not list(folder.glob("*part*"))


def test_input_that_is_refused_leaves_nothing(folder, fragile):
    fragile()
    refused = command("part", "--budget", "1")
    assert "evaluations;" not in told(refused.exception)
    assert not list(folder.glob("*part*"))


def test_signals_that_somebody_has_other_plans_for_are_left_alone(folder, fragile):
    watched = fragile()
    watched.stop_at = 30

    def ignored():  # as nohup has it
        signal.raise_signal(signal.SIGHUP)
        return ZeroDivisionError("after it")

    watched.fault = ignored
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        failed = command("part", *ONE)
        assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)
    assert "after it" in str(failed.exception)


@pytest.mark.parametrize(
    ("name", "again", "place"),
    [
        ("SIGINT", 0, "kept in out.partial"),
        ("SIGTERM", 1, "kept in out.partial"),
        ("SIGHUP", 0, "they are in paid"),
    ],
)
def test_a_real_signal(folder, name, again, place):
    code = """
import os, signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # jobs in the background ignore it
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # and those of nohup this one
from fewpairs.similarities.strings import StringSimilarity
plain, calls = StringSimilarity.block, []
def block(self, left, right):
    calls.append(1)
    if len(calls) == 2:
        os.kill(os.getpid(), signal.NAME)
    return plain(self, left, right)
StringSimilarity.block = block
from fewpairs.oracle import keeping
keep = keeping.keep
def impatient(*args):  # a second one comes while evaluations are kept
    for _ in range(AGAIN):
        os.kill(os.getpid(), signal.NAME)
    return keep(*args)
keeping.keep = impatient
from fewpairs.cli import main
main()
"""
    (folder / "many.txt").write_text("\n".join(f"name {i * i}" for i in range(2500)))
    arguments = ["approximate", "many.txt", "--landmarks", "40", "-o", "out"]
    arguments += ["--journal", "paid"] if "paid" in place else []
    done = subprocess.run(
        [sys.executable, "-c", code.replace("NAME", name).replace("AGAIN", f"{again}"), *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 128 + getattr(signal, name), done.stderr
    assert "Traceback" not in done.stderr
    assert place in done.stderr
    assert CliRunner().invoke(app, arguments).exit_code == 0
    first = fp.load("out").to_dense()
    CliRunner().invoke(app, arguments)
    np.testing.assert_array_equal(fp.load("out").to_dense(), first)
