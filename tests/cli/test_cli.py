"""The command line as a whole: help, mistyped names, errors and their exit status."""

import subprocess
import sys

import pytest
from files import SHAPE, run, save

import radoncdt
from radoncdt import cli
from radoncdt.cli.messages import Parser


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["transform", "dark.png", "--out", "f.txt"], "--out must end in .npz or .csv, got f.txt"),
        (["transform", "dark.png", "--out", "no/f.npz"], "--out must be in a folder that exists, got no/f.npz"),
        (["transform", "dark.png"], "the following arguments are required: --out"),
        (["transform", "dark.png", "--out", "f.npz", "--angles", "0"], "--angles must be at least 1, got 0"),
        (["transform", "dark.png", "--out", "f.npz", "--levels", "1"], "--levels must be at least 2, got 1"),
        (["transform", "dark.png", "--out", "f.npz", "--levels", "10000000000"], "--levels must be at most 1,048,576"),
        (["transform", "dark.png", "--out", "f.npz", "--angles", "10000000000"], "--angles must be at most 65,536"),
        (["transform", "dark.png", "--out", "f.npz", "--angles", "x"], "--angles must be a whole number, got 'x'"),
        (["transform", "dark.png", "--out", "f.npz", "--jobs", "0"], "--jobs must not be 0"),
        (["transform", "dark.png", "--out", "f.npz", "--pool", "sum"], "--pool must be one of max, "),
        (["transform", "empty", "--out", "f.npz"], "FILE must be image files, or folders that contain some, got empty"),
        (["transform", "dark.png", "--out", "empty.csv"], "--out must be a file and not a folder, got empty.csv"),
        (["show", "dark.png", "--out", "f.xyz"], "--out must end in .png, .pdf or .svg, got f.xyz"),
        (["show", "dark.png", "--out", "no/f.png"], "--out must be in a folder that exists"),
        (["show", "dark.png", "--angles", "0"], "--angles must be at least 1, got 0"),
        (["show", "dark.png", "bright.png", "--out", "f.png"], "--out must be a folder for 2 images"),
        (["register", "dark.png", "bright.png", "--jobs", "0"], "--jobs must not be 0"),
    ],
)
def test_wrong_calls_are_refused(folder, capsys, arguments, message):
    (folder / "empty").mkdir()
    (folder / "empty.csv").mkdir()
    assert run(*arguments) == 2
    error = capsys.readouterr().err
    assert message in error
    assert f"Run `radoncdt {arguments[0]} --help` for help." in error
    assert not (folder / "f.npz").exists()


def test_the_help_shows_examples(capsys):
    for name in cli.COMMANDS:
        assert run(name, "--help") == 0
        text = capsys.readouterr().out
        assert f"usage: radoncdt {name}" in text
        assert "\nexamples:\n" in text
        assert f"\n  radoncdt {name} " in text
    assert run("--help") == 0
    listed = capsys.readouterr().out
    for name, summary in cli.COMMANDS.items():
        assert name in listed
        assert summary in " ".join(listed.split())


def test_no_arguments_print_the_help(capsys):
    assert run() == 2
    assert capsys.readouterr().out.startswith("usage: radoncdt ")
    assert run("catalogue") == 2
    assert capsys.readouterr().out.startswith("usage: radoncdt catalogue ")


def test_the_version_names_the_kernels(capsys):
    assert run("--version") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"radoncdt {radoncdt.__version__}"
    assert [line.split()[0] for line in lines[1:]] == ["kernels", "threads", "Python", "NumPy"]


