"""What a run takes on many workers, before it is started."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

import fewpairs as fp
from fewpairs.cli.app import app
from fewpairs.cli.on_cluster import OnCluster
from fewpairs.errors import InputError
from fewpairs.oracle.oracle import Oracle

ALIKE = fp.similarity(lambda a, b: float(a == b), kind="pair", symmetric=True)


def test_evaluations_are_those_of_the_plan():
    n, s = 3000, 50
    planned = fp.plan(range(n), ALIKE, landmarks=s, timed=False)
    there = fp.plan_cluster(n, workers=4, seconds_per_pair=0.001, landmarks=s)
    # Beside these, a few pairs are asked for in both orders.
    assert planned.evaluations - 8 <= there.evaluations <= planned.evaluations
    given = fp.plan_cluster(n, workers=4, seconds_per_pair=0.001, landmarks=s, memory=0.0)
    assert there.coordinator_memory - given.coordinator_memory == planned.memory


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


@pytest.fixture
def texts(tmp_path):
    path = tmp_path / "texts.txt"
    path.write_text("\n".join(f"text number {k * k}" for k in range(300)), encoding="utf-8")
    return path


@pytest.mark.parametrize("option", ["--seconds-per-pair", "--price-per-hour"])
def test_what_workers_take_is_refused_without_workers_also_where_it_is_nothing(texts, option):
    ended = CliRunner().invoke(app, ["plan", str(texts), "--landmarks", "20", option, "0"])
    assert "without --workers" in str(ended.exception)


def test_the_items_of_both_files_are_computed_with(texts):
    command = ["plan", str(texts), "--others", str(texts), "--landmarks", "20", "--json"]
    command += ["--workers", "4", "--seconds-per-pair", "0.004"]
    ended = CliRunner().invoke(app, command, catch_exceptions=False)
    both = fp.plan_cluster(600, workers=4, seconds_per_pair=0.004, landmarks=20)
    assert json.loads(ended.output)["cluster"]["computing"] == both.computing


def test_workers_need_the_time_of_a_pair_and_a_command_buys_none_unasked(
    tmp_path, texts, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    own = "def alike(a, b):\n    print('asked')\n    return float(a == b)\n"
    (tmp_path / "counts_calls.py").write_text(own, encoding="utf-8")
    command = ["plan", str(texts), "--landmarks", "5", "--similarity", "counts_calls:alike"]
    plain = CliRunner().invoke(app, command, catch_exceptions=False)
    assert "asked" not in plain.output
    assert "nothing was evaluated; --timed makes up to 903 evaluations" in plain.output
    refused = CliRunner().invoke(app, [*command, "--workers", "4"])
    assert "--seconds-per-pair 0.004, or --timed" in str(refused.exception)
    assert "asked" not in refused.output
    told = CliRunner().invoke(app, [*command, "--workers", "4", "--seconds-per-pair", "1"])
    assert "wall time" in told.output
    assert "nothing was evaluated" not in told.output
    timed = CliRunner().invoke(app, [*command, "--workers", "4", "--timed"])
    assert "wall time" in timed.output
    assert "asked" in timed.output


def test_a_pair_takes_a_worker_what_it_has_taken_each_thread_here():
    timed = SimpleNamespace(
        n_items=3, n_others=None, n_landmarks=2, evaluations=4, seconds=8.0, memory=0.0
    )
    there = OnCluster(workers=5).plan(timed, Oracle(["a", "b", "c"], ALIKE, n_jobs=2))
    assert there.evaluating == 4 * (8.0 * 2 / 4) / 5


def test_memory_is_what_is_held_at_the_peak():
    def there(**more):
        return fp.plan_cluster(1000, workers=4, seconds_per_pair=0.01, landmarks=20, **more)

    plain = there()
    in_a_trip = 30  # pairs of 0.01 s in the 0.3 s that make a trip worth it
    items, held = 1000 * 200.0, 4 * 4 * in_a_trip * 8
    assert plain.coordinator_memory > 8 * 1000 * 20 + items + held
    assert there(memory=10**9).coordinator_memory == pytest.approx(10**9 + items + held)
    assert plain.worker_memory == items + 2 * in_a_trip * 8
    assert there(model_bytes=5e8).worker_memory == plain.worker_memory + 5e8


def test_what_travels_is_a_number_for_each_pair_and_positions_of_short_rows():
    one, many = (
        fp.plan_cluster(10**5, landmarks=s, workers=4, seconds_per_pair=1e-3, item_bytes=0)
        for s in (1, 300)
    )
    assert one.traffic == 8 * one.evaluations * 2  # a column: each row's position beside its number
    # Blocks are not as wide as all landmarks, so that positions do not become free with many.
    assert many.traffic == pytest.approx(8 * many.evaluations * 9 / 8)
