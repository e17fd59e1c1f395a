"""Dask: lazy arrays, and a cluster that reads images."""

import os
import signal

import numpy as np
import pytest
from marks import content, save_marks
from numpy.testing import assert_array_equal

import radoncdt
from radoncdt import cli
from radoncdt.catalogue import Catalogue, importer

da = pytest.importorskip("dask.array")

IMAGES = np.random.default_rng(0).random((6, 2, 9, 11))


@pytest.mark.parametrize("name", ["rcdt", "nrcdt", "max_nrcdt", "mean_nrcdt", "pooled_nrcdt"])
@pytest.mark.parametrize("chunks", [(2, 1, 9, 11), (6, 2, 4, 5), (1, 2, 9, 3)])
def test_dask_arrays_give_the_same_lazily(name, chunks):
    transform = getattr(radoncdt, name)
    options = {"n_angles": 6, "n_levels": 8} | ({"pool": "median"} if name == "pooled_nrcdt" else {})
    if name in ("mean_nrcdt", "pooled_nrcdt"):
        options["directions"] = "whitened"
    lazy = transform(da.from_array(IMAGES, chunks=chunks), **options)
    expected = transform(IMAGES, **options)
    assert isinstance(lazy, da.Array)
    assert lazy.shape == expected.shape
    assert lazy.dtype == expected.dtype
    assert_array_equal(lazy.compute(), expected)


def test_nothing_is_computed_before_it_is_asked_for():
    def fail(_):
        raise AssertionError

    images = da.from_array(IMAGES[:, 0], chunks=(1, 9, 11)).map_blocks(fail, dtype=float, meta=np.empty((0, 0, 0)))
    lazy = radoncdt.rcdt(images, n_angles=4)
    assert lazy.shape == (6, 4, 64)
    with pytest.raises(AssertionError):
        lazy.compute()


def test_a_single_image_and_keywords_work():
    image = da.from_array(IMAGES[0, 0], chunks=4)
    assert_array_equal(radoncdt.nrcdt(images=image, n_angles=4).compute(), radoncdt.nrcdt(IMAGES[0, 0], n_angles=4))


def test_wrong_options_are_refused_at_once():
    images = da.from_array(IMAGES, chunks=2)
    with pytest.raises(ValueError, match="`n_angles` must be at least 1"):
        radoncdt.rcdt(images, n_angles=0)
    with pytest.raises(ValueError, match=r"`images` must have shape \(H, W\)"):
        radoncdt.rcdt(da.ones(3))
    with pytest.raises(TypeError, match="positional"):
        radoncdt.rcdt(images, 8)
    with pytest.raises(ValueError, match="`images` must have a known height and width"):
        radoncdt.rcdt(images[0, 0][images[0, 0, :, 0] > 0.5])
    with pytest.raises(TypeError, match="`images` must hold"):
        radoncdt.rcdt(images.astype(complex))


# ---------------------------------------------------------------- a cluster


@pytest.fixture(scope="module")
def cluster():
    """Two workers, processes of their own."""
    from distributed import LocalCluster

    with LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
    ) as cluster:
        yield cluster


@pytest.mark.filterwarnings("ignore")
def test_a_cluster_makes_the_same_catalogue(cluster, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    save_marks("marks", 12)
    monkeypatch.setattr(importer, "CHUNK", 3)
    address = cluster.scheduler_address
    arguments = ["catalogue", "add", "cluster.db", "marks", "--metadata", "marks.csv", "--dask", address]
    assert cli.main(arguments) == 0
    assert "12 added, 0 there already, 0 refused" in capsys.readouterr().out
    with Catalogue("alone.db", create=True) as catalogue:
        catalogue.add("marks", metadata="marks.csv")

    assert content("cluster.db") == content("alone.db")


@pytest.mark.filterwarnings("ignore")
def test_chunks_of_a_worker_that_dies_are_read_by_another(cluster, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    save_marks("marks", 9)
    workers = importer.Dask(cluster.scheduler_address)
    victim = workers.client.submit(os.getpid, pure=False).result()
    submit, submitted = workers.client.submit, []

    def kill_after_the_second(*arguments, **options):
        future = submit(*arguments, **options)
        submitted.append(future)
        if len(submitted) == 2:
            os.kill(victim, signal.SIGKILL)
        return future

    monkeypatch.setattr(workers.client, "submit", kill_after_the_second)
    monkeypatch.setattr(importer, "workers_for", lambda *_: workers)
    from radoncdt.catalogue import catalogue as module

    monkeypatch.setattr(module, "workers_for", lambda *_: workers)
    monkeypatch.setattr(workers, "chunk", 1)
    with Catalogue("m.db", create=True) as catalogue:
        assert catalogue.add("marks").added == 9
        assert catalogue.check() == []


def test_a_cluster_that_is_not_there_is_refused(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    save_marks("marks", 1)
    monkeypatch.setattr(importer, "PATIENCE", "1s")
    with pytest.raises(SystemExit):
        cli.main(["catalogue", "add", "m.db", "marks", "--dask", "tcp://127.0.0.1:9"])
    assert "there is no Dask scheduler at tcp://127.0.0.1:9" in capsys.readouterr().err
