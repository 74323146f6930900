"""Progress: a run that is over is shown as over."""

from __future__ import annotations

import io
import re
import sys
from contextlib import suppress

import numpy as np
import pytest
from examples import symmetric_matrix

import fewpairs as fp
from fewpairs.oracle.progress import Progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


def shown(monkeypatch, run):
    """Return the last line that a terminal would show."""
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.setenv("COLUMNS", "120")
    run()
    text = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", terminal.getvalue())
    return [line for line in re.split("[\r\n]+", text) if line.strip()][-1]


@pytest.mark.parametrize("spent", [76, 100, 130])
def test_a_bar_ends_with_nothing_left(monkeypatch, spent):
    def run():
        with Progress(100, True) as progress:
            for done in range(0, spent + 1, 38 if spent == 76 else 10):
                progress.update(done)

    line = shown(monkeypatch, run)
    assert f"{spent} of {spent}" in line
    assert "left 0:00:00" in line


def test_a_bar_of_a_run_that_failed_does_not_claim_to_be_done(monkeypatch):
    def run():
        with suppress(ZeroDivisionError), Progress(100, True) as progress:
            progress.update(76)
            raise ZeroDivisionError

    assert "76 of 100" in shown(monkeypatch, run)


def test_the_last_report_of_a_run_is_that_it_is_over():
    reports = []
    fp.approximate(
        range(200),
        fp.Precomputed(np.round(symmetric_matrix(200))),
        target_error=0.5,
        random_state=0,
        progress=lambda done, planned: reports.append((done, planned)),
    )
    assert reports[-1][0] == reports[-1][1]