# ---------------------------------------------------------------- mistyped names


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["serach", "marks.db"], "radoncdt: 'serach' is not a command; did you mean 'search'?\n"),
        (["xyz"], "radoncdt: 'xyz' is not a command\n"),
        (["catalogue", "ad", "marks.db"], "radoncdt: 'ad' is not an action; did you mean 'add'?\n"),
        (
            ["transform", "a.png", "--ot", "f.npz", "--out", "f.npz"],
            "radoncdt: --ot is not an option of `radoncdt transform`; did you mean '--out'?\n",
        ),
        (
            ["register", "a.png", "b.png", "--max-apsect=2"],
            "radoncdt: --max-apsect is not an option of `radoncdt register`; did you mean '--max-aspect'?\n",
        ),
        (
            ["transform", "a.png", "--ot", "f.npz"],  # the required option is the mistyped one
            "radoncdt: --ot is not an option of `radoncdt transform`; did you mean '--out'?\n",
        ),
        (
            ["catalogue", "add", "m.db", "--metdata=t.csv"],
            "radoncdt: --metdata is not an option of `radoncdt catalogue add`; did you mean '--metadata'?\n",
        ),
        (["catalogue", "--hlp"], "radoncdt: --hlp is not an option of `radoncdt catalogue`; did you mean '--help'?\n"),
        (["--verison"], "radoncdt: --verison is not an option of `radoncdt`; did you mean '--version'?\n"),
        (["register", "a.png", "-x"], "radoncdt: the following arguments are required: FIXED\n"),
        (["register", "a.png", "b.png", "-x"], "radoncdt: -x is not an option of `radoncdt register`\n"),
        (["register", "a.png", "b.png", "--xyz"], "radoncdt: --xyz is not an option of `radoncdt register`\n"),
        (["register", "a.png", "b.png", "c.png"], "radoncdt: unexpected argument 'c.png'\n"),
        (
            ["transform", "a.png", "--out", "f.npz", "--directions", "whitend"],
            "radoncdt: --directions must be one of auto, equispaced, whitened, got 'whitend'; did you mean 'whitened'?",
        ),
    ],
)
def test_a_mistyped_name_gets_a_suggestion(capsys, arguments, message):
    assert run(*arguments) == 2
    assert capsys.readouterr().err.startswith(message)


def test_an_option_may_be_abbreviated_and_a_file_may_look_like_one(folder, capsys):
    save("--odd.png", 255 - 255 * SHAPE)
    assert run("transform", "--lev", "8", "--out=f.npz", "--", "--odd.png") == 0
    assert capsys.readouterr().out == "f.npz: 8 features of 1 images\n"


# ---------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("error", "status", "line"),
    [
        (radoncdt.ink.InkError("a.png: is empty"), 1, "a.png: is empty"),
        (radoncdt.catalogue.CatalogueError("m.db: is damaged"), 2, "m.db: is damaged"),
        (radoncdt.catalogue.MetadataError("t.csv, line 3: bad"), 2, "t.csv, line 3: bad"),
        (radoncdt._extras.MissingExtraError("needs pip install 'radoncdt[x]'"), 2, "needs pip install 'radoncdt[x]'"),
        (ConnectionError("there is no scheduler"), 2, "there is no scheduler"),
        (OSError(28, "No space left on device"), 2, "cannot write: [Errno 28] No space left on device"),
        (MemoryError("8 GiB"), 1, "not enough memory: 8 GiB"),
        (KeyboardInterrupt(), 130, "interrupted"),
    ],
)
def test_an_error_is_one_line_and_an_exit_status(monkeypatch, capsys, error, status, line):
    from radoncdt.cli import ink

    def fail(options):
        raise error

    monkeypatch.setattr(ink, "run", fail)
    assert run("ink", "a.png") == status
    assert capsys.readouterr().err == f"radoncdt: {line}\n"


def test_an_unexpected_error_keeps_its_traceback(monkeypatch):
    from radoncdt.cli import ink

    def fail(options):
        raise ValueError("a bug")

    monkeypatch.setattr(ink, "run", fail)
    with pytest.raises(ValueError, match="a bug"):
        run("ink", "a.png")


@pytest.mark.parametrize("package", ["matplotlib", "PIL"])
def test_a_missing_package_is_named_with_its_extra(folder, monkeypatch, capsys, package):
    monkeypatch.setitem(sys.modules, package, None)
    for name in [name for name in sys.modules if name.startswith(f"{package}.")]:
        monkeypatch.setitem(sys.modules, name, None)
    assert run("show", "dark.png", "--out", "f.png") == 2
    extra = {"matplotlib": "plot", "PIL": "watermarks"}[package]
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("radoncdt: ")
    assert line.endswith(f"pip install 'radoncdt[{extra}]'")


def test_a_closed_pipe_is_not_an_error(folder):
    """A program such as head closes the pipe once it has seen enough."""
    save("a.png", 255 - 255 * SHAPE)
    command = f"import sys; from radoncdt.cli import main; sys.exit(main({['register', 'a.png', 'a.png']!r}))"
    with subprocess.Popen([sys.executable, "-uc", command], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        assert process.wait() == 141
        assert b"Traceback" not in process.stderr.read()


def test_every_command_has_the_interface_of_commands():
    for name in cli.COMMANDS:
        parser = cli.make_parser([name])
        assert isinstance(parser, Parser)
        module = getattr(cli, name)
        assert callable(module.run)
        assert callable(module.add_options)
        assert module.EPILOG.endswith("\n")
