"""A Dask cluster that reads images for a catalogue."""

import os
import signal

import pytest
from marks import content, save_marks

from radoncdt import cli
from radoncdt.catalogue import Catalogue, importer

da = pytest.importorskip("dask.array")


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
