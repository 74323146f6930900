"""What a run takes on many workers, before it is started."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

import fewpairs as fp
from fewpairs.cli.app import app
from fewpairs.errors import InputError


def test_evaluations_are_those_of_the_plan():
    import numpy as np

    n, s = 3000, 50
    planned = fp.plan(np.zeros((n, 2)), "rbf", landmarks=s, method="nystrom", timed=False)
    there = fp.plan_cluster(n, workers=4, seconds_per_pair=0.001, landmarks=s)
    assert there.evaluations == pytest.approx(planned.evaluations, rel=0.01)


def test_twice_the_workers_take_half_the_time_and_the_same_money():
    few, many = (
        fp.plan_cluster(10**5, workers=w, seconds_per_pair=0.01, price_per_hour=1.0)
        for w in (8, 16)
    )
    assert few.evaluating == 2 * many.evaluating == few.evaluations * 0.01 / 8
    assert many.price == pytest.approx(few.price, rel=0.02)
    assert few.price == pytest.approx(8 * few.seconds / 3600)


def test_time_is_that_of_whoever_is_slower():
    quick = fp.plan_cluster(10**6, workers=1000, seconds_per_pair=1e-7)
    assert quick.moving > quick.evaluating
    assert quick.seconds > quick.moving
    assert "waiting for the coordinator" in str(quick)
    paced = fp.plan_cluster(1000, workers=50, seconds_per_pair=0.1, per_second=10)
    assert paced.evaluating == paced.evaluations / 10


def test_items_are_held_by_each_process_once():
    alone, shared = (
        fp.plan_cluster(
            10**6, workers=64, seconds_per_pair=1.0, threads_per_process=t, item_bytes=1000
        )
        for t in (1, 16)
    )
    assert alone.traffic - shared.traffic == 60 * 10**9
    assert shared.worker_memory >= 10**9


@pytest.mark.parametrize(
    "wrong",
    [
        {"workers": 0},
        {"seconds_per_pair": -1.0},
        {"landmarks": 1.5},
        {"price_per_hour": -3.0},
        {"price_per_hour": float("nan")},
    ],
)
def test_what_is_no_number_is_refused(wrong):
    with pytest.raises(InputError, match=next(iter(wrong))):
        fp.plan_cluster(100, **({"workers": 2, "seconds_per_pair": 1.0} | wrong))


def test_the_command_adds_it_to_the_plan(tmp_path):
    texts = tmp_path / "texts.txt"
    texts.write_text("\n".join(f"text number {k * k}" for k in range(300)), encoding="utf-8")
    beside = ["--workers", "16", "--seconds-per-pair", "0.004", "--price-per-hour", "0.5"]
    command = ["plan", str(texts), "--landmarks", "20", *beside]
    ended = CliRunner().invoke(app, command, catch_exceptions=False)
    assert "16 workers: " in ended.output
    assert "money" in ended.output
    evaluations = (
        ended.output.split("evaluations")[1].split("(")[0].strip().removeprefix("at most ")
    )
    assert f"16 workers: {evaluations} evaluations" in ended.output
    timed = CliRunner().invoke(app, command[:-4], catch_exceptions=False)
    assert "wall time" in timed.output
    alone = CliRunner().invoke(app, ["plan", str(texts), "--seconds-per-pair", "1"])
    assert isinstance(alone.exception, InputError)
