"""The parts of the comparison with other libraries."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import radoncdt
from benchmarks import compare
from benchmarks.comparison import invariance, speed, stages
from benchmarks.images import dense, drawing
from benchmarks.peers import Form, Peer, load_peers

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("draw", [dense, drawing])
def test_the_bound_computes_the_sums_of_our_projection(draw):
    """For a direction along the rows, the sums of the plain loop are the masses of our strips."""
    image, angle = draw(32).astype(np.float64), 0.3
    stream, sums = stages.call_stream(image, stages.Directions([angle]))
    stream()
    masses, _ = radoncdt.radon(image, angles=[angle])
    some, other = (np.trim_zeros(x[0]) for x in (sums, masses))
    assert_allclose(some, other, atol=1e-12)


@pytest.mark.parametrize("draw", [dense, drawing])
def test_stages_end_in_our_rcdt(draw):
    image = draw(48)
    levels = radoncdt.quantile_levels(16)
    directions = stages.Directions.choose(12, None)
    out = np.empty((12, 16))
    stages.call_up_to(2, image, directions, levels, out)()
    features = radoncdt.rcdt(image, n_angles=12, n_levels=16)
    widths = directions.widths[:, None]
    assert_allclose(np.diff(out * widths), np.diff(features), atol=1e-9)  # up to the position of the first strip


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_the_memory_of_a_library_is_measured():
    command = [sys.executable, "-m", "benchmarks.memory_of_peer", "POT", "tuned", "dense", "128", "32"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    assert 8 * 128**2 * 32 / 1e6 < float(done.stdout) < 100  # at least the positions of all pixels in all directions


@pytest.mark.parametrize("part", ["speed", "memory", "accuracy", "invariance", "recognition"])
def test_parts_measure_every_form(monkeypatch, part):
    few = [speed.Case("drawing", 32, 4), speed.Case("dense", 32, 4, what="projections")]
    monkeypatch.setattr(speed, "list_cases", lambda quick: few)
    monkeypatch.setattr(invariance, "SIDE", 64)
    monkeypatch.setattr(invariance, "N_ANGLES", 4)
    pot = next(peer for peer in load_peers() if peer.name == "POT")
    broken = Peer("broken", "broken", {"tuned": Form(*(lambda *_: 1 / 0,) * 4)}, None)
    records = list(compare.PARTS[part]([pot, broken], True))
    for record in records:
        figures = [value for value in record.values() if isinstance(value, float)]
        if record["peer"] == "POT" and record.get("what") != "projections":
            assert figures
            assert np.isfinite(figures).all()
        else:
            assert not figures
            assert record["left_out"]
    both = {("POT", "as shipped"), ("POT", "tuned"), ("broken", "tuned")}
    assert {(record["peer"], record["form"]) for record in records} == both
