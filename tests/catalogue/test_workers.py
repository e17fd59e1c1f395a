"""Workers that read images: processes that crash, and a Dask cluster."""

import os
import signal

import pytest
from marks import content, save_marks

from radoncdt import cli
from radoncdt.catalogue import Catalogue, workers
from radoncdt.catalogue import catalogue as catalogue_module
from radoncdt.catalogue.records import Failure
from radoncdt.catalogue.store import DESCRIPTOR_SETTINGS
from radoncdt.catalogue.workers import Processes, Task
from radoncdt.ink import InkOptions


class Deadly(str):
    """A name that ends the process that is given it."""

    def __reduce__(self):
        return os._exit, (9,)


def examined(folder, names, deadly, chunk):
    """Files whose reading ends a process, among others, given to processes some at a time."""
    chosen = [Deadly(name) if k in deadly else name for k, name in enumerate(names)]
    parts = [chosen[k : k + chunk] for k in range(0, len(chosen), chunk)]
    tasks = [Task(tuple((name, "hash") for name in part), InkOptions(), DESCRIPTOR_SETTINGS, folder) for part in parts]
    return [result for results in Processes(2).read(tasks) for result in results]


@pytest.mark.parametrize(("chunk", "deadly"), [(1, [5]), (8, [0, 9, 10, 23])])
def test_images_that_end_a_process_are_refused_and_the_rest_goes_on(many, chunk, deadly):
    files = sorted((many / "marks").glob("0*.png"))
    results = examined(many, [str(file) for file in files], deadly, chunk)
    assert [result.file for result in results] == [f"marks/{file.name}" for file in files]
    assert [k for k, result in enumerate(results) if isinstance(result, Failure)] == deadly
    assert results[deadly[0]].reason == "reading it crashed the process, most likely because memory ran out"


def test_processes_that_always_end_are_given_up(many):
    names = [str(file) for file in sorted((many / "marks").glob("0*.png"))]
    with pytest.raises(MemoryError, match="crashed repeatedly, most likely because memory ran out"):
        examined(many, names, range(24), 8)


@pytest.fixture(scope="module")
def cluster():
    """A cluster of two worker processes."""
    distributed = pytest.importorskip("distributed")

    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
    ) as cluster:
        yield cluster


@pytest.mark.filterwarnings("ignore")
def test_a_cluster_makes_the_same_catalogue(cluster, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    save_marks("marks", 12)
    monkeypatch.setattr(workers, "DASK_TASK_SIZE", 3)
    address = cluster.scheduler_address
    arguments = ["catalogue", "add", "cluster.db", "marks", "--metadata", "marks.csv", "--dask", address]
    assert cli.main(arguments) == 0
    assert "12 added, 0 already present, 0 refused" in capsys.readouterr().out
    with Catalogue("alone.db", create=True) as catalogue:
        catalogue.add("marks", metadata="marks.csv")

    assert content("cluster.db") == content("alone.db")


@pytest.mark.filterwarnings("ignore")
def test_chunks_of_a_worker_that_dies_are_read_by_another(cluster, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    save_marks("marks", 9)
    cluster_workers = workers.Dask(cluster.scheduler_address)
    victim = cluster_workers.client.submit(os.getpid, pure=False).result()
    submit, submitted = cluster_workers.client.submit, []

    def kill_after_the_second(*arguments, **options):
        future = submit(*arguments, **options)
        submitted.append(future)
        if len(submitted) == 2:
            os.kill(victim, signal.SIGKILL)
        return future

    monkeypatch.setattr(cluster_workers.client, "submit", kill_after_the_second)
    monkeypatch.setattr(catalogue_module, "choose_workers", lambda *_: cluster_workers)
    monkeypatch.setattr(cluster_workers, "task_size", 1)
    with Catalogue("m.db", create=True) as catalogue:
        assert catalogue.add("marks").added == 9
        assert catalogue.check() == []


def test_a_cluster_that_is_not_there_is_refused(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    save_marks("marks", 1)
    monkeypatch.setattr(workers, "DASK_TIMEOUT", "1s")
    assert cli.main(["catalogue", "add", "m.db", "marks", "--dask", "tcp://127.0.0.1:9"]) == 2
    assert "there is no Dask scheduler at tcp://127.0.0.1:9" in capsys.readouterr().err
