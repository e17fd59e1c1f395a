"""Choices, runs, threads, progress, resuming, interruption."""

import json
import os
import re
import shutil
import subprocess
import sys
import threading
from dataclasses import asdict, replace

import numpy as np
import pytest

from radoncdt import datasets, reproduction
from radoncdt.reproduction import protocol, runner
from radoncdt.reproduction.recognition.glyph_study import GLYPH_METHODS, GlyphStudy, measure_glyphs
from radoncdt.reproduction.store import FILE_NAME

# ---------------------------------------------------------------- choices


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"parts": ("table5",)}, "`parts` must be one of 'table1', .*, got 'table5'"),
        ({"parts": ()}, "`parts` must not be empty"),
        ({"parts": 3}, "`parts` must be a sequence, got 3"),
        ({"protocols": "fair"}, "`protocols` must be one of 'published', 'independent', 'both', got 'fair'"),
        ({"draws": 0}, "`draws` must be at least 1, got 0"),
        ({"repetitions": 0}, "`repetitions` must be at least 1, got 0"),
        ({"seed": -1}, "`seed` must be at least 0, got -1"),
        ({"angles": (0,)}, "`angles` must be at least 1, got 0"),
        ({"angles": 5}, "`angles` must be a sequence, got 5"),
        ({"angles": ()}, "`angles` must not be empty"),
        ({"angles": (4, 4)}, r"`angles` must be different numbers, got \[4, 4\]"),
        ({"sizes": (15,)}, "`sizes` must be multiples of 10, one part for each fold, got 15"),
        ({"sizes": (0,)}, "`sizes` must be at least 10, got 0"),
        ({"quick": 1}, "`quick` must be of the type bool, got 1"),
        ({"parts": "glyphs"}, "`glyphs` must be of the type GlyphStudy, got None"),
        ({"parts": "omniglot"}, "`data` must name a file or folder for the part omniglot, got none"),
    ],
)
def test_impossible_choices_are_refused(options, message):
    with pytest.raises((ValueError, TypeError), match=message):
        reproduction.Choice(**options)


def test_choices_can_be_short_or_arrays():
    choice = reproduction.Choice("table2", "published", angles=np.array([2, 4]), sizes=range(10, 30, 10))
    assert (choice.parts, choice.protocols) == (("table2",), ("published",))
    assert (choice.angles, choice.sizes) == ((2, 4), (10, 20))
    assert reproduction.Choice().parts == reproduction.Choice("all").parts == reproduction.PARTS
    assert reproduction.Choice(("table4", "table2")).parts == ("table2", "table4")


def test_robustness_is_run_on_request_only(tmp_path):
    assert "robustness" not in reproduction.PARTS
    assert reproduction.Choice("all").parts == reproduction.PARTS
    assert reproduction.Choice(("robustness", "all")).parts == (*reproduction.PARTS, "robustness")
    assert reproduction.prepare(tmp_path, reproduction.Choice("table3"), None).trials == []


@pytest.mark.parametrize(
    ("options", "n", "argument", "message"),
    [
        (
            {"parts": "table4", "sizes": (510,)},
            500,
            "sizes",
            "must be at most 500, because the source (a test) has only 500 images of one of the digits, got 510",
        ),
        ({"parts": "table2"}, 49, "mnist", "must have at least 50 images of each digit for table2, got 49 in a test"),
        ({"parts": ("table3", "figures")}, 40, "mnist", "must have at least 50 images of each digit for figures, "),
        ({"parts": "variants"}, 40, "mnist", "must have at least 50 images of each digit for variants, got 40"),
        ({"parts": "table4"}, 9, "mnist", "must have at least 10 images of each digit for table4, got 9 in a test"),
        ({"parts": "robustness"}, 500, "mnist", "must have at least 500 images of each digit for robustness, got 1 in"),
    ],
)
def test_too_few_digits_are_refused(tmp_path, make_digits, options, n, argument, message):
    with pytest.raises(ValueError, match=re.escape(message)) as caught:
        reproduction.reproduce(tmp_path / "out", reproduction.Choice(**options), mnist=make_digits(n))
    assert caught.value.argument == argument
    assert not (tmp_path / "out").exists()


def test_empty_images_of_digits_that_are_not_used_are_accepted(make_digits):
    digits = make_digits(60)
    digits.images[digits.labels == 5] = 0
    reproduction.Choice("table4").check_digits(digits)
    with pytest.raises(ValueError, match="`mnist` must have ink in every image"):
        reproduction.Choice("table2").check_digits(digits)


def test_digits_without_ink_are_refused(tmp_path, make_digits):
    digits = make_digits(60)
    digits.images[np.flatnonzero(digits.labels == 7)[3]] = 0
    with pytest.raises(ValueError, match="`mnist` must have ink in every image, got an empty one in a test"):
        reproduction.reproduce(tmp_path / "out", reproduction.Choice("table4"), mnist=digits)
    assert not (tmp_path / "out").exists()


# ---------------------------------------------------------------- runs


