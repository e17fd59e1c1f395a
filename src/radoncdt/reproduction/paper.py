"""The figures that the paper prints in its Tables 2, 3 and 4, and those of the authors' study of robustness."""

from collections.abc import Sequence

from radoncdt.reproduction import names
from radoncdt.reproduction.cells import Cell, Printed
from radoncdt.reproduction.trials import Trial

# num. angles, academic ‖·‖∞ and ‖·‖₂, LinMNIST ‖·‖∞ and ‖·‖₂
TABLE_2 = """
2   0.76 1.00  0.540±0.126 0.591±0.130
4   0.83 0.93  0.565±0.104 0.642±0.105
8   1.00 1.00  0.644±0.120 0.726±0.119
16  1.00 1.00  0.654±0.115 0.726±0.120
32  1.00 1.00  0.655±0.121 0.721±0.120
64  1.00 1.00  0.656±0.119 0.724±0.119
128 1.00 1.00  0.656±0.121 0.721±0.116
"""

# class size, Euclidean, R-CDT and mNR-CDT with each number of angles
TABLE_3_ANGLES = (2, 4, 8, 16)
TABLE_3 = """
10  0.489±0.097  0.644±0.112 0.572±0.079 0.567±0.086 0.561±0.076  0.872±0.114 0.806±0.092 0.944±0.082 0.989±0.023
30  0.520±0.092  0.825±0.128 0.728±0.089 0.704±0.065 0.704±0.080  0.956±0.094 0.979±0.051 1.000±0.000 1.000±0.000
90  0.551±0.028  0.962±0.036 0.952±0.056 0.974±0.043 0.982±0.041  0.996±0.008 0.990±0.009 1.000±0.000 1.000±0.000
270 0.610±0.021  0.997±0.006 0.999±0.001 1.000±0.000 1.000±0.000  1.000±0.000 1.000±0.000 1.000±0.000 1.000±0.000
"""

TABLE_4_ANGLES = (4, 8, 16, 32)
TABLE_4 = """
10   0.478±0.070  0.611±0.047 0.556±0.027 0.556±0.035 0.556±0.027  0.794±0.064 0.833±0.091 0.816±0.059 0.822±0.063
20   0.528±0.057  0.583±0.023 0.583±0.037 0.583±0.027 0.583±0.026  0.842±0.050 0.883±0.039 0.877±0.035 0.881±0.039
50   0.653±0.044  0.756±0.037 0.844±0.060 0.878±0.072 0.822±0.047  0.890±0.044 0.927±0.024 0.932±0.025 0.936±0.022
250  0.898±0.024  0.945±0.025 0.949±0.016 0.953±0.010 0.957±0.012  0.955±0.013 0.962±0.008 0.964±0.005 0.966±0.005
500  0.940±0.010  0.948±0.010 0.950±0.006 0.949±0.005 0.952±0.007  0.950±0.005 0.961±0.009 0.963±0.005 0.964±0.005
1000 0.959±0.005  0.939±0.007 0.945±0.008 0.948±0.008 0.949±0.009  0.949±0.006 0.961±0.007 0.965±0.005 0.966±0.006
5000 0.977±0.003  0.947±0.003 0.956±0.002 0.958±0.002 0.962±0.002  0.956±0.002 0.969±0.001 0.973±0.001 0.974±0.004
"""

# set, training images of a class, 1-NN accuracy of R-CDT, mNR-CDT and aNR-CDT: the authors' stored runs of arXiv
# 2506.08761, mean of 20 repetitions, Euclidean norm; their images of salt and all had no shear then
ROBUSTNESS_METHODS = ("rcdt", "mnrcdt", "anrcdt")
ROBUSTNESS = """
aff        5  0.122 1.000 0.901
aff        10 0.132 1.000 0.960
elastic    5  0.121 0.990 0.906
elastic    10 0.134 0.996 0.962
salt       5  0.172 0.570 0.645
salt       10 0.203 0.659 0.726
all        5  0.168 0.540 0.634
all        10 0.192 0.625 0.718
linmnist10 11 0.128 0.554 0.390
linmnist10 25 0.144 0.601 0.421
linmnist10 50 0.162 0.628 0.447
"""

TABLE_2_ANGLES = tuple(int(line.split()[0]) for line in TABLE_2.strip().splitlines())
TABLE_2_SIZES = {"academic": 10, "linmnist": 50}
TABLE_3_SIZES = tuple(int(line.split()[0]) for line in TABLE_3.strip().splitlines())
TABLE_4_SIZES = tuple(int(line.split()[0]) for line in TABLE_4.strip().splitlines())

Places = list[tuple[str, str | None, int | None]]
"""Feature, norm and number of angles of every column of a table."""


def nearest_columns(angles: Sequence[int]) -> Places:
    """Of Table 2: the norms, with each number of angles."""
    return [("mnrcdt", norm, n_angles) for norm in names.NORMS for n_angles in angles]


def svm_columns(angles: Sequence[int]) -> Places:
    """Of Tables 3 and 4: pixels, then both transforms with each number of angles."""
    return [("euclidean", None, None), *((feature, None, n) for feature in ("rcdt", "mnrcdt") for n in angles)]


def _figure(text: str) -> Printed:
    mean, _, std = text.partition("±")
    return Printed(float(mean), float(std) if std else None, len(mean.partition(".")[2]))


def _rows(text: str) -> list[tuple[int, list[Printed]]]:
    rows = [line.split() for line in text.strip().splitlines()]
    return [(int(first), [_figure(figure) for figure in figures]) for first, *figures in rows]


def _published() -> dict[Cell, Printed]:
    figures = {}
    for n_angles, row in _rows(TABLE_2):
        places = [(dataset, norm) for dataset in TABLE_2_SIZES for norm in names.NORMS]
        for (dataset, norm), figure in zip(places, row):
            size = TABLE_2_SIZES[dataset]
            figures[Cell("table2", "published", dataset, "mnrcdt", norm, "nearest", n_angles, size)] = figure
    svm_tables = (
        ("table3", "academic", TABLE_3_ANGLES, TABLE_3),
        ("table4", "linmnist", TABLE_4_ANGLES, TABLE_4),
    )
    for table, dataset, angles, text in svm_tables:
        for size, row in _rows(text):
            for (feature, _, count), figure in zip(svm_columns(angles), row):
                figures[Cell(table, "published", dataset, feature, None, "svm", count, size)] = figure
    return figures


FIGURES = _published()


def figure_of(cell: Cell) -> Printed | None:
    """What the paper prints for a cell, whatever the protocol and the variant, if it has the cell."""
    return FIGURES.get(cell.published)


def _stored() -> dict[tuple[str, int, str], float]:
    rows = [line.split() for line in ROBUSTNESS.strip().splitlines()]
    return {
        (name, int(n_train), method): float(mean)
        for name, n_train, *means in rows
        for method, mean in zip(ROBUSTNESS_METHODS, means)
    }


AUTHORS = _stored()


def authors_of(trial: Trial) -> float | None:
    """What the authors have for a trial: the nearest neighbour alone, and no curves."""
    if trial.k != 1 or trial.varied:
        return None
    return AUTHORS.get((trial.dataset, trial.n_train, trial.method))
