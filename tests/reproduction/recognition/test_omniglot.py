"""One-shot classification of handwritten characters."""

import shutil
from dataclasses import replace
from zipfile import ZipFile

import numpy as np
import pytest
from PIL import Image
from skimage.draw import line

from radoncdt import reproduction
from radoncdt.reproduction import runner
from radoncdt.reproduction.recognition import omniglot
from radoncdt.reproduction.recognition.omniglot import (
    ONE_SHOT_METHODS,
    Archive,
    OneShotTask,
    draw_tasks,
    measure_one_shot,
    read_runs,
)
from radoncdt.reproduction.recognition.tables import ONE_SHOT_LABELS

SIDE = 60
PEOPLE = ("01", "02", "03")


def draw_stroke(canvas, start, end):
    rows, columns = line(*start, *end)
    for down in range(2):
        canvas[rows + down, columns] = 0


def draw_character(number, person):
    """Draw a character of four strokes, black on white, with corners that differ a little between people."""
    corners = np.random.default_rng(number).integers(8, SIDE - 8, (5, 2))
    corners = corners + np.random.default_rng([number, int(person)]).integers(-1, 2, (5, 2))
    canvas = np.full((SIDE, SIDE), 255, np.uint8)
    for start, end in zip(corners[:-1].tolist(), corners[1:].tolist()):
        draw_stroke(canvas, start, end)
    return canvas


def save(path, pixels):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(pixels).convert("1").save(path)