def test_all_cells_are_measured(report, read_records):
    folder, outcome = report
    found = read_records(folder)
    keys = "table protocol dataset feature norm classifier n_angles class_size paper_mean paper_std mean std"
    assert {*keys.split(), "std_between_draws", "draws"} <= set(found[0])
    places = {tuple(cell[key] for key in keys.split()[:8]) for cell in found}
    expected = {
        *(
            ("table2", protocol, dataset, "mnrcdt", norm, "nearest", n_angles, size)
            for protocol in ("published", "independent")
            for dataset, size in (("academic", 10), ("linmnist", 50))
            for norm in ("inf", "2")
            for n_angles in (2, 8)
        ),
        *(
            (table, protocol, dataset, feature, None, "svm", n_angles, size)
            for protocol in ("published", "independent")
            for table, dataset in (("table3", "academic"), ("table4", "linmnist"))
            for feature, n_angles in (("euclidean", None), *((f, n) for f in ("rcdt", "mnrcdt") for n in (2, 8)))
            for size in (10, 20)
        ),
    }
    assert places == expected
    assert len(found) == len(expected) == len(outcome.cells)
    assert all(cell["draws"] == 2 and 0 <= cell["mean"] <= 1 for cell in found)
    assert all((cell["ties"] is not None) == (cell["classifier"] == "svm") for cell in found)
    pixels = [cell for cell in found if (cell["table"], cell["feature"]) == ("table4", "euclidean")]
    assert all(0.05 < cell["ties"] < 0.6 and cell["mean"] > 0.4 for cell in pixels)
    assert not any(cell["ties"] for cell in found if cell["feature"] in ("rcdt", "mnrcdt"))
    assert outcome.missing == 0


def test_the_symbols_are_told_apart(report, read_records):
    for cell in read_records(report[0]):
        if cell["feature"] == "mnrcdt" and cell["dataset"] == "academic" and cell["n_angles"] == 8:
            assert cell["mean"] > 0.98


def test_the_paper_is_beside_what_it_has(report, read_records):
    for cell in read_records(report[0]):
        has = cell["class_size"] == 10 or cell["table"] != "table3"
        has &= (cell["table"], cell["n_angles"]) != ("table4", 2)  # the paper does not have two angles there
        assert (cell["paper_mean"] is not None) == (cell["difference"] is not None) == has, cell


def test_figures_do_not_depend_on_threads_or_on_other_parts(report, small, tmp_path, digits):
    folder, _ = report
    reproduction.reproduce(tmp_path, small, mnist=digits, n_jobs=3)
    for name in ("results.json", "table1.json", "variants.json"):
        assert (tmp_path / name).read_bytes() == (folder / name).read_bytes()
    alone = reproduction.Choice(parts=("table4",), protocols=("independent",), draws=1, angles=(8,), sizes=(20,))
    outcome = reproduction.reproduce(tmp_path / "alone", alone, mnist=digits, n_jobs=1)
    with (folder / FILE_NAME).open(encoding="utf-8") as file:
        runs = [json.loads(line) for line in file]
    for summary in outcome.cells:
        (run,) = [r for r in runs if r.get("cell") == asdict(summary.measurand) and r["draw"] == 0]
        assert summary.mean == np.mean(run["accuracies"])


def test_a_second_run_measures_nothing_again(report, small, digits, tmp_path, monkeypatch, read_records):
    folder = tmp_path / "copy"
    shutil.copytree(report[0], folder)
    before = read_records(folder)
    monkeypatch.setattr(protocol, "draw_images", lambda *_: pytest.fail("measured again"))
    run = reproduction.prepare(folder, replace(small, parts=("table4", "table2")), digits)
    assert run.done == run.total > 0
    run.measure()
    reproduction.write_report(run)
    after = read_records(folder)
    assert after == [cell for cell in before if cell["table"] != "table3"]
    left = {path.name for path in folder.rglob("*") if "table3" in path.name or "variants" in path.name}
    assert left == set()  # the files of the report before
    monkeypatch.undo()
    reproduction.reproduce(folder, small, mnist=digits)
    assert read_records(folder) == before


def test_symbols_are_not_measured_again_with_digits(tmp_path, digits):
    choice = reproduction.Choice("table3", draws=1, angles=[2], sizes=[10])
    reproduction.reproduce(tmp_path, choice)
    run = reproduction.prepare(tmp_path, replace(choice, parts=("table2", "table3")), digits)
    assert (run.done, run.total) == (6, 6 + 8)


def test_other_draws_continue_from_those_that_are_there(report, small, digits):
    run = reproduction.prepare(report[0], replace(small, parts=("table2",), draws=3), digits)
    assert (run.total, run.done) == (16 * 3, 16 * 2)
    run = reproduction.prepare(report[0], replace(small, parts=("table2",), seed=1), digits)
    assert run.done == 0


