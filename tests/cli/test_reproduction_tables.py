"""Tables of the command reproduce on the terminal."""

import io

import pytest
from rich.console import Console
from rich.text import Text

from radoncdt.cli import _reproduction_tables as tables
from radoncdt.reproduction import Cell, Printed
from radoncdt.reproduction.measurement import Measurement, summarise


def summarise_draws(mean, *, size=10, feature="mnrcdt", n_angles=8, paper=None):
    """Return the summary of a cell of Table 4 with two draws of two folds each."""
    classifier = {"norm": None, "classifier": "svm"}
    cell = Cell("table4", "published", "linmnist", feature, n_angles=n_angles, class_size=size, **classifier)
    folds = {draw: [mean + shift - 0.03, mean + shift + 0.03] for draw, shift in enumerate((-0.01, 0.01))}
    return summarise(cell, paper, {draw: Measurement(accuracies) for draw, accuracies in folds.items()})


def render(table):
    """Return the cells of a table as they are printed, one list per line."""
    file = io.StringIO()
    Console(file=file, width=100).print(table)
    lines = [line for line in file.getvalue().splitlines() if line.startswith(("│", "┃"))]
    return [[cell.strip() for cell in line.replace("┃", "│").split("│")[1:-1]] for line in lines]


@pytest.mark.parametrize(("mean", "style"), [(0.6, "bold red"), (0.726, "bold"), (0.9, "bold green")])
def test_the_style_of_a_figure_tells_how_it_differs_from_the_paper(mean, style):
    text = Text.from_markup(tables._format_cell(summarise_draws(mean, paper=Printed(0.726, 0.119, 3))))
    assert text.plain == f"{mean:.3f}±0.042\npaper 0.726±0.119"
    assert str(text.spans[0].style) == style


def test_the_largest_fold_and_a_missing_figure_of_the_paper():
    assert tables._format_cell(summarise_draws(0.7, feature="rcdt")) == "[bold]0.700±0.042\nmax 0.730[/]"


def test_a_grid_keeps_the_order_of_rows_and_columns():
    grid = tables._make_grid("title", "angles", {("16", "b"): "1", ("8", "a"): "2", ("16", "a"): "3"})
    assert render(grid) == [["angles", "b", "a"], ["16", "1", "3"], ["8", "", "2"]]


def test_the_pixels_of_a_class_size_are_in_its_first_row():
    cells = [summarise_draws(0.5, size=size, feature="euclidean", n_angles=None) for size in (10, 1000)]
    cells += [summarise_draws(0.6, size=size, n_angles=n_angles) for size in (10, 1000) for n_angles in (2, 4)]
    figure = "0.600±0.042"
    assert render(tables._make_folds("title", cells)) == [
        ["size", "Euclidean", "R-CDT", "mNR-CDT", "angles"],
        ["10", "0.500±0.042", "", figure, "2"],
        ["", "", "", figure, "4"],
        ["1,000", "0.500±0.042", "", figure, "2"],
        ["", "", "", figure, "4"],
    ]
