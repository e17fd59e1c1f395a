"""What the commands print: options of wrong arguments, and no control characters of names and metadata."""

import csv
import os
import warnings
from pathlib import Path

import numpy as np
import pytest
from files import SHAPE, run
from marks import MARKS, save

from radoncdt import cli
from radoncdt._validation import ArgumentTypeError, ArgumentValueError
from radoncdt.catalogue import Catalogue

EVIL = "\x1b[31m\u202egnp\n\x9b\u2066"
SHOWN = r"\x1b[31m\u202egnp\n\x9b\u2066"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Images, good and bad, in folders whose names no terminal should be sent."""
    monkeypatch.chdir(tmp_path)
    for k in range(3):
        save(f"marks{EVIL}/{k}{EVIL}.png", MARKS[k].image())
        save(f"classes/c{k}{EVIL}/{k}.png", MARKS[k].image())
    Path(f"marks{EVIL}/bad{EVIL}.png").write_text("no image", encoding="utf-8")
    return tmp_path


@pytest.fixture
def made(folder):
    """The name of a catalogue of these images, with metadata of the same kind."""
    name = f"m{EVIL}.db"
    with Catalogue(name, create=True) as catalogue:
        catalogue.add(f"marks{EVIL}")
        catalogue.set(1, motif=EVIL, reference=f"r{EVIL}r", place=f"x{EVIL}")
    return name


MARK, BAD, FOLDER, DB = f"marks{EVIL}/0{EVIL}.png", f"marks{EVIL}/bad{EVIL}.png", f"marks{EVIL}", f"m{EVIL}.db"
TABLE, OUT = f"t{EVIL}.csv", f"out{EVIL}"

COMMANDS = [
    (["catalogue", "add", f"new{EVIL}.db", FOLDER, "--metadata", TABLE], 1),
    (["catalogue", "add", f"new{EVIL}.db", f"none{EVIL}"], 2),
    (["catalogue", "add", f"new{EVIL}.db", f"empty{EVIL}"], 2),
    (["catalogue", "add", FOLDER, FOLDER], 2),
    (["catalogue", "list", DB], 0),
    (["catalogue", "list", DB, "--failures"], 0),
    (["catalogue", "list", DB, "--where", f"{EVIL} = 1"], 2),
    (["catalogue", "list", f"none{EVIL}.db"], 2),
    (["catalogue", "show", DB, "1", "--picture", f"{OUT}.png"], 0),
    (["catalogue", "show", DB, "99"], 2),
    (["catalogue", "remove", DB, "1"], 0),
    (["catalogue", "update", DB, "--metadata", TABLE], 1),
    (["catalogue", "update", DB, "--metadata", f"none{EVIL}.csv"], 2),
    (["catalogue", "export", DB, f"{OUT}.csv"], 0),
    (["catalogue", "export", DB, f"none{EVIL}/x.csv"], 2),
    (["catalogue", "export", DB, TABLE], 2),
    (["catalogue", "check", DB], 1),
    (["catalogue", "calibrate", DB], 2),
    (["search", DB, FOLDER, "--report", f"{OUT}.html", "--csv", f"{OUT}.csv"], 1),
    (["search", DB, BAD], 1),
    (["search", DB, MARK, "--report", f"{OUT}.txt"], 2),
    (["search", DB, MARK, "--where", f'"{EVIL}" = 1'], 2),
    (["search", DB, MARK, f"--{EVIL}"], 2),
    (
        [
            "classify",
            "classes",
            "classes",
            "--out",
            f"{OUT}.csv",
            "--confusion",
            f"{OUT}.png",
            "--report",
            f"{OUT}.html",
        ],
        0,
    ),
    (["classify", "classes", FOLDER, "--out", f"{OUT}.csv"], 1),
    (["classify", f"none{EVIL}", "classes"], 2),
    (["transform", FOLDER, "--out", f"{OUT}.csv", "--angles", "4", "--levels", "4"], 1),
    (["transform", BAD, "--out", f"{OUT}.npz"], 1),
    (["transform", f"none{EVIL}.png", "--out", f"{OUT}.npz"], 1),
    (["show", MARK, BAD, "--out", FOLDER, "--angles", "4", "--levels", "4"], 1),
    (["show", MARK, "--out", f"{OUT}.xyz"], 2),
    (["ink", MARK, "--out", f"{OUT}.png"], 0),
    (["ink", BAD, "--out", f"{OUT}.png"], 1),
    (["ink", f"pages{EVIL}.tif", "--out", f"{OUT}.png"], 0),
    (["register", MARK, BAD], 1),
    (["register", MARK, MARK, "--out", f"none{EVIL}/x.png"], 2),
    (["reproduce", "table1", "--out", MARK], 2),
    (["reproduce", EVIL], 2),
    (["reproduce", "table2", "--mnist-dir", f"none{EVIL}"], 2),
    ([EVIL], 2),
]


@pytest.mark.parametrize(("arguments", "status"), COMMANDS)
def test_escape_sequences_are_shown_and_not_sent(folder, made, capfd, arguments, status):
    from PIL import Image

    Path(f"empty{EVIL}").mkdir()
    Path(TABLE).write_text(f'file,motif\n"{MARK}","{EVIL}"\n"nobody{EVIL}",x\n', "utf-8", newline="")
    pages = [Image.fromarray(np.uint8(255 - 255 * MARKS[k].image())) for k in (4, 5)]
    pages[0].save(f"pages{EVIL}.tif", save_all=True, append_images=pages[1:])
    if arguments[:2] == ["catalogue", "check"]:
        os.remove(MARK)
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        assert run(*arguments) == status
    text = "".join(capfd.readouterr())
    assert text
    for line in text.split("\n"):
        assert line.isprintable(), line
    if any(EVIL in argument for argument in arguments):
        assert SHOWN in text


def test_the_report_shows_control_characters(folder, made):
    assert run("search", made, MARK, "--report", "r.html", "--quiet") == 0
    text = Path("r.html").read_text("utf-8")
    assert SHOWN in text
    assert not {"\x1b", "\u202e", "\x9b"} & set(text)


def test_every_warning_is_printed_in_one_line(folder, monkeypatch, capsys):
    def remark(*_, **__):
        warnings.warn(f"strange: {EVIL}", stacklevel=1)
        return SHAPE

    monkeypatch.setattr("radoncdt.cli.register.read_ink", remark)
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        shown = warnings.showwarning
        assert run("register", "a", "b") == 0
        assert warnings.showwarning is shown
    assert capsys.readouterr().err == 2 * f"radoncdt: strange: {SHOWN}\n"  # one for each image


def test_errors_of_the_system_are_printed_in_one_line(folder, monkeypatch, capsys):
    def full(*_, **__):
        raise OSError(28, "No space left", EVIL, None, f"x{EVIL}")

    monkeypatch.setattr("radoncdt.cli.ink.write_atomically", full)
    assert run("ink", MARK, "--out", "ink.png") == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.isprintable()


# ---------------------------------------------------------------- options of wrong arguments


@pytest.mark.parametrize(
    ("command", "argument", "option"),
    [
        ("transform", "n_angles", "--angles"),
        ("transform", "n_levels", "--levels"),
        ("transform", "n_components", "--components"),
        ("transform", "n_jobs", "--jobs"),
        ("transform", "files", "FILE"),
        ("transform", "kind", "--kind"),
        ("transform", "X[3]", "`X[3]`"),
        ("register", "max_aspect", "--max-aspect"),
        ("register", "reflections", "--no-mirror"),
        ("register", "moving", "MOVING"),
        ("register", "fixed", "FIXED"),
        ("search", "where", "--where"),
        ("search", "size_mm", "--size-mm"),
        ("search", "max_side", "--max-side"),
        ("search", "image", "IMAGE"),
        ("classify", "n_neighbors", "--neighbors"),
        ("classify", "frame_size", "--frame-size"),
        ("classify", "train", "TRAIN_DIR"),
        ("classify", "test", "TEST"),
        ("classify", "test[2]", "TEST"),
        ("reproduce", "folder", "--mnist-dir"),
        ("reproduce", "parts", "PART"),
        ("reproduce", "parts[0]", "PART"),
        ("reproduce", "protocols", "--protocol"),
        ("reproduce", "sizes[1]", "--sizes"),
    ],
)
@pytest.mark.parametrize("error", [ArgumentValueError, ArgumentTypeError])
def test_an_argument_is_reported_as_its_option(monkeypatch, capsys, command, argument, option, error):
    def fail(options):
        raise error(argument, "must be good, got 3")

    required = {"transform": ["a", "--out", "b"], "register": ["a", "b"], "search": ["a", "b"], "classify": ["a", "b"]}
    cli.make_parser([command])  # imports the module of the command
    monkeypatch.setattr(f"radoncdt.cli.{command}.run", fail)
    assert run(command, *required.get(command, [])) == 2
    first, second = capsys.readouterr().err.splitlines()
    assert first == f"radoncdt: {option} must be good, got 3"
    assert second == f"Run `radoncdt {command} --help` for help."


def test_an_argument_of_an_action_is_reported_as_its_option(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    with Catalogue("m.db", create=True):
        pass
    assert run("catalogue", "calibrate", "m.db", "--marks", "3") == 2
    assert capsys.readouterr().err.startswith("radoncdt: --marks must be at least 20, got 3\n")
    assert run("catalogue", "remove", "m.db", "0") == 2
    assert capsys.readouterr().err.startswith("radoncdt: ENTRY must be at least 1, got 0\n")


# ---------------------------------------------------------------- tables of names


def test_tables_of_names_hold_no_formulas(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for k, name in enumerate(("=1+1", "@x")):
        save(f"{name}/=a.png", MARKS[k].image())
    assert run("classify", ".", ".", "--out", "p.csv") == 0
    with open("p.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["file"], row["class"], row["predicted"], row["example"]) for row in rows] == [
        ("'=1+1/=a.png", "'=1+1", "'=1+1", "'=1+1/=a.png"),
        ("'@x/=a.png", "'@x", "'@x", "'@x/=a.png"),
    ]
    assert [float(row["distance"]) for row in rows] == [0, 0]
    assert run("transform", "=1+1/=a.png", "--out", "f.csv", "--angles", 4, "--levels", 4, "--pool", "mean") == 0
    with open("f.csv", encoding="utf-8", newline="") as file:
        (row,) = csv.DictReader(file)
    assert row.pop("file") == "'=1+1/=a.png"
    assert min(float(value) for value in row.values()) < 0  # numbers stay numbers