def test_matrix_products_are_in_one_thread(tmp_path):
    """In every library that is loaded by then; in a new process, where none is loaded before."""
    code = (
        "from radoncdt import reproduction\n"
        "from radoncdt.reproduction import protocol\n"
        "from threadpoolctl import threadpool_info\n"
        "seen = set()\n"
        "def solver(features, signs):\n"
        "    weights = solve(features, signs)\n"
        "    blas = [lib for lib in threadpool_info() if lib['user_api'] == 'blas']\n"
        "    seen.update((lib['filepath'], lib['num_threads']) for lib in blas)\n"
        "    return weights\n"
        "solve, protocol.fit_linear_svm = protocol.fit_linear_svm, solver\n"
        "choice = reproduction.Choice('table3', 'published', draws=1, angles=[2], sizes=[10])\n"
        "reproduction.reproduce('r', choice)\n"
        "print(sorted(n for _, n in seen))\n"
    )
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "2"}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    threads = json.loads(done.stdout)
    assert len(threads) >= 2
    assert set(threads) == {1}


def test_progress_is_reported_up_to_the_total(tmp_path):
    calls = []
    choice = reproduction.Choice("table3", draws=2, angles=[2], sizes=[10])
    reproduction.reproduce(tmp_path, choice, n_jobs=2, on_progress=lambda *call: calls.append(call))
    counts, totals, tasks = zip(*calls)
    assert list(counts) == sorted(counts)
    assert counts[0] == 0 < counts[-1] == totals[0]
    assert len(set(totals)) == 1
    assert {"table3, published, draw 1", "table3, independent, draw 2"} <= set(tasks)


# ---------------------------------------------------------------- interruption


def test_an_interrupt_leaves_a_partial_report_that_is_completed_later(
    report, small, tmp_path, digits, read_records, interrupt_after
):
    choice = replace(small, parts=("table2", "table4"))
    with interrupt_after(20):
        reproduction.reproduce(tmp_path, choice, mnist=digits, n_jobs=2)
    assert 0 < len(read_records(tmp_path)) < 36
    assert "1 of 2 draws" in (tmp_path / "report.md").read_text(encoding="utf-8")
    assert "This report is partial: " in (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "**This report is partial: " in (tmp_path / "report.md").read_text(encoding="utf-8")
    assert read_records(tmp_path, "setup")["complete"] is False
    run = reproduction.prepare(tmp_path, choice, digits)
    assert 20 <= run.done <= 22
    run.measure()
    reproduction.write_report(run)
    assert read_records(tmp_path) == [cell for cell in read_records(report[0]) if cell["table"] != "table3"]
    assert "partial" not in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_an_interrupted_run_can_be_measured_again(tmp_path, small, digits, interrupt_after):
    run = reproduction.prepare(tmp_path, replace(small, parts=("table2",)), digits)
    with interrupt_after(3):
        run.measure(n_jobs=2)
    assert run.summarise().missing > 0
    run.measure(n_jobs=2)
    assert run.summarise().missing == 0


def test_an_interrupted_study_of_glyphs_measures_no_method_again(tmp_path, monkeypatch):
    font = next(font for font in datasets.list_fonts(system=False) if font.name == "DejaVu Sans Book")
    choice = reproduction.Choice("glyphs", glyphs=GlyphStudy(font, font, n_characters=10, n_queries=2, size=30))
    measured, interruptions = [], [2]  # an interrupt comes when this many methods are measured

    def measure(study, drawn, method, **options):
        if len(measured) in interruptions:
            raise KeyboardInterrupt
        measured.append(method)
        return measure_glyphs(study, drawn, method, **options)

    monkeypatch.setattr(runner, "measure_glyphs", measure)
    with pytest.raises(KeyboardInterrupt):
        reproduction.reproduce(tmp_path, choice, n_jobs=1)
    partial = json.loads((tmp_path / "glyphs.json").read_text(encoding="utf-8"))
    assert [record["method"] for record in partial] == measured == list(GLYPH_METHODS)[:2]
    interruptions.clear()
    outcome = reproduction.reproduce(tmp_path, choice, n_jobs=1)
    assert measured == list(GLYPH_METHODS)
    assert outcome.missing == 0
    records = json.loads((tmp_path / "glyphs.json").read_text(encoding="utf-8"))
    assert records[:2] == partial
    assert [record["method"] for record in records] == measured


def test_an_interrupt_while_waiting_for_the_last_worker_ends_it(tmp_path, monkeypatch):
    """No worker continues while the report is written."""
    choice = reproduction.Choice("table3", "published", draws=2, angles=[2], sizes=[10])
    run = reproduction.prepare(tmp_path, choice, None)
    join, interrupted = threading.Thread.join, []

    def join_with_interrupt(thread, *arguments):
        if not interrupted:
            interrupted.append(thread)
            raise KeyboardInterrupt
        join(thread, *arguments)

    monkeypatch.setattr(threading.Thread, "join", join_with_interrupt)
    with pytest.raises(KeyboardInterrupt):
        run.measure(n_jobs=2)
    assert not interrupted[0].is_alive()