def zip_folder(folder, path, extra=()):
    with ZipFile(path, "w") as archive:
        for file in sorted(folder.rglob("*")):
            archive.write(file, file.relative_to(folder).as_posix() + "/" * file.is_dir())
        for name in extra:
            archive.writestr(name, b"")
    return path


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Return a folder laid out as the official one, with two runs of five characters."""
    folder = tmp_path_factory.mktemp("all_runs")
    for run in (1, 2):
        order = np.random.default_rng(run).permutation(5)
        lines = []
        for item, k in enumerate(order):
            save(folder / f"run{run:02}" / "training" / f"class{k + 1:02}.png", draw_character(10 * run + k, "01"))
            save(folder / f"run{run:02}" / "test" / f"item{item + 1:02}.png", draw_character(10 * run + k, "02"))
            lines.append(f"run{run:02}/test/item{item + 1:02}.png run{run:02}/training/class{k + 1:02}.png\n")
        (folder / f"run{run:02}" / "class_labels.txt").write_text("".join(lines), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def background(tmp_path_factory):
    """Return two zip files of background images: an alphabet of 22 characters, one of 21, and a small one."""
    paths = []
    for k, alphabets in ((1, {"Greek": 22, "Small": 3}), (2, {"Latin": 21})):
        folder = tmp_path_factory.mktemp(f"background{k}")
        for alphabet, n in alphabets.items():
            for character in range(n):
                for person in PEOPLE:
                    place = folder / f"images_background_small{k}" / alphabet / f"character{character + 1:02}"
                    save(place / f"{100 * k + character:04}_{person}.png", draw_character(1000 * k + character, person))
        paths.append(zip_folder(folder, folder.with_suffix(".zip")))
    return paths


def assert_equal_tasks(found, expected):
    assert [task.name for task in found] == [task.name for task in expected]
    for one, other in zip(found, expected):
        np.testing.assert_array_equal(one.training, other.training)
        np.testing.assert_array_equal(one.test, other.test)
        np.testing.assert_array_equal(one.answers, other.answers)


def test_official_runs_are_read_from_folders_and_zip_files(runs, tmp_path):
    tasks = read_runs(runs)
    assert [task.name for task in tasks] == ["run01", "run02"]
    for number, task in enumerate(tasks, 1):
        assert len(task.training) == len(task.test) == 5
        np.testing.assert_array_equal(task.answers, np.random.default_rng(number).permutation(5))
        for k, image in enumerate(task.training):
            np.testing.assert_array_equal(image, draw_character(10 * number + k, "01") == 0)
        for image, k in zip(task.test, task.answers):
            np.testing.assert_array_equal(image, draw_character(10 * number + k, "02") == 0)
    extra = ["__MACOSX/run01/class_labels.txt", "run01/.DS_Store"]
    assert_equal_tasks(read_runs(zip_folder(runs, tmp_path / "all_runs.zip", extra)), tasks)


def test_the_runs_may_be_in_a_folder(runs, tmp_path):
    shutil.copytree(runs, tmp_path / "deep" / "all_runs")
    assert_equal_tasks(read_runs(zip_folder(tmp_path / "deep", tmp_path / "other.zip")), read_runs(runs))


def test_tasks_are_drawn_from_alphabets_with_enough_characters(background):
    tasks = draw_tasks(background, 12, rng=0)
    assert {task.name.split()[0] for task in tasks} == {"Greek", "Latin"}
    for task in tasks:
        alphabet, first, second = task.name.split()
        assert first != second
        assert len(task.training) == len(task.test) == 20
        np.testing.assert_array_equal(task.answers, np.arange(20))
        base, n = (1000, 22) if alphabet == "Greek" else (2000, 21)
        characters = [
            [(draw_character(base + k, person) == 0).tobytes() for k in range(n)] for person in (first, second)
        ]
        numbers = [characters[0].index((image > 0.5).tobytes()) for image in task.training]
        assert len(set(numbers)) == 20
        assert [characters[1].index((image > 0.5).tobytes()) for image in task.test] == numbers
    assert_equal_tasks(draw_tasks(background, 3, rng=0), tasks[:3])
    assert draw_tasks(background, 1, rng=1)[0].name != tasks[0].name or tasks[0].name != tasks[1].name
    (latin,) = draw_tasks(background, 1, rng=0, alphabets=["Latin"])
    assert latin.name.startswith("Latin ")


def test_methods_are_measured(background):
    tasks = draw_tasks(background, 2, rng=0)
    calls = []
    figures = {method: measure_one_shot(tasks, method, n_jobs=1) for method in ONE_SHOT_METHODS}
    measure_one_shot(tasks[:1], "registered", n_jobs=1, on_progress=lambda *call: calls.append(call))
    assert calls == [(0, 1, "registered"), (1, 1, "registered")]
    for method, found in figures.items():
        assert (found.method, found.source, found.tasks, found.threads) == (method, "background", 2, 1)
        assert found.seconds > 0
    accuracies = [figures[method].accuracy for method in ONE_SHOT_METHODS]
    assert accuracies[:3] == sorted(accuracies[:3])
    assert accuracies[0] > 0.05
    assert min(accuracies[2:]) > 0.9


def test_standard_errors_are_those_of_tasks(background, monkeypatch):
    tasks = [replace(task, answers=(task.answers + k) % 20) for k, task in enumerate(draw_tasks(background, 2, rng=0))]
    monkeypatch.setattr(omniglot, "classify_once", lambda task, method, n_jobs: np.arange(20))
    found = measure_one_shot(tasks, "any")
    assert (found.accuracy, found.error) == (0.5, pytest.approx(0.5))
    assert measure_one_shot(tasks[:1], "any").error == 0


def change_labels(runs, folder, text):
    shutil.copytree(runs, folder)
    (folder / "run02" / "class_labels.txt").write_text(text, encoding="utf-8")
    return folder


def test_incomplete_files_are_refused(runs, background, tmp_path):
    with pytest.raises(ValueError, match=r"`path` must be a folder or a zip file, got '.*none.zip', which does not"):
        read_runs(tmp_path / "none.zip")
    (tmp_path / "text.zip").write_text("text", encoding="utf-8")
    with pytest.raises(ValueError, match=r"`path` must be a folder or a zip file, got '.*text.zip'"):
        read_runs(tmp_path / "text.zip")
    with pytest.raises(ValueError, match=r"`path` must contain runs with a file class_labels.txt, got '.*\.zip'"):
        read_runs(background[0])
    with pytest.raises(ValueError, match=r"must have two paths in every line of run02/class_labels.txt, got .*three"):
        read_runs(change_labels(runs, tmp_path / "a", "one two three\n"))
    with pytest.raises(
        ValueError, match=r"must contain the images that run02/class_labels.txt names, got none at run02"
    ):
        read_runs(change_labels(runs, tmp_path / "b", "run02/test/item09.png run02/training/class01.png\n"))
    broken = change_labels(runs, tmp_path / "c", "run02/test/item01.png run02/training/class01.png\n")
    (broken / "run02" / "test" / "item01.png").write_text("not an image", encoding="utf-8")
    with pytest.raises(ValueError, match=r"must contain images, got .*, where run02/test/item01.png is none"):
        read_runs(broken)
    with pytest.raises(ValueError, match="`paths` must have an alphabet of at least 20 characters"):
        draw_tasks([runs], 1, rng=0)
    with pytest.raises(ValueError, match="`paths` must have an alphabet of at least 20 characters"):
        draw_tasks(background, 1, rng=0, alphabets=["Small"])
    with pytest.raises(ValueError, match="`alphabets` must be one of 'Greek', 'Latin', 'Small', got 'Geek'"):
        draw_tasks(background, 1, rng=0, alphabets=["Geek"])


def test_alphabets_need_two_people(tmp_path):
    for character in range(20):
        save(
            tmp_path / "Solo" / f"character{character + 1:02}" / f"{character:04}_07.png",
            draw_character(character, "1"),
        )
    with pytest.raises(ValueError, match=r"must have two people who drew all characters of Solo, got \['07'\]"):
        draw_tasks([tmp_path], 1, rng=0)


def test_wrong_methods_are_refused():
    task = OneShotTask("empty", [], [], np.arange(0))
    with pytest.raises(ValueError, match=r"`method` must be one of 'mnrcdt', .*, got 'best'"):
        measure_one_shot([task], "best")


def test_files_of_a_damaged_archive_are_named(runs, tmp_path):
    archive = Archive(zip_folder(runs, tmp_path / "runs.zip"))
    with pytest.raises(ValueError, match=r"`path` must contain run09/class_labels.txt, got"):
        list(archive.read(["run09/class_labels.txt"]))


def test_a_run_reports_the_official_tasks(runs, tmp_path):
    choice = reproduction.Choice("omniglot", data=zip_folder(runs, tmp_path / "all_runs.zip"))
    outcome = reproduction.reproduce(tmp_path / "report", choice, n_jobs=1)
    assert [each.method for each in outcome.one_shot] == list(ONE_SHOT_METHODS)
    assert {(each.source, each.tasks) for each in outcome.one_shot} == {("official", 2)}
    assert outcome.missing == 0
    report = (tmp_path / "report" / "report.md").read_text(encoding="utf-8")
    assert f"| official | 2 | {ONE_SHOT_LABELS['upright'].strip('`')} |" in report
    assert "| Omniglot | all_runs.zip |" in report
    assert (tmp_path / "report" / "omniglot.csv").exists()


def test_an_interrupted_run_continues(runs, tmp_path, monkeypatch):
    measured = []

    def measure(tasks, method, **options):
        measured.append(method)
        if len(measured) == 3:
            raise KeyboardInterrupt
        return measure_one_shot(tasks, method, **options)

    monkeypatch.setattr(runner, "measure_one_shot", measure)
    choice = reproduction.Choice("omniglot", data=runs)
    with pytest.raises(KeyboardInterrupt):
        reproduction.reproduce(tmp_path / "report", choice, n_jobs=1)
    first = reproduction.prepare(tmp_path / "report", choice, None)
    assert (first.done, first.total) == (2, 4)
    assert first.summarise().missing == 2
    outcome = reproduction.reproduce(tmp_path / "report", choice, n_jobs=1)
    assert [each.method for each in outcome.one_shot] == list(ONE_SHOT_METHODS)
    assert measured == [*ONE_SHOT_METHODS[:3], *ONE_SHOT_METHODS[2:]]
    again = reproduction.reproduce(tmp_path / "report", choice, n_jobs=1)
    assert again.one_shot == outcome.one_shot
    assert len(measured) == 5


def test_figures_depend_on_the_images(runs, tmp_path):
    changed = shutil.copytree(runs, tmp_path / "runs")
    choice = reproduction.Choice("omniglot", data=changed)
    reproduction.reproduce(tmp_path / "report", choice, n_jobs=1)
    first, second = (changed / "run01" / "training" / f"class{k:02}.png" for k in (1, 2))
    first.write_bytes(second.read_bytes())
    assert reproduction.prepare(tmp_path / "report", choice, None).done == 0


def test_a_run_draws_tasks_if_there_are_no_official_ones(background, tmp_path, monkeypatch):
    monkeypatch.setattr(omniglot, "_N_BACKGROUND", 2)
    choice = reproduction.Choice("omniglot", data=background)
    outcome = reproduction.reproduce(tmp_path / "report", choice, n_jobs=1)
    assert {(each.source, each.tasks) for each in outcome.one_shot} == {("background", 2)}
    with pytest.raises(ValueError, match=r"`data` must be .*, got 'nowhere\.zip', which does not exist"):
        reproduction.reproduce(tmp_path / "other", reproduction.Choice("omniglot", data="nowhere.zip"))
