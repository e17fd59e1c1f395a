"""Options that commands share: the same names, words and defaults everywhere."""

import argparse
import inspect

import numpy as np
import pytest
from files import GOOD, run

import radoncdt
from radoncdt import cli, reproduction
from radoncdt.catalogue import DEFAULT_LIMITS, Catalogue
from radoncdt.cli.options import make_limits, make_type, read_ink_options
from radoncdt.ink import InkOptions, read_ink
from radoncdt.matching.settings import DescriptorSettings

INK = ["--kind", "--ink", "--threshold", "--low", "--specks", "--max-side", "--roi", "--mask"]
MAPS = ["--no-mirror", "--max-aspect", "--max-shear"]

READERS = {
    "ink": ["a.png"],
    "catalogue add": ["m.db", "a.png"],
    "search": ["m.db", "a.png"],
    "classify": ["train", "a.png"],
    "show": ["a.png"],
    "transform": ["a.png", "--out", "f.npz"],
    "register": ["a.png", "b.png"],
}
"""The commands that read images, with the arguments that they need."""
MOVERS = ["search", "classify", "register"]


def parse(command, *more):
    arguments = [*command.split(), *READERS.get(command, []), *more]
    return cli.make_parser(arguments).parse_args(arguments)


def actions_of(command):
    """The actions of the parser of a command by their option."""
    return {option: action for action in parse(command).parser._actions for option in action.option_strings}


def words(action):
    return action.help.split(" (default")[0].split("; none lifts")[0], action.metavar, action.type, action.nargs


@pytest.mark.parametrize(
    ("options", "commands"),
    [
        (INK, list(READERS)),
        (MAPS, MOVERS),
        (["--jobs"], ["catalogue calibrate", "search", "classify", "show", "transform", "register", "reproduce"]),
        (["--angles", "--levels"], ["show", "transform", "register", "classify"]),
        (["--robust"], ["transform", "register"]),
    ],
)
def test_options_are_the_same_everywhere(monkeypatch, options, commands):
    monkeypatch.setitem(READERS, "catalogue calibrate", ["m.db"])
    found = {command: actions_of(command) for command in commands}
    for option in options:
        assert len({words(actions[option]) for actions in found.values()}) == 1, option


def test_commands_that_do_not_move_images_have_no_limits():
    for command in set(READERS) - set(MOVERS):
        assert not set(MAPS) & set(actions_of(command))


@pytest.mark.parametrize("command", READERS)
def test_the_defaults_of_ink_are_those_of_the_library(command):
    assert InkOptions(**read_ink_options(parse(command))) == InkOptions()
    assert parse(command).kind == "drawing"


@pytest.mark.parametrize(("command", "limits"), [("search", DEFAULT_LIMITS), ("register", None)])
def test_the_defaults_of_maps_are_those_of_the_library(command, limits):
    assert make_limits(parse(command)) == (limits or radoncdt.Plausible())
    function = {"search": Catalogue.search, "register": radoncdt.register}[command]
    default = inspect.signature(function).parameters["limits"].default
    assert make_limits(parse(command)) == (default or radoncdt.Plausible())


def test_the_defaults_of_counts_are_those_of_the_library():
    estimator = radoncdt.NormalizedRadonCDT()
    for command in ("show", "transform"):
        assert (parse(command).angles, parse(command).levels) == (estimator.n_angles, estimator.n_levels)
    settings = DescriptorSettings()
    for command in ("classify", "register"):
        assert (parse(command).angles, parse(command).levels) == (settings.n_angles, settings.n_levels)
    choice = reproduction.Choice()
    options = parse("reproduce")
    assert (options.draws, options.seed, options.repetitions) == (choice.draws, choice.seed, choice.repetitions)
    assert reproduction.Choice(parts=options.parts or "all", protocols=options.protocol) == choice
    assert parse("search").top == inspect.signature(Catalogue.search).parameters["top"].default


def test_the_defaults_of_jobs_are_those_of_the_library():
    functions = {
        "catalogue add": Catalogue.add,
        "search": Catalogue.search,
        "classify": radoncdt.FewShotClassifier,
        "show": radoncdt.plot.pipeline,
        "transform": radoncdt.max_nrcdt,
        "register": radoncdt.register,
    }
    for command, function in functions.items():
        assert parse(command).jobs == inspect.signature(function).parameters["n_jobs"].default


def test_limits_are_passed_on():
    more = ["--no-mirror", "--max-aspect", "2", "--max-shear", "none"]
    for command in MOVERS:
        assert make_limits(parse(command, *more)) == radoncdt.Plausible(max_aspect=2, reflections=False)
    limits = make_limits(parse("register", "--similarity", "--max-scale", "3"))
    assert limits == radoncdt.Plausible(similarity=True, max_scale=3)


def test_ink_options_are_passed_on():
    options = parse("transform", "--kind", "watermark", "--ink", "dark", "--threshold", "4", "--low", "1", "--specks=0")
    expected = InkOptions(kind="watermark", ink="dark", threshold=4, low=1, specks=0)
    assert InkOptions(**read_ink_options(options)) == expected
    assert read_ink_options(parse("ink", "--roi", "1,2,3,4"))["roi"] == (1, 2, 3, 4)


def test_a_command_reads_images_as_the_library_does(folder):
    assert run("transform", *GOOD, "--roi", "2,0,30,32", "--levels", 8, "--out", "f.npz") == 0
    expected = radoncdt.max_nrcdt([read_ink(path, roi=(2, 0, 30, 32)) for path in GOOD], n_levels=8)
    np.testing.assert_array_equal(np.load("f.npz")["features"], expected)


@pytest.mark.parametrize("command", READERS)
@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (
            ["--kind", "photo"],
            "--kind must be one of 'drawing', 'watermark', 'grey', got 'photo'; 'photo' is now called",
        ),
        (["--threshold", "2"], "--threshold must be a number between 0 and 1, got 2"),
        (["--low", "2"], "--low applies only to the kind 'watermark', got the kind 'drawing'"),
        (["--max-side", "x"], "--max-side must be a whole number, got 'x'"),
        (["--roi", "1,2,3"], "--roi must be four whole numbers x,y,w,h, got '1,2,3'"),
        (["--roi=1,2,-3,4"], "--roi must be four integers x, y, width and height that are not negative"),
        (["--mask", "none.png"], "--mask must be an image file; none.png: no such file"),
    ],
)
def test_wrong_options_are_refused_before_any_image_is_read(tmp_path, monkeypatch, capsys, command, wrong, message):
    monkeypatch.chdir(tmp_path)
    more = ["--out", "ink.png"] if command == "ink" else []
    assert run(*command.split(), *READERS[command], *more, *wrong) == 2
    assert message in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_the_help_says_which_kind_to_choose(capsys):
    assert run("search", "--help") == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "drawing: tracings, prints, rubbings, and ordinary photographs of a drawing" in text
    assert "watermark: a watermark photographed in transmitted light" in text
    assert "grey: grey values are mass" in text
    assert "reject maps whose scale factors differ by more than a factor R; none lifts the limit (default 4)" in text


def test_a_type_refuses_in_one_phrase():
    read = make_type("a digit", lambda text: "0123456789".index(text))
    assert read("3") == 3
    with pytest.raises(argparse.ArgumentTypeError, match=r"^must be a digit, got 'x'$"):
        read("x")
