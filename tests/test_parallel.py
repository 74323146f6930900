"""How many threads a run may have."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from fewpairs.parallel import count_jobs


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="needs an affinity to set")
def test_all_cores_are_those_that_the_process_may_use():
    code = (
        "import os; from fewpairs.parallel import count_jobs;"
        "os.sched_setaffinity(0, {min(os.sched_getaffinity(0))}); print(count_jobs(-1))"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "1"


def test_negative_numbers_leave_cores_to_others():
    assert count_jobs(-1) >= 1
    assert count_jobs(-1000) == 1
    assert count_jobs(None) == 1
    assert count_jobs(3) == 3
