"""The tables as data: printed figures, cells, variants."""

from dataclasses import asdict, replace

from radoncdt.reproduction import Cell, Printed, Trial, labels
from radoncdt.reproduction.tables import TABLES, find_printed, list_variants


def test_the_paper_has_127_figures(make_digits):
    cells = [cell for table in TABLES.values() for cell in table.list_cells(mnist=make_digits(5000))]
    assert len(cells) == len(set(cells)) == 28 + 36 + 63
    assert all(find_printed(cell) for cell in cells)


def test_figures_are_those_of_the_paper():
    cell = Cell("table4", "independent", "linmnist", "mnrcdt", None, "svm", 32, 5000, variant="closed grid")
    assert find_printed(cell) == Printed(0.974, 0.004, 3)
    assert find_printed(replace(cell, n_angles=64)) is None
    assert find_printed(Cell("table2", "published", "academic", "mnrcdt", "2", "nearest", 4, 10)) == Printed(
        0.93, None, 2
    )
    assert find_printed(Cell("table2", "published", "linmnist", "mnrcdt", "inf", "nearest", 4, 50)) == Printed(
        0.565, 0.104, 3
    )
    assert find_printed(Cell("table3", "published", "academic", "euclidean", None, "svm", None, 90)) == Printed(
        0.551, 0.028, 3
    )


def test_the_authors_have_33_figures():
    trial = Trial("linmnist10", 500, 50, "mnrcdt", 1, 20)
    assert find_printed(trial) == Printed(0.628, None, 3)
    assert find_printed(replace(trial, repetitions=3)) == Printed(0.628, None, 3)
    assert find_printed(replace(trial, k=5)) is None
    assert find_printed(replace(trial, varied="dots", level=3)) is None
    every = [
        replace(trial, dataset=name, n_train=n, method=method)
        for name in labels.SETS
        for n in range(1, 101)
        for method in labels.METHODS
    ]
    assert sum(find_printed(each) is not None for each in every) == 33


def test_class_sizes_are_limited_by_the_digits(make_digits):
    sizes = {cell.class_size for cell in TABLES["table4"].list_cells(mnist=make_digits(999))}
    assert sizes == {10, 20, 50, 250, 500}
    assert {cell.class_size for cell in TABLES["table3"].list_cells()} == {10, 30, 90, 270}


def test_angles_and_sizes_can_be_chosen(make_digits):
    options = {"angles": (5,), "sizes": (40, 60), "mnist": make_digits(500)}
    chosen = TABLES["table4"].list_cells("independent", **options)
    assert {cell.n_angles for cell in chosen} == {None, 5}
    assert {cell.class_size for cell in chosen} == {40, 60}
    two = TABLES["table2"].list_cells("independent", **options)
    assert {(cell.dataset, cell.class_size) for cell in two} == {("academic", 10), ("linmnist", 50)}


def test_variants_change_one_thing(make_digits):
    for variant in list_variants(None, None, make_digits(500)):
        assert variant.pairs
        for cell, other in variant.pairs:
            changed = [key for key, value in asdict(cell).items() if asdict(other)[key] != value]
            assert changed == (["protocol"] if variant.title == "Shared maps" else ["variant"])
            assert cell.published == cell
